"""Words of a column are counted in bounded memory: how they are held changes neither counts nor codes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from people import pieces
from sklearn.base import clone

import dpfast
from dpfast.files.encodings import FileParts
from dpfast.mechanisms.opening import OpeningHistogram
from dpfast.parts import MemoryParts
from dpfast.parts.blocks import Spool, Storage
from dpfast.tables import parted, words
from dpfast.tables.arrow import ArrayStore
from dpfast.tables.cells import LONGEST, text_cells
from dpfast.tables.columns import Category
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding
from dpfast.tables.schema import Schema
from dpfast.tables.words import Words

SCHEMA = Schema([Discovered("word")])


@pytest.fixture(params=["memory", "file"])
def storage(request, tmp_path):
    return ArrayStore if request.param == "memory" else Storage(Spool(0, tmp_path))


def column(n=400, seed=0):
    rng = np.random.default_rng(seed)
    texts = [f"wört {k}" for k in rng.geometric(0.02, n)]
    texts[::7] = ["3.5", None] * (len(texts[::7]) // 2) + ["2001-01-01"] * (len(texts[::7]) % 2)
    return pa.array(texts, pa.large_string())


def encoded(array, storage, step):
    encoding = Encoding(SCHEMA, storage=storage)
    for start in range(0, len(array), step):
        encoding.add(pa.table({"word": array.slice(start, step)}))
    return encoding


def test_counts_are_the_same_however_few_words_are_held(storage, monkeypatch):
    expected = encoded(column(), ArrayStore, 400).counts()
    monkeypatch.setattr(words, "HELD", 5)
    counts = encoded(column(), storage, 13).counts()
    assert dict(counts.words[0].items()) == dict(expected.words[0])
    assert [*counts.words[0].items()] == sorted(expected.words[0].items())
    assert counts.fixed[0][0].tolist() == expected.fixed[0][0].tolist()


def test_codes_are_the_same_however_few_words_are_held(storage, monkeypatch):
    found = SCHEMA.with_facts({"word": {"cells": True, "values": ("wört 1", "wört 9"), "groups": 64}})
    whole = encoded(column(), ArrayStore, 400)
    rows = np.random.default_rng(1).random(400) < 0.5
    expected = whole.table(found), whole[rows].table(found), whole[50:90].table(found)
    monkeypatch.setattr(words, "HELD", 5)
    parts = encoded(column(), storage, 13)
    assert (parts.table(found), parts[rows].table(found), parts[50:90].table(found)) == expected


def test_a_dictionary_never_holds_more_than_its_limit_and_a_block(monkeypatch):
    monkeypatch.setattr(words, "HELD", 50)
    held = Words(ArrayStore)
    most = 0
    for start in range(0, 10_000, 25):
        held.append([f"{k}" for k in range(start, start + 25)], np.ones(25))
        most = max(most, len(held._place))
    assert most <= 50
    assert len(held) == 10_000
    assert sum(rows for _, rows in held.counts().items()) == 10_000


def test_words_by_their_numbers_are_those_that_were_given_them(storage, monkeypatch):
    monkeypatch.setattr(words, "HELD", 5)
    held = Words(storage)
    for start in range(0, 60, 3):
        held.append([f"wört {k}" for k in range(start, start + 3)], np.arange(start + 1, start + 4))
    every, rows = held.some(0, len(held))
    assert every == [*held] == [f"wört {k}" for k in range(60)]
    assert rows.tolist() == [*range(1, 61)]
    for start, stop in ((0, 1), (4, 23), (10, 10), (57, 60)):
        some, theirs = held.some(start, stop)
        assert (some, theirs.tolist()) == (every[start:stop], [*range(start + 1, stop + 1)])


def test_the_same_words_are_published_however_few_are_held(monkeypatch):
    opening = OpeningHistogram(1.0, 1, 4)
    expected = opening.words(encoded(column(), ArrayStore, 400).counts().words[0], 0)
    monkeypatch.setattr(words, "HELD", 5)
    assert opening.words(encoded(column(), ArrayStore, 13).counts().words[0], 0) == expected != {}


@pytest.mark.parametrize("parts", [1, 4])
def test_words_of_parts_are_told_and_held_so_many_at_a_time(parts, monkeypatch):
    """The last column has a word of its own in every row; each part has words that no other part has."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"word": [f"w{k}" for k in rng.geometric(0.3, 600)], "name": [f"u{k}" for k in range(600)]})
    frame["buys"] = np.where(np.arange(600) % 3, "yes", "no")
    columns = [[Discovered("word"), Discovered("name")], [Discovered("word"), Category("name")]]
    expected = [
        dpfast.HalfspaceClassifier(4, schema=Schema(each, label="buys"), random_state=0).fit(frame) for each in columns
    ]
    told, held = [], []
    each, append = MemoryParts.each, Words.append

    def telling(self, question, *public, own=None):
        answers = each(self, question, *public, own=own)
        if question.__name__ == "_some_words":
            told.append(sum(len(some) for answer in answers for _, some, _ in answer))
        return answers

    def holding(self, some, rows):
        numbers = append(self, some, rows)
        if isinstance(self._storage, Storage):  # those that come from all parts
            held.append(len(self._place))
        return numbers

    monkeypatch.setattr(words, "HELD", 20)
    monkeypatch.setattr(parted, "HELD", 20)
    monkeypatch.setattr(MemoryParts, "each", telling)
    monkeypatch.setattr(Words, "append", holding)
    for model in expected:
        told.clear()
        held.clear()
        parted_model = clone(model).fit(MemoryParts(pieces(frame, parts=parts)))
        assert parted_model.encoder_.schema_ == model.encoder_.schema_
        np.testing.assert_array_equal(parted_model.coef_, model.coef_)
        assert sum(told) >= 600
        assert max(told) == 20
        assert max(held) <= 2 * 20


def test_a_model_of_a_file_does_not_depend_on_how_many_words_are_held(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [f"w{rng.geometric(0.3)},u{k},{'yes' if k % 3 else 'no'}" for k in range(600)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["word,name,buys", *lines]) + "\n")

    def fitted(memory):
        model = dpfast.HalfspaceClassifier(4, schema="discover", random_state=0)
        return model.fit(FileParts(path, memory=memory), "buys", classes=["no", "yes"])

    expected = fitted(1 << 30)
    monkeypatch.setattr(words, "HELD", 10)
    few = fitted(0)
    assert few.encoder_.schema_ == expected.encoder_.schema_
    np.testing.assert_array_equal(few.coef_, expected.coef_)


def test_a_word_has_bounded_length_and_long_words_stay_apart():
    long = ["a" * LONGEST, "a" * (LONGEST + 1), "a" * 10_000_000, "a" * 10_000_000 + "b"]
    codes, found = text_cells(pa.array(long, pa.large_string()))
    assert found[0] == long[0]
    assert max(map(len, found)) <= LONGEST
    assert len({*found}) == len({*codes.tolist()}) == 4
    alone = [text_cells(pa.array([each], pa.large_string()))[1][0] for each in long]
    assert found == alone, "a cell's word follows from the cell alone"


def test_words_of_no_row_are_not_kept():
    encoding = encoded(pa.array(["a", "b", "c", "b"], pa.large_string()), ArrayStore, 4)
    picked = encoding[np.array([False, True, False, True])]
    assert [*picked._stores[0][0].words] == ["b"]
    assert picked.counts().words[0] == {"b": 2}
