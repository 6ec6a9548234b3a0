import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

import dpfast
from dpfast.accounting import Budget
from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.curves.opening import opening_moves
from dpfast.base.fitting import Fit
from dpfast.base.transaction import reader_of
from dpfast.discovery import facts
from dpfast.discovery.facts import ColumnFacts
from dpfast.discovery.spread import Held, Part, Spread
from dpfast.discovery.survey import discover, labels_seen, plan
from dpfast.files.encodings import source_of
from dpfast.kernels.spread import Grid
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.report.html import page
from dpfast.report.text import column_line
from dpfast.tables import Boolean, Schema
from dpfast.tables.cells import (
    GROUPS,
    SURVEYED,
    SURVEYED_DATES,
    SURVEYED_NUMBERS,
    Runs,
    fixed_groups,
    number_codes,
    word_group,
)
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding, encode

LEARNERS = {
    "halfspace": dpfast.HalfspaceClassifier,
    "list": dpfast.DecisionListClassifier,
    "boosted": dpfast.BoostedHalfspaceClassifier,
    "projected": dpfast.ProjectedHalfspaceClassifier,
    "winnow": dpfast.DPWinnowClassifier,
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    n = 4_000
    age, income = rng.integers(18, 91, n), np.exp(rng.normal(10, 2, n))
    job = rng.choice(["clerk", "smith", "baker"], n)
    buys = (age / 40 + (job == "clerk") + np.log(income) / 5 + rng.normal(0, 0.3, n)) > 4
    seen = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    return pd.DataFrame({"age": age, "income": income, "job": job, "seen": seen}), pd.Series(buys)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_frame_needs_no_schema(name, frame):
    X, y = frame
    budget = Budget(3.0, 1e-6)
    model = LEARNERS[name](epsilon=3.0, budget=budget, random_state=0).fit(X, y)
    assert budget.spent == (3.0, 1e-6)
    assert (model.privacy_.epsilon, model.privacy_.delta) == (3.0, 1e-6)
    assert model.privacy_.events[0].name == "survey"
    assert model.classes_.dtype == bool
    assert model.score(X, y) > 0.7
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (4, [*X.columns])
    assert model.encoder_.schema_.columns[2].values == ("baker", "clerk", "smith")


def test_frames_of_any_library_give_the_same_model(frame):
    X, y = frame
    fitted = dpfast.HalfspaceClassifier(random_state=0).fit(X, y)
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        model = dpfast.HalfspaceClassifier(random_state=0).fit(table, y)
        np.testing.assert_array_equal(model.predict(table), fitted.predict(X))


@pytest.mark.parametrize("labels", [[3, 7], ["no", "yes"], [False, True]])
def test_labels_come_back_as_they_went_in(labels, frame, tmp_path):
    X, y = frame
    typed = np.array(labels)[y.to_numpy().astype(int)]
    for schema in (None, Schema.draft(X).confirm()):
        model = dpfast.HalfspaceClassifier(epsilon=4.0, schema=schema, n_rounds=9, random_state=0).fit(X, typed)
        model.save(tmp_path / "model.json")
        for each in (model, dpfast.load(tmp_path / "model.json")):
            assert each.classes_.tolist() == labels
            assert set(each.predict(X).tolist()) <= set(labels)
    assert np.isfinite(cross_val_score(model, X[:1000], typed[:1000], cv=2)).all()


def test_labels_that_are_no_classes_are_refused_before_the_charge(frame):
    X, _ = frame
    budget = Budget(1.0, 1e-6)
    whole = X["age"].astype(float)
    for labels in (X["income"], whole):  # by the type alone
        with pytest.raises(
            ValueError, match=r"Unknown label type: .* is of a floating or decimal type, and dpfast learns classes"
        ):
            dpfast.HalfspaceClassifier(budget=budget).fit(X, labels)
    assert budget.spent == (0, 0)
    declared = np.where(whole > 50, 1.0, 2.0)
    assert dpfast.HalfspaceClassifier(random_state=0).fit(X, declared, classes=[1.0, 2.0]).classes_.tolist() == [
        1.0,
        2.0,
    ]


def test_weights_of_classes_that_may_not_be_found_are_refused_before_the_charge(frame):
    X, y = frame
    budget = Budget(1.0, 1e-6)
    model = dpfast.HalfspaceClassifier(class_weight={1: 2.0}, budget=budget, random_state=0)
    with pytest.raises(ValueError, match="declare classes="):
        model.fit(X, y.astype(int))
    assert budget.spent == (0, 0)
    assert model.fit(X, y.astype(int), classes=[0, 1]).classes_.tolist() == [0, 1]


def test_a_frame_without_columns_is_refused_before_the_charge(frame):
    X, y = frame
    for empty in (X[[]], pa.table({"y": y})[:0].select([])):
        with pytest.raises(ValueError, match="no columns"):
            dpfast.HalfspaceClassifier().fit(empty, y)


def test_unsigned_labels_on_both_sides_of_signed_ones_make_a_model(frame):
    X, y = frame
    labels = np.where(y, np.uint64(2**64 - 1), np.uint64(1))
    model = dpfast.DPWinnowClassifier(epsilon=4.0, random_state=0).fit(X, labels)
    assert model.classes_.tolist() == [1, 2**64 - 1]
    assert set(model.predict(X).tolist()) <= {1, 2**64 - 1}


def test_labels_that_too_few_rows_have_count_as_the_most_frequent_one(frame):
    X, y = frame
    rare = np.where(np.arange(len(y)) < 3, "never", np.where(y, "yes", "no"))
    model = dpfast.HalfspaceClassifier(epsilon=3.0, random_state=0).fit(X, rare)
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.filterwarnings("ignore:the table has too few rows to discover labels")
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("rows", [1, 5])
def test_whatever_is_discovered_makes_a_model(name, rows, frame):
    X, y = frame
    model = LEARNERS[name](epsilon=0.1, random_state=0).fit(X[:rows], y[:rows])
    assert len(model.predict(X)) == len(X)
    if rows > 1:
        return
    empty = pd.DataFrame({"a": [None] * 30, "b": [1.0] * 30})
    model = LEARNERS[name](random_state=0).fit(empty, np.arange(30) % 2, classes=[0, 1])
    assert len(model.predict(empty)) == 30


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_that_has_predicted_is_pickled(name, frame):
    X, y = frame
    model = LEARNERS[name](random_state=0).fit(X, y)
    predicted = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)


