"""Numbers and counts of the words of a column, in bounded memory, and counts of rows for the survey.

A dictionary holds the most recent words: at most HELD, and those of one more block. When it is full, its words and
their counts move to a run, an array of bytes that may be in a file, and a new dictionary begins. A word that occurs
again then gets another number. To count the words, runs are merged in the order of the words, so counts do not depend
on where a run ends.
"""

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from dpfast.tables.arrays import count_codes

HELD = 1 << 16  # words of a column in memory at a time
_READ = 1 << 10  # words of a run that are read at a time, for a merge


class Words:
    """Words that are added block by block, each with a number and a count of rows; `storage` makes stores of runs."""

    def __init__(self, storage: Any):
        self._storage = storage
        self._runs: list[_Run] = []
        self._closed = 0  # words of all runs
        self._place: dict[str, int] = {}
        self._rows = np.zeros(0, np.int64)

    def append(self, words: list[str], rows: np.ndarray) -> np.ndarray:
        """Add words that so many further rows have, and return their numbers, int64; words of no row are not kept."""
        place, places, local = self._place, np.flatnonzero(rows), np.zeros(len(words), np.int64)
        local[places] = [place.setdefault(words[k], len(place)) for k in places.tolist()]
        rows = np.bincount(local[places], weights=rows[places], minlength=len(place)).astype(np.int64)
        rows[: len(self._rows)] += self._rows
        self._rows, start = rows, self._closed
        if len(place) > HELD:
            self._runs.append(_Run.of([*place], rows, self._storage))
            self._closed += len(place)
            self._place, self._rows = {}, np.zeros(0, np.int64)
        return local + start

    def __len__(self) -> int:
        return self._closed + len(self._place)

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self.blocks())

    def blocks(self) -> Iterator[list[str]]:
        """Yield the words in the order of their numbers, a run at a time."""
        for run in self._runs:
            yield run.words(np.arange(run.n))
        yield [*self._place]

    def some(self, start: int, stop: int) -> tuple[list[str], np.ndarray]:
        """Return the words with these numbers, and how many rows have each; a word may have several numbers."""
        words, rows, first = [], [], 0
        for run in self._runs:
            which = np.arange(max(start - first, 0), min(stop - first, run.n))
            if len(which):
                words += run.words(which)
                rows.append(run.rows.read_all()[which])
            first += run.n
        within = slice(max(start - first, 0), max(stop - first, 0))
        words += itertools.islice(self._place, within.start, within.stop)
        return words, np.concatenate([*rows, self._rows[within]])

    def counts(self) -> "Counter[str] | Merged":
        """Return how many rows have each word."""
        counts = Counter(dict(zip(self._place, self._rows.tolist(), strict=True)))
        return Merged(self._runs, counts) if self._runs else counts


class Merged:
    """Counts of words that do not fit into memory: the runs, and the counts of the words that are in none."""

    def __init__(self, runs: list["_Run"], counts: Counter):
        self._runs, self._counts = runs, counts

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield the words and their counts, in the order of the words."""
        sources = [*(run.items() for run in self._runs), sorted(self._counts.items())]
        for word, several in itertools.groupby(heapq.merge(*sources), itemgetter(0)):
            yield word, sum(rows for _, rows in several)


class _Run(NamedTuple):
    """Words in the order of their numbers, as bytes and ends, with their counts of rows and their sorted order."""

    text: Any
    ends: Any
    rows: Any
    order: Any
    n: int

    @classmethod
    def of(cls, words, rows, storage):
        order = sorted(range(len(words)), key=words.__getitem__)
        encoded = [word.encode() for word in words]
        ends = np.cumsum([len(each) for each in encoded])
        arrays = np.frombuffer(b"".join(encoded), np.uint8), ends, rows, np.array(order, np.int32)
        stores = [storage.of(len(array))(array.dtype) for array in arrays]
        for store, array in zip(stores, arrays, strict=True):
            store.append(array)
        return cls(*stores, len(words))

    def words(self, which):
        text, ends = self.text.read_all(), self.ends.read_all()
        spans = zip(np.where(which > 0, ends[which - 1], 0).tolist(), ends[which].tolist(), strict=True)
        return [text[start:end].tobytes().decode() for start, end in spans]

    def items(self):
        order, rows = self.order.read_all(), self.rows.read_all()
        for start in range(0, self.n, _READ):
            which = order[start : start + _READ]
            yield from zip(self.words(which), rows[which].tolist(), strict=True)


class Counts:
    """Counts of the rows with each cell of the survey and each word of the undeclared columns of a table.

    For each column of the schema, `fixed` has the counts of the cells of `dpfast.tables.cells`, or None if it is
    declared or has only words; `words` is a Counter, or `Merged` if the words do not fit into memory. `labels` counts
    the labels. The cells and labels of parts add up. Words do not, as they may not fit into memory: see
    `dpfast.tables.parted.PartedEncoding`.
    """

    def __init__(self, fixed: list, words: list, labels: Counter):
        self.fixed, self.words, self.labels = fixed, words, labels

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(add_counts(self.fixed, other.fixed), [], self.labels + other.labels)


def add_counts(mine: list, others: list) -> list:
    """Return the sums of counts of columns, None for columns without counts."""
    return [None if a is None else a + b for a, b in zip(mine, others, strict=True)]


def tally(index: np.ndarray, values: Any) -> Counter:
    """Return the number of rows with each value; blanks around values do not count, as for declared values."""
    counts = count_codes(index[index >= 0], len(values))
    totals: Counter[str] = Counter()
    for value, count in zip(values, counts.tolist(), strict=True):
        if value is not None and value.strip():
            totals[value.strip()] += count
    return totals
