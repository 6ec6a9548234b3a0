"""SparseSample: an exponential mechanism over the items on few lists, for a universe of any size."""

from collections import Counter
from fractions import Fraction
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from dpfast import random
from dpfast.accounting import Cost, sparse_sample_delta
from dpfast.mechanisms.draws import Claim, Question, ask
from dpfast.mechanisms.exponential import exponential


def sparse_sample(
    lists: Any,
    epsilon: float | Fraction,
    bottom_score: int,
    *,
    max_length: int,
    rng: int | np.random.Generator | None = None,
) -> int | str | None:
    """Draw an item that many lists contain, or nothing, exactly [Lyu, Algorithm 1]_.

    An item on s lists has weight exp(epsilon * s); the empty outcome has weight exp(epsilon * bottom_score). Items on
    no list are not drawn, so the universe may be infinite.

    **Privacy.** Neighbours differ in one list, which is replaced, added or removed. With B = bottom_score and L =
    max_length the draw is (2 * epsilon, delta)-DP for delta = L exp(-epsilon B) (1 + exp(epsilon));
    `accounting.sparse_sample_delta` gives the proof. [Lyu, Lemma 3.1]_ states it for B >= 10 ln(L / delta) / epsilon; a
    tenth of that suffices. The claim assumes nothing about the lists: only the first `max_length` distinct items of
    each count.

    Parameters
    ----------
    lists : sequence of sequences
        Items are integers, strings, bytes, or tuples of these; integer arrays for all lists are fastest. Equal items
        are one item, whatever their lists and types, and the drawn item is a plain int, str, bytes or tuple. An item
        that occurs twice on a list counts once. Booleans and floats are refused: True equals 1 and -0.0 equals 0.0, so
        a single list could decide which of the two is drawn.
    epsilon : Fraction, int or float
        Above 0; a float is taken exactly.
    bottom_score : int
        The score of the empty outcome.
    max_length : int
        The number L >= 1 of distinct items after which lists are cut.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int, str, bytes, tuple or None
        The drawn item; None is the empty outcome.

    Notes
    -----
    One pass over the items and one exact draw among the distinct ones. Rounding changes no probability.

    References
    ----------
    .. [Lyu] X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025. The mechanism and the
       argument of Lemma 3.1 are those of [GKM20]_, Lemma 36.
    .. [GKM20] B. Ghazi, R. Kumar, P. Manurangsi, Differentially Private Clustering: Tight Approximation Ratios, NeurIPS
       2020.

    Examples
    --------
    >>> sparse_sample([["a", "b"]] * 300 + [["a"]] * 300, 0.25, 90, max_length=2)
    'a'
    >>> sparse_sample([["a"], ["b"]], 0.25, 900, max_length=1) is None
    True
    """
    if isinstance(bottom_score, bool) or not isinstance(bottom_score, Integral) or abs(bottom_score) > 1 << 60:
        raise ValueError(f"bottom_score must be an integer within 2**60 of 0, got {bottom_score!r}")
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon!r}")
    items, scores = votes(lists, max_length=max_length)
    rng = random.generator(rng)

    def draw() -> Any:
        index = exponential(np.append(scores, np.int64(bottom_score)), epsilon, rng=rng)
        return None if index == len(items) else items[index]

    def question() -> Question:
        delta = sparse_sample_delta(epsilon, bottom_score, int(max_length))
        claim = Claim(float(epsilon), (Cost("pair", 2 * float(epsilon), delta=delta),))
        votes_of = dict(zip(items, scores.tolist(), strict=True))
        return Question("sparse_sample", votes_of, "largest", epsilon, claim=claim)

    return ask(question, draw, rng)


def votes(lists, *, max_length):
    """Return the distinct items of all lists and how many lists contain each, after the cut of `sparse_sample`.

    The largest score changes by at most one if one list changes.
    """
    if isinstance(max_length, bool) or not isinstance(max_length, Integral) or max_length < 1:
        raise ValueError(f"max_length must be an integer of at least 1, got {max_length!r}")
    lists = list(lists)
    copies = Counter(map(id, lists))  # one list object often stands for many lists
    distinct = list({id(each): each for each in lists}.values())
    if distinct and all(isinstance(each, np.ndarray) and np.can_cast(each.dtype, np.int64) for each in distinct):
        cut = [_cut_array(each, max_length) for each in distinct]
        weight = np.repeat([copies[id(each)] for each in distinct], [len(each) for each in cut])
        items, which = np.unique(np.concatenate(cut), return_inverse=True)
        scores = np.zeros(len(items), np.int64)
        np.add.at(scores, which, weight)
        return items.tolist(), scores
    total = Counter()
    for each in distinct:
        for item in islice(dict.fromkeys(map(_plain, each)), max_length):
            total[item] += copies[id(each)]
    return list(total), np.fromiter(total.values(), np.int64, len(total))


def _cut_array(array, max_length):
    """Return the first distinct entries of an integer array as int64."""
    if array.ndim != 1 or array.dtype == bool:
        raise ValueError(f"lists must be one-dimensional, of integers if arrays, got {array.dtype} {array.shape}")
    first = np.sort(np.unique(array, return_index=True)[1])
    return array[first[:max_length]].astype(np.int64)


def _plain(item):
    """Return the canonical representative of all items equal to this one."""
    if isinstance(item, Integral) and not isinstance(item, bool):
        return int.__index__(item) if isinstance(item, int) else int(item)
    if isinstance(item, str):
        return str.__str__(item)  # not the result of a method of a subclass
    if isinstance(item, bytes):
        return bytes(memoryview(item))
    if isinstance(item, tuple):
        return tuple(map(_plain, item))
    raise TypeError(f"items must be integers, strings, bytes or tuples of such, got {item!r}")
