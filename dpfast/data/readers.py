"""Tables from files: CSV, Parquet, svmlight and NumPy, or a bundled data set by name."""

import csv
import gzip
import sys
import zipfile
import zlib
from contextlib import nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dpfast.data.bit_matrix import BitMatrix
from dpfast.data.datasets import load_dataset
from dpfast.data.entries import Entries, Gathered, are_bits, block_rows, from_dense, from_sparse
from dpfast.data.labels import MISSING, Labels, tidy_labels
from dpfast.data.parquet_rows import ParquetRows, holds_numbers, pyarrow, refuse_missing

_ENDINGS = (".csv", ".tsv", ".parquet", ".svm", ".svmlight", ".libsvm", ".npz")
_WANTED_NAME = f"the name of a file to read must end in one of {', '.join(_ENDINGS)}"
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
_LARGE = 1 << 30  # bytes
_NOT_LABELS = {"X", "feature_names", "data", "indices", "indptr", "format", "shape", "_is_array"}


class Table(NamedTuple):
    """What a file holds; `feature_names` is None if it names no columns, `y` if no labels were asked for."""

    X: BitMatrix | np.ndarray | sp.csr_matrix | ParquetRows
    y: np.ndarray | None
    feature_names: list | None


def read_table(
    path,
    *,
    label=None,
    needs_label=False,
    threshold=None,
    values="bits",
    limits=None,
    may_stay=False,
    n_features=None,
):
    """Read a table and its labels; the kind of file is known by its ending.

    ===========================  ======================================================================
    .csv, .tsv (and .gz)         a header row, then numbers or true/false; UTF-8
    .parquet                     numbers or booleans; needs pyarrow: ``pip install 'dpfast[parquet]'``
    .svm, .svmlight, .libsvm     feature numbers from 1, the label first (and .gz)
    .npz                         ``X`` or a scipy sparse matrix; ``y`` and ``feature_names`` if present
    no ending                    a bundled data set, as in `dpfast.load_dataset`
    ===========================  ======================================================================

    Parameters
    ----------
    path : str or path-like
    label : str, optional
        The column of a CSV or Parquet file, or the array of an .npz file ("y" by default), that holds the labels.
    needs_label : bool, default=False
        Refuse a file of unknown labels, by naming its columns.
    threshold : None, float or array_like of float, shape (d,)
        As in `dpfast.BitMatrix`: an entry becomes the bit ``x > threshold``. There are bits then, whatever `values`
        says.
    values : {"bits", "numbers", "either"}, default="bits"
        "bits" gives a BitMatrix, and without a threshold accepts 0 and 1 only; "numbers" gives float32, or floats as
        an .npz file stores them, and CSR for what is stored sparse; "either" gives a BitMatrix if all entries are 0 or
        1 and are not stored sparse, else numbers.
    limits : pair of float, optional
        What numbers must lie between; those that are stored, of a sparse table.
    may_stay : bool, default=False
        Whether a Parquet file of numbers may stay on disk: it does, as `ParquetRows` of which 1 GB is kept, if it
        has more than that as float32 and row groups of less. Then missing values and NaN are refused by who reads
        the blocks.
    n_features : int, optional
        Columns of an svmlight file, which shows only those it uses; other files show theirs.

    Returns
    -------
    Table
        X : BitMatrix, ndarray, CSR matrix or ParquetRows, shape (n, d)
        y : ndarray, shape (n,), of int64 if all labels are integers, else of str
        feature_names : list of str

    Raises
    ------
    ValueError, OSError
        For a file that is missing, damaged, ragged or holds something else; names the place and what was seen there.
    ImportError
        For a Parquet file without pyarrow.

    Notes
    -----
    Text and Parquet files are read by blocks of a few MB; besides these, bits take n d / 8 bytes, twice that at the
    end, and numbers 4 n d.
    """
    entries = Entries(values, threshold, limits)
    path = Path(path)
    ending = _ending(path)
    if not ending:
        return _bundled(path, label, entries)
    if ending not in _ENDINGS:
        raise ValueError(f"{path}: {_WANTED_NAME}")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    if ending == ".parquet":
        return _parquet(path, label, needs_label, entries, may_stay)
    if ending == ".npz":
        return _npz(path, label, needs_label, entries)
    if ending in (".csv", ".tsv"):
        return _text(path, label, needs_label, entries, "," if ending == ".csv" else "\t")
    return _svmlight(path, label, entries, n_features)


