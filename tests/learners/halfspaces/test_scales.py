import numpy as np
import pytest

from dpfast.learners.halfspaces.scales import _MIDDLES, SCALES, ScaleMixture


def _kept(ratios, weights, scales):
    """By the definition: the mean of s / (1 + s) given the ratio of a coefficient, and of each scale's weight."""
    fits = weights / np.sqrt(1 + scales) * np.exp(-ratios[:, np.newaxis] / 2 / (1 + scales))
    fits /= fits.sum(axis=1, keepdims=True)
    return (fits * scales / (1 + scales)).sum(axis=1), fits.sum(axis=0)


def test_shares_and_weights_are_those_of_the_definition(rng):
    mixture, usual = ScaleMixture(2), np.array([0.3, 5.0])
    ratios = rng.choice(_MIDDLES, size=(40, 2))
    weights = np.append(0.5, np.full(len(SCALES), 0.5 / len(SCALES)))
    found = [mixture.shares(ratios, usual) for _ in range(8)]
    for c in range(2):
        now, scales = weights, np.append(usual[c], SCALES)
        for shares in found:
            kept, explained = _kept(ratios[:, c], now, scales)
            np.testing.assert_allclose(shares[:, c], kept)
            now = explained + np.append(10.0, np.full(len(SCALES), 0.1))
            now /= now.sum()


def test_ratios_count_as_the_middle_of_their_quarter_between_powers_of_two():
    shares = ScaleMixture(1).shares(np.array([[4.0], [4.5], [4.999], [5.0], [0.0], [_MIDDLES[0]]]), np.ones(1))
    assert shares[0] == shares[1] == shares[2] < shares[3]
    assert shares[4] == shares[5]


@pytest.mark.parametrize("ratio", [0.0, 1e-300, 1e-3, 1e6, 1e300])
def test_shares_are_finite_for_all_ratios_and_scales(ratio):
    for usual in (0.0, 1.0, 1e12):
        mixture = ScaleMixture(1)
        for _ in range(200):
            shares = mixture.shares(np.full((5, 1), ratio), np.array([usual]))
            assert ((shares >= 0) & (shares <= 1)).all()
        assert (shares > 0.99).all() if ratio > 1e5 else (shares < 0.5).all() or usual == 1e12


def test_values_of_one_size_keep_about_the_share_of_the_usual_scale(rng):
    mixture = ScaleMixture(1)
    ratios = np.square(rng.normal(size=(2000, 1)) * 2.0)  # three parts of value to one of noise
    for _ in range(100):
        shares = mixture.shares(ratios, np.array([3.0]))
    assert abs(np.average(shares, weights=ratios) - 0.75) < 0.02
    assert np.quantile(shares, 0.95) - np.quantile(shares, 0.05) < 0.3


def test_the_order_of_coefficients_does_not_matter(rng):
    ratios, order = np.square(rng.normal(size=(50, 1)) * 3), rng.permutation(50)
    one, other = ScaleMixture(1), ScaleMixture(1)
    for _ in range(5):
        here, there = one.shares(ratios, np.array([1.0])), other.shares(ratios[order], np.array([1.0]))
        np.testing.assert_array_equal(here[order], there)
