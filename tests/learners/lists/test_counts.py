import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows
from scipy import stats

from dpfast import BitMatrix, DecisionListClassifier
from dpfast.accounting import Composed, gaussian_sigma
from dpfast.accounting.claims.noise import noise_scale
from dpfast.kernels import cover
from dpfast.learners.lists import Literal, Rule
from dpfast.learners.lists.rule import CountNoise, class_counts, noise_reach, worth
from dpfast.learners.probabilities import class_shares
from dpfast.parts import Piece
from dpfast.tables.labels import class_codes

LISTS = (
    [Rule((), 0)],
    [Rule((Literal(1, False),), 1), Rule((), 0)],
    [Rule((Literal(0, True), Literal(2, False)), 1), Rule((Literal(2, True),), 0), Rule((), 2)],
)


@pytest.fixture
def table(rng):
    X = rng.random((500, 12)) < 0.5
    return X, np.where(X[:, 3] & ~X[:, 7], "yes", "no")


def counts_of(rules, X, y, classes=3):
    table = BitMatrix(X)
    return class_counts(Piece(table, class_codes(y, len(y), range(classes)).codes, rows=table), rules, classes)


@pytest.mark.parametrize("rules", LISTS, ids=len)
def test_every_row_is_counted_once_with_the_rule_that_decides_it(rules, rng):
    X, y = rng.random((200, 3)) < 0.5, rng.integers(0, 3, 200)
    expected = np.zeros((len(rules), 3), int)
    for row, label in zip(X, y, strict=True):
        first = next(i for i, rule in enumerate(rules) if all(row[j] != negated for j, negated in rule.literals))
        expected[first, label] += 1
    np.testing.assert_array_equal(counts_of(rules, X, y), expected)


@pytest.mark.parametrize(("neighbors", "sensitivity"), [("replace", 2), ("add-remove", 1)])
def test_neighbours_move_the_counts_by_no_more_than_the_noise_is_made_for(neighbors, sensitivity, rng):
    rows = [(list(row), label) for row in itertools.product((0, 1), repeat=3) for label in range(3)]
    most = 0
    for rules in LISTS:
        X, y = rng.integers(0, 2, (6, 3)), rng.integers(0, 3, 6)
        with_row = [counts_of(rules, np.vstack([X, row]), [*y, label]) for row, label in rows]
        others = with_row if neighbors == "replace" else [counts_of(rules, X, y)]
        most = max(most, *(np.abs(a - b).sum() for a in with_row for b in others))
    assert most == sensitivity == noise_scale(Fraction(1, 3), neighbors) / 3


def noise_of(delta, neighbors):
    """A fitted list, and the noise of the counts of many."""
    X, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]] * 25, bool), np.array([0, 1] * 50)
    clf = DecisionListClassifier(
        1.0, delta, neighbors=neighbors, rule_counts=0.25, max_rules=3, random_state=np.random.default_rng(3)
    )
    noise = []
    for _ in range(150):
        clf.fit(X, y, classes=[0, 1])
        noise += (clf.rule_counts_ - counts_of(clf.rules_, X, y, 2)).ravel().tolist()
    return clf, np.array(noise)


def follows(noise, law, span):
    observed = [np.count_nonzero(np.clip(noise, span[0], span[-1]) == value) for value in span]
    law[[0, -1]] += (1 - law.sum()) / 2
    assert_follows(observed, law)


@pytest.mark.parametrize(("neighbors", "scale"), [("replace", 8), ("add-remove", 4)])
def test_the_noise_on_the_counts_of_a_pure_list_follows_the_law_of_its_share(neighbors, scale):
    clf, noise = noise_of(0, neighbors)
    assert (clf.rule_counts_scale_, clf.rule_counts_noise_) == (scale, "laplace")
    span = np.arange(-60, 61)
    follows(noise, np.exp(-np.abs(span) / scale) * math.tanh(1 / (2 * scale)), span)


