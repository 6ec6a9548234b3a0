"""Rounds of experts: in each round an expert is drawn by the total losses, and then all experts lose a row."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from dpfast.accounting import Cost, experts_learning_rate, experts_range
from dpfast.accounting.zcdp import SLACK
from dpfast.kernels.multiplicative_weights import Losses, Weights
from dpfast.learners.base import shown
from dpfast.learners.parameters import Kind, parameter
from dpfast.mechanisms.draws import Question, asked, has_recorder
from dpfast.parts.blocks import BLOCK_BYTES, slices
from dpfast.tables.signed_rows import SparseRows

REPLACE = parameter(
    "replace",
    Kind('be "replace", as a row more is a round more and another release', lambda value: value == "replace"),
    """{"replace"}, default="replace"
    Only "replace": adding or removing a row changes the number of rounds, which is released.""",
)


def planned(p: Any, rows: Any, size: int, *, mirrored: bool = False) -> tuple[float, Weights, list[Cost]]:
    """Return the learning rate of one round for each of some `signed_rows`, the experts, and the cost of all draws."""
    n, width = rows.shape[0], getattr(p, "rows_per_unit", 1) * experts_range(p.neighbors, signed=True)
    eta = experts_learning_rate(p.epsilon, p.delta, horizon=n, loss_range=width, calibration=p.calibration)
    state = Weights(size, Fraction(eta) / rows.unit, mirrored=mirrored)
    return eta, state, [Cost("range", eta * width * (1 + SLACK), times=n)]


def followed(
    model: Any, run: Any, state: Weights, rows: Any, signs: Any, eta: float, *, constant: bool, mirrored: bool
) -> Iterator[np.ndarray]:
    """Yield the experts drawn in each block of the rounds, in which experts lose sign times row, in a random order."""
    order = run.rng.permutation(rows.shape[0])
    length = 1 << 14 if isinstance(rows, SparseRows) else BLOCK_BYTES // (4 * rows.shape[1])
    for part in model._watched(shown(slices(len(order), length), "rounds", model.verbose), "rounds"):
        losses = rows.losses(order[part], signs, constant=constant)
        experts = played(state, losses, Fraction(eta) / rows.unit, run.rng, mirrored=mirrored)
        yield experts
        run.used["draws"] += len(experts)


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
    if not has_recorder():
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
