"""Plans: all that a learner will release, as a value that follows from its parameters and public facts alone.

The noise of each release follows from the plan, by the better of these bounds:

- without Gaussian sums, epsilon is divided by the shares of the releases (basic composition); with delta > 0, all of
  them may then grow as far as their costs compose to the claim (`dpfast.accounting.claims.composition`);
- with delta > 0, counts with Laplace noise get their shares of epsilon, and all other releases have one bill for the
  rest (`dpfast.accounting.bill_noise`), which is divided by their shares of mu squared; draws may then grow in the same
  way.

**Units.** All numbers of a mechanism are for one row. For units of k rows they are multiplied by k
(`dpfast.base.units`).
"""

import math
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from dpfast.accounting import Cost, CoverDraws, Draws, NoisySums, PrivacySpend, bill_noise
from dpfast.accounting.claims.growth import growth_of
from dpfast.accounting.claims.noise import LARGEST_SCALE, changed_rows
from dpfast.accounting.numbers import (
    count,
    decimal_above,
    exact,
    exact_above,
    exact_positive,
    float_above,
    is_real,
    split,
)
from dpfast.accounting.numbers import root_above as sqrt_above

Number = int | float | Fraction


@dataclass(frozen=True)
class Task:
    """Everything public that a plan may depend on, besides the parameters of its learner.

    Parameters
    ----------
    epsilon, delta : float
        What the learner may spend; what the discovery of the table costs is already taken off.
    neighbors : {"replace", "add-remove"}
    n_columns : int
        The number of columns of the rows as the learner reads them, or the largest that a discovery may give.
    classes : tuple or None
        The classes, in order; None if they are discovered.
    n_classes : int
        The number of classes, or the largest that a discovery may give.
    sizes : tuple of int or None
        The number of codes of each column, for learners that read codes.
    reach : int or None
        For learners that read `UnitRows`: the largest norm of a row in steps of its grid.
    n_rows : int or None
        The number of rows if it is public, that is under "replace".
    rows_per_unit : int
        The largest number of rows of a privacy unit: 1 unless `fit` was given units.
    in_parts : bool
        Whether the rows lie in files or on a cluster, and not in the memory of this process.
    form : hashable
        Further public facts of the rows: what `reads.describe` returns, by default None.
    noise : tuple of float
        The noise of the parts that `PrivateClassifier.spending` names, if a discovery shares their bill; else empty.
    """

    epsilon: Number
    delta: Number = 0.0
    neighbors: str = "replace"
    n_columns: int = 1
    classes: tuple | None = None
    n_classes: int = 2
    sizes: tuple[int, ...] | None = None
    reach: int | None = None
    n_rows: int | None = None
    rows_per_unit: int = 1
    in_parts: bool = False
    form: Any = None
    noise: tuple[float, ...] = ()

    @property
    def n_codes(self) -> int:
        """Return the number of codes of all columns together."""
        if self.sizes is None:
            raise ValueError("the rows have no codes: declare reads = Codes()")
        return sum(self.sizes)

    @property
    def changed_rows(self) -> int:
        """Return how many rows leave or enter a sum between neighbours: 2 under "replace", 1 under "add-remove"."""
        return changed_rows(self.neighbors)


@dataclass(frozen=True)
class GaussianSum:
    """Sums of integers over the rows, released with discrete Gaussian noise.

    The noise is drawn in fine steps, of which at least 2^30 are as far as one row moves a sum, and the noisy sum is
    rounded. So the privacy is that of continuous Gaussian noise, up to a term that is far below delta.

    Parameters
    ----------
    moves : int, Fraction or float, > 0
        The largest change of one release between tables that differ in one row, in Euclidean norm.
    size : int, default=1
        The largest number of entries of one release.
    times : int, default=1
        The number of releases, each of which may depend on the earlier ones.
    share : float or Fraction, default=1
        The share of the budget, relative to those of the other releases of the plan.
    steps : int or None, default=None
        The number of steps of the noise in 1, a power of two; None stands for the rule above. Sums that move by about
        2^30 or more need no finer steps than 1.
    """

    moves: Number
    size: int = 1
    times: int = 1
    share: float | Fraction = 1
    steps: int | None = None

    def __post_init__(self) -> None:
        _check(self, "moves")
        if self.steps is not None and (count("steps", self.steps) & (self.steps - 1)):
            raise ValueError(f"steps must be a power of two, got {self.steps}")


