"""compatibility.py: writes docs/compatibility.md: what each of NumPy's names is in frit.numpy, and how NumPy's own tests fare.

    compatibility.py                    writes the page
    compatibility.py --check            exits with 1 where the page is not what would be written
    compatibility.py --measure BASE.json FRIT.json [STRICT.json]
                                        takes in the results of runs first, into compatibility.json
    compatibility.py --program BASE.json FRIT.json
                                        the same of pytest's JSON reports of test files that ran as programs do

What a name is, is found out by calling it on arrays that are still to be computed. A file of results holds {"numpy": version, "tests": {node: {"o": outcome, "cat": category}}}: BASE of NumPy
itself, FRIT of frit.numpy, STRICT of frit.numpy under FRIT_FALLBACK=error.
"""

# ruff: noqa: E501

from __future__ import annotations

import collections
import json
import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy

import frit.numpy as np
from frit import _core
from frit.numpy import _table

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "compatibility.md"
FIGURES = HERE / "compatibility.json"

# Calls that show a function at work, tried in this order; f is the function.
CALLS = """
    f(x) | f(m) | f(x, x) | f(m, m) | f(x, 1) | f(m, 1) | f([x, x]) | f([m, m]) | f(k) | f(k, k) | f(4) | f(x, k)
    f(x, x, x) | f(b) | f(b, x) | f(b, [x, x]) | f(s) | f(s, s) | f(s, 'a') | f(s, 'a', 'b') | f(s, 4) | f(d) | f(d, d)
    f(i) | f(i, i) | f(x, 1, 0) | f('f8') | f('f8', 'f4') | f()
""".replace("\n", "|").split("|")

