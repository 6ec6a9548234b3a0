"""Tables as text: a header row, then one row per line with cells divided by a separator. Parsed by pyarrow.

They are read by a schema, as an `Encoding`, or as features that are numbers, or true and false.

Input is bounded: a line has at most 4 MB, or 32 bytes per column if that is more; the header has at most 128 MB; and a
compressed file expands to at most 400 times its size, or 256 MB if that is more.
"""

import codecs
import csv
import gzip
import io
import re
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from queue import Empty, SimpleQueue
from weakref import ref

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from dpfast.files import excel
from dpfast.files.entries import TableBuilder, block_rows
from dpfast.files.names import (
    FILL_OR_DROP,
    LONGEST,
    LONGEST_LINE,
    LabelReader,
    NotNumbers,
    distinguish_names,
    features_of,
    is_workbook,
    open_expanded,
)
from dpfast.parts.blocks import threads
from dpfast.tables.columns import Date, Numeric, refuse_lacking, text_of
from dpfast.tables.dates import ORDERS, with_iso_dates
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding
from dpfast.tables.forms import COMMA, NO_POINT
from dpfast.tables.naming import LATER_HEADER, are_cells
from dpfast.tables.objects import Fault
from dpfast.tables.schema import date_names

LINE, LINE_OF_COLUMN = 1 << 22, 32  # bytes; a line of c columns may have 32 c
BLOCK = 1 << 20  # bytes that are read at a time, of which pyarrow holds up to 32 blocks; more for a longer line
PLAIN = pa.large_string()
TEXT = pa.dictionary(pa.int32(), PLAIN)
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}  # what a command line can say
LARGEST_SKIP = 1_000_000  # lines before a header
_PATIENCE = 60.0  # seconds to wait for a read of a file that has started
_WIDENED = 4  # largest number of bytes of UTF-8 for one byte of another encoding
_FAULTS = (ValueError, EOFError, csv.Error, zlib.error, gzip.BadGzipFile)
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


class Unparsed(ValueError):
    """Text that pyarrow could not parse; a slow second pass finds the place and the reason."""


class _LongLine(ValueError):
    """A line that is longer than a block."""


