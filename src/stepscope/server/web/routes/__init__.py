"""The web API, one file a subject. `ROUTERS` are all of them, in the order in which the description has them."""

from stepscope.server.web import events
from stepscope.server.web.routes import advice, graphs, hits, jobs, looks, server, tensors, watchpoints

ROUTERS = tuple(part.router for part in (server, jobs, graphs, tensors, looks, advice, watchpoints, hits, events))
