"""_signals.py: exceptions that come from the program's handlers of signals."""

from __future__ import annotations

import _signal  # a program may have a module of its own called `signal`
import types
from functools import partial


def is_from_handler(error: BaseException) -> bool:
    """Whether a handler (Ctrl-C, an alarm) raised it: it is the program's, wherever it came."""
    return _from_handler(error) is not None


def leave_out(error: BaseException) -> None:
    """The way to a nest is ours, not the program's: the traceback of what ends it begins behind.

    A bare `raise` behind this adds no frame again.
    """
    trace = _from_handler(error)
    if trace is not None or isinstance(error, KeyboardInterrupt):
        error.__traceback__ = trace


def _from_handler(error: BaseException) -> types.TracebackType | None:
    """Its traceback from a handler's frame on; None: no handler raised it, or one in C."""
    codes = {_code_of(_signal.getsignal(number)) for number in _signal.valid_signals()}
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code not in codes:
        trace = trace.tb_next
    return trace


def _code_of(handler: object) -> types.CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    if not isinstance(handler, (types.FunctionType, types.MethodType)):
        handler = vars(type(handler)).get("__call__")
    return getattr(handler, "__code__", None)
