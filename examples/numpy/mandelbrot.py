"""mandelbrot.py: the Mandelbrot set, with boolean masks for the points still inside."""

import argparse
import time
from pathlib import Path

import numpy as np


def make_plane(size, centre=-0.743643 + 0.131825j, width=0.02):
    """Complex numbers of a picture `size` wide and 3/4 as high."""
    x = np.linspace(-0.5, 0.5, size) * width + centre.real
    y = np.linspace(-0.375, 0.375, size * 3 // 4) * width + centre.imag
    return x + 1j * y[:, np.newaxis]


def escape(c, steps):
    """The step at which each point left the disc of radius 2 (or `steps`), and its last place."""
    z = np.zeros_like(c)
    count = np.full(c.shape, steps)
    inside = np.ones(c.shape, dtype=bool)
    for step in range(steps):
        z[inside] = z[inside] ** 2 + c[inside]
        escaped = inside & (z.real**2 + z.imag**2 > 4)
        count[escaped] = step
        inside &= ~escaped
    return count, z


def shade(count, z, steps):
    """Colour in 0..1 without bands: the count, corrected by how far the point went."""
    radius = np.maximum(np.abs(z), 1.0 + 1e-9)
    smooth = count + 1 - np.log2(np.maximum(np.log2(radius), 1e-9))
    return np.where(count < steps, np.sqrt(np.clip(smooth / steps, 0, 1)), 0.0)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=900, help="width of the picture")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    for _ in range(args.repeat):
        start = time.perf_counter()
        count, z = escape(make_plane(args.size), args.steps)
        picture = shade(count, z, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"points that never escaped {(count == args.steps).sum()}; mean count {count.mean():.9f}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", count=count, z=z, picture=picture)
        pyplot.imsave(args.output / "mandelbrot.png", picture, cmap="twilight_shifted")


if __name__ == "__main__":
    main()
