import numpy as np
import pytest
import scipy.sparse as sp

from dpfast.kernels import bits, logistic, unit_rows

SHAPES = [(1, 1), (7, 3), (40, 64), (33, 65), (64, 200)]


def table(rng, n, d, kind):
    """The same rows for the kernel and as doubles."""
    if kind in ("packed", "ones"):
        x = rng.random((n, d)) < 0.3
        x[0] = False
        if kind == "packed":
            return unit_rows.Packed(bits.pack(x.view(np.uint8)), d), x.astype(float)
        X = sp.csr_array(x)
        return unit_rows.Csr(X.indptr, X.indices, None, d), x.astype(float)
    dtype = np.float32 if kind.endswith("32") else np.float64
    x = (rng.normal(size=(n, d)) * rng.choice([0.01, 1, 30], (n, 1))).astype(dtype)
    x[0] = 0
    if kind.startswith("csr"):
        x[rng.random((n, d)) < 0.7] = 0
        X = sp.csr_array(x)
        return unit_rows.Csr(X.indptr, X.indices, X.data, d), x.astype(float)
    return unit_rows.Dense(x), x.astype(float)


KINDS = ["dense32", "dense64", "csr32", "csr64", "ones", "packed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_margins_and_sums_are_those_of_the_rows_in_the_ball(kind, shape, constant, rng):
    rows, x = table(rng, *shape, kind)
    x = np.hstack([x, np.full((len(x), 1), constant)])
    norm = np.linalg.norm(x, axis=1)
    scale = unit_rows.scales(rows, constant)
    np.testing.assert_allclose(scale, 2.0**rows.bits / np.maximum(1, norm), rtol=2e-6)
    w = rng.normal(size=x.shape[1]).astype(np.float32) / 3
    ball = x / np.maximum(1, norm)[:, None]
    np.testing.assert_allclose(unit_rows.margins(rows, scale, w, constant), np.clip(ball @ w, -1, 1), atol=1e-5)
    weights = rng.integers(-4096, 4097, len(x)).astype(np.int32)
    total = np.zeros(x.shape[1], np.int64)
    unit_rows.add(total, rows, scale, weights, constant)
    np.testing.assert_allclose(total, weights @ (ball * 2.0**rows.bits), atol=1.2 * np.abs(weights).sum() + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_exact_at_every_level_and_in_every_order(kind, each_isa, rng):
    rows, _ = table(rng, 300, 130, kind)
    scale = unit_rows.scales(rows, 0.5)
    weights = rng.integers(-4096, 4097, 300).astype(np.int32)

    def each_row_alone():
        grid = np.zeros((300, 131), np.int64)
        for i, one in enumerate(np.eye(300, dtype=np.int32)):
            unit_rows.add(grid[i], rows, scale, one, 0.5)
        return grid

    def together():
        total = np.zeros(131, np.int64)
        unit_rows.add(total, rows, scale, weights, 0.5)
        return total

    grid = each_row_alone()
    for total in each_isa(together):
        np.testing.assert_array_equal(total, weights.astype(np.int64) @ grid)


@pytest.mark.parametrize("kind", KINDS)
def test_squares_of_distances_are_exact_at_every_level(kind, each_isa, rng):
    rows, _ = table(rng, 50, 130, kind)
    scale = unit_rows.scales(rows, 0.5, False)
    centre = rng.integers(-20_000, 20_000, 131).astype(np.int32)
    grid = np.zeros((50, 131), np.int64)
    for i, one in enumerate(np.eye(50, dtype=np.int32)):
        unit_rows.add(grid[i], rows, scale, one, 0.5)
    whole = centre.astype(np.int64)
    for apart in each_isa(lambda: unit_rows.apart(rows, scale, centre, 0.5)):
        np.testing.assert_array_equal(apart, np.square(grid - whole).sum(axis=1) - whole @ whole)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 1), (2500, 7), (70, 1100)])
