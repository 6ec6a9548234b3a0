import math

import numpy as np
import pytest

from dpfast import CodeTable
from dpfast.kernels import logistic
from dpfast.tables import codes as module
from dpfast.tables.codes import CodeRows

TABLES = {
    "few": [3, 7, 256],
    "large": [5, 3, 33, 300, 2],
    "many columns": [4] * 150 + [6] * 150,
}


def table(rng, sizes, n):
    return CodeTable(rng.integers(0, sizes, (n, len(sizes))), sizes)


def indicators(codes):
    """A column for each code: float64, shape (n, codes)."""
    return np.hstack([codes.toarray()[:, [j]] == np.arange(size) for j, size in enumerate(codes.sizes)]).astype(float)


@pytest.mark.parametrize("sizes", TABLES.values(), ids=list(TABLES))
def test_counts_are_those_of_indicators(sizes, rng):
    codes = table(rng, sizes, 500)
    np.testing.assert_array_equal(CodeRows(codes).counts(), indicators(codes).sum(axis=0))


@pytest.mark.parametrize("sizes", TABLES.values(), ids=list(TABLES))
@pytest.mark.parametrize("k", [1, 3])
def test_sums_of_residuals_are_those_of_each_rows(sizes, k, rng):
    codes = table(rng, sizes, 700)
    rows, x = CodeRows(codes), indicators(codes)
    labels = rng.integers(0, max(2, k), 700).astype(np.uint8 if k == 1 else np.uint16)
    limits, constants = rng.integers(0, 1 << 16, 700).astype(np.int32), rng.normal(size=k).astype(np.float32)
    entries, step = rows.round_coefficients(rng.normal(size=(len(x.T), k)))
    scores = np.ascontiguousarray(x @ entries, np.int32)
    if k == 1:
        residuals = logistic.two(scores, labels, limits, step, float(constants[0]))
    else:
        residuals = logistic.many(scores, labels, limits, step, constants)
    np.testing.assert_array_equal(rows.residual_sums(labels, limits, entries, step, constants), x.T @ residuals)


@pytest.mark.parametrize("most", [1, 1000, 1 << 16])
def test_limits_keep_every_row_within_the_ball_and_are_the_largest_that_do(most, rng):
    codes = table(rng, TABLES["large"], 2000)
    squares = rng.integers(0, 2**20, codes.offsets[-1]).astype(np.int32)
    exact = (indicators(codes) @ squares).astype(int).tolist()
    for allowed in (0, 1, 12345, 2**20, 2**21, 2**28):
        for limit, square in zip(CodeRows(codes).limits(squares, allowed, most).tolist(), exact, strict=True):
            assert 0 <= limit <= most
            assert limit**2 * square <= most**2 * allowed
            assert limit == most or (limit + 2) ** 2 * square > most**2 * allowed


def test_a_sum_does_not_depend_on_threads_and_parts(rng, monkeypatch):
    codes = table(rng, TABLES["large"], 3000)
    labels, limits = rng.integers(0, 4, 3000).astype(np.uint16), rng.integers(0, 1 << 16, 3000).astype(np.int32)
    coef, results = rng.normal(size=(codes.offsets[-1], 4)), []
    for threads, size, near in (("1", 1 << 22, 1 << 18), ("2", 1 << 22, 1 << 18), ("5", 3, 1)):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
        monkeypatch.setattr(module, "_NEAR", near)
        rows = CodeRows(codes)
        given = *rows.round_coefficients(coef), np.zeros(4, np.float32)
        results.append(
            (rows.counts(), rows.residual_sums(labels, limits, *given), rows.linear_scores(coef, np.zeros(4)))
        )
    for others in results[1:]:
        for a, b in zip(results[0], others, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("sizes", TABLES.values(), ids=list(TABLES))
@pytest.mark.parametrize("spread", [1.0, 1e-12, 1e12])
def test_coefficients_are_rounded_to_a_part_of_how_far_they_are_apart(sizes, spread, rng):
    codes = table(rng, sizes, 300)
    coef = rng.normal(size=(codes.offsets[-1], 2)) * spread + 3
    exact = coef[codes.toarray() + codes.offsets[:-1]].sum(axis=1) + 1
    found = CodeRows(codes).linear_scores(coef, np.array([1.0, 1.0]))
    parts = 2.0**24 if len(codes.sizes) < 128 else 2.0**22
    np.testing.assert_allclose(found, exact, atol=len(codes.sizes) * max(spread, 3) * 10 / parts)
    assert math.isfinite(found.sum())


def test_coefficients_of_another_table_are_refused(rng):
    with pytest.raises(ValueError, match="coefficients for 4 codes, X has 266"):
        CodeRows(table(rng, TABLES["few"], 10)).linear_scores(np.zeros((4, 1)), np.zeros(1))
