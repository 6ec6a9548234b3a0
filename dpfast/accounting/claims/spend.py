"""Privacy claims, which are printed, stored and composed, and warnings of weak ones."""

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from types import FrameType
from typing import NamedTuple

import dpfast
from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.numbers import (
    RELATIONS,
    SMALLEST_DELTA,
    check_neighbors,
    check_unit,
    count,
    decimal_above,
    exact,
    round_up_to_decimal,
)

_ROUNDED = 1e-3  # of a claim's epsilon, or of its delta, by which its cost may exceed it: composed by a looser bound
_MOST_COSTS, _MOST_COVERS = 500, 8  # of a claim in a file, covers with their times: composed in half a second
_NEAR = 0.75  # of a claim's epsilon, which the costs of all fits prove, unless noise is calibrated as in a paper


class Release(NamedTuple):
    """The number of paid releases that a fit has made, e.g. ``Release("rules", 25, 25)``.

    Attributes
    ----------
    name : str
        What was released.
    used : int
        Releases made.
    of : int
        Releases paid for.
    """

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
    cost : sequence of Cost
        What was spent, as the curve that it is, for composition; by default the pair (epsilon, delta).
    unit : {"row", "person"}
        What neighbouring tables differ in: one row, or all rows of one person.
    rows_per_unit : int, >= 1, or None
        At most so many rows of a person were used; only for persons.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Examples
    --------
    >>> print(PrivacySpend(1.0, 1e-6, "replace", [Release("rules", 25, 25)]))
    (1.0, 1e-06)-DP, replace one row; 25 of 25 releases used
    >>> print(PrivacySpend(1.0, 1e-6, "add-remove", unit="person", rows_per_unit=5))
    (1.0, 1e-06)-DP, add or remove one person with at most 5 rows
    """

    epsilon: float
    delta: float
    neighbors: str
    events: tuple[Release, ...] = ()
    reproducible: bool = False
    cost: tuple[Cost, ...] = ()
    unit: str = "row"
    rows_per_unit: int | None = None

    def __post_init__(self):
        check_neighbors(self.neighbors)
        events = tuple(Release(*event) for event in self.events)
        for event in events:
            integers = isinstance(event.used, Integral) and isinstance(event.of, Integral)
            if not isinstance(event.name, str) or not integers or not 0 <= event.used <= event.of:
                raise ValueError(f"a release must have a name and 0 <= used <= of, got {event}")
        if not isinstance(self.reproducible, bool):
            raise ValueError(f"reproducible must be True or False, got {self.reproducible!r}")
        object.__setattr__(self, "epsilon", round_up_to_decimal("epsilon", self.epsilon))
        object.__setattr__(self, "delta", round_up_to_decimal("delta", self.delta, below=1))
        object.__setattr__(self, "events", events)
        check_unit(self.unit)
        if (self.rows_per_unit is None) != (self.unit == "row"):
            raise ValueError(f"rows_per_unit goes with persons, got {self.rows_per_unit!r} for unit={self.unit!r}")
        if self.rows_per_unit is not None:
            object.__setattr__(self, "rows_per_unit", count("rows_per_unit", self.rows_per_unit))
        cost = tuple(self.cost) or (pair_cost(self.epsilon, self.delta),)
        if not all(isinstance(each, Cost) for each in cost):
            raise ValueError(f"cost must be a sequence of dpfast.accounting.Cost, got {self.cost!r}")
        object.__setattr__(self, "cost", cost)

    def __str__(self):
        claim = f"({self.epsilon}, {self.delta or 0})-DP, {self.relation}"
        if self.events:
            used, of = sum(event.used for event in self.events), sum(event.of for event in self.events)
            claim += f"; {used} of {of} releases used"
        if self.reproducible:
            claim += "; drawn with a seed: reproducible, not private"
        return claim

    @property
    def relation(self) -> str:
        """Return in words how neighbouring tables differ."""
        if self.unit == "row":
            return RELATIONS[self.neighbors]
        rows = "1 row" if self.rows_per_unit == 1 else f"{self.rows_per_unit} rows"
        return RELATIONS[self.neighbors].replace("row", f"person with at most {rows}")

    def to_dict(self) -> dict:
        """Return the claim as a dictionary that JSON can hold.

        Returns
        -------
        dict
            The fields of the claim by their names.
        """
        events, cost = [event._asdict() for event in self.events], [each.to_list() for each in self.cost]
        return vars(self) | {"events": events, "cost": cost}

    @classmethod
    def from_dict(cls, state: dict) -> "PrivacySpend":
        """Return the claim that `to_dict` wrote.

        Parameters
        ----------
        state : dict

        Returns
        -------
        PrivacySpend
        """
        read = {"events": tuple(Release(**event) for event in state["events"])}
        return cls(**{**state, **read, "cost": tuple(Cost(*each) for each in state.get("cost", ()))})


def claim_of_file(state: dict, *, part: bool = False) -> PrivacySpend:
    """Return a claim as a file holds it, checked: its cost must prove it.

    A cost that proves much more than the claim is replaced by the pair (epsilon, delta), which the claim says: nobody
    could tell a generous claim from a cost that was made smaller. So is a cost of so many different parts that to
    compose them would take long. The cost of a `part` of a fit may be any part.
    """
    claim = PrivacySpend.from_dict(state)
    covers = sum(cost.times for cost in claim.cost if cost.kind == "cover")
    if len({*claim.cost}) > _MOST_COSTS or covers > _MOST_COVERS:
        return replace(claim, cost=())
    composed, most = Composed(claim.cost), 1 + _ROUNDED
    proved = composed.epsilon(float(claim.delta))
    above = proved > claim.epsilon * most + SMALLEST_DELTA
    if above and composed.delta(float(claim.epsilon)) > claim.delta * most:
        raise ValueError(f"the cost of the model proves epsilon = {proved:g}, and its claim says {claim.epsilon:g}")
    return claim if part or proved >= _NEAR * claim.epsilon else replace(claim, cost=())


def pair_cost(epsilon: float, delta: float) -> Cost:
    """Return the cost of a claim of which only (epsilon, delta) is known."""
    size = round_up_to_decimal("epsilon", epsilon)
    return Cost("pair", size, delta=round_up_to_decimal("delta", delta, below=1)) if delta else Cost("pure", size)


def compose(claims: Iterable[PrivacySpend], *, delta: float | None = None) -> PrivacySpend:
    """Return the claim of several releases about the same rows together.

    Parameters
    ----------
    claims : iterable of PrivacySpend
        `privacy_` of models, of one unit and one relation `neighbors`.
    delta : float in [0, 1), optional
        The delta at which epsilon is stated. By default the largest delta of the claims, or the sum of the deltas of
        claims that have only a pair, if that is larger.

    Returns
    -------
    PrivacySpend
        It has the costs of all claims, and the least epsilon that `dpfast.accounting.claims.composition` proves.

    Raises
    ------
    ValueError
        If there is no claim, the claims have different relations or units, or no epsilon holds at that delta.

    Notes
    -----
    The releases may be chosen one after another, but their costs must have been fixed in advance. If costs were chosen
    by earlier results, too, charge a `Budget`.

    Examples
    --------
    >>> five = [PrivacySpend(1.0, 1e-6, "replace", cost=[Cost("gaussian", 0.2367)])] * 5
    >>> round(compose(five).epsilon, 2)
    2.4
    """
    claims = list(claims)
    if not claims:
        raise ValueError("claims is empty: there is nothing to compose")
    if not all(isinstance(claim, PrivacySpend) for claim in claims):
        raise ValueError("claims must be PrivacySpend, as privacy_ of a model is")
    kinds = {(claim.neighbors, claim.unit) for claim in claims}
    if len(kinds) > 1:
        raise ValueError(f"claims must be for one relation and one unit, got {sorted(kinds)}")
    costs = tuple(cost for claim in claims for cost in claim.cost)
    if delta is None:
        pairs = decimal_above(_total(exact("delta", cost.delta) * cost.times for cost in costs if cost.kind == "pair"))
        largest = max(claim.delta for claim in claims)
        curves = any(cost.pure == float("inf") and cost.kind != "pair" for cost in costs)
        delta = max(largest, pairs + (largest if curves else 0))
    epsilon = Composed(costs).epsilon(float(delta))
    if sum(exact("delta", claim.delta) for claim in claims) <= exact("delta", delta, below=1):
        epsilon = min(epsilon, decimal_above(_total(exact("epsilon", claim.epsilon) for claim in claims)))
    if epsilon == float("inf"):
        raise ValueError(f"no epsilon holds at delta={delta!r}: the claims' own deltas are more")
    events = tuple(event for claim in claims for event in claim.events)
    (neighbors, unit), rows = kinds.pop(), max((claim.rows_per_unit or 0 for claim in claims), default=0)
    reproducible = any(claim.reproducible for claim in claims)
    return PrivacySpend(epsilon, delta, neighbors, events, reproducible, costs, unit, rows or None)


def _total(numbers: Iterable[Fraction]) -> Fraction:
    return sum(numbers, Fraction())


class PrivacyWarning(UserWarning):
    """A claim of privacy is true, but may protect less than its reader thinks."""


class DiscoveryWarning(UserWarning):
    """Warning of a fit that was made: of most of its columns nothing was discovered. It follows from releases alone."""


def warn(message: str, category: type[Warning] = PrivacyWarning) -> None:
    """Issue a warning at the line of the user's code that called dpfast."""
    level = 1
    frame: FrameType | None = sys._getframe()
    inside = dpfast.__path__[0]
    while frame is not None and (
        frame.f_code.co_filename.startswith(inside) or frame.f_globals.get("__name__", "").startswith(_BETWEEN)
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_claim(epsilon: float, delta: float, n: int | None = None) -> None:
    """Warn of an epsilon above 10 and, if the number of rows n is public, of a delta of at least 1 / n."""
    if epsilon > 10:
        warn(f"epsilon = {epsilon:g} promises next to nothing: above 10 a row may be nearly certain; use a smaller one")
    if n is not None and delta * n >= 1:
        warn(
            f"delta = {delta:g} is at least one over {n:,}, the number of rows; publishing a random row would satisfy "
            "this claim: use a much smaller delta"
        )


def warn_of_width() -> None:
    """Warn that the number of columns follows from the rows, as in a file that contains only the columns in use."""
    warn("the number of columns was read off the rows, and is published: declare it by n_features= (--columns)")


def warn_of_repeated_rows(X) -> None:
    """Warn if two rows of a DataFrame have the same label in its index; no values are examined."""
    if not getattr(getattr(X, "index", None), "is_unique", True):
        warn(
            "several rows have the same label in the index. If they are copies of a row, or belong to one person, the "
            "claim covers only one of them: keep one row of each"
        )


def warn_of_caller(charged: bool) -> None:
    """Warn if scikit-learn makes this fit as one of many; `charged` says whether a budget counts them all."""
    frame: FrameType | None = sys._getframe()
    warning = None
    while frame is not None and warning is None:
        name = frame.f_globals.get("__name__")
        ensemble = frame.f_locals.get("ensemble") if name == _BAGGING else None
        if getattr(ensemble, "bootstrap", False):
            warning = (
                "this ensemble draws a row several times into one fit, and the row then affects it several times; "
                "besides, each fit is a separate release: fit once on all rows, or set bootstrap=False and charge all "
                "fits to one budget"
            )
        elif name in _SEARCHES:
            warning = (
                "a search or a cross-validation fits many times and looks at rows to choose; the claim of a single fit "
                "does not cover that: dpfast.model_selection.private_search states its total cost"
            )
        elif name in _ENSEMBLES and not charged:
            warning = (
                "the caller fits many times, and the claim is for one fit: give all fits one budget, which counts them"
            )
        frame = frame.f_back
    if warning is not None:
        warn(warning)


_BAGGING = "sklearn.ensemble._bagging"
_SEARCHES = {
    f"sklearn.{name}"
    for name in ("model_selection._validation", "model_selection._search", "feature_selection._sequential")
}
_ENSEMBLES = {
    f"sklearn.{name}"
    for name in (
        "calibration", "ensemble._bagging", "ensemble._stacking", "ensemble._voting", "feature_selection._rfe",
        "multiclass", "multioutput",
    )
}  # fmt: skip
_BETWEEN = "contextlib", "sklearn.callback"  # modules between a call and the code that it runs
