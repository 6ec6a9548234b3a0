import copy
import importlib
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from laws import assert_follows, exponential_law
from scripted import Scripted

from dpfast.kernels import bits, inversion
from dpfast.kernels import multiplicative_weights as weights

DRAWS = 100_000


def law(totals, exponent, mirrored=False):
    totals = np.r_[totals, -totals] if mirrored else totals
    return exponential_law(-totals, exponent)


def drawn(state, number, rng):
    width = 2 * state.d
    return np.bincount([state.draw(rng) for _ in range(number)], minlength=width)


def rows_of(kind, rng, n, d, low=0):
    """Losses of one kind, and the same on a grid of 2**-10."""
    if kind == "packed":
        x = rng.integers(0, 2, (n, d)).astype(np.uint8)
        return weights.packed(bits.pack(x), d, bits=10, low=low), ((1 - low) * x.astype(np.int64) + low) << 10
    q = rng.integers(low << 10, (1 << 10) + 1, (n, d))
    if kind == "csr":
        q[rng.random((n, d)) < 0.7] = 0
        X = sp.csr_array(q)
        return weights.csr(X.indptr, X.indices, X.data.astype(np.int32), d, bits=10, low=low), q
    if kind == "int32":
        return weights.dense(q.astype(np.int32), bits=10, low=low), q
    nudge = rng.uniform(-0.4, 0.4, q.shape) * ((q > low << 10) & (q < 1 << 10))
    return weights.dense(((q + nudge) / 1024).astype(kind), bits=10, low=low), q


KINDS = ["float32", "float64", "int32", "packed", "csr"]


