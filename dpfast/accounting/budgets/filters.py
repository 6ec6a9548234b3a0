"""Privacy filters, which decide whether one more release fits; it and its cost may depend on all earlier releases.

A filter keeps a sum and refuses what would bring it above a bound that was settled beforehand. Three are proved, for
total (E, d), each against any rule, adaptive in every way, by which releases and their costs are chosen:

    basic       epsilons add up to E at most, deltas to d (Rogers, Roth, Ullman, Vadhan, "Privacy Odometers and
                Filters", 2016, Theorem 3.6).
    gaussian    squares of mu add up to mu^2 at most, where mu-Gaussian DP is (E, d')-DP (Smith, Thakurta, "Fully
                Adaptive Composition for Gaussian Differential Privacy", 2022; Koskela, Tobaben, Honkela, "Individual
                Privacy Accounting with Gaussian Differential Privacy", 2023). d' is d less its 2^10th part, for (1 +
                e^E) times the total variations of all costs, which add up too: the coupling of
                `dpfast.accounting.discrete_gaussian_delta`, step by step.
    renyi       divergences of one order 1 + b, fixed beforehand, add up to the D at most for which (1) of
                `dpfast.accounting.curves.zcdp` gives (E, d) (Feldman, Zrnic, "Individual Privacy Accounting via a Renyi
                Filter", 2021, Theorem 3.1). b is that at which most fits of what is zCDP.

What a cost adds to either sum is in `dpfast.accounting.claims.costs`.

**Greedy covers** count by a mu or by divergences of their laws (`dpfast.accounting.curves.dominating`). Their convolved
laws, by which `dpfast.accounting.claims.composition` counts costs that were fixed beforehand, are no filter where
outcomes choose what comes next: after a list of epsilon 1, a Gaussian release or a list of one draw may each make 1e-6
at epsilon 2 together with it, and chosen by its outcome they make 1.9e-6.

**Pairs on top.** What is set aside for pairs, (E_p, d_p), is another basic filter; the curve's is one of (E - E_p,
d - d_p).

**"auto".** Such a filter is settled by the first charge whose delta is not 0: gaussian or renyi, whichever that
charge takes the smaller share of, and basic if it has nothing but a pair, or fits neither, or has a greedy cover and
takes the smallest share of it. Until then epsilons add
up, to E_0 say, and the filter is one of (E - E_0, d). If the charge has a pair of epsilon 0 beside a curve, as words
that a threshold publishes are, half of the delta that is left is set aside for such pairs.

**Parts.** Tables that have no row in common and that together are one table (no row, and under "replace" no change of
a row, moves another row from one part to another, or itself) may be charged as parts: the sum of the whole and of
each part is bounded.

docs/proofs_privacy.md has the proofs. The bounds are exact sums of integers; a charge counts rounded up, a bound
rounded down. The `Book` of a budget has a filter, and what was charged to a table and to parts of it.

**Other processors.** Bounds and curves are computed by libm, whose last bits depend on the processor. What a charge
added, and the order and bounds of a filter, are therefore stored as they were computed, and are never computed anew:
sums of Renyi divergences hold for one order only. `Book.verify` compares them with what this processor computes, on
the side that privacy needs, up to one part in 2^30; each of them has a margin above the errors of libm.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.zcdp import SLACK, gaussian_delta, gaussian_epsilon, zcdp_epsilon, zcdp_rho
from dpfast.accounting.numbers import NOTHING, Amount, amount, check_neighbors, check_unit

UNIT = 1 << 120  # curves are counted in units of 1 / this
FILTERS = ("auto", "basic", "gaussian", "renyi")
_APART = Fraction(1, 1 << 10)  # of delta, for total variations
_DRIFT = 30  # values of two processors differ by less than their 2^-30th part
_FAR_DRIFT = 20  # as much for sums that were not stored, which hold for the best order as each processor finds it
_OTHER_FILTER = "its filter is not that of its charges"
_OTHER_SUMS = "its sums are not those of its charges"


class Sums(NamedTuple):
    """Everything that was charged: pairs, and curves and total variations in units of 1 / UNIT."""

    pairs: Amount = NOTHING
    curve: int = 0
    apart: int = 0

    def plus(self, other: "Sums", times: int = 1) -> "Sums":
        return Sums(
            self.pairs.plus(other.pairs, times), self.curve + times * other.curve, self.apart + times * other.apart
        )

    def to_list(self) -> list[str]:
        """Return the exact amount for JSON."""
        return [str(number) for number in (*self.pairs, self.curve, self.apart)]

    @classmethod
    def from_list(cls, saved: list[str]) -> "Sums":
        epsilon, delta, over, curve, apart = map(int, saved)
        return cls(Amount(epsilon, delta, over), curve, apart)


class Bounds(NamedTuple):
    """What the curve of a filter may add up to, in units of 1 / UNIT, and b, the order less 1, of "renyi"."""

    order: float
    curve: int
    apart: int

    def to_list(self) -> list[str]:
        """Return the exact values for JSON."""
        return [self.order.hex(), str(self.curve), str(self.apart)]

    @classmethod
    def from_list(cls, saved: list[str]) -> "Bounds":
        order, curve, apart = saved
        return cls(float.fromhex(order), int(curve), int(apart))


COMPOSED = " (costs compose to less than their sum, so spent and left do not add up to the budget)"


class BudgetExceeded(ValueError):
    """A charge was refused because it did not fit into what was left; nothing was charged."""


@dataclass(frozen=True)
class Filter:
    """State of a filter, from which it follows what may still be charged.

    Attributes
    ----------
    total : Amount
    kind : {"auto", "basic", "gaussian", "renyi"}
        "auto" is not settled yet.
    pairs : Amount
        Set aside for what has only a pair; 0 for "basic".
    stored : Bounds, optional
        The bounds of the curve if another process computed them.
    """

    total: Amount
    kind: str
    pairs: Amount = NOTHING
    stored: Bounds | None = field(default=None, compare=False)

    def fix_by(self, costs: Sequence[Cost], pair: Amount, before: Amount) -> "Filter":
        """Return the filter that a first charge with a delta fixes, after pure charges that add up to `before`.

        `pair` is what the charge claims.
        """
        *curves, basic = self.choices(costs, before)
        shares = {}
        for curve in curves:
            sums = curve.measure(costs, NOTHING).plus(Sums(before))
            if curve.fits(sums):
                shares[curve] = curve._share(sums)
        if any(cost.kind == "cover" for cost in costs):  # a long list is far from Gaussian
            shares[basic] = max(
                Fraction(part, whole) if whole else Fraction(part > 0)
                for part, whole in zip(before.plus(pair).as_fractions(), self.total.as_fractions(), strict=True)
            )
        return min(shares, key=lambda curve: shares[curve], default=basic)

    def choices(self, costs: Sequence[Cost], before: Amount) -> list["Filter"]:
        """Return the filters that such a charge may fix, the basic one last."""
        own = [cost for cost in costs if not (cost.kind == "pair" and cost.delta)]
        finite = {
            "gaussian": sum(cost.gaussian for cost in own) < math.inf,
            "renyi": sum(cost.renyi(1.0) for cost in own) < math.inf,
        }
        aside = self.pairs.plus(before)
        if any(cost.kind == "pair" and cost.delta and not cost.size for cost in costs):
            rest = self.total.plus(aside, -1)
            aside = aside.plus(Amount(0, max(0, rest.delta), 2 * rest.over))
        left, curves = self.total.plus(aside, -1), []
        if own and left.epsilon > 0 and left.delta > 0:
            curves = [replace(self, kind=kind, pairs=aside) for kind in finite if finite[kind]]
        return [*curves, replace(self, kind="basic", pairs=NOTHING)]

    def measure(self, costs: Sequence[Cost], pair: Amount) -> Sums:
        """Return what a charge adds; `pair` is its claim, which counts if the filter is basic."""
        if not self.curved:
            return Sums(pair)
        pairs, curve, apart = NOTHING, 0, 0
        for cost in costs:
            if cost.kind == "pair" and cost.delta:
                pairs = pairs.plus(amount(cost.size, cost.delta), cost.times)
                continue
            bound = cost.gaussian if self.kind == "gaussian" else cost.renyi(self.bounds.order)
            if bound == math.inf:
                raise BudgetExceeded(
                    f'a cost of the kind "{cost.kind}" is not counted by a {self.kind} filter, as this budget has: '
                    f'make the budget with composition="renyi" or "basic"; nothing was charged'
                )
            curve += _units_above(bound)
            if self.kind == "gaussian" and cost.delta:
                apart += _units_above(cost.delta * cost.times * (1 + SLACK))
        return Sums(pairs, curve, apart)

    @property
    def curved(self) -> bool:
        """Return whether curves are counted, and not only pairs."""
        return self.kind in ("gaussian", "renyi")

    def fits(self, sums: Sums, drift: int = 0) -> bool:
        """Return whether these sums are within the bounds, up to their 2^-drift-th part if that is not 0."""
        if not self.curved:
            return sums.pairs.within(self.total)
        if drift:
            sums = sums._replace(curve=_less(sums.curve, drift), apart=_less(sums.apart, drift))
        return sums.pairs.within(self.pairs) and sums.curve <= self.bounds.curve and sums.apart <= self.bounds.apart

    def _share(self, sums: Sums) -> Fraction:
        """Return the larger share of the curve's two bounds that is used."""
        apart = Fraction(sums.apart, self.bounds.apart) if sums.apart else Fraction(0)
        return max(Fraction(sums.curve, self.bounds.curve), apart)

    def compute_left(self, sums: Sums) -> tuple[float, float]:
        """Return (epsilon, delta) of a charge that still fits, rounded down: a pair, or a Gaussian or zCDP cost."""
        if not self.curved:
            return self.total.plus(sums.pairs, -1).below()
        curve, delta = (self.bounds.curve - sums.curve) / UNIT, self._core[1]
        if curve <= 0:
            return 0.0, 0.0
        if self.kind == "gaussian":
            epsilon = gaussian_epsilon(1.0, delta, sensitivity=math.sqrt(curve))
        else:
            epsilon = zcdp_epsilon(curve / (1 + self.bounds.order), delta)
        return max(0.0, epsilon * (1 - 1e-9)), delta

    @cached_property
    def bounds(self) -> Bounds:
        """Return the bounds of the curve, as they were first computed."""
        return self.stored or self._bounds_at(self._best_order() if self.kind == "renyi" else 0.0)

    def _bounds_at(self, order: float) -> Bounds:
        """Return the bounds as this processor computes them."""
        epsilon, delta = self._core
        if self.kind == "renyi":
            most = max(0, _units_below(self._bound(order)))
        else:
            spared = delta * float(1 - _APART) * (1 - SLACK)
            mu = largest(lambda mu: gaussian_delta(1.0, epsilon, sensitivity=mu), spared)
            most = _units_below(min(mu, 1e154) ** 2 * (1 - SLACK))  # whose square is a float
        return Bounds(
            order, most, _units_below(delta * float(_APART) / (1 + math.exp(min(epsilon, 700.0))) * (1 - SLACK))
        )

    def verify(self) -> None:
        """Refuse stored bounds above those that this processor computes."""
        if not self.curved:
            return
        bounds = self.bounds
        if self.kind == "renyi" and not 0 < bounds.order < math.inf:
            raise ValueError(f"its order is {bounds.order}")
        own = self._bounds_at(bounds.order)
        if _less(bounds.curve, _DRIFT) > own.curve or _less(bounds.apart, _DRIFT) > own.apart:
            raise ValueError("its bounds are not those of its epsilon and delta")

    def _best_order(self) -> float:
        """Return the b at which most fits of what is zCDP."""
        epsilon, delta = self._core
        rho = zcdp_rho(epsilon, delta)
        low, high = 1e-6, 1e9
        for _ in range(200):  # the bound on rho is unimodal in ln b
            a, c = low ** (2 / 3) * high ** (1 / 3), low ** (1 / 3) * high ** (2 / 3)
            low, high = (a, high) if self._bound(a) / (1 + a) < self._bound(c) / (1 + c) else (low, c)
        near = math.sqrt(math.log(1 / delta) / rho) if rho else 0.0  # rho is 0 where no float is small enough
        return max((low, near or low), key=lambda b: self._bound(b) / (1 + b))

    def _bound(self, b: float) -> float:
        """Return D of order 1 + b."""
        epsilon, delta = self._core
        tail = (math.log(delta) + b * math.log1p(1 / b) + math.log1p(b)) / b
        return epsilon + tail - 8 * SLACK * (epsilon + (abs(math.log(delta)) + 2 * math.log1p(b) + 1) / b + 1)

    @cached_property
    def _core(self) -> tuple[float, float]:
        """Return the epsilon and delta of the curve, rounded down."""
        return self.total.plus(self.pairs, -1).below()


