"""Rows without a label are not rows of what is learned, and leaving them out costs what a replaced row costs.

Whether a label is missing is decided by its cell alone. Under "replace" the number of all rows is public, and that of
the rows with a label is private: a replaced row may be a row more or a row less for the learner.
"""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from people import SCHEMA, people
from premises.test_replays import LEARNERS, alone, contradicted, held, opposite, replayed, turned, uncovered
from pyarrow import parquet

import dpfast
import dpfast.base
from dpfast.accounting import Budget, cover_delta
from dpfast.accounting.papers.winnow import winnow_range
from dpfast.files.encodings import read_frame
from dpfast.model_selection import private_search, private_split
from dpfast.parts import MemoryParts
from dpfast.tables import Label, Numeric, Schema
from dpfast.tables.encoding import Encoding
from dpfast.tables.labels import codes_of_labelled
from dpfast.tables.remarks import remarks

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning", "ignore::UserWarning")

MISSING = [None, float("nan"), pd.NA, pd.NaT, "", " ", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", " ? "]
LABELS = ["-", "+", "none", "None", "no", "0", "na", "Null", "missing", "unknown"]
NEEDS_ALL = ["linear", "projected, paper", "winnow, sparse vector", "winnow, paper"]
SIX = {
    "halfspace": lambda **more: dpfast.HalfspaceClassifier(n_rounds=5, **more),
    "list": lambda **more: dpfast.DecisionListClassifier(max_rules=4, **more),
    "winnow": lambda **more: dpfast.DPWinnowClassifier(n_updates=3, **more),
    "boosted": lambda **more: dpfast.BoostedHalfspaceClassifier(n_rounds=4, **more),
    "projected": lambda **more: dpfast.ProjectedHalfspaceClassifier(n_rounds=4, **more),
    "net": lambda **more: dpfast.NetHalfspaceClassifier(n_components=2, **more),
    "finite class": lambda **more: dpfast.FiniteClassLearner(hypotheses="features", **more),
}
SOURCES = {
    "frame": lambda table, folder: table,
    "Arrow": lambda table, folder: pa.table({name: [*table[name]] for name in table}),
    "views of text": lambda table, folder: _views(table),
    "lists": lambda table, folder: {name: [*table[name]] for name in table},
    "stream": lambda table, folder: pa.Table.from_pandas(table, preserve_index=False).to_reader(40),
    "CSV": lambda table, folder: _csv(table, folder / "t.csv"),
    "Parquet": lambda table, folder: _parquet(table, folder / "t.parquet"),
    "parts": lambda table, folder: MemoryParts([(table[a:b], None) for a, b in [(0, 100), (100, 107), (107, None)]]),
}


def _views(table):
    """Arrow's type of the texts of polars, of which it takes no rows."""
    made = pa.Table.from_pandas(table, preserve_index=False)
    views = [
        pa.string_view() if pa.types.is_string(each) or pa.types.is_large_string(each) else each
        for each in made.schema.types
    ]
    return made.cast(pa.schema(list(zip(made.column_names, views, strict=True))))


def _csv(table, path):
    table.to_csv(path, index=False)
    return path


def _parquet(table, path):
    parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return path


def _some(table):
    """The table without the labels of some rows, among them all of the second part, and which rows keep theirs."""
    kept = np.random.default_rng(0).random(len(table)) < 0.7
    kept[100:107] = False
    return table.assign(buys=table["buys"].astype(object).where(kept, None)), kept


# ---- which labels are missing ----------------------------------------------------------------------------------------


def test_a_label_is_missing_by_its_cell_alone():
    for cell in MISSING + LABELS:
        y, is_label = np.array(["yes", cell, "no"], object), isinstance(cell, str) and cell in LABELS
        labels, kept = codes_of_labelled(y)
        assert (kept is None) is is_label, cell
        encoding = Encoding(SCHEMA, Label("buys"))
        encoding.add(people(3).assign(buys=y))
        assert (encoding.labelled is None) is is_label, cell
        assert encoding.n == 3
        if isinstance(cell, str):
            typed, of_typed = codes_of_labelled(y.astype(str))
            assert (of_typed is None) is is_label, cell
            assert typed.classes.tolist() == labels.classes.tolist()


def test_a_mark_that_is_declared_as_a_class_is_a_label():
    for y in (["NA", "EU", "NA"], np.array(["NA", "EU", "NA"]), np.array(["NA", "EU", None], object)):
        labels, kept = codes_of_labelled(y, ["EU", "NA"])
        assert labels.classes.tolist() == ["EU", "NA"]
        assert (kept is None) == (y[2] is not None)
    table = people(400)
    table["buys"] = np.where(table["buys"] == "yes", "NA", "EU")
    model = dpfast.HalfspaceClassifier(3.0, random_state=0).fit(table, "buys", classes=["EU", "NA"])
    assert {*model.predict(table.drop(columns="buys"))} == {"EU", "NA"}


def test_a_mark_of_gaps_in_other_columns_is_a_label_where_it_is_a_class(tmp_path):
    n = 2000
    age = np.random.default_rng(0).integers(18, 90, n)
    cells = np.where(np.arange(n) % 9 == 0, "-", age.astype(str))
    labels = np.where(np.arange(n) % 50 == 0, "", np.where(age > 50, "+", "-"))
    pd.DataFrame({"age": cells, "y": labels}).to_csv(tmp_path / "t.csv", index=False)
    table = read_frame(tmp_path / "t.csv")
    draft = dpfast.Schema.draft(table, "y")
    assert draft.label.classes == ("+", "-")
    assert "-" in draft.missing_values
    assert "40 rows have no label in 'y', and a fit leaves them out" in remarks(draft, table)
    schema = draft.confirm()
    assert schema.check(table) == []
    told = [(labels == each).sum() for each in ("+", "-")]
    for model, rows in (
        (dpfast.HalfspaceClassifier(3.0, random_state=0, schema=schema), dpfast.FileParts(tmp_path / "t.csv")),
        (dpfast.HalfspaceClassifier(3.0, random_state=0), dpfast.FileParts(tmp_path / "t.csv", label="y")),
    ):
        model.fit(rows)
        assert model.classes_.tolist() == ["+", "-"]
        assert model.class_sizes_ == pytest.approx(told, abs=60)


def test_floats_with_gaps_are_labels_where_classes_are_declared():
    table = people(400)
    y = np.where(table["buys"] == "yes", 1.0, np.where(np.arange(400) % 5, 0.0, np.nan))
    model = dpfast.HalfspaceClassifier(3.0, random_state=0).fit(table.drop(columns="buys"), y, classes=[0, 1])
    assert model.classes_.tolist() == [0, 1]
    codes, kept = codes_of_labelled(y)
    assert codes.classes.tolist() == [0, 1]
    assert kept.sum() == len(codes.codes) == np.isfinite(y).sum()


# ---- what is learned -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", SIX)
def test_rows_without_a_label_give_the_model_of_the_others(name, source, tmp_path):
    table, kept = _some(people(300))
    for k, given in enumerate([{"schema": SCHEMA}, {"schema": "discover"}]):
        if source == "parts" and k:
            continue
        fits = []
        for j, rows in enumerate((table, table[kept])):
            folder = tmp_path / f"{k}{j}"
            folder.mkdir()
            X = SOURCES[source](rows.reset_index(drop=True), folder)
            X = dpfast.FileParts(X, label="buys") if source in ("CSV", "Parquet") else X
            X = dpfast.StreamParts(X, label="buys") if source == "stream" else X
            y = "buys" if k and source in ("frame", "Arrow", "views of text", "lists") else None
            model = SIX[name](neighbors="add-remove", random_state=3, **given)
            model.fit(X, y, classes=["no", "yes"])
            fits.append(model)
        assert fits[0]._saver.released() == fits[1]._saver.released()


@pytest.mark.parametrize("name", SIX)
def test_vectors_without_a_label_give_the_model_of_the_others(name):
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 5)) < 0.5, rng.integers(0, 2, 300)
    kept = rng.random(300) < 0.8
    gaps = np.where(kept, y, None)
    for form in (X, dpfast.BitMatrix(X), [(X[:200], gaps[:200]), (X[200:], gaps[200:])]):
        parted = isinstance(form, list)
        model = SIX[name](neighbors="add-remove", random_state=3)
        model.fit(MemoryParts(form) if parted else form, None if parted else gaps, classes=[0, 1])
        other = SIX[name](neighbors="add-remove", random_state=3).fit(X[kept], y[kept], classes=[0, 1])
        assert model._saver.released() == other._saver.released()


