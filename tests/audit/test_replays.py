"""A replay sees what a fit does that its claim does not cover, and nothing where there is nothing."""

import itertools
import re
import sys
import warnings
from datetime import datetime

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

import dpfast
from dpfast.accounting import Budget, PrivacySpend
from dpfast.audit import replay
from dpfast.base import transaction
from dpfast.base.progress import progress_bar
from dpfast.base.reading import TableReader
from dpfast.littlestone import OnlineLittlestoneLearner, StagedOnlineLittlestoneLearner, Thresholds
from dpfast.mechanisms import AboveThreshold, discrete_gaussian, discrete_laplace
from dpfast.mechanisms.draws import draw_places
from dpfast.tables import Label, Numeric, Schema
from dpfast.tables.unit_rows import unit_rows

X = np.arange(12).reshape(6, 2) % 5
Y = np.array([0, 1, 1, 0, 1, 0])
OTHER = np.array([0, 1, 1, 0, 1, 1])


class Counter(BaseEstimator):
    """Counts the ones of y with noise; its faults are planted."""

    def __init__(self, epsilon=0.5, fault=None, budget=None, random_state=None):
        self.epsilon, self.fault, self.budget, self.random_state = epsilon, fault, budget, random_state

    def fit(self, X, y):
        rng = self.random_state
        if self.fault == "draws early":
            rng.random()
        if self.fault == "asks early":
            discrete_laplace(0, 1, rng=rng)
        self.budget.charge(self.epsilon / (2 if self.fault == "charges half" else 1))
        ones = int(y.sum())
        if self.fault == "refuses late" and ones > 3:
            raise ValueError("too many ones")
        if self.fault == "prints":
            print(ones)
        if self.fault == "complains":
            print(ones, file=sys.stderr)
        if self.fault == "warns":
            warnings.warn(f"{ones} ones", stacklevel=2)
        scale = (1 if self.fault == "half the noise" else 2) / self.epsilon
        counts = y + ones if self.fault == "one row moves all" else np.array([ones, len(y) - ones])
        if self.fault == "another shape":
            counts = counts[: 1 + ones % 2]
        self.counts_ = discrete_laplace(counts, scale, rng=rng)
        if self.fault == "finds nothing":
            raise ValueError("nothing was found")
        if self.fault == "one question more" and ones > 3:
            discrete_laplace(0, 1, rng=rng)
        if self.fault == "one question less" and ones < 4:
            discrete_laplace(0, 1e9, rng=rng)
        if self.fault == "publishes":
            self.ones_ = ones
        self.privacy_ = PrivacySpend(self.epsilon, 0, "replace")
        return self


def test_a_right_learner_moves_by_all_that_it_paid_for_and_by_no_more():
    found = replay(Counter(), (X, Y), (X, OTHER))
    assert found.holds
    assert found.ratio == pytest.approx(1, abs=1e-4)
    assert re.fullmatch(r"1: discrete_laplace in [\w.]*test_replays.fit", found.question)
    assert found.differences == ()
    assert (found.epsilon, found.delta) == (0.5, 0)
    assert "1 questions moved by at most 1 of what was paid for" in str(found)
    same = replay(Counter(), (X, Y), (X + 1, Y))
    assert (same.ratio, same.question, same.holds) == (0, "", True)


@pytest.mark.parametrize(
    ("fault", "seen"),
    {
        "draws early": "the first fit draws before it charges",
        "asks early": "asks before it charges: discrete_laplace",
        "charges half": r"claims \(0.5, 0\) and charges \(0.25, 0\)",
        "refuses late": "the second fit is refused after it charged or asked: ValueError: too many ones",
        "prints": "standard output: '3' of the first fit, '4' of the second",
        "complains": "standard error",
        "warns": "warnings: 'UserWarning: 3 ones",
        "another shape": "question 1 .* in the first fit",
        "one question more": "question 2 .* is asked by the second fit alone",
        "one question less": "the first fit asks 2 questions, the second 1",
        "publishes": "ones_ is 3 of the first fit, 4 of the second",
    }.items(),
    ids=str,
)
def test_a_planted_difference_is_found(fault, seen):
    found = replay(Counter(fault=fault), (X, Y), (X, OTHER))
    assert not found.holds
    assert re.search(seen, "; ".join(found.differences)), found


def test_an_error_that_follows_from_the_answers_is_no_difference():
    """Nothing may be discovered, say; what was asked until then is compared."""
    found = replay(Counter(fault="finds nothing"), (X, Y), (X, OTHER))
    assert found.holds
    assert found.refusal == "ValueError: nothing was found"
    assert found.ratio == pytest.approx(1, abs=1e-4)


def test_a_row_that_is_not_as_declared_is_refused_whatever_becomes_of_the_other_fit():
    def fit(model, X, y):
        if y is None:
            raise ValueError("a row is not as declared")
        return model.fit(X, y)

    for one, other in (((X, Y), (X, None)), ((X, None), (X, Y))):
        for fault in (None, "finds nothing"):
            (difference,) = replay(Counter(fault=fault), one, other, fit=fit).differences
            assert difference.startswith("refused before the charge: the first fit ")


