"""Cost of noisy sums in which every row has a budget of its own (Feldman and Zrnic, 2021).

T releases follow one another. Release t is f_t + Y_t, f_t = sum_i v_t(i), where the integer vector v_t(i) is a
function of row i and of the earlier releases alone, and the noise Y_t is that of `dpfast.accounting.gaussian`: discrete
of scale sigma, n = T m coordinates in all. Other rows have no part in v_t(i): no normalisation, no common mass.

**The filter.** v_t(i) = u_t(i) q(i), |q(i)| <= r, with integer weights u. Row i is in release t if the squares of its
weights, those of the releases that it was in and u_t(i)^2, add up to B at most; otherwise v_t(i) = 0. Whether it is in
is once more a function of the row and of the past. So sum_t |v_t(i)|^2 <= B r^2 for every row and **every** course that
the releases can take, however many they are. All of it is integers.

**Theorem.** The T releases together have the curve of `dpfast.accounting.discrete_gaussian_delta` for one release that
moves by D, and n coordinates, with

    D = sqrt(B) r  under add-remove,      D = 2 sqrt(B) r  under replace.

Proof. Fix neighbours; let d_t(y_1, .., y_(t-1)) be what f_t differs by, all releases before t being given. All rows
but one are the same function of the same past on both tables. Under add-remove d_t is v_t of the row that is there
once, so that sum |d_t|^2 <= B r^2. Under replace it is v_t(i) - v_t'(i), and by Minkowski's inequality the root of sum
|d_t|^2 is at most the sum of both rows' roots. So sum_t |d_t|^2 <= D^2 on every course.

*Continuous noise.* Add a last release of one coordinate that moves by the root of D^2 - sum |d_t|^2, which the past
tells; leaving it out again is post-processing. With xi_t the noise over sigma on the second table, the logarithm of the
likelihood ratio there is

    L = M - D^2 / (2 sigma^2),      M = sum_t <d_t, xi_t> / sigma.

As d_t is fixed before xi_t is drawn, exp(i z M_t + z^2 sum_(s<=t) |d_s|^2 / (2 sigma^2)) is a martingale of mean 1 for
every real z, and at the end its second term is the constant z^2 D^2 / (2 sigma^2). So M has the characteristic function
of N(0, D^2 / sigma^2): L has the very law that it has for one Gaussian mechanism that moves by D, and with it every
hockey-stick divergence, both ways round, as the two tables may change places.
*Discrete noise.* The coupling of `dpfast.accounting.gaussian` is step by step, for f_t chosen in any way: (1) there
holds with mu = D / sigma. *zCDP.* Given the past, release t has Renyi divergence of order a at most a |d_t|^2 / (2
sigma^2). With b = a - 1, exp(b L_t - a b sum_(s<=t) |d_s|^2 / (2 sigma^2)) is a supermartingale under the first table,
and so E exp(b L_T) <= exp(a b D^2 / (2 sigma^2)): all releases together are D^2 / (2 sigma^2)-zCDP. []

With B = T and weights 0 and 1 no row ever leaves, and this is plain composition. What may be gained is rounds, T beyond
B, where rows are seldom asked or by small weights. What is lost are rows that are always asked: they fall silent in the
midst. `bench/individual.py` measures both.

Sources: V. Feldman, T. Zrnic, Individual Privacy Accounting via a Renyi Filter, NeurIPS 2021; A. Koskela, M. Tobaben,
A. Honkela, Individual Privacy Accounting with Gaussian Differential Privacy, ICLR 2023; A. Smith, A. Thakurta, Fully
Adaptive Composition for Gaussian Differential Privacy, 2022.
"""

from fractions import Fraction
from typing import NamedTuple

from .checks import check_neighbors, count
from .costs import Cost, discrete_gaussian_cost
from .gaussian import discrete_gaussian_delta, discrete_gaussian_sigma


class IndividualNoise(NamedTuple):
    """The noise of a run, and what the run costs.

    Attributes
    ----------
    sigma : float
        The standard deviation of the noise, in steps of the grid.
    cost : tuple of Cost
    """

    sigma: float
    cost: tuple[Cost, ...]


def individual_delta(
    sigma: float | Fraction,
    epsilon: float | Fraction,
    *,
    squares: int,
    reach: int = 1,
    neighbors: str = "replace",
    releases: int,
    size: int = 1,
) -> float:
    """Return the delta at a given epsilon of noisy sums if a row's squared weights add up to at most `squares`.

    Parameters
    ----------
    sigma : real, > 0
        The noise on each coordinate has P(x) proportional to exp(-x**2 / (2 * sigma**2)).
    epsilon : real, >= 0
    squares : int, >= 1
        B: what a row may spend.
    reach : int, >= 1
        r: the norm of a row, at most.
    neighbors : {"replace", "add-remove"}
    releases : int, >= 1
        T, as many as there may be; they play a part only where sigma is small.
    size : int, >= 1
        Coordinates of a release.

    Returns
    -------
    float in [0, 1]
        Rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and sources are in the documentation of this module.

    Examples
    --------
    >>> f"{individual_delta(40 * 2**20, 1, squares=10, reach=2**20, releases=1000):.1e}"
    '5.1e-12'
    """
    return discrete_gaussian_delta(sigma, epsilon, **_as_one(squares, reach, neighbors, releases, size))


def individual_sigma(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    squares: int,
    reach: int = 1,
    neighbors: str = "replace",
    releases: int,
    size: int = 1,
) -> IndividualNoise:
    """Return the least noise at which such sums are (epsilon, delta)-DP by `individual_delta`.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
    squares, reach, neighbors, releases, size
        As in `individual_delta`.

    Returns
    -------
    IndividualNoise
        `sigma`, rounded up, and `cost`, for a `Budget`.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and sources are in the documentation of this module.

    Examples
    --------
    >>> noise = individual_sigma(1, 1e-6, squares=10, reach=2**20, releases=1000)
    >>> round(noise.sigma / 2**20, 2)
    26.72
    """
    alike = _as_one(squares, reach, neighbors, releases, size)
    sigma = discrete_gaussian_sigma(epsilon, delta, **alike)
    return IndividualNoise(sigma, discrete_gaussian_cost(sigma, **alike))


def _as_one(squares, reach, neighbors, releases, size):
    """Return releases of `dpfast.accounting.gaussian` of the same cost: B of norm r, and no fewer coordinates."""
    check_neighbors(neighbors)
    squares, coordinates = count("squares", squares), count("releases", releases) * count("size", size)
    changes = 2 if neighbors == "replace" else 1
    return {
        "sensitivity": changes * count("reach", reach),
        "releases": squares,
        "size": -(-coordinates // squares),
    }
