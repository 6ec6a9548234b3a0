import copy
import json
import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from laws import assert_follows

from dpfast.kernels import noise
from dpfast.mechanisms.above_threshold import AboveThreshold, RepeatedThreshold, repeated_epsilon

KINDS = ["running", True, False]


def at_least(gap, scale):
    """P(discrete Laplace of this scale >= gap)."""
    x, gap = 1 / float(scale), np.asarray(gap, float)
    return np.where(gap > 0, np.exp(-gap.clip(1) * x), 1 + math.exp(-x) - np.exp((gap.clip(max=0) - 1) * x)) / (
        1 + math.exp(-x)
    )


def at_least_one_sided(gap, scale):
    """P(geometric noise of this scale >= gap)."""
    return np.exp(-np.asarray(gap, float).clip(min=0) / float(scale))


def stopping_law(counts, threshold, threshold_scale, test_scale, *, one_sided, lengths=None):
    """P(first positive in run t) of lengths[t] tests at counts[t], and of none: summed over the threshold noise."""
    reach = int(40 * float(threshold_scale)) + 40
    z = np.arange(0 if one_sided else -reach, reach + 1)
    mass = np.exp(-np.abs(z) / float(threshold_scale))
    passes = at_least_one_sided if one_sided else at_least
    fail = 1 - passes(threshold + z[:, None] - np.asarray(counts), test_scale)
    fail = fail ** (1 if lengths is None else np.asarray(lengths))
    before = np.cumprod(np.hstack([np.ones((len(z), 1)), fail]), axis=1)
    stop = np.hstack([before[:, :-1] * (1 - fail), before[:, -1:]])
    return mass @ stop / mass.sum()


def law_of(mechanism, counts, lengths=None):
    scales = mechanism.threshold_scale, mechanism.test_scale
    one_sided = mechanism.noise == "geometric"
    return stopping_law(counts, mechanism.threshold, *scales, one_sided=one_sided, lengths=lengths)


def loss(mechanism, counts, changed, lengths=None):
    """The largest log-ratio of the two stopping laws: of outcomes that are not lost to rounding."""
    p, q = law_of(mechanism, counts, lengths), law_of(mechanism, changed, lengths)
    seen = np.minimum(p, q) > 1e-13
    return np.abs(np.log(p[seen] / q[seen])).max()


# ---- AboveThreshold: the law -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["geometric", "paper"])
@pytest.mark.parametrize("monotone", KINDS)
def test_bulk_runs_stop_by_the_law_summed_over_the_threshold_noise(monotone, kind, rng):
    mechanism = AboveThreshold(6, 1.5, monotone=monotone, noise=kind, rng=rng)
    stops = []
    for _ in range(800):
        stops.append(mechanism.run(25, increments=[2, 3, 3, 9, 10, 20]))
        mechanism.reset()
    counts = np.searchsorted([2, 3, 3, 9, 10, 20], np.arange(25), side="right")
    assert_follows(np.bincount([25 if s is None else s for s in stops], minlength=26), law_of(mechanism, counts))


@pytest.mark.parametrize("counts", [[0, 0, 1, 2, 2, 3, 4, 4], [3, -2, 5, 0, 0, 1, 8, 8]])
def test_single_tests_stop_by_the_law_too(counts, rng):
    mechanism, stops = AboveThreshold(4, 0.9, rng=rng), []
    for _ in range(5_000):
        stops.append(next((i for i, count in enumerate(counts) if mechanism.test(count)), len(counts)))
        mechanism.reset()
    assert_follows(np.bincount(stops, minlength=len(counts) + 1), law_of(mechanism, counts))


@pytest.mark.parametrize("piece", [1, 7, 100])
def test_a_stream_stops_in_the_same_round_however_it_arrives(piece):
    increments = np.sort(np.random.default_rng(5).integers(0, 400, 120))
    for seed in range(20):
        whole = AboveThreshold(60, 0.4, monotone="running", rng=seed).run(400, increments)
        mechanism, stop = AboveThreshold(60, 0.4, monotone="running", rng=seed), None
        for start in range(0, 400, piece):
            here = increments[(start <= increments) & (increments < start + piece)] - start
            if piece == 1:
                mechanism.add(len(here))
                stopped = 0 if mechanism.test() else None
            else:
                stopped = mechanism.run(min(piece, 400 - start), here)
            if stopped is not None:
                stop = start + stopped
                break
        assert stop == whole


def test_a_seed_gives_the_same_stops_and_no_seed_gives_others():
    def stops(rng):
        mechanism, found = AboveThreshold(5, 0.2, rng=rng), []
        for _ in range(40):
            found.append(mechanism.run(1000))
            mechanism.reset()
        return found

    assert stops(7) == stops(7)
    assert stops(None) != stops(None)


