"""Learners that open with a sum of the rows: centred rows, the projected measure, and boosting beside a float twin."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import dpfast
from dpfast import BitMatrix, BoostedHalfspaceClassifier, ProjectedHalfspaceClassifier
from dpfast.accounting import gaussian_sigma
from dpfast.base.plan import Plan, Task, _billed
from dpfast.kernels import measure
from dpfast.learners.halfspaces.boosting_parts import Sides
from dpfast.learners.halfspaces.measure import CAP, UNIT, projected
from dpfast.learners.halfspaces.opened import PlainForm
from dpfast.learners.halfspaces.plain import CentredImage, _plain_middle
from dpfast.learners.halfspaces.steepness import STEPS
from dpfast.tables.unit_rows import CentredRows, Centring, unit_rows

FORMS = {
    "numbers": lambda x: x,
    "sparse": lambda x: sp.csr_array(np.where(np.abs(x) < 0.5, 0, x)),
    "bits": lambda x: BitMatrix(x > 0.5),
    "one of many": lambda x: np.where(np.arange(x.shape[1]) == 0, 1000 * x, 0.0),
}


def centring_of(rows, far=1.0):
    """A centring as an opening without noise gives it, or a mean that is far from the rows."""
    mean = far * rows.weighted_sum(np.ones(rows.shape[0], np.int32)) / rows.shape[0] / rows.reach
    mean /= max(1.0, np.linalg.norm(mean))
    square = 0.7 * max(0.1, 1 - mean @ mean)
    return Centring.of(mean, 0.2 * square**0.5, (1.04 * square) ** 0.5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("far", [0.0, 1.0, -30.0])
def test_centred_rows_are_within_their_reach_and_near_their_twin(form, far, rng):
    x = rng.normal(size=(60, 30)) + 0.5
    x[0] = 0
    rows = unit_rows(FORMS[form](x), fit_intercept=True)
    centring = centring_of(rows, far)
    centred = CentredRows(rows, centring)
    integers = np.array([centred.weighted_sum(one) for one in np.eye(60, dtype=np.int32)])
    norms = [sum(int(v) ** 2 for v in row) for row in integers]
    assert max(norms) <= centred.reach**2
    units = np.array([rows.weighted_sum(one) for one in np.eye(60, dtype=np.int32)]) / rows.reach
    exact = np.hstack([units - centring.mean / 1024, np.full((60, 1), centring.top / 1024)]) / (centring.radius / 2**17)
    lengths = np.linalg.norm(exact, axis=1)
    np.testing.assert_allclose(np.sqrt(norms) / centred.reach, np.minimum(1, lengths), atol=0.06)
    shares = np.sqrt(norms) / centred.reach / lengths
    np.testing.assert_allclose(integers / centred.reach, exact * shares[:, np.newaxis], atol=2e-3)
    w = rng.normal(size=(32, 2)) / 6
    np.testing.assert_allclose(centred.margins(w[: centred.shape[1]]), np.clip(exact @ w, -1, 1), atol=1e-4)
    weights = rng.integers(-CAP, CAP + 1, 60).astype(np.int32)
    assert centred.weighted_sum(weights).tolist() == (weights @ integers).tolist()


def test_rows_whose_first_share_is_too_large_get_a_smaller_one(rng):
    """Truncated entries are nearer to 0, that is, farther from a mean beyond them."""
    rows = unit_rows(np.abs(rng.normal(size=(300, 3000))) + 0.1)
    mean = np.full(3000, 1.9 * 3000**-0.5)
    for radius in (0.3, 0.7, 0.9):
        centred = CentredRows(rows, Centring.of(mean, 0.1, radius))
        integers = np.array([centred.weighted_sum(one) for one in np.eye(300, dtype=np.int32)]) // centred._factor
        squares = [sum(int(v) ** 2 for v in row) for row in integers]
        assert max(squares) <= (radius * 2**17) ** 2


def test_rows_without_an_intercept_stay_as_they_are(rng):
    rows = unit_rows(rng.normal(size=(50, 7)))
    image = CentredImage(rows, 2, False)
    image.open(np.array([20.0, 30.0]), 1.0, 50)
    centred = CentredRows(rows, image.centring())
    weights = rng.integers(-9, 9, 50).astype(np.int32)
    assert (centred.weighted_sum(weights)[:-1] * rows.reach == rows.weighted_sum(weights) * centred.reach).all()
    assert image.start().tolist() == [0.0] * 8


def test_the_opening_moves_by_no_more_than_its_noise_is_made_for(rng):
    """Unit rows, some opposite to each other, and both classes; bits have no opposite."""
    cube = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=2)))
    for table, signed in ((cube, True), (BitMatrix(cube > 0), False), ((cube > 0).astype(np.uint8), False)):
        for classes in (2, 3):
            rows = unit_rows(table, normalize=True, fit_intercept=signed)
            image = CentredImage(rows, classes, True)
            counts = np.array([rows.weighted_sum(one) for one in np.eye(9, dtype=np.int32)])
            every = [
                np.append(row, rows.reach // 2 * np.eye(classes, dtype=int)[c])
                for row in counts
                for c in range(classes)
            ]
            most = max(int(np.square(a - b).sum()) for a, b in itertools.product(every, repeat=2))
            assert most <= image.opening_square(2)
            assert max(int(np.square(a).sum()) for a in every) <= image.opening_square(1)
            assert image.opening_square(2) == ((4 if signed else 2) + 0.5) * rows.reach**2
            if not signed:
                assert most > 0.99 * image.opening_square(2)


def test_rows_may_have_negative_entries_unless_their_type_excludes_them():
    signed = {form: PlainForm.of(Task(1.0, 1e-6, reach=1 << 17, form=form)).signed for form in (True, False, None)}
    assert signed == {True: True, False: False, None: True}


# ---- the measure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [1, CAP // 2, CAP, 3 * CAP // 2, 2 * CAP + 7, 9 * CAP])
def test_one_row_moves_a_sum_by_at_most_two_if_the_measure_may_have_more_than_its_mass(units):
    """Brute force, as for a measure of one mass; other weights move in one direction, by that of the row in sum."""
    levels, table = (-40, 0, 3, 90), measure.table(0.1, CAP)

    @functools.cache
    def weights(margins):
        found = projected(
            np.array(margins, np.int32), np.ones(len(margins), np.int8), table, min(units, len(margins) * CAP), True
        )
        assert 0 <= found.min() <= found.max() <= CAP
        assert found.sum() >= min(units, len(margins) * CAP)
        return found.astype(int)

    worst = 0
    for others in itertools.product(levels, repeat=3):
        for one in levels:
            before = weights((*others, one))
            for other in levels:
                after = weights((*others, other))
                moved = after[:3] - before[:3]
                assert (moved >= 0).all() or (moved <= 0).all()
                assert np.abs(moved).sum() <= abs(after[3] - before[3])
            moved = weights(others) - before[:3]
            assert (moved >= 0).all()
            assert moved.sum() <= before[3]
            worst = max(worst, moved.sum() + before[3])
    assert worst <= 2 * CAP
    if CAP <= units <= 2 * CAP + 7:
        assert worst == 2 * CAP  # under "add-remove" the bound is attained


def test_weights_that_add_up_to_enough_are_those_of_single_rows():
    table = measure.table(0.1, CAP)
    margins, signs = np.array([-5, 0, 3, 30], np.int32), np.array([1, -1, 1, 1], np.int8)
    weights = projected(margins, signs, table, CAP, least=True)
    assert weights.tolist() == [CAP, -CAP, table[3], table[30]]
    assert np.abs(projected(margins, signs, table, CAP)).sum() == CAP
    assert np.abs(projected(margins, signs, table, 3 * CAP, least=True)).sum() == 3 * CAP


def test_a_row_of_several_classes_is_beside_its_strongest_rival():
    labels = np.array([0, 1, 2, 0])
    sides = Sides(labels, 3)
    scores = np.array([[0.5, 0.25, -0.25], [0.5, 0.5, 0.75], [0.0, 0.0, 0.0], [-1.0, 0.5, 0.5]], np.float32)
    sides.add(scores)
    sides.add(np.float32(0.25) * scores)
    own = scores[np.arange(4), labels]
    rivals = np.array([1, 2, 0, 1])  # the first one among equals
    assert sides.margins().tolist() == (1.25 * UNIT * (own - scores[np.arange(4), rivals])).tolist()
    rows = unit_rows(np.eye(4))
    total = (
        sides.weighted_sum(rows, np.array([1, 2, 3, 4], np.int32)) / rows.weighted_sum(np.eye(4, dtype=np.int32)[0])[0]
    )
    assert total.tolist() == [[1, -1, 0], [0, 2, -2], [-3, 0, 3], [4, -4, 0]]


# ---- boosting --------------------------------------------------------------------------------------------------------


def twin(X, codes, k, T, rate, kappa):
    """Boosting in floats, without noise, from the true opening; returns the scores of the rows."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    mean, sizes = rows.mean(axis=0), np.bincount(codes, minlength=k)
    square = 0.7 * max(0.1, 1 - mean @ mean)
    centred = np.hstack([rows - mean, np.full((len(X), 1), 0.2 * square**0.5)]) / (1.04 * square) ** 0.5
    short = centred / np.maximum(1, np.linalg.norm(centred, axis=1, keepdims=True))
    own, n = np.eye(k)[codes], len(X)
    w, late, odds = np.zeros((centred.shape[1], k)), [], np.log(sizes) - np.log(sizes).mean()
    for t in range(T):
        scores = odds + centred @ w
        others = np.where(own > 0, -np.inf, scores)
        margin = (own * scores).sum(axis=1) - others.max(axis=1)
        low, high = 0.0, 300.0
        for _ in range(200):
            middle = (low + high) / 2
            weights = np.minimum(1, np.exp(np.minimum(0, middle - margin)))
            low, high = (middle, high) if weights.sum() < kappa * n else (low, middle)
        weights = np.minimum(1, np.exp(np.minimum(0, low - margin)))
        w = w + rate / (kappa * n) * short.T @ (weights[:, np.newaxis] * (own - np.eye(k)[others.argmax(axis=1)]))
        if t >= int(0.8 * T):
            late.append(w)
    return odds + centred @ np.mean(late, axis=0)


