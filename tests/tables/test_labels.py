import numpy as np
import pandas as pd
import pytest

from dpfast.tables.labels import class_codes, tidy_labels

LARGE = 2**53 + 1


@pytest.mark.parametrize("one", [float(LARGE - 1), "7", True])
def test_a_label_of_another_kind_is_refused_and_does_not_turn_all_rows(one):
    labels = [LARGE - 1, LARGE] * 20
    assert class_codes(labels, 40, [LARGE - 1, LARGE]).codes.tolist() == [0, 1] * 20
    with pytest.raises(ValueError, match="labels of one kind"):
        class_codes([one, *labels[1:]], 40, [LARGE - 1, LARGE])


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
    "y", [["a", "a\0"], ("b", "a\0"), [b"a", b"a\0"], np.array(["a", "a\0"], object), pd.Series(["a", "a\0"])], ids=repr
)
def test_labels_that_an_array_of_text_would_make_one_are_refused(y):
    with pytest.raises(ValueError, match="NUL character"):
        class_codes(y, 2)


def test_spellings_that_an_array_of_text_would_make_one_are_refused():
    with pytest.raises(ValueError, match="NUL character"):
        tidy_labels(["a", "a\0"])


def test_classes_that_are_declared_twice_are_refused():
    with pytest.raises(ValueError, match=r"different labels, got \[0, 1, 1\]"):
        class_codes([0, 1], 2, [0, 1, 1])
