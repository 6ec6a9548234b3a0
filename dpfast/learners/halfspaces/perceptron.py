"""The batch perceptron with a margin that follows the noise: a halfspace for each class, along noisy sums.

Rows x_i have norm at most 1 and, on the grid, are integers q_i of norm at most `reach`. One matrix G, a column for
each of k classes, gives a row the scores G' x. The row is *unsettled* while its own class is not ahead of the best
other one, its *rival*, by a threshold. A round releases the sum of q (e_own - e_rival)' over the unsettled rows with
noise, and adds what it released to G. For two classes one column is enough: the sum of y q over the rows with y <g, x>
below the threshold.

**What one row can do.** Given G, a row adds q (e_own - e_rival)', of Frobenius norm at most sqrt(2) reach, or nothing:
it is no concern of its whether others are settled. So a sum moves by at most 2 sqrt(2) reach where a row is replaced,
and by sqrt(2) reach where one is added; without the factors sqrt(2) for two classes. All else, the threshold too,
follows from what was released.

**Weights of classes** are declared, none above 1: a row adds omega_own times as much. That is no more than what it
added without, and just that for the class of weight 1, so that the bounds stay and are attained. On the grid a weight
is an integer of steps of 1 / WEIGHT, rounded down but not to 0, and sums count such steps.

**How many rounds.** The noise of G after all of them hardly depends on how many they are: what more of them buy is a
closer look at rows near the threshold, which is worth its time where noise is small. Rows of codes need the closest
look: entries of one column stand in for another, so that what a round adds is far from what is missing. For these
rounds grow with 1 / sigma, sigma the noise that a single sum would need: under "add-remove" half of what it is under
"replace", and k times as much for persons of k rows.

**Why this threshold.** Each sum has noise of deviation s along any row, so G has sqrt(t) s after t rounds: a row
further ahead than a few times that is right for sure, and would only drown those that are not. With little noise,
though, a threshold below what one round moves would have G swing from side to side. So the threshold is

    sqrt((a s)^2 t + c^2 E),    E = the sum over the rounds of max(0, |noisy sum|^2 - what noise alone would have),

where a grows with the number of columns, as more of them fit noise more easily, and c is a constant. It needs neither
the number of rows, nor a margin, nor a rate. Before the first round no row is settled, and the threshold is infinite.

Sources: K. Crammer, Y. Singer, Ultraconservative online algorithms for multiclass problems, JMLR 2003, for the rival;
W. Krauth, M. Mezard, Learning algorithms with optimal stability in neural networks, 1987, for a perceptron with a
margin.
"""

import math

import numpy as np

from dpfast.accounting import gaussian_sigma
from dpfast.tables.code_rows import CodeRows

ROUNDS, MOST_ROUNDS = 100, 1 << 15
WEIGHT = 1 << 8  # of a class of weight 1
_CODES = 1700, 300  # rounds for rows of codes: so many over sigma, and no more than so many
_STEP = 0.03  # c
_TAIL = 5  # the model is the mean over the last fifth of the rounds


def sensitivity(rows, classes, neighbors):
    """How far one row moves the sum of a round, at most and rounded up: int, in steps of the grid.

    Parameters
    ----------
    rows : UnitRows or CodeRows
    classes : int
    neighbors : {"replace", "add-remove"}
    """
    changes = 2 if neighbors == "replace" else 1
    return math.isqrt((1 if classes == 2 else 2) * (changes * rows.reach) ** 2 - 1) + 1


def rounds(epsilon, delta, moves, of_codes):
    """How many rounds a run has by default; `moves` is how far one person moves a sum, for rows of norm 1."""
    if not of_codes:
        return ROUNDS
    slope, most = _CODES
    return min(max(ROUNDS, round(slope / (moves * gaussian_sigma(epsilon, delta)))), most)


def class_weights(declared, classes):
    """Declared weights as integers, WEIGHT for the largest: int32, shape (k,).

    Parameters
    ----------
    declared : dict
        Positive finite numbers by class; a class that it does not name has weight 1.
    classes : ndarray, shape (k,)

    Raises
    ------
    ValueError
        For a class that there is not.
    """
    known = classes.tolist()
    if foreign := [label for label in declared if label not in known]:
        raise ValueError(f"class_weight names {foreign[0]!r}, which is none of the classes {known[:5]!r}")
    weights = np.array([float(declared.get(label, 1)) for label in known])
    return np.maximum(np.floor(WEIGHT * (weights / weights.max())), 1).astype(np.int32)


