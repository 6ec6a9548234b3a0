"""Number of mistakes of Winnow, and its parameters ([BF] as in `dpfast.accounting.papers.winnow`).

**Lemma 4.2 (updates).** If y <u, x> >= rho for a probability vector u, and every example used has y <w, x> <= c rho for
the weights w when it came, there are at most ln d / ((1 - c) eta rho - eta^2/2) updates. *Batched:* B mistakes of one
interval have one w, and their average is an example with both properties: the lemma with eta_B = eta B. An interval
with b < B mistakes moves KL(u, w) by less, at least eta b ((1 - c) rho - eta_B/2). Under rising weights an interval of
b mistakes is one of equal weights and c_k b.

**Draws.** For x fixed before release k, the m draws' average of y x_j falls below its mean y <w, x> by c rho with
probability at most exp(-m (c rho)^2/2). With m = 2 ln(2 K T/beta) / (c rho)^2 all K T pairs of release and round are
good but with probability beta/2; then each mistake has y <w, x> <= c rho. The stream must not depend on the draws.
"""

import math
from typing import NamedTuple

from dpfast.accounting.curves.searches import least_integer
from dpfast.accounting.numbers import (
    LEAST,
    Number,
    calculator,
    calculator_like,
    chance,
    count,
    delta_of,
    margin_between,
    number,
    read_planned_epsilon,
)
from dpfast.accounting.papers.winnow import winnow_learning_rate


class WinnowPlan(NamedTuple):
    """Parameters of a DP-Winnow run and the mistakes that theory promises for them.

    Attributes
    ----------
    n_updates : int
        Updates that are paid for.
    n_draws : int
        Draws of one release.
    batch : int
        Mistakes that an update waits for.
    learning_rate : float
    threshold_epsilon : float
        Epsilon of the tests that find when a batch is full.
    threshold : float
        What the tests compare the number of mistakes with.
    mistakes : float
        The bound on mistakes.
    vacuous : bool
        Whether the bound is no less than the horizon.
    horizon_needed : int
        A horizon at which the bound says something.
    """

    n_updates: int
    n_draws: int
    batch: int
    learning_rate: float
    threshold_epsilon: float
    threshold: float
    mistakes: float
    vacuous: bool
    horizon_needed: int


