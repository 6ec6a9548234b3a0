import functools
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from dpfast import BitMatrix, ProjectedHalfspaceClassifier
from dpfast.accounting import Budget, BudgetExceeded, discrete_gaussian_delta, single_sample_epsilon
from dpfast.base import run
from dpfast.kernels import signs as kernel
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.halfspaces import descent
from dpfast.learners.halfspaces import projected as projected_halfspace
from dpfast.learners.halfspaces.descent import MARGINS, FullBatch
from dpfast.parts import MemoryParts, Piece
from dpfast.tables.projection import project
from dpfast.tables.unit_rows import unit_rows


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(ProjectedHalfspaceClassifier(n_rounds=3, random_state=0), on_skip=None)


@pytest.fixture
def no_noise(monkeypatch):
    monkeypatch.setattr(run, "discrete_gaussian", lambda total, sigma, rng: total)


# ---- the algorithm -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", ["auto", 7])
def test_it_is_noisy_descent_on_the_hinge_loss_of_normalised_projected_rows(n_components, table, no_noise):
    """Algorithm 1 in floats: the gradient of the mean loss by differences, steps on its own scale."""
    X, y = table
    clf = ProjectedHalfspaceClassifier(margin=0.2, n_components=n_components, n_rounds=12, random_state=5).fit(X, y)
    signs = np.where(y == "yes", 1, -1)
    rows = np.hstack([X, np.ones((len(X), 1))])
    A = np.eye(13)
    if n_components == 7:
        key = int.from_bytes(np.random.default_rng(5).bytes(16))
        A = np.array([kernel.lift(unit, 13, key) for unit in np.eye(7)])
    rows = rows @ A.T
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def loss(w):
        return np.maximum(0, 1 - signs * (rows @ w) / (0.86 * 0.2)).mean()

    w, squares, late = np.zeros(len(A)), 0.0, []
    for t in range(12):
        h = 1e-9
        gradient = np.array([(loss(w + h * unit) - loss(w - h * unit)) / (2 * h) for unit in np.eye(len(A))])
        squares += gradient @ gradient
        w = w - np.sqrt(2 / squares) * gradient
        w /= max(1, np.linalg.norm(w))
        if t >= 6:
            late.append(w)
    np.testing.assert_allclose([*clf.coef_[0], *clf.intercept_], A.T @ np.mean(late, axis=0), atol=0.01)


def test_a_halfspace_of_large_margin_is_learned(table):
    X, y = table
    for parameters in ({}, {"neighbors": "add-remove"}, {"fit_intercept": False}, {"n_rounds": 20, "margin": 0.3}):
        assert ProjectedHalfspaceClassifier(random_state=0, **parameters, schema="vectors").fit(X, y).score(X, y) > 0.95


def test_an_intercept_is_learned(rng):
    X = rng.random((4000, 3))
    y = X[:, 0] > 0.7
    assert ProjectedHalfspaceClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    assert ProjectedHalfspaceClassifier(fit_intercept=False, random_state=0).fit(X, y).intercept_ == 0


def test_many_columns_are_projected_and_the_model_is_mapped_back(rng):
    d = 1100
    y = rng.random(1400) < 0.5
    X = np.where(y[:, np.newaxis], 1.0, -1.0) * rng.normal(size=d) + 2 * rng.normal(size=(1400, d))
    X, test, y, truth = X[:1000], X[1000:], y[:1000], y[1000:]
    for form in (np.asarray, sp.csr_array):
        clf = ProjectedHalfspaceClassifier(margin=0.1, random_state=0).fit(form(X), y)
        assert clf.n_components_ == 1000
        assert clf.coef_.shape == (1, d)
        assert clf.score(form(test), truth) > 0.97
    clf = ProjectedHalfspaceClassifier(n_components=200, random_state=0).fit(X, y)
    assert clf.n_components_ == 200
    assert clf.score(test, truth) > 0.95


