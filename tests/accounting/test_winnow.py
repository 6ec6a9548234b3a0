import itertools
import math
import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpfast.accounting import (
    batched_plan,
    batched_update_bound,
    decision_list_margin,
    winnow_epsilon,
    winnow_learning_rate,
    winnow_paper,
    winnow_range,
    winnow_rho,
    winnow_update_bound,
    zcdp_epsilon,
)

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


def transcripts(stream, *, eta, e, n_updates, batch, every=None):
    """Law of (round, feature drawn) of the updates, m = 1; e pays each AboveThreshold, or `every` fixes the rounds."""
    law = {}

    def errs(release, example):
        *x, y = example
        value = sum(x) if release is None else x[release]
        return (1 if value >= 0 else -1) != y

    def go(start, release, scores, published, mass):
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
                after = [s + sum(z[2] * z[j] for z in used) for j, s in enumerate(scores)]
                weights = [math.exp(eta * s) for s in after]
                for j, w in enumerate(weights):
                    go(t + 1, j, after, (*published, (t, j)), mass * fires * w / sum(weights))
                if every:
                    return
        law[published] = law.get(published, 0) + mass * (never if counts else 1)

    go(0, None, (0, 0), (), 1.0)
    return law


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


def most_updates(d, confidence, eta, batch, rng):
    """Updates of ConfidentWinnow on a majority of three among d features, examples chosen to be used."""
    scores, updates = np.zeros(d), 0
    while True:
        w = np.exp(eta * (scores - scores.max()))
        w /= w.sum()
        x = rng.choice([-1, 1], size=(4_000, d))
        y = np.where(x[:, :3].sum(axis=1) > 0, 1, -1)
        used = np.flatnonzero(y * (x @ w) <= confidence / 3)[:batch]
        if len(used) < batch:
            return updates
        scores += y[used] @ x[used]
        updates += 1


@pytest.mark.parametrize(("confidence", "batch"), [(0.0, 1), (0.5, 1), (0.5, 20)])
def test_winnow_keeps_the_update_bound(confidence, batch, rng):
    step = (1 - confidence) / 3
    bound = batched_update_bound(30, 1 / 3, confidence, step / batch, batch)
    assert bound == winnow_update_bound(30, 1 / 3, confidence, step) == math.floor(2 * math.log(30) / step**2)
    assert 0 < most_updates(30, confidence, step / batch, batch, rng) <= bound


def test_the_paper_s_system_is_solved():
    horizon, d, rho, c, beta = 10**6, 1_000, 0.25, 0.5, 0.1
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-3), (8.0, 1e-9)):
        plan = winnow_paper(epsilon, delta, horizon=horizon, dimension=d, margin=rho, confidence=c, failure=beta)
        K, m, eta = plan.n_updates, plan.n_draws, plan.learning_rate
        assert eta == pytest.approx(epsilon / (8 * math.sqrt(2 * m * K * math.log(2 / delta))), rel=1e-9)
        assert winnow_update_bound(d, rho, c, eta) <= K <= winnow_update_bound(d, rho, c, eta) * (1 + 1e-3) + 1
        assert 2 * K * horizon * math.exp(-m * (c * rho) ** 2 / 2) <= beta * (1 + 1e-9)
        spent = {"n_updates": K, "n_draws": m, "threshold_epsilon": plan.threshold_epsilon, "threshold_runs": K}
        assert winnow_epsilon(eta, delta, **spent) < epsilon


def test_a_vacuous_promise_says_so_and_how_long_a_stream_it_needs():
    problem = {"dimension": 1_000, "margin": 1 / 3}
    paper = winnow_paper(1, 1e-6, horizon=10**6, **problem)
    batched = batched_plan(1, 1e-6, horizon=10**6, **problem)
    assert paper.vacuous
    assert paper.mistakes > 1e12
    assert batched.mistakes < 1e-10 * paper.mistakes
    for planner, plan in ((winnow_paper, paper), (batched_plan, batched)):
        enough = planner(1, 1e-6, horizon=plan.horizon_needed, **problem)
        assert not enough.vacuous
        assert enough.mistakes < plan.horizon_needed
        assert planner(1, 1e-6, horizon=plan.horizon_needed - 1, **problem).vacuous


@pytest.mark.parametrize("share", [0, 0.5])
def test_the_batched_plan_is_private_and_keeps_its_bounds(share):
    problem = {"horizon": 10**6, "dimension": 40_000, "margin": 1 / 3}
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9)):
        plan = batched_plan(epsilon, delta, threshold_share=share, **problem)
        run = {"n_updates": plan.n_updates, "n_draws": plan.n_draws, "threshold_epsilon": plan.threshold_epsilon}
        assert winnow_epsilon(plan.learning_rate, delta, **run) <= epsilon
        assert winnow_epsilon(plan.learning_rate * 1.01, delta, **run) > epsilon
        assert batched_update_bound(40_000, 1 / 3, 1 / 3, plan.learning_rate, plan.batch) == plan.n_updates
        assert plan.mistakes == plan.n_updates * (2 * plan.threshold - plan.batch)
        assert (plan.threshold == plan.batch) == (share == 0)


