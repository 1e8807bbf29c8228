"""Values of tensors kept as they were at one moment, at the price of a copy only where they are overwritten later.

What is held is an alias of the tensor's memory. Before an operation writes into memory, `before_write` copies what is
held of it. Whoever holds the same part of the same memory at the same moment shares one `Held`. Memory that is not
PyTorch's alone (an array of numpy's, that of a worker) may be written unseen: of that, a copy is held at once, unless
it is exempt or large.

Invariants: an alias has no autograd history and pins nothing but its memory; `bytes` counts each memory once, and all
copies. Where PyTorch counted a write that was not seen, the value is known to be lost and never shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from stepscope.core.errors import NotAvailable
from stepscope.probe.torch.memory import part_here

MOST_COPIED = 64 << 20  # bytes of a tensor, of which a copy is held at once
Span = tuple[int, int, int]  # a memory (the address of its StorageImpl), and the range of its bytes


class Held:
    """A value. `tensor` is an alias or a copy; None once it is lost, for the reason `lost`."""

    __slots__ = ("key", "lost", "own_bytes", "spans", "tensor", "users", "version")

    def __init__(self, tensor: torch.Tensor, spans: tuple[Span, ...], key: Any) -> None:
        self.tensor: torch.Tensor | None = tensor
        self.spans = spans  # empty for a copy
        self.key = key
        self.users = 1
        self.own_bytes = 0  # of a copy
        self.version = _version(tensor)
        self.lost = ""

    def read(self) -> torch.Tensor:
        """The value, not to be written to; NotAvailable if it is lost."""
        if self.tensor is None:
            raise NotAvailable(self.lost, code="overwritten")
        if self.spans and self.version is not None and self.tensor._version != self.version:
            raise NotAvailable(
                "overwritten, in a way that the debugger did not see (by another thread?)", code="overwritten"
            )
        if any(high > self.tensor.untyped_storage().nbytes() for _, _, high in self.spans[:1] if _strided(self.tensor)):
            raise NotAvailable("the program released this memory", code="overwritten")
        return self.tensor


class _Memory:
    """What is held of one memory. `exempt`: it lives anyway, so it doesn't count."""

    __slots__ = ("bytes", "exempt", "held")

    def __init__(self, size: int, exempt: bool) -> None:
        self.bytes = size
        self.exempt = exempt
        self.held: dict[Any, Held] = {}


class Holding:
    """All that is held. Every method needs dispatch modes to be off, as they are inside of one."""

    def __init__(self) -> None:
        self.bytes = 0  # that live for being held
        self._memories: dict[int, _Memory] = {}
        self._exempt: set[int] = set()
        self._copies: dict[Any, Held] = {}  # the youngest of each part of memory that is not PyTorch's own
        self._unsettled: list[Held] = []  # the version of their memory moves when the operation has ended

    def hold(self, tensor: torch.Tensor) -> Held:
        """The value of `tensor` at this moment, for one more user; NotAvailable for what has no memory to be held."""
        try:
            tensor = part_here(tensor)
            key = _key(tensor)
            if key is not None and key[0] not in self._exempt and _is_shared(tensor):
                return self._copy_now(tensor, key)
            memory = self._memories.get(key[0]) if key else None
            known = memory.held.get(key) if memory else None
            if known is not None:
                known.users += 1
                return known
            alias = tensor.detach()
            held = Held(alias, tuple(_spans(alias)), key if key is not None else object())
            for number, _, _ in held.spans:
                self._memory(number, alias).held[held.key] = held
        except Exception as error:  # of whatever kind it is
            raise NotAvailable(f"a {type(tensor).__name__} has no memory of its own", code="no_memory") from error
        return held

    def release(self, held: Held) -> None:
        """One user less; without any, nothing of it is kept."""
        held.users -= 1
        if held.users == 0:
            self._drop(held, "released")

    def exempt(self, tensors: Iterable[torch.Tensor]) -> None:
        """Memory that the program keeps anyway (parameters, state of optimizers): only copies of it count."""
        self._exempt = {span[0] for tensor in tensors for span in _written_spans(tensor)}

    def before_write(self, tensors: Iterable[torch.Tensor]) -> None:
        """Keeps the values in memory that these tensors are about to be written into."""
        for tensor in tensors:
            for number, low, high in _written_spans(tensor):
                memory = self._memories.get(number)
                if memory is None:
                    continue
                touched = [
                    held
                    for held in memory.held.values()
                    if any(one == number and low < end and start < high for one, start, end in held.spans)
                ]
                self._copy(touched)
                self._unsettled += memory.held.values()

    def settle(self) -> None:
        """After the operation, when its writes have been counted by PyTorch: they were all seen."""
        for held in self._unsettled:
            if held.tensor is not None:
                held.version = _version(held.tensor)
        self._unsettled.clear()

    def written(self, held: Held) -> None:
        """`held` is what an operation wrote in place, held before PyTorch counted that."""
        self._unsettled.append(held)

    # ------------------------------------------------------------ parts

    def _memory(self, number: int, tensor: torch.Tensor) -> _Memory:
        memory = self._memories.get(number)
        if memory is None:
            size = next(
                part.untyped_storage().nbytes() for part in _parts(tensor) if part.untyped_storage()._cdata == number
            )
            memory = self._memories[number] = _Memory(size, number in self._exempt)
            self.bytes += 0 if memory.exempt else size
        return memory

    def _copy_now(self, tensor: torch.Tensor, key: Any) -> Held:
        """Of memory that others may write; the copy that there is, where they have not."""
        copy, known = tensor.detach().clone(), self._copies.get(key)
        if known is not None and _same_bytes(known.tensor, copy):
            known.users += 1
            return known
        held = self._copies[key] = Held(copy, (), key)
        held.own_bytes = copy.untyped_storage().nbytes()
        self.bytes += held.own_bytes
        return held

    def _copy(self, touched: list[Held]) -> None:
        """Gives them memory of their own; those that lie at the same place get one together."""
        ranges: dict[Span, torch.Tensor] = {}
        for held in touched:
            alias = held.tensor
            spans = held.spans
            self._unhook(held)
            if alias is None:
                continue
            try:
                with torch.no_grad():
                    held.tensor, held.own_bytes = _duplicate(alias, spans, ranges)
            except (MemoryError, RuntimeError) as error:
                held.tensor, held.lost = None, f"it was overwritten, and there was no memory for a copy ({error})"
                continue
            held.version = None
            self.bytes += held.own_bytes

    def _drop(self, held: Held, reason: str) -> None:
        self._unhook(held)
        if self._copies.get(held.key) is held:
            del self._copies[held.key]
        self.bytes -= held.own_bytes
        held.own_bytes = 0
        held.tensor, held.lost = None, reason

    def _unhook(self, held: Held) -> None:
        for number, _, _ in held.spans:
            memory = self._memories.get(number)
            if memory is not None and memory.held.pop(held.key, None) is not None and not memory.held:
                del self._memories[number]
                self.bytes -= 0 if memory.exempt else memory.bytes
        held.spans = ()


