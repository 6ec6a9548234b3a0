"""Learning from experts: randomized weighted majority, and linear functions learned by it."""

import math
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    PrivacySpend,
    Release,
    experts_learning_rate,
    experts_range,
    experts_regret,
)
from dpfast.data import BitMatrix
from dpfast.data.blocks import BLOCK_BYTES, slices
from dpfast.data.signed_rows import SparseRows, signed_rows
from dpfast.kernels import weights
from dpfast.learners.base import PrivateClassifier, TwoSided, shown

_GRID_BITS = 16
_PART = 1 << 26  # losses played between two looks at Ctrl-C

_learning_rate = lru_cache(typed=True)(experts_learning_rate)


class Regret(NamedTuple):
    """What `RandomizedWeightedMajority.owner_report` says. PRIVATE: for the owner of the losses."""

    rounds: int
    loss: float
    best_loss: float
    regret: float
    theorem_11_1: float
    theorem_11_3: float


class RandomizedWeightedMajority:
    """Follow the advice of experts, privately, in rounds: randomized weighted majority [DR11, section 11.2]_.

    In each round `act` draws an expert with probability proportional to exp(-eta * loss so far), exactly, and `observe`
    takes the losses of all experts, in [0, 1]. In expectation the experts drawn lose hardly more than the best one.

    **Privacy.** All actions together are (epsilon, delta)-DP for the relation `neighbors`: under "replace" neighbours
    differ in the whole loss vector of one round, under "add-remove" that round's losses become a blank, all zero. Later
    losses may depend on earlier actions. A draw is an exponential mechanism on the total losses, which one round
    changes by a vector of range 2 (or 1); T draws are (2 eta)^2 T / 8-zCDP, and no more than `horizon` are made.
    Theorem and proof: `dpfast.accounting.experts`. What was lost, and so the regret, is private.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    n_experts : int or None, default=None
        d. None is read off the first losses given to `play`; `act` needs it.
    horizon : int
        T: actions that are paid for.
    neighbors : {"replace", "add-remove"}, default="replace"
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest eta that the accountant allows; "paper" is eta = epsilon / sqrt(32 T ln(1/delta)),
        [DR11, Theorem 11.2]_.
    budget : dpfast.accounting.Budget or None, default=None
        Charged (epsilon, delta) before the first action.
    random_state : None, int or numpy.random.Generator, default=None
        None is cryptographic. A seed is for tests and voids the guarantee; `privacy_` then says so.

    Attributes
    ----------
    learning_rate_ : float
        eta.
    rounds_ : int
        Actions drawn.
    actions_ : ndarray of int64, shape (rounds_,)
        All of them.
    privacy_ : dpfast.accounting.PrivacySpend

    Raises
    ------
    ValueError
        For a parameter that will not do.

    Notes
    -----
    Losses are rounded to multiples of 2**-16, which keeps them in [0, 1] and costs no privacy. A round is one read of
    the losses and one read and write of the state, 4 bytes an expert (8 once totals differ by thousands); of sparse
    losses only the experts touched. One seed gives the same actions at every instruction-set level, and by `play` as
    by `act` and `observe`. It is not pickled: its state is private.

    References
    ----------
    .. [DR11] C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 11.2.

    Examples
    --------
    >>> learner = RandomizedWeightedMajority(2.0, 1e-6, n_experts=3, horizon=1000, random_state=0)
    >>> for _ in range(1000):
    ...     expert = learner.act()
    ...     learner.observe([0.9, 0.1, 0.8])
    >>> int(np.bincount(learner.actions_).argmax())
    1
    >>> print(learner.privacy_)
    (2.0, 1e-06)-DP, replace one row; 1000 of 1000 releases used; drawn with a seed: reproducible, not private
    """

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        n_experts=None,
        horizon,
        neighbors="replace",
        calibration="tight",
        budget=None,
        random_state=None,
    ):
        if n_experts is not None and (not _is_count(n_experts) or n_experts >= 1 << 32):
            raise ValueError(f"n_experts must be None or an integer from 1 to 2**32 - 1, got {n_experts!r}")
        self.epsilon, self.delta, self.n_experts, self.horizon = epsilon, delta, n_experts, horizon
        self.neighbors, self.calibration = neighbors, calibration
        self.learning_rate_ = self._rate(calibration)
        if budget is not None:
            if not isinstance(budget, Budget):
                raise ValueError(f"budget must be None or a dpfast.accounting.Budget, got {budget!r}")
            budget.check(epsilon, delta, neighbors=neighbors)
        self._budget, self._rng = budget, random.generator(random_state)
        self._weights, self._parts, self.rounds_, self._waiting = None, [], 0, False

    def act(self):
        """Draw the expert to follow in the next round.

        Returns
        -------
        int

        Raises
        ------
        BudgetExceeded
            If all `horizon` actions are made, or the budget does not suffice; before anything is drawn.
        RuntimeError
            If the losses of the last round were not observed yet.
        """
        if self.n_experts is None:
            raise ValueError("n_experts= must be given to act before any losses are known")
        self._ready(1)
        self._start(self.n_experts)
        self.rounds_ += 1  # before the draw: what may have been drawn counts
        expert = self._weights.draw(self._rng)
        self._parts.append(np.array([expert]))
        self._waiting = True
        return expert

    def observe(self, losses):
        """Take the losses of the round whose action was drawn last.

        Parameters
        ----------
        losses : array_like of shape (d,), sparse matrix or BitMatrix of shape (1, d)
            In [0, 1]; float32 is read where it is. An expert that a sparse row does not store loses nothing.

        Raises
        ------
        ValueError
            For losses outside [0, 1], NaN or a wrong length; they do not count then, and others may be given.
        RuntimeError
            If no action was drawn.
        """
        if not self._waiting:
            raise RuntimeError("there is no round to observe: draw its action first, by act()")
        if not (sp.issparse(losses) or isinstance(losses, BitMatrix)):
            losses = np.asarray(losses)
            if losses.ndim != 1:
                raise ValueError(f"losses must have shape ({self.n_experts},), got {losses.shape}")
            losses = losses[np.newaxis]
        rows = self._rows(losses)
        if rows.shape[0] != 1:
            raise ValueError(f"losses must be those of one round, got {rows.shape[0]}; see play")
        self._weights.add(rows)
        self._waiting = False

    def play(self, losses):
        """`act` and `observe` for many rounds at once.

        Parameters
        ----------
        losses : array_like, sparse matrix or BitMatrix of shape (n, d), or an iterator over such blocks
            A row is a round; as in `observe`.

        Returns
        -------
        ndarray of int64, shape (n,)
            The expert followed in each round. It does not depend on that round's losses or later ones.

        Raises
        ------
        ValueError, BudgetExceeded, RuntimeError
            As `observe` and `act`, for a block as a whole before anything of it is drawn.
        """
        first = self.rounds_
        for block in losses if hasattr(losses, "__next__") else [losses]:
            if not (sp.issparse(block) or isinstance(block, BitMatrix)):
                block = np.asarray(block)
                if block.ndim != 2:
                    raise ValueError(f"losses must have shape (n, d), got {block.shape}")
            self._ready(block.shape[0])
            rows = self._rows(block)
            rows.check()
            self._start(block.shape[1])
            experts = np.full(block.shape[0], -1)
            for part in slices(block.shape[0], _PART // block.shape[1]):
                self.rounds_ += part.stop - part.start
                self._parts.append(experts[part])
                self._weights.play(rows, self._rng, part.start, part.stop, experts)
        return self.actions_[first:]

    @property
    def actions_(self):
        self._parts = [np.concatenate(self._parts)] if self._parts else []
        return self._parts[0].copy() if self._parts else np.empty(0, np.int64)

    @property
    def privacy_(self):
        return PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("actions", self.rounds_, self.horizon),),
            reproducible=random.is_reproducible(self._rng),
        )

    def owner_report(self):
        """What was lost. PRIVATE: for the owner of the losses, not covered by the guarantee.

        Returns
        -------
        Regret
            rounds observed; loss of the experts drawn, and of the best expert in hindsight; the difference; and, of so
            many rounds, what Theorem 11.1 of [DR11]_ lets it be at most in expectation, for the learning rate in use
            and, Theorem 11.3, for the paper's (infinite where that does not fit epsilon and delta).
        """
        rounds = self.rounds_ - self._waiting
        if not rounds:
            raise RuntimeError("there is nothing to report: no round was observed")
        unit = 1 << _GRID_BITS
        loss, best = self._weights.paid / unit, int(self._weights.totals().min()) / unit
        own = experts_regret(self.learning_rate_, self.n_experts, rounds)
        try:
            papers = experts_regret(self._rate("paper"), self.n_experts, rounds)
        except ValueError:
            papers = math.inf
        return Regret(rounds, loss, best, loss - best, own, papers)

    def _rate(self, calibration):
        width = experts_range(self.neighbors)
        return _learning_rate(self.epsilon, self.delta, horizon=self.horizon, loss_range=width, calibration=calibration)

    def _ready(self, rounds):
        """Refuse rounds that were not paid for."""
        if self._waiting:
            raise RuntimeError("the losses of the last action were not observed yet")
        left = self.horizon - self.rounds_
        if rounds > left:
            raise BudgetExceeded(f"{rounds} more actions do not fit: of horizon={self.horizon}, {left} are left")

    def _start(self, n_experts):
        """Charge, and set out from equal weights."""
        if self._weights is None:
            state = weights.Weights(n_experts, Fraction(self.learning_rate_) / (1 << _GRID_BITS))
            if self._budget is not None:
                self._budget.charge(self.epsilon, self.delta, neighbors=self.neighbors)
            self.n_experts, self._weights = n_experts, state

    def _rows(self, block):
        """A block as the kernel's losses."""
        if self.n_experts is not None and block.shape[1] != self.n_experts:
            raise ValueError(f"losses must be of n_experts={self.n_experts} experts, got {block.shape[1]}")
        if isinstance(block, BitMatrix):
            return weights.packed(block.rows, block.shape[1], bits=_GRID_BITS)
        if sp.issparse(block):
            block = block.tocsr()
            if not block.has_canonical_format:
                block = block.copy()
                block.sum_duplicates()
            return weights.csr(block.indptr, block.indices, _reals(block.data), block.shape[1], bits=_GRID_BITS)
        return weights.dense(_reals(block), bits=_GRID_BITS)

    def __reduce__(self):
        raise TypeError(
            "RandomizedWeightedMajority holds losses that are private: it is not copied or pickled; actions_ may be"
        )

    def __repr__(self):
        return (
            f"RandomizedWeightedMajority({self.epsilon}, {self.delta}, n_experts={self.n_experts}, "
            f"horizon={self.horizon}, neighbors={self.neighbors!r}: {self.rounds_} rounds)"
        )


