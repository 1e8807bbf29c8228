"""Whose an exception is that comes out of code of ours: a signal handler of the script's may run in any."""

from __future__ import annotations

import signal
from types import CodeType
from typing import Any


def is_of_a_handler(error: BaseException) -> bool:
    """Whether a signal handler of the script's has raised it, as those do that see a time limit coming."""
    codes = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _code(handler: Any) -> CodeType | None:
    """Of a function, a method, or an object that can be called."""
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):
        function = vars(type(handler)).get("__call__")
    return getattr(function, "__code__", None)