def test_residuals_are_summed_as_one_after_another(kind, shape, each_isa, rng):
    (n, d), (rows, _) = shape, table(rng, *shape, kind)
    scale, w = unit_rows.scales(rows, 0.5, False), rng.normal(size=d + 1).astype(np.float32)
    labels, limits = rng.integers(0, 2, n).astype(np.uint8), rng.integers(0, 4097, n).astype(np.int32)
    margins = unit_rows.margins(rows, scale, w, 0.5)[:, np.newaxis]
    residuals = logistic.two(margins, labels, limits, 9.0, -0.3, by_margin=True)[:, 0]
    total = np.zeros(d + 1, np.int64)
    unit_rows.add(total, rows, scale, residuals, 0.5)

    def together():
        told = np.zeros(d + 2, np.int64)
        unit_rows.add_residuals(told, rows, scale, w, labels, limits, 9.0, -0.3, 0.5)
        return told

    for told in each_isa(together):
        np.testing.assert_array_equal(told, np.append(total, residuals.sum()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 1), (5000, 7), (70, 1100)])
@pytest.mark.parametrize("k", [2, 5])
def test_residuals_of_classes_are_summed_as_one_after_another(kind, shape, k, each_isa, rng):
    (n, d), (rows, _) = shape, table(rng, *shape, kind)
    scale, w = unit_rows.scales(rows, 0.5, False), rng.normal(size=(k, d + 1)).astype(np.float32)
    labels, limits = rng.integers(0, k, n).astype(np.uint16), rng.integers(0, 4097, n).astype(np.int32)
    odds = rng.normal(size=k).astype(np.float32)
    margins = np.stack([unit_rows.margins(rows, scale, each, 0.5) for each in w], axis=1)
    residuals = logistic.many(margins, labels, limits, 9.0, odds)
    total = np.zeros((k, d + 2), np.int64)
    for c, each in enumerate(np.ascontiguousarray(residuals.T)):
        unit_rows.add(total[c, :-1], rows, scale, each, 0.5)
    total[:, -1] = residuals.sum(axis=0)

    def together():
        told = np.zeros((k, d + 2), np.int64)
        unit_rows.add_residuals_many(told, rows, scale, w, labels, limits, 9.0, odds, 0.5)
        return told

    for told in each_isa(together):
        np.testing.assert_array_equal(told, total)


def test_residuals_of_classes_need_labels_of_classes_and_a_line_for_each():
    rows, w, labels, odds = unit_rows.Dense(np.eye(2)), np.zeros((3, 3), np.float32), np.ones(2, np.uint16), np.zeros(3)
    scale, limits, total = unit_rows.scales(rows), np.ones(2, np.int32), np.zeros((3, 4), np.int64)
    odds = odds.astype(np.float32)
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 3\), got 3"):
        unit_rows.add_residuals_many(total, rows, scale, w, 3 * labels, limits, 1.0, odds)
    with pytest.raises(ValueError, match="limits must lie within 0 and 4096, got -1 to -1"):
        unit_rows.add_residuals_many(total, rows, scale, w, labels, -limits, 1.0, odds)
    with pytest.raises(ValueError, match="two or more odds must be finite, got 1"):
        unit_rows.add_residuals_many(total[:1], rows, scale, w[:1], labels, limits, 1.0, odds[:1])
    with pytest.raises(ValueError, match="w must have length 3, got 2"):
        unit_rows.add_residuals_many(total, rows, scale, w[:2], labels, limits, 1.0, odds)
    with pytest.raises(ValueError, match="each line of total must have length 4, got 3"):
        unit_rows.add_residuals_many(np.zeros((3, 3), np.int64), rows, scale, w, labels, limits, 1.0, odds)
    with pytest.raises(ValueError, match=r"scale must lie in \[0, 1e\+306\)"):
        unit_rows.add_residuals_many(total, rows, -scale, w, labels, limits, 1.0, odds)


