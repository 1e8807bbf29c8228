"""A tuple that is handed into a graph: one input, whose elements stand in a MakeTuple one by one."""

from __future__ import annotations

from stepscope.core.graph import Graph
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.graphs import records


def graph() -> Graph:
    proto = pb.GraphProto()
    proto.parameters.add(name="gradients", role=pb.ParameterProto.INPUT, type=pb.TypeProto(data_type=pb.DT_LIST))
    for key, number in (("cst1", 0), ("cst2", 1)):
        proto.const_vals.add(key=key, full_name=key, value=pb.ValueProto(dtype=pb.DT_INT64, int_val=number))

    def node(name: str, op: str, *inputs: str) -> None:
        added = proto.node.add(name=name, op_type=op, full_name=f"Default/{op}-op{name}")
        added.input.extend(pb.InputProto(name=one) for one in inputs)
        added.output_type.data_type = pb.DT_TENSOR
        added.output_type.tensor_type.elem_type = pb.DT_FLOAT32

    node("1", "MakeTuple", "gradients", "gradients")
    node("2", "TupleGetItem", "1", "cst1")
    node("3", "TupleGetItem", "1", "cst2")
    node("4", "Neg", "2")
    node("5", "Neg", "3")
    return Graph("graph_0", records(proto))


def test_each_element_is_a_slot_of_the_input():
    built = graph()
    ports = [built.node(f"Default/Neg-op{number}").inputs[0] for number in (4, 5)]
    assert [(port.node, port.slot) for port in ports] == [("gradients", 0), ("gradients", 1)]
    assert built.resolve("Default/TupleGetItem-op3").slot == 1
    assert [output.consumers for output in built.node("gradients").outputs] == [
        (("Default/Neg-op4", 0),),
        (("Default/Neg-op5", 0),),
    ]
