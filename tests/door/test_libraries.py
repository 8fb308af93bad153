"""test_libraries.py: installed libraries take our arrays, and what they give back works on."""

# ruff: noqa: E501

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import numpy
import pytest


def test_pandas_takes_and_gives_arrays(frit):
    pytest.importorskip("pandas")
    program = """
    import numpy as np
    import pandas as pd
    x = np.arange(6.0) * 2
    s = pd.Series(x, name="x")
    d = pd.DataFrame({"a": x, "b": np.sqrt(x)})
    print((s + np.ones(6)).tolist(), (np.ones(6) + s).tolist())
    print(type(np.sqrt(s)).__name__, type(np.mean(d["a"])).__name__, np.sum(d, axis=0).tolist())
    print(np.where(s > 4, s, 0).tolist(), d[np.array([True, False] * 3)].shape)
    print(type(d.to_numpy() * np.ones(2)) is np.ndarray or isinstance(d.to_numpy(), np.ndarray))
    print(d.groupby(np.array([0, 0, 1, 1, 2, 2])).sum()["a"].tolist(), np.asarray(d).shape)
    s[np.array([0, 1])] = np.array([50.0, 60.0])
    print(s[x > 7].tolist(), d.loc[x > 7, "a"].tolist(), d.iloc[np.array([1, 2])]["a"].tolist(), s[0])
    print(np.concatenate([s, x]).shape, pd.cut(x, np.linspace(-1, 11, 4)).codes.tolist())
    """
    expected = """\
[1.0, 3.0, 5.0, 7.0, 9.0, 11.0] [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
Series float64 [30.0, %s]
[0.0, 0.0, 0.0, 6.0, 8.0, 10.0] (3, 2)
True
[2.0, 10.0, 18.0] (6, 2)
[8.0, 10.0] [8.0, 10.0] [2.0, 4.0] 50.0
(12,) [0, 0, 1, 1, 2, 2]
"""
    import numpy

    total = float(numpy.sum(numpy.sqrt(numpy.arange(6.0) * 2)))
    lines, wanted = frit(program).splitlines(), (expected % total).splitlines()
    assert lines[0] == wanted[0]
    assert lines[1].rpartition(",")[0] == wanted[1].rpartition(",")[0]
    assert float(lines[1].rpartition(",")[2][:-1]) == pytest.approx(total, rel=1e-15)
    assert lines[2:] == wanted[2:]


# What pandas says of the line that asks it: both ways.
FRAMES_OF_PANDAS = """
import warnings
import numpy as np
import pandas as pd

x = np.arange(12.0).reshape(4, 3) * 2
total = x.sum(axis=1)
d = pd.DataFrame(x, columns=list("abc"))
print(d.query("a > @total.mean() or a == @total[1]"), d.eval("a + @total").tolist())

def inside(limit):
    return d.query("a >= @limit * 2").shape

print(inside(np.arange(4.0)[2]))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    d["a"][0] = x[1, 0]
    d["a"].fillna(0, inplace=True)
    d["b"].clip(0, 1, inplace=True)
    d["b"].update(pd.Series(x[0]))
    held = d["c"]
    held.fillna(0, inplace=True)
    d["when"] = pd.to_datetime(np.array(["01-02-2024 10:00"] * 4), dayfirst=False)
    pd.to_datetime(pd.Series(["13-02-2024", "01-03-2024"]))
print([(w.category.__name__, w.filename.rpartition("/")[2], w.lineno) for w in seen])
print(pd.DataFrame.query.__name__, pd.DataFrame.query.__doc__[:30])
"""


def test_pandas_finds_the_frame_of_its_caller(python, file):
    pytest.importorskip("pandas")
    path = file("program.py", FRAMES_OF_PANDAS)
    under_frit = python("-m", "frit", path).stdout
    assert under_frit == python(path).stdout
    assert "program.py" in under_frit


def test_scipy_takes_and_gives_arrays(frit):
    pytest.importorskip("scipy")
    program = """
    import numpy as np
    from scipy import integrate, linalg, optimize, signal, sparse, special, stats, interpolate, ndimage
    x = np.linspace(0, 1, 50)
    print(round(optimize.minimize(lambda p: np.sum((p - np.array([1.0, 2])) ** 2), np.zeros(2)).x[1], 4))
    print(round(integrate.quad(lambda t: np.exp(-t), 0, 1)[0], 6))
    print(linalg.solve(np.eye(2) * 2, np.ones(2)).tolist())
    print(special.erf(np.zeros(2)).tolist(), np.round(stats.norm.pdf(np.zeros(1)), 4).tolist())
    print((sparse.csr_matrix(np.eye(3)) @ np.arange(3.0)).tolist())
    print(np.round(integrate.solve_ivp(lambda t, y: -y, (0, 1), np.array([1.0]), rtol=1e-8).y[0, -1], 5))
    print(signal.convolve(np.ones(3), np.ones(2)).tolist(), ndimage.uniform_filter(np.eye(3), 1).tolist()[0])
    print(float(interpolate.interp1d(x, x * 2)(0.5)))
    fit, _ = optimize.curve_fit(lambda t, a, b: a * np.exp(b * t), x, 2 * np.exp(0.5 * x))
    print(np.round(fit, 4).tolist())
    """
    assert frit(program).splitlines() == [
        "2.0",
        "0.632121",
        "[0.5, 0.5]",
        "[0.0, 0.0] [0.3989]",
        "[0.0, 1.0, 2.0]",
        "0.36788",
        "[1.0, 2.0, 2.0, 1.0] [1.0, 0.0, 0.0]",
        "1.0",
        "[2.0, 0.5]",
    ]


def test_scikit_learn_takes_and_gives_arrays(frit):
    pytest.importorskip("sklearn")
    program = """
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression
    from sklearn.preprocessing import StandardScaler
    x = np.arange(12.0).reshape(6, 2)
    y = x @ np.array([1.0, 2.0]) + 3
    model = LinearRegression().fit(x, y)
    print(np.allclose(model.predict(x), y), np.sum(model.predict(x) - y).round(6) == 0)
    print(np.allclose(StandardScaler().fit_transform(x).mean(axis=0), 0))
    points = np.concatenate([np.zeros((5, 2)), np.ones((5, 2)) * 9])
    labels = KMeans(2, n_init=1, random_state=0).fit_predict(points)
    print(np.unique(labels[:5]).size, np.unique(labels[5:]).size, labels[0] != labels[-1])
    """
    assert frit(program) == "True True\nTrue\n1 1 True\n"


def test_scikit_learn_searches_grids_of_our_arrays(frit):
    pytest.importorskip("sklearn")
    program = """
    import numpy as np
    from sklearn.linear_model import Ridge
    from sklearn import model_selection
    x = np.random.default_rng(0).normal(size=(40, 2))
    y = x @ np.array([1.0, -2.0])
    search = model_selection.GridSearchCV(Ridge(), {"alpha": np.logspace(-1, 1, 3)}).fit(x, y)
    print(search.best_params_)
    print(len(list(model_selection.ParameterSampler({"alpha": np.arange(5) * 2.0}, 2, random_state=0))))
    """
    assert frit(program) == "{'alpha': np.float64(0.1)}\n2\n"


