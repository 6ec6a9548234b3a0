"""Rounds of experts: in each round an expert is drawn by the total losses, and then all experts lose a row."""

from typing import Any

import numpy as np

from dpfast.kernels.weights import Losses, Weights
from dpfast.learners.kinds import Kind
from dpfast.learners.parameters import parameter
from dpfast.mechanisms.draws import Question, asked, recorded
from dpfast.parts.blocks import BLOCK_BYTES, slices
from dpfast.tables.signed_rows import SparseRows

REPLACE = parameter(
    "replace",
    Kind('be "replace", as a row more is a round more and another release', lambda value: value == "replace"),
    """{"replace"}, default="replace"
    Only "replace": adding or removing a row changes the number of rounds, which is released.""",
)


def blocks(rows: Any) -> list[slice]:
    """Return the rounds in blocks, if each round takes one of some rows of `dpfast.tables.signed_rows`."""
    n, d = rows.shape
    return slices(n, 1 << 14 if isinstance(rows, SparseRows) else BLOCK_BYTES // (4 * d))


def played(
    state: Weights,
    losses: Losses,
    rate: Any,
    rng: np.random.Generator,
    rounds: slice | None = None,
    out: np.ndarray | None = None,
    *,
    mirrored: bool = False,
) -> Any:
    """Return the expert drawn in each round by exponent `rate`, as `Weights.play` does: int64, shape (n,).

    `rounds` are those to play, by default all; in `out`, only the entries of these rounds are written.
    """
    rounds = slice(0, losses.shape[0]) if rounds is None else rounds
    if not recorded():
        return state.play(losses, rng, rounds.start, rounds.stop, out)
    out = np.zeros(losses.shape[0], np.int64) if out is None else out
    for t in range(rounds.start, rounds.stop):
        out[t] = drawn(state, rate, rng, mirrored=mirrored)
        state.add(losses, t)
    return out


def drawn(state: Weights, rate: Any, rng: np.random.Generator, *, mirrored: bool = False) -> int:
    """Return the expert of the next round, like `Weights.draw`; the parameters are those of `played`."""
    return asked(
        lambda: Question("experts", state.totals(), "range", rate, mirrored=mirrored), lambda: state.draw(rng), rng
    )
