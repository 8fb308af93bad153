"""frit.translate: Python source -> a kernel.

Three things are kept apart: reading a function's source (source.py), the rules of a language
(rules.py), and the walk over statements and expressions (walk.py, expressions.py, calls.py).
environment.py says what a kernel takes from the program around it. Each comes with its first use:
a program with a loop needs no more than the source.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing takes longer to load than a small program to run
if TYPE_CHECKING:
    from typing import Any

    from frit.translate.environment import Environment
    from frit.translate.errors import Restart, TranslationError
    from frit.translate.rules import CRules
    from frit.translate.scope import Knowledge, Scope
    from frit.translate.source import FunctionSource, source_of
    from frit.translate.walk import Walker

__all__ = [
    "CRules",
    "Environment",
    "FunctionSource",
    "Knowledge",
    "Restart",
    "Scope",
    "TranslationError",
    "Walker",
    "source_of",
]

_HOMES = {
    "CRules": "rules",
    "Environment": "environment",
    "FunctionSource": "source",
    "Knowledge": "scope",
    "Restart": "errors",
    "Scope": "scope",
    "TranslationError": "errors",
    "Walker": "walk",
    "source_of": "source",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'frit.translate' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"frit.translate.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