def test_a_change_in_the_last_block_of_rows_is_refused(rng):
    x = rng.normal(size=(40, 3000))
    rows, ones = unit_rows.Dense(x), np.ones(40, np.uint8)
    total, scale = np.zeros(3002, np.int64), unit_rows.scales(rows)
    arguments = scale, np.ones(3001, np.float32), ones, ones.astype(np.int32), 1.0, 0.0
    unit_rows.add_residuals(total, rows, *arguments)
    of_classes = np.zeros((2, 3002), np.int64), rows, scale, np.ones((2, 3001), np.float32), ones.astype(np.uint16)
    x[-1, -1] += 1
    with pytest.raises(ValueError, match="rows must not be changed while they are used"):
        unit_rows.add_residuals_many(*of_classes, ones.astype(np.int32), 1.0, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="rows must not be changed while they are used"):
        unit_rows.add_residuals(total, rows, *arguments)


def test_residuals_need_labels_0_and_1_limits_and_numbers():
    rows, w, labels, limits = unit_rows.Dense(np.eye(2)), np.zeros(3, np.float32), np.ones(2, np.uint8), np.ones(2, int)
    scale, limits, total = unit_rows.scales(rows), limits.astype(np.int32), np.zeros(4, np.int64)
    with pytest.raises(ValueError, match="limits must lie within 0 and 4096, got -1 to -1"):
        unit_rows.add_residuals(total, rows, scale, w, labels, -limits, 1.0, 0.0)
    with pytest.raises(ValueError, match="labels 0 or 1"):
        unit_rows.add_residuals(total, rows, scale, w, 2 * labels, limits, 1.0, 0.0)
    with pytest.raises(ValueError, match="must be finite, got inf"):
        unit_rows.add_residuals(total, rows, scale, w, labels, limits, np.inf, 0.0)
    with pytest.raises(ValueError, match=r"scale must lie in \[0, 1e\+306\)"):
        unit_rows.add_residuals(total, rows, -scale, w, labels, limits, 1.0, 0.0)
    with pytest.raises(ValueError, match="labels must have length 2, got 1"):
        unit_rows.add_residuals(total, rows, scale, w, labels[:1], limits, 1.0, 0.0)


