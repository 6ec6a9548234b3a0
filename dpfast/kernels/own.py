"""Arrays that a kernel object checks once and keeps: nobody else may change them afterwards."""

from typing import Any

import numpy as np


def own(array: Any, dtype: Any = None) -> np.ndarray:
    """Return a read-only, C-contiguous array of this type that no caller can write: the array itself, or a copy.

    It is the array itself only if that and all arrays that it is a view of are read-only; see also `frozen`.
    """
    made = np.require(array, dtype, ("C", "A"))
    if made is array or np.may_share_memory(made, array):
        if not writeable(made):
            return made
        made = made.copy()
    made.setflags(write=False)
    return made


def writeable(array: np.ndarray) -> bool:
    """Return whether the array, or one that it is a view of, can be written."""
    return any(each.flags.writeable for each in _below(array))


def frozen(array: np.ndarray) -> np.ndarray:
    """Return an array that its maker hands over, read-only as all arrays are that it is a view of: `own` keeps it."""
    for each in _below(array):
        each.setflags(write=False)
    return array


def _below(array):
    """The array, and those that it is a view of."""
    while isinstance(array, np.ndarray):
        yield array
        array = array.base
