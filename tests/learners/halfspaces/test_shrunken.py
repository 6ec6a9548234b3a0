import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from dpfast import HalfspaceClassifier
from dpfast.learners.halfspaces.model import HalfspaceState
from dpfast.learners.halfspaces.plain import PlainShape
from dpfast.learners.halfspaces.shrunken import DescentByGroup, DescentOfLeaves, JoinedDescent, ShrunkenDescent


@pytest.mark.parametrize("classes", [2, 3])
def test_a_round_adds_and_shrinks_as_in_plain_words(classes, rng):
    groups, n, rounds, deviation = np.array([0, 0, 1, 1, 1, -1]), 5000.0, 10, 60.0
    descent = ShrunkenDescent(groups, classes, deviation, n, rounds, 128.0)
    columns, pair = (1, 1) if classes == 2 else (3, 2)
    one = deviation / np.sqrt(pair * rounds)
    fastest = rate = min(3 * n / (one * rounds), 128) / n / pair
    total, late, before, variance = np.zeros((6, columns)), [], np.zeros((6, columns)), 0.0
    for t in range(1, rounds + 1):
        noisy = rng.normal(scale=rng.choice([1.0, 100.0, 1000.0]), size=(6, columns))
        descent.add(noisy)
        along = (noisy * before).sum() / (5 * deviation**2 * np.sqrt(6 * columns))
        rate = rate / 2 if along < -1 else min(1.05 * rate, fastest) if along > 1 else rate
        before = noisy
        variance += (rate * deviation) ** 2
        total += rate * (noisy if columns == 1 else noisy - noisy.mean(axis=1, keepdims=True))
        v = 0.8 * variance * (1 if columns == 1 else 2 / 3)
        m = max(0.0, (total[:5] ** 2).mean() - v)
        u = total.copy()
        for c in range(columns):
            for members in ([0, 1], [2, 3, 4]):
                d = len(members)
                tau = max(0.0, (total[members, c] ** 2).sum() - d * v + 10 * m) / (d + 10)
                u[members, c] *= tau / (tau + v)
            u[5, c] *= max(0.0, 1 - v / 0.8 / total[5, c] ** 2)
        np.testing.assert_allclose(descent.coefficients(), u)
        late += [u] * (t > 8)
        np.testing.assert_allclose(descent.model(), np.mean(late, axis=0) if late else u)


def test_noise_alone_is_shrunk_to_nothing_and_signals_are_not(rng):
    groups, deviation, seen, kept = np.repeat([0, 1, -1], [50, 50, 1]), 100.0, [], []
    for _ in range(20):
        descent = ShrunkenDescent(groups, 2, deviation, 1e4, 50, 32.0)
        for _ in range(50):
            noise, signal = rng.normal(scale=deviation, size=(101, 1)), np.zeros((101, 1))
            signal[:50] = 100.0
            descent.add(signal + noise)
        seen.append(descent.coefficients()[50:100])
        kept.append(descent.coefficients()[:50])
    assert np.abs(np.mean(kept)) > 4 * np.sqrt(np.mean(np.square(seen)))


def test_an_intercept_that_noise_may_be_is_left_out():
    for size, kept in ((0.9, 0.0), (3.0, 1 - 1 / 9)):
        descent = ShrunkenDescent(np.array([-1]), 2, 1.0, 10.0, 5, 32.0)
        descent.add(np.full((1, 1), size))
        np.testing.assert_allclose(descent.coefficients() / descent._total, kept)
        np.testing.assert_allclose(descent.model(), descent.coefficients())


def test_a_rate_that_was_halved_grows_again_while_sums_agree_and_no_further_than_it_began():
    descent = ShrunkenDescent(np.array([0, -1]), 2, 1.0, 10.0, 40, 1.0)
    began, rates = descent._rate, []
    for size in [9.0, -9.0, 0.1, 0.1, *[9.0] * 20]:
        descent.add(np.full((2, 1), size))
        rates.append(descent._rate / began)
    np.testing.assert_allclose(rates, [1, *[0.5] * 4, *np.minimum(1, 0.5 * 1.05 ** np.arange(1, 20))])


