import numpy as np
import pytest

from dpfast.mechanisms import (
    AboveThreshold,
    RepeatedThreshold,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    sparse_sample,
)
from dpfast.mechanisms.cover import exponential_cover
from dpfast.mechanisms.frequent import frequent_values
from dpfast.mechanisms.quantiles import quantiles

ZEROS, GRID = np.zeros(1 << 20, np.int8), np.linspace(0, 1, 1 << 16)

DRAWS = {
    "exponential": lambda: exponential(ZEROS, 1, size=2).tolist(),
    "laplace": lambda: discrete_laplace([0] * 4, 1 << 20).tolist(),
    "gaussian": lambda: discrete_gaussian([0] * 4, 1 << 20).tolist(),
    "sparse sample": lambda: [sparse_sample([range(1 << 12)] * 50, 1, 0, max_length=1 << 12) for _ in range(3)],
    "quantiles": lambda: quantiles(np.zeros(1), GRID, 4, 1e-9).tolist(),
    "frequent values": lambda: list(frequent_values({"a": 10**9, "b": 10**9}, 1e-6, 1e-9).values()),
    "above threshold": lambda: [AboveThreshold(2 * 10**7, 1e-6, monotone="running").run(1 << 50, ()) for _ in range(3)],
    "repeated threshold": lambda: [RepeatedThreshold(10**7, 1e-6, 1).run(1 << 50, ()) for _ in range(3)],
    "cover": lambda: exponential_cover(np.ones((1, 64), bool), 1, rounds=12, bounds=(0, 1)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_without_a_seed_no_two_runs_are_alike(name):
    assert DRAWS[name]() != DRAWS[name]()
