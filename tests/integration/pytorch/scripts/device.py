"""A training on a device of its own kind, made of Python: as on a GPU, the autograd engine runs its backward pass in
another thread, while the main one waits in C++."""

import threading
import time

import torch
from torch.utils._pytree import tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("toy")


class Toy(torch.Tensor):
    """A tensor on the device; `inner` has its values."""

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        about = {"strides": inner.stride(), "dtype": inner.dtype, "device": "toy:0", "requires_grad": requires_grad}
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, **about)

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if threading.current_thread() is not threading.main_thread() and not threads:
            threads.append(1)
            print("another thread", flush=True)
        here = {name: value for name, value in (kwargs or {}).items() if name != "device"}
        result = func(*tree_map(_inner, args), **tree_map(_inner, here))
        if func._schema.name.endswith("_"):
            return args[0]
        if str((kwargs or {}).get("device")) == "cpu":
            return result
        return tree_map(lambda each: cls(each) if isinstance(each, torch.Tensor) else each, result)


def _inner(value):
    return value.inner if isinstance(value, Toy) else value


threads = []
try:
    weight, x = Toy(torch.ones(3), requires_grad=True), Toy(torch.arange(3.0))
    for _ in range(100_000):
        loss = (weight * x).sin().sum()
        loss.backward()
        with torch.no_grad():
            weight.sub_(weight.grad * 0.1)
        weight.grad = None
    print("all done")
except KeyboardInterrupt:
    print("\ninterrupted", flush=True)
time.sleep(0.5)  # PyTorch ends the process where its other thread still lets go of what is Python's
