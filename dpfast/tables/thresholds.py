"""Labels that are numbers, as classes by public thresholds: "at most 10", "above 10 to 20", "above 20"."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.columns import is_number, text_of
from dpfast.tables.forms import NUMBER, number_of
from dpfast.tables.objects import plain

_TEXT = pa.large_string()


def read_thresholds(above: Any) -> tuple[float, ...]:
    """Return thresholds as increasing floats; refuse anything but finite numbers, each above the one before."""
    values = (above,) if is_number(above) else tuple(above) if isinstance(above, Iterable) else ()
    if not values or isinstance(above, str) or not all(map(is_number, values)) or [*values] != sorted({*values}):
        raise ValueError(f"above must be a number, or increasing numbers, got {above!r}")
    return tuple(map(float, values))


def threshold_classes(above: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the classes that thresholds make, from low to high."""
    texts = [*map(text_of, above)]
    between = [f"above {low} to {high}" for low, high in pairwise(texts)]
    return f"at most {texts[0]}", *between, f"above {texts[-1]}"


def classes_above(identities: Sequence[str], above: Sequence[float]) -> list[str | None]:
    """Return the class of each label, given its identity; None for one that is no number.

    A name of a class stands for itself, so that labels may be numbers or classes.
    """
    names = threshold_classes(above)
    texts = [plain(text_of(each)).strip() for each in identities]
    formed = pc.match_substring_regex(pa.array(texts, _TEXT), NUMBER).to_pylist() if texts else []
    sides: list[str | None] = []
    for text, has_form in zip(texts, formed, strict=True):
        value = number_of(text) if has_form else _float(text)
        at = None if math.isnan(value) else int(np.searchsorted(above, value))
        sides.append(text if text in names else None if at is None else names[at])
    return sides


def _float(text):
    try:
        return float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return math.nan
