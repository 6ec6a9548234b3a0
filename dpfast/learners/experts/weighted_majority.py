"""Randomized weighted majority: learning from the advice of experts."""

import math
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dpfast.accounting import (
    BudgetExceeded,
    Cost,
    PrivacySpend,
    Release,
    experts_learning_rate,
    experts_range,
    experts_regret,
)
from dpfast.accounting.claims.spend import pair_cost, warn_of_claim
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.base.fitting import run_uninterrupted
from dpfast.base.parameters import choice, count, estimator, optional, parameter
from dpfast.base.plan import Plan, Proved, Task
from dpfast.kernels import multiplicative_weights as weights
from dpfast.learners.experts.playing import draw_expert, play
from dpfast.learners.experts.prepaid import Prepaid
from dpfast.mechanisms.draws import read_only
from dpfast.parts.blocks import slices
from dpfast.tables import BitMatrix
from dpfast.tables.arrays import refuse_masked, sound_csr

_GRID_BITS = 16
_PART = 1 << 26  # losses played between two checks for Ctrl-C
_MOST_EXPERTS = (1 << 32) - 1
_FIRST = 128  # rounds of the first phase if there is no horizon


class Regret(NamedTuple):
    """Result of `RandomizedWeightedMajority.owner_report`. PRIVATE: for the owner of the losses."""

    rounds: int
    loss: float
    best_loss: float
    regret: float
    theorem_11_1: float
    theorem_11_3: float


