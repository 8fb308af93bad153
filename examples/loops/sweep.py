"""sweep.py: van der Pol's oscillator for several dampings and methods, with a report now and then.

Source: B. van der Pol, "On relaxation-oscillations", Philosophical Magazine 2 (1926). Units: none.
"""

import argparse
import time

import numpy as np


def solve(force, x, v, steps, step, method="heun", report=0):
    """The state at the end, how often x has risen through 0, and its greatest value."""
    risen, most = 0, x
    for k in range(steps):
        before = x
        if method == "symplectic":
            v += step * force(x, v)
            x += step * v
        elif method == "heun":
            a = force(x, v)
            x1, v1 = x + step * v, v + step * a
            x += 0.5 * step * (v + v1)
            v += 0.5 * step * (a + force(x1, v1))
        else:
            raise ValueError(f"no such method: {method}")
        if before < 0 <= x:
            risen += 1
        most = max(most, x)
        if report and k % report == 0:
            print(f"    t = {k * step:8.2f}  x = {x:9.6f}  v = {v:9.6f}")
        if abs(x) > 1e6:
            print(f"    left its orbit at t = {k * step:.2f}")
            break
    return x, v, risen, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400_000)
    options = parser.parse_args()
    start = time.perf_counter()
    for method in ("heun", "symplectic"):
        for damping in np.linspace(0.25, 2.0, 8):
            force = lambda x, v: damping * (1 - x * x) * v - x  # noqa: B023, E731
            found = solve(force, 0.5, 0.0, options.steps, 1e-3, method, options.steps // 4)
            x, v, risen, most = found
            print(f"{method:10} {damping:.2f}: {risen} turns, to {most:.6f}; {x:.12f} {v:.12f}")
    print(f"seconds: {time.perf_counter() - start:.2f}")


if __name__ == "__main__":
    main()