@pytest.mark.parametrize("name", SIX)
def test_a_table_in_which_no_row_has_a_label_gives_a_model_that_predicts(name):
    table = people(200)
    for gaps in (np.full(200, None), np.where(np.arange(200) == 3, "yes", None)):
        for schema in (SCHEMA, "discover"):
            model = SIX[name](neighbors="replace", random_state=3, schema=schema)
            model.fit(table.assign(buys=gaps), "buys" if schema == "discover" else None, classes=["no", "yes"])
            assert {*model.predict(table)} <= {"no", "yes"}
            assert model._facts["rows"] == 200
            assert any("without a label" in note for note in model.notes_)


@pytest.mark.parametrize("name", ["halfspace", "boosted", "projected"])
def test_the_sizes_of_classes_are_those_of_rows_with_a_label(name):
    table = people(4000)
    y = np.where(np.arange(4000) % 2, table["buys"], None)
    model = SIX[name](epsilon=3.0, random_state=0).fit(table.drop(columns="buys"), y, classes=["no", "yes"])
    told = [(y == each).sum() for each in ("no", "yes")]
    assert model.class_sizes_ == pytest.approx(told, abs=250)


# ---- what it costs ---------------------------------------------------------------------------------------------------


def _gone(make):
    """The neighbour of a table in whose place the last row has no label, or in which it gets one."""
    (x, y), (x_other, y_other) = make("replace")
    labelled, other = y.astype(object), y_other.astype(object)
    gap = np.append(labelled[:-1], [None])
    return [((x, labelled), (x, gap)), ((x, gap), (x_other, other))]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_row_that_loses_its_label_moves_no_more_than_was_charged(name):
    learner, moved = LEARNERS[name], 0.0
    for seed, (make, epsilon) in enumerate(
        itertools.product((opposite, alone, uncovered, turned, contradicted), (0.5, 20))
    ):
        for one, other in _gone(make):
            given = {"epsilon": epsilon} if learner.make().epsilon != 100 else {}
            model = learner.make(neighbors="replace", schema="vectors", **given)
            found = replayed(model, one, other, classes=[0, 1], seed=seed)
            assert held(found), found
            if name in NEEDS_ALL:
                assert any("refused before the charge" in each for each in found.differences) or found.refusal
                assert "need" in found.refusal + str(found.differences)
            else:
                assert not found.differences, found
                moved = max(moved, found.ratio)
    assert moved > 0.2 or name in NEEDS_ALL


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("schema", ["declared", "discovered"])
def test_a_row_of_a_table_that_loses_its_label_moves_no_more_than_was_charged(name, schema):
    learner, table = LEARNERS[name], people(40)
    gap = table.assign(buys=np.append(table["buys"].to_numpy(object)[:-1], [None]))
    given = {"schema": SCHEMA if schema == "declared" else "discover"}
    for seed, (one, other) in enumerate([(table, gap), (gap, table)]):
        model = learner.make(neighbors="replace", **given)
        y = None if schema == "declared" else "buys"
        found = replayed(model, (one, y), (other, y), classes=["no", "yes"], seed=seed)
        assert held(found), found
        assert not found.differences or name in NEEDS_ALL, found


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("schedule", ["sparse-vector", "fixed"])
def test_a_row_of_a_stream_that_loses_its_label_is_a_blank_that_moves_no_more_than_was_charged(schedule, relation):
    given = {"schema": "vectors", "neighbors": relation, "schedule": schedule, "epsilon": 100.0, "n_updates": 3}
    learner, moved = dpfast.DPWinnowClassifier(horizon=None if schedule != "fixed" else 6, **given), 0.0
    for seed, make in enumerate((opposite, alone, uncovered, turned, contradicted)):
        for one, other in _gone(make)[: 2 if relation == "replace" else 1]:
            first = [(x[::-1], y[::-1]) for x, y in (one, other)]  # so that it is in an update
            found = replayed(learner, *first, fit=lambda model, X, y: model.partial_fit(X, y, [0, 1]), seed=seed)
            assert held(found), found
            assert not found.differences, found
            moved = max(moved, found.ratio)
    assert moved > 0.2