def test_the_number_of_components_is_a_rule_of_public_numbers():
    X, y = np.eye(2, 5000), [0, 1]
    for margin, m in ((0.1, 1000), (0.3, 112), (1.0, 10), (0.01, 4096), ("auto", 4096)):
        clf = ProjectedHalfspaceClassifier(margin=margin, n_rounds=1, random_state=0).fit(X, y)
        assert clf.n_components_ == m
    assert ProjectedHalfspaceClassifier(n_rounds=1, random_state=0).fit(X[:, :999], y).n_components_ == 1000
    clf = ProjectedHalfspaceClassifier(n_rounds=1, fit_intercept=False, random_state=0)
    assert clf.fit(X[:, :999], y).n_components_ == 999


FORMS = [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame, lambda X: X.astype(np.float32), np.asfortranarray]


@pytest.mark.parametrize("n_components", ["auto", 6])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input_gives_nearly_the_same_model(form, n_components, rng):
    X = rng.integers(-1, 2, (2000, 9)).astype(float)
    y = X[:, 0] + X[:, 1] > 0
    clf = ProjectedHalfspaceClassifier(
        n_components=n_components, n_rounds=10, loss="hinge", random_state=1, schema="vectors"
    )
    expected = clone(clf).fit(X, y)
    clf.fit(form(X), y)
    np.testing.assert_allclose(clf.coef_, expected.coef_, atol=1e-2)
    assert (clf.predict(form(X)) == expected.predict(X)).mean() > 0.98


@pytest.mark.parametrize("n_components", ["auto", 60])
def test_bits_are_learned_from_as_numbers_are(n_components, mushroom, no_noise):
    X, y = mushroom.data.toarray(), mushroom.target
    clf = ProjectedHalfspaceClassifier(
        n_components=n_components, n_rounds=10, loss="hinge", random_state=1, schema="vectors"
    )
    dense = clone(clf).fit(X.astype(np.float32), y)
    for bits in (BitMatrix(X), X.astype(bool)):
        packed = clone(clf).fit(bits, y)
        np.testing.assert_allclose(packed.coef_, dense.coef_, atol=2e-2)
        assert (packed.predict(bits) == dense.predict(X)).mean() > 0.98


@pytest.mark.parametrize("form", [lambda X: X.toarray(), BitMatrix, sp.csr_array])
@pytest.mark.parametrize("n_components", ["auto", 60])
def test_one_seed_gives_one_model_at_every_level_and_thread_count(form, n_components, mushroom, each_isa, monkeypatch):
    X, y = form(mushroom.data), mushroom.target

    def fit():
        clf = ProjectedHalfspaceClassifier(0.3, n_components=n_components, n_rounds=10, random_state=7)
        return clf.fit(X, y).coef_

    results = each_isa(fit)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        results.append(fit())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_rows_of_zeros_contribute_nothing(table, no_noise):
    X, y = table
    X, y = np.vstack([X, np.zeros((50, 12))]), np.r_[y, ["yes"] * 50]
    clf = ProjectedHalfspaceClassifier(fit_intercept=False, n_rounds=10, random_state=0, schema="vectors")
    np.testing.assert_array_equal(clone(clf).fit(X, y).coef_, clf.fit(X[:-50], y[:-50]).coef_)


def test_rows_far_outside_the_ball_are_learned_from_if_not_projected(rng):
    X = rng.normal(size=(500, 3)) * 1e200
    y = X[:, 0] > 0
    assert ProjectedHalfspaceClassifier(fit_intercept=False, random_state=0).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match=r"entries must be at most 1e.28 in size"):
        ProjectedHalfspaceClassifier(n_components=2, random_state=0).fit(X, y)


