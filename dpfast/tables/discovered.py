"""Columns about which nothing is declared, and the codes of their cells after the discovery."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from dpfast.tables.cells import (
    DATES,
    GROUPS,
    MISSING,
    CodeColumn,
    Runs,
    fixed_groups,
    last_codes,
    word_group,
)
from dpfast.tables.columns import Category, Column, distinct, is_number, rising

READS = ("number", "integer", "date", "text")  # what the type of a column may be
MOST_COLUMNS = 1 << 14  # discovered in one table: the counts of each column take 33 kB
_FORMER_GROUPS = {1: (), GROUPS: tuple(range(GROUPS))}
_MOST_DAYS = 700_000  # from 1970-01-01, in either direction


@dataclass(frozen=True)
class Discovered(Column):
    """A column about which nothing is declared: its numbers, dates and words are discovered privately.

    Every cell is a number, a date, a word or missing by itself (`dpfast.tables.cells`). The discovered facts decide
    which columns of codes the column becomes: one for its numbers, one for its dates and one for its words.

    `reads` ("text", "number", "integer" or "date") is the type of the column if the table declares one, as in Arrow and
    Parquet; cells of a CSV file are text. Discovered are the edges of the bins of `numbers`, and of `dates` in days
    since 1970-01-01, where none make one bin; `ends` and `days`, the numbers and days between which nearly all rows
    lie; `values`, the words that enough rows have; and `groups`, those groups of other words that have a code of their
    own, while all others share one. `cells` is True once the cells were examined privately. Of models of former
    versions, `groups` is GROUPS if each group has a code, and 1 if none has.
    """

    reads: str = "text"
    numbers: tuple | None = None
    ends: tuple | None = None
    dates: tuple | None = None
    days: tuple | None = None
    values: tuple | None = None
    groups: Any = ()
    cells: bool | None = None
    nullable: bool = field(default=True, kw_only=True)
    kind: ClassVar[str] = "discovered"
    facts: ClassVar[tuple] = ("cells",)

    def __post_init__(self):
        super().__post_init__()
        if self.reads not in READS:
            self._refuse(f"reads must be one of {', '.join(READS)}, got {self.reads!r}")
        if not self.nullable:
            self._refuse("a discovered column may have missing cells: nullable must be true")
        if self.cells not in (None, True):
            self._refuse(f"cells must be true or left out, got {self.cells!r}")
        if type(self.groups) is int:
            self._set("groups", _FORMER_GROUPS.get(self.groups, self.groups))
        if self.groups != ():
            self._set("groups", self._read_groups())
        parts = (("numbers", "ends"), ("dates", "days"))
        if self.cells is None:
            if any(getattr(self, name) is not None for pair in parts for name in pair) or self.values is not None:
                self._refuse("numbers, dates and values are found, not declared: declare another kind of column")
            return
        for edges, ends in parts:
            self._check_found(edges, ends)
        if self.values is not None:
            self._set("values", distinct(self, self.values, least=0))
        if self.numbers is None and self.dates is None and self.values is None:
            self._refuse("something must have been found: numbers, dates or values, an empty list of them at least")

    def _read_groups(self):
        """Return the groups as a tuple of increasing integers."""
        groups = tuple(self.groups) if isinstance(self.groups, list | tuple) else (None,)
        whole = {*map(type, groups)} <= {int}
        if not whole or [*groups] != sorted({*groups}) or not {*groups[:1], *groups[-1:]} <= {*range(GROUPS)}:
            self._refuse(f"groups must be increasing integers from 0 to {GROUPS - 1}, got {self.groups!r}")
        return groups

    def _check_found(self, edges, ends):
        values, between = getattr(self, edges), getattr(self, ends)
        if (values is None) != (between is None):
            self._refuse(f"{edges} and {ends} go together")
        if values is None:
            return
        self._set(edges, rising(self, edges, values))
        if len(between) != 2 or not all(map(is_number, between)) or not between[0] <= between[1]:
            self._refuse(f"{ends} must be two numbers, the lower first, got {between!r}")
        if edges == "dates" and any(abs(day) > _MOST_DAYS for day in (*values, *between)):
            self._refuse(f"dates must lie within {_MOST_DAYS:,} days of 1970-01-01")
        self._set(ends, tuple(map(float, between)))

    def code_columns(self) -> tuple[CodeColumn, ...]:
        return self._code_columns

    @cached_property
    def _code_columns(self):
        if self.cells is None:
            self._refuse("its cells must be found first")
        codes, several = [], sum(part is not None for part in (self.numbers, self.dates, self.values)) > 1
        if self.numbers is not None and self.ends is not None:
            low, high = self.ends
            whole = self.reads == "integer"  # cells of text may be fractions
            codes.append(CodeColumn(self.name, self.numbers, low, high, nullable=True, whole=whole))
        if self.dates is not None and self.days is not None:
            low, high = self.days
            name = f"{self.name} (date)" if several else self.name
            codes.append(CodeColumn(name, self.dates, low, high, nullable=True, dates=True))
        if self.values is not None:
            name = f"{self.name} ({'text' if self.values else 'other'})" if several else self.name
            other = min(len(self.groups) + 1, GROUPS)
            codes.append(CodeColumn(name, values=self.values, other=other, nullable=True, groups=self.groups))
        return tuple(codes)


def refuse_many(columns: int) -> None:
    """Refuse to discover more than MOST_COLUMNS columns."""
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"at most {MOST_COLUMNS:,} columns can be discovered, got {columns:,}: declare columns in a schema, or "
            "leave them out"
        )


def holds_words(column: Column) -> bool:
    """Return whether a column has words to discover, by what is declared of it and by its type."""
    return bool(column.to_find) and (
        isinstance(column, Category) or (isinstance(column, Discovered) and column.reads == "text")
    )


def codes_by_facts(column: CodeColumn) -> tuple[Runs, Callable | None]:
    """Return a code for each fixed code of cells, by the discovered facts, and a function from words to codes.

    None stands for that of missing cells for each word.
    """
    missing = column.missing
    assert missing is not None
    if column.values or column.edges is None:
        place = {value: k for k, value in enumerate(column.values)}
        other = np.full(GROUPS, column.bins + column.other - 1)  # of each group; the last code is that of most
        other[[*column.groups]] = column.bins + np.arange(len(column.groups))
        fixed = Runs.of(fixed_groups(other), ([MISSING], [missing]))  # a number or a date is not a word
        return fixed, lambda word: place[word] if word in place else other[word_group(word)]
    bins = _bins(column.edges, dates=column.dates)
    return Runs.of(([0], [missing]), bins, ([DATES if column.dates else MISSING], [missing])), None


def places_of(numbers: Any, dates: Any, words: Any = None) -> tuple[Runs, int, Callable | None]:
    """Return the place of each fixed code and of words, the number of places, and a function from words to places.

    Places are bins of numbers, then those of dates, then groups. None stands for edges of numbers or dates without
    bins. Cells without a bin are in their group, but for published words, `words`; None stands for no groups, and then
    all words have the same place. What has no place has the number of places.
    """
    of_numbers = 0 if numbers is None else len(numbers) + 1
    bins = of_numbers + (0 if dates is None else len(dates) + 1)
    size = bins + (0 if words is None else GROUPS)
    starts, values = (np.array([0, DATES]), np.full(2, size))
    if words is not None:
        starts, values = fixed_groups(np.arange(bins, size))
    first = int(np.searchsorted(starts, DATES))  # run of numbers
    of_dates = (starts[:first], values[:first]) if dates is None else _bins(dates, of_numbers, dates=True)
    numbered = (starts[first:], values[first:]) if numbers is None else _bins(numbers, dates=False)
    published = frozenset(words or ())
    places = Runs.of(of_dates, numbered, ([MISSING], [size]))
    return places, size, None if words is None else lambda word: size if word in published else bins + word_group(word)


def _bins(edges: Any, first: int = 0, *, dates: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the first code of each bin of numbers or of dates, and its number; they begin at `first`."""
    last = last_codes(edges, dates=dates)
    return np.concatenate([[0 if dates else DATES], last + 1]), np.arange(first, first + len(last) + 1)
