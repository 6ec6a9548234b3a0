"""Private halfspaces of large margin: random projection, then noisy descent."""

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from dpfast.accounting import NoisySums, discrete_gaussian_sigma, single_sample_sigma
from dpfast.accounting.claims import pair_cost
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.kernels import signs as projection
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.base import LinearClassifier, shown
from dpfast.learners.halfspaces.descent import FadingDescent, FullBatch, single_sample_steps
from dpfast.learners.halfspaces.measure import CAP
from dpfast.learners.halfspaces.opened import CentredModel, OpenedNoise
from dpfast.learners.halfspaces.plain import CentredImage
from dpfast.learners.parameters import (
    FIT_INTERCEPT,
    auto,
    changed_rows,
    check_scale,
    choice,
    count,
    estimator,
    parameter,
    positive,
    real,
)
from dpfast.learners.reading import MOST_LABELS
from dpfast.mechanisms import exponential
from dpfast.mechanisms.draws import Claim
from dpfast.parts.blocks import Piece
from dpfast.tables.code_bits import packed_codes
from dpfast.tables.projection import project, projectable, readable
from dpfast.tables.unit_rows import unit_rows

_ROUNDS = 100
_REPETITIONS = math.ceil(math.log(8 / 0.05))  # [NUZ, appendix A] at a failure probability of 0.05
_STEP_SECONDS, _NOISE_SECONDS = 1e-5, 2e-7  # of a single-sample step, and of each of its components
_PATIENCE = 3600.0  # seconds