# ---- AboveThreshold: the claim -----------------------------------------------------------------------------------


def changes(monotone, rounds):
    """All ways in which the counts of neighbours may differ, up to exchanging the two."""
    if monotone == "running":
        return [np.repeat([0, 1], [first, rounds - first]) for first in range(rounds)]
    return [np.array(change) for change in product((0, 1) if monotone else (-1, 0, 1), repeat=rounds)]


@pytest.mark.parametrize("monotone", KINDS)
@pytest.mark.parametrize("epsilon", [0.3, 2])
def test_no_neighbours_exceed_the_claim(monotone, epsilon):
    mechanism = AboveThreshold(3, epsilon, monotone=monotone)
    for counts in ([0] * 6, [0, 0, 1, 2, 3, 4], [5, -9, 2, 2, 7, 0]):
        for change in changes(monotone, 6):
            assert loss(mechanism, counts, counts + change) <= epsilon * (1 + 1e-9)


WORST = {"running": [1, 1], True: [1, 0], False: [1, -1]}  # changes of many tests and of the last


@pytest.mark.parametrize("monotone", KINDS)
def test_some_neighbours_come_near_the_claim(monotone):
    # many tests say that the threshold noise is large; then the last one passes
    mechanism, counts, lengths = AboveThreshold(0, 1, monotone=monotone), np.array([-3, -14]), [1000, 1]
    worst = loss(mechanism, counts, counts + WORST[monotone], lengths)
    assert 0.98 < worst <= 1 + 1e-9


def test_counts_that_are_monotone_only_need_more_noise_than_running_ones():
    running, counts = AboveThreshold(0, 1, monotone="running"), np.array([-3, -14])
    assert loss(running, counts, counts + WORST[True], [1000, 1]) > 1.8


@pytest.mark.parametrize("monotone", KINDS)
def test_the_paper_setting_is_private_for_any_queries(monotone):
    mechanism, counts = AboveThreshold(0, 1, monotone=monotone, noise="paper"), np.array([-3, -14])
    assert (mechanism.threshold_scale, mechanism.test_scale) == (2, 4)
    for change in changes(False, 2):
        assert loss(mechanism, counts, counts + change, [1000, 1]) <= 1 + 1e-9


def test_noise_of_one_side_has_half_the_variance_of_two(rng):
    drawn = {kind: draw(20, 100_000, rng) for kind, draw in (("one", noise.geometric), ("two", noise.discrete_laplace))}
    assert drawn["one"].min() == 0
    assert 0.45 < drawn["one"].var() / drawn["two"].var() < 0.55


@pytest.mark.parametrize("monotone", KINDS)
def test_default_scales_beat_those_of_the_paper(monotone):
    ours, paper = (AboveThreshold(0, 1, monotone=monotone, noise=kind) for kind in ("geometric", "paper"))
    size = [m.threshold_scale**2 + m.test_scale**2 for m in (ours, paper)]
    assert size[0] / 2 < 0.45 * size[1]  # one side has half the variance of two


def test_intervals_between_releases_share_one_epsilon_when_a_row_counts_in_one_only():
    # K runs one after another, the count starting anew; the row's event is in round 3, whatever run that is
    mechanism, rounds = AboveThreshold(2, 1, monotone="running"), 8

    def law(events):
        histories = {(): 1.0}
        for start in range(rounds):  # histories end in the round before `start`, where a new run begins
            for stops, chance in list(histories.items()):
                if (stops[-1] + 1 if stops else 0) == start and (not stops or stops[-1] < rounds):
                    del histories[stops]
                    for i, p in enumerate(law_of(mechanism, np.cumsum(events[start:]))):
                        histories[(*stops, start + i)] = histories.get((*stops, start + i), 0) + chance * p
        return histories

    events = np.array([0, 1, 1, 0, 1, 0, 1, 1])
    p, q = law(events), law(events + (np.arange(rounds) == 3))
    assert len(p) == 2**rounds
    assert math.isclose(sum(p.values()), 1)
    assert max(abs(math.log(p[history] / q[history])) for history in p) <= 1 + 1e-9


# ---- AboveThreshold: use -----------------------------------------------------------------------------------------


def test_a_fired_instance_is_used_again_only_after_reset():
    mechanism = AboveThreshold(0, 1, rng=0)
    assert mechanism.test(10**6) is True
    assert mechanism.fired
    for call in (mechanism.test, lambda: mechanism.run(5), lambda: mechanism.test(0)):
        with pytest.raises(RuntimeError, match="costs epsilon again"):
            call()
    mechanism.reset()
    assert not mechanism.fired
    assert mechanism.runs == 2
    assert mechanism.test(-(10**6)) is False


