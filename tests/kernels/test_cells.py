"""Codes of cells and what they are looked up in, beside numpy and a sorted search."""

from fractions import Fraction

import numpy as np
import pytest

from dpfast.kernels import cells
from dpfast.tables.cells import date_codes, numbers_of, survey_ends

MISSING, FIXED = cells.MISSING, cells.MISSING + 1
EXTREMES = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 2.0**-20, -(2.0**-20), 2.0**44, -(2.0**44), 1e300]
EXTREMES += [np.nextafter(each, way) for each in (2.0**-20, 2.0**44, 1.0, 0.0) for way in (-np.inf, np.inf)]
EXTREMES += [
    2.0**29,
    -(2.0**29),
    2.0**29 - 1,
    1 - 2.0**29,
    2.0**31,
    -(2.0**31),
    32.0,
    31.0,
    -32.0,
    -33.0,
    8191.0,
    8192.0,
]


def slow_codes(x):
    """The codes of numbers by their bits, a step of numpy after another."""
    base, side = (1023 - 20) << 52, 64 << 52
    steps = np.clip(np.abs(x).view(np.int64) - (x > 0) - base, 0, side - 1)
    codes = np.where(x > 0, cells.ZERO + 1 + steps, cells.ZERO - 1 - steps)
    codes[(x <= 0) & (x >= -(2.0**-20))] = cells.ZERO
    codes[np.isnan(x)] = MISSING
    return codes


def slow_compact(codes):
    """The compact cells of codes and their decimal places, by fractions; None if there are none."""
    numbers = (codes >= cells.DATES) & (codes < MISSING)
    values = [Fraction(each) for each in numbers_of(codes[numbers]).tolist()]
    for places in range(cells.PLACES + 1):
        scale = 10**places
        times = [each if each.denominator == 1 else Fraction(round(each * scale)) for each in values]
        back = [
            each if each.denominator == 1 else Fraction(int(k) / scale) for each, k in zip(values, times, strict=True)
        ]
        if back == values and all(abs(k) < 1 << 29 for k in times):
            break
    else:
        return None
    found = np.where(codes < cells.DATES, 4 * codes + 1, 4 * (codes - MISSING) + 2)
    kinds = [0 if each.denominator == 1 else 3 for each in values]
    found[numbers] = [4 * int(k) + kind for k, kind in zip(times, kinds, strict=True)]
    fits = [each for each in (np.int8, np.int16, np.int32) if (found == found.astype(each)).all()]
    return (found.astype(fits[0]), places) if fits else None


def columns(rng, n=600):
    """Columns of all kinds and widths."""
    whole = slow_codes(rng.integers(-9, 9, n).astype(np.float64))
    decimals = [
        slow_codes(rng.integers(-most, most, n) / 10.0**places) for places, most in ((1, 30), (3, 8000), (9, 9**9))
    ]
    wide = slow_codes(rng.integers(-5000, 5000, n).astype(np.float64))
    real, dates = slow_codes(rng.lognormal(0, 9, n) * rng.choice([-1, 1], n)), rng.integers(0, cells.DATES, n)
    words = MISSING + rng.integers(0, 4, n)
    mixed = rng.choice([real, dates, words, whole])
    widest = slow_codes(np.floor(rng.lognormal(12, 2, n)).clip(max=2**29 - 1))
    every = [
        whole,
        *decimals,
        np.where(rng.random(n) < 0.5, decimals[1], words),
        np.append(decimals[0], slow_codes(np.array([2.0**28 + 0.5]))),
        np.append(decimals[1], slow_codes(np.array([2.0**20 + 0.5, 0.1 + 0.2]))),
        wide,
        real,
        dates,
        words,
        widest,
        np.where(rng.random(n) < 0.5, mixed, words),
        slow_codes(np.array(EXTREMES)),
    ]
    return [*every, np.zeros(0, np.int64), *(each[:1] for each in every)]


def test_codes_of_numbers_are_those_of_their_bits(rng, each_isa):
    x = np.concatenate(
        [np.array(EXTREMES), rng.normal(size=500), np.exp(rng.normal(0, 40, 500)), -np.exp(rng.normal(0, 9, 99))]
    )
    for found in each_isa(lambda: cells.of_numbers(x)):
        np.testing.assert_array_equal(found, slow_codes(x))


def test_compact_cells_have_the_fewest_bytes_and_places_and_are_the_codes(rng):
    sizes = set()
    for codes in columns(rng):
        (compact, places), expected = cells.compact(codes), slow_compact(codes)
        np.testing.assert_array_equal(compact, codes if expected is None else expected[0])
        assert (compact.dtype, places) == ((np.int64, 0) if expected is None else (expected[0].dtype, expected[1]))
        np.testing.assert_array_equal(cells.expand(compact, places), codes)
        sizes.add((compact.itemsize, places))
    assert sizes == {(1, 0), (2, 0), (4, 0), (8, 0), (1, 1), (2, 3), (4, 9)}


