"""Base of objects that pay once for many answers about private data that they hold."""

from typing import Any

from dpfast import random
from dpfast.accounting import Budget, PrivacySpend, Release
from dpfast.base.parameters import BUDGET, PrivateParameters, estimator, parameter
from dpfast.base.plan import Plan, Task
from dpfast.base.run import Run
from dpfast.mechanisms.draws import ExclusiveAccess


@estimator
class Prepaid(PrivateParameters):
    """Base of such objects; `_terms` has the parameters of the claim, whatever becomes of the attributes, and its cost.

    Attributes
    ----------
    privacy_ : dpfast.accounting.PrivacySpend
    """

    budget: Budget | None = parameter(
        None,
        BUDGET,
        "dpfast.accounting.Budget or None, default=None\n    Charged (epsilon, delta) once, for all answers.",
    )

    def plan(self, task: Task) -> Plan:
        """Return everything that is released; a function of the parameters and of the task alone.

        Parameters
        ----------
        task : Task

        Returns
        -------
        Plan
        """
        raise NotImplementedError

    def _read_parameters(self) -> Any:
        """Return the checked parameters, which are those of the claim; the object does not keep its seed."""
        self._terms: Any = self._checked()
        del self.random_state
        self._access = ExclusiveAccess(f"a {type(self).__name__}")
        return self._terms

    def _start(self, n_rows: int | None) -> Run:
        """Return the run of a plan, from which all noise and all draws come; `n_rows` is the number that is public."""
        terms = self._terms
        task = Task(terms.epsilon, terms.delta, terms.neighbors, n_rows=n_rows)
        plan = self.plan(task)
        solved = plan.solve(task)
        self._terms = terms.but(cost=solved.cost)
        return Run(terms, plan, solved, lambda rounds, *_: rounds)

    def _charge(self) -> None:
        terms = self._terms
        if terms.budget is not None:
            what = {"model": type(self).__name__}
            terms.budget.charge(terms.epsilon, terms.delta, neighbors=terms.neighbors, cost=terms.cost, what=what)

    def _claim(self, *releases: Release) -> PrivacySpend:
        """Return the claim, with the releases made so far."""
        terms = self._terms
        seeded = random.is_reproducible(terms.rng)
        return PrivacySpend(terms.epsilon, terms.delta, terms.neighbors, releases, seeded, terms.cost)

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} holds private data: it is not copied or pickled")
