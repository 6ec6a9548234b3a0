"""Images of codes beside their twin in numpy, and how far one row moves what is released."""

import math
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast import BitMatrix, CodeTable
from dpfast.learners.halfspaces.bins import HATS, entries_of_numbers
from dpfast.learners.halfspaces.halfspace import HalfspaceRows, image_of
from dpfast.learners.halfspaces.images import CodeImage, CodeShape, Opening
from dpfast.learners.halfspaces.model import sensitivity
from dpfast.learners.halfspaces.pairs import Interaction
from dpfast.learners.halfspaces.steepness import STEPS, level_ends
from dpfast.parts.blocks import Piece
from dpfast.tables.cells import CodeColumn
from dpfast.tables.codes import CodeRows
from dpfast.tables.unit_rows import unit_rows

COLUMNS = (
    CodeColumn("age", edges=tuple(range(1, 9)), low=0.0, high=9.0, nullable=True),
    CodeColumn("job", values=("a", "b", "c"), other=True),
    CodeColumn("long tail", edges=tuple(1.2**k for k in range(60)), low=0.0, high=70_000.0),
    CodeColumn("one bin", edges=(), low=1.0, high=1.0),
)
SIZES = [column.size for column in COLUMNS]


def table(rng, n):
    return CodeTable(rng.integers(0, SIZES, (n, len(SIZES))), SIZES, columns=COLUMNS)


def opened(rows, classes, rng, fit_intercept=True):
    """An image after an opening of the rows' own counts with a little noise."""
    image = image_of(rows, classes, fit_intercept)
    question, *told = image.opening_question()
    counts = question(Piece(None, rng.integers(0, classes, rows.shape[0]), rows=rows), *told)
    image.open(counts + rng.normal(size=len(counts)), 1.0, rows.shape[0])
    return image


def place(v):
    """A number of a scale and its hats."""
    return [v, *(max(0.0, 1 - abs(v - (k / 4 - 1)) * 4) for k in range(HATS))]


def twin(opening, fit_intercept):
    """Images of all codes of each column, their mean and their scale, in plain words."""
    blocks = []
    for column, rank, count in zip(COLUMNS, opening.ranks, opening.counts, strict=True):
        rows, share = [], count / max(opening.n, count.sum())
        least = (2 if len(opening.sizes) == 2 else 5) / opening.n
        places = entries_of_numbers(column, rank, share, least)[0] if column.ordered else None
        for v in range(column.size):
            if not column.ordered:
                rows.append([float(v == other) for other in range(column.size)])
                continue
            shared = min(column.bins, 256) + column.nullable
            own = [0.0] * shared
            if v == column.bins:
                own[-1] = 0.5
                rows.append(own + [0.0] * 20)
                continue
            own[places[v]] = 0.5
            apart = column.high - column.low
            linear = 2 * (column.midpoints()[v] - column.low) / apart - 1 if apart else 0.0
            rows.append(own + [0.75 * h for h in (*place(linear), *place(rank[v]))])
        blocks.append(np.array(rows))
    held = [count / max(opening.n, count.sum()) for count in opening.counts]
    mean, energy = np.concatenate([share @ block for share, block in zip(held, blocks, strict=True)]), len(COLUMNS)
    mean *= fit_intercept
    square = 0.7 * max(energy - mean @ mean, 0.1 * energy)
    top = 0.2 * math.sqrt(square) * fit_intercept
    return blocks, mean, top, math.sqrt(square + top**2)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_is_that_of_centred_and_clipped_images(classes, fit_intercept, rng):
    codes, labels = table(rng, 300), rng.integers(0, classes, 300)
    rows = CodeRows(codes)
    image = opened(rows, classes, rng, fit_intercept)
    blocks, mean, top, radius = twin(image.opening, fit_intercept)
    x = np.hstack([block[codes.column(j)] for j, block in enumerate(blocks)]) - mean
    x = np.hstack([x, np.full((300, 1), top)])[:, : image.size] / radius
    u, constants = rng.normal(size=(image.size, 1 if classes == 2 else 3)), rng.normal(size=1 if classes == 2 else 3)
    f = x @ u + constants
    f = np.hstack([np.zeros((300, 1)), f]) if classes == 2 else f
    p = np.exp(f - f.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    own = np.eye(classes)[labels]
    residual = (own - p) * np.minimum(2, 1 / (1 - (own * p).sum(axis=1, keepdims=True)))
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    residual *= np.minimum(1, 1 / norm)
    assert (norm > 1).any()
    question, *told = image.question(u, constants)
    total = image.entries(question(Piece(None, labels, rows=rows), *told)) / image.reach
    np.testing.assert_allclose(total, x.T @ residual[:, -u.shape[1] :], atol=0.05)
    coef, intercept, shift = image.linear(u)
    assert not shift
    offsets = codes.toarray() + codes.offsets[:-1]
    np.testing.assert_allclose(coef[offsets].sum(axis=1) + intercept, x @ u, atol=0.01)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_row_of_integers_times_its_limit_leaves_the_ball(fit_intercept, rng):
    """All rows that there can be of small columns, exactly."""
    sizes, columns = SIZES[:2], COLUMNS[:2]
    every = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, 2)
    rows = CodeRows(CodeTable(every, sizes, columns=columns))
    longest = 0
    for _ in range(5):
        image = image_of(rows, 2, fit_intercept)
        image.open(rng.exponential(rng.choice([1.0, 100.0], image.opening_size)), 1.0, 100)
        question, *told = image.question(np.zeros((image.size, 1)), np.zeros(1))
        for i in range(len(every)):
            alone = CodeRows(CodeTable(every[[i]], sizes, columns=columns))
            total = image.entries(question(Piece(None, np.array([1]), rows=alone), *told))
            square = sum(int(v) ** 2 for v in total.ravel())
            assert square <= image.reach**2
            longest = max(longest, square)
    assert longest > 0.99 * image.reach**2


