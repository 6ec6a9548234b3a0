"""Every field of a model's file, replaced by what nobody saves; the digest is that of the changed file."""

import copy
import json
import math

from dpfast.base import saving

HOSTILE = (
    "1e10000000", "1e-10000000", "9" * 4000 + "/7", "1/0", "-1/3", "", "x" * 10**6, "\0", 10**4000, -(10**4000), 2**63,
    -1, 0, 1, 1.5, 1e308, -1e308, 5e-324, math.inf, math.nan, None, True, [], {}, [[]], [0] * 7, ["a", 1], {"a": 1},
)  # fmt: skip
PLACES = 40  # fields of one list of lists: others are as these


def fields(entry, at=()):
    """The paths of all entries below one, of long lists the first and last ones."""
    if at:
        yield at
    if isinstance(entry, dict):
        for name in entry:
            yield from fields(entry[name], (*at, name))
    elif isinstance(entry, list):
        for place in sorted({*range(min(3, len(entry))), *range(max(0, len(entry) - 1), len(entry))}):
            yield from fields(entry[place], (*at, place))


def changed(document, at, value):
    """The text of a file with another value in one field, and with the digest that goes with it."""
    document = copy.deepcopy(document)
    parent = document
    for name in at[:-1]:
        parent = parent[name]
    parent[at[-1]] = value
    document.pop("digest", None)
    return json.dumps(document | {"digest": saving._digest(document)})
