"""What a fit pays, counts and publishes.

`Charge` makes the claim and charges the budget. `Fit` is a fit under way: `charge` either raises an error, and nothing
has changed, or pays; afterwards it counts releases. What was released is published whatever happens then, also if the
fit is interrupted. If part of a table's schema has to be discovered, everything is charged before the discovery, in one
charge; the second call of `charge` then only names the releases that are already paid for.

Classifiers of tables are fitted by `dpfast.base.transaction`, estimators of other data by `fitting`:

    p = self._checked()                     # plain values; refuses invalid parameters and an insufficient budget
    with fitting(self, p.rng) as paid:      # nothing is spent yet
        state = ...                         # whatever else may fail has failed after this line
        paid.charge(public, cost, {"rounds": p.rounds})
        for answer in answers(state, p.rounds, paid.rng):
            paid.release("rounds", lambda: answer)
    return self                             # with the attributes that were released, and the claim
"""

import signal
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpfast import random
from dpfast.accounting import Cost, PrivacySpend, Release
from dpfast.accounting.claims.spend import warn, warn_of_caller, warn_of_claim

OUTLINE = "_outline"  # of codes as a learner reads them, kept beside the attributes of a model
FEW = "_few_rows"  # the reader of few rows, likewise
STREAM = "_state"  # of a stream that goes on
_REPLACED = "_facts", OUTLINE, FEW, STREAM  # by each fit, like attributes


@dataclass
class Public:
    """Attributes of an estimator that a fit treats as public; no noise protects them."""

    n_rows: int  # under "replace"; of units, the largest number that they may have
    n_features: int
    feature_names: np.ndarray | None = None
    classes: np.ndarray | None = None
    declared: bool = True  # whether the classes were declared; else they were read off the rows
    others: dict[str, Any] = field(default_factory=dict)  # attributes by their names
    n_units: int | None = None  # under "replace", if the claim protects units

    def attributes(self) -> dict[str, Any]:
        attributes = {
            "n_features_in_": self.n_features,
            "feature_names_in_": self.feature_names,
            "classes_": self.classes,
        }
        return {name: value for name, value in attributes.items() if value is not None} | self.others


class NothingLearned(ValueError):
    """Error of a fit that was charged and released too little for a model; it follows from the releases.

    Parameters
    ----------
    message : str
    privacy : PrivacySpend

    Attributes
    ----------
    privacy : PrivacySpend
        The claim of what was released.
    """

    def __init__(self, message: str, privacy: PrivacySpend) -> None:
        super().__init__(message, privacy)
        self.privacy = privacy

    def __str__(self) -> str:
        return str(self.args[0])