def test_what_was_found_is_shown_beside_the_model(frame):
    X, y = frame
    for model in (dpfast.DecisionListClassifier(2.0, random_state=0), dpfast.HalfspaceClassifier(random_state=0)):
        model.fit(X, y)
        for text in (str(model), str(model.encoder_), getattr(model, "to_text", model.__str__)()):
            _, _, found = text.partition("discovered privately:\n")
            assert [line.split(":")[0].strip() for line in found.splitlines()] == ["age", "income", "job", "seen"]
            assert "job: baker, clerk, smith" in found
            assert "seen: dates from " in found
    declared = dpfast.DecisionListClassifier(random_state=0, schema=model.encoder_.schema_).fit(X, y)
    assert "found privately" not in str(declared) + str(declared.encoder_)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_survey_and_its_learner_cost_no_more_than_what_was_asked_for(name, neighbors):
    schema = Schema([Discovered(f"x{j}") for j in range(16)], label="y")
    model = LEARNERS[name](schema=schema, neighbors=neighbors)
    p, _ = reader_of(model, source_of(None))
    planned = p.plan_survey("open")
    assert planned.labels.deviation == pytest.approx(planned.look.deviation / 4)
    assert planned.labels.least < planned.look.least / 4
    moved = (2 if neighbors == "replace" else 1) * (
        16 + 16 + 8 + 4**2
    )  # columns of all looks, and labels count 4 times
    spent = moved / planned.look.deviation**2
    assert spent == pytest.approx(next(each.size for each in planned.cost if each.kind == "gaussian") ** 2)
    assert 0.7 < p.epsilon <= 1
    if planned.total:
        assert Composed(planned.total).delta(1.0) <= 1e-6
    else:
        assert p.epsilon + Composed(planned.cost).epsilon(1e-6 - p.delta) <= 1


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "last",
    [["7", "b", "2020-02-29", None], ["x", "3", "w", "w"], [None, None, None, "new"], ["1e300", "-0", "inf", "-"]],
)
def test_a_row_moves_both_looks_by_no_more_than_was_planned(neighbors, last):
    """A cell is counted once in each look: as missing, as a number, as a date or as a word."""
    first = [["1", "a", "2020-01-01", "w"], ["-2.5", "2", "x", ""], ["0", "a", "1999-12-31", "7"]]
    tables = [[*first, ["5", "a", "2021-01-01", "w"]], [*first, last] if neighbors == "replace" else first]
    schema = Schema([Discovered(name) for name in "abcd"])
    asked = (
        ([-1.0, 0.0, 6.0], [0.0, 18_000.0], ("a",)),
        (None, [0.0], ("w", "new")),
        (None, None, ()),
        ([1.0], None, None),
    )
    looks = []
    for rows in tables:
        encoding = Encoding(schema)
        encoding.add({name: [row[j] for row in rows] for j, name in enumerate("abcd")})
        looks.append((encoding.counts(), encoding.cells(asked)))
    (one, seen), (two, again) = looks
    moved = sum(((a - b) ** 2).sum() for a, b in zip(one.fixed, two.fixed, strict=True))
    for mine, others in zip(one.words, two.words, strict=True):
        moved += sum((mine[word] - others[word]) ** 2 for word in {*mine, *others})
    assert moved <= opening_moves(4, neighbors)
    assert sum(((a - b) ** 2).sum() for a, b in zip(seen, again, strict=True)) <= opening_moves(4, neighbors)
    assert moved > opening_moves(2, neighbors)


SPENDING = [
    *((name, {}) for name in LEARNERS),
    *((name, {"probability_share": 0.3}) for name in ("boosted", "projected", "winnow")),
    ("boosted", {"start": "even"}),
    ("boosted", {"weak_learner": "stump"}),
    ("projected", {"loss": "hinge"}),
    ("list", {"rule_counts": 0.5}),
    ("list", {"max_rules": None}),
    ("halfspace", {"interactions": 2}),
]


@pytest.mark.parametrize(("name", "given"), SPENDING, ids=str)
@pytest.mark.parametrize(("neighbors", "epsilon"), [("replace", 0.5), ("add-remove", 4.0)])
def test_what_a_learner_spends_and_the_survey_are_together_what_was_charged(
    name, given, neighbors, epsilon, frame, monkeypatch
):
    charged, charge = [], Fit.charge

    def noted(run, public, cost=(), *releases, **how):
        charged.append(tuple(cost))
        charge(run, public, cost, *releases, **how)

    monkeypatch.setattr(Fit, "charge", noted)
    X, y = frame
    model = LEARNERS[name](epsilon, encoder_share=0.25, neighbors=neighbors, random_state=0, **given).fit(X, y)
    planned, learner = charged
    together = Composed([*model.encoder_.privacy_.cost, *learner] if learner else planned)  # a list is on the same bill
    assert together.delta(epsilon) <= 1e-6 * (1 + 1e-6)
    if planned:
        assert Composed(planned).delta(epsilon) <= 1e-6 * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_list_beside_a_survey_keeps_nearly_all_of_its_exponent(epsilon, neighbors):
    schema = Schema([Discovered(f"x{j}") for j in range(16)], label="y")
    model = dpfast.DecisionListClassifier(epsilon, schema=schema, neighbors=neighbors, encoder_share=0.06)
    p, _ = reader_of(model, source_of(None))
    alone = model._shares(p.epsilon, p.delta * 0.8).solve(10, 1).exponent
    assert p.survey.noise[1] > 0.96 * float(alone)
    assert Composed(p.survey.total).delta(epsilon) <= 1e-6


@pytest.mark.parametrize("kind", ["gaussian", "zcdp", "pair"])
@pytest.mark.parametrize("share", [1, Fraction(1, 2)])
def test_the_cost_covers_lone_words_of_columns_and_of_labels(kind, share):
    schema = Schema([Discovered(f"x{j}") for j in range(3)], label="y")
    planned = plan(schema, 1, Fraction(1, 10**6), "replace", labels="open", share=share, kind=kind)
    lone = 3 * planned.look.lone + planned.labels.lone
    assert lone == pytest.approx(2e-7 * (float(share) if kind == "pair" else 1))
    for costs in [planned.cost, *([planned.total] if planned.total else [])]:
        assert sum(cost.delta for cost in costs if cost.kind == "pair") >= lone * (1 - 1e-12)


def test_too_few_rows_to_discover_labels_are_warned_of_before_the_charge_if_their_number_is_public(frame):
    X, y = frame
    budget = Budget(1.0, 1e-6)
    with pytest.raises(UserWarning, match=r"too few rows to discover labels \(30\): .* declare classes="):
        dpfast.HalfspaceClassifier(budget=budget).fit(X[:30], y[:30].astype(int))
    assert budget.spent == (0, 0)
    with pytest.raises(ValueError, match="no label of"):  # without the warning, as the number of rows is private
        dpfast.HalfspaceClassifier(neighbors="add-remove", random_state=0).fit(X[:30], y[:30].astype(int))
    dpfast.HalfspaceClassifier(random_state=0).fit(X[:30], y[:30], classes=[False, True])


