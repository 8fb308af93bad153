"""test_importer.py: who gets frit.numpy for `import numpy`, and who keeps real NumPy."""

import textwrap

import pytest

WHO = "print(np.__name__, isinstance(np.zeros(3), np.ndarray))\n"


@pytest.mark.parametrize(
    "statement",
    [
        "import numpy as np",
        "import numpy; np = numpy",
        "import numpy.linalg; np = numpy",
        "np = __import__('numpy')",
        "import importlib; np = importlib.import_module('numpy')",
        "from importlib import import_module; np = import_module('numpy')",
        "def f():\n    import numpy\n    return numpy\nnp = f()",
        "class A:\n    import numpy as np\nnp = A.np",
        "scope = {}; exec('import numpy as np', scope); np = scope['np']",
        "np = eval('__import__(\"numpy\")')",
        "import timeit; seen = []\n"
        "timeit.timeit('import numpy; seen.append(numpy)', globals={'seen': seen}, number=1)\n"
        "np = seen[0]",
    ],
)
def test_every_way_to_import_numpy_gives_frit_to_the_program(frit, statement):
    assert frit(statement + "\n" + WHO) == "frit.numpy True\n"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import numpy.linalg as m", "frit.numpy.linalg"),
        ("from numpy import linalg as m", "frit.numpy.linalg"),
        ("import numpy.lib.stride_tricks as m", "frit.numpy.lib.stride_tricks"),
        ("from numpy.lib import stride_tricks as m", "frit.numpy.lib.stride_tricks"),
        ("import numpy.random as m", "frit.numpy.random"),
        ("import importlib; m = importlib.import_module('numpy.fft')", "frit.numpy.fft"),
        ("import numpy as np; m = np.fft", "frit.numpy.fft"),
        ("from numpy.lib import recfunctions as m", "frit.numpy.lib.recfunctions"),
        ("from numpy import ctypeslib, matlib as m", "frit.numpy.matlib"),
    ],
)
def test_submodules_are_frits(frit, statement, name):
    assert frit(f"{statement}\nprint(m.__name__)") == name + "\n"


@pytest.mark.parametrize(
    "statement",
    [
        "import numpy.nope",
        "from numpy.lib.nope import x",
        "import numpy.version.nope",
        "import importlib; importlib.import_module('numpy.nope')",
    ],
)
def test_a_module_that_is_not_there_is_missed_in_numpys_words(python, file, statement):
    program = f"""
    try:
        exec({statement!r})
    except ModuleNotFoundError as error:
        print(error, error.name, error.__cause__)
    """
    path = file("program.py", program)
    assert python("-m", "frit", path).stdout == python(path).stdout != ""


def test_names_imported_from_submodules_are_frits(frit):
    program = """
    from numpy.linalg import norm, LinAlgError
    from numpy.random import default_rng
    from numpy import zeros, float64, ndarray
    import numpy as np
    print(norm is np.linalg.norm, default_rng is np.random.default_rng, ndarray is np.ndarray)
    print(norm([3.0, 4.0]), LinAlgError.__module__, float64 is np.float64)
    """
    assert frit(program) == "True True True\n5.0 numpy.linalg True\n"


def test_star_import_gives_all_public_names(frit):
    program = """
    from numpy import *
    import numpy
    missing = [n for n in numpy.__all__ if n not in globals()]
    print(missing, type(arange(3)) is ndarray, sin is numpy.sin)
    """
    assert frit(program) == "[] True True\n"


@pytest.mark.parametrize("text", ["np.__dict__", "vars(np)", "(lambda: vars(np))()"])
@pytest.mark.parametrize("module", ["numpy", "numpy.linalg", "numpy.random.mtrand"])
def test_the_dictionary_of_a_module_is_complete_where_the_program_reads_it(frit, module, text):
    missing = f"[n for n in vars(sys.modules['{module}']) if n[:1] != '_' and n not in {text}]"
    assert frit(f"import sys, {module} as np\nprint({missing})") == "[]\n"


