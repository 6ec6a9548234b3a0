"""Private classifiers by composition: a learner is parameters, a plan, what it learns, and a model."""

import os
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpfast.base import transaction
from dpfast.base.batches import in_batches
from dpfast.base.explained import Explanation, explain
from dpfast.base.fitted import ModelReader
from dpfast.base.fitting import FEW, OUTLINE
from dpfast.base.forms import Codes
from dpfast.base.inputs import refuse_weights
from dpfast.base.model import Model, decisions, model_of, overrides, read_model
from dpfast.base.others import score
from dpfast.base.parameters import DELTA_TEXT, VERBOSE, PrivateParameters, SchemaLike, described, estimator, real
from dpfast.base.plan import Plan, Spending, Task, plan_of, spending_of
from dpfast.base.progress import call_callbacks
from dpfast.base.reading import ENCODER_SHARE, SCHEMA_OR_NONE
from dpfast.base.reporter import ModelReporter
from dpfast.base.run import Rows, Run
from dpfast.base.saver import ModelSaver
from dpfast.base.saving import name_label, save
from dpfast.base.scikit import BaseEstimator, CallbackSupportMixin, ClassifierMixin
from dpfast.kernels import reals


def _defines(*methods):
    """Return the decorator of methods that need a model with one of these methods."""

    def defines(learner: Any) -> bool:
        """Return whether the model has the method, or may have it."""
        model = type(learner.model_) if hasattr(learner, "model_") else model_of(type(learner))
        if not any(overrides(model, method) for method in methods):
            raise AttributeError(f"models of {type(learner).__name__} have no {' and no '.join(methods)}")
        return True

    return available_if(defines)


