"""Private Winnow: online learning of linear thresholds with mistakes logarithmic in the dimension."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from dpfast.learners.base import PrivateClassifier
from dpfast.learners.calibration import level_counts
from dpfast.learners.parameters import (
    FEATURE_RANGE,
    FIT_INTERCEPT,
    NEGATIONS,
    OUT_OF_RANGE,
    FileLike,
    auto,
    choice,
    count,
    estimator,
    flag,
    noise_scale,
    optional,
    parameter,
    positive,
    real,
)
from dpfast.learners.saving import entries, integer
from dpfast.learners.votes import NOTHING, Voting, histograms_from_json, histograms_to_json
from dpfast.learners.winnow.plan import SIZES_SHARE, at_once, check_paper, first_hypothesis, plan_of
from dpfast.learners.winnow.scores import in_order, score_vector
from dpfast.learners.winnow.streaming import Stream, WinnowStream
from dpfast.mechanisms import discrete_laplace
from dpfast.tables.signed_rows import signed_rows

_MOST = 1 << 62  # updates, draws and rounds
_FACTS = ("updates", "n_updates", "n_draws", "learning_rate", "reads")  # saved attributes, beside the weights


@estimator
class DPWinnowClassifier(WinnowStream, Voting, PrivateClassifier):
    """Private Winnow with batched updates [BF, section 4.2]_: a sparse linear threshold, learned in one pass.

    **Privacy.** The released hypotheses and the times of their releases are together (epsilon, delta)-DP for the
    relation `neighbors`; in a stream, "add-remove" replaces one row by a blank that never counts. A *prediction* in a
    stream is not a release: for row t it is h_t(x_t), which also depends on x_t. The predictions are jointly private:
    those for all rows but one are as private towards that one row as the hypotheses are. So each prediction may be
    shown to the owner of its own row, but a reader of all predictions learns about x. Every row is in one interval
    between releases. There it changes the scores s = sum of y x once, by a vector of range R. Each of the n_draws *
    n_updates draws after it is an exponential mechanism on the scores with exponent eta, which is (eta R)^2 / 8-zCDP.
    In a stream, AboveThreshold counts the rows that count towards an update, and one row affects it in one interval
    only. With a fixed schedule `fit` also releases the sizes of the two classes, with discrete Laplace noise that makes
    them pure DP for 2% of the budget in terms of zCDP. `dpfast.accounting.winnow` gives the theorems.

    Parameters
    ----------
    n_updates : int or "auto", default="auto"
        The number K of releases. After the last one a stream is predicted but no longer learned from, unless it has a
        window. "auto" is 20, or more if the budget and a public number of rows allow it.
    n_draws : int, default=5
        The number m of draws per release.
    window : bool, default=False
        Whether an interval leaves the scores K releases after it was added. A stream then learns without end at the
        same privacy cost; `predict` averages the last K releases. Without a window, later intervals get more weight, as
        fewer releases use them: `dpfast.accounting.winnow_weight`.
    batch : "all" or int, default="all"
        The number of an interval's counting rows that enter the update: all, or the first so many; the paper has 1.
    schedule : {"auto", "fixed", "sparse-vector"}, default="auto"
        When releases happen: after intervals fixed in advance, or when AboveThreshold finds enough counting rows.
        "auto" is "fixed" for `fit` and "sparse-vector" for a stream.
    horizon : int or None, default=None
        Declared number of rounds of a stream, or of rows; required for a stream with fixed schedule and by "paper".
    confidence : float in [0, 1) or "auto", default="auto"
        Rows count, and change the scores, if their label is predicted wrongly or with a margin of at most this value.
        In `fit` with a fixed schedule and batch="all", rows with a larger margin count half as much for each further
        `confidence` of it, down to 1/16. "auto" is 0.05 in a stream; in `fit` it follows the scale of votes, by the
        type of the table, the number of columns of a sparse one and the number of releases.
    average : bool, default=True
        Whether `predict` uses the average of all releases or the last one. Both cost no further privacy.
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows. "paper" is [BF, Theorem 4.5]_ with the
        constants of `dpfast.accounting.winnow_paper` for `horizon`, `margin` and c = `confidence`, which replace
        n_updates and n_draws; rows count if they are predicted wrongly, all have equal weight, and the first hypothesis
        is uniform. It requires batch=1 and average=False, and warns if its guarantee on mistakes is void.
    margin : float in (0, 1] or None, default=None
        The margin rho that the paper's calibration assumes; not used otherwise.
    checkpoint : None or path, default=None
        A new file in which `stream` and `partial_fit` keep the stream; see `resume`.

    Attributes
    ----------
    updates_ : int
        The number of updates made, each with a release.
    released_weights_ : list of (ndarray of int64, ndarray of int64)
        The histogram of each release, with a window of the last K releases: increasing coordinates and their signed
        counts out of n_draws; coordinate n_features_in_ is the intercept.
    learning_rate_, n_updates_, n_draws_ : float, int, int
        The numbers eta, K and m.
    rounds_ : int
        The number of rows of the stream so far; only if the stream can be continued.

    Notes
    -----
    `fit` assigns each row to a random interval, makes one pass over the rows, and needs 16 bytes per feature, plus 8
    for each release in a window. A stream uses the given order of rows. It needs a schema that declares everything, as
    nothing can be discovered privately from rows that have not arrived yet, and a `probability_share` of 0, as its
    model keeps changing.

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
    _of_vectors = ("feature_range", "out_of_range", "margin", "checkpoint")
    n_updates: int | str = parameter("auto", auto(count(1, _MOST)))
    n_draws: int = parameter(5, count(1, _MOST))
    window: bool = parameter(False, flag())
    batch: int | str = parameter("all", auto(count(1, _MOST), "all"))
    schedule: str = parameter("auto", choice("auto", "fixed", "sparse-vector"))
    horizon: int | None = parameter(None, optional(count(1, _MOST)))
    confidence: float | str = parameter("auto", auto(real(0, 1, "[)")))
    negations: bool = NEGATIONS
    fit_intercept: bool = FIT_INTERCEPT
    feature_range: Sequence[float] = FEATURE_RANGE
    out_of_range: str = OUT_OF_RANGE
    average: bool = parameter(True, flag())
    calibration: str = parameter("tight", choice("tight", "paper"))
    margin: float | None = parameter(None, optional(real(0, 1, "(]")))
    checkpoint: FileLike = parameter(None)

    _for_fit = staticmethod(at_once)

    def _learn(self, table, p, run):
        parts, public, plan, stream = self._read(table, p)
        sizes, scale = {}, Fraction()
        if plan.sizes_epsilon:
            sizes = {"class sizes": 1}
            scale = noise_scale(Fraction(plan.sizes_epsilon), p.neighbors, "epsilon", p.rows_per_unit)
        run.charge(public, self._all_costs(plan.cost, p), **sizes, updates=plan.releases, **p.counting)
        stream = stream(run)
        if sizes:
            noisy = discrete_laplace(parts.sum(class_sizes), scale, rng=run.rng)
            run.attributes["class_sizes_"] = noisy.astype(np.float64)
            run.used["class sizes"] += 1
        if p.schedule == "sparse-vector":
            stream.follow(*in_order(parts))
        else:
            stream.learn(parts, self._shown(range(plan.n_updates), "updates", parts, public))
        self._count_classes(run, p, lambda: parts.sum(_counted_votes, stream.hypothesis))

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        check_paper(p)
        return p

    def _rows(self, X):
        """Return the rows of a table of the type that the model was trained on."""
        form = {"feature_range": self.feature_range, "out_of_range": self.out_of_range, "reads": self.reads_}
        return self._read_by_image(X, partial(signed_rows, **form))

    def _read(self, table, p):
        """Return the parts, public facts, the plan, and a stream without its run; refuse everything that is invalid."""
        image = partial(signed_rows, feature_range=p.feature_range, out_of_range=p.out_of_range)
        parts, rows, public = self._asked(table, image, form=partial(image, out_of_range="clip"))
        plan = plan_of(p, public.n_features, public.n_rows, rows)
        public.others = {f"{name}_": getattr(plan, name) for name in ("n_updates", "n_draws", "learning_rate")}
        public.others["reads_"] = rows.reads
        first = first_hypothesis(p.calibration, p.negations, public.n_features + p.fit_intercept)
        return parts, public, plan, partial(Stream, plan, score_vector(rows, plan.window), rows.unit, first)

    def _spends(self, p):
        simple = p.calibration == "tight" and p.schedule in ("auto", "fixed")
        return ("zcdp", p.probability_share, (Fraction(SIZES_SHARE),)) if simple else super()._spends(p)

    def _spares_unlabelled(self, p):
        return p.sizes  # a table whose rows are in random intervals; in a stream, a row has a place

    def _refuse_parts(self, p):
        if p.schedule != "fixed":
            raise ValueError(
                'a schedule that follows the rows in their order takes no table in parts; schedule="fixed"'
            )

    def _publish(self, run):
        self.released_weights_, self.updates_ = run.released[:], run.used["updates"]

    def _hypothesis(self):
        """Return the hypothesis that predicts: the sum of all releases, or the last one."""
        if not self.released_weights_:
            return first_hypothesis(self.calibration, self.negations, self._width + bool(self.fit_intercept))
        return NOTHING.plus(self.released_weights_ if self.average else self.released_weights_[-1:], self.n_draws_)

    def _released(self):
        facts = {name: getattr(self, f"{name}_") for name in _FACTS}
        return {"weights": histograms_to_json(self.released_weights_), **facts}

    def _restore(self, released):
        if isinstance(released, list) and self.calibration == "tight":  # of version 1
            known = {"updates": len(released), "n_updates": self.n_updates, "n_draws": self.n_draws}
            released = {"weights": released, **known, "learning_rate": None, "reads": None}
        entries(released, "weights", *_FACTS)
        self.released_weights_ = histograms_from_json(released["weights"], self._width)
        self.n_updates_, self.n_draws_ = (integer(released[name], 1, _MOST) for name in ("n_updates", "n_draws"))
        self.updates_ = integer(released["updates"], 0, _MOST if self.window else self.n_updates_)
        if len(self.released_weights_) != min(self.updates_, self.n_updates_):
            raise ValueError(f"{len(self.released_weights_)} releases of {self.updates_} updates")
        self.learning_rate_ = optional(positive()).read("learning_rate", released["learning_rate"])
        self.reads_ = optional(choice("signs", "numbers")).read("reads", released["reads"])


def class_sizes(piece):
    """Return the number of rows of each of two classes in a piece: int64, shape (2,); private."""
    return np.bincount(piece.labels, minlength=2)


def _counted_votes(piece, hypothesis):
    return level_counts(hypothesis.shares(piece.rows), piece.labels)
