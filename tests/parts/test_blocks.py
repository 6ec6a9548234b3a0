import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpfast.parts import blocks


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


def test_the_failure_of_the_first_block_is_raised_whichever_thread_was_faster(monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "2")
    second_failed = threading.Event()

    def fail(k):
        if k:
            second_failed.set()
        else:
            assert second_failed.wait(600)
        raise ValueError(f"block {k}")

    with pytest.raises(ValueError, match="block 0"):
        blocks.map_blocks(fail, list(range(50)))


def test_after_a_failure_no_block_is_begun(monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", "2")
    begun = []

    def fail(k):
        begun.append(k)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        blocks.map_blocks(fail, list(range(50)))
    assert len(begun) <= 2


@pytest.mark.parametrize("threads", ["2", "3"])
def test_blocks_of_blocks_do_not_wait_for_each_other(threads, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", threads)
    sums = blocks.map_blocks(lambda x: sum(blocks.map_blocks(lambda y: x * y, list(range(10)))), list(range(20)))
    assert sums == [45 * x for x in range(20)]


def test_threads_default_to_the_processors(monkeypatch):
    monkeypatch.delenv("DPFAST_THREADS", raising=False)
    monkeypatch.setattr(blocks, "_processors", lambda: 7)
    assert blocks.threads() == 7


MEET = """
import threading
from dpfast.parts import blocks
from tests.forks import in_a_child_that_c_forks

def meet():
    both = threading.Barrier(2, timeout=60)  # a block that nobody takes up beside the other breaks it
    return bytes(blocks.map_blocks(lambda k: both.wait() >= 0, [0, 1]))

assert meet() == in_a_child_that_c_forks(meet) == bytes([1, 1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the fork of the C library by name")
def test_a_fork_that_python_does_not_hear_of_has_threads_of_its_own():
    """In a process of its own: of the threads of a test run, one may hold the interpreter's lock as it forks."""
    environment = os.environ | {"DPFAST_THREADS": "2", "PYTHONPATH": str(Path(__file__).parents[2])}
    told = subprocess.run([sys.executable, "-c", MEET], env=environment, capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stderr
