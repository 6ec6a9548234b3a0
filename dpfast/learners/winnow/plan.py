"""Plan of a Winnow run, computed from its parameters and public values alone.

**Number of updates.** An interval of r rows changes a log-weight by at most r eta, and eta grows with the budget. If
the change is too small, no coordinate rises above the others; if it is too large, all weight goes to the leading
coordinate, so that a larger budget would be worse than a smaller one. Lifting a coordinate above D others takes a
change of about ln D + 2. If the budget or the number of rows allows more than half of that per interval, the number of
intervals is increased instead: K is the largest number for which n rows in K intervals, at K m draws, still change
log-weights by (ln D + 2) / 2 each. By zCDP eta is sqrt(8 rho / (K m)) / R, so K^(3/2) = (n / R) sqrt(8 rho / m) / ((ln
D + 2) / 2). K is at least 20, even if intervals are then too small: the average of the releases predicts. K depends on
the budget, on D and on the number of rows if this is public: under "replace", or declared as `horizon`.

**Fading rows.** If only rows with a margin of at most c counted, the scores would swing where a class is rare: the
first interval counts all rows, most of them of the larger class, and the later ones only those that it gets wrong, most
of them of the smaller class. In a `fit` that takes all rows of an interval, a row therefore counts half as much for
each further c of its margin, down to 1/16. Votes are computed from releases, so that the count of a row follows from
the row and from releases; it is at most 1, so that all ranges stay as they are. The unit c follows the scale of votes,
by public facts: votes on signs are large, and a wider unit keeps them steady where many intervals make the weights
cancel; the numbers of a row, 0 and 1 say, give smaller votes, and a row of a wide sparse matrix has few entries.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpfast.accounting import Cost, winnow_learning_rate, winnow_paper, winnow_range, winnow_weight, zcdp_rho
from dpfast.accounting.claims.spend import warn
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.accounting.papers.winnow import WEIGHT_GRID
from dpfast.base.plan import Proved, Task
from dpfast.learners.votes import SignedForm, refuse_uniform
from dpfast.mechanisms import AboveThreshold

SIZES_SHARE = 0.02  # of the budget of a fit, for the sizes of the classes; they decide where votes are equal
_STEP, _GROWTH = 2.0, 1.1  # change of a log-weight by the second update: at most, and about; a tenth more each time
_THRESHOLD_SHARE = 0.05  # of a stream's budget; its counts are in the hundreds, its noise in the dozens
_FEWEST_UPDATES, _MOST_UPDATES = 20, 200
_CONFIDENCE, _SPARSE = 0.05, 128  # the unit of margins for 20 updates, and columns up to which sparse rows have it
FADING = 4  # halvings of the count of a row; after another one it does not count
_LARGEST_COUNT, _LEAST_EPSILON = 1 << 60, 1e-15  # of AboveThreshold
_MOST_PASSES, _MOST_DRAWS = 1 << 16, 1 << 24  # limits of the passes over a table, and of the draws of a release

_planned = lru_cache(winnow_paper)


class EveryFew:
    """Test that ends an interval after a fixed number of rounds: like `AboveThreshold`, at no privacy cost."""

    def __init__(self, rounds: int):
        self._n_left = rounds

    def run(self, rounds: int, increments: np.ndarray) -> int | None:
        """Return the round in which the interval ends, or None if it does not end."""
        if rounds >= self._n_left:
            return self._n_left - 1
        self._n_left -= rounds
        return None

    def _state(self) -> dict[str, int]:
        return {"left": self._n_left}

    def _resume(self, state: dict[str, int]) -> None:
        self._n_left = int(state["left"])


@dataclass(frozen=True)
class WinnowPlan:
    """Numbers of a run with the tight calibration; `PaperPlan` has those of the paper.

    An interval lies between two updates; both are numbered from 0, and interval k ends with update k.
    """

    n_updates: int  # K; with a window, the number of releases that use a row
    n_draws: int  # m
    learning_rate: float  # eta, for a row of weight 1
    threshold_epsilon: float  # of AboveThreshold; 0 with a fixed schedule
    batch: int | None  # rows of an interval that enter the scores, None for all
    window: int | None  # K if intervals leave the scores after K further releases; such a run has no end
    rounds: int | None  # rounds per interval of a stream with fixed schedule
    dimension: int  # coordinates and negated copies
    confidence: float  # c
    fades: bool  # whether rows count in part if they are predicted rightly with a margin above c
    negations: bool
    fit_intercept: bool
    average: bool
    score_range: float  # R
    sizes_epsilon: float  # of the noisy sizes of the classes, if they are released

    @property
    def cost(self) -> tuple[Cost, ...]:
        """Return the privacy cost of a run: `dpfast.accounting.papers.winnow`."""
        range_bound = self.learning_rate * self.score_range * (1 + SLACK)
        draws = Cost("range", range_bound, times=self.n_draws * self.n_updates)
        return (draws, *(Cost("pure", each) for each in (self.threshold_epsilon, self.sizes_epsilon) if each))

    @property
    def most_updates(self) -> int | None:
        """Return the largest number of updates; None if every row pays for those that use it, without end."""
        return None if self.window else self.n_updates

    def releases(self, times: int | None) -> dict[str, Proved]:
        """Return the releases of a run with so many updates: each is an end of an interval, and the draws there.

        One row is in one interval, so that it pays for its tests only, however many intervals there are.
        """
        tests = {"tests": Proved("threshold", self.threshold_epsilon, times=None)} if self.threshold_epsilon else {}
        return tests | {"updates": Proved("exponential", self.learning_rate, self.cost, size=self.n_draws, times=times)}

    @property
    def grid(self) -> int:
        """Return the number of units of `weight` per unit weight."""
        return (1 if self.window else WEIGHT_GRID) << (FADING if self.fades else 0)

    def weight(self, update: int) -> int:
        """Return the weight with which the rows of this interval enter the scores."""
        return 1 if self.window else winnow_weight(update, self.n_updates)

    def counts(self, votes: np.ndarray, signs: np.ndarray, most: int) -> np.ndarray:
        """Return a mask of rows predicted wrongly or with too small a margin, by votes in [-most, most]."""
        return signs * votes <= self.confidence * most

    def halvings(self, votes: np.ndarray, signs: np.ndarray, most: int) -> np.ndarray:
        """Return how often the count of each row is halved, by votes in [-most, most]; rows beyond FADING are out."""
        return np.searchsorted(self.confidence * most * np.arange(1, FADING + 2), signs * votes)

    def enough(self, update: int) -> int:
        """Return the number of counting rows that trigger this update.

        The first update must lift the right coordinates over all others, assuming half a row's weight per row. Later
        updates should change log-weights by a few units at most, or all weight would go to one coordinate. The number
        increases slightly each time, so that updates remain in a long stream, unless their number is unlimited.
        """
        if self.batch is not None:
            return self.batch
        nats = _STEP if self.window else _STEP * _GROWTH ** (update - 1)
        if update == 0:
            nats = 2 * (math.log(self.dimension) + 2)
        return math.ceil(nats / self.learning_rate)

    def tests(self, update: int, epsilon: float, rng: np.random.Generator) -> AboveThreshold:
        """Return the tests that find the end of the interval before this update."""
        return AboveThreshold(self.enough(update), epsilon, monotone="running", rng=rng)

    def check(self) -> None:
        """Refuse noise that does not fit into integers, and releases that do not fit into memory, before the run."""
        if self.n_draws > _MOST_DRAWS:
            raise ValueError(
                f"{self.n_draws:,} draws for each update would take {self.n_draws / 2**26:,.1f} GB at a time: n_draws, "
                f"which the paper's calibration takes from the margin, must be at most {_MOST_DRAWS:,}"
            )
        if self.threshold_epsilon and (self.enough(0) > _LARGEST_COUNT or not self.threshold_epsilon >= _LEAST_EPSILON):
            raise ValueError(
                f"epsilon is too small for a stream: its first update would take {self.enough(0)} rows, with noise of "
                f"scale {1 / self.threshold_epsilon:.3g}"
            )


@dataclass(frozen=True)
class PaperPlan(WinnowPlan):
    """Numbers of [BF, Theorem 4.5]: one row per update, counted if it is a mistake, with the paper's noise."""

    threshold: int

    grid, cost = 1, ()

    def weight(self, update):
        return 1

    def counts(self, votes, signs, most):
        return (votes >= 0) != (signs > 0)

    def enough(self, update):
        return self.threshold

    def tests(self, update, epsilon, rng):
        return AboveThreshold(self.threshold, epsilon, monotone="running", noise="paper", rng=rng)


