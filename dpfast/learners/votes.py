"""Linear functions by votes: signed counts of drawn coordinates, which Winnow and experts release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from dpfast.base.explained import Parts, linear_parts
from dpfast.base.forms import Form
from dpfast.base.model import FloatArray, IntArray
from dpfast.base.saving import integers, reals
from dpfast.learners.counted import SidedModel
from dpfast.learners.ties import predicted
from dpfast.tables.codes import CodeTable
from dpfast.tables.signed_rows import SparseRows, signed_rows, votes

_MOST = 1 << 31  # counts in all, in size, which the kernels add up
_MOST_EQUAL = 1 << 20  # weights that begin as equal ones
MOST_WEIGHTS = 1 << 24  # in an array: the file of a model may have 2**31 columns, and name few
Histogram = tuple[np.ndarray, np.ndarray]  # increasing coordinates, and their signed counts other than 0: int64


class Hypothesis(NamedTuple):
    """Signed counts of increasing coordinates out of a number of draws; coordinate d is the intercept."""

    index: np.ndarray  # type: ignore[assignment]  # hides the method of tuples
    count: np.ndarray  # type: ignore[assignment]
    draws: int

    def plus(self, releases: Sequence[Histogram], draws: int) -> "Hypothesis":
        """Return the sum with further histograms, of `draws` draws each, in time linear in the coordinates."""
        if not releases:
            return self
        index, count = _sum(releases)
        at = np.searchsorted(self.index, index)
        present = np.append(self.index, -1)[at] == index
        total = self.count.copy()
        total[at[present]] += count[present]
        at, index, count = at[~present], index[~present], count[~present]
        return Hypothesis(
            np.insert(self.index, at, index), np.insert(total, at, count), self.draws + draws * len(releases)
        )

    def shares(self, rows) -> np.ndarray:
        """Return the weighted vote on each row, in [-1, 1]: float64, shape (n,)."""
        return votes(rows, self) / max(1, self.draws * rows.unit)

    def weights(self, d: int) -> np.ndarray:
        """Return the weights as float64, shape (d + 1,), the intercept last; absolute values sum to at most 1.

        A ValueError refuses more than MOST_WEIGHTS.
        """
        if d > MOST_WEIGHTS:
            raise ValueError(f"{d:,} weights are no array, which has at most 2**24: released_weights_ has those not 0")
        weights = np.zeros(d + 1)
        weights[self.index] = self.count / max(1, self.draws)
        return weights


NOTHING = Hypothesis(np.empty(0, np.int64), np.empty(0, np.int64), 0)


def refuse_uniform(n_columns: int) -> None:
    """Refuse equal weights of so many columns that a file that names none of them would take much memory."""
    if n_columns > _MOST_EQUAL:
        raise ValueError(f'calibration="paper" without negations has at most 2**20 columns, got {n_columns:,}')


def uniform(size: int) -> Hypothesis:
    """Return the hypothesis with equal weights on `size` coordinates."""
    return Hypothesis(np.arange(size), np.ones(size, np.int64), size)


def histogram(coordinate: np.ndarray, sign: np.ndarray) -> Histogram:
    """Return the histogram of draws of coordinates with signs."""
    index, place = np.unique(coordinate, return_inverse=True)
    count = np.bincount(place, weights=sign).astype(np.int64)
    return index[count != 0], count[count != 0]


def histograms_to_json(releases: Sequence[Histogram]) -> list:
    return [[index.tolist(), count.tolist()] for index, count in releases]


def histograms_from_json(saved: list, d: int) -> list[Histogram]:
    """Return the histograms that `histograms_to_json` wrote, of d features and an intercept; refuse invalid values."""
    releases = [(integers(index, 0, d), integers(count, -(1 << 62), 1 << 62)) for index, count in saved]
    if any(i.shape != c.shape or (np.diff(i) <= 0).any() for i, c in releases):
        raise ValueError("every coordinate needs a count, and they must rise")
    if any(sum(map(abs, count.tolist())) >= _MOST for _, count in releases):
        raise ValueError(f"counts of a histogram must add up to less than {_MOST:,} in size")
    return releases


def _sum(releases):
    index, place = np.unique(np.concatenate([index for index, _ in releases]), return_inverse=True)
    return index, np.bincount(place, weights=np.concatenate([count for _, count in releases])).astype(np.int64)


class SignedForm(NamedTuple):
    """Public facts of signed rows: what they read, "signs" or "numbers", and whether missing entries are 0."""

    reads: str
    sparse: bool


@dataclass(frozen=True)
class SignedRows(Form):
    """Rows in [-1, 1]: signs, or numbers of a declared range (`dpfast.tables.signed_rows`).

    A model scores only rows of the kind that it was learned from, `kind`.
    """

    feature_range: Sequence[float] = (-1, 1)
    out_of_range: str = "clip"
    kind: str | None = None

    def rows(self, X: Any) -> Any:
        return signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range)

    def rows_to_score(self, X: Any) -> Any:
        return signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range, reads=self.kind)

    def empty(self, X: Any) -> Any:
        return signed_rows(X, feature_range=self.feature_range, out_of_range="clip")

    def describe(self, rows: Any) -> SignedForm:
        return SignedForm(rows.reads, isinstance(rows, SparseRows) and not rows.offset)


@dataclass(frozen=True)
class VotingModel(SidedModel):
    """Base of the models whose score is the vote of a hypothesis, of rows of `n_columns` features.

    Of classes with equal scores, the one with most rows is predicted, if their noisy numbers, `class_sizes`, were
    released.
    """

    n_columns: int
    class_sizes: FloatArray | None = field(default=None, kw_only=True)

    @property
    def hypothesis(self) -> Hypothesis:
        """Return the hypothesis that predicts."""
        raise NotImplementedError

    def sides(self, rows: Any) -> FloatArray:
        return self.hypothesis.shares(rows)

    def contributions(self, table: Any, rows: Any) -> Parts:
        """Return what columns add to scores; the bits of codes are signs, so a code moves from -1 to 1 what it has."""
        coef, scores = self.steepness() * self.weights()[np.newaxis, :-1], self.scores(rows)[:, np.newaxis]
        if isinstance(table, CodeTable):
            return linear_parts(table, 2 * coef, scores, centred=True)
        return linear_parts(table, coef, scores, entries=rows.numbers)

    def classify(self, rows: Any) -> IntArray:
        return predicted(self.scores(rows), self.class_sizes)

    def weights(self) -> FloatArray:
        """Return the weights of the features and, last, of the intercept."""
        return self.hypothesis.weights(self.n_columns)

    def with_entries(self, saved: Mapping[str, Any], task: Any) -> Self:
        sizes: dict[str, Any] = {"class_sizes": reals(saved["class_sizes"], 2)} if "class_sizes" in saved else {}
        return replace(super().with_entries(saved, task), **sizes)


def coef_of(learner: Any) -> np.ndarray:
    """Return the weights of features in [-1, 1], of a learner whose model votes: float64, shape (1, n_features)."""
    return learner._released_model().weights()[np.newaxis, :-1]


def intercept_of(learner: Any) -> np.ndarray:
    """Return the weight of the intercept, of a learner whose model votes: float64, shape (1,)."""
    model = learner._released_model()
    index, count, draws = model.hypothesis
    return count[index == model.n_columns].sum(keepdims=True) / max(1, draws)
