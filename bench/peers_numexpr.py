"""peers_numexpr.py: the elementwise workloads, rewritten as numexpr's strings.

A number in the string makes numexpr compute in float64, also where all arrays are float32.
"""
# ruff: noqa: F841  (numexpr finds its operands by the names of local variables)

import math
import os

import numexpr
import numpy as np
from numexpr import evaluate
from workloads import MANDELBROT_STEPS

VERSION = numexpr.__version__
numexpr.set_num_threads(int(os.environ.get("NUMEXPR_NUM_THREADS", "1")))


prepare = np.array
force = None


def triad(a, b, c):
    return evaluate("a + 3.0 * b - 0.5 * c")


def chain(x, y):
    t = evaluate("sqrt(abs(((x + y) * 0.5 - x) * y + 1.0)) * x")
    # numexpr has no elementwise maximum of its own: where does it.
    t = evaluate("where(t > y, t, y) - 0.25")
    t = evaluate("(t * t + x) / (1.0 + y)")
    return evaluate("((y - where(t < 10.0, t, 10.0)) * 0.125 - y) * x")


poly = (
    "k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978"
    " + k * 1.330274429))))"
)


def normal_distribution(x):
    k = evaluate("1.0 / (1.0 + 0.2316419 * abs(x))")
    upper = evaluate(f"1.0 - 0.3989422804014327 * exp(-0.5 * x * x) * {poly}")
    return evaluate("where(x < 0, 1.0 - upper, upper)")


def black_scholes(spot, strike, years):
    d1 = evaluate("(log(spot / strike) + 0.075 * years) / (0.3 * sqrt(years))")
    d2 = evaluate("d1 - 0.3 * sqrt(years)")
    n1, n2 = normal_distribution(d1), normal_distribution(d2)
    call = evaluate("spot * n1 - strike * exp(-0.03 * years) * n2")
    return call, evaluate("call - spot + strike * exp(-0.03 * years)")


def softmax(x):
    largest = x.max(axis=1, keepdims=True)
    e = evaluate("exp(x - largest)")
    total = e.sum(axis=1, keepdims=True)
    return evaluate("e / total")


def layernorm(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    variance = evaluate("(x - mean) ** 2").mean(axis=1, keepdims=True)
    return evaluate("(x - mean) / sqrt(variance + 1e-5) * gain + bias")


def log_sum_exp(x):
    largest = x.max()
    return largest + np.log(evaluate("sum(exp(x - largest))"))


def monte_carlo(normal):
    drift, spread = (0.03 - 0.045) * 1.5, 0.3 * math.sqrt(1.5)
    end = evaluate("100.0 * exp(drift + spread * normal)")
    total = evaluate("sum(where(end > 105.0, end - 105.0, 0.0))")
    return math.exp(-0.03 * 1.5) * total / len(normal)


def convolution(x):
    n = len(x) - 4
    a, b, c, d, e = (x[i : i + n] for i in range(5))
    return evaluate("0.05 * a + 0.25 * b + 0.4 * c + 0.25 * d + 0.05 * e")


def mandelbrot_where(cx, cy):
    x = np.zeros_like(cx)
    y = np.zeros_like(cx)
    count = np.zeros(cx.shape, dtype=np.int32)
    for _ in range(MANDELBROT_STEPS):
        inside = evaluate("x * x + y * y <= 4.0")
        next_x = evaluate("where(inside, x * x - y * y + cx, x)")
        y = evaluate("where(inside, 2.0 * x * y + cy, y)")
        x = next_x
        count += inside
    return count
