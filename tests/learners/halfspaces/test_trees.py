"""Trees drawn from releases: what they read, what they are worth, and that a row still moves a round as planned."""

import math

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

import dpfast
from dpfast import CodeTable, report
from dpfast.audit import replay
from dpfast.base import run
from dpfast.base.plan import Task
from dpfast.learners.halfspaces.halfspace import CodeFacts, image_of
from dpfast.learners.halfspaces.images import Opening
from dpfast.learners.halfspaces.trees import (
    DEEPEST,
    Forest,
    depth_of,
    grow,
    held_codes,
    most_trees,
    number_of,
    read_forest,
    weight,
)
from dpfast.parts.blocks import Piece
from dpfast.tables import Category, Label, Numeric, Schema
from dpfast.tables.cells import CodeColumn
from dpfast.tables.codes import CodeRows

SIZES = [3, 12, 2, 300]
COLUMNS = [
    CodeColumn("job", values=("clerk", "nurse"), other=1),
    CodeColumn("age", edges=tuple(range(10, 120, 11)), low=0.0, high=120.0, nullable=True),
    CodeColumn("smokes", values=("no", "yes")),
    CodeColumn("town", values=tuple(f"t{k}" for k in range(300))),
]


def opening(rng, n=5000.0):
    counts = tuple(rng.exponential(n / size, size) for size in SIZES)
    return Opening(n, np.array([n / 2, n / 2]), counts, (None, np.linspace(-1, 1, 11), None, None))


def grown(rng, trees=7, depth=3, classes=1):
    return grow(opening(rng), rng.normal(size=(sum(SIZES), classes)), trees, depth, rng)


def walked(forest, codes):
    """The leaf of each row in each tree, by the questions one after another: shape (trees, n)."""
    found = np.zeros((len(forest.asked), len(codes)), np.int64)
    for t, i in np.ndindex(*found.shape):
        q = 0
        while q < len(forest.asked[t]):
            column, places = forest.orders[forest.asked[t][q]]
            q = 2 * q + 1 + (places[codes[i, column]] > forest.thresholds[t][q])
        found[t, i] = q - len(forest.asked[t])
    return found


def test_what_single_columns_add_to_scores_has_the_variance_of_their_released_terms(rng):
    told, coef = opening(rng), rng.normal(size=(sum(SIZES), 1))
    variance, start = 0.0, 0
    for count in told.counts:
        term = coef[start : start + len(count), 0]
        start += len(count)
        variance += np.average(np.square(term - np.average(term, weights=count)), weights=count)
    assert grow(told, coef, 5, 2, rng)[2] == pytest.approx(variance)


@pytest.mark.parametrize("classes", [1, 3])
def test_rows_have_one_more_column_for_each_tree(classes, rng):
    forest, shares, _ = grown(rng, classes=classes)
    codes = rng.integers(0, SIZES, (400, 4))
    rows = CodeRows(CodeTable(codes, SIZES)).with_leaves(forest)
    assert rows.sizes.tolist() == SIZES + [8] * 7
    np.testing.assert_array_equal(np.stack(rows._codes.columns[4:]), walked(forest, codes))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert forest.depth == 3
    with pytest.raises(ValueError, match="other codes than the model's"):
        CodeRows(CodeTable(codes % 2, [2] * 4)).with_leaves(forest)


def test_shares_of_leaves_are_those_of_independent_columns(rng):
    told = opening(rng)
    forest, shares, _ = grow(told, rng.normal(size=(sum(SIZES), 1)), 5, 2, rng)
    n = 40_000
    codes = np.stack([rng.choice(len(c), n, p=c / c.sum()) for c in told.counts], axis=1)
    leaves = np.stack(CodeRows(CodeTable(codes, SIZES)).with_leaves(forest)._codes.columns[4:])
    for leaf, share in zip(leaves, shares, strict=True):
        np.testing.assert_allclose(np.bincount(leaf, minlength=4) / n, share, atol=0.05)


def test_columns_without_two_codes_are_not_asked_about(rng):
    counts = np.array([5.0, 0.0, 0.0]), np.array([3.0, 2.0])
    told = Opening(5.0, np.array([2.0, 3.0]), counts, (None, None))
    forest, *_ = grow(told, rng.normal(size=(5, 1)), 20, 2, rng)
    assert {column for column, _ in forest.orders} == {1}
    alone = Opening(5.0, told.sizes, counts[:1], (None,))
    assert grow(alone, np.zeros((3, 1)), 20, 2, rng) is None


