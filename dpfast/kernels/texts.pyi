from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD: int
MISSING: int
NUMBER: int
DAY: int
NAMED: int
FORM: int

def pack(marks: Iterable[str]) -> NDArray[np.uint64]: ...
def kinds(
    text: NDArray[np.uint8],
    ends: NDArray[np.int64],
    present: NDArray[np.bool_] | None,
    marks: NDArray[np.uint64],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], bool]: ...
