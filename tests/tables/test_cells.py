import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels.texts import NAMED, kinds
from dpfast.tables.arrow import cells
from dpfast.tables.cells import (
    _MARKS,
    DATES,
    FIXED,
    MISSING,
    SURVEYED,
    SURVEYED_DATES,
    SURVEYED_MISSING,
    SURVEYED_NUMBERS,
    ZERO,
    _text_buffers,
    compact_cells,
    date_codes,
    expand_cells,
    last_codes,
    last_numbers,
    number_codes,
    numbers_of,
    survey_cells,
    survey_ends,
    text_cells,
)
from dpfast.tables.discovered import places_of
from dpfast.tables.forms import NUMBER, begins_with_money

TEXT = pa.large_string()


numbers = st.lists(st.floats(allow_nan=False), min_size=1, max_size=50)


@given(numbers, st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_the_code_of_a_number_tells_on_which_side_of_an_edge_it_is(values, edge):
    values = np.array(values)
    values = np.where(abs(values) < 2.0**-20, 0.0, values.clip(-(2.0**44), 2.0**44))
    edge = 0.0 if abs(edge) < 2.0**-20 else min(max(edge, -(2.0**44)), 2.0**44)
    np.testing.assert_array_equal(number_codes(values) <= last_codes([edge], dates=False), values <= edge)


@given(numbers, numbers)
@settings(deadline=None)
def test_a_code_is_larger_than_that_of_an_edge_if_the_number_is_above_the_last_one_of_that_code(values, edges):
    ends = [-np.inf, -(2.0**44), -(2.0**-20), -0.0, 0.0, 5e-324, 2.0**-20, np.nextafter(2.0**-20, 1), 2.0**44, np.inf]
    values, edges = np.array([*values, *ends]), np.array([*edges, *ends])
    with np.errstate(over="ignore"):
        values = np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    larger = number_codes(values)[:, np.newaxis] > number_codes(edges)
    np.testing.assert_array_equal(values[:, np.newaxis] > last_numbers(edges), larger)


@given(numbers)
@settings(deadline=None)
def test_numbers_have_codes_of_their_own_but_for_the_smallest_and_the_largest(values):
    values, codes = np.array(values), number_codes(np.array(values))
    again = numbers_of(codes)
    usual = (values == 0) | ((abs(values) > 2.0**-20) & (abs(values) < 2.0**44))
    np.testing.assert_array_equal(again[usual], values[usual])
    np.testing.assert_array_equal(number_codes(again), codes)


def test_codes_of_numbers_lie_between_those_of_dates_and_that_of_a_missing_cell():
    codes = number_codes(np.array([-np.inf, -(2.0**44), -1.0, 0.0, 1e-9, 1.0, np.nextafter(1, 2), 2.0**44, np.inf]))
    assert (np.diff(codes) >= 0).all()
    assert (codes[0], codes[-1]) == (DATES, MISSING - 1)
    assert number_codes(np.array([0.0, -0.0, np.nan])).tolist() == [ZERO, ZERO, MISSING]


def test_a_cell_of_a_table_is_in_one_cell_of_the_survey():
    numbers, days = survey_ends()
    given = np.array([-np.inf, -3.0, -2.5, -(2.0**-20), 0.0, 2.0**-20, 1.0, 1.5, 2.0, 3.0, 3.5, 1e300, np.inf])
    whole = (given == np.floor(given)) & (given != 0)
    expected = np.searchsorted(numbers, given) + np.where(whole, SURVEYED_NUMBERS, 0)
    expected[[0, 3]] = 0, SURVEYED_NUMBERS // 2  # the least number has a code with fractions, -2^-20 that of zero
    counts = [survey_cells(number_codes(given[[k]])) for k in range(len(given))]
    assert [each.argmax() for each in counts] == expected.tolist()
    assert all(each.sum() == 1 for each in counts)
    every = np.concatenate([np.arange(DATES), number_codes(given), MISSING + np.arange(4)])  # with three words
    counts = survey_cells(every)
    assert len(counts) == SURVEYED
    assert counts[SURVEYED_MISSING] == 1
    np.testing.assert_array_equal(np.cumsum(counts[SURVEYED_DATES:SURVEYED_MISSING]), [*days + 25568, DATES])
    assert counts.sum() == len(every) - 3


@given(st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2079, 6, 1)), min_size=1, max_size=20))
@settings(deadline=None)
def test_the_survey_counts_dates_by_their_year(dates):
    days = np.array([(each - dt.date(1970, 1, 1)).days for each in dates], float)
    years = np.flatnonzero(survey_cells(date_codes(days))) - SURVEYED_DATES + 1900
    assert years.tolist() == sorted({each.year for each in dates})


