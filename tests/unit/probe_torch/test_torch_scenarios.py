"""Trainings with the tracer on: the same numbers to the last bit, the same names each step, and edges that are true."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

torch = pytest.importorskip("torch")

import scenarios  # noqa: E402

pytestmark = pytest.mark.torch


def _run(scenario, around):
    torch.manual_seed(0)
    return [value.detach().clone() for value in scenario(around)]


@pytest.mark.parametrize("scenario", scenarios.ALL, ids=lambda one: one.__name__)
def test_the_numbers_are_the_same_to_the_last_bit(scenario, watcher):
    plain = _run(scenario, nullcontext)
    watch = watcher()
    traced = _run(scenario, watch.step)
    assert len(plain) == len(traced)
    for one, other in zip(plain, traced, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one.nan_to_num(), other.nan_to_num())
        assert torch.equal(one.isnan(), other.isnan())
    assert all(watch.steps)
    if scenario in scenarios.STEADY:
        assert watch.steps[1] == watch.steps[2]


@pytest.mark.parametrize("scenario", scenarios.ALL, ids=lambda one: one.__name__)
def test_what_an_edge_carries_is_what_its_producer_made(scenario, watcher):
    watch = watcher(keep=True)
    _run(scenario, watch.step)
    checked = 0
    for noted in watch.nodes.values():
        edges = zip(noted.event.inputs, noted.event.exact, noted.inputs, strict=False)
        for source, exact, given in edges:
            producer = watch.nodes.get(source.node)
            made = producer.outputs[source.slot] if producer else watch.start[source.node]
            if exact:
                checked += 1
                assert made.layout == given.layout
                assert torch.equal(made.to_dense().nan_to_num(), given.to_dense().nan_to_num()), (
                    noted.event.name,
                    source,
                )
    assert checked
    records = watch.records()
    for name, record in records.items():
        for reference in record.inputs:
            assert reference.source in records, (name, reference)
            assert reference.slot < len(records[reference.source].outputs)
    assert len({record.name for record in records.values()}) == len(watch.tracer.records())
