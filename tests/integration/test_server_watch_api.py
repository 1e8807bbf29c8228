"""The web API of watchpoints: what comes for what is asked, and what is refused, with the field that is to blame."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from trainings import until
from websockets.asyncio.client import connect

from stepscope.core.ports import Farewell, Report, State
from stepscope.core.watch.conditions import CONDITIONS
from stepscope.core.watch.records import Hit, HitBatch, ParameterCheck
from stepscope.protocol.gen import stepscope_pb2 as pb
from stepscope.protocol.watchpoints import hits_to_proto
from stepscope.server.settings import MAX_BODY, MAX_TICKS_BODY
from stepscope.testing.graphs import transformer
from stepscope.testing.network import BACKWARD, FORWARD, NODES, OPTIMIZER, graph_proto

RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
JOB = "/api/jobs/fake-1"
ALL = f"{JOB}/watchpoints"
RANGE = {"range_percentage_gt": 50, "range_start_inclusive": 0, "range_end_inclusive": 1}


@pytest.fixture
def web(server, job):
    with httpx.Client(base_url=server.url, headers={"X-Stepscope": "1"}, timeout=60) as client:
        yield client


def good(answer: httpx.Response, status: int = 200):
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


def create(web, condition: str = "tensor_overflow", **body):
    return good(web.post(ALL, json={"condition": condition, **body}), 201)


def tell_hits(agent, web, batch: HitBatch) -> None:
    """As if the agent had checked a step."""
    before = web.get(JOB).json()["hits_revision"]
    for part in hits_to_proto(batch):
        agent.send(pb.AgentMessage(hits=part))
    until(lambda: web.get(JOB).json()["hits_revision"] == before + 1)


def test_the_table_of_conditions(web):
    found = good(web.get("/api/conditions"))["conditions"]
    assert [each["id"] for each in found] == list(CONDITIONS)
    by_id = {each["id"]: each for each in found}
    assert by_id["weight_not_changed"]["base"] == "trainable"
    assert by_id["tensor_range"]["name"]["zh"] == "检查张量值范围"
    assert all(each["advice"] and each["description"]["en"] for each in found)
    (zeros,) = by_id["tensor_all_zero"]["parameters"]
    assert (zeros["default"], zeros["low"], zeros["high"], zeros["unit"]) == (100, 0, 100, "%")
    ranges = {each["name"]: each for each in by_id["tensor_range"]["parameters"]}
    assert ranges["range_percentage_lt"]["needs"] == ["range_start_inclusive", "range_end_inclusive"]
    assert (ranges["max_min_lt"]["low_inclusive"], ranges["max_min_lt"]["high"]) == (False, None)
    assert ranges["range_start_inclusive"] | {"label": None} == {
        "name": "range_start_inclusive",
        "label": None,
        "unit": "",
        "role": "support",
        "hidden": False,
        "default": None,
        "low": None,
        "high": None,
        "low_inclusive": True,
        "needs": [],
    }


def test_a_watchpoint_from_its_creation_to_its_end(web):
    assert good(web.get(ALL)) == {"revision": 0, "recommended": "open", "earlier": None, "watchpoints": []}
    first = create(web, "weight_too_large", parameters={"abs_mean_gt": "1e-3"}, name="  two\n words ")
    assert first == {
        "id": 1,
        "name": "two words",
        "condition": "weight_too_large",
        "parameters": {"abs_mean_gt": 0.001},
        "enabled": True,
        "recommended": False,
        "watched": 3,
        "hits": 0,
        "warnings": [],
    }
    changed = good(web.patch(f"{ALL}/1", json={"enabled": False, "name": ""}))
    assert changed == first | {"enabled": False, "name": ""}
    assert good(web.patch(f"{ALL}/1", json={"parameters": {"max_gt": 2}}))["parameters"] == {"max_gt": 2}
    second = good(web.post(f"{ALL}/1/duplicate"), 201)
    assert second == changed | {"id": 2, "parameters": {"max_gt": 2}}
    found = good(web.get(ALL))
    assert (found["revision"], [each["id"] for each in found["watchpoints"]]) == (4, [1, 2])
    assert web.delete(f"{ALL}/1").status_code == 204
    assert create(web)["id"] == 3
    assert web.delete(ALL).status_code == 204
    assert good(web.get(ALL)) | {"revision": 7} == {
        "revision": 7,
        "recommended": "open",
        "earlier": None,
        "watchpoints": [],
    }
    assert create(web)["id"] == 4


def test_which_nodes(web):
    assert create(web)["watched"] == len(NODES) - 3 + 8  # not what is folded, and no constant
    assert create(web, "gradient_exploding")["watched"] == 5
    assert create(web, nodes=[RELU, "x"])["watched"] == 2
    assert create(web, nodes=[RELU], graph="graph_0")["watched"] == 1
    assert create(web, scopes=[f"{FORWARD}/hidden-Dense"])["watched"] == 5  # two ops and what they read first
    assert create(web, scopes=[f"{FORWARD}/relu-ReLU"], nodes=["out.weight"])["watched"] == 2
    assert create(web, base="weight", nodes=[RELU])["watched"] == 4
    ticks = [{"path": "Default", "scope": True, "on": True}, {"path": OPTIMIZER, "scope": True, "on": False}]
    below = create(web, ticks=ticks)
    assert good(states(web, below, [FORWARD, OPTIMIZER, "Default", "Gradients", ""], [RELU]))["scopes"] == [
        1,
        0,
        2,
        0,
        2,
    ]


def states(web, watchpoint, scopes, nodes, graph: str = "graph_0"):
    return web.post(f"{ALL}/{watchpoint['id']}/states", json={"graph": graph, "scopes": scopes, "nodes": nodes})


def test_ticks_and_states(web):
    one = create(web, base="none", nodes=[RELU])
    scopes = ["Default", FORWARD, f"{FORWARD}/relu-ReLU", BACKWARD, "Default/nothing"]
    nodes = [RELU, "hidden.weight", "one", f"{FORWARD}/hidden-Dense/Load-op0", "nothing"]
    assert good(states(web, one, scopes, nodes)) == {"scopes": [2, 2, 1, 0, -1], "nodes": [1, 0, -1, -1, -1]}
    ticks = [{"path": FORWARD, "scope": True, "on": True}, {"path": RELU, "scope": False, "on": False}]
    assert good(web.post(f"{ALL}/1/ticks", json={"ticks": ticks}))["watched"] == 9
    assert good(states(web, one, scopes, nodes)) == {"scopes": [2, 2, 0, 0, -1], "nodes": [0, 1, -1, -1, -1]}
    ticks = [{"path": FORWARD, "scope": True, "on": False, "graph": "graph_0"}]
    found = good(web.post(f"{ALL}/1/ticks", json={"ticks": ticks}))
    assert (found["watched"], [each["code"] for each in found["warnings"]]) == (0, ["no_nodes"])


@pytest.mark.parametrize(
    ("wanted", "watched"),
    [
        ({}, 21),
        ({"scope": FORWARD}, 10),
        ({"category": "weight"}, 3),
        ({"pattern": "MatMul", "scope": FORWARD}, 2),
        ({"line": "train.py:12"}, 1),
        ({"pattern": "load", "graph": "graph_0", "category": "parameter"}, None),
        ({"pattern": "*MatMul*"}, 5),
    ],
)
def test_ticking_what_is_found(web, wanted, watched):
    create(web, base="weight")
    good(web.post(f"{ALL}/1/ticks", json={"filter": {}, "on": False}))
    answer = web.post(f"{ALL}/1/ticks", json={"filter": wanted, "on": True})
    if watched is None:
        refused(answer, 400, "filter", "no_nodes")
    else:
        assert good(answer)["watched"] == watched


def refused(answer: httpx.Response, status: int, field: str | None, code: str | None) -> dict:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["status"], problem["field"], problem["code"]) == (status, field, code), problem
    return problem


BAD_CONDITIONS = [
    ({"condition": "tensor_heavy"}, 400, "condition", "unknown_condition"),
    ({"condition": "tensor_too_large", "parameters": {"min_lt": 1}}, 400, "min_lt", "unknown_parameter"),
    ({"condition": "tensor_too_large"}, 400, "abs_mean_gt", "missing_parameter"),
    (
        {"condition": "tensor_range", "parameters": {"range_percentage_gt": 5}},
        400,
        "range_start_inclusive",
        "missing_companion",
    ),
    (
        {"condition": "tensor_range", "parameters": RANGE | {"range_start_inclusive": 2}},
        400,
        "range_end_inclusive",
        "start_after_end",
    ),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": "nan"}}, 400, "max_gt", "not_a_number"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": "much"}}, 400, "max_gt", "not_a_number"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": "inf"}}, 400, "max_gt", "out_of_range"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": 10**400}}, 400, "max_gt", "malformed"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": True}}, 400, "max_gt", "malformed"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": None}}, 400, "max_gt", "malformed"),
    ({"condition": "tensor_too_large", "parameters": {"max_gt": [1]}}, 400, "max_gt", "malformed"),
    (
        {"condition": "tensor_all_zero", "parameters": {"zero_percentage_ge": 100.1}},
        400,
        "zero_percentage_ge",
        "out_of_range",
    ),
    (
        {"condition": "tensor_all_zero", "parameters": {"zero_percentage_ge": -1}},
        400,
        "zero_percentage_ge",
        "out_of_range",
    ),
    ({"condition": "tensor_overflow", "name": "x" * 201}, 400, "name", "malformed"),
    ({"condition": "tensor_overflow", "shape": 1}, 400, "shape", "malformed"),
]


@pytest.mark.parametrize(("body", "status", "field", "code"), BAD_CONDITIONS)
def test_what_is_wrong_is_named_and_nothing_is_stored(web, body, status, field, code):
    create(web, "tensor_too_large", parameters={"max_gt": 3}, name="good")
    before = good(web.get(ALL))
    refused(web.post(ALL, json=body), status, field, code)
    refused(web.patch(f"{ALL}/1", json={"parameters": {}, "name": "bad", **body}), status, field, code)
    assert good(web.get(ALL)) == before


@pytest.mark.parametrize(
    ("body", "status", "field", "code"),
    [
        ({"nodes": [], "scopes": []}, 400, "nodes", "no_nodes"),
        ({"nodes": []}, 400, "nodes", "no_nodes"),
        ({"ticks": [{"path": RELU, "on": False}]}, 400, "nodes", "no_nodes"),
        ({"base": "none"}, 400, "nodes", "no_nodes"),
        ({"base": "heavy"}, 400, "base", "malformed"),
        ({"nodes": [RELU, RELU[:-1]]}, 404, "nodes", "unknown_node"),
        ({"scopes": ["Default/netwrk"]}, 404, "scopes", "unknown_node"),
        ({"nodes": [RELU], "graph": "graph_9"}, 404, "nodes", "unknown_node"),
        ({"ticks": [{"path": "nothing", "on": True}]}, 404, "ticks", "unknown_node"),
        ({"nodes": ["one"]}, 400, "nodes", "not_watchable"),
        ({"nodes": [f"{FORWARD}/hidden-Dense/Load-op0"]}, 400, "nodes", "not_watchable"),
        ({"nodes": RELU}, 400, "nodes", "malformed"),
    ],
)
def test_wrong_nodes_are_named_and_nothing_is_stored(web, body, status, field, code):
    refused(web.post(ALL, json={"condition": "tensor_overflow", **body}), status, field, code)
    assert good(web.get(ALL))["revision"] == 0


def test_a_wrong_name_gets_the_nearest_ones(web):
    problem = refused(
        web.post(ALL, json={"condition": "tensor_overflow", "nodes": [RELU[:-1]]}), 404, "nodes", "unknown_node"
    )
    assert RELU in problem["nearest"]
    problem = refused(
        web.post(ALL, json={"condition": "tensor_overflow", "scopes": ["Default/netwrk"]}),
        404,
        "scopes",
        "unknown_node",
    )
    assert FORWARD in problem["nearest"]


@pytest.mark.parametrize(
    ("body", "status", "field", "code"),
    [
        ({"ticks": [{"path": RELU, "on": True}, {"path": "nothing", "on": True}]}, 404, "ticks", "unknown_node"),
        ({"ticks": [{"path": RELU, "on": True}, {"path": "one", "on": True}]}, 400, "ticks", "not_watchable"),
        ({"ticks": [], "filter": {}}, 400, "ticks", "no_nodes"),
        ({}, 400, "ticks", "no_nodes"),
        ({"filter": {"scope": "nothing"}}, 404, "filter", "unknown_node"),
        ({"filter": {"pattern": "nothing"}}, 400, "filter", "no_nodes"),
        ({"ticks": [{"path": RELU}]}, 400, "ticks", "malformed"),
    ],
)
def test_ticks_are_done_as_a_whole_or_not_at_all(web, body, status, field, code):
    create(web, nodes=["x"])
    before = good(web.get(ALL))
    refused(web.post(f"{ALL}/1/ticks", json=body), status, field, code)
    assert good(web.get(ALL)) == before


def test_a_watchpoint_that_is_not_there(web):
    for answer in (
        web.patch(f"{ALL}/7", json={}),
        web.delete(f"{ALL}/7"),
        web.post(f"{ALL}/7/duplicate"),
        web.post(f"{ALL}/7/ticks", json={"filter": {}}),
        states(web, {"id": 7}, [], []),
    ):
        assert refused(answer, 404, None, None)["detail"] == "the job has no watchpoint 7"
    refused(web.delete(f"{ALL}/0"), 400, "watchpoint", "malformed")
    refused(states(web, create(web), [], [], graph="other"), 404, None, "unknown_node")


@pytest.mark.parametrize(
    ("condition", "parameters", "code", "field"),
    [
        ("tensor_all_zero", {"zero_percentage_ge": 0}, "always_hits", "zero_percentage_ge"),
        ("tensor_range", RANGE | {"range_percentage_gt": 100}, "never_hits", "range_percentage_gt"),
    ],
)
def test_what_makes_no_sense_is_warned_of(web, condition, parameters, code, field):
    (warning,) = create(web, condition, parameters=parameters)["warnings"]
    assert (warning["code"], warning["field"]) == (code, field)


def test_initial_weights_are_too_late_after_the_first_step(web, job):
    assert create(web, "weight_initialization")["warnings"] == []
    assert web.delete(ALL).status_code == 204
    job.run()
    assert job.wait(60) == "paused"
    (warning,) = create(web, "weight_initialization")["warnings"]
    assert warning["code"] == "too_late"


def test_nodes_that_left_the_graph(web, agent):
    create(web, nodes=[RELU, f"{FORWARD}/out-Dense/MatMul-op1"], scopes=[BACKWARD])
    create(web, "weight_overflow")
    graph = graph_proto()
    for node in graph.node:
        node.full_name = node.full_name.replace("relu-ReLU", "act-ReLU").replace("Gradients/", "Backward/")
    agent.send_graph("graph_0", graph.SerializeToString())
    until(lambda: good(web.get(ALL))["watchpoints"][0]["warnings"])
    first, second = good(web.get(ALL))["watchpoints"]
    assert first["watched"] == 1
    (warning,) = first["warnings"]
    assert (warning["code"], warning["number"]) == ("missing_nodes", 2)
    assert (second["watched"], second["warnings"]) == (3, [])
    agent.send_graph("graph_0", graph_proto().SerializeToString())  # and when they are back
    until(lambda: not good(web.get(ALL))["watchpoints"][0]["warnings"])
    assert good(web.get(ALL))["watchpoints"][0]["watched"] == 7


def test_twenty_thousand_ticks(web, agent):
    graph = transformer(26_000, "big")
    agent.send_graph("big", graph.SerializeToString())
    until(lambda: "big" in web.get(JOB).json()["graphs"])
    names: list[str] = []
    offset = 0
    while len(names) < 20_000:
        page = good(web.get(f"{JOB}/nodes", params={"graph": "big", "offset": offset, "limit": 10_000}))["nodes"]
        assert page
        names += [each["name"] for each in page if each["kind"] != "constant"]
        offset += len(page)
    names = names[:20_000]
    create(web, base="weight")
    body = json.dumps({"ticks": [{"path": name, "scope": False, "graph": "big", "on": True} for name in names]})
    assert len(body) > MAX_BODY
    headers = {"Content-Type": "application/json"}
    weights = good(web.get(f"{JOB}/nodes", params={"category": "weight", "limit": 0}))["total"]
    ticked = good(web.post(f"{ALL}/1/ticks", content=body, headers=headers))
    assert ticked["watched"] >= len(names)
    assert weights <= ticked["watched"] <= len(names) + weights
    # All of it has come to the training, too.
    rules = until(
        lambda: [each.selection.rules for each in agent.source.watchpoints.watchpoints if each.selection.rules]
    )
    assert [rule.path for rule in rules[0]] == names
    assert good(states(web, ticked, [""], names, "big"))["nodes"] == [1] * len(names)
    too_much = web.post(f"{ALL}/1/ticks", content=b" " * (MAX_TICKS_BODY + 1), headers=headers)
    assert (too_much.status_code, too_much.json()["kind"]) == (413, "too_large")
    assert web.post(f"{JOB}/commands", content=b" " * (MAX_BODY + 1), headers=headers).status_code == 413


def test_hits_filters_and_pages(web, agent):
    create(web, "tensor_too_large", parameters={"max_gt": 3}, name="large")
    create(web)
    checks = (ParameterCheck("max_gt", 3.0, True, float("inf")),)
    batch = HitBatch(
        0,
        2,
        (
            Hit(0, "graph_0", RELU, 0, 1, checks, position=3),
            Hit(0, "graph_0", "x", 0, 1, error=frozenset({"nan"}), position=0),
            Hit(0, "graph_0", "x", 0, 2, position=0),
        ),
    )
    assert good(web.get(f"{JOB}/hits"))["total"] == 0
    tell_hits(agent, web, batch)
    found = good(web.get(f"{JOB}/hits"))
    assert {name: found[name] for name in ("total", "all", "step", "revision", "outdated", "warning", "steps")} == {
        "total": 3,
        "all": 3,
        "step": 0,
        "revision": 2,
        "outdated": False,
        "warning": "",
        "steps": [0],
    }
    assert found["hits"][0] == {
        "step": 0,
        "graph": "graph_0",
        "node": RELU,
        "slot": 0,
        "rank": 0,
        "watchpoint": 1,
        "watchpoint_name": "large",
        "condition": "tensor_too_large",
        "params": [{"name": "max_gt", "value": 3, "hit": True, "actual": "inf"}],
        "error": [],
        "position": 3,
    }
    assert good(web.get(f"{JOB}/hits", params={"kind": "error"}))["hits"] == [found["hits"][1]]
    assert good(web.get(f"{JOB}/hits", params={"watchpoint": 2}))["hits"] == [found["hits"][2]]
    page = good(web.get(f"{JOB}/hits", params={"node": "x", "offset": 1, "limit": 1}))
    assert (page["total"], page["all"], page["hits"]) == (2, 3, [found["hits"][2]])
    assert good(web.get(f"{JOB}/hits", params={"rank": 1}))["total"] == 0
    assert [each["hits"] for each in good(web.get(ALL))["watchpoints"]] == [2, 1]
    assert {name: web.get(JOB).json()[name] for name in ("watchpoints", "hits")} == {"watchpoints": 2, "hits": 3}
    refused(web.get(f"{JOB}/hits", params={"kind": "other"}), 400, "kind", "malformed")
    assert (
        refused(web.get(f"{JOB}/hits", params={"step": 5}), 404, None, None)["detail"] == "no hits of step 5 are kept"
    )


def test_hits_of_earlier_steps(web, agent):
    create(web)
    tell_hits(agent, web, HitBatch(1, 1, (Hit(1, "graph_0", "x", 0, 1),)))
    tell_hits(agent, web, HitBatch(2, 1, (Hit(2, "graph_0", RELU, 0, 1), Hit(2, "graph_0", "x", 0, 1))))
    agent.report(Report(State.PAUSED, step=3, reason="step"))
    tell_hits(agent, web, HitBatch(3, 1))
    now = good(web.get(f"{JOB}/hits"))
    assert (now["step"], now["total"], now["outdated"], now["steps"]) == (3, 0, False, [1, 2])
    before = good(web.get(f"{JOB}/hits", params={"step": 2}))
    assert (before["step"], before["total"], before["outdated"]) == (2, 2, True)


async def test_all_pages_are_told(server, web, agent):
    async with connect(server.url.replace("http", "ws", 1) + "/api/events") as socket:

        async def told() -> dict:
            while True:
                event = json.loads(await asyncio.wait_for(socket.recv(), 10))
                if event["type"] == "job":
                    return event["job"]

        assert json.loads(await socket.recv())["type"] == "server"
        await asyncio.to_thread(create, web)
        assert (await told())["watchpoints"] == 1
        await asyncio.to_thread(web.delete, f"{ALL}/1")
        assert (await told())["watchpoints"] == 2
        await asyncio.to_thread(create, web)
        await told()
        await asyncio.to_thread(tell_hits, agent, web, HitBatch(0, 3, (Hit(0, "graph_0", "x", 0, 2),)))
        job = await told()
        assert (job["watchpoints"], job["hits"], job["hits_revision"]) == (3, 1, 1)


def test_no_change_is_lost_when_many_come_at_once(server, web):
    create(web, nodes=["x"])
    names = [name for name in NODES if name not in ("x",) and "Load" not in name and "TupleGetItem" not in name]

    async def tick_all() -> None:
        async with httpx.AsyncClient(base_url=server.url, headers={"X-Stepscope": "1"}, timeout=60) as client:
            asked = [client.post(f"{ALL}/1/ticks", json={"ticks": [{"path": name, "on": True}]}) for name in names]
            for answer in await asyncio.gather(*asked):
                good(answer)

    asyncio.run(tick_all())
    found = good(web.get(ALL))
    assert (found["watchpoints"][0]["watched"], found["revision"]) == (len(names) + 1, len(names) + 1)


def test_they_stay_when_the_job_has_ended(web, agent, job):
    create(web, name="kept")
    tell_hits(agent, web, HitBatch(0, 1, (Hit(0, "graph_0", "x", 0, 1),)))
    agent.finish(Farewell("finished", exit_status=0))
    assert job.wait(60) == "finished"
    (kept,) = good(web.get(ALL))["watchpoints"]
    assert (kept["name"], kept["watched"], kept["hits"]) == ("kept", 21, 1)
    assert good(web.get(f"{JOB}/hits"))["total"] == 1
    assert web.delete(JOB).status_code == 204
    assert web.get(ALL).status_code == 404
