"""Labels as learners read them: the number of a class for each row, and the classes.

There is one reader. The class of a row follows from the cell of its label, the type of the column and the declared
classes; other rows, and whether one of them lacks a label, change nothing. An array whose type is that of the classes
is compared with them at once; cells that are equal to none, and all other labels, are read by their identities
(`dpfast.tables.objects`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpfast.tables.arrays import as_objects, narrowest, refuse_masked, take_entries
from dpfast.tables.arrow import Frame, identities
from dpfast.tables.cells import LABEL_MARKS
from dpfast.tables.classes import (
    HELD,
    class_numbers,
    read_classes,
    refuse_few,
    refuse_nul,
    refuse_unsaved,
    two_classes,
    values_of,
)
from dpfast.tables.columns import text_of
from dpfast.tables.label_columns import LabelColumn
from dpfast.tables.label_kinds import ABOVE, CONTINUOUS, label_kind
from dpfast.tables.objects import NUMBER, OTHER, TRUTH, Fault, array_of_one_type, identity, is_missing, plain

MOST_READ_OFF = 20  # labels of an undeclared set; more are hardly classes, and may identify persons
MISSING, _UNDECLARED = -1, -2  # instead of the number of a class
_TYPED = "biufU"  # kinds of arrays that are compared with classes as they are
_CLOSE = 1 << 16
_ASCII = 128
_MAYBE = np.zeros((_ASCII + 1, _ASCII + 1), bool)  # first two letters of labels that may be missing: marks, or blanks
_MAYBE[[ord(" "), ord("\t")]] = True
for _mark in LABEL_MARKS:
    _MAYBE[ord(f"{_mark}\0"[0]), [ord(f"{_mark}\0\0"[1]), ord(" "), ord("\t")]] = True


class Labels(NamedTuple):
    """Class numbers `codes` of the rows, shape (n,), the `classes`, and whether these were declared."""

    codes: np.ndarray
    classes: np.ndarray
    declared: bool

    def signs(self) -> np.ndarray:
        """Return -1 for the first and 1 for the second of two classes: int8, shape (n,)."""
        two_classes(self.classes)
        return (2 * self.codes - 1).astype(np.int8)


# ---- the reader ------------------------------------------------------------------------------------------------------


def read_labels(y: Any, classes: ArrayLike | None = None, marks: Iterable[str] = ()) -> Labels:
    """Return labels of any type as numbers of classes, MISSING for rows without a label; `marks` stand for none, too.

    Without `classes`, the set of labels is read off y, and thereby published. Refused are labels that are undeclared,
    an undeclared set of fewer than 2 or more than 20 labels, and labels that the file of a model cannot hold.
    """
    y = _column(y)
    if getattr(getattr(y, "dtype", None), "kind", "") in ("m", "M"):
        refuse_unsaved(np.asarray(y))
    if classes is None:
        return _read_off(y)
    names = _declared(classes, label_kind(None, y, "y"))
    return Labels(codes_among(y, names, marks), names, True)


def codes_among(y: Any, classes: np.ndarray, marks: Iterable[str] = ()) -> np.ndarray:
    """Return the number of each label in a sorted array of classes, like `read_labels`; refuse others."""
    y = _column(y)
    if not isinstance(y, np.ndarray) or y.dtype.kind not in _TYPED:
        return _refuse_undeclared(_codes_of(*number_labels(y, missing_labels(classes, marks)), classes), classes)
    codes = _compare(y, classes)
    if y.dtype.kind == "f":
        codes[np.isnan(y)] = MISSING
    rest = np.flatnonzero(codes == _UNDECLARED)
    if len(rest):
        codes[rest] = _codes_of(*number_labels(y[rest], missing_labels(classes, marks)), classes)
    return _refuse_undeclared(codes, classes)


def labels_of(numbers: np.ndarray, identities: list, classes: Any, kind: str | None = None) -> Labels:
    """Return labels that are numbered by identities as numbers of declared classes, like `read_labels`.

    The type of the classes is `kind`, if it holds them, or that of their declaration.
    """
    names = _declared(classes, kind)
    return Labels(_refuse_undeclared(_codes_of(numbers, identities, names), names), names, True)


def labels_that_occur(numbers: np.ndarray, identities: list, kind: str | None) -> Labels:
    """Return labels that are numbered by identities as numbers of those that occur, like `read_labels`."""
    occur = [k for k in _distinct(numbers).tolist() if k >= 0]
    values = values_of([identities[k] for k in occur], kind)
    names = np.unique(values)
    _refuse_set(names)
    places = np.full(len(identities) + 1, MISSING, narrowest(len(names)))
    places[occur] = np.searchsorted(names, values)
    return Labels(take_entries(places, numbers), names, False)


def codes_of_labelled(y: Any, classes: ArrayLike | None = None) -> tuple[Labels, np.ndarray | None]:
    """Return the labels of the rows that have one, and a mask of these rows, or None if all have."""
    labels = read_labels(y, classes)
    has_label = labels.codes >= 0
    if has_label.all():
        return labels, None
    return labels._replace(codes=labels.codes[has_label]), has_label


def class_codes(y: Any, n: int, classes: ArrayLike | None = None) -> Labels:
    """Return the labels of n rows, all of which must have one, like `read_labels`."""
    labels = read_labels(of_rows(y, n), classes)
    refuse_missing(labels.codes)
    return labels


def codes_of_classes(y: Any, n: int, classes: np.ndarray) -> Labels:
    """Return the labels of n rows, all of which must have one, as numbers of the classes of a model, in their order."""
    labels = Labels(codes_among(of_rows(y, n), classes), classes, True)
    refuse_missing(labels.codes)
    return labels


def of_rows(y: Any, n: int) -> Any:
    """Return labels; refuse others than those of n rows."""
    from sklearn.utils.validation import check_consistent_length

    y = _column(y)
    if len(y) != n:
        check_consistent_length(np.empty(n), y)
    return y


def refuse_missing(codes: np.ndarray) -> None:
    """Refuse rows without a label; their codes are negative."""
    if (codes < 0).any():
        raise ValueError(f"Input y contains NaN, or no label, in row {int(np.argmax(codes < 0)) + 1}")


def number_labels(y: Any, marks: tuple = ()) -> tuple[np.ndarray, list[str]]:
    """Return labels as numbers of their identities, -1 for missing ones and marks, and the identities.

    Refused are labels that no model can hold.
    """
    y = _column(y)
    if isinstance(y, LabelColumn):
        texts = y.identities()
        codes = np.array([*(k if plain(each).strip() not in marks else -1 for k, each in enumerate(texts)), -1], int)
        return take_entries(codes.astype(narrowest(len(codes))), y.numbers), texts
    try:
        if isinstance(y, np.ndarray) and y.dtype.kind in _TYPED:
            values, numbers = np.unique(y, return_inverse=True)
            texts = [each if is_missing(each) else str(identity(each)) for each in values.tolist()]
            places = [-1 if is_missing(each) or plain(each).strip() in marks else k for k, each in enumerate(texts)]
            return np.array([*places, -1], narrowest(len(places)))[numbers], texts
        if isinstance(y, list | tuple) and len(y) and (array := array_of_one_type(y)) is not None:
            numbers, texts = identities("y", array, marks)
        else:
            numbers, texts = Frame({"y": y}).identities("y", marks)
    except Fault as fault:
        raise ValueError(f"y {fault.what}; {HELD}") from None
    refuse_nul(texts)
    if any(each.startswith(f"{OTHER}bytes") for each in texts):
        raise ValueError(f"{HELD}, got bytes: decode them")
    return numbers, texts


def _column(y):
    """Return labels as an array of a type that is compared as it is, or else as they are; refuse several columns."""
    refuse_masked("y", y)
    if isinstance(y, LabelColumn):
        return y
    if isinstance(getattr(y, "dtype", None), np.dtype) and y.dtype.kind in _TYPED:
        y = np.asarray(y)  # of a series
    elif isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype.kind in "OT"):
        y = as_objects(y) if isinstance(y, np.ndarray) or not _is_flat(y) else y
    if isinstance(y, np.ndarray) or not hasattr(y, "__len__"):
        if getattr(y, "ndim", 0) != 1:
            from sklearn.utils.validation import column_or_1d

            y = column_or_1d(y, warn=True)
        if y.dtype.kind == "T":
            y = y.astype(object)
        if y.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {HELD}")
    return y


def _is_flat(y):
    """Return whether a list begins with an entry that is no list; a later one that is has no identity."""
    return not len(y) or not isinstance(y[0], list | tuple | np.ndarray)


def _declared(classes, kind):
    names = read_classes(classes, kind)
    refuse_few(names, True)
    return names


def _codes_of(numbers, identities, names):
    table = np.array([*class_numbers(identities, names, _UNDECLARED), MISSING], narrowest(max(2, len(names))))
    return take_entries(table, numbers)


def _refuse_undeclared(codes, names):
    """Return the codes; refuse labels that are not declared."""
    if (codes == _UNDECLARED).any():
        row = int(np.argmax(codes == _UNDECLARED)) + 1
        raise ValueError(f"the label of row {row} is not among classes={names.tolist()}")
    return codes


def _compare(y, names):
    """Return the number of the class that each entry is equal to, or _UNDECLARED, for an array of the same type."""
    if y.dtype == bool and names.dtype.kind in "iu":
        y = y.view(np.uint8)
    if y.dtype.kind == "f" and y.dtype.itemsize < 8:
        y = y.astype(np.float64)
    if y.dtype.kind == "u" and names.dtype.kind == "i":  # of which numpy makes floats, if both are of 64 bits
        y, names = (y, names.astype(np.uint64)) if y.dtype.itemsize == 8 and names[0] >= 0 else (y, names)
    small = y.dtype.kind == "u" and y.dtype.itemsize < 8 and names.dtype.kind == "i"
    alike = small or y.dtype.kind == names.dtype.kind
    if not alike:
        return np.full(len(y), _UNDECLARED, narrowest(max(2, len(names))))
    if len(names) == 2:
        codes = (y == names[1]).astype(np.int8)
        codes[(y != names[0]) & (codes == 0)] = _UNDECLARED
        return codes
    places = np.searchsorted(names, y)
    codes = places.astype(narrowest(len(names) + 1))
    codes[names[np.minimum(places, len(names) - 1)] != y] = _UNDECLARED
    return codes


# ---- sets that are read off the rows ---------------------------------------------------------------------------------


def _read_off(y):
    if not isinstance(y, np.ndarray) or y.dtype.kind not in _TYPED:
        numbers, names = number_labels(y, missing_labels(None))
        return labels_that_occur(numbers, names, label_kind(None, y, "y"))
    has_label = _have_labels(y)
    labels = y if has_label is None else y[has_label]
    if labels.dtype.kind == "f":
        from sklearn.utils import assert_all_finite

        assert_all_finite(labels, input_name="y")
    names = _distinct(labels)
    _refuse_set(names)
    places = (labels == names[1]).astype(np.int64) if len(names) == 2 else np.searchsorted(names, labels)
    if has_label is None:
        return Labels(places, names, False)
    codes = np.full(len(y), MISSING, np.int64)
    codes[has_label] = places
    return Labels(codes, names, False)


def _refuse_set(names):
    """Refuse a set of labels that was read off the rows, if it cannot be that of the classes of a model."""
    from sklearn.utils.multiclass import check_classification_targets

    if names.dtype.kind == "f" and (names != np.rint(names)).any():
        raise ValueError(CONTINUOUS)
    if len(names) and names.dtype.kind not in "biuU":
        check_classification_targets(np.repeat(names, 3))  # repeated, as it warns of nearly as many labels as rows
    if len(names) > MOST_READ_OFF:
        raise ValueError(
            f"y has {len(names)} different labels, and a model publishes their set: more than {MOST_READ_OFF} must be "
            f"declared by classes=; if they are amounts, ask whether they are above a public number: {ABOVE}"
        )
    refuse_unsaved(names)
    refuse_few(names, False)


def _have_labels(y):
    """Return a mask of the labels of a typed array that are not missing, or None if none is."""
    has_label = None
    if y.dtype.kind == "f":
        has_label = ~np.isnan(y)
    elif y.dtype.kind == "U" and y.size:
        letters = np.ascontiguousarray(y).view(np.uint32).reshape(len(y), -1)
        pairs = np.minimum(letters[:, 0], _ASCII) * (_ASCII + 1)
        if letters.shape[1] > 1:
            pairs += np.minimum(letters[:, 1], _ASCII)
        maybe = np.flatnonzero(_MAYBE.take(pairs))
        has_label = np.ones(len(y), bool)
        has_label[maybe] = ~np.isin(np.char.strip(y[maybe]), LABEL_MARKS)
    return None if has_label is None or has_label.all() else has_label


def _distinct(y):
    """Return the result of numpy.unique, by counting if the labels are integers close together."""
    if y.dtype == bool:
        return np.flatnonzero([not y.all(), y.any()]).astype(bool)
    if y.dtype.kind in "ui" and y.dtype.itemsize > 1 and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low < _CLOSE and high < 1 << 63:
            return (low + np.flatnonzero(np.bincount(y.astype(np.int64) - low))).astype(y.dtype)
    return np.unique(y)


# ---- missing labels --------------------------------------------------------------------------------------------------


def missing_labels(classes: Any, marks: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the texts that stand for a missing label: LABEL_MARKS and other marks, except those that are classes.

    Blanks around a class do not count here.
    """
    declared = {text_of(each).strip() for each in classes} if classes is not None else set()
    return tuple(mark for mark in dict.fromkeys((*LABEL_MARKS, *marks)) if mark not in declared)


