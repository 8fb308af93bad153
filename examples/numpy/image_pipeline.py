"""image_pipeline.py: develops a photograph: linear light, denoise, sharpen, tone, vignette, edges.

The photograph is the portrait of Grace Hopper that matplotlib ships; --image takes another.
Source of the denoiser: C. Tomasi and R. Manduchi, "Bilateral filtering", ICCV 1998.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from PIL import Image

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def load(path, width):
    """The photograph as uint8 (height, width, 3)."""
    if path is None:
        from matplotlib import cbook

        path = cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    image = Image.open(path).convert("RGB")
    return np.array(image.resize((width, image.height * width // image.width), Image.LANCZOS))


def decode(photo):
    """sRGB bytes to linear light in 0..1."""
    x = photo / 255.0
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def encode(light):
    """Linear light to sRGB bytes."""
    x = np.clip(light, 0.0, 1.0)
    x = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    return np.rint(255 * x).astype(np.uint8)


def bilateral(plane, radius, reach, contrast):
    """Averages neighbours that are near in place and in brightness, so that edges stay."""
    height, width = plane.shape
    padded = np.pad(plane, radius, mode="edge")
    total = np.zeros_like(plane)
    weights = np.zeros_like(plane)
    for dy in range(2 * radius + 1):
        for dx in range(2 * radius + 1):
            other = padded[dy : dy + height, dx : dx + width]
            away = ((dy - radius) ** 2 + (dx - radius) ** 2) / (2 * reach**2)
            weight = np.exp(-away - (other - plane) ** 2 / (2 * contrast**2))
            total += weight * other
            weights += weight
    return total / weights


def blur(plane, radius):
    """Gaussian blur, one axis after the other."""
    offsets = np.arange(-radius, radius + 1)
    kernel = np.exp(-0.5 * (2.0 * offsets / radius) ** 2)
    kernel /= kernel.sum()
    height, width = plane.shape
    padded = np.pad(plane, radius, mode="edge")
    rows = sum(k * padded[i : i + height, :] for i, k in enumerate(kernel))
    return sum(k * rows[:, i : i + width] for i, k in enumerate(kernel))


def edges(plane):
    """Strength of Sobel's gradient; the border is 0."""
    p = plane
    right = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    down = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    strength = np.zeros_like(plane)
    strength[1:-1, 1:-1] = np.sqrt(right**2 + down**2)
    return strength


def vignette(height, width):
    y = np.linspace(-1, 1, height)[:, np.newaxis]
    x = np.linspace(-1, 1, width)
    return 1 - 0.35 * np.clip(x**2 + y**2 - 0.4, 0, None)


def develop(photo, radius):
    """Returns the finished picture (uint8) and the luminance (float64) and edges that led to it."""
    light = decode(photo)
    luminance = (light * LUMINANCE).sum(axis=2)
    smooth = bilateral(np.sqrt(luminance), radius, reach=2.0, contrast=0.05) ** 2
    sharp = np.maximum(smooth + 0.8 * (luminance - blur(luminance, radius)), 0)
    exposed = sharp * 0.08 / np.exp(np.log(luminance + 1e-4).mean())
    toned = exposed * (1 + exposed / 1.5) / (1 + exposed)
    toned = toned * vignette(*toned.shape)
    colours = light / (luminance[:, :, np.newaxis] + 1e-6)
    grey = toned[:, :, np.newaxis]
    return encode(grey * (0.1 + 0.9 * colours)), toned, edges(np.sqrt(smooth))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=900, help="width of the picture")
    parser.add_argument("--steps", type=int, default=4, help="radius of the filters")
    parser.add_argument("--image", type=Path, help="photograph to develop")
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the pictures and result.npz")
    args = parser.parse_args(argv)

    photo = load(args.image, args.size)
    for _ in range(args.repeat):
        start = time.perf_counter()
        picture, luminance, outline = develop(photo, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"mean byte {picture.mean():.9f}, mean luminance {luminance.mean():.9f}")

    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", picture=picture, luminance=luminance, outline=outline)
        Image.fromarray(picture).save(args.output / "image_pipeline.png")
        ink = 255 * (1 - np.clip(outline / np.quantile(outline, 0.98), 0, 1))
        Image.fromarray(ink.astype(np.uint8)).save(args.output / "image_pipeline_edges.png")


if __name__ == "__main__":
    main()
