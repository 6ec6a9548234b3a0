"""Facts about undeclared columns: numbers, dates and words with their bins, from the counts of a survey.

A `ColumnFacts` takes over the looks of `dpfast.discovery.survey` at one column. Everything is computed from released
counts, and is defined for every outcome.
"""

import math
import sys
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from dpfast.discovery.spread import LIKELY, RANGES, SURE, Part, Spread
from dpfast.kernels import reals
from dpfast.kernels.own import frozen
from dpfast.kernels.spread import Grid
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.tables.cells import (
    GROUPS,
    LEAST,
    SURVEYED_DATES,
    SURVEYED_MISSING,
    SURVEYED_NUMBERS,
    CodeColumn,
    survey_ends,
)
from dpfast.tables.columns import BINS, Category, Numeric
from dpfast.tables.discovered import Discovered, holds_words
from dpfast.tables.schema import Schema

MOST_WORDS = 250  # discovered for one column
FEW = 0.02  # there are edges beyond the cells that hold rows, unless clearly less than this share is in none of them
SOME = 0.1  # a column of texts has numbers, or dates, if at least this share of the counted rows has them
SECOND = 6.0  # deviations from which numbers or dates are beside other cells of a column of texts, as columns are many
FEW_BESIDE = 0.03  # and the share of the rows from which these have codes of their own
MOST_YEARS = 64  # that are looked at together, where noise hides single ones
MANY = 32  # columns; if more are discovered, their cells need more rows, so that as few are clear by chance
NUMBERS = 1 / 3  # a column of texts has no words but those found, if this share of the rows is seen to have numbers
MOST_ROWS = 0.8  # have no published word, or whole numbers, in a column that may say whose a row is
EVEN_GROUPS = 16  # of GROUPS, at least, among which words are divided there
SINGLE_WORDS = 48  # of GROUPS, at least, among which words are divided that hardly repeat
ROWS_OF_ONE = 5  # rows with each whole number on average there, at most
COMMON = 32  # a word is common if one in so many rows has it; where none could be published, other words are grouped
_MORE_EDGES = 3 * RANGES  # of the numbers or dates of a column, beside those of bins
_WIDEST_WORDS = tuple(map(str, range(MOST_WORDS)))
LARGEST = 2.0**44
FIRST_DAY, LAST_DAY = -25568.0, 39969.0  # ends of the days that have codes of their own
# possible edges: numbers that codes tell apart, of which the smallest have one code; whole ones; days
_NUMBERS, _WHOLE = Grid(False, -LARGEST, LARGEST, LEAST), Grid(True, -LARGEST, LARGEST)
_DAYS = Grid(True, FIRST_DAY, LAST_DAY)
_POWERS = 2.0 ** np.arange(-8, 21, 2)
_USUAL = (*(-_POWERS[::-1]).tolist(), 0.0, *_POWERS.tolist())  # edges of numbers where nothing is clear of noise
_USUAL_WHOLE = tuple(map(float, sorted({*map(math.floor, _USUAL)})))
_FAR = np.concatenate([-_POWERS[::-2], [0.0], _POWERS[::2]])  # and beyond the cells that are
_USUAL_DAYS = np.arange(-18263.0, 21916.0, 1461.0)  # and of dates: every four years from 1920 to 2030


def widest(schema: Schema, bins: int) -> list[CodeColumn]:
    """Return columns of codes at least as wide as those of the schema can be after a survey for `bins` bins."""
    codes: list[CodeColumn] = []
    most = tuple(map(float, range(2 * bins + _MORE_EDGES)))
    for column in schema.columns:
        if not column.to_find:
            codes += column.code_columns()
            continue
        numbers = CodeColumn(column.name, most, 0.0, float(len(most)), nullable=True)
        words = CodeColumn(column.name, values=_WIDEST_WORDS, other=GROUPS, nullable=True)
        if isinstance(column, Numeric):
            edges = tuple(map(float, range(int(column.edges) - 1)))
            codes.append(CodeColumn(column.name, edges, 0.0, float(column.edges), nullable=True))
        elif isinstance(column, Category):
            codes.append(words)
        else:
            text = isinstance(column, Discovered) and column.reads == "text"
            codes += [numbers, numbers, words] if text else [numbers]
    return codes


