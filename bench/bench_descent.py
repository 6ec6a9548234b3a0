"""A step of a descent by groups of a small fit, against the same as operations of numpy on whole arrays."""

import numpy as np
import pytest
from reference import descent as twin

from dpfast.kernels.descent import Groups

M, GROUPS = 2_000, 80
LIMITS = {"little": 1e-6, "sampled": 2.0, "usual": 1.2, "slope": 3.0, "steep": 0.5, "most": 32.0, "share": 0.7}
LIMITS["least"] = 0.25


@pytest.fixture
def state():
    rng = np.random.default_rng(0)
    group, tells = np.sort(rng.integers(0, GROUPS, M)), np.append(np.ones(GROUPS - 1, bool), False)
    sums, velocity, total = rng.normal(size=(3, M, 1))
    return group, tells, sums, velocity, total, rng.random(GROUPS), rng.exponential(size=GROUPS - 1)


def by_kernel(groups, sums, velocity, total, rates, curved):
    velocity, total = velocity.copy(), total.copy()
    signal, _, kept = groups.shrink(total, rates, 0.8, 10.0)
    rate = groups.times(rates, curved, signal[:, 0], **LIMITS)
    groups.move(sums, rate, 0.9, 0.1, velocity, total)
    return velocity, total, kept


def by_arrays(members, group, tells, sums, velocity, total, rates, curved):
    signal, _, kept = twin.shrink(group, members, tells, total, rates, 0.8, 10.0)
    rate = twin.times(rates, curved, signal[:, 0], **LIMITS)
    return *twin.move(group, sums, rate, 0.9, 0.1, velocity, total), kept


@pytest.mark.benchmark(group="a step of a descent by groups, 2,000 coefficients in 80 groups")
def test_dpfast_descent(benchmark, state, isa):
    group, tells, *arrays = state
    groups = Groups(group, tells)
    for one, other in zip(by_kernel(groups, *arrays), by_arrays(groups.members, *state), strict=True):
        np.testing.assert_array_equal(one, other)
    benchmark(by_kernel, groups, *arrays)


@pytest.mark.benchmark(group="a step of a descent by groups, 2,000 coefficients in 80 groups")
def test_arrays(benchmark, state):
    members = Groups(state[0], state[1]).members
    benchmark(by_arrays, members, *state)
