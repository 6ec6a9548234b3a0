"""Labels that are not discovered: no model pretends to have learned, and what stands for other labels is said."""

import contextlib
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import dpfast
from dpfast.accounting import Budget
from dpfast.base.fitting import NothingLearned
from dpfast.cli import app
from dpfast.cli.figures import figures

LEARNERS = [
    dpfast.HalfspaceClassifier,
    dpfast.DecisionListClassifier,
    dpfast.BoostedHalfspaceClassifier,
    dpfast.ProjectedHalfspaceClassifier,
    dpfast.DPWinnowClassifier,
]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    age = rng.integers(18, 91, 3000)
    return pd.DataFrame({"age": age, "job": rng.choice(["clerk", "smith"], 3000)}), pd.Series(age > 50)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: each.__name__)
def test_a_fit_that_finds_fewer_than_two_labels_is_an_error_that_was_paid_for_and_no_model(learner, neighbors, frame):
    X, _ = frame
    ages = [f"g{k % 72}" for k in range(len(X))]
    for labels, found in ((ages, "no label"), (np.full(len(X), "no"), "only the label 'no'")):
        budget = Budget(1.0, 1e-6, neighbors=neighbors)
        model = learner(neighbors=neighbors, budget=budget, random_state=0)
        with pytest.raises(ValueError, match=f"{found} of 'group' has enough rows to be discovered") as raised:
            model.fit(X, pd.Series(labels, name="group"))
        assert "nothing was learned, and (1.0, 1e-06)-DP" in str(raised.value)
        assert "classes= (--classes)" in str(raised.value)
        assert budget.spent[0] == pytest.approx(1.0, rel=0.2)
        with pytest.raises(NotFittedError):
            model.predict(X)
        assert not {"privacy_", "classes_"} & {*vars(model)}
        assert model.encoder_.privacy_.epsilon == raised.value.privacy.epsilon == 1.0  # the claim stands


@pytest.fixture(scope="module")
def strokes():
    rng = np.random.default_rng(3)
    n = 6000
    age = rng.integers(18, 91, n)
    return pd.DataFrame({"age": age, "job": rng.choice(["clerk", "smith"], n)}), (
        (age > 80) & (rng.random(n) < 0.2)
    ) * 1


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: each.__name__)
def test_labels_that_too_few_rows_have_are_the_class_other_if_only_one_is_discovered(learner, strokes, tmp_path):
    X, y = strokes
    model = learner(epsilon=0.4, random_state=2).fit(X, y)
    assert model.classes_.tolist() == ["0", "other"]
    (note,) = [each for each in model.notes_ if each.startswith("The labels were discovered: 0, other.")]
    assert "The class 'other' stands for all labels that too few rows have to be discovered" in note
    assert model.encoder_.other_label_ == "other"
    assert model.class_sizes_.sum() == pytest.approx(len(y), abs=200)
    model.save(tmp_path / "m.json")
    right = np.mean(model.predict(X) == np.where(y, "other", "0"))
    for each in (model, dpfast.load(tmp_path / "m.json")):
        assert each.score(X, y) == each.score(X, y.astype(str)) == each.score(X, [*y]) == right > 0.9


def test_rows_without_a_label_are_not_rows_of_other_labels(strokes):
    X, y = strokes
    for gaps, known in ((np.where(np.arange(len(y)) % 3 == 0, "", "no"), False), (np.where(y, "yes", "no"), True)):
        with_gaps = np.where(np.arange(len(y)) % 3 == 0, "", gaps)
        model = dpfast.HalfspaceClassifier(epsilon=0.9, random_state=0)
        if known:
            assert model.fit(X, with_gaps).classes_.tolist() == ["no", "other"]
            assert model.class_sizes_.sum() == pytest.approx(len(y) * 2 / 3, rel=0.05)
            continue
        with pytest.raises(ValueError, match="only the label 'no'"):
            model.fit(X, with_gaps)


def _finds_other(labels, seed):
    X = pd.DataFrame({"age": np.random.default_rng(seed).integers(0, 50, len(labels))})
    model = dpfast.HalfspaceClassifier(n_rounds=1, random_state=seed)
    with contextlib.suppress(NothingLearned):
        model.fit(X, labels)
    return "other" in getattr(model, "classes_", [])


@pytest.mark.parametrize("gaps", [0, 20, 40, 60, 1200])
def test_rows_without_a_label_make_no_class_of_other_labels_beyond_chance(gaps):
    """The worst chance is .03; if few rows without a label were not subtracted, it was .35."""
    labels = np.where(np.arange(2000) < gaps, "", "no")
    assert sum(_finds_other(labels, seed) for seed in range(60)) <= 7


