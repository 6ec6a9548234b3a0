"""Winnow, slow and plain: a coordinate at a time, negated copies stored, weights multiplied."""

import math

import numpy as np

from dpfast.kernels import levels


def with_copies(x, *, intercept, negations):
    """The coordinates that have a weight: the features, the constant, and both negated."""
    x = [*map(float, x), *([1.0] if intercept else [])]
    return x + [-a for a in x] if negations else x


def confident_winnow(X, y, marks, *, margin, confidence, learning_rate, intercept, negations):
    """ConfidentWinnow [BF, Algorithm 4.1]: the votes, the rounds that update, and the last weights; b(t) are `marks`.

    X is n x d in [-1, 1], y has n labels +-1. Weights are multiplied and normalised, as the paper writes them.
    """
    X = [with_copies(x, intercept=intercept, negations=negations) for x in X]
    w = [1 / len(X[0])] * len(X[0])
    votes, updates = [], []
    for t, (x, label, mark) in enumerate(zip(X, y, marks, strict=True)):
        votes.append(sum(a * b for a, b in zip(w, x, strict=True)))
        if abs(votes[-1]) < 1e-12:  # rounding
            votes[-1] = 0.0
        mistake = (1 if votes[-1] >= 0 else -1) != label
        if mistake or (mark and abs(votes[-1]) <= confidence * margin):
            w = [a * math.exp(learning_rate * label * b) for a, b in zip(w, x, strict=True)]
            w = [a / sum(w) for a in w]
            updates.append(t)
    return votes, updates, w


def dp_winnow(X, y, *, K, m, exponent, tests, counts, weight, batch, window, average, uniform, form, rng):
    """DP-Winnow [BF, Algorithm 4.2], its update batched and weighted: the predictions and the released histograms.

    Rows hold integers. Coordinate j has probability proportional to exp(exponent * s_j) for an integer score s_j, the
    sum of weight(k) y x_j over the rows taken from interval k = 0, 1, ...; under a window of the last so many intervals
    only. tests(k) is the AboveThreshold of interval k; counts(vote, draws, label) says whether a row counts; the first
    `batch` of those are taken, None for all. The hypothesis is the last histogram or, to average, the sum of all, under
    a window of the last so many; before there is one it is nothing, or uniform. A histogram is a dictionary from
    coordinate to count, of m draws.
    """
    X = [[int(a) for a in with_copies(x, **form)] for x in X]
    d, negations = len(X[0]), form["negations"]

    def draw():
        kept = intervals if window is None else intervals[-window:]
        s = [sum(k * sum(label * x[j] for x, label in rows) for k, rows in kept) for j in range(d)]
        stored = s[: d // 2] if negations else s  # the same call as the learner's, for the same words
        assert not negations or s == stored + [-score for score in stored]
        drawn = levels.sample(np.array(stored), exponent, m, rng, mirrored=negations).tolist()
        return {j: drawn.count(j) for j in set(drawn)}

    predicted, released, intervals, taken = [], [], [], []
    hypothesis, draws = (dict.fromkeys(range(d), 1), d) if uniform else ({}, 0)
    testing = tests(0)
    for x, label in zip(X, y, strict=True):
        vote = sum(count * x[j] for j, count in hypothesis.items())
        predicted.append(1 if vote >= 0 else -1)
        if testing is None:
            continue
        if counts(vote, draws, label):
            testing.add()
            if batch is None or len(taken) < batch:
                taken.append((x, label))
        if testing.test():
            intervals.append((weight(len(intervals)), taken))
            released.append(draw())
            used = released[-(window or len(released)) :] if average else released[-1:]
            hypothesis, draws, taken = {}, m * len(used), []
            for each in used:
                for j, count in each.items():
                    hypothesis[j] = hypothesis.get(j, 0) + count
            testing = tests(len(intervals)) if window is not None or len(intervals) < K else None
    return predicted, released
