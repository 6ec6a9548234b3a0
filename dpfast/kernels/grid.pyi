import numpy as np
from numpy.typing import NDArray

def to_grid(x: NDArray[np.float32] | NDArray[np.float64], bits: int) -> tuple[NDArray[np.int32], float, float]: ...
