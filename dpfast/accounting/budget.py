"""What was spent, and what may be: the claim of one fit and the ledger of many."""

import math
import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import NamedTuple

from .checks import RELATIONS, check_neighbors, exact


class Release(NamedTuple):
    """How many of the releases paid for were made, by name, e.g. ``Release("rules", 25, 25)``."""

    name: str
    used: int
    of: int


@dataclass(frozen=True)
class PrivacySpend:
    """The privacy claim of one fitted estimator.

    Parameters
    ----------
    epsilon : float, >= 0
    delta : float in [0, 1)
    neighbors : {"replace", "add-remove"}
        Whether neighbouring tables differ by one row replaced, or by one row added or deleted.
    events : sequence of Release
    reproducible : bool
        True if a seed was given: whoever knows the seed can undo the noise.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Examples
    --------
    >>> print(PrivacySpend(1.0, 1e-6, "replace", [Release("rules", 25, 25)]))
    (1.0, 1e-06)-DP, replace one row; 25 of 25 releases used
    """

    epsilon: float
    delta: float
    neighbors: str
    events: tuple[Release, ...] = ()
    reproducible: bool = False

    def __post_init__(self):
        check_neighbors(self.neighbors)
        exact("epsilon", self.epsilon)
        exact("delta", self.delta, below=1)
        events = tuple(Release(*event) for event in self.events)
        for event in events:
            integers = isinstance(event.used, Integral) and isinstance(event.of, Integral)
            if not isinstance(event.name, str) or not integers or not 0 <= event.used <= event.of:
                raise ValueError(f"a release must have a name and 0 <= used <= of, got {event}")
        if not isinstance(self.reproducible, bool):
            raise ValueError(f"reproducible must be True or False, got {self.reproducible!r}")
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))
        object.__setattr__(self, "events", events)

    def __str__(self):
        claim = f"({self.epsilon}, {self.delta or 0})-DP, {RELATIONS[self.neighbors]}"
        if self.events:
            used, of = sum(event.used for event in self.events), sum(event.of for event in self.events)
            claim += f"; {used} of {of} releases used"
        if self.reproducible:
            claim += "; drawn with a seed: reproducible, not private"
        return claim

    def to_dict(self) -> dict:
        """The claim as a dictionary that JSON can hold."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors,
            "events": [event._asdict() for event in self.events],
            "reproducible": self.reproducible,
        }

    @classmethod
    def from_dict(cls, state: dict) -> "PrivacySpend":
        """The claim that `to_dict` wrote."""
        return cls(**{**state, "events": tuple(Release(**event) for event in state["events"])})


class BudgetExceeded(ValueError):
    """A charge was refused because it did not fit into what was left; nothing was charged."""


class Budget:
    """A privacy budget that several fits draw from, and that refuses what does not fit.

    The charges' epsilons and deltas add up (basic composition, which also holds when each charge is
    chosen after seeing earlier results: Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and
    Filters", 2016). Give the same Budget to every estimator that reads the same rows.

    Sums are exact. A float counts as the decimal it prints as, so ten charges of 0.1 fill a budget
    of 1.0 exactly; a `fractions.Fraction` counts as itself.

    Copies are the same object: scikit-learn's ``clone``, and with it cross-validation, deep-copies an
    estimator's parameters, and a copied ledger would let every clone spend the whole budget again.
    For the same reason a Budget charges only in the process that made it; one that was pickled and
    loaded is closed: it tells what had been spent and refuses every charge.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real in [0, 1)
    neighbors : {"replace", "add-remove"}
        The neighbour relation of the budget and of every charge.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Examples
    --------
    >>> budget = Budget(1.0, 1e-6)
    >>> budget.charge(0.3, 1e-7)
    >>> budget
    Budget(epsilon=1.0, delta=1e-06, neighbors='replace'; spent (0.3, 1e-07), left (0.7, 9e-07))
    """

    def __init__(self, epsilon, delta=0.0, *, neighbors="replace"):
        check_neighbors(neighbors)
        self._total = self._left = _amount(epsilon, delta)
        if self._total.epsilon == 0:
            raise ValueError(f"the epsilon of a budget must be > 0, got {epsilon!r}")
        self._neighbors = neighbors
        self._charges = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def epsilon(self) -> float:
        """Epsilon of the whole budget."""
        return self._total.below()[0]

    @property
    def delta(self) -> float:
        """Delta of the whole budget."""
        return self._total.below()[1]

    @property
    def neighbors(self) -> str:
        """The neighbour relation."""
        return self._neighbors

    @property
    def charges(self) -> tuple[tuple[float, float], ...]:
        """Past charges in order, each (epsilon, delta), rounded up."""
        return tuple(charge.above() for charge in tuple(self._charges))

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) of all charges together, rounded up."""
        return (self._total - self._left).above()

    @property
    def left(self) -> tuple[float, float]:
        """(epsilon, delta) that still fit, rounded down: ``charge(*left)`` is never refused."""
        return self._left.below()

    def charge(self, epsilon, delta=0.0, *, neighbors="replace") -> None:
        """Take (epsilon, delta) from the budget, before the data is read.

        Parameters
        ----------
        epsilon : real, >= 0
        delta : real in [0, 1)
        neighbors : {"replace", "add-remove"}
            The relation under which the charged claim holds; it must be the budget's.

        Raises
        ------
        BudgetExceeded
            If the charge does not fit into what is left. Nothing is charged.
        ValueError
            If a value is out of its range, or the relation is not the budget's.
        RuntimeError
            In a process other than the one that made the budget.
        """
        with self._lock:
            asked, left = self._fitting(epsilon, delta, neighbors)
            self._left = left
            self._charges.append(asked)

    def check(self, epsilon, delta=0.0, *, neighbors="replace") -> None:
        """Refuse what `charge` would refuse now, and charge nothing."""
        self._fitting(epsilon, delta, neighbors)

    def _fitting(self, epsilon, delta, neighbors):
        """The charge, if it fits, and what it leaves."""
        check_neighbors(neighbors)
        asked = _amount(epsilon, delta)
        if neighbors != self._neighbors:
            raise ValueError(
                f"the budget is stated for neighbors={self._neighbors!r} and the charge for {neighbors!r}; "
                f"a claim under one relation does not hold at the same epsilon and delta under the other"
            )
        if os.getpid() != self._process:
            raise RuntimeError(
                f"a Budget charges only in the process that made it: what a copy spends would be lost. {_REMEDY}"
            )
        left = self._left - asked
        if left.epsilon < 0 or left.delta < 0:
            raise BudgetExceeded(
                f"the charge {asked.above()} does not fit: of (epsilon, delta) = "
                f"{self._total.below()}, spent {self.spent}, left {self.left}; nothing was charged"
            )
        return asked, left

    def to_dict(self) -> dict:
        """The ledger as a dictionary that JSON can hold; its numbers are exact fractions in strings."""
        total = self._total.exactly()
        return {
            "epsilon": str(total[0]),
            "delta": str(total[1]),
            "neighbors": self._neighbors,
            "charges": [[str(part) for part in charge.exactly()] for charge in tuple(self._charges)],
        }

    @classmethod
    def from_dict(cls, state: dict) -> "Budget":
        """The ledger that `to_dict` wrote, to be resumed by one process; the old one must not go on."""
        budget = cls(Fraction(state["epsilon"]), Fraction(state["delta"]), neighbors=state["neighbors"])
        for epsilon, delta in state["charges"]:
            budget.charge(Fraction(epsilon), Fraction(delta), neighbors=budget.neighbors)
        return budget

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _closed, (self.to_dict(),)

    def __repr__(self):
        return (
            f"Budget(epsilon={self.epsilon}, delta={self.delta}, neighbors={self._neighbors!r}; "
            f"spent {self.spent}, left {self.left})"
        )


