"""The two calls of MindSpore 2.7 to 2.10 that run a graph, wrapped (and the two that compile one).

`_CellGraphExecutor.__call__` runs every Cell in graph mode, `_PyNativeExecutor.grad_jit` every `@jit` function. They
are class attributes, so import aliases in the user's code don't matter. A fault of ours detaches: the originals come
back and the training goes on.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from stepscope.probe import settings as probe_settings
from stepscope.probe.bootstrap import CannotDebug, say
from stepscope.probe.mindspore.session import Session
from stepscope.probe.process import Uncaught
from stepscope.probe.signals import is_of_a_handler

_hooks: Hooks | None = None


def install(api: ModuleType) -> None:
    """Wraps the executors that the module defines; does nothing for a module that only re-exports them."""
    global _hooks
    if _hooks is not None or not hasattr(api, "_CellGraphExecutor"):
        return
    if api._CellGraphExecutor.__module__ != api.__name__:
        return
    try:
        settings = probe_settings.from_environment()
    except ValueError as error:
        raise CannotDebug(str(error)) from None
    hooks = Hooks(api, Session(api, settings))
    try:
        hooks.attach()
    except Exception as error:
        hooks.detach(f"could not attach to {api.__name__}: {error!r}; going on undebugged")
        return
    _hooks = hooks


class Hooks:
    """Owns the wrapped attributes. All of it works in one thread: the one that first ran a graph."""

    def __init__(self, api: ModuleType, session: Session) -> None:
        self._session: Session | None = session
        self._wrapped: list[tuple[type, str, Any]] = []
        self._api = api
        self._thread: int | None = None
        self._inside = False
        self._jit_phase = "jit"  # of the jit function that was called last: its compile comes before its run
        self._uncaught = Uncaught()

    def attach(self) -> None:
        cell, jit, pynative = self._api._CellGraphExecutor, self._api._JitExecutor, self._api._PyNativeExecutor
        self._wrap(cell, "__call__", self._run_cell)
        self._wrap(pynative, "grad_jit", self._run_jit)
        self._wrap(cell, "compile", self._compile_cell)
        self._wrap(jit, "compile", self._compile_jit)
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self._at_exit)
        self._uncaught.watch()

    def _wrap(self, cls: type, name: str, replacement: Callable[..., Any]) -> None:
        original = getattr(cls, name)

        @functools.wraps(original)
        def wrapper(executor: Any, *args: Any, **kwargs: Any) -> Any:
            return replacement(functools.partial(original, executor), *args, **kwargs)

        setattr(cls, name, wrapper)
        self._wrapped.append((cls, name, original))

    def detach(self, reason: str) -> None:
        """Gives MindSpore its own functions back; the training goes on undebugged."""
        session, self._session = self._session, None
        for cls, name, original in self._wrapped:
            setattr(cls, name, original)
        if session is None:
            return
        try:
            session.release(reason)
        except Exception as error:  # a fault of ours can only be left behind
            if error is session.kernel_error or is_of_a_handler(error):
                raise

    # ------------------------------------------------------------ the wrapped calls

    def _run_cell(self, call: Callable[..., Any], cell: Any, *args: Any, **kwargs: Any) -> Any:
        phase = kwargs.get("phase", "predict")
        if phase == "save" or not self._mine():
            return call(cell, *args, **kwargs)
        return self._around(functools.partial(call, cell, *args, **kwargs), str(phase), cell, bool(args))

    def _run_jit(self, call: Callable[..., Any], *args: Any) -> Any:
        if not self._mine():
            return call(*args)
        return self._around(functools.partial(call, *args), self._jit_phase, None, True)

    def _compile_cell(self, call: Callable[..., Any], cell: Any, *args: Any, **kwargs: Any) -> Any:
        return self._compile(functools.partial(call, cell, *args, **kwargs), str(kwargs.get("phase", "predict")), cell)

    def _compile_jit(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._jit_phase = "jit"
        self._jit_phase = self._compile(functools.partial(call, *args, **kwargs), None, None)
        return self._jit_phase

    def _compile(self, compile_it: Callable[[], Any], phase: str | None, cell: Any) -> Any:
        if not self._mine():
            return compile_it()
        session = self._session
        assert session is not None
        self._guarded(session.begin)
        result = compile_it()
        self._guarded(session.compiled, phase or str(result), cell)
        return result

    def _mine(self) -> bool:
        """Whether this call is to be looked at: not one inside another, not one of another thread."""
        if self._session is None or self._inside:
            return False
        if self._thread is None:
            self._thread = threading.get_ident()
        return self._thread == threading.get_ident()

    def _around(self, run: Callable[[], Any], phase: str, cell: Any, has_inputs: bool) -> Any:
        session = self._session
        assert session is not None
        self._inside = True
        try:
            self._guarded(session.before_run, phase, cell, has_inputs)
            try:
                result = run()
            except BaseException:
                self._guarded(session.run_failed)
                raise
            self._guarded(session.after_run, result)
            return result
        finally:
            self._inside = False

    def _guarded(self, function: Callable[..., None], *args: Any) -> None:
        """Calls into the session; only what is the user's (terminate, Ctrl-C, a kernel's error) comes out of it."""
        session = self._session
        if session is None:
            return
        try:
            function(*args)
            reason = session.over
        except CannotDebug as error:
            reason = f"{error}; going on undebugged"
        except Exception as error:
            if error is session.kernel_error or is_of_a_handler(error):
                raise
            reason = f"a fault in the debugger ({type(error).__name__}: {error}); going on undebugged"
        if reason:
            self.detach(reason)

    # ------------------------------------------------------------ the end, and children

    def _forget(self) -> None:
        """In a forked child: it is not debugged, and what it inherited is not its to use."""
        if self._session is not None:
            self._session.forget()
            self._session = None

    def _at_exit(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        if not session.begun and multiprocessing.parent_process() is None and not self._uncaught.text:
            say(
                "MindSpore compiled no graph in this run, so there was nothing to debug: PyNative code runs outside "
                "the graph; use set_context(mode=GRAPH_MODE) or @mindspore.jit on the training step"
            )
        session.end(self._uncaught.text)
