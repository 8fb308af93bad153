"""molecular_dynamics.py: Lennard-Jones atoms of a melting crystal, in reduced units.

A list of cells gives each atom its neighbours within the cutoff and a skin; velocity Verlet moves
them. Printed: temperature, potential and total energy for each atom, and how far the total drifts.

    python -m frit examples/pykokkos/molecular_dynamics.py --size 8 --steps 100
"""

import argparse

import numpy as np
import pykokkos as pk

DENSITY, TEMPERATURE, CUTOFF, SKIN, DT = 0.8442, 1.44, 2.5, 0.3, 0.002
IN_CELL, NEIGHBOURS, REBUILD = 48, 128, 10


@pk.workunit
def start_step(i, x, v, f, dt):
    for k in range(3):
        v[i][k] += 0.5 * dt * f[i][k]
        x[i][k] += dt * v[i][k]


@pk.workunit
def end_step(i, v, f, dt):
    for k in range(3):
        v[i][k] += 0.5 * dt * f[i][k]


@pk.workunit
def wrap(i, x, box):
    for k in range(3):
        if x[i][k] < 0:
            x[i][k] += box
        if x[i][k] >= box:
            x[i][k] -= box


@pk.workunit
def empty_cells(c, counts):
    counts[c] = 0


@pk.workunit
def fill_cells(i, x, counts, cells, cells_a_side, width):
    cx: int = pk.min(int(x[i][0] / width), cells_a_side - 1)
    cy: int = pk.min(int(x[i][1] / width), cells_a_side - 1)
    cz: int = pk.min(int(x[i][2] / width), cells_a_side - 1)
    c: int = (cx * cells_a_side + cy) * cells_a_side + cz
    place: int = pk.atomic_fetch_add(counts, [c], 1)
    if place < cells.extent(1):
        cells[c][place] = i


@pk.workunit
def largest_count(c, most: pk.Max[pk.int32], counts):
    most = pk.max(most, counts[c])


@pk.workunit
def find_neighbours(i, x, counts, cells, known, neighbours, cells_a_side, width, box, reach):
    cx: int = pk.min(int(x[i][0] / width), cells_a_side - 1)
    cy: int = pk.min(int(x[i][1] / width), cells_a_side - 1)
    cz: int = pk.min(int(x[i][2] / width), cells_a_side - 1)
    n: int = 0
    for offset in range(27):
        ox: int = (cx + offset // 9 - 1 + cells_a_side) % cells_a_side
        oy: int = (cy + (offset // 3) % 3 - 1 + cells_a_side) % cells_a_side
        oz: int = (cz + offset % 3 - 1 + cells_a_side) % cells_a_side
        c: int = (ox * cells_a_side + oy) * cells_a_side + oz
        for place in range(counts[c]):
            j: int = cells[c][place]
            square: float = 0.0
            for k in range(3):
                d: float = x[i][k] - x[j][k]
                if d > 0.5 * box:
                    d -= box
                if d < -0.5 * box:
                    d += box
                square += d * d
            if j != i and square < reach * reach:
                if n < neighbours.extent(1):
                    neighbours[i][n] = j
                n += 1
    known[i] = n


@pk.workunit
def force(i, x, f, known, neighbours, box, cutoff):
    fx: float = 0.0
    fy: float = 0.0
    fz: float = 0.0
    for n in range(known[i]):
        j: int = neighbours[i][n]
        dx: float = x[i][0] - x[j][0]
        dy: float = x[i][1] - x[j][1]
        dz: float = x[i][2] - x[j][2]
        dx -= box * pk.rint(dx / box)
        dy -= box * pk.rint(dy / box)
        dz -= box * pk.rint(dz / box)
        square: float = dx * dx + dy * dy + dz * dz
        if square < cutoff * cutoff:
            s: float = 1.0 / square
            s6: float = s * s * s
            size: float = 48.0 * s6 * (s6 - 0.5) * s
            fx += size * dx
            fy += size * dy
            fz += size * dz
    f[i][0] = fx
    f[i][1] = fy
    f[i][2] = fz


@pk.workunit
def potential(i, acc, x, known, neighbours, box, cutoff):
    c6: float = 1.0 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff)
    shift: float = 4.0 * c6 * (c6 - 1.0)
    energy: float = 0.0
    for n in range(known[i]):
        j: int = neighbours[i][n]
        square: float = 0.0
        for k in range(3):
            d: float = x[i][k] - x[j][k]
            d -= box * pk.rint(d / box)
            square += d * d
        if square < cutoff * cutoff:
            s6: float = 1.0 / (square * square * square)
            energy += 0.5 * (4.0 * s6 * (s6 - 1.0) - shift)
    acc += energy


@pk.workunit
def kinetic(i, acc, v):
    acc += 0.5 * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2])


