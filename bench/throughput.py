"""throughput.py: some four hundred operations on arrays, each forced by itself, under both.

    python bench/throughput.py [--n 200000,4000000] [--only TEXT;TEXT] [--below 0.95]
                               [--warm 0.2] [--time 0.25]

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
    A.sum()
    T.sum()
    T.sum(0)
    T.sum(1)
    T.sum(2)
    T.sum((0, 1))
    T.sum((1, 2))
    T.mean(0)
    T.max(0)
    T.max(1)
    T.min(2)
    A.T.sum(0)
    A.T.sum(1)
    A[:, ::2].sum(0)
    A[:, ::2].sum(1)
    A.mean(1)
    A.std(1)
    A.var(0)
    A.var(1)
    A.min(0)
    A.min(1)
    A.prod(0)
    A.any(0)
    A.any(1)
    (A > 0.5).all(1)
    (A > 0.5).sum(0)
    (A > 0.5).sum(1)
    (A > 0.5).any(0)
    (x > 0.5).sum()
    A.argmax(0)
    A.argmin(1)
    np.cumsum(A, axis=0)
    np.cumsum(A)
    np.cumprod(A, axis=1)
    F.sum(0)
    F.sum(1)
    F.mean(0)
    F.mean(1)
    F.max(0)
    F.max(1)
    J.sum(0)
    J.sum(1)
    J.mean(0)
    J.max(0)
    P.sum(0)
    P.sum(1)
    P.mean(0)
    P.max(0)
    P.max(1)
    P.min(1)
    P.argmax(1)
    P - P.mean(0)
    P * P[0]
    (P * P).sum(1)
    P[:, 0] * P[:, 1]
    P[:, :2].copy()
    P.T.copy()
    P + 1
    np.sort(f)
    np.sort(i)
    np.sort(u)
    np.sort(A, axis=0)
    np.sort(A, axis=1)
    np.argsort(i)
    np.argsort(A, axis=1)
    np.partition(x, n // 2)
    np.argpartition(x, n // 2)
    np.unique(u)
    i.astype('i4')
    i.astype('f4')
    i.astype('u1')
    i.astype('?')
    j.astype('f8')
    j.astype('i8')
    j.astype('f4')
    u.astype('i8')
    u.astype('i4')
    u.astype('f8')
    b.astype('i8')
    b.astype('u1')
    b.astype('f4')
    x.astype('i8')
    x.astype('?')
    x.astype('f2')
    x.astype('c16')
    f.astype('i4')
    f.astype('i8')
    h.astype('f8')
    z.astype('c8')
    c.astype('c16')
    z.real + z.imag
    x + 1j * y
    c * c
    c + c
    np.abs(c)
    c.sum()
    z / z
    z.mean()
    np.abs(z) ** 2
    z == z
    z[::2].copy()
    np.dot(f, f)
    np.dot(z, z)
    np.dot(i, i)
    A @ A.T
    A[:, :10] @ A[:10]
    A[:10] @ A
    v @ A
    A.T @ v
    F @ F
    F @ F[0]
    T @ T[0]
    np.matmul(T, T)
    J @ J[0]
    np.tensordot(A[:20], A, 1)
    np.einsum('ij,jk', A[:20], A)
    np.einsum('ij->j', A)
    np.einsum('ii', A)
    np.trace(A)
    A.diagonal() + 1
    np.diag(v)
    np.eye(r)
    np.zeros(n)
    np.zeros((r, r))
    np.empty(n)
    np.zeros_like(x)
    np.ones_like(A)
    np.full_like(x, 3.5)
    np.full((r, r), 1, dtype='i4')
    np.ones(n, dtype='f4')
    np.ones(n, dtype='?')
    np.arange(n, dtype='i4')
    np.arange(0.0, n)
    np.arange(0, n, 0.5)[:n]
    np.indices((r, r))[0]
    np.array(x)
    np.array(A.T)
    np.ascontiguousarray(A.T)
    np.asfortranarray(A)
    f.copy()
    b.copy()
    u.copy()
    z.copy()
    i.copy()
    x[:].copy()
    x[::2].copy()
    x[::-1].copy()
    x[1::3].copy()
    f[::2].copy()
    u[::2].copy()
    F.T.copy()
    J.T.copy()
    U.T.copy()
    T.transpose(2, 1, 0).copy()
    T.transpose(1, 0, 2).copy()
    T.swapaxes(1, 2).copy()
    np.moveaxis(T, 0, -1).copy()
    np.concatenate([A, B], axis=1)
    np.concatenate([f, f])
    np.concatenate([x[:1000]] * (n // 1000))
    np.column_stack([x, y])
    np.stack([x, y], axis=1)
    np.dstack([A, B])
    np.broadcast_to(v, (r, r)).copy()
    np.repeat(A, 2, axis=0)
    np.repeat(A, 2, axis=1)
    np.tile(v, (r, 1))
    np.roll(A, 1, axis=0)
    np.roll(A, 1, axis=1)
    np.diff(A, axis=0)
    np.diff(A, axis=1)
    np.diff(i)
    set_(to_x, slice(None), 1.0)
    set_(to_b, slice(None), True)
    set_(to_i, slice(None), 7)
    set_(to_f, slice(None), 0)
    set_(to_x, slice(None, None, 2), 1.0)
    set_(to_A, (slice(None), 0), 1.0)
    set_(to_A, (slice(1, -1), slice(1, -1)), 0.5)
    set_(to_x, slice(None), y)
    set_(to_x, b, 0.0)
    set_(to_x, m, 0.25)
    set_(to_x, b, x[b])
    set_(to_i, i > 500, 7)
    set_(to_A, A > 0.5, 0.75)
    set_(to_x, I, 0.5)
    set_(to_x, I, y)
    set_(to_x, I[:1000], 2.0)
    to_x.fill(0.5)
    to_b.fill(False)
    add_(to_x, 0.0)
    add_(to_x, y)
    add_(to_i, 1)
    add_(to_f, f)
    add_(to_A, v)
    f[b]
    i[b]
    b[m]
    A[A > 0.5]
    x[x > 0.9]
    x[i > 500]
    x[I[:1000]]
    f[I]
    i[I]
    b[I]
    A[:, I[:10] % r]
    A[I[:r] % r, I[:r] % r]
    np.take(A, I[:r] % r, axis=0)
    np.compress(b, x)
    np.extract(b, x)
    np.argwhere(m)
    np.where(b)[0]
    np.where(b, 1, 0)
    np.where(b, f, 0)
    np.where(i > 500, i, -1)
    np.where(A > v, A, v)
    np.select([x < 0.3, x < 0.6], [x, y], 0)
    np.choose(i % 2, [x, y])
    np.clip(f, 0.2, 0.8)
    np.clip(i, 100, 800)
    x.clip(0.5)
    np.clip(u, 10, 100)
    np.maximum(i, 500)
    np.maximum(f, 0)
    np.maximum(x, 0)
    np.fmax(x, y)
    np.minimum(A, v)
    x == y
    x < y
    x <= 0.5
    f > 0.5
    f == f
    i > 500
    i == i
    i == 3
    i != 0
    j > 500
    u > 100
    u == 3
    h > 0.5
    (x > 0.2) & (x < 0.8)
    (i % 2) == 0
    (i & 1) == 0
    ~(x > 0.5)
    b ^ m
    b == m
    b.any()
    m.all()
    i.any()
    (x > 2).any()
    (x < 2).all()
    np.any(A > 2, axis=1)
    np.count_nonzero(i)
    np.count_nonzero(x > 0.5)
    np.count_nonzero(A > 0.5, axis=1)
    f.mean()
    f.std()
    f.min()
    f.argmax()
    f.cumsum()
    h.sum()
    h.max()
    i.mean()
    i.min()
    i.std()
    i.prod()
    i.argmax()
    j.sum()
    j.max()
    j.min()
    j.cumsum()
    u.mean()
    u.min()
    u.argmax()
    b.mean()
    b.cumsum()
    x.argmax()
    x[::2].sum()
    x[::-1].sum()
    x[::2].max()
    f[::2].sum()
    i[::2].sum()
    A[:, 0].sum()
    A[10:-10, 10:-10].sum()
    A[10:-10, 10:-10].max()
    A[1:-1, 1:-1].copy()
    A[1:] - A[:-1]
    A[:, 1:] - A[:, :-1]
    A + A.T
    A * v
    A / v[:, None]
    A + B
    A * 2
    T + v2
    T * T[0]
    T[:, :, 0] + 1
    T[:, 0] + 1
    F + F
    F * 2
    F + F[0]
    f * 2 + 1
    f / f
    np.sqrt(f)
    np.log(f)
    np.tanh(f)
    np.cos(f)
    np.power(f, 2.5)
    f ** 0.5
    f ** 3
    np.abs(f)
    -f
    np.floor(f)
    np.hypot(f, f)
    np.arctan2(f, f)
    np.log1p(f)
    np.expm1(f)
    np.cbrt(f)
    np.log10(f)
    np.exp2(f)
    np.sign(f)
    np.square(f)
    1 / f
    x - y
    x * y
    x / y
    x / 3
    x * 2
    x + 1
    1 / x
    1 - x
    2 ** x
    x ** -1
    x ** 4
    x ** y
    x % 1
    x // 1
    np.abs(x)
    np.negative(x)
    np.ceil(x)
    np.rint(f)
    np.round(f, 2)
    np.arcsin(f)
    np.arccos(x)
    np.arcsinh(x)
    np.arctanh(x)
    np.cosh(x)
    np.sinc(x)
    np.rad2deg(x)
    np.degrees(f)
    np.isinf(x)
    np.isnan(f)
    np.signbit(x)
    np.float_power(x, 2)
    np.divmod(x, 0.3)[0]
    np.divmod(i, 7)[0]
    np.logaddexp2(x, y)
    np.cosh(f)
    j + j
    j * 3
    j // 7
    j % 7
    j / 3
    j << 1
    j & 255
    j * 0.5
    i - 1
    i * i
    i / 7
    i ** 2
    i // (i + 1)
    i % (i + 1)
    i >> 2
    i | 1
    i ^ i
    i * 0.5
    i + x
    -i
    abs(i)
    np.abs(j)
    np.sign(i)
    np.bitwise_and(i, 7)
    np.gcd(i, 12)
    np.invert(i)
    np.left_shift(j, 2)
    u * u
    u + 1
    u // 7
    u >> 1
    u ^ 255
    u / 255
    u * 0.5
    np.minimum(u, 100)
    h * 2
    h / h
    np.exp(h)
    np.maximum(h, 0)
    b * x
    b + b
    x * b
    b.astype('f8') * x
    f + x
    i + j
    u + i
    f * 2.5
    x * 2 + y * 3
    (x - x.mean()) / x.std()
    x / x.sum()
    np.sqrt(x * x + y * y)
    np.exp(-x * x)
    A / A.sum(1, keepdims=True)
    np.linalg.norm(A, axis=0)
    np.linalg.norm(A)
    np.histogram2d(x, y, 20)[0]
    np.cov(x, y)
    np.nanstd(x)
    np.nanmin(x)
    np.nan_to_num(f)
    np.nancumsum(x)
    np.fft.rfft(x)
    np.fft.fft2(A)
    np.correlate(x[:2000], y[:200])
    np.polyval([1, 2, 3], x)
    np.add.reduceat(x, np.arange(0, n, 10))
    np.add.at(x.copy(), I[:1000], 1.0)
    np.bincount(i, weights=x)
    np.searchsorted(v, x[:1000])
    np.quantile(x, [0.1, 0.9])
    np.median(A, axis=0)
    np.packbits(b)
    np.unpackbits(u)
    np.flipud(A).copy()
    np.fliplr(A).copy()
    np.array_equal(A, B)
    np.linspace(0, 1, n, dtype='f4')
    x.tolist()[0]
    x.tobytes()[0]
    x.view('i8') + 1
    x.reshape(-1, 2).sum(1)
    x[:n // 4 * 4].reshape(-1, 4).mean(1)
    x[:n // 4 * 4].reshape(4, -1).mean(0)
    x[:n // 4 * 4].reshape(-1, 4).sum(0)
    x[:n // 100 * 100].reshape(-1, 100).mean(1)
    x[:n // 100 * 100].reshape(-1, 100).max(0)
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
    cube, points = int(n ** (1 / 3)), n // 3
    made |= dict(
        j=made["i"].astype("i4"),
        c=made["z"].astype("c8"),
        F=made["A"].astype("f4"),
        J=random.integers(0, 1000, (side, side)),
        U=random.integers(0, 200, (side, side)).astype("u1"),
        P=random.random((points, 3)),
        T=random.random((cube, cube, cube)),
        v2=random.random(cube),
    )
    made |= {"to_" + name: made[name] for name in "xfibA"}
    names = dict(np=module, n=n, r=side, set_=set_, add_=add_)
    return names | {name: module.array(a) for name, a in made.items()}


def set_(array, key, value):
    """What `array[key] = value` stores into, to be looked at."""
    array[key] = value
    return array


def add_(array, value):
    array += value
    return array


def seconds(code, space) -> float:
    """Of the expression, and of a look at one element."""
    start = time.perf_counter()
    result = eval(code, space)
    result = result[0] if isinstance(result, tuple) else result
    if getattr(result, "ndim", 0) and result.size:
        result[(0,) * result.ndim]
    return time.perf_counter() - start


def measure(code, spaces, warm: float, budget: float) -> list[float]:
    """Medians, of NumPy and of Frit."""
    first = sum(seconds(code, space) for space in spaces)
    end = time.perf_counter() + warm
    while time.perf_counter() < end:
        seconds(code, spaces[1])
    rounds = max(3, min(21, int(budget / first)))
    times = [[seconds(code, space) for space in spaces] for _ in range(3 + rounds)]
    return [statistics.median(t) for t in zip(*times[3:], strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", default="200000,4000000", help="elements")
    parser.add_argument("--only", default="", help="expressions with one of these texts in them")
    parser.add_argument("--below", type=float, default=0.95, help="print what is slower than this")
    parser.add_argument("--warm", type=float, default=0.2, help="seconds")
    parser.add_argument("--time", type=float, default=0.25, help="seconds of rounds for each")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in map(int, options.n.split(",")):
        spaces = [arrays(module, n) for module in (numpy, frit.numpy)]
        found = []
        for text in map(str.strip, EXPRESSIONS.strip().splitlines()):
            if any(part in text for part in options.only.split(";")):
                code = compile(text, "<expression>", "eval")
                found.append((*measure(code, spaces, options.warm, options.time), text))
        for theirs, ours, text in sorted(found, key=lambda each: each[0] / each[1]):
            if theirs / ours < options.below:
                times = f"{theirs * 1e6:10,.0f} {ours * 1e6:10,.0f} us"
                print(f"{theirs / ours:5.2f} {times}  n = {n:<8} {text}")
        mean = statistics.geometric_mean(theirs / ours for theirs, ours, _ in found)
        print(f"n = {n}: {len(found)} expressions, geometric mean {mean:.2f}x")


if __name__ == "__main__":
    main()
