from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

_Int64 = NDArray[np.int64]
_Int32 = NDArray[np.int32]
_Int8 = NDArray[np.int8]
_Reals = NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int32]

class Losses:
    shape: tuple[int, int]
    def __init__(self, *args: object, **kwargs: object) -> None: ...  # raises: use dense, packed or csr
    def check(self) -> None: ...

def dense(values: _Reals, *, bits: int = 16, low: int = 0, high: int = 1, signs: _Int8 | None = None) -> Losses: ...
def packed(
    rows: NDArray[np.uint64], d: int, *, bits: int = 0, low: int = 0, high: int = 1, signs: _Int8 | None = None
) -> Losses: ...
def csr(
    indptr: _Int64 | _Int32,
    indices: _Int64 | _Int32,
    data: _Reals,
    d: int,
    *,
    bits: int = 16,
    low: int = 0,
    high: int = 1,
    signs: _Int8 | None = None,
) -> Losses: ...

class Weights:
    d: int
    paid: int
    def __init__(self, d: int, exponent: Fraction | float, *, mirrored: bool = False) -> None: ...
    def totals(self) -> _Int64: ...
    def draw(self, rng: Generator) -> int: ...
    def add(self, losses: Losses, row: int = 0) -> None: ...
    def play(
        self, losses: Losses, rng: Generator, start: int = 0, stop: int | None = None, out: _Int64 | None = None
    ) -> _Int64: ...
