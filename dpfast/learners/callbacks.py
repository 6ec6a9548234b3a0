"""Callbacks of scikit-learn 1.9 and later.

Callbacks hear that a fit, and a round of it, begins and ends, and whose it is; of rows and of what is private they hear
nothing. Those that refuse do so before anything is charged. What they return stops nothing, and one that raises is an
interruption as any other.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing that callbacks could be set with."""

    def with_callbacks(method: Any) -> Any:
        return method


class Watched(CallbackSupportMixin):
    """Mixin of estimators whose `fit` callbacks hear of."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in vars(cls):
            own: Any = cls
            own.fit = _heard(own.fit)

    def _watched(self, rounds: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
        """The same rounds of a fit under way, at most `total`, that callbacks hear of."""
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
