"""Readers of files, chosen by the ending of the name: CSV, Parquet, svmlight and NumPy, or a bundled data set."""

import math
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpfast.files import csv, npz, parquet, svmlight
from dpfast.files.datasets import load_dataset
from dpfast.files.entries import Entries, from_sparse
from dpfast.files.names import (
    WANTED_NAME,
    check_names,
    features_of,
    is_workbook,
    kind_of,
    open_expanded,
    refuse_label,
    separator_of,
)
from dpfast.parts.blocks import Spool
from dpfast.tables.arrays import narrowest, take_entries
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.classes import class_numbers, tidy_labels
from dpfast.tables.label_columns import LabelColumn
from dpfast.tables.labels import missing_labels, number_labels
from dpfast.tables.naming import listed


class FileTable(NamedTuple):
    """The content of a file; `feature_names` is None if columns have no names, `y` if no labels were requested."""

    X: Any
    y: np.ndarray | LabelColumn | None
    feature_names: list | None


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    needs_label: bool = False,
    threshold: ArrayLike | None = None,
    values: str = "bits",
    limits: Sequence[float] | None = None,
    n_features: int | None = None,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    sheet: str | None = None,
    skip_lines: int = 0,
    memory: int | None = None,
    scratch: str | os.PathLike[str] | None = None,
) -> FileTable:
    """Read a table and its labels; the ending of the name determines the type of file.

    ===========================  ======================================================================
    .csv, .tsv, .txt, .data      a header row, then numbers or true/false (and .gz, .bz2, .zst)
    .xlsx, .xlsm, .xls, .ods     one sheet of a workbook, read like a CSV file, by python-calamine
    .parquet                     numbers or booleans; a folder or a pattern of files is one table
    .svm, .svmlight, .libsvm     feature numbers from 1, the label first (and .gz, .bz2, .zst)
    .npz                         ``X`` or a scipy sparse matrix; ``y`` and ``feature_names`` if present
    no ending                    a bundled data set, as in `dpfast.load_dataset`
    ===========================  ======================================================================

    Parameters
    ----------
    path : str or path-like
    label : str, optional
        The column of a CSV or Parquet file, or the array of an .npz file ("y" by default), that holds the labels.
    needs_label : bool, default=False
        Whether to refuse a file without known labels; the message lists its columns.
    threshold : None, float or array_like of float, shape (d,)
        As in `dpfast.BitMatrix`: an entry becomes the bit ``x > threshold``. With a threshold entries become bits,
        whatever `values` is.
    values : {"bits", "numbers", "either"}, default="bits"
        "bits" returns a BitMatrix, and without a threshold accepts 0 and 1 only. "numbers" returns float32, or floats
        as stored in an .npz file, and CSR for sparse tables. "either" returns a BitMatrix if the types of a file are
        boolean (those of all columns of a Parquet file, or of an array) and for a bundled data set; else numbers.
    limits : pair of float, optional
        The range of valid numbers; for a sparse table, of the stored ones.
    n_features : int, optional
        The number of columns of an svmlight file; other files contain it. By default it is read off the rows, as the
        largest number of a feature.
    separator : str, optional
        The separator of the cells of a CSV file: by default a comma, a tab for .tsv.
    decimal : str, default="."
        The decimal mark of a CSV file.
    encoding : str, default="utf-8"
        The encoding of a CSV file.
    sheet : str, optional
        The sheet of a workbook; by default the only one.
    skip_lines : int, default=0
        The number of lines before the header of a CSV file, such as titles and comments.
    memory : int, optional
        The number of bytes of numbers of CSV and Parquet files that may be kept in memory; the others go to a scratch
        file as those of `dpfast.FileParts` do. By default all are kept.
    scratch : str or path-like, optional
        The folder of the scratch file; by default that of temporary files.

    Returns
    -------
    FileTable
        X : BitMatrix, ndarray or CSR matrix, shape (n, d)
        y : of the type of the column, shape (n,), and of str for files whose cells have no type (CSV, svmlight):
        ndarray, or a `LabelColumn`, which keeps each spelling once, also those that mark a missing label;
        ``numpy.asarray`` makes an array of either
        feature_names : list of str

    Raises
    ------
    ValueError, OSError
        If a file is missing, damaged, ragged or has other content; the message names the place and what was found.

    Notes
    -----
    Text and Parquet files are read in blocks of a few MB. In addition, bits take n d / 8 bytes, twice that at the end,
    and numbers take 4 n d bytes.
    """
    entries, spool = Entries(values, threshold, limits), Spool(math.inf if memory is None else memory, scratch)
    path = Path(path)
    kind = kind_of(path)
    if kind == "bundled":
        return _read_bundled(path, label, entries)
    if kind == "parquet":
        return FileTable(*parquet.table_of(path, label, needs_label, entries, spool))
    if kind == "npz":
        return FileTable(*npz.table_of(path, label, needs_label, entries))
    if kind == "svmlight":
        X, y = svmlight.table_of(path, label, entries, n_features)
        return FileTable(X, y, None)
    with csv.faults_of(path):
        text = {"separator": separator or separator_of(path), "decimal": decimal, "encoding": encoding, "sheet": sheet}
        text |= {"skip_lines": skip_lines}
        file = csv.CsvFile(path, **text)
        check_names(file.names, label, needs_label)
        X, labels = csv.table_of(file, label, entries.resolve(False), spool)
        return FileTable(X, None if label is None else labels.column(), features_of(file.names, label))