@pytest.mark.parametrize("form", ["column", "apart", "codes"])
def test_a_blank_of_a_stream_is_predicted_and_never_counts(form):
    table, _ = _some(people(1500))
    encoder = dpfast.TableEncoder(SCHEMA).fit(table)

    def stream(labels):
        learner, predicted = dpfast.DPWinnowClassifier(50.0, schema=SCHEMA, random_state=1), []
        for start in range(0, 1500, 400):
            rows, y = table[start : start + 400].assign(buys=labels[start : start + 400]), labels[start : start + 400]
            if form == "column":
                predicted.append(learner.stream(rows))
            else:
                X = encoder.transform(rows) if form == "codes" else rows.drop(columns="buys")
                predicted.append(learner.stream(X, y, classes=["no", "yes"]))
        return learner, np.concatenate(predicted)

    learner, predicted = stream(table["buys"].to_numpy(object))
    assert len(predicted) == learner.rounds_ == 1500
    assert learner.updates_ > 0
    none, predicted = stream(np.full(1500, None))
    assert none.rounds_ == 1500
    assert len(predicted) == 1500
    assert not any(scores.any() for scores in none._state.scores.arrays())


def test_a_first_call_of_a_stream_with_blanks_needs_classes():
    with pytest.raises(ValueError, match="the first call of a stream with such rows needs classes="):
        dpfast.DPWinnowClassifier(schema="vectors").stream(np.eye(3), ["no", None, "yes"])


