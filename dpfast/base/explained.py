"""Rows explained: what each column contributes to the score of a row, so that the contributions add up to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.base.batches import refuse_collections
from dpfast.kernels import reals
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.codes import CodeTable
from dpfast.tables.projection import dense_rows, readable

MOST_ENTRIES = 1 << 28  # contributions that one call returns


@dataclass(frozen=True)
class Explanation:
    """What the columns contribute to the scores of rows.

    For each row and class, `constants` plus the sum of `contributions` is `scores`. Like the predictions, an
    explanation says something about its row: show it only to those who may see the row.

    Attributes
    ----------
    names : tuple of str, m of them
        The columns, then the pairs of columns that the model reads together, and "trees" for all of its trees; of a
        decision list only "rules".
    joint : dict
        For the name of each pair, and for "trees" and "rules", the columns that they ask.
    contributions : ndarray of float64, shape (n, m) for two classes, else (n, k, m)
        Of the second of two classes. In `HalfspaceClassifier` of codes it is what a value adds beyond the mean of its
        column over the rows, by released shares; in models that vote, such as Winnow, beyond the mean over the codes.
        The other models of codes divide by the length of a row, and so the constant is not that of all rows.
    constants : ndarray of float64, shape (n,) or (n, k)
    scores : ndarray of float64, shape (n,) or (n, k)
        The sums. `HalfspaceClassifier.decision_function` is a bent function of them; that of other models is the sum.
    classes : ndarray, shape (k,)
    """

    names: tuple[str, ...]
    joint: dict[str, tuple[str, ...]]
    contributions: np.ndarray
    constants: np.ndarray
    scores: np.ndarray
    classes: np.ndarray

    def of_class(self, label: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the contributions and the constants for a class; for two classes those of the second one.

        Parameters
        ----------
        label : object, optional
            One of more than two classes.

        Returns
        -------
        ndarray of float64, shape (n, m)
        ndarray of float64, shape (n,)
        """
        if self.contributions.ndim == 2:
            return self.contributions, self.constants
        (at,) = np.flatnonzero(self.classes == label)
        return self.contributions[:, at], self.constants[:, at]


@dataclass(frozen=True)
class Parts:
    """What a model's method `contributions` returns.

    Attributes
    ----------
    names : sequence of str, m of them
        Empty for the columns of a table without a schema.
    values : ndarray of float64, shape (k, m, n)
        What each column adds to each score; k is 1 for two classes.
    scores : ndarray of float64, shape (n, k)
    joint : dict
        As in `Explanation`.
    """

    names: Sequence[str]
    values: np.ndarray
    scores: np.ndarray
    joint: dict[str, tuple[str, ...]]


def explain(learner: Any, X: Any) -> Explanation:
    """Return what each column contributes to the scores of the rows of X, by the model of a learner."""
    model = learner._released_model()
    refuse_collections(X)
    table = learner._reader.table(X)
    parts = model.contributions(table, learner._read_rows(table))
    values = np.moveaxis(parts.values, -1, 0)  # (n, k, m)
    constants = parts.scores - values.sum(axis=2)
    if len(parts.values) == 1:
        values, constants = values[:, 0], constants[:, 0]
    scores = parts.scores[:, 0] if len(parts.values) == 1 else parts.scores
    names = parts.names or columns_of(learner, values.shape[-1])
    return Explanation(tuple(names), parts.joint, values, constants, scores, learner.classes_)


def linear_parts(
    table: Any,
    coef: np.ndarray,
    scores: np.ndarray,
    *,
    lengths: np.ndarray | None = None,
    entries: Callable[[], np.ndarray] | None = None,
    centred: bool = False,
) -> Parts:
    """Return the parts of scores that are products of rows with coefficients, over lengths of the rows if given.

    Parameters
    ----------
    table : CodeTable, BitMatrix, array or sparse matrix
    coef : ndarray of float64, shape (k, d)
        Of codes, for their bits.
    scores : ndarray of float64, shape (n, k)
    lengths : ndarray of float64, shape (n,), optional
    entries : callable, optional
        Returns the rows as numbers, by default those of the table. Not called for codes.
    centred : bool
        Whether a code adds what its bits have beyond the mean over the codes of its column.
    """
    coded, names = isinstance(table, CodeTable), list[str]()
    refuse_many(len(scores) * len(coef) * (table.shape[1] if coded else coef.shape[1]))
    if coded:
        names, values = names_of(table), _coded_values(table, coef, centred)
    else:
        X = dense_rows(readable(table)) if entries is None else entries()
        values = X.T * coef[:, :, np.newaxis]
    if lengths is not None:
        values /= np.where(lengths > 0, lengths, 1.0)
    return Parts(names, values, scores, {})


def _coded_values(table, coef, centred):
    """Return what the bits of the codes of each column have together: float64, shape (k, p, n)."""
    of_codes = np.zeros((len(coef), table.offsets[-1]))
    for span, of_bit in zip(_codes_of_bits(table), coef.T, strict=True):
        of_codes[:, span] += of_bit[:, np.newaxis]
    values = np.empty((len(coef), table.shape[1], len(table)))
    for j in range(table.shape[1]):
        own, codes = slice(*table.offsets[j : j + 2]), table.column(j)
        for k, row in enumerate(of_codes):
            of_column = row[own] - reals.sum(row[own]) / len(row[own]) if centred else row[own]
            of_column.take(codes, out=values[k, j], mode="clip")
    return values


def row_lengths(table: Any, constant: bool, longest: float) -> np.ndarray:
    """Return the lengths of rows, or of rows and an entry of 1 with `constant`, at least `longest`.

    Parameters
    ----------
    table : CodeTable, BitMatrix, array or sparse matrix
    constant : bool
    longest : float

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    if isinstance(table, CodeTable):
        squares, ones = np.zeros(len(table)), np.zeros(table.offsets[-1])
        for span in _codes_of_bits(table):
            ones[span] += 1.0
        for j in range(table.shape[1]):
            squares += ones[slice(*table.offsets[j : j + 2])].take(table.column(j))
    else:
        X = readable(table)
        refuse_many(X.shape[0] * X.shape[1])
        squares = np.square(dense_rows(X)).sum(axis=1)
    return np.maximum(np.sqrt(squares + float(constant)), longest)


def _codes_of_bits(table):
    """Yield for each bit of a table of codes the places of the codes for which it is 1, among those of all columns."""
    for j, first, last in CodeBits(table).spans.tolist():
        yield slice(table.offsets[j] + first, table.offsets[j] + last + 1)


def columns_of(learner: Any, d: int) -> list[str]:
    """Return the names of the d columns of vectors, or x0, x1, ... if they have none."""
    names = learner._reader.names
    return [f"x{j}" for j in range(d)] if names is None else list(map(str, names))


def names_of(table: CodeTable) -> list[str]:
    """Return the names of the columns of a table of codes."""
    return [str(name) for name in table.names or (f"x{j}" for j in range(table.shape[1]))]


def refuse_many(entries: int) -> None:
    """Refuse more contributions than one call returns."""
    if entries > MOST_ENTRIES:
        raise ValueError(f"an explanation would have {entries:,} contributions: explain fewer rows at a time")
