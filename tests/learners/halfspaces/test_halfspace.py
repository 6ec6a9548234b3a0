import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpfast
from dpfast import BitMatrix, CodeTable, HalfspaceClassifier
from dpfast.accounting import Budget, BudgetExceeded, discrete_gaussian_delta
from dpfast.learners.halfspaces import calibration, halfspace
from dpfast.learners.halfspaces.perceptron import NoisySums, sensitivity, unsettled, unsettled_sum
from dpfast.parts.piece import Piece
from dpfast.tables.columns import CodeColumn
from dpfast.tables.unit_rows import unit_rows


@parametrize_with_checks([HalfspaceClassifier(random_state=0)])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def mushroom():
    return dpfast.load_dataset("mushroom")


@pytest.fixture
def table(rng):
    X = rng.normal(size=(3000, 12))
    return X, np.where(X[:, 3] - X[:, 7] > 0, "yes", "no")


@pytest.fixture
def three(rng):
    X = rng.normal(size=(4000, 5))
    return X, X[:, :3].argmax(axis=1)


@pytest.fixture
def no_noise(monkeypatch):
    monkeypatch.setattr(halfspace, "discrete_gaussian", lambda total, sigma, rng: total)


def codes(rng, n=3000, numbers=True):
    columns = [
        CodeColumn("age", edges=(1.0, 2.0, 3.0), low=0.0, high=4.0, nullable=True),
        CodeColumn("job", values=("a", "b", "c"), other=True),
    ]
    drawn = np.stack([rng.integers(0, 5, n), rng.integers(0, 4, n)], axis=1)
    return CodeTable(drawn, [5, 4], names=["age", "job"], columns=columns if numbers else None)


# ---- the algorithm -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_adds_the_rows_that_are_not_settled_and_its_threshold_follows_the_noise(classes, rng):
    """Once more in plain words, with noise of its own."""
    n, d, deviation, rounds = 400, 7, 30.0, 10
    X, labels = rng.normal(size=(n, d)), rng.integers(0, classes, n)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    sums = NoisySums(d, classes, deviation, rounds)
    G, columns = np.zeros((d, classes)), 1 if classes == 2 else classes
    squares, threshold, kept = 0.0, math.inf, []  # to begin with no row is settled
    for t in range(1, rounds + 1):
        scores, expected = X @ G, np.zeros((d, classes))
        for x, s, own in zip(X, scores, labels, strict=True):
            rival = max((c for c in range(classes) if c != own), key=lambda c: s[c])
            if s[own] - s[rival] < threshold:
                expected[:, own] += x
                expected[:, rival] -= x
        if classes == 2:
            expected = expected[:, 1:]
        w, scaled = sums.unit()
        weights = unsettled((X @ w).astype(np.float32), labels, scaled)
        np.testing.assert_allclose(X.T @ weights, expected, atol=1e-9)
        noisy = expected + rng.normal(scale=deviation, size=expected.shape)
        sums.add(noisy)
        G = G + (np.concatenate([np.zeros((d, 1)), noisy], axis=1) if classes == 2 else noisy)
        squares += max(0, (noisy**2).sum() - d * columns * deviation**2)
        pair = 1 if classes == 2 else 2
        threshold = math.sqrt(max(1, math.log(d) / 4) ** 2 * pair * deviation**2 * t + 0.03**2 * squares)
        assert sums.threshold == pytest.approx(threshold)
        kept.append(G[:, -columns:] / threshold)
    np.testing.assert_allclose(sums.model(), np.mean(kept[8:], axis=0))