def test_labels_whose_type_has_no_missing_one_are_the_class_other_where_texts_may_not_be():
    rare = np.arange(2000) < 30
    whole, texts = (sum(_finds_other(y, seed) for seed in range(40)) for y in (rare * 1, np.where(rare, "yes", "no")))
    assert whole > texts + 3


def test_no_class_stands_for_other_labels_if_the_number_of_rows_is_private_or_one_has_its_name(strokes):
    X, y = strokes
    with pytest.raises(ValueError, match="only the label '0'"):
        dpfast.HalfspaceClassifier(epsilon=0.4, neighbors="add-remove", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="only the label 'other'"):
        dpfast.HalfspaceClassifier(epsilon=0.4, random_state=0).fit(X, np.where(y, "rare", "other"))


def test_figures_of_a_table_count_other_labels_as_their_class(strokes, tmp_path):
    X, y = strokes
    X.assign(stroke=y).to_csv(tmp_path / "t.csv", index=False)
    paths = tmp_path / "t.csv", tmp_path / "m.json"
    result = CliRunner().invoke(
        app, [*map(str, ["fit", paths[0], "--label", "stroke", "--epsilon", 0.5, "--seed", 0, "--out", paths[1]])]
    )
    assert result.exit_code == 0, result.stderr
    assert "The class 'other' stands for all labels" in " ".join(result.stderr.split())
    model = dpfast.load(paths[1])
    shown = figures(model, X, y, np.random.default_rng(0), epsilon=1000.0)
    (accuracy,) = [figure for figure in shown if figure.name == "accuracy"]
    assert accuracy.text.startswith(f"{model.score(X, y):.3f}")


def test_booleans_are_declared_by_their_type(frame):
    X, y = frame
    model = dpfast.HalfspaceClassifier(epsilon=0.1, random_state=0).fit(X[:20], y[:20].astype(bool))
    assert model.classes_.tolist() == [False, True]
    assert not any("discovered" in note for note in model.notes_ if "label" in note)


def test_labels_beyond_two_are_noted_by_a_learner_of_two(frame):
    X, y = frame
    labels = np.where(np.arange(len(y)) % 3 == 0, "maybe", np.where(y, "yes", "no"))
    model = dpfast.DPWinnowClassifier(epsilon=3.0, random_state=0).fit(X, labels)
    (note,) = [each for each in model.notes_ if "tells 2 apart" in each]
    assert note.startswith("3 labels were discovered, and DPWinnowClassifier tells 2 apart: ")
    assert f"were learned as {model.encoder_.other_label_}." in note


@pytest.mark.filterwarnings("ignore:the table has too few rows to discover labels")
@pytest.mark.parametrize("model", ["halfspace", "winnow", "decision-list"])
@pytest.mark.parametrize("labels", ["g18 0 to g89 8", "TRUE and FALSE of 50 rows", "decimals"])
def test_the_command_line_says_that_nothing_was_learned_and_writes_no_model(model, labels, tmp_path):
    rng = np.random.default_rng(0)
    n = 50 if "50" in labels else 3000
    ages = rng.integers(18, 90, n)
    y = {
        "g": [f"g{age} {k % 9}" for k, age in enumerate(ages)],
        "T": [str(age > 50).upper() for age in ages],
        "d": rng.random(n).round(4),
    }
    pd.DataFrame({"x": ages, "y": y[labels[0]]}).to_csv(tmp_path / "t.csv", index=False)
    asked = ["fit", tmp_path / "t.csv", "--label", "y", "--schema", "discover", "--model", model, "--epsilon", 1]
    result = CliRunner().invoke(app, [*map(str, asked), "--out", str(tmp_path / "m.json"), "--test-share", "0"])
    assert result.exit_code == 2
    assert "of 'y' has enough rows to be discovered" in result.stderr
    assert "is spent" in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "m.json").exists()


@pytest.mark.filterwarnings("ignore:the table has too few rows to discover labels")
def test_few_persons_have_too_few_labels(frame):
    X, y = frame
    model = dpfast.HalfspaceClassifier(random_state=0)
    with pytest.raises(ValueError, match=r"label of y has enough rows to be discovered, .* is spent"):
        model.fit(X, y.astype(int), units=np.arange(3000) % 20, rows_per_unit=100)


