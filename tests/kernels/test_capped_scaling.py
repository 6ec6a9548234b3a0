import math

import numpy as np
import peers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels import capped_scaling


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 200), spread=st.floats(0, 8), share=st.floats(1e-6, 1))
def test_the_mass_is_the_one_asked_for(seed, n, spread, share):
    rng = np.random.default_rng(seed)
    weights = np.exp(spread * rng.normal(size=n)) * (rng.random(n) < 0.9)
    positive = int((weights > 0).sum())
    if not positive:
        return
    mass = share * positive
    measure = capped_scaling.project(weights, mass)
    assert math.fsum(measure) == pytest.approx(mass, rel=1e-13)
    assert ((measure >= 0) & (measure <= 1)).all()
    c = capped_scaling.factor(weights, mass)
    np.testing.assert_array_equal(measure, np.minimum(1.0, c * weights))


def test_it_is_what_sorting_finds(rng):
    for spread, density in ((1, 0.05), (3, 0.05), (1, 0.9)):
        logs = spread * rng.normal(size=2000) - 20
        expected = peers.capped_scaling_sort(logs, density)()
        np.testing.assert_allclose(capped_scaling.project(np.exp(logs), density * 2000), expected, rtol=1e-9)


def test_it_is_nearest_in_relative_entropy(rng):
    """No other measure of the same mass and bound is nearer, among many that differ in two entries."""
    weights = rng.exponential(size=6)
    nearest = capped_scaling.project(weights, 2.5)

    def apart(measure):
        return float(np.sum(measure * np.log(measure / weights) - measure + weights))

    for _ in range(500):
        i, j = rng.choice(6, 2, replace=False)
        moved = nearest.copy()
        step = rng.uniform(0, min(1 - moved[i], moved[j]))
        moved[i], moved[j] = moved[i] + step, moved[j] - step
        if moved.min() > 0:
            assert apart(moved) >= apart(nearest) - 1e-12


def test_ties_and_the_whole_mass():
    np.testing.assert_array_equal(capped_scaling.project(np.full(4, 0.3), 1.0), np.full(4, 0.25))
    np.testing.assert_array_equal(capped_scaling.project(np.array([0.0, 3.0, 1e-9]), 2.0), [0, 1, 1])


def test_the_same_bits_at_every_level(rng, each_isa):
    weights = rng.exponential(size=10_007)
    for found in each_isa(lambda: capped_scaling.project(weights, 3000.0)):
        np.testing.assert_array_equal(found, capped_scaling.project(weights, 3000.0))


@pytest.mark.parametrize(
    ("weights", "mass", "message"),
    [
        ([1.0, -1.0], 1.0, "finite and at least 0"),
        ([1.0, math.inf], 1.0, "finite and at least 0"),
        ([math.nan] * 40, 1.0, "finite and at least 0"),
        ([1.0, 0.0], 1.5, "at most 1, the weights above 0, got 1.5"),
        ([1.0, 2.0], 0.0, "mass must lie above 0"),
        ([1.0, 2.0], math.nan, "mass must lie above 0"),
        ([], 1.0, "at most 0"),
        ([1e300, 1.0], 1.0, "within 1e-280 and 1e280"),
        ([[1.0]], 1.0, "weights must be float64 of shape"),
        (np.array([1, 2]), 1.0, "weights must be float64 of shape"),
    ],
)
def test_what_has_no_projection_is_refused(weights, mass, message):
    with pytest.raises(ValueError, match=message):
        capped_scaling.factor(np.asarray(weights), mass)
