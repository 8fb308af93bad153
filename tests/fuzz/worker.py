"""worker.py: runs programs under NumPy and under Frit and says where they differ.

It is a process of its own, so that a crash is a result. It reads one program a line (JSON) from its
standard input and answers each with a line: null, or the first difference.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import os
import re
import sys
import warnings
from typing import Any

import numpy
import programs

import frit.numpy
from frit import _core

# Between two results of a transcendental function, in units in the last place: NumPy promises 4, so
# does Frit.
ULPS = 8
# Names whose values end up in a difference's text.
MOST_TEXT = 600


def described(value: Any) -> tuple[Any, ...]:
    """What a user can see of a value."""
    if isinstance(value, (numpy.ndarray, numpy.generic)) or type(value).__module__.startswith(
        ("frit", "numpy")
    ):
        real = numpy.array(value)
        kind = "array" if isinstance(value, frit.numpy.ndarray) else value.__class__.__name__
        return (kind, real.dtype.str, real.shape, real)
    return (type(value).__name__, repr(value))


def same_bits(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    if a.dtype.kind == "f":
        return ((a == b) & (numpy.signbit(a) == numpy.signbit(b))) | ((a != a) & (b != b))
    return a == b


def nearly(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        return (
            (a == b)
            | ((a != a) & (b != b))
            | (abs(a - b) <= ULPS * numpy.maximum(numpy.spacing(abs(a)), numpy.spacing(abs(b))))
        )


def rounded_alike(a: numpy.ndarray, b: numpy.ndarray, step: float) -> numpy.ndarray:
    """Whether they differ by a few roundings of an array's largest number at most."""
    if a.dtype.kind not in "fc":
        return a == b
    if a.dtype.kind == "c":
        parts = (numpy.stack([x.real, x.imag]) for x in (a, b))
        return rounded_alike(*parts, step).all(axis=0)
    with numpy.errstate(all="ignore"):
        finite = numpy.abs(numpy.concatenate([a[numpy.isfinite(a)], b[numpy.isfinite(b)]]))
        largest = finite.max(initial=0)
        return (a == b) | ((a != a) & (b != b)) | (abs(a - b) <= step * largest)


def roundings(program: programs.Program) -> float:
    """What NumPy leaves open: its loops over complex numbers differ by the direction in which they
    walk. Backwards, products of complex64 are not fused, and sizes are hypot's. The square of a
    scalar is fused where its memory happens to be more than a vector away from the result's. A
    product of one element is not, where its operands have not as many dimensions."""
    text = "\n".join(program.statements)
    words = ("::-", ":0:-1", "flip", "np.square(", "** 2")
    is_open = any(word in text for word in words) or any(
        int(end) == int(begin) + 1 for begin, end in re.findall(r"\b(\d+):(\d+)\b", text)
    )
    if "complex" not in text or not is_open:
        return 0.0
    return 1e-4 if any(word in text for word in ("complex64", "float32", "float16")) else 1e-11


def audible(warned: set[tuple[str, str]], program: programs.Program) -> set[tuple[str, str]]:
    """The warnings that are compared. Of the two parts of a complex NaN NumPy's comparisons look at
    one or at both, by the number of elements."""
    complex_compared = {
        f"invalid value encountered in {op}"
        for op in ("greater", "greater_equal", "less", "less_equal")
        if any("complex" in s for s in program.statements)
    }
    return {(category, text) for category, text in warned if text not in complex_compared}


def difference(
    expected: tuple[Any, ...], got: tuple[Any, ...], near: bool, step: float = 0.0
) -> str | None:
    if step and expected[:1] == got[:1] and expected[:1] in (("float",), ("complex",)):
        expected, got = (
            (seen[0], "", (), numpy.array(complex(seen[1]))) for seen in (expected, got)
        )
    if len(expected) != 4 or len(got) != 4 or expected[:3] != got[:3]:
        return None if expected == got else f"expected {short(expected)}\ngot      {short(got)}"
    a, b = expected[3], got[3]
    with numpy.errstate(all="ignore"):
        equal = numpy.asarray(nearly(a, b) if near else same_bits(a, b))
        if step:
            equal = equal | rounded_alike(a, b, step)
    if equal.all():
        return None
    where = tuple(int(k[0]) for k in numpy.nonzero(~equal)) if equal.ndim else ()
    count = int(numpy.count_nonzero(~equal))
    return (
        f"{a.dtype}{a.shape}: {count} elements differ, first at {where}: "
        f"expected {a[where]!r}, got {b[where]!r}"
    )


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " ..."


class Outcome:
    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []  # one a statement: what it showed or raised
        self.values: dict[str, tuple[Any, ...]] = {}
        self.shared: list[tuple[str, str]] = []
        self.warned: set[tuple[str, str]] = set()
        self.stores_to_nothing = False