def test_the_modules_getattr_can_be_called_by_hand(frit):
    assert frit(
        "import numpy as np\n"
        "for name in ('__path__', 'sum', 'nothing'):\n"
        "    try:\n        np.__getattr__(name)\n"
        "    except AttributeError as e:\n        print(e)\n"
        "import numpy.random\nprint(numpy.random.__name__, np.__getattr__('linalg') is np.linalg)"
    ) == (
        "module 'numpy' has no attribute '__path__'\nmodule 'numpy' has no attribute 'sum'\n"
        "module 'numpy' has no attribute 'nothing'\nfrit.numpy.random True\n"
    )


def test_warnings_of_modules_name_the_line_that_imports_them(python, file):
    file("old.py", "import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)\n")
    program = file(
        "program.py",
        "import numpy as np\nimport old\nfrom numpy.core import umath\n"
        "for _ in range(2):\n    np.core.umath\n",
    )
    plain, ours = (python(*words, program).stderr for words in ((), ("-m", "frit")))
    assert ours == plain
    assert [line.split(": ")[0][-12:] for line in ours.splitlines() if "program.py" in line] == [
        f"program.py:{line}" for line in (2, 3, 5)
    ]


def test_a_name_that_a_submodule_lacks_is_missed_without_a_frame_of_ours(frit):
    program = "import numpy as np, sys\ntry:\n    np.linalg.nothing\nexcept AttributeError as e:\n"
    program += "    print(e, e.__traceback__.tb_next)"
    assert frit(program) == "module 'numpy.linalg' has no attribute 'nothing' None\n"


def test_errors_of_imports_are_those_of_plain_python(python, file):
    """Their words, attributes and causes, and their tracebacks, where the program prints them."""
    file("broken.py", "import numpy as np\n1 / 0\n")
    file("unclosed.py", "x = (\n")
    file("removed.py", "from numpy import (array,\n    float_)\n")
    program = file(
        "program.py",
        """
        import importlib, sys, traceback

        texts = ["import numpy.no", "import no", "from numpy import no", "import numpy.linalg.no"]
        texts += ["from numpy.linalg import norm, no", "from numpy.testing import no, assert_equal"]
        texts += ["import removed", "import broken", "import unclosed", "import json.no"]
        texts += ["importlib.import_module('numpy.no')", "importlib.import_module('no')"]
        texts += ["__import__('unclosed')", "importlib.import_module('broken')"]
        for text in texts:
            try:
                exec(text)
            except Exception as error:
                traceback.print_exc(file=sys.stdout)
                print([getattr(error, name, None) for name in ("name", "path", "args")])
                print(error.__cause__, error.__context__, error.__suppress_context__)
        """,
    )
    plain, ours = (python(*words, program).stdout for words in ((), ("-m", "frit")))
    assert ours == plain and plain.count("Traceback") == 14


def test_a_missing_name_raises_an_import_error(frit):
    program = """
    try:
        from numpy import no_such_name
    except ImportError as error:
        print(str(error).split(" from ")[0])
    import numpy as np
    try:
        np.no_such_name
    except AttributeError as error:
        print(error)
    """
    expected = "cannot import name 'no_such_name'\nmodule 'numpy' has no attribute 'no_such_name'\n"
    assert frit(program) == expected


def test_modules_beside_the_script_get_frit_and_installed_ones_do_not(python, file):
    file("beside.py", "import numpy as np\n")
    file("package/__init__.py", "from . import inner\n")
    file("package/inner.py", "import numpy as np\n")
    file("lib/site-packages/installed.py", "import numpy as np\n")
    program = file(
        "program.py",
        """
        import sys
        sys.path.append("lib/site-packages")
        import beside, package.inner, installed, pandas, random, statistics
        print(beside.np.__name__, package.inner.np.__name__, installed.np.__name__)
        print(pandas.core.frame.np.__name__)
        """,
    )
    assert python("-m", "frit", program).stdout == "frit.numpy frit.numpy numpy\nnumpy\n"