# ---- privacy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("n_components", [3, 6])
def test_one_row_moves_the_sum_of_a_step_by_no_more_than_the_noise_is_calibrated_for(neighbors, n_components, rng):
    """All tables of at most three rows out of seven, at many w: the largest distance is below, and near, the bound."""
    pool = rng.normal(size=(7, 5)) * rng.choice([1e-3, 1, 1e3], (7, 1))
    pool[1] = -pool[0]
    key, labels = 12345, rng.choice([-1, 1], 7).astype(np.int8)
    sums, worst = [], 0

    def release(total, step):
        sums.append(total)
        noise = np.random.default_rng(step).normal(size=total.shape)
        return total + np.rint(noise * 2e6).astype(np.int64)

    def rows_of(chosen):
        X = np.hstack([pool[list(chosen)], np.ones((len(chosen), 1))])
        return unit_rows(project(X, 3, key) if n_components == 3 else X, normalize=True)

    @functools.cache
    def sums_of(chosen):
        rows, codes = rows_of(chosen), (labels[list(chosen)] + 1) // 2
        runs, parts = descent.FullBatch(0.5, 4, n_components), MemoryParts([Piece(None, codes, rows=rows)])
        sums.clear()
        for step in range(4):  # the same w in all runs
            runs.step(parts, rows.reach, 1.0, functools.partial(release, step=step))
            runs._w = np.random.default_rng(step).normal(size=n_components) / 3
        return np.array(sums)

    for chosen in itertools.combinations(range(7), 3):
        rest = chosen[1:]
        others = [rest] if neighbors == "add-remove" else [(i, *rest) for i in range(7)]
        here = sums_of(chosen)
        worst = max(worst, *(np.linalg.norm(here - sums_of(other), axis=1).max() for other in others))
    bound = (2 if neighbors == "replace" else 1) * rows_of((0,)).reach
    assert 0.98 * bound < worst <= bound


@pytest.mark.parametrize("form", [lambda X: X, sp.csr_array])
@pytest.mark.parametrize("n_components", ["auto", 5])
def test_what_other_rows_are_changes_no_bit_of_a_row(form, n_components, rng, monkeypatch):
    """Margins, projections and integers of a row, alone and among others."""
    X = np.where(rng.random((9, 40)) < 0.6, rng.normal(size=(9, 40)), 0).astype(np.float32)
    X[0] = X[0] != 0
    w = rng.normal(size=40 if n_components == "auto" else 5) / 9

    def looks(X):
        rows = unit_rows(form(X) if n_components == "auto" else project(form(X), 5, 99), normalize=True)
        return rows.margins(w)[0], rows.weighted_sum(np.eye(1, len(X), dtype=np.int32)[0])

    alone = looks(X[:1])
    for size in range(2, 10):
        margin, row = looks(X[:size])
        assert margin == alone[0]
        np.testing.assert_array_equal(row, alone[1])


@pytest.mark.parametrize("n_components", ["auto", 6])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_noise_is_the_least_that_the_accountant_allows(neighbors, n_components, table):
    clf = ProjectedHalfspaceClassifier(
        0.7, 1e-5, neighbors=neighbors, n_components=n_components, loss="hinge", random_state=0, schema="vectors"
    )
    clf.fit(*table)
    assert (clf.privacy_.epsilon, clf.privacy_.delta, clf.privacy_.neighbors) == (0.7, 1e-5, neighbors)
    grid = 1 << GRID_BITS
    delta = discrete_gaussian_delta(
        clf.sigma_ * grid,
        0.7,
        sensitivity=(2 if neighbors == "replace" else 1) * grid,
        releases=clf.n_rounds_,
        size=clf.n_components_,
    )
    assert delta <= 1e-5
    assert delta == pytest.approx(1e-5, rel=1e-9)


def test_the_noise_drawn_is_the_noise_paid_for(table, monkeypatch):
    seen = []

    def spy(total, sigma, rng):
        seen.append((sigma, total.shape))
        return total

    monkeypatch.setattr(run, "discrete_gaussian", spy)
    clf = ProjectedHalfspaceClassifier(n_rounds=9, loss="hinge", random_state=0, schema="vectors").fit(*table)
    assert seen == [(clf.sigma_ * (1 << GRID_BITS), (13,))] * 9


def test_the_claim_is_one_honest_sentence(table):
    clf = ProjectedHalfspaceClassifier(n_rounds=7, schema="vectors").fit(*table)
    assert str(clf.privacy_) == "(1.0, 1e-06)-DP, replace one row; 8 of 8 releases used"
    clf = ProjectedHalfspaceClassifier(n_rounds=7, neighbors="add-remove", random_state=1, schema="vectors").fit(*table)
    assert str(clf.privacy_) == (
        "(1.0, 1e-06)-DP, add or remove one row; 8 of 8 releases used; drawn with a seed: reproducible, not private"
    )


