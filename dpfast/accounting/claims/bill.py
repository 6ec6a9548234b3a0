"""The noise of one fit that makes several releases of different kinds under one claim.

A fit plans all of its releases before it looks at a row: sums with discrete Gaussian noise, draws by an exponential
mechanism, a greedy cover of a decision list, and words that are published where their noisy count reaches a threshold.
Each release gets a share of the bill, and one number solves for all of the noise: `bill_noise`.

**Claim.** Let the sums be those of `dpfast.accounting.claims.costs`: `times` adaptive releases that move by at most s
in Euclidean norm, with noise sigma on each of m coordinates. Let ln(P/Q) of each of `times` draws lie in an interval of
length r. Sums are over all parts, and every release may be chosen with the earlier ones in view. With

    mu^2 = sum times s^2 / sigma^2 + sum times r^2 pi / 8,
    rho  = sum times s^2 / (2 sigma^2) + sum times r^2 / 8,
    w    = sum times m / (24 sigma^2),

the releases together are (E, G)-DP for the smaller one of

    G = delta_mu(E) + (1 + e^E) w      and      G = the delta of rho-zCDP at E,

where delta_mu is `dpfast.accounting.gaussian_delta`.

**A greedy cover** beside them has a law P of its log-ratios E_j, and a probability R of what the other table never
shows (`dpfast.accounting.curves.dominating`). Then

    G = R + sum_j P(E_j) delta_mu(E - E_j) + (1 + e^E) w.

The other releases get the noise that they would have if the cover were Gaussian with its share; its exponent is the
largest that then fits. Beside sums of a share of .06 a list of ten rules keeps .967 of the exponent that it has alone.

**Words.** A word that only one of two neighbouring tables has is published with a chance of at most d on that table.
If it is not, nothing of it is seen. Then all together are (E, d + (1 - d) G)-DP.

docs/proofs_privacy.md has the proofs. The noise is checked as it is returned, by rationals: floats only propose it.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from dpfast.accounting.claims.costs import Cost, curve_delta, gaussian_sums_cost
from dpfast.accounting.curves.dominating import CoverCurve, beside_gaussian
from dpfast.accounting.curves.searches import largest, least, round_down
from dpfast.accounting.numbers import (
    Number,
    cache_results,
    calculator,
    count,
    decimal_above,
    delta_of,
    epsilon_of,
    exact,
    exact_above,
    exact_positive,
    float_above,
    float_below,
)

_TAIL = 1e-40  # the delta to which the law of a cover is followed
_PI_UP = Fraction(math.nextafter(math.pi, 4))


class NoisySums(NamedTuple):
    """Sums with discrete Gaussian noise, planned.

    Attributes
    ----------
    sensitivity : int or Fraction, > 0
        The largest change of one release between neighbours, in Euclidean norm and steps of its grid.
    share : real, > 0
        The share of mu^2, relative to the other shares.
    size : int, >= 1
        The number of coordinates of one release in which neighbouring tables may differ.
    times : int, >= 1
        The number of adaptive releases.
    """

    sensitivity: int | Fraction
    share: float | Fraction
    size: int = 1
    times: int = 1


class Draws(NamedTuple):
    """Draws by an exponential mechanism, planned.

    Attributes
    ----------
    width : int or Fraction, > 0
        The length of an interval that contains the changes of all scores between neighbours.
    share : real, > 0
        The share of mu^2, relative to the other shares.
    times : int, >= 1
        The number of adaptive draws.
    """

    width: int | Fraction
    share: float | Fraction
    times: int = 1


class CoverDraws(NamedTuple):
    """The draws of a greedy cover, planned.

    Attributes
    ----------
    up, down : int or Fraction, >= 0
        The most by which the rows in which neighbouring tables differ raise, and lower, the score of a candidate:
        (g, 1) for one row added that adds at most g to a score and subtracts at most 1, and (1 + g, 1 + g) for one row
        replaced. They may change places.
    share : real, > 0
        The share of mu^2 that other releases leave, relative to their shares.
    rounds : int, >= 1
        The largest number of draws.
    """

    up: int | Fraction
    down: int | Fraction
    share: float | Fraction
    rounds: int = 1

    def curve(self, exponent: Fraction | float) -> CoverCurve:
        """Return the curve of draws with an exponent.

        Parameters
        ----------
        exponent : Fraction or float

        Returns
        -------
        CoverCurve
        """
        t = Fraction(exponent)
        return CoverCurve(float_above(self.up * t), float_above(self.down * t), self.rounds)


Part: TypeAlias = NoisySums | Draws | CoverDraws


class BillNoise(NamedTuple):
    """The noise of every part of a bill, and what all parts cost together.

    Attributes
    ----------
    noise : tuple of float
        One number for each part, in order: sigma in steps of the grid for sums, the exponent for draws and a cover.
    cost : tuple of Cost
        The cost of all parts together.
    """

    noise: tuple[float, ...]
    cost: tuple[Cost, ...]


@cache_results
def bill_noise(parts: Sequence[Part], epsilon: Number, delta: Number, *, words: Number = 0) -> BillNoise:
    """Return the least noise, divided by shares, at which several releases of a fit are together (epsilon, delta)-DP.

    Parameters
    ----------
    parts : sequence of NoisySums, Draws or CoverDraws
        All releases of the fit, with one cover at most.
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
    words : real, at least 0 and below delta
        The largest probability of publishing a value that only one of two neighbouring tables has.

    Returns
    -------
    BillNoise
        Its cost is for a `Budget`; the costs of several fits compose as Gaussian ones.

    Raises
    ------
    ValueError
        If an argument is out of its range, or no float is enough noise.

    Notes
    -----
    A fit may leave out a part later. It must not add a part, and no part may have a larger sensitivity or more
    coordinates than planned. A fit proceeds as follows:

    1. Before any row is read, list the parts with the sensitivity for the declared relation and unit (for k rows of a
       person, k times that for one row). Use a fine grid of 2**30 steps a count: w is then tiny, and fits compose in a
       `Budget`, which reserves a 2**10th part of delta for w.
    2. ``plan = bill_noise(parts, epsilon, delta, words=delta_of_words)``.
    3. Set the thresholds of words from `words` and the sigma of their part.
    4. Charge (epsilon, delta) once, with ``cost=plan.cost``.
    5. Release part i with ``discrete_gaussian(values, plan.noise[i], rng=rng)`` or with the exponent ``plan.noise[i]``.

    Examples
    --------
    >>> opening, rounds, pairs = NoisySums(2**20, 0.2, size=100), NoisySums(2**16, 0.75, 50, times=8), Draws(2, 0.05)
    >>> plan = bill_noise([opening, rounds, pairs], 1, 1e-6, words=1e-7)
    >>> [round(noise, 4) for noise in (plan.noise[0] / 2**20, plan.noise[1] / 2**16, plan.noise[2])]
    [9.495, 13.8683, 0.042]
    >>> [cost.kind for cost in plan.cost]
    ['gaussian', 'range', 'pair']
    >>> survey, rules = NoisySums(2**20, 0.06, size=100), CoverDraws(Fraction(3, 2), Fraction(3, 2), 0.94, rounds=10)
    >>> [round(bill_noise(some, 1, 1e-6).noise[-1], 4) for some in ([rules], [survey, rules])]
    [0.0903, 0.0873]
    """
    parts, word_risk = _check_parts(parts), _words(words, delta)
    epsilon = epsilon_of(epsilon)
    most = float_below((exact("delta", delta) - word_risk) / (1 - word_risk))

    def curve_at(scale: float) -> float:
        noise = _noise_at(parts, scale)
        return math.inf if noise is None else _curve(parts, noise, epsilon, cover=None)

    noise = _noise_at(parts, least(curve_at, most))
    if noise is not None:
        noise = tuple(
            _exponent(parts, noise, part, epsilon, most) if isinstance(part, CoverDraws) else each
            for part, each in zip(parts, noise, strict=True)
        )
    if noise is None or 0 in noise:
        raise ValueError(f"no float is enough noise for epsilon = {epsilon!r} and delta = {delta!r} with these parts")
    return BillNoise(noise, _cost(parts, noise, word_risk))


@calculator
def bill_delta(parts: Sequence[Part], noise: Sequence[Number], epsilon: Number, *, words: Number = 0) -> float:
    """Return the delta at a given epsilon of several releases with given noise.

    Parameters
    ----------
    parts, words
        As in `bill_noise`; shares are not used here.
    noise : sequence of real, > 0
        For each part its sigma, in steps of its grid, or the exponent of its draws.
    epsilon : real, >= 0

    Returns
    -------
    float in [0, 1]
        Rounded up.

    Examples
    --------
    >>> f"{bill_delta([NoisySums(2**20, 1), Draws(1, 1)], [5 * 2**20, 0.1], 1):.1e}"
    '6.1e-08'
    """
    parts, word_risk = _check_parts(parts), exact("words", words, below=1)
    if len(noise) != len(parts):
        raise ValueError(f"noise must have one number for each of {len(parts)} parts, got {len(noise)}")
    each = tuple(exact_positive("noise", number) for number in noise)
    curve = Fraction(_curve(parts, each, epsilon_of(epsilon, zero=True), cover=_cover(parts, each)))
    return min(1.0, float_above(word_risk + (1 - word_risk) * curve))


def _check_parts(parts: Sequence[Part]) -> tuple[Part, ...]:
    parts = tuple(parts)
    if not parts:
        raise ValueError("parts is empty: there is nothing to release")
    if sum(isinstance(part, CoverDraws) for part in parts) > 1:
        raise ValueError("parts must have one greedy cover at most")
    checked: list[Part] = []
    for part in parts:
        if isinstance(part, NoisySums):
            moved = exact_above("sensitivity", part.sensitivity)
            sizes = count("size", part.size), count("times", part.times)
            checked.append(NoisySums(moved, exact_positive("share", part.share), *sizes))
        elif isinstance(part, Draws):
            width, share = exact_above("width", part.width), exact_positive("share", part.share)
            checked.append(Draws(width, share, count("times", part.times)))
        elif isinstance(part, CoverDraws):
            low, high = sorted((exact("up", part.up), exact("down", part.down)))
            high = exact_above("the larger of up and down", high)
            checked.append(CoverDraws(low, high, exact_positive("share", part.share), count("rounds", part.rounds)))
        else:
            raise ValueError(f"parts must be NoisySums, Draws or CoverDraws, got {part!r}")
    return tuple(checked)


def _words(words, delta) -> Fraction:
    delta_of(delta)
    word_risk = exact("words", words, below=1)
    if word_risk >= exact("delta", delta):
        raise ValueError(f"words must be below delta, got words={words!r} and delta={delta!r}")
    return word_risk


def _noise_at(parts, scale: float) -> tuple[float, ...] | None:
    """Return noise in proportion to the shares, a cover's mu; None if it is outside the range of floats."""
    if not 0 < scale < math.inf:
        return None
    noise = []
    for part in parts:
        try:
            if isinstance(part, NoisySums):
                each = float(part.sensitivity) * math.sqrt(part.times / part.share) * scale
            elif isinstance(part, Draws):
                each = math.sqrt(8 / math.pi * part.share / part.times) / float(part.width) / scale
            else:
                each = math.sqrt(part.share) / scale
        except OverflowError:
            return None
        if not 0 < each < math.inf:
            return None
        noise.append(each)
    return tuple(noise)


