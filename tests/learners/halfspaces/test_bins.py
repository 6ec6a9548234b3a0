"""Entries of bins of numbers: which bins share one, by released counts."""

import numpy as np
import pytest

from dpfast.learners.halfspaces.bins import BINS, HATS, entries_of_numbers, groups_of_numbers, width
from dpfast.tables.cells import CodeColumn


def column(bins, nullable=False):
    edges = tuple(np.linspace(0, 1, bins + 1)[1:-1])
    return CodeColumn("x", edges=edges, low=0.0, high=1.0, nullable=nullable)


def places(share, least, nullable=False):
    """The entry of each bin, from the shares of all codes."""
    one = column(len(share) - nullable, nullable)
    held = share[: one.bins] / share[: one.bins].sum()
    found, codes, at, values = entries_of_numbers(one, 2 * np.cumsum(held) - held - 1, share, least)
    block = np.zeros((one.size, width(one.bins, one.size)))
    block[codes, at] = values
    assert values.all()
    assert (np.diff(codes * block.shape[1] + at) > 0).all()
    assert (block[np.arange(one.size), found] == 0.5).all()
    return found


def test_few_bins_have_an_entry_each_and_many_share_those_of_their_rank():
    assert places(np.full(BINS, 1 / BINS), 1.0).tolist() == list(range(BINS))
    shared = places(np.full(256, 1 / 256), 1.0)
    assert np.bincount(shared).tolist() == [8] * BINS


def test_bins_with_rows_enough_have_an_entry_of_their_own():
    assert places(np.full(256, 1 / 256), 1 / 300).tolist() == list(range(256))
    assert np.bincount(places(np.full(256, 1 / 256), 1 / 128)).tolist() == [2] * 128


def test_a_heavy_value_stands_alone_and_neighbours_without_rows_share_an_entry():
    share = np.full(256, 1e-4)
    share[100] = 1 - share.sum() + share[100]
    found = places(share, 0.001)
    assert (found == found[100]).sum() == 1
    share = np.zeros(256)
    share[[3, 200]] = 0.5
    assert len(set(places(share, 0.01).tolist())) <= 5


@pytest.mark.parametrize("least", [0.0, 1e-5, 1e-3, 0.03, 1.0])
@pytest.mark.parametrize("bins", [33, 256, 257, 1000])
@pytest.mark.parametrize("nullable", [False, True])
def test_entries_are_runs_of_bins_that_hold_enough_and_never_more_than_planned(least, bins, nullable, rng):
    for _ in range(5):
        share = rng.exponential(size=bins + nullable) * (rng.random(bins + nullable) < rng.choice([0.05, 1.0]))
        share[0] += 1e-3
        share /= share.sum()
        found = places(share, least, nullable)
        own = found[:bins]
        assert own[0] == 0
        assert set(np.diff(own).tolist()) <= {0, 1}
        assert own[-1] < min(bins, 256)
        if nullable:
            assert found[-1] == min(bins, 256)


def test_entries_that_no_bin_has_are_a_group_of_their_own():
    share = np.full(256, 1 / 256)
    groups = groups_of_numbers(places(share, 1.0), share, 256)
    assert (groups[:BINS] == groups[0]).all()
    assert set(groups[BINS:256].tolist()).isdisjoint(groups[:BINS].tolist())
    assert groups[256:].tolist() == [1] * (HATS + 1) + [2] * (HATS + 1)
