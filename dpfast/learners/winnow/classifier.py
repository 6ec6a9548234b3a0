"""Winnow: online learning of linear thresholds whose mistakes grow with the logarithm of the dimension."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.accounting import Budget
from dpfast.learners.base import PrivateClassifier, TwoSided, refuse_weights
from dpfast.learners.calibration import level_counts
from dpfast.learners.parameters import FileLike, SchemaLike, auto, choice, count, ends, flag, optional, real
from dpfast.learners.probabilities import PROBABILITY_SHARE, SidedProbabilities
from dpfast.learners.winnow.hypothesis import NOTHING, restore, to_json
from dpfast.learners.winnow.intervals import in_order, signed
from dpfast.learners.winnow.plan import at_once, check_paper, first_hypothesis, plan_of
from dpfast.learners.winnow.scores import score_vector
from dpfast.learners.winnow.stream import Stream
from dpfast.learners.winnow.streaming import WinnowStream
from dpfast.tables.labels import two_classes
from dpfast.tables.signed_rows import signed_rows


class DPWinnowClassifier(WinnowStream, SidedProbabilities, TwoSided, PrivateClassifier):
    """Private Winnow with batched updates [BF, section 4.2]_: a sparse linear threshold, learned in one pass.

    **Privacy.** The hypotheses that are released, and the times at which they came, are together (epsilon, delta)-DP
    for the relation `neighbors`: "replace" compares tables or streams that differ in one row (x, y), "add-remove"
    tables one of which has a row more, or streams in one of which a row is a blank that never counts. A *prediction* of
    a stream is no release: for row t it is h_t(x_t), a function of x_t too. What follows is joint privacy: the
    predictions for all rows but one are as private towards that row as the hypotheses are, so each prediction may go to
    the owner of its own row; all of them shown to one reader tell him of x. A row is in one interval between releases,
    whatever it is; there it moves the scores s = sum of y x once and for all, by a vector of range R, and each of the
    n_draws * n_updates draws after it is an exponential mechanism on them of exponent eta, (eta R)^2 / 8-zCDP. In a
    stream the rows that count towards an update are counted by AboveThreshold, which one row touches in one interval
    only. Theorems and proofs: `dpfast.accounting.winnow`.
    With `probability_share` = c the model is ((1 - c) epsilon, delta)-DP and the class counts are (c epsilon, 0)-DP
    (`dpfast.learners.class_counts`): together (epsilon, delta), by basic composition.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget: a smaller value is more private; 1 is a good start.
    delta : float, default=1e-6
        The probability with which the bound of epsilon may fail; choose it well below 1 / n for n rows.
    neighbors : {"replace", "add-remove"}, default="replace"
        Neighbouring tables of the claim: one row replaced (the number of rows is public), or one row added or removed.
    n_updates : int or "auto", default="auto"
        Releases K. After the last one a stream is predicted but no longer learned from, unless it has a window.
        "auto" is 20, or more where rows, if their number is public, and budget allow (`dpfast.learners.winnow.plan`).
    n_draws : int, default=5
        Draws m in a release.
    window : bool, default=False
        Whether an interval leaves the scores K releases after it was added. A row is in K releases then, whenever it
        comes, and a stream learns without end at the same price; `predict` averages the last K releases. Without a
        window later intervals weigh more, as fewer releases see them: `dpfast.accounting.winnow_weight`.
    batch : "all" or int, default="all"
        How many of an interval's counting rows enter the update: all, or the first so many; 1 is the paper's.
    schedule : {"auto", "fixed", "sparse-vector"}, default="auto"
        When releases come: after intervals fixed beforehand, which costs nothing, or when AboveThreshold finds enough
        counting rows. "auto" is fixed for `fit` and sparse-vector for a stream.
    horizon : int or None, default=None
        Rounds of a stream, or rows, as declared; needed by a stream of fixed schedule and the paper's calibration.
    confidence : float in [0, 1), default=0.05
        Rows count, and move the scores, if their label is predicted wrongly or with a margin of at most this.
    negations : bool, default=True
        Whether each feature also stands negated, so that weights of both signs can be learned.
    fit_intercept : bool, default=True
        Whether a constant feature is added.
    feature_range : pair of float, default=(-1, 1)
        What features are declared to lie in, and clipped to; it becomes [-1, 1]. Booleans and BitMatrix are signs.
    out_of_range : {"clip", "error"}, default="clip"
    average : bool, default=True
        Whether `predict` uses the average of all releases or the last one. Both are free of cost.
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows. "paper" is [BF, Theorem 4.5]_ with the
        constants of `dpfast.accounting.winnow_paper` for `horizon`, `margin` and c = `confidence`: they replace
        n_updates and n_draws, rows count if they are predicted wrongly, all weigh alike, and the first hypothesis is of
        uniform weights. It goes with batch=1 and average=False, and warns where its promise on mistakes is void.
    margin : float in (0, 1] or None, default=None
        rho that the paper's calibration supposes; used by nothing else.
    checkpoint : None or path, default=None
        A file that `stream` and `partial_fit` keep the stream in; see `resume`. It must not exist when a stream begins.
    probability_share : float in [0, 1), default=0.0
        Share of epsilon for noisy class counts of the rows by how far they are on a side
        (`dpfast.learners.calibration`). They give `predict_proba`, and `predict` the more probable label; 0 releases
        none. Not for a stream, whose model never stands still.
    schema, encoder_share, budget, random_state, verbose
        As in `DecisionListClassifier`. A stream takes a schema that declares all, as nothing can be found privately of
        rows that are not there yet.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
        Weights that `predict` uses, features on [-1, 1]; their absolute values and the intercept's sum to at most 1.
    intercept_ : float
    updates_ : int
        Updates made, each with a release.
    released_weights_ : list of (ndarray of int64, ndarray of int64)
        The histogram of each release, under a window of the last K: rising coordinates and their signed counts, out of
        n_draws; coordinate n_features_in_ is the intercept.
    reads_ : {"signs", "numbers"}
        What it was learned from, and so what it answers to: booleans are signs, 0 and 1 stand for themselves.
    learning_rate_ : float
        eta: the largest that (epsilon, delta) allows, or the paper's.
    n_updates_, n_draws_ : int
        K and m: the parameters, or the paper's.
    rounds_ : int
        Rows of the stream so far; only where a stream can go on.
    class_counts_ : ndarray of int64, shape (LEVELS, 2)
        Rows of each level and class, with noise of scale `class_counts_scale_`. Only with `probability_share`.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    Scores, and votes of released hypotheses, are integers: results are the same at every instruction-set level. One
    pass over the rows and 16 bytes a feature, with a window 8 more for each release in it. The order of the rows is
    that of the stream; `fit` puts each row into an interval at random.

    References
    ----------
    .. [BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow, arXiv 2602.07370.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.DPWinnowClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.85
    True
    """

    _model = "winnow"
    _reads_parts = True
    _parameters = (
        PrivateClassifier._parameters
        | PROBABILITY_SHARE
        | {
            "n_updates": auto(count(1, 1 << 62)),
            "n_draws": count(1, 1 << 62),
            "window": flag(),
            "batch": auto(count(1, 1 << 62), "all"),
            "schedule": choice("auto", "fixed", "sparse-vector"),
            "horizon": optional(count(1, 1 << 62)),
            "confidence": real(0, 1, "[)"),
            "negations": flag(),
            "fit_intercept": flag(),
            "feature_range": ends(),
            "out_of_range": choice("error", "clip"),
            "average": flag(),
            "calibration": choice("tight", "paper"),
            "margin": optional(real(0, 1, "(]")),
        }
    )

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        neighbors: str = "replace",
        n_updates: int | str = "auto",
        n_draws: int = 5,
        window: bool = False,
        batch: int | str = "all",
        schedule: str = "auto",
        horizon: int | None = None,
        confidence: float = 0.05,
        negations: bool = True,
        fit_intercept: bool = True,
        feature_range: Sequence[float] = (-1, 1),
        out_of_range: str = "clip",
        average: bool = True,
        calibration: str = "tight",
        margin: float | None = None,
        checkpoint: FileLike = None,
        probability_share: float = 0.0,
        schema: SchemaLike = None,
        encoder_share: float | str = "auto",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.n_updates = n_updates
        self.n_draws = n_draws
        self.window = window
        self.batch = batch
        self.schedule = schedule
        self.horizon = horizon
        self.confidence = confidence
        self.negations = negations
        self.fit_intercept = fit_intercept
        self.feature_range = feature_range
        self.out_of_range = out_of_range
        self.average = average
        self.calibration = calibration
        self.margin = margin
        self.checkpoint = checkpoint
        self.probability_share = probability_share
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
        """Learn in one pass over the rows, each put into one of the intervals at random.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
        y : array_like, shape (n,), of two labels
        classes, units, rows_per_unit : optional
            As in `DecisionListClassifier.fit`; rows_per_unit above 1 not with a sparse-vector schedule.

        Returns
        -------
        self

        Raises
        ------
        ValueError, BudgetExceeded
            For a parameter or data that will not do, or a budget that does not suffice, before anything is drawn.
        """
        refuse_weights(refused)
        p = at_once(self._checked(X, y, units))
        with self._fitting(p.rng) as run:
            parts, public, plan, stream = self._read(p, X, y, classes, units, rows_per_unit, run)
            run.charge(public, self._all_costs(plan.cost, p), updates=plan.releases, **p.counting)
            stream = stream(run)
            if p.schedule == "sparse-vector":
                stream.follow(*in_order(parts))
            else:
                stream.learn(parts, self._shown(range(plan.n_updates), "updates", parts, public))
            self._count_classes(run, p, lambda: parts.sum(_counted_votes, stream.hypothesis))
        return self

    def _scores(self, X):
        return _shares_of_votes(self._hypothesis(), self._rows(X))

    @property
    def coef_(self) -> np.ndarray:
        return self._hypothesis().weights(self._width)[:-1]

    @property
    def intercept_(self) -> float:
        return float(self._hypothesis().weights(self._width)[-1])

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        check_paper(p)
        return p

    def _rows(self, X):
        """Rows of a table like the one that was learned from."""
        X = self._coded(X)
        rows = signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range, reads=self.reads_)
        self._check_features(X, reset=False)
        return rows

    def _read(self, p, X, y, classes, units=None, rows_per_unit=None, run=None):
        """The table in parts, what is public, the plan, and a stream but for its run; whatever can be refused is."""
        X, y, classes = self._tabled(X, y, classes, p, units, rows_per_unit, run)
        image = partial(signed, feature_range=p.feature_range, out_of_range=p.out_of_range)
        parts, rows, public = self._asked(X, y, classes, image, form=partial(image, out_of_range="clip"))
        two_classes(public.classes)
        plan = plan_of(p, public.n_features, public.n_rows)
        public.others = {f"{name}_": getattr(plan, name) for name in ("n_updates", "n_draws", "learning_rate")}
        public.others["reads_"] = rows.reads
        first = first_hypothesis(p.calibration, p.negations, public.n_features + p.fit_intercept)
        return parts, public, plan, partial(Stream, plan, score_vector(rows, plan.window), rows.unit, first)

    def _refuse_parts(self, p):
        if p.schedule != "fixed":
            raise ValueError(
                'a schedule that follows the rows in their order takes no table in parts; schedule="fixed"'
            )

    def _publish(self, run):
        self.released_weights_, self.updates_ = run.released[:], run.used["updates"]

    def _hypothesis(self):
        """What predicts: the sum of all releases, or the last one."""
        if not self.released_weights_:
            return first_hypothesis(self.calibration, self.negations, self._width + bool(self.fit_intercept))
        return NOTHING.plus(self.released_weights_ if self.average else self.released_weights_[-1:], self.n_draws_)

    def _released(self):
        return to_json(self)

    def _restore(self, released):
        restore(self, released)


def _shares_of_votes(hypothesis, rows):
    """The weighted vote on each row, in [-1, 1]: float64, shape (n,)."""
    return hypothesis.votes(rows) / max(1, hypothesis.draws * rows.unit)


def _counted_votes(piece, hypothesis):
    return level_counts(_shares_of_votes(hypothesis, piece.rows), piece.labels)
