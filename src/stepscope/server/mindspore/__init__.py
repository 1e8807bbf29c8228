"""MindSpore 1.1 to 2.2, whose debugger client is compiled in, as a `Source`.

Such a client calls and the server answers: what a user asks for waits until the client asks what to do. It knows steps
one by one, and on GPU nodes one by one; everything longer is counted here.
"""

from stepscope.server.mindspore.calls import ClientCalls

__all__ = ["ClientCalls"]
