"""Noisy tests of a count against a threshold: the sparse vector technique, with and without threshold noise.

Counts q_1, q_2, ... are integers; neighbours change each by at most one, given the earlier releases. Test t is positive
if q_t + X_t >= threshold + Z, where X_t is fresh noise and Z is drawn once. The release is the index of the first
positive test. The noise is discrete Laplace noise, Z of scale 1 / e1 and X of scale s, or one-sided, geometric noise of
the same scales, with P(Z = z) proportional to e**(-e1 z) for z >= 0 and 0 below, which has half the variance.

**Any queries**, s = 2 / e2: the test is (e1 + e2)-DP [Dwork and Roth, section 3.6].

**Monotone queries** (all changes have one sign), s = 1 / e2: the test is (e1 + e2)-DP [Lyu, Su and Li, section 4.3].

**A running count** (the change is 0 up to some round and afterwards always 1, or always -1), s = 1 / e2: the test is
max(e1, e2)-DP, so both noises may use the whole budget. A row that creates or removes at most one event, in its own
round, changes the count of events so far in this way.

docs/proofs_privacy.md has the proofs.

**Without threshold noise**, see `repeated_epsilon`.
"""

from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting import Cost, repeated_epsilon
from dpfast.accounting.numbers import exact, float_above, number
from dpfast.kernels import noise, sparse_vector
from dpfast.mechanisms.draws import Claim, ExclusiveAccess, Question, ask, read_only

_LARGEST = 1 << 60  # of thresholds; noise exceeds this with probability below e**-300


class _Tests:
    """A running count, tests of it, and its private state; a subclass defines the effect of a positive test.

    It serves one call at a time, in the process that created it. Its attributes, which tell what was paid for and
    drawn, are read-only.
    """

    _tests: Any
    _claim: Claim

    def __init__(self, threshold, epsilon, rng):
        if not isinstance(threshold, Integral) or isinstance(threshold, bool) or abs(threshold) > _LARGEST:
            raise ValueError(f"threshold must be an integer within 2**60 of 0, got {threshold!r}")
        self._threshold, self._epsilon = int(threshold), epsilon
        number("epsilon", epsilon, "a number in [1e-15, 1e15]", lambda x: 1e-15 <= x <= 1e15)
        self._exact = exact("epsilon", epsilon)
        self._rng = random.generator(rng)
        self._count, self._access = 0, ExclusiveAccess(f"an instance of {type(self).__name__}")

    threshold = read_only("_threshold")
    epsilon = read_only("_epsilon")
    test_scale = read_only("_test_scale")
    fired = read_only("_fired")

    def add(self, number: int = 1) -> None:
        """Add to the running count.

        Parameters
        ----------
        number : int, default=1
        """
        with self._access.hold():
            self._count += _integer("number", number)

    def test(self, count: int | None = None) -> bool:
        """Test once.

        Parameters
        ----------
        count : int, optional
            The count to test instead of the running count.

        Returns
        -------
        bool
            Whether the test was positive; this is the release.

        Raises
        ------
        RuntimeError
            If no further test is allowed because the instance has fired, in a process other than the one that created
            it, or while another thread uses it.
        """
        with self._access.hold():
            self._check_open()
            tested = self._count if count is None else _integer("count", count)
            if self._ask([tested], lambda: self._tests.test(tested, self._rng)):
                self._positive()
                return True
            return False

    def run(self, rounds: int, increments: ArrayLike = ()) -> int | None:
        """Test the running count once in each of many rounds, until a test is positive.

        This is equivalent to a loop over `add` and `test`. For the same random words the outcomes do not depend on how
        the rounds are divided into calls. The cost is that of the increments only: while the count is constant, the
        number of tests up to a positive one is geometric, and is drawn at once (csrc/sparse_vector.h).

        Parameters
        ----------
        rounds : int
            At least 0.
        increments : array_like of int, shape (k,)
            The rounds, from 0 and nondecreasing, in which the count goes up by one before the test; a round listed
            twice counts twice.

        Returns
        -------
        int or None
            The round of the positive test; None if there was none.

        Raises
        ------
        RuntimeError
            As in `test`.
        ValueError
            Before anything is drawn.
        """
        with self._access.hold():
            self._check_open()
            rounds, at = _integer("rounds", rounds), np.asarray(increments)
            if not 0 <= rounds <= 1 << 62 or at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
                raise ValueError(
                    f"rounds must lie in [0, 2**62] and increments be integers of shape (k,), got {rounds} and "
                    f"{at.dtype} {at.shape}"
                )
            lengths: np.ndarray = np.diff(at.astype(np.int64), prepend=0, append=rounds)
            if lengths.min() < 0 or (at.size and at[-1] == rounds):
                raise ValueError(f"increments must lie in [0, {rounds}) and not decrease")
            counts = self._count + np.arange(len(lengths))
            answer = self._ask(lambda: np.repeat(counts, lengths), lambda: self._tests.run(counts, lengths, self._rng))
            if answer is None:
                self._count += at.size
            else:
                self._positive()
            return answer

    def _ask(self, counts, draw):
        def question():
            value = np.asarray(counts() if callable(counts) else counts, np.int64)
            return Question(type(self).__name__, value, "largest", self._exact, claim=self._claim, used=_counts_tested)

        return ask(question, draw, self._rng)

    def _positive(self) -> None:
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} holds noise and counts that are private: it is not copied or pickled")


