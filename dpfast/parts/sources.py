"""Recognition of tables in parts: tables in several pieces, streams, collections of Dask, Ray and Spark."""

import weakref
from typing import Any

import numpy as np

from dpfast.parts.engine import Backend, EngineParts, MemoryParts


def is_parted(X: Any) -> bool:
    """Return whether a table is in parts: parts in memory, an engine, or a collection of Dask, Ray or Spark."""
    return is_dask(X) or is_ray(X) or is_spark(X) or isinstance(X, EngineParts | Backend)


def refuse_parts(X: Any) -> None:
    """Refuse a table in parts if all rows are needed at once; it is never loaded into memory implicitly."""
    if is_parted(X):
        raise ValueError("X is in parts, and all its rows are read at once here: give a table in memory")


def refuse_plan(X: Any) -> None:
    """Refuse a LazyFrame."""
    if is_lazy(X):
        raise TypeError(f"X is a {type(X).__name__}, a plan that has no rows yet: give X.collect()")


def is_lazy(X: Any) -> bool:
    """Return whether this is a LazyFrame of polars, without importing polars."""
    return hasattr(X, "collect") and hasattr(X, "lazy")


def is_stream(X: Any) -> bool:
    """Return whether a table yields its rows in batches: Arrow streams, readers, datasets, LazyFrames, relations.

    Any object with the Arrow stream interface is a stream, except for types known to be in memory: frames of pandas and
    polars, and tables, batches and arrays of pyarrow.
    """
    kind = type(X)
    room = kind.__module__.partition(".")[0]
    if room == "pyarrow":
        return any(each.__name__ in _READERS for each in kind.__mro__)
    if room == "pyspark":
        return False
    if room in ("pandas", "polars") or hasattr(X, "iloc"):
        return is_lazy(X)
    return hasattr(X, "__arrow_c_stream__") and not isinstance(X, type)


def is_frame(X: Any) -> bool:
    """Return whether a table has columns with names: a DataFrame of pandas or polars, or an Arrow table.

    A frame of pandas whose columns are all sparse is a matrix. One of Dask is a table in parts, whose columns of
    numbers are vectors unless discovery is asked for.
    """
    if is_dask(X) or is_spark(X) or is_stream(X):
        return False
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        named = all(isinstance(name, str) for name in X.columns)
        sparse = len(X.columns) and all(hasattr(dtype, "fill_value") for dtype in X.dtypes)
        return named and not sparse
    return hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns")


_READERS = ("RecordBatchReader", "Dataset", "Scanner")  # of pyarrow


def refuse_masked(name: str, values: Any) -> None:
    """Refuse a masked array, since its hidden entries would be read too."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, and its hidden entries would be read: leave their rows out, or fill them by "
            f"{name}.filled(value)"
        )


def is_dask(X: Any) -> bool:
    """Return whether this is a DataFrame, an array or a list of delayed tables of Dask, without importing Dask."""
    return _room(X) in ("dask", "distributed")


def is_ray(X: Any) -> bool:
    """Return whether this is a Dataset of Ray, or a list of references to its objects, without importing Ray."""
    return _room(X) == "ray" and (isinstance(X, list | tuple) or hasattr(X, "to_arrow_refs"))


def is_spark(X: Any) -> bool:
    """Return whether this is a DataFrame of Spark; does not import it."""
    return _room(X) == "pyspark" and hasattr(X, "mapInArrow")


def outline(X: Any) -> Any:
    """Return a table without rows that has the columns of a DataFrame of Spark; return another table unchanged."""
    return X.limit(0).toArrow() if is_spark(X) else X


def _room(X):
    """Return the package that defines the type of a table, or of the first of a list of tables."""
    some = X[0] if isinstance(X, list | tuple) and X else X
    return type(some).__module__.partition(".")[0]


def parts_of(X: Any, *beside: Any, columns: list[str] | None = None) -> Any:
    """Return parts of pairs of a table and its labels, or None; a table in memory is one part.

    Parameters
    ----------
    X : table of any kind
    *beside
        Labels in the same parts, or None; several tables only if all are in memory.
    columns : list of str, optional
        The columns of a DataFrame to read.
    """
    if not is_parted(X):
        return MemoryParts([(X, *beside)])
    if len(beside) > 1:
        raise ValueError(f"data in parts must be one table, or rows and labels, got {len(beside) + 1} tables")
    y = beside[0] if beside else None
    if not is_spark(X) and isinstance(X, EngineParts | Backend):  # Connect's frames have any attribute
        if y is not None:
            raise ValueError(f"y must not be given beside {type(X).__name__}, whose parts have their labels")
        return EngineParts(X) if isinstance(X, Backend) else X
    if y is not None and (is_ray(X) or is_spark(X)):
        raise ValueError("y must be the name of a column beside a table of Ray or Spark, not an array")
    backend = _backend(X, y, columns)
    parts = EngineParts(backend)
    weakref.finalize(parts, backend.close).atexit = False
    return parts


def _backend(X, y, columns):
    """Return the engine of a collection of Dask, Ray or Spark."""
    if is_ray(X):
        from dpfast.parts.ray_parts import ray_backend

        return ray_backend(X, columns)
    if is_spark(X):
        from dpfast.parts.spark_parts import spark_backend

        return spark_backend(X, columns)
    from dpfast.parts.dask_parts import dask_backend

    return dask_backend(X, y, columns)
