"""Errors of the server itself, beside those of `core.errors` that its users meet."""

from __future__ import annotations

from collections.abc import Iterable

from stepscope.core.errors import BadRequest, UnknownNode


class StartError(Exception):
    """The server can't start; the message is one clear line for the user."""


class Refused(Exception):
    """A training process may not attach; the message says why and goes back to it."""


class WrongField(BadRequest):
    """A request with one part that is wrong: `field`; `code` says what is, for programs."""

    def __init__(self, message: str, field: str, code: str):
        super().__init__(message)
        self.field = field
        self.code = code


class UnknownInField(UnknownNode):
    """The same for a name that is not known."""

    def __init__(self, message: str, nearest: Iterable[str], field: str):
        super().__init__(message, nearest)
        self.field = field
