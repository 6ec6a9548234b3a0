"""Rounds of experts: in each round an expert is drawn by the total losses, and then all experts lose a row."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpfast.accounting import Cost, experts_learning_rate, experts_range
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.base.parameters import Kind, parameter
from dpfast.base.plan import Proved, Task
from dpfast.base.run import Run
from dpfast.kernels.multiplicative_weights import Losses, Weights
from dpfast.mechanisms.draws import Question, ask, has_recorder
from dpfast.parts.blocks import BLOCK_BYTES
from dpfast.tables.signed_rows import SparseRows

REPLACE = parameter(
    "replace",
    Kind('be "replace", as a row more is a round more and another release', lambda value: value == "replace"),
    """{"replace"}, default="replace"
    Only "replace": adding or removing a row changes the number of rounds, which is released.""",
)


def draws(task: Task, calibration: str, size: int, *, mirrored: bool = False) -> Proved:
    """Return the draws of one of `size` experts for each row of a task, with their learning rate as the noise."""
    assert task.n_rows is not None  # as neighbors is "replace"
    width, n = task.rows_per_unit * experts_range(task.neighbors, signed=True), task.n_rows
    eta = experts_learning_rate(task.epsilon, task.delta, horizon=n, loss_range=width, calibration=calibration)
    cost = Cost("range", eta * width * (1 + SLACK), times=n)
    return Proved("exponential", eta, (cost,), size=size << mirrored, times=n)


def follow(run: Run, rows: Any, signs: np.ndarray, *, constant: bool, mirrored: bool) -> Iterator[np.ndarray]:
    """Yield the experts drawn in each block of the rounds, in which experts lose sign times row, in a random order.

    The plan of `run` has `draws` of this name, one for each of some `signed_rows`.
    """
    (n, d), rate = rows.shape, Fraction(run.scale("draws")) / rows.unit
    state = Weights(d + constant, rate, mirrored=mirrored)
    order = run.permutation(n)
    length = 1 << 14 if isinstance(rows, SparseRows) else BLOCK_BYTES // (4 * d)
    for block in run.rounds("draws", each=length):
        part = slice(block * length, min(n, (block + 1) * length))
        losses = rows.losses(order[part], signs, constant=constant)
        sample = partial(_play_block, state, losses, rate, mirrored)
        yield run.draw("draws", (d + constant) << mirrored, sample, times=part.stop - part.start)


def _play_block(state, losses, rate, mirrored, eta, rng):
    return play(state, losses, rate, rng, mirrored=mirrored)


def play(
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
        out[t] = draw_expert(state, rate, rng, mirrored=mirrored)
        state.add(losses, t)
    return out


def draw_expert(state: Weights, rate: Any, rng: np.random.Generator, *, mirrored: bool = False) -> int:
    """Return the expert of the next round, like `Weights.draw`; the parameters are those of `play`."""
    return ask(
        lambda: Question("experts", state.totals(), "range", rate, mirrored=mirrored), lambda: state.draw(rng), rng
    )
