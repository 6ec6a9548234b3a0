"""The default on tables that are nobody's: nothing breaks, and more budget does not hurt."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import HalfspaceClassifier


def _signs(scores):
    return np.where(scores > 0, 1, -1)


def _zipf_text(rng, n=400, d=50_000):
    columns = np.minimum(rng.zipf(1.3, size=(n, 40)) - 1, d - 1)
    X = sp.csr_array((np.ones(n * 40), (np.repeat(np.arange(n), 40), columns.ravel())), shape=(n, d))
    return X, _signs(np.asarray(X[:, [3]].todense()).ravel() - 0.5)


def _heavy_tails(rng, n=3000):
    X = rng.standard_t(1.1, size=(n, 8))
    return X, _signs(np.arctan(X[:, 0]) - np.arctan(X[:, 3]) + 0.3 * rng.normal(size=n))


def _constants(rng, n=3000):
    X = np.column_stack([np.ones((n, 20)), np.zeros((n, 5)), rng.normal(size=(n, 3))])
    return X, _signs(X[:, -1] + X[:, -2])


def _twenty_classes(rng, n=2000):
    centres, y = rng.normal(size=(20, 30)), rng.integers(0, 20, n)
    return 2 * centres[y] + rng.normal(size=(n, 30)), y


ODD = {
    "Zipf text of 50,000 words": _zipf_text,
    "heavy tails": _heavy_tails,
    "constant columns": _constants,
    "twenty classes": _twenty_classes,
    "more columns than rows": lambda rng: (X := rng.normal(size=(100, 900)), _signs(X[:, 0])),
    "two rows": lambda rng: (np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0, 1])),
    "one column": lambda rng: (X := rng.normal(size=(300, 1)), _signs(X[:, 0])),
    "zeros alone": lambda rng: (np.zeros((50, 4)), np.arange(50) % 2),
    "the largest floats": lambda rng: (X := rng.choice([-1e300, 1e300, 1.0], size=(200, 3)), _signs(X[:, 0])),
    "the smallest floats": lambda rng: (X := rng.choice([-5e-324, 5e-324], size=(200, 3)), _signs(X[:, 0])),
}
LEARNABLE = ("heavy tails", "constant columns", "twenty classes")


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_give_finite_models_and_more_budget_does_not_hurt(name, rng):
    X, y = ODD[name](rng)
    classes, scores = np.unique(y), []
    for epsilon in (0.3, 3.0) if name in LEARNABLE else (0.3,):
        clf = HalfspaceClassifier(epsilon, random_state=0).fit(X, y, classes=classes)
        assert np.isfinite(clf.coef_).all()
        assert np.isfinite(clf.intercept_).all()
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)
        scores.append(clf.score(X, y))
    if name in LEARNABLE:
        assert (np.diff(scores) > -0.02).all()
        assert scores[-1] > 0.8
