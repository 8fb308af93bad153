"""parts.py: of the text of a module only the functions that may have nests.

They are read as they stand, in a text whose other lines are empty, so that all of their lines are
what they were. Where that is not certain to mean the same, the whole text has to be read: None.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from opcode import opmap

from frit.loops.find.codes import codes_in, has_loops, has_own_loops

# Patterns that begin with a letter or the end of a line are much faster than others.
_HEADER = re.compile(rb"\n[ \t]*(?:for\b.*(?:\bin\b|[\\(\[])|while\b).*")
# A loop over the result of a call. Of this form nothing else is: no brackets, texts or comments.
_OVER_CALL = re.compile(
    rb"\n[ \t]*for\b[\w, \t()]+?\bin[ \t]+(?:\w+\.)*(\w+)\([^()\n\"'#\\]*\)[ \t]*:[ \t]*(?:#.*)?$"
)
_SERIES = frozenset(b"range enumerate zip reversed ndindex ndenumerate arange linspace".split())
# A text behind anything but its own prefix; a text alone may be a comment.
_TEXT = re.compile(rb"\n[^#\n\"']*[^#\n\"'rRbBuUfF \t][^#\n\"']*[\"']")
# Texts that a nest may have: of one character, of errors, and those that flow.text_in() knows.
_FEW = re.compile(
    rb"(?<!\w)(?:\"(?:[^\"\\\n]|\\.)\"|'(?:[^'\\\n]|\\.)')"
    rb"|(?:\bin[ \t]+|[=!]=[ \t]*|\b(?:choice|float)\()(?:\"[^\"\\\n]*\"|'[^'\\\n]*')"
    rb"|\"(?:left|right)\"|'(?:left|right)'"
    rb"|\b(?:raise|assert)\b.*(?:\n[ \t]+[rRbBuUfF]*[\"'].*)*"
)
# A branch may have anything (exits.py).
_IF = re.compile(rb"\n([ \t]+)(?:if|elif|else)\b[^\"']*?:")
_NO_PART = re.compile(rb"\n[ \t]+(?:with|try|del|import|def|class|global|nonlocal)\b")
_CODING = re.compile(rb"[^\n]*\n?[^\n]*coding[:=]")  # in the first two lines
_THREAD_WORDS = (b"thread", b"signal", b"concurrent", b"asyncio")
_THREADS = re.compile(  # is imported, as implicit._makes_threads has it
    rb"(?:^|[;:])[ \t]*(?:from[ \t]+%b\b|import[ \t]+(?:(?:[^#\n\\]|\\\n)*,[ \t\\\n]*)?%b\b)"
    % (2 * (b"(?:threading|_thread|signal|concurrent|asyncio)",)),
    re.MULTILINE,
)
_FUNCTION = 0x1  # of the flags of functions' codes, but not of classes'
Definition = ast.FunctionDef | ast.AsyncFunctionDef
ANNOTATIONS = 0x1000000  # the one future flag that a text may have


def _op(name: str) -> bytes:
    return re.escape(bytes([opmap[name]])) + b"."


# In compiled code: the import of a module or of a name in one, to a variable.
_IMPORT = re.compile(
    b"(?=(?:%s|%s(?:..%s)?)(?:%s(?<=(.)))?%s(?<=(.)))".replace(b"%s", b"%b")
    % tuple(map(_op, "IMPORT_NAME IMPORT_FROM POP_TOP EXTENDED_ARG STORE_NAME".split())),
    re.DOTALL,
)


class Unit:
    """A function of the module or of a class in it. number: its code's, in the module."""

    def __init__(self, code: types.CodeType, owners: tuple[str, ...]) -> None:
        self.code = code
        self.owners = owners  # the classes around it
        self.first = code.co_firstlineno
        self.has_headers = False


def headers(text: bytes) -> list[int]:
    """The lines of loops that may be nests, and of texts that look like one."""
    found, line, last = [], 0, 0
    text = b"\n" + text
    for match in _HEADER.finditer(text):
        over = _OVER_CALL.match(match.group())
        if (over is None or over.group(1) in _SERIES) and not _has_other_things(text, match):
            line += text.count(b"\n", last, match.start() + 1)
            last = match.start() + 1
            found.append(line)
    return found


def _has_other_things(text: bytes, header: re.Match[bytes]) -> bool:
    """Whether a loop certainly has a text or a statement in it that no nest has."""
    begin, after = header.span()
    indent = len(header.group()) - len(header.group()[1:].lstrip(b" \t")) - 1
    end = re.compile(rb"\n[ \t]{0,%d}[^ \t\n#)\]}]" % indent).search(text, after)
    until = end.start() if end is not None else len(text)
    if not _has_others_between(text, begin, until):
        return False
    if _IF.search(text, begin, until) is None:
        return True
    body = _without_branches(text[begin:until])
    return _has_others_between(body, 0, len(body))


def _without_branches(text: bytes) -> bytes:
    """But for their tests."""
    found: list[bytes] = []
    at = 0
    while (match := _IF.search(text, at)) is not None:
        found.append(text[at : match.end()])
        end = re.compile(rb"\n[ \t]{0,%d}[^ \t\n#]" % len(match.group(1))).search(text, match.end())
        at = end.start() if end is not None else len(text)
    return b"".join([*found, text[at:]])


