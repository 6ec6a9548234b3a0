import functools
import itertools

import numpy as np
import pytest

from dpfast.learners.halfspaces.measure import CAP, DenseMeasure


def measured(signs, margins, units, rate=3.0):
    measure = DenseMeasure(np.asarray(signs, np.int8), units, rate)
    for margin in margins:
        measure.add(np.asarray(margin, np.float32))
    return measure.weights()


def test_a_new_measure_is_even():
    weights = measured([1, -1, 1, 1], [], 2 * CAP)
    assert (weights * [1, -1, 1, 1]).tolist() == [CAP // 2] * 4


def test_rows_that_are_classified_well_weigh_less_and_none_more_than_one():
    weights = measured([1, 1, -1, -1], [[0.9, -0.9, 0.9, -0.2]], 3 * CAP, rate=8.0)
    assert np.abs(weights).sum() == 3 * CAP
    assert (np.abs(weights) <= CAP).all()
    assert abs(weights[0]) < abs(weights[3]) <= abs(weights[1])
    assert np.sign(weights).tolist() == [1, 1, -1, -1]


def test_a_mass_that_rows_cannot_hold_is_all_they_can():
    assert measured([1, -1], [], 9 * CAP).tolist() == [CAP, -CAP]


@pytest.mark.parametrize("units", [CAP, 3 * CAP // 2, 2 * CAP + 7, 9 * CAP])
def test_one_row_moves_a_sum_of_vectors_by_at_most_two_and_does(units):
    """Brute force over rows (x, y) on a line, x and y +-1, and margins; by replacement, and by addition of a row."""
    rows = list(itertools.product((-1, 1), (-1, 1), (-1.0, 0.0, 0.7)))  # x, y, margin
    weights = functools.cache(lambda y, margin: measured(y, [margin], units, 30.0))  # x is not asked

    def summed(table):
        x, y, margin = zip(*table, strict=True)
        return int(weights(y, margin) @ np.array(x))

    sums = {table: summed(table) for table in itertools.product(rows, repeat=3)}
    worst = 0
    for table, total in sums.items():
        for row in rows:
            worst = max(worst, abs(sums[row, *table[1:]] - total), abs(sums[table[0], row, table[2]] - total))
    assert worst <= 2 * CAP
    if units <= 2 * CAP:
        assert worst == 2 * CAP  # a row of weight 1 turns to the other side
    for table in sums:
        assert abs(sums[table] - summed(table[1:])) <= 2 * CAP
