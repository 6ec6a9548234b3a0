"""Arrays that a kernel object checks once and keeps: nobody else may change them afterwards."""

from typing import Any

import numpy as np


def own(array: Any, dtype: Any = None) -> np.ndarray:
    """Return an aligned, C-contiguous array of this type that no caller can write: the array itself, or a copy.

    It is the array itself only if that and all arrays that it is a view of are read-only.
    """
    made = np.require(array, dtype, ("C", "A"))
    if not np.may_share_memory(made, array):
        return made
    at = made
    while isinstance(at, np.ndarray):
        if at.flags.writeable:
            return made.copy()
        at = at.base
    return made
