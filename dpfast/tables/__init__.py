"""What learners read, and how a row becomes an image: one row, one image; nothing here looks at two rows at once.

Loads what it needs when first used: Arrow, for tables with a schema only.
"""

from importlib import import_module

_HOMES = {
    "BitMatrix": "bit_matrix",
    "Boolean": "columns",
    "Category": "columns",
    "CodeColumn": "columns",
    "CodeTable": "codes",
    "Date": "columns",
    "Label": "schema",
    "Numeric": "columns",
    "Schema": "schema",
}

__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.tables' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.tables.{_HOMES[name]}"), name)
    return value
