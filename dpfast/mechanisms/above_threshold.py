"""Noisy tests of a count against a threshold: the sparse vector technique, with and without threshold noise.

Counts q_1, q_2, ... are integers; neighbours change each by at most one, given what was released before. Test t is
positive if q_t + X_t >= threshold + Z, with X_t fresh and Z drawn once, both discrete Laplace. The first positive test
is released: what is claimed is about P, the probability that it is test t (or that there is none: then there is no
last test below). F_i(z) is the probability that test i is negative given Z = z; primes mark the neighbour. Z = z and
Z = z + 1 differ in probability by a factor of at most e**e1 where Z has scale 1 / e1, and P(X >= g) and P(X >= g - 1)
by at most e**(1 / s) where X has scale s. The proofs use no more of the noise than that: they hold on the integers.

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

import numpy as np
from scipy.signal import lfilter

from dpfast import random
from dpfast.kernels import noise, sparse_vector

_LARGEST = 1 << 60  # thresholds; noise reaches so far with probability below e**-300


class _Tests:
    """A running count, tests of it, and what all that must not show."""

    def __init__(self, threshold, epsilon, rng):
        if not isinstance(threshold, Integral) or isinstance(threshold, bool) or abs(threshold) > _LARGEST:
            raise ValueError(f"threshold must be an integer within 2**60 of 0, got {threshold!r}")
        self.threshold, self.epsilon = int(threshold), epsilon
        self._exact = _rational(epsilon)
        self._rng = random.generator(rng)
        self._count = 0

    def add(self, number=1):
        """The running count goes up by `number`, an int."""
        self._count += _integer("number", number)

    def test(self, count=None):
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
            If no test is left: the instance has fired.
        """
        self._check_open()
        tested = self._count if count is None else _integer("count", count)
        if self._tests.test(tested, self._rng):
            self._positive()
            return True
        return False

    def run(self, rounds, increments=()):
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
            If no test is left: the instance has fired.
        ValueError
            Before anything is drawn.
        """
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
        made = self._tests.run(self._count + np.arange(len(lengths)), lengths, self._rng)
        if made is None:
            self._count += at.size
        else:
            self._positive()
        return made

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
    noise : {"discrete", "paper"}, default="discrete"
        The scales: for the threshold and for each test, in units of 1 / epsilon,

        ========  =======  ===========  =======
        monotone  "running"     True     False
        ========  =======  ===========  =======
        discrete  1, 1      2, 2        13/5, 13/4
        paper     2, 4      2, 4        2, 4
        ========  =======  ===========  =======

        "discrete" makes the variance of the sum of the two noises as small as the theorem allows: e1 : e2 is 1 : 1
        for monotone queries and 1 : 2**(2/3), here 5 : 8, for others [Lyu, Su and Li, section 4.2, c = 1]. "paper" is
        what Bun and Fang's Lemmas 4.3 and 4.5 use. Both are drawn as integers, exactly.
    rng : None, int or numpy.random.Generator
        None is cryptographic; a seed is for tests.

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

    def __init__(self, threshold, epsilon, *, monotone=False, noise="discrete", rng=None):
        if monotone not in (False, True, "running"):
            raise ValueError(f'monotone must be False, True or "running", got {monotone!r}')
        if noise not in ("discrete", "paper"):
            raise ValueError(f'noise must be "discrete" or "paper", got {noise!r}')
        super().__init__(threshold, epsilon, rng)
        self.monotone, self.noise = monotone, noise
        if noise == "paper":
            scales = 2, 4
        else:
            scales = {"running": (1, 1), True: (2, 2), False: (Fraction(13, 5), Fraction(13, 4))}[monotone]
        self.threshold_scale, self.test_scale = (scale / self._exact for scale in scales)
        self.runs = 0
        self.reset()

    def reset(self):
        """Start again with new threshold noise and a count of 0; it costs epsilon once more."""
        drawn = noise.discrete_laplace(self.threshold_scale, 1, self._rng)
        self._tests = sparse_vector.Tests(self.threshold + int(drawn[0]), self.test_scale)
        self._count, self.fired = 0, False
        self.runs += 1

    def _positive(self):
        self._count, self._tests, self.fired = 0, None, True

    def _check_open(self):
        if self.fired:
            raise RuntimeError("the threshold was reached; reset() starts again, and costs epsilon again")

    def __repr__(self):
        text = f"AboveThreshold({self.threshold}, {self.epsilon}, monotone={self.monotone!r}, noise={self.noise!r})"
        return f"<{text}: run {self.runs}{', fired' if self.fired else ''}>"

    def _state(self):
        """Everything but the generator, for JSON: private, for checkpoints only. Test no round twice."""
        return {
            "threshold": self.threshold,
            "epsilon": str(self._exact),
            "monotone": self.monotone,
            "noise": self.noise,
            "runs": self.runs,
            "count": self._count,
            "tests": None if self.fired else self._tests.state(),
        }

    @classmethod
    def _from_state(cls, state, rng=None):
        """The instance that `_state` described."""
        self = cls(
            state["threshold"],
            Fraction(state["epsilon"]),
            monotone=state["monotone"],
            noise=state["noise"],
            rng=rng,
        )
        self.runs, self._count, self.fired = state["runs"], state["count"], state["tests"] is None
        self._tests = None if self.fired else _resumed(state["tests"], self.test_scale)
        return self


class RepeatedThreshold(_Tests):
    """Tests a count against a threshold without threshold noise, up to a number of positive tests.

    **Privacy.** For the neighbour relation under which each count changes by at most one, in any direction, given what
    was released: each test is epsilon-DP, and all of them together, however many, are ``claim(delta)``-DP.
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
        None is cryptographic; a seed is for tests.

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

    def __init__(self, threshold, epsilon, positives, *, rng=None):
        super().__init__(threshold, epsilon, rng)
        self.positives = _positives(positives)
        _test_epsilon(self._exact)
        self.test_scale, self.fired = 1 / self._exact, 0
        self._tests = sparse_vector.Tests(self.threshold, self.test_scale)

    def claim(self, delta):
        """(epsilon, delta) of all tests together; see `repeated_epsilon`."""
        return repeated_epsilon(self._exact, self.positives, delta), delta

    def _positive(self):
        self._count, self.fired = 0, self.fired + 1

    def _check_open(self):
        if self.fired == self.positives:
            raise RuntimeError(f"all {self.positives} positive tests that were paid for have been made")

    def __repr__(self):
        text = f"RepeatedThreshold({self.threshold}, {self.epsilon}, positives={self.positives})"
        return f"<{text}: {self.fired} fired>"

    def _state(self):
        """Everything but the generator, for JSON: private, for checkpoints only. Test no round twice."""
        return {
            "threshold": self.threshold,
            "epsilon": str(self._exact),
            "positives": self.positives,
            "fired": self.fired,
            "count": self._count,
            "tests": self._tests.state(),
        }

    @classmethod
    def _from_state(cls, state, rng=None):
        """The instance that `_state` described."""
        self = cls(state["threshold"], Fraction(state["epsilon"]), state["positives"], rng=rng)
        self.fired, self._count = state["fired"], state["count"]
        self._tests = _resumed(state["tests"], self.test_scale)
        return self