def test_noise_is_not_taken_for_numbers_of_more_rows_than_the_table_has():
    frame = pd.DataFrame({"x": np.arange(30.0)})
    for seed in (0, 22):
        encoder = dpfast.TableEncoder(Schema([Discovered("x")]), epsilon=0.01, random_state=seed).fit(frame)
        assert encoder.other_ == {"x": 1.0}


def test_what_is_said_of_a_column_covers_bins_beyond_its_bounds_and_columns_without_discovered_values(frame):
    def told(other, **facts):
        return column_line(Discovered("x", cells=True, **facts), ["cells"], other)[1]

    assert told(0, numbers=(1.0, 2.0), ends=(0.5, 3.0)) == "numbers from 0.5 to 3, 3 bins"
    assert told(0, numbers=(0.0, 8.0), ends=(0.5, 3.0)) == "numbers from 0.5 to 3 and beyond, 3 bins"
    assert told(0.2, values=("a",), groups=GROUPS).startswith("a, other values in 64 groups; other cells: about 20.0%")
    none = "too few rows to discover its values; "
    assert told(1, numbers=(1.0, 2.0), ends=(0.0, 0.0)) == none + "read by 3 default bins"
    assert told(1, values=(), groups=GROUPS) == none + "read by 64 groups of values"
    assert told(1, values=()) == none + "only missing cells are told apart"


def test_units_are_protected_where_nothing_is_declared(frame):
    X, y = frame
    units = np.arange(len(X)) // 2
    model = dpfast.HalfspaceClassifier(epsilon=3.0, random_state=0).fit(X, y, units=units, rows_per_unit=2)
    assert (model.privacy_.unit, model.privacy_.rows_per_unit) == ("person", 2)
    rows = dpfast.HalfspaceClassifier(epsilon=3.0, random_state=0).fit(X, y)
    assert model.sigma_ > rows.sigma_


def test_arrays_are_discovered_when_asked(frame):
    X, y = frame
    array = X[["age", "income"]].to_numpy()
    model = dpfast.DecisionListClassifier(epsilon=3.0, schema="discover", random_state=0).fit(array, y)
    assert model.encoder_.schema_.names == ["x0", "x1"]
    assert model.score(array, y) > 0.6
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(dpfast.HalfspaceClassifier(random_state=0, schema="vectors").fit(array, y), "encoder_")


def test_a_discovered_array_predicts_arrays_also_from_a_file_and_is_better_on_scales(rng, tmp_path):
    n, d = 2_000, 20
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(0, 3, d))
    y = np.where(X[:, 0] / X[:, 0].std() + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    model = dpfast.HalfspaceClassifier(random_state=0, schema="discover").fit(X, y)
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(dpfast.load(tmp_path / "model.json").predict(X), model.predict(X))
    vectors = dpfast.HalfspaceClassifier(random_state=0, schema="vectors").fit(X, y)
    assert model.score(X, y) > vectors.score(X, y) + 0.05
    frame = pd.DataFrame(X).add_prefix("c")
    assert not hasattr(dpfast.HalfspaceClassifier(n_rounds=2, schema="vectors").fit(frame, y), "encoder_")


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("columns", [3, 20])
def test_two_labels_are_found_in_a_thousand_rows(name, columns):
    y = np.where(np.arange(1_000) < 300, "a", "b")
    for seed in range(3):
        frame = pd.DataFrame(np.random.default_rng(seed).normal(size=(1_000, columns))).add_prefix("x")
        model = LEARNERS[name](random_state=seed).fit(frame, y)
        assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_column_in_which_nothing_is_clear_of_noise_is_not_lost(name, rng):
    n = 1_500
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(12)})
    frame["age"], frame["word"] = rng.integers(0, 99, n), rng.choice([*"abcdefgh"], n)
    model = LEARNERS[name](epsilon=0.3, random_state=0).fit(frame, frame["x0"] > 0, classes=[False, True])
    for column in model.encoder_.schema_.columns:
        assert all(each.bins + each.other > 1 for each in column.code_columns()), column


def test_files_are_discovered_when_asked(frame, tmp_path):
    X, y = frame
    X.assign(buys=y).to_csv(tmp_path / "people.csv", index=False)
    X.assign(buys=y).to_parquet(tmp_path / "people.parquet")
    for name in ("people.csv", "people.parquet"):
        rows = dpfast.files.FileParts(tmp_path / name, label="buys")
        model = dpfast.HalfspaceClassifier(epsilon=3.0, schema="discover", random_state=0).fit(rows)
        assert model.encoder_.schema_.names == ["age", "income", "job", "seen"]
        assert model.encoder_.schema_.columns[3].dates is not None


ANY_NUMBER = Grid(False, -math.inf, math.inf)


def test_noise_alone_makes_no_rows_and_rows_stay_where_they_are(rng):
    ends = np.arange(130.0)
    noise = rng.normal(0, 30.0, (400, 129))
    assert sum(Spread.clear(each, 30.0, ends).total > 0 for each in noise) <= 20
    noise[0, 40:42] += 1_000.0
    found = Spread.clear(noise[0], 30.0, ends)
    np.testing.assert_array_equal(np.flatnonzero(found.rows), [40, 41])
    assert found.ends_of_cells().tolist() == [40, 41, 42]


def test_edges_lie_at_equal_ranks():
    spread = Spread(np.array([0, 0, 40, 0, 0, 0, 60, 0, 0, 0.0]), np.arange(11.0))
    np.testing.assert_allclose(spread.quantiles([0.1, 0.2, 0.4, 0.7, 1.0]), [2.25, 2.5, 3, 6.5, 7])
    assert spread.divided(10, 1.0).tolist() == [2, 2.25, 2.5, 2.75, 3, *(6 + np.arange(7) / 6)]
    assert spread.divided(10, 20.0).tolist() == [2, 2.5, 3, 6, 6 + 1 / 3, 6 + 2 / 3, 7]


@pytest.mark.parametrize("name", ["halfspace", "list"])
def test_values_that_few_rows_share_have_bins_of_their_own_where_noise_lets_them_stand_out(name, rng):
    n, values = 20_000, 1000.0 + 16 * np.arange(40) + np.arange(40) % 7
    x = np.where(rng.random(n) < 0.9, 0.0, rng.choice(values, n))
    frame = pd.DataFrame({"x": x})
    apart = {}
    for epsilon in (0.3, 100):
        model = LEARNERS[name](epsilon, random_state=0).fit(frame, rng.random(n) < 0.5, classes=[False, True])
        edges = model.encoder_.schema_.code_columns[0].edges
        apart[epsilon] = len({*np.searchsorted(edges, values).tolist()})
        assert len(edges) < 2 * (128 if name == "halfspace" else 32) + 48
    assert apart[0.3] < 20
    assert apart[100] > (38 if name == "halfspace" else 22)


