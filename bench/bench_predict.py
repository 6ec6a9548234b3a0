"""Predictions of a model with 100 trees: a million rows of a frame, beside their codes; and one row, beside many.

The work is the same on both sides, which is verified: rows have the same probabilities one by one as together.
"""

from functools import cache

import numpy as np
import pytest

import dpfast

pd = pytest.importorskip("pandas")
N, FITTED = 1_000_000, 100_000


def frame(n):
    """Twenty columns: numbers, integers and words."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n) * 10**j for j in range(6)}
    columns |= {f"k{j}": rng.integers(0, 100 * 10**j, n) for j in range(4)}
    columns |= {f"a{j}": np.round(rng.gamma(1, 100, n), 2) for j in range(4)}
    for j in range(6):
        words = [f"w{k}" for k in range(5 + 5 * j)]
        columns[f"c{j}"] = pd.Categorical.from_codes(rng.integers(0, len(words), n), words)
    return pd.DataFrame(columns)


@cache
def fitted():
    X = frame(FITTED)
    y = X["x0"] + X["k0"] / 50 + X["a0"] / 100 * (X["c0"].cat.codes % 2) > 1.5
    return dpfast.HalfspaceClassifier(random_state=0, trees=100).fit(X, y.to_numpy())


def test_rows_have_the_same_probabilities_one_by_one_as_together():
    model, X = fitted(), frame(500)
    together = model.predict_proba(X)
    for i in range(500):
        np.testing.assert_array_equal(model.predict_proba(X[i : i + 1]), together[[i]])


@pytest.mark.benchmark(group="predictions for 1e6 rows, 100 trees")
def test_a_frame(benchmark, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "1")
    model, X = fitted(), frame(N)
    benchmark.pedantic(model.predict, (X,), rounds=5)
    benchmark.extra_info["rows / s"] = N / benchmark.stats["min"] if benchmark.stats else None


@pytest.mark.benchmark(group="predictions for 1e6 rows, 100 trees")
def test_its_codes(benchmark, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "1")
    model = fitted()
    codes = model.encoder_.transform(frame(N))
    benchmark.pedantic(model.predict, (codes,), rounds=5)


@pytest.mark.benchmark(group="probabilities for one row of 20 columns, 100 trees")
@pytest.mark.parametrize("rows", [1, 17], ids=["one row, cell by cell", "17 rows, column by column"])
def test_a_few_rows_of_a_frame(benchmark, rows):
    model, X = fitted(), frame(rows)
    benchmark(model.predict_proba, X)


@pytest.mark.benchmark(group="probabilities for one row of 20 columns, 100 trees")
def test_a_dict(benchmark):
    model, X = fitted(), frame(1)
    benchmark(model.predict_proba, {name: X[name].tolist() for name in X})