class _Amount(NamedTuple):
    """An exact (epsilon, delta), both as integers over one denominator: adding fractions each time is slow."""

    epsilon: int
    delta: int
    over: int

    def __sub__(self, other: "_Amount") -> "_Amount":
        over = math.lcm(self.over, other.over)
        mine, others = over // self.over, over // other.over
        return _Amount(self.epsilon * mine - other.epsilon * others, self.delta * mine - other.delta * others, over)

    def exactly(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.epsilon, self.over), Fraction(self.delta, self.over)

    def below(self) -> tuple[float, float]:
        """The largest floats whose decimals are at most these."""
        epsilon, delta = self.exactly()
        return _float_below(epsilon), _float_below(delta)

    def above(self) -> tuple[float, float]:
        """The smallest floats whose decimals are at least these."""
        epsilon, delta = self.exactly()
        return _float_above(epsilon), _float_above(delta)


@lru_cache(maxsize=256, typed=True)
def _amount(epsilon, delta) -> _Amount:
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta, below=1)
    over = math.lcm(epsilon.denominator, delta.denominator)
    return _Amount(int(epsilon * over), int(delta * over), over)


def _float_below(number: Fraction) -> float:
    value = float(number)
    while Fraction(repr(value)) > number:
        value = math.nextafter(value, -math.inf)
    return value


def _float_above(number: Fraction) -> float:
    value = float(number)
    while Fraction(repr(value)) < number:
        value = math.nextafter(value, math.inf)
    return value


_REMEDY = (
    'Use n_jobs=1 or joblib.parallel_config(backend="threading"), or charge by hand before starting other '
    "processes and fit there without the budget, or save the ledger with to_dict() and resume it with "
    "from_dict()"
)


def _closed(state: dict) -> Budget:
    """A ledger to read: no process has this number."""
    budget = Budget.from_dict(state)
    budget._process = None
    return budget
