"""Fitting a private decision list, packing included."""

import numpy as np
import pytest
from workloads import booleans

from dpfast import BitMatrix, DecisionListClassifier, load_dataset


@pytest.mark.benchmark(group="fit on mushroom")
def test_dpfast_fit_mushroom(benchmark):
    mushroom = load_dataset("mushroom")
    clf = benchmark(DecisionListClassifier(random_state=0).fit, mushroom.data, mushroom.target)
    assert clf.score(mushroom.data, mushroom.target) > 0.9


@pytest.mark.parametrize("n", [10**3, 10**4, 10**5])
@pytest.mark.benchmark(group="fit on n x 2000 booleans")
def test_dpfast_fit_booleans(benchmark, n):
    X, y = booleans(n, 2000)
    benchmark.extra_info["bytes"] = X.nbytes
    benchmark(DecisionListClassifier(random_state=0).fit, X.view(np.bool_), y)


@pytest.mark.parametrize("n", [10**3, 10**4, 10**5])
@pytest.mark.benchmark(group="fit on n x 2000 packed")
def test_dpfast_fit_packed(benchmark, n):
    X, y = booleans(n, 2000)
    table = BitMatrix(X)
    benchmark.extra_info["bytes"] = table.rows.nbytes + table.columns.nbytes
    benchmark(DecisionListClassifier(random_state=0).fit, table, y)
