from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DEEPEST: int

def leaves(
    columns: Sequence[NDArray[np.uint8]], asked: NDArray[np.uint32], threshold: NDArray[np.uint8]
) -> NDArray[np.uint8]: ...
def thresholds(
    columns: Sequence[NDArray[np.uint8]], asked: NDArray[np.uint32], quantile: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]: ...