def read_steps(
    path, size, classes, *, label=None, threshold=None, values="bits", limits=None, skip=0, n_features=None, **text
):
    """Yield a `FileTable` of `size` rows at a time, in order, each as soon as its rows are there, after `skip` rows.

    The arguments are those of `read_table`; the path "-" is a CSV table from standard input. `classes` are all possible
    labels, as texts; labels are integers if all of these are. CSV files are held a step at a time, others as a whole.
    """
    if values == "either":
        raise ValueError('values must be "bits" or "numbers", got "either"')
    entries = Entries(values, threshold, limits)
    path = Path(path)
    if str(path) != "-" and (kind_of(path) != "csv" or is_workbook(path)):
        reads = {"label": label, "needs_label": True, "threshold": threshold, "values": values, "limits": limits}
        X, y, names = read_table(path, **reads, n_features=n_features, **text)
        if len(y) < skip:
            raise ValueError(f"{path}: {too_few_rows(len(y), skip)}")
        y = _as_declared(y, classes, 0)
        for start in range(skip, len(y), size):
            yield FileTable(X[start : start + size], y[start : start + size], names)
        return
    with csv.faults_of(name_for_messages(path)):
        for part, rows_before in csv_steps(path, size, skip, label, **text):
            X, labels = csv.table_of(part, label, entries, Spool())
            yield FileTable(X, _as_declared(labels.column(), classes, rows_before), features_of(part.names, label))


def name_for_messages(path):
    """Return the name of an input file for messages."""
    return "standard input" if str(path) == "-" else path


def csv_steps(
    path, size, skip, label, *, separator=None, decimal=".", encoding="utf-8", dates=None, sheet=None, skip_lines=0
):
    """Yield a CSV file, or standard input for "-", a few rows at a time: a `CsvFile` and the rows before it."""
    csv.check_settings(skip_lines=skip_lines)
    separator = csv.SEPARATORS.get(separator, separator) or separator_of(Path(path))
    with (
        nullcontext(sys.stdin.buffer) if str(path) == "-" else open_expanded(path) as file,
        csv.lines_of(file, encoding) as lines,
    ):
        names, _, separator = csv.header_of(islice(lines, skip_lines, None), separator, decimal)
        check_names(names, label, needs_label=True)
        rows = csv.records_of(lines, names, separator)
        rows_before = sum(1 for _ in islice(rows, skip))
        if rows_before < skip:
            raise ValueError(too_few_rows(rows_before, skip))
        while step := list(islice(rows, size)):
            content = "".join(step).encode()
            own = {"separator": separator, "decimal": decimal, "dates": dates, "sheet": sheet, "names": names}
            yield csv.CsvFile(content, before=rows_before, **own), rows_before
            rows_before += len(step)


def _as_declared(y, classes, before):
    """Return labels as the declared classes, whose texts are `classes`; refuse others, and name their row."""
    classes = tidy_labels(classes)
    numbers, identities = number_labels(y, missing_labels(classes))
    codes = class_numbers(identities, classes, -1)
    lost = np.array([*(code < 0 for code in codes), False])[numbers]
    if lost.any():
        row = int(np.argmax(lost))
        raise ValueError(f"row {before + row + 1} has another label than the classes, which are {listed(classes)}")
    return LabelColumn(take_entries(np.array([*codes, -1], narrowest(len(classes))), numbers), classes)


def too_few_rows(there, skip):
    """Return the message for a stream that has read more rows than a file has."""
    return f"{skip:,} rows should be skipped, but there are only {there:,}; see --new-rows"


def _read_bundled(path, label, entries):
    if path.exists():
        raise ValueError(f"{path}: {WANTED_NAME}")
    try:
        data = load_dataset(str(path))
    except ValueError as error:
        raise FileNotFoundError(f"{path}: no bundled data set ({error}); {WANTED_NAME}") from None
    refuse_label(path, label)
    names = list(data.feature_names)
    entries = entries.resolve(True)
    bits = entries.values == "bits"
    X = BitMatrix(data.data, feature_names=names) if bits else from_sparse(data.data, entries, names)
    return FileTable(X, tidy_labels(data.target), names)
