"""Winnow: online learning of linear thresholds whose mistakes grow with the logarithm of the dimension."""

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, winnow_learning_rate, winnow_paper, winnow_range
from dpfast.data.score_vector import DenseScores, TouchedScores, from_array, score_vector
from dpfast.data.signed_rows import signed_rows
from dpfast.learners import checkpoint as checkpoints
from dpfast.learners.base import PrivateClassifier, TwoSided, shown
from dpfast.mechanisms import AboveThreshold

_CHUNK = 1 << 14  # rounds predicted at a time
_STEP = 2.0  # what an update moves a log-weight by, at most and about, once something is learned
_THRESHOLD_SHARE = 0.05  # of a stream's budget; its counts are in the thousands, noise in the dozens

_planned = lru_cache(winnow_paper)


class DPWinnowClassifier(TwoSided, PrivateClassifier):
    """Private Winnow with batched updates [BF, section 4.2]_: a sparse linear threshold, learned in one pass.

    **Privacy.** All that is released - the hypotheses, when they came, and so every prediction - is
    (epsilon, delta)-DP for the relation `neighbors`: "replace" compares tables or streams that differ in one row
    (x, y), "add-remove" tables one of which has a row more, or streams in one of which a row is a blank that never
    counts. A row is in one interval between releases, whatever it is; there it moves the scores s = sum of y x once and
    for all, by a vector of range R, and each of the n_draws * n_updates draws after it is an exponential mechanism on
    them of exponent eta, (eta R)^2 / 8-zCDP. In a stream the rows that count towards an update are counted by
    AboveThreshold, which one row touches in one interval only. Theorems and proofs: `dpfast.accounting.winnow`.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    neighbors : {"replace", "add-remove"}, default="replace"
    n_updates : int, default=20
        Releases K. After the last one a stream is predicted but no longer learned from.
    n_draws : int, default=10
        Draws m in a release.
    batch : "all" or int, default="all"
        How many of an interval's counting rows enter the update: all, or the first so many; 1 is the paper's.
    schedule : {"auto", "fixed", "sparse-vector"}, default="auto"
        When releases come: after intervals fixed beforehand, which costs nothing, or when AboveThreshold finds enough
        counting rows. "auto" is fixed for `fit` and sparse-vector for a stream.
    horizon : int or None, default=None
        Rounds that a stream is expected to have; needed by, and only by, a stream of fixed schedule and the paper's
        calibration.
    confidence : float in [0, 1), default=0.05
        Rows count, and move the scores, if their label is predicted wrongly or with a margin of at most this.
    negations : bool, default=True
        Whether each feature also stands negated, so that weights of both signs can be learned.
    fit_intercept : bool, default=True
        Whether a constant feature is added.
    feature_range : pair of float, default=(-1, 1)
        What every feature is declared to lie in; it becomes [-1, 1]. Booleans and BitMatrix are signs in any case.
    out_of_range : {"error", "clip"}, default="error"
    average : bool, default=True
        Whether `predict` uses the average of all releases or the last one. Both are free of cost.
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows. "paper" is [BF, Theorem 4.5]_ with the
        constants of `dpfast.accounting.winnow_paper` for `horizon`, `margin` and c = `confidence`: they replace
        n_updates and n_draws, rows count if they are predicted wrongly, and a first release is drawn from uniform
        weights. It goes with batch=1 and average=False, and warns where its promise on mistakes is void.
    margin : float in (0, 1] or None, default=None
        rho that the paper's calibration supposes; used by nothing else.
    checkpoint : None or path, default=None
        A file that `stream` and `partial_fit` keep the stream in; see `resume`. It must not exist when a stream begins.
    budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
        Weights that `predict` uses, features on [-1, 1]; their absolute values and the intercept's sum to at most 1.
    intercept_ : float
    updates_ : int
        Updates made, each with a release.
    released_weights_ : list of (ndarray of int64, ndarray of int64)
        The histogram of each release: rising coordinates and their signed counts, out of n_draws; coordinate
        n_features_in_ is the intercept.
    learning_rate_ : float
        eta: the largest that (epsilon, delta) allows, or the paper's.
    n_updates_, n_draws_ : int
        K and m: the parameters, or the paper's.
    rounds_ : int
        Rows of the stream so far; only where a stream can go on.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    Scores, and votes of released hypotheses, are integers: results are the same at every instruction-set level. One
    pass over the rows and 8 bytes a feature. The order of the rows is that of the stream; `fit` puts each row into an
    interval at random.

    References
    ----------
    .. [BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow, arXiv 2602.07370.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.DPWinnowClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.85
    True
    """

    _model = "winnow"

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        neighbors="replace",
        n_updates=20,
        n_draws=10,
        batch="all",
        schedule="auto",
        horizon=None,
        confidence=0.05,
        negations=True,
        fit_intercept=True,
        feature_range=(-1, 1),
        out_of_range="error",
        average=True,
        calibration="tight",
        margin=None,
        checkpoint=None,
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.n_updates = n_updates
        self.n_draws = n_draws
        self.batch = batch
        self.schedule = schedule
        self.horizon = horizon
        self.confidence = confidence
        self.negations = negations
        self.fit_intercept = fit_intercept
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.average = average
        self.calibration = calibration
        self.margin = margin
        self.checkpoint = checkpoint
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None):
        """Learn in one pass over the rows, each put into one of the intervals at random.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
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
        self._check_parameters()
        streaming = self.schedule == "sparse-vector" or self.calibration == "paper"
        if streaming and self.neighbors == "add-remove":
            raise ValueError(
                'fit with a sparse-vector schedule needs neighbors="replace": deleting a row from a table shifts all '
                "later rows, and the claim of a stream is for a blank row in its place"
            )
        rng = random.generator(self.random_state)
        self._check_budget()
        rows, signs = self._read(X, y, classes, reset=True)
        self._start(rows, rng, streaming=streaming)
        try:
            if self._state.tests is not None:
                self._follow(rows, signs)
            else:
                interval = rng.integers(self.n_updates, size=len(signs))
                for k in shown(range(self.n_updates), "updates", self.verbose):
                    chosen = np.flatnonzero(interval == k)
                    part, labels = rows[chosen], signs[chosen]
                    counting = self._counting(self._hypothesis().votes(part), labels, part.unit)
                    self._add(part, labels, np.flatnonzero(counting))
                    self._release()
        finally:
            del self._state  # private; what was released is kept, also when interrupted
        return self

    def partial_fit(self, X, y, classes=None):
        """Go on with a stream: rows are predicted and learned from in order. See `stream`."""
        self.stream(X, y, classes=classes)
        return self

    def stream(self, X, y, *, classes=None):
        """`partial_fit`, and what was predicted for each row before its label was seen.

        The predictions are as private as the hypotheses. Which of them are mistakes is known to whoever holds y only:
        for the data's owner.

        Parameters
        ----------
        X, y, classes
            As in `fit`; `classes`, or labels of both classes, in the first call.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError, BudgetExceeded
            As `fit`. The whole stream is charged in the first call.

        Notes
        -----
        With a `checkpoint`, what a call releases is in the file before the call returns. A call that is interrupted
        released nothing: this estimator then ends its stream, and the one that `resume` gives goes on.
        """
        fitted, first = self.__sklearn_is_fitted__(), not hasattr(self, "_state")
        if fitted and self.updates_ == self.n_updates_:
            warnings.warn(
                f"all {self.n_updates_} updates are made and their budget is spent: the stream is predicted, "
                "no longer learned from",
                stacklevel=2,
            )
            if first:
                rows, _ = self._read(X, y, self.classes_, reset=False)
                return self.classes_[(self._hypothesis().votes(rows) >= 0).astype(int)]
        elif fitted and first:
            raise ValueError(
                "this model has no stream to go on with: it was fitted at once, loaded, unpickled or interrupted; "
                "clone it, or resume a checkpoint"
            )
        if first:
            self._check_parameters()
            if self.checkpoint is not None:
                checkpoints.check_new(self.checkpoint)
            if self.schedule == "fixed" and self.horizon is None:
                raise ValueError("a stream of fixed schedule needs horizon=, the rounds expected")
            rng = random.generator(self.random_state)
            self._check_budget()
            rows, signs = self._read(X, y, classes, reset=True)
            self._start(rows, rng, streaming=self.schedule != "fixed")
            self._state.interval = -(-(self.horizon or 0) // self.n_updates)
        else:
            rows, signs = self._read(X, y, self.classes_, reset=False)
            if rows.unit != self._state.unit:
                raise ValueError(f"rows must be on the grid that the stream began with, 1/{self._state.unit}")
        released = [] if first else self.released_weights_[:]
        try:
            predicted = self._follow(rows, signs)
            self._state.rounds += len(signs)
            if self.checkpoint is not None:
                checkpoints.write(self.checkpoint, self)
        except BaseException:
            if self.checkpoint is not None:  # nothing is shown that is not in the file
                self.released_weights_ = released
                self._claim()
            del self._state  # rows given again would count twice
            raise
        return self.classes_[predicted]

    @classmethod
    def resume(cls, path):
        """The estimator that goes on with the stream of a checkpoint, after its row number `rounds_`.

        The rows of a call that did not return, because the process was killed say, are given again unless `rounds_`
        counts them. Nothing is charged: the whole stream was, when it began. Randomness is fresh from the operating
        system.

        Parameters
        ----------
        path : str or path-like
            A file that a stream with `checkpoint` wrote; the stream goes on to write it.

        Returns
        -------
        DPWinnowClassifier

        Raises
        ------
        ValueError, OSError
            If there is no such file, or it is cut short, damaged or of a newer version.

        Notes
        -----
        The file is private: it holds the scores and the noise of the tests under way. The claim is for one
        continuation. That a copy is older than what was released since, that two processes go on with one file, or that
        rows are given twice cannot be detected in general; each releases again what was paid for once.
        """
        return checkpoints.read(path, cls)

    def decision_function(self, X):
        """The weighted vote on each row, in [-1, 1]: float64, shape (n,); at least 0 is for classes_[1]."""
        check_is_fitted(self)
        rows = signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range)
        self._check_features(X, reset=False)
        hypothesis = self._hypothesis()
        return hypothesis.votes(rows) / max(1, hypothesis.draws * rows.unit)

    @property
    def updates_(self):
        return max(0, len(self.released_weights_) - (self.calibration == "paper"))  # its first release is no update

    @property
    def n_updates_(self):
        return self._paper_plan().n_updates if self.calibration == "paper" else self.n_updates

    @property
    def n_draws_(self):
        return self._paper_plan().n_draws if self.calibration == "paper" else self.n_draws

    @property
    def rounds_(self):
        return self._state.rounds

    @property
    def coef_(self):
        return self._hypothesis().weights(self.n_features_in_)[:-1]

    @property
    def intercept_(self):
        return float(self._hypothesis().weights(self.n_features_in_)[-1])

    # ---- the algorithm ---------------------------------------------------------------------------------------------

    def _start(self, rows, rng, *, streaming):
        """Charge, and set out from uniform weights."""
        paper = self.calibration == "paper"
        eta, threshold_epsilon = self._paper_rates() if paper else self._tight_rates(streaming)
        scores = score_vector(rows)  # refuses what is too wide, before the charge
        self._charge()
        self.learning_rate_ = eta
        self.released_weights_ = []
        seeded = random.is_reproducible(rng)
        self._state = _State(rng, scores, Fraction(eta) / rows.unit, rows.unit, seeded)
        self._claim()
        if paper:
            self._release()
        if streaming:
            noise = "paper" if paper else "discrete"
            self._state.tests = AboveThreshold(
                self._enough(), threshold_epsilon, monotone="running", noise=noise, rng=rng
            )

    def _tight_rates(self, streaming):
        """The learning rate and the epsilon of AboveThreshold: the largest that the budget allows."""
        return winnow_learning_rate(
            self.epsilon,
            self.delta,
            n_updates=self.n_updates,
            n_draws=self.n_draws,
            threshold_share=_THRESHOLD_SHARE if streaming else 0,
            neighbors=self.neighbors,
            score_range=winnow_range(self.neighbors, negations=self.negations, batch=self.batch),
        )

    def _paper_rates(self):
        """The same, of the paper; warns if they come with no promise."""
        plan = self._paper_plan()
        if plan.vacuous:
            warnings.warn(
                f"the paper's promise is void for horizon={self.horizon}: it allows {plan.mistakes} mistakes, and says "
                f"something from a horizon of {plan.horizon_needed} on; privacy is not affected",
                stacklevel=4,
            )
        return plan.learning_rate, plan.threshold_epsilon

    def _paper_plan(self):
        """All parameters of the paper's run: a function of ours, and as public."""
        return _planned(
            self.epsilon,
            self.delta,
            horizon=self.horizon,
            dimension=(self.n_features_in_ + bool(self.fit_intercept)) * (2 if self.negations else 1),
            margin=self.margin,
            confidence=self.confidence,
        )

    def _enough(self):
        """How many counting rows call for the next release.

        The first interval must lift the right coordinates over all others: of 2 d, by half a row's worth a row. From
        then on a release may move log-weights by a few units at most, or all weight falls on one coordinate.
        """
        if self.calibration == "paper":
            return math.ceil(self._paper_plan().threshold)
        if self.batch != "all":
            return self.batch
        nats = 2 * (math.log(2 * self.n_features_in_ + 2) + 2) if self.updates_ == 0 else _STEP
        return math.ceil(nats / self.learning_rate_)

    def _claim(self):
        self.privacy_ = PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("updates", self.updates_, self.n_updates_),),
            reproducible=self._state.seeded,
        )

    def _follow(self, rows, signs):
        """Predict rows in order and learn from them; their predicted classes, 0 or 1."""
        state, predicted, start = self._state, np.empty(len(signs), np.int64), 0
        while start < len(signs):
            stop = min(start + _CHUNK, len(signs))
            if self.updates_ < self.n_updates_:
                stop = min(stop, start + self._left_in_interval())
            part, labels = rows[start:stop], signs[start:stop]
            votes = self._hypothesis().votes(part)
            counting = self._counting(votes, labels, part.unit)
            made = len(labels)
            release = False
            if self.updates_ < self.n_updates_:
                if state.tests is None:
                    state.seen += made
                    release = self._left_in_interval() == 0
                else:
                    fired = state.tests.run(made, np.flatnonzero(counting))
                    release = fired is not None
                    made = made if fired is None else fired + 1
                self._add(part, labels, np.flatnonzero(counting[:made]))
            predicted[start : start + made] = votes[:made] >= 0
            start += made
            if release:
                self._release()
        return predicted

    def _left_in_interval(self):
        """Rounds until a release of fixed schedule; more than a chunk where AboveThreshold decides."""
        return _CHUNK if self._state.tests is not None else self._state.interval - self._state.seen

    def _counting(self, votes, signs, unit):
        """Whether each row is predicted wrongly, or with too small a margin, by what was released."""
        if self.calibration == "paper":
            return (votes >= 0) != (signs > 0)
        return signs * votes <= self.confidence * unit * self._hypothesis().draws

    def _add(self, rows, signs, chosen):
        """Let the chosen rows enter the scores, as many as the batch still takes."""
        state = self._state
        if self.batch != "all":
            chosen = chosen[: self.batch - state.taken]
        if chosen.size:
            state.scores.add(rows, signs, chosen, self.fit_intercept)
            state.taken += chosen.size

    def _release(self):
        """Draw and publish the next hypothesis, and start another interval."""
        state = self._state
        coordinate, sign = state.scores.draw(
            state.exponent, self.n_draws_, state.rng, mirrored=self.negations, intercept=self.fit_intercept
        )
        index, place = np.unique(coordinate, return_inverse=True)
        count = np.bincount(place, weights=sign).astype(np.int64)
        self.released_weights_.append((index[count != 0], count[count != 0]))
        self._claim()
        state.taken = state.seen = 0
        if state.tests is not None and self.updates_ < self.n_updates_:
            state.tests.threshold = self._enough()
            state.tests.reset()

    def _hypothesis(self):
        """What predicts: the sum of all releases, or the last one."""
        if not self.average:
            return _NOTHING.plus(self.released_weights_[-1:], self.n_draws_)
        if not hasattr(self, "_state"):
            return _NOTHING.plus(self.released_weights_, self.n_draws_)
        known = self._state.sum  # a run goes on from the sum that its last update used
        new = self.released_weights_[known.draws // self.n_draws_ :]
        self._state.sum = known.plus(new, self.n_draws_)
        return self._state.sum

    # ---- what goes in ----------------------------------------------------------------------------------------------

    def _read(self, X, y, classes, *, reset):
        rows = signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range)
        self._check_features(X, reset)
        return rows, self._signs(y, rows.shape[0], classes)

    def _check_parameters(self):
        for name in ("n_updates", "n_draws"):
            _check_count(name, getattr(self, name))
        if self.batch != "all":
            _check_count("batch", self.batch, or_else='"all" or ')
        if self.horizon is not None:
            _check_count("horizon", self.horizon, or_else="None or ")
        if self.schedule not in ("auto", "fixed", "sparse-vector"):
            raise ValueError(f'schedule must be "auto", "fixed" or "sparse-vector", got {self.schedule!r}')
        if not isinstance(self.confidence, Real) or not 0 <= self.confidence < 1:
            raise ValueError(f"confidence must lie in [0, 1), got {self.confidence!r}")
        if self.out_of_range not in ("error", "clip"):
            raise ValueError(f'out_of_range must be "error" or "clip", got {self.out_of_range!r}')
        if self.calibration not in ("tight", "paper"):
            raise ValueError(f'calibration must be "tight" or "paper", got {self.calibration!r}')
        if self.calibration == "paper":
            for name, wanted in (("batch", (1,)), ("average", (False,)), ("schedule", ("auto", "sparse-vector"))):
                if getattr(self, name) not in wanted:
                    raise ValueError(f'calibration="paper" needs {name}={wanted[-1]!r}, got {getattr(self, name)!r}')
            for name in ("horizon", "margin"):
                if getattr(self, name) is None:
                    raise ValueError(f'calibration="paper" needs {name}=')

    def __getstate__(self):
        """Without the state of a stream: what is pickled predicts, but does not go on."""
        return {name: value for name, value in super().__getstate__().items() if name != "_state"}

    def _released(self):
        return [[index.tolist(), count.tolist()] for index, count in self.released_weights_]

    def _restore(self, released):
        self.released_weights_ = [(np.array(i, np.int64), np.array(c, np.int64)) for i, c in released]
        if any(i.size and not 0 <= i[0] <= i[-1] <= self.n_features_in_ for i, _ in self.released_weights_):
            raise ValueError(f"coordinates must lie in [0, {self.n_features_in_}]")
        if any(i.shape != c.shape for i, c in self.released_weights_):
            raise ValueError("every coordinate needs a count")

    def _private(self):
        state = self._state
        private = {name: getattr(state, name) for name in _COUNTS}
        private["learning_rate"] = self.learning_rate_
        private["exponent"] = str(state.exponent)
        private["tests"] = None if state.tests is None else state.tests._state()
        return private, state.scores.array()

    def _restore_private(self, private, scores):
        rng, tests = random.default_rng(), private["tests"]
        self.learning_rate_ = private["learning_rate"]
        self._state = _State(
            rng,
            from_array(scores, self.n_features_in_),
            Fraction(private["exponent"]),
            tests=None if tests is None else AboveThreshold._from_state(tests, rng),
            **{name: private[name] for name in _COUNTS},
        )


