import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows, exponential_law
from scripted import Scripted

from dpfast.kernels import levels

DTYPES = [np.int8, np.int16, np.int32, np.int64]


# ---- laws --------------------------------------------------------------------------------------------------------

SHAPES = {
    "one giant level": (np.r_[np.full(999, 3), 4].astype(np.int32), Fraction(1, 10)),
    "ten thousand levels": (np.arange(10_000, dtype=np.int16), 0.001),
    "weights from e**-2000 to 1": (np.arange(0, 4001, 4, dtype=np.int32), 0.5),
    "many at each of few levels": (np.arange(1000, dtype=np.int64) % 7 - 3, Fraction(2, 3)),
    "an exponent below zero": (np.arange(-20, 20, dtype=np.int16), -0.2),
    "the same weight for all": (np.arange(100, dtype=np.int32), 0),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_million_draws_follow_the_exponential_law(shape, rng):
    scores, exponent = SHAPES[shape]
    draws = levels.sample(scores, exponent, 1_000_000, rng)
    assert_follows(np.bincount(draws, minlength=len(scores)), exponential_law(scores, exponent))


@pytest.mark.parametrize(
    ("dtype", "exponent"),
    [
        (dtype, exponent)
        for i, dtype in enumerate(DTYPES)
        for j, exponent in enumerate([Fraction(1, 3), -2.5, 0, 1e-12, 1e-300, Fraction(10**400), Fraction(1, 10**400)])
        if (i + j) % 2
    ],
)
def test_single_draws_follow_the_law_for_any_dtype_and_exponent(dtype, exponent, rng):
    scores = rng.integers(-5, 6, 12).astype(dtype)
    draws = [levels.draw(scores, exponent, rng) for _ in range(1000)]
    bounded = max(min(exponent, 10**6), -(10**6))
    assert_follows(np.bincount(draws, minlength=12), exponential_law(scores, bounded))


@pytest.mark.parametrize("m", [10, 3000])
def test_members_of_a_level_are_equally_likely_across_blocks(m, rng):
    scores = np.zeros(40_000, np.int32)
    scores[::2] = 1
    draws = np.concatenate([levels.sample(scores, 50, m, rng) for _ in range(60_000 // m)])
    assert (draws % 2 == 0).all()
    assert_follows(np.bincount(draws // 2000, minlength=20), np.full(20, 0.05))


def test_a_pair_of_draws_is_independent(rng):
    scores = np.array([0, 1, 2], np.int32)
    pairs = np.array([levels.sample(scores, 0.5, 2, rng) for _ in range(5_000)])
    law = exponential_law(scores, 0.5)
    assert_follows(np.bincount(pairs @ [3, 1], minlength=9), np.outer(law, law).ravel())


# ---- one stream, one result --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [20, 2000, 30_000])
def test_every_level_of_instruction_set_gives_the_same_draws(dtype, spread, each_isa):
    scores = np.random.default_rng(1).integers(-spread, spread, 50_001).astype(dtype)
    for exponent in (0.01, -0.001, Fraction(1, 3)):
        results = each_isa(lambda t=exponent: levels.sample(scores, t, 500, np.random.default_rng(2)))
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


def counted_coins(monkeypatch):
    """A list that grows by every coin left to multiprecision."""
    seen, coin = [], levels.coin

    def counted(*arguments):
        seen.append(arguments)
        return coin(*arguments)

    monkeypatch.setattr(levels, "coin", counted)
    return seen


@pytest.mark.parametrize("exponent", [0.3, -0.01, Fraction(1, 1000), 40.0])
def test_multiprecision_and_doubles_decide_alike(exponent, monkeypatch):
    scores = np.random.default_rng(3).integers(-60, 60, 300).astype(np.int32)
    fast = levels.sample(scores, exponent, 300, np.random.default_rng(4))
    for guard in (2.0**30, 2.0**38, 2.0**60):  # some of the draws, more of them, all of them
        monkeypatch.setattr(levels, "_guard_scale", guard)
        coins = counted_coins(monkeypatch)
        np.testing.assert_array_equal(levels.sample(scores, exponent, 300, np.random.default_rng(4)), fast)
    assert len(coins) >= 300


def test_multiprecision_draws_follow_the_law(monkeypatch, rng):
    monkeypatch.setattr(levels, "_guard_scale", 2.0**60)
    scores = np.array([0, 3, 3, 7, 1], np.int64)
    draws = levels.sample(scores, Fraction(1, 2), 4_000, rng)
    assert_follows(np.bincount(draws, minlength=5), exponential_law(scores, 0.5))


# ---- bounds ------------------------------------------------------------------------------------------------------


def entries(scores, exponent, mirrored=False, values=(), others=()):
    """Best scores, masses and bounds of what is drawn from, and the shift of these."""
    return levels._Entries(np.asarray(scores), Fraction(exponent), mirrored, list(values), list(others)).bounds()


def share(gap, exponent, dtype):
    """Of the lower of two scores, whose block has the higher for reference."""
    low = max(-gap, np.iinfo(dtype).min)
    whole = entries(np.array([low + gap, low], dtype), exponent)[1][0]
    return int(whole) - int(entries(np.zeros(1, dtype), exponent)[1][0])


@pytest.mark.parametrize(  # a type is the largest gap, an exponent the length of a level: each with half of the others
    ("exponent", "dtype"),
    [
        (exponent, dtype)
        for i, exponent in enumerate([Fraction(1, 3 << 20), 1e-7, 0.3, Fraction(5, 1 << 30), 1e-300, 1e-17, 24, 1e300])
        for j, dtype in enumerate(DTYPES)
        if (i // 2 + j) % 2
    ],
)
def test_shares_lie_above_the_weights_and_close(exponent, dtype, rng):
    most = 2 * np.iinfo(dtype).max + 1
    gaps = {0, 1, 2, most, most // 2, most // 2 + 1, *rng.integers(0, most, 50, dtype=np.uint64).tolist()}
    gaps |= set((rng.uniform(0, 35, 200) / float(exponent)).clip(0, 2.0**63).astype(np.uint64).tolist())
    ends = [int(n * Fraction(math.log(2)) / Fraction(exponent)) + k for n in range(36) for k in (-1, 0, 1)]
    for gap in {gap for gap in (*gaps, *ends) if 0 <= gap <= most}:
        y = Fraction(exponent) * gap
        weight = 2.0**20 * math.exp(-y) if y < 700 else 0.0
        assert weight * (1 - 1e-14) < share(gap, exponent, dtype) <= 1.0625 * weight + 1


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("exponent", [0.02, -0.02, 0.04, Fraction(1, 10**6), 3, 10**30])
def test_bounds_lie_above_the_weights_and_close(exponent, mirrored, rng):
    scores = np.sort(rng.integers(-1000, 1000, 5000)).astype(np.int32)
    best, mass, bounds, shift = entries(scores, exponent, mirrored, [0, 1100], [10**13, 7])
    y = np.abs(best - (best.min() if exponent < 0 else best.max())) * abs(float(exponent))
    one = np.ldexp(mass.astype(float), -shift - 20 * (np.arange(len(mass)) < len(mass) - 2))  # a unit of each candidate
    weights = np.ldexp(one, 30) * np.exp(-y)
    assert (weights * (1 - 1e-12) < bounds).all()
    assert (bounds <= 1.0625 * weights + one * np.where(y > 22.3, 2.0**-32, 1) + 1).all()
    assert 2**26 * len(bounds) < bounds.sum(dtype=float) < 2**63


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("zeros", [0, 2**53 - 1])
@pytest.mark.parametrize("nats", [0.4, 13.9, 20.8, 36.7, 60, 10**6])
def test_a_draw_takes_few_words_whatever_the_scores(nats, zeros, mirrored):
    apart, half = np.full(300_000, -1000, np.int32), np.arange(300_000, dtype=np.int32) % 2 * 1000 - 1000
    apart[77_777] = 0
    for scores in (apart, half, apart + 1000, half + 1000):
        for exponent in (nats / 1000, -nats / 1000):
            philox = np.random.Generator(np.random.Philox(1))
            levels.sample(scores, exponent, 4000, philox, mirrored=mirrored, zeros=zeros)
            words = 4 * int(philox.bit_generator.state["state"]["counter"][0])
            assert words < 3 * 1.2 * 4000


# ---- nothing is impossible, nothing overflows --------------------------------------------------------------------


BLOCK = 2**62 + 1  # a word that takes the one block
UNIT = 2**44  # of the words for a rank in a block that has little weight but one best score's: one share of 1


def test_a_level_of_weight_e_minus_200_is_drawn_when_the_words_say_so():
    scores = np.array([0, 0, 200, 0], np.int32)  # three at e**-200 = 2**-288.5, each of share 2**-20
    middle = [BLOCK, UNIT * 3 // 2]
    assert levels.draw(scores, 1, Scripted([*middle, 0, 0, 0, 0, 0])) == 1
    assert levels.draw(scores, 1, Scripted([*middle, 0, 0, 0, 0, 2**51])) == 1  # 2**-269 < 2**(20 - 288.5)
    assert levels.draw(scores, 1, Scripted([*middle, 0, 0, 0, 0, 2**52, BLOCK, 2**63 + 1, 0])) == 2
    assert levels.draw(scores, 1, Scripted([*middle, 1, BLOCK, 2**64 - UNIT // 2, 0, 0, 0, 0, 0])) == 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_at_the_ends_of_their_type_do_not_overflow(dtype, rng):
    info = np.iinfo(dtype)
    scores = np.array([info.min, info.max, info.max, info.min], dtype)
    assert levels.draw(scores, 1.0, rng) in (1, 2)
    assert levels.draw(scores, -1.0, rng) in (0, 3)
    tiny = 1 / (float(info.max) - float(info.min))  # e apart
    draws = levels.sample(scores, tiny, 20_000, rng)
    high, low = 1 / (2 + 2 / math.e), 1 / (2 + 2 * math.e)
    assert_follows(np.bincount(draws, minlength=4), [low, high, high, low])


def test_ranges_too_wide_for_a_table_are_drawn_by_distinct_scores(rng):
    scores = rng.integers(-(2**62), 2**62, 50)
    draws = levels.sample(scores, 2.0**-62, 50_000, rng)
    assert_follows(np.bincount(draws, minlength=50), exponential_law(scores, 2.0**-62))


# ---- candidates that are not stored ------------------------------------------------------------------------------


def doubled(scores, mirrored, zeros):
    """The candidates written out, as exact integers; a draw from the zeros is one outcome for all of them."""
    scores = [int(score) for score in scores]
    return np.array(scores + [-score for score in scores] * mirrored + [0] * (zeros > 0), object)


def folded_law(scores, exponent, mirrored, zeros):
    """What the outcomes of `doubled` should be drawn with."""
    scores = doubled(scores, mirrored, zeros)
    weights = (scores * float(exponent)).astype(float)
    weights = np.exp(weights - weights.max())
    if zeros:
        weights[-1] *= zeros
    return weights / weights.sum()


SCATTERED = [
    ([0, 3, -3, 1, 0, -7, 7, 2], Fraction(1, 3)),
    ([-2, -3, -3, -10], 0.25),
    ([5, 6, 6, 9], -0.25),
    ([0, 0], 2),
    ([127, -128, 0, 126, -127], 0.01),
    ([0, 4, -1000, 1000], 0.01),  # more levels than scores, but few enough to table
    ([-30_000, 30_000, 5, 0, 29_998, -29_999], 1e-4),
    ([4, 4, 5], 0),
]


OPTIONS = [(True, 0), (True, 7), (False, 7), (True, 10**6), (False, 10**12)]


@pytest.mark.parametrize(  # every two of case, type and option together
    ("scores", "exponent", "mirrored", "zeros", "dtype"),
    [
        (*case, *option, dtypes[(i + j) % len(dtypes)])
        for i, case in enumerate(SCATTERED)
        for dtypes in [[dtype for dtype in DTYPES if max(case[0]) <= np.iinfo(dtype).max]]
        for j, option in enumerate(OPTIONS)
    ],
)
def test_mirrored_candidates_and_zeros_follow_the_law_of_the_vector_written_out(
    scores, exponent, mirrored, zeros, dtype, rng
):
    draws = levels.sample(np.array(scores, dtype), exponent, 20_000, rng, mirrored=mirrored, zeros=zeros)
    law = folded_law(scores, exponent, mirrored, zeros)
    assert_follows(np.bincount(draws, minlength=len(law)), law)


@pytest.mark.parametrize(("m", "exponent"), [(1, 0.02), (40, 0.02), (40, -0.02), (4000, -0.02)])
def test_mirrored_members_are_equally_likely_across_blocks(m, exponent, rng):
    scores = np.random.default_rng(5).integers(-3, 4, 40_000).astype(np.int32)
    draws = np.concatenate(
        [levels.sample(scores, exponent, m, rng, mirrored=True, zeros=9000) for _ in range(max(1, 6_000 // m))]
    )
    law = folded_law(scores, exponent, True, 9000)
    outcome = np.minimum(draws // 4000, 20)
    assert_follows(np.bincount(outcome, minlength=21), np.bincount(np.minimum(np.arange(80_001) // 4000, 20), law))
    signed = doubled(scores, True, 9000)[draws].astype(np.int64)
    law_of_values = np.bincount(doubled(scores, True, 9000).astype(np.int64) + 3, law)
    assert_follows(np.bincount(signed + 3, minlength=7), law_of_values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_mirrored_score_at_the_ends_of_its_type_does_not_overflow(dtype, rng):
    info = np.iinfo(dtype)
    scores = np.array([info.min + (dtype is np.int64), info.max, 0], dtype)
    tiny = 1 / (2 * float(info.max))
    for exponent in (tiny, -tiny):
        draws = levels.sample(scores, exponent, 20_000, rng, mirrored=True, zeros=3)
        assert_follows(np.bincount(draws, minlength=7), folded_law(scores, exponent, True, 3))


def test_the_one_score_without_a_negated_copy_is_refused(rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=r"above -2\*\*63 to be mirrored"):
        levels.draw(np.array([-(2**63), 0]), 1, rng, mirrored=True)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [20, 2000, 30_000])
def test_mirrored_draws_are_the_same_at_every_level_of_instruction_set(dtype, spread, each_isa):
    scores = np.random.default_rng(1).integers(-spread, spread, 50_001).astype(dtype)
    for exponent in (0.01, -0.001):
        results = each_isa(
            lambda t=exponent: levels.sample(scores, t, 500, np.random.default_rng(2), mirrored=True, zeros=10**7)
        )
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("exponent", [0.3, -0.01, 40.0])
@pytest.mark.parametrize(("mirrored", "zeros"), [(True, 0), (True, 50), (False, 10**9)])
def test_multiprecision_and_doubles_decide_alike_for_candidates_not_stored(exponent, mirrored, zeros, monkeypatch):
    scores = np.random.default_rng(3).integers(-30, 10, 200).astype(np.int32)
    options = {"mirrored": mirrored, "zeros": zeros}
    fast = levels.sample(scores, exponent, 200, np.random.default_rng(4), **options)
    for guard in (2.0**38, 2.0**60):
        monkeypatch.setattr(levels, "_guard_scale", guard)
        np.testing.assert_array_equal(levels.sample(scores, exponent, 200, np.random.default_rng(4), **options), fast)


def test_a_mirrored_level_of_weight_e_minus_200_is_drawn_when_the_words_say_so():
    scores = np.array([0, 100, 0], np.int32)  # candidate 4 at e**-200
    words = Scripted([BLOCK, 2**64 - UNIT * 5 // 2, 0, 0, 0, 0, 0])
    assert levels.sample(scores, 1, 1, words, mirrored=True, zeros=4).tolist() == [4]


def test_nothing_stored_leaves_the_zeros(rng):
    assert levels.sample(np.array([], np.int64), 0.3, 50, rng, mirrored=True, zeros=10**9).tolist() == [0] * 50
    for zeros in (-1, 2**53):
        with pytest.raises(ValueError, match=f"zeros must number at least 0 .* got {zeros}"):
            levels.sample(np.array([1], np.int32), 1, 1, rng, zeros=zeros)


# ---- candidates known by their numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [Fraction(-1, 2), 0.3, 0, -1e-12, Fraction(-(10**400))])
def test_a_draw_from_counts_follows_the_law_of_the_vector_written_out(exponent, rng):
    counts = np.array([0, 3, 0, 1, 7, 2, 0], np.uint64)
    draws = [levels.draw_counted(counts, exponent, rng) for _ in range(2_500)]
    law = exponential_law(np.repeat(np.arange(7), counts.astype(int)), max(exponent, -1000))
    first = np.cumsum(counts) - counts  # of each level, among the candidates written out
    assert all(0 <= rank < counts[level] for level, rank in draws)
    assert_follows(np.bincount([int(first[level]) + rank for level, rank in draws], minlength=13), law)


@pytest.mark.parametrize("exponent", [Fraction(-1, 50), 0.01])
def test_multiprecision_and_doubles_decide_alike_for_counts(exponent, monkeypatch):
    counts = np.random.default_rng(3).integers(0, 10**12, 300).astype(np.uint64)

    def draws():
        rng = np.random.default_rng(4)
        return [levels.draw_counted(counts, exponent, rng) for _ in range(50)]

    fast = draws()
    for guard in (2.0**38, 2.0**60):
        monkeypatch.setattr(levels, "_guard_scale", guard)
        assert draws() == fast


def test_a_counted_level_of_weight_e_minus_200_is_drawn_when_the_words_say_so():
    counts = np.array([1, 0, 3], np.uint64)
    assert levels.draw_counted(counts, -100, Scripted([2**64 - 1, 0, 0, 0, 0, 1 << 63])) == (2, 1)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.array([1, 2]), r"uint64 of shape \(levels,\), got int64 \(2,\)"),
        (np.ones((2, 2), np.uint64), r"got uint64 \(2, 2\)"),
        (np.zeros(3, np.uint64), "number from 1 to .*, got 0"),
        (np.array([], np.uint64), "number from 1 to .*, got 0"),
        (np.array([2**53], np.uint64), "number from 1 to .*, got 9007199254740992"),
    ],
)
def test_counts_that_will_not_do_are_refused_before_a_draw(counts, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message):
        levels.draw_counted(counts, 1, rng)
    with pytest.raises(ValueError, match="exponent must be a finite number"):
        levels.draw_counted(np.ones(2, np.uint64), np.nan, rng)
    assert rng.bit_generator.state == before


# ---- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "exponent", "m", "error", "message"),
    [
        (np.array([], np.int32), 1, 1, ValueError, "scores is empty"),
        (np.array([1.5]), 1, 1, ValueError, r"int8, int16, int32 or int64 of shape \(n,\), got float64"),
        (np.array([[1]], np.int32), 1, 1, ValueError, r"got int32 \(1, 1\)"),
        (np.array([1], np.int32), float("nan"), 1, ValueError, "exponent must be a finite number, got nan"),
        (np.array([1], np.int32), float("inf"), 1, ValueError, "exponent must be a finite number"),
        (np.array([1], np.int32), "high", 1, ValueError, "exponent must be a finite number"),
        (np.array([1], np.int32), 1, -1, ValueError, "m must be at least 0, got -1"),
        (np.array([1], np.int32), 1, 0.5, TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)
def test_a_refusal_draws_nothing(scores, exponent, m, error, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(error, match=message):
        levels.sample(scores, exponent, m, rng)
    assert rng.bit_generator.state == before


def test_what_is_not_a_generator_is_refused():
    with pytest.raises(TypeError, match="got int"):
        levels.draw(np.array([1], np.int32), 1, 7)


def test_no_draws_are_no_draws(rng):
    assert levels.sample(np.array([1], np.int32), 1, 0, rng).shape == (0,)