class Charge(NamedTuple):
    """A charge made `count` times; `sums` is what it added each time, if that is stored."""

    pair: Amount
    cost: tuple[Cost, ...]
    count: int = 1  # type: ignore[assignment]  # for that of tuples
    part: str | None = None
    sums: Sums | None = None


class Book(NamedTuple):
    """A filter, and the sums of what was charged to the whole table and to parts of it."""

    filter: Filter
    whole: Sums = Sums()
    parts: dict[str, Sums] = {}  # noqa: RUF012 - never changed in place

    def with_charge(self, charge: Charge) -> "Book":
        """Return the ledger after a charge; raise BudgetExceeded if it does not fit."""
        settled = self.filter
        if settled.kind == "auto" and charge.pair.delta:
            settled = settled.fix_by(charge.cost, charge.pair, self.sums(None).pairs)
        book = self._plus(settled, charge, settled.measure(charge.cost, charge.pair))
        if not settled.fits(book.sums(charge.part)):
            left = f"left {self.compute_left(charge.part)}"
            if not self.adds_up:
                left = f"left for a further fit {self.compute_left(charge.part)}{COMPOSED}"
            raise BudgetExceeded(
                f"the charge {_times(charge)} does not fit: of (epsilon, delta) = {settled.total.below()}, "
                f"spent {{spent}}, {left}; nothing was charged"
            )
        return book

    @property
    def adds_up(self) -> bool:
        """Return whether what is spent and what is left add up to the budget, as they do not where costs compose."""
        return self.filter.kind in ("auto", "basic")

    def _plus(self, settled: Filter, charge: Charge, sums: Sums) -> "Book":
        """Return the ledger after a charge that adds so much, under the filter that is settled by then."""
        if charge.part is None:
            return Book(settled, self.whole.plus(sums, charge.count), self.parts)
        own = self.parts.get(charge.part, Sums()).plus(sums, charge.count)
        return Book(settled, self.whole, self.parts | {charge.part: own})

    def verify(self, first: "Book", charges: Iterable[Charge]) -> "Book":
        """Return the sums of these charges to a new ledger `first`; refuse if they are not those of this ledger.

        What is computed by libm may differ a little, as the module's documentation says; everything else is exact.
        """
        book, exactly = first, True
        for charge in charges:
            settled = book.filter
            if settled.kind == "auto" and charge.pair.delta:
                settled = self._one_of(settled.choices(charge.cost, book.sums(None).pairs))
            elif settled.curved:
                settled = self._one_of([settled])
            own = settled.measure(charge.cost, charge.pair)
            sums = own if charge.sums is None else charge.sums
            exactly = exactly and charge.sums is not None
            if sums.pairs != own.pairs or not (
                sums.curve >= _less(own.curve, _DRIFT) and sums.apart >= _less(own.apart, _DRIFT)
            ):
                raise ValueError("a charge did not add what it costs")
            book = book._plus(settled, charge, sums)
        whole = self._one_of([book.filter])
        if first.filter.stored not in (None, whole.stored):
            raise ValueError(_OTHER_FILTER)
        if book.parts.keys() != self.parts.keys():
            raise ValueError(_OTHER_SUMS)
        for part in (None, *self.parts):
            own, sums = (each.whole if part is None else each.parts[part] for each in (book, self))
            if own != sums if exactly else not _are_near(own, sums):
                raise ValueError(_OTHER_SUMS)
            if not whole.fits(self.sums(part), 0 if exactly else _FAR_DRIFT):
                raise BudgetExceeded("its charges exceed its budget")
        whole.verify()
        return self if whole.stored or not whole.curved else book._replace(filter=whole)

    def _one_of(self, filters: list[Filter]) -> Filter:
        """Return the filter of this ledger, with the bounds as they were stored; refuse if it is none of these."""
        if self.filter not in filters:
            raise ValueError(_OTHER_FILTER)
        return self.filter

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

    def compute_left(self, part: str | None) -> tuple[float, float]:
        return self.filter.compute_left(self.sums(part))

    def compute_spent(self, charges: Callable[[], Sequence[Charge]], part: str | None) -> tuple[float, float]:
        """Return the exact amount spent for a basic filter, else that of all costs at the budget's delta."""
        if not self.filter.curved:
            return self.sums(part).pairs.above()
        every, delta = charges(), self.filter.total.below()[1]
        parts = {charge.part for charge in every} - {None} if part is None else {part}
        return max((_compose(every, each, delta) for each in parts or {None}), default=(0.0, 0.0))

    def to_dict(self) -> dict:
        return {
            "total": [str(number) for number in self.filter.total],
            "filter": self.filter.kind,
            "pairs": [str(number) for number in self.filter.pairs],
            "bounds": self.filter.bounds.to_list() if self.filter.curved else None,
            "whole": self.whole.to_list(),
            "parts": {name: sums.to_list() for name, sums in self.parts.items()},
        }

    @classmethod
    def from_dict(cls, state: dict) -> "Book":
        total, pairs = (Amount(*map(int, state[name])) for name in ("total", "pairs"))
        if state["filter"] not in FILTERS:
            raise ValueError(f"unknown filter {state['filter']!r}")
        parts = {name: Sums.from_list(sums) for name, sums in state["parts"].items()}
        stored = state.get("bounds") and Bounds.from_list(state["bounds"])
        return cls(Filter(total, state["filter"], pairs, stored), Sums.from_list(state["whole"]), parts)


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


