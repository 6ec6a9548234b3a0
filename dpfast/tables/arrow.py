"""Columns of any table as Arrow arrays, Arrow arrays as numbers, texts and days, and storage for them.

Each value is mapped by itself. An invalid cell is refused as a `Fault` with its row and type; the cell itself is not
repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.parts.blocks import slices
from dpfast.tables.arrays import is_spark, narrowest, refuse_plan, with_text_names
from dpfast.tables.arrow_types import (
    DAY_TYPES,
    NUMBER_TYPES,
    TIME_TYPES,
    are_plain_numbers,
    as_ordinary,
    reads_of,
    seconds_or_hours,
    without_byte_order,
)
from dpfast.tables.cells import (
    FIXED,
    MISSING,
    all_numbers,
    compact_cells,
    date_codes,
    distinct_text_cells,
    expand_cells,
    indices,
    number_codes,
    text_cells,
)
from dpfast.tables.columns import first_repeated, text_of
from dpfast.tables.dates import NUMBERED, days_of_numbers
from dpfast.tables.objects import Fault, array_of, array_of_one_type, identity, plain
from dpfast.tables.words import Words

_TEXT = pa.large_string()
_BLOCK = 1 << 17  # cells whose words are collected together
_BLANKS = " \t"  # allowed around a number, in files too
Block = tuple[np.ndarray | None, np.ndarray, list]  # of cells: see `CellStore`


class Frame:
    """The columns of a table by their names, distinct texts; each is converted to an Arrow array when it is used.

    A table is a DataFrame of pandas or polars, an Arrow table or batch, a dict of arrays, or any object with the Arrow
    stream interface.
    """

    def __init__(self, table: Any):
        self._table: Any
        self.names: list[Any]
        if is_spark(table):
            raise ValueError("X is a DataFrame of Spark, and all its rows are read at once here: give X.toArrow()")
        if isinstance(table, Mapping):
            self._table, self.names = table, list(table)
        elif hasattr(table, "iloc") and hasattr(table, "columns"):  # pandas: a column at a time, to name one at fault
            self._table = table = with_text_names(table)
            self.names = table.columns.tolist()
        elif isinstance(table, pa.Table | pa.RecordBatch):
            self._table, self.names = table, table.column_names
        elif (streamed := _read_stream(table)) is not None:
            self._table, self.names = streamed, streamed.column_names
        else:
            refuse_plan(table)
            raise ValueError(
                "a table with a schema must be a DataFrame, an Arrow table or a dict of arrays, with names of columns; "
                f"got {type(table).__name__}"
            )
        wrong = next((name for name in self.names if not isinstance(name, str)), None)
        if wrong is not None:
            raise ValueError(f"the names of columns must be text, got {wrong!r}")
        if (twice := first_repeated(self.names)) is not None:
            raise ValueError(f"two columns have the name {twice!r}")
        self.n = self._rows()

    def _rows(self) -> int:
        if isinstance(self._table, pa.Table | pa.RecordBatch):
            return self._table.num_rows
        if hasattr(self._table, "iloc"):
            return len(self._table)
        lengths = {name: len(self._table[name]) for name in self.names}
        odd = next((name for name, n in lengths.items() if n != lengths[self.names[0]]), None)
        if odd is not None:
            raise ValueError(
                f"columns must be of one length, {odd!r} has {lengths[odd]}, others {lengths[self.names[0]]}"
            )
        return lengths[self.names[0]] if lengths else 0

    def column(self, name: str, nan_is_null: bool = True) -> pa.Array:
        """Return one whole column; NaN of pandas and numpy are nulls, or may stay NaN, which takes less time."""
        return _in_one_chunk(self._stored_column(name, nan_is_null))

    def stored(self, name: str) -> Any:
        """Return one column as the table has it."""
        arrow = isinstance(self._table, pa.Table | pa.RecordBatch)
        return self._table.column(name) if arrow else self._table[name]

    def is_untyped(self, name: str) -> bool:
        """Return whether the cells of a column have no common type: a list, objects, or categories that are objects."""
        if isinstance(self._table, pa.Table | pa.RecordBatch):
            return False
        values = self._table[name]
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return False
        categories = getattr(getattr(values, "dtype", None), "categories", None)
        return _objects(values if categories is None else categories)

    def distinguish_cells(self, name: str) -> pa.Array:
        """Return a column whose cells are equal only if they are the same; identities, if it has no type."""
        if not self.is_untyped(name):
            return self.column(name)
        index, identities = self.identities(name)
        try:
            distinct = array_of(name, identities).cast(_TEXT)
        except Fault as fault:
            raise Fault(name, fault.what, int(np.argmax(index == fault.row))) from None
        return distinct.take(pa.array(index, mask=index < 0))

    def identities(self, name: str, marks: tuple = ()) -> tuple[np.ndarray, list]:
        """Return a column as numbers of its distinct cells, int32 with -1 for missing, and their identities.

        Two cells have one identity only if they are the same, whatever the types and widths of columns: see
        `dpfast.tables.objects.identity`. The identities are distinct.
        """
        if not self.is_untyped(name):
            stored = self.stored(name)
            array = _distinct_texts(stored) if type(stored) is np.ndarray and stored.dtype.kind == "U" else None
            return identities(name, self.column(name) if array is None else array, marks)
        values = list(self._table[name])
        if (array := array_of_one_type(values)) is not None:
            return identities(name, array, marks)
        place: dict[str, int] = {}
        return np.array([_place(name, row, value, marks, place) for row, value in enumerate(values)], np.int32), [
            *place
        ]

    def pieces(self, name: str, size: int) -> list[Callable[[], pa.Array]]:
        """Return functions that return one column, so many rows each, so that chunks are not joined all at once."""
        stored = self._stored_column(name)
        return [partial(lambda rows: _in_one_chunk(stored[rows]), rows) for rows in slices(self.n, size)]

    def numbers_in_place(self, name: str, marks: tuple) -> "NumbersInPlace | None":
        """Return a column of floats or integers, none of which is copied; None for any other column."""
        stored = self.stored(name)
        if isinstance(stored, pa.Array | pa.ChunkedArray):
            kind = stored.type
            if pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind):
                return NumbersInPlace(lambda rows: numbers(name, _in_one_chunk(stored[rows]), marks), self.n)
        elif are_plain_numbers(stored) and stored.dtype.kind != "b":
            values = _as_array(stored)
            return NumbersInPlace(lambda rows: _replace_marks(values[rows].astype(np.float64), marks), self.n)
        return None

    def _stored_column(self, name: str, nan_is_null: bool = True) -> pa.Array | pa.ChunkedArray:
        if isinstance(self._table, pa.Table | pa.RecordBatch):
            return self._table.column(name)
        if are_plain_numbers(values := self._table[name]):
            return pa.array(_as_array(values), from_pandas=nan_is_null)
        values = without_byte_order(values)
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return values
        dtype = getattr(values, "dtype", None)
        if hasattr(dtype, "fill_value") and hasattr(values, "sparse"):  # in this order, as pandas makes the second one
            values = values.sparse.to_dense()
        if getattr(values, "ndim", 1) != 1:
            raise Fault(name, f"must be one-dimensional, got {values.ndim} dimensions")
        if _objects(values):
            return array_of(name, values)
        categories = getattr(dtype, "categories", None)
        if categories is not None and _objects(categories):
            array_of(name, categories)  # refuses several kinds
        if hasattr(storage := getattr(values, "array", None), "__arrow_array__"):
            values = storage  # which Arrow takes from a series after it has asked that for other things
        cut = isinstance(values, np.ndarray) and values.dtype.kind == "U" and _have_zeros(values)
        try:
            return _in_one_chunk(pa.array(values.tolist() if cut else values, from_pandas=True))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise Fault(
                name, f"holds values that a table does not, {values.dtype}; make them numbers, texts or dates"
            ) from None


def _distinct_texts(texts: np.ndarray) -> pa.DictionaryArray | None:
    """Return an array of numpy's texts by its distinct ones, or None if it is of a kind that Arrow reads one by one.

    Texts of numpy have one length, with zeros behind them, so that equal ones have equal bytes.
    """
    if texts.ndim != 1 or not texts.itemsize:
        return None
    texts = np.ascontiguousarray(texts, texts.dtype.newbyteorder("="))
    kind, buffers = pa.binary(texts.itemsize), [None, pa.py_buffer(texts)]
    array = pa.FixedSizeBinaryArray.from_buffers(kind, len(texts), buffers).dictionary_encode()
    distinct = np.frombuffer(array.dictionary.buffers()[1] or b"", texts.dtype, len(array.dictionary))
    try:
        return pa.DictionaryArray.from_arrays(array.indices, pa.array(distinct.tolist(), _TEXT))
    except (pa.ArrowException, ValueError, SystemError):
        return None  # a surrogate by itself, or no character, which is refused where all are read


def _have_zeros(texts: np.ndarray) -> bool:
    """Return whether a text of numpy's has a zero before its end: Arrow would end the text there."""
    if not texts.itemsize:
        return False
    letters = np.ascontiguousarray(texts).view(np.uint32).reshape(len(texts), texts.itemsize // 4)
    return bool(((letters[:, :-1] == 0) & (letters[:, 1:] != 0)).any())


def header_of(table: Any) -> dict[str, pa.DataType]:
    """Return the types of the columns of a frame by their names; no row of a frame or of a dict is read for it."""
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        table = getattr(table, "_meta", table)
        frame, types, found = Frame(table), {}, {}
        for name, dtype in zip(frame.names, table.dtypes.tolist(), strict=True):
            if dtype not in types:
                if are_plain_numbers(stored := frame.stored(name)):
                    types[dtype] = pa.from_numpy_dtype(dtype)
                else:  # without rows, as the type follows from that of pandas
                    storage: Any = getattr(stored, "array", None)
                    rows = storage if hasattr(storage, "__arrow_array__") else stored.iloc
                    types[dtype] = Frame({name: rows[:0]}).column(name).type
            found[name] = types[dtype]
        return found
    if isinstance(table, Mapping):
        Frame(table)  # refuses columns of several lengths
        table = {name: column[:0] for name, column in table.items()}
    frame = Frame(table)
    return {name: frame.column(name).type for name in frame.names}


def _read_stream(table: Any) -> pa.Table | None:
    """Return an object with the Arrow stream interface as a table; None for other objects and for a single column."""
    if not hasattr(table, "__arrow_c_stream__"):
        return None
    try:
        return pa.table(table)
    except pa.ArrowInvalid as error:
        if hasattr(table, "columns"):
            raise ValueError(
                f"a column has a type that Arrow does not know; make it Int64 or Float64: {error}"
            ) from None
    return None


def _as_array(values: Any) -> np.ndarray:
    """Return an array or a series of plain numbers as an array, without a copy."""
    return values if type(values) is np.ndarray else values.to_numpy()


def _objects(values: Any) -> bool:
    """Return whether values have no common type: lists, and arrays and series of objects."""
    return bool(getattr(values, "dtype", np.dtype(object)) == np.dtype(object))


def numbers(name: str, array: pa.Array, marks: tuple = ()) -> np.ndarray:
    """Return a column as float64, missing as NaN; texts are read as numbers, ignoring blanks around them."""
    array = _plain(array)
    if pa.types.is_large_string(array.type):
        if _are_texts(marks) and (values := all_numbers(array)) is not None:
            return values
        array = pc.ascii_trim(_without(array, marks), characters=_BLANKS)
        array = _cast(name, _without(array, marks), pa.float64(), "holds text where a number is declared")
        return _replace_marks(_floats(array), marks)
    if any(is_type(array.type) for is_type in TIME_TYPES):
        return _replace_marks(seconds_or_hours(array), marks)
    if not any(is_type(array.type) for is_type in (*NUMBER_TYPES, pa.types.is_null)):
        raise Fault(name, f"holds {array.type} where numbers are declared")
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    return _replace_marks(_floats(array.cast(pa.float64(), safe=False)), marks)


def distinct(name: str, array: pa.Array) -> pa.DictionaryArray:
    """Return a column of values as a dictionary array whose dictionary has each value once."""
    if pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
        raise Fault(name, f"holds {array.type} where values are wanted; make them texts or numbers")
    return array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(_plain(array))


def texts(name: str, array: pa.Array, marks: tuple = ()) -> tuple[np.ndarray, list]:
    """Return a column as numbers of its distinct values, int32 with -1 for missing, and the values as text."""
    array = distinct(name, array)
    index = indices(array.indices)
    values = [None if value is None or value != value else text_of(value) for value in array.dictionary.to_pylist()]
    missing = [k for k, value in enumerate(values) if value is None or value in marks]
    if missing:
        place = np.arange(len(values) + 1, dtype=np.int32)
        place[[*missing, -1]] = -1
        index = place[index]
    return index, values


def identities(name: str, array: pa.Array, marks: tuple = ()) -> tuple[np.ndarray, list]:
    """Return the cells of an Arrow array as `Frame.identities` does."""
    array = distinct(name, array)
    place: dict[str, int] = {}
    places = [_place(name, None, value, marks, place) for value in array.dictionary.to_pylist()]
    return np.array([*places, -1], np.int32)[indices(array.indices)], [*place]


def _place(name, row, value, marks, place):
    """Return the number of the identity of a cell, a new one if it is the first of its kind; -1 if it is missing."""
    try:
        key = identity(value)
    except TypeError as error:
        raise Fault(name, f"holds {error}", row) from None
    return -1 if key is None or plain(key).strip() in marks else place.setdefault(key, len(place))


def cells(name: str, array: pa.Array, marks: tuple = ()) -> tuple[np.ndarray, list]:
    """Return a column as codes of cells and the words among them, each cell by itself; see `dpfast.tables.cells`."""
    reads = reads_of(name, array.type)
    if reads == "date":
        return date_codes(days(name, array, None, marks)), []
    if reads != "text":
        return number_codes(numbers(name, array, marks)), []
    read = _as_text_cells(array, marks)
    return (number_codes(read), []) if isinstance(read, np.ndarray) else text_cells(read)


def distinct_cells(name: str, array: pa.Array, marks: tuple = ()) -> tuple[pa.Array | None, np.ndarray, list]:
    """Return a column of text as `dpfast.tables.cells.distinct_text_cells` does."""
    if reads_of(name, array.type) != "text":
        return None, *cells(name, array, marks)
    read = _as_text_cells(array, marks)
    return (None, number_codes(read), []) if isinstance(read, np.ndarray) else distinct_text_cells(read)


def _as_text_cells(array, marks):
    """Return texts without those that mark a missing value, or numbers if they all are."""
    if pa.types.is_dictionary(array.type):
        plain = array.dictionary if array.dictionary.type == _TEXT else array.dictionary.cast(_TEXT)
        return pa.DictionaryArray.from_arrays(array.indices, _without(plain, marks))
    array = array.cast(_TEXT)
    if marks and _are_texts(marks) and (values := all_numbers(array)) is not None:
        return values
    return _without(array, marks)


def blocks_of_cells(name: str, array: pa.Array, marks: tuple = ()) -> Iterator[Block]:
    """Yield the cells of a column of text block by block, each block with its own words, as `CellStore` takes them."""
    reads_of(name, array.type)  # refuses invalid types before the first block is read

    def block(start):
        part = array.slice(start, _BLOCK)
        many = pa.types.is_dictionary(part.type) and len(part.dictionary) > _BLOCK
        index, codes, words = distinct_cells(name, part.dictionary_decode() if many else part, marks)
        return None if index is None else indices(index), codes, words

    return map(block, range(0, len(array), _BLOCK))


def days(name: str, array: pa.Array, format: str | None, marks: tuple = ()) -> np.ndarray:
    """Return a column of dates as days since 1970-01-01, missing as NaN: float64.

    Of numbers, `format` says what they count, or how their digits make a date.
    """
    array = _plain(array)
    if format is not None and any(is_type(array.type) for is_type in (pa.types.is_integer, pa.types.is_floating)):
        if format in NUMBERED:
            return days_of_numbers(numbers(name, array, marks), format)
        array = _whole(name, array).cast(_TEXT)
    if pa.types.is_large_string(array.type):
        array = pc.utf8_trim_whitespace(_without(array, marks))
        stamp = pa.timestamp("us")
        if format in NUMBERED:
            values = _cast(name, array, pa.float64(), f"holds no number, and dates are declared as {format}")
            return days_of_numbers(_floats(values), format)
        if format is None:
            array = _cast(name, array, stamp, "holds no date as YYYY-MM-DD")
        else:
            parsed = pc.strptime(array, format=format, unit="us", error_is_null=True)
            lost = np.flatnonzero(parsed.is_null().to_numpy(False) & array.is_valid().to_numpy(False))
            if lost.size:
                raise Fault(name, f"holds no date as {format}", int(lost[0]))
            array = parsed
    elif not any(is_type(array.type) for is_type in DAY_TYPES) and not pa.types.is_null(array.type):
        raise Fault(name, f"holds {array.type} where dates are declared")
    return _floats(array.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64()))


