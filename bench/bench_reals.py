"""A step of the mixture of scales of a small fit, against the same by sums and products of whole arrays."""

import numpy as np
import pytest
from reference.mixture import mixture

from dpfast.learners.halfspaces import scales
from dpfast.learners.halfspaces.scales import SCALES, ScaleMixture

USUAL = np.ones(1)


@pytest.fixture(params=[10, 500], ids="{} coefficients".format)
def ratios(request):
    return np.square(2 * np.random.default_rng(0).normal(size=(request.param, 1)))


def by_arrays(weights, ratios):
    """The shares; the weights become the new ones."""
    return mixture(ratios, USUAL, weights, scales._BEGINS, scales._MIDDLES, SCALES, scales._PRIOR, scales._RARE)


def named(benchmark, ratios):
    benchmark.group = f"a step of a mixture of 13 scales, {len(ratios)} coefficients"


def test_dpfast_mixture(benchmark, ratios, isa):
    named(benchmark, ratios)
    found, weights = ScaleMixture(1), ScaleMixture(1)._weights
    for _ in range(3):
        np.testing.assert_array_equal(found.shares(ratios, USUAL), by_arrays(weights, ratios))
    benchmark(found.shares, ratios, USUAL)


def test_arrays(benchmark, ratios):
    named(benchmark, ratios)
    benchmark(by_arrays, ScaleMixture(1)._weights, ratios)
