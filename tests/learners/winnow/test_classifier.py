import math
import pickle
import threading
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from forks import in_a_child
from reference.winnow import confident_winnow, dp_winnow
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from dpfast import BitMatrix, DPWinnowClassifier, PrivacyWarning, WinnowClassifier
from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    winnow_learning_rate,
    winnow_paper,
    winnow_range,
    winnow_update_bound,
    winnow_weight,
    zcdp_rho,
)
from dpfast.base import run
from dpfast.base.plan import Task
from dpfast.kernels import bits, levels, noise
from dpfast.learners.winnow import plan as plans
from dpfast.learners.winnow import scores as put
from dpfast.learners.winnow.scores import DenseScores, interval_numbers
from dpfast.learners.winnow.streaming import Course, Stream
from dpfast.mechanisms import AboveThreshold
from dpfast.parts import MemoryParts
from dpfast.tables.signed_rows import signed_rows


@pytest.mark.parametrize("estimator", [DPWinnowClassifier(n_updates=3, random_state=0), WinnowClassifier()])
def test_scikit_learn_finds_nothing_wrong(estimator):
    check_estimator(estimator, on_skip=None)


def majority(rng, n, d, literals=(3, 17, 40)):
    """n rows of d fair bits, packed, and whether most of three bits are one."""
    rows = rng.integers(0, 2**64, size=(n, bits.words(d)), dtype=np.uint64)
    rows[:, -1] &= np.uint64(2 ** (1 + (d - 1) % 64) - 1)
    table = BitMatrix.from_rows(rows, d)
    return table, sum(bits.unpack(table.column(j)[np.newaxis], n)[0].astype(int) for j in literals) >= 2


@pytest.fixture
def table(rng):
    X = rng.random((600, 12)) < 0.5
    return X, np.where(X[:, 3] | X[:, 7] & X[:, 9], "yes", "no")


def same_releases(a, b):
    return len(a.released_weights_) == len(b.released_weights_) and all(
        np.array_equal(i, j) and np.array_equal(u, v)
        for (i, u), (j, v) in zip(a.released_weights_, b.released_weights_, strict=True)
    )


# ---- ConfidentWinnow ---------------------------------------------------------------------------------------------


ROW_FORMS = {"dense": np.asarray, "csr": sp.csr_array, "packed": lambda X: BitMatrix(X > 0)}


@pytest.mark.parametrize(
    ("form", "share", "negations"),  # the share is of rows that are marked; without negations there is an intercept
    [(form, share, bool((i + j) % 2)) for i, form in enumerate(ROW_FORMS) for j, share in enumerate([0, 0.5, 1])],
)
def test_confident_winnow_takes_the_steps_of_a_plain_twin(form, share, negations, rng):
    form, intercept = ROW_FORMS[form], not negations
    X = rng.choice([-1, 1], size=(100, 7))
    y = np.where(X[:, 0] + X[:, 1] + 2 * X[:, 4] + rng.normal(size=100) > 0, 1, -1)
    settings = {"margin": 0.23, "confidence": 0.4, "learning_rate": 0.19, "negations": negations}
    marks = rng.random(100) < share
    votes, updates, w = confident_winnow(X, y, marks, intercept=intercept, **settings)
    weights = np.array(w[: len(w) // 2]) - np.array(w[len(w) // 2 :]) if negations else np.array(w)

    clf, made = WinnowClassifier(fit_intercept=intercept, **settings), []
    for t in range(100):
        row = form(X[t : t + 1])
        if t:
            assert clf.decision_function(row)[0] == pytest.approx(votes[t], rel=1e-9, abs=1e-12)
        if clf.partial_fit(row, y[t : t + 1], classes=[-1, 1], marks=marks[t : t + 1]).updates_ > len(made):
            made.append(t)
    assert made == updates
    whole = WinnowClassifier(fit_intercept=intercept, **settings).fit(form(X), y, marks=marks)
    assert share < 1 or whole.coef_.tolist() == WinnowClassifier(**whole.get_params()).fit(form(X), y).coef_.tolist()
    assert whole.updates_ == len(updates)
    for learned in (clf, whole):
        np.testing.assert_allclose(
            [*learned.coef_[0], *learned.intercept_][: len(weights)], weights, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("confidence", [0, 0.5, 0.9])
@pytest.mark.parametrize("margin", [1 / 3, 1 / 5, 1 / 20])
def test_updates_never_exceed_lemma_4_2_on_rows_with_the_margin(margin, confidence, rng):
    X = rng.uniform(-1, 1, size=(3000, 40))
    votes = (X[:, 0] + X[:, 1] - X[:, 2]) / 3
    X, y = (
        X[np.abs(votes) >= margin + 0.01],
        (votes > 0)[np.abs(votes) >= margin + 0.01],
    )  # the grid moves votes by 1e-3
    bound = winnow_update_bound(80, margin, confidence, (1 - confidence) * margin)
    for marks in (None, rng.random(len(y)) < 0.5, np.zeros(len(y), bool)):
        clf = WinnowClassifier(margin=margin, confidence=confidence, fit_intercept=False).fit(X, y, marks=marks)
        assert 0 < clf.updates_ <= bound


def test_updates_grow_like_the_logarithm_of_the_dimension(rng):
    updates = {}
    for d in (100, 3_000, 100_000):
        X, y = majority(rng, 1200, d)
        clf = WinnowClassifier(margin=1 / 3).fit(X[:1000], y[:1000])
        updates[d] = clf.updates_
        assert clf.updates_ <= winnow_update_bound(2 * d + 2, 1 / 3, 0.5, 1 / 6)
        assert clf.score(X[1000:], y[1000:]) > 0.95
    assert updates[100_000] < 3.5 * updates[100]  # log d grows 2.5 times, d 1000 times


def test_confident_winnow_claims_no_privacy(table):
    clf = WinnowClassifier().fit(*table)
    assert not hasattr(clf, "privacy_")
    assert "Not private" in WinnowClassifier.__doc__.partition("\n")[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"margin": 0}, r"margin must lie in \(0, 1\], got 0"),
        ({"margin": 1.5}, "margin must"),
        ({"confidence": 1}, r"confidence must lie in \[0, 1\), got 1"),
        ({"learning_rate": 0}, 'learning_rate must be "auto" or a finite number > 0, got 0'),
        ({"feature_range": (1, 1)}, "feature_range must be two finite numbers, the lower first"),
        ({"learning_rate": "fast"}, "learning_rate must"),
        ({"out_of_range": "ignore"}, "out_of_range must"),
    ],
)
def test_confident_winnow_refuses_by_name(parameters, message, table):
    with pytest.raises(ValueError, match=message):
        WinnowClassifier(**parameters).fit(*table)


