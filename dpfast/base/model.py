"""Models: what a fit released, as a frozen value with the scores of rows.

A model is a frozen dataclass. It is saved, restored and compared by its fields, whose annotations say how a file is
read.
"""

import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpfast.base.saving import LARGEST_NUMBER, find_class

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
_ARRAYS = {IntArray: np.int64, FloatArray: np.float64}
_PLAIN = (bool, int, float, str)


class Model:
    """Base of the models: a frozen dataclass whose fields are released values, or public ones.

    A subclass defines one of the methods `log_odds`, `scores` and `classify`. Its fields are annotated by `IntArray`,
    `FloatArray`, int, float, bool, str, Fraction, tuples of these (``tuple[int, ...]``) or None besides one of these.
    After a fit, field `name` is the attribute ``name_`` of the learner. Arrays are copied, and read-only.

    Raises
    ------
    ValueError
        By a subclass, in its method `check`, if its values do not fit together.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__eq__" not in vars(cls):
            cls.__eq__ = Model.__eq__  # type: ignore[method-assign]  # that of a dataclass compares no arrays
            cls.__hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name, kind in _array_fields(type(self)).items():  # type: ignore[arg-type]
            _refuse_other_array(name, kind, getattr(self, name))
        for name, value in self._values().items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                fixed = value.copy(order="K")  # a view would keep all of the array that it is part of
                fixed.flags.writeable = False
                object.__setattr__(self, name, fixed)
        self.check()

    def check(self) -> None:
        """Refuse values that do not fit together; a file may hold anything of the right types."""

    def log_odds(self, rows: Any) -> FloatArray:
        """Return the log odds of the classes of rows; `predict_proba` and `decision_function` follow from them.

        Parameters
        ----------
        rows : table in the form that the learner reads

        Returns
        -------
        ndarray of float64, shape (n,) or (n, n_classes)
            For two classes the log odds of the second one; or for each class the log of its probability, up to a
            constant for each row.
        """
        raise NotImplementedError

    def scores(self, rows: Any) -> FloatArray:
        """Return the scores of the classes of rows; `decision_function` follows from them. By default the log odds.

        Parameters
        ----------
        rows : table in the form that the learner reads

        Returns
        -------
        ndarray of float64, shape (n,) or (n, n_classes)
            For two classes the score of the second one, at least 0 if it is predicted; or the score of each class.
        """
        return self.log_odds(rows)

    def classify(self, rows: Any) -> IntArray:
        """Return the number of the class that is predicted for each row. By default that of the highest score.

        Parameters
        ----------
        rows : table in the form that the learner reads

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        scores = self.scores(rows)
        return (scores >= 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)

    def contributions(self, table: Any, rows: Any) -> Any:
        """Return what each column adds to the scores of rows, for `explain`.

        Parameters
        ----------
        table : table
            The rows before the form of the learner: codes, bits or numbers.
        rows : table in the form that the learner reads

        Returns
        -------
        dpfast.base.explained.Parts
        """
        raise NotImplementedError

    def reliability(self, classes: np.ndarray) -> list[Any]:
        """Return predicted probabilities beside the shares that came true, for the page of a model; by default none.

        Parameters
        ----------
        classes : ndarray, shape (n_classes,)

        Returns
        -------
        list of dpfast.report.drawing.Dot
        """
        return []

    def attributes(self) -> Mapping[str, Any]:
        """Return what the learner gets as attributes, by their names without the final underscore: the fields.

        Returns
        -------
        dict
        """
        return self._values()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON can hold.

        Returns
        -------
        dict
        """
        return {name: _to_plain(value) for name, value in self._values().items()}

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        """Return the model that `to_dict` described; a ValueError refuses what no model could have written.

        Parameters
        ----------
        saved : dict

        Returns
        -------
        Model
        """
        kinds = field_kinds(cls)
        if not isinstance(saved, dict) or set(saved) != set(kinds):
            raise ValueError(f"wanted the entries {', '.join(kinds)}, got {saved!r:.200}")
        return cls(**{name: _read(name, kind, saved[name]) for name, kind in kinds.items()})

    def file_entries(self) -> dict[str, Any]:
        """Return further entries of a model's file, by their names; by default none.

        Returns
        -------
        dict
        """
        return {}

    def with_entries(self, saved: Mapping[str, Any], task: Any) -> Self:
        """Return the model with what its file holds besides `to_dict`; a ValueError refuses what does not fit.

        Parameters
        ----------
        saved : dict
            What `file_entries` returned, and released numbers of the file's card, such as "class_sizes".
        task : Task
            What the file says of the table.

        Returns
        -------
        Model
        """
        if "class_counts" in saved:
            raise ValueError("models of this kind have no class counts")
        return self

    def _values(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(_same, self._values().values(), other._values().values()))

    __hash__ = None  # type: ignore[assignment]


def decisions(scores: np.ndarray) -> np.ndarray:
    """Return scores as scikit-learn has them: for two classes one number, positive for the second class."""
    return scores[:, 1] - scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 2 else scores


def overrides(model: type[Model] | None, method: str) -> bool:
    """Return whether a class of models defines a method of `Model` itself; None, a class not yet known, may."""
    return model is None or getattr(model, method) is not getattr(Model, method)


def field_kinds(model: type[Model]) -> dict[str, Any]:
    """Return the annotations of the fields of a class of models."""
    hints = typing.get_type_hints(model)
    return {each.name: hints[each.name] for each in fields(model)}  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _array_fields(model):
    """Return the types of the entries of those fields of a class of models that are annotated as arrays."""
    kinds = {}
    for name, kind in field_kinds(model).items():
        union = typing.get_origin(kind) in (typing.Union, types.UnionType)
        for each in typing.get_args(kind) if union else (kind,):
            if each in _ARRAYS:
                kinds[name] = _ARRAYS[each]
    return kinds


def _refuse_other_array(name, kind, value):
    """Refuse what a file could not give back as an array of this kind."""
    annotation, kinds = ("IntArray", "iu") if kind is np.int64 else ("FloatArray", "iuf")
    if value is None or (isinstance(value, np.ndarray) and value.dtype.kind in kinds):
        return
    value_kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    raise TypeError(f"{name} is annotated as {annotation}, and holds {value_kind}")


def _same(one, other):
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def _to_plain(value):
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [_to_plain(each) for each in value]
    if isinstance(value, Fraction):
        return str(value)
    if value is None or type(value) in _PLAIN:
        return value
    raise ValueError(f"a model that holds a {type(value).__name__} cannot be saved: {value!r:.80}")


def _read(name, kind, saved):
    """Return a saved value as its annotation says; refuse any other."""
    if kind in _ARRAYS:
        return _read_array(name, _ARRAYS[kind], saved)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [each for each in typing.get_args(kind) if each is not type(None)]
        if saved is None and len(kinds) < len(typing.get_args(kind)):
            return None
        kind = kinds[0]
        return _read(name, kind, saved)
    if typing.get_origin(kind) is tuple:
        (each, *more) = typing.get_args(kind)
        if not isinstance(saved, list) or (more != [Ellipsis] and len(saved) != 1 + len(more)):
            raise ValueError(f"{name} must be a list, got {saved!r:.80}")
        kinds = [each] * len(saved) if more == [Ellipsis] else [each, *more]
        return tuple(_read(name, kind, value) for kind, value in zip(kinds, saved, strict=True))
    if kind is Fraction and isinstance(saved, str):
        from dpfast.accounting.numbers import rational

        return rational(saved)
    if kind is float and type(saved) in (int, float) and abs(saved) <= LARGEST_NUMBER:
        return float(saved)
    if kind in _PLAIN and kind is not float and type(saved) is kind:
        return saved
    kind_name = getattr(kind, "__name__", str(kind))
    if kind in (*_PLAIN, Fraction):
        raise ValueError(f"{name} must be {kind_name}, got {saved!r:.80}")
    raise ValueError(f"{name} is annotated as {kind_name}, and no file can hold that")


def _read_array(name, dtype, saved):
    """Return nested lists of numbers of one kind as an array; refuse any other value."""
    kinds = {int} if dtype is np.int64 else {int, float}
    flat = [saved]
    while flat and isinstance(flat[0], list):
        if not all(isinstance(each, list) and len(each) == len(flat[0]) for each in flat):
            break
        flat = [value for each in flat for value in each]
    if not isinstance(saved, list) or not {type(each) for each in flat} <= kinds:
        raise ValueError(f"{name} must be an array of numbers, got {saved!r:.80}")
    try:
        array = np.array(saved, dtype)
    except OverflowError:
        raise ValueError(f"{name} must hold 64-bit integers") from None
    if dtype is not np.int64 and not (np.abs(array) <= LARGEST_NUMBER).all():
        raise ValueError(f"{name} must hold finite numbers of at most {LARGEST_NUMBER:g}")
    return array


def model_of(learner: type) -> type[Model] | None:
    """Return the class of the models of a learner, by the annotation of its `learn`; None if that is only `Model`."""
    annotated = typing.get_type_hints(learner.learn).get("return")  # type: ignore[attr-defined]
    return annotated if isinstance(annotated, type) and annotated is not Model else None


def read_model(learner: type, saved: Any) -> Model:
    """Return the saved model of a learner, of the class that it is annotated with, or else that the file names."""
    kind: Any = model_of(learner)
    if kind is None:
        ((name, saved),) = saved.items()
        kind = find_class(Model, name, lambda each: each.__name__, lambda each: each.__module__ == learner.__module__)
        if kind is None or kind is Model:
            raise ValueError(f"the file holds a {name}, and no class of models has this name: import it first")
    return kind.from_dict(saved)
