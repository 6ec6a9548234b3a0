"""The opening histogram of a table: what is public of its columns before anything is learned."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from dpfast import random
from dpfast.mechanisms.noise import discrete_gaussian, discrete_laplace
from dpfast.mechanisms.recorded import Question, asked

_BLOCK = 1 << 17  # words that get noise together


@dataclass(frozen=True)
class OpeningHistogram:
    """Noisy counts of the codes and words of all columns of a table.

    **Privacy.** With q columns whose cells are counted, discrete Gaussian noise on all counts and a threshold for
    words, the release is (E, d + G(E))-DP for every E >= 0, where G is the curve of a Gaussian mechanism that moves by
    ``sqrt(opening_moves(q, neighbors, rows_per_unit))`` rows, and d bounds the chance that a word is published which
    only one of two neighbouring tables has. Theorem and proof are in `dpfast.accounting.opening`. With discrete Laplace
    noise of scale s and no words it is (m / s, 0)-DP, where the counts move by m in absolute value: 2 q k for
    "replace" and q k for "add-remove", with k rows a unit.

    Parameters
    ----------
    scale : float or Fraction
        Of the noise, in steps of the grid: sigma, or the scale of Laplace noise.
    unit : int
        Steps that a row counts.
    threshold : int or None
        Steps that the noisy count of a word must reach to be published; None publishes no word.
    pure : bool, default=False
        Whether the noise is discrete Laplace.
    lone : float, default=0.0
        A bound on the chance that `words` publishes a word that only one of two neighbouring tables has.
    """

    scale: float | Fraction
    unit: int
    threshold: int | None = None
    pure: bool = False
    lone: float = 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise on a count, in rows."""
        return float(self.scale) / self.unit * (math.sqrt(2) if self.pure else 1.0)

    @property
    def least(self) -> float:
        """Rows of a word that is published with a probability of one half: infinite if no word is published."""
        return math.inf if self.threshold is None else self.threshold / self.unit

    def codes(self, counts: np.ndarray, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """Return noisy counts of fixed codes, whether they occur or not: float64, in rows.

        Parameters
        ----------
        counts : ndarray of int
            Rows of each code.
        rng : None, int or numpy.random.Generator
            None uses a cryptographic generator; a seed is for tests.
        """
        exact = np.asarray(counts, np.int64) * self.unit
        return (discrete_laplace if self.pure else discrete_gaussian)(exact, self.scale, rng=rng) / self.unit

    def words(self, counts: Any, rng: int | np.random.Generator | None = None) -> dict[str, float]:
        """Return the words that enough rows have, with their noisy counts, the most frequent first.

        Parameters
        ----------
        counts : Counter or dpfast.tables.words.Merged
            Rows of each word that some row has.
        rng : None, int or numpy.random.Generator
        """
        if self.threshold is None:
            return {}
        rng = random.generator(rng)
        published = asked(
            lambda: Question("words", dict(self._exact(counts)), "euclidean", 1 / self.scale, delta=self.lone),
            lambda: self._published(self._exact(counts), rng),
            rng,
        )
        return {word: steps / self.unit for word, steps in published}

    def _exact(self, counts):
        """The words in their order, with steps of the grid; those of a Counter are in no order."""
        items = sorted(counts.items()) if isinstance(counts, Counter) else counts.items()
        return ((word, rows * self.unit) for word, rows in items if rows)

    def _published(self, exact, rng):
        """The words whose noisy counts reach the threshold, with these, the most frequent first."""
        passed = []
        while block := [*islice(exact, _BLOCK)]:
            noisy = discrete_gaussian(np.array([steps for _, steps in block], np.int64), self.scale, rng=rng).tolist()
            passed += [(word, steps) for (word, _), steps in zip(block, noisy, strict=True) if steps >= self.threshold]
        return sorted(passed, key=lambda each: (-each[1], each[0]))