def test_a_library_that_gets_real_arrays_has_real_numpy_wherever_it_lies(python, file):
    library = """
    import numpy as np

    def from_numpy(array):
        return type(array) is np.ndarray, type(np.ones(2)) is np.ndarray
    """
    file("torch.py", library)
    file("mine.py", library)
    program = """
    import numpy as np, torch, mine
    print(torch.from_numpy(np.ones(3)), mine.from_numpy(np.ones(3)), torch.np is np, mine.np is np)
    """
    expected = "(True, True) (True, True) False True\n"
    assert python("-m", "frit", file("program.py", program)).stdout == expected
    told = python("-m", "frit", file("program.py", program), FRIT_INCLUDE="torch").stdout
    assert told.endswith(" True True\n")


def test_a_module_of_the_working_folder_gets_frit(python, file):
    file("work/helper.py", "import numpy as np\n")
    program = file("elsewhere/program.py", "import sys; sys.path.append('work'); import helper\n")
    program.write_text(program.read_text() + "print(helper.np.__name__)\n")
    assert python("-m", "frit", program).stdout == "frit.numpy\n"


def test_tests_replace_functions_of_the_programs_numpy(frit):
    program = """
    import pkgutil
    from unittest import mock
    import numpy as np

    @mock.patch("numpy.linalg.norm", return_value=7)
    @mock.patch("numpy.mean", return_value=5)
    def replaced(mean, norm):
        return np.mean([1]), np.linalg.norm([1]), mean.called and norm.called

    with mock.patch("numpy.sum", return_value=42):
        print(np.sum([1, 2]))
    print(np.sum([1, 2]), *replaced(), np.mean([1]), pkgutil.resolve_name("numpy.sum") is np.sum)
    """
    assert frit(program) == "42\n3 5 7 True 1.0 True\n"


def test_pytests_monkeypatch_replaces_functions_of_the_programs_numpy(python, file):
    text = """
    import numpy as np
    def test_mean(monkeypatch):
        monkeypatch.setattr("numpy.mean", lambda x: 5)
        assert np.mean([1]) == 5
    """
    file("test_it.py", text)
    done = python("-m", "frit", "-m", "pytest", "-q", "test_it.py", "-p", "no:cacheprovider")
    assert "1 passed" in done.stdout


def test_libraries_find_what_the_program_adds_to_numpy(python, file):
    file(
        "site-packages/old.py",
        """
    import numpy as np
    def zeros():
        return np.zeros(2, np.int), np.half_of(3), hasattr(np, "nothing"), hasattr(np, "enabled")
    """,
    )
    program = """
    import sys
    sys.path.append("site-packages")
    import numpy as np
    np.int = int
    import old
    np.half_of = lambda x: x / 2
    print(old.zeros())
    del np.int
    try:
        old.zeros()
    except AttributeError as error:
        print(str(error)[:40])
    """
    plain, ours = python(file("program.py", program)), python("-m", "frit", "program.py")
    assert ours.stdout == plain.stdout and ours.stdout.startswith(
        "(array([0, 0]), 1.5, False, False)"
    )


def test_include_and_exclude_change_who_is_the_user(python, file):
    file("beside.py", "import numpy as np\n")
    file("lib/site-packages/installed/__init__.py", "import numpy as np\n")
    program = file(
        "program.py",
        """
        import sys
        sys.path.append("lib/site-packages")
        import beside, installed
        print(beside.np.__name__, installed.np.__name__)
        """,
    )
    done = python("-m", "frit", program, FRIT_INCLUDE="installed", FRIT_EXCLUDE="besi*")
    assert done.stdout == "numpy frit.numpy\n"
    done = python("-m", "frit", program, FRIT_INCLUDE="lib/site-packages/installed")
    assert done.stdout == "frit.numpy frit.numpy\n"


def test_frit_0_switches_everything_off(frit, python):
    program = """
    import numpy as np, numpy.linalg, sys
    print(np.__name__, type(np.zeros(1)).__module__, "frit.numpy" in sys.modules)
    import frit.numpy as fnp
    import frit.numpy.linalg, frit.numpy.random
    print(fnp.sum is np.sum, frit.numpy.linalg is np.linalg, fnp.random is np.random)
    print(np.linalg.__spec__.name)
    """
    assert frit(program, FRIT="0") == "numpy numpy False\nTrue True True\nnumpy.linalg\n"


