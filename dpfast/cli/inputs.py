"""Tables with a schema: what commands read and declare."""

from .report import errors


def declaration_of(data, path, label=None, classes=None, unit=None, ignore=(), **text):
    """Return the schema of a file, or that of a bundled table, its label as the options say; None if there is none.

    The path "discover" stands for the schema that declares nothing but the names and types of the file's columns,
    without that of units and those to ignore.
    """
    from dpfast.files.datasets import dataset_schema
    from dpfast.files.encodings import FileParts
    from dpfast.tables import Label, Schema

    if path is not None and str(path) == "discover":
        if label is None:
            raise ValueError("say which column holds the labels (--label)")
        schema = FileParts(data, label=label, **text).undeclared(
            without=tuple(dict.fromkeys([*ignore, *([] if unit is None else [unit])]))
        )
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
    declared = schema.label.classes if schema.label else None
    if classes is not None:
        declared = tuple(each.strip() for each in classes.split(","))
    return Schema(
        schema.columns, label=Label(name, declared), missing_values=schema.missing_values, ignore=schema.ignore
    )


def read_declared(data, schema, memory, **text):
    """Return a table of the schema's columns and label, read block by block; so many GB of it stay in memory."""
    from dpfast.files.encodings import FileParts
    from dpfast.files.readers import Table

    with errors.status(f"reading {data}"):
        encoded = FileParts(data, memory=int(memory * 1e9), **text).encoded(schema, schema.label)
        return Table(encoded, encoded.labels(), None)


def read_codes_of(data, schema, *, label=None, labelled=False, **text):
    """Return the codes of a table by the schema of a model and, if `labelled`, its labels."""
    from dpfast.files.encodings import read_codes
    from dpfast.tables import Label

    column = None
    if labelled:
        name = label or (schema.label and schema.label.name)
        if name is None:
            raise ValueError("say which column holds the labels (--label): the model does not know it")
        column = Label(name)
    with errors.status(f"reading {data}"):
        return read_codes(data, schema, column, **text)
