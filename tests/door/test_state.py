"""test_state.py: floating-point errors, warning filters and clocks."""

# ruff: noqa: E501

import textwrap
import warnings

import numpy
import pytest

import frit
import frit.numpy as np
from frit import _core


def _both(program):
    """Output of the program under NumPy and under Frit."""
    results = []
    for module in (numpy, np):
        log = []
        scope = {"np": module, "log": log, "warnings": warnings}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(textwrap.dedent(program), scope)
            except Exception as error:
                log.append((type(error).__name__, str(error)))
            finally:
                module.seterr(divide="warn", over="warn", under="ignore", invalid="warn")
                module.seterrcall(None)
        results.append((log, [_place(w) for w in caught]))
    return results


def _place(warning):
    line = warning.lineno if warning.filename == "<string>" else "in a library"
    return warning.category.__name__, str(warning.message), line


@pytest.mark.parametrize(
    "program",
    [
        "np.ones(3) / np.zeros(3)",
        "np.zeros(3) / np.zeros(3)",
        "np.log(np.array([-1.0, 0.0]))",
        "np.exp(np.full(2000, 1000.0))",
        "x = np.ones(5000)\ny = x + 1\nz = y / (x - 1)\nw = z + 1\nlog.append(float(w[0]))",
        "with np.errstate(divide='ignore'):\n    y = np.ones(5000) / np.zeros(5000)\nlog.append(y[0] > 1)",
        "with np.errstate(all='ignore'):\n    y = np.log(np.zeros(3) - 1)\nnp.log(np.zeros(3) - 1)",
        "with np.errstate(divide='raise'):\n    np.ones(3) / np.zeros(3)\n    log.append('not here')",
        "with np.errstate(invalid='raise'):\n    np.sqrt(np.full(5000, -1.0))",
        "with np.errstate(over='raise'):\n    np.full(3, 1e308) * 10",
        "with np.errstate(all='call', call=lambda *a: log.append(a)):\n    np.ones(3) / np.zeros(3)",
        "with np.errstate(all='call', call=lambda *a: log.append(a)):\n"
        "    x = np.array([0.0, -1, 1e308])\n    np.log(x)\n    x / 0\n    x * 10\n    np.sqrt(x)",
        "class L:\n    def write(self, s):\n        log.append(s)\n"
        "with np.errstate(all='log', call=L()):\n    np.ones(3) / np.zeros(3)",
        "with np.errstate(all='call'):\n    np.ones(3) / np.zeros(3)",
        "log.append(np.geterr())\nlog.append(np.seterr(all='raise'))\nlog.append(np.geterr())\n"
        "np.ones(2) / np.zeros(2)",
        "np.seterr(divide='ignore')\nnp.ones(2) / np.zeros(2)\nlog.append(np.geterr()['divide'])",
        "np.seterr(divide='nonsense')",
        "f = lambda *a: log.append(a)\nlog.append(np.seterrcall(f) is None)\nlog.append(np.geterrcall() is f)",
        "warnings.simplefilter('error')\nnp.ones(2) / np.zeros(2)\nlog.append('not here')",
        "warnings.filterwarnings('ignore', 'divide')\nnp.ones(2) / np.zeros(2)\nnp.zeros(2) / np.zeros(2)",
        "warnings.simplefilter('ignore')\ny = np.ones(5000) / np.zeros(5000)\nlog.append(y[0] > 1)\n"
        "warnings.simplefilter('always')\ny = np.log(np.zeros(5000))",
        "warnings.simplefilter('ignore')\nwarnings.filterwarnings('error', 'divide')\n"
        "np.zeros(5000) / np.zeros(5000)\nnp.ones(5000) / np.zeros(5000)",
        "warnings.simplefilter('ignore', UserWarning)\ny = np.ones(5000) / np.zeros(5000)",
        "warnings.simplefilter('ignore')\nwith np.errstate(divide='raise'):\n    np.ones(2) / np.zeros(2)",
        "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    np.ones(9) / np.zeros(9)\n"
        "np.zeros(2) / np.zeros(2)",
        "with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
        "    y = np.ones(5000) / np.zeros(5000)\n    log.append(len(w))",
        "with np.errstate(divide='ignore'):\n    with np.errstate(invalid='raise'):\n"
        "        np.ones(3) / np.zeros(3)\n        np.zeros(3) / np.zeros(3)",
        "@np.errstate(divide='ignore')\ndef f():\n    return np.ones(3) / np.zeros(3)\nlog.append(f()[0] > 1)\n"
        "np.ones(3) / np.zeros(3)",
        "@np.errstate(divide='raise')\ndef f():\n    return np.ones(3) / np.zeros(3)\nf()",
        "e = np.errstate(divide='raise')\ne.__enter__()\ne.__exit__(None, None, None)\nnp.ones(3) / np.zeros(3)",
        "with np.errstate(all='raise'):\n    pass\nnp.ones(3) / np.zeros(3)",
        "np.array([300.0]).astype(np.uint8)\nnp.array([np.nan]).astype(int)",
        "np.float16(60000) * np.ones(2, np.float16) * 2",
        "np.power(np.zeros(2), -1.0)",
        "np.array([1, 2]) // np.array([0, 1])\nnp.array([1]) % np.array([0])",
        "np.array([2, 3]) ** np.array([-1, 2])",
        "np.mean(np.array([]))",
        # NumPy's own functions enter and leave states of theirs.
        "with np.errstate(divide='raise'):\n    np.linalg.inv(np.eye(2))\n    np.ones(3) / np.zeros(3)",
        "with np.errstate(divide='ignore'):\n    np.linalg.inv(np.eye(2))\n    np.ones(3) / np.zeros(3)\n"
        "np.ones(3) / np.zeros(3)",
        "np.linalg.qr(np.eye(2))\ny = np.log(np.zeros(5000))\nlog.append(y[0])",
        "with np.errstate(all='ignore'):\n    np.linalg.qr(np.eye(2))\n    y = np.log(np.zeros(5000))\n"
        "np.log(np.zeros(5000))",
        "np.seterr(all='ignore')\nnp.linalg.qr(np.eye(2))\nnp.isclose(1.0, np.inf)\nnp.log(np.zeros(3))\n"
        "np.seterr(all='warn')\nnp.log(np.zeros(3))",
        "warnings.simplefilter('error')\nnp.linalg.qr(np.eye(2))\nnp.log(np.zeros(3))\nlog.append('not here')",
        "for k in range(6):\n    with np.errstate(divide='ignore' if k % 2 else 'raise'):\n        try:\n"
        "            log.append(np.log(np.zeros(2))[0])\n        except FloatingPointError as e:\n"
        "            log.append(str(e))",
        "outer = np.errstate(divide='ignore')\nouter.__enter__()\nwith np.errstate(divide='raise'):\n    pass\n"
        "np.log(np.zeros(3))\nouter.__exit__(None, None, None)\nnp.log(np.zeros(3))",
        "try:\n    with np.errstate(divide='raise'):\n        raise KeyError('mine')\n"
        "except KeyError as e:\n    log.append(str(e))\nnp.log(np.zeros(3))",
        "class A:\n    @np.errstate(divide='raise')\n    def f(self, n):\n        'Text.'\n"
        "        return np.ones(n) / np.zeros(n)\nimport inspect\n"
        "log.append((inspect.isfunction(A.f), A.f.__name__, A.f.__doc__, str(inspect.signature(A.f))))\nA().f(2)",
        "e = np.errstate(divide='raise')\nwith e:\n    with e:\n        pass",
        "import threading\ndef work():\n    with np.errstate(divide='ignore'):\n        np.log(np.zeros(3))\n"
        "        log.append(np.geterr()['divide'])\nt = threading.Thread(target=work)\n"
        "with np.errstate(divide='call', call=lambda *a: log.append(a)):\n    t.start()\n    t.join()\n"
        "    np.log(np.zeros(3))",
    ],
)
def test_floating_point_errors_are_numpys(program):
    real, ours = _both(program)
    assert ours == real


