"""Refused means untouched: no charge, no draw, no file changed, and the model as it was.

Every private learner is fitted, and then again with each parameter, and with data, that will not do. Whatever is
refused must leave all as it was; a parameter of which no value is refused is listed in FREE. To add a learner, add it
to LEARNERS; to add data, add it to DATA.
"""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
from people import few

import dpfast
from dpfast.accounting import Budget
from dpfast.littlestone import LittlestoneLearner, StagedLittlestoneLearner, Thresholds

X = np.tile([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (4, 1))
Y = np.tile([0, 1, 1], 4)
VECTORS = {"X": X, "y": Y, "classes": [0, 1]}
POINTS = {"X": np.arange(12) % 4, "y": (np.arange(12) % 4 > 1).astype(int)}

LEARNERS = {
    "boosted": (lambda: few(dpfast.BoostedHalfspaceClassifier), VECTORS),
    "finite class": (lambda: few(dpfast.FiniteClassLearner), VECTORS),
    "halfspace": (lambda: few(dpfast.HalfspaceClassifier), VECTORS),
    "linear learner": (dpfast.LinearLearner, VECTORS),
    "linear minimizer": (dpfast.LinearMinimizer, {"X": X}),
    "list": (lambda: few(dpfast.DecisionListClassifier), VECTORS),
    "littlestone": (lambda: LittlestoneLearner(9.0, 1e-6, Thresholds(4), 0.4), POINTS),
    "littlestone, staged": (lambda: StagedLittlestoneLearner(9.0, 1e-6, Thresholds(4), 0.4), POINTS),
    "net": (lambda: few(dpfast.NetHalfspaceClassifier), VECTORS),
    "projected": (lambda: few(dpfast.ProjectedHalfspaceClassifier), VECTORS),
    "winnow": (lambda: few(dpfast.DPWinnowClassifier), VECTORS),
}
VALUES = [float("nan"), -1, 1 << 62, 10**400, "no such", object()]
FREE = {"checkpoint"}  # parameters that `fit` does not read

NAN, TEXT, DEEP = X.copy(), X.astype(object), X[np.newaxis, np.newaxis]
NAN[4, 0] = np.nan
TEXT[4, 0] = "old"
DATA = {  # arguments of fit that replace the right ones
    "no rows": {"X": X[:0], "y": Y[:0]},
    "no columns": {"X": X[:, :0]},
    "not a number": {"X": NAN},
    "infinite": {"X": np.where(np.isnan(NAN), np.inf, NAN)},
    "a text": {"X": TEXT},
    "four dimensions": {"X": DEEP},
    "nothing": {"X": None},
    "a file that is not there": {"X": "no such file.csv"},
    "a masked array": {"X": np.ma.masked_array(X, mask=X == 1)},
    "labels of another length": {"y": Y[:-1]},
    "no labels": {"y": None},
    "a label that is not declared": {"y": np.where(np.arange(12) == 4, 7, Y)},
    "labels of several kinds": {"y": ["yes", *Y[1:].tolist()]},
    "one class": {"classes": [0]},
    "classes of several kinds": {"classes": [0, "1"]},
    "weights": {"sample_weight": np.ones(12)},
    "an unknown argument": {"weights": None},
    "persons of another number": {"units": np.arange(11), "rows_per_unit": 1},
    "a row of nobody": {"units": [None, *range(11)], "rows_per_unit": 1},
    "persons of several kinds": {"units": ["a", *range(11)], "rows_per_unit": 1},
    "no rows of a person": {"units": np.arange(12), "rows_per_unit": 0},
    "rows of no persons": {"rows_per_unit": 2},
}


class Witness:
    """A ledger, its folder and a generator, which a refusal leaves as they are."""

    def __init__(self, folder):
        self.folder, self.rng = folder, np.random.default_rng(5)
        self.budget = Budget.open(folder / "rows.budget", epsilon=1e6, delta=0.5)

    def refused(self, model, right, wrong, arguments):
        """Whether a fit with these parameters, one wrong, is refused; if it is, nothing may have changed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(**(right | {"budget": self.budget, "random_state": self.rng} | wrong))
            before = self._state(model)
            try:
                model.fit(**arguments)
            except (ValueError, TypeError, OSError):
                after = self._state(model)
                assert after[0] == before[0]
                for one, other in zip(before[1:], after[1:], strict=True):
                    assert one.keys() == other.keys()
                    assert all(one[name] is other[name] for name in one)
                return True
        return False

    def _state(self, model):
        files = {each.name: each.read_bytes() for each in self.folder.iterdir() if each.suffix != ".lock"}
        numbers = files, copy.deepcopy(self.rng.bit_generator.state)  # the charges are in the ledger's file
        published = {name: value for name, value in vars(model).items() if name.endswith("_")}
        return numbers, published, model.get_params(deep=False)


@pytest.fixture
def witness(tmp_path):
    return Witness(tmp_path)


def fitted(make, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make().set_params(random_state=1).fit(**arguments)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_parameter_that_will_not_do_is_refused_and_nothing_is_touched(name, witness):
    make, arguments = LEARNERS[name]
    model, right = fitted(make, arguments), make().get_params(deep=False)
    for parameter in right.keys() - FREE:
        refused = [witness.refused(model, right, {parameter: value}, arguments) for value in VALUES]
        assert any(refused), parameter


@pytest.mark.parametrize("name", LEARNERS)
def test_data_that_will_not_do_are_refused_and_nothing_is_touched(name, witness):
    make, right = LEARNERS[name]
    model = fitted(make, right)
    ignored = {"y", "classes"} if name == "linear minimizer" else set()
    for what, wrong in DATA.items():
        spared = what == "a label that is missing" and getattr(type(model), "spares_unlabelled", False)
        if not spared and not wrong.keys() <= ignored:
            assert witness.refused(model, {}, {}, right | wrong), what


def test_checked_parameters_never_change():
    checked = dpfast.HalfspaceClassifier(2.0)._checked()
    other = checked.but(epsilon=1.0)
    assert (checked.epsilon, other.epsilon, other.delta) == (2.0, 1.0, checked.delta)
    with pytest.raises(AttributeError, match="epsilon is the value of a checked parameter"):
        checked.epsilon = 3.0
    with pytest.raises(AttributeError, match="no parameter 'epsilons'"):
        _ = checked.epsilons


@pytest.mark.filterwarnings("error:calibration=:UserWarning")
def test_a_warning_that_the_caller_makes_an_error_refuses_nothing_after_a_discovery():
    X = pd.DataFrame({"a": np.arange(400) % 7, "b": np.arange(400) % 5})
    for schema, charges in (("discover", 1), ("vectors", 0)):
        budget = Budget(2.0, 1e-5)
        model = dpfast.BoostedHalfspaceClassifier(calibration="plan", margin=0.3, schema=schema, budget=budget)
        with pytest.raises(UserWarning, match='calibration="plan" needs'):
            model.fit(X, X["a"] > 3, classes=[False, True])
        assert len(budget.charges) == hasattr(model, "model_") == charges
