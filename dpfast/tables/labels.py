"""Labels as learners read them: the number of a class for each row, and the classes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dpfast.tables.arrays import as_objects, is_dask, narrowest, refuse_masked, take_entries
from dpfast.tables.arrow import Frame, identities
from dpfast.tables.cells import LABEL_MARKS
from dpfast.tables.columns import text_of
from dpfast.tables.objects import NUMBER, OTHER, TRUTH, Fault, array_of_one_type, plain

_CLOSE = 1 << 16
_ASCII = 128
_MAYBE = np.zeros((_ASCII + 1, _ASCII + 1), bool)  # first two letters of labels that may be missing: marks, or blanks
_MAYBE[[ord(" "), ord("\t")]] = True
for _mark in LABEL_MARKS:
    _MAYBE[ord(f"{_mark}\0"[0]), [ord(f"{_mark}\0\0"[1]), ord(" "), ord("\t")]] = True
OTHER_LABEL = "other"  # the class of all labels that were not discovered, if that is one of its own
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
            f"y has {len(classes)} classes. HalfspaceClassifier and DecisionListClassifier learn any number"
        )


class LabelColumn:
    """Labels as files and frames store them: each distinct spelling once, and its number for each row, -1 for none.

    An array of texts would take the width of the longest spelling for every row; ``numpy.asarray`` returns it, or an
    array of objects with None for rows without a label.
    """

    def __init__(self, numbers: np.ndarray, spellings: np.ndarray):
        self.numbers, self.spellings = numbers, spellings

    @property
    def dtype(self) -> np.dtype:
        return self.spellings.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape

    def distinct_labels(self) -> np.ndarray:
        """Return the labels that occur, sorted."""
        numbers = _distinct(self.numbers)
        return np.unique(self.spellings[numbers[numbers >= 0]])

    def tolist(self) -> list:
        spellings = [*self.spellings.tolist(), None]
        return [spellings[k] for k in self.numbers.tolist()]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> Any:
        picked = self.numbers[rows]
        if np.ndim(picked):
            return LabelColumn(picked, self.spellings)
        return self.spellings[picked] if picked >= 0 else None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if (self.numbers < 0).any():
            return np.array([*self.spellings.tolist(), None], object)[self.numbers].astype(dtype or object, copy=False)
        return self.spellings[self.numbers].astype(dtype or self.dtype, copy=False)

    def __eq__(self, other: Any) -> Any:
        return np.asarray(self) == np.asarray(other)

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


_HELD = "labels must be text, integers, booleans or finite floats of at most 64 bits"
_DISCRETE = "biuUS"  # kinds of arrays whose values are always finite and discrete
_KINDS = (bool, np.bool_, str, Integral, Real)  # the kind of a class is the first that it is an instance of


def missing_labels(classes: Any, marks: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the texts that stand for a missing label: LABEL_MARKS and other marks, except those that are classes."""
    declared = {text_of(each) for each in classes} if classes is not None else set()
    return tuple(mark for mark in dict.fromkeys((*LABEL_MARKS, *marks)) if mark not in declared)


def drop_missing(y: Any, classes: ArrayLike | None = None) -> tuple[Any, Any, np.ndarray | None]:
    """Return the labels that are not missing, and a mask of their rows, or None if all have one.

    Whether a label is missing depends on it alone, and on the declared classes. Labels without a type are returned as
    numbers of identities and these; for others, the second value is None.
    """
    marks = missing_labels(classes)
    plain_array = isinstance(getattr(y, "dtype", None), np.dtype)
    if isinstance(y, LabelColumn):
        return _drop_missing_spellings(y, marks)
    if hasattr(y, "__len__") and not isinstance(y, list | tuple) and (not plain_array or y.dtype.kind == "T"):
        refuse_masked("y", y)
        y = np.asarray(y, object)  # of pandas, polars or Arrow, or texts of any length
    elif plain_array and y.dtype.kind in "Uf" and y.ndim == 2 and y.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        refuse_masked("y", y)
        y = column_or_1d(y, warn=True)
    known = None
    if (cells := _cells(y, marks)) is None:
        has_label = _have_labels(y, marks)
    else:
        y, known = cells
        has_label = y >= 0
    if has_label is None or has_label.all():
        return y, known, None
    return y[has_label], known, has_label


