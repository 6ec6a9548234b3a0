"""A full disk, a folder that is only read, too little memory, Ctrl-C: an error, and everything as it was before."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_paid import LEARNERS

import dpfast
from dpfast.accounting import Budget
from dpfast.parts.blocks import map_blocks

resource = pytest.importorskip("resource")
MODEL = Path(__file__).parents[1] / "models_v1" / "list.json"


def rows(n):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (n, 10)).astype(bool)
    return X, X[:, 0].astype(int)


def in_child(work):
    """Run `work` in a child process, whose limits are its own; what it returns must be true."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def fails(function, *args):
    try:
        function(*args)
    except OSError:
        return True
    return False


@pytest.fixture(params=["a limit", "a full disk"])
def full(request, tmp_path):
    """A folder, and what makes it full for this process."""
    if request.param == "a limit":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        yield tmp_path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        return
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        os.geteuid()
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("no disk can be mounted here")

    def fill():
        with open(disk / "filling", "wb", buffering=0) as file:
            while not fails(file.write, bytes(512)):
                pass

    yield disk, fill
    subprocess.run(["umount", disk], check=True)


def test_a_save_that_does_not_fit_leaves_the_model_that_was_there(full):
    folder, fill = full
    model, path = dpfast.load(MODEL), folder / "model.json"
    model.save(path)
    before = path.read_bytes()

    def work():
        fill()
        return fails(model.save, path)

    in_child(work)
    assert path.read_bytes() == before
    assert {entry.name for entry in folder.iterdir()} <= {"model.json", "filling"} | {"disk"}


def test_a_stream_whose_checkpoint_does_not_fit_is_refused_before_it_is_charged(full):
    folder, fill = full
    X, y = rows(400)

    def work():
        budget = Budget(1.0, 1e-6)
        stream = dpfast.DPWinnowClassifier(n_updates=5, budget=budget, checkpoint=folder / "stream")
        fill()
        assert fails(stream.stream, X, y)
        return budget.charges == () and not stream.__sklearn_is_fitted__()

    in_child(work)
    assert {entry.name for entry in folder.iterdir()} <= {"filling", "disk"}


def test_a_checkpoint_that_does_not_fit_leaves_the_one_that_was_there(full):
    folder, fill = full
    X, y = rows(400)
    path = folder / "stream"
    stream = dpfast.DPWinnowClassifier(n_updates=5, checkpoint=path)
    stream.stream(X[:200], y[:200], classes=[0, 1])
    before = path.read_bytes()
    stream.close()

    def work():
        again = dpfast.DPWinnowClassifier.resume(path)
        fill()
        return fails(again.stream, X[200:], y[200:])

    in_child(work)
    assert path.read_bytes() == before
    resumed = dpfast.DPWinnowClassifier.resume(path)
    assert resumed.rounds_ == 200
    resumed.close()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
def test_a_folder_that_is_only_read_is_refused(tmp_path):
    folder = tmp_path / "read"
    folder.mkdir()
    model = dpfast.load(MODEL)

    def work():
        if not os.geteuid():
            os.setuid(65534)  # to whom the folder says no
        folder_is_closed = fails(model.save, folder / "model.json")
        try:
            dpfast.DPWinnowClassifier(checkpoint=folder / "stream").stream(*rows(5), classes=[0, 1])
        except (ValueError, OSError):
            return folder_is_closed
        return False

    for parent in (tmp_path, *list(tmp_path.parents)[:2]):
        parent.chmod(0o755)
    folder.chmod(0o555)
    in_child(work)
    folder.chmod(0o755)
    assert not list(folder.iterdir())


def test_too_little_memory_for_a_fit_charges_nothing_or_what_it_says(tmp_path):
    X, y = rows(200_000)

    def work():
        budget = Budget(1.0, 1e-5, composition="basic")
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20),) * 2)
        try:
            dpfast.DecisionListClassifier(budget=budget).fit(X, y)
        except MemoryError:
            return budget.spent in ((0.0, 0.0), (1.0, 1e-6))
        return budget.spent == (1.0, 1e-6)

    if not Path("/proc/self/statm").exists():
        pytest.skip("a process does not know its size here")
    in_child(work)


@pytest.mark.parametrize("kind", ["DecisionListClassifier", "DPWinnowClassifier", "BoostedHalfspaceClassifier"])
def test_an_interrupted_fit_has_charged_all_or_nothing(kind, rng, many):
    X, y = rows(4000)
    X = X.astype(float)

    def interrupt(after):
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGINT)

    def work():
        stopped, fit = 0, lambda budget: getattr(dpfast, kind)(epsilon=1.0, delta=1e-6, budget=budget).fit(X, y)
        fit(None)  # what it imports is there then
        for _ in range(many(8, 100)):
            budget, thread = None, threading.Thread(target=interrupt, args=(float(rng.uniform(0, 0.05)),))
            try:
                thread.start()
                while thread.is_alive():
                    budget = Budget(1.0, 1e-6)
                    fit(budget)
                time.sleep(5)
            except KeyboardInterrupt:
                stopped += 1
            thread.join()
            if budget is not None and budget.spent not in ((0.0, 0.0), (1.0, 1e-6)):
                return False
        return stopped

    in_child(work)


def test_an_interrupted_command_says_so_and_leaves_no_half_of_a_file(tmp_path, rng, many):
    out = tmp_path / "model.json"
    code = "from dpfast.cli import app; print('begun', flush=True); app()"
    command = [sys.executable, "-P", "-c", code, "fit", "adult", "--epsilon", "1", "--out", out]
    for _ in range(many(1, 40)):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "begun\n"
            time.sleep(float(rng.uniform(0.1, 2.5)))
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=600)
        assert "Traceback" not in said or "dpfast" not in said.partition("Traceback")[2], said
        assert {entry.name for entry in tmp_path.iterdir()} <= {"model.json"}
        if out.exists():
            dpfast.load(out)


@pytest.mark.parametrize("setting", ["raise", "warn"])
@pytest.mark.parametrize("name", LEARNERS)
def test_what_numpy_is_set_to_raise_refuses_no_row_and_stops_no_fit(name, setting):
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[::3], X[1::5, :2] = 5e-324, 1e-310
    model = LEARNERS[name](random_state=0)
    same = LEARNERS[name](random_state=0).fit(X, X[:, 0] > 0, classes=[False, True])
    with np.errstate(all=setting), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X, X[:, 0] > 0, classes=[False, True])
    assert model.predict(X).tolist() == same.predict(X).tolist()


def test_what_numpy_is_set_to_raise_stops_no_thread_of_a_fit(monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert map_blocks(lambda number: np.float64(number) / 0.0, [1.0] * 50) == [np.inf] * 50
