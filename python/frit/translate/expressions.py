"""expressions.py: an expression of Python source -> a value of the kernel, by the rules."""

from __future__ import annotations

import ast
import builtins
import operator
import types
from typing import Any

from frit.translate.core import Core
from frit.translate.values import (
    Literal,
    LocalArray,
    Marker,
    Method,
    Number,
    Object,
    Place,
    Span,
    Struct,
    TupleOf,
    ViewPart,
)

_HINTS = {
    ast.ListComp: "write a loop",
    ast.SetComp: "write a loop",
    ast.DictComp: "write a loop",
    ast.GeneratorExp: "write a loop",
    ast.Dict: "use views, or a @pk.classtype",
    ast.Set: "use views",
    ast.JoinedStr: "print with pk.printf and its format",
    ast.Await: "a kernel does not wait",
    ast.Yield: "store the values into a view",
    ast.YieldFrom: "store the values into a view",
    ast.Starred: "name the arguments one by one",
    ast.NamedExpr: "assign in a statement of its own",
    ast.Lambda: "define the function with def, inside or outside of the kernel",
}
_VIEW_ATTRIBUTES = ("shape", "size", "ndim", "T", "dtype")


_FOLDED = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _is_team_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
        "team_rank",
        "team_size",
    )


class Expressions(Core):
    """Methods `of_..`, one for each kind of expression."""

    def expression(self, node: ast.expr) -> Any:
        """What the expression stands for (see values.py)."""
        method = getattr(self, "of_" + type(node).__name__, None)
        if method is None:
            name = type(node).__name__
            raise self.refuse(node, f"this expression ({name})", _HINTS.get(type(node), ""))
        return method(node)

    def condition(self, node: ast.expr) -> Number:
        return self.rules.truth(self, self.number(self.expression(node), node))

    def known_truth(self, node: ast.expr) -> bool | None:
        """Where a condition is known while translating (a flag of a scan, a constant)."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
            return bool(node.value)
        if isinstance(node, ast.Name):
            owner = self.scope.owner(node.id)
            held = owner.variables[node.id] if owner else None
            return bool(held.value) if isinstance(held, Literal) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.known_truth(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return False if self.known_truth(node.values[0]) is False else None
        return None

    def is_plain(self, node: ast.expr) -> bool:
        """Whether it may be computed where its value is not wanted: nothing is read or called."""
        return not any(
            isinstance(inner, (ast.Subscript, ast.Call)) and not self.is_pure_call(inner)
            for inner in ast.walk(node)
        )

    def is_pure_call(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name in self.rules.bare_functions

    # ---- names and attributes -------------------------------------------------------------------

    def of_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, (bool, int, float, complex)):
            return Literal(node.value)
        return Object(node.value)

    def of_Name(self, node: ast.Name) -> Any:
        owner = self.scope.owner(node.id)
        if owner is not None:
            return self.variable(node, owner)
        if node.id in self.scope.assigned:
            if not self.loops:
                raise self.refuse(node, f"'{node.id}' before it has a value", "assign it first")
            # Its value comes from the round of the loop before.
            place = Place(self.writer.local(self.place_type(node)), self.place_type(node))
            self.knowledge.places.setdefault(self.scope.key(node.id), place.dtype)
            self.scope.variables[node.id] = place
            return self.read(place)
        return self.outside_name(node)

    def place_type(self, node: ast.Name) -> str:
        scope = self.scope
        known = self.knowledge.places.get(scope.key(node.id))
        return scope.declared.get(node.id) or known or "?"

    def variable(self, node: ast.Name, owner: Any) -> Any:
        held = owner.variables[node.id]
        if isinstance(held, Place):
            return self.read(held)
        if isinstance(held, Number) and not self.writer.is_visible(held.id):
            self.knowledge.need_place(owner.key(node.id), held.dtype)
        return held

    def outside_name(self, node: ast.Name) -> Any:
        """A name of the function's surroundings."""
        found = self.environment.outside(self.function_object(), node.id)
        if found is not None:
            return self.of_object(node, found)
        if node.id in self.rules.bare_functions:
            return Object(None, ("math", node.id))
        if hasattr(builtins, node.id):
            return Object(getattr(builtins, node.id))
        raise self.refuse(node, f"the name '{node.id}', which has no value here")

    def of_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.expression(node.value)
        return self.attribute(node, owner, node.attr)

    def attribute(self, node: ast.AST, owner: Any, name: str) -> Any:
        if isinstance(owner, Object):
            return self.attribute_of_object(node, owner, name)
        if isinstance(owner, Struct):
            return self.attribute_of_struct(node, owner, name)
        if isinstance(owner, ViewPart):
            if name in _VIEW_ATTRIBUTES:
                return self.attribute_of_view(node, owner, name)
            return Method(name, owner)
        if isinstance(owner, Marker):
            return Method(name, owner)
        if isinstance(owner, (Number, Literal)) and name in ("real", "imag"):
            return self.part_of_complex(node, owner, name)
        raise self.refuse(node, f"the attribute '{name}' of this")

    def attribute_of_object(self, node: ast.AST, owner: Object, name: str) -> Any:
        value = owner.value
        if isinstance(value, types.ModuleType):
            if value.__name__ == "math" and name in self.rules.bare_functions:
                return Object(None, ("math", name))
            try:
                return self.of_object(node, Object(getattr(value, name)))
            except AttributeError:
                raise self.refuse(node, f"{value.__name__}.{name}, which does not exist") from None
        in_class = getattr(type(value), name, None)
        if isinstance(in_class, types.FunctionType):
            self.environment.guard_class(owner)
            return Method(in_class, owner)
        try:
            found = getattr(value, name)
        except AttributeError:
            raise self.refuse(node, f"the attribute '{name}', which does not exist") from None
        root = (*owner.root, name) if owner.root and owner.root[0] != "math" else None
        dtype = self.field_types(type(value)).get(name)
        return self.of_object(node, Object(found, root), dtype)

    def attribute_of_struct(self, node: ast.AST, owner: Struct, name: str) -> Any:
        if name in owner.fields:
            held = owner.fields[name]
            return self.read(held) if isinstance(held, Place) else held
        method = getattr(owner.cls, name, None)
        if isinstance(method, types.FunctionType):
            return Method(method, owner)
        raise self.refuse(node, f"the attribute '{name}', which the object does not have (yet)")

    def attribute_of_view(self, node: ast.AST, view: ViewPart, name: str) -> Any:
        extents = [self.extent(view.axes[k]) for k in view.free()]
        if name == "shape":
            return TupleOf(tuple(extents))
        if name == "ndim":
            return Literal(len(extents))
        if name == "size":
            size: Any = Literal(1)
            for extent in extents:
                size = self.apply("Multiply", self.typed(size, "l"), self.typed(extent, "l"))
            return size
        raise self.refuse(node, f"the attribute '{name}' of a view")

    def part_of_complex(self, node: ast.AST, owner: Any, name: str) -> Any:
        raise self.refuse(node, f"the {name} part of a number", "use views of floats")

    def of_object(self, node: ast.AST, found: Object, dtype: str | None = None) -> Any:
        """A view or number of the program as the kernel's; anything else as it is."""
        if found.root is None:
            if isinstance(found.value, (bool, int, float, complex)):
                return Literal(found.value)
            return found
        return self.environment.value_of(self, found, dtype)

    # ---- operators ------------------------------------------------------------------------------

    def binary(self, node: ast.AST, op: ast.operator, left: Any, right_node: ast.expr) -> Any:
        right = self.expression(right_node)
        x = self.number(left, node)
        if (
            isinstance(op, ast.Pow)
            and right == Literal(2)
            and isinstance(right.value, (int, float))
        ):
            return self.rules.square(self, x)
        result = self.rules.binary(self, op, x, self.number(right, right_node))
        if result is None:
            raise self.refuse(node, f"the operator {type(op).__name__} for these types")
        return result

    def of_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node, node.op, self.expression(node.left), node.right)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = self.expression(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(operand, Literal):
            return Literal(-operand.value)
        x = self.number(operand, node)
        if isinstance(node.op, ast.Not):
            return self.apply("LogicalNot", self.rules.truth(self, x))
        if isinstance(node.op, ast.USub):
            return self.rules.negative(self, x)
        if isinstance(node.op, ast.UAdd):
            return self.rules.positive(self, x)
        result = self.rules.invert(self, x)
        if result is None:
            raise self.refuse(node, "~ of this type")
        return result

    def of_BoolOp(self, node: ast.BoolOp) -> Any:
        is_and = isinstance(node.op, ast.And)
        result = self.condition(node.values[0])
        for k, value in enumerate(node.values[1:]):
            if self.is_plain(value):
                name = "LogicalAnd" if is_and else "LogicalOr"
                result = self.apply(name, result, self.condition(value))
                continue
            # The rest is only computed where it decides.
            place = self.local_place("?")
            self.write(place, result)
            rest = node.values[k + 1 :]
            node_of_rest = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            ast.copy_location(node_of_rest, value)
            open_case = result if is_and else self.apply("LogicalNot", result)

            def decide(place: Place = place, node_of_rest: ast.expr = node_of_rest) -> None:
                self.write(place, self.condition(node_of_rest))

            self.branch(open_case, decide, None)
            return self.read(place)
        return result

    def folded(self, node: ast.Compare) -> Literal | None:
        """A comparison of two known numbers."""
        sides = node.left, node.comparators[0]
        if len(node.ops) != 1 or not all(self.is_plain(s) or _is_team_call(s) for s in sides):
            return None
        values = [self.expression(side) for side in sides]
        if not all(isinstance(v, Literal) for v in values):
            return None
        compare = _FOLDED.get(type(node.ops[0]))
        return Literal(compare(values[0].value, values[1].value)) if compare else None

    def of_Compare(self, node: ast.Compare) -> Any:
        folded = self.folded(node)
        if folded is not None:
            return folded
        left = self.number(self.expression(node.left), node.left)
        result: Number | None = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.number(self.expression(right_node), right_node)
            one = self.rules.compare(self, op, left, right)
            if one is None:
                words = type(op).__name__
                raise self.refuse(node, f"the comparison {words}", "compare numbers with < > ==")
            result = one if result is None else self.apply("LogicalAnd", result, one)
            left = right
        return result

    def of_IfExp(self, node: ast.IfExp) -> Any:
        known = self.known_truth(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse)
        test = self.condition(node.test)
        if self.is_plain(node.body) and self.is_plain(node.orelse):
            x = self.number(self.expression(node.body), node.body)
            y = self.number(self.expression(node.orelse), node.orelse)
            dtype = self.rules.join(x.dtype, y.dtype)
            return self.apply("Select", test, self.convert(x, dtype), self.convert(y, dtype))
        key = (*self.scope.path, "if", node.lineno, node.col_offset)
        wanted = self.knowledge.places.get(key)
        place = self.local_place(wanted or "?")

        def take(part: ast.expr) -> None:
            value = self.number(self.expression(part), part)
            joined = value.dtype if wanted is None else self.rules.join(place.dtype, value.dtype)
            if joined != place.dtype:
                self.knowledge.need_place(key, joined)
            self.write(place, value)

        self.branch(test, lambda: take(node.body), lambda: take(node.orelse))
        return self.read(place)

    def of_Tuple(self, node: ast.Tuple) -> Any:
        return TupleOf(tuple(self.expression(item) for item in node.elts))

    def of_List(self, node: ast.List) -> Any:
        items = [self.number(self.expression(item), item) for item in node.elts]
        if not items:
            raise self.refuse(node, "an empty list", "use a view")
        dtype = items[0].dtype
        for item in items[1:]:
            dtype = self.rules.join(dtype, item.dtype)
        places = [self.local_place(dtype) for _ in items]
        for place, item in zip(places, items, strict=True):
            self.write(place, item)
        return LocalArray(places)

    # ---- elements -------------------------------------------------------------------------------

    def of_Subscript(self, node: ast.Subscript) -> Any:
        owner = self.expression(node.value)
        if isinstance(owner, ViewPart):
            part = self.index(node, owner)
            return part if part.free() else self.load(part)
        if isinstance(owner, TupleOf):
            index = self.expression(node.slice)
            if isinstance(index, Literal) and -len(owner.items) <= index.value < len(owner.items):
                return owner.items[index.value]
            raise self.refuse(node, "a tuple's item by this index", "use a constant index")
        if isinstance(owner, LocalArray):
            return self.item_of_list(node, owner)
        if isinstance(owner, Object) and isinstance(owner.value, type):
            return owner  # pk.ScratchView1D[..]
        raise self.refuse(
            node, f"an index into {self.named(node.value, owner)}", "index views and arrays"
        )

    def named(self, node: ast.expr, value: Any) -> str:
        """What stands in the text and has no elements, for messages."""
        if self.is_number(value):
            return f"the number '{ast.unparse(node)}'"
        if isinstance(value, Object) and value.value is None:
            return f"None ('{ast.unparse(node)}')"
        return "this"

    def element_of(self, node: ast.Subscript) -> ViewPart | None:
        """The element that the target names; None: it is none of a view."""
        owner = self.expression(node.value)
        if not isinstance(owner, ViewPart):
            return None
        part = self.index(node, owner)
        if part.free():
            raise self.refuse(node, "an assignment to a part of a view", "store single elements")
        return part

    def index(self, node: ast.Subscript, view: ViewPart) -> ViewPart:
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self.index_by(node, view, keys)

    def index_by(self, node: ast.AST, view: ViewPart, keys: list[ast.expr]) -> ViewPart:
        free = view.free()
        if len(keys) > len(free):
            raise self.refuse(
                node, f"{len(keys)} indices for a view with {len(free)} axes", "use fewer"
            )
        axes = list(view.axes)
        for key, k in zip(keys, free, strict=False):
            axes[k] = (
                self.slice_of(key, axes[k])
                if isinstance(key, ast.Slice)
                else self.inside(axes[k], self.index_number(key))
            )
        return ViewPart(view.parameter, view.dtype, tuple(axes), view.name)

    def index_number(self, node: ast.expr) -> Number:
        value = self.expression(node)
        if isinstance(value, Marker) and value.kind == "team":
            value = value.data[0]
        if isinstance(value, Literal) and isinstance(value.value, int):
            return self.constant(value.value, "l")
        number = self.number(value, node)
        if number.dtype not in "bBhHiIlL":
            raise self.refuse(
                node, f"an index that is no integer (type '{number.dtype}')", "use int(..)"
            )
        return number

    def inside(self, span: Span, index: Number) -> Number:
        if span.start is None:
            return index
        return self.apply("Add", self.convert(span.start, "l"), self.convert(index, "l"))

    def slice_of(self, node: ast.Slice, span: Span) -> Span:
        if node.step is not None:
            raise self.refuse(node, "a slice with a step", "slice outside of the kernel")
        if node.lower is None and node.upper is None:
            return span
        lower = self.typed(self.expression(node.lower), "l") if node.lower else None
        upper = (
            self.typed(self.expression(node.upper), "l")
            if node.upper
            else (self.typed(self.extent(span), "l"))
        )
        extent = self.apply("Subtract", upper, lower) if lower else upper
        start = self.inside(span, lower) if lower else span.start
        return Span(start, extent)

    def list_index(self, node: ast.AST, held: LocalArray, index: Literal) -> int:
        if isinstance(index.value, int) and 0 <= index.value < len(held.places):
            return index.value
        raise self.refuse(node, f"index {index.value} of a list of {len(held.places)}")

    def item_of_list(self, node: ast.Subscript, held: LocalArray) -> Number:
        index = self.expression(node.slice)
        if isinstance(index, Literal):
            return self.read(held.places[self.list_index(node, held, index)])
        at = self.number(index, node)
        result = self.read(held.places[0])
        for k, place in enumerate(held.places[1:], 1):
            same = self.apply("Equal", at, self.constant(k, at.dtype))
            result = self.apply("Select", same, self.read(place), result)
        return result

    @staticmethod
    def is_number(value: Any) -> bool:
        return isinstance(value, (Number, Literal))
