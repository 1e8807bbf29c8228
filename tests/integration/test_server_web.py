"""The web API as its OpenAPI page describes it."""

from __future__ import annotations

import json
import threading
import time

import httpx
import pytest
from pydantic import TypeAdapter

import stepscope
from stepscope.core.graph.views import GraphView, Lineage, Reveal, ScopeView, SearchResult
from stepscope.core.ports import ExecutionOrder
from stepscope.server import models, tensor_models
from stepscope.server.watch import models as watching
from stepscope.server.web.security import HEADERS
from stepscope.testing.graphs import transformer
from stepscope.testing.network import FORWARD

JOB = "/api/jobs/fake-1"
RELU = f"{FORWARD}/relu-ReLU/ReLU-op0"
CHANGE = {"X-Stepscope": "1"}

# What each path is asked with, and what comes.
ANSWERS = {
    "/api/server": ({}, models.ServerInfo),
    "/api/jobs": ({}, models.JobList),
    "/api/jobs/{job}": ({}, models.JobView),
    "/api/jobs/{job}/steps": ({}, models.StepList),
    "/api/jobs/{job}/graphs": ({}, models.GraphList),
    "/api/jobs/{job}/graphs/{graph}/scope": ({"path": FORWARD}, ScopeView),
    "/api/jobs/{job}/graphs/{graph}/view": ({"open": ["Default", "Default/nothing"], "at": ["0:Default"]}, GraphView),
    "/api/jobs/{job}/graphs/{graph}/reveal": ({"name": FORWARD}, Reveal),
    "/api/jobs/{job}/graphs/{graph}/search": ({"text": "relu"}, SearchResult),
    "/api/jobs/{job}/graphs/{graph}/lineage": ({"node": RELU}, Lineage),
    "/api/jobs/{job}/graphs/{graph}/node": ({"name": RELU}, models.NodeView),
    "/api/jobs/{job}/node": ({"name": RELU}, models.NodeView),
    "/api/jobs/{job}/nodes": ({"category": "weight"}, models.NodeList),
    "/api/jobs/{job}/execution": ({}, ExecutionOrder),
    "/api/conditions": ({}, watching.ConditionList),
    "/api/jobs/{job}/watchpoints": ({}, watching.WatchpointList),
    "/api/jobs/{job}/hits": ({"kind": "hit", "limit": 5}, watching.HitList),
    "/api/jobs/{job}/stats": ({"node": RELU}, models.Statistics),
    "/api/jobs/{job}/compare": ({"node": "out.weight"}, models.ComparisonView),
    "/api/jobs/{job}/tensor": ({"node": RELU}, bytes),
    "/api/jobs/{job}/histogram": ({"node": RELU}, tensor_models.HistogramView),
    "/api/jobs/{job}/place": ({"node": RELU, "what": "max"}, tensor_models.PlaceView),
    "/api/jobs/{job}/beyond": ({"node": "out.weight", "threshold": 0.1}, tensor_models.BeyondView),
    "/api/jobs/{job}/guide": ({"node": RELU}, tensor_models.GuideView),
    "/api/jobs/{job}/origin": ({"node": RELU}, tensor_models.OriginView),
}
# With bodies of their own, or none for this job: they have tests of their own.
ELSEWHERE = {f"/api/jobs/{{job}}/{name}" for name in ("heatmap", "tensor.npy", "frames")}


@pytest.fixture
def web(server):
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


@pytest.fixture
def stepped(job):
    """The job after two steps."""
    job.run(2)
    assert job.wait(60) == "paused"
    return job


@pytest.fixture
def schema(web):
    return web.get("/api/openapi.json").json()


def strict(answer: httpx.Response):
    def refuse(token: str):
        raise AssertionError(f"bare {token} is not JSON")

    return json.loads(answer.text, parse_constant=refuse)


