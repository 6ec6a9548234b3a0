import copy
import math
import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from dpfast.accounting import Budget, BudgetExceeded, sparse_sample_delta, winnow_epsilon
from dpfast.littlestone import FiniteClass, OnlineLittlestoneLearner, PointFunctions, Thresholds

T = 10**5
MISTAKES_PER_LN_T = 70  # at epsilon 1, delta 1e-6, T = 1e5


def point_stream(seed, n_points, rounds=T):
    rng = np.random.default_rng(seed)
    target = int(rng.integers(n_points))
    X = np.where(rng.random(rounds) < 0.1, target, rng.integers(n_points, size=rounds))
    return X, (target == X).astype(int), target


def mistakes(learner, X, y):
    return int((learner.stream(X, y) != y).sum())


def test_point_functions_on_2_to_the_40_points_cost_a_constant_times_ln_t_mistakes():
    plan = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), T).estimate()
    assert plan.mistakes_per_release <= MISTAKES_PER_LN_T * math.log(T)
    right = 0
    for seed in range(20):
        X, y, target = point_stream(seed, 2**40)
        learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), T, random_state=seed)
        made = mistakes(learner, X, y)
        assert made <= plan.mistakes
        right += made <= plan.mistakes_per_release and bool(learner.hypothesis_(target))
    assert right >= 18


def test_the_mistakes_do_not_grow_with_the_number_of_points():
    counted = set()
    for exponent in (20, 40, 60):
        learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**exponent), T, random_state=0)
        target = 2**exponent - 5
        X = np.where(np.arange(T) % 10 == 3, target, np.arange(T))
        counted.add((mistakes(learner, X, target == X), learner.estimate()))
    assert len(counted) == 1


def test_the_mistakes_planned_grow_with_the_logarithm_of_the_horizon():
    planned = [
        OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**62), 10**e, max_work=10**18)
        .estimate()
        .mistakes_per_release
        for e in range(3, 13)
    ]
    steps = np.diff(planned)
    assert (steps > 0).all()
    assert steps.max() <= 40 * math.log(10)  # the rest of the constant pays for delta


@pytest.mark.parametrize("table", [False, True])
def test_thresholds_are_halved_until_few_mistakes_are_left(table):
    H = FiniteClass(np.arange(100) >= np.arange(101)[:, None]) if table else Thresholds(100)
    rng = np.random.default_rng(5)
    X = rng.integers(100, size=200_000)
    y = (X >= 37).astype(int)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, H, len(X), random_state=1)
    wrong = learner.stream(X, y) != y
    assert 1 <= len(learner.releases_) < learner.estimate().n_releases
    assert wrong.sum() <= learner.estimate().mistakes / 3
    assert wrong[-20_000:].mean() <= 0.03


def test_a_stream_is_the_same_however_it_is_cut():
    X, y, _ = point_stream(3, 2**40, 30_000)
    whole = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), T, random_state=0)
    cut = clone(whole)
    predicted = whole.stream(X, y)
    parts = [cut.stream(X[i : i + 7000], y[i : i + 7000]) for i in range(0, len(X), 7000)]
    np.testing.assert_array_equal(predicted[:7000], parts[0])
    assert len(np.concatenate(parts)) == len(X)
    assert cut.hypothesis_ == whole.hypothesis_


def test_soa_predicts_until_the_first_release():
    H = Thresholds(9)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, H, 100, random_state=0)
    X = np.arange(9)
    np.testing.assert_array_equal(learner.stream(X, X >= 5), [H.soa(x) for x in X])
    assert learner.releases_ == []
    assert "0 of" in str(learner.privacy_)


def test_a_spent_budget_freezes_the_hypothesis_and_says_so():
    learner = OnlineLittlestoneLearner(5.0, 1e-3, PointFunctions(50), 5000, n_releases=2, n_teachers=5, random_state=0)
    rng = np.random.default_rng(0)
    X, y = rng.integers(50, size=5000), rng.integers(2, size=5000)  # nobody explains it
    learner.stream(X, y)
    assert learner.frozen_
    assert len(learner.releases_) == 2
    assert "2 of 2 releases used" in str(learner.privacy_)
    frozen = learner.hypothesis_
    with pytest.warns(UserWarning, match="has ended after 2 releases: the hypothesis is frozen"):
        predicted = learner.stream(X, y)
    assert learner.hypothesis_ == frozen
    np.testing.assert_array_equal(predicted, learner.predict(X))


