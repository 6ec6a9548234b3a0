"""Entries of the image of a row for a column of numbers.

A bin of numbers has

* an entry 1/2 of its own. Where there are more than BINS bins, bins of about the same rank share one, unless their
  released counts show that they have rows enough for an entry each: `least`, a few deviations of the opening's noise.
  A bin with so many rows, such as a value that many rows have, stands alone;
* on each of two scales, its place v in [-1, 1] and the heights at v of 9 hat functions, all times 3/4. Hat number i is
  1 at i / 4 - 1 and falls to 0 at the places of its neighbours, so sums of hats are broken lines. The linear scale has
  the middle of the bin between the declared ends; the rank scale has the share of rows below it.

How many entries a column has is public: one for each bin, at most _OWN. Those that no bin has remain 0.
"""

import numpy as np

BINS = 32  # places by rank, whose bins share an entry unless they have rows enough
_OWN = 256  # the most entries of the bins of a column
HATS = 9  # of each scale
_NUMBERS = 2 * (HATS + 1)
_SCALES = np.repeat([1, 2], HATS + 1)  # groups of the entries of both scales
_KNOTS = np.linspace(-1, 1, HATS)
_EMPTY = 3  # the group of entries that no bin has
_BIN, _SCALE = 0.5, 0.75  # the entry of a bin, and the factor of the scales
_FEWEST = 1e-5  # the least share of the rows of an entry
_GROWN = 1.3  # of `least`, if a column has more runs than entries


def width(bins: int, size: int) -> int:
    """Return the number of entries of a column of so many codes, of which some are bins of numbers."""
    return _shared(bins, size) + (_NUMBERS if bins else 0)


def entries_of_numbers(column, rank, share, least):
    """Return the entry of each code of a column of numbers, and the codes, places and values of all that are not 0.

    `rank` has the ranks of its bins, in [-1, 1], and `share` the share of the rows with each code; bins with a share of
    at least `least` together have an entry. Entries are in the order of codes, then of places.
    """
    bins, size = column.bins, column.size
    missing, shared = size - bins, _shared(bins, size)
    places = np.arange(bins)
    if bins > BINS:
        ranked = np.maximum.accumulate(np.clip((rank + 1) / 2 * BINS, 0, BINS - 1).astype(np.int64))
        places = _parted(ranked, share[:bins], least, shared - missing)
    apart = column.high - column.low
    linear = 2 * (column.midpoints() - column.low) / apart - 1 if apart > 0 else np.zeros(bins)
    v = np.clip(np.stack([linear, rank], axis=1), -1, 1)[:, :, np.newaxis]
    values = np.empty((bins, 1 + _NUMBERS))
    scales = values[:, 1:].reshape(bins, 2, HATS + 1)  # a view: only the last axis is divided
    scales[:, :, :1] = _SCALE * v
    scales[:, :, 1:] = _SCALE * np.maximum(0, 1 - np.abs(v - _KNOTS) * 4)
    values[:, 0] = _BIN
    nonzero = values.ravel().nonzero()[0]
    code, place = np.divmod(nonzero, 1 + _NUMBERS)
    at = np.where(place > 0, shared - 1 + place, places[code])
    of_missing = shared - 1 - np.arange(missing)
    return (
        np.concatenate([places, of_missing]),
        np.concatenate([code, np.arange(bins, size)]),
        np.concatenate([at, of_missing]),
        np.concatenate([values.ravel()[nonzero], np.full(missing, _BIN)]),
    )


def groups_of_numbers(places, share, bins):
    """Return the group of each entry of a column of numbers, given the entry and the share of each code."""
    shared = _shared(bins, len(share))
    own = by_share(np.bincount(places, share, shared))
    own[np.bincount(places, minlength=shared) == 0] = _EMPTY
    return np.concatenate([own, _SCALES])


def by_share(share):
    """Return the group of entries by their share of the rows, at most 0: one for each factor of 4, one below 1e-4."""
    return (np.frexp(np.clip(share, 1e-4, 1))[1].astype(np.int64) - 1) // 2


def _shared(bins, size):
    """Return the number of entries of a column, without those of scales."""
    return min(bins, _OWN) + size - bins


def _parted(ranked, share, least, most):
    """Return the number of the run of each bin; there are at most so many runs, of bins of the same rank.

    A run has at least this share of the rows, or is all that is left of a rank, or precedes a bin that stands alone.
    """
    bins, least = list(zip(ranked.tolist(), share.tolist(), strict=True)), max(least, _FEWEST)
    while True:
        rest, parted = np.bincount(ranked, share).tolist(), []
        run, size, before = -1, 0.0, -1
        for rank, part in bins:
            full = size >= least or (part >= least and size > 0)
            if rank != before or (full and rest[rank] >= least):
                run, size = run + 1, 0.0
            size, before = size + part, rank
            rest[rank] -= part
            parted.append(run)
        if run < most:
            return np.array(parted)
        least *= _GROWN
