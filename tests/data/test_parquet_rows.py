import numpy as np
import pandas as pd
import pytest

from dpfast.data import ParquetRows, RowBlocks

pytest.importorskip("pyarrow")


@pytest.fixture
def frame(rng):
    return pd.DataFrame({"a": rng.normal(size=100), "y": rng.choice(["no", "yes"], 100), "b": rng.integers(0, 9, 100)})


@pytest.fixture
def path(frame, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=30)
    return tmp_path / "rows.parquet"


def test_row_groups_are_the_blocks_of_the_table(frame, path):
    rows = ParquetRows(path, label="y", dtype="float64")
    assert isinstance(rows, RowBlocks)
    assert rows.shape == (100, 2)
    assert len(rows) == 100
    assert rows.bounds == [0, 30, 60, 90, 100]
    assert rows.feature_names == ["a", "b"]
    whole = np.concatenate([rows.block(k) for k in range(4)])
    np.testing.assert_array_equal(whole, frame[["a", "b"]].to_numpy())
    assert rows.labels().tolist() == frame["y"].tolist()


def test_rows_are_float32_unless_asked_otherwise(path):
    assert ParquetRows(path, label="y").block(0).dtype == np.float32


def test_what_is_not_a_number_is_refused_by_its_column(path):
    with pytest.raises(ValueError, match=r"column 'y' holds (large_)?string"):
        ParquetRows(path)
    with pytest.raises(ValueError, match="there is no column 'z' to take labels from; there is a, y, b"):
        ParquetRows(path, label="z")
    with pytest.raises(ValueError, match="dtype must be"):
        ParquetRows(path, label="y", dtype="int8")


def test_rows_without_a_label_column_have_no_labels(frame, tmp_path):
    frame[["a", "b"]].to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="no label column"):
        ParquetRows(tmp_path / "x.parquet").labels()
