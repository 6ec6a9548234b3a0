"""PAC learning and empirical risk minimisation of a Littlestone class [Lyu, section 5]."""

import math
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, sparse_sample_plan
from dpfast.accounting.budget import _check_neighbors
from dpfast.learners.base import PrivateClassifier
from dpfast.mechanisms import AboveThreshold, sparse_sample
from dpfast.mechanisms.sparse_sample import votes

from .hypothesis_class import HypothesisClass, _check_limit, _count, check_labels
from .saved import class_from_json, class_to_json, hypothesis_from_json, hypothesis_to_json


class LittlestonePlan(NamedTuple):
    """What a run will do, computed from parameters alone.

    n_samples is n_teachers * rows_per_teacher; accuracies are the error rates of the classes that teachers hold;
    list_bound is L, the longest list of essential hypotheses, and list_items what all lists may hold together;
    votes_needed is AboveThreshold's threshold, bottom_score SparseSample's.
    """

    n_samples: int
    n_teachers: int
    rows_per_teacher: int
    accuracies: tuple[float, ...]
    irreducibility: int
    list_bound: int
    list_items: int
    threshold_epsilon: float
    votes_needed: int
    exponent: float
    bottom_score: int


class PrivatePointClassifier(ClassifierMixin, BaseEstimator):
    """What the private learners of a hypothesis class share: points, labels 0 and 1, a budget, a hypothesis, a file."""

    _check_budget = PrivateClassifier._check_budget
    _charge = PrivateClassifier._charge
    _not_saved = (*PrivateClassifier._not_saved, "hypothesis_class")  # among what was released instead
    save = PrivateClassifier.save

    def predict(self, X):
        """Labels of points by the hypothesis released last.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        check_is_fitted(self)
        return self.hypothesis_(self._points(X)).astype(np.int64)

    def _points(self, X):
        """X as int64, shape (n,)."""
        X = np.asarray(X)
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise ValueError(f"X must be points, integers of shape (n,) or (n, 1), got shape {X.shape}")
        return self.hypothesis_class.check_points(X)

    def _examples(self, X, y):
        points, labels = self._points(X), check_labels(y)
        if labels.shape != points.shape:
            raise ValueError(f"y must have shape {points.shape}, one label a point, got {labels.shape}")
        if not len(points):
            raise ValueError("X must have at least one point, got none")
        return points, labels

    def _checked_class(self):
        """The dimension d in use: the declared one, or the class's. The relation is checked too."""
        _check_neighbors(self.neighbors)
        if not isinstance(self.hypothesis_class, HypothesisClass):
            raise ValueError(f"hypothesis_class must be a class of dpfast.littlestone, got {self.hypothesis_class!r}")
        self.hypothesis_class._check_members()
        if self.dimension is None:
            return self.hypothesis_class.littlestone_dimension()
        return self.hypothesis_class._check_declared(_count("dimension", self.dimension, 0))

    def _check_shares(self, *names):
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 < value < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {value!r}")

    def _positive(self, name):
        value = getattr(self, name)
        if not isinstance(value, Real) or not 0 < value < math.inf:
            raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
        return value

    def _auto(self, name, otherwise):
        """An integer parameter, or what stands for "auto"."""
        value = getattr(self, name)
        if isinstance(value, str) and value == "auto":
            return max(1, int(otherwise))
        try:
            return _count(name, value, 1)
        except ValueError:
            raise ValueError(f'{name} must be "auto" or an integer of at least 1, got {value!r}') from None

    def _released(self):
        return {"class": class_to_json(self.hypothesis_class), "hypothesis": hypothesis_to_json(self.hypothesis_)}

    def _restore(self, released):
        self.hypothesis_class = class_from_json(released["class"])
        self.hypothesis_ = hypothesis_from_json(released["hypothesis"], self.hypothesis_class)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "privacy_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.two_d_array = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