def test_a_row_less_costs_a_list_no_more_than_a_row_replaced():
    for exponent, weight, rounds, epsilon in itertools.product(
        (0.01, 0.1, 0.5), (0, 0.3, 1), (1, 3, 10, None), (0.1, 0.5, 1, 3, 10)
    ):
        given = {"coverage_weight": weight, "max_rounds": rounds}
        less, replaced = (cover_delta(exponent, epsilon, neighbors=each, **given) for each in ("add-remove", "replace"))
        assert less <= replaced * (1 + 1e-9)


def test_a_row_less_moves_scores_of_winnow_no_further_than_a_row_replaced():
    for negations, batch in itertools.product((True, False), (1, 4, "all")):
        less, replaced = (winnow_range(each, negations=negations, batch=batch) for each in ("add-remove", "replace"))
        assert less <= replaced


@pytest.mark.parametrize("name", NEEDS_ALL)
def test_a_learner_that_needs_every_label_refuses_before_the_charge(name):
    budget = Budget(100.0, 1e-6)
    x = np.resize([[0.0, 1.0], [1.0, 1.0]], (10, 2))
    model = LEARNERS[name].make(budget=budget, schema="vectors")
    with pytest.raises(ValueError, match=r"some rows have no label, and \w+ as it is set needs one for each row"):
        model.fit(x, np.array([0, 1] * 4 + [None, 1], object), classes=[0, 1])
    assert not budget.charges


