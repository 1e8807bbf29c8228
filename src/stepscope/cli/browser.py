"""Opens the page in a browser, where that makes sense."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser

from stepscope.cli.command import say


def open_page(options: argparse.Namespace, address: str) -> None:
    """As --open or --no-open says; without them only for someone who sits at a terminal of a desktop."""
    asked: bool | None = getattr(options, "open", None)
    if asked is False or (asked is None and not (sys.stdout.isatty() and _has_desktop())):
        return
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        if asked:
            say(f"no browser was found; open {address} yourself")
        return
    threading.Thread(target=browser.open, args=[address], daemon=True).start()  # it may take its time


def _has_desktop() -> bool:
    """Without one, Linux would open a text browser, in the very terminal that we write to."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
