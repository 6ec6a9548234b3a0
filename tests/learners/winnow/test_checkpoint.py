import errno
import functools
import hashlib
import json
import os
import pickle
import shutil
import signal
import stat
import time
from itertools import takewhile

import numpy as np
import pytest
import scipy.sparse as sp
from forks import fork

import dpfast
from dpfast import random
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.learners.winnow import checkpoint
from dpfast.tables import replacing

STEP, CLASSES = 500, [0, 1]


def rows(start, stop):
    """Rows of a stream in which the majority of the first three of ten features decides, mostly."""
    X, y = _rows()
    return X[start:stop], y[start:stop]


@functools.cache
def _rows():
    rng = np.random.default_rng(7)
    X, noisy = rng.integers(0, 2, (40_000, 10)).astype(bool), rng.random(40_000) < 0.2
    return X, ((X[:, :3].sum(axis=1) > 1) ^ noisy).astype(int)


def learner(**options):
    return dpfast.DPWinnowClassifier(**{"epsilon": 1.0, "n_updates": 100, "random_state": 3, **options})


def follow(stream, start, stop):
    return [stream.stream(*rows(i, i + STEP), classes=CLASSES).tolist() for i in range(start, stop, STEP)]


def same_releases(one, other):
    return [[a.tolist() for a in release] for release in one] == [[a.tolist() for a in release] for release in other]


def resume(path, **moved):
    return dpfast.DPWinnowClassifier.resume(path, **moved)


def freed(stream):
    """The estimator without its stream, so that the file is free for another to go on with."""
    stream.close()
    return stream


def files(path):
    return sorted(entry.name for entry in path.parent.iterdir())


KEPT = ["stream.ckpt", "stream.ckpt.lock"]
needs_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "stream.ckpt"


