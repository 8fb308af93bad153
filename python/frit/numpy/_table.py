"""_table.py: which of NumPy's names run how: one place for each.

A name is, in this order: one of our own functions (a `@native` function in one of the _*.py
files of this folder, a function of the engine's, or a ufunc of its table); TRANSPLANTED; NumPy's
own object where no array is computed (OWN); else a fallback.
"""

from __future__ import annotations

# The engine's functions that do all that NumPy's of the same name do.
DIRECT = frozenset(
    """
    arange array asanyarray asarray ascontiguousarray asfortranarray broadcast_to concatenate
    copyto dot empty full ones where zeros
    """.split()
)

# Made of our operations by running NumPy's own Python code (see _transplant.py).
TRANSPLANTED = frozenset(
    """
    logspace geomspace indices vander tri tril triu diag diagflat
    moveaxis rollaxis atleast_1d atleast_2d atleast_3d vstack hstack dstack
    column_stack split array_split hsplit vsplit dsplit unstack tile roll flip fliplr flipud rot90
    pad append
    delete insert average median nansum nanprod nanmean nanvar nanstd nanmin nanmax nanargmin
    nanargmax nancumsum nancumprod nan_to_num isclose allclose array_equal array_equiv
    diff ediff1d gradient cross kron outer tensordot trapezoid sinc angle real imag iscomplex isreal
    iscomplexobj isrealobj fix isposinf isneginf real_if_close select flatnonzero argwhere extract
    cov corrcoef cumulative_sum cumulative_prod unwrap block put_along_axis take_along_axis ptp
    hamming hanning bartlett blackman polyval mask_indices tril_indices triu_indices
    tril_indices_from triu_indices_from diag_indices diag_indices_from fill_diagonal meshgrid einsum
    einsum_path digitize
    """.split()
)

# Functions of several steps whose results are new memory, and no larger than their operands.
FRESH = frozenset(
    """
    vstack hstack dstack column_stack append average median nansum nanprod nanmean
    nanvar nanstd nanmin nanmax nanargmin nanargmax nancumsum nancumprod isclose allclose
    array_equal array_equiv diff ediff1d gradient cross trapezoid sinc angle iscomplex isreal fix
    isposinf isneginf select flatnonzero argwhere extract cov corrcoef cumulative_sum
    cumulative_prod unwrap ptp polyval roll tril triu block
    linalg.norm linalg.cross linalg.matrix_norm linalg.matrix_power linalg.multi_dot linalg.trace
    linalg.vector_norm einsum_path
    """.split()
)
# The same, but what they make of small operands may be large.
GROWING = frozenset(
    """
    tile outer kron tensordot vander tri diagflat logspace geomspace eye identity repeat
    meshgrid indices linalg.outer linalg.tensordot einsum
    """.split()
)
# Of so many steps, or steps that only move elements, that NumPy does them on larger operands too:
# how many times as large.
LEFT_UP_TO = {
    "cross": 4,
    "delete": 64,
    "gradient": 4,
    "insert": 64,
    "pad": 64,
    "place": 4,
    "take_along_axis": 16,
}
# Of few steps, and they give views.
VIEWS = frozenset(
    """
    atleast_1d atleast_2d atleast_3d moveaxis rollaxis flip fliplr flipud rot90 diag split
    array_split hsplit vsplit dsplit unstack
    """.split()
)

# The NumPy since which a function begins with a warning: its own code says that, no shortcut does.
DEPRECATED = {"fix": (2, 5)}

# As above, and they call the user's functions, which must not run twice.
CALLING_BACK = frozenset(["fromfunction", "apply_along_axis", "apply_over_axes", "piecewise"])

# Submodule functions made of our operations by the same means.
TRANSPLANTED_IN = {
    "linalg": frozenset(
        """norm cross diagonal matmul matrix_norm matrix_power matrix_transpose multi_dot outer
        tensordot trace vecdot vector_norm""".split()
    ),
    "fft": frozenset(["fftfreq", "fftshift", "ifftshift", "rfftfreq"]),
    "lib.stride_tricks": frozenset(),
}

# Submodules whose functions look at values and compute none: a fallback there is no news.
UNCOUNTED = frozenset(["testing"])

# NumPy's own: they compute no array, or hold state that is NumPy's.
OWN = frozenset(
    """
    base_repr binary_repr broadcast_shapes datetime_data format_float_positional
    format_float_scientific get_include get_printoptions getbufsize geterr geterrcall isdtype
    issubdtype mintypecode printoptions promote_types set_printoptions setbufsize show_config
    show_runtime test typename
    """.split()
)

# As above where no operand is an array; an array is no news for the report.
UNCOUNTED_NAMES = frozenset(
    """
    array2string array_repr array_str common_type frombuffer isfortran isscalar iterable load
    loadtxt genfromtxt fromfile fromstring fromregex may_share_memory min_scalar_type save
    savetxt savez savez_compressed shares_memory
    """.split()
)
