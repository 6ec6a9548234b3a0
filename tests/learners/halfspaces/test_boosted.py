import itertools
import pickle
import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast import BitMatrix, BoostedHalfspaceClassifier, FileParts
from dpfast.accounting import Budget, BudgetExceeded, boost_plan
from dpfast.base import run
from dpfast.base.plan import Task
from dpfast.base.run import Run
from dpfast.learners.halfspaces.weak import NoisyCentering, NoisyStump
from dpfast.tables import unit_rows


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(BoostedHalfspaceClassifier(n_rounds=3, random_state=0), on_skip=None)


def test_it_follows_the_paper_step_by_step_where_there_is_no_noise(table, monkeypatch):
    """[BCS, Algorithms 1 to 3] in floats: means of the measure, losses, projection by bisection."""
    X, y = table
    monkeypatch.setattr("dpfast.learners.halfspaces.weak.discrete_gaussian", lambda total, sigma, rng: total)
    clf = BoostedHalfspaceClassifier(
        density=0.3, n_rounds=15, learning_rate=9.0, start="even", random_state=0, schema="vectors"
    )
    clf.fit(X, y)
    signs = np.where(y == "yes", 1, -1)
    rows = np.hstack([X, np.ones((len(X), 1))])
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    loss, total = np.zeros(len(X)), np.zeros(13)
    for _ in range(15):
        low, high = -300.0, 300.0
        for _ in range(100):
            middle = (low + high) / 2
            measure = np.minimum(1, np.exp(np.minimum(0, middle - 9.0 * loss)))
            low, high = (middle, high) if measure.sum() < 0.3 * len(X) else (low, middle)
        mean = (measure * signs) @ rows / (0.3 * len(X))
        total += mean
        loss += 1 - np.abs(np.clip(rows @ mean, -1, 1) - signs) / 2
    np.testing.assert_allclose([*clf.coef_[0], *clf.intercept_], total / 15, atol=0.002)


def test_a_halfspace_is_learned(table):
    X, y = table
    assert BoostedHalfspaceClassifier(random_state=0, schema="vectors").fit(X, y).score(X, y) > 0.93
    assert (
        BoostedHalfspaceClassifier(neighbors="add-remove", random_state=0, schema="vectors").fit(X, y).score(X, y)
        > 0.93
    )


def test_stumps_are_boosted_too(mushroom, tmp_path):
    clf = BoostedHalfspaceClassifier(weak_learner="stump", random_state=0).fit(mushroom.data, mushroom.target)
    assert clf.score(mushroom.data, mushroom.target) > 0.93
    real = np.where(mushroom.data.toarray(), 2.0, 1.0)
    clf = BoostedHalfspaceClassifier(weak_learner=NoisyStump(threshold=1.5), random_state=0)
    assert clf.fit(real, mushroom.target).score(real, mushroom.target) > 0.93
    clf.save(tmp_path / "m.json")
    np.testing.assert_array_equal(dpfast.load(tmp_path / "m.json").predict(real), clf.predict(real))


def test_any_weak_learner_can_be_boosted(table):
    class Halved(NoisyCentering):
        def margins(self, rows, hypothesis):
            return super().margins(rows, hypothesis) / 2

    clf = BoostedHalfspaceClassifier(weak_learner=Halved(), random_state=0, schema="vectors").fit(*table)
    assert clf.score(*table) > 0.9


FORMS = [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame, lambda X: X.astype(np.float32), np.asfortranarray]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input_gives_nearly_the_same_model(form, rng):
    X = rng.integers(-1, 2, (2000, 9)).astype(float)
    y = X[:, 0] + X[:, 1] > 0
    expected = BoostedHalfspaceClassifier(random_state=1, schema="vectors").fit(X, y)
    clf = BoostedHalfspaceClassifier(random_state=1, schema="vectors").fit(form(X), y)
    np.testing.assert_allclose(clf.coef_, expected.coef_, atol=1e-3)
    assert (clf.predict(form(X)) == expected.predict(X)).mean() > 0.99


def test_bits_are_learned_from_as_numbers_are(mushroom, monkeypatch):
    release = Run.release
    monkeypatch.setattr(
        Run, "release", lambda run, name, exact: exact if name == "rounds" else release(run, name, exact)
    )
    X, y = mushroom.data.toarray(), mushroom.target
    packed = BoostedHalfspaceClassifier(random_state=1, schema="vectors").fit(BitMatrix(X), y)
    dense = BoostedHalfspaceClassifier(random_state=1, schema="vectors").fit(X.astype(np.float32), y)
    assert np.corrcoef(packed.coef_, dense.coef_)[0, 1] > 0.98  # the opening of numbers is noisier than that of bits
    np.testing.assert_array_equal(packed.predict(BitMatrix(X)), packed.predict(X))