@calculator
def winnow_update_bound(dimension: int, margin: float, confidence: float, learning_rate: float) -> int:
    """Return a bound on the updates of ConfidentWinnow ([BF] Lemma 4.2).

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
    d = count("dimension", dimension)
    gap = (1 - _confidence(confidence)) * margin_between(margin)
    eta = number("learning_rate", learning_rate, "a finite number, at least 1e-150", lambda x: 1e-150 <= x < math.inf)
    if eta >= 2 * gap:
        raise ValueError(
            f"learning_rate must be below 2 * (1 - confidence) * margin = {2 * gap!r}, got {learning_rate!r}; "
            f"larger steps overshoot and nothing bounds their number"
        )
    return math.floor(math.log(d) / (eta * (gap - eta / 2)) * (1 + 1e-12))


@calculator_like(winnow_update_bound)
def batched_update_bound(dimension: int, margin: float, confidence: float, learning_rate: float, batch: int) -> int:
    """Return a bound on the updates if each uses `batch` mistakes of one interval.

    Parameters
    ----------
    learning_rate : real, at least 1e-150
        Per mistake; learning_rate * batch is at most (1 - confidence) * margin.
    batch : int, >= 1

    Returns
    -------
    int

    Examples
    --------
    >>> batched_update_bound(1000, 0.25, 0.5, 0.000125, 1000)
    884
    """
    B = count("batch", batch)
    gap = (1 - _confidence(confidence)) * margin_between(margin)
    eta = number("learning_rate", learning_rate, "a finite number, at least 1e-150", lambda x: 1e-150 <= x < math.inf)
    if eta * B > gap * (1 + 1e-12):
        raise ValueError(f"learning_rate * batch must be at most (1 - confidence) * margin = {gap!r}, got {eta * B!r}")
    return winnow_update_bound(dimension, margin, confidence, eta * B)


@calculator
def winnow_paper(
    epsilon: Number,
    delta: Number,
    *,
    horizon: int,
    dimension: int,
    margin: float,
    confidence: float = 0.5,
    failure: float = 0.05,
) -> WinnowPlan:
    """Return the parameters of [BF] Theorem 4.5 with explicit constants, and the mistakes that it guarantees.

    Parameters
    ----------
    epsilon : real, at least 1e-9 and below 1.6 * ln(2 / delta)
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
        `batch` is 1.

    Notes
    -----
    The system is circular: K depends on eta, eta on m and K, m on K. Given m, and with
    A = epsilon^2 / (128 m ln(2/delta)), g = (1 - c) rho,

        eta = epsilon / (8 sqrt(2 m K ln(2/delta))) = sqrt(A / K)                       [BF, Theorem 4.4]
        K >= ln d / (g eta - eta^2/2), that is  K >= (ln d + A/2)^2 / (g^2 A)               [BF, Lemma 4.2]
        m = 2 ln(2 K T / beta) / (c rho)^2                                   (this module, "Draws")
        e = epsilon / (4 sqrt(2 K ln(2/delta)))                                  of each AboveThreshold

    and K is raised until all hold. Eta and its privacy are those of [BF]; the constants in m, e, L and beta are ours.
    docs/proofs_learning.md, "Winnow", proves the privacy and the bound on mistakes.

    Examples
    --------
    >>> winnow_paper(1.0, 1e-6, horizon=10**6, dimension=1000, margin=1 / 3).vacuous
    True
    """
    epsilon, T, d, rho, c, beta = _problem(epsilon, horizon, dimension, margin, confidence, failure)
    log = math.log(2) - math.log(delta_of(delta))
    if epsilon >= 1.6 * log:
        raise ValueError(f"epsilon must be below 1.6 * ln(2 / delta) = {1.6 * log!r} here, got {epsilon!r}")
    gap = (1 - c) * rho

    def plan(T: int) -> tuple:
        K, target = 0, 1
        while target > K:
            K = target
            m = _draws(K, T, c * rho, beta)
            A = epsilon**2 / (128 * m * log)
            target = math.ceil((math.log(d) + A / 2) ** 2 / (gap**2 * A) * (1 + 1e-12))
        e = epsilon / (4 * math.sqrt(2 * K * log))
        alpha = 8 / e * math.log(4 * max(T, K) / beta)
        return K, m, 1, math.sqrt(A / K), e, alpha + 1, K * math.ceil(2 * alpha + 1)

    return _judge(plan, T)


@calculator_like(winnow_learning_rate, winnow_paper)
def batched_plan(
    epsilon: Number,
    delta: Number,
    *,
    horizon: int,
    dimension: int,
    margin: float,
    confidence: float = 1 / 3,
    step: float = 0.5,
    failure: float = 0.05,
    threshold_share: float = 0.5,
    neighbors: str = "replace",
    score_range: Number | None = None,
) -> WinnowPlan:
    """Return the parameters of the batched update, and the mistakes that the theory guarantees for them.

    Parameters
    ----------
    epsilon : real, at least 1e-9
    step : real, from 1e-9 to 1
        learning_rate * batch as a part of (1 - confidence) * margin.

    Returns
    -------
    WinnowPlan
        `threshold` is the count that AboveThreshold waits for. Its noise is discrete Laplace of scale
        2 / threshold_epsilon on the threshold and on every (monotone) count. With threshold_share 0 the schedule is
        fixed, and the promise supposes that an interval ends with its `batch`-th mistake.

    Notes
    -----
    With eta_B = eta B = step * g, g = (1 - c) rho, Lemma 4.2 gives K and "Draws" m; the accountant gives the
    largest eta, and B = eta_B / eta. Noise stays within alpha, the sum of ceil((2/e) ln(4 T/beta)) and
    ceil((2/e) ln(4 K/beta)), but with probability beta/2. At threshold B + alpha an interval ends with B
    mistakes at least and holds at most B + 2 alpha: the promise is K (B + 2 alpha).

    Examples
    --------
    >>> plan = batched_plan(1.0, 1e-6, horizon=10**7, dimension=40_000, margin=1 / 3)
    >>> plan.n_updates, plan.vacuous
    (572, False)
    """
    epsilon, T, d, rho, c, beta = _problem(epsilon, horizon, dimension, margin, confidence, failure)
    step = number("step", step, f"from {LEAST} to 1", lambda x: LEAST <= x <= 1)
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

    return _judge(plan, T)


def _draws(K: int, T: int, distance: float, beta: float) -> int:
    """Return m of "Draws" in the module's documentation."""
    return math.ceil(2 * (math.log(2 * K / beta) + math.log(T)) / distance**2)


def _judge(plan, T: int) -> WinnowPlan:
    """Return a plan with its judgement; `plan` maps a horizon to all fields but the last two, mistakes last."""

    def promises(T: int) -> bool:
        return plan(T)[-1] < T

    return WinnowPlan._make([*plan(T), not promises(T), least_integer(promises)])


def _problem(epsilon, horizon, dimension, margin, confidence, failure) -> tuple:
    epsilon, d = read_planned_epsilon(epsilon), count("dimension", dimension)
    if d < 2:
        raise ValueError(f"dimension must be an integer >= 2, got {dimension!r}")
    c, beta = chance("confidence", confidence), chance("failure", failure)
    return epsilon, count("horizon", horizon), d, margin_between(margin), c, beta


def _confidence(value) -> float:
    return number("confidence", value, "at least 0 and below 1", lambda x: 0 <= x < 1)
