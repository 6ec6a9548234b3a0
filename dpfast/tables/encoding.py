"""Encoding of rows as codes by a schema: a map of single rows, one column at a time.

The codes of a row follow from that row and from declarations alone. A column that a schema leaves open is stored as
numbers or values until it has been discovered.
"""

from collections import Counter
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.kernels.own import frozen
from dpfast.parts import MemoryParts, Piece
from dpfast.parts.blocks import BLOCK_BYTES, Table, map_blocks, slices
from dpfast.tables.arrays import counted, narrowest, taken
from dpfast.tables.arrow import (
    Frame,
    Kept,
    KeptCells,
    KeptTexts,
    KeptUnits,
    blocks_of_cells,
    cells,
    days,
    numbers,
    texts,
)
from dpfast.tables.cells import FIXED, CodeColumn, banded, bin_search, date_codes, number_codes
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import Boolean, Category, Column, Date, Numeric, text_of
from dpfast.tables.discovered import Discovered, found_codes, looked_up
from dpfast.tables.labels import LabelColumn, Labels, tidy_labels
from dpfast.tables.naming import refuse_lacking
from dpfast.tables.objects import Fault
from dpfast.tables.schema import Label, Schema
from dpfast.tables.words import Counts, tally

_EPOCH = date(1970, 1, 1).toordinal()
_CODED = 1 << 20  # rows of a discovered column that are encoded at a time
_TRUTH = {"false": 0, "0": 0, "true": 1, "1": 1}


def encode(table: Any, schema: Schema) -> CodeTable:
    """Return a table as codes, by a schema that declares everything.

    Columns may have any order; those that the schema does not name are not read. A ValueError says which column is
    missing, which place differs from its declaration, or that something is left to be discovered or confirmed.
    """
    encoding = Encoding(schema)
    encoding.add(table)
    return encoding.table()


def read_labelled(table: Any, y: Any, schema: Schema) -> tuple[CodeTable, LabelColumn]:
    """Return a table and its labels (`y`, or the column that the schema names), as `encode` does."""
    if y is None and schema.label is None:
        raise ValueError("y must be given: the schema declares no label")
    encoding = Encoding(schema, schema.label or Label("y"))
    encoding.add(table, y)
    return encoding.table(), encoding.labels()


