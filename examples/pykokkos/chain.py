"""chain.py: five kernels in a row on four views: nothing between them needs to reach memory.

python -m frit examples/pykokkos/chain.py --size 1000000 --steps 50
"""

import argparse

import pykokkos as pk


@pk.workunit
def axpy(i, x, y, a):
    y[i] = a * x[i] + y[i]


@pk.workunit
def scale(i, y, z, b):
    z[i] = b * y[i]


@pk.workunit
def multiply_add(i, x, y, z):
    z[i] += x[i] * y[i]


@pk.workunit
def clip(i, z, w):
    w[i] = pk.max(z[i], 0.0)


@pk.workunit
def mix(i, y, w):
    y[i] = 0.5 * y[i] + 0.25 * w[i]


@pk.workunit
def total(i, acc, y):
    acc += y[i]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--steps", type=int, default=20)
    given = options.parse_args()
    n = given.size
    x, y, z, w = (pk.View([n], pk.double) for _ in range(4))
    x.fill(0.5)
    y.fill(1.0)
    timer = pk.Timer()
    for _ in range(given.steps):
        pk.parallel_for(n, axpy, x=x, y=y, a=0.1)
        pk.parallel_for(n, scale, y=y, z=z, b=0.5)
        pk.parallel_for(n, multiply_add, x=x, y=y, z=z)
        pk.parallel_for(n, clip, z=z, w=w)
        pk.parallel_for(n, mix, y=y, w=w)
    print(f"sum: {float(pk.parallel_reduce(n, total, y=y))!r}")
    print(f"seconds: {timer.seconds():.3f}")


if __name__ == "__main__":
    main()
