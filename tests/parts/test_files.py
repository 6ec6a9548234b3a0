"""Tables in files, read once: the model of the table in memory, however little memory they may use."""

import errno
import gc
import os
import tempfile

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from people import LEARNERS, OPEN, SCHEMA, cut, few, people, released
from pyarrow import csv, parquet

import dpfast
from dpfast import FileParts, HalfspaceClassifier
from dpfast.accounting import Budget
from dpfast.files import encodings
from dpfast.files import parquet as parquet_rows
from dpfast.parts import blocks

OTHERS = [dpfast.BoostedHalfspaceClassifier, dpfast.ProjectedHalfspaceClassifier, dpfast.DPWinnowClassifier]


def write(frame, folder, parts):
    """One file for each part, the empty ones too."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for k, (a, b) in enumerate(zip(cut(len(frame), parts), cut(len(frame), parts)[1:], strict=False)):
        parquet.write_table(table.slice(a, b - a), folder / f"part-{k:02}.parquet")


@pytest.mark.parametrize(("parts", "memory"), [(1, 0), (3, 5000), (17, 0), (17, 5000), (3, 1 << 30)])
@pytest.mark.parametrize("learner", LEARNERS)
def test_files_give_the_model_of_the_table_in_memory(learner, memory, parts, tmp_path):
    frame = people(600)
    write(frame, tmp_path, parts)
    whole = few(learner, schema=SCHEMA).fit(frame)
    model = few(learner, schema=SCHEMA).fit(FileParts(tmp_path / "*.parquet", memory=memory))
    assert released(model) == released(whole)


@pytest.mark.parametrize("learner", [*LEARNERS, *OTHERS])
def test_every_classifier_reads_a_folder_and_csv(learner, tmp_path):
    frame = people(400)
    write(frame, tmp_path, 3)
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_csv(tmp_path / "people.csv.gz", index=False)
    whole = released(few(learner, schema=SCHEMA).fit(frame))
    for path in (str(tmp_path), tmp_path / "people.csv", tmp_path / "people.csv.gz"):
        assert released(few(learner, schema=SCHEMA).fit(path)) == whole
        assert released(few(learner, schema=SCHEMA).fit(FileParts(path, memory=0))) == whole


def test_what_a_schema_leaves_open_is_found_from_the_scratch_file(tmp_path):
    frame = people(3000)
    write(frame, tmp_path, 4)
    whole = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(frame, classes=["no", "yes"])
    files = FileParts(tmp_path, memory=0)
    model = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(files, classes=["no", "yes"])
    assert model.encoder_.schema_ == whole.encoder_.schema_
    assert released(model) == released(whole)


@pytest.mark.parametrize("memory", [0, 1 << 30])
@pytest.mark.parametrize("kind", ["parquet", "npy", "npz", "csr"])
@pytest.mark.parametrize("learner", [HalfspaceClassifier, OTHERS[0]])
def test_files_of_numbers_give_the_model_of_the_table_in_memory(learner, kind, memory, tmp_path, rng):
    X = rng.normal(size=(500, 7)).astype(np.float32)
    X, y = np.where(rng.random(X.shape) < 0.5, X, 0), (X[:, 2] > 0).astype(np.int64)
    path, apart = tmp_path / f"rows.{'npz' if kind == 'csr' else kind}", None
    if kind == "parquet":
        columns = {f"x{j}": X[:, j] for j in range(7)} | {"y": y}
        parquet.write_table(pa.table(columns), path, row_group_size=130)
    elif kind == "npy":
        np.save(path, X)
        apart = y
    elif kind == "npz":
        np.savez_compressed(path, X=X, y=y)
    else:
        X, apart = sp.csr_array(X), y
        sp.save_npz(path, X)
    files = FileParts(path, memory=memory, label="y" if kind in ("parquet", "npz") else None)
    assert released(few(learner).fit(files, apart)) == released(few(learner).fit(X, y))
    with pytest.raises(ValueError, match="y must be given, or be read from the files"):
        few(learner).fit(files, None if apart is not None else y)


# ---- the scratch file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [0, 1 << 27])
def test_rows_of_parquet_are_read_few_at_a_time_as_they_are(held, tmp_path, rng, monkeypatch):
    monkeypatch.setattr(parquet_rows, "_HELD", held)
    X = rng.normal(size=(5000, 21)).astype(np.float32)
    table = pa.table([*X.T, np.arange(5000) % 2], names=[*(f"x{j}" for j in range(21)), "y"])
    for k in range(2):
        part = table.slice(2500 * k, 2500)
        parquet.write_table(part, tmp_path / f"{k}.parquet", row_group_size=1100, data_page_size=500)
    read, labels = FileParts(tmp_path, label="y", memory=1000, scratch=tmp_path).numbers()
    np.testing.assert_array_equal(read, X)
    np.testing.assert_array_equal(np.asarray(labels), np.arange(5000) % 2)
    X[2500 + 1300, 17] = np.inf
    parquet.write_table(pa.table([*X[2500:].T, np.arange(2500) % 2], names=table.column_names), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet: row 1301, .*x17"):
        FileParts(tmp_path, label="y").numbers()


def test_the_scratch_file_has_no_name_and_its_room_is_free_again(tmp_path):
    scratch, seen = tmp_path / "scratch", []
    scratch.mkdir()
    write(people(300), tmp_path, 2)

    class Watching(HalfspaceClassifier):
        def prepare(self, rows):
            seen.append(([*scratch.iterdir()], _mapped()))

    Watching(schema=SCHEMA, n_rounds=2, random_state=0).fit(FileParts(tmp_path, memory=0, scratch=scratch))
    assert seen[0][0] == []
    assert [*scratch.iterdir()] == []
    gc.collect()
    if os.path.exists("/proc/self/maps"):
        assert seen[0][1] > _mapped()


def _mapped():
    """How many files without a name are mapped."""
    if not os.path.exists("/proc/self/maps"):
        return 0
    with open("/proc/self/maps") as lines:
        return sum("(deleted)" in line and "/scratch/" in line for line in lines)


def test_the_default_scratch_folder_is_that_of_temporary_files(monkeypatch):
    asked, plain = [], tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **given: asked.append(given["dir"]) or plain(**given))
    filling = blocks.Spool(0).array(3, np.int64)
    filling.append(np.arange(3))
    assert asked == [tempfile.gettempdir()]
    np.testing.assert_array_equal(filling.read_all(), [0, 1, 2])


def test_arrays_of_a_spool_are_what_was_put_in(tmp_path, rng):
    room = blocks.Spool(1000, tmp_path)
    shapes = [((50, 3), np.float32), ((700,), np.uint8), ((9, 0), np.int32), ((5000, 2), np.uint16), ((4,), "<U3")]
    arrays, fillings = [], [room.array(*each) for each in shapes]
    assert (room.in_memory, room.on_disk > 0) == (600 + 48, True)
    for (shape, dtype), filling in zip(shapes, fillings, strict=True):
        arrays.append(rng.integers(0, 200, shape).astype(dtype))
        for start in range(0, shape[0] - 1, 37):
            filling.append(arrays[-1][start : min(start + 37, shape[0] - 1)])
    for array, filling in zip(arrays, fillings, strict=True):
        np.testing.assert_array_equal(filling.read_all(), array[:-1])
    with pytest.raises(ValueError, match="the store is for 5000 rows"):
        fillings[3].append(np.zeros((2, 2)))


# ---- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_full_scratch_disk_is_said_before_a_charge(tmp_path, monkeypatch):
    write(people(300), tmp_path, 2)
    for fault in ("no room", "no room after all"):
        budget = Budget(1.0, 1e-6)
        with monkeypatch.context() as patch:
            if fault == "no room":
                patch.setattr(blocks.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 0}))
            else:
                patch.setattr(blocks.tempfile, "TemporaryFile", Full)
            with pytest.raises(OSError, match=r"has no space left.*see scratch= and memory="):
                HalfspaceClassifier(schema=SCHEMA, budget=budget).fit(FileParts(tmp_path, memory=0))
        assert budget.charges == ()


class Full:
    """A file on a disk that is full."""

    def __init__(self, **given):
        self.truncate = self.seek = lambda to: None
        self.close = lambda: None

    def write(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_files_that_change_while_they_are_read_are_refused(tmp_path, monkeypatch):
    write(people(300), tmp_path, 2)
    plain, budget = encodings.read_encoding, Budget(1.0, 1e-6)

    def changing(*arguments, **given):
        encoding = plain(*arguments, **given)
        write(people(301), tmp_path, 2)
        return encoding

    monkeypatch.setattr(encodings, "read_encoding", changing)
    with pytest.raises(ValueError, match=r"part-0\d\.parquet changed while it was read"):
        HalfspaceClassifier(schema=SCHEMA, budget=budget).fit(FileParts(tmp_path))
    assert budget.charges == ()


def test_what_cannot_be_read_is_refused(tmp_path, rng):
    write(people(300), tmp_path, 2)
    with pytest.raises(ValueError, match="y must not be given beside files"):
        HalfspaceClassifier(schema=SCHEMA).fit(tmp_path, people(300)["buys"])
    with pytest.raises(FileNotFoundError, match="no such file"):
        HalfspaceClassifier(schema=SCHEMA).fit(tmp_path / "none*.parquet")
    np.save(tmp_path / "rows.npy", rng.normal(size=(5, 4)))
    whole = (tmp_path / "rows.npy").read_bytes()
    (tmp_path / "rows.npy").write_bytes(whole[:-8])
    with pytest.raises(ValueError, match="ends before the array does"):
        HalfspaceClassifier().fit(tmp_path / "rows.npy", [0, 1, 0, 1, 0])
    np.save(tmp_path / "rows.npy", np.asfortranarray(rng.normal(size=(5, 4))))
    with pytest.raises(ValueError, match="row by row"):
        HalfspaceClassifier().fit(tmp_path / "rows.npy", [0, 1, 0, 1, 0])
    np.savez(tmp_path / "rows.npz", Z=np.eye(3))
    with pytest.raises(ValueError, match="neither an array X nor a sparse matrix"):
        HalfspaceClassifier().fit(tmp_path / "rows.npz", [0, 1, 0])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("jobs", [["smith", "clerk"], [1.5, None]], ids=["text", "missing"])
def test_a_file_of_more_than_numbers_is_refused_with_what_to_do(kind, jobs, tmp_path):
    rows = pa.table({"size": [1.5, 2.5], "job": jobs, "buys": [0, 1]})
    path = tmp_path / f"table.{kind}"
    csv.write_csv(rows, path) if kind == "csv" else parquet.write_table(rows, path)
    with pytest.raises(ValueError, match=r"job.*; .*schema=\"discover\" reads text, dates and missing cells, too$"):
        HalfspaceClassifier().fit(path, "buys")