def _drop_missing_spellings(y, marks):
    """Like `drop_missing`, for labels of which each spelling is stored once; if marks leave, integers may be left."""
    texts = y.dtype.kind == "U"
    is_label = ~np.isin(np.char.strip(y.spellings), marks) if texts else np.ones(len(y.spellings), bool)
    if is_label.all() and (y.numbers >= 0).all():
        return y, None, None
    has_label = take_entries(np.append(is_label, False), y.numbers)
    numbers = take_entries(np.append(np.cumsum(is_label) - 1, -1).astype(y.numbers.dtype), y.numbers[has_label])
    spellings = y.spellings[is_label]
    return LabelColumn(numbers, spellings if is_label.all() else tidy_labels(spellings)), None, has_label


def rows_to_count(y: Any, neighbors: str, classes: ArrayLike | None = None, name: str = "y") -> np.ndarray | None:
    """Return a mask of the rows with a label, or None if all have one, for figures that count them.

    Under "replace" figures take the number of rows as public, and rows without a label are refused.
    """
    has_label = drop_missing(y, classes)[2]
    if has_label is not None and neighbors == "replace":
        raise ValueError(
            f"{name} lacks some labels, and the number of rows with one is "
            'private under neighbors="replace": leave these rows out, and use neighbors="add-remove"'
        )
    return has_label


def codes_of_labelled(y: Any, classes: ArrayLike | None = None) -> tuple[Labels, np.ndarray | None]:
    """Return the labels that are not missing, like `class_codes`, and a mask of their rows, or None if all have one."""
    y, known, has_label = drop_missing(y, classes)
    if known is None:
        return class_codes(y, None, classes), has_label
    if classes is not None:
        return labels_of(y, known, classes), has_label
    return class_codes(LabelColumn(y, class_values(known)), None), has_label


def _have_labels(y, marks):
    """Return a mask of the labels of a typed array that are not missing, or None if its type has no missing one."""
    kind = y.dtype.kind if getattr(y, "ndim", 0) == 1 else ""
    if kind == "f":
        has_label = ~np.isnan(np.asarray(y))
    elif kind == "U" and y.size:
        letters = np.ascontiguousarray(y).view(np.uint32).reshape(len(y), -1)
        pairs = np.minimum(letters[:, 0], _ASCII) * (_ASCII + 1)
        if letters.shape[1] > 1:
            pairs += np.minimum(letters[:, 1], _ASCII)
        maybe = np.flatnonzero(_MAYBE.take(pairs))
        if not len(maybe):
            return None
        has_label = np.ones(len(y), bool)
        has_label[maybe] = ~np.isin(np.char.strip(np.asarray(y)[maybe]), marks)
    else:
        return None
    return has_label