@dataclass(frozen=True)
class LaplaceSum:
    """Sums of integers over the rows, released with discrete Laplace noise; the only noise of sums with delta = 0.

    Parameters
    ----------
    moves : int, Fraction or float, > 0
        The largest sum of the absolute changes of one release between tables that differ in one row.
    size, times, share
        As for `GaussianSum`.
    """

    moves: Number
    size: int = 1
    times: int = 1
    share: float | Fraction = 1

    def __post_init__(self) -> None:
        _check(self, "moves")


@dataclass(frozen=True)
class ExponentialDraw:
    """Choice of one of several candidates, with probability proportional to exp(exponent * score), exactly.

    Parameters
    ----------
    width : int, Fraction or float, > 0
        The largest change of a score minus the smallest, both with their signs, between tables that differ in one row.
    size : int, default=1
        The largest number of candidates.
    times, share
        As for `GaussianSum`.
    """

    width: Number
    size: int = 1
    times: int = 1
    share: float | Fraction = 1

    def __post_init__(self) -> None:
        _check(self, "width")


@dataclass(frozen=True)
class Proved:
    """Releases whose noise a learner computes by a theorem of its own; then all releases of its plan are such.

    Parameters
    ----------
    mechanism : {"gaussian", "laplace", "exponential", "threshold"}
        What is done with the noise: it is sigma, the scale, the exponent, or the epsilon of tests of a threshold.
    noise : float, Fraction or tuple of these
        For units of several rows, what the theorem gives for them. A tuple has the noise of each of `times` releases.
    cost : tuple of Cost
        What the releases cost, added to that of the others: releases that have a cost together name it once. If no
        release of a plan has one, the claim is (epsilon, delta) and nothing more is known of it.
    size
        As for `GaussianSum`.
    times : int or None, default=1
        The number of releases. None stands for releases that no number limits, and that no claim counts: each row pays
        only for those that it can move, as in a stream with a window. The theorem bounds these.
    steps : int, default=1
        The number of steps of Gaussian noise in 1: noisy sums are rounded to integers.
    """

    mechanism: str
    noise: Number | tuple[Number, ...]
    cost: tuple[Cost, ...] = ()
    size: int = 1
    times: int | None = 1
    steps: int = 1

    def __post_init__(self) -> None:
        if self.mechanism not in ("gaussian", "laplace", "exponential", "threshold"):
            raise ValueError(
                f'mechanism must be "gaussian", "laplace", "exponential" or "threshold", got {self.mechanism!r}'
            )
        _check(self, None)
        count("steps", self.steps)
        if isinstance(self.noise, tuple) and len(self.noise) != self.times:
            raise ValueError(f"noise must be a number for each of {self.times} releases, got {len(self.noise)}")


@dataclass(frozen=True)
class Spending:
    """How the releases of a plan are paid; it decides how a discovery before them is billed.

    The kinds are those of `dpfast.accounting.curves.opening.survey_noise`, whose `rest` the parts are.

    Parameters
    ----------
    kind : {"gaussian", "zcdp", "parts", "pair"}
        "pair" suits any releases.
    pure : float or Fraction, default=0
        The share of epsilon of releases that are pure.
    parts : tuple of NoisySums, Draws, CoverDraws or Fraction
    """

    kind: str = "pair"
    pure: float | Fraction = 0
    parts: tuple[NoisySums | Draws | CoverDraws | Fraction, ...] = ()


Mechanism = GaussianSum | LaplaceSum | ExponentialDraw | Proved


def _check(mechanism, moved):
    for name in () if moved is None else (moved, "share"):
        number = getattr(mechanism, name)
        if not (is_real(number) and 0 < number < math.inf):
            raise ValueError(f"{name} must be a finite number > 0, got {number!r}")
    count("size", mechanism.size)
    if mechanism.times is not None or not isinstance(mechanism, Proved):
        count("times", mechanism.times)