class Encoding:
    """Tables of one schema that are read block by block, to become codes.

    `keep` returns storage for an array of a dtype, in memory or elsewhere. `unit` names the column of the unit of each
    row; `units.whole()` then returns numbers of units. An unconfirmed draft is refused.
    """

    def __init__(self, schema: Schema, label: Label | None = None, keep: Any = Kept, unit: str | None = None):
        schema.refuse_unconfirmed()
        self.schema, self.n, self._label, self._keep = schema, 0, label, keep
        self._columns = [READERS[type(column)](column, schema.missing_values) for column in schema.columns]
        self._kept = [self._room(read) for read in self._columns]
        self._labels = None if label is None else KeptTexts(keep)
        self.units = None if unit is None else KeptUnits(unit, keep)

    def _room(self, read):
        """Return storage for the codes of a column, or for its values if something has to be discovered."""
        if not read.column.to_find:
            return [self._keep(_dtype(made)) for made in read.made]
        if isinstance(read.column, Discovered):
            return [KeptCells(self._keep)]
        return [self._keep(np.float64) if isinstance(read.column, Numeric) else KeptTexts(self._keep)]

    @property
    def names(self) -> list[str]:
        """Return the columns that are read, including those of the label and of units if they are read."""
        return [*self.schema.names, *(each.name for each in (self._label, self.units) if each is not None)]

    def add(self, table: Any, y: Any = None) -> None:
        """Add a table that `Frame` accepts; an invalid row is refused by its number among all rows so far.

        Labels are `y`, an array, or the column of the table that the label names.
        """
        frame = Frame(table)
        refuse_lacking(self.names if y is None else self.schema.names, frame.names)
        try:
            parts = [read(frame.column(read.column.name)) for read in self._columns]
            labels = None if self._label is None else self._read_labels(frame, y)
            units = None if self.units is None else self.units.read(frame.column(self.units.name))
        except Fault as fault:
            raise Fault(fault.column, fault.what, None if fault.row is None else self.n + fault.row) from None
        for room, part in zip(self._kept, parts, strict=True):
            for kept, array in zip(room, part, strict=True):
                kept.append(array)
        if labels is not None and self._labels is not None:
            self._labels.append(labels)
        if self.units is not None:
            self.units.append(units)
        self.n += frame.n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, rows: Any) -> "Encoding":
        """Return the rows that a mask or a slice selects."""
        rows = np.arange(self.n)[rows]  # for columns of bytes much faster than a mask
        picked = self._none(len(rows))
        for into, room in zip(picked._rooms(), self._rooms(), strict=True):
            for new, kept in zip(into, room, strict=True):
                _pick(new, kept, rows)
        return picked

    def split(self, mask: np.ndarray) -> "tuple[Encoding, Encoding]":
        """Return the rows outside and inside a mask; this encoding loses its columns, so that none is held twice."""
        rows = np.flatnonzero(~mask), np.flatnonzero(mask)
        parts = self._none(len(rows[0])), self._none(len(rows[1]))
        for room, *both in zip(self._rooms(), *(part._rooms() for part in parts), strict=True):
            for k in range(len(room)):
                for into, some in zip(both, rows, strict=True):
                    _pick(into[k], room[k], some)
                room[k] = None
        return parts

    def _none(self, n):
        """Return an encoding like this one for n rows that are still to be stored."""
        encoding = Encoding(self.schema, self._label, self._keep.of(n))
        encoding.n = n
        return encoding

    def _rooms(self):
        return [*self._kept, *([] if self._labels is None else [[self._labels]])]

    def labels(self) -> LabelColumn:
        """Return the labels of all rows, as the classes of the schema if it declares them."""
        assert self._label is not None
        return label_column(self._label, *self.spelled())

    def spelled(self) -> tuple[np.ndarray, list]:
        """Return the labels of all rows as numbers of their spellings, and the spellings."""
        assert self._labels is not None
        return self._labels.whole()

    def spellings(self) -> set:
        """Return the spellings of the labels that occur."""
        index, values = self.spelled()
        return {values[k] for k in np.unique(index).tolist()}

    def counts(self) -> Counts:
        """Count the rows of each code or band, and of each word, of every column, and of each label if there is one."""
        columns = [self._counted(*each) for each in zip(self.schema.columns, self._kept, strict=True)]
        labels = Counter() if self._labels is None else tally(*self._labels.whole())
        return Counts([fixed for fixed, _ in columns], [words for _, words in columns], labels)

    def _counted(self, column, room):
        """Return the counts of a column and of its words: by codes if it is declared, otherwise by bands of cells."""
        if not column.to_find:
            made = zip(room, column.code_columns(), strict=True)
            return [counted(kept.whole(), each.size) for kept, each in made], Counter()
        if isinstance(column, Discovered):
            totals = np.zeros(FIXED + 1, np.int64)
            for block in slices(self.n, _CODED):
                totals += np.bincount(np.minimum(room[0].codes(block), FIXED), minlength=FIXED + 1)
            return [banded(totals[:FIXED])], room[0].words.counts()
        image = room[0].whole()
        if isinstance(column, Numeric):
            return [banded(np.bincount(number_codes(image), minlength=FIXED))], Counter()
        return [], tally(*image)

    def table(self, schema: Schema | None = None) -> CodeTable:
        """Return all rows as codes, by this schema after the discovery, if there was one."""
        schema = self.schema if schema is None else schema
        arrays = []
        for column, declared, room in zip(schema.columns, self.schema.columns, self._kept, strict=True):
            if declared.to_find:
                room = [self._coded(column, made, room[0]) for made in column.code_columns()]
            arrays += [frozen(kept.whole()) for kept in room]
        return CodeTable.of_columns(schema.code_columns, self.n, arrays)

    def numbered(self, schema: Schema, known: Labels) -> Table:
        """Return all rows as codes by this schema after the discovery, and their classes, as a table of one part."""
        table = self.table(schema)
        return Table(MemoryParts([Piece(table, known.codes)]), self.n, table.row_of_zeros(), known)

    def _coded(self, column, made, kept):
        """Return the codes of a stored image, by the discovered column."""
        codes = self._keep(_dtype(made))
        if isinstance(column, Discovered):
            fixed, of_word = found_codes(made, _dtype(made))
            known = self._keep.of(len(kept.words))(fixed.dtype)
            for some in kept.words.blocks():
                known.append(np.fromiter(map(of_word, some), fixed.dtype, len(some)))
            of_words = known.whole()
            for block in slices(self.n, _CODED):
                codes.append(looked_up(kept.codes(block), fixed, of_words))
            return codes
        image = kept.whole()
        for block in slices(self.n, _CODED):
            part = (image[0][block], image[1]) if isinstance(image, tuple) else image[block]
            codes.append(_CODES[type(column)](column, made, part))
        return codes

    def _read_labels(self, frame, y):
        name = self._label.name
        if y is not None:
            labels = Frame({name: y})
            if labels.n != frame.n:
                raise ValueError(f"X and y must have as many rows, got {frame.n} and {labels.n}")
            array = labels.column(name)
        else:
            array = frame.column(name)
        index, values = texts(name, array, self.schema.missing_values)
        if (index < 0).any():
            raise Fault(name, "has no label; leave the row out", int(np.argmax(index < 0)))
        if self._label.classes is not None:
            known = {text_of(each): True for each in self._label.classes}
            unknown = [k for k, value in enumerate(values) if value is not None and not _code_of(value, known)]
            wrong = np.flatnonzero(np.isin(index, unknown)) if unknown else ()
            if len(wrong):
                some = ", ".join(map(repr, [*known][:8]))
                raise Fault(name, f"has a label that is not declared; the classes are {some}", int(wrong[0]))
        return index, values


