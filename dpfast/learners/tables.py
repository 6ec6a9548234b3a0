"""Tables with a schema: what every private classifier does to read them."""

import os

import numpy as np

from dpfast.accounting import PrivacySpend
from dpfast.accounting.amounts import split
from dpfast.accounting.warning import warn_of_repeated_rows
from dpfast.files.spooled import FileParts
from dpfast.learners.fitting import Public
from dpfast.learners.parameters import SCHEMA, count, optional, real
from dpfast.learners.saving import entries
from dpfast.learners.units import bounded_rows, own_generator, picked
from dpfast.parts.sources import is_parted, parts_of
from dpfast.tables.codes import CodeTable
from dpfast.tables.labels import class_codes
from dpfast.tables.schema import Label, Schema

SCHEMAS = {"schema": optional(SCHEMA), "encoder_share": real(0, 1, "()")}


class TableReader:
    """Mixin of private classifiers with the parameters `schema` and `encoder_share`; see `TableEncoder`.

    A learner calls `_tabled` once its parameters are checked, and `_coded` for what it predicts; both give what is no
    table with a schema back as it is. It spends no more than p.epsilon and p.delta, of `_checked`.
    """

    _encoder = None  # of the fit under way, and of the model after it
    _reads_parts = False  # whether it asks no more of rows than sums over parts
    _codes_as = "thresholds"  # what it reads: bits of "thresholds" or of "values", or the "codes" themselves

    def _checked(self):
        p = super()._checked()
        vars(self).pop("_encoder", None)
        vars(self).pop("_rows_per_unit", None)
        p.rows_per_unit, p.one_column = 1, False
        if p.schema is not None:
            p.schema.refuse_unconfirmed()
        if p.schema is not None and p.schema.to_find:
            from dpfast.learners.finding import plan

            p.epsilon, epsilon = split(self.epsilon, self.encoder_share)
            p.delta, delta = split(self.delta, self.encoder_share)
            p.to_find = epsilon, delta
            plan(p.schema, *p.to_find, self.neighbors)  # refuses what will not do
        return p

    def _tabled(self, X, y, classes, p, units=None, rows_per_unit=None):
        """X, y and classes of `fit`, as the learner reads them.

        With `units` at most `rows_per_unit` rows of each are left, p.rows_per_unit is that, and the claim is for
        persons: see `dpfast.learners.units`.

        What the schema leaves open is found here, once the table and its labels have passed: all of the budget is
        charged, and from then on self is no model any more, but has `encoder_`, with what was found and its claim.
        """
        X = _files(X)
        if units is not None or rows_per_unit is not None:
            X, y = self._bounded(X, y, p, units, rows_per_unit)
        if isinstance(X, FileParts) and p.schema is None:
            X, y = _numbers(X, y)
        if is_parted(X) and not self._reads_parts:
            raise ValueError(
                f"{type(self).__name__} learns from one row after another, and takes no table in parts; "
                "HalfspaceClassifier, DecisionListClassifier, DPWinnowClassifier, BoostedHalfspaceClassifier, "
                "ProjectedHalfspaceClassifier, NetHalfspaceClassifier and FiniteClassLearner do"
            )
        if is_parted(X):
            self._refuse_parts(p)
        if not is_parted(X) and units is None:
            warn_of_repeated_rows(X)
        if p.schema is None and not is_parted(X):
            return self._read_codes(X), y, classes
        from dpfast.learners.encoder import TableEncoder
        from dpfast.tables.encoding import Encoding
        from dpfast.tables.parted import PartedEncoding, parted_numbers

        if p.schema is None:
            return parted_numbers(parts_of(X, y), classes, one_column=p.one_column), None, classes

        label = p.schema.label or Label("y")
        classes = label.classes if classes is None else classes
        if isinstance(X, CodeTable):
            if p.schema.to_find or X.columns != p.schema.code_columns:
                raise ValueError("X is a table of codes, of another schema or of one that leaves something to be found")
            self._encoder = TableEncoder(p.schema).find(Encoding(p.schema), p.rng)
            return self._read_codes(X), y, classes
        if y is None and p.schema.label is None:
            raise ValueError("y must be given: the schema declares no label")
        if isinstance(X, FileParts):
            if y is not None:
                raise ValueError("y must not be given beside files with a schema, which says which column it is")
            encoding = X = X.encoded(p.schema, label)
        elif is_parted(X):
            encoding = PartedEncoding(parts_of(X, y, [*p.schema.names, label.name]), p.schema, label)
        else:
            encoding = X if isinstance(X, Encoding) else Encoding(p.schema, label)
        if encoding.schema != p.schema:
            raise ValueError("X was read by another schema")
        if isinstance(encoding, Encoding) and encoding is not X:
            encoding.add(X, y)
        if not encoding.n:
            raise ValueError("X must have at least one row, the table has none")
        labels = encoding.labels()
        known = class_codes(labels, len(labels), classes)
        if not self.__sklearn_tags__().classifier_tags.multi_class:
            known.signs()  # refuses more than two classes
        encoder = TableEncoder(p.schema, *getattr(p, "to_find", ()), neighbors=self.neighbors)
        if p.schema.to_find:
            self._refuse_rows(encoding.n, p)
            self._refuse_classes(known.classes, p)
            found = Public(encoding.n, len(p.schema.names), declared=known.declared)
            self._warn(found)
            super()._charge(PrivacySpend(self.epsilon, self.delta, self.neighbors), found)
            self._forget()
            self.encoder_ = encoder
        self._encoder = encoder.find(encoding, p.rng)
        if is_parted(X):
            return encoding.table(encoder.schema_, known), None, classes
        return self._read_codes(encoding.table(encoder.schema_)), labels, classes

    def _bounded(self, X, y, p, units, rows_per_unit):
        """The rows that are left of each person."""
        if units is None or rows_per_unit is None:
            raise ValueError("units= and rows_per_unit= go together: whose each row is, and how many of a person count")
        p.rows_per_unit = count(1).read("rows_per_unit", rows_per_unit)
        if is_parted(X) or isinstance(X, FileParts):
            raise ValueError(f"units= is for tables in memory, and X is a {type(X).__name__}")
        if p.schema is not None and p.schema.to_find:
            raise ValueError("units= needs a schema that declares all: what it leaves open is found for rows")
        self._refuse_persons(p)
        kept = bounded_rows(units, p.rows_per_unit, own_generator(p.rng))
        self._rows_per_unit = p.rows_per_unit
        return picked(X, y, kept, len(units))

    def _refuse_persons(self, p):
        """Settle what is for persons of p.rows_per_unit rows, or refuse them; for learners where something is."""

    def _refuse_parts(self, p):
        """Refuse parameters that need all rows at once; for learners where some do."""

    def _refuse_rows(self, n, p):
        """Refuse a number of rows that parameters do not suit; for learners where some do not.

        Before a schema is found, too: what would fail afterwards is to fail before the charge.
        """

    def _refuse_classes(self, classes, p):
        """Refuse classes that parameters do not suit; for learners where some do not. When, as `_refuse_rows`."""

    def _planned_width(self, p):
        """Columns of what this learner reads if all edges are found that the schema asks for, and no values."""
        facts = {}
        for column in p.schema.columns:
            names = column.to_find
            if not names:
                continue
            low, high = getattr(column, "low", None), getattr(column, "high", None)
            low = (1.0 if high is None else min(1.0, high / 2) if high > 0 else high - 1) if low is None else low
            ends = {"low": low, "high": max(low + 1, 2.0) if high is None else high}
            found = {fact: ends[fact] for fact in names if fact in ends}
            if "edges" in names:
                found["edges"] = tuple(np.linspace(*ends.values(), column.edges + 1)[1:-1].tolist())
            facts[column.name] = found | ({"values": ()} if "values" in names else {})
        return self._read_codes(_empty(p.schema.found(facts))).shape[1]

    def _coded(self, X):
        """X of `predict`, as the learner reads it."""
        if hasattr(self, "encoder_"):
            from dpfast.tables.encoding import Encoding, encode

            schema = self.encoder_.schema_
            if isinstance(X, str | os.PathLike):
                raise ValueError("X must be a table in memory; dpfast.files.read_codes reads files by encoder_.schema_")
            if not isinstance(X, CodeTable):
                X = X.table(schema) if isinstance(X, Encoding) else encode(X, schema)
            elif X.columns != schema.code_columns:
                raise ValueError("X is a table of codes, of another schema than the model's")
            if not len(X):
                raise ValueError("X must have at least one row, the table has none")
        return self._read_codes(X)

    def _read_codes(self, X):
        if not isinstance(X, CodeTable) or self._codes_as == "codes":
            return X
        from dpfast.tables.code_bits import code_bits

        return code_bits(X, thresholds=self._codes_as == "thresholds")

    def _restore_encoder(self, saved):
        """Read tables as a model's file says: `encoder_` comes back, and its schema as the parameter."""
        from dpfast.learners.encoder import TableEncoder

        entries(saved, "schema", "privacy", maybe=("found",))
        schema, claim = Schema.from_dict(saved["schema"]), PrivacySpend.from_dict(saved["privacy"])
        self.schema, self.encoder_ = schema, TableEncoder(schema, neighbors=self.neighbors)
        self.encoder_._become(Public(0, len(schema.names), np.array(schema.names, dtype=object)))
        self.encoder_.schema_, self.encoder_.privacy_ = schema, claim
        self.encoder_.found_ = _facts(saved.get("found", {}), schema)
        self._check_features(self._read_codes(_empty(schema)), reset=False)

    def _charge(self, claim, public):
        if not self._finds():  # else all was charged before anything was found
            super()._charge(claim, public)

    def _cost(self, run):
        return () if self._finds() else super()._cost(run)

    def _finds(self):
        """Whether something was found privately, by the fit under way."""
        return self._encoder is not None and bool(self._encoder.schema.to_find)

    def _warn(self, public):
        if not self._finds():  # else it was said before the charge
            super()._warn(public)

    def _events(self, run):
        found = self._encoder.privacy_.events if self._encoder is not None else ()
        return (*found, *super()._events(run))

    def _become(self, public):
        super()._become(public)
        if self._encoder is not None:
            self.encoder_ = self._encoder


def _files(X):
    """The table, or the files that a text or a path means."""
    return FileParts(X) if isinstance(X, str | os.PathLike) else X


def _numbers(files, y):
    """Rows and labels of files of numbers; the labels may come apart."""
    X, read = files.numbers()
    if (read is None) == (y is None):
        raise ValueError("y must be given, or be read from the files by FileParts(..., label=), and not both")
    return X, read if y is None else y


def _facts(saved, schema):
    """What was found, as a model's file says."""
    facts = {column.name: {*column.facts, "edges"} for column in schema.columns}
    if not isinstance(saved, dict) or not all(
        name in facts and isinstance(each, list) and {*map(str, each)} <= facts[name] for name, each in saved.items()
    ):
        raise ValueError("what was found must be lists of facts by the names of columns")
    return saved


def _empty(schema):
    """A table of the codes of a schema, of no rows."""
    columns = schema.code_columns
    arrays, sizes = [np.empty(0, np.uint8)] * len(columns), [column.size for column in columns]
    return CodeTable.from_arrays(arrays, sizes, names=[column.name for column in columns], columns=columns)
