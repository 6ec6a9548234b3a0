"""Purely private large-margin halfspaces: the exponential mechanism over a net of the sphere."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dpfast.base.explained import Parts, linear_parts
from dpfast.base.forms import Numbers
from dpfast.base.model import FloatArray
from dpfast.base.parameters import (
    FIT_INTERCEPT,
    auto,
    count,
    estimator,
    parameter,
    positive,
    real,
)
from dpfast.base.plan import ExponentialDraw, Plan, Task
from dpfast.base.run import Rows, Run
from dpfast.base.saving import entries, integer
from dpfast.kernels.net import Net
from dpfast.learners.counted import CountedClassifier, SidedModel, count_levels
from dpfast.learners.halfspaces.linear import count_rows
from dpfast.learners.halfspaces.nets import Nets, net_radius
from dpfast.parts import MemoryParts, Piece
from dpfast.tables.labels import codes_of_classes
from dpfast.tables.projection import row_products


class NetReport(NamedTuple):
    """Errors of a fitted model, and of the best member of the same net, on given rows. **Not private.**"""

    rows: int
    members: int
    wrong: int  # rows that the released member gets wrong by the margin: minus its score
    least_wrong: int  # the least number for any member
    accuracy: float  # of the released member's signs
    best_accuracy: float  # of the first member of least_wrong
    best_coef: np.ndarray  # its halfspace, shape (n_features_in_,)
    best_intercept: float


@dataclass(frozen=True)
class NetModel(SidedModel):
    """A member of nets, by its number, and the key of their projections."""

    member: int
    projection_key: int
    nets: Nets

    def check(self) -> None:
        integer(self.member, 0, self.nets.size - 1)
        integer(self.projection_key, 0, (1 << 128) - 1)

    def sides(self, rows: Any) -> FloatArray:
        """Return the cosine of each row and the halfspace, in its components."""
        return self.nets.cosines(rows, self.nets.direction(self.member), self.projection_key)

    def contributions(self, table: Any, rows: Any) -> Parts:
        direction, scores = self.nets.direction(self.member), self.scores(rows)[:, np.newaxis]
        coef = self.steepness() * self.nets.lifted(direction, self.projection_key)[0][np.newaxis]
        lengths = self.nets.lengths(rows, direction, self.projection_key)
        return linear_parts(table, coef, scores, lengths=lengths)

    def released(self) -> dict[str, Any]:
        direction = self.nets.direction(self.member)
        coef, intercept = self.nets.lifted(direction, self.projection_key)
        return {
            "member": self.member,
            "projection_key": self.projection_key,
            "net_size": self.nets.size,
            "direction": direction,
            "coef": coef[np.newaxis],
            "intercept": np.array([intercept]),
            "shift": 0.0,
        }

    def to_dict(self) -> dict[str, Any]:
        return {"member": self.member, "projection_key": self.projection_key}


@estimator
class NetHalfspaceClassifier(CountedClassifier, name="net-halfspace"):
    """Halfspace drawn from a net of a random projection [NUZ, Algorithm 2]_, with delta = 0.

    Labels are of two classes. Booleans and bits are the numbers 0 and 1. A random sign matrix projects the rows to a
    few components, where they are scaled to norm 1. The halfspace is drawn from a net of the unit sphere: member w has
    probability proportional to exp(-t * #{i : y_i <w, x_i> < margin / 10}).

    **Privacy.** The model is epsilon-DP (delta = 0) for the relation `neighbors`. The matrix does not depend on the
    data, and the net depends on the parameters only: both are public. A projected row is a function of its own row. One
    row therefore changes each score by at most 1; if it is added, all scores change in the same direction. The changes
    have a range R of 2 under "replace" and of 1 under "add-remove", and t = epsilon / R makes the draw epsilon-DP by
    the theorem of the exponential mechanism. Scores are integers and the draw is exact, so rounding cannot change a
    probability.

    Parameters
    ----------
    margin : float in (0, 1], default=0.1
        The margin gamma: the least cosine that rows are expected to have with the best halfspace.
    n_components : int, default=4
        The number m of components of a projection. Rows with at most m entries, including the 1, are not projected. The
        size of the net grows as (sqrt(m) / net_radius)^(m - 1).
    n_projections : int, default=1
        The number of independent projections, each with its own net; the halfspace is drawn from all nets together. The
        paper has 1. With few components some matrices lose the margin and others keep it. With k projections a fit
        takes k times as long and makes about ln(k) / t more mistakes, at the same privacy. With a wider net_radius, 30
        projections are often far better than one.
    net_radius : float in (0, 1] or "auto", default="auto"
        The largest distance of a unit vector from the net. "auto" is margin / 10.
    max_seconds : float, default=60.0
        A fit that would take longer is refused before anything is drawn or charged. The time is computed from fixed
        times for each row and member, and the number of threads; under "add-remove" it leaves out the rows, whose
        number is private.

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_)
        The halfspace, mapped back to the features. The score of a row is the cosine of `direction_` and the components
        of the row, which has the sign of <x, coef_> + `intercept_`.
    intercept_ : ndarray, shape (1,)
    shift_ : float
        0.
    direction_ : ndarray, shape (n_projections * n_components,)
        The drawn halfspace: a unit vector in the components of one projection, zero in the components of the others. If
        rows were not projected, it has an entry for each column and one for the intercept.
    member_, net_size_ : int
        The number of the halfspace among the members of all nets, and the number of these (`dpfast.kernels.net`).
    projection_key_ : int
        The key that determines the stacked matrices (`dpfast.kernels.signs`).

    Notes
    -----
    The net is enumerated, not stored. Its grid of side k = sqrt(m-1) / net_radius has m k^(m-2) lines; for each line, a
    row needs one root and one division, which decide 2 k members at once. The net covers the sphere instead of the
    paper's ball, since the score of w / |w| is never below that of w. Rows are rounded to a grid, of 2^-16 at the
    default parameters, on which comparisons are exact.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfast
    >>> X = np.random.default_rng(0).normal(size=(2000, 30)) + 1.5
    >>> y = X[:, :15].sum(axis=1) > X[:, 15:].sum(axis=1)
    >>> clf = dpfast.NetHalfspaceClassifier(random_state=0, n_components=3).fit(X, y)
    >>> clf.coef_.shape, str(clf.privacy_)[:31]
    ((1, 30), '(1.0, 0)-DP, replace one row; 1')
    """

    margin: float = parameter(0.1, real(0, 1, "(]"))
    n_components: int = parameter(4, count(1))
    n_projections: int = parameter(1, count(1, 1 << 20))
    net_radius: float | str = parameter("auto", auto(real(0, 1, "(]")))
    fit_intercept: bool = FIT_INTERCEPT
    max_seconds: float = parameter(60.0, positive())
    delta: float = field(default=0.0, init=False)
    reads = Numbers(several_classes=False)
    spares_unlabelled = True

    def plan(self, task: Task) -> Plan:
        nets = self._nets(task.n_columns)
        nets.check_time(task.n_rows, self.max_seconds)
        draw = ExponentialDraw(task.changed_rows, size=nets.size)
        return Plan(halfspaces=draw, **self.counting(task))

    def learn(self, rows: Rows, plan: Plan, run: Run) -> NetModel:
        nets, key = self._nets(rows.n_columns), run.key()
        n = count_rows(rows)
        scan = nets.scan(rows.parts, n, key, self.verbose)
        member = run.draw("halfspaces", nets.size, lambda exponent, rng: scan.draw(-exponent, rng))
        model = NetModel(member, key, nets)
        return self.count(model, run, lambda: rows.sum(count_levels, model))

    def _nets(self, d):
        """Return the nets for rows of d columns."""
        p = self._values()
        Net(p.n_components, net_radius(p))  # refuses what it may not be
        return Nets(p, d)

    def read_model(self, saved: Any, task: Task) -> NetModel:
        entries(saved, "member", "projection_key")
        return NetModel(**saved, nets=self._nets(task.n_columns))

    def owner_report(self, X: Any, y: Any) -> NetReport:
        """Return the errors of this model on some rows, and those of the best member of its net. **Not private.**

        The report is for the owner of X and y: it has no noise, and nothing of it is stored in the model. It takes as
        long as a `fit`.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        NetReport
        """
        model = self._released_model()
        nets, table = model.nets, self._read_rows(X)
        labels = codes_of_classes(y, table.shape[0], self.classes_)
        signs = labels.signs()
        nets.check_time(len(signs), self.max_seconds)
        parts = MemoryParts([Piece(table, labels.codes, rows=table)])
        scan = nets.scan(parts, len(signs), model.projection_key, self.verbose)
        least = int(np.flatnonzero(scan.counts)[0])
        coef, intercept = nets.lifted(nets.direction(scan.member(least, 0)), model.projection_key)
        best = row_products(table, coef) + intercept
        return NetReport(
            rows=len(signs),
            members=nets.size,
            wrong=scan.wrong(model.member),
            least_wrong=least,
            accuracy=float(((model.sides(table) >= 0) == (signs > 0)).mean()),
            best_accuracy=float(((best >= 0) == (signs > 0)).mean()),
            best_coef=coef,
            best_intercept=intercept,
        )
