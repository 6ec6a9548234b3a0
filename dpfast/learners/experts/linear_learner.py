"""Linear functions, learned by following experts."""

from functools import partial

import numpy as np

from dpfast.learners.base import PrivateClassifier
from dpfast.learners.calibration import level_counts
from dpfast.learners.experts.playing import REPLACE, followed, planned
from dpfast.learners.parameters import (
    FIT_INTERCEPT,
    NEGATIONS,
    OUT_OF_RANGE,
    choice,
    estimator,
    optional,
    parameter,
    positive,
)
from dpfast.learners.saving import integer
from dpfast.learners.votes import Hypothesis, Voting, histograms_from_json
from dpfast.tables.signed_rows import signed_rows


@estimator
class LinearLearner(Voting, PrivateClassifier):
    """Private linear classifier: the average of unit vectors drawn by their agreement [DR11, Algorithm 17]_.

    Labels are of two classes. Features lie in [-1, 1]; booleans and a `BitMatrix` are signs.

    The algorithm maximizes the average of <theta, x> over the simplex by following experts, one per coordinate. Expert
    e_j loses -<e_j, x_t> in round t, and theta is the average of the T = n vectors drawn. Here an example (x, y) is
    represented by the row y x, so that the algorithm maximizes the average margin y <theta, x>. With `negations` the
    vectors -e_j are experts too, so that theta ranges over the cross-polytope, where absolute values sum to at most 1.

    **Privacy.** All draws, and so theta, are (epsilon, delta)-DP if one row (x, y) is replaced. A row is a loss vector
    in [-1, 1]. Replacing it changes the totals by a vector of range R = 4, including the negated copies, so the draws
    are (4 eta)^2 n / 8-zCDP. `dpfast.accounting.experts` gives the theorem.

    Parameters
    ----------
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows; "paper" is epsilon / sqrt(32 n ln(1/delta)).

    Attributes
    ----------
    learning_rate_ : float
        The rate eta.
    released_weights_ : tuple of (ndarray of int64, ndarray of int64, int)
        Increasing coordinates, their signed counts, and the number of draws; coordinate n_features_in_ is the
        intercept.

    Notes
    -----
    The algorithm maximizes the average margin, not accuracy: features that hardly vary, or a more frequent class, pull
    theta towards the constant. `DPWinnowClassifier` learns from mistakes and is therefore better at equal privacy.

    `fit` makes n passes over 4 bytes per feature; sparse rows cost their stored entries. Rows are processed in a random
    order, as in a sorted table the first class would dominate. Floats are rounded to multiples of 2**-10.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> X = dpfast.BitMatrix(mushroom.data)  # signs, not 0 and 1
    >>> clf = dpfast.LinearLearner(epsilon=10.0, random_state=0).fit(X, mushroom.target)
    >>> clf.score(X, mushroom.target) > 0.75
    True
    """

    _model = "linear-learner"
    neighbors: str = REPLACE
    negations: bool = NEGATIONS
    fit_intercept: bool = FIT_INTERCEPT
    out_of_range: str = OUT_OF_RANGE
    _surveys_arrays = False
    calibration: str = parameter("tight", choice("tight", "paper"))

    def _spares_unlabelled(self, p):
        return False  # a row is a round

    def _learn(self, table, p, run):
        _, rows, public = self._asked(table, partial(signed_rows, out_of_range=p.out_of_range))
        labels, size = table.labels, rows.shape[1] + p.fit_intercept
        eta, state, cost = planned(p, rows, size, mirrored=p.negations)
        public.others = {"learning_rate_": eta, "reads_": rows.reads}
        run.charge(public, self._all_costs(cost, p), draws=public.n_rows, **p.counting)
        run.released = drawn = np.zeros((2, size), np.int64)
        form = {"constant": p.fit_intercept, "mirrored": p.negations}
        for experts in followed(self, run, state, rows, -labels.signs(), eta, **form):
            drawn += np.bincount(experts, minlength=drawn.size).reshape(2, -1)
        self._count_classes(run, p, lambda: level_counts(_drawn(run).shares(rows), labels.codes))

    def _publish(self, run):
        self.released_weights_ = _drawn(run)

    def _hypothesis(self):
        return Hypothesis(*self.released_weights_)

    def _rows(self, X):
        return self._read_by_image(X, partial(signed_rows, out_of_range=self.out_of_range, reads=self.reads_))

    def _released(self):
        index, count, draws = self.released_weights_
        return [index.tolist(), count.tolist(), draws, self.reads_, self.learning_rate_]

    def _restore(self, released):
        index, count, draws, *more = released  # older files do not say what the model reads, or its rate
        reads, rate = [*more, None, None][:2]
        self.reads_ = optional(choice("signs", "numbers")).read("reads", reads)
        self.learning_rate_ = optional(positive()).read("learning_rate", rate)
        ((index, count),) = histograms_from_json([(index, count)], self._width)
        if sum(map(abs, count.tolist())) > integer(draws, 0, 1 << 62):
            raise ValueError("every count needs draws of its own")
        self.released_weights_ = Hypothesis(index, count, draws)


def _drawn(run):
    """Return the hypothesis of the draws so far."""
    count = run.released[0] - run.released[1]
    index = np.flatnonzero(count)
    return Hypothesis(index, count[index], run.used["draws"])
