"""Finding nodes: names, patterns, categories, scopes, lines; names that clash."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from graph_samples import constant, graph, graph_input, op, parameter

from stepscope.core.errors import BadRequest, UnknownNode
from stepscope.core.graph import Graph, NodeRecord, TensorType

STACK = "# In file /home/user/net.py:{line}, 1~2/x/\n# In file /usr/lib/python3.11/site-packages/ms/cell.py:5, 1~2/y/"


def sample() -> Graph:
    return graph(
        graph_input("x"),
        parameter("conv.weight", trainable=True),
        parameter("conv.bias", trainable=False),
        parameter("step"),
        constant("axis", 1),
        op("Default/conv/Load-op0", "conv.weight", op="Load", stack=STACK.format(line=3)),
        op(
            "Default/conv/Conv2D-op0",
            "x",
            "Default/conv/Load-op0",
            "conv.bias",
            op="Conv2D",
            stack=STACK.format(line=3),
        ),
        op("Default/act/ReLU-op0", "Default/conv/Conv2D-op0", op="ReLU", stack=STACK.format(line=4)),
        op("Gradients/Default/act/Softmax-op1", "Default/act/ReLU-op0", op="Softmax"),
        op("Default/ReLU[2]/LogSoftmaxExt-op0", "Default/act/ReLU-op0", op="LogSoftmaxExt"),
    )


def test_all_nodes_in_their_order_without_the_folded_ones() -> None:
    assert sample().nodes() == [
        "x",
        "conv.weight",
        "conv.bias",
        "step",
        "axis",
        "Default/conv/Conv2D-op0",
        "Default/act/ReLU-op0",
        "Gradients/Default/act/Softmax-op1",
        "Default/ReLU[2]/LogSoftmaxExt-op0",
    ]
    assert "Default/conv/Load-op0" in sample().nodes(folded=True)
    assert "Default/conv/Load-op0" in sample()
    assert "Default/conv" not in sample()
    assert len(sample()) == 10


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("RELU-OP", ["Default/act/ReLU-op0"]),
        ("conv.", ["conv.weight", "conv.bias"]),
        ("", None),
        ("*weight", ["conv.weight"]),
        ("*.BIAS", ["conv.bias"]),
        ("default/*/conv?d-op[0-9]", ["Default/conv/Conv2D-op0"]),
        ("relu", ["Default/act/ReLU-op0", "Default/ReLU[2]/LogSoftmaxExt-op0"]),
        ("relu[2]", ["Default/ReLU[2]/LogSoftmaxExt-op0"]),
        ("[", ["Default/ReLU[2]/LogSoftmaxExt-op0"]),
        ("[!d]*op1", ["Gradients/Default/act/Softmax-op1"]),
        ("conv?", []),
        ("nothing", []),
    ],
)
def test_patterns(pattern: str, found: list[str] | None) -> None:
    assert sample().nodes(pattern) == (sample().nodes() if found is None else found)


def test_categories_where_nothing_is_optimized() -> None:
    made = sample()
    assert made.nodes(category="parameter") == ["conv.weight", "conv.bias", "step"]
    assert made.nodes(category="weight") == ["conv.weight"]
    assert made.nodes(category="gradient") == ["Gradients/Default/act/Softmax-op1"]
    assert made.nodes(category="activation") == ["Default/act/ReLU-op0", "Default/ReLU[2]/LogSoftmaxExt-op0"]
    assert made.node("conv.weight").categories == ("weight", "parameter")
    assert not made.has_optimizer


def test_weights_are_what_an_optimizer_updates() -> None:
    made = graph(
        *(parameter(name, trainable=True) for name in ("w", "moment", "frozen", "b")),
        op("grad"),
        op("load", "b", op="Load"),
        op("Momentum", "w", "moment", "grad", "grad", "grad", op="ApplyMomentum"),
        op("SGD", "load", "grad", "grad", "moment", "grad", "grad", op="SGD"),
        op("Assign", "frozen", "grad", op="Assign"),
    )
    assert made.has_optimizer
    assert made.nodes(category="weight") == ["w", "b"]


def test_a_weight_is_never_a_whole_number() -> None:
    """MindSpore calls the optimizer's count of steps trainable."""
    count = NodeRecord("step", "step", "Parameter", "parameter", outputs=[TensorType("int32", (1,))], trainable=True)
    assert graph(parameter("w", trainable=True), count, op("read", "w", "step")).nodes(category="weight") == ["w"]


def test_unknown_categories_say_what_there_is() -> None:
    with pytest.raises(BadRequest, match="weight, gradient, activation, parameter"):
        sample().nodes(category="tensor")


def test_a_scope_has_its_ops_and_what_they_read() -> None:
    assert sample().nodes(scope="Default/conv") == ["x", "conv.weight", "conv.bias", "Default/conv/Conv2D-op0"]
    assert sample().nodes(scope="Default/conv", category="weight") == ["conv.weight"]
    assert sample().nodes(scope="Default/act") == ["Default/act/ReLU-op0"]
    with pytest.raises(UnknownNode):
        sample().nodes(scope="Default/con")


