"""Reading of the tables of fits by all private classifiers: by a schema, by discovery, or as arrays of numbers."""

from copy import copy
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from dpfast.accounting.claims.spend import warn, warn_of_repeated_rows, warn_of_width
from dpfast.base.encoder import TableEncoder
from dpfast.base.fitting import Fit, NothingLearned, Public
from dpfast.base.forms import Outline
from dpfast.base.inputs import public_of
from dpfast.base.notes import WITHOUT_LABEL
from dpfast.base.others import share_of_others
from dpfast.base.parameters import BETWEEN_0_AND_1, SCHEMA, auto, count, optional, parameter
from dpfast.base.plan import Plan, Spending, Task, plan_of
from dpfast.base.units import bounded_rows, number_units, own_generator
from dpfast.discovery import survey
from dpfast.discovery.facts import widest
from dpfast.discovery.survey import SurveyPlan, discover, labels_seen, suffice
from dpfast.parts.blocks import with_image
from dpfast.tables.arrays import refuse_masked
from dpfast.tables.bit_matrix import BitMatrix, SparseBits
from dpfast.tables.cells import LABEL_MARKS
from dpfast.tables.classes import (
    OTHER_LABEL,
    classes_of_identities,
    counts_by_class,
    other_label,
    refuse_fractions,
    two_classes,
)
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import text_of
from dpfast.tables.discovered import MOST_COLUMNS
from dpfast.tables.encoding import Encoding
from dpfast.tables.label_kinds import ABOVE, refuse_floating
from dpfast.tables.labels import labels_among, labels_of, labels_that_occur
from dpfast.tables.naming import listed
from dpfast.tables.schema import Label
from dpfast.tables.sources import schema_to_discover

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


