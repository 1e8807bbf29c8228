"""GraphProto to records: types, values, edges that keep an order."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf.message import DecodeError

from stepscope.core.graph import Graph, InputRef, NodeRecord, TensorType
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.graphs import records
from stepscope.protocol.values import array, output_types, type_name, value


def tensor(data_type: int, *shape: int) -> pb.TypeProto:
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = data_type
    for size in shape:
        result.tensor_type.shape.dim.add(size=size)
    return result


def node(number: int, op: str, *inputs: str, **more: object) -> pb.NodeProto:
    refs = [pb.InputProto(name=one, type=pb.InputProto.DATA_EDGE) for one in inputs]
    return pb.NodeProto(
        name=str(number), op_type=op, scope="Default", full_name=f"Default/{op}-op0", input=refs, **more
    )


def by_id(graph: pb.GraphProto) -> dict[str, NodeRecord]:
    return {record.id: record for record in records(graph)}


@pytest.mark.parametrize(
    ("data_type", "name"),
    [
        (pb.DT_FLOAT32, "float32"),
        (pb.DT_BFLOAT16, "bfloat16"),
        (pb.DT_BOOL, "bool"),
        (pb.DT_UINT8, "uint8"),
        (pb.DT_BASE_FLOAT, "float"),
        (pb.DT_STRING, "string"),
        (pb.DT_UNDEFINED, ""),
        (999, "type999"),
    ],
)
def test_names_of_data_types(data_type: int, name: str) -> None:
    assert type_name(data_type) == name


def test_output_types() -> None:
    both = pb.TypeProto(data_type=pb.DT_TUPLE)
    both.sequence_type.elem_types.append(tensor(pb.DT_FLOAT16))
    both.sequence_type.elem_types.append(pb.TypeProto(data_type=pb.DT_INT64))
    assert output_types(both) == (TensorType("float16"), TensorType("int64", ()))
    assert output_types(tensor(pb.DT_INT32, -1, 3)) == (TensorType("int32", (-1, 3)),)
    assert output_types(tensor(pb.DT_FLOAT32)) == (TensorType("float32", ()),)
    assert output_types(pb.TypeProto(data_type=pb.DT_BOOL)) == (TensorType("bool", ()),)
    assert output_types(pb.TypeProto(data_type=pb.DT_UMONAD)) == ()
    assert output_types(pb.TypeProto()) == ()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (pb.ValueProto(dtype=pb.DT_BOOL, bool_val=False), False),
        (pb.ValueProto(dtype=pb.DT_INT64, int_val=-3), -3),
        (pb.ValueProto(dtype=pb.DT_UINT64, uint_val=3), 3),
        (pb.ValueProto(dtype=pb.DT_FLOAT32, float_val=0.1), 0.1),
        (pb.ValueProto(dtype=pb.DT_FLOAT32, float_val=float("inf")), float("inf")),
        (pb.ValueProto(dtype=pb.DT_FLOAT64, double_val=0.1), 0.1),
        (pb.ValueProto(dtype=pb.DT_STRING, str_val="NCHW"), "NCHW"),
        (pb.ValueProto(dtype=pb.DT_TUPLE, values=[pb.ValueProto(int_val=1), pb.ValueProto(str_val="a")]), (1, "a")),
        (pb.ValueProto(dtype=pb.DT_LIST, values=[pb.ValueProto(int_val=1)]), [1]),
        (pb.ValueProto(dtype=pb.DT_TUPLE), ()),
        (pb.ValueProto(dtype=pb.DT_DICT, dict_val=[pb.NamedValueProto(key="k", value={"int_val": 1})]), {"k": 1}),
        (pb.ValueProto(dtype=pb.DT_INTS64, int_vals=[1, 2]), (1, 2)),
        (pb.ValueProto(dtype=pb.DT_FLOATS32, float_vals=[0.1, 2]), (0.1, 2.0)),
        (pb.ValueProto(dtype=pb.DT_STRINGS), ()),
        (pb.ValueProto(dtype=pb.DT_TYPE, type_val=pb.TypeProto(data_type=pb.DT_BASE_FLOAT)), "float"),
        (pb.ValueProto(dtype=pb.DT_TYPE, type_val=tensor(pb.DT_FLOAT16)), "tensor[float16]"),
        (pb.ValueProto(dtype=pb.DT_GRAPH, graph=pb.GraphProto(name="sub")), "sub"),
        (pb.ValueProto(dtype=pb.DT_NONE), None),
        (pb.ValueProto(), None),
    ],
)
def test_values(content: pb.ValueProto, expected: object) -> None:
    assert value(content) == expected
    assert type(value(content)) is type(expected)


def test_tensors_as_arrays() -> None:
    content = np.arange(6, dtype="<f4")
    proto = pb.TensorProto(data_type=pb.DT_FLOAT32, dims=[2, 3], tensor_content=content.tobytes())
    np.testing.assert_array_equal(value(pb.ValueProto(dtype=pb.DT_TENSOR, tensor_val=proto)), content.reshape(2, 3))
    half = pb.TensorProto(data_type=pb.DT_BFLOAT16, dims=[1], tensor_content=b"\xc0\x3f")
    np.testing.assert_array_equal(array(half), np.array([1.5], np.float32))
    assert array(pb.TensorProto(data_type=pb.DT_FLOAT32, dims=[2], tensor_content=b"abc")) is None
    assert array(pb.TensorProto(data_type=pb.DT_FLOAT32, dims=[-1], tensor_content=b"")) is None
    assert array(pb.TensorProto(data_type=pb.DT_TUPLE, dims=[], tensor_content=b"")) is None


def test_parameters_inputs_and_constants() -> None:
    graph = pb.GraphProto()
    graph.parameters.add(name="w", type=tensor(pb.DT_FLOAT32, 2), role=pb.ParameterProto.PARAMETER, trainable=False)
    graph.parameters.add(name="x", type=tensor(pb.DT_INT32), role=pb.ParameterProto.INPUT)
    graph.parameters.add(name="old", type=tensor(pb.DT_FLOAT32))
    graph.const_vals.add(key="cst1", full_name="Default_data-0", value=pb.ValueProto(dtype=pb.DT_INT64, int_val=2))
    graph.const_vals.add(key="cst2")
    assert list(records(graph)) == [
        NodeRecord("w", "w", "Parameter", "parameter", outputs=(TensorType("float32", (2,)),), trainable=False),
        NodeRecord("x", "x", "Input", "input", outputs=(TensorType("int32", ()),)),
        NodeRecord("old", "old", "Parameter", "parameter", outputs=(TensorType("float32", ()),)),
        NodeRecord("cst1", "Default_data-0", "Constant", "constant", outputs=(TensorType("int64", ()),), value=2),
        NodeRecord("cst2", "cst2", "Constant", "constant", outputs=(TensorType(),), value=None),
    ]


def test_edges_that_only_keep_an_order() -> None:
    graph = pb.GraphProto(
        node=[
            node(1, "Assign", "w", "cst2", "cst1"),
            node(2, "UpdateState", "cst1", "1"),
            node(3, "Load", "w", "2"),
            node(4, "Depend", "3", "2", "1"),
            node(5, "Print", "4", "io", "6"),
            node(6, "Custom", "5", output_type=pb.TypeProto(data_type=pb.DT_IOMONAD)),
        ]
    )
    graph.node[4].input.add(name="1", type=pb.InputProto.CONTROL_EDGE)
    graph.parameters.add(name="io", type=pb.TypeProto(data_type=pb.DT_IOMONAD))
    found = by_id(graph)
    orders = {id: [one.source for one in found[id].inputs if one.control] for id in "123456"}
    assert orders == {"1": ["cst1"], "2": ["cst1", "1"], "3": ["2"], "4": ["2", "1"], "5": ["io", "6", "1"], "6": []}
    assert found["5"].inputs == [InputRef("4"), InputRef("io", 0, True), InputRef("6", 0, True), InputRef("1", 0, True)]


def test_inputs_of_any_form() -> None:
    names = ["w", "网络", "x" * 127, "y" * 128, "z" * 70000]
    graph = pb.GraphProto(
        node=[pb.NodeProto(name="1", op_type="Add", input=[pb.InputProto(name=one) for one in names])]
    )
    graph.node[0].input.add(type=pb.InputProto.DATA_EDGE)
    odd = pb.InputProto.FromString(b"\x10\x01\x0a\x01c")  # the type before the name
    graph.node[0].input.append(odd)
    (record,) = records(graph)
    assert record.inputs == [*map(InputRef, names), InputRef(""), InputRef("c", 0, True)]


def test_names_attributes_and_sources() -> None:
    graph = pb.GraphProto(node=[node(1, "Conv2D"), node(2, "ReLU"), node(3, "ReLU")])
    graph.node[0].attribute.add(name="mode", value=pb.ValueProto(int_val=1))
    graph.node[0].source_address = "# In file net.py:1, 2~3/x/"
    graph.node[1].full_name = ""
    graph.node[2].full_name = graph.node[2].scope = ""
    first, second, third = records(graph)
    assert dict(first.attributes) == {"mode": 1}
    assert first.attributes["mode"] == 1
    assert len(first.attributes) == 1
    assert dict(second.attributes) == {}
    assert first.stack == graph.node[0].source_address
    assert (second.name, third.name) == ("Default/ReLU-op2", "ReLU-op3")


def test_bytes_and_messages_give_the_same() -> None:
    graph = pb.GraphProto(node=[node(1, "Conv2D", "w"), node(2, "ReLU", "1")], name="g")
    graph.parameters.add(name="w")
    assert list(records(graph)) == list(records(graph.SerializeToString()))
    with pytest.raises(DecodeError):
        list(records(b"\xff\xff not a graph"))


def test_unknown_fields_and_values_pass() -> None:
    future = pb.ValueProto(dtype=pb.DT_FLOAT32)
    future.MergeFromString(b"\xc0\x3e\x01")  # a field of number 1000
    graph = pb.GraphProto(node=[node(1, "New", "1000")])
    graph.const_vals.add(key="c", value=future)
    made = Graph("g", records(graph))
    assert made.node("c").value is None
    assert made.node("Default/New-op0").inputs[0].node == ""
