from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

def discrete_laplace(scale: Fraction | float, size: int, rng: Generator) -> NDArray[np.int64]: ...
def discrete_gaussian(sigma: Fraction | float, size: int, rng: Generator) -> NDArray[np.int64]: ...
