"""The book of a budget: a filter, and what was charged to a table and to parts of it."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from .composition import Composed
from .costs import Cost
from .filters import FILTERS, BudgetExceeded, Filter
from .numbers import NOTHING, Amount, Sums, amount, check_neighbors, check_unit


class Charge(NamedTuple):
    """A charge made `count` times."""

    pair: Amount
    cost: tuple[Cost, ...]
    count: int = 1  # type: ignore[assignment]  # for that of tuples
    part: str | None = None


class Book(NamedTuple):
    """A filter, and the sums of what was charged to the whole table and to parts of it."""

    filter: Filter
    whole: Sums = Sums()
    parts: dict[str, Sums] = {}  # noqa: RUF012 - never changed in place

    def charged(self, charge: Charge) -> "Book":
        """Return the ledger after a charge; raise BudgetExceeded if it does not fit."""
        settled = self.filter
        if settled.kind == "auto" and charge.pair.delta:
            settled = settled.settled(charge.cost, self.sums(None).pairs)
        asked = settled.measure(charge.cost, charge.pair)
        book = Book(settled, self.whole, self.parts)
        if charge.part is None:
            book = book._replace(whole=self.whole.plus(asked, charge.count))
        else:
            own = self.parts.get(charge.part, Sums()).plus(asked, charge.count)
            book = book._replace(parts=self.parts | {charge.part: own})
        if not settled.fits(book.sums(charge.part)):
            raise BudgetExceeded(
                f"the charge {_times(charge)} does not fit: of (epsilon, delta) = {settled.total.below()}, "
                f"spent {{spent}}, left {self.left(charge.part)}; nothing was charged"
            )
        return book

    def sums(self, part: str | None) -> Sums:
        """Return the sums of the whole and one part; without a part, at least those of the whole and any part."""
        if part is not None:
            return self.whole.plus(self.parts.get(part, Sums()))
        if not self.parts:
            return self.whole
        every = list(self.parts.values())
        epsilon = max(Fraction(each.pairs.epsilon, each.pairs.over) for each in every)
        delta = max(Fraction(each.pairs.delta, each.pairs.over) for each in every)
        most = Sums(amount(epsilon, delta), max(each.curve for each in every), max(each.apart for each in every))
        return self.whole.plus(most)

    def left(self, part: str | None) -> tuple[float, float]:
        return self.filter.left(self.sums(part))

    def spent(self, charges: Callable[[], Sequence[Charge]], part: str | None) -> tuple[float, float]:
        """Return the exact amount spent for a basic filter, else that of all costs at the budget's delta."""
        if self.filter.kind in ("auto", "basic"):
            return self.sums(part).pairs.above()
        every, delta = charges(), self.filter.total.below()[1]
        parts = {charge.part for charge in every} - {None} if part is None else {part}
        return max((_composed(every, each, delta) for each in parts or {None}), default=(0.0, 0.0))

    def to_dict(self) -> dict:
        return {
            "total": [str(number) for number in self.filter.total],
            "filter": self.filter.kind,
            "pairs": [str(number) for number in self.filter.pairs],
            "whole": self.whole.to_list(),
            "parts": {name: sums.to_list() for name, sums in self.parts.items()},
        }

    @classmethod
    def from_dict(cls, state: dict) -> "Book":
        total, pairs = (Amount(*map(int, state[name])) for name in ("total", "pairs"))
        if state["filter"] not in FILTERS:
            raise ValueError(f"unknown filter {state['filter']!r}")
        parts = {name: Sums.from_list(sums) for name, sums in state["parts"].items()}
        return cls(Filter(total, state["filter"], pairs), Sums.from_list(state["whole"]), parts)


def new_book(epsilon, delta, neighbors, unit, composition, pairs) -> Book:
    """Return an empty ledger; refuse invalid values."""
    check_neighbors(neighbors)
    check_unit(unit)
    if composition not in FILTERS:
        raise ValueError(f"composition must be one of {', '.join(FILTERS)}, got {composition!r}")
    total, aside = amount(epsilon, delta), amount(*pairs)
    if total.epsilon == 0:
        raise ValueError(f"the epsilon of a budget must be > 0, got {epsilon!r}")
    left = total.plus(aside, -1)
    if left.epsilon <= 0 or left.delta < 0 or (composition in ("gaussian", "renyi") and not left.delta):
        raise ValueError(
            f"{composition!r} composition needs an epsilon and a delta beside the pairs set aside, got {epsilon!r}, "
            f"{delta!r} and pairs={pairs!r}"
        )
    return Book(Filter(total, composition, NOTHING if composition == "basic" else aside))


def _composed(charges: Sequence[Charge], part: str | None, delta: float) -> tuple[float, float]:
    """Return the composed costs of the whole and one part."""
    own = [charge for charge in charges if charge.part in (None, part)]
    if not own:
        return 0.0, 0.0
    return Composed(costs_of(own)).epsilon(delta), delta


def costs_of(charges: Sequence[Charge]) -> tuple[Cost, ...]:
    return tuple(
        Cost(cost.kind, cost.size, cost.times * charge.count, cost.delta) for charge in charges for cost in charge.cost
    )


def _times(charge: Charge) -> str:
    return f"{charge.pair.above()}" + (f", {charge.count:,} times," if charge.count > 1 else "")