@dataclass(frozen=True)
class Settings:
    """Checked parameters of a `DPWinnowClassifier`, with the budget of the updates and the final schedule.

    `rows_tell` is whether the number of rows of a table is used, and `sizes` whether those of the classes are released.
    """

    epsilon: float
    delta: float
    neighbors: str
    calibration: str
    schedule: str
    n_updates: int | str
    n_draws: int
    batch: int | str
    window: bool
    average: bool
    confidence: float | str
    horizon: int | None
    margin: float | None
    negations: bool
    fit_intercept: bool
    rows_per_unit: int
    rows_tell: bool = False
    fades: bool = False
    sizes: bool = False


def streaming(p: Settings) -> Settings:
    """Return settings with the schedule for a stream."""
    schedule = "sparse-vector" if p.schedule == "auto" else p.schedule
    if schedule == "fixed" and p.horizon is None:
        raise ValueError("a stream of fixed schedule needs horizon=, the rounds expected")
    return replace(p, schedule=schedule)


def at_once(p: Settings) -> Settings:
    """Return settings with the schedule for a table."""
    fixed = p.schedule == "fixed" or (p.schedule == "auto" and p.calibration != "paper")
    if not fixed and p.neighbors == "add-remove":
        raise ValueError(
            'fit with a sparse-vector schedule needs neighbors="replace": deleting a row from a table shifts all '
            "later rows, and the claim of a stream is for a blank row in its place"
        )
    if fixed and isinstance(p.n_updates, int) and p.n_updates > _MOST_PASSES:
        raise ValueError(
            f"n_updates={p.n_updates:,} would take as many passes over the rows of a table: give at most "
            f"{_MOST_PASSES:,}, or learn from the rows as a stream, which takes one pass"
        )
    return replace(
        p,
        schedule="fixed" if fixed else "sparse-vector",
        rows_tell=p.neighbors == "replace",
        sizes=fixed,
        fades=fixed and p.batch == "all",
    )


