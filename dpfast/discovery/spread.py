"""Noisy numbers of rows along the numbers or the dates of a column, and the edges of bins that follow from them.

A look counts rows in cells. `Spread` is what is known of them: cells with their ends and noisy numbers of rows. `Part`
takes over one look after another: the first one finds the powers of two that hold rows, narrowings find the place of
rows that lie in one or two of them, and the last look gives the shape. Everything is a function of released counts and
public numbers.
"""

import math
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from dpfast.kernels import spread as kernel
from dpfast.kernels.spread import Grid, distinct
from dpfast.tables.cells import LEAST

RANGES, CELLS = 32, 8192  # cells of the first look that hold numbers or dates, at most, and of the last look, about
LEAST_BINS = 16  # of numbers or dates, at least, even if the rows of each are not clear of noise
SURE, LIKELY = 4.0, 2.5  # deviations from which a cell holds rows, and from which it does beside another one, or again
TAIL = 0.005  # share of the rows that may lie beyond either end, or that are too few for a bin
JOINED = 5.0  # deviations by which cells of a coarser first look must show more rows, as such looks are further ones
APART = 8.0  # deviations of the last look that the rows have which a value of many rows parts from others
LEAST_CELL = 1.4  # deviations of its noise that a cell of the last look should have in rows
PARTS = 512  # of a cell that is narrowed
MOST = 0.75, 0.9  # shares of the rows in one cell, or in two, so that these are narrowed; noise may be in others
NARROWABLE = 8.0  # deviations of noise that the rows of a cell must have so that it is narrowed
NEARLY = 31 / 32  # of the rows of a cell lie within the part to which it is narrowed
NARROWER = 8  # a cell is narrowed again if it became narrower by this factor
COARSE = 1 / 3  # of the rows in one interval that could be divided: a column is read coarsely
EVEN = 0.1  # of the distance between both ends, by which each tenth of the rows may be elsewhere if they lie evenly
FEWEST = 4  # ends of parts, fewer than which show nothing


