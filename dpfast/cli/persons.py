"""Persons of a table: whose each row is, from a column of its file."""


def check_persons(unit, declaration):
    """Refuse, before the table is read, what does not go with --unit."""
    if declaration is None:
        raise ValueError(
            "--unit needs the column of labels (--label), or a --schema, and no --threshold, --numbers or --bits"
        )
    if unit in declaration.names or unit == declaration.label.name:
        raise ValueError(f"--unit {unit} is a column of the schema: take it out, or the model learns persons")


class Persons:
    """Whose each row is, by the texts or numbers as they stand: two spellings are two persons.

    Parameters
    ----------
    data, column : str
    rows_per_unit, n : int
        The most rows of each that count, and the rows that were read.
    """

    def __init__(self, data, column, rows_per_unit, n, **text):
        import numpy as np

        from dpfast.files.encodings import read_frame
        from dpfast.tables.naming import meant

        frame = read_frame(data, **text)
        if column not in frame.column_names:
            raise ValueError(f"{data} has no column {column!r}{meant(column, frame.column_names)}")
        found = frame.column(column)
        entries = found.to_numpy(zero_copy_only=False)
        spellings, ids, rows = np.unique(entries.astype(str), return_inverse=True, return_counts=True)
        none = np.array([not spelling.strip() for spelling in spellings], bool)  # an empty cell is of nobody
        lacking = found.null_count or int(rows[none].sum()) or int(np.count_nonzero(entries != entries))
        if lacking:
            raise ValueError(f"{data}: {lacking} rows have no {column!r}")
        if len(found) != n:
            raise ValueError(f"{data} has {len(found)} entries of {column!r} and {n} rows")
        self._ids = ids
        self._most = rows_per_unit

    def apart(self, share, rng):
        """Return a mask of the rows in the test part, which has all rows of a person or none."""
        return (rng.random(int(self._ids.max()) + 1) < share)[self._ids]

    def of(self, rows):
        """Return the arguments of `fit` for some rows."""
        return {"units": self._ids[rows], "rows_per_unit": self._most}
