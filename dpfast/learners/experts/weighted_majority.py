"""Learning from experts: randomized weighted majority."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dpfast import random
from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    Cost,
    PrivacySpend,
    Release,
    experts_learning_rate,
    experts_range,
    experts_regret,
)
from dpfast.accounting.claims import pair_cost
from dpfast.accounting.warning import warn_of_claim
from dpfast.accounting.zcdp import SLACK
from dpfast.kernels import weights
from dpfast.learners.experts.playing import drawn, played
from dpfast.learners.parameters import PRIVATE, Parameters, choice, count, optional
from dpfast.mechanisms.sole import Sole, told
from dpfast.parts.blocks import slices
from dpfast.parts.sources import refuse_masked
from dpfast.tables import BitMatrix
from dpfast.tables.arrays import sound_csr

_GRID_BITS = 16
_PART = 1 << 26  # losses played between two looks at Ctrl-C
_FIRST = 128  # rounds of the first phase where there is no horizon


class Regret(NamedTuple):
    """What `RandomizedWeightedMajority.owner_report` says. PRIVATE: for the owner of the losses."""

    rounds: int
    loss: float
    best_loss: float
    regret: float
    theorem_11_1: float
    theorem_11_3: float


class RandomizedWeightedMajority(Parameters):
    """Follow the advice of experts, privately, in rounds: randomized weighted majority [DR11, section 11.2]_.

    In each round an expert is drawn with probability proportional to exp(-eta * loss so far), exactly; then the losses
    of all experts in that round, in [0, 1], count. In expectation the experts drawn lose hardly more than the best one,
    if the losses of a round are settled before its expert is drawn: they may depend on earlier draws, and not on the
    round's own. `play` and ``act(losses)`` take the losses before they draw, so that this holds. With `act` and
    `observe` whoever gives the losses must see to it. Privacy does not depend on it.

    **Privacy.** All actions together are (epsilon, delta)-DP for the relation `neighbors`: under "replace" neighbours
    differ in the whole loss vector of one round, under "add-remove" that round's losses become a blank, all zero. Later
    losses may depend on earlier actions. A draw is an exponential mechanism on the total losses, which one round
    changes by a vector of range 2 (or 1); T draws are (2 eta)^2 T / 8-zCDP, and no more than `horizon` are made.
    Without a horizon rounds come in phases of 128, 256, 512, ..., and each begins anew, with equal weights and the
    learning rate for its length. The losses of a round are read in one phase only; later phases depend on them by the
    actions alone. So each phase may have all of epsilon and delta, and all together are (epsilon, delta)-DP. From 128
    rounds on the bound on the regret is at most 3.42 times that of a horizon that was known.
    Theorem and proof: `dpfast.accounting.experts`. What was lost, and so the regret, is private.

    It predicts no labels of rows, and so has no probabilities of them.

    Parameters
    ----------
    epsilon : float, default=1.0
    delta : float, default=1e-6
    n_experts : int or None, default=None
        d. None is read off the first losses given to `play`; `act` needs it.
    horizon : int or None, default=None
        T: actions that are paid for. None is any number, at a larger regret.
    neighbors : {"replace", "add-remove"}, default="replace"
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest eta that the accountant allows; "paper" is eta = epsilon / sqrt(32 T ln(1/delta)),
        [DR11, Theorem 11.2]_.
    budget : dpfast.accounting.Budget or None, default=None
        Charged (epsilon, delta) before the first action.
    random_state : None, int or numpy.random.Generator, default=None
        None is cryptographic. A seed is for tests and voids the guarantee; `privacy_` then says so.

    Attributes
    ----------
    learning_rate_ : float
        eta; without a horizon, that of the present phase.
    rounds_ : int
        Actions drawn.
    actions_ : ndarray of int64, shape (rounds_,)
        All of them.
    privacy_ : dpfast.accounting.PrivacySpend

    Raises
    ------
    ValueError
        For a parameter that will not do.

    Notes
    -----
    Losses are rounded to multiples of 2**-16, which keeps them in [0, 1] and costs no privacy. A round is one read of
    the losses and one read and write of the state, 4 bytes an expert (8 once totals differ by thousands); of sparse
    losses only the experts touched. One seed gives the same actions at every instruction-set level, and by `play` as
    by `act` and `observe`. It is not pickled: its state is private. It is used by one
    thread at a time, in the process that made it, and refuses others.

    References
    ----------
    .. [DR11] C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 11.2.

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

    _parameters = PRIVATE | {
        "n_experts": optional(count(1, (1 << 32) - 1)),
        "horizon": optional(count(1)),
        "calibration": choice("tight", "paper"),
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        n_experts: int | None = None,
        horizon: int | None = None,
        neighbors: str = "replace",
        calibration: str = "tight",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.epsilon, self.delta, self.n_experts, self.horizon = epsilon, delta, n_experts, horizon
        self.neighbors, self.calibration, self.budget = neighbors, calibration, budget
        self._paid = self._checked()  # what is claimed, whatever becomes of the attributes
        self._past: list[Any] = []  # (learning rate, rounds, loss, losses of all experts) of the phases before
        self._rounds, self._waiting = 0, False
        self._begin(_FIRST if horizon is None else horizon)
        bent = self._eta * experts_range(neighbors) * (1 + SLACK)
        self._paid.cost = (pair_cost(epsilon, delta) if horizon is None else Cost("range", bent, times=horizon),)
        if budget is not None:
            budget.check(epsilon, delta, neighbors=neighbors, cost=self._paid.cost)
        warn_of_claim(epsilon, delta, horizon)
        self._rng, self._sole = random.generator(random_state), Sole("a learner from experts")
        self._weights: Any = None
        self._parts: list[np.ndarray] = []

    learning_rate_ = told("_eta")
    rounds_ = told("_rounds")

    def act(self, losses: Any = None) -> int:
        """Draw the expert to follow in the next round.

        Parameters
        ----------
        losses : array_like of shape (d,), sparse matrix or BitMatrix of shape (1, d), optional
            Those of this round, as in `observe`, where they are known: they are taken before the draw, which does not
            depend on them, and count after it. `observe` is then not called.

        Returns
        -------
        int

        Raises
        ------
        BudgetExceeded
            If all `horizon` actions are made, or the budget does not suffice; before anything is drawn.
        ValueError
            For losses that `observe` refuses; before anything is drawn.
        RuntimeError
            If the losses of the last round were not observed yet, or in a process other than the learner's.
        """
        if losses is not None:
            with self._sole.used():
                return int(self._played(self._one_round(losses))[0])
        if self.n_experts is None:
            raise ValueError("n_experts= must be given to act before any losses are known")
        with self._sole.used():
            self._ready(1)
            self._start(self.n_experts)
            self._next_phase()
            self._rounds += 1  # before the draw: what may have been drawn counts
            expert = drawn(self._weights, self._exponent, self._rng)
            self._parts.append(np.array([expert]))
            self._waiting = True
        return expert

    def observe(self, losses: Any) -> None:
        """Take the losses of the round whose action was drawn last.

        The bounds on regret need losses that do not depend on that action; they may depend on earlier ones. Losses that
        answer the action itself, say 1 for the expert that was drawn, break every bound: no learner that is bounded
        against the best single expert can do well against them. Where losses are known beforehand, use ``act(losses)``.

        Parameters
        ----------
        losses : array_like of shape (d,), sparse matrix or BitMatrix of shape (1, d)
            In [0, 1]; float32 is read where it is. An expert that a sparse row does not store loses nothing.

        Raises
        ------
        ValueError
            For losses outside [0, 1], NaN or a wrong length; they do not count then, and others may be given.
        RuntimeError
            If no action was drawn.
        """
        losses = self._one_round(losses)
        with self._sole.used():
            if not self._waiting:
                raise RuntimeError("there is no round to observe: draw its action first, by act()")
            self._weights.add(self._rows(losses))
            self._waiting = False

    def _one_round(self, losses):
        """The losses of one round as a block of one row."""
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
        """``act(losses)`` for many rounds at once.

        Parameters
        ----------
        losses : array_like, sparse matrix or BitMatrix of shape (n, d), or an iterator over such blocks
            A row is a round; as in `observe`. An iterator may look at `actions_` of the blocks before, and answer them.

        Returns
        -------
        ndarray of int64, shape (n,)
            The expert followed in each round. It does not depend on that round's losses or later ones.

        Raises
        ------
        ValueError, BudgetExceeded, RuntimeError
            As `observe` and `act`, for a block as a whole before anything of it is drawn.
        """
        followed = [np.empty(0, np.int64)]
        for block in losses if hasattr(losses, "__next__") else [losses]:
            refuse_masked("losses", block)
            if not (sp.issparse(block) or isinstance(block, BitMatrix)):
                block = np.asarray(block)
                if block.ndim != 2:
                    raise ValueError(f"losses must have shape (n, d), got {block.shape}")
            with self._sole.used():
                followed.append(self._played(block))
        return np.concatenate(followed)

    def _played(self, block):
        """The experts followed in the rounds of one block."""
        self._ready(block.shape[0])
        rows = self._rows(block)
        rows.check()
        self._start(block.shape[1])
        experts = np.full(block.shape[0], -1)
        for piece in slices(block.shape[0], max(1, _PART // block.shape[1])):
            done = piece.start
            while done < piece.stop:
                self._next_phase()
                part = slice(done, min(piece.stop, done + self._end - self._rounds))
                self._rounds += part.stop - part.start
                self._parts.append(experts[part])
                played(self._weights, rows, self._exponent, self._rng, part, experts)
                done = part.stop
        return experts

    def _begin(self, rounds):
        """Set the learning rate for so many rounds from here on."""
        self._eta, self._end = self._rate(self._paid.calibration, rounds), self._rounds + rounds
        self._exponent = Fraction(self._eta) / (1 << _GRID_BITS)  # of totals on the grid

    def _next_phase(self):
        """Forget all losses, and take twice the rounds, where a phase is over."""
        if self._paid.horizon is None and self._rounds == self._end:
            rounds = self._end - sum(past[1] for past in self._past)
            self._past.append((self._eta, rounds, self._weights.paid, self._weights.totals()))
            self._begin(2 * rounds)
            self._weights = weights.Weights(self.n_experts, self._exponent)

    @property
    def actions_(self) -> np.ndarray:
        return np.concatenate([np.empty(0, np.int64), *self._parts])

    @property
    def privacy_(self) -> PrivacySpend:
        paid, drawn = self._paid, Release("actions", self.rounds_, self._paid.horizon or self.rounds_)
        seeded = random.is_reproducible(self._rng)
        return PrivacySpend(paid.epsilon, paid.delta, paid.neighbors, (drawn,), seeded, paid.cost)

    def owner_report(self) -> Regret:
        """What was lost. PRIVATE: for the owner of the losses, not covered by the guarantee.

        Returns
        -------
        Regret
            rounds observed; loss of the experts drawn, and of the best expert in hindsight; the difference; and, of so
            many rounds, what Theorem 11.1 of [DR11]_ lets it be at most in expectation, for the learning rate in use
            and, Theorem 11.3, for the paper's (infinite where that does not fit epsilon and delta). Both are for losses
            that do not answer the action of their own round; see `observe`.
        """
        with self._sole.used():
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
            planned = self._paid.horizon
            papers = experts_regret(self._rate("paper", planned), self.n_experts, rounds) if planned else math.inf
        except ValueError:
            papers = math.inf
        return Regret(rounds, loss, best, loss - best, own, papers)

    def _rate(self, calibration, rounds):
        paid, width = self._paid, experts_range(self._paid.neighbors)
        return experts_learning_rate(
            paid.epsilon, paid.delta, horizon=rounds, loss_range=width, calibration=calibration
        )

    def _ready(self, rounds):
        """Refuse rounds that were not paid for."""
        if self._waiting:
            raise RuntimeError("the losses of the last action were not observed yet")
        if self._paid.horizon is None:
            return
        left = self._paid.horizon - self._rounds
        if rounds > left:
            raise BudgetExceeded(f"{rounds} more actions do not fit: of horizon={self._paid.horizon}, {left} are left")

    def _start(self, n_experts):
        """Charge, and set out from equal weights."""
        if self._weights is None:
            state = weights.Weights(n_experts, self._exponent)
            if self.budget is not None:
                paid, what = self._paid, {"model": type(self).__name__}
                self.budget.charge(paid.epsilon, paid.delta, neighbors=paid.neighbors, cost=paid.cost, what=what)
            self.n_experts, self._weights = n_experts, state

    def _rows(self, block):
        """A block as the kernel's losses."""
        if self.n_experts is not None and block.shape[1] != self.n_experts:
            raise ValueError(f"losses must be of n_experts={self.n_experts} experts, got {block.shape[1]}")
        if isinstance(block, BitMatrix):
            return weights.packed(block.rows, block.shape[1], bits=_GRID_BITS)
        if sp.issparse(block):
            block = sound_csr(block)
            return weights.csr(block.indptr, block.indices, _reals(block.data), block.shape[1], bits=_GRID_BITS)
        return weights.dense(_reals(block), bits=_GRID_BITS)

    def __reduce__(self):
        raise TypeError(
            "RandomizedWeightedMajority holds losses that are private: it is not copied or pickled; actions_ may be"
        )

    def __repr__(self):
        return (
            f"RandomizedWeightedMajority({self.epsilon}, {self.delta}, n_experts={self.n_experts}, "
            f"horizon={self.horizon}, neighbors={self.neighbors!r}: {self.rounds_} rounds)"
        )


def _reals(values):
    """float32 as it is, all else as float64."""
    return values if values.dtype == np.float32 else np.asarray(values, np.float64)