def test_a_label_of_a_floating_type_in_files_is_refused_by_its_type_before_the_charge(frame, tmp_path):
    frame[0].assign(cost=np.repeat([1.0, 2.0], 1500)).to_parquet(tmp_path / "t.parquet")
    for learner in LEARNERS:
        budget = Budget(1.0, 1e-6)
        with pytest.raises(ValueError, match="'cost' is of a floating or decimal type, and dpfast learns classes only"):
            learner(schema="discover", budget=budget).fit(dpfast.FileParts(tmp_path / "t.parquet", label="cost"))
        assert budget.spent == (0, 0)


def test_labels_with_decimals_are_refused_and_whole_decimal_labels_are_integers_in_every_table(frame, tmp_path):
    X = frame[0]
    for scale in (0, 2):
        parted = pa.array(np.repeat([1, 2], 1500)).cast(pa.decimal128(24, scale))
        table = pa.Table.from_pandas(X, preserve_index=False).append_column("cost", parted)
        parquet.write_table(table, tmp_path / "t.parquet")
        files = dpfast.FileParts(tmp_path / "t.parquet", label="cost")
        for given in ((X, parted), (table, "cost"), (pl.from_arrow(table), "cost"), (files,)):
            budget = Budget(9.0, 1e-6)
            learner = dpfast.DecisionListClassifier(epsilon=9.0, schema="discover", random_state=0, budget=budget)
            if scale:
                with pytest.raises(ValueError, match="is of a floating or decimal type"):
                    learner.fit(*given)
                assert budget.spent == (0, 0)
            else:
                assert learner.fit(*given).classes_.tolist() == [1, 2]


def test_vectors_whose_labels_have_decimals_are_refused_with_the_question_that_makes_classes_of_them():
    for y in ([0.5, 1.5, 0.5], np.array([0.5, 1.5, 0.5])):
        with pytest.raises(ValueError, match=r"Unknown label type: continuous\. .* --above 50000"):
            dpfast.HalfspaceClassifier().fit(np.eye(3), y)


@pytest.mark.parametrize(("cell", "said"), [(np.nan, "Input contains NaN"), ("a", "X holds text where numbers are")])
def test_arrays_with_other_cells_than_numbers_are_refused_with_what_reads_them(cell, said, frame):
    _, y = frame
    X = np.arange(3000.0)[:, np.newaxis].astype(object)
    X[::5] = cell
    with pytest.raises(ValueError, match=f'{said}.*schema="discover"'):
        dpfast.HalfspaceClassifier().fit(X, y.astype(int))
    assert hasattr(dpfast.HalfspaceClassifier(schema="discover", random_state=0).fit(X, y.astype(int)), "encoder_")


def test_a_repeated_column_is_refused_at_predict_as_in_fit(frame):
    X, y = frame
    model = dpfast.HalfspaceClassifier(random_state=0).fit(X, y.astype(int))
    twice = pd.concat([X, X[["age"]]], axis=1)
    for refused in (model.predict, model.predict_proba, lambda table: model.fit(table, y)):
        with pytest.raises(ValueError, match="two columns have the name 'age'"):
            refused(twice)


@pytest.mark.parametrize("kind", ["pandas", "numbered", "polars", "arrow"])
def test_labels_in_a_frame_of_one_column_are_those_of_the_column(kind, frame):
    X, y = frame
    y = y.astype(int)
    pandas = pd.DataFrame({"y": y})
    polars = pytest.importorskip("polars")
    made = {"pandas": pandas, "numbered": pandas.set_axis([0], axis=1), "polars": polars.DataFrame({"y": y.to_numpy()})}
    made["arrow"] = made["polars"].to_arrow()
    expected = dpfast.HalfspaceClassifier(random_state=0).fit(X, y)
    model = dpfast.HalfspaceClassifier(random_state=0).fit(X, made[kind])
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict(X) == expected.predict(X)).all()
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match="y is a frame of 2 columns"):
        dpfast.HalfspaceClassifier(budget=budget).fit(X, pandas.assign(z=1))
    assert budget.spent == (0, 0)


@pytest.mark.parametrize("schema", ["discover", "declared"])
def test_a_label_of_a_floating_type_is_refused_by_its_type_before_the_charge(schema, frame, tmp_path):
    table = frame[0].assign(cost=np.repeat([1.0, 2.0], 1500))
    table.to_parquet(tmp_path / "t.parquet")
    if schema == "declared":
        schema = tmp_path / "s.toml"
        dpfast.Schema([dpfast.tables.Numeric("age", 0, 100)]).to_file(schema)
    asked = ["fit", tmp_path / "t.parquet", "--label", "cost", "--schema", schema, "--epsilon", 1]
    result = CliRunner().invoke(app, [*map(str, asked)])
    assert result.exit_code == 2
    assert "spent" not in result.stderr
    assert "'cost' is of a floating or decimal type, and dpfast learns classes only" in result.stderr


