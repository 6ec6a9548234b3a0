"""How a fitted private model shows itself: a page, in a file or in a notebook."""

import os
from collections.abc import Callable
from typing import Any


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
