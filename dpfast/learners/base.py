"""Base classes of the estimators: how they read tables and labels, charge a budget and are saved."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_consistent_length, validate_data

from dpfast.learners.batches import in_batches
from dpfast.learners.fitting import Fit, Private, Public
from dpfast.learners.notes import notes_of, warn_of_lost
from dpfast.learners.others import score
from dpfast.learners.parameters import VERBOSE, estimator
from dpfast.learners.reading import TableReader
from dpfast.learners.saving import Read, Saved
from dpfast.learners.scikit import BaseEstimator, CallbackSupportMixin, ClassifierMixin, with_callbacks
from dpfast.learners.ties import predicted
from dpfast.parts.blocks import with_image
from dpfast.tables import BitMatrix, CodeTable
from dpfast.tables.arrays import check_shape
from dpfast.tables.bit_matrix import SparseBits, suits
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.labels import two_classes
from dpfast.tables.naming import visible

F = TypeVar("F", bound=Callable[..., Any])
_TABLES = (BitMatrix, CodeBits, CodeTable)


def shown(
    iterable: Iterable,
    what: str,
    verbose: bool,
    total: int | None = None,
    *,
    rows: int | None = None,
    parts: Any = None,
) -> Iterable:
    """Return the same iterable of rounds, with a progress bar labelled `what` if wanted.

    `total` is for an iterable without a length. With `rows`, unless their number is private, the bar shows rows per
    second, and with `parts` the bytes that they answer in a round.
    """
    return _tracked(iterable, what, total, rows, parts) if verbose else iterable


def _tracked(iterable, what, total, rows, parts):
    from rich.progress import Progress, ProgressColumn
    from rich.text import Text

    class Rates(ProgressColumn):
        """A column of the progress bar that changes when a round ends."""

        def render(self, task):
            rates, rounds = [], task.completed
            if rows is not None and rounds and task.elapsed:
                rates.append(f"{rows * rounds / task.elapsed:,.0f} rows/s")
            if getattr(parts, "moved", 0) and getattr(parts, "only", None) is None and rounds:
                rates.append(f"{parts.moved / rounds:,.0f} bytes a round")
            return Text(", ".join(rates))

    with Progress(*Progress.get_default_columns(), Rates()) as progress:
        yield from progress.track(iterable, total=total, description=what)


class Watched(CallbackSupportMixin):
    """Mixin of estimators whose `fit`, decorated by `watched`, calls the callbacks of scikit-learn 1.9 and later.

    Callbacks learn that a fit or a round begins or ends, and of which estimator; they learn nothing of rows and of
    private values. Those that refuse do so before the charge. Their return values stop nothing, and a callback that
    raises interrupts the fit.
    """

    def _watched(self, rounds: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
        """Return the same rounds of the current fit, at most `total`, which call the callbacks."""
        return call_back(self, rounds, what, total)


def call_back(estimator: Any, rounds: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
    """Return the same rounds of the current fit of an estimator, at most `total`, which call its callbacks."""
    whole = vars(estimator).get("_callback_fit_ctx")
    return rounds if whole is None else _calling_back(estimator, rounds, whole.subcontext(what, max_subtasks=total))


def _calling_back(estimator: Any, rounds: Iterable[Any], all_rounds: Any) -> Iterator[Any]:
    all_rounds.call_on_fit_task_begin(estimator=estimator)
    for each in rounds:
        one = all_rounds.subcontext(all_rounds.task_name).call_on_fit_task_begin(estimator=estimator)
        yield each
        one.call_on_fit_task_end(estimator=estimator)
    all_rounds.call_on_fit_task_end(estimator=estimator)


def watched(fit: F) -> F:
    """Decorate the `fit` of an estimator that is `Watched`."""

    @wraps(fit)
    def calling(self: Any, *given: Any, **named: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return fit(self, *given, **named)
        whole = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self)
        fit(self, *given, **named)
        whole.call_on_fit_task_end(estimator=self)
        return self

    return with_callbacks(calling)


class TableClassifier(Read, ClassifierMixin, BaseEstimator):
    """Base of all classifiers; checks a table and its labels."""

    decision_function: Callable[..., np.ndarray]
    classes_: np.ndarray
    notes_: list[str]

    @in_batches("ndarray, shape (n,)")
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted label of each row."""
        codes = predicted(self.decision_function(X), vars(self).get("class_sizes_"))
        return self.classes_[codes]

    def _check_features(self, X):
        """Check the width and the column names of X, as scikit-learn does for frames and arrays."""
        if not isinstance(X, _TABLES):
            validate_data(self, X, skip_check_array=True, reset=False)
            return
        names = None if X.feature_names is None else np.array(X.feature_names, dtype=object)
        if X.shape[1] != self._width:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self._width} features as input"
            )
        elif names is not None and self._names is not None and not np.array_equal(self._names, names):
            raise ValueError("The feature names should match those that were passed during fit, in the same order")

    def _public(self, X, labels):
        """Return what a fit on X with these `Labels` treats as public, without changing self."""
        return Public(len(labels.codes), *columns_of(X), labels.classes, labels.declared)


