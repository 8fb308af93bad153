"""test_faults.py: memory, cache files, signals, forks, threads or sudden exits break no program.

FRIT_EXITS: how many processes end in mid-compile (20; the nightly run takes 200).
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy
import pytest

import frit

EXITS = int(os.environ.get("FRIT_EXITS", "20"))

# A dozen kernels, none like another, each large enough to be compiled at once.
WORK = """
import sys, numpy
import frit.numpy as np
from frit import _core

def ending(module, k, y):
    if k % 4 == 1:
        return y[::-1] * 2
    if k % 4 == 2:
        return module.where(y > 3, y, -y)
    return module.exp(-abs(y)) + y[0] if k % 4 == 3 else y

def work(k, x):
    y = x * (k + 1) + k
    for j in range(k % 5):
        y = np.sqrt(abs(y)) - j
    return ending(np, k, y)

def checked(rounds, n=100_000):
    real = numpy.sin(numpy.arange(n))
    x = np.array(real)
    for k in range(rounds):
        got = work(k, x)
        total = float(got.sum())
        assert total == total
        with np.errstate(all="ignore"):
            y = real * (k + 1) + k
            for j in range(k % 5):
                y = numpy.sqrt(abs(y)) - j
            y = ending(numpy, k, y)
        assert numpy.allclose(numpy.asarray(got), y, rtol=1e-14, atol=1e-14), k
"""
STORING = (
    WORK
    + """
checked(12)
_core.wait_for_compiler()
s = _core.statistics()
print(s["kernels_compiled"], s["kernels_loaded"])
"""
)


def counts(done: subprocess.CompletedProcess[str]) -> tuple[int, int]:
    compiled, loaded = map(int, done.stdout.split())
    return compiled, loaded


# ---- the installation ----------------------------------------------------------------------------

LOOPS = """
import numpy, frit

@frit.parallelize
def double(x, y):
    for i in range(len(x)):
        y[i] = 2 * x[i]

x, y = numpy.arange(10_000.0), numpy.zeros(10_000)
for _ in range(3):
    double(x, y)
