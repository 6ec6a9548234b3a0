"""From the tables that people have to codes: what is declared costs nothing, what is not is found privately."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from dpfast import random
from dpfast.accounting import Budget, PrivacySpend
from dpfast.accounting.checks import exact
from dpfast.learners.finding import find, plan
from dpfast.learners.fitting import Private, Public
from dpfast.learners.lazily import lazily
from dpfast.learners.parameters import DELTA, PRIVATE, SCHEMA, Parameters, SchemaLike
from dpfast.parts.sources import is_parted, parts_of
from dpfast.tables.encoding import Encoding, encode


class TableEncoder(TransformerMixin, Private, BaseEstimator):
    """Turns the rows of a table into codes, by a schema: a transformer for pipelines.

    A row's codes follow from the row and the schema alone. What the schema declares costs nothing. What it leaves open
    is found by `fit`, with all of the budget: bounds and quantile edges by the exponential mechanism on public grids,
    values of categories by a noisy histogram with a threshold.

    **Privacy.** All that is found is together (epsilon, delta)-DP for the relation `neighbors`: each fact by the claim
    of its mechanism (`dpfast.mechanisms.quantiles`, `frequent_values`), all facts by composition, pure or zCDP,
    whichever gives more for this schema. Codes of rows are as private as the rows: no noise protects what `transform`
    gives. Names and kinds of columns are taken as public.

    Parameters
    ----------
    schema : Schema, or path of its file
    epsilon : float, default=1.0
        For what is found; nothing is spent, and `privacy_` says so, where all is declared.
    delta : float, default=1e-6
    neighbors : {"replace", "add-remove"}, default="replace"
    budget : dpfast.accounting.Budget or None, default=None
        Charged (epsilon, delta) by each `fit` that has something to find.
    random_state : None, int or numpy.random.Generator, default=None
        None is cryptographic. A seed is for tests and voids the guarantee; `privacy_` then says so.

    Attributes
    ----------
    schema_ : Schema
        With everything found.
    found_ : dict
        For names of columns, the facts of `schema_` that were found: {"age": ["low", "high", "edges"]}, say.
    n_features_in_ : int
        Columns that are read.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Their names. Tables may have them in any order, and others besides.
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

    _parameters = PRIVATE | {"delta": DELTA, "schema": SCHEMA}

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
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.neighbors = neighbors
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the table, and find what the schema leaves open.

        Parameters
        ----------
        X : DataFrame, Arrow table or dict of arrays
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a table that is not as declared, by the place of what is not, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, then `transform` the same table."""
        encoding = self._fit(X)
        return self.transform(X) if is_parted(X) else self._output(encoding.table(self.schema_))

    @lazily
    def transform(self, X: Any) -> Any:
        """The codes of a table.

        Parameters
        ----------
        X : DataFrame, Arrow table or dict of arrays

        Returns
        -------
        CodeTable
            Of one row for each row, one column for each of `get_feature_names_out`; a frame of them after `set_output`.
        """
        check_is_fitted(self)
        return self._output(encode(X, self.schema_))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """The names of the columns of codes: ndarray of str."""
        check_is_fitted(self)
        return np.array([column.name for column in self.schema_.code_columns], dtype=object)

    def find(self, encoding: Any, rng: np.random.Generator) -> Self:
        """Find what is open in the schema of an `Encoding` that holds all rows, for learners: they have checked."""
        schema = encoding.schema
        parts = plan(schema, exact("epsilon", self.epsilon), exact("delta", self.delta), self.neighbors)
        if parts and not encoding.n:
            raise ValueError("the table has no rows")
        public = self._public(encoding)
        if not parts:
            self._become(public)
            self.schema_, self.found_, self.privacy_ = schema, {}, PrivacySpend(0.0, 0.0, self.neighbors)
            return self
        with self._spending(public, rng, facts=len(parts)) as run:
            run.released = schema
            run.attributes["found_"] = {}
            for found in find(encoding, parts, self.neighbors, run.rng):
                run.released, left = found, found.to_find
                known = {
                    name: [f for f in facts if f not in left.get(name, ())] for name, facts in schema.to_find.items()
                }
                run.attributes["found_"] = {name: facts for name, facts in known.items() if facts}
                run.used["facts"] += 1
        return self

    def _publish(self, run):
        self.schema_ = run.released

    def _fit(self, X):
        p = self._checked()
        if is_parted(X):
            from dpfast.tables.parted import PartedEncoding

            encoding = PartedEncoding(parts_of(X, None, p.schema.names), p.schema)
        else:
            encoding = Encoding(p.schema)
            encoding.add(X)
        if p.schema.to_find:
            super()._warn(self._public(encoding))
        self.find(encoding, p.rng)
        return encoding

    def _warn(self, public):
        """Nothing: a learner that has this one find has said it before its charge, and `fit` does."""

    @staticmethod
    def _public(encoding):
        names = encoding.schema.names
        return Public(encoding.n, len(names), np.array(names, dtype=object))

    def _output(self, table):
        return table if _get_output_config("transform", self)["dense"] == "default" else table.toarray()

    def _checked(self):
        p = Parameters._checked(self)
        p.rng = random.generator(self.random_state)
        if p.budget is not None and p.schema.to_find:
            p.budget.foresee(self.epsilon, self.delta, neighbors=self.neighbors)
        return p
