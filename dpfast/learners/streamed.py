"""A stream is a fit in many calls: charged in the first, gone on with in the next ones."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from dpfast.learners.fitting import Private, Run
from dpfast.mechanisms.sole import Sole


class Streamed(Private):
    """Mixin of private estimators that learn from a stream.

    What a stream is between calls, `_state`, is private, and has the `run` that was paid for. It leaves its process
    neither by a fork nor in a pickle, one call at a time uses it, and it ends with a call that is interrupted, as rows
    given again would count twice.
    """

    _state: Any

    def _alone(self) -> AbstractContextManager[None]:
        """The whole of a call is in here; a second thread and a fork are refused."""
        return self._owned().used()

    def _owned(self) -> Sole:
        """Who owns the stream: this process, from the first time that this is called."""
        return vars(self).setdefault("_sole", Sole(f"the stream of a {type(self).__name__}"))

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """What is released in here is published at the end; an interruption ends the stream."""
        run = self._state.run
        try:
            yield
        except BaseException:
            self._end()
            raise
        finally:
            self._show(run)

    def _show(self, run: Run) -> None:
        """Publish what was released so far, and its claim."""
        self._publish(run)
        self.privacy_ = run.told()

    def _forget(self) -> None:
        super()._forget()
        self._end()

    def _end(self) -> None:
        """Forget the stream, if there is one."""
        vars(self).pop("_state", None)

    def __getstate__(self) -> dict[str, Any]:
        """Without the stream: what is pickled predicts, but does not go on."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_state", "_sole")}
