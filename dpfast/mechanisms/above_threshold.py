"""Noisy tests of a count against a threshold: the sparse vector technique, with and without threshold noise.

Counts q_1, q_2, ... are integers; neighbours change each by at most one, given what was released before. Test t is
positive if q_t + X_t >= threshold + Z, with X_t fresh and Z drawn once. The first positive test is released: what is
claimed is about P, the probability that it is test t (or that there is none: then there is no last test below). F_i(z)
is the probability that test i is negative given Z = z; primes mark the neighbour. The proofs use two facts of the noise
and no more, P(Z = z + 1) >= e**-e1 P(Z = z) for all z, and P(X >= g) <= P(X >= g - 1) <= e**(1 / s) P(X >= g) for all
g. Discrete Laplace noise has them where Z has scale 1 / e1 and X has scale s; so has one-sided, geometric noise,
P(Z = z) proportional to e**(-e1 z) for z >= 0 and none below, and X like it: its variance is half as large.

**Any queries**, s = 2 / e2: a shift of z by one makes up for the change of all q_i, F'_i(z + 1) >= F_i(z), and moves
the last test by at most two: P' >= e**-(e1 + e2) P, both ways. So (e1 + e2)-DP [Dwork and Roth, section 3.6].

**Monotone queries** (all changes have one sign), s = 1 / e2. Let q' >= q. Without a shift F' <= F, and the last test
moves by at most one: P' <= e**e2 P. With the shift of z by one, F'_i(z + 1) >= F_i(z) and the last test moves by at
most one again: P' >= e**-(e1 + e2) P. So (e1 + e2)-DP [Lyu, Su and Li, section 4.3].

**A running count** (the change is 0 up to some round and from then on always 1, or always -1), s = 1 / e2. Let
q' >= q. As before P' <= e**e2 P. If the last test comes before the change, P' = P; if not, the shift of z by one undoes
the change of that test exactly, and P' >= e**-e1 P. So max(e1, e2)-DP: both noises may use the whole budget. One row
that makes or unmakes at most one event, in its own round, makes such a change in the count of the events so far.

**Without threshold noise** see `repeated_epsilon`.
"""

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting import Cost, repeated_epsilon
from dpfast.accounting.checks import float_above
from dpfast.kernels import noise, sparse_vector
from dpfast.mechanisms.recorded import Claim, Question, asked

from .sole import Sole, told

_LARGEST = 1 << 60  # thresholds; noise reaches so far with probability below e**-300