@given(st.lists(st.sampled_from([MISSING, FIXED, FIXED + 300, 5, 40_000, 0.5, 3.0, -7.0, 1e5, 1e9, 2.0**40])))
@settings(deadline=None)
def test_compact_cells_are_the_cells(cells):
    codes = np.array([number_codes(np.array([x]))[0] if isinstance(x, float) else x for x in cells], np.int64)
    compact, places = compact_cells(codes)
    np.testing.assert_array_equal(expand_cells(compact, places), codes)
    assert (compact.dtype.itemsize <= 4) == all(not isinstance(x, float) or abs(x) < 2**29 for x in cells)
    assert places == (0.5 in cells and compact.dtype.itemsize <= 4)


@given(st.lists(st.dates(dt.date(1800, 1, 1), dt.date(2200, 1, 1)), min_size=1, max_size=20))
@settings(deadline=None)
def test_dates_have_one_code_as_text_and_as_dates(dates):
    epoch = dt.date(1970, 1, 1)
    days = np.array([(each - epoch).days for each in dates], float)
    codes, words = text_cells(pa.array([each.isoformat() for each in dates], TEXT))
    np.testing.assert_array_equal(codes, date_codes(days))
    assert words == []
    assert ((codes >= 0) & (codes < DATES)).all()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        *[(text, "number") for text in ("12", " 3.5 ", "-4", "+1e5", ".5", "5.", "1e999", "007", "inf", "-inf")],
        *[(text, "date") for text in ("2021-03-01", "2021-03-01 12:30", "2020-02-29T00:00:00Z")],
        *[(text, "missing") for text in ("", " ", "NA", "nan", "?", None, "\\N", "#N/A", "NAN")],
        *[
            (text, "word")
            for text in ("abc", "2021-02-30", "1,5", "infinite", "0x10", "1_000", "ab\u0661\u0662", "12 a", "e5", ".")
        ],
    ],
)
def test_a_text_is_a_number_a_date_a_word_or_missing_by_itself(text, what):
    codes, words = text_cells(pa.array([text], TEXT))
    kind = "date" if codes[0] < DATES else "number" if codes[0] < MISSING else "missing" if codes[0] == MISSING else ""
    assert (kind or "word") == what
    assert words == ([text] if what == "word" else [])


cell = st.one_of(
    st.none(),
    st.floats().map(repr),
    st.integers().map(str),
    st.dates().map(str),
    st.sampled_from(["a", " b ", "NA", "inf"]),
)


@given(st.lists(cell, min_size=2, max_size=8), cell, st.integers(0, 7))
@settings(deadline=None)
def test_one_cell_moves_no_other_cells_code(cells, changed, place):
    place %= len(cells)

    def image(values, dictionary=False):
        array = pa.array(values, TEXT)
        codes, words = text_cells(array.dictionary_encode() if dictionary else array)
        return [words[code - FIXED] if code >= FIXED else int(code) for code in codes]

    other = [changed if k == place else each for k, each in enumerate(cells)]
    before, after = image(cells), image(other)
    assert [each for k, each in enumerate(before) if k != place] == [each for k, each in enumerate(after) if k != place]
    assert image(cells, dictionary=True) == before


def test_a_number_may_mark_what_is_missing_among_texts_that_are_all_numbers():
    array = pa.array(["1", "0", "2.5", "-999"], TEXT)
    codes, words = cells("a", array, ("0", "-999"))
    assert (codes == MISSING).tolist() == [False, True, False, True]
    assert words == []


