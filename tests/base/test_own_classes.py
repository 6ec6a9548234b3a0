"""Classes of other authors: a file finds them again among others of one name, and what they declare is checked."""

import json
import sys
import types

import numpy as np
import pytest

import dpfast
from dpfast.base import parameter, positive

SOURCE = """
from dataclasses import dataclass
import numpy as np
from dpfast.base import GaussianSum, IntArray, Model, Plan, PrivateClassifier, estimator, sqrt_up

def of_classes(piece, n_classes):
    return np.bincount(piece.labels, minlength=n_classes)

@dataclass(frozen=True)
class NamedTwice(Model):
    counts: IntArray
    def log_odds(self, rows):
        return np.tile(np.log(np.maximum(self.counts, 1)), (len(rows), 1))

@estimator
class LearnerNamedTwice(PrivateClassifier):
    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes))
    def learn(self, rows, plan, run){annotation}:
        return NamedTwice(run.release("counts", rows.sum(of_classes, rows.n_classes)))
"""


@pytest.fixture(params=["", " -> NamedTwice"], ids=["without an annotation", "annotated"])
def modules(request, monkeypatch):
    made = [types.ModuleType(name) for name in ("one_author", "another_author")]
    for module in made:
        monkeypatch.setitem(sys.modules, module.__name__, module)
        module.source = SOURCE.format(annotation=request.param)
        exec(module.source, vars(module))
    return made


def fitted(module):
    return module.LearnerNamedTwice(random_state=0).fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])


def test_two_classes_of_one_name_each_have_their_models_again(modules, tmp_path):
    for module in modules:
        fitted(module).save(tmp_path / "m.json")
        again = dpfast.load(tmp_path / "m.json")
        assert type(again) is module.LearnerNamedTwice
        assert type(again.model_) is module.NamedTwice


def test_a_class_that_is_defined_again_has_the_models_of_the_one_before(modules, tmp_path):
    module = modules[0]
    fitted(module).save(tmp_path / "m.json")
    before = module.LearnerNamedTwice
    exec(module.source, vars(module))
    again = dpfast.load(tmp_path / "m.json")
    assert type(again) is module.LearnerNamedTwice is not before


def test_a_file_of_neither_of_two_classes_is_refused(modules, tmp_path):
    from dpfast.base.saving import _digest

    fitted(modules[0]).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    del document["class"], document["digest"]  # as in older files
    (tmp_path / "m.json").write_text(json.dumps(document | {"digest": _digest(document)}))
    with pytest.raises(ValueError, match="several classes are named LearnerNamedTwice, and the file is of none of"):
        dpfast.load(tmp_path / "m.json")


def test_a_function_that_makes_a_kind_is_none():
    with pytest.raises(
        TypeError, match=r"kind must be a Kind, such as positive\(\) or count\(1, 100\), got <function positive"
    ):
        parameter(1.0, positive)
