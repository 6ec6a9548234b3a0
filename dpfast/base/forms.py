"""Forms in which learners read their rows, each a value that a learner declares as `reads`.

A form maps rows to what a learner reads, one row at a time: the image of a row depends on that row, on declarations and
on releases alone.
"""

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.inputs import packed_rows
from dpfast.kernels import bits
from dpfast.kernels.own import frozen
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.cells import CodeColumn
from dpfast.tables.code_bits import CodeBits, bit_count, pack_codes
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import BINS
from dpfast.tables.projection import projectable
from dpfast.tables.row_array import by_row
from dpfast.tables.unit_rows import unit_rows


class Outline(NamedTuple):
    """What plans know of rows: their shape and, for rows of codes, the columns and the number of codes of each."""

    shape: tuple[int, int]
    sizes: tuple[int, ...] | None = None
    columns: Sequence[CodeColumn] = ()


@dataclass(frozen=True)
class Form:
    """Base of the forms of rows.

    Parameters
    ----------
    several_classes : bool, default=True
        Whether labels may be of more than two classes.
    in_parts : bool, default=True
        Whether the rows may lie in files and on clusters, as the learner asks only for sums over them.
    sparse : bool, default=True
        Whether sparse matrices are read.
    one_column : bool, default=False
        Whether rows of one dimension are a column.
    surveyed : bool
        Whether dense arrays of numbers whose rows suffice are surveyed like frames; by default only for codes and bits.
    vector_parameters : tuple of str, default=()
        The names of parameters that only make sense for vectors: if one of them has not its default, arrays are not
        surveyed.
    names_classes : str, default=""
        The name of a parameter that names classes, if one does: labels are not discovered then, as one may be lost.
    spacing : {"mixed", "fine"}, default="mixed"
        How numbers that a schema declares without edges are divided: see `dpfast.Schema.with_spacing`.
    bins : int, default=32
        About how many bins discovered numbers and dates of a column have at most.
    groups : bool, default=False
        Whether rare words of a discovered column have groups also beside published ones.
    why_whole : str, default=""
        Without `in_parts`, the error for a table in parts, if it depends on parameters.
    """

    _: KW_ONLY
    several_classes: bool = True
    in_parts: bool = True
    sparse: bool = True
    one_column: bool = False
    surveyed: bool = False
    vector_parameters: tuple[str, ...] = ()
    names_classes: str = ""
    spacing: str = "mixed"
    bins: int = BINS
    groups: bool = False
    why_whole: str = ""

    def outline(self, columns: Sequence[CodeColumn]) -> Any:
        """Return what `empty` gives for a row of zeros of these columns of codes, or an `Outline` of it.

        Parameters
        ----------
        columns : sequence of CodeColumn

        Returns
        -------
        table
        """
        if type(self).coded is not Form.coded:
            return self.empty(self.coded(CodeTable.of_columns(columns, 1)))
        d = bit_count(columns)
        return self.empty(BitMatrix.from_rows(frozen(np.zeros((1, bits.words(d)), np.uint64)), d))

    def surveys(self) -> bool:
        """Return whether dense arrays of numbers whose rows suffice are surveyed like frames.

        Returns
        -------
        bool
        """
        return self.surveyed

    def reads_by(self, schema: Any) -> Any:
        """Return a schema with the numbers divided as this form needs it.

        Parameters
        ----------
        schema : Schema

        Returns
        -------
        Schema
        """
        return schema.fine() if self.spacing == "fine" else schema.with_spacing(self.spacing)

    def describe(self, rows: Any) -> Hashable:
        """Return further public facts of rows in this form, which plans get as `task.form`; by default None.

        Parameters
        ----------
        rows : table
            What `rows` gives, or `outline`. The facts follow from types, declarations and numbers of columns, never
            from an entry.

        Returns
        -------
        hashable
        """
        return None

    def coded(self, X: Any) -> Any:
        """Return a table of codes in the form from which `rows` starts, with the names of its columns.

        Parameters
        ----------
        X : table

        Returns
        -------
        table
        """
        return CodeBits(X).pack() if isinstance(X, CodeTable) else X

    def rows(self, X: Any) -> Any:
        """Return rows as the learner reads them.

        Parameters
        ----------
        X : table
            Vectors, or what `coded` gives.

        Returns
        -------
        table
            It has a `shape`.
        """
        raise NotImplementedError

    def rows_to_score(self, X: Any) -> Any:
        """Return rows as models score them; by default as the learner reads them.

        Parameters
        ----------
        X : table
            Vectors, or what `coded` gives.

        Returns
        -------
        table
            It has a `shape`.
        """
        return self.rows(X)

    def empty(self, X: Any) -> Any:
        """Return the form of a row of zeros, if `rows` would refuse it.

        Parameters
        ----------
        X : table

        Returns
        -------
        table
        """
        return self.rows(X)


