"""test_runner.py: `python -m frit` runs programs as `python` does."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import sys
import threading

import pytest

FACTS = """
import sys, os
print(sys.argv, __name__, __file__, __spec__ and __spec__.name, __package__, __cached__)
print(sys.path[0], sys.modules["__main__"].__dict__ is globals(), __builtins__ is not None)
print(type(__loader__).__name__, __doc__)
"""


def test_a_script_sees_what_plain_python_shows_it(python, file):
    path = file("folder/program.py", FACTS)
    plain = python(path, "a", "--report", "-m")
    assert python("-m", "frit", path, "a", "--report", "-m").stdout == plain.stdout
    elsewhere = file("elsewhere/program.py", FACTS).parent
    (elsewhere / "deep").mkdir()
    (path.parent / "link").symlink_to(elsewhere / "deep")
    for relative in ("folder/program.py", "./folder/program.py", "folder/link/../program.py"):
        assert python("-m", "frit", relative).stdout == python(relative).stdout


def test_a_command_sees_what_plain_python_shows_it(python):
    code = "import sys; print(sys.argv, sys.path[0], __name__, '__file__' in globals(), __spec__)"
    assert (
        python("-m", "frit", "-c", code, "x", "-y").stdout == python("-c", code, "x", "-y").stdout
    )


def test_a_module_sees_what_plain_python_shows_it(python, file):
    file("package/__init__.py", "")
    file("package/__main__.py", FACTS)
    file("package/other.py", FACTS)
    for name in ("package", "package.other"):
        plain = python("-m", name, "x").stdout
        assert python("-m", "frit", "-m", name, "x").stdout == plain


@pytest.mark.parametrize("words", [[], ["-"], ["-", "x"]])
def test_a_program_from_standard_input_runs(python, words):
    code = "import sys, numpy; print(sys.argv, numpy.__name__)"
    done = python("-m", "frit", *words, input=code)
    assert done.stdout == f"{words or ['']} frit.numpy\n"


def test_every_way_to_start_gives_the_names_and_tracebacks_of_plain_python(python, file):
    program = "print(sorted(globals()), globals().get('__file__'), __loader__.__class__)\n"
    path = file("program.py", f"{program}def f():\n    return [][1]\n\n\nf()\n")
    for words in (["program.py"], ["-m", "program"], ["-c", path.read_text()], ["-"]):
        plain = python(*words, input=path.read_text(), check=False)
        ours = python("-m", "frit", *words, input=path.read_text(), check=False)
        assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)
        assert "IndexError" in ours.stderr


def test_folders_and_archives_run(python, file, tmp_path):
    import zipfile

    file("app/__main__.py", "import numpy, helper; print(numpy.__name__, helper.np.__name__)\n")
    file("app/helper.py", "import numpy as np\n")
    assert python("-m", "frit", "app").stdout == "frit.numpy frit.numpy\n"
    file("__main__.py", FACTS)
    for folder in (".", "./", "app/..", tmp_path):
        assert python("-m", "frit", folder).stdout == python(folder).stdout
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.write(tmp_path / "app/__main__.py", "__main__.py")
        archive.write(tmp_path / "app/helper.py", "helper.py")
    assert python("-m", "frit", "app.zip").stdout == "frit.numpy frit.numpy\n"


@pytest.mark.parametrize(
    "ending",
    [
        "raise ValueError('x')",
        "1 / 0",
        "sys.exit(3)",
        "sys.exit('bye')",
        "sys.exit()",
        "def f():\n    g()\ndef g():\n    raise KeyError('k')\nf()",
        "try:\n    1 / 0\nexcept Exception as e:\n    raise RuntimeError('r') from e",
        "try:\n    1 / 0\nexcept Exception:\n    {}['k']",
        "import no_such_module",
        "import broken",
        "x = = 1",
        "sys.excepthook = lambda *a: print('hook', a[0].__name__, a[1], a[2].tb_lineno)\n1 / 0",
        "raise KeyboardInterrupt",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "import threading\nt = threading.Thread(target=lambda: print('late'))\nt.start()",
        "import atexit\natexit.register(print, 'atexit')\nraise SystemExit(5)",
    ],
)
def test_endings_are_as_under_plain_python(python, file, ending):
    file("broken.py", "import nor_this_one\n")
    path = file("program.py", f"import os, signal, sys\n{ending}\n")
    plain = python(path, check=False)
    frit = python("-m", "frit", path, check=False)
    assert frit.returncode == plain.returncode
    assert frit.stdout == plain.stdout
    assert frit.stderr == plain.stderr


def test_an_interrupt_ends_by_signal(python, file):
    path = file("program.py", "raise KeyboardInterrupt\n")
    assert python("-m", "frit", path, check=False).returncode == -signal.SIGINT


def test_a_missing_program_is_named_as_plain_python_does(python):
    for name in ("nothing.py", "./nothing.py", "../nothing.py"):
        plain = python(name, check=False)
        frit = python("-m", "frit", name, check=False)
        assert (frit.returncode, frit.stderr) == (plain.returncode, plain.stderr)


def test_bad_options_are_refused(python):
    for words in (["--no-such"], ["-m"], ["--compare"]):
        done = python("-m", "frit", *words, check=False)
        assert done.returncode == 2
        assert "usage:" in done.stderr


SESSION = """\
import numpy, sys, os
numpy.__name__, sys.argv, __name__
os.environ.get("PYTHONINSPECT"), begun
1 / 0
exit(3)
"""


@pytest.mark.parametrize("is_basic", ["1", ""])  # Python's own editor of lines came with 3.13
def test_without_a_program_a_terminal_begins_a_session(python, file, monkeypatch, is_basic):
    monkeypatch.setenv("PYTHONSTARTUP", str(file("startup.py", "begun = 5; print('starts')\n")))
    monkeypatch.setenv("PYTHON_BASIC_REPL", is_basic)
    monkeypatch.setenv("PYTHON_COLORS", "0")
    shown, ending = in_terminal([sys.executable, "-m", "frit"], SESSION)
    assert "with Frit for its numpy" in shown
    assert "('frit.numpy', [''], '__main__')" in shown
    assert "(None, 5)" in shown
    assert "ZeroDivisionError: division by zero" in shown
    assert "_runner" not in shown
    assert shown.count("starts") == 1
    assert ending == in_terminal([sys.executable], "exit(3)\n")[1]


MOVES = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|[=>])")


def in_terminal(words: list[str], typed: str) -> tuple[str, int]:
    """What a program shows on a terminal of its own where this is typed, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(words[0], words)
    shown = b""
    lines = typed.splitlines(keepends=True)
    with contextlib.suppress(OSError):  # EIO: nobody has the other end any more
        while select.select([terminal], [], [], 60)[0] and (data := os.read(terminal, 4096)):
            shown += data
            if lines and MOVES.sub(b"", shown).endswith(b">>> "):
                os.write(terminal, lines.pop(0).encode())
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_help_needs_no_numpy(python):
    done = python("-X", "importtime", "-m", "frit", "--help")
    assert done.stdout.startswith("usage:")
    assert "numpy" not in done.stderr


