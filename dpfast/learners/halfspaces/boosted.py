"""Private boosting: a halfspace from noisy means of ever harder rows."""

import math
import warnings
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpfast.accounting import Cost, NoisySums, boost_paper, boost_plan, gaussian_sigma
from dpfast.accounting.claims import pair_cost
from dpfast.accounting.numbers import exact, float_above, float_below
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.base import LinearClassifier
from dpfast.learners.halfspaces.boosting_parts import measured, weak_rows_of
from dpfast.learners.halfspaces.measure import CAP, MOST_ROUNDS, UNIT, AtLeast, LazyBregman, Local, Measure
from dpfast.learners.halfspaces.opened import SHARE, CentredModel, OpenedNoise, against, without_sum
from dpfast.learners.halfspaces.plain import CentredImage
from dpfast.learners.halfspaces.weak import NoisyCentering, NoisyStump, WeakLearner
from dpfast.learners.parameters import (
    BETWEEN_0_AND_1,
    FIT_INTERCEPT,
    Kind,
    auto,
    check_scale,
    choice,
    count,
    estimator,
    optional,
    parameter,
    positive,
    real,
)
from dpfast.learners.reading import MOST_LABELS
from dpfast.mechanisms import discrete_laplace

_COUNT_SHARE = Fraction(1, 20)  # of epsilon, for the number of rows where that is private
_ROUNDS = 60
_MOST = 0.9  # the largest density by default
_SIGNAL, _FASTEST = 0.4, 8.0  # the noise of a row's score after all rounds, and the largest rate of a mean
_TURNED = 4.0  # steps are too long if a mean points against the last one by so many deviations of the noise
_ROUND_SECONDS, _SCORE_SECONDS, _ROW_SECONDS, _CELL_SECONDS = 3e-4, 5e-10, 1e-7, 2e-9  # declared, for a warning
_WEAK = {"centering": NoisyCentering, "stump": NoisyStump}
_MEASURES = {"lazy-bregman": LazyBregman, "local": Local}


def _kind(wanted, base, named):
    return Kind(
        wanted,
        lambda value: isinstance(value, base) or (isinstance(value, str) and value in named),
        lambda value: named[value]() if isinstance(value, str) else value,
    )


