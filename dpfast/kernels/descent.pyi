import numpy as np
from numpy.typing import ArrayLike, NDArray

class Groups:
    group: NDArray[np.int64]
    members: NDArray[np.float64]
    def __init__(self, group: NDArray[np.integer], tells: ArrayLike) -> None: ...
    def move(
        self,
        sums: NDArray[np.float64],
        rate: NDArray[np.float64],
        lasting: float,
        fresh: float,
        velocity: NDArray[np.float64],
        total: NDArray[np.float64],
    ) -> None: ...
    def shrink(
        self, total: NDArray[np.float64], noise: NDArray[np.float64], late: float, prior: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def times(
        self,
        rates: NDArray[np.float64],
        curved: NDArray[np.float64],
        signal: NDArray[np.float64],
        little: float,
        sampled: float,
        usual: float,
        slope: float,
        steep: float,
        most: float,
        share: float,
        least: float,
    ) -> NDArray[np.float64]: ...
