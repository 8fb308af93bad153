"""gray_scott.py: two chemicals that react and diffuse, updated in place on views of padded arrays.

Source: J. E. Pearson, "Complex Patterns in a Simple System", Science 261 (1993).
"""

import argparse
import time
from pathlib import Path

import numpy as np


def initial_state(size, seed=1):
    """Two fields of side size + 2 (the ring is padding): u is 1, v is 0, but for noisy squares."""
    rng = np.random.default_rng(seed)
    u = np.ones((size + 2, size + 2))
    v = np.zeros((size + 2, size + 2))
    for row, column in rng.integers(size // 10, size - size // 10, (12, 2)):
        u[row : row + size // 20, column : column + size // 20] = 0.50
        v[row : row + size // 20, column : column + size // 20] = 0.25
    u += 0.02 * rng.uniform(-1, 1, u.shape)
    v += 0.02 * rng.uniform(0, 1, v.shape)
    return u, v


def laplacian(z):
    return z[:-2, 1:-1] + z[1:-1, :-2] - 4 * z[1:-1, 1:-1] + z[1:-1, 2:] + z[2:, 1:-1]


def wrap_edges(z):
    """Copies the opposite edge into the padding: the plane becomes a torus."""
    z[0, :] = z[-2, :]
    z[-1, :] = z[1, :]
    z[:, 0] = z[:, -2]
    z[:, -1] = z[:, 1]


def simulate(padded_u, padded_v, steps, du=0.16, dv=0.08, feed=0.060, kill=0.062):
    u = padded_u[1:-1, 1:-1]
    v = padded_v[1:-1, 1:-1]
    for _ in range(steps):
        reaction = u * v * v
        u += du * laplacian(padded_u) - reaction + feed * (1 - u)
        v += dv * laplacian(padded_v) + reaction - (feed + kill) * v
        wrap_edges(padded_u)
        wrap_edges(padded_v)
    return u, v


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=256, help="cells on each side")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    for _ in range(args.repeat):
        padded_u, padded_v = initial_state(args.size)
        start = time.perf_counter()
        u, v = simulate(padded_u, padded_v, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"mean of u {u.mean():.9f}, of v {v.mean():.9f}; largest v {v.max():.9f}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", u=u, v=v)
        pyplot.imsave(args.output / "gray_scott.png", v, cmap="magma")


if __name__ == "__main__":
    main()
