from typing import Any

import numpy as np
from numpy.typing import NDArray

GRID_BITS: int
MOST_WEIGHT: int

class _Rows:
    n: int
    d: int
    bits: int
    watched: bool
    given: bytes
    @property
    def shape(self) -> tuple[int, int]: ...

class Dense(_Rows):
    def __init__(self, x: NDArray[Any]) -> None: ...

class Csr(_Rows):
    def __init__(self, indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any] | None, d: int) -> None: ...

class Packed(_Rows):
    def __init__(self, rows: NDArray[np.uint64], d: int) -> None: ...

def scales(rows: _Rows, constant: float = 0.0, inside: bool = True) -> NDArray[np.float64]: ...
def margins(
    rows: _Rows,
    scale: NDArray[np.float64],
    w: NDArray[np.float32],
    constant: float = 0.0,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]: ...
def add(
    total: NDArray[np.int64], rows: _Rows, scale: NDArray[np.float64], weights: NDArray[np.int32], constant: float = 0.0
) -> None: ...
def add_residuals(
    total: NDArray[np.int64],
    rows: _Rows,
    scale: NDArray[np.float64],
    w: NDArray[np.float32],
    labels: NDArray[np.uint8],
    limits: NDArray[np.int32],
    slope: float,
    odds: float,
    constant: float = 0.0,
) -> None: ...
def add_residuals_many(
    total: NDArray[np.int64],
    rows: _Rows,
    scale: NDArray[np.float64],
    w: NDArray[np.float32],
    labels: NDArray[np.uint16],
    limits: NDArray[np.int32],
    slope: float,
    odds: NDArray[np.float32],
    constant: float = 0.0,
) -> None: ...
def apart(
    rows: _Rows, scale: NDArray[np.float64], centre: NDArray[np.int32], constant: float = 0.0
) -> NDArray[np.int64]: ...
