"""test_signals.py: nests that take long let handlers of signals run, and end where these raise."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SETUP = """
import os, signal, time
import numpy as np

class Alarm(Exception):
    pass

def raise_alarm(number, frame):
    while frame.f_back.f_code.co_name != "within":
        frame = frame.f_back
    raise Alarm(f"it is time, {sorted({'i', 'k'} & {*frame.f_locals})}")

signal.signal(signal.SIGALRM, raise_alarm)

def within(seconds, function, *arguments):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        function(*arguments)
    except Alarm as alarm:
        print(alarm)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
"""

# None of them ends by itself while a test lasts.
NESTS = {
    "rows and columns": """
def work(a, most=10**10):
    for k in range(most):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i, j] * 0.5 + np.sqrt(i * j)
""",
    "rounds of little": """
def work(a, most=10**12):
    for k in range(most):
        for i in range(a.shape[0]):
            a[i, 0] = a[i, 0] * 0.5 + np.sin(a[i, 1])
""",
    "one after another": """
def work(a, most=10**13):
    x = 0.3
    for k in range(most):
        x = 3.7 * x * (1 - x)
    a[0, 0] = x
""",
    "a sum of many numbers": """
def work(a, most=10**13):
    s = 0
    for k in range(most):
        s += k % 7
    a[0, 0] = s
""",
    "sums of quotients": """
def work(a, most=10**12):
    s, c = 0.0, 0
    for k in range(most):
        s += 1.0 / (k + 1)
        if k % 3 == 0:
            c += 1
    a[0, 0] = s + c
""",
    "a while": """
def work(a, most=10**12):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            count = 0
            x = a[i, j]
            while count < most:
                x = x * 0.5 + i
                count += 1
            a[i, j] = x
""",
    "a wavefront": """
def work(a, most=10**10):
    for k in range(most):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4
""",
    "a product": """
def work(a, most=10**10):
    c = np.zeros_like(a)
    for k in range(most):
        for i in range(a.shape[0]):
            for j in range(a.shape[0]):
                for l in range(a.shape[0]):
                    c[i, j] += a[i, l] * a[l, j]
""",
    "sums": """
def work(a, most=10**10):
    total = 0.0
    for k in range(most):
        for i in range(a.shape[0]):
            total += a[i, k % 7]
    return total
""",
}
A = "a = np.random.default_rng(3).random((300, 300))\n"


def run(tmp_path, text, tier="automatic", timeout=100):
    program = tmp_path / "program.py"
    program.write_text(text)
    settings = os.environ | {"FRIT_TIER": tier, "FRIT_CACHE": "0"}
    settings.pop("FRIT_LOOPS", None)
    words = [sys.executable, "-m", "frit", str(program)]
    done = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("tier", ["automatic", "interpreter", "compiled"])
@pytest.mark.parametrize("nest", NESTS)
def test_an_alarm_ends_a_nest(nest, tier, tmp_path):
    text = SETUP + NESTS[nest] + A + "within(0.7, work, a)\nwork(a, 3)\nprint('done')"
    code, out, err = run(tmp_path, text, tier)
    assert (code, out) == (0, "it is time, []\ndone\n"), err  # no index: Python runs no round


def test_an_alarm_ends_a_nest_of_the_module(tmp_path):
    text = f"""{SETUP}{A}
def handler(number, frame):
    raise Alarm("k" in globals())
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.7)
try:
    for k in range(10**10):
        for i in range(300):
            for j in range(300):
                a[i, j] = a[i, j] * 0.5 + np.sqrt(i * j)
except Alarm as alarm:
    print(alarm)
"""
    assert run(tmp_path, text)[:2] == (0, "False\n")


def test_control_c_ends_the_program(tmp_path):
    nest = NESTS["rows and columns"]
    text = f"""{SETUP}{nest}{A}
import threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
work(a)
"""
    code, out, err = run(tmp_path, text)
    assert (code, out) == (-2, "")
    assert err.rstrip().splitlines()[-1] == "KeyboardInterrupt"
    assert 'program.py", line' in err


def test_tracebacks_show_the_programs_frames_alone(tmp_path):
    text = f"""{SETUP}
import functools, traceback
import frit

def rounds(n):
    s = 0.0
    for i in range(n):
        s += i * 0.5
    return s

def a_while(n):
    i = 0
    while i < n:
        i += 3
    return i

def with_exits(n):
    s = 0.0
    for i in range(n):
        for j in range(1000):
            s += i * 0.5 * j
        if s < 0:
            break
    return s

def alarm(number, frame):
    raise Alarm

def partial_alarm(word, number, frame):
    raise Alarm

handlers = signal.default_int_handler, alarm, functools.partial(partial_alarm, "")
functions = rounds, a_while, with_exits
for function in (*functions, *map(frit.parallelize, functions)):
    for handler in handlers:
        signal.signal(signal.SIGALRM, handler)
        for trial in 0, 1:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            try:
                function(10**13)
            except (Alarm, KeyboardInterrupt) as error:
                frames = traceback.extract_tb(error.__traceback__)
                print(*(frame.name for frame in frames))