def test_a_pending_error_leaves_the_state_as_it_was():
    np.linalg.qr(np.eye(2))
    with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
        with np.errstate(divide="raise"):
            _core.let_float_errors_come_late()
            y = np.log(np.zeros(100_000))
            assert _core.is_pending(y)
            _core.forget_float_state()
    assert np.geterr()["divide"] == "warn"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(np.zeros(3))
    assert len(caught) == 1


def test_what_changes_the_state_looks_like_numpys():
    for name in ("__enter__", "__exit__", "__call__"):
        method = getattr(numpy.errstate, name)
        assert method.__name__ == name and method.__wrapped__
        assert method.__qualname__ == f"errstate.{name}"
    assert warnings.simplefilter.__doc__ and warnings.simplefilter.__module__ == "warnings"


def test_every_change_of_the_filters_counts_for_the_next_operation():
    x = np.ones(3)

    def is_raised():
        with np.errstate(divide="warn"):
            try:
                float((x / 0)[0])
            except RuntimeWarning:
                return True
            return False

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not is_raised()
        warnings.simplefilter("error")
        assert is_raised() and is_raised()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not is_raised()
        assert is_raised()
        warnings.resetwarnings()
        with warnings.catch_warnings(record=True) as told:
            warnings.filterwarnings("ignore", "nothing like it")
            warnings.filterwarnings("error", append=True)
            assert is_raised() and not told
            warnings.filters[:] = warnings.filters[:1]
            assert not is_raised()
        warnings.filters.insert(0, ("error", None, RuntimeWarning, None, 0))
        assert is_raised()