def _is_shared(tensor: torch.Tensor) -> bool:
    """Whether others may write this memory. A whole data set, of which a step takes a part, is not meant to be."""
    return not tensor.untyped_storage().resizable() and tensor.nbytes <= MOST_COPIED


def _same_bytes(one: torch.Tensor | None, other: torch.Tensor) -> bool:
    if one is None:
        return False
    raw = [torch.empty(0, dtype=torch.uint8, device=other.device).set_(each.untyped_storage()) for each in (one, other)]
    return torch.equal(*raw)


def _strided(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_mkldnn


def _parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The strided tensors whose memory a tensor has."""
    if _strided(tensor):
        yield tensor
    elif tensor.layout is torch.sparse_coo:
        yield tensor._indices()
        yield tensor._values()
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), tensor.values())


def _spans(tensor: torch.Tensor) -> Iterator[Span]:
    for part in _parts(tensor):
        if part.numel() == 0 or part.device.type == "meta":
            continue
        size = part.element_size()
        low = part.storage_offset() * size
        reach = sum((length - 1) * stride for length, stride in zip(part.size(), part.stride(), strict=True))
        yield part.untyped_storage()._cdata, low, low + (reach + 1) * size


def _written_spans(tensor: torch.Tensor) -> list[Span]:
    """Of any tensor: all of its storage, if it has one, where it doesn't tell more."""
    tensor = part_here(tensor)
    try:
        return list(_spans(tensor))
    except Exception:  # of whatever kind it is
        try:
            storage = tensor.untyped_storage()
            return [(storage._cdata, 0, storage.nbytes())]
        except Exception:
            return []


def _key(tensor: torch.Tensor) -> tuple[Any, ...] | None:
    """Equal for equal parts of the same memory; None where it takes more to tell."""
    if not _strided(tensor) or tensor.device.type == "meta":
        return None
    return (
        tensor.untyped_storage()._cdata,
        tensor.storage_offset(),
        tensor.size(),
        tensor.stride(),
        tensor.dtype,
        tensor.is_conj(),
        tensor.is_neg(),
    )


def _duplicate(
    alias: torch.Tensor, spans: tuple[Span, ...], ranges: dict[Span, torch.Tensor]
) -> tuple[torch.Tensor, int]:
    """A copy, and what it takes: nothing if the bytes were copied before, for a `Held` at the same place."""
    if not _strided(alias) or alias.is_conj() or alias.is_neg() or alias.is_quantized:
        copy = alias.clone()
        return copy, sum(part.untyped_storage().nbytes() for part in _parts(copy))
    (span,) = spans
    _, low, high = span
    size = alias.element_size()
    if high - low > 2 * alias.numel() * size:  # a thin slice: its surroundings are not wanted
        copy = alias.clone()
        return copy, copy.untyped_storage().nbytes()
    taken = 0
    if span not in ranges:
        everything = torch.empty(0, dtype=torch.uint8, device=alias.device)
        ranges[span] = everything.set_(alias.untyped_storage(), low, (high - low,), (1,)).clone()
        taken = high - low
    copy = torch.empty(0, dtype=alias.dtype, device=alias.device)
    copy.set_(ranges[span].untyped_storage(), 0, alias.size(), alias.stride())
    return copy, taken


def _version(tensor: torch.Tensor) -> int | None:
    return None if tensor.is_inference() else tensor._version
