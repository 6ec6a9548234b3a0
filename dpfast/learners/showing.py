"""Display of a fitted private model: a page in a file or in a notebook."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from sklearn.utils import estimator_html_repr

from dpfast.learners.terms import summary


class Numbered(Sequence):
    """The names x0, x1, ... of columns, created on access, since a file may declare 2^31 columns."""

    def __init__(self, size: int) -> None:
        self._columns = range(size)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, column: Any) -> Any:
        return f"x{self._columns[column]}"


def names_of(model: Any) -> Sequence[str]:
    """Return the names of a fitted model's columns, or x0, x1, ... if they have none."""
    return Numbered(model._width) if model._names is None else model._names


class Shown:
    """Mixin of private estimators that `dpfast.report` can draw."""

    __sklearn_is_fitted__: Callable[[], bool]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a self-contained HTML page with predictions, accuracy, privacy claim, the model and its table.

        Parameters
        ----------
        path : str or path-like
            The file is replaced atomically.
        """
        from dpfast.report import write

        write(self, path)

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)

        return summary(self)

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return estimator_html_repr(self)
        from dpfast.report import page

        return page(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