assert (y == 2 * x).all()
print(frit.explain(double))
"""


def test_without_what_compiler_and_analysis_need_programs_run_and_say_so(process, tmp_path):
    package = tmp_path / "partial" / "frit"
    package.mkdir(parents=True)
    for path in Path(frit.__file__).parent.iterdir():
        if path.name not in ("libfrit_jit.so", "libfrit_isl.so"):
            (package / path.name).symlink_to(path)
    where = {"PYTHONPATH": str(package.parent), "FRIT_CACHE_DIR": str(tmp_path / "cache")}
    assert counts(process(STORING, **where)) == (0, 0)
    assert "without isl: install libisl" in process(LOOPS, **where).stdout
    assert "# parallel" in process(LOOPS).stdout
    told = process("from frit.report import doctor; print(doctor.text())", **where).stdout
    assert "no compiler: " in told and "serial: " in told


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3_000, 300_000])
def test_a_failed_allocation_is_a_memory_error_and_nothing_else(n, tier, same):
    import frit.numpy as np
    from frit import _core

    real = numpy.sin(numpy.arange(n))
    errors = 0
    for make in (lambda x: x + 1, lambda x: (x + 1)[::-1] * 2, lambda x: x.cumsum()):
        x = np.array(real)
        float(x[0])
        _core.fail_allocation(-1)
        try:
            float(make(x)[0])
        except MemoryError:
            errors += 1
        finally:
            _core.fail_allocation(0)
        same(make(x), make(real))
    assert errors == 3  # whoever asks for it hears of it
    errors = 0
    for at in range(1, 12):
        x = np.array(real)
        y = np.zeros(n)
        float(x[0] + y[0])
        _core.fail_allocation(at)
        try:
            a = x + 1
            b = a[::-1] * 2
            y[1:] += b[:-1]
            s = (y * y).sum()
            c = np.cumsum(y)
            float((c[-1:] + s)[0])
        except MemoryError:
            errors += 1
        finally:
            _core.fail_allocation(0)
        # What was bound before the failure still has its value; the program goes on.
        same(x, real)
        b = x[::-1] * 3 - 1
        same(b, real[::-1] * 3 - 1)
        same(b.sum(), (real[::-1] * 3 - 1).sum())
    assert errors >= 1  # what failed for somebody else is computed when it is asked for


def test_memory_errors_have_numpys_words():
    import frit.numpy as np

    # (a computation, what has no room)
    cases = [
        (lambda: np.ones(1 << 50), "(1125899906842624,) and data type float64"),
        (
            lambda: np.ones((1 << 25, 1)) + np.ones(1 << 25),
            "(33554432, 33554432) and data type float64",
        ),
        (lambda: np.empty((4, 1 << 48), "f4"), "(4, 281474976710656) and data type float32"),
    ]
    for make, what in cases:
        with pytest.raises(MemoryError, match=re.escape(f"for an array with shape {what}")) as seen:
            numpy.asarray(make())
        assert type(seen.value).__module__.startswith("numpy.")


@pytest.mark.parametrize("dtype", ["u1", "f8", "c16"])
@pytest.mark.parametrize("bits", [47, 58, 59, 62])
@pytest.mark.parametrize("shape", [lambda n: n, lambda n: (2, n // 2), lambda n: (n, 3)])
@pytest.mark.parametrize("make", ["empty", "zeros", "ones", "full"])
def test_memory_is_refused_where_it_is_asked_for(make, shape, bits, dtype):
    import frit.numpy as np

    value = {"fill_value": 1} if make == "full" else {}
    with pytest.raises((MemoryError, ValueError)) as expected:
        getattr(numpy, make)(shape(1 << bits), dtype=dtype, **value)
    with pytest.raises(expected.type, match=re.escape(str(expected.value))):
        getattr(np, make)(shape(1 << bits), dtype=dtype, **value)


def computations_without_room(np):
    """By name: what makes more of a broadcast array than any address space holds."""
    byte, real = np.broadcast_to(np.uint8(1), 1 << 62), np.broadcast_to(1.5, 1 << 59)
    row, column = np.broadcast_to(2.0, 1 << 28), np.broadcast_to(2.0, (1 << 28, 1))
    rows = np.broadcast_to(np.float32(3), (3, 1 << 57))
    return {
        "array": lambda: np.array(byte),
        "array of a list": lambda: np.array([byte]),
        "copy": lambda: byte.copy(),
        "astype": lambda: real.astype("f4"),
        "too many bytes": lambda: byte.astype("f8"),
        "contiguous": lambda: np.ascontiguousarray(byte.reshape(2, -1)),
        "sum with a number": lambda: byte + 1,
        "sum with itself": lambda: real + real,
        "negative": lambda: -real,
        "function": lambda: np.sin(real),
        "comparison": lambda: real > 1,
        "two results": lambda: np.divmod(real, 2),
        "choice": lambda: np.where(byte, byte, 2),
        "under a mask": lambda: np.add(byte, 1, out=None, where=np.True_),
        "broadcast operands": lambda: column * row,
        "reduction": lambda: rows.sum(axis=0),
        "extreme": lambda: rows.max(axis=0),
        "scan": lambda: real.cumsum(),
        "concatenation": lambda: np.concatenate([rows[0], rows[1]]),
        "roll": lambda: np.roll(real, 3),
        "outer": lambda: np.outer(row, row),
        "product": lambda: np.matmul(column, row[None, :]),
        "sort": lambda: np.sort(real),
        "differences": lambda: np.diff(real),
    }


@pytest.mark.parametrize("name", list(computations_without_room(numpy)))
def test_what_no_machine_could_hold_is_refused_where_it_is_recorded(name, tier, same):
    import frit.numpy as np

    with pytest.raises((MemoryError, ValueError)) as expected:
        computations_without_room(numpy)[name]()
    x = np.arange(300_000.0)
    x += 1  # waits
    for _ in range(3):
        with pytest.raises(expected.type, match=re.escape(str(expected.value))) as refused:
            computations_without_room(np)[name]()
        assert refused.type.__module__ == expected.type.__module__
        x *= 2
    same(x, (numpy.arange(300_000.0) + 1) * 8)


def test_views_of_more_elements_than_any_memory_holds_are_views():
    import frit.numpy as np

    def looks(np):
        a = np.broadcast_to(np.uint8(7), 1 << 62)
        b = a.reshape(1 << 31, -1)[::2, None].T
        return a.nbytes, b.shape, b.strides, repr(a), repr(b), str(a), (a[-3:] + a[:3]).tolist()

    assert looks(np) == looks(numpy)


@pytest.mark.parametrize("stop", [1 << 44, 1 << 52, 1e13])
def test_ranges_that_no_memory_holds_are_refused_where_they_are_asked_for(stop):
    import frit.numpy as np

    with pytest.raises(MemoryError) as expected:
        numpy.arange(stop)
    with pytest.raises(MemoryError, match=re.escape(str(expected.value))):
        np.arange(stop)


def test_an_array_larger_than_memory_does_not_keep_others_from_being_read():
    import frit.numpy as np

    def differences(n):
        a = np.arange(n)
        d = a[:, None] * 1.0 - a[None, :]
        d[d < 0] = 0
        return d

    shared, large = np.arange(1000.0), []
    small = differences(100)
    for make in (lambda: differences(3_000_000), lambda: shared[:, None] + np.ones((1, 1 << 50))):
        with contextlib.suppress(MemoryError):  # where the trace is evaluated at that line
            large.append(make())
    shared += 1
    expected = numpy.subtract.outer(numpy.arange(100.0), numpy.arange(100.0)).clip(0)
    assert small.sum() == expected.sum()
    assert numpy.array_equal(small, expected)
    for array in large:
        with pytest.raises(MemoryError):
            float(array[0, 0])
    small[0] = 7  # in place
    assert small.sum() == expected[1:].sum() + 700
    del large
    assert shared.sum() == 500_500


def test_an_array_larger_than_memory_is_a_memory_error_when_asked_for(process):
    process("""
        import frit.numpy as np
        x = np.ones(1000)
        for make in (lambda: np.zeros(1 << 60), lambda: np.ones((1 << 30, 1 << 30)),
                     lambda: np.empty(1 << 59), lambda: np.broadcast_to(x, (1 << 50, 1000)) + 1):
            try:
                y = make()
                float(y[-1] if y.ndim == 1 else y[-1, -1])
            except (MemoryError, ValueError) as error:
                pass
            else:
                raise SystemExit("no error")
            try:
                del y
            except NameError:
                pass
            assert float((x + 1).sum()) == 2000
    """)


# ---- cache files ---------------------------------------------------------------------------------


@pytest.fixture
def stored(process, tmp_path):
    """A cache with a dozen kernels: its folder and its files."""
    folder = tmp_path / "cache"
    compiled, loaded = counts(process(STORING, FRIT_TIER="compiled", FRIT_CACHE_DIR=str(folder)))
    files = sorted((folder / "kernels").glob("*.code"))
    assert compiled >= 6 and loaded == 0 and len(files) == compiled
    return folder, files


def run_stored(process, folder):
    return counts(process(STORING, FRIT_TIER="compiled", FRIT_CACHE_DIR=str(folder)))


@pytest.mark.on_host
def test_the_second_process_compiles_nothing(process, stored):
    folder, files = stored
    assert run_stored(process, folder) == (0, len(files))
    assert (folder / "kernels").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "way", ["one bit", "zeros", "half", "empty", "header", "longer", "text", "another's"]
)
@pytest.mark.on_host
def test_a_damaged_file_is_rebuilt(way, process, stored):
    folder, files = stored
    chance = random.Random(7)
    originals = [f.read_bytes() for f in files]
    for file, data in zip(files, originals, strict=True):
        at = chance.randrange(len(data))
        match way:
            case "one bit":
                data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case "zeros":
                data = bytes(len(data))
            case "half":
                data = data[: len(data) // 2]
            case "empty":
                data = b""
            case "header":
                data = data[:39]
            case "longer":
                data += b"x"
            case "text":
                data = b"#!/bin/sh\nexit 1\n"
            case "another's":  # a good file under a wrong name
                data = chance.choice([d for d in originals if d != data])
        file.write_bytes(data)
    assert run_stored(process, folder) == (len(files), 0)
    assert run_stored(process, folder) == (0, len(files))


@pytest.mark.on_host
def test_what_is_no_plain_file_of_ours_is_not_read(process, stored, tmp_path):
    folder, files = stored
    for k, file in enumerate(files):
        data = file.read_bytes()
        file.unlink()
        if k % 3 == 0:
            file.mkdir()
        elif k % 3 == 1:
            target = tmp_path / f"target{k}"
            target.write_bytes(data)
            file.symlink_to(target)
        else:
            os.mkfifo(file)
    compiled, loaded = run_stored(process, folder)
    assert (compiled, loaded) == (len(files), 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.on_host
def test_files_of_another_user_are_not_loaded(process, stored):
    folder, files = stored
    for file in files:
        os.chown(file, 65534, 65534)
    assert run_stored(process, folder) == (len(files), 0)
    os.chown(folder / "kernels", 65534, 65534)
    assert run_stored(process, folder) == (len(files), 0)


@pytest.mark.parametrize(
    "setting", ["unwritable", "file", "no home", "relative", "missing parents", "full device"]
)
@pytest.mark.on_host
def test_without_a_usable_cache_folder_everything_works(setting, process, tmp_path):
    environment = {"FRIT_TIER": "compiled"}
    if setting == "unwritable":
        environment["FRIT_CACHE_DIR"] = "/proc/frit"
    elif setting == "file":
        (tmp_path / "plain").write_text("")
        environment["FRIT_CACHE_DIR"] = str(tmp_path / "plain")
    elif setting == "no home":
        home = tmp_path / "home"
        environment |= {"FRIT_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": str(home)}
    elif setting == "relative":
        environment["FRIT_CACHE_DIR"] = "cache"
    elif setting == "missing parents":
        environment["FRIT_CACHE_DIR"] = str(tmp_path / "a" / "b" / "c")
    elif setting == "full device":
        environment["FRIT_CACHE_DIR"] = "/sys/frit"
    compiled, loaded = counts(process(STORING, **environment))
    assert compiled >= 6 and loaded == 0
    assert setting != "no home" or not home.exists()


@pytest.mark.on_host
def test_a_read_only_home(process, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o500)
    environment = {
        "FRIT_TIER": "compiled",
        "HOME": str(home),
        "FRIT_CACHE_DIR": "",
        "XDG_CACHE_HOME": "",
    }
    compiled, loaded = counts(process(STORING, **environment))
    assert compiled >= 6 and loaded == 0


def test_killed_in_mid_write_leaves_a_cache_that_works(process, tmp_path):
    folder = tmp_path / "cache"
    program = tmp_path / "victim.py"
    program.write_text(
        textwrap.dedent(STORING.replace("checked(12)", "print('go', flush=True); checked(40)"))
    )
    chance = random.Random(3)
    for _ in range(8):
        victim = subprocess.Popen(
            [sys.executable, str(program)],
            stdout=subprocess.PIPE,
            env={**os.environ, "FRIT_TIER": "compiled", "FRIT_CACHE_DIR": str(folder)},
        )
        assert victim.stdout and victim.stdout.readline() == b"go\n"
        time.sleep(chance.random() * 0.4)
        victim.kill()
        victim.wait()
        victim.stdout.close()
    first = run_stored(process, folder)
    assert run_stored(process, folder) == (0, sum(first))


def test_many_processes_fill_one_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(STORING)
    environment = {**os.environ, "FRIT_TIER": "compiled", "FRIT_CACHE_DIR": str(tmp_path / "cache")}
    running = [
        subprocess.Popen(
            [sys.executable, str(program)], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    results = [p.communicate()[0].split() for p in running]
    assert [p.returncode for p in running] == [0] * 4
    assert len({int(c) + int(n) for c, n in results}) == 1


# ---- processes -----------------------------------------------------------------------------------


def test_fork_in_mid_compile(process):
    done = process(
        WORK
        + """