def _has_others_between(text: bytes, begin: int, until: int) -> bool:
    if text.find(b'"', begin, until) >= 0 or text.find(b"'", begin, until) >= 0:
        if text.find(b'"""', begin, until) >= 0 or text.find(b"'''", begin, until) >= 0:
            return False
        if _TEXT.search(_FEW.sub(b"", text[begin:until])) is not None:
            return True
    return _NO_PART.search(text, begin, until) is not None


def units_of(text: bytes, module: types.CodeType, lines: list[int]) -> list[Unit] | None:
    """The functions that have loops in these lines. None: all of the text has to be read."""
    if has_own_loops(module):
        return None
    if any(word in text for word in _THREAD_WORDS) and _THREADS.search(text) is not None:
        return None
    if b"\r" in text or b"\f" in text or text[:3] == b"\xef\xbb\xbf" or _CODING.match(text):
        return None
    units = sorted(_functions_in(module, ()), key=lambda unit: unit.first)
    firsts = [unit.first for unit in units]
    if len({*firsts}) != len(firsts):
        return None
    number = 0
    for line in lines:
        while number < len(units) and firsts[number] <= line:
            number += 1
        if number:
            units[number - 1].has_headers = True
    return [unit for unit in units if unit.has_headers and has_loops(unit.code)]


def _functions_in(code: types.CodeType, owners: tuple[str, ...]) -> Iterator[Unit]:
    for part in codes_in(code):
        if not part.co_flags & _FUNCTION:
            yield from _functions_in(part, (*owners, part.co_name))
        elif not part.co_name.startswith("<"):
            yield Unit(part, owners)


class Parts:
    """The functions of some units. tree: of a module with nothing else in it."""

    def __init__(self, tree: ast.Module, functions: list[Definition]) -> None:
        self.tree = tree
        self.functions = functions  # by unit


def imported_names(module: types.CodeType) -> list[str]:
    """What its import statements give a value: CPython compiles calls of their attributes in
    another way."""
    found = _IMPORT.finditer(module.co_code)
    numbers = [m.group(1, 2) for m in found if m.start() % 2 == 0]
    return [module.co_names[int.from_bytes((high or b"") + low, "big")] for high, low in numbers]


def may_be_own(decorator: ast.expr, text: bytes) -> bool:
    """Whether the text may define the decorator."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(called, ast.Name):
        return False
    return re.search(rb"\bdef[ \t]+%b\b" % re.escape(called.id.encode()), text) is not None


def tree_at(text: bytes, module: types.CodeType, line: int) -> ast.Module | None:
    """With the function that begins in this line and nothing else."""
    text = text.replace(b"\r\n", b"\n")
    found = parts_of(text, [u for u in _functions_in(module, ()) if u.first == line], [])
    return found.tree if found is not None else None


def parts_of(text: bytes, units: list[Unit], imported: list[str]) -> Parts | None:
    """imported: names that import statements of the module give a value."""
    lines = text.split(b"\n")
    kept = [b""] * len(lines)
    end, around = 0, None
    for unit in units:
        begin = unit.first - 1
        indent = _indent(lines[begin])
        owners = unit.owners if indent else ()
        if indent == 0 and unit.owners:
            return None
        if indent and around != (indent, owners):
            heads = [b"class %s:" % name.encode() for name in owners] or [b"if 1:"]
            if begin - len(heads) < end or len(heads) > indent:
                return None
            for depth, head in enumerate(heads):
                kept[begin - len(heads) + depth] = b" " * depth + head
        around = (indent, owners)
        end = _end(lines, begin, indent, unit.code.co_name.encode())
        if end == 0 or lines[end - 1].endswith(b"\\"):
            return None
        kept[begin:end] = lines[begin:end]
    if imported and not kept[0]:
        kept[0] = b"import " + b",".join(name.encode() for name in imported)
    try:
        tree = ast.parse(b"\n".join(kept))
    except (SyntaxError, ValueError):  # a text in several lines ends a function for us
        return None
    found = {_place(node): node for node in _definitions(tree)}
    functions = []
    for unit in units:
        node = found.get((unit.first, unit.code.co_name))
        if node is None:
            return None
        functions.append(node)
    return Parts(tree, functions)


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _end(lines: list[bytes], begin: int, indent: int, name: bytes) -> int:
    """The line behind a function; 0: its definition is not found."""
    definition = re.compile(rb"[ \t]*(?:async[ \t]+)?def[ \t]+" + re.escape(name) + rb"\b")
    for number in range(begin, len(lines)):
        if definition.match(lines[number]) is not None:
            break
    else:
        return 0
    for end in range(number + 1, len(lines)):
        line = lines[end]
        word = line.lstrip(b" \t")
        if len(line) - len(word) <= indent and word and word[0] not in b")]}#":
            return end
    return len(lines)


_NOTHING = ast.Pass(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)


def leave_out(functions: list[Definition], tree: ast.Module) -> None:
    """Takes the functions out of a tree: it is to be compiled."""
    due: list[ast.Module | ast.ClassDef | ast.If] = [tree]
    for node in due:
        node.body = [part for part in node.body if part not in functions] or [_NOTHING]
        due += [part for part in node.body if isinstance(part, (ast.ClassDef, ast.If))]


def _definitions(tree: ast.AST) -> Iterator[Definition]:
    """Those that no other function is around."""
    for node in tree.body:  # type: ignore[attr-defined]
        if isinstance(node, Definition):
            yield node
        elif isinstance(node, (ast.ClassDef, ast.If)):
            yield from _definitions(node)


def _place(node: Definition) -> tuple[int, str]:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.name
