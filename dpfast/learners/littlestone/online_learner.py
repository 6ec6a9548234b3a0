"""Private online learning of a Littlestone class, after [Lyu, Algorithms 3 and 4], for short streams."""

import math
from typing import NamedTuple

from dpfast.accounting import sparse_sample_plan
from dpfast.base.parameters import BETWEEN_0_AND_1, Kind, auto, choice, count, estimator, parameter, positive
from dpfast.base.plan import Proved
from dpfast.mechanisms import AboveThreshold, sparse_sample
from dpfast.mechanisms.draws import has_recorder

from .splits import essential_lists
from .streams import Following, PointStream


class OnlineLittlestonePlan(NamedTuple):
    """Plan of a stream, computed from the parameters alone.

    Attributes
    ----------
    n_releases, n_teachers, irreducibility : int
    batch, threshold : int
        The number of mistakes after which a release should come, and the larger threshold of AboveThreshold.
    mistakes_per_release, mistakes : int
        Bounds on the mistakes before one release, including the effect of noise, and on the mistakes of all releases.
    list_bound, list_items : int
        The length L of the longest list of essential hypotheses, and the largest total length of a release's lists.
    threshold_epsilon, exponent, bottom_score : float, float, int
        The epsilon of AboveThreshold, and the parameters of SparseSample.
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


@estimator
class OnlineLittlestoneLearner(PointStream):
    """Private online learning of a Littlestone class on streams of moderate length, after [Lyu, Algorithms 3 and 4]_.

    `StagedOnlineLittlestoneLearner` is the paper's own algorithm, with its theorem for long streams.

    One hypothesis predicts, at first the SOA of the class. Each of its mistakes goes to one of k teachers at random. A
    teacher keeps the members that agree with its mistakes, and lists their essential hypotheses. AboveThreshold counts
    the mistakes since the last release. When it finds enough, most teachers have seen a mistake, and SparseSample draws
    the next hypothesis from all lists. If it draws nothing, the old hypothesis stays. After K releases the hypothesis
    is frozen.

    **Privacy.** The released hypotheses and the times of their releases are (epsilon, delta)-DP for the relation
    `neighbors`: "replace" compares streams that differ in one round, "add-remove" compares streams where one round of
    one of them is replaced by a blank that never counts. The predictions are not: the prediction of round t is
    h_t(x_t), where x_t is from the row itself. They are jointly private: everything that all other people see, namely
    the predictions of their own rows and every hypothesis, is (epsilon, delta)-DP in the one round that is not theirs.
    So a prediction may be shown to the owner of its row, but all predictions together only to the owner of the data.
    Proof: fix the released values. They determine which rounds are mistakes, and teachers are drawn independently of
    them. So the round that differs changes the running count of one interval between releases (AboveThreshold, paid
    once), and the list of one teacher in each of the at most K following draws of SparseSample.
    `dpfast.accounting.curves.sparse_sample` composes them. The claim holds for streams beyond the horizon too.

    There are no probabilities: a hypothesis may change with every row, and no rows are left to count for the last one.

    Parameters
    ----------
    confidence : float in (0, 1), default=0.1
        The failure probability beta for which noise and lists are planned.
    n_releases : int or "auto", default="auto"
        The number K of releases; by default release_constant * (d + 1).
    release_constant : float, default=2.0
    batch_constant : float above ln 2, default=1.5
        The number c of mistakes of a release per teacher. A share 1 - exp(-c) of the teachers, more than half, then
        sees one.
    n_teachers, irreducibility : int or "auto", default="auto"
        The number k of teachers, and p, which is by default the horizon.
    threshold_share : float in (0, 1), default=0.15
        The share of epsilon for AboveThreshold, whose counts are in the hundreds and whose noise is in the dozens.
    calibration : {"tight", "paper"}, default="tight"
        "paper" uses pure composition and the score of the empty outcome of [Lyu, Lemma 3.1]_: more teachers.

    Attributes
    ----------
    releases_ : list of Hypothesis or None
        The hypotheses drawn by the releases, at most K; None if nothing was drawn.

    Notes
    -----
    **Numbers.** With h = 1 - exp(-c), k is so large that h k votes beat the empty outcome, and beat (1 - h) k votes for
    each of k L others, and the thresholds are such that no release comes too early or too late; each of the two fails
    with probability at most beta / 2 in all releases. This is for classes in which the mistakes of one hypothesis move
    the teachers to one other, such as point functions; a release about halves a class with more to tell apart, such as
    thresholds. Nothing is promised for streams that no member explains, nor against somebody who sees the hypotheses:
    whoever always asks where they err may use up all K releases, and the last hypothesis then errs for ever.

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
    confidence: float = parameter(0.1, BETWEEN_0_AND_1)
    n_releases: int | str = parameter("auto", auto(count(1)))
    release_constant: float = parameter(2.0, positive())
    batch_constant: float = parameter(
        1.5,
        Kind(
            "be above ln 2, so that most teachers see a mistake, and finite",
            lambda value: positive().fits(value) and value > math.log(2),
        ),
    )
    n_teachers: int | str = parameter("auto", auto(count(1)))
    irreducibility: int | str = parameter("auto", auto(count(1)))
    threshold_share: float = parameter(0.15, BETWEEN_0_AND_1)
    calibration: str = parameter("tight", choice("tight", "paper"))

    def _numbers(self, p):
        d = self._dimension(p)
        releases = math.ceil(p.release_constant * (d + 1)) if p.n_releases == "auto" else p.n_releases
        irreducibility = p.horizon if p.irreducibility == "auto" else p.irreducibility
        length = p.hypothesis_class.list_bound(irreducibility, d)
        mechanism = sparse_sample_plan(
            p.epsilon,
            p.delta,
            n_releases=releases,
            max_length=length,
            threshold_share=p.threshold_share,
            calibration=p.calibration,
        )
        nats = math.log(2 * releases / p.confidence)
        k = _teachers(p, mechanism, length, nats) if p.n_teachers == "auto" else p.n_teachers
        batch = math.ceil(p.batch_constant * k)
        threshold = batch + math.ceil((math.log(p.horizon) + 2 * nats) / mechanism.threshold_epsilon)
        latest = threshold + math.ceil(2 * nats / mechanism.threshold_epsilon)
        self._check_work(p, k * length)
        return OnlineLittlestonePlan(
            n_releases=releases,
            n_teachers=k,
            batch=batch,
            threshold=threshold,
            mistakes_per_release=latest,
            mistakes=releases * latest,
            irreducibility=irreducibility,
            list_bound=length,
            list_items=k * length,
            threshold_epsilon=mechanism.threshold_epsilon,
            exponent=mechanism.exponent,
            bottom_score=mechanism.bottom_score,
        )

    def _test_releases(self, numbers):
        return {"tests": Proved("threshold", numbers.threshold_epsilon, times=None)}

    def _new_state(self, p, numbers, run, fit):
        return _Teachers(run, fit, numbers, p.hypothesis_class, self._dimension(p))


