"""Scores of a few rows of codes, without the columns for pairs and trees that are made for many rows."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from dpfast.learners.halfspaces.pairs import Interaction
from dpfast.learners.halfspaces.trees import Forest
from dpfast.tables.codes import CodeRows, round_coefficients


class FewScores:
    """What `CodeRows.linear_scores` gives for rows with pairs and leaves, bit by bit, for a few rows.

    Parameters
    ----------
    sizes : sequence of int
        Those of the columns of the rows.
    pairs, trees
        As in `AdditiveModel`.
    coef : ndarray, shape (codes, k)
    intercept : ndarray, shape (k,)

    Raises
    ------
    ValueError
        If the codes are those of another model, which is refused where columns are made.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        pairs: tuple[Interaction, ...],
        trees: Forest | None,
        coef: np.ndarray,
        intercept: np.ndarray,
    ):
        read = [(j, len(group)) for pair in pairs for j, group in zip(pair.columns, pair.groups, strict=True)]
        read += [] if trees is None else [(j, len(places)) for j, places in trees.orders]
        ends = [*accumulate([*sizes, *(pair.size for pair in pairs), *([] if trees is None else trees.sizes)])]
        if any(j >= len(sizes) or sizes[j] != size for j, size in read) or len(coef) != ends[-1]:
            raise ValueError("the model has coefficients for other codes")
        starts = np.array([0, *ends[:-1]])[:, np.newaxis]
        self._columns, self._leaves = starts[: len(sizes)], starts[len(sizes) + len(pairs) :]
        self._table, self._step = round_coefficients(coef, np.array([0, *ends]))
        self._trees, self._constant = trees, intercept.astype(np.float32)
        cells = zip(pairs, starts[len(sizes) :, 0].tolist(), strict=False)
        first, second = [], []  # of each pair: the entry where the cells of a group begin, and the places from there
        for pair, start in cells:
            one, other = (np.array(group, np.int64) for group in pair.groups)
            first.append((pair.columns[0], start + one * pair.shape[1]))
            second.append((pair.columns[1], other))
        self._first, self._second = _LookUps(first), _LookUps(second)
        self._orders = _LookUps([] if trees is None else trees.places)

    def of(self, rows: CodeRows) -> np.ndarray:
        """Return the scores of at most `dpfast.tables.few_rows.MOST` rows with these sizes: float32, shape (n, k)."""
        codes = np.array([rows.column(j) for j in range(len(self._columns))], np.int64)
        entries = [codes + self._columns]
        if self._first:
            entries.append(self._first(codes) + self._second(codes))
        if self._trees is not None:
            entries.append(self._trees.leaves([*self._orders(codes)]) + self._leaves)
        margins = self._table[np.concatenate(entries)].sum(axis=0)  # of 32 bits: see `round_coefficients`
        out = np.multiply(margins.astype(np.int32), np.float32(self._step), dtype=np.float32)
        out += self._constant
        return out


class _LookUps:
    """Look-ups of the codes of columns in tables, one for each, all at once; false if there are none."""

    def __init__(self, tables):
        self._columns = [column for column, _ in tables]
        starts = accumulate([0, *(len(table) for _, table in tables)])
        self._starts = np.array([*starts][:-1], np.int64)[:, np.newaxis]
        self._table = np.concatenate([table for _, table in tables]) if tables else None

    def __bool__(self):
        return self._table is not None

    def __call__(self, codes):
        """Return what the codes of rows, (columns, n), have in the tables: shape (tables, n)."""
        return self._table[codes[self._columns] + self._starts]
