import bisect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.capped_scaling import capped_scaling

from dpfast.kernels import measure


def ones(n):
    return np.ones(n, np.int8)


def projected(scores, table, mass, signs=None):
    scores = np.asarray(scores, np.int32)
    return measure.project(scores, ones(len(scores)) if signs is None else signs, table, mass)


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=60),
    st.floats(0.005, 2),
    st.integers(1, 5000),
    st.floats(0, 1),
)
@settings(max_examples=100, deadline=None)
def test_units_add_up_to_the_mass_and_fall_with_the_score(scores, decay, cap, density):
    table = measure.table(decay, cap)
    mass = int(density * cap * len(scores))
    units = projected(scores, table, mass)
    assert units.sum() == mass
    assert units.min() >= 0
    assert units.max() <= cap
    order = np.argsort(scores, kind="stable")
    slack = np.max(table[:-1] - table[1:])  # rows at and before the split are a step ahead of their equals
    assert (np.diff(units[order]) <= slack).all()


@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=12),
    st.floats(0.05, 1),
    st.integers(1, 60),
    st.floats(0, 1),
    st.data(),
)
@settings(max_examples=120, deadline=None)
def test_changing_one_score_moves_all_other_weights_one_way(scores, decay, cap, density, data):
    table = measure.table(decay, cap)
    mass = int(density * cap * len(scores))
    i = data.draw(st.integers(0, len(scores) - 1))
    other = list(scores)
    other[i] = data.draw(st.integers(-40, 40))
    change = projected(other, table, mass) - projected(scores, table, mass)
    rest = np.delete(change, i)
    assert (rest >= 0).all() or (rest <= 0).all()
    assert np.abs(rest).sum() == abs(change[i]) <= cap


def test_over_all_small_tables_the_change_reaches_the_cap_and_never_exceeds_it():
    table, worst = measure.table(0.7, 4), 0
    for scores in itertools.product(range(-2, 3), repeat=3):
        for mass in range(13):
            units = projected(scores, table, mass)
            for value in (-50, 0, 50):
                change = projected([value, *scores[1:]], table, mass) - units
                assert np.abs(change[1:]).sum() == abs(change[0])
                worst = max(worst, abs(change[0]))
    assert worst == 4


def test_weights_approach_the_projection_in_reals(rng):
    scores = rng.integers(-5000, 5000, 4000).astype(np.int32)
    table = measure.table(16 / 2 / 4096, 1 << 12)
    weights = projected(scores, table, int(0.4 * 4000 * 4096)) / 4096
    real = capped_scaling(-16 / 2 / 4096 * scores - 100, 0.4)
    np.testing.assert_allclose(weights, np.array(real, float), atol=0.003)


def test_signs_go_onto_the_weights(rng):
    scores = rng.integers(-50, 50, 200).astype(np.int32)
    signs = rng.choice([-1, 1], 200).astype(np.int8)
    table = measure.table(0.1, 100)
    np.testing.assert_array_equal(projected(scores, table, 9000, signs), signs * projected(scores, table, 9000))


def test_the_least_and_the_greatest_mass_are_reached():
    table = measure.table(0.1, 7)
    assert not projected([5, 1, 9], table, 0).any()
    assert projected([5, 1, 9], table, 21).tolist() == [7, 7, 7]
    assert projected([3, 3, 3], table, 10).sum() == 10


def test_scores_of_distant_clusters_are_projected():
    table = measure.table(0.01, 100)
    assert projected([0, 10**6, 2 * 10**6], table, 250).tolist() == [100, 100, 50]
    assert projected([2**31 - 1, -(2**31)], table, 150).tolist() == [50, 100]


def test_rows_far_apart_weigh_what_the_same_rows_among_many_do(rng):
    """Few rows are sorted and many are counted: units are the same."""
    table, far = measure.table(0.001, 4096), rng.integers(0, 9000, 300).astype(np.int32)
    near = np.concatenate([far, np.full(9000, 20_000, np.int32)])  # as light as rows can be
    mass = 77 * 4096 + 5
    np.testing.assert_array_equal(projected(near, table, mass)[:300], projected(far, table, mass))
    levels = range(-9000, 12_000, 500)
    np.testing.assert_array_equal(measure.units(near, table, levels), measure.units(far, table, levels))