class _Teachers(Following):
    """The algorithm on a stream."""

    def __init__(self, run, fit, plan, whole, dimension):
        super().__init__(run, fit, whole)
        self.plan, self.whole, self.dimension = plan, whole, dimension
        self.teachers = [whole] * plan.n_teachers
        self.tests = run.draw("tests", 1, self._new_tests)

    def _new_tests(self, epsilon, rng):
        return AboveThreshold(self.plan.threshold, epsilon, monotone="running", rng=rng)

    def _note(self, rounds, wrong, points, labels):
        """Assign each of these mistakes to a teacher."""
        if has_recorder():  # each round has its teacher, as in the proof, so that those of other rounds stay the same
            teachers = self.run.integers(len(self.teachers), rounds)[wrong]
        else:
            teachers = self.run.integers(len(self.teachers), len(points))
        for i, x, y in zip(teachers.tolist(), points.tolist(), labels.tolist(), strict=True):
            self.teachers[i] = self.teachers[i].restrict(x, y)

    def _draw_next(self):
        """Draw the next hypothesis, and start a new interval."""
        code = self.run.draw("hypotheses", 1, self._draw)
        hypothesis = None if code is None else self.whole._hypothesis(code)
        self.hypothesis = self.hypothesis if hypothesis is None else hypothesis
        self.hypotheses.append(hypothesis)
        self.frozen = len(self.hypotheses) == self.plan.n_releases
        if not self.frozen:
            self.tests.reset()

    def _draw(self, exponent, rng):
        """Return the code of a hypothesis on the lists of the teachers, or None."""
        plan = self.plan
        lists = essential_lists(self.teachers, plan.irreducibility, self.dimension)
        return sparse_sample(lists, exponent, plan.bottom_score, max_length=plan.list_bound, rng=rng)


def _teachers(p, mechanism, length, nats):
    """Return the number of teachers for which each step of every release succeeds."""
    hit = -math.expm1(-p.batch_constant)
    k = (mechanism.bottom_score + nats / mechanism.exponent) / hit
    for _ in range(50):  # k appears in its own logarithm
        k = max(k, (nats + math.log(k * length)) / mechanism.exponent / (2 * hit - 1))
    return math.ceil(k)
