"""_signals.py: whether an exception comes from the program's handler of a signal."""

from __future__ import annotations

import _signal  # a program may have a module of its own called `signal`
import types


def is_from_handler(error: BaseException) -> bool:
    """Whether a handler (Ctrl-C, an alarm) raised it: it is the program's, wherever it came."""
    codes = {_code_of(_signal.getsignal(number)) for number in _signal.valid_signals()}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code_of(handler: object) -> types.CodeType | None:
    if not isinstance(handler, (types.FunctionType, types.MethodType)):
        handler = vars(type(handler)).get("__call__")
    return getattr(handler, "__code__", None)
