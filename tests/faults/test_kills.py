"""Killed at any moment: what was returned is on the disk, nothing is drawn twice, nothing private is for others."""

import os
import signal
import stat
import time
from pathlib import Path

import numpy as np
import pytest

import dpfast
from dpfast.accounting import Budget

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
MODELS = Path(__file__).parents[1] / "models_v1"


def killed(work, after):
    """Run `work` in a child process, and kill that so many seconds after it called its argument."""
    begun, begin = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(lambda: os.write(begin, b"."))
        finally:
            os._exit(1)
    os.close(begin)
    with os.fdopen(begun) as pipe:
        assert pipe.read(1) == "."
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def kills(number, rng, work):
    """Kill `work` so many times, each at another moment."""
    for _ in range(number):
        killed(work, float(rng.uniform(0, 0.05)))
        yield


def rows(start, stop):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (5000, 10)).astype(bool)
    at = np.arange(start, stop) % 5000
    return X[at], X[at, 0].astype(int)


def test_a_killed_stream_goes_on_after_the_last_call_that_returned(tmp_path, rng, many):
    path, returned = tmp_path / "stream", tmp_path / "returned"

    def work(begun):
        if path.exists():
            stream = dpfast.DPWinnowClassifier.resume(path)
        else:
            stream = dpfast.DPWinnowClassifier(epsilon=1.0, n_updates=5000, checkpoint=path)
        done = os.open(returned, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        while True:
            start = getattr(stream, "rounds_", 0)
            stream.stream(*rows(start, start + 40), classes=[0, 1])
            os.write(done, b"%d\n" % stream.rounds_)
            begun()

    released, rounds = [], 0
    for _ in kills(many(6, 150), rng, work):
        stream = dpfast.DPWinnowClassifier.resume(path)
        assert stream.rounds_ >= int(returned.read_text().split()[-1]) > rounds
        rounds, before = stream.rounds_, released
        released = [[part.tolist() for part in release] for release in stream.released_weights_]
        assert released[: len(before)] == before
        assert stream.updates_ == len(released)
        assert {entry.name for entry in tmp_path.iterdir()} <= {"stream", "stream.lock", "returned"}
        for name in ("stream", "stream.lock"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        stream.close()


def test_what_a_killed_stream_leaves_is_private_before_it_is_cleared_away(tmp_path, rng, many):
    path, seen = tmp_path / "stream", 0

    def work(begun):
        stream = dpfast.DPWinnowClassifier(epsilon=1.0, n_updates=5000, checkpoint=path)
        for start in range(0, 10**6, 40):
            stream.stream(*rows(start, start + 40), classes=[0, 1])
            begun()

    before = os.umask(0)
    try:
        for _ in kills(many(5, 50), rng, work):
            for entry in tmp_path.iterdir():
                assert stat.S_IMODE(entry.stat().st_mode) == 0o600
                seen += 1
                entry.unlink()
    finally:
        os.umask(before)
    assert seen


def test_a_killed_save_leaves_one_model_or_the_other(tmp_path, rng, many):
    path = tmp_path / "model.json"
    models = [dpfast.load(MODELS / f"{kind}.json") for kind in ("list", "winnow")]
    models[0].save(path)

    def work(begun):
        begun()
        while True:
            for model in models:
                model.save(path)

    for _ in kills(many(10, 150), rng, work):
        assert type(dpfast.load(path)) in {type(model) for model in models}
        assert stat.S_IMODE(path.stat().st_mode) & 0o022 == 0


def test_a_killed_fit_leaves_no_file(tmp_path, rng, many, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    X, y = rows(0, 2000)
    kinds = (dpfast.DecisionListClassifier, dpfast.DPWinnowClassifier, dpfast.BoostedHalfspaceClassifier)

    def work(begun):
        begun()
        for kind in kinds * 1000:
            kind(budget=Budget(1.0, 1e-5)).fit(X.astype(float), y)

    for _ in kills(many(5, 50), rng, work):
        assert not list(tmp_path.iterdir())


def test_a_killed_ledger_holds_every_charge_that_returned_and_at_most_one_more(tmp_path, rng, many):
    path, returned, before = tmp_path / "budget", tmp_path / "returned", 0
    Budget.open(path, epsilon=10**6, delta=0.1, composition="basic")
    returned.touch()

    def work(begun):
        ledger, done = Budget.open(path), os.open(returned, os.O_WRONLY | os.O_APPEND)
        while True:
            ledger.charge(0.25)
            os.write(done, b".")
            begun()

    for times, _ in enumerate(kills(many(10, 120), rng, work), 1):
        ledger, told = Budget.open(path), returned.stat().st_size
        made = len(ledger.charges)
        assert before < told <= made <= told + times  # one more a kill, made and not returned
        assert ledger.spent == (made / 4, 0.0)
        assert {entry.name for entry in tmp_path.iterdir()} <= {"budget", "budget-journal", "returned"}
        before = told