def have_labels(y: Any, classes: ArrayLike | None = None, marks: Iterable[str] = ()) -> np.ndarray | None:
    """Return a mask of the rows with a label, or None if all have one: by each cell and the declared classes alone."""
    has_label = number_labels(y, missing_labels(classes, marks))[0] >= 0
    return None if has_label.all() else has_label


def rows_to_count(y: Any, neighbors: str, classes: ArrayLike | None = None, name: str = "y") -> np.ndarray | None:
    """Return a mask of the rows with a label, or None if all have one, for figures that count them.

    Under "replace" figures take the number of rows as public, and rows without a label are refused.
    """
    has_label = have_labels(y, classes)
    if has_label is not None and neighbors == "replace":
        raise ValueError(
            f"{name} lacks some labels, and the number of rows with one is "
            'private under neighbors="replace": leave these rows out, and use neighbors="add-remove"'
        )
    return has_label


# ---- other labels ----------------------------------------------------------------------------------------------------


def labels_among(numbers: np.ndarray, identities: Iterable, classes: np.ndarray, other: Any) -> Labels:
    """Return labels as numbers of discovered classes, each by its cell alone; all others have the class `other`.

    `numbers` has the number of the identity of each row.
    """
    codes = class_numbers(identities, classes, class_numbers([other], classes, -1)[0])
    table = np.array([*codes, MISSING], narrowest(max(2, len(classes))))
    return Labels(take_entries(table, numbers), classes, True)


