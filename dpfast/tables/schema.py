"""Schemas: the declaration of the columns of a table, of its marks for missing values, and of its label."""

import json
import os
import tomllib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

from dpfast.tables.cells import CodeColumn
from dpfast.tables.columns import (
    Boolean,
    Category,
    Column,
    Date,
    Numeric,
    first_repeated,
    kind_of,
    names_declared,
    text_of,
)
from dpfast.tables.discovered import Discovered
from dpfast.tables.naming import listed
from dpfast.tables.replacing import replace_file
from dpfast.tables.thresholds import read_thresholds, threshold_classes

_KINDS = {kind.kind: kind for kind in (Numeric, Category, Boolean, Date, Discovered)}
_INFORMATION = ("table", "file")  # further keys that a file may have, for its readers
_FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError)
_OWN_FACTS = "missing_values", "ignore"  # that a draft reads off the rows
_UNITS = "unit", "person", "patient", "rows_per_unit"  # keys that a schema does not have
_WIDTH = 100  # of a list on one line
_MARK = "read off the data: confirm that this is public"


@dataclass(frozen=True)
class Label:
    """The column to be learned.

    Parameters
    ----------
    name : str
    classes : sequence of str or int, optional
        The public set of labels, two or more. By default it is read off the rows, and thereby published.
    unconfirmed : bool, default=False
        Whether a draft read `classes` off the rows; a `Schema` with such a label is refused.
    above : float or sequence of float, optional
        Public thresholds that make classes of labels that are numbers: with 50000, "at most 50000" and "above 50000";
        with several, "at most 10", "above 10 to 20" and "above 20".

    Examples
    --------
    >>> Label("price", above=50000).classes
    ('at most 50000', 'above 50000')
    """

    name: str
    classes: tuple | None = None
    unconfirmed: bool = False
    above: Any = field(default=None, kw_only=True)

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name or "\0" in self.name:
            raise ValueError(f"the label must have a name, of text without NUL, got {self.name!r}")
        if self.above is not None:
            object.__setattr__(self, "above", read_thresholds(self.above))
            if self.classes not in (None, threshold_classes(self.above)):
                raise ValueError(f"above makes the classes of the label, and classes declares others: {self.classes!r}")
            object.__setattr__(self, "classes", threshold_classes(self.above))
        if self.classes is None:
            return
        if isinstance(self.classes, str | dict) or not isinstance(self.classes, Iterable):
            raise ValueError(f"classes of the label must be a list, got {self.classes!r}")
        classes = tuple(self.classes)
        texts = [text_of(each) for each in classes]
        if len(classes) < 2 or len({*texts}) < len(texts):
            raise ValueError(f"classes of the label must be two or more, each once, got {list(classes)!r}")
        if not all(isinstance(each, Integral) and not isinstance(each, bool) for each in classes):
            classes = tuple(texts)
        object.__setattr__(self, "classes", classes)

    @property
    def _present(self) -> tuple:
        """Labels that are not missing, whatever their text."""
        return self.classes or ()


@dataclass(frozen=True)
class LabelOfModel(Label):
    """A label of rows to score: `labels` are those of the model, and a row may have another one."""

    labels: tuple = ()

    @property
    def _present(self) -> tuple:
        return self.labels


def number_names(columns: Iterable[Column]) -> set[str]:
    """Return the names of columns whose cells may be numbers; those of others are only texts."""
    return {
        each.name
        for each in columns
        if isinstance(each, Numeric | Discovered) or (isinstance(each, Boolean) and each.values is None)
    }


def date_names(columns: Iterable[Column]) -> set[str]:
    """Return the names of columns whose cells may be dates."""
    return {each.name for each in columns if isinstance(each, Date | Discovered)}