def test_a_slower_pace_makes_smaller_rates_smaller_and_not_the_fastest():
    for fastest, factor in ((128.0, 0.5), (0.01, 1.0)):
        usual, slow = (ShrunkenDescent(np.array([0, -1]), 2, 60.0, 500.0, 10, fastest, pace) for pace in (1.0, 0.5))
        assert slow._rate == factor * usual._rate


def test_the_intercept_of_wide_rows_takes_the_steps_of_narrow_ones():
    narrow, wide = (PlainShape(width, 1 << 17, 2, True) for width in (10, 10_000))
    for n, deviation in ((1000.0, 0.1), (1000.0, 3e3)):  # rates that the number of rows limits, and noise
        moved = []
        for shape in (narrow, wide):
            descent = ShrunkenDescent(
                np.array([0, -1]), 2, deviation, n, 5, shape.fastest, far=1e6, steady=shape.steady
            )
            descent.add(np.full((2, 1), deviation / 100))  # so little that the rate does not change
            moved.append(descent._velocity * n / deviation)
        (of_narrow, intercept), (of_wide, other) = moved
        assert other == pytest.approx(intercept)
        assert of_wide == pytest.approx(of_narrow * (4 if deviation < 1 else 1))


def test_an_overshoot_of_the_intercept_does_not_halve_the_rates_of_wide_rows(rng):
    words = rng.random((16_000, 600)) < 0.02
    labels = words[:, :40].any(axis=1) & (rng.random(16_000) < 0.8)
    rates = []

    class Watched(HalfspaceState):
        def released(self):
            rates.append(self.descent._rate / self.descent._fastest)
            return super().released()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpfast.learners.halfspaces.halfspace.HalfspaceState", Watched)
        HalfspaceClassifier(10.0, random_state=0).fit(csr_array(words), labels, classes=[False, True])
    assert rates[-1] == 1


def test_rates_fall_evenly_to_their_share():
    for n, deviation, rate in ((1.0, 0.1, 0.2), (1000.0, 1000 * np.sqrt(5) / 5, 3.0)):  # limited by rows, by noise
        descent, moved = ShrunkenDescent(np.array([0, -1]), 2, deviation, n, 5, 128.0, fall=0.5), [0.0]
        for _ in range(5):
            descent.add(np.array([[1e-9], [n]]))
            moved.append(descent._total[1, 0])
        np.testing.assert_allclose(np.diff(moved), rate * np.linspace(1, 0.5, 5))
        assert descent._rates * n == pytest.approx(moved[-1])


def test_rates_follow_the_number_of_rows_and_the_noise_and_momentum_carries_what_is_above_the_largest_step():
    for n, deviation, rate in ((1e4, 1.0, 100.0), (1e5, 1.0, 1000.0), (1e6, 1e-3, 1600.0), (1e5, 1500.0, 20.0)):
        descent = ShrunkenDescent(np.array([0, -1]), 2, deviation, n, 100, 128.0)
        assert descent._fastest * n == pytest.approx(rate, rel=1e-6)
        moved = []
        for _ in range(100):
            descent.add(np.full((2, 1), n * 1e-3))  # no sum points against another
            moved.append(descent._total[1, 0])
        steps = np.diff([0.0, *moved])
        assert steps[0] == pytest.approx(min(rate, 128.0) * 1e-3)  # a first step is no longer than the largest
        assert steps[-1] == pytest.approx(rate * 1e-3, rel=0.05)
        assert (np.diff(steps) > -1e-9).all()