def test_estimators_of_sklearn_may_be_made_with_arrays(frit, python, file):
    pytest.importorskip("sklearn")
    program = """
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.linear_model import Ridge
    from sklearn.manifold import TSNE
    x = np.random.default_rng(0).normal(size=(3000, 3))
    start = x[:20, :2]
    print(TSNE(2, init=start, perplexity=4.0, max_iter=250).fit_transform(x[:20]).shape)
    print(KMeans(2, init=x[:2], n_init=1).fit(x).labels_.size, Ridge(alpha=x.max()).fit(x, x[:, 0]).coef_.round(3))
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_scikit_learn_finds_parameters_by_their_class(frit):
    pytest.importorskip("sklearn")
    program = """
    import numpy as np
    from sklearn.feature_extraction import image
    x = np.arange(16.0).reshape(4, 4)
    print(image.img_to_graph(x, mask=x > 3).sum())
    try:
        image.img_to_graph(x, mask="all")
    except ValueError as error:
        print(error)
    """
    assert frit(program) == (
        "196.0\nThe 'mask' parameter of img_to_graph must be None or an instance of 'numpy.ndarray'."
        " Got 'all' instead.\n"
    )


def test_matplotlib_draws_our_arrays(frit):
    pytest.importorskip("matplotlib")
    program = """
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np
    x = np.linspace(0, 6, 50)
    figure, axes = plt.subplots(2, 3)
    axes[0, 0].plot(x, np.sin(x))
    axes[0, 1].imshow(np.outer(x, x))
    axes[0, 2].hist(np.random.default_rng(0).normal(size=100))
    axes[1, 0].scatter(x, x, c=np.cos(x))
    axes[1, 1].contourf(*np.meshgrid(x, x), np.add.outer(x, x))
    axes[1, 2].fill_between(x, np.sqrt(x), where=x > 1)
    figure.savefig("picture.png")
    import os
    print(os.path.getsize("picture.png") > 5000)
    """
    assert frit(program) == "True\n"


def test_matplotlib_finds_columns_widths_and_markers_by_their_class(frit, python, file):
    pytest.importorskip("matplotlib")
    program = """
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.colors import to_rgba
    x = np.random.default_rng(0).normal(size=(100, 3))
    colors = abs(np.sin(x))
    figure, axes = plt.subplots(2, 3)
    print(len(axes[0, 0].hist(x, bins=5)[0]), len(plt.hist(x)[0]))
    print(len(axes[0, 1].boxplot(x)["boxes"]), len(axes[0, 1].violinplot(x)["bodies"]))
    print(axes[0, 2].plot(x[:, 0], marker=x[:4, :2], color=colors[:1])[0].get_marker())
    print(axes[0, 2].scatter(x[:, 0], x[:, 1], c=colors, s=colors[:, 0]).get_facecolor()[:2])
    print(to_rgba(colors[:1]))
    u = v = np.linspace(-1, 1, 20)
    X, Y = np.meshgrid(u, v)
    lines = axes[1, 0].streamplot(u, v, -Y, X, linewidth=1 + np.hypot(X, Y), color=X * Y, density=0.3)
    print(lines.lines.get_linewidth()[:3], lines.lines.get_array()[:3])
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_numba_functions_see_real_numpy_and_take_our_arrays(frit):
    pytest.importorskip("numba")
    program = """
    import numba
    import numpy as np
    from numba import njit, vectorize
    from numpy import sqrt

    SCALE = np.array([1.0, 2.0, 3.0])

    @njit
    def helper(a):
        return np.sum(a) + sqrt(4.0)

    @njit
    def kernel(a, n):
        out = np.zeros(n)
        for i in range(n):
            out[i] = helper(a) * i + np.pi - np.pi + SCALE[0] - 1.0
        return out

    @njit
    def writes(a):
        a[0] = 100.0

    @vectorize(["float64(float64)"])
    def twice(x):
        return 2 * x

    x = np.arange(3.0) + 1
    y = kernel(x, 3)
    print(type(y) is np.ndarray, y.tolist(), (y + x).tolist())
    writes(x)
    print(x.tolist(), twice(x).tolist(), kernel.py_func(x, 1).tolist())
    print(helper(np.ones(2)), np.__name__)
    """
    assert frit(program).splitlines() == [
        "True [0.0, 8.0, 16.0] [1.0, 10.0, 19.0]",
        "[100.0, 2.0, 3.0] [200.0, 4.0, 6.0] [0.0]",
        "4.0 frit.numpy",
    ]


def test_default_values_of_numba_functions_may_be_our_arrays(frit):
    pytest.importorskip("numba")
    program = """
    import numpy as np
    from numba import njit

    @njit
    def total(a, b=np.ones((2, 3)), c=np.array([1.5, 2.5])):
        return a + b.shape[0] + b.sum() + c[0]

    @njit
    def twice(a, k=np.arange(3), scale=np.float64(2.0)):
        return total(a) + total(a, np.zeros((1, 1))) * scale + k[2]

    print(total(1.0), twice(2.0), total(1.0, c=np.array([7.0])), twice(np.float64(1)))
    """
    assert frit(program) == "10.5 22.5 16.0 19.5\n"


def test_entries_that_numba_compiles_for_a_program_take_our_arrays(frit):
    pytest.importorskip("numba")
    program = """
    import numpy as np
    from numba import float64, jit

    def scaled(a, b):
        return a * b

    dispatcher = jit(scaled)
    entry = dispatcher.compile(float64[:](float64[::1], float64))
    y = entry(np.arange(3.0), 2.0)
    print(isinstance(y, np.ndarray), y.tolist())
    entry = dispatcher.get_overload((float64[::1], float64))
    print(entry(np.arange(3.0), np.float64(3.0)).tolist())
    print(dispatcher(np.arange(2), 2).tolist())
    """
    assert frit(program) == "True [0.0, 2.0, 4.0]\n[0.0, 3.0, 6.0]\n[0, 2]\n"


def test_stencils_of_numba_take_our_arrays(frit):
    pytest.importorskip("numba")
    program = """
    import numpy as np
    from numba import stencil

    @stencil
    def around(a):
        return a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]

    x = np.arange(9.0).reshape(3, 3) * 2
    out = np.ones((3, 3)) * 3
    print(around(x).tolist(), around(x, out=out).tolist())
    print(out.tolist())
    """
    inside = "[[{0}, {0}, {0}], [{0}, 32.0, {0}], [{0}, {0}, {0}]]"
    zeros, threes = inside.format(0.0), inside.format(3.0)
    assert frit(program).splitlines() == [f"{zeros} {threes}", threes]


def test_calls_of_numba_functions_run_no_python_and_give_operands_back_as_they_are(python, file):
    pytest.importorskip("numba")
    text = """
    import sys
    import traceback
    import numpy as np
    from numba import njit

    @njit
    def same(a, b=1.0):
        if b > 2.0:
            raise ValueError("no")
        return a

    x = np.arange(4.0) * 2
    print(same(x) is x, same(a=x, b=2.0) is x, same((x, 3.0))[0] is x, type(same(x.sum())))
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append((frame.f_code.co_name, event)))
    same(0.5)
    sys.setprofile(None)
    print([name for name, event in calls if event == "call"])
    try:
        same(x, 3.0)
    except ValueError as error:
        print(len(traceback.extract_tb(error.__traceback__)))
    """
    path = file("program.py", text)
    plain = python(path).stdout  # from Python 3.12 on numba tells profilers of no calls
    assert plain.startswith("True True True") and python("-m", "frit", path).stdout == plain


@pytest.mark.parametrize("order", ["numba, numexpr, numpy as np", "numpy as np, numba, numexpr"])
def test_numba_and_numexpr_know_our_arrays_for_arrays(frit, python, file, order):
    pytest.importorskip("numba")
    pytest.importorskip("numexpr")
    program = f"""
    import {order}
    a = np.arange(5.0)
    b = np.empty(5)
    print(numba.typeof(a), numba.typeof(a[::2]), numba.typeof(a.sum()), numba.typeof((a, 1)))
    print(numexpr.evaluate("a * 2", out=b) is b, b.tolist(), numexpr.evaluate("a + b").tolist())
    def inner(c):
        return numexpr.evaluate("c * a", global_dict={{"a": a}}).tolist(), numexpr.NumExpr("x + y")(a, b).tolist()
    print(inner(a))
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_numba_works_as_before_after_uninstall(python, file):
    pytest.importorskip("numba")
    path = file(
        "program.py",
        """
        import frit
        frit.install()
        import numba
        from numba.core.interpreter import Interpreter
        from numba.core.dispatcher import Dispatcher
        frit.uninstall()
        import numpy as np
        print(Interpreter.get_global_value.__module__, "__call__" in vars(Dispatcher))
        print(numba.njit(lambda x: np.sum(x))(np.ones(3)))
        """,
    )
    assert python(path).stdout == "numba.core.interpreter False\n3.0\n"


def test_joblib_and_pillow_take_our_arrays(frit):
    pytest.importorskip("joblib")
    pytest.importorskip("PIL")
    program = """
    import joblib
    import numpy as np
    from PIL import Image
    print(joblib.hash(np.arange(3)) == joblib.hash(np.array([0, 1, 2])))
    print([float(r) for r in joblib.Parallel(2)(joblib.delayed(np.sum)(np.ones(n)) for n in (2, 3))])
    image = Image.fromarray((np.ones((4, 4)) * 255).astype(np.uint8))
    print(np.asarray(image).mean(), np.array(image).sum())
    """
    assert frit(program) == "True\n[2.0, 3.0]\n255.0 4080\n"


def test_joblib_maps_arrays_into_memory(python, file, tmp_path):
    pytest.importorskip("joblib")
    text = """
import os
import joblib
import numpy as np

def put(x, k):
    try:
        x[0] = 99
    except ValueError as error:
        return str(error)

def first(x, k):
    return float(x[k]), isinstance(x, np.ndarray)

