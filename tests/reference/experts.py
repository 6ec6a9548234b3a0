"""The algorithms of [DR11], chapter 11, as its listings print them, for `reference.chance`."""

import math
from itertools import permutations


def proportional(weights):
    """{i: probability} for weights at i = 0, 1, ..."""
    total = math.fsum(weights)
    return {i: weight / total for i, weight in enumerate(weights)}


def weighted_majority(chance, losses, eta):
    """Algorithm 15, RWM(eta): the actions; the losses of all rounds are known beforehand."""
    w = [1.0] * len(losses[0])
    actions = []
    for loss in losses:
        actions.append(chance.choose(proportional(w)))
        w = [w_i * math.exp(-eta * l_i) for w_i, l_i in zip(w, loss, strict=True)]
    return tuple(actions)


def weighted_majority_rephrased(chance, losses, eta):
    """Algorithm 16, the same."""
    actions = []
    for t in range(len(losses)):
        totals = [math.fsum(loss[i] for loss in losses[:t]) for i in range(len(losses[0]))]
        actions.append(chance.choose(proportional([math.exp(-eta * total) for total in totals])))
    return tuple(actions)


def linear_learner(chance, S, eta):
    """Algorithm 17 on unlabelled vectors; dpfast takes them in a random order. theta, times T."""
    orders = list(permutations(range(len(S))))
    order = orders[chance.choose(proportional([1.0] * len(orders)))]
    actions = weighted_majority(chance, [S[t] for t in order], eta)
    return tuple(actions.count(i) for i in range(len(S[0])))


def private_erm(chance, hypotheses, examples, epsilon, neighbors):
    """Section 11.1: the exponential mechanism on a finite class, q = -errors of sensitivity 1."""
    errors = [sum(h[x] != y for x, y in examples) for h in hypotheses]
    t = epsilon / 2 if neighbors == "replace" else epsilon  # all errors move one way when a row is added
    return chance.choose(proportional([math.exp(-t * e) for e in errors]))
