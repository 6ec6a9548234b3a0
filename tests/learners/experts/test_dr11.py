"""[DR11], chapter 11, by the numbers of its algorithms and theorems, against twins that read like its listings."""

import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_follows
from reference import experts as twin
from reference.chance import law_of
from scipy import stats
from sklearn.utils.estimator_checks import check_estimator

from dpfast import BitMatrix, FiniteClassLearner, LinearLearner, LinearMinimizer, RandomizedWeightedMajority
from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    experts_learning_rate,
    experts_paper,
    experts_regret,
    finite_class_plan,
    linear_excess,
)
from dpfast.learners.experts import playing


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(LinearMinimizer(random_state=0), on_skip=None)


def assert_same_law(law, draw, runs):
    seen = Counter(draw() for _ in range(runs))
    assert set(seen) <= set(law)
    assert_follows([seen[outcome] for outcome in law], list(law.values()))


# ---- section 11.2 ----------------------------------------------------------------------------------------------------


def test_algorithms_15_and_16_are_one_law_and_the_learners_is_it(rng):
    losses = [[0.0, 1.0, 0.5], [0.25, 1.0, 0.0], [1.0, 0.0, 0.5], [0.5, 0.75, 1.0]]
    eta = RandomizedWeightedMajority(30.0, 1e-3, horizon=4, n_experts=3).learning_rate_
    law = law_of(lambda chance: twin.weighted_majority(chance, losses, eta))
    other = law_of(lambda chance: twin.weighted_majority_rephrased(chance, losses, eta))
    assert all(math.isclose(law[actions], other[actions], rel_tol=1e-9) for actions in law)

    def draw():
        learner = RandomizedWeightedMajority(30.0, 1e-3, horizon=4, random_state=rng)
        return tuple(learner.play(np.array(losses)).tolist())

    assert_same_law(law, draw, 1000)


@pytest.mark.parametrize("signed", [False, True])
def test_theorems_11_1_and_11_4_hold_for_every_sequence_of_losses_by_enumeration(signed):
    """The exact law of the regret, for losses at both ends of their range, in expectation and in its tail."""
    rounds, ends = 5, ([-1.0, 1.0] if signed else [0.0, 1.0])
    for eta in (0.1, 0.7):
        for code in range(4**rounds):
            losses = [[ends[code >> 2 * t & 1], ends[code >> 2 * t + 1 & 1]] for t in range(rounds)]
            best = min(map(sum, zip(*losses, strict=True)))
            p, law, totals = 1.0, {0.0: 1.0}, [0.0, 0.0]
            for loss in losses:  # the actions are independent given all losses
                p = 1 / (1 + math.exp(eta * (totals[0] - totals[1])))
                new = Counter()
                for lost, mass in law.items():
                    new[lost + loss[0]] += mass * p
                    new[lost + loss[1]] += mass * (1 - p)
                law, totals = new, [a + b for a, b in zip(totals, loss, strict=True)]
            assert math.fsum(lost * mass for lost, mass in law.items()) - best <= experts_regret(eta, 2, rounds) + 1e-12
            for failure in (0.5, 0.1, 0.01):
                bound = experts_regret(eta, 2, rounds, failure=failure, signed=signed)
                assert math.fsum(mass for lost, mass in law.items() if lost - best > bound + 1e-12) <= failure


def test_theorem_11_2_and_11_5_are_false_where_epsilon_is_large_against_ln_1_delta():
    """Two experts; round 1 is replaced by its opposite, and all other losses are 0: T - 1 draws of two laws."""

    def needed(epsilon, delta, loss_range, T=1000):
        eta, draws = epsilon / math.sqrt(32 * T * math.log(1 / delta)), np.arange(T)
        chance = 1 / (1 + math.exp(-eta * loss_range))
        p, q = (stats.binom.pmf(draws, T - 1, each) for each in (chance, 1 - chance))
        return np.maximum(p - math.exp(epsilon) * q, 0).sum()

    assert needed(60, 0.5, 1) > 0.93 > 0.5
    assert needed(60, 0.5, 2) > 0.99
    assert 0.5 > needed(10, 0.5, 2) > 0.32
    assert needed(15, 0.5, 2) > 0.5
    for loss_range in (1, 2):
        assert needed(0.999, 0.5, loss_range) < 0.5  # Corollary 3.21 of the book is for epsilon < 1
    with pytest.raises(ValueError, match="the paper's learning rate"):
        experts_learning_rate(60, 0.5, horizon=1000, calibration="paper")


