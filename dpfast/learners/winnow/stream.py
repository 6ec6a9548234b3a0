"""Private state of DP-Winnow, and its algorithm."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpfast.learners.fitting import Run
from dpfast.learners.saving import entries, integer
from dpfast.learners.winnow.checkpoint import Checkpoint
from dpfast.learners.winnow.hypothesis import NOTHING, Hypothesis, histogram
from dpfast.learners.winnow.intervals import KEY_BYTES, counting_rows, interval_sum, row_count
from dpfast.learners.winnow.plan import EveryFew, Plan
from dpfast.learners.winnow.scores import DenseScores, TouchedScores, from_arrays
from dpfast.mechanisms import AboveThreshold

_PRINTED_DRAW = 48  # largest number of bytes of a coordinate and its count in a checkpoint
_FEWEST, _MOST = 1 << 10, 1 << 14  # rounds predicted at a time: few after an update, as the next may be near


@dataclass
class Stream:
    """[BF, Algorithm 4.2]_ with batched, weighted updates.

    Weights w are proportional to exp(exponent s) for the totals s of the scores. The hypothesis w~ is a histogram of
    draws from w, or the sum of all histograms so far. The rounds between two updates are an interval: AboveThreshold
    (Q) tests the number of its counting rows (C, in the paper), which enter the scores when the interval ends.
    """

    plan: Plan
    scores: DenseScores | TouchedScores
    unit: int  # of the rows
    hypothesis: Hypothesis
    run: Run
    file: Checkpoint | None = None
    parameters: dict | None = None  # of the estimator at the time of the charge, for the file
    rounds: int = 0  # t
    taken: int = 0  # rows of this interval that entered the scores
    tests: AboveThreshold | EveryFew | None = None  # None before the first round, and after the last update

    @classmethod
    def resumed(cls, plan, hypothesis, run, file, kept, arrays) -> "Stream":
        """Return the stream restored from `kept` and the arrays of scores, under the same plan."""
        entries(kept, "unit", "rounds", "taken", "tests", "reproducible", "learning_rate", "threshold_epsilon")
        for name in ("learning_rate", "threshold_epsilon"):
            if not math.isclose(kept[name], getattr(plan, name), rel_tol=1e-9):
                raise ValueError(f"{name} is {kept[name]}, and by the parameters {getattr(plan, name)}")
        unit, rounds, taken = (integer(kept[name], 0, 1 << 62) for name in ("unit", "rounds", "taken"))
        d = plan.dimension // (1 + plan.negations) - plan.fit_intercept
        scores = from_arrays(arrays, d, plan.window)
        self = cls(plan, scores, unit, hypothesis, run, file, rounds=rounds, taken=taken)
        if kept["tests"] is not None:
            self._tests()._go_on(kept["tests"])
        run.reproducible |= bool(kept["reproducible"])
        return self

    def kept(self) -> dict:
        """Return the values other than scores that `resumed` needs, for JSON; private."""
        return {
            "unit": self.unit,
            "rounds": self.rounds,
            "taken": self.taken,
            "tests": None if self.tests is None else self.tests._state(),
            "reproducible": self.run.reproducible,
            "learning_rate": self.plan.learning_rate,
            "threshold_epsilon": self.plan.threshold_epsilon,
        }

    def growth(self, rows, signs) -> int:
        """Return an upper bound on the growth of a checkpoint, in bytes, in the first call with these rows."""
        updates = min(self.plan.n_updates, len(signs))
        drawn = min(self.plan.n_draws, self.plan.dimension)
        return updates * drawn * _PRINTED_DRAW + self.scores.growth(rows, updates)

    @property
    def updates(self) -> int:
        """Number k of updates so far."""
        return self.run.used["updates"]

    @property
    def learning(self) -> bool:
        """Whether further updates are possible."""
        return self.plan.releases is None or self.updates < self.plan.releases

    def follow(self, rows, signs) -> np.ndarray:
        """Predict rows in order and learn from them; return the side of each row, 0 or 1."""
        predicted, start, size = np.empty(len(signs), np.int64), 0, _FEWEST
        while start < len(signs):
            part, labels = rows[start : start + size], signs[start : start + size]
            votes = self.hypothesis.votes(part)
            made, ended = len(labels), False
            if self.learning:
                counting = self._counting(votes, labels)
                end = self._tests().run(made, np.flatnonzero(counting))
                ended = end is not None
                made = end + 1 if ended else made
                self._take(part, labels, counting[:made])
            predicted[start : start + made] = votes[:made] >= 0
            start += made
            self.rounds += made
            size = _FEWEST if ended else min(2 * size, _MOST)
            if ended:
                self._update()
        return predicted

    def learn(self, parts, intervals) -> None:
        """Learn from a table whose rows are each in a random interval.

        Parameters
        ----------
        parts : MemoryParts or EngineParts
            Parts of pieces whose rows are results of `signed_rows`.
        intervals : iterable of int
            The numbers below n_updates in increasing order.
        """
        key, sizes = int.from_bytes(self.run.rng.bytes(KEY_BYTES)), parts.each(row_count)
        firsts = [0, *accumulate(sizes[:-1])]
        for k in intervals:
            told, most = (key, k, self.plan, self.hypothesis), [None] * len(firsts)
            if self.plan.batch is not None:
                counts = np.array(parts.each(counting_rows, *told, own=firsts))
                most = np.clip(self.plan.batch - (np.cumsum(counts) - counts), 0, counts).tolist()
            self.scores.enter(parts.sum(interval_sum, *told, own=list(zip(firsts, most, strict=True))))
            self._update()

    def _counting(self, votes, signs):
        return self.plan.counts(votes, signs, self.hypothesis.draws * self.unit)

    def _tests(self):
        if self.tests is None:
            self.tests = self.plan.tests(self.updates, self.run.rng)
        return self.tests

    def _take(self, rows, signs, counting):
        """Add counting rows to the interval, as many as the batch allows."""
        chosen = np.flatnonzero(counting)
        if self.plan.batch is not None:
            chosen = chosen[: self.plan.batch - self.taken]
        if chosen.size:
            self.scores.add(rows, signs, chosen, self.plan.fit_intercept)
            self.taken += chosen.size

    def _update(self):
        """Multiply the weights by the interval's update, and draw and release the next hypothesis."""
        plan, released = self.plan, self.run.released
        self.scores.close(plan.weight(self.updates))
        exponent = Fraction(plan.learning_rate) / (self.unit * plan.grid)
        drawn = self.scores.draw(
            exponent, plan.n_draws, self.run.rng, mirrored=plan.negations, intercept=plan.fit_intercept
        )
        self.run.release("updates", histogram(*drawn))
        if plan.window:
            del released[: -plan.window]
        if plan.average and not plan.window and self.updates > 1:
            self.hypothesis = self.hypothesis.plus(released[-1:], plan.n_draws)  # the same as below, in less time
        else:
            self.hypothesis = NOTHING.plus(released if plan.average else released[-1:], plan.n_draws)
        self.taken, self.tests = 0, None
