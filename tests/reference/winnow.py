"""Winnow, slow and plain: a coordinate at a time, negated copies stored, weights multiplied."""

import math

import numpy as np

from dpfast.kernels import levels
from dpfast.mechanisms import AboveThreshold


def with_copies(x, *, intercept, negations):
    """The coordinates that have a weight: the features, the constant, and both negated."""
    x = [*map(float, x), *([1.0] if intercept else [])]
    return x + [-a for a in x] if negations else x


def confident_winnow(X, y, *, margin, confidence, learning_rate, intercept, negations):
    """ConfidentWinnow [BF, section 4.1]: the votes, the rounds that update, and the last weights.

    X is n x d in [-1, 1], y has n labels +-1. Weights are multiplied and normalised, as the paper writes them.
    """
    X = [with_copies(x, intercept=intercept, negations=negations) for x in X]
    w = [1 / len(X[0])] * len(X[0])
    votes, updates = [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        votes.append(sum(a * b for a, b in zip(w, x, strict=True)))
        if label * votes[-1] <= confidence * margin:
            w = [a * math.exp(learning_rate * label * b) for a, b in zip(w, x, strict=True)]
            w = [a / sum(w) for a in w]
            updates.append(t)
    return votes, updates, w


def dp_winnow(X, y, plan, *, intercept, negations, rng):
    """DP-Winnow [BF, section 4.2] with the parameters of a `WinnowPlan`: the predictions and the released histograms.

    Rows hold integers. Weights are exp(eta s) of integer scores s, one for each coordinate and copy; a histogram is a
    dictionary from coordinate to count.
    """
    X = [[int(a) for a in with_copies(x, intercept=intercept, negations=negations)] for x in X]
    s = [0] * len(X[0])

    def draw():
        stored = s[: len(s) // 2] if negations else s  # the same call as the learner's, for the same words
        assert not negations or s == stored + [-score for score in stored]
        drawn = levels.sample(np.array(stored), plan.learning_rate, plan.n_draws, rng, mirrored=negations).tolist()
        return {j: drawn.count(j) for j in set(drawn)}

    predicted, released, mistake = [], [draw()], None
    threshold = math.ceil(plan.threshold)
    tests = AboveThreshold(threshold, plan.threshold_epsilon, monotone="running", noise="paper", rng=rng)
    for x, label in zip(X, y, strict=True):
        vote = sum(count * x[j] for j, count in released[-1].items())
        predicted.append(1 if vote >= 0 else -1)
        if len(released) > plan.n_updates:
            continue
        if predicted[-1] != label:
            tests.add()
            mistake = mistake or (x, label)
        if tests.test():
            if mistake:  # noise may fire in an interval without one
                s = [a + mistake[1] * b for a, b in zip(s, mistake[0], strict=True)]
            released.append(draw())
            mistake = None
            if len(released) <= plan.n_updates:
                tests.reset()
    return predicted, released
