"""A few rows of a table as codes, cell by cell: what services predict.

For a row or two, columns of Arrow and calls of kernels take far longer than the cells. Here the cells of a column are
values of Python, and a column whose cells are plain (numbers in a column of numbers; texts that a column of values has
for itself, or that are plain words or numbers; missing cells) is read by look-ups. Every other column is read as in a
large table, by the readers of `dpfast.tables.encoding`, so a cell has the same code on both ways, or is refused by the
same error.
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.tables.arrow import Frame
from dpfast.tables.cells import is_word, last_numbers
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import Boolean, Category, Numeric, text_of
from dpfast.tables.discovered import Discovered, codes_by_facts
from dpfast.tables.encoding import READERS
from dpfast.tables.schema import Schema

MOST = 16  # rows
_EXACT = 1 << 53  # integers up to here are floats
_NUMBERS = {float, np.float64}
_INTEGERS = {int, *(np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64))}
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def is_few(X: Any) -> bool:
    """Return whether a table may be one of few rows of a plain kind: a look that costs nothing."""
    return type(X) is dict or (hasattr(X, "iloc") and len(X) <= MOST) or (type(X) is np.ndarray and len(X) <= MOST)


class FewRows:
    """Reader of at most MOST rows of tables of a schema that leaves nothing to be discovered.

    Parameters
    ----------
    schema : Schema
    """

    def __init__(self, schema: Schema):
        self.names = schema.names
        self._readers = [READERS[type(column)](column, schema.missing_values) for column in schema.columns]
        self._plain = [_plain_reader(reader) for reader in self._readers]
        code = [column for reader in self._readers for column in reader.code_columns]
        self.like = CodeTable.of_columns(code, 0)

    def read(self, X: Any, named: bool = True) -> CodeTable | None:
        """Return the codes of a table, or None if it is not one of few rows of a plain kind.

        Parameters
        ----------
        X : object
            Plain are a frame of pandas with the columns of the schema in this order, a dict of lists or arrays, and,
            unless columns are `named`, an array of numbers with one column for each of the schema.
        named : bool, default=True

        Returns
        -------
        CodeTable or None
        """
        columns = self._columns_of(X, named)
        if columns is None:
            return None
        frame, codes = None, []
        for name, cells, reader, plain in zip(self.names, columns, self._readers, self._plain, strict=True):
            read = None if cells is None or plain is None else [*map(plain, cells)]
            if read is None or None in read:
                if frame is None:
                    frame = Frame(dict(zip(self.names, X.T, strict=True)) if type(X) is np.ndarray else X)
                codes += [array.tolist() for array in reader(frame.column(name))]
            else:
                codes += zip(*read, strict=True)
        return self.like.with_rows(codes)

    def _columns_of(self, X, named):
        """Return the cells of each column as a list, or None for a column of another kind; None for another table."""
        if type(X) is dict:
            if not 0 < len(X) <= 2 * len(self.names) or not X.keys() >= {*self.names}:
                return None
            if {*map(type, X.keys())} != {str} or not {*map(type, X.values())} <= {list, np.ndarray}:
                return None
            if any(type(each) is np.ndarray and each.ndim != 1 for each in X.values()):
                return None
            lengths = {*map(len, X.values())}
            if len(lengths) > 1 or not 1 <= min(lengths) <= MOST:
                return None
            return [_cells(X[name]) for name in self.names]
        if type(X) is np.ndarray:
            fits = not named and X.ndim == 2 and 1 <= len(X) <= MOST and X.shape[1] == len(self.names)
            return [column.tolist() for column in X.T] if fits and X.dtype != object and _is_plain(X.dtype) else None
        pandas = named and type(X).__name__ == "DataFrame" and type(X).__module__.partition(".")[0] == "pandas"
        if not pandas or not 1 <= len(X) <= MOST or X.columns.tolist() != self.names:
            return None
        dtypes = X.dtypes.tolist()
        row = X.iloc[0] if len(X) == 1 else None
        if row is None or row.dtype != object:  # else of types that pandas converts to one, which may round numbers
            cells = X.to_numpy(object).T.tolist()
            return [each if _is_plain(dtype) else None for each, dtype in zip(cells, dtypes, strict=True)]
        return [
            ([cell.item()] if _is_number(dtype) else [cell]) if _is_plain(dtype) else None
            for cell, dtype in zip(row.tolist(), dtypes, strict=True)
        ]


def _cells(values: Any) -> list | None:
    """Return the cells of a list or an array of one dimension; None if they are of another kind than plain ones."""
    return values if type(values) is list else values.tolist() if _is_plain(values.dtype) else None


def _is_plain(dtype: Any) -> bool:
    """Return whether cells of this type of numpy or pandas are floats, integers, truth values, texts or objects."""
    if isinstance(dtype, np.dtype):
        halves = dtype == np.float16  # which versions of Arrow read or refuse, as columns
        return dtype.kind == "O" or (_is_number(dtype) and dtype.itemsize <= 8 and dtype.isnative and not halves)
    categories = getattr(dtype, "categories", None)
    return type(dtype).__name__ == "StringDtype" or (categories is not None and categories.inferred_type == "string")


def _is_number(dtype: Any) -> bool:
    """Return whether this is a type of numpy for floats, integers or truth values."""
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def _plain_reader(reader: Any) -> Callable[[Any], tuple | None] | None:
    """Return the function from plain cells to their codes in each column of codes, and from others to None."""
    column = reader.column
    if isinstance(column, Category | Boolean):
        return _of_values(reader)
    if isinstance(column, Numeric):
        (code,) = reader.code_columns
        missing = (code.missing,) if column.nullable else None
        return None if reader.marks else _of_numbers([[*code.edges]], missing)
    if isinstance(column, Discovered) and column.reads == "text":
        return _of_texts(reader)
    numbers = isinstance(column, Discovered) and column.reads != "date"
    if numbers and not reader.marks and all(code.ordered and not code.dates for code in reader.code_columns):
        edges = [last_numbers(code.edges).tolist() for code in reader.code_columns]
        return _of_numbers(edges, tuple(code.missing for code in reader.code_columns))
    return None


def _of_numbers(edges: list, missing: tuple | None) -> Callable[[Any], tuple | None]:
    def codes(cell):
        kind = type(cell)
        if cell is None or (kind in _NUMBERS and cell != cell):
            return missing
        if kind not in _NUMBERS and (kind not in _INTEGERS or not -_EXACT <= cell <= _EXACT):
            return None
        number = float(cell)
        return tuple([bisect_left(each, number) for each in edges])

    return codes


def _of_values(reader: Any) -> Callable[[Any], tuple | None]:
    """Return the reader of cells of declared values, by the texts that the values are."""
    (code,), column = reader.code_columns, reader.column
    texts = column.values or ("false", "true")
    codes_of_words = {text: (reader._code(text),) for text in texts if text not in reader.marks}
    missing = (code.missing,) if column.nullable else None

    def codes(cell):
        if type(cell) is str:
            return codes_of_words.get(cell)
        if cell is None or (type(cell) in _NUMBERS and cell != cell):
            return missing
        return codes_of_words.get(text_of(cell)) if type(cell) is bool else None

    return codes


def _of_texts(reader: Any) -> Callable[[Any], tuple | None]:
    """Return the reader of texts of a discovered column: words, numbers as they are usually written, and gaps."""
    words = sorted({word for code in reader.code_columns for word in code.values or ()} - {*reader.marks})
    read = [codes.tolist() for codes in reader(pa.array([*words, None], pa.large_string()))]
    *of_words, missing = zip(*read, strict=True)
    codes_of_words = dict(zip(words, of_words, strict=True))
    edges = [last_numbers(code.edges).tolist() for code in reader.code_columns if code.ordered and not code.dates]
    numeric = len(edges) == len(reader.code_columns) and not reader.marks
    others = [codes_by_facts(code)[1] or (lambda _, code=code: code.missing) for code in reader.code_columns]

    def codes(cell):
        if cell is None or (type(cell) in _NUMBERS and cell != cell):
            return missing
        if type(cell) is not str:
            return None
        if numeric and _PLAIN_NUMBER.fullmatch(cell):
            return tuple([bisect_left(each, float(cell)) for each in edges])
        if cell in codes_of_words or cell in reader.marks or not is_word(cell):
            return codes_of_words.get(cell)
        return tuple([int(of_word(cell)) for of_word in others])

    return codes
