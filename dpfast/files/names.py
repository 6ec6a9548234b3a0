"""Checks of the column names of a file, and of the column that holds the labels."""

from dpfast.tables.naming import not_there, some


def check_names(names, label, needs_label):
    """Refuse invalid names, and names that lack the label."""
    if not names:
        raise ValueError("the file is empty; the first row must name the columns")
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} has no name; name it, or leave it out if it numbers the rows")
    nul = next((name for name in names if "\0" in name), None)
    if nul is not None:
        raise ValueError(f"the name {nul!r} of column {names.index(nul) + 1} has a NUL in it")
    seen = set()
    twice = next((name for name in names if name in seen or seen.add(name)), None)
    if twice is not None:
        hint = "; the first row must name the columns" if all(name.isdecimal() for name in names) else ""
        raise ValueError(f"two columns have the name {twice!r}{hint}")
    if needs_label and label is None:
        raise ValueError(f"say which column holds the labels (--label); there is {some(names)}")
    if label is not None and label not in names:
        raise ValueError(not_there(label, names))
    if len(names) - (label is not None) < 1:
        raise ValueError("there is no column besides the label")


def features_of(names, label):
    return [name for name in names if name != label]


def has_its_labels(path, label):
    """Refuse a label for a type of file whose labels have no name."""
    if label is not None:
        raise ValueError(f"{path}: the labels of this kind of file have no name; leave out the label {label!r}")
