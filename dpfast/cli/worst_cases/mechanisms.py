"""Worst cases of mechanisms, and of what learners are made of."""

import numpy as np

import dpfast
from dpfast import mechanisms
from dpfast.accounting import cover_exponent
from dpfast.accounting.sparse_sample import sparse_sample_plan

from .case import Case


def encoder(epsilon, delta):
    """Values that a schema leaves open: one is at the threshold, the other just below, and they change places."""
    from dpfast.tables import Category, Schema

    schema, delta = Schema([Category("c")]), min(delta, 0.01)
    threshold = mechanisms.frequent_threshold(epsilon, delta)

    def run(counts, rng):
        rows = {"c": np.repeat(["a", "b"], counts)}
        encoder = dpfast.TableEncoder(schema, epsilon, delta, random_state=rng).fit(rows)
        return encoder.schema_.columns[0].values

    table = (threshold, threshold - 1)
    return Case(run, table, table[::-1], delta, "a column of two values, to be found")


def quantiles(epsilon, delta):
    """The median of two numbers, one of which goes from one end to the other; few candidates are below the other."""
    grid, exponent = np.arange(8.0), epsilon / float(mechanisms.quantiles_cost(2)[0])

    def run(values, rng):
        return float(mechanisms.quantiles(values, grid, 2, exponent, rng=rng)[0])

    return Case(run, [0.0, 1.0], [7.0, 1.0], 0.0, "the median of 2 numbers out of 8")


def exponential_cover(epsilon, delta):
    """One element, which one candidate covers, or all others."""
    exponent = cover_exponent(epsilon, 1e-6, max_rounds=1)

    def run(covers, rng):
        return mechanisms.exponential_cover(covers, exponent, rounds=1, rng=rng)[0]

    one = np.arange(6)[np.newaxis] == 0
    return Case(run, one, ~one, 1e-6, "one element, 6 candidates, one round")


def above_threshold(epsilon, delta):
    """A running count, tested once."""

    def run(count, rng):
        return mechanisms.AboveThreshold(1, epsilon, monotone="running", rng=rng).test(count)

    return Case(run, 1, 0, 0.0, "one test of a running count")


def sparse_sample(epsilon, delta):
    delta = min(delta, 1e-3)
    plan = sparse_sample_plan(epsilon, delta, n_releases=1, max_length=6)
    others = [range(6)] * 60

    def run(one, rng):
        return mechanisms.sparse_sample([*others, one], plan.exponent, plan.bottom_score, max_length=6, rng=rng)

    return Case(run, [0], [1, 2, 3, 4, 5], delta, "61 lists of 6 items, one of which changes")


CASES = {
    "encoder": encoder,
    "quantiles": quantiles,
    "exponential-cover": exponential_cover,
    "above-threshold": above_threshold,
    "sparse-sample": sparse_sample,
}
