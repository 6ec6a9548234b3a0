"""A worst case: the mechanism and the tables that an audit runs."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A model on two neighbouring tables."""

    run: Callable[[Any, np.random.Generator], Any]  # from a table and a generator to what is looked at
    table: Any
    neighbor: Any
    delta: float
    what: str  # the tables, and how the model is set
    weak: str = ""  # why an audit cannot come near the claim
