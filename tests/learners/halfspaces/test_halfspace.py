import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast import BitMatrix, CodeTable, HalfspaceClassifier
from dpfast.accounting import Budget, discrete_gaussian_delta
from dpfast.base import run
from dpfast.learners.halfspaces.halfspace import HalfspaceRows, image_of
from dpfast.learners.halfspaces.model import ROUNDS_PAID, Grid
from dpfast.learners.halfspaces.shrunken import ShrunkenDescent
from dpfast.learners.halfspaces.steepness import STEPS
from dpfast.tables import unit_rows
from dpfast.tables.cells import CodeColumn


def test_scikit_learn_finds_nothing_wrong():
    check_estimator(HalfspaceClassifier(n_rounds=3, random_state=0), on_skip=None)


@pytest.fixture
def three(rng):
    X = rng.normal(size=(4000, 5))
    return X, X[:, :3].argmax(axis=1)


def codes(rng, n=3000, numbers=True):
    columns = [
        CodeColumn("age", edges=(1.0, 2.0, 3.0), low=0.0, high=4.0, nullable=True),
        CodeColumn("job", values=("a", "b", "c"), other=True),
    ]
    drawn = np.stack([rng.integers(0, 5, n), rng.integers(0, 4, n)], axis=1)
    return CodeTable(drawn, [5, 4], names=["age", "job"], columns=columns if numbers else None)


# ---- the algorithm -------------------------------------------------------------------------------------------------


def test_what_follows_from_the_releases_follows_from_them_alone(table, rng, monkeypatch):
    """Two different tables, one transcript: the same coefficients asked for, the same model."""
    X, y = table
    asked, released, models = [], [], []

    def first(total, sigma, rng):
        released.append(total + rng.integers(-5, 6, total.shape) * int(sigma))
        return released[-1]

    plain = ShrunkenDescent.coefficients
    monkeypatch.setattr(ShrunkenDescent, "coefficients", lambda self: asked.append(plain(self)) or asked[-1])
    for kind, tables in (
        ("plain", ((X, y), (-3 * X[::-1], y))),
        ("codes", ((codes(rng), y), (codes(rng), y[::-1]))),
    ):
        asked.clear(), released.clear(), models.clear()
        monkeypatch.setattr(run, "discrete_gaussian", first)
        for rows, labels in tables:
            models.append(
                HalfspaceClassifier(n_rounds=8, random_state=0, schema="vectors").fit(
                    rows, labels, classes=["no", "yes"]
                )
            )
            transcript = iter(list(released))
            monkeypatch.setattr(run, "discrete_gaussian", lambda total, sigma, rng, seen=transcript: next(seen))
        half = len(asked) // 2
        assert half >= 8, kind
        for u, other in zip(asked[:half], asked[half:], strict=True):
            assert np.array_equal(u, other)
        assert np.array_equal(models[0].coef_, models[1].coef_)
        assert models[0].intercept_ == models[1].intercept_
        assert models[0].shift_ == models[1].shift_


def test_one_round_learns_already(table, three):
    for X, y in (table, three):
        assert HalfspaceClassifier(n_rounds=1, random_state=0).fit(X, y).score(X, y) > 0.75


def test_it_learns_two_classes_and_three(table, three):
    for X, y in (table, three):
        clf = HalfspaceClassifier(random_state=0, schema="vectors").fit(X[:2500], y[:2500])
        assert clf.score(X[2500:], y[2500:]) > 0.9
        columns = 1 if len(clf.classes_) == 2 else 3
        assert clf.coef_.shape == (columns, X.shape[1])
        assert clf.intercept_.shape == (columns,)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_may_be_declared_that_no_row_has(classes, rng):
    X = rng.normal(size=(500, 4))
    clf = HalfspaceClassifier(random_state=0).fit(X, np.zeros(500), classes=np.arange(classes))
    assert (clf.predict(X) == 0).mean() > 0.9


