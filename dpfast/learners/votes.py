"""Linear functions by votes: signed counts of drawn coordinates, which Winnow and experts release."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpfast.learners.base import TwoSided
from dpfast.learners.counted import SidedModel
from dpfast.learners.model import FloatArray, IntArray
from dpfast.learners.probabilities import SidedProbabilities
from dpfast.learners.saving import integers
from dpfast.tables.signed_rows import refuse_other_type, votes

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
        held = np.append(self.index, -1)[at] == index
        total = self.count.copy()
        total[at[held]] += count[held]
        at, index, count = at[~held], index[~held], count[~held]
        return Hypothesis(
            np.insert(self.index, at, index), np.insert(total, at, count), self.draws + draws * len(releases)
        )

    def shares(self, rows) -> np.ndarray:
        """Return the weighted vote on each row, in [-1, 1]: float64, shape (n,)."""
        return votes(rows, self) / max(1, self.draws * rows.unit)

    def weights(self, d: int) -> np.ndarray:
        """Return the weights as float64, shape (d + 1,), the intercept last; absolute values sum to at most 1."""
        weights = np.zeros(d + 1)
        weights[self.index] = self.count / max(1, self.draws)
        return weights


NOTHING = Hypothesis(np.empty(0, np.int64), np.empty(0, np.int64), 0)


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
    return releases


def _sum(releases):
    index, place = np.unique(np.concatenate([index for index, _ in releases]), return_inverse=True)
    return index, np.bincount(place, weights=np.concatenate([count for _, count in releases])).astype(np.int64)


@dataclass(frozen=True)
class VotingModel(SidedModel):
    """Base of models whose score is the vote of a `Hypothesis` on rows of the type that it was learned from."""

    index: IntArray
    count: IntArray
    draws: int
    reads: str | None

    @property
    def hypothesis(self) -> Hypothesis:
        """Return the hypothesis that predicts."""
        return Hypothesis(self.index, self.count, self.draws)

    def sides(self, rows: Any) -> FloatArray:
        """Return the weighted vote on each row; refuse rows of another type, which are on another scale."""
        refuse_other_type(rows, self.reads)
        return self.hypothesis.shares(rows)

    def released(self) -> dict[str, Any]:
        known = super().released()
        parts = "index", "count", "draws"
        others = {name: value for name, value in known.items() if name not in parts}
        return {"released_weights": self.hypothesis} | others


class Votes:
    """Mixin of classifiers whose model is a `VotingModel`.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_)
        The weights of features in [-1, 1]; absolute values, including the intercept, sum to at most 1.
    intercept_ : ndarray, shape (1,)
    reads_ : {"signs", "numbers"}
        The type of entries that the model expects: booleans are signs, other numbers are used as they are.
    """

    _released_model: Callable[[], Any]
    _width: int

    @property
    def coef_(self) -> np.ndarray:
        return self._released_model().hypothesis.weights(self._width)[np.newaxis, :-1]

    @property
    def intercept_(self) -> np.ndarray:
        return self._released_model().hypothesis.weights(self._width)[-1:]


class Voting(SidedProbabilities, TwoSided):
    """Mixin of classifiers whose score is the vote of `_hypothesis()` on the `_rows` of a table.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_)
        The weights of features in [-1, 1]; absolute values, including the intercept, sum to at most 1.
    intercept_ : ndarray, shape (1,)
    reads_ : {"signs", "numbers"}
        The type of entries that the model expects: booleans are signs, other numbers are used as they are.
    """

    _hypothesis: Callable[[], Hypothesis]
    _rows: Callable[[Any], Any]
    _width: int

    def _scores(self, X):
        return self._hypothesis().shares(self._rows(X))

    @property
    def coef_(self) -> np.ndarray:
        return self._hypothesis().weights(self._width)[np.newaxis, :-1]

    @property
    def intercept_(self) -> np.ndarray:
        return self._hypothesis().weights(self._width)[-1:]
