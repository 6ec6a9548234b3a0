import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws import assert_follows
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast import BitMatrix, FiniteClassLearner
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.audit import replay
from dpfast.learners.experts.finite_class import _feature_errors
from dpfast.parts import Piece


def _errors(X, y):
    return _feature_errors(Piece(None, y.astype(int), rows=BitMatrix(X)))


def first_is_positive(X):
    return X[:, 0] > 0


def always(X):
    return np.ones(len(X), bool)


def never(X):
    return np.zeros(len(X), bool)


class Named:
    """A function whose repr is its name, not its address: a test has the same name in every process."""

    def __init__(self, function):
        self.function = function

    def __call__(self, X):
        return self.function(X)

    def __repr__(self):
        return self.function.__name__


NAMED = [Named(first_is_positive), Named(always), Named(never)]


@pytest.mark.parametrize(
    "estimator", [FiniteClassLearner(random_state=0), FiniteClassLearner(hypotheses=NAMED, random_state=0)]
)
def test_scikit_learn_finds_nothing_wrong(estimator):
    check_estimator(estimator, on_skip=None)


TABLE = np.array([[0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
X = np.array([0, 1, 2, 3, 3, 1, 2])
Y = np.array([0, 1, 1, 1, 0, 0, 1])


def law(x, y, t):
    """By enumeration."""
    errors = np.array([(h[x] != y.astype(bool)).sum() for h in TABLE])
    weights = np.exp(-t * errors)
    return weights / weights.sum()


@pytest.mark.parametrize("form", [BitMatrix, np.ndarray.tolist, list])
def test_a_table_is_the_same_class_in_whatever_form_it_comes(form):
    draws = [
        [FiniteClassLearner(2.5, hypotheses=table, random_state=seed).fit(X, Y).hypothesis_ for seed in range(20)]
        for table in (TABLE, form(TABLE))
    ]
    assert draws[0] == draws[1]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_hypothesis_of_a_table_is_drawn_by_its_errors(neighbors, rng):
    learner = FiniteClassLearner(2.5, hypotheses=TABLE, neighbors=neighbors, random_state=rng)
    drawn = [learner.fit(X, Y).hypothesis_ for _ in range(300)]
    assert_follows(np.bincount(drawn, minlength=5), law(X, Y, 1.25 if neighbors == "replace" else 2.5))
    assert learner.predict([0, 1, 2, 3]).tolist() == TABLE[learner.hypothesis_].astype(int).tolist()
    assert learner.predict(np.array([[2.0]])).tolist() == [TABLE[learner.hypothesis_, 2]]


@pytest.mark.parametrize("labels", ["words", "booleans"])
def test_a_function_is_drawn_by_its_errors(labels, rng):
    names = np.array(["no", "yes"])

    def function(h):
        give = (lambda X: names[h[X[:, 0]].astype(int)]) if labels == "words" else (lambda X: h[X[:, 0]])
        return give

    learner = FiniteClassLearner(2.5, hypotheses=[function(h) for h in TABLE], random_state=rng)
    drawn = [learner.fit(X[:, np.newaxis], names[Y]).hypothesis_ for _ in range(300)]
    assert_follows(np.bincount(drawn, minlength=5), law(X, Y, 1.25))
    expected = names[TABLE[learner.hypothesis_].astype(int)]
    assert learner.predict(np.arange(4)[:, np.newaxis]).tolist() == expected.tolist()


BITS = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]])
LABELS = np.array(["no", "yes", "no", "no", "yes"])


def test_a_feature_its_negation_or_a_constant_is_drawn_by_its_errors(rng):
    learner = FiniteClassLearner(2.5, hypotheses="features", random_state=rng)
    says = np.vstack([BITS.T, 1 - BITS.T, np.zeros(5), np.ones(5)])
    weights = np.exp(-1.25 * (says != (LABELS == "yes")).sum(axis=1))
    drawn = [learner.fit(BITS, LABELS).hypothesis_ for _ in range(250)]
    assert_follows(np.bincount(drawn, minlength=8), weights / weights.sum())
    assert learner.n_hypotheses_ == 8
    for table in (BITS, BitMatrix(BITS), sp.csr_array(BITS), sp.csc_array(BITS), pd.DataFrame(BITS)):
        for h in range(8):
            learner.set_params(random_state=h)
            assert learner.fit(BITS, LABELS).hypothesis_ == learner.fit(table, LABELS).hypothesis_
            learner.model_ = replace(learner.model_, hypothesis=h)
            assert learner.predict(table).tolist() == np.where(says[h], "yes", "no").tolist()