import os
checked(2)
for k in range(10):
    for j in range(k, k + 6):
        pending = work(j, np.ones(200_000))
        float(pending[3])  # the compiler has begun
    pending = work(k, np.ones(200_000)) + k
    child = os.fork()
    if child == 0:
        code = 1
        try:
            checked(8)
            assert float(pending[5]) == float(pending[6])
            _core.wait_for_compiler()
            code = 0
        finally:
            os._exit(code)
    checked(3)
    assert float(pending[5]) == float(pending[6])
    assert os.waitpid(child, 0)[1] == 0, "the child"
print("ok")
""",
        FRIT_CACHE="0",
        timeout=300,
    )
    assert done.stdout == "ok\n"


def test_a_fork_leaves_no_thread_of_ours(process):
    done = process(
        WORK
        + """
import os, time
def threads():
    return len(os.listdir("/proc/self/task"))
checked(2)
assert threads() > 1
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
end = time.monotonic() + 10
while threads() > 1 and time.monotonic() < end:
    time.sleep(0.001)  # Linux counts a thread for a moment more
print(threads())
checked(2)
""",
        FRIT_CACHE="0",
        FRIT_NUM_THREADS="2",
        OPENBLAS_NUM_THREADS="1",
    )
    assert done.stdout == "1\n"


def test_fork_while_another_thread_imports_a_part_of_ours(process):
    done = process(
        """
