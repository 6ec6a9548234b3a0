import math
import os
import pickle
import threading
from copy import copy as copy_of
from copy import deepcopy

import numpy as np
import pytest
from forks import in_a_child
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.accounting import discrete_gaussian_sigma, individual_delta, individual_sigma
from dpfast.audit import certify
from dpfast.mechanisms import IndividualSums, individual
from dpfast.tables.unit_rows import unit_rows

SIGMA, WINDOW, RELEASES = 2.0, 12, 3
EPSILONS = (0.0, 0.3, 1.0, 2.5)
NOISE = np.arange(-WINDOW, WINDOW + 1)
LAW = np.exp(-(NOISE**2) / (2 * SIGMA**2))
LAW /= LAW.sum()  # but for 1e-8 of it, the law of the noise


def weights_of(rule, rows, past):
    """Each row's a function of that row and of the past."""
    last = sum(past)
    if rule == "all":
        return np.ones(len(rows), int)
    if rule == "agreeing":  # a perceptron: rows that the past is not yet on the side of
        return (rows[:, 0] * last <= 0).astype(int)
    return (np.abs(rows[:, 0] + 2 * last) % 3).astype(int)  # of several sizes


def copy(sums):
    other = object.__new__(IndividualSums)  # which nobody else may do
    vars(other).update(vars(sums), _spent=sums._spent.copy())
    return other


@pytest.fixture
def law(monkeypatch):
    """The exact law of all releases: the mechanism itself, walked through with every noise that there is."""

    def walk(sums, rows, rule, past, chance, found):
        total = sums.release(weights_of(rule, rows, past)).item()
        for noise, share in zip(NOISE.tolist(), LAW.tolist(), strict=True):
            course = (*past, total + noise)
            if len(course) == RELEASES:
                found[course] = chance * share
            else:
                walk(copy(sums), rows, rule, course, chance * share, found)

    def exact(rows, rule, squares, neighbors):
        given = {"squares": squares, "releases": RELEASES, "epsilon": 1.0, "delta": 1e-6, "reach": 1}
        found = {}
        monkeypatch.setattr(individual, "discrete_gaussian", lambda total, sigma, rng: total)
        walk(IndividualSums(rows, neighbors=neighbors, random_state=0, **given), rows, rule, (), 1.0, found)
        return found

    return exact


def apart(p, q, epsilon):
    return sum(max(0.0, chance - math.exp(epsilon) * q.get(course, 0.0)) for course, chance in p.items())


TABLES = {
    "replace": ([[1], [0], [-1]], [[-1], [0], [-1]]),
    "add-remove": ([[1], [0], [-1]], [[0], [-1]]),
}


@pytest.mark.parametrize("rule", ["all", "agreeing", "sizes"])
@pytest.mark.parametrize("squares", [1, 2, 5])
@pytest.mark.parametrize("neighbors", TABLES)
def test_enumerated_neighbours_are_no_further_apart_than_claimed(neighbors, squares, rule, law):
    p, q = (law(np.array(rows), rule, squares, neighbors) for rows in TABLES[neighbors])
    for epsilon in EPSILONS:
        given = {"squares": squares, "neighbors": neighbors, "releases": RELEASES}
        claimed = individual_delta(SIGMA, epsilon, **given)
        assert max(apart(p, q, epsilon), apart(q, p, epsilon)) <= claimed + 1e-6


def test_without_the_filter_the_claim_is_broken(law):
    """So that the enumeration is known to see it: rows that may spend all they like, and the claim for one release."""
    rows, other = map(np.array, TABLES["replace"])
    p, q = (law(table, "all", 9, "replace") for table in (rows, other))
    assert apart(p, q, 1.0) > 1.5 * individual_delta(SIGMA, 1.0, squares=1, releases=RELEASES)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), squares=st.integers(1, 30), columns=st.sampled_from([1, 3]))
def test_a_row_is_in_a_sum_while_its_squares_fit_whatever_others_do(seed, squares, columns):
    rng, n, d = np.random.default_rng(seed), 6, 4
    rows = rng.integers(-5, 6, (n, d))
    asked = rng.integers(-3, 4, (8, n, columns))
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(individual, "discrete_gaussian", lambda total, sigma, rng: seen.append(total) or total)
        given = {"squares": squares, "releases": 8, "epsilon": 1.0, "delta": 1e-6, "columns": columns, "reach": 10}
        sums = IndividualSums(rows, random_state=0, **given)
        for weights in asked:
            sums.release(weights)
    spent = np.zeros(n, int)
    for weights, total in zip(asked, seen, strict=True):
        expected = np.zeros((d, columns), int)
        for i in range(n):  # once more in plain words
            cost = int((weights[i] ** 2).sum())
            if spent[i] + cost <= squares:
                spent[i] += cost
                expected += np.outer(rows[i], weights[i])
        assert np.array_equal(total, expected)
    assert (spent <= squares).all()


