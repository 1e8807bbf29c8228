"""From the graph files' node names to those of the dump.

After MindSpore 2.x has written its graph files it numbers all nodes anew, with one counter a name for the whole
process. The files hold the nodes in the very order of that walk, so replaying the counter over every file, in the order
of compilation, gives the dump's names exactly.
"""

from __future__ import annotations

import re

from stepscope.protocol.gen import stepscope_pb2 as pb

_MANGLED = re.compile(r"[/\\. ]")


class Renamer:
    """Feed it every graph of a process once, by rising graph number."""

    def __init__(self) -> None:
        self._counters: dict[str, int] = {}

    def rename(self, graph: pb.GraphProto) -> None:
        """Gives each node of `graph` the name that the dump uses, in place."""
        for node in graph.node:
            prefix, mark, _ = node.full_name.rpartition("-op")
            if not mark:
                prefix = node.full_name
            number = self._counters.get(prefix, 0)
            self._counters[prefix] = number + 1
            node.full_name = f"{prefix}-op{number}"


def mangle(name: str) -> str:
    """A node's name as it stands in file names."""
    return _MANGLED.sub("_", name)