def test_theorem_11_3_its_second_line_is_above_the_first_for_epsilon_squared_up_to_32_ln_1_delta_ln_k():
    """One expert has regret 0, as the second line says; regret passes that line at epsilon = 20 and delta = 1/2."""

    def lines(epsilon, delta, k, T):
        root = math.sqrt(32 * T * math.log(1 / delta))
        return epsilon / root + root * math.log(k) / (epsilon * T), 2 * root * math.log(k) / (epsilon * T)

    assert lines(1.0, 1e-3, 1, 1000)[0] > lines(1.0, 1e-3, 1, 1000)[1] == 0  # regret of one expert
    for delta, k in ((1e-3, 2), (0.5, 2), (1e-9, 100)):
        most = math.sqrt(32 * math.log(1 / delta) * math.log(k))
        assert most > 3.9
        assert lines(0.999 * most, delta, k, 1000)[0] < lines(0.999 * most, delta, k, 1000)[1]
        assert lines(1.001 * most, delta, k, 1000)[0] > lines(1.001 * most, delta, k, 1000)[1]
    regret = 0.5  # of two experts in one round, which lose 0 and 1
    assert lines(20.0, 0.5, 2, 1)[1] < regret < lines(20.0, 0.5, 2, 1)[0]


def test_theorem_11_4_as_printed_is_above_ours_whose_tail_serves_losses_of_both_signs_too():
    """For losses in [0, 1], those of section 11.2, sqrt(T ln(k/b)) is more than the tail that is needed."""
    paper = experts_paper(1.0, 1e-6, n_experts=10, horizon=10**6, failure=0.1)
    assert paper.learning_rate == experts_learning_rate(1.0, 1e-6, horizon=10**6, calibration="paper")
    assert paper.expected_regret == experts_regret(paper.learning_rate, 10, 10**6)
    first = math.sqrt(128 * math.log(1e6)) * math.log(10) / math.sqrt(10**6)
    assert paper.likely_regret == pytest.approx(10**6 * (first + math.sqrt(math.log(10 / 0.1) / 10**6)))
    ours = experts_regret(paper.learning_rate, 10, 10**6, failure=0.1)
    assert paper.expected_regret < ours < paper.likely_regret
    beta = 0.0005
    ours = experts_regret(1.0, 2, 200, failure=beta, signed=True) - experts_regret(1.0, 2, 200)
    assert stats.binom.sf(math.floor((200 + ours) / 2), 200, 0.5) <= beta  # 200 rounds of an honest coin, -1 or 1


@pytest.mark.parametrize("arguments", [{"failure": 0}, {"failure": 1}, {"failure": math.nan}])
def test_a_failure_that_is_no_probability_is_refused(arguments):
    with pytest.raises(ValueError, match="failure must be above 0 and below 1"):
        experts_regret(0.1, 2, 10, **arguments)
    with pytest.raises(ValueError, match="failure must be above 0 and below 1"):
        linear_excess(0.1, 2, 10, **arguments)
    with pytest.raises(ValueError, match="failure must be above 0 and below 1"):
        experts_paper(1.0, 1e-6, n_experts=2, horizon=10, **arguments)


# ---- section 11.3 ----------------------------------------------------------------------------------------------------


