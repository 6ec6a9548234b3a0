"""The same estimators on a Dask cluster: one model, one charge, whatever becomes of the workers."""

import os
import signal
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager

import forks
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from people import LEARNERS, OPEN, SCHEMA, TWO_SIDED, few, people, pieces, released

from dpfast import (
    BoostedHalfspaceClassifier,
    DecisionListClassifier,
    DPWinnowClassifier,
    FiniteClassLearner,
    HalfspaceClassifier,
    NetHalfspaceClassifier,
    StatisticalQueryOracle,
    TableEncoder,
    engines,
)
from dpfast.accounting import Budget
from dpfast.parts import Backend, EngineLost, MemoryParts, dask_parts
from dpfast.parts.engine import EngineParts, Failure, raise_failure
from dpfast.tables.arrays import parts_of

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


PATIENT = {"distributed.deploy.lost-worker-timeout": "1 hour"}  # a killed worker comes back, however busy the machine
QUIET = {  # what a cluster does all the time for its dashboard and its operators
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "10s",
}
ONE = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}


@contextmanager
def started(**options):
    """A client of a cluster."""
    with (
        dask.config.set(QUIET),
        distributed.LocalCluster(**(ONE | options)) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """Two workers, threads of this process to which everything is sent as to others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with started(n_workers=2, protocol="tcp") as client:
            yield client


@pytest.fixture(scope="module")
def processes():
    """Two worker processes of one thread."""
    way = {"distributed.worker.multiprocessing-method": forks.quick_start()}
    with warnings.catch_warnings(), dask.config.set(PATIENT | way):
        warnings.simplefilter("ignore")
        with started(n_workers=2, processes=True) as client:
            yield client


def delayed(frame, parts):
    return [dask.delayed(part) for part, _ in pieces(frame, parts=parts)]


# ---- one model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 3, 18])  # one is empty: 17 are summed in a tree
def test_delayed_frames_give_the_model_of_the_whole(parts, processes):
    frame = people(600)
    for learner in (*LEARNERS, *TWO_SIDED, FiniteClassLearner) if parts == 3 else LEARNERS[:1]:
        given = {"schema": SCHEMA, "epsilon": 5.0} | ({} if learner in LEARNERS else {"probability_share": 0.2})
        whole, model = (few(learner, **given).fit(X) for X in (frame, delayed(frame, parts)))
        assert released(model) == released(whole), learner
        if learner not in LEARNERS:
            np.testing.assert_array_equal(model.class_counts_, whole.class_counts_)


def test_queries_are_answered_on_the_workers(processes, rng):
    import dask.array as da

    X, y = rng.normal(size=(400, 3)), rng.random(400) < 0.3
    lazy = da.from_array(X, chunks=(150, 3)), da.from_array(y, chunks=150)
    answers = [
        StatisticalQueryOracle(data, n_queries=1, random_state=2).answer(lambda X, y: y & (X[:, 1] > 0))
        for data in (lazy, (X, y))
    ]
    assert answers[0] == answers[1]


def test_a_feature_is_drawn_on_the_workers(client):
    frame, given = people(400), {"hypotheses": "features", "schema": SCHEMA, "random_state": 1}
    model = FiniteClassLearner(0.3, **given).fit(delayed(frame, 3))
    assert released(model) == released(FiniteClassLearner(0.3, **given).fit(frame))


def test_probabilities_of_counted_classes_are_lazy(client):
    import dask.dataframe as dd

    frame = people(600)
    whole = few(FiniteClassLearner, schema=SCHEMA, epsilon=5.0, probability_share=0.2).fit(frame)
    lazy = dd.from_pandas(frame, npartitions=3)
    model = few(FiniteClassLearner, schema=SCHEMA, epsilon=5.0, probability_share=0.2).fit(lazy)
    assert released(model) == released(whole)
    said = model.predict_proba(lazy)
    assert [*said.columns] == ["no", "yes"]
    np.testing.assert_array_equal(said.compute().to_numpy(), whole.predict_proba(frame))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_frame_of_dask_gives_the_model_and_lazy_answers(learner, client):
    import dask.dataframe as dd

    frame = people(800)
    lazy = dd.from_pandas(frame, npartitions=3)
    whole = few(learner, schema=SCHEMA, epsilon=5.0).fit(frame)
    model = few(learner, schema=SCHEMA, epsilon=5.0).fit(lazy)
    assert released(model) == released(whole)
    separate = few(learner, schema=SCHEMA, epsilon=5.0).fit(lazy.drop(columns="buys"), lazy["buys"])
    assert released(separate) == released(whole)
    for name in ("predict", "predict_proba", "decision_function"):
        said = getattr(model, name)(lazy)
        assert isinstance(said, dd.Series | dd.DataFrame)
        computed = said.compute()
        np.testing.assert_array_equal(computed.to_numpy(), getattr(whole, name)(frame))
        assert computed.index.equals(frame.index)
    assert [*model.predict_proba(lazy).columns] == ["no", "yes"]


@pytest.mark.parametrize(
    ("learner", "kind"),  # what a learner does with a part of a kind is that of tests/parts/test_memory.py
    [(HalfspaceClassifier, "float32"), (DecisionListClassifier, "csr")],
)
def test_arrays_of_dask_give_the_model_and_lazy_answers(learner, kind, client, rng):
    import dask.array as da

    X = (rng.random((700, 12)) < 0.4).astype("float32" if kind == "csr" else kind)
    y = np.where(X[:, 3] + X[:, 5] > 1, "a", np.where(X[:, 1] > 0, "b", "c"))
    lazy, labels = da.from_array(X, chunks=((100, 0, 350, 250), (5, 7))), da.from_array(y, chunks=((100, 0, 350, 250),))
    if kind == "csr":
        X, lazy = sp.csr_array(X), lazy.rechunk({1: -1}).map_blocks(sp.csr_array)
    whole = few(learner).fit(X, y)
    model = few(learner).fit(lazy, labels)
    assert released(model) == released(whole)
    for name in ("predict", "predict_proba", "decision_function"):
        said = getattr(model, name)(lazy)
        assert isinstance(said, da.Array)
        np.testing.assert_array_equal(said.compute(), getattr(whole, name)(X))


def test_two_models_with_the_same_parameters_predict_together(rng):
    import dask.array as da
    import dask.dataframe as dd

    X = rng.normal(size=(200, 2))
    models = [
        HalfspaceClassifier(9.0, n_rounds=5, random_state=0, schema="vectors").fit(X, column > 0) for column in X.T
    ]
    for lazy in (da.from_array(X, chunks=(100, 2)), dd.from_pandas(pd.DataFrame(X), npartitions=2)):
        together = dask.compute(*(model.predict(lazy) for model in models), scheduler="sync")
        np.testing.assert_array_equal(together, [model.predict(X) for model in models])
        again = models[0].predict(lazy), models[0].predict(lazy)
        assert len({str(each.name if isinstance(each, da.Array) else each._name) for each in again}) == 1


def test_names_of_tasks_depend_on_nothing_that_a_pickle_leaves_out(rng):
    from dask.base import tokenize

    X = rng.integers(0, 2, size=(200, 3))
    model = HalfspaceClassifier(n_rounds=5, random_state=0).fit(X, X[:, 0], classes=[0, 1])
    named = tokenize(model)
    model.random_state = 1  # would tell the noise
    assert tokenize(model) == named
    streams = [DPWinnowClassifier(random_state=seed).partial_fit(X, X[:, 0], classes=[0, 1]) for seed in (0, 0)]
    streams[1]._state.rounds = -1  # private
    assert tokenize(streams[0]) == tokenize(streams[1])
    with pytest.raises(TypeError, match="holds private data"):
        tokenize(StatisticalQueryOracle(X, n_queries=1))


def test_arrays_of_unknown_lengths_are_learned_from(client, rng):
    import dask.array as da

    X, y = rng.normal(size=(400, 5)).astype(np.float32), rng.integers(0, 2, 400)
    lazy, labels = da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
    wanted = lazy[:, 0] > 0
    model = few(HalfspaceClassifier).fit(lazy[wanted], labels[wanted])
    assert released(model) == released(few(HalfspaceClassifier).fit(X[X[:, 0] > 0], y[X[:, 0] > 0]))


def test_what_is_open_is_found_on_the_workers_and_codes_are_lazy(client):
    import dask.dataframe as dd

    frame = people(2000)
    lazy = dd.from_pandas(frame, npartitions=3)
    model = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(lazy, classes=["no", "yes"])
    whole = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(frame, classes=["no", "yes"])
    assert released(model) == released(whole)
    encoder = TableEncoder(OPEN, 20.0, random_state=1)
    codes = encoder.fit_transform(lazy).compute()
    assert encoder.schema_ == TableEncoder(OPEN, 20.0, random_state=1).fit(frame).schema_
    np.testing.assert_array_equal(codes.to_numpy(), encoder.transform(frame).toarray())


def test_three_workers_discover_a_table_and_give_the_model_of_memory():
    import dask.dataframe as dd

    frame, given = people(400), {"schema": "discover", "epsilon": 20.0}
    lazy = dd.from_pandas(frame, npartitions=4)
    with started(n_workers=3) as own, own.as_current():
        for learner in (DecisionListClassifier, BoostedHalfspaceClassifier):
            whole, model = (few(learner, **given).fit(X, "buys", classes=["no", "yes"]) for X in (frame, lazy))
            assert released(model) == released(whole), learner


def test_persons_with_rows_in_several_parts_give_the_model_of_memory(client):
    import dask.dataframe as dd

    frame = people(600).assign(patient=np.random.default_rng(3).integers(0, 200, 600).astype(str))
    lazy = dd.from_pandas(frame, npartitions=2)
    discovered = "discover", lazy.drop(columns="patient"), lazy["patient"]
    for schema, X, whose in ((SCHEMA, lazy, "patient"), (OPEN, lazy, "patient"), discovered):
        given = {"schema": schema, "epsilon": 20.0}
        whole = few(HalfspaceClassifier, **given).fit(frame, "buys", units="patient", rows_per_unit=2)
        model = few(HalfspaceClassifier, **given).fit(X, "buys", units=whose, rows_per_unit=2)
        assert released(model) == released(whole)
        assert model.encoder_.schema_ == whole.encoder_.schema_


READS = []


def reading(part, k):
    READS.append(k)
    return part


def test_a_frame_is_read_once_and_its_labels_keep_their_type():
    import dask.dataframe as dd

    frame = people(300).drop(columns=["job"])
    frames = {"truth values": frame["buys"] == "yes", "texts": np.where(frame["buys"] == "yes", "1", "0")}

    with started() as own, own.as_current():
        for kind, labels in frames.items():
            frame["buys"] = pd.Series(labels, dtype="string[pyarrow]" if kind == "texts" else bool)
            whole = few(HalfspaceClassifier, schema="discover", epsilon=20.0).fit(frame, "buys")
            parts = [dask.delayed(reading)(frame[100 * k : 100 * (k + 1)], k) for k in range(3)]
            lazy = dd.from_delayed(parts, meta=frame[:0])
            READS.clear()
            model = few(HalfspaceClassifier, schema="discover", epsilon=20.0).fit(lazy, "buys")
            assert sorted(READS) == [0, 1, 2]
            assert released(model) == released(whole)
            assert model.classes_.dtype == whole.classes_.dtype


def test_persons_of_arrays_of_dask_give_the_model_of_memory(client, rng):
    import dask.array as da

    X, y, whose = rng.random((300, 5)) < 0.4, rng.integers(0, 2, 300), rng.integers(0, 100, 300)
    whole = few(HalfspaceClassifier).fit(X, y, units=whose, rows_per_unit=2)
    lazy = da.from_array(X, chunks=(120, 5)), da.from_array(y, chunks=120)
    for units in (whose, da.from_array(whose, chunks=200)):
        model = few(HalfspaceClassifier).fit(*lazy, units=units, rows_per_unit=2)
        assert released(model) == released(whole)


# ---- what goes wrong -----------------------------------------------------------------------------------------------


def test_bad_tables_are_refused_here_before_a_charge_and_workers_log_nothing(processes):
    import dask.dataframe as dd

    frame = people(300)
    bad = frame.astype({"smokes": object})
    bad.loc[250, "smokes"] = None
    for table, what in (
        (dd.from_pandas(frame[["age", "buys"]], npartitions=2), "lacks columns that the schema declares: 'pay', 'job'"),
        (dd.from_pandas(bad, npartitions=3), "row 51, column 'smokes' is missing, and not declared nullable"),
        ([dask.delayed(frame), frame], "must hold delayed ones only"),
    ):
        budget = Budget(1.0, 1e-6)
        with pytest.raises(ValueError, match=what):
            few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(table)
        assert budget.charges == ()
    logs = processes.get_worker_logs()
    assert not any("Failed" in line or "smokes" in line for lines in logs.values() for _, line in lines)


def test_the_names_of_tasks_tell_nothing(client):
    seen = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])
    few(DecisionListClassifier, schema=SCHEMA).fit(delayed(people(300), 2))
    seen = {*client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])} - {*seen}
    assert {name for name in seen if "dpfast" in name} <= {f"dpfast-{verb}" for verb in VERBS}


VERBS = ("ask", "make", "pair", "sum", "tell")


SOON = {"distributed.comm.timeouts.connect": "1s"}  # what is lost is given up; not while a cluster starts


def two_workers(client):
    """The processes of both workers, once both answer: one may have been killed a moment ago, and still be counted."""
    while len(processes := client.run(os.getpid, on_error="ignore")) < 2:
        client.wait_for_workers(2, timeout=600)
        time.sleep(0.05)
    return [*processes.values()]


def test_a_worker_killed_in_the_middle_changes_nothing(processes, monkeypatch):
    """Its parts are computed again where another worker, or the one that takes its place, is."""
    alive = two_workers(processes)
    processes.run(lambda: dask.config.set(SOON) and None)
    frame, budget, killed = people(), Budget(1.0, 1e-6, unit="person"), []
    frame["patient"] = np.random.default_rng(3).integers(0, 500, len(frame))
    persons = {"units": "patient", "rows_per_unit": 2}
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(frame, **persons)
    plain = dask_parts.DaskBackend._ask

    def killing(self, verb, question, public, own=None):
        futures = plain(self, verb, question, public, own)
        if not killed and budget.charges:
            killed.append(alive[0])
            os.kill(killed[0], signal.SIGKILL)
        return futures

    monkeypatch.setattr(dask_parts.DaskBackend, "_ask", killing)
    with dask.config.set(SOON):
        model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(delayed(frame, 5), **persons)
    assert killed
    assert released(model)[:1] == released(whole)[:1]
    assert len(budget.charges) == 1


@pytest.mark.parametrize(  # all that keep something of each part beside its rows
    "learner", [DecisionListClassifier, BoostedHalfspaceClassifier, NetHalfspaceClassifier, FiniteClassLearner]
)
def test_a_worker_that_joins_and_one_that_leaves_change_nothing(learner, monkeypatch):
    """What the one that leaves has held is computed again where the other is."""
    frame, budget, plain, asked, joined = people(300), Budget(1.0, 1e-6), dask_parts.DaskBackend._ask, [], []
    one_at_a_time = threading.Lock()
    whole = few(learner, schema=SCHEMA).fit(frame)
    with started() as own:
        cluster = own.cluster

        def joining(self, verb, question, public, own_of=None):
            with one_at_a_time:  # a net asks from several threads
                asked.append(question)
                if not joined and (len(asked) > 6 if learner is FiniteClassLearner else budget.charges):  # asks no more
                    first = next(iter(cluster.workers.values()))
                    cluster.scale(2)
                    own.wait_for_workers(2, timeout=600)
                    cluster.sync(first.close)
                    joined.append(question)
            return plain(self, verb, question, public, own_of)

        monkeypatch.setattr(dask_parts.DaskBackend, "_ask", joining)
        with own.as_current():
            model = few(learner, schema=SCHEMA, budget=budget).fit(delayed(frame, 4))
    assert joined
    assert released(model)[:1] == released(whole)[:1]
    assert len(budget.charges) == 1


TIMES = []


def once(part, k, then):
    """A part that is another one, or none, when it is computed again."""
    TIMES.append(k)
    if TIMES.count(k) == 1:
        return part
    if then == "an error":
        raise ValueError("a cell of a row")
    return part.iloc[::-1]


@pytest.mark.parametrize(("then", "told"), [("other rows", "has other rows than before"), ("an error", "read again")])
@pytest.mark.parametrize("when", ["before the charge", "between releases"])
def test_a_source_that_is_not_the_same_when_its_worker_is_lost_is_an_error(then, told, when, monkeypatch):
    frame, budget, plain, asked = people(300), Budget(1.0, 1e-6), dask_parts.DaskBackend._ask, []
    TIMES.clear()
    with started() as own:
        cluster = own.cluster

        def losing(self, verb, question, public, own_of=None):
            asked.extend(budget.charges if when == "between releases" else [question])
            if len(asked) == 3:
                first = next(iter(cluster.workers.values()))
                cluster.scale(2)
                own.wait_for_workers(2, timeout=600)
                cluster.sync(first.close)
            return plain(self, verb, question, public, own_of)

        monkeypatch.setattr(dask_parts.DaskBackend, "_ask", losing)
        model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget)
        table = [dask.delayed(once)(part, k, then) for k, part in enumerate((frame[:100], frame[:0], frame[100:]))]
        with own.as_current(), pytest.raises(EngineLost, match=told) as raised:
            model.fit(table)
    assert "cell" not in str(raised.value)
    assert len(budget.charges) == (when == "between releases")
    if budget.charges:
        assert sum(event.used for event in model.privacy_.events) == 2


@pytest.mark.parametrize("parts", [2, 7])
def test_what_a_round_moves_are_the_integers_of_each_part(parts, client):
    model = few(HalfspaceClassifier, schema=SCHEMA)
    counted = []
    plain = EngineParts.sum

    def noting(self, question, *public, own=None):
        before = self.moved
        total = plain(self, question, *public, own=own)
        counted.append((self.moved - before, len(self) * total.nbytes))
        return total

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineParts, "sum", noting)
        model.fit(delayed(people(), parts))
    assert all(moved == wanted for moved, wanted in counted)
    assert len(counted) == 4  # the opening, and rounds
    assert counted[1] == counted[3]


@pytest.mark.parametrize(
    ("learner", "lost"), [*((each, "workers") for each in (*LEARNERS, *TWO_SIDED)), (HalfspaceClassifier, "scheduler")]
)
def test_a_lost_cluster_is_an_error_and_what_was_released_is_paid_for(learner, lost, monkeypatch):
    monkeypatch.setattr(dask_parts, "PATIENCE", 0.2)
    monkeypatch.setattr(dask_parts, "_TICK", 0.05)
    frame, budget, plain, asked = people(300), Budget(1.0, 1e-6), dask_parts.DaskBackend._ask, []
    with ExitStack() as after, started() as own:
        cluster = own.cluster

        def losing(self, verb, question, public, own=None):
            asked.extend(budget.charges)
            if len(asked) == 3:  # since the charge
                after.enter_context(dask.config.set({"distributed.comm.timeouts.connect": "200ms"}))
                for each in [*cluster.workers.values()] if lost == "workers" else [cluster.scheduler]:
                    cluster.sync(each.close)
            return plain(self, verb, question, public, own)

        monkeypatch.setattr(dask_parts.DaskBackend, "_ask", losing)
        model = few(learner, schema=SCHEMA, budget=budget)
        with own.as_current(), pytest.raises(EngineLost, match="lost; what was released until then"):
            model.fit(delayed(frame, 2))
    assert len(budget.charges) == 1
    used, paid = np.sum([(event.used, event.of) for event in model.privacy_.events], axis=0)
    late = learner in (BoostedHalfspaceClassifier, NetHalfspaceClassifier)  # they ask more before their first release
    assert 1 - late <= used < paid
    if learner is not NetHalfspaceClassifier:  # it releases one halfspace, in the end
        assert model.predict(frame).shape == (300,)


def test_a_table_of_dask_needs_a_client(monkeypatch):
    monkeypatch.setattr(distributed, "default_client", lambda: int("none"))
    with pytest.raises(ValueError, match="make a client first"):
        parts_of([dask.delayed(people(5))], None)


def test_an_engine_of_the_client_that_is_given_asks_no_other_client(client):
    frame = people(300)
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(frame)
    with distributed.Client.as_current(object()):  # whatever is asked of the current client fails
        engine = engines.dask(delayed(frame.drop(columns="buys"), 3), delayed(frame["buys"], 3), client=client)
        assert isinstance(engine, Backend)
        for _ in range(2):  # several fits share an engine
            assert released(few(HalfspaceClassifier, schema=SCHEMA).fit(engine)) == released(whole)
    engine.close()
    engine.close()


def test_labels_must_be_in_the_parts_of_the_rows(client):
    frame = people(40)
    with pytest.raises(ValueError, match="same parts as X, got 1 and 3 parts"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(delayed(frame, 3), [dask.delayed(frame["buys"])])
    with pytest.raises(ValueError, match="must not be given beside MemoryParts"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(MemoryParts(pieces(frame)), frame["buys"])


def test_an_exception_that_cannot_travel_comes_as_text():
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__("what it says")

    failure = Failure(3, Odd(1, 2))
    for total in (failure + np.ones(2), np.ones(2) + failure, failure + failure):
        with pytest.raises(ValueError, match="what it says"):
            raise_failure(total)


def test_labels_that_are_0_and_1_in_one_part_and_truth_values_in_others_are_two_classes_as_in_memory(client):
    import dask.dataframe as dd

    frame = people(900)[["age"]]
    frame["buys"] = (frame["age"] > 50).astype(int)
    cut = [frame[:300], frame[300:600].astype({"buys": bool}), frame[600:].astype({"buys": float})]
    parted = dd.from_delayed([dask.delayed(each) for each in cut], meta=frame[:0], verify_meta=False)
    for table in (parted, pd.concat([each.astype({"buys": object}) for each in cut])):
        model = few(HalfspaceClassifier, epsilon=20.0, schema="discover").fit(table, "buys")
        assert model.classes_.tolist() == [0, 1]
        assert model.classes_.dtype == int
        assert model.score(frame[["age"]], frame["buys"]) > 0.9


def test_labels_in_categories_that_dask_does_not_know_keep_their_type(client):
    import dask.dataframe as dd

    frame = people(900)[["age"]].assign(buys=lambda frame: pd.Categorical((frame["age"] > 50).astype(int)))
    parted = dd.from_pandas(frame, npartitions=3)
    for table in (parted, parted.assign(buys=parted["buys"].cat.as_unknown())):
        model = few(HalfspaceClassifier, epsilon=20.0, schema="discover").fit(table, "buys")
        assert (model.classes_.tolist(), model.classes_.dtype.kind) == ([0, 1], "i")
