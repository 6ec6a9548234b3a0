"""The opening histogram of a table, from which facts about its columns are discovered before learning."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from dpfast import random
from dpfast.mechanisms.draws import Question, ask, discrete_gaussian, discrete_laplace

SURE = 3.0  # standard deviations of noise: a count below them is taken for noise
_BLOCK = 1 << 17  # words that get noise together
_MOST_STEPS = 1 << 62  # larger counts are cut, so that they fit into 64 bits; neighbours then differ by no more


@dataclass(frozen=True)
class OpeningHistogram:
    """Noisy counts of the codes and words of all columns of a table.

    **Privacy.** Let q columns have counted cells, with discrete Gaussian noise on all counts and a threshold for words.
    The release is (E, d + G(E))-DP for every E >= 0, where G is the curve of a Gaussian mechanism of sensitivity
    ``sqrt(opening_moves(q, neighbors, rows_per_unit))`` rows, and d bounds the probability that a word is published
    which only one of two neighbouring tables has (`lone`). `dpfast.accounting.curves.opening` gives the theorem. With
    discrete Laplace noise of scale s (`pure`) and no words it is (m / s, 0)-DP, where m is the sum of the absolute
    changes of counts: 2 q k for "replace" and q k for "add-remove", with k rows per unit.

    The scale of the noise and the threshold that the noisy count of a word must reach, or None to publish no word, are
    in grid steps, of which a row is `unit`.
    """

    scale: float | Fraction
    unit: int
    threshold: int | None = None
    pure: bool = False
    lone: float = 0.0

    @property
    def deviation(self) -> float:
        """Return the standard deviation of the noise on a count, in rows."""
        return float(self.scale) / self.unit * (math.sqrt(2) if self.pure else 1.0)

    @property
    def least(self) -> float:
        """Return how many rows publish a word with probability one half; infinite if no word is published."""
        return math.inf if self.threshold is None else self.threshold / self.unit

    def codes(self, counts: np.ndarray, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Return noisy counts of fixed codes, including codes that do not occur: float64, in rows."""
        exact = np.minimum(np.asarray(counts, np.int64), _MOST_STEPS // self.unit) * self.unit
        return (discrete_laplace if self.pure else discrete_gaussian)(exact, self.scale, rng=rng) / self.unit

    def words(self, counts: Any, rng: int | np.random.Generator | None = None) -> dict[str, float]:
        """Return the published words of a Counter or `Merged` with their noisy counts, the most frequent first."""
        if self.threshold is None:
            return {}
        rng = random.generator(rng)
        published = ask(
            lambda: Question("words", dict(self._exact(counts)), "euclidean", 1 / self.scale, delta=self.lone),
            lambda: self._draw_words(self._exact(counts), rng),
            rng,
        )
        return {word: steps / self.unit for word, steps in published}

    def _exact(self, counts):
        """Return the words in sorted order, with counts in grid steps; a Counter is not sorted."""
        items = sorted(counts.items()) if isinstance(counts, Counter) else counts.items()
        return ((word, min(rows, _MOST_STEPS // self.unit) * self.unit) for word, rows in items if rows)

    def _draw_words(self, exact, rng):
        """Return the words whose noisy counts reach the threshold, with these counts, the most frequent first."""
        passed = []
        while block := [*islice(exact, _BLOCK)]:
            noisy = discrete_gaussian(np.array([steps for _, steps in block], np.int64), self.scale, rng=rng).tolist()
            passed += [(word, steps) for (word, _), steps in zip(block, noisy, strict=True) if steps >= self.threshold]
        return sorted(passed, key=lambda each: (-each[1], each[0]))
