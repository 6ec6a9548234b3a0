"""Rounds of experts: in each an expert is drawn by what it lost, and then all lose a row."""

from typing import Any

import numpy as np

from dpfast.kernels.weights import Losses, Weights
from dpfast.mechanisms.recorded import Question, asked, recorded


def played(state: Weights, losses: Losses, rate: Any, rng: np.random.Generator, *, mirrored: bool = False) -> Any:
    """Return the expert drawn in each round, as `Weights.play` does.

    Parameters
    ----------
    state : Weights
    losses : Losses
        A row for each round.
    rate : real
        The exponent of the draws.
    rng : numpy.random.Generator
    mirrored : bool
        Whether the negated experts are drawn from as well.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    if not recorded():
        return state.play(losses, rng)
    drawn = []
    for t in range(losses.shape[0]):
        totals = state.totals()
        expert = int(state.play(losses, rng, t, t + 1)[t])  # also where the answer is given: the losses enter the state
        question = Question("experts", totals, "range", rate, mirrored=mirrored)
        drawn.append(_asked(question, expert, rng))
    return np.array(drawn, np.int64)


def _asked(question, expert, rng):
    return asked(lambda: question, lambda: expert, rng)
