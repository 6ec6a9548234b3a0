import itertools
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws import assert_follows
from reference.greedy_cover import enumerate_lists
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from unreadable import Unreadable

from dpfast import BitMatrix, DecisionListClassifier, random
from dpfast.accounting import Budget, BudgetExceeded, cover_exponent
from dpfast.kernels import bits, cover
from dpfast.learners.lists.covering import REACH, falling_weights, greedy_cover


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(DecisionListClassifier(max_rules=3, random_state=0), on_skip=None)


@pytest.fixture
def table(rng):
    X = rng.random((500, 12)) < 0.5
    return X, np.where(X[:, 3] & ~X[:, 7], "yes", "no")


# ---- the law of whole lists --------------------------------------------------------------------------------------

TABLES = {
    "a row each way": ([[1, 0], [0, 1]], [0, 1], 2),
    "one feature, one label to learn": ([[1], [1], [0]], [1, 1, 0], 2),
    "duplicates and an empty column": ([[1, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]], [0, 1, 1, 0], 2),
    "three classes": ([[1, 1], [0, 1], [1, 0], [0, 0]], [0, 1, 2, 2], 3),
}
SETTINGS = [
    # weight, prior, max_rules, negations
    (Fraction(0), 0, 9, False),
    (Fraction(0), 1, 2, True),
    (Fraction(3, 10), 5, 9, True),
    (Fraction(1), 0, 2, True),
    (Fraction(1), 3, 9, False),
    (Fraction(3, 10), 2, 1, True),
]


def packed(X):
    return bits.pack(np.ascontiguousarray(X, np.uint8))


@pytest.mark.parametrize(
    ("name", "setting"),  # every table with three settings, every setting with two tables
    [(name, setting) for i, name in enumerate(TABLES) for j, setting in enumerate(SETTINGS) if (i + j) % 2],
    ids=str,
)
def test_whole_lists_follow_the_enumerated_law(name, setting, rng):
    X, y, classes = TABLES[name]
    weight, prior, max_rules, negations = setting
    X, y, exponent = np.array(X), np.array(y), Fraction(9, 10)
    law = enumerate_lists(
        X, y, classes, exponent, coverage_weight=weight, prior=prior, max_rules=max_rules, negations=negations
    )
    columns, labels = packed(X.T), packed(y == np.arange(classes)[:, None])
    first, rows, rounds = cover.count(columns, len(X), labels), packed(X), min(max_rules, X.shape[1] + 1)

    def draw():
        unit = weight.denominator
        state = cover.Counts(
            rows, columns, labels, first, exponent / unit, [(weight.numerator, unit)], negations, prior
        )
        return tuple(
            ((j, int(negated)) if j >= 0 else None, label) for j, negated, label in greedy_cover(state, rounds, rng)
        )

    seen = Counter(draw() for _ in range(600))
    assert set(seen) <= set(law)
    assert_follows([seen[rules] for rules in law], list(law.values()))


def test_the_estimator_draws_from_that_law_too(rng):
    X, y, classes = TABLES["duplicates and an empty column"]
    clf = DecisionListClassifier(
        60.0, 1e-3, coverage_weight=0.5, max_rules=3, default_prior=2, rule_counts=0.25,
        random_state=np.random.default_rng(5),
    )  # fmt: skip
    exponent = cover_exponent(45.0, 1e-3, coverage_weight=0.5, max_rounds=3)
    law = enumerate_lists(X, y, classes, exponent, coverage_weight=0.5, prior=2, max_rules=3, negations=True)

    def draw():
        clf.fit(np.array(X), y)
        return tuple((tuple(map(int, rule.literals[0])) if rule.literals else None, rule.label) for rule in clf.rules_)

    seen = Counter(draw() for _ in range(400))
    assert_follows([seen[rules] for rules in law], list(law.values()))


