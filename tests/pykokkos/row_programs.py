"""row_programs.py: random kernels with loops inside, whose rounds depend on one another or don't.

Indices stay inside by `% N`; `/` by powers of two only, so that Python's numbers are the same.
"""

from __future__ import annotations

import random

N = 16  # elements a row; (4, 4) of c


class _Body:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.is_tame = rng.random() < 0.6  # stores where nobody else reads: rounds may be lanes

    def index(self) -> str:
        return self.rng.choice(
            ["t"] * 12 + ["(t + 1) % N", "N - 1 - t", "t // 2", "t // 2 + N // 2", "(t + k) % N",
             "t % 4", "t % 8 + 8", "0", "k % N", "(t // 4) * 4 + t % 4", "t // 8 * 8 + t % 8"]
        )  # fmt: skip

    def element(self, stored: bool = False) -> str:
        if self.is_tame:
            own = self.rng.choice(["b[i][t]", "b[i][t // 8 * 8 + t % 8]", "c[i][t // 4][t % 4]"])
            return own if stored or self.rng.random() < 0.3 else f"a[i][{self.index()}]"
        draw = self.rng.random()
        if draw < 0.7:
            return f"{self.rng.choice('ab')}[i][{self.index()}]"
        place = self.rng.choice(["t // 4][t % 4", "t % 4][t // 4", "0][t % 4", "t // 4][1"])
        return f"c[i][{place}]"

    def value(self) -> str:
        leaf = self.rng.choice([self.element(), self.element(), "v", "w", "u", "t", "x"])
        return (
            f"({leaf} {self.rng.choice('+-')} {self.rng.choice([self.element(), 'v', '1', 't'])})"
        )

    def condition(self) -> str:
        return self.rng.choice(
            ["t < k", "t < k % N", "t % 2 == 0", "v > w", "t > 3", "x > 0", f"{self.element()} > 0"]
        )

    def store(self) -> str:
        return f"{self.element(stored=True)} = pk.max(pk.min({self.value()}, 99.0), -99.0)"

    def statement(self, depth: int) -> list[str]:
        draw = self.rng.random()
        if draw < 0.3:
            return [f"{self.rng.choice('vw')} = pk.max(pk.min({self.value()}, 99.0), -99.0)"]
        if draw < 0.7:
            return [self.store()]
        if draw < 0.78:
            far = self.rng.choice(["k", "k - 1", "k + 1"])
            return [
                f"if t < {self.rng.choice(['k', 'k', 'k + 1'])}:",
                f"    if t + {far} < N:",
                f"        a[i][t] = pk.min(a[i][t] + a[i][t + {far}], 99.0)",
            ]
        if draw < 0.92 or depth == 0:
            return [f"if {self.condition()}:", "    " + self.store()]
        inner = [line for _ in range(2) for line in self.statement(0)]
        return ["for q in range(3):", *("    " + line for line in inner)]

    def loop(self) -> list[str]:
        length = self.rng.choice(["N", "N", "N", "N // 2", "N - 1"])
        begin = ["v = x", "w = 0.0"] if self.is_tame or self.rng.random() < 0.6 else []
        inner = [line for _ in range(self.rng.randint(1, 4)) for line in self.statement(1)]
        return [f"for t in range({length}):", *("    " + line for line in begin + inner)]

    def text(self) -> str:
        body = ["v: float = 1.0", "w: float = 2.0", "u: float = 3.0", "k: int = 2"]
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.3:
                turns = ["    " + line for line in self.loop()]
                body += ["k = N // 2", "while k > 0:", *turns, "    k = k // 2"]
            else:
                body += self.loop()
            if self.is_tame or self.rng.random() < 0.5:
                body += ["v = 2.0", "w = 1.0"]  # what a loop has left is not asked for
            body += [f"k = {self.rng.choice(['1', '3', '4'])}"]
        body += ["out[i] = v + w + u"]
        head = "def kernel(i, a, b, c, out, x, N):"
        return "\n".join([head, *("    " + line for line in body), ""])


def source(seed: int) -> str:
    return _Body(random.Random(seed)).text()