def test_groups_with_large_coefficients_have_larger_rates(rng):
    groups, n = np.append(np.repeat([0, 1], [50, 500]), -1), 1e5
    curvature = np.append(np.full(550, 1e-3), 0.0)
    descent = DescentByGroup(groups, 2, 1.0, n, 100, 128.0, 1.0, 1.0, curvature, 1.0)
    values = np.append(np.append(rng.normal(scale=8.0, size=50), rng.normal(scale=0.1, size=500)), 0.0)[:, np.newaxis]
    for _ in range(60):
        descent.add(n * curvature[:, np.newaxis] * (values - descent.coefficients()))
    first, second = descent._rates[:2, 0].tolist()
    assert first > 1.3 * second
    left, before = descent.left(n * curvature), descent.coefficients().copy()
    descent.rescale(2.0)
    np.testing.assert_allclose(descent.coefficients(), 2 * before, rtol=1e-9)
    np.testing.assert_allclose(descent.left(n * curvature / 4), 4 * left, rtol=1e-9)


@pytest.mark.parametrize(("least", "slower"), [(0.25, 0.25), (1.0, 1.0)])
def test_groups_with_small_coefficients_have_smaller_rates_down_to_the_least(least, slower, rng):
    groups, n = np.append(np.repeat([0, 1], 200), -1), 4e3
    curvature = np.append(np.full(400, 1e-2), 0.0)
    descent = DescentByGroup(groups, 2, 1e-3, n, 100, 128.0, 1.0, 1.0, curvature, least)
    values = np.append(np.repeat([1.5, 0.05], 200) * rng.normal(size=400), 0.0)[:, np.newaxis]
    for _ in range(60):
        descent.add(n * curvature[:, np.newaxis] * (values - descent.coefficients()))
    before = descent._rates[:, 0].copy()
    descent.add(n * curvature[:, np.newaxis] * (values - descent.coefficients()))
    common, weak = descent._fastest, (descent._rates[:, 0] - before)[1]
    assert weak == pytest.approx(slower * common, rel=0.01)
    assert (descent._rates[:, 0] - before)[0] >= common * 0.999


