import math

import numpy as np
import pytest
from reference.capped_scaling import capped_scaling as exact

from dpfast.kernels.project import capped_scaling

N = 30_000


def lognormal(sigma, shift=0.0, n=N):
    return shift + sigma * np.random.default_rng(n).standard_normal(n)


def spread(n=N):
    """Magnitudes from 1e-300 to 1e300: nearly every entry is a level of its own, or next to 0."""
    return -(10 ** np.random.default_rng(1).uniform(-300, 300, n))


def misleading(rounds, n=N):
    """-500 wherever the first rounds of sampling look, and -1000 elsewhere."""
    log_weights = np.full(n, -1000.0)
    for seed in range(rounds):
        state = seed
        for stratum in range(1024):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            log_weights[int((stratum + (state >> 32) / 2**32) * (n / 1024))] = -500.0
    return log_weights


SHAPES = {
    "sigma 1": lognormal(1, -9),
    "sigma 3": lognormal(3, -30),
    "sigma 1e6": lognormal(1e6, -1e8),
    "sorted": np.sort(lognormal(2, -20)),
    "nearly equal": lognormal(1e-6, -3),
    "all equal": np.full(N, -5.0),
    "all at one": np.zeros(N),
    "one huge": np.r_[lognormal(1, -1100, N - 1), -50.0],
    "a few giants": np.r_[np.full(N - 40, -1e5), np.arange(-40.0, 0.0) * 1000],
    "half 1e5 higher": np.where(np.arange(N) % 2, lognormal(1, -1e5), lognormal(1, -2e5)),
    "three values": np.random.default_rng(2).choice([-1.0, -2.0, -1e5], N),
    "ties": np.round(lognormal(2, -15)),
    "a giant step each": np.arange(N) * -1000.0,
    "half of no weight": np.where(np.arange(N) % 2, -np.inf, lognormal(1, -9)),
    "above 0": lognormal(5, 3),
    "1e-300 to 1e300": spread(),
    "one sample misled": misleading(1),
    "ten samples misled": misleading(10),
    "a periodic outlier": np.where(np.arange(N) % 29 == 0, lognormal(1, -3), -7.0),
}
DENSITIES = [1 / N, 1e-3, 0.05, 0.4, 0.4999, 0.9, 1 - 1 / N, 1]


def reachable(log_weights, density):
    return np.count_nonzero(log_weights > -np.inf) >= density * len(log_weights)


def assert_projected(weights, log_weights, density):
    """What defines the projection: one factor for all that are not capped, at least 1; caps where it says; the mass."""
    mass = density * len(log_weights)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert not weights[log_weights == -np.inf].any()
    capped, free = weights == 1, (weights > 1e-300) & (weights < 1)
    if free.any():
        log_c = np.log(weights[free]) - log_weights[free]
        rounding = 1e-11 + 1e-15 * np.abs(log_weights[free]).max()
        assert np.ptp(log_c) <= rounding
        assert (log_weights[capped] >= -log_c.max() - rounding).all()
        assert (log_weights[weights <= 1e-300] <= -log_c.min() - 690 + rounding).all()
        assert log_c.min() >= -rounding
    if np.exp(np.minimum(log_weights, 0)).sum() < mass:
        assert math.fsum(weights) == pytest.approx(mass, rel=1e-12, abs=0)
    else:
        np.testing.assert_allclose(weights, np.exp(np.minimum(log_weights, 0)), rtol=5e-13, atol=1e-300)


# ---- the projection ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_one_multiple_capped_at_one_and_sum_to_the_mass(shape):
    log_weights = SHAPES[shape]
    for density in DENSITIES:
        if reachable(log_weights, density):
            assert_projected(capped_scaling(log_weights, density), log_weights, density)


def measure(rng, least=1, most=40):
    """Log weights with ties, gaps and zeros, and a density that they can reach."""
    while True:
        n, scale = int(rng.integers(least, most + 1)), rng.choice([1e-9, 1.0, 30.0, 1e3, 1e6])
        few = np.r_[rng.uniform(-1, 1, rng.integers(1, 4)), rng.choice([0.0, -1.0, 1.0, 5e-324, -1e-9], 2), -math.inf]
        log_weights = scale * np.where(rng.random(n) < rng.random(), rng.choice(few, n), rng.uniform(-1, 1, n))
        log_weights += rng.choice([0.0, -2 * scale, -1.0])
        density = rng.integers(1, n + 1) / n if rng.random() < 0.5 else rng.uniform(1 / n, 1)
        if reachable(log_weights, density):
            return log_weights, density


def test_weights_are_those_of_the_slow_twin(many, rng):
    for _ in range(many(150, 10_000)):
        log_weights, density = measure(rng)
        weights = capped_scaling(log_weights, density)
        for w, e in zip(weights, exact(log_weights, density), strict=True):
            assert abs(w - e) <= 1e-12 * len(log_weights)