def test_rows_made_anew_without_data_do_not_read_those_before():
    ends, first, data = np.array([0, 1]), np.array([0]), np.array([3.0])
    data.setflags(write=False)  # so it is not copied, and still there
    rows = unit_rows.Csr(ends, first, data, 1)
    rows.__init__(ends, first, None, 1)
    assert unit_rows.scales(rows) == unit_rows.scales(unit_rows.Csr(ends, first, None, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_margins_and_scales_have_the_same_bits_at_every_level(kind, each_isa, rng):
    rows, _ = table(rng, 300, 130, kind)
    w = rng.normal(size=131).astype(np.float32)
    results = each_isa(
        lambda: (unit_rows.scales(rows, 0.5), unit_rows.margins(rows, unit_rows.scales(rows, 0.5), w, 0.5))
    )
    for scale, margin in results[1:]:
        np.testing.assert_array_equal(scale, results[0][0])
        np.testing.assert_array_equal(margin, results[0][1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [False, True])
def test_no_row_of_the_grid_leaves_the_ball(kind, inside, rng):
    rows, _ = table(rng, 200, 70, kind)
    scale = unit_rows.scales(rows, 0.25, inside)
    for one in np.eye(200, dtype=np.int32):
        q = np.zeros(71, np.int64)
        unit_rows.add(q, rows, scale, one, 0.25)
        assert sum(int(v) ** 2 for v in q) <= 4**rows.bits
        if not inside:
            assert sum(int(v) ** 2 for v in q) > 0.99 * 4**rows.bits


def test_no_row_of_ones_with_an_intercept_leaves_the_ball():
    """Four ones and an intercept, say, are 58617.1 each: one of them rounded up is too much."""
    x = np.tri(70, 70, -1)
    X = sp.csr_array(x)
    for rows in (
        unit_rows.Packed(bits.pack(x.astype(np.uint8)), 70),
        unit_rows.Csr(X.indptr, X.indices, None, 70),
        unit_rows.Csr(X.indptr, X.indices, X.data, 70),
        unit_rows.Dense(x),
        unit_rows.Dense(x.astype(np.float32)),
    ):
        scale = unit_rows.scales(rows, 1.0)
        for one in np.eye(70, dtype=np.int32):
            q = np.zeros(71, np.int64)
            unit_rows.add(q, rows, scale, one, 1.0)
            assert sum(int(v) ** 2 for v in q) <= 4**rows.bits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_largest_entries_are_scaled_and_the_smallest_vanish(dtype, sparse):
    most, tiny = np.finfo(dtype).max, 1e-31 if dtype == np.float32 else 1e-301
    x = np.array([[most, most], [most, 0], [tiny, 0], [0, 0], [3, 4]], dtype)
    X = sp.csr_array(x)
    rows = unit_rows.Csr(X.indptr, X.indices, X.data, 2) if sparse else unit_rows.Dense(x)
    scale = unit_rows.scales(rows, 0.0, False)
    units = []
    for one in np.eye(5, dtype=np.int32):
        q = np.zeros(3, np.int64)
        unit_rows.add(q, rows, scale, one)
        units.append(q / 2**17)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(units, [[half, half, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0.6, 0.8, 0]], atol=2e-5)
    assert np.isfinite(unit_rows.margins(rows, scale, np.ones(3, np.float32))).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1e-299, 1e-200, 1e-160, 1e-120, 1e-30, 1e150, 1e300])
def test_the_direction_of_a_row_of_doubles_is_that_of_any_multiple(size, sparse, rng):
    x = rng.normal(size=(20, 3))
    sums = []
    for each in (x, size * x):
        X = sp.csr_array(each)
        rows = unit_rows.Csr(X.indptr, X.indices, X.data, 3) if sparse else unit_rows.Dense(each)
        sums.append(np.zeros(4, np.int64))
        unit_rows.add(sums[-1], rows, unit_rows.scales(rows, 0.0, False), np.arange(20, dtype=np.int32))
    np.testing.assert_allclose(*sums, atol=200)  # of 2**17 for each row: a last digit may be cut off otherwise


def test_rows_of_weight_zero_are_not_read(rng):
    x = rng.normal(size=(5, 3))
    scale = unit_rows.scales(unit_rows.Dense(x))
    x[2] = np.nan
    total = np.zeros(4, np.int64)
    unit_rows.add(total, unit_rows.Dense(x), scale, np.array([1, 1, 0, 1, 1], np.int32))
    np.testing.assert_allclose(total[:3], (x * scale[:, None])[[0, 1, 3, 4]].sum(0), atol=5)


def test_nothing_is_computed_of_no_rows():
    rows = unit_rows.Dense(np.empty((0, 3), np.float32))
    assert unit_rows.margins(rows, unit_rows.scales(rows), np.zeros(4, np.float32)).shape == (0,)


def test_a_centre_that_is_far_away_is_refused(rng):
    rows = unit_rows.Dense(rng.normal(size=(3, 2)))
    with pytest.raises(ValueError, match="norm of at most 2"):
        unit_rows.apart(rows, unit_rows.scales(rows), np.array([0, 2**18, 1], np.int32))
    with pytest.raises(ValueError, match="centre must have length 3, got 2"):
        unit_rows.apart(rows, unit_rows.scales(rows), np.zeros(2, np.int32))


def test_what_does_not_fit_is_refused(rng):
    with pytest.raises(ValueError, match=r"float32 or float64 of two dimensions, got int64 \(2, 2\)"):
        unit_rows.Dense(np.eye(2, dtype=int))
    with pytest.raises(ValueError, match="row 1 has"):
        unit_rows.Csr(np.array([0, 1, 3]), np.array([0, 1, 1]), None, 2)
    with pytest.raises(ValueError, match=r"indices must lie in \[0, d\)"):
        unit_rows.Csr(np.array([0, 1]), np.array([2]), None, 2)
    with pytest.raises(ValueError, match="d=65 needs 2 words"):
        unit_rows.Packed(np.zeros((2, 1), np.uint64), 65)
    rows = unit_rows.Dense(np.eye(2))
    scale = unit_rows.scales(rows)
    with pytest.raises(ValueError, match="w must have length 3, got 2"):
        unit_rows.margins(rows, scale, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="weights must have length 2, got 3"):
        unit_rows.add(np.zeros(3, np.int64), rows, scale, np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="within -4096 and 4096, got -3 to 5000"):
        unit_rows.add(np.zeros(3, np.int64), rows, scale, np.array([5000, -3], np.int32))


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, 2.0**31])
def test_a_scale_that_no_row_has_is_refused_before_it_is_added(wrong):
    for rows in (
        unit_rows.Packed(np.ones((2, 1), np.uint64), 3),
        unit_rows.Csr(np.array([0, 1, 2]), np.array([0, 2]), None, 3),
    ):
        total, scale = np.zeros(4, np.int64), np.array([1.0, wrong])
        with pytest.raises(ValueError, match=r"scale must lie in \[0, 524288\), as scales makes it"):
            unit_rows.add(total, rows, scale, np.full(2, 4096, np.int32))
        assert not total.any()


