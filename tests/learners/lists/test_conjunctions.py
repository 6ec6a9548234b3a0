from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from dpfast import BitMatrix
from dpfast.kernels import bits
from dpfast.learners.lists import covering


@pytest.mark.parametrize("negations", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_every_conjunction_is_there_once(k, negations, rng):
    X = rng.random((40, 4)) < 0.5
    columns, codes = covering.conjunction_columns(BitMatrix(X), k, negations)
    literals = {tuple(code[code >= 0]) for code in codes}
    expected = {
        tuple(2 * j + s for j, s in zip(chosen, signs, strict=True))
        for size in range(1, k + 1)
        for chosen in combinations(range(4), size)
        for signs in product((0, 1) if negations else (0,), repeat=size)
    }
    assert literals == expected
    assert len(codes) == len(expected) == covering.conjunction_count(4, k, negations)
    for column, code in zip(bits.unpack(columns, 40), codes, strict=True):
        np.testing.assert_array_equal(column, np.all([X[:, c // 2] != c % 2 for c in code if c >= 0], axis=0))


def test_more_literals_than_columns_add_nothing():
    assert covering.conjunction_count(2, 5, True) == 2 * 2 + 4
    assert len(covering.conjunction_codes(2, 5, True)) == 8


def test_a_count_that_does_not_fit_is_refused_with_the_count_and_the_memory(monkeypatch):
    monkeypatch.setattr(covering, "memory", lambda: 10_000_000)
    count = comb(100, 2) * 4 + 200
    with pytest.raises(ValueError, match=rf"conjunctions=2 over 100 columns makes {count:,} features, 0\.\d GB"):
        covering.check_memory(1000, 100, 2, True)
