from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS: int
LEAST_POWER: int
MOST_POWER: int
DATES: int
YEARS: int
SURVEYED: int
ZERO: int
MISSING: int
PLACES: int

def of_numbers(numbers: NDArray[np.float64]) -> NDArray[np.int64]: ...
def compact(codes: NDArray[np.int64], places: int = ...) -> tuple[NDArray[np.signedinteger[Any]], int]: ...
def expand(cells: NDArray[np.signedinteger[Any]], places: int = ...) -> NDArray[np.int64]: ...
def survey(cells: NDArray[np.signedinteger[Any]], years: NDArray[np.uint8], places: int = ...) -> NDArray[np.int64]: ...
def count(
    cells: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.int64],
    values: NDArray[np.uint16],
    size: int,
    of_words: NDArray[np.uint16] | None = ...,
    places: int = ...,
) -> NDArray[np.int64]: ...
def take(
    cells: NDArray[np.signedinteger[Any]],
    starts: NDArray[np.int64],
    values: NDArray[np.uint16],
    of_words: NDArray[np.uint16] | None = ...,
    wide: bool = ...,
    places: int = ...,
) -> NDArray[Any]: ...