class Schema:
    """Declaration of a table; it is public and must not be read from private rows.

    With a schema, a row becomes one small integer for each of `code_columns`, regardless of the other rows. Facts that
    are not declared (bounds, edges or values that are `None`, or ``spacing="quantiles"``) are discovered privately with
    a share of the budget; `to_find` lists them.

    Parameters
    ----------
    columns : sequence of Column
        The features in their order: `dpfast.tables.Numeric`, `Category`, `Boolean` and `Date`. Other columns of a table
        are not read.
    label : Label or str, optional
        The column to be learned. With a name only, its classes may be declared by ``fit(..., classes=)``.
    missing_values : sequence of str, default=("",)
        The texts that mark missing values in files, in any column. Numbers among them, such as "-999", also mark
        missing values in frames. Nulls and NaN are always missing.
    ignore : sequence of str, default=()
        Columns of the table that are not features.
    sensitive : sequence of str, default=()
        Columns such as "sex", of which the page of a model always says what another value does to predictions. They
        may be among `ignore`, or not in the table at all.
    unconfirmed : sequence of {"missing_values", "ignore"}, default=()
        Which of the two a draft read off the rows. A schema with any of them is refused.

    Raises
    ------
    ValueError
        For repeated names and contradictory declarations; the error names the column.

    Examples
    --------
    >>> from dpfast.tables import Category, Numeric
    >>> schema = Schema([Numeric("age", 0, 120, edges=4), Category("job", ["clerk", "smith"])], label="buys")
    >>> [column.size for column in schema.code_columns]
    [4, 3]
    >>> print(schema.to_toml())
    [label]
    name = "buys"
    <BLANKLINE>
    [[columns]]
    name = "age"
    kind = "numeric"
    low = 0
    high = 120
    edges = 4
    <BLANKLINE>
    [[columns]]
    name = "job"
    kind = "category"
    values = ["clerk", "smith"]
    <BLANKLINE>
    """

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        label: str | Label | None = None,
        missing_values: Sequence[str] = ("",),
        ignore: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        unconfirmed: Sequence[str] = (),
    ) -> None:
        self.columns = tuple(columns)
        wrong = next((each for each in self.columns if not isinstance(each, Column)), None)
        if wrong is not None or not self.columns:
            raise ValueError(f"columns must be dpfast.tables.Numeric, Category, ..., at least one, got {wrong!r}")
        self.label = Label(label) if isinstance(label, str) else label
        if not isinstance(self.label, Label | None):
            raise ValueError(f"label must be the name of a column or a Label, got {label!r}")
        self.missing_values = _texts("missing_values", missing_values)
        self.ignore, self.sensitive = _texts("ignore", ignore), _texts("sensitive", sensitive)
        self._unconfirmed = _texts("unconfirmed", unconfirmed)
        if not {*self._unconfirmed} <= {*_OWN_FACTS}:
            raise ValueError(f"unconfirmed of a schema must be some of {', '.join(_OWN_FACTS)}, got {unconfirmed!r}")
        names = [*self.names, *self.ignore, *([self.label.name] if self.label else [])]
        if (twice := first_repeated(names)) is not None:
            raise ValueError(f"the column {twice!r} is declared twice")

    @property
    def names(self) -> list[str]:
        """Return the names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def to_find(self) -> dict[str, tuple]:
        """Return the facts to discover privately, by the names of the columns: those that are not declared."""
        return {column.name: facts for column in self.columns if (facts := column.to_find)}

    @cached_property
    def code_columns(self) -> tuple[CodeColumn, ...]:
        """Return the columns of codes of a row, in order; raise an error if something has to be discovered."""
        self.refuse_unconfirmed()
        return tuple(code_column for column in self.columns for code_column in column.code_columns())

    @property
    def unconfirmed(self) -> list[str]:
        """Return the facts of a draft that nobody has confirmed: "column.fact", "missing_values" and "ignore"."""
        facts = [f"{column.name}.{fact}" for column in self.columns for fact in column.unconfirmed]
        facts += [f"{self.label.name}.classes"] if self.label and self.label.unconfirmed else []
        return [*facts, *self._unconfirmed]

    def refuse_unconfirmed(self) -> None:
        """Refuse the schema if there is anything `unconfirmed`."""
        facts = self.unconfirmed
        if facts:
            raise ValueError(
                f"the schema is an unconfirmed draft: {listed(facts, 4)} read off the rows. Confirm each that is "
                "public (take .unconfirmed away in the file), or delete its line to have it found privately"
            )

    def confirm(self) -> "Schema":
        """Return the same schema, with everything that a draft read off the rows confirmed to be public.

        Returns
        -------
        Schema
        """
        label = self.label and replace(self.label, unconfirmed=False)
        return self._with([column.confirm() for column in self.columns], label)

    def confirmed(self) -> "Schema":
        """Return the result of `confirm`, of which this is the former name.

        Returns
        -------
        Schema
        """
        warnings.warn("Schema.confirmed is now Schema.confirm; the old name goes with 0.3", FutureWarning, stacklevel=2)
        return self.confirm()

    def with_spacing(self, spacing: str) -> "Schema":
        """Return this schema with numbers in bins of this spacing, unless bins are declared.

        Parameters
        ----------
        spacing : {"fine", "mixed"}
            As for `Numeric`.

        Returns
        -------
        Schema
        """
        return self._with([column.with_spacing(spacing) for column in self.columns], self.label, self._unconfirmed)

    def fine(self) -> "Schema":
        """Return this schema for learners that merge bins: see `with_spacing`.

        Returns
        -------
        Schema
        """
        return self.with_spacing("fine")

    def with_facts(self, facts: dict[str, dict[str, Any]]) -> "Schema":
        """Return the same schema with discovered facts.

        Parameters
        ----------
        facts : dict of dict
            The facts by the names of columns, such as {"low": ...} or {"values": ...}.

        Returns
        -------
        Schema
        """
        columns = [column.with_facts(**facts.get(column.name, {})) for column in self.columns]
        return self._with(columns, self.label, self._unconfirmed)

    def _with(self, columns, label, unconfirmed=()):
        return Schema(
            columns,
            label=label,
            missing_values=self.missing_values,
            ignore=self.ignore,
            sensitive=self.sensitive,
            unconfirmed=unconfirmed,
        )

    # ---- tables ----------------------------------------------------------------------------------------------------

    @classmethod
    def draft(cls, table: Any, label: "str | Label | None" = None, *, missing: Sequence[str] = ()) -> "Schema":
        """Return a schema from names and types; ranges and values are read off the rows, to be confirmed.

        Parameters
        ----------
        table : DataFrame, Arrow table or dict of arrays
            The kinds of columns, and the categories of pandas and Arrow dictionaries, are taken from the rows, too.
        label : str or Label, optional
            The classes of a `Label` are kept as they are declared.
        missing : sequence of str, optional
            Further texts that mark missing values in this table, in addition to the usual ones.

        Returns
        -------
        Schema
            Unconfirmed; only the owner may see it until every fact has been confirmed to be public or removed.
        """
        from dpfast.tables.drafts import make_draft

        name = label.name if isinstance(label, Label) else label
        columns, classes, missing_values, ignore = make_draft(table, name, missing)
        if not columns:
            raise ValueError(
                "there is nothing to declare: besides the label, each column is constant or empty, numbers the rows, "
                f"or has very many values: {listed([*map(repr, ignore)])}"
            )
        declared = isinstance(label, Label) and label.classes is not None
        target = label if declared else None if name is None else Label(name, classes, True)
        return cls(columns, label=target, missing_values=missing_values, ignore=ignore, unconfirmed=_OWN_FACTS)

    def check(self, table: Any) -> list[str]:
        """Return the differences between a table and this schema, in both directions; private, for the owner only.

        Parameters
        ----------
        table : DataFrame, Arrow table or dict of arrays

        Returns
        -------
        list of str
            One line for each difference; empty if the table is as declared.
        """
        from dpfast.tables.drafts import check

        return check(self, table)

    # ---- files -----------------------------------------------------------------------------------------------------

    @classmethod
    def from_file(cls, path) -> "Schema":
        """Return the schema that a TOML or JSON file declares; refuse a damaged or an invalid one.

        Parameters
        ----------
        path : str or path-like
            Ends in .toml or .json.

        Returns
        -------
        Schema
        """
        path = Path(path)
        reader = tomllib.loads if _is_toml(path) else json.loads
        try:
            return cls.from_dict(reader(path.read_text(encoding="utf-8")))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text: {error.reason}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        except _FAULTS as error:
            raise ValueError(f"{path} is no schema: {type(error).__name__}: {error}") from None

    @classmethod
    def from_dict(cls, document: dict) -> "Schema":
        """Return the schema that `to_dict` wrote; refuse other documents.

        Parameters
        ----------
        document : dict

        Returns
        -------
        Schema
        """
        if not isinstance(document, dict) or not isinstance(document.get("columns"), list):
            raise ValueError("a schema must have columns, a list of tables [[columns]], each with a name and a kind")
        entries = {"columns", "label", "missing_values", "ignore", "sensitive", *_INFORMATION}
        unknown = [key for key in document if key not in entries]
        if unknown:
            hint = ""
            if unknown[0].rstrip("s") in _UNITS:
                hint = (
                    ". The column that says whose a row is belongs to the fit: units= with rows_per_unit= (--unit "
                    "patient --rows-per-unit 1)"
                )
            raise ValueError(f"a schema has no {unknown[0]!r}; it has {', '.join(sorted(entries))}{hint}")
        label = document.get("label")
        if isinstance(label, dict):
            entry, unconfirmed = _without_marks({key: value for key, value in label.items() if key != "kind"})
            if not {"name"} <= {*entry} <= {"name", "classes", "above"} or {"name", "above"} & {*unconfirmed}:
                raise ValueError(f"the label has a name, a kind, and classes or above; got {', '.join(label)}")
            label = Label(**entry, unconfirmed=bool(unconfirmed))
        own = {"missing_values": document.get("missing_values", ("",)), "ignore": document.get("ignore", ())}
        sensitive = document.get("sensitive", ())
        own, unconfirmed = _without_marks(own)
        columns, ignore = [], list(_texts("ignore", own["ignore"]))
        for entry in document["columns"]:
            if isinstance(entry, dict) and entry.get("kind") == "ignored" and "name" in entry:
                ignore.append(entry["name"])
            else:
                columns.append(_column_from_dict(entry))
        own = {"missing_values": own["missing_values"], "ignore": ignore, "sensitive": sensitive}
        return cls(columns, label=label, unconfirmed=unconfirmed, **own)

    def to_dict(self) -> dict:
        """Return the schema as a dictionary that JSON can hold, for `from_dict`.

        Returns
        -------
        dict
        """
        document: dict[str, Any] = {}
        for name, usual in (("missing_values", ("",)), ("ignore", ()), ("sensitive", ())):
            value, unconfirmed = getattr(self, name), name in self._unconfirmed
            if value != usual or unconfirmed:
                document[name] = _mark(list(value), unconfirmed)
        if self.label is not None:
            document["label"] = {"name": self.label.name}
            if self.label.above is not None:
                document["label"]["above"] = list(self.label.above)
            elif self.label.classes is not None:
                document["label"]["classes"] = _mark(list(self.label.classes), self.label.unconfirmed)
        document["columns"] = [_column_to_dict(column) for column in self.columns]
        return document

    def to_toml(self) -> str:
        """Return the schema as TOML, for `from_file`.

        Returns
        -------
        str
            Facts to be confirmed are marked, each on its line.
        """
        document = self.to_dict()
        tables = [("[label]", document.pop("label"))] if "label" in document else []
        tables += [("[[columns]]", entry) for entry in document.pop("columns")]
        parts = [_toml(document)] if document else []
        return "\n".join([*parts, *(f"{head}\n{_toml(entry)}" for head, entry in tables)])

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as TOML or JSON, by the ending of the name.

        The file is replaced atomically. If anything of a draft is unconfirmed, only the owner can read the file (mode
        600).

        Parameters
        ----------
        path : str or path-like
            Ends in .toml or .json.
        """
        path = Path(path)
        toml = _is_toml(path)
        text = self.to_toml() if toml else json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
        replace_file(path, lambda file: file.write(text.encode()), mode=0o600 if self.unconfirmed else 0o666)

    def __getstate__(self):
        return {
            name: value for name, value in vars(self).items() if name != "code_columns"
        }  # they follow from the rest

    def __eq__(self, other):
        return isinstance(other, Schema) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash(json.dumps(self.to_dict()))

    def __repr__(self):
        discovery = f", to find privately: {', '.join(self.to_find)}" if self.to_find else ""
        label = f", label {self.label.name!r}" if self.label else ""
        return f"<Schema of {len(self.columns)} columns{label}{discovery}>"


