"""Descriptors of ours in the user's process don't lie where it looks for its standard streams."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def above_standard_streams() -> Iterator[None]:
    """What is opened inside gets no number from 0 to 2, also where a stream was closed, as for a daemon: what writes to
    its stderr would write into our files."""
    with contextlib.ExitStack() as taken:
        with contextlib.suppress(OSError):
            while (descriptor := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= 2:
                taken.callback(os.close, descriptor)
            os.close(descriptor)
        yield
