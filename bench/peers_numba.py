"""peers_numba.py: the workloads, rewritten as loops for Numba's parallel compiler."""

import math
import os

import numba
import numpy as np
from numba import prange
from workloads import CG_STEPS, HEAT_STEPS, MANDELBROT_STEPS, TAPS, TINY

VERSION = numba.__version__
numba.set_num_threads(int(os.environ.get("NUMBA_NUM_THREADS", "1")))
parallel = numba.njit(parallel=True)


prepare = np.array
force = None


@parallel
def triad(a, b, c):
    out = np.empty_like(a)
    for i in prange(len(a)):
        out[i] = a[i] + 3.0 * b[i] - 0.5 * c[i]
    return out


@parallel
def chain(x, y):
    out = np.empty_like(x)
    for i in prange(len(x)):
        t = math.sqrt(abs(((x[i] + y[i]) * 0.5 - x[i]) * y[i] + 1.0)) * x[i]
        t = max(t, y[i]) - 0.25
        t = (t * t + x[i]) / (1.0 + y[i])
        out[i] = ((y[i] - min(t, 10.0)) * 0.125 - y[i]) * x[i]
    return out


@numba.njit(inline="always")
def normal_distribution(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    tail = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    upper = 1.0 - 0.3989422804014327 * math.exp(-0.5 * x * x) * tail
    return 1.0 - upper if x < 0 else upper


@parallel
def black_scholes(spot, strike, years):
    call = np.empty_like(spot)
    put = np.empty_like(spot)
    for i in prange(len(spot)):
        spread = 0.3 * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + 0.075 * years[i]) / spread
        discounted = strike[i] * math.exp(-0.03 * years[i])
        price = spot[i] * normal_distribution(d1)
        price -= discounted * normal_distribution(d1 - spread)
        call[i] = price
        put[i] = price - spot[i] + discounted
    return call, put


@parallel
def softmax(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        largest = x[i].max()
        total = 0.0
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - largest)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


@parallel
def layernorm(x, gain, bias):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        mean = x[i].sum() / x.shape[1]
        variance = 0.0
        for j in range(x.shape[1]):
            variance += (x[i, j] - mean) ** 2
        scale = 1.0 / math.sqrt(variance / x.shape[1] + 1e-5)
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]
    return out


@parallel
def log_sum_exp(x):
    largest = x.max()
    total = 0.0
    for i in prange(len(x)):
        total += math.exp(x[i] - largest)
    return largest + math.log(total)


@parallel
def monte_carlo(normal):
    drift = (0.03 - 0.045) * 1.5
    spread = 0.3 * math.sqrt(1.5)
    total = 0.0
    for i in prange(len(normal)):
        total += max(100.0 * math.exp(drift + spread * normal[i]) - 105.0, 0.0)
    return math.exp(-0.03 * 1.5) * total / len(normal)


@parallel
def convolution(x):
    n = len(x) - 4
    out = np.empty(n, dtype=x.dtype)
    for i in prange(n):
        out[i] = (
            TAPS[0] * x[i]
            + TAPS[1] * x[i + 1]
            + TAPS[2] * x[i + 2]
            + TAPS[3] * x[i + 3]
            + TAPS[4] * x[i + 4]
        )
    return out


@parallel
def heat(plate):
    source, target = plate, plate.copy()
    for _ in range(HEAT_STEPS):
        for i in prange(1, plate.shape[0] - 1):
            for j in range(1, plate.shape[1] - 1):
                target[i, j] = source[i, j] + 0.2 * (
                    source[i + 1, j]
                    + source[i - 1, j]
                    + source[i, j + 1]
                    + source[i, j - 1]
                    - 4.0 * source[i, j]
                )
        source, target = target, source
    return source  # the steps are even in number: this is the plate that came in


@parallel
def nbody(mass, x, y, z):
    ax = np.empty_like(x)
    ay = np.empty_like(x)
    az = np.empty_like(x)
    for i in prange(len(x)):
        sum_x = sum_y = sum_z = 0.0
        for j in range(len(x)):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + 0.01
            pull = mass[j] / (square * math.sqrt(square))
            sum_x += pull * dx
            sum_y += pull * dy
            sum_z += pull * dz
        ax[i], ay[i], az[i] = sum_x, sum_y, sum_z
    return ax, ay, az


@parallel
def kmeans(points, centres):
    labels = np.empty(len(points), dtype=np.int64)
    for i in prange(len(points)):
        best = np.inf
        for k in range(len(centres)):
            square = 0.0
            for axis in range(points.shape[1]):
                square += (points[i, axis] - centres[k, axis]) ** 2
            if square < best:
                best = square
                labels[i] = k
    return labels


@parallel
def mandelbrot_where(real, imaginary):
    count = np.empty(len(real), dtype=np.int32)
    for i in prange(len(real)):
        x = y = 0.0
        steps = 0
        while steps < MANDELBROT_STEPS and x * x + y * y <= 4.0:
            x, y = x * x - y * y + real[i], 2.0 * x * y + imaginary[i]
            steps += 1
        count[i] = steps
    return count


@parallel
def mandelbrot_masks(real, imaginary):
    count = np.empty(len(real), dtype=np.int32)
    for i in prange(len(real)):
        x = y = 0.0
        steps = 0
        for _ in range(MANDELBROT_STEPS):
            x, y = x * x - y * y + real[i], 2.0 * x * y + imaginary[i]
            if x * x + y * y > 4.0:
                break
            steps += 1
        count[i] = steps
    return count


@parallel
def conjugate_gradients(b):
    n = len(b)
    x = np.zeros_like(b)
    r = b.copy()
    p = b.copy()
    product = np.empty_like(b)
    square = 0.0
    for i in prange(n):
        square += r[i] * r[i]
    for _ in range(CG_STEPS):
        curvature = 0.0
        for i in prange(n):
            t = 2.01 * p[i]
            if i > 0:
                t -= p[i - 1]
            if i < n - 1:
                t -= p[i + 1]
            product[i] = t
            curvature += p[i] * t
        alpha = square / (curvature + TINY)
        next_square = 0.0
        for i in prange(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * product[i]
            next_square += r[i] * r[i]
        beta = next_square / (square + TINY)
        for i in prange(n):
            p[i] = p[i] * beta + r[i]
        square = next_square
    return x