@estimator
class PrivateClassifier(PrivateParameters, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Base of private classifiers: a learner defines `reads`, `plan` and `learn`, and its parameters.

    `fit` is the transaction, for every learner: parameters, source, task, plan, charge, discovery, learning and
    publication. No row is refused after the charge. A fit that is interrupted, or that discovers fewer than two
    labels, publishes what it released until then; the second ends in `NothingLearned`.

    A learner is decorated by `estimator`, which writes its constructor, and declares its parameters by `parameter`. The
    name under which its models are saved is that of its class, or ``class Learner(PrivateClassifier, name="...")``.

    Rows without a label are not learned from. Under "replace" the number of the others is then private, and
    `Task.n_rows` is that of all rows. A learner sets `spares_unlabelled` to True if its plan covers a row more or less,
    too: if no release moves by more for that than the plan states under "replace". Otherwise such rows are refused, and
    units of several rows are, whose number is private.

    Parameters
    ----------
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Only if X had names.
    encoder_ : TableEncoder
        Only with a schema: `encoder_.schema_` is the completed schema, `encoder_.privacy_` the cost of its discovery.
    model_ : dpfast.base.Model
        What was learned; its fields are attributes, too.
    privacy_ : dpfast.accounting.PrivacySpend
        The claim of everything that the fit released.
    notes_ : list of str
        What the fit decided, in short sentences that follow from released and public facts.
    """

    reads: ClassVar[Any] = Codes()  # a Form
    spares_unlabelled: ClassVar[Any] = False  # or True
    delta: float = field(default=1e-6, kw_only=False, metadata=described(real(0, 1, "[)"), DELTA_TEXT))
    schema: SchemaLike | None = SCHEMA_OR_NONE
    encoder_share: float | str = ENCODER_SHARE
    verbose: bool = VERBOSE
    save = save
    name_label = name_label
    score = score
    _model = ""

    def __init_subclass__(cls, name: str | None = None) -> None:
        super().__init_subclass__()
        cls._model = name or cls.__name__

    def plan(self, task: Task) -> Plan:
        """Return everything that a fit will release; a function of the parameters and of the task alone.

        Parameters
        ----------
        task : Task
            Before a discovery it describes the widest table that can be discovered, and `plan` is called again with
            what was found. A plan must not refuse a smaller table, and has the same mechanisms and shares for it.

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If the parameters do not suit the task. Nothing is charged then.
        """
        raise NotImplementedError

    def spending(self, task: Task) -> Spending:
        """Return how the releases of the plan are paid, for the bill of a discovery before them; by default by `plan`.

        A learner whose releases are `Proved` may name their kind and parts, so that less is lost to a discovery.

        Parameters
        ----------
        task : Task
            It describes the widest table, and its budget is that of the discovery and the learner together.

        Returns
        -------
        Spending
        """
        return spending_of(plan_of(self, task))

    def check(self) -> None:
        """Refuse parameters that do not suit one another, before a table is read; by default none."""

    def learn(self, rows: Rows, plan: Plan, run: Run) -> Model:
        """Return the model of the rows. It refuses nothing: the fit was charged.

        Parameters
        ----------
        rows : Rows
        plan : Plan
            What `plan` returned.
        run : Run
            The only source of noise and draws.

        Returns
        -------
        Model
            A subclass annotates its own class of models.
        """
        raise NotImplementedError

    def prepare(self, rows: Rows) -> Any:
        """Return what `learn` gets as `rows.prepared`, computed before the charge; by default None.

        It is for functions of others, which may fail. It releases nothing, and has no run.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        object
        """

    @call_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        classes: ArrayLike | None = None,
        units: Any = None,
        rows_per_unit: int | None = None,
        **refused: Any,
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table, shape (n, d)
            An array, sparse matrix, DataFrame, `BitMatrix` or `CodeTable` of features. With a `schema`,
            or if nothing is declared: a DataFrame, Arrow table or stream, dict of arrays, or files.
        y : array_like, shape (n,), or str
            Labels, or the name of their column; by default the column that the schema names.
        classes : array_like, optional
            The public set of labels; by default it is read from y and treated as public, unless it is discovered.
        units : array_like, shape (n,), or str, optional
            The privacy unit of each row, such as a person, or the name of the column that holds it, for a claim that
            protects units. The rows of a unit may lie in several parts of X.
        rows_per_unit : int, optional
            With `units`: the largest number of rows used per unit, chosen at random; see `dpfast.base.units`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        NothingLearned
            If fewer than two labels were discovered. This follows from the releases, and the budget is spent.
        """
        refuse_weights(refused)
        _refuse_undefined(self)
        transaction.fit(self, X, y, classes, units, rows_per_unit)
        return self

    def read_model(self, saved: Any, task: Task) -> Model:
        """Return the model of a file; refuse what no model could be.

        Parameters
        ----------
        saved : object
            What `Model.to_dict` returned.
        task : Task
            What the file says of the table: `n_columns`, `classes`, and `sizes` of a table of codes with a schema.

        Returns
        -------
        Model
        """
        return read_model(type(self), saved)

    @in_batches("ndarray, shape (n,)")
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted label of each row."""
        model = self._released_model()
        return self.classes_[model.classify(self._read_rows(X))]

    @_defines("scores", "log_odds")
    @in_batches("ndarray of float64, shape (n,) or (n, n_classes)")
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each class, or for two classes one score, at least 0 for the second class."""
        model = self._released_model()
        return decisions(model.scores(self._read_rows(X)))

    @_defines("log_odds")
    @in_batches("ndarray of float64, shape (n, n_classes)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, from the log odds of the model."""
        model = self._released_model()
        odds = decisions(model.log_odds(self._read_rows(X)))
        if odds.ndim == 1:
            return np.stack([reals.expit(-odds), reals.expit(odds)], axis=1)
        chances = reals.exp(odds - odds.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)

    @_defines("contributions")
    def explain(self, X: Any) -> Explanation:
        """Return what each column contributes to the score of each row; the contributions add up to it.

        Parameters
        ----------
        X : table of a kind that `fit` takes, in memory, shape (n, d)

        Returns
        -------
        dpfast.base.explained.Explanation
        """
        return explain(self, X)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a self-contained HTML page with predictions, accuracy, privacy claim, the model and its table.

        Parameters
        ----------
        path : str or path-like
        """
        self._reporter.write(path)

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        return self._reporter.text()

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return estimator_html_repr(self)
        return self._reporter.html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.reads.sparse
        tags.classifier_tags.multi_class = self.reads.several_classes
        tags.classifier_tags.poor_score = True  # noise decides on small tables
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in (FEW, OUTLINE)}

    def _released_model(self) -> Any:
        """Return the model; refuse if there is none."""
        check_is_fitted(self)
        if "model_" not in vars(self):
            raise NotFittedError(f"the fit of this {type(self).__name__} was interrupted before it released a model")
        return self.model_

    def _read_rows(self, X: Any) -> Any:
        """Return the rows of X of `predict` as models score them."""
        return self._reader.rows(X)

    @property
    def _reader(self) -> ModelReader:
        return ModelReader(self)

    @property
    def _saver(self) -> ModelSaver:
        return ModelSaver(self)

    @property
    def _reporter(self) -> ModelReporter:
        return ModelReporter(self)


def _refuse_undefined(learner: PrivateClassifier) -> None:
    """Refuse a learner without the methods that every learner defines."""
    signatures = {"plan": "plan(task), which returns a Plan", "learn": "learn(rows, plan, run), which returns a Model"}
    for method, text in signatures.items():
        if getattr(type(learner), method) is getattr(PrivateClassifier, method):
            raise TypeError(f"{type(learner).__name__} must define the method {text}")
