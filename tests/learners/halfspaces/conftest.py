import numpy as np
import pytest


@pytest.fixture
def table(rng):
    X = rng.normal(size=(3000, 12))
    return X, np.where(X[:, 3] - X[:, 7] > 0, "yes", "no")