@pytest.mark.parametrize("marks", [[True], np.ones(600), np.ones((600, 1), bool)])
def test_marks_are_booleans_one_a_row(marks, table):
    with pytest.raises(ValueError, match=r"marks must be booleans of shape \(600,\), got "):
        WinnowClassifier().fit(*table, marks=marks)


def test_a_call_of_confident_winnow_that_fails_changes_nothing(table):
    X, y = table
    clf = WinnowClassifier().fit(pd.DataFrame(X).add_prefix("x"), y)
    before = pickle.dumps(vars(clf))
    few = X[:, :5].astype(int)
    for call in (clf.fit, clf.partial_fit):
        for arguments in ((few * np.nan, y), (few, y[:-1]), (few, ["z"] * 600)):
            with pytest.raises(ValueError, match=r"NaN|learned from|inconsistent|one class"):
                call(*arguments)
            assert pickle.dumps(vars(clf)) == before
    clf.fit(X[:, :5], y)
    assert not hasattr(clf, "feature_names_in_")


def test_a_confident_winnow_keeps_to_the_grid_it_began_with(table):
    X, y = table
    clf = WinnowClassifier().partial_fit(X.astype(int), y)
    with pytest.raises(ValueError, match="on the grid that learning began with, 1/1"):
        clf.partial_fit(X.astype(float), y)


# ---- the paper's calibration -------------------------------------------------------------------------------------

# So little privacy that the paper's constants allow an update within thousands of rounds.
PAPER = {"epsilon": 1100.0, "delta": 1e-300, "calibration": "paper", "batch": 1, "average": False}


def as_counts(histogram, size):
    """Rising coordinates and their signed counts, of a histogram over features, the constant and perhaps copies."""
    total = np.zeros(size, int)
    for j, number in histogram.items():
        total[j % size] += number if j < size else -number
    index = np.flatnonzero(total)
    return index, total[index]


def assert_follows_the_twin(clf, X, y, twin, form):
    """A stream of rows, cut into pieces, predicts and releases what the plain algorithm does with the same words."""
    guesses = np.concatenate([clf.stream(X[t : t + 700], y[t : t + 700]) for t in range(0, len(X), 700)])
    plan = clf._state.plan
    expected, released = dp_winnow(
        X,
        y,
        K=plan.n_updates,
        m=plan.n_draws,
        exponent=Fraction(plan.learning_rate) / plan.grid,
        form={"intercept": form["fit_intercept"], "negations": form["negations"]},
        rng=twin.pop("rng"),
        **twin,
    )
    assert 3 <= clf.updates_ == len(released)
    np.testing.assert_array_equal(guesses, expected)
    shown = released[-len(clf.released_weights_) :]
    for (index, count), histogram in zip(clf.released_weights_, shown, strict=True):
        place, total = as_counts(histogram, X.shape[1] + form["fit_intercept"])
        np.testing.assert_array_equal(index, place)
        np.testing.assert_array_equal(count, total)


@pytest.mark.filterwarnings("ignore:the paper's promise", "ignore:all .* updates are made")
@pytest.mark.parametrize(
    ("d", "horizon", "intercept", "negations"),
    [(1, 3000, False, True), (2, 8000, True, True), (3, 2000, False, False)],
)
def test_paper_calibration_follows_the_pseudo_code_with_the_same_random_numbers(d, horizon, intercept, negations, rng):
    X = rng.choice([-1, 1], size=(horizon, d))
    y = np.where(rng.random(horizon) < 0.5, X[:, 0], rng.choice([-1, 1], size=horizon))
    form, noise = {"fit_intercept": intercept, "negations": negations}, np.random.default_rng(3)
    clf = DPWinnowClassifier(
        **PAPER, **form, horizon=horizon, margin=1.0, confidence=0.5, random_state=np.random.default_rng(3)
    )
    dimension = (d + intercept) * (1 + negations)
    plan = winnow_paper(1100.0, 1e-300, horizon=horizon, dimension=dimension, margin=1.0, confidence=0.5)
    threshold, e = math.ceil(plan.threshold), plan.threshold_epsilon
    twin = {
        "tests": lambda k: AboveThreshold(threshold, e, monotone="running", noise="paper", rng=noise),
        "counts": lambda vote, draws, label: (1 if vote >= 0 else -1) != label,
        "weight": lambda k: 1,
        "batch": 1,
        "window": None,
        "average": False,
        "uniform": True,
        "rng": noise,
    }
    assert_follows_the_twin(clf, X, y, twin, form)
    assert (clf.learning_rate_, clf.n_updates_, clf.n_draws_) == (plan.learning_rate, plan.n_updates, plan.n_draws)


@pytest.mark.filterwarnings("ignore:all .* updates are made")
@pytest.mark.parametrize(  # every two of the three together
    ("window", "batch", "average"),
    [(window, batch, window == (batch == 3)) for window in (False, True) for batch in ("all", 3)],
)
def test_a_stream_is_the_plain_algorithm_with_batches_weights_and_windows(window, batch, average, rng):
    K, m, epsilon = 4, 3, 60.0
    X = rng.choice([-1, 0, 1], size=(1500, 5))
    y = np.where(X[:, 1] - X[:, 3] + rng.normal(size=1500) > 0, 1, -1)
    form, noise = {"fit_intercept": True, "negations": True}, np.random.default_rng(3)
    run = {"n_updates": K, "n_draws": m, "threshold_share": 0.05, "score_range": winnow_range("replace")}
    eta, e = winnow_learning_rate(epsilon, 1e-6, **run)
    clf = DPWinnowClassifier(
        epsilon,
        n_updates=K,
        n_draws=m,
        window=window,
        batch=batch,
        average=average,
        confidence=0.2,
        random_state=np.random.default_rng(3),
    )

    def enough(k):
        nats = 2 * (math.log(12) + 2) if k == 0 else 2 if window else 2 * 1.1 ** (k - 1)
        return 3 if batch == 3 else math.ceil(nats / eta)

    twin = {
        "tests": lambda k: AboveThreshold(enough(k), e, monotone="running", rng=noise),
        "counts": lambda vote, draws, label: label * vote <= 0.2 * draws,
        "weight": lambda k: 1 if window else winnow_weight(k, K),
        "batch": None if batch == "all" else batch,
        "window": K if window else None,
        "average": average,
        "uniform": False,
        "rng": noise,
    }
    assert_follows_the_twin(clf, X, y, twin, form)
    assert clf.learning_rate_ == eta
    assert (clf.updates_ > K) == window