def test_noise_makes_no_values_that_stand_out(rng):
    rows, ends = rng.poisson(50.0, 4000) + rng.normal(0.0, 5.0, 4000), np.arange(4001.0)
    assert len(Spread(rows, ends).spikes(5.0, 100)) == 0
    rows[[7, 2000]] = 200.0, 400.0
    assert Spread(rows, ends).spikes(5.0, 1).tolist() == [2000.0, 2001.0]
    assert Spread(rows, ends).spikes(5.0, 100).tolist() == [2000.0, 7.0, 2001.0, 8.0]
    assert len(Spread(rows, ends).spikes(5.0, 0)) == 0


def test_codes_of_what_was_found_are_those_of_the_numbers():
    column = Discovered("x", numbers=(-1.0, 2.5, 64.0), ends=(-2.0, 70.0), values=("a",), cells=True)
    table = pa.table({"x": ["-1", "-0.5", "2.5", "2.6", "64", "1e9", "a", "b", None]})
    codes = encode(table, Schema([column]))
    assert codes.column(0).tolist() == [0, 1, 1, 2, 2, 3, 4, 4, 4]
    assert codes.column(1).tolist() == [1, 1, 1, 1, 1, 1, 0, 1, 2]
    assert number_codes(np.array([64.0])) < number_codes(np.array([64.1]))


def test_edges_that_part_no_rows_make_no_rules(rng):
    n = 20_000
    a = rng.normal(size=n)
    frame = pd.DataFrame({"const": 1.0, "near": (rng.random(n) < 0.001) * 1.0, "a": a})
    model = dpfast.DecisionListClassifier(epsilon=3.0, random_state=1).fit(frame, a > 0)
    const, near, _ = model.encoder_.schema_.columns
    assert const.numbers == ()
    assert len(near.numbers) <= 1
    assert model.score(frame, a > 0) > 0.8


def test_columns_that_are_different_in_nearly_every_row_or_in_none_carry_no_weight(rng):
    n = 20_000
    a = rng.normal(size=n)
    patient = rng.permutation(n)
    frame = pd.DataFrame(
        {"patient": [f"P{k:06}" for k in patient], "number": patient + 100_000, "const": "yes", "a": a}
    )
    frame["near"] = np.where(rng.random(n) < 0.002, "odd", "even")
    model = dpfast.HalfspaceClassifier(epsilon=1.0, random_state=0).fit(frame, rng.random(n) < 1 / (1 + np.exp(-2 * a)))

    def moved(name):
        """How far scores move if the column is shuffled."""
        other = frame.assign(**{name: rng.permutation(frame[name])})
        return np.std(model.decision_function(other) - model.decision_function(frame))

    assert moved("patient") == moved("const") == 0
    assert max(moved("near"), moved("number")) < moved("a") / 8


def test_words_and_numbers_of_which_too_few_rows_were_found_are_still_told_apart(rng):
    n = 2_000
    word, number = rng.choice([*"abcd"], n), rng.choice(["0.5", "3", "70"], n)
    frame = pd.DataFrame(
        {"word": word, "number": number, "typed": rng.choice([0.5, 3, 70], n), "none": rng.normal(size=n)}
    )
    for y in (np.isin(word, ["a", "b"]), number == "3", frame["typed"] == 3):
        model = dpfast.HalfspaceClassifier(epsilon=0.3, random_state=0).fit(frame, y)
        found = model.encoder_.schema_.columns[0]
        assert (found.values, found.groups) == ((), tuple(range(GROUPS)))
        assert model.score(frame, y) > 0.9
    surely = dpfast.HalfspaceClassifier(epsilon=30.0, random_state=0).fit(frame, y).encoder_.schema_.columns[0]
    assert (surely.values, surely.groups) == (("a", "b", "c", "d"), ())


def test_groups_that_are_clear_of_noise_have_codes_where_hardly_any_other_rows_are_left(rng):
    n = 4_000
    y = rng.random(n) < 0.5
    word = np.where(rng.random(n) < 0.7, "most", np.where(y, "one", "two"))
    frame = pd.DataFrame({"word": word, "x": y * 1.0, "z": 1.0})
    model = dpfast.HalfspaceClassifier(0.4, encoder_share=0.04, random_state=0).fit(frame, y)
    found = model.encoder_.schema_.columns[0]
    assert found.values == ("most",)
    assert {*found.groups} >= {*map(word_group, ("one", "two"))}
    assert found.code_columns()[0].size <= 7  # with "other" and missing ones, and up to two groups of noise


def test_rare_words_of_a_large_table_are_told_apart_beside_published_ones_unless_they_hardly_repeat(rng):
    n = 30_000
    month = rng.choice([*"abcdefghi"], n, p=[0.946 / 6] * 6 + [0.018] * 3)  # rare ones are not published
    y = np.isin(month, ["g", "h"]) ^ (rng.random(n) < 0.01)
    single = np.where(rng.random(n) < 0.5, "often", [f"word{k}" for k in range(n)])
    frame = pd.DataFrame({"month": month, "single": single} | {f"x{j}": rng.normal(size=n) for j in range(8)})
    model = dpfast.HalfspaceClassifier(1.25, random_state=0).fit(frame, y, classes=[False, True])
    of_month, of_single = model.encoder_.schema_.columns[:2]
    assert of_month.values == tuple("abcdef")
    assert {*of_month.groups} >= {*map(word_group, "ghi")}
    assert len(of_single.groups) < GROUPS / 8  # noise
    assert dpfast.HalfspaceClassifier(8.0, random_state=0).fit(frame, y).encoder_.schema_.columns[1].groups == ()
    assert model.score(frame, y) > np.mean(~y) + 0.005


def test_noise_of_a_narrowing_that_no_kernel_draws_is_refused_before_a_look():
    schema = Schema([Discovered("x", reads="number")])
    with pytest.raises(ValueError, match="epsilon is too small to discover columns"):
        plan(schema, 8 / 2**46 * 0.99, 0, "replace", labels="declared", n=3)
    assert 64 * plan(schema, 8 / 2**46 * 1.01, 0, "replace", labels="declared", n=3).look.scale <= 2**52


def test_a_learner_that_merges_bins_has_many_and_one_with_a_bit_for_each_edge_has_few(rng):
    frame = pd.DataFrame({"x": rng.normal(size=20_000)})
    bins = {}
    for name in ("halfspace", "list", "boosted", "projected"):
        model = LEARNERS[name](1.0, random_state=16).fit(frame, frame["x"] > 0)  # others leave some edges of noise
        bins[name] = model.encoder_.schema_.code_columns[0].bins
    assert bins["halfspace"] > 100 > 60 > bins["list"] > 30 > 25 > max(bins["boosted"], bins["projected"])


