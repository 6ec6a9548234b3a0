"""The opening of a fit: noisy counts of the rows of each class and of each code of each column.

A row is in one cell of each of p columns of codes, and counts c times in one class size. Replacing a row changes two
counts of each, adding it changes one: the histogram changes by at most sqrt(2 (p + c^2)) or sqrt(p + c^2) in Euclidean
norm. Everything else here is computed from the noisy counts, without access to rows.

Counts are denoised first. The counts of a column of numbers are a curve over its bins. In its Haar basis, coefficients
are differences of neighbouring sums at all scales; those within three deviations of their noise are set to 0. For
values, counts within three deviations are set to 0. The results are at least 0.
"""

from dataclasses import dataclass

import numpy as np

from dpfast.kernels import reals
from dpfast.tables.columns import text_of

SURE = 3.0  # deviations of the noise
_LEAST_SHARE = 1e-3  # of the rows, assumed for every class


@dataclass(frozen=True)
class Opening:
    """Public or released facts about a table of codes, known before the first round.

    Attributes
    ----------
    n : float
        The number of rows, public or noisy; at least 1.
    sizes : ndarray of float64, shape (k,)
        The number of rows of each class, above 0.
    counts : tuple of ndarray of float64
        For each column the number of rows with each code, at least 0.
    ranks : tuple of ndarray of float64, or None
        For each column of numbers the rank of each bin, increasing in [-1, 1]; None for a column of values.
    """

    n: float
    sizes: np.ndarray
    counts: tuple
    ranks: tuple

    @classmethod
    def of(cls, noisy, deviation, rows, classes, n=None, weight=1):
        """Return the opening computed from a noisy histogram.

        Parameters
        ----------
        noisy : ndarray of float64, shape (codes + classes,)
            The counts in the order of `CodeRows.counts`, then the class sizes.
        deviation : float
            Standard deviation of the noise in each count.
        rows : CodeRows
            Only the sizes and meanings of its columns are read.
        classes : int
        n : int, optional
            The number of rows, if it is public.
        weight : int, optional
            How many times each row counts in the class sizes.
        """
        sizes = noisy[len(noisy) - classes :] / weight
        n = float(max(1, sizes.sum() if n is None else n))
        told = [
            _denoised(noisy[start : start + size], column, deviation, n)
            for column, start, size in zip(rows.columns, rows.offsets[:-1], rows.sizes, strict=True)
        ]
        counts, ranks = zip(*told, strict=True)
        return cls(n, class_sizes(sizes, deviation / weight, n), counts, ranks)

    @classmethod
    def of_found(cls, found, classes, planned, n=None):
        """Return the opening computed from a discovery, for a table whose codes follow from it.

        Parameters
        ----------
        found : dpfast.learners.discovery.Found
        classes : ndarray
        planned : dpfast.learners.discovery.Plan
        n : int, optional
            The number of rows, if it is public.
        """
        noisy = np.array([found.labels.get(text_of(each), 0.0) for each in classes.tolist()])
        n = float(max(1, reals.sum(noisy) if n is None else n))
        counts, ranks = [], []
        for column, rows, rank in zip(found.schema.code_columns, found.counts, found.ranks, strict=True):
            if rank is None and column.ordered:  # declared
                rows, rank = _denoised(rows, column, planned.histogram.deviation, n)
            elif rank is not None:
                bins = reals.sum(rows[: len(rank)])
                left = max(n - reals.sum(rows[len(rank) :]), 0.0)
                rows = np.append(rows[: len(rank)] * (left / bins if bins else 0.0), rows[len(rank) :])
            counts.append(rows)
            ranks.append(rank)
        return cls(n, class_sizes(noisy, planned.labels.deviation, n), tuple(counts), tuple(ranks))

    def joined(self, pairs):
        """Return the opening with one more column for each `Interaction` of columns, assumed to be independent."""
        cells = []
        for pair in pairs:
            held = [np.bincount(group, self.counts[j]) for j, group in zip(pair.columns, pair.groups, strict=True)]
            cells.append(np.outer(*held).ravel() / self.n)
        return Opening(self.n, self.sizes, (*self.counts, *cells), (*self.ranks, *[None] * len(pairs)))


def _denoised(noisy, column, deviation, n):
    """Return the estimated number of rows with each code of a column, and the ranks of its bins or None."""
    bins = column.bins if column is not None and column.ordered else 0
    known = np.where(noisy > SURE * deviation, noisy, 0.0)
    if not bins:
        return known, None
    share = np.maximum(_smooth(noisy[:bins], SURE * deviation), 0.0)
    share /= reals.sum(share) or 1.0
    known[:bins] = share * max(n - float(sum(known[bins:])), 0.0)
    return known, 2 * np.cumsum(share) - share - 1 if share.any() else np.zeros(bins)


def class_sizes(noisy, deviation, n):
    """Return sizes of classes that add up to about n, each at least the deviation of their noise and a 1000th of n."""
    noisy = noisy + (n - reals.sum(noisy)) / len(noisy)
    return np.clip(np.maximum(noisy, deviation), _LEAST_SHARE * n, max(n, deviation))


def _smooth(counts, cut):
    """Return counts without the coefficients of their Haar basis that are below the cut."""
    size = 1 << (len(counts) - 1).bit_length()
    sums, parts = np.concatenate([counts, np.zeros(size - len(counts))]), []
    while len(sums) > 1:
        apart = (sums[::2] - sums[1::2]) * 0.5**0.5
        parts.append(np.where(np.abs(apart) < cut, 0.0, apart))
        sums = (sums[::2] + sums[1::2]) * 0.5**0.5
    for apart in reversed(parts):
        sums = np.stack([sums + apart, sums - apart], axis=1).ravel() * 0.5**0.5
    return sums[: len(counts)]
