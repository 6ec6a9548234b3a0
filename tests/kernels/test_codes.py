import math

import numpy as np
import pytest

from dpfast.kernels import bits, codes

SIZES = {
    "one column": [5],
    "one code": [1, 3, 1],
    "bytes": [256, 2, 33, 33, 17, 4, 256, 9],
    "many small": [2] * 30 + [3] * 7,
    "pairs": [33] * 9,
    "hundreds": [200, 100, 64, 65] + [12] * 300,
    "two bytes": [257, 2, 65536, 40, 3, 1000],
}
ROWS = [0, 1, 63, 64, 1025, 9000]


def table(rng, sizes, n, skewed=False):
    """The same codes for the kernel and as integers, shape (n, p)."""
    x = rng.integers(0, sizes, (n, len(sizes)))
    if skewed:
        x[rng.random(x.shape) < 0.9] = 0
    columns = [
        np.ascontiguousarray(c, np.uint8 if size <= 256 else np.uint16) for c, size in zip(x.T, sizes, strict=True)
    ]
    return codes.Columns(columns, sizes), x + np.cumsum([0, *sizes[:-1]])


def each_shape(test):
    cases = [(name, n) for name in SIZES for n in ROWS if n < 9000 or name in ("bytes", "two bytes")]
    return pytest.mark.parametrize(("sizes", "n"), cases)(test)


def packed(chosen):
    return bits.pack(chosen[np.newaxis].view(np.uint8))[0] if len(chosen) else np.zeros(0, np.uint64)


@each_shape
def test_counts_are_those_of_every_code_and_label(sizes, n, rng):
    for share in (None, 0.6, 0.03):
        masked, places = share is not None, sum(SIZES[sizes])
        columns, at = table(rng, SIZES[sizes], n, skewed=masked)
        chosen = rng.random(n) < share if masked else np.ones(n, bool)
        for classes in (1, 2, 7):
            labels = rng.integers(0, classes, n).astype(np.uint8)
            cells = at[chosen] * classes + labels[chosen, np.newaxis]
            expected = np.bincount(cells.ravel(), minlength=places * classes).reshape(places, classes)
            counted = codes.counts(columns, labels, classes, packed(chosen) if masked else None)
            np.testing.assert_array_equal(counted, expected)


@each_shape
def test_sums_are_those_of_the_weights_of_every_code(sizes, n, rng):
    columns, at = table(rng, SIZES[sizes], n)
    for k in ((), (1,), (2,), (3,), (7,), (8,), (11,)):
        weights = rng.integers(-4096, 4097, (n, *k)).astype(np.int32)
        weights[rng.random(n) < rng.random()] = 0
        flat, places = np.repeat(weights.reshape(n, math.prod(k)), at.shape[1], axis=0), sum(SIZES[sizes])
        expected = [np.bincount(at.ravel(), each, places) for each in flat.T]  # whole floats below 2**53
        np.testing.assert_array_equal(codes.sums(columns, weights), np.stack(expected, axis=1).reshape(places, *k))


@each_shape
def test_margins_are_sums_of_entries(sizes, n, rng):
    columns, at = table(rng, SIZES[sizes], n)
    most = (2**31 - 1) // len(SIZES[sizes])
    for k in ((), (1,), (2,), (3,), (7,), (8,), (11,)):
        entries = rng.integers(-most, most + 1, (sum(SIZES[sizes]), *k)).astype(np.int32)
        if n % 2:
            entries //= 300  # so that a column's are within 2**24
        np.testing.assert_array_equal(codes.margins(columns, entries), entries[at].sum(axis=1, dtype=np.int64))


@pytest.mark.parametrize("classes", [1, 2, 5, 8])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_columns_of_any_size_are_counted_with_any_number_of_labels(classes, share, rng):
    """Some are counted by planes of bits, where there are such."""
    sizes, n = [1, 2, 8, 9, 16, 17, 31, 33, 64, 65, 128, 129, 255, 256], 17_000
    columns, at = table(rng, sizes, n)
    wide = codes.Columns([column.astype(np.uint16) for column in columns.columns], sizes)
    labels, chosen = rng.integers(0, classes, n), rng.random(n) < share
    expected = np.bincount((at * classes + labels[:, np.newaxis])[chosen].ravel(), minlength=sum(sizes) * classes)
    for given, dtype in ((columns, np.uint8), (columns, np.uint16), (wide, np.uint8)):
        counted = codes.counts(given, labels.astype(dtype), classes, packed(chosen))
        np.testing.assert_array_equal(counted.ravel(), expected)


