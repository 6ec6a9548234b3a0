"""PAC learning of a Littlestone class by private empirical risk minimization: section 5 of [Lyu].

**Proper hypotheses.** A function that is not a member is converted to members by [Lyu, remark after Theorem 3] and
[GGKM21]. Let f be the SOA of a k-irreducible part G of H, and mu any distribution on the points. Some member of G
agrees with f on k points drawn from mu. If k is large relative to the VC dimension, some member therefore errs on f
with probability at most a small a under mu. This holds for every mu, so by von Neumann's minimax theorem one mixture of
members errs on f with probability at most a at every single point. Hence on any rows the average error of the members
of the mixture is at most the error of f plus a, and the best member is at least as good as the average. The members
depend only on f and H, which are public; the exponential mechanism chooses the best of them on the rows.

[GGKM21] is B. Ghazi, N. Golowich, R. Kumar, P. Manurangsi, Sample-efficient proper PAC learning with approximate
differential privacy, STOC 2021.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from dpfast.accounting.claims.noise import changed_rows
from dpfast.accounting.papers.littlestone import staged_plan
from dpfast.base.parameters import estimator, parameter, real
from dpfast.base.plan import Proved
from dpfast.mechanisms import exponential

from .points import CountedPointClassifier
from .splits import classes_of_parts, equal_parts, rows_of_parts

_LEAST_WEIGHT = 1e-9


def members_near(hypothesis_class, code, most):
    """Return codes of members, a mixture of which is close to this function at every point; itself if it is a member.

    A class that is too large to be listed gives at most `most` of its members.
    """
    if hypothesis_class._is_member(code):
        return [code]
    members = hypothesis_class._some_members(most)
    if len(members) < hypothesis_class.size:
        return members  # point functions: each errs on the function 0 at a point of its own
    points = np.arange(hypothesis_class.n_points)
    labels = hypothesis_class._labels(code, points)
    errs = np.array([hypothesis_class._labels(member, points) != labels for member in members], float).T
    if not errs.any(axis=0).all():
        return [members[int(np.argmin(errs.sum(axis=0)))]]
    weights = best_mixture(errs)
    return [member for member, weight in zip(members, weights, strict=True) if weight > _LEAST_WEIGHT]


def best_mixture(errs):
    """Return weights of columns, of sum 1, that minimize the largest row sum; equal weights if no solution is found."""
    rows, columns = errs.shape
    optimum = linprog(
        np.append(np.zeros(columns), 1),
        A_ub=np.hstack([errs, -np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0)[np.newaxis],
        b_eq=[1],
    )
    return optimum.x[:-1] if optimum.success else np.full(columns, 1 / columns)


@estimator
class StagedLittlestoneLearner(CountedPointClassifier):
    """Private empirical risk minimization over a Littlestone class in d + 1 stages [Lyu, Theorem 3]_.

    The rows are assigned to k teachers in random parts of equal size. In stage j = 1, ..., d + 1 a teacher takes the
    members that err on at most the share (1 - 1/(2d))^j accuracy of its part, and lists the functions that are (2^j n
    d, d)-essential for them. The run ends with the first stage in which AboveThreshold finds a hypothesis on half of
    the lists: SparseSample draws from the lists of that stage.

    **Privacy.** The model is (epsilon, delta)-DP for the relation `neighbors`. A row is in one part, independently of
    the other rows, so that in each stage one list changes, and the largest vote changes by at most one. AboveThreshold
    uses threshold_share of the epsilon that proper_share leaves, and SparseSample uses the rest of it and delta
    (`dpfast.accounting.curves.sparse_sample`); the exponential mechanism of a proper learner is proper_share *
    epsilon-DP.

    **Error.** At scale 1, if some member explains the rows and there are at least `estimate().n_samples` of them, the
    error of the hypothesis on them is below `accuracy` with probability 1 - confidence: Theorem 3 with explicit
    constants, of `dpfast.accounting.papers.littlestone`. Fewer rows and a smaller scale are equally private but have no
    such guarantee.

    Parameters
    ----------
    scale : float in (0, 1], default=1.0
        Factor for the rows of a teacher, the constant of the theorem.
    neighbors : {"replace", "add-remove"}, default="replace"
        Under "add-remove" the number of rows is private: rows beyond `estimate().n_samples` are not used.
    proper_share : float in [0, 1), default=0.0
        The share of epsilon for a proper hypothesis: the drawn function, which need not be a member, is replaced by the
        best of few members, a mixture of which is close to it at every point (`dpfast.learners.littlestone.staged`).

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The drawn hypothesis, or the SOA of the class if none was drawn. It is a member if proper_share is above 0.
    stage_ : int or None
        The stage j at which AboveThreshold stopped.

    Notes
    -----
    The number of teachers is what the tests and draws need; up to logarithms it is the paper's, d^2 ln(1/delta) /
    epsilon. If the search of a teacher in a table reaches its limit, its list is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfast.littlestone import StagedLittlestoneLearner, Thresholds
    >>> learner = StagedLittlestoneLearner(1.0, 1e-6, Thresholds(15), scale=1e-4, random_state=0)
    >>> X = np.random.default_rng(0).integers(15, size=20_000)
    >>> learner.fit(X, X >= 6).hypothesis_, learner.stage_
    (<1 from point 6 on>, 1)
    """

    _step, _tested, _first = "stage", "stage", 1
    _model = "staged-littlestone"
    scale: float = parameter(1.0, real(0, 1, "(]"))
    proper_share: float = parameter(0.0, real(0, 1, "[)"))

    def _numbers(self, p, n_rows=0):
        d = self._dimension(p)
        plan = staged_plan(
            p.epsilon * (1 - p.proper_share),
            p.delta,
            dimension=d,
            accuracy=p.accuracy,
            confidence=p.confidence,
            list_bound=lambda irreducibility: p.hypothesis_class.list_bound(irreducibility, d),
            scale=p.scale,
            threshold_share=p.threshold_share,
            n_rows=n_rows,
        )
        self._check_work(p, plan.list_items)
        return plan

    def _further(self, p, numbers):
        if not p.proper_share:
            return {}
        return {"member": Proved("exponential", self._proper_exponent(p), size=1 << 62)}

    def _teachers(self, p, numbers, points, labels, rng):
        d, n = self._dimension(p), len(points) if p.neighbors == "replace" else numbers.n_samples
        part = equal_parts(rng, range(len(points)), numbers.n_teachers, n)
        rates = [Fraction(p.accuracy) * (1 - Fraction(1, 2 * max(1, d))) ** j for j in range(1, d + 2)]
        teachers = classes_of_parts(p.hypothesis_class, points, labels, rows_of_parts(part, numbers.n_teachers), rates)
        return teachers, numbers.irreducibilities

    def _refine(self, p, run, code, points, labels):
        if not p.proper_share:
            return
        H = p.hypothesis_class
        near = members_near(H, H._soa_code() if code is None else code, math.ceil(10 / p.accuracy))
        errors = [int((H._labels(member, points) != labels).sum()) for member in near]
        index = run.draw("member", len(near), lambda exponent, rng: exponential(errors, -exponent, rng=rng))
        run.model = replace(run.model, hypothesis=H._hypothesis(near[index]))

    @staticmethod
    def _proper_exponent(p):
        """Return the exponent per error; the vector of errors has range 2 if a row is replaced, 1 if one is added."""
        epsilon = Fraction(p.epsilon) - Fraction(p.epsilon * (1 - p.proper_share))
        return epsilon / changed_rows(p.neighbors)