def _compose(charges: Sequence[Charge], part: str | None, delta: float) -> tuple[float, float]:
    """Return the composed costs of the whole and one part."""
    own = [charge for charge in charges if charge.part in (None, part)]
    if not own:
        return 0.0, 0.0
    return Composed(costs_of(own)).epsilon(delta), delta


def costs_of(charges: Sequence[Charge]) -> tuple[Cost, ...]:
    return tuple(replace(cost, times=cost.times * charge.count) for charge in charges for cost in charge.cost)


def _times(charge: Charge) -> str:
    return f"{charge.pair.above()}" + (f", {charge.count:,} times," if charge.count > 1 else "")


def _less(sum: int, drift: int) -> int:
    """Return a sum less its 2^-drift-th part."""
    return sum - (sum >> drift)


def _are_near(one: Sums, other: Sums) -> bool:
    """Return whether pairs are equal, and other sums the same up to what two processors may differ by."""
    low, high = (tuple(map(pick, zip(one[1:], other[1:], strict=True))) for pick in (min, max))
    return one.pairs == other.pairs and all(
        least >= _less(most, _FAR_DRIFT) for least, most in zip(low, high, strict=True)
    )


def _units_above(number: float) -> int:
    """Return a float in units, rounded up."""
    return math.ceil(Fraction(number) * UNIT)


def _units_below(number: float) -> int:
    """Return a float in units, rounded down."""
    return math.floor(Fraction(number) * UNIT)
