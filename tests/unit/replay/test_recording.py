"""Any tensor of a recorded step, by node: what the node made, wherever that lies."""

from __future__ import annotations

import numpy as np
import pytest
from small_training import DATA, GARBAGE, GRAPH, PRODUCT, ROLES, WEIGHT, array, key, why_not

from stepscope.core.errors import UnknownNode
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.replay.mindspore import Recording
from stepscope.testing.dumps import GraphFile

# ------------------------------------------------------------ graphs


def test_a_graph_gets_the_names_of_the_dump_and_the_roles_of_its_parameters(recording, dump):
    other = GraphFile()
    other.parameter("stranger")
    other.op("Default/net/MatMul", "stranger")
    graph = recording.add_graph(7, dump.write_graph(7, other), ROLES)
    assert graph.name == "graph_7"
    assert [node.full_name for node in graph.node] == ["Default/net/MatMul-op1"]
    assert list(recording.graphs) == ["graph_0", "graph_7"]
    first = recording.graphs[GRAPH]
    assert first.node("fc.weight").kind == "parameter"
    assert (first.node("fc.weight").trainable, first.node("moment1").trainable) == (True, False)
    assert (first.node("inputs0").kind, first.node("inputs0").trainable) == ("input", None)
    assert first.nodes("MatMul") == ["Default/net/MatMul-op0", "Gradients/net/MatMul-op0"]


def test_the_size_of_a_step_is_every_output_twice(dump):
    graph = GraphFile()
    graph.parameter("w", (10, 10))
    graph.parameter("half", (10,), pb.DT_BFLOAT16)
    graph.parameter("dynamic", (-1, 1000))
    graph.op("Default/Add", "w", "w", shape=(100,))
    graph.op("Default/Load", "w", graph.monad, shape=(100, 100))  # has no kernel
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, graph), {})
    assert made.step_bytes() == 2 * (400 + 20 + 400)


# ------------------------------------------------------------ outputs


def test_the_output_of_a_node(recording):
    tensor = recording.tensor(key("Default/net/MatMul-op0"))
    assert (tensor.array == PRODUCT + 0.5).all()
    assert (tensor.dtype, tensor.shape, tensor.step) == ("float32", (4, 2), 4)
    assert (array(recording, "Default/net/LayerNorm-op0", 1) == (PRODUCT.reshape(8) + 0.5) * 3).all()


@pytest.mark.parametrize(("slot", "offset"), [(0, 0), (1, 10), (2, 20)])
def test_what_an_optimizer_puts_out_is_its_parameter(slot, offset, recording):
    """MindSpore dumps recycled memory as the output of Adam."""
    assert (array(recording, "Default/opt/Adam-op0", slot) == WEIGHT + 0.5 + offset).all()


def test_a_parameter_is_shown_as_it_is_after_the_step(recording):
    assert (array(recording, "fc.weight") == WEIGHT + 0.5).all()
    assert (array(recording, "inputs0") == DATA).all()


def test_a_view_has_the_shape_of_the_graph(recording):
    found = recording.tensor(key("Default/net/Reshape-op0"))
    assert found.shape == (8,)
    assert (found.array == PRODUCT.reshape(8) + 0.5).all()


def test_a_shape_that_is_not_known_is_that_of_the_file(dump):
    graph = GraphFile()
    graph.parameter("x", (-1, 3))
    graph.op("Default/Reshape", "x", shape=(-1,))
    graph.op("Default/Add", "x", "x", shape=(2, 9))  # of another size than the file: not ours to change
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, graph), {})
    dump.run(1, "Reshape", "Default/Reshape-op0", {}, {0: DATA})
    dump.run(1, "Add", "Default/Add-op0", {}, {0: DATA})
    made.set_steps((1,), 1)
    assert made.tensor(key("Default/Reshape-op0")).shape == (4, 3)
    assert made.tensor(key("Default/Add-op0")).shape == (4, 3)


def test_a_view_whose_kernel_was_left_out_is_its_input_in_another_shape(dump, recording):
    for file in dump.step_folder(4).glob("Reshape.*"):
        file.unlink()
    for file in dump.step_folder(4).glob("LayerNorm.*.input.0.*"):
        file.unlink()
    found = recording.tensor(key("Default/net/Reshape-op0"))
    assert found.shape == (8,)
    assert (found.array == PRODUCT.reshape(8) + 0.5).all()


def test_nodes_that_only_pass_values_on_show_what_they_pass_on(recording):
    (load, item) = (name for name in recording.graphs[GRAPH].nodes(folded=True) if "Load" in name or "Tuple" in name)
    assert (array(recording, load) == WEIGHT + 0.5).all()
    assert (array(recording, item) == (PRODUCT.reshape(8) + 0.5) * 3).all()


def test_an_output_that_was_not_recorded_is_what_its_consumer_read(dump, recording):
    for file in dump.step_folder(4).glob("MatMul.Gradients*.output.*"):
        file.unlink()
    assert (array(recording, "Gradients/net/MatMul-op0") == WEIGHT * 7 + 0.5).all()


def test_a_parameter_is_never_what_its_consumer_read(dump, recording):
    """That may have been the value from before the update."""
    for file in dump.step_folder(4).glob("Parameter.fc_weight.*"):
        file.unlink()
    assert why_not(recording, "fc.weight") == "the value of parameter fc.weight was not recorded in step 4"