@estimator
class ProjectedHalfspaceClassifier(LinearClassifier):
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

    _model = "projected-halfspace"
    _reads_parts = True
    _of_vectors = ("margin", "n_components")
    _numbers = {"n_components": count(1), "n_rounds": count(1), "sigma": positive()}  # noqa: RUF012
    margin: float | str = parameter("auto", auto(real(0, 1, "(]")))
    n_components: int | str = parameter("auto", auto(count(1, 1 << 20)))
    n_rounds: int | str = parameter("auto", auto(count(1, 1 << 15)))
    loss: str = parameter("auto", choice("auto", "fading", "hinge"))
    schedule: str = parameter("full-batch", choice("full-batch", "paper"))
    fit_intercept: bool = FIT_INTERCEPT

    def _learn(self, table, p, run):
        image = partial(_image, most=p.n_components, fit_intercept=p.fit_intercept)
        parts, rows, public = self._asked(table, image)
        self._refuse_classes(public.classes, p)
        d = public.n_features + p.fit_intercept
        m = min(d, p.n_components)
        hinged = p.loss == "hinge" or (p.loss == "auto" and m < d and len(public.classes) == 2)
        (self._hinged if hinged else self._faded)(parts, rows, public, d, m, p, run)

    def _faded(self, parts, rows, public, d, m, p, run):
        """Open, then descend over centred rows with residuals that fade."""
        n, k = public.n_rows, len(public.classes)
        form = _Form((n, m), 1 << GRID_BITS, True) if m < d else rows
        image = CentredImage(form, k, p.fit_intercept)
        noise = OpenedNoise(p, image, CAP * changed_rows(p.neighbors), p.n_rounds)
        public.others.update(n_components_=m, n_rounds_=p.n_rounds, sigma_=noise.sigma / (image.reach * CAP))
        model = _Faded(image, public.n_features, d, p.n_rounds)
        run.charge(public, self._all_costs(noise.cost, p), opening=1, rounds=p.n_rounds, **p.counting)
        run.released = model
        if m < d:
            model.key = int.from_bytes(run.rng.bytes(16))
        projected = parts.map(_projected, m, model.key, p.fit_intercept) if m < d else parts
        seen, start = model.open(projected, noise, n if p.neighbors == "replace" else None, run)
        descent = FadingDescent(p.n_rounds, start, k)
        for _ in self._shown(range(p.n_rounds), "rounds", seen, public):
            descent.step(seen, image.reach, noise.sigma, run.rng)
            run.used["rounds"] += 1
            model.set(descent.model())
        self._count_levels(run, p, parts, model.linear)

    def _hinged(self, parts, rows, public, d, m, p, run):
        """Descend on the hinge loss."""
        reach = 1 << GRID_BITS if m < d else rows.reach
        n_rounds, sigma, cost = self._noise(p, public.n_rows, m, reach)
        public.others.update(n_components_=m, n_rounds_=n_rounds, sigma_=sigma / reach)

        schedule = self._full_batch if p.schedule == "full-batch" else self._paper
        paid = {"rounds": n_rounds} if p.schedule == "full-batch" else {"steps": n_rounds, "choice": 1}
        model = _Model(np.zeros(m), public.n_features, d)
        run.charge(public, self._all_costs(cost, p), **paid, **p.counting)
        run.released = model
        seen = parts
        if m < d:
            model.key = int.from_bytes(run.rng.bytes(16))
            seen = parts.map(_projected, m, model.key, p.fit_intercept)
        for model.w in schedule(seen, public, m, reach, p, n_rounds, sigma, run):
            pass
        self._count_levels(run, p, parts, model.linear)

    # ---- the algorithm ---------------------------------------------------------------------------------------------

    def _full_batch(self, parts, public, m, reach, p, n_rounds, sigma, run):
        """Yield the model after each round."""
        descent = FullBatch(p.margin, n_rounds, m)
        for _ in self._shown(range(n_rounds), "rounds", parts, public):
            descent.step(parts, reach, sigma, run.rng)
            run.used["rounds"] += 1
            yield descent.model()

    def _paper(self, parts, public, m, reach, p, n_rounds, sigma, run):
        """Yield the model after every n steps."""
        rows, signs = parts.only.rows, (2 * parts.only.labels - 1).astype(np.int8)
        n = public.n_rows
        integers = np.array([rows.weighted_sum(chosen) for chosen in np.eye(n, dtype=np.int32)])
        rounds = range(_REPETITIONS * n)
        claim = Claim(2 * rows.reach / sigma, (pair_cost(_half(p.epsilon), p.delta),))
        candidates, passes = [], iter(self._watched(shown(rounds, "passes", self.verbose), "passes", len(rounds)))
        for _ in range(_REPETITIONS):
            for w in single_sample_steps(integers, rows.reach, signs, p.margin, sigma, run.rng, claim):
                next(passes)
                run.used["steps"] += n
                yield w
            candidates.append(w)
        next(passes, None)  # ends the progress bar
        few = [-int((signs * rows.margins(w) < p.margin / 10).sum()) for w in candidates]
        chosen = exponential(few, Fraction(_half(p.epsilon)) / 2, rng=run.rng)  # their range is 2
        run.used["choice"] += 1
        yield candidates[chosen]

    def _noise(self, p, n, m, reach):
        """Return the number of rounds or steps, the noise of one in units of the grid, and the cost."""
        sensitivity = changed_rows(p.neighbors) * reach * p.rows_per_unit
        if p.schedule == "full-batch":
            rounds = p.n_rounds
            releases = {"sensitivity": sensitivity, "releases": rounds, "size": m}
            sigma = discrete_gaussian_sigma(p.epsilon, p.delta, **releases)
            cost = discrete_gaussian_cost(sigma, **releases)
        else:
            rounds, cost = self._steps(p, n, m), ()
            sigma = single_sample_sigma(
                _half(p.epsilon), p.delta, sensitivity=sensitivity, rows=n, steps=rounds, size=m
            )
        check_scale(sigma, self.epsilon)
        return rounds, sigma, cost

    @staticmethod
    def _steps(p, n, m):
        """Return the number of steps of the paper's schedule; refuse it if they would not finish."""
        if p.rows_per_unit > 1:
            raise ValueError('schedule="paper" is for one row of a unit: rows_per_unit must be 1')
        steps = _REPETITIONS * n**2
        seconds = steps * (_STEP_SECONDS + _NOISE_SECONDS * m)
        if seconds > _PATIENCE:
            raise ValueError(
                f'schedule="paper" takes {_REPETITIONS} n^2 = {steps:,} steps for n = {n:,} rows, about '
                f'{seconds / 3600:,.0f} hours, and is refused above one; use schedule="full-batch"'
            )
        return steps

    def _spends(self, p):
        if p.schedule == "paper":
            return super()._spends(p)
        most = 4096 if p.n_components == "auto" else p.n_components  # components, which rows of codes may be as well
        return "gaussian", p.probability_share, (NoisySums(1 << GRID_BITS, 1, most + MOST_LABELS),)

    def _may_fade(self):
        """Return whether residuals may fade, by the parameters as they are."""
        declared = self.schedule != "full-batch" or self.margin != "auto"
        if self.loss == "fading" and declared:
            raise ValueError(
                'loss="fading" is for margin="auto" and schedule="full-batch", '
                f"got {self.margin!r} and {self.schedule!r}"
            )
        return self.loss != "hinge" and not declared

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._may_fade()
        return tags

    def _refuse_parts(self, p):
        if p.schedule == "paper":
            raise ValueError('schedule="paper" reads single rows, and no table in parts; use schedule="full-batch"')

    def _spares_unlabelled(self, p):
        return p.schedule != "paper"

    def _refuse_rows(self, n, p):
        if p.schedule == "paper":
            self._steps(p, n, min(self._most_width(p) + p.fit_intercept, p.n_components))

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        if p.schedule == "paper" and p.neighbors != "replace":
            raise ValueError('schedule="paper" has n^2 steps, so that n is public: it needs neighbors="replace"')
        if p.schedule == "paper" and p.n_rounds != "auto":
            raise ValueError(f'schedule="paper" has n^2 steps: n_rounds must be "auto", got {self.n_rounds!r}')
        if p.schedule == "paper" and p.margin == "auto":
            raise ValueError('schedule="paper" has a loss for one margin: margin must lie in (0, 1], got "auto"')
        p.loss = self.loss if self._may_fade() else "hinge"
        if p.n_rounds == "auto":
            p.n_rounds = _ROUNDS
        if p.n_components == "auto":
            p.n_components = 4096 if p.margin == "auto" else math.ceil(min(10 / p.margin**2, 4096))
        discrete_gaussian_sigma(p.epsilon, p.delta)  # refuses what they may not be
        return p


