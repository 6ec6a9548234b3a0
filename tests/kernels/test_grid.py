import numpy as np
import pytest

from dpfast.kernels.grid import of_columns, to_grid, unit_sum


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", [1, 20, 30])
def test_reals_are_clipped_and_rounded_and_their_extremes_told(dtype, bits, rng, each_isa):
    ends = [-np.inf, -1e30, -3, -1.5, -1, -0.0, 0.5, 1, 1.5, 3, 1e30, np.inf]
    x = np.concatenate([rng.uniform(-4, 4, 2500), ends]).astype(dtype)
    q, low, high = to_grid(x, bits)
    assert (q == np.rint(np.clip(x, -1, 1).astype(np.float64) * 2.0**bits)).all()
    assert (low, high) == (-np.inf, np.inf)
    assert to_grid(x[:2500], bits)[1:] == (x[:2500].min(), x[:2500].max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_no_number_is_zero_and_told(dtype, rng, each_isa):
    x = rng.uniform(-1, 1, 50).astype(dtype)
    x[[3, 40]] = np.nan, -np.nan
    q, low, high = to_grid(x, 10)
    assert (q[[3, 40]] == 0).all()
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [0, 1, 8, 30])
def test_reals_go_to_the_nearest_grid_point_halves_to_even(isa, rng, dtype, k):
    x = np.r_[rng.uniform(-1.2, 1.2, 1001), np.arange(-9, 10) / 2 ** (k + 1), 1, -1, -0.0].astype(dtype)
    for size in (len(x), 7, 1):
        q, low, high = to_grid(x[:size], k)
        np.testing.assert_array_equal(q, np.rint(np.clip(x[:size].astype(float), -1, 1) * 2.0**k))
        assert (low, high) == (x[:size].min(), x[:size].max())


def test_extremes_of_reals_show_what_is_out_of_range_or_no_number(isa):
    x = np.zeros((3, 700))
    x[1, 650], x[2, 3] = np.inf, -7
    q, low, high = to_grid(x, 4)
    assert (low, high) == (-7, np.inf)
    assert q[1, 650] == 16
    assert q[2, 3] == -16
    x[0, 699] = np.nan
    q, low, high = to_grid(x, 4)
    assert np.isnan(low)
    assert np.isnan(high)
    assert q[0, 699] == 0
    assert np.isnan(to_grid(np.empty((0, 3)), 4)[1])


def test_integers_are_refused():
    with pytest.raises(ValueError, match="float32 or float64 and bits at most 30, got int64 and 3"):
        to_grid(np.array([1]), 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", [0, 1, 20, 30])
def test_a_sum_of_reals_is_that_of_its_terms_clipped_and_rounded(isa, rng, dtype, bits):
    ends = [-np.inf, -1e30, -1, -0.0, 0.5, 1, 1.5, 1e30, np.inf, np.nan, -np.nan, 2.0**-1074, 1 - 2.0**-25]
    x = np.concatenate([rng.uniform(-0.5, 1.5, 2500), np.arange(9) / 2.0 ** (bits + 1), ends]).astype(dtype)
    terms = np.rint(np.clip(np.nan_to_num(x.astype(float), posinf=2, neginf=-1), 0, 1) * 2.0**bits).astype(np.int64)
    for size in (len(x), 2507, 7, 1, 0):
        assert unit_sum(x[:size], bits) == terms[:size].sum()
    assert unit_sum(x[::3], bits) == terms[::3].sum()


def test_sums_refuse_other_types_and_shapes():
    for x in (np.arange(3), np.zeros((2, 2)), np.zeros(3, np.float16)):
        with pytest.raises(ValueError, match="x must be float32 or float64 of shape"):
            unit_sum(x, 3)
    with pytest.raises(ValueError, match="bits at most 30"):
        unit_sum(np.zeros(3), 31)


def on_one_grid(x, offsets):
    """The numbers of columns on one grid and its step, as operations on whole arrays."""
    highest, least = np.maximum.reduceat(x, offsets[:-1]), np.minimum.reduceat(x, offsets[:-1])
    largest = max(sum(column) for column in np.maximum(highest, -least).T.tolist())
    step = max((highest - least).max() / (2.0**24 - 2), largest / (2.0**31 - len(offsets))) or 1.0
    return np.rint(x / step).astype(np.int32), step


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("sizes", [[1], [9], [1, 2, 300], [2] * 500])
def test_columns_have_one_grid_whose_sums_fit_into_32_bits(sizes, k, rng, each_isa):
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for scale, shift in ((1.0, 0.0), (1e-300, 0.0), (1e200, 0.0), (1.0, 1e9), (0.0, 1.0), (0.0, 0.0)):
        x = scale * rng.normal(size=(offsets[-1], k)) + shift
        wanted, step = on_one_grid(x, offsets)
        for found in each_isa(lambda x=x: of_columns(x, offsets)):
            np.testing.assert_array_equal(found[0], wanted)
            assert found[1] == step
        q = wanted.astype(np.int64)
        highest, least = np.maximum.reduceat(q, offsets[:-1]), np.minimum.reduceat(q, offsets[:-1])
        assert (highest - least).max() < 2**24
        assert np.maximum(highest, -least).sum(axis=0).max() < 2**31


def test_halves_of_a_step_are_rounded_to_even():
    x = np.array([[0.0], [2.0**24 - 2], [0.5], [1.5], [-0.5 + 2.0**22]])
    assert of_columns(x, np.array([0, 5]))[0].ravel().tolist() == [0, 2**24 - 2, 0, 2, 2**22]


def test_columns_without_rows_and_numbers_that_are_not_finite_are_refused():
    for offsets in ([0], [0, 2], [1, 3], [0, 0, 3], [0, 2, 1, 3]):
        with pytest.raises(ValueError, match="offsets must rise from 0 to the 3 rows of x"):
            of_columns(np.zeros((3, 1)), np.array(offsets))
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="x must be finite"):
            of_columns(np.array([[0.0], [wrong]]), np.array([0, 2]))