def test_cells_with_more_places_than_they_need_are_the_codes_or_are_none(rng):
    tenths = slow_codes(rng.integers(-500, 500, 300) / 10)
    for places in range(1, cells.PLACES + 1):
        compact, found = cells.compact(tenths, places)
        assert (compact.itemsize == 8) == (49.9 * 10**places >= 1 << 29)
        assert found == places
        np.testing.assert_array_equal(cells.expand(compact, found), tenths)


def test_numbers_that_only_round_to_decimals_keep_their_codes():
    for number in (0.1 + 0.2, np.nextafter(0.25, 1), 1 / 3, float(np.float32(0.1)), 2.0**-19, 1e-10):
        codes = cells.of_numbers(np.array([0.5, number]))
        compact, _ = cells.compact(codes)
        assert compact.dtype == np.int64
        np.testing.assert_array_equal(compact, codes)


def test_many_cells_of_two_bytes_are_looked_up_as_few_are(rng):
    n = 1 << 16
    starts, years = starts_of(rng, "all"), rng.integers(0, cells.YEARS, cells.DATES).astype(np.uint8)
    values, of_words = rng.integers(0, 256, len(starts)).astype(np.uint16), rng.integers(0, 200, 4).astype(np.uint16)
    decimals = slow_codes(rng.integers(-8000, 8000, n) / 1000)
    for codes in (decimals, np.where(rng.random(n) < 0.5, decimals, MISSING + rng.integers(0, 5, n))):
        compact, places = cells.compact(codes)
        assert (compact.itemsize, places) == (2, 3)
        np.testing.assert_array_equal(cells.survey(compact, years, places), cells.survey(codes, years))
        given = starts, values
        counts = cells.count(codes, *given, 200, of_words)
        np.testing.assert_array_equal(cells.count(compact, *given, 200, of_words, places), counts)
        for wide in (False, True):
            expected = cells.take(codes, *given, of_words, wide)
            np.testing.assert_array_equal(cells.take(compact, *given, of_words, wide, places), expected)
        if codes is not decimals:
            for call in (cells.take, lambda *given: cells.count(*given[:3], 9, given[3], given[5])):
                with pytest.raises(ValueError, match="of_words has 1 words, and a cell is a later one"):
                    call(compact, *given, of_words[:1], False, places)


def test_the_survey_is_that_of_the_ends_of_its_cells(rng):
    numbers, days = survey_ends()
    years = np.searchsorted(days, np.arange(cells.DATES) + int(days[0]) - 364).astype(np.uint8)
    assert date_codes(days)[0] == 364
    for codes in columns(rng):
        of_number = (codes >= cells.DATES) & (codes < MISSING)
        value = numbers_of(codes[of_number])
        at = np.searchsorted(numbers, value) + 129 * ((value == np.floor(value)) & (value != 0))
        expected = np.bincount(at, minlength=cells.SURVEYED)
        expected[-1] = (codes == MISSING).sum()
        expected[258:-1] += np.bincount(years[codes[codes < cells.DATES]], minlength=cells.YEARS)
        for stored, places in ((codes, 0), cells.compact(codes)):
            np.testing.assert_array_equal(cells.survey(stored, years, places), expected)


def looked_up(codes, starts, values, of_words):
    found = values[np.searchsorted(starts, codes, side="right") - 1]
    return found if of_words is None else np.where(codes >= FIXED, of_words[np.maximum(codes - FIXED, 0)], found)


def starts_of(rng, kind):
    numbers = slow_codes(rng.lognormal(0, 3, 120) * rng.choice([-1, 1], 120))
    some = {
        "one": [],
        "missing": [MISSING],
        "dates": rng.integers(1, cells.DATES, 40),
        "numbers": [*numbers, MISSING],
        "all": [*rng.integers(1, cells.DATES, 40), cells.DATES, *numbers, MISSING],
        "close": [cells.ZERO + 5 * k * k for k in range(50)],
        "a lump and one far": [
            *(slow_codes(np.array([3.0]))[0] + np.arange(3000)),
            slow_codes(np.array([1e9]))[0],
        ],
        "two": [cells.DATES + 1, MISSING - 1],
    }[kind]
    return np.unique([0, *some])