def class_codes(y: Any, n: int | None, classes: ArrayLike | None = None) -> Labels:
    """Return the labels y of n rows, or of None if their number is checked later, as numbers of classes.

    Without `classes`, the set of labels is read off y, and thereby published. Refused are labels that are missing,
    undeclared or too few, an undeclared set of more than 20 labels, and labels that the file of a model cannot hold.
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length

    if classes is not None and (cells := _cells(y)) is not None:
        if n is not None and len(cells[0]) != n:
            check_consistent_length(np.empty(n), cells[0])
        return labels_of(cells[0], cells[1], classes)
    y, seen = distinct_labels(y)
    if n is not None and len(y) != n:
        check_consistent_length(np.empty(n), y)
    if len(seen) and seen.dtype.kind not in _DISCRETE:
        check_classification_targets(np.repeat(seen, 3))  # repeated, as it warns of nearly as many labels as rows
    if classes is None and len(seen) > MOST_READ_OFF:
        raise ValueError(
            f"y has {len(seen)} different labels, and a model publishes their set: more than {MOST_READ_OFF} must be "
            "declared by classes="
        )
    known = seen if classes is None else _read_classes(classes)
    _refuse_unsaved(known)
    unknown = [] if classes is None else _beyond(seen, known)
    if unknown:
        _refuse_undeclared(int(np.flatnonzero(np.asarray(y == unknown[0]))[0]), known)
    _refuse_few(known, classes is not None)
    if isinstance(y, LabelColumn):
        places = _places(known, y.spellings).astype(narrowest(len(known) + 1))
        return Labels(take_entries(places, y.numbers), known, classes is not None)
    return Labels(_places(known, y), known, classes is not None)


def labels_of(numbers: np.ndarray, identities: list, classes: Any, kind: str | None = None) -> Labels:
    """Return labels as numbers of declared classes, each by its cell alone; refuse labels that are not declared.

    `numbers` has the number of the identity of each row (`dpfast.tables.objects`). The type of the classes is `kind`,
    or that of their declaration.
    """
    known = _read_classes(as_type(classes, kind))
    _refuse_unsaved(known)
    codes = np.array([*class_numbers(identities, known, -1), -1], narrowest(len(known)))
    codes = take_entries(codes, numbers)
    if (codes < 0).any():
        _refuse_undeclared(int(np.argmax(codes < 0)), known)
    _refuse_few(known, True)
    return Labels(codes, known, True)


def _refuse_undeclared(row, known):
    raise ValueError(f"the label of row {row + 1} is not among classes={known.tolist()}")


def _refuse_few(known, declared):
    if len(known) < 2:
        only = f": {known.tolist()[0]!r}" if declared else ""
        raise ValueError(f"y must have at least two classes, got one class only{only}; see classes=")


def _cells(y, marks=None):
    """Return labels without a type as numbers of their identities, and the identities; None for typed labels.

    Refused are labels that no model can hold, and without `marks` missing ones; with them, these have the number -1.
    """
    refuse_masked("y", y)
    if not isinstance(y, list | tuple) and not _is_objects(y):
        return None
    if isinstance(y, list | tuple) and len(y) and (array := array_of_one_type(y)) is not None:
        return _check_identities(*identities("y", array, marks or ()), marks is None)
    held = as_objects(y)
    if held.ndim == 2 and held.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        held = column_or_1d(held, warn=True)
    if held.ndim != 1 or not len(held):
        return None  # refused as arrays are
    try:
        return _check_identities(*Frame({"y": held}).identities("y", marks or ()), marks is None)
    except Fault as fault:
        raise ValueError(f"y {fault.what}; {_HELD}") from None


def _check_identities(numbers, known, complete=True):
    """Return labels as numbers of identities; refuse what no array of text holds and, by default, missing labels."""
    _refuse_nul(known)
    if any(each.startswith(f"{OTHER}bytes") for each in known):
        raise ValueError(f"{_HELD}, got bytes: decode them")
    missing = numbers < 0
    if complete and missing.any():
        raise ValueError(f"Input y contains NaN, or no label, in row {int(np.argmax(missing)) + 1}")
    return numbers, known


def _is_objects(y):
    dtype = getattr(y, "dtype", None)
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    return isinstance(dtype, np.dtype) and dtype == np.dtype(object)


def class_values(identities: Iterable[str]) -> np.ndarray:
    """Return labels as an array, in the type that all of them have: texts, truth values, integers or floats.

    Truth values are numbers beside numbers, and all are texts beside texts.
    """
    known = [*identities]
    kinds = {each[:2] if each.startswith("\0") else "" for each in known}
    texts = [plain(each) for each in known]
    if kinds == {TRUTH}:
        return np.array([text == "true" for text in texts])
    if not known or not kinds <= {TRUTH, NUMBER}:
        return np.array(texts) if texts else np.empty(0, str)
    texts = [
        str(int(text == "true")) if each.startswith(TRUTH) else text for each, text in zip(known, texts, strict=True)
    ]
    values = as_type(texts, "integer")
    return np.asarray(as_type(texts, "float") if values is texts else values)


def labels_as_they_are(y: Any, name: str = "y") -> np.ndarray:
    """Return labels as an array: of objects if they have no type, so that none changes how the others are read."""
    refuse_masked(name, y)
    return as_objects(y)


def are_equal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a mask of the rows in which two arrays have the same label, regardless of types and widths.

    Truth values are equal to 1 and 0.
    """
    if one.dtype.kind == other.dtype.kind != "O":
        return one == other
    place: dict[str, int] = {}
    numbers = []
    for y in (one, other):
        index, known = Frame({"y": y}).identities("y")
        known = [NUMBER + str(int(each == TRUTH + "true")) if each.startswith(TRUTH) else each for each in known]
        numbers.append(np.array([*(place.setdefault(each, len(place)) for each in known), -1])[index])
    return (numbers[0] == numbers[1]) & (numbers[0] >= 0)


