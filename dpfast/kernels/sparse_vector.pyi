from fractions import Fraction

from numpy.random import Generator
from numpy.typing import ArrayLike

_Pending = tuple[int, int, bool]

class Tests:
    def __init__(
        self, threshold: int, scale: Fraction | float, pending: _Pending = (0, 0, False), *, one_sided: bool = False
    ) -> None: ...
    def test(self, count: int, rng: Generator) -> bool: ...
    def run(self, counts: ArrayLike, lengths: ArrayLike, rng: Generator) -> int | None: ...
    def state(self) -> tuple[int, _Pending]: ...
