"""A tensor as a histogram, as a heat map, and where in it something is: worked out next to the training."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepscope.core.looks import (
    BeyondQuestion,
    HeatmapQuestion,
    HistogramQuestion,
    Of,
    PlaceQuestion,
    Reduction,
    Sought,
)
from stepscope.server.tensor_models import BeyondView, HeatmapHeader, HistogramView, PlaceView
from stepscope.server.web.answers import answer
from stepscope.server.web.routes.tensors import TheIndex, TheKey
from stepscope.server.web.state import TheJob

router = APIRouter(prefix="/api/jobs/{job}", tags=["tensors"])

WhichValue = Annotated[
    Of, Query(description="this step's value, that of the step before, or how much it has grown; `when` does not count")
]

_CELLS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "For each cell a float32 (little-endian, row by row), reduced over its finite values, NaN where there is "
            "none; then for each cell a byte: 1 a NaN inside, 2 +Inf, 4 -Inf"
        ),
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "X-Stepscope-Heatmap": {
                "description": "What the bytes are: JSON",
                "schema": {"$ref": f"#/components/schemas/{HeatmapHeader.__name__}"},
            }
        },
    }
}


@router.get("/histogram", response_model=HistogramView, operation_id="histogram")
async def histogram(
    job: TheJob,
    key: TheKey,
    of: WhichValue = "current",
    index: TheIndex = None,
    bins: Annotated[int, Query(ge=1, le=2000, description="at most")] = 60,
) -> Response:
    """How the values of a tensor, or of a part of it, are spread."""
    found = await job.live().look(key, HistogramQuestion(of, index, bins))
    return answer(HistogramView.model_validate(found))


@router.get("/heatmap", response_class=Response, responses=_CELLS, operation_id="heatmap")
async def heatmap(
    job: TheJob,
    key: TheKey,
    rows: Annotated[int, Query(ge=1, le=1024, description="of cells, at most")],
    columns: Annotated[int, Query(ge=1, le=2048, description="of cells, at most")],
    of: WhichValue = "current",
    index: TheIndex = None,
    reduce: Annotated[
        Reduction, Query(description="what a cell shows of its values; extreme: the one of the largest magnitude")
    ] = "mean",
) -> Response:
    """A tensor, or a part of it with at most two dimensions, drawn small."""
    found = await job.live().look(key, HeatmapQuestion(rows, columns, reduce, of, index))
    header = HeatmapHeader(
        dtype=found.dtype,
        step=found.step,
        shape=list(found.shape),
        rows=found.cells.shape[0],
        columns=found.cells.shape[1],
        low=found.low,
        high=found.high,
    )
    body = found.cells.astype("<f4", copy=False).tobytes() + found.flags.tobytes()
    headers = {"X-Stepscope-Heatmap": header.model_dump_json()}
    return Response(body, headers=headers, media_type="application/octet-stream")


@router.get("/place", response_model=PlaceView, operation_id="place")
async def place(
    job: TheJob,
    key: TheKey,
    what: Annotated[Sought, Query(description="max and min: of the finite values; inf: either infinity")],
    of: WhichValue = "current",
    index: TheIndex = None,
    after: Annotated[
        int | None, Query(ge=0, le=2**62, description="the first one behind this position in C order of the part")
    ] = None,
) -> Response:
    """Where something is: the first place behind `after`, and then from the start on."""
    return answer(PlaceView.model_validate(await job.live().look(key, PlaceQuestion(what, after, of, index))))


@router.get("/beyond", response_model=BeyondView, operation_id="beyond")
async def beyond(
    job: TheJob, key: TheKey, threshold: Annotated[float, Query(ge=0)], index: TheIndex = None
) -> Response:
    """How many elements have changed by more than a threshold since the step before, or in a way that is no number."""
    return answer(BeyondView.model_validate(await job.live().look(key, BeyondQuestion(threshold, index))))