class Solved(NamedTuple):
    """The noise of each release of a plan for a task, and what all of them cost.

    Attributes
    ----------
    noise : mapping from str to float or Fraction
        For sums sigma or the scale of the noise, for draws the exponent; a tuple for `Proved` with several.
    steps : mapping from str to int
        The number of steps of Gaussian noise in 1.
    cost : tuple of Cost
    claim : PrivacySpend
        The claim, before anything is released.
    """

    noise: Mapping[str, Any]
    steps: Mapping[str, int]
    cost: tuple[Cost, ...]
    claim: PrivacySpend


class Plan(Mapping[str, Mechanism]):
    """All releases of a fit by their names, in order; it cannot be changed.

    Parameters
    ----------
    **releases : GaussianSum, LaplaceSum, ExponentialDraw or Proved
        A mechanism for each name.

    Examples
    --------
    >>> from dpfast.base import GaussianSum, Plan, Task, sqrt_up
    >>> task = Task(epsilon=1, delta=1e-6, n_columns=8, sizes=(10,) * 8, n_classes=2)
    >>> plan = Plan(histogram=GaussianSum(moves=sqrt_up(task.changed_rows * task.n_columns), size=160))
    >>> round(plan.solve(task).noise["histogram"], 2)
    16.9
    """

    def __init__(self, /, **releases: Mechanism) -> None:
        if not releases:
            raise ValueError("a plan must name at least one release")
        for name, each in releases.items():
            if not isinstance(each, Mechanism):
                raise ValueError(f"release {name!r} must be a mechanism, such as GaussianSum, got {each!r}")
        if len({isinstance(each, Proved) for each in releases.values()}) > 1:
            raise ValueError("a plan has releases with a theorem of their own, or others, and not both")
        self._releases = releases

    def __getitem__(self, name: str) -> Mechanism:
        return self._releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._releases)

    def __len__(self) -> int:
        return len(self._releases)

    def items(self) -> ItemsView[str, Mechanism]:
        """Return the names of the releases and their mechanisms, in order.

        Returns
        -------
        view of (str, Mechanism)
        """
        return self._releases.items()

    @property
    def times(self) -> dict[str, int | None]:
        """The number of releases of each name; None for those that no number limits."""
        return {name: each.times for name, each in self._releases.items()}

    def __hash__(self) -> int:
        return hash(tuple(self._releases.items()))

    def __repr__(self) -> str:
        return f"Plan({', '.join(f'{name}={each!r}' for name, each in self.items())})"

    def solve(self, task: Task) -> Solved:
        """Return the noise of all releases, so that together they are (epsilon, delta)-DP.

        Parameters
        ----------
        task : Task

        Returns
        -------
        Solved

        Raises
        ------
        ValueError
            If the budget does not suffice for noise that can be drawn, or a release needs delta > 0.
        """
        releases = self._releases.values()
        if any(isinstance(each, Proved) for each in releases):  # quicker than to look it up
            return _solve.__wrapped__(self, task, ())
        types = tuple(type(value) for each in (task, *releases) for value in vars(each).values())
        return _solve(self, task, types)


def sqrt_up(square: Number) -> Fraction:
    """Return the square root of a number > 0, rounded up, for sensitivities.

    Parameters
    ----------
    square : int, Fraction or float

    Returns
    -------
    Fraction

    Examples
    --------
    >>> from dpfast.base import sqrt_up
    >>> sqrt_up(2) ** 2 >= 2
    True
    """
    return Fraction(sqrt_above(exact_above("square", square)))


