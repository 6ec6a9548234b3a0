"""Marks of parts: digests by which a part is known when it is read again."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from dpfast.kernels.codes import Columns


class AsRead(tuple):
    """The tables of a part as its source gives them, such as rows and their labels, and their mark."""

    @cached_property
    def mark(self) -> bytes:
        """Return a digest of what was read: the entries of all tables, in the order of the rows, and their number."""
        return digest(*(array for table in self for array in arrays_of(table)))


def mark_of(state: Any) -> bytes:
    """Return the mark of a state of a part, which is that of what it was made of; nothing if that is not read yet.

    Before the first question, the state is a pair of a table and its labels.
    """
    if hasattr(state, "mark"):
        return state.mark
    return AsRead(state).mark if isinstance(state, tuple) else b""


def digest(*parts: Any) -> bytes:
    """Return a digest of arrays, of their types, shapes and entries, and of texts; it is not secret."""
    state = blake2b(digest_size=16)
    for part in parts:
        array = np.ascontiguousarray(part)
        if array.dtype.hasobject or array.dtype.char in "gG" or isinstance(part, str):  # wide floats have idle bytes
            text = part if isinstance(part, str) else repr(array.tolist())
            array = np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(array.view(np.uint8).data.cast("B") if array.size else b"")
    return state.digest()


def arrays_of(table: Any) -> Iterator[Any]:
    """Yield arrays and texts that tell rows, labels or units cell by cell, in the order of the rows; none for None."""
    if table is None:
        return
    if isinstance(getattr(table, "codes", None), Columns):
        yield from table.codes.columns
    elif isinstance(table, pa.Array | pa.ChunkedArray):
        yield from _arrays_of_arrow(table)
    elif isinstance(table, pa.Table | pa.RecordBatch):
        yield from arrays_of(dict(zip(table.column_names, table.columns, strict=True)))
    elif isinstance(table, dict):
        yield repr([*table])
        for column in table.values():
            yield from arrays_of(column)
    elif sp.issparse(table):
        plain = table if table.format in ("csr", "csc") else table.tocsr()
        yield from (repr(table.shape), plain.data, plain.indices, plain.indptr)
    elif hasattr(table, "iloc"):
        if table.ndim == 2:
            yield repr([*table.columns])
        for column in [table] if table.ndim == 1 else (table.iloc[:, j] for j in range(table.shape[1])):
            yield from _arrays_of_pandas(column)
    elif hasattr(table, "__arrow_c_stream__"):  # of polars, whose integers with gaps are floats in numpy
        yield from arrays_of(pa.table(table) if hasattr(table, "columns") else pa.chunked_array(table))
    elif hasattr(table, "dtype"):
        yield np.asarray(table)
    else:
        yield repr(table)  # numpy would find one type for all cells of a list


def _arrays_of_pandas(column):
    """Yield the arrays of a Series; a type of pandas is no type of numpy, where integers with gaps are floats."""
    if isinstance(column.dtype, np.dtype):
        yield column.to_numpy()
    elif hasattr(column.array, "__arrow_array__"):
        yield from arrays_of(pa.array(column.array))
    else:
        yield column.astype(object).to_numpy()


def _arrays_of_arrow(array):
    """Yield the type, the missing cells and the other cells of an Arrow array, whatever its chunks and dictionary."""
    yield str(array.type.value_type if pa.types.is_dictionary(array.type) else array.type)
    array = _in_one_chunk(array)
    kind = array.type
    yield array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(kind):
        array, kind = array.cast(pa.uint8()), pa.uint8()
    if pa.types.is_large_string(kind):
        yield from _lengths_and_bytes(array.fill_null(""))
    elif pa.types.is_primitive(kind) and kind.bit_width <= 64:
        yield array.view(f"int{kind.bit_width}").fill_null(0).to_numpy()
    else:
        yield repr(array.to_pylist())


def _in_one_chunk(array):
    """Return the cells as one array, with long texts for texts and decimals, of which there are many types."""
    if pa.types.is_dictionary(array.type):
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        return _in_one_chunk(array.dictionary).take(array.indices)
    if any(test(array.type) for test in (pa.types.is_string, pa.types.is_string_view, pa.types.is_decimal)):
        array = array.cast(pa.large_string())
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _lengths_and_bytes(array):
    """Return the lengths of texts, and the bytes of all."""
    if not len(array):
        return ()
    _, ends, data = array.buffers()
    ends = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(b"" if data is None else data, np.uint8)
    return np.diff(ends), content[ends[0] : ends[-1]]
