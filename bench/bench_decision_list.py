"""Fitting a private decision list, packing included."""

import numpy as np
import peers
import pytest
from workloads import booleans

from dpfast import BitMatrix, DecisionListClassifier, load_dataset

GROUP = "a list of depth {}, 1e5 x 2000 booleans"
EXPLAINING = 2000 // 3, 2000 // 2  # the columns that labels of `booleans` depend on


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


def short_list(depth):
    """A list of `depth` rules and the default, none left out: what imodels calls a depth."""
    return DecisionListClassifier(epsilon=10, max_rules=depth + 1, default_prior=0, random_state=0)


@pytest.mark.parametrize("depth", [1, 5])
def test_dpfast_short_list(benchmark, depth):
    benchmark.group = GROUP.format(depth)
    X, y = booleans(10**5, 2000)
    benchmark.extra_info["bytes"] = X.nbytes
    rules = benchmark(short_list(depth).fit, X.view(np.bool_), y).rules_
    assert rules[0].literals[0].feature in EXPLAINING
    assert len(rules) == depth + 1


@pytest.mark.parametrize("depth", [1, 5])
def test_dpfast_short_list_packed(benchmark, depth):
    benchmark.group = GROUP.format(depth)
    X, y = booleans(10**5, 2000)
    table = BitMatrix(X)
    benchmark.extra_info["bytes"] = table.columns.nbytes
    benchmark(short_list(depth).fit, table, y)


@pytest.mark.parametrize("depth", [1, 5])
def test_imodels_greedy_rule_list(benchmark, depth):
    benchmark.group = GROUP.format(depth)
    features = benchmark.pedantic(peers.greedy_rule_list(*booleans(10**5, 2000), depth), rounds=1)
    assert features[0] in EXPLAINING
    assert len(features) == depth


ROUNDS = 10  # of rescoring, of 2001 in a whole list


@pytest.mark.benchmark(group="a list over all of 1e5 x 2000 packed, a round")
def test_dpfast_whole_list(benchmark):
    X, y = booleans(10**5, 2000)
    table = BitMatrix(X)
    assert table.columns.any()
    benchmark.extra_info["work"] = 2001
    benchmark(DecisionListClassifier(max_rules=None, coverage_weight=0.0, random_state=0).fit, table, y)


@pytest.mark.benchmark(group="a list over all of 1e5 x 2000 packed, a round")
def test_numpy_rescoring(benchmark):
    count = peers.count_columns(*booleans(10**5, 2000))

    def rescore():
        for _ in range(ROUNDS):
            count()

    benchmark.extra_info["work"] = ROUNDS
    benchmark.pedantic(rescore, rounds=3)
