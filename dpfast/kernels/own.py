"""Arrays that a kernel object checks once and keeps: nobody else may change them afterwards."""

from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any

import numpy as np


def of_64_bits(kernel: Callable) -> Callable:
    """Return a kernel that refuses integers of more than 64 bits by a ValueError, as it refuses all other values."""

    @wraps(kernel)
    def refusing(*arguments: Any, **keywords: Any) -> Any:
        try:
            return kernel(*arguments, **keywords)
        except OverflowError as error:
            raise ValueError(f"an integer of {kernel.__name__} is too large or too small: {error}") from None

    return refusing


def given(name: str, array: Any) -> np.ndarray:
    """Return an array that a kernel is given; refuse what is none."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be an ndarray, got {type(array).__name__}")
    return array


def length(name: str, value: Any) -> int:
    """Return a number of rows or columns of an array; refuse what is none."""
    number = index(value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{name} must lie in [0, 2**63), got {number}")
    return number


@of_64_bits
def own(array: Any, dtype: Any = None) -> np.ndarray:
    """Return a read-only, C-contiguous array of this type that no caller can write: the array itself, or a copy.

    It is the array itself only if that and all arrays that it is a view of are read-only; see also `frozen`.
    """
    plain = np.asarray(array)  # no subclass, whose methods may do anything
    flags = plain.flags
    suits = flags.c_contiguous and flags.aligned and (dtype is None or plain.dtype == dtype)
    owned = plain if suits else np.require(plain, dtype, ("C", "A"))
    if owned is plain or np.may_share_memory(owned, plain):
        if not writeable(owned):
            return owned
        owned = owned.copy()
    owned.setflags(write=False)
    return owned


def own_indices(name: str, array: Any) -> np.ndarray:
    """Return `own` of an array of integers, which a kernel checks and then follows; refuse any other value."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be an ndarray of integers, got {kind}")
    return own(array)


def writeable(array: np.ndarray) -> bool:
    """Return whether the array, or one that it is a view of, can be written."""
    each: Any = array
    while isinstance(each, np.ndarray):
        if each.flags.writeable:
            return True
        each = each.base
    return False


def frozen(array: np.ndarray) -> np.ndarray:
    """Return an array that its maker hands over, read-only as all arrays are that it is a view of: `own` keeps it."""
    each: Any = array
    while isinstance(each, np.ndarray):
        each.setflags(write=False)
        each = each.base
    return array
