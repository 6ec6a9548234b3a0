"""Parquet files as delayed tables of Dask, one per row group, read by the worker that needs it."""

from typing import Any

from dpfast.files.parquet import ParquetFiles


def delayed_parquet(path: Any, columns: list[str]) -> tuple[list, int]:
    """Return a list of delayed Arrow tables, for `fit`, and their total number of rows.

    This process and the workers must see the file, the folder or the pattern under the same name.
    """
    from dask.delayed import delayed

    files = ParquetFiles(path)
    lacking = [name for name in columns if name not in files.schema.names]
    if lacking:
        raise ValueError(f"{path}: there is no column {lacking[0]!r}")
    read = delayed(_group, pure=False)
    paths = [str(each.absolute()) for each in files.paths]
    return [read(paths[at], k, columns) for at, k in files.groups()], sum(files.sizes)


def _group(path, k, columns):
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        return file.read_row_group(k, columns=columns, use_threads=False)
