"""Private discovery of what a schema leaves open, by a survey of all columns that precedes the learner.

Every cell has a fixed code or is a word of its own (`dpfast.tables.cells`). The survey looks at the table twice. The
first look counts the rows of each label, of each word, and of few cells of each column: missing, zero, and a power of
two of each sign, or a year. The second look divides the powers of two and the years that hold rows into many bins, and
counts these. All counts of a look are one Gaussian release (`dpfast.mechanisms.opening`). Everything below is computed
from the counts and is defined for every outcome: about BINS bins of numbers and of dates, words that enough rows have,
and labels. A column in which nothing is clear of the noise has bins at public places, or groups of words. From there on
the table is read as if the bins and words had been declared.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpfast.accounting import Cost
from dpfast.accounting.numbers import decimal_above, exact, split
from dpfast.accounting.opening import Survey, opening_moves, opening_threshold, survey_noise
from dpfast.learners.parameters import LARGEST_SCALE, changed_rows
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.tables.cells import (
    GROUPS,
    LEAST,
    SURVEYED_MISSING,
    SURVEYED_NUMBERS,
    CodeColumn,
    date_ends,
    number_ends,
    surveyed_ends,
)
from dpfast.tables.columns import Category, Numeric
from dpfast.tables.discovered import Discovered, refuse_many
from dpfast.tables.schema import Schema
from dpfast.tables.words import Counts

UNIT = 1 << 30  # grid steps per row, or fewer if the noise is too large for it
WORDS_SHARE = Fraction(1, 10)  # of delta, for publishing words of columns, and as much for publishing labels
SHARES = Fraction(6, 100), Fraction(1, 8), Fraction(1, 4)  # of the bill
PAIR_SHARES = Fraction(1, 8), Fraction(1, 4)  # of epsilon and delta
LABEL_WEIGHTS = 1, 2, 4, 8  # squares, as multiples of the number of columns
COMMON_CELL, COMMON_LABEL = 0.25, 0.3  # shares of the rows
ROWS_A_COLUMN = 30  # from which arrays are surveyed at epsilon 1, and those of FEW_COLUMNS from FEW_ROWS_A_COLUMN
FEW_COLUMNS, FEW_ROWS_A_COLUMN = 32, 8
FIRST_LOOK = Fraction(2, 3)  # share of the survey, in squares of sensitivity over noise
BINS, CELLS = 32, 128  # of numbers or dates of a column: about so many bins, and cells of the second look
SURE, LIKELY = 4.0, 2.5  # deviations from which a cell holds rows, and from which it does beside another one
TAIL = 0.005  # share of the rows that may lie beyond either end, or that are too few for a bin
NARROW = 32  # a cell of a width of less than one in so many of its ends is divided at whole numbers only
MOST_WORDS = 250  # discovered for one column
SOME = 0.1  # a column of texts has numbers, or dates, if at least this share of the counted rows has them
NUMBERS = 1 / 3  # a column of texts has no words but those found, if this share of the rows is seen to have numbers
COMMON = 32  # a word is common if one in so many rows has it; where none could be published, other words are grouped
LEAST_CELL = 4.0  # deviations of its noise that a cell of the second look should have in rows
_MOST_EDGES = 4 * BINS  # of the numbers or dates of a column
_WIDEST_EDGES, _WIDEST_WORDS = tuple(map(float, range(_MOST_EDGES))), tuple(map(str, range(MOST_WORDS)))
LARGEST = 2.0**44
FIRST_DAY, LAST_DAY = float(date_ends()[0]) - 1, float(date_ends()[-1]) + 1
_POWERS = 2.0 ** np.arange(-8, 21, 2)
_USUAL = np.concatenate([-_POWERS[::-1], [0.0], _POWERS])  # edges of numbers where nothing is clear of noise
_USUAL_DAYS = np.arange(-18263.0, 21916.0, 1461.0)  # and of dates: every four years from 1920 to 2030


@dataclass(frozen=True)
class SurveyPlan:
    """The planned survey, its cost, and the budget that it leaves.

    `first` counts columns in the first look, `second` in the second one, and `labels` the labels. `cost` is that of the
    survey, and `total` that of the survey and the learner together; empty if it is the pair (epsilon, delta).
    `epsilon` and `delta` are told to the learner, and `noise` is that of its parts, if it named them.
    """

    first: OpeningHistogram
    second: OpeningHistogram
    labels: OpeningHistogram
    cost: tuple[Cost, ...]
    epsilon: float = 0.0
    delta: float = 0.0
    total: tuple[Cost, ...] = ()
    noise: tuple[float, ...] = ()


def plan(
    schema: Schema,
    epsilon: Any,
    delta: Any,
    neighbors: str,
    *,
    share: Any = 1,
    labels: str | None = None,
    rows_per_unit: int = 1,
    n: int | None = None,
    **learner: Any,
) -> SurveyPlan:
    """Plan the survey of a schema for a budget, which it shares with the learner that follows if `share` is below 1.

    `labels` says whether labels are counted, too, and whether their set has to be discovered ("open") or is "declared".
    `n` is the number of rows, if it is public. `learner` are the arguments `kind`, `pure` and `rest` of
    `dpfast.accounting.opening.survey_noise`.

    The share "auto" is the smaller one of the first two of SHARES at which both a cell with COMMON_CELL of the rows
    and, if labels are open, a label with COMMON_LABEL of them are clear of noise. If neither will do, it is the
    smallest at which the label is, the first one excepted. Labels weigh no more than that takes. Without a public
    number of rows, the share is the first one.

    A ValueError refuses a budget that does not suffice, words to be discovered with delta = 0, and more than
    MOST_COLUMNS columns to be discovered.
    """
    refuse_many(len(schema.to_find))
    given = neighbors, labels, rows_per_unit, learner
    if n is None or (share != "auto" and labels != "open"):
        return _plan(schema, epsilon, delta, _shares(learner)[0] if share == "auto" else share, 1, *given)
    shares = _shares(learner) if share == "auto" else (share,)
    weights = LABEL_WEIGHTS if labels == "open" else (1,)
    for some, cell in ((shares[:2], COMMON_CELL), (shares[-2:], math.inf)):
        for part, weight in product(some, weights):
            planned = _plan(schema, epsilon, delta, part, weight, *given)
            if SURE * planned.first.deviation <= n * cell and (labels != "open" or labels_seen(planned, n)):
                return planned
    return planned


def labels_seen(planned: SurveyPlan, n: int) -> bool:
    """Return whether a label with a share COMMON_LABEL of n rows is discovered, nearly always."""
    return planned.labels.least + LIKELY * planned.labels.deviation <= n * COMMON_LABEL


def suffice(n: int, d: int, epsilon: float) -> bool:
    """Return whether n rows suffice for a survey of an array of d columns to be better than rows as vectors."""
    return d > 0 and (n >= ROWS_A_COLUMN * d / math.sqrt(epsilon) or (d <= FEW_COLUMNS and n >= FEW_ROWS_A_COLUMN * d))


def _shares(learner):
    return PAIR_SHARES if learner.get("kind", "pair") == "pair" else SHARES


def _plan(schema, epsilon, delta, share, weight, neighbors, labels, rows_per_unit, learner):
    """Return the plan of a survey in which the square of the weight of labels is this multiple of the columns."""
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    columns = len(schema.to_find)
    weight = 0 if labels is None else max(1, round(math.sqrt(columns * weight / (1 if labels == "open" else 4))))
    if not delta:
        moved = changed_rows(neighbors) * rows_per_unit
        return _pure_plan(schema, epsilon, labels, moved * columns, moved * (columns + (labels is not None)), share)
    words = [sum(map(_holds_words, schema.columns)), int(labels == "open")]
    delta_of_words = delta * WORDS_SHARE * sum(map(bool, words))
    moves = [opening_moves(counted, neighbors, rows_per_unit) for counted in (columns + weight**2, columns)]
    unit = UNIT
    while True:
        noise = survey_noise(epsilon, delta, share, moves=moves[0], unit=unit, words=delta_of_words, **learner)
        scales = _looks(noise, moves)
        if max(scales) <= LARGEST_SCALE or unit == 1:
            break
        unit //= 2
    chance = float(delta * WORDS_SHARE * (1 if learner.get("kind") != "pair" or share == 1 else exact("share", share)))
    histogram = [
        _histogram(scales[0], each, chance, of, rows_per_unit)
        for each, of in zip((unit, unit * max(1, weight)), words, strict=True)
    ]
    second = OpeningHistogram(scales[1], unit)
    return SurveyPlan(histogram[0], second, histogram[1], noise.cost, *noise[2:])


def widest(schema: Schema) -> list[CodeColumn]:
    """Return columns of codes that are at least as wide as those of the schema can be after the survey."""
    made: list[CodeColumn] = []
    for column in schema.columns:
        if not column.to_find:
            made += column.code_columns()
            continue
        numbers = CodeColumn(column.name, _WIDEST_EDGES, 0.0, float(_MOST_EDGES), nullable=True)
        words = CodeColumn(column.name, values=_WIDEST_WORDS, other=GROUPS, nullable=True)
        if isinstance(column, Numeric):
            edges = tuple(map(float, range(int(column.edges) - 1)))
            made.append(CodeColumn(column.name, edges, 0.0, float(column.edges), nullable=True))
        elif isinstance(column, Category):
            made.append(words)
        else:
            text = isinstance(column, Discovered) and column.reads == "text"
            made += [numbers, numbers, words] if text else [numbers]
    return made


def _looks(noise: Survey, moves: Sequence[int]) -> list[float]:
    """Return the scales of both looks, which together cost what one with the noise of the survey costs."""
    shares = (FIRST_LOOK, Fraction(moves[0], moves[1]) * (1 - FIRST_LOOK))
    return [noise.sigma / math.sqrt(share) * (1 + 1e-12) for share in shares]


def _histogram(sigma, unit, delta, words, rows_per_unit):
    """Return a histogram in which so many columns hold words, and lone ones are published with probability `delta`."""
    if not words:
        return OpeningHistogram(sigma, unit)
    chance = delta * (1 - 1e-12)
    threshold = opening_threshold(sigma, chance, unit=unit, words=words, rows_per_unit=rows_per_unit)
    return OpeningHistogram(sigma, unit, threshold, lone=delta / words)


def _pure_plan(schema, epsilon, labels, moved, moved_first, share):
    """Return the plan for delta = 0, with discrete Laplace noise on counts that move by so much in both looks."""
    lists = [column.name for column in schema.columns if column.to_find and isinstance(column, Category)]
    if lists:
        names = ", ".join(map(repr, lists))
        raise ValueError(f"values cannot be found privately with delta = 0: declare those of {names}")
    if labels == "open":
        raise ValueError("labels cannot be found privately with delta = 0: declare them by classes=")
    left, of_survey = (0.0, epsilon) if share == 1 else split(epsilon, share)
    first = OpeningHistogram(moved_first / (of_survey * FIRST_LOOK), 1, pure=True)
    second = OpeningHistogram(moved / (of_survey * (1 - FIRST_LOOK)), 1, pure=True)
    return SurveyPlan(first, second, first, (Cost("pure", decimal_above(of_survey)),), left)


@dataclass(frozen=True)
class Found:
    """The facts of a table that a survey gives: the schema with everything discovered, and the labels.

    `labels` are noisy numbers of rows by label, the most frequent first. `other` has, for each name of a column, the
    estimated share of the rows whose cell has no discovered value; 1 if nothing was discovered for the column.
    """

    schema: Schema
    labels: dict[str, float]
    other: dict[str, float]


def discover(
    encoding: Any,
    exact: Counts,
    planned: SurveyPlan,
    rng: np.random.Generator,
    classes: Sequence | None = None,
    n: int | None = None,
) -> Found:
    """Release the survey of a table; compute its schema from it.

    `exact` are the private counts of the first look at `encoding`, whose schema is to be completed. All declared
    labels, `classes`, are counted. `n` is the number of rows, if it is public; by default it is the sum of the noisy
    numbers of rows by label.
    """
    first, second = planned.first, planned.second
    if classes is None:
        labels = planned.labels.words(exact.labels, rng)
    else:
        kept = planned.labels.codes(np.array([exact.labels[each] for each in classes], np.int64), rng)
        labels = dict(zip(classes, kept.tolist(), strict=True))
    rows = max(0.0, sum(labels.values())) if n is None else float(n)
    columns = [
        _Column(column, None if fixed is None else first.codes(fixed, rng), first.words(words, rng), planned, rows)
        for column, fixed, words in zip(encoding.schema.columns, exact.fixed, exact.words, strict=True)
        if column.to_find
    ]
    cells = {each.column.name: each.cells(second.deviation) for each in columns}
    seen = encoding.cells([cells.get(name) for name in encoding.schema.names])
    counts = dict(zip(encoding.schema.names, seen, strict=True))
    for each in columns:
        if cells[each.column.name] is not None:
            each.look(second.codes(counts[each.column.name], rng), second.deviation)
    known = {each.column.name: each.known() for each in columns}
    other = {
        name: round(min(max(1 - each / (rows or each), 0.0), 1.0), 4) if each else 1.0 for name, each in known.items()
    }
    return Found(encoding.schema.found({each.column.name: each.facts() for each in columns}), labels, other)


def _holds_words(column):
    return bool(column.to_find) and (
        isinstance(column, Category) or (isinstance(column, Discovered) and column.reads == "text")
    )


class Spread:
    """Noisy numbers of rows in cells of numbers or of dates, and edges of bins that follow from them.

    `ends` are the ends of all cells, in increasing order, and `rows` are at least 0. Rows are assumed to be spread
    evenly within a cell.
    """

    def __init__(self, rows: np.ndarray, ends: np.ndarray):
        self.rows, self._ends = rows, ends
        self.total = float(rows.sum())

    @classmethod
    def clear(cls, noisy: np.ndarray, deviation: float, ends: np.ndarray) -> "Spread":
        """Return the cells with the counts that are clear of noise, alone or beside another one."""
        likely = noisy > LIKELY * deviation
        beside = np.append(likely[1:], False) | np.append(False, likely[:-1])
        rows = np.where((noisy > SURE * deviation) | (likely & beside), noisy, 0.0)
        rows[np.argsort(-rows, kind="stable")[BINS:]] = 0.0
        return cls(rows, ends)

    def held(self) -> np.ndarray:
        """Return the ends of the cells that hold rows."""
        cells = np.flatnonzero(self.rows)
        return np.union1d(self._ends[cells], self._ends[cells + 1])

    def divided(self, cells: int, least: float) -> np.ndarray:
        """Return the ends of about so many cells, spread over those that hold rows, with at least so many rows each."""
        made = []
        for cell in np.flatnonzero(self.rows):
            parts = min(cells * self.rows[cell] / self.total, self.rows[cell] / least)
            made.append(np.linspace(self._ends[cell], self._ends[cell + 1], max(1, int(parts)) + 1))
        return np.unique(np.concatenate(made))

    def below(self, numbers: np.ndarray) -> np.ndarray:
        """Return the rows at or below each number."""
        return np.interp(numbers, self._ends, np.concatenate([[0.0], np.cumsum(self.rows)]))

    def quantiles(self, ranks: Any) -> np.ndarray:
        """Return the numbers at these shares of the rows; in a narrow cell, whole numbers or its lower end."""
        below = np.concatenate([[0.0], np.cumsum(self.rows)])
        wanted = np.asarray(ranks) * self.total
        cell = np.searchsorted(below[1:-1], wanted)
        part = (wanted - below[cell]) / np.where(self.rows[cell] > 0, self.rows[cell], 1.0)
        low, high = self._ends[cell], self._ends[cell + 1]
        at = low + (high - low) * np.clip(part, 0, 1)
        narrow = (high - low) * NARROW < np.maximum(abs(low), abs(high))
        return np.where(narrow & (part < 1), np.maximum(np.floor(at), low), at)

    def parting(self, edges: np.ndarray) -> np.ndarray:
        """Return the edges that separate rows: between each one and the one before, and beyond the last, are some."""
        kept, before, some = [], 0.0, self.total * TAIL
        for edge, below in zip(edges.tolist(), self.below(edges).tolist(), strict=True):
            if below - before > some and self.total - below > some:
                kept.append(edge)
                before = below
        return np.array(kept)


class _Part:
    """The numbers or the dates of a column: a first look, and a second one, if anything was seen in the first.

    `snap` maps numbers to the ends of codes, so that the code of a cell determines the side of an edge.
    """

    def __init__(self, noisy, deviation, ends, snap):
        self._snap, self._first = snap, Spread.clear(noisy, deviation, ends)
        self.rows = self._first.total
        self._spread = self._first

    def cells(self, deviation):
        """Return the edges of the cells of the second look."""
        return np.unique(self._snap(self._first.divided(CELLS, LEAST_CELL * deviation)))

    def look(self, noisy, edges, deviation):
        """Take over the second look, without the rows beyond its outer edges."""
        self._spread = Spread(np.where(noisy[1:-1] > LIKELY * deviation, noisy[1:-1], 0.0), edges)
        if not self._spread.total:
            self._spread = self._first

    def edges(self, bins, beyond):
        """Return the edges of about so many bins of as many rows each, and of the cells of the first look.

        Those that separate no rows are left out, unless there are edges `beyond` for rows that were not found.
        """
        held = self._first.held()
        edges = np.concatenate([self._spread.quantiles(np.arange(1, bins) / bins), held])
        if not len(beyond):
            return self._spread.parting(np.unique(self._snap(edges)))
        outer = beyond[(beyond < held[0]) | (beyond > held[-1])]
        return np.unique(self._snap(np.concatenate([edges, outer])))

    def quantiles(self, ranks):
        return self._snap(self._spread.quantiles(ranks))

    def between(self):
        low, high = self.quantiles([TAIL, 1 - TAIL]).tolist()
        return (0.0 if -LEAST <= low < 0 else low), high


class _Column:
    """A column whose facts are discovered: its counts of the first look, and then of the second one."""

    def __init__(self, column, noisy, words, planned, rows):
        self.column, self._total = column, rows
        deviation = planned.first.deviation
        self._words = dict([*words.items()][:MOST_WORDS])
        self.numbers, self.dates, self._missing = None, None, 0.0
        self._grouped = planned.first.least * COMMON > rows
        if noisy is None:
            return
        whole = isinstance(column, Discovered) and column.reads == "integer"
        numbers, days = surveyed_ends()
        every = (
            ("numbers", noisy[:SURVEYED_NUMBERS], _ended(numbers, -LARGEST, LARGEST), _whole if whole else _number),
            ("dates", noisy[SURVEYED_NUMBERS:SURVEYED_MISSING], _ended(days, FIRST_DAY, LAST_DAY), _day),
        )
        for name, counts, ends, snap in every:
            part = _Part(counts, deviation, ends, snap)
            if part.rows and self._holds(name, part.rows):
                setattr(self, name, part)
        self._missing = noisy[SURVEYED_MISSING] if noisy[SURVEYED_MISSING] > SURE * deviation else 0.0
        self._noise = deviation

    def _holds(self, name, rows):
        """Return whether the column has numbers or dates, by its type, or by so many rows with them."""
        if isinstance(self.column, Numeric):
            return name == "numbers"
        reads = self.column.reads
        if reads == "text":
            return rows > SOME * self._total
        return (reads == "date") == (name == "dates")

    def cells(self, deviation):
        """Return the edges of the cells of the second look, of numbers and of dates; None if there are none."""
        if self.numbers is None and self.dates is None:
            return None
        self._edges = tuple(None if part is None else part.cells(deviation) for part in (self.numbers, self.dates))
        return self._edges

    def look(self, noisy, deviation):
        """Take over the noisy counts of the second look."""
        for part, edges in zip((self.numbers, self.dates), self._edges, strict=True):
            if part is not None:
                part.look(noisy[: len(edges) + 1], edges, deviation)
                noisy = noisy[len(edges) + 1 :]

    def known(self):
        """Return the number of rows whose cells have discovered values or are missing; 0 if no value has."""
        rows = sum(part.rows for part in (self.numbers, self.dates) if part is not None) + sum(self._words.values())
        return rows + self._missing

    def _of_numbers(self, words):
        """Return whether a column of texts is one of numbers: many rows are seen to have one, and no word was found."""
        return (
            not words and self.dates is None and self.numbers is not None and self.numbers.rows > NUMBERS * self._total
        )

    def facts(self):
        """Return the facts that the column leaves open."""
        if isinstance(self.column, Category):
            return {"values": tuple(sorted(self._words))}
        if isinstance(self.column, Numeric):
            return _numeric(self.column, self.numbers)
        facts: dict[str, Any] = {"cells": True} | ({"groups": GROUPS} if self._grouped else {})
        reads, values = self.column.reads, tuple(sorted(self._words))
        left = self._total - self.known()
        many, mixed = left > SOME * self._total, reads == "text" and not self._of_numbers(values)
        clear = many and left > SURE * self._noise
        if self.numbers is not None:
            beyond = _USUAL if many and not mixed else _USUAL[:0]
            facts |= {"numbers": tuple(self.numbers.edges(BINS, beyond).tolist()), "ends": self.numbers.between()}
        elif reads in ("number", "integer"):
            edges = np.unique(np.floor(_USUAL)) if reads == "integer" else _USUAL
            facts |= {"numbers": tuple(edges.tolist()), "ends": (0.0, 0.0)}
        if self.dates is not None:
            beyond = _USUAL_DAYS if many and reads != "text" else _USUAL_DAYS[:0]
            facts |= {"dates": tuple(self.dates.edges(BINS, beyond).tolist()), "days": self.dates.between()}
        elif reads == "date":
            facts |= {"dates": tuple(_USUAL_DAYS.tolist()), "days": (0.0, 0.0)}
        if values or (mixed and (clear or not {"numbers", "dates"} & {*facts})):
            facts["values"] = values
        if "values" not in facts:
            facts.pop("groups", None)
        return facts


def _ended(ends, least, most):
    return np.concatenate([[least], ends, [most]])


def _number(numbers):
    ends = number_ends()
    return ends[np.searchsorted(ends, numbers).clip(max=len(ends) - 1)]


def _whole(numbers):
    return np.floor(_number(numbers))


def _day(days):
    return np.floor(days).clip(FIRST_DAY, LAST_DAY)


def _numeric(column, found):
    """Return the bounds and edges that a declared column of numbers leaves open."""
    least, most = (0.0, 0.0) if found is None else found.between()
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
        edges = [] if found is None else np.unique(found.quantiles(np.arange(1, bins) / bins)).tolist()
        facts["edges"] = tuple(edge for edge in edges if low <= edge <= high) or (low,)
    return facts