@pytest.mark.parametrize(("fault", "ratio"), [("half the noise", 2), ("one row moves all", 3.5)])
def test_a_movement_that_was_not_paid_for_is_found(fault, ratio):
    found = replay(Counter(fault=fault), (X, Y), (X, OTHER))
    assert found.differences == ()
    assert found.ratio == pytest.approx(ratio, rel=1e-3)
    assert not found.holds


# ---- faults that learners have had, planted again --------------------------------------------------------------------

TABLE = (np.array([[1.0, 1], [0, 1], [1, 0], [1, -1], [-1, 0], [0, -1]]), Y)
CHANGED = (TABLE[0], OTHER)


def projected(**given):
    return dpfast.ProjectedHalfspaceClassifier(n_rounds=3, **given)


def test_one_datetime_that_changes_the_codes_of_every_row_is_found(monkeypatch):
    def one_type(name, values):
        timed = any(isinstance(value, datetime) for value in values)
        return pa.array([1e9 if isinstance(value, datetime) else value * (10**9 if timed else 1) for value in values])

    schema = Schema([Numeric("age", 0, 100, edges=4)], label=Label("old", [0, 1]))
    one = {"age": [20.0, 30.0, 90.0, 25.0, 60.0, 10.0], "old": [0, 0, 1, 0, 1, 0]}
    other = one | {"age": [*one["age"][:-1], datetime(2026, 1, 1)]}
    assert replay(projected(schema=schema), one, other, fit=dict_fit).differences[0].startswith("refused before")
    monkeypatch.setattr("dpfast.tables.arrow.array_of", one_type)
    found = replay(projected(schema=schema), one, other, fit=dict_fit)
    assert found.ratio > 1.2
    assert not found.holds


def dict_fit(model, table):
    return model.fit(table)


def test_a_refusal_after_the_charge_is_found(monkeypatch):
    def refuse(self, model, run, counts):
        if counts()[:, 1].sum() > 3:
            raise ValueError("labels must be few")
        return model

    monkeypatch.setattr(dpfast.ProjectedHalfspaceClassifier, "count", refuse)
    found = replay(projected(), TABLE, CHANGED, classes=[0, 1])
    assert found.differences[0] == "the second fit is refused after it charged or asked: ValueError: labels must be few"


def test_a_draw_before_the_charge_is_found(monkeypatch):
    asked = TableReader.read

    def draw(self, run, *table):
        run.rng.bytes(16)
        return asked(self, run, *table)

    model = dpfast.BoostedHalfspaceClassifier(n_rounds=2)
    assert replay(model, TABLE, CHANGED, classes=[0, 1]).holds
    monkeypatch.setattr(TableReader, "read", draw)
    assert "the first fit draws before it charges" in replay(model, TABLE, CHANGED, classes=[0, 1]).differences


def test_a_progress_bar_that_tells_the_number_of_rows_is_found(monkeypatch):
    def told(rounds, what, verbose, total, **known):
        return progress_bar(rounds, f"{what} of {len(asked[-1].only.labels)} rows", True, total)

    asked, learned = [], TableReader.open_parts
    monkeypatch.setattr(
        TableReader, "open_parts", lambda self, table: asked.append(table.parts) or learned(self, table)
    )

    shorter = TABLE[0][:-1], Y[:-1]
    model = projected(neighbors="add-remove", verbose=True)
    assert replay(model, TABLE, shorter, classes=[0, 1]).holds
    monkeypatch.setattr(transaction, "progress_bar", told)
    (difference,) = replay(model, TABLE, shorter, classes=[0, 1]).differences
    assert difference.startswith("standard output: ")
    assert "rounds of 6 rows" in difference
    assert "rounds of 5 rows" in difference


def test_one_row_that_moves_all_is_found(monkeypatch):
    def centred(X, **given):
        return unit_rows(X - X.mean(axis=0), **given)

    far = TABLE[0].copy()
    far[-1] = 1e6
    assert replay(projected(), TABLE, (far, Y), classes=[0, 1]).holds
    monkeypatch.setattr("dpfast.learners.halfspaces.projected.unit_rows", centred)
    assert replay(projected(), TABLE, (far, Y), classes=[0, 1]).ratio > 1.2


# ---- streams ---------------------------------------------------------------------------------------------------------


def stream_by(*cuts):
    def fit(model, X, y):
        given = {"classes": [0, 1]} if isinstance(model, dpfast.DPWinnowClassifier) else {}
        for a, b in itertools.pairwise(cuts):
            model.partial_fit(X[a:b], y[a:b], **given)

    return fit


