"""Encoding of tables as codes; declared facts of columns cost nothing, the others are discovered privately."""

from dataclasses import MISSING, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import Budget, PrivacySpend, Release
from dpfast.base.batches import in_batches
from dpfast.base.fitting import Charge, Fit, Public, fitting, publish
from dpfast.base.parameters import SCHEMA, PrivateParameters, SchemaLike, estimator, parameter
from dpfast.base.scikit import BaseEstimator, TransformerMixin
from dpfast.discovery.survey import discover, plan
from dpfast.files.encodings import source_of
from dpfast.tables.arrays import refuse_parts


@estimator
class TableEncoder(TransformerMixin, PrivateParameters, BaseEstimator):
    """Encode the rows of a table as codes, by a schema; a transformer for pipelines.

    The codes of a row depend on the row, the schema and the discovered facts only. Declared facts cost nothing. The
    remaining facts are computed from one noisy histogram of the cells of all columns, for which `fit` spends the whole
    budget.

    **Privacy.** All discovered facts together are (epsilon, delta)-DP for the relation `neighbors`, by the theorem of
    `dpfast.accounting.curves.opening`. The codes of rows are as private as the rows: no noise protects the output of
    `transform`. Names and types of columns are treated as public.

    Parameters
    ----------
    schema : Schema, or path of its file
        If it declares everything, nothing is spent, and `privacy_` records that.

    Attributes
    ----------
    schema_ : Schema
        The schema with all discovered facts.
    found_ : dict
        The discovered facts of `schema_` by column name, such as {"age": ["low", "high", "edges"]}.
    other_ : dict
        For each column that was not declared, the estimated share of the rows whose cell has no discovered value, such
        as a rare word; 1 if nothing was discovered for the column.
    other_label_ : label
        The class that replaces unpublished labels; only if the fit of a learner discovered the labels.
    other_labels_ : tuple of float
        About which share of the rows with a label have an unpublished one, and a 95% interval for the noise; only if
        labels were discovered, and the number of rows is public or the learner released one.
    n_features_in_ : int
        The number of columns that are read.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        The names of these columns. Tables may have them in any order, and may have further columns.
    privacy_ : dpfast.accounting.PrivacySpend

    Examples
    --------
    >>> from dpfast.tables import Category, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 120, edges=4), Category("job", ["clerk", "smith"])])
    >>> encoder = TableEncoder(schema).fit({"age": [31, 64], "job": ["smith", "baker"]})
    >>> encoder.transform({"job": ["clerk"], "age": [200]}).toarray()
    array([[3, 0]], dtype=uint8)
    >>> print(encoder.privacy_)
    (0.0, 0)-DP, replace one row
    """

    _persons: tuple[str, ...] = ()  # columns whose values may say whose a row is
    _nameless = False  # whether the table was an array, whose columns have no names
    schema: SchemaLike = parameter(MISSING, SCHEMA)

    def __init__(
        self,
        schema: SchemaLike,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        neighbors: str = "replace",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.schema, self.epsilon, self.delta, self.neighbors = schema, epsilon, delta, neighbors
        self.budget, self.random_state = budget, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the table, and discover what the schema leaves open.

        Parameters
        ----------
        X : DataFrame, Arrow table or stream, dict of arrays, files or table in parts
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError, BudgetExceeded
            If the table does not match its declaration; if the budget does not suffice. Nothing is charged or drawn.
        """
        self._fit(source_of(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the encoder, then return what `transform` gives for the same table.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        CodeTable
        """
        source = source_of(X)
        encoding = self._fit(source)
        return self.transform(X) if source.in_parts else self._output(encoding.table(self.schema_))

    @in_batches()
    def transform(self, X: Any) -> Any:
        """Return the codes of a table.

        Parameters
        ----------
        X : DataFrame, Arrow table or stream, dict of arrays, files or collection of Dask

        Returns
        -------
        CodeTable
            One row per row of X, one column for each of `get_feature_names_out`; a frame of them after `set_output`.
        """
        check_is_fitted(self)
        refuse_parts(X)
        source = source_of(X)
        if self._nameless:
            source = source.with_names(self.schema_.names)
        return self._output(source.encode(self.schema_, None).table())

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns of codes.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str, shape (n_columns,)
        """
        check_is_fitted(self)
        return np.array([column.name for column in self.schema_.code_columns], dtype=object)

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        from dpfast.report.text import lines_of_discovery

        return "\n".join([repr(self), str(self.privacy_), *lines_of_discovery(self)])

    def _set_declared(self, encoding: Any, charges: Charge | None = None) -> Self:
        """Set the attributes for a schema that declares a whole table; nothing is spent. `charges` are a learner's."""
        self._reads(encoding, charges)
        facts: dict[str, dict[str, Any]] = {}
        self.schema_, self.found_, self.privacy_ = encoding.schema, facts, PrivacySpend(0.0, 0.0, self.neighbors)
        self.other_: dict[str, float] = {}
        return self

    def _set_discovered(self, encoding: Any, survey: Any, survey_plan: Any, fit: Fit) -> Self:
        """Set the attributes from what a learner's fit discovered; the claim is the learner's."""
        self._reads(encoding, fit.charges)
        assert fit.claim is not None
        self.schema_, self.found_, self.other_ = survey.schema, _facts(encoding.schema), survey.other
        self._persons = survey.persons
        self.privacy_ = replace(
            fit.claim, cost=survey_plan.cost, events=(Release("survey", 1, 1),), reproducible=fit.reproducible
        )
        return self

    def _fit(self, source):
        p = self._checked()
        encoding = source.encode(p.schema, None)
        if not p.schema.to_find:
            self._set_declared(encoding)
            return encoding
        if not encoding.n and self.neighbors == "replace":
            raise ValueError("X must have at least one row, the table has none")
        counts = encoding.counts()
        with fitting(self, p.rng) as fit:
            fit.charge(self._public(encoding), p.plan.cost, {"survey": 1})
            fit.attributes["schema_"] = p.schema
            n = encoding.n if self.neighbors == "replace" else None
            survey = discover(encoding, counts, p.plan, fit.rng, (), n)
            fit.attributes |= {"schema_": survey.schema, "found_": _facts(p.schema), "other_": survey.other}
            fit.used["survey"] += 1
        return encoding

    def _reads(self, encoding, charges=None):
        """Delete all fitted attributes and set those of the columns that are read."""
        public = self._public(encoding)
        publish(self, public.attributes(), (charges or Charge(self)).facts(public))

    @staticmethod
    def _public(encoding):
        names = encoding.schema.names
        return Public(encoding.n, len(names), np.array(names, dtype=object))

    def _output(self, table):
        return table if _get_output_config("transform", self)["dense"] == "default" else table.toarray()

    def _checked(self):
        p = self._values().but(rng=random.generator(self.random_state))
        if p.schema.to_find:
            p = p.but(plan=plan(p.schema, p.epsilon, p.delta, self.neighbors))
        if p.budget is not None and p.schema.to_find:
            p.budget.foresee(self.epsilon, self.delta, neighbors=self.neighbors)
        return p


def _facts(schema):
    """Return the facts that a schema leaves open, for a model's file."""
    return {name: [*facts] for name, facts in schema.to_find.items()}
