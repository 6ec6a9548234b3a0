"""Progress of fits: a bar of their rounds, and the callbacks of scikit-learn."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

from dpfast.base.scikit import with_callbacks

F = TypeVar("F", bound=Callable[..., Any])


def progress_bar(
    iterable: Iterable,
    what: str,
    verbose: bool,
    total: int | None = None,
    *,
    rows: int | None = None,
) -> Iterable:
    """Return the same iterable of rounds, with a progress bar labelled `what` if wanted.

    `total` is for an iterable without a length. With `rows`, unless their number is private, the bar shows rows per
    second. It does not show the bytes that parts answer: a list, for example, asks nothing more once its rules cover
    all rows.
    """
    return _tracked(iterable, what, total, rows) if verbose else iterable


def _tracked(iterable, what, total, rows):
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """A column of the progress bar that changes when a round ends."""

        def render(self, task):
            if rows is None or not task.completed or not task.elapsed:
                return Text()
            return Text(f"{rows * task.completed / task.elapsed:,.0f} rows/s")

    with Progress(*Progress.get_default_columns(), Rate()) as progress:
        yield from progress.track(iterable, total=total, description=what)


def call_back(estimator: Any, rounds: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
    """Return the same rounds of the current fit of an estimator, at most `total`, which call its callbacks."""
    whole = vars(estimator).get("_callback_fit_ctx")
    return rounds if whole is None else _calling_back(estimator, rounds, whole.subcontext(what, max_subtasks=total))


def _calling_back(estimator: Any, rounds: Iterable[Any], all_rounds: Any) -> Iterator[Any]:
    all_rounds.call_on_fit_task_begin(estimator=estimator)
    for each in rounds:
        one = all_rounds.subcontext(all_rounds.task_name).call_on_fit_task_begin(estimator=estimator)
        yield each
        one.call_on_fit_task_end(estimator=estimator)
    all_rounds.call_on_fit_task_end(estimator=estimator)


def call_callbacks(fit: F) -> F:
    """Decorate the `fit` of an estimator, so that it calls the callbacks of scikit-learn 1.9 and later.

    The estimator has scikit-learn's `CallbackSupportMixin`. Callbacks learn that a fit or a round begins or ends, and
    of which estimator; they learn nothing of rows and of private values. Those that refuse do so before the charge.
    Their return values stop nothing, and a callback that raises interrupts the fit.
    """

    @wraps(fit)
    def calling(self: Any, *arguments: Any, **named: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return fit(self, *arguments, **named)
        whole = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self)
        fit(self, *arguments, **named)
        whole.call_on_fit_task_end(estimator=self)
        return self

    return with_callbacks(calling)
