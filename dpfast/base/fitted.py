"""Reading of further tables by a fitted model, and its columns as the learner reads them."""

import os
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import validate_data

from dpfast.accounting.claims.spend import claim_of_file
from dpfast.base.encoder import TableEncoder
from dpfast.base.fitting import FEW, OUTLINE, Public, publish
from dpfast.base.inputs import check_columns
from dpfast.base.saving import entries, found_facts, found_shares
from dpfast.tables.arrays import as_objects, refuse_masked, with_text_names
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import first_repeated
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding, encode
from dpfast.tables.few_rows import FewRows, is_few
from dpfast.tables.schema import Schema
from dpfast.tables.sources import with_names


class ModelReader:
    """Reader of the tables of a fitted model.

    Parameters
    ----------
    model : PrivateClassifier
    """

    def __init__(self, model: Any):
        self._model, self._form, self._encoder = model, model.reads, vars(model).get("encoder_")

    def rows(self, X: Any) -> Any:
        """Return the rows of X as models score them; refuse other columns than those of the fit."""
        if (few := self._few_rows(X)) is not None:
            return self._form.rows_to_score(self._form.coded(few))
        X = self._form.coded(self.table(X))
        rows = self._form.rows_to_score(X)
        check_columns(self._model, X, self.width, self.names)
        return rows

    def _few_rows(self, X):
        """Return a few rows of a plain table as codes, or None for other tables, which `table` reads or refuses."""
        if self._encoder is None or not is_few(X):
            return None
        attributes = vars(self._model)
        if FEW not in attributes:
            attributes[FEW] = FewRows(self._encoder.schema_)
        return attributes[FEW].read(X, named=not self._encoder._nameless)

    @property
    def width(self) -> int:
        """Return the number of columns that the learner reads: those of X, or those made from codes."""
        return self._model.n_features_in_ if self._encoder is None else self._outline().shape[1]

    @property
    def names(self) -> Any:
        """Return their names, or None."""
        if self._encoder is None:
            return vars(self._model).get("feature_names_in_")
        names = self._outline().feature_names
        return None if names is None else np.array(names, dtype=object)

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """Return the number of codes of each column, if the learner reads the codes of a schema."""
        form = None if self._encoder is None else self._outline()
        return tuple(form.sizes.tolist()) if isinstance(form, CodeTable) else None

    def restore(self, saved: Any) -> None:
        """Read tables as declared in a model's file: set `encoder_`, and its schema as the parameter."""
        entries(saved, "schema", "privacy", maybe=("found", "other"))
        schema, claim = Schema.from_dict(saved["schema"]), claim_of_file(saved["privacy"], part=True)
        model, names = self._model, np.array(schema.names, dtype=object)
        n_codes = model.n_features_in_
        model.schema = schema
        model.encoder_ = encoder = TableEncoder(
            schema, claim.epsilon or 1.0, claim.delta or 1e-6, neighbors=model.neighbors
        )
        public = Public(0, len(names), names)
        publish(encoder, public.attributes(), {})
        encoder.schema_, encoder.privacy_ = schema, claim
        encoder._nameless = all(
            isinstance(each, Discovered) and each.name == f"x{j}" for j, each in enumerate(schema.columns)
        )
        encoder.found_ = found_facts(saved.get("found", {}), schema)
        encoder.other_ = found_shares(saved.get("other", {}), schema)
        self._encoder = encoder
        if n_codes != self.width:  # names of codes follow from the schema, and were printed otherwise before
            raise ValueError(f"the model reads {n_codes} columns of codes, and its schema makes {self.width}")
        model.n_features_in_, model.feature_names_in_ = len(names), names
        if encoder._nameless:
            del model.feature_names_in_

    def _outline(self):
        """Return the learner's form of an empty table."""
        attributes = vars(self._model)
        if OUTLINE not in attributes:
            columns = self._encoder.schema_.code_columns
            attributes[OUTLINE] = self._form.coded(CodeTable.of_columns(columns, 0))
        return attributes[OUTLINE]

    def table(self, X: Any) -> Any:
        """Return X as codes, if the model has a schema; else X."""
        if self._encoder is not None:
            schema, model = self._encoder.schema_, self._model
            if model.schema is None or isinstance(model.schema, str) or self._encoder._nameless:
                X = self._with_names(X)
            if isinstance(X, str | os.PathLike):
                raise ValueError("X must be a table in memory; dpfast.files.read_codes reads files by encoder_.schema_")
            if not isinstance(X, CodeTable):
                X = X.table(schema) if isinstance(X, Encoding) else encode(X, schema)
            elif X.columns != schema.code_columns:
                raise ValueError("X is a table of codes, of another schema than the model's")
        return X

    def _with_names(self, X):
        """Return X with the names of the columns of the fit, for models of undeclared tables."""
        X = as_objects(X) if isinstance(X, list | tuple) else with_text_names(X)
        if isinstance(X, CodeTable) or not hasattr(X, "shape"):
            return X
        nameless = self._encoder._nameless
        refuse_masked("X", X)
        if self._model.schema is None or nameless:
            X = pa.Table.from_batches([X]) if isinstance(X, pa.RecordBatch) else X  # scikit-learn needs its names
            if (twice := first_repeated(getattr(X, "columns", ()) if hasattr(X, "iloc") else ())) is not None:
                raise ValueError(f"two columns have the name {twice!r}")
            validate_data(self._model, X, skip_check_array=True, reset=False)
        return with_names(np.asarray(X) if nameless else X, self._encoder.schema_.names)