def test_lines_of_the_users_code() -> None:
    assert sample().nodes(line="net.py:3") == ["Default/conv/Conv2D-op0"]
    assert sample().nodes(line="user/net.py") == ["Default/conv/Conv2D-op0", "Default/act/ReLU-op0"]
    assert sample().nodes(line="cell.py:5") == []
    assert sample().nodes("relu", line="net.py") == ["Default/act/ReLU-op0"]


def test_search_gives_the_total_and_the_first() -> None:
    result = sample().search("op", limit=2)
    assert result.total == 4
    assert [(node.name, node.op, node.kind, node.categories) for node in result.nodes] == [
        ("Default/conv/Conv2D-op0", "Conv2D", "op", ()),
        ("Default/act/ReLU-op0", "ReLU", "op", ("activation",)),
    ]
    assert sample().search("conv", category="weight").total == 1
    assert json.loads(json.dumps(asdict(result)))["nodes"][0]["op"] == "Conv2D"


def test_a_node() -> None:
    node = sample().node("Default/conv/Conv2D-op0")
    assert (node.op, node.kind, node.scope, node.folded) == ("Conv2D", "op", "Default/conv", False)
    assert [port.node for port in node.inputs] == ["x", "conv.weight", "conv.bias"]
    assert node.outputs[0].consumers == (("Default/act/ReLU-op0", 0),)
    assert [(frame.file, frame.line, frame.user) for frame in node.source] == [
        ("/home/user/net.py", 3, True),
        ("/usr/lib/python3.11/site-packages/ms/cell.py", 5, False),
    ]
    assert sample().node("conv.bias").trainable is False
    assert sample().node("axis").value == 1
    assert sample().node("Default/conv/Load-op0").outputs[0].consumers == (("Default/conv/Conv2D-op0", 1),)


def test_consumers_are_cut_off_but_counted() -> None:
    made = graph(parameter("rate"), *(op(f"n{number}", "rate") for number in range(500)))
    (output,) = made.node("rate").outputs
    assert output.consumer_count == 500
    assert output.consumers == tuple((f"n{number}", 0) for number in range(200))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("conv.wieght", "conv.weight"),
        ("Default/conv/Conv2D-op7", "Default/conv/Conv2D-op0"),
        ("conv2d-op0", "Default/conv/Conv2D-op0"),
        ("Default/other/ReLU-op0", "Default/act/ReLU-op0"),
        ("DEFAULT/ACT/RELU-OP0", "Default/act/ReLU-op0"),
    ],
)
def test_unknown_nodes_name_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownNode) as error:
        sample().node(wrong)
    assert right in error.value.nearest
    assert len(error.value.nearest) <= 5


@pytest.mark.parametrize("name", ["", "/", "a//b", "☃"])
def test_odd_unknown_names(name: str) -> None:
    with pytest.raises(UnknownNode):
        sample().node(name)


def test_names_are_made_unique_and_never_those_of_scopes() -> None:
    made = graph(
        parameter("net"),
        constant("c1", 1, name="data"),
        constant("c2", 2, name="data"),
        constant("c3", 3, name="data#2"),
        op("1", "c1", "c2", "c3", name="net/conv"),
        op("2", "1", "net", name="net/conv/Conv2D-op0"),
        op("3", "2", name="net/conv"),
    )
    assert made.nodes() == [
        "(net)",
        "data",
        "data#2",
        "data#2#2",
        "net/(conv)",
        "net/conv/Conv2D-op0",
        "net/(conv)#2",
    ]
    assert [made.node(name).value for name in ("data", "data#2", "data#2#2")] == [1, 2, 3]
    assert [port.node for port in made.node("net/conv/Conv2D-op0").inputs] == ["net/(conv)", "(net)"]
    assert [child.name for child in made.scope("net").children] == ["(conv)", "conv", "(conv)#2"]
    assert made.name_of("3") == "net/(conv)#2"
    assert made.name_of("net") == "(net)"
    with pytest.raises(UnknownNode):
        made.name_of("9")


def test_names_of_any_kind() -> None:
    odd = [
        "网络/卷积/Conv-op0",
        "/leading",
        "double//slash",
        "trailing/",
        "sp ace/a\tb",
        "e\u0301/🙂",
        "a" * 5000,
        "<b>&\"'",
    ]
    made = graph(*(op(str(number), name=name) for number, name in enumerate(odd)), op("x", "0"))
    for name in odd:
        assert made.node(name).name == name
    assert made.nodes("卷积") == [odd[0]]
    children = {
        child.path for path in made.scope_paths() for child in made.scope(path).children if child.kind == "node"
    }
    assert children == {*odd, "x"}
    assert sum(child.nodes for child in made.scope().children) == len(odd) + 1


def test_a_record_without_a_name_is_called_by_its_id() -> None:
    made = graph(parameter("w"), op("17", "w", name=""))
    assert made.nodes() == ["w", "17"]


def test_the_summary() -> None:
    summary = sample().summary()
    assert (summary.nodes, summary.folded, summary.parameters, summary.inputs, summary.constants) == (4, 1, 3, 1, 1)
    assert summary.scopes == len(sample().scope_paths()) - 1 == 7