def test_one_row_moves_the_errors_of_features_by_one_each(rng):
    """Range 2 under replace and 1 under add-remove."""
    for _ in range(100):
        X, y = rng.integers(0, 2, (70, 5)), rng.integers(0, 2, 70).astype(bool)
        other, label = rng.integers(0, 2, (1, 5)), rng.integers(0, 2, 1).astype(bool)
        base = _errors(X, y)
        more = _errors(np.vstack([X, other]), np.append(y, label)) - base
        assert set(more.tolist()) <= {0, 1}
        swap = _errors(np.vstack([X[1:], other]), np.append(y[1:], label)) - base
        assert set(swap.tolist()) <= {-1, 0, 1}


def test_a_feature_is_saved_with_its_name(tmp_path):
    table = BitMatrix(BITS, feature_names=["wet", "cold", "ž"])
    clf = FiniteClassLearner(hypotheses="features", random_state=0).fit(table, LABELS)
    clf.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.predict(table).tolist() == clf.predict(table).tolist()
    assert loaded.feature_names_in_.tolist() == ["wet", "cold", "ž"]
    assert (loaded.hypothesis_, loaded.hypotheses, loaded.privacy_) == (clf.hypothesis_, "features", clf.privacy_)
    text = (tmp_path / "m.json").read_text()
    (tmp_path / "m.json").write_text(text.replace('"of": 8', '"of": 9'))
    with pytest.raises(ValueError, match="damaged"):
        dpfast.load(tmp_path / "m.json")


