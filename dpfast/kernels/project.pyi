import numpy as np
from numpy.typing import NDArray

def capped_scaling(log_weights: NDArray[np.float64], density: float) -> NDArray[np.float64]: ...
