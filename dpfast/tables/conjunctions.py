"""All conjunctions of at most k literals, as packed columns."""

import os
from itertools import chain, combinations, product
from math import comb

import numpy as np

from dpfast.kernels import bits

_LONGEST = 32  # longer conjunctions are too many for any memory, and counting them takes long


def conjunction_count(d, k, negations):
    """Return the number of conjunctions of 1 to k literals over d columns."""
    return sum(comb(d, j) * (2 if negations else 1) ** j for j in range(1, k + 1))


def conjunction_codes(d, k, negations):
    """Return their literals, shape (count, k): 2 j for column j, 2 j + 1 for its negation, -1 for none; short first."""
    parts = []
    for size in range(1, k + 1):
        chosen = np.fromiter(chain.from_iterable(combinations(range(d), size)), np.int64).reshape(-1, size)
        for signs in product((0, 1) if negations else (0,), repeat=size):
            codes = np.full((len(chosen), k), -1)
            codes[:, :size] = 2 * chosen + np.array(signs)
            parts.append(codes)
    return np.concatenate(parts)


def conjunction_columns(table, k, negations):
    """Return the packed columns and the codes of all conjunctions of at most k literals of a BitMatrix."""
    n, d = table.shape
    check_memory(n, d, k, negations)
    k = min(k, d)  # there are no longer ones
    codes = conjunction_codes(d, k, negations)
    return bits.conjunctions(table.columns, n, codes), codes


def check_memory(n, d, k, negations):
    """Refuse conjunctions whose packed rows and columns would take more than half of this machine's memory."""
    longest = min(k, d, _LONGEST)
    count = conjunction_count(d, longest, negations)
    needed, limit = 8 * count * (bits.words(n) + longest) + 8 * n * bits.words(count), memory() // 2
    if needed > limit:
        least = "at least " if longest < min(k, d) else ""
        raise ValueError(
            f"conjunctions={k} over {d} columns makes {least}{count:,} features, {needed / 1e9:,.1f} GB for "
            f"{n:,} rows; at most {limit / 1e9:,.1f} GB are allowed here: lower conjunctions or drop columns"
        )


def memory():
    """Return the bytes of physical memory, or 8 GB if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30