class LinearLearner(TwoSided, PrivateClassifier):
    """Private linear classifier: the average of coordinates drawn by their agreement [DR11, Algorithm 17]_.

    The algorithm maximises the average of <theta, x> over the simplex by following experts, one for each coordinate:
    expert e_j loses -<e_j, x_t> in round t, and theta is the average of the T = n vectors drawn. Here an example (x, y)
    is the row y x, so that what is maximised is the average margin y <theta, x>; and with `negations` the vectors
    -e_j are experts too, so that theta ranges over the cross-polytope, the sum of absolute values at most 1.

    **Privacy.** All draws, and so theta, are (epsilon, delta)-DP when one row (x, y) is replaced. A row is a loss
    vector in [-1, 1] and replacing it changes the totals by a vector of range R = 4, negated copies included: the draws
    are (4 eta)^2 n / 8-zCDP. Theorem and proof: `dpfast.accounting.experts`. The number of rows is public.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    neighbors : {"replace"}, default="replace"
        To add or remove a row changes the number of rounds, and with it what is released.
    negations : bool, default=True
        Whether each feature also stands negated.
    fit_intercept : bool, default=True
        Whether a constant feature is added.
    out_of_range : {"error", "clip"}, default="error"
        What to do with features outside [-1, 1].
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows; "paper" is epsilon / sqrt(32 n ln(1/delta)).
    budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
    intercept_ : float
    learning_rate_ : float
        eta.
    released_weights_ : tuple of (ndarray of int64, ndarray of int64, int)
        Rising coordinates, their signed counts, and the number of draws; coordinate n_features_in_ is the intercept.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    What is maximised is the average margin, not accuracy: features that hardly vary, or a class that is more frequent,
    draw theta to the constant. `DPWinnowClassifier` learns from mistakes and so does better at equal privacy.

    n passes over 4 bytes a feature; sparse rows cost their stored entries. Rows are rounds in a random order, which
    does not depend on them and costs no privacy: all draws count alike, and in a sorted table the first class would
    decide. Floats go to a grid of 2**-10. Results are the same at every instruction-set level.

    References
    ----------
    .. [DR11] C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 11.2.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> X = dpfast.BitMatrix(mushroom.data)  # signs, not 0 and 1
    >>> clf = dpfast.LinearLearner(epsilon=10.0, random_state=0).fit(X, mushroom.target)
    >>> clf.score(X, mushroom.target) > 0.75
    True
    """

    _model = "linear-learner"

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        neighbors="replace",
        negations=True,
        fit_intercept=True,
        out_of_range="error",
        calibration="tight",
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.negations = negations
        self.fit_intercept = fit_intercept
        self.out_of_range = out_of_range
        self.calibration = calibration
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None):
        """Learn in one pass over the rows, in a random order.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
            In [-1, 1]; booleans and BitMatrix are signs.
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The public set of labels; read off y by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        if self.neighbors != "replace":
            raise ValueError(
                f'neighbors must be "replace", got {self.neighbors!r}: a row more is a round more, and another release'
            )
        if self.out_of_range not in ("error", "clip"):
            raise ValueError(f'out_of_range must be "error" or "clip", got {self.out_of_range!r}')
        rng = random.generator(self.random_state)
        self._check_budget()
        rows = self._read(X, reset=True)
        (n, d), signs = rows.shape, self._signs(y, rows.shape[0], classes)
        width = experts_range(signed=True)
        eta = _learning_rate(self.epsilon, self.delta, horizon=n, loss_range=width, calibration=self.calibration)
        constant = bool(self.fit_intercept)
        state = weights.Weights(d + constant, Fraction(eta) / rows.unit, mirrored=bool(self.negations))

        self._charge()
        self.learning_rate_ = eta
        step = BLOCK_BYTES // (4 * d) if not isinstance(rows, SparseRows) else 1 << 14
        drawn, made, order = np.zeros((2, d + constant), np.int64), 0, rng.permutation(n)
        try:
            for part in shown(slices(n, step), "rounds", self.verbose):
                experts = state.play(rows.losses(order[part], -signs, constant=constant), rng)
                drawn += np.bincount(experts, minlength=2 * (d + constant)).reshape(2, -1)
                made += len(experts)
        finally:  # what was drawn is kept, also when interrupted
            count = drawn[0] - drawn[1]
            index = np.flatnonzero(count)
            self.released_weights_ = index, count[index], made
            self.privacy_ = PrivacySpend(
                self.epsilon,
                self.delta,
                self.neighbors,
                (Release("draws", made, n),),
                reproducible=random.is_reproducible(rng),
            )
        return self

    def decision_function(self, X):
        """<theta, x> of each row, in [-1, 1]: float64, shape (n,); at least 0 is for classes_[1]."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        index, count, draws = self.released_weights_
        inside = index < rows.shape[1]
        votes = rows.votes(index[inside], count[inside]) + rows.unit * count[~inside].sum()
        return votes / max(1, draws * rows.unit)

    @property
    def coef_(self):
        return self._theta()[:-1]

    @property
    def intercept_(self):
        return float(self._theta()[-1])

    def _theta(self):
        index, count, draws = self.released_weights_
        theta = np.zeros(self.n_features_in_ + 1)
        theta[index] = count / max(1, draws)
        return theta

    def _read(self, X, *, reset):
        rows = signed_rows(X, out_of_range=self.out_of_range)
        self._check_features(X, reset)
        return rows

    def _released(self):
        index, count, draws = self.released_weights_
        return [index.tolist(), count.tolist(), draws]

    def _restore(self, released):
        index, count, draws = np.array(released[0], np.int64), np.array(released[1], np.int64), int(released[2])
        if index.shape != count.shape or (index.size and not 0 <= index[0] <= index[-1] <= self.n_features_in_):
            raise ValueError(f"every count needs a coordinate in [0, {self.n_features_in_}]")
        self.released_weights_ = index, count, draws


def _reals(values):
    """float32 as it is, all else as float64."""
    return values if values.dtype == np.float32 else np.asarray(values, np.float64)


def _is_count(value):
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
