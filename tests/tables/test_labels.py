import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpfast
from dpfast.metrics import confusion_matrix
from dpfast.tables.classes import tidy_labels
from dpfast.tables.label_columns import stored_labels
from dpfast.tables.label_kinds import label_kind
from dpfast.tables.labels import MISSING, class_codes, codes_of_classes, labels_as_they_are, read_labels

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning", "ignore::UserWarning")

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


FORMS = {  # ways to hold the labels of a column, one of which may be missing
    "list": list,
    "objects": lambda y: np.array([None, *y], object)[1:],
    "Arrow": pa.array,
    "Arrow dictionary": lambda y: pa.array(y).dictionary_encode(),
    "polars": pl.Series,
    "pandas objects": lambda y: pd.Series(y, dtype=object),
    "pandas, Arrow": lambda y: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(y))),
}
TYPED = {
    "texts": lambda y: np.array(["" if each is None else str(each) for each in y]),
    "floats": lambda y: np.array([np.nan if each is None else float(each) for each in y]),
    "float32": lambda y: np.array([np.nan if each is None else float(each) for each in y], np.float32),
    "pandas Int64": lambda y: pd.Series(y, dtype="Int64"),
    "pandas boolean": lambda y: pd.Series(y, dtype="boolean"),
    "pandas string": lambda y: pd.Series([None if each is None else str(each) for each in y], dtype="string"),
}
if hasattr(np.dtypes, "StringDType"):  # numpy 2
    TYPED["numpy texts"] = lambda y: np.array(
        ["" if each is None else str(each) for each in y], np.dtypes.StringDType()
    )
SETS = [
    (["no", "yes"], ["no", "yes"]),
    (["yes", " yes"], ["yes", " yes"]),
    (["no", "yes "], ["yes ", "no"]),
    (["1", "2", "3a"], ["1", "2"]),
    (["1", "2", "3a"], [1, 2]),
    (["01", "1"], ["1", "01"]),
    (["2", "10"], [2, 10]),
    ([2, 10], ["2", "10"]),
    ([2, 10], [2.0, 10.0]),
    ([1, 2**63], [1, 1]),
    ([0, 1], [False, True]),
    ([False, True], [0, 1]),
    ([False, True], [True, False]),
    ([0.5, 1.5], [0.5, 1.5]),
    (["NA", "none"], ["NA", "none"]),
    (["NA ", "b"], ["b", "NA "]),
    ([LARGE - 1, LARGE], [LARGE, LARGE - 1]),
    (["a", "b", "c", "d"], ["d", "a"]),
]


@pytest.mark.parametrize("form", FORMS | TYPED)
@pytest.mark.parametrize(("classes", "values"), SETS, ids=repr)
def test_a_label_that_is_missing_changes_neither_the_classes_nor_how_others_are_read(form, classes, values):
    make, y = (FORMS | TYPED)[form], values * 20
    other = [*y[:-1], None]
    try:
        one, two = make(y), make(other)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return  # no such column
    try:
        whole = read_labels(one, classes)
    except ValueError as refused:
        with pytest.raises(ValueError, match=re.escape(str(refused))):
            read_labels(two, classes)
        return
    lacking = read_labels(two, classes)
    assert lacking.classes.dtype == whole.classes.dtype
    assert lacking.classes.tolist() == whole.classes.tolist()
    assert lacking.codes.tolist() == [*whole.codes.tolist()[:-1], MISSING]


@pytest.mark.parametrize("form", FORMS | TYPED)
@pytest.mark.parametrize(("classes", "values"), SETS, ids=repr)
def test_every_label_has_the_class_that_it_has_alone(form, classes, values):
    make = (FORMS | TYPED)[form]
    try:
        whole = make([*values * 3, None])
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return
    try:
        codes = read_labels(whole, classes).codes.tolist()
    except ValueError:
        return
    assert codes == [int(read_labels(whole[k : k + 1], classes).codes[0]) for k in range(len(whole))]


def test_a_class_is_its_text_or_else_its_text_without_blanks():
    assert read_labels(["yes", " yes", "  yes"], ["yes", " yes"]).codes.tolist() == [1, 0, 1]
    assert read_labels(np.array(["no", "yes ", " no"]), ["no", "yes "]).codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize("n", [40, 4000])
def test_classes_with_blanks_are_read_by_one_rule_whether_or_not_a_table_is_surveyed(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    model = dpfast.HalfspaceClassifier(n_rounds=2).fit(
        X, np.array(["no", "yes "])[np.arange(n) % 2], classes=["no", "yes "]
    )
    assert model.classes_.tolist() == ["no", "yes "]


def test_a_model_keeps_the_order_of_its_classes_for_labels_of_another_type():
    model = dpfast.DPWinnowClassifier(n_updates=3).partial_fit(np.eye(2), [2, 10], classes=[2, 10])
    read = [
        codes_of_classes(y, 2, model.classes_).codes.tolist() for y in ([2, 10], ["2", "10"], np.array(["2", "10"]))
    ]
    assert read == [[0, 1]] * 3
    counts = confusion_matrix([2, 10, 10], ["2", "10", "2"], classes=[2, 10], epsilon=1e6).counts
    assert counts.tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("make", [pa.array, pl.Series, lambda y: pd.Series(y, dtype="Int64")])
def test_labels_without_a_type_of_numpy_are_objects_whether_or_not_one_is_missing(make):
    y, gap = make([0, 1, 1]), make([0, 1, None])
    assert labels_as_they_are(y).dtype == labels_as_they_are(gap).dtype == object
    assert labels_as_they_are(gap).tolist()[:2] == [0, 1]


def test_a_score_reads_labels_as_the_fit_did():
    X = np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    model = dpfast.DPWinnowClassifier(1e4, random_state=0).fit(X, np.arange(40) % 2, classes=[0, 1])
    y = model.predict(X)
    for same in (y, y.astype(str), y.tolist(), pa.array(y), pl.Series(y), pd.Series(y, dtype="Int64"), y[:, None]):
        assert model.score(X, same) == 1.0
    assert model.score(X, np.where(np.arange(40) < 10, 7, y)) == 0.75
    with pytest.raises(ValueError, match="no label, in row 2"):
        model.score(X, [0, None, *y[2:]])


def test_labels_that_a_file_stores_have_the_type_of_their_array(tmp_path):
    for y, kind in ((["0", "1"], "text"), ([b"0", b"1"], "text"), ([1.0, np.nan], "float")):
        assert label_kind(None, stored_labels(np.array(y)), "y") == kind
    X = np.random.default_rng(0).random((40, 2))
    for y in (["0", "1"] * 20, [0, 1] * 20, [False, True] * 20):
        np.savez(tmp_path / "t.npz", X=X, y=np.array(y))
        model = dpfast.HalfspaceClassifier(n_rounds=1, random_state=0).fit(
            dpfast.FileParts(tmp_path / "t.npz", label="y")
        )
        assert model.classes_.tolist() == y[:2]