def test_the_count_starts_at_zero_after_a_reset():
    mechanism = AboveThreshold(10**6, 1, rng=0)
    mechanism.add(2 * 10**6)
    assert mechanism.test()
    mechanism.reset()
    assert mechanism.run(1000) is None
    mechanism.add()
    assert mechanism._count == 1


def test_nothing_private_is_shown():
    mechanism = AboveThreshold(1000, 0.5, monotone=True, rng=0)
    mechanism.run(10, [1, 2])
    assert {name for name in vars(mechanism) if not name.startswith("_")} == set()
    assert repr(mechanism) == "<AboveThreshold(1000, 0.5, monotone=True, noise='geometric'): run 1>"


@pytest.mark.parametrize("make", [lambda: AboveThreshold(0, 1), lambda: RepeatedThreshold(0, 1, 3)])
def test_neither_pickle_nor_copy_takes_the_noise_along(make):
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            take(make())


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: AboveThreshold(9, 0.37, monotone="running", rng=rng),
        lambda rng: AboveThreshold(9, 0.37, noise="paper", rng=rng),
        lambda rng: RepeatedThreshold(9, 0.37, 4, rng=rng),
    ],
)
def test_a_checkpoint_goes_on_with_the_same_noise(make):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        mechanism = make(rng)
        mechanism.run(5, [0, 3])
        saved = json.loads(json.dumps(mechanism._state()))
        other = make(np.random.default_rng(0))
        other._resume(saved)
        other._rng = copy.deepcopy(rng)
        assert other._state() == mechanism._state()
        if mechanism.fired in (False, 0):
            assert other.run(500, [10, 20, 30]) == mechanism.run(500, [10, 20, 30])
            assert other._state() == mechanism._state()


def test_epsilon_counts_as_the_decimal_that_it_prints_as():
    assert AboveThreshold(0, 0.1, monotone="running").test_scale == 10
    assert AboveThreshold(0, Fraction(1, 3)).threshold_scale == Fraction(39, 5)
    assert RepeatedThreshold(0, np.float64(0.2), 1).test_scale == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 1.5}, "threshold must be an integer"),
        ({"threshold": 2**61}, "threshold must be an integer"),
        ({"epsilon": 0}, "epsilon must be a number in"),
        ({"epsilon": math.nan}, "epsilon must be a number in"),
        ({"epsilon": "much"}, "epsilon must be a number in"),
        ({"monotone": "rising"}, "monotone must be"),
        ({"noise": "gaussian"}, "noise must be"),
    ],
)
def test_a_refused_construction_draws_nothing(arguments, message, rng):
    state = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        AboveThreshold(**{"threshold": 3, "epsilon": 1, **arguments}, rng=rng)
    assert rng.bit_generator.state == state


def test_a_refused_call_draws_nothing_and_changes_nothing(rng):
    mechanism = AboveThreshold(100, 1, rng=rng)
    before, state = mechanism._state(), copy.deepcopy(rng.bit_generator.state)
    for error, call in [
        (TypeError, lambda: mechanism.add(0.5)),
        (TypeError, lambda: mechanism.test(1.0)),
        (TypeError, lambda: mechanism.run(2.0)),
        (ValueError, lambda: mechanism.test(2**62)),
        (ValueError, lambda: mechanism.run(-1)),
        (ValueError, lambda: mechanism.run(5, [0.5])),
        (ValueError, lambda: mechanism.run(5, [3, 2])),
        (ValueError, lambda: mechanism.run(5, [-1])),
        (ValueError, lambda: mechanism.run(5, [5])),
    ]:
        with pytest.raises(error):
            call()
    assert mechanism._state() == before
    assert rng.bit_generator.state == state


# ---- RepeatedThreshold -------------------------------------------------------------------------------------------


def sequences(rule, e, positives, rounds):
    """All outcome sequences as arrays of their probabilities under two neighbours.

    rule(k, j) is the pair of gaps at which the next test is made, k positives and a log-ratio of j e before.
    """
    ended, going = [], [(1.0, 1.0, positives)]
    for _ in range(rounds):
        nearer = []
        for p, q, k in going:
            gap, changed = rule(k, round(math.log(p / q) / e))
            a, b = float(at_least(gap, 1 / e)), float(at_least(changed, 1 / e))
            (nearer if k > 1 else ended).append((p * a, q * b, k - 1))
            nearer.append((p * (1 - a), q * (1 - b), k))
        going = nearer
    p, q, _ = np.array(ended + going).T
    return p, q


def hockey_stick(p, q, epsilon):
    return max(np.maximum(0, p - math.exp(epsilon) * q).sum(), np.maximum(0, q - math.exp(epsilon) * p).sum())


