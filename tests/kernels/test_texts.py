"""What texts are by their form, beside regular expressions and the calendar of Python."""

import datetime
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast.kernels import texts

MARKS = ("", "NA", "none", "é")
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf)")
DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ].*)?")
FORM = re.compile(r"(?s)(?=.*([0-9]|inf))([-+.0-9$€£¥~\u2212\u2013\u2248(\[]|P[0-9T])")
NAMED = re.compile(r"(?s)(?=.*[0-9])([A-Za-z]|[^\x00-\x7f])")
SIGNS = "05e.+-/$€£¥~\u2212\u2013\u2248([P TNz\n\0é\u00a0\u2003\ud7ff\U0010ffff"
PIECES = [*SIGNS, "inf", "2024-02-29", "NA", "1999-12-31"]


def arrow(words):
    encoded = ["".join(word).encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)])
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def slow(word):
    """The kind of a text and its day."""
    word = word.strip()
    if word in MARKS:
        return texts.MISSING, 0
    if NUMBER.fullmatch(word):
        return texts.NUMBER, 0
    if (found := DAY.fullmatch(word)) and found[1] != "0000":
        try:
            day = datetime.date(*map(int, found.groups()[:3]))
            return texts.DAY, (day - datetime.date(1970, 1, 1)).days
        except ValueError:
            pass
    return texts.FORM if FORM.match(word) else texts.NAMED if NAMED.match(word) else texts.WORD, 0


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), max_size=30))
def test_kinds_and_days_are_the_slow_twins(words):
    kind, day, padded = texts.kinds(*arrow(words), None, texts.pack(MARKS))
    assert [*zip(kind.tolist(), day.tolist(), strict=True)] == [*map(slow, words)]
    assert padded == any(word != word.strip() for word in words)


def test_every_day_of_ten_thousand_years_is_counted():
    days = np.arange("0001-01-01", "10000-01-01", dtype="M8[D]")[::61]
    kind, day, _ = texts.kinds(*arrow(days.astype(str).tolist()), None, texts.pack(()))
    assert (kind == texts.DAY).all()
    assert (day == days.astype(np.int64)).all()
    leap = [
        "0000-01-01",
        "0000-02-29",
        "0000-12-31",
        "0001-01-01",
        "1900-02-29",
        "2000-02-29",
        "2021-02-29",
        "2021-00-01",
    ]
    kind, day, _ = texts.kinds(*arrow(leap), None, texts.pack(()))
    assert day[kind == texts.DAY].tolist() == [-719528, -719469, -719163, -719162, 11016]


def test_blanks_are_those_of_python():
    assert not any(chr(k).isspace() for k in range(0x3100, sys.maxunicode + 1))
    letters = [*map(chr, range(0x3100))]
    for form in ("{}5", "5{}"):
        kind, _, _ = texts.kinds(*arrow(map(form.format, letters)), None, texts.pack(()))
        part = [*"0123456789.", *("+-" if form == "{}5" else "")]
        assert (kind == texts.NUMBER).tolist() == [each in part or each.isspace() for each in letters]


def test_a_text_is_read_by_itself_and_nulls_are_missing(rng):
    words = ["1", "b", "2020-01-01", " NA", "5 kg", "May 5"]
    alone = [texts.kinds(*arrow([word]), None, texts.pack(MARKS))[0][0] for word in words]
    assert alone == [texts.NUMBER, texts.WORD, texts.DAY, texts.MISSING, texts.FORM, texts.NAMED]
    chosen, present = rng.integers(len(words), size=500), rng.random(500) < 0.5
    kind, day, _ = texts.kinds(*arrow([words[k] for k in chosen]), present, texts.pack(MARKS))
    assert (kind == np.where(present, np.array(alone)[chosen], texts.MISSING)).all()
    assert (day[kind == texts.DAY] == 18262).all()


def test_bytes_that_are_no_utf8_are_read_within_their_text():
    for broken in (b"\xc2", b"\xe2\x80", b"\xe2", b"\x80", b"\xff5", b"\xe2\x82", b"5\xe2\x80"):
        for after in (b"", b"\xa0", b"\x80\x80"):
            text = np.frombuffer(broken + after, np.uint8)
            kind, _, _ = texts.kinds(text, np.array([0, len(broken)]), None, texts.pack(MARKS))
            assert kind[0] in (texts.WORD, texts.NAMED, texts.FORM)


def test_no_texts_have_no_kinds():
    kind, day, padded = texts.kinds(np.empty(0, np.uint8), np.zeros(1, np.int64), None, texts.pack(MARKS))
    assert (len(kind), len(day), padded) == (0, 0, False)


@pytest.mark.parametrize("ends", [[], [-1, 2], [0, 5], [0, 3, 2, 4], [0, 2**62]])
def test_ends_that_leave_the_bytes_are_refused(ends):
    with pytest.raises(ValueError, match="ends must rise"):
        texts.kinds(np.zeros(4, np.uint8), np.array(ends, np.int64), None, texts.pack(MARKS))


def test_what_does_not_fit_is_refused():
    text, ends = arrow(["a", "b"])
    with pytest.raises(ValueError, match=r"present must have shape \(2,\), got \(3,\)"):
        texts.kinds(text, ends, np.ones(3, np.bool_), texts.pack(MARKS))
    with pytest.raises(TypeError, match="present must be an ndarray of bool or None"):
        texts.kinds(text, ends, np.ones(2, np.uint8), texts.pack(MARKS))
    with pytest.raises(ValueError, match="marks must have at most 7 bytes, got one of 8"):
        texts.pack(["missing", "missing?"])
    with pytest.raises(TypeError, match="marks must be texts"):
        texts.pack([None])
