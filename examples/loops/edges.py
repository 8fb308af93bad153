"""edges.py: takes noise out of a picture, and finds its edges, pixel by pixel.

Source: I. Sobel, G. Feldman, "A 3x3 isotropic gradient operator for image processing" (1968).
"""

import argparse
import time

import numpy as np

ACROSS = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
DOWN = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])


def make_picture(size, seed=2):
    """Bright discs on a dark ground, uint8 (size, size); a pixel of fifty is lost."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] / size
    picture = np.full((size, size), 40.0)
    for cx, cy, r, light in [(0.3, 0.35, 0.2, 160), (0.65, 0.6, 0.25, 220), (0.75, 0.2, 0.1, 120)]:
        picture[(x - cx) ** 2 + (y - cy) ** 2 < r**2] = light
    lost = rng.random((size, size)) < 0.02
    picture[lost] = rng.choice([0, 255], lost.sum())
    return picture.astype(np.uint8)


def median_filter(picture):
    result = picture.astype(float)
    for i in range(1, picture.shape[0] - 1):
        for j in range(1, picture.shape[1] - 1):
            result[i, j] = np.median(picture[i - 1 : i + 2, j - 1 : j + 2])
    return result


def gradients(picture):
    result = np.zeros(picture.shape)
    for i in range(1, picture.shape[0] - 1):
        for j in range(1, picture.shape[1] - 1):
            window = picture[i - 1 : i + 2, j - 1 : j + 2]
            across = np.sum(window * ACROSS)
            down = np.sum(window * DOWN)
            result[i, j] = np.sqrt(across * across + down * down)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=400)
    options = parser.parse_args()
    picture = make_picture(options.size)
    start = time.perf_counter()
    clean = median_filter(picture)
    edges = gradients(clean)
    seconds = time.perf_counter() - start
    print(f"lost pixels: {np.mean(clean != picture):.4f}")
    print(f"edges: {np.mean(edges > 200):.4f}, steepest {edges.max():.3f}")
    print(f"seconds: {seconds:.3f}")


if __name__ == "__main__":
    main()