def test_a_resumed_stream_is_the_one_that_was_stopped(path):
    begun = learner(checkpoint=path, n_updates=30, n_draws=4, epsilon=1.5, delta=1e-5, negations=False)
    follow(begun, 0, 4000)
    state, rounds = begun._state, begun.rounds_
    state.file = None
    resumed = resume(path)
    assert type(resumed) is type(begun)
    assert resumed.rounds_ == rounds == 4000
    assert resumed.privacy_ == begun.privacy_
    assert resumed.learning_rate_ == begun.learning_rate_
    assert resumed.classes_.tolist() == CLASSES
    assert resumed._state.document() == state.document()
    for one, other in zip(resumed._state.scores.arrays(), state.scores.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    parameters = {**resumed.get_params(), "feature_range": tuple(resumed.feature_range)}
    assert parameters == {**begun.get_params(), "random_state": None, "budget": None}
    fitted = {name for name in vars(begun) if name.endswith("_")}
    assert {name for name in vars(resumed) if name.endswith("_")} == fitted
    assert resumed._saver.released() == begun._saver.released()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"schedule": "fixed", "horizon": 10_000},
        {"batch": 300},
        {"average": False},
        {"window": True, "n_updates": 5},
    ],
)
def test_with_the_same_noise_a_resumed_stream_goes_on_as_if_it_had_not_stopped(path, options):
    whole, begun = learner(**options), learner(checkpoint=path, **options)
    expected = follow(whole, 0, 10_000)
    shown = follow(begun, 0, 5000)
    before, rng = begun.updates_, begun._state.fit.rng
    resumed = resume(path) if freed(begun) else None
    state = resumed._state
    state.fit.rng = rng
    if hasattr(state.tests, "_rng"):
        state.tests._rng = rng
    assert shown + follow(resumed, 5000, 10_000) == expected
    assert resumed.updates_ == whole.updates_ > before
    assert same_releases(resumed.released_weights_, whole.released_weights_)
    for one, other in zip(state.scores.arrays(), whole._state.scores.arrays(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_noise_is_fresh_and_a_seed_is_not_forgotten(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    freed(begun)
    for name, copy in ((KEPT[0], "copy"), (KEPT[1], "copy.lock")):
        shutil.copy(path.with_name(name), path.with_name(copy))
    one, other = resume(path), resume(path.with_name("copy"), moved=True)
    assert isinstance(one._state.fit.rng.bit_generator, random.SystemKeyed)
    for stream in (one, other):
        follow(stream, 1000, 20_000)
    assert not same_releases(one.released_weights_, other.released_weights_)
    assert one.privacy_.reproducible  # some of its noise is
    assert "reproducible" in str(resume(freed(one).checkpoint).privacy_)
    unseeded = learner(checkpoint=path.with_name("other"), random_state=None)
    follow(unseeded, 0, 1000)
    assert not freed(unseeded).privacy_.reproducible
    assert not resume(path.with_name("other")).privacy_.reproducible


def streams_until_it_hangs(path, told):
    """Tell what each call releases, then "in the middle of a call", and hang there."""
    replace, stream = os.replace, learner(checkpoint=path, random_state=None)

    def hang(partial, path):
        if int(stream.rounds_) > 10_000:
            told.write("in the middle of a call\n")
            told.flush()
            time.sleep(600)
        replace(partial, path)

    os.replace = hang
    for i in range(0, 40_000, STEP):
        stream.stream(*rows(i, i + STEP), classes=CLASSES)
        told.write(json.dumps(stream._saver.released()) + "\n")


@needs_forks
def test_after_kill_9_nothing_that_was_shown_is_forgotten_and_the_rest_is_fed_again(path):
    read, write = os.pipe()
    child = fork()
    if child == 0:
        try:
            streams_until_it_hangs(path, os.fdopen(write, "w"))
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as told:
        shown = list(takewhile(lambda line: line != "in the middle of a call\n", told))
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert len(files(path)) == 3  # a private file was being written
    resumed = resume(path)
    assert files(path) == KEPT
    assert resumed.rounds_ == 10_000 == STEP * len(shown)
    shown = json.loads(shown[-1])
    assert resumed._saver.released() == shown
    before = resumed.updates_
    follow(resumed, 10_000, 40_000)
    assert resumed.rounds_ == 40_000
    assert before < resumed.updates_ <= 100
    assert resumed._saver.released()["weights"][: len(shown["weights"])] == shown["weights"]
    assert files(path) == KEPT
    freed(resumed)
    assert resume(path).rounds_ == 40_000


def test_the_budget_is_charged_when_a_stream_begins_and_not_again(path):
    budget = Budget(1.0, 1e-6)
    begun = learner(checkpoint=path, budget=budget)
    follow(begun, 0, 3000)
    resumed = resume(path) if freed(begun) else None
    assert resumed.budget is None
    follow(resumed, 3000, 30_000)
    assert budget.left == (0.0, 0.0)
    assert resumed.privacy_.epsilon == 1.0
    assert resumed.privacy_.events[0].used == resumed.updates_ <= 100


def test_a_resumed_stream_makes_no_more_updates_than_were_paid_for(path):
    begun = learner(checkpoint=path, n_updates=2)
    follow(begun, 0, STEP)
    freed(begun)
    while (resumed := resume(path)).updates_ < 2:
        follow(resumed, resumed.rounds_, resumed.rounds_ + STEP)
        freed(resumed)
    before = resumed._saver.released()
    with pytest.warns(UserWarning, match="all 2 updates are made"):
        follow(resumed, 30_000, 30_000 + STEP)
    assert resumed._saver.released() == before


def test_only_a_checkpoint_holds_the_private_state(path, tmp_path):
    stream = learner(checkpoint=path)
    follow(stream, 0, 1000)
    secret = 0x5EC4E75EC4E7
    for array in stream._state.scores.arrays():
        array[:] = secret
    stream._state.tests._count = secret
    private = [np.full(1, secret).tobytes(), str(secret).encode()]
    stream._state.file.write(
        "winnow",
        {"fitted": stream._saver.document(), "stream": stream._state.document()},
        stream._state.scores.arrays(),
    )
    stream.save(tmp_path / "model.json")
    saved, pickled = (tmp_path / "model.json").read_bytes(), pickle.dumps(stream)
    assert all(secret in path.read_bytes() for secret in private)
    for public in (saved, pickled, repr(stream).encode(), repr(vars(pickle.loads(pickled))).encode()):
        assert not any(secret in public for secret in private)
        assert b"SystemKeyed" not in public
        assert b"tests" not in public
    assert path.name.encode() not in saved
    assert b"_access" not in pickled
    assert stream.checkpoint == path
    for model in (pickle.loads(pickled), dpfast.load(tmp_path / "model.json")):
        assert (model.predict(rows(0, 50)[0]) == stream.predict(rows(0, 50)[0])).all()
        with pytest.raises(ValueError, match="no stream to continue"):
            model.partial_fit(*rows(0, 50))


def test_the_file_is_its_owners_and_says_that_it_is_private(path):
    before = os.umask(0)
    try:
        follow(learner(checkpoint=path), 0, 1000)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"PRIVATE" in path.read_bytes().splitlines()[0]
    assert files(path) == KEPT
    assert stat.S_IMODE(path.with_name(KEPT[1]).stat().st_mode) == 0o600


@pytest.mark.parametrize("start", [resume, lambda path: follow(learner(checkpoint=path), 0, 1000)])
def test_what_a_killed_process_left_behind_is_gone_after_the_next_start(path, start):
    if start is resume:
        begun = learner(checkpoint=path)
        follow(begun, 0, 1000)
        freed(begun)
    path.with_name("stream.ckpt.0123456789abcdef.part").write_text("half, and private")
    start(path)
    assert files(path) == KEPT


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_call_that_is_not_kept_shows_nothing(path, monkeypatch, failure):
    stream = learner(checkpoint=path)
    follow(stream, 0, 1000)
    kept, before, privacy = path.read_bytes(), stream._saver.released(), stream.privacy_

    def fail(*_):
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(failure):
            stream.stream(*rows(1000, 20_000))
    assert stream._saver.released() == before
    assert stream.privacy_ == privacy
    assert path.read_bytes() == kept
    assert files(path) == KEPT
    with pytest.raises(ValueError, match="interrupted"):
        stream.stream(*rows(1000, 2000))
    assert resume(path).rounds_ == 1000


def test_a_new_stream_does_not_write_over_a_checkpoint(path):
    budget = Budget(1.0, 1e-6)
    path.write_text("something")
    with pytest.raises(ValueError, match=r"stream\.ckpt exists"):
        follow(learner(checkpoint=path, budget=budget), 0, 1000)
    with pytest.raises(ValueError, match="cannot be written"):
        follow(learner(checkpoint=path.parent / "no" / "folder", budget=budget), 0, 1000)
    assert budget.spent == (0.0, 0.0)
    assert path.read_text() == "something"
    assert files(path) == ["stream.ckpt"]


def test_a_stream_that_is_refused_leaves_no_file_and_the_place_to_others(path, monkeypatch):
    def refuse(*arguments, **more):
        raise BudgetExceeded("another process was faster")

    with monkeypatch.context() as patched:
        patched.setattr(Budget, "charge", refuse)
        with pytest.raises(BudgetExceeded):
            follow(learner(checkpoint=path, budget=Budget(1.0, 1e-6)), 0, STEP)
    assert files(path) == []
    begun = learner(checkpoint=path)
    follow(begun, 0, STEP)
    with pytest.raises(BlockingIOError):
        follow(learner(checkpoint=path), 0, STEP)
    assert files(path) == KEPT
    begun.close()
    with pytest.raises(ValueError, match="exists"):
        follow(learner(checkpoint=path), 0, STEP)
    assert files(path) == KEPT
    assert resume(path).rounds_ == STEP


def test_a_lock_that_was_removed_while_another_waited_for_it_is_made_anew(path):
    lock = path.with_name("stream.ckpt.lock")
    first = checkpoint._Lock(lock)
    first.remove()
    second = checkpoint._Lock(lock)
    with pytest.raises(BlockingIOError):
        checkpoint._Lock(lock)
    assert second.is_there()
    assert not first.is_there()


@pytest.mark.parametrize(
    ("options", "sparse"),
    [({}, False), ({}, True), ({"window": True, "n_updates": 4}, False), ({"average": False, "n_draws": 50}, False)],
    ids=str,
)
def test_what_is_written_before_the_charge_is_no_smaller_than_the_first_checkpoint(path, options, sparse, monkeypatch):
    sizes = []

    def rehearsed(path, write, mode):
        replacing.rehearse_file(path, lambda file: (write(file), sizes.append(file.tell())), mode)

    monkeypatch.setattr(checkpoint, "rehearse_file", rehearsed)
    X, y = rows(0, 4000)
    if sparse:
        X = sp.csr_array((X[:, 0] - 0.5, np.arange(4000) << 13, np.arange(4001)), shape=(4000, 1 << 25))
    stream = learner(checkpoint=path, epsilon=30.0, **options)
    stream.stream(X, y, classes=CLASSES)
    assert stream.updates_ > 2
    assert [path.stat().st_size <= size < 10**7 for size in sizes] == [True]


@pytest.mark.skipif(os.name != "posix", reason="names of 255 bytes")
def test_a_name_that_is_too_long_for_the_files_of_a_stream_is_refused_before_the_charge(path):
    budget = Budget(1.0, 1e-6)
    for name in ("n" * 251, "n" * 255, "n" * 300):
        with pytest.raises(OSError, match="too long"):
            follow(learner(checkpoint=path.with_name(name), budget=budget), 0, STEP)
    assert budget.charges == ()
    follow(learner(checkpoint=path.with_name("n" * 250), budget=budget), 0, STEP)
    assert budget.charges != ()


# ---- one at a time -----------------------------------------------------------------------------------------------


@needs_forks
def test_two_streams_do_not_go_on_with_one_checkpoint(path):
    go_on, told = os.pipe(), os.pipe()
    other = fork()  # before any stream, of which it has nothing
    if other == 0:
        try:
            os.close(go_on[1])
            os.read(go_on[0], 1)
            try:
                resume(path)
            except OSError as refusal:
                os.write(told[1], str(refusal).encode())
            os.read(go_on[0], 1)
            resume(path)
            os.write(told[1], b"resumed")
        finally:
            os._exit(0)
    os.close(told[1])
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    with pytest.raises(OSError, match=r"stream\.ckpt is in use: one stream at a time"):
        resume(path)
    resumed = resume(path) if freed(begun) else None
    os.write(go_on[1], b".")
    assert b"stream.ckpt is in use" in os.read(told[0], 1000)
    follow(resumed, 1000, 2000)
    freed(resumed)
    os.write(go_on[1], b".")
    assert os.read(told[0], 1000) == b"resumed"
    os.waitpid(other, 0)
    for end in (*go_on, told[0]):
        os.close(end)


@pytest.mark.skipif(checkpoint.fcntl is None, reason="other locks here")
def test_a_disk_that_gives_no_locks_is_refused_before_the_charge(path, monkeypatch):
    def refused(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    budget = Budget(9.0, 1e-5)
    with monkeypatch.context() as at:
        at.setattr(checkpoint.fcntl, "flock", refused)
        with pytest.raises(OSError, match="cannot be locked, and a checkpoint needs that: No locks available"):
            follow(learner(checkpoint=path, budget=budget), 0, STEP)
    assert (budget.charges, files(path)) == ((), [])


def test_a_place_is_held_from_the_first_call_on(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, STEP)
    path.unlink()
    with pytest.raises(OSError, match="in use"):
        follow(learner(checkpoint=path), 0, STEP)
    follow(begun, STEP, 2 * STEP)
    assert files(path) == KEPT


def test_an_older_copy_in_its_place_is_refused_and_a_younger_one_is_not(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    old = path.read_bytes()
    follow(begun, 1000, 1500)
    young = path.read_bytes()
    freed(begun)
    path.write_bytes(old)
    with pytest.raises(ValueError, match=r"an older copy, number 2 of its stream, which was kept up to number 3 since"):
        resume(path)
    path.write_bytes(young)
    lock = path.with_name(KEPT[1])
    last, name = lock.read_bytes().split(b" ")[:2]
    lock.write_bytes(b"%020d %s" % (int(last) - 1, name))  # killed after the file was written and before its number was
    assert resume(path).rounds_ == 1500


def test_after_a_kill_between_a_checkpoint_and_its_lock_the_older_one_is_refused_once_the_new_one_was_resumed(
    path, monkeypatch
):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    old = path.read_bytes()
    with monkeypatch.context() as at:
        at.setattr(checkpoint._Lock, "keep", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            follow(begun, 1000, 1500)
    freed(begun)
    again = resume(path)
    assert again.rounds_ == 1500
    freed(again)
    path.write_bytes(old)
    with pytest.raises(ValueError, match=r"an older copy, number 2 of its stream, which was kept up to number 3 since"):
        resume(path)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
@pytest.mark.parametrize("moved", [False, True])
def test_older_content_of_a_checkpoint_and_its_lock_is_refused(path, tmp_path, moved):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    try:
        os.getxattr(path.with_name(KEPT[1]), checkpoint._NOTED)
    except OSError:
        pytest.skip("this file system stores no extended attributes")
    folder = tmp_path / "backup"
    folder.mkdir()
    for name in KEPT:
        shutil.copyfile(path.with_name(name), folder / name)
    follow(begun, 1000, 1500)
    freed(begun)
    for name in KEPT:  # cp backup/* .
        shutil.copyfile(folder / name, path.with_name(name))
    with pytest.raises(ValueError, match=r"an older copy, number 2 of its stream, which was kept up to number 3 since"):
        resume(path, moved=moved)
    for name in KEPT:  # a new stream under this name begins anew
        path.with_name(name).unlink()
    other = learner(checkpoint=path)
    follow(other, 0, 500)
    freed(other)
    assert resume(path).rounds_ == 500


def test_a_checkpoint_is_moved_with_its_lock_and_without_it_is_refused(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    old = path.read_bytes()
    follow(begun, 1000, 1500)
    freed(begun)
    lock, moved = path.with_name(KEPT[1]), path.with_name("moved")
    path.rename(moved)
    for _ in range(2):
        with pytest.raises(
            ValueError, match=r"moved\.lock.* is not that of this stream: a checkpoint is moved together"
        ):
            resume(moved)
    lock.rename(path.with_name("moved.lock"))
    assert resume(moved).rounds_ == 1500
    moved.write_bytes(old)
    with pytest.raises(ValueError, match="an older copy, number 2"):
        resume(moved)
    other = learner(checkpoint=path)  # another stream, under the first one's name
    follow(other, 0, 1000)
    freed(other)
    path.write_bytes(old)
    with pytest.raises(ValueError, match="is not that of this stream"):
        resume(path)


# ---- damage ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """What the files of a stream hold."""
    folder = tmp_path_factory.mktemp("stopped")
    begun = learner(checkpoint=folder / KEPT[0], n_updates=20)
    follow(begun, 0, 4000)
    freed(begun)
    return {name: (folder / name).read_bytes() for name in KEPT}


@pytest.fixture
def kept(path, stopped):
    for name, content in stopped.items():
        path.with_name(name).write_bytes(content)
    return stopped[path.name]


@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_short_is_refused(path, kept, share):
    path.write_bytes(kept[: int(share * len(kept))])
    with pytest.raises(ValueError, match=r"stream\.ckpt cannot be resumed: it is damaged, cut short"):
        resume(path)


def test_every_changed_byte_is_noticed(path, kept):
    rng = np.random.default_rng(0)
    for at in {*rng.integers(0, len(kept), 300).tolist(), *range(len(kept) - 75, len(kept))}:
        damaged = bytearray(kept)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"^stream\.ckpt cannot be resumed: it is (damaged|no dpfast)"):
            resume(path)


def test_other_files_are_refused(path, kept, tmp_path):
    path.write_bytes(kept.replace(b'"version": 3, "model": "winnow", "gen', b'"version": 99, "model": "winnow", "gen'))
    with pytest.raises(ValueError, match=r"it is damaged, cut short or of an older version, by its digest"):
        resume(path)
    path.write_bytes(signed(kept, b'"version": 3, "model": "winnow", "gen', b'"version": 4, "model": "winnow", "gen'))
    with pytest.raises(ValueError, match="its format version is 4, this dpfast reads 3 only"):
        resume(path)
    path.write_bytes(signed(kept, b'"model": "winnow", "gen', b'"model": "oracle", "gen'))
    with pytest.raises(ValueError, match="a stream of kind 'oracle', not 'winnow'"):
        resume(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"stream\.ckpt cannot be resumed: it is no dpfast checkpoint"):
        resume(path)
    with pytest.raises(FileNotFoundError):
        resume(tmp_path / "absent")
    assert not (tmp_path / "absent.lock").exists()


def signed(kept, was, becomes):
    """Changed, with a digest that fits."""
    assert kept.count(was) == 1, kept.count(was)
    body = kept.replace(was, becomes)[:-71]
    return body + b"sha256:" + hashlib.sha256(body).hexdigest().encode()


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'"n_features": 10', b'"n_features": 11'),
        (b'"n_features": 10', b'"n_features": true'),
        (b'"epsilon": 1.0, "feature_range"', b'"epsilom": 1.0, "feature_range"'),
        (b'"parameters": {"average": true, "batch": "all"', b'"parameters": {"average": true, "batch": 0'),
        (b'"epsilon": 1.0, "feature_range"', b'"epsilon": 2.0, "feature_range"'),  # its noise was for 1
        (b'"n_draws": 5, "n_updates": 20, "neg', b'"n_draws": 4, "n_updates": 20, "neg'),
        (b'"n_updates": 20, "negations"', b'"n_updates": 21, "negations"'),
        (b'"released": {"weights": [', b'"released": {"weights": [[[1], []], '),
        (b'"threshold_epsilon"', b'"threshold_epsilom"'),
        (b'"runs"', b'"walks"'),
        (b'"rounds": 4000', b'"rounds": -1'),
        (b'"rounds": 4000', b'"rounds": 4000.5'),
        (b'"shapes": [[11], [11]]', b'"shapes": [[11], [12]]'),
        (b'"shapes": [[11], [11]]', b'"shapes": [[11], [99999999999999999999]]'),
        (b'"shapes": [[11], [11]]', b'"shapes": [[11, 2]]'),
        (b'"fitted": {', b'"fitted": [{'),
    ],
)
def test_a_file_that_no_stream_wrote_is_refused_even_if_its_digest_fits(path, kept, was, becomes):
    path.write_bytes(signed(kept, was, becomes))
    with pytest.raises(ValueError, match=r"^stream\.ckpt cannot be resumed: "):
        resume(path)


def test_noise_is_computed_from_the_parameters_and_compared(path, kept):
    """As much as the format holds of it: a rate, a share, and what AboveThreshold waits for."""
    document = json.loads(kept.splitlines()[1])
    stream = document["stream"]["stream"]
    for name in ("learning_rate", "threshold_epsilon"):
        was = f'"{name}": {stream[name]!r}'.encode()
        body = kept[: kept.rindex(was)] + kept[kept.rindex(was) :].replace(was, f'"{name}": 1.0'.encode())
        path.write_bytes(signed(body, b'"generation"', b'"generation"'))
        with pytest.raises(ValueError, match=f"cannot be resumed: {name} is 1.0, and by the parameters"):
            resume(path, moved=True)
    was = f'"threshold": {stream["tests"]["threshold"]}'.encode()
    path.write_bytes(signed(kept, was, b'"threshold": 5'))
    with pytest.raises(ValueError, match="the tests were for a threshold of 5, here it is"):
        resume(path, moved=True)


@needs_forks
def test_a_resumed_stream_goes_on_in_the_process_that_resumed_it_only(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, STEP)
    resumed = resume(path) if freed(begun) else None
    child = fork()
    if child == 0:
        try:
            follow(resumed, STEP, 2 * STEP)
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    follow(resumed, STEP, 2 * STEP)


def test_a_link_to_a_checkpoint_is_the_same_checkpoint(path, tmp_path):
    begun = learner(checkpoint=path)
    follow(begun, 0, STEP)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OSError, match="in use"):
        resume(tmp_path / "link")
    assert freed(begun)
    os.link(path, tmp_path / "second name")
    with pytest.raises(ValueError, match="2 names"):
        resume(path)


@pytest.mark.parametrize("edits", [{"window": True}, {"n_updates": 10, "n_draws": 2}], ids=str)
def test_a_stream_is_gone_on_with_by_the_parameters_that_were_charged(edits, tmp_path):
    """Both edits have the learning rate of the plan that was paid for, and would release more."""
    rng = np.random.default_rng(0)
    X, path = rng.random((400, 3)) < 0.5, tmp_path / "stream"
    plan = {"n_updates": 4, "n_draws": 5, "schedule": "fixed", "horizon": 400}
    learner = dpfast.DPWinnowClassifier(**plan, checkpoint=path).partial_fit(X[:300], X[:300, 0])
    learner.set_params(**edits).partial_fit(X[300:301], X[300:301, 0])
    learner.close()
    for _ in range(2):
        resumed = dpfast.DPWinnowClassifier.resume(path)
        assert {name: getattr(resumed, name) for name in plan} == plan
        resumed.set_params(**edits).partial_fit(X[:50], X[:50, 0])
        resumed.close()
    last = dpfast.DPWinnowClassifier.resume(path)
    with pytest.warns(UserWarning, match="all 4 updates are made"):
        last.partial_fit(X, X[:, 0]).partial_fit(X, X[:, 0])
    assert last.updates_ == 4
    last.close()


def test_a_copy_of_a_checkpoint_and_its_lock_is_refused_unless_it_is_said_to_be_moved(path, tmp_path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    freed(begun)
    folder = tmp_path / "backup"
    folder.mkdir()
    for name in KEPT:
        shutil.copy2(path.with_name(name), folder / name)
    with pytest.raises(ValueError, match="it is a copy, or was restored from one"):
        resume(folder / KEPT[0])
    again = resume(path)
    follow(again, 1000, 1500)
    freed(again)
    for name in KEPT:  # the backup is put back
        path.with_name(name).unlink()
        shutil.copy2(folder / name, path.with_name(name))
    with pytest.raises(ValueError, match="it is a copy, or was restored from one"):
        resume(path)
    for file in (path, folder / KEPT[0]):
        moved = dpfast.DPWinnowClassifier.resume(file, moved=True)
        assert moved.rounds_ == 1000
        freed(moved)
        freed(resume(file))


def test_a_checkpoint_that_is_renamed_while_open_stays_whole(path, tmp_path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    for name in KEPT:
        path.with_name(name).rename(path.with_name(f"new {name}"))
    with pytest.raises(FileNotFoundError, match="lock was renamed or removed while the stream was open"):
        follow(begun, 1000, 1500)
    freed(begun)
    assert not path.exists()
    assert resume(path.with_name(f"new {KEPT[0]}")).rounds_ == 1000


def test_a_lock_of_an_older_version_has_no_place_and_is_accepted(path):
    begun = learner(checkpoint=path)
    follow(begun, 0, 1000)
    freed(begun)
    lock = path.with_name(KEPT[1])
    lock.write_bytes(b" ".join(lock.read_bytes().split(b" ")[:2]))
    assert resume(path).rounds_ == 1000
