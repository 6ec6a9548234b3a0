import itertools
import math
from collections import Counter

import numpy as np
import pytest
from reference import bun_fang as twin
from reference.chance import law_of
from scipy import stats

from dpfast import DecisionListClassifier
from dpfast.accounting import cover_exponent, decision_list_paper, decision_list_plan

FEATURES = [lambda x: x[0], lambda x: x[1]]


def lists(S, features, exponent):
    """The law of lists of (feature, label), cut after the constant true."""
    law = Counter()
    for rules, probability in law_of(lambda chance: twin.greedy_cover(chance, S, features, exponent)).items():
        law[rules[: [f for f, _ in rules].index(None) + 1]] += probability
    return law


def answer(rules, x):
    return next(b for f, b in rules if f is None or f(x))


def test_a_list_is_drawn_with_probability_at_most_e_to_its_errors_where_some_list_makes_none(rng):
    rows = list(itertools.product((0, 1), repeat=2))
    for target in itertools.product((0, 1), repeat=3):
        S = [(x, target[0] if x[1] else target[1] if x[0] else target[2]) for x in rows for _ in range(rng.integers(4))]
        law = lists(S, FEATURES, 0.7)
        assert len(law) <= 2 * 2**3 * math.exp(0.5)  # M! 2^(M+1) e^(1/2)
        for rules, probability in law.items():
            wrong = sum(answer(rules, x) != b for x, b in S)
            assert probability <= math.exp(-0.7 * wrong) * (1 + 1e-9)


def test_a_plan_for_lists_keeps_its_promise_for_every_probability_of_a_row():
    """One condition, and the rows that it holds for have label 1: by the exact law."""
    alpha, beta = 0.2, 0.1
    plan = decision_list_plan(12.0, 0.01, 1, alpha=alpha, beta=beta)
    laws = [lists([((1,), 1)] * k + [((0,), 0)] * (plan.n - k), FEATURES[:1], plan.exponent) for k in range(plan.n + 1)]
    for p in np.linspace(0.05, 0.95, 19):
        errs = lambda rules, p=p: p * (answer(rules, (1,)) != 1) + (1 - p) * (answer(rules, (0,)) != 0)  # noqa: E731
        failed = sum(
            stats.binom.pmf(k, plan.n, p) * sum(mass for rules, mass in law.items() if errs(rules) > alpha)
            for k, law in enumerate(laws)
        )
        assert failed <= beta


def test_a_fit_of_as_many_rows_as_the_plan_asks_for_errs_on_few_new_ones(rng):
    plan = decision_list_plan(8.0, 1e-3, 6, alpha=0.1, beta=0.01)
    X = rng.integers(0, 2, (plan.n + 20_000, 6))
    y = np.where(X[:, 4], 1, np.where(X[:, 1], 0, X[:, 2]))
    clf = DecisionListClassifier(
        8.0, 1e-3, coverage_weight=0, default_prior=1, max_rules=None, negations=False, rule_counts=0, random_state=0
    )
    assert clf.fit(X[: plan.n], y[: plan.n], classes=[0, 1]).score(X[plan.n :], y[plan.n :]) >= 0.9


def test_the_plan_says_what_error_rows_are_enough_for():
    for alpha in (0.1, 0.02):
        plan = decision_list_plan(1.0, 1e-6, 30, alpha=alpha, beta=0.05)
        assert plan.error(plan.n, 0.05) <= alpha * (1 + 1e-9)
        assert plan.error(plan.n - 1, 0.05) > alpha
    assert plan.error(50) > 1


# ---- flipped labels --------------------------------------------------------------------------------------------------


def test_a_list_is_drawn_with_probability_at_most_e_to_its_errors_less_the_flipped_rows(rng):
    rows, t = list(itertools.product((0, 1), repeat=2)), 0.7
    for target in itertools.product((0, 1), repeat=3):
        clean = [(x, target[0] if x[1] else target[1] if x[0] else target[2]) for x in rows for _ in range(3)]
        flips = rng.random(len(clean)) < rng.choice([0.1, 0.3, 0.7])
        S = [(x, b ^ int(flip)) for (x, b), flip in zip(clean, flips, strict=True)]
        for rules, probability in lists(S, FEATURES, t).items():
            wrong = sum(answer(rules, x) != b for x, b in S)
            assert probability <= math.exp(-t * wrong + 3 * t * flips.sum()) * (1 + 1e-9)


