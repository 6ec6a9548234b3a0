"""Private online learning of a Littlestone class: Algorithms 3 and 4 of [Lyu]."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpfast.accounting.papers.littlestone import staged_online_plan
from dpfast.base.parameters import BETWEEN_0_AND_1, choice, estimator, parameter, real
from dpfast.base.plan import Proved
from dpfast.mechanisms import RepeatedThreshold, exponential
from dpfast.mechanisms.sparse_sample import votes

from .hypothesis import majority
from .splits import equal_parts, essential_lists, rows_of_parts
from .streams import Following, PointStream, StreamModel


@dataclass(frozen=True)
class StagedModel(StreamModel):
    """The model of a stream, and the stage that was reached."""

    stage: int


@estimator
class StagedOnlineLittlestoneLearner(PointStream):
    """Private online learning with few mistakes in terms of dimension and log horizon [Lyu, Theorem 1]_.

    A hypothesis predicts, and its mistakes are collected in E. AboveThreshold without threshold noise tests |E| > U
    after every round. When the test passes, E is split at random into k equal parts, one per teacher, and the teachers
    are trained jointly (Algorithm 4). In stage j a teacher has the members that err on at most (1 - 1/d)^j / 10 of
    every part that it has received, and lists the functions that are (2^j p, d)-essential for them. As long as no
    hypothesis seems to be on 4/5 of the lists, the next stage begins; at most d + 1 such tests may fail. Then
    SparseSample draws R times, and the majority vote of the drawn hypotheses predicts. After K trainings, or past stage
    d + 1, the learner halts.

    **Privacy.** The hypotheses and their times are (epsilon, delta)-DP for the relation `neighbors`: "replace" compares
    streams that differ in one round, "add-remove" compares streams where one round of one of them is replaced by a
    blank that never counts. Each prediction depends also on its own row, and is for that row's owner only.
    The theorem is Theorem 1 of `dpfast.accounting.papers.littlestone`. The numbers are computed from the
    parameters alone; `estimate` returns them.

    **Mistakes.** At scale 1, on every stream of `horizon` rounds that some member explains, there are at most
    `estimate().mistakes` with probability 1 - horizon^-10, and no halt: Theorem 1, with numbers for its constants.
    Rounds may be chosen by someone who has seen all hypotheses and predictions before them. The numbers are
    astronomical: a horizon for which the theorem says nothing is refused. A smaller scale runs the same algorithm on
    shorter streams, as private and without such a promise.

    Parameters
    ----------
    scale : float in (0, 1], default=1.0
        Factor for the constants of the theorem: K, R, U / k and the noise that k and U allow for.
    listing : {"stage", "printed"}, default="stage"
        With "stage", teachers of decomposition dimension d + 1 - j list hypotheses in stage j, so that lists only
        shrink within a stage, as the proof of Theorem 1 needs; with "printed", all do, as in line 8 of Algorithm 4.
    dimension : int or None, default=None
        The dimension d, at least LDim, which is the default; a class of a larger dimension is refused. At least 2 is
        used: at d = 1 the error rates of all stages are 0, and the classes of teachers do not interleave.
    threshold_share : float in (0, 1), default=0.2
        The share of epsilon for the tests; half of it is for each of the two kinds.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The hypothesis that predicts: a majority vote of members or other functions.
    stage_ : int
        The stage j of the last training.

    Notes
    -----
    The algorithm differs from the printed one as follows (`dpfast.accounting.papers.littlestone` names the page with
    reasons). E is padded with blanks before it is split, so that a round changes one part; p is 2^j max(d^3, part
    size), as Fact 4 requires; k is as large as Lemma 3.1 requires for this delta; see also `listing`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfast.littlestone import PointFunctions, StagedOnlineLittlestoneLearner
    >>> H = PointFunctions(2**40)
    >>> learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, H, 5_000, scale=1e-6, random_state=0)
    >>> X = np.where(np.arange(5_000) % 4, 123456789, np.arange(5_000))
    >>> wrong = learner.stream(X, X == 123456789) != (X == 123456789)
    >>> int(wrong[4_000:].sum()), learner.hypothesis_, learner.stage_
    (0, <1 at point 123456789>, 3)
    """

    _model = "staged-online-littlestone"
    scale: float = parameter(1.0, real(0, 1, "(]"))
    listing: str = parameter("stage", choice("stage", "printed"))
    threshold_share: float = parameter(0.2, BETWEEN_0_AND_1)

    def _dimension(self, p):
        return max(2, super()._dimension(p))

    def _numbers(self, p):
        d = self._dimension(p)

        def plan(horizon):
            return staged_online_plan(
                p.epsilon,
                p.delta,
                dimension=d,
                horizon=horizon,
                list_bound=lambda irreducibility: p.hypothesis_class.list_bound(irreducibility, d),
                scale=p.scale,
                threshold_share=p.threshold_share,
                n_points=p.hypothesis_class.n_points,
            )

        planned = plan(p.horizon)
        least = _mistakes_allowed_for(planned, p.scale)
        if least >= p.horizon:
            needed = p.horizon
            while needed <= (least := _mistakes_allowed_for(plan(needed), p.scale)):
                needed = least + 1
            what = "the theorem allows" if p.scale == 1 else "the first release comes after up to"
            raise ValueError(
                f"at scale={p.scale:g} {what} {_mistakes_allowed_for(planned, p.scale):,} mistakes, which a stream of "
                f"horizon={p.horizon:,} rounds may not even have: it needs a horizon of {needed:,}, or a smaller scale"
            )
        self._check_work(p, planned.list_items)
        return planned

    def _test_releases(self, numbers):
        first = Proved("exponential", numbers.exponent, size=numbers.list_items, times=None)  # it depends on no row
        tests = {"tests": numbers.above_epsilon, "failures": numbers.below_epsilon}
        return {name: Proved("threshold", each, times=None) for name, each in tests.items()} | {"first": first}

    def _new_state(self, p, numbers, run, fit):
        return _JointTraining(run, fit, numbers, p.hypothesis_class, self._dimension(p), p.listing)

    def _released(self):
        return {**super()._released(), "stage": self.stage_}

    def _restore(self, released):
        super()._restore(released)
        self.stage_ = int(released["stage"])


def _mistakes_allowed_for(plan, scale):
    return plan.mistakes if scale == 1 else 3 * plan.threshold // 2


class _JointTraining(Following):
    """Private state of Algorithms 3 and 4, with the paper's symbols; E holds at most k part_size mistakes."""

    def __init__(self, run, fit, plan, whole, dimension, listing):
        self.stage, self.d = 1, dimension
        super().__init__(run, fit, whole)
        self.plan, self.H, self.d, self.listing = plan, whole, dimension, listing
        self.E, self.rounds = ([], [], []), 0  # points, labels and rounds
        self.S = [[] for _ in range(plan.n_teachers)]  # the parts of each teacher
        self.classes = [whole] * plan.n_teachers
        # Algorithm 2 is used twice: for |E| + Lap > U, which may be positive K + 1 times,
        self.tests = self._new_tests("tests", plan.threshold + 1, plan.n_releases + 1)
        # and for m + Lap > 4k/5, which may be negative d + 1 times: -m + Lap >= -floor(4k/5), as Lap is symmetric.
        self.failures = self._new_tests("failures", -(4 * plan.n_teachers // 5), dimension + 1)
        run.draw("first", 1, self._train)

    def model(self) -> StagedModel:
        return StagedModel(self.hypothesis, self.hypotheses[:], self.frozen, min(self.stage, self.d + 1))

    def _new_tests(self, name, threshold, positives):
        return self.run.draw(name, 1, lambda epsilon, rng: RepeatedThreshold(threshold, epsilon, positives, rng=rng))

    def _note(self, rounds, wrong, points, labels):
        for store, some in zip(self.E, (points, labels, self.rounds + wrong), strict=True):
            store.append(some)
        self.rounds += rounds

    def _draw_next(self):
        """Run lines 16 to 23 of Algorithm 3."""
        if self.tests.fired > self.plan.n_releases:
            self.frozen = True  # HALT
        else:
            self.run.draw("hypotheses", 1, self._train_again)

    def _train_again(self, exponent, rng):
        """Give the teachers their parts of E, and train them."""
        points, labels, rounds = map(np.concatenate, self.E)
        k = self.plan.n_teachers
        part = equal_parts(rng, rounds.tolist(), k, k * self.plan.part_size)
        for i, rows in enumerate(rows_of_parts(part, k)):
            self.S[i].append((points[rows], labels[rows]))
            self.classes[i] = self._define_class(self.classes[i], self.S[i][-1:])
        self.E = [], [], []
        self._train(exponent, rng)

    def _train(self, exponent, rng):
        """Run JointTrain, Algorithm 4."""
        plan = self.plan
        while self.stage <= self.d + 1:
            items, score = votes(self._lists(), max_length=plan.list_bound)
            if not self.failures.test(-int(score.max(initial=0))):
                draws = exponential(np.append(score, np.int64(plan.bottom_score)), exponent, size=plan.n_draws, rng=rng)
                codes = [items[i] for i in np.atleast_1d(draws) if i < len(items)]
                self.hypotheses.append(majority(self.H, codes) if codes else None)
                self.hypothesis = self.hypotheses[-1] or self.hypothesis
                return
            self.stage += 1
            self.classes = [self._define_class(self.H, parts) for parts in self.S]
        self.frozen = True  # no hypothesis of any stage: no member explains the stream

    def _lists(self):
        """Return the essential hypotheses of each teacher: line 8 of Algorithm 4."""
        degree = self.d + 1 - self.stage if self.listing == "stage" else None
        return essential_lists(self.classes, self.plan.irreducibility << self.stage, self.d, degree)

    def _define_class(self, H, parts):
        """Return the members of H that err on few examples of each of these parts: DefineClass of this stage."""
        share = Fraction(1, 10) * (1 - Fraction(1, self.d)) ** self.stage
        for points, labels in parts:
            (H,) = H.balls(points, labels, [math.floor(share * len(points))])
        return H
