"""Numbers that JSON does not have must get through it: a debugger for NaN lives on them."""

from __future__ import annotations

import json
import math

import httpx
import numpy as np
import pytest
from fastapi import FastAPI

from stepscope.server.models import Statistics, StepRecord
from stepscope.server.web.answers import MAX_VALUES, plain

FIGURES = {
    "dtype": "float32",
    "shape": (2, 2),
    "step": 3,
    "count": 4,
    "min": math.nan,
    "max": math.inf,
    "mean": -math.inf,
    "abs_mean": 1.5,
    "std": 0.0,
    "zero_count": 0,
    "negative_count": 0,
    "positive_count": 0,
    "nan_count": 4,
    "negative_inf_count": 0,
    "positive_inf_count": 0,
}


def strict(text: str):
    def refuse(token: str):
        raise AssertionError(f"bare {token} is not JSON")

    return json.loads(text, parse_constant=refuse)


async def test_non_finite_numbers_are_strings_in_an_answer():
    app = FastAPI()

    @app.get("/stats", response_model=Statistics)
    async def stats():
        return FIGURES

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        answer = await client.get("/stats")
    assert answer.status_code == 200
    body = strict(answer.text)
    assert (body["min"], body["max"], body["mean"]) == ("nan", "inf", "-inf")
    assert (body["abs_mean"], body["std"]) == (1.5, 0.0)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf, 0.25, None])
def test_they_come_back_as_numbers(loss):
    record = StepRecord(step=1, at=2.0, loss=loss, seconds=None, reason="")
    again = StepRecord.model_validate_json(record.model_dump_json())
    assert again.loss == loss or (math.isnan(again.loss) and math.isnan(loss))


def test_the_schema_says_so():
    schema = Statistics.model_json_schema(mode="serialization")["properties"]["min"]
    assert {"enum": ["nan", "inf", "-inf"], "type": "string"} in schema["anyOf"]


def test_attributes_become_plain_json():
    value = plain(
        {
            "epsilon": math.nan,
            "axes": (np.int64(1), np.float32(np.inf)),
            "flag": np.bool_(True),
            "table": np.array([[1.0, -np.inf]], np.float32),
            "raw": b"\xff",
            "none": None,
        }
    )
    assert strict(json.dumps(value)) == {
        "epsilon": "nan",
        "axes": [1, "inf"],
        "flag": True,
        "table": {"dtype": "float32", "shape": [1, 2], "values": [1.0, "-inf"]},
        "raw": "b'\\xff'",
        "none": None,
    }


def test_a_large_array_is_cut():
    value = plain(np.zeros((100, 100)))
    assert value["shape"] == [100, 100]
    assert len(value["values"]) == MAX_VALUES
