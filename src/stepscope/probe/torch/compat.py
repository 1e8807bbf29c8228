"""All that is private to PyTorch, or differs between its releases: nothing of the kind stands in another module."""

from __future__ import annotations

import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import overrides
from torch.utils import _python_dispatch
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import dataloader

from stepscope.probe.bootstrap import CannotDebug

_PRIVATE = (
    (torch._C, "_current_autograd_node"),
    (torch._C, "_current_graph_task_id"),
    (torch.autograd, "_get_sequence_nr"),
    (torch.autograd.graph, "_engine_run_backward"),
    (_python_dispatch, "_get_current_dispatch_mode_stack"),
    (_python_dispatch, "_disable_current_modes"),
    (_python_dispatch, "_pop_mode"),
    (_python_dispatch, "_push_mode"),
    (dataloader, "_BaseDataLoaderIter"),
    (overrides, "_get_current_function_mode_stack"),
    (torch._C, "_is_torch_function_enabled"),
    (torch.UntypedStorage, "_weak_ref"),
    (torch.UntypedStorage, "_free_weak_ref"),
)


def check() -> None:
    """Raises CannotDebug where this PyTorch lacks what the probe stands on."""
    for owner, name in _PRIVATE:
        if not hasattr(owner, name):
            raise CannotDebug(f"PyTorch {torch.__version__} has no {owner.__name__}.{name}, which the debugger needs")


current_autograd_node: Callable[[], Any] = torch._C._current_autograd_node  # the node that the engine runs, or None
current_graph_task: Callable[[], int] = torch._C._current_graph_task_id  # of the backward pass that runs, or -1
next_sequence_number: Callable[[], int] = torch.autograd._get_sequence_nr  # of the next autograd node of this thread
engine_code = torch.autograd.graph._engine_run_backward.__code__  # the last Python frame before the engine
LoaderIterator: Any = dataloader._BaseDataLoaderIter  # of all data loaders
ENGINE = (torch.autograd, "_engine_run_backward")  # what every backward pass goes through
free_weak_reference: Callable[[int], None] = torch.UntypedStorage._free_weak_ref


def weak_reference(storage: torch.UntypedStorage) -> int:
    """Pins the address of a storage, not its memory, until `free_weak_reference`."""
    return storage._weak_ref()


def storage_address(storage: torch.UntypedStorage) -> int:
    """Of the storage's own record, which outlives a change of its memory."""
    return storage._cdata


class DebugMode(TorchDispatchMode):
    """A dispatch mode that compiled functions survive, and that costs no more than its own code.

    A plain one makes Dynamo give up a compiled function for good when that is called under it, and wraps each of its
    calls into a guard against Dynamo, which doubles what a call costs.

    `seeing`: it is to look at what passes. A forked child, which inherits it, sees nothing. `wanted`: it is to be on
    the stack. Where that can't be brought about at once, `settle` does it later.
    """

    supports_higher_order_operators = True  # else `torch.cond` raises

    def __init__(self) -> None:
        super().__init__()
        self.seeing = self.wanted = False
        self._unsettled = False
        self._owner = 0  # the thread on whose stack it is
        _modes.add(self)

    def put_on(self) -> None:
        """Below the modes of the user's, which take themselves off from the top."""
        if not is_on(self):
            with _lifted():
                self.__enter__()
        self.wanted, self._unsettled, self._owner = True, _within_a_call_that_restores(), threading.get_ident()

    def take_off(self) -> bool:
        """False where it stays for now: a backward pass or compiled code has led here, or this is another thread."""
        if is_on(self) and not _within_a_call_that_restores():
            with _lifted(self):
                self.__exit__(None, None, None)
        self._unsettled = is_on(self) or (self.wanted and self._owner != threading.get_ident())
        self.wanted = False
        return not self._unsettled

    def settle(self) -> None:
        if self._unsettled and not _within_a_call_that_restores():
            wanted = self.wanted
            self.take_off()
            if wanted:
                self.put_on()

    def blind(self) -> None:
        """It sees nothing from now on."""
        self.seeing = False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


_modes: weakref.WeakSet[DebugMode] = weakref.WeakSet()


