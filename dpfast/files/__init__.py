"""Files, one module a format: readers parse and hand over to `dpfast.tables`."""

from importlib import import_module

_HOMES = {
    "FileParts": "spooled",
    "ParquetRows": "parquet",
    "load_dataset": "datasets",
    "read_codes": "tables",
    "read_table": "readers",
}

__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.files' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.files.{_HOMES[name]}"), name)
    return value