def check_paper(p: Any) -> None:
    """Refuse parameters that are incompatible with the paper's calibration, if it is used."""
    if p.calibration != "paper":
        return
    paper = {"batch": (1,), "average": (False,), "schedule": ("auto", "sparse-vector"), "window": (False,)}
    for name, value in paper.items():
        if getattr(p, name) not in value:
            raise ValueError(f'calibration="paper" needs {name}={value[-1]!r}, got {getattr(p, name)!r}')
    for name in ("horizon", "margin"):
        if getattr(p, name) is None:
            raise ValueError(f'calibration="paper" needs {name}=')


def plan_numbers(
    learner: Any, task: Task, schedule: Callable[[Settings], Settings] = at_once
) -> tuple[Settings, WinnowPlan]:
    """Return the parameters of a learner with the schedule for a table or a stream, and the numbers of a run."""
    parameters = vars(learner._values())
    settings = {each.name: parameters[each.name] for each in fields(Settings) if each.name in parameters}
    if settings["calibration"] == "paper" and settings["confidence"] == "auto":
        settings["confidence"] = _CONFIDENCE
    budget = {"epsilon": learner.without_counts(task).epsilon, "delta": task.delta}
    p = Settings(**settings | budget, rows_per_unit=task.rows_per_unit)
    check_paper(p)
    p = schedule(p)
    return p, plan_of(p, task.n_columns, task.n_rows, task.form)


