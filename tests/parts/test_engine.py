"""The protocol of engines: whatever answers by it gives the model of memory, though all that travels is pickled."""

import copy
import math
import pickle
from collections import Counter
from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from people import SCHEMA, few, people, pieces, released

from dpfast import (
    BoostedHalfspaceClassifier,
    DecisionListClassifier,
    FiniteClassLearner,
    HalfspaceClassifier,
    StatisticalQueryOracle,
)
from dpfast.accounting import Budget
from dpfast.parts import EngineLost, MemoryParts, answer_part, dask_parts, make_state, marks
from dpfast.parts.dask_parts import Total
from dpfast.parts.engine import EngineParts, Failure, add_answers
from dpfast.parts.marks import AsRead
from dpfast.tables import Label, Numeric, Schema
from dpfast.tables.words import Counts


class Pickled:
    """Parts of this process, reached by pickles only; the second one answers twice, and they come in no order."""

    def __init__(self, pairs):
        self._states, self.open = list(pairs), []

    def size(self):
        return len(self._states)

    def make(self, f, *public, own=None):
        other = copy.copy(self)
        f, public, own = _sent((f, public, own))
        other._states = [make_state(state, f, public, k, own) for k, state in enumerate(self._states)]
        self.open.append(1)
        return other

    def ask(self, f, public, own):
        f, public, own = _sent((f, public, own))
        for k in [*range(self.size())[::-1], *range(1, min(2, self.size()))]:
            yield k, _sent(answer_part(self._states[k], k, f, public, own))

    def close(self):
        self.open.pop()


class Reread:
    """Parts of this process that are read again for every question; after some of them, the source has other rows."""

    def __init__(self, pairs, others, after, steps=(), calls=None):
        self._pairs, self._others, self._after, self._steps = pairs, others, after, steps
        self.calls = [0] if calls is None else calls  # of `ask`, by all engines of this table

    def size(self):
        return len(self._pairs)

    def make(self, f, *public, own=None):
        return Reread(self._pairs, self._others, self._after, (*self._steps, (f, public, own)), self.calls)

    def ask(self, f, public, own):
        self.calls[0] += 1
        for k, state in enumerate(self._pairs if self.calls[0] <= self._after else self._others):
            for make, arguments, mine in self._steps:
                state = make_state(state, make, arguments, k, mine)
            yield k, answer_part(state, k, f, public, own)

    def close(self):
        pass


class Added(Reread):
    """The same, whose answers are added up in a tree, as Dask does."""

    def make(self, f, *public, own=None):
        other = super().make(f, *public, own=own)
        return Added(other._pairs, other._others, other._after, other._steps, other.calls)

    def total(self, f, public, own, chosen):
        asked = [Total((mark,), value) for _, (mark, value) in self.ask(f, public, own)]
        return dask_parts._total([dask_parts._total([asked[k]]) for k in chosen])


def _sent(told):
    """Return what arrives of a message: its arrays begin at odd bytes."""
    arrays: list[pickle.PickleBuffer] = []
    message = pickle.dumps(told, protocol=5, buffer_callback=arrays.append)
    return pickle.loads(message, buffers=[memoryview(b"x" + bytes(each.raw()))[1:] for each in arrays])


@pytest.mark.parametrize(
    "model",
    [
        few(DecisionListClassifier, threshold=0.5, conjunctions=2),
        few(BoostedHalfspaceClassifier, measure="local", learning_rate=1.0),
        few(BoostedHalfspaceClassifier, weak_learner="stump"),
        few(FiniteClassLearner, threshold=0.5),
    ],
    ids=["conjunctions", "local measure", "stumps", "features"],
)
def test_learners_of_vectors_ask_an_engine_as_they_ask_memory(model, rng):
    X = rng.random((300, 6)) < 0.4
    y = X[:, 1] & X[:, 3]
    whole = released(copy.deepcopy(model).fit(X, y))
    assert released(copy.deepcopy(model).fit(Pickled(pieces(X, y, 4)))) == whole


