import pytest

from dpfast.mechanisms.draws import ExclusiveAccess


def interrupted(access):
    with access.hold():
        raise KeyboardInterrupt


def test_one_user_at_a_time_and_the_next_one_after_an_error():
    access = ExclusiveAccess("a stream")
    with pytest.raises(KeyboardInterrupt):
        interrupted(access)
    with access.hold(), pytest.raises(RuntimeError, match="a stream is in use"):
        interrupted(access)


def test_another_process_is_refused_with_both_numbers(monkeypatch):
    access = ExclusiveAccess("a stream")
    monkeypatch.setattr("os.getpid", lambda: -7)
    message = r"a stream goes on only in the process that began it \(pid \d+\), got pid -7"
    with pytest.raises(RuntimeError, match=message), access.hold():
        pass