def _pick(new, kept, rows):
    """Append some rows of a stored column to another one."""
    if isinstance(kept, KeptCells):
        new.append(kept.picked(rows))
        return
    whole = kept.whole()
    new.append((whole[0][rows], whole[1]) if isinstance(whole, tuple) else whole[rows])


def label_column(label: Label, numbers: np.ndarray, spellings: list) -> LabelColumn:
    """Return labels from the numbers of their spellings, as the declared classes if there are any."""
    if label.classes is None:
        return LabelColumn(numbers, tidy_labels(spellings))
    place = {text_of(each): k for k, each in enumerate(label.classes)}
    known = np.array([_code_of(each, place) for each in spellings], narrowest(len(place)))
    return LabelColumn(taken(known, numbers), np.array(label.classes))


class _Reader:
    """A map from the Arrow array of a column to its codes, or to its values if something has to be discovered."""

    def __init__(self, column: Column, marks: tuple):
        self.column, self.marks = column, marks
        self.made = () if column.to_find else column.code_columns()

    def __call__(self, array: pa.Array) -> Any:
        image = self.image(array)
        if self.column.to_find:
            return [image]
        return [_CODES[type(self.column)](self.column, made, image) for made in self.made]

    def image(self, array):
        raise NotImplementedError

    def refuse_missing(self, missing):
        if not self.column.nullable and missing.any():
            raise Fault(self.column.name, "is missing, and not declared nullable", int(np.argmax(missing)))


class _Numbers(_Reader):
    def image(self, array):
        values = numbers(self.column.name, array, self.marks)
        self.refuse_missing(np.isnan(values))
        return values


