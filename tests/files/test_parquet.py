import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpfast
from dpfast import FileParts
from dpfast.cli.fit import persons_of
from dpfast.tables.schema import Label
from dpfast.tables.sources import schema_to_discover


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
        (np.inf, "holds another value; features are finite"),
        (1e39, "holds another value; features are finite"),
    ):
        frame["a"] = frame["a"].astype("object" if value is None else float)
        frame.loc[42, "a"] = value
        frame["a"] = pd.array(frame["a"], dtype="Float64")
        frame.to_parquet(path, row_group_size=30)
        with pytest.raises(ValueError, match=f"rows.parquet: row 43, column 'a' {said}"):
            FileParts(path, label="y").numbers()
        frame.loc[42, "a"] = 0.0


def folder(path, **columns):
    """A folder with a file for each of the arrays of the columns."""
    path.mkdir()
    for k, arrays in enumerate(zip(*columns.values(), strict=True)):
        parquet.write_table(pa.table(dict(zip(columns, arrays, strict=True))), path / f"{k}.parquet")
    return path


@pytest.mark.parametrize(
    ("here", "there", "units"),
    [
        (pa.array([7, 8], pa.int8()), pa.array([7 + 2**8, 7 + 2**32, 8], pa.int64()), [0, 1, 2, 3, 1]),
        (pa.array([7], pa.int64()), pa.array([7], pa.uint8()), [0, 0]),
        (pa.array([2**53, 2**63], pa.uint64()), pa.array([2**53 + 1], pa.uint64()), [0, 1, 2]),
        (pa.array([1.0, 0.5]), pa.array(["1", "0.5"]), [0, 1, 2, 3]),
        (pa.array(["p", "p\0"]), pa.array(["p", "P"], pa.large_string()), [0, 1, 0, 2]),
        (pa.array(["p"]), pa.array(["p"]).dictionary_encode(), [0, 0]),
        (pa.array([7], pa.int64()), pa.array(["7"]), "must be of one type"),
        (pa.array([7], pa.int64()), pa.array([2**63], pa.uint64()), "must be of one type"),
    ],
)
def test_units_of_files_with_other_types_are_one_only_if_their_cells_are_the_same(here, there, units, tmp_path):
    many = [pa.array(np.arange(len(each)) % 2) for each in (here, there)]
    path = folder(tmp_path / "rows", who=[here, there], a=many, y=many)
    source = FileParts(path, label="y")

    def both():
        yield source.encode(schema_to_discover(source, ["who"]), Label("y"), "who").units.read_all()
        yield persons_of(str(path), "who", len(here) + len(there))

    if isinstance(units, str):
        with pytest.raises(ValueError, match=units):
            [*both()]
        return
    for found in both():
        assert len(found) == len(units)
        same = np.equal.outer(found, found)
        np.testing.assert_array_equal(same, np.equal.outer(units, units))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("kinds", "reads"),
    [
        ([pa.int8(), pa.int64()], "integer"),
        ([pa.int64(), pa.float32()], "number"),
        ([pa.int64(), pa.string()], "text"),
        ([pa.int64(), pa.null()], "integer"),
        ([pa.date32(), pa.int64()], "text"),
    ],
)
def test_the_first_file_does_not_say_how_the_others_are_read(kinds, reads, first, tmp_path):
    arrays = [pa.array([None, None], kind) for kind in (kinds if first else kinds[::-1])]
    source = FileParts(folder(tmp_path / "rows", a=arrays, y=[pa.array([0, 1])] * 2), label="y")
    assert [column.reads for column in schema_to_discover(source).columns] == [reads]


def test_a_text_in_one_file_of_a_folder_leaves_the_model_of_numbers(tmp_path):
    """The same cells in the same types of columns of files, in any order of the files."""
    rng = np.random.default_rng(0)
    a, models = rng.integers(0, 50, 900), []
    y = pa.array(np.where(a > 25, "yes", "no"))
    for name, places in (("one", [0, 1, 2]), ("other", [2, 1, 0])):
        cut = [slice(300 * k, 300 * k + 300) for k in range(3)]
        kinds = [pa.int64(), pa.string(), pa.float64()]
        arrays = [pa.array(a[each]).cast(kind) for each, kind in zip(cut, kinds, strict=True)]
        path = folder(tmp_path / name, a=[arrays[k] for k in places], y=[y[cut[k]] for k in places])
        source = FileParts(path, label="y")
        models.append(dpfast.HalfspaceClassifier(20.0, random_state=0, schema="discover", n_rounds=3).fit(source))
    assert models[0].coef_.tolist() == models[1].coef_.tolist()
