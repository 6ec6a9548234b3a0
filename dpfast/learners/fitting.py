"""A fit is a transaction, and its order is written here once.

    p = self._checked(X)                    # plain values; a parameter or a budget that will not do is refused
    with self._fitting(p) as run:           # nothing is spent yet
        table, labels, public = ...         # the rows may be refused; nothing of self has changed
        state = ...                         # whatever else may fail has failed after this line
        run.charge(public, cost, rules=p.rounds)
        for rule in greedy_cover(state, p.rounds, run.rng):
            run.release("rules", rule)
    return self

What `charge` asks for is refused, with self as it was, or paid; then self becomes the new model: what was released, by
`_publish`, and its claim, also when the block is interrupted. A table of which something is to be discovered is charged
for before that, once and for everything: the second call of `charge` then only names the releases that are paid for.
"""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpfast import random
from dpfast.accounting import Cost, PrivacySpend, Release
from dpfast.accounting.warning import warn, warn_of_caller, warn_of_claim, warn_of_edits
from dpfast.learners.parameters import PRIVATE, PrivateParameters
from dpfast.learners.rounds import finished


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
    """A fit under way.

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
        What was charged: of the parameters as they were then, whatever becomes of them. None before the charge.
    public : Public or None
    learns : bool
        Whether the releases of the model itself are named yet; else only what a table holds was discovered.
    label : str or None
        The name of what is predicted, if it has one: public, as names of columns are.
    """

    def __init__(self, owner: "Private", rng: np.random.Generator):
        self._owner = weakref.proxy(owner)  # a stream keeps its run: deleting the model is to free the checkpoint
        self.rng, self.reproducible = rng, random.is_reproducible(rng)
        self._of: dict[str, int | None] = {}
        self.released: Any = []
        self.used: dict[str, int] = {}
        self.cost: tuple[Cost, ...] = ()
        self.attributes: dict[str, Any] = {}
        self.claim: PrivacySpend | None = None
        self.public: Public | None = None
        self.learns = False
        self.label: str | None = None

    def charge(self, public: Public, cost: Sequence[Cost] = (), *, learns: bool = True, **releases: int | None) -> None:
        """Charge for all releases of the fit, once; later calls only name releases that are paid for.

        Parameters
        ----------
        public : Public
        cost : sequence of Cost, optional
            What all releases together are proved to cost, of which epsilon and delta follow; by default no more than
            these.
        learns : bool, default=True
            Whether these are releases of the model, and not of what a table holds.
        **releases : int or None
            How many releases are paid for, by name; None for a release that each row pays for anew, without end.

        Raises
        ------
        BudgetExceeded, ValueError
            At the first call; nothing has changed.
        """
        of, used = self._of | releases, self.used | dict.fromkeys(releases, 0)
        if self.claim is None:
            claim = self._owner._claimed(tuple(cost))  # refuses what is no claim
            self._owner._warn(public)
            self._owner._charge(claim, public)
            self.claim, self.cost = claim, tuple(cost)
        self._of, self.used, self.public, self.learns = of, used, public, learns

    def paid(self, cost: Sequence[Cost], **releases: int | None) -> None:
        """Take over what an earlier process charged; parameters are those of `charge`."""
        self.claim, self.cost = self._owner._claimed(tuple(cost)), tuple(cost)
        self._of, self.used = dict(releases), dict.fromkeys(releases, 0)

    def release(self, name: str, *what: Any) -> None:
        """Count one release of this name, and keep what was released."""
        self.used[name] += 1
        self.released.extend(what)

    def told(self) -> PrivacySpend:
        """Return the claim that was charged, with what has been released since."""
        assert self.claim is not None
        events = tuple(Release(name, self.used[name], of) for name, of in self._of.items() if of is not None)
        return replace(self.claim, events=events, reproducible=self.reproducible)


class Private(PrivateParameters):
    """Mixin of private estimators: what one spends, and what it claims.

    Has the parameters `epsilon`, `delta`, `neighbors`, `budget` and `random_state`; a subclass gives `_publish`.
    """

    _parameters = PRIVATE
    _rows_per_unit: int | None = None  # of the fit under way, if it is for persons

    @contextmanager
    def _fitting(self, rng: np.random.Generator) -> Iterator[Run]:
        """Run the block, and publish what it released, whole or in part, once it has charged.

        Parameters
        ----------
        rng : numpy.random.Generator
            Of `_checked`.

        Yields
        ------
        Run
        """
        run = Run(self, rng)
        try:
            yield run
        finally:
            if run.claim is not None:
                finished(self._settle, run)

    def _settle(self, run: Run) -> None:
        """Become the model that was released, whole or in part, with its claim."""
        assert run.public is not None
        self._become(run.public)
        if run.label is not None:
            self._facts["label"] = run.label
        if run.learns:
            self.privacy_ = run.told()
            self._publish(run)
            vars(self).update(run.attributes)

    @contextmanager
    def _spending(
        self, public: Public, rng: np.random.Generator, cost: Sequence[Cost] = (), **releases: int | None
    ) -> Iterator[Run]:
        """Charge, then run the block as `_fitting` does; parameters are those of `Run.charge`."""
        with self._fitting(rng) as run:
            run.charge(public, cost, learns=True, **releases)
            yield run

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
        """Warn if the claim is weak."""
        warn_of_caller(self.budget is not None)
        warn_of_claim(self.epsilon, self.delta, public.n_rows if self.neighbors == "replace" else None)
        if not public.declared:
            warn("the set of labels was read off the rows, and is published with the model: declare it by classes=")

    def _claimed(self, cost: tuple[Cost, ...]) -> PrivacySpend:
        """Return the claim of a fit that costs so much."""
        return PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            cost=cost,
            unit="row" if self._rows_per_unit is None else "person",
            rows_per_unit=self._rows_per_unit,
        )

    def _forget(self) -> None:
        """Delete the fitted attributes."""
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

    def __getstate__(self):
        """Without the `random_state` of a model, as `save`: it would take the noise away."""
        state = super().__getstate__()
        return state | {"random_state": None} if self.__sklearn_is_fitted__() else state

    def __sklearn_is_fitted__(self) -> bool:
        return "privacy_" in vars(self)