def test_points_are_learned_by_an_engine(rng):
    x = rng.integers(0, 50, 300)
    given = {"hypotheses": np.eye(50, dtype=bool), "random_state": 1}
    whole = FiniteClassLearner(**given).fit(x, x == 7)
    assert released(FiniteClassLearner(**given).fit(Pickled(pieces(x, x == 7, 4)))) == released(whole)


def test_functions_are_learned_by_an_engine(rng):
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    given = {"hypotheses": [_first, _second], "random_state": 1}
    whole = FiniteClassLearner(**given).fit(X, y)
    assert FiniteClassLearner(**given).fit(Pickled(pieces(X, y, 4))).hypothesis_ == whole.hypothesis_


def _first(X):
    return X[:, 0] > 0


def _second(X):
    return X[:, 1] > 0


def test_queries_are_answered_by_an_engine(rng):
    X, y = rng.random((300, 3)), rng.random(300) < 0.3
    answers = [
        StatisticalQueryOracle(data, n_queries=1, random_state=2).answer(_query)
        for data in ((X, y), Pickled(pieces(X, y, 3)))
    ]
    assert answers[0] == answers[1]


def _query(X, y):
    return y & (X[:, 1] > 0.5)


TABLES = {  # a table and its labels, and the same labels beside other rows
    "arrays": lambda X, y: (X, y),
    "columns first": lambda X, y: (np.asfortranarray(X), y.astype(str).astype(object)),
    "sparse": lambda X, y: (sp.coo_array(X), y),
    "frame": lambda X, y: (pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)),
    "declared": lambda X, y: (pd.DataFrame(X, columns=["a", "b"]).assign(buys=y), None),
    "discovered": lambda X, y: (pd.DataFrame(X, columns=["a", "b"]).assign(buys=y), None),
}


ONCE_EACH = [(kind, *way) for kind in TABLES for way in (("different parts", Reread), ("equal parts", Added))]


