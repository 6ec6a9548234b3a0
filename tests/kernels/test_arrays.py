"""One rule for all kernels: packed rows are what they say, and arrays begin where their entries may."""

from fractions import Fraction

import numpy as np
import pytest

from dpfast.kernels import bits, classes, codes, cover, grid, measure, net, scores, signs, unit_rows
from dpfast.kernels import multiplicative_weights as weights

D, KEY = 70, 3
ONES = np.ones(3, np.int8)
INDEX, COUNT = np.array([0, 5]), np.array([1, -1])


def _counts(rows, d):
    labels = bits.pack(np.ones((1, len(rows)), np.uint8))
    first = np.zeros((1, max(0, d)), np.int64)
    return cover.Counts(rows, None, labels, first, Fraction(1), [(0, 1)], False, 0)


PACKED = {  # of rows and the number of their bits
    "bits.unpack": bits.unpack,
    "bits.transpose": bits.transpose,
    "bits.positional_popcount": bits.positional_popcount,
    "bits.conjunctions": lambda rows, d: bits.conjunctions(rows, d, np.array([[0, 1]])),
    "cover.count": lambda rows, d: cover.count(rows, d, bits.pack(np.ones((1, max(0, d)), np.uint8))),
    "cover.count_rows": lambda rows, d: cover.count_rows(rows, d, np.zeros(len(rows), int), 1),
    "cover.Counts": _counts,
    "scores.add_packed": lambda rows, d: scores.add_packed(np.zeros(max(0, d), np.int64), rows, d, ONES),
    "scores.add_packed, some": lambda rows, d: scores.add_packed(
        np.zeros(max(0, d), np.int64), rows, d, ONES, np.array([2, 1])
    ),
    "scores.votes_packed": lambda rows, d: scores.votes_packed(rows, d, INDEX, COUNT),
    "weights.packed": weights.packed,
    "signs.project_packed": lambda rows, d: signs.project_packed(rows, d, 5, KEY),
    "unit_rows.Packed": unit_rows.Packed,
}


@pytest.fixture
def rows(rng):
    return bits.pack(rng.integers(0, 2, (3, D)).astype(np.uint8))


def misaligned(array):
    """A copy that begins one byte off."""
    array = np.ascontiguousarray(array)
    moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize("name", PACKED)
def test_packed_rows_are_what_they_say_or_refused(name, rows):
    read = PACKED[name]
    read(rows, D)
    for wrong in (D + 64, D - 64, 64, 0):
        with pytest.raises(ValueError, match=f"={wrong} needs . words a row, got shape|not fit together"):
            read(rows, wrong)
    if name != "cover.Counts":  # which takes their number from an array
        with pytest.raises(ValueError, match=r"must be at least 0, got -5|must lie in .*, got -5"):
            read(np.empty((3, 0), np.uint64), -5)
    for bit in range(D % 64, 64):
        past = rows.copy()
        past[1, 1] |= np.uint64(1) << np.uint64(bit)
        with pytest.raises(ValueError, match=rf"bits past .={D} must be zero, some rows have bits there"):
            read(past, D)
    with pytest.raises(ValueError, match="begin at a multiple of 8"):
        read(misaligned(rows), D)


def _unit(x, of=lambda array: array, at=None):
    """Margins and a sum of unit rows; the argument `at` is made by `of`."""
    arrays = {"scale": np.ones(3), "w": np.ones(5, np.float32), "weight": np.ones(3, np.int32)}
    arrays["total"] = np.zeros(5, np.int64)
    if at is not None:
        arrays[at] = of(arrays[at])
    rows = unit_rows.Dense(x)
    unit_rows.margins(rows, arrays["scale"], arrays["w"], out=np.empty(3, np.float32))
    unit_rows.add(arrays["total"], rows, arrays["scale"], arrays["weight"])


