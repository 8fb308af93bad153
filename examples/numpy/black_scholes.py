"""black_scholes.py: prices options, then finds the volatilities back by Newton steps.

Source: F. Black and M. Scholes, J. Political Economy 81 (1973); the normal distribution by
Abramowitz and Stegun 26.2.17.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np


def normal_density(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def normal_distribution(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    upper = 1.0 - normal_density(x) * tail
    return np.where(x < 0, 1.0 - upper, upper)


def price_calls(spot, strike, years, rate, volatility):
    """Prices of calls, and their vega: the derivative by the volatility."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    price = spot * normal_distribution(d1) - discounted * normal_distribution(d2)
    return price, spot * normal_density(d1) * np.sqrt(years)


def implied_volatility(price, spot, strike, years, rate, steps):
    volatility = np.full_like(price, 0.3)
    for _ in range(steps):
        guess, vega = price_calls(spot, strike, years, rate, volatility)
        volatility -= (guess - price) / np.maximum(vega, 1e-3)
        np.clip(volatility, 0.05, 1.5, out=volatility)
    return volatility


def make_market(size, seed=2):
    rng = np.random.default_rng(seed)
    spot = rng.uniform(80, 120, size)
    strike = spot * rng.uniform(0.9, 1.1, size)
    years = rng.uniform(0.25, 2, size)
    volatility = rng.uniform(0.15, 0.6, size)
    return spot, strike, years, volatility


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_500_000, help="options")
    parser.add_argument("--steps", type=int, default=6, help="Newton steps")
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    spot, strike, years, volatility = make_market(args.size)
    rate = 0.03
    for _ in range(args.repeat):
        start = time.perf_counter()
        price, vega = price_calls(spot, strike, years, rate, volatility)
        put = price - spot + strike * np.exp(-rate * years)
        found = implied_volatility(price, spot, strike, years, rate, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    error = np.abs(found - volatility).max()
    print(f"mean call {price.mean():.9f}, mean put {put.mean():.9f}")
    print(f"volatility found within {error:.2e}")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", call=price, put=put, vega=vega, volatility=found)
        some = slice(0, 5000)
        pyplot.scatter(spot[some] / strike[some], price[some], c=found[some], s=4)
        pyplot.xlabel("spot / strike")
        pyplot.ylabel("price of a call")
        pyplot.colorbar(label="implied volatility")
        pyplot.savefig(args.output / "black_scholes.png", dpi=120)


if __name__ == "__main__":
    main()
