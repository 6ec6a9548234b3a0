import numpy as np
import pytest

from dpfast.kernels.grid import to_grid


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
