"""Steps of a descent by groups beside the same operations on whole arrays: the same bits at every level."""

import numpy as np
import pytest
from reference import descent as twin

from dpfast.kernels import reals
from dpfast.kernels.descent import Groups

LIMITS = {"little": 1e-6, "sampled": 2.0, "usual": 1.2, "slope": 3.0, "steep": 0.5, "most": 32.0, "share": 0.7}


def drawn(rng, m, groups):
    """Groups of rows, all but the last of which may tell; several groups may have no row."""
    group = rng.integers(0, groups, m)
    tells = np.append(rng.random(groups - 1) < 0.8, False)
    return group, tells, Groups(group, tells)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("m", "groups"), [(0, 1), (1, 1), (7, 2), (500, 40), (4097, 300)])
def test_a_step_is_that_of_whole_arrays_at_every_level(m, groups, k, rng, each_isa):
    group, _, kernel = drawn(rng, m, groups)
    sums, velocity, total = rng.normal(size=(3, m, k))
    rate = rng.random(groups)

    def moved():
        mine = velocity.copy(), total.copy()
        kernel.move(sums, rate, 0.9, 0.1, *mine)
        return mine

    wanted = twin.move(group, sums, rate, 0.9, 0.1, velocity, total)
    for found in each_isa(moved):
        np.testing.assert_array_equal(found, wanted)
    assert kernel.members.tolist() == np.bincount(group, minlength=groups).tolist()


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("m", "groups"), [(0, 1), (1, 1), (7, 2), (500, 40), (900, 300), (5000, 3)])
@pytest.mark.parametrize("ordered", [False, True])
def test_shares_are_those_of_whole_arrays_at_every_level(m, groups, k, ordered, rng, each_isa):
    group, tells, _ = drawn(rng, m, groups)
    group = np.sort(group) if ordered else group
    kernel, total = Groups(group, tells), rng.normal(size=(m, k)) * rng.choice([0.1, 10.0], (m, k))
    noise = rng.random(groups) + 0.01
    wanted = twin.shrink(group, kernel.members, tells, total, noise, 0.8, 10.0)
    for found in each_isa(lambda: kernel.shrink(total, noise, 0.8, 10.0)):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("m", [4096, 4097, 5000])
def test_squares_of_one_large_group_are_added_in_lanes(m, k, rng, each_isa):
    group, tells, total = np.append(np.zeros(m - 1, int), 1), np.array([True, False]), rng.normal(size=(m, k))
    squares = [[reals.sum(column) for column in np.square(part).T.copy()] for part in (total[:-1], total[-1:])]
    kernel, noise = Groups(group, tells), np.array([0.3, 0.2])
    wanted = twin.shares(kernel.members, tells, np.array(squares), noise, 0.8, 10.0)
    for signal, kept, _ in each_isa(lambda: kernel.shrink(total, noise, 0.8, 10.0)):
        if m > 4096:
            np.testing.assert_array_equal(signal, wanted[0])
            np.testing.assert_array_equal(kept, wanted[1])
        else:
            np.testing.assert_array_equal(signal, twin.shrink(group, kernel.members, tells, total, noise, 0.8, 10.0)[0])


@pytest.mark.parametrize("groups", [1, 2, 77])
@pytest.mark.parametrize("least", [0.25, 1.0])
def test_rates_of_groups_are_those_of_whole_arrays_at_every_level(groups, least, rng, each_isa):
    _, _, kernel = drawn(rng, 100, groups)
    rates, curved = rng.exponential(size=groups), rng.exponential(size=groups - 1) * 10.0 ** rng.integers(-12, 4)
    signal = rng.exponential(size=groups - 1) * 3
    wanted = twin.times(rates, curved, signal, **LIMITS, least=least)
    for found in each_isa(lambda: kernel.times(rates, curved, signal, **LIMITS, least=least)):
        np.testing.assert_array_equal(found, wanted)


def test_what_is_of_other_rows_or_groups_is_refused(rng):
    _, _, kernel = drawn(rng, 5, 3)
    rows, rate = np.zeros((5, 1)), np.ones(3)
    for wrong in (np.zeros((4, 1)), np.zeros((5, 2))):
        for at in range(3):
            given = [rows, rows.copy(), rows.copy()]
            given[at] = wrong
            with pytest.raises(ValueError, match="must have shape"):
                kernel.move(given[0], rate, 0.5, 0.5, *given[1:])
    with pytest.raises(ValueError, match="rate must be of 3 groups, got 2"):
        kernel.move(rows, np.ones(2), 0.5, 0.5, rows.copy(), rows.copy())
    with pytest.raises(ValueError, match="total must have shape"):
        kernel.shrink(np.zeros((4, 1)), rate, 0.8, 10.0)
    with pytest.raises(ValueError, match="noise must be of 3 groups, got 2"):
        kernel.shrink(rows, np.ones(2), 0.8, 10.0)
    with pytest.raises(ValueError, match="rates must be at least 0 and curved above 0"):
        kernel.times(rate, np.zeros(2), np.zeros(2), **LIMITS, least=1.0)
    for group in ([0, 3], [-1, 0], [[0, 1]]):
        with pytest.raises(ValueError, match=r"group must have one dimension and lie in \[0, 3\)"):
            Groups(np.array(group), [True, True, False])
    with pytest.raises(ValueError, match="tells must have at least one entry"):
        Groups(np.zeros(0, int), [])
