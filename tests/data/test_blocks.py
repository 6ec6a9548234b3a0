import pytest

from dpfast.data import blocks


@pytest.mark.parametrize(("size", "step"), [(0, 3), (1, 3), (9, 3), (10, 3), (10, 100), (4, 0)])
def test_slices_cover_everything_once_in_order(size, step):
    covered = [i for part in blocks.slices(size, step) for i in range(size)[part]]
    assert covered == list(range(size))


@pytest.mark.parametrize("threads", ["1", "4"])
def test_results_come_in_the_order_of_the_blocks(threads, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", threads)
    assert blocks.map_blocks(lambda x: x * x, list(range(50))) == [x * x for x in range(50)]


def test_the_first_failure_is_raised(monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "2")
    with pytest.raises(ZeroDivisionError):
        blocks.map_blocks(lambda x: 1 // x, [1, 0])


def test_threads_default_to_the_processors(monkeypatch):
    monkeypatch.delenv("DPFAST_THREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    assert blocks.threads() == 7
