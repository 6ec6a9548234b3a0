"""Purely private large-margin halfspaces: the exponential mechanism over a net of the sphere."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import Budget, Cost
from dpfast.accounting.numbers import exact, float_above
from dpfast.kernels.net import Net
from dpfast.learners.base import LinearClassifier
from dpfast.learners.halfspaces.nets import Nets, net_radius
from dpfast.learners.halfspaces.parted import projectable_of
from dpfast.learners.parameters import PURE, Parameters, SchemaLike, auto, count, flag, positive, real
from dpfast.learners.probabilities import PROBABILITY_SHARE
from dpfast.learners.saving import entries, integer
from dpfast.learners.tables import SCHEMAS
from dpfast.parts import MemoryParts, Piece
from dpfast.tables.labels import class_codes, two_classes
from dpfast.tables.products import row_products
from dpfast.tables.projection import project, projectable


class NetReport(NamedTuple):
    """What a fitted model, and the best member of the same net, do on given rows. **Not private.**"""

    rows: int
    members: int
    wrong: int  # rows that the released member gets wrong by the margin: minus its score
    least_wrong: int  # the least number for any member
    accuracy: float  # of the released member's signs
    best_accuracy: float  # of the first member of least_wrong
    best_coef: np.ndarray  # its halfspace, shape (n_features_in_,)
    best_intercept: float


class NetHalfspaceClassifier(LinearClassifier):
    """Halfspace drawn from a net of a random projection [NUZ, Algorithm 2]_, with delta = 0.

    Labels are of two classes. Booleans and bits are the numbers 0 and 1.

    Rows are projected to a few components by a random sign matrix and normalised; the halfspace is drawn from a net of
    the unit sphere there, member w with probability proportional to exp(-t * #{i : y_i <w, x_i> < margin / 10}).

    **Privacy.** The model is epsilon-DP (delta = 0) for the relation `neighbors`: "replace" compares tables that differ
    in one row (x, y), "add-remove" tables one of which has a row more. The matrix is drawn without looking at the
    data, and the net depends on the parameters alone: both are public. A projected row is a function of its own
    example, so that one example changes each score by at most 1, and when it is added all of them downwards: scores
    move within a range R of 2 under "replace" and of 1 under "add-remove", and t = epsilon / R makes the draw
    epsilon-DP by the theorem of the exponential mechanism. Scores are integers and the draw is exact: no
    floating-point number can move a probability. The number of rows (under "replace"), the columns and the set of
    labels are taken as public; `classes` of `fit` keeps the last from being read off the data.
    With `probability_share` = c the model is ((1 - c) epsilon, 0)-DP and the class counts are (c epsilon, 0)-DP
    (`dpfast.learners.class_counts`): together (epsilon, 0), by basic composition.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget: a smaller value is more private; 1 is a good start.
    margin : float in (0, 1], default=0.1
        gamma: the cosine that rows are supposed to have with the best halfspace, at least.
    n_components : int, default=4
        m: components of a projection. Rows that have no more entries, their 1 included, are not projected. The net
        grows as (sqrt(m) / net_radius)^(m - 1).
    n_projections : int, default=1
        Independent projections, each with a net of its own; the halfspace is drawn from all of them together. 1 is the
        paper's. With few components some matrices lose the margin and others keep it. A search of k costs k times the
        time, no privacy, and about ln(k) / t mistakes: with a wider net_radius, 30 are often far better than one.
    net_radius : float in (0, 1] or "auto", default="auto"
        Every unit vector lies within this of a member. "auto" is margin / 10.
    neighbors : {"replace", "add-remove"}, default="replace"
        Neighbouring tables of the claim: one row replaced (the number of rows is public), or one row added or removed.
    fit_intercept : bool, default=True
        Whether a constant feature 1 is added to the rows, before they are projected and normalised.
    max_seconds : float, default=60.0
        A fit that would take longer, by a declared time for each row and member and the threads in use, is refused
        before anything is drawn or charged. Whether it is depends on the number of rows, and is told to their owner.
    probability_share : float in [0, 1), default=0.0
        Share of epsilon for noisy class counts of the rows by how far they are on a side
        (`dpfast.learners.calibration`). They give `predict_proba`, and `predict` the more probable label; 0 releases
        none.
    schema, encoder_share, budget, random_state, verbose
        As in `DecisionListClassifier`.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features_in_,)
        The halfspace, mapped back to the features.
    intercept_ : float
    direction_ : ndarray, shape (n_projections * n_components,)
        The halfspace drawn: a unit vector of the components of one projection, zero in those of the others; of the
        columns, and one for the intercept, if rows were not projected.
    member_ : int
        Its number in its net plus, for each projection before, the size of a net; see `dpfast.kernels.net`.
    projection_key_ : int
        Stands for the matrices, stacked; see `dpfast.kernels.signs`.
    net_size_ : int
        Number of members of all nets.
    classes_ : ndarray, shape (2,)
    class_counts_ : ndarray of int64, shape (LEVELS, 2)
        Rows of each level and class, with noise of scale `class_counts_scale_`. Only with `probability_share`.
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    The net is enumerated and never stored: for each of the m k^(m-2) lines of its grid of side k = sqrt(m-1) /
    net_radius, a row takes one root and one division, which settle 2 k members at once. One pass counts the members at
    each score, and a part of a second finds the one drawn. The sphere stands for the paper's ball: the score of w / |w|
    is never below that of w. Rows go to a grid, of 2^-16 at the default parameters, on which comparisons are exact.

    References
    ----------
    .. [NUZ] H. L. Nguyen, J. Ullman, L. Zakynthinou, Efficient Private Algorithms for Learning Large-Margin Halfspaces,
       ALT 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfast
    >>> X = np.random.default_rng(0).normal(size=(2000, 30)) + 1.5
    >>> y = X[:, :15].sum(axis=1) > X[:, 15:].sum(axis=1)
    >>> clf = dpfast.NetHalfspaceClassifier(random_state=0, n_components=3).fit(X, y)
    >>> clf.coef_.shape, str(clf.privacy_)[:31]
    ((30,), '(1.0, 0)-DP, replace one row; 1')
    """

    _model = "net-halfspace"
    _reads_parts = True
    delta = 0.0
    _parameters = (
        PURE
        | SCHEMAS
        | PROBABILITY_SHARE
        | {
            "margin": real(0, 1, "(]"),
            "n_components": count(1),
            "n_projections": count(1, 1 << 32),
            "net_radius": auto(real(0, 1, "(]")),
            "fit_intercept": flag(),
            "max_seconds": positive(),
        }
    )

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        margin: float = 0.1,
        n_components: int = 4,
        n_projections: int = 1,
        net_radius: float | str = "auto",
        neighbors: str = "replace",
        fit_intercept: bool = True,
        max_seconds: float = 60.0,
        probability_share: float = 0.0,
        schema: SchemaLike | None = None,
        encoder_share: float | str = "auto",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.margin = margin
        self.n_components = n_components
        self.n_projections = n_projections
        self.net_radius = net_radius
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.max_seconds = max_seconds
        self.probability_share = probability_share
        self.schema = schema
        self.encoder_share = encoder_share
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, X, y, classes, p, run):
        """Draw the halfspace."""
        parts, _, public = self._asked(X, y, classes, projectable_of)
        two_classes(public.classes)
        nets = Nets(p, public.n_features)
        nets.check_time(public.n_rows, p.max_seconds)

        cost = [Cost("range", float_above(exact("epsilon", p.epsilon)))]
        run.charge(public, self._all_costs(cost, p), halfspaces=1, **p.counting)
        key = int.from_bytes(run.rng.bytes(16), "little")
        scan = nets.scan(parts, public.n_rows, key, self.verbose)
        member = scan.draw(p.exponent / p.rows_per_unit, run.rng)
        run.release("halfspaces", nets, member, key)
        self._count_levels(run, p, parts, lambda: nets.lifted(nets.direction(member), key))

    def _publish(self, run):
        if run.released:
            self._set(*run.released)

    def _set(self, nets, member, key):
        self.member_, self.projection_key_, self.net_size_ = member, key, nets.size
        self.direction_ = nets.direction(member)
        self.coef_, self.intercept_ = nets.lifted(self.direction_, key)

    def _refuse_rows(self, n, p):
        if p.schema is not None:
            Nets(p, self._planned_width(p)).check_time(n, p.max_seconds)

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        p.exponent = -exact("epsilon", p.epsilon) / (2 if p.neighbors == "replace" else 1)
        Net(p.n_components, net_radius(p))  # refuses what it may not be
        return p

    def _nets(self):
        """Those of a fitted model."""
        return Nets(Parameters._checked(self), self._width)

    def _scores(self, X):
        check_is_fitted(self, "coef_")
        if not self._nets().projected:
            return super()._scores(X)
        X = self._coded(X)
        table = projectable(X)
        self._check_features(X, reset=False)
        x = project(table, len(self.direction_), self.projection_key_)
        return row_products(x, self.direction_) + self.intercept_

    def owner_report(self, X: Any, y: Any) -> NetReport:
        """What this model does on some rows, beside the best that its net can do. **Not private.**

        For the owner of X and y: nothing here has noise, and nothing of it is kept in the model. Takes as long as a
        `fit`.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        NetReport

        Raises
        ------
        ValueError
            As `fit`.
        """
        check_is_fitted(self, "coef_")
        nets, X = self._nets(), self._coded(X)
        table = projectable(X)
        self._check_features(X, reset=False)
        labels = class_codes(y, table.shape[0], self.classes_)
        signs = labels.signs()
        nets.check_time(len(signs), self.max_seconds)
        parts = MemoryParts([Piece(X, labels.codes, rows=table)])
        scan = nets.scan(parts, len(signs), self.projection_key_, self.verbose)
        least = int(np.flatnonzero(scan.counts)[0])
        coef, intercept = nets.lifted(nets.direction(scan.member(least, 0)), self.projection_key_)
        best = row_products(table, coef) + intercept
        return NetReport(
            rows=len(signs),
            members=nets.size,
            wrong=scan.wrong(self.member_),
            least_wrong=least,
            accuracy=float(((self._scores(X) >= 0) == (signs > 0)).mean()),
            best_accuracy=float(((best >= 0) == (signs > 0)).mean()),
            best_coef=coef,
            best_intercept=intercept,
        )

    def _released(self):
        return {"member": self.member_, "projection_key": self.projection_key_}

    def _restore(self, released):
        nets = self._nets()
        entries(released, "member", "projection_key")
        member = integer(released["member"], 0, nets.size - 1)
        self._set(nets, member, integer(released["projection_key"], 0, (1 << 128) - 1))
