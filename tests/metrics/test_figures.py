import copy

import numpy as np
import pytest
from laws import assert_follows
from scipy.stats import norm

from dpfast import metrics
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.metrics import ranking
from dpfast.metrics.accuracy import _right

Y = np.arange(300) % 3
PREDICTED = np.where(np.arange(300) < 240, Y, 0)
POSITIVE, SCORE = Y == 2, (Y + np.arange(300) / 300) / 3


def calls(**given):
    return [
        lambda: metrics.accuracy(Y, PREDICTED, **given),
        lambda: metrics.confusion_matrix(Y, PREDICTED, classes=[0, 1, 2], **given),
        lambda: metrics.roc(POSITIVE, SCORE, **given),
        lambda: metrics.calibration(POSITIVE, SCORE, **given),
    ]


def test_without_noise_the_figures_are_those_of_the_rows():
    given = {"epsilon": 1e6, "random_state": 0}
    assert metrics.accuracy(Y, PREDICTED, **given).value == (Y == PREDICTED).mean()
    matrix = metrics.confusion_matrix(Y, PREDICTED, classes=[0, 1, 2], **given)
    assert matrix.counts.tolist() == [[100, 0, 0], [20, 80, 0], [20, 0, 80]]
    curve = metrics.roc(POSITIVE, SCORE, bins=3, **given)
    assert curve.auc.value == 1
    assert curve.true_positives[[0, -1]].tolist() == curve.false_positives[[0, -1]].tolist() == [0, 1]
    reliability = metrics.calibration(POSITIVE, SCORE, bins=3, **given)
    assert reliability.observed.tolist() == [0, 0, 1]
    assert reliability.rows.tolist() == [100, 100, 100]


def test_right_predictions_get_noise_for_one_row(rng):
    y = np.zeros(40, int)
    seen = [metrics.accuracy(y, y, epsilon=0.7, random_state=rng) for _ in range(400)]
    q = np.exp(-0.7)
    right = np.round(np.array([figure.value for figure in seen]) * 40)
    below = (1 - q) / (1 + q) * q ** np.arange(1, 41)
    law = [*below[:10], 1 - below[:10].sum()]  # 39, 38, ...; the rest: 40 or more, clipped, and 29 or fewer
    counted = [np.count_nonzero(right == 40 - k) for k in range(1, 11)]
    assert_follows([*counted, len(seen) - sum(counted)], law)


@pytest.mark.parametrize(("neighbors", "moved"), [("replace", 2), ("add-remove", 1)])
def test_cells_get_noise_for_all_that_a_row_moves(neighbors, moved, rng):
    noise = np.concatenate(
        [
            metrics.confusion_matrix(
                Y, PREDICTED, classes=[0, 1, 2], epsilon=1.5, neighbors=neighbors, random_state=rng
            ).counts.ravel()
            - [100, 0, 0, 20, 80, 0, 20, 0, 80]
            for _ in range(300)
        ]
    )
    q = np.exp(-1.5 / moved)
    at = np.arange(-8, 9)
    law = (1 - q) / (1 + q) * q ** np.abs(at)
    counted = [np.count_nonzero(noise == k) for k in at]
    assert_follows([*counted, len(noise) - sum(counted)], [*law, 1 - law.sum()])


def test_one_row_moves_the_cells_by_at_most_two_in_sum(rng):
    for _ in range(200):
        positive, score = rng.random(30) < 0.5, rng.normal(0.5, 0.6, 30)
        i, other = rng.integers(30), (positive.copy(), score.copy())
        other[0][i], other[1][i] = rng.random() < 0.5, rng.normal(0.5, 0.6)
        tables = []
        for y, s in ((positive, score), other):
            tables.append(ranking._histogram(*ranking._bin_scores(y, s, (0, 1), 6)[:2], 6))
        assert np.abs(tables[0] - tables[1]).sum() <= 2


