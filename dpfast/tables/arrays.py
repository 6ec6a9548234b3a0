"""The kinds of tables that are read, and arrays and sparse matrices of finite numbers.

The first functions recognise frames, streams, and collections of Dask, Ray and Spark, without importing these packages.

The image of a row is a function of that row, of the format and the type of its table, and of parameters; it never
depends on other rows. So nothing here, nor in any other module of `dpfast.tables`, decides by looking at values: an
array or a column has its type, and what has none, such as a list, becomes float64.
"""

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dpfast.parts.blocks import slices
from dpfast.parts.engine import Backend, EngineParts, MemoryParts

MOST_ROWS = 1 << 30  # sums of so many weighted rows fit into 64 bits
_ROWS = 1 << 18  # rows that are counted or looked up at a time, since numpy takes eight bytes for each of their codes


def is_parted(X: Any) -> bool:
    """Return whether a table is in parts: parts in memory, an engine, or a collection of Dask, Ray or Spark."""
    if isinstance(X, np.ndarray):  # the usual table; protocols are slow to look at
        return False
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
    return hasattr(type(X), "collect") and hasattr(type(X), "lazy")  # columns of pandas may have these names


def is_stream(X: Any) -> bool:
    """Return whether a table yields its rows in batches: Arrow streams, readers, datasets, LazyFrames, relations.

    Any object with the Arrow stream interface is a stream, except for types known to be in memory: frames of pandas and
    polars, and tables, batches and arrays of pyarrow.
    """
    kind = type(X)
    package = kind.__module__.partition(".")[0]
    if package == "pyarrow":
        return any(each.__name__ in _READERS for each in kind.__mro__)
    if package == "pyspark":
        return False
    if package in ("pandas", "polars") or hasattr(X, "iloc"):
        return is_lazy(X)
    return hasattr(X, "__arrow_c_stream__") and not isinstance(X, type)


def is_frame(X: Any) -> bool:
    """Return whether a table has columns with names: a DataFrame of pandas or polars, an Arrow table, a dict of arrays.

    A frame of pandas whose columns are all sparse is a matrix. One whose columns have no names and one type of numbers
    is an array, as scikit-learn demands. A frame of Dask is a table in parts, which is read as vectors of numbers
    unless discovery is asked for.
    """
    if isinstance(X, Mapping) and not sp.issparse(X):  # dok_array of scipy 1.13 is a dict
        return True
    if is_dask(X) or is_spark(X) or is_stream(X):
        return False
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        named, dtypes = all(isinstance(name, str) for name in X.columns.tolist()), X.dtypes.tolist()
        array = not named and len({*dtypes}) == 1 and getattr(dtypes[0], "kind", "O") in "biuf"
        return not array and not (dtypes and all(hasattr(dtype, "fill_value") for dtype in dtypes))
    return hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns")


def with_text_names(X: Any) -> Any:
    """Return a frame of pandas whose columns have numbers as names with the texts of these; others are unchanged."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        names = X.columns.tolist()
        return X if all(isinstance(name, str) for name in names) else X.set_axis([*map(str, names)], axis=1)
    return X


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
    return _package(X) in ("dask", "distributed")


def is_ray(X: Any) -> bool:
    """Return whether this is a Dataset of Ray, or a list of references to its objects, without importing Ray."""
    return _package(X) == "ray" and (isinstance(X, list | tuple) or hasattr(X, "to_arrow_refs"))


def is_spark(X: Any) -> bool:
    """Return whether this is a DataFrame of Spark, without importing Spark."""
    return _package(X) == "pyspark" and hasattr(X, "mapInArrow")


def _package(X):
    """Return the package that defines the type of a table, or of the first of a list of tables."""
    some = X[0] if isinstance(X, list | tuple) and X else X
    return type(some).__module__.partition(".")[0]


def parts_of(X: Any, *beside: Any, columns: list[str] | None = None) -> Any:
    """Return parts of pairs of a table and its labels, or None; a table in memory is one part.

    `beside` are labels in the same parts; several tables only if all are in memory. `columns` are those of a DataFrame
    to read.
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
    if backend is None:
        return MemoryParts([(X.limit(0).toArrow(), None)])
    parts = EngineParts(backend)
    weakref.finalize(parts, backend.close).atexit = False
    return parts


def _backend(X, y, columns):
    """Return the engine of a collection of Dask, Ray or Spark; None for a DataFrame of Spark without rows."""
    if is_ray(X):
        from dpfast.parts.ray_parts import ray_backend

        return ray_backend(X, columns)
    if is_spark(X):
        from dpfast.parts.spark_parts import NoRows, spark_backend

        try:
            return spark_backend(X, columns)
        except NoRows:
            return None
    from dpfast.parts.dask_parts import dask_backend

    return dask_backend(X, y, columns)


