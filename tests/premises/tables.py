"""Every way to hold a table: what a test of the premise "one row, one image" goes through.

A form makes a table of a float64 array of shape (n, d) whose entries it can hold. To add a representation or a reader,
add its form to FORMS, and it is under test in every image.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix, FileParts
from dpfast.files.readers import read_steps, read_table

try:
    import polars
except ImportError:  # its forms are skipped
    polars = None

BITS, COUNTS, INTEGERS, HALVES, SINGLES, NUMBERS = "bits", "counts", "integers", "float16", "float32", "numbers"
KINDS = {  # rows that another may become, by what a form holds
    BITS: ["zeros", "ones", "bits"],
    COUNTS: ["zeros", "ones", "bits", "counts"],
    INTEGERS: ["zeros", "ones", "bits", "counts", "integers"],
    HALVES: ["zeros", "ones", "bits", "counts", "integers", "fractions"],
    SINGLES: ["zeros", "ones", "bits", "counts", "integers", "fractions", "large"],
    NUMBERS: ["zeros", "ones", "bits", "counts", "integers", "fractions", "large", "huge", "tiny"],
}
ROWS = {
    "zeros": lambda rng, d: np.zeros(d),
    "ones": lambda rng, d: np.ones(d),
    "bits": lambda rng, d: rng.integers(0, 2, d).astype(float),
    "counts": lambda rng, d: rng.integers(0, 120, d).astype(float),
    "integers": lambda rng, d: rng.integers(-100, 100, d).astype(float),
    "fractions": lambda rng, d: rng.integers(-999, 999, d) / 1024,
    "large": lambda rng, d: rng.normal(size=d) * 1e30,
    "huge": lambda rng, d: rng.normal(size=d) * 1e300,
    "tiny": lambda rng, d: rng.normal(size=d) * 1e-310,
}


class Form(NamedTuple):
    """A way to hold a table: `make` takes an array and a folder; `holds` is the kind of its entries."""

    make: callable
    holds: str
    packed: bool = False  # whether it is a BitMatrix
    sparse: bool = False
    fast: bool = True  # whether a thousand columns take no time


def plain(x):
    """Nested lists whose entries are integers of Python where they can be, else floats."""
    return [[int(v) if v == int(v) and abs(v) < 1e18 else v for v in row] for row in x.tolist()]


def mixed(x):
    """Nested lists with a type a row: booleans, integers or floats, as the values of the row allow."""
    return [[bool(v) for v in row] if set(row) <= {0, 1} else row for row in plain(x)]


def _dense(dtype, order="C"):
    return lambda x, folder: np.asarray(x.astype(dtype), order=order)


def _every_other(dtype):
    return lambda x, folder: np.repeat(np.repeat(x.astype(dtype), 2, axis=0), 2, axis=1)[::2, ::2]


def _sparse(make, dtype):
    return lambda x, folder: make(x.astype(dtype))


def _long_indices(x, folder):
    X = sp.csr_array(x)
    X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return X


def _stored_zeros(x, folder):
    """CSR with every entry stored, backwards."""
    n, d = x.shape
    indices = np.tile(np.arange(d)[::-1], n).astype(np.int32)
    return sp.csr_array((x[:, ::-1].ravel(), indices, np.arange(0, n * d + 1, d).astype(np.int32)), shape=x.shape)


def _repeated(x, folder):
    """COO with every entry stored in two halves."""
    row, column = np.nonzero(np.ones_like(x))
    halves = x.ravel() / 2
    return sp.coo_array((np.r_[halves, halves], (np.r_[row, row], np.r_[column, column])), shape=x.shape)


def _names(x):
    return [f"c{j}" for j in range(x.shape[1])]


def _frame(dtype):
    return lambda x, folder: pd.DataFrame(x, columns=_names(x)).astype(dtype)


def _frame_of_types(x, folder):
    frame = pd.DataFrame(x, columns=_names(x))
    for j, name in enumerate(frame.columns):
        frame[name] = frame[name].astype([np.int16, np.float32, np.int64, np.float64][j % 4])
    return frame


def _polars(dtype):
    def make(x, folder):
        if polars is None:
            pytest.skip("polars is not installed")
        return polars.DataFrame({name: x[:, j] for j, name in enumerate(_names(x))}).cast(getattr(polars, dtype))

    return make


def _parquet(read, of="float64", **options):
    def make(x, folder):
        pytest.importorskip("pyarrow")
        pd.DataFrame(x, columns=_names(x)).astype(of).to_parquet(folder / "t.parquet", row_group_size=2)
        return read(folder / "t.parquet", **options)

    return make


def _table(path, **options):
    return read_table(path, **options).X


def _scratch(path, **options):
    return FileParts(path, memory=0, **options).numbers()[0]


def _mapped(x, folder):
    np.save(folder / "t.npy", x)
    return np.load(folder / "t.npy", mmap_mode="r")


def _text(ending, **options):
    def make(x, folder):
        mark = {"csv": ",", "tsv": "\t"}[ending]
        lines = [mark.join(_names(x)), *(mark.join(map(repr, row)) for row in plain(x))]
        (folder / f"t.{ending}").write_text("\n".join(lines) + "\n")
        return _table(folder / f"t.{ending}", **options)

    return make


def _steps(x, folder):
    lines = [",".join([*_names(x), "y"]), *(",".join([*map(repr, row), "u"]) for row in plain(x))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    steps = read_steps(folder / "t.csv", 2, ["u", "v"], label="y", values="numbers")
    return np.concatenate([step.X for step in steps])


def _svmlight(x, folder):
    lines = [" ".join(["1", *(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)]) for row in plain(x)]
    (folder / "t.svm").write_text("\n".join(lines) + "\n")
    return _table(folder / "t.svm", values="either", n_features=x.shape[1])


def _npz(dtype, **options):
    def make(x, folder):
        np.savez(folder / "t.npz", X=x.astype(dtype))
        return _table(folder / "t.npz", **options)

    return make


def _sparse_npz(x, folder):
    sp.save_npz(folder / "t.npz", sp.csr_array(x))
    return _table(folder / "t.npz", values="either")


FORMS = {
    "bool": Form(_dense(bool), BITS),
    "uint8": Form(_dense(np.uint8), COUNTS),
    "int8": Form(_dense(np.int8), INTEGERS),
    "uint16": Form(_dense(np.uint16), COUNTS),
    "int16": Form(_dense(np.int16), INTEGERS),
    "uint32": Form(_dense(np.uint32), COUNTS),
    "int32": Form(_dense(np.int32), INTEGERS),
    "uint64": Form(_dense(np.uint64), COUNTS),
    "int64": Form(_dense(np.int64), INTEGERS),
    "float16": Form(_dense(np.float16), HALVES),
    "float32": Form(_dense(np.float32), SINGLES),
    "float64": Form(_dense(np.float64), NUMBERS),
    "longdouble": Form(_dense(np.longdouble), NUMBERS),
    "big-endian float64": Form(_dense(">f8"), NUMBERS),
    "float32, columns first": Form(_dense(np.float32, "F"), SINGLES),
    "float64, columns first": Form(_dense(np.float64, "F"), NUMBERS),
    "int64, columns first": Form(_dense(np.int64, "F"), INTEGERS),
    "bool, every other": Form(_every_other(bool), BITS),
    "float64, every other": Form(_every_other(np.float64), NUMBERS),
    "objects": Form(_dense(object), NUMBERS),
    "list": Form(lambda x, folder: plain(x), NUMBERS),
    "list, a type a row": Form(lambda x, folder: mixed(x), NUMBERS),
    "list of arrays": Form(lambda x, folder: [np.array(row) for row in mixed(x)], NUMBERS),
    "csr, bool": Form(_sparse(sp.csr_array, bool), BITS, sparse=True),
    "csr, uint8": Form(_sparse(sp.csr_matrix, np.uint8), COUNTS, sparse=True),
    "csr, int64": Form(_sparse(sp.csr_array, np.int64), INTEGERS, sparse=True),
    "csr, float32": Form(_sparse(sp.csr_array, np.float32), SINGLES, sparse=True),
    "csr, float64": Form(_sparse(sp.csr_array, np.float64), NUMBERS, sparse=True),
    "csr, longdouble": Form(_sparse(sp.csr_array, np.longdouble), NUMBERS, sparse=True),
    "csr, 64-bit indices": Form(_long_indices, NUMBERS, sparse=True),
    "csr, zeros stored": Form(_stored_zeros, NUMBERS, sparse=True),
    "coo, entries twice": Form(_repeated, NUMBERS, sparse=True),
    "csc, uint8": Form(_sparse(sp.csc_matrix, np.uint8), COUNTS, sparse=True),
    "csc, float64": Form(_sparse(sp.csc_array, np.float64), NUMBERS, sparse=True),
    "bsr": Form(_sparse(sp.bsr_array, np.float64), NUMBERS, sparse=True),
    "lil": Form(_sparse(sp.lil_array, np.float64), NUMBERS, sparse=True),
    "frame, bool": Form(_frame(bool), BITS, fast=False),
    "frame, boolean": Form(_frame("boolean"), BITS, fast=False),
    "frame, int64": Form(_frame(np.int64), INTEGERS, fast=False),
    "frame, Int64": Form(_frame("Int64"), INTEGERS, fast=False),
    "frame, float32": Form(_frame(np.float32), SINGLES, fast=False),
    "frame, Float64": Form(_frame("Float64"), NUMBERS, fast=False),
    "frame, float64": Form(_frame(np.float64), NUMBERS, fast=False),
    "frame, objects": Form(_frame(object), NUMBERS, fast=False),
    "frame, a type a column": Form(_frame_of_types, INTEGERS, fast=False),
    "polars, booleans": Form(_polars("Boolean"), BITS, fast=False),
    "polars, Int32": Form(_polars("Int32"), INTEGERS, fast=False),
    "polars, Float64": Form(_polars("Float64"), NUMBERS, fast=False),
    "BitMatrix": Form(lambda x, folder: BitMatrix(x), BITS, packed=True),
    "BitMatrix, by a threshold": Form(lambda x, folder: BitMatrix(x, threshold=0.5), NUMBERS, packed=True),
    "BitMatrix of a frame": Form(
        lambda x, folder: BitMatrix(pd.DataFrame(x), threshold=0.5), NUMBERS, packed=True, fast=False
    ),
    "BitMatrix of csr": Form(
        lambda x, folder: BitMatrix(sp.csr_array(x), threshold=-0.5), NUMBERS, packed=True, fast=False
    ),
    "scratch file": Form(_parquet(_scratch), SINGLES, fast=False),
    "scratch file, float64": Form(_parquet(_scratch, dtype="float64"), NUMBERS, fast=False),
    "memory-mapped": Form(_mapped, NUMBERS),
    "parquet": Form(_parquet(_table, values="either"), SINGLES, fast=False),
    "parquet, booleans": Form(_parquet(_table, "bool", values="either"), BITS, packed=True, fast=False),
    "parquet, int8": Form(_parquet(_table, "int8", values="either"), INTEGERS, fast=False),
    "csv": Form(_text("csv", values="either"), SINGLES),
    "csv of bits": Form(_text("csv", values="bits"), BITS, packed=True),
    "tsv": Form(_text("tsv", values="numbers"), SINGLES),
    "csv, by steps": Form(_steps, SINGLES),
    "svmlight": Form(_svmlight, SINGLES, sparse=True),
    "npz, bool": Form(_npz(bool, values="either"), BITS, packed=True),
    "npz, int64": Form(_npz(np.int64, values="either"), INTEGERS),
    "npz, float64": Form(_npz(np.float64, values="either"), SINGLES),
    "npz, sparse": Form(_sparse_npz, SINGLES, sparse=True),
}


def neighbors(holds, rng, *, d, n=4, largest=np.inf):
    """An array, one with row i replaced, and i: mostly of ones, where one row may make a difference."""
    kinds = KINDS[holds]
    x = np.array([ROWS[rng.choice(["ones", "ones", "bits", "zeros", rng.choice(kinds)])](rng, d) for _ in range(n)])
    i, kind = int(rng.integers(n)), str(rng.choice(kinds))
    changed = x.copy()
    changed[i] = ROWS[kind](rng, d)
    return np.clip(x, -largest, largest), np.clip(changed, -largest, largest), i
