"""One run of greedy cover: candidates drawn one after another, each taking away the rows that it covers."""

from collections.abc import Iterator

import numpy as np

from dpfast.kernels.cover import Counts
from dpfast.learners.lists.conditions import CONSTANT
from dpfast.mechanisms.recorded import Claim, Question, asked, recorded


def greedy_cover(
    state: Counts, rounds: int, rng: np.random.Generator, claim: Claim | None = None
) -> Iterator[tuple[int, bool, int]]:
    """Yield the candidates that one run draws, the last one the constant true [BF, Algorithm 2].

    Parameters
    ----------
    state : dpfast.kernels.cover.Counts
    rounds : int
    rng : numpy.random.Generator
    claim : Claim, optional
        What covers all the draws together.

    Yields
    ------
    tuple of int, bool, int
        A feature, -1 for the constant true, whether it is negated, and a label.
    """

    def question(labels: bool) -> Question:
        return Question("greedy_cover", state.scores(labels), "range", state.exponent, claim=claim)

    for left in range(rounds - 1, 0, -1):
        if not state.uncovered and not recorded():
            tail = state.draw_tail(left, rng)
            yield from tail
            if tail[-1][0] == CONSTANT:
                return
            break
        feature, negated, label = asked(lambda: question(False), lambda: state.draw(rng), rng)
        yield feature, negated, label
        if feature == CONSTANT:
            return
        if left > 1:
            state.cover_rows(feature, negated)
        else:
            state.cover_last(feature, negated)
    yield CONSTANT, False, asked(lambda: question(True), lambda: state.draw_label(rng), rng)
