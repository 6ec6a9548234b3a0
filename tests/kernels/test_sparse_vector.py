import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows

from dpfast.kernels import noise, sparse_vector


def chance(gap, scale, one_sided=False):
    """P(discrete noise of this scale >= gap), from its mass function."""
    x = np.arange(0 if one_sided else -4000, 4000)
    mass = np.exp(-np.abs(x) / float(scale))
    return mass[x >= gap].sum() / mass.sum()


def waiting_law(p, rounds):
    """P(n tests fail first) for n < rounds, then P(all of them fail)."""
    fails = (1 - p) ** np.arange(rounds + 1)
    return np.append(fails[:-1] * p, fails[-1])


def halting_law(counts, lengths, threshold, scale, one_sided):
    each = np.repeat(counts, lengths)
    p = np.array([chance(threshold - c, scale, one_sided) for c in each])
    fails = np.cumprod(np.append(1, 1 - p))
    return np.append(fails[:-1] * p, fails[-1])


@pytest.mark.parametrize(  # every two of the three together
    ("gap", "scale", "one_sided"),
    [
        (gap, scale, bool((i + j) % 2))
        for i, gap in enumerate([-2, 0, 1, 5])
        for j, scale in enumerate([Fraction(1, 3), 0.7, Fraction(22, 7), 12])
    ],
)
def test_the_number_of_failing_tests_is_geometric(gap, scale, one_sided, rng):
    law = waiting_law(chance(gap, scale, one_sided), 30)
    drawn = [sparse_vector.Tests(gap, scale, one_sided=one_sided).run([0], [30], rng) for _ in range(800)]
    assert_follows(np.bincount([30 if n is None else n for n in drawn], minlength=31), law)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("counts", [[0, 1, 2, 3], [3, 0, 5, 2], [4, 4, 1, 4], [-3, 9, -3, 2]])
def test_runs_halt_as_tests_with_fresh_noise_each_round_do(counts, one_sided, rng):
    lengths, threshold, scale, runs = [5, 0, 20, 7], 6, Fraction(5, 2), 1_000
    law = halting_law(counts, lengths, threshold, scale, one_sided)
    drawn = [sparse_vector.Tests(threshold, scale, one_sided=one_sided).run(counts, lengths, rng) for _ in range(runs)]
    assert_follows(np.bincount([32 if n is None else n for n in drawn], minlength=33), law)

    each = np.append(np.repeat(counts, lengths), 10**6)  # the last test passes for want of another
    draw = noise.geometric if one_sided else noise.discrete_laplace
    noisy = each + draw(scale, runs * 33, rng).reshape(runs, 33)
    assert_follows(np.bincount((noisy >= threshold).argmax(1), minlength=33), law)


def test_a_rare_pass_is_waited_for_by_the_exponential_law(rng):
    gap, scale = 40, 2  # p is about 1.3e-9
    p, rounds = math.exp(-gap / scale) / (1 + math.exp(-1 / scale)), 10**9
    drawn = [sparse_vector.Tests(gap, scale).run([0], [rounds], rng) for _ in range(4_000)]
    bins = np.linspace(0, rounds, 11)
    counts = np.histogram([n for n in drawn if n is not None], bins)[0]
    below = -np.expm1(-p * bins)
    assert_follows(np.append(counts, drawn.count(None)), np.append(np.diff(below), 1 - below[-1]))


def test_waits_longer_than_the_horizon_go_on_by_the_same_law(rng):
    p = math.exp(-23) / (1 + math.exp(-1))  # mean wait 1.3e10, the horizon is 4.3e9
    bins = np.linspace(0, 3e10, 16)
    drawn = [sparse_vector.Tests(23, 1).run([0], [3 * 10**10], rng) for _ in range(5_000)]
    below = -np.expm1(bins * math.log1p(-p))
    counts = np.histogram([n for n in drawn if n is not None], bins)[0]
    assert_follows(np.append(counts, drawn.count(None)), np.append(np.diff(below), 1 - below[-1]))


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("cut", [1, 3, 17, 1000])
def test_outcomes_do_not_depend_on_how_rounds_are_cut_into_calls(cut, one_sided):
    counts = np.repeat(np.arange(40), 2)
    lengths = np.tile([0, 25], 40)
    each = np.repeat(counts, lengths)
    for seed in range(5):
        whole_rng, piece_rng = np.random.default_rng(seed), np.random.default_rng(seed)
        whole = sparse_vector.Tests(60, 4, one_sided=one_sided).run(counts, lengths, whole_rng)
        pieces = sparse_vector.Tests(60, 4, one_sided=one_sided)
        halt = None
        for start in range(0, len(each), cut):
            piece = each[start : start + cut]
            if cut == 1:
                made = 0 if pieces.test(piece[0], piece_rng) else None
            else:
                made = pieces.run(piece, np.ones(len(piece), int), piece_rng)
            if made is not None:
                halt = start + made
                break
        assert halt == whole
        assert piece_rng.bit_generator.state == whole_rng.bit_generator.state


def test_a_state_goes_on_where_it_was_taken():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tests = sparse_vector.Tests(20, 3)
        assert tests.run([0], [5], rng) is None
        threshold, pending = tests.state()
        resumed = sparse_vector.Tests(threshold, 3, pending)
        other = copy.deepcopy(rng)
        assert tests.run([0, 10], [100, 100], rng) == resumed.run([0, 10], [100, 100], other)
        assert tests.state() == resumed.state()


