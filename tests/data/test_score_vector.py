import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law

from dpfast.data import score_vector
from dpfast.data.score_vector import DenseScores, TouchedScores, from_array
from dpfast.data.signed_rows import signed_rows


@pytest.fixture
def rows(rng):
    X = sp.csr_array((rng.random((30, 6)) < 0.3).astype(np.int8) * np.array([0, 1, 1, 0, 1, 1], np.int8))
    return signed_rows(X), rng.choice([-1, 1], 30).astype(np.int8)


def filled(kind, rows, signs, intercept):
    scores = kind(rows.shape[1])
    scores.add(rows, signs, np.arange(20), intercept)
    return scores


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("kind", [DenseScores, TouchedScores])
def test_draws_follow_the_law_over_all_coordinates(kind, mirrored, intercept, rows, rng):
    rows, signs = rows
    dense = filled(DenseScores, rows, signs, intercept).array()
    values = dense if intercept else dense[:-1]
    law = exponential_law(np.r_[values, -values] if mirrored else values, 0.3)
    coordinate, sign = filled(kind, rows, signs, intercept).draw(0.3, 3000, rng, mirrored=mirrored, intercept=intercept)
    assert mirrored or (sign == 1).all()
    assert_follows(np.bincount(np.where(sign > 0, coordinate, coordinate + len(values)), minlength=len(law)), law)


def test_untouched_coordinates_are_drawn_before_any_row_came(rng):
    coordinate, sign = TouchedScores(10**9).draw(1, 50, rng, mirrored=True, intercept=False)
    assert len(set(coordinate.tolist())) == 50
    assert set(sign.tolist()) == {-1, 1}


@pytest.mark.parametrize("kind", [DenseScores, TouchedScores])
def test_an_array_brings_the_scores_back(kind, rows):
    scores = filled(kind, *rows, True)
    again = from_array(scores.array(), 6)
    assert type(again) is kind
    np.testing.assert_array_equal(again.array(), scores.array())
    with pytest.raises(ValueError, match="7 features, scores"):
        from_array(scores.array(), 7)


def test_wide_sparse_rows_are_stored_as_they_are_touched(rows, monkeypatch):
    assert isinstance(score_vector.score_vector(rows[0]), DenseScores)
    monkeypatch.setattr(score_vector, "DENSE", 5)
    assert isinstance(score_vector.score_vector(rows[0]), TouchedScores)


def test_both_kinds_add_up_the_same(rows):
    touched = filled(TouchedScores, *rows, True).array()
    dense = filled(DenseScores, *rows, True).array()
    np.testing.assert_array_equal(touched[1], dense[touched[0]])
    assert not np.delete(dense, touched[0]).any()
