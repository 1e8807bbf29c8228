"""The part of a job that shows tensors in small: histograms and heat maps, worked out next to the training."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from stepscope.client.http import Http
from stepscope.client.nodes import Node, tensor_key
from stepscope.core.looks import Heatmap, Histogram, Of, Reduction

_HISTOGRAM: TypeAdapter[Histogram] = TypeAdapter(Histogram)


class Pictures:
    """Base of `Job`."""

    _http: Http
    _path: str

    def histogram(
        self,
        name: str | Node,
        slot: int = 0,
        of: Of = "current",
        index: str | None = None,
        bins: int = 60,
        input: int | None = None,
        graph: str | None = None,
    ) -> Histogram:
        """How the finite values of an output or, with `input`, of what went in there are spread, in at most `bins`.

        of: this step's value, the "previous" one, or the "difference", current - previous, which never overflows.
        index: only this part, in Python's slice syntax: "0, :, 3:5". Raises BadRequest where it does not fit.
        """
        params = {**tensor_key(name, slot, input, graph), "of": of, "index": index, "bins": bins}
        return _HISTOGRAM.validate_python(self._http.get(f"{self._path}/histogram", **params))

    def heatmap(
        self,
        name: str | Node,
        slot: int = 0,
        of: Of = "current",
        index: str | None = None,
        rows: int = 512,
        columns: int = 512,
        reduce: Reduction = "mean",
        input: int | None = None,
        graph: str | None = None,
    ) -> Heatmap:
        """A tensor, or a part of it with at most two dimensions, in at most `rows` by `columns` cells.

        of, index: as for `histogram`. reduce: what a cell shows of its finite values; "extreme" is the one of the
        largest magnitude.
        """
        params: dict[str, Any] = {**tensor_key(name, slot, input, graph), "of": of, "index": index}
        with self._http.stream(
            f"{self._path}/heatmap", **params, rows=rows, columns=columns, reduce=reduce
        ) as response:
            header = json.loads(response.headers["x-stepscope-heatmap"])
            body = response.read()
        shape = header["rows"], header["columns"]
        size = shape[0] * shape[1]
        return Heatmap(
            dtype=header["dtype"],
            step=header["step"],
            shape=tuple(header["shape"]),
            low=float(header["low"]),
            high=float(header["high"]),
            cells=np.frombuffer(body, "<f4", size).reshape(shape).astype(np.float32, copy=False),
            flags=np.frombuffer(body, np.uint8, size, 4 * size).reshape(shape),
        )