"""
    code, out, err = run(tmp_path, text)
    handlers = ["", " alarm", " partial_alarm"]
    expected = [
        f"<module> {name}{handler}"
        for name in ["rounds", "a_while", "with_exits"] * 2
        for handler in handlers
        for _ in range(2)
    ]
    assert (code, out.splitlines()) == (0, expected), err


def test_tracebacks_of_short_nests_show_the_programs_frames_alone(tmp_path):
    text = f"""{SETUP}
import traceback

def total(s, n):
    for i in range(n):
        s += i * 0.5
    return s

def work():
    for _ in iter(int, 1):
        total(1.0, 3000)

def alarm(number, frame):
    raise Alarm

found = set()
for trial in range(60):
    signal.signal(signal.SIGALRM, (alarm, signal.default_int_handler)[trial % 2])
    signal.setitimer(signal.ITIMER_REAL, 0.02 + trial * 1e-4 if trial else 0.5)
    try:
        work()
    except (Alarm, KeyboardInterrupt) as error:
        found.update(frame.name for frame in traceback.extract_tb(error.__traceback__))
print(*sorted(found))
"""
    code, out, err = run(tmp_path, text)
    assert (code, out) == (0, "<module> alarm total work\n"), err


# Guessed to be short: nobody knows how often a While goes round.
WHILE = """
import subprocess

def interrupt(seconds):
    words = f"sleep {seconds}; kill -INT {os.getpid()}"  # no thread of ours: the nest has the GIL
    return subprocess.Popen(["sh", "-c", words])

def work(a, most):
    for i in range(a.shape[0]):
        count = 0
        x = a[i]
        while count < most:
            x = x * 0.5 + i
            count += 1
        a[i] = x
"""


@pytest.mark.parametrize("tier", ["automatic", "interpreter", "compiled"])
@pytest.mark.parametrize("n", [1, 50])
def test_control_c_ends_a_nest_that_was_to_be_short(n, tier, tmp_path):
    text = f"""{SETUP}{WHILE}
signal.signal(signal.SIGINT, signal.default_int_handler)
a = np.ones({n})
for trial in range(3):
    work(a, 5)
    interrupt(0.4)
    try:
        work(a, 10**15)
    except KeyboardInterrupt:
        print(len(a))
"""
    assert run(tmp_path, text, tier) == (0, f"{n}\n" * 3, "")


@pytest.mark.parametrize("name", ["SIGALRM", "SIGUSR1", "SIGTERM", "SIGINT"])
def test_handlers_of_the_programs_end_a_nest_that_was_to_be_short(name, tmp_path):
    text = f"""{SETUP}{WHILE.replace("kill -INT", "kill -" + name[3:])}
def stop(number, frame):
    raise Alarm(number == signal.{name})
signal.signal(signal.{name}, stop)
def count(a):
    while True:
        a += 1
a = np.ones(1)
for function, arguments in (work, (a, 10**15)), (count, (a,)):
    work(a, 5)
    interrupt(0.4)
    try:
        function(*arguments)
    except Alarm as alarm:
        print(alarm)
"""
    assert run(tmp_path, text) == (0, "True\nTrue\n", "")


def test_control_c_that_raises_nothing_stops_nothing(tmp_path):
    text = f"""{SETUP}{WHILE}
calls = []
signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
a, b = np.ones(10), np.ones(10)
work(a, 5)
child = interrupt(0.1)
start = time.perf_counter()
for k in range(1000):
    if time.perf_counter() > start + 0.5:
        break
    work(a, 10**6)
child.wait()
for j in range(k):
    work(b, 10**6)
work(b, 5)
print(calls == [signal.SIGINT], np.array_equal(a, b))
"""
    assert run(tmp_path, text)[:2] == (0, "True True\n")


def test_control_c_is_the_main_threads(tmp_path):
    text = f"""{SETUP}{WHILE}
import threading
signal.signal(signal.SIGINT, signal.default_int_handler)
a, b = np.ones(10), np.ones(10)
work(a, 5)
def works(c):
    for k in range(20):
        work(c, 10**6)
other = threading.Thread(target=works, args=(a,))
try:
    child = interrupt(0.05)
    other.start()
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print("main")
other.join()
work(b, 5)
works(b)
print(np.array_equal(a, b))
"""
    assert run(tmp_path, text)[:2] == (0, "main\nTrue\n")


def test_handlers_run_meanwhile(tmp_path):
    """One that raises nothing changes nothing; time goes by for it."""
    text = f"""{SETUP}{NESTS["rows and columns"]}{A}
seen = []
signal.signal(signal.SIGALRM, lambda number, frame: seen.append(time.perf_counter()))
other = a.copy()
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
work(a, 5000)
signal.setitimer(signal.ITIMER_REAL, 0)
end = time.perf_counter()
for k in range(5):
    work(other, 1000)
print(len(seen) > 1, seen[0] < end - 0.1, np.array_equal(a, other))
"""
    assert run(tmp_path, text)[:2] == (0, "True True True\n")


def test_a_handler_that_reads_arrays_waits(tmp_path):
    text = f"""{SETUP}{NESTS["rows and columns"]}{A}
