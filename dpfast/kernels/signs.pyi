from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Words = NDArray[np.uint64]
_Index = NDArray[np.int32] | NDArray[np.int64]
_Real = TypeVar("_Real", np.float32, np.float64)

def matrix(d: int, m: int, key: int) -> _Words: ...
def project_csr(
    indptr: _Index,
    indices: _Index,
    data: NDArray[np.float32] | NDArray[np.float64] | None,
    d: int,
    m: int,
    key: int,
    *,
    matrix: _Words | None = None,
) -> NDArray[np.float32] | NDArray[np.float64]: ...
def project_dense(X: NDArray[_Real], m: int, key: int, *, matrix: _Words | None = None) -> NDArray[_Real]: ...
def project_packed(rows: _Words, d: int, m: int, key: int, *, matrix: _Words | None = None) -> NDArray[np.float32]: ...
def lift(v: ArrayLike, d: int, key: int) -> NDArray[np.float64]: ...
