"""Private discovery of what a schema leaves open, by a survey of all columns that precedes the learner.

Every cell has a fixed code or is a word of its own (`dpfast.tables.cells`). The survey looks at the table twice. The
first look counts the rows of each label, of each word, and of few cells of each column: missing, zero, and a power of
two of each sign, or a year. The second look divides the powers of two and the years that hold rows into many parts, and
counts these, and the groups of words that were not published. All counts of a look are one Gaussian release
(`dpfast.mechanisms.opening`), and both have the same noise. Everything below is computed from the counts and is defined
for every outcome: at most about BINS bins of numbers and of dates, words that enough rows have, and labels. A column in
which nothing is clear of the noise has bins at public places, or groups of words. From there on the table is read as if
the bins and words had been declared.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfast.accounting import Cost
from dpfast.accounting.claims.noise import LARGEST_SCALE, changed_rows
from dpfast.accounting.curves.opening import opening_moves, opening_threshold, survey_noise
from dpfast.accounting.numbers import decimal_above, exact, split
from dpfast.kernels.own import frozen
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.tables.cells import (
    GROUPS,
    LEAST,
    SURVEYED_MISSING,
    SURVEYED_NUMBERS,
    CodeColumn,
    date_ends,
    number_ends,
    survey_ends,
)
from dpfast.tables.columns import Category, Numeric
from dpfast.tables.discovered import Discovered, refuse_many
from dpfast.tables.schema import Schema
from dpfast.tables.words import Counts

UNIT = 1 << 30  # grid steps per row, or fewer if the noise is too large for it
_LARGEST_STEPS = 1 << 35  # that one row adds to a count: those of 2^28 rows fit into 64 bits
WORDS_SHARE = Fraction(1, 10)  # of delta, for publishing words of columns, and as much for publishing labels
LOOKS = Fraction(1, 50), Fraction(1, 25)  # shares of either look in the bill
PAIR = Fraction(25, 4)  # times as much of epsilon and delta for the survey
LABEL_WEIGHTS = 1, 2, 4  # shares of labels, as multiples of that of a look
COMMON_CELL, COMMON_LABEL, RARE_LABEL = 0.15, 0.3, 0.02  # shares of the rows
ROWS_A_COLUMN = 30  # from which arrays are surveyed at epsilon 1, and those of FEW_COLUMNS from FEW_ROWS_A_COLUMN
FEW_COLUMNS, FEW_ROWS_A_COLUMN = 32, 8
BINS, CELLS = 32, 128  # of numbers or dates of a column: at most about so many bins, and cells of the second look
LEAST_BINS = 16  # and at least so many bins, even if the rows of each are not clear of noise
SURE, LIKELY = 4.0, 2.5  # deviations from which a cell holds rows, and from which it does beside another one, or again
OTHERS = 2.0  # deviations from which rows have another label than the only one that was discovered
TAIL = 0.005  # share of the rows that may lie beyond either end, or that are too few for a bin
NARROW = 32  # a cell of a width of less than one in so many of its ends is divided at whole numbers only
MOST_WORDS = 250  # discovered for one column
FEW = 0.02  # there are edges beyond the cells that hold rows, unless clearly less than this share is in none of them
SOME = 0.1  # a column of texts has numbers, or dates, if at least this share of the counted rows has them
NUMBERS = 1 / 3  # a column of texts has no words but those found, if this share of the rows is seen to have numbers
COMMON = 32  # a word is common if one in so many rows has it; where none could be published, other words are grouped
LEAST_CELL = 2.0  # deviations of its noise that a cell of the second look should have in rows
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

    `look` counts columns in either look, and `labels` the labels. `cost` is that of the survey, and `total` that of the
    survey and the learner together; empty if it is the pair (epsilon, delta). `epsilon` and `delta` are told to the
    learner, and `noise` is that of its parts, if it named them.
    """

    look: OpeningHistogram
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
    `dpfast.accounting.curves.opening.survey_noise`.

    With the share "auto", either look has the first share of LOOKS at which a cell with COMMON_CELL of the rows is
    clear of noise, or the last one. Labels that are open have the first one of LABEL_WEIGHTS times as much at which a
    label with RARE_LABEL of the rows is discovered, or the last one. Without a public number of rows, all have the
    first share of LOOKS.

    A ValueError refuses a budget that does not suffice, words to be discovered with delta = 0, and more than
    MOST_COLUMNS columns to be discovered.
    """
    refuse_many(len(schema.to_find))
    given = neighbors, labels, rows_per_unit, learner
    looks = LOOKS if share == "auto" else (share,)
    if n is None:
        return _plan(schema, epsilon, delta, share, looks[0], 1, *given)
    for part in looks:
        planned = _plan(schema, epsilon, delta, share, part, 1, *given)
        if SURE * planned.look.deviation <= n * COMMON_CELL:
            break
    for weight in LABEL_WEIGHTS[1:] if labels == "open" else ():
        if labels_seen(planned, n, RARE_LABEL):
            break
        planned = _plan(schema, epsilon, delta, share, part, weight, *given)
    return planned


def labels_seen(planned: SurveyPlan, n: int, rows: float = COMMON_LABEL) -> bool:
    """Return whether a label with this share of n rows is discovered, nearly always."""
    return planned.labels.least + LIKELY * planned.labels.deviation <= n * rows


def suffice(n: int, d: int, epsilon: float) -> bool:
    """Return whether n rows suffice for a survey of an array of d columns to be better than rows as vectors."""
    return d > 0 and (n >= ROWS_A_COLUMN * d / math.sqrt(epsilon) or (d <= FEW_COLUMNS and n >= FEW_ROWS_A_COLUMN * d))


def _plan(schema, epsilon, delta, share, look, weight, neighbors, labels, rows_per_unit, learner):
    """Return the plan of a survey in which the square of the weight of labels is this multiple of the columns.

    The share "auto" is the one at which either look has the share `look`.
    """
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    columns = len(schema.to_find)
    parts = 2 + (0 if labels is None else Fraction(weight) / (1 if labels == "open" else 4))
    if share == "auto":
        share = look * parts if learner.get("kind", "pair") != "pair" else look * PAIR
    weight = 0 if labels is None else max(1, round(math.sqrt(columns * (parts - 2))))
    if not delta:
        moved = changed_rows(neighbors) * rows_per_unit
        return _pure_plan(schema, epsilon, labels, moved * (2 * columns + (labels is not None)), share)
    words = [sum(map(_holds_words, schema.columns)), int(labels == "open")]
    delta_of_words = delta * WORDS_SHARE * sum(map(bool, words))
    moves = opening_moves(2 * columns + weight**2, neighbors, rows_per_unit)  # of both looks and of the labels
    unit = min(UNIT, 1 << (_LARGEST_STEPS // max(1, weight)).bit_length() - 1)
    while True:
        noise = survey_noise(epsilon, delta, share, moves=moves, unit=unit, words=delta_of_words, **learner)
        if noise.sigma <= LARGEST_SCALE or unit == 1:
            break
        unit //= 2
    chance = float(delta * WORDS_SHARE * (1 if learner.get("kind") != "pair" or share == 1 else exact("share", share)))
    histogram = [
        _histogram(noise.sigma, each, chance, of, rows_per_unit)
        for each, of in zip((unit, unit * max(1, weight)), words, strict=True)
    ]
    return SurveyPlan(*histogram, noise.cost, *noise[2:])


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


def _histogram(sigma, unit, delta, words, rows_per_unit):
    """Return a histogram in which so many columns hold words, and lone ones are published with probability `delta`."""
    if not words:
        return OpeningHistogram(sigma, unit)
    chance = delta * (1 - 1e-12)
    threshold = opening_threshold(sigma, chance, unit=unit, words=words, rows_per_unit=rows_per_unit)
    return OpeningHistogram(sigma, unit, threshold, lone=delta / words)


def _pure_plan(schema, epsilon, labels, moved, share):
    """Return the plan for delta = 0, with discrete Laplace noise on counts that move by so much in both looks."""
    lists = [column.name for column in schema.columns if column.to_find and isinstance(column, Category)]
    if lists:
        names = ", ".join(map(repr, lists))
        raise ValueError(f"values cannot be found privately with delta = 0: declare those of {names}")
    if labels == "open":
        raise ValueError("labels cannot be found privately with delta = 0: declare them by classes=")
    left, of_survey = (0.0, epsilon) if share == 1 else split(epsilon, share)
    look = OpeningHistogram(moved / of_survey, 1, pure=True)
    return SurveyPlan(look, look, (Cost("pure", decimal_above(of_survey)),), left)


@dataclass(frozen=True)
class Found:
    """The facts of a table that a survey gives: the schema with everything discovered, and the labels.

    `labels` are noisy numbers of rows by label, the most frequent first, and `others` is that of rows with labels that
    were not discovered, 0 if it is not clear of noise or the number of rows is private. If it is public, `labelled` is
    the noisy number of rows with a label, and the deviation of its noise. `other` has, for each name of a column, the
    estimated share of the rows whose cell has no discovered value; 1 if nothing was discovered for the column.
    """

    schema: Schema
    labels: dict[str, float]
    other: dict[str, float]
    others: float = 0.0
    labelled: tuple[float, float] | None = None


def discover(
    encoding: Any,
    exact: Counts,
    planned: SurveyPlan,
    rng: np.random.Generator,
    classes: Sequence | None = None,
    n: int | None = None,
    complete: bool = False,
) -> Found:
    """Release the survey of a table; compute its schema from it.

    `exact` are the private counts of the first look at `encoding`, whose schema is to be completed. All declared
    labels, `classes`, are counted. `n` is the number of rows, if it is public; by default it is the sum of the noisy
    numbers of rows by label. Labels are `complete` if their type has no missing one. Rows have another label than the
    published ones only if there are more of them than noise explains: that of the rows without a label counts, too.
    """
    look, others, labelled = planned.look, 0.0, None
    if classes is None:
        labels = planned.labels.words(exact.labels, rng)
        if n is not None:
            noisy = planned.labels.codes(np.array([n - sum(exact.labels.values())]), rng)[0]  # rows without a label
            lost = 0.0 if complete else max(noisy, 0.0)
            deviation = planned.labels.deviation * (2**0.5 if lost else 1.0)  # of the difference from one label
            rest = n - sum(labels.values()) - lost
            labelled = n - lost, 0.0 if complete else planned.labels.deviation
            others = rest if rest > OTHERS * deviation else 0.0
    else:
        kept = planned.labels.codes(np.array([exact.labels[each] for each in classes], np.int64), rng)
        labels = dict(zip(classes, kept.tolist(), strict=True))
    rows = max(0.0, sum(labels.values())) if n is None else float(n)
    columns = [
        _Column(column, None if fixed is None else look.codes(fixed, rng), look.words(words, rng), planned, rows)
        for column, fixed, words in zip(encoding.schema.columns, exact.fixed, exact.words, strict=True)
        if column.to_find
    ]
    cells = {each.column.name: each.cells(look.deviation) for each in columns}
    seen = encoding.cells([cells.get(name) for name in encoding.schema.names])
    counts = dict(zip(encoding.schema.names, seen, strict=True))
    for each in columns:
        if cells[each.column.name] is not None:
            each.look(look.codes(counts[each.column.name], rng), look.deviation)
    known = {each.column.name: each.known() for each in columns}
    unseen = {each.column.name: rows - each.known() > OTHERS * each.noise() for each in columns}
    other = {
        name: round(min(max(1 - each / (rows or each), 0.0), 1.0), 4) * unseen[name] if each else 1.0
        for name, each in known.items()
    }
    return Found(
        encoding.schema.with_facts({each.column.name: each.facts() for each in columns}),
        labels,
        other,
        others,
        labelled,
    )


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
        if not likely.any():
            return cls(np.zeros(len(noisy)), ends)
        beside = np.zeros(len(noisy), bool)
        beside[:-1] = likely[1:]
        beside[1:] |= likely[:-1]
        rows = np.where((noisy > SURE * deviation) | (likely & beside), noisy, 0.0)
        if np.count_nonzero(rows) > BINS:
            rows[np.argsort(-rows, kind="stable")[BINS:]] = 0.0
        return cls(rows, ends)

    def refined(self, noisy: np.ndarray, deviation: float, ends: np.ndarray, snap: Callable) -> "tuple[Spread, Spread]":
        """Return the cells that a second look confirms, which counts parts of the cells, and their rows in these parts.

        `ends` are those of the parts, in the form that `snap` gives to ends. A cell is confirmed if its parts have more
        than half of its rows together. A part between two cells that hold rows, none of which was clear in the first
        look, has its own rows if they are: around 0 there are many cells, each with few rows.
        """
        kept, parts = np.zeros(len(self.rows)), np.where(noisy > LIKELY * deviation, noisy, 0.0)
        cells = np.flatnonzero(self.rows)
        bounds = np.searchsorted(ends, snap(self._ends[[cells, cells + 1]])).T.tolist()
        places = [slice(first, max(last, first + 1)) for first, last in bounds]  # own parts, or one that it shares
        for within in places:
            parts[within] = 0.0
        for cell, within in zip(cells.tolist(), places, strict=True):
            if 2 * noisy[within].sum() > self.rows[cell]:
                kept[cell] = self.rows[cell]
                parts[within] += _halved(noisy[within].tolist(), float(self.rows[cell]), deviation)
        return Spread(kept, self._ends), Spread(parts, ends)

    def held(self) -> np.ndarray:
        """Return the ends of the cells that hold rows."""
        cells = np.flatnonzero(self.rows)
        return np.union1d(self._ends[cells], self._ends[cells + 1])

    def divided(self, cells: int, least: float) -> np.ndarray:
        """Return the ends of about so many cells, spread over those that hold rows, with at least so many rows each."""
        made = []
        held = np.flatnonzero(self.rows)
        for rows, low, high in np.stack([self.rows[held], self._ends[held], self._ends[held + 1]], axis=1).tolist():
            parts = max(1, int(min(cells * rows / self.total, rows / least)))
            made.append(low + np.arange(parts) * ((high - low) / parts))
        return np.unique(np.concatenate([*made, self._ends[held + 1]]))

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


def _halved(noisy, rows, deviation):
    """Return so many rows divided among cells, evenly but where the noisy counts of two halves clearly differ."""
    size, half = len(noisy), len(noisy) // 2
    if size == 1:
        return [rows]
    first, second, share = sum(noisy[:half]), sum(noisy[half:]), half / size
    if abs(first / half - second / (size - half)) > LIKELY * deviation * math.sqrt(1 / half + 1 / (size - half)):
        first = first if first >= LIKELY * deviation * math.sqrt(half) else 0.0
        second = second if second >= LIKELY * deviation * math.sqrt(size - half) else 0.0
        share = first / (first + second) if first or second else share
    return _halved(noisy[:half], rows * share, deviation) + _halved(noisy[half:], rows * (1 - share), deviation)


class _Part:
    """The numbers or the dates of a column: a first look, and a second one, if anything was seen in the first.

    `snap` maps numbers to the ends of codes, so that the code of a cell determines the side of an edge.
    """

    def __init__(self, noisy, deviation, ends, snap):
        self._snap, self._deviation, self._first = snap, deviation, Spread.clear(noisy, deviation, ends)
        self.rows = self._first.total
        self._spread = self._first

    @property
    def held(self):
        """Return the number of cells that hold rows."""
        return np.count_nonzero(self._first.rows)

    def cells(self, deviation):
        """Return the edges of the cells of the second look."""
        return np.unique(self._snap(self._first.divided(CELLS, LEAST_CELL * deviation)))

    def look(self, noisy, edges, deviation):
        """Take over the second look, whose outer cells have the rows that the first one did not see."""
        self.every = max(self.rows, float(noisy.sum()))
        cells, parts = self._first.refined(noisy[1:-1], deviation, edges, self._snap)
        self.confirmed = cells.total > 0
        if self.confirmed:
            self._first, self._spread, self.rows = cells, parts, parts.total

    def edges(self, bins, beyond):
        """Return the edges of bins of as many rows each, at most about so many, and of the cells of the first look.

        A bin has at least as many rows as the noise of a look deviates by, if there are LEAST_BINS such. Edges that
        separate no rows are left out. If rows were not found, the ends of all cells are edges, and so are those of
        `beyond` that lie outside; it is None if there are no such rows.
        """
        held = self._first.held()
        bins = min(bins, max(LEAST_BINS, int(self.rows / self._deviation)))
        edges = np.concatenate([self._spread.quantiles(np.arange(1, bins) / bins), held])
        edges = self._spread.parting(np.unique(self._snap(edges)))
        if beyond is None:
            return edges
        outer = beyond[(beyond < held[0]) | (beyond > held[-1])]
        return np.unique(self._snap(np.concatenate([edges, held[[0, -1]], outer])))

    def quantiles(self, ranks):
        return self._snap(self._spread.quantiles(ranks))

    def between(self):
        low, high = self.quantiles([TAIL, 1 - TAIL]).tolist()
        return (0.0 if -LEAST <= low < 0 else low), high


class _Column:
    """A column whose facts are discovered: its counts of the first look, and then of the second one."""

    def __init__(self, column, noisy, words, planned, rows):
        self.column, self._total = column, rows
        self._deviation = deviation = planned.look.deviation
        self._words = dict([*words.items()][:MOST_WORDS])
        self.numbers, self.dates, self._missing = None, None, 0.0
        self._grouped = COMMON * planned.look.least > rows and _holds_words(column) and noisy is not None
        self._groups = ()
        if noisy is None:
            return
        whole = isinstance(column, Discovered) and column.reads == "integer"
        numbers, days = _all_ends()
        every = (
            ("numbers", noisy[:SURVEYED_NUMBERS], numbers, _whole if whole else _number),
            ("dates", noisy[SURVEYED_NUMBERS:SURVEYED_MISSING], days, _day),
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
        """Return the edges of the cells of the second look, of numbers and of dates, and the words that have no group.

        None stands for no such cells, or for no groups; for a column without cells, None is returned.
        """
        if self.numbers is None and self.dates is None and not self._grouped:
            return None
        self._edges = [None if part is None else part.cells(deviation) for part in (self.numbers, self.dates)]
        return *self._edges, tuple(self._words) if self._grouped else None

    def look(self, noisy, deviation):
        """Take over the noisy counts of the second look; a text column has what both looks see."""
        for name, edges in zip(("numbers", "dates"), self._edges, strict=True):
            if edges is not None:
                part = getattr(self, name)
                part.look(noisy[: len(edges) + 1], edges, deviation)
                noisy = noisy[len(edges) + 1 :]
                if not part.confirmed and isinstance(self.column, Discovered) and self.column.reads == "text":
                    setattr(self, name, None)
        clear = np.flatnonzero(noisy > LIKELY * deviation)
        left = self._total - self.known() - noisy[clear].sum()
        many = left > SOME * self._total or not (len(clear) or self._words or self.numbers or self.dates)
        self._groups = () if not self._grouped else tuple(range(GROUPS) if many else clear.tolist())

    def known(self):
        """Return the number of rows whose cells have discovered values or are missing; 0 if no value has."""
        rows = sum(part.rows for part in (self.numbers, self.dates) if part is not None) + sum(self._words.values())
        return rows + self._missing

    def noise(self):
        """Return the deviation of the noise in the number of rows whose cells are known."""
        held = [part.held for part in (self.numbers, self.dates) if part is not None]
        return self._deviation * math.sqrt(sum(held) + len(self._words) + 1)

    def _of_numbers(self, words):
        """Return whether a column of texts is one of numbers: many rows are seen to have one, and no word was found."""
        return (
            not words and self.dates is None and self.numbers is not None and self.numbers.every > NUMBERS * self._total
        )

    def facts(self):
        """Return the facts that the column leaves open."""
        if isinstance(self.column, Category):
            return {"values": tuple(sorted(self._words))}
        if isinstance(self.column, Numeric):
            return _numeric(self.column, self.numbers)
        facts: dict[str, Any] = {"cells": True} | ({"groups": self._groups} if self._groups else {})
        reads, values = self.column.reads, tuple(sorted(self._words))
        left = self._total - self.known()
        few, mixed = FEW * self._total, reads == "text" and not self._of_numbers(values)
        clear = left > max(SOME * self._total, SURE * self._noise)
        if self.numbers is not None:
            beyond = _USUAL if left > few and not mixed else _USUAL[:0] if left > few - LIKELY * self._noise else None
            facts |= {"numbers": tuple(self.numbers.edges(BINS, beyond).tolist()), "ends": self.numbers.between()}
        elif reads in ("number", "integer"):
            edges = np.unique(np.floor(_USUAL)) if reads == "integer" else _USUAL
            facts |= {"numbers": tuple(edges.tolist()), "ends": (0.0, 0.0)}
        if self.dates is not None:
            beyond = _USUAL_DAYS[: 0 if left <= few or reads == "text" else None]
            beyond = beyond if left > few - LIKELY * self._noise else None
            facts |= {"dates": tuple(self.dates.edges(BINS, beyond).tolist()), "days": self.dates.between()}
        elif reads == "date":
            facts |= {"dates": tuple(_USUAL_DAYS.tolist()), "days": (0.0, 0.0)}
        if values or (mixed and (clear or not {"numbers", "dates"} & {*facts})):
            facts["values"] = values
        if "values" not in facts:
            facts.pop("groups", None)
        return facts


@cache
def _all_ends():
    """Return the ends of the cells of the first look, of numbers and of dates."""
    numbers, days = survey_ends()
    return (
        frozen(np.concatenate([[-LARGEST], numbers, [LARGEST]])),
        frozen(np.concatenate([[FIRST_DAY], days, [LAST_DAY]])),
    )


def _number(numbers):
    ends = number_ends()
    return ends[np.minimum(np.searchsorted(ends, numbers), len(ends) - 1)]


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