def units(scores, table, level):
    return int(measure.units(scores, table, [level])[0])


@pytest.mark.parametrize("spread", ["even", "two clusters"])
@pytest.mark.parametrize(("decay", "cap"), [(2.0, 9), (0.02, 65535), (0.02, 65536), (1e-3, 4096), (1e-4, 1 << 20)])
def test_wide_scores_of_many_rows_have_the_threshold_that_all_thresholds_show(spread, decay, cap, each_isa, rng):
    """Such a threshold is guessed from coarse counts, and then climbed to; units below 2**16 are looked up in pairs."""
    n = 9000
    scores = rng.integers(-15_000, 15_000, n).astype(np.int32)
    if spread == "two clusters":
        scores = np.where(scores < 0, scores // 1000 - 15_000, scores // 1000 + 15_000).astype(np.int32)
    table, signs = measure.table(decay, cap), rng.choice([-1, 1], n).astype(np.int8)
    levels = range(-15_020 - len(table), 15_020)
    for mass in (1, cap, n * cap // 20, n * cap // 2, n * cap // 2 + 1, n * cap - 1, n * cap):
        level = levels[bisect.bisect_right(levels, mass, key=lambda level: units(scores, table, level)) - 1]
        expected = measure.weights(scores, signs, table, level, mass - units(scores, table, level))
        for weights in each_isa(lambda: measure.project(scores, signs, table, mass)):  # noqa: B023
            np.testing.assert_array_equal(weights, expected)
            assert (signs * weights).sum() == mass


def test_margins_are_rounded_onto_scores_at_every_level(each_isa, rng):
    signs = rng.choice([-1, 1], 1001).astype(np.int8)
    margins = np.clip(rng.normal(size=1001), -1, 1).astype(np.float32)

    def added():
        scores = np.arange(1001, dtype=np.int32)
        measure.add(scores, signs, margins, 4096)
        return scores

    for scores in each_isa(added):
        np.testing.assert_array_equal(scores, np.arange(1001) + signs * np.rint(margins * np.float32(4096)))


def test_what_does_not_fit_is_refused():
    table = measure.table(0.1, 7)
    with pytest.raises(ValueError, match="mass must lie in"):
        projected([1, 2], table, 15)
    with pytest.raises(ValueError, match="table must fall"):
        projected([1, 2], np.array([1, 2, 0], np.int32), 1)
    with pytest.raises(ValueError, match=r"signs must have shape \(2,\)"):
        projected([1, 2], table, 1, ones(3))
    with pytest.raises(ValueError, match="decay must be at least 1e-7"):
        measure.table(0.0, 7)
    with pytest.raises(ValueError, match="must have one length"):
        measure.add(np.zeros(2, np.int32), ones(3), np.zeros(2, np.float32), 1)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.4, 1.0])
def test_weights_at_a_level_make_up_the_projection_part_by_part(share, rng):
    scores, signs = rng.integers(-3000, 9000, 500).astype(np.int32), rng.choice([-1, 1], 500).astype(np.int8)
    table = measure.table(0.001, 4096)
    mass = int(share * 500 * 4096)
    whole = measure.project(scores, signs, table, mass)
    levels = np.arange(-3000 - len(table), 9001)
    units = measure.units(scores, table, levels)
    assert (np.diff(units) >= 0).all()
    assert (units[0], units[-1]) == (0, 500 * 4096)
    level = int(levels[np.searchsorted(units, mass, side="right") - 1])
    left, parts = mass - int(measure.units(scores, table, [level])[0]), []
    for part in (slice(0, 0), slice(0, 90), slice(90, 91), slice(91, 500)):
        gain = int(np.diff(measure.units(scores[part], table, [level, level + 1]))[0])
        parts.append(measure.weights(scores[part], signs[part], table, level, min(left, gain)))
        left -= min(left, gain)
    assert left == 0
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_weights_at_a_level_refuse_what_will_not_do():
    scores, table = np.zeros(3, np.int32), measure.table(0.5, 10)
    with pytest.raises(ValueError, match="excess be at least 0"):
        measure.weights(scores, np.ones(3, np.int8), table, 0, -1)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        measure.weights(scores, np.ones(2, np.int8), table, 0, 0)
