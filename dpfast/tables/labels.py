"""Labels as learners read them: the number of a class for each row, and the classes."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dpfast.tables.arrays import is_dask, narrowest, refuse_masked, taken
from dpfast.tables.arrow import Frame
from dpfast.tables.columns import text_of

_CLOSE = 1 << 16
MOST_READ_OFF = 20  # labels of an undeclared set; more are hardly classes, and may identify persons


class Labels(NamedTuple):
    """Class numbers `codes` of the rows, shape (n,), the `classes`, and whether these were declared."""

    codes: np.ndarray
    classes: np.ndarray
    declared: bool

    def signs(self) -> np.ndarray:
        """Return -1 for the first and 1 for the second of two classes: int8, shape (n,)."""
        two_classes(self.classes)
        return (2 * self.codes - 1).astype(np.int8)


def two_classes(classes: np.ndarray) -> None:
    """Refuse more than two classes."""
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(classes)} classes"
        )


class LabelColumn:
    """Labels as files and frames store them: each distinct spelling once, and its number for each row.

    An array of texts would take the width of the longest spelling for every row; ``numpy.asarray`` returns it.
    """

    def __init__(self, numbers: np.ndarray, spellings: np.ndarray):
        self.numbers, self.spellings = numbers, spellings

    @property
    def dtype(self) -> np.dtype:
        return self.spellings.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape

    def seen(self) -> np.ndarray:
        """Return the labels that occur, sorted."""
        return np.unique(self.spellings[_distinct(self.numbers)])

    def tolist(self) -> list:
        spellings = self.spellings.tolist()
        return [spellings[k] for k in self.numbers.tolist()]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> Any:
        picked = self.numbers[rows]
        return LabelColumn(picked, self.spellings) if np.ndim(picked) else self.spellings[picked]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.spellings[self.numbers].astype(dtype or self.dtype, copy=False)

    def __eq__(self, other: Any) -> Any:
        return np.asarray(self) == np.asarray(other)

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


def one_kind(y: Any, name: str = "y") -> Any:
    """Return labels; refuse lists of several types, in which one label would change how numpy reads the others."""
    refuse_masked(name, y)
    if isinstance(y, list | tuple):
        kinds = {kind for kind in map(type, y) if not issubclass(kind, list | tuple | np.ndarray)}
        kinds = {next((of for of in _KINDS if issubclass(kind, of)), kind) for kind in kinds}
        if len(kinds) > 1:
            names = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"{name} must hold labels of one kind, got a list of {names}; give an array of one type")
    return y


_DISCRETE = "biuUS"  # kinds of arrays whose values are always finite and discrete
_KINDS = (bool, np.bool_, str, Integral, Real)  # the kind of a label is the first that it is an instance of


def class_codes(y: Any, n: int | None, classes: ArrayLike | None = None) -> Labels:
    """Return the labels y of n rows, or of None if their number is checked later, as numbers of classes.

    Without `classes`, the set of labels is read off y, and thereby published. Refused are labels that are missing,
    undeclared or too few, an undeclared set of more than 20 labels, and labels that the file of a model cannot hold.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length

    y, seen = seen_labels(y)
    if n is not None and len(y) != n:
        check_consistent_length(np.empty(n), y)
    if len(seen) and seen.dtype.kind not in _DISCRETE:
        check_classification_targets(np.repeat(seen, 3))  # repeated, as it warns of nearly as many labels as rows
    if classes is None and len(seen) > MOST_READ_OFF:
        raise ValueError(
            f"y has {len(seen)} different labels, and a model publishes their set: more than {MOST_READ_OFF} must be "
            "declared by classes="
        )
    known = seen if classes is None else _declared(classes)
    _refuse_unsaved(known)
    unknown = [] if classes is None else _beyond(seen, known)
    if unknown:
        row = int(np.flatnonzero(np.asarray(y == unknown[0]))[0]) + 1
        raise ValueError(f"the label of row {row} is not among classes={known.tolist()}")
    if len(known) < 2:
        only = "" if classes is None else f": {known.tolist()[0]!r}"
        raise ValueError(f"y must have at least two classes, got one class only{only}; see classes=")
    if isinstance(y, LabelColumn):
        places = _places(known, y.spellings).astype(narrowest(len(known) + 1))
        return Labels(taken(places, y.numbers), known, classes is not None)
    return Labels(_places(known, y), known, classes is not None)


