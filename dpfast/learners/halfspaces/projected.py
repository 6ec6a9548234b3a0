"""Private halfspaces of large margin: random projection, then noisy descent."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpfast.accounting import NoisySums, discrete_gaussian_sigma, single_sample_sigma
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.spend import pair_cost
from dpfast.base.forms import Form
from dpfast.base.parameters import FIT_INTERCEPT, auto, choice, count, estimator, parameter, positive, real
from dpfast.base.plan import Plan, Proved, Spending, Task
from dpfast.base.run import Rows, Run
from dpfast.kernels import signs as projection
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.counted import CountedClassifier
from dpfast.learners.halfspaces.descent import FadingDescent, FullBatch, single_sample_steps
from dpfast.learners.halfspaces.linear import (
    LinearModel,
    LinearRows,
    count_by_score,
    refuse_many_classes,
    stack_columns,
)
from dpfast.learners.halfspaces.measure import CAP
from dpfast.learners.halfspaces.opened import CentredState, PlainForm, plan_opening
from dpfast.learners.halfspaces.plain import CentredImage
from dpfast.mechanisms.draws import Claim
from dpfast.parts.blocks import Piece
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.projection import project, projectable, readable
from dpfast.tables.unit_rows import unit_rows

_ROUNDS = 100
_REPETITIONS = math.ceil(math.log(8 / 0.05))  # [NUZ, appendix A] at a failure probability of 0.05
_STEP_SECONDS, _NOISE_SECONDS = 1e-5, 2e-7  # of a single-sample step, and of each of its components
_PATIENCE = 3600.0  # seconds


@dataclass(frozen=True)
class ProjectedRows(LinearRows):
    """Rows to project, or, if they are no longer than their projections, rows of norm 1."""

    n_components: int | str
    margin: float | str
    fit_intercept: bool

    @property
    def most(self) -> int:
        """Return the number of components; rows of no more columns are not projected."""
        if not isinstance(self.n_components, str):
            return self.n_components
        return 4096 if isinstance(self.margin, str) else math.ceil(min(10 / self.margin**2, 4096))

    def rows(self, X: Any) -> Any:
        X = readable(pack_codes(X))
        if self.most < X.shape[1] + self.fit_intercept:
            return projectable(X)
        return unit_rows(X, fit_intercept=self.fit_intercept, normalize=True)


@dataclass(frozen=True)
class ProjectedModel(LinearModel):
    """Coefficients by descent, and the numbers by which they were learned."""

    n_components: int
    n_rounds: int
    sigma: float

    def check(self) -> None:
        super().check()
        count(1).read("n_components", self.n_components)
        count(1).read("n_rounds", self.n_rounds)
        positive().read("sigma", self.sigma)


@estimator
class ProjectedHalfspaceClassifier(CountedClassifier, name="projected-halfspace"):
    """Private linear classifier for data of large margin [NUZ, Algorithm 1]_: project, normalise, descend.

    Booleans and bits are the numbers 0 and 1. A 1 for the intercept is appended to each row x. If there are many
    columns, a random matrix A of signs projects the rows to fewer components. Rows are then scaled to norm 1. Each
    round releases, with noise, the sum of y x over the rows whose hinge loss max(0, 1 - y <w, x> / (0.86 margin)) is
    not zero, and w makes a step along this sum within the unit ball. The model is A' w, where w is the average over the
    second half of the rounds, so prediction needs no projection.

    For rows that are not projected, and for more than two classes, the default loss fades: the first release is an
    opening, the noisy sum of the rows with the class sizes, as in `BoostedHalfspaceClassifier`. The noisy mean is
    subtracted from the rows, scores start at the log odds of the classes, and a row counts min(1, exp(-margin)) instead
    of 1 or 0. Its margin is the score of its class, or for more than two classes this score minus the largest other
    one; the row then also counts against that other class. So rare classes are ranked.

    **Privacy.** All releases together are (epsilon, delta)-DP for the relation `neighbors`. A is drawn independently of
    the rows and is therefore public. Given A and the earlier rounds, a row adds at most one vector of norm at most 1 to
    the sum (sqrt(2) for more than two classes), so the sum changes by at most 2 (2 sqrt(2)) under "replace" and by 1
    (sqrt(2)) under "add-remove". The opening changes by at most sqrt(4.5), by sqrt(2.5) if the type of the rows
    excludes negative entries and they are not projected, and under "add-remove" by sqrt(1.25). Rows are integers on a
    grid, sums are exact, and all releases are adaptive discrete Gaussian mechanisms:
    `dpfast.accounting.discrete_gaussian_sigma` and `dpfast.accounting.bill_noise`. Nothing else depends on the rows,
    not even on their number, since steps are functions of the releases.

    ``schedule="paper"`` runs appendix A instead: six times n^2 steps, each on one random row, with a loss that is zero
    from 0.96 margin on. The exponential mechanism then chooses among the six results by the number of rows with
    y <w, x> < margin / 10. (The paper chooses by the loss, on which one row has 1 / margin times the influence.) In the
    paper the steps get all of epsilon and the choice gets none; here the steps get (epsilon / 2, delta), by
    `dpfast.accounting.single_sample_sigma`, and the choice gets epsilon / 2.

    Parameters
    ----------
    margin : "auto" or float in (0, 1], default="auto"
        The margin gamma: y <u, x> is expected to exceed it for some unit vector u and most rows x, scaled to norm 1. It
        is declared, not computed from the rows. "auto" chooses one of 1/128, 1/64, ..., 1 in each round, from the
        releases so far: see `dpfast.learners.halfspaces.descent`. ``schedule="paper"`` needs a number.
    n_components : "auto" or int, default="auto"
        The number m of components. The projection changes a product of unit vectors by about 1/sqrt(m). "auto" is
        10 / margin^2, at most 4096, which keeps this below a third of the margin, and 4096 for ``margin="auto"``. (The
        paper has ln(n / beta) / margin^2 times a constant.) Rows with at most m entries, including the 1, are not
        projected.
    n_rounds : "auto" or int, default="auto"
        The number of rounds; "auto" is 100. The noise of the average hardly depends on it.
    loss : {"auto", "fading", "hinge"}, default="auto"
        "fading" has an opening and residuals that fade; "hinge" is the loss of the paper, without an opening, for two
        classes. "auto" is "hinge" for a declared margin, for ``schedule="paper"``, and for two classes if rows are
        projected, where it is more accurate at small epsilon; otherwise it is "fading".
    schedule : {"full-batch", "paper"}, default="full-batch"
        "paper" is refused if its steps would take more than an hour, and for "add-remove", as n^2 reveals n.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_) for two classes, else (n_classes, n_features_in_)
        The coefficients of rows that are divided by their length, that of (x, 1), or of x without `fit_intercept`. The
        score of a row is (<x, coef_> + intercept_) / length + shift_.
    intercept_ : ndarray, shape (1,) or (n_classes,)
        The coefficient of the constant 1, which is divided by the length of the row, too.
    shift_ : float, or ndarray of shape (n_classes,)
        What is added to the score of every row.
    class_sizes_ : ndarray of float64, shape (n_classes,)
        Noisy numbers of rows of the classes, if the fit released them. Of classes with equal scores, `predict` returns
        the one with most rows.
    n_components_ : int
        The number m of components; if rows were not projected, the number of columns, and one for the intercept.
    n_rounds_ : int
        The number of rounds or steps that were paid for.
    sigma_ : float
        Scale of the noise on each component of a sum of rows of norm 1.

    Notes
    -----
    A round reads the rows twice; projected rows take 4 n m bytes. The step size decreases with the norms of the noisy
    sums released so far (`dpfast.learners.halfspaces.descent`).

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.ProjectedHalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    margin: float | str = parameter("auto", auto(real(0, 1, "(]")))
    n_components: int | str = parameter("auto", auto(count(1, 1 << 20)))
    n_rounds: int | str = parameter("auto", auto(count(1, 1 << 15)))
    loss: str = parameter("auto", choice("auto", "fading", "hinge"))
    schedule: str = parameter("full-batch", choice("full-batch", "paper"))
    fit_intercept: bool = FIT_INTERCEPT

    @property
    def reads(self) -> Form:
        """Return the form of the rows, which follows from the number of components."""
        return ProjectedRows(
            self.n_components,
            self.margin,
            bool(self.fit_intercept),
            several_classes=self._may_fade(),
            in_parts=self.schedule != "paper",
            why_whole='schedule="paper" reads single rows, and no table in parts; use schedule="full-batch"',
            surveyed=True,
            bins=12,
            groups=True,
            vector_parameters=("margin", "n_components"),
        )

    @property
    def spares_unlabelled(self) -> bool:
        """Return whether rows may lack a label: the paper's schedule needs their number."""
        return self.schedule != "paper"

    def check(self) -> None:
        """Refuse parameters that do not suit one another."""
        paper = self.schedule == "paper"
        if paper and self.neighbors != "replace":
            raise ValueError('schedule="paper" has n^2 steps, so that n is public: it needs neighbors="replace"')
        if paper and self.n_rounds != "auto":
            raise ValueError(f'schedule="paper" has n^2 steps: n_rounds must be "auto", got {self.n_rounds!r}')
        if paper and self.margin == "auto":
            raise ValueError('schedule="paper" has a loss for one margin: margin must lie in (0, 1], got "auto"')

    def plan(self, task: Task) -> Plan:
        refuse_many_classes(task.n_classes)
        form, n_rounds = self._form(task), _ROUNDS if isinstance(self.n_rounds, str) else self.n_rounds
        if self.schedule == "paper":
            return self._plan_paper(task, form)
        if self._fades(task):
            image = CentredImage(form, task.n_classes, self.fit_intercept)
            return Plan(**plan_opening(image, task, CAP * task.changed_rows, n_rounds), **self.counting(task))
        releases = {"sensitivity": _moves(task, form), "releases": n_rounds, "size": form.shape[1]}
        sigma = discrete_gaussian_sigma(self.without_counts(task).epsilon, task.delta, **releases)
        cost = discrete_gaussian_cost(sigma, **releases)
        rounds = Proved("gaussian", sigma, cost, size=form.shape[1], times=n_rounds)
        return Plan(rounds=rounds, **self.counting(task, cost))

    def spending(self, task: Task) -> Spending:
        if self.schedule == "paper":
            return Spending()
        # of residuals that fade, the rounds have more entries, whose steps are finer by far more than that
        most = self._form(task).shape[1] + task.n_classes
        return Spending("gaussian", self.counts_share, (NoisySums(1 << GRID_BITS, 1, most),))

    def learn(self, rows: Rows, plan: Plan, run: Run) -> ProjectedModel:
        learn = self._learn_faded if "opening" in plan else self._learn_hinged
        form = self._form(rows.task)
        state = learn(form, rows, plan, run)
        model = state.model()
        return self.count(model, run, lambda: rows.sum(count_by_score, model))

    def _learn_faded(self, form, rows, plan, run):
        """Open, then descend over centred rows with residuals that fade."""
        image, n_rounds = CentredImage(form, rows.n_classes, self.fit_intercept), plan["rounds"].times
        sigma = run.scale("rounds")
        numbers = form.shape[1], n_rounds, sigma / (image.reach * CAP)
        state = _Fading(image, rows, numbers, self.fit_intercept)
        run.show(state.model)
        parts = self._project(form, rows, run, state)
        opened_parts, start = state.open(parts, rows, run)
        descent, release = FadingDescent(n_rounds, start, rows.n_classes), partial(run.release, "rounds")
        for _ in run.rounds("rounds"):
            descent.step(opened_parts, image.reach, sigma, release)
            state.set(descent.model())
        return state

    def _learn_hinged(self, form, rows, plan, run):
        """Descend on the hinge loss."""
        (name, planned), *_ = plan.items()
        numbers = form.shape[1], planned.times, run.scale(name) / form.reach
        state = _Hinge(rows, numbers, self.fit_intercept)
        run.show(state.model)
        parts = self._project(form, rows, run, state)
        if self.schedule == "paper":
            self._learn_paper(parts, form.reach, rows.n, run, state)
            return state
        sigma, release = run.scale("rounds"), partial(run.release, "rounds")
        descent = FullBatch(self.margin, planned.times, form.shape[1])
        for _ in run.rounds("rounds"):
            descent.step(parts, form.reach, sigma, release)
            state.w = descent.model()
        return state

    def _learn_paper(self, parts, reach, n, run, state):
        """Make all steps, and set the state after every n of them; then choose among the repetitions."""
        rows, signs = parts.only.rows, (2 * parts.only.labels - 1).astype(np.int8)
        integers = np.array([rows.weighted_sum(unit) for unit in np.eye(n, dtype=np.int32)])
        candidates, passes = [], None
        epsilon = _half(self.without_counts(state.rows.task).epsilon)
        claim = Claim(2 * reach / run.scale("steps"), (pair_cost(epsilon, state.rows.task.delta),))

        def make_pass(sigma, rng):
            nonlocal passes
            if passes is None:
                passes = single_sample_steps(integers, reach, signs, self.margin, sigma, rng, claim)
            return next(passes)

        for k in run.rounds("steps", each=n):
            state.w = run.draw("steps", len(state.w), make_pass, times=n)
            if (k + 1) % n == 0:
                candidates.append(state.w)
                passes = None
        few = [-int((signs * rows.margins(w) < self.margin / 10).sum()) for w in candidates]
        state.w = candidates[run.select("choice", few)]  # the range of the numbers is 2

    def _plan_paper(self, task, form):
        """Return the plan of the paper's schedule; refuse steps that would not finish."""
        n, (_, m) = task.n_rows, form.shape
        if task.rows_per_unit > 1:
            raise ValueError('schedule="paper" is for one row of a unit: rows_per_unit must be 1')
        steps = _REPETITIONS * n**2
        seconds = steps * (_STEP_SECONDS + _NOISE_SECONDS * m)
        if seconds > _PATIENCE:
            raise ValueError(
                f'schedule="paper" takes {_REPETITIONS} n^2 = {steps:,} steps for n = {n:,} rows, about '
                f'{seconds / 3600:,.0f} hours, and is refused above one; use schedule="full-batch"'
            )
        epsilon = _half(self.without_counts(task).epsilon)
        sigma = single_sample_sigma(epsilon, task.delta, sensitivity=_moves(task, form), rows=n, steps=steps, size=m)
        return Plan(
            steps=Proved("gaussian", sigma, size=m, times=steps),
            choice=Proved("exponential", Fraction(epsilon) / 2, size=_REPETITIONS),
            **self.counting(task, ()),
        )

    def _project(self, form, rows, run, state):
        """Return the parts with projected rows, whose key the state gets; or the parts, if all columns are kept."""
        if rows.reach is not None:
            return rows.parts
        state.key = int.from_bytes(run.key().to_bytes(16, "little"))
        return rows.parts.map(_projected, form.shape[1], state.key, bool(self.fit_intercept))

    def _form(self, task):
        """Return the form of the rows after a projection, whose columns are then components of either sign."""
        if task.reach is not None:
            return PlainForm.of(task)
        return PlainForm((task.n_rows or 1, self.reads.most), 1 << GRID_BITS, True)

    def _fades(self, task):
        """Return whether residuals fade, for rows of a task."""
        return self._may_fade() and (self.loss == "fading" or task.reach is not None or task.n_classes > 2)

    def _may_fade(self):
        """Return whether residuals may fade, by the parameters as they are."""
        declared = self.schedule != "full-batch" or self.margin != "auto"
        if self.loss == "fading" and declared:
            raise ValueError(
                'loss="fading" is for margin="auto" and schedule="full-batch", '
                f"got {self.margin!r} and {self.schedule!r}"
            )
        return self.loss != "hinge" and not declared

    def read_model(self, saved: Any, task: Task) -> ProjectedModel:
        return ProjectedModel.of_file(saved, task.n_columns, task.n_classes, bool(self.fit_intercept), only_clips=False)