def test_print_mode_writes_numpys_words(python):
    code = """
    import sys
    np = __import__(sys.argv[1], fromlist=["x"])
    with np.errstate(all="print"):
        np.ones(3) / np.zeros(3)
    """
    code = textwrap.dedent(code)
    real, ours = (python("-c", code, name) for name in ("numpy", "frit.numpy"))
    assert (ours.stdout, ours.stderr) == (real.stdout, real.stderr)


def test_warnings_name_the_users_line_once(python, file):
    path = file(
        "program.py",
        """
        import numpy as np
        x = np.ones(100_000)
        for _ in range(3):
            y = (x + 1) / (x - 1)
            print(y[0])
        """,
    )
    plain, frit = python(path), python("-m", "frit", path)
    assert frit.stderr == plain.stderr
    assert frit.stdout == plain.stdout


CONTEXTS = """
import asyncio
import contextvars
import numpy as np

async def told(**modes):
    with np.errstate(**modes):
        await asyncio.sleep(0)
        x = np.ones(9) / 0
        await asyncio.sleep(0)
        return (x * 0 + np.ones(9) / 0)[0]

async def computing():
    await asyncio.sleep(0)
    return (np.ones(9) * 2)[0]

async def all_of_them():
    waits = told(divide="raise"), computing(), told(divide="ignore", invalid="ignore"), told(all="raise")
    print(await asyncio.gather(*waits, return_exceptions=True))

def enter():
    np.seterr(divide="raise")
    return np.ones(3) * 2

def fails(wait):
    try:
        return np.ones(3) / np.zeros(3)
    except FloatingPointError as error:
        return str(error)

asyncio.run(all_of_them())
context = contextvars.copy_context()
print(context.run(enter), np.geterr()["divide"], context.run(fails, 1), context.run(np.geterr)["divide"])
print(np.ones(3) / np.zeros(3))
for wrong in ((), (5,), (fails,), (fails, 1, 2)):
    try:
        context.run(*wrong)
    except TypeError as error:
        print(error)
with np.errstate(divide="ignore"):
    quiet = contextvars.copy_context()
print(quiet.run(fails, wait=1), contextvars.Context().run(fails, wait=2))
"""


