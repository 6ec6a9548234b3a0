import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast import BitMatrix, LinearLearner
from dpfast.accounting import Budget, BudgetExceeded, experts_learning_rate
from dpfast.kernels import multiplicative_weights as weights


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(LinearLearner(random_state=0), on_skip=None)


@pytest.fixture
def table(rng):
    X = rng.choice([-1, 0, 1], (3000, 6))
    return X, np.where(X[:, 1] - X[:, 4] + rng.normal(size=3000) > 0, "yes", "no")


@pytest.mark.parametrize("form", ["integers", "reals", "signs", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("negations", [True, False])
@pytest.mark.parametrize("d", [6, 64])
def test_the_draws_are_those_of_weights_of_the_margins(d, form, intercept, negations, rng):
    X, y = rng.choice([-1, 0, 1], (80, d)), rng.choice([-1, 1], 80)
    given, grid, unit = {
        "integers": (X, X, 1),
        "reals": (X / 3, np.rint(X / 3 * 1024), 1024),
        "signs": (BitMatrix(X > 0), np.where(X > 0, 1, -1), 1),
        "sparse": (sp.csr_array(X), X, 1),
    }[form]
    settings = {"fit_intercept": intercept, "negations": negations}
    clf = LinearLearner(500.0, 1e-3, **settings, random_state=np.random.default_rng(4)).fit(given, y)

    margins = y[:, np.newaxis] * (np.column_stack([grid, np.full(80, unit)]) if intercept else grid)
    rng = np.random.default_rng(4)
    losses = -margins.astype(np.int32)[rng.permutation(80)]
    options = {"bits": unit.bit_length() - 1, "low": -1}
    if form == "sparse":
        losses = sp.csr_array(losses)
        rows = weights.csr(losses.indptr, losses.indices, losses.data, d + intercept, **options)
    else:
        rows = weights.dense(losses, **options)
    state = weights.Weights(d + intercept, Fraction(clf.learning_rate_) / unit, mirrored=negations)
    experts = state.play(rows, rng)
    theta = np.zeros(d + 1)
    np.add.at(theta, experts % (d + intercept), np.where(experts < d + intercept, 1, -1) / 80)
    np.testing.assert_allclose([*clf.coef_[0], *clf.intercept_], theta, atol=1e-12)
    rows = np.column_stack([grid / unit, np.ones(80)])
    np.testing.assert_allclose(clf.decision_function(given), rows @ theta, atol=1e-12)


def test_a_single_step_follows_its_law(rng):
    """Two rows, either the first: the second draw is one from exp(eta y x)."""
    X, y = np.array([[1.0, -0.5, 0.25], [0, 0, 0]]), np.array([0, 1])
    seen = Counter()
    for _ in range(700):
        clf = LinearLearner(20.0, 1e-3, random_state=rng).fit(X, y)
        index, count, _ = clf.released_weights_
        eta = clf.learning_rate_
        seen[tuple(np.bincount(index, count, minlength=4).astype(int).tolist())] += 1
    margins = -np.array([1, -0.5, 0.25, 1, -1, 0.5, -0.25, -1]), np.array([0, 0, 0, 1, 0, 0, 0, -1])
    second = sum(exponential_law(margin, eta) for margin in margins) / 2
    law, signed = Counter(), np.vstack([np.eye(4, dtype=int), -np.eye(4, dtype=int)])
    for a, b in itertools.product(range(8), repeat=2):  # the first draw is uniform
        law[tuple((signed[a] + signed[b]).tolist())] += second[b] / 8
    assert set(seen) <= set(law)
    assert_follows([seen[counts] for counts in law], list(law.values()))


def test_it_learns(table, rng):
    X, y = table
    clf = LinearLearner(5.0, 1e-6, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.75
    assert np.argsort(clf.coef_[0])[[0, -1]].tolist() == [4, 1]
    sparse = LinearLearner(5.0, 1e-6, random_state=0).fit(sp.csr_array(X), y)
    assert sparse.score(sp.csr_array(X), y) > 0.75
    assert clf.learning_rate_ == experts_learning_rate(5.0, 1e-6, horizon=3000, loss_range=4)
    assert LinearLearner(calibration="paper", random_state=0).fit(X, y).learning_rate_ < clf.learning_rate_ / 4


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: BitMatrix(X > 0)])
def test_a_table_sorted_by_label_is_learned_too(form, table):
    X, y = table
    order = np.argsort(y)
    clf = LinearLearner(5.0, 1e-6, random_state=0).fit(form(X[order]), y[order])
    assert clf.score(form(X), y) > 0.65


def test_every_level_gives_the_same_model(table, each_isa):
    for form in (np.asarray, sp.csr_array, lambda X: BitMatrix(X > 0), lambda X: X / 3):
        models = each_isa(lambda form=form: LinearLearner(random_state=1).fit(form(table[0]), table[1]).coef_.tolist())
        assert all(model == models[0] for model in models)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"neighbors": "add-remove"}, 'neighbors must be "replace"'),
        ({"out_of_range": "ignore"}, "out_of_range must"),
        ({"calibration": "loose"}, "calibration must"),
        ({"epsilon": -1}, "epsilon must"),
    ],
)
def test_linear_learner_refuses_by_name(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        LinearLearner(**parameters).fit(*table)
    with pytest.raises(ValueError, match="features must lie in"):
        LinearLearner(out_of_range="error").fit(table[0] * 2.0, table[1])


def test_a_linear_learner_uses_all_releases_and_all_of_its_budget(table):
    X, y = table
    budget = Budget(1.0, 1e-6)
    clf = LinearLearner(1.0, 1e-6, budget=budget, random_state=2).fit(X, y)
    assert budget.left[0] == 0.0
    with pytest.raises(BudgetExceeded):
        clf.fit(X, y)
    assert str(clf.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 3000 of 3000 releases used")


def test_a_model_of_booleans_refuses_zeros_and_ones_and_the_other_way_round(table, tmp_path):
    X, y = table[0] > 0, table[1]
    for form, other in ((np.asarray, lambda X: X.astype(int)), (lambda X: X.astype(float), BitMatrix)):
        clf = LinearLearner(5.0, random_state=0).fit(form(X), y)
        clf.save(tmp_path / "model.json")
        for model in (clf, dpfast.load(tmp_path / "model.json")):
            assert model.predict(form(X)).shape == (3000,)
            with pytest.raises(ValueError, match="the model was learned from"):
                model.predict(other(X))
