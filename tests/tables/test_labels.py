import numpy as np
import pandas as pd
import pytest

from dpfast.tables.labels import class_codes, tidy_labels

LARGE = 2**53 + 1


@pytest.mark.parametrize("held", [list, tuple, lambda y: np.array(y, object), lambda y: pd.Series(y, dtype=object)])
@pytest.mark.parametrize("one", [float(LARGE - 1), "7", True])
def test_a_label_of_another_type_does_not_change_how_others_are_read(held, one):
    labels, classes = [LARGE - 1, LARGE] * 20, [LARGE - 1, LARGE]
    assert class_codes(held(labels), 40, classes).codes.tolist() == [0, 1] * 20
    if one == LARGE - 1:  # the same number
        assert class_codes(held([one, *labels[1:]]), 40, classes).codes.tolist() == [0, 1] * 20
    else:
        with pytest.raises(ValueError, match="label of row 1 is not among"):
            class_codes(held([one, *labels[1:]]), 40, classes)


@pytest.mark.parametrize("held", [list, lambda y: np.array(y, object), lambda y: pd.Series(y, dtype=object)])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 0, 1.0, True, np.int8(0)], [0, 1]),
        ([True, False, np.bool_(True)], [False, True]),
        (["1", "0", "1"], ["0", "1"]),
        ([0.5, 1, 2.0], None),
        (["a", 1, True], ["1", "a", "true"]),
    ],
    ids=repr,
)
def test_the_type_of_classes_that_are_read_off_is_that_of_their_set(held, labels, classes):
    if classes is None:
        with pytest.raises(ValueError, match="Unknown label type: continuous"):
            class_codes(held(labels), len(labels))
        assert class_codes(held(labels), 3, [0.5, 1.0, 2.0]).codes.tolist() == [0, 1, 2]
        return
    known = class_codes(held(labels), len(labels)).classes
    assert known.tolist() == classes
    assert known.dtype.kind == np.array(classes).dtype.kind


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_label_of_a_list_is_refused_by_its_row(missing):
    for classes in (None, [0, 1]):
        with pytest.raises(ValueError, match="no label, in row 2"):
            class_codes([1, missing, 0], 3, classes)


def test_labels_of_one_kind_are_taken_as_they_are():
    assert class_codes(["a", np.str_("b")], 2).classes.tolist() == ["a", "b"]
    assert class_codes([1, np.int64(2)], 2).codes.tolist() == [0, 1]
    assert class_codes((True, False), 2).codes.tolist() == [1, 0]


def test_a_set_of_more_than_twenty_labels_is_not_read_off_the_rows_but_may_be_declared():
    y = np.tile(np.arange(21), 3)
    with pytest.raises(ValueError, match=r"y has 21 different labels.* must be declared by classes="):
        class_codes(y, 63)
    assert class_codes(y, 63, classes=np.arange(21)).declared
    assert not class_codes(y % 20, 63).declared


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([LARGE - 1, LARGE], [LARGE - 1, LARGE, 0.5]),
        ([LARGE - 1, LARGE], np.array([LARGE - 1, 0.5])),
        (np.array([2**63, 2**63 + 1], np.uint64), [2**63, 2**63 + 1, -1]),
        ([0, 1], [0, 1, None]),
        ([0, 1], [[0, 1]]),
    ],
    ids=["integers beside a float", "integers against floats", "beyond both types", "None", "two axes"],
)
def test_declared_classes_that_numpy_would_merge_are_refused(labels, classes):
    with pytest.raises(ValueError, match="class"):
        class_codes(np.asarray(labels), 2, classes)


def test_integers_of_two_types_are_told_apart_exactly():
    y = np.array([LARGE, LARGE - 1, LARGE + 2], np.uint64)
    assert class_codes(y, 3, classes=[LARGE - 1, LARGE, LARGE + 2]).codes.tolist() == [1, 0, 2]
    assert class_codes(y, 3, classes=np.array([LARGE - 1, LARGE, LARGE + 2])).codes.tolist() == [1, 0, 2]
    assert class_codes([0, 1, 1], 3, classes=[0.0, 0.5, 1.0]).codes.tolist() == [0, 2, 2]


def test_a_refusal_repeats_no_label_of_a_row():
    secret = "a diagnosis"
    for y, classes in (
        (["no", secret, "yes"], ["no", "yes"]),
        ([secret] * 3, None),
        (np.array(["no", secret]), ["no", "maybe"]),
    ):
        with pytest.raises(ValueError, match=r"label of row 2 is not among|got one class only;") as refused:
            class_codes(y, len(y), classes)
        assert secret not in str(refused.value)


@pytest.mark.parametrize(
    "y", [["a", "a\0"], ("b", "a\0"), np.array(["a", "a\0"], object), pd.Series(["a", "a\0"])], ids=repr
)
def test_labels_that_an_array_of_text_would_make_one_are_refused(y):
    with pytest.raises(ValueError, match="NUL character"):
        class_codes(y, 2)


def test_labels_that_no_model_holds_are_refused():
    for y in ([b"a", b"b"], [1j, 2], [[1], [1, 2]], [{}, {}]):
        with pytest.raises(ValueError, match="labels must be text, integers, booleans"):
            class_codes(y, 2, [1, 2])


def test_spellings_that_an_array_of_text_would_make_one_are_refused():
    with pytest.raises(ValueError, match="NUL character"):
        tidy_labels(["a", "a\0"])


def test_classes_that_are_declared_twice_are_refused():
    with pytest.raises(ValueError, match=r"different labels, got \[0, 1, 1\]"):
        class_codes([0, 1], 2, [0, 1, 1])