def test_small_weights_are_those_of_the_slow_twin_too():
    log_weights = np.random.default_rng(0).uniform(-700, 0, 300)
    weights = capped_scaling(log_weights, 0.1)
    for x, w, e in zip(log_weights, weights, exact(log_weights, 0.1), strict=True):
        assert w == pytest.approx(float(e), rel=1e-15 * (4 + abs(x)), abs=0)


def test_the_least_sizes_and_densities():
    np.testing.assert_array_equal(capped_scaling(np.array([-7.0]), 1), [1])
    np.testing.assert_allclose(capped_scaling(np.array([-9.0, -9.0]), 1 / 2), [0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(capped_scaling(np.log([0.1, 0.2, 0.3]), 1 / 3), [1 / 6, 1 / 3, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(capped_scaling(np.log([0.1, 0.2, 0.7]), 2 / 3), [1 / 3, 2 / 3, 1], rtol=1e-15)
    for n in (49, 98, 103, 107):  # 1 / n * n is below 1 in doubles
        np.testing.assert_allclose(capped_scaling(np.full(n, -1e6), 1 / n), 1 / n, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 15, 16, 17, 511, 512, 513, 1023, 1024, 1025, 4095, 4097, 9000])
def test_every_size_is_projected(n):
    log_weights = lognormal(2, -12, n)
    for density in (1 / n, min(1, 2.5 / n), 0.5 if n > 1 else 1, 1):
        assert_projected(capped_scaling(log_weights, density), log_weights, density)


def test_density_one_caps_all():
    np.testing.assert_array_equal(capped_scaling(lognormal(1e6), 1), np.ones(N))


def test_a_density_that_takes_all_finite_entries_caps_them():
    log_weights = np.array([-1e300, -np.inf, 3.0, -0.1, -np.inf, -745.0, -np.inf])
    np.testing.assert_array_equal(capped_scaling(log_weights, 4 / 7), log_weights > -np.inf)


def test_a_dense_measure_is_only_capped():
    log_weights = np.array([0.0, -600.0, -700.0, -800.0, 2.0, -0.25, -np.inf, 1e9])
    np.testing.assert_allclose(
        capped_scaling(log_weights, 1 / 8), np.exp(np.minimum(log_weights, 0)), rtol=1e-13, atol=1e-300
    )


@pytest.mark.parametrize("density", [0.1, 0.4, 0.9])
def test_projecting_twice_changes_nothing(density):
    for shape in ("sigma 1", "ties", "three values", "half 1e5 higher"):
        once = capped_scaling(SHAPES[shape], density)
        with np.errstate(divide="ignore"):
            twice = capped_scaling(np.log(once), density)
        np.testing.assert_allclose(twice, once, rtol=2e-12, atol=1e-300)


def test_a_larger_density_gives_larger_weights(many, rng):
    for _ in range(many(500, 100_000)):
        log_weights, density = measure(rng)
        larger = density + rng.random() * (1 - density)
        if reachable(log_weights, larger):
            assert (capped_scaling(log_weights, larger) >= capped_scaling(log_weights, density) - 1e-11).all()


@pytest.mark.parametrize("shape", ["sigma 1", "a giant step each", "all equal", "ties", "half 1e5 higher"])
def test_a_constant_added_changes_nothing_while_weights_grow(shape):
    grid = np.ldexp(np.round(np.ldexp(SHAPES[shape], 20)), -20)  # so that adding is exact
    weights = capped_scaling(grid, 0.3)
    for constant in (-1.0, -12345.0, -(2.0**26)):
        np.testing.assert_allclose(capped_scaling(grid + constant, 0.3), weights, rtol=1e-12, atol=1e-300)


def test_weights_follow_their_entries_when_permuted():
    order = np.random.default_rng(3).permutation(N)
    for shape in ("sigma 3", "ties", "a giant step each"):
        weights = capped_scaling(SHAPES[shape], 0.2)
        np.testing.assert_allclose(capped_scaling(SHAPES[shape][order], 0.2), weights[order], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_level_of_instruction_set_gives_the_same_bits(shape, each_isa):
    for density in (0.05, 0.4, 0.97):
        if reachable(SHAPES[shape], density):
            first, *others = each_isa(lambda density=density: capped_scaling(SHAPES[shape], density).tobytes())
            assert all(other == first for other in others)


# ---- what privacy rests on ----------------------------------------------------------------


def neighbours(rng):
    """Two measures that differ in one entry, and a density that neither has before it is scaled."""
    while True:
        log_weights, density = measure(rng, least=2)
        n = len(log_weights)
        log_weights = log_weights - max(0.0, log_weights.max()) - math.log(n)  # the sum of the weights is at most 1
        i, other = int(rng.integers(n)), log_weights.copy()
        other[i] = rng.choice([rng.choice(log_weights), -math.inf, rng.uniform(-1e3, -math.log(n)), -math.log(n)])
        if reachable(other, density):
            return log_weights, other, i, density


def test_one_entry_moves_all_others_one_way_and_by_at_most_one_in_total(many, rng):
    for _ in range(many(500, 100_000)):
        first, second, i, density = neighbours(rng)
        mass = density * len(first)
        mu, nu = capped_scaling(first, density), capped_scaling(second, density)
        assert abs(mu.sum() - mass) <= 1e-12 * mass
        assert abs(nu.sum() - mass) <= 1e-12 * mass
        moved = np.delete(mu - nu, i)
        assert (moved >= -1e-11).all() or (moved <= 1e-11).all()
        assert np.abs(moved).sum() <= 1 + 1e-9
        assert abs(np.abs(moved).sum() - abs(mu[i] - nu[i])) <= 1e-9
        assert np.abs(mu - nu).sum() / 2 / mass <= (1 + 1e-9) / mass  # distance in total variation of mu and nu / mass


def test_a_replaced_row_moves_the_weighted_mean_by_at_most_twice_the_larger_weight(many, rng):
    for _ in range(many(300, 100_000)):
        first, second, i, density = neighbours(rng)
        mass = density * len(first)
        mu, nu = capped_scaling(first, density), capped_scaling(second, density)
        rows = rng.standard_normal((len(first) + 1, 2))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        replaced = rows[:-1].copy()
        replaced[i] = rows[-1]
        change = (mu @ rows[:-1] - nu @ replaced) / mass
        assert np.linalg.norm(change) <= 2 * max(mu[i], nu[i]) / mass + 1e-9


@pytest.mark.parametrize("density", [0.25, 0.5])
def test_both_bounds_are_reached(density):
    n = 1000
    first = np.full(n, -20.0)
    second = first.copy()
    first[0], second[0] = -1.0, -np.inf
    mu, nu = capped_scaling(first, density), capped_scaling(second, density)
    assert (mu[0], nu[0]) == (1, 0)
    assert np.abs(mu - nu).sum() / 2 == pytest.approx(1, rel=1e-9)
    rows = np.r_[1.0, np.full(n - 1, -1.0)]  # of one coordinate
    assert mu @ rows - nu @ rows == pytest.approx(2, rel=1e-9)


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("density", [0, -0.5, 1.0000001, math.nan, math.inf])
def test_a_density_outside_zero_to_one_is_refused(density):
    with pytest.raises(ValueError, match=r"density must lie in \(0, 1\], got"):
        capped_scaling(np.zeros(10), density)


def test_a_density_below_one_entry_is_refused():
    with pytest.raises(ValueError, match=r"density must be at least 1 / n, got 0.09 for n = 10"):
        capped_scaling(np.zeros(10), 0.09)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.nan])
@pytest.mark.parametrize("n", [1, 3, 700, 5000])
def test_entries_that_are_no_log_weights_are_refused_with_their_place(value, n):
    for at in {0, n // 2, n - 1}:
        log_weights = lognormal(1, n=n)
        log_weights[at] = value
        with pytest.raises(ValueError, match=rf"must be below \+inf, got (nan|inf) at {at}"):
            capped_scaling(log_weights, 1)


@pytest.mark.parametrize("n", [4, 4000])
def test_a_density_out_of_reach_is_refused_with_the_number_of_entries(n):
    log_weights = np.where(np.arange(n) % 4 == 0, 5.0, -np.inf)
    with pytest.raises(ValueError, match=f"of {n} needs {n / 2:.6g} entries above -inf, got {n // 4}"):
        capped_scaling(log_weights, 0.5)
    np.testing.assert_array_equal(capped_scaling(log_weights, 0.25), np.exp(np.minimum(log_weights, 0)))


def test_an_empty_array_is_refused():
    with pytest.raises(ValueError, match="log_weights is empty"):
        capped_scaling(np.zeros(0), 0.5)


@pytest.mark.parametrize("log_weights", [np.zeros(4, np.float32), np.zeros(4, int), np.zeros(4, ">f8"), [0.0] * 4])
def test_other_types_than_an_array_of_doubles_are_refused(log_weights):
    with pytest.raises(TypeError, match="must be an ndarray of float64, got"):
        capped_scaling(log_weights, 0.5)


@pytest.mark.parametrize("log_weights", [np.zeros((2, 2)), np.zeros(8)[::2], np.zeros(())])
def test_other_shapes_are_refused(log_weights):
    with pytest.raises(ValueError, match="must be one-dimensional and contiguous, got shape"):
        capped_scaling(log_weights, 0.5)


def test_weights_go_where_they_are_told():
    out = np.full(N, np.nan)
    weights = capped_scaling(SHAPES["sigma 1"], 0.3, out)
    assert np.shares_memory(weights, out)
    np.testing.assert_array_equal(out, capped_scaling(SHAPES["sigma 1"], 0.3))


def test_memory_of_another_shape_or_shared_with_the_input_is_refused():
    log_weights = np.zeros(10)
    for out in (np.zeros(9), log_weights, np.zeros(0)):
        with pytest.raises(ValueError, match=r"out must have shape \(10,\) and its own memory, got shape"):
            capped_scaling(log_weights, 0.5, out)


def test_the_input_is_left_alone():
    log_weights = lognormal(1, -9)
    log_weights.flags.writeable = False
    before = log_weights.copy()
    capped_scaling(log_weights, 0.3)
    np.testing.assert_array_equal(log_weights, before)
