"""Budgets, which limit the total cost of many releases about the same rows."""

import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

from dpfast.accounting.budgets.filters import Book, BudgetExceeded, Charge, costs_of, new_book
from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.claims.spend import pair_cost
from dpfast.accounting.numbers import Amount, Number, amount, check_neighbors, check_unit
from dpfast.accounting.numbers import count as checked_count

_TOLD = 100  # charges of a statement


class Budget:
    """A privacy budget that several releases share; it refuses a charge that does not fit.

    Give the same Budget to every estimator that reads the same rows. All charges together are (epsilon, delta)-DP, even
    if each release and its cost were chosen by earlier results. A charge is a curve (`Cost`) if one is known, so costs
    add up to less than the sum of their epsilons: five fits at (1, 1e-6) with Gaussian noise fit into (2.4, 1e-6). The
    theorems are in the documentation of `dpfast.accounting.budgets.filters`.

    Sums are exact. A float counts as the decimal that it prints as, so ten charges of 0.1 fill a budget of 1.0 exactly;
    a `fractions.Fraction` counts as itself.

    A copy of a Budget is the same object. Otherwise every ``clone`` of scikit-learn, as in cross-validation, could
    spend the whole budget again. For the same reason, a Budget charges only in the process that made it. A Budget that
    was pickled and loaded shows what had been spent and refuses every charge. `Budget.open` makes a budget in a file,
    for several processes.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real in [0, 1)
    neighbors : {"replace", "add-remove"}
        The neighbour relation of the budget and of every charge.
    unit : {"row", "person"}
        The unit that the budget and every charge protect: one row, or all rows of one person.
    composition : {"auto", "basic", "gaussian", "renyi"}
        How charges add up. With "basic", epsilons and deltas add up. With "auto", the first charge with a positive
        delta decides: Gaussian DP if its cost has a mu, Renyi divergence if it has one, and otherwise "basic"; if the
        charge also has words that a threshold publishes, half of delta is set aside for them. "gaussian" refuses a cost
        that has only rho. "gaussian" and "renyi" refuse a cost that has only a pair, except within `pairs`.
    pairs : pair of real
        (epsilon, delta) set aside for charges that have only a pair, in addition to "gaussian" or "renyi".

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
    >>> budget = Budget(3, 1e-6)
    >>> for _ in range(5):
    ...     budget.charge(1, 1e-6, cost=[Cost("gaussian", 0.2367)])
    >>> round(budget.spent[0], 2), round(budget.left[0], 2)
    (2.4, 1.64)
    """

    _part: str | None = None

    def __init__(
        self, epsilon: Number, delta: Number = 0.0, *, neighbors: str = "replace", unit: str = "row",
        composition: str = "auto", pairs: Sequence[Number] = (0.0, 0.0),
    ) -> None:  # fmt: skip
        self._book = new_book(epsilon, delta, neighbors, unit, composition, pairs)
        self._how = composition, amount(*pairs)
        self._neighbors, self._unit = neighbors, unit
        self._charges: list[Charge] = []
        self._lock = threading.Lock()
        self._process: int | None = os.getpid()

    @staticmethod
    def open(path: str | os.PathLike, epsilon: Number | None = None, delta: Number | None = None, **how: Any) -> Any:
        """Open a budget in a file, for many processes of one machine; create the file if it does not exist.

        ``Budget.open("patients.budget", epsilon=3, delta=1e-6)`` creates the file, and
        ``Budget.open("patients.budget")`` opens it.

        Parameters
        ----------
        path, epsilon, delta, **how
            As in `dpfast.accounting.budgets.ledger.open_ledger`.

        Returns
        -------
        Ledger
            A budget with the methods of `Budget`.

        Raises
        ------
        LedgerError, ValueError
            If the file cannot be used, or a value is out of its range or differs from that of the file.
        """
        # A ledger is a budget, so its module imports this one; SQLite is loaded with it, when a file is opened.
        from dpfast.accounting.budgets.ledger import open_ledger

        return open_ledger(path, epsilon, delta, **how)

    @property
    def epsilon(self) -> float:
        """Return the epsilon of the whole budget."""
        return self._book.filter.total.below()[0]

    @property
    def delta(self) -> float:
        """Return the delta of the whole budget."""
        return self._book.filter.total.below()[1]

    @property
    def neighbors(self) -> str:
        """Return the neighbour relation."""
        return self._neighbors

    @property
    def unit(self) -> str:
        """Return the privacy unit: a row or a person."""
        return self._unit

    @property
    def composition(self) -> str:
        """Return the filter; "auto" as long as it is not fixed."""
        return self._book.filter.kind

    @property
    def charges(self) -> tuple[tuple[float, float], ...]:
        """Return the past charges in order, each as (epsilon, delta), rounded up."""
        charges = tuple(self._charges)
        return tuple(chain.from_iterable(repeat(charge.pair.above(), charge.count) for charge in charges))

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Return the costs of all charges, as curves."""
        return costs_of(tuple(self._charges))

    @property
    def spent(self) -> tuple[float, float]:
        """Return (epsilon, delta) of all charges together, rounded up.

        If epsilons and deltas add up, these are their sums. Otherwise epsilon is that of all costs composed
        (`dpfast.accounting.claims.composition`) at the budget's delta, which assumes that all costs were fixed in
        advance.
        """
        return self._book.compute_spent(lambda: tuple(self._charges), self._part)

    @property
    def left(self) -> tuple[float, float]:
        """Return (epsilon, delta) of a charge that still fits, rounded down.

        If epsilons and deltas do not simply add up, this is for a fit whose cost is Gaussian, or zCDP.
        """
        return self._book.compute_left(self._part)

    def statement(self) -> dict[str, Any]:
        """Return what was spent in all and by what, for the page of a model.

        Returns
        -------
        dict
            Totals, the number of charges, and the last charges, each with epsilon, delta, the number of releases that
            it is for, and, if the budget is a file, its time and the name of what was charged.
        """
        (spent, at), charges = self.spent, self._described()
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "spent epsilon": spent,
            "spent delta": at,
            "neighbors": self.neighbors,
            "unit": self.unit,
            "composition": self.composition,
            "time": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "count": len(charges),
            "charges": charges[-_TOLD:],
        }

    def _described(self) -> list[dict[str, Any]]:
        """Return the charges with what is known of each."""
        described = []
        for charge in tuple(self._charges):
            epsilon, delta = charge.pair.above()
            entry = {"what": "", "time": "", "epsilon": epsilon, "delta": delta, "count": charge.count}
            described.append(entry | ({} if charge.part is None else {"part": charge.part}))
        return described

    def as_pairs(self) -> "Budget":
        """Return this budget in a form that counts each charge as the pair (epsilon, delta) that it claims.

        This is for a claim that covers more than the release whose cost is known.

        Returns
        -------
        Budget
        """
        return Pairs(self)

    def part(self, name: str, *, persons_apart: bool = False) -> "Budget":
        """Return the budget of a part of the table, for rows that are in no other part.

        Parameters
        ----------
        name : str
        persons_apart : bool, default=False
            Declare that no person has rows in two parts, which a budget that protects persons requires. This may be
            true for parts by region of residence; it is not true for parts by month.

        Returns
        -------
        Budget
            Its charges count for that part. Charges of different parts do not add up; a charge to the whole budget
            counts for every part. Neighbouring tables must differ in one part only, so under "replace" the part of a
            row is public.

        Raises
        ------
        ValueError
            If the name is not a text, or the budget protects persons and `persons_apart` is not True.
        """
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a part must be a text, got {name!r}")
        if self._unit == "person" and persons_apart is not True:
            raise ValueError(
                "a budget that protects persons has parts only if no person has rows in two of them: declare that by "
                "persons_apart=True, or charge the whole budget"
            )
        return Part(self, name)

    def charge(self, epsilon: Number, delta: Number = 0.0, *, neighbors: str = "replace", unit: str = "row",
               cost: Any = None, count: int = 1, what: Any = None) -> None:  # fmt: skip
        """Charge a release to the budget, before the data are read.

        Parameters
        ----------
        epsilon : real, >= 0
        delta : real in [0, 1)
            The release is (epsilon, delta)-DP.
        neighbors : {"replace", "add-remove"}
        unit : {"row", "person"}
            The relation and unit under which the claim holds; they must be the budget's.
        cost : sequence of Cost, optional
            The proved cost of the release as curves; by default only the pair.
        count : int, >= 1
            The number of releases with this cost.
        what : dict, optional
            A description that a ledger stores.

        Raises
        ------
        BudgetExceeded
            If the charge does not fit into what is left. Nothing is charged.
        ValueError
            If a value is out of its range, or the relation or unit is not the budget's.
        RuntimeError
            In a process other than the one that made the budget.
        """
        charge = self._read_charge(epsilon, delta, neighbors, unit, cost, count)
        self._charge(charge, what)

    def check(
        self, epsilon: Number, delta: Number = 0.0, *, neighbors: str = "replace", unit: str = "row", cost: Any = None
    ) -> None:
        """Raise the error that `charge` would raise now, and charge nothing.

        Parameters
        ----------
        epsilon, delta, neighbors, unit, cost
            As in `charge`.

        Raises
        ------
        BudgetExceeded, ValueError
            If the budget does not suffice; if a value is out of its range or does not match the budget.
        """
        charge = self._read_charge(epsilon, delta, neighbors, unit, cost, 1)
        self._fitting(charge)

    def foresee(
        self, epsilon: Number, delta: Number = 0.0, *, neighbors: str = "replace", unit: str | None = None
    ) -> None:
        """Raise an error if this claim does not fit, as far as that is known before the cost of the release is.

        If epsilons and deltas may simply add up, the claim must fit as a pair, even where its curves might fit.

        Parameters
        ----------
        epsilon, delta, neighbors, unit
            As in `charge`; the unit of the budget by default.

        Raises
        ------
        BudgetExceeded, ValueError
            If the claim does not fit; if a value is out of its range or does not match the budget.
        """
        charge = self._read_charge(epsilon, delta, neighbors, unit or self._unit, None, 1)
        if self._book.filter.kind in ("auto", "basic"):
            self._fitting(charge)

    def _charge(self, charge: Charge, what) -> None:
        with self._lock:
            self._book = self._fitting(charge)
            self._charges.append(charge)

    def _fitting(self, charge: Charge) -> Book:
        """Return the ledger after the charge."""
        try:
            return self._book.with_charge(charge)
        except BudgetExceeded as refusal:
            raise BudgetExceeded(str(refusal).replace("{spent}", str(self.spent))) from None

    def _read_charge(self, epsilon, delta, neighbors, unit, cost, count) -> Charge:
        check_neighbors(neighbors)
        check_unit(unit)
        pair, count = amount(epsilon, delta), checked_count("count", count)
        if neighbors != self._neighbors:
            raise ValueError(
                f"the budget is stated for neighbors={self._neighbors!r} and the charge for {neighbors!r}; "
                f"a claim under one relation does not hold at the same epsilon and delta under the other"
            )
        if unit != self._unit:
            raise ValueError(
                f"the budget protects one {self._unit} and the charge one {unit}: a claim for one does not hold for "
                "the other; for persons, fit with units= and rows_per_unit= (--unit and --rows-per-unit), or make a "
                f'budget of unit="{unit}"'
            )
        self._check_process()
        cost = tuple(cost) if cost else _cost_of_pair(pair)
        return Charge(pair, cost, count, self._part)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                f"a Budget charges only in the process that made it: what a copy spends would be lost. {_REMEDY}"
            )

    def to_dict(self) -> dict:
        """Return the ledger as a dictionary that JSON can hold, its numbers as exact fractions in strings.

        Returns
        -------
        dict
        """
        epsilon, delta = self._book.filter.total.as_fractions()
        return {
            "epsilon": str(epsilon),
            "delta": str(delta),
            "neighbors": self._neighbors,
            "unit": self._unit,
            "composition": self._how[0],
            "pairs": [str(number) for number in self._how[1].as_fractions()],
            "book": self._book.to_dict(),
            "charges": [
                [
                    *map(str, charge.pair.as_fractions()),
                    [each.to_list() for each in charge.cost],
                    charge.count,
                    charge.part,
                ]
                for charge in tuple(self._charges)
            ],
        }

    @classmethod
    def from_dict(cls, state: dict) -> "Budget":
        """Return the ledger that `to_dict` wrote, for one process; do not charge the old one any more.

        Parameters
        ----------
        state : dict

        Returns
        -------
        Budget
        """
        how = {"unit": state["unit"], "composition": state["composition"], "pairs": [*map(Fraction, state["pairs"])]}
        budget = cls(Fraction(state["epsilon"]), Fraction(state["delta"]), neighbors=state["neighbors"], **how)
        charges = [
            Charge(amount(Fraction(epsilon), Fraction(delta)), tuple(Cost(*each) for each in cost), count, part)
            for epsilon, delta, cost, count, part in state["charges"]
        ]
        if "book" in state:  # as another processor may have computed it
            budget._book, budget._charges = Book.from_dict(state["book"]).verify(budget._book, charges), charges
        else:
            for charge in charges:
                budget._charge(charge, None)
        return budget

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _read_only_ledger, (self.to_dict(),)

    def __repr__(self):
        person = "" if self._unit == "row" else f", unit={self._unit!r}"
        (spent, at), (left, other) = self.spent, self.left
        account = f"spent {(spent, at)}, left {(left, other)}"
        if not self._book.adds_up:
            account = (
                f"spent epsilon {spent:.6g} by all charges at delta {at:g}, left for a further fit epsilon up to "
                f"{left:.6g} at its own delta {other:g}"
            )
        return f"Budget(epsilon={self.epsilon}, delta={self.delta}, neighbors={self._neighbors!r}{person}; {account})"


class Part(Budget):
    """A budget of a part of the table: `Budget.part`."""

    def __init__(self, whole: Budget, name: str | None):
        self._whole, self._part = whole, name
        self._neighbors, self._unit = whole.neighbors, whole.unit

    @property
    def _book(self) -> Book:  # type: ignore[override]
        return self._whole._book

    @property
    def _charges(self) -> list[Charge]:  # type: ignore[override]
        return [charge for charge in self._whole._charges if charge.part in (None, self._part)]

    def _described(self) -> list[dict[str, Any]]:
        return [each for each in self._whole._described() if each.get("part") in (None, self._part)]

    def part(self, name: str, *, persons_apart: bool = False) -> Budget:
        raise ValueError(f"{name!r} would be a part of a part: make it a part of the whole")

    def _charge(self, charge: Charge, what) -> None:
        self._whole._charge(charge, what)

    def _check_process(self) -> None:
        self._whole._check_process()

    def to_dict(self) -> dict:
        raise ValueError("a part has no ledger of its own: keep that of the whole")

    def __reduce__(self):
        return Part, (self._whole, self._part)


class Pairs(Part):
    """`Budget.as_pairs`."""

    def __init__(self, whole: Budget):
        super().__init__(whole, whole._part)

    def as_pairs(self) -> Budget:
        return self

    def _described(self) -> list[dict[str, Any]]:
        return self._whole._described()

    def part(self, name: str, *, persons_apart: bool = False) -> Budget:
        return Pairs(self._whole.part(name, persons_apart=persons_apart))

    @property
    def _charges(self) -> list[Charge]:  # type: ignore[override]
        return self._whole._charges

    def _read_charge(self, epsilon, delta, neighbors, unit, cost, count) -> Charge:
        return super()._read_charge(epsilon, delta, neighbors, unit, None, count)

    def __reduce__(self):
        return Pairs, (self._whole,)


@lru_cache(maxsize=256)
def _cost_of_pair(pair: Amount) -> tuple[Cost, ...]:
    """Return the cost of a claim of which only (epsilon, delta) is known."""
    return (pair_cost(*pair.above()),)


_REMEDY = (
    "Open a budget that is a file (Budget.open), or use n_jobs=1 or "
    'joblib.parallel_config(backend="threading"), or charge by hand before starting other '
    "processes and fit there without the budget, or save the ledger with to_dict() and resume it with "
    "from_dict()"
)


def _read_only_ledger(state: dict) -> Budget:
    """Return a ledger for reading only, since no process has this number."""
    budget = Budget.from_dict(state)
    budget._process = None
    return budget
