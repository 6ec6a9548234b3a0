"""Access to private state that draws: one thread at a time, in the process that created it."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any


def told(name: str) -> Any:
    """Return a read-only property for an attribute, so that callers cannot edit noise or counts."""
    return property(attrgetter(name))


class Sole:
    """Give access to private state to one user at a time.

    Otherwise two threads would each see noise meant for one of them, and a fork would draw from a copy of the state
    what was paid for once.

    Parameters
    ----------
    what : str
        The state's name in errors, such as "a stream".
    """

    def __init__(self, what: str):
        self._what, self._process, self._lock = what, os.getpid(), threading.Lock()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Give the caller exclusive access to the state within the block.

        Raises
        ------
        RuntimeError
            In a process other than the one that created it, and while another thread, or an enclosing call, uses it.
        """
        self.check_process()
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"{self._what} is in use: one call at a time, in the order of its rows")
        try:
            yield
        finally:
            self._lock.release()

    def check_process(self) -> None:
        """Refuse any process other than the one that created the state."""
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self._what} goes on only in the process that began it (pid {self._process}), got pid {os.getpid()}: "
                "a fork that drew from a copy would spend the budget again"
            )
