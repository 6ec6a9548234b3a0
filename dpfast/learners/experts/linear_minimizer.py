"""Linear losses of unlabelled vectors, minimized by following experts."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import linear_excess
from dpfast.base.fitting import Public, fitting
from dpfast.base.inputs import columns_of, refuse_weights
from dpfast.base.model import FloatArray, Model
from dpfast.base.parameters import (
    BETWEEN_0_AND_1,
    OUT_OF_RANGE,
    VERBOSE,
    PrivateParameters,
    choice,
    estimator,
    parameter,
)
from dpfast.base.plan import Plan, Task
from dpfast.base.progress import call_back, call_callbacks, progress_bar
from dpfast.base.run import Run
from dpfast.base.scikit import BaseEstimator, CallbackSupportMixin
from dpfast.learners.experts.playing import REPLACE, draws, follow
from dpfast.tables.signed_rows import signed_rows


@dataclass(frozen=True)
class Average(Model):
    """The average of the unit vectors that were drawn."""

    theta: FloatArray


@estimator
class LinearMinimizer(PrivateParameters, CallbackSupportMixin, BaseEstimator):
    """Private minimizer of <theta, x> over the simplex, for vectors x without labels [DR11, Algorithm 17]_.

    There is one expert per coordinate. In round t an expert is drawn with probability proportional to exp(-eta * its
    total loss so far), and then each expert loses its coordinate of x_t. theta is the average of the T = n unit vectors
    drawn. `LinearLearner` does the same on labelled rows, where expert j loses -y x_j.

    **Privacy.** All draws, and so theta, are (epsilon, delta)-DP if one row is replaced. A row is a loss vector in [-1,
    1], and replacing it changes the totals by a vector of range R = 4: the draws are (4 eta)^2 n / 8-zCDP.
    `dpfast.accounting.papers.experts` gives the theorem.

    Parameters
    ----------
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows. "paper" is epsilon / sqrt(32 n ln(1/delta)),
        and is refused if it exceeds the budget.

    Attributes
    ----------
    theta_ : ndarray of float64, shape (n_features_in_,)
        Entries of at least 0 that sum to 1.
    learning_rate_ : float
        The rate eta.
    n_rounds_ : int
        The number of rounds T.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    Rows are processed in a random order. Entries are rounded to multiples of 2**-10.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).choice([-1, 0, 1], (20_000, 3), p=[0.2, 0.5, 0.3])
    >>> x[:, 1] -= x[:, 1] == 1
    >>> fitted = LinearMinimizer(random_state=0).fit(x)
    >>> int(fitted.theta_.argmax()), fitted.theta_.sum().round(9).item()
    (1, 1.0)
    """

    neighbors: str = REPLACE
    out_of_range: str = OUT_OF_RANGE
    calibration: str = parameter("tight", choice("tight", "paper"))
    verbose: bool = VERBOSE

    @call_callbacks
    def fit(self, X: Any, y: Any = None, **refused: Any) -> Self:
        """Follow the experts in one pass over the rows.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
            Entries in [-1, 1]; booleans and BitMatrix are signs.
        y : ignored

        Returns
        -------
        self
        """
        refuse_weights(refused)
        p = self._checked()
        rows = signed_rows(X, out_of_range=p.out_of_range)
        n, d = rows.shape
        task = Task(p.epsilon, p.delta, p.neighbors, n_columns=d, n_rows=n)
        plan = self.plan(task)
        solved = plan.solve(task)
        public = Public(n, d, columns_of(X)[1], others={"learning_rate_": solved.noise["draws"], "n_rounds_": n})
        with fitting(self, p.rng, lambda model: {"theta_": model.theta}) as current_fit:
            current_fit.charge(public, solved.cost, plan.times)
            run, counts = Run(current_fit, plan, solved, self._progress), np.zeros(d, np.int64)
            run.show(lambda: Average(counts / max(1, counts.sum())))
            for experts in follow(run, rows, np.ones(n, np.int8), constant=False, mirrored=False):
                counts += np.bincount(experts, minlength=d)
        return self

    def plan(self, task: Task) -> Plan:
        """Return everything that a fit releases; a function of the parameters and of the task alone.

        Parameters
        ----------
        task : Task

        Returns
        -------
        Plan
        """
        return Plan(draws=draws(task, self.calibration, task.n_columns))

    def _progress(self, rounds, what, total):
        return call_back(self, progress_bar(rounds, what, self.verbose, total), what, total)

    def excess(self, failure: float = 0.05) -> float:
        """Return a bound on the excess of the mean of <theta, x> on new rows over the best theta: Theorem 11.6 [DR11]_.

        Parameters
        ----------
        failure : float in (0, 1)

        Returns
        -------
        float
            The result of `dpfast.accounting.linear_excess` for the rounds played, plus 2**-10 for rounding; it does not
            depend on the data. The bound holds for i.i.d. rows and fails with probability at most `failure`. For an
            interrupted fit, which must have made a draw, the time of the interruption must not depend on rows or draws.
        """
        check_is_fitted(self)
        failure = BETWEEN_0_AND_1.read("failure", failure)
        rounds = sum(event.used for event in self.privacy_.events)
        if not rounds:
            raise ValueError("nothing is proved of theta_: the fit was interrupted before its first draw")
        return linear_excess(self.learning_rate_, self.n_features_in_, rounds, failure=failure) + 2**-10

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