if __name__ == "__main__":
    a = np.arange(1e6) * 2
    joblib.dump(a, "a.jl")
    m = joblib.load("a.jl", mmap_mode="r")
    print(type(m).__name__, m.flags.writeable, os.path.getsize("a.jl"), m[5])
    joblib.dump({"x": a, "y": [a[:3], a[:3]]}, "b.jl", compress=3)
    b = joblib.load("b.jl")
    print(b["x"].sum(), b["y"])
    for function, given in ((put, a), (first, a), (first, a[:9])):
        for backend in ("loky", "multiprocessing"):
            calls = (joblib.delayed(function)(given, k) for k in range(3))
            print(joblib.Parallel(2, backend=backend)(calls))
    # A worker that is started later gets what the first ones had.
    print(joblib.Parallel(3)(joblib.delayed(first)(a, k) for k in range(4)))
    print(a[:2])
"""
    path = file("program.py", text)
    plain = python(path).stdout
    assert "read-only" in plain and python("-m", "frit", path).stdout == plain


def test_namespaces_are_found_by_array_api_compat(python, file):
    pytest.importorskip("sklearn")
    text = """
import numpy as np
import sklearn
from scipy import signal, stats
try:
    from scipy._external import array_api_compat as of_scipy
except ImportError:  # before SciPy 1.18
    from scipy._lib import array_api_compat as of_scipy
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.externals import array_api_compat as of_sklearn
from sklearn.feature_extraction.image import img_to_graph
from sklearn.linear_model import Ridge

x = (np.arange(160.0) * 37 % 101).reshape(40, 4) / 128
y = (x[:, 0] > 0.5).astype(int)
for compat in (of_scipy, of_sklearn):
    spaces = [compat.array_namespace(z).__name__ for z in (x, y[:3] * 2, np.asarray(x)[0], x.sum())]
    print(spaces, compat.is_numpy_array(x), compat.is_torch_array(x), compat.device(x))
with sklearn.config_context(array_api_dispatch=True):
    print(LinearDiscriminantAnalysis().fit(x, y).predict(x), Ridge().fit(x, y).score(x, y))
print(stats.quantile(np.arange(20.0), [0.1, 0.9]), stats.ttest_1samp(x[:, 0], 0.1).pvalue)
print(signal.lfilter([1.0, 2.0], [1.0], x[0]))
"""
    path = file("program.py", text)
    plain = python(path, SCIPY_ARRAY_API="1").stdout
    assert python("-m", "frit", path, SCIPY_ARRAY_API="1").stdout == plain


def test_standard_library_takes_our_arrays(frit):
    program = """
    import array, copy, json, math, pickle, statistics, struct, io, os, tempfile
    import numpy as np
    x = np.arange(4.0)
    print(math.sqrt(x[1]), sum(x), max(x), sorted(-x)[0], list(map(float, x)), statistics.mean(x.tolist()))
    print(bytes(memoryview(x))[:8] == struct.pack("d", 0), json.dumps(x.tolist()), array.array("d", x)[3])
    print(copy.deepcopy(x).tolist(), copy.copy(x) is x, pickle.loads(pickle.dumps(x)).tolist())
    f = io.BytesIO(); np.save(f, x); f.seek(0); print(type(np.load(f)) is np.ndarray)
    f = io.BytesIO(); np.savez(f, a=x, b=x + 1); f.seek(0); print(np.load(f)["b"].tolist())
    s = io.StringIO(); np.savetxt(s, x); s.seek(0); print(np.loadtxt(s).tolist())
    f = io.BytesIO(); f.write(x); print(len(f.getvalue()))
    """
    assert frit(program).splitlines() == [
        "1.0 6.0 3.0 -3.0 [0.0, 1.0, 2.0, 3.0] 1.5",
        "True [0.0, 1.0, 2.0, 3.0] 3.0",
        "[0.0, 1.0, 2.0, 3.0] False [0.0, 1.0, 2.0, 3.0]",
        "True",
        "[1.0, 2.0, 3.0, 4.0]",
        "[0.0, 1.0, 2.0, 3.0]",
        "32",
    ]


def test_functions_of_c_libraries_take_our_arrays(frit):
    program = """
    import ctypes
    import numpy as np
    kind = np.ctypeslib.ndpointer(np.float64, ndim=1, flags="C_CONTIGUOUS")
    library = ctypes.CDLL(None)
    library.memset.argtypes = [kind, ctypes.c_int, ctypes.c_size_t]
    x = np.arange(4.0) * 2
    library.memset(x, 0, 16)
    print(x + 1, kind.__module__ == np.ctypeslib.ndpointer.__wrapped__().__module__)
    for wrong in (x[::2], x.astype(int), x[:, None], [1.0]):
        try:
            library.memset(wrong, 0, 8)
        except ctypes.ArgumentError as error:
            print(error)
    """
    assert frit(program).splitlines() == [
        "[1. 1. 5. 7.] True",
        "argument 1: TypeError: array must have flags ['C_CONTIGUOUS']",
        "argument 1: TypeError: array must have data type float64",
        "argument 1: TypeError: array must have 1 dimension(s)",
        "argument 1: TypeError: argument must be an ndarray",
    ]


def test_json_writes_numbers_that_are_not_yet_computed(frit, python, file):
    program = """
    import json
    import numpy as np
    x = np.arange(20000.0)
    found = {"sum": x.sum(), "all": [x.mean(), {"deep": x.max()}], "t": (x[3], x.min())}
    print(json.dumps(found), json.dumps(found, indent=1, sort_keys=True), json.dumps(x.sum()))
    print(json.dumps({"a": (x * np.inf)[1:].sum(), "b": x[x > 1e9].sum()}))

    class Known(json.JSONEncoder):
        def default(self, value):
            if isinstance(value, (np.integer, np.bool_)):
                return value.item()
            return value.tolist() if isinstance(value, np.ndarray) else super().default(value)

    other = {"n": (x > 3).sum(), "any": (x > 3).any(), "x": x[:3], "s": x.sum()}
    print(json.dumps(other, cls=Known), json.dumps(other, cls=Known, indent=2))
    for wrong in (x.astype(np.float32).sum(), x.astype(int).sum(), {"a": x[:2]}):
        try:
            json.dumps(wrong)
        except TypeError as error:
            print(error)
    """
    assert frit(program) == python(file("plain.py", program)).stdout


NUMBERS_FOR_C = """
import datetime, decimal, sqlite3, time
import numpy as np
from datetime import datetime as moment, timezone
x = np.arange(50000.0) / 50000 + 2
print(datetime.timedelta(seconds=x.max()), datetime.timedelta(x.min(), x.mean()))
print(moment.fromtimestamp(x.max(), timezone.utc), datetime.date.fromtimestamp(x.max()))
class Span(datetime.timedelta):
    pass
print(repr(Span(minutes=x.min())), moment(2020, 1, 1) + datetime.timedelta(hours=x.max()))
print(decimal.Decimal(x.max()), decimal.Decimal.from_float(x.min()), decimal.Decimal("1.5"))
table = sqlite3.connect(":memory:")
table.execute("create table t (a, b)")
table.executemany("insert into t values (?, ?)", [(x.max(), k) for k in range(2)])
table.execute("insert into t values (:a, :b)", {"a": x.min(), "b": 1.5})
print(table.execute("select a, b, typeof(a) from t").fetchall())
print(time.gmtime(x.max())[:6], time.ctime(x.min()) == time.ctime(2.0), time.sleep(x.min() / 1e9))
for wrong in ("datetime.timedelta(seconds=x.astype('f4').max())", "time.sleep(x[:2])",
              "decimal.Decimal(x.astype(int).max())", "moment.fromtimestamp('a')"):
    try:
        print(eval(wrong))
    except TypeError as error:
        print(error)
