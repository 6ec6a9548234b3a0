"""Tables of codes against numpy and LightGBM, and against the same rows as indicators in CSR or as packed bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import CodeTable, DecisionListClassifier, Schema
from dpfast.kernels import codes
from dpfast.learners.halfspaces.halfspace import image_of
from dpfast.parts import Piece
from dpfast.tables import Numeric
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.codes import CodeRows
from dpfast.tables.unit_rows import unit_rows

N, P = 200_000, 100
SIZES = (32, 255)


@pytest.fixture(scope="module", params=SIZES)
def table(request):
    return CodeTable(np.random.default_rng(0).integers(0, request.param, (N, P)), [request.param] * P)


@pytest.fixture(scope="module")
def labels():
    return np.random.default_rng(1).integers(0, 2, N).astype(np.uint8)


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(2)
    return (rng.integers(1, 4097, N) * rng.choice([-1, 1], N)).astype(np.int32)


def by_column(table, values):
    """`values` of each column and its codes, side by side."""
    return np.concatenate([values(table.column(j), table.sizes[j]) for j in range(P)])


def note(benchmark, work, table):
    """Which lines a line is compared with, and what it reads."""
    benchmark.group = f"{work}, {N:,} x {P}, {table.sizes[0]} codes a column"
    benchmark.extra_info["bytes"] = N * P
    benchmark.extra_info["items"] = (N * P, "codes")


def test_dpfast_counts(benchmark, table, labels, isa):
    note(benchmark, "counts by two labels", table)
    counted = codes.counts(table.codes, labels, 2)
    expected = by_column(table, lambda code, size: np.bincount(2 * code.astype(int) + labels, minlength=2 * size))
    np.testing.assert_array_equal(counted.ravel(), expected)
    benchmark(codes.counts, table.codes, labels, 2)


def test_numpy_bincount(benchmark, table, labels):
    note(benchmark, "counts by two labels", table)

    def counts():
        return by_column(table, lambda code, size: np.bincount(2 * code.astype(int) + labels, minlength=2 * size))

    benchmark(counts)


def test_dpfast_sums(benchmark, table, weights, isa):
    note(benchmark, "sums of weights by code", table)
    expected = by_column(table, lambda code, size: np.bincount(code, weights, minlength=size))
    np.testing.assert_array_equal(codes.sums(table.codes, weights), expected)
    benchmark(codes.sums, table.codes, weights)


def test_numpy_bincount_of_weights(benchmark, table, weights):
    note(benchmark, "sums of weights by code", table)
    benchmark(by_column, table, lambda code, size: np.bincount(code, weights, minlength=size))


def test_lightgbm_round_of_one_split(benchmark, table, labels):
    """All of a round: gradients and the split too, which are about a tenth of it."""
    note(benchmark, "sums of weights by code", table)
    lightgbm = pytest.importorskip("lightgbm")
    options = {"max_bin": 255, "min_data_in_bin": 1, "num_threads": 1, "verbosity": -1, "force_col_wise": True}
    data = lightgbm.Dataset(table.toarray().astype(np.float32), labels, params=options)
    booster = lightgbm.Booster(options | {"objective": "binary", "num_leaves": 2}, data)
    booster.update()
    benchmark(booster.update)


def test_dpfast_margins(benchmark, table, isa):
    note(benchmark, "margins by look-up", table)
    entries = np.random.default_rng(3).integers(-(2**20), 2**20, table.offsets[-1]).astype(np.int32)
    expected = sum(entries[table.offsets[j] + table.column(j).astype(int)] for j in range(P))
    np.testing.assert_array_equal(codes.margins(table.codes, entries), expected)
    benchmark(codes.margins, table.codes, entries)


def test_numpy_take(benchmark, table):
    note(benchmark, "margins by look-up", table)
    entries = np.random.default_rng(3).integers(-(2**20), 2**20, table.offsets[-1]).astype(np.int32)
    parts = np.split(entries, table.offsets[1:-1])
    benchmark(lambda: sum(parts[j].take(table.column(j)) for j in range(P)))


def a_round(rows, labels, u):
    """What a round asks: the sum of residuals times images, for coefficients of an image of these rows."""
    image, piece = image_of(rows, 2, True), Piece(None, labels, rows=rows)
    image.open(np.full(image.opening_size, N / 2), 1.0, N)
    question, *told = image.question(u(image.size), np.zeros(1))
    return lambda: question(piece, *told)


def drawn(size):
    return np.random.default_rng(4).normal(size=(size, 1))


def test_dpfast_codes(benchmark, table, labels):
    note(benchmark, "a round of a halfspace", table)
    benchmark(a_round(CodeRows(table), labels.astype(np.int64), drawn))


def test_csr_of_indicators(benchmark, table, labels):
    note(benchmark, "a round of a halfspace", table)
    indices = (table.toarray() + table.offsets[:-1]).astype(np.int32).ravel()
    X = sp.csr_array((np.ones(N * P, np.float32), indices, np.arange(0, N * P + 1, P)), (N, int(table.offsets[-1])))
    benchmark(a_round(unit_rows(X, fit_intercept=True, normalize=True), labels.astype(np.int64), drawn))


def a_list(table, labels):
    return lambda: DecisionListClassifier(delta=1e-7, random_state=0).fit(table, labels, classes=[0, 1]).rules_


@pytest.fixture(scope="module")
def ruled(table):
    """Labels that a list over the first columns predicts, one in ten wrong."""
    size, rng = int(table.sizes[0]), np.random.default_rng(5)
    high = [5 * table.column(j).astype(int) > 4 * size for j in range(3)]
    return (high[0] | ~high[1] & high[2]) ^ (rng.random(N) < 0.1)


@pytest.fixture(scope="module")
def thresholds(table):
    """The table whose columns are bins of numbers."""
    columns = Schema([Numeric(f"x{j}", 0, 1, edges=int(size)) for j, size in enumerate(table.sizes)]).code_columns
    return CodeTable.from_arrays(table.codes.columns, table.sizes, columns=columns)


def test_a_list_over_codes(benchmark, thresholds, ruled):
    note(benchmark, "a list over all thresholds", thresholds)
    benchmark(a_list(thresholds, ruled))


def test_a_list_over_packed_bits(benchmark, thresholds, ruled):
    """Packed both ways beforehand: 63 times the memory of 255 codes a column."""
    note(benchmark, "a list over all thresholds", thresholds)
    bits = pack_codes(thresholds)
    benchmark.extra_info["bytes"] = bits.rows.nbytes + bits.columns.nbytes
    assert a_list(bits, ruled)() == a_list(thresholds, ruled)()
    benchmark(a_list(bits, ruled))