def _declared(classes):
    """Return the declared set, sorted; refuse labels that an array of one type would change."""
    held = np.asarray(one_kind(classes, "classes"))
    if held.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got shape {held.shape}")
    lost = next((each for each, kept in zip(classes, held.tolist(), strict=True) if kept != each == each), None)
    if lost is not None and not isinstance(classes, np.ndarray):
        raise ValueError(f"classes holds {lost!r}, which an array of {held.dtype} does not hold as it is")
    known = np.unique(held)
    if len(known) < len(held):
        raise ValueError(f"classes must be different labels, got {held.tolist()}")
    return known


def _refuse_nul(labels):
    """Refuse texts that end with a NUL character; arrays of text drop it, so different labels would become equal."""
    if isinstance(labels, list | tuple) or (isinstance(labels, np.ndarray) and labels.dtype == object):
        for each in labels:
            if isinstance(each, str | bytes) and each[-1:] in ("\0", b"\0"):
                raise ValueError("labels must not end with a NUL character, which arrays of text leave out")


def _refuse_unsaved(known):
    """Refuse labels that the file of a model cannot hold, since a model that was paid for could not be saved."""
    kind, size = known.dtype.kind, known.dtype.itemsize
    if kind == "O":
        held = {type(label) for label in known.tolist()} == {str}
    else:
        held = kind in "biuU" or (kind == "f" and size <= 8 and bool(np.isfinite(known).all()))
    if not held:
        raise ValueError(
            f"labels must be text, integers, booleans or finite floats of at most 64 bits, got {known.dtype}: a saved "
            "model cannot hold others; y.astype(str) makes text of them"
        )


def _beyond(seen, known):
    """Return the labels that occur but are not known; unlike numpy, compare integers and floats exactly."""
    both = {seen.dtype.kind, known.dtype.kind}
    if len(both) > 1 and both <= set("iuf"):
        there = set(known.tolist())
        return [label for label in seen.tolist() if label not in there]
    return np.setdiff1d(seen, known).tolist()


def seen_labels(y: Any) -> tuple[Any, np.ndarray]:
    """Return labels as an array or a LabelColumn, and those that occur, sorted; refuse missing and impossible ones."""
    if isinstance(y, LabelColumn):
        return y, y.seen()

    from sklearn.utils import assert_all_finite
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if not (type(y) is np.ndarray and y.ndim == 1):
        _refuse_nul(y)
        y = column_or_1d(one_kind(y), warn=True)
    _refuse_nul(y)
    if y.dtype.kind not in _DISCRETE:
        assert_all_finite(y, input_name="y")
    if y.dtype == object:
        check_classification_targets(y)
    return y, _distinct(y)


def _distinct(y):
    """Return the result of numpy.unique, by counting if the labels are integers close together."""
    if y.dtype == bool:
        return np.flatnonzero([not y.all(), y.any()]).astype(bool)
    if y.dtype.kind in "ui" and y.dtype.itemsize > 1 and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low < _CLOSE and high < 1 << 63:
            return (low + np.flatnonzero(np.bincount(y.astype(np.int64) - low))).astype(y.dtype)
    return np.unique(y)


def _places(known, y):
    """Return the positions of the entries of y in the sorted array `known`, which contains those needed."""
    if y.dtype.kind != known.dtype.kind and {y.dtype.kind, known.dtype.kind} <= set("iuf"):
        y = y.astype(known.dtype)  # exact for known labels; numpy would convert both to floats
    return (y == known[1]).astype(np.int64) if len(known) == 2 else np.searchsorted(known, y)


