"""pulse.py: an electromagnetic pulse between metal walls, by finite differences in time (FDTD).

Source: K. Yee, "Numerical solution of initial boundary value problems involving Maxwell's
equations in isotropic media", IEEE Transactions on Antennas and Propagation 14 (1966). Units in
which the speed of light and the cells are 1; a time step is half a cell.
"""

import argparse
import math
import time

import numpy as np

STEP = 0.5


def run(ex, ey, hz, loss, steps, source):
    """Advances the fields, float64 (n, m), in place; the source stands in the middle."""
    n, m = hz.shape
    for t in range(steps):
        for i in range(n):
            for j in range(1, m):
                ex[i, j] = loss[i, j] * (ex[i, j] + STEP * (hz[i, j] - hz[i, j - 1]))
        for i in range(1, n):
            for j in range(m):
                ey[i, j] = loss[i, j] * (ey[i, j] - STEP * (hz[i, j] - hz[i - 1, j]))
        for j in range(m):
            ey[0, j] = 0.0
            ey[n - 1, j] = 0.0
        for i in range(n):
            ex[i, 0] = 0.0
            ex[i, m - 1] = 0.0
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= STEP * (ey[i + 1, j] - ey[i, j] - ex[i, j + 1] + ex[i, j])
        for j in range(m // 2 - 4, m // 2 + 4):
            hz[n // 2, j] += source[t]


def energy(ex, ey, hz):
    total = 0.0
    for i in range(hz.shape[0]):
        for j in range(hz.shape[1]):
            total += ex[i, j] ** 2 + ey[i, j] ** 2 + hz[i, j] ** 2
    return total / 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    shape = options.size, options.size
    ex, ey, hz = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    loss = np.ones(shape)
    loss[: options.size // 4] = 0.97
    source = np.array([math.exp(-(((t - 30) / 10) ** 2)) for t in range(options.steps)])
    start = time.perf_counter()
    run(ex, ey, hz, loss, options.steps, source)
    took = time.perf_counter() - start
    print(f"energy: {energy(ex, ey, hz):.6e}")
    print(f"field at the source: {hz[options.size // 2, options.size // 2]:.9e}")
    print(f"seconds: {took:.3f}")


if __name__ == "__main__":
    main()