def _whole(name, array):
    """Return numbers as integers; refuse fractions."""
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid:
        raise Fault(name, "holds numbers that are not whole where dates are declared") from None


def _in_one_chunk(array):
    if isinstance(array, pa.ChunkedArray):
        if pa.types.is_string(array.type):
            array = array.cast(_TEXT)  # which has no limit of 2 GB
        elif pa.types.is_dictionary(array.type):  # whose chunks together may have more values than its indices can name
            of = pa.DictionaryArray.from_arrays
            chunks = [of(each.indices.cast(pa.int32()), each.dictionary) for each in array.chunks]
            array = pa.chunked_array(chunks, pa.dictionary(pa.int32(), array.type.value_type))
        array = (
            array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks or [pa.array([], array.type)])
        )
    return as_ordinary(array)


def rows_of(table: pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray, rows: np.ndarray) -> Any:
    """Return these rows of a table or a column of Arrow, with text in the type of which rows can be taken."""
    if not hasattr(table, "schema"):
        return (table.cast(_TEXT) if pa.types.is_string_view(table.type) else table).take(rows)
    fields = [each.with_type(_TEXT) if pa.types.is_string_view(each.type) else each for each in table.schema]
    return table.cast(pa.schema(fields, table.schema.metadata)).take(rows)


