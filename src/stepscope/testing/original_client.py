"""A training with MindSpore's own debugger client, of a release from 1.2 to 2.0, on GPU or Ascend: a stand-in.

It speaks the original's protocol as its releases did, over a channel with gRPC's own limits, and trains the small
network of `stepscope.testing.network` meanwhile, so that every value it sends is a true one. What it sends when:

    Ascend   runs whole steps; all outputs can be read after them
    GPU      can stop behind a node; what can be read is what is watched, the node it stands at, and the parameters

Values of the step before are there for parameters only. Watchpoints are evaluated here in plain numpy.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import numpy as np
from numpy.typing import NDArray

from stepscope.core.ports import TensorKey
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.gen.stepscope_pb2_grpc import EventListenerStub
from stepscope.testing.network import FOLDED, NODES, PARAMETERS, Network, graph_proto
from stepscope.testing.original_checks import INITIAL, OVERFLOW, check, of_changes
from stepscope.testing.original_flavours import FLAVOURS, Flavour, Misbehaviour
from stepscope.testing.original_graphs import as_sent, part

Array = NDArray[Any]

PIECE = 3 << 20  # bytes of a tensor or a graph in one message
_CHANNEL = [("grpc.use_local_subchannel_pool", 1)]  # each client its own connection; else gRPC's own limits
_RETRIES = 5
_RUNNING = frozenset(NODES) - frozenset(FOLDED)
_TYPES = {"float32": pb.DT_FLOAT32, "float16": pb.DT_FLOAT16, "float64": pb.DT_FLOAT64, "int32": pb.DT_INT32}


@dataclass
class _Watch:
    nodes: list[pb.WatchNode]
    condition: pb.WatchCondition


@dataclass
class Seen:
    """What the server asked for, for tests that look at the wire."""

    replies: list[pb.EventReply] = field(default_factory=list)
    out_of_order: list[pb.EventReply] = field(default_factory=list)  # to what a misbehaving client sent
    largest_reply: int = 0

    def commands(self, kind: str) -> list[Any]:
        """Of one kind, in order."""
        return [getattr(reply, kind) for reply in self.replies if reply.WhichOneof("cmd") == kind]

    def note(self, reply: pb.EventReply) -> None:
        self.replies.append(reply)
        self.largest_reply = max(self.largest_reply, reply.ByteSize())


class Exit(Exception):
    """The server said that the training shall end."""


class OriginalClient:
    """Trains in a thread of its own from `start` on. Leaving a `with` block kills it: the connection breaks."""

    def __init__(
        self,
        address: str,
        flavour: Flavour = FLAVOURS[0],
        steps: int = 1000,
        step_seconds: float = 0.0,
        nan_at: int | None = None,
        misbehaviour: Misbehaviour | None = None,
        graph: pb.GraphProto | None = None,
        is_split: bool = False,
    ) -> None:
        """`is_split`: forward and backward pass are graphs of their own."""
        self.flavour = flavour
        self.network = Network(nan_at)
        self.seen = Seen()
        self.exited = False
        self.error: BaseException | None = None
        whole = graph or as_sent(graph_proto())
        self._graphs = [part(whole, number) for number in range(2)] if is_split else [whole]
        self._steps = steps
        self._step_seconds = step_seconds  # that a step takes at least
        self._wrong = misbehaviour or Misbehaviour()
        self.address = address
        self._channel = grpc.insecure_channel(address, options=_CHANNEL)
        self._stub = EventListenerStub(self._channel)
        self._watched: dict[int, _Watch] = {}
        self._loaded: dict[tuple[str, int], Array] = {}
        self._previous: dict[str, Array] = {}
        self._checked: set[tuple[str, int, int]] = set()
        self._step = 0
        self._node = ""
        self._level = "step"
        self._stopped_at_last = False  # behind the last node of a graph, on the way from node to node
        self._dead = threading.Event()
        self._calls = 0
        self._thread = threading.Thread(target=self._train, daemon=True)

    def start(self) -> OriginalClient:
        self._thread.start()
        return self

    def reconnect(self, seconds_away: float = 0.0) -> None:
        """Break the connection while the training stands still; it asks on over a new one, as gRPC makes it."""
        old, self._channel = self._channel, grpc.insecure_channel(self.address, options=_CHANNEL)
        self._stub = EventListenerStub(self._channel)
        old.close()
        self._dead.wait(seconds_away)

    def kill(self) -> None:
        self._dead.set()
        self._channel.close()
        if self._thread.is_alive():
            self._thread.join(10)

    def join(self, timeout: float = 10.0) -> None:
        self._thread.join(timeout)

    def beat(self, period: int = 5) -> pb.EventReply:
        """A sign of life."""
        reply: pb.EventReply = self._stub.SendHeartbeat(pb.Heartbeat(message="Debugger is alive", period=period))
        return reply

    def __enter__(self) -> OriginalClient:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.kill()

    # ------------------------------------------------------------ the training

    def _train(self) -> None:
        try:
            self._load_parameters()
            if self._wrong.wrong_order:
                self._send_in_wrong_order()
            self._connect()
            self._command_loop()
            while self.network.step < self._steps:
                self._run_step()
                if not (self._stopped_at_last and self._level == "node"):
                    self._command_loop()
                if self.network.step == self._wrong.compiles_anew_after:
                    self._watched = {}
                    if self._wrong.breaks_off_to_compile:
                        self.reconnect()
                    self._connect()
                    self._command_loop()
            self._stub.SendMetadata(self._metadata(training_done=True))
        except Exit:
            self.exited = True
            with contextlib.suppress(grpc.RpcError, ValueError):
                self._stub.SendMetadata(self._metadata(training_done=True))
        except (grpc.RpcError, ValueError) as error:  # ValueError: of a channel that was closed
            if not self._dead.is_set():
                self.error = error

    def _connect(self) -> None:
        reply = self._stub.SendMetadata(self._metadata())
        if reply.WhichOneof("cmd") != "version_matched" or not reply.version_matched:
            raise ValueError("the server does not take this version")
        graphs = list(self._graphs)
        for number in range(self._wrong.extra_graphs):
            other = pb.GraphProto()
            other.CopyFrom(self._graphs[0])
            other.name = f"kernel_graph_{number + 1}"
            graphs.append(other)
        send = self._stub.SendMultiGraphs if len(graphs) > 1 else self._stub.SendGraph
        if self._wrong.wrong_order:
            self.seen.out_of_order.append(self._stub.WaitCMD(self._metadata()))
        if self._wrong.cuts_graphs:
            half = graphs[0].SerializeToString()[: graphs[0].ByteSize() // 2]
            self.seen.out_of_order.append(send(iter([pb.Chunk(buffer=half, finished=True)])))
        reply = send(self._pieces_of(graphs, is_ended=len(graphs) > 1))
        if reply.status != pb.EventReply.OK:
            raise ValueError("the server does not take the graph")

    def _send_in_wrong_order(self) -> None:
        self.seen.out_of_order += [
            self._stub.WaitCMD(self._metadata()),
            self._stub.SendGraph(self._pieces_of(self._graphs, is_ended=False)),
            self._stub.SendMultiGraphs(self._pieces_of(self._graphs, is_ended=True)),
            self._stub.SendTensors(iter([pb.TensorProto(node_name="none", slot="0", finished=True)])),
            self._stub.SendTensorStats(iter([pb.TensorSummary()])),
            self._stub.SendTensorBase(iter([pb.TensorBase()])),
        ]

    def _pieces_of(self, graphs: list[pb.GraphProto], is_ended: bool) -> Iterator[pb.Chunk]:
        finished = False
        for graph in graphs:
            data = graph.SerializeToString()
            pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
            if self._wrong.last_piece_twice:
                pieces.append(pieces[-1])
            for place, piece in enumerate(pieces, 1):
                last = is_ended and place == len(pieces)
                # Where the last piece comes twice, the first one of the next graph says "finished", too.
                finished = last or (finished and place == 1 and self._wrong.last_piece_twice)
                yield pb.Chunk(buffer=piece, finished=finished)

    def _run_step(self) -> None:
        """Stops behind nodes and graphs; that it stops behind the step is left to the caller."""
        if self.flavour.counts == "behind" and self.network.step:
            self._step += 1
        self._previous = {name: self._loaded[name, 0] for name in PARAMETERS}
        self._checked = set()
        self._step += self.flavour.counts == "at start"
        self.network.run_step()
        for number, graph in enumerate(self._graphs):
            is_last = number == len(self._graphs) - 1
            self._keep_parameters_only()
            self._run_graph([node.full_name for node in graph.node if node.full_name in _RUNNING])
            if is_last:
                self._dead.wait(self._step_seconds)
                if self.network.step == self._wrong.breaks_off_after:
                    self.reconnect(self._wrong.seconds_away)
            self._load_parameters()
            self._step += self.flavour.counts == "at end" and (is_last or self.flavour.stops_behind_each_graph)
            self._report(None)
            if self.flavour.stops_behind_each_graph and len(self._graphs) > 1 and (self.flavour.is_gpu or not is_last):
                self._command_loop()
        if self.flavour.stops_behind_each_graph and len(self._graphs) > 1:
            self._keep_parameters_only()

    def _run_graph(self, nodes: list[str]) -> None:
        if not self.flavour.is_gpu:
            for name in nodes:
                self._load(name)
            return
        self._stopped_at_last = False
        for name in nodes:
            self._node = name
            is_last = name == nodes[-1]
            goes_by_node = self._level == "node"
            if goes_by_node or self._is_watched(name):
                self._load(name)
            if self._report(name):
                self._command_loop()
            elif goes_by_node and not (is_last and self.flavour.stops_behind_each_graph):
                self._stopped_at_last = is_last
                self._command_loop()

    def _keep_parameters_only(self) -> None:
        self._loaded = {key: value for key, value in self._loaded.items() if key[0] in PARAMETERS}

    def _load(self, name: str) -> None:
        for slot in range(len(NODES[name][2])):
            key = TensorKey(Network.graph_name, name, slot)
            self._loaded[name, slot] = self.network.tensor(key).array

    def _load_parameters(self) -> None:
        for name in PARAMETERS:
            self._loaded.pop((name, 0), None)  # they come last: their values are those of the end of the step
            self._loaded[name, 0] = self.network.tensor(TensorKey(Network.graph_name, name)).array

    # ------------------------------------------------------------ the server's commands

    def _command_loop(self) -> None:
        while True:
            self._calls += 1
            if self._wrong.silent_after is not None and self._calls > self._wrong.silent_after:
                self._dead.wait()
            reply = self._ask()
            self.seen.note(reply)
            if reply.status == pb.EventReply.FAILED:
                raise ValueError("the server does not know this training")
            kind = reply.WhichOneof("cmd")
            if kind == "exit":
                raise Exit
            if kind == "set_cmd":
                self._set(reply.set_cmd)
            elif kind == "view_cmd":
                self._view(reply.view_cmd)
            elif kind == "run_cmd":
                if reply.run_cmd.run_level != "recheck":
                    self._level = reply.run_cmd.run_level
                    return
                self._checked = set()
                self._report(None)

    def _ask(self) -> pb.EventReply:
        for attempt in range(1, _RETRIES + 1):
            try:
                reply: pb.EventReply = self._stub.WaitCMD(self._metadata(is_first=False))
            except (grpc.RpcError, ValueError):
                if self._dead.is_set() or attempt == _RETRIES:
                    raise
            else:
                if reply.status != pb.EventReply.FAILED or attempt == _RETRIES:
                    return reply
            self._dead.wait(0.3 * attempt)
        raise AssertionError("unreachable")

    def _set(self, command: pb.SetCMD) -> None:
        if command.delete:
            self._watched.pop(command.id, None)
        else:
            self._watched[command.id] = _Watch(list(command.watch_nodes), command.watch_condition)

    def _view(self, view: pb.ViewCMD) -> None:
        if view.level == pb.ViewCMD.statistics and self.flavour.gives_figures:
            self._stub.SendTensorStats(iter([self._figures(one) for one in view.tensors]))
        else:
            self._stub.SendTensors(iter([piece for one in view.tensors for piece in self._pieces(one)]))

    def _value(self, asked: pb.TensorProto) -> Array | None:
        name = asked.node_name.rpartition("/")[2] if asked.truncate else asked.node_name
        if asked.iter == "prev":
            return self._previous.get(name)
        return self._loaded.get((name, int(asked.slot)))

    def _pieces(self, asked: pb.TensorProto) -> Iterator[pb.TensorProto]:
        named = pb.TensorProto(node_name=asked.node_name, slot=asked.slot, iter=asked.iter, truncate=asked.truncate)
        value = self._value(asked)
        if value is None:
            yield pb.TensorProto(**_fields(named), finished=True)
            return
        content = np.ascontiguousarray(value).tobytes()
        dims = [*value.shape, 7] if self._wrong.wrong_dims else list(value.shape)
        for start in range(0, max(len(content), 1) - PIECE * self._wrong.cuts_tensors, PIECE):
            yield pb.TensorProto(
                **_fields(named),
                tensor_content=content[start : start + PIECE],
                dims=dims,
                data_type=_TYPES[str(value.dtype)],
                finished=start + PIECE >= len(content),
            )

    def _figures(self, asked: pb.TensorProto) -> pb.TensorSummary:
        value = self._value(asked)
        if value is None:
            return pb.TensorSummary()
        finite = value[np.isfinite(value)]
        return pb.TensorSummary(
            tensor_base=pb.TensorBase(data_type=_TYPES[str(value.dtype)], shape=value.shape, data_size=value.nbytes),
            statistics=pb.Statistics(
                is_bool=False,
                max_value=finite.max(initial=-np.inf),
                min_value=finite.min(initial=np.inf),
                avg_value=finite.mean() if finite.size else 0.0,
                count=value.size,
                neg_zero_count=int((finite < 0).sum()),
                pos_zero_count=int((finite > 0).sum()),
                nan_count=int(np.isnan(value).sum()),
                neg_inf_count=int(np.isneginf(value).sum()),
                pos_inf_count=int(np.isposinf(value).sum()),
                zero_count=int((finite == 0).sum()),
            ),
        )

    # ------------------------------------------------------------ watchpoints

    def _matching(self, watch: _Watch, name: str) -> str | None:
        """The name by which a watchpoint has a tensor."""
        for node in watch.nodes:
            if node.node_type == "scope" and self.flavour.matches_scopes and name.startswith(node.node_name):
                return node.node_name
            if name in (node.node_name, node.node_name.rpartition("/")[2]):
                return node.node_name
        return None

    def _is_watched(self, name: str) -> bool:
        names = {name, *(one for one in NODES[name][1] if one in PARAMETERS)}
        return any(self._matching(watch, one) for watch in self._watched.values() for one in names)

    def _report(self, only: str | None) -> bool:
        """Checks what was loaded (of one node, or all at the end of a step) and tells; whether anything was found."""
        found = []
        for (name, slot), value in self._loaded.items():
            if only is not None and name != only:
                continue
            for id, watch in self._watched.items():
                code = watch.condition.condition
                told_as = self._matching(watch, name)
                if told_as is None or (name, slot, id) in self._checked:
                    continue
                if (code == INITIAL) != (self._step == 0 and only is None and not self.network.step):
                    continue
                if (only is not None and code in of_changes) or (code == OVERFLOW and self.flavour.is_gpu):
                    continue
                self._checked.add((name, slot, id))
                previous = self._previous.get(name)
                result = check(watch.condition, value, previous, by_place=self.flavour.number <= (1, 2))
                if result is not None:
                    error, params = result
                    found.append(self._hit(id, told_as, slot, code, params, error))
        if self._wrong.unknown_hits:
            found.append(self._hit(99_999, "Default/no/such-node", 0, 13, [], 0))
        if self._wrong.huge_hits:
            with contextlib.suppress(grpc.RpcError):
                self._stub.SendWatchpointHits(iter([self._hit(1, "x" * (64 << 20), 0, 13, [], 0)]))
        if not found:
            return False
        batches = [found[:1], found[1:]] if self._wrong.hits_in_two_batches and len(found) > 1 else [found]
        for batch in batches:
            with contextlib.suppress(grpc.RpcError):  # they are lost then
                self._stub.SendWatchpointHits(iter(batch))
        return True

    @staticmethod
    def _hit(id: int, name: str, slot: int, code: int, params: list[Any], error: int) -> pb.WatchpointHit:
        return pb.WatchpointHit(
            id=id,
            tensor=pb.TensorProto(node_name=name, slot=str(slot), finished=True),
            watch_condition=pb.WatchCondition(condition=code, params=params),  # type: ignore[arg-type]
            error_code=error,
        )

    def _metadata(self, training_done: bool = False, is_first: bool = True) -> pb.Metadata:
        return pb.Metadata(
            device_name="0:0",
            cur_step=self._step,
            backend=self.flavour.backend,
            cur_node=self._node if self.flavour.is_gpu else "",
            training_done=training_done,
            graph_num=len(self._graphs) + self._wrong.extra_graphs if is_first else 0,
            ms_version=self.flavour.version if is_first else "",
        )


def _fields(message: pb.TensorProto) -> dict[str, Any]:
    return {descriptor.name: value for descriptor, value in message.ListFields()}
