"""frit.translate: Python source -> a kernel.

Three things are kept apart: reading a function's source (source.py), the rules of a language
(rules.py), and the walk over statements and expressions (walk.py, expressions.py, calls.py).
environment.py says what a kernel takes from the program around it.
"""

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
