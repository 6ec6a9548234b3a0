from typing import Literal

import numpy as np
from numpy.typing import NDArray

_Int64 = NDArray[np.int64]
_Int32 = NDArray[np.int32]
_Int8 = NDArray[np.int8]
_Words = NDArray[np.uint64]
_Scores = NDArray[np.int32] | NDArray[np.int64]
_Index = NDArray[np.int32] | NDArray[np.int64]
_Encoding = Literal["pm1", "01"]

def add_packed(
    scores: _Scores,
    rows: _Words,
    d: int,
    y: _Int8,
    index: _Int64 | None = None,
    *,
    encoding: _Encoding = "pm1",
    bound: int | None = None,
) -> None: ...
def add_csr(
    scores: _Scores,
    indptr: _Index,
    indices: _Index,
    data: _Int32 | None,
    y: _Int8,
    index: _Int64 | None = None,
    *,
    bound: int | None = None,
) -> None: ...
def add_grid(
    scores: _Int64, rows: _Int32, y: _Int8, index: _Int64 | None = None, *, bound: int | None = None
) -> None: ...

class SparseScores:
    @property
    def d(self) -> int: ...
    def __init__(self, d: int, keys: NDArray[np.uint32] | None = None, scores: _Int64 | None = None) -> None: ...
    def __len__(self) -> int: ...
    def add_csr(
        self, indptr: _Index, indices: _Index, data: _Int32 | None, y: _Int8, index: _Int64 | None = None
    ) -> None: ...
    def export(self) -> tuple[NDArray[np.uint32], _Int64]: ...

def votes_packed(rows: _Words, d: int, index: _Int64, count: _Int64, encoding: _Encoding = "pm1") -> _Int64: ...
def votes_csr(indptr: _Index, indices: _Index, data: _Int32 | None, index: _Int64, count: _Int64) -> _Int64: ...
def votes_grid(rows: _Int32, index: _Int64, count: _Int64) -> _Int64: ...