def columns_of(X):
    """Return the number of the columns of X and their names, or None, as scikit-learn reads them off frames."""
    if sp.issparse(X) or (type(X) is np.ndarray and X.ndim == 2):
        return X.shape[1], None
    if isinstance(X, _TABLES):
        return X.shape[1], None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    new = BaseEstimator()
    validate_data(new, X, skip_check_array=True, reset=True)
    return new.n_features_in_, getattr(new, "feature_names_in_", None)


class Shown:
    """Mixin of private estimators that `dpfast.report` can draw."""

    __sklearn_is_fitted__: Callable[[], bool]

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a self-contained HTML page with predictions, accuracy, privacy claim, the model and its table.

        Parameters
        ----------
        path : str or path-like
        """
        from dpfast.report.html import write

        write(self, path)

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        from dpfast.report.text import summary

        return summary(self)

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return estimator_html_repr(self)
        from dpfast.report.html import page

        return page(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


@estimator
class PrivateClassifier(TableReader, Private, Saved, Shown, Watched, TableClassifier):
    """Base of the private classifiers.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Only if X had names.
    encoder_ : TableEncoder
        Only with a schema: `encoder_.schema_` is the completed schema, `encoder_.privacy_` the cost of its discovery.
    privacy_ : dpfast.accounting.PrivacySpend
        The claim of everything that the fit released.
    class_sizes_ : ndarray of float64, shape (n_classes,)
        Noisy numbers of rows of the classes, if the fit released them. Of classes with equal scores, `predict` returns
        the one with most rows.
    notes_ : list of str
        What the fit decided, in short sentences: how undeclared columns were read, what was not discovered, which class
        stands for other labels, whom the claim protects. They follow from released and public facts.
    """

    verbose: bool = VERBOSE
    score = score

    @watched
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
            With `units`: the largest number of rows used per unit, chosen at random; see `dpfast.learners.units`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, before anything is charged or drawn. After the charge, if fewer than two
            labels were discovered.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        refuse_weights(refused)
        p = self._for_fit(self._checked(X, y, units))
        with self._fitting(p.rng) as run:
            self._learn(self._tabled(classes, p, units, rows_per_unit, run), p, run)
        warn_of_lost(self)
        return self

    @staticmethod
    def _for_fit(p):
        """Return checked parameters as `fit` needs them; overridden by learners that also learn from streams."""
        return p

    def _settle(self, run: Fit) -> None:
        super()._settle(run)
        self.notes_ = [visible(note) for note in (*notes_of(self), *run.notes)]

    def _learn(self, table, p, run):
        """Charge and learn, within `_fitting`, from what `_tabled` gives and parameters that `_checked` gives."""
        raise NotImplementedError

    def _asked(self, table, image, form=None):
        """Return the parts of a `_tabled` table, the image of one part, and what a fit treats as public.

        `image` maps rows to the form that this learner reads, which has a `shape`; `form` does so for a row of zeros,
        if `image` may refuse such a row.
        """
        parts = table.parts.map(with_image, image)
        known = parts.each(_read)
        rows = (form or image)(table.like) if parts.only is None else parts.only.rows
        if any(width != _width(rows) for _, width in known):
            raise ValueError("parts of X must have the same columns and types")
        public = self._public(self._read_codes(table.like), table.labels)
        public.n_rows, public.n_labelled = table.n, sum(n for n, _ in known)
        if not self.__sklearn_tags__().classifier_tags.multi_class:
            two_classes(public.classes)
        return parts, rows, public

    def _read_by_image(self, X, image):
        """Return the image of X of `predict`, whose columns must be those of the fit."""
        X = self._coded(X)
        rows = image(X)
        self._check_features(X)
        return rows

    def _shown(self, rounds, what, parts, public, total=None):
        """Return the rounds, with a progress bar if wanted.

        The bar shows the number of rows and the bytes that parts answered only if the number of rows is public, since
        these bytes tell an empty part from a part with one row.
        """
        known = {"rows": public.n_rows, "parts": parts} if self.neighbors == "replace" else {}
        most = len(rounds) if total is None else total
        return self._watched(shown(rounds, what, self.verbose, total, **known), what, most)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # noise decides on small tables
        return tags


def _read(piece):
    """Compute the image of a piece; raise an error if the image refuses its rows, or labels are more or fewer."""
    n = piece.rows.shape[0]
    if len(piece.labels) != n:
        check_consistent_length(np.empty(n), piece.labels)
    return n, _width(piece.rows)


def _width(rows):
    return rows.shape[1], getattr(rows, "reach", None), getattr(rows, "signed", None)


def packed_rows(X, threshold, packs=True):
    """Return X as packed bits, as the bits of its codes, or, without `packs`, as the positions of its few ones."""
    if isinstance(X, CodeBits | CodeTable):
        table = CodeBits(X) if isinstance(X, CodeTable) else X
    elif not packs and suits(X, threshold):
        table = SparseBits(X, threshold)
    else:
        table = BitMatrix(X, threshold=None if isinstance(X, BitMatrix) else threshold)
    check_shape(table.shape)
    return table


class TwoSided:
    """Mixin of classifiers of two classes; the sign of `decision_function` gives the class."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def refuse_weights(arguments):
    """Raise an error for unknown arguments of `fit`; for `sample_weight`, explain why."""
    if arguments.pop("sample_weight", None) is not None:
        raise ValueError(
            "sample_weight is refused: a row of weight w moves the sums w times as far, and the privacy claim "
            "is for rows that count once each"
        )
    if arguments:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(arguments))!r}")
