"""Kernels that draw, and kernels on reals, each beside its twin in numpy."""

import math
from fractions import Fraction

import numpy as np
from twins_packed import packed

from dpfast.kernels import draw, levels, measure, net, noise, reals, sparse_vector, unit_rows


def selections(fuzz):
    d, m, mirrored = fuzz.size(1), fuzz.one(0, 1, 3, 100), fuzz.chance(0.3)
    dtype = fuzz.one(np.int8, np.int16, np.int32, np.int64)
    spread, zeros = fuzz.one(1, 50, 127), fuzz.one(0, 0, 1, 10**12)
    score = fuzz.rng.integers(-spread, spread + 1, d).astype(dtype)
    exponent, seed = fuzz.one(Fraction(1, 7), 0.5, 3, 0, 1e-9, Fraction(-1, 3)), fuzz.random.getrandbits(60)
    options = {"mirrored": mirrored, "zeros": zeros}
    drawn = fuzz.call(levels.sample, score, exponent, m, np.random.default_rng(seed), **options)
    whole = (2 if mirrored else 1) * d
    assert drawn.shape == (m,)
    assert ((drawn >= 0) & (drawn <= whole - (zeros == 0))).all()
    again = levels.sample(score.astype(np.int64), exponent, m, np.random.default_rng(seed), **options)
    if exponent and dtype == np.int64:
        np.testing.assert_array_equal(drawn, again)
    held = fuzz.rng.integers(0, fuzz.one(2, 1000, 2**40), fuzz.size(1)).astype(np.uint64)
    held[0] += 1
    level, rank = fuzz.call(levels.draw_counted, held, exponent, fuzz.generator())
    assert 0 <= rank < held[level]


def noises(fuzz):
    function = fuzz.one(noise.discrete_laplace, noise.discrete_gaussian, noise.geometric)
    scale, size = fuzz.one(Fraction(1, 3), 0.01, 1.0, 2.0**20, 2**52, 7), fuzz.one(0, 1, 10, 300)
    drawn = fuzz.call(function, scale, size, fuzz.generator())
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert function is not noise.geometric or (drawn >= 0).all()


def elementary(fuzz):
    bounds = fuzz.rng.integers(1, fuzz.one(2, 1000, 2**62), fuzz.size())
    drawn = fuzz.call(draw.below, bounds, fuzz.generator())
    assert (drawn < bounds.astype(np.uint64)).all()


def thresholds(fuzz):
    """The same tests, however they are cut into calls."""
    threshold, scale = fuzz.one(-7, 0, 5, 2**60), fuzz.one(Fraction(1, 2), 3.0, 2**20)
    one_sided, seed = fuzz.chance(0.5), fuzz.random.getrandbits(60)
    counts = fuzz.rng.integers(-9, 10, fuzz.size())
    lengths = fuzz.rng.integers(0, fuzz.one(2, 30, 2**40), len(counts))
    tests = fuzz.call(sparse_vector.Tests, threshold, scale, one_sided=one_sided, broken=0.1)
    rng = np.random.default_rng(seed)
    passed = fuzz.call(lambda counted, rng: tests.run(counted, lengths, rng), counts, rng)  # long lengths take long
    assert passed is None or 0 <= passed < lengths.sum()
    parts, again = sparse_vector.Tests(threshold, scale, one_sided=one_sided), np.random.default_rng(seed)
    cut, made = fuzz.random.randint(0, len(counts)), None
    for part in (slice(cut), slice(cut, None)):
        if made is None:
            before = 0 if part.start is None else int(lengths[:cut].sum())
            made = parts.run(counts[part], lengths[part], again)
            made = None if made is None else made + before
    assert made == passed
    state, pending = tests.state()
    fuzz.call(sparse_vector.Tests, state, scale, pending, one_sided=one_sided, broken=0.1)
    fuzz.call(tests.test, int(fuzz.rng.integers(-9, 10)), rng)


def measures(fuzz):
    n, cap, decay = fuzz.size(1), fuzz.one(1, 64, 4096), fuzz.one(1e-3, 0.01, 1.0)
    table = fuzz.call(measure.table, decay, cap)
    assert table[0] == cap
    assert table[-1] == 0
    score, sign = fuzz.rng.integers(-fuzz.one(1, 10**4), 10**4, n).astype(np.int32), fuzz.signs(n)
    mass = int(fuzz.rng.integers(0, n * cap + 1))
    weight = fuzz.call(measure.project, score, sign, table, mass)
    assert np.abs(weight).max(initial=0) <= cap
    assert (sign * weight).sum() == mass
    assert (sign * weight >= 0).all()
    total, margin = score.copy(), fuzz.rng.uniform(-1, 1, n).astype(np.float32)
    fuzz.call(measure.add, total, sign, margin, 4096.0, filled=total)
    assert np.abs(total - (score + sign * np.rint(4096 * margin))).max() <= 1