@lru_cache(maxsize=256)
def _solve(plan: Plan, task: Task, types: tuple[type, ...]) -> Solved:
    """Return the noise of a plan, its cost and its claim; a repeated fit computes them once.

    Numbers that are equal may be read differently: the float 0.1 is the decimal, and a Fraction is itself.
    """
    releases = dict(plan.items())
    for finest in (30, 0):
        steps = {name: steps_of(each, finest) for name, each in releases.items()}
        noise, cost = _solved(releases, steps, task)
        scales = {name: _largest(noise[name]) * steps[name] for name, each in releases.items() if not _draws(each)}
        if max(scales.values(), default=0) <= LARGEST_SCALE:
            break
    for name, each in scales.items():
        if each > LARGEST_SCALE:
            raise ValueError(f"{name} would need noise beyond 64-bit integers: epsilon = {task.epsilon!r} is small")
    person = task.rows_per_unit > 1
    claim = PrivacySpend(
        float(task.epsilon),
        float(task.delta),
        task.neighbors,
        cost=cost,
        unit="person" if person else "row",
        rows_per_unit=task.rows_per_unit if person else None,
    )
    return Solved(MappingProxyType(noise), MappingProxyType(steps), cost, claim)


def steps_of(mechanism: Any, finest: int = 30) -> int:
    """Return the number of steps of Gaussian noise in 1, a power of two: one row moves a sum by about 2**finest."""
    steps = getattr(mechanism, "steps", 1)
    if steps is not None:
        return steps
    return 1 << max(0, finest - int(mechanism.moves).bit_length() + 1)


def _solved(releases: dict[str, Any], steps: dict[str, int], task: Task) -> tuple[dict[str, Any], tuple[Cost, ...]]:
    """Return the noise of each release and the cost of all."""
    proved = {name: each for name, each in releases.items() if isinstance(each, Proved)}
    if proved:
        whole = tuple(cost for each in proved.values() for cost in each.cost)
        return {name: each.noise for name, each in proved.items()}, whole
    has_sums = any(isinstance(each, GaussianSum) for each in releases.values())
    if has_sums and not task.delta:
        raise ValueError("Gaussian noise needs delta > 0: with delta = 0 sums have Laplace noise (LaplaceSum)")
    solutions = [] if has_sums else [_by_epsilon(releases, task)]
    if has_sums or (task.delta and len(releases) > 1 and not all(map(_is_laplace, releases.values()))):
        solutions.append(_by_bill(releases, steps, task))
    return max(solutions, key=lambda each: _sharpness(releases, each[0]))


def _by_epsilon(releases: dict[str, Any], task: Task) -> tuple[dict[str, Any], tuple[Cost, ...]]:
    """Return the noise and cost of pure releases with their shares of epsilon; with delta > 0 of as much as it allows.

    The sum of their epsilons is one bound, and the composition of their costs at delta is another.
    """
    own = {
        name: each / releases[name].times for name, each in _shares(releases, exact("epsilon", task.epsilon)).items()
    }
    cost = _pure_costs(releases, own)
    if task.delta and (factor := growth_of(cost, (), task.epsilon, task.delta)) > 1:
        own = {name: each * factor for name, each in own.items()}
        cost = _pure_costs(releases, own)
    return _pure_noise(releases, own, task), cost


def _by_bill(releases: dict[str, Any], steps: dict[str, int], task: Task) -> tuple[dict[str, Any], tuple[Cost, ...]]:
    """Return the noise and cost of releases with one bill, beside Laplace noise by shares of epsilon; delta > 0.

    A bill counts draws by their mu. What their composition leaves of the claim is theirs.
    """
    pure = {name: each for name, each in releases.items() if _is_laplace(each)}
    rest = {name: each for name, each in releases.items() if name not in pure}
    left, epsilon = split(task.epsilon, share_of(pure.values(), releases.values())) if pure else (task.epsilon, None)
    own = {name: each / pure[name].times for name, each in _shares(pure, epsilon).items()}
    billed = bill_noise(
        [_billed(each, steps[name] * task.rows_per_unit) for name, each in rest.items()], left, task.delta
    )
    noise = _pure_noise(pure, own, task)
    cost = (*billed.cost, *_pure_costs(pure, own))
    ranges = tuple(each for each in cost if each.kind == "range")
    beside = tuple(each for each in cost if each.kind != "range")
    factor = growth_of(ranges, beside, task.epsilon, task.delta) if ranges else Fraction(1)
    scales = {}
    for (name, each), of_bill in zip(rest.items(), billed.noise, strict=True):
        if isinstance(each, ExponentialDraw):
            noise[name] = of_bill if factor == 1 else Fraction(of_bill) * factor
            scales[name] = exact_above("width", each.width) * task.rows_per_unit * Fraction(noise[name])
        else:
            noise[name] = of_bill / steps[name]  # exact, as steps are powers of two
    if factor > 1:
        sums = tuple(each for each in billed.cost if each.kind != "range")
        cost = (*sums, *_pure_costs(rest, scales), *_pure_costs(pure, own))
    return {name: noise[name] for name in releases}, cost