def test_the_report_ends_the_run_on_standard_error(frit, python, file):
    path = file(
        "program.py", "import numpy as np\nx = np.fft.rfft(np.arange(9.0) * 2)\nprint(x[0])\n"
    )
    done = python("-m", "frit", "--report", path)
    assert done.stdout == "(72+0j)\n"
    lines = done.stderr.splitlines()
    assert len(lines) <= 11
    assert lines[0].startswith("--- frit")
    assert f"  {path}:2: fft.rfft x 1" in lines[-1]


def test_compare_tells_whether_output_agrees(python, file):
    same = file("same.py", "import numpy as np\nprint(np.arange(4) * 2)\n")
    done = python("-m", "frit", "--compare", same)
    assert "output     identical" in done.stdout
    assert "x\n" in done.stdout
    other = file("other.py", "import numpy as np\nprint(1)\nprint(np.__name__)\n")
    done = python("-m", "frit", "--compare", other, check=False)
    assert done.returncode == 1
    assert "-numpy" in done.stdout
    assert "+frit.numpy" in done.stdout


def test_compare_tells_exit_codes(python, file):
    path = file("program.py", "import numpy, sys\nsys.exit(numpy.__name__ == 'numpy')\n")
    done = python("-m", "frit", "--compare", path, check=False)
    assert done.returncode == 1
    assert "exit code  1 under Python, 0 under Frit" in done.stdout