FORMS = {"dense": lambda X: X, "sparse": sp.csr_array, "bits": lambda X: BitMatrix(X > 0)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_of_plain_rows_is_that_of_centred_and_clipped_rows(form, classes, rng):
    X = rng.exponential(size=(300, 7)) * (rng.random((300, 7)) < 0.7) * np.arange(7)
    X[:, 3] += 5
    labels, columns = rng.integers(0, classes, 300), 1 if classes == 2 else 3
    rows = unit_rows(FORMS[form](X), fit_intercept=True, normalize=True)
    image = opened(rows, classes, rng)
    x = np.hstack([X > 0 if form == "bits" else X, np.ones((300, 1))])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    mean = x.mean(axis=0)
    square = 0.7 * (1 - mean @ mean)
    centred = np.hstack([x - mean, np.full((300, 1), 0.2 * np.sqrt(square))]) / np.sqrt(1.04 * square)
    u, constants = rng.normal(size=(image.size, columns)), rng.normal(size=columns)
    f = centred @ u + constants
    if classes == 2:
        sign = 2 * labels[:, np.newaxis] - 1
        residual = sign * np.minimum(1, (1 + np.exp(-4)) / (1 + np.exp(2 * sign * f - 4)))
    else:
        p = np.exp(f - f.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        own = np.eye(classes)[labels]
        residual = (own - p) * np.minimum(2, 1 / (1 - (own * p).sum(axis=1, keepdims=True)))
    residual *= np.minimum(1, 1 / np.linalg.norm(centred, axis=1, keepdims=True))
    question, *told = image.question(u, constants)
    total = image.entries(question(Piece(None, labels, rows=rows), *told)) / image.reach
    np.testing.assert_allclose(total, centred.T @ residual[:, -columns:], atol=0.5)
    coef, intercept, shift = image.linear(u)
    np.testing.assert_allclose(x[:, :-1] @ coef + x[:, -1:] * intercept + shift, centred @ u, atol=0.01)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_no_plain_row_times_its_limit_leaves_the_ball(form, fit_intercept, rng):
    longest = 0
    for _ in range(10):
        X = rng.normal(size=(30, 5)) * rng.choice([0.01, 1, 100], (30, 1))
        rows = unit_rows(FORMS[form](X), fit_intercept=fit_intercept, normalize=True)
        image = image_of(rows, 2, fit_intercept)
        image.open(rng.normal(size=image.opening_size) * rng.choice([1e4, 1e6, 1e8]), 1e4, 30)
        question, *told = image.question(np.zeros((image.size, 1)), np.zeros(1))
        for i in range(30):
            alone = unit_rows(FORMS[form](X[[i]]), fit_intercept=fit_intercept, normalize=True)
            total = image.entries(question(Piece(None, np.array([1]), rows=alone), *told))
            square = sum(int(v) ** 2 for v in total.ravel())
            assert square <= image.reach**2
            longest = max(longest, square)
    assert longest > 0.99 * image.reach**2


def test_an_opening_of_plain_rows_of_any_numbers_gives_an_image(rng):
    """Nothing may fail once the opening is paid for."""
    rows = unit_rows(rng.normal(size=(20, 3)), fit_intercept=True, normalize=True)
    for noisy in (np.zeros(6), np.full(6, -1e18), np.full(6, 1e18), np.eye(6)[0] * 2**20):
        for n in (None, 1, 20):
            image = image_of(rows, 3, True)
            image.open(noisy, 3.0, n)
            assert (image.opening.sizes > 0).all()
            question, *told = image.question(np.ones((image.size, 3)), np.zeros(3))
            total = image.entries(question(Piece(None, np.arange(20) % 3, rows=rows), *told))
            assert np.linalg.norm(total.astype(float)) <= 20 * 2**0.5 * image.reach
            assert len(image.groups) == image.size


def test_the_mean_of_plain_rows_is_cut_where_it_may_be_noise(rng):
    """Of 2,000 columns of noise none is taken for a mean, and that of one column is found."""
    rows = unit_rows(sp.csr_array(np.eye(1, 1999)), fit_intercept=True, normalize=True)
    image = image_of(rows, 2, True)
    noisy = rng.normal(0, 1e6, image.opening_size)
    noisy[7] = 1e8
    image.open(noisy, 1e6, 1000)
    shift = image.linear(np.eye(image.size))[2]
    assert np.flatnonzero(shift[:-1]).tolist() == [7]


IMAGES = FORMS | {
    "codes": lambda X: CodeTable(np.digitize(X, np.arange(-3, 4) / 2), [8] * 6, columns=[EIGHT] * 6),
}
EIGHT = CodeColumn("eight", edges=tuple(np.arange(-3, 4) / 2), low=-2.0, high=2.0)


@pytest.mark.parametrize("form", IMAGES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), classes=st.integers(2, 4))
def test_one_row_moves_a_sum_by_the_sensitivity_at_most(form, seed, classes):
    """Also for the worst case that is known: a row that is turned round, with its label."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(scale=2, size=(12, 6)), rng.integers(0, classes, 12)
    changed, others, i = X.copy(), labels.copy(), rng.integers(12)
    changed[i] = -X[i] if rng.random() < 0.5 else rng.normal(scale=5, size=6)
    others[i] = rng.integers(classes)
    made = [HalfspaceRows().rows(IMAGES[form](x)) for x in (X, changed, np.delete(X, i, 0))]
    image = opened(made[0], classes, np.random.default_rng(seed))
    columns = 1 if classes == 2 else classes
    drawn = rng.normal(size=(image.size, columns)), rng.normal(size=columns)
    question, *told = image.question(*drawn)
    counts, *given = image.opening_question()
    ends = level_ends(0.1 * (seed % 2), 1)
    levels, *asked = image.level_question(*drawn, ends) if image.by_margin else (lambda piece: np.zeros(1),)
    middle, *also = image.middle_question(*drawn) if image.by_middle else (lambda piece: np.zeros(1),)
    totals, openings, leveled, middles = [], [], [], []
    for rows, of in zip(made, (labels, others, np.delete(labels, i)), strict=True):
        piece = Piece(None, of, rows=rows)
        totals.append(image.entries(question(piece, *told)).astype(object))
        openings.append(counts(piece, *given))
        leveled.append(levels(piece, *asked))
        middles.append(middle(piece, *also))
    for other, relation, moves in ((1, "replace", 2), (2, "add-remove", 1)):
        moved = int(((totals[0] - totals[other]) ** 2).sum())
        assert moved <= sensitivity(image.reach, classes, relation) ** 2
        moved = int(((openings[0] - openings[other]).astype(object) ** 2).sum())
        assert moved <= image.opening_square(moves)
        assert ((leveled[0] - leveled[other]) ** 2).sum() <= moves
        assert abs(middles[0] - middles[other]) <= moves * STEPS


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(("relation", "factor"), [("replace", 2), ("add-remove", 1)])
def test_the_sensitivity_is_attained_but_for_rounding(relation, factor, classes):
    X = np.array([[1.0, 0.0], [1.0, 0.0]])
    rows, columns = unit_rows(X, normalize=True), 1 if classes == 2 else classes
    image = image_of(rows, classes, False)
    constants = np.zeros(columns) if classes == 2 else np.array([0.0, 0, -60, -60, -60])
    question, *told = image.question(np.zeros((2, columns)), constants)
    one, other = (question(Piece(None, np.array([c, c]), rows=rows), *told) / 2 for c in (1, 0))
    moved = np.linalg.norm(one - (other if factor == 2 else 0))
    assert 0.999 * sensitivity(image.reach, classes, relation) < moved <= sensitivity(image.reach, classes, relation)


def test_an_opening_of_any_counts_gives_an_image(rng):
    """Counts below 0, no rows at all, all rows in one code: nothing may fail once the opening is paid for."""
    rows = CodeRows(table(rng, 50))
    codes = rows.shape[1]
    for noisy in (np.zeros(codes + 2), np.full(codes + 2, -1e9), np.full(codes + 2, 1e12), np.eye(codes + 2)[3] * 50):
        for n in (None, 1, 50):
            image = CodeImage(rows, 2, True)
            image.open(noisy, 3.0, n)
            assert (image.opening.sizes > 0).all()
            assert all((count >= 0).all() for count in image.opening.counts)
            ranks = [rank for rank in image.opening.ranks if rank is not None]
            assert all((np.abs(rank) <= 1).all() and (np.diff(rank) >= 0).all() for rank in ranks)
            question, *told = image.question(np.ones((image.size, 1)), np.zeros(1))
            total = image.entries(question(Piece(None, np.arange(50) % 2, rows=rows), *told))
            assert np.linalg.norm(total.astype(float)) <= 50 * image.reach
            assert len(image.groups) == image.size


def test_rows_are_as_long_as_their_columns_are_many_where_noise_hides_all_counts(rng):
    rows = CodeRows(table(rng, 50))
    image = CodeImage(rows, 2, True)
    image.open(np.zeros(rows.shape[1] + 2), 1e6, 50)
    assert not any(count.any() for count in image.opening.counts)
    assert image.radius == pytest.approx(math.sqrt(0.7 * 1.04 * len(rows.sizes)))


def test_the_opening_without_noise_is_the_table(rng):
    codes = table(rng, 4000)
    rows, labels = CodeRows(codes), rng.integers(0, 3, 4000)
    image = CodeImage(rows, 3, True)
    question, *told = image.opening_question()
    opening = Opening.of(question(Piece(None, labels, rows=rows), *told).astype(float), 1e-9, rows, 3, 4000)
    np.testing.assert_allclose(np.concatenate(opening.counts), rows.counts(), atol=1e-6)
    np.testing.assert_allclose(opening.sizes, np.bincount(labels))
    for j, rank in enumerate(opening.ranks):
        if rank is not None:
            known = np.bincount(codes.column(j), minlength=len(rank))[: len(rank)]
            np.testing.assert_allclose(rank, (2 * np.cumsum(known) - known) / known.sum() - 1)


def test_the_opening_drops_what_noise_may_be(rng):
    """The curve of a column of numbers comes back smoother than it was released."""
    column = CodeColumn("x", edges=tuple(range(1, 256)), low=0.0, high=256.0)
    rows = CodeRows(CodeTable(np.zeros((1, 1), int), [256], columns=[column]))
    true = 1e4 * np.exp(-np.arange(256) / 30)
    noisy = np.append(true + rng.normal(0, 500, 256), [true.sum() / 2] * 2)
    opening = Opening.of(noisy, 500.0, rows, 2, int(true.sum()))
    assert np.square(opening.counts[0] - true).sum() < 0.25 * np.square(noisy[:256] - true).sum()


def test_columns_of_pairs_are_given_up_before_those_of_the_next_image_are_made(rng, monkeypatch):
    rows, plain, made = CodeRows(table(rng, 50)), CodeRows.with_pairs, []

    def with_pairs(self, pairs):
        if self is not rows:  # the form of an image
            return plain(self, pairs)
        assert not any(each() for each in made)
        joined = plain(self, pairs)
        made.append(weakref.ref(joined))
        return joined

    monkeypatch.setattr(CodeRows, "with_pairs", with_pairs)
    groups = tuple(v % 3 for v in range(SIZES[0])), tuple(v % 2 for v in range(SIZES[1]))
    image, piece = opened(rows, 2, rng), Piece(None, rng.integers(0, 2, 50), rows=rows)
    for images, pair in enumerate((Interaction((0, 1), groups), Interaction((1, 0), groups[::-1])), 1):
        joined = image.with_pairs([pair])
        for _ in range(2):  # the second question needs no new columns
            question, *told = joined.question(np.zeros((joined.size, 1)), np.zeros(1))
            question(piece, *told)
        assert len(made) == images
    assert made[-1]() is not None


@pytest.mark.parametrize(("classes", "times"), [(2, 1.0), (3, 2.0), (7, 2.0)])
def test_steps_are_twice_as_long_for_codes_of_more_than_two_classes(classes, times):
    usual = CodeShape([3, 4], [0, 0], 2, True).fastest
    assert CodeShape([3, 4], [0, 0], classes, True).fastest == times * usual
