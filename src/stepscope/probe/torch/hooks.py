"""What tells of a PyTorch training, installed as soon as torch is imported: optimizers, loaders, scalers, backward.

Each is a call of PyTorch's own, wrapped, or one of its global hooks; none of it costs more than a few microseconds a
step. Forward hooks on all modules are there only while they are needed, as each call of a module costs more with them.
A fault of ours detaches: the originals come back and the training goes on.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import multiprocessing
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.optim import optimizer as optimizers

from stepscope.probe import settings as probe_settings
from stepscope.probe.bootstrap import CannotDebug, say
from stepscope.probe.process import Uncaught
from stepscope.probe.signals import is_of_a_handler
from stepscope.probe.torch import compat
from stepscope.probe.torch.compiled import CompiledFunction, is_of_torch
from stepscope.probe.torch.forwards import Forwards
from stepscope.probe.torch.session import Session
from stepscope.probe.torch.steps import Steps, Verdict

_OPTIMIZERS = "torch.optim."  # the modules of PyTorch's own
_hooks: Hooks | None = None


def install(_module: ModuleType) -> None:
    """Called once torch has been imported."""
    global _hooks
    if _hooks is not None:
        return
    compat.check()
    try:
        settings = probe_settings.from_environment()
    except ValueError as error:
        raise CannotDebug(str(error)) from None
    hooks = Hooks(Session(settings), Steps(settings.step_unit))
    try:
        hooks.attach()
    except Exception as error:
        hooks.detach(f"could not attach to PyTorch: {error!r}; going on undebugged")
        return
    _hooks = hooks


class Hooks:
    """Owns what is wrapped. All of it looks at one thread: the one that trained first."""

    def __init__(self, session: Session, steps: Steps) -> None:
        self._session: Session | None = session
        self._steps = steps
        self._wrapped: list[tuple[Any, str, Any]] = []
        self._handles: list[Any] = []
        self._forwards = Forwards(self._forward_begins, self._forward_ended)
        self._inside = False  # code of ours runs
        self._in_optimizer_hook = False
        self._steps_taken = 0  # of optimizers, to see whether a scaler let one out
        self._loaders: dict[int, weakref.ref[Any]] = {}
        self._optimizers: dict[int, weakref.ref[Any]] = {}
        self._uncaught = Uncaught()
        self._another_thread_said = False
        self._is_forked = False

    def attach(self) -> None:
        self._forwards.await_first()
        self._handles = [
            optimizers.register_optimizer_step_pre_hook(self._optimizer_begins),
            optimizers.register_optimizer_step_post_hook(self._optimizer_ended),
        ]
        assert self._session is not None
        self._session.tracer.follow_optimizers()  # after ours: a step ends before what comes of it is looked at
        self._wrap(optimizers.Optimizer, "__init__", self._make_optimizer)
        if hasattr(optimizers.Optimizer, "profile_hook_step"):  # without it their steps only cost more
            self._wrap(optimizers.Optimizer, "profile_hook_step", self._make_step)
        self._wrap(compat.LoaderIterator, "__next__", self._next_batch)
        self._wrap(torch.amp.GradScaler, "step", self._scaler_step)
        self._wrap(torch.amp.GradScaler, "scale", self._scale)
        self._wrap(*compat.ENGINE, self._backward)
        self._wrap(torch, "compile", self._make_compiled)
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self._at_exit)
        self._uncaught.watch()

    def _wrap(self, owner: Any, name: str, replacement: Callable[..., Any]) -> None:
        original, is_static = getattr(owner, name), isinstance(vars(owner)[name], staticmethod)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        self._wrapped.append((owner, name, vars(owner)[name]))
        setattr(owner, name, staticmethod(wrapper) if is_static else wrapper)

    def detach(self, reason: str) -> None:
        """Gives PyTorch its own functions back; the training goes on undebugged."""
        session, self._session = self._session, None
        for owner, name, original in self._wrapped:
            setattr(owner, name, original)
        # PyTorch walks over the hooks of optimizers now, if it is one of them that we are in: then they stay, and do
        # nothing any more.
        if not self._in_optimizer_hook:
            for handle in self._handles:
                handle.remove()
        self._forwards.remove()
        if session is not None:
            with contextlib.suppress(Exception):  # a fault of ours can only be left behind
                session.release(reason, keep_hooks=self._in_optimizer_hook)

    # ------------------------------------------------------------ forward and backward

    def _forward_begins(self, module: nn.Module | None) -> None:
        if not self._mine() or not self._begins(module):
            return
        self._guarded(self._session.settle)
        self._handle(self._steps.forward_begins(torch.is_grad_enabled()), module)

    def _forward_ended(self) -> None:
        if self._mine():
            self._handle(self._steps.forward_ended())

    def _backward(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        session = self._session
        if session is None or not self._mine() or compat.current_graph_task() >= 0:
            return original(*args, **kwargs)
        if self._begins(None):
            self._guarded(session.settle)
            self._handle(self._steps.backward_begins())
            if kwargs.get("accumulate_grad") and args:
                self._guarded(session.losses.backward_of, args[0])
        session.ending = None
        try:
            return original(*args, **kwargs)
        except BaseException as raised:
            ending = session.ending
            if ending is not None and raised is not ending:  # lost by a thread of the engine
                raise ending from None
            raise

    # ------------------------------------------------------------ compiled functions

    def _make_compiled(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        compiled = original(*args, **kwargs)
        function = args[0] if args else kwargs.get("model")
        compat.run_as_it_is(__name__, Steps.__module__)
        # A compiled module is seen as any other is, when it is called; what PyTorch compiles for itself stays its own.
        if not isinstance(compiled, FunctionType) or function is None or is_of_torch(function):
            return compiled
        known = CompiledFunction(function)

        @functools.wraps(compiled)
        def seen(*args: Any, **kwargs: Any) -> Any:
            if compat.is_compiling() or not self._mine():
                return compiled(*args, **kwargs)
            with self._within(known, args, kwargs):
                return compiled(*args, **kwargs)

        compat.stands_for(seen, compiled)
        return seen

    @contextlib.contextmanager
    def _within(self, function: CompiledFunction, args: Any, kwargs: Any) -> Iterator[None]:
        """Around a call of a compiled function, in which can't be changed how it runs."""
        session = self._session
        assert session is not None
        if session.begun:
            self._guarded(session.settle)
        else:
            self._guarded(self._begin_at, function, args, kwargs)
        is_outermost = self._forwards.enter_compiled(function)
        try:
            yield
        finally:
            if is_outermost:
                self._forwards.leave_compiled(function)
            with contextlib.suppress(Exception):  # a fault of ours can only be left behind
                session.settle()

    def _begin_at(self, function: CompiledFunction, args: Any, kwargs: Any) -> None:
        module = function.module(args, kwargs)
        if module is not None:
            self._begins(module, is_called=False)

    # ------------------------------------------------------------ optimizers

    def _make_optimizer(self, original: Callable[..., None], optimizer: Any, *args: Any, **kwargs: Any) -> None:
        original(optimizer, *args, **kwargs)
        self._note(optimizer, self._optimizers, self._steps.optimizer_gone)
        self._steps.optimizer_made(id(optimizer))

    def _make_step(self, original: Callable[..., Any], step: Callable[..., Any]) -> Callable[..., Any]:
        """The step of a class of optimizers, with what PyTorch puts around it."""
        if not str(getattr(step, "__module__", "")).startswith(_OPTIMIZERS):
            return original(step)

        @functools.wraps(step)
        def seen(*args: Any, **kwargs: Any) -> Any:
            closure = any(callable(one) for one in (*args[1:], *kwargs.values()))
            session = self._session
            if session is None or closure or not self._mine():
                return step(*args, **kwargs)
            with session.optimizing():
                return step(*args, **kwargs)

        return original(seen)

    def _optimizer_begins(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not self._mine():
            self._say_another_thread()
            return
        with self._within_optimizer_hook():
            if self._begins(None):
                self._handle(self._steps.optimizer_begins(id(optimizer)))

    def _optimizer_ended(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        self._steps_taken += 1
        if self._mine():
            with self._within_optimizer_hook():
                self._handle(self._steps.optimizer_ended(id(optimizer), type(optimizer).__name__))

    @contextlib.contextmanager
    def _within_optimizer_hook(self) -> Iterator[None]:
        self._in_optimizer_hook = True
        try:
            yield
        finally:
            self._in_optimizer_hook = False

    def _scaler_step(self, original: Callable[..., Any], scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        before = self._steps_taken
        if self._mine() and self._begins(None):
            self._handle(self._steps.optimizer_begins(id(optimizer)))
        result = original(scaler, optimizer, *args, **kwargs)
        session = self._session
        if session is not None and self._mine() and self._steps_taken == before:
            self._guarded(session.update_skipped)
            self._handle(self._steps.optimizer_ended(id(optimizer), type(optimizer).__name__))
        return result

    def _scale(self, original: Callable[..., Any], scaler: Any, outputs: Any) -> Any:
        result = original(scaler, outputs)
        if self._session is not None and self._mine() and isinstance(outputs, torch.Tensor):
            self._guarded(self._session.losses.is_scaled, result, outputs)
        return result

    # ------------------------------------------------------------ data

    def _next_batch(self, original: Callable[..., Any], iterator: Any) -> Any:
        if not self._mine():
            return original(iterator)
        key = id(iterator)
        self._handle(self._steps.loader_next(key))
        try:
            batch = original(iterator)
        except StopIteration:
            self._steps.loader_gone(key)
            raise
        if key not in self._loaders:
            self._note(iterator, self._loaders, self._steps.loader_gone)
        self._steps.loader_gave(key)
        return batch

    # ------------------------------------------------------------ parts

    def _note(self, thing: Any, known: dict[int, weakref.ref[Any]], gone: Callable[[int], None]) -> None:
        """Sees to it that its end is told, before another thing can have its number."""
        key = id(thing)

        def end(_dead: Any) -> None:
            known.pop(key, None)
            gone(key)

        known[key] = weakref.ref(thing, end)

    def _mine(self) -> bool:
        """Whether this call is to be looked at: not one of our own, not one of another thread."""
        session = self._session
        if session is None or self._inside or compat.compiling() is not None or torch.compiler.is_compiling():
            return False
        return not session.begun or session.thread == threading.get_ident()

    def _begins(self, module: nn.Module | None, is_called: bool = True) -> bool:
        """Starts the session where that has not been done; False if there is none. Arguments as of `Session.begin`."""
        session = self._session
        if session is not None and not session.begun:
            if not self._trains_here():
                return False
            self._guarded(session.begin, module, is_called)
            self._follow(module if is_called else None)
        return self._session is not None

    def _trains_here(self) -> bool:
        """Whether what goes on may be a training, and not work on its data in a process that it has started."""
        if torch.utils.data.get_worker_info() is not None:
            return False
        is_child = self._is_forked or multiprocessing.parent_process() is not None
        return not is_child or torch.is_grad_enabled() or self._steps.by_forward

    def _handle(self, verdict: Verdict, module: nn.Module | None = None) -> None:
        session = self._session
        if session is None or not session.begun or verdict is Verdict.NOTHING:
            return
        try:
            if verdict is Verdict.STEP:
                self._guarded(session.step_ended, module)
            else:
                self._guarded(session.step_was_none)
        finally:  # a script may catch what ends it
            self._follow(module)

    def _follow(self, module: nn.Module | None) -> None:
        """Sees forwards as long as anything comes of them."""
        session = self._session
        if session is None or not session.begun:  # the first one is still waited for
            return
        if session.tracer.is_pushed or self._steps.needs_forwards:
            self._forwards.follow(module)
        else:
            self._forwards.remove()

    def _guarded(self, function: Callable[..., None], *args: Any) -> None:
        """Calls into the session; only what is the user's (terminate, Ctrl-C) comes out of it."""
        session = self._session
        if session is None:
            return
        self._inside = True
        compiler = compat.stop_compiling(None)
        grad = torch.is_grad_enabled()
        reason = ""
        try:
            function(*args)
            reason = session.over
        except CannotDebug as error:
            reason = f"{error}; going on undebugged"
        except Exception as error:
            if is_of_a_handler(error):
                raise
            reason = f"a fault in the debugger ({type(error).__name__}: {error}); going on undebugged"
        finally:
            self._inside = False
            compat.set_gradients(grad)  # Ctrl-C may have come just where we were to do so
            compat.stop_compiling(compiler)
        if reason:
            self.detach(reason)

    def _say_another_thread(self) -> None:
        session = self._session
        if session is None or not session.begun or session.thread in (0, threading.get_ident()):
            return
        if not self._another_thread_said:
            self._another_thread_said = True
            say("another thread trains, too; only the one that trained first is debugged")

    # ------------------------------------------------------------ the end, and children

    def _forget(self) -> None:
        """In a forked child: a session that had begun is not its to use, so that it is not debugged."""
        self._is_forked = True
        session = self._session
        if session is not None and session.begun:
            self._session = None
            session.forget()

    def _at_exit(self) -> None:
        session = self._session
        if session is None:
            return
        if session.begun and not self._uncaught.text and session.ending is None and self._mine():
            self._handle(self._steps.script_ends())
        self._session = None
        session.end(self._uncaught.text)