# Calls of what none of these shows, or shows wrongly.
SAMPLES = {
    "apply_along_axis": "f(lambda row: row.sum(), 0, m)",
    "apply_over_axes": "f(np.sum, m, [0])",
    "arange": "f(0.0, 5.0)",
    "array": "f(x)",
    "array_split": "f(x, 2)",
    "asarray_chkfinite": "f(x)",
    "average": "f(x, weights=x)",
    "bincount": "f(i)",
    "block": "f([[m, m], [m, m]])",
    "broadcast_arrays": "f(x[:10], m)",
    "broadcast_to": "f(x, (2, 200))",
    "choose": "f(i % 2, [x, x])",
    "clip": "f(x, 1, 3)",
    "compress": "f(b, x)",
    "copyto": "f(x, 1.0)",
    "convolve": "f(x, x[:3])",
    "correlate": "f(x, x[:3])",
    "delete": "f(x, 1)",
    "diag_indices": "f(3)",
    "digitize": "f(x, x)",
    "dsplit": "f(c, 2)",
    "einsum": "f('ij,ij->i', m, m)",
    "einsum_path": "f('ij,ij->i', m, m)",
    "expand_dims": "f(x, 0)",
    "extract": "f(b, x)",
    "eye": "f(100)",
    "fill_diagonal": "f(m, 1.0)",
    "frombuffer": "f(b'12345678')",
    "fromfunction": "f(lambda r, c: r + c, (3, 3))",
    "fromiter": "f(iter([1.0]), float)",
    "frompyfunc": "f(abs, 1, 1)",
    "fromregex": "f(io.StringIO('1 2'), r'(\\d+) (\\d+)', [('a', int), ('b', int)])",
    "fromstring": "f('1 2', sep=' ')",
    "full": "f(6, 1.0)",
    "full_like": "f(x, 1.0)",
    "genfromtxt": "f(io.StringIO('1 2'))",
    "geomspace": "f(1.0, 8.0)",
    "histogram": "f(x)",
    "histogram_bin_edges": "f(x)",
    "histogram2d": "f(x, x)",
    "histogramdd": "f(m[:, :2])",
    "hsplit": "f(m, 1)",
    "identity": "f(100)",
    "indices": "f((2, 3))",
    "insert": "f(x, 1, 2.0)",
    "interp": "f(x, x, x)",
    "ix_": "f(i, i)",
    "kaiser": "f(5, 1.0)",
    "linspace": "f(0.0, 1.0)",
    "load": "f(saved())",
    "loadtxt": "f(io.StringIO('1 2'))",
    "logspace": "f(0.0, 1.0)",
    "lexsort": "f([x, x])",
    "mask_indices": "f(3, np.triu)",
    "meshgrid": "f(x, x)",
    "moveaxis": "f(m, 0, 1)",
    "nan_to_num": "f(x)",
    "nested_iters": "f([m, m], [[0], [1]])",
    "pad": "f(x, 1)",
    "partition": "f(x, 2)",
    "argpartition": "f(x, 2)",
    "percentile": "f(x, 50)",
    "nanpercentile": "f(x, 50)",
    "piecewise": "f(x, [x > 1], [0.0, 1.0])",
    "place": "f(x, b, [1.0])",
    "poly": "f(x)",
    "polyfit": "f(x, x, 1)",
    "polyval": "f([1.0, 2.0], x)",
    "put": "f(x, [0], [1.0])",
    "put_along_axis": "f(x, i, 1.0, 0)",
    "putmask": "f(x, b, 1.0)",
    "quantile": "f(x, 0.5)",
    "nanquantile": "f(x, 0.5)",
    "ravel_multi_index": "f((i, i), (200, 200))",
    "repeat": "f(x, 2)",
    "reshape": "f(x, (2, 100))",
    "resize": "f(x, (2, 200))",
    "roll": "f(x, 1)",
    "rollaxis": "f(m, 1)",
    "rot90": "f(m)",
    "save": "f(io.BytesIO(), x)",
    "savetxt": "f(io.StringIO(), x)",
    "savez": "f(io.BytesIO(), x)",
    "savez_compressed": "f(io.BytesIO(), x)",
    "searchsorted": "f(x, x)",
    "select": "f([x > 1], [x], 0.0)",
    "split": "f(x, 2)",
    "swapaxes": "f(m, 0, 1)",
    "take": "f(x, i)",
    "take_along_axis": "f(x, i, 0)",
    "tensordot": "f(m, m)",
    "tile": "f(x, 2)",
    "transpose": "f(m)",
    "trapezoid": "f(x)",
    "tri": "f(4)",
    "unravel_index": "f(i, (20, 10))",
    "unwrap": "f(x)",
    "vecdot": "f(m, m)",
    "vecmat": "f(m[0], m.T)",
    "vsplit": "f(m, 1)",
    "where": "f(b, x, x)",
    "busday_offset": "f('2020-01-01', 1)",
    "diag_indices_from": "f(m[:10])",
    "fromfile": "f(file_of_bytes(), 'u1')",
    "seterrcall": "f(None)",
    "unpackbits": "f(i.astype('u1'))",
    "zeros": "f(6)",
    "ones": "f(6)",
    "empty": "f(6)",
    "concatenate": "f([x, x])",
    "concat": "f([x, x])",
    "astype": "f(x, 'f4')",
    "hamming": "f(6)",
    "hanning": "f(6)",
    "bartlett": "f(6)",
    "blackman": "f(6)",
    "i0": "f(x)",
    "tril_indices": "f(3)",
    "triu_indices": "f(3)",
    "tril_indices_from": "f(m)",
    "triu_indices_from": "f(m)",
    "vander": "f(x)",
    "kron": "f(x, x)",
    "trace": "f(m)",
    "median": "f(x)",
    "tril": "f(m)",
    "triu": "f(m)",
    "isin": "f(x, x)",
    "cov": "f(m)",
    "corrcoef": "f(m)",
    "nanmax": "f(x)",
    "nanmin": "f(x)",
    "row_stack": "f([x, x])",
    "is_busday": "f('2020-01-01')",
    "matvec": "f(m, m[0])",
    "sort_complex": "f(x)",
    "require": "f(x)",
    "trim_zeros": "f(x)",
    "unique": "f(x)",
    "round": "f(x)",
    "linalg.cholesky": "f(q)",
    "linalg.det": "f(q)",
    "linalg.eig": "f(q)",
    "linalg.eigvals": "f(q)",
    "linalg.eigvalsh": "f(q)",
    "linalg.inv": "f(q)",
    "linalg.slogdet": "f(q)",
    "linalg.pinv": "f(q)",
    "linalg.cond": "f(q)",
    "linalg.matrix_rank": "f(q)",
    "linalg.qr": "f(q)",
    "linalg.svd": "f(q)",
    "linalg.svdvals": "f(q)",
    "stack": "f([x, x])",
    "hstack": "f([x, x])",
    "vstack": "f([x, x])",
    "dstack": "f([m, m])",
    "column_stack": "f([x, x])",
    "cross": "f(m[:, :3], m[:, :3])",
    "gradient": "f(m)",
    "unstack": "f(m)",
    "linalg.cross": "f(m[:, :3], m[:, :3])",
    "linalg.eigh": "f(q)",
    "linalg.matrix_power": "f(q, 2)",
    "linalg.multi_dot": "f([q, q, q])",
    "linalg.norm": "f(m)",
    "linalg.solve": "f(q, q)",
    "linalg.tensorsolve": "f(q, q[0])",
    "linalg.tensorinv": "f(q, ind=1)",
    "linalg.vecdot": "f(m, m)",
    "linalg.lstsq": "f(q, q)",
    "array.astype": "f('f4')",
    "array.byteswap": "f()",
    "array.choose": "f([x] * 7, mode='clip')",
    "array.diagonal": "f()",
    "array.trace": "f()",
    "array.compress": "f(b)",
    "array.clip": "f(1, 3)",
    "array.dump": "f(io.BytesIO())",
    "array.dot": "f(x)",
    "array.fill": "f(1.0)",
    "array.getfield": "f('f8')",
    "array.item": "f(2)",
    "array.partition": "f(2)",
    "array.argpartition": "f(2)",
    "array.put": "f([0], [1.0])",
    "array.repeat": "f(2)",
    "array.reshape": "f((2, 100))",
    "array.resize": "f(200)",
    "array.searchsorted": "f(x)",
    "array.setfield": "f(1.0, 'f8')",
    "array.setflags": "f(write=True)",
    "array.swapaxes": "f(0, 0)",
    "array.take": "f(i)",
    "array.to_device": "f('cpu')",
    "array.tofile": "f(tempfile.TemporaryFile())",
    "array.view": "f('i8')",
}

