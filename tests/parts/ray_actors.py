"""What test_ray.py runs in a process of its own: Ray leaves processes and warnings behind.

Prints a line of JSON for each check: its name, and its error or nothing. Ends with status 3 if Ray does not start.
"""

import json
import os
import sys
import traceback
import warnings
from pathlib import Path

import pyarrow as pa
import pytest
import ray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from people import LEARNERS, OPEN, SCHEMA, TWO_SIDED, few, people, pieces, released

from dpfast import FiniteClassLearner, HalfspaceClassifier, engines
from dpfast.accounting import Budget
from dpfast.audit import replay
from dpfast.parts import Backend
from dpfast.parts.engine import EngineParts

PEOPLE = people(600).assign(patient=[k * k % 211 for k in range(600)])


def tables(frame, parts):
    return [ray.put(pa.Table.from_pandas(part, preserve_index=False)) for part, _ in pieces(frame, parts=parts)]


def actors_give_the_model_of_memory_for_every_learner(actors):
    assert isinstance(actors, Backend)
    for learner in [*LEARNERS, *TWO_SIDED, FiniteClassLearner]:
        for schema in (SCHEMA, OPEN) if getattr(learner(), "delta", 0) else (SCHEMA,):  # words cost some delta
            whole, model = (few(learner, schema=schema, epsilon=20.0).fit(X) for X in (PEOPLE, actors))
            assert released(model) == released(whole), (learner, schema)
    for persons in ({}, {"units": "patient", "rows_per_unit": 2}):
        whole = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(PEOPLE, **persons)
        assert released(few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(actors, **persons)) == released(whole)


def an_actor_that_is_killed_changes_nothing(actors):
    budget, killed, plain = Budget(1.0, 1e-6, unit="person"), [], EngineParts.sum
    persons = {"units": "patient", "rows_per_unit": 2}
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(PEOPLE, **persons)

    def killing(self, question, *public, own=None):
        if budget.charges and not killed:
            killed.append(self._backend._actors[0])
            ray.kill(killed[0], no_restart=False)
        return plain(self, question, *public, own=own)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineParts, "sum", killing)
        model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(actors, **persons)
    assert killed
    assert released(model)[:1] == released(whole)[:1]
    assert len(budget.charges) == 1


def one_row_in_an_actor_tells_no_more_than_was_charged(actors):
    frame = people(12)
    neighbors = [engines.ray(tables(each, 3), actors=1) for each in (frame, frame.iloc[:-1])]
    model = HalfspaceClassifier(n_rounds=3, neighbors="add-remove", schema=SCHEMA)
    found = replay(model, (neighbors[0],), (neighbors[1],), classes=["no", "yes"])
    assert found.holds, found
    assert found.ratios


def a_bad_row_is_refused_before_a_charge_and_its_text_is_in_no_log(actors):
    frame, budget = PEOPLE.astype({"smokes": object}), Budget(1.0, 1e-6)
    frame.loc[500, "smokes"] = None
    with pytest.raises(ValueError, match="column 'smokes' is missing"):
        few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(tables(frame, 1))
    assert budget.charges == ()
    with pytest.raises(ValueError, match="y must be the name of a column"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(tables(PEOPLE, 3), PEOPLE["buys"])
    folder = os.path.join(ray._private.worker._global_node.get_session_dir_path(), "logs")
    for root, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), errors="replace") as file:
                assert "smokes" not in file.read(), name


CHECKS = (
    actors_give_the_model_of_memory_for_every_learner,
    an_actor_that_is_killed_changes_nothing,
    one_row_in_an_actor_tells_no_more_than_was_charged,
    a_bad_row_is_refused_before_a_charge_and_its_text_is_in_no_log,
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    except Exception:  # it gives up after half a minute, on a busy machine too
        traceback.print_exc()
        sys.exit(3)
    held = engines.ray(tables(PEOPLE, 5))  # in two actors
    for check in CHECKS:
        try:
            check(held)
            print(json.dumps([check.__name__, ""]), flush=True)
        except Exception:
            print(json.dumps([check.__name__, traceback.format_exc()]), flush=True)
    ray.shutdown()