@pytest.mark.parametrize("one_sided", [False, True])
def test_tests_go_on_after_one_that_passed(one_sided, rng):
    tests = sparse_vector.Tests(1, 1, one_sided=one_sided)
    drawn = [tests.run([0], [10**6], rng) for _ in range(4_000)]
    law = waiting_law(chance(1, 1, one_sided), 60)
    assert_follows(np.bincount(drawn, minlength=61), law)


@pytest.mark.parametrize("one_sided", [False, True])
def test_multiprecision_decides_as_doubles_do(one_sided, monkeypatch):
    counts, lengths = np.tile([0, 7, 3, 40, 12, -30], 50), np.full(300, 10**4)
    for threshold, scale in [(60, 4), (13, Fraction(9, 7)), (10**5, 10**4)]:
        outcomes = []
        for guard in (1.0, 2.0**30, 2.0**44, 2.0**60):
            monkeypatch.setattr(sparse_vector, "_guard_scale", guard)
            tests = sparse_vector.Tests(threshold, scale, one_sided=one_sided)
            rng, passed = np.random.default_rng(3), []
            for start in range(0, 60, 6):
                passed.append(tests.run(counts[start : start + 6], lengths[start : start + 6], rng))
            outcomes.append((passed, tests.state(), rng.bit_generator.state))
        assert all(outcome == outcomes[0] for outcome in outcomes)


def no_more_words():
    raise AssertionError("these bits decide")


@pytest.mark.parametrize(
    ("gap", "scale", "one_sided"),
    [
        *((gap, scale, False) for gap, scale in [(1, 1), (9, Fraction(7, 3)), (0, 5), (-40, 6), (10**17, 2**52)]),
        *((gap, scale, True) for gap, scale in [(1, 1), (9, Fraction(7, 3)), (1, 2**30), (3, 5), (10**17, 2**52)]),
    ],
)
def test_boundaries_are_where_the_law_puts_them(gap, scale, one_sided):
    rate = Fraction(1) / scale
    x, q = abs(gap if gap > 0 else 1 - gap) * float(rate), math.exp(-float(rate))
    fail = 1 - math.exp(-x) / (1 if one_sided else 1 + q) if gap > 0 else math.exp(-x) / (1 + q)
    for n in (1, 2, 5):
        edge = int(fail**n * 2**64)  # U < fail**n is n failures or more
        slack = 2**20
        if edge > slack:
            assert sparse_vector._wait(gap, rate, one_sided, edge - slack, no_more_words) == n
            assert sparse_vector._wait(gap, rate, one_sided, edge + slack, no_more_words) == n - 1


def test_more_bits_are_drawn_when_a_boundary_lies_inside_the_word():
    asked = []

    def ones():
        asked.append(1)
        return 2**64 - 1

    assert sparse_vector._wait(100, Fraction(1), False, 2**64 - 1, ones) == 0  # p is 2.7e-44 * 0.73
    assert len(asked) == 2  # 192 bits tell, 128 do not
    assert sparse_vector._wait(100, Fraction(1), False, 2**64 - 1, lambda: 0) == 2**32


def test_gaps_of_astronomical_size_do_no_harm(rng):
    far = sparse_vector.Tests(2**61, 2.0**-52)
    assert far.run([0, -(2**61)], [2**50, 2**50], rng) is None
    assert far.test(2**61, rng) in (True, False)
    assert sparse_vector.Tests(-(2**61), Fraction(1, 2**52)).test(2**61, rng)


def test_no_tests_at_all_draw_nothing(rng):
    state = rng.bit_generator.state
    assert sparse_vector.Tests(0, 1).run([], [], rng) is None
    assert sparse_vector.Tests(0, 1).run([5, 6], [0, 0], rng) is None
    assert rng.bit_generator.state == state


def test_private_state_is_not_pickled_or_copied():
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private state"):
            take(sparse_vector.Tests(0, 1))


@pytest.mark.parametrize(
    ("threshold", "scale", "message"),
    [
        (0, 0, "scale must lie"),
        (0, 2.0**53, "scale must lie"),
        (0, math.nan, "scale must be"),
        (0, "wide", "scale must be"),
        (2**61 + 1, 1, "threshold must lie"),
    ],
)
def test_a_threshold_or_scale_that_will_not_do_is_refused(threshold, scale, message):
    with pytest.raises(ValueError, match=message):
        sparse_vector.Tests(threshold, scale)


@pytest.mark.parametrize(
    ("counts", "lengths", "message"),
    [
        ([0, 1], [3], "one shape"),
        ([0.5], [3], "counts must be integers"),
        ([[0]], [3], r"shape \(k,\)"),
        ([0], [-1], "lengths must be at least 0"),
        ([0] * 9, [2**60] * 9, "lengths must be at least 0"),
        ([2**61 + 1], [1], "counts must lie"),
        (np.array([2**63], np.uint64), [1], "counts must be below"),
    ],
)
def test_a_refusal_draws_nothing(counts, lengths, message, rng):
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match=message):
        sparse_vector.Tests(0, 1).run(counts, lengths, rng)
    with pytest.raises(ValueError, match="count must lie"):
        sparse_vector.Tests(0, 1).test(2**62, rng)
    with pytest.raises(TypeError, match=r"numpy\.random\.Generator"):
        sparse_vector.Tests(0, 1).run([0], [1], None)
    assert rng.bit_generator.state == state
