"""Labels from files."""

import numpy as np

MISSING = "fill missing values in, or leave the row out"


class Labels:
    """Labels as they are read: each spelling once, and a number for each row."""

    def __init__(self):
        self.spellings, self.numbers = {}, []

    def add(self, label):
        if label == "":
            raise ValueError(f"a label is empty; {MISSING}")
        self.numbers.append(self.spellings.setdefault(label, len(self.spellings)))
        return 0.0  # np.loadtxt wants a number

    def array(self):
        return tidy_labels(list(self.spellings))[self.numbers]


def tidy_labels(labels):
    """Labels as int64 if all are integers, else as str."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("every row needs a label, got NaN or infinity")
        if (labels == np.rint(labels)).all():
            return labels.astype(np.int64)
    text = labels.astype(str)
    try:
        numbers = labels.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        return text
    return numbers if (numbers.astype(str) == text).all() else text
