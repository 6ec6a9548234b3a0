"""Encoding of rows as codes by a schema: a map of single rows, one column at a time.

The codes of a row follow from that row and from declarations alone. A column that a schema leaves open is stored as
numbers or values until it has been discovered.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.kernels import bins
from dpfast.kernels.own import frozen
from dpfast.parts import MemoryParts, Piece
from dpfast.parts.blocks import BLOCK_BYTES, Table, map_blocks, slices
from dpfast.tables.arrays import narrowest, take_entries
from dpfast.tables.arrow import (
    ArrayStore,
    CellStore,
    Frame,
    NumbersInPlace,
    TextStore,
    UnitStore,
    blocks_of_cells,
    cells,
    days,
    distinct_cells,
    numbers,
    texts,
)
from dpfast.tables.cells import SURVEYED, CodeColumn, date_codes, last_numbers, number_codes, survey_cells
from dpfast.tables.classes import class_numbers
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import Boolean, Category, Date, Numeric, coder, refuse_lacking, text_of
from dpfast.tables.discovered import Discovered, codes_by_facts, holds_words, places_of
from dpfast.tables.label_columns import LabelColumn
from dpfast.tables.labels import Labels, column_of_cells, missing_labels, number_labels
from dpfast.tables.objects import Fault
from dpfast.tables.schema import Label, Schema, number_names
from dpfast.tables.thresholds import classes_above
from dpfast.tables.words import Counts, tally

_EPOCH = date(1970, 1, 1).toordinal()
_CODED = 1 << 20  # rows of a discovered column that are encoded at a time


def encode(table: Any, schema: Schema) -> CodeTable:
    """Return a table as codes, by a schema that declares everything.

    Columns may have any order; those that the schema does not name are not read. A ValueError says which column is
    missing, which place differs from its declaration, or that something is left to be discovered or confirmed.
    """
    encoding = Encoding(schema)
    encoding.add(table)
    return encoding.table()


class Encoding:
    """Tables of one schema that are read block by block, to become codes.

    `storage` returns a store for an array of a dtype, in memory or elsewhere. `unit` names the column of the unit of
    each row; `units.read_all()` then returns numbers of units. An unconfirmed draft is refused. If the table that is
    added will `stay` as it is, numbers of undeclared columns are not copied, but read again.

    A row without a label is counted in `n`, which is also the length and numbers rows, and nothing else is kept of it:
    codes, counts and labels are those of the other rows.
    """

    def __init__(
        self,
        schema: Schema,
        label: Label | None = None,
        storage: Any = ArrayStore,
        unit: str | None = None,
        stay: bool = False,
    ):
        schema.refuse_unconfirmed()
        self._stay = stay
        self.schema, self.n, self._label, self._storage = schema, 0, label, storage
        self._have_labels: list[np.ndarray] = []  # masks of blocks of rows
        self._readers = [READERS[type(column)](column, schema.missing_values) for column in schema.columns]
        self._stores = [self._new_stores(reader) for reader in self._readers]
        self._labels = None if label is None else TextStore(storage)
        self.units = None if unit is None else UnitStore(unit, storage)

    def _new_stores(self, reader):
        """Return stores for the codes of a column, or for its image if something has to be discovered."""
        if reader.code_columns:
            return [self._storage(_dtype(code)) for code in reader.code_columns]
        if isinstance(reader.column, Discovered):
            return [CellStore(self._storage)]
        return [self._storage(np.float64) if isinstance(reader.column, Numeric) else TextStore(self._storage)]

    @property
    def number_names(self) -> set[str]:
        """Return the columns whose cells may be numbers, including that of a label with thresholds."""
        label = {self._label.name} if self._label is not None and self._label.above is not None else set()
        return number_names(self.schema.columns) | label

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
        labels = rows = None
        try:
            if self._label is not None:
                labels = self._read_labels(frame, y)
                has_label = labels[0] >= 0
                if not has_label.all():
                    rows, labels = np.flatnonzero(has_label), (labels[0][has_label], labels[1])
            units = None if self.units is None else self.units.read(frame.distinguish_cells(self.units.name))
        except Fault as fault:
            raise self._with_row(fault, None) from None
        try:
            for reader, stores in zip(self._readers, self._stores, strict=True):
                self._add_column(reader, stores, frame, rows)
        except Fault as fault:
            raise self._with_row(fault, rows) from None
        complete = np.broadcast_to(True, frame.n)  # which takes no memory
        self._have_labels.append(complete if labels is None or rows is None else has_label)
        vars(self).pop("labelled", None)
        if labels is not None and self._labels is not None:
            self._labels.append(labels)
        if self.units is not None:
            self.units.append(units)
        self.n += frame.n

    def _add_column(self, reader, stores, frame, rows):
        """Store the codes of some rows of a column, all by default, or their image."""
        name = reader.column.name
        if (
            self._stay
            and not self.n
            and rows is None
            and reader.may_stay
            and (staying := frame.numbers_in_place(name, reader.marks))
        ):
            stores[:] = [staying]
            return
        array = frame.column(name, reader.nan_is_null)
        for store, part in zip(stores, reader(array if rows is None else array.take(pa.array(rows))), strict=True):
            store.append(part)

    def _with_row(self, fault, rows):
        """Return the fault with the number of its row among all, which was counted among some `rows` of a table."""
        row = fault.row if rows is None or fault.row is None else int(rows[fault.row])
        return Fault(fault.column, fault.what, None if row is None else self.n + row)

    def __len__(self) -> int:
        return self.n

    @cached_property
    def labelled(self) -> np.ndarray | None:
        """Return a mask of the rows that have a label, or None if all have."""
        return None if all(map(np.all, self._have_labels)) else np.concatenate(self._have_labels)

    @property
    def complete(self) -> bool:
        """Return whether every row has a label, if labels are read."""
        return self.labelled is None

    @property
    def held(self) -> int:
        """Return the number of rows that have a label: private, also if `n` is public."""
        return self.n if self.labelled is None else int(self.labelled.sum())

    def __getitem__(self, rows: Any) -> "Encoding":
        """Return the rows that a mask or a slice selects."""
        (picked,) = self._pick_groups([np.arange(self.n)[rows]])  # for columns of bytes much faster than a mask
        return picked

    def split(self, mask: np.ndarray) -> "list[Encoding]":
        """Return the rows outside and inside a mask; this encoding loses its columns, so that none is held twice."""
        return self._pick_groups([np.flatnonzero(~mask), np.flatnonzero(mask)], move=True)

    def _pick_groups(self, groups, move=False):
        """Return encodings of groups of rows; the columns of this one can be freed one by one."""
        place = None if self.labelled is None else np.cumsum(self.labelled) - 1  # among the rows that are kept
        masks = [np.ones(len(rows), bool) if place is None else self.labelled[rows] for rows in groups]
        groups = [rows if place is None else place[rows[mask]] for rows, mask in zip(groups, masks, strict=True)]
        parts = [type(self)(self.schema, self._label, self._storage.of(len(rows))) for rows in groups]
        for part, mask in zip(parts, masks, strict=True):
            part.n, part._have_labels = len(mask), [mask]
        for stores, *into in zip(self._all_stores(), *(part._all_stores() for part in parts), strict=True):
            for k in range(len(stores)):
                for new, rows in zip(into, groups, strict=True):
                    _pick(new[k], stores[k], rows)
                stores[k] = None if move else stores[k]
        return parts

    def _all_stores(self):
        return [*self._stores, *([] if self._labels is None else [[self._labels]])]

    def labels(self) -> LabelColumn:
        """Return the labels of the rows that have one, as the classes of the schema if it declares them."""
        assert self._label is not None
        return label_column(self._label, *self.label_numbers())

    def labels_of_all(self) -> LabelColumn:
        """Return the labels of all rows, without a label for those that have none."""
        labels = self.labels()
        if self.labelled is None:
            return labels
        numbers = np.full(self.n, -1, labels.numbers.dtype)
        numbers[self.labelled] = labels.numbers
        return LabelColumn(numbers, labels.spellings, labels.kind)

    def label_numbers(self) -> tuple[np.ndarray, list]:
        """Return the labels as numbers of their identities, and the identities."""
        assert self._labels is not None
        return self._labels.read_all()

    def spellings(self) -> set:
        """Return the identities of the labels that occur."""
        index, values = self.label_numbers()
        return {values[k] for k in np.unique(index).tolist()}

    def counts(self) -> Counts:
        """Count the rows of each cell of the survey and of each word of the undeclared columns, and of each label."""
        labels = Counter() if self._labels is None else tally(*self._labels.read_all())
        every = [*zip(self._readers, self._stores, strict=True)]
        fixed = [self._count(*each, survey_cells, SURVEYED) for each in every]
        return Counts(fixed, [self._words(reader.column, stores) for reader, stores in every], labels)

    def cells(self, looks: Sequence) -> list:
        """Count the rows of undeclared columns by bins of numbers and of dates, and by groups of other cells.

        Parameters
        ----------
        looks : sequence of tuple or None
            For each column of the schema what `dpfast.tables.discovered.places_of` takes: the edges of its numbers and
            of its dates, and its published words; None if it is not counted.

        Returns
        -------
        list of ndarray of int64, or None
            The counts of the bins of numbers, then those of dates, then those of groups.
        """
        every = zip(self._readers, self._stores, looks, strict=True)
        return [None if look is None else self._look(reader, stores, *look) for reader, stores, look in every]

    def _look(self, reader, stores, *look):
        """Return the counts of a column by places, or None if it is declared or has only words."""
        places, size, of_word = places_of(*look)
        words = stores[0].words if isinstance(stores[0], CellStore) else ()
        of_words = None if of_word is None else self._of_words(words, of_word)
        return self._count(reader, stores, lambda cells, tenths: places.count(cells, size, of_words, tenths), size)

    def _count(self, reader, stores, count, size):
        """Return the sums over blocks of what a function counts in cells, or None as in `_look`."""
        if not reader.column.to_find or not isinstance(reader.column, Discovered | Numeric):
            return None
        if isinstance(reader.column, Discovered):
            blocks = stores[0].blocks(_CODED)
        else:
            image = stores[0].read_all()
            blocks = ((number_codes(image[block]), 0) for block in slices(self.held, _CODED))
        return sum((count(*block) for block in blocks), np.zeros(size, np.int64))

    def _of_words(self, words, of_word):
        """Return what a function gives for each word: uint16."""
        codes = self._storage.of(len(words))(np.uint16)
        for some in words.blocks() if len(words) else ():
            codes.append(np.fromiter(map(of_word, some), np.uint16, len(some)))
        return codes.read_all()

    @staticmethod
    def _words(column, stores):
        if not holds_words(column):
            return Counter()
        return stores[0].words.counts() if isinstance(column, Discovered) else tally(*stores[0].read_all())

    def table(self, schema: Schema | None = None, move: bool = False) -> CodeTable:
        """Return all rows as codes, by this schema after the discovery, if there was one.

        With `move`, this encoding loses each column as soon as its codes are made, so that none is held twice.
        """
        schema = self.schema if schema is None else schema
        arrays, codes = [], []
        for column, reader, stores in zip(schema.columns, self._readers, self._stores, strict=True):
            if reader.column.to_find:
                reader = READERS[type(column)](column)
                images = stores
                stores = [self._codes_of(reader, code, images[0]) for code in reader.code_columns]
                if move:
                    images.clear()
            arrays += [frozen(store.read_all()) for store in stores]
            codes += reader.code_columns
        return CodeTable.of_columns(tuple(codes), self.held, arrays)

    def to_codes(self, schema: Schema, names: Labels) -> Table:
        """Return all rows as codes by this schema after the discovery, and their classes, as a table of one part.

        This encoding loses the columns that were discovered.
        """
        table = self.table(schema, move=True)
        return Table(MemoryParts([Piece(table, names.codes)]), self.n, table.row_of_zeros(), names, self.complete)

    def _codes_of(self, reader, code, store):
        """Return the codes of a stored image, by the reader of the discovered column."""
        codes = self._storage(_dtype(code))
        if isinstance(reader.column, Discovered):
            fixed, of_word = codes_by_facts(code)
            of_words = None if of_word is None else self._of_words(store.words, of_word)
            for cells, places in store.blocks(_CODED):
                codes.append(fixed.take(cells, _dtype(code), of_words, places))
            return codes
        image = store.read_all()
        for block in slices(self.held, _CODED):
            part = (image[0][block], image[1]) if isinstance(image, tuple) else image[block]
            codes.append(reader.codes(code, part))
        return codes

    def _read_labels(self, frame, y):
        name = self._label.name
        marks = missing_labels(self._label._present, self.schema.missing_values)
        if isinstance(y, LabelColumn):
            index, identities = number_labels(y, marks)
        else:
            index, identities = (frame if y is None else Frame({name: y})).identities(name, marks)
        if len(index) != frame.n:
            raise ValueError(f"X and y must have as many rows, got {frame.n} and {len(index)}")
        if self._label.above is not None:
            identities = classes_above(identities, self._label.above)
            wrong = np.flatnonzero(np.array([*(each is None for each in identities), False])[index])
            if len(wrong):
                raise Fault(name, "has a label that is no number, and above= (--above) is for numbers", int(wrong[0]))
        if self._label.classes is not None:
            codes = class_numbers(identities, np.array(self._label.classes), -1)
            wrong = np.flatnonzero(take_entries(np.array([*codes, 0]), index) < 0) if -1 in codes else ()
            if len(wrong):
                some = ", ".join(repr(text_of(each)) for each in self._label.classes[:8])
                raise Fault(name, f"has a label that is not declared; the classes are {some}", int(wrong[0]))
        return index, identities


def _pick(new, store, rows):
    """Append some rows of a stored column to another one."""
    if isinstance(store, CellStore | NumbersInPlace):
        new.append(store.pick_cells(rows))
        return
    whole = store.read_all()
    new.append((whole[0][rows], whole[1]) if isinstance(whole, tuple) else whole[rows])


def label_column(label: Label, numbers: np.ndarray, identities: list) -> LabelColumn:
    """Return labels from the numbers of their identities, as the declared classes if there are any."""
    if label.classes is None:
        return column_of_cells(numbers, identities, None)
    codes = class_numbers(identities, np.array(label.classes), -1)  # -1 for no row
    return LabelColumn(take_entries(np.array(codes, narrowest(len(label.classes))), numbers), np.array(label.classes))


class _Reader:
    """How a column becomes codes: `image` reads the cells of an Arrow array, and `codes` makes codes of an image.

    `made` has the columns of codes; it is empty if something has to be discovered, and images are stored meanwhile.
    """

    nan_is_null = True  # which Arrow then finds in one more pass
    may_stay = False  # whether a column of numbers may be read where it is

    def __init__(self, column, marks=()):
        self.column, self.marks = column, marks
        self.code_columns = () if column.to_find else column.code_columns()

    def __call__(self, array):
        """Return the codes of the cells of an Arrow array, for each of the columns of codes, or their image."""
        image = self.image(array)
        return [self.codes(code, image) for code in self.code_columns] if self.code_columns else [image]

    def refuse_missing(self, missing):
        if not self.column.nullable and missing.any():
            raise Fault(self.column.name, "is missing, and not declared nullable", int(np.argmax(missing)))


class _Numbers(_Reader):
    nan_is_null = False

    def image(self, array):
        values = numbers(self.column.name, array, self.marks)
        self.refuse_missing(np.isnan(values))
        return values

    def codes(self, code, image):
        return _bins(code, image)


class _Texts(_Reader):
    """The image is that of `texts`: numbers of distinct values, and the values."""

    domain = "there is no other"

    def __init__(self, column, marks=()):
        super().__init__(column, marks)
        self._code = coder(column)

    def image(self, array):
        index, values = texts(self.column.name, array, self.marks)
        self.refuse_missing(index < 0)
        refused = [k for k, value in enumerate(values) if value is not None and not self.fits(value)]
        wrong = np.isin(index, refused) if refused else np.zeros(0, bool)
        if wrong.any():
            raise Fault(self.column.name, f"holds a value that is not declared; {self.domain}", int(np.argmax(wrong)))
        return index, values

    def codes(self, code_column, image):
        index, values = image
        rest = min(code_column.bins, code_column.size - 1)  # other; without it no row has such a value
        table = [rest if value is None or (code := self._code(value)) is None else code for value in values]
        return np.array([*table, code_column.missing or 0], _dtype(code_column))[index]  # the last is of index -1

    def fits(self, value):
        return self.column.other or self._code(value) is not None


class _Truths(_Texts):
    def fits(self, value):
        return self._code(value) is not None

    @property
    def domain(self):
        return "it is " + (" or ".join(map(repr, self.column.values)) if self.column.values else "true or false")


class _Days(_Reader):
    """The image is days since 1970-01-01, missing ones NaN."""

    def image(self, array):
        values = days(self.column.name, array, self.column.format, self.marks)
        self.refuse_missing(np.isnan(values))
        return values

    def codes(self, code, image):
        missing = np.isnan(image)
        days = np.where(missing, 0, image).astype(np.int64)
        part = code.name.removeprefix(f"{self.column.name} ")
        if part == "age":
            return _bins(code, date.fromisoformat(self.column.high).toordinal() - _EPOCH - image)
        if part == "weekday":
            codes = (days + 3) % 7  # 1970-01-01 was a Thursday
        else:
            codes = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
        codes = codes.astype(_dtype(code))
        codes[missing] = code.missing or 0
        return codes


class _Cells(_Reader):
    """The image is codes of cells and the words among them; of a column to be discovered, blocks of these."""

    def __init__(self, column, marks=()):
        super().__init__(column, marks)
        self.nan_is_null = column.reads in ("date", "text")
        self.may_stay = not self.code_columns and not self.nan_is_null

    def __call__(self, array):
        if not self.code_columns:
            return [self.image(array)]
        if self.column.reads == "text":
            index, codes, words = distinct_cells(self.column.name, array, self.marks)
            return [_placed(self.codes(code, (codes, words)), index, code.missing) for code in self.code_columns]
        if self.column.reads != "date" and all(code.ordered and not code.dates for code in self.code_columns):
            values = numbers(self.column.name, array, self.marks)
            return [_bins(code, values, last_numbers(code.edges)) for code in self.code_columns]
        return super().__call__(array)

    def image(self, array):
        reads, name = self.column.reads, self.column.name
        if reads == "text":
            return (blocks_of_cells if self.column.to_find else cells)(name, array, self.marks)
        values = days(name, array, None, self.marks) if reads == "date" else numbers(name, array, self.marks)
        codes = (date_codes if reads == "date" else number_codes)(values)
        return [(None, codes, [])] if self.column.to_find else (codes, [])

    def codes(self, code, image):
        cells, words = image
        fixed, of_word = codes_by_facts(code)
        of_words = None if of_word is None else np.fromiter(map(of_word, words), np.uint16, len(words))
        return fixed.take(cells, _dtype(code), of_words)


def _placed(codes, index, missing):
    """Return the code of each place, and that of missing cells for null."""
    if index is None:
        return codes
    codes = pa.array(codes).take(index)
    return (codes.fill_null(missing) if codes.null_count else codes).to_numpy(zero_copy_only=False)


READERS: dict[type, Callable] = {Numeric: _Numbers, Category: _Texts, Boolean: _Truths, Date: _Days, Discovered: _Cells}


def _bins(code: CodeColumn, values, edges=None):
    """Return how many edges are below each number, and the code of missing values for NaN, any if there is none."""
    edges, codes = np.array(code.edges if edges is None else edges, np.float64), np.empty(len(values), _dtype(code))

    def write(block):
        codes[block] = bins.count_below(values[block], edges, code.missing or 0, codes.dtype)

    map_blocks(write, slices(len(values), BLOCK_BYTES // 8))
    return codes


def _dtype(code):
    return np.uint8 if code.size <= 256 else np.uint16