@pytest.mark.parametrize(
    ("kind", "parts", "engine"),
    [*ONCE_EACH, ("arrays", "equal parts", Reread), ("discovered", "different parts", Added)],
)
def test_a_part_that_is_read_again_with_other_rows_is_an_error_at_any_time(kind, parts, engine):
    """Also if only the features are others, and if equal parts are changed alike."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    X = np.concatenate([X, X]) if parts == "equal parts" else np.concatenate([X, rng.random((40, 2))])
    y = np.resize(X[:40, 0] > 0.5, 80).astype(int)
    tables = [[TABLES[kind](each[a : a + 40], y[a : a + 40]) for a in (0, 40)] for each in (X, 1 - X)]
    schema, given = None, {"classes": ["0", "1"] if kind == "columns first" else [0, 1]}
    if kind in ("declared", "discovered"):
        bounds = (0, 1) if kind == "declared" else ()
        schema, given = Schema([Numeric(name, *bounds, edges=4) for name in "ab"], label=Label("buys", [0, 1])), {}

    def fitted(after):
        table = engine(*tables, after)
        return few(HalfspaceClassifier, schema=schema, epsilon=9.0).fit(table, **given), table.calls[0]

    whole, questions = fitted(math.inf)
    memory = few(HalfspaceClassifier, schema=schema, epsilon=9.0).fit(MemoryParts(tables[0]), **given)
    assert released(whole)[:1] == released(memory)[:1]
    for after in range(1, questions):
        with pytest.raises(EngineLost, match="has other rows than before"):
            fitted(after)


def test_an_oracle_whose_rows_change_is_an_error(rng):
    X = rng.random((40, 2))
    for other in (X[::-1], 1 - X):
        engine = Reread([(X, None)], [(other, None)], 3)
        oracle = StatisticalQueryOracle(engine, n_queries=2, random_state=0)
        oracle.answer(_first_column)
        with pytest.raises(EngineLost, match="has other rows than before"):
            oracle.answer(_first_column)


def _first_column(X):
    return X[:, 0]


def test_what_was_read_marks_all_that_follows_and_is_hashed_once(monkeypatch, rng):
    hashed = []
    monkeypatch.setattr(marks, "blake2b", lambda **given: hashed.append(1) or blake2b(**given))
    X, frame = rng.random((60, 3)) < 0.5, people(60)
    few(HalfspaceClassifier).fit(Pickled(pieces(X, X[:, 0], 3)), classes=[False, True])
    assert len(hashed) == 3
    few(DecisionListClassifier, schema=SCHEMA).fit(Pickled(pieces(frame, parts=3)))
    assert len(hashed) == 6
    few(HalfspaceClassifier).fit(MemoryParts(pieces(X, X[:, 0], 3)), classes=[False, True])
    assert len(hashed) == 6  # parts in memory are not read again


def test_the_first_question_is_for_marks_alone_and_none_is_asked_if_the_engine_knows_them(monkeypatch):
    asked, plain = [], Pickled.ask

    def noting(self, f, public, own):
        asked.append(f.__name__)
        return plain(self, f, public, own)

    monkeypatch.setattr(Pickled, "ask", noting)
    parts = EngineParts(Pickled(pieces(people(60), parts=3))).map(_same)
    assert asked == ["_nothing"]
    parts.map(_same).map(_same)
    assert asked == ["_nothing"]
    known = [AsRead(pair).mark for pair in pieces(people(60), parts=3)]
    monkeypatch.setattr(Pickled, "marks", known, raising=False)
    EngineParts(Pickled(pieces(people(60), parts=3))).map(_same)
    assert asked == ["_nothing"]
    with pytest.raises(EngineLost, match="has other rows than before"):
        EngineParts(Pickled(pieces(people(61), parts=3))).each(len)
    other = EngineParts(Pickled(pieces(people(60), parts=3)))
    monkeypatch.setattr(Pickled, "marks", known[::-1])
    with pytest.raises(EngineLost, match="has other rows than before"):
        other.map(_same)


def _same(pair):
    return AsRead(pair)


def test_a_part_that_cannot_be_read_again_is_lost_and_what_was_released_is_paid_for():
    gone, budget = Failure(None, OSError("a cell of a row")), Budget(1.0, 1e-6)
    engine = Reread(pieces(people(60), parts=2), [gone, gone], math.inf)
    model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget)
    with pytest.raises(EngineLost, match="could not be read again; what was released") as raised:
        _fit_until_lost(model, engine, budget)
    assert "cell" not in str(raised.value)
    assert len(budget.charges) == 1
    assert sum(event.used for event in model.privacy_.events) == 2
    with pytest.raises(OSError, match="a cell of a row"):  # before the first pass it is an error of the source
        few(HalfspaceClassifier, schema=SCHEMA).fit(Reread([gone, gone], [gone, gone], math.inf))


def _fit_until_lost(model, engine, budget):
    """Fit; the source is gone after two releases."""
    plain, rounds = EngineParts.sum, []

    def losing(self, question, *public, own=None):
        rounds.extend(budget.charges)
        if len(rounds) == 3:
            self._backend._others, self._backend._after = engine._others, 0
        return plain(self, question, *public, own=own)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineParts, "sum", losing)
        model.fit(engine)


def test_states_are_closed_when_a_fit_is_over():
    engine = Pickled(pieces(people(200), parts=3))
    few(DecisionListClassifier, schema=SCHEMA).fit(engine)
    assert engine.open == []


def test_the_first_failure_in_the_order_of_parts_is_raised():
    frame = people(60).astype({"smokes": object})
    frame.loc[[5, 50], "smokes"] = None
    with pytest.raises(ValueError, match="row 6, column 'smokes' is missing") as raised:
        few(DecisionListClassifier, schema=SCHEMA).fit(Pickled([(frame[:30], None), (frame[30:], None)]))
    assert getattr(raised.value, "__notes__", ["in part 0, counted from 0"]) == ["in part 0, counted from 0"]


def test_a_sum_of_answers_with_a_failure_is_the_failure():
    failed = Failure(1, ValueError("no"))
    for one, other in ((Counts([], [], Counter()), failed), (failed, Counts([], [], Counter())), (failed, failed)):
        assert add_answers(one, other) is failed
