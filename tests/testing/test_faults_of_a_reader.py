"""`check_private_estimator` finds faults that a reader of the guide planted without a look at its code."""

import contextvars
import os
import subprocess
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from sound_learners import Counts, Shares, SharesLearner, class_counts, histogram

import dpfast
from dpfast.base import (
    CLIP_STEPS,
    ExponentialDraw,
    FloatArray,
    GaussianSum,
    IntArray,
    Model,
    Numbers,
    Plan,
    PrivateClassifier,
    UnitRows,
    count,
    estimator,
    parameter,
    sqrt_up,
)
from dpfast.testing import checks


@estimator
class Sound(SharesLearner):
    spares_unlabelled = True


def centred(piece, n_classes):
    return n_classes * np.bincount(piece.labels, minlength=n_classes) - 5 * len(piece.labels)


@estimator
class SparesWrongly(Sound):
    """Subtracts rows without a label from all classes, and says that it spares them."""

    def plan(self, task):
        # a replaced row: the second term stays; an added row would move by far more
        k = task.n_classes
        moves = sqrt_up(2) * k if task.changed_rows == 2 else sqrt_up((k - 5) ** 2 + 25 * (k - 1))
        return Plan(counts=GaussianSum(moves, size=k))

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(centred, rows.n_classes)))


@estimator
class FewColumns(PrivateClassifier):
    """Plans for two columns."""

    def plan(self, task):
        return Plan(
            h=GaussianSum(sqrt_up(task.changed_rows * min(task.n_columns, 2)), size=task.n_codes * task.n_classes)
        )

    def learn(self, rows, plan, run) -> Counts:
        return Counts(run.release("h", rows.sum(histogram, rows.n_classes)), rows.sizes)


@estimator
class NothingLearnedByRows(Sound):
    """Learns nothing if a class is empty."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        noisy = run.release("counts", exact)
        if exact.min() == 0:
            raise dpfast.NothingLearned("a class is empty")
        return Shares(noisy)


@estimator
class Environment(Sound):
    """Leaves exact counts in the environment."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        os.environ["LAST_COUNTS"] = str(exact.tolist())
        return Shares(run.release("counts", exact))


@estimator
class GlobalSeed(Sound):
    """Seeds the generator of numpy by an exact count."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        np.random.seed(int(exact[0]))  # noqa: NPY002 - the fault
        return Shares(run.release("counts", exact))


_LOCAL = threading.local()


@estimator
class ThreadLocal(Sound):
    """Keeps exact counts in a variable of the thread."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        _LOCAL.counts = exact.tolist()
        return Shares(run.release("counts", exact))


@estimator
class SignOfExact(Sound):
    """Looks at exact counts after the release."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        noisy = run.release("counts", exact)
        return Shares(noisy if exact[0] >= exact[1] else noisy + 1)


def gradient(piece, w):
    X = piece.rows.toarray()
    return (2.0 * piece.labels - 1)[:, None] * X


@dataclass(frozen=True)
class Lin(Model):
    w: FloatArray

    def scores(self, rows):
        return np.asarray(rows @ self.w, float)


@estimator
class ClipForgetsReplacement(PrivateClassifier):
    """Plans for one clipped gradient where two change."""

    reads = Numbers(several_classes=False)
    n_rounds: int = parameter(5, count(1, 1000))

    def plan(self, task):
        return Plan(r=GaussianSum(CLIP_STEPS, size=task.n_columns, times=self.n_rounds))

    def learn(self, rows, plan, run) -> Lin:
        w = np.zeros(rows.n_columns)
        for _ in run.rounds("r"):
            w = w + run.release("r", rows.clipped_sum(gradient, 1.0, w)) / CLIP_STEPS
            run.model = Lin(w)
        return Lin(w)


@dataclass(frozen=True)
class LinU(Model):
    w: FloatArray

    def scores(self, rows):
        return rows.margins(self.w / max(np.linalg.norm(self.w), 1e-300)).astype(float)


def boosted(piece, w):
    signs = 2 * piece.labels.astype(np.int32) - 1
    m = piece.rows.margins(w) * signs
    return piece.rows.weighted_sum((np.where(m <= 0, 1, 0) + np.where(m < -0.5, 1, 0)).astype(np.int32) * signs)


@estimator
class WeightTwo(PrivateClassifier):
    """Gives rows that are far on the wrong side twice the weight."""

    reads = UnitRows(several_classes=False)
    n_rounds: int = parameter(30, count(1, 1000))

    def plan(self, task):
        return Plan(r=GaussianSum(task.changed_rows * task.reach, size=task.n_columns, times=self.n_rounds))

    def learn(self, rows, plan, run) -> LinU:
        w = np.zeros(rows.n_columns)
        for _ in run.rounds("r"):
            w = w + run.release("r", rows.sum(boosted, w)) / rows.reach
            run.model = LinU(w)
        return LinU(w)


def even(piece, n_classes):
    return np.bincount(piece.labels[::2], minlength=n_classes)


@estimator
class EvenPositions(Sound):
    """Counts every second row."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(even, rows.n_classes)))


