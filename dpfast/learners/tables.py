"""Reading of tables by all private classifiers: by a schema, by discovery, or as arrays of numbers."""

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, validate_data

from dpfast.accounting import PrivacySpend
from dpfast.accounting.claims import warn_of_repeated_rows
from dpfast.accounting.numbers import split
from dpfast.files.names import NotNumbers
from dpfast.files.spooled import FileParts
from dpfast.learners.discovery import discover, plan
from dpfast.learners.fitting import Public
from dpfast.learners.parameters import SCHEMA, auto, count, optional, real
from dpfast.learners.saving import entries, found_facts, found_shares
from dpfast.learners.units import bounded_parts, bounded_rows, own_generator, picked, units_of
from dpfast.parts.sources import is_parted, is_stream, outline, parts_of
from dpfast.tables.arrow import header_of, is_frame, reads_of
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import Numeric, text_of
from dpfast.tables.discovered import WIDEST, Discovered
from dpfast.tables.labels import class_codes, completed, label_kind, labels_among, other_label, typed, typed_labels
from dpfast.tables.schema import Label, Schema
from dpfast.tables.streams import Source, StreamParts

SCHEMAS = {"schema": optional(auto(SCHEMA, "discover")), "encoder_share": auto(real(0, 1, "()"))}
SHARE = Fraction(1, 10)  # of the budget, for the discovery
MOST_LABELS = 256  # discovered at most