def _counts_tested(counts, answer):
    """Return the counts that were tested, up to the first positive test, for an answer of `test` or `run`."""
    return counts if isinstance(answer, bool) or answer is None else counts[: answer + 1]


class AboveThreshold(_Tests):
    """Find the first round in which a count is about as large as a threshold, at a privacy cost paid once.

    **Privacy.** The rounds up to and including the first positive test are epsilon-DP, for the neighbour relation under
    which `monotone` describes the change of the counts; the number of tests does not matter. Every `reset` costs
    another epsilon, unless one row changes the counts of one run only: then all runs together are epsilon-DP. The
    documentation of this module gives the theorems.

    Parameters
    ----------
    threshold : int
    epsilon : Fraction, int or float
        In [1e-15, 1e15]; a float is read as the decimal number that it prints as.
    monotone : bool or "running", default=False
        How the counts of two neighbours may differ, given the earlier releases: each by at most one in any direction
        (False), all in one direction (True), or not at all up to some round and afterwards always by one, or always by
        minus one ("running": a count of events so far, of which one row creates or removes at most one).
    noise : {"geometric", "paper"}, default="geometric"
        "geometric" noise is never below 0; "paper" is discrete Laplace noise, as in Bun and Fang's Lemmas 4.3 and 4.5.
        Both are drawn exactly, as integers. The scales for the threshold and for each test, in units of 1 / epsilon:

        =========  =========  ====  ==========
        monotone   "running"  True  False
        =========  =========  ====  ==========
        geometric  1, 1       2, 2  13/5, 13/4
        paper      2, 4       2, 4  2, 4
        =========  =========  ====  ==========

        The scales of "geometric" minimize the variance of the sum of the two noises under the theorem: e1 : e2 is 1 : 1
        for monotone queries and 1 : 2**(2/3), here 5 : 8, for others [Lyu, Su and Li, section 4.2, c = 1].
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    fired : bool
        Whether a test was positive. The instance then refuses to test until it is `reset`.
    runs : int
        The number of times that the threshold noise was drawn.
    threshold_scale, test_scale : Fraction
        The scales of the two noises.

    References
    ----------
    C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 3.6.
    M. Lyu, D. Su, N. Li, Understanding the Sparse Vector Technique for Differential Privacy, VLDB 2017.

    Examples
    --------
    >>> mistakes = AboveThreshold(1000, 0.5, monotone="running")
    >>> mistakes.run(10**9, increments=range(0, 10**9, 10**5)) is None
    False
    >>> mistakes.fired
    True
    """

    def __init__(
        self,
        threshold: int,
        epsilon: float | Fraction,
        *,
        monotone: bool | str = False,
        noise: str = "geometric",
        rng: int | np.random.Generator | None = None,
    ) -> None:
        if monotone not in (False, True, "running"):
            raise ValueError(f'monotone must be False, True or "running", got {monotone!r}')
        if noise not in ("geometric", "paper"):
            raise ValueError(f'noise must be "geometric" or "paper", got {noise!r}')
        super().__init__(threshold, epsilon, rng)
        self._monotone, self._noise = monotone, noise
        scales: tuple[Any, Any] = (2, 4)
        if noise == "geometric":
            scales = {"running": (1, 1), True: (2, 2), False: (Fraction(13, 5), Fraction(13, 4))}[monotone]
        self._threshold_scale, self._test_scale = (scale / self._exact for scale in scales)
        self._runs = 0
        self.reset()

    monotone = read_only("_monotone")
    noise = read_only("_noise")
    threshold_scale = read_only("_threshold_scale")
    runs = read_only("_runs")

    def reset(self) -> None:
        """Start again with new threshold noise and a count of 0; this costs epsilon once more."""
        with self._access.hold():
            draw = noise.discrete_laplace if self._noise == "paper" else noise.geometric
            self._runs += 1  # before the draw: what may have been drawn counts
            sample = draw(self._threshold_scale, 1, self._rng)
            self._tests = self._noisy(self._threshold + int(sample[0]))
            self._claim = Claim(float(self._exact), (Cost("pure", float_above(self._exact)),))
            self._count, self._fired = 0, False

    def _noisy(self, threshold, *pending):
        return sparse_vector.Tests(threshold, self._test_scale, *pending, one_sided=self._noise == "geometric")

    def _positive(self):
        self._fired, self._count, self._tests = True, 0, None

    def _check_open(self):
        if self._fired:
            raise RuntimeError("the threshold was reached; reset() starts again, and costs epsilon again")

    def __repr__(self):
        text = f"AboveThreshold({self.threshold}, {self.epsilon}, monotone={self.monotone!r}, noise={self.noise!r})"
        return f"<{text}: run {self.runs}{', fired' if self.fired else ''}>"

    def _state(self):
        """Return the state that the arguments do not determine, for JSON; private. Test no round twice."""
        return {
            "threshold": self.threshold,
            "runs": self.runs,
            "count": self._count,
            "tests": None if self.fired else self._tests.state(),
        }

    def _resume(self, state):
        """Continue from the state of an instance with the same arguments."""
        if state["threshold"] != self.threshold:
            raise ValueError(f"the tests were for a threshold of {state['threshold']}, here it is {self.threshold}")
        self._runs, self._count, self._fired = int(state["runs"]), int(state["count"]), state["tests"] is None
        self._tests = None if self._fired else self._noisy(*state["tests"])


