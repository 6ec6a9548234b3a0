"""Under "add-remove" no branch depends on the number of rows: tables of 0, 1, 2, ... rows all give a model.

docs/privacy_checks.md lists what a fit does with a private number of rows.
"""

import contextlib
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from command_line import run

import dpfast
from dpfast.accounting import Budget
from dpfast.audit import replay
from dpfast.learners.halfspaces import nets
from dpfast.learners.lists import covering
from dpfast.model_selection import private_search
from dpfast.parts import MemoryParts
from dpfast.tables import Category, Label, Numeric, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning", "ignore::UserWarning")

LEARNERS = {
    "list": lambda **given: dpfast.DecisionListClassifier(1.0, 1e-6, max_rules=3, **given),
    "pure list": lambda **given: dpfast.DecisionListClassifier(1.0, 0, max_rules=3, **given),
    "conjunctions": lambda **given: dpfast.DecisionListClassifier(1.0, 1e-6, conjunctions=2, max_rules=3, **given),
    "winnow": lambda **given: dpfast.DPWinnowClassifier(1.0, 1e-6, n_updates=2, **given),
    "winnow in batches": lambda **given: dpfast.DPWinnowClassifier(1.0, 1e-6, n_updates=2, batch=4, **given),
    "halfspace": lambda **given: dpfast.HalfspaceClassifier(1.0, 1e-6, n_rounds=2, **given),
    "boosted": lambda **given: dpfast.BoostedHalfspaceClassifier(1.0, 1e-6, **given),
    "projected": lambda **given: dpfast.ProjectedHalfspaceClassifier(1.0, 1e-6, n_rounds=2, **given),
    "net": lambda **given: dpfast.NetHalfspaceClassifier(1.0, n_components=2, **given),
    "features": lambda **given: dpfast.FiniteClassLearner(1.0, hypotheses="features", **given),
}
SCHEMA = Schema([Numeric("a", -3, 3), Category("w", ["x", "y"])])
LABELLED = Schema(SCHEMA.columns, label=Label("y", [0, 1]))


def _table(form, n):
    rng = np.random.default_rng(1)
    bits = rng.random((n, 3)) < 0.5
    if form == "bits":
        return bits
    if form == "floats":
        return rng.normal(size=(n, 3)).astype(np.float32)
    if form == "sparse":
        return sp.csr_array(bits.astype(np.float32))
    return pd.DataFrame({"a": rng.normal(size=n), "w": rng.choice(["x", "y"], n).astype(object)})


@pytest.mark.parametrize("form", ["bits", "floats", "sparse", "declared", "discovered"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_number_of_rows_gives_a_model_that_predicts(name, form):
    own = {"declared": {"schema": SCHEMA}, "discovered": {"schema": "discover"}}.get(form, {})
    for n in (0, 1, 2, 3):
        budget = Budget(1.0, 1e-6, neighbors="add-remove")
        model = LEARNERS[name](neighbors="add-remove", random_state=0, budget=budget, **own)
        model.fit(_table(form, n), np.arange(n) % 2, classes=[0, 1])
        assert len(budget.charges) == 1
        assert {*model.predict(_table(form, 5)).tolist()} <= {0, 1}
        assert len(model.predict(_table(form, 0))) == 0
        with pytest.raises(ValueError, match=r"at least one row|at least two classes"):
            LEARNERS[name](**own).fit(_table(form, 0), np.arange(0), classes=[0, 1])


@pytest.mark.parametrize("form", ["bits", "floats", "declared"])
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "winnow in batches"])
def test_parts_of_which_none_has_a_row_give_a_model(name, form):
    own = {"schema": LABELLED} if form == "declared" else {}
    table, labels = _table(form, 2), np.arange(2)

    def parts(n):
        several = [slice(k, min(k + 1, n)) for k in (0, 1)]
        if form == "declared":
            return MemoryParts([(table.assign(y=labels)[rows], None) for rows in several])
        return MemoryParts([(table[rows], labels[rows]) for rows in several])

    for n in (0, 1, 2):
        budget = Budget(1.0, 1e-6, neighbors="add-remove")
        model = LEARNERS[name](neighbors="add-remove", random_state=0, budget=budget, **own)
        model.fit(parts(n), classes=[0, 1])
        assert len(budget.charges) == 1
        assert {*model.predict(table).tolist()} <= {0, 1}
    with pytest.raises(ValueError, match="at least one row"):
        LEARNERS[name](**own).fit(parts(0), classes=[0, 1])


@pytest.mark.parametrize("form", ["frame", "array", "file", "stream", "parts", "parts, array", "vectors"])
def test_every_number_of_rows_of_persons_gives_a_model(form, tmp_path):
    whole = _table("declared", 3).assign(y=[0, 1, 0], who=["a", "a", "b"])
    for n in (0, 1, 2, 3):
        table, path = whole[:n], tmp_path / f"{n}.csv"
        table.to_csv(path, index=False)
        parts, labels = MemoryParts([(table[:1], None), (table[1:], None)]), table["y"].to_numpy()
        X, y, units = {
            "frame": (table, labels, "who"),
            "array": (table, labels, table["who"].to_numpy()),
            "file": (dpfast.FileParts(path), None, "who"),
            "stream": (pa.Table.from_pandas(table, preserve_index=False).to_reader(2), None, "who"),
            "parts": (parts, None, "who"),
            "parts, array": (parts, None, table["who"].tolist()),
            "vectors": (np.ones((n, 2)), labels, table["who"].to_numpy()),
        }[form]
        schema = None if form == "vectors" else LABELLED
        model = LEARNERS["halfspace"](neighbors="add-remove", random_state=0, schema=schema)
        model.fit(X, y, classes=[0, 1], units=units, rows_per_unit=1)
        assert {*model.classes_.tolist()} == {0, 1}
        if n == 0:
            with pytest.raises(ValueError, match=r"at least one row|at least two classes"):
                LEARNERS["halfspace"](schema=schema).fit(X, y, classes=[0, 1], units=units, rows_per_unit=1)


