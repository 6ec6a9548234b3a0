"""The exponential mechanism."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.kernels import levels
from dpfast.kernels.own import own
from dpfast.mechanisms.draws import Question, ask


def exponential(
    scores: ArrayLike, exponent: float | Fraction, *, size: int = 1, rng: int | np.random.Generator | None = None
) -> Any:
    """Draw candidates with probability proportional to exp(exponent * score), exactly.

    **Privacy.** Let R be the range of the change of the score vector between neighbours: the largest change of any
    score minus the smallest (both signed), over all pairs of neighbours of the relation in use. Sensitivity 1 means R
    <= 2 in general, and R = 1 if all scores change in the same direction, as counts do when a row is added. One
    draw is ``exponent * R``-DP, and ``(exponent * R)**2 / 8``-zCDP, for that relation: the log-ratio of its two
    distributions lies in an interval of length exponent * R, and Hoeffding's lemma gives the second bound. `size` draws
    compose and cost `size` times either figure; compose the second one, and convert at the end.

    Parameters
    ----------
    scores : array_like of int, shape (n,)
        1 <= n < 2**32. Copied unless read-only, since another thread might change them between two reads; types other
        than int8, int16, int32 and int64 are converted. Round real scores to a grid first; the caller chooses its step.
    exponent : Fraction, int or float
        Finite; a float is taken exactly. Negative to prefer low scores.
    size : int, default=1
        Number of independent draws.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int, or ndarray of int64 of shape (size,) if size is not 1
        The drawn indices, in order.

    Notes
    -----
    O(n) for any size: about two reads of the scores. Rounding, overflow and underflow change no probability.

    References
    ----------
    F. McSherry, K. Talwar, Mechanism Design via Differential Privacy, FOCS 2007.
    D. Durfee, R. Rogers, Practical Differentially Private Top-k Selection, NeurIPS 2019 (bounded range).
    J. Dong, D. Durfee, R. Rogers, Optimal Differential Privacy Composition for Exponential Mechanisms, ICML 2020.

    Examples
    --------
    >>> exponential([0, 0, 1000], 0.5)
    2
    """
    whole: Any = own(scores)
    if whole.size and whole.dtype.kind not in "iub":
        raise ValueError(f"scores must be integers (put real ones on a grid first), got {whole.dtype}")
    if whole.dtype not in (np.int8, np.int16, np.int32, np.int64):
        if whole.dtype == np.uint64 and whole.size and whole.max() > np.iinfo(np.int64).max:
            raise ValueError(f"scores must be below 2**63, got {whole.max()}")
        whole = whole.astype(np.int64)
    rng = random.generator(rng)
    indices = ask(
        lambda: Question("exponential", whole, "range", exponent, draws=size),
        lambda: levels.sample(whole, exponent, size, rng),
        rng,
    )
    return int(indices[0]) if size == 1 else indices
