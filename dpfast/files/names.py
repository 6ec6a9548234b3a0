"""Parts that all readers of files share: names of files and columns, labels, and bounds on lines and expansion."""

import bz2
import glob
import gzip
import io
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.arrow import ArrayStore, TextStore
from dpfast.tables.columns import first_repeated, text_of
from dpfast.tables.label_columns import LabelColumn, text_array
from dpfast.tables.label_kinds import as_type, kind_of_arrow
from dpfast.tables.naming import listed, not_there
from dpfast.tables.objects import is_missing


def check_names(names, label, needs_label):
    """Refuse invalid names, and names that lack the label."""
    if not names:
        raise ValueError("the file is empty; the first row must name the columns")
    nul = next((name for name in names if "\0" in name), None)
    if nul is not None:
        raise ValueError(f"the name {nul!r} of column {names.index(nul) + 1} has a NUL in it")
    if (twice := first_repeated(names)) is not None:
        raise ValueError(f"two columns have the name {twice!r}; the first row must name the columns")
    if needs_label and label is None:
        raise ValueError(f"say which column holds the labels (--label); the columns are {listed(names)}")
    if label is not None and label not in names:
        raise ValueError(not_there(label, names))
    if len(names) - (label is not None) < 1:
        raise ValueError("there is no column besides the label")


def distinguish_names(names):
    """Return different names: of columns without a name their places, and numbers behind repeated names.

    Numbers are left as they are, since a header of numbers is rather a row.
    """
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    if all(name.isdecimal() for name in names):
        return names
    distinct: dict[str, None] = {}
    used, last = {*names}, dict.fromkeys(names, 1)
    for name in names:
        new = name
        while new in distinct or (new != name and new in used):
            last[name] += 1
            new = f"{name} ({last[name]})"
        distinct[new] = None
    return [*distinct]


def features_of(names, label):
    return [name for name in names if name != label]


def refuse_label(path, label):
    """Refuse a label for a type of file whose labels have no name."""
    if label is not None:
        raise ValueError(f"{path}: the labels of this kind of file have no name; leave out the label {label!r}")


_SPARSE = (".svm", ".svmlight", ".libsvm")
_TEXT = (".csv", ".tsv", ".txt", ".data", ".dat")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ENDINGS = (*_TEXT, ".parquet", *_SPARSE, ".npz", *_WORKBOOKS)
WANTED_NAME = (
    f"the name of a file to read must end in one of {', '.join(_ENDINGS)}, or for text in one of these and .gz, .bz2 "
    "or .zst; save other tables as CSV or Parquet"
)
_PACKED = (".zip", ".xz", ".7z", ".tar", ".tgz", ".rar")
_BY_PANDAS = {  # how pandas reads tables of other kinds
    ".dta": "read_stata({!r})",
    ".sav": "read_spss({!r})",
    ".sas7bdat": "read_sas({!r})",
    ".xpt": "read_sas({!r})",
    ".json": "read_json({!r})",
    ".jsonl": "read_json({!r}, lines=True)",
    ".feather": "read_feather({!r})",
    ".orc": "read_orc({!r})",
    ".pkl": "read_pickle({!r})",
}
LONGEST_LINE = 1 << 27  # bytes, where a format says nothing smaller
_EXPANDED = {  # by the ending of a name
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".zst": lambda file: pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"),
}
EXPANSION, ALWAYS = 400, 1 << 28  # a compressed file may have so many times its bytes, and 256 MB in any case


@contextmanager
def open_expanded(path):
    """Return the file, expanded if its name ends as that of a compressed one; reading beyond its bounds is refused."""
    path = Path(path)
    with open(path, "rb") as file:
        expand = _EXPANDED.get(path.suffix)
        if expand is None:
            yield Lines(file)
            return
        with expand(file) as expanded:
            yield Lines(_Bounded(expanded, max(ALWAYS, EXPANSION * path.stat().st_size)))


def check_expansion(expanded, stored):
    """Refuse a table of so many bytes if the file that contains it is too small for that."""
    if expanded > max(ALWAYS, EXPANSION * stored):
        raise ValueError(f"the file expands to {expanded:,} bytes, more than {EXPANSION} times its size")


class Lines(io.BufferedReader):
    """A file with lines of bounded length."""

    def __init__(self, file):
        super().__init__(file if isinstance(file, io.RawIOBase) else file.raw, 1 << 16)

    def __next__(self):
        line = self.readline(LONGEST_LINE)
        if not line:
            raise StopIteration
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise ValueError(f"a line has more than {LONGEST_LINE:,} bytes")
        return line


