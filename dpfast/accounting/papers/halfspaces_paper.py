"""Bounds of the papers on private halfspaces: rounds and rows with their own constants, for comparison.

[BCS] is Bun, Carmosino, Sorrell (COLT 2020, arXiv 2002.01100); [NUZ] is Nguyen, Ullman, Zakynthinou (ALT 2020, arXiv
1902.09009). **Nothing here is claimed by dpfast**: the numbers are read off the algorithms and proofs, constant by
constant. What dpfast claims is in `dpfast.accounting.papers.halfspaces`.

**[BCS]**, margin tau, kappa = alpha/4. Algorithm 5: T = 1024 ln(1/kappa)/tau^2 rounds, lambda = tau/8, sigma = tau / (8
c sqrt(ln(3072 ln(1/kappa)/(beta tau^2)))), where c is such that P(|g| >= c sqrt(ln(1/xi))) <= xi for a standard normal
g: c = sqrt(2). Theorem 30 asks for

    n >= 3 sqrt(8 T ln(1/delta)) / (epsilon kappa sigma)     for privacy, by Lemma 15 and rho = 8 T/(kappa n sigma)^2,
    n >= 24 ln(3/beta) / (kappa tau)                         for flipped labels, at a rate of kappa tau/8,
    sqrt((2/n) (D ln(34 e n/D) log2(578 n) + ln(12/beta))) <= alpha/2    by Theorem 28, D = 4 (128/tau)^2 by Lemma 29.

Theorem 33, by privacy alone, asks for the first with epsilon' = min(epsilon, alpha/36) and delta' = min(delta, epsilon'
beta/4), for 96 ln(4/beta)/(alpha tau), at a rate of alpha tau/32, and by Theorem 19 for ln(4
epsilon'/delta')/epsilon'^2. docs/papers.md lists the steps of both papers' proofs that fail as printed.

**[NUZ]**, margin gamma. beta_JL = alpha beta^2/(64 n). m = O(ln(1/beta_JL)/gamma^2) is the least m of Lemma 2 by
Achlioptas, 2 ln(2/beta_JL)/(e^2/2 - e^3/3) at e = gamma/100. Both theorems ask, by Lemma 4, for
    4 ((2n)^(m+1) + 1) exp(-alpha n/32) <= beta/4.
Theorem 4 further asks for 2 (ln |W| + ln(4/beta))/(n epsilon) <= alpha/4, where |W| <= (1 + 20/gamma)^m. Theorem 2
prints a polylog; with the schedule of appendix A it is, for r = ceil(ln(8/beta)) repetitions at epsilon/r and delta/r,
L = 100/(86 gamma) and sigma^2 = 32 L^2 n^2 ln(n r/delta) ln(r/delta) r^2/epsilon^2,
    8 e sqrt(n^2 L^2 + m sigma^2) (1 + ln n)/n^2 + 2 (1 + L) (ln r + ln(8/beta))/(epsilon n) <= alpha/4
(last iterates of n^2 steps: Shamir and Zhang 2013, Theorem 2; Markov's inequality in each repetition; one more epsilon
for the choice, of range 1 + L). Theorem 6, for delta = 0 and alpha = beta = 1/10, is n >= ln(9 (K - 1))/epsilon with K
= 2^(d/20), d = 1/(1000 gamma^2).
"""

import math
from typing import NamedTuple

from dpfast.accounting.curves.searches import least_integer
from dpfast.accounting.numbers import Number, calculator_like, problem_of
from dpfast.accounting.papers.halfspaces import boost_plan, net_plan, projected_plan

_C = math.sqrt(2)  # c of [BCS] Theorem 27


class BoostPaper(NamedTuple):
    """[BCS] Algorithm 5 and the rows of its theorems, as printed.

    Attributes
    ----------
    n : int
        Theorem 30: the largest of the next three.
    privacy_rows, corrupted_rows, margin_rows : int
        Rows for privacy, for corrupted rows and for the margin on new rows.
    noise_rows : int
        Theorem 33: rows where labels are flipped at random.
    n_rounds : int
        Rounds T.
    density, learning_rate : float
        kappa and lambda.
    sigma : float
        The standard deviation of the noise on each coordinate of a mean.
    noise : float
        The rate of flipped labels that both theorems allow.
    """

    n: int
    privacy_rows: int
    corrupted_rows: int
    margin_rows: int
    noise_rows: int
    n_rounds: int
    density: float
    learning_rate: float
    sigma: float
    noise: float


class ProjectionPaper(NamedTuple):
    """The rows of [NUZ] Theorem 2 or 4, and Theorem 6, as printed.

    Attributes
    ----------
    n : int
        Rows.
    n_components : int
        Columns after the projection.
    n_rounds : int
        Steps of one repetition; 0 for a net.
    log10_size : float
        The logarithm of the number of members of the net; 0 for descent.
    lower_bound : int
        Theorem 6.
    """

    n: int
    n_components: int
    n_rounds: int
    log10_size: float
    lower_bound: int


