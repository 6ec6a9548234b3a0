from typing import Any

import numpy as np
from numpy.typing import ArrayLike

MOST: int

def count_below(x: np.ndarray, edges: ArrayLike, missing: int, dtype: Any) -> np.ndarray: ...