# Reads the terminal, prints much, or has no call of its own.
NOT_CALLED = frozenset(["info", "show_config", "show_runtime", "test", "bmat", "asmatrix"])

LAZY, EVALUATES, BY_NUMPY, OWN = range(4)
KINDS = {
    LAZY: "recorded, computed when wanted",
    EVALUATES: "Frit's own, needs its operands' elements at once",
    BY_NUMPY: "NumPy does it: operands computed, results ours",
    OWN: "NumPy's own object: makes no array of ours",
}


# The operands of sample calls that are still to be computed when the call is made.
PENDING = "xmqckib"
# Larger results than this many bytes are recorded; the operands are larger.
SMALL = 100

# ---- what a name is ------------------------------------------------------------------------------


def operands(module: types.ModuleType) -> dict[str, Any]:
    """What the sample calls use: arrays of `module`."""
    import io
    import tempfile

    def file_of_bytes() -> Any:
        file = tempfile.TemporaryFile()
        file.write(b"123")
        file.seek(0)
        return file

    def saved() -> io.BytesIO:
        file = io.BytesIO()
        numpy.save(file, numpy.arange(3.0))
        file.seek(0)
        return file

    n = 200
    real = {
        "x": numpy.arange(1.0, n + 1) / n,
        "m": numpy.arange(float(n)).reshape(20, 10),
        "q": numpy.eye(12) * 2 + 1,
        "c": numpy.arange(float(n)).reshape(2, 10, 10),
        "k": numpy.arange(n) % 5 + 1,
        "i": numpy.arange(n),
        "b": numpy.arange(n) > 2,
        "s": numpy.array(["ab", "cd"]),
        "d": numpy.array(["2020-01-01", "2020-01-02"], "M8[D]"),
    }
    made = {name: module.array(value) for name, value in real.items()}
    if module is np:
        # Still to be computed, so that it shows when a function asks for their elements.
        made |= {name: made[name] & True if name == "b" else made[name] + 0 for name in PENDING}
    makers = {"file_of_bytes": file_of_bytes, "saved": saved}
    return made | makers | {"np": module, "io": io, "tempfile": tempfile}


def owner_of(path: str) -> str:
    """The operand whose method is called."""
    return {"array.choose": "i", "array.diagonal": "m", "array.trace": "m"}.get(path, "x")


