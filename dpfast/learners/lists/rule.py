"""Rules of a list, and the rows that each decides."""

from typing import NamedTuple

import numpy as np

from dpfast.kernels import bits


class Literal(NamedTuple):
    """A feature that must be 1, or 0 if negated.

    Attributes
    ----------
    feature : int
    negated : bool
    """

    feature: int
    negated: bool


class Rule(NamedTuple):
    """If all literals hold, then label; a rule without literals always holds.

    Attributes
    ----------
    literals : tuple of Literal
    label : object
    """

    literals: tuple[Literal, ...]
    label: object


def decided(rules, table):
    """For each rule in turn, the rows of a BitMatrix that it decides, packed: those where it is the first to hold.

    Yields
    ------
    ndarray of uint64, shape (words(n),)
        Overwritten by the next one.
    """
    left = packed(np.ones(len(table), dtype=bool))
    holds = np.empty_like(left)
    for rule in rules:
        holds[:] = left
        for literal in rule.literals:
            keep = bits.bitwise_andnot if literal.negated else bits.bitwise_and
            keep(holds, table.column(literal.feature), holds)
        bits.bitwise_andnot(left, holds, left)
        yield holds


def packed(mask):
    """A mask of rows, packed."""
    return bits.pack(mask[np.newaxis].view(np.uint8))[0]
