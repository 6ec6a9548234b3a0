"""Marks of parts: whatever changes in a table changes its mark, and nothing else does."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from dpfast.parts.marks import AsRead
from dpfast.tables import CodeTable


def mark(table):
    return AsRead((table, None)).mark


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["array"].__setitem__((1, 0), 9),
        lambda t: t.update(array=t["array"].astype(np.float32)),
        lambda t: t.update(array=t["array"].reshape(2, 3)),
        lambda t: t["objects"].__setitem__(1, 1),
        lambda t: t.update(frame=t["frame"].rename(columns={"a": "c"})),
        lambda t: t.update(frame=t["frame"].assign(a=pd.array([1, None, 3], dtype="Int64"))),
        lambda t: t.update(frame=t["frame"].iloc[::-1]),
        lambda t: t.update(sparse=sp.csr_array([[0, 0, 1]])),
        lambda t: t.update(arrow=pa.table({"a": [1, None]})),
        lambda t: t.update(arrow=pa.table({"b": [None, 1]})),
        lambda t: t.update(codes=CodeTable([[0, 1], [1, 0]], [2, 2])),
        lambda t: t.update(texts=["ab", "c", "d"]),
    ],
)
def test_whatever_changes_in_a_table_changes_its_mark(change):
    def tables():
        return {
            "array": np.arange(6.0).reshape(3, 2),
            "objects": np.array([1, True, "a"], dtype=object),
            "frame": pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "y"]}),
            "sparse": sp.csr_array([[0, 1, 0]]),
            "arrow": pa.table({"a": [None, 1]}),
            "codes": CodeTable([[0, 1], [1, 1]], [2, 2]),
            "texts": ["a", "bc", "d"],
        }

    before, same, other = (tables() for _ in range(3))
    change(other)
    assert AsRead((before,)).mark == AsRead((same,)).mark != AsRead((other,)).mark


BIG = 2**53  # it and the next integer are one float
TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(16))
HOLDS_BIG = {
    "integers": lambda v: pa.array([v, None]),
    "unsigned": lambda v: pa.array([v, None], pa.uint64()),
    "chunks": lambda v: pa.chunked_array([[v], [None]]),
    "table": lambda v: pa.table({"a": [v, None]}),
    "dictionary": lambda v: pa.array([v, None]).dictionary_encode(),
    "chunks of dictionaries": lambda v: pa.chunked_array([pa.array([v, None]).dictionary_encode()] * 2),
    "lists": lambda v: pa.array([[v, None], None]),
    "structs": lambda v: pa.array([{"a": v}, None]),
    "instants": lambda v: pa.array([v, None], pa.timestamp("us", "UTC")),
    "durations": lambda v: pa.array([v, None], pa.duration("ns")),
    "intervals": lambda v: pa.array([(1, 2, v), None], pa.month_day_nano_interval()),
    "decimals": lambda v: pa.array([Decimal(v), None], pa.decimal128(20)),
    "wide decimals": lambda v: pa.array([Decimal(v), None], pa.decimal256(40, 2)),
    **{str(kind): lambda v, kind=kind: pa.array([str(v), None], kind) for kind in TEXTS},
    "bytes": lambda v: pa.array([v - BIG, None], pa.int8()),
    "truth values": lambda v: pa.array([v == BIG, None]),
    "half floats": lambda v: pa.array([v - BIG, None], pa.float16()),
    "pandas, Int64": lambda v: pd.Series([v, None], dtype="Int64"),
    "pandas, Arrow": lambda v: pd.Series([v, None], dtype="int64[pyarrow]"),
    "pandas, objects": lambda v: pd.Series([v, None], dtype=object),
    "pandas, texts": lambda v: pd.Series([str(v), None]),
    "pandas, categories": lambda v: pd.Series(pd.Categorical([v, None])),
    "pandas, categories of any type": lambda v: pd.Series(pd.Categorical([v, "a", None])),
    "pandas, frame": lambda v: pd.DataFrame({"a": pd.array([v, None], "Int64"), "b": [1, 2]}),
    "pandas, zones": lambda v: pd.Series(pd.to_datetime([v, v]).tz_localize("UTC")),
    "pandas, sparse": lambda v: pd.Series(pd.arrays.SparseArray([v, 0])),
    "polars": lambda v: pl.DataFrame({"a": [v, None], "b": [1.5, 2]}),
    "polars, a column": lambda v: pl.Series([v, None]),
    "polars, categories": lambda v: pl.DataFrame({"a": pl.Series([str(v), None], dtype=pl.Categorical)}),
    "dictionary of lists": lambda v: {"a": [v, None, 1.5]},
    "list": lambda v: [v, 1.5],
    "wide floats": lambda v: np.array([v, 1], np.longdouble),
}


@pytest.mark.parametrize("kind", HOLDS_BIG)
def test_integers_that_are_one_float_have_two_marks(kind):
    make = HOLDS_BIG[kind]
    if kind == "wide floats" and np.longdouble(BIG + 1) == np.longdouble(BIG):
        pytest.skip("floats are no wider here")
    assert mark(make(BIG)) == mark(make(BIG)) != mark(make(BIG + 1))


def test_chunks_and_dictionaries_and_what_lies_under_gaps_change_no_mark():
    texts = pa.array(["x", "yy", None, "", "zzz"] * 3)
    chunks = pa.chunked_array([texts[:4], texts[4:7], texts[7:]])
    shifted = pa.concat_arrays([pa.array(["qq"]), texts])[1:]
    assert len({mark(each) for each in (texts, chunks, shifted, texts.dictionary_encode())}) == 1
    assert mark(pa.table({"a": texts})) == mark(pa.table({"a": chunks}))
    plain = pa.array([1, None, 3])
    other = pa.Array.from_buffers(pa.int64(), 3, [plain.buffers()[0], pa.py_buffer(np.array([1, 99, 3]))])
    assert mark(plain) == mark(other)


def test_tables_without_rows_and_columns_of_gaps_have_marks():
    empty = [pa.array([], kind) for kind in (pa.int64(), pa.string(), pa.binary(), pa.null())]
    gaps = [pa.nulls(n, kind) for n in (1, 2) for kind in (pa.int64(), pa.string(), pa.null())]
    assert len({mark(each) for each in [*empty, *gaps]}) == 10
    assert mark(pa.chunked_array([], pa.int64())) == mark(empty[0])
