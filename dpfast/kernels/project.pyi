import numpy as np
from numpy.typing import NDArray

def capped_scaling(
    log_weights: NDArray[np.float64], density: float, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]: ...
