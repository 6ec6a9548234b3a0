"""Every hostile file is refused, or read, within 2 seconds of the processor and 1 GB."""

import json
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from corruption import damaged
from hostile import BYTES, SECONDS, bombs, models, npz, sparse, table, tables, tried

import dpfast
from dpfast.files.readers import read_table

READ = {
    "names.csv",
    "none.npz",
    "sparse.npz",
    "rows.csv.gz",
    "tiny groups.parquet",
    "columns.csv",
    "diagonals.npz",
}  # only odd
MODEL = Path(__file__).parents[1] / "models_v1" / "list.json"


def read(path):
    kind = path.name.partition(".")[2]
    label = "c0" if kind == "parquet" else "y" if "svm" not in kind else None
    read_table(path, label=label, values="either")


def within(function, path, name):
    outcome, seconds, memory = tried(function, path)
    assert outcome in ("refused", "read"), f"{name}: {outcome}"
    assert seconds <= SECONDS, f"{name}: {outcome} after {seconds:.1f} s"
    assert memory <= BYTES, f"{name}: {outcome} with {memory:,} bytes"
    return outcome


def read_all(folder):
    """Read sound files, so that what a reader imports is there before its time is taken."""
    for name, content in seeds():
        path = folder / name
        path.write_bytes(content)
        read(path)


@pytest.fixture(autouse=True, scope="module")
def imported(tmp_path_factory):
    read_all(tmp_path_factory.mktemp("sound"))


def test_a_hostile_table_is_refused_quickly_in_little_memory(tmp_path, many):
    wrong = []
    for name, content in chain(tables(), many((), bombs())):
        path = tmp_path / name
        path.write_bytes(content)
        try:
            outcome = within(read, path, name)
            assert outcome == "refused" or name in READ, f"{name}: {outcome}"
        except AssertionError as error:
            wrong.append(str(error))
        path.unlink()
    assert not wrong, "\n".join(wrong)


def test_a_hostile_model_is_refused_quickly_in_little_memory(tmp_path, many):
    path = tmp_path / "model.json"
    for name, text in list(models(json.loads(MODEL.read_text())))[:: many(4, 1)]:
        path.write_text(text)
        within(dpfast.load, path, name)


def seeds():
    X = np.arange(12).reshape(4, 3) % 2
    yield "dense.npz", npz(X=X.astype(float), y=X[:, 0], feature_names=np.array(["a", "b", "c"]))
    yield "sparse.npz", sparse()
    yield "small.csv", b"a,b,y\n1,0,1\n0,1,0\n1,1,1\n"
    yield "small.tsv", b"a\tb\ty\ntrue\t0\tx\nfalse\t1\tz\n"
    yield "small.svm", b"1 1:1 3:1\n-1 2:1\n1 3:1\n"
    yield "small.parquet", table(3, 40)


@pytest.mark.parametrize(("name", "content"), list(seeds()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_damaged_table_is_refused_or_read(name, content, tmp_path, rng, many):
    path = tmp_path / name
    for _ in range(many(5, 1700)):
        changed = damaged(content, rng)
        path.write_bytes(changed)
        within(read, path, repr(changed))