@estimator
class ExactWhenInterrupted(PrivateClassifier):
    """Has exact counts as its model between two releases."""

    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes, times=3))

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        total = 0
        for i in run.rounds("counts"):
            total = total + run.release("counts", exact)
            run.model = Shares(np.asarray(total if i != 1 else exact))
        return Shares(np.asarray(total))


@estimator
class OnTheFrozenModel(Sound):
    """Hides exact counts on its model."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        model = Shares(run.release("counts", exact))
        object.__setattr__(model, "_exact", exact)
        return model


@estimator
class InAParameter(Sound):
    """Keeps an exact count in a parameter."""

    start: int = parameter(1, count(1, 10**9))

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        self.start = int(exact[0]) + 1
        return Shares(run.release("counts", exact))


@dataclass(frozen=True)
class One(Model):
    which: int
    n_classes: int

    def classify(self, rows):
        return np.full(len(rows), self.which)


@estimator
class WidthOfOne(PrivateClassifier):
    """Plans a draw by counts as if a row were never replaced."""

    def plan(self, task):
        return Plan(top=ExponentialDraw(1, size=task.n_classes))

    def learn(self, rows, plan, run) -> One:
        return One(int(run.select("top", rows.sum(class_counts, rows.n_classes))), rows.n_classes)


def code_sums(piece, n_classes):
    out = [np.bincount(piece.labels, weights=c.astype(float), minlength=n_classes) for c in piece.rows.codes.columns]
    return np.rint(np.array(out)).astype(np.int64)


@dataclass(frozen=True)
class Sums(Model):
    sums: IntArray

    def log_odds(self, rows):
        return np.tile(np.log(np.maximum(self.sums.sum(axis=0), 1)), (len(rows), 1))


@estimator
class SumOfCodes(PrivateClassifier):
    """Sums codes as if they were bits."""

    def plan(self, task):
        return Plan(s=GaussianSum(sqrt_up(task.changed_rows * task.n_columns), size=task.n_columns * task.n_classes))

    def learn(self, rows, plan, run) -> Sums:
        return Sums(run.release("s", rows.sum(code_sums, rows.n_classes)))


@dataclass(frozen=True)
class Batch(Counts):
    def log_odds(self, rows):
        odds = super().log_odds(rows)
        return odds - odds.mean(axis=0)


@estimator
class BatchPredict(PrivateClassifier):
    """Centres its scores on the mean of the rows that are asked."""

    def plan(self, task):
        return Plan(h=GaussianSum(sqrt_up(task.changed_rows * task.n_columns), size=task.n_codes * task.n_classes))

    def learn(self, rows, plan, run) -> Batch:
        return Batch(run.release("h", rows.sum(histogram, rows.n_classes)), rows.sizes)


@estimator
class PlanChangesParameter(PrivateClassifier):
    """Has one round fewer after each fit."""

    n_rounds: int = parameter(30, count(1, 1000))

    def plan(self, task):
        self.n_rounds = max(self.n_rounds - 1, 1)
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes, times=self.n_rounds))

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        total = 0
        for _ in run.rounds("counts"):
            total = total + run.release("counts", exact)
            run.model = Shares(np.asarray(total))
        return run.model


def pairs(piece, n_classes):
    cols = piece.rows.codes.columns
    sizes = piece.rows.sizes
    out = []
    for i in range(len(cols)):
        for j in range(i):
            cell = (cols[i].astype(np.int64) * sizes[j] + cols[j]) * n_classes + piece.labels
            out.append(np.bincount(cell, minlength=sizes[i] * sizes[j] * n_classes))
    return np.concatenate(out) if out else np.zeros(0, np.int64)


@dataclass(frozen=True)
class PairCounts(Model):
    counts: IntArray
    n_classes: int

    def log_odds(self, rows):
        c = self.counts.reshape(-1, self.n_classes).sum(axis=0) if self.counts.size else np.ones(self.n_classes)
        return np.tile(np.log(np.maximum(c, 1)), (len(rows), 1))


@estimator
class PairsOfColumns(PrivateClassifier):
    """Takes it that a row is in one pair for each column."""

    def plan(self, task):
        s = task.sizes
        size = sum(s[i] * s[j] for i in range(len(s)) for j in range(i)) * task.n_classes
        return Plan(p=GaussianSum(sqrt_up(task.changed_rows * task.n_columns), size=max(size, 1)))

    def learn(self, rows, plan, run) -> PairCounts:
        return PairCounts(run.release("p", rows.sum(pairs, rows.n_classes)), rows.n_classes)


def small_integers(piece, n_classes):
    return np.bincount(piece.labels, minlength=n_classes).astype(np.int8)


@estimator
class WrapsAt128(Sound):
    """Counts in integers of 8 bits."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(small_integers, rows.n_classes)))