FORMS = {
    **{"1,234.50": 1234.5, "1.234,50": 1234.5, "-1,234,567": -1234567, "1'234.5": 1234.5, "\u22125.5": -5.5},
    **{"1,234,567.8": 1234567.8, "1.234.567,8": 1234567.8, "1\u00a0234,5": 1234.5, "1\u202f234": 1234},
    **{
        "$1,200": 1200,
        "$1,200.50": 1200.5,
        "-$5": -5,
        "$-5": -5,
        "1.200 \u20ac": 1200,
        "1,50 \u20ac": 1.5,
        "\u00a35": 5,
    },
    **{
        "50.2 kg": 50.2,
        "50kg": 50,
        "50,2 kg": 50.2,
        "5%": 5,
        "12.5 %": 12.5,
        "-3 \u00b0C": -3,
        "12 months": 12,
        "5 m": 5,
    },
    **{"13:05": 13 + 5 / 60, "1:05 pm": 13 + 5 / 60, "12:30 AM": 0.5, "00:00:36": 0.01, "9:00": 9, "7.5 h": 7.5},
    **{"1.234,56-": -1234.56, "12.50-": -12.5, "5.138,23 EUR": 5138.23, "CHF 1'200.00": 1200, "EUR 5": 5},
    **{"1.086.332 \u20ac": 1086332, "1.234.567 kg": 1234567, "\u20b95": 5, "R$ 1.234,56": 1234.56, "Rs.500": 500},
    **{"1,234 USD": 1234, "($1,234)": -1234, "-5 z\u0142": -5, "45y": 45, "45 yo": 45, "5.5 mmol/L": 5.5},
    **{"25:00": 25, "45:30": 45.5, "100:30:00": 100.5, "4:30/km": 4.5, "4:30 min/km": 4.5},
    **{
        "48.2082 N": 48.2082,
        "48,2082 N": 48.2082,
        "16.525 W": -16.525,
        "16\u00b030'36\"S": -16.51,
        "16\u00b030\u2032E": 16.5,
    },
    **{"8.7k": 8700, "19M": 19e6, "-1,5K": -1500, "\u20ac110.5M": 110.5e6, "$1.234M": 1.234e6, "-$5bn": -5e9},
    **{"\u00a32.5m": 2.5e6, "2 million": 2e6, "5.5M EUR": 5.5e6, "$3 billion": 3e9, "5kn": 5},
    **{"5 ft 11 in": 5 + 11 / 12, "5ft 6in": 5.5, "7 lb 4 oz": 7.25, "3 years 6 months": 3.5, "8h 3m": 8.05},
    **{"13h30": 13.5, "2 hrs, 15 mins": 2.25, "1d 12h": 1.5, "5m 30s": 5.5, "1 yr 6 mos": 1.5},
    **{"12,34,567": 1234567, "1,02,345.50": 102345.5, "\u20b9 12,34,567": 1234567, "1.2 crore": 1.2e7, "0.5 lakh": 5e4},
    **{
        "Rs. 20,068/-": 20068,
        "239.-": 239,
        "CHF 1'239.--": 1239,
        "239,- \u20ac": 239,
        "-50.-": -50,
        "1,5 Mio. \u20ac": 1.5e6,
    },
    **{"3 Mrd \u20ac": 3e9, "12 ans": 12, "5 Jahre": 5, "76歳": 76, "1,200円": 1200, "\uffe51,200": 1200},
    **{
        "\u0664\u0665": 45,
        "\u0664\u066c\u0660\u0661\u0664\u066b\u0665": 4014.5,
        "\u06f3\u06f8": 38,
        "\u0669\u0662\u066b\u0665\u066a": 92.5,
        "\uff12\uff13\uff14": 234,
        "-\uff11\uff0c\uff12\uff13\uff14\uff0e\uff15": -1234.5,
        "\u0968\u0966": 20,
    },
    **{"~80": 80, "\u22483.5": 3.5, "~ $1,200": 1200, "~2.5k": 2500, "\u201319.5": -19.5, "1\u2009234": 1234},
}
DAYS = {
    **{"31.12.2020": "2020-12-31", "1.2.2020": "2020-02-01", "2020/12/31": "2020-12-31", "2020.1.5": "2020-01-05"},
    **{"Jan 05, 2020": "2020-01-05", "January 5 2020": "2020-01-05", "5 Jan 2020": "2020-01-05"},
    **{"05-Jan-2020": "2020-01-05", "5. May 2020": "2020-05-05", "Sept 1, 2019": "2019-09-01"},
    **{"2020m3": "2020-03-01", "2020M12": "2020-12-01", "2020-H2": "2020-07-01", "H1 2020": "2020-01-01"},
    "2020H2": "2020-07-01",
    **{
        "2020年3月1日": "2020-03-01",
        "2020年3月": "2020-03-01",
        "2020년 3월 1일 10:30": "2020-03-01",
        "２０２０年３月１日": "2020-03-01",
    },
    **{
        "2020. 03. 01.": "2020-03-01",
        "1. 3. 2020": "2020-03-01",
        "\u0662\u0660\u0662\u0660/\u0660\u0663/\u0660\u0661": "2020-03-01",
    },
    **{"31.12.2020 13:05": "2020-12-31", "Jan 05, 2020, 9:00 AM": "2020-01-05"},
}
WORDS = [
    *(
        "100 ABC",
        "ABC 100",
        "1.234,50 XYZ",
        "12 DEC",
        "1,234",
        "24.357.",
        "01/05/2020",
        "31/12/2020",
        "05-01-2020",
        "2a",
        "3h",
        "12 a",
        "500-",
        "13:61",
        "13:05 pm",
    ),
    *(
        "31.02.2020",
        "Foo 05, 2020",
        "1,23,45",
        "1.2.3",
        "kg",
        "5 kgs",
        "120/80",
        "12E",
        "7.5 W",
        "5 W/",
        "99:60",
        "EUR",
        "50 kg 3",
        "$",
        "1:2",
        "5m",
        "5B",
        "8h",
        "13h5",
        "$1,200k",
        "~1,234",
        "~",
        "10\u201320",
        "5'11\"",
        "A 5",
        "192.168.1.1",
    ),
    *("1,234 kg", "5 5", "10.000.000", "0:0:0", "Foo 2020", "12,5", "2020-13-01", "$1,2345"),
]


