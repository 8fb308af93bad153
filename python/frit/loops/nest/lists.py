"""lists.py: Python's lists in a nest: their items, which are Python's numbers, and `append`.

A call gives a nest arrays of the numbers that are in lists, and stores into these what has changed
(list_runs.py). So an item is an element of an array that nobody else has. What a list's type of
number can't hold is noted beside it: in a list of floats and ints, `tags` say which are floats.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

from frit.loops.names import nodes_in
from frit.loops.nest.forms import LARGEST, LEAST, Form, Symbol
from frit.loops.nest.values import (
    COMPLEXES,
    Again,
    ArrayName,
    Character,
    Item,
    Listed,
    ListPart,
    Refused,
    SmallArray,
    Span,
    Value,
    View,
)
from frit.loops.nest.views import ZERO
from frit.loops.run.list_runs import COUNT, TAGS, ListFacts, TagsNeeded
from frit.translate.rules import COMPARISONS

TEXT = "s"  # a string, in a call's key
KINDS = {
    "d": "float",
    "n": "d",  # NumPy's
    "l": "int",
    "?": "bool",
    "m": "mixed",
    "c": "character",
    TEXT: "character",
}
_MIXED = frozenset({"int", "float"})
# Of numbers in tuples and lists that are appended, as results have them (list_runs.py).
_RECORDED = {"float": "F", "int": "I", "bool": "B", "d": "d", "l": "l"}
MORE = 2**16  # room for items in a list that a while appends to


def is_append(node: ast.AST, name: str) -> bool:
    """Of a nest's own tree."""
    is_store = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name)
    return is_store and node.slice.id == name + COUNT


