"""Worst cases of the learners of Littlestone classes.

Two rows leave other members to the one teacher that has either; all other teachers have no rows, and list all members.
So one list differs, in all of its items, and what is on the shorter one is rarely drawn.
"""

import numpy as np

import dpfast

from .case import Case

_ONE = np.eye(6, dtype=int)  # hypotheses x points; each is 1 at a point of its own
# The last two points tell the first two members, and the others; a label 1 is a mistake of SOA at both.
_PARTS = np.hstack([np.eye(8, dtype=int), np.repeat([[1, 0], [0, 1]], [2, 6], axis=0)])
_LARGEST_DELTA = 1e-3  # a larger one is paid for, and not seen


def littlestone(epsilon, delta):
    settings = {"threshold_share": 0.1, "vote_fraction": 0.02, "minority": 0.01, "n_teachers": 60}
    return _one_row("LittlestoneLearner", epsilon, delta, settings, "one row, 60 teachers, 6 members")


def staged_littlestone(epsilon, delta):
    settings = {"threshold_share": 0.1, "scale": 1e-6, "confidence": 0.9, "accuracy": 0.4}
    return _one_row("StagedLittlestoneLearner", epsilon, delta, settings, "one row, 6 members")


def online_littlestone(epsilon, delta):
    delta = min(delta, _LARGEST_DELTA)
    settings = {
        "horizon": 1, "n_releases": 1, "n_teachers": 30, "irreducibility": 10, "threshold_share": 0.05,
        "confidence": 0.9, "batch_constant": 0.7,
    }  # fmt: skip

    def run(mistake, rng):
        learner = _learner("OnlineLittlestoneLearner", epsilon, delta, _PARTS, settings, rng)
        points = np.append(mistake, np.zeros(3000, int))
        learner.stream(points, points == mistake)
        return _drawn(learner.releases_[0] if learner.releases_ else None, _PARTS)

    return Case(run, 8, 9, delta, "a stream of one mistake, 30 teachers, 8 members")


def _one_row(name, epsilon, delta, settings, what):
    delta = min(delta, _LARGEST_DELTA)

    def run(label, rng):
        return _drawn(_learner(name, epsilon, delta, _ONE, settings, rng).fit([0], [label]).hypothesis_, _ONE)

    return Case(run, 1, 0, delta, what)


def _learner(name, epsilon, delta, table, settings, rng):
    hypotheses = dpfast.littlestone.FiniteClass(table)
    return getattr(dpfast.littlestone, name)(epsilon, delta, hypotheses, random_state=rng, **settings)


def _drawn(hypothesis, table):
    return None if hypothesis is None else tuple(hypothesis(np.arange(table.shape[1])).tolist())


CASES = {
    "littlestone": littlestone,
    "staged-littlestone": staged_littlestone,
    "online-littlestone": online_littlestone,
}