@pytest.mark.parametrize(("n", "epsilon"), [(75_000, 1), (30_000, 3)])
def test_a_label_with_half_a_percent_of_many_rows_is_discovered_at_no_more_than_before(n, epsilon):
    """It had .06 of the bill for either look and labels, and such a label was missed once in twenty fits."""
    schema = Schema([Discovered(f"x{j}") for j in range(12)], label="y")
    planned = plan(schema, epsilon, Fraction(1, 10**6), "replace", labels="open", share="auto", n=n, kind="gaussian")
    former = plan(
        schema, epsilon, Fraction(1, 10**6), "replace", labels="open", share=Fraction(6, 100), kind="gaussian"
    )
    assert labels_seen(planned, n, 0.005)
    assert planned.epsilon >= former.epsilon


def test_rare_numbers_beside_a_common_one_have_a_bin_of_their_own(rng):
    """Of a count that is seldom above 0, the rest may lie in no cell that is seen; it matters most."""
    n = 6_000
    late = np.where(rng.random(n) < 0.06, rng.choice([500.0, 3_000.0, 20_000.0], n), 0.0)
    frame = pd.DataFrame({"late": late} | {f"x{j}": rng.normal(size=n) for j in range(9)})
    for seed in range(5):
        model = dpfast.HalfspaceClassifier(0.3, random_state=seed).fit(frame, late > 0, classes=[False, True])
        codes = encode(frame, model.encoder_.schema_).column(0)
        assert not {*codes[late == 0]} & {*codes[late > 0]}


@pytest.mark.parametrize("text", [False, True])
def test_ranges_of_small_tables_end_near_the_data(text):
    """Ages from 18 to 95 were drawn to 253, or from 64."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = 3_000
        age = np.clip(rng.normal(45, 18, n).round(), 18, 95).astype(int)
        frame = pd.DataFrame({"age": age, "year": rng.integers(1990, 2025, n), "job": rng.choice([*"abcd"], n)})
        frame = frame.astype(str) if text else frame
        columns = dpfast.HalfspaceClassifier(random_state=seed).fit(frame, age > 50).encoder_.schema_.columns
        (low, high), (first, last) = columns[0].ends, columns[1].ends
        assert 8 <= low <= 25
        assert 62 <= high <= 128
        assert 1900 <= first <= 2000
        assert 2015 <= last <= 2048


def test_noise_makes_no_kind_of_a_column_of_texts():
    kinds = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({f"x{j}": rng.choice(["low", "high"], 150) for j in range(6)})
        schema = Schema([Discovered(name) for name in frame])
        encoder = dpfast.TableEncoder(schema, epsilon=0.5, random_state=seed).fit(frame)
        kinds += [column.dates is not None or column.numbers is not None for column in encoder.schema_.columns]
    assert sum(kinds) <= 2  # of 240


def _kinds(rows, words=(), **seen):
    """Whether a column of texts has numbers, and dates, if the first look sees these rows with a deviation of 50."""
    noisy, zero = np.zeros(SURVEYED), SURVEYED_NUMBERS // 2
    for name, counts in seen.items():
        first = {"others": zero + 20, "wholes": SURVEYED_NUMBERS + zero + 20, "dates": SURVEYED_DATES + 100}[name]
        noisy[first : first + len(counts)] = counts
    look = OpeningHistogram(50.0, 1, threshold=200)
    facts = ColumnFacts(Discovered("x"), noisy, dict.fromkeys(words, rows / 4), look, rows)
    return facts.numbers is not None, facts.dates is not None


def test_numbers_or_dates_beside_others_are_clear_of_the_noise_of_all_columns():
    """In two of twelve wide tables a column of numbers had dates, too, of which there was none."""
    assert _kinds(2_000, wholes=[800, 1_000], dates=[230]) == (True, False)
    assert _kinds(2_000, wholes=[800, 700], dates=[330]) == (True, True)
    assert _kinds(2_000, wholes=[230], dates=[900, 800]) == (False, True)
    assert _kinds(2_000, ["low", "high"], wholes=[230]) == (False, False)
    assert _kinds(2_000, ["low", "high"], wholes=[330]) == (True, False)
    assert _kinds(2_000, wholes=[230]) == (True, False)  # what alone is seen


def test_numbers_in_cells_that_are_not_clear_count_for_whether_a_column_has_them():
    """Whole and other numbers are counted apart, so each has fewer rows; together they are a seventh of the rows."""
    many = [60, 110, 240, 260, 220, 110, 60]
    assert _kinds(15_000, ["few", "many"], wholes=many, others=many) == (True, False)
    assert _kinds(30_000, ["few", "many"], wholes=many[2:5]) == (False, False)


def test_few_numbers_beside_words_are_read_where_they_are_clear_of_the_noise_of_all_columns():
    assert _kinds(15_000, ["few", "many"], wholes=[240, 260, 220]) == (True, False)  # a 20th of the rows
    assert _kinds(15_000, ["few", "many"], wholes=[600], dates=[500]) == (True, True)
    assert _kinds(15_000, ["few", "many"], wholes=[290]) == (False, False)
    assert _kinds(15_000, ["few", "many"], wholes=[400]) == (False, False)  # under 3 in 100


def test_a_column_without_a_cell_has_no_numbers_but_by_noise_that_nothing_explains():
    noisy = np.zeros(SURVEYED)
    noisy[[SURVEYED_NUMBERS // 2 + 9, SURVEYED_DATES + 100, -1]] = 230, 240, 1_950
    look = OpeningHistogram(50.0, 1, threshold=200)
    for reads in ("text", "number", "date"):
        facts = ColumnFacts(Discovered("x", reads), noisy, {}, look, 2_000)
        assert facts.numbers is facts.dates is None
        assert facts.rows_of_kinds() == 1_950
    noisy[-1] = 1_000
    assert ColumnFacts(Discovered("x", "number"), noisy, {}, look, 2_000).numbers is not None


def test_dates_that_are_spread_over_many_years_are_seen_in_several_years_together():
    """Dates of birth of 3,000 persons have 43 rows a year, of which noise of 50 hides each; 64 years have 2,700."""
    look, noisy = OpeningHistogram(50.0, 1, threshold=450), np.zeros(SURVEYED)
    noisy[SURVEYED_DATES + 41 : SURVEYED_DATES + 111] = 3_000 / 70
    for reads in ("text", "date"):
        dates = ColumnFacts(Discovered("x", reads), noisy, {}, look, 3_000).dates
        assert dates.rows > 2_000
        low, high = dates.outermost()
        assert high - low >= 60 * 365
    noisy /= 4
    noisy[SURVEYED_DATES + 80] = 1_500  # a year that is clear alone: the others do not have clearly more
    low, high = ColumnFacts(Discovered("x"), noisy, {}, look, 3_000).dates.outermost()
    assert high - low in (365, 366)


def test_noise_makes_hardly_more_numbers_and_dates_in_very_many_columns_than_in_few():
    """Of 1,500 columns of noise alone 45 had numbers or dates, on average."""
    look, rng = OpeningHistogram(1000.0, 1, threshold=9_000), np.random.default_rng(0)

    def seen(columns):
        noisy = rng.normal(0, 1_000, (columns, SURVEYED))
        facts = [ColumnFacts(Discovered("x"), each, {}, look, 300, columns=columns) for each in noisy]
        return sum(each.numbers is not None or each.dates is not None for each in facts)

    assert seen(1_500) <= 10
    noisy = np.zeros(SURVEYED)
    noisy[SURVEYED_NUMBERS // 2 + 9] = 4_001  # at the edge
    several = [ColumnFacts(Discovered("x"), noisy, {}, look, 9_000, columns=columns) for columns in (1, 32, 33)]
    assert [each.numbers is not None for each in several] == [True, True, False]


def test_edges_beyond_what_was_seen_stand_where_a_private_number_of_rows_may_be_larger():
    """2,358 rows were released as 1,749: a page said that ages were from 32 on, and a sixth were below."""
    noisy, look = np.zeros(SURVEYED), OpeningHistogram(150.0, 1)
    noisy[SURVEYED_NUMBERS + SURVEYED_NUMBERS // 2 + 26 :][:2] = 1_250, 1_000

    def edges(rows_noise):
        facts = ColumnFacts(Discovered("x", "integer"), noisy, {}, look, 1_750, rows_noise=rows_noise)
        return len(facts.facts()["numbers"])

    assert edges(300.0) > edges(0.0)


def test_edges_beyond_what_was_seen_stand_where_rows_are_unseen_and_have_the_signs_that_were():
    noisy, zero, look = np.zeros(SURVEYED), SURVEYED_NUMBERS + SURVEYED_NUMBERS // 2, OpeningHistogram(50.0, 1)

    def edges(rows, sign=1, **other):
        noisy[:] = 0
        noisy[zero + sign * 23] = noisy[zero + sign * 24] = rows  # 4 to 16, or less than -4
        facts = ColumnFacts(Discovered("x", "integer"), noisy, {}, look, 2_000)
        facts.cells(1.0)
        cells = np.zeros(len(facts.cells(1.0)[0]) + 1)
        cells[1:-1] = 2 * rows / (len(cells) - 2)
        facts.look(cells, 1.0)
        return facts.facts()["numbers"]

    assert max(edges(1_000)) <= 16
    assert {each for each in edges(950) if each > 16} == {256, 4096, 65536, 1 << 20}
    assert min(edges(950)) >= 0
    assert {each for each in edges(950, -1) if each < -16} == {-256, -4096, -65536, -(1 << 20)}
    assert max(edges(950, -1)) <= 0


def _asks(column, seed=0):
    """Whether the note of a fit names a column x that may say whose a row is."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": column, "age": rng.integers(18, 90, len(column))})
    y = np.where(frame["age"] + rng.normal(0, 12, len(column)) > 50, "yes", "no")
    model = dpfast.HalfspaceClassifier(epsilon=1, n_rounds=2, random_state=seed).fit(frame, y)
    return any("x may say whose a row is" in note for note in model.notes_)


