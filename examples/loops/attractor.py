"""attractor.py: follows Lorenz's attractor, and a satellite around a planet, by Runge-Kutta steps.

Sources: E. N. Lorenz, "Deterministic nonperiodic flow", Journal of the Atmospheric Sciences 20
(1963); W. Kutta, Zeitschrift fuer Mathematik und Physik 46 (1901).
"""

import argparse
import math
import time

import numpy as np


def lorenz(state, sigma=10.0, rho=28.0, beta=8 / 3):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def runge_kutta(slope, state, step):
    k1 = slope(state)
    k2 = slope(state + step / 2 * k1)
    k3 = slope(state + step / 2 * k2)
    k4 = slope(state + step * k3)
    return state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def trajectory(state, steps, step):
    """The states on the way: (steps + 1, 3)."""
    states = [state]
    for _ in range(steps):
        state = runge_kutta(lorenz, state, step)
        states.append(state)
    return np.array(states)


class Satellite:
    """Position and velocity in a plane; lengths in radii of the planet, GM = 1."""

    def __init__(self):
        self.position = np.array([2.0, 0.0])
        self.velocity = np.array([0.0, 0.6])
        self.time = 0.0
        self.lowest = 2.0

    def acceleration(self):
        x, y = self.position
        return -self.position / math.sqrt(x * x + y * y) ** 3

    def advance(self, step):
        """Leapfrog."""
        self.velocity = self.velocity + step / 2 * self.acceleration()
        self.position = self.position + step * self.velocity
        self.velocity = self.velocity + step / 2 * self.acceleration()
        self.time += step
        x, y = self.position
        self.lowest = min(self.lowest, math.sqrt(x * x + y * y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50_000)
    options = parser.parse_args()
    start = time.perf_counter()
    states = trajectory(np.array([1.0, 1.0, 1.0]), options.steps, 0.005)
    satellite, turns, above = Satellite(), 0, True
    for _ in range(options.steps):
        satellite.advance(0.002)
        if (satellite.position[1] > 0) != above:
            above = not above
            turns += 1
    seconds = time.perf_counter() - start
    sides = int((np.diff(np.sign(states[:, 0])) != 0).sum())
    print(f"Lorenz: {len(states)} states, {sides} changes of side, the last {states[-1].tolist()}")
    print(f"satellite: {turns // 2} turns in {satellite.time:.3f}, lowest {satellite.lowest!r}")
    print(f"seconds: {seconds:.3f}")


if __name__ == "__main__":
    main()
