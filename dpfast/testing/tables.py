"""Small tables and hostile neighbours of them, for the checks of private learners."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dpfast.tables.columns import Boolean, Category, Numeric
from dpfast.tables.schema import Label, Schema

ROWS, MOST_ROWS = 24, 3000  # of the tables, and of random ones
WIDE = 40  # columns of the widest table
MANY = 36_000  # of a table whose larger class has more rows than int16 can count
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


class Case(NamedTuple):
    """A table and neighbours of it as arguments of `fit`, and parameters for all of them."""

    what: str
    table: dict[str, Any]
    neighbors: list[dict[str, Any]]
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


def cases(relation: str, units: bool, unlabelled: bool, schema: bool, several: bool = False) -> Iterator[Case]:
    """Yield tables with neighbours under a relation.

    For learners that take units, rows without a label, a schema, and several classes. The last rows, one or both of a
    person, are replaced by their opposites, by zeros, by rows of another label and of none, or are left out. The other
    rows are of all kinds, or all alike, or such that all counts are equal.
    """
    for rows in (1, 2) if units else (1,):
        who = "row" if rows == 1 else "person of two rows"
        for what, table, others in _of_arrays(relation, rows, several, unlabelled):
            k = int(max(table[1].max(), 1)) + 1
            first, *rest = (_arguments(X, y, rows, [*range(k)]) for X, y in (table, *others))
            yield Case(f"{what}, one {who}", first, rest)
        if schema:
            for declared in (SCHEMA, None):
                what = f"frame {'with' if declared else 'without'} a schema, {rows} of its rows"
                first, *rest = (
                    _arguments(each.drop(columns="buys"), each["buys"], rows)
                    for each in (frame(), *_of_frame(relation, rows))
                )
                yield Case(what, first, rest, {"schema": declared})


def _arguments(X: Any, y: Any, rows: int, classes: Any = (0, 1)) -> dict[str, Any]:
    """Return the arguments of `fit`, with units of two rows each if `rows` is 2."""
    units = {} if rows == 1 else {"units": np.arange(len(y)) // 2, "rows_per_unit": 2}
    return {"X": X, "y": y, "classes": [*classes], **units}


def _of_arrays(relation, rows, several, unlabelled):
    """Yield names, arrays with labels, and neighbours of which the last rows differ."""
    mixed, labels = bits()
    mixed[-rows:], labels[-rows:] = 1, 1
    lonely = np.zeros_like(labels)
    lonely[-rows:] = 1
    yield (
        "bits",
        (mixed, labels),
        _changed(relation, rows, mixed, labels, [(1 - mixed[-1], 0), (1 - mixed[-1], 1), (mixed[-1], 0)]),
    )
    if unlabelled and relation == "replace":
        some = labels.astype(np.float64)
        none = (mixed[-1], np.nan), (1 - mixed[-1], np.nan)
        yield "bits and a label less", (mixed, some), _changed(relation, rows, mixed, some, none)
    alike = np.ones_like(mixed)
    yield (
        "rows alike",
        (alike, lonely),
        _changed(relation, rows, alike, lonely, [(0 * alike[-1], 0), (0 * alike[-1], 1), (alike[-1], 0)]),
    )
    for k in (2, 3) if several else (2,):
        for image in (0, 1) if k == 2 else (1,):
            for label in range(k):
                X, y = tied(k, image, label, rows)
                changes = [(1 - image, label), *((image, other) for other in range(k) if other != label)]
                changes += [(1 - image, (label + 1) % k)]
                yield f"{k} classes tied", (X, y), _changed(relation, rows, X, y, changes)
    for k in (2, 3, 5) if several else (2,):
        for label in (0, k - 1):
            X, y = numbers(k)
            for row in (np.array([1e3, 0, 0, 0]), np.full(4, 1e3)):
                X, y = X.copy(), y.copy()
                X[-rows:], y[-rows:] = row, label
                changes = [(-row, label), (-row, (label + 1) % k), (row, (label + 1) % k)]
                yield f"opposite rows, {k} classes", (X, y), _changed(relation, rows, X, y, changes)


def wide(relation: str) -> Case:
    """Return a table of many columns, and a neighbour of which the last row is another in all of them."""
    X, y = np.ones((ROWS, WIDE)), bits()[1]
    others = _changed(relation, 1, X, y, [(0 * X[-1], 0)])
    return Case(f"{WIDE} columns", _arguments(X, y, 1), [_arguments(rows, labels, 1) for rows, labels in others])


def ladder(relation: str) -> Iterator[Case]:
    """Yield small tables, each with the next one as its neighbour: a class and all codes have 0, 1, ... of the rows.

    Whatever is decided by a count, or a share, that is not released turns on one of the rungs.
    """

    def table(k: int) -> dict[str, Any]:
        y = np.arange(ROWS) < k if relation == "replace" else np.arange(k + 2) >= 2
        return _arguments(np.repeat(y[:, np.newaxis], 4, axis=1).astype(np.float64), y.astype(np.int64), 1)

    for k in range(ROWS):
        few, more = table(k), table(k + 1)
        first, other = (few, more) if relation == "replace" else (more, few)
        what = f"{k} and {k + 1} rows of a class and of each code"
        yield Case(what, first, [other])


def _changed(relation, rows, X, y, changes):
    """Return arrays without the last rows, or with others in their place: by their entries and their label."""
    if relation == "add-remove":
        return [(X[:-rows], y[:-rows])]
    entries = [np.broadcast_to(np.asarray(row, np.float64), (rows, X.shape[1])) for row, _ in changes]
    return [
        (np.append(X[:-rows], each, axis=0), np.append(y[:-rows], np.full(rows, label)))
        for each, (_, label) in zip(entries, changes, strict=True)
    ]


def tied(k: int, image: int, label: int, rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which two are of each kind and each of k classes; the last ones are all of `image` and `label`."""
    kinds = np.arange(16)[:, np.newaxis] >> np.arange(4) & 1
    X, y = np.tile(kinds, (2 * k, 1)).astype(np.float64), np.repeat(np.arange(k), 32)
    last = (image == X).all(axis=1) & (y == label)  # type: ignore[attr-defined]
    order = np.argsort(last, kind="stable")
    return X[order], y[order]