class _Hypothesis(NamedTuple):
    """Signed counts of coordinates, the last one the intercept, out of so many draws."""

    index: np.ndarray
    count: np.ndarray
    draws: int

    def plus(self, parts, draws):
        """The sum with more histograms, of so many draws each; time by its coordinates."""
        if not parts:
            return self
        index, place = np.unique(np.concatenate([index for index, _ in parts]), return_inverse=True)
        count = np.bincount(place, weights=np.concatenate([count for _, count in parts])).astype(np.int64)
        at = np.searchsorted(self.index, index)
        held = np.append(self.index, -1)[at] == index
        total = self.count.copy()
        total[at[held]] += count[held]
        at, index, count = at[~held], index[~held], count[~held]
        return _Hypothesis(
            np.insert(self.index, at, index), np.insert(total, at, count), self.draws + draws * len(parts)
        )

    def votes(self, rows):
        """Integer votes, in units of ``draws * rows.unit``."""
        d = rows.shape[1]
        inside = self.index < d
        return rows.votes(self.index[inside], self.count[inside]) + rows.unit * self.count[~inside].sum()

    def weights(self, d):
        weights = np.zeros(d + 1)
        weights[self.index] = self.count / max(1, self.draws)
        return weights


_NOTHING = _Hypothesis(np.empty(0, np.int64), np.empty(0, np.int64), 0)


@dataclass
class _State:
    """A run on its way: private."""

    rng: np.random.Generator
    scores: DenseScores | TouchedScores
    exponent: Fraction  # a unit of score
    unit: int
    seeded: bool  # some of the noise so far
    tests: AboveThreshold | None = None
    rounds: int = 0  # of a stream
    interval: int = 0  # rounds, of a stream of fixed schedule
    seen: int = 0  # rounds of this interval
    taken: int = 0  # rows of this interval that entered the scores
    sum: _Hypothesis = _NOTHING  # of the releases so far, where they are averaged


_COUNTS = ("unit", "seeded", "rounds", "interval", "seen", "taken")


def _check_count(name, value, or_else=""):
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be {or_else}an integer of at least 1, got {value!r}")