def zeros_thrice(piece, n_classes):
    zero = np.all([c == 0 for c in piece.rows.codes.columns], axis=0)
    return np.bincount(piece.labels, minlength=n_classes) + 2 * np.bincount(piece.labels[zero], minlength=n_classes)


@estimator
class ZerosThrice(Sound):
    """Counts rows of zeros three times."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(zeros_thrice, rows.n_classes)))


@estimator
class NotDetermined(Sound):
    """Draws from a generator of its own."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(
            run.release("counts", rows.sum(class_counts, rows.n_classes)) + np.random.default_rng().integers(2**40)
        )


@estimator
class ReusesNoise(Sound):
    """Swaps the noise of two counts."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        noise = run.release("counts", exact) - exact
        return Shares(
            np.concatenate([exact[:1] + noise[1:2], exact[1:] + noise[:1]]) if len(exact) == 2 else exact + noise
        )


_CTX = contextvars.ContextVar("counts")


@estimator
class ContextVariable(Sound):
    """Keeps exact counts in a context variable."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        _CTX.set(exact.tolist())
        return Shares(run.release("counts", exact))


def scaled(piece, n_classes):
    X = piece.rows.toarray()
    top = np.abs(X).max() if X.size else 1.0
    return np.bincount(piece.labels, weights=(np.abs(X).sum(axis=1) <= top), minlength=n_classes).astype(np.int64)


@dataclass(frozen=True)
class SharesN(Model):
    counts: IntArray

    def log_odds(self, rows):
        return np.tile(np.log(np.maximum(self.counts, 1)), (rows.shape[0], 1))


@estimator
class LargestOfAPiece(PrivateClassifier):
    """Scales rows by the largest one of a piece."""

    reads = Numbers()

    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes))

    def learn(self, rows, plan, run) -> SharesN:
        return SharesN(run.release("counts", rows.sum(scaled, rows.n_classes)))


@estimator
class TellsAProcess(Sound):
    """Passes exact counts to a program."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        subprocess.run(["true", str(exact.tolist())])
        return Shares(run.release("counts", exact))


@estimator
class NameOfAThread(Sound):
    """Names its thread after an exact count."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        threading.current_thread().name = f"after {int(exact[0])}"
        return Shares(run.release("counts", exact))


def sums(piece, _):
    signs = (2 * piece.labels.astype(np.int32) - 1).astype(np.int32)
    return piece.rows.weighted_sum(signs)


@estimator
class UnitRowsOnce(PrivateClassifier):
    """Takes it that a row and the one in its place are orthogonal."""

    reads = UnitRows(several_classes=False)

    def plan(self, task):
        return Plan(r=GaussianSum(sqrt_up(task.changed_rows) * task.reach, size=task.n_columns))

    def learn(self, rows, plan, run) -> LinU:
        return LinU(run.release("r", rows.sum(sums, 0)) / rows.reach)


FAULTS = {
    SparesWrongly: ("replays", "a label less"),
    FewColumns: ("replays", "moved by at most"),
    NothingLearnedByRows: ("replays", "refused after it charged"),
    Environment: ("replays", "os.environ|os.putenv"),
    GlobalSeed: ("replays", "np.random.get_state"),
    ThreadLocal: ("replays", "_LOCAL"),
    SignOfExact: ("replays", "counts_ differs"),
    ClipForgetsReplacement: ("replays", "moved by at most 2"),
    WeightTwo: ("replays", "moved by at most"),
    EvenPositions: ("sums", "even is"),
    ExactWhenInterrupted: ("interruptions", "after answer"),
    OnTheFrozenModel: ("replays", "_exact"),
    InAParameter: ("names", "a fit changed its parameters: start"),
    WidthOfOne: ("replays", "moved by at most 2"),
    SumOfCodes: ("replays", "moved by at most"),
    BatchPredict: ("classes", "decision_function gives a row another answer beside other rows"),
    PlanChangesParameter: ("names", "a fit changed its parameters: n_rounds"),
    PairsOfColumns: ("replays", "40 columns.* moved by at most 4.42"),
    WrapsAt128: ("sums", "many rows"),
    ZerosThrice: ("replays", "moved by at most"),
    NotDetermined: ("determinism", "two fits with one seed"),
    ReusesNoise: ("replays", "counts_"),
    ContextVariable: ("replays", "the context variable counts"),
    LargestOfAPiece: ("replays", "opposite rows"),
    TellsAProcess: ("replays", "subprocess.Popen"),
    NameOfAThread: ("replays", "the name of the thread"),
    UnitRowsOnce: ("replays", "moved by at most"),
}


@pytest.mark.parametrize("learner", FAULTS, ids=lambda each: each.__name__)
def test_a_planted_fault_is_found_by_its_check(learner, monkeypatch):
    monkeypatch.setenv("LAST_COUNTS", "")
    monkeypatch.setattr(threading.current_thread(), "name", "test")
    check, message = FAULTS[learner]
    with pytest.raises(AssertionError, match=message):
        getattr(checks, f"check_{check}")(learner())