def test_columns_whose_terms_are_large_are_asked_about_more_often(rng):
    coef = np.zeros((sum(SIZES), 1))
    coef[SIZES[0] : SIZES[0] + SIZES[1]] = np.arange(12)[:, np.newaxis]
    forest, *_ = grow(opening(rng), coef, 100, 3, rng)
    asked = [forest.orders[order][0] for tree in forest.asked for order in tree]
    assert 0.75 < np.mean(np.array(asked) == 1) < 0.95  # 1.05 of 1.2
    assert set(asked) == {0, 1, 2, 3}


def test_values_are_ordered_by_their_terms_and_many_share_places(rng):
    coef = np.zeros((2 + 400, 1))
    coef[2:, 0] = rng.permutation(400)
    told = Opening(800.0, np.array([400.0, 400.0]), (np.array([1.0, 1.0]), np.full(400, 2.0)), (None, None))
    forest, *_ = grow(told, coef, 3, 2, rng)
    _, places = forest.orders[1]
    by_term = np.array(places)[np.argsort(coef[2:, 0])]
    assert (np.diff(by_term) >= 0).all()
    assert by_term[[0, -1]].tolist() == [0, 255]


@pytest.mark.parametrize("classes", [1, 3])
def test_half_of_the_nodes_ask_about_partners_of_chosen_pairs(classes, rng):
    """The made columns of pairs come last and are not asked about."""
    coef = np.zeros((sum(SIZES) + 6, classes))
    coef[SIZES[0] : SIZES[0] + SIZES[1]] = np.arange(12)[:, np.newaxis]  # only column 1 moves scores
    told = opening(rng)
    wide = Opening(told.n, told.sizes, (*told.counts, np.full(6, told.n / 6)), (*told.ranks, None))
    forest, *_ = grow(wide, coef, 1000, 3, rng, [(0, 2)])
    asked = np.array([[forest.orders[order][0] for order in tree] for tree in forest.asked])
    assert set(asked.ravel()) == {0, 1, 2, 3}
    assert 0.4 < np.isin(asked, [0, 2]).mean() < 0.65
    below = asked[:, 1][asked[:, 0] == 0]
    assert 0.4 < (below == 2).mean() < 0.65  # the partner of what the root asks about
    alone, *_ = grow(told, coef[: sum(SIZES)], 200, 3, rng, [])
    assert np.isin([[alone.orders[order][0] for order in tree] for tree in alone.asked], [0, 2]).mean() < 0.2


def test_pairs_and_trees_are_learned_together_saved_and_shown(rng, tmp_path):
    table, labels = exclusive(rng, 20_000)
    model = dpfast.HalfspaceClassifier(8.0, n_rounds=40, random_state=0).fit(table, labels, classes=[0, 1])
    assert model.interactions_[0].columns == (0, 1)
    assert model.trees_ is not None
    assert model.score(table, labels) > 0.95
    cells = sum(pair.size for pair in model.interactions_)
    assert model.coef_.shape == (1, 16 + cells + sum(model.trees_.sizes))
    assert {column for column, _ in model.trees_.orders} <= {0, 1, 2}
    model.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert again.trees_ == model.trees_
    assert again.interactions_ == model.interactions_
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_missing_numbers_come_before_all_bins(rng):
    forest, *_ = grown(rng)
    places = dict(forest.orders)[1]
    assert places == (*range(1, 12), 0)


# ---- privacy ---------------------------------------------------------------------------------------------------------


def joined(rng, classes, fit_intercept=True):
    """An image with trees, and coefficients."""
    rows = CodeRows(CodeTable(np.zeros((1, 4), int), SIZES, columns=COLUMNS))
    image = image_of(rows, classes, fit_intercept)
    image.begin(opening(rng))
    coef = image.linear(rng.normal(size=(image.size, 1 if classes == 2 else classes)))[0]
    forest, shares, _ = grow(image.opening, coef, 9, 3, rng)
    wide = image.with_leaves(forest, shares, weight(max(image.square, 0.0), 9))
    return wide, rng.normal(scale=2.0, size=(wide.size, 1 if classes == 2 else classes))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_row_adds_a_vector_of_norm_at_most_one_to_a_round(classes, fit_intercept, rng):
    for _ in range(5):
        image, u = joined(rng, classes, fit_intercept)
        question, *told = image.question(u, np.zeros(u.shape[1]))
        most, codes = 0.0, rng.integers(0, SIZES, (60, 4))
        for i, label in enumerate(rng.integers(0, classes, 60)):
            rows = CodeRows(CodeTable(codes[[i]], SIZES, columns=COLUMNS))
            entries = image.entries(question(Piece(None, np.array([label]), rows=rows), *told))
            most = max(most, math.sqrt(float(np.square(entries.astype(object)).sum())) / image.reach)
        assert most <= (1 if classes == 2 else math.sqrt(2))
        assert most > 0.3


