import numpy as np
from numpy.typing import NDArray

MOST_LIMIT: int

_Scores = NDArray[np.int32] | NDArray[np.float32]

def two(
    scores: _Scores,
    labels: NDArray[np.uint8],
    limits: NDArray[np.int32],
    step: float = ...,
    constant: float = ...,
    by_margin: bool = ...,
) -> NDArray[np.int32]: ...
def many(
    scores: _Scores, labels: NDArray[np.uint16], limits: NDArray[np.int32], step: float, constants: NDArray[np.float32]
) -> NDArray[np.int32]: ...
