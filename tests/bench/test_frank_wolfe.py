import frank_wolfe
import numpy as np
import scipy.sparse as sp


def test_it_steps_to_the_corners_that_agree_with_the_labels_where_there_is_little_noise(rng):
    X = rng.choice([-1.0, 1.0], (4000, 30))
    y = np.where(X[:, 4] + 0.5 * X[:, 9] > 0, 1, -1)
    for form in (np.asarray, sp.csr_array):
        rows = frank_wolfe.rows(form(X))
        w = frank_wolfe.fit(rows, y, 20.0, 1e-6, steps=10, radius=3, rng=np.random.default_rng(0))
        assert w.argmax() == 4
        assert np.abs(w).sum() <= 3 + 1e-9
        assert ((rows @ w >= 0) == (y == 1)).mean() > 0.95


def test_next_to_no_budget_gives_corners_at_random(rng):
    X, y = np.ones((50, 7)), np.ones(50)
    draws = [
        np.flatnonzero(frank_wolfe.fit(X, y, 1e-6, 1e-6, steps=1, radius=1, rng=np.random.default_rng(seed)))[0]
        for seed in range(100)
    ]
    assert {*draws} == set(range(7))
