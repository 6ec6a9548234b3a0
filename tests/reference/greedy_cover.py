"""Greedy cover, slow and plain: the exact law of whole decision lists on tiny tables.

Every candidate's probability is written out round by round; the product over the rounds is the
probability of the list. A list is a tuple of rules (literal, label); a literal is (j, 0) for x_j, (j, 1)
for "not x_j", or None for the constant true.
"""

import math
from functools import cache

import numpy as np


def enumerate_lists(X, y, n_classes, exponent, *, coverage_weight, prior, max_rules, negations, row_weights=None):
    """The law of greedy cover, as a dictionary from list to probability.

    `coverage_weight` is a number, or for each round a pair (c, e): score = c * correct - e * errors. A row counts 1, or
    what `row_weights` has for its label.

    X is n x M of 0/1 (give shape (0, M) for no rows), y has n labels in range(n_classes). Each round
    draws (literal, label) with probability proportional to mass * exp(exponent * score); the mass is 1,
    and `prior` for the constant true (0: not offered before the last round). The rows it covers leave,
    and its feature leaves with both literals. The constant true ends the list. Round `max_rules`, or the
    round after the last feature if that comes first, draws among the constant true's labels only.
    """
    n, d = np.shape(X)
    X, y = np.asarray(X).tolist(), list(y)
    polarities = (0, 1) if negations else (0,)
    weights_of = coverage_weight if isinstance(coverage_weight, list) else [(coverage_weight, 1)] * (d + 1)
    law = {}

    def covers(literal, i):
        return literal is None or X[i][literal[0]] != literal[1]

    def score(literal, label, uncovered, weights):
        covered = [i for i in uncovered if covers(literal, i)]
        counts = [1 if row_weights is None else row_weights[y[i]] for i in covered]
        correct = sum(each for i, each in zip(covered, counts, strict=True) if y[i] == label)
        return weights[0] * correct - weights[1] * (sum(counts) - correct)

    @cache
    def weights_after(k, features, uncovered):
        last = k == max_rules - 1 or not features
        literals = [] if last else [(j, polarity) for j in features for polarity in polarities]
        masses = {(literal, label): 1 for literal in literals for label in range(n_classes)}
        if last or prior:
            masses |= {(None, label): 1 if last else prior for label in range(n_classes)}
        scores = {rule: score(*rule, uncovered, weights_of[k]) for rule in masses}
        return {rule: mass * math.exp(float(exponent * scores[rule])) for rule, mass in masses.items()}

    def extend(rules, probability, features, uncovered):
        weights = weights_after(len(rules), features, uncovered)
        total = sum(weights.values())
        for rule, weight in weights.items():
            literal, _ = rule
            if literal is None:
                law[(*rules, rule)] = probability * weight / total
            else:
                extend(
                    (*rules, rule),
                    probability * weight / total,
                    tuple(j for j in features if j != literal[0]),
                    tuple(i for i in uncovered if not covers(literal, i)),
                )

    extend((), 1.0, tuple(range(d)), tuple(range(n)))
    return law


def hockey_stick(P, Q, epsilon):
    """sum over lists of max(0, P - e^epsilon Q): the smallest delta at epsilon from P to Q."""
    return sum(max(0.0, p - math.exp(epsilon) * Q.get(rules, 0.0)) for rules, p in P.items())
