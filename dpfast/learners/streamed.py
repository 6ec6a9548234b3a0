"""Fits over several calls: the first call charges for the stream, later calls continue it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dpfast.learners.fitting import Private, Run
from dpfast.mechanisms.sole import Sole


class Streamed(Private):
    """Mixin of private estimators that learn from a stream.

    The state between calls, `_state`, is private and holds the paid `run`. It is never copied to another process by a
    fork or a pickle. Only one call at a time may use it. A call that is interrupted ends the stream, since rows given
    again would count twice.
    """

    _state: Any

    def _alone(self) -> AbstractContextManager[None]:
        """Return a context for a whole call; it refuses a second thread and a forked process."""
        return self._owned().used()

    def _owned(self) -> Sole:
        """Return the owner of the stream: the process that calls this first."""
        return vars(self).setdefault("_sole", Sole(f"the stream of a {type(self).__name__}"))

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Publish at the end of the block what was released in it; an interruption ends the stream."""
        run = self._state.run
        try:
            yield
        except BaseException:
            self._end()
            raise
        finally:
            self._show(run)

    def _show(self, run: Run) -> None:
        """Publish the releases so far, and their claim."""
        self._publish(run)
        self.privacy_ = run.told()

    def _forget(self) -> None:
        super()._forget()
        self._end()

    def _end(self) -> None:
        """Delete the stream, if there is one."""
        vars(self).pop("_state", None)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the stream: an unpickled model predicts but cannot continue learning."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_state", "_sole")}
