"""The line through noisy counts of levels, against counts whose law is known."""

import numpy as np
import pytest
from scipy.special import expit

from dpfast.learners.calibration import ENDS, LEVELS, fitted_line, groups, level_counts


def counts_of(places, slope, shift, rng):
    return level_counts(places, (rng.random(len(places)) < expit(slope * places + shift)).astype(int))


def test_levels_are_between_rising_ends_and_hold_each_row_once(rng):
    assert (np.diff(ENDS) > 0).all()
    assert (-ENDS[::-1] == ENDS).all()
    assert abs(ENDS).max() < 1
    places = np.concatenate([[-1.0, 1.0, 0.0], ENDS, rng.uniform(-1, 1, 500)])
    labels = rng.integers(0, 2, len(places))
    counts = level_counts(places, labels)
    assert counts.shape == (LEVELS, 2)
    for level in (0, 7, LEVELS // 2, LEVELS - 1):
        low, high = ([-np.inf, *ENDS][level], [*ENDS, np.inf][level])
        inside = (places >= low) & (places < high)
        assert counts[level].tolist() == [np.count_nonzero(inside & (labels == k)) for k in (0, 1)]


@pytest.mark.parametrize(("scale", "middle"), [(0.3, 0.0), (0.004, 0.0), (0.05, 0.7), (0.2, -0.3)])
@pytest.mark.parametrize("deviation", [1e-9, 30.0])
def test_the_line_is_that_of_the_counts_whatever_the_scale_of_places(scale, middle, deviation, rng):
    places = np.clip(rng.normal(middle, scale, 40_000), -1, 1)
    slope, shift = 1.5 / scale, 0.4 - 1.5 * middle / scale
    counts = counts_of(places, slope, shift, rng) + np.rint(rng.normal(0, deviation, (LEVELS, 2)))
    line = fitted_line(counts, deviation)
    said, truth = expit(line.log_odds(places)), expit(slope * places + shift)
    assert np.abs(said - truth).mean() < 0.03
    assert line.log_odds(np.array([line.even])) == pytest.approx(0, abs=1e-9)
    assert (np.diff(line.log_odds(np.sort(places))) >= 0).all()


def test_of_noise_alone_nothing_is_learned(rng):
    line = fitted_line(np.rint(rng.laplace(0, 50, (LEVELS, 2))), 50 * 2**0.5)
    assert line == (0.0, 1.0, 1.5, 0.0)


def test_one_level_has_the_share_of_its_class(rng):
    counts = np.zeros((LEVELS, 2))
    counts[LEVELS - 2] = 3000, 1000
    line = fitted_line(counts, 5.0)
    (group,) = groups(counts, 5.0)
    assert group.levels == 1
    assert expit(line.log_odds(np.array([group.place]))) == pytest.approx(0.25, abs=0.01)


def test_levels_are_put_together_until_they_hold_more_than_noise(rng):
    counts = np.full((LEVELS, 2), 40.0)
    alone, together = groups(counts, 5.0), groups(counts, 50.0)
    assert [group.levels for group in alone] == [1] * LEVELS
    assert all(group.rows.sum() > 5 * 50 * np.sqrt(2 * group.levels) for group in together)
    assert 1 < len(together) < len(alone)
    assert sum(group.rows.sum() for group in together) <= counts.sum()
