"""[BF] by the numbers of its algorithms and theorems, against twins that read like its listings."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from laws import assert_follows
from reference import bun_fang as twin
from reference.chance import hockey_stick, law_of
from scipy import stats

from dpfast import DecisionListClassifier, WinnowClassifier
from dpfast.accounting import cover_delta, cover_exponent, winnow_paper, winnow_range
from dpfast.mechanisms import exponential_cover

FEATURES = [lambda x: x[0], lambda x: x[1]]


def test_dp_greedy_cover_follows_the_law_of_its_listing(rng, monkeypatch):
    """All features and the constant true, in M + 1 rounds; rules after the constant true, never reached, left out."""
    X, y = [(1, 0), (1, 1), (0, 1), (0, 0), (1, 0)], [1, 0, 1, 0, 1]
    law = Counter()
    whole = law_of(lambda chance: twin.greedy_cover(chance, list(zip(X, y, strict=True)), FEATURES, 1.0))
    for rules, probability in whole.items():
        end = [f for f, _ in rules].index(None) + 1
        law[tuple((None if f is None else FEATURES.index(f), b) for f, b in rules[:end])] += probability
    monkeypatch.setattr("dpfast.learners.lists.plan.cover_exponent", lambda *_, **__: Fraction(1))
    settings = {"coverage_weight": 0, "default_prior": 1, "max_rules": None, "negations": False, "rule_counts": 0}

    def draw():
        clf = DecisionListClassifier(**settings, random_state=rng).fit(np.array(X), y, classes=[0, 1])
        return tuple((r.literals[0].feature if r.literals else None, r.label) for r in clf.rules_)

    seen = Counter(draw() for _ in range(450))
    assert set(seen) <= set(law)
    assert_follows([seen[rules] for rules in law], list(law.values()))


def test_emcover_with_scores_that_change_by_what_was_drawn_follows_its_listing(rng):
    S, H = [0, 1, 2, 3], [0, 1, 2]
    covers = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 0, 0]], bool)
    worth = lambda drawn: np.array([[1, -1, 0], [0, 1, 1], [0, -1, 0], [1, 0, 0]]) * (-1) ** len(drawn)  # noqa: E731
    score = lambda drawn: lambda S, h: sum(worth(drawn)[z, h] for z in S if covers[z, h])  # noqa: E731
    law = law_of(lambda chance: twin.em_cover(chance, S, H, lambda h, z: covers[z, h], score, 3, 0.6))
    draw = lambda: tuple(exponential_cover(covers, 0.6, rounds=3, worth=worth, bounds=(-1, 1), rng=rng))  # noqa: E731
    seen = Counter(draw() for _ in range(1200))
    assert_follows([seen[drawn] for drawn in law], list(law.values()))


@pytest.mark.parametrize("exponent", [0.1, 0.5])
def test_lemma_a_1_is_true_and_the_curve_below_it(exponent):
    """For one example more, in both directions; the paper's constants beside the curve's."""
    base = [((1, 0), 1), ((0, 1), 0)]
    laws = [
        law_of(lambda chance, S=S: twin.greedy_cover(chance, S, FEATURES, exponent))
        for S in [base, *([*base, ((a, b), label)] for a, b, label in product((0, 1), repeat=3))]
    ]
    for delta in (0.3, 0.05, 1e-3):
        epsilon = 2 * exponent * (math.log(1 / delta) + 1.5)
        for law in laws[1:]:
            assert max(hockey_stick(laws[0], law, epsilon), hockey_stick(law, laws[0], epsilon)) <= delta
        assert cover_delta(exponent, epsilon, neighbors="add-remove", max_rounds=3) < delta


@pytest.mark.parametrize(("exponent", "share", "least"), [(2, 0.137, 2.0e-5), (3, 0.182, 3.8e-3)])
def test_lemma_a_1_is_false_for_large_exponents(exponent, share, least):
    """1,000 candidates, of which a share covers z with score -1; after 500 rounds z is not covered."""
    delta, rounds = 1e-6, 500
    weight = math.exp(-exponent)  # of a candidate that covers z, in the execution with z
    with_z = ((1 - share) / (1 - share * (1 - weight))) ** rounds
    without = (1 - share) ** rounds
    divergence = with_z - math.exp(2 * exponent * (math.log(1 / delta) + 1.5)) * without
    assert divergence > least > 10 * delta
    holds = lambda t: math.exp(t) - 1 <= 2 * t  # noqa: E731
    assert holds(1.256)
    assert not holds(1.257)


def test_theorem_3_5_prints_another_constant_than_its_proof_and_holds_with_both():
    """2 log(1/delta) + 3/2 in place of 2 (log(1/delta) + 3/2): section 2 halves the exponent, Lemma A.1 does not."""
    delta = 1e-6
    charged = lambda exponent: 2 * exponent * (math.log(1 / delta) + 1.5)  # noqa: E731
    printed = 1 / (2 * math.log(1 / delta) + 1.5)
    assert charged(printed) > 1 > charged(printed / 2)
    assert cover_exponent(1, delta, neighbors="add-remove", accounting="paper") <= 1 / charged(1)
    assert cover_exponent(1, delta, neighbors="replace") > 4 * printed / 2  # Definition 3.1 replaces an example


def test_theorem_3_5_holds_with_one_and_a_half_times_its_beta():
    """Its log(2 M / sqrt(beta)) is that of Lemma A.4 at beta/2, and Theorem A.6 takes the whole of beta."""
    M, beta = 20, 0.1
    assert math.log(2 * M / math.sqrt(beta)) == pytest.approx(math.log(math.sqrt(2 / (beta / 2)) * M))
    sizes = lambda b: 64 / 0.1 * (M * math.log(64 / 0.1) + math.log(16 / b))  # noqa: E731
    assert sizes(beta / 2) < 1.01 * sizes(beta)  # the two halves of beta: hardly more examples


def test_lemma_a_4_needs_a_round_for_the_constant_true():
    """M features and the constant are M + 1 candidates: after M rounds an example may have no rule."""
    S = [((1, 0), 1), ((0, 0), 0)]
    law = law_of(lambda chance: twin.greedy_cover(chance, S, FEATURES, 0.5))
    assert {len(rules) for rules in law} == {len(FEATURES) + 1}
    cut = sum(p for rules, p in law.items() if all(f is not None for f, _ in rules[: len(FEATURES)]))
    assert cut > 0.1  # neither of the first two rules covers (0, 0)


def test_section_2_the_exponential_mechanism_as_printed_prefers_the_worst():
    law = np.exp(-0.5 * np.array([-3, 0]) / 2)
    assert law[0] > law[1]


def test_proposition_3_3_a_consistent_sample_always_leaves_a_rule_without_error(rng):
    for _ in range(200):
        X = rng.integers(0, 2, (12, 4)).astype(bool)
        order, labels = rng.permutation(4), rng.integers(0, 2, 5)
        y = np.array([next((b for f, b in zip(order, labels, strict=False) if x[f]), labels[4]) for x in X])
        left, rows = [None, *range(4)], np.ones(12, bool)
        while left:
            held = {f: rows & (True if f is None else X[:, f]) for f in left}
            assert any((y[held[f]] != b).sum() == 0 for f in left for b in (0, 1))
            f = left.pop(int(rng.integers(len(left))))
            rows &= ~held[f]


def test_lemma_a_4_bounds_the_errors_of_the_list_on_its_sample(rng, monkeypatch):
    """4 M / eps_hat ln(sqrt(2 / beta) M), eps_hat twice the exponent; M + 1 rounds with the constant true."""
    X = rng.random((4000, 6)) < 0.5
    y = np.where(X[:, 2], 1, np.where(X[:, 4], 0, X[:, 0])).astype(int)
    t, beta, M = 0.5, 0.1, 7
    monkeypatch.setattr("dpfast.learners.lists.plan.cover_exponent", lambda *_, **__: Fraction(1, 2))
    settings = {"coverage_weight": 0, "default_prior": 1, "max_rules": None, "negations": False, "rule_counts": 0}
    bound = 4 * M / (2 * t) * math.log(math.sqrt(2 / beta) * M)
    failed = 0
    for _ in range(40):
        clf = DecisionListClassifier(**settings, random_state=rng).fit(X, y, classes=[0, 1])
        failed += (clf.predict(X) != y).sum() > bound
    assert stats.binom.sf(failed - 1, 40, beta) > 1e-6
    assert bound < 4000 / 20


def test_proposition_a_9_counts_conjunctions():
    for d, k in product(range(1, 30), range(1, 6)):
        assert sum(2**j * math.comb(d, j) for j in range(k + 1)) <= math.e**2 * d**k


# ---- section 4 -------------------------------------------------------------------------------------------------------


def test_algorithm_4_1_updates_where_the_environment_marks_an_unconfident_row_and_at_mistakes_only_elsewhere():
    """Without marks it is Winnow; at the very threshold c rho, where the paper has <, an update is made too."""
    X = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, 1, 1, 1]])
    y = np.array([1, 1, 1])
    settings = {"margin": 0.5, "confidence": 0.5, "negations": False, "fit_intercept": False}
    for marks, updates in (([True] * 3, 2), ([False] * 3, 0), ([True, False, False], 1), ([False, False, True], 0)):
        clf = WinnowClassifier(**settings).fit(X, y, classes=[-1, 1], marks=np.array(marks))
        assert clf.updates_ == updates  # votes of 0 for the first two rows: right, by sgn(0) = +1, and unconfident
    at = WinnowClassifier(**settings | {"margin": 1.0}).fit(np.array([[1, 1, 1, -1]]), [1], classes=[-1, 1])
    assert at.updates_ == 1  # <w, x> = 1/2 = c rho


def test_appendix_c_a_draw_of_winnow_is_2_eta_under_add_remove_and_4_eta_under_replace():
    """exp(eta y x_j) on two coordinates, one example replaced, or blanked."""
    eta, rows = 0.7, [np.array(x) * y for x in product((-1, 1), repeat=2) for y in (-1, 1)]
    law = lambda s: np.exp(eta * s) / np.exp(eta * s).sum()  # noqa: E731
    range_of = lambda a, b: np.ptp(np.log(law(a) / law(b)))  # noqa: E731
    assert max(range_of(a, b) for a in rows for b in rows) == pytest.approx(4 * eta)
    assert max(range_of(a, np.zeros(2)) for a in rows) == pytest.approx(2 * eta)
    assert (winnow_range("replace"), winnow_range("add-remove")) == (4, 2)


def test_theorem_4_4_holds_under_replace_with_4_eta_too():
    for K, m, epsilon, delta in product((1, 10, 1000), (1, 100), (0.1, 0.9), (1e-9, 0.1)):
        log = math.log(2 / delta)
        e, eta = epsilon / (4 * math.sqrt(2 * K * log)), epsilon / (8 * math.sqrt(2 * m * K * log))
        spent = e * math.sqrt(2 * K * log) + K * e**2 + 4 * eta * math.sqrt(2 * m * K * log) + 16 * m * K * eta**2
        assert spent < epsilon


def test_theorem_4_5_as_printed_takes_too_few_draws_for_lemma_4_6():
    """It prints m = 2 log(2T/beta) / rho^2 where the lemma needs 2 log(2T/beta) / (c rho)^2, c = 1/2."""
    rho, T, beta = 0.5, 1000, 0.1
    m = math.floor(2 * math.log(2 * T / beta) / rho**2)
    plus = (1 + rho / 2) / 2  # <w, x> = c rho: so much of the weight is on coordinates of +1
    assert stats.binom.cdf(m // 2, m, plus) > beta / T
    enough = math.ceil(2 * math.log(2 * T / beta) / (rho / 2) ** 2)
    assert stats.binom.cdf(enough // 2, enough, plus) < beta / T
    assert winnow_paper(0.5, 1e-6, horizon=T, dimension=100, margin=rho, failure=beta).n_draws >= enough


def test_theorem_4_5_waits_for_fewer_mistakes_than_the_noise_may_make_up():
    """L = 8 log(2T/beta) / e, where the listing's beta/T gives Lemma 4.3 alpha = 8 log(2 T^2/beta) / e."""
    T, beta, e = 1000, 0.1, 0.5
    L, alpha = 8 * math.log(2 * T / beta) / e, 8 * math.log(2 * T * T / beta) / e
    assert L - alpha < 0  # the lemma allows a test to pass without a mistake to update with
    paper = winnow_paper(0.5, 1e-6, horizon=T, dimension=100, margin=0.5, failure=beta)
    assert paper.threshold > 8 * math.log(4 * T / beta) / paper.threshold_epsilon
