"""Rows among teachers: random equal parts, and the classes of few errors on each."""

import math

import numpy as np

from dpfast.mechanisms.draws import draw_places


def equal_parts(rng, names, parts, places):
    """Return the part of each example, in order: places, as many in each part, are given out at random.

    Places that no example has are blanks; if there are more examples than places, the first have them. One example less
    moves one part: whatever places the others have, they have with the same probability without it, and its own goes to
    a blank, or to the first that had none. `names` are the numbers of the examples' rows or rounds.
    """
    return draw_places(names, places, rng) % parts


def rows_of_parts(part, parts):
    """Return the rows of each part, in order."""
    order = np.argsort(part.astype(np.min_scalar_type(parts)), kind="stable")  # of two bytes in one pass
    return np.split(order, np.bincount(part, minlength=parts).cumsum()[:-1])


def classes_of_parts(hypothesis_class, points, labels, rows, rates):
    """Return for each part an iterator over the classes of members that err on at most these shares of its rows."""
    return [
        hypothesis_class.balls(points[own], labels[own], [math.floor(rate * len(own)) for rate in rates])
        for own in rows
    ]


def essential_lists(classes, irreducibility, d, degree=None):
    """Return the list of `_private_codes` of each teacher's class; teachers that share a class share its list."""
    lists = {id(H): H._private_codes(irreducibility, d, degree) for H in classes}
    return [lists[id(H)] for H in classes]
