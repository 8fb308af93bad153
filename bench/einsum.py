"""einsum.py: numpy.einsum of common formulas, under Frit and under NumPy by turns.

    python bench/einsum.py [--rounds 15] [--only TEXT]

Prints medians, the ratio of speeds, and the time of the first call. A result that differs from
NumPy's by more than rounding is an error, never timed. FRIT_NUM_THREADS and OPENBLAS_NUM_THREADS
set the threads.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time

import numpy

import frit.numpy

FORMULAS = [  # what it is, subscripts, shapes, dtype
    ("matrices", "ij,jk->ik", [(300, 300)] * 2, "f8"),
    ("matrices, transposed", "ij,kj->ki", [(300, 300)] * 2, "f8"),
    ("matrices, complex", "ij,jk->ik", [(300, 300)] * 2, "c16"),
    ("matrices, int64", "ij,jk->ik", [(300, 300)] * 2, "i8"),
    ("matrix by vector", "ij,j->i", [(1000, 1000), (1000,)], "f8"),
    ("vector by matrix", "i,ij->j", [(1000,), (1000, 1000)], "f8"),
    ("50,000 matrices 3 x 3", "bij,bjk->bik", [(50_000, 3, 3)] * 2, "f8"),
    ("5,000 matrices 8 x 8", "bij,bjk->bik", [(5_000, 8, 8)] * 2, "f8"),
    ("50,000 matrices by vectors", "bij,bj->bi", [(50_000, 3, 3), (50_000, 3)], "f8"),
    ("100,000 points turned", "ij,bj->bi", [(3, 3), (100_000, 3)], "f8"),
    ("quadratic forms", "bi,ij,bj->b", [(100_000, 3), (3, 3), (100_000, 3)], "f8"),
    ("cross products", "ijk,bj,bk->bi", [(3, 3, 3), (20_000, 3), (20_000, 3)], "f8"),
    ("attention", "bqhd,bkhd->bhqk", [(4, 64, 8, 32)] * 2, "f8"),
    ("tensors", "abcd,cdef->abef", [(20, 20, 20, 20)] * 2, "f8"),
    ("tensors, transposed", "abcd,ecfd->aebf", [(20, 20, 20, 20)] * 2, "f8"),
    ("tensor by two matrices", "ijk,jr,kr->ir", [(60, 60, 60), (60, 20), (60, 20)], "f8"),
    ("three matrices", "ij,jk,kl->il", [(50, 50)] * 3, "f8"),
    ("rows", "ij,ij->i", [(1000, 1000)] * 2, "f8"),
    ("200,000 short rows", "ij,ij->i", [(200_000, 3)] * 2, "f8"),
    ("rows, float32", "ij,ij->i", [(1000, 1000)] * 2, "f4"),
    ("everything", "ij,ij->", [(1000, 1000)] * 2, "f8"),
    ("trace of a product", "ij,ji->", [(1000, 1000)] * 2, "f8"),
    ("outer product", "i,j->ij", [(1000,)] * 2, "f8"),
    ("outer product of three", "i,j,k->ijk", [(100,)] * 3, "f8"),
    ("elementwise", "ij,ij->ij", [(1000, 1000)] * 2, "f8"),
    ("columns summed", "ij->j", [(1000, 1000)], "f8"),
    ("rows summed", "ij->i", [(1000, 1000)], "f8"),
]


def operands(shapes, dtype, rng) -> list[numpy.ndarray]:
    made = [rng.integers(-9, 10, shape).astype(dtype) for shape in shapes]
    return [a + 0.25j * a[::-1] if a.dtype.kind == "c" else a for a in made]


def milliseconds(call) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    rng, ratios, wrong = numpy.random.default_rng(0), [], 0
    for name, text, shapes, dtype in FORMULAS:
        if options.only not in name:
            continue
        real = operands(shapes, dtype, rng)
        ours = [frit.numpy.array(a) for a in real]

        def plain(text=text, real=real):
            return numpy.einsum(text, *real)

        def lazy(text=text, ours=ours):
            return numpy.asarray(frit.numpy.einsum(text, *ours))

        first = milliseconds(lazy)
        if not numpy.allclose(lazy(), plain()):
            print(f"{name}: another result")
            wrong += 1
            continue
        time.sleep(0.3)  # the compiler hands its code over
        lazy()
        times = [(milliseconds(plain), milliseconds(lazy)) for _ in range(options.rounds)]
        base, mine = (statistics.median(each) for each in zip(*times, strict=True))
        ratios.append(base / mine)
        print(
            f"{name:28} {text:18} NumPy {base:8.3f} ms   Frit {mine:7.3f} ms {base / mine:6.1f}x"
            f"   first call {first:6.2f} ms"
        )
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.1f}x, least {min(ratios):.2f}x")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
