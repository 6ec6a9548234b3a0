import copy
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from laws import assert_follows, exponential_law

from dpfast.mechanisms import quantiles, quantiles_cost

GRID = [1.0, 2.0, 3.0]
SHARES = {"median": [Fraction(1, 2)], "quarters": 4, "thirds": 3, "a tail": [Fraction(1, 8)]}


def law(values, grid, shares, t):
    """The probability of all edges, by the definition: a dictionary from tuples of edges."""
    shares = [Fraction(i, shares) for i in range(1, shares)] if isinstance(shares, int) else list(shares)
    ends = [Fraction(0), *shares, Fraction(1)]

    def below(values, grid, low, high, floor):
        """Laws of the edges number low + 1 to high - 1 between the ends `low` and `high`."""
        if high - low < 2:
            return {(): 1.0}
        if not grid:
            return {(floor,) * (high - low - 1): 1.0}
        middle = (low + high + 1) // 2
        q = (ends[middle] - ends[low]) / (ends[high] - ends[low])
        distance = [abs(sum(v <= x for v in values) - q * len(values)) for x in grid]
        total = {}
        for x, p in zip(grid, exponential_law([-float(each) for each in distance], t), strict=True):
            left = below([v for v in values if v <= x], [g for g in grid if g < x], low, middle, floor)
            right = below([v for v in values if v > x], [g for g in grid if g > x], middle, high, x)
            for (a, pa), (b, pb) in product(left.items(), right.items()):
                total[(*a, x, *b)] = total.get((*a, x, *b), 0) + p * pa * pb
        return total

    return below(list(values), list(grid), 0, len(ends) - 1, grid[0])


def tables(n):
    return combinations_with_replacement([0.5, 1.0, 2.5, 3.0, 9.0], n)


def neighbours(relation, n):
    for table in tables(n):
        rest = list(table[1:])
        if relation == "add-remove":
            yield table, rest
        else:
            for value in (0.5, 1.0, 2.5, 3.0, 9.0, None):  # None: a row without a number
                yield table, rest if value is None else [value, *rest]


@pytest.mark.parametrize("what", SHARES)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_neighbours_differ_by_the_cost_at_most(what, relation):
    t = 0.8
    pure, rho = quantiles_cost(SHARES[what], relation)
    for before, after in neighbours(relation, 4):
        p, q = law(before, GRID, SHARES[what], t), law(after, GRID, SHARES[what], t)
        p, q = (np.array([each.get(edges, 0.0) for edges in p | q]) for each in (p, q))
        assert np.abs(np.log(p / q)).max() <= t * pure + 1e-9
        for a, b in ((p, q), (q, p)):
            for order in (1.5, 2, 4, 16):
                divergence = np.log((a**order * b ** (1 - order)).sum()) / (order - 1)
                assert divergence <= order * t**2 * rho + 1e-9


@pytest.mark.parametrize(
    ("shares", "relation", "width", "before", "after"),
    [
        ([Fraction(1, 2)], "replace", 2, [1, 2, 2, 9], [9, 2, 2, 9]),
        ([Fraction(1, 2)], "add-remove", 1, [1, 3, 3], [1, 1, 3, 3]),
        ([Fraction(1, 8)], "add-remove", Fraction(7, 4), [3] * 16, [1, *[3] * 16]),
    ],
)
def test_the_range_of_one_edge_is_reached(shares, relation, width, before, after):
    p, q = law(before, GRID, shares, 0.8), law(after, GRID, shares, 0.8)
    assert np.ptp([np.log(p[edges] / q[edges]) for edges in p]) == pytest.approx(0.8 * float(width))
    assert quantiles_cost(shares, relation)[0] == width