def test_the_learner_of_others_needs_every_label_unless_it_says_otherwise():
    assert not dpfast.base.PrivateClassifier.spares_unlabelled
    assert dpfast.NetHalfspaceClassifier.spares_unlabelled
    assert dpfast.FiniteClassLearner.spares_unlabelled


# ---- splits, searches and figures ------------------------------------------------------------------------------------


def _rows_with_gaps(n=400):
    rng = np.random.default_rng(0)
    X = rng.random((n, 3)) < 0.5
    y = np.where(X[:, 0], "a", "b").astype(object)
    y[np.arange(n) % 7 == 0] = None
    return X, y, np.arange(n) % 7 != 0


def test_splits_and_searches_leave_rows_without_a_label_out_or_refuse_them():
    X, y, kept = _rows_with_gaps()
    free = {"neighbors": "add-remove"}
    split = private_split(X, y, random_state=0)
    split.fit(dpfast.DecisionListClassifier(8.0, random_state=0, **free), classes=["a", "b"])
    assert len(split.test.y) == (split.is_test & kept).sum()
    assert split.accuracy(epsilon=4, random_state=0).value > 0.9
    assert split.roc(epsilon=4, random_state=0).auc.value > 0.8
    budget = Budget(8.0, 1e-6)
    with pytest.raises(ValueError, match=r"y lacks some labels, .* neighbors=\"add-remove\""):
        private_split(X, y, random_state=0).fit(dpfast.DecisionListClassifier(8.0, budget=budget), classes=["a", "b"])
    offered = [dpfast.DecisionListClassifier(max_rules=2), dpfast.DecisionListClassifier(max_rules=3)]
    found = private_search(offered, X, y, epsilon=8, classes=["a", "b"], random_state=0, **free)
    other = private_search(offered, X[kept], y[kept], epsilon=8, classes=["a", "b"], random_state=0, **free)
    assert found.right == other.right
    with pytest.raises(ValueError, match="y lacks some labels"):
        private_search(offered, X, y, classes=["a", "b"], budget=budget)
    assert not budget.charges


def test_figures_count_rows_with_a_label_only():
    _, y, kept = _rows_with_gaps()
    said = np.where(np.arange(400) % 3, y, "a")
    free = {"epsilon": 50, "neighbors": "add-remove", "random_state": 0}
    assert dpfast.metrics.accuracy(y, said, **free).value == dpfast.metrics.accuracy(y[kept], said[kept], **free).value
    counts = dpfast.metrics.confusion_matrix(y, np.full(400, "a"), classes=["a", "b"], **free).counts
    assert counts.sum() == pytest.approx(kept.sum(), abs=3)
    for figure in (
        dpfast.metrics.accuracy,
        lambda *rows, **given: dpfast.metrics.confusion_matrix(*rows, classes=["a", "b"], **given),
    ):
        with pytest.raises(ValueError, match="y_true lacks some labels"):
            figure(y, said, epsilon=1)


@pytest.mark.parametrize("classes", [[0, 1], ["0", "1"]])
@pytest.mark.parametrize("kind", ["str", "Int64", "<U1"])
def test_a_label_that_is_missing_does_not_change_the_type_of_the_classes_of_a_stream(kind, classes):
    whole = pd.Series([0, 1] * 20, dtype="Int64").astype("Int64" if kind == "Int64" else str)
    gap = whole.where(whole.index != 3, None if kind != "<U1" else "")
    X = pd.DataFrame({"a": np.random.default_rng(0).random(40)})
    found = []
    for y in (whole, gap):
        learner = dpfast.DPWinnowClassifier(schema=Schema([Numeric("a", 0, 1)]), random_state=0)
        learner.partial_fit(X, y.to_numpy(kind) if kind == "<U1" else y, classes=classes)
        found.append((learner.classes_.dtype, learner.classes_.tolist()))
    assert found[0] == found[1]
