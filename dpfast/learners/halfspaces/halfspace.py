"""The private linear classifier to take: any table, any number of classes, probabilities, nothing to tune."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import NoisySums, discrete_gaussian_sigma
from dpfast.kernels.reals import exp, expit, log, norm
from dpfast.learners.base import PrivateClassifier
from dpfast.learners.batches import in_batches
from dpfast.learners.halfspaces.images import LIMIT, CodeImage
from dpfast.learners.halfspaces.model import HalfspaceState, Noise, class_weights, sensitivity
from dpfast.learners.halfspaces.pairs import GROUPS, restored
from dpfast.learners.halfspaces.plain import PlainImage
from dpfast.learners.halfspaces.steepness import log_chances, log_odds, score_of
from dpfast.learners.halfspaces.trees import BEFORE, DEEPEST, MOST_TREES, depth_of, held_codes, restored_forest
from dpfast.learners.parameters import Kind, auto, count, estimator, flag, optional, parameter, positive
from dpfast.learners.saving import entries, integer, reals
from dpfast.mechanisms import discrete_gaussian
from dpfast.tables.codes import CodeRows, CodeTable
from dpfast.tables.unit_rows import unit_rows

ROUNDS, MOST_ROUNDS = 100, 1 << 15
_MOST_CLASSES = 1 << 12
_MOST_INTERACTIONS = 64
_WIDEST = 1 << 11  # an upper bound on the entries of the image of a discovered column
_WEIGHTS = Kind(
    "be a dict of finite numbers > 0 by class",
    lambda value: isinstance(value, Mapping) and len(value) > 0 and all(map(positive().fits, value.values())),
    dict,
)
_BEFORE_PAIRS = Fraction(3, 10)  # share of the rounds before the choice of pairs


def rows_of(X, fit_intercept):
    """Return a table as this learner reads it: rows of codes, or plain rows of norm 1."""
    return CodeRows(X) if isinstance(X, CodeTable) else unit_rows(X, fit_intercept=fit_intercept, normalize=True)


def image_of(rows, classes, fit_intercept):
    """Return the image of rows of codes or of plain rows."""
    return (CodeImage if isinstance(rows, CodeRows) else PlainImage)(rows, classes, fit_intercept)


@estimator
class HalfspaceClassifier(PrivateClassifier):
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
    shares the bill: `dpfast.accounting.opening`.

    Parameters
    ----------
    n_rounds : "auto" or int, default="auto"
        The number of rounds; "auto" is 100. The noise of the coefficients hardly depends on it.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in predictions: probabilities are those for class sizes multiplied by these weights. A
        class that a dict does not name has weight 1. "balanced" weighs each class by one over its noisy size.
    fit_intercept : bool, default=True
        Whether the score has a constant in addition to what the columns add. Without it, rows are not centred either.
    interactions : "auto" or int, default=0
        The largest number of pairs of columns that are considered together, for a `CodeTable` or a table with a schema;
        "auto" is 8, and 0 for other rows. Pairs that are worth their noise are chosen privately after three tenths of
        the rounds, for a 20th of the bill: see `dpfast.learners.halfspaces.pairs`.
    trees : "auto" or int, default="auto"
        The number of random trees, for a `CodeTable` or a table with a schema; 0 for other rows. Trees see what columns
        say together. They are drawn from what the first rounds released, so they cost no privacy, and each is one more
        column, whose codes are its leaves: see `dpfast.learners.halfspaces.trees`. "auto" is 100 if the rows are many
        enough for the budget, that is, if n mu is at least 10,000 and 72 for each code that rows have by the released
        counts. Here n is the public or released number of rows, and a Gaussian mechanism of sensitivity 1 and standard
        deviation 1 / mu is (epsilon, delta)-DP. Otherwise, and with `interactions`, it is 0.
    encoder_share : float in (0, 1) or "auto", default="auto"
        Share of the bill for the survey that discovers what is not declared, in squares of the sensitivity over the
        noise. "auto" is .06, or more if rows are few: see `dpfast.learners.discovery.plan`.

    Attributes
    ----------
    coef_ : ndarray, shape (1, m) for two classes, else (k, m)
        For a `CodeTable` there is an entry for each code: entry offsets[j] + v is what code v of column j adds to the
        score, also for columns of numbers. The cells of each of `interactions_` follow, row by row, then the
        leaves of each tree. For other rows x the score is <x, coef_> + `intercept_`, divided by the norm of (x, 1),
        plus `shift_`.
    coef_noise_ : ndarray, of the shape of coef_
        Standard deviation of the noise in each coefficient minus its mean over the rows, by `code_shares_`; only for a
        `CodeTable`. Later rounds correct some of this noise.
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

    _model = "halfspace"
    _reads_parts = True
    _not_saved = (*PrivateClassifier._not_saved, "class_weight")  # `class_weight_` is
    n_rounds: int | str = parameter("auto", auto(count(1, MOST_ROUNDS)))
    class_weight: Mapping[Any, float] | str | None = parameter(None, optional(auto(_WEIGHTS, "balanced")))
    fit_intercept: bool = parameter(True, flag())
    interactions: int | str = parameter(0, auto(count(0, _MOST_INTERACTIONS)))
    trees: int | str = parameter("auto", auto(count(0, MOST_TREES)))

    def _learn(self, table, p, run):
        parts, rows, public = self._asked(table, self._image())
        k = len(public.classes)
        self._refuse_classes(public.classes, p)
        if p.class_weight is not None and p.class_weight != "balanced":
            public.others["class_weight_"] = class_weights(p.class_weight, public.classes)
        if p.n_rounds == "auto":
            p.n_rounds = ROUNDS
        image = image_of(rows, k, p.fit_intercept)
        most = image.most_pairs(p.interactions)
        n = public.n_rows if p.neighbors == "replace" else None
        trees = image.most_trees(p.trees, p.interactions)
        trees = trees if n is None or depth_of(n, p.epsilon, p.delta, p.trees) else 0
        noise = Noise(p, image, k, most, trees << DEEPEST)
        public.others.update(n_rounds_=p.n_rounds, sigma_=noise.sigma / image.reach)
        model = HalfspaceState(image, k, rows.shape[1])
        releases = {"pairs": most} if most else {}
        last = ({"middle": 1} if image.by_middle else {}) | ({"levels": 1} if image.by_margin else {})
        run.charge(public, noise.cost, opening=1, **releases, rounds=p.n_rounds, **last)
        run.released = model
        counts = parts.sum(*image.opening_question())
        noisy = discrete_gaussian(noise.unit * counts, noise.sigma, rng=run.rng) / noise.unit
        run.used["opening"] += 1
        image.open(noisy, noise.sigma / noise.unit, n)
        run.attributes["count_noise_"] = noise.sigma / noise.unit / image.opening.n
        sizes = run.attributes["class_sizes_"] = image.opening.sizes
        if p.class_weight == "balanced":
            run.attributes["class_weight_"] = sizes.min() / sizes
        deviation, alone = noise.sigma / image.reach, int(p.n_rounds * _BEFORE_PAIRS) if most else -1
        model.begin(deviation, p)
        depth = depth_of(image.opening.n, p.epsilon, p.delta, p.trees, held_codes(image.opening)) if trees else 0
        bare = int(p.n_rounds * BEFORE) if depth else -1
        for done in self._shown(range(p.n_rounds), "rounds", parts, public):
            if done == bare:
                model.plant(trees, depth, deviation, p.n_rounds - done, run.rng)
            if done == alone:
                self._join_pairs(parts, model, deviation, p.n_rounds - done, most, noise.exponents, run)
            total = model.image.entries(parts.sum(*model.image.question(model.descent.seen(), model.constants)))
            model.descent.add(discrete_gaussian(total, noise.sigma, rng=run.rng) / image.reach)
            run.used["rounds"] += 1
        if image.by_middle:
            total = parts.sum(*model.middle_question())
            noisy = discrete_gaussian(noise.middle_unit * total, noise.sigma, rng=run.rng) / noise.middle_unit
            model.centre(float(noisy[0]), noise.sigma / noise.middle_unit)
            run.used["middle"] += 1
        if image.by_margin:
            deviation = noise.sigma / noise.level_unit
            counts = parts.sum(*model.level_question(deviation))
            noisy = discrete_gaussian(noise.level_unit * counts, noise.sigma, rng=run.rng) / noise.level_unit
            model.level(noisy, deviation)
            run.used["levels"] += 1

    def _join_pairs(self, parts, model, deviation, n_rounds, most, exponents, run):
        """Draw at most so many pairs, and add them to the model for the remaining rounds."""
        pairs, chosen = model.pairs(deviation, n_rounds, most), []
        if not pairs.of:
            return
        seen = model.descent.seen()
        total = parts.sum(*model.image.pair_question(seen, model.constants, pairs.of))
        for pair in pairs.drawn(total, LIMIT, exponents, most, run.rng):
            run.used["pairs"] += 1
            if pair is not None:
                chosen.append(pair)
        model.join(chosen, deviation, n_rounds)

    def _refuse_classes(self, classes, p):
        if len(classes) > _MOST_CLASSES:
            k, n_rounds = len(classes), ROUNDS if p.n_rounds == "auto" else p.n_rounds
            raise ValueError(
                f"{k:,} classes would take {k * n_rounds:,} passes over the rows and as many sums "
                f"with noise, one for each class in each of {n_rounds} rounds: give at most {_MOST_CLASSES:,} classes"
            )
        if isinstance(p.class_weight, Mapping):
            class_weights(p.class_weight, classes)

    @classmethod
    def _read_by(cls, schema):
        return schema.fine()

    def _spends(self, p):
        entries = _WIDEST * len(p.schema.columns) + _MOST_INTERACTIONS * GROUPS**2 + (MOST_TREES << DEEPEST)
        moves = sensitivity(CodeImage.reach, 2, "add-remove")
        return "gaussian", 0, (NoisySums(moves, 1, _MOST_CLASSES * entries),)

    def _publish(self, run):
        model = run.released
        self.coef_, self.intercept_, self.shift_ = model.linear()
        self.interactions_ = model.interactions
        self.trees_ = model.forest
        noise = model.noise()
        if noise is not None:
            self.coef_noise_, self.code_shares_ = noise, model.image.shares

    def _read_codes(self, X):
        return X

    def _image(self):
        return partial(rows_of, fit_intercept=bool(self.fit_intercept))

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        discrete_gaussian_sigma(p.epsilon, p.delta)  # refuses what they may not be
        if p.interactions and p.trees not in ("auto", 0):
            raise ValueError(
                f"trees and interactions are two ways to join columns, got trees={p.trees} and "
                f"interactions={p.interactions!r}: set one of them to 0"
            )
        return p

    # ---- what was learned ------------------------------------------------------------------------------------------

    @in_batches("ndarray of float64, shape (n,) or (n, k)")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of the classes (`dpfast.learners.halfspaces.model`).

        For two classes they are those of classes_[1]. For more classes they are the logarithms of the probabilities, up
        to a constant for each row.
        """
        check_is_fitted(self)
        X = self._coded(X)
        rows = self._image()(X)
        self._check_features(X)
        if isinstance(X, CodeTable):
            rows = rows.joined(self.interactions_) if self.interactions_ else rows
            rows = rows if self.trees_ is None else rows.with_leaves(self.trees_)
            scores = rows.looked_up(self.coef_.T, self.intercept_ + self.shift_)
        else:
            w = np.concatenate([self.coef_, self.intercept_[:, np.newaxis]], axis=1).T[: rows.shape[1]]
            size = norm(w) or 1.0  # margins are those of vectors of norm 1
            scores = size * rows.margins(w / size).astype(np.float64) + self.shift_
        two = len(self.classes_) == 2
        logs = log_odds(scores[:, 0]) if two else log_chances(scores)
        if not hasattr(self, "class_weight_"):
            return logs
        weights = log(self.class_weight_)
        return logs + (weights[1] - weights[0] if two else weights)

    def _chance(self, score):
        """Return the probability of classes_[1] of two for a row of this score."""
        return float(expit(log_odds(score) + self._moved()))

    def _chance_from_even(self, step):
        """Return the probability of a class whose score is this much above that of even odds with all others."""
        if len(self.classes_) == 2:
            return self._chance(score_of(-self._moved()) + step)
        chances = exp(log_chances(np.array([[step, *[0.0] * (len(self.classes_) - 1)]])))
        return float(chances[0, 0] / chances.sum())

    def _moved(self):
        """Return what the weights of two classes add to the log odds."""
        weights = log(self.class_weight_) if hasattr(self, "class_weight_") else (0.0, 0.0)
        return weights[1] - weights[0]

    @in_batches("ndarray of float64, shape (n, k)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes; column j is for classes_[j]."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        chances = exp(scores - scores.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)

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

    def _released(self):
        released = {
            "coef": self.coef_.tolist(),
            "intercept": self.intercept_.tolist(),
            "shift": self.shift_.tolist(),
            "n_rounds": self.n_rounds_,
            "sigma": self.sigma_,
        }
        if self.interactions_:
            released["interactions"] = [pair.saved() for pair in self.interactions_]
        if self.trees_ is not None:
            released["trees"] = self.trees_.saved()
        if hasattr(self, "class_weight_"):
            released["class_weight"] = self.class_weight_.tolist()
        return released

    def _restore(self, released):
        entries(
            released, "coef", "intercept", "shift", "n_rounds", "sigma", maybe=("class_weight", "interactions", "trees")
        )
        columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        coef = released["coef"]
        if not isinstance(coef, list) or len(coef) != columns or not isinstance(coef[0], list):
            raise ValueError(f"wanted {columns} lists of coefficients, got {coef!r}")
        self.coef_ = np.array([reals(each, len(coef[0])) for each in coef])
        self.intercept_ = reals(released["intercept"], columns)
        self.shift_ = reals(released["shift"], columns)
        self.n_rounds_ = integer(released["n_rounds"], 1, MOST_ROUNDS)
        self.sigma_ = positive().read("sigma", released["sigma"])
        self.interactions_ = tuple(map(restored, released.get("interactions", [])))
        self.trees_ = restored_forest(released["trees"]) if "trees" in released else None
        self._check_joined()
        if "class_weight" in released:
            self.class_weight_ = reals(released["class_weight"], len(self.classes_))

    def _check_joined(self):
        """Refuse pairs and trees of other columns, or of other codes, than the coefficients of a file are for."""
        forest = self.trees_
        joined = sum(pair.size for pair in self.interactions_) + sum([] if forest is None else forest.sizes)
        left = self.coef_.shape[1] - joined
        if "encoder_" not in vars(self):  # vectors, or codes of which the file has only the number of columns
            if left < self._width:
                raise ValueError(f"{self._width} columns cannot have {left} coefficients")
            return
        sizes = [column.size for column in self.encoder_.schema_.code_columns]
        read = [
            (j, len(group)) for pair in self.interactions_ for j, group in zip(pair.columns, pair.groups, strict=True)
        ]
        read += [] if forest is None else [(j, len(places)) for j, places in forest.orders]
        if left != sum(sizes) or any(j >= len(sizes) or sizes[j] != size for j, size in read):
            raise ValueError(f"columns of {sizes} codes cannot have {left} coefficients, nor pairs or trees of {read}")
