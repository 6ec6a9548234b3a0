import functools
import math
import operator

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from reference.mixture import densities, mixture

from dpfast.kernels import reals

SIZES = [0, 1, 7, 15, 16, 17, 31, 32, 100, 1001]


def in_order(products):
    """The sum of sixteen sums, by halves."""
    lanes = np.zeros(16)
    for start in range(0, len(products), 16):
        part = products[start : start + 16]
        lanes[: len(part)] += part
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]


@pytest.mark.parametrize("d", SIZES)
def test_sums_and_products_add_in_the_order_that_is_written_at_every_level(d, rng, each_isa):
    X, w = rng.normal(size=(3, d)), rng.normal(size=d)
    for products, total in each_isa(lambda: (reals.products(X, w), reals.sum(w))):
        assert products.tolist() == [in_order(row * w) for row in X]
        assert total == in_order(w)


def test_sparse_rows_add_their_entries_in_order(rng):
    X = sp.random_array((20, 50), density=0.2, random_state=1, format="csr")
    w = rng.normal(size=50)
    wanted = []
    for i in range(20):
        total = 0.0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            total += X.data[p] * w[X.indices[p]]
        wanted.append(total)
    assert reals.products_csr(X.indptr, X.indices, X.data, w).tolist() == wanted


def test_norms_and_products_are_those_of_numbers():
    assert reals.norm([[3, 0], [0, 4]]) == 5
    assert reals.dot(np.arange(40), np.arange(40)) == (np.arange(40) ** 2).sum()
    assert reals.products(np.zeros((0, 4)), np.ones(4)).shape == (0,)
    assert reals.products_csr(np.array([0, 0]), np.array([], int), np.array([]), np.ones(2)).tolist() == [0]


def units_off(found, exact):
    """The largest distance of numbers from those of 40 digits, in units in the last place."""
    return max(abs(float((mpmath.mpf(f) - e) / math.ulp(float(e)))) for f, e in zip(found.tolist(), exact, strict=True))


def test_exponentials_and_logarithms_are_right_to_the_last_places_at_every_level(rng, each_isa):
    powers = np.concatenate([rng.uniform(-708, 708, 300), rng.uniform(-1, 1, 300), [0, -708, 708]])
    numbers = np.concatenate([np.exp(rng.uniform(-700, 700, 300)), 1 + rng.uniform(-0.5, 1, 300), [1, 2.0**-1022]])
    with mpmath.workdps(40):
        first, *others = each_isa(lambda: (reals.exp(powers), reals.log(numbers)))
        assert units_off(first[0], [mpmath.exp(x) for x in powers]) <= 1
        assert units_off(first[1], [mpmath.log(x) for x in numbers]) <= 2
    for other in others:
        np.testing.assert_array_equal(np.concatenate(other), np.concatenate(first))
    assert reals.exp([-709.0, -np.inf]).tolist() == [0, 0]
    assert reals.expit([-800, 0, 800]).tolist() == [0, 0.5, 1]


BEGINS = 2.0 ** np.arange(-3, 4)


@pytest.mark.parametrize(("n", "columns"), [(1, 1), (40, 3), (700, 1)])
@pytest.mark.parametrize("others", [0, 1, 15])
def test_mixtures_are_those_of_numpy_to_the_last_bit_at_every_level(n, columns, others, rng, each_isa):
    squares, middles = np.square(rng.normal(size=(n, columns)) * 2), 1.5 * BEGINS
    squares.flat[:4] = [0.0, BEGINS[3], np.nextafter(BEGINS[3], 0), np.inf][: squares.size]
    usual, scales = rng.uniform(0, 1e3, columns), rng.uniform(0, 9, others)
    start = rng.dirichlet(np.ones(others + 1), columns)
    wanted = start.copy()
    shares = [mixture(squares, usual, wanted, BEGINS, middles, scales, 10.0, 0.1) for _ in range(3)]

    def steps():
        weights = start.copy()
        known = squares, usual, weights, BEGINS, middles, densities(middles, scales), scales / (1 + scales), 10.0, 0.1
        return [reals.mixture(*known) for _ in range(3)], weights

    for found, weights in each_isa(steps):
        np.testing.assert_array_equal(found, shares)
        np.testing.assert_array_equal(weights, wanted)


def test_a_mixture_of_no_values_stays():
    weights = np.full((2, 2), 0.5)
    shares = reals.mixture(np.ones((0, 2)), np.ones(2), weights, BEGINS, BEGINS, np.ones((1, 7)), np.ones(1), 10.0, 0.1)
    assert shares.shape == (0, 2)
    assert (weights == 0.5).all()