class TableReader:
    """The reader of the table of one fit: by a schema, by discovery, or as vectors.

    There is one for each fit of a learner whose parameters are valid. `read` returns the table, and charges for what
    has to be discovered; `open_parts` gives what the learner may ask of it, and `task` the public facts for its plan.

    Parameters
    ----------
    learner : PrivateClassifier
    schema : Schema, "discover", "vectors" or None
        The parameter of the learner, read.
    source : dpfast.tables.sources.Source
        The table before it is read.
    units : str, array_like or None
        The unit of each row, or the name of the column of units, if there are any.

    Attributes
    ----------
    schema : Schema or None
        That of the table; None for vectors.
    survey : SurveyPlan or None
        The planned discovery, if something has to be discovered.
    epsilon, delta : float
        What is left for the learner.
    rows_per_unit : int
    n_units : int or None
        The number of units, if the claim protects units.
    spares_unlabelled : bool
        Whether rows without a label may be left out where the number of rows is public: that of the others then is not.
    encoder : TableEncoder or None
        Reads further tables like this one, once it was read.

    Raises
    ------
    ValueError
        If the budget does not suffice for the discovery, or the schema is not confirmed.
    """

    def __init__(self, learner: Any, schema: Any, source: Any, units: Any = None):
        self._learner, self._form, self._source, self._units = learner, learner.reads, source, units
        named = units if isinstance(units, str) else None
        self.n_units: int | None = None
        self.epsilon, self.delta, self.neighbors = learner.epsilon, learner.delta, learner.neighbors
        self.rows_per_unit = 1
        self.survey: Any = None
        self.encoder: Any = None
        self.spares_unlabelled = learner.spares_unlabelled
        self._spending, self._undeclared = Spending(), schema is None or schema == "discover"
        self._others: Any = None  # a function of how many rows have a label, of labels that were discovered
        self._outlined: Any = None  # a schema, and the outline of the widest columns that it may give
        self.schema: Any = None if schema == "vectors" else schema
        if schema == "discover" or (schema is None and (source.tabular or self._surveys())):
            self.schema = schema_to_discover(source, [] if named is None else [named])
        if self.schema is not None:
            self.schema.refuse_unconfirmed()
            self.schema = self._form.reads_by(self.schema)
            if self.schema.to_find:
                self.plan_survey()

    def _surveys(self):
        """Return whether an undeclared table that is no frame is surveyed like one.

        A dense table of numbers is, if its number of rows is public and suffices for its columns and for the discovery
        of labels. The rule depends on parameters, types, n and d, and on no entry.
        """
        if self.neighbors == "add-remove" or not self.delta or self._form.names_classes or not self._form.surveys():
            return False
        if (shape := self._source.dense_shape()) is None or self._has_vector_parameters():
            return False
        if isinstance(self._units, str):  # the name of a column, which arrays lack
            return False
        n = shape[0] if self._units is None else int(number_units(self._units).max(initial=-1)) + 1  # what is public
        if shape[1] > MOST_COLUMNS or not suffice(n, shape[1], self.epsilon):
            return False
        if self._source.label_kind(self._source.label or "y") == "float":
            return False
        other = copy(self)
        other.schema = self._form.reads_by(schema_to_discover(self._source))
        try:
            return labels_seen(other.plan_survey("open", n), n)
        except ValueError:  # the budget does not suffice for a survey
            return False

    def _has_vector_parameters(self):
        """Return whether a parameter that only makes sense for vectors was set."""
        named = self._form.vector_parameters
        of_vectors = [each for each in fields(self._learner) if each.name in named]
        return not all(np.array_equal(getattr(self._learner, each.name), each.default) for each in of_vectors)

    def plan_survey(self, labels: str | None = None, n: int | None = None) -> SurveyPlan:
        """Plan the discovery and what it leaves, from `labels` ("open", "declared" or None) and n, if it is public.

        Returns
        -------
        SurveyPlan
        """
        learner = self._learner
        self.epsilon, self.delta, self.survey = learner.epsilon, learner.delta, None
        spending: dict[str, Any] = {}
        if self.delta:
            self._spending = learner.spending(self._widest_task(n, None))
            spending = {"kind": self._spending.kind, "pure": self._spending.pure, "rest": self._spending.parts}
        public: dict[str, Any] = {"labels": labels, "rows_per_unit": self.rows_per_unit, "n": n}
        self.survey = survey.plan(
            self.schema, self.epsilon, self.delta, self.neighbors, share=learner.encoder_share, **public, **spending
        )
        self.epsilon = self.survey.epsilon
        if self.delta:
            self.delta = self.survey.delta
        return self.survey

    def read(self, fit: Fit, classes: Any, units: Any = None, rows_per_unit: int | None = None) -> Any:
        """Return the opened table and its labels in the form that learners ask.

        What the schema leaves open is discovered here, after the table and its labels have been checked. The whole
        budget is charged before the discovery, and no row is refused afterwards. If fewer than two labels are
        discovered, nothing can be learned: this follows from what was released.

        Parameters
        ----------
        paid : Fit
        classes : array_like or None
        units, rows_per_unit : optional
            At most `rows_per_unit` rows of each unit are kept, and the claim protects units: see
            `dpfast.base.units`.

        Returns
        -------
        Table
        """
        source, named, schema = self._source, self._source.label, self.schema
        fit.label = named or _label_name(schema, source.y)
        label: Any = None
        kind = None
        nameless = False
        if schema is not None and self._undeclared:
            surveyed = self._learner.schema is None and not source.tabular
            source = source.with_names(schema.names)
            nameless = source.nameless
            if surveyed:
                fit.notes.append(
                    "The table was surveyed like a frame, as its rows suffice for its columns; "
                    'schema="vectors" (--schema vectors) reads the rows as vectors of numbers.'
                )
        if schema is not None:
            label = schema.label or Label(named or "y")
            if label.name != (named or label.name):
                raise ValueError(f"y names the label {named!r}, and the schema declares {label.name!r}")
            kind = source.label_kind(label.name)
            refuse_masked("y", source.y)
        if source.in_parts and not self._form.in_parts:
            self._refuse_parts()
        labelled = source.labelled or named is not None
        if units is not None or rows_per_unit is not None:
            source = self._bounded(source, label, units, rows_per_unit, fit)
        else:
            warn_of_repeated_rows(source.X)
        if schema is None:
            if not isinstance(source.X, BitMatrix | SparseBits | CodeTable):
                fit.notes.append(
                    "The rows were read as vectors of numbers; "
                    'schema="discover" (--schema discover) reads each column by its own range.'
                )
            if source.width_read_off:
                warn_of_width()
            return self._with_rows(source.vectors(classes, one_column=self._form.one_column))
        if label.above is not None and {*map(text_of, classes or label.classes)} != {*label.classes}:
            raise ValueError("classes= declares classes, and above= of the label makes others: give one of them")
        if classes is not None and {text_of(each).strip() for each in classes} & {*LABEL_MARKS, *schema.missing_values}:
            label = replace(label, classes=classes)
        classes = label.classes if classes is None else classes
        if isinstance(source.X, CodeTable):
            return self._of_codes(source, classes)
        if not labelled and schema.label is None:
            raise ValueError("y must be given: the schema declares no label")
        encoding = source.encode(schema, label)
        self._with_rows(encoding)
        if classes is not None and kind not in _WITHOUT_GAPS:
            fit.notes.append(WITHOUT_LABEL)
        encoder = TableEncoder(schema, neighbors=self.neighbors)
        encoder._nameless = nameless
        if schema.to_find:
            encoder.epsilon, encoder.delta = self._learner.epsilon, self._learner.delta
            labels = self._discovered(encoding, encoder, classes, kind, fit)
        else:
            labels = self._declared(encoding, classes, kind)
            encoder._set_declared(encoding, fit.charges)
        self.encoder = encoder
        return encoding.to_codes(encoder.schema_, labels)

    def open_parts(self, table: Any) -> tuple[Any, Any, Public]:
        """Return the parts of a table that was read, a table of the same form, and what a fit treats as public."""
        parts = table.parts.map(with_image, self._form.rows)
        widths = parts.each(_read)
        rows = self._form.empty(table.like) if parts.only is None else parts.only.rows
        if any(width != _width(rows) for width in widths):
            raise ValueError("parts of X must have the same columns and types")
        public = public_of(self._form.coded(table.like), table.labels)
        public.n_rows, public.n_units = self._public_rows(table.n), self.n_units
        if not self._form.several_classes:
            two_classes(table.labels.classes)
        return parts, rows, public

    def task(self, form: Any, n: int | None, classes: tuple | None, n_classes: int) -> Task:
        """Return the public facts of a fit of n rows in the form `form`."""
        return Task(
            epsilon=self.epsilon,
            delta=self.delta,
            neighbors=self.neighbors,
            n_columns=form.shape[1],
            classes=classes,
            n_classes=n_classes,
            sizes=sizes_of(form),
            reach=getattr(form, "reach", None),
            n_rows=n if self.neighbors == "replace" else None,
            rows_per_unit=self.rows_per_unit,
            in_parts=self._source.in_parts,
            form=self._form.describe(form),
            noise=() if self.survey is None else self.survey.noise,
        )

    def plan(self, task: Task) -> Plan:
        """Return the plan for a task; refuse one that spends in another way than the survey left a budget for."""
        plan, foreseen = plan_of(self._learner, task), self._spending
        if self.survey is not None and foreseen.kind != "pair":
            spending = self._learner.spending(task)
            if (spending.kind, spending.pure) != (foreseen.kind, foreseen.pure):
                raise ValueError(
                    f"plan() of {self._name} must name the same mechanisms, with the same shares, for the "
                    "widest table that may be discovered and for any other: what a discovery leaves is told to these"
                )
        return plan

    def attributes(self, public: Public, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the attributes of a model that say what it reads, and complete the public facts of its file."""
        attributes = public.attributes()
        if self.encoder is not None:
            names = self.encoder.schema.names
            attributes |= {"encoder_": self.encoder, "n_features_in_": len(names)}
            attributes["feature_names_in_"] = np.array(names, dtype=object)
            if self.encoder._nameless:
                del attributes["feature_names_in_"]
            if hasattr(self.encoder, "other_label_"):
                facts["classes"] = "discovered"
        return attributes

    def tell_others(self, labelled: tuple[float, float] | None) -> None:
        """Set the share of the rows whose labels were not found, unless it is known, by how many have a label."""
        if self._others is not None and labelled is not None and not hasattr(self.encoder, "other_labels_"):
            self.encoder.other_labels_ = self._others(labelled)

    @property
    def _name(self):
        return type(self._learner).__name__

    @property
    def _hides_rows(self):
        """Return whether the number of rows is private: under "replace", of units that may have several."""
        return self.neighbors == "add-remove" or (self.n_units is not None and self.rows_per_unit > 1)

    def _public_rows(self, n):
        """Return the number of rows that a plan takes, which is public under "replace": see `dpfast.base.units`."""
        return n if self.n_units is None else self.rows_per_unit * self.n_units

    def _widest_task(self, n, classes):
        """Return the task of n rows in the widest form that the discovery may give."""
        most = MOST_LABELS if self._form.several_classes else 2
        if self._outlined is None or self._outlined[0] is not self.schema:
            self._outlined = self.schema, self._form.outline(widest(self.schema, self._form.bins))
        return self.task(self._outlined[1], n, classes, len(classes or ()) or most)

    def _with_rows(self, table):
        """Return a table; refuse one without rows if their number is public, and rows without labels if need be."""
        if not table.n and self.neighbors == "replace":
            raise ValueError("X must have at least one row, the table has none")
        if self.neighbors == "replace" and self._hides_rows and not self.spares_unlabelled:
            raise ValueError(
                f"{self._name} as it is set needs the number of rows, which is private of persons with several rows: "
                "give rows_per_unit=1"
            )
        if not table.complete and self.neighbors == "replace" and not self.spares_unlabelled:
            raise ValueError(
                f"some rows have no label, and {self._name} as it is set needs one for each row, as their "
                'number is public under neighbors="replace": leave these rows out; their number is then taken as public'
            )
        return table

    def _of_codes(self, source, classes):
        """Return a table of codes, whose columns must be those that the schema makes."""
        schemas = () if self.schema.to_find else (self.schema, SCHEMA.plain(self._learner.schema))
        self.schema = next((each for each in schemas if source.X.columns == each.code_columns), None)
        if self.schema is None:
            raise ValueError("X is a table of codes, of another schema or of one that leaves something to be found")
        self.encoder = TableEncoder(self.schema)._set_declared(Encoding(self.schema))
        return self._with_rows(source.vectors(classes))

    def _declared(self, encoding, classes, kind):
        """Return the labels of all rows as numbers of the declared classes, or of those that occur."""
        numbers, identities = encoding.label_numbers()
        if classes is None:
            labels = labels_that_occur(numbers, identities, kind)
        else:
            labels = labels_of(numbers, identities, classes, kind)
        if not self._form.several_classes:
            labels.signs()  # refuses more than two classes
        return labels

    def _discovered(self, encoding, encoder, classes, kind, fit):
        """Charge for everything, release the survey, and return the labels of all rows."""
        label_codes = declared = None
        classes = BOOLEANS if classes is None and kind == "boolean" else classes  # declared by their type
        if classes is None and not self.delta:
            name = "y" if fit.label is None else repr(fit.label)
            raise ValueError(f"labels cannot be found privately with delta = 0: declare those of {name} by classes=")
        if classes is not None:
            label_codes = self._declared(encoding, classes, kind)
            declared = label_codes.classes
        elif kind == "cells":
            refuse_fractions(encoding.label_numbers()[1])
        else:
            refuse_floating(kind, fit.label)
        if declared is None and self._form.names_classes:
            raise ValueError(
                f"{self._form.names_classes} names classes, and discovered labels may lack one: declare classes="
            )
        n = None if self._hides_rows else encoding.n
        labels = "open" if declared is None else "declared" if n is None else None
        planned = self.plan_survey(labels, n)
        task = self._widest_task(self._public_rows(encoding.n), None if declared is None else tuple(declared.tolist()))
        self.plan(task).solve(task)  # refuses what would fail after the charge
        if n is not None and declared is None and n < 2 * planned.labels.least:
            warn(
                f"the table has too few rows to discover labels ({n:,}): one is published if about "
                f"{planned.labels.least:,.0f} rows have it, and a model needs two; declare classes= (--classes), or "
                "the fit may spend its budget on no model",
                UserWarning,
            )
        names, counts = np.array(self.schema.names, dtype=object), encoding.counts()
        public = Public(self._public_rows(encoding.n), len(names), names)
        public.n_units = self.n_units
        fit.charge(public, planned.total, {"survey": 1}, learns=False)
        if declared is not None:
            counts.labels = counts_by_class(counts.labels, declared)
        spelled = None if declared is None else [text_of(each) for each in declared.tolist()] if labels else []
        complete, form = self._labels_are_complete(fit.label), self._form
        discovery = discover(
            encoding, counts, planned, fit.rng, spelled, n, complete, bins=form.bins, groups=form.groups
        )
        fit.used["survey"] += 1
        encoder._set_discovered(encoding, discovery, planned, fit)
        if discovery.coarse:
            fit.notes.append(
                f"Read coarsely: {listed([*discovery.coarse])}. Many rows share few codes there, as their numbers are "
                "closer together than this budget shows: declare the range (low, high) in a schema, or give more rows "
                "or a larger epsilon."
            )
        self.encoder = encoder  # which stands even if nothing is learned
        if declared is None:
            declared = self._discovered_classes(discovery, kind, fit)
            encoder.other_label_ = other_label(counts_by_class(discovery.labels, declared), declared)
            self._others = partial(share_of_others, discovery, declared, planned.labels.deviation)
            self.tell_others(discovery.labelled)
            label_codes = labels_among(*encoding.label_numbers(), declared, encoder.other_label_)
        if discovery.labels:
            totals = counts_by_class(discovery.labels, declared)
            fit.attributes["class_sizes_"] = np.array([totals[text_of(each)] for each in declared.tolist()], np.float64)
        return label_codes

    def _labels_are_complete(self, name):
        """Return whether no label is missing, by their type and the marks of the schema alone."""
        source = self._source
        y = source.X[name] if source.y is None and hasattr(source.X, "iloc") and name in source.X else source.y
        dtype = getattr(y, "dtype", None)
        whole = isinstance(dtype, np.dtype) and dtype.kind in "biu"
        return whole and {*self.schema.missing_values} <= {*LABEL_MARKS}

    def _discovered_classes(self, survey, kind, fit):
        """Return the classes that were discovered; raise an error if they are fewer than two, as nothing is learned.

        If only one label was discovered, but other rows have another one, these are the class OTHER_LABEL, and the
        labels of the survey have their number, too.
        """
        most, counts = MOST_LABELS if self._form.several_classes else 2, survey.labels
        classes = classes_of_identities([*counts], kind)
        if len(classes) == 1 and survey.others and text_of(classes[0]) != OTHER_LABEL:
            counts[OTHER_LABEL] = survey.others
            return np.unique([text_of(classes[0]), OTHER_LABEL])
        if len(classes) < 2:
            name = "y" if fit.label is None else repr(fit.label)
            labels = f"only the label {str(classes[0])!r}" if len(classes) else "no label"
            raise NothingLearned(
                f"{labels} of {name} has enough rows to be discovered, and a model tells two classes or more apart: "
                f"nothing was learned, and {fit.claim} is spent. Declare the labels by classes= (--classes), or give "
                f"more rows or a larger epsilon; if they are amounts, ask whether they are above a number: {ABOVE}",
                fit.claim,
            )
        if len(classes) <= most:
            return classes
        often = {text for text, _ in counts_by_class(counts, classes).most_common(most)}
        largest = classes[[text_of(each) in often for each in classes.tolist()]]
        fit.notes.append(
            f"{len(classes):,} labels were discovered, and {self._name} tells {most:,} apart: {listed(largest)}. "
            f"The rows with another one were learned as {other_label(counts_by_class(counts, largest), largest)}."
        )
        return largest

    def _bounded(self, source, label, units, rows_per_unit, fit):
        """Return the source with the kept rows of each unit; files and streams are read for it."""
        if units is None or rows_per_unit is None:
            raise ValueError("units= and rows_per_unit= go together: whose each row is, and how many of a unit count")
        most = self.rows_per_unit = count(1).read("rows_per_unit", rows_per_unit)
        if isinstance(units, str) and self.schema is not None and units in (*self.schema.names, label.name):
            raise ValueError(f"units={units!r} is a column of the schema: take it out, or the model learns units")
        fit.charges.rows_per_unit = most

        def choose(ids):
            unit = number_units(ids)
            self.n_units = fit.charges.n_units = int(unit.max(initial=-1)) + 1
            return bounded_rows(unit, most, own_generator(fit.rng))

        return source.limit_units(units, self.schema, label, choose)

    def _refuse_parts(self):
        """Refuse a table in parts, of which the learner reads one row after another."""
        raise ValueError(
            self._form.why_whole
            or f"{self._name} learns from one row after another, and takes no table in parts; "
            "HalfspaceClassifier, DecisionListClassifier, DPWinnowClassifier, BoostedHalfspaceClassifier, "
            "ProjectedHalfspaceClassifier, NetHalfspaceClassifier and FiniteClassLearner do"
        )


def sizes_of(form: Any) -> tuple[int, ...] | None:
    """Return the number of codes of each column of rows of codes, or None."""
    if isinstance(form, Outline):
        return form.sizes
    return tuple(form.sizes.tolist()) if isinstance(form, CodeTable) else None


def _read(piece):
    """Return the width of the image of a piece; refuse rows that have none, and labels that are more or fewer."""
    n = piece.rows.shape[0]
    if len(piece.labels) != n:
        check_consistent_length(np.empty(n), piece.labels)
    return _width(piece.rows)


def _width(rows):
    return rows.shape[1], getattr(rows, "reach", None), getattr(rows, "signed", None)


def _label_name(schema, y):
    """Return the public name of the label, from the schema or from y, or None."""
    if schema is not None and schema.label is not None:
        return schema.label.name
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None