def test_doctor_shows_the_installation(python):
    import numpy

    done = python("-m", "frit", "--doctor")
    for word in (
        "frit ",
        f"numpy      {numpy.__version__}",
        "threads",
        "tiers",
        "cache",
        "processor",
    ):
        assert word in done.stdout


def test_doctor_warns_of_an_open_cache_folder(python, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o755)
    (tmp_path / "cache").chmod(0o755)
    done = python("-m", "frit", "--doctor", FRIT_CACHE_DIR=str(tmp_path / "cache"))
    assert "should be 0700" in done.stdout


def test_tracebacks_show_no_frames_of_ours(python, file):
    """Of names that NumPy lacks, of functions that a user has vectorized, of files."""
    path = file(
        "program.py",
        """
        import sys
        import traceback
        import numpy as np

        @np.vectorize
        def refuses(x):
            raise RuntimeError(f"no {x}")

        np.savez("archive.npz", x=[1])
        archive = np.load("archive.npz")
        for wrong in (lambda: np.nothing, lambda: refuses(np.arange(3)), lambda: np.poly1d("a")(2),
                      lambda: np.load("nowhere.npy"), lambda: np.load(sys.argv[0]),
                      lambda: archive["y"], lambda: archive.f.y):
            try:
                wrong()
            except Exception:
                traceback.print_exc(file=sys.stdout)
        print(sorted(name for name in globals() if name.startswith("__")), np.arange)
        print(str(np.partition)[:20])
        """,
    )
    under_frit = python("-m", "frit", path).stdout
    assert "frit" not in under_frit.replace(str(path), "") and under_frit == python(path).stdout


DEPTHS = """
import sys
import warnings

def deep(k):
    try:
        return deep(k + 1)
    except RecursionError:
        return k

print(deep(0), sys.getrecursionlimit())
sys.setrecursionlimit(1500)
print(deep(0), sys.getrecursionlimit())
for bad in (0, "x", 2.5, 10**30):
    try:
        sys.setrecursionlimit(bad)
    except Exception as error:
        print(type(error), error)
warnings.warn("from nowhere", stacklevel=2)
"""


def test_programs_may_call_as_deep_as_under_plain_python(python, file):
    path = file("deep_program.py", DEPTHS)
    file("package/__main__.py", DEPTHS)
    for words in ([path], ["-c", DEPTHS], ["package"], ["-m", "deep_program"]):
        plain, ours = python(*words), python("-m", "frit", *words)
        assert ours.stdout == plain.stdout and "1000" in plain.stdout
    assert python("-m", "frit", path).stderr == python(path).stderr  # "sys:1"


def test_a_program_may_stand_in_a_pipe(python, file, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=["print(__name__)\n"])
    writer.start()
    assert python("-m", "frit", tmp_path / "pipe").stdout == "__main__\n"
    writer.join()


def test_an_array_as_exit_code_is_shown(python):
    for code in ("np.arange(3)", "[np.arange(3)]", "None", "(1, 2)", "3"):
        text = f"import sys, numpy as np\nsys.exit({code})"
        plain = python("-c", text, check=False)
        ours = python("-m", "frit", "-c", text, check=False)
        assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)


def test_code_without_columns_is_kept_apart(python, file):
    path = file("columns.py", "def f(x):\n    for i in range(3):\n        x[i] = 1\nf([])\n")
    assert "^^" in python(path, check=False).stderr
    for words in ([], ["-X", "no_debug_ranges"], []):
        plain = python(*words, path, check=False)
        assert python(*words, "-m", "frit", path, check=False).stderr == plain.stderr


