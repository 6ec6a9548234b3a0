"""Cover of private elements by the exponential mechanism [BF, Algorithm A.1]."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.kernels import levels
from dpfast.mechanisms.draws import Claim, Question, ask

_LARGEST = 1 << 30  # of an entry: sums over the elements fit into 64 bits


def exponential_cover(
    covers: ArrayLike,
    exponent: float | Fraction,
    *,
    rounds: int,
    worth: ArrayLike | None = None,
    bounds: tuple[int, ...] = (0, 1),
    available: Callable[..., Any] | None = None,
    rng: int | np.random.Generator | None = None,
) -> list[int]:
    """Draw candidates that cover private elements, one after another: EMCover [BF, appendix A.1]_.

    In each round a candidate is drawn with probability exactly proportional to exp(exponent * score). Its score is the
    sum of the worth, to it, of the uncovered elements that it covers; then these elements are removed. The number of
    rounds is public: when no element is left, all scores are 0 and the remaining candidates are drawn uniformly.

    **Privacy.** The rows of `covers` and of `worth` are private, each a function of its element and of public or drawn
    values; everything else is public. With bounds (-b, a), t = exponent * max(a, b) and g = min(a, b) / max(a, b) the
    whole sequence is (epsilon, delta)-DP for delta = ``cover_delta(t, epsilon, coverage_weight=g, neighbors=neighbors,
    max_rounds=rounds)``: an element changes the score of a candidate only while it is uncovered, only if the candidate
    covers it, and within the bounds. "replace" exchanges an element for another, "add-remove" adds or deletes one. The
    proof is that of the theorem in `dpfast.accounting.curves.cover`, with signs exchanged if a > b. [BF]_ Lemma A.1 has
    the bounds (-1, 1) and larger constants.

    Parameters
    ----------
    covers : array_like of bool, shape (n_elements, n_candidates)
        Whether a candidate covers an element.
    exponent : Fraction, int or float
        Positive and finite; see `dpfast.accounting.cover_exponent`.
    rounds : int
        The number of draws; at most one per candidate, unless `available` allows more.
    worth : None, array_like of int, or callable
        Integers of the shape of `covers`: the amount that an uncovered element adds to the score of a candidate that
        covers it. None means 1. A callable returns them for each round, from the list of the candidates drawn so far.
    bounds : tuple of int
        The range (-b, a) of the entries of `worth`, b and a at least 0. Declared, not computed from the elements.
    available : None or callable
        Maps the list of the candidates drawn so far to a mask of the candidates that may be drawn next: bool, shape
        (n_candidates,). None allows those not drawn yet.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    list of int
        The drawn candidates, in order, `rounds` of them.

    Raises
    ------
    ValueError
        For invalid arguments, before anything is drawn; for an invalid result of a callable, when it is returned.

    References
    ----------
    .. [BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow.

    Examples
    --------
    Three sets cover 900 private elements; which two cover most of them?

    >>> import numpy as np
    >>> from dpfast.accounting import cover_exponent
    >>> kind = np.repeat([0, 1, 2], [500, 300, 100])
    >>> sets = kind[:, np.newaxis] == [0, 1, 2]
    >>> exponential_cover(sets, cover_exponent(1.0, 1e-6, max_rounds=2), rounds=2, rng=0)
    [0, 1]
    """
    covers = np.asarray(covers)
    if covers.ndim != 2 or covers.dtype != bool or covers.shape[1] == 0:
        raise ValueError(
            f"covers must be booleans of shape (n_elements, n_candidates), got {covers.dtype} {covers.shape}"
        )
    low, high = bounds
    if not -_LARGEST <= low <= 0 <= high <= _LARGEST or low == high:
        raise ValueError(f"bounds must be (-b, a) with a and b from 0 to 2**30, not both 0, got {bounds}")
    if not 0 < exponent < math.inf:
        raise ValueError(f"exponent must be a finite number > 0, got {exponent!r}")
    candidates = covers.shape[1]
    if rounds < 1 or (available is None and rounds > candidates):
        raise ValueError(f"rounds must lie in [1, {candidates}], got {rounds}")
    if not callable(worth):
        fixed = _entries(covers if worth is None else worth, covers, low, high)

    def entries(covers_drawn: list[int]) -> np.ndarray:
        return _entries(worth(covers_drawn), covers, low, high) if callable(worth) else fixed

    rng, left = random.generator(rng), np.ones(len(covers), bool)
    claim = Claim(2 * float(exponent) * (high - low))  # for a replaced element; for an added one it is half of this
    order: list[int] = []
    while len(order) < rounds:
        may = _may(available(list(order)) if available else ~np.isin(np.arange(candidates), order), candidates)
        scores = entries(list(order))[left].sum(axis=0, dtype=np.int64)[may]
        index = int(may[_draw(scores, exponent, claim, rng)])
        order.append(index)
        left &= ~covers[:, index]
    return order


def _draw(scores, exponent, claim, rng):
    return ask(
        lambda: Question("exponential_cover", scores, "range", exponent, claim=claim),
        lambda: levels.draw(scores, exponent, rng),
        rng,
    )


def _entries(worth, covers, low, high):
    """Return the worth of an element for the candidates that cover it, and 0 for the others."""
    worth = np.asarray(worth)
    if worth.shape != covers.shape or worth.dtype.kind not in "iub":
        raise ValueError(f"worth must be integers of shape {covers.shape}, got {worth.dtype} {worth.shape}")
    worth = np.where(covers, worth, 0).astype(np.int64)
    if worth.size and not low <= worth.min() <= worth.max() <= high:
        raise ValueError(f"worth must lie in [{low}, {high}], got {worth.min()} to {worth.max()}")
    return worth


def _may(available, candidates):
    """Return the numbers of the candidates that may be drawn."""
    available = np.asarray(available)
    if available.shape != (candidates,) or available.dtype != bool or not available.any():
        raise ValueError(f"available must be {candidates} booleans, not all False, got {available!r}")
    return np.flatnonzero(available)
