"""The saver of private classifiers: what the file of a model holds, and how a file is read back."""

from typing import Any

from dpfast.base.fitted import ModelReader
from dpfast.base.fitting import attributes_of
from dpfast.base.model import model_of
from dpfast.base.plan import Task
from dpfast.base.saving import document_of


class ModelSaver:
    """Saver of a private classifier: its file holds the fields of its model, its columns and its claim.

    Parameters
    ----------
    learner : PrivateClassifier
        It was fitted, or has the parameters, the classes and the columns of a file that is read.
    """

    def __init__(self, learner: Any):
        self._learner = learner

    def document(self) -> dict[str, Any]:
        """Return the entries of the file."""
        reader = ModelReader(self._learner)
        entries = self._learner._released_model().file_entries()
        return document_of(self._learner, self.released(), reader.width, reader.names, **entries)

    def released(self) -> Any:
        """Return the fields of the model; under the name of its class, if the learner does not say which it is."""
        model = self._learner._released_model()
        return model.to_dict() if model_of(type(self._learner)) else {type(model).__name__: model.to_dict()}

    def read_encoder(self, saved: Any) -> None:
        """Let the learner read tables by the schema of a file."""
        ModelReader(self._learner).restore(saved)

    def read_released(self, saved: Any) -> None:
        """Let the learner have the model of a file."""
        self._set_model(self._learner.read_model(saved, self.task()))

    def read_entries(self, document: dict[str, Any]) -> None:
        """Read what the file holds besides the fields of the model, for all models that know of it."""
        entries = {name: document[name] for name in document if name == "class_counts"} | document.get("card", {})
        self._set_model(self._learner.model_.with_entries(entries, self.task()))

    def task(self) -> Task:
        """Return what the file says of the task of its fit; whether there is a schema, by `sizes`."""
        learner, reader = self._learner, ModelReader(self._learner)
        return Task(
            epsilon=learner.epsilon,
            delta=learner.delta,
            neighbors=learner.neighbors,
            n_columns=reader.width,
            classes=tuple(learner.classes_.tolist()),
            n_classes=len(learner.classes_),
            sizes=reader.sizes,
        )

    def _set_model(self, model):
        vars(self._learner).update(attributes_of(model))