def _half(epsilon):
    return math.nextafter(float(epsilon), 0) / 2


class _Form(NamedTuple):
    """The form of projected rows, for the plan of their opening."""

    shape: tuple[int, int]
    reach: int
    signed: bool
    linear: None = None


class _Faded(CentredModel):
    """Released coefficients of centred rows, which may be projections of rows that end with a 1, d entries in all."""

    def __init__(self, image, n_features, d, n_rounds):
        super().__init__(image, n_features, n_rounds)
        self._d, self.key = d, None

    def lifted(self, coef):
        if self.key is None:
            return coef if len(coef) == self._d else np.zeros((self._d, *coef.shape[1:]))
        columns = [projection.lift(column, self._d, self.key) for column in np.reshape(coef, (len(coef), -1)).T]
        return np.stack(columns, axis=1).reshape(self._d, *coef.shape[1:])


class _Model:
    """A released linear function w of the components of rows of d columns; the last column may be the constant 1."""

    def __init__(self, w, n_features, d):
        self.w, self.key = w, None
        self._n_features, self._d = n_features, d

    def linear(self):
        linear = self.w if self.key is None else projection.lift(self.w, self._d, self.key)
        return linear[: self._n_features], float(linear[self._n_features :].sum()), 0.0


def _image(X, most, fit_intercept):
    """Return the rows to project, or the rows themselves if they are no longer than their projections."""
    X = readable(packed_codes(X))
    if most < X.shape[1] + fit_intercept:
        return projectable(X)
    return unit_rows(X, fit_intercept=fit_intercept, normalize=True)


def _projected(piece, m, key, fit_intercept):
    """Return the piece with A x for each row x, which ends with a 1 if there is an intercept."""
    return Piece(piece.rows, piece.labels, partial(_projected_rows, m=m, key=key, fit_intercept=fit_intercept))


def _projected_rows(table, m, key, fit_intercept):
    rows = project(table, m, key)
    if fit_intercept:
        d = table.shape[1]
        rows += projection.project_csr(np.array([0, 1]), np.array([d]), None, d + 1, m, key)
    return unit_rows(rows, normalize=True)
