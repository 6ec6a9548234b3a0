"""What Winnow costs and what it promises (theory, section 4).

DP-Winnow keeps a score per feature, s = the sum of y x over the examples used so far, and publishes releases:
release k is m independent draws of a feature with probability proportional to exp(eta s). Rounds between two
releases are an interval; its mistakes are those of the release in force. An update adds to s the interval's
mistakes, all of them (batch="all") or the first B (batch=B; B = 1 is [BF]), and makes the next release; there
are K. It comes at a round fixed beforehand, or when AboveThreshold, started afresh with the interval, finds
enough mistakes in it. [BF] is Bun, Fang, "Privately Learning Decision Lists and a Differentially Private
Winnow", arXiv 2602.07370.

**Theorem (privacy).** Neighbouring streams differ in one round. Let R be `winnow_range`, and let each
AboveThreshold be e-DP. The run is as private as (eta R)^2 m K / 8-zCDP composed with *one* e-DP mechanism.

**Proof.** Fix everything published. It fixes every interval's ends and mistakes but those of the interval I
that holds the differing round. Before I all laws agree. In I, AboveThreshold's outcomes have likelihood ratio
in [e^-e, e^e]. After I its counts start afresh and agree: factor 1. So its factors together lie in [e^-e, e^e]:
one e-DP mechanism (`threshold_runs`; a counter that is *not* restarted would pay for each of the K). The scores
differ from the end of I on by the same vector v in every release; one draw's log-ratio lies in an interval of
length eta (max v - min v) <= eta R, which makes it (eta R)^2/8-zCDP by Hoeffding's lemma. At most m K draws
come after I. With D_n the divergence of step n given the past, the mean under Q of (P/Q)^a exp(-(a - 1) sum
D_n) never rises, and sum D_n is bounded whatever happens: divergences add up although the past decides what I
costs.

**Lemma (range).** For features in [lo, hi], labels +-1 and at least two features, v ranges over

    replace, any batch:      y x - y' x'  (or one of the two alone):             R = 2 (hi - lo)
    add-remove, batch all:   y x:                                                R = hi - lo
    add-remove, batch B:     y x - y' x': without the example the first B
                             mistakes of the interval take one more in:          R = 2 (hi - lo)

With copies lo + hi - x of all features ("complement") R stays: they are features in the same range. With copies
-x, whose scores are -s, the width is 2 max |v|: R = 4h under replace and for batch B, and 2h for add-remove with
batch all, h = max(|lo|, |hi|). (So for x in {0, 1}, copies 1 - x cost half as much as copies -x, and are as good.)
Proof: y x - y' x' has coordinates anywhere in [lo - hi, hi - lo] for y = y' and in +-[2 lo, 2 hi] otherwise.

**Lemma 4.2 (updates).** If y <u, x> >= rho for a probability vector u, and every example used has y <w, x> <= c
rho for the weights w when it came, there are at most ln d / ((1 - c) eta rho - eta^2/2) updates. Proof: an
update changes KL(u, w) by ln E_w exp(eta y x_j) - eta y <u, x> <= eta y <w, x> + eta^2/2 - eta rho (Hoeffding,
x_j in [-1, 1]); it starts at ln d or less and is never negative. *Batched:* B mistakes of one interval have one
w, and their average is an example with both properties: the lemma with eta_B = eta B. An interval with b < B
mistakes moves KL by less, at least eta b ((1 - c) rho - eta_B/2).

**Draws.** For x fixed before release k, the m draws' average of y x_j falls below its mean y <w, x> by c rho
with probability at most exp(-m (c rho)^2/2). With m = 2 ln(2 K T/beta) / (c rho)^2 all K T pairs of release and
round are good but with probability beta/2; then each mistake has y <w, x> <= c rho. The stream must not depend
on the draws.

Floats in a privacy claim are rounded towards safety.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Real
from typing import NamedTuple

from .budget import _check_neighbors
from .curves import _delta, _epsilon, _number
from .zcdp import _SLACK, _composed_epsilon, _largest, zcdp_rho

# Planning works with numbers no smaller, so that squares and quotients stay floats.
_LEAST = 1e-9


class WinnowPlan(NamedTuple):
    """Parameters of a DP-Winnow run and the mistakes that theory promises for them."""

    n_updates: int
    n_draws: int
    batch: int
    learning_rate: float
    threshold_epsilon: float
    threshold: float
    mistakes: float
    vacuous: bool
    horizon_needed: int


class DecisionListHalfspace(NamedTuple):
    """A halfspace that agrees with a decision list: sign of intercept + sum of weights * literals."""

    weights: tuple[int, ...]
    intercept: int
    norm: int
    margin: Fraction
    alternations: int


def winnow_range(
    neighbors: str = "replace",
    *,
    feature_range: tuple[float | Fraction, float | Fraction] = (-1, 1),
    negations: bool | str = False,
    batch: int | str = "all",
) -> Fraction:
    """How far one example can pull the scores of two features apart.

    Parameters
    ----------
    neighbors : {"replace", "add-remove"}
    feature_range : pair of real
        Every feature lies between these two.
    negations : bool or "complement"
        False: the features only. True: each also as -x. "complement": each also as low + high - x.
    batch : "all" or int
        Whether all mistakes of an interval enter the scores, or the first so many.

    Returns
    -------
    Fraction
        R, exact. With exponent eta one draw has bounded range eta * R, so it is (eta * R)-DP and
        (eta * R)**2 / 8-zCDP.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Lemma and proof are in the documentation of this module.

    Examples
    --------
    >>> winnow_range("replace"), winnow_range("add-remove"), winnow_range("add-remove", batch=1)
    (Fraction(4, 1), Fraction(2, 1), Fraction(4, 1))
    """
    _check_neighbors(neighbors)
    low, high = _feature_range(feature_range)
    if batch != "all" or not isinstance(batch, str):
        _count("batch", batch, or_else='"all" or ')
    if not (isinstance(negations, bool) or negations == "complement"):
        raise ValueError(f'negations must be False, True or "complement", got {negations!r}')
    one = 2 * max(abs(low), abs(high)) if negations is True else high - low
    return one if neighbors == "add-remove" and batch == "all" else 2 * one


def winnow_rho(
    learning_rate: float | Fraction,
    *,
    n_updates: int,
    n_draws: int,
    threshold_epsilon: float | Fraction = 0.0,
    neighbors: str = "replace",
    score_range: float | Fraction | None = None,
    threshold_runs: int = 1,
) -> float:
    """The rho for which a whole DP-Winnow run is rho-zCDP: (eta R)^2 m K / 8 + threshold_runs * e^2 / 2.

    Parameters
    ----------
    learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs
        As in `winnow_epsilon`, which is tighter than `zcdp_epsilon` of this unless there is no AboveThreshold.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem and proof are in the documentation of this module.

    Examples
    --------
    >>> round(winnow_rho(0.001, n_updates=10, n_draws=200), 6)
    0.004
    """
    eta, releases, e, width, runs = _run(
        learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs
    )
    return (_draws_rho(eta, releases, width) + runs * e * e / 2) * (1 + _SLACK)


def winnow_epsilon(
    learning_rate: float | Fraction,
    delta: float | Fraction,
    *,
    n_updates: int,
    n_draws: int,
    threshold_epsilon: float | Fraction = 0.0,
    neighbors: str = "replace",
    score_range: float | Fraction | None = None,
    threshold_runs: int = 1,
) -> float:
    """Epsilon of a whole DP-Winnow run at a given delta.

    Parameters
    ----------
    learning_rate : real, >= 0
        Exponent eta per unit of score.
    delta : real, at least 1e-300 and below 1
    n_updates : int, >= 1
        Releases K after the first, which is uniform and costs nothing.
    n_draws : int, >= 1
        Draws m in a release.
    threshold_epsilon : real, >= 0
        Each AboveThreshold is so much DP; 0 for a fixed schedule.
    neighbors : {"replace", "add-remove"}
    score_range : real, optional
        R, from `winnow_range`. By default the widest on [-1, 1], that of batch=1: 4.
    threshold_runs : int, >= 1
        How many AboveThreshold runs one example can touch: 1 if its counts and noise start afresh after each
        release, n_updates if they do not.

    Returns
    -------
    float
        The run is (epsilon, delta)-DP. Rounded up; infinite where it is too large for floats.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem and proof are in the documentation of this module, the conversion in that of
    `dpfast.accounting.zcdp`: divergences are added order by order, the pure parts with their exact
    divergence. That is below both the sum of pure epsilons with the converted rest and the conversion of
    `winnow_rho`.

    Examples
    --------
    >>> round(winnow_epsilon(0.001, 1e-6, n_updates=10, n_draws=200, threshold_epsilon=0.1), 3)
    0.469
    """
    eta, releases, e, width, runs = _run(
        learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs
    )
    rho = _draws_rho(eta, releases, width)
    return _composed_epsilon(rho, _delta(delta), e, runs) if rho < math.inf else math.inf


def winnow_learning_rate(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    n_updates: int,
    n_draws: int,
    threshold_share: float | Fraction = 0.5,
    neighbors: str = "replace",
    score_range: float | Fraction | None = None,
    threshold_runs: int = 1,
) -> tuple[float, float]:
    """Largest learning rate at which a whole DP-Winnow run is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
    n_updates, n_draws, neighbors, score_range, threshold_runs
        As in `winnow_epsilon`.
    threshold_share : real, at least 0 and below 1
        AboveThreshold's share of the budget, counted in zCDP; 0 for a fixed schedule.

    Returns
    -------
    learning_rate, threshold_epsilon : float
        Rounded down, so that ``winnow_epsilon`` of both is at most `epsilon` in floats too.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> eta, e = winnow_learning_rate(1.0, 1e-6, n_updates=10, n_draws=200)
    >>> round(eta, 5), round(e, 3)
    (0.00217, 0.156)
    """
    epsilon, delta = _epsilon(epsilon), _delta(delta)
    _, releases, _, width, runs = _run(1.0, n_updates, n_draws, 0.0, neighbors, score_range, threshold_runs)
    share = _number("threshold_share", threshold_share, "at least 0 and below 1", lambda x: 0 <= x < 1)
    e = math.sqrt(2 * share * zcdp_rho(epsilon, delta) / runs) * (1 - _SLACK)
    eta = _largest(lambda eta: _composed_epsilon(_draws_rho(eta, releases, width), delta, e, runs) <= epsilon)
    if eta == 0:
        raise ValueError(f"no learning rate > 0 fits epsilon={epsilon!r}, delta={delta!r}; a larger epsilon is wanted")
    return eta, e


def winnow_update_bound(dimension: int, margin: float, confidence: float, learning_rate: float) -> int:
    """The most updates that ConfidentWinnow makes ([BF] Lemma 4.2).

    Parameters
    ----------
    dimension : int, >= 1
        Features, negated copies included.
    margin : real, from 1e-9 to 1
        rho: some probability vector u has y <u, x> >= rho on every example.
    confidence : real, at least 0 and below 1
        c: only examples with y <w, x> <= c * rho are used.
    learning_rate : real, at least 1e-150 and below 2 * (1 - confidence) * margin

    Returns
    -------
    int
        Rounded down, as updates are whole.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the learning rate is so large that nothing is promised.

    Examples
    --------
    >>> winnow_update_bound(1000, 0.25, 0.5, 0.125)
    884
    """
    d = _count("dimension", dimension)
    gap = (1 - _confidence(confidence)) * _margin(margin)
    eta = _number("learning_rate", learning_rate, "a finite number, at least 1e-150", lambda x: 1e-150 <= x < math.inf)
    if eta >= 2 * gap:
        raise ValueError(
            f"learning_rate must be below 2 * (1 - confidence) * margin = {2 * gap!r}, got {learning_rate!r}; "
            f"larger steps overshoot and nothing bounds their number"
        )
    return math.floor(math.log(d) / (eta * (gap - eta / 2)) * (1 + 1e-12))


def batched_update_bound(dimension: int, margin: float, confidence: float, learning_rate: float, batch: int) -> int:
    """The most updates if each takes in `batch` mistakes of one interval (theory, section 4).

    Parameters
    ----------
    dimension, margin, confidence
        As in `winnow_update_bound`.
    learning_rate : real, at least 1e-150
        Per mistake; learning_rate * batch is at most (1 - confidence) * margin.
    batch : int, >= 1

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Examples
    --------
    >>> batched_update_bound(1000, 0.25, 0.5, 0.000125, 1000)
    884
    """
    B = _count("batch", batch)
    gap = (1 - _confidence(confidence)) * _margin(margin)
    eta = _number("learning_rate", learning_rate, "a finite number, at least 1e-150", lambda x: 1e-150 <= x < math.inf)
    if eta * B > gap * (1 + 1e-12):
        raise ValueError(f"learning_rate * batch must be at most (1 - confidence) * margin = {gap!r}, got {eta * B!r}")
    return winnow_update_bound(dimension, margin, confidence, eta * B)


def winnow_paper(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    horizon: int,
    dimension: int,
    margin: float,
    confidence: float = 0.5,
    failure: float = 0.05,
) -> WinnowPlan:
    """[BF] Theorem 4.5 with explicit constants: parameters, and the mistakes they promise.

    Parameters
    ----------
    epsilon : real, at least 1e-9 and below 1.6 * ln(2 / delta)
    delta : real, at least 1e-300 and below 1
    horizon : int, >= 1
        Rounds T.
    dimension : int, >= 2
        Features, negated copies included.
    margin : real, from 1e-9 to 1
        rho: some probability vector u has y <u, x> >= rho on every example, x in [-1, 1]^d.
    confidence : real, from 1e-9 to 1 - 1e-9
        c: draws approximate the weights to c * rho.
    failure : real, from 1e-9 to 1 - 1e-9
        beta: the promise on mistakes fails with at most this probability.

    Returns
    -------
    WinnowPlan
        `batch` is 1. `vacuous` says that the promise is not below the horizon, `horizon_needed` from which horizon
        on it is.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The system is circular: K depends on eta, eta on m and K, m on K. Given m, and with
    A = epsilon^2 / (128 m ln(2/delta)), g = (1 - c) rho,

        eta = epsilon / (8 sqrt(2 m K ln(2/delta))) = sqrt(A / K)                       [BF, Theorem 4.4]
        K >= ln d / (g eta - eta^2/2), that is  K >= (ln d + A/2)^2 / (g^2 A)               [BF, Lemma 4.2]
        m = 2 ln(2 K T / beta) / (c rho)^2                                   (this module, "Draws")
        e = epsilon / (4 sqrt(2 K ln(2/delta)))                                  of each AboveThreshold

    and K is raised until all hold. **Privacy** under replace, by advanced composition with delta/2 for the
    draws and delta/2 for the K AboveThresholds: 4 eta sqrt(2 m K ln(2/delta)) + 16 m K eta^2 + e sqrt(2 K
    ln(2/delta)) + K e^2 = (3/4) epsilon + (5/32) epsilon^2 / ln(2/delta) < epsilon. **Mistakes**: with noise
    Lap(2/e) on the threshold and Lap(4/e) on a count, all of it stays within alpha = (8/e) ln(4 T/beta) together
    but with probability beta/2: T tests exceed alpha/2 with probability beta/(4T) each, K <= T thresholds with its
    square. With L = alpha + 1 an interval that ends holds a mistake, and none holds more than ceil(2 alpha + 1). By
    Lemma 4.2 at most K intervals hold any.

    Eta and its privacy are [BF]'s as theory.md quotes them; the constants in m, e, L and beta are ours, by the
    proofs above.

    Examples
    --------
    >>> winnow_paper(1.0, 1e-6, horizon=10**6, dimension=1000, margin=1 / 3).vacuous
    True
    """
    epsilon, T, d, rho, c, beta = _problem(epsilon, horizon, dimension, margin, confidence, failure)
    log = math.log(2) - math.log(_delta(delta))
    if epsilon >= 1.6 * log:
        raise ValueError(f"epsilon must be below 1.6 * ln(2 / delta) = {1.6 * log!r} here, got {epsilon!r}")
    gap = (1 - c) * rho

    def plan(T: int) -> tuple:
        K, wanted = 0, 1
        while wanted > K:
            K = wanted
            m = _draws(K, T, c * rho, beta)
            A = epsilon**2 / (128 * m * log)
            wanted = math.ceil((math.log(d) + A / 2) ** 2 / (gap**2 * A) * (1 + 1e-12))
        e = epsilon / (4 * math.sqrt(2 * K * log))
        alpha = 8 / e * math.log(4 * max(T, K) / beta)
        return K, m, 1, math.sqrt(A / K), e, alpha + 1, K * math.ceil(2 * alpha + 1)

    return _judged(plan, T)


def batched_plan(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    horizon: int,
    dimension: int,
    margin: float,
    confidence: float = 1 / 3,
    step: float = 0.5,
    failure: float = 0.05,
    threshold_share: float = 0.5,
    neighbors: str = "replace",
    score_range: float | Fraction | None = None,
) -> WinnowPlan:
    """Parameters of the batched update, and the mistakes that theory promises for them.

    Parameters
    ----------
    epsilon : real, at least 1e-9
    delta : real, at least 1e-300 and below 1
    horizon, dimension, margin, confidence, failure
        As in `winnow_paper`.
    step : real, from 1e-9 to 1
        learning_rate * batch as a part of (1 - confidence) * margin.
    threshold_share, neighbors, score_range
        As in `winnow_learning_rate`. With share 0 the schedule is fixed, and the promise supposes that an interval
        ends with its `batch`-th mistake.

    Returns
    -------
    WinnowPlan
        `threshold` is the count that AboveThreshold waits for. Its noise is discrete Laplace of scale
        2 / threshold_epsilon on the threshold and on every (monotone) count.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    With eta_B = eta B = step * g, g = (1 - c) rho, Lemma 4.2 gives K and "Draws" m; the accountant gives the
    largest eta, and B = eta_B / eta. Noise stays within alpha, the sum of ceil((2/e) ln(4 T/beta)) and
    ceil((2/e) ln(4 K/beta)), but with probability beta/2. At threshold B + alpha an interval ends with B
    mistakes at least and holds at most B + 2 alpha: the promise is K (B + 2 alpha).

    The defaults: eta is proportional to 1/sqrt(m K), so K B to K^(3/2) eta_B m^(1/2), with K to 1/(eta_B (g -
    eta_B/2)) and m to 1/(c rho)^2. In eta_B it is least at g/2; then c (1 - c)^2 decides, largest at c = 1/3.
    The promise is of the order ln(d)^(3/2) / (epsilon rho^3) up to logarithms of T.

    Examples
    --------
    >>> plan = batched_plan(1.0, 1e-6, horizon=10**7, dimension=40_000, margin=1 / 3)
    >>> plan.n_updates, plan.vacuous
    (572, False)
    """
    epsilon, T, d, rho, c, beta = _problem(epsilon, horizon, dimension, margin, confidence, failure)
    step = _number("step", step, f"from {_LEAST} to 1", lambda x: _LEAST <= x <= 1)
    eta_batch = step * (1 - c) * rho
    K = max(1, winnow_update_bound(d, rho, c, eta_batch))
    # The claim depends on the releases only through eta^2 m K.
    eta_one, e = winnow_learning_rate(
        epsilon,
        delta,
        n_updates=1,
        n_draws=1,
        threshold_share=threshold_share,
        neighbors=neighbors,
        score_range=score_range,
    )

    def plan(T: int) -> tuple:
        m = _draws(K, T, c * rho, beta)
        B = math.ceil(eta_batch * math.sqrt(m * K) / eta_one * (1 + 1e-12))
        alpha = sum(math.ceil(2 / e * math.log(4 * tests / beta)) for tests in (T, K)) if e > 0 else 0
        return K, m, B, eta_batch / B, e, B + alpha, K * (B + 2 * alpha)

    return _judged(plan, T)


def decision_list_margin(labels: Sequence[int], *, feature_range: tuple[int, int] = (-1, 1)) -> DecisionListHalfspace:
    """A halfspace that represents a decision list, with its margin ([BF] section 4.3).

    Parameters
    ----------
    labels : sequence of {-1, 1}
        Labels of the rules in order; the last rule is the constant true.
    feature_range : {(-1, 1), (0, 1)}
        How literals are written as features: false and true.

    Returns
    -------
    DecisionListHalfspace
        `weights` of the literals of all rules but the last, and the `intercept`, the weight of a constant
        feature 1. With both signs available (a negative weight is a positive one on the negated copy, -x),
        dividing by `norm`, the sum of absolute values, makes them Winnow's target u, and `margin` is the least
        y <u, x>: exact if the rules use different variables, a lower bound otherwise. `alternations` counts the
        changes of label.

    Raises
    ------
    ValueError
        If `labels` is empty or holds anything but -1 and 1, or the range is another one.

    Notes
    -----
    Let literals be 0 or 1, b_i the labels, b the last. From the last rule to the first let W_i be the sum of
    the weights of later rules of the other label, the constant among them with weight 1, plus 1 if b_i differs
    from b. **It represents the list**: in f = b + sum b_i W_i x_i let i be the first rule that holds. Earlier
    ones add nothing, later ones of label -b_i take away at most their sum; b counts in that sum, or else on the
    side of b_i. Either way b_i f >= 1. If none holds, f = b: the least |f| is 1. For literals u = 2 x - 1, 2 f
    has weights b_i W_i and intercept 2 b + sum b_i W_i, and the least |2 f| is 2.

    **The margin.** Equal labels in a row form a group and share a weight. Let N_g be 1 plus the weights from
    group g on; those of group g are at most N_{g+1} + 1, so N_g + 1 <= (n_g + 1)(N_{g+1} + 1) for n_g rules;
    the last group's weights are 0. With D alternations and r rules before the last group, N <= 2 prod (n_g + 1)
    - 1 <= 2 (1 + r/D)^D - 1, and both margins (1/N; and 2 over a norm of at most 2 N) are at least 1/N =
    Omega(1/r^D). Conversely W_g >= n_{g+1} W_{g+1}, so N >= 2 prod n_g.

    Examples
    --------
    >>> decision_list_margin([1, 1, -1, 1])
    DecisionListHalfspace(weights=(2, 2, -2), intercept=4, norm=10, margin=Fraction(1, 5), alternations=2)
    """
    labels = list(labels)
    if not labels or any(isinstance(b, bool) or b not in (-1, 1) for b in labels):
        raise ValueError(f"labels must be a sequence of -1 and 1, the last rule's included, got {labels!r}")
    low, high = _feature_range(feature_range)
    if (low, high) not in ((-1, 1), (0, 1)):
        raise ValueError(f"feature_range must be (-1, 1) or (0, 1) here, got {feature_range!r}")
    labels = [int(b) for b in labels]
    last = labels[-1]
    total = {last: 1, -last: 0}
    weights = []
    for b in reversed(labels[:-1]):
        weight = total[-b] + (b != last)
        total[b] += weight
        weights.append(b * weight)
    weights.reverse()
    signed = low == -1
    intercept = 2 * last + sum(weights) if signed else last
    norm = sum(map(abs, weights)) + abs(intercept)
    alternations = sum(a != b for a, b in pairwise(labels))
    return DecisionListHalfspace(tuple(weights), intercept, norm, Fraction(2 if signed else 1, norm), alternations)


def _run(learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs) -> tuple:
    """(eta, m K, e, R, AboveThreshold runs that count) of validated arguments."""
    _check_neighbors(neighbors)
    eta = _number("learning_rate", learning_rate, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    e = _number("threshold_epsilon", threshold_epsilon, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    releases = _count("n_updates", n_updates) * _count("n_draws", n_draws)
    if score_range is None:
        score_range = winnow_range(neighbors, batch=1)
    width = _number("score_range", score_range, "a finite number > 0", lambda x: 0 < x < math.inf)
    return eta, releases, e, width, _count("threshold_runs", threshold_runs)


def _draws_rho(eta: float, releases: int, width: float) -> float:
    """rho of all draws, rounded up."""
    exponent = eta * width
    return exponent * exponent * releases / 8 * (1 + _SLACK)


def _draws(K: int, T: int, distance: float, beta: float) -> int:
    """m of "Draws" in the module's documentation."""
    return math.ceil(2 * (math.log(2 * K / beta) + math.log(T)) / distance**2)


