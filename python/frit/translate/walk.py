"""walk.py: a function's statements, one after another, as instructions of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from frit.translate.calls import Calls
from frit.translate.errors import refusal
from frit.translate.expressions import Expressions
from frit.translate.flow import LEAVING, leaves_first, may_leave
from frit.translate.scope import Scope
from frit.translate.source import FunctionNode
from frit.translate.values import (
    NONE,
    Inner,
    Literal,
    LocalArray,
    Marker,
    NoneValue,
    Number,
    Object,
    Place,
    Struct,
    TupleOf,
    ViewPart,
)

_HINTS = {
    ast.Try: "there are no exceptions inside a kernel; test for the case with if",
    ast.With: "do it around the launch",
    ast.Raise: "there are no exceptions inside a kernel; store a flag in a view and test it after",
    ast.Assert: "there are no exceptions inside a kernel; store a flag in a view and test it after",
    ast.Delete: "variables end with the kernel",
    ast.Global: "pass a view and store into it",
    ast.Import: "import at the top of the module",
    ast.ImportFrom: "import at the top of the module",
    ast.ClassDef: "define it outside and mark it with @pk.classtype",
    ast.AsyncFor: "use for i in range(..)",
    ast.Match: "use if and elif",
}


class _Loop:
    """The flags of a loop that is left early."""

    def __init__(self) -> None:
        self.broken: Place | None = None
        self.skipped: Place | None = None


class Walker(Expressions, Calls):
    """Translates function bodies; see expressions.py and calls.py for what is inside statements."""

    # ---- functions ------------------------------------------------------------------------------

    def run_body(self, node: FunctionNode, scope: Scope) -> Any:
        """The body of a function in its scope; its result."""
        outer = self.scope, self.loops
        self.scope, self.loops = scope, []
        try:
            if isinstance(node, ast.Lambda):
                return self.expression(node.body)
            body = node.body
            early = any(may_leave(s, (ast.Return,)) for s in body[:-1]) or (
                bool(body)
                and not isinstance(body[-1], ast.Return)
                and may_leave(body[-1], (ast.Return,))
            )
            if early:
                scope.returned = self.flag()
            self.statements(body)
            if scope.result_place is not None:
                return self.read(scope.result_place)
            return NONE if scope.result is None else scope.result
        finally:
            self.scope, self.loops = outer

    def new_scope(
        self, node: FunctionNode, step: Any, parent: Scope | None, names: list[str]
    ) -> Scope:
        body = [] if isinstance(node, ast.Lambda) else node.body
        path = (*self.scope.path, step) if self.scope else (step,)
        if len(path) > 60:
            raise self.refuse(node, "recursion", "write it as a loop")
        return Scope(path, parent, names, body)

    # ---- lists of statements --------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for k, statement in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(statement, ast.If) and rest and self.leaves_first(statement, rest):
                return
            self.statement(statement)
            if isinstance(statement, LEAVING):
                return
            if rest and may_leave(statement):
                self.unless(self.flags_of(statement), lambda rest=rest: self.statements(rest))
                return

    def leaves_first(self, statement: ast.If, rest: list[ast.stmt]) -> bool:
        """`if c: .. return` and the rest: the rest is the else branch."""
        test = self.known_truth(statement.test)
        if test is not None:
            return False
        if leaves_first(statement):
            self.branch(
                self.condition(statement.test),
                lambda: self.statements(statement.body),
                lambda: self.statements([*statement.orelse, *rest]),
            )
            return True
        return False

    def flags_of(self, statement: ast.stmt) -> list[Place]:
        flags = []
        if self.scope.returned is not None and may_leave(statement, (ast.Return,)):
            flags.append(self.scope.returned)
        if self.loops and may_leave(statement, (ast.Break, ast.Continue)):
            loop = self.loops[-1]
            flags += [flag for flag in (loop.broken, loop.skipped) if flag is not None]
        return flags

    def unless(self, flags: list[Place], body: Callable[[], None]) -> None:
        if not flags:
            body()
            return
        left = self.read(flags[0])
        for flag in flags[1:]:
            left = self.apply("LogicalOr", left, self.read(flag))
        self.branch(self.apply("LogicalNot", left), body, None)

    def statement(self, node: ast.stmt) -> None:
        self.line = node.lineno
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            raise self.refuse(node, type(node).__name__.lower(), _HINTS.get(type(node), ""))
        method(node)

    # ---- simple statements ----------------------------------------------------------------------

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            owner = self.scope.parent.owner(name) if self.scope.parent else None
            if owner is None:
                raise self.refuse(node, f"nonlocal {name} before {name} has a value")
            self.scope.outer[name] = owner

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if not isinstance(node.value, ast.Call):
            raise self.refuse(node, "an expression without effect", "assign it, or call a function")
        self.expression(node.value)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scope.variables[node.name] = Inner(node, self.scope)

    def do_Return(self, node: ast.Return) -> None:
        scope = self.scope
        if node.value is not None:
            value = self.expression(node.value)
            if scope.returned is None:
                if scope.result_type and self.is_number(value):
                    value = self.convert(self.number(value, node), scope.result_type)
                scope.result = value
            else:
                self.return_early(node, value)
        if scope.returned is not None:
            self.write(scope.returned, self.constant(True, "?"))

    def return_early(self, node: ast.Return, value: Any) -> None:
        scope = self.scope
        number = self.number(value, node)
        key = scope.key("return")
        known = scope.result_type or self.knowledge.places.get(key)
        wanted = scope.result_type or self.rules.join(known or number.dtype, number.dtype)
        if known is None or wanted != known:
            self.knowledge.places[key] = wanted
            if scope.result_place is not None:
                self.knowledge.need_place(key, wanted)
        if scope.result_place is None:
            scope.result_place = Place(self.writer.local(wanted), wanted)
        self.write(scope.result_place, number)

    # ---- assignments ----------------------------------------------------------------------------

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in reversed(node.targets):
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, (ast.Name, ast.Attribute)):
            raise self.refuse(node, "an annotation of this target")
        dtype = self.annotated_type(node.annotation)
        if node.value is None:
            if isinstance(node.target, ast.Name) and dtype:
                self.scope.declared[node.target.id] = dtype
            return
        self.pending_type = self.scratch_type(node.annotation)
        value = self.expression(node.value)
        self.pending_type = None
        if dtype and self.is_number(value):
            if isinstance(node.target, ast.Name):
                self.scope.declared[node.target.id] = dtype
            value = self.convert(self.number(value, node), dtype)
        self.assign(node.target, value)

    def scratch_type(self, node: ast.expr) -> str | None:
        """The element type of an annotation like ScratchView1D[float]."""
        return self.annotated_type(node.slice) if isinstance(node, ast.Subscript) else None

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        place = self.element_of(node.target) if isinstance(node.target, ast.Subscript) else None
        if place is None:
            current = self.expression(node.target)
            self.assign(node.target, self.binary(node, node.op, current, node.value))
            return
        # The element's indices are computed once.
        self.store(node, place, self.binary(node, node.op, self.load(place), node.value))

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target, value)
        elif isinstance(target, ast.Subscript):
            place = self.element_of(target)
            if place is None:
                self.assign_item(target, value)
            else:
                self.store(target, place, value)
        elif isinstance(target, ast.Attribute):
            self.assign_field(target, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value.items if isinstance(value, TupleOf) else None
            if items is None or len(items) != len(target.elts):
                raise self.refuse(target, "unpacking of this", "give as many values as there are")
            for part, item in zip(target.elts, items, strict=True):
                self.assign(part, item)
        else:
            raise self.refuse(target, "an assignment to this", "assign to variables and elements")

    def assign_name(self, node: ast.Name, value: Any) -> None:
        scope = self.scope.outer.get(node.id, self.scope)
        name, key = node.id, scope.key(node.id)
        if isinstance(value, NoneValue):
            raise self.refuse(node, "None", "the function called here gives no result")
        held = scope.variables.get(name)
        if isinstance(held, Place):
            self.write_variable(node, key, held, value, scope)
        elif isinstance(value, Struct) and (
            name in scope.several or value.is_assigned_again or value.has_name
        ):
            scope.variables[name] = self.copied_struct(node, value, held)
        elif not self.is_number(value):
            if name in scope.several and not isinstance(value, (Struct, Object, Marker)):
                kind = "view" if isinstance(value, ViewPart) else "function, list or tuple"
                raise self.refuse(
                    node, f"a {kind} that depends on a condition", "assign it to one variable once"
                )
            if name in scope.several and held is not None and held is not value:
                raise self.refuse(node, "an object that depends on a condition")
            if isinstance(value, Struct):
                value.has_name = True
            scope.variables[name] = value
        else:
            number = self.number(value, node)
            dtype = scope.declared.get(name)
            if name in scope.several or key in self.knowledge.places:
                wanted = dtype or self.knowledge.places.get(key) or number.dtype
                place = Place(self.writer.local(wanted), wanted)
                scope.variables[name] = place
                self.write_variable(node, key, place, number, scope)
            else:
                scope.variables[name] = self.convert(number, dtype) if dtype else number

    def copied_struct(self, node: ast.Name, value: Struct, held: Any) -> Struct:
        """An object that is assigned more than once, or from another variable, is a variable of its
        own, as in C++: what is assigned is copied into it, and out of it.
        """
        if held is None:
            fields = {name: self.own_field(f) for name, f in value.fields.items()}
            held = Struct(value.cls, fields, is_assigned_again=True)
        if not isinstance(held, Struct) or held.cls is not value.cls:
            raise self.refuse(node, "an object of another class by a condition")
        for name, field in value.fields.items():
            place = held.fields.get(name)
            if isinstance(place, Place) and isinstance(field, Place):
                self.write(place, self.read(field))
            elif place is not field:
                raise self.refuse(node, f"an object whose '{name}' depends on a condition")
        return held

    def own_field(self, field: Any) -> Any:
        return (
            Place(self.writer.local(field.dtype), field.dtype)
            if isinstance(field, Place)
            else field
        )

    def write_variable(
        self, node: ast.AST, key: tuple[Any, ...], place: Place, value: Any, scope: Scope
    ) -> None:
        number = self.number(value, node)
        if key[-1] not in scope.declared:
            joined = self.rules.join(place.dtype, number.dtype)
            if joined != place.dtype and key not in self.fixed_places:
                self.knowledge.need_place(key, joined)
        self.write(place, number)

    def assign_field(self, target: ast.Attribute, value: Any) -> None:
        owner = self.expression(target.value)
        if not isinstance(owner, Struct):
            raise self.refuse(
                target, "an assignment to an attribute", "store into a view, or return the value"
            )
        held = owner.fields.get(target.attr)
        if isinstance(held, Place):
            self.write(held, self.number(value, target))
        elif self.is_number(value):
            number = self.number(value, target)
            dtype = self.field_types(owner.cls).get(target.attr) or number.dtype
            place = Place(self.writer.local(dtype), dtype)
            owner.fields[target.attr] = place
            self.write(place, number)
        else:
            owner.fields[target.attr] = value

    def assign_item(self, target: ast.Subscript, value: Any) -> None:
        held = self.expression(target.value)
        if not isinstance(held, LocalArray):
            named = self.named(target.value, held)
            hint = "store single elements" if named == "this" else "store into views and arrays"
            raise self.refuse(target, f"an assignment to a part of {named}", hint)
        index = self.expression(target.slice)
        number = self.number(value, target)
        if isinstance(index, Literal):
            self.write(held.places[self.list_index(target, held, index)], number)
            return
        at = self.number(index, target)
        for k, place in enumerate(held.places):
            same = self.apply("Equal", at, self.constant(k, at.dtype))
            self.branch(same, lambda place=place: self.write(place, number), None)

    # ---- branches and loops ---------------------------------------------------------------------

    def branch(
        self, condition: Number, body: Callable[[], None], otherwise: Callable[[], None] | None
    ) -> None:
        self.writer.branch(condition.id, self.guarded(body), otherwise and self.guarded(otherwise))

    def guarded(self, body: Callable[[], None]) -> Callable[[], None]:
        """Names that a block binds to values of its own are bound anew behind it."""

        def run() -> None:
            loops = list(self.loops)
            body()
            self.loops = loops

        return run

    def do_If(self, node: ast.If) -> None:
        known = self.known_truth(node.test)
        if known is not None:
            self.statements(node.body if known else node.orelse)
            return
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
            if not node.orelse and not all(self.is_plain(v) for v in node.test.values[1:]):
                # `if a and b`: b is only computed where a holds.
                first, *others = node.test.values
                inner = others[0] if len(others) == 1 else ast.BoolOp(ast.And(), others)
                nested = ast.If(test=inner, body=node.body, orelse=[])
                ast.copy_location(inner, node.test)
                ast.copy_location(nested, node)
                self.branch(self.condition(first), lambda: self.statement(nested), None)
                return
        test = self.expression(node.test)
        if isinstance(test, Literal):
            self.statements(node.body if test.value else node.orelse)
            return
        self.branch(
            self.rules.truth(self, self.number(test, node.test)),
            lambda: self.statements(node.body),
            (lambda: self.statements(node.orelse)) if node.orelse else None,
        )

    def do_Break(self, node: ast.Break) -> None:
        self.write(self.loops[-1].broken, self.constant(True, "?"))

    def do_Continue(self, node: ast.Continue) -> None:
        self.write(self.loops[-1].skipped, self.constant(True, "?"))

    def loop_flags(self, node: ast.For | ast.While) -> _Loop:
        loop = _Loop()
        if any(may_leave(s, (ast.Break,)) for s in node.body):
            loop.broken = self.flag()
        if any(may_leave(s, (ast.Continue,)) for s in node.body):
            loop.skipped = self.flag()
        return loop

    def loop_body(self, node: ast.For | ast.While, loop: _Loop) -> None:
        if loop.skipped is not None:
            self.write(loop.skipped, self.constant(False, "?"))
        self.loops.append(loop)
        self.statements(node.body)
        self.loops.pop()

    def stopping_flags(self, node: ast.For | ast.While, loop: _Loop) -> list[Place]:
        flags = [loop.broken] if loop.broken is not None else []
        if self.scope.returned is not None and any(may_leave(s, (ast.Return,)) for s in node.body):
            flags.append(self.scope.returned)
        return flags

    def do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.refuse(node.orelse[0], "else after a loop", "use a flag")
        loop = self.loop_flags(node)
        if loop.broken is not None:
            self.write(loop.broken, self.constant(False, "?"))
        stops = self.stopping_flags(node, loop)

        def test() -> int:
            if not stops:
                return self.condition(node.test).id
            going = self.local_place("?")
            self.write(going, self.constant(False, "?"))
            self.unless(stops, lambda: self.write(going, self.condition(node.test)))
            return self.read(going).id

        self.writer.repeat(test, self.guarded(lambda: self.loop_body(node, loop)))

    def do_For(self, node: ast.For) -> None:
        if node.orelse:
            raise self.refuse(node.orelse[0], "else after a loop", "use a flag")
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target, "a loop over several variables", "use one variable")
        begin, end, step = self.range_of(node.iter)
        loop = self.loop_flags(node)
        if loop.broken is not None:
            self.write(loop.broken, self.constant(False, "?"))
        stops = self.stopping_flags(node, loop)

        def body(index: Number) -> None:
            def run() -> None:
                self.assign_name(node.target, index)
                self.loop_body(node, loop)

            self.unless(stops, run)

        self.count(begin, end, step, body)

    def count(self, begin: Any, end: Any, step: Any, body: Callable[[Number], None]) -> None:
        """for index in range(begin, end, step): body(index)."""
        dtype = self.rules.index_type
        for bound in (begin, end, step):
            if isinstance(bound, Number) and bound.dtype != "?":
                dtype = self.rules.join(dtype, bound.dtype)
        if step == Literal(1):
            first = self.number(begin)

            def plain(index: int) -> None:
                body(self.convert(Number(index, "l"), dtype))

            self.writer.loop(
                self.convert(first, "l").id,
                self.convert(self.number(end), "l").id,
                self.wrapped(plain),
            )
            return
        # index = begin + number * step, number below ceil((end - begin) / step).
        start, stop, stride = (self.convert(self.number(x), "l") for x in (begin, end, step))
        distance = self.apply("Subtract", stop, start)
        # -floor(-d / s) rounds up.
        rounds = self.apply(
            "Negative", self.apply("FloorDivide", self.apply("Negative", distance), stride)
        )

        def strided(number: int) -> None:
            offset = self.apply("Multiply", Number(number, "l"), stride)
            body(self.convert(self.apply("Add", start, offset), dtype))

        zero = self.constant(0, "l")
        self.writer.loop(zero.id, rounds.id, self.wrapped(strided))

    def wrapped(self, body: Callable[[int], None]) -> Callable[[int], None]:
        def run(index: int) -> None:
            loops = list(self.loops)
            body(index)
            self.loops = loops

        return run

    def refuse(self, node: ast.AST, construct: str, hint: str = "") -> Exception:
        return refusal(
            self.file, node if hasattr(node, "lineno") else _At(self.line), construct, hint
        )


class _At(ast.AST):
    def __init__(self, line: int) -> None:
        self.lineno = line
