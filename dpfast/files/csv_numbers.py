"""Tables of text whose features are numbers, or true and false."""

import numpy as np
import pyarrow as pa

from dpfast.files.csv import TEXT, CsvFile, Unparsed
from dpfast.files.entries import TableBuilder, block_rows
from dpfast.files.names import FILL_OR_DROP, LONGEST, LabelReader, NotNumbers, features_of

TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


def table_of(file: CsvFile, label, entries, unit="line", before=0):
    """Return the features of a file as bits or numbers, and its labels as a `LabelReader`.

    The error for an invalid cell names its line, after `before` others, which are called `unit`.
    """
    names = features_of(file.names, label)
    truths = {name for name, cell in zip(file.names, file.first, strict=False) if _is_truth(cell)}
    types = {name: TEXT if name in truths or name == label else pa.float64() for name in file.names}
    labels, gathered = LabelReader(), TableBuilder(entries, names, file.count)
    try:
        for batch in file.batches(types):
            if label is not None:
                labels.add(batch.column(label))
            for start in range(0, len(batch), block_rows(len(names))):
                part = batch.slice(start, block_rows(len(names)))
                columns = [part.column(name) for name in names]
                numbers = [_truth(each) if each.type == TEXT else each.to_numpy() for each in columns]
                gathered.add(np.stack(numbers, axis=1))
        return gathered.table(), labels
    except ValueError:
        _find_fault(file, label, entries, unit, before)
        raise


def _find_fault(file, label, entries, unit, before):
    """Raise an error for the first invalid cell, and name its place; slow, only for files that have one."""
    truths = None
    for number, row in file.rows():
        line = f"{unit} {before + number}"
        if len(row) != len(file.names):
            raise ValueError(f"{line} has {len(row)} cells, the header row {len(file.names)}")
        cells = [cell.strip() for cell in row]
        truths = truths or [_is_truth(cell) for cell in cells]
        for name, cell, truth in zip(file.names, cells, truths, strict=True):
            place = f"{line}, column {name!r}"
            if not cell:
                raise NotNumbers(f"{place} is empty; {FILL_OR_DROP}")
            if name == label:
                if len(cell) > LONGEST:
                    raise ValueError(f"{place} has {len(cell):,} characters; a label has at most {LONGEST}")
                continue
            if not _fits(cell, entries, file.decimal):
                raise NotNumbers(f"{place} holds {cell!r}; {entries.wanted}")
            if truth != _is_truth(cell) and not (truth and cell in TRUTH):
                raise NotNumbers(f"{place} holds {cell!r}; a column of true and false has nothing else")


def _truth(column):
    known = [TRUTH.get(cell.strip().lower()) for cell in column.dictionary.to_pylist()]
    if None in known:
        raise Unparsed("a cell that is neither true nor false")
    return np.array(known)[column.indices.to_numpy()]


def _is_truth(cell):
    return cell.strip().lower() in ("true", "false")


def _fits(cell, entries, decimal):
    try:
        value = TRUTH[cell.lower()] if cell.lower() in TRUTH else float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell and bool(entries.fit(np.float64(value)))