def repeated_epsilon(epsilon, positives, delta):
    """Epsilon of all tests together that end with a number of positive ones, each test being epsilon-DP.

    Parameters
    ----------
    epsilon : Fraction, int or float
        e, of one test, in [1e-15, 10].
    positives : int
        K, at least 1: testing ends with positive test number K.
    delta : float
        In [1e-300, 1).

    Returns
    -------
    float
        E such that the released bits are (E, delta)-DP, rounded up. O(K + E / e) numbers, K times.

    Notes
    -----
    **Theorem.** Let each test be an e-DP bit, chosen after the earlier bits are seen, without limit on their number.
    Put a = 1 / (1 + exp(-e)), b = 1 - a = 1 / (exp(e) + 1), x = (0, 0, ...) and K times replace x by y, where

        y_0 = (tanh(e / 2) + b x_1 + b**2 x_2) / (1 - a b),    y_i = b x_{i+1} + a y_{i-1}    (i >= 1).

    The bits are (i e, x_i)-DP for every i >= 0, and in between with delta linear in exp(E). No smaller delta holds.

    **Proof.** Randomised response R says which of the neighbours P, Q it is and lies with probability b. An e-DP bit
    is a mixture, with the same weights for both, of constants and of R or its negation [Kairouz, Oh and Viswanath,
    2015]. Tell which it was: a constant shows nothing and may use up a positive. So take R or its negation always: a
    target hit with probability b at least [Cohen and Lyu, 2023]. Let V_k(j) be the largest value that E_P max(0, 1 -
    Q / P) can reach with k positives left and ln(P / Q) = j e so far. V_0(j) = max(0, 1 - exp(-j e)), and V_k is the
    least function that is at least V_{k-1} and

        (+) a V_{k-1}(j+1) + b V_k(j-1)    and    (-) b V_{k-1}(j-1) + a V_k(j+1).

    Let W be V_0, and for k > 0 what (-) gives for j < 0 and (+) for j > 0, either for j = 0: exchanging P and Q shows
    W_k(j) = 1 - exp(-j e) + exp(-j e) W_k(-j), and the theorem's x_i are W_K(-i). Put h_k(j) = exp(j e / 2) (W_k(j) -
    W_{k-1}(j)), which is even, and c = sqrt(a b). Then h_1(j) = c**abs(j) h_1(0), and for k > 1

        h_k(0) = c (h_{k-1}(1) + h_k(1)),    h_k(j) = c (h_{k-1}(j+1) + h_k(j-1))    (j >= 1),

    so by induction on k, then j, it is positive and falls with abs(j). Hence W_k >= W_{k-1}, and (-) exceeds (+) by
    c exp(-j e / 2) (h_k(j+1) - h_k(j-1)), which is >= 0 for j < 0 and <= 0 for j > 0: W = V. The largest divergence is
    convex in exp(E). Discrete Laplace tests of scale 1 / e at gaps 1 and 0 are R: P(X >= 1) = b, P(X >= 0) = a.

    Examples
    --------
    >>> round(repeated_epsilon(0.1, 20, 1e-6), 2)
    4.29
    """
    e, k = float(_test_epsilon(_rational(epsilon))), _positives(positives)
    if not (isinstance(delta, Real) and 1e-300 <= delta < 1):
        raise ValueError(f"delta must be at least 1e-300 and below 1, got {delta!r}")
    size, x = 64, [1.0]
    while x[-1] > delta:
        size *= 2
        x = _largest_divergences(e, k, size)
    i = int(np.argmax(x <= delta))
    if i == 0:
        return 0.0
    part = (x[i - 1] - delta) / (x[i - 1] - x[i])
    return ((i - 1) * e + math.log1p(math.expm1(e) * part)) * (1 + 2.0**-40)


def _largest_divergences(e, positives, size):
    """x_0, ..., x_{size - 1} of the theorem, rounded up."""
    a, b = 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))
    x = np.zeros(size)
    for _ in range(positives):
        beyond = np.append(x[1:], x[-1])  # x falls: more than the truth at the end
        driven = b * beyond
        driven[0] = (math.tanh(e / 2) + b * beyond[0] + b * b * beyond[1]) / (1 - a * b)
        x = lfilter([1.0], [1.0, -a], driven)
    return x * (1 + (positives + size) * 2.0**-49)  # sums of positive terms, each of at most so many operations


def _resumed(state, scale):
    threshold, pending = state
    return sparse_vector.Tests(threshold, scale, pending)


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
