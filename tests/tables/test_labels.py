import numpy as np
import pytest

from dpfast.tables.labels import class_codes

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
