"""Privacy cost and guarantees of learning from experts.

Randomized weighted majority keeps the experts' total losses L and, in each of T rounds, draws an expert with
probability proportional to exp(-eta L_j), then adds the round's losses to L. [DR11] is Dwork, Roth, "The Algorithmic
Foundations of Differential Privacy", 2014, section 11.2.

**Theorem (privacy).** Neighbouring sequences differ in the loss vector of one round. Let its change have range R,
largest entry less smallest: R = 2 for losses in [0, 1] and R = 4 for losses in [-1, 1] under "replace", half as much
under "add-remove", where the round's losses become a blank: all zero. The T draws together are (eta R)^2 T / 8-zCDP.

Mirror images of experts, which lose -l_j, keep R for losses in [-1, 1]: all changes then lie in [-2, 2], or in [-1, 1].
So does rounding to a grid that holds the ends of the range. docs/proofs_privacy.md has the proof, and
docs/proofs_learning.md those of the bounds below.

**[DR11] Theorem 11.2** sets eta = epsilon / sqrt(32 T ln(1/delta)). For R = 2 that makes epsilon^2 / (64
ln(1/delta)), about a twentieth of the zCDP that (epsilon, delta) allows. `experts_learning_rate` gives the largest
eta.

**[DR11] Theorem 11.1.** For any losses in [0, 1], those of a round settled before its action is drawn (they may answer
earlier actions), E[loss] <= min_j L_j + eta T + ln(d) / eta, the minimum in expectation too. It is true for losses in
[-1, 1], too. **Theorem 11.3** is that at Theorem 11.2's eta. Its second line is above its first where eps^2 <= 32
ln(1/delta) ln d; `experts_paper` gives the first, which needs no condition.

**[DR11] Theorem 11.4.** But for probability b, the actions lose at most sqrt(T ln(1/b) / 2) more than Theorem 11.1
says, and twice that for losses in [-1, 1]. The paper prints sqrt(T ln(d/b)), which is more than enough for its losses,
in [0, 1].

**[DR11] Theorem 11.6.** Let x_1, ..., x_T in [-1, 1]^d be i.i.d. with mean m, experts lose the coordinates, and theta
be the average of the unit vectors drawn. But for probability b,
    <theta, m> <= min_i m_i + eta / 2 + ln(d) / (eta T) + sqrt(10 ln(1/b) / T).
The paper adds three tails and prints an O().

Floats in a privacy claim are rounded towards safety.
"""

import math
from typing import NamedTuple

from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.zcdp import SLACK, SMALLEST, composed_epsilon, draws_rho
from dpfast.accounting.numbers import (
    Number,
    cache_results,
    calculator,
    calculator_like,
    check_neighbors,
    count,
    delta_of,
    epsilon_of,
    float_below,
    number,
    positive_above,
)


@calculator
def experts_range(neighbors: str = "replace", *, signed: bool = False) -> int:
    """Return a bound on how much one round changes the difference of the total losses of two experts.

    Parameters
    ----------
    neighbors : {"replace", "add-remove"}
        Whether the losses of the round are replaced, or become all zero.
    signed : bool
        Whether losses lie in [-1, 1], or in [0, 1].

    Returns
    -------
    int
        The bound R; a draw with learning rate eta is (eta * R)-DP and (eta * R)**2 / 8-zCDP.

    Examples
    --------
    >>> experts_range(), experts_range("add-remove"), experts_range(signed=True)
    (2, 1, 4)
    """
    check_neighbors(neighbors)
    return (2 if neighbors == "replace" else 1) * (2 if signed else 1)


