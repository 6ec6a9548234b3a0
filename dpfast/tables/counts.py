"""Counts of rows by code and by word, for the opening histogram."""

from collections import Counter

import numpy as np


class Counts:
    """Counts of the rows with each code and each word of the columns of a table.

    The codes and labels of parts add up. Words do not, as they may not fit into memory: see
    `dpfast.tables.parted.PartedEncoding`.

    Attributes
    ----------
    fixed : list of list of ndarray of int64
        For each column of the schema, the rows with each code: of each of its columns of codes if it is declared, and
        otherwise of the bands of `dpfast.tables.cells`.
    words : list of Counter or Merged
        For each column, the rows with each word; `Merged` if they do not fit into memory.
    labels : Counter
        The rows with each label.
    """

    def __init__(self, fixed: list, words: list, labels: Counter):
        self.fixed, self.words, self.labels = fixed, words, labels

    def __add__(self, other: "Counts") -> "Counts":
        fixed = [
            [a + b for a, b in zip(mine, others, strict=True)]
            for mine, others in zip(self.fixed, other.fixed, strict=True)
        ]
        return Counts(fixed, [], self.labels + other.labels)


def tally(index, values) -> Counter:
    """Return the number of rows with each value; blanks around values do not count, as for declared values."""
    counts = np.bincount(index[index >= 0], minlength=len(values))
    totals: Counter[str] = Counter()
    for value, count in zip(values, counts.tolist(), strict=True):
        if value is not None and value.strip():
            totals[value.strip()] += count
    return totals
