import json
import os
import pickle
import signal
import stat
import subprocess
import sys
from itertools import takewhile

import numpy as np
import pytest

import dpfast
from dpfast import random
from dpfast.accounting import Budget

STEP, CLASSES = 500, [0, 1]


def rows(start, stop):
    """Rows of a stream in which the majority of the first three of ten features decides, mostly."""
    rng = np.random.default_rng(7)
    X, noisy = rng.integers(0, 2, (40_000, 10)).astype(bool), rng.random(40_000) < 0.2
    return X[start:stop], ((X[:, :3].sum(axis=1) > 1) ^ noisy).astype(int)[start:stop]


def learner(**options):
    return dpfast.DPWinnowClassifier(**{"epsilon": 1.0, "n_updates": 100, "random_state": 3, **options})


def follow(stream, start, stop):
    return [stream.stream(*rows(i, i + STEP), classes=CLASSES).tolist() for i in range(start, stop, STEP)]


def same_releases(one, other):
    return [[a.tolist() for a in release] for release in one] == [[a.tolist() for a in release] for release in other]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stream.ckpt"


def test_a_resumed_stream_is_the_one_that_was_stopped(path):
    begun = learner(checkpoint=path, n_updates=30, n_draws=4, epsilon=1.5, delta=1e-5, negations=False)
    follow(begun, 0, 4000)
    resumed = dpfast.DPWinnowClassifier.resume(path)
    assert type(resumed) is type(begun)
    assert resumed.rounds_ == begun.rounds_ == 4000
    assert resumed.privacy_ == begun.privacy_
    assert resumed.learning_rate_ == begun.learning_rate_
    assert resumed.classes_.tolist() == CLASSES
    assert same_releases(resumed.released_weights_, begun.released_weights_)
    assert (resumed._state.scores.array() == begun._state.scores.array()).all()
    assert resumed._state.tests._state() == begun._state.tests._state()
    parameters = {**resumed.get_params(), "feature_range": tuple(resumed.feature_range)}
    assert parameters == {**begun.get_params(), "random_state": None, "budget": None}


@pytest.mark.parametrize("options", [{}, {"schedule": "fixed", "horizon": 10_000}, {"batch": 300}, {"average": False}])
def test_with_the_same_noise_a_resumed_stream_goes_on_as_if_it_had_not_stopped(path, options):
    whole, begun = learner(**options), learner(checkpoint=path, **options)
    expected = follow(whole, 0, 10_000)
    shown = follow(begun, 0, 5000)
    resumed = dpfast.DPWinnowClassifier.resume(path)
    resumed._state.rng = begun._state.rng
    if resumed._state.tests is not None:
        resumed._state.tests._rng = begun._state.rng
    assert shown + follow(resumed, 5000, 10_000) == expected
    assert resumed.updates_ > begun.updates_
    assert same_releases(resumed.released_weights_, whole.released_weights_)
    assert (resumed._state.scores.array() == whole._state.scores.array()).all()


def test_noise_is_fresh_and_a_seed_is_not_forgotten(path):
    follow(learner(checkpoint=path), 0, 1000)
    one, other = dpfast.DPWinnowClassifier.resume(path), dpfast.DPWinnowClassifier.resume(path)
    assert isinstance(one._state.rng.bit_generator, random.SystemKeyed)
    for stream in (one, other):
        stream.checkpoint = None
        follow(stream, 1000, 20_000)
    assert not same_releases(one.released_weights_, other.released_weights_)
    assert one.privacy_.reproducible  # some of its noise is
    follow(unseeded := learner(checkpoint=path.with_name("other"), random_state=None), 0, 1000)
    assert not unseeded.privacy_.reproducible
    assert not dpfast.DPWinnowClassifier.resume(path.with_name("other")).privacy_.reproducible


KILLED = """
import os, sys, time
sys.path.insert(0, sys.argv[2])
from test_checkpoint import STEP, CLASSES, learner, rows

def hang(partial, path):
    if int(stream.rounds_) > 10_000:
        print("in the middle of a call", flush=True)
        time.sleep(60)
    replace(partial, path)

replace, os.replace = os.replace, hang
stream = learner(checkpoint=sys.argv[1], random_state=None)
for i in range(0, 40_000, STEP):
    stream.stream(*rows(i, i + STEP), classes=CLASSES)
    print(stream._released(), flush=True)
"""