def test_a_fitted_model_holds_nothing_but_what_was_released(table):
    clf = ProjectedHalfspaceClassifier(schema="vectors").fit(*table)
    fitted = {name for name in vars(clf) if name.endswith("_")}
    released = {"model_", "notes_", "coef_", "intercept_", "shift_", "n_components_", "n_rounds_", "sigma_"}
    assert fitted == {*released, "classes_", "class_sizes_", "n_features_in_", "privacy_"}
    assert set(vars(clf)) - fitted == {*clf.get_params(), "_facts"}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(table[0]), clf.predict(table[0]))


@pytest.mark.parametrize("after", [0, 3, 60])
@pytest.mark.parametrize(("kind", "first"), [(descent.FullBatch, ()), (descent.FadingDescent, (("opening", 1, 1),))])
def test_an_interrupted_fit_keeps_what_was_released_and_stays_charged(kind, first, after, table, monkeypatch):
    step, calls = kind.step, itertools.count()

    def interrupted(*arguments):
        if next(calls) == after:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(kind, "step", interrupted)
    budget = Budget(1.0, 1e-6)
    clf = ProjectedHalfspaceClassifier(
        budget=budget, loss="fading" if first else "hinge", random_state=0, schema="vectors"
    )
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*table)
    assert len(budget.charges) == 1
    assert clf.privacy_.events == (*first, ("rounds", after, 100))
    assert after == 0 or clf.score(*table) > 0.7
    assert clf.predict(table[0]).shape == (3000,)


# ---- the paper's schedule ------------------------------------------------------------------------------------------


FEW = 60


@pytest.fixture
def few(rng):
    X = rng.normal(size=(FEW, 2))
    return X, X[:, 0] > 0


def test_the_papers_steps_see_one_random_row_each(few, monkeypatch):
    X, y = few
    rows = unit_rows(X, normalize=True)
    integers = np.array([rows.weighted_sum(row) for row in np.eye(FEW, dtype=np.int32)])
    signs = np.where(y, 1, -1).astype(np.int8)
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    monkeypatch.setattr(descent, "discrete_gaussian", lambda zeros, sigma, rng: zeros + 12345)
    *_, last = descent.single_sample_steps(integers, rows.reach, signs, 0.3, 3.0 * rows.reach, rng)
    w, unit = np.zeros(2), integers / rows.reach
    for t in range(1, FEW**2 + 1):
        if t % FEW == 1:
            drawn = twin.integers(FEW, size=FEW)
        i = drawn[(t - 1) % FEW]
        gradient = 12345 / rows.reach + (signs[i] * unit[i] if signs[i] * (unit[i] @ w) < 0.96 * 0.3 else 0)
        w = w + 2 / math.sqrt(t * (1 + 2 * 9)) * gradient
        w /= max(1, np.linalg.norm(w))
    np.testing.assert_allclose(last, w, atol=1e-9)


def test_the_papers_schedule_learns_where_it_can(few):
    settings = {"epsilon": 100.0, "delta": 1e-3, "schedule": "paper", "margin": 0.2}
    clf = ProjectedHalfspaceClassifier(**settings, random_state=1).fit(*few)
    assert clf.score(*few) > 0.7  # .88, off by .1: so few rows have much noise
    assert clf.n_rounds_ == 6 * FEW**2
    assert clf.privacy_.events == (("steps", 6 * FEW**2, 6 * FEW**2), ("choice", 1, 1))


def test_the_papers_schedule_spends_epsilon_in_all(few, monkeypatch):
    monkeypatch.setattr(projected_halfspace, "single_sample_steps", lambda *_: iter([np.zeros(3)] * FEW))
    clf = ProjectedHalfspaceClassifier(2.0, 1e-5, schedule="paper", margin=0.1, random_state=0).fit(*few)
    assert clf.privacy_.epsilon == 2.0
    w = (1 + math.exp(1.0)) * 6 * FEW**2 * 3 / (24 * (clf.sigma_ * (1 << GRID_BITS)) ** 2)
    spent = single_sample_epsilon(2 / clf.sigma_, 1e-5 - w, rows=FEW, steps=6 * FEW**2)
    assert spent <= 1.0
    assert spent == pytest.approx(1.0, abs=1e-9)


