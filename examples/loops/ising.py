"""ising.py: a magnet is heated: Metropolis' algorithm on the square lattice.

Source: N. Metropolis et al., "Equation of state calculations by fast computing machines", Journal
of Chemical Physics 21 (1953).
"""

import argparse
import time

import numpy as np


def sweep(spins, temperature):
    """As many attempts as there are spins. Energies in units of the coupling."""
    n = spins.shape[0]
    for _ in range(n * n):
        i = np.random.randint(n)
        j = np.random.randint(n)
        around = spins[i - 1, j] + spins[(i + 1) % n, j] + spins[i, j - 1] + spins[i, (j + 1) % n]
        cost = 2 * spins[i, j] * around
        if cost <= 0 or np.random.rand() < np.exp(-cost / temperature):
            spins[i, j] = -spins[i, j]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    np.random.seed(1)
    spins = np.ones((options.size, options.size), dtype=int)
    start = time.perf_counter()
    for temperature in (1.5, 2.0, 2.27, 2.6, 3.5):
        for _ in range(options.steps):
            sweep(spins, temperature)
        print(f"temperature {temperature}: magnetisation {abs(spins.mean()):.4f}")
    print(f"seconds: {time.perf_counter() - start:.3f}")


if __name__ == "__main__":
    main()