def test_the_defaults_of_the_batched_plan_are_the_least_mistakes_without_thresholds():
    problem = {"horizon": 10**6, "dimension": 10**6, "margin": 0.1, "threshold_share": 0}
    least = batched_plan(1, 1e-6, **problem).mistakes
    for change in ({"step": 0.4}, {"step": 0.6}, {"confidence": 0.25}, {"confidence": 0.45}):
        assert least < batched_plan(1, 1e-6, **problem, **change).mistakes


def test_the_batched_promise_grows_as_the_theory_says():
    problem = {"horizon": 10**9, "dimension": 10**5, "threshold_share": 0}
    base = batched_plan(1, 1e-6, margin=0.1, **problem).mistakes
    assert batched_plan(0.1, 1e-6, margin=0.1, **problem).mistakes / base == pytest.approx(10, rel=0.2)
    assert batched_plan(1, 1e-6, margin=0.05, **problem).mistakes / base == pytest.approx(8, rel=0.2)


def first_label(labels, literals):
    return next(b for b, literal in zip(labels, (*literals, True), strict=True) if literal)


@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1)])
@pytest.mark.parametrize("length", [1, 2, 4, 7])
def test_the_halfspace_of_a_decision_list_agrees_everywhere_with_its_margin(length, feature_range):
    for labels in itertools.product((-1, 1), repeat=length):
        half = decision_list_margin(labels, feature_range=feature_range)
        values = []
        for literals in itertools.product((False, True), repeat=length - 1):
            features = [feature_range[literal] for literal in literals]
            value = half.intercept + sum(w * x for w, x in zip(half.weights, features, strict=True))
            values.append(value * first_label(labels, literals))
        assert half.norm == abs(half.intercept) + sum(abs(w) for w in half.weights)
        assert half.margin == Fraction(min(values), half.norm) > 0


def test_a_variable_used_twice_keeps_the_margin():
    for labels in itertools.product((-1, 1), repeat=4):
        half = decision_list_margin(labels)
        for x1, x2 in itertools.product((-1, 1), repeat=2):
            literals = (x1, x2, -x1)
            value = half.intercept + sum(w * u for w, u in zip(half.weights, literals, strict=True))
            sign = first_label(labels, [u > 0 for u in literals])
            assert Fraction(value * sign, half.norm) >= half.margin


@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1)])
def test_the_margin_is_of_the_order_of_one_over_length_to_the_alternations(feature_range):
    for D, size in itertools.product(range(5), (1, 2, 10, 100)):
        labels = [(-1) ** group for group in range(D) for _ in range(size)] + [(-1) ** D] * 3
        half = decision_list_margin(labels, feature_range=feature_range)
        assert half.alternations == D
        assert half.margin >= Fraction(1, 2 * (size + 1) ** D - 1)
        if feature_range == (0, 1):
            assert half.margin <= Fraction(1, 2 * size**D) or D == 0


def test_a_disjunction_has_the_textbook_margin():
    assert decision_list_margin([1] * 5 + [-1], feature_range=(0, 1)).margin == Fraction(1, 11)
    assert decision_list_margin([1] * 5 + [-1]) == ((2,) * 5, 8, 18, Fraction(1, 9), 1)
    assert decision_list_margin([-1]).margin == 1


RUN = {"n_updates": 3, "n_draws": 4}
PLAN = {"horizon": 100, "dimension": 10, "margin": 0.5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
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
        (lambda: winnow_update_bound(10, 0, 0.5, 0.1), "margin must be from 1e-09 to 1, got 0"),
        (lambda: winnow_update_bound(10, 0.5, 1, 0.1), "confidence must be at least 0 and below 1, got 1"),
        (lambda: winnow_update_bound(10, 0.5, 0.5, 0.5), r"below 2 \* .* = 0.5, got 0.5"),
        (
            lambda: batched_update_bound(10, 0.5, 0.5, 0.1, 3),
            "learning_rate \\* batch must be at most .* = 0.25, got 0.3",
        ),
        (lambda: winnow_paper(30, 1e-6, **PLAN), r"epsilon must be below 1.6 \* ln\(2 / delta\) = 23.2"),
        (lambda: winnow_paper(1, 1e-6, **PLAN, confidence=0), "confidence must be from 1e-09 to 1 - 1e-09, got 0"),
        (lambda: winnow_paper(1, 1e-6, **{**PLAN, "dimension": 1}), "dimension must be an integer >= 2, got 1"),
        (lambda: batched_plan(0, 1e-6, **PLAN), "epsilon must be a finite number, at least 1e-09, got 0"),
        (lambda: batched_plan(1, 1e-6, **PLAN, step=1.5), "step must be from 1e-09 to 1, got 1.5"),
        (lambda: batched_plan(1, 1e-6, **PLAN, failure=1), "failure must be from 1e-09 to 1 - 1e-09, got 1"),
        (lambda: decision_list_margin([]), r"labels must be a sequence of -1 and 1.*got \[\]"),
        (lambda: decision_list_margin([0, 1]), r"labels must be .*got \[0, 1\]"),
        (lambda: decision_list_margin([1], feature_range=(0, 2)), r"must be \(-1, 1\) or \(0, 1\) here, got \(0, 2\)"),
    ],
)
def test_winnow_accounting_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()