def _is_toml(path):
    """Return whether a schema file is TOML, not JSON, by its name; refuse other names."""
    if path.suffix.lower() not in (".toml", ".json"):
        words = (
            "" if path.suffix else '; without a file, "discover" asks for a discovery and "vectors" for rows of numbers'
        )
        raise ValueError(f"{path}: the name of a schema file must end in .toml or .json{words}")
    return path.suffix.lower() == ".toml"


def _column_from_dict(entry: dict) -> Column:
    """Return the column that an entry of a schema file declares."""
    if not isinstance(entry, dict) or "name" not in entry:
        raise ValueError(f"a column must have a name and a kind, got {kind_of(entry)}")
    entry, unconfirmed = _without_marks(entry)
    name, kind = entry["name"], entry.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"column {name!r}: kind must be one of {', '.join(_KINDS)}, ignored; got {kind!r}")
    names = names_declared(_KINDS[kind])
    unknown = [key for key in entry if key not in names]
    if unknown:
        raise ValueError(f"column {name!r}: a {kind} column has no {unknown[0]!r}; it has {', '.join(names)}")
    if (wrong := next((key for key, value in entry.items() if isinstance(value, dict)), None)) is not None:
        raise ValueError(f"column {name!r}: {wrong} must be a plain value, got a table")
    return _KINDS[kind](**entry, unconfirmed=unconfirmed)


