"""What learners read, and how a row becomes an image: one row, one image; nothing here looks at two rows at once.

Loads what it needs when first used: Arrow, for tables with a schema only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker reads; a test compares it with _HOMES
    from dpfast.tables.bit_matrix import BitMatrix as BitMatrix
    from dpfast.tables.code_column import CodeColumn as CodeColumn
    from dpfast.tables.codes import CodeTable as CodeTable
    from dpfast.tables.columns import Boolean as Boolean
    from dpfast.tables.columns import Category as Category
    from dpfast.tables.columns import Date as Date
    from dpfast.tables.columns import Numeric as Numeric
    from dpfast.tables.schema import Label as Label
    from dpfast.tables.schema import Schema as Schema
    from dpfast.tables.streams import StreamParts as StreamParts

_HOMES = {
    "BitMatrix": "bit_matrix",
    "Boolean": "columns",
    "Category": "columns",
    "CodeColumn": "code_column",
    "CodeTable": "codes",
    "Date": "columns",
    "Label": "schema",
    "Numeric": "columns",
    "Schema": "schema",
    "StreamParts": "streams",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.tables' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.tables.{_HOMES[name]}"), name)
    return value