@pytest.mark.parametrize("form", [lambda X: X.toarray(), BitMatrix, sp.csr_array])
def test_one_seed_gives_one_model_at_every_level_thread_count_and_block_size(form, mushroom, each_isa, monkeypatch):
    X, y = form(mushroom.data), mushroom.target

    def fit():
        return BoostedHalfspaceClassifier(0.3, n_rounds=10, random_state=7).fit(X, y).coef_

    results = each_isa(fit)
    for threads, size in (("1", 1 << 22), ("2", 10_000), ("5", 100_000)):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        monkeypatch.setattr(unit_rows, "BLOCK_BYTES", size)
        results.append(fit())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_files_larger_than_memory_would_be_learned_from_as_arrays_are(tmp_path, rng):
    X = rng.normal(size=(3000, 8)).astype(np.float32)
    y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    expected = BoostedHalfspaceClassifier(random_state=3, schema="vectors").fit(X, y)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        BoostedHalfspaceClassifier(random_state=3, schema="vectors").fit(mapped, y).coef_, expected.coef_
    )
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    rows = FileParts(tmp_path / "rows.parquet", label="y", memory=0)
    clf = BoostedHalfspaceClassifier(random_state=3, schema="vectors").fit(rows)
    np.testing.assert_array_equal(clf.coef_, expected.coef_)
    np.testing.assert_array_equal(clf.predict(rows.numbers()[0]), expected.predict(X))


def test_labels_that_are_wrong_are_tolerated(table, rng):
    X, y = table
    flipped = np.where(rng.random(len(y)) < 0.1, np.where(y == "yes", "no", "yes"), y)
    assert BoostedHalfspaceClassifier(random_state=0, schema="vectors").fit(X, flipped).score(X, y) > 0.9


def test_rows_of_zeros_and_rows_far_outside_the_ball_are_learned_from(rng):
    X = np.vstack([np.zeros((5, 3)), rng.normal(size=(500, 3)) * 1e200])
    y = X[:, 0] > 0
    assert BoostedHalfspaceClassifier(fit_intercept=False, random_state=0).fit(X, y).score(X, y) > 0.8


# ---- what is released ----------------------------------------------------------------------------------------------


def test_auto_depends_on_public_numbers_only(rng):
    X, y = rng.normal(size=(400, 5)), np.arange(400) % 2
    for more in ({"start": "even"}, {"density": 0.5, "learning_rate": 3.0}):
        first = BoostedHalfspaceClassifier(random_state=0, schema="vectors", **more).fit(X, y)
        second = BoostedHalfspaceClassifier(random_state=1, schema="vectors", **more).fit(X**2 + 3, y[::-1])
        for name in ("density_", "learning_rate_", "n_rounds_"):
            assert getattr(first, name) == getattr(second, name)


def test_the_largest_rate_grows_with_the_number_of_rows(rng):
    d = 3

    def rate(n, epsilon, classes=2):
        X = rng.normal(size=(n, d))
        y = np.digitize(X[:, 0], np.linspace(-1, 1, classes + 1)[1:-1])
        clf = BoostedHalfspaceClassifier(epsilon, n_rounds=20, density=0.5, random_state=0, schema="vectors")
        return clf.fit(X, y).learning_rate_

    assert rate(600, 1e4) == 16  # no more than ever
    assert rate(1600, 1e4) == pytest.approx(2 * 0.3 * 0.5 * 1600 / 20)
    assert rate(5000, 1e4) == 32
    assert rate(5000, 1e4, classes=3) == 16
    assert rate(5000, 0.5) < 16  # noise limits it as before


def test_the_noise_that_scores_may_have_falls_with_the_length_of_that_of_a_mean(rng, monkeypatch):
    state, deviations, found = dpfast.learners.halfspaces.boosted._Boosting, [], []

    def begin(self, p, budget, deviation):
        deviations.append(deviation)
        plainly(self, p, budget, deviation)

    plainly = state.begin
    monkeypatch.setattr(state, "begin", begin)
    for columns, epsilon in ((3, 1.0), (300, 1.0), (300, 0.3), (300, 0.02)):
        X = rng.normal(size=(2000, columns))
        clf = BoostedHalfspaceClassifier(epsilon, n_rounds=20, density=0.5, random_state=0, schema="vectors")
        clf.fit(X, X[:, 0] > 0, classes=[False, True])
        one = deviations[-1] / (0.5 * 2000)  # the noise of a mean along one row; a row has two more entries
        found.append(clf.learning_rate_ / 2 * one * np.sqrt(20))
        assert found[-1] == pytest.approx(np.clip(0.95 / np.sqrt(one * np.sqrt(columns + 2)), 0.1, 1.0))
    assert max(found) > 4 * min(found)


