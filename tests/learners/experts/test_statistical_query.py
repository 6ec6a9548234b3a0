import copy
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from forks import fork, in_a_child
from laws import assert_follows
from scipy import stats

from dpfast import BitMatrix, StatisticalQueryOracle
from dpfast.accounting import Budget, BudgetExceeded, discrete_gaussian_sigma, laplace_scale
from dpfast.base import Task

NOISES = ["discrete-gaussian", "discrete-laplace"]
STEP = 2**20


def column(j):
    return lambda X: X[:, j]


@pytest.fixture
def X(rng):
    return rng.random((500, 4))


def oracle(X, **parameters):
    settings = {"epsilon": 1.0, "delta": 1e-6, "n_queries": 10, "random_state": 0} | parameters
    return StatisticalQueryOracle(X, **settings)


@pytest.mark.parametrize("noise", NOISES)
def test_noise_follows_its_law(noise, X, rng):
    asked = oracle(X, n_queries=4000, noise=noise, random_state=rng)
    grid = np.rint(X[:, 1] * STEP).sum()
    errors = asked.answer_all([column(1)] * 4000) * 500 * STEP - grid
    np.testing.assert_allclose(errors, np.rint(errors), atol=1e-2)  # whole steps of the grid
    if noise == "discrete-gaussian":
        law = stats.norm(scale=discrete_gaussian_sigma(1.0, 1e-6, sensitivity=STEP, releases=4000))
    else:
        law = stats.laplace(scale=laplace_scale(1.0, 1e-6, sensitivity=STEP, releases=4000))
    cuts = law.ppf(np.linspace(0, 1, 41)[1:-1])
    assert_follows(np.bincount(np.searchsorted(cuts, errors), minlength=40), np.full(40, 1 / 40))
    assert asked.noise_scale_ == (law.std() if noise == "discrete-gaussian" else law.kwds["scale"]) / STEP


def test_with_pure_privacy_noise_is_k_over_epsilon(X):
    assert oracle(X, delta=0, noise="discrete-laplace", n_queries=7).noise_scale_ == 7
    assert str(oracle(X, delta=0, noise="discrete-laplace").privacy_).startswith(
        "(1.0, 0)-DP, replace one row; 0 of 10"
    )
    with pytest.raises(ValueError, match='delta = 0 needs noise="discrete-laplace"'):
        oracle(X, delta=0)


def test_one_row_moves_a_sum_by_no_more_than_the_grid_allows(X, rng):
    quiet = {"epsilon": 1e9, "delta": 0.5, "noise": "discrete-laplace", "n_queries": 50}
    before = oracle(X, **quiet)
    for value in (0, 1, 2.0**-21, 1 - 2.0**-22, 0.3):
        other = X.copy()
        other[7] = value
        moved = oracle(other, **quiet).answer(column(2)) - before.answer(column(2))
        assert abs(round(moved * 500 * STEP)) <= STEP


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_all_answers_lie_within_the_tolerance_but_for_the_failure(neighbors, noise, rng):
    X, runs, missed = rng.random((50, 1)), 400, 0
    for _ in range(runs):
        asked = oracle(X, epsilon=20.0, n_queries=5, neighbors=neighbors, noise=noise, random_state=rng)
        missed += np.abs(asked.answer_all([column(0)] * 5) - X.mean()).max() > asked.tolerance(0.2)
    assert stats.binom.sf(missed - 1, runs, 0.2) > 1e-6
    if neighbors == "replace":
        assert stats.binom.cdf(missed, runs, 0.2) > 1e-6  # nor is it loose
    assert asked.tolerance(0.01) > asked.tolerance(0.2)


def test_tolerance_does_not_look_at_the_rows(X):
    assert oracle(X).tolerance() == oracle(1 - X).tolerance()
    with pytest.raises(ValueError, match=r"failure must lie in \(0, 1\), got 0"):
        oracle(X).tolerance(0)


def test_add_remove_divides_by_a_noisy_count(X, rng):
    counts = [oracle(X, neighbors="add-remove", random_state=rng).n_rows_ for _ in range(300)]
    sigma = oracle(X, neighbors="add-remove").noise_scale_
    assert stats.kstest(np.array(counts) - 500, "norm", args=(0, sigma)).pvalue > 1e-6
    assert sigma * STEP == discrete_gaussian_sigma(1.0, 1e-6, sensitivity=STEP, releases=11)
    asked = oracle(X, neighbors="add-remove")
    assert str(asked.privacy_).startswith("(1.0, 1e-06)-DP, add or remove one row; 1 of 11 releases used")
    assert oracle(X[:1], epsilon=0.01, neighbors="add-remove", random_state=2).n_rows_ >= 1