@estimator
class RandomizedWeightedMajority(Prepaid):
    """Follow the advice of experts, privately, in rounds: randomized weighted majority [DR11, section 11.2]_.

    In each round an expert is drawn with probability exactly proportional to exp(-eta * its total loss so far); then
    the losses of all experts in that round, in [0, 1], are added. The expected loss of the experts drawn is hardly more
    than that of the best expert, provided the losses of a round do not depend on its own draw; they may depend on
    earlier ones. `play` and ``act(losses)`` take the losses before they draw, which ensures this. With `act` and
    `observe` the caller must ensure it. Privacy does not depend on it.

    **Privacy.** All actions together are (epsilon, delta)-DP for the relation `neighbors`. Under "replace" neighbours
    differ in the whole loss vector of one round; under "add-remove" that round's losses are replaced by zeros. Later
    losses may depend on earlier actions. A draw is an exponential mechanism on the total losses, which one round
    changes by a vector of range 2 (or 1). T draws are (2 eta)^2 T / 8-zCDP, and at most `horizon` draws are made.
    Without a horizon the rounds are divided into phases of 128, 256, 512, ... rounds. Each phase starts with equal
    weights and the learning rate for its length. The losses of a round are read in one phase only; later phases depend
    on them through the actions alone. So each phase may use all of epsilon and delta, and all phases together are
    (epsilon, delta)-DP. From 128 rounds on, the bound on the regret is at most 3.42 times that for a known horizon.
    `dpfast.accounting.papers.experts` gives the theorem. The losses, and so the regret, are private.

    Parameters
    ----------
    n_experts : int or None, default=None
        The number d of experts. With None it is read from the first losses given to `play`; `act` needs a number.
    horizon : int or None, default=None
        The number T of actions that are paid for. None allows any number, at a larger regret.
    neighbors : {"replace", "add-remove"}, default="replace"
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest eta that the accountant allows; "paper" is eta = epsilon / sqrt(32 T ln(1/delta))
        [DR11, Theorem 11.2]_.

    Attributes
    ----------
    learning_rate_ : float
        The rate eta; without a horizon, that of the current phase.
    rounds_ : int
        The number of actions drawn.
    actions_ : ndarray of int64, shape (rounds_,)
        The experts drawn so far.

    Notes
    -----
    Losses are rounded to multiples of 2**-16, which keeps them in [0, 1] and costs no privacy. A round reads the losses
    once, and reads and writes the state once, 4 bytes per expert (8 once totals differ by thousands); for sparse losses
    only the touched experts. The learner cannot be pickled, as its state is private. It may be used by one thread at a
    time, in the process that created it.

    Examples
    --------
    >>> learner = RandomizedWeightedMajority(2.0, 1e-6, n_experts=3, horizon=1000, random_state=0)
    >>> for _ in range(1000):
    ...     expert = learner.act([0.9, 0.1, 0.8])
    >>> int(np.bincount(learner.actions_).argmax())
    1
    >>> print(learner.privacy_)
    (2.0, 1e-06)-DP, replace one row; 1000 of 1000 releases used; drawn with a seed: reproducible, not private
    """

    n_experts: int | None = parameter(None, optional(count(1, _MOST_EXPERTS)))
    horizon: int | None = parameter(None, optional(count(1)))
    calibration: str = parameter("tight", choice("tight", "paper"))

    def __post_init__(self) -> None:
        p = self._read_parameters()
        self._past: list[Any] = []  # (learning rate, rounds, loss, losses of all experts) of earlier phases
        self._rounds, self._waiting = 0, False
        self._begin(_FIRST if p.horizon is None else p.horizon)
        if p.budget is not None:
            p.budget.check(p.epsilon, p.delta, neighbors=p.neighbors, cost=self._terms.cost)
        warn_of_claim(p.epsilon, p.delta, p.horizon)
        self._parts: list[np.ndarray] = []

    def plan(self, task: Task) -> Plan:
        # of a phase of task.n_rows rounds; with a horizon there is one
        assert task.n_rows is not None
        eta, width = self._rate(task, self._terms.calibration), experts_range(task.neighbors)
        whole = Cost("range", eta * width * (1 + SLACK), times=task.n_rows)
        cost = pair_cost(self._terms.epsilon, self._terms.delta) if self._terms.horizon is None else whole
        return Plan(actions=Proved("exponential", eta, (cost,), size=_MOST_EXPERTS, times=task.n_rows))

    learning_rate_ = read_only("_eta")
    rounds_ = read_only("_rounds")

    def act(self, losses: Any = None) -> int:
        """Draw the expert to follow in the next round.

        Parameters
        ----------
        losses : array_like of shape (d,), sparse matrix or BitMatrix of shape (1, d), optional
            The losses of this round, as in `observe`, if they are known. They are read before the draw, which does not
            depend on them, and added after it; `observe` is then not called.

        Returns
        -------
        int

        Raises
        ------
        BudgetExceeded
            If all `horizon` actions have been made, or the budget does not suffice; nothing has been drawn.
        RuntimeError
            If the losses of the last round have not been observed yet, or in a process other than the learner's.
        """
        if losses is not None:
            with self._access.hold():
                return int(self._play_block(self._one_round(losses))[0])
        if self.n_experts is None:
            raise ValueError("n_experts= must be given to act before any losses are known")
        with self._access.hold():
            self._ready(1)
            self._weigh(self.n_experts)
            self._next_phase()
            self._rounds += 1  # before the draw: an action that may have been drawn counts
            expert = self._run.draw(
                "actions", self.n_experts, lambda _, rng: draw_expert(self._weights, self._exponent, rng)
            )
            self._parts.append(np.array([expert]))
            self._waiting = True
        return expert

    def observe(self, losses: Any) -> None:
        """Add the losses of the round whose action was drawn last.

        Losses that depend on that action, such as 1 for the expert that was drawn, break every bound on the regret. If
        the losses are known in advance, use ``act(losses)``.

        Parameters
        ----------
        losses : array_like of shape (d,), sparse matrix or BitMatrix of shape (1, d)
            Losses in [0, 1]; float32 is read without a copy. An expert that a sparse row does not store loses nothing.

        Raises
        ------
        ValueError, RuntimeError
            For losses outside [0, 1], NaN or a wrong length, which are not counted; if no action has been drawn.
        """
        losses = self._one_round(losses)
        with self._access.hold():
            if not self._waiting:
                raise RuntimeError("there is no round to observe: draw its action first, by act()")
            self._weights.add(self._rows(losses))
            self._waiting = False

    def _one_round(self, losses):
        """Return the losses of one round as a block of one row."""
        refuse_masked("losses", losses)
        if not (sp.issparse(losses) or isinstance(losses, BitMatrix)):
            losses = np.asarray(losses)
            if losses.ndim != 1:
                raise ValueError(f"losses must have shape ({self.n_experts},), got {losses.shape}")
            losses = losses[np.newaxis]
        if losses.shape[0] != 1:
            raise ValueError(f"losses must be those of one round, got {losses.shape[0]}; see play")
        return losses

    def play(self, losses: Any) -> np.ndarray:
        """Call ``act(losses)`` for many rounds at once.

        Parameters
        ----------
        losses : array_like, sparse matrix or BitMatrix of shape (n, d), or an iterator over such blocks
            One row per round, as in `observe`. An iterator may depend on the `actions_` of earlier blocks.

        Returns
        -------
        ndarray of int64, shape (n,)
            The expert drawn in each round. A block with invalid losses is refused as a whole, before any draw for it.
        """
        followed = [np.empty(0, np.int64)]
        for block in losses if hasattr(losses, "__next__") else [losses]:
            refuse_masked("losses", block)
            if not (sp.issparse(block) or isinstance(block, BitMatrix)):
                block = np.asarray(block)
                if block.ndim != 2:
                    raise ValueError(f"losses must have shape (n, d), got {block.shape}")
            with self._access.hold():
                followed.append(self._play_block(block))
        return np.concatenate(followed)

    def _play_block(self, block):
        """Return the experts drawn in the rounds of one block."""
        self._ready(block.shape[0])
        rows = self._rows(block)
        rows.check()
        self._weigh(block.shape[1])
        experts = np.full(block.shape[0], -1)
        for piece in slices(block.shape[0], max(1, _PART // block.shape[1])):
            place = piece.start
            while place < piece.stop:
                self._next_phase()
                part = slice(place, min(piece.stop, place + self._end - self._rounds))
                self._rounds += part.stop - part.start
                self._parts.append(experts[part])
                sample = partial(self._play, rows, part, experts)
                self._run.draw("actions", block.shape[1], sample, times=part.stop - part.start)
                place = part.stop
        return experts

    def _play(self, rows, part, experts, eta, rng):
        play(self._weights, rows, self._exponent, rng, part, experts)

    def _begin(self, rounds, n_experts=None):
        """Plan this many further rounds, with equal weights if the number of experts is known."""
        run = self._start(rounds)
        exponent = Fraction(run.scale("actions")) / (1 << _GRID_BITS)  # per grid unit of the totals
        state: Any = None if n_experts is None else weights.Weights(n_experts, exponent)
        self._run, self._eta, self._end = run, run.scale("actions"), self._rounds + rounds
        self._exponent, self._weights = exponent, state

    def _next_phase(self):
        """Start a new phase with twice the rounds and no losses if the current phase is over."""
        if self._terms.horizon is None and self._rounds == self._end:
            run_uninterrupted(self._end_phase)  # no draw of the new phase may see losses of the old one

    def _end_phase(self):
        """Start a new phase; nothing has changed if that fails."""
        rounds = self._end - sum(past[1] for past in self._past)
        past = self._eta, rounds, self._weights.paid, self._weights.totals()
        self._begin(2 * rounds, self.n_experts)
        self._past.append(past)

    @property
    def actions_(self) -> np.ndarray:
        return np.concatenate([np.empty(0, np.int64), *self._parts])

    @property
    def privacy_(self) -> PrivacySpend:
        return self._claim(Release("actions", self.rounds_, self._terms.horizon or self.rounds_))

    def owner_report(self) -> Regret:
        """Return the losses and the regret. PRIVATE: for the owner of the losses, not covered by the guarantee.

        Returns
        -------
        Regret
            The number of rounds observed, the loss of the experts drawn and of the best expert in hindsight, the
            difference, and two bounds on its expectation: that of Theorem 11.1 of [DR11]_ for the learning rate in use,
            and that of Theorem 11.3 for the paper's rate (infinite if that rate exceeds epsilon and delta). Both hold
            for losses that do not depend on the action of their own round; see `observe`.
        """
        with self._access.hold():
            rounds, unit = self.rounds_ - self._waiting, 1 << _GRID_BITS
            if not rounds:
                raise RuntimeError("there is nothing to report: no round was observed")
            loss = (self._weights.paid + sum(past[2] for past in self._past)) / unit
            totals = self._weights.totals() + sum(past[3] for past in self._past)
            best, phases = int(totals.min()) / unit, [past[:2] for past in self._past]
        assert self.n_experts is not None
        last = rounds - sum(length for _, length in phases)
        phases += [(self.learning_rate_, last)] if last else []
        own = sum(experts_regret(rate, self.n_experts, length) for rate, length in phases)
        try:
            planned = self._terms.horizon
            task = Task(self._terms.epsilon, self._terms.delta, self._terms.neighbors, n_rows=planned)
            papers = experts_regret(self._rate(task, "paper"), self.n_experts, rounds) if planned else math.inf
        except ValueError:
            papers = math.inf
        return Regret(rounds, loss, best, loss - best, own, papers)

    def _rate(self, task, calibration):
        width = experts_range(task.neighbors)
        return experts_learning_rate(
            task.epsilon, task.delta, horizon=task.n_rows, loss_range=width, calibration=calibration
        )

    def _ready(self, rounds):
        """Refuse rounds that were not paid for."""
        if self._waiting:
            raise RuntimeError("the losses of the last action were not observed yet")
        if self._terms.horizon is None:
            return
        left = self._terms.horizon - self._rounds
        if rounds > left:
            raise BudgetExceeded(f"{rounds} more actions do not fit: of horizon={self._terms.horizon}, {left} are left")

    def _weigh(self, n_experts):
        """Charge, and start with equal weights."""
        if self._weights is None:
            state = weights.Weights(n_experts, self._exponent)
            self._charge()
            self.n_experts, self._weights = n_experts, state

    def _rows(self, block):
        """Return a block as the kernel's losses."""
        if self.n_experts is not None and block.shape[1] != self.n_experts:
            raise ValueError(f"losses must be of n_experts={self.n_experts} experts, got {block.shape[1]}")
        if isinstance(block, BitMatrix):
            return weights.packed(block.rows, block.shape[1], bits=_GRID_BITS)
        if sp.issparse(block):
            block = sound_csr(block)
            return weights.csr(block.indptr, block.indices, _reals(block.data), block.shape[1], bits=_GRID_BITS)
        return weights.dense(_reals(block), bits=_GRID_BITS)

    def __repr__(self):
        return (
            f"RandomizedWeightedMajority({self.epsilon}, {self.delta}, n_experts={self.n_experts}, "
            f"horizon={self.horizon}, neighbors={self.neighbors!r}: {self.rounds_} rounds)"
        )


def _reals(values):
    """Return float32 unchanged, and anything else as float64."""
    return values if values.dtype == np.float32 else np.asarray(values, np.float64)
