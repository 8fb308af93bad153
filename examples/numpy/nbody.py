"""nbody.py: stars under gravity, every pair by broadcasting, moved by leapfrog steps."""

import argparse
import time
from pathlib import Path

import numpy as np

SOFTENING = 0.05


def make_cluster(size, seed=3):
    """Masses (size,), positions and velocities (size, 3) of a slowly turning ball of stars."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(0.5, 1.5, size) / size
    position = rng.normal(size=(size, 3)) * [1.0, 1.0, 0.3]
    velocity = 0.4 * np.cross(position, [0.0, 0.0, 1.0])
    velocity -= np.average(velocity, axis=0, weights=mass)
    return mass, position, velocity


def acceleration(position, mass):
    offset = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    square = (offset**2).sum(axis=2) + SOFTENING**2
    pull = mass / (square * np.sqrt(square))
    return (pull[:, :, np.newaxis] * offset).sum(axis=1)


def energy(position, velocity, mass):
    offset = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    distance = np.sqrt((offset**2).sum(axis=2) + SOFTENING**2)
    potential = -np.triu(mass[:, np.newaxis] * mass / distance, k=1).sum()
    kinetic = 0.5 * (mass * (velocity**2).sum(axis=1)).sum()
    return kinetic + potential


def move(position, velocity, mass, steps, dt=0.01):
    pull = acceleration(position, mass)
    for _ in range(steps):
        velocity += 0.5 * dt * pull
        position += dt * velocity
        pull = acceleration(position, mass)
        velocity += 0.5 * dt * pull
    return position, velocity


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=700, help="stars")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    for _ in range(args.repeat):
        mass, position, velocity = make_cluster(args.size)
        start = time.perf_counter()
        before = energy(position, velocity, mass)
        move(position, velocity, mass, args.steps)
        after = energy(position, velocity, mass)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"energy {after:.9f}, drift {abs(after / before - 1):.2e}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(
            args.output / "result.npz",
            position=position,
            velocity=velocity,
            energy=[before, after],
        )
        speed = np.linalg.norm(velocity, axis=1)
        pyplot.scatter(position[:, 0], position[:, 1], c=speed, s=600 * mass * args.size / 100)
        pyplot.axis("equal")
        pyplot.colorbar(label="speed")
        pyplot.savefig(args.output / "nbody.png", dpi=120)


if __name__ == "__main__":
    main()