@pytest.mark.parametrize("coverage_weight", ["auto", 0, 0.5, 0.3])
@pytest.mark.parametrize("max_rules", [2, 3, None])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_fit_runs_the_exponent_of_the_rounds_it_pays_for(neighbors, max_rules, coverage_weight, monkeypatch, table):
    asked = []

    class Watched(cover.Counts):
        def __init__(self, rows, columns, labels, first, exponent, weights, *others):
            asked.append((exponent, weights))
            super().__init__(rows, columns, labels, first, exponent, weights, *others)

    monkeypatch.setattr(cover, "Counts", Watched)
    X, y = table
    for columns in (12, 1):
        clf = DecisionListClassifier(
            0.7, 1e-4, neighbors=neighbors, coverage_weight=coverage_weight, max_rules=max_rules, default_prior=0,
            rule_counts=0,
        )  # fmt: skip
        clf.fit(X[:, :columns], y)
        rounds = min(max_rules or 99, columns + 1)
        exponent, weights = asked.pop()
        reach = Fraction(1, 2) if coverage_weight == "auto" else Fraction(coverage_weight).limit_denominator(1000)
        most = cover_exponent(0.7, 1e-4, neighbors=neighbors, coverage_weight=reach, max_rounds=rounds)
        assert max(exponent * right for right, _ in weights) == Fraction(most) * reach
        assert max(exponent * wrong for _, wrong in weights) == Fraction(most)
        assert clf.privacy_.events == (("rules", rounds, rounds),)


def test_a_pure_list_has_the_ratios_of_its_epsilon(table):
    clf = DecisionListClassifier(3.0, 0, max_rules=3, rule_counts=0, random_state=0).fit(*table)
    assert str(clf.privacy_).startswith("(3.0, 0)-DP, replace one row")
    weights = [(right / 100, wrong / 100) for right, wrong in falling_weights(3)[0]]
    options = {"coverage_weight": weights, "prior": 1, "max_rules": 3, "negations": True}
    exponent = cover_exponent(3.0, 0, coverage_weight=0.5, max_rounds=3)
    rows = [([a, b], label) for a in (0, 1) for b in (0, 1) for label in (0, 1)]
    laws = [enumerate_lists([[1, 0], row], [1, label], 2, exponent, **options) for row, label in rows]
    logs = np.log([[law[rules] for rules in laws[0]] for law in laws])
    assert 1.0 < np.ptp(logs, axis=0).max() <= 3.0


@pytest.mark.parametrize("draws", [1, 2, 3, 10, 300])
def test_the_bar_falls_from_rule_to_rule_and_the_weights_stay_in_their_range(draws):
    pairs, unit = falling_weights(draws)
    assert len(pairs) == draws
    assert pairs[-1] == (unit * REACH, unit)
    assert all(0 < right <= unit * REACH and 0 < wrong <= unit for right, wrong in pairs)
    bars = [wrong / (right + wrong) for right, wrong in pairs[:-1]]
    assert bars == sorted(bars, reverse=True)
    assert bars[:1] == pytest.approx([0.85][: draws - 1], abs=0.01)
    assert bars[2:][-1:] == pytest.approx([0.55][: max(0, draws - 3)], abs=0.01)


@pytest.mark.parametrize("name", TABLES)
def test_lists_with_a_falling_bar_follow_the_enumerated_law(name, rng):
    X, y, classes = TABLES[name]
    X, y, exponent = np.array(X), np.array(y), Fraction(9, 10)
    rounds = min(3, X.shape[1] + 1)
    pairs, unit = falling_weights(rounds)
    law = enumerate_lists(
        X, y, classes, exponent, coverage_weight=[(right / unit, wrong / unit) for right, wrong in pairs],
        prior=2, max_rules=rounds, negations=True,
    )  # fmt: skip
    columns, labels = packed(X.T), packed(y == np.arange(classes)[:, None])
    first, rows = cover.count(columns, len(X), labels), packed(X)

    def draw():
        state = cover.Counts(rows, columns, labels, first, exponent / unit, pairs, True, 2)
        return tuple(
            ((j, int(negated)) if j >= 0 else None, label) for j, negated, label in greedy_cover(state, rounds, rng)
        )

    seen = Counter(draw() for _ in range(600))
    assert set(seen) <= set(law)
    assert_follows([seen[rules] for rules in law], list(law.values()))