def function_of(module: types.ModuleType, path: str, scope: dict[str, Any]) -> Any:
    head, _, name = path.rpartition(".")
    if head == "array":
        return getattr(scope[owner_of(path)], name)
    owner = module
    for part in filter(None, head.split(".")):
        owner = getattr(owner, part)
    return getattr(owner, name)


def call(module: types.ModuleType, path: str, text: str) -> Any:
    scope = operands(module)
    scope["f"] = function_of(module, path, scope)
    return scope, text


def works_in_numpy(path: str, text: str) -> bool:
    scope, text = call(numpy, path, text)
    try:
        eval(text, scope)
    except Exception:
        return False
    return True


def sample_of(path: str) -> str | None:
    """A call that NumPy's function of this name accepts."""
    given = SAMPLES.get(path)
    if given is not None:
        return given
    calls = [text.strip() for text in CALLS if text.strip()]
    if path.startswith("array."):
        calls.insert(0, "f()")
    return next((text for text in calls if works_in_numpy(path, text)), None)


def kind_of(path: str) -> int:
    """LAZY, EVALUATES, BY_NUMPY or OWN, by what the sample call does."""
    real = function_of(numpy, path, operands(numpy))
    ours = function_of(np, path, operands(np))
    if not callable(real) or ours is real or path in NOT_CALLED:
        return OWN
    if isinstance(real, type) or path in _table.UNCOUNTED_NAMES:
        return BY_NUMPY
    text = sample_of(path)
    if text is None:
        raise AssertionError(f"no call shows what {path} is: SAMPLES wants a line")
    _core.eval()  # what earlier calls have left, so that nothing but this call evaluates
    scope, text = call(np, path, text)
    _core.reset_fallbacks()
    before = _core.statistics()
    eval(text, scope)
    after = _core.statistics()
    if _core.fallbacks() or after["numpy_calls"] > before["numpy_calls"]:
        return BY_NUMPY
    # An eval runs all that is pending: it shows in the operands.
    used = [scope[name] for name in PENDING if re.search(rf"\b{name}\b", text)]
    if path.startswith("array."):
        used.append(scope[owner_of(path)])
    return LAZY if all(map(_core.is_pending, used)) else EVALUATES


def names_of(path: str) -> list[str]:
    owner = getattr(numpy, path) if path else numpy
    return sorted(n for n in owner.__all__ if not isinstance(getattr(owner, n), types.ModuleType))


