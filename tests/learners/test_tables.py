"""What every private classifier does with a schema."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import dpfast
from dpfast import Schema, TableEncoder
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.tables import Boolean, Category, CodeTable, Date, Label, Numeric
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.encoding import encode

LEARNERS = {
    "halfspace": lambda **own: dpfast.HalfspaceClassifier(n_rounds=6, **own),
    "projected": lambda **own: dpfast.ProjectedHalfspaceClassifier(n_rounds=6, **own),
    "boosted": lambda **own: dpfast.BoostedHalfspaceClassifier(n_rounds=6, **own),
    "net": lambda **own: dpfast.NetHalfspaceClassifier(n_components=3, net_radius=0.2, n_projections=10, **own),
    "linear learner": lambda **own: dpfast.LinearLearner(**own),
    "winnow": lambda **own: dpfast.DPWinnowClassifier(n_draws=100, n_updates=10, **own),
    "list": lambda **own: dpfast.DecisionListClassifier(max_rules=5, **own),
    "features": lambda **own: dpfast.FiniteClassLearner(hypotheses="features", **own),
}
DECLARED = Schema(
    [
        Numeric("age", 0, 120, edges=16, integer=True),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("smokes"),
    ],
    label=Label("buys", ["no", "yes"]),
)
OPEN = Schema([Numeric("age", edges=16), *DECLARED.columns[1:]], label=DECLARED.label)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    n = 4000
    frame = pd.DataFrame(
        {
            "smokes": rng.random(n) < 0.3,
            "buys": "",
            "age": rng.integers(18, 91, n),
            "job": rng.choice(["clerk", "smith", "baker", None], n),
        }
    )
    frame["buys"] = np.where(frame["age"] > 50, "yes", "no")
    return frame


@pytest.fixture(scope="module")
def small(table):
    return table[:400]


@pytest.fixture(params=LEARNERS)
def make(request):
    return LEARNERS[request.param]


@pytest.mark.parametrize("schema", [DECLARED, OPEN], ids=["declared", "open"])
def test_a_learner_reads_a_table_by_its_schema(make, schema, table):
    if schema is OPEN and make is LEARNERS["features"]:
        schema = Schema([Numeric("age", edges=16), Boolean("smokes")], label=OPEN.label)
    model = make(epsilon=4.0, schema=schema, random_state=0).fit(table)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(table, table["buys"]) > 0.8
    assert not model.encoder_.schema_.to_find
    assert model.privacy_.epsilon == 4.0
    names = [event.name for event in model.privacy_.events]
    assert ("survey" in names) == (schema is not DECLARED)
    shuffled = table.drop(columns="buys").iloc[:, ::-1].assign(more=1)
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(table))


def test_labels_may_be_given_or_read_off_the_table(make, small):
    read = make(schema=DECLARED, random_state=0).fit(small)
    for y in (small["buys"], small["buys"].tolist(), small["buys"].astype("category")):
        given = make(schema=DECLARED, random_state=0).fit(small.drop(columns="buys"), y)
        np.testing.assert_array_equal(given.predict(small), read.predict(small))
    unnamed = make(schema=Schema(DECLARED.columns), random_state=0).fit(small, small["buys"], classes=["no", "yes"])
    np.testing.assert_array_equal(unnamed.predict(small), read.predict(small))
    with pytest.raises(ValueError, match="y must be given: the schema declares no label"):
        make(schema=Schema(DECLARED.columns)).fit(small)


def test_codes_and_pipelines_give_the_model_of_the_table(make, small):
    whole = make(schema=DECLARED, random_state=0).fit(small)
    piped = make_pipeline(TableEncoder(DECLARED), make(random_state=0)).fit(small, small["buys"])
    coded = make(schema=DECLARED, random_state=0).fit(encode(small, DECLARED), small["buys"])
    for model in (piped, coded):
        np.testing.assert_array_equal(model.predict(small), whole.predict(small))
    np.testing.assert_array_equal(whole.predict(encode(small, DECLARED)), whole.predict(small))
    other = Schema([Numeric("age", 0, 100), *DECLARED.columns[1:]])
    with pytest.raises(ValueError, match="X is a table of codes, of another schema"):
        make(schema=other).fit(encode(small, DECLARED), small["buys"])


def test_a_fit_packs_the_codes_of_its_rows_at_most_once(make, table, monkeypatch):
    rows, pack = [], CodeBits.pack
    monkeypatch.setattr(CodeBits, "pack", lambda bits: rows.append(len(bits)) or pack(bits))
    make(schema=DECLARED, random_state=0).fit(table)
    assert rows.count(len(table)) <= 1
    assert sum(rows) <= len(table) + 1


def test_declared_bounds_suffice_for_numbers_with_a_long_tail(rng):
    X = pd.DataFrame({"income": np.exp(rng.normal(8, 2, 4000))})
    y = np.where(X["income"] > 3000, "yes", "no")
    schema = Schema([Numeric("income", 0, 1e6)], label=DECLARED.label)
    model = dpfast.HalfspaceClassifier(epsilon=1.0, schema=schema, random_state=0).fit(X, y)
    assert model.encoder_.schema_ == schema.fine()
    assert model.encoder_.privacy_.epsilon == 0
    assert model.score(X, y) > 0.9
    equal = Schema([Numeric("income", 0, 1e6, spacing="equal")], label=DECLARED.label)
    assert dpfast.HalfspaceClassifier(epsilon=1.0, schema=equal, random_state=0).fit(X, y).score(X, y) < 0.8
    for each in (schema, schema.fine()):
        codes = encode(X, each)
        coded = dpfast.HalfspaceClassifier(epsilon=1.0, schema=schema, random_state=0).fit(codes, y)
        assert coded.encoder_.schema_ == each
        assert coded.predict(codes).shape == y.shape


def test_what_is_found_and_what_is_learned_share_one_budget(table):
    budget = Budget(2.0, 1e-6)
    model = dpfast.HalfspaceClassifier(2.0, schema=OPEN, encoder_share=0.25, budget=budget, random_state=0).fit(table)
    assert budget.spent == (2.0, 1e-6)
    assert model.encoder_.privacy_.epsilon == model.privacy_.epsilon == 2.0
    assert [event.name for event in model.encoder_.privacy_.events] == ["survey"]
    whole = dpfast.HalfspaceClassifier(2.0, schema=DECLARED, random_state=0).fit(table)
    assert whole.sigma_ < model.sigma_
    assert whole.encoder_.privacy_.epsilon == 0


def test_a_model_is_saved_with_its_schema(make, small, tmp_path):
    schema = Schema([Numeric("age", edges=16), Boolean("smokes")], label=OPEN.label)
    model = make(schema=schema, random_state=0).fit(small)
    model.save(tmp_path / "model.json")
    loaded = dpfast.load(tmp_path / "model.json")
    assert loaded.encoder_.schema_ == model.encoder_.schema_ == loaded.schema
    if hasattr(model, "excess_errors"):
        assert loaded.excess_errors() == model.excess_errors()


def _object(table, name, first):
    return table.assign(**{name: pd.Series([first, *table[name][1:]], dtype=object)})


REFUSED = {
    "a schema that does not fit": (
        lambda t: t.drop(columns="job"),
        {},
        "lacks columns that the schema declares: 'job'",
    ),
    "a label that is not declared": (lambda t: _object(t, "buys", "maybe"), {}, "row 1, column 'buys' has a label"),
    "an empty column": (lambda t: t.assign(age=None), {}, "row 1, column 'age' is missing"),
    "text among numbers": (
        lambda t: _object(t.astype({"age": str}), "age", "old"),
        {},
        "row 1, column 'age' holds text",
    ),
    "values of no table": (
        lambda t: t.assign(age=t["age"] + 1j),
        {},
        "column 'age' holds values that a table does not, complex128; make them",
    ),
    "a date that is none": (
        lambda t: t.assign(seen="2020-13-45"),
        {"schema": Schema([Date("seen", "2020-01-01", "2021-01-01")], label="buys")},
        "row 1, column 'seen' holds no date as YYYY-MM-DD",
    ),
    "a date that does not parse": (
        lambda t: t.assign(seen=["2020-01-01", *["soon"] * (len(t) - 1)]),
        {"schema": Schema([Date("seen", "2020-01-01", "2021-01-01")], label="buys")},
        "row 2, column 'seen' holds no date as YYYY-MM-DD",
    ),
    "no rows": (lambda t: t.iloc[:0], {}, "at least one row"),
    "an unconfirmed draft": (lambda t: t, {"schema": Schema.draft({"age": [1, 2]})}, r"unconfirmed draft: age\.low"),
    "no schema": (
        lambda t: t,
        {"schema": 3},
        'schema must be None or "discover" or "vectors" or a dpfast.Schema or the path of its file, got 3',
    ),
    "a share of all": (
        lambda t: t,
        {"encoder_share": 1.0},
        r"or lie in \(0, 1\), got 1.0",
    ),
    "an array": (lambda t: np.zeros((3, 3)), {}, "a table with a schema must be a DataFrame"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_will_not_do_is_refused_before_a_charge_or_a_draw(make, what, small, rng):
    change, parameters, message = REFUSED[what]
    budget, before, wrong = Budget(1.0, 1e-6), copy.deepcopy(rng.bit_generator.state), change(small.copy())
    for schema in (DECLARED, OPEN):
        model = make(**{"schema": schema, "budget": budget, "random_state": rng} | parameters)
        kept = dict(vars(model))
        with pytest.raises(ValueError, match=message):
            model.fit(wrong)
        assert budget.spent == (0, 0)
        assert rng.bit_generator.state == before
        assert {name for name in vars(model) if name.endswith("_")} == {name for name in kept if name.endswith("_")}


OTHER = Schema([Numeric("age", 0, 240, edges=16, integer=True), *DECLARED.columns[1:]], label=DECLARED.label)
UNREAD = {
    "a table without a column": (lambda t: t.drop(columns="job"), "lacks columns that the schema declares: 'job'"),
    "an array": (lambda t: t.to_numpy(), "a table with a schema must be a DataFrame"),
    "text among numbers": (lambda t: t.assign(age="old"), "row 1, column 'age' holds text"),
    "a file": (lambda t: "people.csv", "X must be a table in memory; dpfast.files.read_codes reads files"),
    "nothing": (lambda t: None, "a table with a schema must be a DataFrame"),
    "codes of another schema": (
        lambda t: encode(t, Schema(DECLARED.columns[:2])),
        "codes, of another schema than the model's",
    ),
    "codes of like names and sizes": (lambda t: encode(t, OTHER), "codes, of another schema than the model's"),
    "codes of no schema": (
        lambda t: CodeTable(encode(t, DECLARED).toarray(), encode(t, DECLARED).sizes.tolist()),
        "codes, of another schema than the model's",
    ),
}


def test_a_prediction_refuses_what_is_not_the_models_table(make, table):
    model = make(schema=DECLARED, random_state=0).fit(table)
    for change, message in UNREAD.values():
        with pytest.raises(ValueError, match=message):
            model.predict(change(table))
    np.testing.assert_array_equal(model.predict(encode(table, DECLARED)), model.predict(table))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda **own: dpfast.DecisionListClassifier(conjunctions=60, **own), "lower conjunctions"),
        (lambda **own: dpfast.NetHalfspaceClassifier(n_components=4, max_seconds=1e-9, **own), "more than max_seconds"),
        (
            lambda **own: dpfast.ProjectedHalfspaceClassifier(schedule="paper", margin=0.1, **own),
            "is refused above one",
        ),
        (
            lambda **own: dpfast.BoostedHalfspaceClassifier(calibration="paper", margin=1e-3, **own),
            "rounds, and at most 524,287 can be run",
        ),
    ],
)
def test_what_would_not_finish_is_refused_before_anything_is_found(make, message, table):
    """However few codes are found: the whole budget was charged before."""
    budget, open_values = Budget(2.0, 1e-3), Schema([*OPEN.columns, Numeric("n", low=0)], label=OPEN.label)
    with pytest.raises(ValueError, match=message):
        make(schema=open_values, budget=budget).fit(pd.concat([table] * 3).assign(n=1.0))
    assert budget.left == (2.0, 1e-3)


def test_class_weights_that_do_not_suit_the_classes_are_refused_before_anything_is_found(table, rng):
    classes = ["maybe", "no", "yes"]
    schema = Schema([*OPEN.columns], label=Label(OPEN.label.name, classes))
    budget, before = Budget(2.0, 1e-3), copy.deepcopy(rng.bit_generator.state)
    model = dpfast.HalfspaceClassifier(schema=schema, class_weight={"never": 2.0}, budget=budget, random_state=rng)
    with pytest.raises(ValueError, match="class_weight names 'never'"):
        model.fit(table)
    assert budget.left == (2.0, 1e-3)
    assert rng.bit_generator.state == before


def test_a_net_that_is_not_paid_for_draws_nothing(rng):
    X = rng.normal(size=(200, 3))
    before = copy.deepcopy(rng.bit_generator.state)
    model = dpfast.NetHalfspaceClassifier(2.0, n_components=2, budget=Budget(1.0, 0.0), random_state=rng)
    with pytest.raises(dpfast.accounting.BudgetExceeded):
        model.fit(X, (X[:, 0] > 0).astype(int), classes=[0, 1])
    assert rng.bit_generator.state == before


@pytest.mark.filterwarnings("error::dpfast.PrivacyWarning")
def test_a_warning_that_is_an_error_is_one_before_the_charge(table):
    for X in (table, {name: table[name].to_numpy() for name in table}):
        budget = Budget(20.0, 1e-3)
        model = dpfast.HalfspaceClassifier(epsilon=11.0, schema=OPEN, budget=budget)
        with pytest.raises(dpfast.PrivacyWarning, match="promises next to nothing"):
            model.fit(X)
        with pytest.raises(dpfast.PrivacyWarning, match="promises next to nothing"):
            TableEncoder(OPEN, epsilon=11.0, budget=budget).fit(X)
        assert budget.left == (20.0, 1e-3)


WRONG_FILES = {
    "an unknown kind": ({"kind": "number"}, "column 'age': kind must be one of numeric"),
    "edges out of order": ({"kind": "numeric", "edges": [1, 3, 2]}, "rise, got 3 before 2"),
    "a value twice": ({"kind": "category", "values": ["a", "b", "a"]}, "'a' is there twice"),
    "too many values": ({"kind": "category", "values": list(range(100_000))}, "at most 65,535, got 100,000"),
}


@pytest.mark.parametrize("what", WRONG_FILES)
def test_a_file_that_declares_what_will_not_do_is_refused_before_a_charge(what, table, tmp_path):
    column, message = WRONG_FILES[what]
    path, budget = tmp_path / "wrong.json", Budget(1.0, 1e-6)
    path.write_text(json.dumps({"columns": [{"name": "age"} | column], "label": {"name": "buys"}}))
    with pytest.raises(ValueError, match=message):
        dpfast.HalfspaceClassifier(schema=str(path), budget=budget).fit(table)
    assert budget.spent == (0, 0)


def test_a_budget_that_does_not_suffice_finds_nothing(make, table):
    with pytest.raises(BudgetExceeded):
        make(schema=Schema([Numeric("age")], label=DECLARED.label), budget=Budget(0.5, 1e-7)).fit(table)


def test_more_than_two_classes_are_refused_before_anything_is_found(table):
    schema = Schema([Numeric("age")], label=Label("job", ["clerk", "smith", "baker"]))
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        dpfast.ProjectedHalfspaceClassifier(margin=0.1, schema=schema, budget=budget).fit(table.dropna())
    assert budget.spent == (0, 0)


def test_what_was_found_is_kept_when_learning_does_not_come_about(table, monkeypatch):
    model = dpfast.HalfspaceClassifier(schema=OPEN, budget=Budget(1.0, 1e-6), random_state=0)
    monkeypatch.setattr(dpfast.HalfspaceClassifier, "prepare", lambda self, rows: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.fit(table)
    assert model.budget.spent == (1.0, 1e-6)
    assert not model.encoder_.schema_.to_find
    assert "1 of 1 releases used" in str(model.encoder_.privacy_)
    assert not hasattr(model, "privacy_")


def test_predictions_need_the_columns_of_the_model(make, table):
    model = make(schema=DECLARED, random_state=0).fit(table)
    with pytest.raises(ValueError, match="the table lacks columns that the schema declares: 'age'"):
        model.predict(table.drop(columns="age"))
    with pytest.raises(ValueError, match="row 3, column 'age' is missing"):
        model.predict(table.assign(age=table["age"].where(table.index != 2)))


def test_cross_validation_and_clones_take_tables(make, table):
    model = clone(make(epsilon=4.0, schema=DECLARED, random_state=0))
    assert model.schema == DECLARED
    assert cross_val_score(model, table.iloc[:900], table["buys"].iloc[:900], cv=2).mean() > 0.6


def test_a_learner_that_is_not_private_reads_codes_in_a_pipeline(table):
    model = make_pipeline(TableEncoder(DECLARED), dpfast.WinnowClassifier()).fit(table, table["buys"])
    assert model.score(table, table["buys"]) > 0.9
    assert "age > 52" in model[-1].feature_names_in_


NUMBERED = pd.DataFrame({0: np.arange(900) % 50, 1: np.resize(["x", "y", "z"], 900), 2: np.arange(900) % 7 / 2})
ABOVE = np.where(NUMBERED[0] > 25, "yes", "no")


@pytest.mark.parametrize(
    "given",
    [
        (NUMBERED, ABOVE),
        ({str(name): NUMBERED[name].to_numpy() for name in NUMBERED}, ABOVE),
        ({str(name): NUMBERED[name].tolist() for name in NUMBERED}, ABOVE),
        (NUMBERED.assign(**{"3": ABOVE}), "3"),
        (NUMBERED.assign(y=ABOVE).set_axis([0, 1, 2, 3], axis=1), 3),
    ],
    ids=["numbered columns", "dict of arrays", "dict of lists", "a label by name", "a label by number"],
)
def test_frames_with_numbered_columns_and_dicts_of_arrays_are_tables(given):
    model = dpfast.HalfspaceClassifier(20.0, n_rounds=10, random_state=0).fit(*given)
    assert model.feature_names_in_.tolist() == ["0", "1", "2"]
    features = NUMBERED if isinstance(given[1], str | int) else given[0]
    assert (model.predict(features) == ABOVE).mean() > 0.95


def test_numbers_of_one_type_without_names_are_an_array():
    X = np.random.default_rng(0).normal(size=(50, 3))
    models = [
        dpfast.HalfspaceClassifier(n_rounds=3, random_state=0).fit(each, X[:, 0] > 0) for each in (X, pd.DataFrame(X))
    ]
    assert models[0].coef_.tolist() == models[1].coef_.tolist()


def test_a_dict_is_no_labels():
    with pytest.raises(ValueError, match="y is a dict, and its keys would be learned"):
        dpfast.HalfspaceClassifier().fit(NUMBERED, {"y": ABOVE})
