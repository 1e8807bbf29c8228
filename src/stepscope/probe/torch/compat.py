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
    (torch.nn.Module, "_call_impl"),
    (dataloader, "_BaseDataLoaderIter"),
    (overrides, "_get_current_function_mode_stack"),
    (torch._C, "_is_torch_function_enabled"),
    (torch._C, "DisableTorchFunction"),
    (torch._C, "_set_grad_enabled"),
    (torch.UntypedStorage, "_weak_ref"),
    (torch.UntypedStorage, "_free_weak_ref"),
    (torch._C, "_WeakTensorRef"),
    (torch._C, "_get_tracing_state"),
    (torch.Tensor, "_is_zerotensor"),
    (torch._C._dynamo.eval_frame, "set_eval_frame"),
    (torch._guards.TracingContext, "try_get"),
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
module_code = torch.nn.Module._call_impl.__code__  # runs around each call of a module and its hooks
LoaderIterator: Any = dataloader._BaseDataLoaderIter  # of all data loaders
ENGINE = (torch.autograd, "_engine_run_backward")  # what every backward pass goes through
free_weak_reference: Callable[[int], None] = torch.UntypedStorage._free_weak_ref
stop_compiling = torch._C._dynamo.eval_frame.set_eval_frame  # given None; what it returns makes it go on


def weak_reference(storage: torch.UntypedStorage) -> int:
    """Pins the address of a storage, not its memory, until `free_weak_reference`."""
    return storage._weak_ref()


def storage_address(storage: torch.UntypedStorage) -> int:
    """Of the storage's own record, which outlives a change of its memory."""
    return storage._cdata


def tensor_address(tensor: torch.Tensor) -> int:
    """Of the tensor's own record, which is another one for each view."""
    return tensor._cdata


weak_tensor = torch._C._WeakTensorRef  # pins the address of a tensor as long as it lives, not its memory


class DebugMode(TorchDispatchMode):
    """A dispatch mode that compiled functions survive, and that costs no more than its own code. While it is on, they
    run op by op.

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
        if not self._unsettled:
            _run_eagerly(self)

    def take_off(self) -> bool:
        """It sees nothing from now on. False where it stays for now: a backward pass or compiled code has led here, or
        this is another thread."""
        self.blind()
        return self._take_off()

    def _take_off(self) -> bool:
        if not _within_a_call_that_restores():
            _run_compiled(self)
            if is_on(self):
                with _lifted(self):
                    self.__exit__(None, None, None)
        is_elsewhere = self.wanted and self._owner != threading.get_ident()
        self._unsettled = is_on(self) or is_elsewhere or self in _eager_for
        self.wanted = False
        return not self._unsettled

    def settle(self) -> None:
        if self._unsettled and not _within_a_call_that_restores():
            wanted = self.wanted
            self._take_off()
            if wanted:
                self.put_on()
        elif self.wanted:
            _run_eagerly(self)  # what has been compiled since

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


# What runs inside is seen by no function mode, and no class of tensors is asked what it makes of it.
unseen_in_python: Callable[[], AbstractContextManager[None]] = torch._C.DisableTorchFunction


class _WithoutTrace:
    """`unseen_in_python`, and without gradients."""

    __slots__ = ("_grad", "_python")

    def __enter__(self) -> None:
        self._python = unseen_in_python()
        self._python.__enter__()
        self._grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, *raised: Any) -> None:
        torch._C._set_grad_enabled(self._grad)
        self._python.__exit__(*raised)


def set_gradients(enabled: bool) -> None:
    """As `torch.set_grad_enabled`, which is a call that a function mode sees."""
    with unseen_in_python():
        torch._C._set_grad_enabled(enabled)


@contextmanager
def unseen() -> Iterator[None]:
    """What runs inside is seen by no mode and leaves no trace in autograd."""
    with _WithoutTrace(), _python_dispatch._disable_current_modes():
        yield


def nothing() -> None:
    pass


def unseen_by_others() -> AbstractContextManager[None]:
    """`unseen`, for code that runs within a dispatch mode, where often no other one is active."""
    return unseen() if _python_dispatch._get_current_dispatch_mode_stack() else _WithoutTrace()


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """What a transformation of torch.func has wrapped, if it has: operations are seen with that."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def compiling() -> Any:
    """What the compiler, or `torch.jit.trace`, to which whatever a tensor is asked is a part of the code, is at in this
    thread; or None."""
    return torch._guards.TracingContext.try_get() or torch._C._get_tracing_state()


def with_memory(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor; of zeros that only stand for themselves, which crash operations that don't expect them, a copy."""
    return tensor.clone() if torch.Tensor._is_zerotensor(tensor) else tensor


def is_compiling() -> bool:
    """Whether Dynamo looks at the code that asks, to which this is a constant, or anything of its works here. For what
    may not stop Dynamo; what it leaves alone (`run_as_it_is`) asks for `compiling`."""
    return torch.compiler.is_compiling() or compiling() is not None


def compiles() -> bool:
    """Whether the script has anything compiled by Dynamo, or will have, that is not to be left alone."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return not _hands_off and any(callable(backend) for backend in getattr(frames, "cached_backends", {}).values())


def _run_eagerly(mode: DebugMode) -> None:
    """Makes compiled functions run op by op for a mode, until `_run_compiled`. Not to be called within one, which may
    complain at its end that it was not compiled.

    Without effect as long as nothing is to be compiled, and before PyTorch 2.6, where compiled functions keep
    running compiled and show as the operations that they call from there.
    """
    global _stance
    if not compiles() or not hasattr(torch.compiler, "set_stance"):
        return
    _eager_for.add(mode)
    if _stance is not None:
        return
    # What PyTorch would warn of: the hooks that follow modules are seen by a compiled module and by that inside it.
    warnings.filterwarnings("ignore", r"Using `torch\.compile\(module\)` when there are global hooks", UserWarning)
    _stance = torch.compiler.set_stance("force_eager")


def _run_compiled(mode: DebugMode) -> None:
    """As before `_run_eagerly`, unless another mode needs it."""
    if mode in _eager_for:
        _eager_for.discard(mode)
        if not _eager_for:
            _leave_stance()


def stands_for(wrapper: Any, compiled: Any) -> None:
    """To Dynamo, a wrapper of a compiled function that has its attributes is that function."""
    if hasattr(compiled, "_torchdynamo_wrapper_id"):
        wrapper._torchdynamo_wrapper_id = id(wrapper)


def run_as_it_is(*modules: str) -> None:
    """Keeps Dynamo, which has been imported, from compiling what stands in these modules."""
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    for module in modules:
        if module not in _run_as_they_are and hasattr(rules, "add"):
            _run_as_they_are.add(module)
            rules.add(module)


def leave_compiled_code_alone() -> None:
    """From now on. For `torch.cond` and its like, which compile for themselves: their backward pass fails otherwise."""
    global _hands_off
    _hands_off = True
    _eager_for.clear()
    _leave_stance()


def _leave_stance() -> None:
    global _stance
    stance, _stance = _stance, None
    if stance is not None:
        stance.__exit__(None, None, None)


_eager_for: weakref.WeakSet[DebugMode] = weakref.WeakSet()
_stance: Any = None  # that which runs compiled code eagerly, while it is taken
_hands_off = False
_run_as_they_are: set[str] = set()
