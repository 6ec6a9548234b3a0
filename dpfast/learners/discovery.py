"""Private discovery of what a schema leaves open, by one noisy histogram of all columns.

Every cell has a fixed code or is a word of its own (`dpfast.tables.cells`). The histogram of the codes of all columns
is one Gaussian release (`dpfast.mechanisms.opening`). Everything below is computed from it and is defined for every
outcome: edges of numbers at about equal ranks, further edges at equal distances between the bounds of nearly all rows
for learners that read more bins, words that enough rows have, the labels, and how many rows each bin has.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpfast.accounting import Cost, NoisySums, bill_noise
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.accounting.numbers import decimal_above, exact, float_above
from dpfast.accounting.opening import opening_moves, opening_threshold
from dpfast.learners.parameters import LARGEST_SCALE, changed_rows, check_scale
from dpfast.mechanisms.opening import SURE, OpeningHistogram, smooth
from dpfast.tables.cells import (
    GROUPS,
    LEAST,
    MISSING_BAND,
    NUMBER_BANDS,
    OCTAVE_BANDS,
    SIDE_BANDS,
    band_ends,
    date_ends,
    number_ends,
)
from dpfast.tables.columns import Category, Numeric
from dpfast.tables.discovered import Discovered, refuse_many
from dpfast.tables.schema import Schema
from dpfast.tables.words import Counts

UNIT = 1 << 30  # grid steps per row, or fewer if the noise is too large for it
_KEPT = 1 - Fraction(1, 10**8)  # share of delta; the rest covers what a budget rounds up when it composes the costs
WORDS_SHARE = Fraction(1, 10)  # of delta, for publishing words of columns, and as much for publishing labels
LABELS = {"open": 1, "declared": 1 / 4}  # the budget for counts of labels, as a multiple of that for all columns
RANK_BINS, EQUAL_BINS = 32, 96
TAIL = 0.005  # share of the rows that may lie beyond either end
MOST_WORDS = 250  # discovered for one column
SOME = 0.1  # a column of texts has numbers, or dates, if at least this share of the counted rows has them
MOST_ROWS = 1.5  # times the number of rows: larger totals of the cells of one kind are discarded as noise
COMMON = 32  # a word is common if one in so many rows has it; where none could be published, other words are grouped
_FARTHEST = 12  # powers of two beyond the bands found, where rows that were not found are assumed


@dataclass(frozen=True)
class Plan:
    """A planned opening histogram, and its cost.

    A row counts more in the histogram of `labels` than in that of the columns, as the model starts with them. `cost` is
    that of both. `rest` is the noise of the other releases that share the bill, in their order, and `total` the cost of
    all.
    """

    histogram: OpeningHistogram
    labels: OpeningHistogram
    cost: tuple[Cost, ...]
    rest: tuple[float, ...] = ()
    total: tuple[Cost, ...] = ()


def plan(
    schema: Schema,
    epsilon: Any,
    delta: Any,
    neighbors: str,
    *,
    labels: str | None = None,
    share: Fraction = Fraction(1),
    rest: Sequence[NoisySums] = (),
    rows_per_unit: int = 1,
) -> Plan:
    """Plan the opening histogram of a schema, for the budget of this release and of all that share its bill (`rest`).

    `labels` says whether labels are counted too ("declared"), and whether their set has to be discovered ("open").
    `share` is that of this release in the bill, in units of squared sensitivity over variance; the others get the rest.

    A ValueError refuses a budget that does not suffice, words to be discovered with delta = 0, and more than
    MOST_COLUMNS columns to be discovered.
    """
    refuse_many(len(schema.to_find))
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta)
    columns = sum(len(_counted(column)) for column in schema.columns)
    weight = 0 if labels is None else max(1, round(math.sqrt(columns * LABELS[labels])))
    if not delta:
        return _pure_plan(schema, epsilon, neighbors, labels, (columns + (labels is not None)) * rows_per_unit)
    words = [sum(_holds_words(column) for column in schema.columns), int(labels == "open")]
    delta_of_words = delta * WORDS_SHARE * sum(map(bool, words))
    moves, unit = opening_moves(columns + weight**2, neighbors, rows_per_unit), UNIT
    noise = bill_noise((NoisySums(unit, share, times=moves), *rest), epsilon, delta * _KEPT, words=delta_of_words)
    check_scale(2 * max(noise.noise[1:], default=0), float(epsilon))
    while noise.noise[0] > LARGEST_SCALE and unit > 1:
        unit //= 2
        noise = bill_noise((NoisySums(unit, share, times=moves), *rest), epsilon, delta * _KEPT, words=delta_of_words)
    sigma = noise.noise[0]
    cost = discrete_gaussian_cost(sigma, sensitivity=unit, releases=moves, size=1)
    if delta_of_words:
        cost = (*cost, Cost("pair", 0.0, delta=float_above(delta_of_words)))
    columns_of, labels_of = [
        _histogram(sigma, each, float(delta * WORDS_SHARE), of, rows_per_unit)
        for each, of in zip((unit, unit * max(1, weight)), words, strict=True)
    ]
    return Plan(columns_of, labels_of, cost, noise.noise[1:], noise.cost)


def _histogram(sigma, unit, delta, words, rows_per_unit):
    """Return a histogram in which so many columns hold words, and lone ones are published with probability `delta`."""
    if not words:
        return OpeningHistogram(sigma, unit)
    chance = delta * (1 - 1e-12)
    threshold = opening_threshold(sigma, chance, unit=unit, words=words, rows_per_unit=rows_per_unit)
    return OpeningHistogram(sigma, unit, threshold, lone=delta / words)


def _pure_plan(schema, epsilon, neighbors, labels, moved):
    """Return the plan for delta = 0, with discrete Laplace noise; `moved` bounds how much the counts change."""
    lists = [column.name for column in schema.columns if column.to_find and isinstance(column, Category)]
    if lists:
        names = ", ".join(map(repr, lists))
        raise ValueError(f"values cannot be found privately with delta = 0: declare those of {names}")
    if labels == "open":
        raise ValueError("labels cannot be found privately with delta = 0: declare them by classes=")
    scale = moved * changed_rows(neighbors) / epsilon
    histogram = OpeningHistogram(scale, 1, pure=True)
    return Plan(histogram, histogram, (Cost("pure", decimal_above(epsilon)),))


@dataclass(frozen=True)
class Found:
    """The facts of a table that an opening histogram gives: the schema with everything discovered, and counts.

    `labels` are noisy numbers of rows by label, the most frequent first. For each column of codes, `counts` has the
    estimated number of rows with each code, at least 0, or for declared bins the noisy counts; and `ranks` the middle
    rank of each discovered bin in [-1, 1], or None. `other` has, for each name of a column, the estimated share of the
    rows whose cell has no discovered value; 1 if nothing was discovered for the column.
    """

    schema: Schema
    labels: dict[str, float]
    counts: list
    ranks: list
    other: dict[str, float]


def discover(
    schema: Schema,
    exact: Counts,
    planned: Plan,
    rng: np.random.Generator,
    classes: Sequence | None = None,
    fine: bool = False,
    n: int | None = None,
) -> Found:
    """Release the opening histogram of a table with these exact, private counts; compute the schema and counts from it.

    All declared labels, `classes`, are counted. With `fine`, numbers also get bins at equal distances. `n` is the
    number of rows, if it is public; by default it is the sum of the noisy numbers of rows by label.
    """
    opening = planned.histogram
    if classes is None:
        labels = planned.labels.words(exact.labels, rng)
    else:
        kept = planned.labels.codes(np.array([exact.labels[each] for each in classes], np.int64), rng)
        labels = dict(zip(classes, kept.tolist(), strict=True))
    facts: dict[str, Any] = {}
    counts: list[np.ndarray] = []
    ranks: list[np.ndarray | None] = []
    other: dict[str, float] = {}
    rows = max(0.0, sum(labels.values())) if n is None else float(n)
    grouped = fine and opening.least * COMMON > rows
    for column, fixed, words in zip(schema.columns, exact.fixed, exact.words, strict=True):
        noisy = [opening.codes(each, rng) for each in fixed]
        if not column.to_find:
            for each, made in zip(noisy, column.code_columns(), strict=True):
                counts.append(each if made.ordered else np.where(each > SURE * opening.deviation, each, 0.0))
                ranks.append(None)
            continue
        common = dict([*opening.words(words, rng).items()][:MOST_WORDS])
        facts[column.name], counted, known = _facts(
            column, noisy[0] if noisy else None, common, rows, opening.deviation, fine, grouped
        )
        if rows or not known:
            other[column.name] = round(min(max(1 - known / rows, 0.0), 1.0), 4) if known else 1.0
        counts += [each for each, _ in counted]
        ranks += [each for _, each in counted]
    return Found(schema.found(facts), labels, counts, ranks, other)


def _holds_words(column):
    return (isinstance(column, Discovered) and column.reads == "text" and bool(column.to_find)) or (
        isinstance(column, Category) and bool(column.to_find)
    )


def _counted(column):
    """Return one histogram for each entry; a row has one cell in each."""
    return (column,) if column.to_find else column.code_columns()


def _facts(column, noisy, common, rows, deviation, fine, grouped):
    """Return the facts of a column, the counts and ranks of each of its columns of codes, and the rows accounted for.

    `rows` is the estimated number of rows, or 0. If `grouped`, texts that are not published get codes by groups. A
    `fine` column of texts in which numbers were found also gets words if a share SOME of the rows is not accounted for.
    """
    if isinstance(column, Category):
        values = tuple(sorted(common))
        rows = [common[value] for value in values] + [0.0] * (1 + column.nullable)
        return {"values": values}, [(np.array(rows), None)], sum(common.values())
    missing = float(noisy[MISSING_BAND]) if noisy[MISSING_BAND] > SURE * deviation else 0.0
    ends, last_days = band_ends()
    found = _possible(_smooth_numbers(noisy[:NUMBER_BANDS], deviation), rows)
    numbers = Cells(found, ends, number_ends())
    if isinstance(column, Numeric):
        return *_numeric(column, numbers, missing), numbers.total + missing
    dates = Cells(_possible(smooth(noisy[NUMBER_BANDS:MISSING_BAND], deviation), rows), last_days, date_ends())
    values = tuple(sorted(common))
    facts: dict[str, Any] = {"cells": True} | ({"groups": GROUPS} if grouped else {})
    counted = []
    gone = missing + sum(common.values())
    known = numbers.total + dates.total + sum(common.values())
    some, left = SOME * max(known, rows), max(0.0, rows - known - missing)
    if fine and numbers.total and not dates.total and not values:
        numbers = Cells(found, ends, number_ends(), left)
    if column.reads in ("number", "integer") or (column.reads == "text" and numbers.total > some):
        numbers = numbers if numbers.total or not fine else Cells(_usual_numbers() * left, ends, number_ends())
        edges = numbers.edges(fine, column.reads == "integer")
        facts |= {"numbers": edges, "ends": numbers.between}
        counted.append(numbers.counts_and_ranks(edges, gone + dates.total))
    if column.reads == "date" or (column.reads == "text" and dates.total > some):
        edges = dates.edges(fine, True)
        facts |= {"dates": edges, "days": dates.between}
        counted.append(dates.counts_and_ranks(edges, gone + numbers.total))
    if values or not counted or (fine and column.reads == "text" and (grouped or left > some)):
        facts["values"] = values
        codes = facts.get("groups", 1)
        rest = np.full(codes, (numbers.total + dates.total + left) / codes)
        counted.append((np.array([*(common[value] for value in values), *rest, missing]), None))
    return facts, counted, known + missing


def _tails(rows):
    """Return the shares of the bands of numbers in which rows beyond the bands that hold some are assumed.

    They halve with each power of two, and do not change the sign; if only zero holds rows, they are the usual ones.
    """
    held, bands = np.flatnonzero(rows), np.arange(len(rows))
    signs, shares = np.sign(bands - SIDE_BANDS), np.zeros(len(rows))
    for end, away in ((held[0], held[0] - bands), (held[-1], bands - held[-1])):
        tail = (away > 0) & (away <= _FARTHEST * OCTAVE_BANDS) & (signs == signs[end])
        shares[tail] = 0.5 ** (away[tail] / OCTAVE_BANDS)
    total = shares.sum()
    return shares / total if total else _usual_numbers()


@cache
def _usual_numbers():
    """Return default shares of the bands of numbers: equal between powers of two, few below 0."""
    side = np.zeros(SIDE_BANDS)
    side[SIDE_BANDS * 3 // 16 : SIDE_BANDS * 11 // 16] = 1.0  # from 2^-8 to 2^24
    shares = np.concatenate([side[::-1] / 8, [side.sum() / 4], side])
    return shares / shares.sum()


def _numeric(column, cells, missing):
    """Return the bounds and edges that a declared column of numbers leaves open."""
    least, most = cells.between
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
    found = facts
    if "edges" in column.to_find:
        edges = [edge for edge in cells.quantiles(int(column.edges)) if low <= edge <= high]
        found = facts | {"edges": tuple(edges) or (low,)}
    (made,) = column.found(**found).code_columns()
    counts, ranks = cells.counts_and_ranks(made.edges, missing)
    return found, [(counts[: made.size], ranks)]


class Cells:
    """Estimated numbers of rows in bands of numbers, with the bounds, edges and quantiles that follow from them.

    Rows are assumed to be spread evenly within a band. Every edge is the end of a code, so that a code determines the
    side. `ends` and `codes` are the largest numbers of each band and of each code but the last. The `left` rows in
    unknown bands are assumed in the tails of `rows`; they move ranks, but not bounds. Nearly all of `rows` lie
    `between` two numbers, 0 and 0 if there are none.
    """

    def __init__(self, rows: np.ndarray, ends: np.ndarray, codes: np.ndarray, left: float = 0.0):
        self._ends, self._codes = ends, codes
        self._hold(rows)
        low, high = self._numbers(np.array([TAIL, 1 - TAIL]) * self.total).tolist() if self.total else (0.0, 0.0)
        self.between = (0.0 if -LEAST <= low < 0 else low), high
        if left and self.total:
            self._hold(rows + left * _tails(rows))

    def _hold(self, rows):
        self._below = np.cumsum(rows)[:-1]
        self.total = float(self._below[-1] + rows[-1])

    def edges(self, fine: bool, integer: bool) -> tuple[float, ...]:
        """Return edges of bins that hold rows, at about equal ranks, with `fine` also at equal distances."""
        if not fine:
            edges = np.unique(np.floor(self._band_ends()) if integer else self._band_ends())
            return tuple(self._parting(edges).tolist())
        edges = np.array(self.quantiles(4 * RANK_BINS))
        low, high = self.between
        if low < high:
            edges = np.append(edges, self._snapped(low + (high - low) * np.arange(EQUAL_BINS + 1) / EQUAL_BINS))
        return tuple(np.unique(np.floor(edges) if integer else edges).tolist())

    def _band_ends(self):
        """Return the ends of bands nearest to equal ranks: the distribution within a band is unknown."""
        wanted = np.arange(1, RANK_BINS) / RANK_BINS * self.total
        above = np.searchsorted(self._below, wanted).clip(1, len(self._ends) - 1)
        nearer = wanted - self._below[above - 1] < self._below[above] - wanted
        return self._ends[above - nearer]

    def _parting(self, edges):
        """Return the edges that separate rows: rows lie between each edge and the one before, and beyond the last."""
        kept, before, some = [], 0.0, self.total * TAIL
        for edge, below in zip(edges.tolist(), np.interp(edges, self._ends, self._below).tolist(), strict=True):
            if below - before > some and self.total - below > some:
                kept.append(edge)
                before = below
        return np.array(kept)

    def quantiles(self, bins: int) -> tuple[float, ...]:
        """Return at most bins - 1 increasing numbers at about equal ranks."""
        if not self.total:
            return ()
        return tuple(np.unique(self._numbers(np.arange(1, bins) / bins * self.total)).tolist())

    def counts_and_ranks(self, edges: Sequence[float], missing: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of each bin, with those of missing numbers at the end, and the middle rank of each bin."""
        below = np.interp(np.asarray(edges, np.float64), self._ends, self._below)
        bounds = np.concatenate([[0.0], below, [self.total]])
        ranks = (bounds[:-1] + bounds[1:]) / max(self.total, 1e-300) - 1
        return np.append(np.diff(bounds), missing), ranks if self.total else np.zeros(len(bounds) - 1)

    def _numbers(self, rows):
        """Return the smallest ends of codes with about so many rows at or below them."""
        band = np.searchsorted(self._below, rows).clip(1, len(self._ends) - 1)
        before, after = self._below[band - 1], self._below[band]
        part = np.clip((rows - before) / np.where(after > before, after - before, 1.0), 0.0, 1.0)
        low, high = self._ends[band - 1], self._ends[band]
        return self._snapped(low + (high - low) * part)

    def _snapped(self, numbers):
        return self._codes[np.searchsorted(self._codes, numbers).clip(max=len(self._codes) - 1)]


def _possible(counts, rows):
    """Return the counts, or zeros if their total is far above the number of rows, as they are noise then."""
    return counts if not rows or counts.sum() <= MOST_ROWS * rows else np.zeros(len(counts))


def _smooth_numbers(noisy, deviation):
    """Return denoised counts of the bands of numbers: zero separately, each sign by `smooth`."""
    zero = noisy[SIDE_BANDS] if noisy[SIDE_BANDS] > SURE * deviation else 0.0
    left, right = smooth(np.stack([noisy[:SIDE_BANDS], noisy[SIDE_BANDS + 1 :]]), deviation)
    return np.concatenate([left, [zero], right])
