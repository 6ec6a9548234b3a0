"""Kernels on packed bits, on CSR rows and on codes, each beside its twin in numpy."""

from fractions import Fraction

import numpy as np

from dpfast.kernels import bits, classes, codes, cover, grid, scores, signs
from dpfast.kernels import multiplicative_weights as weights

_VALUES = {"pm1": lambda x: 2 * x.astype(np.int64) - 1, "01": lambda x: x.astype(np.int64)}


def packed(x):
    """Bits, 64 to a word."""
    n, d = x.shape
    words = np.zeros((n, -(-d // 64) * 8), np.uint8)
    words[:, : -(-d // 8)] = np.packbits(x, axis=1, bitorder="little")
    return words.view("<u8").astype(np.uint64)


def _same(a, b):
    np.testing.assert_array_equal(a, b)


def packing(fuzz):
    n, d = fuzz.size(), fuzz.size()
    x = fuzz.bits(n, d)
    _same(fuzz.call(bits.pack, x.view(np.uint8)), packed(x))
    _same(fuzz.call(bits.unpack, packed(x), d), x)
    _same(fuzz.call(bits.transpose, packed(x), d), packed(x.T))
    if d:
        j = int(fuzz.rng.integers(d))
        _same(fuzz.call(bits.column, packed(x), d, j), packed(x[:, j][np.newaxis])[0])
    assert fuzz.call(bits.popcount, packed(x).ravel()) == x.sum()
    indptr, indices, held = fuzz.csr(n, d)
    _same(fuzz.call(bits.pack_sparse, indptr, indices, d), packed(held))


def words(fuzz):
    d = fuzz.size()
    a, b = fuzz.bits(2, d)
    pa, pb = packed(np.stack([a, b]))
    out = np.empty_like(pa)
    assert fuzz.call(bits.bitwise_and, pa, pb, out) == (a & b).sum()
    assert fuzz.call(bits.bitwise_andnot, pa, pb, np.empty_like(pa)) == (a & ~b).sum()
    _same(fuzz.call(bits.nonzero, pa), np.flatnonzero(a))


def counting(fuzz):
    n, d = fuzz.size(), fuzz.size()
    x, sign = fuzz.bits(n, d), fuzz.signs(n)
    _same(fuzz.call(bits.positional_popcount, packed(x), d), x.sum(axis=0))
    agree = x == (sign > 0)[:, np.newaxis]
    _same(fuzz.call(bits.positional_popcount, packed(x), d, sign), agree.sum(axis=0))
    literals = fuzz.rng.integers(-1, 2 * n, (fuzz.size(), fuzz.one(1, 2, 3))) if n else np.full((3, 1), -1)
    both = np.stack([x, ~x], axis=1).reshape(2 * n, d)
    held = np.array([np.logical_and.reduce(both[[k for k in row if k >= 0]], axis=0) for row in literals.tolist()])
    _same(fuzz.call(bits.conjunctions, packed(x), d, literals), packed(held.reshape(len(literals), d).astype(bool)))


def members(fuzz):
    points, size = fuzz.one(1, 2, 5), fuzz.one(1, 3, 9, 64, 70)
    table, held = fuzz.bits(points, size), fuzz.bits(1, size)[0]
    columns, held_words = packed(table), packed(held[np.newaxis])[0]
    _same(fuzz.call(classes.counts, columns, held_words), (table & held).sum(axis=1))
    point, label = int(fuzz.rng.integers(points)), fuzz.chance(0.5)
    left, number = fuzz.call(classes.restrict, columns, held_words, point, label)
    _same(left, packed((held & (table[point] == label))[np.newaxis])[0])
    assert number == (held & (table[point] == label)).sum()
    distinct = np.zeros(size, bool)
    distinct[np.unique(table, axis=1, return_index=True)[1]] = True
    memo = fuzz.call(classes.memo, columns.shape[1])
    found, _ = fuzz.call(classes.dimension, columns, packed((held & distinct)[np.newaxis])[0], memo, 1000)
    assert found is None or -1 <= found <= max(0, int(held.sum())).bit_length()


def updates(fuzz):
    n, d = fuzz.size(), fuzz.size()
    x, sign, index = fuzz.bits(n, d), fuzz.signs(n), fuzz.index(n)
    total, rows = fuzz.rng.integers(-99, 99, d), slice(None) if index is None else index
    expected = total + sign[rows].astype(np.int64) @ (2 * x[rows].astype(np.int64) - 1)
    fuzz.call(scores.add_packed, total, packed(x), d, sign, index, filled=total)
    _same(total, expected)
    encoding = fuzz.one("pm1", "01")
    values = _VALUES[encoding](x)
    k = min(d, fuzz.one(0, 1, 20))
    at, count = np.sort(fuzz.rng.choice(d, k, replace=False)), fuzz.rng.integers(-5, 6, k)
    _same(fuzz.call(scores.votes_packed, packed(x), d, at, count, encoding), values[:, at] @ count)


def sparse_updates(fuzz):
    n, d = fuzz.size(), fuzz.size(1)
    indptr, indices, held = fuzz.csr(n, d)
    data = None if fuzz.chance(0.3) else fuzz.rng.integers(-9, 10, len(indices)).astype(np.int32)
    x = held.astype(np.int64)
    if data is not None:
        x[held] = data
    sign, index = fuzz.signs(n), fuzz.index(n)
    rows = slice(None) if index is None else index
    expected = sign[rows].astype(np.int64) @ x[rows]
    total = np.zeros(d, np.int64)
    fuzz.call(scores.add_csr, total, indptr, indices, data, sign, index, filled=total)
    _same(total, expected)
    table = scores.SparseScores(d)
    for _ in range(fuzz.one(1, 2, 5)):
        before = dict(zip(*(part.tolist() for part in table.export()), strict=True))
        fuzz.call(table.add_csr, indptr, indices, data, sign, index)
        keys, values = fuzz.call(table.export)
        _same(values, [before.get(key, 0) + expected[key] for key in keys.tolist()])
        if fuzz.chance(0.3):
            table = fuzz.call(scores.SparseScores, d, keys, values)
    k = min(d, fuzz.one(0, 1, 20))
    at, count = np.sort(fuzz.rng.choice(d, k, replace=False)), fuzz.rng.integers(-5, 6, k)
    _same(fuzz.call(scores.votes_csr, indptr, indices, data, at, count), x[:, at] @ count)


def grids(fuzz):
    n, d = fuzz.size(), fuzz.size()
    x, k = fuzz.rng.uniform(-1.1, 1.1, (n, d)).astype(fuzz.one(np.float32, np.float64)), fuzz.one(0, 1, 8, 30)
    q, low, high = fuzz.call(grid.to_grid, x, k)
    _same(q, np.rint(np.clip(x.astype(np.float64), -1, 1) * 2.0**k))
    assert x.size == 0 or (low, high) == (x.min(), x.max())
    sign, index = fuzz.signs(n), fuzz.index(n)
    rows = slice(None) if index is None else index
    total = np.full(d, 5, np.int64)
    fuzz.call(scores.add_grid, total, q, sign, index, filled=total)
    _same(total, 5 + sign[rows].astype(np.int64) @ q[rows].astype(np.int64))
    k = min(d, fuzz.one(0, 1, 20))
    at, count = np.sort(fuzz.rng.choice(d, k, replace=False)), fuzz.rng.integers(-5, 6, k)
    _same(fuzz.call(scores.votes_grid, q, at, count), q[:, at].astype(np.int64) @ count)


def columns_of_codes(fuzz):
    n, sizes = fuzz.size(), fuzz.random.choices([1, 2, 3, 33, 256, 257, 1000], k=fuzz.one(1, 2, 9))
    x = fuzz.rng.integers(0, sizes, (n, len(sizes)))
    arrays = [
        np.ascontiguousarray(c, np.uint8 if size <= 256 else np.uint16) for c, size in zip(x.T, sizes, strict=True)
    ]
    table = fuzz.call(codes.Columns, arrays, np.array(sizes), broken=0.1)
    at, held, most = x + table.offsets[:-1], fuzz.bits(1, n)[0], fuzz.one(1, 2, 7)
    labels = fuzz.rng.integers(0, most, n).astype(fuzz.one(np.uint8, np.uint16))
    expected = np.zeros((sum(sizes), most), np.int64)
    for column in at.T:
        np.add.at(expected, (column[held], labels[held]), 1)
    _same(fuzz.call(codes.counts, table, labels, most, packed(held[np.newaxis])[0]), expected)
    k = fuzz.one((), (1,), (3,), (8,))
    weight, entry = fuzz.rng.integers(-4096, 4097, (n, *k)), fuzz.rng.integers(-(2**27), 2**27, (sum(sizes), *k))
    expected = np.zeros((sum(sizes), *k), np.int64)
    for column in at.T:
        np.add.at(expected, column, weight)
    _same(fuzz.call(codes.sums, table, weight.astype(np.int32)), expected)
    _same(fuzz.call(codes.margins, table, entry.astype(np.int32)), entry[at].sum(axis=1))
    j = int(fuzz.rng.integers(len(sizes)))
    low, high = (int(code) for code in np.sort(fuzz.rng.integers(0, sizes[j], 2)))
    fits = (low <= x[:, j]) & (x[:, j] <= high)
    _same(fuzz.call(codes.match, table, j, low, high), packed(fits[np.newaxis])[0])


def covers(fuzz):
    """A list's counts through its rounds: whatever was drawn, what is left is what a table says."""
    n, m, most, negations = fuzz.size(1), fuzz.size(1), fuzz.one(1, 2, 3), fuzz.chance(0.5)
    x, code, left = fuzz.bits(n, m), fuzz.rng.integers(0, most, n), np.ones(n, bool)
    labels = packed(np.arange(most)[:, np.newaxis] == code)
    expected = np.array([x[code == c].sum(axis=0) for c in range(most)])
    first = fuzz.call(cover.count, packed(x.T), n, labels)
    _same(first, expected)
    _same(fuzz.call(cover.count_rows, packed(x), m, code, most), expected)
    columns, prior, exponent = (
        fuzz.one(None, packed(x.T)),
        fuzz.one(0, 1, 5),
        Fraction(fuzz.one(1, 1000), fuzz.one(1, 7)),
    )
    pairs = [(fuzz.one(0, 1, 1000), fuzz.one(0, 1, 1000)) for _ in range(fuzz.one(1, 3))]
    state = fuzz.call(cover.Counts, packed(x), columns, labels, first, exponent, pairs, negations, prior)
    rng, used = fuzz.generator(), set()
    for _ in range(fuzz.one(1, 3, 8)):
        assert state.uncovered == left.sum()
        if len(used) == m and not prior:
            break
        j, negated, label = fuzz.call(state.draw, rng)
        assert 0 <= label < most
        if j < 0:
            break
        assert j not in used
        assert negations or not negated
        fuzz.call(state.cover_rows, j, negated, broken=0.1)
        used.add(j)
        left &= x[:, j] == negated
    assert state.uncovered == left.sum()
    assert 0 <= fuzz.call(state.draw_label, rng) < most
    assert len(fuzz.call(state.draw_tail, 3, rng)) <= 3


def losses(fuzz):
    """A learner's totals through additions, and experts that exist."""
    n, d, k, low = fuzz.size(1), fuzz.size(1), fuzz.one(0, 4, 10), fuzz.one(0, -1)
    kind, mirrored = fuzz.one("packed", "csr", "int32", "reals"), fuzz.chance(0.5)
    if kind == "packed":
        x = fuzz.bits(n, d)
        q = ((1 - low) * x.astype(np.int64) + low) << k
        rows = fuzz.call(weights.packed, packed(x), d, bits=k, low=low)
    else:
        q = fuzz.rng.integers(low << k, (1 << k) + 1, (n, d))
        if kind == "csr":
            indptr, indices, held = fuzz.csr(n, d)
            q[~held] = 0
            rows = fuzz.call(weights.csr, indptr, indices, q[held].astype(np.int32), d, bits=k, low=low)
        elif kind == "int32":
            rows = fuzz.call(weights.dense, q.astype(np.int32), bits=k, low=low)
        else:
            rows = fuzz.call(weights.dense, (q / 2.0**k).astype(fuzz.one(np.float32, np.float64)), bits=k, low=low)
    state = fuzz.call(weights.Weights, d, fuzz.one(Fraction(1, 1000), 0.5, 3.0, 0.0), mirrored=mirrored, broken=0.1)
    rng, expected = fuzz.generator(), np.zeros(d, np.int64)
    for _ in range(fuzz.one(1, 4, 9)):
        action = fuzz.random.randrange(3)
        if action == 0:
            assert 0 <= fuzz.call(state.draw, rng) < (2 if mirrored else 1) * d
        elif action == 1:
            row = int(fuzz.rng.integers(n))
            fuzz.call(state.add, rows, row, broken=0.1)
            expected += q[row]
        else:
            start, stop = (int(end) for end in np.sort(fuzz.rng.integers(0, n + 1, 2)))
            played = fuzz.call(state.play, rows, rng, start, stop, broken=0.1)
            assert ((played[start:stop] >= 0) & (played[start:stop] < (2 if mirrored else 1) * d)).all()
            expected += q[start:stop].sum(axis=0)
    _same(fuzz.call(state.totals), expected)


def sketches(fuzz):
    n, d, m, key = fuzz.size(), fuzz.size(), fuzz.one(1, 7, 64, 70), fuzz.random.getrandbits(128)
    matrix = fuzz.call(signs.matrix, d, m, key, broken=0)
    A = 2.0 * bits.unpack(matrix, m).T - 1
    stored = fuzz.one(None, matrix)
    indptr, indices, held = fuzz.csr(n, d)
    x = np.where(held, fuzz.rng.normal(size=(n, d)), 0.0)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(
        fuzz.call(signs.project_csr, indptr, indices, x[held], d, m, key), x @ A.T / m**0.5, **close
    )
    np.testing.assert_allclose(fuzz.call(signs.project_dense, x, m, key, matrix=stored), x @ A.T / m**0.5, **close)
    sums = fuzz.call(signs.project_packed, packed(held), d, m, key, matrix=stored)
    _same(np.rint(sums * m**0.5), held @ A.T)
    v = fuzz.rng.normal(size=m)
    np.testing.assert_allclose(fuzz.call(signs.lift, v, d, key), A.T @ v / m**0.5, **close)


TRIALS = (
    packing, words, counting, members, updates, sparse_updates, grids, columns_of_codes, covers, losses, sketches,
)  # fmt: skip