class ColumnFacts:
    """A column whose facts are discovered: its counts of the first look, and then of the last one.

    It has about so many `bins` of numbers or dates at most. With `groups`, words that are not published have groups
    beside published ones in large tables, too, if rows seem to have such and their groups differ. `columns` is how many
    are discovered: of very many, noise alone would make some cells look as if they held rows. `rows_noise` is the
    deviation of the noise in the number of `rows`, if that is private.
    """

    def __init__(
        self,
        column: Any,
        noisy: np.ndarray | None,
        words: dict,
        look: OpeningHistogram,
        rows: float,
        bins: int = BINS,
        groups: bool = False,
        columns: int = 1,
        rows_noise: float = 0.0,
    ):
        self.column, self._total, self._bins = column, rows, bins
        self._noise = look.deviation * _doubt(max(MANY, columns))
        self._unsure = math.sqrt(self._noise**2 + rows_noise**2)
        self._words = dict(islice(words.items(), MOST_WORDS))
        self._worded = sum(self._words.values())
        self.numbers: Part | None = None
        self.dates: Part | None = None
        self._missing = 0.0
        self._grouped = COMMON * look.least > rows and holds_words(column) and noisy is not None
        self._groups: tuple = ()
        self._even = self._beside = False  # whether groups are even, and beside published words by `groups`
        if noisy is None:
            return
        self._missing = noisy[SURVEYED_MISSING] if noisy[SURVEYED_MISSING] > SURE * self._noise else 0.0
        if self._missing and 0 < self._total < self.rows_of_kinds() + SURE * self._noise:
            return  # what else is clear of noise is noise
        ends, days = _all_ends()
        reads = column.reads if isinstance(column, Discovered) else "number"
        if reads != "date":
            self.numbers = self._numbers(noisy, ends)
        if reads in ("date", "text"):
            self.dates = Part(noisy[SURVEYED_DATES:SURVEYED_MISSING], self._noise, days, _DAYS, True, MOST_YEARS)
        parts = [None if part is None or not part.rows else part for part in (self.numbers, self.dates)]
        self.numbers, self.dates = map(self._if_clear, parts, parts[::-1]) if reads == "text" else parts
        left = self._total - self.rows_of_kinds()
        rare = self._words and isinstance(column, Discovered) and left > LIKELY * self.noise()
        self._beside = bool(groups and rare and not self._grouped)
        self._grouped |= self._beside

    def _numbers(self, noisy, ends):
        """Return the numbers of the column, which are whole by its type, or if no others are clear of noise.

        None stands for none that are.
        """
        others, wholes = noisy[:SURVEYED_NUMBERS].copy(), noisy[SURVEYED_NUMBERS:SURVEYED_DATES].copy()
        zero = SURVEYED_NUMBERS // 2
        wholes[zero], others[zero] = others[zero], 0.0
        clear = not self._typed_whole() and Spread.clear(others, self._noise, ends).total > 0
        if self._typed_whole() or (not clear and Spread.clear(wholes, self._noise, ends).total):
            return Part(wholes, self._noise, ends, _WHOLE, True)
        if not clear:
            return None
        rows = sum(np.where(each > LIKELY * self._noise, each, 0.0) for each in (others, wholes))
        part = Part(rows, self._noise, ends, _NUMBERS, False)
        part.count(others + wholes)
        return part

    def _typed_whole(self):
        return isinstance(self.column, Discovered) and self.column.reads == "integer"

    def _if_clear(self, part, other):
        """Return the numbers or the dates of a column of texts if enough rows have them, or None.

        Beside more of the others, or words, they must be clear of the noise of all cells of all columns.
        """
        if part is None:
            return None
        second = self._words or (other is not None and other.rows > part.rows)
        sure = part.rows > SECOND * self._noise * math.sqrt(part.n_cells)
        many = part.every > (FEW_BESIDE if sure else SOME) * self._total
        return part if many and (sure or not second) else None

    @property
    def counted(self) -> bool:
        """Return whether the last look has cells for the column."""
        return self.numbers is not None or self.dates is not None or self._grouped

    @property
    def rows(self) -> float:
        """Return how many rows are seen to have numbers, or dates, whichever are more."""
        return max(0.0 if part is None else part.rows for part in (self.numbers, self.dates))

    def parts(self) -> tuple | None:
        """Return the edges of the parts of cells that are to be narrowed, of numbers and of dates; None if none is.

        Nothing is narrowed of which more rows may be elsewhere, where noise hides them.
        """
        unseen = self._total - self.rows_of_kinds()
        parts = [None if part is None or part.rows < unseen else part for part in (self.numbers, self.dates)]
        self._edges = [None if part is None else part.parts() for part in parts]
        return None if all(each is None for each in self._edges) else tuple(self._edges)

    def narrow(self, noisy: np.ndarray, deviation: float) -> None:
        """Take over the noisy counts of a narrowing."""
        self._share(noisy, deviation, Part.narrow)

    def cells(self, deviation: float) -> tuple:
        """Return the edges of the cells of the last look, of numbers and of dates, and the words that have no group.

        None stands for no such cells, or for no groups.
        """
        self._edges = [None if part is None else part.cells(deviation) for part in (self.numbers, self.dates)]
        return *self._edges, tuple(self._words) if self._grouped else None

    def _share(self, noisy, deviation, take):
        """Let the numbers and the dates take over the counts of their cells; return the others."""
        for part, edges in zip((self.numbers, self.dates), self._edges, strict=True):
            if edges is not None:
                take(part, noisy[: len(edges) + 1], edges, deviation)
                noisy = noisy[len(edges) + 1 :]
        return noisy

    def look(self, noisy: np.ndarray, deviation: float) -> None:
        """Take over the noisy counts of the last look; a text column has what the first and the last one see."""
        noisy = self._share(noisy, deviation, Part.look)
        for name in ("numbers", "dates"):
            part = getattr(self, name)
            if part is not None and not part.confirmed and isinstance(self.column, Discovered):
                setattr(self, name, part if self.column.reads != "text" else None)
        clear = np.flatnonzero(noisy > LIKELY * deviation)
        rows, spread = max(1.0, float(noisy.sum())), math.sqrt(2 * len(noisy)) * deviation**2
        common = float(np.square(noisy).sum()) - len(noisy) * deviation**2 + LIKELY * spread  # squares, at most about
        self._even = len(noisy) == GROUPS and common * EVEN_GROUPS < rows**2
        self._grouped = self._grouped and not (self._beside and common * SINGLE_WORDS < rows**2)
        left = self._total - self.rows_of_kinds() - noisy[clear].sum()
        many = left > SOME * self._total and not self._beside
        many |= not (len(clear) or self._words or self.numbers or self.dates)
        self._groups = () if not self._grouped else tuple(range(GROUPS) if many else clear.tolist())

    def rows_of_kinds(self):
        """Return the number of rows whose cells have discovered values or are missing; 0 if no value has."""
        rows = sum([part.rows for part in (self.numbers, self.dates) if part is not None])
        return rows + self._worded + self._missing

    def noise(self) -> float:
        """Return the deviation of the noise in the number of rows whose cells are known."""
        cells = [part.n_cells for part in (self.numbers, self.dates) if part is not None]
        return self._noise * math.sqrt(sum(cells) + len(self._words) + 1)

    def _of_numbers(self, words):
        """Return whether a column of texts is one of numbers: many rows are seen to have one, and no word was found."""
        return (
            not words and self.dates is None and self.numbers is not None and self.numbers.every > NUMBERS * self._total
        )

    @property
    def coarse(self) -> bool:
        """Return whether many rows share few codes of numbers or dates, as far as the looks show."""
        return any(part is not None and part.coarse for part in (self.numbers, self.dates))

    def _far(self):
        """Return edges beyond the cells that hold rows, of the signs that these have; 0 has that of larger numbers."""
        low, high = self.numbers.outermost()
        return _FAR[((_FAR >= 0) | (low < -LEAST)) & ((_FAR <= 0) | (high >= 0))]

    @property
    def like_persons(self) -> bool:
        """Return whether the values may be numbers of persons, as far as the looks show.

        Of words, hardly any is published, though one in COMMON rows would be, or most groups of them have about equally
        many rows. Of whole numbers, each has few rows, and they lie evenly between their ends.
        """
        if not isinstance(self.column, Discovered):
            return False
        left = self._total - self.rows_of_kinds()
        if holds_words(self.column) and left > MOST_ROWS * self._total:
            return not self._grouped or self._even
        part = self.numbers
        if part is None or not part.whole or not part.confirmed or part.rows <= MOST_ROWS * self._total:
            return False
        low, high = part.between()
        return (high - low) * ROWS_OF_ONE > part.rows and part.evenly()

    def facts(self):
        """Return the facts that the column leaves open."""
        if isinstance(self.column, Category):
            return {"values": tuple(sorted(self._words))}
        if isinstance(self.column, Numeric):
            return _numeric(self.column, self.numbers)
        facts: dict[str, Any] = {"cells": True} | ({"groups": self._groups} if self._groups else {})
        reads, values = self.column.reads, tuple(sorted(self._words))
        left = self._total - self.rows_of_kinds()
        few, mixed = FEW * self._total, reads == "text" and not self._of_numbers(values)
        clear = left > max(SOME * self._total, SURE * self._unsure)
        if self.numbers is not None:
            beyond = (
                self._far() if left > few and not mixed else _FAR[:0] if left > few - LIKELY * self._unsure else None
            )
            facts |= {"numbers": tuple(self.numbers.edges(self._bins, beyond).tolist()), "ends": self.numbers.between()}
        elif reads in ("number", "integer"):
            facts |= {"numbers": _USUAL_WHOLE if reads == "integer" else _USUAL, "ends": (0.0, 0.0)}
        if self.dates is not None:
            beyond = _USUAL_DAYS[: 0 if left <= few or reads == "text" else None]
            beyond = beyond if left > few - LIKELY * self._unsure else None
            facts |= {"dates": tuple(self.dates.edges(self._bins, beyond).tolist()), "days": self.dates.between()}
        elif reads == "date":
            facts |= {"dates": tuple(_USUAL_DAYS.tolist()), "days": (0.0, 0.0)}
        if values or (mixed and (clear or not {"numbers", "dates"} & {*facts})):
            facts["values"] = values
        if "values" not in facts:
            facts.pop("groups", None)
        return facts


