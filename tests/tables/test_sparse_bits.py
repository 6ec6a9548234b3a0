"""Few ones among many columns are counted by their places, and nothing is packed."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix, DecisionListClassifier
from dpfast.base.inputs import packed_rows
from dpfast.kernels import bits
from dpfast.parts import MemoryParts
from dpfast.tables import bit_matrix
from dpfast.tables.bit_matrix import SparseBits, suits


def few_ones(rng, n=300, d=3000, ones=800):
    X = sp.coo_array((np.ones(ones), (rng.integers(0, n, ones), rng.integers(0, d, ones))), shape=(n, d)).tocsr()
    X.data[:] = 1
    X.data[::9] = 0  # stored, and no one
    return X


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_columns_and_counts_are_those_of_packed_bits(threshold, rng):
    X, labels = few_ones(rng), rng.integers(0, 3, 300).astype(np.uint8)
    table, packed = SparseBits(X, threshold), BitMatrix(X, threshold=threshold)
    dense = X.toarray() > 0
    for j in [0, 2999, *np.flatnonzero(dense.any(axis=0))[:5]]:
        np.testing.assert_array_equal(table.column(j), packed.column(j))
    for mask in (None, rng.random(300) < 0.2, np.zeros(300, bool)):
        rows = np.ones(300, bool) if mask is None else mask
        wanted = [dense[rows & (labels == c)].sum(axis=0) for c in range(3)]
        told = None if mask is None else bits.pack(mask[np.newaxis].view(np.uint8))[0]
        np.testing.assert_array_equal(table.counts(labels, 3, told), wanted)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_list_is_that_of_packed_bits_from_any_format_and_parts(form, rng, monkeypatch):
    X, y = few_ones(rng).asformat(form), rng.random(300) < 0.4
    assert suits(X, None)
    given = {"random_state": 2, "max_rules": 6, "epsilon": 3.0}
    model = DecisionListClassifier(**given).fit(X, y)
    if form == "csr":
        ends = itertools.pairwise([0, 0, 40, 300])
        parts = MemoryParts([(X[a:b], y[a:b]) for a, b in ends])
        assert DecisionListClassifier(**given).fit(parts).rules_ == model.rules_
    predicted = model.predict(X)
    monkeypatch.setattr(bit_matrix, "SPARSE", 1 << 40)
    packed = DecisionListClassifier(**given).fit(X, y)
    assert packed.rules_ == model.rules_
    np.testing.assert_array_equal(packed.rule_counts_, model.rule_counts_)
    np.testing.assert_array_equal(packed.predict(X), predicted)


def test_a_million_columns_are_never_packed(rng):
    X = few_ones(rng, n=20_000, d=1_000_000, ones=200_000)  # 2.5 GB packed
    table = packed_rows(X, None, packs=False)
    assert isinstance(table, SparseBits)
    assert DecisionListClassifier(random_state=0, max_rules=2).fit(X, np.arange(20_000) % 2).n_features_in_ == 10**6


def test_what_is_not_zero_or_one_is_refused_and_other_tables_are_packed(rng):
    X = few_ones(rng)
    X.data[5] = 2
    with pytest.raises(ValueError, match="entries must be 0 or 1, got 2"):
        SparseBits(X)
    assert not suits(X, -1.0)  # what is not stored is above
    assert not suits(X.toarray(), None)
    assert not suits(sp.csr_array(np.eye(5)), None)
    assert isinstance(packed_rows(few_ones(rng), None), BitMatrix)