def test_a_void_promise_of_the_paper_is_said_plainly_with_the_horizon_it_would_need(table):
    X, y = table
    clf = DPWinnowClassifier(calibration="paper", batch=1, average=False, horizon=600, margin=0.2, random_state=0)
    needed = winnow_paper(1.0, 1e-6, horizon=600, dimension=26, margin=0.2, confidence=0.05).horizon_needed
    with pytest.warns(UserWarning, match=f"void for horizon=600: .* from a horizon of {needed} on"):
        clf.fit(X, y)
    assert clf.updates_ == 0
    assert clf.privacy_.epsilon == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PrivacyWarning)
        DPWinnowClassifier(**PAPER, horizon=10**6, margin=1.0, confidence=0.5).partial_fit([[1], [-1]], [1, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"batch": "all"}, "needs batch=1, got 'all'"),
        ({"batch": 2}, "needs batch=1, got 2"),
        ({"average": True}, "needs average=False, got True"),
        ({"schedule": "fixed"}, "needs schedule='sparse-vector', got 'fixed'"),
        ({"horizon": None}, "needs horizon="),
        ({"margin": None}, "needs margin="),
        ({"margin": 2.0}, "margin must be"),
        ({"confidence": 0}, "confidence must be"),
        ({"calibration": "loose"}, 'calibration must be "tight" or "paper"'),
    ],
)
def test_what_does_not_go_with_the_paper_is_refused_by_name(parameters, message, table):
    paper = {"calibration": "paper", "batch": 1, "average": False, "horizon": 600, "margin": 0.2}
    with pytest.raises(ValueError, match=message):
        DPWinnowClassifier(**paper | parameters).fit(*table)


# ---- privacy, from outside ---------------------------------------------------------------------------------------

RUNS = 100_000


class Parting(Exception):
    """Runs that agreed so far draw: holds how many drew what."""


def outputs(X, y, *, rng, monkeypatch, **parameters):
    """How often each output was seen in RUNS runs of `DPWinnowClassifier.stream`.

    Runs whose random outcomes agree so far are run once, together; where they draw, each draws for itself, by the law
    of the kernels that the learner would have called, and those of different outcomes part.
    """
    sample, seen, waiting = levels.sample, Counter(), {(): RUNS}

    class Tests(AboveThreshold):
        def run(self, rounds, increments):
            for stop in script:
                if stop is not None:
                    self._positive()
                return stop
            counts = np.searchsorted(increments, np.arange(rounds), side="right")
            noisy = counts + noise.geometric(self.test_scale, number * rounds, rng).reshape(number, rounds)
            threshold = self.threshold + noise.geometric(self.threshold_scale, number, rng)
            passed = noisy >= threshold[:, np.newaxis]
            stops, counted = np.unique(np.where(passed.any(axis=1), passed.argmax(axis=1), -1), return_counts=True)
            raise Parting(
                {None if k < 0 else k: runs for k, runs in zip(stops.tolist(), counted.tolist(), strict=True)}
            )

    def draw(scores, exponent, m, _, *, mirrored):
        for drawn in script:
            return np.array(drawn)
        draws = sample(scores, exponent, m * number, rng, mirrored=mirrored).reshape(number, m)
        least, size = draws.min(), int(np.ptp(draws)) + 1
        _, first, counted = np.unique((draws - least) @ size ** np.arange(m), return_index=True, return_counts=True)
        raise Parting(dict(zip(map(tuple, draws[first].tolist()), counted.tolist(), strict=True)))

    with monkeypatch.context() as patch:
        patch.setattr(levels, "sample", draw)
        patch.setattr(plans, "AboveThreshold", Tests)
        while waiting:
            history, number = waiting.popitem()
            script, clf = iter(history), DPWinnowClassifier(random_state=0, **parameters)
            try:
                clf.stream(np.array(X), y, classes=[-1, 1])
            except Parting as parting:
                waiting.update({(*history, outcome): runs for outcome, runs in parting.args[0].items()})
                continue
            stops = tuple(outcome for outcome in history if not isinstance(outcome, tuple))
            draws = tuple(tuple(sorted(outcome)) for outcome in history if isinstance(outcome, tuple))
            assert len(draws) == clf.updates_
            seen[stops, draws] += number
    return seen


SIGNS = {"negations": False, "fit_intercept": False}
FIXED = {"schedule": "fixed", "horizon": 4}
LEFT, RIGHT = [1, -1, -1], [-1, 1, 1]


@pytest.mark.parametrize(
    ("X", "y", "row", "label", "parameters"),
    [  # two streams: X and y, and the same with another first row and label
        ([LEFT, RIGHT, RIGHT, RIGHT], [1, 1, 1, 1], RIGHT, 1, {"epsilon": 9.0, "n_updates": 1, "n_draws": 1, **FIXED}),
        ([LEFT, RIGHT, RIGHT, RIGHT], [1, 1, 1, 1], RIGHT, 1, {"epsilon": 5.0, "n_updates": 1, "n_draws": 2, **FIXED}),
        (
            [LEFT, RIGHT, RIGHT, RIGHT],
            [1, 1, 1, 1],
            LEFT,
            -1,
            {"epsilon": 5.0, "n_updates": 1, "n_draws": 2, "batch": 1, **FIXED},
        ),
        ([LEFT, RIGHT, RIGHT, RIGHT], [1, 1, 1, 1], RIGHT, 1, {"epsilon": 5.0, "n_updates": 2, "n_draws": 1, **FIXED}),
        ([[1], [1], [1], [-1]], [1, -1, -1, -1], [1], -1, {"epsilon": 4.0, "n_updates": 2, "n_draws": 2, **FIXED}),
        ([LEFT] + 4 * [RIGHT], 5 * [1], RIGHT, 1, {"epsilon": 5.0, "n_updates": 2, "n_draws": 1, "batch": 1}),
        (
            [LEFT, RIGHT, RIGHT, RIGHT],
            [1, 1, 1, 1],
            RIGHT,
            1,
            {"epsilon": 9.0, "n_updates": 1, "n_draws": 1, "window": True, "schedule": "fixed", "horizon": 2},
        ),
    ],
    ids=["one draw", "two draws", "batch of one", "two updates", "with copies", "sparse vector", "a window"],
)
def test_neighbouring_streams_are_as_hard_to_tell_apart_as_claimed(X, y, row, label, parameters, rng, monkeypatch):
    if "negations" not in parameters and len(X[0]) > 1:
        parameters = parameters | SIGNS
    clf = DPWinnowClassifier(random_state=0, **parameters).partial_fit(X, y, classes=[-1, 1])
    pure = clf.learning_rate_ * clf.n_updates * clf.n_draws * float(winnow_range("replace"))
    pure += clf._state.plan.threshold_epsilon
    assert 2 < pure < 4

    one = outputs(X, y, rng=rng, monkeypatch=monkeypatch, **parameters)
    other = outputs([row, *X[1:]], [label, *y[1:]], rng=rng, monkeypatch=monkeypatch, **parameters)
    events = set(one) | set(other)
    level = 1e-6 / (4 * len(events))  # of each bound of Clopper and Pearson, so that all hold
    counts = np.array([(one[event], other[event]) for event in events])
    p, q = np.concatenate([counts, counts[:, ::-1]]).T
    seen, often = p > 0, np.minimum(p, q) >= 50
    least = stats.beta.ppf(level, p[seen], RUNS - p[seen] + 1)
    most = stats.beta.isf(level, q[seen] + 1, RUNS - q[seen])
    assert np.log(least / most).max() <= pure
    assert np.log(p[often] / q[often]).max() >= pure / 2


