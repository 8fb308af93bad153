"""test_residence.py: arrays that a device holds are everybody's, with one meaning."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy
import pytest

import frit
import frit.numpy as np

N = 40_000


def launches() -> int:
    return frit.statistics()["device_launches"]


def both(program):
    """The program's results under NumPy and under Frit."""
    return program(numpy), program(np)


def assert_equal(expected, found):
    assert len(expected) == len(found)
    for a, b in zip(expected, found, strict=True):
        assert numpy.asarray(b).tobytes() == numpy.asarray(a).tobytes()


def in_place(np):
    x = np.arange(float(N))
    y = x + 1
    x[5] = 7
    z = x * 2
    x *= 3
    return x, y, z


def views(np):
    u = np.arange(float(N)).reshape(200, 200).copy()
    inner = u[1:-1, 1:-1]
    for _ in range(4):
        inner += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * inner)
    t = u.T
    t[3] = u[:, 4] + 1
    return u, inner, t


def sums(np):
    x = np.linspace(-1, 1, N)
    rows = x.reshape(200, 200)
    return (
        x.sum(),
        rows.sum(0),
        rows.sum(1),
        rows.max(1),
        rows.mean(),
        (rows - rows.mean(1, keepdims=True)).std(0),
        (x > 0).sum(),
    )


def overlapping(np):
    x = np.arange(float(N))
    x[1:] += x[:-1]
    x[::2] += x[1::2]
    return (x,)


def on_host_between(np):
    x = np.arange(float(N))[::-1].copy()
    x += 1
    s = np.sort(x)
    x -= s
    x[np.argsort(s)[:3]] = -1
    return x, s, np.unique(x % 7)


def exported(np):
    x = np.arange(float(N))
    y = x * 2
    real = numpy.asarray(y)
    z = y + 1
    real[3] = 100
    w = y + 1
    return y, z, w


def products(np):
    a = np.arange(float(N)).reshape(200, 200) / N
    v = a[3] * 2
    return np.dot(v, v), a @ v, v @ a, (a @ a.T)[5]


@pytest.mark.parametrize("program", [in_place, views, sums, overlapping, on_host_between, exported])
def test_programs_give_numpys_bits(program, device):
    before = launches()
    expected, found = both(program)
    assert_equal(expected, found)
    assert launches() > before


def test_products_are_those_of_the_devices_library(device):
    expected, found = both(products)
    for a, b in zip(expected, found, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(b), a, rtol=1e-13)


def test_results_stay_until_somebody_reads_them(device):
    with np.errstate(all="ignore"):  # a test runner's filter of warnings makes operations immediate
        x = np.arange(float(N)) + 1
        frit.synchronize()
        before = frit.statistics()["bytes_downloaded"]
        for _ in range(5):
            x = x * 0.5 + 1
            frit.synchronize()
        assert frit.statistics()["bytes_downloaded"] == before
        assert float(x[7]) == float((numpy.arange(float(N)) + 1)[7] / 32 + 31 / 16)
    assert frit.statistics()["bytes_downloaded"] > before


def test_warnings_name_the_operation_and_the_line(device):
    x = np.linspace(-1, 1, N)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with np.errstate(all="warn"):
            y = np.sqrt(x)
            z = 1 / (x - x)
            frit.synchronize()
    assert sorted(str(w.message) for w in told) == [
        "divide by zero encountered in divide",
        "invalid value encountered in sqrt",
    ]
    assert all(w.filename == __file__ for w in told)
    del y, z


def test_an_error_state_raises_there(device):
    x = np.linspace(-1, 1, N)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
        numpy.asarray(np.sqrt(x))


def test_threads_use_arrays_of_one_another(device):
    shared = np.arange(float(N)) + 1
    wrong = []

    def work(k):
        for _ in range(20):
            y = shared * k + shared
            if float(y.sum()) != float((numpy.arange(float(N)) + 1).sum() * (k + 1)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_devices_take_turns(device):
    x = np.arange(float(N)) * 2
    y = x + 1
    with frit.device("cpu"):
        z = y * 3
        assert float(z[9]) == 57
        y += 1
    assert frit.get_device() == device
    assert float((y + z)[9]) == 77
    with pytest.raises(ValueError, match="set_device"):
        frit.set_device("gpu")


def process(program: str, **variables: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_arrays_make_room_for_others():
    said = process(
        """
        import numpy, frit
        import frit.numpy as np
        kept = [np.arange(50_000.0) + k for k in range(12)]
        for a in kept: frit.eval(a)
        total = kept[0]
        for a in kept[1:]: total = total + a
        huge = np.arange(1_000_000.0) * 2  # more than there is: on the host
        print(float(total[3]), float(huge[5]), sum(float(a[1]) for a in kept))
        """,
        FRIT_DEVICE="emulated",
        FRIT_EMULATED_MEMORY="3000000",
    )
    assert said == "102.0 10.0 78.0\n"


def test_explain_says_where_a_kernel_ran():
    said = process(
        """
        import frit, frit.numpy as np
        for n in 50_000, 1_000_000:
            x = np.arange(float(n))
            frit.eval(x)
            y = x * 2
            frit.eval(y)
            print(str(frit.explain()).splitlines()[1].partition("; ")[2])
        """,
        FRIT_DEVICE="emulated",
        FRIT_EMULATED_MEMORY="3000000",
    )
    assert said == "on the device\non the CPU: the device has no memory for it\n"


def test_memory_is_given_back():
    said = process(
        """
        import frit
        import frit.numpy as np
        for k in range(200):
            x = np.arange(50_000.0) * k
            y = x + 1
            frit.synchronize()
            del x, y
        print(frit.statistics()["device_launches"] >= 200)
        """,
        FRIT_DEVICE="emulated",
        FRIT_EMULATED_MEMORY="5000000",
    )
    assert said == "True\n"


def test_a_child_goes_on_without_the_device():
    said = process(
        """
        import os, sys
        import frit, frit.numpy as np
        x = np.arange(50_000.0) * 2
        frit.synchronize()
        pid = os.fork()
        if pid == 0:
            y = x + 1
            sys.stdout.write(f"{float(y[4])} {frit.get_device()} ")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)
        print(float((x + 1)[5]), frit.get_device())
        """,
        FRIT_DEVICE="emulated",
    )
    assert said == "9.0 cpu 11.0 emulated\n"


def test_without_a_gpu_the_cpu_does_it():
    ended = subprocess.run(
        [sys.executable, "-c", "import frit.numpy as np; print(float((np.ones(10**6) * 2).sum()))"],
        env=os.environ
        | {"FRIT_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": "", "FRIT_DEVICE_COST": "0"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0 and ended.stdout == "2000000.0\n"
    assert "the device can't be used, the CPU is" in ended.stderr


def test_dead_arrays_leave_nothing(device):
    x = np.arange(float(N)) + 1
    frit.synchronize()
    del x
    gc.collect()
    frit.synchronize()
