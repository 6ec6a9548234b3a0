from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpfast.kernels.grid import to_grid as to_grid

_Words = NDArray[np.uint64]
_Scores = NDArray[np.int32] | NDArray[np.int64]
_Index = NDArray[np.int32] | NDArray[np.int64]
_Encoding = Literal["pm1", "01"]

def add_packed(
    scores: _Scores,
    rows: _Words,
    d: int,
    y: NDArray[np.int8],
    index: NDArray[np.int64] | None = None,
    *,
    encoding: _Encoding = "pm1",
    bound: int | None = None,
) -> None: ...
def add_csr(
    scores: _Scores,
    indptr: _Index,
    indices: _Index,
    data: NDArray[np.int32] | None,
    y: NDArray[np.int8],
    index: NDArray[np.int64] | None = None,
    *,
    bound: int | None = None,
) -> None: ...
def add_grid(
    scores: NDArray[np.int64],
    rows: NDArray[np.int32],
    y: NDArray[np.int8],
    index: NDArray[np.int64] | None = None,
    *,
    bound: int | None = None,
) -> None: ...

class SparseScores:
    @property
    def d(self) -> int: ...
    def __init__(
        self, d: int, keys: NDArray[np.uint32] | None = None, scores: NDArray[np.int64] | None = None
    ) -> None: ...
    def __len__(self) -> int: ...
    def add_csr(
        self,
        indptr: _Index,
        indices: _Index,
        data: NDArray[np.int32] | None,
        y: NDArray[np.int8],
        index: NDArray[np.int64] | None = None,
    ) -> None: ...
    def export(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...

def votes_packed(
    rows: _Words, d: int, index: NDArray[np.int64], count: NDArray[np.int64], encoding: _Encoding = "pm1"
) -> NDArray[np.int64]: ...
def votes_csr(
    indptr: _Index, indices: _Index, data: NDArray[np.int32] | None, index: NDArray[np.int64], count: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def votes_grid(rows: NDArray[np.int32], index: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]: ...
