import pytest

from dpfast.mechanisms.draws import Sole


def interrupted(sole):
    with sole.used():
        raise KeyboardInterrupt


def test_one_user_at_a_time_and_the_next_one_after_an_error():
    sole = Sole("a stream")
    with pytest.raises(KeyboardInterrupt):
        interrupted(sole)
    with sole.used(), pytest.raises(RuntimeError, match="a stream is in use"):
        interrupted(sole)


def test_another_process_is_refused_with_both_numbers(monkeypatch):
    sole = Sole("a stream")
    monkeypatch.setattr("os.getpid", lambda: -7)
    message = r"a stream goes on only in the process that began it \(pid \d+\), got pid -7"
    with pytest.raises(RuntimeError, match=message), sole.used():
        pass
