"""Files that commands read and write, and the schemas of tables."""

import math
import shlex
from dataclasses import replace
from pathlib import Path

from dpfast.tables.naming import listed

from .report import errors, note

_TEXT = {
    "separator": None,
    "decimal": ".",
    "dates": None,
    "encoding": "utf-8",
    "sheet": None,
    "skip_lines": 0,
}  # how text is read by default


def read(data, **options):
    from dpfast.files.readers import read_table

    if options.pop("dates", None) is not None:
        raise ValueError("--dates is for tables whose columns are declared or discovered; give a --schema")
    with errors.status(f"reading {data}"):
        return read_table(data, **options)


def open_budget(path, neighbors, person=None, *, as_pairs=False):
    """Return the budget in a file; refuse it unless it is for this relation, and for persons if a column names them."""
    from dpfast.accounting import Budget

    if not path.exists():
        raise ValueError(
            f"{path}: there is no such file; dpfast budget {path} --epsilon EPSILON --delta DELTA makes it"
        )
    ledger = Budget.open(path)
    ledger.foresee(0, neighbors=neighbors, unit="row" if person is None else "person")
    return ledger.as_pairs() if as_pairs else ledger


def limits_of(parameters):
    """Return the range that the parameters of an estimator declare for numbers, if others are refused; else None."""
    if parameters.get("out_of_range") != "error":
        return None
    return tuple(parameters.get("feature_range", (-1, 1)))


def check_there(data):
    """Refuse, before what takes long, a table that is of no known kind or not there, or the file of a model."""
    from dpfast.files.names import kind_of

    if Path(data).suffix.lower() == ".json":
        raise ValueError(
            f"{data} is a .json file, as models are, and a table is wanted here; if both are given, the model is first"
        )
    kind_of(Path(data))


def check_columns(data, columns):
    """Refuse --columns for files that say how many columns they have, and warn if an svmlight file lacks it."""
    from dpfast.files.names import is_svmlight

    sparse = is_svmlight(Path(data))
    if columns is not None and not sparse:
        raise ValueError(f"--columns is for svmlight files; {data} says how many columns it has")
    if columns is None and sparse:
        from dpfast.accounting.claims.spend import warn_of_width

        warn_of_width()


def is_packed(X):
    from dpfast.tables import BitMatrix

    return isinstance(X, BitMatrix)


def settings_to_keep(data, **text):
    """Return the settings of a file of text that a model's file keeps: those that are not the defaults of its name."""
    import codecs

    from dpfast.files.names import kind_of, separator_of

    if kind_of(Path(data)) != "csv":
        return {}
    text = _TEXT | text
    text["encoding"] = codecs.lookup(text["encoding"]).name
    usual = _TEXT | {"separator": separator_of(Path(data))}
    return {name: text[name] for name in _TEXT if name != "sheet" and text[name] not in (None, usual[name])}


def settings_for(data, estimator, **declared):
    """Return how to read a table: by the options that are given, and else as the text that the model was fitted on.

    A line on standard error says which settings were taken from the model.
    """
    from dpfast.files.names import kind_of

    settings = settings_of(estimator) if kind_of(Path(data)) == "csv" else {}
    defaults = {name: value for name, value in settings.items() if declared[name] is None}
    if defaults:
        note(f"{data} is read with {options_of(defaults)}, as for the fit")
    return _TEXT | {name: value for name, value in declared.items() if value is not None} | defaults


def settings_of(estimator):
    """Return the settings of the text that a model was fitted on, as far as they were kept."""
    return (getattr(estimator, "_facts", None) or {}).get("text", {})


def options_of(settings):
    """Return settings of text as options for a command line."""
    return " ".join(f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in settings.items())


def name_features(estimator, names, label=None, text=None, facts=None):
    """Set the names of the columns and of the label of a fitted model, which arrays do not have, and how text was read.

    `text` has the settings by `settings_to_keep`, and `facts` are further public facts.
    """
    import numpy as np

    from dpfast.base.saving import add_facts

    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if label is not None:
        estimator.name_label(label)
    if text:
        add_facts(estimator, text=text)
    if facts:
        add_facts(estimator, **facts)


def bytes_of(estimator, *, bits, threshold):
    """Return the content of a model's file, including how its table was read, for `reading_of`."""
    from dpfast.base.saving import model_bytes

    reading = (
        {} if hasattr(estimator, "encoder_") else {"values": "bits" if bits else "numbers", "threshold": threshold}
    )
    return model_bytes(estimator, **({"table": reading} if reading else {}))


def reading_of(path):
    """Return the `values` and `threshold` with which a model's table was read; None if it was saved in Python."""
    from dpfast.base.parameters import choice, optional, real
    from dpfast.base.saving import entries, read_document

    table = read_document(path).get("table")
    if table is None:
        return None
    table = entries(table, "values", "threshold")
    choice("bits", "numbers").read("values", table["values"])
    optional(real(-math.inf, math.inf)).read("threshold", table["threshold"])
    return table


def in_order(table, estimator, data, model):
    """Return the features of a table in the order of the model's, by their names; refuse other features."""
    names, features = table.feature_names, list(getattr(estimator, "feature_names_in_", []))
    if not features or names is None or names == features:
        if table.X.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"{data} has {table.X.shape[1]} features, {model} was fitted on {estimator.n_features_in_}"
            )
        return table.X
    there, expected = set(names), set(features)
    lacking = [name for name in features if name not in there]
    extra = [name for name in names if name not in expected]
    if lacking:
        raise ValueError(f"{data} lacks features that {model} was fitted on: {listed(lacking)}")
    if extra:
        raise ValueError(f"{data} has columns that {model} does not know: {listed(extra)}; --label leaves one out")
    place = {name: j for j, name in enumerate(names)}
    order = [place[name] for name in features]
    if not is_packed(table.X):
        return table.X[:, order]

    from dpfast.kernels.own import frozen
    from dpfast.tables import BitMatrix

    X = BitMatrix.from_columns(frozen(table.X.columns[order]), len(table.X))
    X.feature_names = features
    return X


