"""errors.py: what is said of source that cannot become a kernel."""

from __future__ import annotations

import ast


class TranslationError(TypeError):
    """A kernel uses what the language does not have: file, line, construct, and a way out."""


class Restart(Exception):
    """More is known now than when the translation began: it starts again."""


def refusal(file: str, node: ast.AST, construct: str, hint: str = "") -> TranslationError:
    """The error for a construct: `hint` says what to use instead."""
    line = getattr(node, "lineno", 0)
    text = f"{file}, line {line}: {construct} cannot be used in a kernel"
    return TranslationError(f"{text}: {hint}" if hint else text)
