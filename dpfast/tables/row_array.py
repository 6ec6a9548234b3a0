"""Arrays of rows whose products with a vector or matrix are computed for each row alone.

A product by BLAS depends in its last bits on how many rows there are, so that one row removed could move the scores of
all others across a threshold. Rows that are given to a question of a learner are such an array.
"""

import math
from typing import Any

import numpy as np

from dpfast.kernels import reals


class RowArray(np.ndarray):
    """Array of shape (n, d) whose products ``rows @ w`` are those of `dpfast.kernels.reals.products`, in float64.

    Other products, such as sums over rows with real weights, are refused: they are not exact. Integers have the usual
    products. What NumPy computes from such rows is such an array, too.
    """

    turned = False

    @property
    def T(self) -> Any:
        return np.asarray(self).T.view(_TurnedArray)

    def transpose(self, *axes: Any) -> Any:
        return np.asarray(self).transpose(*axes).view(_TurnedArray)

    def toarray(self) -> np.ndarray:
        """Return the rows as an array of NumPy's, as sparse rows and those of a `BitMatrix` do."""
        return np.asarray(self)

    def dot(self, other: Any, out: Any = None) -> Any:
        return _product(self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if ufunc.signature is not None:
            if ufunc is not np.matmul:
                raise TypeError(_REFUSAL)
            return _product(*inputs)
        plain: list[Any] = [_plain(each) for each in inputs]
        if method == "reduce":  # the order of a sum follows from the layout, which a single row has not
            plain = [
                np.ascontiguousarray(each) if isinstance(each, np.ndarray) and each.ndim else each for each in plain
            ]
        if out:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*plain, **options)
        if out:
            return out[0] if len(out) == 1 else out
        if isinstance(result, tuple):
            return tuple(_viewed(each, type(self)) for each in result)
        return _viewed(result, type(self))

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        if function is np.dot:
            return _product(*arguments)
        if function in _PRODUCTS:
            raise TypeError(_REFUSAL)
        return super().__array_function__(function, types, arguments, named)


class _TurnedArray(RowArray):
    """Rows as columns, whose products are sums over rows."""

    turned = True


_REFUSAL = (
    "rows @ w is the only product of rows of real numbers with others: it is computed for each row alone. "
    "For sums over rows with weights use UnitRows, or rows.clipped_sum"
)
_PRODUCTS = {np.inner, np.vdot, np.tensordot, np.einsum, np.outer, np.kron, np.cov, np.corrcoef, np.linalg.multi_dot}


def _product(rows: Any, other: Any) -> Any:
    """Return rows @ other, each row by itself; refuse products that depend on several rows, unless of integers."""
    left, right = np.asarray(rows), np.asarray(other)
    if left.dtype.kind in "biu" and right.dtype.kind in "biu":
        return left @ right
    if not isinstance(rows, RowArray) or isinstance(other, RowArray) or rows.turned or left.ndim != 2:
        raise TypeError(_REFUSAL)
    if right.ndim == 1:
        return reals.products(left, right)
    columns = right.reshape(len(right), math.prod(right.shape[1:]))
    product = np.empty((len(left), columns.shape[1]))
    for k, column in enumerate(columns.T):
        product[:, k] = reals.products(left, column)
    return product.view(RowArray)


def by_row(X: Any) -> Any:
    """Return dense rows as a `RowArray`, and others as they are."""
    return X.view(RowArray) if isinstance(X, np.ndarray) else X


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, RowArray) else value


def _viewed(value: Any, kind: type) -> Any:
    return value.view(kind) if isinstance(value, np.ndarray) and value.ndim else value