def test_features_that_will_not_do_are_refused():
    learner = FiniteClassLearner(random_state=0)
    with pytest.raises(ValueError, match="entries must be 0 or 1, got 2"):
        FiniteClassLearner(threshold=None).fit(2 * BITS, LABELS)
    with pytest.raises(ValueError, match="Only binary classification"):
        learner.fit(BITS, list("abcab"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        learner.fit(BITS, LABELS[1:])
    learner.fit(BITS, LABELS)
    with pytest.raises(ValueError, match="X has 2 features, but FiniteClassLearner is expecting 3"):
        learner.predict(BITS[:, :2])


def test_functions_may_give_any_number_of_classes(rng):
    X = rng.integers(0, 3, (300, 1))
    y = np.array(["a", "b", "c"])[X[:, 0]]
    shifts = [lambda X, k=k: np.array(["a", "b", "c"])[(X[:, 0] + k) % 3] for k in range(3)]
    clf = FiniteClassLearner(hypotheses=[*shifts, lambda X: np.full(len(X), "d")], random_state=0).fit(X, y)
    assert clf.hypothesis_ == 0
    assert clf.score(X, y) == 1
    stubborn = FiniteClassLearner(hypotheses=[lambda X: np.full(len(X), "d")], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="hypothesis 0 gave a label not among"):
        stubborn.predict(X)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_log_ratios_of_neighbours_stay_within_epsilon(epsilon):
    """The drawn law, by enumeration, is the one tested above; here over all neighbours of a small data set."""
    worst = {"replace": 0.0, "add-remove": 0.0}
    for x in range(4):
        for y in (0, 1):
            more = np.append(X, x), np.append(Y, y)
            worst["add-remove"] = max(
                worst["add-remove"], np.abs(np.log(law(X, Y, epsilon) / law(*more, epsilon))).max()
            )
            for i in range(len(X)):
                other = X.copy(), Y.copy()
                other[0][i], other[1][i] = x, y
                ratio = np.abs(np.log(law(X, Y, epsilon / 2) / law(*other, epsilon / 2)))
                worst["replace"] = max(worst["replace"], ratio.max())
    assert max(worst.values()) <= epsilon
    assert min(worst.values()) > epsilon / 4


def test_large_classes_are_scored_right(rng):
    table, points = rng.random((500, 300)) < 0.5, rng.integers(0, 300, 2000)
    y = table[321][points] ^ (rng.random(2000) < 0.2)
    clf = FiniteClassLearner(hypotheses=table, random_state=0).fit(points, y)
    assert clf.hypothesis_ == 321
    assert clf.n_hypotheses_ == 500
    assert clf.excess_errors(0.01) == pytest.approx(2 * np.log(500 / 0.01))
    assert str(clf.privacy_).startswith("(1.0, 0)-DP, replace one row; 1 of 1 releases used")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hypotheses": None}, "hypotheses= must be given"),
        ({"hypotheses": "columns"}, """or "features", got 'columns'"""),
        ({"hypotheses": []}, "hypotheses is empty"),
        ({"hypotheses": np.zeros((0, 4), bool)}, "hypotheses is empty"),
        ({"hypotheses": [[0, 1], [0, 1, 1]]}, "rows of labels for the same points, got shapes"),
        ({"hypotheses": [always, [0, 1]]}, "functions all, or a table"),
        ({"hypotheses": np.full((2, 4), 2)}, "entries must be 0 or 1"),
        ({"hypotheses": [always, lambda X: np.ones(3, bool)]}, "one label for each of 7 rows, got shape"),
        ({"epsilon": 0}, "epsilon must be a finite number > 0, got 0"),
        ({"epsilon": np.nan}, "epsilon must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"budget": 3}, "budget must"),
    ],
)
def test_what_will_not_do_is_refused_before_a_charge_or_a_draw(parameters, message, rng):
    budget, state = Budget(5.0), copy.deepcopy(rng.bit_generator.state)
    learner = FiniteClassLearner(**{"hypotheses": TABLE, "random_state": rng, "budget": budget} | parameters)
    x = X[:, np.newaxis]
    with pytest.raises(ValueError, match=message):
        learner.fit(x, Y)
    assert budget.charges == ()
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("x", [[0, 4], [-1, 0], [0.5, 1], [[0, 1], [1, 1]]])
def test_points_off_the_table_are_refused(x):
    with pytest.raises(ValueError, match="X must hold"):
        FiniteClassLearner(hypotheses=TABLE).fit(x, [0, 1])


LARGE = 2**53


@pytest.mark.parametrize("held", [list, lambda rows: np.array(rows, object)])
@pytest.mark.parametrize("odd", [0.5, "1", True, 2**70])
def test_one_cell_of_a_list_does_not_change_how_functions_see_the_others(held, odd):
    x = [[LARGE + 1]] * 20 + [[0]] * 20
    given = [held(x), held([*x[:-1], [odd]])]
    y = [1] * 20 + [0] * 20
    learner = FiniteClassLearner(hypotheses=[lambda X: X[:, 0] > LARGE, lambda X: X[:, 0] < -1], epsilon=1.0)
    found = replay(learner, *[(each, y) for each in given], classes=[0, 1])
    assert found.holds, found
    assert learner.fit(given[0], y).predict(given[1][:1]).tolist() == learner.predict(given[0][:1]).tolist()


def test_the_budget_is_charged_with_pure_epsilon():
    budget = Budget(1.0)
    learner = FiniteClassLearner(0.7, hypotheses=TABLE, budget=budget).fit(X, Y)
    assert budget.charges == ((0.7, 0.0),)
    assert not learner.privacy_.reproducible
    with pytest.raises(BudgetExceeded):
        learner.fit(X, Y)


def test_a_table_s_hypothesis_is_saved_and_a_function_is_not(tmp_path):
    clf = FiniteClassLearner(hypotheses=TABLE, random_state=0).fit(X, np.where(Y, "yes", "no"))
    clf.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()
    assert (loaded.hypothesis_, loaded.privacy_, loaded.hypotheses) == (clf.hypothesis_, clf.privacy_, None)
    function = FiniteClassLearner(hypotheses=[always], random_state=0).fit(X[:, np.newaxis], Y)
    with pytest.raises(ValueError, match="cannot be saved"):
        function.save(tmp_path / "f.json")