def test_what_follows_from_the_sums_follows_from_what_was_released_alone(table, monkeypatch):
    """Two different tables, one transcript: the same weights asked for, the same model."""
    X, y = table
    asked, released, models = [], [], []

    def first(total, sigma, rng):
        released.append(total + rng.integers(-5, 6, total.shape) * int(sigma))
        return released[-1]

    monkeypatch.setattr(halfspace, "discrete_gaussian", first)
    plain = NoisySums.unit
    monkeypatch.setattr(NoisySums, "unit", lambda self: asked.append(plain(self)) or asked[-1])
    for rows, labels in ((X, y), (-3 * X[::-1], y)):
        models.append(HalfspaceClassifier(n_rounds=8, random_state=0).fit(rows, labels, classes=["no", "yes"]))
        transcript = iter(list(released))
        monkeypatch.setattr(halfspace, "discrete_gaussian", lambda total, sigma, rng, seen=transcript: next(seen))
    for (w, threshold), (w_other, threshold_other) in zip(asked[:8], asked[8:], strict=True):
        assert np.array_equal(w, w_other)
        assert threshold == threshold_other
    assert np.array_equal(models[0].coef_, models[1].coef_)
    assert models[0].intercept_ == models[1].intercept_


def test_one_round_learns_already(table, three):
    for X, y in (table, three):
        assert HalfspaceClassifier(n_rounds=1, random_state=0).fit(X, y).score(X, y) > 0.75


def test_it_learns_two_classes_and_three(table, three):
    for X, y in (table, three):
        clf = HalfspaceClassifier(random_state=0).fit(X[:2500], y[:2500])
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


def test_rows_of_codes_get_more_rounds_where_noise_is_small_and_others_do_not(table, rng):
    found = [
        HalfspaceClassifier(epsilon, random_state=0).fit(codes(rng, 200), np.arange(200) % 2).n_rounds_
        for epsilon in (0.1, 0.3, 1.0, 3.0)
    ]
    assert found == [100, 100, 201, 300]
    X, y = codes(rng, 200), np.arange(200) % 2
    assert HalfspaceClassifier(neighbors="add-remove", random_state=0).fit(X, y).n_rounds_ == 300
    persons = {"units": np.arange(200) // 2, "rows_per_unit": 2}
    assert HalfspaceClassifier(random_state=0).fit(X, y, **persons).n_rounds_ == 101
    X, y = table
    assert HalfspaceClassifier(3.0, random_state=0).fit(X[:200], y[:200]).n_rounds_ == 100


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("numbers", [False, True])
def test_rows_of_codes_are_indicators_and_numbers_side_by_side(numbers, fit_intercept, rng):
    table = codes(rng, 200, numbers)
    rows = unit_rows(table, fit_intercept=fit_intercept)
    plain = np.zeros((200, 9))
    for i, (age, job) in enumerate(table.toarray()):
        plain[i, age] = plain[i, 5 + job] = 4096
    if numbers:
        plain = np.column_stack([plain, np.append(np.floor(4096 * (np.arange(1, 9, 2) / 4 - 1)), 0)[table.column(0)]])
    if fit_intercept:
        plain = np.column_stack([plain, np.full(200, 4096)])
    assert rows.shape == plain.shape
    assert (np.linalg.norm(plain, axis=1) <= rows.reach).all()
    weights = rng.integers(-3, 4, (200, 2)).astype(np.int32)
    assert np.array_equal(rows.weighted_sum(weights), plain.T.astype(int) @ weights)
    w = rng.normal(size=(plain.shape[1], 2))
    np.testing.assert_allclose(rows.margins(w), plain @ w / rows.reach, atol=1e-6)


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
    np.testing.assert_allclose(clf.decision_function(table), scores + clf.shift_, atol=1e-5)
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
    assert clf.class_weight_.tolist() == [1.0, math.floor(256 / 30) / 256]


def test_balanced_moves_log_odds_by_the_noisy_sizes_of_the_classes_and_nothing_else(rng, tmp_path):
    X = rng.normal(size=(8000, 6))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=8000) > 2.0, "rare", "usual")
    plain, even = (HalfspaceClassifier(class_weight=weight, random_state=0).fit(X, y) for weight in (None, "balanced"))
    assert np.array_equal(even.coef_, plain.coef_)
    rarer = (y == "rare").sum() / (y == "usual").sum()
    assert even.class_weight_[0] == 1.0
    assert even.class_weight_[1] == pytest.approx(rarer, rel=0.3)
    assert even.shift_ == pytest.approx(plain.shift_ - math.log(1 / even.class_weight_[1]))  # classes_[1] is "usual"
    recalls = [(clf.predict(X)[y == "rare"] == "rare").mean() for clf in (plain, even)]
    assert recalls[1] > 0.9 > recalls[0]
    even.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert np.array_equal(again.class_weight_, even.class_weight_)
    assert np.array_equal(again.predict_proba(X), even.predict_proba(X))


