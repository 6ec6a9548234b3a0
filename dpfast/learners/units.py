"""Persons: tables in which several rows are of one person, and claims that protect all of them.

Neighbouring tables differ in one person. "add-remove": all rows of a person are there or not. "replace": all rows of
a person become others, row for row; how many rows each person has is public, as the number of all rows is. Every row
is of one person, and whose it is does not change.

**Bounding.** Of each person at most k rows are kept, any k of them with equal chances, whoever the other persons are.

**Lemma.** A release that is (epsilon, delta)-DP for tables that differ in at most k rows (k rows replaced, or k
added), made of the kept rows, is (epsilon, delta)-DP for one person. Proof. Fix which rows are kept of all others,
and under "replace" also the places of those that are kept of the person that differs: their laws do not depend on
what differs. The kept tables then differ in at most k rows; the laws of the outcome are mixtures of such pairs with
the same weights, and the divergence of mixtures is at most the largest of the parts. It holds for curves of all kinds
(`accounting.costs`).

**Theorem (k rows).** For tables that differ in at most k rows, going from one to the other a row at a time, what
moves by s for one row moves by k s. So every learner is calibrated to k times the sensitivity, which for one claim
costs

    sums with Gaussian noise     k times sigma: mu of one row is that of one person / k
    draws of a range r           exponents / k; draws of many rounds: with x_nj what row j moves draw n by,
                                 sum_n (sum_j x_nj)^2 <= k sum_j sum_n x_nj^2 <= k^2 times the bound for one row
    counts with Laplace noise    k times the scale
    lists                        exponent / k: `dpfast.accounting.curves` counts what all rows that differ can move
                                 scores by, and its states are k times as large

For lists group privacy of the pair, (k e, d (e^(k e) - 1) / (e^e - 1)), is the other way; it leaves a smaller exponent
(tests/learners/test_units.py compares the two by number).

k = 1 costs nothing. Fewer rows of a person cost less noise and more rows: a mean of rows that are alike within a
person is best at k = 1, for the signal grows with the rows that are kept and the noise with k.
"""

from numbers import Integral
from typing import Any

import numpy as np

from dpfast import random
from dpfast.tables.arrow import Frame
from dpfast.tables.kept import Kept, KeptUnits
from dpfast.tables.labels import one_kind


def bounded_rows(units: Any, rows_per_unit: int, rng: np.random.Generator) -> np.ndarray | None:
    """Which rows are kept: bool, shape (n,); None if all are.

    Parameters
    ----------
    units : array_like, shape (n,)
        Whose each row is: numbers or texts.
    rows_per_unit : int, >= 1
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        For a row that is of nobody, and for units of several kinds.
    """
    ids = np.asarray(units)
    if ids.dtype.kind == "f" and isinstance(units, list | tuple) and all(isinstance(each, Integral) for each in units):
        ids = np.array(units, dtype=object)  # integers too far apart for one of numpy's types
    if ids.dtype.kind in "US" and isinstance(units, list | tuple) and ids.tolist() != list(units):
        ids = np.array(units, dtype=object)  # numpy's texts lose NUL characters at their ends
    if ids.ndim != 1 or not len(ids):
        raise ValueError(f"units must say whose each row is, one entry a row, got shape {ids.shape}")
    lacking = [each is None or each != each for each in ids] if ids.dtype.kind in "OfcmM" else []
    if isinstance(units, np.ma.MaskedArray):
        lacking = (np.ma.getmaskarray(units) | (ids != ids)).tolist()
    if any(lacking):
        raise ValueError(f"units must say whose each row is, and row {lacking.index(True)} has none")
    one_kind(ids if isinstance(units, np.ndarray) else units, "units")  # numpy would make one person of 1 and "1"
    if ids.dtype.kind == "O":
        kinds = {type(each) for each in ids}
        if len(kinds) > 1:
            raise ValueError(f"units must be of one kind, got {sorted(kind.__name__ for kind in kinds)}")
    person, sizes = np.unique(ids, return_inverse=True, return_counts=True)[1:]
    if sizes.max() <= rows_per_unit:
        return None
    shuffled = rng.permutation(len(ids))
    order = shuffled[np.argsort(person[shuffled], kind="stable")]  # persons one after another, each in a random order
    place = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.zeros(len(ids), bool)
    kept[order[place < rows_per_unit]] = True
    return kept


def own_generator(rng: np.random.Generator) -> np.random.Generator:
    """A generator for the choice of rows, so that a fit that is refused has drawn nothing of `rng`."""
    if random.is_reproducible(rng):
        return np.random.default_rng(np.random.SeedSequence(_seed_of(rng)))
    return random.default_rng()


def _seed_of(rng: np.random.Generator) -> int:
    state = np.frombuffer(repr(rng.bit_generator.state).encode(), np.uint8)
    return int.from_bytes(state.tobytes(), "little")


def picked(X: Any, y: Any, kept: np.ndarray | None, n: int) -> tuple[Any, Any]:
    """The rows of a table and its labels that are kept; refuses a table of another length."""
    for name, table in (("X", X), ("y", y)):
        rows = n if table is None else count_rows(table)
        if rows != n:
            raise ValueError(f"units must have an entry for each row: {n} entries, and {rows} rows of {name}")
    if kept is None:
        return X, y
    return _picked(X, kept), None if y is None else _picked(y, kept)


def units_of(table: Any, name: str) -> np.ndarray:
    """Return a number for each row of a frame, the same for rows of one unit, by the column of this name."""
    frame, kept = Frame(table), KeptUnits(name, Kept)
    if name not in frame.names:
        raise ValueError(f"units= names the column {name!r}, which the table lacks")
    kept.append(kept.read(frame.column(name)))
    return kept.whole()


def count_rows(table: Any) -> int:
    """How many rows a table of any kind has."""
    if isinstance(table, dict):
        return len(next(iter(table.values()))) if table else 0
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _picked(table: Any, kept: np.ndarray) -> Any:
    if isinstance(table, dict):
        return {name: _picked(column, kept) for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[np.flatnonzero(kept)]
    if hasattr(table, "num_rows") or (hasattr(table, "type") and hasattr(table, "take")):  # of Arrow
        return table.take(np.flatnonzero(kept))
    if isinstance(table, list | tuple):
        return [row for row, keep in zip(table, kept, strict=True) if keep]
    if hasattr(table, "tocsr"):
        return table.tocsr()[np.flatnonzero(kept)]
    if hasattr(table, "get_column"):  # of polars
        return table[np.flatnonzero(kept)]
    try:
        return table[kept]
    except TypeError:
        raise ValueError(
            f"a person has more than rows_per_unit rows, and a {type(table).__name__} cannot be bounded: leave out "
            "rows beforehand, by a choice that does not look at them"
        ) from None