b = np.ones(10)
def handler(number, frame):
    print(float((b + 1).sum()))
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
work(a, 3000)
print("done")
"""
    assert run(tmp_path, text)[:2] == (0, "20.0\ndone\n")


def test_other_threads_go_on_and_are_not_stopped(tmp_path):
    text = f"""{SETUP}{NESTS["rows and columns"]}{A}
import threading
b, c = a.copy(), a.copy()
count = 0
def counts():
    global count
    for k in range(40):
        time.sleep(0.01)
        count += 1
counter = threading.Thread(target=counts)
other = threading.Thread(target=work, args=(b, 3000))
counter.start()
other.start()
within(0.5, work, a)
print(count > 5)
counter.join()
other.join()
work(c, 3000)
print(np.array_equal(b, c))
"""
    assert run(tmp_path, text)[:2] == (0, "it is time, []\nTrue\nTrue\n")


def test_other_threads_read_clocks_meanwhile(tmp_path):
    text = """
import threading, time
import numpy as np

def spin(n):
    k, x = 0, 0.3
    while k < n:
        x = 3.7 * x * (1 - x)
        k += 1
    return x

def tick():
    while not done:
        ticks.append(time.time())
        time.sleep(0.01)

spin(3_000_000)
ticks, done = [], False
thread = threading.Thread(target=tick)
thread.start()
spin(500_000_000)
print(len(ticks) > 5)
done = True
thread.join()
"""
    assert run(tmp_path, text) == (0, "True\n", "")


def test_an_alarm_in_the_middle_of_a_translation_is_not_lost(monkeypatch):
    import signal

    import numpy as np

    import frit
    from frit.loops.nest import nest
    from frit.loops.run import site

    class Alarm(Exception):
        pass

    def raise_alarm(number, frame):
        raise Alarm

    def translate(inputs):
        os.kill(os.getpid(), signal.SIGUSR1)
        raise AssertionError("the handler has run")

    @frit.parallelize
    def doubled(a):
        for i in range(a.shape[0]):
            a[i] = 2 * a[i]

    before = signal.signal(signal.SIGUSR1, raise_alarm)
    try:
        monkeypatch.setattr(site, "question_of", lambda *_: None)  # nothing is kept of it
        monkeypatch.setattr(nest, "translate", translate)
        with pytest.raises(Alarm):
            doubled(np.ones(5))
        monkeypatch.undo()
        a = np.ones(5)
        doubled(a)
        assert a.tolist() == [2.0] * 5
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_fork_waits_for_another_threads_translation(tmp_path):
    """In the child that thread is gone, and what it was importing would stay locked."""
    text = f"""{SETUP}{NESTS["rows and columns"]}{A}
import gc, sys, threading
import frit.loops.nest.nest as nest
translate, has_begun, forks = nest.translate, threading.Event(), threading.Event()
has_ended = False
def slowly(inputs):
    global has_ended
    has_begun.set()
    forks.wait()
    made = translate(inputs)
    has_ended = True
    return made
nest.translate = slowly
os.register_at_fork(before=forks.set)
other = threading.Thread(target=work, args=(a.copy(), 3))
other.start()
has_begun.wait()
child = os.fork()
if child == 0:
    work(a, 3)
    os._exit(10 * has_ended + gc.isenabled())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
other.join()
"""
    assert run(tmp_path, text)[:2] == (0, "11\n")


def test_the_end_of_the_program_waits_for_no_nest_of_a_daemon_thread(tmp_path):
    text = f"""{SETUP}{NESTS["rows and columns"]}{A}
import sys, threading
other = threading.Thread(target=work, args=(a,), daemon=True)
other.start()
def is_in_nest():
    frame = sys._current_frames()[other.ident]
    name = frame.f_globals.get("__name__")
    return name == "frit.loops.run.site" and frame.f_code.co_name == "run"
while not is_in_nest():
    time.sleep(0.01)
sys.exit("done")
"""
    assert run(tmp_path, text) == (1, "", "done\n")


WHILE_NUMPY_IS_IMPORTED = """
import os, signal, sys

class Alarm(Exception):
    pass

def raise_alarm(number, frame):
    raise Alarm

def during_the_import(event, given, sent=[]):
    if event == "import" and given[0] == "numpy" and not sent:
        sent.append(event)
        os.kill(os.getpid(), signal.SIGALRM)

signal.signal(signal.SIGALRM, raise_alarm)
sys.addaudithook(during_the_import)

import frit

@frit.parallelize
def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total

assert "numpy" not in sys.modules
try:
    for _ in range(100):
        work(100_000)
except Alarm:
    print("alarm")
print(work(100_000), "numpy" in sys.modules)
import numpy
print(numpy.arange(3).sum())
"""


def test_a_handler_that_raises_while_the_engine_is_loaded_leaves_numpy_whole(tmp_path):
    """Extensions can't be imported twice: what is half there stays so."""
    path = tmp_path / "program.py"
    path.write_text(WHILE_NUMPY_IS_IMPORTED)
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("alarm\n333328333350000 True\n3\n", "")