def test_a_class_within_the_noise_is_taken_to_be_as_large_as_the_noise(rng):
    counts = np.zeros((calibration.BINS, 2))
    counts[:, 0] = 1000
    assert calibration.sizes(counts, 50.0).tolist() == [16_000, 400]
    assert calibration.sizes(-counts, 50.0).tolist() == [400, 400]


def test_equal_weights_of_classes_are_no_weights(table, three, no_noise):
    for X, y in (table, three):
        plain, equal = (
            HalfspaceClassifier(class_weight=declared, random_state=0, n_rounds=20).fit(X, y)
            for declared in (None, dict.fromkeys(np.unique(y).tolist(), 7))
        )
        assert equal.sigma_ == pytest.approx(plain.sigma_, rel=1e-3)
        np.testing.assert_allclose(equal.coef_, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("declared", "match"),
    [
        ({"rare": 1.0}, "names 'rare', which is none of the classes"),
        ({"yes": 0.0}, "finite numbers > 0"),
        ({"yes": math.inf}, "finite numbers > 0"),
        ({}, "finite numbers > 0"),
        ("even", "finite numbers > 0"),
        ("balanced", "for two classes, got 3"),
    ],
)
def test_weights_that_are_none_are_refused_before_a_charge(declared, match, table, three):
    budget = Budget(1.0, 1e-5)
    with pytest.raises(ValueError, match=match):
        HalfspaceClassifier(class_weight=declared, budget=budget).fit(*(three if declared == "balanced" else table))
    assert not budget.charges


def test_a_saved_model_keeps_the_weights_of_its_classes(table, tmp_path):
    X, y = table
    clf = HalfspaceClassifier(class_weight={"yes": 3}, random_state=0, n_rounds=5).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert np.array_equal(again.class_weight_, clf.class_weight_)
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


# ---- privacy -------------------------------------------------------------------------------------------------------


IMAGES = {
    "dense": lambda X, rng: X,
    "sparse": lambda X, rng: sp.csr_array(X),
    "bits": lambda X, rng: BitMatrix(X > 0),
    "codes": lambda X, rng: CodeTable(np.digitize(X, [-1, 0, 1]), [4] * X.shape[1]),
}


