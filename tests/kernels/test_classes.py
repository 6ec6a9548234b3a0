import numpy as np
import pytest
from reference import littlestone as slow

from dpfast.kernels import bits, classes


def packed(table):
    table = np.unique(np.asarray(table, np.uint8), axis=0)
    members = bits.pack(np.ones((1, len(table)), np.uint8))[0]
    return table, bits.pack(np.ascontiguousarray(table.T)), members


def dimension(table, **limits):
    _, columns, members = packed(table)
    return classes.dimension(columns, members, classes.memo(len(members)), **limits)[0]


@pytest.mark.parametrize("seed", range(25))
def test_the_dimension_is_the_slow_twins(seed, each_isa):
    rng = np.random.default_rng(seed)
    n, points = rng.integers(1, 65), rng.integers(1, 11)
    table = rng.random((n, points)) < rng.choice([0.1, 0.3, 0.5])
    found = each_isa(lambda: dimension(table))
    assert set(found) == {slow.dimension(map(tuple, table))}
    assert found[0] <= np.log2(len(np.unique(table, axis=0)))


def test_all_functions_on_k_points_have_dimension_k():
    for k in range(1, 11):
        assert dimension(np.arange(1 << k)[:, None] >> np.arange(k) & 1) == k


def test_thresholds_have_the_logarithm_for_a_dimension():
    for n in [*range(1, 40), 63, 64, 127, 128, 255, 256, 300]:
        assert dimension(np.arange(n) >= np.arange(n + 1)[:, None]) == (n + 1).bit_length() - 1


@pytest.mark.parametrize("n", [1, 63, 64, 65, 500])
def test_point_functions_have_dimension_one(n):
    assert dimension(np.eye(n)) == (n > 1)


def test_no_member_is_minus_one_and_one_is_zero():
    _, columns, members = packed(np.eye(5))
    nobody = members & np.uint64(0)
    assert classes.dimension(columns, nobody, classes.memo(1))[0] == -1
    assert classes.dimension(columns, members & np.uint64(4), classes.memo(1))[0] == 0


def test_counts_and_restriction_are_those_of_the_table(rng, each_isa):
    table, columns, _ = packed(rng.random((200, 30)) < 0.5)
    chosen = rng.random(len(table)) < 0.4
    members = bits.pack(chosen[None].view(np.uint8))[0]
    for found in each_isa(lambda: classes.counts(columns, members)):
        np.testing.assert_array_equal(found, table[chosen].sum(axis=0))
    for label in (False, True):
        left, size = classes.restrict(columns, members, 7, label)
        np.testing.assert_array_equal(bits.unpack(left[None], len(table))[0], chosen & (table[:, 7] == label))
        assert size == (chosen & (table[:, 7] == label)).sum()


def test_a_memo_of_one_slot_forgets_but_does_not_err(rng):
    for _ in range(20):
        _, columns, members = packed(rng.random((120, 9)) < 0.4)
        small = classes.dimension(columns, members, np.zeros((1, 3), np.uint64))[0]
        assert small == classes.dimension(columns, members, classes.memo(2))[0]


def test_one_memo_serves_all_subclasses_of_a_class(rng):
    table, columns, members = packed(rng.random((60, 8)) < 0.5)
    memo = classes.memo(1)
    for _ in range(25):
        part = rng.random(len(table)) < rng.random()
        members = bits.pack(part[None].view(np.uint8))[0]
        assert classes.dimension(columns, members, memo)[0] == slow.dimension(map(tuple, table[part]))


def test_a_search_that_is_too_long_is_given_up(rng):
    _, columns, members = packed(rng.random((512, 64)) < 0.5)
    assert classes.dimension(columns, members, classes.memo(8), max_nodes=20) == (None, 20)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, m: classes.counts(c, np.zeros(3, np.uint64)), r"members must have shape \(2,\)"),
        (lambda c, m: classes.restrict(c, m, 5, True), r"point must lie in \[0, 5\), got 5"),
        (lambda c, m: classes.restrict(c, m, -1, True), r"point must lie in \[0, 5\), got -1"),
        (lambda c, m: classes.dimension(c, m, np.zeros((4, 2), np.uint64)), r"memo must come from memo\(2\)"),
        (lambda c, m: classes.dimension(c, m, np.zeros((3, 3), np.uint64)), "memo must come from"),
        (lambda c, m: classes.dimension(c[:0], m, classes.memo(2)), "hypotheses on no points agree"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    columns = np.zeros((5, 2), np.uint64)
    with pytest.raises(ValueError, match=message):
        call(columns, np.full(2, 7, np.uint64))
