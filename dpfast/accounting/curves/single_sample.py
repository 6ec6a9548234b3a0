"""Steps that see one row each, drawn at random: what sampling saves.

In each of T adaptive steps one of n rows is drawn uniformly, secretly and independently; a vector that depends on that
row and on earlier outcomes is released with Gaussian noise of scale sigma. For neighbours by `replace` (n is public);
two rows' vectors differ by at most s in Euclidean norm, mu = s / sigma, and delta_mu(E) is the curve of one
Gaussian mechanism (`dpfast.accounting.gaussian_delta`).

**Theorem.** Of each step the Renyi divergence of any order a > 1, in both directions, is at most ln(M) / (a - 1) with

    M = 1 + a (a - 1) q^2 * integral over E > 0 of [ (1 + q u)^(a-2) + (1 + q u)^(-a-1) ] delta_mu(E) e^E dE,

q = 1/n and u = e^E - 1. The T steps have T times that, and (1) of `dpfast.accounting.curves.zcdp` turns it into (E,
delta): docs/proofs_privacy.md has the proof.

For small mu the integral is about mu^2 / 2: n^2 steps together are about mu^2/2-zCDP, as one step without sampling is.

**Discrete noise** on an integer grid, m coordinates a step, is at a total variation of at most w = T m / (24 sigma^2)
from rounded continuous noise over the whole run, which adds (1 + e^E) w to delta: `dpfast.accounting.claims.costs`.

Floats are rounded towards safety: an epsilon or a sigma from here is never below the theorem's value.
"""

import math
from bisect import bisect
from functools import cache

import numpy as np
from scipy.special import erfcx

from dpfast.accounting.curves.searches import least
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    calculator,
    calculator_like,
    count,
    delta_of,
    epsilon_of,
    positive,
)

# E = mu (x + mu/2) for x up to 30: with (a - 1) mu at most 10 the integrand beyond is below e^(10 x - x^2/2), nothing.
_END, _MOST_ORDER, _CELLS = 30.0, 10.0, 3000
_ORDERS = sorted({math.ceil(1.1**k) for k in range(7, 90)})  # from 2 to 4800
_SLACK = 1e-9  # relative error of all floating point here, and more


@calculator
def single_sample_epsilon(mu: Number, delta: Number, *, rows: int, steps: int) -> float:
    """Return the epsilon of steps that use one secret random row each, `replace`, under continuous Gaussian noise.

    Parameters
    ----------
    mu : real, > 0
        The largest difference of the vectors of two rows, in Euclidean norm, over the standard deviation of the noise.
    rows : int, >= 1
        The public number n of rows.
    steps : int, >= 1
        The number T of steps.

    Returns
    -------
    float
        The steps together are (epsilon, delta)-DP. Rounded up; infinite for mu above 10.

    Examples
    --------
    >>> round(single_sample_epsilon(0.2, 1e-6, rows=1000, steps=10**6), 2)
    0.99
    """
    mu, delta, n, steps = positive("mu", mu), delta_of(delta), count("rows", rows), count("steps", steps)
    mu *= 1 + _SLACK
    if mu > _MOST_ORDER:
        return math.inf
    ends = np.linspace(0, mu * (_END + mu / 2), _CELLS + 1)
    u, curve = np.expm1(ends), _curve(ends[:-1], mu) * np.diff(np.expm1(ends))
    log_g = np.log1p(u / n)

    def epsilon_of_order(a: int) -> float:
        weight = np.exp((a - 2) * log_g[1:]) + np.exp(-(a + 1) * log_g[:-1])  # each at its larger end
        moment = a * (a - 1) / n**2 * math.fsum((curve * weight).tolist()) * (1 + _SLACK)
        divergence, b = steps * math.log1p(moment) / (a - 1), a - 1
        tail = (math.log(delta) + math.log1p(b)) / b + math.log1p(1 / b)
        return divergence - tail + _SLACK * (divergence + abs(tail))

    orders = [a for a in _ORDERS if (a - 1) * mu <= _MOST_ORDER]
    square = steps / n * (mu * mu / n)
    near = 1 + math.sqrt(2 * -math.log(delta) / square) if square > 0 else math.inf  # best order of mu^2/2-zCDP
    return max(0.0, _least_of(epsilon_of_order, orders, bisect(orders, near) - 1))


@calculator_like(single_sample_epsilon)
@cache_results
def single_sample_sigma(
    epsilon: Number, delta: Number, *, sensitivity: Number = 1, rows: int, steps: int, size: int = 1
) -> float:
    """Return the least scale of discrete Gaussian noise at which the steps are (epsilon, delta)-DP.

    Parameters
    ----------
    sensitivity : real, > 0
        The largest difference of the vectors of two rows, in Euclidean norm and steps of the grid.
    size : int, >= 1
        The number of coordinates of the vector of a step.

    Returns
    -------
    float
        The scale in steps of the grid, rounded up.

    Examples
    --------
    >>> round(single_sample_sigma(1.0, 1e-6, sensitivity=2**21, rows=1000, steps=10**6, size=100) / 2**21, 1)
    5.0
    """
    epsilon, delta, sensitivity = epsilon_of(epsilon), delta_of(delta), positive("sensitivity", sensitivity)
    n, steps, size = count("rows", rows), count("steps", steps), count("size", size)

    def epsilon_of_sigma(sigma: float) -> float:
        if sigma == 0 or sensitivity / sigma > _MOST_ORDER or epsilon > 700:
            return math.inf
        left = delta - (1 + math.exp(epsilon)) * steps * size / (24 * sigma) / sigma * (1 + _SLACK)
        if not left >= SMALLEST_DELTA:  # also not a number, if numbers of rows overflow
            return math.inf
        return single_sample_epsilon(sensitivity / sigma, left, rows=n, steps=steps)

    return _coarse(least(epsilon_of_sigma, epsilon))


def _least_of(value, arguments, near: int):
    """Return nearly the least value, of a function that falls and then rises; steps from the place `near` double."""
    cost = cache(lambda place: value(arguments[place]))
    low, high, step = 0, len(arguments) - 1, 1
    place = min(max(near, low), high - 1)
    while low < high:
        if cost(place) <= cost(place + 1):
            high, place = place, place - step
        else:
            low, place = place + 1, place + step
        place = place if low <= place < high else (low + high) // 2
        step *= 2
    return cost(low)


def _coarse(sigma):
    """Return sigma rounded up to 32 bits: numpy's functions of arrays depend on the processor in the last bit."""
    if math.isinf(sigma):
        return sigma
    share, power = math.frexp(sigma)
    return math.ldexp(math.ceil(share * 2**32), power - 32)


def _curve(epsilon, mu):
    """Return delta_mu at each E as an array: phi(x) (R(x) - R(x + mu)) of `zcdp`, rounded up."""
    x = epsilon / mu - mu / 2
    near, far = (math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2)) for z in (x, x + mu))
    density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return density * (near - far + 1e-15 * (near + far)) * (1 + _SLACK)