def exclusive(rng, n):
    """Labels that say whether one of two columns is high, but not both; and columns that say nothing."""
    codes = np.hstack([rng.integers(0, 6, (n, 2)), rng.integers(0, 4, (n, 1))])
    return CodeTable(codes, [6, 6, 4]), ((codes[:, 0] > 2) ^ (codes[:, 1] > 2)).astype(int)


def test_drawing_reads_releases_only(rng, monkeypatch):
    """With the same releases, other rows have the same trees, coefficients and all else that is published."""
    table, labels = exclusive(rng, 3000)
    other = CodeTable(rng.integers(0, [6, 6, 4], (3000, 3)), [6, 6, 4])
    released, module = [], run
    original = module.discrete_gaussian

    def record(values, scale, rng):
        released.append(original(values, scale, rng=rng))
        return released[-1]

    def repeat(values, scale, rng):
        original(values, scale, rng=rng)
        return released.pop(0)

    monkeypatch.setattr(module, "discrete_gaussian", record)
    model = dpfast.HalfspaceClassifier(trees=10, n_rounds=20, random_state=0).fit(table, labels, classes=[0, 1])
    monkeypatch.setattr(module, "discrete_gaussian", repeat)
    again = dpfast.HalfspaceClassifier(trees=10, n_rounds=20, random_state=0)
    again.fit(other, rng.integers(0, 2, 3000), classes=[0, 1])
    assert released == []
    assert again.trees_ == model.trees_ is not None
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.code_shares_, model.code_shares_)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("per_unit", [None, 2])
def test_one_row_moves_rounds_with_trees_by_no_more_than_was_charged(relation, k, per_unit, rng):
    most, sizes = 0.0, [3, 4, 2]
    for seed in range(6):
        codes, labels = rng.integers(0, sizes, (12, 3)), rng.integers(0, k, 12)
        units = {} if per_unit is None else {"units": np.arange(12) // 2, "rows_per_unit": per_unit}
        gone = per_unit or 1
        if relation == "replace":
            others, changed = labels.copy(), codes.copy()
            others[-gone:], changed[-gone:] = (labels[-gone:] + 1) % k, rng.integers(0, sizes, (gone, 3))
        else:
            others, changed = labels[:-gone], codes[:-gone]
        table = {"X": CodeTable(codes, sizes), "y": labels} | units
        neighbor = {"X": CodeTable(changed, sizes), "y": others} | units
        if units:
            neighbor["units"] = units["units"][: len(others)]
        model = dpfast.HalfspaceClassifier(neighbors=relation, trees=4, interactions=seed % 3, n_rounds=14)
        found = replay(model, table, neighbor, classes=range(k), seed=seed)
        assert found.holds, found
        assert sum("gaussian" in question for question, _ in found.ratios) >= 15
        most = max(most, found.ratio)
    assert 0.5 < most <= 1 + 1e-9


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_trees_cost_nothing(relation, rng):
    table, labels = exclusive(rng, 1000)
    given = {"neighbors": relation, "n_rounds": 20, "random_state": 0}
    with_trees, without = (
        dpfast.HalfspaceClassifier(trees=trees, **given).fit(table, labels, classes=[0, 1]) for trees in (5, 0)
    )
    assert [str(event) for event in with_trees.privacy_.events] == [str(event) for event in without.privacy_.events]
    assert with_trees.sigma_ == pytest.approx(without.sigma_, rel=1e-6)  # more coordinates on the same grid


# ---- what trees are worth --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_trees_say_what_columns_say_together(relation, rng):
    table, labels = exclusive(rng, 20_000)
    model = dpfast.HalfspaceClassifier(4.0, neighbors=relation, trees=100, interactions=0, random_state=0)
    assert model.fit(table, labels, classes=[0, 1]).score(table, labels) > 0.95
    assert clone(model).set_params(trees=0).fit(table, labels, classes=[0, 1]).score(table, labels) < 0.6
    assert model.coef_.shape == (1, 16 + 100 * (1 << model.trees_.depth))


def test_trees_of_many_classes(rng):
    table, labels = exclusive(rng, 20_000)
    labels = labels + 2 * (np.asarray(table.column(2)) > 1)
    model = dpfast.HalfspaceClassifier(4.0, trees=50, interactions=0, random_state=0)
    assert model.fit(table, labels, classes=range(4)).score(table, labels) > 0.75
    assert clone(model).set_params(trees=0).fit(table, labels, classes=range(4)).score(table, labels) < 0.6


def test_auto_is_on_by_public_or_released_numbers_alone(rng):
    assert depth_of(1e5, 1.0, 1e-6, "auto") == 5
    assert depth_of(1e6, 1.0, 1e-6, "auto") == 6
    assert depth_of(3e4, 1.0, 1e-6, "auto") == 0
    assert depth_of(100, 0.1, 1e-6, 3) == 4
    assert depth_of(1e5, 1.0, 1e-6, "auto", codes=300) == 5
    assert depth_of(1e5, 1.0, 1e-6, "auto", codes=400) == 0
    assert depth_of(1e5, 1.0, 1e-6, 7, codes=400) == 5
    table, labels = exclusive(rng, 500)
    model = dpfast.HalfspaceClassifier(random_state=0, n_rounds=10).fit(table, labels, classes=[0, 1])
    assert model.trees_ is None
    many = dpfast.HalfspaceClassifier(5000.0, random_state=0, n_rounds=10).fit(table, labels, classes=[0, 1])
    assert many.trees_ is not None


def test_two_classes_have_more_trees_where_noise_hardly_matters_and_never_more_than_were_planned():
    for n in (1.0, 1e4, 1e5, 1e6, 1e7, 1e8):
        numbers = [number_of(n, 1.0, 1e-6, "auto", classes) for classes in (2, 3)]
        assert numbers == [200 if n > 4.3e6 else 100, 100]
        assert all(number <= most_trees("auto", classes) for number, classes in zip(numbers, (2, 3), strict=True))
        assert number_of(n, 1.0, 1e-6, 7, 2) == most_trees(7, 2) == 7


def test_the_plan_has_the_leaves_of_the_trees_that_a_public_number_of_rows_allows_and_else_of_the_most():
    learner, form = dpfast.HalfspaceClassifier(interactions=0), CodeFacts((4,) * 3, (0,) * 3, 3)
    sizes = []
    for n, relation in ((100_000, "replace"), (5_000_000, "replace"), (None, "add-remove")):
        task = Task(1.0, 1e-6, n_rows=n, n_columns=3, form=form, neighbors=relation, classes=(0, 1), n_classes=2)
        sizes.append(learner.plan(task)["rounds"].size - (100 << DEEPEST))
    assert sizes[0] < 100 < sizes[1] == sizes[2] == sizes[0] + (100 << DEEPEST)


def test_codes_that_rows_have_are_counted_by_their_shares():
    counts = np.full(200, 10.0), np.array([1000.0, 1000.0, 0.0]), np.full(33, 60.0), np.zeros(4)
    told = Opening(2000.0, np.array([1000.0, 1000.0]), counts, (None, None, np.linspace(-1, 1, 32), None))
    assert held_codes(told) == pytest.approx(200 + 2 + 20)


def test_effects_that_are_spread_over_many_values_have_no_trees(rng):
    codes, effects = rng.integers(0, 200, (16_000, 10)), rng.normal(size=(10, 200))
    labels = (sum(effects[j, codes[:, j]] for j in range(10)) > 0).astype(int)
    model = dpfast.HalfspaceClassifier(3.0, n_rounds=20, random_state=0)
    assert model.fit(CodeTable(codes, [200] * 10), labels, classes=[0, 1]).trees_ is None


def test_rows_that_are_not_codes_have_no_trees(rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    model = dpfast.HalfspaceClassifier(1000.0, n_rounds=2, schema=None, random_state=0)
    assert model.fit(np.asarray(X, np.float32), y, classes=[0, 1]).trees_ is None or hasattr(model, "encoder_")
    with pytest.raises(ValueError, match='trees must be 0 or "auto" for rows that are not codes, got 3'):
        dpfast.HalfspaceClassifier(trees=3).fit(X, y, classes=[0, 1])


def test_columns_of_one_code_have_no_trees():
    table = CodeTable(np.zeros((30, 3), int), [1, 1, 1])
    model = dpfast.HalfspaceClassifier(trees=5, n_rounds=5, random_state=0)
    assert model.fit(table, np.arange(30) % 2, classes=[0, 1]).trees_ is None


def test_units_of_several_rows(rng):
    table, labels = exclusive(rng, 2000)
    model = dpfast.HalfspaceClassifier(4.0, trees=5, n_rounds=10, random_state=0)
    model.fit(table, labels, classes=[0, 1], units=np.repeat(np.arange(1000), 2), rows_per_unit=2)
    assert model.trees_ is not None
    assert "person" in str(model.privacy_)


def test_parts_have_the_same_trees_and_model(rng):
    n = 3000
    frame = {"x": rng.random(n), "c": rng.choice(["a", "b"], n)}
    labels = np.where((frame["x"] > 0.5) ^ (frame["c"] == "a"), "yes", "no")
    schema = Schema([Numeric("x", 0, 1, edges=8), Category("c", ["a", "b"])], label=Label("y", ["no", "yes"]))
    given = {"trees": 10, "n_rounds": 20, "schema": schema, "random_state": 0}
    whole = dpfast.HalfspaceClassifier(4.0, **given).fit(pa.table({**frame, "y": labels}))
    batches = pa.table({**frame, "y": labels}).to_batches(max_chunksize=700)
    stream = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    parted = dpfast.HalfspaceClassifier(4.0, **given).fit(stream)
    assert parted.trees_ == whole.trees_ is not None
    np.testing.assert_array_equal(parted.coef_, whole.coef_)


# ---- saved and shown -------------------------------------------------------------------------------------------------


@pytest.fixture
def model(rng):
    schema = Schema(
        [Numeric("age", 0, 100, edges=20), Category("job", ["clerk", "nurse", "cook"])], label=Label("y", ["no", "yes"])
    )
    n = 20_000
    frame = {"age": rng.uniform(0, 100, n), "job": rng.choice(["clerk", "nurse", "cook"], n)}
    y = np.where((frame["age"] > 37) ^ (frame["job"] == "nurse"), "yes", "no")
    return dpfast.HalfspaceClassifier(4.0, schema=schema, trees=40, random_state=0).fit(frame, y), frame


def test_a_saved_model_has_its_trees(model, tmp_path):
    model, frame = model
    model.save(tmp_path / "model.json")
    again = dpfast.load(tmp_path / "model.json")
    assert again.trees_ == model.trees_ is not None
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_leaves_are_shown_as_conditions(model):
    model, _ = model
    found = report.leaves(model)
    assert found
    assert [leaf.importance for leaf in found] == sorted((leaf.importance for leaf in found), reverse=True)
    assert all(leaf.label == "yes" and 0 < leaf.share <= 1 and leaf.noise > 0 for leaf in found)
    said = {condition for leaf in found for condition in leaf.conditions}
    assert any(condition.startswith("age ") for condition in said)
    assert any(condition in ("job is nurse", "job is not nurse") for condition in said)
    assert "trees of depth" in str(model)
    page = report.page(model)
    assert "What columns add together" in page
    assert found[0].conditions[0] in page
    assert sorted(term.column.name for term in model.terms()) == ["age", "age and job", "job"]
    assert max(len(leaf.conditions) for leaf in found) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"orders": []},
        {"asked": [[0, 0]], "thresholds": [[0, 0]]},
        {"asked": [[3]], "thresholds": [[0]]},
        {"asked": [[0]], "thresholds": [[0, 0, 0]]},
        {"thresholds": [[256]]},
        {"asked": [[0], [0]]},
        {"orders": [{"column": 0, "places": [0, 300]}]},
        {"orders": [{"column": -1, "places": [0, 1]}]},
        {"more": 1},
    ],
)
def test_damaged_trees_are_refused(change):
    saved = {"orders": [{"column": 0, "places": [0, 1]}], "asked": [[0]], "thresholds": [[0]]}
    assert read_forest(saved) == Forest(((0, (0, 1)),), ((0,),), ((0,),))
    assert read_forest(saved).to_dict() == saved
    with pytest.raises(ValueError, match=r".+"):
        read_forest(saved | change)
