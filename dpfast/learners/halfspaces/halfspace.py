"""The private linear classifier to take: any table, any number of classes, probabilities, nothing to tune."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import NoisySums
from dpfast.base.classifier import PrivateClassifier
from dpfast.base.forms import Form, Outline
from dpfast.base.parameters import (
    DELTA,
    DELTA_TEXT,
    Kind,
    auto,
    count,
    described,
    estimator,
    flag,
    optional,
    parameter,
    positive,
)
from dpfast.base.plan import Plan, Spending, Task
from dpfast.base.run import Rows, Run
from dpfast.learners.halfspaces.additive import MOST_ROUNDS, AdditiveModel, read_additive
from dpfast.learners.halfspaces.images import LIMIT, CodeImage, CodeShape
from dpfast.learners.halfspaces.model import Grid, HalfspaceState, class_weights, releases, sensitivity
from dpfast.learners.halfspaces.pairs import ENOUGH, GROUPS, PAIRS_BEFORE, SEEN
from dpfast.learners.halfspaces.plain import PlainImage, PlainShape
from dpfast.learners.halfspaces.trees import (
    BEFORE,
    CLEAR,
    DEEPEST,
    MOST_TREES,
    depth_of,
    held_codes,
    number_of,
    signal,
)
from dpfast.tables.cells import CodeColumn, bins_of
from dpfast.tables.codes import CodeRows, CodeTable
from dpfast.tables.unit_rows import unit_rows

ROUNDS = 100
_MOST_CLASSES = 1 << 12
_MOST_INTERACTIONS = 64
_WIDEST = 1 << 11  # entries of the image of a discovered column of a table, or more
_WEIGHTS = Kind(
    "be a dict of finite numbers > 0 by class",
    lambda value: isinstance(value, Mapping) and len(value) > 0 and all(map(positive().fits, value.values())),
    dict,
)


class CodeFacts(NamedTuple):
    """What is public of rows of codes.

    These are the number of codes of each column, how many of them are bins of numbers, and the number of columns with
    different names, as several columns of codes can be made from one column of a table.
    """

    sizes: tuple[int, ...]
    bins: tuple[int, ...]
    n_names: int


@dataclass(frozen=True)
class HalfspaceRows(Form):
    """Rows of codes, as `CodeRows`; vectors are rows of numbers of norm 1.

    With `intercept`, vectors get a further entry of 1 before they are scaled. The other parameters are as in `Form`.
    """

    intercept: bool = True

    def coded(self, X: Any) -> Any:
        return X

    def rows(self, X: Any) -> Any:
        return CodeRows(X) if isinstance(X, CodeTable) else unit_rows(X, fit_intercept=self.intercept, normalize=True)

    def outline(self, columns: Sequence[CodeColumn]) -> Outline:
        sizes = tuple(column.size for column in columns)
        return Outline((1, sum(sizes)), sizes, columns)

    def describe(self, rows: Any) -> CodeFacts | None:
        if not isinstance(rows, CodeRows | Outline):
            return None
        names = {j if column is None else column.name for j, column in enumerate(rows.columns)}
        sizes: Any = rows.sizes
        return CodeFacts(tuple(map(int, sizes)), tuple(map(bins_of, rows.columns)), len(names))


def image_of(rows, classes, fit_intercept):
    """Return the image of rows of codes or of plain rows."""
    return (CodeImage if isinstance(rows, CodeRows) else PlainImage)(rows, classes, fit_intercept)


@estimator
class HalfspaceClassifier(PrivateClassifier, name="halfspace"):
    """Private logistic model with nothing to tune: noisy sums of capped residuals.

    The first release is called the opening. For a `CodeTable` it is a noisy count of the rows of each class and of each
    code of each column; for other rows it is their noisy sum and the class sizes. The opening determines the initial
    log odds, the ranks of numbers, and the mean of the rows, which is subtracted from them. Each round then releases,
    with noise, the sum of the rows times their residuals, and adds it to the coefficients. A residual is the difference
    between the label and its probability under the released coefficients, doubled, and at most 1. For plain rows of two
    classes, the last two releases are the mean of the scores and the number of rows of each class by levels of their
    score. See `dpfast.learners.halfspaces.images`, `plain`, `model` and `steepness` beside it.

    **Privacy.** All releases together are (epsilon, delta)-DP for the relation `neighbors`. In the opening, a row is in
    one cell for each of p columns of codes, and in one cell for its class, where it counts c times, with c about
    sqrt(p) / 2. So the opening changes by at most sqrt(2 (p + c^2)) under
    "replace" and sqrt(p + c^2) under "add-remove". For plain rows, which have norm 1, it changes by at most sqrt(6) and
    sqrt(2). Given the earlier releases, a row adds a vector of norm at most 1 (sqrt(2) for more than two classes) to
    the sum of a round, so the sum changes by at most 2 (2 sqrt(2)) under "replace" and 1 (sqrt(2)) under "add-remove".
    A row adds a number of size at most 2 to the sum of the scores, which changes by at most 4 and 2. A row is in one of
    the counts by class and level, which change by at most sqrt(2) and 1. Rows and residuals are integers on a grid,
    sums are exact, and all releases are adaptive discrete Gaussian mechanisms:
    `dpfast.accounting.discrete_gaussian_sigma`. What is not declared is discovered before, by a survey whose noise
    shares the bill: `dpfast.accounting.curves.opening`.

    Parameters
    ----------
    n_rounds : "auto" or int, default="auto"
        The number of rounds; "auto" is 100. The noise of the coefficients hardly depends on it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in predictions: probabilities are those for class sizes multiplied by these weights. A
        class that a dict does not name has weight 1. "balanced" weighs each class by one over its noisy size.
    fit_intercept : bool, default=True
        Whether the score has a constant in addition to what the columns add. Without it, rows are not centred either.
    interactions : "auto" or int, default="auto"
        The largest number of pairs of columns that are considered together, for a `CodeTable` or a table with a schema;
        0 for other rows. Useful pairs are chosen privately during the rounds, using 5% of the budget: see
        `dpfast.learners.halfspaces.pairs`. "auto" is 8 if n mu is at least 2,500, and 0 otherwise. Here n is the
        number of rows, and a Gaussian mechanism of sensitivity 1 and standard deviation 1 / mu is (epsilon, delta)-DP.
        If the number of rows is not public, the 5% are set aside before it is released.
    trees : "auto" or int, default="auto"
        The number of random trees, for a `CodeTable` or a table with a schema; 0 for other rows. Trees see what columns
        say together. They are drawn from what earlier rounds released and from the chosen pairs, so they cost no
        privacy, and each is one more column, whose codes are its leaves: see `dpfast.learners.halfspaces.trees`. "auto"
        is 100 if the rows are many enough for the budget, that is, if n mu is at least 10,000 and 72 for each code that
        rows have by the released counts, or if at least 3 pairs were chosen; for two classes it is 200 if n mu is at
        least 1,000,000. Otherwise it is 0.
    encoder_share : float in (0, 1) or "auto", default="auto"
        Share of the budget spent on discovering ranges, words and labels, in squares of the sensitivity over the
        noise. "auto" is from .02, if rows are many and the labels are declared, to .24, if rows are few: see
        `dpfast.discovery.survey.plan`.

    Attributes
    ----------
    coef_ : ndarray, shape (1, m) for two classes, else (k, m)
        For a `CodeTable` there is an entry for each code: entry offsets[j] + v is what code v of column j adds to the
        score, also for columns of numbers. The cells of each of `interactions_` follow, row by row, then the
        leaves of each tree. For other rows x the score is <x, coef_> + `intercept_`, divided by the norm of (x, 1),
        plus `shift_`.
    coef_noise_ : ndarray, of the shape of coef_
        Standard deviation of each coefficient minus its mean over the rows, by `code_shares_`, if a column says nothing
        of the labels: due to the noise of the mechanism, some of which later rounds correct, and to the drawing of the
        rows; only for a `CodeTable`.
    count_noise_ : float
        Standard deviation of the noise in the share of the rows with one code.
    code_shares_ : ndarray of float64, shape (m,)
        The approximate share of the rows with each code, by the noisy counts of the opening; only for a `CodeTable`.
        The shares of a column add up to 1; a share is 0 if its count may be nothing but noise.
    intercept_ : ndarray, shape (1,) or (k,)
    shift_ : ndarray, shape (1,) or (k,)
        Added to every score: the score whose probabilities are the noisy shares of the classes. For rows that are not
        codes it also corrects for the mean that was subtracted and, for two classes, for the mean and counts of scores.
    n_rounds_ : int
    interactions_ : tuple of Interaction
        The chosen pairs, in this order: `columns` are the numbers of their columns, and `groups` has the group of each
        code. The cell of a row is given by the groups of its two codes.
    trees_ : Forest or None
        The trees, which `coef_` has weights for; None without trees. See `dpfast.learners.halfspaces.trees`.
    class_weight_ : ndarray of float64, shape (k,)
        The weights of the classes, the largest 1; only if there are any.
    sigma_ : float
        Scale of the noise on each component of a sum of rows of norm 1.

    Notes
    -----
    `decision_function` returns the log odds of classes_[1] for two classes. For more classes it returns the logarithms
    of the probabilities, up to a constant for each row (`dpfast.learners.halfspaces.model`).

    A round reads codes twice, and other rows once. Rows of numbers are scaled to norm 1 as they are: columns on very
    different scales need a `schema` with their ranges, or scaling by public constants.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.HalfspaceClassifier(random_state=0).fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.95
    True
    """

    delta: float = field(default=1e-6, kw_only=False, metadata=described(DELTA, DELTA_TEXT))
    n_rounds: int | str = parameter("auto", auto(count(1, MOST_ROUNDS)))
    class_weight: Mapping[Any, float] | str | None = parameter(
        None,
        optional(auto(_WEIGHTS, "balanced")),
        saved=False,  # `class_weight_` is
    )
    fit_intercept: bool = parameter(True, flag())
    interactions: int | str = parameter("auto", auto(count(0, _MOST_INTERACTIONS)))
    trees: int | str = parameter("auto", auto(count(0, MOST_TREES)))
    spares_unlabelled = True

    @property
    def reads(self) -> Form:
        """Return the form of the rows: codes, or vectors of norm 1."""
        named = "class_weight" if isinstance(self.class_weight, Mapping) else ""
        return HalfspaceRows(
            bool(self.fit_intercept), surveyed=True, spacing="fine", bins=128, groups=True, names_classes=named
        )

    def plan(self, task: Task) -> Plan:
        if task.n_classes > _MOST_CLASSES:
            k = task.n_classes
            raise ValueError(
                f"{k:,} classes would take {k * self._rounds:,} passes over the rows and as many sums with noise, one "
                f"for each class in each of {self._rounds} rounds: give at most {_MOST_CLASSES:,} classes"
            )
        self._declared_weights(task)
        shape = self._shape(task)
        pairs = self._most_pairs(task, shape)
        trees = self._most_trees(task, shape, pairs)
        return Plan(**releases(task, shape, self._rounds, pairs, trees << DEEPEST))

    def spending(self, task: Task) -> Spending:
        shape = self._shape(task)
        entries = (
            max(shape.size, _WIDEST * task.form.n_names) + _MOST_INTERACTIONS * GROUPS**2 + (MOST_TREES << DEEPEST)
        )
        moves = sensitivity(shape.reach, 2, "add-remove")
        return Spending("gaussian", 0, (NoisySums(moves, 1, _MOST_CLASSES * entries),))

    def learn(self, rows: Rows, plan: Plan, run: Run) -> AdditiveModel:
        task, n_rounds, sigma = rows.task, self._rounds, run.scale("rounds")
        image = image_of(rows.form, task.n_classes, self.fit_intercept)
        grid, deviation = Grid.of(image, task.n_classes, n_rounds, task.neighbors), sigma / image.reach
        pairs = self._most_pairs(task, image)
        trees = self._most_trees(task, image, pairs)
        width = rows.form.shape[1]
        coefficients = width if isinstance(rows.form, CodeRows) else rows.n_features
        state = HalfspaceState(image, task.n_classes, width, coefficients)
        declared = self._declared_weights(task)

        def model() -> AdditiveModel:
            sizes = state.sizes
            balanced = self.class_weight == "balanced" and sizes is not None
            return AdditiveModel(
                **state.released(),
                n_rounds=n_rounds,
                sigma=deviation,
                class_weight=sizes.min() / sizes if balanced else declared,
                count_noise=None if sizes is None else sigma / grid.opening / image.opening.n,
            )

        run.show(model)
        counts = run.release("opening", grid.opening * rows.sum(*image.opening_question()))
        run.count(*image.open(counts / grid.opening, sigma / grid.opening, rows.n))
        state.begin(deviation, n_rounds, bool(self.fit_intercept))
        n = image.opening.n
        depth = depth_of(n, task.epsilon, task.delta, self.trees, held_codes(image.opening)) if trees else 0
        trees = min(trees, number_of(n, task.epsilon, task.delta, self.trees, task.n_classes))
        joins = bool(pairs) and self._joins(n, task)
        choice, planting = int(n_rounds * PAIRS_BEFORE), int(n_rounds * BEFORE[joins])
        if joins and depth and signal(n, task.epsilon, task.delta) >= CLEAR:
            planting = choice
        for k in run.rounds("rounds"):
            left = n_rounds - k
            if joins and k == choice:
                state.join(_choose_pairs(rows, state, deviation, left, pairs, run), deviation, left)
                planting = planting if state.interactions else k  # nothing to wait for
                if trees and not depth and len(state.interactions) >= SEEN:
                    depth = depth_of(n, task.epsilon, task.delta, trees)
            if depth and k == planting:
                hasty = bool(state.interactions) or not joins
                state.plant(trees, depth, deviation, left, np.random.Generator(np.random.Philox(key=run.key())), hasty)
            total = state.image.entries(rows.sum(*state.question()))
            state.descent.add(run.release("rounds", total) / image.reach)
        if image.by_middle:
            total = run.release("middle", grid.middle * rows.sum(*state.middle_question()))
            state.centre(float(total[0] / grid.middle), sigma / grid.middle)
        if image.by_margin:
            counts = rows.sum(*state.level_question(sigma / grid.levels))
            state.level(run.release("levels", grid.levels * counts) / grid.levels, sigma / grid.levels)
        return model()

    @property
    def _rounds(self):
        return ROUNDS if isinstance(self.n_rounds, str) else int(self.n_rounds)

    def _declared_weights(self, task):
        """Return the declared weights of known classes, or None."""
        if task.classes is None or not isinstance(self.class_weight, Mapping):
            return None
        return class_weights(self.class_weight, task.classes)

    def _shape(self, task):
        """Return the sizes of the images of rows."""
        if task.form is None:
            return PlainShape(task.n_columns, task.reach, task.n_classes, self.fit_intercept)
        return CodeShape(task.form.sizes, task.form.bins, task.n_classes, self.fit_intercept)

    def _most_pairs(self, task, shape):
        """Return the number of pairs that are planned, which is 0 if a public number of rows is too small for them."""
        pairs, n = shape.most_pairs(self.interactions), task.n_rows
        return pairs if pairs and (n is None or self._joins(n, task)) else 0

    def _joins(self, n, task):
        """Return whether pairs are worth their share of the budget: always, if the parameter is a number."""
        return self.interactions != "auto" or signal(n, task.epsilon, task.delta) >= ENOUGH

    def _most_trees(self, task, shape, pairs):
        """Return the number of trees that are planned, which is 0 if a public number of rows is too small for them.

        If pairs are planned, trees are planned too: pairs that are found may ask for them.
        """
        trees, n = shape.most_trees(self.trees), task.n_rows
        if n is None or not trees:
            return trees
        few = not pairs and not depth_of(n, task.epsilon, task.delta, self.trees)
        return 0 if few else number_of(n, task.epsilon, task.delta, self.trees, task.n_classes)

    def read_model(self, saved: Any, task: Task) -> AdditiveModel:
        return read_additive(saved, task)

    def terms(self) -> Any:
        """Return what each column adds to the scores, code by code.

        The score of a row is the sum of what its values add, and a constant. `decision_function` returns log odds,
        which are a bent function of this score (`dpfast.learners.halfspaces.model`): near a score of 0 they move half
        as much.

        Returns
        -------
        list of dpfast.report.Term
            The most important terms come first. The table must have a schema, declared or discovered.
        """
        from dpfast.report.additive import terms

        check_is_fitted(self)
        return terms(self)


def _choose_pairs(rows, state, deviation, n_rounds, most, run):
    """Return at most so many pairs, drawn for so many further rounds."""
    pairs = state.pairs(deviation, n_rounds, most)
    if not pairs.of:
        return []
    return pairs.choose(rows.sum(*state.pair_question(pairs.of)), LIMIT, run)