class _Tests:
    """A running count, tests of it, and what all that must not show; a subclass gives what a positive test does.

    One call at a time uses it, in the process that made it. Its attributes tell what was paid for and drawn, and cannot
    be set.
    """

    _tests: Any
    _claim: Claim

    def __init__(self, threshold, epsilon, rng):
        if not isinstance(threshold, Integral) or isinstance(threshold, bool) or abs(threshold) > _LARGEST:
            raise ValueError(f"threshold must be an integer within 2**60 of 0, got {threshold!r}")
        self._threshold, self._epsilon = int(threshold), epsilon
        self._exact = _rational(epsilon)
        self._rng = random.generator(rng)
        self._count, self._sole = 0, Sole(f"an instance of {type(self).__name__}")

    threshold = told("_threshold")
    epsilon = told("_epsilon")
    test_scale = told("_test_scale")
    fired = told("_fired")

    def add(self, number: int = 1) -> None:
        """Add to the running count.

        Parameters
        ----------
        number : int, default=1
        """
        with self._sole.used():
            self._count += _integer("number", number)

    def test(self, count: int | None = None) -> bool:
        """Test once.

        Parameters
        ----------
        count : int, optional
            What to test in place of the running count.

        Returns
        -------
        bool
            Whether the test was positive; this is what is released.

        Raises
        ------
        RuntimeError
            If no test is left: the instance has fired. In another process than the one that made it, and while another
            thread is at it.
        """
        with self._sole.used():
            self._check_open()
            tested = self._count if count is None else _integer("count", count)
            if self._asked([tested], lambda: self._tests.test(tested, self._rng)):
                self._positive()
                return True
            return False

    def run(self, rounds: int, increments: ArrayLike = ()) -> int | None:
        """Test the running count once in each of many rounds, until a test is positive.

        The same as a loop over `add` and `test`, with the same outcomes for one stream of random words however the
        rounds are cut into calls, at the cost of the increments alone: while the count stays, the number of tests
        up to a positive one is geometric, and is drawn at once (csrc/sparse_vector.h).

        Parameters
        ----------
        rounds : int
            At least 0.
        increments : array_like of int, shape (k,)
            The rounds, from 0 and not decreasing, in which the count goes up by one before the test; a round named
            twice counts twice.

        Returns
        -------
        int or None
            The round of the positive test, None if there was none.

        Raises
        ------
        RuntimeError
            As `test`.
        ValueError
            Before anything is drawn.
        """
        with self._sole.used():
            return self._run(rounds, increments)

    def _run(self, rounds, increments):
        self._check_open()
        rounds, at = _integer("rounds", rounds), np.asarray(increments)
        if not 0 <= rounds <= 1 << 62 or at.ndim != 1 or (at.size and at.dtype.kind not in "iu"):
            raise ValueError(
                f"rounds must lie in [0, 2**62] and increments be integers of shape (k,), got {rounds} and "
                f"{at.dtype} {at.shape}"
            )
        lengths = np.diff(at.astype(np.int64), prepend=0, append=rounds)
        if lengths.min() < 0 or (at.size and at[-1] == rounds):
            raise ValueError(f"increments must lie in [0, {rounds}) and not decrease")
        counts = self._count + np.arange(len(lengths))
        made = self._asked(lambda: np.repeat(counts, lengths), lambda: self._tests.run(counts, lengths, self._rng))
        if made is None:
            self._count += at.size
        else:
            self._positive()
        return made

    def _asked(self, counts, draw):
        def question():
            value = np.asarray(counts() if callable(counts) else counts, np.int64)
            return Question(type(self).__name__, value, "largest", self._exact, claim=self._claim)

        return asked(question, draw, self._rng)

    def _positive(self) -> None:
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} holds noise and counts that are private: it is not copied or pickled")


