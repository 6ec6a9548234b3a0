import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law

from dpfast.learners.winnow import scores as score_vector
from dpfast.learners.winnow.scores import DenseScores, TouchedScores, from_arrays
from dpfast.tables.signed_rows import signed_rows


@pytest.fixture
def rows(rng):
    X = sp.csr_array((rng.random((30, 6)) < 0.3).astype(np.int8) * np.array([0, 1, 1, 0, 1, 1], np.int8))
    return signed_rows(X), rng.choice([-1, 1], 30).astype(np.int8)


def filled(kind, rows, signs, intercept, window=None, weights=(3, 1, 2)):
    """Scores of intervals of seven rows each, one more under way."""
    scores = kind(rows.shape[1], window)
    for k, weight in enumerate(weights):
        scores.add(rows, signs, np.arange(7 * k, 7 * k + 7), intercept)
        scores.close(weight)
    scores.add(rows, signs, np.arange(21, 30), intercept)
    return scores


def totals(rows, signs, intercept, intervals):
    """The sum of weight y x over the rows of some intervals, (weight, first row, last row + 1) each."""
    X = np.array([rows.votes(np.array([j]), np.array([1])) for j in range(rows.shape[1])]).T
    X = np.column_stack([X, np.full(len(X), int(intercept))])
    return sum(weight * signs[a:b].astype(int) @ X[a:b] for weight, a, b in intervals)


def dense(array, d=6):
    """Either kind of array, with all coordinates."""
    if array.ndim == 1:
        return array
    whole = np.zeros(d + 1, np.int64)
    whole[array[0]] = array[1]
    return whole


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("kind", [DenseScores, TouchedScores])
def test_draws_follow_the_law_over_all_coordinates(kind, mirrored, intercept, rows, rng):
    values = totals(*rows, intercept, [(3, 0, 7), (1, 7, 14), (2, 14, 21)])
    values = values if intercept else values[:-1]
    law = exponential_law(np.r_[values, -values] if mirrored else values, 0.1)
    coordinate, sign = filled(kind, *rows, intercept).draw(0.1, 3000, rng, mirrored=mirrored, intercept=intercept)
    assert mirrored or (sign == 1).all()
    assert_follows(np.bincount(np.where(sign > 0, coordinate, coordinate + len(values)), minlength=len(law)), law)


def test_untouched_coordinates_are_drawn_before_any_row_came(rng):
    coordinate, sign = TouchedScores(10**9, None).draw(1, 50, rng, mirrored=True, intercept=False)
    assert len(set(coordinate.tolist())) == 50
    assert set(sign.tolist()) == {-1, 1}


@pytest.mark.parametrize("window", [None, 1, 2, 3])
@pytest.mark.parametrize("kind", [DenseScores, TouchedScores])
def test_an_interval_enters_by_its_weight_and_leaves_a_window_in_its_turn(kind, window, rows):
    total, interval, *kept = filled(kind, *rows, True, window).arrays()
    intervals = [(3, 0, 7), (1, 7, 14), (2, 14, 21)]
    np.testing.assert_array_equal(dense(total), totals(*rows, True, intervals[-(window or 3) :]))
    np.testing.assert_array_equal(dense(interval), totals(*rows, True, [(1, 21, 30)]))
    assert len(kept) == (window or 0)


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("kind", [DenseScores, TouchedScores])
def test_arrays_bring_the_scores_back(kind, window, rows):
    scores = filled(kind, *rows, True, window)
    again = from_arrays([array.copy() for array in scores.arrays()], 6, window)
    assert type(again) is kind
    for each in (scores, again):
        each.add(*rows, np.arange(5), True)
        each.close(2)
    for one, other in zip(scores.arrays(), again.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="7 features, "):
        from_arrays(scores.arrays(), 7, window)
    with pytest.raises(ValueError, match="a window of 1, "):
        from_arrays([*scores.arrays(), *scores.arrays()], 6, 1)


def test_wide_sparse_rows_are_stored_as_they_are_touched(rows, monkeypatch):
    assert isinstance(score_vector.score_vector(rows[0]), DenseScores)
    monkeypatch.setattr(score_vector, "DENSE", 5)
    assert isinstance(score_vector.score_vector(rows[0]), TouchedScores)