@pytest.mark.parametrize(
    ("position", "changed", "message"),
    [
        (1, [np.nan], "usual scales must be finite and at least 0, got nan"),
        (1, [-1.0], "usual scales must be finite and at least 0, got -1"),
        (1, [1.0, 1.0], "usual 1 and weights"),
        (2, np.ones((1, 3)), "weights shape"),
        (3, BEGINS[:3], "begin and middles must have length 7"),
        (4, BEGINS[:3], "begin and middles must have length 7"),
        (5, np.ones((16, 7)), r"at most 15 scales and 1 to 128 levels, got shape \(16, 7\)"),
        (5, np.ones((1, 0)), r"at most 15 scales and 1 to 128 levels, got shape \(1, 0\)"),
        (5, np.ones((1, 129)), r"at most 15 scales and 1 to 128 levels, got shape \(1, 129\)"),
        (6, np.ones(2), "kept 1"),
    ],
)
def test_mixtures_need_arrays_of_one_number_of_levels_scales_and_columns(position, changed, message):
    known = [np.ones((4, 1)), np.ones(1), np.full((1, 2), 0.5), BEGINS, BEGINS, np.ones((1, 7)), np.ones(1), 10.0, 0.1]
    known[position] = changed
    with pytest.raises(ValueError, match=message):
        reals.mixture(*known)


@pytest.mark.parametrize(
    "call",
    [
        lambda: reals.products(np.ones((2, 3)), np.ones(2)),
        lambda: reals.products(np.ones(3), np.ones(3)),
        lambda: reals.products_csr(np.array([0, 1]), np.array([2]), np.ones(1), np.ones(2)),
        lambda: reals.products_csr(np.array([0, 2]), np.array([0]), np.ones(1), np.ones(2)),
        lambda: reals.products_csr(np.array([0, 1]), np.array([-1]), np.ones(1), np.ones(2)),
        lambda: reals.exp([709.0]),
        lambda: reals.exp([np.nan]),
        lambda: reals.log([0.0]),
        lambda: reals.log([np.inf]),
    ],
)
def test_what_would_be_read_beyond_or_has_no_value_is_refused(call):
    with pytest.raises(ValueError, match=r"must"):
        call()


def halved(noisy, rows, likely):
    """The rows of each cell, half by half, with sums from the first count to the last."""
    size, half = len(noisy), len(noisy) // 2
    if size == 1:
        return [rows]
    first = functools.reduce(operator.add, noisy[:half], 0.0)
    second = functools.reduce(operator.add, noisy[half:], 0.0)
    share = half / size
    if abs(first / half - second / (size - half)) > likely * math.sqrt(1 / half + 1 / (size - half)):
        first = first if first >= likely * math.sqrt(half) else 0.0
        second = second if second >= likely * math.sqrt(size - half) else 0.0
        share = first / (first + second) if first or second else share
    return halved(noisy[:half], rows * share, likely) + halved(noisy[half:], rows * (1 - share), likely)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 129])
def test_halves_are_those_of_python_bit_by_bit(n, rng):
    for scale in (0.0, 1.0, 30.0, 1e6):
        noisy = rng.normal(scale * rng.random(n), 5.0)
        found = reals.halves(noisy, 1234.5, 12.5)
        assert found.tolist() == halved(noisy.tolist(), 1234.5, 12.5)
        assert found.sum() == pytest.approx(1234.5)
    with pytest.raises(ValueError, match="noisy must have at least one count"):
        reals.halves([], 1.0, 1.0)


def without_small_differences(counts, cut):
    """The counts without small coefficients of their Haar basis, by operations on whole arrays."""
    size = 1 << (len(counts) - 1).bit_length()
    sums, parts = np.concatenate([counts, np.zeros(size - len(counts))]), []
    while len(sums) > 1:
        apart = (sums[::2] - sums[1::2]) * 0.5**0.5
        parts.append(np.where(np.abs(apart) < cut, 0.0, apart))
        sums = (sums[::2] + sums[1::2]) * 0.5**0.5
    for apart in reversed(parts):
        sums = np.stack([sums + apart, sums - apart], axis=1).ravel() * 0.5**0.5
    return sums[: len(counts)]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 177, 1000])
@pytest.mark.parametrize("cut", [0.0, 1.0, 30.0, math.inf])
def test_smooth_counts_have_no_small_coefficients_of_the_haar_basis(n, cut, rng):
    counts = rng.normal(size=n) * rng.choice([1.0, 10.0], n)
    np.testing.assert_array_equal(reals.smooth(counts, cut), without_small_differences(counts, cut))
    if cut == 0:
        np.testing.assert_allclose(reals.smooth(counts, cut), counts, atol=1e-12)


def test_no_counts_are_refused():
    with pytest.raises(ValueError, match="counts must have at least one entry"):
        reals.smooth([], 1.0)