def test_the_choice_among_results_is_the_exponential_mechanism_at_half_of_epsilon(few, monkeypatch):
    """Two right and four wrong candidates: the right ones win as often as exp(epsilon / 4 * score) says."""
    X, y = few
    right = np.array([1.0, 0.0, 0.0])
    runs = itertools.cycle([right, -right, -right, right, -right, -right])
    monkeypatch.setattr(projected_halfspace, "single_sample_steps", lambda *_: iter([next(runs)] * FEW))
    monkeypatch.setattr(projected_halfspace, "single_sample_sigma", lambda *_, **__: 1.0)
    signs, epsilon = np.where(y, 1, -1), 0.06
    rows = unit_rows(X, fit_intercept=True, normalize=True)
    scores = [-(signs * rows.margins(w) < 0.01).sum() for w in (right, -right)]
    law = exponential_law(np.repeat(scores, [2, 4]), epsilon / 4).reshape(-1)
    clf = ProjectedHalfspaceClassifier(epsilon, schedule="paper", margin=0.1, random_state=np.random.default_rng(2))
    won = [clf.fit(X, y).coef_[0, 0] > 0 for _ in range(300)]
    assert_follows([np.sum(won), 300 - np.sum(won)], [law[:2].sum(), law[2:].sum()])
    twice = exponential_law(np.repeat(scores, [2, 4]), epsilon / 2).reshape(-1)
    assert twice[:2].sum() - law[:2].sum() > 0.15  # so that half the noise would be seen


def test_the_papers_schedule_is_refused_where_it_would_not_finish(table):
    message = r'schedule="paper" takes 6 n\^2 = 54,000,000 steps for n = 3,000 rows, about [\d,]+ hours'
    monster = ProjectedHalfspaceClassifier(schedule="paper", margin=0.05)
    budget = Budget(1.0, 1e-6)
    X = np.tile(table[0], (1, 100))
    with pytest.raises(ValueError, match=message):
        monster.set_params(budget=budget).fit(X, table[1])
    assert budget.charges == ()


def test_an_interrupted_run_of_the_papers_schedule_keeps_its_last_pass(few, monkeypatch):
    steps = descent.single_sample_steps

    def interrupted(*arguments):
        yield from itertools.islice(steps(*arguments), 7)
        raise KeyboardInterrupt

    monkeypatch.setattr(projected_halfspace, "single_sample_steps", interrupted)
    clf = ProjectedHalfspaceClassifier(schedule="paper", margin=0.1, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*few)
    assert clf.privacy_.events == (("steps", 7 * FEW, 6 * FEW**2), ("choice", 0, 1))
    assert np.any(clf.coef_)


# ---- budgets and refusals ------------------------------------------------------------------------------------------


def test_a_budget_is_charged_once_a_fit_and_never_overdrawn(table):
    budget = Budget(2.0, 1e-5, composition="basic")
    clf = ProjectedHalfspaceClassifier(budget=budget, n_rounds=5, random_state=0)
    clf.fit(*table)
    clone(clf).fit(*table)
    with pytest.raises(BudgetExceeded):
        clf.fit(*table)