def test_a_conjunction_list_follows_the_law_over_its_conjunctions(rng):
    X, y = np.array([[1, 0], [1, 1], [0, 1]], bool), np.array([0, 1, 1])
    literals = [X[:, 0], X[:, 1], X[:, 0] & X[:, 1]]
    law = enumerate_lists(
        np.array(literals, int).T, y, 2, cover_exponent(12.0, 1e-3, coverage_weight=0.5, max_rounds=2),
        coverage_weight=0.5, prior=3, max_rules=2, negations=False,
    )  # fmt: skip
    number = {((0, False),): 0, ((1, False),): 1, ((0, False), (1, False)): 2}
    clf = DecisionListClassifier(
        12.0, 1e-3, coverage_weight=0.5, max_rules=2, conjunctions=2, negations=False, rule_counts=0,
        random_state=np.random.default_rng(5),
    )  # fmt: skip

    def draw():
        clf.fit(X, y)
        rules = [(tuple(map(tuple, rule.literals)), rule.label) for rule in clf.rules_]
        return tuple(((number[literals], 0) if literals else None, label) for literals, label in rules)

    seen = Counter(draw() for _ in range(300))
    assert_follows([seen[rules] for rules in law], list(law.values()))


def test_one_seed_gives_one_list_at_every_level_and_thread_count(mushroom, each_isa, monkeypatch):
    def fit():
        return DecisionListClassifier(0.3, random_state=7).fit(mushroom.data, mushroom.target).rules_

    results = each_isa(fit)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        results.append(fit())
    assert all(result == results[0] for result in results)


# ---- what a user meets -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [np.asarray, lambda X: X.astype(float), sp.csr_array, sp.csc_array, pd.DataFrame, BitMatrix, lambda X: X.tolist()],
)
def test_every_form_of_input_gives_the_same_model(form, table):
    X, y = table
    expected = DecisionListClassifier(random_state=1, schema="vectors").fit(X, y)
    clf = DecisionListClassifier(random_state=1, schema="vectors").fit(form(X), y)
    assert clf.rules_ == expected.rules_
    np.testing.assert_array_equal(clf.predict(form(X)), expected.predict(X))


def test_prediction_is_the_label_of_the_first_rule_that_holds(table):
    X, y = table
    clf = DecisionListClassifier(0.2, random_state=3, conjunctions=2).fit(X, y)

    def first_label(row):
        return next(rule.label for rule in clf.rules_ if all(row[j] != negated for j, negated in rule.literals))

    assert len(clf.rules_) > 2
    np.testing.assert_array_equal(clf.predict(X), [first_label(row) for row in X])


def test_a_list_of_few_rules_makes_no_transpose_and_is_the_same_with_one(table):
    X, y = table
    packed, transposed = BitMatrix(X), BitMatrix.from_columns(BitMatrix(X).columns, len(X))
    few, many = (DecisionListClassifier(5.0, random_state=0).fit(bits, y) for bits in (packed, transposed))
    assert not packed.has_columns
    assert few.rules_ == many.rules_


def test_a_strong_pattern_is_found(table):
    X, y = table
    assert DecisionListClassifier(5.0, random_state=0).fit(X, y).score(X, y) == 1.0
    assert DecisionListClassifier(5.0, random_state=0, conjunctions=2).fit(X, y).score(X, y) == 1.0


