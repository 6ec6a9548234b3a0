import itertools
import math
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpfast.accounting import (
    winnow_epsilon,
    winnow_learning_rate,
    winnow_range,
    winnow_rho,
    winnow_weight,
    zcdp_epsilon,
)
from dpfast.accounting.papers.winnow import WEIGHT_GRID

EXAMPLES = tuple(itertools.product((-1, 1), repeat=3))  # (x_1, x_2, y)


def with_copies(x, negations, low, high):
    if negations is True:
        return [*x, *(-a for a in x)]
    return [*x, *(low + high - a for a in x)] if negations == "complement" else list(x)


@pytest.mark.parametrize("negations", [False, True, "complement"])
@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1), (-1, 3), (1, 2), (Fraction(-1, 3), Fraction(1, 7))])
def test_no_example_moves_the_scores_further_than_the_range(feature_range, negations):
    low, high = feature_range
    options = {"feature_range": feature_range, "negations": negations}
    rows = [with_copies(x, negations, low, high) for x in itertools.product(feature_range, repeat=3)]
    added = [[y * a for a in row] for row in rows for y in (-1, 1)]
    changed = ([a - b for a, b in zip(v, w, strict=True)] for v in added for w in added)
    one, two = (max(max(v) - min(v) for v in moves) for moves in (added, changed))
    assert winnow_range("add-remove", **options) == one
    assert winnow_range("replace", **options) == two == winnow_range("add-remove", batch=1, **options)


def test_the_ranges_of_the_theory():
    assert winnow_range("replace") == winnow_range("replace", negations=True) == 4
    assert winnow_range("add-remove") == winnow_range("add-remove", negations=True) == 2
    assert winnow_range("replace", feature_range=(0, 1)) == 2
    assert winnow_range("add-remove", feature_range=(0, 1)) == 1
    assert winnow_range("replace", feature_range=(0, 1), negations=True) == 4
    assert winnow_range("replace", feature_range=(0, 1), negations="complement") == 2


@cache
def halts(counts, e):
    """Probability that AboveThreshold (threshold 1) first fires at the last of these counts, and that it never does."""
    p = math.exp(-e / 2)

    def tail(k):  # P(noise >= k) for discrete Laplace of scale 2 / e
        return p**k / (1 + p) if k > 0 else 1 - p ** (1 - k) / (1 + p)

    fires = never = 0.0
    for threshold_noise in range(-400, 401):
        mass = (1 - p) / (1 + p) * p ** abs(threshold_noise)
        passed = [tail(1 + threshold_noise - count) for count in counts]
        before = math.prod(1 - q for q in passed[:-1])
        fires += mass * before * passed[-1]
        never += mass * before * (1 - passed[-1])
    return fires, never


def transcripts(stream, *, eta, e, n_updates, batch, every=None, weight=lambda k: 1, window=None):
    """Law of (round, feature drawn) of the updates, m = 1; e pays each AboveThreshold, or `every` fixes the rounds.

    Interval k enters the scores weight(k) times, and leaves them `window` releases after it was added.
    """
    law = {}

    def errs(release, example):
        *x, y = example
        value = sum(x) if release is None else x[release]
        return (1 if value >= 0 else -1) != y

    def go(start, release, intervals, published, mass):
        if len(published) == n_updates:
            law[published] = law.get(published, 0) + mass
            return
        mistakes, counts = [], []
        for t in range(start, len(stream)):
            if stream[t] is not None and errs(release, stream[t]):
                mistakes.append(stream[t])
            counts.append(len(mistakes))
            fires, never = (float((t + 1) % every == 0), 1.0) if every else halts(tuple(counts), e)
            if fires:
                used = mistakes if batch == "all" else mistakes[:batch]
                moved = [weight(len(published)) * sum(z[2] * z[j] for z in used) for j in range(2)]
                after = [*intervals, moved][-(window or n_updates) :]
                weights = [math.exp(eta * sum(interval)) for interval in zip(*after, strict=True)]
                for j, w in enumerate(weights):
                    go(t + 1, j, after, (*published, (t, j)), mass * fires * w / sum(weights))
                if every:
                    return
        law[published] = law.get(published, 0) + mass * (never if counts else 1)

    go(0, None, [], (), 1.0)
    return law


@cache
def laws(symbols, rounds, **options):
    """Laws of all streams, as an array with one axis a round and the outcomes last."""
    every = [transcripts(stream, **options) for stream in itertools.product(symbols, repeat=rounds)]
    outcomes = sorted(set().union(*every))
    table = np.array([[law.get(outcome, 0.0) for outcome in outcomes] for law in every])
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    return table.reshape(*[len(symbols)] * rounds, len(outcomes))


def neighbours(table, neighbors):
    """(P, Q) for all streams that differ in one round; the last symbol is the blank round."""
    for axis in range(table.ndim - 1):
        moved = np.moveaxis(table, axis, 0)
        for a, b in itertools.combinations(range(len(moved)), 2):
            if (b == len(moved) - 1) == (neighbors == "add-remove"):
                yield moved[a], moved[b]
                yield moved[b], moved[a]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("batch", ["all", 1])
