import numpy as np
import pytest

from dpfast.kernels.bins import MOST, count_below

ENDS = [-np.inf, -1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e308, np.inf]


@pytest.mark.parametrize("k", [0, 1, 2, 3, 7, 40, 254, 255, 3000])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 1000])
def test_bins_are_the_numbers_of_edges_below(k, n, rng, each_isa):
    edges = np.sort(rng.normal(size=k))
    x = np.concatenate([rng.normal(size=n), edges[: n // 2], np.nextafter(edges, 9)[: n // 2], [np.nan] * (n > 0)])
    for dtype in (np.uint8, np.uint16)[k > 255 :]:
        expected = np.where(np.isnan(x), 7, np.searchsorted(edges, x)).astype(dtype)
        for found in each_isa(lambda dtype=dtype: count_below(x, edges, 7, dtype)):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)


def test_extreme_numbers_and_equal_edges(each_isa):
    x, edges = np.array([*ENDS, np.nan, -np.nan]), np.array([-np.inf, -1.0, 0.0, 0.0, 1.0, np.inf, np.inf])
    expected = [0, 1, 1, 2, 2, 2, 4, 4, 5, 5, 9, 9]
    for found in each_isa(lambda: count_below(x, edges, 9, np.uint8)):
        assert found.tolist() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3, np.float32), np.zeros(1), 0, np.uint8), "x must be float64 of shape"),
        ((np.zeros((3, 1)), np.zeros(1), 0, np.uint8), "x must be float64 of shape"),
        ((np.zeros(3), np.array([1.0, 0.0]), 0, np.uint8), "edges must be numbers of shape"),
        ((np.zeros(3), np.array([np.nan]), 0, np.uint8), "edges must be numbers of shape"),
        ((np.zeros(3), np.zeros((1, 1)), 0, np.uint8), "edges must be numbers of shape"),
        ((np.zeros(3), np.zeros(256), 0, np.uint8), "at most 255 for uint8, got 256 and 0"),
        ((np.zeros(3), np.zeros(1), 256, np.uint8), "at most 255 for uint8, got 1 and 256"),
        ((np.zeros(3), np.zeros(MOST + 1), 0, np.uint16), "at most 65535 for uint16"),
        ((np.zeros(3), np.zeros(1), 0, np.int16), "dtype must be uint8 or uint16, got int16"),
        ((np.zeros(3), np.zeros(1), -1, np.uint8), "too large or too small"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        count_below(*arguments)