@calculator
def experts_epsilon(learning_rate: Number, delta: Number, *, horizon: int, loss_range: Number = 2) -> float:
    """Return the epsilon of all draws of randomized weighted majority at a given delta.

    Parameters
    ----------
    learning_rate : real, >= 0
        The learning rate eta: weights are exp(-eta * loss).
    horizon : int, >= 1
        The number T of draws.
    loss_range : real, > 0
        R, from `experts_range`.

    Returns
    -------
    float
        The draws are (epsilon, delta)-DP for the relation of R. Rounded up.

    Examples
    --------
    >>> round(experts_epsilon(0.007, 1e-6, horizon=1000), 3)
    1.003
    """
    eta = number("learning_rate", learning_rate, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    rho = draws_rho(eta, count("horizon", horizon), positive_above("loss_range", loss_range))
    return composed_epsilon(rho, delta_of(delta)) if rho < math.inf else math.inf


@calculator_like(experts_epsilon)
@cache_results
def experts_learning_rate(
    epsilon: Number, delta: Number, *, horizon: int, loss_range: Number = 2, calibration: str = "tight"
) -> float:
    """Return the learning rate at which all draws of randomized weighted majority are (epsilon, delta)-DP.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        The largest learning rate that the claim allows, or that of [DR11] Theorem 11.2.

    Returns
    -------
    float
        eta. Rounded down, so that ``experts_epsilon`` of it is at most `epsilon` in floats too.

    Raises
    ------
    ValueError
        If an argument is out of its range, or so large that the paper's eta does not fit.

    Examples
    --------
    >>> round(experts_learning_rate(1, 1e-6, horizon=1000), 5)
    0.00698
    >>> round(experts_learning_rate(1, 1e-6, horizon=1000, calibration="paper"), 5)
    0.0015
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    T, width = count("horizon", horizon), positive_above("loss_range", loss_range)
    if calibration not in ("tight", "paper"):
        raise ValueError(f'calibration must be "tight" or "paper", got {calibration!r}')
    if calibration == "paper":
        eta = epsilon / math.sqrt(32 * T * math.log(1 / delta))
        spent = experts_epsilon(eta, delta, horizon=T, loss_range=width)
        if spent > epsilon:
            raise ValueError(
                f"the paper's learning rate {eta:.3g} spends epsilon = {spent:.3g} at epsilon={epsilon!r}, "
                f"delta={delta!r}: its theorem is for smaller ones"
            )
        return eta
    eta = largest(lambda eta: composed_epsilon(draws_rho(eta, T, width), delta), epsilon)
    if eta == 0:
        raise ValueError(f"no learning rate > 0 fits epsilon={epsilon!r}, delta={delta!r}; use a larger epsilon")
    return eta


class ExpertsPaper(NamedTuple):
    """Guarantees of [DR11] for all rounds together.

    Attributes
    ----------
    learning_rate : float
        Theorem 11.2.
    expected_regret : float
        Theorem 11.3.
    likely_regret : float
        Theorem 11.4, as printed.
    """

    learning_rate: float
    expected_regret: float
    likely_regret: float


@calculator
def experts_regret(
    learning_rate: float, n_experts: int, rounds: int, *, failure: float | None = None, signed: bool = False
) -> float:
    """Return a bound on the regret of randomized weighted majority: [DR11] Theorems 11.1 and 11.4.

    It holds for losses that do not depend on the action of their own round; they may depend on earlier actions.

    Parameters
    ----------
    learning_rate : real, > 0
        eta.
    n_experts : int, >= 1
        d.
    rounds : int, >= 1
        T.
    failure : real in (0, 1), optional
        The probability b with which the bound may fail. Without it, the bound is on the expectation.
    signed : bool
        Whether losses lie in [-1, 1], or in [0, 1].

    Returns
    -------
    float
        eta * T + ln(d) / eta for all rounds together. With `failure`, sqrt(T ln(1/b) / 2) is added, twice if signed.

    Examples
    --------
    >>> round(experts_regret(0.05, 10, 1000), 1)
    96.1
    """
    eta, T = _positive_rate(learning_rate), count("rounds", rounds)
    expected = eta * T + math.log(count("n_experts", n_experts)) / eta
    if failure is not None:
        expected += (2 if signed else 1) * math.sqrt(T * -math.log(_failure(failure)) / 2)
    return expected * (1 + SLACK)


@calculator_like(experts_learning_rate)
def experts_paper(
    epsilon: Number, delta: Number, *, n_experts: int, horizon: int, failure: float = 0.05
) -> ExpertsPaper:
    """Return the learning rate and the regrets of [DR11] Theorems 11.2, 11.3 and 11.4.

    Parameters
    ----------
    n_experts : int, >= 1
        k.
    failure : real in (0, 1)
        b of Theorem 11.4.

    Returns
    -------
    ExpertsPaper
        Regrets are of all T rounds together: T times what the paper prints. That of Theorem 11.3 is its first line,
        eta T + ln(k) / eta; that of Theorem 11.4 T (sqrt(128 ln(1/delta)) ln(k) / (eps sqrt(T)) + sqrt(ln(k/b) / T)).

    Raises
    ------
    ValueError
        As `experts_learning_rate`.

    Notes
    -----
    Theorem 11.4 is for losses in [0, 1], where sqrt(T ln(1/b) / 2) is enough in place of its sqrt(T ln(k/b)). It
    contains the second line of Theorem 11.3 and so needs eps^2 <= 32 ln(1/delta) ln k. For losses in [-1, 1] use
    `experts_regret` with `signed`.

    Examples
    --------
    >>> paper = experts_paper(1.0, 1e-6, n_experts=10, horizon=10**6)
    >>> round(paper.expected_regret), round(paper.likely_regret)
    (48462, 99131)
    """
    eta = experts_learning_rate(epsilon, delta, horizon=horizon, calibration="paper")
    k, b = count("n_experts", n_experts), _failure(failure)
    printed = math.sqrt(128 * -math.log(delta_of(delta)) * horizon) * math.log(k) / epsilon_of(epsilon)
    printed += math.sqrt(horizon * (math.log(k) - math.log(b)))
    return ExpertsPaper(eta, experts_regret(eta, k, horizon), printed * (1 + SLACK))


@calculator
def linear_excess(learning_rate: float, dimension: int, rounds: int, *, failure: float = 0.05) -> float:
    """Return a bound on the excess of the average of the drawn vectors on new rows: [DR11] Theorem 11.6.

    Parameters
    ----------
    learning_rate : real, > 0
        eta.
    dimension : int, >= 1
        d: experts, one for each coordinate, and one for each negated copy if there are such.
    rounds : int, >= 1
        T rows in [-1, 1]^d, i.i.d.
    failure : real in (0, 1)
        The probability b with which the bound may fail.

    Returns
    -------
    float
        eta / 2 + ln(d) / (eta T) + sqrt(10 ln(1/b) / T): the most by which the mean of <theta, x> exceeds that of the
        best coordinate.

    Examples
    --------
    >>> round(linear_excess(0.002, 20, 100_000), 4)
    0.0333
    """
    eta, T = _positive_rate(learning_rate), count("rounds", rounds)
    tail = math.sqrt(10 * -math.log(_failure(failure)) / T)
    return (eta / 2 + math.log(count("dimension", dimension)) / (eta * T) + tail) * (1 + SLACK)


def _positive_rate(value) -> float:
    return number("learning_rate", value, f"from {SMALLEST} to 1e300", lambda x: SMALLEST <= x <= 1e300)


def _failure(value) -> float:
    number("failure", value, "above 0 and below 1", lambda x: 0 < x < 1)
    return float_below(value)