def test_warnings_of_empty_means_are_numpys(python, file):
    path = file("program.py", "import numpy as np\nnp.mean([])\nnp.std(np.ones((0, 3)), axis=0)\n")
    assert python("-m", "frit", path).stderr == python(path).stderr


CAVITY = """
    import numpy as np

    def pressure(p, h, b):
        for _ in range(3):
            pn = p.copy()
            p[1:-1, 1:-1] = (((pn[1:-1, 2:] + pn[1:-1, 0:-2]) * h**2 +
                              (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * h**2) /
                              (2 * (h**2 + h**2)) -
                              h**2 * h**2 / (2 * (h**2 + h**2)) * b[1:-1, 1:-1])
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        return p

    def flow(n, rounds):
        u, v, p, b = (np.zeros((n, n)) for _ in range(4))
        h, dt, nu = 2 / (n - 1), 0.02, 0.1
        for _ in range(rounds):
            un = u.copy()
            vn = v.copy()
            b[1:-1, 1:-1] = (1 / dt * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * h) +
                                       (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * h)) -
                             ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * h))**2 -
                             2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * h) *
                                  (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * h)) -
                             ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * h))**2)
            p = pressure(p, h, b)
            u[1:-1, 1:-1] = (un[1:-1, 1:-1] -
                             un[1:-1, 1:-1] * dt / h * (un[1:-1, 1:-1] - un[1:-1, 0:-2]) -
                             vn[1:-1, 1:-1] * dt / h * (un[1:-1, 1:-1] - un[0:-2, 1:-1]) -
                             dt / (2 * h) * (p[1:-1, 2:] - p[1:-1, 0:-2]) +
                             nu * (dt / h**2 *
                             (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2]) + dt / h**2 *
                             (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])))
            v[1:-1, 1:-1] = (vn[1:-1, 1:-1] -
                             un[1:-1, 1:-1] * dt / h * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2]) -
                             vn[1:-1, 1:-1] * dt / h * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1]) -
                             dt / (2 * h) * (p[2:, 1:-1] - p[0:-2, 1:-1]) +
                             nu * (dt / h**2 *
                             (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2]) + dt / h**2 *
                             (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])))
            u[0, :] = u[:, 0] = u[:, -1] = 0
            u[-1, :] = 1
            v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0
        return u, v, p

    print([np.isnan(a).sum() for a in flow(82, 12)])
"""


def test_kernels_that_share_lines_warn_in_the_programs_order(python, file):
    """A flow that diverges: its statements are in several kernels each, which run by turns."""
    path = file("program.py", CAVITY)
    plain = python("-W", "always", path)
    ours = python("-W", "always", "-m", "frit", path)
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)
    assert plain.stderr.count("RuntimeWarning") > 20


@pytest.mark.unsanitized
def test_calls_cost_the_same_at_every_depth(python, file):
    """Where a chunk of Python's stack ends, each call maps memory: a page fault a call."""
    path = file(
        "program.py",
        """
        import resource

        def leaf():
            pass

        def deep(left):
            if left:
                deep(left - 1)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            for _ in range(500):
                leaf()
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

        faults = []
        deep(800)
        print(max(faults) < 250)
        """,
    )
    for words in ([path], ["-m", "program"], ["-c", path.read_text()], ["-"]):
        assert python("-m", "frit", *words, input=path.read_text()).stdout == "True\n"


def test_a_module_of_the_programs_may_be_called_signal(python, file):
    file("signal.py", "kind = 'sine'\n")
    program = """
import numpy as np
import signal

def rows(a, times):
    total = 0
    for k in range(times):
        for i in range(len(a)):
            total += int(np.argmax(a[i])) + a[i, 0]  # which no nest can do
    return total

print(signal.kind, rows(np.arange(400.0).reshape(20, 20), 600))
"""
    path = file("program.py", program)
    assert python("-m", "frit", path).stdout == python(path).stdout
