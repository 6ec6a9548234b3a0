import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from laws import assert_follows

from dpfast.accounting.curves.opening import opening_moves, opening_threshold
from dpfast.mechanisms.opening import OpeningHistogram

SIGMA, REACH = 2.0, 24
NOISE = np.exp(-(np.arange(-REACH, REACH + 1) ** 2) / (2 * SIGMA**2))
NOISE /= NOISE.sum()


def fixed(count):
    """The law of a noisy count of a fixed code: over -REACH .. REACH + 8."""
    law = np.zeros(2 * REACH + 9)
    law[count : count + len(NOISE)] = NOISE
    return law


def word(count, threshold):
    """The law of what is published of a word: its noisy count from the threshold on, or nothing, which comes last."""
    published = fixed(count)[REACH + threshold :] * (count > 0)
    return np.append(published, 1 - published.sum())


def product(*laws):
    joint = np.ones(1)
    for law in laws:
        joint = np.outer(joint, law).ravel()
    return joint


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("k", [1, 2])
def test_words_cost_no_more_than_their_share_of_delta_and_the_gaussian_curve(neighbors, k):
    """Enumerated: rows of a lone word are replaced by rows of a common one, or taken away, with a fixed code beside."""
    threshold = opening_threshold(SIGMA, 0.05, rows_per_unit=k)
    joins = k if neighbors == "replace" else 0
    one = product(fixed(k), word(2, threshold), word(k, threshold))
    two = product(fixed(0), word(2 + joins, threshold), word(0, threshold))
    without = product(fixed(k), word(2, threshold)), product(fixed(0), word(2 + joins, threshold))
    lone = 1 - word(k, threshold)[-1]
    assert lone <= 0.05
    for first, second, (p, q) in ((one, two, without), (two, one, without[::-1])):
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            curve = hockey_stick(p, q, epsilon)
            assert hockey_stick(first, second, epsilon) <= lone + (1 - lone) * curve + 1e-12


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_survey_costs_what_its_words_and_its_labels_cost_together(neighbors, k):
    """Enumerated: the k rows of a unit have a label and a word of their own; a second look counts a bin of theirs."""
    threshold = opening_threshold(SIGMA, 0.03, rows_per_unit=k)
    joins = k if neighbors == "replace" else 0

    def law(rows, lone):
        """The law of the published label and word of the unit, of those that its rows join, and of a bin."""
        told = [word(rows, threshold)] * 2 if lone else [np.ones(1)]
        return product(*told, fixed(2 + joins - rows * (joins > 0)), fixed(rows))

    apart = 1 - word(k, threshold)[-1] ** 2
    assert apart <= 0.06
    laws = [(law(k, lone), law(0, lone)) for lone in (False, True)]
    for order in (1, -1):
        for epsilon in (0.0, 0.5, 1.0, 2.0):
            curve, whole = (hockey_stick(*pair[::order], epsilon) for pair in laws)
            assert whole <= apart + (1 - apart) * curve + 1e-12


@pytest.mark.parametrize("words", [1, 7])
@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-15])
def test_every_number_of_lone_rows_stays_below_the_threshold(words, k, delta):
    sigma, unit = 37.0, 16
    threshold = opening_threshold(sigma, delta, unit=unit, words=words, rows_per_unit=k)
    steps = np.arange(0, 1200)
    law = np.exp(-(steps**2) / (2 * sigma**2))
    tails = np.cumsum(law[::-1])[::-1] / (2 * law.sum() - 1)
    reached = [tails[threshold - j * unit] for j in range(1, k + 1)]
    assert all(tail <= j * delta / (k * words) for j, tail in enumerate(reached, 1))
    assert (
        max(tail * k * words / j for j, tail in enumerate(reached, 1)) > delta / 2
    )  # and it is no higher than need be


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_counts_move_by_as_much_as_was_planned(neighbors):
    """Rows of three columns: the square of what a row moves the counts by, in the worst case."""
    rows = np.array([[0, 1, 2], [1, 1, 0]])
    other = np.array([[2, 0, 1], [1, 1, 0]]) if neighbors == "replace" else rows[1:]
    moved = sum(
        ((np.bincount(rows[:, j], minlength=3) - np.bincount(other[:, j], minlength=3)) ** 2).sum() for j in range(3)
    )
    assert moved == opening_moves(3, neighbors)


