import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpfast import CodeTable
from dpfast.learners.halfspaces.perceptron import unsettled
from dpfast.tables import code_rows as module
from dpfast.tables.unit_rows import unit_rows

TABLES = {
    "categories": [(3, None), (7, None), (256, None)],
    "numbers": [(5, 4), (3, None), (33, 32), (300, 299), (2, 1)],
    "many columns": [(4, 3)] * 150 + [(6, None)] * 150,
}


def table(rng, described, n):
    """A table whose columns have the sizes and, where they are numbers, the bins that are described."""
    sizes = [size for size, _ in described]
    columns = [SimpleNamespace(ordered=bins is not None, bins=bins) for _, bins in described]
    return CodeTable(rng.integers(0, sizes, (n, len(sizes))), sizes, columns=columns)


def dense(table, fit_intercept):
    """The rows as floats: indicators, numbers, hats and the constant, scaled to the longest that a row may be."""
    X, blocks, curves, squares = table.toarray(), [], [], len(table.sizes) + fit_intercept
    for j, (size, column) in enumerate(zip(table.sizes, table.columns, strict=True)):
        bends = column.ordered and column.bins > module.HATS
        blocks.append((X[:, [j]] == np.arange(size)) / (1 + bends))
        if column.ordered:
            v = (2 * X[:, [j]] + 1) / column.bins - 1
            knots = np.linspace(-1, 1, module.HATS + 1)
            hats = [np.maximum(0, 1 - abs(v - knots) * module.HATS / 2)] * bends
            curves.append(np.where(X[:, [j]] < column.bins, np.hstack([v, *hats]), 0))
            squares += 1 + bends / 4  # 1/4 + 1 for the hats in the place of 1
    whole = np.column_stack([*blocks, *curves, *[np.ones(len(X))] * fit_intercept])
    return whole / math.sqrt(squares)


@pytest.mark.parametrize("described", TABLES)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_margins_and_sums_are_those_of_indicators_and_curves(described, fit_intercept, k, rng):
    codes = table(rng, TABLES[described], 400)
    rows, x = unit_rows(codes, fit_intercept=fit_intercept), dense(codes, fit_intercept)
    assert rows.shape == x.shape
    w = rng.normal(size=(x.shape[1], k))
    np.testing.assert_allclose(rows.margins(w), x @ w, atol=2e-3)  # numbers are rounded to 2**-12
    weights = rng.integers(-4096, 4097, (400, k)).astype(np.int32)
    np.testing.assert_allclose(rows.weighted_sum(weights) / rows.reach, x.T @ weights, rtol=1e-3, atol=600)


@pytest.mark.parametrize("described", TABLES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_sum_of_rows_behind_is_that_of_their_weights(described, fit_intercept, rng):
    rows = unit_rows(table(rng, TABLES[described], 900), fit_intercept=fit_intercept)
    labels = rng.integers(0, 2, 900).astype(np.uint8)
    for threshold in (0.0, 1e-3, 0.05, 10.0, np.inf):
        w = rng.normal(size=(rows.shape[1], 1)) / 9
        weights = unsettled(rows.margins(w), labels, threshold) * np.array([3, 256], np.int32)[labels][:, np.newaxis]
        np.testing.assert_array_equal(rows.sum_behind(w, labels, threshold, (3, 256)), rows.weighted_sum(weights))


@pytest.mark.parametrize("described", TABLES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_row_of_integers_leaves_the_ball_and_none_without_numbers_is_inside(described, fit_intercept, rng):
    rows = unit_rows(table(rng, TABLES[described], 40), fit_intercept=fit_intercept)
    for one in np.eye(40, dtype=np.int32)[:, :, np.newaxis]:
        square = int((rows.weighted_sum(one) ** 2).sum())
        assert square <= rows.reach**2
        if described == "categories":
            assert square > (rows.reach - 1) ** 2


@pytest.mark.parametrize("bins", [2, module.HATS, module.HATS + 1, 10, 32, 255, 65535])
def test_hats_add_up_to_one_and_span_what_is_straight_and_what_bends(bins):
    codes = CodeTable(np.arange(bins)[:, np.newaxis], [bins], columns=[SimpleNamespace(ordered=True, bins=bins)])
    curves = unit_rows(codes)._curves.toarray()
    if bins <= module.HATS:
        assert curves.shape == (1, bins)
        return
    number, hats = curves[0], curves[1:]
    assert hats.min() == 0
    assert (hats > 0).sum(axis=0).max() <= 2
    assert (abs(hats.sum(axis=0) - module.UNIT) <= 2).all()  # between two knots their heights are 1 in all
    assert (np.square(hats).sum(axis=0) <= module.UNIT**2).all()
    assert np.abs(np.linspace(-1, 1, module.HATS + 1) @ hats - number).max() <= 4


def test_changing_one_row_changes_no_other_rows_integers(rng):
    codes = table(rng, TABLES["numbers"], 30)
    X = codes.toarray()
    X[17] = [size - 1 for size in codes.sizes]
    changed = CodeTable(X, codes.sizes, columns=codes.columns)
    for i in np.flatnonzero(np.arange(30) != 17):
        one = np.zeros((30, 1), np.int32)
        one[i] = 1
        before, after = unit_rows(codes).weighted_sum(one), unit_rows(changed).weighted_sum(one)
        np.testing.assert_array_equal(before, after)


def test_sums_are_exact_and_do_not_depend_on_threads_and_parts(rng, monkeypatch):
    codes = table(rng, TABLES["numbers"], 3000)
    weights = rng.integers(-4096, 4097, (3000, 2)).astype(np.int32)
    w = rng.normal(size=(unit_rows(codes, fit_intercept=True).shape[1], 2))
    results = []
    for threads, size in (("1", 1 << 22), ("2", 1 << 22), ("5", 3)):
        monkeypatch.setenv("DPFAST_THREADS", threads)
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
        rows = unit_rows(codes, fit_intercept=True)
        results.append((rows.weighted_sum(weights), rows.margins(w)))
    for total, margins in results[1:]:
        np.testing.assert_array_equal(total, results[0][0])
        np.testing.assert_array_equal(margins, results[0][1])
    grid = np.floor(dense(codes, True) * math.sqrt(5 + 4 + 2 / 4 + 1) * module.UNIT + 1e-6).astype(np.int64)
    np.testing.assert_array_equal(results[0][0], grid.T @ weights)


@pytest.mark.parametrize("described", TABLES)
@pytest.mark.parametrize("spread", [1.0, 1e-12, 1e12])
def test_coefficients_are_rounded_to_a_part_of_how_far_they_are_apart(described, spread, rng):
    codes = table(rng, TABLES[described], 300)
    coef = rng.normal(size=(codes.offsets[-1], 2)) * spread + 3
    exact = coef[codes.toarray() + codes.offsets[:-1]].sum(axis=1) + 1
    found = unit_rows(codes).looked_up(coef, np.array([1.0, 1.0]))
    parts = 2.0**24 if len(codes.sizes) < 128 else 2.0**22
    atol = len(codes.sizes) * max(spread, 3) * 10 / parts
    np.testing.assert_allclose(found, exact, atol=atol)


def test_coefficients_of_another_table_are_refused(rng):
    with pytest.raises(ValueError, match="coefficients for 4 codes, X has 266"):
        unit_rows(table(rng, TABLES["categories"], 10)).looked_up(np.zeros((4, 1)), np.zeros(1))