class _Texts(_Reader):
    def image(self, array):
        index, values = texts(self.column.name, array, self.marks)
        self.refuse_missing(index < 0)
        refused = [k for k, value in enumerate(values) if value is not None and not self.fits(value)]
        wrong = np.isin(index, refused) if refused else np.zeros(0, bool)
        if wrong.any():
            raise Fault(self.column.name, f"holds a value that is not declared; {self.wanted}", int(np.argmax(wrong)))
        return index, values

    def knows(self, value):
        """Return whether a value is declared."""
        return _code_of(value, self.column.values) is not None

    def fits(self, value):
        return self.column.other or self.knows(value)

    wanted = "there is no other"


class _Truths(_Texts):
    def knows(self, value):
        return _truth(value, self.column.values) is not None

    fits = knows

    @property
    def wanted(self):
        return "it is " + (" or ".join(map(repr, self.column.values)) if self.column.values else "true or false")


class _Days(_Reader):
    def image(self, array):
        values = days(self.column.name, array, self.column.format, self.marks)
        self.refuse_missing(np.isnan(values))
        return values


class _Cells(_Reader):
    def image(self, array):
        reads, name = self.column.reads, self.column.name
        if reads == "text":
            return (blocks_of_cells if self.column.to_find else cells)(name, array, self.marks)
        values = days(name, array, None, self.marks) if reads == "date" else numbers(name, array, self.marks)
        image = (date_codes if reads == "date" else number_codes)(values), []
        return [image] if self.column.to_find else image


READERS: dict[type, Callable] = {Numeric: _Numbers, Category: _Texts, Boolean: _Truths, Date: _Days, Discovered: _Cells}


def _bins(column, made: CodeColumn, values):
    """Return how many edges are below each number, and the code of missing values for NaN."""
    below, codes = bin_search(made.edges), np.empty(len(values), _dtype(made))

    def write(block):
        part = values[block]
        codes[block] = below(part)
        if made.nullable:
            codes[block][np.isnan(part)] = made.missing

    map_blocks(write, slices(len(values), BLOCK_BYTES // 64))
    return codes


def _values(column, made: CodeColumn, image, code_of=None):
    index, values = image
    code_of = code_of or partial(_code_of, values=dict(zip(made.values, range(made.bins), strict=True)))
    table = [made.bins if code is None else code for code in map(code_of, values)]  # otherwise it is other
    return np.array([*table, made.missing or 0], _dtype(made))[index]  # the last is that of index -1


def _truths(column, made, image):
    return _values(column, made, image, partial(_truth, values=column.values))


def _parts(column, made: CodeColumn, values):
    missing = np.isnan(values)
    known = np.where(missing, 0, values).astype(np.int64)
    part = made.name.removeprefix(f"{column.name} ")
    if part == "age":
        return _bins(column, made, date.fromisoformat(column.high).toordinal() - _EPOCH - values)
    if part == "weekday":
        codes = (known + 3) % 7  # 1970-01-01 was a Thursday
    else:
        codes = known.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    codes = codes.astype(_dtype(made))
    codes[missing] = made.missing or 0
    return codes


def _cell_codes(column, made: CodeColumn, image):
    cells, words = image
    fixed, of_word = found_codes(made, _dtype(made))
    return looked_up(cells, fixed, np.fromiter(map(of_word, words), fixed.dtype, len(words)))


_CODES: dict[type, Callable] = {
    Numeric: _bins,
    Category: _values,
    Boolean: _truths,
    Date: _parts,
    Discovered: _cell_codes,
}


def _code_of(value, values):
    """Return the code of a value, with or without blanks around it."""
    if value is None:
        return None
    known = values if isinstance(values, dict) else {each: k for k, each in enumerate(values)}
    return known.get(value, known.get(value.strip()))


def _truth(value, values):
    if value is None:
        return None
    return _code_of(value, values) if values else _TRUTH.get(value.strip().lower())


def _dtype(made):
    return np.uint8 if made.size <= 256 else np.uint16