class TableReader:
    """Mixin of private classifiers with the parameters `schema` and `encoder_share`.

    A learner calls `_tabled` within `_fitting` once its parameters are checked, and `_coded` when it predicts; both
    return arrays without a schema unchanged. The learner itself may spend at most p.epsilon and p.delta of `_checked`.
    """

    _encoder = None  # of the current fit, and then of the model
    _reads_parts = False  # whether it needs only sums over the parts of a table
    _codes_as = "thresholds"  # what it reads: bits for "thresholds" or for "values", or the "codes" themselves
    _merges_bins = False  # whether it wants numbers in fine bins, which it merges itself
    _discovery_share = SHARE
    _one_bill = False  # whether its releases are Gaussian and share the bill of the discovery

    def _checked(self, X=None, y=None, units=None):
        """Return checked parameters; `schema` describes X if X has named columns and nothing is declared.

        `source` is X as a `Source` if its rows are read batch by batch. `y` and `units` may be names of columns.
        """
        p, X = super()._checked(X, y, units), _opened(X, y)
        p.source = X if isinstance(X, Source) else None
        for name in ("_encoder", "_rows_per_unit", "_width_of_codes"):
            vars(self).pop(name, None)
        p.rows_per_unit, p.one_column, p.plan, p.found = 1, False, None, None
        if p.schema == "discover" or (p.schema is None and (is_frame(outline(X)) or isinstance(X, StreamParts))):
            without = [units] if isinstance(units, str) else []
            p.schema = X.undeclared(without) if p.source is not None else undeclared(outline(X), _name(y), without)
        if p.schema is not None:
            p.schema.refuse_unconfirmed()
            p.schema = self._read_by(p.schema)
        if p.schema is None or not p.schema.to_find:
            return p
        share = self._share_of_discovery()
        delta = getattr(p, "delta", 0)
        p.bill, p.encoder_share = (p.epsilon, delta, Fraction(share)), Fraction(share)
        if not self._one_bill:
            p.epsilon, epsilon = split(self.epsilon, share)
            if delta:
                p.delta, delta = split(self.delta, share)
            p.bill = epsilon, delta, Fraction(1)
        plan(p.schema, *p.bill[:2], self.neighbors, share=p.bill[2], rest=self._rest(p))  # may refuse the budget
        return p

    @classmethod
    def _read_by(cls, schema):
        """Return the schema as this learner reads tables by it."""
        return schema.fine() if cls._merges_bins else schema

    def _share_of_discovery(self):
        return self._discovery_share if self.encoder_share == "auto" else self.encoder_share

    def _tabled(self, X, y, classes, p, units=None, rows_per_unit=None, run=None):
        """Return X, y and classes of `fit` in the form that the learner reads.

        With `units`, at most `rows_per_unit` rows of each person are kept, p.rows_per_unit is this number, and the
        claim protects persons: see `dpfast.learners.units`.

        What the schema leaves open is discovered here, after the table and its labels have been checked. The whole
        budget is charged before the discovery, and nothing is refused afterwards.
        """
        X, y, named = X if p.source is None else p.source, None if isinstance(y, str) else y, _name(y)
        if run is not None:
            run.label = named or _label_name(p.schema, y)
        label = kind = None
        if p.schema is not None:
            label = p.schema.label or Label(named or "y")
            if label.name != (named or label.name):
                raise ValueError(f"y names the label {named!r}, and the schema declares {label.name!r}")
            kind = label_kind(X if p.source is None else p.source.like(), y, label.name)
        elif named is not None and p.source is None:
            raise ValueError(
                "y is the name of a column, and no schema says what the others are: give schema=, or an array y"
            )
        asked = isinstance(self.schema, str) and self.schema == "discover"
        if asked and p.source is None and not is_parted(X):
            X = _named(X, p.schema.names)
        if is_parted(X) and not self._reads_parts:
            raise ValueError(
                f"{type(self).__name__} learns from one row after another, and takes no table in parts; "
                "HalfspaceClassifier, DecisionListClassifier, DPWinnowClassifier, BoostedHalfspaceClassifier, "
                "ProjectedHalfspaceClassifier, NetHalfspaceClassifier and FiniteClassLearner do"
            )
        if is_parted(X):
            self._refuse_parts(p)
        labelled = y is not None or named is not None
        if units is not None or rows_per_unit is not None:
            X, y = self._bounded(X, y, p, label, units, rows_per_unit)
        if p.source is not None and p.schema is None:
            X, y = _numbers(X, y)
        if not is_parted(X) and units is None:
            warn_of_repeated_rows(X)
        if p.schema is None and not is_parted(X):
            return self._read_codes(X), y, classes
        from dpfast.learners.encoder import TableEncoder
        from dpfast.tables.encoding import Encoding
        from dpfast.tables.parted import PartedEncoding, parted_numbers

        if p.schema is None:
            return parted_numbers(parts_of(X, y), classes, one_column=p.one_column), None, classes

        classes = label.classes if classes is None else classes
        if isinstance(X, CodeTable):
            schemas = () if p.schema.to_find else (p.schema, SCHEMA.plain(self.schema))
            p.schema = next((each for each in schemas if X.columns == each.code_columns), None)
            if p.schema is None:
                raise ValueError("X is a table of codes, of another schema or of one that leaves something to be found")
            self._encoder = TableEncoder(p.schema)._declared(Encoding(p.schema))
            return self._read_codes(X), y, classes
        if not labelled and p.schema.label is None:
            raise ValueError("y must be given: the schema declares no label")
        if isinstance(X, Source):
            _refuse_labels(y)
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
        encoder = TableEncoder(p.schema, neighbors=self.neighbors)
        if p.schema.to_find:
            encoder.epsilon, encoder.delta = self.epsilon, getattr(self, "delta", 0.0)
            known, labels = self._discovered(encoding, encoder, classes, kind, p, run)
        else:
            labels = typed_labels(encoding.labels(), kind)
            known = class_codes(labels, len(labels), typed(classes, kind))
            self._refuse_many(known)
            encoder._declared(encoding)
        self._encoder = encoder
        if is_parted(X):
            return encoding.table(encoder.schema_, known), None, known.classes if known.declared else classes
        table = self._read_codes(encoding.table(encoder.schema_))
        return table, labels, known.classes if known.declared else classes

    def _discovered(self, encoding, encoder, classes, kind, p, run):
        """Charge for everything, release the opening histogram, and return the labels."""
        if run is None:
            raise ValueError(f"{type(self).__name__} needs a schema that declares all of a table")
        declared, pure = None, not p.bill[1]  # labels can be discovered only with delta > 0
        if classes is not None or pure:
            labels = typed_labels(encoding.labels(), kind)
            known = class_codes(labels, len(labels), typed(classes, kind))
            self._refuse_many(known)
            self._refuse_classes(known.classes, p)
            declared = known.classes
        elif kind == "float":
            check_classification_targets(np.asarray(typed_labels(encoding.labels(), kind).spellings))
        if declared is None and isinstance(getattr(p, "class_weight", None), Mapping):
            raise ValueError("class_weight names classes, and discovered labels may lack one: declare classes=")
        self._refuse_rows(encoding.n, p)
        epsilon, delta, share = p.bill
        asked = "declared" if declared is not None else "open"
        p.plan = planned = plan(
            p.schema,
            epsilon,
            delta,
            self.neighbors,
            labels=asked,
            share=share,
            rest=self._rest(p),
            rows_per_unit=p.rows_per_unit,
        )
        names, counts = np.array(p.schema.names, dtype=object), encoding.counts()
        public = Public(encoding.n, len(names), names, declared=classes is not None or not pure)
        run.charge(public, planned.total if self._one_bill else (), learns=False, **{"opening histogram": 1})
        spelled = None if declared is None else [text_of(each) for each in declared.tolist()]
        p.found = found = discover(p.schema, counts, planned, run.rng, spelled, fine=self._merges_bins)
        run.used["opening histogram"] += 1
        encoder._found(encoding, found, planned, run)
        if declared is None:
            multi = self.__sklearn_tags__().classifier_tags.multi_class
            declared = completed([*found.labels][: MOST_LABELS if multi else 2], kind)
            encoder.other_label_ = other_label(found.labels, declared)
            labels = labels_among(*encoding.spelled(), declared, encoder.other_label_)
            known = class_codes(labels, len(labels), declared)
        return known, labels

    def _rest(self, p):
        """Return the learner's releases that share the bill of the discovery, if `_one_bill`."""
        return ()

    def _refuse_many(self, known):
        if not self.__sklearn_tags__().classifier_tags.multi_class:
            known.signs()  # refuses more than two classes

    def _bounded(self, X, y, p, label, units, rows_per_unit):
        """Return the kept rows of each person; read them first if X is a source."""
        if units is None or rows_per_unit is None:
            raise ValueError("units= and rows_per_unit= go together: whose each row is, and how many of a person count")
        p.rows_per_unit = count(1).read("rows_per_unit", rows_per_unit)
        name = _name(units)
        if p.source is not None and (name is None or p.schema is None):
            raise ValueError(
                f"units= is an array for tables in memory or in parts, and X is a {type(X).__name__}; of a stream, and "
                "of files with a schema, it may be the name of a column"
            )
        if name is not None and p.schema is None:
            raise ValueError(f"units={name!r} is the name of a column, and X holds vectors: give an array")
        if name is not None and name in (*p.schema.names, label.name):
            raise ValueError(f"units={name!r} is a column of the schema: take it out, or the model learns persons")
        self._refuse_persons(p)
        self._rows_per_unit = p.rows_per_unit
        if is_parted(X):
            columns = None if p.schema is None else [*p.schema.names, label.name, *([] if name is None else [name])]
            return bounded_parts(parts_of(X, y, columns), units, p.rows_per_unit, own_generator(p.rng)), None
        if p.source is not None:
            _refuse_labels(y)
            X = p.source.encoded(p.schema, label, name)
            units = X.units.whole()
        elif name is not None:
            units = units_of(X, name)
        kept = bounded_rows(units, p.rows_per_unit, own_generator(p.rng))
        return picked(X, y, kept, len(units))

    def _refuse_persons(self, p):
        """Adapt the plan to persons of p.rows_per_unit rows, or refuse it; overridden by learners that need this."""

    def _refuse_parts(self, p):
        """Refuse parameters that need all rows at once; overridden by learners that have such parameters."""

    def _refuse_rows(self, n, p):
        """Refuse a number of rows that does not suit the parameters; overridden by learners that need this.

        It is also called before the discovery of a schema: what would fail after the charge must fail before it.
        """

    def _refuse_classes(self, classes, p):
        """Refuse classes that do not suit the parameters; overridden by some learners and called like the above."""

    def _planned_width(self, p):
        """Return the number of columns if all edges that the schema asks for are discovered, and no values are."""
        facts = {}
        for column in p.schema.columns:
            if isinstance(column, Discovered):
                facts[column.name] = {"cells": True} | WIDEST
            elif column.to_find and isinstance(column, Numeric):
                facts[column.name] = {"low": None, "high": None, "edges": tuple(range(1, column.edges))}
            elif column.to_find:
                facts[column.name] = {"values": ()}
        return self._read_codes(_empty(p.schema.found(facts))).shape[1]

    def _coded(self, X):
        """Return X of `predict` in the form that the learner reads."""
        if hasattr(self, "encoder_"):
            from dpfast.tables.encoding import Encoding, encode

            schema = self.encoder_.schema_
            if self.schema is None or isinstance(self.schema, str):
                X = self._named(X)
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

    def _named(self, X):
        """Return X with the names of the columns of the fit, for models of undeclared tables."""
        if isinstance(X, CodeTable) or not hasattr(X, "shape"):
            return X
        if self.schema is None:
            X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X  # scikit-learn needs its names
            validate_data(self, X, skip_check_array=True, reset=False)
        return _named(X, self.encoder_.schema_.names)

    @property
    def _width(self):
        """Return the number of columns that the learner reads: those of X, or those made from codes."""
        if not hasattr(self, "encoder_"):
            return super()._width
        return self._read_as().shape[1]

    @property
    def _names(self):
        """Return the names of these columns, or None."""
        if not hasattr(self, "encoder_"):
            return super()._names
        names = self._read_as().feature_names
        return None if names is None else np.array(names, dtype=object)

    def _read_as(self):
        """Return the learner's form of an empty table."""
        if "_width_of_codes" not in vars(self):
            self._width_of_codes = self._read_codes(_empty(self.encoder_.schema_))
        return self._width_of_codes

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_width_of_codes"}  # it holds addresses

    def _restore_encoder(self, saved):
        """Read tables as declared in a model's file: restore `encoder_`, and its schema as the parameter."""
        from dpfast.learners.encoder import TableEncoder

        entries(saved, "schema", "privacy", maybe=("found", "other"))
        schema, claim = Schema.from_dict(saved["schema"]), PrivacySpend.from_dict(saved["privacy"])
        width, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        self.schema, self.encoder_ = (
            schema,
            TableEncoder(schema, claim.epsilon or 1.0, claim.delta or 1e-6, neighbors=self.neighbors),
        )
        self.encoder_._become(Public(0, len(schema.names), np.array(schema.names, dtype=object)))
        self.encoder_.schema_, self.encoder_.privacy_ = schema, claim
        self.encoder_.found_ = found_facts(saved.get("found", {}), schema)
        self.encoder_.other_ = found_shares(saved.get("other", {}), schema)
        if width != self._width or not np.array_equal(names, self._names):
            raise ValueError(f"the model reads {width} columns of codes, and its schema makes {self._width}")
        self.n_features_in_, self.feature_names_in_ = len(schema.names), np.array(schema.names, dtype=object)

    def _become(self, public):
        super()._become(public)
        if self._encoder is not None:
            self.encoder_ = self._encoder
            names = self._encoder.schema.names
            self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
            if hasattr(self._encoder, "other_label_"):
                self._facts["classes"] = "discovered"