@pytest.mark.parametrize(("n", "epsilon"), [(500, 1.0), (5000, 0.1)])
def test_intervals_hold_the_truth_as_often_as_they_say(n, epsilon, rng):
    runs, hits = 120, np.zeros(2)
    for _ in range(runs):
        right = rng.random(n) < 0.85
        figure = metrics.accuracy(np.ones(n, bool), right, epsilon=epsilon, random_state=rng)
        positive = rng.random(n) < 0.3
        logit = rng.normal(size=n) + 1.812 * positive
        area = metrics.roc(positive, 1 / (1 + np.exp(0.906 - logit)), epsilon=epsilon, random_state=rng).auc
        hits += [figure.low <= 0.85 <= figure.high, area.low <= norm.cdf(1.812 / np.sqrt(2)) <= area.high]
    assert (hits / runs > 0.82).all()  # 0.93 or more in the long run


def test_a_budget_pays_before_anything_is_drawn(rng):
    budget = Budget(1.0)
    for call in calls(epsilon=0.2, budget=budget, random_state=0):
        call()
    assert budget.spent == (0.8, 0.0)
    before = copy.deepcopy(rng.bit_generator.state)
    for call in calls(epsilon=0.3, budget=budget, random_state=rng):
        with pytest.raises(BudgetExceeded, match="left"):
            call()
    assert rng.bit_generator.state == before
    assert budget.spent == (0.8, 0.0)


def test_a_refusal_draws_and_charges_nothing(rng):
    budget = Budget(10.0)
    before = copy.deepcopy(rng.bit_generator.state)
    given = {"budget": budget, "random_state": rng}
    for call, words in [
        (lambda: metrics.accuracy([1, 2], [1], epsilon=1, **given), "of one shape"),
        (lambda: metrics.accuracy([], [1], epsilon=1, **given), "of one shape"),
        (lambda: metrics.accuracy([1], [1], epsilon=0, **given), "epsilon must be a finite number > 0, got 0"),
        (lambda: metrics.accuracy([1], [1], epsilon=1e-300, **given), "64-bit"),
        (lambda: metrics.accuracy([1], [1], epsilon=1, neighbors="swap", **given), "neighbors must"),
        (lambda: metrics.accuracy([1], [1], epsilon=1, level=1, **given), "level must"),
        (
            lambda: metrics.confusion_matrix([1, 2], [1, 3], classes=[1, 2], epsilon=1, **given),
            "the label of row 2 is not among",
        ),
        (lambda: metrics.roc([0, 2], [0.1, 0.2], epsilon=1, **given), "booleans, or 0 and 1"),
        (lambda: metrics.roc([0, 1], [0.1, np.nan], epsilon=1, **given), "NaN"),
        (lambda: metrics.roc([0, 1], [0.1, 0.2], score_range=(1, 0), epsilon=1, **given), "score_range"),
        (lambda: metrics.roc([0, 1], [0.1, 0.2], bins=1, epsilon=1, **given), "bins must"),
        (lambda: metrics.calibration([0, 1], [0.1, 0.2], bins=True, epsilon=1, **given), "bins must"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert rng.bit_generator.state == before
    assert budget.spent == (0.0, 0.0)


def test_curves_rise_within_their_square_however_loud_the_noise(rng):
    for _ in range(50):
        curve = metrics.roc(POSITIVE, SCORE, epsilon=0.05, random_state=rng)
        for rates in (curve.false_positives, curve.true_positives):
            assert rates[0] == 0
            assert rates[-1] == 1
            assert (np.diff(rates) >= 0).all()
        assert 0 <= curve.auc.low <= curve.auc.value <= curve.auc.high <= 1


@pytest.mark.parametrize("held", [list, lambda y: np.array(y, object)])
def test_one_row_of_another_type_does_not_change_whether_others_are_right(held):
    right = [1] * 99
    for first, of_all in (("1", 99), (1.0, 100), (True, 100), (None, 99)):
        assert _right(held([first, *right]), np.ones(100, int))[0] == of_all
    large = [2**63 + k for k in range(100)]  # as floats, which numpy makes of them beside -1, neighbours are equal
    assert _right(held([-1, *large[1:]]), held([k + 1 for k in large]))[0] == 0
    assert _right(held(["p", "p\0"]), held(["p\0", "p\0"]))[0] == 1


def test_calibration_chooses_its_bins_too():
    assert len(metrics.calibration(POSITIVE, SCORE, bins="auto", epsilon=1, random_state=0).rows) == 9