def test_install_uninstall_and_off(python, file):
    program = file(
        "program.py",
        """
        import builtins, importlib, time, warnings
        import numpy as real
        before = (builtins.__import__, importlib.import_module, time.time, time.perf_counter,
                  warnings.simplefilter, vars(real.errstate)["__enter__"])
        import frit
        frit.install()
        import numpy as np
        print(np.__name__)
        with frit.off():
            import numpy as inside
        print(inside is real)
        import numpy as again
        print(again is np)
        class Derived(real.ndarray):
            pass
        frit.uninstall()
        import numpy as last
        print(last is real)
        derived = real.ones(3).view(Derived)
        print((derived * 2 == derived + 1).all() and not (derived < real.ones(3)).any())
        after = (builtins.__import__, importlib.import_module, time.time, time.perf_counter,
                 warnings.simplefilter, vars(real.errstate)["__enter__"])
        print(before == after)
        print(type(real.ones(3) * np.ones(3)) is np.ndarray)
        frit.install()
        import numpy as anew
        print(anew is np)
        print(type(real.ones(3) * np.ones(3)) is np.ndarray)
        """,
    )
    assert python(program).stdout == "frit.numpy\n" + 8 * "True\n"


def test_importing_frit_loads_neither_numpy_nor_the_engine(python):
    code = "import sys, frit; print([m for m in ('numpy', 'frit._core') if m in sys.modules])"
    assert python("-c", code).stdout == "[]\n"


def test_importing_the_door_loads_no_llvm(python):
    code = (
        "import frit.numpy; "
        "print([l for l in open('/proc/self/maps') if 'LLVM' in l or 'frit_jit' in l])"
    )
    assert python("-c", code).stdout == "[]\n"


@pytest.mark.parametrize("settings", [{}, {"FRIT_TIER": "compiled"}, {"FRIT_DUMP": "graph,kernel"}])
def test_the_import_leaves_nothing_behind(python, settings):
    done = python(
        "-c",
        "import frit.numpy, frit\n"
        "from frit import _core\n"
        "counts = _core.statistics()\n"
        "print({name: n for name, n in counts.items() if n}, frit.explain(), _core.tier())\n"
        "print([l for l in open('/proc/self/maps') if 'LLVM' in l or 'frit_jit' in l])",
        **settings,
    )
    tier = settings.get("FRIT_TIER", "automatic")
    assert done.stdout == f"{{}} nothing was evaluated yet\n {tier}\n[]\n"
    assert done.stderr == ""


def test_importing_the_door_imports_little(python):
    code = """
    import sys, numpy
    before = set(sys.modules)
    import frit.numpy
    print(sorted(m for m in set(sys.modules) - before if m.startswith("numpy.")))
    """
    assert python("-c", textwrap.dedent(code)).stdout == "[]\n"


def test_old_numpy_is_refused_clearly(python, file):
    file("numpy/__init__.py", "__version__ = '1.26.4'\n")
    done = python("-c", "import frit.numpy", check=False, PYTHONPATH=_path_with_frit("."))
    assert "ImportError: frit needs NumPy 2.0 or later and found 1.26.4" in done.stderr


def _path_with_frit(folder):
    import os

    return os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])


def test_pytest_gives_frit_to_tests_and_conftest(python, file):
    file("helper.py", "import numpy as np\n")
    file("conftest.py", "import numpy as np\nassert np.__name__ == 'frit.numpy'\n")
    file(
        "test_user.py",
        """
        import numpy as np
        import pytest
        from helper import np as other

        def test_it():
            assert np.__name__ == other.__name__ == "frit.numpy"
            x = np.arange(4.0)
            np.testing.assert_allclose(x + 1, [1, 2, 3, 4])
            assert x + 1 == pytest.approx(np.array([1.0, 2, 3, 4]))

        @pytest.mark.parametrize("n", [1, 2])
        def test_warns(n):
            with pytest.warns(RuntimeWarning, match="divide by zero"):
                np.ones(n) / np.zeros(n)
        """,
    )
    done = python("-m", "frit", "-m", "pytest", "-q", "-p", "no:cacheprovider", check=False)
    assert "3 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_worker_processes_run_under_frit_too(frit, method):
    program = f"""
    import multiprocessing as mp
    import numpy as np

    def work(x):
        import numpy
        return numpy.__name__, np.__name__, __name__, float((x + 1).sum())

    if __name__ == "__main__":
        with mp.get_context("{method}").Pool(2) as pool:
            for result in pool.map(work, [np.arange(3.0), np.ones(4)]):
                print(*result)
    """
    name = "__main__" if method == "fork" else "__mp_main__"
    expected = f"frit.numpy frit.numpy {name} 6.0\nfrit.numpy frit.numpy {name} 8.0\n"
    assert frit(program) == expected