def test_lists_of_three_classes_are_learned(rng):
    X = rng.random((3000, 6)) < 0.5
    y = np.where(X[:, 0], 10, np.where(X[:, 1], 20, 30))
    clf = DecisionListClassifier(3.0, random_state=0).fit(X, y)
    assert clf.classes_.tolist() == [10, 20, 30]
    assert clf.score(X, y) > 0.99


@pytest.mark.parametrize("max_rules", [1, 2, 10, None])
def test_a_list_ends_with_a_rule_that_always_holds_and_is_no_longer_than_asked(max_rules, table):
    X, y = table
    for seed in range(20):
        rules = DecisionListClassifier(0.01, max_rules=max_rules, random_state=seed).fit(X, y).rules_
        assert len(rules) <= (max_rules or 13)
        assert [rule.literals == () for rule in rules] == [False] * (len(rules) - 1) + [True]
        features = [rule.literals[0].feature for rule in rules[:-1]]
        assert len(set(features)) == len(features)


def test_the_text_takes_names_of_features_and_refuses_another_number_of_them():
    rows = np.tile(np.eye(2, dtype=bool), (500, 1))
    model = DecisionListClassifier(1.0, random_state=0).fit(rows, [0, 1] * 500, classes=[0, 1])
    assert "left" in model.to_text(["left", "right"])
    with pytest.raises(ValueError, match="feature_names must number 2, got 1"):
        model.to_text(["left"])


def test_the_text_reads_as_rules(mushroom):
    clf = DecisionListClassifier(4.0, rule_counts=0, random_state=0).fit(
        BitMatrix(mushroom.data, feature_names=mushroom.feature_names), mushroom.target
    )
    lines = clf.to_text().split("\n")
    assert str(clf) == clf.to_text()
    assert lines[0].startswith("if ")
    assert all(line.startswith("else if ") for line in lines[1:-1])
    assert lines[-1] in ("else  edible", "else  poisonous")
    assert any(f"{name} " in lines[0] for name in mushroom.feature_names)
    feature = clf.rules_[0].literals[0].feature
    assert f"f{feature} " in clf.to_text([f"f{j}" for j in range(126)]).split("\n")[0]
    with pytest.raises(ValueError, match="must number 126, got 1"):
        clf.to_text(["a"])


def test_an_unfitted_estimator_prints_its_parameters():
    assert str(DecisionListClassifier(epsilon=2.0)) == "DecisionListClassifier(epsilon=2.0)"


def test_the_claim_is_one_honest_sentence(table):
    X, y = table
    clf = DecisionListClassifier(random_state=0).fit(X, y)
    assert str(clf.privacy_) == (
        f"(1.0, 1e-06)-DP, replace one row; {len(clf.rules_) + 2} of 12 releases used; "
        "drawn with a seed: reproducible, not private"
    )
    assert "seed" not in str(DecisionListClassifier().fit(X, y).privacy_)
    rng = random.default_rng()
    assert "seed" not in str(DecisionListClassifier(random_state=rng).fit(X, y).privacy_)


def test_a_fitted_model_holds_nothing_but_what_was_released(table):
    X, y = table
    clf = DecisionListClassifier().fit(X, y)
    fitted = {name for name in vars(clf) if name.endswith("_")}
    counted = {"rule_counts_", "rule_counts_scale_", "rule_counts_noise_", "rule_shares_"}
    assert fitted - {"notes_"} == {"model_", "classes_", "n_features_in_", "privacy_"} | counted
    assert set(vars(clf)) - fitted == {*clf.get_params(), "_facts"}
    assert clf._facts == {"rows": len(X), "persons": None, "classes": "read off the rows"}  # all public
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def test_a_model_fitted_again_keeps_nothing_of_the_old_one(table):
    X, y = table
    named = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    clf = DecisionListClassifier(random_state=0).fit(named, y)
    assert hasattr(clf, "rule_counts_")
    assert hasattr(clf, "feature_names_in_")
    clf.set_params(rule_counts=0).fit(X, y)
    assert not hasattr(clf, "rule_counts_")
    assert not hasattr(clf, "feature_names_in_")


