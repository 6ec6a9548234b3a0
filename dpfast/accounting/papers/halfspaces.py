"""Number of rows that the private halfspace learners need, with all constants.

Rows x have norm at most 1, labels are y = +-1, and a unit vector u has y <u, x> >= gamma always: the margin. A plan
names a number of rows n and parameters with which, but for probability beta, a learner's halfspace errs on a new
row with probability at most alpha. Plans are for `replace`, as n is public in them (`net_plan` is for both).

**Whose constants.** [BCS] is Bun, Carmosino, Sorrell, "Efficient, Noise-Tolerant, and Private Learning via
Boosting" (COLT 2020, arXiv 2002.01100); [NUZ] is Nguyen, Ullman, Zakynthinou, "Efficient Private Algorithms for
Learning Large-Margin Halfspaces" (ALT 2020, arXiv 1902.09009). They state such theorems ([BCS] 30; [NUZ] 2 and 4,
and 6 for the lower bound), but **no number here is taken from them**: every constant is derived from the algorithms,
for exact arithmetic.

**Claims and proofs** are in docs/proofs_learning.md, "Halfspaces", whose symbols the code uses. They rest on three
tools: a ramp loss with its Rademacher complexity, relative deviations, and random projection with signs.

The lower bounds are those of `dpfast.accounting.papers.lower_bounds`.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from dpfast.accounting.curves.searches import least_integer
from dpfast.accounting.curves.zcdp import gaussian_sigma
from dpfast.accounting.numbers import (
    Number,
    calculator,
    calculator_like,
    check_neighbors,
    count,
    epsilon_of,
    number,
    problem_of,
)
from dpfast.accounting.papers.lower_bounds import halfspace_lower_bound

HINGE_SHARE = 0.86  # the part of the margin at which the loss of Algorithm 1 [NUZ] ends
_NET_SHARE, _NET_RADIUS = 0.2, 0.1  # of the margin: what projection keeps, and the net's radius


class BoostPlan(NamedTuple):
    """Rows and parameters for the boosted halfspace.

    Attributes
    ----------
    n, n_rounds, lower_bound : int
        Rows, rounds T, and rows that every learner of the same claim needs.
    density, learning_rate, sigma : float
        kappa, lambda, and the standard deviation of the noise on each coordinate of a mean.
    """

    n: int
    n_rounds: int
    density: float
    learning_rate: float
    sigma: float
    lower_bound: int


class ProjectedPlan(NamedTuple):
    """Rows and parameters for the projected halfspace.

    Attributes
    ----------
    n, n_components, n_rounds : int
        Rows, columns m after the projection, and steps T.
    step, sigma : float
        The learning rate eta, and the standard deviation of the noise on each coordinate of a gradient.
    lower_bound : int
        Rows that every learner of the same claim needs.
    """

    n: int
    n_components: int
    n_rounds: int
    step: float
    sigma: float
    lower_bound: int


class NetPlan(NamedTuple):
    """Rows and parameters for the halfspace from a net.

    Attributes
    ----------
    n, n_components, side, lower_bound : int
        Rows, columns m after the projection, places of the net along an edge, and rows that every learner needs.
    log10_size, exponent : float
        The logarithm of the members of the net, and t: a member weighs exp(-t) to the number of rows it gets wrong.
    """

    n: int
    n_components: int
    side: int
    log10_size: float
    exponent: float | Fraction
    lower_bound: int


@calculator
def boost_plan(
    epsilon: Number,
    delta: Number,
    *,
    margin: float,
    alpha: float = 0.1,
    beta: float = 0.1,
    noise: float = 0.0,
    corrupted: float = 0.0,
) -> BoostPlan:
    """Return rows and parameters with which boosting learns a halfspace; derived, not [BCS] Theorem 30's own constants.

    Parameters
    ----------
    epsilon : real, at least 1e-9
    margin : real, from 1e-9 to 1
        gamma: some unit vector u has y <u, x> >= gamma for all rows, |x| <= 1, before labels are flipped.
    alpha, beta : real, from 1e-9 to 1 - 1e-9
        The acceptable error on the labels before flipping, and the probability of exceeding it.
    noise : real, at least 0 and below 1/2
        The probability with which each label is flipped.
    corrupted : real, at least 0 and below 1/2
        The share of the rows that somebody who knows all rows may have replaced by any others. `alpha` is the error on
        new rows of the distribution of the other rows.

    Returns
    -------
    BoostPlan
        n does not depend on the dimension.

    Raises
    ------
    ValueError
        If an argument is out of its range, or labels are too noisy, or rows too corrupted, for any number of rows.

    Notes
    -----
    The order is 1/(alpha epsilon gamma^2) + 1/(alpha gamma)^2 up to logarithms, for noise and corruption up to the
    order of alpha gamma. If each label is flipped with its own probability of at most `noise`, the error is at most
    alpha + (1 - alpha) noise / (1 - noise).

    The claim protects the rows that the fit is given. Somebody who replaces rows may copy one row into many of them;
    that row then has only the privacy of as many rows.

    Examples
    --------
    >>> plan = boost_plan(1.0, 1e-6, margin=0.2)
    >>> plan.n, plan.n_rounds, round(plan.density, 3)
    (437442, 2321, 0.055)
    """
    epsilon, delta, gamma, alpha, beta = problem_of(epsilon, delta, margin, alpha, beta)
    noise = number("noise", noise, "at least 0 and below 1/2", lambda x: 0 <= x < 0.5)
    corrupted = number("corrupted", corrupted, "at least 0 and below 1/2", lambda x: 0 <= x < 0.5)
    target = noise + (1 - 2 * noise) * alpha - corrupted
    unit, x = gaussian_sigma(epsilon, delta), math.log(5 / beta)
    least = (noise + corrupted) * (1 + gamma) / gamma  # a density at which these rows could undo the margin
    if least >= target * (1 - 1e-6):
        most = alpha * gamma / (1 + 2 * alpha * gamma)
        if noise >= most * (1 - 1e-6):
            raise ValueError(
                f"noise must be below alpha margin / (1 + 2 alpha margin) = {most:.3g}, got {noise!r}; "
                "nothing is proved for more"
            )
        raise ValueError(
            "corrupted must be below ((1 - 2 noise) alpha margin - noise) / (1 + 2 margin) = "
            f"{((1 - 2 * noise) * alpha * gamma - noise) / (1 + 2 * gamma):.3g}, got {corrupted!r}; "
            "nothing is proved for more"
        )

    def run(n: int, kappa: float, T: int) -> tuple | None:
        """Return (learning rate, sigma, bound on the error) of n rows, or None if the proof gives no bound."""
        flipped = noise + math.sqrt(2 * noise * x / n) + x / (3 * n) if noise else 0.0
        tau = gamma - (1 + gamma) * (flipped + corrupted) / kappa
        sigma = unit * 2 * math.sqrt(T) / (kappa * n)
        B = sigma * math.sqrt(2 * (math.log(10 / beta) + math.log(n) + math.log(T)))
        if tau <= 0 or B > 0.5:
            return None
        rate = math.sqrt(8 * -math.log(kappa) / T) / (tau + B)
        c = sigma * math.sqrt(x / (2 * T)) / tau
        a = 1 - c - 2 * B - rate / 4 * (1 + B / tau) ** 2
        C = (2 * -math.log(kappa) / rate + sigma**2 * x / (2 * c)) / T
        rho = a * tau - C / tau
        if rho <= 0:
            return None
        G = sigma * math.sqrt((1 + 2 * math.sqrt(x) + 2 * x) / T)
        return rate, sigma, kappa + 2 / rho * (1 + G / (2 * tau)) / math.sqrt(n) + math.sqrt(x / (2 * n))

    def enough(n: int, kappa: float, T: int) -> bool:
        return (answer := run(n, kappa, T)) is not None and answer[2] <= target

    tried = (
        (kappa, math.ceil(2 ** (j / 2) * -math.log(kappa) / (gamma * (1 - least / kappa)) ** 2))
        for kappa in (least + i / 20 * (target - least) for i in range(4, 20))
        for j in range(4, 24)
    )
    best: tuple[int, float, int] | None = None
    for kappa, T in tried:
        if best is None or (best[0] > 1 and enough(best[0] - 1, kappa, T)):
            best = least_integer(lambda n: enough(n, kappa, T)), kappa, T  # noqa: B023 - called at once
    assert best is not None
    n, kappa, T = best
    answer = run(n, kappa, T)
    assert answer is not None
    rate, sigma, _ = answer
    return BoostPlan(
        n, T, kappa, rate, sigma, halfspace_lower_bound(epsilon, delta, margin=gamma, alpha=alpha, beta=beta)
    )


@calculator_like(boost_plan)
def projected_plan(
    epsilon: Number,
    delta: Number,
    *,
    margin: float,
    alpha: float = 0.1,
    beta: float = 0.1,
    dimension: int | None = None,
) -> ProjectedPlan:
    """Return rows and parameters with which projected noisy descent learns; derived, not [NUZ] Theorem 2's.

    Parameters
    ----------
    dimension : int, optional
        The number d of columns. If it is less than the number of components that a projection needs, the plan is for
        rows without a projection, because one to so few components does not keep the margin.

    Returns
    -------
    ProjectedPlan
        It is for labels that are never flipped.

    Notes
    -----
    The order is 1/(alpha epsilon gamma^2) + 1/(alpha gamma)^2 up to logarithms.

    Examples
    --------
    >>> plan = projected_plan(1.0, 1e-6, margin=0.2)
    >>> plan.n, plan.n_components, plan.n_rounds
    (198579, 55184, 54084)
    """
    epsilon, delta, gamma, alpha, beta = problem_of(epsilon, delta, margin, alpha, beta)
    L, x = 1 / (HINGE_SHARE * gamma), math.log(4 / beta)
    m = _components(gamma, HINGE_SHARE, math.log(128 * (1 + L) / alpha / beta), dimension)
    T = math.ceil((4 * L / alpha) ** 2)
    unit = gaussian_sigma(epsilon, delta)

    def run(n: int) -> tuple:
        sigma = unit * 2 * L * math.sqrt(T) / n
        eta = 1 / math.sqrt(T * (L**2 + m * sigma**2))
        squares = T * L**2 + sigma**2 * (m * T + 2 * math.sqrt(m * T * x) + 2 * x)
        products = sigma * (2 + eta * L) * math.sqrt(2 * T * x)
        loss = alpha / 16 + (1 / (2 * eta) + eta / 2 * squares + products) / T
        ramp = loss + 2 * L / math.sqrt(n) + math.sqrt(x / (2 * n))
        if 2 * n < m:
            return eta, sigma, ramp
        deviation = (m * (1 + math.log(2 * n / m)) + math.log(4) + x) / n
        return eta, sigma, min(ramp, loss + 2 * math.sqrt(loss * deviation) + 4 * deviation)

    n = least_integer(lambda n: run(n)[2] <= alpha)
    eta, sigma, _ = run(n)
    lower = halfspace_lower_bound(epsilon, delta, margin=gamma, alpha=alpha, beta=beta, dimension=dimension)
    return ProjectedPlan(n, m, T, eta, sigma, lower)


@calculator_like(projected_plan)
def net_plan(
    epsilon: Number,
    *,
    margin: float,
    alpha: float = 0.1,
    beta: float = 0.1,
    dimension: int | None = None,
    neighbors: str = "replace",
) -> NetPlan:
    """Return rows and parameters with which a net learns under pure privacy; derived, not [NUZ] Theorem 4's constants.

    Parameters
    ----------
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    NetPlan
        It is for labels that are never flipped. Only nets of a few components can be searched; larger ones show the
        cost of the theorem.

    Notes
    -----
    The order is 1/(alpha epsilon gamma^2) up to logarithms.

    Examples
    --------
    >>> plan = net_plan(1.0, margin=0.2, dimension=4)
    >>> plan.n, plan.n_components, plan.side
    (614, 4, 87)
    """
    _, _, gamma, alpha, beta = problem_of(epsilon, 0.5, margin, alpha, beta)
    check_neighbors(neighbors)
    epsilon = epsilon_of(epsilon)  # rounded down
    t = epsilon if neighbors == "add-remove" else epsilon / 2
    R = -math.log1p(alpha * math.expm1(-t))
    m = max(2, _components(gamma, _NET_SHARE, math.log(16 / R / beta) + math.log(t), dimension))
    side = math.ceil(math.sqrt(m - 1) / (_NET_RADIUS * gamma) * (1 + 1e-12)) | 1
    log_size = math.log(2 * m) + (m - 1) * math.log(side)
    n = math.ceil((log_size + math.log(2 / beta)) / (0.75 * R) * (1 + 1e-12))
    lower = halfspace_lower_bound(
        epsilon, 0.0, margin=gamma, alpha=alpha, beta=beta, dimension=dimension, neighbors=neighbors
    )
    return NetPlan(n, m, side, log_size / math.log(10), t, lower)


def _components(gamma: float, share: float, log_failures: float, dimension: int | None) -> int:
    """Return m at which (3) of the proofs fails with probability exp(-log_failures) * 2, or d if that is less."""
    e = (1 - share) * gamma / (1 - share * gamma**2)
    m = math.ceil(2 * log_failures / (e * e * (1 / 2 - e / 3)) * (1 + 1e-12))
    return m if dimension is None else min(m, count("dimension", dimension))
