"""Models of the learners that release coefficients, an intercept and a shift, and how they read rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np

from dpfast.base.explained import Parts, linear_parts, row_lengths
from dpfast.base.forms import Form
from dpfast.base.model import FloatArray, IntArray
from dpfast.base.saving import entries, reals
from dpfast.kernels.reals import norm
from dpfast.learners.calibration import LEVELS, level_counts
from dpfast.learners.counted import CountedModel, SidedModel
from dpfast.learners.probabilities import confusion
from dpfast.learners.ties import predicted
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.projection import readable
from dpfast.tables.unit_rows import unit_products

_MOST_CLASSES = 1 << 12


@dataclass(frozen=True)
class LinearRows(Form):
    """Base of forms in which rows are learned, and of which the model scores the numbers as they are."""

    def rows_to_score(self, X: Any) -> Any:
        return readable(X)

    def describe(self, rows: Any) -> bool:
        """Return whether the type of the rows allows negative entries.

        Parameters
        ----------
        rows : table

        Returns
        -------
        bool
        """
        return getattr(rows, "signed", True)


@dataclass(frozen=True)
class LinearModel(SidedModel):
    """Base of the models: coefficients, an intercept and a shift, for two classes one of each, else one for each class.

    The length of a row is that of (x, 1), or of x if `has_constant` is false; with `only_clips`, it is at least 1. The
    score of a row is (<x, coef> + intercept) divided by this length, plus shift.

    A subclass has the further released numbers as fields. Of classes with equal scores, the one with most rows is
    predicted, if their noisy numbers, `class_sizes`, were released.
    """

    coef: FloatArray
    intercept: FloatArray
    shift: FloatArray
    has_constant: bool
    only_clips: bool
    class_sizes: FloatArray | None = field(default=None, kw_only=True)

    def check(self) -> None:
        columns = (len(self.coef),)
        if self.coef.ndim != 2 or self.intercept.shape != columns or self.shift.shape != columns:
            raise ValueError(f"coefficients of shape {self.coef.shape} need as many intercepts and shifts as rows")

    def scores(self, rows: Any) -> FloatArray:
        if self.class_counts is None or not self._two:
            return self._linear(rows)
        return self.line().log_odds(self.sides(rows))

    def sides(self, rows: Any) -> FloatArray:
        """Return the score of each row over a number that no score exceeds in size."""
        return self._linear(rows) / self._size

    def contributions(self, table: Any, rows: Any) -> Parts:
        scores = self.scores(rows)
        steep = self.steepness() / self._size if self._two and self.class_counts is not None else 1.0
        lengths = row_lengths(table, self.has_constant, float(self.only_clips))
        return linear_parts(table, self.coef * steep, scores.reshape(len(scores), -1), lengths=lengths)

    def classify(self, rows: Any) -> IntArray:
        return predicted(self.scores(rows), self.class_sizes)

    def cells(self, n_classes: int) -> int:
        return LEVELS if n_classes == 2 else n_classes

    def shares(self, rows: Any) -> FloatArray:
        return super().shares(rows) if self._two else CountedModel.shares(self, rows)

    def reliability(self, classes: np.ndarray) -> list[Any]:
        return super().reliability(classes) if self._two else CountedModel.reliability(self, classes)

    def count_classes(self, piece: Any) -> IntArray:
        """Return counts of the rows of a piece by level of their score and by class; private.

        They are int64, of shape (LEVELS, 2); for more than two classes they are counts by predicted class and class.
        """
        rows = readable(pack_codes(piece.X))
        if self._two:
            return level_counts(self.sides(rows), piece.labels)
        return confusion(self._linear(rows).argmax(axis=1), piece.labels, len(self.coef))

    def released(self) -> dict[str, Any]:
        shift = {"shift": float(self.shift[0]) if self._two else self.shift}
        sizes = {} if self.class_sizes is None else {"class_sizes": self.class_sizes}
        return {"coef": self.coef, "intercept": self.intercept} | shift | self._numbers() | sizes

    def to_dict(self) -> dict[str, Any]:
        linear = {name: getattr(self, name).tolist() for name in ("coef", "intercept", "shift")}
        return {name: each[0] if self._two else each for name, each in linear.items()} | self._numbers()

    @classmethod
    def of_file(cls, saved: Any, width: int, n_classes: int, has_constant: bool, only_clips: bool) -> Self:
        """Return the model that `to_dict` described, of rows of `width` columns; refuse what no fit could release."""
        numbers = cls._own()
        entries(saved, "coef", "intercept", *numbers, maybe=("shift",))
        columns = 1 if n_classes == 2 else n_classes
        coef, intercept, shift = saved["coef"], saved["intercept"], saved.get("shift", 0.0)
        if n_classes == 2:
            coef, intercept, shift = [coef], [intercept], [shift]
        if not isinstance(coef, list) or len(coef) != columns:
            raise ValueError(f"wanted {columns} lists of coefficients, got {coef!r:.80}")
        return cls(
            np.array([reals(each, width) for each in coef]),
            reals(intercept, columns),
            reals(shift, columns),
            has_constant,
            only_clips,
            **{name: saved[name] for name in numbers},
        )

    def with_entries(self, saved: Mapping[str, Any], task: Any) -> Self:
        sizes: dict[str, Any] = {}
        if "class_sizes" in saved:
            sizes["class_sizes"] = reals(saved["class_sizes"], task.n_classes)
        return replace(super().with_entries(saved, task), **sizes)

    @property
    def _two(self) -> bool:
        return len(self.coef) == 1

    @property
    def _size(self) -> float:
        """Return a number that no score exceeds in size."""
        return norm(np.append(self.coef, self.intercept)) + abs(float(self.shift[0])) or 1.0

    def _linear(self, rows: Any) -> FloatArray:
        """Return the scores of rows: float64, shape (n,) for two classes, else (n, n_classes)."""
        lengths = {"fit_intercept": self.has_constant, "normalize": not self.only_clips}
        linear = zip(self.coef, self.intercept.tolist(), self.shift.tolist(), strict=True)
        columns = [unit_products(rows, coef, one, **lengths) + shift for coef, one, shift in linear]
        return columns[0] if self._two else np.stack(columns, axis=1)

    @classmethod
    def _own(cls) -> list[str]:
        """Return the names of the numbers of a subclass."""
        return [each.name for each in fields(cls) if each.name not in LinearModel.__dataclass_fields__]

    def _numbers(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._own()}


def stack_columns(coef: Any, intercept: Any, shift: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coefficients, intercepts and shifts as `LinearModel` has them, for two classes from one of each."""
    coef = np.atleast_2d(coef)
    columns = len(coef)
    return coef, *(np.broadcast_to(np.asarray(each, np.float64), columns).copy() for each in (intercept, shift))


def refuse_many_classes(n_classes: int) -> None:
    """Refuse so many classes that a round would take too long."""
    if n_classes > _MOST_CLASSES:
        raise ValueError(
            f"{n_classes:,} classes would take as many passes over the rows in each round: give at most "
            f"{_MOST_CLASSES:,} classes"
        )


def count_by_score(piece: Any, model: LinearModel) -> IntArray:
    """Return the class counts of a piece; private."""
    return model.count_classes(piece)


def count_rows(rows: Any) -> int:
    """Return the number of rows with a label, exact and private."""
    return int(rows.sum(_number))


def _number(piece):
    return np.array(len(piece.labels))