def test_the_plans_numbers_compose_to_the_budget():
    for H, K in [(PointFunctions(2**40), 4), (Thresholds(500), 60)]:
        plan = OnlineLittlestoneLearner(1.0, 1e-6, H, T, n_releases=K).estimate()
        pure = 2 * K * plan.exponent + plan.threshold_epsilon
        if pure <= 1.0:
            assert K * sparse_sample_delta(plan.exponent, plan.bottom_score, plan.list_bound) <= 1e-6
        else:
            spill = K * plan.list_bound * math.exp(plan.exponent * (1 - plan.bottom_score))
            assert (1 + math.e) * spill <= 5e-7
            numbers = {"n_updates": K, "n_draws": 1, "threshold_epsilon": plan.threshold_epsilon, "score_range": 2}
            assert winnow_epsilon(plan.exponent, 5e-7, **numbers) <= 1.0  # exponent * range 2 a draw, one threshold


def test_one_round_changes_one_teacher_and_one_interval():
    """Under fixed releases: the reason for what is charged."""
    H, rng = Thresholds(30), np.random.default_rng(20261121)
    X, y, teacher = rng.integers(30, size=200), rng.integers(2, size=200), rng.integers(99, size=200)
    guess, changed = H.soa_hypothesis()(X), 0
    for row in range(40, 60):
        runs = []
        for label in (guess[row], 1 - guess[row]):  # no mistake, and one
            learner = OnlineLittlestoneLearner(1.0, 1e-6, H, 10**6, random_state=7).partial_fit([0], guess[:1])
            labels, state = np.where(np.arange(200) == row, label, y), learner._state
            for t in np.flatnonzero(guess != labels):
                state.fit.rng = SimpleNamespace(integers=lambda k, size, i=teacher[t]: np.full(size, i))
                state._note(1, np.array([0]), X[[t]], labels[[t]])
            runs.append(state.teachers)
        different = sum(a != b for a, b in zip(*runs, strict=True))
        assert different <= 1
        changed += different
    assert changed > 5


def test_a_prediction_tells_its_own_row_and_the_others_nothing_more_than_the_hypotheses_do():
    """What may be claimed of a stream: hypotheses and times for all, each prediction for its row's owner."""
    H, row = Thresholds(30), 50
    rng = np.random.default_rng(8)
    X, labels = rng.integers(30, size=200), rng.integers(2, size=200)
    seen = []
    for x in (3, 27):
        learner = OnlineLittlestoneLearner(1.0, 1e-6, H, 10**6, random_state=7)
        points = np.where(np.arange(200) == row, x, X)
        seen.append((learner.stream(points, labels), learner.releases_))
    (first, releases), (second, others) = seen
    assert releases == others  # the same hypotheses at the same times ...
    assert first[row] != second[row]  # ... and yet the row is told apart by its prediction, with certainty
    np.testing.assert_array_equal(np.delete(first, row), np.delete(second, row))
    for text in (OnlineLittlestoneLearner.__doc__, OnlineLittlestoneLearner.stream.__doc__):
        assert "as private as" not in text
        assert "every prediction" not in text
        assert "owner" in text


def test_fit_begins_anew_and_partial_fit_goes_on():
    X, y, _ = point_stream(1, 1000, 2000)
    budget = Budget(3.0, 1e-5)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(1000), 2000, budget=budget, random_state=0)
    learner.partial_fit(X, y).partial_fit(X, y)
    assert len(budget.charges) == 1
    learner.fit(X, y)
    assert len(budget.charges) == 2
    with pytest.raises(ValueError, match='fit needs neighbors="replace"'):
        clone(learner).set_params(neighbors="add-remove").fit(X, y)
    assert "add or remove" in str(
        clone(learner).set_params(neighbors="add-remove", budget=None).partial_fit(X, y).privacy_
    )
    with pytest.raises(BudgetExceeded):
        OnlineLittlestoneLearner(1.5, 1e-6, PointFunctions(9), 10, budget=budget).partial_fit([1], [0])


