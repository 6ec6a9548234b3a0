"""[BF], section 4.4: the generator of its hard instances."""

import numpy as np
import pytest

from dpfast import DPWinnowClassifier, make_point_stream
from dpfast.accounting import point_lower_bound


@pytest.mark.parametrize(("T", "d", "k"), [(1, 2, 1), (20, 21, 20), (20, 7, 3), (50, 10_000, 4), (9, 64, 2)])
def test_section_4_4_a_stream_is_a_point_function_of_margin_one(T, d, k):
    X, y, target = make_point_stream(T, d, k, random_state=3)
    rows = np.where(X.toarray(), 1, -1)
    assert rows.shape == (T, d)
    assert ((rows == 1).sum(axis=1) == 1).all()
    assert (y * rows[:, target] == 1).all()  # the margin of e_j
    assert (y == 1).sum() == k
    assert np.ptp(np.flatnonzero(y == 1)) == k - 1
    points, different = rows.argmax(axis=1), min(T, d - 1)
    first = points[:different]
    assert len(set(first[first != target])) == different - k
    assert (points[different:] == points[different:][:1]).all()


def test_the_rows_of_the_paper_give_point_functions_with_all_labels_turned():
    """Printed: 1 but for a -1 at place x; then the sign of <e_t, row> is -1 at point t, where p_t is 1."""
    rows = 1 - 2 * np.eye(4)
    assert (rows @ np.eye(4)[2] == [1, 1, -1, 1]).all()


def test_points_and_places_are_uniform(rng):
    seen = [make_point_stream(4, 5, 2, random_state=rng) for _ in range(3000)]
    for counts in (
        np.bincount([target for *_, target in seen], minlength=5),
        np.bincount([int(np.flatnonzero(y == 1)[0]) for _, y, _ in seen], minlength=3),
    ):
        expected = 3000 / len(counts)
        assert ((counts - expected) ** 2 / expected).sum() < 40


def test_private_winnow_makes_the_mistakes_that_it_must():
    bound = point_lower_bound(1.0, 1e-6, horizon=2000, dimension=3000)
    wrong = []
    for seed in range(5):
        X, y, _ = make_point_stream(2000, 3000, bound.insertions, random_state=seed)
        wrong.append((DPWinnowClassifier(random_state=seed).stream(X, y, classes=[-1, 1]) != y).sum())
    assert np.mean(wrong) >= bound.mistakes > 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 1), "horizon must"),
        ((10, 1, 1), "dimension must"),
        ((10, 10, 10), r"insertions must be an integer in \[1, 9\]"),
        ((1 << 20, 1 << 20, 1), "at most 2\\*\\*35 bits"),
    ],
)
def test_what_is_no_stream_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_point_stream(*arguments)