def labels_as_they_are(y: Any, name: str = "y") -> np.ndarray:
    """Return labels as an array: of the type of an array, else of objects, so that none changes how others are read."""
    refuse_masked(name, y)
    if isinstance(getattr(y, "dtype", None), np.dtype) or isinstance(y, list | tuple):
        return as_objects(y)
    labels = y.to_pylist() if hasattr(y, "to_pylist") else y
    return np.asarray(labels, object)


def are_equal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a mask of the rows in which two arrays have the same label, regardless of types and widths.

    Truth values are equal to 1 and 0.
    """
    if one.dtype.kind == other.dtype.kind != "O":
        return one == other
    place: dict[str, int] = {}
    numbers = []
    for y in (one, other):
        index, identities = Frame({"y": y}).identities("y")
        identities = [
            NUMBER + str(int(each == TRUTH + "true")) if each.startswith(TRUTH) else each for each in identities
        ]
        numbers.append(np.array([*(place.setdefault(each, len(place)) for each in identities), -1])[index])
    return (numbers[0] == numbers[1]) & (numbers[0] >= 0)


def column_of_cells(numbers: np.ndarray, identities: Mapping | list, kind: str | None) -> LabelColumn:
    """Return numbered labels of which nothing is declared, in the type `kind`, or in the one that all of them have."""
    return LabelColumn(numbers, values_of([*identities], kind), kind)