"""


@pytest.mark.parametrize("before", ["", "import datetime, decimal, sqlite3, time\n"])
def test_c_code_that_knows_floats_by_their_type_gets_values(frit, python, file, before):
    program = before + NUMBERS_FOR_C
    assert frit(program) == python(file("plain.py", program)).stdout


def test_the_standard_library_is_as_before_after_uninstall(python, file):
    program = """
    import datetime, time
    from sqlite3 import adapters
    def state():
        kinds = datetime.date.__dict__["fromtimestamp"], datetime.datetime.__dict__["fromtimestamp"]
        return [time.sleep, time.ctime, *kinds, len(adapters)]
    before = state()
    import frit
    frit.install()
    import numpy as np
    print(state() != before)
    frit.uninstall()
    print(state() == before)
    """
    assert python(file("program.py", program)).stdout == "True\nTrue\n"


def test_what_functions_give_pandas_becomes_columns_of_floats(frit, python, file):
    pytest.importorskip("pandas")
    program = """
    import numpy as np
    import pandas as pd
    x = np.arange(50000.0)
    s = pd.Series([1.0, 2.0, np.nan])
    d = pd.DataFrame({"a": s, "g": [0, 0, 1]})
    print(s.map(lambda v: v + x.sum()).dtype, s.apply(lambda v: x.argmax()).dtype)
    print(s.map(lambda v: v + x.sum(), na_action="ignore").tolist(), d.map(lambda v: x.max()).dtypes.tolist())
    print(d.apply(lambda row: row["a"] * x.max(), axis=1).tolist(), d.apply(lambda c: x.max()).dtype)
    for way in (d.groupby("g").agg({"a": lambda part: x.sum()}), d.groupby("g").apply(lambda part: x.mean())):
        print(way.dtypes, way.to_numpy().tolist())
    print(pd.Series([x.sum(), "a"]).map(lambda v: x.max() if v == "a" else None).tolist())
    print(pd.api.types.is_float(x.sum()), pd.api.types.is_integer(x.argmax()), pd.api.types.is_number(x.max()))
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_masks_and_positions_choose_from_all_of_pandas_indexes_and_arrays(frit, python, file):
    pytest.importorskip("pandas")
    program = """
    import warnings
    import numpy as np
    import pandas as pd
    warnings.simplefilter("error")
    n = 40
    keys = np.arange(n) < 2, np.array([3, 1]), np.array([True] + [False] * (n - 1))
    indexes = [
        pd.RangeIndex(n), pd.Index(np.arange(n)), pd.date_range("2020", periods=n), pd.interval_range(0, n),
        pd.timedelta_range("1s", periods=n), pd.CategoricalIndex(["a", "b"] * 20),
        pd.MultiIndex.from_product([range(20), ["x", "y"]]), pd.DataFrame({"a": np.arange(n)}).index,
    ]
    arrays = [
        pd.array([1, None] * 20), pd.array(["x", "y"] * 20), pd.Categorical(["a", "b"] * 20),
        pd.Series(range(n)).array, pd.date_range("2020", periods=n).array, pd.array([True, None] * 20),
    ]
    for chosen in indexes + arrays:
        print(type(chosen).__name__, *(list(chosen[key]) for key in keys))
    arrays[0][keys[0]] = 7
    print(list(arrays[0][:3]), pd.api.indexers.check_array_indexer(arrays[0], keys[0]).sum())
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_scipys_fortran_functions_leave_their_operands_as_they_are(frit):
    pytest.importorskip("scipy")
    program = """
    import numpy as np
    from scipy import linalg
    from scipy.linalg import blas, get_lapack_funcs, lapack
    a, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([5.0, 4.0])
    (gesv,) = get_lapack_funcs(("gesv",), (a, b))
    print(lapack.dgesv(a, b)[2].round(9), gesv(a, b)[2].round(9), gesv.typecode)
    print(linalg.get_blas_funcs("gemm", (a, a))(1.0, a, a).tolist())
    print(a.tolist(), b.tolist(), isinstance(blas.dgemm(1.0, a, a), np.ndarray))
    class Solver:
        gesv = get_lapack_funcs("gesv", dtype="d")
    print(Solver().gesv(a, b, overwrite_b=True)[2].round(9).tolist())
    """
    assert frit(program) == (
        "[1. 1.] [1. 1.] d\n[[17.0, 7.0], [7.0, 10.0]]\n"
        "[[4.0, 1.0], [1.0, 3.0]] [5.0, 4.0] True\n[1.0, 1.0]\n"
    )


@pytest.mark.parametrize("before", [True, False])
def test_functions_of_any_module_made_by_f2py_leave_their_operands_as_they_are(
    frit, python, file, before
):
    pytest.importorskip("scipy")
    imports = ["import numpy as np", "from scipy.linalg._flapack import dgesv, dgetrf"]
    program = f"""
    {"; ".join(imports[:: -1 if before else 1])}
    a, b = np.array([[4.0, 1.0], [1.0, 3.0]], order="F"), np.array([5.0, 4.0])
    for solve in (dgesv, getattr(__import__("scipy.linalg._flapack").linalg._flapack, "dgesv")):
        print(solve(a, b)[2].round(9), solve is dgesv, type(solve).__name__)
    print(dgetrf(a)[0].round(9).tolist(), a.tolist(), b.tolist())
    dgesv(a, b, overwrite_a=True)
    print(a.tolist() != [[4.0, 1.0], [1.0, 3.0]])
    """
    assert frit(program) == python(file("plain.py", textwrap.dedent(program))).stdout


def test_functions_made_by_f2py_are_as_before_after_uninstall(python, file):
    pytest.importorskip("scipy")
    program = file(
        "program.py",
        """
        import frit
        from scipy.linalg import _flapack
        frit.install()
        import numpy as np
        a, b = np.array([[4.0, 1.0], [1.0, 3.0]], order="F"), np.array([5.0, 4.0])
        first = _flapack.dgesv(a, b)[2].round(9), a.tolist(), b.tolist()
        frit.uninstall()
        print(first, _flapack.dgesv(a, b)[2].round(9), a.tolist())  # takes it for its own copy
        """,
    )
    assert python(program).stdout == (
        "(array([1., 1.]), [[4.0, 1.0], [1.0, 3.0]], [5.0, 4.0]) "
        "[1. 1.] [[4.0, 1.0], [0.25, 2.75]]\n"
    )


def test_a_library_knows_our_arrays_by_the_class_of_real_ones(python, file, tmp_path):
    file(
        "site-packages/asks.py",
        """
        import numpy

        def what(x):
            known = [isinstance(x, numpy.ndarray), isinstance(x, (list, tuple, numpy.ndarray))]
            return known + [isinstance(x, kind) for kind in (list, numpy.matrix, numpy.generic)]
        """,
    )
    program = file(
        "program.py",
        """
        import functools, sys
        sys.path.append("site-packages")
        import numpy as np
        from asks import what

        @functools.singledispatch
        def kind(x):
            return "other"

        @kind.register(np.ndarray)
        def _(x):
            return "array"

        x = np.arange(6.0)
        for v in (x, x[1:], x * 2, x.sum(), np.matrix(x), x.tolist(), np.ma.array(x)):
            print(what(v), isinstance(v, np.ndarray), kind(v), v.__class__ is type(v) or v is not x)
        print(x.__class__ is np.ndarray, x.__class__.__name__, x.__class__([2]).shape)
        try:
            x.__class__ = list
        except TypeError as error:
            print("no list")
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout


@pytest.mark.parametrize("before", [True, False])
def test_functions_that_cython_made_take_our_arrays(frit, python, file, before):
    pytest.importorskip("scipy")
    imports = ["import numpy as np", "from scipy.io.matlab._mio_utils import squeeze_element"]
    program = f"""
    {"; ".join(imports[:: -1 if before else 1])}
    import pickle
    x = np.arange(3.0).reshape(1, 3)
    print(squeeze_element(x), squeeze_element(x * 2), squeeze_element(arr=x[:, :1] + 1))
    squeeze_element(x)[1] = 7
    print(x.tolist(), type(squeeze_element).__name__, squeeze_element.__name__)
    print(pickle.loads(pickle.dumps(squeeze_element)) is squeeze_element)
    for wrong in (x.tolist(), None, 3):
        try:
            print(squeeze_element(wrong))
        except TypeError as error:
            print(error)
    """
    assert frit(program) == python(file("plain.py", textwrap.dedent(program))).stdout


def test_functions_that_cython_made_are_as_before_after_uninstall(python, file):
    pytest.importorskip("scipy")
    program = file(
        "program.py",
        """
        import frit
        from scipy.io.matlab._mio_utils import squeeze_element
        import frit.numpy as np
        x = np.ones((1, 2))
        def squeezed():
            try:
                return squeeze_element(x).shape
            except TypeError as error:
                return type(error).__name__
        print(squeezed())
        for _ in range(2):
            frit.install()
            print(squeezed())
            frit.uninstall()
            print(squeezed())
        """,
    )
    once = "(2,)\nTypeError\n"
    assert python(program).stdout == "TypeError\n" + 2 * once