@pytest.mark.parametrize(
    ("make", "points"),
    [
        (lambda: OnlineLittlestoneLearner(200.0, 1e-2, Thresholds(64), 400), 64),
        (lambda: dpfast.DPWinnowClassifier(epsilon=30.0, n_updates=4, window=True), 0),
    ],
    ids=["teachers", "a window"],
)
def test_a_stream_is_not_accused_for_its_calls(make, points):
    """Counts after the test that fired are not looked at, and teachers do not depend on the number of mistakes."""
    largest = 0.0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, points, 400) if points else rng.choice([-1.0, 1.0, 0.0], (400, 4))
        y, at = rng.integers(0, 2, 400), int(rng.integers(400))
        other = y.copy()
        other[at] = 1 - y[at]
        for cuts in ((0, 150, 400), (0, 400)):
            found = replay(make(), (X, y), (X, other), fit=stream_by(*cuts), seed=seed)
            assert found.holds, found
            largest = max(largest, found.ratio)
    assert largest == pytest.approx(1)


def test_a_mistake_more_moves_one_part_of_those_that_are_split_at_random():
    """The other mistakes keep their places, as in the proof; by their numbers, the ratio was up to 8."""
    learner = StagedOnlineLittlestoneLearner(8.0, 1e-2, Thresholds(16), 3000, scale=1e-6)
    for seed in (0, 2, 6, 7):
        rng = np.random.default_rng(seed)
        X, at = rng.integers(0, 16, 3000), int(rng.integers(3000))
        y = (X >= 5) ^ (rng.random(3000) < 0.3)
        other = y.copy()
        other[at] ^= True
        found = replay(learner, (X, y), (X, other), fit=lambda model, X, y: model.partial_fit(X, y), seed=seed)
        assert found.holds, found
        assert len(found.ratios) > 2


def test_names_keep_their_places_in_a_replay_and_new_ones_get_free_places():
    def fit(model, names):
        model.places_.append(draw_places(names, 5, np.random.default_rng(3)).tolist())
        discrete_laplace(0, 1, rng=1)

    class Places:
        epsilon, places_ = 1.0, []

        def __deepcopy__(self, memo):
            return self

    replay(Places(), ([7, 8, 9],), ([6, 8, 9, 7],), fit=fit)
    one, other = Places.places_
    assert other[1:] == [one[1], one[2], one[0]]
    assert len({*other}) == 4
    Places.places_.clear()
    replay(Places(), (range(7),), (range(1, 8),), fit=fit)  # two have no places, then another one
    one, other = Places.places_
    assert other[:4] == one[1:]
    assert other[4] == one[0]


def test_a_stream_that_counts_a_row_twice_is_still_found(monkeypatch):
    def follow(model, X, y):
        model.partial_fit(X, y)

    learner, plain = OnlineLittlestoneLearner(200.0, 1e-2, Thresholds(64), 400), AboveThreshold.run
    X, y = np.random.default_rng(0).integers(0, 64, (2, 400)) % [[64], [2]]
    other = np.append(1 - y[:1], y[1:])
    assert replay(learner, (X, y), (X, other), fit=follow).ratio == pytest.approx(1)
    monkeypatch.setattr(AboveThreshold, "run", lambda self, n, at=(): plain(self, n, np.repeat(at, 2)))
    assert replay(learner, (X, y), (X, other), fit=follow).ratio == pytest.approx(2)


# ---- how it is asked -------------------------------------------------------------------------------------------------


def test_the_parts_of_questions_add_up_in_squares():
    def fit(model, y):
        for size in (3, 4):
            discrete_gaussian(size * y.sum(), model.sigma, rng=1)

    class Sums:
        epsilon, delta, sigma = 1.0, 1e-6, 60.0

    found = replay(Sums(), (Y,), (OTHER,), fit=fit)
    assert [ratio for _, ratio in found.ratios] == pytest.approx([found.ratio * 0.6, found.ratio * 0.8])
    Sums.sigma = 30.0
    assert replay(Sums(), (Y,), (OTHER,), fit=fit).ratio == pytest.approx(2 * found.ratio, rel=1e-3)


def test_the_estimator_and_its_budget_are_left_alone():
    budget, rng = Budget(1.0), np.random.default_rng(3)
    before = rng.bit_generator.state
    model = dpfast.DecisionListClassifier(delta=0, budget=budget, random_state=rng)
    assert replay(model, (X, Y), (X, OTHER), classes=[0, 1]).holds
    assert (budget.charges, rng.bit_generator.state) == ((), before)
    assert not model.__sklearn_is_fitted__()


def test_a_learner_without_a_claim_is_refused():
    with pytest.raises(ValueError, match="neither privacy_ after a fit"):
        replay(object(), (X,), (X,), fit=lambda model, X: None)


def test_arguments_come_by_position_by_name_and_alone():
    model = dpfast.LinearMinimizer()
    for one, other in [((X,), (X + 1,)), ({"X": X}, {"X": X + 1}), (X, X + 1)]:
        assert replay(model, one, other).ratio > 0


def test_the_time_of_a_charge_is_no_difference():
    from dpfast.audit.replays import unlike

    one, other = ({"time": f"2026-11-28 02:{minute} UTC", "rows": 3} for minute in (17, 18))
    assert not [*unlike(one, other, "")]
    assert [*unlike(one, other | {"rows": 4}, "")]
