import numpy as np
import pandas as pd
import pytest

from dpfast.files import ParquetRows
from dpfast.parts import RowBlocks

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
        rows = ParquetRows(path, label="y")
        rows.block(0)
        with pytest.raises(ValueError, match=f"rows.parquet: row 43, column 'a' {said}"):
            rows.block(1)
        frame.loc[42, "a"] = 0.0
    frame.loc[77, "y"] = None
    frame.to_parquet(path)
    with pytest.raises(ValueError, match=r"rows\.parquet: row 78, column 'y' is empty"):
        ParquetRows(path, label="y").labels()


@pytest.mark.parametrize("keep", [0, 400, 1 << 20])
def test_a_mask_picks_rows_which_stay_in_the_file(frame, path, rng, keep):
    rows, mask = ParquetRows(path, label="y", dtype="float64", keep=keep), rng.random(100) < 0.5
    mask[30:60] = False  # a whole row group
    picked = rows[mask]
    assert isinstance(picked, RowBlocks)
    assert picked.shape == (mask.sum(), 2)
    assert picked.feature_names == rows.feature_names
    assert len(picked.bounds) == 4
    for _ in range(2):
        whole = np.concatenate([picked.block(k) for k in range(3)])
        np.testing.assert_array_equal(whole, frame[["a", "b"]].to_numpy()[mask])
    assert picked.labels().tolist() == frame["y"][mask].tolist()
    again = rng.random(len(picked)) < 0.5
    assert picked[again].labels().tolist() == frame["y"][mask][again].tolist()
    assert rows.shape == (100, 2)
    for wrong in (mask[:99], np.arange(100), 3):
        with pytest.raises(IndexError, match="rows are picked by 100 booleans"):
            rows[wrong]


def test_blocks_that_are_kept_are_read_once(path):
    rows = ParquetRows(path, label="y", keep=2 * 30 * 2 * 4)
    blocks = [[rows.block(k) for k in range(4)] for _ in range(2)]
    assert [a is b for a, b in zip(*blocks, strict=True)] == [True, True, False, False]
