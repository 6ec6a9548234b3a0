"""Sheets of workbooks as tables of text, which are read cell by cell like a CSV file. Parsed by python-calamine."""

import csv
import io
import os
import zipfile
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path

from dpfast.files.names import check_expansion
from dpfast.tables.columns import text_of
from dpfast.tables.naming import listed

SEPARATOR, ENCODING = "\t", "utf-8"
_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


def sheet_as_text(path: Path, sheet: str | None, decimal: str = ".", skip_rows: int = 0) -> bytes:
    """Return a sheet, by default the only one, as text with one row a line and cells divided by SEPARATOR.

    Numbers have this decimal mark, dates are YYYY-MM-DD, and formulas that failed are empty cells. The first
    `skip_rows` rows of the sheet are left out, and so are rows without a cell.
    """
    stamp = os.stat(path)
    return _sheet_as_text(path, sheet, decimal, skip_rows, (stamp.st_size, stamp.st_mtime_ns))


@lru_cache(maxsize=1)
def _sheet_as_text(path, sheet, decimal, skip_rows, stamp):
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        by_name = "" if sheet is None else f", sheet_name={sheet!r}"
        raise ImportError(
            f"{path} needs python-calamine: pip install 'dpfast[excel]'. Or save it as CSV with pandas: "
            f'table = pandas.read_excel("{path.name}"{by_name}); table.to_csv("{path.stem}.csv", index=False)'
        ) from None
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            check_expansion(sum(each.file_size for each in archive.infolist()), stamp[0])
    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if sheet is None and len(names) > 1:
            raise ValueError(f"the workbook has {len(names)} sheets; say which by --sheet: {listed(names)}")
        if sheet not in (None, *names):
            raise ValueError(f"there is no sheet {sheet!r}; there is {listed(names)}")
        page = book.get_sheet_by_name(names[0] if sheet is None else sheet)
        rows, before = page.to_python(), page.start[0] if page.start else 0  # rows without a cell
    except CalamineError as error:
        raise ValueError(f"not a whole workbook: {error}") from None
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=SEPARATOR, lineterminator="\n")
    for row in rows[max(0, skip_rows - before) :]:
        cells = [_text(cell, decimal) for cell in row]
        if any(cells):
            writer.writerow(cells)
    return text.getvalue().encode()


def _text(cell, decimal):
    """Return a cell as it is written in a file of text."""
    if isinstance(cell, bool):
        return text_of(cell)
    if isinstance(cell, float):
        return text_of(cell).replace(".", decimal)
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if cell.time() != time() else cell.date().isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        seconds = cell.seconds
        return f"{cell.days} days {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    text = str(cell)
    return "" if text in _ERRORS else text