import os, sys, threading, time
import numpy as np
import frit
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "frit.loops.run.binding":
            begun.set()
            time.sleep(0.3)
begun = threading.Event()
sys.meta_path.insert(0, Slow())
@frit.parallelize
def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * 0.5
    return s
a = np.arange(200_000.0)
thread = threading.Thread(target=total, args=(a,))
thread.start()
assert begun.wait(30), "nobody imports it"
child = os.fork()
if child == 0:
    os._exit(0 if total(a) == a.sum() / 2 else 1)
assert os.waitpid(child, 0)[1] == 0, "the child"
thread.join()
print("ok")
""",
        timeout=60,
    )
    assert done.stdout == "ok\n"


def test_fork_while_other_threads_evaluate(process):
    done = process(
        WORK
        + """
import os, threading
stop = False
def busy(k):
    x = np.ones(50_000) * k
    while not stop:
        assert float((x * 2 + 1).sum()) == 50_000 * (2 * k + 1)
threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
for t in threads: t.start()
for k in range(15):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            checked(4)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0, "the child"
stop = True
for t in threads: t.join()
print("ok")
""",
        FRIT_CACHE="0",
        timeout=300,
    )
    assert done.stdout == "ok\n"


ENDS_IN = """
import threading

def total(k):
    return float(work(k, np.ones(300_000)).sum())

