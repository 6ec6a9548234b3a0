import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows
from reference.greedy_cover import enumerate_lists

from dpfast.accounting import cover_delta, cover_exponent
from dpfast.mechanisms import exponential_cover


def law_of(covers, worth, exponent, rounds):
    """The law of the sequence, written out round by round."""
    covers, worth = np.asarray(covers, bool), np.asarray(worth)
    law = {}

    def extend(drawn, probability, left):
        if len(drawn) == rounds:
            law[drawn] = probability
            return
        may = [h for h in range(covers.shape[1]) if h not in drawn]
        weights = [math.exp(exponent * sum(worth[i, h] for i in left if covers[i, h])) for h in may]
        for h, weight in zip(may, weights, strict=True):
            extend((*drawn, h), probability * weight / sum(weights), [i for i in left if not covers[i, h]])

    extend((), 1.0, list(range(len(covers))))
    return law


def test_whole_sequences_follow_the_enumerated_law(rng):
    covers = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 0, 0]], bool)
    worth = np.array([[2, -1, 0], [0, 2, 2], [0, -1, 0], [1, 0, 0]])
    law = law_of(covers, worth, 0.6, 3)
    drawn = [exponential_cover(covers, 0.6, rounds=3, worth=worth, bounds=(-1, 2), rng=rng) for _ in range(1_000)]
    seen = Counter(map(tuple, drawn))
    assert set(seen) <= set(law)
    assert_follows([seen[sequence] for sequence in law], list(law.values()))


def test_a_decision_list_is_one_of_its_users(rng):
    X, y, classes = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], bool), np.array([0, 1, 1, 0]), 2
    pairs = [(1, 4), (2, 4), (2, 3)]  # c and e of each draw, in quarters
    law = enumerate_lists(
        X, y, classes, 0.8, coverage_weight=[(c / 4, e / 4) for c, e in pairs], prior=1, max_rules=3, negations=True
    )
    literals = [*itertools.product((0, 1), (0, 1)), None]  # (feature, negated), and the constant true
    rules = list(itertools.product(literals, range(classes)))
    covers = np.array([[literal is None or x[literal[0]] != literal[1] for literal, _ in rules] for x in X])
    right = y[:, np.newaxis] == [label for _, label in rules]

    def worth(drawn):
        c, e = pairs[len(drawn)]
        return np.where(right, c, -e)

    def available(drawn):
        before = [rules[h][0] for h in drawn]
        if None in before or len(drawn) == 2:
            return np.array([literal is None for literal, _ in rules])
        used = {literal[0] for literal in before}
        return np.array([literal is None or literal[0] not in used for literal, _ in rules])

    def draw():
        drawn = exponential_cover(
            covers, Fraction(1, 5), rounds=3, worth=worth, bounds=(-4, 2), available=available, rng=rng
        )
        rows = [rules[h] for h in drawn]
        return tuple(rows[: next(i for i, (literal, _) in enumerate(rows) if literal is None) + 1])

    seen = Counter(draw() for _ in range(2_000))
    assert set(seen) <= set(law)
    assert_follows([seen[rules] for rules in law], list(law.values()))


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1), (-1, 2)])
def test_no_pair_of_neighbours_exceeds_the_claim(bounds):
    low, high = bounds
    most, exponent, rounds = max(-low, high), 0.9, 3
    weight = Fraction(min(-low, high), most)
    base = (np.array([[1, 1, 0], [0, 1, 1]]), np.array([[high, high, 0], [0, low, high]]))
    elements = [
        (covered, [value * c for value, c in zip(values, covered, strict=True)])
        for covered in itertools.product((0, 1), repeat=3)
        for values in itertools.product((low, high), repeat=3)
    ]
    without = law_of(*base, exponent, rounds)
    with_one = [law_of(np.vstack([base[0], c]), np.vstack([base[1], w]), exponent, rounds) for c, w in elements]
    P0, P = np.array(list(without.values())), np.array([[law[key] for key in without] for law in with_one])
    for epsilon in (0.0, 0.5, 1.0, 2.0, 3.0):
        factor = math.exp(epsilon)
        measured = {
            "add-remove": max(
                np.maximum(P - factor * P0, 0).sum(axis=1).max(), np.maximum(P0 - factor * P, 0).sum(axis=1).max()
            ),
            "replace": max(np.maximum(row - factor * P, 0).sum(axis=1).max() for row in P),
        }
        for neighbors, delta in measured.items():
            claim = cover_delta(
                exponent * most, epsilon, coverage_weight=weight, neighbors=neighbors, max_rounds=rounds
            )
            assert delta <= claim + 1e-12


def best_cover(sets, k):
    return max(sets[:, list(chosen)].any(axis=1).sum() for chosen in itertools.combinations(range(sets.shape[1]), k))


def test_private_elements_are_covered_nearly_as_well_as_can_be(rng):
    kinds = rng.integers(0, 40, 6000)
    holds = rng.random((40, 12)) < 0.25
    holds[np.arange(40), np.arange(40) % 3] = True  # the first three sets cover everything
    sets = holds[kinds]
    assert best_cover(sets, 3) == 6000
    exponent = cover_exponent(1.0, 1e-6, max_rounds=12)
    drawn = exponential_cover(sets, exponent, rounds=12, rng=rng)
    assert sorted(drawn) == list(range(12))
    length = next(k for k in range(13) if sets[:, drawn[:k]].any(axis=1).all())
    assert length <= 3 * (math.log(6000) + 1)  # the guarantee of greedy cover
    for k in (1, 2, 4):  # partial cover: greedy has 1 - 1/e of the best, less what the noise takes
        drawn = exponential_cover(sets, cover_exponent(1.0, 1e-6, max_rounds=k), rounds=k, rng=rng)
        assert sets[:, drawn].any(axis=1).sum() >= (1 - 1 / math.e) * best_cover(sets, k) - 300


def test_what_will_not_do_is_refused_before_anything_is_drawn(rng):
    covers = np.ones((4, 3), bool)
    state = rng.bit_generator.state
    for arguments, message in (
        ({"covers": np.ones((4, 3))}, "covers must be booleans"),
        ({"covers": np.ones((4, 0), bool)}, "covers must be booleans"),
        ({"rounds": 4}, r"rounds must lie in \[1, 3\], got 4"),
        ({"rounds": 0}, "rounds must"),
        ({"exponent": -1}, "exponent must be a finite number > 0, got -1"),
        ({"exponent": math.nan}, "exponent must"),
        ({"worth": np.full((4, 3), 2)}, r"worth must lie in \[0, 1\], got 2 to 2"),
        ({"worth": np.ones((4, 2), int)}, "worth must be integers of shape"),
        ({"worth": np.ones((4, 3))}, "worth must be integers"),
        ({"bounds": (1, 2)}, "bounds must be"),
        ({"bounds": (0, 0)}, "bounds must be"),
        ({"available": lambda drawn: np.zeros(3, bool)}, "available must be 3 booleans"),
    ):
        with pytest.raises(ValueError, match=message):
            exponential_cover(**({"covers": covers, "exponent": 1, "rounds": 2, "rng": rng} | arguments))
    assert rng.bit_generator.state == state
