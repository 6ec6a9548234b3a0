import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import dpfast
from dpfast.accounting import Budget

callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")

LEARNERS = [
    dpfast.BoostedHalfspaceClassifier(n_rounds=3),
    dpfast.DPWinnowClassifier(n_updates=3),
    dpfast.DecisionListClassifier(max_rules=3),
    dpfast.FiniteClassLearner(),
    dpfast.HalfspaceClassifier(n_rounds=3),
    dpfast.LinearLearner(),
    dpfast.LinearMinimizer(),
    dpfast.NetHalfspaceClassifier(n_components=2),
    dpfast.ProjectedHalfspaceClassifier(n_rounds=3),
]


class Ears:
    """A callback that notes what it hears of, asks for all that it may, and wants to stop everything."""

    def __init__(self, refusing=None):
        self.heard, self.given, self.refusing = [], [], refusing

    def _note(self, what, context):
        self.heard.append((what, context.task_name))
        if what == self.refusing:
            raise RuntimeError("no")

    def setup(self, estimator, context):
        self._note("setup", context)

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.given += [X, y, metadata, fitted_estimator]
        self._note("begin", context)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.given += [X, y, metadata, fitted_estimator]
        self._note("end", context)
        return True

    def teardown(self, estimator, context):
        self._note("teardown", context)


@pytest.fixture
def table(rng):
    X = rng.random((200, 4)) < 0.5
    return X, X[:, 1]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_callbacks_hear_of_rounds_and_of_no_rows_and_change_nothing(learner, table):
    ears = Ears()
    fits = [clone(learner).set_params(random_state=0) for _ in range(2)]
    fits[0].set_callbacks(ears).fit(*table)
    fits[1].fit(*table)
    assert all(given is None for given in ears.given)
    assert ears.heard[:2] == [("setup", "fit"), ("begin", "fit")]
    assert ears.heard[-2:] == [("end", "fit"), ("teardown", "fit")]
    begun = [name for what, name in ears.heard if what == "begin"]
    assert sorted(begun) == sorted(name for what, name in ears.heard if what == "end")
    assert len(begun) > 2 or isinstance(learner, dpfast.FiniteClassLearner | dpfast.NetHalfspaceClassifier)
    assert fits[0].privacy_ == fits[1].privacy_
    public = [name for name in vars(fits[1]) if name.endswith("_") and name not in ("privacy_", "budget")]
    for name in public:
        np.testing.assert_equal(getattr(fits[0], name), getattr(fits[1], name))
    assert not hasattr(fits[0], "_callback_fit_ctx")


def test_a_callback_that_refuses_costs_nothing_and_one_that_fails_later_loses_nothing(table):
    budget = Budget(2.0, 1e-5)
    learner = dpfast.HalfspaceClassifier(n_rounds=3, budget=budget)
    for refusing in ("setup", "begin"):
        with pytest.raises(RuntimeError, match="no"):
            learner.set_callbacks(Ears(refusing)).fit(*table)
        assert budget.charges == ()
        assert not hasattr(learner, "coef_")
    ears = Ears("end")
    with pytest.raises(RuntimeError, match="no"):
        learner.set_callbacks(ears).fit(*table)
    assert len(budget.charges) == 1
    assert learner.predict(table[0]).shape == (200,)
    assert ears.heard[-1] == ("teardown", "fit")


def test_a_bar_of_scikit_learn_shows_a_pipeline(table, capsys):
    piped = make_pipeline(FunctionTransformer(), dpfast.HalfspaceClassifier(n_rounds=3, random_state=0))
    with pytest.warns(UserWarning, match="FunctionTransformer does not support"):
        piped.set_callbacks(callbacks.ProgressBar()).fit(*table)
    assert "rounds" in capsys.readouterr().out