@pytest.mark.parametrize(("neighbors", "moves"), [("replace", math.sqrt(2)), ("add-remove", 1)])
def test_the_noise_on_the_counts_is_that_of_their_share_of_the_bill(neighbors, moves):
    clf, noise = noise_of(0.001, neighbors)
    sigma = moves * gaussian_sigma(1.0, 0.001) / math.sqrt(0.25)
    assert clf.rule_counts_noise_ == "gaussian"
    assert float(clf.rule_counts_scale_) == pytest.approx(sigma, rel=1e-6)
    span = np.arange(-30, 31)
    follows(noise, np.diff(stats.norm.cdf((np.arange(-30, 32) - 0.5) / sigma)), span)


def test_the_split_of_epsilon_is_named_and_adds_up(table, monkeypatch):
    asked = []

    class Watched(cover.Counts):
        def __init__(self, *arguments):
            asked.append(arguments[4])
            super().__init__(*arguments)

    monkeypatch.setattr(cover, "Counts", Watched)
    X, y = table
    y = np.where(np.arange(len(y)) % 2, y, "maybe")  # three classes: no sizes
    with_counts = DecisionListClassifier(2.0, rule_counts=0.25, random_state=0).fit(X, y)
    DecisionListClassifier(2.0, rule_counts=0, random_state=0).fit(X, y)
    assert 0.83 < asked[0] / asked[1] < math.sqrt(0.75)  # beside them, nearly that of a Gaussian release
    DecisionListClassifier(2.0, 0, rule_counts=0.25, random_state=0).fit(X, y)
    DecisionListClassifier(1.5, 0, rule_counts=0, random_state=0).fit(X, y)
    assert asked[2] == asked[3]
    assert (with_counts.privacy_.epsilon, with_counts.privacy_.delta) == (2.0, 1e-6)
    assert ("rule counts (0.25 of the bill)", 1, 1) in with_counts.privacy_.events
    assert Composed(with_counts.privacy_.cost).epsilon(1e-6) == pytest.approx(2.0, rel=1e-5)


def test_without_counts_a_list_has_no_probabilities(table):
    X, y = table
    clf = DecisionListClassifier(random_state=0, rule_counts=0).fit(X, y)
    assert not hasattr(clf, "rule_counts_")
    assert clf.privacy_.events == (("rules", len(clf.rules_), 10),)
    for method in ("predict_proba", "decision_function", "rule_worth"):
        assert not hasattr(clf, method)
        assert not hasattr(DecisionListClassifier(rule_counts=0), method)
        assert hasattr(DecisionListClassifier(rule_counts=0.1), method)
    with pytest.raises(AttributeError, match="predict_proba") as refusal:
        clf.predict_proba(X)
    assert "fit with rule_counts above 0" in str(refusal.value.__cause__)


def test_probabilities_are_those_of_the_rule_that_decides_and_side_with_its_label(rng):
    X = rng.random((3000, 5)) < 0.5
    y = np.where(X[:, 0], 10, np.where(rng.random(3000) < 0.7, 20, 30))
    clf = DecisionListClassifier(4.0, max_rules=2, rule_counts=0.2, random_state=0).fit(X, y)
    proba, log = clf.predict_proba(X), clf.decision_function(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X))
    np.testing.assert_allclose(np.exp(log), proba)
    assert (proba[X[:, 0], 0] > 0.98).all()
    assert (np.abs(proba[~X[:, 0], 1] - 0.7) < 0.1).all()
    two = DecisionListClassifier(4.0, random_state=0).fit(X, y == 10)
    np.testing.assert_array_equal(two.decision_function(X) > 0, two.predict(X))


