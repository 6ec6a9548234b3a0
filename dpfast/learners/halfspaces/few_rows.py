"""Scores of a few rows of codes, without the columns for pairs and trees that are made for many rows."""

import numpy as np

from dpfast.learners.halfspaces.pairs import Interaction
from dpfast.learners.halfspaces.trees import Forest
from dpfast.tables.codes import CodeRows, round_coefficients


def scores_of_few(
    rows: CodeRows, pairs: tuple[Interaction, ...], trees: Forest | None, coef: np.ndarray, intercept: np.ndarray
) -> np.ndarray | None:
    """Return what `CodeRows.linear_scores` gives for the rows with pairs and leaves, bit by bit.

    Parameters
    ----------
    rows : CodeRows, at least one and at most `dpfast.tables.few_rows.MOST`
    pairs, trees
        As in `AdditiveModel`.
    coef : ndarray, shape (codes, k)
    intercept : ndarray, shape (k,)

    Returns
    -------
    ndarray of float32, shape (n, k), or None
        None if the codes are those of another model, which is refused where columns are made.
    """
    sizes: list[int] = rows.sizes.tolist()
    read = [(j, len(group)) for pair in pairs for j, group in zip(pair.columns, pair.groups, strict=True)]
    read += [] if trees is None else [(j, len(places)) for j, places in trees.orders]
    if any(j >= len(sizes) or sizes[j] != size for j, size in read):
        return None
    sizes = [*sizes, *(pair.size for pair in pairs), *([] if trees is None else trees.sizes)]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    if len(coef) != offsets[-1]:
        return None
    table, step = round_coefficients(coef, offsets)
    codes = np.array([rows.column(j) for j in range(len(rows.sizes))], np.int64)
    groups = [[np.array(group)[codes[j]] for j, group in zip(p.columns, p.groups, strict=True)] for p in pairs]
    made = [codes, *(a * pair.shape[1] + b for (a, b), pair in zip(groups, pairs, strict=True))]
    if trees is not None:
        made.append(trees.leaves([places[codes[j]] for j, places in trees.places]))
    entries = np.vstack(made) + offsets[:-1, np.newaxis]
    margins = table[entries].sum(axis=0).astype(np.int32)  # which holds them: see `round_coefficients`
    out = np.multiply(margins, np.float32(step), dtype=np.float32)
    out += intercept.astype(np.float32)
    return out
