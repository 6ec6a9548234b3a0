"""The line through noisy counts of levels, against counts whose law is known."""

import numpy as np
import pytest
from scipy.special import expit

from dpfast.learners import calibration
from dpfast.learners.calibration import ENDS, LEVELS, class_sizes, fitted_line, groups, level_counts


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
    counts = np.rint(rng.laplace(0, 50, (LEVELS, 2)))
    line = fitted_line(counts, 50 * 2**0.5)
    misses, hits = class_sizes(counts, 50 * 2**0.5, LEVELS)
    assert line == (0.0, 1.0, 1.5, np.log(hits) - np.log(misses))
    assert abs(line.shift) < 2


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


def histograms(rng, number):
    """Noisy histograms with their deviation: plain, rare, separable, weak and hostile ones."""
    for _ in range(number):
        deviation = 10.0 ** rng.uniform(-3, 12 if rng.random() < 0.1 else 4)
        size = 10.0 ** rng.uniform(1, 7)
        rows = rng.dirichlet(np.full(LEVELS, 10.0 ** rng.uniform(-3, 1))) * size
        odds = rng.normal() * 3 + 10.0 ** rng.uniform(-2, 2) * rng.choice([-1, 1, 1]) * np.append(ENDS, 1)
        counts = rows[:, np.newaxis] * np.stack([expit(-odds), expit(odds)], axis=1)
        counts = counts + rng.normal(0, deviation, counts.shape) * rng.choice([0, 1, 1, 1])
        hostile = rng.random()
        if hostile < 0.1:  # anything that 64 bits hold
            counts = rng.choice([-1, 1], counts.shape) * 2.0 ** rng.uniform(0, 62, counts.shape)
        elif hostile < 0.2:  # all in few cells, also of both signs
            counts = np.zeros(counts.shape)
            at = rng.integers(0, counts.size, 3)
            counts.flat[at] = rng.choice([-1, 1], 3) * 10.0 ** rng.uniform(0, 15, 3)
        yield np.rint(counts), deviation


def test_every_noisy_histogram_has_a_line_and_it_is_the_most_likely_one(rng, many, monkeypatch):
    searched = []
    plain = calibration._root

    def root(falling, low, high):
        asked = []
        found = plain(lambda at: (asked.append(at), falling(at))[1], low, high)
        searched.append(len(asked))
        return found

    monkeypatch.setattr(calibration, "_root", root)
    inside = 0
    for counts, deviation in histograms(rng, many(150, 100_000)):
        line = fitted_line(counts, deviation)
        found = groups(counts, deviation)
        sizes = sum(group.rows for group in found) if found else counts.sum(axis=0)
        levels = sum(group.levels for group in found) if found else len(counts)
        usual = np.subtract(*np.log(np.maximum(sizes, 2 * deviation * np.sqrt(levels)))[::-1])
        assert np.isfinite(line).all()
        assert abs(line.shift - usual) <= 2 + 1e-9
        if not found:
            continue
        # an objective written anew, compared with that of neighbouring slopes and shifts
        place, both, levels, _ = (np.array(each) for each in zip(*found, strict=True))
        x, n = (place - line.middle) / line.spread, both.sum(axis=1)
        noise = deviation * np.sqrt(2 * np.array([(levels * x**2).sum(), levels.sum()]))
        weight = 1 + noise**2 / (np.array([0.5, 2.0]) * np.maximum(np.maximum(0.1 * n.sum(), noise), 1))

        def slopes(slope, shift, x=x, n=n, both=both, weight=weight, usual=usual):
            rise = both[:, 1] - n * expit(slope * x + shift)
            return rise @ x - weight[0] * (slope - 1.5), rise.sum() - weight[1] * (shift - usual)

        for at, least, most, k in ((line.slope, 0.02, 20.0, 0), (line.shift, usual - 2, usual + 2, 1)):
            step = 1e-5 * max(1.0, abs(at))
            before, after = (
                ((at - step, line.shift), (at + step, line.shift))
                if k == 0
                else ((line.slope, at - step), (line.slope, at + step))
            )
            tiny = 1e-9 * np.abs(both).sum() * max(1.0, np.abs(x).max())
            assert at <= least + 1e-9 or slopes(*before)[k] >= -tiny
            assert at >= most - 1e-9 or slopes(*after)[k] <= tiny
            inside += least < at < most
    assert inside > 50
    assert max(searched) < 100


def test_the_share_of_a_rare_class_is_kept_whatever_the_noise_of_empty_levels(rng):
    counts, start = np.zeros((LEVELS, 2)), LEVELS // 4
    counts[start : start + 3] = [8000, 160], [16_000, 320], [8000, 160]
    for _ in range(20):
        line = fitted_line(counts + np.rint(rng.normal(0, 60, counts.shape)), 60.0)
        assert abs(line.shift - np.log(640 / 32_000)) < 2
        assert (line.log_odds(ENDS[start - 1 : start + 3]) < 0).all()


@pytest.mark.parametrize("level", [3, 30, LEVELS - 4])
def test_rows_that_may_all_be_at_an_end_of_their_level_are_of_the_larger_class(level):
    counts = np.zeros((LEVELS, 2))
    counts[level] = 5000, 1250
    counts[level + 1] = 40, 10  # too few to be seen
    line = fitted_line(counts, 100.0)
    assert (line.log_odds(ENDS[level - 1 : level + 1]) < 0).all()
    assert line.log_odds(ENDS[level - 1 : level + 1]).mean() == pytest.approx(np.log(0.25), abs=0.1)
