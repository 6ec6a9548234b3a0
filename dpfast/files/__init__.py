"""Files, one module a format: readers parse and hand over to `dpfast.tables`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker reads; a test compares it with _HOMES
    from dpfast.files.datasets import load_dataset as load_dataset
    from dpfast.files.parquet import ParquetRows as ParquetRows
    from dpfast.files.readers import read_table as read_table
    from dpfast.files.spooled import FileParts as FileParts
    from dpfast.files.tables import read_codes as read_codes

_HOMES = {
    "FileParts": "spooled",
    "ParquetRows": "parquet",
    "load_dataset": "datasets",
    "read_codes": "tables",
    "read_table": "readers",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.files' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.files.{_HOMES[name]}"), name)
    return value
