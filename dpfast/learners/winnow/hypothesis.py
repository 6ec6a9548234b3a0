"""Hypotheses that Winnow releases, saves and predicts with: signed counts of drawn coordinates."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpfast.learners.parameters import choice, optional, positive
from dpfast.learners.saving import entries, integer, integers

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

    def votes(self, rows) -> np.ndarray:
        """Return integer votes on each row as int64, shape (n,), in units of ``draws * rows.unit``."""
        inside = self.index < rows.shape[1]
        return rows.votes(self.index[inside], self.count[inside]) + rows.unit * self.count[~inside].sum()

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


_FACTS = ("updates", "n_updates", "n_draws", "learning_rate", "reads")  # saved attributes, beside the weights
_MOST = 1 << 62


def to_json(model):
    """Return the released values of a `DPWinnowClassifier` for JSON."""
    facts = {name: getattr(model, f"{name}_") for name in _FACTS}
    return {"weights": histograms_to_json(model.released_weights_), **facts}


def restore(model, released):
    """Set the attributes of the model that `to_json` saved; refuse invalid values."""
    if isinstance(released, list) and model.calibration == "tight":  # of version 1
        known = {"updates": len(released), "n_updates": model.n_updates, "n_draws": model.n_draws}
        released = {"weights": released, **known, "learning_rate": None, "reads": None}
    entries(released, "weights", *_FACTS)
    model.released_weights_ = histograms_from_json(released["weights"], model._width)
    for name in ("n_updates", "n_draws"):
        setattr(model, f"{name}_", integer(released[name], 1, _MOST))
    model.updates_ = integer(released["updates"], 0, _MOST if model.window else model.n_updates_)
    if len(model.released_weights_) != min(model.updates_, model.n_updates_):
        raise ValueError(f"{len(model.released_weights_)} releases of {model.updates_} updates")
    model.learning_rate_ = optional(positive()).read("learning_rate", released["learning_rate"])
    model.reads_ = optional(choice("signs", "numbers")).read("reads", released["reads"])
