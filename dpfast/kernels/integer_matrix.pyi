import numpy as np
from numpy.typing import NDArray

class IntegerMatrix:
    shape: tuple[int, int]
    def __init__(
        self, indptr: NDArray[np.integer], indices: NDArray[np.integer], values: NDArray, columns: int
    ) -> None: ...
    def products(self, w: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def sums(self, weights: NDArray[np.int64]) -> NDArray[np.int64]: ...
