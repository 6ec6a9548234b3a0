"""`check_private_estimator` finds faults that hide beside right releases, on rare tables, or outside the model."""

import functools
import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sound_learners import Shares, SharesLearner, class_counts

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
from dpfast.kernels import reals
from dpfast.testing import check_private_estimator, checks


@estimator
class SoundShares(SharesLearner):
    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        return self.keep(exact, Shares(run.release("counts", exact)))

    def keep(self, exact, model):
        return model


@dataclass(frozen=True)
class WithTop(Shares):
    top: int


@estimator
class RawArgmax(SoundShares):
    """Publishes the largest class without noise."""

    def learn(self, rows, plan, run) -> WithTop:
        exact = rows.sum(class_counts, rows.n_classes)
        return WithTop(run.release("counts", exact), int(exact.argmax()))


def votes(piece, n_classes):
    counts = class_counts(piece, n_classes)
    return (counts == counts.max()).astype(int)


@estimator
class StatisticOfAPiece(SoundShares):
    """Asks each piece for its largest class."""

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(votes, rows.n_classes)))


@estimator
class ThirdClassTwice(SoundShares):
    """Counts rows of the third class twice."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        exact[2:] *= 2
        return Shares(run.release("counts", exact))


class Box:
    __slots__ = ("content",)


@estimator
class InAPrivateObject(SoundShares):
    """Keeps exact counts in an object of its own."""

    def keep(self, exact, model):
        self._box = Box()
        self._box.content = exact
        return model


@estimator
class InAClosure(SoundShares):
    """Keeps exact counts in a function."""

    def keep(self, exact, model):
        self._later = lambda: exact
        return model


@estimator
class InThePickle(SoundShares):
    """Hides exact counts in its pickles."""

    def keep(self, exact, model):
        object.__setattr__(model, "_exact", exact.tobytes())
        return model


KEPT: dict[str, object] = {}


@estimator
class InTheModule(SoundShares):
    """Keeps exact counts in a variable of the module."""

    def keep(self, exact, model):
        KEPT["counts"] = exact
        return model


@functools.lru_cache
def share_of(first, second):
    return first / max(first + second, 1)


@estimator
class InACache(SoundShares):
    """Calls a function that remembers its arguments."""

    def keep(self, exact, model):
        share_of(*exact[:2].tolist())
        return model


@estimator
class OnTheClass(SoundShares):
    """Keeps exact counts on its class."""

    def keep(self, exact, model):
        type(self).seen = exact
        return model


@estimator
class HalfTheWidth(SoundShares):
    """Plans twenty draws with half their width, and makes one."""

    def plan(self, task):
        return Plan(best=ExponentialDraw(task.changed_rows / 2, size=task.n_classes, times=20))

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        return Shares(np.eye(rows.n_classes, dtype=int)[run.select("best", exact)])


@estimator
class WritesBelowPython(SoundShares):
    """Writes an exact number to the standard output of the process."""

    def keep(self, exact, model):
        sys.__stdout__.write(f"{exact[0]} rows\n")
        return model


@estimator
class WritesToTheDescriptor(SoundShares):
    """Writes an exact number to file descriptor 2."""

    def keep(self, exact, model):
        os.write(2, b"largest: %d\n" % exact.argmax())
        return model


@estimator
class Logs(SoundShares):
    """Logs an exact number where nobody listens."""

    def keep(self, exact, model):
        logging.getLogger("planted").debug("%d rows", exact[0])
        return model


@estimator
class WritesAFile(SoundShares):
    """Leaves exact counts in a folder of the system."""

    def keep(self, exact, model):
        (Path(tempfile.gettempdir()) / "planted_counts").write_bytes(exact.tobytes())
        return model


def sums_by_class(piece, n_classes):
    return np.stack([piece.rows.weighted_sum((piece.labels == k).astype(np.int32)) for k in range(n_classes)])


@dataclass(frozen=True)
class Centres(Model):
    sums: IntArray

    def scores(self, rows):
        return np.stack([rows.margins(each / max(np.linalg.norm(each), 1e-300)) for each in self.sums], axis=1)


@estimator
class CentroidsWithTheRoot(PrivateClassifier):
    """Takes it that a replaced row changes its class."""

    reads = UnitRows()

    def plan(self, task):
        moves = task.reach * sqrt_up(task.changed_rows)
        return Plan(sums=GaussianSum(moves, size=task.n_columns * task.n_classes))

    def learn(self, rows, plan, run) -> Centres:
        return Centres(run.release("sums", rows.sum(sums_by_class, rows.n_classes)))


def mistakes(piece, w):
    signs = 2 * piece.labels.astype(np.int32) - 1
    wrong = piece.rows.margins(w) * signs <= 0
    return np.append(piece.rows.weighted_sum(np.where(wrong, signs, 0).astype(np.int32)), wrong.sum())


@dataclass(frozen=True)
class Linear(Model):
    w: FloatArray

    def scores(self, rows):
        return rows.margins(self.w / max(np.linalg.norm(self.w), 1e-300)).astype(float)


@estimator
class StopsEarly(PrivateClassifier):
    """A perceptron that ends when no row is wrong."""

    reads = UnitRows(several_classes=False)
    n_rounds: int = parameter(30, count(1, 1000))

    def plan(self, task):
        return Plan(rounds=GaussianSum(task.changed_rows * task.reach, size=task.n_columns, times=self.n_rounds))

    def learn(self, rows, plan, run) -> Linear:
        w = np.zeros(rows.n_columns)
        for _ in run.rounds("rounds"):
            exact = rows.sum(mistakes, w)
            if not exact[-1]:
                break
            w = w + run.release("rounds", exact[:-1]) / rows.reach
            run.model = Linear(w)
        return Linear(w)


def gradient(piece, w):
    """Gradient of the logistic loss."""
    chances = reals.expit(4 * piece.rows.margins(w / max(np.linalg.norm(w), 1.0)).astype(float) * np.linalg.norm(w))
    return piece.rows.weighted_sum(np.rint(64 * (piece.labels - chances)).astype(np.int32))


@estimator
class GradientWithTheRoot(StopsEarly):
    """Logistic regression; takes it that gradients of two rows are orthogonal at worst."""

    def plan(self, task):
        moves = 64 * task.reach * sqrt_up(task.changed_rows)
        return Plan(rounds=GaussianSum(moves, size=task.n_columns, times=self.n_rounds))

    def learn(self, rows, plan, run) -> Linear:
        w = np.zeros(rows.n_columns)
        for _ in run.rounds("rounds"):
            w = w + run.release("rounds", rows.sum(gradient, w)) / (64 * rows.reach)
            run.model = Linear(w)
        return Linear(w)


def above(piece, w, t):
    return np.array([(piece.rows.toarray().astype(float) @ w > t).sum()])


@dataclass(frozen=True)
class Count(Model):
    number: IntArray

    def scores(self, rows):
        return np.full(len(rows), float(self.number[0]))


@estimator
class ProductByBlas(PrivateClassifier):
    """Counts the rows above a threshold by a product that depends on how many rows there are."""

    reads = Numbers(several_classes=False)

    def plan(self, task):
        return Plan(number=GaussianSum(task.changed_rows))

    def learn(self, rows, plan, run) -> Count:
        w = np.cos(np.arange(rows.n_columns) * 1.7)
        return Count(run.release("number", rows.sum(above, w, 0.5)))


def above_by_row(piece, w, t):
    return np.array([(piece.rows @ w > t).sum()])


@estimator
class ProductByRow(ProductByBlas):
    """Counts the rows above a threshold."""

    def learn(self, rows, plan, run) -> Count:
        w = np.cos(np.arange(rows.n_columns) * 1.7)
        return Count(run.release("number", rows.sum(above_by_row, w, 0.5)))


def signed_rows(piece):
    return np.where(piece.labels[:, np.newaxis] > 0, 1.0, -1.0) * piece.rows.toarray()


@dataclass(frozen=True)
class Direction(Model):
    w: FloatArray

    def scores(self, rows):
        return rows @ self.w


@estimator
class ClippedMeans(PrivateClassifier):
    """Sums rows of any length, signed by their class, clipped to a norm."""

    reads = Numbers(several_classes=False)
    norm: float = parameter(2.0)

    def plan(self, task):
        return Plan(sums=GaussianSum(task.changed_rows * CLIP_STEPS, size=task.n_columns))

    def learn(self, rows, plan, run) -> Direction:
        return Direction(run.release("sums", rows.clipped_sum(signed_rows, self.norm)) * (self.norm / CLIP_STEPS))


@estimator
class TwiceBeyondAThousand(SoundShares):
    """Counts rows twice in large tables."""

    def learn(self, rows, plan, run) -> Shares:
        exact = rows.sum(class_counts, rows.n_classes)
        return Shares(run.release("counts", exact * (1 + (exact.sum() > 1000))))


FAULTS = {
    RawArgmax: "top",
    ThirdClassTwice: "3 classes",
    InAPrivateObject: "_box.content",
    InAClosure: "_later.closure",
    InThePickle: "_exact",
    InTheModule: "KEPT",
    InACache: "share_of.cache",
    OnTheClass: "seen",
    HalfTheWidth: "a release moved by 2 of what its plan states",
    WritesBelowPython: "standard output",
    WritesToTheDescriptor: "standard error",
    Logs: "logging",
    WritesAFile: "planted_counts",
    CentroidsWithTheRoot: "opposite rows",
    StopsEarly: "question|replay",
    GradientWithTheRoot: "moved by at most",
}
NO_SUMS = {
    StatisticOfAPiece: "sums",
    ProductByBlas: "sums .*: above with other public arguments",
}


@pytest.mark.parametrize("learner", FAULTS, ids=lambda each: each.__name__)
def test_a_hidden_fault_is_found(learner):
    with pytest.raises(AssertionError, match=FAULTS[learner]):
        check_private_estimator(learner())


@pytest.mark.parametrize("learner", NO_SUMS, ids=lambda each: each.__name__)
def test_a_question_whose_answers_do_not_add_up_is_found(learner):
    with pytest.raises(AssertionError, match=NO_SUMS[learner]):
        checks.check_sums(learner())


@pytest.mark.parametrize("learner", [ProductByRow, ClippedMeans], ids=lambda each: each.__name__)
def test_a_sound_learner_passes(learner):
    checked = check_private_estimator(learner())
    assert str(checked).startswith(f"{learner.__name__} passed: ")
    assert "cannot see" in str(checked)


def test_a_fault_of_large_tables_is_found_in_random_ones_whose_seed_it_names():
    with pytest.raises(AssertionError, match=r"thorough, seed=3\)"):
        checks.check_random_tables(TwiceBeyondAThousand(), seed=3)


def test_a_thorough_check_makes_random_tables_last(monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", ())
    monkeypatch.setattr(checks, "check_random_tables", lambda estimator, seed: f"seed {seed}")
    assert check_private_estimator(SoundShares(), thorough=True, seed=3).tried == ("seed 3",)
    assert check_private_estimator(SoundShares()).seed is None
