"""Purely private large-margin halfspaces: the exponential mechanism over a net of the sphere."""

import math
from fractions import Fraction
from itertools import chain
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import PrivacySpend, Release
from dpfast.data.blocks import map_blocks, slices, threads
from dpfast.data.products import row_products
from dpfast.data.projection import project, projectable
from dpfast.kernels import levels, signs
from dpfast.kernels.net import Mistakes, Net, grid
from dpfast.learners.base import LinearClassifier, refuse_weights, shown

_ROW_SECONDS, _MEMBER_SECONDS = 5e-9, 1.5e-9  # of a line: for each row, for each member; without AVX-512
_BLOCK = 1 << 21  # rows and members of lines to a piece of work: a hundredth of a second
_BATCH = 16  # pieces under way at once
_TABLE = 1 << 22  # counts that are kept


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

    Parameters
    ----------
    epsilon : float, default=1.0
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
    fit_intercept : bool, default=True
        Whether a constant feature 1 is added to the rows, before they are projected and normalised.
    max_seconds : float, default=60.0
        A fit that would take longer, by a declared time for each row and member and the threads in use, is refused
        before anything is drawn or charged. Whether it is depends on the number of rows, and is told to their owner.
    budget, random_state, verbose
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
    delta = 0.0

    def __init__(
        self,
        epsilon=1.0,
        *,
        margin=0.1,
        n_components=4,
        n_projections=1,
        net_radius="auto",
        neighbors="replace",
        fit_intercept=True,
        max_seconds=60.0,
        budget=None,
        random_state=None,
        verbose=False,
    ):
        self.epsilon = epsilon
        self.margin = margin
        self.n_components = n_components
        self.n_projections = n_projections
        self.net_radius = net_radius
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.max_seconds = max_seconds
        self.budget = budget
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, *, classes=None, **refused):
        """Draw the halfspace.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
            Bits and booleans are 0 and 1.
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The public set of labels; read off y by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do, or a net that would take too long, before anything is charged
            or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        refuse_weights(refused)
        exponent, radius = self._checked_parameters()
        rng = random.generator(self.random_state)
        self._check_budget()
        table = projectable(X)
        self._check_features(X, reset=True)
        y = self._signs(y, table.shape[0], classes)
        net = self._net(radius)
        self._check_time(net, len(y))

        key = int.from_bytes(rng.bytes(16), "little")
        scan = self._scan(net, self._projected(table, key), y)
        self._charge()
        self._set(net, scan.draw(exponent, rng), key)
        self.privacy_ = PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("halfspaces", 1, 1),),
            reproducible=random.is_reproducible(rng),
        )
        return self

    def decision_function(self, X):
        """<x, coef_> + intercept_ for each row: float64, shape (n,); at least 0 is for classes_[1]."""
        if not self.__sklearn_is_fitted__() or self._width <= self.n_components:
            return super().decision_function(X)
        table = projectable(X)
        self._check_features(X, reset=False)
        return project(table, len(self.direction_), self.projection_key_) @ self.direction_ + self.intercept_

    def owner_report(self, X, y):
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
        check_is_fitted(self)
        net = self._net(self._checked_parameters()[1])
        table = projectable(X)
        self._check_features(X, reset=False)
        y = self._signs(y, table.shape[0], self.classes_)
        self._check_time(net, len(y))
        scan = self._scan(net, self._projected(table, self.projection_key_), y)
        least = int(np.flatnonzero(scan.counts)[0])
        direction = self._direction(net, scan.member(least, 0))
        coef, intercept = self._lifted(direction, self.projection_key_)
        best = row_products(table, coef) + intercept
        return NetReport(
            rows=len(y),
            members=self._nets * net.size,
            wrong=scan.wrong(self.member_),
            least_wrong=least,
            accuracy=float(((self.decision_function(X) >= 0) == (y > 0)).mean()),
            best_accuracy=float(((best >= 0) == (y > 0)).mean()),
            best_coef=coef,
            best_intercept=intercept,
        )

    # ---- the projection --------------------------------------------------------------------------------------------

    @property
    def _width(self):
        return self.n_features_in_ + bool(self.fit_intercept)

    @property
    def _nets(self):
        """Projections, each with a net: one, the identity, where it keeps all columns."""
        return 1 if self._width <= self.n_components else int(self.n_projections)

    def _net(self, radius):
        return Net(min(int(self.n_components), self._width), radius)

    def _projected(self, table, key):
        """A (x, 1) for each row x, or A x, all projections side by side: float32, shape (n, k m)."""
        d = self.n_features_in_
        if self._width <= self.n_components:
            rows = np.ones((table.shape[0], self._width), np.float32)
            rows[:, :d] = row_products(table, np.eye(d))
            return rows
        components = self._nets * int(self.n_components)
        x = project(table, components, key)
        if self.fit_intercept:
            x += signs.project_csr(np.array([0, 1]), np.array([d]), None, d + 1, components, key)
        return x

    def _scan(self, net, x, y):
        parts = np.split(x, self._nets, axis=1)
        mistakes = [Mistakes(net, grid(part, y, net.grid_bits), self.margin / 10) for part in parts]
        return _Scan(net, mistakes, len(y), self.verbose)

    def _direction(self, net, member):
        """The unit vector that is the member of one projection, zero in the components of the others."""
        projection, member = divmod(member, net.size)
        (p,) = net.vectors([member])
        direction = np.zeros((self._nets, net.m))
        direction[projection] = p / math.sqrt(int((p * p).sum()))
        return direction.ravel()

    def _lifted(self, w, key):
        """The coefficients and the intercept of a halfspace of the components."""
        d = self.n_features_in_
        lifted = w if self._width <= self.n_components else signs.lift(w, self._width, key)
        return lifted[:d], float(lifted[d:].sum())

    def _set(self, net, member, key):
        self.member_, self.projection_key_, self.net_size_ = member, key, self._nets * net.size
        self.direction_ = self._direction(net, member)
        self.coef_, self.intercept_ = self._lifted(self.direction_, key)

    # ---- what goes in ----------------------------------------------------------------------------------------------

    def _checked_parameters(self):
        """Refuse parameters that will not do; returns the exponent of a mistake and the net."""
        if not _is_positive(self.epsilon):
            raise ValueError(f"epsilon must be a finite number above 0, got {self.epsilon!r}")
        if not _is_positive(self.margin) or self.margin > 1:
            raise ValueError(f"margin must lie in (0, 1], got {self.margin!r}")
        for name in ("n_components", "n_projections"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        radius = self.net_radius
        if isinstance(radius, str) and radius == "auto":
            radius = self.margin / 10
        elif not _is_positive(radius) or radius > 1:
            raise ValueError(f'net_radius must be "auto" or lie in (0, 1], got {radius!r}')
        if not _is_positive(self.max_seconds):
            raise ValueError(f"max_seconds must be a finite number above 0, got {self.max_seconds!r}")
        spread = 2 if self.neighbors == "replace" else 1
        Net(int(self.n_components), float(radius))  # refuses what it may not be
        return -Fraction(repr(float(self.epsilon))) / spread, float(radius)

    def _check_time(self, net, n):
        """Refuse a net that would not finish."""
        seconds = self._nets * net.lines * (n * _ROW_SECONDS + 2 * net.side * _MEMBER_SECONDS) / threads()
        members = self._nets * net.size
        if seconds > self.max_seconds or members >= 2**53:
            raise ValueError(
                f"a net of {members:,} members and {n:,} rows would take about {seconds:,.0f} s, more than max_seconds="
                f"{self.max_seconds}: use fewer n_components than {self.n_components}, or a larger net_radius"
            )

    def _released(self):
        return {"member": self.member_, "projection_key": self.projection_key_}

    def _restore(self, released):
        net = self._net(self._checked_parameters()[1])
        self._set(net, int(released["member"]), int(released["projection_key"]))


class _Scan:
    """How many rows each member gets wrong, by level and run of lines: private.

    Lines are counted in blocks, a batch of blocks at a time on threads; counts are kept for runs of batches. Members
    are numbered through all projections, each with its own mistakes of the same net.
    """

    def __init__(self, net, mistakes, n, verbose):
        self.net, self.mistakes = net, mistakes
        step = _BLOCK // (n + 2 * net.side)
        blocks = [(k, block) for k in range(len(mistakes)) for block in slices(net.lines, step)]
        batches = [blocks[i : i + _BATCH] for i in range(0, len(blocks), _BATCH)]
        length = -(-len(batches) // max(1, _TABLE // (n + 1)))
        self.runs = [list(chain(*batches[i : i + length])) for i in range(0, len(batches), length)]
        self.table = np.zeros((len(self.runs), n + 1), np.uint64)
        for i, batch in enumerate(shown(batches, "net", verbose)):
            for counts in map_blocks(self._count, batch):
                self.table[i // length] += counts
        self.counts = self.table.sum(axis=0)

    def _count(self, block):
        projection, lines = block
        return self.mistakes[projection].count(lines.start, lines.stop)

    def draw(self, exponent, rng):
        """The number of a member, drawn with weights exp(exponent * mistakes)."""
        return self.member(*levels.draw_counted(self.counts, exponent, rng))

    def member(self, level, rank):
        """The number of member number `rank` of those that get `level` rows wrong."""
        up_to = np.cumsum(self.table[:, level])
        run = int(np.searchsorted(up_to, rank, side="right"))
        rank -= int(up_to[run] - self.table[run, level])
        for projection, lines in self.runs[run]:
            member, rank = self.mistakes[projection].find(lines.start, lines.stop, level, rank)
            if member is not None:
                return projection * self.net.size + member
        raise AssertionError("the counts and the search disagree")

    def wrong(self, member):
        """How many rows one member gets wrong."""
        projection, member = divmod(member, self.net.size)
        line, place = divmod(member, 2 * self.net.side)
        return int(self.mistakes[projection].scores(line, line + 1)[0, place])


def _is_positive(value):
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < value < math.inf
