"""Private boosting: a halfspace from noisy means of ever harder rows."""

import warnings
from numbers import Integral, Real

import numpy as np

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, boost_plan, gaussian_sigma
from dpfast.data.dense_measure import CAP, MOST_ROUNDS, DenseMeasure
from dpfast.learners.base import LinearClassifier, refuse_weights, shown
from dpfast.learners.weak import LARGEST_SCALE, NoisyCentering, NoisyStump, WeakLearner
from dpfast.mechanisms import discrete_laplace

_COUNT_SHARE = 0.05  # of epsilon, for the number of rows where that is private
_ROUNDS = 60
_WEAK = {"centering": NoisyCentering, "stump": NoisyStump}


class BoostedHalfspaceClassifier(LinearClassifier):
    """Private lazy Bregman boosting [BCS]_: a linear classifier that averages the noisy means of hard rows.

    A measure starts even over the rows; each round a weak learner answers it with a noisy hypothesis h, and the
    weight of a row falls with how well it is classified so far, exp(-learning_rate / 2 * sum of y h(x)); projected to
    a density kappa: no weight exceeds 1, all together are kappa n. The model is the average of the hypotheses.

    **Privacy.** All hypotheses together are (epsilon, delta)-DP for the relation `neighbors`: "replace" compares
    tables that differ in one row (x, y), "add-remove" tables one of which has a row more. Given the earlier
    hypotheses, changing one row moves all other weights in one direction, by no more than its own weight, so that a
    weighted sum of vectors of norm at most 1 moves by at most 2, half of what [BCS, Theorem 27]_ uses; every weight
    is an integer number of units and their mass is exact. The rounds are adaptive Gaussian mechanisms: see
    `dpfast.learners.weak`, theory.md section 5 and `dpfast.accounting.discrete_gaussian_sigma`. Under "add-remove"
    the number of rows is private: 5% of epsilon buys a noisy count, of which the mass is the kappa-th part.

    Rows are clipped to the unit ball, after a 1 for the intercept has been appended: that is a map of single rows. It
    happens always and is never counted or reported.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    neighbors : {"replace", "add-remove"}, default="replace"
    density : "auto" or float in (0, 1], default="auto"
        kappa. Noise falls, and the attention to hard rows, label noise among them, with it. "auto" is
        min(0.9, 0.29 + 2.4 d^(2/5) / (n mu^(5/4))), where one Gaussian mechanism of sensitivity 1 and standard
        deviation 1 / mu is (epsilon, delta)-DP: public numbers only.
    n_rounds : "auto" or int, default="auto"
        T; "auto" is 60. The noise of the average does not depend on it.
    learning_rate : "auto" or float, default="auto"
        lambda; "auto" is 2.4 d^(1/4).
    weak_learner : {"centering", "stump"} or WeakLearner, default="centering"
        "centering" answers with the noisy weighted mean of y x, any real features; "stump" with one feature of a
        table of 0 and 1.
    fit_intercept : bool, default=True
    calibration : {"tight", "paper"}, default="tight"
        "paper" takes density, n_rounds and learning_rate from `dpfast.accounting.boost_plan`, with which the algorithm
        of [BCS, section 5]_ provably errs on at most a tenth of new rows, except with probability 0.1, if a halfspace
        has the margin; the constants are derived there, not the paper's own. It warns where there are fewer rows than
        that asks for, which is many, and needs neighbors="replace". Noise is what the budget needs in either case.
    margin : float in (0, 1] or None, default=None
        The margin of the paper's calibration; used by nothing else.
    budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
    intercept_ : float
    density_, learning_rate_ : float
    n_rounds_ : int
        The parameters, or what "auto" came to.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    Two reads of the rows a round, but one in the first and none after the last sum. 20 bytes a row and 8 a feature
    and thread are kept besides the data; tables of type `RowBlocks` stay on disk. Sums are integers: results are the
    same at every instruction-set level, thread count and block size.

    References
    ----------
    .. [BCS] M. Bun, M. Carmosino, J. Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, COLT 2020.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.BoostedHalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    _model = "boosted-halfspace"
    _numbers = ("density", "learning_rate", "n_rounds")

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        neighbors="replace",
        density="auto",
        n_rounds="auto",
        learning_rate="auto",
        weak_learner="centering",
        fit_intercept=True,
        calibration="tight",
        margin=None,
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.density = density
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.weak_learner = weak_learner
        self.fit_intercept = fit_intercept
        self.calibration = calibration
        self.margin = margin
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None, **refused):
        """Learn by T rounds of boosting.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
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
        refuse_weights(refused)
        weak = self._checked_parameters()
        rng = random.generator(self.random_state)
        self._check_budget()
        rows = weak.rows(X, self.fit_intercept)
        self._check_features(X, reset=True)
        n, d = rows.shape[0], self.n_features_in_
        signs = self._signs(y, n, classes)
        density, rounds, rate = self._calibrated(n, d)
        if density is not None and n * density < 1:
            raise ValueError(f"density must be at least 1 / n = 1 / {n}, got {density!r}")
        share = _COUNT_SHARE if self.neighbors == "add-remove" else 0
        noise = weak.noise(rows, (1 - share) * self.epsilon, self.delta, rounds)
        count_scale = 1 / (share * self.epsilon) if share else 0.0
        if count_scale > LARGEST_SCALE:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {self.epsilon!r}")

        self._charge()
        size = n
        if share:
            size = max(1, int(discrete_laplace(n, count_scale, rng=rng)))
        self.density_ = self._density(size, d) if density is None else density
        self.learning_rate_, self.n_rounds_ = rate, rounds
        units = max(1, int(self.density_ * size * CAP))
        measure = DenseMeasure(signs, units, self.learning_rate_ / 2)
        total, intercept, used = np.zeros(d), 0.0, 0
        try:
            for t in shown(range(rounds), "rounds", self.verbose):
                hypothesis = weak.learn(rows, measure.weights(), units, noise, rng)
                coef, constant = weak.linear(hypothesis, d)
                total += coef
                intercept += constant
                used += 1
                if t + 1 < rounds:
                    measure.add(weak.margins(rows, hypothesis))
        finally:  # what was released is kept, also when interrupted
            self.coef_, self.intercept_ = total / max(1, used), intercept / max(1, used)
            self.privacy_ = PrivacySpend(
                self.epsilon,
                self.delta,
                self.neighbors,
                (Release("row count", 1, 1),) * bool(share) + (Release("rounds", used, rounds),),
                reproducible=random.is_reproducible(rng),
            )
        return self

    @property
    def _not_saved(self):
        own = isinstance(self.weak_learner, WeakLearner)  # prediction does not need it
        return (*super()._not_saved, *["weak_learner"] * own)

    def _calibrated(self, n, d):
        """Density, if it does not depend on what is yet to be released, rounds and learning rate."""
        if self.calibration == "paper":
            plan = boost_plan(self.epsilon, self.delta, margin=self.margin)
            if plan.n_rounds > MOST_ROUNDS:
                raise ValueError(
                    f"margin={self.margin!r} asks for {plan.n_rounds:,} rounds, and at most {MOST_ROUNDS:,} can be run"
                )
            if n < plan.n:
                warnings.warn(
                    f"the guarantee of the paper's calibration, an error of at most 0.1 at margin {self.margin}, needs "
                    f"{plan.n:,} rows, got {n:,}: it is void here",
                    stacklevel=3,
                )
            return plan.density, plan.n_rounds, plan.learning_rate
        return (
            None if self.density == "auto" else float(self.density),
            _ROUNDS if self.n_rounds == "auto" else int(self.n_rounds),
            2.4 * d**0.25 if self.learning_rate == "auto" else float(self.learning_rate),
        )

    def _density(self, n, d):
        mu = 1 / gaussian_sigma(self.epsilon, self.delta)
        return min(0.9, 0.29 + 2.4 * d**0.4 / (n * mu**1.25))

    def _checked_parameters(self):
        """Refuse parameters that will not do; returns the weak learner."""
        if self.density != "auto" and not (isinstance(self.density, Real) and 0 < self.density <= 1):
            raise ValueError(f'density must be "auto" or lie in (0, 1], got {self.density!r}')
        if self.n_rounds != "auto" and not (
            isinstance(self.n_rounds, Integral)
            and not isinstance(self.n_rounds, bool)
            and 1 <= self.n_rounds <= MOST_ROUNDS
        ):
            raise ValueError(f'n_rounds must be "auto" or an integer in [1, {MOST_ROUNDS}], got {self.n_rounds!r}')
        if self.learning_rate != "auto" and not (
            isinstance(self.learning_rate, Real) and 0.001 <= self.learning_rate <= 1e6
        ):
            raise ValueError(f'learning_rate must be "auto" or lie in [0.001, 1e6], got {self.learning_rate!r}')
        if self.calibration not in ("tight", "paper"):
            raise ValueError(f'calibration must be "tight" or "paper", got {self.calibration!r}')
        if self.calibration == "paper":
            if self.margin is None or self.neighbors != "replace":
                raise ValueError('calibration="paper" needs margin= and neighbors="replace"')
            if (self.density, self.n_rounds, self.learning_rate) != ("auto",) * 3:
                raise ValueError(
                    'calibration="paper" chooses density, n_rounds and learning_rate: leave them at "auto"'
                )
        if isinstance(self.weak_learner, WeakLearner):
            return self.weak_learner
        if not isinstance(self.weak_learner, str) or self.weak_learner not in _WEAK:
            raise ValueError(f"weak_learner must be one of {list(_WEAK)} or a WeakLearner, got {self.weak_learner!r}")
        return _WEAK[self.weak_learner]()
