"""Reading of tables by all private classifiers: by a schema, by discovery, or as arrays of numbers."""

import os
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import validate_data

from dpfast.accounting.claims import claim_of_file, warn, warn_of_repeated_rows, warn_of_width
from dpfast.files.encodings import source_of
from dpfast.learners.discovery import discover, labels_seen, plan, suffice, widest
from dpfast.learners.encoder import TableEncoder
from dpfast.learners.fitting import NothingLearned, Public
from dpfast.learners.notes import WITHOUT_LABEL
from dpfast.learners.parameters import (
    BETWEEN_0_AND_1,
    SCHEMA,
    Parameters,
    SchemaLike,
    auto,
    count,
    estimator,
    optional,
    parameter,
)
from dpfast.learners.saving import entries, found_facts, found_shares
from dpfast.learners.units import bounded_rows, own_generator
from dpfast.tables.arrays import as_objects, refuse_masked, with_text_names
from dpfast.tables.bit_matrix import BitMatrix, SparseBits
from dpfast.tables.cells import LABEL_MARKS
from dpfast.tables.code_bits import CodeBits, bit_count
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import first_repeated, text_of
from dpfast.tables.discovered import MOST_COLUMNS, Discovered
from dpfast.tables.encoding import Encoding, encode
from dpfast.tables.labels import (
    OTHER_LABEL,
    class_codes,
    column_of,
    counts_by_class,
    labels_among,
    labels_of,
    other_label,
    published_classes,
    refuse_floating,
    refuse_fractions,
)
from dpfast.tables.naming import listed
from dpfast.tables.schema import Label, Schema
from dpfast.tables.sources import undeclared, with_names

_WITHOUT_GAPS = "integer", "boolean"  # kinds of labels none of which is missing
MOST_LABELS = 256  # discovered at most
BOOLEANS = np.array([False, True])
SCHEMA_OR_NONE = parameter(
    None,
    optional(auto(auto(SCHEMA, "vectors"), "discover")),
    """dpfast.Schema, the path of its file, "discover", "vectors" or None, default=None
    The declaration of the table that `fit` and `predict` receive: a DataFrame, an Arrow table or a dict of arrays.
    "discover" discovers everything but the names and types of the columns, of any table; "vectors" reads rows of
    numbers as they are. None stands for "discover" for a frame or an Arrow table, and for a dense array of numbers
    whose rows suffice for its columns; for "vectors" for other tables. `notes_` says which way an array was read.""",
    saved=False,
)
ENCODER_SHARE = parameter(
    "auto",
    auto(BETWEEN_0_AND_1),
    """float in (0, 1) or "auto", default="auto"
    Share of the budget spent on discovering ranges, words and labels, in squares of the sensitivity over the noise,
    or of epsilon and delta where the learner's releases are of another kind. "auto" follows from the number of columns,
    epsilon and, under "replace", the number of rows. If everything is declared, it costs nothing.""",
)


