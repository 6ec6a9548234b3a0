"""Sums of clipped gradients: how far one row moves them, and a learner that releases them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpfast.audit import replay
from dpfast.base import CLIP_STEPS, FloatArray, GaussianSum, Model, Plan, PrivateClassifier, UnitRows, estimator
from dpfast.base.clipping import clipped
from dpfast.kernels import reals
from dpfast.testing import check_private_estimator

anything = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.floats(width=64))


@given(anything, st.floats(1e-300, 1e300))
def test_no_row_is_longer_than_the_steps_exactly(rows, norm):
    for row in clipped(rows, norm).tolist():
        assert sum(entry**2 for entry in row) <= CLIP_STEPS**2


@given(anything, st.floats(1e-3, 1e3), st.randoms())
def test_the_image_of_a_row_depends_on_that_row_alone(rows, norm, random):
    whole = clipped(rows, norm)
    order = random.sample(range(len(rows)), len(rows))
    assert (clipped(rows[order], norm) == whole[order]).all()
    assert (np.concatenate([clipped(rows[k : k + 1], norm) for k in range(len(rows))]) == whole).all()
    assert (clipped(np.asfortranarray(rows), norm) == whole).all()


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6))
def test_rows_within_the_norm_are_rounded_towards_zero_only(row):
    (whole,) = clipped(np.array([row]), 3.0)
    for entry, exact in zip(whole.tolist(), row, strict=True):
        step = Fraction(3, CLIP_STEPS)
        assert abs(entry * step) <= abs(Fraction(exact))
        assert abs(entry * step - Fraction(exact)) <= step * (1 + Fraction(1, 2**18))


def test_long_rows_keep_their_direction_and_get_the_norm():
    (whole,) = clipped(np.array([[3e200, 4e200]]), 1.0)
    assert np.allclose(whole / CLIP_STEPS, [0.6, 0.8], atol=2e-6)


def test_entries_may_have_any_shape_and_those_that_are_not_finite_are_zeros():
    values = np.ones((3, 2, 2))
    values[1, 0, 1] = np.nan
    whole = clipped(values, 1.0)
    assert whole.shape == (3, 2, 2)
    assert not whole[1].any()
    assert abs(whole[0] / CLIP_STEPS - 0.5).max() < 1e-5
    assert clipped(np.empty((0, 3)), 1.0).shape == (0, 3)


# ---- a learner ------------------------------------------------------------------------------------------------------


def softmax_gradient(piece, w):
    """Gradients of the multinomial logistic loss by the intercepts of the classes: shape (n, n_classes)."""
    scores = np.stack([piece.rows.margins(column) for column in w.T], axis=1).astype(np.float64) * 20
    chances = reals.exp(scores - scores.max(axis=1, keepdims=True))
    return (piece.labels[:, np.newaxis] == np.arange(w.shape[1])) - chances / chances.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Softmax(Model):
    bias: FloatArray

    def scores(self, rows):
        return np.tile(self.bias, (rows.shape[0], 1))


@estimator
class SoftmaxBias(PrivateClassifier):
    """Learns the intercepts of a softmax by noisy gradients, each clipped to norm 1/2."""

    reads = UnitRows()

    def plan(self, task):
        return Plan(rounds=GaussianSum(task.changed_rows * CLIP_STEPS, size=task.n_classes, times=3))

    def learn(self, rows, plan, run) -> Softmax:
        bias = np.zeros(rows.n_classes)
        for _ in run.rounds("rounds"):
            w = np.zeros((rows.n_columns, rows.n_classes))
            w[-1] = bias / max(np.abs(bias).max(), 1)
            bias = bias + run.release("rounds", rows.clipped_sum(softmax_gradient, 0.5, w)) * (0.5 / CLIP_STEPS)
            run.model = Softmax(bias)
        return run.model


@estimator
class ClippedTooLate(SoftmaxBias):
    """Plans for a tenth of the norm."""

    def plan(self, task):
        return Plan(rounds=GaussianSum(task.changed_rows * CLIP_STEPS / 10, size=task.n_classes, times=3))


def test_a_learner_of_clipped_gradients_passes_the_check():
    check_private_estimator(SoftmaxBias())
    with pytest.raises(AssertionError, match="of what its plan states"):
        check_private_estimator(ClippedTooLate())


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_row_uses_all_of_the_norm_and_no_more(relation):
    X, y = np.eye(4)[np.arange(24) % 4], np.arange(24) % 3
    other = (X[:-1], y[:-1]) if relation == "add-remove" else (X, np.append(y[:-1], 0))
    found = replay(SoftmaxBias(neighbors=relation), (X, y), other, classes=[0, 1, 2])
    assert found.holds
    assert found.planned > 0.8


@pytest.mark.parametrize("norm", [0, -1.0, np.nan, np.inf, "1", None])
def test_a_norm_is_a_number_above_0(norm):
    class Asks(SoftmaxBias):
        def learn(self, rows, plan, run):
            rows.clipped_sum(softmax_gradient, norm, np.zeros((rows.n_columns, 2)))

    with pytest.raises(ValueError, match="norm must be a finite number > 0"):
        Asks().fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])


def one_for_all(piece):
    return np.zeros(3)


def test_a_gradient_without_an_entry_for_each_row_is_refused():
    class Asks(SoftmaxBias):
        def learn(self, rows, plan, run):
            rows.clipped_sum(one_for_all, 1.0)

    with pytest.raises(ValueError, match="an entry for each of 4 rows, got shape"):
        Asks().fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])