def _ending(path):
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def read_steps(path, size, classes, *, label=None, threshold=None, values="bits", limits=None, skip=0):
    """Read a table a few rows at a time, in order, each step as soon as its rows are there.

    Parameters
    ----------
    path : str or path-like
        As in `read_table`, or "-" for a CSV table from standard input.
    size : int
        Rows of a step; the last one may have fewer.
    classes : sequence of str
        All labels there may be.
    label, threshold, values, limits
        As in `read_table`; labels are needed, and "either" is refused: steps are of one kind.
    skip : int, default=0
        Rows to leave out at the beginning.

    Yields
    ------
    Table
        Labels are integers if all classes are, else str.

    Raises
    ------
    ValueError, OSError, ImportError
        As `read_table`, and for another label, or fewer rows than are to be left out.

    Notes
    -----
    CSV and TSV are held a step at a time, other kinds as a whole.
    """
    if values == "either":
        raise ValueError('values must be "bits" or "numbers", got "either"')
    entries = Entries(values, threshold, limits)
    piped, path = str(path) == "-", Path(path)
    ending = ".csv" if piped else _ending(path)
    if ending not in (".csv", ".tsv") or not (piped or path.is_file()):
        X, y, names = read_table(path, label=label, needs_label=True, threshold=threshold, values=values, limits=limits)
        if len(y) < skip:
            raise ValueError(f"{path}: {_fewer(len(y), skip)}")
        y = _declared(y, classes, 0)
        for start in range(skip, len(y), size):
            yield Table(X[start : start + size], y[start : start + size], names)
        return
    source = "standard input" if piped else path
    if piped:
        sys.stdin.reconfigure(encoding="utf-8-sig")
    delimiter = "," if ending == ".csv" else "\t"
    try:
        with nullcontext(sys.stdin) if piped else _opened(path) as file:
            names = _header(file, delimiter, label, needs_label=True)
            rows = (line for line in file if line.strip())
            seen = sum(1 for _ in islice(rows, skip))
            if seen < skip:
                raise ValueError(_fewer(seen, skip))
            while lines := list(islice(rows, size)):
                labels = Labels()
                try:
                    X = _from_text(iter(lines), delimiter, names, label, labels, entries, lambda: size)
                except ValueError:
                    _find_fault(lines, "row", seen, delimiter, names, label, entries)
                    raise
                yield Table(X, _declared(labels.array(), classes, seen), _features(names, label))
                seen += len(lines)
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not UTF-8 text: {error}") from None
    except (ValueError, EOFError, csv.Error, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{source}: {error}") from None


def _declared(y, classes, before):
    """Labels in the type of the classes; refuse others by their row."""
    y, classes = y.astype(str), tidy_labels(classes)
    unknown = np.flatnonzero(~np.isin(y, classes.astype(str)))
    if unknown.size:
        label = str(y[unknown[0]])
        raise ValueError(f"row {before + unknown[0] + 1} has the label {label!r}, the classes are {_some(classes)}")
    return y.astype(classes.dtype)


def _fewer(there, skip):
    return f"{skip:,} rows were to be left out, there are {there:,}; see --new-rows"


def _bundled(path, label, entries):
    if path.exists():
        raise ValueError(f"{path}: {_WANTED_NAME}")
    try:
        data = load_dataset(str(path))
    except ValueError as error:
        raise FileNotFoundError(f"{path}: no bundled data set ({error}); {_WANTED_NAME}") from None
    _has_its_labels(path, label)
    names = list(data.feature_names)
    bits = entries.values != "numbers"
    X = BitMatrix(data.data, feature_names=names) if bits else from_sparse(data.data, entries, names)
    return Table(X, tidy_labels(data.target), names)


def _svmlight(path, label, entries, n_features):
    from sklearn.datasets import load_svmlight_file

    _has_its_labels(path, label)
    try:
        dtype = np.float64 if entries.values == "bits" else np.float32
        X, y = load_svmlight_file(path, n_features=n_features, dtype=dtype, zero_based=False)
        return Table(from_sparse(X, entries), tidy_labels(y), None)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if "Invalid index 0" in str(error):
            error = "the number 0 is used for a feature; in this format they start at 1"
        raise ValueError(f"{path}: {error}") from None


def _npz(path, label, needs_label, entries):
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("this is not a whole .npz file (cut short?)")
        with np.load(path, allow_pickle=False) as stored:
            names = _stored_names(stored["feature_names"]) if "feature_names" in stored else None
            if (label or needs_label) and (label or "y") not in stored:
                arrays = [name for name in stored.files if name not in _NOT_LABELS]
                raise ValueError(_no_label(label or "y", arrays, "array"))
            label = label or "y"
            y = tidy_labels(stored[label]) if label in stored else None
            if "format" in stored:
                X = from_sparse(_numeric(sp.load_npz(path), names), entries, names)
            elif "X" in stored:
                X = from_dense(_numeric(stored["X"], names), entries, names)
            else:
                raise ValueError(
                    f"there is neither an array X nor a sparse matrix, only {', '.join(stored.files) or 'nothing'}"
                )
        if y is not None and y.shape != X.shape[:1]:
            raise ValueError(f"{label!r} must hold a label for each of {X.shape[0]} rows, got shape {y.shape}")
        return Table(X, y, names)
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path}: {error}") from None


