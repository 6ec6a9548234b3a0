"""Slope and shift of scores, from noisy class counts of score levels."""

import numpy as np
import pytest

from dpfast import HalfspaceClassifier
from dpfast.kernels.reals import expit
from dpfast.learners.calibration import level_counts
from dpfast.learners.halfspaces import halfspace
from dpfast.learners.halfspaces.steepness import ENDS, LEVELS, log_odds, slope_and_shift


def drawn(rng, slope, shift, n=200_000):
    scores = rng.normal(scale=2, size=n).astype(np.float32)
    return scores, (rng.random(n) < expit(log_odds(slope * scores.astype(float) + shift))).astype(int)


def test_each_row_is_counted_in_the_level_of_its_score_and_in_its_class():
    scores = np.array([-1e30, -4.0, -0.1, 0.0, 0.49, 0.5, 3.9, 4.0, 1e30], np.float32)
    counts = level_counts(scores, np.array([0, 1] * 4 + [0]), ENDS)
    levels = [int((score >= ENDS).sum()) for score in scores]
    assert levels == [0, 1, 4, 5, 5, 6, 8, 9, 9]
    assert counts.sum() == 9
    for level, label in zip(levels, [0, 1] * 4 + [0], strict=True):
        assert counts[level, label] > 0


@pytest.mark.parametrize(("slope", "shift"), [(0.5, 0.0), (1.4, -0.6), (3.0, 0.5)])
def test_many_rows_tell_the_slope_and_the_shift(slope, shift, rng):
    counts = level_counts(*drawn(rng, slope, shift), ENDS).ravel()
    found = slope_and_shift(counts + rng.normal(0, 30, 2 * LEVELS), 30.0)
    np.testing.assert_allclose(found, (slope, shift), rtol=0.15, atol=0.15)


def test_noise_alone_says_what_the_prior_says(rng):
    found = np.array([slope_and_shift(rng.normal(0, 1e6, 2 * LEVELS), 1e6) for _ in range(20)])
    assert 0.5 < np.exp(np.log(found[:, 0]).mean()) < 1.5
    assert abs(found[:, 1].mean()) < 0.3


@pytest.mark.parametrize("size", [0.0, 1.0, 1e6, 1e18])
def test_any_counts_give_a_slope_and_a_shift_within_bounds(size, rng):
    """Nothing may fail once the counts are paid for."""
    for counts in (rng.normal(size=2 * LEVELS) * size, np.full(2 * LEVELS, -size), np.full(2 * LEVELS, size)):
        for deviation in (1e-3, 1.0, 1e12):
            slope, shift = slope_and_shift(counts, deviation)
            assert abs(np.log(slope)) < 1.75 + 1e-9
            assert -3 <= shift <= 3
            assert slope_and_shift(counts, deviation, shifted=False)[1] == 0


def test_a_fit_applies_the_slope_and_the_shift_of_what_it_released(rng, monkeypatch):
    """The last release changes the scores by the same line for all rows, and nothing else."""
    X = rng.normal(size=(400, 5))
    y, made = (X[:, 0] > 0.3).astype(int), {}
    for line in ((1.0, 0.0), (2.0, 0.5)):
        monkeypatch.setattr("dpfast.learners.halfspaces.model.slope_and_shift", lambda *_, line=line: line)
        made[line] = HalfspaceClassifier(3.0, n_rounds=5, random_state=0).fit(X, y)
    one, other = made.values()
    np.testing.assert_allclose(other.coef_, 2 * one.coef_)
    np.testing.assert_allclose(other.intercept_, 2 * one.intercept_)
    np.testing.assert_allclose(other.shift_, 2 * one.shift_ + 0.5)


def test_rows_without_an_intercept_get_no_shift(rng):
    X = rng.normal(size=(400, 5))
    clf = HalfspaceClassifier(3.0, fit_intercept=False, random_state=0).fit(X, X[:, 0] > 0.3)
    assert clf.shift_ == 0
    assert clf.intercept_ == 0


def test_what_was_paid_for_is_kept_when_the_last_release_is_interrupted(rng, monkeypatch):
    X = rng.normal(size=(400, 5))
    draw, calls = halfspace.discrete_gaussian, []

    def interrupted(total, sigma, rng):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return draw(total, sigma, rng=rng)

    monkeypatch.setattr(halfspace, "discrete_gaussian", interrupted)
    clf = HalfspaceClassifier(10.0, n_rounds=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, X[:, 0] > 0)
    assert [release.used for release in clf.privacy_.events] == [1, 5, 0]
    assert clf.score(X, X[:, 0] > 0) > 0.7
