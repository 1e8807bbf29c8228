from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

_Array = NDArray[Any]
_Pairs = Sequence[tuple[float, float]]

def measure_one(x: _Array, format: str, ranges: _Pairs, tolerances: _Pairs, threads: int, /) -> Any: ...
def measure_two(
    x: _Array, x_format: str, p: _Array, p_format: str, ranges: _Pairs, tolerances: _Pairs, threads: int, /
) -> Any: ...
def compare(
    x: _Array, x_format: str, p: _Array, p_format: str, ranges: _Pairs, tolerances: _Pairs, threads: int, /
) -> Any: ...
def instruction_sets() -> list[str]: ...
def choose(name: str, /) -> None: ...