class Charge:
    """What the fits of an estimator pay: its epsilon, delta and relation, for rows or for units.

    Parameters
    ----------
    estimator : estimator
        It has the parameters `epsilon`, `delta`, `neighbors` and `budget`.

    Attributes
    ----------
    rows_per_unit : int or None
        The largest number of rows of a unit, if the claim protects units and not rows.
    n_units : int or None
        The number of units, if the claim protects units.
    """

    def __init__(self, estimator: Any):
        self._estimator = weakref.proxy(estimator)  # a stream keeps its fit: deleting the model frees the checkpoint
        self.rows_per_unit: int | None = None
        self._stated: dict[str, Any] | None = None
        self.n_units: int | None = None

    def claim(self, cost: Sequence[Cost]) -> PrivacySpend:
        """Return the claim of a fit with this cost; a ValueError refuses an invalid one."""
        estimator = self._estimator
        return PrivacySpend(
            estimator.epsilon,
            estimator.delta,
            estimator.neighbors,
            cost=tuple(cost),
            unit="row" if self.rows_per_unit is None else "person",
            rows_per_unit=self.rows_per_unit,
        )

    def pay(self, claim: PrivacySpend, public: Public) -> None:
        """Charge the budget, if there is one."""
        estimator = self._estimator
        if estimator.budget is not None:
            estimator.budget.charge(
                estimator.epsilon,
                estimator.delta,
                neighbors=estimator.neighbors,
                unit=claim.unit,
                cost=claim.cost,
                what=self._ledger_entry(public),
            )

    def read_statement(self) -> None:
        """Keep what the budget has spent in all, now that this fit is paid, for the page of its model."""
        if self._estimator.budget is not None:
            with suppress(OSError, ValueError, ArithmeticError):  # of a file that is gone
                self._stated = self._estimator.budget.statement()

    def _ledger_entry(self, public):
        """Return what a ledger stores about a charge."""
        get = getattr(self._estimator, "get_params", None)
        parameters: dict[str, Any] = {} if get is None else get(deep=False)
        plain = {name: value for name, value in parameters.items() if isinstance(value, str | bool | int | float)}
        schema: Any = parameters.get("schema")
        names = public.feature_names
        columns = public.n_features if names is None else [str(name) for name in names]
        described = schema.to_dict() if hasattr(schema, "to_dict") else columns
        return {"model": self._estimator.__class__.__name__, "parameters": plain, "schema": described}

    def warn(self, public: Public) -> None:
        """Warn if the claim is weak."""
        estimator = self._estimator
        warn_of_caller(estimator.budget is not None)
        warn_of_claim(
            estimator.epsilon, estimator.delta, self._persons() if self.public_rows(0) is None else public.n_rows
        )
        if not public.declared:
            warn("the set of labels was read off the rows, and is published with the model: declare it by classes=")

    def public_rows(self, n_rows: int) -> int | None:
        """Return the number of rows if it is public; nothing that a fit does may depend on a private one."""
        return n_rows if self._estimator.neighbors == "replace" and (self.rows_per_unit or 1) == 1 else None

    def _persons(self):
        """Return the number of persons if the claim protects them and it is public."""
        return self.n_units if self._estimator.neighbors == "replace" else None

    def facts(self, public: Public) -> dict[str, Any]:
        """Return the public facts of a fit for the file of its model."""
        budget = {} if self._stated is None else {"budget": self._stated}
        return {
            "rows": self.public_rows(public.n_rows),
            "persons": self._persons(),
            "classes": "declared" if public.declared else "read off the rows",
        } | budget


class Fit:
    """A fit under way.

    `released` lists functions that return what was released, such as the model until then. `used` has the numbers of
    releases by name that the claim counts, those that the model holds; a `Run` counts those that were drawn. `cost` is
    that of all releases together, and empty if the claim is the pair (epsilon, delta) only. `attributes` are released
    attributes that no model has. `claim` is the charged claim, for the parameters at the time of the charge. Until
    `learns`, only the schema has been discovered. `label` is the public name of the label, if it has one. `notes` are
    sentences about what was decided, from released and public facts alone. `counted` is a noisy number of the rows with
    a label, if a release gave one, and the deviation of its noise.
    """

    def __init__(self, charges: Charge, rng: np.random.Generator):
        self.charges = charges
        self.rng, self.reproducible = rng, random.is_reproducible(rng)
        self._of: dict[str, int | None] = {}
        self.released: Any = []
        self.used: dict[str, int] = {}
        self.cost: tuple[Cost, ...] = ()
        self.attributes: dict[str, Any] = {}
        self.claim: PrivacySpend | None = None
        self._last_claim: tuple[dict[str, int], PrivacySpend] | None = None
        self.public: Public | None = None
        self.learns = False
        self.label: str | None = None
        self.notes: list[str] = []
        self.counted: tuple[float, float] | None = None

    def charge(
        self, public: Public, cost: Sequence[Cost], releases: Mapping[str, int | None], *, learns: bool = True
    ) -> None:
        """Charge for all releases of the fit, once; later calls only name releases that are already paid for.

        `cost` is the proved cost of all releases together, from which epsilon and delta follow; if it is empty, they
        cost at most epsilon and delta. `releases` are the numbers of paid releases by name; None is for releases that
        no number limits. `learns` is False for releases that only discover the schema. The first call may raise
        BudgetExceeded or ValueError; nothing has changed then.
        """
        of, used = self._of | dict(releases), self.used | dict.fromkeys(releases, 0)
        first = self.claim is None
        if first:
            claim = self.charges.claim(cost)  # raises an error if this is not a valid claim
            self.charges.warn(public)
            self.charges.pay(claim, public)
            self.claim, self.cost = claim, tuple(cost)
        self._of, self.used, self.public, self.learns = of, used, public, learns
        if first:
            self.charges.read_statement()  # last: an interruption from here on leaves a fit that is paid and known

    def take_over(self, cost: Sequence[Cost], releases: Mapping[str, int | None], used: Mapping[str, int]) -> None:
        """Take over a charge made by an earlier process, which made some of the releases already."""
        self.claim, self.cost = self.charges.claim(cost), tuple(cost)
        self._of, self.used = dict(releases), dict.fromkeys(releases, 0) | dict(used)

    def release(self, name: str, *what: Any) -> None:
        """Count one release of this name, and store what was released."""
        self.used[name] += 1
        self.released.extend(what)

    def claim_so_far(self) -> PrivacySpend:
        """Return the charged claim with the releases made so far: the same object until there is a further release."""
        state = self.used | {"reproducible": self.reproducible}
        if self._last_claim is None or self._last_claim[0] != state:
            assert self.claim is not None
            events = tuple(Release(name, self.used[name], of) for name, of in self._of.items() if of is not None)
            self._last_claim = state, replace(self.claim, events=events, reproducible=self.reproducible)
        return self._last_claim[1]