def test_process_pool_executor_works(frit):
    program = """
    from concurrent.futures import ProcessPoolExecutor
    import multiprocessing
    import numpy as np

    def work(x):
        return np.sqrt(x) + 1

    if __name__ == "__main__":
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            print([r.tolist() for r in pool.map(work, [np.array([1.0, 4.0]), np.array([9.0])])])
    """
    assert frit(program) == "[[2.0, 3.0], [4.0]]\n"


def test_ipython_cells_get_frit(python, file):
    file("cells.ipy", "import numpy as np\nprint(np.__name__)\n%timeit -n1 -r1 np.ones(3) + 1\n")
    done = python("-m", "frit", "-m", "IPython", "--no-banner", "cells.ipy", IPYTHONDIR="ipython")
    assert done.stdout.startswith("frit.numpy\n"), done.stdout


def test_ipython_extension_installs(python, file):
    file("cells.ipy", "%load_ext frit\nimport numpy as np\nprint(np.__name__)\n")
    done = python("-m", "IPython", "--no-banner", "cells.ipy", IPYTHONDIR="ipython")
    assert done.stdout.startswith("frit.numpy\n"), done.stdout


def test_pickles_made_under_frit_are_read_without_it(python, file):
    program = file(
        "program.py",
        """
        import pickle, numpy as np
        class Point:
            def __init__(self):
                self.x = np.arange(3.0)
        p = pickle.loads(pickle.dumps(Point()))
        print(type(p).__module__, p.x.tolist())
        with open("x.pickle", "wb") as f:
            pickle.dump({"a": np.arange(3) + 1, "r": np.random.default_rng(1), "s": np.sum,
                         "d": np.dtype(float), "f": np.float64(2)}, f)
        """,
    )
    assert python("-m", "frit", program).stdout == "__main__ [0.0, 1.0, 2.0]\n"
    code = """
    import pickle, numpy
    d = pickle.load(open("x.pickle", "rb"))
    print(type(d["a"]) is numpy.ndarray, d["a"].tolist(), type(d["r"]) is numpy.random.Generator)
    print(d["r"].random() == numpy.random.default_rng(1).random())
    """
    assert python("-c", textwrap.dedent(code)).stdout == "True [1, 2, 3] True\nTrue\n"


@pytest.mark.parametrize("collector", ["enable", "disable", "freeze"])
def test_the_import_leaves_the_garbage_collector_and_the_environment_as_they_were(frit, collector):
    program = f"""
        import gc, os
        gc.{collector}()
        def state():
            return gc.isenabled(), gc.get_freeze_count() > 0, dict(os.environ)
        before = state()
        import numpy
        print(numpy.__name__, state() == before)
        """
    assert frit(program) == "frit.numpy True\n"


def test_numpy_is_imported_without_searches_for_garbage(python, file):
    path = file(
        "program.py",
        """
        import gc
        searches = []
        gc.callbacks.append(lambda phase, facts: searches.append(phase))
        import numpy
        print(len(searches))
        """,
    )
    assert int(python("-m", "frit", path).stdout) < int(python(path).stdout) / 2


def test_functions_of_a_library_that_import_numpy_are_looked_at_once(python, file, tmp_path):
    file("site-packages/inner.py", "def f():\n    import numpy\n    return numpy.__name__\n")
    program = file(
        "program.py",
        """
        import numpy as np
        import inner
        from frit import _importer

        asked, is_user_code = [], _importer.is_user_code
        _importer.is_user_code = lambda *given: asked.append(given) or is_user_code(*given)
        print([inner.f() for _ in range(3)], len(asked))
        import numpy
        print(numpy is np, numpy.__name__)
        """,
    )
    settings = {"PYTHONPATH": f"{tmp_path}/site-packages"}
    expected = "['numpy', 'numpy', 'numpy'] 1\nTrue frit.numpy\n"
    assert python("-m", "frit", program, **settings).stdout == expected


