"""Predicted classes, and which of several classes with one score is predicted: the one with most rows, if released."""

import numpy as np


def predicted(scores: np.ndarray, sizes: np.ndarray | None = None) -> np.ndarray:
    """Return the number of the class of each row by its scores.

    Parameters
    ----------
    scores : ndarray, shape (n,) or (n, n_classes)
        The scores of the classes, or for two classes one score, above 0 for the second class.
    sizes : ndarray, shape (n_classes,), optional
        Noisy numbers of rows of the classes. Of classes with equal scores, the one with most rows is predicted; without
        sizes, the second of two classes, and the first of several.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    if scores.ndim == 1:
        second = sizes is None or sizes[1] >= sizes[0]
        return ((scores >= 0) if second else (scores > 0)).astype(np.int64)
    order = np.arange(scores.shape[1]) if sizes is None else np.argsort(-sizes, kind="stable")
    return order[scores[:, order].argmax(axis=1)]