class _Bounded(io.RawIOBase):
    """A file that is not read beyond a number of bytes."""

    def __init__(self, file, most):
        self._file, self._n_left, self._most = file, most, most

    def readable(self):
        return True

    def readinto(self, buffer):
        try:
            data = self._file.read(len(buffer))
        except gzip.BadGzipFile:
            raise
        except OSError as error:
            raise ValueError(f"it cannot be expanded: {error}") from None
        self._n_left -= len(data)
        if self._n_left < 0:
            raise ValueError(f"the file expands to more than {self._most:,} bytes, {EXPANSION} times its size")
        buffer[: len(data)] = data
        return len(data)


FILL_OR_DROP = "fill missing values in, or leave the row out"
LONGEST = 1000  # characters of a label


class NotNumbers(ValueError):
    """A cell or a column that is read only where a schema declares it, or where it is discovered."""


class LabelReader:
    """Reader of labels, some rows at a time, in the type of their column; None is for cells of files without types."""

    def __init__(self, kind: pa.DataType | None):
        self._store, self._kind = TextStore(ArrayStore), None if kind is None else kind_of_arrow(kind)

    def add(self, column: pa.Array):
        """Add the labels of some rows; a null is no label."""
        if not pa.types.is_dictionary(column.type):
            column = pc.dictionary_encode(column)
        spellings = [_spelling(value) for value in column.dictionary.to_pylist()]
        numbers = column.indices.cast(pa.int32()).fill_null(-1)
        self._store.append((numbers.to_numpy(zero_copy_only=False), spellings))

    def column(self) -> LabelColumn:
        """Return the labels of all rows. Marks of missing labels are texts."""
        numbers, spellings = self._store.read_all()
        return LabelColumn(numbers, np.asarray(as_type(text_array(spellings), self._kind)), self._kind)


def _spelling(value):
    """Return a label as text; None if it is missing, and refuse a long one."""
    if is_missing(value):
        return None
    spelling = text_of(value)
    if len(spelling.strip()) > LONGEST:
        raise ValueError(f"a label has {len(spelling.strip()):,} characters, it has at most {LONGEST}")
    return spelling


def kind_of(path):
    """Return "csv", also for workbooks, "parquet", "npz", "svmlight" or "bundled".

    Other names, and files that do not exist, are refused.
    """
    ending = _without_compression(path).suffix.lower()
    if path.is_dir() and not ending:
        ending = ".parquet"
    if not ending and not path.is_file():
        return "bundled"
    if ending not in _ENDINGS:
        raise ValueError(f"{path}: {WANTED_NAME}{_how_to_save(path)}")
    if not path.is_file() and not (ending == ".parquet" and (path.is_dir() or glob.glob(str(path)))):
        raise FileNotFoundError(f"{path}: there is no such file")
    kinds = dict.fromkeys((*_TEXT, *_WORKBOOKS), "csv") | {".parquet": "parquet", ".npz": "npz"}
    return kinds.get(ending, "svmlight")


def _how_to_save(path):
    """Return what to do about a file of another kind that is known by the ending of its name, else nothing."""
    if path.suffix.lower() in _PACKED:
        return "; expand this one first, or compress it by gzip"
    if (read := _BY_PANDAS.get(path.suffix.lower())) is None:
        return ""
    return f", as by pandas.{read.format(path.name)}.to_parquet({path.stem + '.parquet'!r})"


def is_workbook(path):
    """Return whether the name of a file is that of a workbook, whose sheets are read as text."""
    return path.suffix.lower() in _WORKBOOKS


def is_svmlight(path):
    """Return whether the name of a file is that of an svmlight file."""
    return _without_compression(path).suffix.lower() in _SPARSE


def _without_compression(path):
    return path.with_suffix("") if path.suffix in _EXPANDED else path


def separator_of(path):
    """Return the separator of the cells of a text file, by the ending of its name."""
    return "\t" if ".tsv" in path.name.lower() else ","


def paths_of(path):
    """Return the files that a path stands for: itself, those of a folder, or those of a pattern."""
    path = Path(path)
    if path.is_file():
        return [path]
    matches = path.glob("*.parquet") if path.is_dir() else map(Path, glob.glob(str(path)))
    paths = sorted(each for each in matches if each.is_file())
    if not paths:
        raise FileNotFoundError(f"{path}: there is no such file")
    return paths