def _plain(array):
    """Return the array without a dictionary, and text as the type that all functions accept."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_string(array.type) or pa.types.is_string_view(array.type):
        array = array.cast(_TEXT)
    return array


def _without(array, marks):
    """Return texts with null for those that mark a missing value."""
    if not marks:
        return array
    marked = pc.is_in(array, value_set=pa.array(marks, _TEXT))
    return pc.replace_with_mask(array, marked, pa.scalar(None, _TEXT))  # if_else of pyarrow 18 misreads a slice


def _cast(name, array, to, what):
    """Return text as another type; find the first invalid text by bisection."""
    try:
        return array.cast(to)
    except pa.ArrowInvalid:
        pass
    good, bad = 0, len(array)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            array.slice(good, middle - good).cast(to)
            good = middle
        except pa.ArrowInvalid:
            bad = middle
    raise Fault(name, what, good)


def _floats(array):
    values = array.to_numpy(zero_copy_only=False)
    return values if values.flags.writeable else values.copy()


def _replace_marks(values, marks):
    """Return numbers, with NaN for those that mark a missing value."""
    for mark in _numeric(marks):
        values[values == mark] = np.nan
    return values


def _are_texts(marks):
    """Return whether no number is one of the marks."""
    return all(mark != mark for mark in _numeric(marks))


def _numeric(marks):
    for mark in marks:
        with suppress(ValueError):
            yield float(mark)


class ArrayStore:
    """An array in memory that grows; `dpfast.parts.blocks.MemoryStore` does the same in a fixed space."""

    def __init__(self, dtype: Any):
        self._parts: list[np.ndarray] = []
        self._dtype = dtype

    @classmethod
    def of(cls, n: int) -> "type[ArrayStore]":
        """Return the factory of stores of n entries."""
        return cls

    def append(self, rows: np.ndarray) -> None:
        self._parts.append(rows)

    def read_all(self) -> np.ndarray:
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, self._dtype), *self._parts])]
        return self._parts[0]


class IntegerStore:
    """Store of signed integers; when some need a wider type than those before them, integers of that type follow."""

    def __init__(self, storage: Any):
        self._storage, self._n = storage, 0
        self._pieces: list[Any] = []
        self._dtype = np.dtype(np.int8)

    def append(self, rows: np.ndarray) -> None:
        """Append integers, which are kept in their type or in that of earlier ones, whichever is wider."""
        dtype = np.promote_types(self._dtype, rows.dtype)
        if not self._pieces or dtype != self._dtype:
            self._dtype = dtype
            self._pieces.append(self._storage(dtype))
        self._pieces[-1].append(rows.astype(dtype, copy=False))
        self._n += len(rows)

    def read_all(self) -> np.ndarray:
        if len(self._pieces) != 1:
            joined, several, self._pieces = self._storage.of(self._n)(self._dtype), self._pieces[::-1], []
            while several:
                joined.append(several.pop().read_all().astype(self._dtype, copy=False))
            self._pieces = [joined]
        return self._pieces[0].read_all()


class TextStore:
    """Store of texts as numbers of the distinct values; a missing one has the number -1."""

    def __init__(self, storage: Any):
        self._numbers = IntegerStore(storage)
        self._place: dict[str, int] = {}

    def append(self, texts: tuple[np.ndarray, list]) -> None:
        """Append the numbers of some values, and the values."""
        index, values = texts
        place = [-1 if value is None else self._place.setdefault(value, len(self._place)) for value in values]
        self._numbers.append(np.array([*place, -1], narrowest(len(self._place)))[index])

    def read_all(self) -> tuple[np.ndarray, list]:
        return self._numbers.read_all(), [*self._place]


class CellStore:
    """Store of codes of cells (`dpfast.tables.cells`): in few bytes, and the words separately.

    Code FIXED + k stands for word k of `words`. Cells are added in blocks: the place of each cell among some codes, -1
    of a missing one, or None if they are those of the cells in their order; the codes; and the words among them. Cells
    that need more bytes or decimal places than those before them begin a piece; pieces are joined when they are read.
    """

    def __init__(self, storage: Any):
        self.words = Words(storage)
        self._storage, self._n = storage, 0
        self._pieces: list[tuple[Any, int]] = []  # stores, and the decimal places of their cells
        self._dtype, self._places = np.dtype(np.int8), 0

    def append(self, cells: Iterable[Block]) -> None:
        """Append blocks of some cells, and of the words that codes from FIXED on stand for."""
        for index, codes, words in cells:
            rows = None if index is None else np.bincount(index + 1, minlength=len(codes) + 1)[1:]
            if rows is not None:  # of each code; where there is none, nobody has the word
                codes = np.where(rows, codes, MISSING)
            if words:
                local = np.maximum(codes, FIXED - 1)  # the last code before those of words stands for all others
                local -= FIXED - 1
                counts = np.bincount(local, rows, len(words) + 1)[1:].astype(np.int64)
                numbers = self.words.append(words, counts)
                if (numbers != np.arange(len(words))).any():  # they are equal for the first block
                    is_word = codes >= FIXED
                    codes = codes.copy()
                    codes[is_word] = FIXED + numbers[local[is_word] - 1]
            if index is not None and len(index):
                self._append(np.concatenate([codes, [MISSING]]), index)
            elif len(codes) and index is None:
                self._append(codes)

    def _append(self, codes, index=None):
        """Append codes, or those at some places, where -1 is the last one."""
        before, compact = (self._dtype, self._places), codes
        if self._dtype != np.int64:  # else some have no compact cell
            compact, self._places = compact_cells(codes, self._places)
            self._dtype = np.promote_types(self._dtype, compact.dtype)
        if not self._pieces or (self._dtype, self._places) != before:
            self._pieces.append((self._storage(self._dtype), self._places))
        cells = (codes if self._dtype == np.int64 else compact).astype(self._dtype, copy=False)
        self._pieces[-1][0].append(cells if index is None else cells.take(index, mode="wrap"))
        self._n += len(cells if index is None else index)

    def pick_cells(self, rows: Any) -> Iterator[Block]:
        """Return blocks of the cells that a mask or a slice picks, as `append` takes them."""
        codes, first = self.codes(rows), 0
        for words in self.words.blocks():
            beyond = codes >= FIXED + first + len(words)
            block, codes = np.split(codes, [int(np.argmax(beyond)) if beyond.any() else len(codes)])
            yield None, np.where(block >= FIXED, block - first, block) if first else block, words
            first += len(words)

    def codes(self, rows: Any) -> np.ndarray:
        """Return the codes of the cells that a mask, a slice or an array of row numbers picks: int64."""
        cells, places = self.read_all()
        return expand_cells(cells[rows], places)

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, int]]:
        """Yield so many cells at a time as `compact_cells` makes them, with their decimal places."""
        cells, places = self.read_all()
        for block in slices(len(cells), size):
            yield cells[block], places

    def read_all(self) -> tuple[np.ndarray, int]:
        """Return all cells as `compact_cells` makes them, and their decimal places."""
        if len(self._pieces) != 1:
            self._join()
        store, places = self._pieces[0]
        return store.read_all(), places

    def _join(self):
        """Make one piece of all, each of which is freed as soon as it is copied; more places may need more bytes."""
        for piece in self._pieces:
            for cells in self._as_last(*piece):
                self._dtype = np.promote_types(self._dtype, cells.dtype)
        joined, several, self._pieces = self._storage.of(self._n)(self._dtype), self._pieces[::-1], []
        while several:
            for cells in self._as_last(*several.pop()):
                joined.append(cells.astype(self._dtype, copy=False))
        self._pieces = [(joined, self._places)]

    def _as_last(self, store, places):
        """Yield the cells of a piece as those of the last one are, block by block."""
        cells = store.read_all()
        for block in slices(len(cells), _BLOCK):
            if self._dtype == np.int64:
                yield expand_cells(cells[block], places)
            elif places == self._places:
                yield cells[block]
            else:
                yield compact_cells(expand_cells(cells[block], places), self._places)[0]


class NumbersInPlace:
    """Numbers of a table in memory that stay where they are; codes of cells are made of some rows whenever needed.

    `read` returns the rows of a slice as float64, missing as NaN.
    """

    def __init__(self, read: Callable[[slice], np.ndarray], n: int):
        self._read, self._n = read, n

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, int]]:
        """Yield the codes of at most so many rows at a time, with no decimal places, as `CellStore.blocks` does."""
        for block in slices(self._n, min(size, _BLOCK)):
            yield number_codes(self._read(block)), 0

    def pick_cells(self, rows: np.ndarray) -> Iterator[Block]:
        """Return the cells with these row numbers, as `CellStore.append` takes them."""
        yield None, np.concatenate([codes for codes, _ in self.blocks(_BLOCK)])[rows], []


class UnitStore:
    """Store of the unit of each row: integers as they are, anything else as numbers of identities."""

    def __init__(self, name: str, storage: Callable):
        self.name, self._storage = name, storage
        self._store: Any = None
        self._kind = ""

    def read(self, array: pa.Array) -> Any:
        """Return the entries of some rows; a row without a unit is refused."""
        if pa.types.is_integer(array.type):
            missing = array.is_null().to_numpy(zero_copy_only=False)
            read: Any = array.fill_null(0).to_numpy(zero_copy_only=False)
            read = read if read.dtype == np.uint64 else read.astype(np.int64, copy=False)
        else:
            read = identities(self.name, array)
            nobody = [k for k, value in enumerate(read[1]) if not value.strip()]
            missing = (read[0] < 0) | np.isin(read[0], nobody)
        if missing.any():
            raise Fault(self.name, "is empty, and units= says whose each row is", int(np.argmax(missing)))
        return read

    def append(self, read: Any) -> None:
        """Append a result of `read`; refuse another type than that of earlier rows, with which units could merge."""
        kind = "texts" if isinstance(read, tuple) else str(read.dtype)
        if self._store is None:
            self._store = TextStore(self._storage) if isinstance(read, tuple) else self._storage(read.dtype)
            self._kind = kind
        if kind != self._kind:
            raise Fault(self.name, f"says whose each row is, and must be of one type: {kind} here, {self._kind} before")
        self._store.append(read)

    def read_all(self) -> np.ndarray:
        """Return a number for each row, the same for rows of one unit."""
        if self._store is None:
            return np.empty(0, np.int64)
        whole = self._store.read_all()
        return whole[0] if isinstance(whole, tuple) else whole