def test_noise_that_later_residuals_take_back_is_not_left(rng):
    groups, deviation, curvature = np.append(np.arange(300) // 100, -1), 100.0, np.array([0.0, 20.0, 200.0])
    each = np.append(np.repeat(curvature, 100), 0.0)
    truth = np.append(30.0 * rng.normal(size=300), 0.0)[:, np.newaxis]
    descent = ShrunkenDescent(groups, 2, deviation, 1e4, 100, 128.0)
    descent._total = truth.copy()  # so that all that moves is noise
    assert not descent.left(each).any()
    for _ in range(100):
        descent.add(each[:, np.newaxis] * (truth - descent._total) + rng.normal(scale=deviation, size=(301, 1)))
    left = descent.left(each)[[0, 100, 200], 0] / descent._factors[:3, 0] / 0.8
    squares = np.square(descent._total - truth)[:300, 0].reshape(3, 100).mean(axis=1)
    np.testing.assert_allclose(squares, left, rtol=0.7)  # means of 100 squares: five deviations


def test_shorter_images_change_the_units_of_what_is_left_and_nothing_else(rng):
    descent, curvature = ShrunkenDescent(np.array([0, 0, 1, -1]), 2, 1.0, 10.0, 5, 32.0), np.array([1.0, 2.0, 3.0, 0.0])
    for _ in range(3):
        descent.add(rng.normal(5.0, size=(4, 1)))
    before = descent.left(4 * curvature)
    assert (before > 0).all()
    descent.rescale(2.0)
    np.testing.assert_allclose(descent.left(curvature), 4 * before)


def test_what_is_left_of_two_descents_is_that_of_each():
    first, second = (ShrunkenDescent(np.array(groups), 2, 1.0, 10.0, 5, 32.0) for groups in ([0, 0, -1], [0, 1]))
    joined = JoinedDescent(first, second, 2)
    joined.add(np.array([[3.0], [4.0], [9.0], [9.0], [1.0]]))
    of_first, of_second = first.left(np.array([1.0, 2.0, 5.0])), second.left(np.array([3.0, 4.0]))
    left = joined.left(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(left, np.concatenate([of_first[:2], of_second, of_first[2:]]))


def test_signals_of_a_few_coefficients_are_kept_and_less_noise_of_the_others_is():
    errors = {}
    for mixed in (False, True):
        descent, signal = ShrunkenDescent(np.zeros(200, int), 2, 100.0, 1e4, 50, 32.0, mixed=mixed), np.zeros((200, 1))
        signal[:4] = 100.0
        noise = np.random.default_rng(1).normal(scale=100.0, size=(50, 200, 1))
        for each in noise:
            descent.add(signal + each)
        wanted = descent._total - descent._rates[0] * noise.mean(axis=0)
        errors[mixed] = np.square(descent.coefficients() - wanted).sum() / np.square(wanted).sum()
    assert errors[True] < errors[False] / 1.5


def test_without_a_group_or_with_more_columns_a_mixed_descent_has_the_shares_of_each_column(rng):
    alone = ShrunkenDescent(np.array([-1]), 2, 1.0, 10.0, 5, 32.0, mixed=True)
    alone.add(np.full((1, 1), 3.0))
    np.testing.assert_allclose(alone.coefficients() / alone._total, 1 - 1 / 9)
    descent = ShrunkenDescent(np.append(np.zeros(30, int), -1), 3, 1.0, 10.0, 5, 32.0, mixed=True)
    noisy = rng.normal(scale=3.0, size=(31, 3))
    descent.add(noisy)
    assert descent.coefficients().shape == descent.model().shape == (31, 3)
    shares = descent.coefficients()[:30] / descent._total[:30]
    assert ((shares >= 0) & (shares < 1)).all()
    for c in range(3):  # in one column, larger coefficients keep more
        order = np.abs(descent._total[:30, c]).argsort()
        assert (np.diff(shares[order, c]) > -1e-12).all()


@pytest.mark.parametrize(
    ("deviation", "n", "faster"),
    [(20.0, 4e5, 2.0), (20.0, 1e5, 500 / math.sqrt(1500 * 128)), (1.0, 5e3, 1.0), (3e4, 1e5, 1.5)],
)
def test_leaves_are_up_to_twice_as_fast_where_rows_and_noise_allow_it(deviation, n, faster):
    public = np.repeat(np.arange(4), 16), 2, deviation, n, 100, 128.0, 1.0, 1.0, np.full(64, 0.001), 1.0
    columns, leaves = DescentByGroup(*public), DescentOfLeaves(*public, hasty=True, alone=2.0)
    assert leaves._rate / columns._rate == pytest.approx(faster)
    assert leaves._lasting == columns._lasting
    assert DescentOfLeaves(*public, hasty=False, alone=2.0)._rate == columns._rate


def test_trees_are_shrunk_nearly_together_and_other_groups_by_themselves(rng):
    public = np.repeat(np.arange(50), 16), 2, 100.0, 1e4, 40, 128.0, 1.0, 1.0, np.full(800, 0.001), 1.0
    columns, leaves = DescentByGroup(*public), DescentOfLeaves(*public, hasty=True, alone=2.0)
    for _ in range(40):
        noise = rng.normal(scale=100.0, size=(800, 1))
        columns.add(noise)
        leaves.add(noise)
    apart = [np.std(descent._factors[:-1]) for descent in (columns, leaves)]
    assert apart[1] < apart[0] / 3


@pytest.mark.parametrize(("alone", "share"), [(0.0, 0.05), (0.5, 1 / 16), (1.0, 1 / 4), (2.0, 1.0), (5.0, 1.0)])
def test_leaves_go_less_far_if_few_rows_say_little_by_single_columns(alone, share):
    def leaves(n, classes=2):
        public = np.repeat(np.arange(4), 16), classes, 1.0, n, 100, 128.0, 1.0, 1.0, np.full(64, 0.001), 1.0
        return [DescentOfLeaves(*public, hasty=True, alone=each)._rate for each in (alone, 5.0)]

    less, usual = leaves(2e3)
    assert less / usual == pytest.approx(share)
    assert leaves(1e7)[0] == leaves(1e7)[1]
    assert leaves(2e3, 3)[0] == leaves(2e3, 3)[1]
