"""Marks of parts: digests by which a part is known when it is read again."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from dpfast.tables.codes import CodeTable


def digest(*parts: Any) -> bytes:
    """Return a digest of arrays, of their types, shapes and entries, and of texts; it is not secret."""
    found = blake2b(digest_size=16)
    for part in parts:
        array = np.ascontiguousarray(part)
        if array.dtype.hasobject or isinstance(part, str):
            text = part if isinstance(part, str) else repr(array.tolist())
            array = np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.view(np.uint8).data.cast("B") if array.size else b"")
    return found.digest()


def arrays_of(table: Any) -> Iterator[Any]:
    """Yield the arrays of which rows, labels or units consist, in the order of the rows; none for None."""
    if table is None:
        return
    if isinstance(table, CodeTable):
        yield from table.codes.columns
    elif isinstance(table, pa.DictionaryArray):
        yield from (table.indices.fill_null(-1).to_numpy(zero_copy_only=False), repr(table.dictionary.to_pylist()))
    elif isinstance(table, pa.Array | pa.ChunkedArray):
        yield from (table.is_valid().to_numpy(zero_copy_only=False), table.to_numpy(zero_copy_only=False))
    elif isinstance(table, dict):
        yield repr([*table])
        for column in table.values():
            yield from arrays_of(column)
    elif isinstance(table, pa.Table | pa.RecordBatch):
        yield from arrays_of(dict(zip(table.column_names, table.columns, strict=True)))
    elif sp.issparse(table):
        plain = table if table.format in ("csr", "csc") else table.tocsr()
        yield from (plain.data, plain.indices, plain.indptr)
    elif hasattr(table, "iloc") and table.ndim == 2:
        yield repr([*table.columns])
        yield from (np.asarray(table.iloc[:, j]) for j in range(table.shape[1]))
    else:
        yield np.asarray(table)


class AsRead(tuple):
    """The tables of a part as its source gives them, such as rows and their labels, and their mark."""

    @cached_property
    def mark(self) -> bytes:
        """Return a digest of what was read: the entries of all tables, in the order of the rows."""
        return digest(*(array for table in self for array in arrays_of(table)))
