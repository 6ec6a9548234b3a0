"""An array that another thread changes during a call is never followed outside of the memory of its arrays.

A kernel that reads an array twice works on a copy that nobody else has, or bounds its loop. Here arrays change at the
worst moment: when they are checked, or, for `levels` and `resampling`, between their two reads.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpfast.kernels import (  # fmt: skip
    bits,
    codes,
    descent,
    draw,
    grid,
    integer_matrix,
    levels,
    logistic,
    measure,
    multiplicative_weights,
    reals,
    resampling,
    residuals,
    scores,
    signs,
    sparse_vector,
    unit_rows,
)
from dpfast.mechanisms import exponential

DOCS = (Path(__file__).parents[2] / "docs" / "kernels_modules.md").read_text(encoding="utf-8")
INDPTR, INDICES, ONES = np.array([0, 2, 3]), np.array([0, 3, 1]), np.ones(3, np.int8)
SOME = np.array([0, 5]), np.array([1, -1])
WORDS = np.array([[3], [5], [6]], np.uint64)
ROWS = unit_rows.Dense(np.ones((3, 4), np.float32))


class Sly(np.ndarray):
    """An array that becomes another one as soon as it is looked at as a whole."""

    def _struck(self):
        if self.flags.writeable:
            self.view(np.ndarray)[...] = np.iinfo(self.dtype).max // 2 if self.dtype.kind in "iu" else 1e30

    def __array_function__(self, function, types, args, kwargs):
        answer = super().__array_function__(function, types, args, kwargs)
        self._struck()
        return answer

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [each.view(np.ndarray) if isinstance(each, Sly) else each for each in inputs]
        answer = getattr(ufunc, method)(*plain, **kwargs)
        self._struck()
        return answer


def sly(array):
    return np.array(array).view(Sly)


COPIED = {  # calls with an array that is checked and then followed
    "bits.pack_sparse": lambda f: bits.pack_sparse(f(INDPTR), f(INDICES), 4),
    "bits.pack_sparse, int32": lambda f: bits.pack_sparse(f(INDPTR.astype("i4")), f(INDICES.astype("i4")), 4),
    "bits.nonzero": lambda f: bits.nonzero(f(WORDS.ravel())),
    "bits.conjunctions": lambda f: bits.conjunctions(WORDS, 3, f(np.array([[0, 3], [2, -1]]))),
    "codes.Columns": lambda f: codes.counts(codes.Columns([f(ONES.view("u1"))], [2]), np.zeros(3, "u1"), 1),
    "codes.counts": lambda f: codes.counts(codes.Columns([ONES.view("u1")], [2]), f(ONES.view("u1")), 2),
    "codes.matches": lambda f: codes.matches(codes.Columns([ONES.view("u1")], [2]), f(np.array([[0, 0, 1]]))),
    "descent.Groups": lambda f: descent.Groups(f(np.array([0, 1, 1])), np.ones(2)).shrink(
        np.ones((3, 1)), np.ones(2), 0.8, 10.0
    ),
    "draw.below": lambda f: draw.below(f(np.array([3, 5])), np.random.default_rng(0)),
    "grid.of_columns": lambda f: grid.of_columns(np.ones((3, 1)), f(np.array([0, 1, 3]))),
    "integer_matrix.IntegerMatrix": lambda f: integer_matrix.IntegerMatrix(
        f(INDPTR), f(INDICES), np.ones(3), 4
    ).products(np.ones((4, 1))),
    "logistic.many": lambda f: logistic.many(
        np.zeros((3, 2), "i4"), f(np.ones(3, "u2")), np.ones(3, "i4"), 1.0, np.zeros(2, "f4")
    ),
    "measure.project": lambda f: measure.project(f(np.arange(3, dtype="i4")), ONES, measure.table(0.5, 16), 20),
    "reals.products_csr": lambda f: reals.products_csr(f(INDPTR), f(INDICES), np.ones(3), np.ones(4)),
    "residuals.sums": lambda f: residuals.sums(
        codes.Columns([ONES.view("u1")], [2]), np.zeros((2, 2), "i4"), f(np.ones(3, "u2")), np.ones(3, "i4"), 1.0,
        np.zeros(2, "f4"),
    ),
    "scores.add_packed": lambda f: scores.add_packed(np.zeros(3, int), WORDS, 3, ONES, f(np.array([2, 0]))),
    "scores.votes_packed": lambda f: scores.votes_packed(WORDS, 9, *map(f, SOME)),
    "scores.votes_csr": lambda f: scores.votes_csr(f(INDPTR), f(INDICES), None, *map(f, SOME)),
    "scores.votes_grid": lambda f: scores.votes_grid(np.ones((3, 6), "i4"), *map(f, SOME)),
    "scores.SparseScores": lambda f: scores.SparseScores(9, f(np.arange(3, dtype="u4")), f(np.arange(3))).export(),
    "signs.project_csr": lambda f: signs.project_csr(
        f(INDPTR), f(INDICES), None, 4, 5, 3, matrix=signs.matrix(4, 5, 3)
    ),
    "sparse_vector.Tests": lambda f: sparse_vector.Tests(100, 1).run(
        f(np.array([1, 2])), f(np.array([3, 4])), np.random.default_rng(0)
    ),
    "unit_rows.Csr": lambda f: unit_rows.scales(unit_rows.Csr(f(INDPTR), f(INDICES), np.ones(3), 4)),
    "unit_rows.add_residuals_many": lambda f: unit_rows.add_residuals_many(
        np.zeros((2, 6), int), ROWS, unit_rows.scales(ROWS), np.zeros((2, 5), "f4"), f(np.ones(3, "u2")),
        np.ones(3, "i4"), 1.0, np.zeros(2, "f4"),
    ),
    "multiplicative_weights.csr": lambda f: multiplicative_weights.csr(f(INDPTR), f(INDICES), np.ones(3), 4).check(),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIED)
def test_a_copy_is_checked_and_followed(name):
    assert repr(COPIED[name](sly)) == repr(COPIED[name](np.array))


class _Between:
    """The generator of some calls, whose lock changes an array before anything is drawn: some of its entries."""

    def __init__(self, array, value, start=1):
        self._rng, self._array, self._value = np.random.default_rng(0), array[start::2], value
        self.bit_generator = SimpleNamespace(capsule=self._rng.bit_generator.capsule, lock=self)

    def __enter__(self):
        self._array[...] = self._value

    def __exit__(self, *what):
        pass


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 255, 256, 257, 5000])
def test_scores_that_change_between_scan_and_draw_give_a_candidate(dtype, size, each_isa):
    for first, then in ((0, 100), (100, -100), (-100, 100), (100, 0)):
        for mirrored in (False, True):
            for exponent in (0.5, -0.5):
                stored = np.full(size, first, dtype)
                rng = _Between(stored, then)
                drawn = levels.sample(stored, exponent, 20, rng, mirrored=mirrored)
                assert ((drawn >= 0) & (drawn < size * (1 + mirrored))).all()


def test_weights_that_change_between_sum_and_draw_give_an_entry():
    for first, then in ((1.0, 1e-300), (1.0, 2.0), (1.0, 0.0)):
        stored = np.full(1000, first)
        drawn = resampling.draw(stored, 20, _Between(stored, then))
        assert ((drawn >= 0) & (drawn < 1000)).all()


def test_the_mechanism_gives_a_candidate_while_its_scores_change(monkeypatch):
    stored = np.zeros(1000, np.int64)
    monkeypatch.setattr("dpfast.random.generator", lambda rng: rng)
    for then in (10**6, -(10**6)):
        stored[:] = 0
        drawn = exponential(stored, 0.3, size=50, rng=_Between(stored, then, 0))
        assert ((drawn >= 0) & (drawn < 1000)).all()
        assert (drawn % 2 == 0).any()


def test_the_table_of_the_page_names_what_is_tested_here():
    section = DOCS.split("## Arrays that another thread changes")[1]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    named = {f"{row.split('`')[1]}.{name}" for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[2])}
    assert {name.partition(",")[0] for name in COPIED} <= named
    assert {"levels.sample", "levels.draw", "resampling.draw"} <= named
