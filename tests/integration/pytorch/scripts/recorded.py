"""`recorded.py FILE SCRIPT ARGUMENTS…` runs a script and saves what each operation returned, as copies made at once."""

import runpy
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class Recording(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        copies = [one.clone() for one in tree_flatten(result)[0] if isinstance(one, torch.Tensor)]
        self.calls.append((func._schema.name.replace("::", "."), copies))
        return result


if __name__ == "__main__":
    file, sys.argv = sys.argv[1], sys.argv[2:]
    with Recording() as recording:
        runpy.run_path(sys.argv[0], run_name="__main__")
    torch.save(recording.calls, file)