class CsvFile:
    """A table of text, by the path of a file or by its content as bytes.

    A file whose name ends in .gz, .bz2 or .zst is compressed.

    A workbook is read like the text of one of its sheets, `sheet`, by default the only one.
    `skip_lines` is the number of lines before the header. `names` are the names of the columns, stripped of blanks;
    they are given if the content has no header. `before` is the number of rows of a stream before this content;
    messages then count rows, and lines otherwise.
    """

    def __init__(
        self,
        path,
        *,
        separator=",",
        decimal=".",
        encoding="utf-8",
        dates=None,
        sheet=None,
        skip_lines=0,
        names=None,
        before=None,
    ):
        check_settings(dates=dates, skip_lines=skip_lines)
        if not isinstance(path, bytes) and is_workbook(path):
            separator, encoding = excel.SEPARATOR, excel.ENCODING
            path, skip_lines = excel.sheet_as_text(path, sheet, decimal, skip_lines), 0
        elif sheet is not None:
            raise ValueError(f"a sheet is one of a workbook, and this file is none; got {sheet!r}")
        check_settings(separator=separator)
        separator = SEPARATORS.get(separator, separator)
        self.path, self.separator, self.decimal, self.encoding = path, separator, decimal, encoding
        self.dates, self._skip = dates, skip_lines
        self._header, self._before = 0, before
        with self._lines() as lines:
            if names is None:
                names, n_lines, self.separator = header_of(lines, separator, decimal)
                self._header = skip_lines + n_lines
            rows = csv.reader(lines, delimiter=self.separator)
            self.first = []
            with suppress(csv.Error):  # of a cell that is longer than that reader takes
                self.first = next((row for row in rows if "".join(row).strip()), [])
            self.names = names

    @property
    def line_limit(self):
        """Return the largest number of bytes of a line; the header may be as long as the names of any valid table."""
        return longest_row(self.names) if hasattr(self, "names") else LONGEST_LINE

    def batches(self, types, missing=()):
        """Yield the rows as Arrow batches; raise `Unparsed` for a cell that is not of its type, and for a ragged row.

        `types` maps the names of the columns to read to their types; `missing` has the texts of cells that are null.
        """
        read = 0
        for size in (min(BLOCK, self.line_limit), self.line_limit):
            rows_before = 0
            try:
                for batch in self._blocks(size, types, missing):
                    rows_before += batch.num_rows
                    if rows_before > read:
                        yield batch.slice(max(0, batch.num_rows - (rows_before - read)))
                        read = rows_before
                return
            except _LongLine:
                continue  # with larger blocks; the rows that were read are read again
        raise ValueError(f"a line has more than {self.line_limit:,} bytes")

    def usual(self, table, numbers, days):
        """Return a table, or its columns, with decimal points in some columns, and dates as YYYY-MM-DD in others.

        Cells of texts are read one by one; what is no number and no date is unchanged.
        """
        if self.decimal == "." and self.dates is None:
            return table
        columns = dict(zip(table.column_names, table.columns, strict=True))
        for name, array in columns.items():
            if pa.types.is_floating(array.type):
                continue
            if self.decimal != "." and name in numbers:
                array = _replace_marks(array, self.decimal)
            if self.dates is not None and name in days:
                array = with_iso_dates(array, self.dates)
            columns[name] = array
        return columns

    def column(self, name):
        """Yield a column as text, block by block."""
        for batch in self.batches({name: PLAIN}):
            yield batch.column(0)

    def _blocks(self, size, types, missing):
        """Yield the rows in blocks of so many bytes, as `batches` does; refuse a line that is longer."""
        returned, failures, lives = SimpleQueue(), [], []

        def watch(each):
            lives.append(ref(each, returned.put))
            return each

        with self._binary() as file:
            streams = [watch(_Source(file, self.encoding, failures, watch)), watch(partial(_skip_blank))]
            try:
                yield from self._reader(streams, size, types, missing)
                if failures:
                    raise failures[0]
            except pa.ArrowInvalid as error:
                if failures:
                    raise failures[0] from None
                if "Empty CSV file" in str(error):
                    return
                if "straddling object" in str(error):
                    raise _LongLine from None
                if "UTF8" in str(error):
                    raise ValueError("not UTF-8 text; give its encoding, such as cp1252") from None
                raise Unparsed("a row that cannot be parsed") from None
            finally:
                # pyarrow reads ahead on its own threads. A thread that still holds Python objects when the interpreter
                # ends aborts the process, so wait until none does; the last act of the thread, in C, shows that. While
                # the source lives, blocks that it reads are added to the list.
                streams.clear()
                with suppress(Empty):
                    for _ in lives:
                        returned.get(timeout=_PATIENCE)

    def _reader(self, streams, size, types, missing):
        """Return a streaming reader of a source with a handler of invalid rows; both are taken from the list."""
        # No variable here refers to them, since an exception keeps the variables of its frames alive.
        return arrow_csv.open_csv(
            pa.PythonFile(streams.pop(0), mode="r"),
            read_options=arrow_csv.ReadOptions(
                use_threads=threads() > 1, block_size=size, skip_rows=self._header, column_names=self.names
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=True,
                ignore_empty_lines=len(self.names) > 1,
                invalid_row_handler=streams.pop(0),
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=list(missing),
                strings_can_be_null=True,
                decimal_point=self.decimal,
            ),
        )

    def rows(self):
        """Yield the line numbers and cells of rows: (last line, list of str).

        Blank lines are no rows, except in a table of one column, where they are empty cells.
        """
        with self._lines() as lines:
            lines, separator = _after_separator(lines) if self._header else (lines, None)
            rows = csv.reader(lines, delimiter=self.separator)
            if self._header:
                next(rows, None)
            before = self._skip + bool(separator)
            end = before + rows.line_num
            try:
                for row in rows:
                    end = before + rows.line_num
                    if "".join(row).strip() or len(row) > 1:
                        yield end, row
                    elif len(self.names) == 1:
                        yield end, [""]
            except csv.Error:
                raise ValueError(
                    f"the row that begins in line {end + 1} has a cell of more than {csv.field_size_limit():,} "
                    "characters; a quote in it may not be closed"
                ) from None

    def rows_with_places(self):
        """Yield the places of rows for messages, and their cells."""
        for k, (line, row) in enumerate(self.rows()):
            yield f"line {line}" if self._before is None else f"row {self._before + k + 1}", row

    def place_of(self, row):
        """Return the place of a row for messages; lines count from the start of the file, `row` counts from 0."""
        return next((place for k, (place, _) in enumerate(self.rows_with_places()) if k == row), None)

    def refuse_ragged(self):
        """Raise an error for the first row that has more or fewer cells than the header."""
        for place, row in self.rows_with_places():
            if len(row) != len(self.names):
                hint = "; a quote before it may not be closed" if any("\n" in cell for cell in row) else ""
                if not hint and self._before is None:
                    more = len(row) > len(self.names)
                    hint = f". {LATER_HEADER}" if more else ". If it is no row of the table, remove it"
                cells = f"{len(row)} cell{'s' * (len(row) != 1)}"
                raise ValueError(f"{place} has {cells}, the header row {len(self.names)}{hint}")

    def count(self):
        """Return an upper bound on the rows: the number of lines, whatever ends them."""
        failures, ends = [], 1
        with self._binary() as file:
            source = _Source(file, self.encoding, failures)
            while text := source.read(LINE):
                ends += text.count(b"\n")
                if returns := text.count(b"\r"):
                    ends += returns - text.count(b"\r\n")
        if failures:
            raise failures[0]
        return ends

    @contextmanager
    def _binary(self):
        if isinstance(self.path, bytes):
            yield io.BytesIO(self.path)
            return
        with open_expanded(self.path) as file:
            yield file

    @contextmanager
    def _lines(self):
        with self._binary() as file, lines_of(file, self.encoding, self.line_limit) as lines:
            yield islice(lines, self._skip, None)