def _column_to_dict(column: Column) -> dict:
    """Return the entry that `_column_from_dict` reads: the facts that differ from the defaults."""
    entry: dict[str, Any] = {"name": column.name, "kind": _mark(column.kind, "kind" in column.unconfirmed)}
    usual = "quantiles" if None in (getattr(column, "low", 0), getattr(column, "high", 0)) else "equal"
    left_out = {"name", "unconfirmed", "spacing" if getattr(column, "spacing", None) == usual else ""}
    for each in fields(column):
        value, unconfirmed = getattr(column, each.name), each.name in column.unconfirmed
        if each.name not in left_out and (value != each.default or unconfirmed):
            entry[each.name] = _mark(list(value) if isinstance(value, tuple) else value, unconfirmed)
    return entry


def _mark(value: Any, unconfirmed: bool) -> Any:
    """Return a value as a schema file has it, where an unconfirmed one is a table {"unconfirmed": value}."""
    return {"unconfirmed": value} if unconfirmed else value


def _without_marks(entry: dict) -> tuple[dict, tuple[str, ...]]:
    """Return a copy of an entry of a schema file with plain values, and the keys of the unconfirmed ones."""
    keys = tuple(key for key, value in entry.items() if isinstance(value, dict) and list(value) == ["unconfirmed"])
    return entry | {key: entry[key]["unconfirmed"] for key in keys}, keys


