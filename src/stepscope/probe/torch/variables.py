"""The tensors that a step starts from: parameters, buffers, gradients and optimizer state it finds, and its inputs.

They are named when a step begins, by the roots and optimizers that are known by then, or when they are met first.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from stepscope.core.graph.records import Kind
from stepscope.probe.torch import compat, naming, users
from stepscope.probe.torch.scopes import Root
from stepscope.probe.torch.storages import Source, Spot, Storages, address_of, spot_of

INPUT, STATE, GRADIENT = "Input/", "OptState/", ".grad"


class Variable(NamedTuple):
    """`always`: it is a node of the graph, though nothing in the step reads it."""

    tensor: Tensor
    kind: Kind
    trainable: bool | None = None
    always: bool = False


class Variables:
    """`known` has them by name, in the order in which they were named."""

    def __init__(self, storages: Storages) -> None:
        self.known: dict[str, Variable] = {}
        self._storages = storages
        self._labels: dict[int, tuple[weakref.ref[torch.optim.Optimizer], str]] = {}  # by the id of an optimizer
        self._label_counts: dict[str, int] = {}
        # Without weak references: `torch.utils.swap_tensors` refuses a tensor that has any.
        self._loose: dict[str, Tensor] = {}  # parameters of no module
        self._leaves: dict[int, Tensor] = {}  # inputs of the last steps that gradients are for, by their id
        self._loose_names: set[str] = set()  # that were ever given
        self._slots: dict[tuple[str, int, int], str] = {}  # of each place in an optimizer, the parameter that was there
        self._parameters: dict[int, str] = {}  # address → name of the parameter that lies there
        self._modules: dict[str, str] = {}  # parameter → path of its module
        self._places: dict[str, tuple[weakref.ref[torch.nn.Module], str]] = {}  # name → root, and what it is in there
        self._owners: dict[int, str] = {}  # address → parameter, of its gradient and the optimizer's state for it
        self._counts: dict[str, int] = {}
        self._unfinished: list[Root] = []  # with parameters or buffers that are made when it is called

    # ------------------------------------------------------------ a step begins

    def clear(self) -> None:
        self.known = {}
        for each in (self._parameters, self._owners, self._counts, self._modules, self._unfinished):
            each.clear()

    def let_go(self, keep_parameters: bool = False) -> None:
        """Of every tensor. `keep_parameters`: but for the parameters of no module, which can't be found otherwise."""
        self.clear()
        self._leaves.clear()
        if not keep_parameters:
            self._loose.clear()

    def begin(self, roots: Iterable[Root]) -> None:
        self.clear()
        for tensors in (self._loose, self._leaves):
            _drop_abandoned(tensors)
        self._places.clear()
        for root in roots:
            self.add_root(root)
        for name, tensor in self._loose.items():
            self._add_parameter(name, tensor)
        for reference, label in list(self._labels.values()):
            optimizer = reference()
            if optimizer is not None:
                self._add_optimizer(optimizer, label)

    def add_root(self, root: Root) -> None:
        module = root.module()
        if module is None:
            return
        unfinished = False
        for qualified, parameter in users.named_tensors(module, "_parameters"):
            if is_lazy(parameter):
                unfinished = True
                continue
            name = naming.tensor_name(root.name, qualified)
            self._add_parameter(name, compat.plain(parameter), parameter.requires_grad)
            self._places.setdefault(name, (root.module, qualified))
            self._modules.setdefault(name, naming.module_path(root.name, qualified.rpartition(".")[0]))
        for qualified, buffer in users.named_tensors(module, "_buffers"):
            if is_lazy(buffer):
                unfinished = True
                continue
            name = naming.tensor_name(root.name, qualified)
            buffer = compat.plain(buffer)
            self._places.setdefault(name, (root.module, qualified))
            self._add(name, Variable(buffer, "parameter", trainable=False, always=True), spot_of(buffer))
        if unfinished:
            self._unfinished.append(root)

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> str:
        """The name under which an optimizer's nodes stand. Names its state, and who owns which tensor of it."""
        key, labels = id(optimizer), self._labels
        if key in labels:
            label = labels[key][1]
        else:
            label = naming.numbered(type(optimizer).__name__, self._label_counts)
            labels[key] = weakref.ref(optimizer, lambda _dead: labels.pop(key, None)), label
        self._add_optimizer(optimizer, label)
        return label

    # ------------------------------------------------------------ asking

    def found(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Parameters and buffers of modules, where they were when they were named, at a fraction of what it costs to
        name all there are; none if any of them is not there."""
        found: dict[str, Tensor] = {}
        for name in names:
            root, qualified = self._places.get(name) or (None, "")
            tensor = naming.held(root() if root is not None else None, qualified)
            if tensor is None:
                return {}
            found[name] = compat.plain(tensor)
        return found

    def parameter_at(self, address: int) -> str:
        """The parameter that lies at an address, "" for none."""
        return self._parameters.get(address, "")

    def trainable_at(self, address: int) -> str:
        """As `parameter_at`, of parameters that are trained."""
        name = self.parameter_at(address)
        return name if name and self.known[name].trainable else ""

    def module_of(self, parameter: str) -> str:
        """The path of the module that a parameter belongs to, "" for none."""
        return self._modules.get(parameter, "")

    def owner_at(self, address: int) -> str:
        """The parameter that lies at an address, or whose gradient or state does."""
        return self._owners.get(address, "")

    def name_unknown(self, tensor: Tensor, spot: Spot, frame: FrameType | None) -> tuple[Source, bool]:
        """Names a tensor that no node of the step made: an input of the step; or a parameter of no module, which is
        what the leaf of a graph is that comes again in another step."""
        unfinished, self._unfinished = self._unfinished, []
        for root in unfinished:
            self.add_root(root)
        source, exact = self._storages.find(spot)
        if source is not None:
            return source, exact
        name = naming.find_tensor(tensor, frame)
        if self._is_loose_parameter(tensor, name):
            name = self._unused(name or "parameter")
            self._loose[name] = tensor
            self._loose_names.add(name)
            self._add_parameter(name, tensor)
        else:
            name = self._unused(INPUT + (name or "tensor"))
            self._add(name, Variable(tensor, "input"), spot)
        source, exact = self._storages.find(spot)
        return source or Source(name, 0), exact

    # ------------------------------------------------------------ parts

    def _is_loose_parameter(self, tensor: Tensor, name: str) -> bool:
        if not (tensor.requires_grad and tensor.is_leaf) or is_lazy(tensor):
            return False
        if isinstance(tensor, torch.nn.Parameter) or id(tensor) in self._leaves or name in self._loose_names:
            return True
        self._leaves[id(tensor)] = tensor
        return False

    def _unused(self, name: str) -> str:
        unused = naming.numbered(name, self._counts)
        while unused in self.known:
            unused = naming.numbered(name, self._counts)
        return unused

    def _add(self, name: str, variable: Variable, spot: Spot) -> None:
        if name not in self.known:
            self.known[name] = variable
            self._storages.made(variable.tensor, spot, Source(name, 0))

    def _add_parameter(self, name: str, tensor: Tensor, trainable: bool = False) -> None:
        spot, gradient = spot_of(tensor), tensor.grad
        self._add(name, Variable(tensor, "parameter", trainable or tensor.requires_grad, always=True), spot)
        self._parameters.setdefault(spot[0], name)
        self._owners[spot[0]] = name
        if gradient is not None:
            spot = spot_of(gradient)
            self._add(f"{INPUT}{name}{GRADIENT}", Variable(gradient, "input"), spot)
            self._owners[spot[0]] = name

    def _add_optimizer(self, optimizer: torch.optim.Optimizer, label: str) -> None:
        for group_number, group in users.items(users.attribute(optimizer, "param_groups"), most=None):
            for number, parameter in users.items(dict.get(group, "params"), most=None):
                name = self.parameter_at(address_of(parameter))
                slot = label, group_number, number
                if not name:
                    name = self._slots.get(slot, "")
                    if not name or name in self.known:
                        name = ".".join(map(str, slot))
                    self._add_parameter(name, parameter)
                self._slots[slot] = name
                if parameter.grad is not None:
                    self._owners[address_of(parameter.grad)] = name
                states = dict.get(users.attribute(optimizer, "state") or {}, parameter)
                for state, value in users.items(states, most=None):
                    if users.is_a(value, Tensor):
                        spot = spot_of(value)
                        self._owners[spot[0]] = name
                        self._add_state(f"{STATE}{name}/{naming.clean(str(state))}", value, spot)

    def _add_state(self, name: str, value: Tensor, spot: Spot) -> None:
        made = self._storages.find(spot)[0]  # by a node of this step, which begins the state
        if name not in self.known and made is None:
            self._add(name, Variable(value, "parameter", trainable=False, always=True), spot)


def _drop_abandoned(tensors: dict[Any, Any]) -> None:
    """Those that nobody else has any more."""
    for key in list(tensors):
        if _references(tensors, key) <= _ALONE:
            del tensors[key]


def _references(things: dict[Any, Any], key: Any) -> int:
    return sys.getrefcount(things[key])


_ALONE = _references({"": object()}, "")
