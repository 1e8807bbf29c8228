"""The agent between a training process and a server: the test plays both, over a real pipe and real gRPC."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from attach_server import PATIENCE, Attachment, AttachServer
from fake_probe import ADD, GRAPH, MUL, command

from stepscope.core.ports import SourceInfo, State, TensorKey
from stepscope.protocol import convert
from stepscope.protocol.gen import stepscope_pb2 as pb

# ------------------------------------------------------------ the start


async def test_a_connection_is_told_with_the_servers_address(server, start):
    probe = start(server.port)
    probe.hello()
    stream = await server.attached()
    hello = await stream.welcome(address="http://here:8080")
    assert convert.info_from_proto(hello) == SourceInfo("job1", "mindspore", command_line=("python", "x.py"))
    assert (await probe.next("connected"))["server"] == "http://here:8080"


async def test_a_server_that_is_not_there_is_told_after_a_while(start):
    async with AttachServer() as gone:
        pass
    probe = start(gone.port)
    probe.hello(connect_wait=0.3)
    assert (await probe.next("unreachable"))["reason"] == "nothing answers there, waited 0.3 s"


async def test_a_server_that_refuses_is_told(server, start):
    probe = start(server.port)
    probe.hello()
    await (await server.attached()).welcome(accepted=False, reason="another protocol")
    assert (await probe.next("refused"))["reason"] == "another protocol"
    assert (await probe.next("gone"))["reason"] == "another protocol"


@pytest.mark.parametrize("first", [None, "report"])
async def test_one_that_does_not_say_hello_is_not_served(first, server, start):
    probe = start(server.port)
    if first:
        probe.send(first)
    probe.close()
    await asyncio.wait_for(probe.agent, PATIENCE)
    assert server.streams == 0


# ------------------------------------------------------------ reports and commands


async def test_graphs_and_reports_go_to_the_server(attached):
    probe, stream = attached
    assert (await probe.graph())["bytes"] == 2 * 3 * 16
    graph = pb.GraphProto.FromString((await stream.next("graph")).buffer)
    assert [node.full_name for node in graph.node] == [ADD, MUL]
    assert graph.parameters[0].role == pb.ParameterProto.PARAMETER
    probe.report(0, [])
    report = convert.report_from_proto(await stream.next("report"))
    assert (report.state, report.step, report.step_seconds) == (State.PAUSED, 0, 0.5)


@pytest.mark.parametrize(("kind", "steps"), [("run", 5), ("resume", 1), ("pause", 1)])
async def test_commands_go_to_the_training(kind, steps, attached):
    probe, stream = attached
    stream.send(command(kind, steps=steps))
    expected = {"is": "command", "kind": kind, "steps": steps, "sequence": 4}
    assert await probe.next("command") == expected


async def test_the_cursor_moves_without_the_training(attached):
    probe, stream = attached
    await probe.graph()
    await stream.next("graph")
    probe.record(1)
    probe.report(1, [1])
    await stream.next("report")
    stream.send(command("previous_node", 5))
    moved = convert.report_from_proto(await stream.next("report"))
    assert (moved.cursor.node, moved.command_sequence) == (ADD, 5)
    stream.send(command("run_to", 6, graph=GRAPH, node=MUL))
    assert convert.report_from_proto(await stream.next("report")).cursor.node == MUL
    stream.send(command("next_node", 7))  # past the last: a step has to be run
    assert await probe.next("command") == {"is": "command", "kind": "run", "steps": 1, "sequence": 7}
    probe.record(2)
    probe.report(2, [1, 2], sequence=7)
    report = convert.report_from_proto(await stream.next("report"))
    assert (report.step, report.cursor.node, report.cursor.position) == (2, ADD, 1)


async def test_a_command_of_a_later_release_does_not_cut_the_agent_off(server, attached):
    probe, stream = attached
    stream.send(pb.ServerMessage(command=pb.Command(sequence=1)))
    again = await server.attached()
    await again.welcome()
    again.send(command("pause"))
    assert (await probe.next("command"))["kind"] == "pause"


# ------------------------------------------------------------ queries


@pytest.fixture
async def recorded(attached) -> Attachment:
    probe, stream = attached
    await probe.graph()
    await stream.next("graph")
    for step in (1, 2):
        probe.record(step)
        probe.report(step, [1, 2][:step])
        await stream.next("report")
    return stream


async def ask(stream: Attachment, **what: Any) -> pb.Answer:
    stream.send(pb.ServerMessage(query=pb.Query(id=9, **what)))
    answer = await stream.next("answer")
    assert answer.id == 9
    return answer


def key(node: str, **more: Any) -> pb.TensorKey:
    return convert.key_to_proto(TensorKey(GRAPH, node, **more))


async def test_a_tensor_comes_in_parts(recorded):
    parts = [(await ask(recorded, tensor=pb.TensorQuery(key=key(MUL)))).tensor]
    while not parts[-1].finished:
        parts.append((await recorded.next("answer")).tensor)
    assert len(parts) == 2
    assert convert.tensor_from_proto(parts).array.shape == (700_000,)


async def test_a_part_of_a_tensor(recorded):
    answer = await ask(recorded, tensor=pb.TensorQuery(key=key("w", when="previous"), index="1:3"))
    tensor = convert.tensor_from_proto([answer.tensor], "1:3")
    assert tensor.array.tolist() == [1.0, 2.0]
    assert tensor.step == 1


async def test_figures_and_order(recorded):
    stats = convert.stats_from_proto((await ask(recorded, statistics=key(ADD))).statistics)
    assert (stats.min, stats.max, stats.step) == (2.0, 5.0, 2)
    comparison = convert.comparison_from_proto((await ask(recorded, comparison=key(ADD))).comparison)
    assert (comparison.difference.mean, comparison.previous.step) == (1.0, 1)
    order = convert.execution_from_proto(
        (await ask(recorded, execution=pb.ExecutionQuery(offset=1, limit=5))).execution
    )
    assert (order.total, [node.node for node in order.nodes]) == (2, [MUL])


async def test_what_can_not_be_answered_says_why(recorded, monkeypatch):
    async def failure(**what: Any) -> tuple[str, str]:
        answer = await ask(recorded, **what)
        return answer.failure.kind, answer.failure.message

    kind, message = await failure(statistics=key("no such node"))
    assert (kind, message[:21]) == ("unknown_node", "no node 'no such node")
    assert (await failure(statistics=key(ADD, slot=3)))[0] == "bad_request"
    assert (await failure(tensor=pb.TensorQuery(key=key("w"), index="first")))[0] == "bad_request"
    monkeypatch.setattr("stepscope.agent.recorded.stats", lambda *args: 1 / 0)
    assert await failure(statistics=key(ADD)) == ("internal", "ZeroDivisionError: division by zero")
    assert (await ask(recorded, comparison=key(ADD))).comparison.changed_count == 4  # it is still there
