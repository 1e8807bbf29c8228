"""The Python client: the same debugger as in the page, for scripts, notebooks and tests. It speaks the web API only."""

from __future__ import annotations

from stepscope.client.debugger import Debugger, connect
from stepscope.client.job import Job
from stepscope.client.nodes import Node, NodeName
from stepscope.client.watchpoints import Hit, Watchpoint

__all__ = ["Debugger", "Hit", "Job", "Node", "NodeName", "Watchpoint", "connect"]
