"""How a fitted private model shows itself: a page, in a file or in a notebook."""

import os
from collections.abc import Callable, Sequence
from typing import Any


class Numbered(Sequence):
    """The names x0, x1, ... of columns, made when they are asked for: a file may say that there are 2^31."""

    def __init__(self, size: int) -> None:
        self._columns = range(size)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, column: Any) -> Any:
        return f"x{self._columns[column]}"


def names_of(model: Any) -> Sequence[str]:
    """Return the names of a fitted model's columns, or numbers for names."""
    return Numbered(model._width) if model._names is None else model._names


class Shown:
    """Mixin of private estimators that `dpfast.report` can draw."""

    __sklearn_is_fitted__: Callable[[], bool]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML page: the claim, the model, what was declared of its table.

        Parameters
        ----------
        path : str or path-like
            Replaced at once or not at all.
        """
        from dpfast.report import write

        write(self, path)

    def _repr_html_(self) -> str | None:
        if not self.__sklearn_is_fitted__():
            return None
        from dpfast.report import page

        return page(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        html = self._repr_html_()
        return {"text/plain": repr(self)} | ({} if html is None else {"text/html": html})
