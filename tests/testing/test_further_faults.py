"""`check_private_estimator` finds further faults, which were planted without a look at its code."""

import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sound_learners import Counts, Shares, SharesLearner, class_counts, histogram

from dpfast import LinearLearner
from dpfast.base import (
    Bits,
    FloatArray,
    GaussianSum,
    IntArray,
    LaplaceSum,
    Model,
    Numbers,
    Plan,
    PrivateClassifier,
    UnitRows,
    count,
    estimator,
    flag,
    parameter,
    sqrt_up,
)
from dpfast.testing import check_private_estimator, checks


def ones(piece):
    return piece.rows.toarray().sum(axis=0).astype(np.int64)


@estimator
class RoundsTheExactCount(SharesLearner):
    """Notes the exact number of rows of a class, rounded."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        run.note(f"about {exact[0] // 4 * 4} rows are of the first class")
        return Shares(run.release("counts", exact))


@estimator
class ChoosesANameByRows(SharesLearner):
    """Releases the larger half first."""

    def plan(self, task):
        moves = sqrt_up(task.changed_rows)
        return Plan(first=GaussianSum(moves, size=task.n_classes), second=GaussianSum(moves, size=task.n_classes))

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        order = ("first", "second") if exact[0] >= exact[1] else ("second", "first")
        run.model = Shares(run.release(order[0], exact))
        run.release(order[1], exact)
        return run.model


@estimator
class DropsEmptyClasses(SharesLearner):
    """Adds noise only to classes that have rows."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        counts = np.zeros(rows.n_classes, np.int64)
        counts[exact > 0] = run.release("counts", exact[exact > 0])
        return Shares(counts)


@estimator
class ForgetsColumns(PrivateClassifier):
    """Counts the ones of each column; a row has several."""

    reads = Bits()

    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_columns))

    def learn(self, rows, plan, run) -> "Columns":
        return Columns(run.release("counts", rows.sum(ones)), rows.n_classes)


@dataclass(frozen=True)
class Columns(Model):
    counts: IntArray
    n_classes: int

    def scores(self, rows):
        return np.zeros((len(rows), self.n_classes))


@estimator
class LaplaceByTheRoot(SharesLearner):
    """Takes the Euclidean norm for the sum of absolute changes."""

    def plan(self, task):
        return Plan(counts=LaplaceSum(sqrt_up(task.changed_rows), size=task.n_classes))