def undeclared(X: Any, label: str | None = None, without: Sequence[str] = ()) -> Schema:
    """Return the schema of a table of which only the names and types of columns are known.

    Parameters
    ----------
    X : frame, or array of two dimensions
    label : str, optional
        The column that is the label.
    without : sequence of str
        Columns that are not features, such as the person of each row.
    """
    if is_frame(X) or hasattr(X, "_meta"):
        features = {name: kind for name, kind in header_of(X).items() if name != label and name not in without}
        columns = [Discovered(name, reads=reads_of(name, kind)) for name, kind in features.items()]
    elif is_parted(X):
        raise ValueError(f"the columns of a {type(X).__name__} are not known before it is read: give a schema=")
    else:
        X = check_array(X, dtype=None, ensure_all_finite=False)
        reads = "text" if X.dtype.kind in "OUS" else "number"
        columns = [Discovered(f"x{j}", reads=reads) for j in range(X.shape[1])]
    if not columns:
        raise ValueError("the table has no columns to learn from; give at least one besides the label")
    return Schema(columns, label=label)


def _label_name(schema, y):
    """Return the public name of the label, from the schema or from y, or None."""
    if schema is not None and schema.label is not None:
        return schema.label.name
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None


def _named(X, names):
    """Return a frame unchanged, and an array as a frame whose columns have these names."""
    if is_frame(X):
        return X
    array = check_array(X, dtype=None, ensure_all_finite=False)
    return {name: array[:, j] for j, name in enumerate(names)}