def numbers(k: int = 2, n: int = ROWS, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of irregular numbers of both signs, and labels of k classes that follow from the first column."""
    X = np.sin(np.arange(1.0, n * d + 1)).reshape(n, d) * 3
    return X, np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, k) / k))


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


def random_cases(relation: str, schema: bool, several: bool, rng: np.random.Generator) -> Iterator[Case]:
    """Yield random tables, of up to `MOST_ROWS` rows and 12 columns, with neighbours under a relation."""
    for k in range(24):
        n, d = int(rng.choice([30, 300, 1100, MOST_ROWS])), int(rng.integers(1, 13))
        classes = int(rng.integers(2, 9)) if several else 2
        kind = ("normal", "bits", "whole", "heavy", "scores", "alike")[k % 6]
        X, y = _random_rows(kind, n + 1, d, rng), rng.integers(classes, size=n + 1)
        if rng.integers(2):  # labels that follow from the rows
            y[:n] = np.digitize(X[:n, 0], np.quantile(X[:n, 0], np.arange(1, classes) / classes))
        before, after = (X[:-1], y[:-1]), (np.append(X[:-2], X[-1:], axis=0), np.append(y[:-2], y[-1:]))
        if relation == "add-remove":
            after = (X[:-2], y[:-2])
        elif k % 2:
            after[0][-1] = -X[-2]
        what = f"{n} random rows ({kind}), {d} columns, {classes} classes"
        yield Case(what, _arguments(*before, 1, range(classes)), [_arguments(*after, 1, range(classes))])
        if schema and k % 4 == 0:
            yield Case(f"frame, {what}", _as_frame(*before, classes), [_as_frame(*after, classes)])


def _random_rows(kind, n, d, rng):
    if kind == "bits":
        return rng.integers(2, size=(n, d)).astype(np.float64)
    if kind == "whole":
        return rng.integers(-50, 50, size=(n, d)).astype(np.float64)
    if kind == "heavy":
        return np.clip(rng.standard_cauchy(size=(n, d)), -1e6, 1e6)
    if kind == "scores":
        return rng.random(size=(n, d))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    return np.where(np.arange(n)[:, np.newaxis] < n - 3, X[:1], X) if kind == "alike" else X


def _as_frame(X, y, classes):
    """Return arguments with rows as a frame, whose first column is words, some of them rare."""
    import pandas as pd  # no dependency of dpfast

    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    table["c0"] = [f"w{abs(int(value * 3)) % 40}" for value in X[:, 0]]
    return _arguments(table, y, 1, range(classes))
