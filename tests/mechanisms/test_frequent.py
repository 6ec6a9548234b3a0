import copy
import math
from itertools import product

import numpy as np
import pytest
from laws import assert_follows

from dpfast.mechanisms import frequent_rho, frequent_threshold, frequent_values

MOST = 150  # noise beyond has no weight


def rate(epsilon, relation):
    return epsilon / 2 if relation == "replace" else epsilon


def cell(count, epsilon, threshold, relation):
    """The law of one cell: not published first, then its noisy counts from the threshold on."""
    e1 = rate(epsilon, relation)
    noise = np.exp(-e1 * np.abs(np.arange(-MOST, MOST + 1))) * np.tanh(e1 / 2)
    published = np.zeros(2 * MOST)
    if count:
        reached = np.arange(-MOST, MOST + 1) + count - threshold
        published[reached[reached >= 0]] = noise[reached >= 0]
    return np.append(1 - published.sum(), published)


def joint(counts, epsilon, threshold, relation):
    laws = [cell(count, epsilon, threshold, relation) for count in counts]
    return np.multiply.outer(*laws)


def neighbours(relation):
    for counts in product(range(4), repeat=2):
        if relation == "add-remove":
            yield counts, (counts[0] + 1, counts[1])
        elif counts[0]:
            yield counts, (counts[0] - 1, counts[1] + 1)


def worst(epsilon, threshold, relation):
    """The largest hockey-stick divergence between neighbours, both ways."""
    return max(
        np.maximum(a - math.exp(epsilon) * b, 0).sum()
        for before, after in neighbours(relation)
        for p, q in [[joint(each, epsilon, threshold, relation) for each in (before, after)]]
        for a, b in ((p, q), (q, p))
    )


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.01), (1.0, 0.003), (2.0, 0.2)])
def test_neighbours_differ_by_epsilon_and_delta_and_no_lower_threshold_would_do(relation, epsilon, delta):
    threshold = frequent_threshold(epsilon, delta, neighbors=relation)
    assert worst(epsilon, threshold, relation) <= delta * (1 + 1e-9)
    assert worst(epsilon, threshold - 1, relation) > delta


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_apart_from_delta_neighbours_differ_by_rho(relation):
    epsilon, threshold = 1.0, frequent_threshold(1.0, 0.01, neighbors=relation)
    rho = float(frequent_rho(epsilon, relation))
    assert rho == {"replace": 0.25, "add-remove": 0.5}[relation]
    for before, after in neighbours(relation):
        p, q = (joint(each, epsilon, threshold, relation) for each in (before, after))
        p, q = given_not_new(p, before, after), given_not_new(q, after, before)
        for order in (1.5, 2, 8):
            for a, b in ((p, q), (q, p)):
                likely = np.minimum(a, b) > 1e-30
                divergence = np.log((a[likely] ** order * b[likely] ** (1 - order)).sum()) / (order - 1)
                assert divergence <= order * rho + 1e-9


def given_not_new(law, counts, others):
    """The law given that no cell is published which the neighbour does not have."""
    for axis in range(2):
        if counts[axis] and not others[axis]:
            law = np.where(np.moveaxis(np.indices(law.shape), 0, -1)[..., axis] == 0, law, 0)
    return law / law.sum()


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_value_is_published_by_its_law(relation, rng):
    epsilon, threshold = 1.0, frequent_threshold(1.0, 0.05, neighbors=relation)
    law = cell(4, epsilon, threshold, relation)
    seen = np.zeros(2 * MOST + 1)
    for _ in range(4000):
        published = frequent_values({"a": 4}, epsilon, 0.05, neighbors=relation, rng=rng)
        seen[published["a"] - threshold + 1 if published else 0] += 1
    assert_follows(seen, law)


def test_values_come_sorted_whatever_their_order(rng):
    counts = {"c": 10**6, "a": 10**6, "b": 10**6, "rare": 1, "none": 0}
    assert [*frequent_values(counts, 0.1, 1e-9, rng=rng)] == ["a", "b", "c"]
    assert frequent_values({}, 0.1, 1e-9, rng=rng) == {}
    assert frequent_values({"none": 0}, 0.1, 1e-9, rng=rng) == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": 1}, 0, 0.1), "epsilon must be"),
        (({"a": 1}, math.inf, 0.1), "epsilon must be"),
        (({"a": 1}, 1, 0), "delta must lie in"),
        (({"a": 1}, 0.01, 0.1), r"delta must lie in \(0, 0.00499\], got 0.1"),
        (({"a": -1}, 1, 0.1), "counts must be at least 0"),
    ],
)
def test_a_refusal_draws_nothing(arguments, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        frequent_values(*arguments, rng=rng)
    with pytest.raises(ValueError, match="neighbors"):
        frequent_values({"a": 1}, 1, 0.1, neighbors="none", rng=rng)
    with pytest.raises(TypeError, match="counts must be a mapping"):
        frequent_values([1], 1, 0.1, rng=rng)
    assert rng.bit_generator.state == before


def test_what_is_published_reaches_the_threshold_and_what_does_not_is_not(rng):
    threshold = frequent_threshold(1.0, 0.05)
    counts = {f"{i}": threshold for i in range(2000)}
    seen = set(frequent_values(counts, 1.0, 0.05, rng=rng).values())
    assert min(seen) == threshold
