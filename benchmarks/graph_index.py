"""How fast and how small the index of a big graph is, against its budgets. Ends with status 1 where one is missed.

    python benchmarks/graph_index.py [NODES]

CPU times of this process, so that a busy machine does not blur them.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict

import numpy as np

from stepscope.core.graph import Graph
from stepscope.protocol.graphs import records
from stepscope.testing.graphs import transformer

BUILD_SECONDS, ANSWER_SECONDS, ROOT_BYTES, MEMORY_BYTES = 3.0, 0.1, 100_000, 400_000_000
_FEED = "Default/network-WithLossCell/_backbone-Transformer/layers-CellList/0-Layer/feed-FeedForward"

missed: list[str] = []


def serialized(nodes: int) -> bytes:
    return transformer(nodes).SerializeToString()


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check(what: str, value: float, budget: float, shown: str) -> None:
    within = value <= budget
    if not within:
        missed.append(what)
    print(f"{'ok    ' if within else 'MISSED'} {what:<62} {shown}")


def check_time(what: str, ask: Callable[[], object], budget: float = ANSWER_SECONDS) -> object:
    began = time.process_time()
    answer = ask()
    spent = time.process_time() - began
    check(what, spent, budget, f"{spent * 1000:9.1f} ms of {budget * 1000:.0f}")
    return answer


def to_json(answer: object) -> str:
    return json.dumps(asdict(answer), ensure_ascii=False, separators=(",", ":"))  # type: ignore[call-overload]


def check_all_scopes(graph: Graph, paths: Iterable[str]) -> None:
    """The first page of every scope, and the whole answer as JSON."""
    times, biggest = [], 0
    for path in paths:
        began = time.process_time()
        text = to_json(graph.scope(path))
        times.append((time.process_time() - began, path))
        biggest = max(biggest, len(text))
    times.sort()
    median, (slowest, where) = times[len(times) // 2][0], times[-1]
    print(f"       {len(times)} scopes as JSON: median {median * 1000:.2f} ms, biggest {biggest} bytes")
    check(f"the slowest scope ({where or 'root'})", slowest, ANSWER_SECONDS, f"{slowest * 1000:9.1f} ms of 100")


def main(nodes: int) -> int:
    with ProcessPoolExecutor(1) as made_elsewhere:
        data = made_elsewhere.submit(serialized, nodes).result()
    print(f"       a graph of {nodes} nodes, {len(data) / 1e6:.0f} MB serialized")
    before = resident_bytes()
    graph = check_time("bytes parsed and indexed", lambda: Graph("graph", records(data)), BUILD_SECONDS)
    assert isinstance(graph, Graph)
    grown, peak = resident_bytes() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    check("memory that it needs", grown, MEMORY_BYTES, f"{grown / 1e6:9.0f} MB of 400, {peak / 1e6:.0f} MB at its peak")
    print(f"       {graph.summary()}")

    root = to_json(graph.scope())
    check("the root scope as JSON", len(root), ROOT_BYTES, f"{len(root):9d} bytes of 100000")
    scopes = graph.scope_paths()
    check_all_scopes(graph, scopes)
    check_time("the last page of the widest scope", lambda: graph.scope("Default/optimizer-Adam", offset=10**9))

    for text in (
        "softmax",
        "adam-op1",
        "layers.0.query.weight",
        "o",
        "no such name",
        "*/attention-*/Softmax-op0",
        "*e*",
    ):
        check_time(f"search {text!r}", lambda text=text: to_json(graph.search(text)))
    for category in ("weight", "gradient", "activation", "parameter"):
        check_time(f"nodes of category {category}", lambda category=category: graph.nodes(category=category))
    check_time("nodes of a scope", lambda: graph.nodes(scope="Gradients/Default"))
    check_time("nodes at a line", lambda: graph.nodes(line="transformer.py:41"))
    check_time("nodes of a file that all come from", lambda: graph.nodes(line="transformer.py"))

    gelu = f"{_FEED}/activation-GELU/GeLU-op0"
    check_time("a node", lambda: asdict(graph.node(gelu)))
    check_time("the node with the most consumers", lambda: asdict(graph.node("learning_rate")))
    check_time("lineage, 1 hop", lambda: to_json(graph.lineage(gelu)))
    check_time("lineage, 10 hops", lambda: to_json(graph.lineage(gelu, hops=10)))
    check_time("lineage of the node with the most consumers", lambda: to_json(graph.lineage("learning_rate", hops=3)))
    check_time("an unknown name", lambda: nearest(graph, gelu.replace("GeLU", "GoLU")))
    check_time("an unknown parameter", lambda: nearest(graph, "layers.0.qeury.weight"))
    rng = np.random.default_rng(0)
    names = graph.nodes(folded=True)
    some = [names[number] for number in rng.integers(0, len(names), 1000)]
    check_time("1,000 values resolved", lambda: [graph.resolve(name) for name in some])
    print(f"{len(missed)} budgets missed" + (f": {'; '.join(missed)}" if missed else ""))
    return 1 if missed else 0


def nearest(graph: Graph, name: str) -> tuple[str, ...]:
    try:
        graph.node(name)
    except KeyError as error:
        return tuple(getattr(error, "nearest", ()))
    raise AssertionError(f"{name} is known")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