def test_a_module_may_call_itself_anything(frit):
    program = """
        text = "import numpy\\nprint(numpy.arange(3).sum())"
        import pathlib
        file = pathlib.Path("y")
        for name, file in ((["x"], "y"), (None, ["y"]), (5, None), ("x", {}), ("x", file)):
            exec(text, {"__name__": name, "__file__": file})
    """
    assert frit(program).split() == ["3"] * 5


ODD_MODULES = """
import importlib.util, sys, types

bare = sys.modules["bare"] = types.ModuleType("bare")
del bare.__spec__
sys.modules["renamed"] = types.ModuleType("renamed")
sys.modules["renamed"].__name__ = 5
sys.modules["forbidding"] = types.ModuleType("forbidding")
def forbid(name):
    raise KeyError(name)
sys.modules["forbidding"].__getattr__ = forbid
spec = importlib.util.find_spec("colorsys")
spec.loader = importlib.util.LazyLoader(spec.loader)
lazy = sys.modules["colorsys"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lazy)
import frit
frit.install()
import numpy
print(numpy.zeros(2) + 1, "rgb_to_hsv" in object.__getattribute__(lazy, "__dict__"))
"""


def test_modules_of_any_kind_may_be_there_before(python):
    assert python("-c", ODD_MODULES).stdout == "[1. 1.] False\n"


def test_importorskip_of_a_programs_test_is_its_import(python, file):
    tests = file(
        "test_skipped.py",
        """
        import pytest

        np = pytest.importorskip("numpy")
        linalg = pytest.importorskip("numpy.linalg")

        def test_it_is_the_programs():
            import numpy

            assert np is numpy and linalg is numpy.linalg
            assert type(np.ones(3) @ np.ones(3)) is type(np.ones(3).sum())

        def test_it_is_not_there():
            pytest.importorskip("no_such_module")
        """,
    )
    done = python("-m", "frit", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", tests)
    assert "1 passed, 1 skipped" in done.stdout
    assert "test_skipped.py:14: could not import 'no_such_module'" in done.stdout


def test_threads_may_add_to_what_waits_for_the_engine(python):
    program = """
from frit import _adapters, _core, _importer

class Name(str):
    def partition(self, separator):
        added.append(len(added))
        _importer._adapters_due.add(f"library_{len(added)}.part")  # as another thread's import does
        return super().partition(separator)

added = []
_importer._packages_due.add("library")
_importer._adapters_due.update(map(Name, ["library", "library.part"]))
print(sorted(_importer._due("library")))

def called(callee, on):
    done.append(callee)
    if len(done) < 4:
        _adapters._compiled.add(f"function {len(done)}")

done = []
_core.call_with_real = called
_adapters._compiled.update(["function 0"])
_adapters.compiled_waiting()
print(done, _adapters._compiled)
"""
    assert python("-c", program).stdout == (
        "['library', 'library.part']\n"
        "['function 0', 'function 1', 'function 2', 'function 3'] set()\n"
    )


def test_an_import_that_has_failed_may_be_tried_again(python, file):
    program = file(
        "program.py",
        """
        import atexit, gc, warnings
        import numpy

        def interrupted(*_):
            raise KeyboardInterrupt

        def results(np):
            x = np.arange(5.0)
            y = (x + np.float64(2)).tolist()
            x[1:] += x[:-1]
            return y, x.flags.writeable, np.add.nin, float(np.add.outer(x, x).trace()), str(x.T)

        warnings.simplefilter("ignore")
        register, atexit.register = atexit.register, interrupted
        for _ in range(2):
            try:
                import frit._core
            except ImportError:
                print("failed")
        atexit.register = register
        import frit.numpy as np

        gc.collect()
        print(results(np) == results(numpy))
        """,
    )
    assert python(program).stdout == "failed\nfailed\nTrue\n"
