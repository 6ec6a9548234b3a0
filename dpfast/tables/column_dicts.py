"""Columns as the entries of a schema file, and back."""

from dataclasses import fields
from typing import Any

from dpfast.tables.columns import Boolean, Category, Column, Date, Numeric, kind_of, names_declared
from dpfast.tables.discovered import Discovered

KINDS = {kind.kind: kind for kind in (Numeric, Category, Boolean, Date, Discovered)}


def marked(value: Any, unconfirmed: bool) -> Any:
    """Return a value as a schema file has it, where an unconfirmed one is a table {"unconfirmed": value}."""
    return {"unconfirmed": value} if unconfirmed else value


def without_marks(entry: dict) -> tuple[dict, tuple[str, ...]]:
    """Return a copy of an entry of a schema file with plain values, and the keys of the unconfirmed ones."""
    keys = tuple(key for key, value in entry.items() if isinstance(value, dict) and list(value) == ["unconfirmed"])
    return entry | {key: entry[key]["unconfirmed"] for key in keys}, keys


def column_from_dict(entry: dict) -> Column:
    """Return the column that an entry of a schema file declares."""
    if not isinstance(entry, dict) or "name" not in entry:
        raise ValueError(f"a column must have a name and a kind, got {kind_of(entry)}")
    entry, unconfirmed = without_marks(entry)
    name, kind = entry["name"], entry.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"column {name!r}: kind must be one of {', '.join(KINDS)}, ignored; got {kind!r}")
    known = names_declared(KINDS[kind])
    unknown = [key for key in entry if key not in known]
    if unknown:
        raise ValueError(f"column {name!r}: a {kind} column has no {unknown[0]!r}; it has {', '.join(known)}")
    if (wrong := next((key for key, value in entry.items() if isinstance(value, dict)), None)) is not None:
        raise ValueError(f"column {name!r}: {wrong} must be a plain value, got a table")
    return KINDS[kind](**entry, unconfirmed=unconfirmed)


def column_to_dict(column: Column) -> dict:
    """Return the entry that `column_from_dict` reads: the facts that differ from the defaults."""
    entry: dict[str, Any] = {"name": column.name, "kind": marked(column.kind, "kind" in column.unconfirmed)}
    usual = "quantiles" if None in (getattr(column, "low", 0), getattr(column, "high", 0)) else "equal"
    for each in fields(column):
        value = getattr(column, each.name)
        unconfirmed = each.name in column.unconfirmed
        if each.name in ("name", "unconfirmed") or (value == each.default and not unconfirmed):
            continue
        if each.name == "spacing" and value == usual:
            continue
        entry[each.name] = marked(list(value) if isinstance(value, tuple) else value, unconfirmed)
    return entry
