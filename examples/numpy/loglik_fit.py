"""loglik_fit.py: fits Weibull lifetimes with covariates and censoring, by Newton's method.

The log-likelihood is that of the accelerated failure time model (Kalbfleisch and Prentice, "The
Statistical Analysis of Failure Time Data", chapter 3): log T = X beta + W / shape.
"""

import argparse
import time
from pathlib import Path

import numpy as np

BETA = np.array([1.0, 0.5, -0.3, 0.2])
SHAPE = 1.7


def make_lifetimes(size, seed=5):
    """Covariates (size, 4), log of the observed time, and 1 where its end was seen, else 0."""
    rng = np.random.default_rng(seed)
    covariates = np.column_stack([np.ones(size), rng.normal(size=(size, 3))])
    lifetime = np.exp(covariates @ BETA) * rng.weibull(SHAPE, size)
    watched = rng.exponential(8.0, size)
    seen = (lifetime <= watched).astype(float)
    return covariates, np.log(np.minimum(lifetime, watched)), seen


def loglik(log_shape, beta, covariates, log_time, seen):
    """The log-likelihood with its gradient (5,) and Hessian (5, 5) by (log_shape, beta)."""
    shape = np.exp(log_shape)
    w = shape * (log_time - covariates @ beta)
    hazard = np.exp(w)
    value = np.sum(seen * (log_shape + w - log_time) - hazard)

    by_shape = np.sum(seen * (1 + w) - hazard * w)
    by_beta = shape * (covariates.T @ (hazard - seen))

    hessian = np.empty((5, 5))
    hessian[0, 0] = np.sum(seen * w - hazard * w * (1 + w))
    hessian[0, 1:] = hessian[1:, 0] = shape * (covariates.T @ (hazard * (1 + w) - seen))
    hessian[1:, 1:] = -(shape**2) * (covariates.T @ (covariates * hazard[:, np.newaxis]))
    return value, np.append(by_shape, by_beta), hessian


def first_guess(covariates, log_time):
    """Least squares, then the shape whose Gumbel distribution spreads as the residuals do."""
    beta = np.linalg.lstsq(covariates, log_time, rcond=None)[0]
    scale = (log_time - covariates @ beta).std() * np.sqrt(6) / np.pi
    beta[0] += np.euler_gamma * scale
    return np.append(-np.log(scale), beta)


def fit(covariates, log_time, seen, steps):
    """Newton's method. Returns the estimates, their standard errors, and each step's likelihood."""
    point = first_guess(covariates, log_time)
    history = []
    for _ in range(steps):
        value, gradient, hessian = loglik(point[0], point[1:], covariates, log_time, seen)
        history.append(value)
        point = point - np.linalg.solve(hessian, gradient)
    return point, np.sqrt(np.diag(np.linalg.inv(-hessian))), np.array(history)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=500_000, help="lifetimes")
    parser.add_argument("--steps", type=int, default=20, help="Newton steps")
    parser.add_argument("--repeat", type=int, default=1, help="run the computation so many times")
    parser.add_argument("--output", type=Path, help="folder for the picture and result.npz")
    args = parser.parse_args(argv)

    data = make_lifetimes(args.size)
    for _ in range(args.repeat):
        start = time.perf_counter()
        point, error, history = fit(*data, args.steps)
        print(f"compute_seconds: {time.perf_counter() - start:.6f}")
    print(f"log-likelihood {history[-1]:.9f}, shape {np.exp(point[0]):.6f} (true {SHAPE})")
    for name, value, width, true in zip("abcd", point[1:], error[1:], BETA, strict=True):
        print(f"  beta {name} {value:+.6f} +- {width:.6f} (true {true:+.1f})")

    if args.output:
        from matplotlib import pyplot

        args.output.mkdir(parents=True, exist_ok=True)
        np.savez(args.output / "result.npz", point=point, error=error, history=history)
        pyplot.semilogy(history.max() - history[:-1] + 1e-9, "o-")
        pyplot.xlabel("Newton step")
        pyplot.ylabel("log-likelihood still to gain")
        pyplot.savefig(args.output / "loglik_fit.png", dpi=120)


if __name__ == "__main__":
    main()