def _judged(plan, T: int) -> WinnowPlan:
    """A plan with its judgement; `plan` maps a horizon to all fields but the last two, mistakes last."""

    def promises(T: int) -> bool:
        return plan(T)[-1] < T

    high = 1
    while not promises(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if promises(middle) else (middle, high)
    return WinnowPlan._make([*plan(T), not promises(T), high])


def _problem(epsilon, horizon, dimension, margin, confidence, failure) -> tuple:
    wanted = f"a finite number, at least {_LEAST}"
    epsilon = _number("epsilon", epsilon, wanted, lambda x: _LEAST <= x < math.inf)
    d = _count("dimension", dimension)
    if d < 2:
        raise ValueError(f"dimension must be an integer >= 2, got {dimension!r}")
    wanted = f"from {_LEAST} to 1 - {_LEAST}"
    c, beta = (
        _number(name, value, wanted, lambda x: _LEAST <= x <= 1 - _LEAST)
        for name, value in (("confidence", confidence), ("failure", failure))
    )
    return epsilon, _count("horizon", horizon), d, _margin(margin), c, beta


def _margin(value) -> float:
    return _number("margin", value, f"from {_LEAST} to 1", lambda x: _LEAST <= x <= 1)


def _confidence(value) -> float:
    return _number("confidence", value, "at least 0 and below 1", lambda x: 0 <= x < 1)


def _count(name: str, value, or_else: str = "") -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
        return int(value)
    raise ValueError(f"{name} must be {or_else}an integer >= 1, got {value!r}")


def _feature_range(value) -> tuple[Fraction, Fraction]:
    ends = tuple(value) if isinstance(value, Sequence) else ()
    if len(ends) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in ends) and ends[0] < ends[1]:
        return Fraction(ends[0]), Fraction(ends[1])
    raise ValueError(f"feature_range must be two finite numbers, the lower first, got {value!r}")
