"""kmeans.py: groups points around moving centres by Lloyd's algorithm.

Source: S. P. Lloyd, "Least squares quantization in PCM", IEEE Trans. Information Theory 28 (1982).
"""

import argparse
import time
from pathlib import Path

import numpy as np


def make_points(size, groups, seed=4):
    """Points (size, 2) around `groups` hidden places, some groups wider than others."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-10, 10, (groups, 2))
    widths = rng.uniform(0.4, 1.6, groups)
    chosen = rng.integers(groups, size=size)
    return places[chosen] + widths[chosen, np.newaxis] * rng.normal(size=(size, 2))


def first_centres(points, groups, sample=2000):
    """The point of a sample that is farthest from all centres so far, again and again."""
    sample = points[:sample]
    centres = [sample[0]]
    nearest = ((sample - centres[0]) ** 2).sum(axis=1)
    for _ in range(groups - 1):
        centres.append(sample[nearest.argmax()])
        nearest = np.minimum(nearest, ((sample - centres[-1]) ** 2).sum(axis=1))
    return np.array(centres)


def cluster(points, groups, steps):
    """Returns the centres, the label of each point, and the sum of squared distances per step."""
    centres = first_centres(points, groups)
    history = []
    for _ in range(steps):
        squares = ((points[:, np.newaxis, :] - centres) ** 2).sum(axis=2)
        labels = squares.argmin(axis=1)
        history.append(squares.min(axis=1).sum())
        for group in range(groups):
            members = points[labels == group]
            if len(members):
                centres[group] = members.mean(axis=0)
    return centres, labels, np.array(history)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=60_000, help="points")
    parser.add_argument("--groups", type=int, default=12)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    points = make_points(args.size, args.groups)
    for _ in range(args.repeat):
        start = time.perf_counter()
        centres, labels, history = cluster(points, args.groups, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"mean squared distance {history[-1] / args.size:.9f}; sizes {np.bincount(labels)}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", centres=centres, labels=labels, history=history)
        pyplot.scatter(points[:, 0], points[:, 1], c=labels, s=1, cmap="tab20")
        pyplot.scatter(centres[:, 0], centres[:, 1], c="black", marker="x")
        pyplot.savefig(args.output / "kmeans.png", dpi=120)


if __name__ == "__main__":
    main()