def test_the_query_after_the_last_is_refused_before_it_is_evaluated(X, rng):
    asked, calls = oracle(X, n_queries=3, random_state=rng), []

    def query(X):
        calls.append(0)
        return X[:, 0]

    asked.answer(query)
    state = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(BudgetExceeded, match="3 more do not fit: of n_queries=3, 2 are left"):
        asked.answer_all([query] * 3)
    assert len(calls) == 1
    assert rng.bit_generator.state == state
    asked.answer_all(query for _ in range(2))
    with pytest.raises(BudgetExceeded, match="0 are left"):
        asked.answer(query)
    assert len(calls) == 3
    assert str(asked.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 3 of 3 releases used; drawn with a seed")


@pytest.mark.parametrize(
    "query",
    [
        lambda X: X[:, :1],
        lambda X: X[:3, 0],
        lambda X: 0.5,
        lambda X: np.full(len(X), "yes"),
        lambda X: 1 / 0,
    ],
)
def test_a_query_that_fails_has_been_counted_and_nothing_is_told_of_its_values(query, X, rng):
    asked, state = oracle(X, random_state=rng), copy.deepcopy(rng.bit_generator.state)
    with pytest.raises((ValueError, ZeroDivisionError), match=r"one real number for each row that it is shown|by zero"):
        asked.answer_all([column(0), query])
    assert asked.answered_ == 2
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.int64])
def test_values_beyond_the_range_are_clipped_without_a_word(dtype, X):
    values = np.resize(np.array([-7, 0.25, 3, 1, 0], dtype), 500)
    if dtype != np.int64:
        values[::50] = np.nan
        values[1::50], values[2::50] = dtype("1e4000"), -dtype("inf")
    clipped = np.where(np.isnan(values), 0, np.clip(values, 0, 1)).astype(float)
    assert oracle(X).answer(lambda X: values) == oracle(X).answer(lambda X: clipped)


def test_a_query_that_asks_another_one_is_counted_first(X):
    asked, refused = oracle(X, n_queries=3), []

    def query(X):
        try:
            asked.answer(query)
        except BudgetExceeded as error:
            refused.append(error)
        return X[:, 0]

    asked.answer(query)
    assert asked.answered_ == 3
    assert len(refused) == 1


def test_threads_are_counted_each(X):
    asked, gate = oracle(X, n_queries=5), threading.Barrier(8)

    def ask(_):
        gate.wait()
        try:
            return asked.answer(lambda X: (time.sleep(0.001), X[:, 0])[1])
        except BudgetExceeded:
            return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert sum(answer is not None for answer in answers) == 5
    assert asked.answered_ == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_gets_no_answers_whether_it_comes_before_or_in_a_query(X):
    asked = oracle(X, random_state=None)
    assert in_a_child(lambda: asked.answer(column(0))) == "RuntimeError"

    def forking(X):
        forking.child = fork()
        return X[:, 0]

    forking.child = None
    try:
        asked.answer(forking)
        error = "none"
    except RuntimeError:
        error = "RuntimeError"
    if forking.child == 0:
        os._exit(error != "RuntimeError")
    assert error == "none"
    assert os.waitpid(forking.child, 0)[1] == 0
    assert asked.answered_ == 1


def test_a_single_query_is_the_first_of_many(X):
    one, many = oracle(X), oracle(X)
    assert [one.answer(column(j)) for j in range(2)] == many.answer_all([column(0), column(1)]).tolist()


@pytest.mark.parametrize(
    "form",
    [
        lambda X: (X > 0.5, X[:, 0]),
        lambda X: (BitMatrix(X > 0.5), X[:, 0]),
        lambda X: (sp.csr_array(X > 0.5), X[:, 0]),
        lambda X: (pd.DataFrame(X > 0.5), pd.Series(X[:, 0])),
    ],
)
def test_tables_are_read_by_blocks(form, rng):
    X = rng.random((70_000, 3))

    def query(table, y):
        assert len(y) <= 65536
        bits = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
        return bits[:, 1] * np.asarray(y)

    asked = oracle(form(X), epsilon=1e6)
    assert asked.answer(query) == pytest.approx(((X[:, 1] > 0.5) * X[:, 0]).mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_queries": 0}, "n_queries must be an integer of at least 1, got 0"),
        ({"n_queries": 2.0}, "n_queries must"),
        ({"noise": "gaussian"}, "noise must be"),
        ({"neighbors": "swap"}, "neighbors must"),
        ({"epsilon": -1}, "epsilon must"),
        ({"delta": 1}, "delta must"),
        ({"epsilon": 1e-9, "delta": 0, "noise": "discrete-laplace"}, "too large to be drawn"),
        ({"budget": 1}, "budget must"),
        ({"random_state": "x"}, "random_state must"),
    ],
)
def test_parameters_are_refused_by_name(parameters, message, X):
    with pytest.raises((ValueError, TypeError), match=message):
        oracle(X, **parameters)