def _opened(X, y):
    """Return the table, or the source that a path or a stream stands for; y may be the name of its labels."""
    if isinstance(X, str | os.PathLike):
        X = FileParts(X)
    elif is_stream(X):
        X = StreamParts(X)
    return X.labelled(y) if isinstance(X, Source) and isinstance(y, str) else X


def _name(of):
    """Return the name of a column, or None for an array."""
    return of if isinstance(of, str) else None


def _refuse_labels(y):
    """Refuse labels given beside a source, whose rows come in an order of their own."""
    if y is not None:
        raise ValueError(
            "y must not be given beside files or a stream with a schema: one of their columns is the label"
        )


def _numbers(files, y):
    """Return the rows and labels of files of numbers; the labels may be given separately."""
    try:
        X, read = files.numbers()
    except NotNumbers as error:
        raise NotNumbers(f'{error}; schema="discover" reads text, dates and missing cells, too') from None
    if (read is None) == (y is None):
        raise ValueError("y must be given, or be read from the files by FileParts(..., label=), and not both")
    return X, read if y is None else y


def _empty(schema):
    """Return an empty table of the codes of a schema."""
    columns = schema.code_columns
    arrays, sizes = [np.empty(0, np.uint8)] * len(columns), [column.size for column in columns]
    return CodeTable.from_arrays(arrays, sizes, names=[column.name for column in columns], columns=columns)