@pytest.mark.parametrize(("neighbors", "changes"), [("replace", 2), ("add-remove", 1)])
def test_an_audit_finds_less_than_the_claim_and_a_good_part_of_it(neighbors, changes):
    """The sum of what was released when the row was in; which releases these are follows from the past."""
    tables = ([[4]], [[-4]]) if changes == 2 else ([[4], [0]], [[0]])

    def statistic(rows, rng):
        given = {"squares": 2, "releases": 4, "epsilon": 4.0, "delta": 1e-3, "reach": 4}
        sums, seen, last = IndividualSums(rows, neighbors=neighbors, random_state=rng, **given), [], 0
        for t in range(4):
            asked = t >= 2 or last % 2 == 0
            last = sums.release(np.full(len(rows), int(asked))).item()
            seen += [last] if asked else []
        return float(sum(seen[:2]))

    found = certify(statistic, *map(np.array, tables), epsilon=4.0, delta=1e-3, runs=3000, random_state=0)
    assert 0.6 < found.certified <= 4.0


def test_with_as_many_squares_as_releases_it_is_plain_composition():
    for neighbors, changes in (("replace", 2), ("add-remove", 1)):
        noise = individual_sigma(0.5, 1e-6, squares=40, reach=2**20, neighbors=neighbors, releases=40, size=7)
        plain = discrete_gaussian_sigma(0.5, 1e-6, sensitivity=changes * 2**20, releases=40, size=7)
        assert noise.sigma == plain
    more = individual_sigma(0.5, 1e-6, squares=40, reach=2**20, releases=4000, size=7)
    assert more.sigma == pytest.approx(individual_sigma(0.5, 1e-6, squares=40, reach=2**20, releases=40, size=7).sigma)


def test_rows_of_the_unit_ball_can_be_summed(rng):
    X = rng.normal(size=(300, 5))
    rows = unit_rows(X, fit_intercept=True, normalize=True)
    sums = IndividualSums(rows, squares=3, releases=20, epsilon=2.0, delta=1e-6, random_state=0)
    y = np.where(X[:, 0] > 0, 1, -1)
    first = sums.release(y) / rows.reach
    assert first.shape == (6,)
    assert first[0] > 50 > np.abs(first[1:]).max()
    for _ in range(2):
        sums.release(y)
    silent = sums.release(y) / rows.reach  # all have spent what they may
    assert np.abs(silent).max() < 6 * sums.sigma / rows.reach


@pytest.mark.parametrize(
    ("rows", "parameters", "match"),
    [
        ([[0.5]], {}, "integers of shape"),
        ([1, 2], {}, "integers of shape"),
        ([[3, 4]], {"reach": 4}, "norm at most reach"),
        ([[3, 4]], {"reach": None}, "reach must be given for an array"),
        ([[3, 4]], {"reach": 1 << 60}, "64 bits"),
        ([[3, 4]], {"squares": 0}, "squares must"),
        ([[3, 4]], {"releases": 0}, "releases must"),
        ([[3, 4]], {"columns": 0}, "columns must"),
        ([[3, 4]], {"neighbors": "row"}, "neighbors must"),
        ([[3, 4]], {"epsilon": 0}, "epsilon must"),
    ],
)
def test_what_will_not_do_is_refused(rows, parameters, match):
    given = {"squares": 2, "releases": 3, "epsilon": 1.0, "delta": 1e-6, "reach": 5} | parameters
    with pytest.raises(ValueError, match=match):
        IndividualSums(rows, **given)


def test_a_refused_release_draws_and_counts_nothing(rng):
    sums = IndividualSums([[3, 4]], squares=2, releases=1, epsilon=1.0, delta=1e-6, reach=5, random_state=rng)
    before = rng.bit_generator.state
    for weights, match in (([0.5], "integers of shape"), ([1, 1], "integers of shape"), ([5000], "4096")):
        with pytest.raises(ValueError, match=match):
            sums.release(weights)
    assert rng.bit_generator.state == before
    assert sums.left == 1
    sums.release([1])
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="no sum is left"):
        sums.release([1])
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("end", ["min", "max"])
def test_a_weight_out_of_range_is_refused_whatever_its_type(dtype, end):
    """The size of the least integer is negative in its own type, and two of its squares add up to one below 0."""
    sums = IndividualSums([[1]], squares=1 << 40, releases=5, epsilon=1.0, delta=1e-6, reach=1, columns=2)
    with pytest.raises(ValueError, match="4096"):
        sums.release(np.full((1, 2), getattr(np.iinfo(dtype), end), dtype))
    assert sums.left == 5
    assert sums.release(np.array([[-4096, 4096]], dtype)).shape == (1, 2)


@pytest.mark.parametrize("double", [copy_of, deepcopy, pickle.dumps])
def test_no_copy_spends_once_more(double):
    sums = IndividualSums([[3, 4]], squares=2, releases=1, epsilon=1.0, delta=1e-6, reach=5)
    with pytest.raises(TypeError, match="not copied or pickled"):
        double(sums)


def test_one_thread_of_the_process_that_made_it_releases(monkeypatch):
    sums = IndividualSums([[3, 4]], squares=2, releases=3, epsilon=1.0, delta=1e-6, reach=5)
    if hasattr(os, "fork"):
        assert in_a_child(lambda: sums.release([1])) == "RuntimeError"
    told = []

    def meanwhile():
        with pytest.raises(RuntimeError, match="in use"):
            sums.release([1])
        told.append(sums.left)

    def slow(total, sigma, rng):
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()
        return total

    monkeypatch.setattr(individual, "discrete_gaussian", slow)
    sums.release([1])
    assert told == [2] == [sums.left]
