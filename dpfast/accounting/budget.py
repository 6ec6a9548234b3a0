"""What was spent, and what may be: the claim of one fit and the ledger of many."""

import math
import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import NamedTuple

_RELATIONS = {"replace": "replace one row", "add-remove": "add or remove one row"}


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
        _check_neighbors(self.neighbors)
        _exact("epsilon", self.epsilon)
        _exact("delta", self.delta, below=1)
        events = tuple(Release(*event) for event in self.events)
        for event in events:
            if not 0 <= event.used <= event.of:
                raise ValueError(f"a release must have 0 <= used <= of, got {event}")
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))
        object.__setattr__(self, "events", events)

    def __str__(self):
        claim = f"({self.epsilon}, {self.delta or 0})-DP, {_RELATIONS[self.neighbors]}"
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
        _check_neighbors(neighbors)
        self._total = (_exact("epsilon", epsilon), _exact("delta", delta, below=1))
        if self._total[0] == 0:
            raise ValueError(f"the epsilon of a budget must be > 0, got {epsilon!r}")
        self._neighbors = neighbors
        self._charges = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def epsilon(self) -> float:
        """Epsilon of the whole budget."""
        return _float_below(self._total[0])

    @property
    def delta(self) -> float:
        """Delta of the whole budget."""
        return _float_below(self._total[1])

    @property
    def neighbors(self) -> str:
        """The neighbour relation."""
        return self._neighbors

    @property
    def charges(self) -> tuple[tuple[float, float], ...]:
        """Past charges in order, each (epsilon, delta), rounded up."""
        return tuple(_rounded(charge, _float_above) for charge in tuple(self._charges))

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) of all charges together, rounded up."""
        return _rounded(_sum(tuple(self._charges)), _float_above)

    @property
    def left(self) -> tuple[float, float]:
        """(epsilon, delta) that still fit, rounded down: ``charge(*left)`` is never refused."""
        return _rounded(_difference(self._total, _sum(tuple(self._charges))), _float_below)

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
            self._charges.append(self._fitting(epsilon, delta, neighbors))

    def check(self, epsilon, delta=0.0, *, neighbors="replace") -> None:
        """Refuse what `charge` would refuse now, and charge nothing."""
        self._fitting(epsilon, delta, neighbors)

    def _fitting(self, epsilon, delta, neighbors) -> tuple[Fraction, Fraction]:
        """The charge as fractions, if it fits."""
        _check_neighbors(neighbors)
        asked = (_exact("epsilon", epsilon), _exact("delta", delta, below=1))
        if neighbors != self._neighbors:
            raise ValueError(
                f"the budget is stated for neighbors={self._neighbors!r} and the charge for {neighbors!r}; "
                f"a claim under one relation does not hold at the same epsilon and delta under the other"
            )
        if os.getpid() != self._process:
            raise RuntimeError(
                f"a Budget charges only in the process that made it: what a copy spends would be lost. {_REMEDY}"
            )
        spent = _sum(tuple(self._charges))
        left = _difference(self._total, spent)
        if asked[0] > left[0] or asked[1] > left[1]:
            raise BudgetExceeded(
                f"the charge {_rounded(asked, _float_above)} does not fit: of (epsilon, delta) = "
                f"{_rounded(self._total, _float_below)}, spent {_rounded(spent, _float_above)}, "
                f"left {_rounded(left, _float_below)}; nothing was charged"
            )
        return asked

    def to_dict(self) -> dict:
        """The ledger as a dictionary that JSON can hold; its numbers are exact fractions in strings."""
        return {
            "epsilon": str(self._total[0]),
            "delta": str(self._total[1]),
            "neighbors": self._neighbors,
            "charges": [[str(epsilon), str(delta)] for epsilon, delta in tuple(self._charges)],
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


def _check_neighbors(neighbors) -> None:
    if neighbors not in _RELATIONS:
        raise ValueError(f'neighbors must be "replace" or "add-remove", got {neighbors!r}')


def _exact(name: str, value, below=math.inf) -> Fraction:
    """A number as a fraction; a float as the decimal it prints as."""
    if isinstance(value, Real) and not isinstance(value, bool):
        if isinstance(value, Rational):
            exact = Fraction(int(value.numerator), int(value.denominator))
        else:
            exact = Fraction(repr(float(value))) if math.isfinite(value) else Fraction(-1)  # refused below
        if 0 <= exact < below:
            return exact
    wanted = "a finite number >= 0" if below == math.inf else f"a number >= 0 and below {below}"
    raise ValueError(f"{name} must be {wanted}, got {value!r}")


def _sum(charges) -> tuple[Fraction, Fraction]:
    return sum((e for e, _ in charges), Fraction(0)), sum((d for _, d in charges), Fraction(0))


def _difference(total, spent) -> tuple[Fraction, Fraction]:
    return total[0] - spent[0], total[1] - spent[1]


def _rounded(pair, rounding) -> tuple[float, float]:
    return rounding(pair[0]), rounding(pair[1])


def _float_below(exact: Fraction) -> float:
    """The largest float whose decimal is at most `exact`."""
    value = float(exact)
    while Fraction(repr(value)) > exact:
        value = math.nextafter(value, -math.inf)
    return value


def _float_above(exact: Fraction) -> float:
    """The smallest float whose decimal is at least `exact`."""
    value = float(exact)
    while Fraction(repr(value)) < exact:
        value = math.nextafter(value, math.inf)
    return value
