"""Ctrl-C that waits: for blocks that must not be left half done."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_wait() -> Iterator[list[bool]]:
    """Make Ctrl-C have no effect in the block but to be noted in the list that this gives."""
    noted: list[bool] = []
    try:
        before = signal.signal(signal.SIGINT, lambda *_: noted.append(True))
    except ValueError:  # not the main thread, which alone is interrupted
        yield noted
        return
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def finished(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function to its end, once more if a Ctrl-C came before it ended; it takes effect afterwards."""
    ended = False
    try:
        with interrupts_wait() as noted:
            function(*arguments)
            ended = True
    except KeyboardInterrupt:  # before it could be made to wait
        if not ended:
            function(*arguments)
        raise
    if noted:
        signal.raise_signal(signal.SIGINT)