X32, X64 = np.ones((3, 4), np.float32), np.ones((3, 4))
WORDS = np.ones(2, np.uint64)
TABLE = measure.table(0.5, 16)
CODES = codes.Columns([np.zeros(3, np.uint8)], [2])
REFUSED = {
    "bits.bitwise_andnot, out": lambda f: bits.bitwise_andnot(
        np.ones(2, np.uint64), np.ones(2, np.uint64), f(np.ones(2, np.uint64))
    ),
    "classes.dimension, memo": lambda f: classes.dimension(
        bits.pack(np.eye(3, dtype=np.uint8)), np.array([7], np.uint64), f(classes.memo(1))
    ),
    "bits.bitwise_and": lambda f: bits.bitwise_and(f(WORDS), WORDS, np.ones(2, np.uint64)),
    "bits.column": lambda f: bits.column(f(np.ones((2, 1), np.uint64)), 3, 1),
    "classes": lambda f: classes.counts(f(np.ones((2, 1), np.uint64)), np.ones(1, np.uint64)),
    "codes.sums": lambda f: codes.sums(CODES, f(np.ones(3, np.int32))),
    "codes.margins": lambda f: codes.margins(CODES, f(np.ones(2, np.int32))),
    "codes": lambda f: codes.Columns([f(np.zeros(3, np.uint16))], [2]),
    "measure.project": lambda f: measure.project(f(np.arange(3, dtype=np.int32)), ONES, TABLE, 20),
    "measure.add": lambda f: measure.add(np.zeros(3, np.int32), ONES, f(np.zeros(3, np.float32)), 16.0),
    "weights.Weights.play, out": lambda f: weights.Weights(4, 0.01).play(
        weights.dense(np.ones((3, 4))), np.random.default_rng(0), out=f(np.zeros(3, np.int64))
    ),
    "scores.add_grid": lambda f: scores.add_grid(np.zeros(4, np.int64), f(np.ones((3, 4), np.int32)), ONES),
    "scores.add_grid, scores": lambda f: scores.add_grid(f(np.zeros(4, np.int64)), np.ones((3, 4), np.int32), ONES),
    "scores.votes_grid": lambda f: scores.votes_grid(f(np.ones((3, 6), np.int32)), INDEX, COUNT),
    "unit_rows, float32": lambda f: _unit(f(X32)),
    "unit_rows, float64": lambda f: _unit(f(X64)),
    "unit_rows, scale": lambda f: _unit(X32, f, "scale"),
    "unit_rows, w": lambda f: _unit(X32, f, "w"),
    "unit_rows, weight": lambda f: _unit(X32, f, "weight"),
    "unit_rows, total": lambda f: _unit(X32, f, "total"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_array_that_begins_between_its_entries_is_refused(name):
    REFUSED[name](np.ascontiguousarray)
    with pytest.raises(ValueError, match=r"must begin at a multiple of \d: copy it first"):
        REFUSED[name](misaligned)


INDPTR, INDICES = np.array([0, 2, 3]), np.array([0, 3, 1])
COPIED = {
    "bits.nonzero": lambda f: bits.nonzero(f(np.ones(2, np.uint64))).tolist(),
    "scores.votes_packed, index": lambda f: scores.votes_packed(
        np.ones((1, 1), np.uint64), 9, f(INDEX), f(COUNT)
    ).tolist(),
    "bits.popcount": lambda f: bits.popcount(f(np.array([5, 6], np.uint64))),
    "bits.pack_sparse": lambda f: bits.pack_sparse(f(INDPTR), f(INDICES), 4).tolist(),
    "scores.votes_csr": lambda f: scores.votes_csr(
        f(INDPTR), f(INDICES), f(np.ones(3, np.int32)), np.array([1, 3]), np.array([2, 3])
    ).tolist(),
    "scores.SparseScores": lambda f: [
        part.tolist() for part in scores.SparseScores(9, f(np.arange(3, dtype=np.uint32)), f(np.arange(3))).export()
    ],
    "grid.to_grid": lambda f: grid.to_grid(f(np.array([0.5, 0.25])), 4)[0].tolist(),
    "signs.project_dense": lambda f: signs.project_dense(f(X32), 5, KEY).tolist(),
    "signs.project_csr": lambda f: signs.project_csr(f(INDPTR), f(INDICES), f(np.ones(3)), 4, 5, KEY).tolist(),
    "signs.lift": lambda f: signs.lift(f(np.arange(3.0)), 4, KEY).tolist(),
    "unit_rows.Csr": lambda f: unit_rows.scales(
        unit_rows.Csr(f(INDPTR), f(INDICES), f(np.array([1.0, 2, 3])), 4)
    ).tolist(),
    "weights.dense": lambda f: weights.dense(f(X64)).check(),
    "weights.csr": lambda f: weights.csr(f(INDPTR), f(INDICES), f(np.ones(3)), 4).check(),
    "net.grid": lambda f: net.grid(f(X64), ONES, 8).tolist(),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_is_copied_anyway_may_begin_anywhere(name):
    assert COPIED[name](misaligned) == COPIED[name](np.ascontiguousarray)