EXTENSION = """
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <structmember.h>

typedef struct { PyObject_HEAD PyObject* array; } Held;

static double* numbers(PyObject* array) { return (double*)PyArray_DATA((PyArrayObject*)array); }
static PyObject* fill(PyObject* self, PyObject* values) {
  PyObject* array;
  double value;
  if (!PyArg_ParseTuple(values, "O!d", &PyArray_Type, &array, &value)) return NULL;
  for (npy_intp k = 0; k < PyArray_SIZE((PyArrayObject*)array); ++k) numbers(array)[k] = value;
  Py_RETURN_NONE;
}
static int hold(PyObject* self, PyObject* values, PyObject* keywords) {
  static char* names[] = {"array", NULL};
  PyObject* array;
  if (!PyArg_ParseTupleAndKeywords(values, keywords, "O!", names, &PyArray_Type, &array)) return -1;
  Py_XSETREF(((Held*)self)->array, Py_NewRef(array));
  return 0;
}
static PyObject* first(PyObject* self, PyObject* other) {
  if (!PyArray_Check(other)) return PyErr_Format(PyExc_TypeError, "no array");
  return PyFloat_FromDouble(numbers(((Held*)self)->array)[0] + numbers(other)[0]);
}
static PyObject* draw(PyObject* self, PyObject* generator) {
  PyObject* drawn = PyObject_CallMethod(generator, "choice", "ii", 9, 3);
  if (!drawn) return NULL;
  int is_array = PyArray_Check(drawn);
  Py_DECREF(drawn);
  return is_array ? Py_NewRef(generator) : PyErr_Format(PyExc_TypeError, "no array");
}
static PyMethodDef functions[] = {
  {"fill", fill, METH_VARARGS, ""}, {"draw", draw, METH_O, ""}, {0}};
static PyMethodDef methods[] = {{"first", first, METH_O, ""}, {0}};
static PyTypeObject held = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "own.Held",
  .tp_basicsize = sizeof(Held), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
  .tp_methods = methods, .tp_init = hold, .tp_new = PyType_GenericNew};
// What derives from it in C calls the slot of its base.
static int hold_twice(PyObject* self, PyObject* values, PyObject* keywords) {
  return held.tp_init(self, values, keywords);
}
static PyTypeObject twice = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "own.Twice",
  .tp_basicsize = sizeof(Held), .tp_flags = Py_TPFLAGS_DEFAULT, .tp_base = &held,
  .tp_init = hold_twice};
static PyObject* make(PyTypeObject* type, PyObject* values, PyObject* keywords) {
  PyObject* made = type->tp_alloc(type, 0);
  return made && hold(made, values, keywords) < 0 ? NULL : made;
}
static PyTypeObject made_at_once = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "own.Made",
  .tp_basicsize = sizeof(Held), .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
  .tp_methods = methods, .tp_new = make};
// In a module that it makes itself, as pybind11 does for def_submodule.
static PyObject* total(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  double sum = 0;
  for (Py_ssize_t k = 0; k < count + (names ? PyTuple_GET_SIZE(names) : 0); ++k) {
    if (!PyArray_Check(values[k])) return PyErr_Format(PyExc_TypeError, "no array");
    sum += numbers(values[k])[0];
  }
  return PyFloat_FromDouble(sum);
}
static PyObject* calls_total(PyObject* self, PyObject* function) {
  return PyBool_FromLong(PyCFunction_CheckExact(function) && PyCFunction_GetFunction(function) ==
                         (PyCFunction)(void (*)(void))total);
}
static PyMethodDef part_functions[] = {
  {"total", (PyCFunction)(void (*)(void))total, METH_FASTCALL | METH_KEYWORDS, ""},
  {"calls_total", calls_total, METH_O, ""}, {0}};
// What it is made of, in a list, it asks later about what is in others.
static int expect(PyObject* self, PyObject* values, PyObject* keywords) {
  PyObject* kinds;
  if (!PyArg_ParseTuple(values, "O!", &PyList_Type, &kinds)) return -1;
  Py_XSETREF(((Held*)self)->array, Py_NewRef(kinds));
  return 0;
}
static PyObject* expects(PyObject* self, PyObject* values) {
  int is = PyObject_IsInstance(PyList_GetItem(values, 0), PyList_GetItem(((Held*)self)->array, 0));
  return is < 0 ? NULL : PyBool_FromLong(is);
}
static PyMethodDef expecting_methods[] = {{"expects", expects, METH_O, ""}, {0}};
static PyTypeObject expecting = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "own.part.Expecting",
  .tp_basicsize = sizeof(Held), .tp_flags = Py_TPFLAGS_DEFAULT,
  .tp_methods = expecting_methods, .tp_init = expect, .tp_new = PyType_GenericNew};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "own", 0, -1, functions};
PyMODINIT_FUNC PyInit_own(void) {
  import_array();
  if (PyType_Ready(&held) < 0 || PyType_Ready(&twice) < 0 || PyType_Ready(&made_at_once) < 0 ||
      PyType_Ready(&expecting) < 0)
    return NULL;
  PyObject* part = PyModule_New("own.part");
  PyModule_AddFunctions(part, part_functions);
  PyModule_AddObjectRef(part, "Expecting", (PyObject*)&expecting);
  PyObject* made = PyModule_Create(&module);
  PyModule_AddObjectRef(made, "part", part);
  PyModule_AddObjectRef(made, "Held", (PyObject*)&held);
  PyModule_AddObjectRef(made, "Twice", (PyObject*)&twice);
  PyModule_AddObjectRef(made, "Made", (PyObject*)&made_at_once);
  return made;
}
"""


