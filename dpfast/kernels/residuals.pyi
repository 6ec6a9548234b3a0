import numpy as np

from dpfast.kernels.codes import Columns

def sums(
    columns: Columns, table: np.ndarray, labels: np.ndarray, limits: np.ndarray, step: float, constants: np.ndarray
) -> np.ndarray: ...