@each_shape
def test_literals_match_an_interval_of_codes(sizes, n, rng):
    columns, at = table(rng, SIZES[sizes], n)
    literals, expected = [], []
    for j, size in enumerate(SIZES[sizes]):
        some = sorted(rng.integers(0, size, 2))
        for low, high in (some, (0, size - 1), (some[0], some[0])):
            code = at[:, j] - columns.offsets[j]
            held = packed((low <= code) & (code <= high))
            np.testing.assert_array_equal(codes.match(columns, j, low, high), held)
            literals.append((j, low, high))
            expected.append(held)
    np.testing.assert_array_equal(codes.matches(columns, literals), np.array(expected))
    assert codes.matches(columns, np.zeros((0, 3))).shape == (0, -(-n // 64))


@pytest.mark.parametrize("sizes", SIZES)
def test_every_level_gives_the_same_integers(sizes, each_isa, rng):
    n = 3000
    columns, _ = table(rng, SIZES[sizes], n)
    labels = rng.integers(0, 3, n).astype(np.uint16)
    mask = packed(rng.random(n) < 0.4)
    weights = rng.integers(-4096, 4097, (n, 5)).astype(np.int32)
    entries = rng.integers(-1000, 1000, (sum(SIZES[sizes]), 5)).astype(np.int32)

    def everything():
        return (
            codes.counts(columns, labels, 3),
            codes.counts(columns, labels, 3, mask),
            codes.counts(columns, labels // 2, 2, mask),
            codes.sums(columns, weights),
            codes.sums(columns, weights[:, 0].copy()),
            codes.margins(columns, entries),
            codes.margins(columns, entries[:, 0].copy()),
            codes.match(columns, 0, 0, SIZES[sizes][0] // 2),
        )

    first, *others = each_isa(everything)
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("weight", [4096, 2**20, -(2**20) - 1, 2**31 - 1, -(2**31)])
def test_sums_of_large_weights_are_exact(weight, rng):
    columns, at = table(rng, [3, 5], 3000)
    expected = np.bincount(at.ravel(), minlength=8) * weight
    for k in (1, 2, 4, 8):
        total = codes.sums(columns, np.full((3000, k), weight, np.int32))
        np.testing.assert_array_equal(total, np.repeat(expected[:, np.newaxis], k, axis=1))


@pytest.mark.parametrize("sizes", [[3], [256, 40, 2]])
def test_counts_by_two_labels_go_beyond_sixteen_bits(sizes):
    n = 140_000
    columns = codes.Columns([np.full(n, size - 1, np.uint8) for size in sizes], sizes)
    last = columns.offsets[1:] - 1
    for given in (None, packed(np.ones(n, bool))):
        for label in (0, 1):
            counted = codes.counts(columns, np.full(n, label, np.uint8), 2, given)
            assert (counted[last, label] == n).all()
            assert counted.sum() == n * len(sizes)


def test_many_classes_are_counted_by_label(rng):
    n, classes = 500, 3000
    columns, at = table(rng, [256, 40, 2], n)
    labels = rng.integers(0, classes, n).astype(np.uint16)
    mask = rng.random(n) < 0.5
    for chosen, given in ((np.ones(n, bool), None), (mask, packed(mask))):
        expected = np.zeros((298, classes), np.int64)
        for column in at.T:
            np.add.at(expected, (column[chosen], labels[chosen]), 1)
        np.testing.assert_array_equal(codes.counts(columns, labels, classes, given), expected)


def test_a_part_is_its_rows(rng):
    columns, _ = table(rng, SIZES["two bytes"], 500)
    weights = rng.integers(-9, 10, 500).astype(np.int32)
    ends = [(0, 0), (0, 77), (77, 300), (300, 500)]
    assert [columns.part(*end).n for end in ends] == [0, 77, 223, 200]
    total = sum(codes.sums(columns.part(*end), weights[slice(*end)]) for end in ends)
    np.testing.assert_array_equal(total, codes.sums(columns, weights))
    with pytest.raises(ValueError, match="rows 3 to 501 are not among 500"):
        columns.part(3, 501)


@pytest.mark.parametrize("limit", [1, 2, 64, 4096])
def test_columns_of_a_group_have_few_joint_codes(limit, rng):
    for sizes in ([1] * 30, [2] * 30, list(rng.integers(1, 300, 60)), [5000, 3, 60_000]):
        groups = codes._groups(sizes, range(len(sizes)), limit)
        assert sorted(j for group in groups for j in group) == list(range(len(sizes)))
        for group in groups:
            assert len(group) <= 12
            assert len(group) == 1 or np.prod([sizes[j] for j in group]) <= limit


byte = np.zeros(6, np.uint8)


@pytest.mark.parametrize(
    ("columns", "sizes", "message"),
    [
        ([], [], "one size each, got 0 columns and 0 sizes"),
        ([byte], [1, 2], "one size each, got 1 columns and 2 sizes"),
        ([byte], [0], "sizes must lie within 1 and 65536"),
        ([byte], [65537], "sizes must lie within 1 and 65536"),
        ([byte.astype(np.int64)], [1], r"column 0 must be .* uint8 or uint16, got int64 \(6,\)"),
        ([byte, byte.reshape(2, 3)], [1, 1], r"column 1 must be a one-dimensional .* got uint8 \(2, 3\)"),
        ([[0, 1]], [2], "got list"),
        ([byte, byte[:3]], [1, 1], "column 1 must have 6 contiguous entries"),
        ([byte[::2]], [1], r"column 0 must have 3 contiguous entries, got shape \(3,\), strides \(2,\)"),
        ([byte, byte + 7], [1, 7], "codes of column 1 must be below its size, 7, got 7"),
        ([byte.astype(np.uint16) + 300], [300], "codes of column 0 must be below its size, 300, got 300"),
    ],
)
def test_columns_that_are_not_codes_are_refused(columns, sizes, message):
    with pytest.raises(ValueError, match=message):
        codes.Columns(columns, sizes)


def test_what_does_not_fit_is_refused(rng):
    columns, _ = table(rng, [3, 300], 70)
    labels = np.zeros(70, np.uint8)
    with pytest.raises(ValueError, match="labels must have 70 contiguous entries"):
        codes.counts(columns, labels[:3], 2)
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 2\), at most 2\*\*16 classes, got 2"):
        codes.counts(columns, labels + np.uint8(2), 2)
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 0\)"):
        codes.counts(columns, labels, 0)
    with pytest.raises(ValueError, match="mask must have 2 words for n=70"):
        codes.counts(columns, labels, 2, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="zero past them"):
        codes.counts(columns, labels, 2, np.full(2, 64, np.uint64))
    with pytest.raises(ValueError, match=r"weights must be an ndarray of int32 .* got int64 \(70,\)"):
        codes.sums(columns, np.zeros(70, np.int64))
    with pytest.raises(ValueError, match="weights must have 70 contiguous rows"):
        codes.sums(columns, np.zeros((70, 4), np.int32)[:, ::2])
    with pytest.raises(ValueError, match="table must have 303 contiguous rows"):
        codes.margins(columns, np.zeros(304, np.int32))
    with pytest.raises(ValueError, match="table must have entries whose sums fit into 32 bits"):
        codes.margins(columns, np.full(303, 2**30, np.int32))
    for j, low, high in ((2, 0, 0), (-1, 0, 0), (0, 2, 1), (0, 0, 3), (0, -1, 1)):
        with pytest.raises(ValueError, match="a literal needs"):
            codes.match(columns, j, low, high)
        with pytest.raises(ValueError, match="a literal needs"):
            codes.matches(columns, [(0, 0, 1), (j, low, high)])
    with pytest.raises(ValueError, match=r"literals must have shape \(k, 3\), got \(3,\)"):
        codes.matches(columns, (0, 0, 1))


def test_all_rows_are_the_columns_themselves_and_fewer_are_not(rng):
    columns = codes.Columns([rng.integers(0, 3, 50, dtype=np.uint8)], [3])
    assert columns.part(0, 50) is columns
    assert columns.part(0, 49) is not columns
    assert columns.part(1, 50).n == 49
