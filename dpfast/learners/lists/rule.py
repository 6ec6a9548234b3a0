"""Rules of a list, and the rows that each decides."""

from typing import NamedTuple

import numpy as np

from dpfast.kernels import bits


class Literal(NamedTuple):
    """A feature that must be 1, or 0 if negated."""

    feature: int
    negated: bool


class Rule(NamedTuple):
    """If all literals hold, then label; a rule without literals always holds."""

    literals: tuple[Literal, ...]
    label: object


def decided(rules, table):
    """For each rule in turn, the rows of a BitMatrix that it decides, packed: those where it is the first to hold.

    Yields
    ------
    ndarray of uint64, shape (words(n),)
        Overwritten by the next one.
    """
    n = len(table)
    used = sorted({literal.feature for rule in rules for literal in rule.literals})
    place = {j: k for k, j in enumerate(used)}
    columns = np.empty((len(used), bits.words(n)), np.uint64)
    for j, k in place.items():
        columns[k] = table.column(j)
    left = packed(np.ones(n, dtype=bool))
    holds = np.empty_like(left)
    for rule in rules:
        codes = [[2 * place[literal.feature] + literal.negated for literal in rule.literals]]
        bits.bitwise_and(left, bits.conjunctions(columns, n, np.array(codes, np.int64))[0], holds)
        bits.bitwise_andnot(left, holds, left)
        yield holds


def packed(mask):
    """A mask of rows, packed."""
    return bits.pack(mask[np.newaxis].view(np.uint8))[0]
