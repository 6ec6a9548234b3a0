"""One table in any parts gives one model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from people import LEARNERS, OPEN, SCHEMA, TWO_SIDED, few, people, pieces, released

import dpfast
from dpfast import (
    BoostedHalfspaceClassifier,
    CodeTable,
    DecisionListClassifier,
    DPWinnowClassifier,
    FiniteClassLearner,
    HalfspaceClassifier,
    NetHalfspaceClassifier,
    ProjectedHalfspaceClassifier,
    StatisticalQueryOracle,
)
from dpfast.learners.halfspaces import nets
from dpfast.learners.halfspaces.weak import NoisyCentering
from dpfast.learners.winnow.scores import DENSE
from dpfast.parts import MemoryParts


@pytest.mark.parametrize("learner", [*LEARNERS, *TWO_SIDED])
def test_a_table_with_a_schema_gives_one_model_in_any_parts(learner):
    frame = people()
    whole = few(learner, schema=SCHEMA).fit(frame)
    for parts in (1, 6):
        model = few(learner, schema=SCHEMA).fit(MemoryParts(pieces(frame, parts=parts)))
        assert released(model) == released(whole)
        assert model.feature_names_in_.tolist() == whole.feature_names_in_.tolist()
        np.testing.assert_array_equal(model.decision_function(frame), whole.decision_function(frame))


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_a_schema_leaves_open_is_found_alike_in_any_parts(learner):
    frame = people(4000)
    given = {"schema": OPEN, "epsilon": 20.0}
    whole = few(learner, **given).fit(frame, classes=["no", "yes"])
    model = few(learner, **given).fit(MemoryParts(pieces(frame, parts=5)), classes=["no", "yes"])
    assert model.encoder_.schema_ == whole.encoder_.schema_
    assert released(model) == released(whole)


@pytest.mark.parametrize("kind", ["float32", "float64", "bool", "csr", "frame"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_table_of_numbers_gives_one_model_in_any_parts(learner, kind, rng):
    X = (rng.random((900, 12)) < 0.4).astype("float64" if kind in ("csr", "frame") else kind)
    y = np.where(X[:, 3] + X[:, 5] + (rng.random(900) < 0.1) > 1, "a", np.where(X[:, 1] > 0, "b", "c"))
    X = sp.csr_array(X) if kind == "csr" else X
    whole = few(learner).fit(X, y)  # an array: of a frame in memory, ranges and words would be discovered
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]) if kind == "frame" else X
    for parts in (1, 4):
        model = few(learner).fit(MemoryParts(pieces(X, y, parts)))
        assert released(model) == released(whole)
        assert getattr(model, "feature_names_in_", None) is None or model.feature_names_in_.tolist() == [*X.columns]


@pytest.mark.parametrize("learner", [*LEARNERS, *TWO_SIDED])
def test_tables_of_codes_give_one_model_in_any_parts(learner, rng):
    codes = rng.integers(0, 5, (800, 4))
    X = CodeTable(codes, [5] * 4, names=list("abcd"))
    y = (codes[:, 1] > 2) ^ (rng.random(800) < 0.1)
    whole = released(few(learner).fit(X, y))
    for parts in (1, 6):
        assert released(few(learner).fit(MemoryParts(pieces(X, y, parts)))) == whole
    other = CodeTable(codes[:9] % 3, [3] * 4, names=list("abcd"))
    with pytest.raises(ValueError, match=r"same columns and types: .*20 codes.*, but another .*12 codes"):
        few(learner).fit(MemoryParts([(X, y), (other, y[:9])]))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("density", [0.002, 0.3, 1.0])
def test_a_measure_is_projected_over_parts_as_over_the_whole(neighbors, density, rng):
    X = rng.normal(size=(700, 6))
    y = X[:, 2] + 0.5 * rng.normal(size=700) > 0
    given = {"neighbors": neighbors, "density": density, "n_rounds": 4, "epsilon": 30.0, "random_state": 2}
    whole = released(BoostedHalfspaceClassifier(**given, schema="vectors").fit(X, y))
    for parts in (1, 6):
        assert (
            released(BoostedHalfspaceClassifier(**given, schema="vectors").fit(MemoryParts(pieces(X, y, parts))))
            == whole
        )


@pytest.mark.parametrize("n_components", ["auto", 4])
@pytest.mark.parametrize("kind", ["float32", "bool", "csr"])
def test_rows_are_projected_in_parts_as_in_the_whole(kind, n_components, rng):
    X = (rng.random((600, 12)) < 0.4).astype("float32" if kind == "csr" else kind)
    y, X = X[:, 2] > 0, sp.csr_array(X) if kind == "csr" else X
    given = {"n_components": n_components, "n_rounds": 6, "epsilon": 20.0, "random_state": 2}
    for loss, classes in (("hinge", 2), ("fading", 2), ("fading", 3)):
        labels = y if classes == 2 else np.arange(600) % classes
        clf = ProjectedHalfspaceClassifier(**given, loss=loss, schema="vectors")
        whole = released(clf.fit(X, labels))
        for parts in (1, 6):
            table = MemoryParts(pieces(X, labels, parts))
            assert released(clf.fit(table)) == whole
    with pytest.raises(ValueError, match="reads single rows, and no table in parts"):
        ProjectedHalfspaceClassifier(schedule="paper", margin=0.2, schema="vectors").fit(table)
    with pytest.raises(ValueError, match="Only binary classification"):
        ProjectedHalfspaceClassifier(**given, loss="hinge", schema="vectors").fit(
            MemoryParts(pieces(X, np.arange(600) % 3, 2))
        )


def test_a_feature_is_drawn_by_its_errors_in_all_parts(rng):
    frame, X = people(500), rng.random((500, 9)) < 0.5
    given = {"hypotheses": "features", "epsilon": 0.3}
    for seed in range(3):
        of_frame = FiniteClassLearner(schema=SCHEMA, random_state=seed, **given).fit(frame)
        of_bits = FiniteClassLearner(random_state=seed, **given).fit(X, X[:, 2])
        for parts in (1, 6):
            table = MemoryParts(pieces(frame, parts=parts))
            model = FiniteClassLearner(schema=SCHEMA, random_state=seed, **given).fit(table)
            assert released(model) == released(of_frame)
            table = MemoryParts(pieces(X, X[:, 2], parts))
            assert released(FiniteClassLearner(random_state=seed, **given).fit(table)) == released(of_bits)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_queries_are_answered_alike_over_any_parts(neighbors, rng):
    X, y = rng.normal(size=(900, 4)), rng.random(900) < 0.3
    queries = [lambda X, y: X[:, 0] * y, lambda X, y: y & (X[:, 1] > 0)]
    given = {"n_queries": 2, "neighbors": neighbors, "random_state": 4}
    whole = StatisticalQueryOracle((X, y), **given).answer_all(queries)
    for parts in (1, 6):
        oracle = StatisticalQueryOracle(MemoryParts(pieces(X, y, parts)), **given)
        np.testing.assert_array_equal(oracle.answer_all(queries), whole)
    oracle = StatisticalQueryOracle(MemoryParts([(X[:400], None), (X[400:], None)]), n_queries=1, random_state=1)
    whole = StatisticalQueryOracle(X, n_queries=1, random_state=1)
    assert oracle.answer(lambda X: X[:, 2]) == whole.answer(lambda X: X[:, 2])
    with pytest.raises(ValueError, match="one number of rows"):
        StatisticalQueryOracle(MemoryParts([(X, y[:5])]), n_queries=1)
    with pytest.raises(ValueError, match="at least 1 row"):
        StatisticalQueryOracle(MemoryParts([(X[:0], y[:0])]), n_queries=1)


@pytest.mark.parametrize(
    "learner",
    [
        DPWinnowClassifier(schedule="sparse-vector"),
        ProjectedHalfspaceClassifier(schedule="paper", margin=0.2),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_before_anything_is_found(learner):
    learner.set_params(schema=OPEN, budget=dpfast.accounting.Budget(1.0, 1e-6))
    with pytest.raises(ValueError, match="in parts"):
        learner.fit(MemoryParts(pieces(people(300))), classes=["no", "yes"])
    assert learner.budget.left == (1.0, 1e-6)


@pytest.mark.parametrize(("weak_learner", "measure"), [("centering", "lazy-bregman"), ("stump", "local")])
def test_every_weak_learner_and_measure_boosts_over_parts_as_over_the_whole(weak_learner, measure, rng):
    X = rng.random((500, 7)) < 0.4
    frame, y = people(400), X[:, 2] ^ (rng.random(500) < 0.1)
    given = {"weak_learner": weak_learner, "measure": measure, "n_rounds": 6, "epsilon": 20.0, "random_state": 2}
    whole = released(BoostedHalfspaceClassifier(**given).fit(X, y))
    coded = released(BoostedHalfspaceClassifier(schema=SCHEMA, **given).fit(frame))
    for parts in (1, 6):
        assert released(BoostedHalfspaceClassifier(**given).fit(MemoryParts(pieces(X, y, parts)))) == whole
        table = MemoryParts(pieces(frame, parts=parts))
        assert released(BoostedHalfspaceClassifier(schema=SCHEMA, **given).fit(table)) == coded
    if weak_learner == "centering":
        labels = np.arange(500) % 2 + X[:, 3]
        whole = released(BoostedHalfspaceClassifier(**given).fit(X, labels, classes=range(3)))
        table = MemoryParts(pieces(X, labels, 4))
        assert released(BoostedHalfspaceClassifier(**given).fit(table, classes=range(3))) == whole
    given["start"] = "even"
    whole = released(BoostedHalfspaceClassifier(**given).fit(X, y))
    assert released(BoostedHalfspaceClassifier(**given).fit(MemoryParts(pieces(X, y, 3)))) == whole


def test_boosting_over_parts_takes_the_measures_and_the_weak_learners_that_sums_serve(rng):
    class Own(NoisyCentering):
        pass

    table = MemoryParts(pieces(rng.normal(size=(50, 3)), np.arange(50) % 2))
    with pytest.raises(ValueError, match="needs a weak_learner= and a measure= of those that have a name"):
        BoostedHalfspaceClassifier(weak_learner=Own()).fit(table)


def test_a_list_of_every_rule_is_the_same_from_a_part_that_forgets(monkeypatch):
    """What a part remembers is never needed: it is the same asked from the start."""
    frame = people()
    table = MemoryParts(pieces(frame, parts=3))
    given = {"schema": SCHEMA, "max_rules": None, "random_state": 5}
    plain = released(DecisionListClassifier(**given).fit(table))
    each = MemoryParts.each

    def forgetting(self, question, *public, own=None):
        for part in self._parts:
            if hasattr(part, "memo"):
                part.memo.clear()
        return each(self, question, *public, own=own)

    monkeypatch.setattr(MemoryParts, "each", forgetting)
    assert released(DecisionListClassifier(**given).fit(table)) == plain
    assert released(DecisionListClassifier(**given).fit(frame)) == plain


def test_what_learns_from_one_row_after_another_says_which_learners_read_parts(rng):
    table = MemoryParts(pieces(people(50)))
    with pytest.raises(ValueError, match=r"learns from one row after another.*; HalfspaceClassifier, "):
        dpfast.LinearLearner(schema=SCHEMA).fit(table)
    with pytest.raises(ValueError, match="X is in parts, and all its rows are read at once"):
        DPWinnowClassifier().stream(table, None)
    for learner in (
        dpfast.WinnowClassifier(),
        dpfast.littlestone.LittlestoneLearner(hypothesis_class=dpfast.littlestone.Thresholds(9)),
    ):
        with pytest.raises(ValueError, match="in parts"):
            learner.fit(table, np.arange(50) % 2)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("float64", {"batch": 4}),
        ("bool", {"window": True}),
        ("csr", {"average": False, "negations": False}),
        ("touched", {"batch": 4}),
        ("float64", {"average": False, "negations": False}),
        ("touched", {"window": True}),
    ],
)
def test_winnow_sums_its_intervals_over_parts_as_over_the_whole(kind, given, rng):
    X = rng.uniform(1, 3, (400, 8)) if kind == "float64" else rng.random((400, 8)) < 0.3
    y = X[:, 2] > X[:, 2].mean()
    if kind in ("csr", "touched"):
        X = sp.csr_array(X.astype(float))
    if kind == "touched":
        X.resize((400, DENSE + 1))
    given = given | {"random_state": 5, "n_updates": 4, "epsilon": 5.0}
    given |= {"feature_range": (1, 3)} if kind == "float64" else {}
    whole = released(DPWinnowClassifier(**given).fit(X, y))
    for parts in (1, 6):
        assert released(DPWinnowClassifier(**given).fit(MemoryParts(pieces(X, y, parts)))) == whole


@pytest.mark.parametrize("n_components", [2, 20])
@pytest.mark.parametrize("kind", ["float32", "bool", "csr"])
def test_a_member_of_a_net_is_drawn_by_its_mistakes_in_all_parts(n_components, kind, rng, monkeypatch):
    monkeypatch.setattr(nets, "_ASKED", 50)
    X = (rng.random((300, 12 if n_components == 2 else 2)) < 0.4).astype("float32" if kind == "csr" else kind)
    y, X = X[:, 1] > 0, sp.csr_array(X) if kind == "csr" else X
    given = {"n_components": n_components, "n_projections": 2, "net_radius": 0.3, "epsilon": 0.5}
    for seed in range(3):
        whole = released(NetHalfspaceClassifier(random_state=seed, **given).fit(X, y))
        for parts in (1, 6):
            table = MemoryParts(pieces(X, y, parts))
            assert released(NetHalfspaceClassifier(random_state=seed, **given).fit(table)) == whole


@pytest.mark.parametrize("parts", [1, 3, 17])
def test_a_list_of_conjunctions_is_the_same_from_any_parts(parts, rng):
    X = rng.random((500, 8)) < 0.5
    given = {"conjunctions": 2, "random_state": 1, "max_rules": 4}
    y = X[:, 1] & ~X[:, 5]
    model = DecisionListClassifier(**given).fit(MemoryParts(pieces(X, y, parts)))
    assert released(model) == released(DecisionListClassifier(**given).fit(X, y))
    frame = people(600)
    model = DecisionListClassifier(schema=SCHEMA, **given).fit(MemoryParts(pieces(frame, parts=parts)))
    assert released(model) == released(DecisionListClassifier(schema=SCHEMA, **given).fit(frame))


@pytest.mark.parametrize("parts", [1, 3, 17])
def test_a_hypothesis_of_any_class_is_drawn_by_its_errors_in_all_parts(parts, rng):
    points, X = rng.integers(0, 20, 400), rng.normal(size=(400, 3))
    thresholds = np.arange(20) >= np.arange(21)[:, np.newaxis]
    signs = [lambda rows, j=j: rows[:, j] > 0 for j in range(3)]
    for hypotheses, rows in ((thresholds, points), (thresholds, points[:, np.newaxis]), (signs, X)):
        y = points >= 7 if hypotheses is thresholds else X[:, 1] > 0
        for seed in range(3):
            given = {"hypotheses": hypotheses, "epsilon": 0.05, "random_state": seed}
            model = FiniteClassLearner(**given).fit(MemoryParts(pieces(rows, y, parts)))
            assert model.hypothesis_ == FiniteClassLearner(**given).fit(rows, y).hypothesis_
    with pytest.raises(ValueError, match=r"numbers of points in \[0, 20\), got 0 to 23"):
        FiniteClassLearner(hypotheses=thresholds).fit(MemoryParts([(np.array([0, 23]), [0, 1]), (points, points > 7)]))


def test_parts_that_do_not_fit_together_are_refused_before_anything_is_charged(rng):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    for other, what in ((X[:, :3], "same columns and types"), (X.astype(np.float32), "same columns and types")):
        budget = dpfast.accounting.Budget(1.0, 1e-6)
        clf = HalfspaceClassifier(budget=budget)
        with pytest.raises(ValueError, match=what):
            clf.fit(MemoryParts([(X, y), (other, y)]))
        assert budget.charges == ()
    with pytest.raises(ValueError, match="all its parts have none"):
        HalfspaceClassifier().fit(MemoryParts([(X[:0], y[:0])]))
    with pytest.raises(ValueError, match="NaN"):
        HalfspaceClassifier().fit(MemoryParts([(X, y), (X * np.nan, y)]))
