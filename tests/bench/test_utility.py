import noisy_gradient
import numpy as np
import pytest
import scipy.sparse as sp
import utility

from dpfast.accounting import gaussian_sigma


def test_the_best_setting_is_the_one_of_best_median():
    lucky = [(seed, 1.0, "lucky once", accuracy) for seed, accuracy in enumerate((0.5, 0.5, 1.0))]
    steady = [(seed, 1.0, "steady", 0.6) for seed in range(3)]
    assert utility.best_medians(lucky + steady) == {1.0: (0.6, "steady")}


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_rows_have_norm_one_with_their_constant(as_rows):
    rows = noisy_gradient.unit_rows(as_rows([[1.0, 0, 1], [0, 0, 0]]))
    rows = rows.toarray() if sp.issparse(rows) else rows
    np.testing.assert_allclose(rows, [[3**-0.5, 0, 3**-0.5, 3**-0.5], [0, 0, 0, 1]])


def test_a_step_without_signal_is_the_calibrated_noise():
    X, y, steps, n = np.zeros((10, 20_000)), np.ones(10), 4, 10
    weights = noisy_gradient.fit(X, y, 1.0, 1e-6, steps=steps, rates=[1, 3], rng=np.random.default_rng(0))
    sigma = gaussian_sigma(1.0, 1e-6, sensitivity=2 * np.sqrt(steps)) * np.sqrt(steps) / n
    np.testing.assert_allclose(weights.std(axis=0), [sigma, 3 * sigma], rtol=0.02)


def test_splits_are_disjoint_and_whole():
    table = utility.Table("t", np.arange(10)[:, np.newaxis], np.tile([-1, 1], 5))
    (split,) = utility.splits(table, 1)
    assert sorted([*split.X.ravel(), *split.X_test.ravel()]) == list(range(10))