@estimator
class DividesByAnExactSize(PrivateClassifier):
    """Divides a sum by the exact size of a class."""

    reads = UnitRows(several_classes=False)

    def plan(self, task):
        return Plan(sums=GaussianSum(task.changed_rows * task.reach, size=task.n_columns))

    def learn(self, rows, plan, run) -> "Weights":
        exact = rows.sum(signed)
        n = rows.sum(class_counts, 2)
        return Weights(run.release("sums", exact // max(1, int(n.min()))).astype(float) / rows.reach)


def signed(piece):
    return piece.rows.weighted_sum(2 * piece.labels.astype(np.int32) - 1) * 5


@dataclass(frozen=True)
class Weights(Model):
    w: FloatArray

    def scores(self, rows):
        return rows.margins(self.w / max(np.linalg.norm(self.w), 1e-300)).astype(float)


class Registry:
    live: list = []  # noqa: RUF012


@estimator
class InAClassOfTheModule(SharesLearner):
    """Appends exact counts to a list on another class."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        Registry.live.append(exact)
        del Registry.live[:-1]
        return Shares(run.release("counts", exact))


@estimator
class InADefault(SharesLearner):
    """Keeps exact counts in the default of an argument."""

    def learn(self, rows, plan, run, seen=[None]) -> Shares:  # noqa: B006
        seen[0] = rows.sum(class_counts, rows.n_classes)
        return Shares(run.release("counts", seen[0]))


@estimator
class WarnsOfSmallClasses(SharesLearner):
    """Warns if the classes have as many rows each."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        if 2 * exact.min() == exact.sum():
            warnings.warn("the classes are balanced", stacklevel=2)
        return Shares(run.release("counts", exact))


@estimator
class LateWeight(PrivateClassifier):
    """Counts wrong rows, and in the tenth round and later each of them twice."""

    reads = UnitRows(several_classes=False)
    n_rounds: int = parameter(30, count(1, 1000))

    def plan(self, task):
        return Plan(rounds=GaussianSum(task.changed_rows * task.reach, size=task.n_columns, times=self.n_rounds))

    def learn(self, rows, plan, run) -> Weights:
        w = np.zeros(rows.n_columns)
        for k in run.rounds("rounds"):
            exact = rows.sum(wrong, w, 1 + (k >= 10))
            w = w + run.release("rounds", exact) / rows.reach
            run.model = Weights(w)
        return Weights(w)


def wrong(piece, w, weight):
    signs = 2 * piece.labels.astype(np.int32) - 1
    missed = piece.rows.margins(w) * signs <= 0
    return piece.rows.weighted_sum(np.where(missed, weight * signs, 0).astype(np.int32))


def twice_in_four(piece, n_classes):
    return class_counts(piece, n_classes) * (1 + (n_classes > 3))


@estimator
class ManyClassesTwice(SharesLearner):
    """Counts rows twice if there are four classes or more."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(twice_in_four, rows.n_classes)))


@estimator
class OnAClassOfTheLibrary(SharesLearner):
    """Keeps an exact count on the base of all models."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        Model.last = int(exact[0])
        return Shares(run.release("counts", exact))


@estimator
class InASettingOfTheProcess(SharesLearner):
    """Tells an exact count by the limit of recursion."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        sys.setrecursionlimit(LIMIT + int(exact[0]))
        return Shares(run.release("counts", exact))


LIMIT = sys.getrecursionlimit()


@estimator
class RoundsByMajority(SharesLearner):
    """Makes fewer rounds if three rows in five are of one class."""

    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes, times=4))

    def learn(self, rows, plan, run) -> Shares:
        exact, total = rows.sum(class_counts, rows.n_classes), np.zeros(rows.n_classes, np.int64)
        for _ in range(2 if exact.max() > 0.6 * exact.sum() else 4):
            total = total + run.release("counts", exact)
            run.model = Shares(total)
        return run.model


@estimator
class NothingOfSmallClasses(SharesLearner):
    """Adds noise to zeros if a class has fewer than three rows."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        return Shares(run.release("counts", exact * (exact.min() >= 3)))


@estimator
class WarnsOfFewRows(SharesLearner):
    """Warns if a class has fewer than five rows."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        if exact.min() < 5:
            warnings.warn("a class has fewer than five rows", stacklevel=2)
        return Shares(run.release("counts", exact))


@estimator
class ForEightColumns(SharesLearner):
    """Plans for eight columns, however many there are."""

    def plan(self, task):
        moves = sqrt_up(task.changed_rows * min(task.n_columns, 8))
        return Plan(counts=GaussianSum(moves, size=task.n_codes * task.n_classes))

    def learn(self, rows, plan, run) -> Counts:
        return Counts(run.release("counts", rows.sum(histogram, rows.n_classes)), rows.sizes)


@estimator
class ExactOnDemand(SharesLearner):
    """Releases exact counts where a parameter asks for them."""

    debug: bool = parameter(False, flag())

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        noisy = run.release("counts", exact)
        return Shares(exact if self.debug else noisy)


@estimator
class PrintsIfVerbose(SharesLearner):
    """Prints exact counts while it shows its progress."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        if self.verbose:
            print(exact)
        return Shares(run.release("counts", exact))


@estimator
class KeepsAView(SharesLearner):
    """Keeps a noisy part of an array of which another part is exact."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        self._counts = np.stack([exact, run.release("counts", exact)])[1]
        return Shares(self._counts)


FURTHER = [
    RoundsTheExactCount,
    ChoosesANameByRows,
    DropsEmptyClasses,
    ForgetsColumns,
    LaplaceByTheRoot,
    DividesByAnExactSize,
    InAClassOfTheModule,
    InADefault,
    WarnsOfSmallClasses,
    LateWeight,
    ManyClassesTwice,
    OnAClassOfTheLibrary,
    InASettingOfTheProcess,
    RoundsByMajority,
    NothingOfSmallClasses,
    WarnsOfFewRows,
    ForEightColumns,
    ExactOnDemand,
    PrintsIfVerbose,
    KeepsAView,
]


@pytest.mark.parametrize("learner", FURTHER, ids=lambda each: each.__name__)
def test_a_further_fault_is_found(learner, monkeypatch):
    monkeypatch.setattr(Model, "last", None, raising=False)
    with pytest.raises(AssertionError, match="replay"):
        check_private_estimator(learner())
    sys.setrecursionlimit(LIMIT)


@dataclass(frozen=True)
class CentredTogether(Shares):
    """Subtracts the median of many scores."""

    def log_odds(self, rows):
        odds = super().log_odds(rows) + np.asarray(rows.codes.columns[0])[:, np.newaxis]
        return odds - (np.median(odds, axis=0) if len(rows) > 50 else 0)


@estimator
class CentresScores(SharesLearner):
    """Predicts a row by the others of a large table."""

    def learn(self, rows, plan, run) -> CentredTogether:
        return CentredTogether(run.release("counts", rows.sum(class_counts, rows.n_classes)))


def test_a_score_that_depends_on_other_rows_of_a_large_table_is_found():
    with pytest.raises(AssertionError, match="another answer beside other rows"):
        checks.check_classes(CentresScores())


def test_a_sparse_matrix_gets_the_answers_of_an_array_whatever_the_seed(monkeypatch):
    for seed in (6, 7, 8):  # experts draw the same from other words of a generator
        monkeypatch.setattr(checks, "_SEED", seed)
        checks.check_sources(LinearLearner())


@estimator
class DoublesSparseRows(SharesLearner):
    """Counts rows of a sparse matrix twice."""

    reads = Numbers()

    def plan(self, task):
        return Plan(counts=GaussianSum(2 * sqrt_up(task.changed_rows), size=task.n_classes))

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(twice_if_sparse, rows.n_classes)))


def twice_if_sparse(piece, n_classes):
    return class_counts(piece, n_classes) * (2 if sp.issparse(piece.rows) or hasattr(piece.rows, "indptr") else 1)


def test_a_sum_that_is_another_for_a_sparse_matrix_is_found():
    with pytest.raises(AssertionError, match="an array and a sparse matrix"):
        checks.check_sources(DoublesSparseRows())


def test_the_arrays_of_a_model_are_its_own():
    whole = np.arange(6).reshape(2, 3)
    assert Shares(whole[1]).counts.base is None