class Atoms:
    """A face-centred crystal of size x size x size cubes, with velocities of a temperature."""

    def __init__(self, size, seed=1):
        edge = (4 / DENSITY) ** (1 / 3)
        corners = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
        cubes = np.array([[a, b, c] for a in range(size) for b in range(size) for c in range(size)])
        places = ((cubes[:, None, :] + corners[None, :, :]).reshape(-1, 3) + 0.25) * edge
        speeds = np.random.RandomState(seed).normal(size=places.shape)
        speeds -= speeds.mean(axis=0)
        speeds *= np.sqrt(3 * TEMPERATURE * len(places) / (speeds**2).sum())
        self.n = len(places)
        self.box = size * edge
        self.cells_a_side = max(int(self.box / (CUTOFF + SKIN)), 1)
        if self.cells_a_side < 3:
            raise SystemExit("the box is too small for its cells: --size 6 or more")
        self.x, self.v, self.f = (pk.View([self.n, 3], pk.double) for _ in range(3))
        self.x[:] = places
        self.v[:] = speeds
        cells = self.cells_a_side**3
        self.counts = pk.View([cells], pk.int32)
        self.cells = pk.View([cells, IN_CELL], pk.int32)
        self.known = pk.View([self.n], pk.int32)
        self.neighbours = pk.View([self.n, NEIGHBOURS], pk.int32)

    def rebuild(self):
        """Finds the neighbours anew."""
        grid = {"cells_a_side": self.cells_a_side, "width": self.box / self.cells_a_side}
        pk.parallel_for(self.n, wrap, x=self.x, box=self.box)
        pk.parallel_for(self.cells_a_side**3, empty_cells, counts=self.counts)
        pk.parallel_for(self.n, fill_cells, x=self.x, counts=self.counts, cells=self.cells, **grid)
        cells = self.cells_a_side**3
        if pk.parallel_reduce(cells, largest_count, counts=self.counts) > IN_CELL:
            raise SystemExit("too many atoms in a cell")
        pk.parallel_for(
            self.n, find_neighbours, x=self.x, counts=self.counts, cells=self.cells,
            known=self.known, neighbours=self.neighbours, box=self.box, reach=CUTOFF + SKIN, **grid,
        )  # fmt: skip
        if pk.parallel_reduce(self.n, largest_count, counts=self.known) > NEIGHBOURS:
            raise SystemExit("an atom has too many neighbours")

    def find_forces(self):
        pk.parallel_for(
            self.n, force, x=self.x, f=self.f, known=self.known, neighbours=self.neighbours,
            box=self.box, cutoff=CUTOFF,
        )  # fmt: skip

    def step(self):
        """Moves all atoms by one step in time."""
        pk.parallel_for(self.n, start_step, x=self.x, v=self.v, f=self.f, dt=DT)
        self.find_forces()
        pk.parallel_for(self.n, end_step, v=self.v, f=self.f, dt=DT)

    def energies(self):
        """Temperature, potential and total energy, for each atom."""
        moving = pk.parallel_reduce(self.n, kinetic, v=self.v)
        held = pk.parallel_reduce(
            self.n, potential, x=self.x, known=self.known, neighbours=self.neighbours,
            box=self.box, cutoff=CUTOFF,
        )  # fmt: skip
        return (
            2 * float(moving) / (3 * self.n),
            float(held) / self.n,
            float(moving + held) / self.n,
        )


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, default=8)
    options.add_argument("--steps", type=int, default=100)
    given = options.parse_args()
    atoms = Atoms(given.size)
    timer = pk.Timer()
    atoms.rebuild()
    atoms.find_forces()
    totals = []
    for step in range(given.steps + 1):
        if step % REBUILD == 0:
            temperature, held, total = atoms.energies()
            totals.append(total)
            print(f"step {step}: temperature {temperature!r} potential {held!r} total {total!r}")
            atoms.rebuild()
        atoms.step()
    print(f"drift: {max(totals) - min(totals):.2e} of {abs(totals[0]):.3f}")
    print(f"seconds: {timer.seconds():.3f} for {atoms.n} atoms")


if __name__ == "__main__":
    main()
