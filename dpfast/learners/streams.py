"""Streams that learners continue from call to call: one call at a time, in one process, ended by an interruption.

The state between calls, `_state`, is private and holds the paid run. It is never copied to another process by a fork or
a pickle. A call that is interrupted ends the stream, since rows given again would count twice.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from dpfast.base.fitting import STREAM
from dpfast.mechanisms.draws import ExclusiveAccess


def alone(learner: Any) -> AbstractContextManager[None]:
    """Return a context for a whole call; it refuses a second thread and a forked process."""
    return owner(learner).hold()


def owner(learner: Any) -> ExclusiveAccess:
    """Return the owner of the stream: the process that calls this first."""
    return vars(learner).setdefault("_access", ExclusiveAccess(f"the stream of a {type(learner).__name__}"))


@contextmanager
def continuing(show: Callable[[], None], end: Callable[[], Any]) -> Iterator[None]:
    """Publish at the end of the block what was released in it, by `show`; an interruption ends the stream.

    As in a fit, no number of a row raises an error or a warning.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except BaseException:
        end()
        raise
    finally:
        show()


def without_stream(state: dict[str, Any]) -> dict[str, Any]:
    """Return what a pickle holds: an unpickled model predicts but cannot continue learning."""
    return {name: value for name, value in state.items() if name not in (STREAM, "_access")}
