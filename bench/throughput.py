"""throughput.py: some two hundred operations on large arrays, each forced by itself, under both.

    python bench/throughput.py [--n 200000,4000000] [--only TEXT;TEXT] [--below 0.95] [--warm 0.2]

survey.py is about calls; this is about what they move. NumPy and Frit take turns, medians. --warm:
seconds that Frit runs each for first, so that its kernels are compiled; with 0, as in a program
that does it a few times.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import numpy

import frit.numpy

EXPRESSIONS = """
    x + y
    x * 2.5 + y
    np.sqrt(x)
    np.exp(x)
    np.log(x)
    np.log1p(x)
    np.expm1(x)
    np.sin(x)
    np.cos(x)
    np.tan(x)
    np.arctan(x)
    np.arctan2(x, y)
    np.tanh(x)
    np.cbrt(x)
    np.power(x, 2.5)
    x ** 2
    x ** 3
    x ** 0.5
    np.hypot(x, y)
    np.floor(x * 9)
    np.round(x, 2)
    x.astype('f4')
    x.astype('i4')
    i.astype('f8')
    u.astype('f4')
    f.astype('f8')
    b.astype('f8')
    h.astype('f4')
    h + h
    f * f
    f + 1
    i + i
    i * 3
    i // 7
    i % 7
    u + u
    i & 255
    i << 2
    ~b
    b & m
    b | m
    x > 0.5
    (x > 0.5) & (y < 0.3)
    np.where(b, x, y)
    np.where(x > 0.5, x, 0)
    x[b]
    x[m]
    x[I]
    x.take(I)
    x.sum()
    x.mean()
    x.std()
    x.var()
    x.min()
    x.max()
    f.sum()
    f.max()
    i.sum()
    i.max()
    u.sum()
    u.max()
    b.sum()
    x.prod()
    x.argmin()
    x.any()
    b.all()
    np.count_nonzero(b)
    np.nonzero(b)[0]
    np.flatnonzero(m)
    x.cumsum()
    i.cumsum()
    x.cumprod()
    np.diff(x)
    np.clip(x, 0.2, 0.8)
    np.maximum(x, y)
    np.minimum(x, 0.5)
    np.abs(x - 0.5)
    np.sign(x - 0.5)
    -x
    np.square(x)
    np.isnan(x)
    np.isfinite(x)
    np.nan_to_num(x)
    np.dot(x, y)
    np.outer(v, v)
    A @ B
    A.T @ B
    A @ v
    A.T.copy()
    A.sum(0)
    A.sum(1)
    A.mean(0)
    A.max(0)
    A.max(1)
    A.argmax(1)
    A + v
    A * v[:, None]
    A - A.mean(0)
    A.std(0)
    A[1:-1, 1:-1] + A[:-2, 1:-1]
    A[:, ::2].copy()
    A[::-1].copy()
    A[:, ::-1].copy()
    np.transpose(A) + B
    A.ravel() + 1
    A.T.ravel()
    np.concatenate([x, y])
    np.stack([x, y])
    np.vstack([A, B])
    np.hstack([A, B])
    np.tile(x, 2)
    np.repeat(x, 2)
    np.roll(x, 5)
    np.flip(x)
    np.pad(A, 1)
    np.ones(n)
    np.full(n, 2.0)
    np.arange(n)
    np.linspace(0, 1, n)
    x.copy()
    z * z
    z + z
    np.abs(z)
    z.real.copy()
    np.conj(z)
    np.exp(z)
    z.sum()
    np.angle(z)
    C @ C
    np.sort(x)
    np.argsort(x)
    np.unique(i)
    np.bincount(i)
    np.searchsorted(v, x)
    np.histogram(x, 50)[0]
    np.digitize(x, [0.2, 0.5, 0.8])
    np.interp(x, [0, 0.5, 1], [0, 1, 3])
    np.median(x)
    np.percentile(x, 90)
    np.convolve(x[:2000], y[:200])
    np.logaddexp(x, y)
    np.logical_and(b, m)
    np.logical_not(b)
    np.trapezoid(x)
    np.gradient(x)
    np.cross(A[:, :3], B[:, :3])
    np.einsum('ij,ij->i', A, B)
    np.linalg.norm(A, axis=1)
    np.linalg.norm(x)
    np.tril(A)
    np.triu(A)
    np.meshgrid(v, v)[0]
    np.add.outer(v, v)
    np.multiply.reduce(x)
    np.add.accumulate(x)
    np.logical_or.reduce(b)
    np.isclose(x, y)
    np.allclose(x, x)
    np.array_equal(x, x)
    np.fft.fft(x)
    np.mod(x, 0.3)
    np.fmod(x, 0.3)
    np.remainder(i, 13)
    np.floor_divide(x, 0.3)
    np.reciprocal(x)
    np.heaviside(x - 0.5, 0.5)
    np.copysign(x, y - 0.5)
    np.ldexp(x, 3)
    np.frexp(x)[0]
    np.modf(x)[0]
    np.spacing(x)
    np.nextafter(x, y)
    np.deg2rad(x)
    np.sinh(x)
    np.arcsin(x)
    np.exp2(x)
    np.log2(x)
    np.log10(x)
    np.log2(f)
    np.exp(f)
    np.sin(f)
    f ** 2
    h * h
    np.sqrt(h)
    x[::2] + y[::2]
    x[::-1] + y
    x[1:] - x[:-1]
    A[:, 0] + 1
    A[:, 3].copy()
    A[b[:r]]
    A[:, b[:r]]
    A[I[:r] % r]
    np.take(A, I[:r] % r, axis=1)
    np.put_along_axis(A.copy(), np.argmax(A, 1)[:, None], 0, 1)
    np.lexsort((i, x))
    np.cov(A[:20])
    np.corrcoef(A[:20])
    np.average(x, weights=y)
    np.nansum(x)
    np.nanmean(x)
    np.nanmax(x)
    np.ptp(x)
    b ** 0.5
    np.cumsum(A, axis=1)
    np.rot90(A).copy()
    np.split(x, 4)[1] + 1
    np.round(x)
    np.rint(x)
    np.trunc(x * 9)
    np.vdot(x, y)
    np.inner(x, y)
    np.kron(v[:50], v[:50])
    np.array_split(x, 3)[0] + 1
    np.insert(x, 5, 1.0)
    np.delete(x, 5)
    np.append(x, y)
    np.ediff1d(x)
    np.isin(i, [1, 2, 3])
