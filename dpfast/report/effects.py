"""What a model does with each column: how far predictions move when a row has the value of another one.

The rows are drawn, column by column, by the shares that the fit released, or with equal shares for a model without
them. No row of the table is looked at, and the model is exact: only what it says of people is noisy.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.kernels import reals
from dpfast.report.additive import PairTerm, Term, code_columns
from dpfast.tables.codes import CodeTable

_ROWS, _LEAST, _CELLS = 2000, 200, 400_000  # drawn rows, the fewest of them, and cells of them in all
_AGAIN = 64  # draws of another value, before a row keeps its own
_MEAN, _DEVIATIONS = (2 / np.pi) ** 0.5, 2.0  # of the size of Gaussian noise of deviation 1
_SPREAD = (1 - 2 / np.pi) ** 0.5


@dataclass(frozen=True)
class Effect:
    """What a model does with a column of the table.

    Attributes
    ----------
    name : str
    changed : float
        The share of the drawn rows whose predicted class changes when they have the value of another row.
    moved, most : float or None
        By how much the probabilities of the classes move then, in the mean over the drawn rows and at most: half of the
        sum over the classes. None for a model without probabilities.
    own, low, high : float or None
        By how much the column alone moves the score of a row, in the mean over the released shares, and what that may
        be without the noise of the mechanism; of several classes, the largest. None for a model without terms.
    clear : bool
        Whether the effects of the column are clear of noise, or their noise is not known.
    furthest : float or None
        The most by which another value of the column can move the score of a row, whatever the other columns are.
    """

    name: str
    changed: float
    moved: float | None
    most: float | None
    own: float | None = None
    low: float | None = None
    high: float | None = None
    clear: bool = True
    furthest: float | None = None

    @property
    def size(self) -> float:
        """Return the effect by which columns are ranked."""
        return self.changed if self.moved is None else self.moved


class DrawnRows:
    """Rows that are drawn by the released shares of the codes of each column, the same for every page of a model.

    Parameters
    ----------
    model : fitted estimator
        Its table has a schema.
    found : list of Term
        Its terms, if it has some.
    """

    def __init__(self, model: Any, all_terms: list[Term]):
        self._columns = columns = code_columns(model) or ()
        self._schema = model.encoder_.schema_
        self._rng = np.random.Generator(np.random.Philox(key=len(columns)))
        self.n = int(np.clip(_CELLS // len(columns), _LEAST, _ROWS))
        shares = {term.column.name: term.shares for term in all_terms if not isinstance(term, PairTerm)}
        self.weighed = bool(shares) and hasattr(model, "code_shares_")
        equal = (_equal_shares(column) for column in columns)
        self._below = [np.cumsum(shares.get(c.name, e)) for c, e in zip(columns, equal, strict=True)]
        self.codes = [self._draw(j) for j in range(len(columns))]

    @property
    def table(self) -> CodeTable:
        """Return the rows as a table of codes."""
        return self._table(self.codes)

    def exchanged(self) -> Any:
        """Yield each column of the table with the rows in which it has the value of another row."""
        for column, at in self._columns_of():
            yield column, self._moved(at)

    def switched(self, name: str) -> CodeTable:
        """Return the rows in which a column has another value, drawn by the shares of the others.

        Of a column whose cells are of several kinds, each row has the cell of another row.
        """
        at = next(at for column, at in self._columns_of() if column.name == name)
        if len(at) > 1:
            return self._moved(at)
        codes = [*self.codes]
        codes[at[0]] = self._another(at[0])
        return self._table(codes)

    def _columns_of(self):
        """Yield each column of the table with the places of its columns of codes."""
        start = 0
        for column in self._schema.columns:
            stop = start + len(column.code_columns())
            yield column, range(start, stop)
            start = stop

    def _moved(self, at):
        """Return the rows, where the codes of some columns are those of another row, the next one."""
        codes = [np.roll(each, 1) if j in at else each for j, each in enumerate(self.codes)]
        return self._table(codes)

    def _draw(self, j):
        below = self._below[j]
        codes = np.searchsorted(below, self._rng.random(self.n) * below[-1], side="right")
        return codes.clip(max=len(below) - 1).astype(np.uint16)

    def _another(self, j):
        codes = self.codes[j].copy()
        for _ in range(_AGAIN):
            same = codes == self.codes[j]
            if not same.any():
                break
            codes[same] = self._draw(j)[same]
        return codes

    def _table(self, codes):
        typed = [
            each.astype(np.uint8 if column.size <= 256 else np.uint16)
            for each, column in zip(codes, self._columns, strict=True)
        ]
        return CodeTable.of_columns(self._columns, self.n, typed)


def _equal_shares(column):
    """Return equal shares for the bins or values of a column, and none for other and missing cells beside them."""
    size = column.bins or column.size
    return np.where(np.arange(column.size) < size, 1 / size, 0.0)


def effects(model: Any, all_terms: list[Term], rows: DrawnRows) -> list[Effect]:
    """Return the effect of each column of a model's table, the largest first.

    Parameters
    ----------
    model : fitted estimator
        Its table has a schema.
    found : list of Term
        Its terms, if it has some.
    rows : DrawnRows

    Returns
    -------
    list of Effect
    """
    before = _predictions(model, rows.table)
    effects = []
    for column, table in rows.exchanged():
        names = {each.name for each in column.code_columns()}
        own = [term for term in all_terms if term.column.name in names and not isinstance(term, PairTerm)]
        moves = _moves(before, _predictions(model, table))
        effect: dict[str, Any] = _of_terms(own) | {"furthest": _furthest(model, own, names)}
        effects.append(Effect(column.name, *moves, **effect))
    return sorted(effects, key=lambda each: -each.size)


def switches(model: Any, name: str, rows: DrawnRows) -> tuple[float, float | None, float | None]:
    """Return what another value of a column does: `changed`, `moved` and `most` of an `Effect`.

    Parameters
    ----------
    model : fitted estimator
    name : str
        The name of a column of its table.
    rows : DrawnRows

    Returns
    -------
    tuple of float
    """
    return _moves(_predictions(model, rows.table), _predictions(model, rows.switched(name)))


def predicted_classes(model: Any, table: Any) -> np.ndarray:
    """Return the number of the class that a model predicts for each row; an array of names would be as wide as one."""
    return model._released_model().classify(model._read_rows(table))


def _predictions(model, table):
    """Return the numbers of the classes of rows and the probabilities, None if the model has none."""
    return predicted_classes(model, table), model.predict_proba(table) if hasattr(model, "predict_proba") else None


def _moves(before, after):
    """Return the share of the rows whose class changes, and by how much probabilities move in the mean and at most."""
    changed = np.count_nonzero(before[0] != after[0]) / len(before[0])
    if before[1] is None:
        return changed, None, None
    distance = np.abs(after[1] - before[1]).sum(axis=1) / 2
    return changed, float(reals.sum(distance)) / len(distance), float(distance.max())


def _of_terms(own):
    """Return by how much the terms of a column move scores, and what that may be without noise."""
    if not own:
        return {}
    term = max(own, key=lambda term: term.importance)
    low, high = importance_interval(term)
    return {"own": term.importance, "low": low, "high": high, "clear": any(each.clear for each in own)}


def importance_interval(term: Term) -> tuple[float, float]:
    """Return an interval for the importance of a term without noise; it fails with a chance of about 2%.

    Without noise, the mean size of the weights differs from the importance by at most the mean size of the noise, whose
    mean and deviation are known.
    """
    if term.noise is None:
        return term.importance, term.importance
    mean = _MEAN * float(reals.dot(term.shares, term.noise))
    spread = _SPREAD * float(reals.sum(np.square(term.shares * term.noise))) ** 0.5
    reach = mean + _DEVIATIONS * spread
    return max(0.0, term.importance - reach), term.importance + reach


def _furthest(model, own, names):
    """Return the most by which a column can move the score of a row, or None for a model without terms.

    Of its own term that is the distance of two weights; a pair or a tree that has the column can add at most the
    distance of two of its cells or leaves.
    """
    if not own:
        return None
    columns = code_columns(model) or ()
    at = {j for j, column in enumerate(columns) if column.name in names}
    weights, start = np.atleast_2d(model.coef_), 0
    furthest = np.zeros(len(weights))
    for j, column in enumerate(columns):
        if j in at:
            furthest += np.ptp(weights[:, start : start + column.size], axis=1)
        start += column.size
    for pair in getattr(model, "interactions_", ()):
        if at & {*pair.columns}:
            furthest += np.ptp(weights[:, start : start + pair.size], axis=1)
        start += pair.size
    forest = getattr(model, "trees_", None)
    for questions, size in () if forest is None else zip(forest.asked, forest.sizes, strict=True):
        if at & {forest.orders[order][0] for order in questions}:
            furthest += np.ptp(weights[:, start : start + size], axis=1)
        start += size
    return float(furthest.max())
