"""Rounds of a fit: progress bars, callbacks after each round, and interrupts that wait for its end."""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


def shown(
    iterable: Iterable,
    what: str,
    verbose: bool,
    total: int | None = None,
    *,
    rows: int | None = None,
    parts: Any = None,
) -> Iterable:
    """Return the same iterable, with a progress bar if wanted.

    Parameters
    ----------
    iterable : of rounds
    what : str
        The label of the progress bar.
    verbose : bool
    total : int, optional
        The number of rounds, if the iterable has no length.
    rows : int, optional
        Rows read in a round, to show rows per second; omitted if their number is private.
    parts : MemoryParts or EngineParts, optional
        The parts that are asked, to show the bytes that they answer in a round.
    """
    return _tracked(iterable, what, total, rows, parts) if verbose else iterable


def _tracked(iterable, what, total, rows, parts):
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

    class Rates(ProgressColumn):
        """A column of the progress bar that changes when a round ends."""

        def render(self, task):
            told, rounds = [], task.completed
            if rows is not None and rounds and task.elapsed:
                told.append(f"{rows * rounds / task.elapsed:,.0f} rows/s")
            if getattr(parts, "moved", 0) and rounds:
                told.append(f"{parts.moved / rounds:,.0f} bytes a round")
            return Text(", ".join(told))

    with Progress(*Progress.get_default_columns(), Rates()) as progress:
        yield from progress.track(iterable, total=total, description=what)


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Empty replacement for the mixin of scikit-learn."""

    def with_callbacks(method: Any) -> Any:
        return method


class Watched(CallbackSupportMixin):
    """Mixin of estimators whose `fit` calls callbacks."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            own: Any = cls
            own.fit = _heard(own.fit)

    def _watched(self, rounds: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
        """Return the same rounds of the current fit, at most `total`, which call the callbacks."""
        whole = vars(self).get("_callback_fit_ctx")
        return rounds if whole is None else self._told_of(rounds, whole.subcontext(what, max_subtasks=total))

    def _told_of(self, rounds: Iterable[Any], all_rounds: Any) -> Iterator[Any]:
        all_rounds.call_on_fit_task_begin(estimator=self)
        for each in rounds:
            one = all_rounds.subcontext(all_rounds.task_name).call_on_fit_task_begin(estimator=self)
            yield each
            one.call_on_fit_task_end(estimator=self)
        all_rounds.call_on_fit_task_end(estimator=self)


def _heard(fit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fit)
    def told(self: Any, *given: Any, **named: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return fit(self, *given, **named)
        whole = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self)
        fit(self, *given, **named)
        whole.call_on_fit_task_end(estimator=self)
        return self

    return with_callbacks(told)


@contextmanager
def interrupts_wait() -> Iterator[list[bool]]:
    """Block Ctrl-C within the block and record it in the yielded list."""
    noted: list[bool] = []
    try:
        before = signal.signal(signal.SIGINT, lambda *_: noted.append(True))
    except ValueError:  # not in the main thread, the only one that is interrupted
        yield noted
        return
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def finished(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function to its end, again if a Ctrl-C came before it ended; the Ctrl-C takes effect afterwards."""
    ended = False
    try:
        with interrupts_wait() as noted:
            function(*arguments)
            ended = True
    except KeyboardInterrupt:  # it came before the function could block it
        if not ended:
            function(*arguments)
        raise
    if noted:
        signal.raise_signal(signal.SIGINT)
