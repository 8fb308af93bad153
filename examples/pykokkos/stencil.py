"""stencil.py: heat in a plate. Its kernels read neighbours, so they must not fuse.

python -m frit examples/pykokkos/stencil.py --size 500 --steps 100
"""

import argparse

import pykokkos as pk


@pk.workunit
def heat(i, j, u, v, rate):
    around = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]
    v[i][j] = u[i][j] + rate * (around - 4.0 * u[i][j])


@pk.workunit
def change(i, j, acc, u, v):
    acc += (u[i][j] - v[i][j]) * (u[i][j] - v[i][j])


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=200)
    options.add_argument("--steps", type=int, default=20)
    given = options.parse_args()
    n = given.size
    u, v = (pk.View([n, n], pk.double) for _ in range(2))
    for plate in (u, v):
        plate[0, :] = 100.0  # a hot edge
    inside = pk.MDRangePolicy([1, 1], [n - 1, n - 1])
    timer = pk.Timer()
    for _ in range(given.steps):
        pk.parallel_for(inside, heat, u=u, v=v, rate=0.2)
        u, v = v, u
    moved = float(pk.parallel_reduce(inside, change, u=u, v=v))
    print(f"change: {moved!r}, temperature beside the edge: {float(u[1, n // 2])!r}")
    print(f"seconds: {timer.seconds():.3f}")


if __name__ == "__main__":
    main()
