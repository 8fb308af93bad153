"""frit.pykokkos: PyKokkos programs on Frit: `import frit.pykokkos as pk`.

Launches are recorded and fused, with one another and with Frit's NumPy; what somebody looks at is
computed then. docs/quickstart-pykokkos.md says what there is.
"""

from frit._core import parallel_for, parallel_reduce, parallel_scan
from frit.pykokkos import _kernels as _kernels
from frit.pykokkos._atomics import (
    FETCHING as _FETCHING,
)
from frit.pykokkos._atomics import (
    atomic_add,
    atomic_compare_exchange,
    atomic_increment,
)
from frit.pykokkos._bin_sort import BinOp, BinOp1D, BinOp3D, BinSort
from frit.pykokkos._decorators import (
    Acc,
    BAnd,
    BOr,
    Decorator,
    LAnd,
    LOr,
    Max,
    MaxLoc,
    Min,
    MinLoc,
    MinMax,
    MinMaxLoc,
    Prod,
    callback,
    classtype,
    function,
    functor,
    main,
    workload,
    workunit,
)
from frit.pykokkos._dispatch import execute, fence, flush
from frit.pykokkos._functions import FUNCTIONS as _FUNCTIONS
from frit.pykokkos._hierarchy import AUTO, PerTeam, PerThread, TeamMember, single
from frit.pykokkos._intrinsics import maximum as max  # noqa: A004
from frit.pykokkos._intrinsics import minimum as min  # noqa: A004
from frit.pykokkos._intrinsics import printf
from frit.pykokkos._policies import (
    ExecutionPolicy,
    Iterate,
    MDRangePolicy,
    RangePolicy,
    Rank,
    TeamPolicy,
    TeamThreadMDRange,
    TeamThreadRange,
    TeamVectorRange,
    ThreadVectorRange,
)
from frit.pykokkos._random import (
    Random_XorShift64_Pool,
    Random_XorShift1024_Pool,
    RandomPool,
    rand,
)
from frit.pykokkos._spaces import (
    ExecutionSpace,
    ExecutionSpaceInstance,
    Layout,
    MemorySpace,
    Trait,
    get_default_layout,
    get_default_memory_space,
    get_default_space,
    is_host_execution_space,
    set_default_space,
)
from frit.pykokkos._timer import Timer
from frit.pykokkos._types import (
    DataType,
    DataTypeClass,
    bool,
    complex64,
    complex128,
    double,
    float,
    float32,
    float64,
    get_default_precision,
    int,
    int8,
    int16,
    int32,
    int64,
    real,
    set_default_precision,
    uint8,
    uint16,
    uint32,
    uint64,
)
from frit.pykokkos._views import (
    ScratchView,
    ScratchView1D,
    ScratchView2D,
    ScratchView3D,
    ScratchView4D,
    ScratchView5D,
    ScratchView6D,
    ScratchView7D,
    ScratchView8D,
    Subview,
    View,
    View1D,
    View2D,
    View3D,
    View4D,
    View5D,
    View6D,
    View7D,
    View8D,
    ViewType,
    ViewTypeInfo,
    array,
    asarray,
    astype,
    create_mirror,
    create_mirror_view,
    create_mirror_view_and_copy,
    deep_copy,
    from_numpy,
    result_type,
)

globals().update({f"atomic_fetch_{name}": fetch for name, fetch in _FETCHING.items()})
globals().update(_FUNCTIONS)
for _enumeration in (ExecutionSpace, Layout, MemorySpace, Trait):
    globals().update({member.name: member for member in _enumeration})
e, pi, inf, nan = (
    2.718281828459045,
    3.141592653589793,
    __import__("math").inf,
    (__import__("math").nan),
)


def initialize() -> None:
    """There is nothing to initialise."""


def finalize() -> None:
    """Computes all that is pending."""
    flush()