class AboveThreshold(_Tests):
    """Finds the first round in which a count is about as large as a threshold, at a price paid once.

    **Privacy.** The rounds up to and with the first positive test are epsilon-DP, for the neighbour relation under
    which `monotone` describes the change of the counts; the number of tests does not matter. Every `reset` is another
    epsilon, except where it is known that one row changes the counts of one run only: then all runs together are
    epsilon-DP. Theorems and proofs are in the documentation of this module.

    Parameters
    ----------
    threshold : int
    epsilon : Fraction, int or float
        In [1e-15, 1e15]; a float counts as the decimal that it prints as.
    monotone : bool or "running", default=False
        How the counts of two neighbours may differ, given what was released: each by at most one in any direction
        (False), all in one direction (True), or by nothing up to some round and from then on always by one, or
        always by minus one ("running": a count of events so far, of which one row makes or unmakes at most one).
    noise : {"geometric", "paper"}, default="geometric"
        "geometric" noise is never below 0; "paper" is discrete Laplace, as Bun and Fang's Lemmas 4.3 and 4.5 have it.
        Both are integers, drawn exactly. The scales, for the threshold and for each test, in units of 1 / epsilon:

        =========  =========  ====  ==========
        monotone   "running"  True  False
        =========  =========  ====  ==========
        geometric  1, 1       2, 2  13/5, 13/4
        paper      2, 4       2, 4  2, 4
        =========  =========  ====  ==========

        Those of "geometric" make the variance of the sum of the two noises as small as the theorem allows: e1 : e2 is
        1 : 1 for monotone queries and 1 : 2**(2/3), here 5 : 8, for others [Lyu, Su and Li, section 4.2, c = 1].
    rng : None, int or numpy.random.Generator
        None uses a cryptographic generator; a seed is for tests.

    Attributes
    ----------
    fired : bool
        Whether a test was positive. A fired instance refuses to test until it is `reset`.
    runs : int
        How often the threshold noise was drawn.
    threshold_scale, test_scale : Fraction
        The scales of the two noises.

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.

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

    monotone = told("_monotone")
    noise = told("_noise")
    threshold_scale = told("_threshold_scale")
    runs = told("_runs")

    def reset(self) -> None:
        """Start again with new threshold noise and a count of 0; it costs epsilon once more."""
        with self._sole.used():
            draw = noise.discrete_laplace if self._noise == "paper" else noise.geometric
            self._runs += 1  # before the draw: what may have been drawn counts
            drawn = draw(self._threshold_scale, 1, self._rng)
            self._tests = self._noisy(self._threshold + int(drawn[0]))
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
        """What is not known from the arguments, for JSON: private, for checkpoints only. Test no round twice."""
        return {
            "threshold": self.threshold,
            "runs": self.runs,
            "count": self._count,
            "tests": None if self.fired else self._tests.state(),
        }

    def _go_on(self, state):
        """Take the place of an instance of the same arguments, of which the state was taken."""
        if state["threshold"] != self.threshold:
            raise ValueError(f"the tests were for a threshold of {state['threshold']}, here it is {self.threshold}")
        self._runs, self._count, self._fired = int(state["runs"]), int(state["count"]), state["tests"] is None
        self._tests = None if self._fired else self._noisy(*state["tests"])


class RepeatedThreshold(_Tests):
    """Tests a count against a threshold without threshold noise, up to a number of positive tests.

    **Privacy.** The noise is discrete Laplace; one-sided noise, by which a count at the threshold is sure to test
    positive, would not do. For the neighbour relation under which each count changes by at most one, in any direction,
    given what was released: each test is epsilon-DP, and all of them together, however many, are ``claim(delta)``-DP.
    No smaller claim holds for all counts. Theorem and proof are in `repeated_epsilon`. Negative tests cost too, which
    shows at few positives: for running counts `AboveThreshold` gives more.

    Parameters
    ----------
    threshold : int
    epsilon : Fraction, int or float
        Of one test, in [1e-15, 10]; a float counts as the decimal that it prints as. The noise has scale 1 / epsilon.
    positives : int
        The tests end with the positive one of this number, at least 1.
    rng : None, int or numpy.random.Generator
        None uses a cryptographic generator; a seed is for tests.

    Attributes
    ----------
    fired : int
        Positive tests so far. After `positives` of them the instance refuses to test. The running count starts again
        at 0 after each.
    test_scale : Fraction
        The scale of the noise.

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.

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
        self._positives = _positives(positives)
        _test_epsilon(self._exact)
        self._test_scale, self._fired = 1 / self._exact, 0
        self._tests, self._claim = sparse_vector.Tests(self._threshold, self._test_scale), Claim(float(self._exact))

    positives = told("_positives")

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
        """What is not known from the arguments, for JSON: private, for checkpoints only. Test no round twice."""
        return {"fired": self.fired, "count": self._count, "tests": self._tests.state()}

    def _go_on(self, state):
        """Take the place of an instance of the same arguments, of which the state was taken."""
        self._fired, self._count = int(state["fired"]), int(state["count"])
        threshold, pending = state["tests"]
        self._tests = sparse_vector.Tests(threshold, self._test_scale, pending)


def _rational(epsilon):
    """Epsilon as a fraction; a float as the decimal that it prints as."""
    if isinstance(epsilon, Real) and not isinstance(epsilon, bool) and math.isfinite(epsilon):
        exact = Fraction(epsilon) if isinstance(epsilon, Rational) else Fraction(repr(float(epsilon)))
        if Fraction(1, 10**15) <= exact <= 10**15:
            return exact
    raise ValueError(f"epsilon must be a number in [1e-15, 1e15], got {epsilon!r}")


def _test_epsilon(exact):
    if exact > 10:
        raise ValueError(f"epsilon of one test must be at most 10, got {float(exact)!r}")
    return exact


def _positives(number):
    number = _integer("positives", number)
    if number < 1:
        raise ValueError(f"positives must be at least 1, got {number}")
    return number


def _integer(name, value):
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return int(value)
