"""Images of rows of codes for noisy descent: vectors of norm at most 1, whose sums are taken on an integer grid.

**The image of a row** is a sum over its columns; each column contributes a vector that depends on its code alone. A
value, or a missing one, has an entry of its own, which is 1. A bin of numbers has an entry, which it may share with its
neighbours, and places on two scales (`dpfast.learners.halfspaces.bins`).

The opening also gives the mean image mu and a radius R, which is about the length of x - mu. A round uses the vector
(x - mu, h) / R, where h stands for the intercept. If that vector is longer than 1, the limit of the row is smaller, so
that it counts for less. The matrix of the images, the mean and h are integers on a grid, and limits guarantee that
limit * |row| is at most `reach`, exactly (`CodeRows.limits`). Sums of residuals by code are integers too, so their
product with the matrix is exact: for at most 2**30 rows it is at most 2**60, and is computed modulo 2**64.

**The opening** is a noisy count of the rows of each class and of each code of each column. A row is in one cell of each
of p columns of codes, and counts c times in one class size. Replacing a row changes two counts of each, and adding it
changes one, so the histogram changes by at most sqrt(2 (p + c^2)) or sqrt(p + c^2) in Euclidean norm. Everything else
here is computed from the noisy counts, without access to rows.

Counts are denoised first. The counts of a column of numbers are a curve over its bins. In its Haar basis, coefficients
are differences of neighbouring sums at all scales; those within three deviations of their noise are set to 0. For
values, counts within three deviations are set to 0. The results are at least 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.integer_matrix import IntegerMatrix
from dpfast.kernels.own import frozen
from dpfast.learners.halfspaces.bins import by_share, entries_of_numbers, groups_of_numbers, width
from dpfast.learners.halfspaces.trees import most_trees
from dpfast.mechanisms.opening import SURE
from dpfast.tables.arrays import count_codes
from dpfast.tables.cells import bins_of

_ENOUGH = 2.0, 5.0  # deviations of noise: rows of a bin with an entry of its own, for two classes and for more
LIMIT, _RADIUS = 1 << 16, 1 << 14  # of rows of codes: the largest limit, and R on the grid
_FINEST = 1 << 16  # the most steps of the grid for an entry 1
SHORTER, LEAST, TOP = 0.7, 0.1, 0.2  # R^2 / |x - mu|^2, the least |x - mu|^2 / |x|^2 assumed, and h / R
_FASTEST = 128.0, 256.0  # `fastest` for two classes and for more: see `dpfast.learners.halfspaces.shrunken`
_SQUARES = 1 << 30  # the largest sum of the squares of a row, so that tables of int32 hold them
MOST_PAIRS = 8  # for interactions="auto"
_LEAST_SHARE = 1e-3  # of the rows, assumed for every class


@dataclass(frozen=True)
class Opening:
    """Public or released facts about a table of codes, known before the first round.

    `n` is the public or noisy number of rows, at least 1. `sizes` are those of the k classes, above 0. `counts` has,
    for each column, the number of rows with each code, at least 0. `ranks` has, for each column of numbers, the rank of
    each bin, increasing in [-1, 1], and None for a column of values.
    """

    n: float
    sizes: np.ndarray
    counts: tuple
    ranks: tuple

    @classmethod
    def of(cls, noisy, deviation, rows, classes, n=None, weight=1):
        """Return the opening computed from noisy counts: those of `CodeRows.counts`, then the class sizes.

        `deviation` is that of the noise in each count. Of `rows`, only the sizes and meanings of the columns are read.
        `n` is the number of rows, if it is public; each row counts `weight` times in the class sizes.
        """
        sizes = noisy[len(noisy) - classes :] / weight
        n = rows_of_sizes(sizes, deviation / weight, n)
        columns = [
            _denoised(noisy[start : start + size], column, deviation, n)
            for column, start, size in zip(rows.columns, rows.offsets[:-1], rows.sizes, strict=True)
        ]
        counts, ranks = zip(*columns, strict=True)
        return cls(n, class_sizes(sizes, deviation / weight, n), counts, ranks)

    def with_pairs(self, pairs):
        """Return the opening with one more column for each `Interaction` of columns, assumed to be independent."""
        cells = []
        for pair in pairs:
            sides = [np.bincount(group, self.counts[j]) for j, group in zip(pair.columns, pair.groups, strict=True)]
            cells.append(np.outer(*sides).ravel() / self.n)
        return self._with(cells)

    def with_leaves(self, shares):
        """Return the opening with one more column for each tree, given the shares of the rows in its leaves."""
        return self._with([share * self.n for share in shares])

    def _with(self, counts):
        return Opening(self.n, self.sizes, (*self.counts, *counts), (*self.ranks, *[None] * len(counts)))


def _denoised(noisy, column, deviation, n):
    """Return the estimated number of rows with each code of a column, and the ranks of its bins or None."""
    bins = bins_of(column)
    clear = np.where(noisy > SURE * deviation, noisy, 0.0)
    if not bins:
        return clear, None
    share = np.maximum(reals.smooth(noisy[:bins], SURE * deviation), 0.0)
    share /= reals.sum(share) or 1.0
    clear[:bins] = share * max(n - float(sum(clear[bins:])), 0.0)
    return clear, 2 * np.cumsum(share) - share - 1 if share.any() else np.zeros(bins)


def rows_of_sizes(sizes, deviation, n):
    """Return how many rows have a label, at least 1, from noisy class sizes and, if it is public, the number of rows.

    All rows are taken to have one unless the sizes are clearly fewer.
    """
    total = reals.sum(sizes)
    if n is None or total < n - SURE * deviation * math.sqrt(len(sizes)):
        n = total
    return float(max(1, n))


def counted_rows(noisy, deviation, classes, weight):
    """Return the number of rows by the class sizes at the end of an opening, and the deviation of its noise."""
    return reals.sum(noisy[len(noisy) - classes :] / weight), deviation / weight * math.sqrt(classes)


def class_sizes(noisy, deviation, n):
    """Return sizes of classes that add up to about n, each at least the deviation of their noise and a 1000th of n."""
    noisy = noisy + (n - reals.sum(noisy)) / len(noisy)
    return np.clip(np.maximum(noisy, deviation), _LEAST_SHARE * n, max(n, deviation))


class CodeShape:
    """Sizes of the images of rows of codes, which are public; the noise of a fit follows from them.

    An image has `size` entries, of which `pairs_at` precede the intercept, and `reach` is its largest norm on the grid,
    times a residual of at most 1. The opening has `opening_size` counts. `fastest` is the largest rate of a descent; it
    is smaller for rows that are not centred, since they have a mean. `by_margin` says whether residuals are those by
    margin, and score levels are counted after the rounds; `by_middle` says whether the mean of the scores is released
    before these counts. `bins` has the number of bins of each column of numbers, and 0 for other columns.
    """

    reach = LIMIT * _RADIUS
    by_margin, by_middle = False, False

    def __init__(self, sizes, bins, classes, fit_intercept):
        self._classes, self._constant = classes, bool(fit_intercept)
        self.fastest = _FASTEST[classes > 2]
        widths = [width(count, size) for count, size in zip(bins, sizes, strict=True)]
        self._starts = np.cumsum([0, *widths])
        self.columns, self.pairs_at = len(widths), int(self._starts[-1])
        self.size = self.pairs_at + self._constant
        self._weight = max(1, round(math.sqrt(self.columns) / 2))
        self.opening_size = int(sum(sizes)) + classes

    def most_pairs(self, interactions):
        """Return the most pairs that are drawn for `interactions`, a number or "auto"; a single column has none."""
        return (MOST_PAIRS if interactions == "auto" else interactions) if self.columns > 1 else 0

    def most_trees(self, trees):
        """Return the most trees that are drawn, given a parameter of the fit."""
        return most_trees(trees, self._classes)

    def opening_square(self, changes):
        """Return the squared sensitivity of the opening, for a row that is replaced (2 changes) or added (1)."""
        return changes * (self.columns + self._weight**2)


class CodeImage(CodeShape):
    """Images of rows of codes; some attributes are set by the opening, that is, by `open` or `begin`.

    `groups` has the group of each entry, for shrinking, and -1 for the intercept. The opening sets `opening`; `shares`,
    about the share of the rows with each code, which add up to 1 for each column; `radius`, R in entries of an image;
    and `spread`, about the mean square of each entry over the rows, 0 for the intercept.
    """

    def __init__(self, rows, classes, fit_intercept):
        super().__init__(rows.sizes, list(map(bins_of, rows.columns)), classes, fit_intercept)
        self._rows = rows
        self._pairs, self._forest, self._leaf = (), None, 1.0
        self._leaves_from, self._least = self.columns, 0.0

    def opening_question(self):
        """Return the question of the opening to a piece, and its arguments."""
        return _code_counts, self._classes, self._weight

    def open(self, noisy, deviation, n):
        """Set everything that follows from the released opening, by `Opening.of`; return how many rows it counts.

        Beside their number stands the deviation of its noise.
        """
        self._least = _ENOUGH[self._classes > 2] * deviation  # the sums of each class have noise of their own
        self.begin(Opening.of(noisy, deviation, self._rows, self._classes, n, self._weight))
        return counted_rows(noisy, deviation, self._classes, self._weight)

    def begin(self, opening):
        """Set everything that follows from an `Opening`."""
        self.opening, rows = opening, self._rows
        groups, blocks = [], []  # of the entries of each column, and (rows, columns, values) of its part of the matrix
        shares = [count / max(opening.n, reals.sum(count)) for count in opening.counts]
        at = zip(rows.offsets[:-1], self._starts[:-1], strict=True)
        each = zip(rows.columns, rows.sizes, shares, opening.ranks, at, strict=True)
        for column, size, share, rank, (code, entry) in each:
            if rank is None:
                leaf = len(groups) >= self._leaves_from
                entry_of = self._leaf if leaf else 1.0
                blocks.append((code + np.arange(size), entry + np.arange(size), np.full(size, entry_of)))
                groups.append(np.zeros(size, np.int64) if leaf else by_share(share))
            else:
                places, codes, entries, values = entries_of_numbers(column, rank, share, self._least / opening.n)
                groups.append(groups_of_numbers(places, share, column.bins))
                blocks.append((code + codes, entry + entries, values))
        self.shares = np.concatenate([_shares(count) for count in opening.counts])
        codes, entries, values = map(np.concatenate, zip(*blocks, strict=True))
        mean = np.bincount(entries, values * np.concatenate(shares)[codes], self.pairs_at) * self._constant
        most = self._leaves_from + (len(groups) - self._leaves_from) * self._leaf**2  # the mean square of an image
        self.square = most - reals.dot(mean, mean)
        square = SHORTER * max(self.square, LEAST * most)
        self.radius = math.sqrt(square * (1 + TOP**2 * self._constant))
        unit = min(_RADIUS / self.radius, _FINEST)
        steps = np.rint(values * unit)
        ends = np.append(0, np.cumsum(np.bincount(codes)))
        self._matrix = IntegerMatrix(ends, entries, steps, self.pairs_at)
        self._codes, self._entries, self._steps, self._ends = codes, entries, steps, ends
        self._real_mean = np.rint(mean * unit)
        self._mean = self._real_mean.astype(np.int64)
        self._top = int(TOP * math.sqrt(square) * unit) * self._constant
        squares = np.bincount(entries, np.square(steps) * self.shares[codes], self.pairs_at)
        spread = np.maximum(squares - np.square(self._real_mean), 0.0) / _RADIUS**2
        self.spread = np.append(spread, np.zeros(int(self._constant)))
        self._squares, self._allowed = self._limited()
        of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        kinds = np.concatenate(groups)
        of_group = np.unique(of * (np.ptp(kinds) + 1) + kinds, return_inverse=True)[1]  # by column, then by its groups
        self.groups = np.concatenate([of_group, np.full(int(self._constant), -1)])

    def with_pairs(self, pairs):
        """Return the image with one more column for each `Interaction`, before the intercept; trees come later."""
        image = CodeImage(self._rows.without_rows().with_pairs(pairs), self._classes, self._constant)
        image._pairs, image._least = tuple(pairs), self._least
        image.begin(self.opening.with_pairs(pairs))
        return image

    def with_leaves(self, forest, shares, leaf):
        """Return the image with one more column for each tree, before the intercept; `leaf` is the entry of a leaf."""
        image = CodeImage(self._rows.without_rows().with_leaves(forest), self._classes, self._constant)
        image._pairs, image._least = self._pairs, self._least
        image._forest, image._leaf, image._leaves_from = forest, leaf, self.columns
        image.begin(self.opening.with_leaves(shares))
        return image

    def _limited(self):
        """Return the square of what each code adds to an image, in steps, and the most of a row within R."""
        mean, column = self._mean, np.repeat(np.arange(len(self._rows.sizes)), self._rows.sizes)
        of_mean = np.add.reduceat(mean * mean, self._starts[:-1])
        steps = self._steps.astype(np.int64)
        squares = np.add.reduceat(steps * (steps - 2 * mean[self._entries]), self._ends[:-1]) + of_mean[column]
        squares[: self._rows.sizes[0]] += self._top**2  # each row has a code of column 0
        most = int(np.maximum.reduceat(squares, self._rows.offsets[:-1]).sum())
        step = max(1, -(-most // _SQUARES))
        return (-(-squares // step)).astype(np.int32), _RADIUS**2 // step

    def question(self, u, constants):
        """Return the question of a round to a piece, and its arguments; scores are <u, image> + constants."""
        return _code_sums, *self._arguments(u, constants)

    def pair_question(self, u, constants, pairs):
        """Return the question for the choice of pairs, and its arguments; scores are those of a round."""
        return _pair_sums, pairs, *self._arguments(u, constants)

    def _arguments(self, u, constants):
        coef, intercept, _ = self.linear(u)
        limited = self._squares, self._allowed, self._pairs, self._forest
        return limited, *self._rows.round_coefficients(coef), (intercept + constants).astype(np.float32)

    def entries(self, total):
        """Return the sum of the images on the grid, from sums of residuals by code: int64, shape (size, columns)."""
        residuals = np.add.reduce(total[: self._rows.sizes[0]])
        out = np.empty((self.size, len(residuals)), np.int64)
        np.subtract(self._matrix.sums(total), self._mean[:, np.newaxis] * residuals, out=out[: self.pairs_at])
        out[self.pairs_at :] = self._top * residuals
        return out

    def linear(self, u):
        """Return <u, image> as coefficients of codes (codes, columns), an intercept (columns,) and a constant."""
        w = u[: self.pairs_at] / _RADIUS
        top = self._top * np.add.reduce(u[self.pairs_at :]) / _RADIUS
        return self._matrix.products(w), top - reals.products(w.T, self._real_mean), 0.0

    def deviations(self, noise):
        """Return the noise of coefficients of codes minus their mean over the column: shape (codes, columns).

        Means are by `shares`; `noise` has the standard deviations of u, shape (size, columns), where entries are
        independent.
        """
        variances = np.square(noise[: len(self._mean)] / _RADIUS)
        sizes = np.asarray(self._rows.sizes)
        column = np.repeat(np.arange(len(sizes)), sizes)
        middle = np.bincount(self._entries, self._steps * self.shares[self._codes], self.pairs_at)[:, np.newaxis]
        squares = IntegerMatrix(self._ends, self._entries, np.square(self._steps), self.pairs_at)
        of_mean = np.add.reduceat(middle * middle * variances, self._starts[:-1])[column]
        of_codes = squares.products(variances) - 2 * self._matrix.products(middle * variances) + of_mean
        return np.sqrt(np.maximum(of_codes, 0.0))


# ---- what pieces are asked -----------------------------------------------------------------------------------------


def _shares(count):
    """Return the share of the rows with each code, from counts of a column; equal shares if all counts are 0."""
    rows = reals.sum(count)
    return count / rows if rows > 0 else np.full(len(count), 1 / len(count))


def class_counts(piece, classes):
    return count_codes(piece.labels, classes)


def _code_counts(piece, classes, weight):
    return np.concatenate([piece.rows.counts(), weight * class_counts(piece, classes)])


def labels_of(piece, columns):
    """Return the labels in the type that the kernels read."""
    if labels_of not in piece.memo:
        piece.memo[labels_of] = frozen(piece.labels.astype(np.uint8 if columns == 1 else np.uint16))
    return piece.memo[labels_of]


def _code_sums(piece, limited, table, step, constants):
    rows, limits = _limited_rows(piece, limited)
    return rows.residual_sums(labels_of(piece, len(constants)), limits, table, step, constants)


def _pair_sums(piece, pairs, limited, table, step, constants):
    rows, limits = _limited_rows(piece, limited)
    return rows.pair_sums(pairs, labels_of(piece, len(constants)), limits, table, step, constants)


def _limited_rows(piece, limited):
    """Return the rows with the columns of pairs and trees, and their limits."""
    squares, allowed, *added = limited
    memo = piece.memo.get(_limited_rows)
    same = memo is not None and memo[:2] == (allowed, added)
    if not same or not (memo[2] is squares or np.array_equal(memo[2], squares)):
        pairs, forest = added
        memo = piece.memo[_limited_rows] = None  # its columns are made anew, and need memory no longer
        rows = piece.rows.with_pairs(pairs) if pairs else piece.rows
        rows = rows if forest is None else rows.with_leaves(forest)
        memo = piece.memo[_limited_rows] = allowed, added, squares, rows, rows.limits(squares, allowed, LIMIT)
    return memo[3:]