def _pure_noise(releases: dict[str, Any], own: dict[str, Fraction], task: Task) -> dict[str, Any]:
    """Return the noise of pure releases, each of which costs its own epsilon."""
    noise: dict[str, Any] = {}
    for name, epsilon in own.items():
        each = releases[name]
        if _is_laplace(each):
            noise[name] = exact_above("moves", each.moves) * task.rows_per_unit / epsilon
        else:
            noise[name] = epsilon / (exact_above("width", each.width) * task.rows_per_unit)
    return noise


def _pure_costs(releases: dict[str, Any], own: dict[str, Fraction]) -> tuple[Cost, ...]:
    """Return the costs of draws and then of sums with Laplace noise, each of which costs its own epsilon."""
    draws = [(name, each) for name, each in own.items() if not _is_laplace(releases[name])]
    sums = [(name, each) for name, each in own.items() if _is_laplace(releases[name])]
    return (
        *(Cost("range", float_above(each), times=releases[name].times) for name, each in draws),
        *(Cost("pure", decimal_above(each), times=releases[name].times) for name, each in sums),
    )


def _sharpness(releases: dict[str, Any], noise: dict[str, Any]) -> float:
    """Return a number that is larger for less noise, rounded so that no machine prefers another plan."""
    rates = (
        each.times * math.log(1 / noise[name] if _is_laplace(each) else noise[name])
        for name, each in releases.items()
        if not isinstance(each, GaussianSum)
    )
    return round(math.fsum(rates), 2)


def _is_laplace(mechanism: Any) -> bool:
    return isinstance(mechanism, LaplaceSum)


_DRAWN = "exponential", "threshold"


def _draws(mechanism):
    """Return whether a mechanism draws candidates or tests, rather than releasing sums with noise."""
    return isinstance(mechanism, ExponentialDraw) or getattr(mechanism, "mechanism", None) in _DRAWN


def _largest(noise):
    return max(noise) if isinstance(noise, tuple) else noise


def plan_of(learner: Any, task: Task) -> Plan:
    """Return the plan of a learner for a task; refuse what is no plan."""
    plan = learner.plan(task)
    if not isinstance(plan, Plan):
        raise TypeError(f"plan() of {type(learner).__name__} must return a Plan, got {type(plan).__name__}")
    return plan


def spending_of(plan: Plan) -> Spending:
    """Return how the releases of a plan are paid: Gaussian sums, beside which counts are pure, share one bill."""
    pure = [each for each in plan.values() if isinstance(each, LaplaceSum)]
    sums = [each for each in plan.values() if isinstance(each, GaussianSum)]
    if not sums or len(pure) + len(sums) < len(plan):
        return Spending()
    parts = [NoisySums(int(each.moves * steps_of(each)), each.share, each.size) for each in sums]
    return Spending("gaussian", share_of(pure, plan.values()), tuple(parts))


def share_of(some: Iterable[Any], releases: Iterable[Any]) -> Fraction:
    """Return the share of some releases in the budget of all."""
    own, whole = (sum(exact_positive("share", each.share) for each in group) for group in (some, releases))
    return Fraction(own) / whole


def _shares(releases, epsilon):
    """Return the epsilon of each release, by shares."""
    return {name: epsilon * share_of([each], releases.values()) for name, each in releases.items()}


def _billed(mechanism, times):
    """Return a release as a part of a bill; what one row moves is multiplied by the steps and by the rows of a unit."""
    if isinstance(mechanism, GaussianSum):
        moved = exact_above("moves", mechanism.moves) * times
        return NoisySums(moved, mechanism.share, mechanism.size, mechanism.times)
    width = exact_above("width", mechanism.width) * times
    return Draws(width, mechanism.share, mechanism.times)