def test_a_test_part_without_a_person_has_figures(tmp_path):
    rows = [f"{20 + k},{'no' if k % 2 else 'yes'},p{k % 3}" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["age,y,who", *rows]) + "\n")
    options = ["--label", "y", "--classes", "no,yes", "--unit", "who", "--rows-per-unit", "2"]
    options += ["--neighbors", "add-remove", "--epsilon", "1", "--test-share", ".3"]
    for seed in range(12):  # about a third of which leave nobody for the test part, and a few for the training part
        result = run(["fit", str(tmp_path / "t.csv"), *options, "--seed", str(seed)])
        assert result.exit_code == 0, result.output
        assert "test accuracy" in result.stdout


def test_every_number_of_rows_has_figures(tmp_path):
    rows = [f"{20 + k % 50},{k % 2},{'no' if k % 3 else 'yes'}" for k in range(300)]
    path, model = tmp_path / "t.csv", str(tmp_path / "model.json")
    for options in ([], ["--model", "projected", "--numbers"]):
        path.write_text("\n".join(["age,who,y", *rows]) + "\n")
        fitted = ["fit", str(path), "--label", "y", "--classes", "no,yes", "--epsilon", "1", "--seed", "0"]
        assert run([*fitted, "--out", model, *options]).exit_code == 0
        for n in (0, 1, 2):
            path.write_text("\n".join(["age,who,y", *rows[:n]]) + "\n")
            scored = ["score", model, str(path), "--label", "y", "--epsilon", "1", "--neighbors"]
            assert "accuracy" in run([*scored, "add-remove"]).stdout
            assert ("has no rows" in run([*scored, "replace"]).output) == (n == 0)


def test_no_parts_at_all_are_a_table_without_rows():
    model = LEARNERS["halfspace"](neighbors="add-remove", random_state=0, schema=LABELLED)
    assert model.fit(MemoryParts([])).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"all its parts have none$"):
        LEARNERS["halfspace"](neighbors="add-remove").fit(MemoryParts([]), classes=[0, 1])


@pytest.mark.parametrize("form", ["bits", "floats", "declared"])
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "winnow in batches"])
def test_a_first_row_is_asked_the_same_questions_as_none(name, form):
    own = {"schema": SCHEMA} if form == "declared" else {}
    model = LEARNERS[name](neighbors="add-remove", **own)
    for n in (0, 1, 2):
        more, less = ((_table(form, 3)[:k], (np.arange(3) % 2)[:k]) for k in (n + 1, n))
        found = replay(model, more, less, classes=[0, 1])
        assert found.ratio <= 1 + 1e-9, found


def test_neither_the_time_nor_the_bar_of_a_net_looks_at_the_rows():
    shown = {}
    for n in (0, 1, 2000):
        model = dpfast.NetHalfspaceClassifier(
            n_components=3, margin=0.5, neighbors="add-remove", max_seconds=1e-4, random_state=0, verbose=True
        )
        for net_radius in (0.004, 0.5):
            text = io.StringIO()
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
                try:
                    model.set_params(net_radius=net_radius).fit(_table("floats", n), np.arange(n) % 2, classes=[0, 1])
                except ValueError as error:
                    text.write(str(error))
            shown.setdefault(net_radius, set()).add(text.getvalue().split("0:00")[0].strip())
    assert [len(texts) for texts in shown.values()] == [1, 1]
    assert "members would take about" in shown[0.004].pop()
    with pytest.raises(ValueError, match=r"members and 2,000 rows would take about"):
        model.set_params(neighbors="replace", net_radius=0.05).fit(
            _table("floats", 2000), np.arange(2000) % 2, classes=[0, 1]
        )


@pytest.mark.parametrize("batches", [1, 3, 99, 100, 101, 1000])
def test_the_bar_of_a_net_counts_percents(batches, monkeypatch):
    ticks = []

    def shown(iterable, what, verbose):
        for each in iterable:
            yield each
            ticks.append(each)

    monkeypatch.setattr(nets, "progress_bar", shown)
    assert [*nets._in_percent(range(batches), True)] == [*range(batches)]
    assert ticks == [*range(100)]


def test_the_memory_of_conjunctions_does_not_look_at_the_rows(monkeypatch):
    def fit(n, **given):
        model = dpfast.DecisionListClassifier(conjunctions=2, max_rules=2, **given)
        return model.fit(np.random.default_rng(0).random((n, 30)) < 0.4, np.arange(n) % 2, classes=[0, 1])

    monkeypatch.setattr(covering, "memory", lambda: 1_000_000)
    with pytest.raises(ValueError, match="for 2,000 rows; at most"):
        fit(2000)
    for n in (0, 1, 2000):
        fit(n, neighbors="add-remove")
    monkeypatch.setattr(covering, "memory", lambda: 50_000)
    for n in (0, 1, 2000):
        with pytest.raises(ValueError, match="for each row; at most"):
            fit(n, neighbors="add-remove")


def test_a_search_gives_an_answer_whatever_rows_are_held_out():
    offered = [dpfast.ProjectedHalfspaceClassifier(n_rounds=2), dpfast.HalfspaceClassifier(n_rounds=1)]
    for n in (0, 1, 2):
        for seed in range(5):
            X, y = np.ones((n, 2)), np.arange(n) % 2
            given = {"neighbors": "add-remove", "classes": [0, 1], "runs": 1, "random_state": seed}
            found = private_search(offered, X, y, validation=0.9, **given)
            assert found.privacy.delta == 1e-6