@cache
def _doubt(columns):
    """Return the factor of the noise with which no more cells of so many columns are clear by chance than of MANY.

    The chance of SURE deviations falls with exp(-SURE^2 / 2), about.
    """
    return math.sqrt(1 + 2 * float(reals.log(columns / MANY)) / SURE**2)


@cache
def _all_ends():
    """Return the ends of the cells of the first look, of numbers and of dates."""
    numbers, days = survey_ends()
    return (
        frozen(np.concatenate([[-LARGEST], numbers, [LARGEST]])),
        frozen(np.concatenate([[FIRST_DAY], days, [LAST_DAY]])),
    )


def _numeric(column, part):
    """Return the bounds and edges that a declared column of numbers leaves open."""
    least, most = (0.0, 0.0) if part is None else part.between()
    floor = 0.0 if column.spacing == "logarithmic" else -math.inf  # of bounds
    facts = {}
    if column.high is None:
        lowest = floor if column.low is None else column.low
        beyond = 2.0**-20 if lowest == 0 else max(2 * lowest, math.nextafter(lowest, math.inf))
        facts["high"] = most if most > lowest else min(beyond, sys.float_info.max)
    if column.low is None:
        highest = facts.get("high", column.high)
        below = highest / 2 if highest > 0 else math.nextafter(highest, -math.inf)
        facts["low"] = least if floor < least < highest else below
    low, high = facts.get("low", column.low), facts.get("high", column.high)
    if "edges" in column.to_find:
        bins = int(column.edges)
        edges = [] if part is None else np.unique(part.quantiles(np.arange(1, bins) / bins)).tolist()
        facts["edges"] = tuple(edge for edge in edges if low <= edge <= high) or (low,)
    return facts