def stores_to_nothing(statement: str, scope: dict[str, Any]) -> bool:
    """Whether what it assigns is read by nobody: to a part of an array without elements."""
    for node in ast.walk(ast.parse(statement)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            try:
                if numpy.size(eval(ast.unparse(node), scope)) == 0:
                    return True
            except Exception:  # the statement itself will say
                pass
    return False


def run(
    module: Any, program: programs.Program, shown: list[tuple[Any, ...]], recorded: bool = False
) -> Outcome:
    outcome = Outcome()
    scope: dict[str, Any] = {"np": module, "numpy": numpy, "numbers": programs.numbers}
    scope["data"] = lambda *words: module.array(programs.numbers(*words))
    scope["read"] = scope["near"] = lambda x: shown.append(described(x))
    with (
        warnings.catch_warnings(record=True) as caught,
        module.errstate(**({} if program.warns else {"all": "ignore"})),
    ):
        warnings.simplefilter("always" if program.warns else "ignore")
        if recorded and program.warns:
            _core.let_float_errors_come_late()
        for statement in program.statements:
            shown.clear()
            if module is numpy:
                outcome.stores_to_nothing |= stores_to_nothing(statement, scope)
            try:
                exec(compile(statement, "<program>", "exec"), scope)
                outcome.events.append(shown[0] if shown else ())
            except Exception as error:
                outcome.events.append(("raised", type(error).__name__, str(error)))
        names = [n for n in scope if n[0] in "ans" and n[1:].isdigit()]
        for name in names:
            outcome.values[name] = described(scope[name])
    outcome.warned = {(w.category.__name__, str(w.message)) for w in caught}
    arrays = [n for n in names if isinstance(scope[n], module.ndarray)]
    real = {n: numpy.asarray(scope[n]) for n in arrays}
    for k, a in enumerate(arrays):
        if real[a].flags.writeable != scope[a].flags.writeable:
            outcome.shared.append((a, "flags"))
        for b in arrays[:k]:
            if numpy.may_share_memory(real[a], real[b]) and real[a].size and real[b].size:
                try:
                    if numpy.shares_memory(real[a], real[b], max_work=10**4):
                        outcome.shared.append((a, b))
                except Exception:  # too hard to say
                    pass
    return outcome


def check(program: programs.Program) -> str | None:
    """The first difference between NumPy's run and ours, as ever and with small arrays recorded as
    large ones are."""
    _core.set_tier(program.tier)
    shown: list[tuple[Any, ...]] = []
    expected = run(numpy, program, shown)
    found = compared(program, expected, run(frit.numpy, program, shown))
    is_recorded_anyway = program.size == "lazy" and not program.warns
    if found or program.tier == "eager" or is_recorded_anyway:
        return found
    if program.tier == "compiled" and len(program.statements) % 3:
        _core.set_tier("interpreter")  # most of the time goes into compiling
    before = _core.set_immediate_bytes(0), _core.set_postponed_bytes(1)
    _core.set_sweep_shift(2 if len(program.statements) % 2 else 0)
    try:
        found = compared(program, expected, run(frit.numpy, program, shown, recorded=True))
    finally:
        _core.set_sweep_shift(0)
        _core.set_immediate_bytes(before[0])
        _core.set_postponed_bytes(before[1])
    return found and f"with everything recorded, {found}"


def compared(program: programs.Program, expected: Outcome, got: Outcome) -> str | None:
    """The first difference between the two runs."""
    step = roundings(program)
    for statement, a, b in zip(program.statements, expected.events, got.events, strict=True):
        if a != b if not (len(a) == len(b) == 4) else True:
            found = difference(a, b, statement.startswith("near"), step)
            if found:
                return f"at `{statement}`:\n{found}"
    for name, value in expected.values.items():
        if name not in got.values:
            return f"{name} is missing"
        found = difference(value, got.values[name], False, step)
        if found:
            return f"in the end, {name}:\n{found}"
    if set(got.values) != set(expected.values):
        return f"has more names: {set(got.values) - set(expected.values)}"
    if expected.shared != got.shared:
        return f"arrays that share memory: expected {expected.shared}, got {got.shared}"
    if program.warns:
        # The one licence of a lazy system: no warning of a value that nobody reads.
        has_deleted = any(s.startswith("del") for s in program.statements)
        all_read = not has_deleted and not expected.stores_to_nothing
        asked, heard = audible(expected.warned, program), audible(got.warned, program)
        if heard - asked or (all_read and asked - heard):
            return f"warnings: expected {sorted(expected.warned)}\ngot {sorted(got.warned)}"
    return None


def main() -> None:
    faulthandler.enable()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints does not disturb the answers
    for line in sys.stdin:
        faulthandler.dump_traceback_later(50, exit=False)
        answer = check(programs.Program(**json.loads(line)))
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