@pytest.mark.parametrize("positives", [1, 2, 3])
@pytest.mark.parametrize("e", [0.2, 1, 2.5])
def test_no_counts_exceed_the_claim_of_repeated_tests(e, positives, rng):
    def fixed():
        gaps = iter(rng.integers(-3, 5, 2000).tolist())
        return lambda k, j: (gap := next(gaps), gap + int(rng.integers(-1, 2)))

    rules = [fixed() for _ in range(4)]
    rules += [lambda k, j: (1, 0), lambda k, j: (0, 1), lambda k, j: (6, 5), lambda k, j: (-4, -5)]
    rules += [lambda k, j: (1, 0) if j < 0 else (0, 1), lambda k, j: (1, 0) if k == 1 else (2, 3)]
    for rule in rules:
        p, q = sequences(rule, e, positives, 10)
        for delta in (0.3, 0.1, 1e-2, 1e-4, 1e-6):
            assert hockey_stick(p, q, repeated_epsilon(e, positives, delta)) <= delta


@pytest.mark.parametrize(
    ("e", "positives", "delta"),
    [(1, 1, 1e-2), (1, 4, 1e-6), (0.2, 30, 1e-2), (0.2, 30, 1e-6), (1, 3, 0.8), (0.5, 2, 0.4)],
)
def test_the_claim_of_repeated_tests_is_attained(e, positives, delta):
    # counts at gap 0 for one neighbour and 1 for the other, exchanged once the log-ratio has reached epsilon
    epsilon, a = repeated_epsilon(e, positives, delta), float(at_least(0, 1 / e))
    reached, going = 0.0, {(positives, 0): 1.0}  # P of each (positives left, log-ratio / e)
    for _ in range(2000):
        nearer = {}
        for (k, j), p in going.items():
            if k == 0:
                reached += max(0, p * -math.expm1(epsilon - j * e))
                continue
            likely = j * e > epsilon  # whether a positive is likelier under P
            for state, chance in [((k - likely, j + 1), a), ((k - (not likely), j - 1), 1 - a)]:
                nearer[state] = nearer.get(state, 0) + p * chance
        going = {state: p for state, p in nearer.items() if p > 1e-14}
    assert not going
    assert (1 - 1e-3) * delta <= reached <= delta


def test_repeated_tests_follow_their_law(rng):
    counts, k, e, seen = [0, 1, 2, 1, 0, 2], 2, 0.8, {}
    for _ in range(5_000):
        tests, bits = RepeatedThreshold(1, e, k, rng=rng), []
        for count in counts:
            if tests.fired < k:
                bits.append(tests.test(count))
        seen[tuple(bits)] = seen.get(tuple(bits), 0) + 1
    law = {}
    for bits in product([False, True], repeat=len(counts)):
        chance = math.prod(
            float(at_least(1 - c, 1 / e)) if bit else 1 - float(at_least(1 - c, 1 / e))
            for c, bit in zip(counts, bits, strict=True)
        )
        stop = next((i + 1 for i in range(len(bits)) if sum(bits[: i + 1]) == k), len(bits))
        law[bits[:stop]] = law.get(bits[:stop], 0) + chance
    assert set(seen) <= set(law)
    assert_follows([seen.get(bits, 0) for bits in law], list(law.values()))


def test_repeated_tests_end_with_the_positives_paid_for():
    tests = RepeatedThreshold(10**6, 1, 2, rng=0)
    for _ in range(2):
        assert tests.run(100, []) is None
        tests.add(2 * 10**6)
        assert tests.run(100) == 0
    assert tests.fired == 2
    with pytest.raises(RuntimeError, match="all 2 positive tests"):
        tests.test(0)
    assert repr(tests) == "<RepeatedThreshold(1000000, 1, positives=2): 2 fired>"


def test_the_claim_grows_with_positives_and_with_epsilon_and_falls_with_delta():
    grows = [repeated_epsilon(0.1, k, 1e-6) for k in (1, 2, 5, 20, 100)]
    assert grows == sorted(grows)
    grows = [repeated_epsilon(e, 5, 1e-6) for e in (1e-15, 0.01, 0.1, 1, 4)]
    assert grows == sorted(grows)
    falls = [repeated_epsilon(0.1, 5, delta) for delta in (1e-300, 1e-20, 1e-6, 0.1, 0.9)]
    assert falls == sorted(falls, reverse=True)
    assert falls[-1] == 0
    assert RepeatedThreshold(0, 0.1, 5).claim(1e-6) == (falls[2], 1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0, 1, 1e-6), "positives must be"), ((1, 11, 1e-6), "at most 10"), ((1, 1, 0.0), "delta must be")],
)
def test_a_claim_out_of_range_is_refused(arguments, message):
    positives, epsilon, delta = arguments
    with pytest.raises(ValueError, match=message):
        RepeatedThreshold(0, epsilon, positives).claim(delta)