@pytest.mark.parametrize("kind", ["one", "missing", "dates", "numbers", "all", "close", "a lump and one far", "two"])
def test_values_are_those_of_a_sorted_search(rng, kind):
    starts = starts_of(rng, kind)
    for codes in [*columns(rng), starts, starts[1:] - 1]:
        for of_words in (None, rng.integers(0, 200, 4).astype(np.uint16)):
            values = rng.integers(0, 256, len(starts)).astype(np.uint16)
            expected = looked_up(codes, starts, values, of_words)
            for stored, places in ((codes, 0), cells.compact(codes)):
                for wide in (False, True):
                    found = cells.take(stored, starts, values, of_words, wide, places)
                    assert found.dtype == (np.uint16 if wide else np.uint8)
                    np.testing.assert_array_equal(found, expected)
                counts = np.bincount(expected, minlength=100)[:100]
                np.testing.assert_array_equal(cells.count(stored, starts, values, 100, of_words, places), counts)


def test_codes_below_zero_and_cells_of_no_kind_are_read_within_the_arrays():
    starts, values, years = (
        np.array([0, 9, MISSING]),
        np.array([1, 2, 3], np.uint16),
        np.full(cells.DATES, 255, np.uint8),
    )
    for kind in (np.int8, np.int16, np.int32, np.int64):
        ends = np.iinfo(kind)
        stored = np.array([ends.min, ends.min + 1, -1, 0, 1, 2, 3, ends.max - 1, ends.max], kind)
        for places in (0, cells.PLACES):
            assert cells.survey(stored, years, places).sum() <= len(stored)
            assert cells.count(stored, starts, values, 9, None, places).sum() == len(stored)
            assert set(cells.take(stored, starts, values, None, False, places).tolist()) <= {1, 2, 3}


def test_words_and_values_that_are_not_there_are_refused():
    starts, values = np.array([0, MISSING]), np.array([0, 300], np.uint16)
    words = np.array([FIXED, FIXED + 2])
    for stored in (words, cells.compact(words)[0]):
        for of_words in (np.zeros(2, np.uint16), np.zeros(0, np.uint16)):
            with pytest.raises(ValueError, match=f"of_words has {len(of_words)} words, and a cell is a later one"):
                cells.count(stored, starts, values, 5, of_words)
            with pytest.raises(ValueError, match=f"of_words has {len(of_words)} words, and a cell is a later one"):
                cells.take(stored, starts, values, of_words, True)
        with pytest.raises(ValueError, match="or a value has no byte"):
            cells.take(stored, starts, values)


@pytest.mark.parametrize("starts", [[], [1, 5], [0, 5, 5], [0, 5, 4], [0, MISSING + 1], [0, *range(1, 1 << 16)]])
def test_starts_that_are_no_runs_are_refused(starts):
    starts = np.array(starts, np.int64)
    for call in (lambda *given: cells.count(*given, 1), cells.take):
        with pytest.raises(ValueError, match="starts"):
            call(np.zeros(1, np.int64), starts, np.zeros(len(starts), np.uint16))


def test_what_does_not_fit_is_refused():
    starts, values, years = np.array([0]), np.zeros(1, np.uint16), np.zeros(cells.DATES, np.uint8)
    for wrong in (np.zeros(3), np.zeros(3, np.uint8), [1, 2], np.zeros(3, ">i4"), np.array(["x"])):
        with pytest.raises(TypeError, match="cells must be an ndarray of int8, int16, int32 or int64"):
            cells.survey(wrong, years)
    for wrong in (np.zeros(6, np.int16)[::2], np.zeros((2, 2), np.int8), np.array(3)):
        with pytest.raises(ValueError, match="cells must be one-dimensional and contiguous"):
            cells.take(wrong, starts, values)
    with pytest.raises(ValueError, match="must begin at a multiple of 4"):
        cells.count(np.zeros(9, np.int8)[1:].view(np.int32), starts, values, 1)
    with pytest.raises(ValueError, match="from 1 to 65535 entries each, got 1 and 2"):
        cells.take(np.zeros(1, np.int64), starts, np.zeros(2, np.uint16))
    with pytest.raises(ValueError, match=r"size must lie in \[0, 65536\], got -1"):
        cells.count(np.zeros(1, np.int64), starts, values, -1)
    with pytest.raises(ValueError, match=r"years must have shape \(65536,\)"):
        cells.survey(np.zeros(1, np.int64), years[1:])
    with pytest.raises(TypeError, match="codes must be int64, got int8"):
        cells.compact(np.zeros(1, np.int8))
    for places in (-1, cells.PLACES + 1):
        for call in (cells.compact, cells.expand, lambda codes, places: cells.survey(codes, years, places)):
            with pytest.raises(ValueError, match=rf"places must lie in \[0, 9\], got {places}"):
                call(np.zeros(1, np.int64), places)
