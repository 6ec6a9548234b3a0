import copy
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from laws import assert_follows

from dpfast.accounting import sparse_sample_bottom_score, sparse_sample_delta, sparse_sample_plan, zcdp_epsilon
from dpfast.mechanisms import sparse_sample
from dpfast.mechanisms.sparse_sample import votes

UNIVERSE = "abcd"


def law(lists, epsilon, bottom, max_length=99):
    """Probabilities by the definition; None is nothing."""
    scores = Counter(item for each in lists for item in list(dict.fromkeys(each))[:max_length])
    weight = {item: math.exp(epsilon * (s - bottom)) for item, s in scores.items()} | {None: 1.0}
    total = math.fsum(weight.values())
    return {item: w / total for item, w in weight.items()}


def hockey_stick(p, q, epsilon):
    return sum(max(0.0, p[u] - math.exp(epsilon) * q.get(u, 0.0)) for u in p)


@pytest.mark.parametrize("arrays", [False, True])
def test_draws_follow_the_law(arrays, rng):
    lists = [[0, 1, 2], [1, 2, 1], [2], [], [2, 9]]
    given = [np.array(each, np.int64) for each in lists] if arrays else lists
    expected = law(lists, 0.7, 3, 2)
    draws = Counter(sparse_sample(given, 0.7, 3, max_length=2, rng=rng) for _ in range(1_200))
    assert set(draws) <= set(expected)
    assert_follows([draws[u] for u in expected], list(expected.values()))


@pytest.mark.parametrize(("epsilon", "bottom"), [(0.5, 4), (1.0, 2), (0.3, 10), (2.0, 3)])
def test_the_claim_holds_for_all_pairs_of_neighbours_of_a_small_universe(epsilon, bottom):
    possible = ["", "a", "b", "ab", "ac", "cd"]
    delta, worst = sparse_sample_delta(epsilon, bottom, 2), 0.0
    for rest in product(possible, repeat=2):
        for old, new in product(possible, repeat=2):
            p, q = law([*rest, old], epsilon, bottom), law([*rest, new], epsilon, bottom)
            worst = max(worst, hockey_stick(p, q, 2 * epsilon))
    assert 0 < worst <= delta  # the new items' mass is real: no pure claim would do


def test_the_papers_bottom_score_gives_its_claim_too():
    for epsilon, delta, length in product([0.1, 0.5, 1.0], [1e-2, 1e-6], [1, 2, 1000]):
        paper = sparse_sample_bottom_score(epsilon, delta, length, calibration="paper")
        assert paper >= 10 * math.log(length / delta) / epsilon
        tight = sparse_sample_bottom_score(epsilon, delta, length)
        assert tight <= paper / 5
        assert sparse_sample_delta(epsilon, tight, length) <= delta < sparse_sample_delta(epsilon, tight - 1, length)


@pytest.mark.parametrize("releases", [1, 2, 3])
def test_several_draws_together_keep_the_planned_claim(releases):
    epsilon, delta, length = 1.0, 0.05, 2
    plan = sparse_sample_plan(epsilon, delta, n_releases=releases, max_length=length)
    for old, new in product(["", "a", "bc", "ab"], repeat=2):
        rest = ["ab"] * plan.bottom_score
        p, q = (law([*rest, each], plan.exponent, plan.bottom_score) for each in (old, new))
        runs = [dict.fromkeys([()], 1.0)] * 2
        for _ in range(releases):
            runs = [
                {(*u, v): x * y for u, x in run.items() for v, y in one.items()}
                for run, one in zip(runs, (p, q), strict=True)
            ]
        assert hockey_stick(*runs, epsilon) <= delta


def test_the_plan_takes_the_better_composition_and_leaves_the_threshold_its_share():
    few = sparse_sample_plan(1.0, 1e-6, n_releases=2, max_length=100, threshold_share=0.1)
    many = sparse_sample_plan(1.0, 1e-6, n_releases=500, max_length=100, threshold_share=0.1)
    assert (few.composition, many.composition) == ("pure", "zcdp")
    assert few.threshold_epsilon == many.threshold_epsilon == 0.1
    assert 4 * few.exponent + 0.1 <= 1.0
    assert many.exponent > 0.9 / 1000
    assert zcdp_epsilon(250 * many.exponent**2, 5e-7) < 1.0