@pytest.mark.parametrize("image", IMAGES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), classes=st.integers(2, 4))
def test_one_row_moves_a_sum_by_the_sensitivity_at_most(image, seed, classes):
    """Also for the worst case that is known: a row that is turned round, with its label."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(scale=2, size=(12, 6)), rng.integers(0, classes, 12)
    changed, others = X.copy(), labels.copy()
    i = rng.integers(12)
    changed[i] = -X[i] if rng.random() < 0.5 else rng.normal(scale=5, size=6)
    others[i] = rng.integers(classes)
    sums = NoisySums(7 if image != "codes" else 25, classes, 1.0, 10)
    w = rng.normal(size=sums.unit()[0].shape)
    w /= np.linalg.norm(w)
    totals, threshold, weights = [], abs(rng.normal(scale=0.3)), rng.integers(1, 257, classes).astype(np.int32)
    for table, codes_of in ((X, labels), (changed, others), (np.delete(X, i, 0), np.delete(labels, i))):
        rows = unit_rows(IMAGES[image](table, rng), fit_intercept=True, normalize=True)
        piece = Piece(None, codes_of, rows=rows)
        totals.append([unsettled_sum(piece, w, threshold), unsettled_sum(piece, w, threshold, weights)])
    for unit, before, replaced, removed in zip((1, 256), *totals, strict=True):
        assert np.linalg.norm(before - replaced) <= unit * sensitivity(rows, classes, "replace")
        assert np.linalg.norm(before - removed) <= unit * sensitivity(rows, classes, "add-remove")


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(("neighbors", "factor"), [("replace", 2), ("add-remove", 1)])
def test_the_sensitivity_is_attained_but_for_rounding(neighbors, factor, classes):
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    rows = unit_rows(X, normalize=True)
    weights = unsettled(np.zeros((2, 1 if classes == 2 else classes), np.float32), np.array([1, 1]), 1.0)
    moved = rows.weighted_sum(weights * np.array([[1], [-1 if factor == 2 else 0]], np.int32))
    assert (
        0.999 * sensitivity(rows, classes, neighbors) < np.linalg.norm(moved) <= sensitivity(rows, classes, neighbors)
    )


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), classes=st.integers(2, 5))
def test_one_row_moves_the_histogram_by_the_square_root_of_2_at_most(seed, classes):
    rng = np.random.default_rng(seed)
    shape = 1 if classes == 2 else classes
    scores, labels = rng.normal(scale=3, size=(9, shape)), rng.integers(0, classes, 9)
    before = calibration.histogram(scores, labels)
    assert before.shape == (calibration.BINS, 2)
    assert before.sum() == 9
    less = calibration.histogram(scores[1:], labels[1:])
    scores[0], labels[0] = rng.normal(scale=3, size=shape), rng.integers(classes)
    after = calibration.histogram(scores, labels)
    assert ((before - after) ** 2).sum() <= 2
    assert ((before - less) ** 2).sum() == 1


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("neighbors", "moves"), [("replace", 2), ("add-remove", 1)])
@pytest.mark.parametrize("n_rounds", [1, 7, 100])
def test_all_releases_together_are_worth_what_is_claimed(n_rounds, neighbors, moves, classes, rng, monkeypatch):
    """From what is in fact drawn: the sum of (how far a row moves a release / its noise)^2, against the claim."""
    drawn = []
    plain = halfspace.discrete_gaussian
    monkeypatch.setattr(
        halfspace,
        "discrete_gaussian",
        lambda total, sigma, rng: drawn.append((total, sigma)) or plain(total, sigma, rng=rng),
    )
    X, y = rng.normal(size=(60, 4)), np.arange(60) % classes
    clf = HalfspaceClassifier(0.7, 1e-5, n_rounds=n_rounds, neighbors=neighbors, random_state=0).fit(X, y)
    assert len(drawn) == n_rounds + 1
    assert clf.n_rounds_ == n_rounds
    *rounds, (counts, sigma) = drawn
    reach = unit_rows(X, fit_intercept=True, normalize=True).reach
    unit = np.gcd.reduce(counts.ravel())
    spent = n_rounds * (1 if classes == 2 else 2) * (moves * reach) ** 2 / sigma**2 + unit**2 * moves / sigma**2
    assert {each for _, each in rounds} == {sigma}
    assert clf.sigma_ == sigma / reach
    entries = sum(total.size for total, _ in drawn)
    claimed = discrete_gaussian_delta(sigma, 0.7, sensitivity=math.sqrt(spent) * sigma, releases=1, size=entries)
    assert 0.8e-5 < claimed <= 1e-5 * (1 + 1e-6)
    assert str(clf.privacy_).startswith("(0.7, 1e-05)-DP")


def test_a_refusal_draws_and_charges_nothing(table):
    X, y = table
    budget, rng = Budget(1.0, 1e-5), np.random.default_rng(0)
    before = rng.bit_generator.state
    for parameters, data, match in (
        ({"n_rounds": 0}, (X, y), "n_rounds must"),
        ({"epsilon": 0}, (X, y), "epsilon"),
        ({"delta": 0}, (X, y), "delta"),
        ({"neighbors": "row"}, (X, y), "neighbors"),
        ({}, (np.where(X > 3, np.nan, X), y), "NaN"),
        ({}, (X, np.zeros(len(y))), "one class only"),
    ):
        clf = HalfspaceClassifier(**{"budget": budget, "random_state": rng} | parameters)
        with pytest.raises(ValueError, match=match):
            clf.fit(*data)
        assert not hasattr(clf, "privacy_")
    with pytest.raises(BudgetExceeded):
        HalfspaceClassifier(2.0, budget=budget, random_state=rng).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight is refused"):
        HalfspaceClassifier(budget=budget, random_state=rng).fit(X, y, sample_weight=np.ones(len(y)))
    assert rng.bit_generator.state == before
    assert not budget.charges


def test_what_was_released_before_an_interruption_is_kept(table, monkeypatch):
    X, y = table
    plain, calls = halfspace.discrete_gaussian, []

    def interrupted(total, sigma, rng):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return plain(total, sigma, rng=rng)

    monkeypatch.setattr(halfspace, "discrete_gaussian", interrupted)
    clf = HalfspaceClassifier(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert [release.used for release in clf.privacy_.events] == [6, 0]
    assert clf.score(X, y) > 0.8


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


def test_the_best_class_has_the_log_odds_of_its_lead_and_the_others_share_the_rest(rng):
    scores = rng.normal(size=(50, 4))
    probabilities = calibration.probabilities(2 * scores, 1.5)
    for s, p in zip(scores, probabilities, strict=True):
        best, *others = np.argsort(-s)
        assert p[best] == pytest.approx(1 / (1 + math.exp(-(2 * (s[best] - s[others[0]]) + 1.5))))
        np.testing.assert_allclose(p[others] / p[others[0]], np.exp(2 * (s[others] - s[others[0]])))
    level = calibration.probabilities(np.array([[1.0, 1.0, 0.0]]), -5.0)  # would give the best class next to nothing
    assert level.argmax() == 0
    assert level[0, 0] == pytest.approx(level[0, 1])


@pytest.mark.parametrize("deviation", [0.0, 3.0])
def test_the_fit_finds_the_slope_and_the_shift(deviation, rng):
    scores = rng.normal(size=(200_000, 1))
    labels = (rng.random(200_000) < 1 / (1 + np.exp(-1.5 * scores[:, 0] - 0.4))).astype(int)
    counts = calibration.histogram(scores, labels) + rng.normal(scale=deviation, size=(calibration.BINS, 2))
    assert calibration.fit(counts, deviation) == pytest.approx((1.5, 0.4), rel=0.05)


def test_the_fit_of_noise_alone_is_about_the_usual_one(rng):
    found = [calibration.fit(rng.normal(scale=1e6, size=(calibration.BINS, 2)), 1e6) for _ in range(50)]
    np.testing.assert_allclose(np.mean(found, axis=0), (2.5, 0), atol=0.3)
    assert (np.std(found, axis=0) < (1.0, 0.5)).all()


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


@pytest.mark.parametrize("many", [False, True])
def test_a_saved_model_predicts_the_same(many, table, three, tmp_path):
    X, y = three if many else table
    clf = HalfspaceClassifier(random_state=0).fit(X, y)
    clf.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert str(again.privacy_) == str(clf.privacy_)


def test_a_saved_model_of_codes_predicts_the_same(rng, tmp_path):
    table = codes(rng, 500)
    clf = HalfspaceClassifier(random_state=0).fit(table, table.column(1) > 1)
    clf.save(tmp_path / "model.json")
    assert np.array_equal(dpfast.load(tmp_path / "model.json").predict_proba(table), clf.predict_proba(table))


def test_a_seed_gives_the_same_model_again_and_a_clone_its_own(table):
    X, y = table
    clf = HalfspaceClassifier(random_state=4, n_rounds=10)
    assert np.array_equal(clf.fit(X, y).coef_, clone(clf).fit(X, y).coef_)


def test_more_classes_than_would_finish_are_refused_before_the_charge_with_what_they_would_cost(rng):
    budget, X = Budget(2, 1e-5), rng.integers(0, 2, (50, 3))
    with pytest.raises(ValueError, match=r"70,000 classes would take 7,000,000 passes over the rows"):
        HalfspaceClassifier(budget=budget).fit(X, X[:, 0], classes=np.arange(70_000))
    assert budget.spent == (0.0, 0.0)