class Lists:
    """Mixed into NestWriter."""

    apply: Any
    arrays: dict[str, View]
    assigned: set[str]
    emit: Any
    element_of: Any
    extent: Any
    first_of: Any
    fail_outside_of: Any
    forms: Any
    half_loose: set[int]
    inputs: Any
    is_loose: Any
    is_stale: bool
    knowledge: Any
    lists: dict[str, ListPart]
    note_holder: Any
    loose_form: Any
    note_position: Any
    operand: Any
    over: Any
    parameters: list[int]
    paused: int | None
    pausing: dict[str, int]
    part: Any
    indices_of: Any
    read_variable: Any
    require: Any
    sliced: set[str]
    texts: set[str]
    tag_of: Any
    require_value: Any
    whole: Any
    writer: Any
    written: set[int]
    capacities: dict[int, list[Callable[[], str]]]

    def take_list(self, number: int, name: str, word: str) -> None:
        """word: what the call's key says of it."""
        if name in self.assigned:
            raise Refused(None, f"the list {name} is assigned to in the loop")
        if int(word[2]) > 1 and self.is_grown(name):
            raise Refused(None, f"{name}, a list of lists that is appended to")
        kind = KINDS.get(word[1], "float")
        if word[1] == "0" and self.is_grown(name):
            kind = self.knowledge.appended.get(name, "float")
        if name + TAGS in self.inputs.names:
            kind = "mixed"
        dtype = {"float": "d", "int": "l", "bool": "?", "mixed": "d", "character": "I"}.get(
            kind, kind
        )
        array = ArrayName(number, dtype, int(word[2]), word[0] == "L", name)
        array.parameter = self.writer.parameter(array.dtype, array.rank)
        self.parameters.append(number)
        view = self.whole(array)
        self.lists[name] = ListPart(view, kind)
        if word[1] == TEXT:
            self.texts.add(name)

    def is_grown(self, name: str) -> bool:
        return name + COUNT in self.inputs.names

    def list_named(self, name: str) -> ListPart:
        """The list as it is here: one that is appended to has another length in each round."""
        part = self.lists[name]
        if not self.is_grown(name):
            return part
        count = self.read_variable(ast.Pass(), name + COUNT)
        self.half_loose |= {symbol for symbol, _ in count.form.terms}  # only the nest knows it
        return ListPart(View(part.view.array, (Span(ZERO, count),)), part.kind)

    def item_of(self, node: ast.Subscript, owner: ListPart) -> Item:
        part = self.part_of_list(node, owner)
        return part if part.view.spans else self.load_item(node, part)

    def part_of_list(self, node: ast.Subscript, owner: ListPart) -> ListPart:
        if isinstance(node.slice, (ast.Slice, ast.Tuple)):
            raise Refused(node, "a part of a list")
        if not owner.view.spans:
            raise Refused(node, "an element of a number")
        array = owner.view.array
        if isinstance(node.slice, ast.Name) and node.slice.id == array.name + COUNT:
            return ListPart(self.place_behind(owner), owner.kind)
        return ListPart(self.part(node, owner.view), owner.kind)

    def slice_of_list(self, node: ast.expr) -> ListPart | None:
        """a[i:j], for what only reads it: then it need be no list of its own."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            return None
        owner = self.operand(node.value)
        if not isinstance(owner, ListPart) or not owner.view.spans:
            return None
        return ListPart(self.part(node, owner.view), owner.kind)

    def appends_of(self, loop: ast.While) -> dict[str, int]:
        """How much a round of the nest appends to each list, where that is certain."""
        found: dict[str, int] = {}
        loops = (part for part in nodes_in(loop.body) if isinstance(part, (ast.For, ast.While)))
        inner = [statement for part in loops for statement in part.body]
        for name in filter(self.is_grown, self.lists):
            stores = [part for part in nodes_in(loop.body) if is_append(part, name)]
            if not any(is_append(part, name) for part in nodes_in(inner)):
                found[name] = len(stores)
        return found

    def goes_on(self, node: ast.While, test: int) -> int:
        """Whether the nest goes round again: if it would and a list is full, it pauses."""
        apply, room = self.writer.apply, None
        for name, most in self.pausing.items():
            count = self.emit(self.read_variable(node, name + COUNT), "l")
            behind = apply("Add", [count, self.writer.constant(most, "l")])
            if (width := self.width_of(name)) > 1:
                behind = apply("Multiply", [behind, self.writer.constant(width, "l")])
            size = self.writer.extent(self.lists[name].view.array.parameter, 0)
            is_there = apply("LessEqual", [behind, size])
            room = is_there if room is None else apply("LogicalAnd", [room, is_there])
        is_full = apply("LogicalNot", [room])
        self.writer.write_local(self.paused, apply("LogicalAnd", [test, is_full]))
        goes_on: int = apply("LogicalAnd", [test, room])
        return goes_on

    def place_behind(self, owner: ListPart) -> View:
        """Where `append` puts its number: there is room for as many as may come."""
        array = owner.view.array
        count = owner.view.spans[0].extent
        facts = self.forms.facts
        form = count.form
        assert form is not None
        texts = self.capacities.setdefault(array.number, [])
        width = self.width_of(array.name)
        if array.name in self.pausing:
            texts.append(lambda: f"{width}*(2*v{self.index_of_name(array.name + COUNT)}+{MORE})")
            return View(array, (count,))
        texts.append(lambda: f"{width}*({self.forms.most(form + Form((), 1), facts)})")
        return View(array, (count,))

    def width_of(self, name: str) -> int:
        """How many elements of the list's array an item takes: an array's, and its number."""
        if name in self.knowledge.records:
            return len(self.knowledge.records[name]) - 1
        known = self.knowledge.rows.get(name)
        return 1 if known is None else math.prod(known[1]) + 1

    def first_of_list(self, node: ast.AST, owner: ListPart, index: Value) -> Item:
        """Of an index that is inside."""
        part = ListPart(self.first_of(owner.view, index), owner.kind)
        return part if part.view.spans else self.load_item(node, part)

    def load_item(self, node: ast.AST, part: ListPart) -> Value | Character:
        view, kind = part.view, part.kind
        self.note_position(node)
        line = getattr(node, "lineno", 0)
        id = self.writer.load(view.array.parameter, self.indices_of(view), line)
        if kind == "mixed":
            return self.mixed_item(part, id, line)
        if kind == "character":
            return Character(Value("I", id))
        value = Value(kind, id)
        name, number = view.array.name, view.array.number
        if kind == "int" and (name in self.knowledge.stored or self.is_grown(name)):
            value.form = self.loose_form(LEAST, LARGEST)
        elif kind == "int":
            least, most = (self.forms.of_text(f"m{number}_{x}", None) for x in ("lo", "hi"))
            value.form = self.forms.symbol(Symbol(low=[least], high=[most]))
            self.half_loose |= {symbol for symbol, _ in value.form.terms}
        elif kind in "bBhHiIlL":
            raise Refused(node, "an integer of NumPy's that was appended to a list")
        return value

    def mixed_item(self, part: ListPart, id: int, line: int) -> Value:
        value = Value("float", id, among=_MIXED)
        array = part.view.array
        if array.name + TAGS in self.inputs.names:
            tags = self.arrays[array.name + TAGS].array
            self.note_position(ast.Pass())
            value.tag = self.writer.load(tags.parameter, self.indices_of(part.view), line)
        else:
            value.untagged = array.name, array.rank
        return value

    def character(self, node: ast.AST, item: Item) -> Item:
        """The character that a string of the call is; anything else stays what it is."""
        if not isinstance(item, ListPart) or item.view.array.name not in self.texts:
            return item
        self.require(item.view.spans[0].extent.form, 1, 1)
        return self.first_of_list(node, item, ZERO)

    def compare_characters(self, node: ast.AST, op: ast.cmpop, x: Character, y: Character) -> Value:
        name = COMPARISONS.get(type(op))
        if name is None:
            raise Refused(node, "this comparison")
        found: Value = self.apply(name, "bool", (x.code, "I"), (y.code, "I"))
        return found

    def code_of(self, x: Character) -> Value:
        """ord(x)"""
        form = self.forms.between(0, 0x10FFFF)
        return Value("int", self.emit(x.code, "l"), form=form)

    def all_of_list(self, node: ast.AST, function: Any, part: ListPart) -> Value:
        """sum(), min() or max() of a list of ints or floats, as Python's loop has it."""
        name, kind = function.__name__, part.kind
        if len(part.view.spans) != 1 or kind not in _MIXED:
            raise Refused(node, f"{name}() of this list")
        if name == "sum" and kind == "float" and sys.version_info >= (3, 12):
            raise Refused(node, "sum() of floats, which Python compensates")
        extent = part.view.spans[0].extent
        dtype = part.view.array.dtype
        if name != "sum" or kind == "float":
            self.require(extent.form, 1, None)  # else an exception, or 0
        place = self.writer.local(dtype)
        write, read, apply = self.writer.write_local, self.writer.read_local, self.writer.apply
        first = self.writer.constant(0, "l") if name == "sum" else None
        if first is None:
            index = Value("int", literal=0, form=Form())
            write(place, self.emit(self.first_of_list(node, part, index), dtype))
        else:
            write(place, self.writer.cast(first, dtype))

        def body(indices: list[Value]) -> None:
            item = self.first_of_list(node, part, indices[0])
            id, so_far = self.emit(item, dtype), read(place)
            if name != "sum":
                takes = apply("Greater" if name == "max" else "Less", [id, so_far])
                write(place, apply("Select", [takes, id, so_far]))
                return
            total = Value(kind, apply("Add", [so_far, id]))
            if kind == "int":
                self.fail_outside_of(total, LEAST, LARGEST)
            write(place, total.id)

        self.over(node, [extent], body)
        value = Value(kind, read(place))
        if kind == "int":
            value.form = self.loose_form(LEAST, LARGEST)
        return value

    def is_log(self, name: str) -> bool:
        """Whether the loop only appends to the list: an empty one stands for it."""
        return name in self.inputs.logs and self.inputs_word(name)[1] == "0"

    def append_small(self, node: ast.AST, part: ListPart, small: SmallArray) -> None:
        """out.append(array)"""
        array, known = part.view.array, (small.kind, small.shape)
        name = array.name
        if not self.is_log(name) or small.kind not in "dl":
            raise Refused(node, "an array in a list")
        if not self.knowledge.numbers_arrays or name not in self.knowledge.rows:
            self.knowledge.numbers_arrays = True
            self.knowledge.rows[name] = known
            self.knowledge.appended[name] = small.kind
            self.knowledge.stored.add(name)
            raise Again
        if self.knowledge.rows[name] != known:
            raise Refused(node, f"arrays of several types or shapes in the list {name}")
        if small.serial is None:
            raise Refused(node, "a part of an array in a list")
        self.note_holder(node, name, small)
        self.put_row(node, part, [self.emit(x, array.dtype) for x in (*small.items, small.serial)])

    def append_record(self, node: ast.AST, part: ListPart, items: Sequence[Item]) -> None:
        """out.append((x, y)), or out.append([x, y]): numbers, the same kinds in each round."""
        array, numbers = part.view.array, [x for x in items if isinstance(x, Value)]
        name, kinds = array.name, "".join(_RECORDED.get(x.kind, " ") for x in numbers)
        is_certain = len(numbers) == len(items) > 0 and not any(x.mixed for x in numbers)
        if not self.is_log(name) or not is_certain or " " in kinds:
            raise Refused(node, "a tuple or list in a list")
        dtype = "d" if {*kinds} & {"F", "d"} else "l"
        record = ("[" if isinstance(items, Listed) else "(") + kinds
        if name not in self.knowledge.records:
            self.knowledge.records[name] = record
            self.knowledge.appended[name] = dtype
            self.knowledge.stored.add(name)
            raise Again
        if self.knowledge.records[name] != record or (dtype == "d" and "l" in kinds):
            raise Refused(node, f"tuples or lists of several types in the list {name}")
        for number in numbers:
            if number.kind == "int":
                self.require_held(number, 2**53 if dtype == "d" else LARGEST)
        ids = [self.emit(x, x.dtype) for x in numbers]
        self.put_row(node, part, [self.writer.cast(id, dtype) for id in ids])

    def put_row(self, node: ast.AST, part: ListPart, ids: Sequence[int]) -> None:
        """The elements of an item that takes several of the list's array."""
        array, apply, constant = part.view.array, self.writer.apply, self.writer.constant
        (count,), width = part.view.axes, len(ids)
        assert isinstance(count, Value) and count.form is not None
        first = apply("Multiply", [self.emit(count, "l"), constant(width, "l")])
        for k, id in enumerate(ids):
            form = count.form.times(width) + Form((), k)
            index = Value("int", apply("Add", [first, constant(k, "l")]), form=form)
            self.put(node, array, View(array, (index,)), id)

    def store_item(self, node: ast.AST, part: ListPart, value: Item) -> None:
        if isinstance(value, SmallArray):
            return self.append_small(node, part, value)
        if isinstance(value, tuple):
            return self.append_record(node, part, value)
        if part.view.array.name in (*self.knowledge.rows, *self.knowledge.records):
            raise Refused(node, "numbers and other things in one list")
        if not isinstance(value, Value) or part.view.spans:
            raise Refused(node, "something else than a number in a list")
        array, kind = part.view.array, part.kind
        name = array.name
        if not array.writable:
            raise Refused(node, f"{name} may share what is in it with another list")
        if name not in self.knowledge.stored:
            self.knowledge.stored.add(name)
            self.is_stale = True
        if self.inputs_word(name)[1] == "0" and name not in self.knowledge.appended:
            if value.kind in COMPLEXES:
                raise Refused(node, "a list of complex numbers")
            self.knowledge.appended[name] = "mixed" if value.among == _MIXED else value.kind
            raise Again
        if value.mixed and value.among != _MIXED:
            raise Refused(node, "a number that may be of two types, in a list")
        if kind == "mixed" or value.mixed or {kind, value.kind} == _MIXED:
            return self.store_tagged(node, part, value)
        if value.kind != kind:
            raise Refused(node, f"numbers of two types in the list {name}")
        if kind == "int":
            self.require_held(value, LARGEST)
        self.put(node, array, part.view, self.emit(value, array.dtype))
        return None

    def store_tagged(self, node: ast.AST, part: ListPart, value: Value) -> None:
        """A float or an int into a list that may have both."""
        array = part.view.array
        if value.untagged is not None and value.tag is None:
            raise TagsNeeded(*value.untagged)
        if value.kind not in _MIXED or part.kind not in (*_MIXED, "mixed"):
            raise Refused(node, f"numbers of two types in the list {array.name}")
        if array.name + TAGS not in self.inputs.names:
            raise TagsNeeded(array.name, array.rank)
        if value.kind == "int":
            self.require_held(value, 2**53)
        tag = self.tag_of(value)
        if tag is None:
            raise Refused(node, "a number that may be of two types, in a list")
        tags = self.arrays[array.name + TAGS].array
        self.put(node, array, part.view, self.emit(value, "d"))
        self.put(node, tags, part.view, tag)

    def require_held(self, value: Value, most: int) -> None:
        if value.literal is not None:
            if abs(value.literal) > most:
                raise Refused(None, f"{value.literal} in a list")
            return
        reach = self.forms.reach(value.form)
        if most == LARGEST and (self.is_loose(value.form) or (reach or LARGEST + 1) <= LARGEST):
            return  # it has been looked at where it was computed
        self.require_value(value, LEAST if most == LARGEST else -most, most)

    def put(self, node: ast.AST, array: ArrayName, view: View, id: int) -> None:
        self.note_position(node)
        self.written.add(array.number)
        line = getattr(node, "lineno", 0)
        self.writer.store(array.parameter, self.indices_of(view), id, line)

    def inputs_word(self, name: str) -> str:
        return self.words[self.inputs.names.index(name)]

    words: Sequence[str]

    # ---- what a run must know -------------------------------------------------------------------

    def list_facts(self) -> list[ListFacts]:
        """Of those that the nest changes."""
        found = []
        for name, part in self.lists.items():
            array = part.view.array
            if name in self.sliced and array.number in self.written:
                raise Refused(None, f"a loop over a part of {name}, which the nest changes")
            tags = self.index_of_name(name + TAGS)
            if array.number not in self.written and tags < 0:
                continue
            count = self.index_of_name(name + COUNT)
            found.append(
                ListFacts(
                    number=array.number,
                    dtype=array.dtype,
                    kind={"int": "I", "float": "F", "bool": "B", "mixed": "M"}.get(part.kind, "N"),
                    tags=tags,
                    is_stored=array.number in self.written,
                    count=count,
                    output=self.inputs.outputs.index(name + COUNT) if count >= 0 else -1,
                    shape=self.knowledge.rows.get(name, (None, None))[1],
                    record=self.knowledge.records.get(name, ""),
                )
            )
        return found

    def index_of_name(self, name: str) -> int:
        return self.inputs.names.index(name) if name in self.inputs.names else -1
