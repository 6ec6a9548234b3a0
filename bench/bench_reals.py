"""A step of the mixture of scales of a small fit, against the same by sums and products of whole arrays."""

import numpy as np
import pytest

from dpfast.kernels import reals
from dpfast.learners.halfspaces import scales
from dpfast.learners.halfspaces.scales import SCALES, ScaleMixture

USUAL = np.ones(1)


@pytest.fixture(params=[10, 500], ids="{} coefficients".format)
def ratios(request):
    return np.square(2 * np.random.default_rng(0).normal(size=(request.param, 1)))


def by_arrays(weights, ratios):
    """The shares, and the new weights, of one column."""
    every = np.append(USUAL, SCALES)
    wide, middles = 1 + USUAL, scales._MIDDLES
    own = reals.exp(np.maximum(middles * (-0.5 / wide) - reals.log(wide) / 2, -700.0))
    density = np.vstack([own, scales._DENSITIES])
    level, by_level = scales._ENDS[1:].searchsorted(ratios[:, 0], "right"), density.T.copy()
    total = reals.products(by_level, weights)
    shares = (reals.products(by_level, weights * (every / (1 + every))) / total)[level]
    counts = np.bincount(level, minlength=len(total))
    explained = weights * reals.products(density, counts / total) + scales._RARE
    explained[0] += scales._PRIOR - scales._RARE
    return shares, explained / reals.sum(explained)


def named(benchmark, ratios):
    benchmark.group = f"a step of a mixture of 13 scales, {len(ratios)} coefficients"


def test_dpfast_mixture(benchmark, ratios, isa):
    named(benchmark, ratios)
    mixture, weights = ScaleMixture(1), ScaleMixture(1)._weights[0]
    for _ in range(3):
        shares, weights = by_arrays(weights, ratios)
        np.testing.assert_array_equal(mixture.shares(ratios, USUAL)[:, 0], shares)
    benchmark(mixture.shares, ratios, USUAL)


def test_arrays(benchmark, ratios):
    named(benchmark, ratios)
    benchmark(by_arrays, ScaleMixture(1)._weights[0], ratios)
