"""Persons as privacy unit: tables with several rows per person, and claims that protect all of them.

Neighbouring tables differ in one person. Under "add-remove" all rows of a person are present or absent. Under "replace"
all rows of a person are replaced, each by another row; the number of rows of each person is public, like the number of
all rows. Every row belongs to one person, which does not change.

**Bounding.** At most k rows of each person are kept, chosen uniformly and independently of the other persons.

**Lemma.** A release of the kept rows that is (epsilon, delta)-DP for tables that differ in at most k rows (k rows
replaced, or k added) is (epsilon, delta)-DP for one person. Proof. Fix which rows of all other persons are kept, and
under "replace" also the positions of the kept rows of the person that differs: the distribution of these choices does
not depend on the values that differ. The kept tables then differ in at most k rows. The distributions of the outcome
are mixtures of such pairs with the same weights, and the divergence of mixtures is at most the largest divergence of
their components. The lemma holds for curves of all kinds (`accounting.costs`).

**Theorem (k rows).** Let two tables differ in at most k rows. Changing one row at a time shows that a value of
sensitivity s for one row has sensitivity at most k s. So every learner is calibrated to k times the sensitivity; for
one claim this requires

    sums with Gaussian noise     k times sigma: mu of one row is that of one person / k
    draws of a range r           exponents / k; draws of many rounds: with x_nj what row j moves draw n by,
                                 sum_n (sum_j x_nj)^2 <= k sum_j sum_n x_nj^2 <= k^2 times the bound for one row
    counts with Laplace noise    k times the scale
    lists                        exponent / k: `dpfast.accounting.curves` counts what all rows that differ can move
                                 scores by, and its states are k times as large

For lists, group privacy of the pair, (k e, d (e^(k e) - 1) / (e^e - 1)), is an alternative, but it requires a smaller
exponent (tests/learners/test_units.py compares the two numerically).

The case k = 1 costs nothing. A smaller k needs less noise but keeps fewer rows. For a mean of rows that are alike
within a person k = 1 is best, since the signal grows with the number of kept rows and the noise with k.
"""

from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast import random
from dpfast.parts.blocks import digest
from dpfast.parts.engine import EngineLost
from dpfast.parts.sources import is_dask
from dpfast.tables.arrow import Frame, distinct
from dpfast.tables.kept import Kept, KeptUnits
from dpfast.tables.labels import one_kind


def bounded_rows(units: Any, rows_per_unit: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return a mask of the rows to keep as bool, shape (n,), or None if all are kept.

    Parameters
    ----------
    units : array_like, shape (n,)
        The person of each row, as numbers or texts.
    rows_per_unit : int, >= 1
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If a row has no person, or if the entries are of several types.
    """
    ids = np.asarray(units)
    if ids.dtype.kind == "f" and isinstance(units, list | tuple) and all(isinstance(each, Integral) for each in units):
        ids = np.array(units, dtype=object)  # integers too far apart for any of numpy's types
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
    order = shuffled[np.argsort(person[shuffled], kind="stable")]  # by person, each in random order
    place = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.zeros(len(ids), bool)
    kept[order[place < rows_per_unit]] = True
    return kept


def own_generator(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator for the choice of rows, so that a fit that is refused draws nothing from `rng`."""
    if random.is_reproducible(rng):
        return np.random.default_rng(np.random.SeedSequence(_seed_of(rng)))
    return random.default_rng()


def _seed_of(rng: np.random.Generator) -> int:
    state = np.frombuffer(repr(rng.bit_generator.state).encode(), np.uint8)
    return int.from_bytes(state.tobytes(), "little")


def picked(X: Any, y: Any, kept: np.ndarray | None, n: int) -> tuple[Any, Any]:
    """Return the kept rows of a table and its labels; refuse a table of another length."""
    for name, table in (("X", X), ("y", y)):
        rows = n if table is None else count_rows(table)
        if rows != n:
            raise ValueError(f"units must have an entry for each row: {n} entries, and {rows} rows of {name}")
    if kept is None:
        return X, y
    return _picked(X, kept), None if y is None else _picked(y, kept)


def units_of(table: Any, name: str) -> np.ndarray:
    """Return a number for each row of a frame, equal for rows of the same person, by the column of this name."""
    frame, kept = Frame(table), KeptUnits(name, Kept)
    if name not in frame.names:
        raise ValueError(f"units= names the column {name!r}, which the table lacks")
    kept.append(kept.read(frame.column(name)))
    return kept.whole()


def bounded_parts(parts: Any, units: Any, rows_per_unit: int, rng: np.random.Generator) -> Any:
    """Return the kept rows of each person, in the parts where they are.

    The choice is that of `bounded_rows` for the rows of all parts together, in their order, so that a person whose rows
    are in several parts has at most `rows_per_unit` rows in all of them. The parts return whose each row is; this
    process chooses the rows, and each part is told which of its rows are kept.

    Parameters
    ----------
    parts : EngineParts
        Parts of pairs of a table, and labels or None.
    units : array_like, shape (n,), or str
        The person of each row, or the name of the column that says it.
    rows_per_unit : int, >= 1
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        As in `bounded_rows`, and if the parts do not have the column, in one type.
    """
    name = units if isinstance(units, str) else None
    units = np.asarray(units) if is_dask(units) else units
    if name is None:
        sizes = parts.each(_rows)
        marks = [b""] * len(sizes)
    else:
        told = parts.each(_persons, name)
        sizes, marks = [len(array) for array, _ in told], [mark for _, mark in told]
        units = units_of({name: _joined(name, [array for array, _ in told])}, name)
    kept = bounded_rows(units, rows_per_unit, rng)
    n = len(units) if kept is None else len(kept)
    if n != sum(sizes):
        raise ValueError(f"units must have an entry for each row: {n} entries, and {sum(sizes)} rows of X")
    masks = [None] * len(sizes) if kept is None else map(np.packbits, np.split(kept, np.cumsum(sizes)[:-1]))
    return parts.map(_kept, name, own=[*zip(masks, sizes, marks, strict=True)])


def _joined(name, arrays):
    """Return the columns of all parts as one."""
    arrays = [array for array in arrays if len(array)] or arrays[:1]
    kinds = sorted({str(array.type) for array in arrays})
    if len(kinds) > 1:
        raise ValueError(f"units={name!r} must have one type in all parts, got {' and '.join(kinds)}")
    return pa.chunked_array(arrays)


def _rows(pair):
    return count_rows(pair[0])


def _persons(pair, name):
    """Return whose each row is: integers, or distinct values and their numbers; and a digest of it."""
    frame = Frame(pair[0])
    if name not in frame.names:
        raise ValueError(f"units= names the column {name!r}, which the table lacks")
    array = frame.column(name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_integer(array.type):
        return array, digest(array.is_valid().to_numpy(False), array.fill_null(0).to_numpy())
    array = distinct(name, array)
    values = repr(array.dictionary.to_pylist()).encode()
    return array, digest(array.indices.fill_null(-1).to_numpy(), np.frombuffer(values, np.uint8))


def _kept(pair, own, name):
    """Return the kept rows of a part; a part that is read again must have the rows that were chosen from."""
    mask, n, mark = own
    if name is not None and _persons(pair, name)[1] != mark:
        raise EngineLost(
            "a part of the table was read again and has rows of other persons than before: the source must give the "
            "same rows each time; what was released until then is in the model, and paid for"
        )
    return picked(*pair, None if mask is None else np.unpackbits(mask, count=n).astype(bool), n)


def count_rows(table: Any) -> int:
    """Return the number of rows of a table of any kind."""
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