def test_all_images_of_a_table_give_the_same_model(mushroom):
    X, y = mushroom.data[:2000], mushroom.target[:2000]
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    models = [
        HalfspaceClassifier(random_state=3, n_rounds=5).fit(image, y)
        for image in (dense.astype(np.float32), sp.csr_array(dense), BitMatrix(dense))
    ]
    for clf in models[1:]:
        np.testing.assert_allclose(clf.coef_, models[0].coef_, rtol=0.05, atol=0.05)
        assert (clf.predict(X) == models[0].predict(X)).mean() > 0.99


# ---- codes ---------------------------------------------------------------------------------------------------------


def test_a_model_of_codes_is_a_number_for_each_code(rng):
    table = codes(rng)
    y = (table.column(0) > 2) ^ (rng.random(3000) < 0.05)
    clf = HalfspaceClassifier(random_state=0).fit(table, y)
    assert clf.n_features_in_ == 2
    assert list(clf.feature_names_in_) == ["age", "job"]
    assert clf.coef_.shape == (1, 9)
    assert clf.score(table, y) > 0.9
    drawn = table.toarray()
    scores = clf.coef_[0, drawn[:, 0]] + clf.coef_[0, 5 + drawn[:, 1]] + clf.intercept_[0]
    scores += clf.shift_[0]
    odds = np.sign(scores) * np.log((1 + np.exp(np.abs(scores))) / 2)
    np.testing.assert_allclose(clf.decision_function(table), odds, atol=1e-5)
    with pytest.raises(ValueError, match="coefficients for 9 codes, X has 10"):
        clf.predict(CodeTable(drawn, [5, 5], names=["age", "job"]))


# ---- weights of classes --------------------------------------------------------------------------------------------


def test_a_declared_weight_makes_a_rare_class_count(rng):
    X = rng.normal(size=(8000, 6))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=8000) > 2.0, "rare", "usual")
    recalls = [
        (clf := HalfspaceClassifier(class_weight=declared, random_state=0).fit(X, y))
        and (clf.predict(X)[y == "rare"] == "rare").mean()
        for declared in (None, {"rare": 30.0})
    ]
    assert 0.01 < (y == "rare").mean() < 0.06
    assert recalls[1] > 0.9 > recalls[0]
    assert clf.class_weight_.tolist() == [1.0, 1 / 30]


def test_balanced_moves_log_odds_by_the_noisy_sizes_of_the_classes_and_nothing_else(rng, tmp_path):
    X = rng.normal(size=(8000, 6))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=8000) > 2.0, "rare", "usual")
    plain, even = (
        HalfspaceClassifier(3.0, class_weight=weight, random_state=0).fit(X, y) for weight in (None, "balanced")
    )
    assert np.array_equal(even.coef_, plain.coef_)
    rarer = (y == "rare").sum() / (y == "usual").sum()
    assert even.class_weight_[0] == 1.0
    assert even.class_weight_[1] == pytest.approx(rarer, rel=0.2)
    moved = even.decision_function(X) - plain.decision_function(X)
    np.testing.assert_allclose(moved, math.log(even.class_weight_[1]))  # classes_[1] is "usual"
    recalls = [(clf.predict(X)[y == "rare"] == "rare").mean() for clf in (plain, even)]
    assert recalls[1] > 0.9 > recalls[0]
    even.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert np.array_equal(again.class_weight_, even.class_weight_)
    assert np.array_equal(again.predict_proba(X), even.predict_proba(X))


def test_balanced_is_for_any_number_of_classes(rng):
    X = rng.normal(size=(6000, 4))
    y = np.select([X[:, 0] > 1.8, X[:, 1] > 1.8], ["a", "b"], "usual")
    plain, even = (
        HalfspaceClassifier(class_weight=weight, random_state=0, schema="vectors").fit(X, y)
        for weight in (None, "balanced")
    )
    recalls = [np.mean([(clf.predict(X)[y == c] == c).mean() for c in clf.classes_]) for clf in (plain, even)]
    assert recalls[1] > recalls[0] + 0.1


