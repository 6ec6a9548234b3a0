"""Private halfspaces of large margin: random projection, then noisy descent."""

import math
from fractions import Fraction
from numbers import Integral, Real

import numpy as np

from dpfast import random
from dpfast.accounting import PrivacySpend, Release, discrete_gaussian_sigma, single_sample_sigma
from dpfast.data.products import readable
from dpfast.data.projection import project, projectable
from dpfast.data.unit_rows import unit_rows
from dpfast.kernels import signs as projection
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.base import LinearClassifier, refuse_weights, shown
from dpfast.learners.descent import FullBatch, single_sample_steps
from dpfast.mechanisms import exponential

_ROUNDS = 100
_LARGEST_SIGMA = 2.0**52
_REPETITIONS = math.ceil(math.log(8 / 0.05))  # [NUZ, appendix A] at a failure probability of 0.05
_STEP_SECONDS, _NOISE_SECONDS = 1e-5, 2e-7  # of a single-sample step, and of each of its components
_PATIENCE = 3600.0  # seconds


class ProjectedHalfspaceClassifier(LinearClassifier):
    """Private linear classifier for data of large margin [NUZ, Algorithm 1]_: project, normalise, descend.

    Rows x, with a 1 for the intercept, are projected by a random matrix A of signs to fewer components if there are
    many columns, and brought to the unit sphere. In each round the sum of y x over the rows whose hinge loss
    max(0, 1 - y <w, x> / (0.86 margin)) is not zero is released with noise; w moves along it within the unit ball. The
    model is A' w for w the average over the second half of the rounds: prediction needs no projection.

    **Privacy.** All rounds together are (epsilon, delta)-DP for the relation `neighbors`: "replace" compares tables
    that differ in one row (x, y), "add-remove" tables one of which has a row more. A is drawn independently of the
    rows, hence public. Given it and the earlier rounds, a row adds one vector of norm at most 1 to the sum or none, so
    that the sum moves by at most 2 under "replace" and 1 under "add-remove"; rows are integers on a grid, sums are
    exact, and rounds are adaptive discrete Gaussian mechanisms: `dpfast.accounting.discrete_gaussian_sigma`. Nothing
    else depends on the rows, not even on their number: steps are functions of what was released.

    ``schedule="paper"`` is appendix A instead: six times n^2 steps that see one random row each, and the exponential
    mechanism among the six results, by the number of rows with y <w, x> < margin / 10. As printed that is 2 epsilon;
    here the steps get (epsilon / 2, delta), by `dpfast.accounting.single_sample_sigma`, and the choice epsilon / 2.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    margin : float in (0, 1], default=0.1
        gamma: what y <u, x> is expected to exceed for most rows x, scaled to norm 1, and some unit vector u. Declared,
        not computed from the rows.
    n_components : "auto" or int, default="auto"
        m. A projected product of unit vectors errs by about 1/sqrt(m): "auto" is 10 / margin^2, at most 4096, which
        keeps that below a third of the margin. (The paper: ln(n / beta) / margin^2 times a constant.) Rows that have no
        more entries than m, their 1 included, are not projected.
    n_rounds : "auto" or int, default="auto"
        T; "auto" is 100. The noise of the average hardly depends on it.
    schedule : {"full-batch", "paper"}, default="full-batch"
        "paper" is refused when its steps would take more than an hour, and for "add-remove", as n^2 tells n.
    neighbors : {"replace", "add-remove"}, default="replace"
    fit_intercept : bool, default=True
    budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
    intercept_ : float
    n_components_ : int
        m; the number of columns, and one for the intercept, if rows were not projected.
    n_rounds_ : int
        Rounds or steps paid for.
    sigma_ : float
        Scale of the noise on each component of a sum of rows of norm 1.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    A round reads the rows, projected or not, twice; projected rows are kept, 4 n m bytes. Steps shrink with the norms
    of the noisy sums released so far, see `dpfast.learners.descent`; the factor 1 / (0.86 margin) of the loss cancels
    in them, its threshold does not. The same results at every instruction-set level and thread count.

    References
    ----------
    .. [NUZ] H. L. Nguyen, J. Ullman, L. Zakynthinou, Efficient Private Algorithms for Learning Large-Margin Halfspaces,
       ALT 2020.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.ProjectedHalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    _model = "projected-halfspace"
    _numbers = ("n_components", "n_rounds", "sigma")

    def __init__(
        self,
        epsilon=1.0,
        delta=1e-6,
        *,
        margin=0.1,
        n_components="auto",
        n_rounds="auto",
        schedule="full-batch",
        neighbors="replace",
        fit_intercept=True,
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.margin = margin
        self.n_components = n_components
        self.n_rounds = n_rounds
        self.schedule = schedule
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None, **refused):
        """Learn by noisy descent.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The public set of labels; read off y by default.

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
        self._check_parameters()
        rng = random.generator(self.random_state)
        self._check_budget()
        table = readable(X)
        self._check_features(X, reset=True)
        n, d = table.shape[0], self.n_features_in_ + bool(self.fit_intercept)
        signs = self._signs(y, n, classes)
        m = min(d, self._components())
        if m < d:
            table = projectable(table)
            reach = 1 << GRID_BITS
        else:
            rows = unit_rows(table, fit_intercept=bool(self.fit_intercept), normalize=True)
            reach = rows.reach
        rounds, sigma = self._noise(n, m, reach)

        self._charge()
        key = None
        if m < d:
            key = int.from_bytes(rng.bytes(16))
            rows = unit_rows(self._projected(table, m, key), normalize=True)
        self.n_components_, self.n_rounds_, self.sigma_ = m, rounds, sigma / reach
        descend = self._full_batch if self.schedule == "full-batch" else self._paper
        w, releases = np.zeros(m), ()
        try:
            for w, releases in descend(rows, signs, sigma, rng):  # noqa: B007
                pass
        finally:  # what was released is kept, also when interrupted
            linear = w if key is None else projection.lift(w, d, key)
            self.coef_, self.intercept_ = linear[: self.n_features_in_], float(linear[self.n_features_in_ :].sum())
            self.privacy_ = PrivacySpend(
                self.epsilon,
                self.delta,
                self.neighbors,
                releases,
                reproducible=random.is_reproducible(rng),
            )
        return self

    # ---- the algorithm ---------------------------------------------------------------------------------------------

    def _projected(self, table, m, key):
        """A x for each row x: its features and, if wanted, a 1."""
        rows = project(table, m, key)
        if self.fit_intercept:
            d = self.n_features_in_
            rows += projection.project_csr(np.array([0, 1]), np.array([d]), None, d + 1, m, key)
        return rows

    def _full_batch(self, rows, signs, sigma, rng):
        """After each round, the model and what was released."""
        descent = FullBatch(self.margin, self.n_rounds_, rows.shape[1])
        yield descent.model(), (Release("rounds", 0, self.n_rounds_),)
        for _ in shown(range(self.n_rounds_), "rounds", self.verbose):
            descent.step(rows, signs, sigma, rng)
            yield descent.model(), (Release("rounds", descent.used, self.n_rounds_),)

    def _paper(self, rows, signs, sigma, rng):
        """After every n steps, the model and what was released."""
        n = len(signs)
        integers = np.array([rows.weighted_sum(chosen) for chosen in np.eye(n, dtype=np.int32)])
        candidates, passes = [], iter(shown(range(_REPETITIONS * n), "passes", self.verbose))
        for _ in range(_REPETITIONS):
            for w in single_sample_steps(integers, rows.reach, signs, self.margin, sigma, rng):
                used = n * (next(passes) + 1)
                yield w, (Release("steps", used, self.n_rounds_), Release("choice", 0, 1))
            candidates.append(w)
        next(passes, None)  # ends the progress bar
        few = [-int((signs * rows.margins(w) < self.margin / 10).sum()) for w in candidates]
        chosen = exponential(few, Fraction(self._half_epsilon()) / 2, rng=rng)  # their range is 2
        yield candidates[chosen], (Release("steps", used, self.n_rounds_), Release("choice", 1, 1))

    def _half_epsilon(self):
        return math.nextafter(float(self.epsilon), 0) / 2

    def _components(self):
        return math.ceil(min(10 / self.margin**2, 4096)) if self.n_components == "auto" else int(self.n_components)

    def _noise(self, n, m, reach):
        """Rounds or steps, and the noise of one in units of the grid; refused if it will not do."""
        sensitivity = (2 if self.neighbors == "replace" else 1) * reach
        if self.schedule == "full-batch":
            rounds = _ROUNDS if self.n_rounds == "auto" else int(self.n_rounds)
            sigma = discrete_gaussian_sigma(self.epsilon, self.delta, sensitivity=sensitivity, releases=rounds, size=m)
        else:
            rounds = _REPETITIONS * n**2
            seconds = rounds * (_STEP_SECONDS + _NOISE_SECONDS * m)
            if seconds > _PATIENCE:
                raise ValueError(
                    f'schedule="paper" takes {_REPETITIONS} n^2 = {rounds:,} steps for n = {n:,} rows, about '
                    f'{seconds / 3600:,.0f} hours, and is refused above one; use schedule="full-batch"'
                )
            sigma = single_sample_sigma(
                self._half_epsilon(), self.delta, sensitivity=sensitivity, rows=n, steps=rounds, size=m
            )
        if sigma > _LARGEST_SIGMA:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {self.epsilon!r}")
        return rounds, sigma

    def _check_parameters(self):
        if not isinstance(self.margin, Real) or isinstance(self.margin, bool) or not 0 < self.margin <= 1:
            raise ValueError(f"margin must lie in (0, 1], got {self.margin!r}")
        _check_count("n_components", self.n_components, 1 << 20)
        _check_count("n_rounds", self.n_rounds, 1 << 15)
        if self.schedule not in ("full-batch", "paper"):
            raise ValueError(f'schedule must be "full-batch" or "paper", got {self.schedule!r}')
        if self.schedule == "paper" and self.neighbors != "replace":
            raise ValueError('schedule="paper" has n^2 steps, so that n is public: it needs neighbors="replace"')
        if self.schedule == "paper" and self.n_rounds != "auto":
            raise ValueError(f'schedule="paper" has n^2 steps: n_rounds must be "auto", got {self.n_rounds!r}')
        discrete_gaussian_sigma(self.epsilon, self.delta)  # refuses what they may not be


def _check_count(name, value, most):
    if value == "auto" and isinstance(value, str):
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f'{name} must be "auto" or an integer in [1, {most}], got {value!r}')
