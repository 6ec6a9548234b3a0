"""Tables that differ in one row and that a model tells apart as well as any: what `dpfast audit` runs it on.

Tables are small, since a row among many moves a model less than its claim allows for. What is looked at is all or the
telling part of what a model releases.
"""

from . import mechanisms, points, tables
from .case import Case

CASES = tables.CASES | points.CASES | mechanisms.CASES

__all__ = ["CASES", "Case"]