def _half(epsilon):
    return math.nextafter(float(epsilon), 0) / 2


def _moves(task, form):
    """Return how far one row moves a sum, or the rows of a unit, in steps of the grid."""
    return task.changed_rows * form.reach * task.rows_per_unit


class _Fading(CentredState):
    """Released coefficients of centred rows, which may be projections of rows that end with a 1."""

    key = None

    def __init__(self, image, rows, numbers, fit_intercept):
        super().__init__(image, rows.n_features, numbers[1])
        self._rows, self._numbers, self._constant = rows, numbers, bool(fit_intercept)

    def lifted(self, coef):
        d = self._rows.n_features + self._constant
        if self.key is None:
            return coef if len(coef) == d else np.zeros((d, *coef.shape[1:]))
        columns = [projection.lift(column, d, self.key) for column in np.reshape(coef, (len(coef), -1)).T]
        return np.stack(columns, axis=1).reshape(d, *coef.shape[1:])

    def model(self):
        """Return the model of the releases so far."""
        sizes = self.sizes_or(self._rows.class_sizes)
        return ProjectedModel(*self.linear(), self._constant, False, *self._numbers, class_sizes=sizes)


class _Hinge:
    """A released linear function w of the components of rows; the last column may be the constant 1."""

    key = None

    def __init__(self, rows, numbers, fit_intercept):
        self.rows, self.w = rows, np.zeros(numbers[0])
        self._numbers, self._constant = numbers, bool(fit_intercept)

    def model(self):
        """Return the model of the releases so far."""
        n_features = self.rows.n_features
        linear = self.w if self.key is None else projection.lift(self.w, n_features + self._constant, self.key)
        columns = stack_columns(linear[:n_features], float(linear[n_features:].sum()), 0.0)
        return ProjectedModel(*columns, self._constant, False, *self._numbers, class_sizes=self.rows.class_sizes)


def _projected(piece, m, key, fit_intercept):
    """Return the piece with A x for each row x, which ends with a 1 if there is an intercept."""
    return Piece(piece.rows, piece.labels, partial(_projected_rows, m=m, key=key, fit_intercept=fit_intercept))


def _projected_rows(table, m, key, fit_intercept):
    rows = project(table, m, key)
    if fit_intercept:
        d = table.shape[1]
        rows += projection.project_csr(np.array([0, 1]), np.array([d]), None, d + 1, m, key)
    return unit_rows(rows, normalize=True)
