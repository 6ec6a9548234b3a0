"""PAC learning of a Littlestone class, after [Lyu, section 5], with fewer rows and without its guarantee."""

import math
from typing import NamedTuple

import numpy as np

from dpfast.accounting import sparse_sample_plan
from dpfast.base.parameters import BETWEEN_0_AND_1, auto, choice, count, estimator, parameter, positive

from .points import CountedPointClassifier
from .splits import classes_of_parts, rows_of_parts


class LittlestonePlan(NamedTuple):
    """Numbers of a run, computed from the parameters alone.

    Attributes
    ----------
    n_samples, n_teachers, rows_per_teacher : int
        The numbers of rows: n_samples = n_teachers * rows_per_teacher.
    accuracies : tuple of float
        The error rates of the classes that teachers hold.
    irreducibility, list_bound, list_items : int
        The p of the coarsest accuracy, the length L of the longest list, and the largest total length of all lists.
    threshold_epsilon, votes_needed : float, int
        The epsilon and the threshold of AboveThreshold.
    exponent, bottom_score : float, int
        The parameters of SparseSample.
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


@estimator
class LittlestoneLearner(CountedPointClassifier):
    """Private learning of a Littlestone class from a table of examples, after [Lyu, section 5]_.

    The rows are assigned to k teachers at random. For accuracies (1 - 1/(2d))^j accuracy, j odd, in decreasing order,
    each teacher takes the members that err on at most that share of its rows and lists their essential hypotheses.
    AboveThreshold stops at the first accuracy at which some hypothesis is on enough lists, and SparseSample draws one
    hypothesis from these lists.

    `StagedLittlestoneLearner` is the paper's own algorithm, with its guarantee for the given rows.

    **Why lists agree.** Consider the classes of true error at most (1 - 1/(2d))^j accuracy, j = 0, 2, ..., 2d + 2,
    decomposed with p, 2p, 4p, .... Their dimension never increases and takes at most d + 1 values (Lemma 4.3), so two
    neighbours have the same dimension. If a teacher has enough rows, its class for the odd j between these two,
    decomposed with the p of the coarser one, lies between them, so that some SOA of the smaller one is on its list
    (Lemma 4.3 again). Every listed hypothesis errs on at most that share of the teacher's rows, since it agrees with a
    member on them.

    **Privacy.** The model is (epsilon, delta)-DP for the relation `neighbors`. The teacher of each row is drawn
    independently, so a row changes the lists of one teacher, at all accuracies, and each largest vote by at most one,
    in any direction: AboveThreshold is threshold_share * epsilon-DP. SparseSample uses the rest of epsilon, and delta
    (`dpfast.accounting.curves.sparse_sample`). All numbers are computed from the parameters alone: `estimate` returns
    them.

    Parameters
    ----------
    calibration : {"tight", "paper"}, default="tight"
        "paper" uses the score of the empty outcome of [Lyu, Lemma 3.1]_, about ten times the tight one: more teachers.
    vote_fraction : float in (0, 1), default=0.75
        The threshold of AboveThreshold, as a share of the teachers.
    agreement : float in (0, 1), default=0.9375
        The share of teachers that is expected to agree, more than `vote_fraction`. rows_per_teacher is chosen so that a
        teacher errs on one hypothesis with probability 1 - agreement.
    minority : float in (0, 1), default=0.5
        Hypotheses on a smaller share of the lists should not be drawn; less than `vote_fraction`.
    sample_constant : float, default=1.0
        Factor for the rows of a teacher.
    n_teachers, rows_per_teacher, irreducibility : int or "auto", default="auto"
        The number k of teachers, the planned number of rows of each, and the p of the coarsest accuracy, by default
        this number of rows; p doubles with each accuracy.

    Attributes
    ----------
    level_ : int or None
        The number of the accuracy, counted from 0, at which AboveThreshold stopped.

    Notes
    -----
    The plan replaces the O() of [Lyu]_ by numbers. The rows of a teacher follow from Chernoff bounds for one hypothesis
    at a time, at the least accuracy and the gap 1/(2d), without a union bound over the class. If the class decomposes
    to dimension 0 at once (always if p >= n_points), only hypotheses of error 2 alpha have to be absent from most
    lists, for which 4 ln(16) / alpha rows suffice. The number of teachers is chosen so that AboveThreshold stops,
    SparseSample draws a hypothesis, and none of a minority is drawn, each with failure probability at most beta / 3.

    The cost is that of the classes of k teachers at d + 1 accuracies. If the search of a teacher in a table reaches its
    limit (max_nodes of `FiniteClass`), its list is empty; this is not reported, as it would reveal something about its
    rows. It cannot happen if p >= n_points, since then the essential hypotheses are the members.

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

    _step, _tested = "level", "accuracy"
    _model = "littlestone"
    calibration: str = parameter("tight", choice("tight", "paper"))
    vote_fraction: float = parameter(0.75, BETWEEN_0_AND_1)
    agreement: float = parameter(0.9375, BETWEEN_0_AND_1)
    minority: float = parameter(0.5, BETWEEN_0_AND_1)
    sample_constant: float = parameter(1.0, positive())
    n_teachers: int | str = parameter("auto", auto(count(1)))
    rows_per_teacher: int | str = parameter("auto", auto(count(1)))
    irreducibility: int | str = parameter("auto", auto(count(1)))

    def _numbers(self, p, n_rows=0):
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

    def _teachers(self, p, numbers, points, labels, rng):
        k = numbers.n_teachers
        rows = rows_of_parts(rng.integers(k, size=len(points), dtype=np.min_scalar_type(k)), k)
        needed = [numbers.irreducibility << j for j in range(len(numbers.accuracies))]
        return classes_of_parts(p.hypothesis_class, points, labels, rows, numbers.accuracies), needed


def _rows(p, d, gap):
    """Return the rows of a teacher, and the irreducibility required."""
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
    """Return the number of teachers for which each step succeeds with probability 1 - confidence / 3."""
    nats = math.log(3 / p.confidence)
    noise = (13 / 5 + 13 / 4) / mechanism.threshold_epsilon * (nats + math.log(2 * levels))
    k = max(
        noise / (p.agreement - p.vote_fraction), (mechanism.bottom_score + nats / mechanism.exponent) / p.vote_fraction
    )
    for _ in range(50):  # k appears in its own logarithm
        k = max(k, (nats + math.log(k * length)) / mechanism.exponent / (p.vote_fraction - p.minority))
    return math.ceil(k)
