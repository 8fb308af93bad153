"""nstream.py: nstream (A = A + B + s C) as a functor, and dot products of what it makes.

python -m frit examples/pykokkos/nstream.py --size 1000000 --steps 50
"""

import argparse

import pykokkos as pk


@pk.functor
class NStream:
    def __init__(self, n, scalar):
        self.scalar: float = scalar
        self.A: pk.View1D[pk.double] = pk.View([n], pk.double)
        self.B: pk.View1D[pk.double] = pk.View([n], pk.double)
        self.C: pk.View1D[pk.double] = pk.View([n], pk.double)

    @pk.workunit
    def start(self, i: int):
        self.A[i] = 0.0
        self.B[i] = 2.0
        self.C[i] = 2.0

    @pk.workunit
    def stream(self, i: int):
        self.A[i] += self.B[i] + self.scalar * self.C[i]

    @pk.workunit
    def dot(self, i: int, acc: pk.Acc[pk.double]):
        acc += self.A[i] * self.B[i]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--steps", type=int, default=20)
    given = options.parse_args()
    n = given.size
    program = NStream(n, 3.0)
    timer = pk.Timer()
    pk.parallel_for(n, program.start)
    for _ in range(given.steps):
        pk.parallel_for(n, program.stream)
        found = pk.parallel_reduce(n, program.dot)
    print(f"dot: {float(found)!r}, expected {16.0 * given.steps * n!r}")
    print(f"seconds: {timer.seconds():.3f}")


if __name__ == "__main__":
    main()