def kinds(paths: list[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {kind: [] for kind in KINDS}
    _core.set_immediate_bytes(SMALL)
    _core.set_tier("interpreter")  # which never takes a single step for itself
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            found[kind_of(path)].append(path.rpartition(".")[2])
    return found


def table(found: dict[int, list[str]]) -> list[str]:
    lines = ["| | names |", "| --- | --- |"]
    for kind, names in found.items():
        if names:
            joined = " ".join(f"`{name}`" for name in names)
            lines.append(f"| {len(names)} {KINDS[kind]} | {joined} |")
    return lines


# ---- NumPy's own tests ---------------------------------------------------------------------------


def by_function(tests: dict[str, Any]) -> dict[str, list[str]]:
    """Test function -> outcomes of its parameters."""
    grouped = collections.defaultdict(list)
    for node, test in tests.items():
        grouped[node.split("[")[0]].append(test["o"])
    return grouped


def figures(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Tests and whole test functions passed, by category and file; those that NumPy does not pass are not counted."""
    base, others = runs[0]["tests"], [run["tests"] for run in runs[1:]]
    wanted = [node for node, test in base.items() if test["o"] == "pass"]
    needed = {n: o.count("pass") for n, o in by_function(base).items() if "pass" in o}
    category = {node.split("[")[0]: test.get("cat", "core") for node, test in base.items()}
    counts: dict[str, dict[str, list[int]]] = {"categories": {}, "files": {}}

    def add(table: str, key: str, column: int, amount: int = 1) -> None:
        row = counts[table].setdefault(key, [0] * (2 + 2 * len(others)))
        row[column] += amount

    passed = [by_function({n: t for n, t in tests.items() if t["o"] == "pass"}) for tests in others]
    for node in wanted:
        name, file = node.split("[")[0], node.split("::")[0]
        for table, key in (("categories", category[name]), ("files", file)):
            add(table, key, 0)
            for k, tests in enumerate(others):
                add(table, key, 2 + 2 * k, tests.get(node, {}).get("o") == "pass")
    for name, count in needed.items():
        for table, key in (("categories", category[name]), ("files", name.split("::")[0])):
            add(table, key, 1)
            for k in range(len(others)):
                add(table, key, 3 + 2 * k, len(passed[k].get(name, [])) >= count)
    failing = {
        name: count - len(passed[0].get(name, []))
        for name, count in needed.items()
        if len(passed[0].get(name, [])) < count
    }
    return {"numpy": runs[0]["numpy"], **counts, "failing": failing}


def figures_of_programs(base: dict[str, Any], mine: dict[str, Any]) -> dict[str, Any]:
    """Tests and whole test functions that pass of those that NumPy passes; how many others there are in which functions."""
    passed = [
        {t["nodeid"] for t in run["tests"] if t["outcome"] == "passed"} for run in (base, mine)
    ]
    missed = collections.Counter(node.split("[")[0] for node in passed[0] - passed[1])
    functions = {node.split("[")[0] for node in passed[0]}
    return {
        "tests": [len(passed[0] & passed[1]), len(passed[0])],
        "functions": [len(functions) - len(missed), len(functions)],
        "failing": dict(missed),
    }


def rate(good: int, all: int) -> str:
    return f"{good} / {all} ({100 * good / all:.1f} %)"


def measured(data: dict[str, Any]) -> list[str]:
    strict = len(next(iter(data["categories"].values()))) > 4

    def row(name: str, counts: list[int]) -> str:
        cells = [rate(counts[2], counts[0]), rate(counts[3], counts[1])]
        if strict:
            cells.append(rate(counts[4], counts[0]))
        return f"| {name} | " + " | ".join(cells) + " |"

    head = "| tests of | tests passed | whole test functions |" + (
        " tests passed without NumPy |" if strict else ""
    )
    rule = "| --- |" + " --- |" * (head.count("|") - 2)
    categories = data["categories"]
    total = [sum(column) for column in zip(*categories.values(), strict=True)]
    lines = [head, rule]
    lines += [row(name, counts) for name, counts in sorted(categories.items())]
    short = {name: counts for name, counts in data["files"].items() if counts[2] < counts[0]}
    lines += [row("all", total), ""]
    lines += [
        f"{len(data['files']) - len(short)} of {len(data['files'])} files pass whole; the others:",
        "",
    ]
    lines += [head.replace("tests of", "file"), rule]
    lines += [row(f"`{name}`", counts) for name, counts in sorted(short.items())]
    return lines


# ---- the page ------------------------------------------------------------------------------------

INTRODUCTION = """\
# How compatible frit.numpy is

Every public name of NumPy is there, with NumPy's signature and text. What Frit does not do itself, NumPy does: operands
are computed, NumPy runs, results come back as Frit's arrays. `frit.report()` says which line of a program did so, and why.
This page is written by `tests/door/compatibility.py`; a test compares the two.
"""

PROGRAMS = """\
### Run as programs

The tool leaves `numpy.ma.testutils` and NumPy's private modules NumPy's own. A program has Frit for all of `numpy`. So the same files, copied out of the package
beside NumPy's `conftest.py`, were also run by

```
python -m pytest -m "not slow" --json-report --json-report-file=base.json FOLDER
python -m frit -m pytest -m "not slow" --json-report --json-report-file=frit.json FOLDER
python tests/door/compatibility.py --program base.json frit.json
```
one file after the other, without the one test whose C function takes any object for an ndarray (`test_extension_incref_elide`: it ends the process). {tests} of the tests pass, {functions}
of the whole test functions; all of `test_io.py`, `test_loadtxt.py` and `test_recfunctions.py`.
"""

NAMES = """\
## What each name is

Found out by calling each function on arrays that are still to be computed, and looking whether they still are. A function may
do its work lazily for these calls and hand others (other dtypes, rare options) to NumPy: the report tells.
"""

TESTS = """\
## NumPy's own tests

The tests of the installed NumPy {numpy}, run with `np` in the test files bound to `frit.numpy` and their assertions
left as they are. Only tests that NumPy itself passes under the same swap are counted; a whole test function passes when all of
its parameters do. The categories are told apart by what a test's text mentions: `exotic` are dtypes that Frit leaves to
NumPy (strings, dates, records, objects), `internals` looks into NumPy's C code, memory or reference counts, `printio` reads,
writes and prints, `protocol` is about subclasses and `__array_*__` methods. Measured by

```
python numpy_suite.py --module numpy --files all --file-timeout 600 --out base.json
python numpy_suite.py --module frit.numpy --baseline base.json --files all --file-timeout 600 --test-timeout 90 --out frit.json
FRIT_FALLBACK=error python numpy_suite.py --module frit.numpy --baseline base.json --files all --file-timeout 600 --out strict.json
python tests/door/compatibility.py --measure base.json frit.json strict.json
```
with a tool that is no part of this repository; the last column is the third run, in which NumPy did none of the work: a call that
falls back raises an error.
"""

LIMITS = """\
## What differs, and why

| | |
| --- | --- |
| `isinstance(x, numpy.ndarray)` in C code and in NumPy's own | false (in a library's Python code it is true: `x.__class__` is what the asker's `numpy.ndarray` is). C code asks for memory (`__array__`, the buffer protocol, DLPack) and gets it; functions that Cython or f2py made, and astropy's tables, autograd, bottleneck, CVXPY, h5py, JAX, netCDF4, OpenCV, orjson, pandas, pint, polars, pyarrow's functions, scikit-learn, SciPy, torch (`T[x]` and `T == x` of tensors, too) and xarray get real arrays. In your program, `np.ndarray` is Frit's class, and real ndarrays count as its instances. Most of the failing tests of `lib/tests/test_io.py`, `test_loadtxt.py` and `ma` are of this kind: they compare by `numpy.ma.testutils`, which the tool leaves NumPy's own, and which asks so. Run as programs they pass |
| a C function of a library's that insists on an ndarray (`out=` of a masked array's method, `numpy.linalg.lapack_lite`, `_multiarray_tests`), an operator or `__call__` of a class in C that does (functions, methods and constructors of extension modules that the program itself brings get real arrays) | a TypeError: hand it `numpy.asarray(x)`, which shares the memory |
| `type(np.ndarray) is type`, `type(np.ufunc) is type` | false: their metaclasses make real arrays and ufuncs their instances |
| `Meta("A", (np.ndarray,), {})`, where `Meta` is no `type` alone | a metaclass conflict: write a class statement |
| `type(x) is np.ndarray` for strings, dates, records, objects, unaligned or byte-swapped data, and for what libraries and pickles give | false: such arrays stay NumPy's. `type(x) == np.ndarray` is true, as it is for NumPy's other classes (`Generator`, `ufunc`, ..), and both are one key of a dictionary |
| `a[2:6] = a[1:8:2]`: of one dimension, overlapping, with strides that differ but in sign; `a[mask] = a[1:k]`, through one mask | the right side is taken as it was before, as NumPy says of its assignments; NumPy reads elements there that it has just written |
| `((b == c) + d) ** 2` of bools, 256 KiB of them or more | their squares, as of fewer: NumPy tries to store those in the sum's memory, and raises |
| products of complex64, of which one is reversed (`a[::-1] * b`) | may differ in their last bits: NumPy rounds the parts of such products once or twice, by shapes and strides |
| arrays of ours in an array of objects | are held as real arrays on the same memory |
| `ufunc is np.add` in an `__array_ufunc__` of yours, `func is np.sum` in an `__array_function__` | NumPy hands its own function over: `==`, and use as a key of a dictionary, hold for both |
| `type(x) is np.float64` of a number that is still to be computed | false: its type has that name and dtype, and `isinstance(x, np.floating)`, `np.issubdtype(type(x), np.floating)`, `x.__class__` and `type(x)(1)` are as NumPy's; dictionaries by `type(x)`, keys of JSON and timeouts of locks, sockets and `select` want `x[()]` |
| the least integer divided by -1 | is itself, as in NumPy, without its warning of an overflow |
| an int64 beyond its range as the sum or difference of two numbers that are still to be computed | wraps round, as in NumPy, without its warning of an overflow |
| `where=` and an `out=` that holds what the loop's type can't | the elements that the mask leaves out are not touched: NumPy converts them there and back, and may warn of it |
| a warning of `x.sum()`, `np.sum(x)`, `np.mean(x)` and others that NumPy computes by Python code of its own (inf - inf) | names the program's line, as those of operators do: under the default filter each such line warns once. NumPy's names a line of NumPy's, and so the first sum of a program alone warns |
| a call that warns and then falls back or fails | may give that warning twice: NumPy does the whole call again |
| `np.longlong` | is `np.int64`: the same numbers under another name |
| `np.load = mine`, `mock.patch("numpy.load")` | hold for your program; installed libraries go on to call NumPy's. New names (`np.int = int`) they find |
| pickles of ufuncs and generators | are NumPy's, and give NumPy's |
| reference counts, private attributes, texts set by `add_newdoc` | are those of Frit's objects |
| `sys.modules["numpy"]`, `np.__name__`, `pydoc.locate("numpy.ndarray")` | are NumPy itself, `frit.numpy`, NumPy's own class: what a program gets is decided where it imports |
| `gc.get_objects()`, `tracemalloc` | do not list what was there before the program began; see no memory of arrays |
| `sys._getframe(1)` of a program's own code | is a frame of Frit's runner (`sys.getrecursionlimit` leaves these out) |
| `F * 2 + C`, where F lies in Fortran's order, C in C's, and the product takes 256 KiB or more | lies in C's order, as the same of smaller arrays does in NumPy, which writes the sum over the product here; sums of it are added up in that order |
| the strides of an array without elements | are those of its shape: NumPy's are 0 |
| `x.view(Subclass).base is x`, `np.asarray(x.view(Subclass)).base is x` | false: it is a real array on the memory of `x` |
| the sign of the zero that `np.fmax(0.0, -0.0)` and `np.fmin` choose, and of a NaN that `max`, `median`, `quantile` give | NumPy's depends on the number of elements |
| the last bits of exp, sin, pow and their like | within 4 ulp of the true value, as NumPy's, but not NumPy's bits; nor are those of `np.hypot`, of `np.sign` of complex numbers and of a complex square root |
"""


def page() -> str:
    data = json.loads(FIGURES.read_text())
    lines = [INTRODUCTION, TESTS.format(numpy=data["numpy"])]
    lines += [*measured(data), ""]
    if "program" in data:
        programs = data["program"]
        rates = {name: rate(*programs[name]) for name in ("tests", "functions")}
        lines += [PROGRAMS.format(**rates)]
    lines += [NAMES]
    sections = {
        "numpy": names_of(""),
        "the methods of arrays": [
            f"array.{n}"
            for n in sorted(dir(numpy.ndarray))
            if n[0] != "_" and callable(getattr(numpy.ndarray, n))
        ],
        "numpy.linalg": [f"linalg.{n}" for n in names_of("linalg")],
        "numpy.fft": [f"fft.{n}" for n in names_of("fft")],
    }
    for title, paths in sections.items():
        lines += [f"### {title}", "", *table(kinds(paths)), ""]
    lines += [
        "`numpy.random` keeps NumPy's generators and streams; what they draw is ours. The other submodules (`ma`, "
        "`polynomial`, `strings`,",
        "`char`, `rec`, `lib`) are NumPy's code, called with real arrays.",
        "",
        LIMITS,
    ]
    lines += [
        "### Tests that fail",
        "",
        "Whole test functions, with the number of parameters that fail:",
        "",
    ]
    by_file = collections.defaultdict(list)
    for name, count in sorted(data["failing"].items()):
        file, _, rest = name.partition("::")
        by_file[file].append(f"`{rest}` {count}" if count > 1 else f"`{rest}`")
    lines += [f"- `{file}`: {', '.join(names)}" for file, names in by_file.items()]
    return "\n".join(lines).rstrip() + "\n"


def main(words: list[str]) -> int:
    if words[:1] == ["--measure"]:
        runs = [json.loads(Path(path).read_text()) for path in words[1:]]
        before = json.loads(FIGURES.read_text())
        data = figures(runs) | {name: before[name] for name in ("program",) if name in before}
        FIGURES.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
        words = []
    if words[:1] == ["--program"]:
        base, mine = (json.loads(Path(path).read_text()) for path in words[1:])
        data = json.loads(FIGURES.read_text()) | {"program": figures_of_programs(base, mine)}
        FIGURES.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
        words = []
    text = page()
    if words == ["--check"]:
        return 0 if PAGE.read_text() == text else 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