def test_the_cost_is_that_of_the_levels():
    assert quantiles_cost(2) == (2, Fraction(1, 2))
    assert quantiles_cost(16) == (8, 2)
    assert quantiles_cost(16, "add-remove") == (4, Fraction(1, 2))
    # thirds: first 1/3 of all (width 4/3), then halves: two draws, of which a replaced row may touch both
    assert quantiles_cost(3, "add-remove") == (Fraction(4, 3) + 1, Fraction(16, 9) / 8 + Fraction(1, 8))
    assert quantiles_cost(5) == (2 + 2 * Fraction(4, 3) + 2, Fraction(1, 2) + Fraction(1, 2) + Fraction(1, 2))


@pytest.mark.parametrize("what", SHARES)
def test_edges_follow_their_law(what, rng):
    values, t = [0.5, 1.0, 1.5, 2.5, 2.5, 9.0], Fraction(1, 2)
    expected = law(values, GRID, SHARES[what], 0.5)
    outcomes = {edges: k for k, edges in enumerate(expected)}
    seen = np.zeros(len(outcomes))
    for _ in range(1200):
        seen[outcomes[tuple(quantiles(values, GRID, SHARES[what], t, rng=rng).tolist())]] += 1
    assert_follows(seen, [*expected.values()])


def test_edges_come_near_the_quantiles_of_a_long_tail(rng):
    """A tenth of epsilon 1 for 30,000 rows: each edge within 6 % of rank, in the median of runs."""
    grid = np.unique(np.concatenate([np.linspace(0, 1e6, 1025), 1e6 * 2.0 ** (-np.arange(960) / 32)]))
    pure, _ = quantiles_cost(16)
    away = []
    for _ in range(9):
        values = np.minimum(rng.lognormal(8, 2, 30_000), 1e6)
        edges = quantiles(values, grid, 16, Fraction(1, 10) / pure, rng=rng)
        ranks = np.searchsorted(np.sort(values), edges, side="right") / len(values)
        away.append(np.abs(ranks - np.arange(1, 16) / 16))
    assert np.median(away, axis=0).max() < 0.06


def test_without_candidates_an_edge_is_the_end_of_its_interval(rng):
    assert quantiles([5.0] * 100, [5.0], 4, 1, rng=rng).tolist() == [5, 5, 5]
    assert quantiles([], [1.0, 2.0], 2, 1, rng=rng).size == 1
    heavy = quantiles([0.0] * 900 + list(range(1, 101)), range(0, 101), 4, 1, rng=rng)
    assert heavy[:2].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.nan], GRID, 4, 1), "values must be numbers"),
        (([[1.0]], GRID, 4, 1), "values must be numbers"),
        (([1.0], [2.0, 1.0], 4, 1), "grid must be finite numbers"),
        (([1.0], [], 4, 1), "grid must be finite numbers"),
        (([1.0], [np.inf], 4, 1), "grid must be finite numbers"),
        (([1.0], GRID, 1, 1), "at least 2 bins"),
        (([1.0], GRID, [Fraction(1, 2)] * 2, 1), "rise in"),
        (([1.0], GRID, [0.1], 1), "denominators"),
        (([1.0], GRID, 4, 0), "exponent must be"),
    ],
)
def test_a_refusal_draws_nothing(arguments, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        quantiles(*arguments, rng=rng)
    assert rng.bit_generator.state == before
    with pytest.raises(ValueError, match="neighbors"):
        quantiles_cost(4, "none")


def test_shares_of_shares_with_large_denominators_do_not_overflow():
    primes = 65521, 65519, 65497, 65479, 65449, 65447, 65437
    shares = [Fraction(int(p * q), p) for p, q in zip(primes, (0.05, 0.1, 0.3, 0.97, 0.98, 0.985, 0.99), strict=True)]
    values = np.repeat(np.arange(64.0), 400_000 // 64)
    edges = quantiles(values, np.arange(64.0), shares, 0.1, rng=0)
    assert np.abs(edges - 64 * np.array([float(q) for q in shares])).max() < 2
    assert quantiles_cost(shares, "add-remove")[0] <= 6