def test_a_threshold_of_each_column_is_used_by_fit_and_predict(rng):
    X = rng.normal(loc=(0, 10, -10), size=(2000, 3))
    y = X[:, 1] > 11
    clf = DecisionListClassifier(2.0, threshold=[0, 11, -9], random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.99


def test_progress_is_shown_when_asked_for(table, capsys):
    X, y = table
    DecisionListClassifier(verbose=True, random_state=0).fit(X, y)
    assert "rules" in capsys.readouterr().out


# ---- budgets -----------------------------------------------------------------------------------------------------


def test_a_budget_is_charged_once_a_fit_and_never_overdrawn(table):
    X, y = table
    budget = Budget(2.0, 1e-5, composition="basic")
    clf = DecisionListClassifier(1.0, budget=budget, random_state=0)
    clf.fit(X, y)
    clone(clf).fit(X, y)
    with pytest.raises(BudgetExceeded, match=r"spent \(2.0, 2e-06\).*left \(0.0, 8e-06\)"):
        clf.fit(X, y)


def test_ten_lists_fit_into_a_budget_that_counts_curves(table):
    X, y = table
    budget = Budget(4.2, 1e-6)
    for seed in range(10):
        DecisionListClassifier(1.0, budget=budget, random_state=seed).fit(X, y)
    assert budget.spent[0] < 3.6


def test_cross_validation_pays_for_every_fold(table):
    X, y = table
    budget = Budget(4.0, 1e-5, composition="basic")
    clf = DecisionListClassifier(1.0, budget=budget, random_state=0)
    with pytest.raises(BudgetExceeded):
        cross_val_score(clf, X, y, cv=5, error_score="raise")
    assert len(budget.charges) == 4


def test_an_overdraft_is_refused_before_the_data_is_read(rng):
    with pytest.raises(BudgetExceeded):
        DecisionListClassifier(1.0, budget=Budget(0.5), random_state=rng).fit(Unreadable(), Unreadable())


def test_a_prior_beyond_what_is_exact_is_refused_before_the_data_is_read(rng):
    budget = Budget(1.0, 1e-6)
    for prior in (2**53 + 1, 2**63, 10**35):
        with pytest.raises(ValueError, match="default_prior must"):
            DecisionListClassifier(default_prior=prior, budget=budget, random_state=rng).fit(None, None)
    assert budget.charges == ()


def test_numbers_that_are_no_bits_are_refused_without_a_threshold(table, rng):
    X, y = table
    budget = Budget(1.0, 1e-6)
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match=r"."):
        DecisionListClassifier(threshold=None, budget=budget, random_state=rng).fit(X * 2, y)
    assert budget.charges == ()
    assert rng.bit_generator.state == state