@pytest.mark.parametrize(("eta", "e"), [(0.0, 1.0), (0.1, 0.3), (0.5, 0.5)])
def test_no_pair_of_neighbouring_streams_exceeds_the_claim(eta, e, batch, neighbors):
    options = {"neighbors": neighbors, "score_range": winnow_range(neighbors, batch=batch)}
    table = laws((*EXAMPLES, None), 3, eta=eta, e=e, n_updates=2, batch=batch)
    pairs = list(neighbours(table, neighbors))
    worst = max(np.log(P / Q, where=Q > 0, out=np.zeros_like(P)).max() for P, Q in pairs)
    # One AboveThreshold, not two, although both run: with eta = 0 nothing else can tell neighbours apart.
    assert worst <= e + 2 * eta * float(options["score_range"]) + 1e-9
    assert worst >= 0.3 * e
    for delta in (0.2, 0.05, 1e-2, 1e-4):
        claim = winnow_epsilon(eta, delta, n_updates=2, n_draws=1, threshold_epsilon=e, **options)
        measured = max(np.maximum(P - math.exp(claim) * Q, 0).sum(axis=-1).max() for P, Q in pairs)
        assert measured <= delta


SCHEMES = {
    "rising weights": (2, {"n_updates": 2, "weight": lambda k: winnow_weight(k, 2) / WEIGHT_GRID}),
    "a window of one": (1, {"n_updates": 3, "window": 1}),
    "a window of two": (2, {"n_updates": 3, "window": 2}),
}


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("eta", "e"), [(0.5, 0.5), (0.7, None)])
def test_weights_and_windows_keep_the_claim_of_so_many_releases(eta, e, scheme, neighbors):
    K, run = SCHEMES[scheme]
    schedule = {"e": e} if e else {"e": 0, "every": 1}
    table, width = laws((*EXAMPLES, None), 3, eta=eta, batch="all", **schedule, **run), winnow_range(neighbors)
    pairs = list(neighbours(table, neighbors))
    worst = max(np.log(P / Q, where=Q > 0, out=np.zeros_like(P)).max() for P, Q in pairs)
    assert 0.3 * K * eta * width <= worst <= (e or 0) + K * eta * width + 1e-9
    options = {"n_updates": K, "n_draws": 1, "threshold_epsilon": e or 0, "neighbors": neighbors, "score_range": width}
    for delta in (0.2, 0.05, 1e-2, 1e-4):
        claim = winnow_epsilon(eta, delta, **options)
        measured = max(np.maximum(P - math.exp(claim) * Q, 0).sum(axis=-1).max() for P, Q in pairs)
        assert measured <= delta