def test_algorithm_17_on_unlabelled_vectors_follows_the_law_of_its_twin(rng):
    S = [[1.0, -0.5, 0.25], [1.0, 0.0, -1.0], [0.75, -0.75, 0.5]]
    eta = LinearMinimizer(60.0, 1e-3, random_state=0).fit(S).learning_rate_
    law = law_of(lambda chance: twin.linear_learner(chance, S, eta))

    def draw(form=np.array, rng=rng):
        theta = LinearMinimizer(60.0, 1e-3, random_state=rng).fit(form(S)).theta_
        return tuple(np.rint(3 * theta).astype(int).tolist())

    assert_same_law(law, draw, 560)
    assert [draw(rng=seed) for seed in range(10)] == [draw(sp.csr_array, seed) for seed in range(10)]


def test_algorithm_17_reads_signs_and_every_level_gives_the_same_theta(each_isa, rng):
    bits = rng.random((300, 70)) < 0.5
    for X in (bits, BitMatrix(bits), np.where(bits, 1, -1), sp.csr_array(np.where(bits, 1.0, 0.0))):
        thetas = each_isa(lambda X=X: LinearMinimizer(5.0, random_state=1).fit(X).theta_.tolist())
        assert all(theta == thetas[0] for theta in thetas)
        assert sum(thetas[0]) == pytest.approx(1)


def test_the_names_of_the_columns_of_bits_are_kept(rng):
    bits = BitMatrix(rng.random((9, 2)) < 0.5, feature_names=["a", "b"])
    assert LinearMinimizer(random_state=1).fit(bits).feature_names_in_.tolist() == ["a", "b"]


def test_a_minimizer_costs_a_budget_what_its_draws_do():
    minimizer, learner = LinearMinimizer(random_state=1), LinearLearner(random_state=1)
    assert minimizer.fit(np.eye(4)).privacy_.cost == learner.fit(np.eye(4), [0, 1, 0, 1]).privacy_.cost != ()


