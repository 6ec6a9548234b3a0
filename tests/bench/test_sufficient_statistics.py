import numpy as np
import pytest
import scipy.sparse as sp
import sufficient_statistics as statistics


def drawn(rng, n=4000):
    table = rng.integers(0, 3, (n, 5))
    return table, np.array([3] * 5), np.where((table[:, 0] == 1) ^ (rng.random(n) < 0.05), 1, -1)


def test_columns_of_zero_and_one_become_codes():
    X = sp.csr_array(np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]))
    starts = statistics.attributes(["a=x", "a=y", "b=x", "c=x"])
    np.testing.assert_array_equal(starts, [0, 2, 3, 4])
    np.testing.assert_array_equal(statistics.attributes(sizes=(2, 1, 1)), starts)
    table, sizes = statistics.codes(X, starts)
    np.testing.assert_array_equal(table, [[1, 0, 1], [2, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(sizes, [3, 2, 2])
    np.testing.assert_array_equal(statistics.rows(table, sizes).toarray()[0], [0, 1, 0, 1, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="columns 0 to 4"):
        statistics.codes(X, np.array([0, 4]))


def test_it_finds_what_decides_where_there_is_little_noise(rng):
    table, sizes, y = drawn(rng)
    w = statistics.fit(table, sizes, y, 50.0, 1e-6, ridges=(1e-3,), rng=rng)[:, 0]
    assert w.argmax() == 1
    assert ((statistics.rows(table, sizes) @ w >= 0) == (y == 1)).mean() > 0.93


def test_counts_are_estimated_from_noisy_ones(rng):
    table, sizes, y = drawn(rng)
    by_label, pairs = statistics._released(table, sizes, y > 0, 50.0, rng)
    X = statistics.rows(table, sizes)[:, :-1]
    np.testing.assert_allclose(pairs, (X.T @ X).toarray(), atol=20)
    np.testing.assert_allclose(by_label[1], X.T @ (y > 0), atol=20)
    by_label, pairs = statistics._released(table, sizes, y > 0, 1e-9, rng)
    assert np.abs(pairs - (X.T @ X)).max() > 100


def test_the_loss_is_a_polynomial_of_the_second_degree_near_the_logistic_one():
    s = np.linspace(-6, 6, 50)
    assert np.abs(np.polyval(statistics._LOSS[::-1], s) - np.logaddexp(0, -s)).max() < 0.5