def _read_classes(classes):
    """Return the declared set, sorted; refuse labels that an array of one type would change."""
    refuse_masked("classes", classes)
    kinds = {next((of for of in _KINDS if issubclass(each, of)), each) for each in set(map(type, classes))}
    if len(kinds) > 1 and isinstance(classes, list | tuple):
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"classes must hold labels of one kind, got a list of {names}; give an array of one type")
    held = np.asarray(classes)
    if held.dtype.kind == "f" and kinds == {Integral}:  # numpy makes floats of 0 and 2**63
        if not all(0 <= each < 1 << 64 for each in classes):
            raise ValueError(f"{_HELD}, and no type has all of the classes {[*classes]}")
        held = np.array([*classes], np.uint64)
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
            f"{_HELD}, got {known.dtype}: a saved model cannot hold others; y.astype(str) makes text of them"
        )


def _beyond(seen, known):
    """Return the labels that occur but are not known; unlike numpy, compare integers and floats exactly."""
    both = {seen.dtype.kind, known.dtype.kind}
    if both <= set("biuf") or both == {"U"}:
        there = set(known.tolist())
        return [label for label in seen.tolist() if label not in there]
    return np.setdiff1d(seen, known).tolist()


def distinct_labels(y: Any) -> tuple[Any, np.ndarray]:
    """Return labels as an array or a LabelColumn, and those that occur, sorted; refuse missing and impossible ones."""
    if isinstance(y, LabelColumn):
        if (y.numbers < 0).any():
            raise ValueError(f"Input y contains NaN, or no label, in row {int(np.argmin(y.numbers)) + 1}")
        return y, y.distinct_labels()

    from sklearn.utils import assert_all_finite
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if (cells := _cells(y)) is not None:
        y = LabelColumn(cells[0], class_values(cells[1]))
        return y, y.distinct_labels()
    if not (type(y) is np.ndarray and y.ndim == 1):
        _refuse_nul(y)
        y = column_or_1d(y, warn=True)
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


def stored_labels(y: np.ndarray) -> np.ndarray | LabelColumn:
    """Return the labels of an array in a file like `tidy_labels`; as a LabelColumn if those of its type may be missing.

    Marks of missing labels are texts, as declared classes may have them.
    """
    y = y.astype(str) if y.dtype.kind == "S" else y
    if y.ndim != 1 or y.dtype.kind not in "Uf":
        return tidy_labels(y)
    has_label = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), bool)
    spellings, places = np.unique(y[has_label], return_inverse=True)
    numbers = np.full(len(y), -1, narrowest(len(spellings)))
    numbers[has_label] = places
    return LabelColumn(numbers, tidy_labels(spellings))


def label_kind(X: Any, y: Any, name: str) -> str | None:
    """Return the type of labels y, or of column `name` of X: "integer", "float", "boolean", "text" or "cells".

    "cells" is for lists and objects, each of which has its own type. None is returned for CSV files, in which labels
    are integers if all of them look like integers.
    """
    known = X if y is None else y
    if is_dask(known):
        known = getattr(known, "_meta", None)  # no row is read
        if known is not None and _unknown_to_dask(known if y is not None else known.get(name)):
            return "cells"
    if known is None or isinstance(known, LabelColumn):
        return None
    try:
        frame = Frame(known if y is None else {name: known})
        if frame.is_untyped(name):
            return "cells"
        kind = frame.column(name).type
    except (KeyError, ValueError):
        return None
    if pa.types.is_null(kind):
        return None
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else "text"


