"""The network's graph as MindSpore's own debugger clients send it, as a whole or in two parts."""

from __future__ import annotations

from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.testing.network import FORWARD, Network


def as_sent(graph: pb.GraphProto) -> pb.GraphProto:
    """Without what the originals do not know."""
    for parameter in graph.parameters:
        parameter.ClearField("role")
        parameter.ClearField("trainable")
    graph.name = Network.graph_name
    return graph


def part(graph: pb.GraphProto, number: int) -> pb.GraphProto:
    """Its forward nodes, or the others; what these read of the former is an input."""
    part = pb.GraphProto(name=f"kernel_graph_{number}", const_vals=graph.const_vals)
    part.node.extend(node for node in graph.node if node.full_name.startswith(FORWARD) == (number == 0))
    own = {node.name for node in part.node} | {constant.key for constant in graph.const_vals}
    read = dict.fromkeys(each.name for node in part.node for each in node.input)
    known = {parameter.name: parameter for parameter in graph.parameters}
    part.parameters.extend(known.get(name, pb.ParameterProto(name=name)) for name in read if name not in own)
    return part
