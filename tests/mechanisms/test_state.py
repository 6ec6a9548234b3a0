"""Every mechanism and learner that draws from private state: one call at a time, in one process, never past its end."""

import inspect
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from forks import in_a_child

import dpfast
from dpfast import DPWinnowClassifier, RandomizedWeightedMajority, StatisticalQueryOracle
from dpfast.accounting import BudgetExceeded
from dpfast.learners import streams
from dpfast.littlestone import OnlineLittlestoneLearner, PointFunctions
from dpfast.mechanisms import AboveThreshold, RepeatedThreshold
from dpfast.mechanisms.draws import ExclusiveAccess


def _oracle():
    return StatisticalQueryOracle(np.arange(8.0)[:, np.newaxis], 1.0, 1e-6, n_queries=3)


def _experts():
    return RandomizedWeightedMajority(1.0, 1e-6, n_experts=2, horizon=3)


def _winnow():
    X, y = np.arange(16).reshape(8, 2) % 2 == 1, np.arange(8) % 2
    stream = DPWinnowClassifier(1.0, 1e-6, n_updates=3, n_draws=2)
    return stream.partial_fit(X, y, classes=[0, 1])


def _points():
    learner = OnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), 1000)
    return learner.partial_fit([1, 2], [0, 0])


STATE = {  # how to make it; its uses; whether threads may use it together; how many uses are paid for, if they end
    AboveThreshold: (
        lambda: AboveThreshold(0, 1.0, monotone="running"),
        [lambda a: a.test(10**6), lambda a: a.run(10**6), lambda a: a.add(), lambda a: a.reset()],
        False,
        1,
    ),
    RepeatedThreshold: (
        lambda: RepeatedThreshold(0, 1.0, 3),
        [lambda a: a.test(10**6), lambda a: a.run(10**6), lambda a: a.add()],
        False,
        3,
    ),
    StatisticalQueryOracle: (_oracle, [lambda a: a.answer(lambda X: X[:, 0] > 3)], True, 3),
    RandomizedWeightedMajority: (
        _experts,
        [lambda a: a.play([[0, 1]]), lambda a: a.act(), lambda a: a.observe([0, 1])],
        False,
        3,
    ),
    DPWinnowClassifier: (_winnow, [lambda a: a.partial_fit(np.array([[True, False]]), [1])], False, None),
    OnlineLittlestoneLearner: (_points, [lambda a: a.partial_fit([3], [1])], False, None),
}
USES = [
    pytest.param(kind, use, id=f"{kind.__name__}-{i}") for kind, row in STATE.items() for i, use in enumerate(row[1])
]


def test_whatever_owns_state_that_draws_is_in_the_table():
    package = Path(dpfast.__file__).parent
    owners = {path for path in package.rglob("*.py") if "ExclusiveAccess(" in path.read_text(encoding="utf-8")}
    covered = {
        Path(inspect.getsourcefile(base)) for kind in STATE for base in kind.__mro__ if "dpfast" in base.__module__
    }
    covered.add(Path(inspect.getsourcefile(streams)))  # those that learners hold
    assert owners - covered == set()
    public = [getattr(dpfast.mechanisms, name) for name in dpfast.mechanisms.__all__]
    assert {each for each in public if inspect.isclass(each)} <= set(STATE)


@pytest.mark.parametrize(("kind", "use"), USES)
def test_a_second_thread_is_refused_while_one_is_at_it(kind, use):
    make, _, shared, _ = STATE[kind]
    each, told = make(), []
    assert isinstance(each._access, ExclusiveAccess)
    if shared:
        pytest.skip("threads are counted each, by a lock")

    def second():
        try:
            use(each)
        except RuntimeError as error:
            told.append(str(error))

    with each._access.hold():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(told) == 1
    assert "in use: one call at a time" in told[0]


@pytest.mark.skipif(not hasattr(sys.modules["os"], "fork"), reason="no forks here")
@pytest.mark.parametrize(("kind", "use"), USES)
def test_a_fork_is_refused(kind, use):
    each = STATE[kind][0]()
    assert in_a_child(lambda: use(each)) == "RuntimeError"


@pytest.mark.parametrize("kind", [kind for kind, row in STATE.items() if row[3]], ids=lambda kind: kind.__name__)
def test_threads_together_get_no_more_than_what_is_paid_for(kind):
    make, (use, *_), _, paid = STATE[kind]
    each, got = make(), []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def loop():
        for _ in range(1000):
            try:
                use(each)
            except BudgetExceeded:
                return
            except (RuntimeError, ValueError) as error:
                if "in use" not in str(error):
                    return
            else:
                got.append(1)

    threads = [threading.Thread(target=loop) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert len(got) == paid


@pytest.mark.parametrize(
    ("kind", "names"),
    {
        AboveThreshold: ["threshold", "epsilon", "monotone", "noise", "threshold_scale", "test_scale", "fired", "runs"],
        RepeatedThreshold: ["threshold", "epsilon", "positives", "test_scale", "fired"],
        RandomizedWeightedMajority: ["learning_rate_", "rounds_"],
        StatisticalQueryOracle: ["noise_scale_", "n_rows_", "answered_"],
    }.items(),
    ids=lambda each: each.__name__ if inspect.isclass(each) else "",
)
def test_what_is_drawn_with_and_counted_cannot_be_set(kind, names):
    each = STATE[kind][0]()
    for name in names:
        before = getattr(each, name)
        with pytest.raises(AttributeError):
            setattr(each, name, before)
