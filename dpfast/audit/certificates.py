"""Certificates: lower bounds on the epsilon of a mechanism, measured by running it.

A proof bounds the epsilon of a mechanism from above, and an audit bounds it from below: it runs the mechanism many
times on two neighbouring tables and compares the frequencies of one event. A lower bound above the claim refutes the
claim, up to the failure probability of the audit. A lower bound near the claim shows that the claim is tight.

>>> from dpfast.mechanisms import discrete_laplace
>>> result = certify(lambda count, rng: discrete_laplace(count, 1, rng=rng), 10, 11, epsilon=1.0, random_state=0)
>>> 0.7 < result.certified <= result.epsilon
True
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpfast import random
from dpfast.accounting.numbers import exact
from dpfast.base.parameters import count, real

_RUNS, _FAILURE = count(2), real(0, 1, "()")
_MOST_CUTS = 400  # half-lines that are tried, of each side


@dataclass(frozen=True)
class Audit:
    """Result of `certify`.

    Attributes
    ----------
    epsilon, delta : float
        The claim.
    certified : float
        With probability 1 - failure, the mechanism is (e, delta)-DP for no e below this number. At least 0.
    runs : int
        The number of runs of the mechanism on each of the two tables.
    event : str
        The event that distinguishes the tables, and the table on which it is more frequent.
    frequencies : tuple of float
        The frequencies of the event on that table and on the other one, in the half of the runs that did not choose it.
    """

    epsilon: float
    delta: float
    certified: float
    runs: int
    event: str
    frequencies: tuple[float, float]

    @property
    def holds(self) -> bool:
        """Return whether the lower bound is at most the claim."""
        return self.certified <= self.epsilon

    def __str__(self):
        return (
            f"claimed epsilon {self.epsilon:g} at delta {self.delta:g}, at least {self.certified:.3g} by {self.runs:,} "
            f"runs on either table: {self.event}"
        )


def certify(
    mechanism: Callable[[Any, np.random.Generator], Hashable],
    table: Any,
    neighbor: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 10_000,
    failure: float = 1e-6,
    random_state: int | np.random.Generator | None = None,
) -> Audit:
    """Return a lower bound on the epsilon of a mechanism, from its runs on two neighbouring tables.

    Parameters
    ----------
    mechanism : callable
        A function of a table and a generator that returns an outcome; it draws only from this generator. If all
        outcomes are floats, events are half-lines and single outcomes, including NaN. Other outcomes are hashable, and
        events are sets of them. All NaN are one outcome, also within tuples.
    table, neighbor : object
        Two tables that are neighbours in the relation of the claim.
    epsilon, delta : float
        The claim.
    runs : int, default=10,000
        The number of runs on each table. The first half chooses an event, the second half bounds its probabilities.
    failure : float, default=1e-6
        The probability with which the bound may be above the truth.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    Audit

    Notes
    -----
    (e, delta)-DP means that P(S) <= exp(e) Q(S) + delta for every event S. The second half of the runs is independent
    of the choice of S, and gives a lower Clopper-Pearson bound for P(S) and an upper one for Q(S), each at failure / 2.
    So e is at least ln((P - delta) / Q), except with probability `failure`. For each table, the event is the one with
    the largest bound on the first half of the runs, among half-lines and single outcomes, or among sets of the
    relatively most frequent outcomes.
    """
    claimed, allowed = float(exact("epsilon", epsilon)), float(exact("delta", delta, below=1))
    runs, failure = _RUNS.read("runs", runs), _FAILURE.read("failure", failure)
    rng, half = random.generator(random_state), runs // 2
    results = [[_one_nan(mechanism(rows, rng)) for _ in range(runs)] for rows in (table, neighbor)]
    on_a_line = all(isinstance(outcome, float | np.floating) for outcomes in results for outcome in outcomes)
    choose = _on_a_line if on_a_line else _set

    def bound(hits):
        return _bound(hits[0], hits[1], runs - half, allowed, failure)

    ways = [(first, *choose(results[first][:half], results[1 - first][:half], bound)) for first in (0, 1)]
    first, _, event, text = max(ways, key=lambda way: way[1])
    hits = [sum(map(event, results[which][half:])) for which in (first, 1 - first)]
    return Audit(
        claimed,
        allowed,
        float(bound(np.array(hits))),
        runs,
        f"{text}, on the {'other' if first else 'first'} table",
        (hits[0] / (runs - half), hits[1] / (runs - half)),
    )


def _bound(hits, others, n, delta, failure):
    """Return the certified epsilon of an event with `hits` in n runs on one table, `others` on the other."""
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), n - hits + 1, failure / 2), 0)
    high = np.where(others < n, betaincinv(others + 1, np.maximum(n - others, 1), 1 - failure / 2), 1)
    return np.log(np.maximum((low - delta) / high, 1))


def _one_nan(outcome):
    """Return the outcome with one object for all NaNs: NaN is not equal to NaN, and sets find it by identity."""
    if isinstance(outcome, tuple):
        return tuple(map(_one_nan, outcome))
    return math.nan if isinstance(outcome, float | np.floating) and outcome != outcome else outcome


def _on_a_line(one, other, bound):
    """Return the half-line or outcome with the largest bound: the bound, the event and its name."""
    ways = [_outcome(one, other, bound)]
    numbers = [np.array([outcome for outcome in outcomes if outcome == outcome]) for outcomes in (one, other)]
    if len(numbers[0]) + len(numbers[1]):
        ways.insert(0, _half_line(*numbers, bound))
    return max(ways, key=lambda way: way[0])


def _outcome(one, other, bound):
    """Return the outcome with the largest bound; sets of unrepeated outcomes would be chosen by chance."""
    counts = Counter(one), Counter(other)
    outcomes = list(counts[0])
    bounds = bound(np.array([[each[outcome] for outcome in outcomes] for each in counts]))
    i = int(np.argmax(bounds))
    return bounds[i], frozenset([outcomes[i]]).__contains__, f"the outcome {float(outcomes[i]):.6g}"


def _half_line(one, other, bound):
    """Return the half-line with the largest bound: the bound, the event and its name. It contains no NaN."""
    one, other = np.sort(one), np.sort(other)
    both = np.sort(np.concatenate([one, other]))
    cuts = np.unique(both[:: max(1, len(both) // _MOST_CUTS)])
    below = np.array([np.searchsorted(each, cuts) for each in (one, other)])
    above = np.array([[len(one)], [len(other)]]) - below
    bounds = bound(above), bound(below)
    i, j = map(np.argmax, bounds)
    if bounds[0][i] >= bounds[1][j]:
        return bounds[0][i], lambda outcome: outcome >= cuts[i], f"an outcome of at least {cuts[i]:.6g}"
    return bounds[1][j], lambda outcome: outcome < cuts[j], f"an outcome below {cuts[j]:.6g}"


def _set(one, other, bound):
    """Return the set of the relatively most frequent outcomes that has the largest bound."""
    counts = Counter(one), Counter(other)
    ranked = sorted(counts[0], key=lambda outcome: -counts[0][outcome] / (counts[1][outcome] + 1))
    hits = np.cumsum([[each[outcome] for outcome in ranked] for each in counts], axis=1)
    bounds = bound(hits)
    i = int(np.argmax(bounds))
    events = frozenset(ranked[: i + 1])
    name = f"the outcome {ranked[0]!r}" if i == 0 else f"one of {i + 1:,} outcomes, among them {ranked[0]!r}"
    return bounds[i], events.__contains__, name