@estimator
class TableReader(Parameters):
    """Mixin of private classifiers with the parameters `schema` and `encoder_share`.

    A learner calls `_tabled` within `_fitting` once its parameters are checked, and `_coded` when it predicts. The
    learner itself may spend at most p.epsilon and p.delta of `_checked`.
    """

    _encoder = None  # of the current fit, and then of the model
    _surveys_arrays = True  # whether arrays whose rows suffice are surveyed like frames
    _of_vectors: ClassVar[tuple[str, ...]] = ()  # parameters that only make sense for vectors; given, arrays are such
    _reads_parts = False  # whether it needs only sums over the parts of a table, and not one row after another
    schema: SchemaLike | None = SCHEMA_OR_NONE
    encoder_share: float | str = ENCODER_SHARE

    def _checked(self, X=None, y=None, units=None):
        """Return checked parameters; `source` is the table, and `schema` describes it if nothing is declared.

        `y` and `units` may be names of columns.
        """
        p = super()._checked(X, y, units)
        self._refuse_parameters()
        p.source, p.units = source_of(X, y), units if isinstance(units, str) else None
        for name in ("_encoder", "_rows_per_unit", "_width_of_codes"):
            vars(self).pop(name, None)
        p.rows_per_unit, p.one_column, p.survey = p.source.public.get("rows_per_unit", 1), False, None
        p.undeclared = p.schema is None or p.schema == "discover"
        if p.schema == "vectors":
            p.schema = None
        elif p.schema == "discover" or (p.schema is None and (p.source.tabular or self._surveys(p))):
            p.schema = undeclared(p.source, [] if p.units is None else [p.units])
        if p.schema is not None:
            p.schema.refuse_unconfirmed()
            p.schema = self._read_by(p.schema)
        if p.schema is None or not p.schema.to_find:
            return p
        p.survey = self._survey(p, **p.source.public)  # may refuse the budget
        p.epsilon = p.survey.epsilon
        if getattr(p, "delta", 0):
            p.delta = p.survey.delta
        return p

    def _surveys(self, p):
        """Return whether an undeclared table that is no frame is surveyed like one, for checked parameters.

        A dense table of numbers is, if its number of rows is public and suffices for its columns and for the discovery
        of labels. The rule depends on parameters, types, n and d, and on no entry.
        """
        if self.neighbors == "add-remove" or not getattr(self, "delta", 0) or not self._surveys_arrays:
            return False
        if (shape := p.source.dense_shape()) is None:
            return False
        if p.units is not None:  # the name of a column, which arrays lack
            return False
        if isinstance(getattr(self, "class_weight", None), Mapping):  # it names classes, which a discovery may lack
            return False
        fields = type(self).__dataclass_fields__
        if not all(np.array_equal(getattr(self, name), fields[name].default) for name in self._of_vectors):
            return False
        if shape[1] > MOST_COLUMNS or not suffice(*shape, self.epsilon):
            return False
        if p.source.label_kind(p.source.label or "y") == "float":
            return False
        q = copy(p)
        q.schema = self._read_by(undeclared(p.source))
        try:
            return labels_seen(self._survey(q, labels="open", n=shape[0]), shape[0])
        except ValueError:  # the budget does not suffice for a survey
            return False

    def _survey(self, p, **public):
        """Return the plan of the survey for checked parameters, and public facts that `plan` takes."""
        delta = getattr(self, "delta", 0)
        learner = dict(zip(("kind", "pure", "rest"), self._spends(p), strict=True)) if delta else {}
        return plan(p.schema, self.epsilon, delta, self.neighbors, share=self.encoder_share, **public, **learner)

    @classmethod
    def _read_by(cls, schema):
        """Return the schema as this learner reads tables by it."""
        return schema.spaced("mixed")

    def _spends(self, p):
        """Return what the releases of this learner are, as `dpfast.accounting.opening` needs it.

        These are their kind, the share of a pure release in epsilon, and what `survey_noise` has to know as `rest`.
        """
        return "pair", 0, ()

    def _tabled(self, classes, p, units=None, rows_per_unit=None, run=None):
        """Return the opened table and its labels in the form that learners ask.

        With `units`, at most `rows_per_unit` rows of each unit are kept, p.rows_per_unit is this number, and the claim
        protects units: see `dpfast.learners.units`.

        What the schema leaves open is discovered here, after the table and its labels have been checked. The whole
        budget is charged before the discovery, and nothing is refused afterwards.
        """
        source, named = p.source, p.source.label
        if run is not None:
            run.label = named or _label_name(p.schema, source.y)
        label = kind = None
        nameless = False
        if p.schema is not None and p.undeclared:
            surveyed = self.schema is None and not source.tabular
            source = source.with_names(p.schema.names)
            nameless = source.nameless
            if surveyed and run is not None:
                run.notes.append(
                    "The table was surveyed like a frame, as its rows suffice for its columns; "
                    'schema="vectors" (--schema vectors) reads the rows as vectors of numbers.'
                )
        if p.schema is not None:
            label = p.schema.label or Label(named or "y")
            if label.name != (named or label.name):
                raise ValueError(f"y names the label {named!r}, and the schema declares {label.name!r}")
            kind = source.label_kind(label.name)
            refuse_masked("y", source.y)
        if source.in_parts:
            self._refuse_parts(p)
        labelled = source.labelled or named is not None
        if units is not None or rows_per_unit is not None:
            source = self._bounded(source, p, label, units, rows_per_unit)
        else:
            warn_of_repeated_rows(source.X)
        if p.schema is None:
            if run is not None and not isinstance(source.X, BitMatrix | SparseBits | CodeTable):
                run.notes.append(
                    "The rows were read as vectors of numbers; "
                    'schema="discover" (--schema discover) reads each column by its own range.'
                )
            if source.width_read_off:
                warn_of_width()
            return self._with_rows(source.vectors(classes, one_column=p.one_column), p)
        if classes is not None and any(text_of(each) in LABEL_MARKS for each in classes):
            label = Label(label.name, classes)
        classes = label.classes if classes is None else classes
        if isinstance(source.X, CodeTable):
            return self._of_codes(source, classes, p)
        if not labelled and p.schema.label is None:
            raise ValueError("y must be given: the schema declares no label")
        encoding = source.encoded(p.schema, label)
        self._with_rows(encoding, p)
        if run is not None and classes is not None and kind not in _WITHOUT_GAPS:
            run.notes.append(WITHOUT_LABEL)
        encoder = TableEncoder(p.schema, neighbors=self.neighbors)
        encoder._nameless = nameless
        if p.schema.to_find:
            encoder.epsilon, encoder.delta = self.epsilon, getattr(self, "delta", 0.0)
            known = self._discovered(encoding, encoder, classes, kind, p, run)
        else:
            known = self._declared(encoding, classes, kind)
            encoder._declared(encoding)
        self._encoder = encoder
        return encoding.numbered(encoder.schema_, known)

    def _with_rows(self, table, p):
        """Return a table; refuse one without rows if their number is public, and rows without labels if need be."""
        if not table.n and self.neighbors == "replace":
            raise ValueError("X must have at least one row, the table has none")
        if not table.complete and self.neighbors == "replace" and not self._spares_unlabelled(p):
            raise ValueError(
                f"some rows have no label, and {type(self).__name__} as it is set needs one for each row, as their "
                'number is public under neighbors="replace": leave these rows out; their number is then taken as public'
            )
        return table

    def _spares_unlabelled(self, p):
        """Return whether rows without a label may be left out under "replace", where the number of others is private.

        A replaced row may then be a row more or less. So no release of the learner may move by more for that than for
        any other replaced row, and its claim for the latter must cover both.
        """
        return True

    def _of_codes(self, source, classes, p):
        """Return a table of codes, whose columns must be those that the schema makes."""
        schemas = () if p.schema.to_find else (p.schema, SCHEMA.plain(self.schema))
        p.schema = next((each for each in schemas if source.X.columns == each.code_columns), None)
        if p.schema is None:
            raise ValueError("X is a table of codes, of another schema or of one that leaves something to be found")
        self._encoder = TableEncoder(p.schema)._declared(Encoding(p.schema))
        return self._with_rows(source.vectors(classes), p)

    def _declared(self, encoding, classes, kind):
        """Return the labels of all rows as numbers of the declared classes, or of those that occur."""
        numbers, identities = encoding.spelled()
        if classes is None:
            known = class_codes(column_of(numbers, identities, kind), len(numbers))
        else:
            known = labels_of(numbers, identities, classes, kind)
        if not self.__sklearn_tags__().classifier_tags.multi_class:
            known.signs()  # refuses more than two classes
        return known

    def _discovered(self, encoding, encoder, classes, kind, p, run):
        """Charge for everything, release the survey, and return the labels of all rows."""
        if run is None:
            raise ValueError(f"{type(self).__name__} needs a schema that declares all of a table")
        known = declared = None
        classes = BOOLEANS if classes is None and kind == "boolean" else classes  # declared by their type
        pure = not getattr(self, "delta", 0)  # labels can be discovered only with delta > 0
        if classes is not None or pure:
            known = self._declared(encoding, classes, kind)
            self._refuse_classes(known.classes, p)
            declared = known.classes
        elif kind == "cells":
            refuse_fractions(encoding.spelled()[1])
        else:
            refuse_floating(kind, run.label)
        if declared is None and isinstance(getattr(p, "class_weight", None), Mapping):
            raise ValueError("class_weight names classes, and discovered labels may lack one: declare classes=")
        n = encoding.n if self.neighbors == "replace" else None
        labels = "open" if declared is None else "declared" if n is None else None
        self._plan_again(p, {"labels": labels, "rows_per_unit": p.rows_per_unit, "n": n})
        self._refuse_rows(encoding.n, p)
        planned = p.survey
        if n is not None and declared is None and n < 2 * planned.labels.least:
            warn(
                f"the table has too few rows to discover labels ({n:,}): one is published if about "
                f"{planned.labels.least:,.0f} rows have it, and a model needs two; declare classes= (--classes), or "
                "the fit may spend its budget on no model",
                UserWarning,
            )
        names, counts = np.array(p.schema.names, dtype=object), encoding.counts()
        public = Public(encoding.n, len(names), names, declared=classes is not None or not pure)
        run.charge(public, planned.total, learns=False, survey=1)
        if declared is not None:
            counts.labels = counts_by_class(counts.labels, declared)
        spelled = None if declared is None else [text_of(each) for each in declared.tolist()] if labels else []
        found = discover(encoding, counts, planned, run.rng, spelled, n)
        run.used["survey"] += 1
        encoder._found(encoding, found, planned, run)
        self._encoder = encoder  # which stands even if nothing is learned
        if declared is None:
            declared = self._discovered_classes(found, kind, run)
            encoder.other_label_ = other_label(counts_by_class(found.labels, declared), declared)
            labels = labels_among(*encoding.spelled(), declared, encoder.other_label_)
            known = class_codes(labels, len(labels), declared)
        if found.labels:
            totals = counts_by_class(found.labels, declared)
            run.attributes["class_sizes_"] = np.array([totals[text_of(each)] for each in declared.tolist()], np.float64)
        return known

    def _discovered_classes(self, survey, kind, run):
        """Return the classes that were discovered; raise an error if they are fewer than two, as nothing is learned.

        If only one label was discovered, but other rows have another one, these are the class OTHER_LABEL, and the
        labels of the survey have their number, too.
        """
        most, found = MOST_LABELS if self.__sklearn_tags__().classifier_tags.multi_class else 2, survey.labels
        classes = published_classes([*found], kind)
        if len(classes) == 1 and survey.others and text_of(classes[0]) != OTHER_LABEL:
            found[OTHER_LABEL] = survey.others
            return np.unique([text_of(classes[0]), OTHER_LABEL])
        if len(classes) < 2:
            name = "y" if run.label is None else repr(run.label)
            known = f"only the label {str(classes[0])!r}" if len(classes) else "no label"
            raise NothingLearned(
                f"{known} of {name} has enough rows to be discovered, and a model tells two classes or more apart: "
                f"nothing was learned, and {run.claim} is spent. Declare the labels by classes= (--classes), or give "
                "more rows or a larger epsilon; if the labels are numbers with many values: they are not classes",
                run.claim,
            )
        if len(classes) <= most:
            return classes
        often = {text for text, _ in counts_by_class(found, classes).most_common(most)}
        kept = classes[[text_of(each) in often for each in classes.tolist()]]
        run.notes.append(
            f"{len(classes):,} labels were discovered, and {type(self).__name__} tells {most:,} apart: {listed(kept)}. "
            f"The rows with another one were learned as {other_label(counts_by_class(found, kept), kept)}."
        )
        return kept

    def _plan_again(self, p, public):
        """Update checked parameters to facts that are known now, on which the plan of the survey depends."""
        unit, source = vars(self).get("_rows_per_unit"), copy(p.source)
        source.public = public
        again = self._for_fit(self._checked(source, None, p.units))
        again.rng = p.rng
        if unit is not None:
            self._rows_per_unit = unit
            self._for_units(again)
        vars(p).update(vars(again))

    def _bounded(self, source, p, label, units, rows_per_unit):
        """Return the source with the kept rows of each unit; files and streams are read for it."""
        if units is None or rows_per_unit is None:
            raise ValueError("units= and rows_per_unit= go together: whose each row is, and how many of a unit count")
        p.rows_per_unit = count(1).read("rows_per_unit", rows_per_unit)
        if isinstance(units, str) and p.schema is not None and units in (*p.schema.names, label.name):
            raise ValueError(f"units={units!r} is a column of the schema: take it out, or the model learns units")
        self._for_units(p)
        self._rows_per_unit = p.rows_per_unit
        return source.bounded(
            units, p.schema, label, lambda ids: bounded_rows(ids, p.rows_per_unit, own_generator(p.rng))
        )

    def _for_units(self, p):
        """Adapt the plan to units of p.rows_per_unit rows, or refuse it; overridden by learners that need this."""

    def _refuse_parameters(self):
        """Refuse parameters, of valid kinds, that do not suit one another; overridden by some learners."""

    def _refuse_parts(self, p):
        """Refuse a table in parts if rows are read one after another; overridden by learners with such parameters."""
        if not self._reads_parts:
            raise ValueError(
                f"{type(self).__name__} learns from one row after another, and takes no table in parts; "
                "HalfspaceClassifier, DecisionListClassifier, DPWinnowClassifier, BoostedHalfspaceClassifier, "
                "ProjectedHalfspaceClassifier, NetHalfspaceClassifier and FiniteClassLearner do"
            )

    def _refuse_rows(self, n, p):
        """Refuse a number of rows that does not suit the parameters; overridden by learners that need this.

        It is also called before the discovery of a schema: what would fail after the charge must fail before it.
        """

    def _refuse_classes(self, classes, p):
        """Refuse classes that do not suit the parameters; overridden by some learners and called like the above."""

    def _most_width(self, p):
        """Return the largest number of bits that this learner can read after the survey."""
        return bit_count(widest(p.schema))

    def _coded(self, X):
        """Return X of `predict` in the form that the learner reads."""
        if hasattr(self, "encoder_"):
            schema = self.encoder_.schema_
            if self.schema is None or isinstance(self.schema, str) or self.encoder_._nameless:
                X = self._named(X)
            if isinstance(X, str | os.PathLike):
                raise ValueError("X must be a table in memory; dpfast.files.read_codes reads files by encoder_.schema_")
            if not isinstance(X, CodeTable):
                X = X.table(schema) if isinstance(X, Encoding) else encode(X, schema)
            elif X.columns != schema.code_columns:
                raise ValueError("X is a table of codes, of another schema than the model's")
        return self._read_codes(X)

    def _read_codes(self, X):
        """Return codes as this learner reads them, by default as bits; return other tables unchanged."""
        return CodeBits(X).packed() if isinstance(X, CodeTable) else X

    def _named(self, X):
        """Return X with the names of the columns of the fit, for models of undeclared tables."""
        X = as_objects(X) if isinstance(X, list | tuple) else with_text_names(X)
        if isinstance(X, CodeTable) or not hasattr(X, "shape"):
            return X
        nameless = self.encoder_._nameless
        refuse_masked("X", X)
        if self.schema is None or nameless:
            X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X  # scikit-learn needs its names
            if (twice := first_repeated(getattr(X, "columns", ()) if hasattr(X, "iloc") else ())) is not None:
                raise ValueError(f"two columns have the name {twice!r}")
            validate_data(self, X, skip_check_array=True, reset=False)
        return with_names(np.asarray(X) if nameless else X, self.encoder_.schema_.names)

    @property
    def _width(self):
        """Return the number of columns that the learner reads: those of X, or those made from codes."""
        if not hasattr(self, "encoder_"):
            return super()._width
        return self._read_as().shape[1]

    @property
    def _names(self):
        if not hasattr(self, "encoder_"):
            return super()._names
        names = self._read_as().feature_names
        return None if names is None else np.array(names, dtype=object)

    def _read_as(self):
        """Return the learner's form of an empty table."""
        if "_width_of_codes" not in vars(self):
            self._width_of_codes = self._read_codes(CodeTable.of_columns(self.encoder_.schema_.code_columns, 0))
        return self._width_of_codes

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_width_of_codes"}  # it holds addresses

    def _restore_encoder(self, saved):
        """Read tables as declared in a model's file: restore `encoder_`, and its schema as the parameter."""
        entries(saved, "schema", "privacy", maybe=("found", "other"))
        schema, claim = Schema.from_dict(saved["schema"]), claim_of_file(saved["privacy"], part=True)
        width, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        self.schema = schema
        self.encoder_ = TableEncoder(schema, claim.epsilon or 1.0, claim.delta or 1e-6, neighbors=self.neighbors)
        self.encoder_._become(Public(0, len(schema.names), np.array(schema.names, dtype=object)))
        self.encoder_.schema_, self.encoder_.privacy_ = schema, claim
        self.encoder_._nameless = all(
            isinstance(each, Discovered) and each.name == f"x{j}" for j, each in enumerate(schema.columns)
        )
        self.encoder_.found_ = found_facts(saved.get("found", {}), schema)
        self.encoder_.other_ = found_shares(saved.get("other", {}), schema)
        if width != self._width or not np.array_equal(names, self._names):
            raise ValueError(f"the model reads {width} columns of codes, and its schema makes {self._width}")
        self.n_features_in_, self.feature_names_in_ = len(schema.names), np.array(schema.names, dtype=object)
        if self.encoder_._nameless:
            del self.feature_names_in_

    def _become(self, public):
        super()._become(public)
        if self._encoder is not None:
            self.encoder_ = self._encoder
            names = self._encoder.schema.names
            self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
            if self._encoder._nameless:
                del self.feature_names_in_
            if hasattr(self._encoder, "other_label_"):
                self._facts["classes"] = "discovered"


def _label_name(schema, y):
    """Return the public name of the label, from the schema or from y, or None."""
    if schema is not None and schema.label is not None:
        return schema.label.name
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None