def test_after_kill_9_nothing_that_was_shown_is_forgotten_and_the_rest_is_fed_again(path):
    command = [sys.executable, "-P", "-c", KILLED, str(path), os.path.dirname(__file__)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        shown = list(takewhile(lambda line: line != "in the middle of a call\n", process.stdout))
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    resumed = dpfast.DPWinnowClassifier.resume(path)
    assert resumed.rounds_ == 10_000 == STEP * len(shown)
    released = json.loads(shown[-1])
    assert resumed._released() == released
    before = resumed.updates_
    follow(resumed, 10_000, 40_000)
    assert resumed.rounds_ == 40_000
    assert before < resumed.updates_ <= 100
    assert resumed._released()[: len(released)] == released
    assert dpfast.DPWinnowClassifier.resume(path).rounds_ == 40_000
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_budget_is_charged_when_a_stream_begins_and_not_again(path):
    budget = Budget(1.0, 1e-6)
    follow(learner(checkpoint=path, budget=budget), 0, 3000)
    resumed = dpfast.DPWinnowClassifier.resume(path)
    assert resumed.budget is None
    follow(resumed, 3000, 30_000)
    assert budget.left == (0.0, 0.0)
    assert resumed.privacy_.epsilon == 1.0
    assert resumed.privacy_.events[0].used == resumed.updates_ <= 100


def test_a_resumed_stream_makes_no_more_updates_than_were_paid_for(path):
    follow(learner(checkpoint=path, n_updates=2), 0, STEP)
    while (resumed := dpfast.DPWinnowClassifier.resume(path)).updates_ < 2:
        follow(resumed, resumed.rounds_, resumed.rounds_ + STEP)
    before = resumed._released()
    with pytest.warns(UserWarning, match="all 2 updates are made"):
        follow(resumed, 30_000, 30_000 + STEP)
    assert resumed._released() == before


def test_only_a_checkpoint_holds_the_private_state(path, tmp_path):
    stream = learner(checkpoint=path)
    follow(stream, 0, 1000)
    secret = 0x5EC4E75EC4E7
    stream._state.scores.array()[:] = secret
    stream._state.tests._count = secret
    private = [stream._state.scores.array()[:1].tobytes(), str(secret).encode()]
    dpfast.learners.checkpoint.write(path, stream)
    stream.save(tmp_path / "model.json")
    saved, pickled = (tmp_path / "model.json").read_bytes(), pickle.dumps(stream)
    assert all(secret in path.read_bytes() for secret in private)
    for public in (saved, pickled, repr(stream).encode(), repr(vars(pickle.loads(pickled))).encode()):
        assert not any(secret in public for secret in private)
        assert b"SystemKeyed" not in public
        assert b"tests" not in public
    assert path.name.encode() not in saved
    assert stream.checkpoint == path
    for model in (pickle.loads(pickled), dpfast.load(tmp_path / "model.json")):
        assert (model.predict(rows(0, 50)[0]) == stream.predict(rows(0, 50)[0])).all()
        with pytest.raises(ValueError, match="no stream to go on with"):
            model.partial_fit(*rows(0, 50))


def test_the_file_is_its_owners_and_says_that_it_is_private(path):
    before = os.umask(0)
    try:
        follow(learner(checkpoint=path), 0, 1000)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"PRIVATE" in path.read_bytes().splitlines()[0]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_a_killed_process_left_behind_is_replaced(path):
    path.with_name("stream.ckpt.part").write_text("half")
    follow(learner(checkpoint=path), 0, 1000)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_call_that_is_not_kept_shows_nothing(path, monkeypatch, failure):
    stream = learner(checkpoint=path)
    follow(stream, 0, 1000)
    kept, before, privacy = path.read_bytes(), stream._released(), stream.privacy_

    def fail(*_):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(failure):
            stream.stream(*rows(1000, 20_000))
    assert stream._released() == before
    assert stream.privacy_ == privacy
    assert path.read_bytes() == kept
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with pytest.raises(ValueError, match="interrupted"):
        stream.stream(*rows(1000, 2000))
    assert dpfast.DPWinnowClassifier.resume(path).rounds_ == 1000


def test_a_new_stream_does_not_write_over_a_checkpoint(path):
    budget = Budget(1.0, 1e-6)
    path.write_text("something")
    with pytest.raises(ValueError, match=r"stream\.ckpt exists"):
        follow(learner(checkpoint=path, budget=budget), 0, 1000)
    with pytest.raises(ValueError, match="cannot be written"):
        follow(learner(checkpoint=path.parent / "no" / "folder", budget=budget), 0, 1000)
    assert budget.spent == (0.0, 0.0)
    assert path.read_text() == "something"


@pytest.fixture
def kept(path):
    follow(learner(checkpoint=path), 0, 4000)
    return path.read_bytes()


@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_short_is_refused(path, kept, share):
    path.write_bytes(kept[: int(share * len(kept))])
    with pytest.raises(ValueError, match=r"stream\.ckpt is not a whole checkpoint \(cut short\?\)"):
        dpfast.DPWinnowClassifier.resume(path)


def test_other_files_are_refused(path, kept, tmp_path):
    path.write_bytes(kept.replace(b'"version": 1', b'"version": 99'))
    with pytest.raises(ValueError, match=r"format version 99, this dpfast reads up to 1: install a newer one"):
        dpfast.DPWinnowClassifier.resume(path)
    path.write_bytes(kept.replace(b'"model": "winnow"', b'"model": "oracle"'))
    with pytest.raises(ValueError, match="a stream of kind 'oracle', not 'winnow'"):
        dpfast.DPWinnowClassifier.resume(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"stream\.ckpt is not a dpfast checkpoint"):
        dpfast.DPWinnowClassifier.resume(path)
    with pytest.raises(FileNotFoundError):
        dpfast.DPWinnowClassifier.resume(tmp_path / "absent")


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'"n_features": 10', b'"n_features": 11'),
        (b'"exponent"', b'"element"'),
        (b'"runs"', b'"walks"'),
        (b'"epsilon": 1.0, "feature', b'"epsilom": 1.0, "feature'),
        (b'"released": [', b'"released": [[[1], []], '),
        (b'"of": 100', b'"of": 0'),
    ],
)
def test_a_damaged_file_is_refused(path, kept, was, becomes):
    assert kept.count(was) == 1
    path.write_bytes(kept.replace(was, becomes))
    with pytest.raises(ValueError, match=r"stream\.ckpt is damaged"):
        dpfast.DPWinnowClassifier.resume(path)