@pytest.mark.parametrize("first", ["import numpy as np", "from own import fill, Held, Made, Twice"])
def test_a_programs_own_extension_modules_take_our_arrays(python, file, tmp_path, first):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = file("own.c", EXTENSION)
    headers = sysconfig.get_path("include"), numpy.get_include()
    module = tmp_path / ("own" + sysconfig.get_config_var("EXT_SUFFIX"))
    flags = ["-w", "-shared", "-fPIC", *(f"-I{folder}" for folder in headers)]
    subprocess.run([compiler, *flags, source, "-o", module], check=True)
    program = file(
        "program.py",
        f"""
        {first}
        import numpy as np
        from own import draw, fill, Held, Made, part, Twice

        class Derived(Held):
            def __init__(self, x, more):
                super().__init__(x)
                self.more = more

        class Remade(Made):
            def __new__(cls, x):
                return super().__new__(cls, x + 1)

        x = np.arange(4.0)
        fill(x[1:3], 7)
        print(x, fill.__name__, type(x) is np.ndarray)
        all_held = Held(x), Held(array=x * 2), Twice(x + 1), Derived(x + 2, 1), Made(x), Remade(x)
        for held in all_held:
            print(held.first(x), type(held).__name__, isinstance(held, Held))
        y = x * 3
        held = Held(y)
        y[0] = 5
        print(held.first(y * 2), Held.first(held, x))
        for generator in (np.random.default_rng(3), np.random.RandomState(3)):
            print(draw(generator) is generator, generator.random())
        print([part.total(x + k, more=x) for k in range(99)][-1], part.total.__call__(x, x), part.total())
        print(type(part.total).__name__, type(fill).__name__, part.calls_total(part.total))
        expecting = part.Expecting([np.ndarray])
        print([expecting.expects([given]) for given in (x, x.astype(">f8"), 1)])
        wrongs = [lambda: fill([1.0], 2), lambda: fill(x), lambda: Held(1), lambda: held.first(1)]
        for wrong in (*wrongs, lambda: part.total(1)):
            try:
                wrong()
            except TypeError as error:
                print(error)
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout


def test_functions_of_libraries_that_get_real_arrays_can_be_pickled(frit, python, file):
    pytest.importorskip("scipy")
    pytest.importorskip("pandas")
    program = """
    import pickle
    import numpy as np
    import pandas as pd
    from scipy.sparse import csc_matrix, linalg

    class Problem:
        solve = staticmethod(linalg.spsolve)

        def __init__(self):
            self.solver, self.cut = linalg.spsolve, pd.cut

    problem = pickle.loads(pickle.dumps(Problem()))
    print(problem.solver is linalg.spsolve, problem.cut is pd.cut, linalg.spsolve.__module__)
    print(problem.solver(csc_matrix(np.eye(3) * 2), np.arange(3.0)).tolist())
    """
    assert frit(program) == python(file("plain.py", textwrap.dedent(program))).stdout


@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_sparse_matrices_take_dense_operands_on_either_side(python, file, kind):
    pytest.importorskip("scipy")
    program = file(
        "program.py",
        f"""
        import operator
        import numpy as np
        from scipy import sparse
        s, d = sparse.csr_{kind}(np.diag([1.0, 2.0, 3.0])), np.arange(9.0).reshape(3, 3) + 1
        names = "add sub mul matmul truediv eq ne lt ge".split()
        for x, y in ((s, d), (d, s), (s, d[0]), (d[0], s), (s, d.sum()), (d.sum(), s)):
            for name in names:
                try:
                    z = getattr(operator, name)(x, y)
                    z = z.toarray() if sparse.issparse(z) else z
                    print(name, np.asarray(z).tolist(), isinstance(z, np.matrix))
                except (ValueError, TypeError, NotImplementedError) as error:
                    print(name, type(error).__name__, error)
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout


def test_scipys_solvers_take_functions_that_give_our_arrays(python, file):
    """What they hand to NumPy comes back as NumPy's, which C code insists on."""
    pytest.importorskip("scipy")
    program = file(
        "program.py",
        """
        import numpy as np
        from scipy import optimize, sparse
        from scipy.sparse import linalg
        def value(x): return ((x - np.array([1.0, 2.0])) ** 2).sum() + (x[0] * x[1]) ** 2
        def slope(x): return np.array([2 * (x[0] - 1) + 2 * x[0] * x[1] ** 2, 2 * (x[1] - 2) + 2 * x[1] * x[0] ** 2])
        def system(x): return np.array([x[0] ** 2 + x[1] - 3, x[0] - x[1] ** 2 + 1])
        def jacobian(x): return np.array([[2 * x[0], 1], [1, -2 * x[1]]])
        start = np.array([0.5, 0.5])
        for method in ("BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-constr"):
            print(method, optimize.minimize(value, start, jac=slope, method=method).x.tolist())
        print(optimize.fmin_l_bfgs_b(value, start, fprime=slope)[0].tolist())
        below = {"type": "ineq", "fun": lambda x: np.array([1 - x.sum()]), "jac": lambda x: -np.ones(2)}
        print(optimize.minimize(value, start, jac=slope, constraints=[below], method="SLSQP").x.tolist())
        for method in ("trf", "dogbox", "lm"):
            print(method, optimize.least_squares(system, start, jac=jacobian, method=method).x.tolist())
        print(optimize.fsolve(system, start, fprime=jacobian).tolist(), start.tolist())
        matrix, right = sparse.csc_matrix(np.diag([1.0, 2.0, 4.0])), np.arange(3.0)
        for factors in (linalg.splu(matrix), linalg.spilu(matrix)):
            print(factors.solve(right).tolist(), factors.shape, factors.L.toarray().tolist())
        print(linalg.factorized(matrix)(right).tolist(), right.tolist())
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout


def test_sparse_matrices_take_masks_and_dense_matrices_are_operators(frit, python, file):
    pytest.importorskip("scipy")
    program = """
    import numpy as np
    from scipy import sparse
    from scipy.sparse import linalg
    a = np.diag(np.arange(1.0, 6.0)) + np.ones((5, 5)) / 8
    s, k = sparse.csr_array(a), np.arange(5)
    print(s[a > 1].sum(), s[k < 2].shape, s[k[:2], k[:2]].tolist(), s[np.ix_(k[:2], k[:3])].sum(), s[:, k > 3].sum())
    print(s.maximum(a + 1).sum(), s.minimum(a - 1).sum(), s.tolil()[k[:2], k[1:3]].toarray().tolist())
    s[k > 3, 0] = 9.0
    print(s.toarray()[:, 0].tolist(), linalg.aslinearoperator(a).matvec(k * 1.0).tolist())
    for solve in (linalg.cg, linalg.gmres, linalg.minres, linalg.bicgstab):
        print(solve(a, np.ones(5), rtol=1e-10)[0].round(6).tolist())
    """
    assert frit(program) == python(file("plain.py", program)).stdout


def test_what_an_installed_library_asks_of_numpy_is_numpys(python, file, tmp_path):
    file(
        "site-packages/asks.py",
        "import numpy as np\n"
        "def answers(x, out):\n"
        "    return np.atleast_1d(x), np.exp(x), np.add.reduce(x), np.add(x, 1, out=out), x * 2\n",
    )
    program = file(
        "program.py",
        """
        import sys
        sys.path.append("site-packages")
        import asks
        import numpy as np
        out = np.zeros(3)
        found = asks.answers(np.arange(3.0), out)
        print([type(x) is np.ndarray for x in found], [isinstance(x, np.ndarray) for x in found])
        print([np.asarray(x).tolist() for x in found[1:]], out.tolist())
        """,
    )
    exp = [1.0, 2.718281828459045, 7.38905609893065]
    assert python("-m", "frit", program).stdout == (
        "[False, False, False, False, True] [True, True, False, True, True]\n"
        f"[{exp}, 3.0, [1.0, 2.0, 3.0], [0.0, 2.0, 4.0]] [1.0, 2.0, 3.0]\n"
    )


PICKLED_WHOLE = """
import cloudpickle, numpy as np
class Line(np.poly1d):
    def doubled(self):
        return Line(2 * self.coeffs)
def scaled(x: np.ndarray, by: "np.ndarray | None" = None, kind: type = np.ndarray) -> np.ndarray:
    assert isinstance(x, kind)
    return by * x, Line([1, 2]).doubled()(3), type(np.random.default_rng(0)) is np.random.Generator
with open("pickled", "wb") as f:
    cloudpickle.dump((scaled, Line([1, 2])), f)
"""


def test_functions_and_classes_that_name_ours_go_to_other_processes(python, file):
    pytest.importorskip("cloudpickle")
    python("-m", "frit", file("program.py", PICKLED_WHOLE))
    code = """
    import pickle
    scaled, line = pickle.load(open("pickled", "rb"))
    import frit.numpy as np
    print(scaled(np.arange(3), 2), line.doubled()(3), scaled.__annotations__["x"] is np.ndarray)
    """
    out = python("-c", textwrap.dedent(code)).stdout
    assert out == "(array([0, 2, 4]), np.int64(10), True) 10 True\n"


LIBRARIES_THAT_KNOW_ARRAYS_BY_CLASS = {
    "astropy": """
    from astropy.table import Table
    print(Table({"a": x})[x > 1], Table({"a": x, "b": x * 2})["b"].sum())
    """,
    "autograd": """
    import autograd.numpy as traced
    from autograd import grad, hessian, jacobian
    f = lambda x: traced.sum(x**3 * np.arange(1.0, 7))
    print(grad(f)(x * 2), grad(f)(x.sum()), hessian(f)(x), jacobian(lambda v: v * x)(x))
    from autograd.extend import Box, VSpace, defvjp, primitive
    class Weight:
        def __init__(self, value): self.value = value
    class WeightBox(Box): __slots__ = ()
    class Weights(VSpace):
        def __init__(self, value): pass
        def _add(self, x, y): return Weight(x.value + y.value)
    WeightBox.register(Weight)
    Weights.register(Weight)
    value_of = primitive(lambda weight: weight.value)
    defvjp(value_of, lambda ans, weight: Weight)
    print(grad(lambda w: value_of(w) ** 2 + value_of(w))(Weight(x[3] * 1.0)).value)
    """,
    "bottleneck": """
    from bottleneck import replace
    import bottleneck
    x[0] = np.nan
    replace(x, np.nan, 5)
    print(x, bottleneck.move_mean(x, 2), bottleneck.nanmax(x * 2))
    """,
    "cv2": """
    from cv2 import circle
    import cv2
    image = np.zeros((8, 8, 3), np.uint8)
    print(circle(image, (3, 3), 2, (1, 2, 3), -1) is image, image.sum(), cv2.resize(image, (4, 4)).sum())
    print(cv2.fillPoly(image, [np.array([[1, 1], [5, 1], [5, 5]], np.int32)], (7, 7, 7)).sum())
    print(cv2.ORB_create().detectAndCompute(image, None)[0])
    """,
    "dill": """
    import dill
    from numpy.random import Generator, default_rng
    class Walk:
        def __init__(self):
            self.rng, self.x, self.total, self.add = np.random.default_rng(2), x * 1, x.sum(), np.add
            self.kinds = np.ndarray, np.float64, Generator
        def step(self):
            return self.add(self.x, self.rng.random()), self.total, default_rng(3).random()
    walk = dill.loads(dill.dumps(Walk()))
    print(walk.step(), walk.kinds == Walk().kinds, walk.add == np.add)
    print(dill.loads(dill.dumps(lambda y: np.sin(y) * x))(x))
    print(dill.loads(dill.dumps(lambda y: np.sin(y) * x, recurse=True))(x))
    """,
    "h5py": """
    import h5py
    with h5py.File("file.h5", "w") as file:
        file["a"] = x
        file.create_dataset("b", data=np.outer(x, x))[1] = x * 2
    into = np.zeros(6)
    with h5py.File("file.h5") as file:
        file["a"].read_direct(into)
        print(file["a"][x > 1], file["b"][np.array([0, 1])], into)
    """,
    "jax": """
    import jax, jax.numpy as jnp
    print(jnp.sin(x), jax.jit(lambda v: v * 2)(x), jnp.array([x, x * 2]).sum(), jnp.dot(x, x))
    print(jax.grad(lambda v: (v * x).sum())(x), jax.jit(lambda d: d["a"] + d["s"])({"a": x, "s": x.sum()}))
    print(x * jnp.ones(6), jnp.ones(6) * x, type(x.sum() * jnp.ones(2)).__name__)
    """,
    "joblib": """
    import joblib
    print(joblib.hash(x), joblib.hash({"x": [x * 2, 1]}))
    """,
    "netCDF4": """
    import netCDF4
    with netCDF4.Dataset("file.nc", "w") as file:
        file.createDimension("n", 6)
        file.createVariable("v", "f8", ("n",))[:] = x * 2
        print(file["v"][x > 1])
    """,
    "orjson": """
    import orjson
    print(orjson.dumps({"x": [x, {"y": x * 2}], "s": x.sum()}, option=orjson.OPT_SERIALIZE_NUMPY))
    print(orjson.dumps(x, default=lambda a: a.tolist() if isinstance(a, np.ndarray) else None))
    """,
    "pint": """
    import pint
    print(x * pint.UnitRegistry().m, pint.UnitRegistry().Quantity(x * 2, "m").to("cm"))
    """,
    "polars": """
    import polars
    data = polars.DataFrame({"x": x})
    print(data.filter(x > 1), (data["x"] * x).to_list(), polars.Series(x).is_in(x[:2]).to_list())
    """,
    "pyarrow": """
    import pyarrow
    print(pyarrow.array(x, mask=x > 1).to_pylist(), pyarrow.array([x, x * 2]).to_pylist())
    """,
    "xarray": """
    import xarray
    print(xarray.DataArray(x, dims="q", coords={"q": x}).interp(q=x[:3] + 0.1).values)
    """,
}


@pytest.mark.parametrize("library", LIBRARIES_THAT_KNOW_ARRAYS_BY_CLASS)
def test_libraries_that_know_arrays_by_their_class_get_real_ones(python, file, library):
    pytest.importorskip(library)
    text = textwrap.dedent(LIBRARIES_THAT_KNOW_ARRAYS_BY_CLASS[library])
    program = file("program.py", f"import numpy as np\nx = np.linspace(0, 2, 6)\n{text}")
    assert python("-m", "frit", program).stdout == python(program).stdout


@pytest.mark.parametrize(
    "imports",
    [
        "import numpy, polars",
        "import polars, numpy",
        "from polars import fill; import polars, numpy",
    ],
)
def test_real_arrays_are_given_whichever_import_comes_first(python, file, tmp_path, imports):
    file(
        "site-packages/polars.py",
        """
        import numpy

        def fill(array):
            assert type(array) is numpy.ndarray, type(array)
            array[:] = 7
            return array

        class Dataset:
            def __getitem__(self, key):
                return fill(key)

            @classmethod
            def of(cls, array):
                return fill(array)

            sum = staticmethod(lambda array: fill(array).sum())

        class DataFrame(Dataset):
            pass

        LazyFrame = Series = Expr = DataFrame
        """,
    )
    program = file(
        "program.py",
        f"""
        import sys
        {imports}
        x = numpy.arange(3)
        print(polars.DataFrame()[x] is x, x, polars.DataFrame.of(x * 2), polars.DataFrame.sum(x + 1))
        assert "fill" not in globals() or fill(x) is x
        """,
    )
    settings = {"PYTHONPATH": f"{tmp_path}/site-packages:{os.environ.get('PYTHONPATH', '')}"}
    ours = python("-m", "frit", program, **settings).stdout
    assert ours == python(program, **settings).stdout


def test_a_library_alone_does_not_load_the_engine(python, file, tmp_path):
    file("site-packages/pandas.py", "import numpy\n")
    program = file("program.py", "import pandas, sys\nprint('frit._core' in sys.modules)\n")
    settings = {"PYTHONPATH": f"{tmp_path}/site-packages:{os.environ.get('PYTHONPATH', '')}"}
    assert python("-m", "frit", program, **settings).stdout == "False\n"


def test_values_of_cvxpys_parameters_and_variables_are_our_arrays(frit):
    pytest.importorskip("cvxpy")
    program = """
    import cvxpy
    import numpy as np

    x, target = cvxpy.Variable(2), cvxpy.Parameter(2)
    target.value = np.arange(2.0) + 1
    x.value = np.zeros(2)
    x.value, target.value = np.ones(2), 2.0 * np.ones(2)
    print(((x - target) @ np.arange(2.0)).value, np.ones((2, 2)) @ x.value)
    """
    assert frit(program) == "-1.0 [2. 2.]\n"


@pytest.mark.parametrize("first", ["import numpy as np", "import gives"])
def test_generators_of_a_library_write_into_our_arrays(python, file, first):
    file(
        "site-packages/gives.py",
        """
        import numpy

        def generators():
            return numpy.random.RandomState(7), numpy.random.default_rng(7)

        def shuffle(x):
            numpy.random.seed(7)
            numpy.random.shuffle(x)
        """,
    )
    program = file(
        "program.py",
        f"""
        import sys
        sys.path.append("site-packages")
        {first}
        import gives
        import numpy as np
        for rng in gives.generators():
            x = np.arange(30).reshape(10, 3) * 2
            rng.shuffle(x)
            print(x.tolist())
            lines = [(np.arange(3) + k, k) for k in range(8)]
            rng.shuffle(lines)
            print([k for _, k in lines])
        out = np.zeros((2, 3))
        print(rng.standard_normal(out=out) is out, out.tolist(), rng.permuted(x, axis=1, out=x) is x)
        gives.shuffle(x)
        print(x.tolist(), type(x) is np.ndarray, rng.random(2).tolist())
        """,
    )
    done = python("-W", "error", "-m", "frit", program)
    assert done.stdout == python(program).stdout


def test_libraries_draw_numpys_arrays_from_generators_of_the_program(python, file):
    program = file(
        "program.py",
        """
        import numpy as np
        import scipy.sparse as sparse
        from scipy.sparse.linalg import eigsh, svds

        matrix = sparse.diags([np.arange(1.0, 51)], [0]).tocsr()
        print(eigsh(matrix, k=2, rng=np.random.default_rng(0))[0])
        print(svds(matrix, k=2, solver="propack", maxiter=100, rng=np.random.default_rng(0))[1])
        rng = np.random.default_rng(1)
        print(sparse.random(5, 5, density=0.4, rng=rng, data_rvs=rng.standard_normal).toarray())
        old = np.random.RandomState(3)
        print(sparse.random(5, 5, density=0.4, random_state=old, data_rvs=np.random.rand).nnz)
        print(rng.random(3).tolist(), old.rand(2).tolist())
        """,
    )
    done = python("-W", "error", "-m", "frit", program)
    assert done.stdout == python(program).stdout != ""


def test_objects_of_the_program_give_libraries_numpys_arrays(python, file):
    program = file(
        "program.py",
        """
        import inspect
        import numpy as np
        import scipy.linalg, scipy.stats
        from sklearn.metrics import accuracy_score

        class Mine:
            def __init__(self, values):
                self.values = np.array(values)

            def __array__(self, dtype=None, copy=None):
                "The values."
                return self.values

            def __len__(self):
                return len(self.values)

        class Derived(Mine):
            pass

        x = Mine([3.0, 4.0])
        print(scipy.linalg.norm(x), scipy.stats.describe(Derived([3.0, 4.0])).mean)
        print(x.__array__() is x.values, np.asarray(x).sum(), np.add(x, 1))
        print(accuracy_score(np.asarray(Mine([0, 1, 1])), Mine([0, 1, 0]).__array__()))
        print(inspect.signature(Mine.__array__), Mine.__array__.__doc__, Derived.__name__)
        """,
    )
    done = python("-W", "error", "-m", "frit", program)
    assert done.stdout == python(program).stdout != ""


def test_operators_of_a_type_get_real_arrays(python, file):
    """As those of torch's tensors, which take ours for sequences."""
    program = file(
        "program.py",
        """
        import numpy as np
        from frit import _core

        class Tensor:
            # No function: the interpreter calls those of Python itself, past the slot.
            __getitem__ = staticmethod(lambda key: key)

            def __setitem__(self, key, value):
                self.set = key, value

            def __eq__(self, other):
                return other

            __hash__ = None

        class Own(Tensor):
            pass

        for _ in range(2):
            _core.operators_take_real_arrays(Tensor)
        x, is_real = np.arange(3), lambda found: type(found) is type(_core.to_numpy(x))
        for tensor in (Tensor(), Own()) * 5:
            print(is_real(tensor[x]), is_real(tensor[1, x][1]), tensor[2], tensor[1:])
            tensor[x > 1] = x
            print(*map(is_real, tensor.set))
            tensor[0] = 1.5
            print(tensor.set, is_real(tensor == x), tensor == 2, tensor != tensor)
        try:
            _core.operators_take_real_arrays(int)
        except TypeError as error:
            print(error)
        """,
    )
    lines = python("-m", "frit", program).stdout.splitlines()
    each = ["True True 2 slice(1, None, None)", "True True", "(0, 1.5) True 2 False"]
    assert lines == [*each * 10, lines[-1]] and "another type" in lines[-1]


def test_what_numpys_arrays_and_numbers_get_from_the_program(python, file):
    program = file(
        "program.py",
        """
        import numpy as np


        class Thing:
            def __array__(self, dtype=None, copy=None):
                return np.arange(3.0)


        def asks(x):
            return x.__array__()


        print(repr(np.float64(Thing())), repr(np.float32(2) * Thing()), np.int8(Thing()))
        print(np.ones(3, object) + Thing(), np.ones(3, ">f8") + Thing(), type(asks(Thing())) is np.ndarray)
        big = np.ones(3, ">f8")
        big += Thing()
        print(big)
        record = np.zeros(5, [("x", "u1"), ("y", "f8")])["y"]
        record[:] = [1, 2, 3, 4, 6]
        for kept in (np.arange(6).reshape(2, 3).astype(object), record, np.array([1, 2, 6], ">f8")):
            for name in "mean std var sum max argmax argmin".split():
                out = np.zeros(kept.shape[:-1], np.intp if name[:3] == "arg" else float)
                found = getattr(kept, name)(axis=-1, out=out)
                print(name, out, found is out)
            for name in ("cumsum", "cumprod"):
                out = np.zeros(kept.shape)
                print(getattr(kept, name)(axis=-1, out=out) is out, out)
        for out, call in (
            (np.zeros(5), lambda out: record.round(out=out)),
            (np.zeros(2), lambda out: record.take([1, 2], out=out)),
            (np.zeros(()), lambda out: record.dot(record, out)),
            (np.zeros(()), lambda out: np.ones((2, 2), ">f8").trace(out=out)),
        ):
            found = call(out)
            print(found is out, out)
        a = np.arange(4.0)
        print(np.take(a, [-1, 0], mode=0), a.take([-1, 7], mode=1), a.take([1], mode=None))
        for mode in (5, ("wrap", "clip")):
            try:
                print(np.take(a, [0], mode=mode))
            except Exception as error:
                print(type(error).__name__, error)
        for shape in ((2, 3), (3, 2), (3, 3), 4, (2, 1, 3), (0, 4)):
            a = np.arange(6.0).reshape(2, 3).copy("F")
            a.resize(shape)
            print(a.tolist(), a.strides, a.flags.f_contiguous)
        a = np.arange(6.0).reshape(2, 3).T
        a.resize(6)
        print(a)
        rng = np.random.default_rng(0)
        for dtype in ("f4", "f8", "c8", "c16"):
            x = rng.standard_normal((2, 8194)).astype(dtype)
            print(repr(np.vdot(x[0, ::2], x[1, ::2])), repr(np.vdot(x[:, ::-3], x[:, ::-3])))
        for casting in ("no", "equiv", "safe", "same_kind"):
            try:
                print(np.matmul(np.ones((2, 2)), np.ones((2, 2), "f4"), casting=casting))
            except Exception as error:
                print(type(error).__name__, error)
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout != ""


def test_masks_and_indices_for_arrays_that_stay_numpys(python, file):
    program = file(
        "program.py",
        """
        import numpy as np
        import scipy.linalg

        class Own(np.ndarray):
            pass

        letters, dates = np.array(["a", "b", "c"]), np.zeros((0, 3), "M8[s]")
        empty = np.zeros((0, 3), bool)
        print(letters.compress(np.array([0, 1, 1])), letters[np.array([2, 0])])
        print(dates[empty].shape, np.zeros((0, 3), int).view(Own)[empty].shape)
        print(letters[:0][np.zeros(0, bool)].shape, letters[np.zeros(0, int)].shape)
        print(scipy.linalg.inv(np.eye(2))[np.eye(2) > 0, ...], letters[(np.array(1),)])
        dates[empty] = 0
        letters[np.array([True, False, True])] = np.array(["x", "y"])
        letters[np.array(1)] = "z"
        print(letters)
        for key in (np.zeros(0), np.zeros(2, bool), np.array(7)):
            try:
                print(letters[key])
            except IndexError as error:
                print(error)
            try:
                letters[key] = "q"
            except IndexError as error:
                print(error)
        """,
    )
    done = python("-W", "error", "-m", "frit", program)
    assert done.stdout == python(program).stdout != ""


def test_numbers_of_pandas_beside_arrays(python, file):
    program = file(
        "program.py",
        """
        import inspect
        import numpy as np
        import pandas as pd
        from scipy.spatial import distance

        a, day = np.array([1, 2]), pd.Timedelta(days=1)
        for other in (pd.Timestamp("2020"), day, pd.NaT, pd.Period("2020"), pd.Interval(0, 1)):
            print(a == other, a != other, np.where(a == other, 1, 0))
        print(a * day, day * a, np.array([1.5]) * day, np.array(2) * day, a * pd.offsets.Day(2))
        for operation in (lambda: a // day, lambda: a + pd.Timestamp("2020"), lambda: a < day):
            try:
                print(operation())
            except TypeError as error:
                print(error)
        frame = pd.DataFrame({"A": [1.0, 4.0], "B": [2.0, 5.0]})
        print(frame.apply("abs"), frame.agg("any", axis=1), frame.agg("cumprod"))
        print(inspect.getfullargspec(pd.DataFrame.any), inspect.signature(pd.DataFrame.sum))
        print(pd.Series([1, 2, 3]).map(lambda v: np.where(v > 1, 1, 0)).dtype)
        print(frame.map(lambda v: np.where(v > 1, 1, 0)).dtypes.tolist())
        out = np.empty((2, 2))
        print(distance.cdist(np.eye(2), np.ones((2, 2)), "cosine", out=out) is out, out)
        """,
    )
    done = python("-m", "frit", program)
    assert done.stdout == python(program).stdout != ""


def test_functions_of_libraries_that_get_real_arrays_are_functions(python, file):
    program = file(
        "program.py",
        """
        import inspect
        import joblib
        import matplotlib.axes
        import numpy as np
        import pandas as pd
        from scipy.sparse import linalg

        functions = joblib.hash, pd.concat, pd.DataFrame.sum, pd.DataFrame.reindex_like, linalg.spsolve
        for function in (*functions, matplotlib.axes.Axes.plot):
            print(inspect.isfunction(function), inspect.isbuiltin(function))
            print(inspect.getfullargspec(function), inspect.signature(function))
            print(inspect.getsource(function)[:40], function.__code__.co_name, function.__defaults__)
        print([name for name, _ in inspect.getmembers(pd.DataFrame, inspect.isfunction)])
        print(inspect.ismethod(pd.DataFrame().sum), inspect.isfunction(pd.DataFrame().sum))
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout != ""


def test_functions_give_the_arrays_back_that_they_were_given(python, file):
    program = file(
        "program.py",
        """
        import numpy as np
        from scipy.linalg import blas

        u, v = np.ones(3), np.arange(3.0)
        rotated = blas.drot(u, v, 0.5, 0.5, overwrite_x=1, overwrite_y=1)
        print(rotated[0] is u, rotated[1] is v, u, v, blas.dscal(2.0, u) is u)
        """,
    )
    assert python("-m", "frit", program).stdout == python(program).stdout != ""


def test_modules_that_have_a_librarys_name_and_nothing_of_it_are_left_alone(python, file):
    from frit import _adapters

    names = sorted(
        name
        for name in _adapters.LIBRARIES
        if name.partition(".")[0] not in {"numpy", *sys.stdlib_module_names}
    )
    parts = {name.rsplit(".", k)[0] for name in names for k in range(name.count(".") + 1)}
    for name in sorted(parts):
        file(name.replace(".", "/") + "/__init__.py", "")
    imports = "\n".join(f"import {name}" for name in names)
    program = (
        f"import numpy as np\n{imports}\nprint(np.arange(3.0) * 2, type(np.ones(2) @ np.ones(2)))"
    )
    path = file("program.py", program)
    assert python("-m", "frit", path).stdout == python(path).stdout