CHANGES = {
    "longer rows": lambda x: np.multiply(x, 1000, out=x),
    "no numbers": lambda x: x.fill(np.nan),
    "one bit": lambda x: x.view(np.uint8).reshape(-1).__setitem__(3, x.view(np.uint8).reshape(-1)[3] ^ 1),
    "other rows first": lambda x: x.__setitem__(slice(None), x[::-1].copy()),
    "two columns exchanged": lambda x: x.__setitem__((slice(None), [0, 64]), x[:, [64, 0]]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_were_changed_are_not_added(change, dtype, rng, each_isa):
    whole = rng.normal(size=(40, 96)).astype(dtype)
    rows, total = unit_rows.Dense(whole[4:36]), np.zeros(97, np.int64)
    scale, weights = unit_rows.scales(rows), np.ones(32, np.int32)
    unit_rows.add(total, rows, scale, weights)
    before = total.copy()
    CHANGES[change](whole[4:36])
    unit_rows.margins(rows, scale, np.ones(97, np.float32))
    with pytest.raises(ValueError, match="rows must not be changed while they are used"):
        unit_rows.add(total, rows, scale, weights)
    with pytest.raises(ValueError, match="rows must not be changed while they are used"):
        unit_rows.apart(rows, scale, np.zeros(97, np.int32))
    assert (total == before).all()


def test_rows_that_nobody_can_change_are_not_checked(rng):
    x = rng.normal(size=(4, 3))
    x.setflags(write=False)
    assert not unit_rows.Dense(x).watched
    assert unit_rows.Dense(np.array(x)).watched
    assert unit_rows.Dense(np.array(x)).given == unit_rows.Dense(x).given


@pytest.mark.parametrize("kind", ["dense64", "csr64"])
@pytest.mark.parametrize("constant", [1.0, 1e152, 1e200])
def test_the_norm_of_a_long_row_includes_its_constant(kind, constant):
    x = np.array([[1e151, 0.0]])
    X = sp.csr_array(x)
    rows = unit_rows.Dense(x) if kind == "dense64" else unit_rows.Csr(X.indptr, X.indices, X.data, 2)
    (scale,) = unit_rows.scales(rows, constant)
    assert np.hypot(1e151 * scale, constant * scale) <= 2.0**rows.bits


@pytest.mark.parametrize("constant", [np.nan, np.inf, 1e200, 0.0])
def test_rows_of_ones_without_data_have_a_scale_for_any_constant(constant):
    rows = unit_rows.Csr(np.array([0, 2, 2, 3]), np.array([0, 2, 1], np.int32), None, 3)
    given = unit_rows.Csr(np.array([0, 2, 2, 3]), np.array([0, 2, 1], np.int32), np.ones(3), 3)
    np.testing.assert_array_equal(unit_rows.scales(rows, constant), unit_rows.scales(given, constant))
