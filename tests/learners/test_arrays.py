"""Arrays and frames alike: a dense array of numbers whose rows suffice is surveyed like a frame, from every source."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from people import few

import dpfast
from dpfast.discovery.survey import suffice
from dpfast.parts import MemoryParts

N, D = 2_000, 6
SURVEYING = (
    dpfast.HalfspaceClassifier,
    dpfast.DecisionListClassifier,
    dpfast.DPWinnowClassifier,
    dpfast.BoostedHalfspaceClassifier,
    dpfast.ProjectedHalfspaceClassifier,
)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N, D)) * np.exp(rng.normal(0, 3, D))
    return X, np.where(X[:, 0] / X[:, 0].std() + 0.3 * rng.normal(size=N) > 0, "yes", "no")


def surveyed(model):
    """Return whether a model surveyed its table; the notes must say which way was taken."""
    told = " ".join(model.notes_)
    assert ("surveyed like a frame" in told) != ("read as vectors of numbers" in told)
    assert hasattr(model, "encoder_") == ("surveyed like a frame" in told)
    return hasattr(model, "encoder_")


@pytest.mark.parametrize("learner", SURVEYING)
def test_the_same_table_gives_the_same_model_from_every_source(learner, rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X).add_prefix("x")
    np.save(tmp_path / "t.npy", X)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    pq.write_table(pa.Table.from_pandas(frame.assign(y=y)), tmp_path / "t.parquet")
    cuts = (slice(0, 700), slice(700, N))
    sources = {
        "array": (X, y),
        "array in Fortran order": (np.asfortranarray(X), y),
        "frame without names": (pd.DataFrame(X), y),
        ".npy": (tmp_path / "t.npy", y),
        ".npz": (tmp_path / "t.npz", None),
        "named labels of .npz": (dpfast.FileParts(tmp_path / "t.npz", label="y"), None),
        "parquet": (dpfast.FileParts(tmp_path / "t.parquet", label="y"), None),
        "arrays in parts": (MemoryParts([(X[cut], y[cut]) for cut in cuts]), None),
        "frames in parts": (MemoryParts([(frame[cut], y[cut]) for cut in cuts]), None),
    }
    expected = few(learner).fit(frame, y).predict(frame)
    for name, table in sources.items():
        model = few(learner).fit(*table)
        assert surveyed(model), name
        read = frame if name in ("parquet", "frames in parts") else X
        np.testing.assert_array_equal(model.predict(read), expected, err_msg=name)


@pytest.mark.parametrize("learner", SURVEYING)
def test_a_csv_file_whose_rows_suffice_is_surveyed_like_a_frame_of_its_cells(learner, rows, tmp_path):
    X, y = rows
    cells = pd.DataFrame(X).add_prefix("x").astype(str)
    cells.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    model = learner(random_state=0).fit(dpfast.FileParts(tmp_path / "t.csv", label="y"))
    assert surveyed(model)
    expected = learner(random_state=0).fit(cells, y)
    assert model.encoder_.schema_.columns == expected.encoder_.schema_.columns
    np.testing.assert_array_equal(model.predict(cells), expected.predict(cells))


def test_other_csv_files_stay_vectors(rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    frame[:40].to_csv(tmp_path / "few.csv", index=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.drop(columns="y").to_csv(tmp_path / "unlabelled.csv", index=False)
    named = dpfast.FileParts(tmp_path / "t.csv", label="y")
    for table, given in (
        ((dpfast.FileParts(tmp_path / "few.csv", label="y"),), {}),
        ((tmp_path / "unlabelled.csv", y), {}),
        ((named,), {"schema": "vectors"}),
        ((named,), {"neighbors": "add-remove"}),
    ):
        assert not surveyed(dpfast.HalfspaceClassifier(n_rounds=2, random_state=0, **given).fit(*table))
    assert not surveyed(dpfast.LinearLearner(random_state=0).fit(named))


@pytest.mark.parametrize("cell", ["1", "-1e9", "", "a word", '"a\nb"'])
def test_no_cell_of_a_csv_file_has_a_part_in_the_choice(cell, tmp_path):
    ways = set()
    for n in (47, 48):  # 8 rows for each of 6 columns suffice
        lines = [",".join(["1"] * D + [("no", "yes")[k % 2]]) for k in range(n - 1)]
        (tmp_path / "t.csv").write_text("\n".join([",".join([*"abcdef", "y"]), *lines, ",".join([cell] * D + ["no"])]))
        source = dpfast.FileParts(tmp_path / "t.csv", label="y")
        ways.add((n, source.dense_shape()))
    assert ways == {(47, (47, D)), (48, (48, D))}


def test_an_array_of_integers_is_read_like_a_frame_of_integers(rng):
    X = rng.integers(0, 40, (N, 3))
    y = np.where(X[:, 0] > 20, "yes", "no")
    frame = pd.DataFrame(X).add_prefix("x")
    assert (
        dpfast.HalfspaceClassifier(random_state=0).fit(X, y).encoder_.schema_
        == dpfast.HalfspaceClassifier(random_state=0).fit(frame, y).encoder_.schema_
    )


def test_units_of_an_array_are_those_of_a_frame(rows):
    X, y = rows
    units = {"units": np.arange(N) // 2, "rows_per_unit": 2}
    model = dpfast.HalfspaceClassifier(3.0, random_state=0).fit(X, y, **units)
    assert surveyed(model)
    like = dpfast.HalfspaceClassifier(3.0, random_state=0).fit(pd.DataFrame(X).add_prefix("x"), y, **units)
    np.testing.assert_array_equal(model.predict(X), like.predict(pd.DataFrame(X).add_prefix("x")))


def test_other_tables_of_numbers_stay_vectors(rows, rng):
    X, y = rows
    bits = X > 0
    wide = rng.normal(size=(N, 200))
    for table in (bits, bits.astype(np.int8), bits.astype(np.uint8), sp.csr_array(X), X.tolist(), wide, X[:40]):
        n = len(table) if isinstance(table, list) else table.shape[0]
        assert not surveyed(dpfast.HalfspaceClassifier(n_rounds=2, random_state=0).fit(table, y[:n]))
    for given in ({"neighbors": "add-remove"}, {"schema": "vectors"}, {"class_weight": {"no": 1, "yes": 2}}):
        assert not surveyed(dpfast.HalfspaceClassifier(n_rounds=2, random_state=0, **given).fit(X, y))
    assert not surveyed(dpfast.HalfspaceClassifier(n_rounds=2, random_state=0).fit(X, (y == "yes").astype(float)))
    assert not surveyed(dpfast.LinearLearner(random_state=0).fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        dpfast.DecisionListClassifier(threshold=0.5, random_state=0),
        dpfast.DecisionListClassifier(threshold=None, random_state=0),
        dpfast.DPWinnowClassifier(feature_range=(-9.0, 9.0), out_of_range="clip", random_state=0),
        dpfast.BoostedHalfspaceClassifier(margin=0.2, random_state=0),
        dpfast.ProjectedHalfspaceClassifier(n_components=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_parameter_of_vectors_keeps_vectors(model, rows):
    X, y = rows
    table = (X > 0).astype(float) if getattr(model, "threshold", 0) is None else X
    assert not surveyed(model.fit(table, y))


@pytest.mark.parametrize(("n", "d"), [(16, 2), (300, 10), (500, 40), (1_300, 40)])
def test_no_entry_has_a_part_in_the_choice(n, d, rng):
    y = np.where(np.arange(n) % 2, "yes", "no")
    ways = set()
    for X in (np.zeros((n, d)), rng.normal(size=(n, d)), np.full((n, d), 1e9)):
        ways.add(surveyed(dpfast.HalfspaceClassifier(n_rounds=2, random_state=0).fit(X, y)))
    assert len(ways) == 1
    assert ways <= {suffice(n, d, 1.0), False}
