"""PAC learning of a Littlestone class, after [Lyu, section 5], at fewer rows and without its guarantee."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from dpfast.accounting import Budget, sparse_sample_plan
from dpfast.learners.parameters import auto, choice, count, positive, real
from dpfast.mechanisms import AboveThreshold, sparse_sample
from dpfast.mechanisms.sparse_sample import votes

from .hypothesis import Hypothesis
from .points import SHARE, CountedPointClassifier
from .splits import classes_of_parts, rows_of_parts


class LittlestonePlan(NamedTuple):
    """What a run will do, computed from parameters alone.

    Attributes
    ----------
    n_samples, n_teachers, rows_per_teacher : int
        Rows: n_teachers * rows_per_teacher.
    accuracies : tuple of float
        The error rates of the classes that teachers hold.
    irreducibility : int
    list_bound, list_items : int
        L, the longest list of essential hypotheses, and what all lists may hold together.
    threshold_epsilon : float
        Epsilon of AboveThreshold.
    votes_needed : int
        The threshold of AboveThreshold.
    exponent, bottom_score : float, int
        Of SparseSample.
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


class LittlestoneLearner(CountedPointClassifier):
    """Private learning of a Littlestone class from a table of examples, after [Lyu, section 5]_.

    The rows go to k teachers at random. For accuracies (1 - 1/(2d))^j accuracy, j odd, from the coarsest on, each
    teacher takes the members that err on at most that share of its rows and lists what is essential for them.
    AboveThreshold stops at the first accuracy at which some hypothesis is on enough lists, and SparseSample draws one
    from these lists.

    The paper's own algorithm, with its guarantee for the rows at hand, is `StagedLittlestoneLearner`.

    **Why lists agree.** Classes of true error at most (1 - 1/(2d))^j accuracy, j = 0, 2, ..., 2d + 2, decomposed with
    p, 2p, 4p, ..., have a dimension that never rises and takes d + 1 values (Lemma 4.3): two neighbours have the same
    one. A teacher's class for the odd j between, decomposed with the p of the coarser, lies between these two if its
    rows are enough, so that some SOA of the smaller is on its list (Lemma 4.3 again). And what it lists errs on at most
    that share of its rows: it agrees with a member on them.

    **Privacy.** (epsilon, delta)-DP for the relation `neighbors`: "replace" compares tables that differ in one row,
    "add-remove" tables one of which has a row more. Teachers are drawn independently for each row, so a row changes the
    lists of one teacher, at all accuracies, and with them the largest vote by at most one, in any direction:
    AboveThreshold is threshold_share * epsilon-DP. SparseSample has the rest and delta
    (`dpfast.accounting.sparse_sample`). All numbers are computed from parameters alone: `estimate` returns them.
    With `probability_share` = c the model is ((1 - c) epsilon, delta)-DP and the class counts are (c epsilon, 0)-DP
    (`dpfast.learners.class_counts`): together (epsilon, delta), by basic composition.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget: smaller is more private, and 1 is a good beginning.
    delta : float, default=1e-6
        The probability with which the bound of epsilon may fail: well below one in the number of rows.
    hypothesis_class : FiniteClass, PointFunctions or Thresholds
    accuracy : float in (0, 1/2), default=0.1
        alpha: members of error 0 are supposed to exist, and hypotheses of error about alpha are wanted.
    confidence : float in (0, 1), default=0.1
        beta: the chance of failure for which noise and lists are planned.
    dimension : int or None, default=None
        d, at least LDim, which is the default; a class of a larger dimension is refused.
    neighbors : {"replace", "add-remove"}, default="replace"
        Which tables the claim compares: one row replaced, whose number is public, or one row more or less.
    threshold_share : float in (0, 1), default=0.5
        AboveThreshold's part of epsilon.
    probability_share : float in [0, 1), default=0.0
        Share of epsilon for noisy counts of the rows by the label predicted and their own. They give `predict_proba`;
        0 releases none.
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
        k, the rows that a teacher is planned to have, and the p of the coarsest accuracy, by default those rows; it
        doubles with each accuracy.
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
    class_counts_ : ndarray of int64, shape (2, 2)
        Rows by the label predicted and their own, with noise of scale `class_counts_scale_`. Only with
        `probability_share`.
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

    Cost: classes of k teachers at d + 1 accuracies; lists of at most `LittlestonePlan.list_items` items. A teacher
    whose search in a table is given up (`FiniteClass`, max_nodes) lists nothing, which no one else is told: it would
    say something of its rows. It cannot happen if p >= n_points, where what is essential are the members.

    References
    ----------
    .. [Lyu] X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025.

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
    _parameters = CountedPointClassifier._parameters | {
        "accuracy": real(0, 0.5, "()"),
        "confidence": SHARE,
        "threshold_share": SHARE,
        "calibration": choice("tight", "paper"),
        "vote_fraction": SHARE,
        "agreement": SHARE,
        "minority": SHARE,
        "sample_constant": positive(),
        "n_teachers": auto(count(1)),
        "rows_per_teacher": auto(count(1)),
        "irreducibility": auto(count(1)),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        hypothesis_class: Any = None,
        accuracy: float = 0.1,
        *,
        confidence: float = 0.1,
        dimension: int | None = None,
        neighbors: str = "replace",
        threshold_share: float = 0.5,
        calibration: str = "tight",
        vote_fraction: float = 0.75,
        agreement: float = 0.9375,
        minority: float = 0.5,
        sample_constant: float = 1.0,
        n_teachers: int | str = "auto",
        rows_per_teacher: int | str = "auto",
        irreducibility: int | str = "auto",
        probability_share: float = 0.0,
        max_work: int = 10**9,
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
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
        self.probability_share = probability_share
        self.max_work = max_work
        self.budget = budget
        self.random_state = random_state

    def _plan(self, p):
        if not p.minority < p.vote_fraction < p.agreement:
            raise ValueError(
                "minority < vote_fraction < agreement is needed, got "
                f"{p.minority!r}, {p.vote_fraction!r} and {p.agreement!r}"
            )
        d = self._dimension(p)
        gap = 1 / (2 * max(1, d))
        accuracies = tuple(p.accuracy * (1 - gap) ** j for j in range(1, 2 * d + 2, 2))
        rows, irreducibility = _rows(p, d, gap)
        length = p.hypothesis_class.list_bound(irreducibility << d, d)
        mechanism = sparse_sample_plan(
            p.epsilon,
            p.delta,
            n_releases=1,
            max_length=length,
            threshold_share=p.threshold_share,
            calibration=p.calibration,
        )
        k = _teachers(p, mechanism, length, len(accuracies)) if p.n_teachers == "auto" else p.n_teachers
        self._check_work(p, k * length)
        return LittlestonePlan(
            n_samples=k * rows,
            n_teachers=k,
            rows_per_teacher=rows,
            accuracies=accuracies,
            irreducibility=irreducibility,
            list_bound=length,
            list_items=k * length,
            threshold_epsilon=mechanism.threshold_epsilon,
            votes_needed=math.ceil(p.vote_fraction * k),
            exponent=mechanism.exponent,
            bottom_score=mechanism.bottom_score,
        )

    def fit(self, X: Any, y: Any) -> Self:
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
        p = self._checked()
        plan, d = self._plan(p), self._dimension(p)
        points, labels = self._examples(X, y)
        fallback = p.hypothesis_class.soa_hypothesis()
        with self._spending(self._public(len(points)), p.rng, accuracy=1, hypothesis=1, **p.counting) as run:
            run.released = released = _Released(fallback)
            tests = AboveThreshold(plan.votes_needed, plan.threshold_epsilon, rng=run.rng)
            teacher = run.rng.integers(plan.n_teachers, size=len(points), dtype=np.min_scalar_type(plan.n_teachers))
            rows = rows_of_parts(teacher, plan.n_teachers)
            teachers = classes_of_parts(p.hypothesis_class, points, labels, rows, plan.accuracies)
            for j in range(len(plan.accuracies)):
                lists = [next(classes)._private_codes(plan.irreducibility << j, d) for classes in teachers]
                _, score = votes(lists, max_length=plan.list_bound)
                if tests.test(int(score.max(initial=0))):
                    released.level = j
                    break
            run.used["accuracy"] += 1  # or that none will do
            if released.level is not None:
                drawn = sparse_sample(lists, plan.exponent, plan.bottom_score, max_length=plan.list_bound, rng=run.rng)
                run.used["hypothesis"] += 1
                if drawn is not None:
                    released.hypothesis, released.selected = p.hypothesis_class._hypothesis(drawn), True
            self._count_predictions(run, p, released.hypothesis, points, labels)
        return self

    def _publish(self, run):
        released = run.released
        self.hypothesis_, self.level_, self.selected_ = released.hypothesis, released.level, released.selected

    def _released(self):
        return {**super()._released(), "level": self.level_, "selected": self.selected_}

    def _restore(self, released):
        super()._restore(released)
        self.level_, self.selected_ = released["level"], bool(released["selected"])


@dataclass
class _Released:
    hypothesis: Hypothesis
    level: int | None = None
    selected: bool = False


def _rows(p, d, gap):
    """Rows of a teacher, and the irreducibility asked for."""
    nats = -math.log(1 - p.agreement)
    rows = math.ceil(p.sample_constant * 4 * nats / p.accuracy)
    irreducibility = rows if p.irreducibility == "auto" else p.irreducibility
    if p.hypothesis_class._degree(irreducibility, d) > 0:
        rise = gap / (1 - gap)  # from the population's accuracy below to the teacher's, then the other side
        below = (2 + rise) / (rise**2 * p.accuracy * (1 - gap) ** (2 * d + 2))
        above = 2 / (gap**2 * p.accuracy * (1 - gap) ** (2 * d))
        rows = math.ceil(p.sample_constant * nats * max(below, above))
    rows = rows if p.rows_per_teacher == "auto" else p.rows_per_teacher
    return rows, rows if p.irreducibility == "auto" else p.irreducibility


def _teachers(p, mechanism, length, levels):
    """Teachers with which each step does what it should, with probability 1 - confidence / 3."""
    nats = math.log(3 / p.confidence)
    noise = (13 / 5 + 13 / 4) / mechanism.threshold_epsilon * (nats + math.log(2 * levels))
    k = max(
        noise / (p.agreement - p.vote_fraction),
        (mechanism.bottom_score + nats / mechanism.exponent) / p.vote_fraction,
    )
    for _ in range(50):  # k appears in its own logarithm
        k = max(k, (nats + math.log(k * length)) / mechanism.exponent / (p.vote_fraction - p.minority))
    return math.ceil(k)