def test_the_claim_is_one_honest_sentence(table):
    clf = BoostedHalfspaceClassifier(n_rounds=7, schema="vectors").fit(*table)
    assert str(clf.privacy_) == "(1.0, 1e-06)-DP, replace one row; 8 of 8 releases used"
    clf = BoostedHalfspaceClassifier(n_rounds=7, neighbors="add-remove", random_state=1, schema="vectors").fit(*table)
    assert str(clf.privacy_) == (
        "(1.0, 1e-06)-DP, add or remove one row; 8 of 8 releases used; drawn with a seed: reproducible, not private"
    )


def test_a_fitted_model_holds_nothing_but_what_was_released(table):
    clf = BoostedHalfspaceClassifier(schema="vectors").fit(*table)
    fitted = {name for name in vars(clf) if name.endswith("_")}
    released = {"model_", "notes_", "coef_", "intercept_", "shift_", "density_", "learning_rate_", "n_rounds_"}
    assert fitted == {*released, "classes_", "class_sizes_", "n_features_in_", "privacy_"}
    assert set(vars(clf)) - fitted == {*clf.get_params(), "_facts"}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(table[0]), clf.predict(table[0]))


def test_an_interrupted_fit_keeps_what_was_released_and_stays_charged(table, monkeypatch):
    noise, calls = run.discrete_gaussian, itertools.count()

    def interrupted(*arguments, **named):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return noise(*arguments, **named)

    monkeypatch.setattr(run, "discrete_gaussian", interrupted)
    budget = Budget(1.0, 1e-6)
    clf = BoostedHalfspaceClassifier(budget=budget, random_state=0, schema="vectors")
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*table)
    assert len(budget.charges) == 1
    assert clf.privacy_.events == (("opening", 1, 1), ("rounds", 3, 60))
    assert clf.score(*table) > 0.7


def test_the_parts_of_epsilon_add_up_where_the_number_of_rows_is_private(table, monkeypatch):
    spent = []
    noise = NoisyCentering.noise

    def count(n, scale, rng):
        spent.append(1 / scale)
        return n

    def rounds(self, rows, epsilon, delta, n_rounds, moved):
        spent.append(epsilon)
        return noise(self, rows, epsilon, delta, n_rounds, moved)

    monkeypatch.setattr(run, "discrete_laplace", count)
    monkeypatch.setattr(NoisyCentering, "noise", rounds)
    clf = BoostedHalfspaceClassifier(0.7, neighbors="add-remove", n_rounds=2, start="even", random_state=0)
    clf.fit(*table)
    assert sum(spent) == pytest.approx(0.7, rel=1e-12)


def test_the_parts_of_epsilon_never_exceed_it_by_a_rounding(rng):
    for epsilon in [0.1, 0.3, 0.7, 1, 1e300, *rng.random(2000).tolist()]:
        clf, task = BoostedHalfspaceClassifier(epsilon, neighbors="add-remove"), Task(epsilon, 1e-6, "add-remove")
        even = clf._even(clf._values(), task)
        whole = Fraction(repr(float(epsilon)))
        assert 0 <= whole - 1 / even.count_scale - Fraction(even.epsilon) < Fraction(epsilon) / 2**50


def test_a_row_more_or_less_is_never_what_decides_whether_there_is_a_model(rng):
    """10 rows of density .1 are a row's weight, 9 are less."""
    for n in range(2, 14):
        X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
        for start in ("opening", "even"):
            clf = BoostedHalfspaceClassifier(
                density=0.1, neighbors="add-remove", n_rounds=2, start=start, random_state=0
            )
            assert np.isfinite(clf.fit(X, y, classes=[0, 1]).coef_).all()


def test_a_budget_next_to_nothing_still_releases_what_it_paid_for(table):
    """The noisy number of rows is then far beyond any table."""
    for start, first in (("opening", "opening"), ("even", "row count")):
        clf = BoostedHalfspaceClassifier(
            1e-12, 0.5, neighbors="add-remove", n_rounds=3, start=start, random_state=2
        ).fit(*table)
        assert np.isfinite(clf.coef_).all()
        assert clf.privacy_.events == ((first, 1, 1), ("rounds", 3, 3))


# ---- budgets and refusals ------------------------------------------------------------------------------------------


def test_a_budget_is_charged_once_a_fit_and_never_overdrawn(table):
    budget = Budget(2.0, 1e-5, composition="basic")
    clf = BoostedHalfspaceClassifier(budget=budget, random_state=0)
    clf.fit(*table)
    clone(clf).fit(*table)
    with pytest.raises(BudgetExceeded):
        clf.fit(*table)