@pytest.mark.parametrize("K", [1, 2, 7, 20, 25, 300, 10**6])
def test_rising_weights_are_the_largest_that_cost_no_more_than_equal_ones(K):
    for k in {*range(min(K, 300)), K // 2, K - 2, K - 1} - {-1}:
        weight = winnow_weight(k, K)
        assert weight**2 * (K - k) <= WEIGHT_GRID**2 * K < (weight + 1) ** 2 * (K - k)
    assert winnow_weight(0, K) == WEIGHT_GRID


def test_rising_weights_gain_what_the_theorem_says():
    signal = np.cumsum([winnow_weight(k, 20) / WEIGHT_GRID for k in range(20)])
    assert signal[-1] / 20 == pytest.approx(1.70, abs=0.005)
    assert signal.sum() / np.arange(21).sum() == pytest.approx(1.31, abs=0.005)


@pytest.mark.parametrize(
    ("neighbors", "batch", "width"), [("add-remove", "all", 2), ("add-remove", 1, 4), ("replace", 1, 4)]
)
def test_the_first_mistake_alone_costs_the_range_of_replacement(neighbors, batch, width):
    eta = 0.3
    table = laws((*EXAMPLES, None), 2, eta=eta, e=0.0, n_updates=1, batch=batch, every=2)
    seen = max(np.ptp(np.log(P) - np.log(Q), axis=-1).max() for P, Q in neighbours(table, neighbors))
    assert seen == pytest.approx(eta * width, rel=1e-9)
    assert winnow_range(neighbors, batch=batch) == width


@pytest.mark.parametrize(("neighbors", "width"), [("replace", 4), ("add-remove", 2)])
def test_the_total_is_that_of_the_theory(neighbors, width):
    draw = random.Random(0)
    for _ in range(50):
        eta, e, K, m = 10 ** draw.uniform(-6, -1), draw.choice([0, 0.05]), draw.randint(1, 50), draw.randint(1, 500)
        run = {"n_updates": K, "n_draws": m, "neighbors": neighbors, "score_range": width}
        rho = winnow_rho(eta, threshold_epsilon=e, threshold_runs=K, **run)
        assert rho == pytest.approx((eta * width) ** 2 * m * K / 8 + K * e**2 / 2, rel=1e-9)
        for delta in (1e-2, 1e-6, 1e-12):
            converted = zcdp_epsilon((eta * width) ** 2 * m * K / 8, delta)
            assert winnow_epsilon(eta, delta, **run) == pytest.approx(converted, rel=1e-9)
            joint = winnow_epsilon(eta, delta, threshold_epsilon=e, threshold_runs=K, **run)
            assert joint <= min(zcdp_epsilon(rho, delta), converted + K * e) * (1 + 1e-12)
            assert winnow_epsilon(eta, delta, threshold_epsilon=e, **run) <= joint


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_paper_s_parameters_are_private(epsilon, delta):
    log = math.log(2 / delta)
    for K, m in itertools.product((1, 20, 1_000), (1, 200, 5_000)):
        eta, e = epsilon / (8 * math.sqrt(2 * m * K * log)), epsilon / (4 * math.sqrt(2 * K * log))
        threshold = e * math.sqrt(2 * K * log) + K * e**2
        for neighbors, batch, width in (("replace", 1, 4), ("add-remove", 1, 4), ("add-remove", "all", 2)):
            total = width * eta * math.sqrt(2 * m * K * log) + m * K * (width * eta) ** 2 + threshold
            assert total < epsilon
            options = {"neighbors": neighbors, "score_range": winnow_range(neighbors, batch=batch)}
            for runs in (1, K):
                run = {"n_updates": K, "n_draws": m, "threshold_epsilon": e, "threshold_runs": runs}
                assert winnow_epsilon(eta, delta, **run, **options) < total


def test_the_learning_rate_fits_and_a_larger_one_does_not():
    draw = random.Random(0)
    for _ in range(40):
        epsilon, delta = 10 ** draw.uniform(-3, 1), 10 ** draw.uniform(-12, -2)
        run = {"n_updates": draw.randint(1, 100), "n_draws": draw.randint(1, 1_000)}
        run |= {
            "threshold_runs": draw.choice([1, run["n_updates"]]),
            "neighbors": draw.choice(["replace", "add-remove"]),
        }
        run |= {"score_range": draw.choice([None, Fraction(1, 3), 2])}
        eta, e = winnow_learning_rate(epsilon, delta, threshold_share=draw.choice([0, 0.5, 0.99]), **run)
        assert winnow_epsilon(eta, delta, threshold_epsilon=e, **run) <= epsilon
        assert winnow_epsilon(eta * (1 + 1e-9), delta, threshold_epsilon=e, **run) > epsilon


def test_a_fixed_schedule_spends_nothing_on_thresholds():
    run = {"n_updates": 10, "n_draws": 200}
    fixed, nothing = winnow_learning_rate(1, 1e-6, threshold_share=0, **run)
    half, e = winnow_learning_rate(1, 1e-6, **run)
    assert nothing == 0
    assert e > 0.1
    assert fixed / math.sqrt(2) < half < fixed


def test_no_learning_costs_nothing():
    assert winnow_epsilon(0, 1e-6, n_updates=3, n_draws=3) == 0
    assert winnow_epsilon(0, 1e-12, n_updates=3, n_draws=3, threshold_epsilon=0.25) <= 0.25 * (1 + 1e-12)


RUN = {"n_updates": 3, "n_draws": 4}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: winnow_weight(3, 3), r"interval must lie in \[0, n_updates\), here \[0, 3\), got 3"),
        (lambda: winnow_weight(-1, 3), "interval must be an integer >= 0, got -1"),
        (lambda: winnow_range("swap"), 'neighbors must be "replace" or "add-remove", got \'swap\''),
        (lambda: winnow_range(feature_range=(1, 0)), r"feature_range must be .* the lower first, got \(1, 0\)"),
        (lambda: winnow_range(feature_range=(0, math.inf)), "feature_range must be two finite numbers"),
        (lambda: winnow_range(feature_range=1), "feature_range must be"),
        (lambda: winnow_range(negations="both"), "negations must be False, True or \"complement\", got 'both'"),
        (lambda: winnow_range(batch=0), 'batch must be "all" or an integer >= 1, got 0'),
        (lambda: winnow_epsilon(-1, 1e-6, **RUN), "learning_rate must be a finite number >= 0, got -1"),
        (lambda: winnow_epsilon(0.1, 0, **RUN), "delta must be at least 1e-300 and below 1, got 0"),
        (lambda: winnow_epsilon(0.1, 1e-6, n_updates=0, n_draws=1), "n_updates must be an integer >= 1, got 0"),
        (lambda: winnow_epsilon(0.1, 1e-6, n_updates=1, n_draws=2.5), "n_draws must be an integer >= 1, got 2.5"),
        (lambda: winnow_epsilon(0.1, 1e-6, **RUN, threshold_epsilon=-1), "threshold_epsilon must be .* got -1"),
        (lambda: winnow_epsilon(0.1, 1e-6, **RUN, score_range=0), "score_range must be .* got 0"),
        (lambda: winnow_rho(0.1, **RUN, threshold_runs=0), "threshold_runs must be an integer >= 1, got 0"),
        (lambda: winnow_learning_rate(0, 1e-6, **RUN), "epsilon must be a finite number > 0, got 0"),
        (lambda: winnow_learning_rate(1, 1e-6, **RUN, threshold_share=1), "threshold_share must be .* got 1"),
    ],
)
def test_the_accountant_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()
