"""All proofs rest on it: what a row becomes depends on that row alone, and stays within the reach that is declared."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from premises.tables import FORMS, neighbors

from dpfast import BitMatrix, Schema
from dpfast.kernels import multiplicative_weights as weights
from dpfast.kernels import net
from dpfast.learners.halfspaces.images import CodeImage, Opening
from dpfast.tables import Boolean, Category, Numeric
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.codes import CodeRows
from dpfast.tables.encoding import encode
from dpfast.tables.labels import class_codes
from dpfast.tables.projection import LARGEST, project, readable, row_products
from dpfast.tables.signed_rows import signed_rows
from dpfast.tables.unit_rows import CentredRows, Centring, unit_products, unit_rows

KEY = 2**90 + 12345


def _unit_rows(fit_intercept, normalize):
    def image(table):
        rows = unit_rows(table, fit_intercept=fit_intercept, normalize=normalize)
        n, d = rows.shape
        margins = rows.margins(np.cos(np.arange(d)))
        integers = [rows.weighted_sum(row) for row in np.eye(n, dtype=np.int32)]
        assert all(sum(int(q) ** 2 for q in row) <= rows.reach**2 for row in integers)
        return [(row.tobytes(), margin.tobytes()) for row, margin in zip(integers, margins, strict=True)]

    return image


def _centred_rows(table):
    rows = unit_rows(table, fit_intercept=True)
    centring = Centring.of(np.cos(np.arange(rows.shape[1])) / rows.shape[1] ** 0.5, 0.1, 0.4)
    centred = CentredRows(rows, centring)
    n, d = centred.shape
    margins = centred.margins(np.cos(np.arange(d)) / 9)
    integers = [centred.weighted_sum(row) for row in np.eye(n, dtype=np.int32)]
    assert all(sum(int(q) ** 2 for q in row) <= centred.reach**2 for row in integers)
    return [(row.tobytes(), margin.tobytes()) for row, margin in zip(integers, margins, strict=True)]


def _signed_rows(**options):
    def image(table):
        rows = signed_rows(table, **options)
        (n, d), unit = rows.shape, rows.unit
        images, ones = [], np.ones(n, np.int8)
        votes = rows.votes(np.arange(d), np.arange(1, d + 1))
        for i in range(n):
            added = np.zeros(d, np.int64)
            rows.add(added, ones, np.array([i]))
            assert (np.abs(added) <= unit).all()
            images.append((unit, added.tobytes(), int(votes[i])))
            if getattr(rows, "offset", 0) == 0:
                lost = weights.Weights(d + 1, 1)
                lost.add(rows.losses(np.array([i]), ones, constant=True))
                assert lost.totals()[:d].tolist() == added.tolist()
        return images

    return image


def _bits(threshold):
    return lambda table: [row.tobytes() for row in BitMatrix(table, threshold=threshold).rows]


def _projection(table):
    return [row.tobytes() for row in project(table, 70, KEY)]


def _grid(table):
    x = project(table, 4, KEY)
    return [row.tobytes() for row in net.grid(x, np.ones(len(x), np.int8), 16)]


def _products(table):
    X = readable(table)
    return [product.tobytes() for product in row_products(X, np.cos(np.arange(X.shape[1])))]


def _unit_products(table):
    X = readable(table)
    products = unit_products(X, np.cos(np.arange(X.shape[1])), 0.5, fit_intercept=True, normalize=True)
    return [product.tobytes() for product in products]


def _floats(table):
    rows = signed_rows(table, out_of_range="clip")
    return [product.tobytes() for product in rows.dot(np.cos(np.arange(rows.shape[1])))]


class Image:
    """What rows become: `of` takes a table to a list with an item a row."""

    def __init__(self, of, *, largest=np.inf, packed=True, sparse=True, bits=False):
        self.of, self.largest, self.packed, self.sparse, self.bits = of, largest, packed, sparse, bits

    def takes(self, form):
        return (self.packed or not form.packed) and (self.sparse or not form.sparse)


IMAGES = {
    "unit rows": Image(_unit_rows(False, False)),
    "unit rows, a constant": Image(_unit_rows(True, False)),
    "unit rows, normalised": Image(_unit_rows(True, True)),
    "centred rows": Image(_centred_rows),
    "signed rows": Image(_signed_rows(), largest=1),
    "signed rows, 0 to 120": Image(_signed_rows(feature_range=(0, 120), out_of_range="clip")),
    "signed rows, clipped": Image(_signed_rows(out_of_range="clip")),
    "signed rows, off zero": Image(_signed_rows(feature_range=(1, 5), out_of_range="clip"), sparse=False),
    "products of signed rows": Image(_floats),
    "bits": Image(_bits(None), bits=True),
    "bits above a threshold": Image(_bits(0.5), packed=False),
    "projection": Image(_projection, largest=LARGEST),
    "rows of a net": Image(_grid, largest=LARGEST),
    "products": Image(_products),
    "products of unit rows": Image(_unit_products),
}


def assert_one_row_moved(names, form, x, changed, i, folder):
    seen = []
    for each in (x, changed, np.delete(x, i, axis=0)):
        table = form.make(each, folder)
        seen.append([IMAGES[name].of(table) for name in names])
    others = [j for j in range(len(x)) if j != i]
    for name, before, after, without in zip(names, *seen, strict=True):
        assert [before[j] for j in others] == [after[j] for j in others] == without, name


@pytest.mark.parametrize("form", FORMS)
def test_one_row_moves_no_other_rows_image(form, many, tmp_path):
    alike = {}  # images of the same tables
    for name, image in IMAGES.items():
        if image.takes(FORMS[form]):
            alike.setdefault(("bits" if image.bits else FORMS[form].holds, image.largest), []).append(name)
    for (holds, largest), names in alike.items():
        for seed in range(many(1, 1000)):
            rng = np.random.default_rng([seed, *f"{form} {names}".encode()])
            x, changed, i = neighbors(holds, rng, d=int(rng.choice([1, 3, 70])), largest=largest)
            assert_one_row_moved(names, FORMS[form], x, changed, i, tmp_path)


@pytest.mark.parametrize("form", [name for name, form in FORMS.items() if form.holds == "numbers" and form.fast])
def test_a_row_of_numbers_does_not_change_how_rows_of_ones_are_rounded(form, tmp_path):
    # 1 / sqrt(1333) is where float and double round to other integers.
    x = np.ones((3, 1333))
    x[1, 0] = 0
    changed = x.copy()
    changed[2, 7] = -2
    assert_one_row_moved(["unit rows", "unit rows, a constant"], FORMS[form], x, changed, 2, tmp_path)


SCHEMA = Schema(
    [
        Numeric("age", 0, 100, edges=8, nullable=True),
        Numeric("pay", 0, 9, edges=[1, 2, 5], integer=True),
        Category("job", ["clerk", "smith"], nullable=True, other=True),
        Boolean("smokes"),
    ]
)
ENTRIES = {
    "age": [0.0, 12.5, 50.0, 99.9, 1e9, -7.0, None],
    "pay": [0, 1, 2, 5, 9],
    "job": ["clerk", "smith", "baker", "", None],
    "smokes": [True, False],
}


def _people(entries):
    return pd.DataFrame({name: pd.Series([row[name] for row in entries]) for name in ENTRIES})


def _codes(table):
    codes = encode(table, SCHEMA)
    n = len(codes)
    both = zip(codes.toarray(), pack_codes(codes).rows, strict=True)
    images = [(row.tobytes(), bits.tobytes()) for row, bits in both]
    for fit_intercept in (False, True):
        rows = CodeRows(codes)
        image = CodeImage(rows, 2, fit_intercept)
        counts = tuple(np.ones(size) for size in rows.sizes)  # as if released
        ranks = tuple(np.linspace(-1, 1, each.bins) if each.ordered else None for each in rows.columns)
        image.begin(Opening(10.0, np.array([5.0, 5.0]), counts, ranks))
        limits = rows.limits(image._squares, image._allowed, 1 << 16)
        scores = rows.linear_scores(np.cos(np.arange(rows.shape[1]))[:, np.newaxis], np.zeros(1))
        assert len(limits) == len(scores) == n
        images = [
            (*each, limit.tobytes(), score.tobytes()) for each, limit, score in zip(images, limits, scores, strict=True)
        ]
    return images


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32))
def test_one_row_moves_no_other_rows_codes(seed):
    rng = np.random.default_rng(seed)

    def row():
        return {name: entries[rng.integers(len(entries))] for name, entries in ENTRIES.items()}

    entries, i = [row() for _ in range(4)], int(rng.integers(4))
    changed = [*entries[:i], row(), *entries[i + 1 :]]
    before, after, without = (_codes(_people(each)) for each in (entries, changed, entries[:i] + entries[i + 1 :]))
    others = [j for j in range(4) if j != i]
    assert [before[j] for j in others] == [after[j] for j in others] == without


LABELS = {
    "list": list,
    "text": lambda y: np.array(y),
    "series": lambda y: pd.Series(y),
    "categories": lambda y: pd.Series(y, dtype="category"),
}


@pytest.mark.parametrize("form", LABELS)
@pytest.mark.parametrize("classes", [["no", "yes", "a longer one"], [1, 2, 10], [0.0, 1.0, 2.0], [False, True]])
def test_one_label_moves_no_other_rows_code(form, classes, rng):
    for _ in range(5):
        y = [classes[k] for k in rng.integers(0, len(classes), 6)]
        i = rng.integers(6)
        codes = class_codes(LABELS[form](y), 6, classes).codes
        for label in classes:
            changed = [*y[:i], label, *y[i + 1 :]]
            others = np.delete(class_codes(LABELS[form](changed), 6, classes).codes, i)
            assert others.tolist() == np.delete(codes, i).tolist()