@pytest.mark.parametrize("large", [2**63, 10**30, -(2**63) - 1, 10**400])
def test_integers_that_no_array_holds_are_refused_before_the_charge(large):
    """Whatever else is discovered, the classes have a type that no later check refuses."""
    budget = Budget(9.0, 1e-3)
    table = pd.DataFrame({"a": np.arange(400) % 7})
    for others in ([], [-1], ["yes"], [True]):
        y = np.array([*others, *[large, 0] * 200][:400], object)
        with pytest.raises(ValueError, match="integers, booleans or finite floats of at most 64 bits, got a larger"):
            dpfast.HalfspaceClassifier(3.0, n_rounds=2, budget=budget).fit(table, y)
    assert not budget.charges
    y = np.array([2**63 - 1, -(2**63)] * 200, object)
    model = dpfast.HalfspaceClassifier(9.0, 1e-3, n_rounds=2, budget=budget).fit(table, y)
    assert model.classes_.tolist() == [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("blanks", [0, 0.1])
def test_the_share_of_the_rows_with_other_labels_is_told_with_an_interval_that_holds_it(rng, blanks):
    held = told = 0
    for k in range(60):
        rare = (0.1, 0.6)[k % 2]
        share = [0.5 - rare / 2] * 2 + [rare / 26] * 26
        y = rng.choice([f"r{j}" for j in range(28)], 600, p=share).astype(object)
        y[rng.random(600) < blanks] = None
        model = dpfast.HalfspaceClassifier(epsilon=2, random_state=k, n_rounds=2).fit(
            {"a": rng.integers(0, 60, 600)}, y
        )
        value, low, high = model.encoder_.other_labels_
        known = y[[each is not None for each in y]].astype(str)
        held += low <= np.mean(~np.isin(known, model.classes_)) <= high
        share = f"About {100 * value:.0f}% of the rows ({100 * low:.0f} to {100 * high:.0f}) have other labels"
        most = f"At most {100 * high:.0f}% of the rows have other labels"
        told += (share if round(100 * low) else most) in model.notes_[0]
    assert held >= 50  # of 60: fewer with a probability below 1e-3 if it is 95%
    assert told == 60


@pytest.mark.parametrize(
    "learner",
    [
        partial(dpfast.HalfspaceClassifier, n_rounds=2),
        dpfast.DecisionListClassifier,
        partial(dpfast.BoostedHalfspaceClassifier, n_rounds=2),
        partial(dpfast.ProjectedHalfspaceClassifier, n_rounds=2),
        partial(dpfast.DPWinnowClassifier, probability_share=0.2),
    ],
)
def test_the_share_of_rows_with_other_labels_follows_from_released_sizes_if_their_number_is_private(learner, rng):
    held = 0
    for k in range(8):
        y = rng.choice([f"r{j}" for j in range(28)], 1500, p=[0.3, 0.26] + [0.44 / 26] * 26)
        model = learner(epsilon=3, neighbors="add-remove", random_state=k).fit({"a": rng.integers(0, 60, 1500)}, y)
        value, low, high = model.encoder_.other_labels_
        held += low <= np.mean(~np.isin(y, model.classes_)) <= high
        share = f"About {100 * value:.0f}% of the rows ({100 * low:.0f} to {100 * high:.0f}) have other labels"
        assert share in model.notes_[0]
    assert held >= 5  # fewer with a probability below 1e-3 if it is 95%


def test_no_share_is_told_if_no_release_says_how_many_rows_there_are(rng):
    y = np.where(rng.random(900) < 0.5, "a", "b")
    model = dpfast.DPWinnowClassifier(epsilon=2, neighbors="add-remove").fit({"a": rng.integers(0, 60, 900)}, y)
    assert not hasattr(model.encoder_, "other_labels_")
    assert "Rows with any other label were learned as" in model.notes_[0]


@pytest.mark.parametrize("missing", ["", " ", "NA", None, np.nan])
def test_the_score_refuses_rows_without_a_label_however_it_is_missing(frame, missing):
    X, y = frame
    model = dpfast.HalfspaceClassifier(3, n_rounds=2, random_state=0).fit(X, y.map({True: "old", False: "young"}))
    labels = y.map({True: "old", False: "young"}).astype(object)
    labels[4] = missing
    with pytest.raises(ValueError, match="no label, in row 5"):
        model.score(X, labels)
    labels[4] = "another"
    assert 0 < model.score(X, labels) < 1
