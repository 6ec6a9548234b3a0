"""Private boosting: a halfspace from noisy means of ever harder rows."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpfast.accounting import Cost, NoisySums, boost_paper, boost_plan, gaussian_sigma
from dpfast.accounting.claims.spend import pair_cost, warn
from dpfast.accounting.numbers import exact, float_above, float_below
from dpfast.base.forms import Form
from dpfast.base.parameters import (
    BETWEEN_0_AND_1,
    FIT_INTERCEPT,
    Kind,
    auto,
    choice,
    count,
    estimator,
    optional,
    parameter,
    positive,
    real,
)
from dpfast.base.plan import Plan, Proved, Spending, Task, spending_of
from dpfast.base.run import Rows, Run
from dpfast.kernels.unit_rows import GRID_BITS
from dpfast.learners.counted import CountedClassifier
from dpfast.learners.halfspaces.boosting_parts import measured, weak_rows_of
from dpfast.learners.halfspaces.linear import (
    LinearModel,
    LinearRows,
    count_by_score,
    count_rows,
    refuse_many_classes,
    stack_columns,
)
from dpfast.learners.halfspaces.measure import CAP, MOST_ROUNDS, UNIT, AtLeast, LazyBregman, Local, Measure
from dpfast.learners.halfspaces.opened import CentredState, PlainForm, against, plan_opening, without_sum
from dpfast.learners.halfspaces.plain import CentredImage
from dpfast.learners.halfspaces.weak import NoisyCentering, NoisyStump, WeakLearner

_COUNT_SHARE = Fraction(1, 20)  # of epsilon, for the number of rows where that is private
_ROUNDS = 60
_MOST = 0.9  # the largest density by default
_SIGNAL, _SIGNALS = 0.95, (0.1, 1.0)  # of the largest noise of a row's score after all rounds: see `begin`
_FASTEST = 8.0, 16.0  # the largest rate of a mean, of few rows and of many
_FAR = 0.3  # between these, the largest rate is this times the least sum of the weights, over the number of rounds
_TURNED = 4.0  # steps are too long if a mean points against the last one by so many deviations of the noise
_ROUND_SECONDS, _SCORE_SECONDS, _ROW_SECONDS, _CELL_SECONDS = 3e-4, 5e-10, 1e-7, 2e-9  # declared, for a warning
_WEAK = {"centering": NoisyCentering, "stump": NoisyStump}
_MEASURES = {"lazy-bregman": LazyBregman, "local": Local}


def _kind(kind, base, named):
    return Kind(
        kind,
        lambda value: isinstance(value, base) or (isinstance(value, str) and value in named),
        lambda value: _named(value, named),
    )


@dataclass(frozen=True)
class WeakRows(LinearRows):
    """Rows as a weak learner reads them."""

    weak: Any
    fit_intercept: bool

    def rows(self, X: Any) -> Any:
        return weak_rows_of(X, self.weak, self.fit_intercept)


@dataclass(frozen=True)
class BoostedModel(LinearModel):
    """Coefficients by boosting, and the numbers by which they were learned."""

    density: float
    learning_rate: float
    n_rounds: int

    def check(self) -> None:
        super().check()
        real(0, 1, "(]").read("density", self.density)
        positive().read("learning_rate", self.learning_rate)
        count(1).read("n_rounds", self.n_rounds)


@estimator
class BoostedHalfspaceClassifier(CountedClassifier, name="boosted-halfspace"):
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
        most 0.6 kappa n / n_rounds, but at least 16 and at most 32 (half as much for more than two classes): many rows
        say more than a few steps can learn. It is less if the noise in the score of a row would exceed s after all
        rounds: s is 0.95 over the root of the length of the noise in a mean over all columns, but at least 0.1 and at
        most 1. Only for "auto" do steps become shorter. With ``start="even"`` it is 2.4 d^(1/4).
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
    coef_ : ndarray, shape (1, n_features_in_) for two classes, else (n_classes, n_features_in_)
        The coefficients of rows that are divided by their length, that of (x, 1), or of x without `fit_intercept`; it
        is taken to be at least 1. The score of a row is (<x, coef_> + intercept_) / length + shift_.
    intercept_ : ndarray, shape (1,) or (n_classes,)
        The coefficient of the constant 1, which is divided by the length of the row, too.
    shift_ : float, or ndarray of shape (n_classes,)
        What is added to the score of every row.
    class_sizes_ : ndarray of float64, shape (n_classes,)
        Noisy numbers of rows of the classes, if the fit released them. Of classes with equal scores, `predict` returns
        the one with most rows.
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

    density: float | str = parameter("auto", auto(real(0, 1, "(]")))
    n_rounds: int | str = parameter("auto", auto(count(1, MOST_ROUNDS)))
    learning_rate: float | str = parameter("auto", auto(real(0.001, 1e6)))
    weak_learner: Any = parameter(
        "centering",
        _kind('be "centering", "stump" or a WeakLearner', WeakLearner, _WEAK),
        saved=lambda value: not isinstance(value, WeakLearner),  # prediction does not need it
    )
    measure: Any = parameter(
        "lazy-bregman",
        _kind('be "lazy-bregman", "local" or a Measure', Measure, _MEASURES),
        saved=lambda value: not isinstance(value, Measure),
    )
    start: str = parameter("auto", choice("auto", "opening", "even"))
    fit_intercept: bool = FIT_INTERCEPT
    calibration: str = parameter("tight", choice("tight", "plan", "paper"))
    margin: float | None = parameter(None, optional(real(0, 1, "(]")))
    label_noise: float = parameter(0.0, real(0, 0.5, "[)"))
    alpha: float = parameter(0.1, BETWEEN_0_AND_1)
    beta: float = parameter(0.1, BETWEEN_0_AND_1)

    @property
    def reads(self) -> Form:
        """Return the form of the rows, which follows from the weak learner."""
        weak, measure = _named(self.weak_learner, _WEAK), _named(self.measure, _MEASURES)
        return WeakRows(
            weak,
            bool(self.fit_intercept),
            several_classes=self._opens(),
            in_parts=type(weak) in _WEAK.values() and type(measure) in _MEASURES.values(),
            why_whole="a table in parts needs a weak_learner= and a measure= of those that have a name",
            surveyed=True,
            bins=12,
            groups=True,
            vector_parameters=("margin",),
        )

    @property
    def spares_unlabelled(self) -> bool:
        """Return whether rows may lack a label: noise covers a row more for measures and weak learners with a name."""
        return self.reads.in_parts

    def plan(self, task: Task) -> Plan:
        refuse_many_classes(task.n_classes)
        p = self._values()
        density = p.density if self._opens() else self._even(p, task).density
        if not isinstance(density, str) and task.n_rows is not None and task.n_rows * density < 1:
            raise ValueError(f"density must be at least 1 / n = 1 / {task.n_rows}, got {density!r}")
        return (self._plan_opened if self._opens() else self._plan_even)(p, task)

    def check(self) -> None:
        """Refuse parameters that do not suit one another."""
        if not self._opens() and self.calibration != "tight":
            self._calibrate(self._values(), self.epsilon, self.delta)

    def spending(self, task: Task) -> Spending:
        kinds: dict[Any, str] = {NoisyCentering: "gaussian", NoisyStump: "zcdp"}
        kind = kinds.get(type(_named(self.weak_learner, _WEAK)))
        if kind is None:
            return Spending()
        if self._opens():
            return spending_of(self._plan_opened(self._values(), task))
        count = _COUNT_SHARE if task.neighbors == "add-remove" else 0
        rounds = NoisySums(CAP << GRID_BITS, 1, task.n_columns)
        return Spending(kind, 1 - (1 - self.counts_share) * (1 - count), (rounds,) if kind == "gaussian" else ())

    def prepare(self, rows: Rows) -> None:
        """Warn if the calibration promises nothing for so few rows, or takes long.

        Parameters
        ----------
        rows : Rows
        """
        if self.calibration != "tight" and (message := self._promised(rows)):
            warn(message, UserWarning)

    def learn(self, rows: Rows, plan: Plan, run: Run) -> BoostedModel:
        model = (self._learn_opened if self._opens() else self._learn_even)(rows, plan, run)
        return self.count(model, run, lambda: rows.sum(count_by_score, model))

    def _learn_opened(self, rows, plan, run):
        """Open, then boost centred rows from the log odds of the classes."""
        p, n_rounds = self._values(), plan["rounds"].times
        image = CentredImage(PlainForm.of(rows.task), rows.n_classes, p.fit_intercept)
        state = _Boosting(image, rows, p, n_rounds)
        run.show(state.model)
        opened_parts, start = state.open(rows.parts, rows, run)
        state.begin(p, self._budget(rows.task), run.scale("rounds") / (image.reach * CAP))
        mass = max(1, int(state.density * image.opening.n * CAP))
        weighed = AtLeast() if isinstance(p.measure, LazyBregman) else p.measure
        questions, begun, _ = measured(opened_parts, image, count_rows(rows), p.weak_learner, weighed, rows.n_classes)
        rate, steps = state.largest_step(), max(1, math.ceil(np.abs(image.log_odds()).max()))
        measure = begun(mass, rate)
        for _ in range(steps):
            measure.add(start / (steps * rate))
        for t in run.rounds("rounds"):
            noisy = run.release("rounds", questions.weighted_sum(measure.weights()))
            step = state.step(noisy / (float(mass) * questions.reach))
            if t + 1 < n_rounds:
                measure.add(step / rate)
        return state.model()

    def _learn_even(self, rows, plan, run):
        """Boost rows as they are from equal weights, as the paper does."""
        p, n = self._values(), count_rows(rows)
        questions, start, margins = measured(rows.parts, rows.form, n, p.weak_learner, p.measure)
        even, d, size = self._even(p, rows.task), rows.n_features, rows.n
        average = _Average(even, rows, p.fit_intercept)
        run.show(average.model)
        if even.count_scale:
            size = max(1, int(run.release("row count", n)))
        average.density = even.densest(size, d)
        mass = max(1, int(average.density * size * CAP))
        measure = start(mass, even.rate(d) / 2)
        for t in run.rounds("rounds"):
            draw = partial(p.weak_learner.learn, questions, measure.weights(), mass)
            hypothesis = run.draw("rounds", 1, draw)
            average.add(*p.weak_learner.linear(hypothesis, d))
            if t + 1 < even.n_rounds:
                measure.add(margins(hypothesis))
        return average.model()

    def _plan_opened(self, p, task):
        """Return the plan with an opening."""
        image = CentredImage(PlainForm.of(task), task.n_classes, p.fit_intercept)
        n_rounds = _ROUNDS if p.n_rounds == "auto" else p.n_rounds
        return Plan(**plan_opening(image, task, p.measure.moved(task.neighbors), n_rounds), **self.counting(task))

    def _plan_even(self, p, task):
        """Return the plan without an opening, by the theorem of the weak learner."""
        even, weak = self._even(p, task), p.weak_learner
        if task.rows_per_unit > 1 and type(weak) not in _WEAK.values():
            raise ValueError('rows_per_unit above 1 needs weak_learner="centering" or "stump"')
        counted = even.n_rounds * task.rows_per_unit**2  # k rows of a unit move a round k times: k^2 rounds' worth
        form, moved = PlainForm.of(task), p.measure.moved(task.neighbors)
        noise = weak.noise(form, even.epsilon, task.delta, counted, moved)
        releases = {}
        if even.count_scale:
            count = (Cost("pure", float_above(1 / even.count_scale)),)
            releases["row count"] = Proved("laplace", task.rows_per_unit * even.count_scale, count)
        mechanism = "gaussian" if isinstance(weak, NoisyCentering) else "exponential"
        cost = tuple(weak.cost(form, noise, counted, moved) or [pair_cost(even.epsilon, task.delta)])
        releases["rounds"] = Proved(mechanism, noise, cost, times=even.n_rounds)
        return Plan(**releases, **self.counting(task, cost))

    def _even(self, p, task):
        """Return the numbers of a fit without an opening."""
        epsilon, delta = budget = self._budget(task)
        density, n_rounds, rate = p.density, _ROUNDS if p.n_rounds == "auto" else p.n_rounds, p.learning_rate
        if p.calibration != "tight":
            plan = self._calibrate(p, epsilon, delta)
            density, n_rounds, rate = plan.density, plan.n_rounds, plan.learning_rate
        if task.neighbors == "replace":
            return _Even(budget, epsilon, None, density, n_rounds, rate)
        whole = exact("epsilon", epsilon)
        scale = 1 / (_COUNT_SHARE * whole)
        return _Even(budget, float_below(whole - 1 / scale), scale, density, n_rounds, rate)

    def _budget(self, task):
        """Return epsilon and delta of all releases but the class counts."""
        return self.without_counts(task).epsilon, task.delta

    def _promised(self, rows):
        """Return the text of the warning before a fit by a plan, or nothing."""
        p, n, d = self._values(), rows.n, rows.n_features
        plan = self._calibrate(p, *self._budget(rows.task))
        noise = f" and label noise {self.label_noise}" if p.label_noise else ""
        promise = f"an error of at most {p.alpha} with probability {1 - p.beta:g} at margin {self.margin}{noise}"
        if p.calibration == "plan":
            few = f'calibration="plan" needs {plan.n:,} rows for {promise}, got {n:,}: nothing is promised here'
            return few if n < plan.n else None
        reach = math.log(CAP) * 2 * UNIT / plan.learning_rate  # scores of a measure's table
        minutes = (
            plan.n_rounds * (_ROUND_SECONDS + _SCORE_SECONDS * reach + n * (_ROW_SECONDS + _CELL_SECONDS * d)) / 60
        )
        few = f"The paper asks for {plan.n:,} rows for {promise}, got {n:,}. " if n < plan.n else ""
        long = f"It takes about {minutes:,.0f} minutes on an idle machine. " if minutes > 1 else ""
        return (few or long) and (
            f'calibration="paper" runs Algorithm 5 of the paper as printed: {plan.n_rounds:,} rounds, density '
            f"{plan.density:.3g}, learning rate {plan.learning_rate:.3g}. {long}{few}dpfast claims its privacy, "
            'and no accuracy; calibration="plan" has a proof'
        )

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

    @staticmethod
    def _calibrate(p, epsilon, delta):
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
        problem = {"margin": p.margin, "alpha": p.alpha, "beta": p.beta}
        if p.calibration == "plan":
            plan = boost_plan(epsilon, delta, **problem, noise=p.label_noise)
        else:
            plan = boost_paper(epsilon, delta, **problem)
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

    def read_model(self, saved: Any, task: Task) -> BoostedModel:
        return BoostedModel.of_file(saved, task.n_columns, task.n_classes, bool(self.fit_intercept), only_clips=True)


class _Boosting(CentredState):
    """Coefficients of centred rows by boosting: the sum of the hypotheses, each times its rate."""

    def __init__(self, image, rows, p, n_rounds):
        super().__init__(image, rows.n_features, n_rounds)
        self._rows, self._constant, self._rounds = rows, p.fit_intercept, n_rounds
        self._unit, self._before, self._share, self._total = 0.0, None, 1.0, None
        self.density = 0.5 * _MOST if p.density == "auto" else float(p.density)
        self.learning_rate = 2.0 * _FASTEST[0] if p.learning_rate == "auto" else float(p.learning_rate)

    def begin(self, p, budget, deviation):
        """Set density and rate; `deviation` is that of the noise in a sum of weights and rows of norm 1.

        Weights that follow noise do not find the hard rows. So the longer the noise in a mean, over all columns, the
        less noise a score may have: _SIGNAL over the root of this length.
        """
        n, size = self._image.opening.n, self._image.width + 1
        if p.density == "auto":
            self.density = min(_densest(self._image.width - 1, n, budget), self._image.start_share()) / 2
        self._unit = deviation / (self.density * n)
        pair = 1 if self._image.by_margin else 2  # the scores of two classes move in opposite directions
        if p.learning_rate == "auto":
            one = self._unit * (pair / self._rounds) ** 0.5
            fastest = np.clip(_FAR * self.density * n / self._rounds, *_FASTEST) / pair
            signal = np.clip(_SIGNAL / (self._unit * size**0.5) ** 0.5, *_SIGNALS)
            self.learning_rate = 2 * float(min(signal / (one * self._rounds), fastest))
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

    def model(self):
        """Return the model of the releases so far."""
        own = self.density, self.learning_rate, self._rounds
        return BoostedModel(
            *self.linear(), self._constant, True, *own, class_sizes=self.sizes_or(self._rows.class_sizes)
        )


class _Even(NamedTuple):
    """The numbers of a fit without an opening.

    `budget` is the learner's epsilon and delta, `epsilon` that of the rounds, and `count_scale` the scale of the noise
    of the row count, if there is one. `density` and `learning_rate` may be "auto".
    """

    budget: tuple[Any, Any]
    epsilon: Any
    count_scale: Fraction | None
    density: float | str
    n_rounds: int
    learning_rate: float | str

    def densest(self, n, d):
        """Return the density for n rows, a public or released number, of d columns."""
        return _densest(d, n, self.budget) if self.density == "auto" else float(self.density)

    def rate(self, d):
        """Return the learning rate for rows of d columns."""
        return 2.4 * d**0.25 if self.learning_rate == "auto" else float(self.learning_rate)


class _Average:
    """The average of the hypotheses released so far, as a linear function, and the density used for them."""

    def __init__(self, even, rows, fit_intercept):
        d = rows.n_features
        self._coef, self._intercept, self._used = np.zeros(d), 0.0, 0
        self._even, self._rows, self._constant = even, rows, fit_intercept
        self.density = even.densest(1, d)

    def add(self, coef, intercept):
        self._coef += coef
        self._intercept += intercept
        self._used += 1

    def model(self):
        """Return the model of the releases so far."""
        used = max(1, self._used)
        linear = stack_columns(self._coef / used, self._intercept / used, 0.0)
        own = self.density, self._even.rate(self._rows.n_features), self._even.n_rounds
        return BoostedModel(*linear, self._constant, True, *own, class_sizes=self._rows.class_sizes)


def _named(value, by_name):
    """Return the object that a name stands for; others are returned as they are."""
    return by_name[value]() if isinstance(value, str) and value in by_name else value


def _densest(d, n, budget):
    """Return the density below which noise would count for more than hard rows, for n rows and d columns."""
    mu = 1 / gaussian_sigma(*budget)
    return min(_MOST, 0.29 + 2.4 * max(1, d) ** 0.4 / (n * mu**1.25))
