"""The reporter of private classifiers: what people are shown of a fitted model."""

import os
from typing import Any

from dpfast.base.saving import stated_parameters


class ModelReporter:
    """Reporter of a fitted private classifier, as text and as a page; `dpfast.report` asks it what the model says.

    Parameters
    ----------
    model : private classifier
    """

    def __init__(self, model: Any):
        self._model = model

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that are shown: those of the claim, whatever they became."""
        return stated_parameters(self._model)

    def reliability(self) -> list[Any]:
        """Return how often predictions came true, by the noisy counts that the model holds, if it holds any."""
        attributes = vars(self._model)
        return attributes["model_"].reliability(self._model.classes_) if "model_" in attributes else []

    def text(self) -> str:
        """Return a summary in a few lines."""
        from dpfast.report.text import summary

        return summary(self._model)

    def html(self) -> str:
        """Return the page as an HTML element."""
        from dpfast.report.html import page

        return page(self._model)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        from dpfast.report.html import write

        write(self._model, path)
