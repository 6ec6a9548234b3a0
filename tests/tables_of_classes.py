"""Small classes of functions, and their members as rows of 0 and 1, for tests against a brute force."""

import numpy as np

from dpfast.littlestone import FiniteClass


def rows(hypothesis_class):
    return frozenset(map(tuple, hypothesis_class.table.astype(int).tolist()))


def random_class(rng, most_members, most_points, density=None):
    n, points = rng.integers(1, most_members + 1), rng.integers(1, most_points + 1)
    density = rng.choice([0.15, 0.3, 0.5]) if density is None else density
    return FiniteClass(rng.random((n, points)) < density)


def functions(hypotheses, n_points):
    return {tuple(h(np.arange(n_points)).tolist()) for h in hypotheses}