# ---- totals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_totals_are_the_sums_of_losses_on_the_grid(kind, low, mirrored, isa, rng):
    for d in (1, 2, 63, 64, 1000, 1024, 1025, 5000):
        losses, q = rows_of(kind, rng, 7, d, low)
        state = weights.Weights(d, 1e-4, mirrored=mirrored)
        for row in range(7):
            state.add(losses, row)
        np.testing.assert_array_equal(state.totals(), q.sum(axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_signs_multiply_whole_rows(kind, rng):
    _, q = rows_of(kind, rng, 6, 70, -1)
    signs = rng.choice([-1, 1], 6).astype(np.int8)
    signed = {
        "packed": lambda: weights.packed(bits.pack((q > 0).astype(np.uint8)), 70, bits=10, low=-1, signs=signs),
        "csr": lambda: weights.csr(*csr_parts(q), 70, bits=10, low=-1, signs=signs),
    }.get(kind, lambda: weights.dense(q.astype(np.int32), bits=10, low=-1, signs=signs))()
    state = weights.Weights(70, 0.001)
    for row in range(6):
        state.add(signed, row)
    np.testing.assert_array_equal(state.totals(), signs.astype(int) @ q)


def csr_parts(q):
    X = sp.csr_array(q)
    return X.indptr, X.indices, X.data.astype(np.int32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_loss_goes_to_the_nearest_point_of_the_grid_ties_to_even(dtype):
    x = np.array([[0, 0.5, 1.5, 2.5, 2.51, 7, 8]], dtype) / 8
    state = weights.Weights(7, 1)
    state.add(weights.dense(x, bits=3))
    assert state.totals().tolist() == [0, 0, 2, 2, 3, 7, 8]


@pytest.mark.parametrize(("dtype", "bits"), [(np.float32, 22), (np.float64, 30)])
def test_zeros_of_either_sign_and_both_ends_of_the_finest_grid_are_inside(dtype, bits, isa):
    x = np.tile(np.array([[0.0, -0.0, 1, 2.0**-bits, -(2.0**-bits), -1]], dtype), 200)
    for low in (-1, 0):
        row = np.maximum(x, low) if low else np.where(x < 0, dtype(-0.0), x)
        state = weights.Weights(1200, 1e-9)
        state.add(weights.dense(row, bits=bits, low=low))
        np.testing.assert_array_equal(state.totals(), np.ldexp(row[0], bits))


# ---- bounds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [Fraction(1, 3 << 20), 1e-7, 0.3, Fraction(5, 1 << 30), 1e-300, 0, 1e300])
def test_bounds_lie_above_the_weights_and_close(exponent, rng):
    state = weights.Weights(1, exponent)
    gaps = [0, 1, 2, 2**31 - 1, 2**62, *rng.integers(0, 2**31, 300).tolist()]
    if exponent:
        gaps += (rng.uniform(0, 35, 3000) / float(exponent)).clip(0, 2.0**62).astype(np.int64).tolist()
        ends = [int(n * Fraction(math.log(2)) / Fraction(exponent)) + k for n in range(33) for k in (-2, -1, 0, 1)]
        gaps += [gap for gap in ends if 0 <= gap < 2**62]
    for gap in gaps:
        y = Fraction(exponent) * gap
        weight = 2.0**30 * math.exp(-y) if y < 700 else 0.0
        assert weight * (1 - 1e-14) < state._bound(gap) <= 1.07 * weight + 1


def test_a_draw_takes_few_words_however_the_totals_move(rng):
    for kind in KINDS:
        for exponent in (0, 1e-5, 1e-2):
            for mirrored in (False, True):
                losses, _ = rows_of(kind, rng, 2000, 40, -mirrored)
                state, philox = (
                    weights.Weights(40, exponent, mirrored=mirrored),
                    np.random.Generator(np.random.Philox(1)),
                )
                state.play(losses, philox)
                words = 4 * int(philox.bit_generator.state["state"]["counter"][0])
                assert words < 2000 * 8


# ---- draws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "exponent", "mirrored"),
    [
        (kind, exponent, bool((i + j) % 2))
        for i, kind in enumerate(KINDS)
        for j, exponent in enumerate([Fraction(1, 500), 1e-9, Fraction(1, 70_000), 0])
    ],
)
def test_draws_follow_the_weights(kind, exponent, mirrored, rng):
    losses, q = rows_of(kind, rng, 3, 9, -1)
    state = weights.Weights(9, exponent, mirrored=mirrored)
    for row in range(3):
        state.add(losses, row)
    assert_follows(drawn(state, DRAWS // 4, rng)[: 9 * (1 + mirrored)], law(q.sum(axis=0), exponent, mirrored))


@pytest.mark.parametrize(("d", "mirrored"), [(1, True), (2, False), (2048, False)])
def test_the_middle_of_all_words_divides_two_equal_halves(d, mirrored):
    """The word for a rank that is the sum of all bounds before an expert, and the one below, draw the two beside it."""
    middle = d * (1 + mirrored) // 2
    for word, expert in ((2**63 - 1, middle - 1), (2**63 + 1, middle)):
        assert weights.Weights(d, 0.01, mirrored=mirrored).draw(Scripted([word, 0])) == expert


def test_draws_from_many_blocks_follow_the_weights(rng):
    d = 300_000
    losses, q = rows_of("float32", rng, 1, d)
    state = weights.Weights(d, Fraction(1, 300))
    state.add(losses)
    counts = drawn(state, DRAWS, rng)[:d]
    group = q[0] // 32 * 13 + np.arange(d) // 25_000  # by loss, and by place
    _, group = np.unique(group, return_inverse=True)
    assert_follows(np.bincount(group, counts), np.bincount(group, law(q[0], 1 / 300)))


@pytest.mark.parametrize("scale", [1e6, 1e12])
def test_coins_left_to_multiprecision_land_as_they_would_have(scale, rng, monkeypatch):
    losses, _ = rows_of("int32", rng, 400, 5)

    def play():
        state = weights.Weights(5, Fraction(1, 400))
        return state.play(losses, np.random.default_rng(3))

    plain, asked = play(), []
    coin = weights.coin
    monkeypatch.setattr(weights, "_guard_scale", scale)
    monkeypatch.setattr(weights, "coin", lambda *arguments: asked.append(0) or coin(*arguments))
    np.testing.assert_array_equal(play(), plain)
    assert asked or scale < 1e7


def test_the_coin_of_multiprecision_has_its_bias(rng):
    words = rng.integers(0, 2**64, 3000, dtype=np.uint64).tolist()
    for x, numerator, denominator in [(Fraction(0), 1, 3), (Fraction(7, 5), 9, 10), (Fraction(1, 9), 1, 2)]:
        kept = sum(inversion.coin(x, numerator, denominator, word, None) for word in words)
        p = numerator / denominator * math.exp(-x)
        assert_follows([kept, 3000 - kept], [p, 1 - p])
    more = iter([2**63])
    assert inversion.coin(Fraction(0), 2**65 + 1, 2**66, 2**63, lambda: next(more)) is False
    assert list(more) == []
    assert inversion.coin(Fraction(0), 1, 2, 2**63 - 1, None)
    assert not inversion.coin(Fraction(0), 1, 2, 2**63, None)


def test_weights_of_a_millionth_are_right(rng):
    state = weights.Weights(3, 1)
    state.add(weights.dense(np.array([[0, 11, 12]], np.int32), bits=4))
    assert_follows(drawn(state, 500_000, rng)[:3], law(np.array([0, 11, 12]), 1))


@pytest.mark.parametrize("exponent", [Fraction(1), 1e5, 1e300, 10**400])
def test_exponents_without_measure_leave_the_best_expert(exponent, rng):
    state = weights.Weights(4, exponent)
    q = np.array([[1 << 10, 5 << 7, 1 << 10, 1 << 9]], np.int32)
    for _ in range(50):
        state.add(weights.dense(q, bits=10))
        assert {state.draw(rng) for _ in range(5)} == {3}


def test_weights_that_all_fall_far_are_referred_to_the_best_again(rng):
    """All lose the most, at an exponent where that is 60 nats a row: draws stay quick and right."""
    state = weights.Weights(1000, Fraction(60, 1024))
    q = np.full((1, 1000), 1 << 10, np.int32)
    q[0, 17] -= 20
    for _ in range(20):
        state.add(weights.dense(q, bits=10))
        one = drawn(state, 300, rng)[17]
    assert one == 300


def test_a_sparse_loss_that_is_taken_back_is_referred_to_the_best_again(rng):
    """One expert goes far and comes back, at an exponent of thousands of nats a row: each draw ends."""
    state = weights.Weights(1, 3.0, mirrored=True)
    rows = weights.csr(np.arange(3), np.zeros(2, int), np.array([1000, -1000], np.int32), 1, bits=10, low=-1)
    for row in (0, 1, 0, 1):
        state.add(rows, row)
        assert state.draw(rng) == 1 - row or state.totals()[0] == 0


@pytest.mark.parametrize("low", [0, -1])
def test_sparse_rows_give_the_draws_of_dense_ones_in_law(low, rng):
    losses, q = rows_of("csr", rng, 300, 8, low)
    exponent = Fraction(1, 300)
    state, counts, expected = weights.Weights(8, exponent), np.zeros(8), np.zeros(8)
    total = np.zeros(8, int)
    for row in range(300):
        counts += drawn(state, 100, rng)[:8]
        expected += law(total, exponent)
        state.add(losses, row)
        total += q[row]
    assert_follows(counts, expected / 300)


def test_play_is_a_loop_of_draws_and_additions(each_isa, rng):
    for kind in KINDS:
        losses, q = rows_of(kind, rng, 60, 2500, -1)

        def looped(losses=losses):
            state, rng = weights.Weights(2500, 1e-3, mirrored=True), np.random.default_rng(1)
            experts = []
            for row in range(60):
                experts.append(state.draw(rng))
                state.add(losses, row)
            return experts, state.paid

        def played(losses=losses):
            state, rng = weights.Weights(2500, 1e-3, mirrored=True), np.random.default_rng(1)
            out = state.play(losses, rng, 0, 25)
            state.play(losses, rng, 25, 60, out)
            return out.tolist(), state.paid

        results = each_isa(looped) + each_isa(played)
        assert all(result == results[0] for result in results)
        experts, paid = results[0]
        assert paid == sum((1 if j < 2500 else -1) * q[i, j % 2500] for i, j in enumerate(experts))


# ---- room --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["int32", "csr"])
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("low", [0, -1])
def test_totals_beyond_32_bits_are_kept(low, mirrored, kind, rng):
    step, d, exponent = 1 << 28, 4, Fraction(1, 1 << 29)
    q = rng.integers(low * step, step + 1, (60, d)).astype(np.int32)
    q[:, 2] = np.abs(q[:, 2])
    make = {
        "int32": lambda: weights.dense(q, bits=28, low=low),
        "csr": lambda: weights.csr(*csr_parts(q), d, bits=28, low=low),
    }[kind]
    state = weights.Weights(d, exponent, mirrored=mirrored)
    losses = make()
    for row in range(60):
        state.add(losses, row)
    totals = q.sum(axis=0, dtype=np.int64)
    assert totals.max() > 2**31
    np.testing.assert_array_equal(state.totals(), totals)
    assert_follows(drawn(state, DRAWS // 4, rng)[: d * (1 + mirrored)], law(totals, exponent, mirrored))


def test_losses_common_to_all_experts_need_no_wider_totals(rng):
    state = weights.Weights(3, Fraction(1, 1 << 20))
    common = weights.dense(np.array([[1 << 28, 1 << 28, (1 << 28) - (1 << 15)]], np.int32), bits=28)
    for _ in range(40):
        state.add(common)
    totals = 40 * np.array([1 << 28, 1 << 28, (1 << 28) - (1 << 15)])
    assert state.totals().tolist() == totals.tolist()
    assert_follows(drawn(state, DRAWS // 10, rng)[:3], law(totals, 2.0**-20))


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("bad", [1.001, -0.001, np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_a_row_out_of_range_changes_nothing(dtype, bad, mirrored, rng):
    if dtype == np.int32:
        bad = {1.001: 1025, -0.001: -1, np.inf: 2**31 - 1, -np.inf: -(2**31)}.get(bad, 5000)
        good = rng.integers(0, 1025, (2, 3000)).astype(np.int32)
    else:
        good = rng.random((2, 3000)).astype(dtype)
    state, twin = (weights.Weights(3000, 1e-3, mirrored=mirrored) for _ in range(2))
    wrong = good.copy()
    wrong[1, 2222] = bad
    for row in range(2):
        twin.add(weights.dense(good, bits=10), row)
    losses = weights.dense(wrong, bits=10)
    with pytest.raises(ValueError, match="losses must lie in"):
        losses.check()
    state.add(losses, 0)
    with pytest.raises(ValueError, match=r"losses must lie in \[0, 1(024)?\], got"):
        state.add(losses, 1)
    state.add(weights.dense(good, bits=10), 1)
    np.testing.assert_array_equal(state.totals(), twin.totals())
    first, second = (state_.play(weights.dense(good, bits=10), np.random.default_rng(0)) for state_ in (state, twin))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: weights.dense(np.zeros((2, 3), np.int16)), r"losses must be float32, float64 or int32 of shape"),
        (lambda: weights.dense(np.zeros(3)), "losses must be"),
        (
            lambda: weights.dense(np.zeros((1, 3), np.float32), bits=23),
            r"bits must lie in \[0, 22\] for float32, got 23",
        ),
        (lambda: weights.dense(np.zeros((1, 3), np.float32), bits=20, high=5), "too fine for float32"),
        (lambda: weights.dense(np.zeros((1, 3)), low=1, high=1), "low < high"),
        (lambda: weights.dense(np.zeros((1, 3)), low=0.5), "low and high must be integers"),
        (lambda: weights.dense(np.zeros((1, 3)), bits=30, high=2), "within 2\\*\\*1 of 0"),
        (lambda: weights.dense(np.zeros((1, 3)), signs=np.array([2], np.int8)), "signs must be int8, -1 or 1"),
        (lambda: weights.dense(np.zeros((1, 3)), signs=np.array([1, 1], np.int8)), r"of shape \(1,\)"),
        (lambda: weights.packed(np.zeros((1, 2), np.uint64), 64), "d=64 needs 1 words a row"),
        (lambda: weights.csr(np.array([0, 2]), np.array([1, 1]), np.ones(2), 3), "rise strictly"),
        (lambda: weights.csr(np.array([0, 1]), np.array([3]), np.ones(1), 3), r"within \[0, 3\)"),
        (lambda: weights.csr(np.array([0, 1]), np.array([0]), np.array([np.nan]), 3), "losses must lie"),
        (lambda: weights.csr(np.array([0, 1]), np.array([0]), np.array([1.5]), 3), "got 1.5"),
        (lambda: weights.csr(np.array([0, 1]), np.array([0]), np.array([-7], np.int32), 3), "got -7"),
        (lambda: weights.csr(np.array([0, 3]), np.array([0]), np.ones(1), 3), "indptr must rise"),
        (lambda: weights.csr(np.array([0, 1]), np.array([0]), np.ones(1), 3, low=-2, high=-1), "low must be at most 0"),
        (lambda: weights.Weights(0, 1), r"d must lie in \[1, 2\*\*32\), got 0"),
        (lambda: weights.Weights(3, -1), "exponent must be at least 0"),
        (lambda: weights.Weights(3, math.nan), "exponent must be a finite number, got nan"),
        (lambda: weights.Losses(), "use weights.dense"),
        (lambda: pickle.dumps(weights.Weights(3, 1)), "private state"),
        (lambda: weights.Weights(3, 1).add(weights.dense(np.zeros((1, 4)))), "losses must be of 3 experts, got 4"),
        (lambda: weights.Weights(3, 1).add(weights.dense(np.zeros((1, 3))), 1), r"rows must lie in \[0, 1\]"),
        (lambda: weights.Weights(3, 1).draw(5), "must be a numpy.random.Generator"),
    ],
)
def test_what_will_not_do_is_refused_by_name(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_a_refusal_draws_nothing(rng):
    state, before = weights.Weights(3, 1), copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match="losses must be of 3 experts"):
        state.play(weights.dense(np.zeros((1, 4))), rng)
    with pytest.raises(ValueError, match="out must have shape"):
        state.play(weights.dense(np.zeros((2, 3))), rng, out=np.zeros(3, np.int64))
    assert rng.bit_generator.state == before


def test_indices_of_rows_may_fall_from_one_row_to_the_next():
    losses = weights.csr(np.array([0, 2, 2, 3, 3]), np.array([1, 2, 0]), np.array([1.0, 0.5, 0.25]), 3, bits=2)
    state = weights.Weights(3, 1)
    for row in range(4):
        state.add(losses, row)
    assert state.totals().tolist() == [1, 4, 2]


def test_the_former_name_warns():
    former = importlib.import_module("dpfast.kernels.weights")
    with pytest.warns(FutureWarning, match=r"is now dpfast\.kernels\.multiplicative_weights"):
        assert former.Weights is weights.Weights
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = former.other
