from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

LARGEST_PRIOR: int
LARGEST_WEIGHT: int

_Words = NDArray[np.uint64]

def count(columns: _Words, n: int, labels: _Words) -> NDArray[np.int64]: ...
def count_rows(rows: _Words, m: int, codes: NDArray[np.integer], classes: int) -> NDArray[np.int64]: ...

class _Source(Protocol):
    totals: NDArray[np.int64]
    def __len__(self) -> int: ...
    def cover(self, feature: int, negated: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def cover_last(self, feature: int, negated: bool) -> NDArray[np.int64]: ...

class Counts:
    def __init__(
        self,
        rows: _Words | _Source,
        columns: _Words | None,
        labels: _Words | None,
        first: NDArray[np.int64],
        exponent: Fraction,
        weights: Sequence[tuple[int, int]],
        negations: bool,
        prior: int,
    ) -> None: ...
    @property
    def uncovered(self) -> int: ...
    def draw(self, rng: Generator) -> tuple[int, bool, int]: ...
    def draw_label(self, rng: Generator) -> int: ...
    def draw_tail(self, length: int, rng: Generator) -> list[tuple[int, bool, int]]: ...
    def cover_rows(self, feature: int, negated: bool) -> None: ...
    def cover_last(self, feature: int, negated: bool) -> None: ...
