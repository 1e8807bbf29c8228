"""The errors that a user of stepscope can meet, each one clear line.

They are raised at the same place for live, old-client and recorded jobs, travel over the pipe, gRPC and HTTP by their
`kind`, and come out of the Python client as the same classes.
"""

from __future__ import annotations

from collections.abc import Iterable


class StepscopeError(Exception):
    """Base of all errors of stepscope; `kind` is its name on every wire.

    `field` is the part of what was asked that is wrong, such as a parameter, and `code` says in which way; both may be
    empty. Where there is no value, `code` says why: people read that in their own language.
    """

    kind = "internal"
    field: str = ""
    code: str = ""

    def __init__(self, *arguments: object, field: str = "", code: str = ""):
        super().__init__(*arguments)
        self.field = field or self.field
        self.code = code or self.code


class NotAvailable(StepscopeError):
    """The thing exists, but has no value now: not recorded, not run in this step, released."""

    kind = "not_available"


class BadRequest(StepscopeError, ValueError):
    """What was asked for is malformed; the message says what is allowed."""

    kind = "bad_request"


class Conflict(StepscopeError):
    """Not possible in the present state of the job (a command to a running or ended training)."""

    kind = "conflict"


class UnknownJob(StepscopeError, KeyError):
    """No such job."""

    kind = "unknown_job"

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownNode(StepscopeError, KeyError):
    """No such node, scope or graph; `nearest` are names that come near."""

    kind = "unknown_node"
    code = "unknown_node"

    def __init__(self, message: str, nearest: Iterable[str] = ()):
        super().__init__(message)
        self.nearest = tuple(nearest)

    def __str__(self) -> str:
        if not self.nearest:
            return str(self.args[0])
        return f"{self.args[0]}; the nearest: {', '.join(self.nearest)}"


class Timeout(StepscopeError, TimeoutError):
    """A blocking call ran out of its `timeout`."""

    kind = "timeout"
    code = "timeout"


class ConnectionFailed(StepscopeError, ConnectionError):
    """The server can't be reached, or does not let us in."""

    kind = "connection_failed"


BY_KIND: dict[str, type[StepscopeError]] = {
    error.kind: error
    for error in (NotAvailable, BadRequest, Conflict, UnknownJob, UnknownNode, Timeout, ConnectionFailed)
}


def from_wire(
    kind: str, message: str, nearest: Iterable[str] = (), field: str | None = "", code: str | None = ""
) -> StepscopeError:
    """The error that `kind` names; an unknown kind becomes a plain StepscopeError."""
    cls = BY_KIND.get(kind, StepscopeError)
    error = UnknownNode(message, nearest) if cls is UnknownNode else cls(message)
    error.field, error.code = field or error.field, code or error.code
    return error
