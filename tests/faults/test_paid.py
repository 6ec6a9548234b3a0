"""Paid means kept: a fit or a command that stops after the charge leaves its model, or says what is spent.

Each is stopped at points after the charge, by Ctrl-C, an error, a full disk and a closed pipe.
"""

import errno
import gc
import re
import signal
import sys
from pathlib import Path

import command_line
import pytest
from points import Points, chosen

import dpfast
from dpfast.accounting import Budget
from dpfast.base import fitting, transaction
from dpfast.base.fitting import Charge
from dpfast.learners.experts.weighted_majority import RandomizedWeightedMajority

LEARNERS = {
    "boosted": lambda **more: dpfast.BoostedHalfspaceClassifier(n_rounds=3, **more),
    "finite class": lambda **more: dpfast.FiniteClassLearner(hypotheses="features", **more),
    "halfspace": lambda **more: dpfast.HalfspaceClassifier(n_rounds=3, **more),
    "linear learner": lambda **more: dpfast.LinearLearner(**more),
    "list": lambda **more: dpfast.DecisionListClassifier(max_rules=3, rule_counts=0.1, **more),
    "net": lambda **more: dpfast.NetHalfspaceClassifier(**more),
    "projected": lambda **more: dpfast.ProjectedHalfspaceClassifier(n_rounds=3, **more),
    "winnow": lambda **more: dpfast.DPWinnowClassifier(n_updates=3, probability_share=0.1, **more),
}


def interrupt():
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_that_is_interrupted_after_the_charge_is_a_model_that_says_what_was_released(
    name, tmp_path, rng, monkeypatch, many
):
    X = rng.integers(0, 2, (120, 4))

    def fitted(at=None):
        budget = Budget(100, 1e-3)
        model, points = LEARNERS[name](budget=budget), Points((Budget, "charge"), at, interrupt)
        try:
            with points.watched(monkeypatch):
                model.fit(X, X[:, 0])
        except KeyboardInterrupt:
            assert at is not None
        return model, budget, points

    fitted()  # what it imports is there then
    _, _, whole = fitted()
    for at in chosen(whole.passed, rng, many(2, 300)):
        model, budget, _ = fitted(at)
        assert budget.spent != (0.0, 0.0), at
        assert budget.spent[0] <= model.privacy_.epsilon == model.epsilon, at
        if not any(event.used for event in model.privacy_.events):
            continue  # charged, and there is nothing yet to be kept
        model.save(tmp_path / "m.json")
        again = dpfast.load(tmp_path / "m.json")
        assert again.privacy_ == model.privacy_, at
        assert again.predict(X).tolist() == model.predict(X).tolist(), at


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarms")
def test_an_alarm_whose_handler_raises_waits_until_what_was_released_is_published(rng, monkeypatch):
    def late(*_):
        raise TimeoutError("too late")

    def publish(*published):
        signal.raise_signal(signal.SIGALRM)
        fitting.publish(*published)

    X, model = rng.integers(0, 2, (120, 4)), LEARNERS["halfspace"]()
    before = signal.signal(signal.SIGALRM, late)
    try:
        monkeypatch.setattr(transaction, "publish", publish)
        with pytest.raises(TimeoutError):
            model.fit(X, X[:, 0])
        assert signal.getsignal(signal.SIGALRM) is late
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [(event.used, event.of) for event in model.privacy_.events] == [(1, 1), (3, 3), (1, 1), (1, 1)]
    assert len(model.predict(X)) == 120


class Broken:
    """A stream on which nothing can be written any more."""

    def __init__(self, stream, error):
        self._stream, self._error = stream, error

    def write(self, text):
        raise OSError(self._error, "it is broken")

    def __getattr__(self, name):
        return getattr(self._stream, name)


def full_disk(folder, monkeypatch):
    """Nothing more is written to this folder, and to standard output."""
    from dpfast.tables import replacing

    real = replacing._new_file

    def written(path, write, mode):
        if path.parent == folder:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return real(path, write, mode)

    monkeypatch.setattr(replacing, "_new_file", written)
    sys.stdout = Broken(sys.stdout, errno.ENOSPC)


def closed_pipe(*_):
    sys.stdout = Broken(sys.stdout, errno.EPIPE)


def failed(*_):
    raise RuntimeError("a fault of dpfast")


FAULTS = {"Ctrl-C": lambda *_: interrupt(), "an error": failed, "a full disk": full_disk, "a closed pipe": closed_pipe}
CHARGES = {
    "fit": (Charge, "pay"),
    "stream": (Charge, "pay"),
    "experts": (RandomizedWeightedMajority, "_start"),
}
COMMANDS = {
    "fit": "fit t.csv --label y --model decision-list",
    "fit out": "fit t.csv --label y --model boost --rounds 3 --out",
    "stream": "stream t.csv --label y --classes 0,1 --step 50",
    "stream out": "stream t.csv --label y --classes 0,1 --step 50 --out",
    "stream checkpoint": "stream t.csv --label y --classes 0,1 --step 50 --checkpoint",
    "experts": "experts t.csv",
    "experts out": "experts t.csv --out",
}
PASSED = {}  # points that a command passes after the charge if nothing stops it, counted once for all faults


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators that are closed
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_stops_after_the_charge_leaves_what_was_paid_for_or_says_what_is_spent(
    name, fault, tmp_path, rng, monkeypatch, many, tmp_path_factory
):
    command = COMMANDS[name].split()
    charge = CHARGES[command[0]]
    table = rng.integers(0, 2, (200, 3))
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *(",".join(map(str, row)) for row in table.tolist())]) + "\n")
    aside = tmp_path_factory.mktemp("aside")
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    monkeypatch.chdir(tmp_path)

    def ran(at=None):
        place = tmp_path_factory.mktemp("run")
        arguments = [*command, *([str(place / "out")] if command[-1].startswith("--") else []), "--epsilon", "1"]
        with monkeypatch.context() as patched:
            points = Points(charge, at, lambda: FAULTS[fault](place, patched))
            with points.watched(monkeypatch):
                result = command_line.run(arguments)
        return result, place / "out", points

    if name not in PASSED:
        ran()  # what it imports is there then
        result, _, whole = ran()
        assert result.exit_code == 0, result.output
        assert whole.charged
        PASSED[name] = whole.passed
    gc.freeze()  # what is there already; it would be walked through at each collection below
    for at in chosen(PASSED[name], rng, many(1, 300)):
        result, out, _ = ran(at)
        said = result.stderr.replace("\n", " ")
        undrawn = command[0] == "experts" and at <= 2  # the rounds have not begun
        if isinstance(result.exception, RuntimeError):
            assert fault == "an error"
        else:
            assert result.exception is None or isinstance(result.exception, SystemExit), (at, result.exc_info)
        kept = [path for path in re.findall(r"in (/\S+?)[,;]?(?=\s|$)", said) if "ledger" not in path]
        if result.exit_code:
            assert "spent" in said or undrawn, (at, said)
        elif not kept and command[-1] == "--out":
            kept.append(out)
        result.exc_info = result.exception = None  # which hold the stream
        gc.collect()
        for path in kept:
            if "checkpoint" in name:
                dpfast.DPWinnowClassifier.resume(path).close()
            elif "experts" in name:
                assert set(Path(path).read_text().split()) <= {"a", "b", "y"}, at
            else:
                assert dpfast.load(path).privacy_.epsilon == 1.0, at
        nothing = (
            "no file was written",
            "nothing of the stream could be kept",
            "nothing was drawn",
            "on standard output",
        )
        assert kept or not result.exit_code or undrawn or any(words in said for words in nothing), (at, said)
