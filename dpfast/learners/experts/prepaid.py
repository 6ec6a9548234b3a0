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
    """Base of such objects; `_paid` has the parameters of the claim, whatever becomes of the attributes, and its cost.

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
        self._paid: Any = self._checked()
        del self.random_state
        self._access = ExclusiveAccess(f"a {type(self).__name__}")
        return self._paid

    def _start(self, n_rows: int | None) -> Run:
        """Return the run of a plan, from which all noise and all draws come; `n_rows` is the number that is public."""
        paid = self._paid
        task = Task(paid.epsilon, paid.delta, paid.neighbors, n_rows=n_rows)
        plan = self.plan(task)
        solved = plan.solve(task)
        self._paid = paid.but(cost=solved.cost)
        return Run(paid, plan, solved, lambda rounds, *_: rounds)

    def _charge(self) -> None:
        paid = self._paid
        if paid.budget is not None:
            what = {"model": type(self).__name__}
            paid.budget.charge(paid.epsilon, paid.delta, neighbors=paid.neighbors, cost=paid.cost, what=what)

    def _claim(self, *made: Release) -> PrivacySpend:
        """Return the claim, with the releases made so far."""
        paid = self._paid
        seeded = random.is_reproducible(paid.rng)
        return PrivacySpend(paid.epsilon, paid.delta, paid.neighbors, made, seeded, paid.cost)

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} holds private data: it is not copied or pickled")
