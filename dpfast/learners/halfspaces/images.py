"""Images of rows for noisy descent: vectors of norm at most 1, of which sums are asked on an integer grid.

**Rows of codes.** The image of a row is a sum over its columns of a vector that depends on the column's code. A value,
or a missing one, has an entry of its own, 1; a bin of numbers has

* an entry 1/2 that it shares with no other bin, or, where there are more than BINS, with bins of about the same rank;
* on each of two scales, which say where in [-1, 1] the bin is, that place v and the heights at v of 9 hats, times 3/4.
  Hat number i is 1 at i / 4 - 1 and falls to 0 at the places of its neighbours: sums of hats are broken lines. The
  linear scale has the middle of the bin between the declared ends, the rank scale the share of rows below it, by the
  `Opening`.

The opening also gives the mean image mu, and a radius R: about how long x - mu is. What takes part is (x - mu, h) / R,
h for the intercept, with a limit: where it is longer than 1 the row counts for as much less. On the grid matrix, mean
and h are integers, and limits make limit * |row| at most REACH, exactly (`CodeRows.limits`). Sums of residuals by code
are integers, and their product with the matrix is exact: of at most 2**30 rows it is at most 2**60, and is computed
modulo 2**64.

**Plain rows**, dense, sparse or packed, are brought to norm 1 on the grid of `UnitRows`: integers q of norm at most
2**17. Of two classes they have the residual by margin, and score levels are counted in the end (`steepness`). Their
opening is their sum. Its entries are cut where noise may be all that they hold, and shortened by the share
of their squares that it may be; so the mean m is that of the columns whose mean is large. What takes part is (q - m, h)
with limits, as above, and limit * |(q - m, h)| is at most REACH, exactly (`UnitRows.limits`).
"""

import math

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import logistic, reals
from dpfast.learners.calibration import level_counts
from dpfast.learners.halfspaces.opening import SURE, Opening, class_sizes
from dpfast.learners.halfspaces.steepness import ENDS
from dpfast.tables.codes import CodeRows

BINS, HATS = 32, 9  # entries of a column of numbers: shared by bins, and of each scale besides the place
_NUMBERS = 2 * (HATS + 1)
_BIN, _SCALE = 0.5, 0.75  # heights
LIMIT, _RADIUS = 1 << 16, 1 << 14  # of rows of codes: the largest limit, and R on the grid
_PLAIN_LIMIT = 1 << 10  # over R, which is at least a quarter, sums take it
_SCALES = np.repeat([1, 2], HATS + 1)  # groups of the entries of both scales
_FINEST = 1 << 16  # steps to an entry 1, at most
_SHORTER, _LEAST, _TOP = 0.7, 0.1, 0.2  # R^2 over |x - mu|^2, its least over |x|^2, and h over R
_SQUARES = 1 << 30  # what squares of rows add up to, at most: look-ups hold them


def image_of(rows, classes, fit_intercept):
    """The image of rows of codes, or of plain rows."""
    return (CodeImage if isinstance(rows, CodeRows) else PlainImage)(rows, classes, fit_intercept)


