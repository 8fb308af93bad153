"""survey.py: some three hundred common calls on small arrays, under Frit and under NumPy in turn.

    python bench/survey.py [--n 1,100,1000] [--only TEXT;TEXT] [--below 0.95]

Prints what takes longer than NumPy: the ratio of speeds, both times and the difference; and how
much of it is over Frit's limits. Each is the least of several samples; what looks slow is measured
again, as machines are seldom quiet.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("FRIT_NUM_THREADS", "1")
import numpy  # noqa: E402

import frit  # noqa: E402
import frit.numpy  # noqa: E402

SAMPLE_SECONDS = 4e-4
SAMPLES = 11
AGAIN = 31  # for what looks slow

# One statement a line, by the least n for which it makes sense.
STATEMENTS = {
    1: """
        np.array(values)
        np.array(ints)
        np.array([1.0, 2.0, 3.0])
        np.array([[1.0, 2.0], [3.0, 4.0]])
        np.array((1, 2, 3))
        np.array(x)
        np.array(x, copy=True)
        np.array(5.0)
        np.array(values, dtype=np.float32)
        np.array(values, dtype=float)
        np.array([x, y])
        np.asarray(values)
        np.asarray(x)
        np.asarray(x, dtype=float)
        np.asarray(2.0)
        np.ascontiguousarray(x)
        np.asanyarray(x)
        np.atleast_1d(x)
        np.atleast_1d(2.0)
        np.atleast_2d(x)
        np.zeros(n)
        np.zeros((n, 3))
        np.zeros(n, dtype=int)
        np.ones(n)
        np.empty(n)
        np.full(n, 2.0)
        np.full((2, 2), 7)
        np.zeros_like(x)
        np.ones_like(x)
        np.empty_like(x)
        np.full_like(x, 3.0)
        np.arange(n)
        np.arange(0.0, 1.0, 0.1)
        np.arange(n, dtype=float)
        np.linspace(0, 1, n)
        np.linspace(0.0, 1.0, n, endpoint=False)
        np.logspace(0, 1, n)
        np.eye(3)
        np.identity(3)
        np.meshgrid(x[:4], y[:4])
        np.tile(x, 2)
        np.repeat(x, 2)
        np.fromiter(values, float)
        x[0]
        x[-1]
        x[0] * 2
        x[0] + x[-1]
        x[0] > 1.0
        float(x[0])
        int(i[0])
        x.item(0)
        A[0, 0]
        A[0]
        A[0][0]
        A[:, 0]
        A[..., 0]
        A[0, :]
        A.T
        x[1:-1]
        x[::2]
        x[::-1]
        x[:]
        x[None]
        x[:, None]
        x[x > 1.5]
        x[mask]
        x[i]
        x[[0, 0]]
        A[0] = 1.0
        A[0, 0] = 1.0
        A[:, 0] = x
        x[0] = 1.0
        x[0] += 1.0
        x[:] = 1.0
        x[:] = y
        x[1:-1] = 1.0
        x[mask] = 1.0
        x[i] = 1.0
        x[i] = y
        for v in x: pass
        for r in A: pass
        for r in A: r[0]
        list(x)
        x.tolist()
        len(x)
        x.shape
        x.ndim
        x.size
        x.dtype
        x.T
        x.flat
        x.strides
        x.itemsize
        x.nbytes
        x.base
        x.flags
        x.real
        x.shape[0]
        x + y
        x - y
        x * y
        x / y
        x ** 2
        x // y
        x % y
        -x
        abs(x)
        x + 1
        1 + x
        2.0 * x
        x / 2.0
        v * x
        real * x
        x * real
        x > y
        x == y
        x < 1.5
        (x > 1) & (y < 1)
        ~mask
        mask | mask
        (x > 0).any()
        if (x > 0).any(): pass
        if (x > 0).all(): pass
        if x.sum() > 1: pass
        if x[0] > 1: pass
        if np.max(x) > 1: pass
        x += y
        x *= 1.0
        x -= 0.0
        x /= 1.0
        np.add(x, y)
        np.add(x, y, out=x)
        np.multiply(x, 1.0, out=x)
        np.sqrt(x)
        np.sqrt(2.0)
        np.sin(x)
        np.cos(0.5)
        np.exp(x)
        np.log(x)
        np.abs(x)
        np.maximum(x, y)
        np.minimum(x, 1.0)
        np.where(mask, x, y)
        np.where(x > 1.5, x, 0.0)
        np.where(mask)
        np.clip(x, 0.0, 1.5)
        x.clip(0.0, 1.5)
        np.floor(x)
        np.round(x)
        np.round(x, 2)
        x.round()
        np.sign(x)
        np.isnan(x)
        np.isnan(x).any()
        np.isfinite(x).all()
        np.isclose(x, y)
        np.allclose(x, y)
        np.array_equal(x, y)
        np.power(x, 2)
        np.hypot(x, y)
        np.arctan2(y, x)
        np.mod(i, 2)
        np.square(x)
        np.isclose(1.0, 1.0)
        np.sum(x)
        x.sum()
        float(x.sum())
        x.mean()
        np.mean(x)
        x.std()
        np.std(x)
        np.var(x)
        x.max()
        x.min()
        np.max(x)
        np.prod(x)
        x.argmax()
        np.argmax(x)
        np.argmin(x)
        np.any(mask)
        np.all(mask)
        mask.sum()
        np.count_nonzero(mask)
        np.nonzero(mask)
        np.flatnonzero(mask)
        np.cumsum(x)
        x.cumsum()
        np.ptp(x)
        np.median(x)
        np.percentile(x, 50)
        np.quantile(x, 0.5)
        np.average(x)
        np.average(x, weights=y)
        np.nansum(x)
        np.nanmean(x)
        np.nanmax(x)
        A.sum(axis=0)
        A.sum(axis=1)
        np.sum(A, axis=1)
        A.mean(axis=0)
        A.max(axis=1)
        A.sum(axis=1, keepdims=True)
        np.max(A, axis=0)
        np.argmax(A, axis=1)
        np.dot(x, y)
        x @ y
        x.dot(y)
        M @ M
        M @ w
        M.dot(w)
        np.dot(M, w)
        np.matmul(M, M)
        np.outer(x, y)
        np.inner(x, y)
        np.vdot(x, y)
        np.cross(w, w)
        np.einsum('i,i->', x, y)
        np.einsum('ij,j->i', M, w)
        np.tensordot(M, M, axes=1)
        np.kron(M, M)
        np.trace(M)
        np.linalg.norm(x)
        np.linalg.norm(w)
        np.linalg.norm(A, axis=1)
        np.linalg.norm(x, 1)
        np.linalg.inv(M)
        np.linalg.det(M)
        np.linalg.solve(M, w)
        np.linalg.eig(M)
        np.linalg.eigh(M)
        np.linalg.eigvalsh(M)
        np.linalg.svd(M)
        np.linalg.qr(M)
        np.linalg.cholesky(P)
        np.linalg.lstsq(M, w)
        np.linalg.pinv(M)
        np.linalg.matrix_rank(M)
        np.linalg.matrix_power(M, 3)
        x.astype(int)
        x.astype(np.float32)
        x.astype(float)
        i.astype(float)
        mask.astype(int)
        x.copy()
        np.copy(x)
        x.reshape(-1, 1)
        x.reshape(1, -1)
        np.reshape(x, (-1,))
        x.ravel()
        A.ravel()
        A.flatten()
        np.ravel(A)
        np.transpose(A)
        A.transpose()
        np.squeeze(x)
        np.expand_dims(x, 0)
        x.fill(1.0)
        x.view()
        x.view(np.int64)
        np.swapaxes(A, 0, 1)
        np.moveaxis(A, 0, 1)
        np.concatenate((x, y))
        np.concatenate([x, y])
        np.hstack((x, y))
        np.vstack((x, y))
        np.stack((x, y))
        np.column_stack((x, y))
        np.append(x, 1.0)
        np.insert(x, 0, 1.0)
        np.delete(x, 0)
        np.split(A, 1)
        np.array_split(x, 2)
        np.roll(x, 1)
        np.flip(x)
        np.pad(x, 1)
        np.sort(x)
        x.copy().sort()
        np.argsort(x)
        x.argsort()
        np.unique(i)
        np.unique(x)
        np.searchsorted(x, 1.5)
        x.searchsorted(1.5)
        np.bincount(i)
        np.digitize(x, y)
        np.histogram(x, bins=5)
        np.interp(1.5, x, y)
        np.interp(x, x, y)
        np.trapezoid(y, x)
        np.convolve(x, w)
        np.correlate(x, w)
        np.polyval(w, x)
        np.isin(i, [1, 2])
        np.intersect1d(i, i)
        np.union1d(i, i)
        np.take(x, i)
        x.take(i)
        np.take(x, 0)
        np.choose(i0, (x, y))
        np.select([mask], [x], 0.0)
        np.triu(M)
        np.tril(M)
        np.fft.fft(x)
        np.fft.rfft(x)
        np.fft.fftfreq(n)
        str(x)
        repr(w)
        print(w, file=null)
        f"{x[0]:.3f}"
        str(x[0])
        isinstance(x, np.ndarray)
        np.isscalar(2.0)
        np.ndim(x)
        np.shape(x)
        np.size(x)
        np.float64(1.5)
        np.int64(3)
        np.float64(1.5) * 2
        np.issubdtype(x.dtype, np.floating)
        np.result_type(x, y)
        np.broadcast_to(x, (2, n))
        list(np.ndenumerate(w))
        np.allclose(w, w)
        np.may_share_memory(x, y)
        np.shares_memory(x, y)
        with np.errstate(all='ignore'): x / y
        np.deg2rad(x)
        np.degrees(x)
        np.cumprod(x)
        np.logical_and(mask, mask)
        np.logical_not(mask)
        np.real(x)
        np.conj(x)
        np.angle(c)
        c.real
        c.imag
        abs(c)
        c * c
        c.conj()
        rng.random()
        rng.random(n)
        rng.random((n, 2))
        rng.normal(size=n)
        rng.standard_normal(n)
        rng.standard_normal()
        rng.uniform(0, 1, n)
        rng.uniform(-1, 1)
        rng.integers(0, 10)
        rng.integers(0, 10, n)
        rng.choice(x)
        rng.choice(n)
        rng.permutation(n)
        rng.shuffle(x)
        rng.exponential(1.0, n)
        np.random.rand()
        np.random.rand(n)
        np.random.randn(n)
        np.random.uniform(0, 1, n)
        np.random.normal(0, 1, n)
        np.random.randint(0, 10)
        np.random.randint(0, 10, n)
        np.random.choice(x)
        np.random.seed(0)
        np.random.default_rng(0)
        sum(x)
        max(x)
        min(x)
        x.any()
        x in (None,)
        1.0 in x
        hash(x[0])
        [a * b for a, b in zip(x, y)]
        [float(a) for a in x]
        math.sqrt(x[0])
        math.floor(x[0])
        round(x[0], 2)
        values[i[0]]
        x.tobytes()
        x.nonzero()
        mask.all()
        mask.any()
        for k in range(len(x)): x[k] = x[k] * 1.0
    """,
    3: """
        np.diag(x[:3])
        np.diff(x)
        x[::2] * y[::2]
        x[::-1] + y
        i // 3
        i % 7
        np.add.at(u, i, y)
        np.add.at(u, i, 1.0)
        np.maximum.at(u, i, y)
        np.cumsum(A, axis=0)
        np.argmax(A, axis=1)
        np.roll(A, 1, axis=0)
        np.minimum.reduce(A)
        np.repeat(x, 3)
        np.gradient(x)
        np.cov(x, y)
        np.corrcoef(x, y)
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    """,
    4: """
        np.polyfit(x, y, 1)
    """,
}


def names(module) -> dict[str, object]:
    """What the statements may use, but for what depends on n."""
    symmetric = numpy.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
    return dict(
        np=module,
        null=open(os.devnull, "w"),  # noqa: SIM115
        M=module.array(symmetric),
        P=module.array(symmetric),
        w=module.array(numpy.array([1.0, 2.0, 3.0])),
        v=numpy.float64(2.0),
        rng=module.random.default_rng(1),
    )


def arrays(module, n: int) -> dict[str, object]:
    ramp = numpy.linspace(1.0, 2.0, n)
    return dict(
        n=n,
        values=ramp.tolist(),
        ints=list(range(n)),
        real=ramp.copy(),
        x=module.array(ramp),
        y=module.array(1.0 / ramp),
        u=module.array(ramp),
        c=module.array(ramp + 1j),
        i=module.array(numpy.arange(n) % min(n, 10)),
        i0=module.array(numpy.zeros(n, int)),
        mask=module.array(ramp > 1.3),
        A=module.array(numpy.ones((n, 3)) * ramp[:, None]),
    )


def loop_of(statement: str, module, n: int) -> Callable[[int], None]:
    """A function that runs the statement so many times."""
    import math

    space = names(module) | arrays(module, n) | dict(math=math)
    scope: dict[str, Callable] = {}
    exec(f"def loop(count, {', '.join(space)}):\n for _ in range(count):\n  {statement}\n", scope)
    loop = scope["loop"]
    values = list(space.values())

    def run(count: int) -> None:
        loop(count, *values)
        frit.eval()  # work that is left pending belongs to this sample

    return run


def count_for(run: Callable[[int], None]) -> int:
    """So many rounds that a sample is long enough to be timed."""
    count = 1
    while True:
        start = time.perf_counter()
        run(count)
        seconds = time.perf_counter() - start
        if seconds > SAMPLE_SECONDS / 2 or count > 100_000:
            return max(1, int(count * SAMPLE_SECONDS / seconds))
        count *= 4


@dataclass
class Case:
    statement: str
    n: int
    runs: tuple[Callable, Callable]
    counts: tuple[int, int]
    least: list[float]  # seconds of NumPy and of Frit
    is_fallback: bool  # NumPy does it, on the arrays' memory

    def measure(self, samples: int) -> None:
        gc.disable()
        for _ in range(samples):
            for k in (0, 1):
                start = time.perf_counter()
                self.runs[k](self.counts[k])
                seconds = (time.perf_counter() - start) / self.counts[k]
                self.least[k] = min(self.least[k], seconds)
        gc.enable()

    @property
    def ratio(self) -> float:
        return self.least[0] / self.least[1]

    @property
    def is_within_limits(self) -> bool:
        """0.95x of NumPy where Frit computes; 300 ns more than NumPy where it calls NumPy."""
        if self.is_fallback:
            return self.least[1] - self.least[0] <= 300e-9
        return self.ratio >= 0.95


def case_of(statement: str, n: int) -> Case | None:
    """Nothing where NumPy itself refuses the statement."""
    theirs = loop_of(statement, numpy, n)
    try:
        theirs(2)
    except (ValueError, IndexError, TypeError, numpy.linalg.LinAlgError):
        return None
    ours = loop_of(statement, frit.numpy, n)
    frit.report(reset=True)
    ours(2)
    # Draws are NumPy's by promise, and not reported.
    is_fallback = bool(frit._core.fallbacks()) or "rng." in statement or "np.random" in statement
    counts = (count_for(theirs), count_for(ours))
    return Case(statement, n, (theirs, ours), counts, [1e9, 1e9], is_fallback)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", default="1,10,100,1000", help="sizes")
    parser.add_argument("--only", default="", help="statements with one of these texts in them")
    parser.add_argument("--below", type=float, default=0.95, help="print what is slower than this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for least, text in STATEMENTS.items():
        for statement in map(str.strip, text.strip().splitlines()):
            if not any(part in statement for part in options.only.split(";")):
                continue
            for n in map(int, options.n.split(",")):
                case = case_of(statement, n) if n >= least else None
                if case is None:
                    continue
                case.measure(SAMPLES)
                if case.ratio < options.below:
                    case.measure(AGAIN)
                found.append(case)
    slow = sorted((case for case in found if case.ratio < options.below), key=lambda c: c.ratio)
    for case in slow:
        own, ours = (seconds * 1e9 for seconds in case.least)
        print(f"{case.ratio:5.2f} {own:10,.0f} {ours:10,.0f} {ours - own:+9,.0f} ns", end="  ")
        print(f"n = {case.n:<5} {case.statement}{'  (NumPy)' * case.is_fallback}")
    print(f"{len(slow)} of {len(found)} below {options.below}")
    for kind, limit in ((False, "computed by Frit, below 0.95x"), (True, "by NumPy, over +300 ns")):
        those = [case for case in found if case.is_fallback == kind]
        over = sum(not case.is_within_limits for case in those)
        print(f"{over} of {len(those)} {limit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