class LittlestoneLearner(PrivatePointClassifier):
    """Private learning of a Littlestone class from a table of examples [Lyu, section 5]_.

    The rows go to k teachers at random. For accuracies (1 - 1/(2d))^j accuracy, j odd, from the coarsest on, each
    teacher takes the members that err on at most that share of its rows and lists what is essential for them.
    AboveThreshold stops at the first accuracy at which some hypothesis is on enough lists, and SparseSample draws one
    from these lists.

    **Why lists agree.** Classes of true error at most (1 - 1/(2d))^j accuracy, j = 0, 2, ..., 2d + 2, have a
    decomposition dimension that never rises and takes d + 1 values: two neighbours have the same one. A teacher's class
    for the odd j between lies between these two if its rows are enough; then what is essential for the smaller is on
    its list (Lemma 4.3). And what it lists errs on at most that share of its rows: it agrees with a member on them.

    **Privacy.** (epsilon, delta)-DP for the relation `neighbors`: "replace" compares tables that differ in one row,
    "add-remove" tables one of which has a row more. Teachers are drawn independently for each row, so a row changes the
    lists of one teacher, at all accuracies, and with them the largest vote by at most one, in any direction:
    AboveThreshold is threshold_share * epsilon-DP. SparseSample has the rest and delta
    (`dpfast.accounting.sparse_sample`). All numbers are computed from parameters alone: `estimate` returns them.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    hypothesis_class : FiniteClass, PointFunctions or Thresholds
    accuracy : float in (0, 1/2), default=0.1
        alpha: members of error 0 are supposed to exist, and hypotheses of error about alpha are wanted.
    confidence : float in (0, 1), default=0.1
        beta: the chance of failure for which noise and lists are planned.
    dimension : int or None, default=None
        d, at least LDim, which is the default; a class of a larger dimension is refused.
    neighbors : {"replace", "add-remove"}, default="replace"
    threshold_share : float in (0, 1), default=0.5
        AboveThreshold's part of epsilon.
    calibration : {"tight", "paper"}, default="tight"
        "paper" takes the score of nothing of [Lyu, Lemma 3.1]_, about ten times the tight one, and so more teachers.
    vote_fraction : float in (0, 1), default=0.75
        AboveThreshold's threshold, as a share of the teachers.
    agreement : float in (0, 1), default=0.9375
        The share of teachers that is supposed to agree: more than `vote_fraction`. 1 - agreement is a teacher's chance
        to err on one hypothesis that rows_per_teacher is chosen for.
    minority : float in (0, 1), default=0.5
        Hypotheses on a smaller share of lists are not to be drawn: less than `vote_fraction`.
    sample_constant : float, default=1.0
        Multiplies the rows of a teacher.
    n_teachers, rows_per_teacher, irreducibility : int or "auto", default="auto"
        k, the rows that a teacher is planned to have, and p; p is by default the rows of a teacher.
    max_work : int, default=10**9
        A run whose lists may hold more items is refused.
    budget, random_state
        As in `DecisionListClassifier`.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        What was drawn; SOA of the class if nothing was. It need not be a member.
    selected_ : bool
        Whether a hypothesis was drawn.
    level_ : int or None
        The number of the accuracy, from 0, at which AboveThreshold stopped.
    classes_ : ndarray, [0, 1]
    n_features_in_ : int, 1
    privacy_ : dpfast.accounting.PrivacySpend

    Notes
    -----
    Where [Lyu]_ says O(), here are numbers. Rows of a teacher: Chernoff bounds for one hypothesis at a time, at the
    least accuracy and the gap 1/(2d), without a union bound over the class. If the class decomposes to dimension 0 at
    once (always if p >= n_points), only hypotheses of error 2 alpha have to stay off most lists, and 4 ln(16) / alpha
    rows do.
    Teachers: as many as let AboveThreshold stop, SparseSample draw something, and nothing of a minority, each with
    confidence beta / 3. Privacy depends on none of this.

    Cost: classes of k teachers at d + 1 accuracies; lists of at most `LittlestonePlan.list_items` items. A search in a
    table that is given up (`FiniteClass`, max_nodes) ends the fit: nothing is released, and the budget stays charged.
    It cannot happen if p (2^d - 1) >= n_points, where what is essential are the members.

    References
    ----------
    .. [Lyu] X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025. Reconstructed from its
       abstract and outline: see `dpfast.learners.littlestone.hypothesis_class`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfast.littlestone import LittlestoneLearner, PointFunctions
    >>> learner = LittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), 0.2, random_state=0)
    >>> n = learner.estimate().n_samples
    >>> X = np.where(np.arange(n) % 2, 123456789, np.arange(n))
    >>> learner.fit(X, X == 123456789).hypothesis_
    <1 at point 123456789>
    """

    _model = "littlestone"

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        hypothesis_class=None,
        accuracy=0.1,
        *,
        confidence=0.1,
        dimension=None,
        neighbors="replace",
        threshold_share=0.5,
        calibration="tight",
        vote_fraction=0.75,
        agreement=0.9375,
        minority=0.5,
        sample_constant=1.0,
        n_teachers="auto",
        rows_per_teacher="auto",
        irreducibility="auto",
        max_work=10**9,
        budget=None,
        random_state=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.hypothesis_class = hypothesis_class
        self.accuracy = accuracy
        self.confidence = confidence
        self.dimension = dimension
        self.neighbors = neighbors
        self.threshold_share = threshold_share
        self.calibration = calibration
        self.vote_fraction = vote_fraction
        self.agreement = agreement
        self.minority = minority
        self.sample_constant = sample_constant
        self.n_teachers = n_teachers
        self.rows_per_teacher = rows_per_teacher
        self.irreducibility = irreducibility
        self.max_work = max_work
        self.budget = budget
        self.random_state = random_state

    def estimate(self):
        """What a run will do and what it needs: a `LittlestonePlan`. No data is read.

        Raises
        ------
        ValueError
            For parameters that will not do, a class of a larger dimension than declared, or more work than `max_work`.
        """
        d = self._checked_class()
        self._check_shares("confidence", "threshold_share", "vote_fraction", "agreement", "minority")
        if not isinstance(self.accuracy, Real) or not 0 < self.accuracy < 0.5:
            raise ValueError(f"accuracy must lie in (0, 1/2), got {self.accuracy!r}")
        if not self.minority < self.vote_fraction < self.agreement:
            raise ValueError(
                "minority < vote_fraction < agreement is needed, got "
                f"{self.minority!r}, {self.vote_fraction!r} and {self.agreement!r}"
            )
        gap = 1 / (2 * max(1, d))
        accuracies = tuple(self.accuracy * (1 - gap) ** j for j in range(1, 2 * d + 2, 2))
        rows, p = self._rows(d, gap)
        length = self.hypothesis_class.list_bound(p, d)
        mechanism = sparse_sample_plan(
            self.epsilon,
            self.delta,
            n_releases=1,
            max_length=length,
            threshold_share=self.threshold_share,
            calibration=self.calibration,
        )
        k = self._auto("n_teachers", self._teachers(mechanism, length, len(accuracies)))
        _check_limit("items on the teachers' lists", k * length, "max_work", _count("max_work", self.max_work, 1))
        return LittlestonePlan(
            n_samples=k * rows,
            n_teachers=k,
            rows_per_teacher=rows,
            accuracies=accuracies,
            irreducibility=p,
            list_bound=length,
            list_items=k * length,
            threshold_epsilon=mechanism.threshold_epsilon,
            votes_needed=math.ceil(self.vote_fraction * k),
            exponent=mechanism.exponent,
            bottom_score=mechanism.bottom_score,
        )

    def _rows(self, d, gap):
        """Rows of a teacher, and p."""
        constant = self._positive("sample_constant")
        nats = -math.log(1 - self.agreement)
        rows = math.ceil(constant * 4 * nats / self.accuracy)
        p = self._auto("irreducibility", rows)
        if self.hypothesis_class._degree(p, d) > 0:
            rise = gap / (1 - gap)  # from the population's accuracy below to the teacher's, then the other side
            below = (2 + rise) / (rise**2 * self.accuracy * (1 - gap) ** (2 * d + 2))
            above = 2 / (gap**2 * self.accuracy * (1 - gap) ** (2 * d))
            rows = math.ceil(constant * nats * max(below, above))
        rows = self._auto("rows_per_teacher", rows)
        return rows, self._auto("irreducibility", rows)

    def _teachers(self, mechanism, length, levels):
        """Teachers with which each step does what it should, with probability 1 - confidence / 3."""
        nats = math.log(3 / self.confidence)
        noise = (13 / 5 + 13 / 4) / mechanism.threshold_epsilon * (nats + math.log(2 * levels))
        k = max(
            noise / (self.agreement - self.vote_fraction),
            (mechanism.bottom_score + nats / mechanism.exponent) / self.vote_fraction,
        )
        for _ in range(50):  # k appears in its own logarithm
            k = max(k, (nats + math.log(k * length)) / mechanism.exponent / (self.vote_fraction - self.minority))
        return math.ceil(k)

    def fit(self, X, y):
        """Learn from examples.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)
            Points.
        y : array_like of 0 and 1, shape (n,)

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
        plan = self.estimate()
        rng = random.generator(self.random_state)
        self._check_budget()
        points, labels = self._examples(X, y)
        p, d = plan.irreducibility, self._checked_class()
        fallback = self.hypothesis_class.soa_hypothesis()
        self._charge()
        tests = AboveThreshold(plan.votes_needed, plan.threshold_epsilon, rng=rng)
        teacher = rng.integers(plan.n_teachers, size=len(points), dtype=np.min_scalar_type(plan.n_teachers))
        teachers = self._teachers_classes(points, labels, teacher, plan)

        drawn, level = None, None
        for j in range(len(plan.accuracies)):
            lists = [next(classes)._essential_codes(p, d) for classes in teachers]
            _, score = votes(lists, max_length=plan.list_bound)
            if tests.test(int(score.max(initial=0))):
                drawn = sparse_sample(lists, plan.exponent, plan.bottom_score, max_length=plan.list_bound, rng=rng)
                level = j
                break
        self.level_, self.selected_ = level, drawn is not None
        self.hypothesis_ = fallback if drawn is None else self.hypothesis_class._hypothesis(drawn)
        self.classes_, self.n_features_in_ = np.array([0, 1]), 1
        self.privacy_ = PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("accuracy", 1, 1), Release("hypothesis", int(level is not None), 1)),
            reproducible=random.is_reproducible(rng),
        )
        return self

    def _teachers_classes(self, points, labels, teacher, plan):
        """For each teacher an iterator over its classes, from the coarsest on."""
        order = np.argsort(teacher, kind="stable")
        ends = np.bincount(teacher, minlength=plan.n_teachers).cumsum()
        iterators = []
        for end, size in zip(ends, np.diff(ends, prepend=0), strict=True):
            rows = order[end - size : end]
            radii = [math.floor(accuracy * size) for accuracy in plan.accuracies]
            iterators.append(self.hypothesis_class.balls(points[rows], labels[rows], radii))
        return iterators

    def _released(self):
        return {**super()._released(), "level": self.level_, "selected": self.selected_}

    def _restore(self, released):
        super()._restore(released)
        self.level_, self.selected_ = released["level"], bool(released["selected"])
