"""written.py: programs that a test has written, whose text is found as if they stood in a file."""

from __future__ import annotations

import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any


def code_of(text: str, file: str) -> types.CodeType:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return compile(text, file, "exec", dont_inherit=True)


def space_of(text: str, file: str, **names: Any) -> dict[str, Any]:
    """What there is when the text has run, the given names included."""
    space = {**names}
    exec(code_of(text, file), space)
    return space


def function_of(text: str, file: str, **names: Any) -> Callable[..., Any]:
    """The one function that the text defines."""
    space = space_of(text, file, **names)
    (function,) = (x for n, x in space.items() if n not in names and inspect.isfunction(x))
    return function
