"""What the codes of one column mean: the column of codes that a column of a table becomes."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

OTHER, MISSING = "other", "missing"
_EPOCH = date(1970, 1, 1)


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
            return f"= {last:.12g}" if first == last else f"{first:.12g} to {last:.12g}"
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
            A number, or a date as YYYY-MM-DD.
        """
        return (_EPOCH + timedelta(days=edge)).isoformat() if self.dates else f"{edge:.12g}"