def publish(estimator: Any, attributes: dict[str, Any], facts: dict[str, Any]) -> None:
    """Replace the fitted attributes of an estimator, and the public facts of its fit; a stream ends."""
    state = vars(estimator)
    for name in [name for name in state if name in _REPLACED or (name[-1] == "_" and name[0] != "_")]:
        del state[name]
    state.update(attributes, _facts=facts)


def attributes_of(model: Any) -> dict[str, Any]:
    """Return the attributes that a learner has by a model."""
    return {"model_": model} | {f"{name}_": value for name, value in model.attributes().items()}


@contextmanager
def fitting(
    estimator: Any, rng: np.random.Generator, attributes: Callable[[Any], dict] = attributes_of
) -> Iterator[Fit]:
    """Run the block; once it has charged, publish everything that it released, also if it is interrupted.

    `attributes` gives the attributes by which an estimator shows a released model.
    """
    fit = Fit(Charge(estimator), rng)
    with settling(fit, _settle, estimator, fit, attributes):
        yield fit


@contextmanager
def settling(fit: Fit, settle: Callable[..., None], *arguments: Any) -> Iterator[None]:
    """Run the block; once it has charged, call `settle`, which publishes what was released, also after Ctrl-C.

    Whatever a caller has set by `numpy.seterr`, no number of a row raises an error or a warning.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        if fit.claim is not None:
            run_uninterrupted(settle, *arguments)


def _settle(estimator: Any, fit: Fit, attributes: Callable[[Any], dict]) -> None:
    """Replace the fitted attributes of an estimator by those of what was released, and its claim."""
    assert fit.public is not None
    published = fit.public.attributes() | {"privacy_": fit.claim_so_far()}
    for model in fit.released:
        published |= attributes(model())
    publish(estimator, published | fit.attributes, fit.charges.facts(fit.public))


@contextmanager
def interrupts_wait() -> Iterator[list[int]]:
    """Let Ctrl-C, and other signals with handlers in Python, wait within the block; yield a list that records them."""
    noted: list[int] = []
    try:
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    except (ValueError, TypeError):  # not in the main thread, the only one that signals interrupt; or a handler in C
        yield noted
        return
    with ExitStack() as before:
        for number in signal.valid_signals():
            if callable(handler := signal.getsignal(number)):
                before.callback(signal.signal, number, handler)
                signal.signal(number, lambda number, _: noted.append(number))
        yield noted


def raise_signals(noted: list[int]) -> None:
    """Let signals take effect that waited."""
    for number in dict.fromkeys(noted):
        signal.raise_signal(number)


def run_uninterrupted(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function to its end, also if a Ctrl-C or another signal comes, which takes effect afterwards."""
    begun = False
    try:
        with interrupts_wait() as noted:
            begun = True
            function(*arguments)
    except BaseException:
        if not begun:  # it came before it could wait
            function(*arguments)
        raise
    raise_signals(noted)
