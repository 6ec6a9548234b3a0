"""What a learner adds noise to, or draws from, moves by no more than it states when one row does.

A learner that releases noisy sums is entered in SUMS: it is fitted on two neighbours that see the same releases, those
of the first, and what it was calibrated for is compared with how far its sums moved. One that draws by scores, or
releases counts, is entered in SCORES, with the least and the most that a row more adds to a score.
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from premises.tables import NUMBERS, neighbors

import dpfast
from dpfast import BitMatrix
from dpfast.base.plan import Plan, _billed
from dpfast.kernels import bits, cover
from dpfast.kernels import multiplicative_weights as weights
from dpfast.learners.experts import statistical_query
from dpfast.learners.experts.finite_class import _feature_errors
from dpfast.learners.experts.statistical_query import StatisticalQueryOracle
from dpfast.learners.halfspaces.measure import CAP, DenseMeasure
from dpfast.learners.halfspaces.nets import Nets
from dpfast.learners.halfspaces.weak import NoisyStump
from dpfast.learners.votes import Hypothesis
from dpfast.learners.winnow.plan import FADING, WinnowPlan
from dpfast.learners.winnow.scores import interval_sum
from dpfast.mechanisms.sparse_sample import votes
from dpfast.parts import MemoryParts, Piece
from dpfast.tables.signed_rows import signed_rows

FORMS = [np.asarray, sp.csr_array, lambda X: X.astype(np.float32), lambda X: BitMatrix(X, threshold=0.5)]
RELATIONS = ["replace", "add-remove"]
ROUNDS = 3
LEARNERS, RUN = "dpfast.learners.", "dpfast.base.run"


class Sums(NamedTuple):
    make: callable  # of the relation and a generator, for the choice of parameters
    calibrated: str  # the module that computes the scale of the noise; "" if that follows from the plan
    sums: str = ""  # the module that adds the noise; "" if that is the run
    classes: int = 2


def _boosted(more, classes=2):
    def make(relation, rng):
        density = rng.choice([0.2, 0.5, 1.0]).item()
        return dpfast.BoostedHalfspaceClassifier(
            neighbors=relation, n_rounds=ROUNDS, density=density, random_state=0, **more
        )

    weak = "halfspaces.weak"
    return Sums(make, weak, weak) if more.get("start") == "even" else Sums(make, "", classes=classes)


def _fading(classes):
    def make(relation, rng):
        m = int(rng.integers(1, 12))
        return dpfast.ProjectedHalfspaceClassifier(
            neighbors=relation, n_rounds=ROUNDS, n_components=m, loss="fading", random_state=0
        )

    return Sums(make, "", classes=classes)


SUMS = {
    "boosted": _boosted({}),
    "boosted, even": _boosted({"start": "even"}),
    "boosted, local": _boosted({"measure": "local"}),
    "boosted, 4 classes": _boosted({}, classes=4),
    "projected": Sums(
        lambda relation, rng: dpfast.ProjectedHalfspaceClassifier(
            neighbors=relation, n_rounds=ROUNDS, n_components=int(rng.integers(1, 12)), loss="hinge", random_state=0
        ),
        "halfspaces.projected",
    ),
    "projected, fading": _fading(2),
    "projected, fading, 4 classes": _fading(4),
    "halfspace": Sums(
        lambda relation, rng: dpfast.HalfspaceClassifier(neighbors=relation, n_rounds=ROUNDS, random_state=0),
        "halfspaces.model",
    ),
    "halfspace, weights of classes": Sums(
        lambda relation, rng: dpfast.HalfspaceClassifier(
            neighbors=relation, n_rounds=ROUNDS, class_weight={0: rng.choice([0.1, 1.0, 3.0]).item()}, random_state=0
        ),
        "halfspaces.model",
    ),
    "halfspace, 4 classes": Sums(
        lambda relation, rng: dpfast.HalfspaceClassifier(neighbors=relation, n_rounds=ROUNDS, random_state=0),
        "halfspaces.model",
        classes=4,
    ),
}


def _table(seed, relation, classes=2, n=9):
    """A table and a neighbour: one row replaced, sometimes in its label only, or left out."""
    rng = np.random.default_rng(seed)
    x, changed, i = neighbors(NUMBERS, rng, d=int(rng.choice([1, 3, 8])), n=n, largest=1e20)
    y = rng.integers(0, classes, n)
    other = y.copy()
    if relation == "add-remove":
        return rng, (x, y), (np.delete(x, i, axis=0), np.delete(y, i))
    other[i] = (y[i] + rng.integers(1, classes)) % classes
    return rng, (x, y), (x if rng.random() < 0.5 else changed, other)


def _fitted(entry, relation, seed, table, form, released):
    """The sums of a fit, and what they were calibrated for; releases are replayed, or made and noted."""
    (X, y), seen, calibrated = table, [], {}
    replayed, patch = list(released), pytest.MonkeyPatch()
    solve = Plan.solve

    def noisy(total, scale, rng):
        seen.append(np.asarray(total, np.int64))
        if len(replayed) < len(seen):
            replayed.append(seen[-1] + np.random.default_rng(len(seen)).integers(-9, 10, seen[-1].shape) * 10_000)
        return replayed[len(seen) - 1]

    def noting(sigma):
        def note(*arguments, **given):
            calibrated.update(given)
            return sigma(*arguments, **given)

        return note

    def solving(plan, task):
        if not entry.calibrated:
            calibrated["parts"] = [_billed(plan[name], task.rows_per_unit) for name in ("rounds", "opening")]
        return solve(plan, task)

    with patch.context() as patched:
        patched.setattr((LEARNERS + entry.sums if entry.sums else RUN) + ".discrete_gaussian", noisy)
        if entry.calibrated:
            module = import_module(LEARNERS + entry.calibrated)
            patched.setattr(module, "discrete_gaussian_sigma", noting(module.discrete_gaussian_sigma))
        patched.setattr(Plan, "solve", solving)
        patched.setattr(RUN + ".discrete_laplace", lambda counts, scale, rng: 8)
        model = entry.make(relation, np.random.default_rng(seed))
        model.fit(form(X), y, classes=np.arange(entry.classes))
    released[:] = replayed
    return seen, calibrated


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("relation", RELATIONS)
@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), form=st.sampled_from(FORMS))
def test_sums_move_by_no_more_than_their_noise_is_made_for(name, relation, seed, form):
    entry, released = SUMS[name], []
    _, table, neighbor = _table(seed, relation, entry.classes)
    before, paid = _fitted(entry, relation, seed, table, form, released)
    after, paid_too = _fitted(entry, relation, seed, neighbor, form, released)
    assert paid == paid_too, "the noise itself would tell the tables apart"
    assert len(before) == len(after)
    moved = [sum(int(v) ** 2 for v in (a - b).ravel()) for a, b in zip(before, after, strict=True)]
    if "parts" in paid:
        rounds, opening = paid["parts"]
        for square, total, part in zip(moved, before, (opening, *[rounds] * ROUNDS), strict=True):
            assert square <= part.sensitivity**2
            assert total.size <= part.size
        return
    assert all(square <= paid["sensitivity"] ** 2 for square in moved[:ROUNDS])
    assert sum(moved) <= paid["releases"] * paid["sensitivity"] ** 2
    assert all(total.size <= paid["size"] for total in before)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_what_noise_is_made_for_is_not_far_above_what_can_happen(name, relation):
    """So that the test above has power: a halved sensitivity would be seen."""
    entry, most = SUMS[name], 0.0
    halved = name.startswith("boosted") and name != "boosted, local" and relation == "add-remove"
    near = (0.49 if halved else 0.9) - 1e-3
    for seed in range(30):
        released, (_, table, neighbor) = [], _table(seed, relation, entry.classes)
        before, paid = _fitted(entry, relation, seed, table, np.asarray, released)
        after, _ = _fitted(entry, relation, seed, neighbor, np.asarray, released)
        first, sensitivity = 0, paid.get("sensitivity")
        if "parts" in paid:
            first, sensitivity = 1, paid["parts"][0].sensitivity
        for a, b in zip(before[first : first + ROUNDS], after[first:], strict=False):
            most = max(most, float(np.linalg.norm((a - b).astype(float))) / float(sensitivity))
        if most > near:
            return
    pytest.fail(f"the largest ratio is {most:.3g}")


# ---- scores and counts -------------------------------------------------------------------------------------------


def _net(X, y, rng):
    clf = dpfast.NetHalfspaceClassifier(n_components=2, n_projections=2, net_radius=0.5)
    nets = Nets(clf._checked(), X.shape[1])
    parts = MemoryParts([Piece(X, y, rows=X.astype(np.float32))])
    scan = nets.scan(parts, len(y), 7, False)
    lines = clf._checked(), nets._net.lines
    return np.concatenate([mistakes.scores(0, lines[1]).ravel() for mistakes in scan.mistakes]).astype(np.int64)


def _list(X, y, rng):
    """Twice the scores of coverage weight 1/2, of all literals and labels."""
    table, n = BitMatrix(X, threshold=0.5), len(y)
    labels = bits.pack((y == np.arange(2)[:, np.newaxis]).astype(np.uint8))
    of_label = cover.count(table.columns, n, labels)
    absent = np.bincount(y, minlength=2)[:, np.newaxis] - of_label
    counts = np.concatenate([of_label, absent], axis=1)
    return (counts - 2 * (counts.sum(axis=0) - counts)).ravel()


def _winnow(X, y, rng):
    """What an update adds, given the histogram that was released."""
    rows = signed_rows(X, out_of_range="clip")
    d = X.shape[1]
    votes_ = rows.votes(np.arange(d), rng.integers(-3, 4, d))
    total, signs = np.zeros(d, np.int64), (2 * y - 1).astype(np.int8)
    rows.add(total, signs, np.flatnonzero(signs * votes_ <= 0))
    return total // rows.unit if (total % rows.unit == 0).all() else total / rows.unit


def _fading(X, y, rng):
    """What an update of a table adds, given the histogram that was released: rows on the right side count in part."""
    rows, d = signed_rows(X, out_of_range="clip"), X.shape[1]
    numbers = {"n_updates": 1, "n_draws": 3 * d, "learning_rate": 1.0, "threshold_epsilon": 0.0, "batch": None}
    form = {"window": None, "rounds": None, "dimension": d + 1, "negations": False, "average": True, "score_range": 4.0}
    form["sizes_epsilon"] = 0.0
    plan = WinnowPlan(**numbers, **form, confidence=float(rng.choice([0.0, 0.05, 0.2])), fades=True, fit_intercept=True)
    released = Hypothesis(np.arange(d + 1), rng.integers(-3, 4, d + 1), 3 * (d + 1))
    total = interval_sum(Piece(None, y, rows=rows), (0, None), 7, 0, plan, released)
    return total / (rows.unit << FADING)


def _losses(X, y, rng):
    rows = signed_rows(X, out_of_range="clip")
    state = weights.Weights(X.shape[1], 1)
    for i in range(len(y)):
        state.add(rows.losses(np.array([i]), (2 * y - 1).astype(np.int8), constant=False))
    return state.totals() / rows.unit


def _features(X, y, rng):
    return _feature_errors(Piece(None, y, rows=BitMatrix(X, threshold=0.5)))


def _query(X, y, rng):
    oracle = StatisticalQueryOracle((X, y), n_queries=1, random_state=0)
    return oracle._parts.sum(statistical_query._sums, [lambda X, y: X[:, 0] * (2 * y - 1)]) / (1 << 30)


def _grid_of_query():
    return (1 << statistical_query._GRID_BITS) / (1 << 30)


def _teachers(X, y, rng):
    lists = [[*np.flatnonzero(row > 0.5).tolist(), int(label)] for row, label in zip(X, y, strict=True)]
    items, counted = votes(lists, max_length=4)
    found = np.zeros(X.shape[1] + 2, np.int64)
    found[np.array(items, int)] = counted
    return found


class Scores(NamedTuple):
    of: callable  # of the table, its labels, and a generator that neighbours share
    least: float  # that a row more adds
    most: float


SCORES = {
    "net": Scores(_net, 0, 1),
    "list": Scores(_list, -2, 1),
    "winnow": Scores(_winnow, -1, 1),
    "winnow, fading": Scores(_fading, -1, 1),
    "linear learner": Scores(_losses, -1, 1),
    "features": Scores(_features, 0, 1),
    "query": Scores(_query, 0, _grid_of_query()),
    "teachers' lists": Scores(_teachers, 0, 1),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("relation", RELATIONS)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32))
def test_scores_move_within_their_range(name, relation, seed):
    entry = SCORES[name]
    _, (X, y), (other_X, other_y) = _table(seed, relation)
    before = entry.of(X, y, np.random.default_rng(seed))
    after = entry.of(other_X, other_y, np.random.default_rng(seed))
    low, high = entry.least, entry.most
    if relation == "replace":
        low, high = low - high, high - low
    moved = before - after
    assert low <= moved.min() <= moved.max() <= high


@pytest.mark.parametrize("relation", RELATIONS)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), units=st.integers(1, 11 * CAP))
def test_agreements_of_a_stump_move_within_their_range(relation, seed, units):
    rng, *tables = _table(seed, relation)
    hypotheses = [(int(rng.integers(tables[0][0].shape[1])), int(sign)) for sign in rng.choice([-1, 1], 3)]
    weak, found = NoisyStump(threshold=0.5), []
    for X, y in tables:
        rows = weak.rows(X, False)
        measure, agreements = DenseMeasure((2 * y - 1).astype(np.int8), units, 2.0), []
        for hypothesis in hypotheses:
            agreements.append(rows.weighted_sum(measure.weights()) // weak.GRID)
            measure.add(weak.margins(rows, hypothesis))
        found.append(np.array(agreements))
    assert np.abs(found[0] - found[1]).max() <= weak.sensitivity(rows)