@pytest.mark.parametrize("n_components", ["auto", 4])
def test_a_refusal_charges_nothing_and_draws_nothing(n_components, table, rng):
    X, y = table
    budget = Budget(1.0, 1e-6)
    state = rng.bit_generator.state
    for parameters, bad_X, bad_y in (
        ({}, X[0], y),
        ({"loss": "hinge"}, X, np.arange(len(y)) % 3),
        ({"margin": 0.1}, X, np.arange(len(y)) % 3),
        ({"delta": 0.0}, X, y),
        ({"epsilon": 1e-12, "delta": 1e-12}, X, y),
        ({"schedule": "paper", "neighbors": "add-remove"}, X, y),
    ):
        clf = ProjectedHalfspaceClassifier(
            **parameters, n_components=n_components, budget=budget, random_state=rng, schema="vectors"
        )
        with pytest.raises(ValueError, match=r"."):
            clf.fit(bad_X, bad_y)
    assert budget.charges == ()
    assert rng.bit_generator.state == state


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"epsilon": np.inf}, "epsilon must"),
        ({"delta": 1.0}, "delta must"),
        ({"delta": 0}, "delta must"),
        ({"neighbors": "swap"}, 'neighbors must be "replace" or "add-remove"'),
        ({"margin": 0}, r'margin must be "auto" or lie in \(0, 1\], got 0'),
        ({"margin": 1.01}, "margin must"),
        ({"margin": np.nan}, "margin must"),
        ({"margin": "wide"}, "margin must"),
        ({"n_components": 0}, "n_components must be"),
        ({"n_components": "log"}, "n_components must be"),
        ({"n_rounds": 0}, r'n_rounds must be "auto" or an integer in \[1, 32768\], got 0'),
        ({"n_rounds": 2.5}, "n_rounds must"),
        ({"loss": "square"}, 'loss must be "auto", "fading" or "hinge"'),
        ({"loss": "fading", "margin": 0.1}, 'loss="fading" is for margin="auto"'),
        ({"schedule": "fast"}, 'schedule must be "full-batch" or "paper"'),
        ({"schedule": "paper", "n_rounds": 5, "margin": 0.1}, 'n_rounds must be "auto"'),
        ({"schedule": "paper"}, 'has a loss for one margin: margin must lie in .*, got "auto"'),
        ({"schedule": "paper", "neighbors": "add-remove"}, 'needs neighbors="replace"'),
        ({"random_state": -1}, "at least 0"),
        ({"budget": 3.0}, "budget must be None or"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        ProjectedHalfspaceClassifier(**parameters).fit(*table)


def test_sample_weights_are_refused_with_the_reason(table):
    with pytest.raises(ValueError, match="sample_weight is refused"):
        ProjectedHalfspaceClassifier().fit(*table, sample_weight=np.ones(3000))


# ---- a margin found on the way -------------------------------------------------------------------------------------


def test_the_margin_of_a_round_is_the_least_that_noise_does_not_reach_once_more_in_plain_words(rng):
    batch, total, deviation = FullBatch("auto", 50, 9), np.zeros(9), 2.0
    for t in range(50):
        norm = np.sqrt(np.square(total).sum())
        noise = math.sqrt(t) * deviation / norm if t else math.inf
        assert batch.margin(deviation) == min([m for m in MARGINS if m >= noise], default=1.0)
        noisy = rng.normal(size=9, scale=deviation) + 3 * t * (np.arange(9) == 4)
        batch._move(noisy)
        total += noisy
    assert batch.margin(deviation) < 0.1
    assert batch.margin(1000 * deviation) == 1.0
    assert FullBatch(0.07, 5, 9).margin(deviation) == 0.07


def test_margins_follow_from_what_was_released_alone(table, monkeypatch):
    """Two different tables, one transcript: the same margins, the same model."""
    X, y = table
    asked, released, models = [], [], []
    plain, drawn = FullBatch.margin, run.discrete_gaussian
    monkeypatch.setattr(FullBatch, "margin", lambda self, s: asked.append(plain(self, s)) or asked[-1])

    def first(total, sigma, rng):
        released.append(drawn(total, sigma, rng=rng))
        return released[-1]

    monkeypatch.setattr(run, "discrete_gaussian", first)
    for rows, labels in ((X, y), (-2 * X[::-1], y)):
        models.append(
            ProjectedHalfspaceClassifier(n_rounds=8, loss="hinge", random_state=0, schema="vectors").fit(rows, labels)
        )
        transcript = iter(list(released))
        monkeypatch.setattr(run, "discrete_gaussian", lambda total, sigma, rng, seen=transcript: next(seen))
    assert asked[:8] == asked[8:]
    assert len({*asked}) > 1
    assert np.array_equal(models[0].coef_, models[1].coef_)
