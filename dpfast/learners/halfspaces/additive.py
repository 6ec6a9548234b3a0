"""The model of `HalfspaceClassifier`: a score that is a sum over columns, and the log odds that follow from it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from dpfast.base.explained import Parts, linear_parts, names_of, refuse_many, row_lengths
from dpfast.base.model import FloatArray, IntArray, Model
from dpfast.base.parameters import positive
from dpfast.base.plan import Task
from dpfast.base.saving import entries, integer, reals
from dpfast.kernels.reals import dot, exp, expit, log, norm
from dpfast.learners.halfspaces.few_rows import FewScores
from dpfast.learners.halfspaces.pairs import Interaction, read_pair
from dpfast.learners.halfspaces.steepness import log_chances, log_odds, score_of
from dpfast.learners.halfspaces.trees import Forest, read_forest
from dpfast.learners.ties import predicted
from dpfast.tables.codes import CodeRows, CodeTable
from dpfast.tables.few_rows import MOST

MOST_ROUNDS = 1 << 15
_IN_CARD = "class_sizes", "coef_noise", "code_shares"  # where a file has them
_ALWAYS = "interactions", "trees"  # attributes also of models that have none


@dataclass(frozen=True)
class AdditiveModel(Model):
    """Released coefficients, the pairs and trees they are for, and what is known of their noise.

    The fields are described in `HalfspaceClassifier`, as attributes. Those that are None were not released, or do not
    apply.
    """

    coef: FloatArray
    intercept: FloatArray
    shift: FloatArray
    n_rounds: int
    sigma: float
    interactions: tuple[Interaction, ...] = ()
    trees: Forest | None = None
    class_weight: FloatArray | None = None
    class_sizes: FloatArray | None = None
    count_noise: float | None = None
    coef_noise: FloatArray | None = None
    code_shares: FloatArray | None = None

    def log_odds(self, rows: Any) -> FloatArray:
        return self._odds_of(self.row_scores(rows))

    def _odds_of(self, scores):
        """Return the log odds of the classes of rows by their scores."""
        logs = log_odds(scores[:, 0]) if scores.shape[1] == 1 else log_chances(scores)
        if self.class_weight is None:
            return logs
        weights = log(self.class_weight)
        return logs + (self._moved() if scores.shape[1] == 1 else weights)

    def row_scores(self, rows: Any) -> FloatArray:
        """Return the scores of rows, sums of what their columns add: float64, shape (n, 1) or (n, k)."""
        if isinstance(rows, CodeRows):
            coef, constant = self.coef.T, self.intercept + self.shift
            if 0 < rows.shape[0] <= MOST and (few := self._few_scores(rows.sizes.tolist(), coef, constant)):
                return few.of(rows)
            rows = rows.with_pairs(self.interactions) if self.interactions else rows
            rows = rows if self.trees is None else rows.with_leaves(self.trees)
            return rows.linear_scores(coef, constant)
        w = np.concatenate([self.coef, self.intercept[:, np.newaxis]], axis=1).T[: rows.shape[1]]
        size = norm(w) or 1.0  # margins are those of vectors of norm 1
        return size * rows.margins(w / size).astype(np.float64) + self.shift

    def _few_scores(self, sizes, coef, constant):
        """Return the scorer of a few rows whose columns have these sizes, made once; None for another model's codes."""
        memo = self._known_few.get("scores")
        if memo is None or memo[0] != sizes:
            try:
                memo = sizes, FewScores(sizes, self.interactions, self.trees, coef, constant)
            except ValueError:
                memo = sizes, None
            self._known_few["scores"] = memo
        return memo[1]

    @cached_property
    def _known_few(self) -> dict[str, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_known_few"}

    def contributions(self, table: Any, rows: Any) -> Parts:
        scores = self.row_scores(rows).astype(np.float64)
        if not isinstance(table, CodeTable):
            lengths = row_lengths(table, rows.shape[1] > self.coef.shape[1], 0.0)
            return linear_parts(table, self.coef, scores, lengths=lengths)
        names, joint, pairs = names_of(table), {}, [pair.columns for pair in self.interactions]
        refuse_many(len(table) * (len(names) + len(pairs) + 1) * len(self.coef))
        for columns in pairs:
            own = tuple(names[j] for j in columns)
            joint[" and ".join(own)] = own
        codes = [table.column(j) for j in range(len(names))]
        cells = rows.with_pairs(self.interactions) if pairs else rows
        codes += [cells.column(len(names) + k) for k in range(len(pairs))]
        count = len(codes) + (self.trees is not None)
        values, start = np.empty((len(self.coef), count, len(table))), 0
        shares = self.code_shares
        sizes = [*table.sizes.tolist(), *(pair.size for pair in self.interactions)]
        for j, (column, size) in enumerate(zip(codes, sizes, strict=True)):
            for k, row in enumerate(self.coef[:, start : start + size]):
                of_rows = np.full(size, 1 / size) if shares is None else shares[start : start + size]
                (row - dot(of_rows, row)).take(column, out=values[k, j], mode="clip")
            start += size
        if self.trees is not None:
            together = {self.trees.orders[order][0] for tree in self.trees.asked for order in tree}
            joint["trees"] = tuple(names[j] for j in sorted(together))
            mean = np.array([dot(shares[start:], row[start:]) if shares is not None else 0.0 for row in self.coef])
            # what is left of the score: trees add the more exactly, as scores are rounded
            level = self.intercept + self.shift + mean + self._means(sizes)
            values[:, -1] = scores.T - level[:, np.newaxis] - values[:, :-1].sum(axis=1)
        return Parts([*names, *joint], values, scores, joint)

    def _means(self, sizes: list[int]) -> FloatArray:
        """Return what columns and pairs add to the scores on average over the rows, by the shares of codes."""
        shares = self.code_shares
        of_rows = np.concatenate([np.full(size, 1 / size) for size in sizes]) if shares is None else shares
        return np.array([dot(of_rows[: sum(sizes)], row[: sum(sizes)]) for row in self.coef])

    def classify(self, rows: Any) -> IntArray:
        """Return the number of the predicted class of each row; of classes with equal scores, that with most rows."""
        return self.classes_of(self.row_scores(rows))

    def classes_of(self, scores: FloatArray) -> IntArray:
        """Return the number of the predicted class of rows by their scores of `row_scores`.

        Without weights of classes, the scores decide themselves: their order is that of the log odds, and rounding of
        these makes no ties.
        """
        if self.class_weight is not None:
            scores = self._odds_of(scores)
        elif scores.shape[1] == 1:
            scores = scores[:, 0]
        return predicted(scores, self.class_sizes)

    def chance(self, score: float) -> float:
        """Return the probability of the second of two classes for a row of this score."""
        return float(expit(log_odds(score) + self._moved()))

    def chance_from_even(self, step: float) -> float:
        """Return the probability of a class whose score is this much above that of even odds with all others."""
        if len(self.coef) == 1:
            return self.chance(score_of(-self._moved()) + step)
        chances = exp(log_chances(np.array([[step, *[0.0] * (len(self.coef) - 1)]])))
        return float(chances[0, 0] / chances.sum())

    def _moved(self):
        """Return what the weights of two classes add to the log odds."""
        if self.class_weight is None:
            return 0.0
        weights = log(self.class_weight)
        return weights[1] - weights[0]

    def attributes(self) -> dict[str, Any]:
        return {name: value for name, value in super().attributes().items() if value is not None or name in _ALWAYS}

    def with_entries(self, saved: Mapping[str, Any], task: Task) -> Self:
        entries: dict[str, Any] = {name: np.array(saved[name], np.float64) for name in _IN_CARD if name in saved}
        if "count_noise" in saved:
            entries["count_noise"] = abs(float(saved["count_noise"]))
        return replace(super().with_entries(saved, task), **entries)

    def to_dict(self) -> dict[str, Any]:
        saved = {
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
            "shift": self.shift.tolist(),
            "n_rounds": self.n_rounds,
            "sigma": self.sigma,
        }
        if self.interactions:
            saved["interactions"] = [pair.to_dict() for pair in self.interactions]
        if self.trees is not None:
            saved["trees"] = self.trees.to_dict()
        if self.class_weight is not None:
            saved["class_weight"] = self.class_weight.tolist()
        return saved


def read_additive(saved: Any, task: Task) -> AdditiveModel:
    """Return the model that `to_dict` described; refuse content that is for no table of this task.

    The noise and the shares of rows are in another part of the file.
    """
    entries(saved, "coef", "intercept", "shift", "n_rounds", "sigma", maybe=("class_weight", "interactions", "trees"))
    columns, coef = 1 if task.n_classes == 2 else task.n_classes, saved["coef"]
    if not isinstance(coef, list) or len(coef) != columns or not isinstance(coef[0], list):
        raise ValueError(f"wanted {columns} lists of coefficients, got {coef!r}")
    model = AdditiveModel(
        coef=np.array([reals(each, len(coef[0])) for each in coef]),
        intercept=reals(saved["intercept"], columns),
        shift=reals(saved["shift"], columns),
        n_rounds=integer(saved["n_rounds"], 1, MOST_ROUNDS),
        sigma=positive().read("sigma", saved["sigma"]),
        interactions=tuple(map(read_pair, saved.get("interactions", []))),
        trees=read_forest(saved["trees"]) if "trees" in saved else None,
        class_weight=reals(saved["class_weight"], task.n_classes) if "class_weight" in saved else None,
    )
    _refuse_others(model, task)
    return model


def _refuse_others(model, task):
    """Refuse pairs and trees of other columns, or of other codes, than the coefficients of a file are for."""
    pairs, forest = model.interactions, model.trees
    joined = sum(pair.size for pair in pairs) + sum([] if forest is None else forest.sizes)
    left = model.coef.shape[1] - joined
    if task.sizes is None:  # vectors, or codes of which the file has only the number of columns
        if left < task.n_columns:
            raise ValueError(f"{task.n_columns} columns cannot have {left} coefficients")
        return
    sizes = task.sizes
    read = [(j, len(group)) for pair in pairs for j, group in zip(pair.columns, pair.groups, strict=True)]
    read += [] if forest is None else [(j, len(places)) for j, places in forest.orders]
    if left != sum(sizes) or any(j >= len(sizes) or sizes[j] != size for j, size in read):
        raise ValueError(f"columns of {[*sizes]} codes cannot have {left} coefficients, nor pairs or trees of {read}")