@pytest.mark.parametrize("path", ANSWERS)
def test_answers_are_as_described(web, stepped, schema, path):
    params, model = ANSWERS[path]
    described = schema["paths"][path]["get"]
    assert described["operationId"]
    assert set(params) <= {each["name"] for each in described["parameters"]} if params else True
    answer = web.get(path.format(job="fake-1", graph="graph_0"), params=params)
    assert answer.status_code == 200
    (media_type,) = described["responses"]["200"]["content"]
    assert answer.headers["content-type"] == media_type
    if model is bytes:
        header = models.TensorHeader.model_validate_json(answer.headers["x-stepscope-tensor"], strict=True)
        assert (header.shape, header.full_shape, len(answer.content)) == ([8, 3], [8, 3], 96)
    else:
        reference = described["responses"]["200"]["content"][media_type]["schema"]["$ref"].rpartition("/")[2]
        assert reference == model.__name__
        body = strict(answer)
        TypeAdapter(model).validate_python(body)
        assert set(body) == set(schema["components"]["schemas"][reference]["properties"])


def test_nothing_is_undescribed(schema):
    described = {path for path, methods in schema["paths"].items() if "get" in methods}
    assert described == set(ANSWERS) | {"/api/events"} | ELSEWHERE
    assert set(schema["paths"]["/api/jobs/{job}"]) == {"get", "delete"}
    assert set(schema["paths"]["/api/jobs/{job}/commands"]) == {"post"}
    assert set(schema["paths"]["/api/jobs/{job}/watchpoints"]) == {"get", "post", "delete"}
    assert set(schema["paths"]["/api/jobs/{job}/watchpoints/{watchpoint}"]) == {"patch", "delete"}


def test_the_description_is_whole(schema):
    text = json.dumps(schema)
    components = schema["components"]["schemas"]
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in components, reference
    assert "HTTPValidationError" not in components
    assert {"JobEvent", "GraphEvent", "JobRemovedEvent", "ServerEvent"} <= set(components)
    assert components["Event"]["discriminator"]["propertyName"] == "type"
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert "application/problem+json" in operation["responses"]["default"]["content"], path
            if method != "get":
                assert any(each["name"] == "X-Stepscope" for each in operation["parameters"])
    assert schema["paths"]["/api/jobs/{job}/tensor"]["get"]["responses"]["200"]["headers"]["X-Stepscope-Tensor"]


def test_the_page_works_without_the_internet(web):
    page = web.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "unsafe-eval" not in page.headers["content-security-policy"]
    assert "http" not in page.text.replace("http-equiv", "")
    assert web.get("/docs").status_code == web.get("/redoc").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/api/jobs/none", 404, "unknown_job"),
        ("GET", "/api/nothing", 404, "not_found"),
        ("PUT", "/api/jobs", 405, "bad_request"),
        ("GET", f"{JOB}?wait=31&state=running", 400, "bad_request"),
        ("GET", f"{JOB}?wait=x", 400, "bad_request"),
        ("GET", f"{JOB}/node", 400, "bad_request"),
        ("GET", f"{JOB}/node?name=none", 404, "unknown_node"),
        ("GET", f"{JOB}/graphs/none/scope", 404, "unknown_node"),
        ("GET", f"{JOB}/graphs/graph_0/scope?limit=0", 400, "bad_request"),
        ("GET", f"{JOB}/nodes?category=heavy", 400, "bad_request"),
        ("GET", f"{JOB}/tensor?node=out.weight&when=later", 400, "bad_request"),
        ("GET", f"{JOB}/tensor?node=out.weight&index=9", 400, "bad_request"),
        ("GET", f"{JOB}/tensor?node=out.weight&slot=-1", 400, "bad_request"),
        ("GET", f"{JOB}/tensor?node={'x' * 5000}", 400, "bad_request"),
        ("GET", f"{JOB}/tensor?node={RELU}", 404, "not_available"),
        ("DELETE", JOB, 409, "conflict"),
    ],
)
def test_errors_are_problems(web, job, method, path, status, kind):
    answer = web.request(method, path, headers=CHANGE)
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["kind"]) == (status, status, kind)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"/problems/{kind}"
    assert problem["detail"]
    assert "\n" not in problem["detail"]
    assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()