@calculator_like(boost_plan)
def boost_paper(epsilon: Number, delta: Number, *, margin: float, alpha: float = 0.1, beta: float = 0.1) -> BoostPaper:
    """Return rounds, parameters and rows of [BCS] Theorems 27 to 30 and 33 with its constants; not claimed here.

    Returns
    -------
    BoostPaper

    Examples
    --------
    >>> paper = boost_paper(1.0, 1e-6, margin=0.2)
    >>> paper.n_rounds, paper.density, paper.learning_rate, paper.noise
    (94436, 0.025, 0.025, 0.0006250000000000001)
    """
    epsilon, delta, tau, alpha, beta = problem_of(epsilon, delta, margin, alpha, beta)
    kappa = alpha / 4
    log = math.log(1 / kappa)
    sigma = tau / (8 * _C * math.sqrt(math.log(3072 * log / (beta * tau**2))))
    T = math.ceil(1024 * log / tau**2)

    def private(epsilon: Number, delta: Number) -> int:
        return math.ceil(3 * math.sqrt(8 * T * math.log(1 / delta)) / (epsilon * kappa * sigma))

    D = 4 * (128 / tau) ** 2

    def generalises(n: int) -> bool:
        if n < D:
            return False
        return (2 / n) * (D * math.log(34 * math.e * n / D) * math.log2(578 * n) + math.log(12 / beta)) <= alpha**2 / 4

    rows = private(epsilon, delta), math.ceil(24 * math.log(3 / beta) / (kappa * tau)), least_integer(generalises)
    phi = min(epsilon, alpha / 36)
    small = min(delta, phi * beta / 4)
    noisy = max(
        private(phi, small),
        math.ceil(96 * math.log(4 / beta) / (alpha * tau)),
        math.ceil(math.log(4 * phi / small) / phi**2),
    )
    return BoostPaper(max(rows), *rows, noisy, T, kappa, tau / 8, sigma, alpha * tau / 32)


@calculator_like(projected_plan)
def projected_paper(
    epsilon: Number, delta: Number, *, margin: float, alpha: float = 0.1, beta: float = 0.1
) -> ProjectionPaper:
    """Return the rows of [NUZ] Theorem 2 with the paper's constants, and of Theorem 6; not claimed here.

    Returns
    -------
    ProjectionPaper

    Examples
    --------
    >>> paper = projected_paper(1.0, 1e-6, margin=0.2)
    >>> f"{paper.n:.2e}", f"{paper.n_components:.2e}", paper.lower_bound
    ('6.46e+11', '3.90e+07', 0)
    """
    epsilon, delta, gamma, alpha, beta = problem_of(epsilon, delta, margin, alpha, beta)
    L, r = 100 / (86 * gamma), math.ceil(math.log(8 / beta))

    def enough(n: int) -> bool:
        m = _components(n, gamma, alpha, beta)
        variance = 32 * (L * n * r / epsilon) ** 2 * math.log(n * r / delta) * math.log(r / delta)
        steps = 8 * math.e * math.sqrt(n**2 * L**2 + m * variance) * (1 + math.log(n)) / n**2
        choice = 2 * (1 + L) * (math.log(r) + math.log(8 / beta)) / (epsilon * n)
        return steps + choice <= alpha / 4 and _generalises(n, m, alpha, beta)

    n = least_integer(enough)
    return ProjectionPaper(n, _components(n, gamma, alpha, beta), n**2 - 1, 0.0, _packing(epsilon, gamma))


@calculator_like(net_plan)
def net_paper(epsilon: Number, *, margin: float, alpha: float = 0.1, beta: float = 0.1) -> ProjectionPaper:
    """Return the rows of [NUZ] Theorem 4 with the paper's constants, and of Theorem 6; not claimed here.

    Returns
    -------
    ProjectionPaper

    Examples
    --------
    >>> paper = net_paper(1.0, margin=0.2)
    >>> f"{paper.n:.2e}", f"{paper.n_components:.2e}"
    ('3.34e+11', '3.83e+07')
    """
    epsilon, _, gamma, alpha, beta = problem_of(epsilon, 0.5, margin, alpha, beta)

    def log_size(n: int) -> float:
        return _components(n, gamma, alpha, beta) * math.log(1 + 20 / gamma)

    def enough(n: int) -> bool:
        selects_well = 2 * (log_size(n) + math.log(4 / beta)) / (n * epsilon) <= alpha / 4
        return selects_well and _generalises(n, _components(n, gamma, alpha, beta), alpha, beta)

    n = least_integer(enough)
    m = _components(n, gamma, alpha, beta)
    return ProjectionPaper(n, m, 0, log_size(n) / math.log(10), _packing(epsilon, gamma))


def _components(n, gamma, alpha, beta):
    """Return m of Lemma 2 at beta_JL = alpha beta^2 / (64 n)."""
    e = gamma / 100
    return math.ceil(2 * math.log(128 * n / (alpha * beta**2)) / (e * e * (1 / 2 - e / 3)))


def _generalises(n, m, alpha, beta):
    """Return whether 4 ((2n)^(m+1) + 1) exp(-alpha n / 32) <= beta / 4, leaving out the 1."""
    return math.log(16 / beta) + (m + 1) * math.log(2 * n) <= alpha * n / 32


def _packing(epsilon, gamma):
    """Return the bound of Theorem 6, or 0 if there are not two codewords."""
    log_k = math.log(2) / (20 * 1000 * gamma**2)
    if log_k <= math.log(2):
        return 0
    return math.ceil((math.log(9) + log_k + math.log1p(-math.exp(-log_k))) / epsilon)