def exact(monkeypatch):
    monkeypatch.setattr("dpfast.base.run.discrete_gaussian", lambda total, sigma, rng: total)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kappa", [0.05, 0.5])
def test_boosting_is_its_twin_where_there_is_no_noise(k, kappa, rng, monkeypatch):
    exact(monkeypatch)
    X = rng.normal(size=(400, 6)) + np.array([1, 0, 0, 2, 0, 0])
    codes = np.minimum(rng.geometric(0.6, 400) - 1, k - 1)
    X[np.arange(400), codes % 6] += 2
    settings = {"n_rounds": 20, "learning_rate": 4.0, "density": kappa}
    clf = BoostedHalfspaceClassifier(1e4, 0.5, **settings, random_state=0, schema="vectors").fit(
        X, codes, classes=range(k)
    )
    expected = twin(X, codes, k, 20, 2.0 * (0.5 if k == 2 else 1.0), kappa)
    scores = clf.decision_function(X)
    if k == 2:  # one score, of which a step moves both classes
        expected = expected[:, 1] - expected[:, 0]
    else:
        scores = scores - scores.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(scores, expected, atol=0.05 * np.abs(expected).max())
    assert clf.score(X, codes) > 0.8


def test_the_first_scores_are_the_log_odds_of_the_classes(rng, monkeypatch):
    exact(monkeypatch)
    X = rng.normal(size=(1000, 4))
    for codes in (np.arange(1000) < 100, np.minimum(np.arange(1000) // 200, 3)):
        sizes = np.bincount(codes)
        clf = BoostedHalfspaceClassifier(1e4, 0.5, learning_rate=0.001, n_rounds=1, random_state=0)
        scores = clf.fit(X, codes, classes=[*range(len(sizes))]).decision_function(X).mean(axis=0)
        odds = np.log(sizes[1] / sizes[0]) if len(sizes) == 2 else np.log(sizes) - np.log(sizes).mean()
        np.testing.assert_allclose(scores, odds, atol=0.01)


def test_a_rare_class_is_ranked_and_more_budget_does_no_harm(rng):
    """Rows are around a mean, and 5% are positive."""
    X = (rng.random((16_000, 40)) < 0.4).astype(np.uint8)
    chance = 1 / (1 + np.exp(4.2 - 1.5 * (X[:, :6].sum(axis=1) - 2.4)))
    y = rng.random(16_000) < chance
    train, test = slice(12_000), slice(12_000, None)
    aucs, accuracies = [], []
    for epsilon in (0.3, 1.0, 10.0):
        clf = BoostedHalfspaceClassifier(epsilon, random_state=1).fit(X[train], y[train], classes=[False, True])
        aucs.append(roc_auc_score(y[test], clf.decision_function(X[test])))
        accuracies.append(clf.score(X[test], y[test]))
    best = roc_auc_score(y[test], chance[test])
    assert aucs[1] > best - 0.05
    assert aucs[2] > max(aucs) - 0.01
    assert min(accuracies) > 1 - y[test].mean() - 0.004


def test_more_than_two_classes_are_one_bill_with_the_norm_of_the_residual(rng):
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 4
    sigma = {}
    for k in (2, 4):
        task = Task(1.0, 1e-6, n_columns=5, n_classes=k, reach=1 << 17, n_rows=300, form=True)
        sigma[k] = BoostedHalfspaceClassifier().plan(task).solve(task).noise["rounds"]
    assert sigma[4] / sigma[2] == pytest.approx(2**0.5, rel=1e-6)
    one = gaussian_sigma(1.0, 1e-6, sensitivity=1.0) * (60 / 0.95) ** 0.5
    assert sigma[2] / (2 * CAP * CentredRows.reach) == pytest.approx(one, rel=1e-6)
    clf = BoostedHalfspaceClassifier(random_state=0, schema="vectors").fit(X, y, classes=range(4))
    assert str(clf.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 61 of 61")
    assert clf.coef_.shape == (4, 4)


def planned(monkeypatch, clf, X, y, units=None):
    """The parts of the bill that a fit plans."""
    parts, solve = [], Plan.solve

    def solving(plan, task):
        parts.extend(_billed(plan[name], task.rows_per_unit) for name in ("rounds", "opening"))
        return solve(plan, task)

    given = {} if units is None else {"units": units, "rows_per_unit": 3}
    with monkeypatch.context() as patch:
        patch.setattr(Plan, "solve", solving)
        clf.set_params(n_rounds=2, random_state=0, schema="vectors").fit(X, y, classes=range(2), **given)
    return parts


def test_noise_is_made_for_the_measure_the_relation_and_units(rng, monkeypatch):
    """The projected measure moves by 2 under both relations, and the local one by 1 if a row is added."""
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2

    def boosted(units=None, **more):
        return planned(monkeypatch, BoostedHalfspaceClassifier(**more), X, y, units)

    rounds, opening = boosted()
    assert rounds.sensitivity == 2 * CAP * CentredRows.reach
    assert opening.sensitivity == pytest.approx(4.5**0.5 * 2**17)
    more, fewer = boosted(neighbors="add-remove")
    assert more.sensitivity == rounds.sensitivity
    assert fewer.sensitivity == pytest.approx(1.25**0.5 * 2**17)
    assert boosted(measure="local")[0].sensitivity == rounds.sensitivity
    local, _ = boosted(measure="local", neighbors="add-remove")
    assert local.sensitivity == rounds.sensitivity / 2
    units = boosted(np.arange(60) // 3)
    assert [part.sensitivity for part in units] == [3 * rounds.sensitivity, 3 * opening.sensitivity]
    assert [part.size for part in units] == [5, 4 + 2]


def test_several_classes_are_learned_saved_and_shown(rng, tmp_path):
    X = rng.normal(size=(4000, 5))
    y = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    clf = BoostedHalfspaceClassifier(4.0, probability_share=0.1, random_state=0).fit(X, y, classes=["a", "b", "c"])
    assert clf.score(X, y) > 0.9
    chances = clf.predict_proba(X)
    assert (clf.classes_[chances.argmax(axis=1)] == clf.predict(X)).all()
    clf.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.decision_function(X).tolist() == clf.decision_function(X).tolist()
    assert loaded.predict_proba(X).tolist() == chances.tolist()
    assert "for c" in clf._repr_html_()
    clf.report(tmp_path / "m.html")


def test_boosting_without_an_opening_says_which_learner_takes_more_classes(rng):
    X, y = rng.integers(0, 2, (90, 3)), np.arange(90) % 3
    for more in ({"start": "even"}, {"weak_learner": "stump"}, {"calibration": "plan", "margin": 0.5}):
        with pytest.raises(ValueError, match="HalfspaceClassifier and DecisionListClassifier learn any number"):
            BoostedHalfspaceClassifier(**more).fit(X.astype(bool), y, classes=[0, 1, 2])


# ---- descent with residuals that fade --------------------------------------------------------------------------------


def faded_twin(X, codes, k, T):
    """The descent in floats, without noise, whose margin is then the least; returns the scores of the rows."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    mean, sizes = rows.mean(axis=0), np.bincount(codes, minlength=k)
    square = 0.7 * max(0.1, 1 - mean @ mean)
    centred = np.hstack([rows - mean, np.full((len(X), 1), 0.2 * square**0.5)]) / (1.04 * square) ** 0.5
    short = centred / np.maximum(1, np.linalg.norm(centred, axis=1, keepdims=True))
    own, odds = np.eye(k)[codes], np.log(sizes) - np.log(sizes).mean()
    w, squares, late = np.zeros((centred.shape[1], k)), 0.0, []
    for t in range(T):
        scores = odds + 128 * centred @ w
        others = np.where(own > 0, -np.inf, scores)
        weights = np.exp(np.minimum(0, others.max(axis=1) - (own * scores).sum(axis=1)))
        total = short.T @ (weights[:, np.newaxis] * (own - np.eye(k)[others.argmax(axis=1)]))
        squares += np.square(total).sum()
        w = w + (2 / squares) ** 0.5 * total
        w /= max(1, np.linalg.norm(w))
        if 2 * t >= T:
            late.append(w)
    return odds + 128 * centred @ np.mean(late, axis=0)


@pytest.mark.parametrize("k", [3, 4])
def test_the_descent_is_its_twin_where_there_is_no_noise(k, rng, monkeypatch):
    exact(monkeypatch)
    X = rng.normal(size=(500, 6)) + np.array([1, 0, 0, 2, 0, 0])
    codes = np.minimum(rng.geometric(0.5, 500) - 1, k - 1)
    X[np.arange(500), codes] += 1.5
    clf = ProjectedHalfspaceClassifier(1e6, 0.5, n_rounds=10, random_state=0, schema="vectors").fit(
        X, codes, classes=range(k)
    )
    expected = faded_twin(X, codes, k, 10)
    scores = clf.decision_function(X)
    scores = scores - scores.mean(axis=1, keepdims=True)
    assert np.corrcoef(scores.ravel(), expected.ravel())[0, 1] > 0.999
    assert (scores.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.97


def test_the_loss_is_chosen_by_public_numbers(rng):
    X, y = rng.normal(size=(200, 20)), np.arange(200) % 2

    def first(*, classes=2, **more):
        clf = ProjectedHalfspaceClassifier(n_rounds=2, random_state=0, **more)
        return clf.fit(X, np.arange(200) % classes, classes=range(classes)).privacy_.events[0][0]

    assert first() == "opening"
    assert first(margin=0.1) == first(loss="hinge") == first(n_components=5) == "rounds"
    assert first(n_components=5, loss="fading") == first(n_components=5, classes=3) == "opening"
    with pytest.raises(ValueError, match="HalfspaceClassifier and DecisionListClassifier learn any number"):
        ProjectedHalfspaceClassifier(margin=0.1).fit(X, np.arange(200) % 3)
    assert y.any()


def test_projected_rows_of_several_classes_are_learned_and_saved(rng, tmp_path):
    X = rng.normal(size=(3000, 60))
    X[:, :3] *= 8
    y = X[:, :3].argmax(axis=1)
    clf = ProjectedHalfspaceClassifier(8.0, n_components=40, random_state=0).fit(X, y, classes=range(3))
    assert clf.coef_.shape == (3, 60)
    assert clf.score(X, y) > 0.75
    clf.save(tmp_path / "m.json")
    assert dpfast.load(tmp_path / "m.json").decision_function(X).tolist() == clf.decision_function(X).tolist()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_noise_of_the_descent_is_made_for_the_relation(neighbors, rng, monkeypatch):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    changes = 2 if neighbors == "replace" else 1
    rounds, _ = planned(monkeypatch, ProjectedHalfspaceClassifier(neighbors=neighbors), X, y)
    assert rounds.sensitivity == changes * CAP * CentredRows.reach
    clf = ProjectedHalfspaceClassifier(n_components=2, loss="fading")
    _, opening = planned(monkeypatch, clf, X > 0, y)
    assert opening.sensitivity == pytest.approx(4.5**0.5 * 2**17)  # projections of bits have negative entries


@pytest.mark.parametrize("learner", [BoostedHalfspaceClassifier, ProjectedHalfspaceClassifier])
def test_too_many_classes_are_refused_before_the_charge(learner, rng):
    budget = dpfast.accounting.Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match=r"5,000 classes would take as many passes .* at most 4,096"):
        learner(budget=budget).fit(rng.normal(size=(50, 2)), np.arange(50), classes=range(5000))
    assert budget.charges == ()


def test_a_row_moves_the_sum_of_scores_by_no_more_than_its_steps():
    for step in (1.0, 1e6, 1e30):
        for side in (-1, 1):
            rows = SimpleNamespace(margins=lambda w, side=side: np.full((1, 1), side, np.float32))
            (moved,) = _plain_middle(SimpleNamespace(rows=rows), None, step, [2.0 * side])
            assert abs(moved) <= STEPS
            assert step == 1 or moved == side * STEPS