def _sums(parts, noise, cover: CoverCurve | None) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return mu^2 and w of the sums and times r^2 of the draws, exactly, and times r^2 pi / 8, rounded up.

    Without a curve of the cover, its noise is its mu.
    """
    square, apart, ranges = Fraction(0), Fraction(0), Fraction(0)
    for part, each in zip(parts, map(Fraction, noise), strict=True):
        if isinstance(part, NoisySums):
            square += part.times * (part.sensitivity / each) ** 2
            apart += part.times * part.size / (24 * each**2)
        elif isinstance(part, Draws):
            ranges += part.times * (part.width * each) ** 2
        elif cover is None:
            square += each**2
    return square, apart, ranges, ranges * _PI_UP / 8


def _curve(parts, noise, epsilon: float, *, cover: CoverCurve | None) -> float:
    square, apart, ranges, curvature = _sums(parts, noise, cover)
    if cover is not None:
        return beside_gaussian(cover, square + curvature, apart, epsilon, _TAIL)
    return curve_delta(square + curvature, square / 2 + ranges / 8, apart, epsilon)


def _cover(parts, noise) -> CoverCurve | None:
    """Return the curve of the cover, if there is one."""
    each = (part.curve(exponent) for part, exponent in zip(parts, noise, strict=True) if isinstance(part, CoverDraws))
    return next(each, None)


def _exponent(parts, noise, cover: CoverDraws, epsilon: float, most: float) -> float:
    """Return the largest exponent of a cover beside the other releases; 0 if there is none."""

    def curve_at(exponent: float) -> float:
        return _curve(parts, noise, epsilon, cover=cover.curve(exponent))

    return round_down(largest(curve_at, most, epsilon / float(cover.down)))


def _cost(parts, noise, word_risk: Fraction) -> tuple[Cost, ...]:
    cover = _cover(parts, noise)
    square, apart, _, _ = _sums(parts, noise, CoverCurve(0.0, 0.0, 1))
    costs = [gaussian_sums_cost(square, apart)] if square else []
    for part, each in zip(parts, noise, strict=True):
        if isinstance(part, Draws):
            costs.append(Cost("range", float_above(part.width * Fraction(each)), times=part.times))
    if cover is not None:
        costs.append(Cost("cover", cover.down, up=cover.up, rounds=cover.rounds))
    if word_risk:
        costs.append(Cost("pair", 0.0, delta=decimal_above(word_risk)))
    return tuple(costs)