def test_theorem_11_5_the_rate_is_for_losses_of_range_four(rng):
    X = rng.choice([-1, 1], (500, 4))
    tight = LinearMinimizer(random_state=0).fit(X)
    assert tight.learning_rate_ == experts_learning_rate(1.0, 1e-6, horizon=500, loss_range=4)
    assert str(tight.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 500 of 500 releases used")
    paper = LinearMinimizer(calibration="paper", random_state=0).fit(X)
    assert paper.learning_rate_ == 1 / math.sqrt(32 * 500 * math.log(1e6))


def test_theorem_11_6_holds_on_new_rows_more_often_than_it_claims(rng):
    mean, T, failures, runs = np.array([0.3, 0.1, -0.1, 0.3]), 400, 0, 120
    for _ in range(runs):
        X = np.where(rng.random((T, 4)) < (1 + mean) / 2, 1, -1)
        fitted = LinearMinimizer(20.0, 1e-3, random_state=rng).fit(X)
        failures += fitted.theta_ @ mean - mean.min() > fitted.excess(0.5)
    assert stats.binom.sf(failures - 1, runs, 0.5) > 1e-6
    printed = 0.1 / 2 + math.log(4) / (0.1 * T) + math.sqrt(10 * math.log(1 / 0.2) / T)
    assert linear_excess(0.1, 4, T, failure=0.2) == pytest.approx(printed)
    assert fitted.excess(0.5) == linear_excess(fitted.learning_rate_, 4, T, failure=0.5) + 2**-10
    assert fitted.excess(0.5) < 0.4 < mean.max() - mean.min() + 0.1


def test_a_linear_minimizer_refuses_before_it_charges():
    budget = Budget(2.0, 1e-5)
    for parameters, X, message in (
        ({"out_of_range": "error"}, [[2.0, 0.0]], "features must lie in"),
        ({}, np.empty((0, 3)), "horizon must be an integer >= 1, got 0"),
        ({"calibration": "loose"}, [[1.0]], "calibration must"),
        ({"epsilon": 0}, [[1.0]], "epsilon must"),
    ):
        with pytest.raises(ValueError, match=message):
            LinearMinimizer(**parameters, budget=budget).fit(X)
    with pytest.raises(ValueError, match='neighbors must be "replace"'):
        LinearMinimizer(neighbors="add-remove").fit([[1.0]])
    assert budget.spent == (0, 0)
    LinearMinimizer(2.0, budget=budget, random_state=0).fit([[1.0, 0.0]])
    with pytest.raises(BudgetExceeded):
        LinearMinimizer(2.0, budget=budget, random_state=0).fit([[1.0, 0.0]])


# ---- section 11.1 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_exponential_mechanism_of_section_11_1_follows_the_law_of_its_twin(neighbors, rng):
    hypotheses = [[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0]]
    examples = [(0, 0), (1, 1), (2, 1), (2, 0), (1, 1)]
    law = law_of(lambda chance: twin.private_erm(chance, hypotheses, examples, 1.5, neighbors))
    X, y = zip(*examples, strict=True)

    def draw():
        learner = FiniteClassLearner(1.5, hypotheses=hypotheses, neighbors=neighbors, random_state=rng)
        return learner.fit(list(X), list(y)).hypothesis_

    assert_same_law(law, draw, 400)


@pytest.mark.parametrize("realizable", [True, False])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_plan_for_a_finite_class_keeps_its_promise_exactly(realizable, neighbors):
    """One good hypothesis and k - 1 as bad as it takes to miss, all errors independent: the worst class, by the law."""
    k, alpha, beta, best = 8, 0.25, 0.2, 0.0 if realizable else 0.1
    plan = finite_class_plan(4.0, k, alpha=alpha, beta=beta, neighbors=neighbors, realizable=realizable)
    n, bad = plan.n, best + alpha + 1e-9
    W = np.arange(n + 1)
    rng = np.random.default_rng(0)
    good = rng.binomial(n, best, (20_000, 1))
    others = rng.binomial(n, bad, (20_000, k - 1))
    weights = np.exp(-plan.exponent * (np.hstack([good, others]) - good))
    missed = (1 - weights[:, 0] / weights.sum(axis=1)).mean()
    assert missed < beta
    assert plan.exponent == 4.0 / (2 if neighbors == "replace" else 1)
    if realizable:
        assert math.fsum(stats.binom.pmf(W, n, bad) * np.exp(-plan.exponent * W)) * k <= beta * (1 + 1e-9)
    assert plan.excess <= n


def test_a_plan_for_a_finite_class_grows_as_the_paper_says():
    small, large = finite_class_plan(1e-4, 1000), finite_class_plan(1e-5, 1000)
    assert 9 < large.n / small.n < 11  # ln k / (epsilon alpha)
    wide, narrow = finite_class_plan(50.0, 1000, alpha=0.02), finite_class_plan(50.0, 1000, alpha=0.01)
    assert 3.5 < narrow.n / wide.n < 4.1  # ln k / alpha^2
    assert finite_class_plan(1.0, 1000, realizable=True).n < finite_class_plan(1.0, 1000).n / 2
    for arguments in ({"alpha": 0}, {"beta": 1}, {"neighbors": "both"}):
        with pytest.raises(ValueError, match="must be"):
            finite_class_plan(1.0, 10, **arguments)


@pytest.mark.parametrize("stop", [0, 1, 4])
def test_an_interrupted_fit_states_the_excess_of_the_rounds_that_it_played(stop, monkeypatch, rng):
    play, parts = playing.play, []

    def interrupted(*arguments, **options):
        if len(parts) == stop:
            raise KeyboardInterrupt
        parts.append(play(*arguments, **options))
        return parts[-1]

    monkeypatch.setattr(playing, "BLOCK_BYTES", 10 * 4 * 3)  # ten rows of a block
    monkeypatch.setattr(playing, "play", interrupted)
    model = LinearMinimizer(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rng.uniform(-1, 1, (1000, 3)))
    if stop:
        assert model.excess(0.1) == linear_excess(model.learning_rate_, 3, 10 * stop, failure=0.1) + 2**-10
    else:
        with pytest.raises(ValueError, match="interrupted before its first draw"):
            model.excess(0.1)
