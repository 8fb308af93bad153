"""heat2d.py: a plate with hot edges and a cooled disc, by explicit steps on slices, in place."""

import argparse
import time
from pathlib import Path

import numpy as np


def cooled_disc(size):
    """Mask of the cells that a pipe through the plate holds at temperature 0."""
    y, x = np.ogrid[:size, :size]
    return (x - 0.6 * size) ** 2 + (y - 0.4 * size) ** 2 < (0.12 * size) ** 2


def warm(size, steps, conductivity=0.2):
    """Returns the temperatures after `steps`, and the mean temperature every tenth of the way."""
    plate = np.full((size, size), 20.0)
    plate[0, :] = 100.0
    plate[:, 0] = np.linspace(100.0, 20.0, size)
    pipe = cooled_disc(size)
    history = []
    for step in range(steps):
        plate[1:-1, 1:-1] += conductivity * (
            plate[2:, 1:-1]
            + plate[:-2, 1:-1]
            + plate[1:-1, 2:]
            + plate[1:-1, :-2]
            - 4 * plate[1:-1, 1:-1]
        )
        plate[pipe] = 0.0
        if step % max(1, steps // 10) == 0:
            history.append(plate.mean())
    return plate, np.array(history)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=400, help="cells on each side")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    for _ in range(args.repeat):
        start = time.perf_counter()
        plate, history = warm(args.size, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    quarter = args.size // 4
    print(f"mean temperature {plate.mean():.9f}, inside {plate[quarter, quarter]:.9f}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", plate=plate, history=history)
        pyplot.imsave(args.output / "heat2d.png", plate, cmap="inferno")


if __name__ == "__main__":
    main()