class CodeImage:
    """Images of rows of codes; what is said of the opening is known after `open` or `begin`.

    Parameters
    ----------
    rows : CodeRows
        Of which the columns are read, and no code.
    classes : int
    fit_intercept : bool

    Attributes
    ----------
    size : int
        Entries of an image.
    reach : int
        A residual of at most 1 times an image has a norm of at most this, on the grid.
    opening_size : int
        Numbers in the opening.
    shares : ndarray of float64, shape (codes,)
        About which share of the rows has each code, of each column 1 in sum; known after the opening.
    opening : Opening
    groups : ndarray of int64, shape (size,)
        Entries that are alike have one number; -1 for the intercept.
    fastest : float
        The largest rate of a descent: rows that are not centred have a mean, along which it must be less.
    by_margin : bool
        Whether residuals are those by margin, and score levels are counted after the rounds.
    columns, pairs_at : int
        The number of columns, and of the entries that go before the intercept.
    radius : float
        R, in entries of an image; known after the opening.
    spread : ndarray of float64, shape (size,)
        About the mean square of each entry over the rows, 0 for the intercept; known after the opening.
    """

    reach = LIMIT * _RADIUS
    fastest, by_margin = 128.0, False

    def __init__(self, rows, classes, fit_intercept):
        self._rows, self._classes, self._constant = rows, classes, bool(fit_intercept)
        self._pairs = ()
        widths = [_width(column, size) for column, size in zip(rows.columns, rows.sizes, strict=True)]
        self._starts = np.cumsum([0, *widths])
        self.size = int(self._starts[-1]) + self._constant
        self.columns, self.pairs_at = len(rows.sizes), int(self._starts[-1])
        self._weight = max(1, round(math.sqrt(len(rows.sizes)) / 2))
        self.opening_size = rows.shape[1] + classes

    def opening_square(self, changes):
        """By how much the opening moves at most, squared, when a row is replaced (2 changes) or added (1)."""
        return changes * (len(self._rows.sizes) + self._weight**2)

    def opening_question(self):
        """What the opening asks of a piece, and what is told with it."""
        return _code_counts, self._classes, self._weight

    def open(self, noisy, deviation, n):
        """Take up the released opening: `Opening.of`, and all that follows from it."""
        self.begin(Opening.of(noisy, deviation, self._rows, self._classes, n, self._weight))

    def begin(self, opening):
        """Take up an `Opening` of any origin."""
        self.opening, rows = opening, self._rows
        blocks, groups = [], []
        held = [count / max(opening.n, reals.sum(count)) for count in opening.counts]
        for column, size, share, rank in zip(rows.columns, rows.sizes, held, opening.ranks, strict=True):
            if rank is None:
                blocks.append(sp.eye_array(size, format="csr"))
                groups.append(_alike(share))
            else:
                blocks.append(sp.csr_array(_of_numbers(column, rank)))
                shared = blocks[-1][:, : _shared(column, size)] > 0
                groups.append(np.concatenate([_alike(_product(shared.T.tocsr(), share)), _SCALES]))
        self.shares = np.concatenate([_shares(count) for count in opening.counts])
        matrix = sp.csr_array(sp.block_diag(blocks, format="csr"))
        mean = _product(matrix.T.tocsr(), np.concatenate(held)) * self._constant
        square = _SHORTER * max(len(blocks) - reals.dot(mean, mean), _LEAST * len(blocks))
        self.radius = math.sqrt(square * (1 + _TOP**2 * self._constant))
        unit = min(_RADIUS / self.radius, _FINEST)
        matrix.data = np.rint(matrix.data * unit)
        self._mean = np.rint(mean * unit).astype(np.int64)
        self._top = int(_TOP * math.sqrt(square) * unit) * self._constant
        self._by_entry, self._by_code = matrix.T.tocsr().astype(np.int64), matrix
        squares = _product(self._by_entry.power(2), self.shares)
        spread = np.maximum(squares - np.square(self._mean.astype(np.float64)), 0.0) / _RADIUS**2
        self.spread = np.append(spread, np.zeros(int(self._constant)))
        self._squares, self._allowed = self._limited(matrix.astype(np.int64))
        of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        found = np.unique(np.stack([of, np.concatenate(groups)]), axis=1, return_inverse=True)[1].ravel()
        self.groups = np.concatenate([found, np.full(int(self._constant), -1)])

    def joined(self, pairs):
        """The image with a column more for each `Interaction`, which comes before the intercept."""
        image = CodeImage(self._rows.joined(pairs), self._classes, self._constant)
        image._pairs = tuple(pairs)
        image.begin(self.opening.joined(pairs))
        return image

    def _limited(self, matrix):
        """Squares of what each code adds to an image, in steps, rounded up; and what a row within R has at most."""
        mean, column = self._mean, np.repeat(np.arange(len(self._rows.sizes)), self._rows.sizes)
        of_mean = np.add.reduceat(mean * mean, self._starts[:-1])
        squares = matrix.power(2).sum(axis=1) - 2 * (matrix @ mean) + of_mean[column]
        squares[: self._rows.sizes[0]] += self._top**2  # each row has a code of column 0
        most = int(np.maximum.reduceat(squares, self._rows.offsets[:-1]).sum())
        step = max(1, -(-most // _SQUARES))
        return (-(-squares // step)).astype(np.int32), _RADIUS**2 // step

    def question(self, u, constants):
        """What a round asks of a piece, and what is told with it; scores are <u, image> + constants."""
        return _code_sums, *self._told(u, constants)

    def pair_question(self, u, constants, pairs):
        """What is asked of a piece to choose among pairs, and what is told with it: scores are those of a round."""
        return _pair_sums, pairs, *self._told(u, constants)

    def _told(self, u, constants):
        coef, intercept, _ = self.linear(u)
        limited = self._squares, self._allowed, self._pairs
        return limited, *self._rows.rounded(coef), (intercept + constants).astype(np.float32)

    def entries(self, total):
        """The sum of images on the grid, of sums of residuals by code: int64, shape (size, columns)."""
        residuals = total[: self._rows.sizes[0]].sum(axis=0)
        sums = self._by_entry @ total - self._mean[:, np.newaxis] * residuals
        return np.concatenate([sums, (self._top * residuals)[np.newaxis][: self._constant]])

    def linear(self, u):
        """<u, image> as coefficients of codes (codes, columns), an intercept (columns,), and what else is added."""
        w = np.ascontiguousarray(u[: len(self._mean)].T) / _RADIUS
        top = self._top * u[len(self._mean) :].sum(axis=0) / _RADIUS
        mean = np.array([reals.dot(self._mean.astype(np.float64), column) for column in w])
        return np.stack([_product(self._by_code, column) for column in w], axis=1), top - mean, 0.0

    def deviations(self, noise):
        """Return the noise of coefficients of codes less the mean over their column by `shares`, given that of u.

        Parameters
        ----------
        noise : ndarray of float64, shape (size, columns)
            Standard deviations; noise of entries is independent.

        Returns
        -------
        ndarray of float64, shape (codes, columns)
        """
        variances = np.square(noise[: len(self._mean)] / _RADIUS)
        sizes = np.asarray(self._rows.sizes)
        column = np.repeat(np.arange(len(sizes)), sizes)
        middle = _product(self._by_entry.astype(np.float64), self.shares)  # an entry is of one column
        squares = self._by_code.power(2)
        of_codes = []
        for v in np.ascontiguousarray(variances.T):
            of_mean = np.add.reduceat(middle * middle * v, self._starts[:-1])
            of_codes.append(_product(squares, v) - 2 * _product(self._by_code, middle * v) + of_mean[column])
        return np.sqrt(np.maximum(np.stack(of_codes, axis=1), 0.0))


class PlainImage:
    """Images of plain rows; as `CodeImage`, and the opening is of the sum of the rows and of class sizes.

    Parameters
    ----------
    rows : UnitRows
    classes : int
    fit_intercept : bool
    """

    def __init__(self, rows, classes, fit_intercept):
        self._linear, self._classes, self._centred = rows.linear, classes, bool(fit_intercept)
        self.by_margin = classes == 2
        self._width, self._unit, self.columns = rows.shape[1], rows.reach, None
        self.size, self.reach = self._width + self._centred, _PLAIN_LIMIT * rows.reach
        self.fastest = 128.0 if self._centred else 32.0
        self._weight = rows.reach if self._centred else 1
        self.opening_size = self._width * self._centred + classes
        self._mean, self._top, self._radius = np.zeros(self._width, np.int32), 0, self._unit
        self.groups = np.append(np.zeros(self._width, np.int64), np.full(int(self._centred), -1))

    def opening_square(self, changes):
        return self._centred * (changes * self._unit) ** 2 + changes * self._weight**2

    def opening_question(self):
        return _plain_counts, self._classes, self._weight, self._centred

    def open(self, noisy, deviation, n):
        sizes = noisy[len(noisy) - self._classes :] / self._weight
        n = float(max(1, reals.sum(sizes) if n is None else n))
        self.opening = Opening(n, class_sizes(sizes, deviation / self._weight, n), (), ())
        if not self._centred:
            return
        mean, cut = noisy[: self._width] / self._unit / n, _certain(self._width) * deviation / self._unit / n
        mean *= np.maximum(0, 1 - np.square(cut / np.maximum(np.abs(mean), cut)))
        mean /= max(1.0, reals.norm(mean))
        self._mean = np.rint(mean * self._unit).astype(np.int32)
        square = _SHORTER * max(1 - reals.dot(mean, mean), _LEAST)
        self._top = int(_TOP * math.sqrt(square) * self._unit)
        self._radius = int(math.sqrt(square * (1 + _TOP**2)) * self._unit)

    def question(self, u, constants):
        centring = self._mean, self._top, self._radius, self.reach
        return _plain_sums, centring, *self._told(u, constants)

    def level_question(self, u, constants):
        """What is asked of a piece to count score levels, and what is told with it: scores are those of a round."""
        return _plain_levels, *self._told(u, constants)

    def _told(self, u, constants):
        coef, shift = self._by_row(u)
        norm = reals.norm(coef) or 1.0
        return coef / norm, norm, (shift + constants).astype(np.float32)

    def entries(self, total):
        sums = total[:-1] - self._mean[:, np.newaxis] * total[-1]
        return np.concatenate([sums, (self._top * total[-1])[np.newaxis][: self._centred]])

    def linear(self, u):
        coef, shift = self._by_row(u)
        return *self._linear(coef), shift

    def _by_row(self, u):
        """<u, image> as coefficients of rows of norm 1 (width, columns), and what is added (columns,)."""
        coef = u[: self._width] * (self._unit / self._radius)
        mean = self._mean.astype(np.float64) / self._unit
        of_mean = np.array([reals.dot(mean, column) for column in np.ascontiguousarray(coef.T)])
        return coef, u[self._width :].sum(axis=0) * (self._top / self._radius) - of_mean


def _certain(size):
    """Deviations above which none of so many numbers of noise alone is expected."""
    return max(SURE, math.sqrt(2 * math.log(2) * size.bit_length()))


def _shared(column, size):
    """Entries that each stand for some codes of a column."""
    if column is None or not column.ordered:
        return size
    return min(column.bins, BINS) + size - column.bins


def _width(column, size):
    return _shared(column, size) + (0 if column is None or not column.ordered else _NUMBERS)


def _of_numbers(column, rank):
    """The entries of each code of a column of numbers: float64, shape (size, entries)."""
    bins, size = column.bins, column.size
    missing, shared = size - bins, _shared(column, size)
    places = np.arange(bins)
    if bins > BINS:
        places = np.maximum.accumulate(np.clip((rank + 1) / 2 * BINS, 0, BINS - 1).astype(np.int64))
    block = np.zeros((size, shared + _NUMBERS))
    block[np.arange(size), np.append(places, shared - 1 - np.arange(missing))] = _BIN
    apart = column.high - column.low
    linear = 2 * (column.midpoints() - column.low) / apart - 1 if apart > 0 else np.zeros(bins)
    knots = np.linspace(-1, 1, HATS)
    for start, scale in ((shared, linear), (shared + HATS + 1, rank)):
        v = np.clip(scale, -1, 1)[:, np.newaxis]
        block[:bins, start : start + HATS + 1] = _SCALE * np.hstack([v, np.maximum(0, 1 - np.abs(v - knots) * 4)])
    return block


def _alike(share):
    """A number, at most 0, for each entry, by its share of the rows: the same to a factor of 4, and below 1e-4."""
    return (np.frexp(np.clip(share, 1e-4, 1))[1].astype(np.int64) - 1) // 2


def _product(matrix, w):
    """A sparse matrix times a vector: float64, the same on every machine."""
    return reals.products_csr(matrix.indptr, matrix.indices, matrix.data.astype(np.float64), w)


# ---- what pieces are asked -----------------------------------------------------------------------------------------


def _shares(count):
    """The share of the rows that has each code, by counts of a column; equal shares where all counts are 0."""
    rows = reals.sum(count)
    return count / rows if rows > 0 else np.full(len(count), 1 / len(count))


def _class_counts(piece, classes):
    return np.bincount(piece.labels, minlength=classes).astype(np.int64)


def _code_counts(piece, classes, weight):
    return np.concatenate([piece.rows.counts(), weight * _class_counts(piece, classes)])


def _labels(piece, columns):
    """The labels as the kernels read them."""
    if _labels not in piece.memo:
        piece.memo[_labels] = piece.labels.astype(np.uint8 if columns == 1 else np.uint16)
    return piece.memo[_labels]


def _code_sums(piece, limited, table, step, constants):
    """Sums of residuals by code."""
    rows, limits = _limited_rows(piece, limited)
    return rows.residual_sums(_labels(piece, len(constants)), limits, table, step, constants)


def _pair_sums(piece, pairs, limited, table, step, constants):
    """Sums of residuals by the cells of pairs."""
    rows, limits = _limited_rows(piece, limited)
    return rows.pair_sums(pairs, _labels(piece, len(constants)), limits, table, step, constants)


def _limited_rows(piece, limited):
    """The rows with the columns of pairs, and their limits."""
    squares, allowed, pairs = limited
    known = piece.memo.get(_limited_rows)
    if known is None or known[:2] != (allowed, pairs) or not np.array_equal(known[2], squares):
        rows = piece.rows.joined(pairs) if pairs else piece.rows
        known = piece.memo[_limited_rows] = allowed, pairs, squares, rows, rows.limits(squares, allowed, LIMIT)
    return known[3:]


def _plain_counts(piece, classes, weight, centred):
    """The sum of the rows, and class sizes."""
    sizes = weight * _class_counts(piece, classes)
    if not centred:
        return sizes
    return np.concatenate([piece.rows.weighted_sum(np.ones(piece.rows.shape[0], np.int32)), sizes])


def _plain_sums(piece, centring, w, step, constants):
    """The sum of rows times their residuals, and the sum of residuals."""
    known = piece.memo.get(_plain_sums)
    if known is None or known[0][1:] != centring[1:] or not np.array_equal(known[0][0], centring[0]):
        known = piece.memo[_plain_sums] = centring, piece.rows.limits(*centring)
    labels, scores, limits = _labels(piece, len(constants)), piece.rows.margins(w), known[1]
    if len(constants) == 1:
        residuals = logistic.two(scores, labels, limits, step, float(constants[0]), by_margin=True)
    else:
        residuals = logistic.many(scores, labels, limits, step, constants)
    return np.concatenate([piece.rows.weighted_sum(residuals), residuals.sum(axis=0, dtype=np.int64)[np.newaxis]])


def _plain_levels(piece, w, step, constants):
    """Counts of rows by score level and class."""
    scores = piece.rows.margins(w)[:, 0] * np.float32(step) + constants[0]
    return level_counts(scores, piece.labels, ENDS).ravel()
