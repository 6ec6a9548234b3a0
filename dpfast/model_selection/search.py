"""The best of several private learners, chosen by its accuracy on held-out rows, all under one claim."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from dpfast import random
from dpfast.accounting import Budget, Composed, Cost, PrivacySpend, Release, discrete_gaussian_sigma
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.spend import pair_cost, warn, warn_of_claim
from dpfast.accounting.curves.selection import gaussian_claims, selection_base, selection_epsilon
from dpfast.accounting.numbers import cache_results, check_neighbors, delta_of, epsilon_of
from dpfast.base.classifier import PrivateClassifier
from dpfast.base.parameters import PrivateParameters
from dpfast.base.units import own_generator
from dpfast.mechanisms import discrete_gaussian
from dpfast.model_selection.split import LabelledRows
from dpfast.tables.arrays import as_objects
from dpfast.tables.labels import are_equal, labels_as_they_are, read_labels, rows_to_count
from dpfast.tables.sources import pick_rows

_MOST_RUNS = 1000
_LINES = 64  # claims of a curve
_TRIES = 8


@dataclass(frozen=True)
class PrivateSearch:
    """The release of `private_search`.

    Attributes
    ----------
    estimator : private classifier
        The chosen estimator, fitted. Its `epsilon`, `delta` and `privacy_` are those of the whole search.
    index : int
        Its place in `estimators`.
    right : int
        The noisy number of held-out rows that it predicts correctly. It is the best of several, so it is optimistic.
    run_epsilon, run_delta : float
        The claim of each fit and of each count.
    privacy : PrivacySpend
        The claim of the whole search.
    """

    estimator: PrivateClassifier
    index: int
    right: int
    run_epsilon: float
    run_delta: float
    privacy: PrivacySpend


def private_search(
    estimators: Sequence[PrivateClassifier],
    X: Any,
    y: ArrayLike,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    neighbors: str = "replace",
    runs: int | None = None,
    validation: float = 0.2,
    classes: ArrayLike | None = None,
    budget: Budget | None = None,
    random_state: int | np.random.Generator | None = None,
) -> PrivateSearch:
    """Fit private learners of several kinds or settings, and release the best one.

    A coin toss that does not depend on the row decides whether it is held out. A run draws one of the estimators, fits
    it to the rows that are not held out, and counts, with noise, the held-out rows that it predicts correctly. After
    each run, the search continues with probability 1 - 1 / runs. Only the estimator with the best noisy count is
    released; the number of runs is not.

    **Privacy.** The whole search is (epsilon, delta)-DP for the relation `neighbors`, by
    `dpfast.accounting.curves.selection`. Each row is in one of the two parts, so a fit and its count together cost as
    much as one of them (parallel composition). Each has the claim `run_epsilon`, `run_delta`, by `selection_base`. At
    epsilon = 1 and 30 runs, that is about 0.6 if the cost of every fit is at most that of Gaussian noise, as for a
    `HalfspaceClassifier` or a `ProjectedHalfspaceClassifier` without `probability_share`, and 0.35 otherwise; 30 fits
    that share the budget would have 0.16 or 0.03. The cost of each estimator is computed before anything is charged or
    drawn. The claim does not cover time: the duration of a search reveals the number of fits.

    Parameters
    ----------
    estimators : sequence of private classifiers
        Their parameters `epsilon`, `delta` and `neighbors` are set here. They must have no budget and no random state,
        and no callbacks and not `verbose`, which would show every run. What their schema leaves open, or all columns if
        nothing is declared, is discovered in each run anew.
    X : table, shape (n, d)
        A table that all estimators accept and that a mask of rows can index.
    y : array_like, shape (n,)
    epsilon : float, default=1.0
    delta : float, default=1e-6
    neighbors : {"replace", "add-remove"}, default="replace"
    runs : int, optional
        The mean number of fits, at most 1000; by default three times the number of estimators. A given estimator is
        tried with probability runs / (runs + len(estimators) - 1), which is then about 3/4.
    validation : float in (0, 1), default=0.2
        The share of rows held out.
    classes : array_like, optional
        The public set of labels; by default it is read from y.
    budget : Budget, optional
        Charged once, before anything is drawn.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    PrivateSearch

    Raises
    ------
    ValueError
        For invalid parameters, estimators or rows, before anything is charged or drawn.
    BudgetExceeded
        If the budget does not suffice.

    Notes
    -----
    The number of fits is geometric with mean `runs`, and may be several times as large.

    References
    ----------
    N. Papernot, T. Steinke, Hyperparameter Tuning with Renyi Differential Privacy, ICLR 2022.

    Examples
    --------
    >>> import dpfast
    >>> from dpfast.model_selection import private_search
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> offered = [dpfast.ProjectedHalfspaceClassifier(margin=margin) for margin in (0.01, 0.1, 0.5)]
    >>> classes = ["edible", "poisonous"]
    >>> found = private_search(offered, mushroom.data, mushroom.target, classes=classes, random_state=0)
    >>> print(found.privacy)
    (1.0, 1e-06)-DP, replace one row; 1 of 1 releases used; drawn with a seed: reproducible, not private
    >>> found.estimator.privacy_ == found.privacy
    True
    """
    most = epsilon_of(epsilon), delta_of(delta)
    check_neighbors(neighbors)
    offered = _check_searchable(estimators)
    runs = 3 * len(offered) if runs is None else runs
    if not isinstance(runs, Integral) or isinstance(runs, bool) or not 1 <= runs <= _MOST_RUNS:
        raise ValueError(f"runs must be an integer in [1, {_MOST_RUNS}], got {runs!r}")
    if not isinstance(validation, Real) or not 0 < validation < 1:
        raise ValueError(f"validation must lie in (0, 1), got {validation!r}")
    y, rng = labels_as_they_are(y), random.generator(random_state)
    X = X if hasattr(X, "shape") else as_objects(X)
    n = X.shape[0]
    if y.shape != (n,):
        raise ValueError(f"y must have one label for each of {n} rows, got shape {y.shape}")
    if (has_label := rows_to_count(y, neighbors, classes)) is not None:
        X, y = pick_rows(X, y, has_label, n)
        n = len(y)
    held_out = own_generator(rng).random(n) < validation
    train, test = (LabelledRows(*pick_rows(X, y, part, n)) for part in (~held_out, held_out))
    declared, classes = classes is not None, read_labels(y).classes if classes is None else classes
    base, each = _run_claim(offered, train, classes, (*most, neighbors), int(runs))
    for estimator in offered:
        _cost(estimator, (X, y), classes)  # refuses rows that are held out, too, as nothing is refused later
    sigma = discrete_gaussian_sigma(base, each)
    released = (Release("best of a search", 1, 1),)
    claim = PrivacySpend(epsilon, delta, neighbors, released, reproducible=random.is_reproducible(rng))
    warn_of_claim(epsilon, delta, n if neighbors == "replace" else None)
    if not declared:
        warn("the set of labels was read off the rows, and is published with the model: declare it with classes=")
    if budget is not None:
        budget.charge(epsilon, delta, neighbors=neighbors)

    best: tuple[int, int, Any, list[Any]] | None = None
    while best is None or rng.integers(runs) > 0:
        index = int(rng.integers(len(offered)))
        model = clone(offered[index]).set_params(random_state=rng)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model.fit(*train, classes=classes)
            right = int(np.count_nonzero(are_equal(model.predict(test.X), test.y)))
        noisy = int(discrete_gaussian([right], sigma, rng=rng)[0])
        if best is None or noisy > best[0]:
            best = noisy, index, model, warned
    right, index, model, warned = best
    model.set_params(epsilon=claim.epsilon, delta=claim.delta, random_state=None)
    model.privacy_ = claim
    if (encoder := getattr(model, "encoder_", None)) is not None and encoder.schema.to_find:
        encoder.set_params(epsilon=claim.epsilon, delta=claim.delta)
        encoder.privacy_ = claim
    for warning in warned:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return PrivateSearch(model, index, right, base, each, claim)


def _check_searchable(estimators):
    """Return clones of the estimators; refuse what cannot be searched."""
    offered = list(estimators)
    if not offered:
        raise ValueError("estimators must be at least one private classifier, got none")
    for estimator in offered:
        if not isinstance(estimator, PrivateParameters) or not {"epsilon", "delta"} <= {*estimator.get_params()}:
            raise ValueError(f"estimators must be private classifiers of an epsilon and a delta, got {estimator!r}")
        if estimator.budget is not None or estimator.random_state is not None:
            raise ValueError(f"budget and random_state are those of the search, but were given to {estimator!r}")
        estimator._checked()  # refuses invalid parameters
        if getattr(estimator, "verbose", False) or getattr(estimator, "_skl_callbacks", None):
            raise ValueError(f"verbose and callbacks would show every run of a search, but {estimator!r} has them")
    return [clone(estimator) for estimator in offered]


def _run_claim(offered, train, classes, claimed, runs):
    """Set the estimators to the claim of each fit, and return it.

    Gaussian claims are used if all costs allow that, and otherwise the curves of the fits if there are greedy covers
    among them; else only the pair of each fit.
    """
    epsilon, delta, neighbors = claimed

    def costs_at(base, each):
        """Return the costs of the fits, and of a count, for this claim of each."""
        for estimator in offered:
            estimator.set_params(epsilon=base, delta=each, neighbors=neighbors)
        fits = {_cost(estimator, train, classes) for estimator in offered}
        return {*fits, discrete_gaussian_cost(discrete_gaussian_sigma(base, each), sensitivity=1, releases=1, size=1)}

    (wide, each), (narrow, _) = (selection_base(epsilon, delta, runs=runs, gaussian=kind) for kind in (True, False))
    if not narrow > 0:
        raise ValueError(f"epsilon = {epsilon!r} is too little for {runs} runs")
    costs = costs_at(wide, each)
    if all(_as_gaussian(cost, wide, each, epsilon) for cost in costs):
        return wide, each
    base = wide
    for _ in range(_TRIES if any(each.kind == "cover" for cost in costs for each in cost) else 0):
        needed = selection_epsilon(_own_claims(frozenset(costs), base, each, epsilon), delta, runs=runs)
        if needed <= epsilon:
            return base, each
        base *= min(epsilon / needed, 0.999)
        if base <= narrow:
            break
        costs = costs_at(base, each)
    costs_at(narrow, each)
    return narrow, each


@cache_results
def _own_claims(costs, base, each, most):
    """Return claims with epsilons up to `most` of releases of any of these costs, and their pair."""
    together = [Composed(cost) for cost in costs]
    reach = [most / _LINES * (k + 0.5) for k in range(_LINES)]
    return [(base, each), *((epsilon, min(max(t.delta(epsilon) for t in together), 1 - 1e-15)) for epsilon in reach)]


@cache_results
def _as_gaussian(cost, base, each, most):
    """Return whether a release of this cost has all claims of Gaussian noise."""
    together = Composed(cost)
    return all(together.delta(epsilon) <= delta for epsilon, delta in gaussian_claims(base, each, most))


class _Asks(Budget):
    """A budget that stores the cost of a fit and ends the fit."""

    cost: tuple[Cost, ...]

    def charge(self, epsilon, delta=0.0, *, cost=None, **_):
        self.cost = tuple(cost)
        raise _Asked


class _Asked(Exception):
    """The cost of a fit is known."""


def _cost(estimator, train, classes):
    """Return the cost of a fit without making it; raise the error that the fit would raise."""
    asks = _Asks(estimator.epsilon, estimator.delta, neighbors=estimator.neighbors)
    asks.cost = (pair_cost(estimator.epsilon, estimator.delta),)
    with warnings.catch_warnings(), suppress(_Asked):
        warnings.simplefilter("ignore")  # the fits themselves will warn
        clone(estimator).set_params(budget=asks).fit(*train, classes=classes)
    return asks.cost