class _Source:
    """A binary file as pyarrow reads it: text of any encoding as UTF-8; it ends if a read fails.

    Failures are added to a list, without the frames that would keep this object alive. `watch` gets each block as a
    view, to which there can be a weak reference.
    """

    closed = False

    def __init__(self, file, encoding, failures, watch=None):
        self._read, self._failures, self._watch = file.read, failures, watch
        self._decoder = None if _is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()

    def read(self, size):
        """Return at most so many bytes of the file, as UTF-8."""
        try:
            data = self._read(size) if self._decoder is None else self._decode(size)
        except Exception as failure:
            self._failures.append(failure.with_traceback(None))
            data = b""
        return data if self._watch is None else self._watch(memoryview(data))

    def _decode(self, size):
        text = ""
        while not text and (data := self._read(size // _WIDENED)):
            text = self._decoder.decode(data)
        return (text or self._decoder.decode(b"", final=True)).encode()

    def close(self):
        """Do nothing: the opener of the file closes it."""


@contextmanager
def lines_of(file, encoding, most=LONGEST_LINE):
    """Yield the lines of a binary file as text, of at most so many characters each."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig" if _is_utf8(encoding) else encoding, newline="")
    try:
        yield _lines_up_to(text, most)
    finally:
        with suppress(ValueError):  # the file may already be closed
            text.detach()


def longest_row(names):
    """Return the largest number of bytes of a row of a table with these columns."""
    return max(LINE, LINE_OF_COLUMN * len(names))


def records_of(lines, names, separator):
    """Yield the text of one row after another, as pyarrow divides text: a quoted cell may contain ends of lines."""
    most, parts, size = longest_row(names), [], 0
    for line in lines:
        is_open = _is_open(line, separator, bool(parts))
        parts.append(line)
        size += len(line)
        if is_open:
            if size > most:
                raise ValueError(f"a row has more than {most:,} characters; a quote in it may not be closed")
            continue
        text, parts, size = "".join(parts), [], 0
        if text.strip() or text.rstrip("\r\n").count(separator) + 1 == len(names):
            yield text
    if parts:
        yield "".join(parts)


def _is_open(line, separator, is_open):
    """Return whether a quoted cell is open at the end of a line, given whether one is at its start."""
    if not is_open and '"' not in line:
        return False
    at = 0
    while True:
        if not is_open and line.startswith('"', at):
            is_open, at = True, at + 1
        if is_open:
            while (at := line.find('"', at)) >= 0 and line.startswith('""', at):
                at += 2
            if at < 0:
                return True
            is_open = False
        at = line.find(separator, at) + 1
        if not at:
            return False


_SAYS_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?[\r\n]*', re.IGNORECASE)


def check_settings(*, dates=None, skip_lines=0, **marks):
    """Refuse marks (the separator, the decimal mark), an order of dates and a number of lines that no text can have."""
    marks = {name: SEPARATORS.get(value, value) if name == "separator" else value for name, value in marks.items()}
    for name, value in marks.items():
        if not isinstance(value, str) or len(value) != 1:
            raise ValueError(f"the {name} must be one character, got {value!r}")
    if len({*marks.values()}) < len(marks):
        raise ValueError(f"separator and decimal mark must differ, got {marks['decimal']!r} for both")
    if dates not in (None, *ORDERS):
        raise ValueError(f'dates must be "dmy", "mdy" or "ymd", got {dates!r}')
    if type(skip_lines) is not int or not 0 <= skip_lines <= LARGEST_SKIP:
        raise ValueError(f"skip_lines must be a number of lines, at most {LARGEST_SKIP:,}, got {skip_lines!r}")


def header_of(lines, separator, decimal="."):
    """Return the names of the columns, the number of lines up to their end, and the separator.

    A first line such as sep=; says the separator, as for Excel.
    """
    lines, mark_of_file = _after_separator(lines)
    separator = mark_of_file or separator
    check_settings(separator=separator, decimal=decimal)
    rows = csv.reader(lines, delimiter=separator)
    names = [name.strip() for name in next(rows, [])]
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        what = {"\t": "tabs", ",": "commas"}.get(separator, repr(separator))
        likely = max(";\t|,", key=names[0].count)
        row = "" if are_cells([each.strip() for each in names[0].split(likely)]) else f", {names[0]!r}"
        likely = {"\t": "tab"}.get(likely, likely)
        raise ValueError(
            f"the header row has only one column{row}; columns must be separated by {what}, unless another separator= "
            f"(--separator) is given: {likely!r} may be right. {LATER_HEADER}"
        )
    return distinguish_names(names), bool(mark_of_file) + rows.line_num, separator


def _after_separator(lines):
    """Return the lines after one such as sep=; and the separator that it says; all lines and None if there is none."""
    lines = iter(lines)
    first = next(lines, "")
    if match := _SAYS_SEPARATOR.fullmatch(first):
        return lines, match[1]
    return chain([first] if first else [], lines), None


@contextmanager
def faults_of(path):
    """Add the path of the file to all errors in the block."""
    try:
        yield
    except UnicodeDecodeError as error:
        likely = "utf-16" if error.object[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "cp1252"
        raise ValueError(
            f"{path} is not {error.encoding.upper()} text: {error}; give its encoding, such as {likely} (--encoding)"
        ) from None
    except LookupError as error:
        raise ValueError(f"{path}: {error}") from None
    except _FAULTS as error:
        raise (NotNumbers if isinstance(error, NotNumbers) else ValueError)(f"{path}: {error}") from None


def _lines_up_to(text, most):
    while line := text.readline(most):
        if len(line) == most and not line.endswith("\n"):
            raise ValueError(f"a line has more than {most:,} characters")
        yield line


def _skip_blank(row):
    return "error" if row.text.strip() else "skip"


def _is_utf8(encoding):
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def encode_csv(file, schema, label, storage, unit=None):
    """Return the `Encoding` of a CSV file; refuse invalid cells, and name their place."""
    encoded = Encoding(schema, label, storage, unit)
    by_stripped_name = {
        name.strip(): name for name in encoded.names if name.strip() not in encoded.names
    }  # as files are read
    file.names = [by_stripped_name.get(name, name) for name in file.names]
    refuse_lacking(encoded.names, file.names)
    try:
        if label is not None and {*map(text_of, label._present)} & {*schema.missing_values}:
            return _fill_encoding(file, encoded, {}, False)  # what marks a gap elsewhere is a label
        return _fill_encoding(
            file, encoded, {column.name: _type_of(column, file.decimal) for column in schema.columns}, True
        )
    except (Unparsed, Fault):
        file.refuse_ragged()
    try:  # as text, cell by cell: slow, only to find the cell at fault; a single cell must not choose how all are read
        _fill_encoding(file, Encoding(schema, label, unit=unit), {}, False)
    except Fault as fault:
        if fault.row is None:
            raise
        raise ValueError(f"{file.place_of(fault.row)}, column {fault.column!r} {fault.what}") from None
    raise ValueError("a cell cannot be read; a number may have blanks other than spaces around it")


def _fill_encoding(file, encoded, types, marked):
    types = {name: types.get(name, TEXT if marked else PLAIN) for name in encoded.names}
    types |= dict.fromkeys(encoded.number_names - {*encoded.schema.names}, PLAIN)  # a label with thresholds
    days = date_names(encoded.schema.columns)
    for batch in file.batches(types, encoded.schema.missing_values if marked else ()):
        encoded.add(file.usual(batch, encoded.number_names, days))
    return encoded


def _replace_marks(texts, decimal):
    """Return texts with a point in numbers with this decimal mark, each by itself.

    If the mark is a comma, points before three digits are separators of thousands, beside a currency or a unit, too.
    Other numbers with a point, which this decimal mark excludes, become texts that are none, with NO_POINT.
    """
    if decimal == ",":
        found = pc.fill_null(pc.match_substring_regex(texts, COMMA), False)
        written = pc.replace_substring(texts, ".", "")
        written = pc.replace_substring_regex(written, r",([0-9]{3})([^0-9]|$)", r".\10\2")  # no thousands
        written = pc.if_else(found, pc.replace_substring(written, ",", "."), pa.scalar(None, texts.type))
        other = pc.if_else(found, pa.scalar(None, texts.type), texts)
        return pc.coalesce(written, _with_decimal_points(other, decimal), texts)
    return _with_decimal_points(texts, decimal)


def _with_decimal_points(texts, decimal):
    no_number = pc.replace_substring(texts, ".", NO_POINT)
    with_mark, with_point = (
        pc.fill_null(pc.match_substring_regex(texts, _number(each)), False) for each in (decimal, ".")
    )
    other = pc.if_else(with_point, no_number, texts)
    return pc.if_else(with_mark, pc.replace_substring(texts, decimal, "."), other)


def _number(mark):
    """Return the pattern of numbers that contain this decimal mark."""
    mark = re.escape(mark)
    return rf"^\s*[-+]?([0-9]+{mark}[0-9]*|{mark}[0-9]+)([eE][-+]?[0-9]+)?\s*$"


def _type_of(column, decimal):
    """Return the type as which a column is read; only numbers with a decimal point are read as such."""
    if isinstance(column, Numeric) and decimal == ".":
        return pa.float64()
    of_numbers = isinstance(column, Numeric | Date | Discovered) or (column.kind == "boolean" and decimal != ".")
    return PLAIN if of_numbers else TEXT


# ---- numbers ---------------------------------------------------------------------------------------------------------


def table_of(file, label, entries, spool):
    """Return the features of a file as bits or numbers, and its labels as a `LabelReader`; refuse invalid cells.

    Each cell is a number, or true or false, by itself. The first row only tells how most columns are read fastest.
    """
    names = features_of(file.names, label)
    truths = {name for name, cell in zip(file.names, file.first, strict=False) if _is_truth(cell)}
    try:
        try:
            return _gather(file, names, label, truths, entries, spool)
        except Unparsed:
            return _gather(file, names, label, {*names}, entries, spool)
    except ValueError:
        _find_fault(file, label, entries)
        raise


def _gather(file, names, label, as_text, entries, spool):
    types = {name: TEXT if name in as_text or name == label else pa.float64() for name in file.names}
    labels, gathered = LabelReader(None), TableBuilder(entries, names, file.count, spool)
    for batch in file.batches(types):
        if label is not None:
            labels.add(batch.column(label))
        for start in range(0, len(batch), block_rows(len(names))):
            part = batch.slice(start, block_rows(len(names)))
            columns = [part.column(name) for name in names]
            numbers = [_values(each, file.decimal) if each.type == TEXT else each.to_numpy() for each in columns]
            gathered.add(np.stack(numbers, axis=1))
    return gathered.table(), labels


def _find_fault(file, label, entries):
    """Raise an error for the first invalid cell, and name its place; slow, only for files that have one."""
    file.refuse_ragged()
    for line, row in file.rows_with_places():
        cells = [cell.strip() for cell in row]
        for name, cell in zip(file.names, cells, strict=True):
            place = f"{line}, column {name!r}"
            if name == label:
                if len(cell) > LONGEST:
                    raise ValueError(f"{place} has {len(cell):,} characters; a label has at most {LONGEST}")
                continue
            if not cell:
                raise NotNumbers(f"{place} is empty; {FILL_OR_DROP}")
            value = _value(cell, file.decimal)
            if value is None or not entries.fit(np.float64(value)):
                raise NotNumbers(f"{place} holds another value; {entries.demand}")


def _values(column, decimal):
    """Return texts as numbers, each by itself."""
    values = [_value(cell.strip(), decimal) for cell in column.dictionary.to_pylist()]
    if None in values:
        raise Unparsed("a cell that is neither a number nor true or false")
    return np.array(values)[column.indices.to_numpy()]


def _value(cell, decimal):
    """Return the number of a cell, 1 for true and 0 for false; None if it is none of these."""
    if (truth := _TRUTH.get(cell.lower())) is not None:
        return truth
    if not cell.isascii() or "_" in cell or (decimal != "." and "." in cell):
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None


def _is_truth(cell):
    return cell.strip().lower() in ("true", "false")
