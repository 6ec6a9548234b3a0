"""The engine of the guide: two processes give the model of memory, also when one of them is killed."""

import os
import signal
from multiprocessing import get_context
from pathlib import Path

import forks
import pyarrow as pa
import pytest
from people import OPEN, SCHEMA, few, people, pieces, released
from pyarrow import parquet

from dpfast import BoostedHalfspaceClassifier, DecisionListClassifier, HalfspaceClassifier
from dpfast.accounting import Budget
from dpfast.audit import replay
from dpfast.parts import Answer, Backend, EngineLost
from dpfast.parts.engine import EngineParts

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """From a frame and a number of parts to an engine of two processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(GUIDES)
        import own_engine

        quick = get_context(forks.quick_start())
        patch.setattr(own_engine, "get_context", lambda method: quick)
        made = []

        def engine(frame, parts):
            folder = tmp_path_factory.mktemp("parts")
            paths = [folder / f"{k}.parquet" for k in range(parts)]
            for path, (part, _) in zip(paths, pieces(frame, parts=parts), strict=True):
                parquet.write_table(pa.Table.from_pandas(part, preserve_index=False), path)
            if not made:
                made.append(own_engine.Processes(parquet.read_table, []))
            other = own_engine.copy.copy(made[0])
            other._sources = paths
            return other

        yield engine
        for each in made:
            each.close()
            each.close()


@pytest.mark.parametrize("schema", [SCHEMA, OPEN])
@pytest.mark.parametrize("learner", [HalfspaceClassifier, DecisionListClassifier, BoostedHalfspaceClassifier])
def test_processes_give_the_model_of_memory(learner, schema, engines):
    frame, given = people(600), {"schema": schema, "epsilon": 20.0}
    engine = engines(frame, 5)
    assert isinstance(engine, Backend)
    whole = few(learner, **given).fit(frame, classes=["no", "yes"])
    assert released(few(learner, **given).fit(engine, classes=["no", "yes"])) == released(whole)


def test_a_process_that_is_killed_changes_nothing_and_no_part_counts_twice(engines, monkeypatch):
    frame, budget, killed = people(600), Budget(1.0, 1e-6), []
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(frame)
    engine = engines(frame, 5)
    plain = EngineParts.sum

    def killing(self, question, *public, own=None):
        if budget.charges and not killed:
            killed.append(engine._processes[1].submit(os.getpid).result())
            os.kill(killed[0], signal.SIGKILL)
        return plain(self, question, *public, own=own)

    monkeypatch.setattr(EngineParts, "sum", killing)
    model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(engine)
    assert killed
    assert released(model)[:1] == released(whole)[:1]
    assert len(budget.charges) == 1


def test_one_row_in_a_process_tells_no_more_than_was_charged(engines):
    frame = people(12)
    tables = [engines(each, 3) for each in (frame, frame.iloc[:-1])]
    model = HalfspaceClassifier(n_rounds=3, neighbors="add-remove", schema=SCHEMA)
    found = replay(model, (tables[0],), (tables[1],), classes=["no", "yes"])
    assert found.holds, found


def test_a_bad_row_is_refused_without_its_cell_before_a_charge(engines):
    frame, budget = people(60).astype({"smokes": object}), Budget(1.0, 1e-6)
    frame.loc[50, "smokes"] = None
    with pytest.raises(ValueError, match="column 'smokes' is missing"):
        few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(engines(frame, 3))
    assert budget.charges == ()


def test_parts_count_once_and_those_that_change_or_lack_are_refused(engines):
    class Odd:
        """Answers twice, then as another part, then not at all."""

        def __init__(self, answers):
            self._answers = answers

        def size(self):
            return 2

        def make(self, f, *public):
            return self

        def ask(self, f, public, own):
            return iter(self._answers.pop(0))

        def close(self):
            pass

    a, b, changed = (0, Answer(b"a", 5)), (1, Answer(b"b", 7)), (1, Answer(b"c", 7))
    parts = EngineParts(Odd([[b, a, b], [a, changed], [a]]))
    assert parts.sum(None) == 12
    with pytest.raises(EngineLost, match="other rows than before"):
        parts.sum(None)
    with pytest.raises(EngineLost, match="1 parts of the table did not answer, part 1 among them"):
        parts.sum(None)