class RepeatedThreshold(_Tests):
    """Test a count against a threshold without threshold noise, up to a number of positive tests.

    **Privacy.** The noise is discrete Laplace noise; one-sided noise would not suffice, as it makes a count at the
    threshold test positive with certainty. The neighbour relation must change each count by at most one, in any
    direction, given the earlier releases. Then each test is epsilon-DP, and all tests together, whatever their number,
    are ``claim(delta)``-DP. No smaller claim holds for all counts. `repeated_epsilon` gives the theorem. Negative
    tests cost privacy too; with few positives and running counts, `AboveThreshold` needs less noise.

    Parameters
    ----------
    threshold : int
    epsilon : Fraction, int or float
        Of one test, in [1e-15, 10]; a float is read as the decimal number that it prints as. The noise has scale 1 /
        epsilon.
    positives : int
        The number of positive tests, at least 1, after which the tests end.
    rng : None, int or numpy.random.Generator

    Attributes
    ----------
    fired : int
        The number of positive tests so far. After `positives` of them the instance refuses to test. The running count
        restarts at 0 after each.
    test_scale : Fraction
        The scale of the noise.

    References
    ----------
    E. Cohen, X. Lyu, The Target-Charging Technique for Privacy Analysis across Interactive Computations, NeurIPS 2023.
    X. Lyu, Private Learning of Littlestone Classes, Revisited, Algorithm 2.

    Examples
    --------
    >>> tests = RepeatedThreshold(100, 0.1, positives=20)
    >>> epsilon, delta = tests.claim(1e-6)
    >>> round(epsilon, 2)
    4.29
    """

    def __init__(
        self, threshold: int, epsilon: float | Fraction, positives: int, *, rng: int | np.random.Generator | None = None
    ) -> None:
        super().__init__(threshold, epsilon, rng)
        self._positives = _integer("positives", positives)
        if self._positives < 1:
            raise ValueError(f"positives must be at least 1, got {positives}")
        if self._exact > 10:
            raise ValueError(f"epsilon of one test must be at most 10, got {float(self._exact)!r}")
        self._test_scale, self._fired = 1 / self._exact, 0
        self._tests, self._claim = sparse_vector.Tests(self._threshold, self._test_scale), Claim(float(self._exact))

    positives = read_only("_positives")

    def claim(self, delta: float) -> tuple[float, float]:
        """Return the claim of all tests together; see `repeated_epsilon`.

        Parameters
        ----------
        delta : float
            The delta of the claim.

        Returns
        -------
        tuple of float
            (epsilon, delta).
        """
        return repeated_epsilon(self._exact, self._positives, delta), delta

    def _positive(self):
        self._fired, self._count = self._fired + 1, 0

    def _check_open(self):
        if self._fired >= self._positives:
            raise RuntimeError(f"all {self._positives} positive tests that were paid for have been made")

    def __repr__(self):
        text = f"RepeatedThreshold({self.threshold}, {self.epsilon}, positives={self.positives})"
        return f"<{text}: {self.fired} fired>"

    def _state(self):
        """Return the state that the arguments do not determine, for JSON; private. Test no round twice."""
        return {"fired": self.fired, "count": self._count, "tests": self._tests.state()}

    def _resume(self, state):
        """Continue from the state of an instance with the same arguments."""
        self._fired, self._count = int(state["fired"]), int(state["count"])
        threshold, pending = state["tests"]
        self._tests = sparse_vector.Tests(threshold, self._test_scale, pending)


def _integer(name, value):
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return int(value)