def test_unknown_names_come_with_near_ones(web, job):
    problem = web.get(f"{JOB}/node", params={"name": "hidden.weigth"}).json()
    assert problem["nearest"][0] == "hidden.weight"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        '{"kind": "explode"}',
        '{"kind": "run", "steps": 0}',
        '{"kind": "run", "steps": 2147483648}',
        '{"kind": "run", "steps": 1.5}',
        '{"kind": "run", "speed": 1}',
        '{"kind": "run_to"}',
    ],
)
def test_commands_that_make_no_sense(web, job, body):
    answer = web.post(f"{JOB}/commands", content=body, headers={**CHANGE, "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["kind"]) in [(400, "bad_request"), (404, "unknown_node")]
    assert job.state == "paused"


def test_a_command_is_answered_with_what_follows(web, agent, job):
    agent.source.step_seconds = 60
    answer = web.post(f"{JOB}/commands", json={"kind": "run", "steps": 2}, headers=CHANGE).json()
    assert (answer["state"], answer["reason"]) == ("running", "")
    conflict = web.post(f"{JOB}/commands", json={"kind": "next_node"}, headers=CHANGE)
    assert conflict.status_code == 409
    assert "while the job is paused only: it is running" in conflict.json()["detail"]
    assert web.post(f"{JOB}/commands", json={"kind": "pause"}, headers=CHANGE).json()["state"] == "running"
    assert job.wait(60) == "paused"
    assert [command.steps for command in agent.commands] == [2, 0]


def test_the_long_poll_ends_with_the_state_or_the_time(web, agent, job):
    assert web.get(JOB, params={"wait": 30, "state": "running"}).json()["state"] == "paused"  # at once
    assert web.get(JOB, params={"wait": 0.05, "state": "paused"}).json()["state"] == "paused"
    ending = threading.Timer(0.05, agent.finish)
    ending.start()
    assert web.get(JOB, params={"wait": 30, "state": "paused"}).json()["state"] == "finished"
    ending.join()


def test_nodes_are_paged(web, job):
    whole = web.get(f"{JOB}/nodes").json()
    assert whole["total"] == len(whole["nodes"]) == 24
    page = web.get(f"{JOB}/nodes", params={"offset": 20, "limit": 10}).json()
    assert (page["total"], page["nodes"]) == (24, whole["nodes"][20:])


def test_graph_names_may_hold_anything(web, agent, job):
    agent.send_graph("forward/net 1?", agent.source.graph()[1])
    deadline = time.monotonic() + 10
    while len(job.graphs) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert job.scope(graph="forward/net 1?").total == 2
    assert job.node(RELU, graph="forward/net 1?").graph == "forward/net 1?"


async def test_taking_in_a_large_graph_holds_up_nobody(server, agent, job):
    """Other requests are answered while a graph of 20,000 nodes is read and indexed."""
    agent.send_graph("big", transformer(20_000, "big").SerializeToString())
    answered = 0
    async with httpx.AsyncClient(base_url=server.url) as client:
        while "big" not in (await client.get(JOB)).json()["graphs"]:
            answered += 1
    assert answered > 10
    assert job.scope("Default", graph="big").nodes > 5_000


def test_unexpected_errors_are_problems_too(web, job, monkeypatch, caplog):
    monkeypatch.setattr("stepscope.server.web.routes.jobs.JobList", None)
    answer = web.get("/api/jobs")
    assert (answer.status_code, answer.json()["kind"]) == (500, "internal")
    assert answer.headers["x-frame-options"] == "DENY"
    with pytest.raises(stepscope.StepscopeError, match="a fault of the server"):
        stepscope.connect(str(web.base_url)).jobs()