@dataclass(frozen=True)
class Codes(Form):
    """Rows of codes, a `CodeTable`: one code for each column; of a number that no schema declares, whether it is large.

    Parameters
    ----------
    threshold : float or array_like of float, shape (d,), default=0.0
        Of vectors, the code of a number is 1 if it is above the threshold, else 0.
    several_classes, in_parts, sparse, one_column, surveyed, vector_parameters, names_classes, spacing, bins, groups
        As in `Form`.
    why_whole
        As in `Form`.
    """

    threshold: float | ArrayLike = 0.0
    surveyed: bool = field(default=True, kw_only=True)

    def surveys(self) -> bool:
        return self.surveyed and _is_zero(self.threshold)

    def outline(self, columns: Sequence[CodeColumn]) -> Outline:
        return Outline((1, len(columns)), tuple(column.size for column in columns))

    def coded(self, X: Any) -> Any:
        return X

    def rows(self, X: Any) -> CodeTable:
        if isinstance(X, CodeTable):
            return X
        table = packed_rows(X, self.threshold)
        columns = bits.unpack(np.stack([table.column(j) for j in range(table.shape[1])]), len(table))
        names = getattr(table, "feature_names", None)
        return CodeTable.from_arrays(columns.astype(np.uint8), [2] * table.shape[1], names=names)


@dataclass(frozen=True)
class Bits(Form):
    """Rows of bits, a `BitMatrix`; a column of codes has one bit for each edge or value.

    Parameters
    ----------
    threshold : None, float or array_like of float, shape (d,), default=0.0
        Of vectors, a bit is 1 if the number is above the threshold; with None, numbers must be 0 and 1.
    several_classes, in_parts, sparse, one_column, surveyed, vector_parameters, names_classes, spacing, bins, groups
        As in `Form`.
    why_whole
        As in `Form`.
    """

    threshold: float | ArrayLike | None = 0.0
    surveyed: bool = field(default=True, kw_only=True)

    def surveys(self) -> bool:
        return self.surveyed and _is_zero(self.threshold)

    def outline(self, columns: Sequence[CodeColumn]) -> Outline:
        return Outline((1, bit_count(columns)))

    def rows(self, X: Any) -> BitMatrix:
        return packed_rows(pack_codes(X), self.threshold)


@dataclass(frozen=True)
class UnitRows(Form):
    """Rows of numbers, of Euclidean norm at most 1; codes are bits.

    Rows in this form, such as `piece.rows`, have the methods ``margins(w)`` and ``weighted_sum(weights)``.

    Parameters
    ----------
    intercept : bool, default=True
        Whether each row gets a further entry of 1, before it is scaled.
    normalize : bool, default=True
        Whether all rows are scaled to norm 1; otherwise only those of a larger norm are, and the others stay.
    several_classes, in_parts, sparse, one_column, surveyed, vector_parameters, names_classes, spacing, bins, groups
        As in `Form`.
    why_whole
        As in `Form`.
    """

    intercept: bool = True
    normalize: bool = True

    def rows(self, X: Any) -> Any:
        return unit_rows(pack_codes(X), fit_intercept=self.intercept, normalize=self.normalize)


@dataclass(frozen=True)
class Numbers(Form):
    """Rows of numbers as they are: a float32 array, a sparse matrix or a `BitMatrix`.

    For dense rows, ``rows @ w`` is computed for each row alone, as `dpfast.kernels.reals.products` does: a product by
    BLAS depends on how many rows there are. Sums over rows with real weights, ``rows.T @ weights`` say, are refused.

    Parameters
    ----------
    several_classes, in_parts, sparse, one_column, surveyed, vector_parameters, names_classes, spacing, bins, groups
        As in `Form`.
    why_whole
        As in `Form`.
    """

    def rows(self, X: Any) -> Any:
        return by_row(projectable(X))


def _is_zero(threshold):
    """Return whether a threshold is the default; others were written for vectors."""
    return np.array_equal(np.asarray(threshold), 0.0)