def test_a_refusal_charges_nothing_and_draws_nothing(table, rng):
    X, y = table
    budget = Budget(1.0, 1e-6)
    state = rng.bit_generator.state
    for parameters, bad_X, bad_y in (
        ({"start": "even"}, X, np.arange(len(y)) % 3),
        ({"weak_learner": "stump"}, X > 0, np.arange(len(y)) % 3),
        ({"density": 1e-4}, X, y),
        ({"delta": 0.0}, X, y),
        ({"epsilon": 1e-12, "delta": 1e-12}, X, y),
        ({"epsilon": 1e-16, "delta": 0.5, "neighbors": "add-remove", "start": "even", "budget": None}, X, y),
        ({"weak_learner": "stump"}, X, y),
    ):
        with pytest.raises(ValueError, match=r"."):
            BoostedHalfspaceClassifier(**{"budget": budget, "random_state": rng, **parameters}, schema="vectors").fit(
                bad_X, bad_y
            )
    assert budget.charges == ()
    assert rng.bit_generator.state == state


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"epsilon": 1e-15, "delta": 0.5, "neighbors": "add-remove", "start": "even"}, "row count would need noise"),
        ({"delta": 1.0}, "delta must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"density": 0}, r'density must be "auto" or lie in \(0, 1\], got 0'),
        ({"density": 1.5}, "density must"),
        ({"density": 1e-4}, "density must be at least 1 / n = 1 / 3000, got 0.0001"),
        ({"n_rounds": 0}, "n_rounds must"),
        ({"n_rounds": 2.5}, "n_rounds must"),
        ({"learning_rate": 0}, "learning_rate must"),
        ({"learning_rate": "fast"}, "learning_rate must"),
        (
            {"weak_learner": "tree"},
            'weak_learner must be "centering", "stump" or a WeakLearner, got \'tree\'',
        ),
        ({"start": "late"}, 'start must be "auto", "opening" or "even"'),
        ({"start": "opening", "weak_learner": "stump"}, 'start="opening" is for'),
        ({"start": "opening", "calibration": "plan", "margin": 0.5}, 'start="opening" is for'),
        ({"calibration": "guess"}, 'calibration must be "tight", "plan" or "paper"'),
        ({"calibration": "paper"}, 'calibration="paper" needs margin='),
        ({"calibration": "plan"}, 'calibration="plan" needs margin='),
        ({"alpha": 0.0}, r"alpha must lie in \(0, 1\), got 0.0"),
        ({"beta": 1}, r"beta must lie in \(0, 1\), got 1"),
        ({"calibration": "paper", "margin": 0.1, "neighbors": "add-remove"}, 'neighbors="replace"'),
        ({"calibration": "paper", "margin": 0.03}, r"margin=0.03 asks for 4,197,\d{3} rounds, and at most 524,287"),
        ({"calibration": "paper", "margin": 2.0}, "margin"),
        ({"calibration": "paper", "margin": 0.1, "density": 0.5}, "leave them at"),
        ({"random_state": -1}, "at least 0"),
        ({"budget": 3.0}, "budget must be None or"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        BoostedHalfspaceClassifier(**parameters).fit(*table)


def test_the_plan_is_used_and_says_when_it_promises_nothing(table):
    X, y = table
    plan = boost_plan(5.0, 1e-3, margin=0.9)
    clf = BoostedHalfspaceClassifier(5.0, 1e-3, calibration="plan", margin=0.9, random_state=0)
    if plan.n > len(y):
        with pytest.warns(UserWarning, match=rf"needs {plan.n:,} rows .* got 3,000: nothing is promised here"):
            clf.fit(X, y)
    assert (clf.density_, clf.n_rounds_, clf.learning_rate_) == (plan.density, plan.n_rounds, plan.learning_rate)
    many = -(-plan.n // 3000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dpfast.PrivacyWarning)
        clf.fit(np.tile(X, (many, 1)), np.tile(y, many))


def test_sample_weights_are_refused_with_the_reason(table):
    with pytest.raises(ValueError, match="sample_weight is refused: a row of weight w"):
        BoostedHalfspaceClassifier().fit(*table, sample_weight=np.ones(3000))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        BoostedHalfspaceClassifier().fit(*table, weights=np.ones(3000))


@pytest.mark.parametrize("form", [np.asarray, BitMatrix])
def test_memory_beside_the_data_is_linear_in_rows_and_columns(form, rng, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "1")
    X = form(rng.random((20_000, 400)) < 0.5)
    if form is np.asarray:
        X = X.astype(np.float32)  # 32 MB
    y = rng.random(20_000) < 0.5
    fit = BoostedHalfspaceClassifier(n_rounds=3, random_state=0, schema="vectors").fit
    fit(X[:100], y[:100])  # imports
    tracemalloc.start()
    fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * 20_000 + 200 * 400 + 500_000