@pytest.mark.parametrize("text", [*FORMS, *DAYS, *WORDS])
def test_forms_that_mean_the_same_everywhere_are_read_by_the_cell_alone(text):
    codes, words = text_cells(pa.array(["x", f" {text} ", "7", None], TEXT))
    if text in FORMS:
        expected = number_codes(np.array([FORMS[text]]))[0]
    elif text in DAYS:
        expected = date_codes(np.array([DAYS[text]], "M8[D]").astype(np.float64))[0]
    else:
        expected = FIXED + words.index(text)
    assert codes[1] == expected
    assert (text in words) == (text in WORDS)


PIECES = (
    *(
        "~",
        "\u2248",
        "+",
        "-",
        "\u2212",
        "\u2013",
        "$",
        "\u20ac",
        "\xa3",
        "\u20b9",
        " ",
        "\xa0",
        ".",
        ",",
        "(",
        ")",
        "[",
        "%",
    ),
    *(
        "'",
        '"',
        ":",
        "EUR",
        "CHF",
        "US$",
        "R$",
        "kr",
        "kr.",
        "Rs",
        "z\u0142",
        "K\u010d",
        "kg",
        "m2",
        "g",
        "h",
        "k",
        "K",
        "m",
    ),
    *("bn", " million", "P", "T", "D", "H", "ft", "in", "N", "W", "am", "pm", "days", "min", "inf", "05", "1", "12"),
    *("1,234", "1.234", ",5", ".5", "1,234.5", "1.234,56"),
)


def test_a_number_that_begins_with_a_letter_begins_with_a_currency(rng):
    """So other words need not be compared with the long pattern of numbers."""
    joined = ["".join(rng.choice(PIECES, rng.integers(1, 7))).strip() for _ in range(20_000)]
    array = pa.array(joined, TEXT)
    named = kinds(*_text_buffers(array), _MARKS)[0] == NAMED
    numbers = pc.match_substring_regex(array, NUMBER).to_numpy(zero_copy_only=False)
    found = [text for text, number in zip(joined, named & numbers, strict=True) if number]
    assert len(found) > 50
    assert all(map(begins_with_money, found))


@pytest.mark.parametrize(
    "text", ["1", "-.5", "+1e3", "inf", "-inf", "2020-01-31", "31.12.2020", "Jan 05, 2020", "$1,200", "1:05 pm"]
)
def test_a_lone_number_or_date_among_words_is_read(text):
    codes, words = text_cells(pa.array([text, "infinite", "word", None], pa.large_string()))
    assert codes[0] < MISSING
    assert words == ["infinite", "word"]


@pytest.mark.parametrize("digits", [300, 400, 5000])
@pytest.mark.parametrize(
    "form",
    [
        *(
            "{} days 13:05:00",
            "-{} days, 1:00:00",
            "1 days 00:00:00.{}",
            "P{}DT{}H",
            "13:05:00.{}",
            "({}, 10]",
            "${}bn",
        ),
        *("~{}k", "({})", "{}.50-", "{} kg", "12.{} N", "{} ft 1 in", "5 ft 1.{} in", "1e{}", "{}-01-01", "5 Jan {}"),
    ],
)
def test_no_number_of_digits_is_too_large_to_be_read(form, digits):
    text = form.replace("{}", "9" * digits)
    codes, words = text_cells(pa.array([text, "x", "7"], TEXT))
    assert codes[2] == number_codes(np.array([7.0]))[0]
    assert codes[1] == FIXED + words.index("x")


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=200, unique=True),
    st.lists(st.floats(allow_nan=True), max_size=50),
    st.booleans(),
)
@settings(deadline=None)
def test_the_place_of_a_cell_is_the_number_of_edges_below_it(edges, values, even):
    edges = np.unique(np.linspace(min(edges), max(edges), 150) if even else edges)
    edges = np.where(abs(edges) < 2.0**-20, 0.0, edges)
    values = np.array([*values, *edges[:20], np.nan, -np.inf, np.inf])
    values = np.where(abs(values) < 2.0**-20, 0.0, values)
    codes = np.concatenate([number_codes(values), [0, DATES - 1, MISSING, FIXED, FIXED + 7]])
    places, size, _ = places_of(np.unique(edges), None)
    expected = np.where(np.isnan(values), size, np.searchsorted(np.unique(edges), values))
    np.testing.assert_array_equal(places.take(codes), [*expected, *[size] * 5])


def test_numbers_of_a_message_may_begin_at_any_byte():
    values = np.array([-3.5, 0.0, 2.0, np.nan])
    shifted = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:].view(np.float64)
    assert not shifted.flags.aligned
    assert number_codes(shifted).tolist() == number_codes(values).tolist()