# ------------------------------------------------------------ optimizers over what is no parameter of the graph


@pytest.fixture
def inner(dump) -> Recording:
    """An optimizer in a branch: the weight is handed into its graph."""
    graph = GraphFile()
    graph.parameter("▸n.weight", (2, 3))
    rest = [graph.constant(number) for number in range(8)]
    graph.op("Default/opt/Adam", "▸n.weight", *rest, graph.constant(pb.ValueProto()), tuple_of=3)
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, graph), {"n.weight": True})
    made.set_steps((1,), 1)
    return made


def test_there_an_optimizer_shows_what_it_left_in_its_input(dump, inner):
    dump.run(1, "Adam", "Default/opt/Adam-op0", {0: WEIGHT}, dict.fromkeys(range(3), GARBAGE))
    assert (array(inner, "Default/opt/Adam-op0") == WEIGHT).all()


def test_or_nothing_but_never_recycled_memory(dump, inner):
    dump.run(1, "Adam", "Default/opt/Adam-op0", {}, dict.fromkeys(range(3), GARBAGE))
    assert why_not(inner, "Default/opt/Adam-op0") == "the value of input ▸n.weight was not recorded in step 1"


# ------------------------------------------------------------ inputs


def test_the_value_that_an_input_had(recording):
    assert (array(recording, "Default/net/MatMul-op0", input=0) == DATA).all()
    assert (array(recording, "Default/net/MatMul-op0", input=1) == WEIGHT - 0.5).all()  # before the update
    assert (array(recording, "Default/net/ReLU-op0", input=0) == (PRODUCT.reshape(8) + 0.5) * 3).all()


def test_an_input_that_was_not_recorded_is_the_output_of_its_producer(dump, recording):
    for file in dump.step_folder(4).glob("*.input.*"):
        file.unlink()
    assert (array(recording, "Default/net/ReLU-op0", input=0) == (PRODUCT.reshape(8) + 0.5) * 3).all()
    assert (array(recording, "Default/net/MatMul-op0", input=0) == DATA).all()


def test_an_input_from_another_graph_that_was_not_recorded(dump):
    graph = GraphFile()
    graph.op("Default/Add", "of another graph", shape=(2,))
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, graph), {})
    dump.run(1, "Add", "Default/Add-op0", {}, {0: DATA})
    made.set_steps((1,), 1)
    expected = "input 0 of Default/Add-op0 is fed from another graph and was not recorded"
    assert why_not(made, "Default/Add-op0", input=0) == expected
    dump.run(2, "Add", "Default/Add-op0", {0: DATA}, {0: DATA})
    made.set_steps((1, 2), 2)
    assert (array(made, "Default/Add-op0", input=0) == DATA).all()


@pytest.mark.parametrize("index", [2, -1, 99])
def test_an_input_that_does_not_exist(index, recording):
    with pytest.raises(UnknownNode, match=f"MatMul-op0 has no data input {index}"):
        recording.tensor(key("Default/net/MatMul-op0", input=index))


# ------------------------------------------------------------ constants


def test_constants_are_shown_from_the_graph(dump):
    graph = GraphFile()
    one = pb.ValueProto(int_val=1)
    values = {
        "int": pb.ValueProto(dtype=pb.DT_INT64, int_val=-3),
        "bool": pb.ValueProto(dtype=pb.DT_BOOL, bool_val=True),
        "float": pb.ValueProto(dtype=pb.DT_FLOAT16, float_val=0.5),
        "tuple": pb.ValueProto(dtype=pb.DT_TUPLE, values=[one, one]),
        "text": pb.ValueProto(dtype=pb.DT_STRING, str_val="NCHW"),
        "ragged": pb.ValueProto(dtype=pb.DT_TUPLE, values=[one, pb.ValueProto(dtype=pb.DT_TUPLE, values=[one, one])]),
    }
    keys = {name: graph.constant(value) for name, value in values.items()}
    made = Recording(dump.path)
    made.add_graph(0, dump.write_graph(0, graph), {})
    dump.step_folder(1)
    made.set_steps((1,), 1)
    names = {name: made.graphs[GRAPH].name_of(one) for name, one in keys.items()}

    def shown(name: str) -> tuple[object, str]:
        tensor = made.tensor(key(names[name]))
        return tensor.array.tolist(), tensor.dtype

    assert shown("int") == (-3, "int64")
    assert shown("bool") == (True, "bool")
    assert shown("float") == (0.5, "float16")
    assert shown("tuple") == ([1, 1], "tuple")
    assert why_not(made, names["text"]).endswith("is no number: 'NCHW'")
    assert why_not(made, names["ragged"]).endswith("is no number: (1, (1, 1))")


def test_a_constant_that_the_file_leaves_out_is_what_its_consumer_read(recording):
    graph = recording.graphs[GRAPH]
    (constant,) = (port.node for port in graph.node("Default/net/LayerNorm-op0").inputs if port.index == 1)
    assert array(recording, constant).tolist() == np.float32(1e-5)
    (shape,) = (port.node for port in graph.node("Default/net/Reshape-op0").inputs if port.index == 1)
    assert why_not(recording, shape) == f"the value of constant {shape} was not recorded in step 4"