def test_a_fit_asks_of_columns_whose_released_counts_are_like_those_of_persons(rng):
    n = 6_000
    who = rng.permutation(np.repeat(rng.choice(900_000, n // 4, replace=False) + 100_000, 4))
    assert _asks(who)
    assert _asks(who.astype(str))
    assert _asks([f"P{number}" for number in who])
    for other in (
        rng.choice(["ward 1", "ward 2", "ward 3", "ward 4"], n),
        rng.choice([f"town {k}" for k in range(40)], n, p=1 / np.arange(1, 41) / (1 / np.arange(1, 41)).sum()),
        np.exp(rng.normal(10, 0.6, n)).astype(int),
        rng.integers(1, 366, n),
        who / 7,
        who % 2,
    ):
        assert not _asks(other)


def test_rows_of_a_cell_are_divided_where_halves_clearly_differ():
    cells = Spread(np.array([0.0, 80.0, 40.0]), np.array([0.0, 1.0, 3.0, 4.0]))
    ends = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0])
    noisy = np.array([41.0, 38.0, 1.0, -2.0, 18.0, 23.0])
    np.testing.assert_allclose(cells.refined(noisy, 2.0, ends, ANY_NUMBER)[1].rows, [40, 40, 0, 0, 20, 20])
    np.testing.assert_allclose(cells.refined(noisy, 50.0, ends, ANY_NUMBER)[1].rows, [20, 20, 20, 20, 20, 20])
    for wild in (np.full(6, -1e9), np.full(6, 1e9), np.zeros(6), noisy * 1e12):
        kept, parts = cells.refined(wild, 2.0, ends, ANY_NUMBER)
        assert kept.total == pytest.approx(parts.total)
        assert kept.total in (0, 120)
    kept, parts = cells.refined(np.where(ends[:-1] < 3, noisy, 3.0), 2.0, ends, ANY_NUMBER)  # the last cell had noise
    assert (kept.rows.tolist(), parts.rows.tolist()) == ([0, 80, 0], [40, 40, 0, 0, 0, 0])


def test_labels_weigh_more_where_a_rare_one_would_be_missed():
    schema = Schema([Discovered(f"x{j}") for j in range(16)], label="y")

    def planned(n, epsilon=1.0, **given):
        return plan(schema, epsilon, 1e-6, "replace", share="auto", n=n, kind="gaussian", **given)

    squares = [
        round((found.look.deviation / found.labels.deviation) ** 2 / 16)
        for n in (20_000, 15_000, 9_000, 250)
        for found in [planned(n, labels="open")]
    ]
    assert squares == [1, 2, 4, 4]
    pool = np.sqrt((3.5 / 3) / (2.5 / 2))  # half a look more beside two looks and labels, and beside two looks
    expected = pool * planned(20_000).look.deviation
    assert planned(20_000, labels="open").look.deviation == pytest.approx(expected, rel=0.01)
    assert planned(800).look.deviation < planned(20_000).look.deviation


def test_groups_of_words_are_fixed():
    assert [word_group(word) for word in ("", "clerk", "smith")] == [0, 20, 43]
    numbers = number_codes(np.array([-1e9, -1, 0, 1e-6, 1, 1.5, 2, 2.5, 1e300]))
    groups = Runs.of(fixed_groups(np.arange(GROUPS))).take(numbers)
    assert groups.tolist() == [59, 45, 0, 1, 8, 9, 9, 10, 40]
    table = pa.table({"x": ["a", "clerk", "0", "1.5", None]})
    column = Discovered("x", values=("a",), groups=GROUPS, cells=True)  # as in models of former versions
    codes = encode(table, Schema([column]))
    assert codes.column(0).tolist() == [0, 1 + word_group("clerk"), 1, 10, 1 + GROUPS]
    assert column.code_columns()[0].meaning(10) == "other, group 10 of 64"
    column = Discovered("x", values=("a",), groups=(0, word_group("clerk")), cells=True)
    assert encode(table, Schema([column])).column(0).tolist() == [0, 2, 1, 3, 4]
    (made,) = column.code_columns()
    assert [*map(made.meaning, range(made.size))] == [
        "a",
        "other, group 1 of 64",
        "other, group 21 of 64",
        "other",
        "missing",
    ]
    assert Discovered("x", values=("a",), groups=1, cells=True) == Discovered("x", values=("a",), cells=True)
    for wrong in (2, True, (1, 1), (5, 3), (64,), (-1,), (0.0,), "ab"):
        with pytest.raises(ValueError, match="groups must be increasing integers from 0 to 63"):
            Discovered("x", values=("a",), groups=wrong, cells=True)


def test_the_encoder_says_which_share_of_each_column_was_not_found(rng, tmp_path):
    n = 5_000
    rare = np.where(rng.random(n) < 0.4, [f"w{k}" for k in range(n)], "often")
    frame = pd.DataFrame({"rare": rare, "each": [f"v{k}" for k in range(n)], "known": rng.normal(size=n), "none": None})
    model = dpfast.HalfspaceClassifier(epsilon=8.0, random_state=0).fit(frame, frame["known"] > 0)
    other = model.encoder_.other_
    assert abs(other["rare"] - 0.4) < 0.1
    assert other["each"] == 1
    assert other["known"] < 0.3
    assert other["none"] < 0.1
    model.save(tmp_path / "model.json")
    assert dpfast.load(tmp_path / "model.json").encoder_.other_ == other
    text = page(model)
    assert "too few rows to discover its values; only missing cells are told apart" in text
    assert "often, other; other cells: about" in text


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_a_column_of_numbers_in_a_csv_file_is_not_one_of_words_too(epsilon, tmp_path):
    """Rows that the survey does not see, as noise hides them, are no words if many rows have numbers."""
    rng, n = np.random.default_rng(0), 4000
    frame = pd.DataFrame({"income": np.exp(rng.normal(10, 1, n)).round(2), "job": rng.choice(["a", "b", "c"], n)})
    frame["y"] = np.where(frame["income"] > 20_000, "yes", "no")
    frame.loc[::7, "income"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = dpfast.HalfspaceClassifier(epsilon, schema="discover", random_state=0)
    model.fit(dpfast.FileParts(tmp_path / "t.csv"), "y")
    assert [column.name for column in model.encoder_.schema_.code_columns] == ["income", "job"]


def test_a_list_says_in_words_that_a_value_is_one_of_the_rarer_ones(rng):
    n = 3_000
    town = np.array([f"town{k}" for k in range(12)])[rng.integers(0, 12, n)]
    frame = pd.DataFrame({"town": town, "x": rng.normal(size=n)})
    model = dpfast.DecisionListClassifier(0.7, random_state=1).fit(frame, town == "town1")
    group = f"group {word_group('town1') + 1} of {GROUPS}"
    text = model.to_text()
    assert re.search(rf"town is (not )?one of the rarer values, {group} +then", text), text
    assert "= other, group" not in text
    assert f"one of the rarer values, {group}" in page(model)
    assert model.score(frame, town == "town1") > 0.97


@pytest.mark.parametrize("name", ["halfspace", "boosted", "projected"])
def test_forty_columns_of_rare_yes_are_as_good_as_declared(name):
    rng = np.random.default_rng(3)
    n, d = 17_000, 40
    bits = rng.random((2 * n, d)) < 0.05
    odds = bits @ rng.normal(0, 2, d)
    y = rng.random(2 * n) < 1 / (1 + np.exp(np.median(odds) - odds))
    frame = pd.DataFrame(np.where(bits, "yes", "no")).add_prefix("q")
    schema = Schema([Boolean(column, ["no", "yes"]) for column in frame])

    def auc(**given):
        model = LEARNERS[name](random_state=0, **given).fit(frame[:n], y[:n], classes=[False, True])
        return roc_auc_score(y[n:], model.decision_function(frame[n:]))

    assert auc() > auc(schema=schema) - 0.02


@pytest.mark.parametrize("columns", ["uniform", "normal"])
def test_columns_around_zero_have_bins_there(columns):
    """Near 0 are many cells, each with few rows; together they have as many as others."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (3000, 4)) if columns == "uniform" else rng.normal(size=(3000, 4))
        y = X.sum(axis=1) > 0
        model = dpfast.HalfspaceClassifier(random_state=seed).fit(pd.DataFrame(X, columns=[*"abcd"]), y)
        for column in model.encoder_.schema_.columns:
            near = np.array([edge for edge in column.numbers if -0.5 <= edge <= 0.5])
            assert np.diff(near).max() <= 0.35, column.numbers


@pytest.mark.parametrize("columns", [1, 20, 300, 1 << 14])
def test_counts_of_many_rows_fit_into_64_bits(columns):
    schema = Schema([Discovered(f"c{j}", reads="number") for j in range(columns)])
    planned = plan(schema, 1, Fraction(1, 10**6), "replace", labels="open", share="auto", n=1 << 28)
    for histogram in (planned.look, planned.labels):
        assert histogram.unit << 28 <= 1 << 63


OFFSETS = {
    "latitude": lambda u: 48.05 + 0.2 * u,
    "day": lambda u: 20150101 + (7 * u).astype(int) * 10_000 + (12 * u).astype(int) % 12 * 100,
    "year": lambda u: (2015 + 8 * u).astype(int),
    "order": lambda u: (1_000_000 + 20_000 * u).astype(int),
    "far": lambda u: 1e9 + 1e-3 * u,
    "below zero": lambda u: -273.15 + 0.01 * u,
    "across a power": lambda u: 2.0**20 - 50 + 100 * u,
    "a lump": lambda u: np.where(u < 0.2, 0.0, 2015 + 8 * u),
    "some far away": lambda u: np.where((1000 * u) % 1 < 0.02, 100 * u, 48.05 + 0.2 * u),
    "words, too": lambda u: np.where((1000 * u) % 1 < 0.2, "none", (48.05 + 0.2 * u).round(4).astype(str)).astype(
        object
    ),
    "a week": lambda u: pd.Timestamp("2021-03-01") + pd.to_timedelta((7 * u).astype(int), unit="D"),
}


@pytest.mark.parametrize("name", OFFSETS)
def test_numbers_that_are_close_together_beside_their_size_are_told_apart(name):
    rng = np.random.default_rng(1)
    u = rng.random(20_000)
    frame = pd.DataFrame({"x": OFFSETS[name](u)})
    y = (u > 0.57) ^ (rng.random(20_000) < 0.05)  # between whole numbers and days
    lost = 0.1 * (name == "words, too")
    models = [dpfast.HalfspaceClassifier(random_state=seed).fit(frame[:15_000], y[:15_000]) for seed in range(3)]
    score = min(model.score(frame[15_000:], y[15_000:]) for model in models)  # also where noise looks like rows
    assert score > 0.91 - lost - 0.05 * (name in ("year", "day", "a week", "a lump"))
    assert models[0].encoder_.schema_.code_columns[0].size > 6


def test_two_cells_are_narrowed_though_noise_looks_like_rows_in_a_third_one():
    ends = 2.0 ** np.arange(17, 24)
    for noisy in ([0, 0, 7_500, 7_500, 130, 0], [110, 0, 7_500, 7_500, 0, 120], [130, 130, 15_000, 0, 0, 130]):
        part = Part(np.array(noisy, float), 30.0, ends, ANY_NUMBER, False)
        assert part.parts() is not None
        part.narrow(np.zeros(len(part.parts()) + 1), part.parts(), 30.0)
    assert Part(np.array([3_000.0, 4_000, 5_000, 3_000, 0, 0]), 30.0, ends, ANY_NUMBER, False).parts() is None


def test_intervals_are_wide_if_their_parts_have_different_ends():
    ends, days = facts._all_ends()
    for grid, each in ((facts._NUMBERS, ends), (facts._WHOLE, ends), (facts._DAYS, days)):
        part = Part(np.zeros(len(each) - 1), 1.0, each, grid, True)
        cells = [Held(*ends, 1.0) for ends in zip(each[:-1].tolist(), each[1:].tolist(), strict=True)]
        wide = [cell for cell in cells if len({*grid.snap(np.linspace(cell.low, cell.high, 513)).tolist()}) > 4]
        assert part._wide(cells) == wide
        assert wide


@pytest.mark.parametrize(("reads", "looked"), [("number", 1), ("integer", 1), ("date", 1), ("text", 2)])
def test_only_columns_of_texts_are_searched_for_numbers_and_dates(monkeypatch, reads, looked):
    made = []
    monkeypatch.setattr(facts, "Part", lambda *args: made.append(Part(*args)) or made[-1])
    ColumnFacts(Discovered("x", reads=reads), np.full(SURVEYED, 500.0), {}, OpeningHistogram(30.0, 1, 90), 10_000.0)
    assert len(made) == looked


def test_a_frame_a_csv_file_and_a_parquet_file_have_the_same_codes(rng, tmp_path, monkeypatch):
    """But for the draws of noise, which is left out here: a CSV file has other cells, as its columns may hold words."""
    n = 4_000
    frame = pd.DataFrame(
        {
            "guests": np.minimum(rng.geometric(0.35, n), 16),
            "latitude": (48.05 + 0.2 * rng.random(n)).round(4),
            "year": rng.integers(2015, 2023, n),
            "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
            "whole": rng.integers(1, 9, n).astype(float),
            "seen": (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")).date,
            "job": rng.choice(["clerk", "smith"], n),
            "buys": rng.choice(["no", "yes"], n),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(OpeningHistogram, "codes", lambda self, counts, rng=None: counts.astype(float))
    found = []
    for table in (frame, *(dpfast.FileParts(tmp_path / f"t.{kind}") for kind in ("csv", "parquet"))):
        model = dpfast.HalfspaceClassifier(schema="discover", n_rounds=1, trees=0, random_state=0).fit(table, "buys")
        schema = model.encoder_.schema_
        codes = encode(table.drop(columns="buys") if table is frame else frame.drop(columns="buys"), schema)
        found.append([codes.column(j).tolist() for j in range(len(schema.code_columns))])
    assert found[0] == found[1] == found[2]


def _paid_looks(monkeypatch, schema, table, seed, **given):
    """The plan of a survey of a table, the deviations and the columns of its looks after the first one."""
    looks, base = [], OpeningHistogram.codes

    def codes(self, counts, rng=None):
        looks.append(self)
        return base(self, counts, rng)

    cells = []
    of_columns = Encoding.cells

    def counted(self, wanted):
        cells.append(sum(each is not None for each in wanted))
        return of_columns(self, wanted)

    monkeypatch.setattr(OpeningHistogram, "codes", codes)
    monkeypatch.setattr(Encoding, "cells", counted)
    encoding = Encoding(schema)
    encoding.add(table)
    planned = plan(schema, neighbors="replace", **given)
    discover(encoding, encoding.counts(), planned, np.random.default_rng(seed), (), encoding.n)
    return planned, [*zip(looks[-len(cells) :], cells, strict=True)]


@pytest.mark.parametrize("delta", [1e-6, 0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [50, 3_000])
def test_all_looks_together_cost_no_more_than_their_columns_and_the_pool(rows, seed, delta, monkeypatch):
    rng = np.random.default_rng(seed)
    u = rng.random((rows, 5))
    table = {
        "a": 48 + u[:, 0] / 9,
        "b": u[:, 1],
        "c": 1e9 + u[:, 2],
        "d": (2015 + 8 * u[:, 3]).astype(int),
        "e": u[:, 4] - 7,
    }
    schema = Schema([Discovered(name, reads="number") for name in table])
    planned, looks = _paid_looks(monkeypatch, schema, table, seed, epsilon=8.0, delta=delta)
    base = planned.look
    paid = [columns * (base.deviation / look.deviation) ** (1 if base.pure else 2) for look, columns in looks]
    assert all(look.unit == base.unit and look.pure == base.pure for look, _ in looks)
    assert sum(paid) <= (planned.columns + planned.pool) * (1 + 1e-9)
    assert len(looks) > 2 or rows == 50
    assert sum(paid) > planned.columns


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("learner", [dpfast.DecisionListClassifier, dpfast.FiniteClassLearner])
def test_labels_are_not_read_off_the_rows_of_a_discovered_table_with_delta_0(learner, neighbors):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(0, 99, 400), "buys": rng.choice(["no", "yes"], 400)})
    budget = Budget(5.0, 1e-6, neighbors=neighbors)
    model = learner(epsilon=1.0, schema="discover", neighbors=neighbors, budget=budget)
    model.set_params(**({"delta": 0.0} if "delta" in model.get_params() else {}))
    with pytest.raises(ValueError, match="labels cannot be found privately with delta = 0: declare those of 'buys'"):
        model.fit(table, "buys")
    assert not budget.charges
    assert model.fit(table, "buys", classes=["no", "yes"]).classes_.tolist() == ["no", "yes"]


def test_a_column_whose_rows_share_few_codes_is_named_with_what_to_declare(rng):
    def notes(n):
        frame = pd.DataFrame({"latitude": 48.05 + 0.2 * rng.random(n), "spread": rng.normal(size=n)})
        model = dpfast.HalfspaceClassifier(random_state=0).fit(frame, rng.random(n) < 0.5, classes=[False, True])
        return [note for note in model.notes_ if note.startswith("Read coarsely")]

    (note,) = notes(1_000)
    assert "latitude" in note
    assert "spread" not in note
    assert "declare the range (low, high) in a schema" in note
    assert notes(10_000) == []