class Spread:
    """Noisy numbers of rows in cells of numbers or of dates, and edges of bins that follow from them.

    `ends` are the ends of all cells, in increasing order, and `rows` are at least 0. Rows are assumed to be spread
    evenly within a cell. If all numbers are `whole`, edges lie at whole numbers.
    """

    def __init__(self, rows: np.ndarray, ends: np.ndarray, whole: bool = False):
        self.rows, self._ends, self.whole = rows, ends, whole
        self.total = float(np.add.reduce(rows))

    @classmethod
    def clear(cls, noisy: np.ndarray, deviation: float, ends: np.ndarray, whole: bool = False) -> "Spread":
        """Return the cells with the counts that are clear of noise, alone or beside another one."""
        rows, count = kernel.clear(noisy, LIKELY * deviation, SURE * deviation)
        if count > RANGES:
            rows[np.argsort(-rows, kind="stable")[RANGES:]] = 0.0
        return cls(rows, ends, whole)

    def refined(
        self, noisy: np.ndarray, deviation: float, ends: np.ndarray, grid: Grid, before: float = math.inf
    ) -> "tuple[Spread, Spread]":
        """Return the cells that the last look confirms, which counts parts of the cells, and their rows in these parts.

        `ends` are those of the parts, on the grid. A cell is confirmed if its parts have more than half of its rows
        together, or if these and its own, with the deviation `before`, are clear of noise. A part between two cells
        that hold rows, none of which was clear in the first look, has its own rows if they are: around 0 there are many
        cells, each with few rows.
        """
        limits = LIKELY * deviation, SURE, deviation**2, before**2
        rest, parts = grid.refine(self.rows, self._ends, noisy, ends, *limits)
        return Spread(rest, self._ends, self.whole), Spread(parts, ends, self.whole)

    def intervals(self, least: float = 0.0) -> list:
        """Return the lower and upper ends and the rows of the cells that hold more rows than these."""
        cells = (self.rows > least).nonzero()[0]
        columns = self._ends[cells], self._ends[cells + 1], self.rows[cells]
        return [*zip(*(each.tolist() for each in columns), strict=True)]

    @classmethod
    def of_intervals(cls, intervals: list["Held"], whole: bool) -> "Spread":
        """Return cells that hold rows, and gaps between them, from disjoint and increasing intervals."""
        ends = distinct(np.array([end for low, high, *_ in intervals for end in (low, high)]))
        rows = np.zeros(len(ends) - 1)
        for low, _, some, _ in intervals:
            rows[np.searchsorted(ends, low)] = some
        return cls(rows, ends, whole)

    def ends_of_cells(self) -> np.ndarray:
        """Return the ends of the cells that hold rows."""
        cells = self.rows.nonzero()[0]
        return distinct(np.concatenate([self._ends[cells], self._ends[cells + 1]]))

    def divided(self, cells: int, least: float) -> np.ndarray:
        """Return the ends of about so many cells, spread over those that hold rows, with at least so many rows each."""
        return kernel.divide(self.rows, self._ends, self.total, cells, least)

    def quantiles(self, ranks: Any) -> np.ndarray:
        """Return the numbers at these shares of the rows; whole numbers, or lower ends of cells, if all are whole."""
        return kernel.quantiles(self.rows, self._ends, self.total, np.asarray(ranks, np.float64), self.whole)

    def parting(self, edges: np.ndarray, some: float) -> np.ndarray:
        """Return the edges that separate rows: more than so many lie between each and the one before, and beyond it."""
        return kernel.parting(self.rows, self._ends, self.total, some, edges)

    def spikes(self, deviation: float, most: int) -> np.ndarray:
        """Return the ends of at most so many cells, those with most rows of all that stand out: values of many rows.

        Such a cell has more than twice as many rows as either cell beside it would have at its length, by more than
        noise of this deviation, and that of drawing rows, explains.
        """
        lengths = np.diff(self._ends)
        dense = self.rows / lengths
        beside = np.maximum(np.append(0.0, dense[:-1]), np.append(dense[1:], 0.0)) * lengths
        out = self.rows - 2 * beside > SURE * np.sqrt(deviation**2 + self.rows)
        cells = np.argsort(np.where(out, -self.rows, 0.0), kind="stable")[: min(most, np.count_nonzero(out))]
        return np.concatenate([self._ends[cells], self._ends[cells + 1]])


class Held(NamedTuple):
    """An interval that holds so many rows, and whether it may be narrowed."""

    low: float
    high: float
    rows: float
    wide: bool = True