def test_published_counts_follow_the_law(rng):
    histogram = OpeningHistogram(SIGMA, 1, threshold=3)
    noisy = histogram.codes(np.full(40_000, 2), rng).astype(int)
    assert_follows(np.bincount(noisy + REACH, minlength=2 * REACH + 9), fixed(2))
    told = [histogram.words(Counter(a=2, b=0), rng) for _ in range(4_000)]
    assert all(set(each) <= {"a"} for each in told)
    counts = np.bincount([int(each["a"]) - 3 for each in told if each], minlength=REACH + 6)
    assert_follows(np.append(counts, sum(not each for each in told)), word(2, 3))


def test_counts_that_do_not_fit_into_64_bits_are_cut_and_not_refused(rng):
    unit = 1 << 35  # of labels beside many columns
    look = OpeningHistogram(10.0 * unit, unit, threshold=100 * unit)
    for rows in (1 << 26, 1 << 28, 1 << 30, 1 << 40):
        kept = pytest.approx(min(rows, 1 << 27), abs=100)
        assert look.words(Counter({"a": rows}), rng) == {"a": kept}
        assert look.codes(np.array([rows, 0]), rng).tolist() == [kept, pytest.approx(0, abs=100)]


def _steered(law, paid, looks, epsilon):
    """The largest divergence of looks of one count that moves by 1, under any rule: by dynamic programming.

    The pool is paid out in quarters; a state is the logarithm of the ratio so far, on a grid, and what is left.
    """
    grid = np.linspace(-12, 12, 2401)

    @cache
    def after(looks, spent, left):
        """The divergence before a look for which quarters are spent, and after which others are left."""
        p, ratio = law(spent / 4)
        return sum(c * np.interp(grid + r, grid, largest(looks, left)) for c, r in zip(p, ratio, strict=True))

    @cache
    def largest(looks, left):
        if not looks:
            return np.maximum(0, -np.expm1(np.minimum(epsilon - grid, 0)))
        rules = [after(looks - 1, spent, left - spent if looks > 1 else 0) for spent in range(1, left + 1)]
        return np.max([largest(looks - 1, left), *rules], axis=0)

    return np.interp(0.0, grid, largest(looks, paid * 4))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_no_rule_that_steers_later_looks_by_earlier_ones_costs_more_than_what_was_paid(epsilon, neighbors):
    """A look of a column for which s are paid has noise sigma / sqrt(s); which s is chosen by what was seen."""
    sigma, pool = 6.0, 2
    moved = opening_moves(1, neighbors)  # two counts move under "replace": one that moves by sqrt(2) is their sum

    def law(paid):
        """The chances of a look under one table, and the logarithms of the ratios to the other."""
        scale = sigma / math.sqrt(paid)
        steps = np.arange(-math.ceil(9 * scale), math.ceil(9 * scale) + 1)
        chance = np.exp(-(steps**2) / (2 * scale**2))
        chance /= chance.sum()
        for _ in range(moved - 1):
            chance = np.convolve(chance, chance)
        shift = np.arange(len(chance)) - len(chance) // 2
        return chance, (moved - 2 * shift) / (2 * scale**2)

    mu = math.sqrt(opening_moves(pool, neighbors)) / sigma
    cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731
    curve = cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * cdf(-mu / 2 - epsilon / mu)
    grid = (1 + math.exp(epsilon)) * opening_moves(pool, neighbors) / (24 * sigma**2)
    found = _steered(law, pool, 2, epsilon)
    assert curve * 0.98 <= found <= curve + grid