def balls(fuzz):
    n, d, constant, kind = fuzz.size(), fuzz.size(), fuzz.one(0.0, 1.0), fuzz.random.randrange(3)
    if kind == 0:
        held = fuzz.bits(n, d)
        x, rows = held.astype(float), fuzz.call(unit_rows.Packed, packed(held), d)
    elif kind == 1:
        indptr, indices, held = fuzz.csr(n, d)
        data = fuzz.one(None, np.float32, np.float64)
        x = (
            held.astype(float)
            if data is None
            else np.where(held, fuzz.rng.normal(size=(n, d)), 0).astype(data).astype(float)
        )
        values = None if data is None else x[held].astype(data)
        rows = fuzz.call(unit_rows.Csr, indptr, indices, values, d)
    else:
        values = fuzz.reals(n, d)
        x, rows = values.astype(float), fuzz.call(unit_rows.Dense, values)
    scale = fuzz.call(unit_rows.scales, rows, constant)
    whole = np.hstack([x, np.full((n, 1), constant)])
    unit = 2.0**rows.bits
    assert (np.linalg.norm(whole, axis=1) * scale <= unit * (1 + 1e-12)).all()
    w = (fuzz.rng.normal(size=d + 1) / 9).astype(np.float32)
    margin = fuzz.call(unit_rows.margins, rows, scale, w, constant)
    close = whole * scale[:, np.newaxis] / unit @ w
    np.testing.assert_allclose(margin, np.clip(close, -1, 1), atol=1e-4)
    weight, total = fuzz.rng.integers(-4096, 4097, n).astype(np.int32), np.zeros(d + 1, np.int64)
    trusted = 0.3 if isinstance(rows, unit_rows.Packed) else 0  # of rows with data `add` believes what `scales` made
    fuzz.call(unit_rows.add, total, rows, scale, weight, constant, broken=trusted, filled=total)
    label, limit = fuzz.rng.integers(0, 2, n).astype(np.uint8), np.abs(weight)
    told = np.zeros(d + 2, np.int64)
    known = rows, scale, w, label, limit, 3.0, 0.5, constant
    fuzz.call(unit_rows.add_residuals, told, *known, broken=trusted, filled=told)
    assert abs(told[-1]) <= limit.sum()
    k = int(fuzz.rng.integers(2, 5))
    label, odds = fuzz.rng.integers(0, k, n).astype(np.uint16), fuzz.rng.normal(size=k).astype(np.float32)
    several = (fuzz.rng.normal(size=(k, d + 1)) / 9).astype(np.float32)
    told = np.zeros((k, d + 2), np.int64)
    known = rows, scale, several, label, limit, 3.0, odds, constant
    fuzz.call(unit_rows.add_residuals_many, told, *known, broken=trusted, filled=told)
    assert not told[:, -1].sum()
    summed = weight @ (whole * scale[:, np.newaxis])
    assert (np.abs(total - summed) <= 1.2 * np.abs(weight).sum() + 1).all()


def mixtures(fuzz):
    n, columns, others, levels = fuzz.size(), fuzz.one(1, 3), fuzz.one(0, 1, 12, 15), fuzz.one(1, 84, 128)
    begin, scales = np.arange(levels, dtype=float), fuzz.rng.uniform(0, 9, others)
    densities = np.exp(-(begin + 0.5) / (2 + 2 * scales[:, np.newaxis])) / np.sqrt(1 + scales[:, np.newaxis])
    weights = fuzz.rng.dirichlet(np.ones(others + 1), columns)
    squares, usual = fuzz.rng.uniform(0, 2 * levels, (n, columns)), fuzz.rng.uniform(0, 9, columns)
    known = begin, begin + 0.5, densities, scales / (1 + scales), 10.0, 0.1
    shares = fuzz.call(reals.mixture, squares, usual, weights, *known, filled=weights)
    assert ((shares >= 0) & (shares < 1)).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def nets(fuzz):
    m, radius, threshold, n = fuzz.one(1, 2, 3), fuzz.one(0.5, 1.0), fuzz.one(0.003, 0.1), fuzz.size(1)
    table = fuzz.call(net.Net, m, radius, broken=0.1)
    p = fuzz.call(table.vectors, np.arange(table.size))
    x, sign = fuzz.rng.normal(size=(n, m)).astype(fuzz.one(np.float32, np.float64)), fuzz.signs(n)
    rows = fuzz.call(net.grid, x, sign, table.grid_bits)
    wrong = fuzz.call(net.Mistakes, table, rows, threshold)
    tau = 2 * math.floor(Fraction(threshold) * 2**table.grid_bits) + 1
    product = p @ rows.T.astype(np.int64)
    right = (product > 0) & (4 * product**2 >= tau**2 * (p**2).sum(axis=1)[:, np.newaxis])
    expected = (~right).sum(axis=1)
    np.testing.assert_array_equal(fuzz.call(wrong.scores, 0, table.lines).ravel(), expected)
    histogram = fuzz.call(wrong.count, 0, table.lines)
    np.testing.assert_array_equal(histogram, np.bincount(expected, minlength=n + 1))
    level = int(expected[0])
    member, _ = fuzz.call(wrong.find, 0, table.lines, level, int(histogram[level]) - 1)
    assert expected[member] == level


TRIALS = (selections, noises, elementary, thresholds, measures, balls, mixtures, nets)