def test_lists_are_cut_after_their_first_distinct_items():
    lists = [["a", "a", "b", "c"], ["c", "b"]]
    assert dict(zip(*map(list, votes(lists, max_length=2)), strict=True)) == {"a": 1, "b": 2, "c": 1}
    arrays = [np.array([7, 7, 3, 5]), np.array([5, 3])]
    assert dict(zip(*map(list, votes(arrays, max_length=2)), strict=True)) == {7: 1, 3: 2, 5: 1}


def test_one_list_given_many_times_counts_many_times():
    shared = np.array([4, 2])
    assert dict(zip(*map(list, votes([shared] * 5 + [np.array([2])], max_length=2)), strict=True)) == {4: 5, 2: 6}


def counted(lists, max_length=9):
    return dict(zip(*map(list, votes(lists, max_length=max_length)), strict=True))


def test_lists_of_signed_and_unsigned_integers_keep_their_items_apart():
    close = [2**53, 2**53 + 1, 2**63 - 1]
    lists = [np.array(close, np.int64), np.array(close, np.uint64), np.array([2**53 + 1, 2**64 - 1], np.uint64)]
    assert counted(lists) == {2**53: 2, 2**53 + 1: 3, 2**63 - 1: 2, 2**64 - 1: 1}
    assert counted([np.array([3, 300], np.uint16), np.array([300, -3], np.int16)]) == {3: 1, 300: 2, -3: 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([np.int64(1)], [1]),
        ([np.uint8(7)], np.array([7])),
        ([np.str_("a")], ["a"]),
        ([(np.int32(1), "b")], [(1, np.str_("b"))]),
        ([b"x"], np.array([b"x"])),
    ],
)
def test_what_is_drawn_does_not_depend_on_the_list_that_came_first(first, second):
    drawn = [sparse_sample(lists, 50, -9, max_length=1) for lists in ([first, second], [second, first])]
    assert drawn[0] == drawn[1]
    assert repr(drawn[0]) == repr(drawn[1])
    assert type(drawn[0]) in (int, str, bytes, tuple)


@pytest.mark.parametrize("item", [True, 1.0, -0.0, np.float32(2), np.bool_(False), None, (1, True), frozenset()])
def test_items_that_equal_others_of_another_look_are_refused(item, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(TypeError, match="items must be integers, strings, bytes or tuples of such, got"):
        sparse_sample([[1], [item]], 1, 3, max_length=2, rng=rng)
    assert rng.bit_generator.state == before


def test_one_list_changes_no_score_by_more_than_one(rng):
    for _ in range(100):
        lists = [rng.choice(6, rng.integers(5)).tolist() for _ in range(4)]
        changed = [*lists[:3], rng.choice(6, 3).tolist()]
        a, b = (dict(zip(*map(list, votes(x, max_length=3)), strict=True)) for x in (lists, changed))
        assert all(abs(a.get(u, 0) - b.get(u, 0)) <= 1 for u in range(6))


def test_no_lists_give_nothing(rng):
    assert sparse_sample([], 1, 0, max_length=1, rng=rng) is None
    assert sparse_sample([[], []], 1, -5, max_length=1, rng=rng) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 0}, "max_length must be an integer of at least 1, got 0"),
        ({"bottom_score": 2.5}, "bottom_score must be an integer"),
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": float("nan")}, "epsilon must be above 0"),
        ({"lists": [np.zeros((2, 2), int)]}, "one-dimensional"),
        ({"lists": [np.array([True])]}, "of integers if arrays, got bool"),
    ],
)
def test_a_refusal_draws_nothing(arguments, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        sparse_sample(**{"lists": [["a"]], "epsilon": 1, "bottom_score": 3, "max_length": 1, "rng": rng} | arguments)
    assert rng.bit_generator.state == before


def test_items_of_subclasses_count_as_what_they_equal():
    class Text(str):
        def __str__(self):
            return "another"

    class Number(int):
        def __int__(self):
            return 7

    class Bytes(bytes):
        def __bytes__(self):
            return b"another"

    items, counted = votes([["a"], [Text("a")], [3], [Number(3)], [b"b"], [Bytes(b"b")]], max_length=1)
    assert dict(zip(items, counted.tolist(), strict=True)) == {"a": 2, 3: 2, b"b": 2}
    assert {type(item) for item in items} == {str, int, bytes}
