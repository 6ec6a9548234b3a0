"""The line from scores to log odds, from their noisy mean and noisy class counts of score levels."""

import math

import numpy as np
import pytest

from dpfast import HalfspaceClassifier
from dpfast.base import run
from dpfast.kernels.reals import expit
from dpfast.learners.calibration import level_counts
from dpfast.learners.halfspaces.steepness import (
    ENDS,
    LEVELS,
    REACH,
    class_odds,
    level_ends,
    log_odds,
    middle_of,
    score_of,
    slope_and_height,
)


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


@pytest.mark.parametrize(("slope", "height"), [(0.5, 0.0), (1.4, -0.6), (3.0, 0.5)])
def test_many_rows_tell_the_slope_and_the_height(slope, height, rng):
    counts = level_counts(*drawn(rng, slope, height), ENDS).ravel()
    found = slope_and_height(counts + rng.normal(0, 30, 2 * LEVELS), 30.0, 200_000, 0.0, (0.0, 0.01))
    np.testing.assert_allclose(found, (slope, height), rtol=0.15, atol=0.15)


def test_few_rows_are_counted_in_four_levels_which_tell_the_height_better(rng):
    """Ten levels would let in the noise of those that hold few rows: the mean error was .53 with ten, and is .44."""
    n, height, deviation = 1000, 0.8, 60.0
    assert len(level_ends(deviation, n)) == 3
    assert set(level_ends(deviation, n)) < set(ENDS)
    assert level_ends(0.04 * n, n) is ENDS
    found = []
    for _ in range(300):
        scores = rng.normal(scale=0.5, size=n).astype(np.float32)
        labels = (rng.random(n) < expit(log_odds(scores.astype(float) + height))).astype(int)
        counts = level_counts(scores, labels, level_ends(deviation, n)).ravel()
        found.append(slope_and_height(counts + rng.normal(0, deviation, 8), deviation, n, 0.0, (0.0, 4.0))[1])
    assert np.abs(np.array(found) - height).mean() < 0.49


def test_noise_alone_says_what_the_prior_says(rng):
    found = [slope_and_height(rng.normal(0, 1e6, 8), 1e6, 100, 0.0, (0.0, 4.0)) for _ in range(20)]
    slopes, heights = np.array(found).T
    assert 0.5 < np.exp(np.log(slopes).mean()) < 1.5
    assert abs(heights.mean()) < 0.3


def test_rows_that_tell_nothing_get_the_odds_of_the_classes(rng):
    """Where residuals by margin lie far on the side of the larger class, the height does not."""
    counts = rng.normal(0, 1e4, 8)
    _, height = slope_and_height(counts, 1e4, 1000, 1.9, (0.5, 0.02))
    assert 0.2 < log_odds(height) < 1


@pytest.mark.parametrize("odds", [-6.0, -1.0, 0.0, 0.3, 4.0])
def test_the_score_of_log_odds_has_these_log_odds(odds):
    assert log_odds(score_of(odds)) == pytest.approx(odds)


def test_the_log_odds_of_a_noisy_share_are_less_certain_the_more_noise_it_has():
    sure, unsure, unknown = (class_odds(0.1, deviation) for deviation in (0.003, 0.05, 1e6))
    assert sure[0] == pytest.approx(math.log(1 / 9), abs=0.1)
    assert sure[0] < unsure[0] + 1 < unknown[0] + 1
    assert sure[1] < unsure[1] < unknown[1] < 4.5
    assert unknown[0] == pytest.approx(0, abs=1e-6)


def test_a_mean_score_is_shrunk_by_its_noise_and_stays_in_reach():
    assert middle_of(900.0, 1e-9, 1000) == pytest.approx(0.9)
    assert middle_of(900.0, 600.0, 1000) == pytest.approx(0.45)
    assert middle_of(1e18, 1.0, 1) == REACH == -middle_of(-1e18, 1.0, 1)


@pytest.mark.parametrize("size", [0.0, 1.0, 1e6, 1e18])
def test_any_counts_give_a_slope_and_a_height_within_bounds(size, rng):
    """Nothing may fail once the counts are paid for."""
    for deviation, n, middle, share in ((1e-3, 1.0, -9.0, size), (1.0, 1e9, 0.0, 0.5), (1e12, 1.0, 7.0, -size)):
        odds, cells = class_odds(share, deviation), 2 * len(level_ends(deviation, n)) + 2
        for counts in (rng.normal(size=cells) * size, np.full(cells, -size), np.full(cells, size)):
            slope, height = slope_and_height(counts, deviation, n, middle, odds)
            assert abs(np.log(slope)) < 1.75 + 1e-9
            assert -11 <= height <= 11
            assert slope_and_height(counts, deviation, n, middle, None)[1] == 0


def test_a_fit_applies_the_slope_and_the_shift_of_what_it_released(rng, monkeypatch):
    """The last release changes the scores by the same line for all rows, and nothing else."""
    X = rng.normal(size=(400, 5))
    y, made = (X[:, 0] > 0.3).astype(int), {}
    monkeypatch.setattr("dpfast.learners.halfspaces.model.middle_of", lambda *_: 0.0)
    monkeypatch.setattr("dpfast.learners.halfspaces.plain.PlainImage.of_mean", lambda *_: 0.25)
    for line in ((1.0, 0.25), (2.0, 1.0)):
        monkeypatch.setattr("dpfast.learners.halfspaces.model.slope_and_height", lambda *_, line=line: line)
        made[line] = HalfspaceClassifier(3.0, n_rounds=5, random_state=0, schema="vectors").fit(X, y)
    one, other = made.values()
    np.testing.assert_allclose(other.coef_, 2 * one.coef_)
    np.testing.assert_allclose(other.intercept_, 2 * one.intercept_)
    np.testing.assert_allclose(other.shift_, 2 * one.shift_ + 0.5)


def test_rows_without_an_intercept_get_no_shift(rng):
    X = rng.normal(size=(400, 5))
    clf = HalfspaceClassifier(3.0, fit_intercept=False, random_state=0).fit(X, X[:, 0] > 0.3)
    assert clf.shift_ == 0
    assert clf.intercept_ == 0


@pytest.mark.parametrize(("stop", "used"), [(7, [1, 5, 0, 0]), (8, [1, 5, 1, 0])])
def test_what_was_paid_for_is_kept_when_the_last_releases_are_interrupted(stop, used, rng, monkeypatch):
    X = rng.normal(size=(400, 5))
    draw, calls = run.discrete_gaussian, []

    def interrupted(total, sigma, rng):
        calls.append(1)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return draw(total, sigma, rng=rng)

    monkeypatch.setattr(run, "discrete_gaussian", interrupted)
    clf = HalfspaceClassifier(10.0, n_rounds=5, random_state=0, schema="vectors")
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, X[:, 0] > 0)
    assert [release.used for release in clf.privacy_.events] == used
    assert clf.score(X, X[:, 0] > 0) > 0.7
