"""What estimators share: bars and callbacks of rounds, checks of tables that models read, and their pages."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from dpfast.learners.fitting import Public
from dpfast.learners.scikit import BaseEstimator, with_callbacks
from dpfast.tables import BitMatrix, CodeTable
from dpfast.tables.arrays import check_shape
from dpfast.tables.bit_matrix import SparseBits, suits
from dpfast.tables.code_bits import CodeBits

F = TypeVar("F", bound=Callable[..., Any])
_TABLES = (BitMatrix, CodeBits, CodeTable)


def progress_bar(
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


def call_callbacks(fit: F) -> F:
    """Decorate the `fit` of an estimator, so that it calls the callbacks of scikit-learn 1.9 and later.

    The estimator has scikit-learn's `CallbackSupportMixin`. Callbacks learn that a fit or a round begins or ends, and
    of which estimator; they learn nothing of rows and of private values. Those that refuse do so before the charge.
    Their return values stop nothing, and a callback that raises interrupts the fit.
    """

    @wraps(fit)
    def calling(self: Any, *given: Any, **named: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return fit(self, *given, **named)
        whole = self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self)
        fit(self, *given, **named)
        whole.call_on_fit_task_end(estimator=self)
        return self

    return with_callbacks(calling)


def check_columns(estimator: Any, X: Any, width: int, names: Any) -> None:
    """Refuse X if it has not these columns, like scikit-learn does for frames and arrays."""
    if not isinstance(X, _TABLES):
        validate_data(estimator, X, skip_check_array=True, reset=False)
        return
    kind, own = type(estimator).__name__, None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    if X.shape[1] != width:
        raise ValueError(f"X has {X.shape[1]} features, but {kind} is expecting {width} features as input")
    if own is not None and names is not None and not np.array_equal(own, names):
        raise ValueError("The feature names should match those that were passed during fit, in the same order")


def public_of(X: Any, labels: Any) -> Public:
    """Return what a fit on X with these `Labels` treats as public."""
    width, names = columns_of(X)
    return Public(len(labels.codes), width, names, labels.classes, labels.declared)


def columns_of(X):
    """Return the number of the columns of X and their names, or None, as scikit-learn reads them off frames."""
    if sp.issparse(X) or (type(X) is np.ndarray and X.ndim == 2):
        return X.shape[1], None
    if isinstance(X, _TABLES):
        return X.shape[1], None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    new = BaseEstimator()
    validate_data(new, X, skip_check_array=True, reset=True)
    return new.n_features_in_, getattr(new, "feature_names_in_", None)


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


def refuse_weights(arguments):
    """Raise an error for unknown arguments of `fit`; for `sample_weight`, explain why."""
    if arguments.pop("sample_weight", None) is not None:
        raise ValueError(
            "sample_weight is refused: a row of weight w moves the sums w times as far, and the privacy claim "
            "is for rows that count once each"
        )
    if arguments:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(arguments))!r}")
