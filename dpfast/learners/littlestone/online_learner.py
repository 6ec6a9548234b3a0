"""Private online learning of a Littlestone class [Lyu, Algorithms 3 and 4]."""

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, sparse_sample_plan
from dpfast.mechanisms import AboveThreshold, sparse_sample

from .hypothesis_class import HypothesisClass, _check_limit, _count
from .learner import PrivatePointClassifier
from .saved import hypothesis_from_json, hypothesis_to_json

_CHUNK = 1 << 14  # rounds predicted at a time


class OnlineLittlestonePlan(NamedTuple):
    """What a stream will cost, computed from parameters alone.

    batch is the mistakes that a release is to come after, threshold AboveThreshold's, larger lest noise let it come
    before; mistakes_per_release adds what noise may make it later, and mistakes is that for all n_releases. list_bound
    is L, the longest list of essential hypotheses, and list_items what all lists of a release may hold together;
    bottom_score is SparseSample's.
    """

    n_releases: int
    n_teachers: int
    batch: int
    threshold: int
    mistakes_per_release: int
    mistakes: int
    irreducibility: int
    list_bound: int
    list_items: int
    threshold_epsilon: float
    exponent: float
    bottom_score: int


class OnlineLittlestoneLearner(PrivatePointClassifier):
    """Private online learning of a Littlestone class, its mistakes counted in ln(horizon) [Lyu, Algorithms 3 and 4]_.

    One hypothesis predicts, at first SOA of the class. Its mistakes go to k teachers, each to one at random, and a
    teacher keeps the members that agree with its mistakes and lists what is essential for them. AboveThreshold counts
    the mistakes since the last release; when it finds enough, most teachers have seen one, and SparseSample draws the
    next hypothesis from all lists. A drawn nothing leaves the old one. After K releases the last hypothesis is frozen.

    **Privacy.** All that is released - the hypotheses, when they came, and so every prediction - is
    (epsilon, delta)-DP for the relation `neighbors`: "replace" compares streams that differ in one round, "add-remove"
    streams in one of which a round is a blank that never counts. Fix what was released. It fixes which rounds are
    mistakes, and teachers are drawn independently of them; so the round that differs changes the running count of one
    interval between releases (AboveThreshold, paid once), and the list of one teacher in each of the at most K draws of
    SparseSample that follow. `dpfast.accounting.sparse_sample` composes them. The numbers are computed from parameters
    alone, `estimate` returns them, and they do not depend on the stream keeping to the horizon.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    hypothesis_class : FiniteClass, PointFunctions or Thresholds
    horizon : int
        T, rounds that the stream is expected to have: noise is planned for so many tests.
    confidence : float in (0, 1), default=0.1
        beta: the chance of failure for which noise and lists are planned.
    dimension : int or None, default=None
        d, at least LDim, which is the default; a class of a larger dimension is refused.
    neighbors : {"replace", "add-remove"}, default="replace"
    n_releases : int or "auto", default="auto"
        K: by default release_constant * (d + 1).
    release_constant : float, default=2.0
    batch_constant : float above ln 2, default=1.5
        c: mistakes of a release for each teacher. A share 1 - exp(-c) of them, more than half, then has seen one.
    n_teachers, irreducibility : int or "auto", default="auto"
        k, and p, which is by default the horizon.
    threshold_share : float in (0, 1), default=0.15
        AboveThreshold's part of epsilon. Its counts are in the hundreds, its noise in the dozens.
    calibration : {"tight", "paper"}, default="tight"
        "paper" takes pure composition and the score of nothing of [Lyu, Lemma 3.1]_, and so more teachers.
    max_work : int, default=10**9
        A stream one of whose releases may read lists of more items is refused.
    budget, random_state
        As in `DecisionListClassifier`.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        What predicts.
    releases_ : list of Hypothesis or None
        What each release drew; None is nothing.
    frozen_ : bool
        Whether all K releases are made.
    classes_ : ndarray, [0, 1]
    n_features_in_ : int, 1
    privacy_ : dpfast.accounting.PrivacySpend

    Notes
    -----
    **Numbers.** With h = 1 - exp(-c), k is so large that h k votes beat nothing, and beat (1 - h) k votes of each of
    k L others; noise makes a release come too early or too late; each but with probability beta / 2 in all releases.
    That holds where the mistakes of one hypothesis move the teachers to one other, as for point functions; a class with
    more to tell apart, as thresholds, is about halved by a release. [Lyu]_ proves O(d^9.5 ln T) mistakes, up to
    logarithms and a constant that is not stated; `estimate` gives at most K (c k + O(ln(K T) / epsilon)) of them, with
    k = O(K ln(K L T / delta) / epsilon). At (1, 1e-6) and T = 1e5, point functions on any number of points have about
    60 ln T. Nothing is promised for streams that no member explains.

    A round costs its prediction, a mistake one restriction, a release k lists.

    References
    ----------
    .. [Lyu] X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025. Algorithms 3 and 4
       were not at hand: this is a reconstruction from the abstract (split and aggregate, AboveThreshold, SparseSample
       of what is essential, a private halving) and from `dpfast.learners.littlestone.hypothesis_class`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfast.littlestone import OnlineLittlestoneLearner, PointFunctions
    >>> learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), 10_000, random_state=0)
    >>> X = np.where(np.arange(10_000) % 4, np.arange(10_000), 123456789)
    >>> mistakes = (learner.stream(X, X == 123456789) != (X == 123456789)).sum()
    >>> int(mistakes) <= learner.estimate().mistakes_per_release, learner.hypothesis_
    (True, <1 at point 123456789>)
    """

    _model = "online-littlestone"

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        hypothesis_class=None,
        horizon=None,
        *,
        confidence=0.1,
        dimension=None,
        neighbors="replace",
        n_releases="auto",
        release_constant=2.0,
        batch_constant=1.5,
        n_teachers="auto",
        irreducibility="auto",
        threshold_share=0.15,
        calibration="tight",
        max_work=10**9,
        budget=None,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.hypothesis_class = hypothesis_class
        self.horizon = horizon
        self.confidence = confidence
        self.dimension = dimension
        self.neighbors = neighbors
        self.n_releases = n_releases
        self.release_constant = release_constant
        self.batch_constant = batch_constant
        self.n_teachers = n_teachers
        self.irreducibility = irreducibility
        self.threshold_share = threshold_share
        self.calibration = calibration
        self.max_work = max_work
        self.budget = budget
        self.random_state = random_state

    def estimate(self):
        """What a stream will cost: an `OnlineLittlestonePlan`. No data is read.

        Raises
        ------
        ValueError
            For parameters that will not do, a class of a larger dimension than declared, or more work than `max_work`.
        """
        d, horizon = self._checked_class(), _count("horizon", self.horizon, 1)
        self._check_shares("confidence", "threshold_share")
        if self._positive("batch_constant") <= math.log(2):
            raise ValueError(
                f"batch_constant must be above ln 2, so that most teachers see a mistake, got {self.batch_constant!r}"
            )
        releases = self._auto("n_releases", math.ceil(self._positive("release_constant") * (d + 1)))
        p = self._auto("irreducibility", horizon)
        length = self.hypothesis_class.list_bound(p, d)
        mechanism = sparse_sample_plan(
            self.epsilon,
            self.delta,
            n_releases=releases,
            max_length=length,
            threshold_share=self.threshold_share,
            calibration=self.calibration,
        )
        hit, nats = -math.expm1(-self.batch_constant), math.log(2 * releases / self.confidence)
        k = (mechanism.bottom_score + nats / mechanism.exponent) / hit
        for _ in range(50):  # k appears in its own logarithm
            k = max(k, (nats + math.log(k * length)) / mechanism.exponent / (2 * hit - 1))
        k = self._auto("n_teachers", math.ceil(k))
        batch = math.ceil(self.batch_constant * k)
        threshold = batch + math.ceil((math.log(horizon) + 2 * nats) / mechanism.threshold_epsilon)
        latest = threshold + math.ceil(2 * nats / mechanism.threshold_epsilon)
        _check_limit("items on the teachers' lists", k * length, "max_work", _count("max_work", self.max_work, 1))
        return OnlineLittlestonePlan(
            n_releases=releases,
            n_teachers=k,
            batch=batch,
            threshold=threshold,
            mistakes_per_release=latest,
            mistakes=releases * latest,
            irreducibility=p,
            list_bound=length,
            list_items=k * length,
            threshold_epsilon=mechanism.threshold_epsilon,
            exponent=mechanism.exponent,
            bottom_score=mechanism.bottom_score,
        )

    def fit(self, X, y):
        """Begin a new stream with these rows; see `stream`. Needs neighbors="replace".

        Returns
        -------
        self
        """
        if self.neighbors == "add-remove":
            raise ValueError(
                'fit needs neighbors="replace": deleting a row from a table shifts all later rows, and the claim of a '
                "stream is for a blank row in its place"
            )
        self.estimate()
        self._examples(X, y)
        for name in ("privacy_", "_state"):
            vars(self).pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        """Go on with a stream: rows are predicted and learned from in order. See `stream`."""
        self.stream(X, y)
        return self

    def stream(self, X, y):
        """`partial_fit`, and what was predicted for each row before its label was seen.

        The predictions are as private as the hypotheses. Which of them are mistakes is known to whoever holds y only:
        for the data's owner.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)
            Points.
        y : array_like of 0 and 1, shape (n,)

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn; and from a stream that cannot
            go on, because it was interrupted, unpickled or loaded.
        BudgetExceeded
            If the budget does not suffice. The whole stream is charged in the first call.
        """
        fitted, first = self.__sklearn_is_fitted__(), not hasattr(self, "_state")
        if fitted and first and not self.frozen_:
            raise ValueError(
                "this learner has no stream to go on with: it was loaded, unpickled or interrupted; clone it"
            )
        if not fitted:
            plan, rng = self.estimate(), random.generator(self.random_state)
            self._check_budget()
            points, labels = self._examples(X, y)
            self._start(plan, rng)
        else:
            points, labels = self._examples(X, y)
        if self.frozen_:
            warnings.warn(
                f"all {len(self.releases_)} releases are made and their budget is spent: the hypothesis is frozen, the "
                "stream is predicted, no longer learned from",
                stacklevel=2,
            )
            return self.hypothesis_(points).astype(np.int64)
        try:
            return self._follow(points, labels)
        except BaseException:
            del self._state  # rows given again would count twice
            raise

    # ---- the algorithm ---------------------------------------------------------------------------------------------

    def _start(self, plan, rng):
        """Charge, and set out from SOA."""
        first = self.hypothesis_class.soa_hypothesis()
        d = self._checked_class()
        self._charge()
        tests = AboveThreshold(plan.threshold, plan.threshold_epsilon, monotone="running", rng=rng)
        teachers = [self.hypothesis_class] * plan.n_teachers
        self._state = _State(rng, plan, d, teachers, tests, random.is_reproducible(rng))
        self.hypothesis_, self.releases_, self.frozen_ = first, [], False
        self.classes_, self.n_features_in_ = np.array([0, 1]), 1
        self._claim()

    def _follow(self, points, labels):
        """Predict rows in order and learn from them."""
        state, predicted, start = self._state, np.empty(len(points), np.int64), 0
        while start < len(points):
            stop = min(start + _CHUNK, len(points))
            part = points[start:stop]
            guess = self.hypothesis_(part)
            made, fired = stop - start, None
            if not self.frozen_:
                wrong = np.flatnonzero(guess != labels[start:stop])
                fired = state.tests.run(made, wrong)
                made = made if fired is None else fired + 1
                self._teach(points, labels, start + wrong[wrong < made])
            predicted[start : start + made] = guess[:made]
            start += made
            if fired is not None:
                self._release()
        return predicted

    def _teach(self, points, labels, rounds):
        """Give each of these mistakes to a teacher."""
        teachers = self._state.teachers
        chosen = self._state.rng.integers(len(teachers), size=len(rounds))
        for i, t in zip(chosen.tolist(), rounds.tolist(), strict=True):
            teachers[i] = teachers[i].restrict(points[t], labels[t])

    def _release(self):
        """Draw and publish the next hypothesis, and start another interval."""
        state, plan = self._state, self._state.plan
        lists = {id(H): H._essential_codes(plan.irreducibility, state.dimension) for H in state.teachers}
        drawn = sparse_sample(
            [lists[id(H)] for H in state.teachers],
            plan.exponent,
            plan.bottom_score,
            max_length=plan.list_bound,
            rng=state.rng,
        )
        if drawn is not None:
            self.hypothesis_ = self.hypothesis_class._hypothesis(drawn)
        self.releases_.append(None if drawn is None else self.hypothesis_)
        self.frozen_ = len(self.releases_) == plan.n_releases
        self._claim()
        if not self.frozen_:
            state.tests.reset()

    def _claim(self):
        self.privacy_ = PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("hypotheses", len(self.releases_), self._state.plan.n_releases),),
            reproducible=self._state.seeded,
        )

    def _released(self):
        return {
            **super()._released(),
            "releases": [hypothesis_to_json(drawn) for drawn in self.releases_],
            "frozen": self.frozen_,
        }

    def _restore(self, released):
        super()._restore(released)
        self.releases_ = [hypothesis_from_json(drawn, self.hypothesis_class) for drawn in released["releases"]]
        self.frozen_ = bool(released["frozen"])

    def __getstate__(self):
        """Without the state of a stream: what is pickled predicts, but does not go on."""
        return {name: value for name, value in super().__getstate__().items() if name != "_state"}


@dataclass
class _State:
    """A stream on its way: private."""

    rng: np.random.Generator
    plan: OnlineLittlestonePlan
    dimension: int
    teachers: list[HypothesisClass]
    tests: AboveThreshold
    seeded: bool  # some of the noise so far
