"""Errors of the server itself, beside those of `core.errors` that its users meet."""

from __future__ import annotations


class StartError(Exception):
    """The server can't start; the message is one clear line for the user."""


class Refused(Exception):
    """A training process may not attach; the message says why and goes back to it."""
