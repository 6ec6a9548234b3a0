"""Private Winnow: online learning of linear thresholds with mistakes logarithmic in the dimension."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.accounting.claims.noise import noise_scale
from dpfast.base.forms import Form
from dpfast.base.inputs import refuse_weights
from dpfast.base.parameters import (
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
    optional,
    parameter,
    positive,
    real,
)
from dpfast.base.plan import Plan, Proved, Spending, Task
from dpfast.base.run import Rows, Run
from dpfast.base.saving import entries, integer
from dpfast.learners.counted import CountedClassifier, count_levels
from dpfast.learners.streams import alone, without_stream
from dpfast.learners.votes import (
    SignedRows,
    coef_of,
    histograms_from_json,
    intercept_of,
)
from dpfast.learners.winnow import streaming
from dpfast.learners.winnow.checkpoint import Checkpoint
from dpfast.learners.winnow.model import FACTS, WinnowModel, first_hypothesis, manner_of, model_of
from dpfast.learners.winnow.plan import SIZES_SHARE, check_paper, plan_numbers, warn_of_paper
from dpfast.learners.winnow.scores import in_order, score_vector

_MOST = 1 << 62  # updates, draws and rounds


@estimator
class DPWinnowClassifier(CountedClassifier, name="winnow"):
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
    them pure DP for 2% of the budget in terms of zCDP. `dpfast.accounting.papers.winnow` gives the theorems.

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
    coef_ : ndarray, shape (1, n_features_in_)
        The weights of features in [-1, 1]; absolute values, including the intercept, sum to at most 1.
    intercept_ : ndarray, shape (1,)
    reads_ : {"signs", "numbers"}
        The type of entries that the model expects: booleans are signs, other numbers are used as they are.
    class_sizes_ : ndarray of float64, shape (2,)
        Noisy numbers of rows of the classes, if the fit released them. Of classes with equal scores, `predict` returns
        the one with most rows.
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
    checkpoint: FileLike = parameter(None, saved=False)
    coef_, intercept_ = property(coef_of), property(intercept_of)

    @property
    def reads(self) -> Form:
        """Return the form of the rows: of a model, rows of the kind that it was learned from."""
        fixed = self.schedule == "fixed" or (self.schedule == "auto" and self.calibration != "paper")
        return SignedRows(
            self.feature_range,
            self.out_of_range,
            vars(self).get("reads_"),
            several_classes=False,
            in_parts=fixed,
            why_whole='a schedule that follows the rows in their order takes no table in parts; schedule="fixed"',
            surveyed=True,
            vector_parameters=("feature_range", "out_of_range", "margin", "checkpoint"),
        )

    @property
    def spares_unlabelled(self) -> bool:
        """Return whether rows may lack a label: not where they are read in their order, in which each has a place."""
        return self.reads.in_parts

    def check(self) -> None:
        """Refuse parameters that do not suit one another."""
        check_paper(self._values())

    def plan(self, task: Task) -> Plan:
        numbers = plan_numbers(self, task)[1]
        fixed, sizes = self.reads.in_parts, {}
        if numbers.sizes_epsilon:
            scale = noise_scale(Fraction(numbers.sizes_epsilon), task.neighbors, "epsilon", task.rows_per_unit)
            sizes["class sizes"] = Proved("laplace", scale, size=2)
        releases = numbers.releases(numbers.n_updates if fixed else numbers.most_updates)
        return Plan(**sizes, **releases, **self.counting(task, numbers.cost))

    def spending(self, task: Task) -> Spending:
        if self.calibration == "paper" or self.schedule == "sparse-vector":
            return Spending()
        return Spending("zcdp", self.counts_share, (Fraction(SIZES_SHARE),))

    def prepare(self, rows: Rows) -> Any:
        """Return the numbers of the run and zero scores, for which rows may be too wide; warn of a void guarantee.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        tuple of WinnowPlan and DenseScores or TouchedScores
        """
        settings, numbers = plan_numbers(self, rows.task)
        warn_of_paper(settings, numbers)
        return numbers, score_vector(rows.form, numbers.window)

    def learn(self, rows: Rows, plan: Plan, run: Run) -> WinnowModel:
        streaming.end(self)
        (numbers, scores), form = rows.prepared, rows.form
        sizes, first = rows.class_sizes, first_hypothesis(self, rows.n_columns)
        course = streaming.Course(numbers, scores, form.unit, first, run)

        def model() -> WinnowModel:
            return model_of(self, numbers, form.reads, rows.n_columns, course, sizes)

        run.show(model)
        if "class sizes" in plan:
            sizes = run.release("class sizes", rows.sum(class_sizes)).astype(np.float64)
        if self.reads.in_parts:
            course.learn(rows.parts)
        else:
            course.follow(*in_order(rows.parts))
        learned = model()
        return self.count(learned, run, lambda: rows.sum(count_levels, learned))

    def _released_model(self) -> Any:
        model = super()._released_model()
        return model if model.average == bool(self.average) else replace(model, average=bool(self.average))

    def read_model(self, saved: Any, task: Task) -> WinnowModel:
        if isinstance(saved, list) and self.calibration == "tight":  # of version 1
            numbers = {"updates": len(saved), "n_updates": self.n_updates, "n_draws": self.n_draws}
            saved = {"weights": saved, **numbers, "learning_rate": None, "reads": None}
        entries(saved, "weights", *FACTS)
        weights = tuple(histograms_from_json(saved["weights"], task.n_columns))
        n_updates, n_draws = (integer(saved[name], 1, _MOST) for name in ("n_updates", "n_draws"))
        updates = integer(saved["updates"], 0, _MOST if self.window else n_updates)
        if len(weights) != min(updates, n_updates):
            raise ValueError(f"{len(weights)} releases of {updates} updates")
        rate = optional(positive()).read("learning_rate", saved["learning_rate"])
        reads = optional(choice("signs", "numbers")).read("reads", saved["reads"])
        model = WinnowModel(task.n_columns, weights, updates, n_updates, n_draws, rate, reads, *manner_of(self))
        if sum(map(abs, model.hypothesis.count.tolist())) >= 1 << 31:
            raise ValueError("the counts of all histograms must add up to less than 2**31 in size")
        return model

    def __getstate__(self) -> dict[str, Any]:
        return without_stream(super().__getstate__())

    # ---- streams -----------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: Any = None, classes: ArrayLike | None = None, **refused: Any) -> Self:
        """Continue a stream: predict rows in order and learn from them; see `stream`.

        Parameters
        ----------
        X, y, classes
            As in `stream`.

        Returns
        -------
        self
        """
        refuse_weights(refused)
        self.stream(X, y, classes=classes)
        return self

    def stream(self, X: Any, y: Any = None, *, classes: ArrayLike | None = None) -> np.ndarray:
        """Call `partial_fit`, and return the prediction for each row before its label was seen.

        Show a prediction only to the owner of its row or of all rows: the claim is for the hypotheses and their times.

        Parameters
        ----------
        X, y, classes
            As in `fit`; the first call needs `classes`, or labels of both classes. With a schema: a table of its
            columns, and of the label's column unless `y` is given.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError, BudgetExceeded
            As in `fit`. The first call charges for the whole stream.
        RuntimeError
            In a second thread at the same time, and in a process other than the one that began the stream.

        Notes
        -----
        With a `checkpoint`, the releases of a call are in the file before the call returns. An interrupted call
        releases nothing: this estimator then ends its stream, and the estimator that `resume` returns can continue it.
        """
        return streaming.follow(self, X, y, classes)

    def close(self) -> None:
        """End the stream: this estimator still predicts, and another one may `resume` the checkpoint."""
        with alone(self):
            streaming.end(self)

    @classmethod
    def resume(cls, path: FileLike, *, moved: bool = False) -> Self:
        """Return an estimator that continues the stream of a checkpoint after its row number `rounds_`.

        If a call did not return, for example because the process was killed, give its rows again, except those that
        `rounds_` counts. Nothing is charged, since the whole stream was charged when it began.

        Parameters
        ----------
        path : str or path-like
            A file written by a stream with `checkpoint`; the stream continues to write it.
        moved : bool, default=False
            Accept a copy of the file and its lock, whose originals must be gone, which cannot be checked.

        Returns
        -------
        DPWinnowClassifier

        Raises
        ------
        ValueError, OSError
            If the file is missing, damaged, of another version or an older copy, or if another stream holds it.

        Notes
        -----
        The file is private: it holds the scores and the noise of the running tests. The claim is for one continuation
        of the stream, which holds a lock on the file until `close` or the end of its estimator. An older copy in the
        place of the file is refused, and so is a copy of the file and its lock, elsewhere or in their place. Older
        content that is written over both files (``cp``) is refused on Linux where the file system stores extended
        attributes, and not detected elsewhere. Giving rows twice cannot be detected, and would release again what was
        paid for once.
        """
        file, stream, arrays = Checkpoint.read(path, cls._model, moved)
        with file.refusing():
            learner = cls(**entries(stream, "fitted", "stream")["fitted"]["parameters"], checkpoint=path)
            streaming.resume(learner, file, stream, arrays)
        return learner

    @property
    def rounds_(self) -> int:
        return self._state.rounds


def class_sizes(piece):
    """Return the number of rows of each of two classes in a piece: int64, shape (2,); private."""
    return np.bincount(piece.labels, minlength=2)
