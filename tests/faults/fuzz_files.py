"""Coverage-guided damage of tables, models and schemas: `python tests/faults/fuzz_files.py -runs=20000`, with atheris.

The arguments are libFuzzer's. It ends at the first file that is neither read nor refused by ValueError or OSError, and
keeps that as crash-*. The first byte of an input names the kind of file.
"""

import contextlib
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dpfast"]):  # of what is imported here, not later
    import dpfast
    from dpfast.files import csv, npz, parquet, readers, svmlight
    from dpfast.files.datasets import dataset_schema
    from dpfast.tables import Schema

import test_hostile

KINDS = (".csv", ".tsv", ".svm", ".npz", ".parquet", ".json", ".toml", ".schema.json")
READERS = (csv, npz, parquet, readers, svmlight)
MODELS = Path(__file__).parents[1] / "models_v1"
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz"))


def opened(path):
    if path.name.endswith((".toml", ".schema.json")):
        Schema.from_file(path).to_dict()
    elif path.suffix == ".json":
        str(dpfast.load(path))
    else:
        test_hostile.read(path)


def one(content):
    if not content:
        return
    path = FOLDER / f"input{KINDS[content[0] % len(KINDS)]}"
    path.write_bytes(content[1:])
    with contextlib.suppress(ValueError, OSError):
        opened(path)


def seeds(folder):
    """Sound files of each kind, from which to begin."""
    folder.mkdir()
    sound = [(KINDS.index(Path(name).suffix), content) for name, content in test_hostile.seeds()]
    sound += [(KINDS.index(".json"), path.read_bytes()) for path in MODELS.glob("*.json") if path.stem != "noted"]
    sound.append((KINDS.index(".toml"), dataset_schema("adult").to_toml().encode()))
    for number, (kind, content) in enumerate(sound):
        (folder / str(number)).write_bytes(bytes([kind]) + content)
    return str(folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    atheris.Setup([*sys.argv, "-max_len=8192", "-timeout=60", "-rss_limit_mb=4096", seeds(FOLDER / "seeds")], one)
    atheris.Fuzz()
