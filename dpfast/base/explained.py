"""Rows explained: what each column contributes to the score of a row, so that the contributions add up to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.base.batches import refuse_collections
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.codes import CodeTable
from dpfast.tables.projection import readable

MOST_ENTRIES = 1 << 28  # contributions that one call returns


@dataclass(frozen=True)
class Explanation:
    """What the columns contribute to the scores of rows.

    For each row and class, `constants` plus the sum of `contributions` is `scores`. Like the predictions, an
    explanation says something about its row: show it only to those who may see the row.

    Attributes
    ----------
    names : tuple of str, m of them
        The columns, then the pairs of columns that the model reads together, and "trees" for all of its trees.
    joint : dict
        For the name of each pair, and for "trees", the columns that it asks.
    contributions : ndarray of float64, shape (n, m) for two classes, else (n, k, m)
        In models of codes, what the value adds beyond its mean over the rows, by released shares; of the second of two
        classes.
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
    return Explanation(tuple(parts.names), parts.joint, values, constants, scores, learner.classes_)


def linear_parts(table: Any, coef: np.ndarray, constant: bool, longest: float, scores: np.ndarray) -> Parts:
    """Return the parts of scores that are products of rows with coefficients, over the lengths of the rows.

    Parameters
    ----------
    table : CodeTable, BitMatrix, array or sparse matrix
    coef : ndarray of float64, shape (k, d)
    constant : bool
        Whether the length of a row is that of the row and a further entry of 1.
    longest : float
        The length is at least this.
    scores : ndarray of float64, shape (n, k)
    """
    if isinstance(table, CodeTable):
        return _coded_parts(table, coef, constant, longest, scores)
    names = getattr(table, "feature_names", None) or getattr(table, "columns", None)
    X = readable(table)
    refuse_many(X.shape[0] * X.shape[1] * len(coef))
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    lengths = np.maximum(np.sqrt(np.square(X).sum(axis=1) + float(constant)), longest)
    products = (X.T / np.where(lengths > 0, lengths, 1.0)) * coef[:, :, np.newaxis]
    return Parts([str(name) for name in (range(X.shape[1]) if names is None else names)], products, scores, {})


def _coded_parts(table, coef, constant, longest, scores):
    """Return the parts of scores of the bits of codes: each column adds what the bits of its code have together."""
    n, p = table.shape
    refuse_many(n * p * len(coef))
    of_codes, ones = np.zeros((len(coef), table.offsets[-1])), np.zeros(table.offsets[-1])
    for (j, first, last), of_bit in zip(CodeBits(table).spans.tolist(), coef.T, strict=True):
        span = slice(table.offsets[j] + first, table.offsets[j] + last + 1)
        of_codes[:, span] += of_bit[:, np.newaxis]
        ones[span] += 1.0
    values, squares = np.empty((len(coef), p, n)), np.full(n, float(constant))
    for j in range(p):
        own, codes = slice(*table.offsets[j : j + 2]), table.column(j)
        squares += ones[own].take(codes)
        for k, row in enumerate(of_codes):
            row[own].take(codes, out=values[k, j], mode="clip")
    lengths = np.maximum(np.sqrt(squares), longest)
    values /= np.where(lengths > 0, lengths, 1.0)
    return Parts(names_of(table), values, scores, {})


def names_of(table: CodeTable) -> list[str]:
    """Return the names of the columns of a table of codes."""
    return [str(name) for name in table.names or (f"x{j}" for j in range(table.shape[1]))]


def refuse_many(entries: int) -> None:
    """Refuse more contributions than one call returns."""
    if entries > MOST_ENTRIES:
        raise ValueError(f"an explanation would have {entries:,} contributions: explain fewer rows at a time")