def _stored_names(names):
    """Names stored as text, or as one UTF-8 blob with a name a line."""
    return names.tobytes().decode().split("\n") if names.dtype.kind in "iu" else names.astype(str).tolist()


def _numeric(X, names):
    """X, refused if it is no table of numbers or has other columns than there are names."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"X must be a two-dimensional array of numbers, got {X.dtype} of shape {X.shape}")
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"feature_names must number {X.shape[1]}, got {len(names)}")
    return X


def _parquet(path, label, needs_label, entries, may_stay):
    lib, parquet = pyarrow(path)
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_names(names, label, needs_label)
            for field in file.schema_arrow:
                if field.name != label and not holds_numbers(field):
                    raise ValueError(f"column {field.name!r} holds {field.type}; {entries.wanted}")
            features = _features(names, label)
            stays = may_stay and entries.values != "bits" and _is_large(file.metadata, len(features))
            if stays and entries.values == "either":
                stays = not all(are_bits(block).all() for block in _columns(_batches(file), label, Labels()))
            if not stays:
                labels, gathered = Labels(), Gathered(entries, features, lambda: file.metadata.num_rows)
                for block in _columns(_batches(file), label, labels):
                    gathered.add(block)
                return Table(gathered.table(), None if label is None else labels.array(), features)
    except lib.ArrowException as error:
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    rows = ParquetRows(path, label=label, keep=_LARGE)
    return Table(rows, None if label is None else rows.labels(), features)


def _is_large(metadata, d):
    """Whether a Parquet file of numbers should stay on disk, and can."""
    rows = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    return 4 * sum(rows) * d > _LARGE > 4 * max(rows) * d


def _batches(file):
    return file.iter_batches(batch_size=block_rows(len(file.schema_arrow)))


def _columns(batches, label, labels):
    """Blocks of features from Parquet; labels go to `labels`."""
    row = 0
    for batch in batches:
        features = []
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            refuse_missing(name, column, row)
            if name == label:
                for value in column.to_pylist():
                    labels.add(value)
            else:
                features.append(column.to_numpy(zero_copy_only=False))
        row += len(batch)
        yield np.stack(features, axis=1)


def _text(path, label, needs_label, entries, delimiter):
    labels = Labels()

    def lines():
        with _opened(path) as file:
            return sum(1 for _ in file)

    try:
        with _opened(path) as file:
            names = _header(file, delimiter, label, needs_label)
            try:
                X = _from_text(file, delimiter, names, label, labels, entries, lines)
            except ValueError:
                with _opened(path) as again:
                    header = csv.reader(again, delimiter=delimiter)
                    next(header)
                    _find_fault(again, "line", header.line_num, delimiter, names, label, entries)
                raise
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error}") from None
    except (ValueError, EOFError, csv.Error, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path}: {error}") from None
    return Table(X, None if label is None else labels.array(), _features(names, label))


def _header(file, delimiter, label, needs_label):
    """The names of the columns."""
    names = [name.strip() for name in next(csv.reader(file, delimiter=delimiter), [])]
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        what = "tabs" if delimiter == "\t" else "commas"
        raise ValueError(f"the header row is one column, {names[0]!r}; columns must be separated by {what}")
    _check_names(names, label, needs_label)
    return names


def _features(names, label):
    return [name for name in names if name != label]


def _from_text(lines, delimiter, names, label, labels, entries, rows):
    """The table of lines of text, `rows()` of them at most; labels go to `labels`."""
    gathered = Gathered(entries, _features(names, label), rows)
    try:
        for block in _numbers(lines, delimiter, names, label, labels):
            gathered.add(block)
    except ValueError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # np.loadtxt hides one that meets a converter
            raise error.__cause__ from None
        raise
    return gathered.table()


def _opened(path):
    """A text file, compressed or not, with or without the mark that spreadsheets put first."""
    return (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig")


def _numbers(file, delimiter, names, label, labels):
    """Blocks of features from text; labels go to `labels`."""
    lines = (line for line in file if line.strip())
    first = next(lines, "")
    cells = enumerate(next(csv.reader([first], delimiter=delimiter), []))
    converters = {j: _truth for j, cell in cells if cell.strip().lower() in ("true", "false")}
    where = [] if label is None else [names.index(label)]
    for j in where:
        converters[j] = lambda cell: labels.add(cell.strip())
    lines = chain([first] if first else [], lines)
    for line in lines:  # so that no block is empty
        block = np.loadtxt(
            chain([line], lines),
            delimiter=delimiter,
            converters=converters or None,
            ndmin=2,
            encoding="utf-8",
            comments=None,
            quotechar='"',
            max_rows=block_rows(len(names)),
        )
        if block.shape[1] != len(names):
            raise ValueError(f"rows have {block.shape[1]} cells, the header row {len(names)}")
        yield np.delete(block, where, axis=1)


def _truth(cell):
    try:
        return _TRUTH[cell.strip().lower()]
    except KeyError:
        raise ValueError(f"{cell!r} is neither true nor false") from None


def _find_fault(lines, unit, before, delimiter, names, label, entries):
    """Raise for the first cell that will not do, by its place; slow, for lines that have one."""
    rows = csv.reader(lines, delimiter=delimiter)
    truths = None
    for row in rows:
        line = f"{unit} {before + rows.line_num}"
        if not "".join(row).strip() and len(row) <= 1:
            continue
        if len(row) != len(names):
            raise ValueError(f"{line} has {len(row)} cells, the header row {len(names)}")
        cells = [cell.strip() for cell in row]
        truths = truths or [cell.lower() in ("true", "false") for cell in cells]
        for name, cell, truth in zip(names, cells, truths, strict=True):
            place = f"{line}, column {name!r}"
            if not cell:
                raise ValueError(f"{place} is empty; {MISSING}")
            if name == label:
                continue
            if not _fits(cell, entries):
                raise ValueError(f"{place} holds {cell!r}; {entries.wanted}")
            if truth != (cell.lower() in ("true", "false")) and not (truth and cell in _TRUTH):
                raise ValueError(f"{place} holds {cell!r}; a column of true and false has nothing else")


def _fits(cell, entries):
    try:
        value = _TRUTH[cell.lower()] if cell.lower() in _TRUTH else float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell and bool(entries.fit(np.float64(value)))


def _check_names(names, label, needs_label):
    if not names:
        raise ValueError("the file is empty; the first row must name the columns")
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} has no name; name it, or leave it out if it numbers the rows")
    seen = set()
    twice = next((name for name in names if name in seen or seen.add(name)), None)
    if twice is not None:
        hint = "; the first row must name the columns" if all(name.isdecimal() for name in names) else ""
        raise ValueError(f"two columns have the name {twice!r}{hint}")
    if needs_label and label is None:
        raise ValueError(f"say which column holds the labels (--label); there is {_some(names)}")
    if label is not None and label not in names:
        raise ValueError(_no_label(label, names, "column"))
    if len(names) - (label is not None) < 1:
        raise ValueError("there is no column besides the label")


def _no_label(label, names, what):
    return f"there is no {what} {label!r} to take labels from; there is {_some(names) or 'none'}"


def _some(names):
    return ", ".join(map(str, names[:8])) + (f", ... ({len(names)} in all)" if len(names) > 8 else "")


def _has_its_labels(path, label):
    if label is not None:
        raise ValueError(f"{path}: the labels of this kind of file have no name; leave out the label {label!r}")