def test_the_mean_of_a_row_is_what_the_claim_for_flipped_labels_says_and_least_without_flips():
    for M, st, eta in itertools.product((1, 5, 20), (0.01, 0.1, 1.0), (0.0, 0.01, 0.1)):
        factor = lambda errs, flipped, M=M, st=st: math.exp(-st * (errs ^ flipped) + st * (M + 1) * flipped)  # noqa: E731
        means = [[(1 - r) * factor(errs, 0) + r * factor(errs, 1) for r in (eta / 2, eta)] for errs in (0, 1)]
        assert all(less <= most for less, most in means)
        for a in (0.0, 0.05, 0.3):
            says = 1 + eta * math.expm1(st * M) + a * math.expm1(-st) * (1 - eta - eta * math.exp(st * (M + 1)))
            assert (1 - a) * means[0][1] + a * means[1][1] == pytest.approx(says, rel=1e-12)


def test_a_plan_for_flipped_labels_keeps_its_promise_for_every_probability_of_a_row():
    """As above, by the exact law: each label is flipped with its own rate, at most eta."""
    alpha, beta, eta = 0.45, 0.45, 0.02
    plan = decision_list_plan(12.0, 0.05, 1, alpha=alpha, beta=beta, noise=eta)
    cells = [((1,), 1), ((1,), 0), ((0,), 0), ((0,), 1)]
    laws = {
        counts: lists(
            [cell for cell, k in zip(cells, counts, strict=True) for _ in range(k)], FEATURES[:1], plan.exponent
        )
        for counts in itertools.product(range(plan.n + 1), repeat=4)
        if sum(counts) == plan.n
    }
    assert len(laws) > 100
    for p, other in itertools.product((0.1, 0.46, 0.7), (0.0, 0.02)):
        errs = lambda rules, p=p: p * (answer(rules, (1,)) != 1) + (1 - p) * (answer(rules, (0,)) != 0)  # noqa: E731
        chances = [p * (1 - eta), p * eta, (1 - p) * (1 - other), (1 - p) * other]
        failed = sum(
            stats.multinomial.pmf(counts, plan.n, chances)
            * sum(mass for rules, mass in law.items() if errs(rules) > alpha)
            for counts, law in laws.items()
        )
        assert failed <= beta


def test_flipped_labels_cost_rows_up_to_the_limit_and_past_it_there_is_no_plan():
    limit = 0.1 / (8 + 0.2)
    rows = [decision_list_plan(1.0, 1e-6, 8, noise=share * limit).n for share in (0, 1e-9, 0.2, 0.6, 0.99)]
    assert rows[0] <= rows[1] < 1.01 * rows[0] < rows[2] < rows[3] < rows[4]
    plan = decision_list_plan(1.0, 1e-6, 8, noise=limit / 2)
    assert plan.error(plan.n) <= 0.1 * (1 + 1e-9) < plan.error(plan.n - 1) * (1 + 1e-6)
    with pytest.raises(
        ValueError, match=r"noise must be below alpha / \(n_conditions \+ 2 alpha\) = 0.0122, got 0.0123"
    ):
        decision_list_plan(1.0, 1e-6, 8, noise=0.0123)
    with pytest.raises(ValueError, match="noise must be at least 0 and below 1/2"):
        decision_list_plan(1.0, 1e-6, 8, noise=0.5)


def test_the_plan_lies_between_the_lower_bound_and_the_paper():
    for epsilon, M in ((0.1, 20), (1.0, 72), (5.0, 500)):
        plan, paper = decision_list_plan(epsilon, 1e-6, M), decision_list_paper(epsilon, 1e-6, M)
        assert plan.lower_bound < plan.n < paper.n / 10
    wide = decision_list_plan(1e3, 1e-6, 72)
    assert wide.n < 3000 < decision_list_paper(1.0, 1e-6, 72).sample_rows / 100  # without privacy: 305,128 are printed


def test_the_papers_rows_are_those_of_theorem_3_5():
    m, alpha, beta, epsilon, delta = 40, 0.05, 0.01, 0.7, 1e-5
    eps_hat = epsilon / (2 * (math.log(1 / delta) + 1.5))
    paper = decision_list_paper(epsilon, delta, m, alpha=alpha, beta=beta)
    assert paper.privacy_rows == pytest.approx(8 * m * math.log(2 * m / math.sqrt(beta)) / (eps_hat * alpha), rel=1e-6)
    statistics = 64 / alpha * ((m + 1) * math.log(64 / alpha) + math.log(16 / beta))
    assert paper.sample_rows == pytest.approx(statistics, rel=1e-6)
    assert paper.exponent == float(cover_exponent(epsilon, delta, accounting="paper"))


@pytest.mark.parametrize("plan", [decision_list_plan, decision_list_paper])
def test_a_plan_for_lists_refuses_what_will_not_do(plan):
    with pytest.raises(ValueError, match="n_conditions must be an integer >= 1, got 0"):
        plan(1.0, 1e-6, 0)
    with pytest.raises(ValueError, match="alpha must be from 1e-09 to"):
        plan(1.0, 1e-6, 3, alpha=0)
    with pytest.raises(ValueError, match="neighbors must be"):
        plan(1.0, 1e-6, 3, neighbors="swap")
