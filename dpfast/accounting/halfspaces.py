"""Number of rows that the private halfspace learners need, with all constants.

Rows x have norm at most 1, labels are y = +-1, and a unit vector u has y <u, x> >= gamma always: the margin. A plan
names a number of rows n and parameters with which, but for probability beta, a learner's halfspace errs on a new
row with probability at most alpha. Plans are for `replace`, as n is public in them (`net_plan` is for both).

**Whose constants.** [BCS] is Bun, Carmosino, Sorrell, "Efficient, Noise-Tolerant, and Private Learning via
Boosting" (COLT 2020, arXiv 2002.01100); [NUZ] is Nguyen, Ullman, Zakynthinou, "Efficient Private Algorithms for
Learning Large-Margin Halfspaces" (ALT 2020, arXiv 1902.09009). They state such theorems ([BCS] 30; [NUZ] 2 and 4,
and 6 for the lower bound), but **no number here is taken from them**: every constant is derived below, from the
algorithms, for exact arithmetic.

**Tools.** *Ramp.* Let Phi be 1 up to 0, fall to 0 at rho and stay there. For functions f of i.i.d. rows, but for
probability b at once
    P(y f(x) <= 0) <= mean of Phi(y f) over the n rows  +  (2/rho) R  +  sqrt(ln(1/b) / 2n),               (1)
R the mean of sup_f (1/n) sum s_i y_i f(x_i) over random signs s (symmetrisation, contraction, McDiarmid). R <=
1/sqrt(n) for f = <p, x>, |p| <= 1, and also for f = <p, x> + g with any g that is fixed before the rows are drawn:
the sup of a shifted class has the same mean.
*Relative deviations.* For halfspaces through the origin of R^m, l = (m ln(2en/m) + ln(4/b))/n and e the share of
errors on n >= m/2 rows, but for probability b at once (Vapnik)   P(error) <= e + 2 sqrt(e l) + 4 l.            (2)
*Projection.* Let A have m rows of independent entries +-1/sqrt(m), and |v| = 1, g = <u, v> >= gamma. Then
    <Au, Av> >= s gamma |Au| |Av|   but for probability   q = 2 exp(-(m/2)(e^2/2 - e^3/3)),
    e = (1 - s) gamma / (1 - s gamma^2).                                                               (3)
Proof: write S and T for |A(u+v)|^2 and |A(u-v)|^2 over their means 2 + 2g and 2 - 2g, c = s gamma. As 2 |Au| |Av|
<= |Au|^2 + |Av|^2, it suffices that (1-c)(1+g) S >= (1+c)(1-g) T. With S >= 1 - e', T <= 1 + e' that is 2 artanh e'
<= 2 artanh g - 2 artanh c, so e' = (g - c)/(1 - g c), which rises with g. Each of the two fails with probability at
most q/2 (Achlioptas, "Database-friendly random projections", 2003).

**Net** ([NUZ] Algorithm 2; pure). x -> z = Ax/|Ax|; w from a net of the sphere of radius gamma/10, with probability
proportional to exp(-t W), W the number of rows with y <w, z> < gamma/10; t = epsilon/2 (replace: W differs by -1, 0
or 1) or epsilon (add-remove: by 0 or 1). The net is that of the learner: side k odd, k >= 10 sqrt(m-1)/gamma, 2 m
k^(m-1) members.
*Claim.* With R = -ln(1 - alpha (1 - e^-t)), s = 1/5 and q = beta R/(8t), n = ln(2 |net|/beta) / (3R/4) rows
suffice. Proof: a row is bad if (3) fails for it. Markov's inequality, over A and rows: more than n R/(4t) are bad
with probability at most beta/2. Else the net's member nearest to Au has W <= n R/(4t), and since for a w that errs
with probability above alpha the mean of e^(-tW) is at most e^(-Rn), one is chosen with probability at most |net|
e^(nR/4 - nR) <= beta/2. If d <= m let A be the identity: nothing fails.

**Projected** ([NUZ] Algorithm 1 with full-batch noisy descent). z as above, F(w) = mean of max(0, 1 - y <w, z> L),
L = 1/(0.86 gamma); from w = 0, T steps w <- w - eta (gradient + N(0, sigma^2 I)), back into the unit ball; the
average of the w. One row moves a gradient by 2L/n: sigma = sigma_1 2L sqrt(T)/n, sigma_1 the exact scale for
sensitivity 1.
*Claim.* With s = 0.86, q = alpha beta/(64 (1 + L)) and x = ln(4/beta), but for probability beta, F at the average
is at most
    alpha/16 + [ 1/(2 eta) + (eta/2)(T L^2 + sigma^2 (mT + 2 sqrt(mTx) + 2x)) + sigma (2 + eta L) sqrt(2Tx) ] / T.   (4)
F is at least the share of errors and, for rho = 1/L, the mean of Phi: the smaller one of (1) and (2) for this n
bounds the error. Proof: F(Au/|Au|) is at most 1 + L times the share of bad rows:
alpha/16 but for probability beta/4 (Markov). The rest is the usual telescope of |w - Au/|Au||^2, the noise's
squares by Laurent and Massart, and its product with vectors no longer than 2 + eta L, fixed before it is drawn, by
the Gaussian martingale's tail. T = (4L/alpha)^2 and eta = 1/sqrt(T (L^2 + m sigma^2)).

**Boost** ([BCS] HS-StL). Round t: m_t = sum mu_t(i) y_i x_i, z_t = m_t + N(0, sigma^2 I),
h_t(x) = <z_t, x> clipped to [-1, 1]; the halfspace is the average z of the z_t. sigma = sigma_1 2 sqrt(T)/(kappa
n). Let x = ln(5/beta): there are five failures, of beta/5 each.
*Labels* may be flipped at random, each with probability `noise`. The flipped share of the rows is at most phi =
noise + sqrt(2 noise x/n) + x/(3n) (Bernstein; 0 for noise 0). A kappa-dense measure gives them phi/kappa at most,
so that |m_t| >= <u, m_t> >= gamma' = gamma - (1 + gamma) phi/kappa.
*Rows* may be replaced: someone who looks at all rows and labels, flipped or not, makes a share c = `corrupted` of them
anything else, before the first round. Then phi + c stands for phi.
*On the rows.* Let B = sigma sqrt(2 ln(10nT/beta)), which bounds |<noise, x_i>| in all rounds, be at most 1/2, and
let r^2 be the mean of |m_t|^2. The measures are those of follow-the-regularised-leader with entropy on kappa-dense
measures, and the losses (1 + y h_t)/2 have a range of at most |m_t| + B. So for every kappa-dense measure D on the
rows
    sum_t E_mu y h_t - sum_t E_D y h_t <= 2 ln(1/kappa)/lambda + (lambda/4) sum_t (|m_t| + B)^2.
E_mu y <z_t, x> = |m_t|^2 + <noise, m_t>, whose sum is at least (1 - c) sum |m_t|^2 - sigma^2 x/(2c) for any c > 0
fixed beforehand (a supermartingale). Clipping moves a product by at most (|m_t| + B - 1)+ <= B |m_t|^2. As B <=
(B/gamma') |m_t|,
    E_D y <z, x> >= a r^2 - C,   a = 1 - c - 2B - (lambda/4)(1 + B/gamma')^2,
                                 C = (2 ln(1/kappa)/lambda + sigma^2 x/(2c)) / T.
Fewer than kappa n rows have y <z, x> below that: else take for D the uniform measure on them.
*On new rows.* z = p + g, p the mean of the m_t, |p| <= r, and g the mean of the noise, **which is drawn
independently of the rows**: given g, z lies in a shifted ball, so that (1) holds at any dimension, however long g
is. ([BCS] Lemma 29 bounds |g|, for d up to about T/sigma^2; that is not needed.) Divided by r, which lies in
[gamma', 1], z is in {<p, x> + v <g, x>: |p| <= 1, 1 <= v <= 1/gamma'}: R <= (1 + G/(2 gamma'))/sqrt(n) with G^2 = E
<g, x>^2 <= sigma^2/T (1 + 2 sqrt(x) + 2x) (Laurent and Massart). By (1) with rho = a gamma' - C/gamma' <= a r - C/r
the labels as they are observed are missed with probability at most
    kappa + (2/rho) (1 + G/(2 gamma'))/sqrt(n) + sqrt(x/(2n))   <=   noise + (1 - 2 noise) alpha,
and a halfspace that errs with probability alpha misses them with noise + (1 - 2 noise) alpha. Where rows are replaced
c stands beside kappa on the left: fewer than (kappa + c) n of the rows *as they were drawn* are below rho, and (1) is
about those, for every p, also for one that replaced rows have moved. lambda = sqrt(8 ln(1/kappa)/T)/(gamma' + B) and c
of a make rho largest; kappa and T are searched for the least n.
*Rates.* If labels are flipped on their own, with probabilities that depend on the row and are at most `noise`, phi is
as above, and a halfspace that errs with probability e misses (1 - noise) e or more. So it errs with probability at
most (noise + (1 - 2 noise) alpha)/(1 - noise) = alpha + (1 - alpha) noise/(1 - noise).
*Limits.* Some kappa is left for c < ((1 - 2 noise) alpha gamma - noise)/(1 + 2 gamma). With c >= kappa gamma/(1 +
gamma) there need be no weak learner: if all rows are gamma from the plane, alike on all sides, and the replaced ones
are y x = -u, then m = 0 for some kappa-dense measure, and no <w, x> has an advantage.

**Lower bound.** `dpfast.accounting.lower_bounds`.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from .lower_bounds import halfspace_lower_bound, problem_of
from .numbers import Number, calculator, check_neighbors, count, epsilon_of, least_integer, number
from .zcdp import gaussian_sigma

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
    delta : real, at least 1e-300 and below 1
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
        `sigma` is the noise on each entry of the weak learner of a round. n does not depend on the dimension.

    Raises
    ------
    ValueError
        If an argument is out of its range, or labels are too noisy, or rows too corrupted, for any number of rows.

    Notes
    -----
    Claim and proof are in the documentation of this module. The order is 1/(alpha epsilon gamma^2) + 1/(alpha gamma)^2
    up to logarithms, for noise and corruption up to the order of alpha gamma. If each label is flipped with its own
    probability of at most `noise`, the error is at most alpha + (1 - alpha) noise / (1 - noise).

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
        return (found := run(n, kappa, T)) is not None and found[2] <= target

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
    found = run(n, kappa, T)
    assert found is not None
    rate, sigma, _ = found
    return BoostPlan(
        n, T, kappa, rate, sigma, halfspace_lower_bound(epsilon, delta, margin=gamma, alpha=alpha, beta=beta)
    )


@calculator
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
    epsilon, delta, margin, alpha, beta
        As in `boost_plan`, for labels that are never flipped.
    dimension : int, optional
        The number d of columns. If it is less than the number of components that a projection needs, the plan is for
        rows without a projection, because one to so few components does not keep the margin.

    Returns
    -------
    ProjectedPlan
        `sigma` is the noise on each entry of a gradient, `step` the learning rate eta.

    Notes
    -----
    Claim and proof are in the documentation of this module. The order is 1/(alpha epsilon gamma^2) + 1/(alpha gamma)^2
    up to logarithms.

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


@calculator
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
    epsilon, margin, alpha, beta, dimension
        As in `projected_plan`.
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    NetPlan
        The net has 10**`log10_size` members and `side` places along an edge. The weight of a member is exp(-exponent)
        to the number of rows on which it errs. Only nets of a few components can be searched; larger ones show the cost
        of the theorem.

    Notes
    -----
    Claim and proof are in the documentation of this module. The order is 1/(alpha epsilon gamma^2) up to logarithms.

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
    """Return m at which (3) of the module fails with probability exp(-log_failures) * 2, or d if that is less."""
    e = (1 - share) * gamma / (1 - share * gamma**2)
    m = math.ceil(2 * log_failures / (e * e * (1 / 2 - e / 3)) * (1 + 1e-12))
    return m if dimension is None else min(m, count("dimension", dimension))
