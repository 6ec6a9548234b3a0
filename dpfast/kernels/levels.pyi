from fractions import Fraction

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

_Scores = NDArray[np.int8] | NDArray[np.int16] | NDArray[np.int32] | NDArray[np.int64]

def sample(
    scores: _Scores, exponent: Fraction | float, m: int, rng: Generator, *, mirrored: bool = False, zeros: int = 0
) -> NDArray[np.int64]: ...
def draw(scores: _Scores, exponent: Fraction | float, rng: Generator, *, mirrored: bool = False) -> int: ...
def draw_counted(counts: NDArray[np.uint64], exponent: Fraction | float, rng: Generator) -> tuple[int, int]: ...
