import noisy_gradient
import numpy as np
import pytest
import results
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


def test_who_is_ahead_is_told_by_how_much_losses_included():
    found = {"t": {"ours": {"1": 0.9, "3": 0.7}, "a": {"1": 0.8, "3": 0.75}, "b": {"1": 0.85, "3": 0.6}}}
    assert results.winners(found, "ours").splitlines()[2:] == ["| t | **ours**, +0.050 (b) | a, +0.050 |"]


def test_a_report_names_methods_splits_and_who_is_ahead():
    def medians(*accuracies):
        return [{"epsilon": e, "accuracy": a, "setting": ""} for e, a in zip(utility.EPSILONS, accuracies, strict=True)]

    exact = [{"epsilon": None, "accuracy": 0.99, "setting": ""}]
    methods = {
        utility.OWN: {"seeds": 10, "version": "0.2", "medians": medians(0.6, 0.7, 0.8, 0.9)},
        utility.NOT_PRIVATE: {"seeds": 3, "version": "0.1", "medians": exact},
        "DPEBM": {"seeds": 5, "version": "0.1", "medians": medians(0.5, 0.71, 0.8, 0.85)},
        "else": {"refused": "too wide"},
    }
    machine = {"processor": "x", "cores": 1, "level": "scalar", "versions": {}}
    text = utility.markdown({"machine": machine, "tables": {"t": methods}})
    assert f"| t | {utility.OWN} | 0.600 | 0.700 | 0.800 | 0.900 | 0.2 | 10 |" in text
    assert f"|  | {utility.NOT_PRIVATE} | 0.990 | 0.990 | 0.990 | 0.990 | 0.1 | 3 |" in text
    assert "| DPEBM, +0.010 |" in text
    assert f"| **{utility.OWN}**, +0.050 (DPEBM) |" in text
    assert "* else on t: too wide" in text