class NoisySums:
    """What a run has released, and what follows from it. No row is seen here.

    Parameters
    ----------
    size : int
        Columns of the rows, the intercept among them.
    classes : int
    deviation : float
        Of the noise on each entry of a sum, for rows of norm 1.
    n_rounds : int
    """

    def __init__(self, size, classes, deviation, n_rounds):
        self._total = np.zeros((size, 1 if classes == 2 else classes))
        self._noise = deviation**2
        self._along = self._noise * (1 if classes == 2 else 2)  # a score's lead is a difference of two
        self._care = max(1.0, math.log(size) / 4)
        self._rounds, self._excess = n_rounds, 0.0
        self._tail = np.zeros_like(self._total)
        self.used, self.threshold = 0, math.inf  # in the first round no row is settled

    def scale(self):
        """The Frobenius norm of G, or 1 for G = 0."""
        return math.sqrt(np.square(self._total).sum()) or 1.0

    def unit(self):
        """G, scaled to Frobenius norm 1, and the threshold for that: float64, shape (size, columns), and float."""
        norm = self.scale()
        return self._total / norm, self.threshold / norm

    def add(self, noisy):
        """Go on by a noisy sum, for rows of norm 1: float64, shape (size, columns)."""
        self.used += 1
        self._total += noisy
        self._excess += max(0.0, np.square(noisy).sum() - noisy.size * self._noise)
        self.threshold = math.sqrt(self._care**2 * self._along * self.used + _STEP**2 * self._excess)
        if _TAIL * self.used > (_TAIL - 1) * self._rounds:
            self._tail += self._total / self.threshold

    def model(self):
        """The mean of G over the last rounds, each G in thresholds: float64, shape (size, columns)."""
        late = self.used - (_TAIL - 1) * self._rounds // _TAIL
        if late > 0:
            return self._tail / late
        return self._total / self.threshold


def unsettled_sum(piece, w, threshold, of_classes=None):
    """What a round asks of a piece: the sum of its unsettled rows, int64, shape (size, columns).

    Parameters
    ----------
    piece : Piece
    w, threshold
        As `NoisySums.unit` gives them.
    of_classes : ndarray of int32, shape (k,), optional
        Weights, as `class_weights` gives them.
    """
    if isinstance(piece.rows, CodeRows) and w.shape[1] == 1:
        if unsettled_sum not in piece.memo:
            piece.memo[unsettled_sum] = piece.labels.astype(np.uint8)
        return piece.rows.sum_behind(
            w, piece.memo[unsettled_sum], threshold, (1, 1) if of_classes is None else of_classes
        )
    weights = unsettled(piece.rows.margins(w), piece.labels, threshold)
    if of_classes is not None:
        weights *= of_classes[piece.labels][:, np.newaxis]
    return piece.rows.weighted_sum(weights)


def unsettled(margins, labels, threshold):
    """The weights of rows in the sum of a round: 1 for the own class and -1 for the rival, or y; 0 for settled rows.

    Parameters
    ----------
    margins : ndarray of float32, shape (n, columns)
        Scores of the classes, or the one of the second of two.
    labels : ndarray of int, shape (n,)
    threshold : float

    Returns
    -------
    ndarray of int32, shape (n, columns)
    """
    if margins.shape[1] == 1:
        positive = labels[:, np.newaxis] == 1
        up, down = positive & (margins < threshold), ~positive & (margins > -threshold)
        return np.subtract(up, down, dtype=np.int32)
    every, by_class = np.arange(len(labels)), np.ascontiguousarray(margins.T)
    own = by_class[labels, every]
    by_class[labels, every] = -np.inf
    rival, best = np.zeros(len(labels), np.int64), by_class[0].copy()
    for c, scores in enumerate(by_class[1:], start=1):
        rival[scores > best] = c
        np.maximum(best, scores, out=best)
    rows = every[own - best < threshold]
    weights = np.zeros(margins.shape, np.int32)
    weights[rows, labels[rows]] = 1
    weights[rows, rival[rows]] = -1
    return weights
