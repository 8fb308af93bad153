"""workloads.py: the 14 computations of the benchmark, as plain NumPy text, with their data.

Each function takes the module first, so that the same text runs under NumPy and under frit.numpy.
`n` is the number of elements of the largest array that the text makes (for N-body and k-means the
pairs), so that a size means the same amount of work per operation everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy

HEAT_STEPS = 100
CG_STEPS = 10
MANDELBROT_STEPS = 30
CLUSTERS = 8
TINY = 1e-30  # keeps conjugate gradients from 0 / 0 where it is done early (n = 1)
TAPS = (0.05, 0.25, 0.4, 0.25, 0.05)


def triad(np, a, b, c):
    return a + 3.0 * b - 0.5 * c


def chain(np, x, y):
    """Twenty cheap operations, one after the other."""
    t = x + y
    t = t * 0.5
    t = t - x
    t = t * y
    t = t + 1.0
    t = np.abs(t)
    t = np.sqrt(t)
    t = t * x
    t = np.maximum(t, y)
    t = t - 0.25
    t = t * t
    t = t + x
    t = t / (1.0 + y)
    t = np.minimum(t, 10.0)
    t = -t
    t = t + y
    t = t * 0.125
    t = t - y
    t = t * x
    return t


def normal_distribution(np, x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    upper = 1.0 - 0.3989422804014327 * np.exp(-0.5 * x * x) * tail
    return np.where(x < 0, 1.0 - upper, upper)


def black_scholes(np, spot, strike, years):
    rate, volatility = 0.03, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_distribution(np, d1) - discounted * normal_distribution(np, d2)
    put = call - spot + discounted
    return call, put


def softmax(np, x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(np, x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gain + bias


def log_sum_exp(np, x):
    largest = x.max()
    return largest + np.log(np.exp(x - largest).sum())


def monte_carlo(np, normal):
    """Price of a call from the end prices of many paths."""
    rate, volatility, years, spot, strike = 0.03, 0.3, 1.5, 100.0, 105.0
    drift = (rate - 0.5 * volatility**2) * years
    end = spot * np.exp(drift + volatility * math.sqrt(years) * normal)
    return math.exp(-rate * years) * np.maximum(end - strike, 0.0).mean()


def convolution(np, x):
    """One dimension, five taps, by slices."""
    n = len(x) - len(TAPS) + 1
    total = TAPS[0] * x[:n]
    for i in range(1, len(TAPS)):
        total = total + TAPS[i] * x[i : i + n]
    return total


def heat(np, plate):
    """In place: the plate that came in is the plate that goes out."""
    for _ in range(HEAT_STEPS):
        plate[1:-1, 1:-1] += 0.2 * (
            plate[2:, 1:-1]
            + plate[:-2, 1:-1]
            + plate[1:-1, 2:]
            + plate[1:-1, :-2]
            - 4.0 * plate[1:-1, 1:-1]
        )
    return plate


def nbody(np, mass, x, y, z):
    """Accelerations of bodies by all others."""
    dx = x - x[:, None]
    dy = y - y[:, None]
    dz = z - z[:, None]
    square = dx * dx + dy * dy + dz * dz + 0.01
    pull = mass / (square * np.sqrt(square))
    return (pull * dx).sum(axis=1), (pull * dy).sum(axis=1), (pull * dz).sum(axis=1)


def kmeans(np, points, centres):
    """The nearest centre of each point."""
    squares = ((points[:, None, :] - centres) ** 2).sum(axis=2)
    return squares.argmin(axis=1)


def mandelbrot_where(np, real, imaginary):
    x = np.zeros_like(real)
    y = np.zeros_like(real)
    count = np.zeros(real.shape, dtype=np.int32)
    for _ in range(MANDELBROT_STEPS):
        inside = x * x + y * y <= 4.0
        next_x = np.where(inside, x * x - y * y + real, x)
        y = np.where(inside, 2.0 * x * y + imaginary, y)
        x = next_x
        count = count + inside
    return count


def mandelbrot_masks(np, real, imaginary):
    x = np.zeros_like(real)
    y = np.zeros_like(real)
    count = np.zeros(real.shape, dtype=np.int32)
    inside = np.ones(real.shape, dtype=bool)
    for _ in range(MANDELBROT_STEPS):
        a, b = x[inside], y[inside]
        x[inside] = a * a - b * b + real[inside]
        y[inside] = 2.0 * a * b + imaginary[inside]
        inside &= x * x + y * y <= 4.0
        count[inside] += 1
    return count


def conjugate_gradients(np, b):
    """For the tridiagonal matrix (-1, 2.01, -1), by slices."""
    x = np.zeros_like(b)
    r = b.copy()
    p = b.copy()
    square = np.dot(r, r)
    for _ in range(CG_STEPS):
        product = 2.01 * p
        product[1:] -= p[:-1]
        product[:-1] -= p[1:]
        alpha = square / (np.dot(p, product) + TINY)
        x += alpha * p
        r -= alpha * product
        next_square = np.dot(r, r)
        p *= next_square / (square + TINY)
        p += r
        square = next_square
    return x


def vectors(count, low=0.1, high=2.0):
    """Makes data of `count` vectors of n numbers between low and high."""

    def make(rng, n):
        return [rng.uniform(low, high, n) for _ in range(count)]

    return make


def row_length(n):
    return 1000 if n >= 10_000 else min(n, 100 if n >= 1000 else 10)


def rows_data(rng, n):
    length = row_length(n)
    return [rng.normal(size=(n // length, length))]


def layernorm_data(rng, n):
    length = row_length(n)
    return [*rows_data(rng, n), rng.normal(size=length), rng.normal(size=length)]


def options_data(rng, n):
    spot = rng.uniform(80, 120, n)
    return [spot, spot * rng.uniform(0.8, 1.2, n), rng.uniform(0.25, 2, n)]


def plate_data(rng, n):
    plate = rng.uniform(0.2, 0.3, (math.isqrt(n) + 2, math.isqrt(n) + 2))
    plate[0] = 1.0
    return [plate]


def signal_data(rng, n):
    return [rng.uniform(0.1, 2.0, n + len(TAPS) - 1)]


def bodies_data(rng, n):
    bodies = math.isqrt(n)
    return [rng.uniform(0.5, 1.5, bodies), *rng.normal(size=(3, bodies))]


def clusters_data(rng, n):
    return [rng.normal(size=(max(1, n // CLUSTERS), 3)), rng.normal(size=(CLUSTERS, 3))]


def plane_data(rng, n):
    return [rng.uniform(-2, 0.6, n), rng.uniform(-1.2, 1.2, n)]


# A result of nothing but + - * / sqrt, comparisons and NumPy's own sums is NumPy's bit for bit.
EXACT = 0.0


@dataclass(frozen=True)
class Workload:
    """One computation: its text, its data, its largest n, and what it may differ from NumPy."""

    name: str
    function: Callable
    make: Callable  # (rng, n) -> list of float64 arrays
    largest: int
    tolerance_in_eps: float  # Frit against NumPy, in units of the dtype's epsilon
    mutates: bool = False  # the first argument is changed
    # Arrays of n elements that must move between memory and CPU, counting each input and output
    # once; None where time goes into arithmetic or where data is passed over more than once.
    must_move: int | None = None

    def data(self, n: int, dtype: str) -> list[numpy.ndarray]:
        rng = numpy.random.default_rng([n, len(self.name)])
        return [numpy.ascontiguousarray(x, dtype=dtype) for x in self.make(rng, n)]


WORKLOADS = (
    Workload("triad", triad, vectors(3), 10**7, EXACT, must_move=4),
    Workload("chain", chain, vectors(2), 10**7, EXACT, must_move=3),
    Workload("black_scholes", black_scholes, options_data, 4 * 10**6, 64),
    Workload("softmax", softmax, rows_data, 10**7, 16, must_move=2),
    Workload("layernorm", layernorm, layernorm_data, 10**7, EXACT, must_move=2),
    Workload("log_sum_exp", log_sum_exp, vectors(1), 10**7, 16),
    Workload("monte_carlo", monte_carlo, vectors(1, -2.0, 2.0), 10**7, 16),
    Workload("convolution", convolution, signal_data, 10**7, EXACT, must_move=2),
    Workload("heat", heat, plate_data, 2 * 10**6, EXACT, mutates=True),
    Workload("nbody", nbody, bodies_data, 4 * 10**6, EXACT),
    Workload("kmeans", kmeans, clusters_data, 4 * 10**6, EXACT),
    Workload("mandelbrot_where", mandelbrot_where, plane_data, 10**6, EXACT),
    Workload("mandelbrot_masks", mandelbrot_masks, plane_data, 10**6, EXACT),
    Workload("conjugate_gradients", conjugate_gradients, vectors(1), 4 * 10**6, 64),
)
BY_NAME = {workload.name: workload for workload in WORKLOADS}
SMALL_SIZES = (1, 100, 1_000, 100_000)


def sizes_of(workload: Workload) -> tuple[int, ...]:
    return (*SMALL_SIZES, workload.largest)
