"""The algorithms of [Lyu] the slow way: listings as printed, over sets of tuples, for `reference.chance`.

Where dpfast differs from the print, and why: `dpfast.accounting.papers.littlestone`. `listing="printed"` is line 8 as
printed.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import permutations

from reference import littlestone as slow
from reference.chance import laplace_at_least


@cache
def private_sample(lists, epsilon, bottom):
    """Algorithm 1, as a law; None is the failure symbol."""
    scores = Counter(u for one in lists for u in set(one))
    weights = {u: math.exp(epsilon * (score - bottom)) for u, score in scores.items()} | {None: 1.0}
    total = math.fsum(weights.values())
    return {u: weight / total for u, weight in weights.items()}


@cache
def most_votes(lists):
    """On how many of the lists the item is that is on most."""
    return max(Counter(f for one in lists for f in one).values(), default=0)


@cache
def above(value, threshold, epsilon):
    """One test of Algorithm 2 as a law: value + Lap(1 / epsilon) >= threshold."""
    p = laplace_at_least(threshold - value, epsilon)
    return {True: p, False: 1 - p}


def majority(hypotheses):
    """What most say at each point, 0 on ties; None of none."""
    return tuple(int(2 * sum(labels) > len(hypotheses)) for labels in zip(*hypotheses, strict=True)) or None


def errors(h, examples):
    return sum(h[x] != y for x, y in examples)


@cache
def ways_of_parts(n, k, places):
    """The law of the parts of n examples on places of k parts."""
    ways = Counter(tuple(place % k for place in chosen) for chosen in permutations(range(places), min(places, n)))
    return {way: count / ways.total() for way, count in ways.items()}


def equal_parts(chance, examples, k, places):
    """Examples and blanks on places, as many for each of k parts, every way alike."""
    chosen = chance.choose(ways_of_parts(len(examples), k, places))
    return [[e for e, i in zip(examples, chosen, strict=False) if i == part] for part in range(k)]


def private_erm(chance, hypotheses, examples, *, d, alpha, k, p, thresholds, votes, epsilon, bottom):
    """Section 5. `thresholds` gives the law of AboveThreshold's noise and P(a test's noise >= gap); p_j = 2^j p."""
    parts = equal_parts(chance, examples, k, len(examples))
    threshold = votes + chance.choose(thresholds.threshold)
    for j in range(1, d + 2):
        lists = []
        for part in parts:
            rate = (1 - Fraction(1, 2 * d)) ** j * alpha
            own = frozenset(h for h in hypotheses if errors(h, part) <= rate * len(part))
            lists.append(slow.essential(own, p * 2**j, d) if own else set())
        frequency = max(Counter(f for one in lists for f in one).values(), default=0)
        passed = thresholds.test(threshold - frequency)
        if chance.choose({True: passed, False: 1 - passed}):
            return j, chance.choose(private_sample(tuple(map(frozenset, lists)), epsilon, bottom))
    return None, None


class PrivateOnlineLearn:
    """Algorithm 3, and 4 as `joint_train`."""

    def __init__(self, chance, hypotheses, plan, d, listing):
        self.chance, self.hypotheses, self.plan, self.d, self.listing = chance, frozenset(hypotheses), plan, d, listing
        self.budget = plan.n_releases
        self.S = [[] for _ in range(plan.n_teachers)]
        self.j, self.halted, self.h = 1, False, soa(self.hypotheses)
        self.joint_train()
        self.E = []

    def round(self, x, y):
        """What is published for the next round."""
        if not self.halted:
            if self.h[x] != y:
                self.E.append((x, y))
            if self.chance.choose(above(len(self.E), self.plan.threshold + 1, self.plan.above_epsilon)):
                self.budget -= 1
                if self.budget < 0:
                    self.halted = True
                else:
                    k = self.plan.n_teachers
                    for S, A in zip(self.S, equal_parts(self.chance, self.E, k, k * self.plan.part_size), strict=True):
                        S.append(A)
                    self.joint_train()
                    self.E = []
        return self.seen()

    def seen(self):
        return self.h, min(self.j, self.d + 1), self.halted

    def joint_train(self):
        plan, k = self.plan, self.plan.n_teachers
        while self.j <= self.d + 1:
            lists = tuple(self.list_of(tuple(map(tuple, S))) for S in self.S)
            m = most_votes(lists)
            if self.chance.choose(above(m, 4 * k // 5 + 1, plan.below_epsilon)):
                law = private_sample(lists, plan.exponent, plan.bottom_score)
                drawn = [h for h in (self.chance.choose(law) for _ in range(plan.n_draws)) if h is not None]
                self.h = majority(drawn) or self.h
                return
            self.j += 1
        self.halted = True

    def list_of(self, S):
        return members_of(self.hypotheses, S, self.j, self.plan.irreducibility, self.d, self.listing)


def define_class(hypotheses, S, j, d):
    rate = Fraction(1, 10) * (1 - Fraction(1, d)) ** j
    return frozenset(h for h in hypotheses if all(errors(h, A) <= rate * len(A) for A in S))


soa = cache(slow.soa)


@cache
def members_of(hypotheses, S, j, irreducibility, d, listing):
    """The list of a teacher with the examples S, on which nothing is drawn."""
    own, p = define_class(hypotheses, S, j, d), 2**j * irreducibility
    if not own:
        return frozenset()
    if listing == "stage" and slow.decomposition_dimension(own, p, d) != d + 1 - j:
        return frozenset()
    return frozenset(slow.essential(own, p, d))


def published(chance, hypotheses, stream, plan, d, listing):
    """The outcome of a whole stream."""
    learner = PrivateOnlineLearn(chance, hypotheses, plan, d, listing)
    return (learner.seen(), *(learner.round(x, y) for x, y in stream))