def test_equal_weights_of_classes_are_no_weights(table, three):
    for X, y in (table, three):
        plain, equal = (
            HalfspaceClassifier(class_weight=declared, random_state=0, n_rounds=20, schema="vectors").fit(X, y)
            for declared in (None, dict.fromkeys(np.unique(y).tolist(), 7))
        )
        assert np.array_equal(equal.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("declared", "match"),
    [
        ({"rare": 1.0}, "names 'rare', which is none of the classes"),
        ({"yes": 0.0}, "finite numbers > 0"),
        ({"yes": math.inf}, "finite numbers > 0"),
        ({}, "finite numbers > 0"),
        ("even", "finite numbers > 0"),
    ],
)
def test_weights_that_are_none_are_refused_before_a_charge(declared, match, table):
    budget = Budget(1.0, 1e-5)
    with pytest.raises(ValueError, match=match):
        HalfspaceClassifier(class_weight=declared, budget=budget).fit(*table)
    assert not budget.charges


def test_a_saved_model_keeps_the_weights_of_its_classes(table, tmp_path):
    X, y = table
    clf = HalfspaceClassifier(class_weight={"yes": 3}, random_state=0, n_rounds=5).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert np.array_equal(again.class_weight_, clf.class_weight_)
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


# ---- privacy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("neighbors", "moves"), [("replace", 2), ("add-remove", 1)])
@pytest.mark.parametrize("n_rounds", [1, 12])
@pytest.mark.parametrize("kind", ["codes", "plain", "without an intercept"])
def test_all_releases_together_are_worth_what_is_claimed(kind, n_rounds, neighbors, moves, classes, rng, monkeypatch):
    """From what is in fact drawn: the sum of (how far a row moves a release / its noise)^2, against the claim."""
    drawn = []
    plain = run.discrete_gaussian
    monkeypatch.setattr(
        run,
        "discrete_gaussian",
        lambda total, sigma, rng: drawn.append((total, sigma)) or plain(total, sigma, rng=rng),
    )
    X, constant = codes(rng, 60) if kind == "codes" else rng.normal(size=(60, 4)), kind != "without an intercept"
    options = {"n_rounds": n_rounds, "neighbors": neighbors, "fit_intercept": constant, "interactions": 0}
    clf = HalfspaceClassifier(0.7, 1e-5, **options, random_state=0)
    clf.fit(X, np.arange(60) % classes)
    leveled = kind != "codes" and classes == 2  # the mean score and the counts of levels follow the rounds
    assert len(drawn) == n_rounds + 1 + leveled + (leveled and constant)
    assert clf.n_rounds_ == n_rounds
    (counts, sigma), *rounds = drawn
    image = image_of(HalfspaceRows(intercept=constant).rows(X), classes, constant)
    reach, weight = image.reach, image.opening_question()[2]
    unit = int(counts[-classes:].sum()) // 60 // weight
    cells = (2 if kind == "codes" else moves * 2**34 * constant) + weight**2  # two columns, or rows of norm 2^17
    spent = n_rounds * (1 if classes == 2 else 2) * (moves * reach) ** 2 / sigma**2
    spent += unit**2 * moves * cells / sigma**2
    if leveled:
        spent += (int(drawn[-1][0].sum()) // 60) ** 2 * moves / sigma**2
    if leveled and constant:
        middle_unit = math.isqrt(-(-n_rounds // ROUNDS_PAID) * (moves * reach) ** 2 // (2 * (moves * STEPS) ** 2))
        assert Grid.of(image, classes, n_rounds, neighbors).middle == middle_unit
        assert (drawn[-2][0] % middle_unit == 0).all()
        assert abs(drawn[-2][0]).max() <= 60 * STEPS * middle_unit
        spent += (middle_unit * moves * STEPS) ** 2 / sigma**2
    assert {each for _, each in rounds} == {sigma}
    assert clf.sigma_ == sigma / reach
    entries = sum(total.size for total, _ in drawn)
    claimed = discrete_gaussian_delta(sigma, 0.7, sensitivity=math.sqrt(spent) * sigma, releases=1, size=entries)
    assert 0.8e-5 < claimed <= 1e-5 * (1 + 1e-6)
    assert str(clf.privacy_).startswith("(0.7, 1e-05)-DP")


def test_what_was_released_before_an_interruption_is_kept(table, monkeypatch):
    X, y = table
    plain, calls = run.discrete_gaussian, []

    def interrupted(total, sigma, rng):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return plain(total, sigma, rng=rng)

    monkeypatch.setattr(run, "discrete_gaussian", interrupted)
    clf = HalfspaceClassifier(random_state=0, schema="vectors")
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert [release.used for release in clf.privacy_.events] == [1, 5, 0, 0]
    assert clf.score(X, y) > 0.8


@pytest.mark.parametrize("kind", ["codes", "plain"])
def test_a_model_without_an_opening_is_level(kind, table, rng, monkeypatch):
    def interrupted(total, sigma, rng):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "discrete_gaussian", interrupted)
    X, y = (codes(rng), table[1]) if kind == "codes" else table
    clf = HalfspaceClassifier(random_state=0, schema="vectors")
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert [release.used for release in clf.privacy_.events] == [0, 0] + [0, 0] * (kind == "plain")
    np.testing.assert_array_equal(clf.predict_proba(X), 0.5)


# ---- probabilities -------------------------------------------------------------------------------------------------


def test_probabilities_add_up_to_1_and_predictions_are_the_most_probable(table, three):
    for X, y in (table, three):
        clf = HalfspaceClassifier(random_state=0).fit(X, y)
        probabilities, scores = clf.predict_proba(X), clf.decision_function(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert probabilities.min() >= 0
        assert np.array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.predict(X))
        if scores.ndim == 1:
            np.testing.assert_allclose(np.log(probabilities[:, 1] / probabilities[:, 0]), scores, atol=1e-6)
        else:
            assert np.array_equal(scores.argmax(axis=1), probabilities.argmax(axis=1))


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("kind", ["codes", "plain"])
@pytest.mark.parametrize("classes", [2, 3])
def test_noise_alone_is_hardly_behind_the_shares_of_the_classes(classes, kind, epsilon, rng):
    """Labels that no column says anything of, three in four of one class."""
    y = np.where(rng.random(4000) < 0.75, 0, 1 + rng.integers(0, classes - 1, 4000))
    X = codes(rng, 4000) if kind == "codes" else rng.normal(size=(4000, 20))
    shares = np.bincount(y) / len(y)
    chances = HalfspaceClassifier(epsilon, random_state=0, schema="vectors").fit(X, y).predict_proba(X)
    assert (chances.argmax(axis=1) == y).mean() > shares.max() - 0.02
    assert -np.log(chances[np.arange(4000), y]).mean() < -(shares * np.log(shares)).sum() + 0.1


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_scores_of_codes_are_moderated_where_noise_is_left_in_them(relation, rng, monkeypatch):
    codes = rng.integers(0, 8, (1000, 20))
    y = (codes[:, 0] + rng.normal(scale=3, size=1000) > 5).astype(int)

    def scores(epsilon):
        model = HalfspaceClassifier(epsilon, neighbors=relation, random_state=0)
        return model.fit(CodeTable(codes, [8] * 20), y, classes=[0, 1]).coef_[0]

    as_they_are = {epsilon: scores(epsilon) for epsilon in (0.1, 10.0)}
    monkeypatch.setattr(ShrunkenDescent, "left", lambda self, curvature: np.zeros((len(curvature), 1)))
    for epsilon, (low, high) in {0.1: (0.5, 0.95), 10.0: (0.96, 1.0)}.items():
        raw = scores(epsilon)
        factor = as_they_are[epsilon] @ raw / (raw @ raw)
        np.testing.assert_allclose(as_they_are[epsilon], factor * raw, atol=1e-12)
        assert low < factor < high


@pytest.mark.parametrize(("share", "slower"), [(0.5, 1.0), (0.25, 1.0), (0.02, 0.3920), (0.98, 0.3920)])
def test_codes_with_a_rare_class_are_learned_at_a_slower_pace(share, slower, rng, monkeypatch):
    """The root of 8 p (1 - p) max(p, 1 - p), where that is below 1."""
    drawn = rng.integers(0, 4, (5000, 2))
    y = ((drawn[:, 0] > 1) != (drawn[:, 1] > 1)) if share == 0.5 else rng.random(5000) < share
    plain, paces = ShrunkenDescent.__init__, []

    def noted(self, *arguments, **named):
        paces.append(arguments[-2])
        plain(self, *arguments, **named)

    monkeypatch.setattr(ShrunkenDescent, "__init__", noted)
    model = HalfspaceClassifier(20.0, n_rounds=10, interactions=1, trees=0, random_state=0)
    model.fit(CodeTable(drawn, [4, 4]), y, classes=[False, True])
    np.testing.assert_allclose(paces, slower, rtol=0.15)
    assert len(paces) == 1 + len(model.interactions_)


def test_one_of_many_columns_that_says_it_all_is_found(rng):
    X = rng.choice([-1.0, 1.0], (3000, 400))
    few = HalfspaceClassifier(0.5, random_state=0).fit(X, X[:, 7] > 0, classes=[False, True])
    others = np.delete(few.coef_[0], 7)
    assert few.coef_[0, 7] > 20 * np.sqrt(np.square(others).mean())
    wide = HalfspaceClassifier(0.5, random_state=0)
    wide.fit(np.pad(X, ((0, 0), (0, 113))), X[:, 7] > 0, classes=[False, True])  # more than 512 columns
    assert wide.coef_[0, 7] < 20 * np.sqrt(np.square(np.delete(wide.coef_[0], 7)).mean())


def test_probabilities_are_calibrated(mushroom, rng):
    wrong = rng.random(len(mushroom.target)) < 0.15
    labels = np.unique(mushroom.target)
    y = np.where(wrong, labels[(mushroom.target == labels[0]).astype(int)], mushroom.target)
    clf = HalfspaceClassifier(random_state=0).fit(mushroom.data, y)
    p, hit = clf.predict_proba(mushroom.data)[:, 1], y == labels[1]
    cell = np.minimum((10 * p).astype(int), 9)
    gaps = [abs(p[cell == c].sum() - hit[cell == c].sum()) for c in range(10)]
    assert sum(gaps) / len(p) < 0.06


# ---- files ---------------------------------------------------------------------------------------------------------


def test_a_saved_model_of_codes_predicts_the_same(rng, tmp_path):
    table = codes(rng, 500)
    clf = HalfspaceClassifier(random_state=0).fit(table, table.column(1) > 1)
    clf.save(tmp_path / "model.json")
    assert np.array_equal(dpfast.load(tmp_path / "model.json").predict_proba(table), clf.predict_proba(table))


def test_more_classes_than_would_finish_are_refused_before_the_charge_with_what_they_would_cost(rng):
    budget, X = Budget(2, 1e-5), rng.integers(0, 2, (50, 3))
    with pytest.raises(ValueError, match=r"70,000 classes would take 7,000,000 passes over the rows"):
        HalfspaceClassifier(budget=budget).fit(X, X[:, 0], classes=np.arange(70_000))
    assert budget.spent == (0.0, 0.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_reads_plain_rows_as_often_as_the_notes_say(classes, rng, monkeypatch):
    X, counted, passes = np.asfortranarray(rng.normal(size=(30, 2))), [], []  # converted anew in each pass
    plain = unit_rows._kernel_rows
    monkeypatch.setattr(unit_rows, "_kernel_rows", lambda block: counted.append(0) or plain(block))
    for n_rounds in (2, 5):
        HalfspaceClassifier(n_rounds=n_rounds, random_state=0).fit(X, np.arange(30) % classes)
        passes.append(len(counted))
    assert passes[1] - 2 * passes[0] == 3
