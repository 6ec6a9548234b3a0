"""The private linear classifier to take: any table, any number of classes, probabilities, nothing to tune."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import Budget, discrete_gaussian_sigma
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.kernels.reals import expit, norm
from dpfast.learners.base import PrivateClassifier, refuse_weights
from dpfast.learners.halfspaces import calibration
from dpfast.learners.halfspaces.perceptron import (
    MOST_ROUNDS,
    ROUNDS,
    WEIGHT,
    NoisySums,
    class_weights,
    rounds,
    sensitivity,
    unsettled_sum,
)
from dpfast.learners.lazily import lazily
from dpfast.learners.parameters import Kind, SchemaLike, auto, count, flag, optional, positive
from dpfast.learners.saving import entries, integer, reals
from dpfast.mechanisms import discrete_gaussian
from dpfast.tables.code_rows import CodeRows
from dpfast.tables.codes import CodeTable
from dpfast.tables.unit_rows import unit_rows

_LARGEST_SIGMA = 2.0**52
_MOST_CLASSES = 1 << 12
_WEIGHTS = Kind(
    "be a dict of finite numbers > 0 by class",
    lambda value: isinstance(value, Mapping) and len(value) > 0 and all(map(positive().fits, value.values())),
    dict,
)
_SHARE = 20  # the histogram is paid for like one round for each so many


class HalfspaceClassifier(PrivateClassifier):
    """Private linear classifier with nothing to tune: noisy sums of the rows that are not yet settled.

    Rows, with a 1 for the intercept, are brought to norm 1. Each round releases, with noise, the sum of the rows whose
    own class is not yet clearly ahead of the best other one, added for the own class and subtracted for the other, and
    adds it to the coefficients. "Clearly" is a few deviations of the noise that the coefficients have so far. A last
    release, a noisy histogram of leads and labels, turns scores into probabilities. See
    `dpfast.learners.halfspaces.perceptron` and `dpfast.learners.halfspaces.calibration`.

    **Privacy.** All releases together are (epsilon, delta)-DP for the relation `neighbors`: "replace" compares tables
    that differ in one row (x, y), "add-remove" tables one of which has a row more. Given the earlier rounds, a row adds
    a vector of norm at most 1 (sqrt(2) for more than two classes) to a sum or nothing, so that the sum moves by at most
    2 (2 sqrt(2)) under "replace" and 1 (sqrt(2)) under "add-remove", whatever weights of at most 1 classes have. Rows
    are integers on a grid, sums are exact, and rounds and histogram are adaptive discrete Gaussian mechanisms:
    `dpfast.accounting.discrete_gaussian_sigma`. Nothing else that is released depends on the rows; their number is
    public under "replace", and plays no part.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    neighbors : {"replace", "add-remove"}, default="replace"
    n_rounds : "auto" or int, default="auto"
        "auto" is 100; for a `CodeTable` or a schema more where noise is small: for "replace" and delta = 1e-6 201 at
        epsilon 1 and 300 from 1.6 on, for "add-remove" as many at about half of that. The noise of the coefficients
        hardly depends on it.
    class_weight : dict, "balanced" or None, default=None
        Declared weights by class, 1 for those that it does not name; only their ratios count, up to 256. A row of a
        class of less weight counts for less in every sum, so that rare classes can be declared to weigh more. With two
        classes probabilities, and with them predictions, are those for rows so weighted. "balanced", for two classes,
        needs no declaration and costs nothing: sums are those without weights, and probabilities are those for classes
        of the same size, by the noisy sizes that the histogram tells.
    fit_intercept : bool, default=True
    schema, encoder_share, budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (k,)
    coef_ : ndarray, shape (1, m) for two classes, else (k, m)
        Scores of rows of norm 1 add up <x, coef_> and `intercept_`. For a `CodeTable` there is an entry for each code:
        that at offsets[j] + v is what code v of column j adds, numbers among the columns included.
    intercept_ : ndarray, shape (1,) or (k,)
    shift_ : float
        Log odds of classes_[1] are the score and shift_; with more classes, those of the best one are its lead over the
        second best and shift_.
    n_rounds_ : int
    class_weight_ : ndarray of float64, shape (k,)
        Weights of the classes, the largest 1; only if there are any.
    sigma_ : float
        Scale of the noise on each component of a sum of rows of norm 1.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    A round reads the rows twice for two classes; k times and twice more for more, codes twice. The same results at
    every instruction-set level and thread count.

    Constants were fixed on mushroom, phishing, clickbait, farm_ads, adult_a9a, usps 0/1, adult, bank_marketing,
    telco_churn and covertype_sub of the data sets in docs/results.md; usps, weather_aus and the tables made for "Tables
    that nobody has seen" there had no part in it. Rows of numbers are brought to norm 1 as they are: columns of very
    different sizes want a `schema` with their ranges, or to be scaled by public constants.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.HalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    _model = "halfspace"
    _reads_parts = True
    _codes_as = "codes"
    _not_saved = (*PrivateClassifier._not_saved, "class_weight")  # `class_weight_` is
    _parameters = PrivateClassifier._parameters | {
        "n_rounds": auto(count(1, MOST_ROUNDS)),
        "class_weight": optional(auto(_WEIGHTS, "balanced")),
        "fit_intercept": flag(),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        neighbors: str = "replace",
        n_rounds: int | str = "auto",
        class_weight: Mapping[Any, float] | str | None = None,
        fit_intercept: bool = True,
        schema: SchemaLike | None = None,
        encoder_share: float | str = "auto",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.n_rounds = n_rounds
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.schema = schema
        self.encoder_share = encoder_share
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: ArrayLike | None = None,
        units: Any = None,
        rows_per_unit: int | None = None,
        **refused: Any,
    ) -> Self:
        """Learn from noisy sums.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix, RowBlocks or CodeTable, shape (n, d)
            With a `schema`, a DataFrame, Arrow table or dict of arrays.
        y : array_like, shape (n,)
            Labels of two or more classes; by default the column that the schema names.
        classes : array_like, optional
            The public set of labels; read off y by default.
        units : array_like, shape (n,), optional
            Whose each row is, where the claim is to be for persons.
        rows_per_unit : int, optional
            With `units`: at most so many rows of each are used, chosen at random; see `dpfast.learners.units`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        refuse_weights(refused)
        p = self._checked(X)
        with self._fitting(p.rng) as run:
            X, y, classes = self._tabled(X, y, classes, p, units, rows_per_unit, run)
            parts, rows, public = self._asked(X, y, classes, self._image())
            k, weights, one = len(public.classes), None, rows.reach
            if p.n_rounds == "auto":
                moves = p.rows_per_unit * (2 if p.neighbors == "replace" else 1)
                p.n_rounds = rounds(p.epsilon, p.delta, moves, isinstance(rows, CodeRows))
            balanced = p.class_weight == "balanced"
            self._refuse_classes(public.classes, p)
            if p.class_weight is not None and not balanced:
                weights, one = class_weights(p.class_weight, public.classes), WEIGHT * rows.reach
                public.others["class_weight_"] = weights / WEIGHT
            noise = _Noise(p, rows, k, one // rows.reach)
            public.others.update(n_rounds_=p.n_rounds, sigma_=noise.sigma / one)

            sums = NoisySums(rows.shape[1], k, noise.sigma / one, p.n_rounds)
            model = _Model(sums, rows)
            run.charge(public, noise.cost, rounds=p.n_rounds, histogram=1)
            run.released = model
            for _ in self._shown(range(p.n_rounds), "rounds", parts, public):
                w, threshold = sums.unit()
                total = parts.sum(unsettled_sum, w, threshold, weights)
                sums.add(discrete_gaussian(total, noise.sigma, rng=run.rng) / one)
                run.used["rounds"] += 1
            counts = parts.sum(_histogram, sums.model())
            noisy = discrete_gaussian(noise.unit * counts, noise.sigma, rng=run.rng) / noise.unit
            if weights is not None and k == 2:
                noisy = noisy * weights / WEIGHT
            model.slope, model.shift = calibration.fit(noisy, noise.sigma / noise.unit)
            if balanced:
                sizes = calibration.sizes(noisy, noise.sigma / noise.unit)
                run.attributes["class_weight_"] = sizes.min() / sizes
                model.shift += math.log(sizes[0] / sizes[1])
            run.used["histogram"] += 1
        return self

    def _refuse_classes(self, classes, p):
        if len(classes) > _MOST_CLASSES:
            k, n_rounds = len(classes), ROUNDS if p.n_rounds == "auto" else p.n_rounds
            raise ValueError(
                f"{k:,} classes would take {k * n_rounds:,} passes over the rows and as many sums "
                f"with noise, one for each class in each of {n_rounds} rounds: give at most {_MOST_CLASSES:,} classes"
            )
        if p.class_weight == "balanced" and len(classes) > 2:
            raise ValueError(
                f'class_weight="balanced" is for two classes, got {len(classes)}: declare weights by class'
            )
        if isinstance(p.class_weight, Mapping):
            class_weights(p.class_weight, classes)

    def _publish(self, run):
        model = run.released
        self.coef_, self.intercept_ = model.linear()
        self.shift_ = model.shift

    def _image(self):
        return partial(unit_rows, fit_intercept=bool(self.fit_intercept), normalize=True)

    def _checked(self, X=None):
        p = super()._checked(X)
        discrete_gaussian_sigma(p.epsilon, p.delta)  # refuses what they may not be
        return p

    # ---- what was learned ------------------------------------------------------------------------------------------

    @lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of classes_[1] for two classes, shape (n,); else scores of the classes, shape (n, k)."""
        check_is_fitted(self)
        X = self._coded(X)
        rows = self._image()(X)
        self._check_features(X, reset=False)
        if isinstance(X, CodeTable):
            scores = rows.looked_up(self.coef_.T, self.intercept_).astype(np.float64)
        else:
            w = np.concatenate([self.coef_, self.intercept_[:, np.newaxis]], axis=1).T[: rows.shape[1]]
            scores = _scores(rows, w)
        return scores[:, 0] + self.shift_ if len(self.classes_) == 2 else scores

    @lazily
    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row, shape (n,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes: float64, shape (n, k); see `dpfast.learners.halfspaces.calibration`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        return calibration.probabilities(scores, self.shift_)

    def terms(self) -> Any:
        """What each column adds to the scores, code by code, those that matter most first: a list of
        `dpfast.report.Term`, for a model of a table with a schema."""
        from dpfast.report import terms

        check_is_fitted(self)
        return terms(self)

    def _released(self):
        return {
            "coef": self.coef_.tolist(),
            "intercept": self.intercept_.tolist(),
            "shift": self.shift_,
            "n_rounds": self.n_rounds_,
            "sigma": self.sigma_,
        } | ({"class_weight": self.class_weight_.tolist()} if hasattr(self, "class_weight_") else {})

    def _restore(self, released):
        entries(released, "coef", "intercept", "shift", "n_rounds", "sigma", maybe=("class_weight",))
        columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        coef = released["coef"]
        if not isinstance(coef, list) or len(coef) != columns or not isinstance(coef[0], list):
            raise ValueError(f"wanted {columns} lists of coefficients, got {coef!r}")
        self.coef_ = np.array([reals(each, len(coef[0])) for each in coef])
        self.intercept_ = reals(released["intercept"], columns)
        self.shift_ = float(reals([released["shift"]], 1)[0])
        self.n_rounds_ = integer(released["n_rounds"], 1, MOST_ROUNDS)
        self.sigma_ = positive().read("sigma", released["sigma"])
        if "class_weight" in released:
            self.class_weight_ = reals(released["class_weight"], len(self.classes_))


class _Noise:
    """The noise of a run, in steps of the grid, that makes its releases together (epsilon, delta)-DP.

    The histogram counts every row `unit` times, so that it moves by no more than the square root of `paid` times what a
    round's sum moves by: it costs what that many rounds do.
    """

    def __init__(self, p, rows, classes, steps):
        moves, columns = steps * sensitivity(rows, classes, p.neighbors), 1 if classes == 2 else classes
        paid = -(-p.n_rounds // _SHARE)
        self.unit = math.isqrt(paid * moves**2 // (2 if p.neighbors == "replace" else 1))
        size = max(columns * rows.shape[1], 2 * calibration.BINS)
        releases = {"sensitivity": p.rows_per_unit * moves, "releases": p.n_rounds + paid, "size": size}
        self.sigma = discrete_gaussian_sigma(p.epsilon, p.delta, **releases)
        self.cost = discrete_gaussian_cost(self.sigma, **releases)
        if self.sigma > _LARGEST_SIGMA:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {p.epsilon!r}")


class _Model:
    """What was released so far."""

    def __init__(self, sums, rows):
        self._sums, self._linear = sums, rows.linear
        self.slope, self.shift = 1.0, 0.0

    def linear(self):
        """Coefficients and intercepts, shapes (columns, m) and (columns,)."""
        coef, intercept = self._linear(self.slope * self._sums.model())
        return np.ascontiguousarray(coef.T), intercept


def _histogram(piece, w):
    return calibration.histogram(_scores(piece.rows, w), piece.labels)


def _scores(rows, w):
    """<w, x_i>, whatever the length of w: float64, shape (n, columns)."""
    length = norm(w) or 1.0
    return length * rows.margins(w / length).astype(np.float64)
