"""The leaves of a model's trees as conditions: what columns say together, beside what each adds to the score."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from dpfast.kernels import reals
from dpfast.report.additive import code_columns
from dpfast.tables.cells import CodeColumn
from dpfast.tables.naming import visible

_LUCK = 0.1  # the chance with which some leaf of noise alone seems to be more
_NAMED = 3  # values that a condition names


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree: the rows for which all of its conditions hold.

    Attributes
    ----------
    conditions : tuple of str
        For example ("age above 37", "job is clerk or nurse"). There is none if all rows have the leaf.
    label : object
        The class whose score the leaf moves; for two classes the second.
    weight : float
        What the leaf adds to the score, beyond what the tree adds on average over the rows, by `share`.
    noise : float
        The standard deviation of `weight` due to the noise of the mechanism; 0 if it is not known.
    share : float
        The approximate share of the rows with this leaf, if columns were independent.
    """

    conditions: tuple[str, ...]
    label: Any
    weight: float
    noise: float
    share: float

    @property
    def importance(self) -> float:
        """Return by how much the leaf moves the score of a row on average: the absolute weight times the share."""
        return abs(self.weight) * self.share

    def __str__(self) -> str:
        return visible(f"{' and '.join(self.conditions) or 'any row'}: {self.weight:+.2f}")


def leaves(model: Any) -> list[Leaf]:
    """Return the leaves of a fitted model that are clear of noise, the most important first.

    If the weights of all leaves of a class were Gaussian noise and nothing else, there would be any with a chance of
    at most one in ten: the chances of the leaves are added up.

    Parameters
    ----------
    model : HalfspaceClassifier
        Fitted with trees on a table with a schema, declared or discovered.

    Returns
    -------
    list of Leaf
        Empty for a model without trees, or without a schema.
    """
    forest, columns = getattr(model, "trees_", None), code_columns(model)
    if forest is None or columns is None:
        return []
    trees, size = len(forest.asked), forest.sizes[0]
    start = sum(each.size for each in (*columns, *getattr(model, "interactions_", ())))
    labels = model.classes_ if len(model.coef_) > 1 else model.classes_[1:]
    shape = trees, size
    shares = getattr(model, "code_shares_", np.full(model.coef_.shape[1], 1 / size))[start:].reshape(shape)
    reach = float(-special.ndtri(_LUCK / 2 / (trees * size)))
    all_leaves = []
    for k, label in enumerate(labels.tolist()):
        noise = model.coef_noise_[k, start:].reshape(shape) if hasattr(model, "coef_noise_") else np.zeros(shape)
        weights = model.coef_[k, start:].reshape(shape)
        weights = weights - np.array([reals.dot(*each) for each in zip(shares, weights, strict=True)])[:, np.newaxis]
        for t, leaf in np.argwhere((np.abs(weights) > reach * noise) & (shares > 0)).tolist():
            numbers = float(weights[t, leaf]), float(noise[t, leaf]), float(shares[t, leaf])
            all_leaves.append(Leaf(_conditions(forest, t, leaf, columns), label, *numbers))
    return sorted(all_leaves, key=lambda leaf: -leaf.importance)


def _conditions(forest, t, leaf, columns):
    """Return what holds for the rows of a leaf, a text for each column that the way to it asks about."""
    left: dict[int, np.ndarray] = {}  # the codes that rows of the leaf can have
    node = 0
    for level in reversed(range(forest.depth)):
        yes = leaf >> level & 1
        column, places = forest.orders[forest.asked[t][node]]
        above = np.array(places) > forest.thresholds[t][node]
        left[column] = left.get(column, np.ones(len(places), bool)) & (above if yes else ~above)
        node = 2 * node + 1 + yes
    texts = (_condition(columns[column], codes) for column, codes in left.items())
    return tuple(text for text in texts if text)


def _condition(column: CodeColumn, codes: np.ndarray) -> str:
    """Return which codes of a column are allowed as text; nothing if all are."""
    if codes.all() or not codes.any():
        return f"no {column.name}" if not codes.any() else ""
    if column.ordered:
        bins = np.flatnonzero(codes[: column.bins])
        missing = column.missing is not None and codes[column.missing]
        if not len(bins):
            return f"{column.name} is missing"
        edges = column.edges or ()
        bounds = [edges[bins[0] - 1]] if bins[0] else []
        bounds += [edges[bins[-1]]] if bins[-1] < len(edges) else []
        whole = replace(column, edges=tuple(bounds), nullable=False, whole=False)
        text = whole.meaning(int(bins[0] > 0)) if bounds else "known"
        return f"{column.name} {text}" + (" or missing" if missing else "")
    few = codes if codes.sum() <= column.size - codes.sum() else ~codes
    names = [column.meaning(code) for code in np.flatnonzero(few).tolist()]
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return f"{column.name} is {'' if few is codes else 'not '}{' or '.join(names[:_NAMED] + more)}"