"""


def arrays(module, n: int) -> dict[str, object]:
    random = numpy.random.default_rng(1)
    side = int(n**0.5)
    made = dict(
        x=random.random(n),
        y=random.random(n),
        f=random.random(n).astype("f4"),
        h=random.random(n).astype("f2"),
        i=random.integers(0, 1000, n),
        u=random.integers(0, 200, n).astype("u1"),
        b=random.random(n) < 0.5,
        m=random.random(n) < 0.1,
        z=random.random(n) + 1j * random.random(n),
        I=random.integers(0, n, n),
        A=random.random((side, side)),
        B=random.random((side, side)),
        C=random.random((side, side)) + 1j,
        v=random.random(side),
    )
    return dict(np=module, n=n, r=side) | {name: module.array(a) for name, a in made.items()}


def seconds(code, space) -> float:
    """Of the expression, and of a look at one element."""
    start = time.perf_counter()
    result = eval(code, space)
    result = result[0] if isinstance(result, tuple) else result
    if getattr(result, "ndim", 0) and result.size:
        result[(0,) * result.ndim]
    return time.perf_counter() - start


def measure(code, spaces, warm: float) -> list[float]:
    """Medians, of NumPy and of Frit."""
    first = sum(seconds(code, space) for space in spaces)
    end = time.perf_counter() + warm
    while time.perf_counter() < end:
        seconds(code, spaces[1])
    rounds = max(3, min(21, int(0.25 / first)))
    times = [[seconds(code, space) for space in spaces] for _ in range(3 + rounds)]
    return [statistics.median(t) for t in zip(*times[3:], strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", default="200000,4000000", help="elements")
    parser.add_argument("--only", default="", help="expressions with one of these texts in them")
    parser.add_argument("--below", type=float, default=0.95, help="print what is slower than this")
    parser.add_argument("--warm", type=float, default=0.2, help="seconds")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in map(int, options.n.split(",")):
        spaces = [arrays(module, n) for module in (numpy, frit.numpy)]
        found = []
        for text in map(str.strip, EXPRESSIONS.strip().splitlines()):
            if any(part in text for part in options.only.split(";")):
                code = compile(text, "<expression>", "eval")
                found.append((*measure(code, spaces, options.warm), text))
        for theirs, ours, text in sorted(found, key=lambda each: each[0] / each[1]):
            if theirs / ours < options.below:
                times = f"{theirs * 1e6:10,.0f} {ours * 1e6:10,.0f} us"
                print(f"{theirs / ours:5.2f} {times}  n = {n:<8} {text}")
        mean = statistics.geometric_mean(theirs / ours for theirs, ours, _ in found)
        print(f"n = {n}: {len(found)} expressions, geometric mean {mean:.2f}x")


if __name__ == "__main__":
    main()