def test_an_interrupted_or_unpickled_stream_does_not_go_on(monkeypatch):
    X, y, target = point_stream(1, 2**40)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), T, random_state=0)
    learner.stream(X[:20_000], y[:20_000])
    again = pickle.loads(pickle.dumps(learner))
    assert again.predict([target]) == learner.predict([target]) == 1
    with pytest.raises(ValueError, match="no stream to continue"):
        again.stream(X, y)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(learner._state, "_note", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.stream(X, y)
    with pytest.raises(ValueError, match="interrupted"):
        learner.stream(X, y)
    assert learner.predict([target]) == 1


def test_a_stream_that_is_interrupted_publishes_the_releases_made_before(monkeypatch):
    X, y, target = point_stream(1, 2**40)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), T, random_state=0).partial_fit(X[:1], y[:1])
    release = learner._state._draw_next

    def interrupted():
        release()
        raise KeyboardInterrupt

    monkeypatch.setattr(learner._state, "_draw_next", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.stream(X, y)
    assert len(learner.releases_) == 1
    assert learner.predict([target]) == 1
    assert "1 of 4 releases used" in str(learner.privacy_)


def test_a_refit_that_is_refused_leaves_the_stream_as_it_was():
    X, y, _ = point_stream(1, 1000, 2000)
    budget = Budget(1.5, 1e-5)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(1000), 4000, budget=budget, random_state=0)
    twin = clone(learner).set_params(budget=None).partial_fit(X, y)
    learner.partial_fit(X, y)
    with pytest.raises(BudgetExceeded):
        learner.fit(X, y)
    learner.budget = None
    with pytest.raises(ValueError, match="labels must be 0 or 1"):
        learner.fit(X, X)
    np.testing.assert_array_equal(learner.stream(X, y), twin.stream(X, y))


# ---- private state draws for one user only ---------------------------------------------------------------------------


def test_a_stream_is_used_by_one_thread_at_a_time():
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(1000), 2000, random_state=0)
    X, y, _ = point_stream(1, 1000, 2000)
    learner.partial_fit(X[:10], y[:10])
    follow, inside, done = learner._state.follow, threading.Event(), threading.Event()

    def slow(*rows):
        inside.set()
        assert done.wait(600)
        return follow(*rows)

    learner._state.follow = slow
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(learner.stream, X, y)
        assert inside.wait(600)
        with pytest.raises(RuntimeError, match="is in use: one call at a time"):
            learner.stream(X, y)
        done.set()
        assert len(first.result()) == len(X)
    learner._state.follow = follow
    assert len(learner.stream(X, y)) == len(X)


def test_threads_that_begin_a_stream_together_begin_it_once():
    budget = Budget(100.0, 1e-3)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(1000), 2000, budget=budget, random_state=0)
    X, y, _ = point_stream(1, 1000, 2000)
    together = threading.Barrier(8)

    def go(_):
        together.wait()
        try:
            learner.stream(X, y)
        except RuntimeError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert any(pool.map(go, range(8)))
    assert len(budget.charges) == 1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # threads of the test run
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize("random_state", [0, None])
def test_a_fork_draws_nothing_from_a_stream_that_its_parent_began(random_state):
    X, y, _ = point_stream(1, 1000, 2000)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(1000), 2000, random_state=random_state)
    learner.partial_fit(X, y)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            learner.stream(X, y)
            told = "drew"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as answer:
        assert re.match(r"RuntimeError: the stream .* goes on only in the process that began it", answer.read())
    assert len(learner.stream(X, y)) == len(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hypothesis_class": 7}, r"must be a class of dpfast\.littlestone, got 7"),
        ({"horizon": None}, "horizon must be an integer of at least 1, got None"),
        ({"dimension": 2}, "the class has Littlestone dimension 3, above the declared 2"),
        ({"batch_constant": 0.6}, "batch_constant must be above ln 2"),
        ({"release_constant": math.inf}, "release_constant must be a finite number"),
        ({"n_releases": 2.5}, 'n_releases must be "auto" or an integer'),
        ({"threshold_share": 1}, r"threshold_share must lie in \(0, 1\), got 1"),
        ({"epsilon": -1}, "epsilon must"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"hypothesis_class": Thresholds(2**50)}, r"[\d,]+ items on the teachers' lists, more than max_work"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name_and_draw_nothing(parameters, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    learner = OnlineLittlestoneLearner(
        **{"hypothesis_class": Thresholds(9), "horizon": 100, "random_state": rng} | parameters
    )
    with pytest.raises(ValueError, match=message):
        learner.stream([0, 1], [0, 1])
    assert rng.bit_generator.state == before
    assert not hasattr(learner, "privacy_")


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([0, 9], [0, 1], r"points must lie in \[0, 9\), got 9"),
        ([0, 1], [0, -1], "labels must be 0 or 1, got -1"),
        ([0, 1], [0], r"y must have shape \(2,\)"),
    ],
)
def test_data_that_will_not_do_is_refused_before_the_charge_and_in_a_stream(X, y, message):
    budget = Budget(1.0, 1e-6)
    learner = OnlineLittlestoneLearner(1.0, 1e-6, Thresholds(9), 100, budget=budget, random_state=0)
    with pytest.raises(ValueError, match=message):
        learner.stream(X, y)
    assert budget.charges == ()
    learner.stream([0, 1], [0, 1])
    with pytest.raises(ValueError, match=message):
        learner.stream(X, y)
    learner.stream([0, 1], [0, 1])  # nothing happened to the stream
