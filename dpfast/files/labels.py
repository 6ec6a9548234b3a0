"""Labels of the rows of files."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.columns import text_of
from dpfast.tables.labels import LabelColumn, tidy_labels

MISSING = "fill missing values in, or leave the row out"
LONGEST = 1000  # characters of a label


class Labels:
    """Labels that are being read: each spelling once, and a number for each row."""

    def __init__(self):
        self._spellings, self._parts = {}, []

    def add(self, column: pa.Array):
        """Add the labels of some rows, without nulls."""
        if not pa.types.is_dictionary(column.type):
            column = pc.dictionary_encode(column)
        numbers = [self._number(value) for value in column.dictionary.to_pylist()]
        self._parts.append(np.array([*numbers, 0], np.int32)[column.indices.to_numpy(zero_copy_only=False)])

    def column(self) -> LabelColumn:
        """Return the labels of all rows: int64 if all are integers, else text."""
        return LabelColumn(np.concatenate([np.empty(0, np.int32), *self._parts]), tidy_labels([*self._spellings]))

    def _number(self, value):
        spelling = (
            value.strip() if isinstance(value, str) else str(value) if isinstance(value, bool) else text_of(value)
        )
        if not spelling:
            raise ValueError(f"a label is empty; {MISSING}")
        if len(spelling) > LONGEST:
            raise ValueError(f"a label has {len(spelling):,} characters, it has at most {LONGEST}")
        return self._spellings.setdefault(spelling, len(self._spellings))
