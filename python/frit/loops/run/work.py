"""work.py: about how long a nest takes as Python, guessed from its bounds before it is translated.

This is the first part of the cost model: a nest of a few iterations is always better left alone,
and a few calls of a nest that is short cost less as Python than its translation does. So the guess
only decides when, never what. It is a small program, which the engine runs at each call
(src/python/loop_guess.h), and which times correct where it is doubtful (src/engine/loop_pace.h).
The last part, one core or all of them, is nest_cost.h's, which knows the plan. All are held
against the best choice by `python bench/loops.py --oracle`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Sequence

from frit.loops.names import attribute_chain, nodes_in, path_of
from frit.loops.run.traits import MAKERS, Guess, Step, folded

# Nanoseconds that CPython takes, about: of NumPy's arrays and scalars, which loops here are over.
ACCESS, TUPLE, OPERATION, CALL, NAME, ROUND = 35, 25, 30, 40, 3, 20
# The least for calls of modules and methods, which are NumPy's where they are not Python's own, and
# for those of whole rows, as Frit's own small arrays take it.
SLICE, PRODUCT, DOTTED_CALL = 60, 150, 120
_CHEAP = ("math", "cmath", "random")
_NO_FUNCTIONS = frozenset([*_CHEAP, *dir(builtins)])  # of the program: their calls are priced here
_ROW_CALLS = {
    **dict.fromkeys(("any", "all", "sum", "mean", "norm"), 300),
    **{"std": 1500, "var": 1500, "median": 5000},
}
NEW_ARRAY, ROW = 500, 150  # a small array that is made, and an operation with one
CALLS_OF_GIVEN = 2.0  # of a function that a call is given
# Many rather than few: a long nest that stays Python is worse than a short one that does not.
UNKNOWN_ROUNDS = 64
_SIMPLE = (ast.Name, ast.Constant)
FUNCTIONS = ("len", "min", "max", "int", "range")
_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "d",
    ast.Mod: "%",
}


class _Unknown(Exception):
    """The bounds are no simple expressions of the names."""


class _Writer:
    def __init__(self, names: Sequence[str], owners: Container[str]) -> None:
        self.known = set(names)
        self.owners = owners
        if self.known & set(FUNCTIONS):
            raise _Unknown
        self.names: list[str] = []  # that are read
        self.arrays: set[str] = set()
        self.middles: dict[str, list[Step]] = {}  # of the indices of loops around
        self.calls: list[tuple[str, float]] = []  # of what may be the program's own

    def input(self, node: ast.expr) -> float:
        if isinstance(node, ast.Attribute):
            name = self.dotted(node)
        elif isinstance(node, ast.Name) and node.id in self.known - self.middles.keys():
            name = node.id
        else:
            raise _Unknown
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def dotted(self, node: ast.Attribute) -> str:
        base, nodes = attribute_chain(node)
        if not isinstance(base, ast.Name) or base.id not in self.owners:
            raise _Unknown
        return ".".join([base.id, *(part.attr for part in nodes)])

    def steps(self, node: ast.expr) -> list[Step]:
        """The value of an expression without effects, of arrays and numbers."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return [("c", node.value)]
        if isinstance(node, ast.Name):
            if node.id in self.middles:
                return self.middles[node.id]
            return [("v", self.input(node))]
        if isinstance(node, ast.Attribute):
            is_size = node.attr == "size"
            return [("s" if is_size else "v", self.input(node.value if is_size else node))]
        if isinstance(node, ast.Subscript):
            return self.extent(node)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            step = _OPERATORS[type(node.op)], 0.0
            return [*self.steps(node.left), *self.steps(node.right), step]
        if isinstance(node, ast.BinOp) and (number := _power(node)) is not None:
            return [("c", number)]
        if isinstance(node, ast.BinOp) and type(node.op) is ast.Pow:
            return [*self.steps(node.left), *self.steps(node.right), ("p", 0.0)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return [("c", 0), *self.steps(node.operand), ("-", 0)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.call(node.func.id, node.args)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("sqrt", "isqrt"):
            if len(node.args) == 1 and not node.keywords:
                return [*self.steps(node.args[0]), ("c", 0.5), ("p", 0.0)]
        raise _Unknown

    def extent(self, node: ast.Subscript) -> list[Step]:
        shape, axis = node.value, node.slice
        if not isinstance(shape, ast.Attribute) or shape.attr != "shape":
            raise _Unknown
        from_end = isinstance(axis, ast.UnaryOp) and isinstance(axis.op, ast.USub)
        if isinstance(axis, ast.UnaryOp):
            axis = axis.operand
        if not isinstance(axis, ast.Constant) or axis.value not in range(from_end, 8):
            raise _Unknown
        word = "_ABCDEFG"[axis.value] if from_end else str(axis.value)
        return [(word, self.input(shape.value))]

    def call(self, name: str, arguments: Sequence[ast.expr]) -> list[Step]:
        if name == "len" and len(arguments) == 1:
            return [("0", self.input(arguments[0]))]
        given = [step for part in arguments for step in self.steps(part)]
        if name == "int" and len(arguments) == 1:
            return [*given, ("i", 0)]
        if name in ("sqrt", "isqrt") and len(arguments) == 1:
            return [*given, ("c", 0.5), ("p", 0.0)]
        if name in ("min", "max") and len(arguments) > 1:
            return [*given, *[("n" if name == "min" else "x", 0.0)] * (len(arguments) - 1)]
        raise _Unknown

    def rounds(self, node: ast.For) -> list[Step]:
        """How often the loop goes round; notes the middle of its index."""
        over = node.iter
        name = _series_name(over)
        if isinstance(over, ast.Call) and name in ("enumerate", "zip") and over.args:
            if _series_name(over.args[0]) != "linspace":
                return [("0", self.input(over.args[0]))]
            over, name = over.args[0], "linspace"
        if not isinstance(over, ast.Call):
            if isinstance(over, (ast.Tuple, ast.List)):
                return [("c", len(over.elts))]
            return [("0", self.input(over))]
        if name not in ("range", "arange", "linspace") or not 1 <= len(over.args) <= 3:
            raise _Unknown
        if over.keywords:
            raise _Unknown
        if name == "linspace":
            return self.steps(over.args[2]) if len(over.args) == 3 else [("c", 50)]
        if len(over.args) > 1 and (half := self.half_known(over.args)) is not None:
            return half
        ends = [self.steps(part) for part in over.args]
        if len(ends) == 1:
            ends.insert(0, [("c", 0)])
        if len(ends) == 2:
            ends.append([("c", 1)])
        if isinstance(node.target, ast.Name):
            self.middles[node.target.id] = [*ends[0], *ends[1], ("+", 0), ("c", 2), ("d", 0)]
        return [*ends[0], *ends[1], *ends[2], ("r", 0)]

    def half_known(self, ends: Sequence[ast.expr]) -> list[Step] | None:
        """Rounds of a range of which one end may be anything: half of those to the other one."""
        known = []
        for part in ends[:2]:
            try:
                known.append(self.steps(part))
            except _Unknown:
                continue
        if len(known) != 1 or known[0][0][0] == "c":
            return None
        return [*known[0], ("c", 2), ("/", 0), ("l", 0)]

    def body(self, nodes: Sequence[ast.stmt]) -> list[Step]:
        plain, parts = ROUND, []
        plain += ROW * sum(self.is_row(node) for node in _own_nodes(nodes))
        for node in nodes:
            if isinstance(node, ast.For):
                parts += [*self.loop(node), ("+", 0.0)]
            elif isinstance(node, ast.While):
                parts += [*self.body(node.body), ("c", UNKNOWN_ROUNDS), ("*", 0.0), ("+", 0.0)]
            elif isinstance(node, ast.If):
                plain += _price(node.test)
                parts += [*self.calls_in(node.test), *self.branches(node), ("+", 0.0)]
            else:
                plain += _price(node)
                parts += self.calls_in(node)
                for part in nodes_in([node]):
                    if isinstance(part, (ast.GeneratorExp, ast.ListComp)):
                        parts += [*self.generated(part), ("+", 0.0)]
        return [("c", plain), *parts]

    def calls_in(self, node: ast.AST) -> list[Step]:
        """What calls of functions take, but for those that are known."""
        steps: list[Step] = []
        for part in nodes_in([node]):
            path = path_of(part.func) if isinstance(part, ast.Call) else ""
            if path and path.partition(".")[0] not in _NO_FUNCTIONS:
                call = path, float(_price_of_call(part.func))
                if call not in self.calls:
                    self.calls.append(call)
                steps += [("k", self.calls.index(call)), ("+", 0.0)]
                for function in part.args:  # if it is one, it is called there
                    if isinstance(function, ast.Name) and isinstance(part.func, ast.Name):
                        call = function.id, 0.0
                        if call not in self.calls:
                            self.calls.append(call)
                        called = ("k", self.calls.index(call)), ("c", CALLS_OF_GIVEN)
                        steps += [*called, ("*", 0.0), ("+", 0.0)]
        return steps

    def is_row(self, node: ast.AST) -> bool:
        """Whether it is an operation with an array."""
        if isinstance(node, ast.BinOp):
            return self.is_array(node.left) or self.is_array(node.right)
        return isinstance(node, ast.UnaryOp | ast.AugAssign) and self.is_array(_operand(node))

    def is_array(self, node: ast.expr) -> bool:
        """Whether it surely is a new array, or a variable for one."""
        if isinstance(node, ast.Name):
            return node.id in self.arrays
        if isinstance(node, ast.Call):
            return _makes_array(node)
        return self.is_row(node)

    def find_arrays(self, node: ast.AST) -> None:
        """Variables for arrays as a whole: of which elements are asked, and which are operands."""
        nodes = nodes_in([node])
        bases = {n.value.id for n in nodes if isinstance(n, ast.Subscript) and _is_name(n.value)}
        operands = [x for n in nodes if isinstance(n, ast.BinOp) for x in (n.left, n.right)]
        self.arrays = {x.id for x in operands if isinstance(x, ast.Name)} & bases
        for _ in range(2):
            for part in nodes:
                if isinstance(part, ast.Assign) and self.is_array(part.value):
                    self.arrays |= {x.id for x in part.targets if isinstance(x, ast.Name)}

    def generated(self, node: ast.GeneratorExp | ast.ListComp) -> list[Step]:
        """Its first loop's rounds."""
        first = node.generators[0]
        loop = ast.For(first.target, first.iter, [ast.Expr(node.elt)], [])
        return self.loop(loop)

    def branches(self, node: ast.If) -> list[Step]:
        """The longer one of two; of one that may be left out the half."""
        if not node.orelse:
            return [*self.body(node.body), ("c", 0.5), ("*", 0.0)]
        return [*self.body(node.body), *self.body(node.orelse), ("x", 0.0)]

    def loop(self, node: ast.For) -> list[Step]:
        try:
            rounds = self.rounds(node)
        except _Unknown:
            rounds = [("c", UNKNOWN_ROUNDS)]
        return [*rounds, *self.body(node.body), ("*", 0)]


def _own_nodes(nodes: Sequence[ast.stmt]) -> list[ast.AST]:
    """Those that a body prices itself, and no loop or branch in it."""
    others = (ast.For, ast.While, ast.If)
    tests = [node.test for node in nodes if isinstance(node, ast.If)]
    return nodes_in([*tests, *(node for node in nodes if not isinstance(node, others))])


def _operand(node: ast.UnaryOp | ast.AugAssign) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) else node.target


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _makes_array(node: ast.Call) -> bool:
    return path_of(node.func).rpartition(".")[2] in MAKERS


def _series_name(node: ast.expr) -> str:
    """Of the function that a loop's series comes from; "": no call."""
    callee = node.func if isinstance(node, ast.Call) else None
    name: str = getattr(callee, "attr", getattr(callee, "id", ""))
    return name


def is_simple(node: ast.expr, names: set[str]) -> bool:
    """Whether it has no effects, if the names are arrays and numbers."""
    for part in nodes_in([node]):
        if isinstance(part, ast.Name):
            is_fine = part.id in names or part.id in FUNCTIONS
        elif isinstance(part, ast.Attribute):
            is_fine = part.attr in ("shape", "size") and isinstance(part.value, ast.Name)
        elif isinstance(part, ast.Call):
            is_fine = isinstance(part.func, ast.Name) and part.func.id in FUNCTIONS
            is_fine = is_fine and not part.keywords
        elif isinstance(part, ast.Subscript):
            is_fine = isinstance(part.value, ast.Attribute) and part.value.attr == "shape"
        elif isinstance(part, ast.BinOp):
            is_fine = not isinstance(part.op, ast.Pow | ast.LShift) or _power(part) is not None
        else:
            is_fine = isinstance(part, (ast.Constant, ast.UnaryOp)) or not isinstance(
                part, ast.expr
            )
        if not is_fine:
            return False
    return True


def _power(node: ast.BinOp) -> int | None:
    """10**6 or 1 << 20, if it is one of no huge number."""
    x, y = node.left, node.right
    if not isinstance(x, ast.Constant) or not isinstance(y, ast.Constant):
        return None
    if type(x.value) is not int or type(y.value) is not int or not 0 <= y.value < 64:
        return None
    if isinstance(node.op, ast.LShift):
        return x.value << y.value
    return x.value**y.value if isinstance(node.op, ast.Pow) else None


def _price(node: ast.AST) -> int:
    return sum(map(_own_price, nodes_in([node])))


def _own_price(node: ast.AST) -> int:
    if isinstance(node, ast.Subscript):
        return ACCESS
    if isinstance(node, ast.Tuple):
        return TUPLE
    if isinstance(node, ast.AugAssign):  # reads its target, too
        return OPERATION + _price(node.target)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
        is_product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        return PRODUCT if is_product else OPERATION
    if isinstance(node, ast.Call):
        is_known = (path_of(node.func) or ".").partition(".")[0] in (*_NO_FUNCTIONS, "")
        return _price_of_call(node.func) if is_known else 0
    if isinstance(node, ast.Slice):
        return SLICE
    return NAME if isinstance(node, ast.expr) else 0


def _price_of_call(callee: ast.expr) -> int:
    base, names = attribute_chain(callee)
    if names and names[-1].attr == "append":
        return OPERATION
    if path_of(callee).rpartition(".")[2] in MAKERS:
        return NEW_ARRAY
    if not names or (isinstance(base, ast.Name) and base.id in _CHEAP):
        return CALL
    return _ROW_CALLS.get(names[-1].attr, DOTTED_CALL)


def guess_of(
    node: ast.For | ast.While, names: Sequence[str], owners: Container[str] = ()
) -> Guess | None:
    """What the nest takes as Python, by its names: arrays and numbers; None: who knows.

    owners: what may stand for an array or number with dots behind it, which is a name then.
    """
    if not isinstance(node, ast.For):
        return None
    try:
        writer = _Writer(names, owners)
        writer.find_arrays(node)
        rounds = writer.rounds(node)
        steps = [*rounds, *writer.body(node.body), ("*", 0.0)]
        nodes = nodes_in([node])
        makes_arrays = any(isinstance(x, ast.Call) and _makes_array(x) for x in nodes)
        ends_early = any(isinstance(x, (ast.Break, ast.Return)) for x in nodes)
        return Guess(folded(steps), writer.names, writer.calls, makes_arrays, ends_early)
    except (_Unknown, RecursionError, OverflowError, ZeroDivisionError):
        return None
