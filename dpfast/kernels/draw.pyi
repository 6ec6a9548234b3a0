import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

def below(n: ArrayLike, rng: Generator) -> NDArray[np.uint64]: ...