# ---- what a user meets -------------------------------------------------------------------------------------------


SIGNED = [np.asarray, BitMatrix, pd.DataFrame, lambda X: np.where(X, 1, -1).astype(np.int8)]
BITS = [lambda X: X.astype(np.int8), lambda X: sp.csr_array(X.astype(np.uint8)), lambda X: sp.csc_array(X.astype(int))]


@pytest.mark.parametrize("forms", [SIGNED, BITS], ids=["signs", "bits"])
@pytest.mark.parametrize(
    "Estimator", [WinnowClassifier, lambda: DPWinnowClassifier(20.0, confidence=0.05, random_state=1)]
)
def test_forms_of_one_table_give_one_model(Estimator, forms, table):
    X, y = table
    expected = Estimator().fit(forms[0](X), y)
    assert expected.coef_.any()
    for form in forms[1:]:
        clf = Estimator().fit(form(X), y)
        np.testing.assert_allclose(clf.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(clf.predict(form(X)), expected.predict(forms[0](X)))


@pytest.mark.parametrize(
    ("form", "same", "parameters"),
    [  # what is to be the same table of integers, and how it is declared
        (lambda X: X.astype(float), lambda X: X.astype(int), {}),
        (lambda X: sp.csr_array(X.astype(np.float32)), lambda X: X.astype(int), {}),
        (lambda X: sp.csr_array(X.astype(np.int8)), np.asarray, {"feature_range": (0, 1)}),
        (lambda X: np.where(X, 7, -3), np.asarray, {"feature_range": (-3, 7)}),
        (lambda X: np.where(X, 99, -99), np.asarray, {"feature_range": (-3, 7), "out_of_range": "clip"}),
    ],
    ids=["floats", "sparse floats", "sparse bits as signs", "a range", "clipped"],
)
def test_other_numbers_are_the_same_rows_on_a_finer_grid(form, same, parameters, table):
    X, y = table
    grid, whole = WinnowClassifier(**parameters).fit(form(X), y), WinnowClassifier().fit(same(X), y)
    np.testing.assert_allclose(grid.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    grid = DPWinnowClassifier(**parameters).partial_fit(form(X), y)
    whole = DPWinnowClassifier().partial_fit(same(X), y)
    assert grid.updates_ == whole.updates_ == 0  # before any draw
    _, interval = grid._state.scores.arrays()
    np.testing.assert_array_equal(interval, 1024 * whole._state.scores.arrays()[1])
    assert grid._state.unit == 1024 * whole._state.unit == 1024


@pytest.mark.parametrize("form", [lambda X: X.astype(float), lambda X: sp.csr_array(X.astype(np.float32))])
def test_a_finer_grid_changes_nothing_of_what_is_learned(form, table):
    X, y = table[0].astype(int), table[1]
    for fit in ("fit", "partial_fit"):
        one, other = (
            getattr(DPWinnowClassifier(20.0, random_state=1, schema="vectors"), fit)(table, y) for table in (X, form(X))
        )
        assert one.updates_ > 1
        assert same_releases(one, other)


@pytest.mark.parametrize("schedule", ["fixed", "sparse-vector"])
def test_one_seed_gives_one_model_at_every_level_and_however_the_stream_is_cut(schedule, each_isa, rng):
    X, y = majority(rng, 6000, 300)

    def follow(piece):
        clf = DPWinnowClassifier(8.0, confidence=0.2, schedule=schedule, horizon=6000, random_state=7)
        guesses = [clf.stream(X[t : t + piece], y[t : t + piece]) for t in range(0, 5000, piece)]
        return clf, np.concatenate(guesses)[:5000]

    (first, expected), *others = [
        *each_isa(lambda: follow(5000)),
        *(follow(piece) for piece in (1000, 625)),
    ]
    assert first.updates_ >= 3
    for clf, guesses in others:
        assert same_releases(clf, first)
        np.testing.assert_array_equal(guesses, expected)
    fits = each_isa(lambda: DPWinnowClassifier(random_state=7).fit(X, y))
    assert all(same_releases(clf, fits[0]) for clf in fits)


def test_a_majority_of_three_literals_among_20_000_is_learned_in_60_000_rounds(rng):
    clf, mistakes = DPWinnowClassifier(epsilon=1.0, random_state=0), []
    for _ in range(6):
        X, y = majority(rng, 10_000, 20_000)
        mistakes.append(int((clf.stream(X, y, classes=[False, True]) != y).sum()))
    assert sum(mistakes) <= 10_000
    assert mistakes[-1] <= 100


def test_a_stream_goes_on_to_predict_after_its_last_update_and_says_so(rng):
    X, y = majority(rng, 4000, 100)
    clf = DPWinnowClassifier(8.0, schedule="fixed", horizon=2000, n_updates=2, random_state=0).partial_fit(X, y)
    released, coef = len(clf.released_weights_), clf.coef_
    assert clf.updates_ == 2
    with pytest.warns(UserWarning, match="all 2 updates are made .* no longer learned from"):
        guesses = clf.stream(X, ~y)
    np.testing.assert_array_equal(guesses, clf.predict(X))
    assert len(clf.released_weights_) == released
    np.testing.assert_array_equal(clf.coef_, coef)
    with pytest.warns(UserWarning, match="all 20 updates are made"):  # so does what was fitted at once
        DPWinnowClassifier(random_state=0).fit(X, y).partial_fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("average", [True, False])
def test_what_a_stream_predicts_with_is_the_sum_of_its_releases_at_every_time(average, form, table):
    X, y = table
    clf = DPWinnowClassifier(
        50.0, schedule="fixed", horizon=600, n_updates=60, n_draws=3, average=average, random_state=0
    )
    for start in range(0, 600, 25):
        clf.partial_fit(form(X[start : start + 25] * 1.0), y[start : start + 25], classes=["no", "yes"])
        total = np.zeros(13, int)
        parts = clf.released_weights_ if average else clf.released_weights_[-1:]
        for index, count in parts:
            total[index] += count
        np.testing.assert_array_equal(np.append(clf.coef_, clf.intercept_), total / max(1, 3 * len(parts)))
        whole = pickle.loads(pickle.dumps(clf))  # sums all releases at once
        np.testing.assert_array_equal(whole.decision_function(X * 1.0), clf.decision_function(X * 1.0))
    assert clf.updates_ == 60


def test_a_pickle_predicts_and_holds_no_stream(table):
    X, y = table
    clf = DPWinnowClassifier(random_state=0).partial_fit(X, y)
    assert "_state" in vars(clf)
    again = pickle.loads(pickle.dumps(clf))
    assert "_state" not in vars(again)
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    with pytest.raises(ValueError, match="no stream to continue"):
        again.partial_fit(X, y)


def test_a_fitted_model_holds_nothing_but_what_was_released(table):
    clf = DPWinnowClassifier(random_state=0).fit(*table)
    fitted = {name for name in vars(clf) if name.endswith("_")}
    assert fitted == {
        "class_sizes_", "classes_", "learning_rate_", "model_", "n_draws_", "n_features_in_", "n_updates_", "notes_",
        "privacy_", "reads_", "released_weights_", "updates_",
    }  # fmt: skip
    assert set(vars(clf)) - fitted == {*clf.get_params(), "_facts"}
    assert str(clf.privacy_) == (
        "(1.0, 1e-06)-DP, replace one row; 21 of 21 releases used; drawn with a seed: reproducible, not private"
    )


def test_the_key_of_the_intervals_is_drawn_for_each_fit(monkeypatch):
    """Under "add-remove" privacy rests on it: see `dpfast.learners.winnow.scores`."""
    keys = []
    monkeypatch.setattr(put, "interval_numbers", lambda key, *more: keys.append(key) or interval_numbers(key, *more))
    X = np.random.default_rng(0).random((40, 2)) < 0.5
    for _ in range(8):
        DPWinnowClassifier(neighbors="add-remove", n_updates=2).fit(X, X[:, 0])
    assert len({*keys}) == 8
    assert max(keys) >= 1 << 248


def test_rows_are_put_into_intervals_at_random_whatever_their_part():
    n, intervals = 150_000, 20
    numbers = interval_numbers(7, 0, n, intervals)
    sizes = np.bincount(numbers, minlength=intervals)
    assert len(sizes) == intervals
    assert stats.chisquare(sizes).pvalue > 1e-6
    pairs = np.bincount(intervals * numbers[:-1:2].astype(int) + numbers[1::2], minlength=intervals**2)
    assert stats.chisquare(pairs).pvalue > 1e-6
    for first, some in ((0, 0), (0, 65_536), (65_530, 12), (65_536, 1), (100, 149_900)):
        np.testing.assert_array_equal(interval_numbers(7, first, some, intervals), numbers[first : first + some])
    assert (interval_numbers(8, 0, n, intervals) == numbers).mean() < 0.06


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_no_more_rows_of_an_interval_enter_the_scores_than_the_batch(batch, monkeypatch):
    entered, plain = [], DenseScores.enter

    def noted(self, total):
        entered.append(total[0])
        plain(self, total)

    monkeypatch.setattr(DenseScores, "enter", noted)
    X, y = np.ones((300, 2), bool), np.arange(300) < 299  # a row adds 1 or takes 1
    table = [(X[:100], y[:100]), (X[100:130], y[100:130]), (X[130:], y[130:])]
    for parts in (table, [(X, y)]):
        entered.clear()
        clf = DPWinnowClassifier(n_updates=5, batch=batch, confidence=0.999, random_state=0)
        clf.fit(MemoryParts(parts), None, classes=[False, True])
        assert len(entered) == 5
        assert max(entered) <= batch
        assert entered[0] == batch or batch > 30  # all rows count before the first release


# ---- rows without a vote -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("larger", [0, 1])
def test_rows_without_a_vote_are_of_the_larger_released_class(larger, rng):
    X = sp.csr_array((rng.random((3000, 40)) < 0.02).astype(float))
    y = np.where(rng.random(3000) < 0.1, 1 - larger, larger)
    clf = DPWinnowClassifier(3.0, fit_intercept=False, random_state=0).fit(X, y, classes=[0, 1])
    nothing = sp.csr_array((5, 40))
    assert not clf.decision_function(nothing).any()
    assert clf.predict(nothing).tolist() == [larger] * 5
    assert clf.class_sizes_[larger] == pytest.approx(2700, abs=100)


@pytest.mark.parametrize("larger", [0, 1])
def test_a_model_without_releases_predicts_the_larger_class(larger, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(levels, "sample", interrupted)
    X = np.random.default_rng(0).random((3000, 5)) < 0.5
    clf = DPWinnowClassifier(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, np.where(np.arange(3000) % 10, larger, 1 - larger), classes=[0, 1])
    assert set(clf.predict(X).tolist()) == {larger}


@pytest.mark.parametrize(
    ("neighbors", "rows_per_unit", "times"), [("replace", 1, 2), ("add-remove", 1, 1), ("replace", 3, 6)]
)
def test_sizes_of_classes_have_the_noise_that_their_share_pays_for(neighbors, rows_per_unit, times, monkeypatch):
    """Replacing a row moves two sizes by 1, adding one moves one size, and a person has so many rows."""
    asked, draw = [], run.discrete_laplace
    monkeypatch.setattr(
        run, "discrete_laplace", lambda x, scale, *, rng: asked.append((x, scale)) or draw(x, scale, rng=rng)
    )
    X, y = np.random.default_rng(0).random((600, 5)) < 0.5, np.arange(600) % 3 == 0
    units = {} if rows_per_unit == 1 else {"units": np.arange(600) // 3, "rows_per_unit": 3}
    clf = DPWinnowClassifier(neighbors=neighbors, random_state=0).fit(X, y, classes=[False, True], **units)
    ((exact, scale),) = asked
    assert exact.tolist() == [400, 200]
    (pure,) = [cost.size for cost in clf.privacy_.cost if cost.kind == "pure"]
    assert scale == times / Fraction(pure)
    assert 0.01 < pure**2 / 2 / (0.02 * zcdp_rho(1.0, 1e-6)) * 0.02 < 0.03


def test_more_than_two_classes_are_refused_with_the_learners_that_take_them():
    X = np.eye(6) > 0
    with pytest.raises(ValueError, match=r"3 classes\. HalfspaceClassifier and DecisionList"):
        DPWinnowClassifier().fit(X, np.arange(6) % 3)


# ---- rows that fade ----------------------------------------------------------------------------------------------


def fading(clf, X, y):
    """Return the sums that entered the scores of a fit, and the hypothesis and the plan in force before each."""
    entered, in_force = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(put, "interval_numbers", lambda key, first, n, K: np.arange(first, first + n) % K)
        enter, update = DenseScores.enter, Course._draw_update

        def noted(self, total):
            entered.append(np.array(total))
            enter(self, total)

        def updated(self, rate, rng):
            in_force.append((self.hypothesis, self.plan))
            return update(self, rate, rng)

        patch.setattr(DenseScores, "enter", noted)
        patch.setattr(Course, "_draw_update", updated)
        clf.fit(X, y, classes=[0, 1])
    return entered, in_force


FORMS = {
    "signs": (BitMatrix, 1),
    "grid": (lambda X: X.astype(np.int8), 1),
    "csr": (lambda X: sp.csr_array(1.0 * X), 1024),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("window", [False, True])
def test_a_row_counts_half_as_much_for_each_further_confidence_of_its_margin(form, window, rng):
    X, K, (form, unit) = rng.random((900, 6)) < 0.4, 6, FORMS[form]
    y = (X[:, 0] | X[:, 1]).astype(int)
    clf = DPWinnowClassifier(30.0, n_updates=K, window=window, confidence=0.07, random_state=0)
    entered, in_force = fading(clf, form(X), y)
    rows = np.column_stack([2.0 * X - 1 if form is BitMatrix else X, np.ones(len(X))])
    seen = set()
    for k, (total, (hypothesis, _)) in enumerate(zip(entered, in_force, strict=True)):
        mine, sign = rows[k::K], 2.0 * y[k::K] - 1
        margin = sign * (mine @ hypothesis.weights(6))
        beyond = np.ceil(np.round(margin / 0.07, 9)) - 1  # whole up to once the confidence
        weight = np.where(beyond > 4, 0, 0.5 ** np.clip(beyond, 0, 4))
        np.testing.assert_array_equal(total, 16 * unit * (mine.T @ (weight * sign)))
        seen |= {*weight.tolist()}
    assert len(seen) > 3
    assert in_force[0][1].grid == (16 if window else 16 * 256)


def test_sums_that_are_doubled_are_those_of_rows_given_twice():
    rows = signed_rows(sp.csr_array([[1, 0, -1], [0, 1, -1]]))
    for kind in (DenseScores, put.TouchedScores):
        found = kind(3, None)
        found.add(rows, np.array([1, -1], np.int8), np.arange(2), True)
        found.double(1)
        found.add(rows, np.array([1, -1], np.int8), np.arange(1), True)
        entered = found.entered()
        np.testing.assert_array_equal(np.ravel(entered.toarray() if sp.issparse(entered) else entered), [3, -2, -1, 1])


@pytest.mark.parametrize(
    "parameters", [{"batch": 7}, {"schedule": "sparse-vector"}, {**PAPER, "horizon": 10**4, "margin": 1.0}]
)
def test_streams_batches_and_the_paper_count_rows_whole(parameters, table, monkeypatch):
    seen, (X, y) = [], table
    monkeypatch.setattr(plans.WinnowPlan, "halvings", lambda *_: seen.append(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        DPWinnowClassifier(random_state=0).set_params(**parameters).fit(X, y)
        clf = DPWinnowClassifier(schedule="fixed", horizon=600, random_state=0).partial_fit(X, y)
    assert not seen
    assert clf._state.plan.grid == 256


def test_the_margin_of_rows_that_count_whole_follows_public_facts(rng):
    def planned(X, **parameters):
        clf = DPWinnowClassifier(random_state=0, schema="vectors", **parameters)
        return fading(clf, X, np.arange(X.shape[0]) % 2)[1][0][1]

    X = rng.random((300, 3)) < 0.5
    wide = sp.csr_array(([1], ([0], [0])), shape=(300, 128 * 16))
    assert planned(X, n_updates=20).confidence == planned(X.astype(int), n_updates=20).confidence == 0.05
    assert planned(X, n_updates=320).confidence == 0.1
    assert planned(X.astype(int), n_updates=320).confidence == 0.025
    assert planned(wide, n_updates=20).confidence == 0.025
    assert planned(wide, n_updates=20, feature_range=(0, 1)).confidence == 0.05  # its zeros are -1
    assert planned(X, n_updates=320, confidence=0.3).confidence == 0.3
    assert DPWinnowClassifier(random_state=0).partial_fit(X, X[:, 0])._state.plan.confidence == 0.05


def test_a_rare_class_is_ranked_no_worse_with_more_budget():
    """Where only rows of a small margin count, the area under the curve falls from .75 to .56."""
    rng, n = np.random.default_rng(2), 16_000
    X = rng.random((n, 30)) < np.linspace(0.1, 0.6, 30)
    odds = X[:, ::3] @ rng.normal(size=10)
    y = odds + rng.logistic(size=n) > np.quantile(odds, 0.97) + 2

    def area(epsilon):
        found = [
            roc_auc_score(y, DPWinnowClassifier(epsilon, random_state=seed).fit(X, y).decision_function(X))
            for seed in range(3)
        ]
        return np.median(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        areas = [area(epsilon) for epsilon in (1.0, 3.0, 10.0)]
    assert areas[0] > 0.6
    assert (np.maximum.accumulate(areas) - areas).max() < 0.02, areas


def test_a_stream_with_a_window_learns_without_end_and_claims_the_same(rng):
    X, y = majority(rng, 12_000, 100)
    y[6000:] = ~y[6000:]  # all that was learned becomes wrong
    clf = DPWinnowClassifier(8.0, window=True, n_updates=20, random_state=0)
    guesses = clf.stream(X, y)
    assert (guesses[5000:6000] == y[5000:6000]).mean() > 0.95
    assert (guesses[11_000:] == y[11_000:]).mean() > 0.95
    assert clf.updates_ > 20 == len(clf.released_weights_)
    assert str(clf.privacy_).startswith("(8.0, 1e-06)-DP, replace one row; drawn with a seed")
    assert clf.learning_rate_ == DPWinnowClassifier(8.0).partial_fit(X, y).learning_rate_


def test_a_stream_has_one_user_in_one_process(table, monkeypatch):
    X, y = table
    clf = DPWinnowClassifier(random_state=0).partial_fit(X, y)
    assert in_a_child(lambda: clf.partial_fit(X, y)) == "RuntimeError"
    assert in_a_child(lambda: clf.predict(X)) == "none"
    follow, told = Stream.follow, []

    def meanwhile(self, rows, signs):
        with pytest.raises(RuntimeError, match=r"the stream of a DPWinnowClassifier is in use: one call at a time"):
            clf.partial_fit(X, y)
        told.append(threading.Thread(target=lambda: told.append(clf.predict(X).shape)))
        told[0].start()
        told[0].join()
        return follow(self, rows, signs)

    monkeypatch.setattr(Stream, "follow", meanwhile)
    clf.partial_fit(X, y)
    assert told[1] == (600,)
    assert clf.rounds_ == 1200


@pytest.mark.parametrize("form", [pd.DataFrame, lambda X: pd.DataFrame(X).astype("Int64"), np.asfortranarray])
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_tables_of_integers_are_learned_from_whatever_their_order(fit, form, table):
    X, y = table[0].astype(int), table[1]
    expected = getattr(DPWinnowClassifier(8.0, random_state=1, schema="vectors"), fit)(X, y)
    budget = Budget(8.0, 1e-6)
    clf = getattr(DPWinnowClassifier(8.0, budget=budget, random_state=1, schema="vectors"), fit)(form(X), y)
    assert same_releases(clf, expected)
    assert len(budget.charges) == 1


@pytest.mark.parametrize("Estimator", [WinnowClassifier, DPWinnowClassifier])
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_a_model_of_booleans_refuses_zeros_and_ones_and_the_other_way_round(fit, Estimator, table):
    X, y = table
    signs = getattr(Estimator(), fit)(X, y)
    numbers = getattr(Estimator(), fit)(X.astype(np.int8), y)
    assert (signs.reads_, numbers.reads_) == ("signs", "numbers")
    for call in ("predict", "partial_fit"):
        rest = () if call == "predict" else (y,)
        with pytest.raises(ValueError, match="learned from booleans, which are signs, and X holds numbers"):
            getattr(signs, call)(X.astype(float), *rest)
        with pytest.raises(ValueError, match="learned from numbers, and X holds booleans"):
            getattr(numbers, call)(BitMatrix(X), *rest)
    again = pickle.loads(pickle.dumps(signs))
    with pytest.raises(ValueError, match="learned from booleans"):
        again.predict(X.astype(int))


def test_a_refit_forgets_the_model_and_the_stream_before_it(table):
    X, y = table
    clf = DPWinnowClassifier(random_state=0, schema="vectors").partial_fit(pd.DataFrame(X).add_prefix("x"), y)
    clf.fit(X[:, :5].astype(int), np.where(y == "yes", "a", "b"))
    assert clf.classes_.tolist() == ["a", "b"]
    assert (clf.n_features_in_, clf.reads_, clf.updates_) == (5, "numbers", 20)
    assert not hasattr(clf, "feature_names_in_")
    assert not hasattr(clf, "rounds_")


@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_what_was_released_before_an_interrupt_is_kept_and_charged(fit, rng, monkeypatch):
    X, y = majority(rng, 4000, 100)
    sample, left = levels.sample, [2]

    def interrupted(*args, **kwargs):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return sample(*args, **kwargs)

    monkeypatch.setattr(levels, "sample", interrupted)
    budget = Budget(1.0, 1e-6)
    clf = DPWinnowClassifier(budget=budget, schedule="fixed", horizon=4000, n_updates=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        getattr(clf, fit)(X, y)
    assert len(budget.charges) == 1
    assert clf.updates_ == 2
    assert str(clf.privacy_).startswith(
        "(1.0, 1e-06)-DP, replace one row; " + {"fit": "3 of 6", "partial_fit": "2 of 5"}[fit]
    )
    assert clf.predict(X).shape == (4000,)
    with pytest.raises(ValueError, match="no stream to continue"):  # rows given again would count twice
        clf.partial_fit(X, y)


@pytest.mark.parametrize("number", [(1 << 16) + 1, 1 << 62])
def test_more_passes_over_a_table_than_can_end_are_refused_before_the_charge(table, number):
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match=f"n_updates={number:,} would take as many passes over the rows of a table"):
        DPWinnowClassifier(n_updates=number, budget=budget).fit(*table)
    assert budget.charges == ()
    X, y = table[0][:50], table[1][:50]
    DPWinnowClassifier(n_updates=number, budget=budget).stream(X, y, classes=["no", "yes"])  # one pass
    assert len(budget.charges) == 1


@pytest.mark.filterwarnings("ignore:the paper's promise is void")
@pytest.mark.parametrize(
    "options",
    [
        {"n_draws": 1 << 62},
        {"n_draws": (1 << 24) + 1},
        {"calibration": "paper", "batch": 1, "average": False, "horizon": 600, "margin": 1e-5},
    ],
    ids=str,
)
def test_draws_that_memory_does_not_hold_are_refused_before_the_charge(table, options):
    budget = Budget(1.0, 1e-6)
    for fit in ("fit", "stream"):
        with pytest.raises(ValueError, match=r"draws for each update would take .* GB at a time: n_draws"):
            getattr(DPWinnowClassifier(budget=budget, **options), fit)(*table)
    assert budget.charges == ()


def test_noise_that_integers_do_not_hold_is_refused_before_the_charge(table):
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match="epsilon is too small for a stream: its first update would take"):
        DPWinnowClassifier(1e-17, 1e-60, budget=budget).partial_fit(*table)
    assert budget.charges == ()


def test_rows_too_wide_to_score_are_refused_before_the_charge():
    X = sp.csr_array((np.ones(2, np.int8), np.array([0, 2**31]), np.array([0, 1, 2])), shape=(2, 2**31 + 1))
    budget = Budget(1.0, 1e-6)
    with pytest.raises(ValueError, match=r"d must lie in \[1, 2\*\*31\], got 2147483649"):
        DPWinnowClassifier(budget=budget).fit(X, [0, 1])
    assert budget.charges == ()


def test_the_last_release_may_predict_in_place_of_the_average(table):
    X, y = table
    clf = DPWinnowClassifier(average=False, random_state=0).fit(X, y)
    index, count = clf.released_weights_[-1]
    weights = np.zeros(13)
    weights[index] = count / clf.n_draws_
    np.testing.assert_array_equal(np.append(clf.coef_, clf.intercept_), weights)
    votes = clf.set_params(average=True).decision_function(X)
    np.testing.assert_allclose(votes, np.where(X, 1, -1) @ clf.coef_[0] + clf.intercept_, atol=1e-12)


# ---- how many updates --------------------------------------------------------------------------------------------


def planned(epsilon=1.0, n_rows=None, at=plans.at_once, n_features=100, **parameters):
    clf = DPWinnowClassifier(epsilon, **parameters)
    task = Task(epsilon, clf.delta, clf.neighbors, n_columns=n_features, n_rows=n_rows)
    return plans.plan_numbers(clf, task, at)[1]


def test_larger_budgets_and_more_rows_make_more_updates_of_at_least_the_same_size():
    def sizes(plan, n):  # of what an interval moves log-weights by
        return plan.learning_rate * n / plan.n_updates

    K = [
        [planned(epsilon, n).n_updates for epsilon in (0.01, 0.1, 0.3, 1, 3, 10, 100)] for n in (1, 10**3, 10**5, 10**7)
    ]
    assert (np.min(K), np.max(K), len(np.unique(K))) == (20, 200, 8)
    assert (np.diff(K, axis=0) >= 0).all()
    assert (np.diff(K, axis=1) >= 0).all()
    wanted = (math.log(2 * 101) + 2) / 2
    for neighbors in ("replace", "add-remove"):
        for n in (20_000, 60_000, 100_000):
            plan = planned(1.0, n, neighbors=neighbors, horizon=n)
            assert 20 < plan.n_updates < 200
            assert sizes(plan, n) == pytest.approx(wanted, rel=0.1)


def test_a_private_number_of_rows_decides_nothing(table):
    assert {planned(10.0, n, neighbors="add-remove").n_updates for n in (1, 10**4, 10**8)} == {20}
    assert planned(10.0, 1, neighbors="add-remove", horizon=10**6).n_updates > 20
    X, y = table
    for rows in (1, 100):  # the first rows of a stream are not all of them
        stream = DPWinnowClassifier(100.0, schedule="fixed", horizon=10**5, random_state=0)
        stream.stream(X[:rows], y[:rows], classes=["no", "yes"])
        assert stream.n_updates_ == planned(100.0, None, plans.streaming, 12, schedule="fixed", horizon=10**5).n_updates
        assert stream.n_updates_ > 20
    for options in ({}, {"window": True}, {"horizon": 10**8}):
        assert planned(10.0, 10**8, plans.streaming, **options).n_updates == 20


def test_more_budget_is_worth_more_where_twenty_updates_would_put_all_weight_on_one_coordinate(rng):
    X = rng.random((20_000, 40)) < 0.5
    votes = X[:, :10] @ np.array([2, 1.5, 1, 1, 1, 0.7, 0.7, 0.5, 0.5, 0.5])
    y = votes + rng.normal(size=20_000) / 2 > 5

    def right(epsilon, **parameters):
        fits = [DPWinnowClassifier(epsilon, random_state=seed, **parameters).fit(X, y) for seed in range(3)]
        return np.median([fitted.score(X, y) for fitted in fits])

    small, middle, large = (right(epsilon) for epsilon in (1.0, 3.0, 10.0))
    assert small < middle + 0.01
    assert middle < large + 0.01
    assert right(10.0, n_updates=20) < large


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"epsilon": -1.0}, "epsilon must"),
        ({"delta": 0.0}, "delta must"),
        ({"delta": 1.0}, "delta must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"n_updates": 0}, r'n_updates must be "auto" or an integer in \[1, '),
        ({"n_draws": 2.5}, "n_draws must"),
        ({"batch": "some"}, r'batch must be "all" or an integer in \[1, '),
        ({"schedule": "often"}, "schedule must"),
        ({"horizon": 0}, r"horizon must be None or an integer in \[1, "),
        ({"confidence": 1.0}, r'confidence must be "auto" or lie in \[0, 1\), got 1.0'),
        ({"out_of_range": "ignore"}, "out_of_range must"),
        ({"random_state": -1}, "at least 0"),
        ({"budget": 3.0}, "budget must be None or"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name(parameters, message, fit, table):
    with pytest.raises(ValueError, match=message):
        getattr(DPWinnowClassifier(**parameters), fit)(*table)


@pytest.mark.parametrize("Estimator", [WinnowClassifier, DPWinnowClassifier])
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0, 1], [1, 2]], [0, 1], r"features must lie in feature_range=\(-1.0, 1.0\), got 2"),
        ([[0, 1], [1, -1.5]], [0, 1], "got -1.5"),
        (sp.csr_array([[0, 1], [1, 3]]), [0, 1], "got 3"),
        ([[0, 1], [1, np.nan]], [0, 1], "NaN"),
        ([[0, 1], [1, 0]], [1, 1], "at least two classes, got one class only"),
        ([[0, 1], [1, 0], [1, 1]], [0, 1, 2], "Only binary classification is supported.*3 classes"),
        ([[0, 1], [1, 0]], [1, 0, 1], "inconsistent numbers of samples"),
        ([0, 1], [0, 1], "Expected 2D array"),
        (np.empty((0, 2)), [], "at least one row|at least two classes"),
    ],
)
def test_data_that_will_not_do_is_refused_with_what_was_seen(X, y, message, fit, Estimator):
    with pytest.raises(ValueError, match=message):
        getattr(Estimator(out_of_range="error"), fit)(X, y)


@pytest.mark.parametrize("Estimator", [WinnowClassifier, DPWinnowClassifier])
def test_a_stream_keeps_its_number_of_features(Estimator, table):
    X, y = table
    clf = Estimator().partial_fit(X, y)
    with pytest.raises(ValueError, match=rf"X has 11 features, but {Estimator.__name__} is expecting 12 features"):
        clf.partial_fit(X[:, :11], y)
    with pytest.raises(ValueError, match=r"the label of row \d+ is not among classes"):
        clf.partial_fit(X, np.where(y == "no", "maybe", "yes"))


@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_a_refusal_charges_nothing_and_draws_nothing(fit, table, rng):
    X, y = table
    budget, state = Budget(1.0, 1e-6), rng.bit_generator.state
    for bad_X, bad_y, parameters in (
        (X * 2, y, {"out_of_range": "error"}),
        (X.astype(float) * np.nan, y, {}),
        (X, y[:-1], {}),
        (X, ["one"] * len(y), {}),
        (X, y, {"delta": 0.0}),
        (X, y, {"epsilon": 1.5}),
    ):
        clf = DPWinnowClassifier(budget=budget, random_state=rng, schema="vectors").set_params(**parameters)
        with pytest.raises((ValueError, BudgetExceeded)):
            getattr(clf, fit)(bad_X, bad_y)
        assert not hasattr(clf, "released_weights_")
    assert budget.charges == ()
    assert rng.bit_generator.state == state


def test_a_stream_is_charged_once(table):
    X, y = table
    budget = Budget(2.0, 1e-5)
    clf = DPWinnowClassifier(budget=budget, random_state=0)
    clf.partial_fit(X, y).partial_fit(X, y)
    assert len(budget.charges) == 1


def test_a_stream_of_fixed_schedule_needs_its_horizon(table):
    with pytest.raises(ValueError, match="a stream of fixed schedule needs horizon="):
        DPWinnowClassifier(schedule="fixed").partial_fit(*table)


@pytest.mark.parametrize(
    "parameters",
    [
        {"schedule": "sparse-vector"},
        {"calibration": "paper", "batch": 1, "average": False, "horizon": 600, "margin": 0.2},
    ],
)
def test_a_table_from_which_rows_are_deleted_is_not_followed_as_a_stream(parameters, table):
    with pytest.raises(ValueError, match=r"deleting a row from a table shifts all later rows"):
        DPWinnowClassifier(neighbors="add-remove", **parameters).fit(*table)