def test_an_interrupted_fit_keeps_what_was_released_and_stays_charged(table, monkeypatch):
    X, y = table
    draw, calls = cover.Counts.draw, itertools.count()

    class Interrupted(cover.Counts):
        def draw(self, rng):
            if next(calls) == 2:
                raise KeyboardInterrupt
            return draw(self, rng)

    monkeypatch.setattr(cover, "Counts", Interrupted)
    budget = Budget(1.0, 1e-6)
    clf = DecisionListClassifier(0.01, budget=budget, default_prior=0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert len(budget.charges) == 1
    assert [rule.literals == () for rule in clf.rules_] == [False, False, True]
    assert clf.rules_[-1].label == clf.classes_[0]  # not drawn: a fixed label
    assert clf.predict(X).shape == (500,)
    assert clf.privacy_.epsilon == 0.01


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"epsilon": -1.0}, "epsilon must"),
        ({"epsilon": np.nan}, "epsilon must"),
        ({"delta": -1e-9}, "delta must"),
        ({"delta": 1.0}, "delta must"),
        ({"delta": 0, "max_rules": None}, "delta = 0 needs a limit on the rounds"),
        ({"delta": 0, "coverage_weight": 0, "accounting": "paper"}, "delta = 0 needs a limit on the rounds"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"coverage_weight": 1.5}, r'coverage_weight must be "auto" or lie in \[0, 1\], got 1.5'),
        ({"coverage_weight": "much"}, 'coverage_weight must be "auto" or lie'),
        ({"max_rules": 0}, 'max_rules must be "auto" or None or an integer of at least 1, got 0'),
        ({"max_rules": 2.5}, "max_rules must"),
        ({"default_prior": -1}, "default_prior must"),
        ({"default_prior": 2**53 + 1}, r'default_prior must be "auto" or an integer in \[0, 9007199254740992\], got'),
        ({"default_prior": 10**35}, "default_prior must"),
        ({"conjunctions": 0}, "conjunctions must"),
        ({"accounting": "paper"}, "coverage_weight"),
        ({"accounting": "guess"}, "accounting must"),
        ({"random_state": -1}, "at least 0"),
        ({"budget": 3.0}, "budget must be None or"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        DecisionListClassifier(**parameters).fit(*table)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0, 1], [1, 0]], [1, 1], "at least two classes, got one class only"),
        ([[0, 1], [1, 0]], [1, 0, 1], "inconsistent numbers of samples"),
        ([[0, 1], [1, 0]], [0.5, 1.5], "Unknown label type"),
        ([[0, 1], [1, np.nan]], [0, 1], "NaN"),
        (np.empty((0, 2)), [], "at least one row"),
        ([0, 1], [0, 1], "Expected 2D array"),
        (BitMatrix.from_rows(np.empty((0, 1), np.uint64), 3), [], "at least one row"),
    ],
)
def test_data_that_will_not_do_is_refused_with_what_was_seen(X, y, message):
    with pytest.raises(ValueError, match=message):
        DecisionListClassifier().fit(X, y)


def test_numbers_are_cut_at_0_unless_something_else_is_declared(table):
    X, y = table
    lists = [DecisionListClassifier(random_state=0, schema="vectors").fit(rows, y) for rows in (X, 7.5 * X, X - 0.5)]
    assert len({str(made) for made in lists}) == 1
    with pytest.raises(ValueError, match=r"entries must be 0 or 1, got 3\.0; give threshold="):
        DecisionListClassifier(threshold=None, schema="vectors").fit([[0, 1], [1, 3]], [0, 1])


def test_declared_classes_are_not_read_off_the_data(table):
    X, y = table
    clf = DecisionListClassifier(random_state=0).fit(X, np.full(len(y), "no"), classes=["no", "yes"])
    assert clf.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"label of row \d+ is not among classes"):
        DecisionListClassifier().fit(X, y, classes=["yes", "maybe"])


def test_names_that_do_not_match_at_predict_are_refused(table):
    X, y = table
    names = [f"f{j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    clf = DecisionListClassifier(random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[names[::-1]])
    bits = BitMatrix(X, feature_names=names)
    packed = DecisionListClassifier(random_state=0).fit(bits, y)
    with pytest.raises(ValueError, match="feature names"):
        packed.predict(BitMatrix(X, feature_names=names[::-1]))
    with pytest.raises(ValueError, match="has 11 features, but DecisionListClassifier is expecting 12"):
        DecisionListClassifier(random_state=0).fit(X, y).predict(X[:, :11])
    np.testing.assert_array_equal(packed.predict(bits), packed.predict(BitMatrix(X)))


def test_conjunctions_that_do_not_fit_into_memory_are_refused(rng):
    X = BitMatrix(rng.random((1000, 2000)) < 0.5)
    with pytest.raises(ValueError, match=r"conjunctions=4 over 2000 columns makes 10,\d{3},\d{3},\d{3},\d{3} features"):
        DecisionListClassifier(conjunctions=4).fit(X, np.arange(1000) % 2)