def test_a_context_has_its_own_floating_point_state(python, file):
    path = file("program.py", CONTEXTS)
    plain, frit = python(path), python("-m", "frit", path)
    assert (frit.stdout, frit.stderr) == (plain.stdout, plain.stderr)
    assert "FloatingPointError" in plain.stdout and plain.stderr.count("RuntimeWarning") == 2


def test_warnings_as_errors_from_the_command_line_raise_at_the_line(python, file):
    path = file("program.py", "import numpy as np\nx = np.zeros(9)\ny = 1 / x\nprint('not here')\n")
    plain = python("-W", "error::RuntimeWarning", path, check=False)
    frit = python("-W", "error::RuntimeWarning", "-m", "frit", path, check=False)
    assert (frit.returncode, frit.stdout, frit.stderr) == (1, plain.stdout, plain.stderr)


@pytest.mark.parametrize("name", ["time", "perf_counter", "monotonic", "process_time"])
@pytest.mark.parametrize("suffix", ["", "_ns"])
def test_whoever_reads_a_clock_has_waited_for_the_work(python, name, suffix):
    code = f"""
    import time
    import numpy
    before = time.{name}{suffix}
    import frit, frit.numpy as np
    from frit import _core
    x = np.arange(200_000.0)
    y = np.sqrt(x) + 1
    pending = _core.has_pending()
    now = time.{name}{suffix}()
    print(pending, _core.has_pending(), type(now).__name__, time.{name}{suffix}.__name__)
    """
    kind = "int" if suffix else "float"
    expected = f"True False {kind} {name}{suffix}\n"
    assert python("-c", textwrap.dedent(code)).stdout == expected


CLOCKS_IN_CLASSES = """
import pickle, time
import numpy as np
import logging  # behind NumPy: its class takes time.localtime then
class Watch:
    clock, wall, ticks = time.perf_counter, time.time, time.monotonic_ns
    local, text = time.localtime, time.ctime
watch = Watch()
print(watch.clock() > 0, watch.wall() > 0, watch.ticks() > 0, watch.text(0.0) == time.ctime(0.0))
print(watch.local(0.0) == time.localtime(0.0), pickle.loads(pickle.dumps(time.time)) is time.time)
print(time.time, time.perf_counter.__qualname__, time.time.__module__, time.time.__doc__)
logging.basicConfig(format="%(asctime)s %(message)s", datefmt="a date", force=True)
logging.warning("told")
try:
    time.time(1)
except TypeError:
    print("no arguments")
"""


def test_clocks_that_classes_have_as_attributes_get_no_object(python, file):
    path = file("program.py", CLOCKS_IN_CLASSES)
    ours, plain = python("-m", "frit", path), python(path)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


def test_a_clock_of_the_garbage_collector_leaves_the_work_pending(python):
    code = """
    import gc, time
    import frit.numpy as np
    from frit import _core
    reads = []

    def times_the_collector(phase, info):
        reads.append(time.perf_counter())

    gc.callbacks.append(times_the_collector)
    y = np.sqrt(np.arange(200_000.0)) + 1
    gc.collect()
    print(len(reads) >= 2, _core.has_pending())
    time.perf_counter()
    print(_core.has_pending())
    """
    assert python("-c", textwrap.dedent(code)).stdout == "True True\nFalse\n"


def test_timeit_waits_for_the_work(python):
    code = """
    import timeit
    import frit.numpy as np
    from frit import _core
    import time
    x = np.arange(200_000.0)
    print(timeit.default_timer is time.perf_counter)
    timeit.timeit("global y; y = np.sqrt(x) + 1", globals=globals(), number=1)
    print(_core.has_pending())
    """
    assert python("-c", textwrap.dedent(code)).stdout == "True\nFalse\n"


def test_frit_eval_looks_into_lists_and_leaves_what_is_not_its_own():
    x = np.ones(100_000)
    y, z = x + 1, x + 2
    frit.eval((y, [z, 3]), None, "text")
    assert not _core.is_pending(y) and not _core.is_pending(z)
    w = x + 3
    frit.eval()
    assert not _core.is_pending(w)
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        frit.eval(endless)
