"""Small tables and hostile neighbours of them, for the checks of private learners."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpfast.tables.columns import Boolean, Category, Numeric
from dpfast.tables.schema import Label, Schema

ROWS = 24
SCHEMA = Schema(
    [
        Numeric("age", 0, 100, edges=8),
        Numeric("pay", 0, 50, edges=4, nullable=True),
        Category("job", ("clerk", "smith"), nullable=True),
        Boolean("smokes"),
    ],
    label=Label("buys", (0, 1)),
)
_OLD, _YOUNG = [95.0, 45.0, "clerk", True], [5.0, float("nan"), "baker", False]
_ODD = [1e308, -1e308, "a word that no other row has", False]


class Pair(NamedTuple):
    """A table and a neighbour as arguments of `fit`, and parameters for both."""

    what: str
    table: dict[str, Any]
    neighbor: dict[str, Any]
    parameters: dict[str, Any] = {}  # noqa: RUF012 - never changed in place


def bits(n: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of all kinds of 0 and 1, the last one all 1, and labels."""
    X = (np.arange(n)[:, np.newaxis] >> np.arange(4) & 1).astype(np.float64)
    y = np.arange(n) % 3 % 2
    X[-1], y[-1] = 1, 1
    return X, y


def frame(n: int = ROWS) -> Any:
    """Return a table of numbers, words and missing cells that fits `SCHEMA`, with labels."""
    k = np.arange(n)
    import pandas as pd  # no dependency of dpfast

    table = pd.DataFrame(
        {
            "age": (k * 37 % 100).astype(float),
            "pay": np.where(k % 5 == 0, np.nan, k * 13 % 50),
            "job": np.array(["clerk", "smith", "baker"], dtype=object)[k % 3],
            "smokes": (k % 4 < 2).astype(object),
            "buys": k % 3 % 2,
        }
    )
    table.loc[n - 1] = [*_OLD, 1]
    return table.astype({"smokes": bool, "buys": np.int64})


def neighbors(relation: str, units: bool, schema: bool) -> Iterator[Pair]:
    """Yield tables with neighbours under a relation, for learners that take units, and that take a schema.

    The last rows, one or both of a person, are replaced by their opposites, by zeros and by rows of the other label, or
    are left out. The other rows are of all kinds, or all alike.
    """
    for rows in (1, 2) if units else (1,):
        for what, (X, y), others in _of_bits(relation, rows):
            for other in others:
                before, after = _arguments(X, y, rows), _arguments(other[0], other[1], rows)
                yield Pair(f"{what}, one {'row' if rows == 1 else 'person of two rows'}", before, after)
        if schema:
            for declared in (SCHEMA, None):
                what = f"frame {'with' if declared else 'without'} a schema, {rows} of its rows"
                for other in _of_frame(relation, rows):
                    before, after = (
                        _arguments(each.drop(columns="buys"), each["buys"], rows) for each in (frame(), other)
                    )
                    yield Pair(what, before, after, {"schema": declared})


def _arguments(X: Any, y: Any, rows: int) -> dict[str, Any]:
    """Return the arguments of `fit`, with units of two rows each if `rows` is 2."""
    units = {} if rows == 1 else {"units": np.arange(len(y)) // 2, "rows_per_unit": 2}
    return {"X": X, "y": y, "classes": [0, 1], **units}


def _of_bits(relation, rows):
    """Yield arrays with neighbours of which the last rows differ."""
    mixed, labels = bits()
    mixed[-rows:], labels[-rows:] = 1, 1
    lonely = np.zeros_like(labels)
    lonely[-rows:] = 1
    for what, X, y in (("bits", mixed, labels), ("rows alike", np.ones_like(mixed), lonely)):
        if relation == "add-remove":
            yield what, (X, y), [(X[:-rows], y[:-rows])]
            continue
        others = []
        for image, label in ((1 - X[-rows:], 0), (1 - X[-rows:], 1), (X[-rows:], 0)):
            others.append((np.append(X[:-rows], image, axis=0), np.append(y[:-rows], np.full(rows, label))))
        yield what, (X, y), others


def _of_frame(relation, rows):
    """Yield neighbours of `frame()`."""
    if relation == "add-remove":
        yield frame().iloc[:-rows]
        return
    for cells in ([*_YOUNG, 0], [*_ODD, 0]):
        other = frame().astype({"smokes": object})
        for k in range(rows):
            other.loc[ROWS - 1 - k] = cells
        yield other.astype({"smokes": bool, "buys": np.int64})