@estimator
class BoostedHalfspaceClassifier(LinearClassifier):
    """Private lazy Bregman boosting [BCS]_: a linear classifier from noisy sums of hard rows.

    Booleans and bits are the numbers 0 and 1. The first release is the opening: a noisy sum of all rows, together with
    the class sizes. It determines the mean that is subtracted from the rows, and the log odds of the classes, at which
    the scores start. Each row has the weight min(1, exp(-margin)), where the margin is its score for its own class; for
    more than two classes it is this score minus that of the rival, the other class with the largest score. If the
    weights add up to less than kappa n, where kappa is the density, the Bregman projection multiplies them by a common
    factor. In each round the rows times their weights are added up with noise, for their own class and against the
    rival, and the scores move along this sum. Steps become shorter if two sums point against each other by more than
    noise explains. The model is the mean over the last fifth of the rounds.

    With ``start="even"``, and for other weak learners, measures and calibrations, it is the algorithm of the paper,
    without an opening, for two classes. All weights are equal at first. In each round a weak learner returns a noisy
    hypothesis h for the weighted rows, and the weight of a row is then proportional to exp(-learning_rate / 2 * sum of
    y h(x)). Weights are at most 1 and add up to kappa n. The model is the average of the hypotheses.

    **Privacy.** All releases together are (epsilon, delta)-DP for the relation `neighbors`. In the opening, a row
    counts half in its class size, so the opening changes by at most sqrt(4.5) if a row is replaced, by sqrt(2.5) if the
    type of the rows excludes negative entries, and by sqrt(1.25) if a row is added. Given the earlier releases, a
    change of one row moves the weights of all other rows in one direction, by no more than its own weight in sum. A
    weighted sum of vectors of norm at most 1 therefore changes by at most 2, half of the bound in [BCS, Theorem 27]_,
    and by at most 1 for the local measure under "add-remove"; for more than two classes, by sqrt(2) times as much.
    Weights are integers, and their sum is exact. The rounds are adaptive Gaussian mechanisms: see
    `dpfast.learners.halfspaces.opened`, `plain` and `weak` beside it. Under "add-remove" the number of rows is private:
    the sum of the noisy class sizes takes its place or, without an opening, a noisy count, for 5% of epsilon.

    A 1 for the intercept is appended to each row, and rows outside the unit ball are then clipped to it. This map of
    single rows is always applied, and the number of clipped rows is never reported.

    Parameters
    ----------
    density : "auto" or float in (0, 1], default="auto"
        The least density kappa. A larger density means less noise, and less attention to hard rows, which include rows
        with wrong labels. "auto" is half of the smaller one of min(0.9, 0.29 + 2.4 d^(2/5) / (n mu^(5/4))) and the
        density at the start, which is twice the noisy share of the smaller one of two classes. Here a Gaussian
        mechanism of sensitivity 1 and standard deviation 1 / mu is (epsilon, delta)-DP. With ``start="even"`` it is the
        first number itself.
    n_rounds : "auto" or int, default="auto"
        The number of rounds; "auto" is 60. The noise of the model hardly depends on it.
    learning_rate : "auto" or float, default="auto"
        The learning rate lambda: a round moves the scores by lambda / 2 times the mean of the hard rows. "auto" is at
        most 16 (8 for more than two classes), and less if the noise in the score of a row would exceed 0.4 after all
        rounds; only then do steps become shorter. With ``start="even"`` it is 2.4 d^(1/4).
    weak_learner : {"centering", "stump"} or WeakLearner, default="centering"
        "centering" returns the noisy weighted mean of y x, for any real features; "stump" returns one feature of a
        table of zeros and ones.
    measure : {"lazy-bregman", "local"} or Measure, default="lazy-bregman"
        How rows are weighted: "lazy-bregman" is the paper's measure of density kappa, or of at least this density;
        "local" gives each row a weight that depends on no other row. See `dpfast.learners.halfspaces.measure`.
    start : {"auto", "opening", "even"}, default="auto"
        How the fit begins. "auto" is "opening" with ``calibration="tight"``, ``weak_learner="centering"`` and a measure
        that has a name, and "even" otherwise.
    calibration : {"tight", "plan", "paper"}, default="tight"
        Where density, n_rounds and learning_rate come from. "tight" uses the parameters. "plan" uses
        `dpfast.accounting.boost_plan`: the algorithm of [BCS, section 5]_ then provably errs on at most `alpha` of new
        rows, except with probability `beta`, if some halfspace has the margin before labels are flipped. A warning says
        if there are fewer rows than the plan needs, which are many. "paper" uses the numbers printed in
        [BCS, Algorithm 5]_, from `dpfast.accounting.boost_paper`: these are many rounds, for which dpfast claims only
        privacy. A warning states the number of rows that the paper needs and the expected time. Both need
        neighbors="replace" and the paper's measure and weak learner. The noise always follows from the budget.
    margin : float in (0, 1] or None, default=None
        The margin of the plan and of the paper's calibration; not used otherwise.
    label_noise : float in [0, 0.5), default=0.0
        The probability with which each label was flipped, for the plan and the paper's calibration; their errors are
        then relative to the labels before the flips [BCS, Algorithm 3 and Theorem 33]_.
    alpha, beta : float, default=0.1
        The wanted error on new rows and the probability of missing it, for the plan and the paper's calibration.

    Attributes
    ----------
    density_, learning_rate_ : float
    n_rounds_ : int
        The parameters, or the values that "auto" stands for; they follow from the opening, if there is one.

    Notes
    -----
    A round reads the rows twice. Besides the data, a fit needs 20 bytes for each row, and 8 for each feature and
    thread; a memory-mapped array stays on disk.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.BoostedHalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    _model = "boosted-halfspace"
    _only_clips = True
    _reads_parts = True
    _of_vectors = ("margin",)
    _numbers = {"density": real(0, 1, "(]"), "learning_rate": positive(), "n_rounds": count(1)}  # noqa: RUF012
    density: float | str = parameter("auto", auto(real(0, 1, "(]")))
    n_rounds: int | str = parameter("auto", auto(count(1, MOST_ROUNDS)))
    learning_rate: float | str = parameter("auto", auto(real(0.001, 1e6)))
    weak_learner: Any = parameter("centering", _kind('be "centering", "stump" or a WeakLearner', WeakLearner, _WEAK))
    measure: Any = parameter("lazy-bregman", _kind('be "lazy-bregman", "local" or a Measure', Measure, _MEASURES))
    start: str = parameter("auto", choice("auto", "opening", "even"))
    fit_intercept: bool = FIT_INTERCEPT
    calibration: str = parameter("tight", choice("tight", "plan", "paper"))
    margin: float | None = parameter(None, optional(real(0, 1, "(]")))
    label_noise: float = parameter(0.0, real(0, 0.5, "[)"))
    alpha: float = parameter(0.1, BETWEEN_0_AND_1)
    beta: float = parameter(0.1, BETWEEN_0_AND_1)

    def _learn(self, table, p, run):
        image = partial(weak_rows_of, weak=p.weak_learner, fit_intercept=p.fit_intercept)
        parts, form, public = self._asked(table, image)
        self._refuse_classes(public.classes, p)
        (self._opened if p.start == "opening" else self._even)(parts, form, public, p, run)

    def _opened(self, parts, form, public, p, run):
        """Open, then boost centred rows from the log odds of the classes."""
        n, k = public.n_rows, len(public.classes)
        self._refuse_rows(n, p)
        image = CentredImage(form, k, p.fit_intercept)
        p.n_rounds = _ROUNDS if p.n_rounds == "auto" else p.n_rounds
        noise = OpenedNoise(p, image, p.measure.moved(p.neighbors), p.n_rounds)
        public.others["n_rounds_"] = p.n_rounds
        model = _Boosted(image, public.n_features, p)
        run.charge(public, self._all_costs(noise.cost, p), opening=1, rounds=p.n_rounds, **p.counting)
        run.released = model
        seen, start = model.open(parts, noise, n if p.neighbors == "replace" else None, run)
        model.begin(p, noise.sigma / (image.reach * CAP))
        mass = max(1, int(model.density * image.opening.n * CAP))
        weighed = AtLeast() if isinstance(p.measure, LazyBregman) else p.measure
        rows, begun, _ = measured(seen, image, public.n_labelled, p.weak_learner, weighed, k)
        rate, steps = model.largest_step(), max(1, math.ceil(np.abs(image.log_odds()).max()))
        measure = begun(mass, rate)
        for _ in range(steps):
            measure.add(start / (steps * rate))
        for t in self._shown(range(p.n_rounds), "rounds", seen, public):
            noisy = p.weak_learner.learn(rows, measure.weights(), mass, noise.sigma, run.rng)
            step = model.step(noisy)
            run.used["rounds"] += 1
            if t + 1 < p.n_rounds:
                measure.add(step / rate)
        self._count_levels(run, p, parts, model.linear)

    def _even(self, parts, form, public, p, run):
        """Boost rows as they are from equal weights, as the paper does."""
        rows, start, margins = measured(parts, form, public.n_labelled, p.weak_learner, p.measure)
        n, d = public.n_rows, public.n_features
        density = self._calibrate(p, n, d)
        counted = p.n_rounds * p.rows_per_unit**2  # k rows of a unit move a round k times as far: k^2 rounds' worth
        if p.rows_per_unit > 1 and type(p.weak_learner) not in _WEAK.values():
            raise ValueError('rows_per_unit above 1 needs weak_learner="centering" or "stump"')
        moved = p.measure.moved(p.neighbors)
        noise = p.weak_learner.noise(rows, p.epsilon_of_rounds, p.delta, counted, moved)
        public.others["n_rounds_"] = p.n_rounds
        paid = ({"row count": 1} if p.count_scale else {}) | {"rounds": p.n_rounds}
        cost = [Cost("pure", float_above(1 / p.count_scale))] if p.count_scale else []
        cost += p.weak_learner.cost(rows, noise, counted, moved) or [pair_cost(p.epsilon_of_rounds, p.delta)]

        model = _Average(d, density(1), p.learning_rate)
        run.charge(public, self._all_costs(cost, p), **paid, **p.counting)
        run.released = model
        size = n
        if p.count_scale:
            size = max(1, int(discrete_laplace(n, p.rows_per_unit * p.count_scale, rng=run.rng)))
            run.used["row count"] += 1
        model.density = density(size)
        mass = max(1, int(model.density * size * CAP))
        measure = start(mass, p.learning_rate / 2)
        for t in self._shown(range(p.n_rounds), "rounds", getattr(rows, "parts", None), public):
            hypothesis = p.weak_learner.learn(rows, measure.weights(), mass, noise, run.rng)
            model.add(*p.weak_learner.linear(hypothesis, d))
            run.used["rounds"] += 1
            if t + 1 < p.n_rounds:
                measure.add(margins(hypothesis))
        self._count_levels(run, p, parts, model.linear)

    def _publish(self, run):
        super()._publish(run)
        self.density_, self.learning_rate_ = run.released.density, run.released.learning_rate

    @property
    def _not_saved(self):
        own = {"weak_learner": WeakLearner, "measure": Measure}  # prediction does not need them
        return (*super()._not_saved, *[name for name, kind in own.items() if isinstance(getattr(self, name), kind)])

    def _calibrate(self, p, n, d):
        """Set learning rate and rounds in p; return the density as a function of the number of rows, maybe private."""
        if p.calibration != "tight":
            if message := self._promised(p, n, d):
                warnings.warn(message, stacklevel=3)
            p.density, p.n_rounds, p.learning_rate = p.plan.density, p.plan.n_rounds, p.plan.learning_rate
        if p.n_rounds == "auto":
            p.n_rounds = _ROUNDS
        p.learning_rate = 2.4 * d**0.25 if p.learning_rate == "auto" else float(p.learning_rate)
        if p.density == "auto":
            return lambda rows: _densest(d, rows, p)
        self._refuse_rows(n, p)
        return lambda rows: float(p.density)

    def _promised(self, p, n, d):
        """Return the text of the warning before a fit by a plan, or nothing."""
        noise = f" and label noise {self.label_noise}" if p.label_noise else ""
        wanted = f"an error of at most {p.alpha} with probability {1 - p.beta:g} at margin {self.margin}{noise}"
        if p.calibration == "plan":
            few = f'calibration="plan" needs {p.plan.n:,} rows for {wanted}, got {n:,}: nothing is promised here'
            return few if n < p.plan.n else None
        reach = math.log(CAP) * 2 * UNIT / p.plan.learning_rate  # scores of a measure's table
        minutes = (
            p.plan.n_rounds * (_ROUND_SECONDS + _SCORE_SECONDS * reach + n * (_ROW_SECONDS + _CELL_SECONDS * d)) / 60
        )
        few = f"The paper asks for {p.plan.n:,} rows for {wanted}, got {n:,}. " if n < p.plan.n else ""
        long = f"It takes about {minutes:,.0f} minutes on an idle machine. " if minutes > 1 else ""
        return (few or long) and (
            f'calibration="paper" runs Algorithm 5 of the paper as printed: {p.plan.n_rounds:,} rounds, density '
            f"{p.plan.density:.3g}, learning rate {p.plan.learning_rate:.3g}. {long}{few}dpfast claims its privacy, "
            'and no accuracy; calibration="plan" has a proof'
        )

    def _spends(self, p):
        kind = {NoisyCentering: "gaussian", NoisyStump: "zcdp"}.get(type(p.weak_learner))
        if kind is None:
            return super()._spends(p)
        width = self._most_width(p) + MOST_LABELS + 1
        rounds = NoisySums(CAP << GRID_BITS, 1 - SHARE, MOST_LABELS * width)
        if self._opens():
            return kind, p.probability_share, (rounds, NoisySums(1 << GRID_BITS, SHARE, width))
        count = _COUNT_SHARE if p.neighbors == "add-remove" else 0
        pure = 1 - (1 - exact("probability_share", p.probability_share)) * (1 - count)
        return kind, pure, (rounds,) if kind == "gaussian" else ()

    def _refuse_parts(self, p):
        if type(p.weak_learner) not in _WEAK.values() or type(p.measure) not in _MEASURES.values():
            raise ValueError("a table in parts needs a weak_learner= and a measure= of those that have a name")

    def _spares_unlabelled(self, p):
        return type(p.weak_learner) in _WEAK.values() and type(p.measure) in _MEASURES.values()

    def _refuse_rows(self, n, p):
        if p.neighbors != "replace" or p.density == "auto":
            return  # under "add-remove" n is private, and one unit the least
        if n * p.density < 1:
            raise ValueError(f"density must be at least 1 / n = 1 / {n}, got {self.density!r}")

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        if p.calibration != "tight":
            p.plan = self._plan(p)
        p.start = "opening" if self._opens() else "even"
        p.epsilon_of_rounds, p.count_scale = p.epsilon, None
        if p.neighbors == "add-remove":
            epsilon = exact("epsilon", p.epsilon)
            p.count_scale = 1 / (_COUNT_SHARE * epsilon)
            p.epsilon_of_rounds = float_below(epsilon - 1 / p.count_scale)
            check_scale(p.count_scale, self.epsilon)
        return p

    def _opens(self):
        """Return whether a fit begins with an opening, by the parameters as they are."""
        named = (isinstance(self.measure, str) or type(self.measure) in _MEASURES.values()) and (
            self.weak_learner == "centering" or type(self.weak_learner) is NoisyCentering
        )
        if self.start == "opening" and not (named and self.calibration == "tight"):
            raise ValueError(
                'start="opening" is for calibration="tight", weak_learner="centering" and a measure that has a name, '
                f"got {self.calibration!r}, {self.weak_learner!r} and {self.measure!r}"
            )
        return named and self.calibration == "tight" and self.start != "even"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._opens()
        return tags

    @staticmethod
    def _plan(p):
        """Return the rounds, density and learning rate of the plan, or of the paper."""
        named = f'calibration="{p.calibration}"'
        if p.margin is None or p.neighbors != "replace":
            raise ValueError(f'{named} needs margin= and neighbors="replace"')
        if not (isinstance(p.weak_learner, NoisyCentering) and isinstance(p.measure, LazyBregman)):
            raise ValueError(
                f'{named} is for weak_learner="centering" and measure="lazy-bregman": the theorem is about those, got '
                f"{p.weak_learner!r} and {p.measure!r}"
            )
        if (p.density, p.n_rounds, p.learning_rate) != ("auto",) * 3:
            raise ValueError(f'{named} chooses density, n_rounds and learning_rate: leave them at "auto"')
        wanted = {"margin": p.margin, "alpha": p.alpha, "beta": p.beta}
        if p.calibration == "plan":
            plan = boost_plan(p.epsilon, p.delta, **wanted, noise=p.label_noise)
        else:
            plan = boost_paper(p.epsilon, p.delta, **wanted)
            if p.label_noise > plan.noise:
                raise ValueError(
                    f"label_noise must be at most alpha margin / 32 = {plan.noise:.3g} for {named}, "
                    f"got {p.label_noise!r}"
                )
        if plan.n_rounds > MOST_ROUNDS:
            raise ValueError(
                f"margin={p.margin!r} asks for {plan.n_rounds:,} rounds, and at most {MOST_ROUNDS:,} can be run"
            )
        return plan


class _Boosted(CentredModel):
    """Coefficients of centred rows by boosting: the sum of the hypotheses, each times its rate."""

    def __init__(self, image, n_features, p):
        super().__init__(image, n_features, p.n_rounds)
        self._unit, self._before, self._share, self._total = 0.0, None, 1.0, None
        self.density = 0.5 * _MOST if p.density == "auto" else float(p.density)
        self.learning_rate = 2.0 * _FASTEST if p.learning_rate == "auto" else float(p.learning_rate)

    def begin(self, p, deviation):
        """Set density and rate; `deviation` is that of the noise in a sum of weights and rows of norm 1."""
        n, size = self._image.opening.n, self._image.width + 1
        if p.density == "auto":
            self.density = min(_densest(self._image.width - 1, n, p), self._image.start_share()) / 2
        self._unit = deviation / (self.density * n)
        pair = 1 if self._image.by_margin else 2  # the scores of two classes move in opposite directions
        if p.learning_rate == "auto":
            one = self._unit * (pair / p.n_rounds) ** 0.5
            self.learning_rate = 2 * min(_SIGNAL / (one * p.n_rounds), _FASTEST / pair)
        self._adapts, self._size = p.learning_rate == "auto", size * self._image.columns
        self._total = self._w

    @property
    def rate(self):
        return self.learning_rate / 2

    def largest_step(self):
        """Return a number that a step of a row's score hardly exceeds: longer ones are cut to it in later weights."""
        return max(1.0, 2 * self.rate * max(1.0, self._image.start_share() / self.density))

    def step(self, noisy):
        """Add a noisy mean, and return the change of the coefficients.

        Steps are too long if a mean points against the last one by more than noise explains: they become half as long.
        """
        if self._adapts and self._before is not None:
            turned = -_TURNED * self._unit**2 * self._size**0.5
            self._share /= 1 + (against(noisy, self._before) < turned)
        self._before = noisy
        step = self.rate * self._share * without_sum(noisy)
        self._total = self._total + step
        self.add(self._total)
        return step


def _densest(d, n, p):
    """Return the density below which noise would count for more than hard rows, for n rows and d columns."""
    mu = 1 / gaussian_sigma(p.epsilon, p.delta)
    return min(_MOST, 0.29 + 2.4 * max(1, d) ** 0.4 / (n * mu**1.25))


class _Average:
    """The average of the hypotheses released so far, as a linear function, and the density used for them."""

    def __init__(self, d, density, learning_rate):
        self._coef, self._intercept, self._used = np.zeros(d), 0.0, 0
        self.density, self.learning_rate = density, learning_rate

    def add(self, coef, intercept):
        self._coef += coef
        self._intercept += intercept
        self._used += 1

    def linear(self):
        return self._coef / max(1, self._used), self._intercept / max(1, self._used), 0.0