@contextmanager
def _lifted(of: DebugMode | None = None) -> Iterator[None]:
    """Without the modes above that one, or any, of which nothing is called for that."""
    lifted = []
    for mode in reversed(_python_dispatch._get_current_dispatch_mode_stack()):
        if mode is of or getattr(mode, "_mode_key", None) is not None:  # PyTorch's own stand below all others
            break
        lifted.append(_python_dispatch._pop_mode())
    try:
        yield
    finally:
        for mode in reversed(lifted):
            _python_dispatch._push_mode(mode)


def _within_a_call_that_restores() -> bool:
    """Whether a backward pass or a function of `torch.compile` has led here. What there is of modes is afterwards what
    it was before: the stack, or with `torch.compile` only what the dispatcher knows of it."""
    if current_graph_task() >= 0:
        return True
    compiler = getattr(sys.modules.get("torch._dynamo.eval_frame"), "__file__", None)
    frame = sys._getframe() if compiler is not None else None
    while frame is not None:
        if frame.f_code.co_filename == compiler and "saved_include_set" in frame.f_code.co_varnames:
            return True
        frame = frame.f_back
    return False


def _blind_in_child() -> None:
    for mode in _modes:
        mode.blind()


os.register_at_fork(after_in_child=_blind_in_child)


def entry_of(func: Any) -> Callable[..., Any]:
    """What calls an operation without its wrapper in Python, where that does nothing else."""
    return getattr(func, "_op", func) if type(func) is torch._ops.OpOverload else func


def is_on_top(mode: TorchDispatchMode) -> bool:
    """Whether a mode is the innermost of this thread, so that it can be taken off."""
    stack = _python_dispatch._get_current_dispatch_mode_stack()
    return bool(stack) and stack[-1] is mode


def is_on(mode: TorchDispatchMode) -> bool:
    """Whether a mode is anywhere in this thread's stack."""
    return any(one is mode for one in _python_dispatch._get_current_dispatch_mode_stack())


def sees_python_calls() -> bool:
    """Whether a function mode would see all that Python calls now, and no other one what ours does in turn. That of a
    device is about the making of tensors alone."""
    others = overrides._get_current_function_mode_stack()
    return torch._C._is_torch_function_enabled() and all(type(one) is DeviceContext for one in others)


@contextmanager
def unseen() -> Iterator[None]:
    """What runs inside is seen by no dispatch mode and leaves no trace in autograd."""
    with _python_dispatch._disable_current_modes(), torch.no_grad():
        yield


def nothing() -> None:
    pass


def unseen_by_others() -> AbstractContextManager[None]:
    """`unseen`, for code that runs within a dispatch mode, where often no other one is active."""
    return unseen() if _python_dispatch._get_current_dispatch_mode_stack() else torch.no_grad()


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """What a transformation of torch.func has wrapped, if it has: operations are seen with that."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def compiles() -> bool:
    """Whether the script has anything compiled by Dynamo, or will have, that is not to be left alone."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return not _hands_off and any(callable(backend) for backend in getattr(frames, "cached_backends", {}).values())


def run_compiled_code_eagerly() -> Callable[[], None]:
    """Makes compiled functions run op by op; what is returned takes it back, and they go on compiled as before.

    Without effect as long as nothing is to be compiled, and before PyTorch 2.6, where compiled functions keep
    running compiled and show as the operations that they call from there.
    """
    if not compiles() or not hasattr(torch.compiler, "set_stance"):
        return nothing
    # What PyTorch would warn of: the hooks that follow modules are seen by a compiled module and by that inside it.
    warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global hooks", UserWarning)
    global _stance
    _stance = torch.compiler.set_stance("force_eager")
    return _leave_stance


def leave_compiled_code_alone() -> None:
    """From now on. For `torch.cond` and its like, which compile for themselves: their backward pass fails otherwise."""
    global _hands_off
    _hands_off = True
    _leave_stance()


def _leave_stance() -> None:
    global _stance
    stance, _stance = _stance, None
    if stance is not None:
        stance.__exit__(None, None, None)


_stance: Any = None  # that which runs compiled code eagerly, while it is taken
_hands_off = False