def as_numbers(X, sparse=()):
    """Return X as an ndarray or a sparse matrix of booleans, integers or floats up to float64, all of them finite.

    The type is kept, except that objects, lists (which have no type) and wider floats become float64. Wider floats are
    converted before they are checked to be finite. A sparse matrix may keep the formats `sparse`, and is otherwise
    converted to the first of them; by default sparse matrices are refused, as are tables in parts.
    """
    if sp.issparse(X):
        X = _sound(X)
    if _plain(X, sparse):
        return canonical(X) if sp.issparse(X) else X

    from sklearn.utils import check_array

    refuse_parts(X)
    refuse_plan(X)
    refuse_masked("X", X)
    if isinstance(X, dict) and not sp.issparse(X):
        raise ValueError("X is a dict of columns, and vectors are wanted: give an array, or fit by a schema")
    typed = sp.issparse(X) or hasattr(X, "__array__")
    try:
        kind = "numeric" if typed else np.float64
        with np.errstate(invalid="ignore"):  # the sum of huge entries is not finite either
            X = check_array(X, accept_sparse=list(sparse) or False, dtype=kind, ensure_min_samples=0)
    except ValueError as error:  # its message would repeat a cell
        if str(error).startswith("Input contains NaN"):
            raise ValueError('Input contains NaN; a fit with schema="discover" reads missing cells') from None
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            'X holds text where numbers are wanted; declare columns of text in a schema, or give schema="discover"'
        ) from None
    except OverflowError as error:  # an integer of Python
        raise ValueError(f"X holds a number too large for float64: {error}") from None
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got {X.dtype}")
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # it gives infinity, which is refused
            X = check_array(X.astype(np.float64), accept_sparse=True, ensure_min_samples=0)
    return canonical(X) if sp.issparse(X) else X


def as_objects(values: Any) -> Any:
    """Return a list as an array of objects, so that no entry changes how the others are read; arrays are unchanged."""
    return np.asarray(values, object if isinstance(values, list | tuple) else None)


def _plain(X, sparse):
    """Return whether X already is a result of `as_numbers`; scikit-learn's check takes longer than a small fit."""
    if sp.issparse(X):
        entries = X.data if X.format in sparse and X.format in ("csr", "csc") else None
    else:
        entries = X if type(X) is np.ndarray and X.ndim == 2 else None
    if entries is None or not X.shape[1] or entries.dtype.kind not in "biuf" or entries.dtype.itemsize > 8:
        return False
    with np.errstate(all="ignore"):  # if the sum is not finite, scikit-learn checks the entries
        return entries.dtype.kind != "f" or bool(np.isfinite(entries.sum(dtype=np.float64)))


def sound_csr(X):
    """Return a sparse matrix as CSR, with checked, unique indices that increase in each row."""
    return canonical(_sound(X).tocsr())


def canonical(X):
    """Return a CSR or CSC matrix with increasing, unique indices: itself if it has them, else a copy."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _sound(X):
    """Check all indices of a sparse matrix, before any compiled code reads them."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead")
    if X.format in ("csr", "csc", "bsr"):
        for name in ("indptr", "indices"):
            index = getattr(X, name)
            if index.dtype.kind != "i":
                raise ValueError(f"{name} of a sparse matrix must be signed integers, got {index.dtype}")
        if (X.indptr[1:] < X.indptr[:-1]).any():  # also if the last is 0, which scipy accepts
            raise ValueError("indptr of a sparse matrix must not fall")
        X.check_format(full_check=X.format == "bsr")
        width = X.shape[1 if X.format == "csr" else 0]
        if X.format != "bsr" and X.indices.view(f"u{X.indices.itemsize}").max(initial=0) >= max(1, width):
            low, high = X.indices.min(), X.indices.max()
            raise ValueError(f"indices of a sparse matrix must lie in [0, {width}), got {low if low < 0 else high}")
    elif X.format == "coo":
        X = sp.coo_array((X.data, X.coords), shape=X.shape)  # the constructor checks them
    return X


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse a table without columns, or with more than MOST_ROWS rows."""
    if not shape[1]:
        raise ValueError(f"X must have at least one column, got shape {shape}")
    if shape[0] > MOST_ROWS:
        raise ValueError(f"X must have at most 2**30 rows, got {shape[0]}")


def side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    """Return arrays of one length as the columns of an array; a single one is not copied."""
    return columns[0][:, np.newaxis] if len(columns) == 1 else np.stack(columns, axis=1)


def row_index(index: Any, kind: str) -> Any:
    """Return what selects rows in the index of a table of this kind: a slice, a mask or an array of row numbers."""
    if isinstance(index, tuple):
        if len(index) != 2 or index[1] not in (slice(None), Ellipsis):
            raise IndexError(f"a {kind} is indexed by rows only")
        index = index[0]
    if isinstance(index, list):
        index = np.asarray(index, None if index else np.intp)
    if not isinstance(index, slice) and index is not Ellipsis and np.ndim(index) != 1:
        raise IndexError(f"a {kind} is indexed by several rows at once, got {index!r}")
    return index


def narrowest(size: int) -> np.dtype:
    """Return the signed type with the fewest bytes that holds -1 and the integers below `size`."""
    return np.min_scalar_type(-max(1, size))


def count_codes(codes: np.ndarray, size: int) -> np.ndarray:
    """Return how many rows have each of `size` codes: int64, shape (size,)."""
    total = np.zeros(size, np.int64)
    for block in slices(len(codes), _ROWS):
        total += np.bincount(codes[block], minlength=size)
    return total


def take_entries(table: Any, codes: np.ndarray) -> np.ndarray:
    """Return the entry of a table for the code of each row; -1 is the last."""
    out = np.empty(len(codes), table.dtype)
    for block in slices(len(codes), _ROWS):
        out[block] = table[codes[block]]
    return out