def classes_of(y, declared, data):
    """Return the public set of labels: declared, or read from the whole table, not from a part of it."""
    import numpy as np

    from dpfast.tables.classes import class_numbers, tidy_labels, values_of
    from dpfast.tables.label_kinds import label_kind
    from dpfast.tables.labels import missing_labels, number_labels

    classes = None if declared is None else tidy_labels([name.strip() for name in declared.split(",")])
    numbers, identities = number_labels(y, missing_labels(classes))
    occur = [identities[k] for k in np.unique(numbers).tolist() if k >= 0]
    if classes is None:
        labels = np.unique(values_of(occur, label_kind(None, y, "y"))).tolist()
        if len(labels) < 2:
            only = f"all rows have the label {labels[0]!r}" if labels else "no row has a label"
            raise ValueError(f"{data}: {only}, two or more are needed; see --classes")
        return labels
    codes = class_numbers(occur, classes, -1)
    if any(code < 0 for code in codes):
        raise ValueError(f"{data}: a row has a label that --classes {declared} does not name")
    return classes.tolist()


def read_above(text):
    """Return the thresholds that --above names."""
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--above must be a number, or numbers as 10,20,30; got {text!r}") from None


# ---- tables with a schema --------------------------------------------------------------------------------------------


def declaration_of(data, path, label=None, classes=None, unit=None, ignore=(), above=None, **text):
    """Return the schema of a file, or that of a bundled table, its label as the options say; None if there is none.

    The path "discover" stands for the schema that declares nothing but the names and types of the file's columns,
    without that of units and those to ignore.
    """
    from pyarrow.types import is_floating

    from dpfast.files.datasets import dataset_schema
    from dpfast.files.encodings import FileParts
    from dpfast.tables import Label, Schema
    from dpfast.tables.label_kinds import refuse_floating
    from dpfast.tables.sources import schema_to_discover

    if path is not None and str(path) == "discover":
        if label is None:
            raise ValueError("say which column holds the labels (--label)")
        without = dict.fromkeys([*ignore, *([] if unit is None else [unit])])
        schema = schema_to_discover(FileParts(data, label=label, **text), [*without])
    else:
        if ignore:
            raise ValueError('--ignore is for tables without a schema: give the column kind = "ignored" in the schema')
        schema = dataset_schema(data) if path is None else Schema.from_file(path)
    if schema is None:
        return None
    schema.refuse_unconfirmed()
    if schema.label is not None and label not in (None, schema.label.name):
        raise ValueError(f"--label {label} is not the label of the schema, {schema.label.name!r}")
    name = label or (schema.label and schema.label.name)
    if name is None:
        raise ValueError("say which column holds the labels (--label), or declare it in the schema")
    declared_label = schema.label if schema.label and schema.label.name == name else Label(name)
    if above is not None:
        declared_label = replace(declared_label, classes=None, above=read_above(above))
        if classes is not None:
            raise ValueError("--above makes the classes, and --classes declares others: give one of them")
    declared = declared_label.classes
    if classes is not None:
        declared_label = replace(declared_label, above=None)
        declared = tuple(each.strip() for each in classes.split(","))
    if declared is None:
        kind = FileParts(data, **text).header().get(name)
        refuse_floating("float" if kind is not None and is_floating(kind) else None, name)
    return Schema(
        schema.columns,
        label=replace(declared_label, classes=declared),
        missing_values=schema.missing_values,
        ignore=schema.ignore,
        sensitive=schema.sensitive,
    )


def read_declared(data, schema, memory, **text):
    """Return a table of the schema's columns and label, read block by block; at most `memory` GB are in memory."""
    from dpfast.files.encodings import FileParts
    from dpfast.files.readers import FileTable

    with errors.status(f"reading {data}"):
        encoded = FileParts(data, memory=int(memory * 1e9), **text).encode(schema, schema.label)
        return FileTable(encoded, encoded.labels(), None)


def read_codes_of(data, schema, *, classes=(), label=None, labelled=False, **text):
    """Return the codes of a table by the schema of a model, and None; if `labelled`, an `Encoding` with labels.

    The classes of the model are labels also where their texts mark missing ones.
    """
    from dpfast.files.encodings import read_codes, read_encoding
    from dpfast.tables.schema import LabelOfModel

    column = None
    if labelled:
        name = label or (schema.label and schema.label.name)
        if name is None:
            raise ValueError("say which column holds the labels (--label): the model does not know it")
        above = schema.label.above if schema.label and schema.label.name == name else None
        column = LabelOfModel(name, labels=tuple(classes), above=above)
    with errors.status(f"reading {data}"):
        return (read_encoding(data, schema, column, **text), None) if labelled else read_codes(data, schema, **text)


def persons_of(data, column, n, **text):
    """Return a number for the person of each of n rows, by the texts or numbers as written: two spellings are two."""
    import numpy as np

    from dpfast.files.encodings import header_of_file, units_of_file
    from dpfast.tables.naming import hint_of

    names = [*header_of_file(data, **text)]
    if column not in names:
        raise ValueError(f"{data} has no column {column!r}{hint_of(column, names)}")
    units = units_of_file(data, column, **text)
    if len(units) != n:
        raise ValueError(f"{data} has {len(units)} entries of {column!r} and {n} rows")
    return np.unique(units, return_inverse=True)[1]
