"""The view of a tensor over the web API: histogram, heat map, places, changes, files; of every kind of tensor."""

from __future__ import annotations

import io
import json

import httpx
import numpy as np
import pytest

import stepscope
from stepscope.core.looks import HeatmapQuestion, HistogramQuestion
from stepscope.core.ports import TensorKey
from stepscope.core.tensors import look
from stepscope.core.tensors.formats import as_bits, decode
from stepscope.testing.agent import FakeAgent
from stepscope.testing.server import ServerThread
from stepscope.testing.source import FakeSource
from stepscope.testing.zoo import PARAMETERS, Zoo


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """The training with tensors of every kind, after its second step: its truth, and a client for its routes."""
    source = FakeSource(network=Zoo())
    with ServerThread(tmp_path_factory.mktemp("zoo")) as server, FakeAgent(server.debugger_address, source):
        with stepscope.connect(server.url) as debugger:
            job = debugger.wait_for_job(60)
            job.run(2)
            job.wait(60)
        with httpx.Client(base_url=f"{server.url}/api/jobs/{job.id}", timeout=30) as client:
            yield source.network, client


def value(network: Zoo, name: str, when: str = "current"):
    return network.tensor(TensorKey("zoo", name, when=when))


NUMBERS = [name for name in PARAMETERS if name != "words"]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_tensor_of_every_kind_can_be_looked_at(zoo, name):
    network, client = zoo
    array, _ = as_bits(value(network, name).array, value(network, name).dtype)
    index = ", ".join(["0"] * (array.ndim - 2) + [":"] * min(array.ndim, 2))
    for of in ("current", "previous", "difference"):
        where = {"node": name, "of": of, "index": index}
        histogram = client.get("/histogram", params=where).json()
        question = HistogramQuestion(of, index)
        expected = look(question, lambda when: value(network, name, when))
        assert histogram["counts"] == list(expected.counts)
        assert (histogram["step"], histogram["dtype"]) == (expected.step, expected.dtype)
        answer = client.get("/heatmap", params={**where, "rows": 3, "columns": 5})
        header = json.loads(answer.headers["x-stepscope-heatmap"])
        picture = look(HeatmapQuestion(3, 5, of=of, index=index), lambda when: value(network, name, when))
        assert (header["rows"], header["columns"]) == picture.cells.shape
        assert tuple(header["shape"]) == picture.shape
        assert answer.content == picture.cells.tobytes() + picture.flags.tobytes()
        for what in ("nonfinite", "nan", "inf", "max", "min"):
            assert client.get("/place", params={**where, "what": what}).status_code == 200
    assert client.get("/beyond", params={"node": name, "threshold": 0.5}).json()["of"] == array.size


@pytest.mark.parametrize("name", NUMBERS)
def test_a_file_for_numpy(zoo, name):
    network, client = zoo
    tensor = value(network, name)
    bits, format = as_bits(tensor.array, tensor.dtype)
    expected = decode(bits, format)
    index = ", ".join(["::-2"] * expected.ndim)
    for params, part in (({}, expected), ({"index": index}, expected[(slice(None, None, -2),) * expected.ndim])):
        answer = client.get("/tensor.npy", params={"node": name, **params})
        found = np.load(io.BytesIO(answer.content), allow_pickle=False)
        assert (found.dtype, found.shape) == (expected.dtype, part.shape)
        np.testing.assert_array_equal(found, part)
        assert answer.content.startswith(b"\x93NUMPY\x01\x00")
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}_output0_step2.npy"'


def test_the_name_of_a_file_is_plain(zoo):
    _, client = zoo
    params = {"node": "Default/zoo-Zoo/Identity-op0", "input": 0}
    disposition = client.get("/tensor.npy", params=params).headers["content-disposition"]
    assert disposition == 'attachment; filename="Identity-op0_input0_step2.npy"'


def test_jumping_from_one_to_the_next(zoo):
    _, client = zoo
    where = {"node": "holes", "what": "nonfinite"}
    found, after = [], None
    for _ in range(5):
        answer = client.get("/place", params={**where, **({} if after is None else {"after": after})}).json()
        found.append((tuple(answer["position"]), answer["value"]))
        after = answer["flat"]
        assert answer["count"] == 4
    assert found == [
        ((3, 17), "nan"),
        ((3, 18), "nan"),
        ((5, 2), "inf"),
        ((9, 40), "-inf"),
        ((3, 17), "nan"),
    ]


@pytest.mark.parametrize("route", ["tensor", "tensor.npy", "histogram", "heatmap", "place", "beyond"])
@pytest.mark.parametrize("index", ["7, :, 0, 0", "::0", "a", "0, 0, 0, 0, 0", "1.5"])
def test_a_wrong_index_is_told_at_its_field(zoo, route, index):
    _, client = zoo
    more = {"heatmap": {"rows": 1, "columns": 1}, "place": {"what": "max"}, "beyond": {"threshold": 0}}.get(route, {})
    answer = client.get(f"/{route}", params={"node": "conv.weight", "index": index, **more})
    problem = answer.json()
    assert (answer.status_code, problem["kind"], problem["field"]) == (400, "bad_request", "index")
    assert "\n" not in problem["detail"]


def test_a_heat_map_of_too_many_dimensions_is_told_at_the_index(zoo):
    _, client = zoo
    answer = client.get("/heatmap", params={"node": "conv.weight", "rows": 1, "columns": 1})
    assert (answer.status_code, answer.json()["field"]) == (400, "index")


@pytest.mark.parametrize(
    ("route", "params", "field"),
    [
        ("heatmap", {"rows": 0, "columns": 1}, "rows"),
        ("heatmap", {"rows": 1, "columns": 4000}, "columns"),
        ("histogram", {"bins": 0}, "bins"),
        ("place", {"what": "best"}, "what"),
        ("place", {"what": "max", "after": -1}, "after"),
        ("beyond", {"threshold": -1}, "threshold"),
        ("beyond", {"threshold": "nan"}, "threshold"),
    ],
)
def test_what_is_out_of_bounds_is_refused(zoo, route, params, field):
    _, client = zoo
    answer = client.get(f"/{route}", params={"node": "matrix", **params})
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize("route", ["tensor", "tensor.npy", "stats", "compare", "histogram", "place", "beyond"])
def test_of_words_it_says_that_they_are_not_shown(zoo, route):
    _, client = zoo
    more = {"place": {"what": "max"}, "beyond": {"threshold": 0}}.get(route, {})
    answer = client.get(f"/{route}", params={"node": "words", **more})
    assert answer.status_code == 400
    assert answer.json()["detail"] == "this tensor holds text and no numbers: its values are not shown"
    assert answer.json()["code"] == "no_numbers"