def test_shares_are_sums_of_one_whatever_the_noise_and_never_against_the_rule(rng):
    counts, own = rng.integers(-500, 500, (300, 4)), rng.integers(0, 4, 300)
    shares = class_shares(counts, own)
    assert (shares > 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), own)
    np.testing.assert_allclose(class_shares(np.array([[98, 398]]), [1]), [[99 / 499, 400 / 499]])
    np.testing.assert_allclose(class_shares(np.array([[-3, 0]]), [0]), [[2 / 3, 1 / 3]])
    np.testing.assert_allclose(class_shares(np.array([[100, 298]]), [0]), [[201 / 401, 200 / 401]])


@pytest.mark.parametrize("terms", [1, 2, 6])
def test_the_reach_of_gaussian_noise_is_exceeded_no_more_often_than_it_says(terms, rng):
    noise = np.rint(rng.normal(0, 12.5, (400_000, terms))).sum(axis=1)
    beyond = np.count_nonzero(np.abs(noise) > CountNoise(True, Fraction(25, 2)).reach(terms, 0.01))
    assert stats.binomtest(beyond, 400_000, 0.01, alternative="greater").pvalue > 1e-6
    assert beyond > 0.4 * 4000


@pytest.mark.parametrize("terms", [1, 2, 6])
def test_the_reach_of_noise_is_exceeded_no_more_often_than_it_says(terms, rng):
    scale, failure = Fraction(25, 2), 0.01
    reach = noise_reach(scale, terms, failure)
    p = math.exp(-1 / scale)
    noise = (rng.geometric(1 - p, (400_000, terms)) - rng.geometric(1 - p, (400_000, terms))).sum(axis=1)
    beyond = np.count_nonzero(np.abs(noise) > reach)
    assert stats.binomtest(beyond, 400_000, failure, alternative="greater").pvalue > 1e-6
    assert beyond > 0.5 * 400_000 * failure


def test_intervals_hold_as_often_as_they_say(rng):
    scale, failure, precision, runs = Fraction(20), 0.1, 0.8, 1000
    n = 400
    right = rng.binomial(n, precision, runs)
    p = math.exp(-1 / scale)
    noise = rng.geometric(1 - p, (runs, 2)) - rng.geometric(1 - p, (runs, 2))
    told = [worth(row, 1, CountNoise(False, scale), failure) for row in np.stack([n - right, right], axis=1) + noise]
    inside = [low <= precision <= high for *_, (low, high) in told]
    around = [low <= n <= high for _, (low, high), *_ in told]
    for held in (inside, around):
        assert stats.binomtest(sum(held), runs, 1 - failure, alternative="less").pvalue > 1e-6
    assert np.median([high - low for *_, (low, high) in told]) < 0.5
    assert np.median([result.precision for result in told]) == pytest.approx(precision, abs=0.02)


def test_a_rule_that_decides_no_row_is_worth_nothing_known():
    told = worth(np.array([-300, -200]), 0, CountNoise(False, Fraction(4)), 0.05)
    assert (told.support, told.support_interval) == (0, (0, 0))
    assert math.isnan(told.precision)
    assert told.precision_interval == (0.0, 1.0)


def test_the_text_tells_what_each_rule_is_worth(table):
    clf = DecisionListClassifier(8.0, random_state=0).fit(*table)
    lines, told = clf.to_text().split("\n"), clf.rule_worth(0.95)
    for line, rule in zip(lines, told, strict=True):
        low, high = rule.precision_interval
        assert line.endswith(
            f"{rule.support} ± {rule.support_interval[1] - rule.support} rows, {low:.2f} to {high:.2f} right"
        )
    assert clf.rule_worth(0.5)[0].support_interval[1] < told[0].support_interval[1]
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\), got 1"):
        clf.rule_worth(1)


@pytest.mark.parametrize(
    ("share", "message"),
    [(1.0, r"rule_counts must lie in \[0, 1\), got 1.0"), (-0.1, "rule_counts must"), ("much", "rule_counts must"),
     (1e-30, "rule_counts must be 0 or")],
)  # fmt: skip
def test_shares_that_will_not_do_are_refused(share, message, table):
    with pytest.raises(ValueError, match=message):
        DecisionListClassifier(rule_counts=share).fit(*table)
