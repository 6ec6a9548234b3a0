import numpy as np
import pandas as pd
import pytest

from dpfast import FileParts


@pytest.fixture
def frame(rng):
    return pd.DataFrame({"a": rng.normal(size=100), "y": rng.choice(["no", "yes"], 100), "b": rng.integers(0, 9, 100)})


@pytest.fixture
def path(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_those_of_all_row_groups_in_the_wanted_type(dtype, frame, path):
    X, y = FileParts(path, label="y", dtype=dtype).numbers()
    assert X.dtype == dtype
    np.testing.assert_array_equal(X, frame[["a", "b"]].to_numpy().astype(dtype))
    assert y.tolist() == frame["y"].tolist()


def test_what_is_not_a_number_is_refused_by_its_column(path):
    with pytest.raises(ValueError, match=r"column 'y' holds (large_)?string"):
        FileParts(path).numbers()
    with pytest.raises(ValueError, match="there is no column 'z' to take labels from; there is a, y, b"):
        FileParts(path, label="z").numbers()
    with pytest.raises(ValueError, match="dtype must be"):
        FileParts(path, label="y", dtype="int8").numbers()


def test_a_missing_value_or_one_that_is_not_finite_is_refused_by_its_place(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    for value, said in (
        (None, "is empty; fill"),
        (np.inf, "holds inf; features are"),
        (1e39, "holds inf; features are"),
    ):
        frame["a"] = frame["a"].astype("object" if value is None else float)
        frame.loc[42, "a"] = value
        frame["a"] = pd.array(frame["a"], dtype="Float64")
        frame.to_parquet(path, row_group_size=30)
        with pytest.raises(ValueError, match=f"rows.parquet: row 43, column 'a' {said}"):
            FileParts(path, label="y").numbers()
        frame.loc[42, "a"] = 0.0
    frame.loc[77, "y"] = None
    frame.to_parquet(path)
    with pytest.raises(ValueError, match=r"rows\.parquet: row 78, column 'y' is empty"):
        FileParts(path, label="y").numbers()
