"""calls.py: calls: mathematics, casts, and functions and structs of the program, inlined."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

import numpy

from frit.translate.core import Core
from frit.translate.environment import number_type_of
from frit.translate.rules import FUNCTIONS
from frit.translate.values import (
    Inner,
    Literal,
    LocalArray,
    Method,
    Number,
    Object,
    Place,
    Struct,
    TupleOf,
    ViewPart,
)

_HINTS = {
    "print": "use pk.printf(format, ..)",
    "range": "use it in a for statement",
    "sum": "write a loop",
    "len": "use the extent of a view",
    "list": "use a view",
    "dict": "use views",
    "sorted": "sort outside of the kernel",
    "zip": "write a loop over an index",
    "enumerate": "write a loop over an index",
    "open": "a kernel has no files",
    "isinstance": "types are known when the kernel is made",
}


class Calls(Core):
    """Mixed into the walker; see walk.py."""

    expression: Any
    condition: Any
    run_body: Any
    new_scope: Any
    count: Any
    write_variable: Any

    def of_Call(self, node: ast.Call) -> Any:
        callee = self.callee(node.func)
        if isinstance(callee, Inner):
            return self.call_inner(node, callee, self.arguments(node))
        if isinstance(callee, Method):
            return self.call_method(node, callee)
        if isinstance(callee, Object):
            return self.call_object(node, callee)
        raise self.refuse(node, "a call of this", "call functions, or methods of views and structs")

    def callee(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in self.rules.bare_functions:
            if self.scope.owner(node.id) is None:
                return Object(None, ("math", node.id))
        return self.expression(node)

    def arguments(self, node: ast.Call) -> list[Any]:
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise self.refuse(node, "* in a call", "name the arguments one by one")
        return [self.expression(a) for a in node.args]

    def numbers(self, node: ast.Call) -> list[Number]:
        values = zip(self.arguments(node), node.args, strict=True)
        return [self.number(value, argument) for value, argument in values]

    # ---- what is called -------------------------------------------------------------------------

    def call_object(self, node: ast.Call, callee: Object) -> Any:
        value = callee.value
        if callee.root and callee.root[0] == "math":
            return self.call_function(node, callee.root[1])
        intrinsic = self.environment.intrinsics.get(id(value))
        if intrinsic is not None:
            return intrinsic(self, node)
        if isinstance(value, (type, types.BuiltinFunctionType)) and value in _BUILTINS:
            return getattr(self, "builtin_" + value.__name__)(node)
        if isinstance(value, type):
            dtype = number_type_of(value)
            return self.construct(node, value) if dtype is None else self.cast_to(node, dtype)
        if isinstance(value, types.FunctionType):
            return self.call_python(node, value, self.arguments(node), None)
        if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
            owner = Object(value.__self__, callee.root and (*callee.root, "__self__"))
            return self.call_python(node, value.__func__, self.arguments(node), owner)
        if isinstance(value, (types.BuiltinFunctionType, numpy.ufunc)) or hasattr(value, "nin"):
            name = getattr(value, "__name__", "")
            if name in FUNCTIONS or name in ("abs", "absolute", "pow"):
                return self.call_function(node, {"absolute": "abs"}.get(name, name))
        name = getattr(value, "__name__", repr(value))
        raise self.refuse(node, f"{name}()", _HINTS.get(name, "use a @pk.function"))

    def call_function(self, node: ast.Call, name: str) -> Number:
        if node.keywords:
            raise self.refuse(node, f"a keyword argument of {name}()")
        numbers = self.numbers(node)
        result = self.rules.function(self, name, numbers)
        if result is None:
            raise self.refuse(node, f"{name}() with {len(numbers)} arguments")
        return result

    def builtin_abs(self, node: ast.Call) -> Number:
        return self.call_function(node, "abs")

    def builtin_pow(self, node: ast.Call) -> Number:
        return self.call_function(node, "pow")

    def builtin_round(self, node: ast.Call) -> Number:
        return self.call_function(node, "round")

    def builtin_min(self, node: ast.Call) -> Number:
        return self.extreme(node, "min")

    def builtin_max(self, node: ast.Call) -> Number:
        return self.extreme(node, "max")

    def extreme(self, node: ast.Call, name: str) -> Number:
        numbers = self.numbers(node)
        if len(numbers) < 2:
            raise self.refuse(node, f"{name}() of one argument", "give it the numbers one by one")
        return self.rules.extreme(self, name, numbers)

    def builtin_int(self, node: ast.Call) -> Number:
        return self.cast_to(node, self.rules.type_names["int"])

    def builtin_float(self, node: ast.Call) -> Number:
        return self.cast_to(node, self.rules.type_names["float"])

    def builtin_bool(self, node: ast.Call) -> Number:
        return self.rules.truth(self, self.one_number(node))

    def builtin_len(self, node: ast.Call) -> Any:
        values = self.arguments(node)
        if len(values) == 1 and isinstance(values[0], ViewPart) and values[0].free():
            view = values[0]
            return self.extent(view.axes[view.free()[0]])
        if len(values) == 1 and isinstance(values[0], (TupleOf, LocalArray)):
            held = values[0]
            return Literal(len(held.items if isinstance(held, TupleOf) else held.places))
        raise self.refuse(node, "len() of this", "use it for views")

    def cast_to(self, node: ast.Call, dtype: str) -> Number:
        return self.convert(self.one_number(node), dtype)

    def one_number(self, node: ast.Call) -> Number:
        numbers = self.numbers(node)
        if len(numbers) != 1:
            raise self.refuse(node, f"a conversion of {len(numbers)} arguments")
        return numbers[0]

    # ---- ranges ---------------------------------------------------------------------------------

    def range_of(self, node: ast.expr) -> tuple[Any, Any, Any]:
        """begin, end and step of a loop's range."""
        is_range = isinstance(node, ast.Call) and self.is_range(node.func)
        if not is_range or not 1 <= len(node.args) <= 3 or node.keywords:
            raise self.refuse(node, "a loop over this", "loop over range(..)")
        values = []
        for argument in node.args:
            value = self.expression(argument)
            if not isinstance(value, Literal):
                value = self.number(value, argument)
            dtype = value.dtype if isinstance(value, Number) else type(value.value).__name__
            if dtype not in ("b", "B", "h", "H", "i", "I", "l", "L", "int", "?", "bool"):
                raise self.refuse(argument, "a bound that is no integer", "use int(..)")
            values.append(value)
        if len(values) == 1:
            return Literal(0), values[0], Literal(1)
        step = values[2] if len(values) == 3 else Literal(1)
        if step == Literal(0):
            raise self.refuse(node, "a step of 0")
        return values[0], values[1], step

    def is_range(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Name) or self.scope.owner(node.id):
            return False
        found = self.environment.outside(self.function_object(), node.id)
        return found is not None and found.value is builtins.range

    # ---- functions of the program ---------------------------------------------------------------

    def call_inner(self, node: ast.AST, inner: Inner, values: list[Any]) -> Any:
        arguments = inner.node.args.args
        if len(arguments) != len(values):
            raise self.refuse(node, f"{len(values)} arguments for {len(arguments)}")
        names = [a.arg for a in arguments]
        scope = self.new_scope(inner.node, self.step_of(node), inner.scope, names)
        self.bind(node, scope, arguments, values)
        return self.run_body(inner.node, scope)

    def step_of(self, node: ast.AST) -> tuple[Any, ...]:
        return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

    def call_python(
        self, node: ast.Call, function: types.FunctionType, values: list[Any], owner: Any
    ) -> Any:
        source = self.source(function)
        arguments = source.arguments()
        if isinstance(owner, (Object, Struct)):
            values = [owner, *values]
        given = dict(zip((a.arg for a in arguments), values, strict=False))
        for keyword in node.keywords:
            if keyword.arg is None or keyword.arg in given:
                raise self.refuse(node, f"the keyword argument {keyword.arg}")
            given[keyword.arg] = self.expression(keyword.value)
        defaults = function.__defaults__ or ()
        for argument, value in zip(reversed(arguments), reversed(defaults), strict=False):
            if argument.arg not in given and isinstance(value, (bool, int, float)):
                given[argument.arg] = Literal(value)
        if len(values) > len(arguments) or any(a.arg not in given for a in arguments):
            raise self.refuse(node, f"these arguments of {function.__name__}()")
        names = [a.arg for a in arguments]
        scope = self.new_scope(source.node, self.step_of(node), None, names)
        file = self.file
        self.functions.append(function)
        try:
            self.file = source.file
            self.bind(node, scope, arguments, [given[name] for name in names])
            if isinstance(source.node, ast.FunctionDef):
                scope.result_type = self.annotated_type(source.node.returns)
            return self.run_body(source.node, scope)
        finally:
            self.functions.pop()
            self.file = file

    def bind(self, node: ast.AST, scope: Any, arguments: list[ast.arg], values: list[Any]) -> None:
        """Gives the parameters their values: numbers are copies, of the annotated type."""
        for argument, value in zip(arguments, values, strict=True):
            if isinstance(value, (Number, Literal)):
                dtype = self.annotated_type(argument.annotation)
                if isinstance(value, Number) or dtype:
                    value = self.number(value, node)
                    value = self.convert(value, dtype) if dtype else value
                key = scope.key(argument.arg)
                if argument.arg in scope.several or key in self.knowledge.places:
                    value = self.number(value, node)
                    wanted = dtype or self.knowledge.places.get(key) or value.dtype
                    place = self.local_place(wanted)
                    if dtype:
                        scope.declared[argument.arg] = dtype
                    scope.variables[argument.arg] = place
                    self.write_variable(node, key, place, value, scope)
                    continue
            scope.variables[argument.arg] = value

    def call_method(self, node: ast.Call, method: Method) -> Any:
        if isinstance(method.function, types.FunctionType):
            return self.call_python(node, method.function, self.arguments(node), method.owner)
        if isinstance(method.owner, ViewPart):
            return self.call_view(node, method.owner, method.function)
        handler = self.environment.intrinsics.get("method " + method.function)
        if handler is not None:
            return handler(self, node, method.owner)
        raise self.refuse(node, f"the method {method.function}()")

    def call_view(self, node: ast.Call, view: ViewPart, name: str) -> Any:
        free = view.free()
        if name == "rank" and not node.args:
            return Literal(len(free))
        if name in ("extent", "extent_int") and len(node.args) == 1:
            axis = self.expression(node.args[0])
            if not isinstance(axis, Literal) or not isinstance(axis.value, int):
                raise self.refuse(node, "an extent of a computed axis", "use a number")
            if not 0 <= axis.value < len(free):
                raise self.refuse(node, f"extent({axis.value}) of a view with {len(free)} axes")
            return self.extent(view.axes[free[axis.value]])
        raise self.refuse(node, f"the method {name}() of a view", "index it, or use its extent(..)")

    # ---- structs --------------------------------------------------------------------------------

    def construct(self, node: ast.Call, cls: type) -> Struct:
        init = cls.__init__
        if not isinstance(init, types.FunctionType):
            raise self.refuse(node, f"{cls.__name__}()", "use a @pk.classtype with __init__")
        made = Struct(cls)
        self.call_python(node, init, self.arguments(node), made)
        return made


_BUILTINS = frozenset([abs, pow, round, min, max, int, float, bool, len])
__all__ = ["Calls", "Place"]