def start(target, **words):
    threading.Thread(target=target, **words).start()

x = np.ones(300_000)
for k in range(int(sys.argv[1])):
    y = work(k, x)
    float(y[3])
"""
ENDINGS = {
    "the end": "",
    "sys.exit": "sys.exit(0)",
    "an exception": "raise ValueError('on purpose')",
    "os._exit": "import os; os._exit(0)",
    "pending work": "y = work(3, y); z = np.cumsum(y)",
    "a thread": "start(lambda: total(7))",
    "a daemon": "start(lambda: [total(k) for k in range(99)], daemon=True)",
    "an export": "keep = numpy.asarray(y); keep2 = memoryview(np.ones(100_000)); w = y + 1",
    "atexit": "import atexit; atexit.register(lambda: print(total(5) > 0, file=sys.stderr))",
    "SIGTERM": "import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_exits_in_mid_compile(ending, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(WORK + ENDS_IN + ENDINGS[ending])
    for k in range(max(EXITS // len(ENDINGS), 2)):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(program), str(1 + k % 7)],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "FRIT_CACHE": "0", "FRIT_TIER": "automatic"},
        )
        expected = {"an exception": 1, "SIGTERM": -signal.SIGTERM}.get(ending, 0)
        assert done.returncode == expected, f"{done.returncode}\n{done.stderr[-3000:]}"
        assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_work_for_memory_that_others_own_is_done_at_exit(process, tmp_path):
    path = tmp_path / "mapped.npy"
    numpy.save(path, numpy.zeros(100_000))
    process(f"""
        import numpy
        import frit.numpy as np
        m = np.asarray(numpy.load({str(path)!r}, mmap_mode="r+"))
        x = np.ones(100_000) * 3
        m[:] = x + 1
    """)
    assert (numpy.load(path) == 4).all()


# ---- signals -------------------------------------------------------------------------------------


def test_ctrl_c_in_a_long_evaluation(process):
    done = process(
        WORK
        + """
import signal, time
clock = time.perf_counter
for attempt in range(6):
    x = np.ones(400_000)
    total = np.zeros(400_000)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    rounds = 0
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02 * (attempt + 1))
        while True:
            total += np.sqrt(x + rounds) - np.sqrt(x + rounds)
            x[1:] = x[:-1]
            rounds += 1
            if rounds % 50 == 0:
                float(total[0])
    except KeyboardInterrupt:
        pass
    assert float(total.sum()) == 0 and float(x.sum()) == 400_000
    checked(3)
print("ok")
""",
        timeout=120,
    )
    assert done.stdout == "ok\n"


def test_signals_during_every_kind_of_call_leave_the_engine_whole(process):
    done = process(
        WORK
        + """
import signal
interrupts = 0
inside = False
def interrupt(number, frame):
    global inside
    if inside:  # not in this program's own bookkeeping
        inside = False
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
real = numpy.arange(30_000.0)
x = np.array(real)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
for k in range(400):
    try:
        inside = True
        y = np.concatenate([x, x])[::2] + np.cumsum(x) - x[np.array([3])]
        z = y[y > 5].sum() + np.linalg.norm(y)
        str(z)
        inside = False
    except KeyboardInterrupt:
        interrupts += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert interrupts > 0
