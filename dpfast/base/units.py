"""Privacy units of several rows, such as persons, and claims that protect all rows of a unit.

Neighbouring tables differ in one unit. Under "add-remove" all rows of a unit are present or absent. Under "replace"
the rows of a unit are replaced by those of another one, which may have more or fewer: the number of units is public,
and the number of rows is not. Every row belongs to one unit.

**Bounding.** Each row gets a random word of 64 bits, and of each unit the k rows with the least words are kept. So the
choice is independent of the other units.

**Filling up.** Under "replace" a unit of fewer than k kept rows is taken to have k, and those that are not there to be
rows without a label. All units together then have k times as many rows as there are units, which is public, and a
learner is given this number as that of all rows. Which of them have a label is private, as in every table under
"replace"; a learner that needs a label for each row is refused, unless k is 1. Nothing is stored for such a row, and
the survey of a table takes no number of rows as public.

**Lemma.** A release of the kept rows that is (epsilon, delta)-DP for tables that differ in at most k rows (k rows
replaced, each by another row or by one without a label, or k added) is (epsilon, delta)-DP for one unit. Proof. Fix
which rows of all other units are kept: the distribution of this choice does not depend on the unit that differs, and no
claim depends on the order of rows. The kept tables then differ in at most k rows. The distributions of the outcome
are mixtures of such pairs with the same weights, and the divergence of mixtures is at most the largest divergence of
their components. The lemma holds for curves of all kinds (`accounting.costs`).

**Theorem (k rows).** Let two tables differ in at most k rows. Changing one row at a time shows that a value of
sensitivity s for one row has sensitivity at most k s. So every learner is calibrated to k times the sensitivity; for
one claim this requires

    sums with Gaussian noise     k times sigma: mu of one row is that of one unit / k
    draws of a range r           exponents / k; draws of many rounds: with x_nj what row j moves draw n by,
                                 sum_n (sum_j x_nj)^2 <= k sum_j sum_n x_nj^2 <= k^2 times the bound for one row
    counts with Laplace noise    k times the scale
    lists                        exponent / k: `dpfast.accounting.curves.cover` counts what all rows that differ can
                                 move scores by, and its states are k times as large

For lists, group privacy of the pair, (k e, d (e^(k e) - 1) / (e^e - 1)), is an alternative, but it requires a smaller
exponent (tests/base/test_units.py compares the two numerically). The case k = 1 costs nothing.
"""

from typing import Any

import numpy as np

from dpfast import random
from dpfast.tables.arrays import as_objects
from dpfast.tables.arrow import Frame


def number_units(units: Any) -> np.ndarray:
    """Return the number of the unit of each row, from 0; `units` has the unit of each row."""
    ids = as_objects(units)
    if ids.ndim != 1:
        raise ValueError(f"units must say whose each row is, one entry a row, got shape {ids.shape}")
    if ids.dtype == object:
        ids = Frame({"units": ids}).identities("units")[0]
        lacking = ids < 0
    else:
        lacking = np.ma.getmaskarray(units) if isinstance(units, np.ma.MaskedArray) else np.zeros(len(ids), bool)
        lacking = lacking | (ids != ids)
    if lacking.any():
        raise ValueError(f"units must say whose each row is, and row {int(np.argmax(lacking))} has none")
    return np.unique(ids, return_inverse=True)[1]


def bounded_rows(unit: np.ndarray, rows_per_unit: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return a mask of the rows to keep, or None if all are kept; `unit` is that of `number_units`."""
    ids, sizes = unit, np.bincount(unit)
    if sizes.max(initial=0) <= rows_per_unit:
        return None
    words = rng.integers(0, 1 << 64, len(ids), np.uint64)  # a word of a row does not depend on how many rows follow it
    order = np.lexsort((words, unit))  # by unit, each in random order
    place = np.arange(len(ids)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mask = np.zeros(len(ids), bool)
    mask[order[place < rows_per_unit]] = True
    return mask


def own_generator(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator for the choice of rows, so that a fit that is refused draws nothing from `rng`."""
    if not random.is_reproducible(rng):
        return random.default_rng()
    seed = int.from_bytes(repr(rng.bit_generator.state).encode(), "little")
    return np.random.default_rng(np.random.SeedSequence(seed))
