"""Private state that draws: one thread at a time uses it, in the process that made it."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any


def told(name: str) -> Any:
    """A property that tells an attribute and cannot be set: callers edit neither noise nor counts."""
    return property(attrgetter(name))


class Sole:
    """Hands private state to one user at a time.

    Two threads would each see the noise meant for one, and a fork would draw from a copy of the state what was paid for
    once.

    Parameters
    ----------
    what : str
        The state's name, for errors: "a stream".
    """

    def __init__(self, what: str):
        self._what, self._process, self._lock = what, os.getpid(), threading.Lock()

    @contextmanager
    def used(self) -> Iterator[None]:
        """A block in which the state is the caller's alone.

        Raises
        ------
        RuntimeError
            In another process than the one that made it, and while another thread, or a call further up, is at it.
        """
        self.check_process()
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"{self._what} is in use: one call at a time, in the order of its rows")
        try:
            yield
        finally:
            self._lock.release()

    def check_process(self) -> None:
        """Refuse another process than the one that made the state."""
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self._what} goes on only in the process that began it (pid {self._process}), got pid {os.getpid()}: "
                "a fork that drew from a copy would spend the budget again"
            )