assert (numpy.asarray(x) == real).all()
checked(4)
print("ok")
""",
        timeout=120,
    )
    assert done.stdout == "ok\n"


# ---- threads -------------------------------------------------------------------------------------

# Stacks of 4 GiB, and address space for as many of them as the program's argument says.
FEW_THREADS = """
import ctypes, resource, sys
import frit, numpy
import frit.numpy as np
from frit import _core

libc, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 32))
libc.pthread_setattr_default_np(attributes)
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * resource.getpagesize() + int(sys.argv[1]) * (1 << 32) + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (room, room))

def threads():
    return int(next(l for l in open("/proc/self/status") if l.startswith("Threads")).split()[1])

_core.set_threads(8)
before = threads()
x = numpy.random.default_rng(0).random(300_000)
a = np.array(x)
def double(x, y):
    for i in range(len(x)):
        y[i] = 2 * x[i]
double, out = frit.parallelize(double), numpy.empty_like(x)
for _ in range(3):
    assert float((np.sqrt(a) * 2 + a).sum()) == (numpy.sqrt(x) * 2 + x).sum()
    for f in ("sort", "argsort", "cumsum", "unique", "median", "ptp"):
        assert numpy.array_equal(getattr(np, f)(a + 1), getattr(numpy, f)(x + 1)), f
    assert numpy.array_equal(np.histogram(a, 100)[0], numpy.histogram(x, 100)[0])
    assert numpy.array_equal(np.partition(a, 1000)[1000], numpy.sort(x)[1000])
    assert numpy.array_equal(a[np.argsort(a)], numpy.sort(x)) and (a > 0.5).sum() == (x > 0.5).sum()
    double(x, out)
    assert (out == 2 * x).all()
    _core.wait_for_compiler()
print(threads() - before)
"""


@pytest.mark.unsanitized  # a sanitizer's shadow memory is more than the address space given here
@pytest.mark.parametrize("tier", ["automatic", "interpreter", "compiled"])
@pytest.mark.parametrize("room", [0, 3])
def test_where_threads_cannot_start_those_that_run_do_all(process, room, tier):
    done = process(FEW_THREADS, str(room), FRIT_TIER=tier, OPENBLAS_NUM_THREADS="1")
    assert int(done.stdout) == room and not done.stderr


def test_50_threads_record_and_read_at_once(tier):
    import frit.numpy as np

    shared_real = numpy.sin(numpy.arange(5_000))
    shared = np.array(shared_real)
    expected_sum = shared_real.sum()
    failures: list[str] = []
    start = threading.Barrier(50)

    def task(number: int) -> None:
        try:
            start.wait()
            real = numpy.arange(4_000.0) + number
            x = np.array(real)
            for k in range(30):
                x[1:] += x[:-1] * 0.5
                real[1:] += real[:-1] * 0.5
                y = x * number + shared[:4_000]
                x -= k
                real -= k
                if k % 7 == number % 7:
                    if float(shared.sum()) != expected_sum:
                        failures.append(f"{number}: the shared sum")
                    if not (numpy.asarray(y) == (real + k) * number + shared_real[:4_000]).all():
                        failures.append(f"{number}: round {k}")
                if k % 11 == 0:
                    try:
                        x + np.ones(3)
                        failures.append("no error")
                    except ValueError:
                        pass
            if not (numpy.asarray(x) == real).all():
                failures.append(f"{number}: the end")
        except BaseException as error:  # noqa: BLE001
            failures.append(f"{number}: {error!r}")

    threads = [threading.Thread(target=task, args=(k,)) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    assert not any(t.is_alive() for t in threads), "threads hang"
    assert not failures, failures[:5]


def test_threads_hand_arrays_to_one_another(tier):
    """An array that one thread made and left pending is read, changed and dropped by another."""
    import queue

    import frit.numpy as np

    line: queue.Queue = queue.Queue(maxsize=8)
    failures: list[object] = []

    def make() -> None:
        for k in range(120):
            x = np.ones(3_000) * k
            y = x[::-1] + 1
            x += 1
            line.put((k, x, y))
        line.put(None)

    def use() -> None:
        try:
            while (item := line.get()) is not None:
                k, x, y = item
                y *= 2
                x -= y
                if float(x[5]) != k + 1 - 2 * (k + 1) or float(y.sum()) != 3_000 * 2 * (k + 1):
                    failures.append(k)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=make), threading.Thread(target=use)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(t.is_alive() for t in threads), "threads hang"
    assert not failures, failures[:5]


def test_the_cache_of_this_test_run_is_not_the_users() -> None:
    assert Path(os.environ["FRIT_CACHE_DIR"]) != Path.home() / ".cache" / "frit"
