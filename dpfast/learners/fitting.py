"""A fit is a transaction, and its order is written here once.

    p = self._checked()                     # plain values; a parameter or a budget that will not do is refused
    table, labels, public = ...             # the rows may be refused; nothing of self has changed
    state = ...                             # whatever else may fail has failed after this line
    with self._spending(public, p.rng, cost, rules=p.rounds) as run:
        for rule in greedy_cover(state, p.rounds, run.rng):
            run.release("rules", rule)
    return self

What `_spending` charges is refused, with self as it was, or paid; then self becomes the new model: what was released,
by `_publish`, and its claim, also when the block is interrupted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpfast import random
from dpfast.accounting import Cost, PrivacySpend, Release
from dpfast.accounting.warning import warn, warn_of_caller, warn_of_claim, warn_of_edits
from dpfast.learners.interrupts import finished
from dpfast.learners.parameters import PRIVATE, PrivateParameters


@dataclass
class Public:
    """What a fit takes as public: the attributes of the estimator that no noise protects."""

    n_rows: int  # under "replace"
    n_features: int
    feature_names: np.ndarray | None = None
    classes: np.ndarray | None = None
    declared: bool = True  # the classes; else they were read off the rows
    others: dict[str, Any] = field(default_factory=dict)  # attributes by their names

    def attributes(self) -> dict[str, Any]:
        known = {"n_features_in_": self.n_features, "feature_names_in_": self.feature_names, "classes_": self.classes}
        return {name: value for name, value in known.items() if value is not None} | self.others


class Run:
    """A fit under way, after its charge.

    Attributes
    ----------
    rng : numpy.random.Generator
    released : list
        What `release` was given, in order; a learner may keep another object here, a running sum say.
    used : dict of int
        Releases made, by their names.
    reproducible : bool
        Whether any of the noise so far was drawn with a seed.
    cost : sequence of Cost
        What all releases together cost; empty where it is the pair that is claimed.
    attributes : dict
        Attributes that were released and that `_publish` does not set.
    claim : PrivacySpend or None
        What was charged: of the parameters as they were then, whatever becomes of them.
    """

    def __init__(self, rng: np.random.Generator, of: dict[str, int | None], cost: Sequence[Cost] = ()):
        self.rng, self._of, self.reproducible = rng, of, random.is_reproducible(rng)
        self.released: Any = []
        self.used, self.cost = dict.fromkeys(of, 0), tuple(cost)
        self.attributes: dict[str, Any] = {}
        self.claim: PrivacySpend | None = None

    def release(self, name: str, *what: Any) -> None:
        """Count one release of this name, and keep what was released."""
        self.used[name] += 1
        self.released.extend(what)

    def events(self) -> tuple[Release, ...]:
        return tuple(Release(name, self.used[name], of) for name, of in self._of.items() if of is not None)


class Private(PrivateParameters):
    """Mixin of private estimators: what one spends, and what it claims.

    Has the parameters `epsilon`, `delta`, `neighbors`, `budget` and `random_state`; a subclass gives `_publish`.
    """

    _parameters = PRIVATE
    _rows_per_unit: int | None = None  # of the fit under way, if it is for persons

    @contextmanager
    def _spending(
        self, public: Public, rng: np.random.Generator, cost: Sequence[Cost] = (), **releases: int | None
    ) -> Iterator[Run]:
        """Charge, run the block, and publish what it released, whole or in part.

        Parameters
        ----------
        public : Public
        rng : numpy.random.Generator
            Of `_checked`.
        cost : sequence of Cost, optional
            What all releases together are proved to cost, of which epsilon and delta follow; by default no more than
            these.
        **releases : int or None
            How many releases are paid for, by name; None for a release that each row pays for anew, without end.

        Yields
        ------
        Run

        Raises
        ------
        BudgetExceeded, ValueError
            Before the block; self is as it was.
        """
        run = Run(rng, releases, cost)
        claim = self._claim(run)  # refuses what is no claim
        self._warn(public)
        charged = False
        try:
            self._charge(claim, public)
            charged = True
            yield run
        finally:
            if charged:
                finished(self._settle, public, run)

    def _settle(self, public: Public, run: Run) -> None:
        """Become the model that was released, whole or in part, with its claim."""
        self._become(public)
        self.privacy_ = self._claim(run)
        self._publish(run)
        vars(self).update(run.attributes)

    def _charge(self, claim: PrivacySpend, public: Public) -> None:
        if self.budget is not None:
            self.budget.charge(
                self.epsilon,
                self.delta,
                neighbors=self.neighbors,
                unit=claim.unit,
                cost=claim.cost,
                what=self._told(public),
            )

    def _told(self, public: Public) -> dict[str, Any]:
        """What a ledger notes of a charge."""
        get = getattr(self, "get_params", None)
        parameters: dict[str, Any] = {} if get is None else get(deep=False)
        plain = {name: value for name, value in parameters.items() if isinstance(value, str | bool | int | float)}
        schema: Any = parameters.get("schema")
        names = public.feature_names
        columns = public.n_features if names is None else [str(name) for name in names]
        described = schema.to_dict() if hasattr(schema, "to_dict") else columns
        return {"model": type(self).__name__, "parameters": plain, "schema": described}

    def _warn(self, public: Public) -> None:
        """Say what is true and still worth knowing of the claim that is about to be made."""
        warn_of_caller(self.budget is not None)
        warn_of_claim(self.epsilon, self.delta, public.n_rows if self.neighbors == "replace" else None)
        if not public.declared:
            warn("the set of labels was read off the rows, and is published with the model: declare it by classes=")

    def _claim(self, run: Run) -> PrivacySpend:
        """The claim that was charged, with what has been released since; the first call makes it."""
        if run.claim is None:
            run.claim = PrivacySpend(
                self.epsilon,
                self.delta,
                self.neighbors,
                cost=self._cost(run),
                unit="row" if self._rows_per_unit is None else "person",
                rows_per_unit=self._rows_per_unit,
            )
        return replace(run.claim, events=self._events(run), reproducible=run.reproducible)

    def _cost(self, run: Run) -> tuple[Cost, ...]:
        return run.cost

    def _events(self, run: Run) -> tuple[Release, ...]:
        return run.events()

    def _forget(self) -> None:
        """Be no longer the model that this estimator was."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _become(self, public: Public) -> None:
        """Forget the model that this estimator was, all of it, and take over the public facts of the new one."""
        self._forget()
        for name, value in public.attributes().items():
            setattr(self, name, value)
        self._facts = {
            "rows": public.n_rows if self.neighbors == "replace" else None,
            "rows of each person": self._rows_per_unit is not None and self.neighbors == "replace",
            "classes": "declared" if public.declared else "read off the rows",
        }

    def _publish(self, run: Run) -> None:
        """Set the attributes that were released, from `run.released` and public facts alone."""
        raise NotImplementedError

    @property
    def privacy_(self) -> PrivacySpend:
        try:
            claim = vars(self)["privacy_"]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no attribute 'privacy_': it is not fitted") from None
        warn_of_edits(claim, self.epsilon, self.delta, self.neighbors)
        return claim

    @privacy_.setter
    def privacy_(self, claim: PrivacySpend) -> None:
        vars(self)["privacy_"] = claim

    @privacy_.deleter
    def privacy_(self) -> None:
        del vars(self)["privacy_"]

    def __sklearn_is_fitted__(self) -> bool:
        return "privacy_" in vars(self)
