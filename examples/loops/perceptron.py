"""perceptron.py: learns to tell two kinds of points apart, one point at a time.

Source: F. Rosenblatt, "The perceptron", Psychological Review 65 (1958).
"""

import argparse
import time

import numpy as np


class Perceptron:
    def __init__(self, features, rate, seed):
        self.rng = np.random.default_rng(seed)
        self.weights = np.zeros(features)
        self.bias = 0.0
        self.rate = rate

    def train(self, points, kinds, steps):
        """Points (n, features), kinds -1 or 1; the number of mistakes on the way."""
        mistakes = 0
        for _ in range(steps):
            k = self.rng.integers(len(points))
            if kinds[k] * (np.dot(points[k], self.weights) + self.bias) <= 0:
                self.weights += self.rate * kinds[k] * points[k]
                self.bias += self.rate * kinds[k]
                mistakes += 1
        return mistakes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=600000)
    options = parser.parse_args()
    rng = np.random.default_rng(3)
    points = rng.integers(-8, 9, (options.size, 12)) / 4
    kinds = np.where(points @ np.arange(-5.0, 7.0) > 0.5, 1, -1)
    model = Perceptron(points.shape[1], 0.25, seed=4)
    start = time.perf_counter()
    mistakes = model.train(points, kinds, options.steps)
    seconds = time.perf_counter() - start
    right = np.mean(np.where(points @ model.weights + model.bias > 0, 1, -1) == kinds)
    print(f"mistakes on the way: {mistakes}, right at the end: {right:.4f}")
    print(f"weights: {model.weights.tolist()}, bias {model.bias}")
    print(f"seconds: {seconds:.3f}")


if __name__ == "__main__":
    main()
