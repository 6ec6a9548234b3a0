"""What the codes of one column mean, and which bin a number is in."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from dpfast.tables.cells import FIXED, number_codes

OTHER, MISSING = "other", "missing"
_EPOCH = date(1970, 1, 1)
_DIGITS, _ALL_DIGITS = 5, 17  # of a number as text: usually, and those of a double
_LARGEST_WHOLE = 1e15


@dataclass(frozen=True)
class CodeColumn:
    """What the codes of one column mean.

    Codes count up from 0: bins from low to high, or values in the order of their declaration; then those of "other",
    if there are any; the last is "missing", if there is such a code.

    Attributes
    ----------
    name : str
    edges : tuple of float or None
        Of a numeric column, rising: code k is for numbers above edges[k - 1] and at most edges[k]. None for values.
    low, high : float or None
        What the numbers are declared to lie between; those outside have the first or the last bin.
    values : tuple of str
        Of a column of values.
    other : int
        Codes for other values: none, one, or one for each group of them.
    nullable : bool
        Whether there is a code for missing values.
    dates : bool
        Whether the numbers are days since 1970-01-01.
    whole : bool
        Whether all numbers are whole, and edges too.
    """

    name: str
    edges: tuple[Any, ...] | None = None
    low: float | None = None
    high: float | None = None
    values: tuple = ()
    other: int = 0
    nullable: bool = False
    dates: bool = False
    whole: bool = False

    @property
    def ordered(self) -> bool:
        """Whether codes are bins of numbers, in their order, but for the code of missing ones."""
        return self.edges is not None

    @property
    def bins(self) -> int:
        """Codes of bins or declared values."""
        return len(self.values) if self.edges is None else len(self.edges) + 1

    @property
    def size(self) -> int:
        """All codes are below this."""
        return self.bins + self.other + self.nullable

    @property
    def missing(self) -> int | None:
        """The code of a missing value."""
        return self.size - 1 if self.nullable else None

    def midpoints(self) -> np.ndarray:
        """Return a number for each bin, in the middle of what the bin holds of [low, high].

        Returns
        -------
        ndarray of float64, shape (bins,)
        """
        ends = np.clip([self.low, *(self.edges or ()), self.high], self.low, self.high)
        return ends[:-1] / 2 + ends[1:] / 2

    def meaning(self, code: int) -> str:
        """Return what a code stands for, as text.

        Parameters
        ----------
        code : int

        Returns
        -------
        str
            ``"above 30, at most 40"``, ``"= 22"``, ``"23 to 30"``, ``"clerk"``, ``"other"`` or ``"missing"``, say.
        """
        if not 0 <= code < self.size:
            raise ValueError(f"codes of {self.name!r} lie in [0, {self.size}), got {code}")
        if code == self.missing:
            return MISSING
        if code >= self.bins:
            return OTHER if self.other == 1 else f"{OTHER}, group {code - self.bins + 1} of {self.other}"
        if self.edges is None:
            return self.values[code]
        if self.whole and 0 < code < len(self.edges):
            first, last = self.edges[code - 1] + 1, self.edges[code]
            return f"= {self.written(last)}" if first == last else f"{first:.0f} to {self.written(last)}"
        words = ("after", "until", "any date") if self.dates else ("above", "at most", "any number")
        above = f"{words[0]} {self.written(self.edges[code - 1])}" if code else ""
        most = f"{words[1]} {self.written(self.edges[code])}" if code < len(self.edges) else ""
        return ", ".join(filter(None, (above, most))) or words[2]

    def written(self, edge: float) -> str:
        """Return an edge as text.

        Parameters
        ----------
        edge : float

        Returns
        -------
        str
            A date as YYYY-MM-DD, or a number: a whole one in full, another one with five significant digits, and more
            where bins are so narrow that the rounding would be more than a fiftieth of one.
        """
        if self.dates:
            return (_EPOCH + timedelta(days=edge)).isoformat()
        place = bisect_left(self.edges or (), edge)
        others = (self.low, *(self.edges or ())[max(0, place - 1) : place + 2], self.high)
        return _decimal(edge, min((abs(each - edge) for each in others if each not in (None, edge)), default=math.inf))


def _decimal(number, apart):
    """Return a number as text that is right to a fiftieth of its distance from the next one."""
    if abs(number) < _LARGEST_WHOLE and number == int(number):
        return f"{int(number)}"
    digits = len(f"{abs(number):.0f}") + 1 if abs(number) < _LARGEST_WHOLE else 0
    for precision in range(max(_DIGITS, digits), _ALL_DIGITS):
        text = f"{number:.{precision}g}"
        if abs(float(text) - number) <= apart / 50:
            return text
    return repr(float(number))


EQUAL, OCTAVE, MOST = 128, 8, 250  # bins at equal distances, bins between powers of two near 0, edges in all


def fine_cuts(low: float, high: float) -> list[float]:
    """Return edges at equal distances and, near 0, at about equal ratios: at most MOST, the same on every machine.

    Parameters
    ----------
    low, high : float
        Finite, the lower first.

    Returns
    -------
    list of float
        Rising but for rounding, within [low, high].

    Notes
    -----
    Numbers with a long tail, as of money and counts, lie mostly in the first of equal bins. Where bins at equal ratios
    are the narrower ones, they are added, from the largest on.
    """
    step = high / EQUAL - low / EQUAL
    cuts = {low + i * step for i in range(1, EQUAL)} | ({0.0} if low <= 0 <= high else set())
    power = math.frexp(OCTAVE * step)[1]
    for exponent in range(power, power - MOST // OCTAVE, -1):
        for part in range(OCTAVE - 1, -1, -1):
            size = math.ldexp(1 + part / OCTAVE, exponent)
            new = {each for each in (size, -size) if low < each < high and size < OCTAVE * step} - cuts
            if len(cuts) + len(new) > MOST:
                return sorted(cuts)
            cuts |= new
    return sorted(cuts)


def bin_search(edges: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from numbers to how many of the edges are below each; of NaN it is any number of them.

    Parameters
    ----------
    edges : ndarray of float64
        Rising, at least one.
    """
    k = len(edges)
    even = np.linspace(edges[0], edges[-1], k)
    step = (edges[-1] - edges[0]) / max(1, k - 1)
    if k < 4 or not np.isfinite(1 / step) or np.abs(edges - even).max() > 0.4 * step:
        return _search_codes(edges)
    low, high = np.append(np.nan, edges), np.append(edges, np.nan)  # of what shares a code; NaN is no bound

    def below(x):
        near = np.fmin(np.fmax(x, edges[0] - step), edges[-1] + step)
        guess = np.minimum(((near - edges[0]) / step).astype(np.int32) + 1, k)  # wrong by one at most
        guess += (x > high[guess]).astype(np.int32)
        return guess - (x <= low[guess])

    return below


def _search_codes(edges):
    """As `bin_search`, by the codes of numbers: few edges share one, or there is nothing gained."""
    if len(edges) < 32 or (most := np.bincount(of_edges := number_codes(edges)).max()) > 2:
        return lambda x: np.searchsorted(edges, x)
    first = np.searchsorted(of_edges, np.arange(FIXED))
    first, high = first.astype(np.int32), np.append(edges, np.nan)

    def below(x):
        guess = first[number_codes(x)]
        for _ in range(most):
            guess += x > high[guess]
        return guess

    return below