def _unknown_to_dask(column):
    """Return whether a column of Dask has categories that are known only to its parts."""
    categories = getattr(getattr(column, "dtype", None), "categories", ())
    return "__UNKNOWN_CATEGORIES__" in categories


def other_label(found: Mapping[str, float], classes: np.ndarray) -> Any:
    """Return the class that replaces other labels: OTHER_LABEL, or the most frequent one of `found`, rows by class."""
    most = OTHER_LABEL if OTHER_LABEL in found else max(found, key=lambda text: found[text])
    return next(each for each in classes.tolist() if text_of(each) == most)


def refuse_floating(kind: str | None, name: str | None) -> None:
    """Refuse labels of a floating type, by the type alone."""
    if kind == "float":
        raise ValueError(
            f"Unknown label type: {'y' if name is None else repr(name)} is of a floating type, and dpfast learns "
            "classes only: make integers or text of its labels, y.astype(int) say, or declare them by classes=, also "
            "for integers with gaps, which pandas holds as floats"
        )


def as_type(labels: Iterable | None, kind: str | None) -> Any:
    """Return labels as an array of a type, or unchanged if there is no type or one of them does not have it."""
    if labels is None or kind in (None, "cells"):
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


def column_of(numbers: np.ndarray, identities: list, kind: str | None) -> LabelColumn:
    """Return labels of which nothing is declared, in the type `kind`, or in the one that all of them have."""
    texts = [plain(each) for each in identities]
    values = as_type(texts, kind)
    if values is texts:
        all_text = kind is None and not any(each.startswith("\0") for each in identities)
        values = tidy_labels(texts) if all_text else class_values(identities)
    return LabelColumn(numbers, np.asarray(values))


def classes_of_identities(identities: Sequence[str], kind: str | None) -> np.ndarray:
    """Return the published labels as classes, sorted; `kind` is that of `label_kind`."""
    found = [each for each in identities if not each.endswith("\0")]  # which arrays of text do not keep
    return np.unique(column_of(np.arange(len(found)), found, kind).spellings) if found else np.empty(0, str)


def labels_among(numbers: np.ndarray, identities: Iterable, classes: np.ndarray, other: Any) -> LabelColumn:
    """Return labels as given classes, each by its cell alone; all other labels become the class `other`.

    `numbers` has the number of the identity of each row.
    """
    codes = class_numbers(identities, classes, class_numbers([other], classes, -1)[0])
    return LabelColumn(take_entries(np.array(codes, narrowest(len(classes))), numbers), classes)


def class_numbers(identities: Iterable, classes: np.ndarray, rest: int) -> list[int]:
    """Return the number of the class of each identity, or `rest`.

    They are compared as texts without blanks around them; truth values are also 1 and 0, if no class is true or false.
    """
    place = {text_of(each): k for k, each in enumerate(classes.tolist())}

    def number(each):
        text = text_of(each)
        known = plain(text).strip()
        if text.startswith(TRUTH) and known not in place:
            known = str(int(known == "true"))
        return place.get(known, rest)

    return [*map(number, identities)]


def refuse_fractions(identities: Iterable[str]) -> None:
    """Refuse labels without a declared type that are numbers, but not whole ones of 64 bits; none is declared.

    Each is refused by itself, as those that are published later must have one type.
    """
    for number in (each[2:] for each in identities if each.startswith(NUMBER)):
        if not number.lstrip("-").isdecimal():
            raise ValueError("Unknown label type: continuous. Labels are classes, and a number with decimals is none")
        if len(number) > 20 or not -(1 << 63) <= int(number) < 1 << 63:
            raise ValueError(f"{_HELD}, got a larger integer: y.astype(str) makes text of labels")


def counts_by_class(counts: Mapping[str, Any], classes: np.ndarray) -> Counter:
    """Return counts of identities as counts of the classes that they are, by the texts of the classes."""
    texts = [text_of(each) for each in classes.tolist()]
    totals: Counter = Counter()
    for code, count in zip(class_numbers(counts, classes, -1), counts.values(), strict=True):
        if code >= 0:
            totals[texts[code]] += count
    return totals