def plan_of(p: Settings, n_features: int, n_rows: int | None = None, rows: SignedForm | None = None) -> WinnowPlan:
    """Return the numbers of a run, from the checked parameters of `DPWinnowClassifier`, with the final schedule.

    The number of rows of a table is used if it is public. A ValueError says that no amount of noise suffices.
    """
    form = {name: getattr(p, name) for name in ("negations", "fit_intercept", "average", "fades")}
    form["dimension"] = (n_features + p.fit_intercept) * (1 + p.negations)
    if p.rows_per_unit > 1 and p.schedule == "sparse-vector":
        raise ValueError('rows_per_unit above 1 needs schedule="fixed": AboveThreshold is paid for one row')
    if p.calibration == "paper":
        if not p.negations:
            refuse_uniform(n_features)
        plan: WinnowPlan = _paper(p, form)
    else:
        plan = _tight(p, form, n_features, n_rows if p.rows_tell else p.horizon, rows)
    plan.check()
    return plan


def _tight(p, form, n_features, n_rows, rows):
    """Return the plan with the largest learning rate that the accountant allows."""
    score_range = p.rows_per_unit * winnow_range(p.neighbors, negations=p.negations, batch=p.batch)
    n_updates = _updates(p, form["dimension"], score_range, n_rows) if p.n_updates == "auto" else p.n_updates
    eta, pure = winnow_learning_rate(
        p.epsilon,
        p.delta,
        n_updates=n_updates,
        n_draws=p.n_draws,
        threshold_share=_THRESHOLD_SHARE if p.schedule == "sparse-vector" else SIZES_SHARE if p.sizes else 0,
        neighbors=p.neighbors,
        score_range=score_range,
    )
    return WinnowPlan(
        n_updates=n_updates,
        n_draws=p.n_draws,
        learning_rate=eta,
        threshold_epsilon=pure if p.schedule == "sparse-vector" else 0.0,
        sizes_epsilon=pure if p.sizes else 0.0,
        batch=None if p.batch == "all" else p.batch,
        window=n_updates if p.window else None,
        rounds=None if p.horizon is None else -(-p.horizon // n_updates),
        score_range=float(score_range),
        confidence=_confidence(p, n_updates, n_features, rows),
        **form,
    )


def _confidence(p, n_updates, n_features, rows):
    """Return the margin up to which rows count whole; the module's documentation explains it."""
    if p.confidence != "auto":
        return p.confidence
    if not p.fades or rows is None:
        return _CONFIDENCE
    many = math.sqrt(math.sqrt(n_updates / _FEWEST_UPDATES))
    if rows.reads == "signs":
        return _CONFIDENCE * many
    wide = max(1.0, n_features / _SPARSE) if rows.sparse else 1.0
    return _CONFIDENCE / (many * math.sqrt(math.sqrt(wide)))


def _updates(p, dimension, score_range, n_rows):
    """Return the number of updates to make; the module's documentation explains it."""
    if p.window or p.schedule == "sparse-vector" or not n_rows:
        return _FEWEST_UPDATES
    nats = (math.log(dimension) + 2) / 2
    most = (n_rows / score_range * math.sqrt(8 * zcdp_rho(p.epsilon, p.delta) / p.n_draws) / nats) ** (2 / 3)
    return int(min(max(most, _FEWEST_UPDATES), _MOST_UPDATES))


def warn_of_paper(p: Settings, plan: WinnowPlan) -> None:
    """Warn if the guarantee of the paper's calibration is void."""
    if p.calibration == "paper" and (paper := _numbers(p, plan.dimension)).vacuous:
        warn(
            f"the paper's promise is void for horizon={p.horizon}: it allows {paper.mistakes} mistakes, and says "
            f"something from a horizon of {paper.horizon_needed} on; privacy is not affected",
            UserWarning,
        )


def _numbers(p, dimension):
    problem = {"horizon": p.horizon, "margin": p.margin, "confidence": p.confidence}
    return _planned(p.epsilon, p.delta, dimension=dimension, **problem)


def _paper(p, form):
    """Return the plan of [BF, Theorem 4.5]."""
    paper = _numbers(p, form["dimension"])
    numbers = ("n_updates", "n_draws", "learning_rate", "threshold_epsilon", "batch")
    return PaperPlan(
        **{name: getattr(paper, name) for name in numbers},
        window=None,
        rounds=None,
        threshold=math.ceil(paper.threshold),
        score_range=float(winnow_range(p.neighbors, negations=p.negations, batch=1)),
        confidence=p.confidence,
        sizes_epsilon=0.0,
        **form,
    )
