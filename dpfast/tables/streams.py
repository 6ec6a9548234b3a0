"""Streams: tables whose rows come batch by batch, and are encoded while they are read once."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from dpfast.parts.blocks import Spool, Storage
from dpfast.tables.arrays import is_lazy, is_stream
from dpfast.tables.columns import first_repeated, refuse_lacking
from dpfast.tables.encoding import Encoding
from dpfast.tables.schema import Label, Schema
from dpfast.tables.sources import Source

MEMORY = 1 << 30
_ROWS = 1 << 16  # of a batch, if a source lets one choose
_BATCHES, _FILES = 4, 1  # that a data set of pyarrow reads ahead


class StreamParts(Source):
    """A table whose rows come batch by batch, for `fit` and the predictions of any classifier; it is never held whole.

    Rows are read once and kept as codes of one or two bytes: in memory up to a limit, and beyond it in a scratch file
    without a name, as for `dpfast.FileParts`. Every classifier converts a stream to a `StreamParts`; create one
    yourself to name the label if no schema does, or to set the limits.

    Parameters
    ----------
    source : stream
        A LazyFrame of polars, a relation of DuckDB, a RecordBatchReader, Dataset or Scanner of pyarrow, or any object
        with the Arrow stream interface, ``__arrow_c_stream__``.
    label : str, optional
        The column of labels; with a schema, the name of its label.
    memory : int, default=2**30
        The number of bytes that may be kept in memory.
    scratch : str or path-like, optional
        The folder of the scratch file; by default that of temporary files.

    Raises
    ------
    ValueError
        If the source is not a stream of tables.

    Examples
    --------
    >>> import dpfast, pyarrow as pa
    >>> table = pa.table({"age": [31, 64, 47, 25], "buys": ["no", "yes", "no", "yes"]})
    >>> rows = dpfast.StreamParts(table.to_reader(), label="buys")
    >>> model = dpfast.HalfspaceClassifier(random_state=0).fit(rows, classes=["no", "yes"])
    >>> len(model.predict(table.to_reader()))
    4
    """

    def __init__(
        self,
        source: Any,
        *,
        label: str | None = None,
        memory: int = MEMORY,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        self.label, self.memory, self.scratch = label, memory, scratch
        self._stream: _Stream = source._stream if isinstance(source, StreamParts) else _Stream(source)

    @property
    def tabular(self) -> bool:
        return True

    def header(self) -> dict[str, pa.DataType]:
        schema = self._stream.schema
        if (twice := first_repeated(schema.names)) is not None:
            raise ValueError(f"two columns have the name {twice!r}")
        return dict(zip(schema.names, schema.types, strict=True))

    def like(self) -> pa.Table:
        return pa.schema(list(self.header().items())).empty_table()

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of some columns, as Arrow batches or as frames; a stream is read once.

        Parameters
        ----------
        names : sequence of str

        Yields
        ------
        pyarrow.RecordBatch or polars.DataFrame
        """
        refuse_lacking(names, [*self.header()])
        yield from self._stream.batches(list(names))

    def encode(self, schema: Schema, label: Label | None, unit: str | None = None) -> Encoding:
        self.refuse_labels()
        encoding = Encoding(schema, label, Storage(Spool(self.memory, self.scratch)), unit)
        for batch in self.batches(encoding.names):
            encoding.add(batch)
        pa.default_memory_pool().release_unused()
        return encoding


class _Stream:
    """What is known about a stream before it is read, its Arrow schema above all, and how to read its columns."""

    def __init__(self, source: Any):
        self.schema: pa.Schema
        self._read: Callable[[list[str]], Iterator[Any]]
        self._once, self._is_used_up = False, False
        if not is_stream(source):
            raise ValueError(
                f"the source must be a stream of Arrow batches or a LazyFrame, got {type(source).__name__}"
            )
        if is_lazy(source):
            self.schema, self._read = _of_polars(source)
        elif hasattr(source, "to_batches"):  # Dataset and Scanner
            self.schema, self._read = _of_dataset(source)
        elif type(source).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
            self.schema, self._read = _of_relation(source)
        else:
            reader = _reader(source)
            self.schema, self._read, self._once = reader.schema, lambda names: _select_columns(reader, names), True

    def batches(self, names: list[str]) -> Iterator[Any]:
        if self._is_used_up:
            raise ValueError("the stream was read before, and can be read only once: give a new one")
        self._is_used_up = self._once
        return self._read(names)


def _of_polars(source):
    import polars

    schema = polars.DataFrame(schema=source.collect_schema()).to_arrow().schema
    return schema, lambda names: source.select(names).collect_batches(chunk_size=_ROWS, engine="streaming")


def _of_dataset(source):
    if not hasattr(source, "schema"):
        return source.projected_schema, lambda names: _select_columns(source.to_batches(), names)
    ahead: dict[str, Any] = {"batch_size": _ROWS, "batch_readahead": _BATCHES, "fragment_readahead": _FILES}
    if getattr(getattr(source, "format", None), "default_extname", None) == "parquet":
        from pyarrow.dataset import ParquetFragmentScanOptions

        ahead["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    return source.schema, lambda names: source.to_batches(columns=names, **ahead)


def _of_relation(source):
    def read(names):
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        relation = source.project(quoted)
        reader = relation.to_arrow_reader(_ROWS) if hasattr(relation, "to_arrow_reader") else _reader(relation)
        return _select_columns(reader, names)

    return _reader(source.limit(0)).schema, read


def _reader(source):
    if isinstance(source, pa.RecordBatchReader):
        return source
    try:
        return pa.RecordBatchReader.from_stream(source)
    except pa.ArrowInvalid:
        raise ValueError(
            f"the source must be a stream of tables, got a {type(source).__name__} of one column"
        ) from None


def _select_columns(batches, names):
    """Yield the columns of these names of each batch."""
    for batch in batches:
        yield batch.select(names)