class Part:
    """The numbers or the dates of a column, and what is known of them after each look.

    `grid` has the possible edges: any numbers, or whole ones. So many cells at `most` are joined to one, if their rows
    are clear of noise together and not alone: dates of birth are spread over many years.
    """

    def __init__(self, noisy: np.ndarray, deviation: float, ends: np.ndarray, grid: Grid, whole: bool, most: int = 1):
        self._joined = _to_join(noisy, deviation, most)
        noisy, ends = joined(noisy, ends, self._joined)
        self._grid, self._deviation = grid, deviation * math.sqrt(self._joined)
        self._first = self._spread = Spread.clear(noisy, self._deviation, ends, whole)
        self.rows = self.every = self._first.total
        self._intervals = [Held(*each) for each in self._first.intervals()]
        self._outer = np.array([])  # ends of the cells of the first look, once they are narrowed
        self.confirmed = False
        self.count(noisy)

    def count(self, noisy: np.ndarray) -> None:
        """Take over how many rows there are, with those of cells between and beside the clear ones."""
        if self.rows:
            cells = self._first.rows.nonzero()[0]
            self.every = max(self.rows, float(noisy[max(0, cells[0] - 1) : cells[-1] + 2].sum()))

    def _divided(self, interval):
        """Return the ends of the parts of an interval."""
        return self._grid.steps(interval.low, interval.high, PARTS)

    def _wide(self, intervals):
        """Return those of some intervals that may be narrowed, and have more than FEWEST different ends of parts.

        Twice as many parts show this.
        """
        steps = self._grid.steps
        return [each for each in intervals if each.wide and len(steps(each.low, each.high, 2 * FEWEST)) > FEWEST]

    def _to_narrow(self):
        """Return the intervals to narrow: all if they are few, or else the fewest that hold most of the rows.

        Others may hold noise only, or a few rows far away.
        """
        wide = sorted(self._wide(self._intervals), key=lambda each: -each.rows)
        if len(wide) <= len(MOST):
            return wide
        rows_below = [*accumulate(each.rows for each in wide)]
        return next((wide[:k] for k, share in enumerate(MOST, 1) if rows_below[k - 1] > share * self.rows), [])

    @property
    def n_cells(self) -> int:
        """Return the number of cells of the first look that hold rows."""
        return int(np.count_nonzero(self._first.rows)) * self._joined

    def parts(self) -> np.ndarray | None:
        """Return the ends of the parts of the intervals that are to be narrowed, or None."""
        cells = [self._divided(each) for each in self._to_narrow()]
        return distinct(np.concatenate(cells)) if cells else None

    def narrow(self, noisy: np.ndarray, edges: np.ndarray, deviation: float) -> None:
        """Take over the counts of the parts, of which the first and the last lie outside of all edges."""
        self._outer = self._first.ends_of_cells() if not len(self._outer) else self._outer
        intervals = self._to_narrow()
        for k, each in enumerate(self._intervals):
            if each in intervals:
                ends = self._divided(each)
                first = int(np.searchsorted(edges, ends[0])) + 1
                start, stop = shortest(noisy[first : first + len(ends) - 1], each.rows, deviation)
                low, high = ends[[start, stop]].tolist()
                self._intervals[k] = Held(low, high, each.rows, wide=(stop - start) * NARROWER < len(ends))
        self._first = self._spread = Spread.of_intervals(self._intervals, self._first.whole)

    def cells(self, deviation: float) -> np.ndarray:
        """Return the edges of the cells of the last look."""
        divided = self._first.divided(CELLS, LEAST_CELL * deviation)
        return self._grid.distinct(np.concatenate([divided, self._outer]))

    def look(self, noisy: np.ndarray, edges: np.ndarray, deviation: float) -> None:
        """Take over the last look, whose outer cells have the rows that the first one did not see."""
        self.every, before = max(self.rows, float(noisy.sum())), self._deviation
        cells, parts = self._first.refined(noisy[1:-1], deviation, edges, self._grid, before)
        self._deviation = deviation
        self.confirmed = cells.total > 0
        if self.confirmed:
            self._first, self._spread, self.rows = cells, parts, parts.total

    def edges(self, bins: int, beyond: np.ndarray | None) -> np.ndarray:
        """Return the edges of bins of as many rows each, at most about so many, and of the cells that hold rows.

        A bin has at least as many rows as the noise of a look deviates by, if there are LEAST_BINS such. Edges that
        separate no rows are left out. Values of many rows get bins of their own, up to about twice as many bins in all.
        If rows were not found, the ends of all cells are edges, and so are those of `beyond` that lie outside; it is
        None if there are no such rows.
        """
        spread, ends, few = self._spread, self._first.ends_of_cells(), self._spread.total * TAIL
        even = min(bins, max(LEAST_BINS, int(self.rows / self._deviation)))
        edges = np.concatenate([spread.quantiles(np.arange(1, even) / even), ends])
        edges = spread.parting(self._grid.distinct(edges), few)
        spikes = spread.spikes(self._deviation, max(0, bins - len(edges) // 2))
        if len(spikes):
            edges = self._grid.distinct(np.concatenate([edges, spikes]))
            edges = spread.parting(edges, min(few, APART * self._deviation))
        if beyond is None:
            return edges
        outer = beyond[(beyond < ends[0]) | (beyond > ends[-1])]
        return self._grid.distinct(np.concatenate([edges, ends[[0, -1]], outer]))

    @property
    def whole(self) -> bool:
        """Return whether all numbers are whole."""
        return self._first.whole

    def evenly(self) -> bool:
        """Return whether rows seem to lie evenly between two ends, as numbers of persons do."""
        low, high = self._spread.quantiles([TAIL, 1 - TAIL]).tolist()
        tenths = np.arange(1, 10) / 10
        apart = self._spread.quantiles(tenths) - (low + tenths * (high - low))
        return high > low and bool((np.abs(apart) <= EVEN * (high - low)).all())

    def outermost(self) -> list[float]:
        """Return the ends between which all cells lie that hold rows."""
        return self._first.ends_of_cells()[[0, -1]].tolist()

    @property
    def coarse(self) -> bool:
        """Return whether many rows are seen in one interval beside its size, which could be divided further."""
        intervals = [Held(*each) for each in self._spread.intervals(COARSE * self.rows)]
        close = [each for each in intervals if each.high - each.low < max(abs(each.low), abs(each.high))]
        return bool(self._wide(close))

    def quantiles(self, ranks: Any) -> np.ndarray:
        """Return the edges at these shares of the rows."""
        return self._grid.snap(self._spread.quantiles(ranks))

    def between(self) -> tuple[float, float]:
        """Return the ends between which nearly all rows lie."""
        low, high = self.quantiles([TAIL, 1 - TAIL]).tolist()
        return (0.0 if -LEAST <= low < 0 else low), high


def joined(noisy: np.ndarray, ends: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts of so many neighbouring cells together, and their ends; the last cell may have fewer."""
    return np.add.reduceat(noisy, np.arange(0, len(noisy), size)), np.append(ends[:-1:size], ends[-1])


def _to_join(noisy, deviation, most):
    """Return how many neighbouring cells, a power of two up to `most`, clearly show more rows together than fewer."""
    best, most_rows, size = 1, 0.0, 1
    while size <= most:
        counts, _ = joined(noisy, noisy, size)
        rows, cells = kernel.clear(counts, LIKELY * deviation * math.sqrt(size), SURE * deviation * math.sqrt(size))
        total = float(np.add.reduce(rows))
        if size == 1 or total > most_rows + JOINED * deviation * math.sqrt(size * cells):
            best, most_rows = size, total
        size *= 2
    return best


def shortest(noisy: np.ndarray, rows: float, deviation: float) -> tuple[int, int]:
    """Return the first cell of the shortest run of cells that has nearly all of so many rows, and that after the last.

    The run is longer by a quarter on each side, and by cells beside it that are clear of noise together. If noise hides
    the rows, the run has all cells.
    """
    size, length, below = len(noisy), 1, np.concatenate([[0.0], np.cumsum(noisy)])
    while length < size and NARROWABLE * (noise := deviation * math.sqrt(length)) <= rows:
        within = below[length:] - below[:-length]
        if within.max() >= rows * NEARLY - 1.5 * noise:
            first = int(within.argmax())
            start = _extended(noisy[:first][::-1], length, deviation)
            stop = _extended(noisy[first + length :], length, deviation)
            return first - min(first, max(start, length // 4)), min(size, first + length + max(stop, length // 4))
        length += max(1, length // 4)
    return 0, size


def _extended(noisy, most, deviation):
    """Return how many of the first cells, at most so many, are clear of noise together."""
    sums = np.cumsum(noisy[:most])
    clear = np.flatnonzero(sums > LIKELY * deviation * np.sqrt(np.arange(1, len(sums) + 1)))
    return int(clear[-1]) + 1 if len(clear) else 0