def _texts(name, values):
    if isinstance(values, str | dict) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of texts, got {values!r}")
    values = tuple(values)
    wrong = next((value for value in values if not isinstance(value, str)), None)
    if wrong is not None:
        raise ValueError(f"{name} must be a list of texts, got {wrong!r} in it")
    return values


def _toml(entry):
    lines = []
    for key, value in entry.items():
        if not isinstance(value, dict):
            lines.append(f"{key} = {_toml_value(value)}\n")
            continue
        kind = entry.get("kind")
        kind = kind["unconfirmed"] if isinstance(kind, dict) else kind
        findable = key in _KINDS[kind].facts if kind in _KINDS else False
        rest = ", or leave it to be found privately" if findable else ""
        text = f"{key}.unconfirmed = {_toml_value(value['unconfirmed'])}"
        lines.append(f"# {_MARK}{rest}\n{text}\n" if "\n" in text else f"{text}  # {_MARK}{rest}\n")
    return "".join(lines)


def _toml_value(value):
    if isinstance(value, list):
        items = [_toml_value(each) for each in value]
        if sum(map(len, items)) + 2 * len(items) <= _WIDTH:
            return f"[{', '.join(items)}]"
        lines = [""]
        for item in items:
            lines += [item] if len(lines[-1]) + len(item) > _WIDTH else []
            lines[-1] = f"{lines[-1]} {item},".lstrip() if lines[-1] != item else f"{item},"
        return "\n".join(["[", *(f"    {line}" for line in lines), "]"])
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