def tidy_labels(labels: ArrayLike) -> np.ndarray:
    """Return labels as int64 if all are integers, else as str."""
    _refuse_nul(labels)
    labels = np.asarray(labels)
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("every row needs a label, got NaN or infinity")
        if (labels == np.rint(labels)).all():
            return labels.astype(np.int64)
    text = labels.astype(str)
    try:
        numbers = labels.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        return text
    return numbers if (numbers.astype(str) == text).all() else text


def label_kind(X: Any, y: Any, name: str) -> str | None:
    """Return the type of labels y, or of column `name` of X: "integer", "float", "boolean" or "text".

    None is returned if the type depends on rows, as for CSV.
    """
    known = X if y is None else y
    if is_dask(known):
        known = getattr(known, "_meta", None)  # no row is read
    if known is None or isinstance(known, LabelColumn):
        return None
    try:
        frame = Frame(known if y is None else {name: known})
        kind = frame.column(name).type
    except (KeyError, ValueError):
        return None
    if pa.types.is_null(kind):  # objects, all of them missing
        return None
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else "text"


def other_label(found: Mapping[str, float], classes: np.ndarray) -> Any:
    """Return the class that replaces unpublished labels: the most frequent published one, or a stand-in."""
    known = {text_of(each): each for each in classes.tolist()}
    spare = [each for text, each in known.items() if text not in found]
    return spare[0] if spare else next(known[text] for text in found if text in known)


def typed(labels: Iterable | None, kind: str | None) -> Any:
    """Return labels as an array of a type, or unchanged if there is no type or one of them does not have it."""
    if labels is None or kind is None:
        return labels
    texts = [text_of(label) for label in labels]
    try:
        if kind == "boolean":
            return np.array([{"true": True, "false": False}[text.lower()] for text in texts])
        if kind == "text":
            return np.array(texts) if texts else np.empty(0, str)
        if kind == "float":
            return np.array([float(text) for text in texts])
        whole = [int(text) for text in texts]
        return np.array(whole, np.uint64 if max(whole, default=0) >= 1 << 63 else np.int64)
    except (KeyError, ValueError, OverflowError):
        return labels


def typed_labels(column: LabelColumn, kind: str | None) -> LabelColumn:
    """Return a column of labels as labels of a type."""
    if kind is None:
        return column
    spellings = typed(column.spellings.tolist(), kind)
    return LabelColumn(column.numbers, np.asarray(spellings))


def completed(texts: Sequence[str], kind: str | None) -> np.ndarray:
    """Return the published classes, sorted; if there are fewer than two, further classes stand for all other labels.

    `kind` is that of `label_kind`, or None for the type that all texts have.
    """
    found = [text for text in texts if not text.endswith("\0")]  # which arrays of text do not keep
    if kind == "boolean":
        return np.array([False, True])
    more = ("other", "none", "neither") if kind == "text" or (kind is None and found) else ("0", "1", "2")
    found += [each for each in more if each not in found][: max(0, 2 - len(found))]
    classes = tidy_labels(found) if kind is None else np.asarray(typed(found, kind))
    return np.unique(classes)


def labels_among(numbers: np.ndarray, spellings: Iterable, classes: np.ndarray, other: Any) -> LabelColumn:
    """Return labels as given classes, compared as texts; all other labels become the class `other`.

    `numbers` has the number of the spelling of each row.
    """
    codes = class_numbers(spellings, classes, class_numbers([other], classes, -1)[0])
    return LabelColumn(taken(np.array(codes, narrowest(len(classes))), numbers), classes)


def class_numbers(spellings: Iterable, classes: np.ndarray, rest: int) -> list[int]:
    """Return the number of the class of each spelling, compared as texts without blanks around them, or `rest`."""
    place = {text_of(each): k for k, each in enumerate(classes.tolist())}
    return [place.get(text_of(each).strip(), rest) for each in spellings]
