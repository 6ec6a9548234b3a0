"""Bundled data sets."""

from contextlib import contextmanager
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse as sp

_LABELS = {"mushroom": {-1: "edible", 1: "poisonous"}}
_TABLES = ("adult",)  # with a schema, for `read_codes` too
_FOLDER = resources.files("dpfast.files") / "bundled"


def load_dataset(name: str) -> Any:
    """Return a bundled data set.

    Parameters
    ----------
    name : {"mushroom", "adult"}
        "mushroom": UCI Mushroom, 8,124 rows and 126 one-hot columns, labels "edible" and "poisonous". "adult": UCI
        Adult, census income, 48,842 rows and 14 columns of numbers, categories and missing values, with a schema;
        labels "<=50K" and ">50K".

    Returns
    -------
    sklearn.utils.Bunch
        data : CSR array of uint8, shape (n, d), of 0 and 1; or a pyarrow.Table of n rows, ``data.to_pandas()`` for a
        DataFrame. target : ndarray of str, shape (n,). feature_names : list of str, length d. DESCR : str, with source
        and licence. schema : Schema, of "adult" only.

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> adult = load_dataset("adult")
    >>> adult.schema
    <Schema of 14 columns, label 'income'>
    """
    if name not in _LABELS and name not in _TABLES:
        raise ValueError(f"name must be one of {', '.join(sorted([*_LABELS, *_TABLES]))}, got {name!r}")
    from sklearn.utils import Bunch

    description = (_FOLDER / "README.md").read_text(encoding="utf-8")
    return Bunch(**(_table(name) if name in _TABLES else _bits(name)), DESCR=description)


def _bits(name):
    with resources.as_file(_FOLDER / f"{name}.npz") as path:
        data = sp.csr_array(sp.load_npz(path))
        with np.load(path) as stored:
            target = np.array([_LABELS[name][y] for y in stored["y"].tolist()])
            feature_names = stored["feature_names"].tobytes().decode().split("\n")
    return {"data": data, "target": target, "feature_names": feature_names}


def dataset_schema(name):
    """Return the schema of a bundled table, or None if it has none."""
    if name not in _TABLES:
        return None
    from dpfast.tables.schema import Schema

    with resources.as_file(_FOLDER / f"{name}.toml") as path:
        return Schema.from_file(path)


@contextmanager
def dataset_path(name):
    """Return the path of a bundled table with a schema."""
    if name not in _TABLES:
        raise ValueError(
            f"{name}: there is no such file, and no bundled table with a schema of this name; there is "
            f"{', '.join(_TABLES)}"
        )
    with resources.as_file(_FOLDER / f"{name}.csv.gz") as path:
        yield path


def _table(name):
    import pyarrow as pa
    from pyarrow import csv

    schema = dataset_schema(name)
    with dataset_path(name) as path:
        options = csv.ConvertOptions(null_values=list(schema.missing_values), strings_can_be_null=True)
        table = csv.read_csv(path, convert_options=options)
    target = np.array(table.column(schema.label.name).to_pylist())
    data = pa.table({each: table.column(each) for each in schema.names})
    return {"data": data, "target": target, "feature_names": schema.names, "schema": schema}
