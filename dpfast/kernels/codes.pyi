from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MOST_SIZE: Final[int]

class Columns:
    n: int
    columns: tuple[NDArray[Any], ...]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    def __init__(self, columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> None: ...
    @property
    def p(self) -> int: ...
    def part(self, start: int, stop: int) -> Columns: ...

def counts(
    columns: Columns, labels: NDArray[Any], classes: int, mask: NDArray[np.uint64] | None = None
) -> NDArray[np.int64]: ...
def sums(columns: Columns, weights: NDArray[np.int32]) -> NDArray[np.int64]: ...
def margins(columns: Columns, table: NDArray[np.int32]) -> NDArray[np.int32]: ...
def match(columns: Columns, j: int, low: int, high: int) -> NDArray[np.uint64]: ...
