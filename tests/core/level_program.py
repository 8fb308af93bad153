"""level_program.py: prints hashes of what kernels and operations, and functions, compute."""

import hashlib
import sys

import numpy

import frit.numpy as np
import frit.pykokkos as pk
from frit import _core

_core.set_tier(sys.argv[1])
numpy.seterr(all="ignore")
seen, of_functions = hashlib.sha256(), hashlib.sha256()


@pk.workunit
def under_a_condition(i, x, y, z, p):
    if x[i] > 1:
        y[i] = x[p[i]]
    if x[i] > 0:
        z[2 * i] = 3
    else:
        z[2 * i + 1] = x[i] + y[i]


@pk.workunit
def one_of_two(i, x, y):
    if x[i] > 0:
        y[i] = 100
    elif x[i] < -1:
        y[i] = x[i] + 7
    else:
        y[i] = 0


@pk.workunit
def rows(i, acc, begin, column, value, x):
    s: float = 0
    for k in range(begin[i], begin[i + 1]):
        if column[k] % 3 != 0:
            s += value[k] * x[column[k]]
    acc += s


random = numpy.random.RandomState(1)
n = 1003
for dtype in ("int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "float64"):
    low = 0 if dtype[0] == "u" else -3
    x, y = (np.array(random.randint(low, 4, n).astype(dtype)) for _ in range(2))
    z, place = np.zeros(2 * n, dtype), np.array(random.randint(0, n, n))
    pk.parallel_for(n, under_a_condition, x=x, y=y, z=z, p=place)
    w, v = np.array(x), np.asarray(x)
    pk.parallel_for(n, one_of_two, x=x, y=w)
    below = numpy.where(numpy.asarray(v) < -1, numpy.asarray(v) + 7, 0)
    assert (numpy.asarray(w) == numpy.where(numpy.asarray(v) > 0, 100, below)).all(), dtype
    for made in (y, z, w):
        seen.update(numpy.asarray(made).tobytes())

for bits in (8, 16, 32, 64):
    for kind in "iu":
        given = random.bytes(bits * n // 8)
        x, y = (np.array(numpy.frombuffer(given, f"{kind}{bits // 8}")[::s]) for s in (1, -1))
        for made in (x // y, x % y, np.fmod(x, y), x // y[0], x % y[0]):
            seen.update(numpy.asarray(made).tobytes())

x = np.array(random.uniform(-30, 30, n))
for values in ((x > 0) * x, np.sort(x)[x > 1], x.sum(), x.std()):
    seen.update(numpy.asarray(values).tobytes())
for values in (
    np.exp(x),
    np.sin(x) / (1 + abs(x)),
    np.log(abs(x)),
    abs(x) ** 1.7,
    np.tanh(x),
    np.exp(x.astype("float32")),
):
    of_functions.update(numpy.asarray(values).tobytes())

# Each function by itself, of ordinary numbers and of others among them.
_core.reset_statistics()
functions = """exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh
    arcsinh arccosh arctanh cbrt power arctan2 hypot logaddexp logaddexp2""".split()
others = [0.0, -0.0, numpy.inf, -numpy.inf, 1e-310, 1e300, -5.0, 40.0, 800.0]
for dtype in ("float32", "float64"):
    with numpy.errstate(all="ignore"):
        ordinary = numpy.concatenate([random.uniform(0, 1, 5 * n), random.uniform(1, 30, 5 * n)])
        among = numpy.concatenate([random.uniform(-9, 9, 10 * n), others]).astype(dtype)
    for given in (ordinary.astype(dtype), among):
        x, y = np.array(given), np.array(given[::-1])
        for name in functions:
            function = getattr(np, name)
            result = numpy.asarray(function(x, y) if function.nin == 2 else function(x))
            # Which NaN it is, is no part of the promise.
            of_functions.update(numpy.where(result == result, result, numpy.inf).tobytes())
if sys.argv[1] == "compiled":
    counts = _core.statistics()
    assert counts["compiled_launches"] > 0 and counts["interpreted_launches"] == 0, counts
begin = np.array(numpy.concatenate([[0], random.randint(0, 9, n).cumsum()]))
column = np.array(random.randint(0, n, int(begin[n])))
total = pk.parallel_reduce(n, rows, begin=begin, column=column, value=column * 0.5, x=x)
seen.update(numpy.float64(total).tobytes())
print(seen.hexdigest(), of_functions.hexdigest())

# What does not fit is told wherever it stands: the first and last elements may go one by one.
many = 20_001
for place in (0, 1, many // 2, many - 1):
    number, whole = np.zeros(many), np.zeros(many + 1, "int64")
    number[place] = numpy.nan
    numpy.asarray(number)
    try:
        with numpy.errstate(invalid="raise"):
            whole[1:] = number
            numpy.asarray(whole)
    except FloatingPointError:
        continue
    raise AssertionError(f"no error of the conversion at {place}")