def test_tables_of_different_lengths_are_refused(X):
    with pytest.raises(ValueError, match=r"one number of rows, at least 1, got \[499, 500\]"):
        oracle((X, X[1:]))
    with pytest.raises(ValueError, match="at least 1"):
        oracle(X[:0])


def test_the_budget_is_charged_at_once(X):
    budget = Budget(1.0, 1e-6)
    oracle(X, budget=budget, random_state=None)
    assert budget.spent == (1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        oracle(X, budget=budget)


def test_what_is_private_shows_nowhere(X):
    asked = oracle(X)
    assert repr(asked) == (
        "StatisticalQueryOracle(epsilon=1.0, delta=1e-06, n_queries=10, noise='discrete-gaussian', "
        "neighbors='replace': 0 answered)"
    )
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            copied(asked)


def test_conjunctions_are_learned_by_statistical_queries(rng):
    """Kearns: keep the literals that are hardly ever 0 in a positive example."""
    X = rng.random((30_000, 20)) < 0.8
    y = X[:, [3, 7, 11]].all(axis=1)
    asked = StatisticalQueryOracle((X, y), 1.0, 1e-6, n_queries=20, random_state=0)
    answers = asked.answer_all([lambda X, y, j=j: y & ~X[:, j] for j in range(20)])
    kept = np.flatnonzero(answers <= asked.tolerance(0.01))
    assert kept.tolist() == [3, 7, 11]
    assert (X[:, kept].all(axis=1) == y).all()


def test_attributes_that_are_edited_change_neither_what_is_paid_nor_the_claim(X):
    asked = oracle(X, n_queries=1)
    asked.epsilon, asked.n_queries, asked.noise = 0.01, 9, "discrete-laplace"
    asked.answer(column(0))
    with pytest.raises(BudgetExceeded, match="of n_queries=1, 0 are left"):
        asked.answer(column(0))
    assert str(asked.privacy_).startswith("(1.0, 1e-06)-DP, replace one row; 1 of 1 releases used")


@pytest.mark.parametrize(
    "kind", [np.asarray, sp.csr_array, BitMatrix, pd.DataFrame, lambda table: pd.DataFrame(table)[0]]
)
def test_what_a_query_writes_reaches_no_later_query(kind):
    bits = np.arange(12).reshape(6, 2) % 3 == 0
    table = kind(bits if kind is BitMatrix else bits * 1.0)
    values = {"BitMatrix": "rows", "csr_array": "data"}

    def read(block):
        array = block.toarray() if hasattr(block, "toarray") else np.asarray(block)
        return array.reshape(len(array), -1)[:, 0]

    def scribble(block):
        array = getattr(block, values.get(type(block).__name__, ""), block)
        if hasattr(array, "iloc"):
            array.iloc[:] = 0.5
        else:
            array[:] = 0
        return read(block)

    asked, before = StatisticalQueryOracle(table, 1.0, 1e-6, n_queries=9), []
    asked.answer(lambda block: before.append(read(block).copy()) or read(block))
    refused = pytest.raises(ValueError, match="read-only") if kind in (np.asarray, BitMatrix) else nullcontext()
    with refused:
        asked.answer(scribble)
    asked.answer(lambda block: before.append(read(block).copy()) or read(block))
    assert before[0].any()
    assert (before[0] == before[1]).all()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_answers_lie_within_the_tolerance_of_the_population(neighbors):
    """Means of 300 fair coins, of which the sample errs by more than the noise."""
    far, missed = [], 0
    for seed in range(200):
        X = np.random.default_rng(seed).integers(0, 2, (300, 4))
        oracle = StatisticalQueryOracle(X, 50.0, 1e-6, n_queries=4, neighbors=neighbors, random_state=seed)
        answers = oracle.answer_all(lambda X, j=j: X[:, j] for j in range(4))
        far.append(oracle.tolerance(0.1, population=True))
        missed += (np.abs(answers - 0.5) > far[-1]).any()
        assert oracle.tolerance(0.05) < far[-1] < oracle.tolerance(0.05) + 0.1
    assert missed <= 20


def test_an_oracle_that_hardly_knows_its_number_of_rows_has_no_tolerance_for_a_population():
    oracle = StatisticalQueryOracle(np.ones(3), 0.1, 1e-6, n_queries=1, neighbors="add-remove", random_state=0)
    assert oracle.tolerance(population=True) == np.inf


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("noise", ["discrete-gaussian", "discrete-laplace"])
def test_an_oracle_has_a_plan_of_all_its_answers(X, noise, neighbors):
    asked = oracle(X, noise=noise, neighbors=neighbors, n_queries=4)
    task = Task(1.0, asked.delta, neighbors)
    plan = asked.plan(task)
    assert {name: each.times for name, each in plan.items()} == {"queries": 4} | (
        {"counts": 1} if neighbors == "add-remove" else {}
    )
    assert plan.solve(task).noise["queries"] == asked.noise_scale_ * STEP
    assert plan.solve(task).cost == asked.privacy_.cost
