"""particle_push.py: particles in a gas: cross-section by table, collision by chance, advection.

python -m frit examples/pykokkos/particle_push.py --size 1000000 --steps 20
"""

import argparse

import numpy as np
import pykokkos as pk


@pk.workunit
def cross_section(i, speed, table, section):
    place: float = pk.min(speed[i] * 31.0, 30.0)
    low: int = int(place)
    part: float = place - low
    section[i] = (1.0 - part) * table[low] + part * table[low + 1]


@pk.workunit
def collide(i, speed, section, dt, keep, pool):
    if pk.rand(pk.double) < 1.0 - pk.exp(-section[i] * dt):
        speed[i] *= keep + (1.0 - keep) * pk.rand(pk.double)


@pk.workunit
def advance(i, x, speed, way, dt):
    x[i] += way[i] * speed[i] * dt
    if x[i] < 0.0:
        x[i] = -x[i]
        way[i] = 1.0
    elif x[i] > 1.0:
        x[i] = 2.0 - x[i]
        way[i] = -1.0


@pk.workunit
def energy(i, acc, speed):
    acc += 0.5 * speed[i] * speed[i]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--steps", type=int, default=10)
    given = options.parse_args()
    n, dt = given.size, 0.1
    x, speed, section, way = (pk.View([n], pk.double) for _ in range(4))
    table = pk.View([32], pk.double)
    table[:] = 1.0 / (1.0 + np.arange(32.0))
    speed[:] = np.linspace(0.1, 1.0, n)
    way.fill(1.0)
    pool = pk.Random_XorShift64_Pool(1234, n)
    timer = pk.Timer()
    for step in range(given.steps):
        pk.parallel_for(n, cross_section, speed=speed, table=table, section=section)
        pk.parallel_for(n, collide, speed=speed, section=section, dt=dt, keep=0.5, pool=pool)
        pk.parallel_for(n, advance, x=x, speed=speed, way=way, dt=dt)
        print(f"step {step}: energy {float(pk.parallel_reduce(n, energy, speed=speed)) / n!r}")
    print(f"range: {float(pk.min(*[x.data.min(), 1.0]))!r} to {float(x.data.max())!r}")
    print(f"seconds: {timer.seconds():.3f}")


if __name__ == "__main__":
    main()
