"""pulse.py: a laser pulse in a gain medium: NumPy calls, a plain loop and a PyKokkos kernel as one.

    python -m frit examples/together/pulse.py [points]

The pulse is NumPy's, its amplification (which saturates) a loop, its absorption a kernel; the
energy and the peak are NumPy's again. All of a step is one pass over memory.
"""

import sys
import time

import numpy as np
import pykokkos as pk


def amplify(field, gain, top):
    for i in range(len(field)):
        strength = field[i] * gain
        field[i] = strength if strength < top else top + 0.5 * (strength - top)


@pk.workunit
def absorb(i, field, x, rate):
    field[i] *= 1.0 - rate * abs(x[i])


def step(x, field, gain):
    field *= 1.0 + 0.01 * np.cos(3.0 * x)
    amplify(field, gain, 1.0)
    pk.parallel_for(len(field), absorb, field=field, x=x, rate=0.05)
    return (field * field).mean(), field.max()


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    x = np.linspace(-1.0, 1.0, n)
    field = np.exp(-40.0 * x * x)
    for _ in range(5):  # while the compiler works
        energy, peak = step(x, field, 1.02)
        print(f"energy {energy:.6f}  peak {peak:.6f}")
    start = time.perf_counter()
    for _ in range(20):
        energy, peak = step(x, field, 1.02)
        energy, peak = float(energy), float(peak)
    seconds = (time.perf_counter() - start) / 20
    print(f"energy {energy:.6f}  peak {peak:.6f}")
    print(f"{seconds * 1e3:.2f} ms a step", file=sys.stderr)


if __name__ == "__main__":
    main()
