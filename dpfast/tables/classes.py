"""Sets of classes: declared, read off the rows or discovered; and the class of a label, by its identity alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.tables.arrays import refuse_masked
from dpfast.tables.columns import text_of
from dpfast.tables.label_kinds import CONTINUOUS, as_type
from dpfast.tables.objects import NUMBER, TRUTH, plain

OTHER_LABEL = "other"  # the class of all labels that were not discovered, if that is one of its own
HELD = "labels must be text, integers, booleans or finite floats of at most 64 bits"
_KINDS = (bool, np.bool_, str, Integral, Real)  # the kind of a class is the first that it is an instance of
_TRUTHS = {"0": "false", "1": "true"}


def read_classes(classes: ArrayLike, of_type: str | None = None) -> np.ndarray:
    """Return the declared set, sorted; refuse labels that an array of one type, or the file of a model, would change.

    The set is of the type `of_type` (`label_kind`), if that holds it.

    Returns
    -------
    ndarray, shape (n_classes,)
    """
    refuse_masked("classes", classes)
    kinds: Any = {next((of for of in _KINDS if issubclass(each, of)), each) for each in set(map(type, classes))}  # type: ignore[arg-type]
    if len(kinds) > 1 and isinstance(classes, list | tuple):
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"classes must hold labels of one kind, got a list of {names}; give an array of one type")
    classes = as_type(classes, of_type)  # type: ignore[arg-type]
    values = np.asarray(classes)
    if values.dtype.kind == "f" and kinds == {Integral}:  # numpy makes floats of 0 and 2**63
        whole: Any = classes
        if not all(0 <= each < 1 << 64 for each in whole):
            raise ValueError(f"{HELD}, and no type has all of the classes {[*classes]}")  # type: ignore[misc]
        values = np.array([*classes], np.uint64)  # type: ignore[misc]
    if values.ndim != 1:
        raise ValueError(f"classes must be a list of labels, got shape {values.shape}")
    lost = next((each for each, value in zip(classes, values.tolist(), strict=True) if value != each == each), None)  # type: ignore[arg-type]
    if lost is not None and not isinstance(classes, np.ndarray):
        raise ValueError(f"classes holds {lost!r}, which an array of {values.dtype} does not hold as it is")
    distinct = np.unique(values)
    if len(distinct) < len(values):
        raise ValueError(f"classes must be different labels, got {values.tolist()}")
    refuse_unsaved(distinct)
    return distinct


def refuse_unsaved(classes: np.ndarray) -> None:
    """Refuse labels that the file of a model cannot hold, since a model that was paid for could not be saved."""
    kind, size = classes.dtype.kind, classes.dtype.itemsize
    if kind == "O":
        can_be_saved = {type(label) for label in classes.tolist()} == {str}
    else:
        can_be_saved = kind in "biuU" or (kind == "f" and size <= 8 and bool(np.isfinite(classes).all()))
    if not can_be_saved:
        raise ValueError(
            f"{HELD}, got {classes.dtype}: a saved model cannot hold others; y.astype(str) makes text of them"
        )


def refuse_few(classes: np.ndarray, declared: bool) -> None:
    """Refuse fewer than two classes."""
    if len(classes) < 2:
        only = f": {classes.tolist()[0]!r}" if declared else ""
        raise ValueError(f"y must have at least two classes, got one class only{only}; see classes=")


def two_classes(classes: np.ndarray) -> None:
    """Refuse more than two classes."""
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(classes)} classes. HalfspaceClassifier and DecisionListClassifier learn any number"
        )


def refuse_nul(labels: Any) -> None:
    """Refuse texts that end with a NUL character; arrays of text drop it, so different labels would become equal."""
    if isinstance(labels, list | tuple) or (isinstance(labels, np.ndarray) and labels.dtype == object):
        for each in labels:
            if isinstance(each, str | bytes) and each[-1:] in ("\0", b"\0"):
                raise ValueError("labels must not end with a NUL character, which arrays of text leave out")


def tidy_labels(labels: ArrayLike) -> np.ndarray:
    """Return a public set of labels as int64 if all are integers, else as str."""
    refuse_nul(labels)
    labels = np.asarray(labels)
    text = labels.astype(str)
    try:
        numbers = labels.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        return text
    return numbers if (numbers.astype(str) == text).all() else text


def class_values(identities: Iterable[str]) -> np.ndarray:
    """Return labels as an array, in the type that all of them have: texts, truth values, integers or floats.

    Truth values are numbers beside numbers, and all are texts beside texts.
    """
    marked = [*identities]
    kinds = {each[:2] if each.startswith("\0") else "" for each in marked}
    texts = [plain(each) for each in marked]
    if kinds == {TRUTH}:
        return np.array([text == "true" for text in texts])
    if not marked or not kinds <= {TRUTH, NUMBER}:
        return np.array(texts) if texts else np.empty(0, str)
    texts = [
        str(int(text == "true")) if each.startswith(TRUTH) else text for each, text in zip(marked, texts, strict=True)
    ]
    values = as_type(texts, "integer")
    return np.asarray(as_type(texts, "float") if values is texts else values)


def values_of(identities: Sequence[str], kind: str | None) -> np.ndarray:
    """Return the labels of a public set in the type `kind`; without one, in the type that all of them have.

    Without a type, as in CSV files, texts are read without the blanks around them, and are integers if all are.
    """
    texts = [plain(each) for each in identities]
    values = as_type(texts, kind)
    if values is texts:
        all_text = kind is None and not any(each.startswith("\0") for each in identities)
        values = tidy_labels([text.strip() for text in texts]) if all_text and texts else class_values(identities)
    return np.asarray(values)


def class_numbers(identities: Iterable, classes: np.ndarray, rest: int) -> list[int]:
    """Return the number of the class of each identity, or `rest`.

    A label is the class with the same text, or else the class with its text without the blanks around it. Truth values
    are also 1 and 0: where no class is true or false, and where the classes are truth values.
    """
    place = {text_of(each): k for k, each in enumerate(classes.tolist())}
    truths = classes.dtype == bool

    def number(each):
        text = text_of(each)
        word = plain(text)
        if word not in place:
            word = word.strip()
        if truths and word not in place:
            word = _TRUTHS.get(word, word.lower())
        elif text.startswith(TRUTH) and word not in place:
            word = str(int(word == "true"))
        return place.get(word, rest)

    return [*map(number, identities)]


def classes_of_identities(identities: Sequence[str], kind: str | None) -> np.ndarray:
    """Return the published labels as classes, sorted; `kind` is that of `label_kind`."""
    names = [each for each in identities if not each.endswith("\0")]  # which arrays of text do not keep
    return np.unique(values_of(names, kind)) if names else np.empty(0, str)


def counts_by_class(counts: Mapping[str, Any], classes: np.ndarray) -> Counter:
    """Return counts of identities as counts of the classes that they are, by the texts of the classes."""
    texts = [text_of(each) for each in classes.tolist()]
    totals: Counter = Counter()
    for code, count in zip(class_numbers(counts, classes, -1), counts.values(), strict=True):
        if code >= 0:
            totals[texts[code]] += count
    return totals


def other_label(rows_of_labels: Mapping[str, float], classes: np.ndarray) -> Any:
    """Return the class that replaces other labels: OTHER_LABEL, or the most frequent one, by the rows of each."""
    most = OTHER_LABEL if OTHER_LABEL in rows_of_labels else max(rows_of_labels, key=lambda text: rows_of_labels[text])
    return next(each for each in classes.tolist() if text_of(each) == most)


def refuse_fractions(identities: Iterable[str]) -> None:
    """Refuse labels without a declared type that are numbers, but not whole ones of 64 bits; none is declared.

    Each is refused by itself, as those that are published later must have one type.
    """
    for number in (each[2:] for each in identities if each.startswith(NUMBER)):
        if not number.lstrip("-").isdecimal():
            raise ValueError(CONTINUOUS)
        if len(number) > 20 or not -(1 << 63) <= int(number) < 1 << 63:
            raise ValueError(f"{HELD}, got a larger integer: y.astype(str) makes text of labels")
