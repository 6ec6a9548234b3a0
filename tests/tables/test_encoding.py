import datetime as dt
import decimal
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast import TableEncoder
from dpfast.parts.blocks import Spool, Storage
from dpfast.tables import Boolean, Category, Date, Label, Numeric, Schema, sources
from dpfast.tables.arrow import ArrayStore, Fault
from dpfast.tables.cells import number_codes
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding, encode
from dpfast.tables.labels import labels_that_occur

SCHEMA = Schema(
    [
        Numeric("age", 0, 120, edges=[18, 37.5, 65], nullable=True),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("smokes", nullable=True),
        Date("seen", "2020-01-01", "2020-12-31", edges=4, nullable=True),
    ],
    label=Label("buys", ["no", "yes"]),
    missing_values=["", "?"],
)
ROWS = [
    ["17", "clerk", "true", "2020-12-31", "yes"],
    ["18", " smith ", "False", "2020-01-01", "no"],
    [" 18.5 ", "baker", "1", "2020-02-29 23:59:59", "no"],
    ["?", "?", "?", "?", " yes"],
    ["-3e2", "Clerk", "0", "1999-07-04", "yes"],
    ["", "", "TRUE", "2024-12-25", "no"],
    ["65", "clerk", "true", "2020-06-30", "no"],
    ["1e300", "smith", "true", "2020-12-07T01:02:03", "no"],
]
CODES = [
    [0, 0, 1, 0, 3, 11],
    [0, 1, 0, 3, 2, 0],
    [1, 2, 1, 3, 5, 1],
    [4, 3, 2, 4, 7, 12],
    [0, 2, 0, 3, 6, 6],
    [4, 3, 1, 0, 2, 11],
    [2, 0, 1, 2, 1, 5],
    [3, 1, 1, 0, 0, 11],
]


def texts(rows=ROWS):
    return dict(zip([*SCHEMA.names, "buys"], map(list, zip(*rows, strict=True)), strict=True))


def codes(table, schema=SCHEMA):
    return encode(table, schema).toarray()


def as_objects(columns):
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


FORMS = {
    "lists": lambda columns: columns,
    "arrays of objects": as_objects,
    "arrays of text": lambda columns: {name: np.array(values) for name, values in columns.items()},
    "a pandas frame": pd.DataFrame,
    "a pandas frame of objects": lambda columns: pd.DataFrame(as_objects(columns)),
    "a pandas frame of categories": lambda columns: pd.DataFrame(columns).astype("category"),
    "a polars frame": pl.DataFrame,
    "an Arrow table": pa.table,
    "an Arrow table of many chunks": lambda columns: pa.concat_tables(
        [pa.table(columns).slice(k, 3) for k in range(0, 9, 3)]
    ),
    "an Arrow table of dictionaries": lambda columns: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in columns.items()}
    ),
    "an Arrow batch": lambda columns: pa.RecordBatch.from_pydict(columns),
    "columns in another order, and more": lambda columns: {"more": [0] * 8, **dict(reversed(columns.items()))},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_codes(form):
    np.testing.assert_array_equal(codes(FORMS[form](texts())), CODES)


def test_types_are_read_as_the_texts_that_stand_for_them():
    columns = {
        "age": [17, 18, 18.5, None, -300.0, np.nan, 65, np.inf],
        "job": pd.Categorical(["clerk", "smith", "baker", None, "Clerk", None, "clerk", "smith"]),
        "smokes": np.array([True, False, True, None, False, True, True, True], dtype=object),
        "seen": pd.to_datetime(
            [row[3] if row[3] != "?" else None for row in ROWS], format="mixed"
        ),  # midnights and other times of day
    }
    np.testing.assert_array_equal(codes(pd.DataFrame(columns)), CODES)
    np.testing.assert_array_equal(codes(pl.from_pandas(pd.DataFrame(columns))), CODES)
    days = [None if stamp is pd.NaT else stamp.date() for stamp in columns["seen"]]
    np.testing.assert_array_equal(codes({**columns, "seen": days}), CODES)


@pytest.mark.parametrize(
    "values", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], pa.array([decimal.Decimal(k) for k in (1, 2, 3)])]
)
def test_values_that_are_numbers_are_their_texts(values):
    schema = Schema([Category("soil", [2, 1]), Numeric("depth", 0, 3, edges=3)])
    np.testing.assert_array_equal(codes({"soil": values, "depth": values}, schema), [[1, 0], [0, 1], [2, 2]])


def test_a_mark_that_is_a_number_counts_in_columns_of_numbers():
    schema = Schema([Numeric("x", 0, 10, edges=2, nullable=True)], missing_values=["-999", "?"])
    for values in ([1, -999, 9], [1.0, -999.0, 9.0], ["1", "-999", "9"]):
        np.testing.assert_array_equal(codes({"x": values}, schema), [[0], [2], [1]])


def test_truths_are_as_declared():
    schema = Schema([Boolean("x", ["no", "yes"])])
    np.testing.assert_array_equal(codes({"x": ["yes", " no", "yes"]}, schema), [[1], [0], [1]])
    with pytest.raises(Fault, match="row 2, column 'x' holds a value that is not declared; it is 'no' or 'yes'"):
        codes({"x": ["yes", "maybe"]}, schema)


def test_truth_values_may_be_written_as_numbers_with_a_decimal_point():
    texts = ["1.0", "0.00", " 0. ", "1", "TRUE", "False", ".0"]
    schema = Schema([Boolean("x")])
    assert TableEncoder(schema).fit_transform({"x": texts}).column(0).tolist() == [1, 0, 0, 1, 1, 0, 0]
    for text in ("1.5", "10", "2.0", "00", ".", "1.0.0"):
        with pytest.raises(ValueError, match="it is true or false"):
            TableEncoder(schema).fit_transform({"x": [text]})


def test_dates_are_written_as_declared():
    schema = Schema([Date("x", "2020-01-01", "2020-12-31", parts="month", format="%d.%m.%Y", nullable=True)])
    np.testing.assert_array_equal(codes({"x": ["01.02.2020", None, "31.12.1900"]}, schema), [[1], [12], [11]])
    with pytest.raises(Fault, match=r"row 2, column 'x' holds no date as %d.%m.%Y"):
        codes({"x": ["01.02.2020", "2020-02-01"]}, schema)


def test_weekdays_and_months_are_those_of_the_calendar():
    schema = Schema([Date("x", "1900-01-01", "2100-01-01", parts=["weekday", "month"])])
    days = [dt.date(1899, 3, 1) + dt.timedelta(97 * k) for k in range(1000)]
    np.testing.assert_array_equal(codes({"x": days}, schema), [[day.weekday(), day.month - 1] for day in days])


def test_more_than_254_values_take_two_bytes():
    values = [str(k) for k in range(300)]
    encoding = Encoding(Schema([Category("x", values), Numeric("y", 0, 1, edges=1000)]))
    encoding.add({"x": [*values, "none"], "y": np.linspace(0, 1, 301)})
    table = encoding.table()
    assert [table.column(j).dtype for j in range(2)] == [np.uint16, np.uint16]
    np.testing.assert_array_equal(table.column(0), np.arange(301))
    assert table.column(1).max() == 999


def test_blocks_give_the_codes_of_the_whole():
    encoding = Encoding(SCHEMA, SCHEMA.label)
    for block in (slice(0, 3), slice(3, 3), slice(3, 8)):
        encoding.add(texts(ROWS[block]) if ROWS[block] else {name: [] for name in texts()})
    table = encoding.table()
    np.testing.assert_array_equal(table.toarray(), CODES)
    assert table.columns == SCHEMA.code_columns
    assert table.names == ["age", "job", "smokes", "seen age", "seen weekday", "seen month"]
    labels = encoding.labels()
    assert labels.tolist() == [row[4].strip() for row in ROWS]
    assert labels[2:4].tolist() == ["no", "yes"]


def test_undeclared_labels_are_those_of_the_rows():
    schema = Schema([Boolean("x")], label="y")
    encoding = Encoding(schema, schema.label)
    encoding.add({"x": [0, 1], "y": [2, 7]})
    encoding.add({"x": [0, 1], "y": [7, 1]})
    labels = encoding.labels()
    assert labels.tolist() == [2, 7, 7, 1]
    assert labels.dtype == np.int64
    assert np.unique(labels).tolist() == [1, 2, 7]


FAULTS = {
    "text among numbers": ("age", "ancient", "row 4, column 'age' holds text where a number is declared"),
    "no date": ("seen", "soon", "row 4, column 'seen' holds no date as YYYY-MM-DD"),
    "no day of the calendar": ("seen", "2020-02-30", "row 4, column 'seen' holds no date as YYYY-MM-DD"),
    "neither true nor false": ("smokes", "often", "row 4, column 'smokes' .* not declared; it is true or false"),
    "a label that is not declared": ("buys", "maybe", "row 4, column 'buys' has a label that is not declared; the"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_cell_that_will_not_do_is_refused_by_its_place_and_not_repeated(what):
    name, cell, message = FAULTS[what]
    table = texts()
    table[name][3] = cell
    encoding = Encoding(SCHEMA, SCHEMA.label)
    with pytest.raises(Fault, match=message) as refused:
        encoding.add(table)
    assert (refused.value.column, refused.value.row) == (name, 3)
    assert cell not in str(refused.value)
    again = Encoding(SCHEMA, SCHEMA.label)
    again.add(texts())
    with pytest.raises(Fault, match="row 12"):  # of all rows
        again.add(table)


TABLES = {
    "a column is not there": (
        {"age": [1]},
        "the table lacks columns that the schema declares: 'job', 'smokes', 'seen'",
    ),
    "kinds are mixed": (
        {**texts(), "age": [1, "two", dt.time(1), 4, 5, 6, 7, 8]},
        "'age' mixes kinds of values",
    ),
    "a column of lists": (
        {**texts(), "age": pa.array([[1]] * 8)},
        "column 'age' holds list.* where numbers are declared",
    ),
    "values that are lists": (
        {**texts(), "job": pa.array([[1]] * 8)},
        "column 'job' holds list.* where values are wanted",
    ),
    "dates where numbers are": ({**texts(), "age": [dt.date(2020, 1, 1)] * 8}, "holds date32.* where numbers are"),
    "numbers where dates are": ({**texts(), "seen": [1] * 8}, "'seen' holds int64 where dates are declared"),
    "columns of two lengths": ({**texts(), "age": [1]}, "columns must be of one length, "),
    "one column": (pl.Series("age", [1, 2]), "must be a DataFrame, an Arrow table or a dict of arrays"),
    "a matrix": (np.zeros((3, 4)), "must be a DataFrame, an Arrow table or a dict of arrays"),
    "a name twice": (pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]), "two columns have the name 'a'"),
    "a matrix as a column": ({**texts(), "age": np.zeros((8, 2))}, "column 'age' must be one-dimensional"),
}


@pytest.mark.parametrize("what", TABLES)
def test_a_table_that_will_not_do_is_refused(what):
    table, message = TABLES[what]
    with pytest.raises(ValueError, match=message):
        Encoding(SCHEMA).add(table)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (Numeric("x", 0, 1), [1, None]),
        (Numeric("x", 0, 1), [1.0, np.nan]),
        (Numeric("x", 0, 1), ["1", ""]),
        (Category("x", ["1"]), ["1", ""]),
        (Category("x"), ["1", None]),
        (Boolean("x"), [True, None]),
        (Date("x", "2020-01-01", "2021-01-01"), ["2020-01-01", ""]),
        (Numeric("x", 0, 1), [None, None]),
    ],
    ids=str,
)
def test_a_missing_value_is_refused_where_none_is_declared(column, cells):
    with pytest.raises(Fault, match=r"row \d, column 'x' is missing, and not declared nullable"):
        Encoding(Schema([column])).add({"x": cells})


def test_a_category_without_other_refuses_what_is_not_declared():
    schema = Schema([Category("x", ["a", "b"], other=False)])
    assert codes({"x": ["b", "a"]}, schema).tolist() == [[1], [0]]
    with pytest.raises(Fault, match="row 2, column 'x' holds a value that is not declared; there is no other"):
        codes({"x": ["b", "c"]}, schema)


def test_values_that_are_not_declared_and_that_no_row_has_are_accepted():
    kinds = [str(k) for k in range(256)]
    schema = Schema([Category("kind", kinds, other=False)], label=Label("buys", ["no", "yes"]))
    unused = {"kind": [*kinds, "none"], "buys": ["no", "perhaps", "yes"]}
    table = pd.DataFrame({"kind": ["255", "0"], "buys": ["yes", "no"]})
    table = table.astype({name: pd.CategoricalDtype(values) for name, values in unused.items()})
    read = Encoding(schema, schema.label)
    read.add(table)
    assert (read.table().toarray().tolist(), read.labels().tolist()) == ([[255], [0]], ["yes", "no"])


def test_an_unconfirmed_draft_reads_nothing():
    with pytest.raises(ValueError, match="unconfirmed draft"):
        Encoding(Schema([Numeric("x", 0, 1, unconfirmed=("low",))]))


def test_what_is_to_be_found_is_kept_as_it_is():
    schema = Schema([Numeric("x", nullable=True), Category("y"), Boolean("z")])
    encoding = Encoding(schema)
    encoding.add({"x": [3.0, None], "y": ["a", "b"], "z": [0, 1]})
    encoding.add({"x": ["1", "2"], "y": ["c", "a"], "z": [1, 1]})
    assert encoding.counts().words[1] == {"a": 2, "b": 1, "c": 1}
    found = schema.with_facts({"x": {"low": 0.0, "high": 4.0, "edges": (1.5,)}, "y": {"values": ("b", "a")}})
    np.testing.assert_array_equal(encoding.table(found).toarray().T, [[1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 1]])


cells = {
    "age": st.one_of(st.none(), st.floats(-10, 200).map(repr), st.sampled_from(["18", "37.5", "65", "?", ""])),
    "job": st.one_of(st.none(), st.sampled_from(["clerk", "smith", "?", " clerk", "baker", "x" * 50])),
    "smokes": st.sampled_from([None, "true", "false", "?", "1"]),
    "seen": st.one_of(st.sampled_from([None, "?"]), st.dates(dt.date(1950, 1, 1), dt.date(2050, 1, 1)).map(str)),
}


@given(st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=8), st.fixed_dictionaries(cells), st.data())
@settings(max_examples=60, deadline=None)
def test_one_row_moves_no_other_rows_codes(rows, changed, data):
    i = data.draw(st.integers(0, len(rows) - 1))
    neighbour = [changed if j == i else row for j, row in enumerate(rows)]

    def image(rows):
        return codes(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in cells}))

    before, after = image(rows), image(neighbour)
    assert all((before[j] == after[j]).all() for j in range(len(rows)) if j != i)
    np.testing.assert_array_equal(after[i], image([changed])[0])


@given(
    st.lists(st.floats(-1e9, 1e9) | st.sampled_from([np.inf, -np.inf, 1e308, -1e308]), min_size=1, max_size=9),
    st.integers(2, 40),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_even_edges_are_found_as_by_a_search(numbers, bins, low, width, integer):
    (column,) = Numeric("x", low, low + width, edges=bins, integer=integer).code_columns()
    edges = np.array(column.edges)
    x = np.concatenate([numbers, edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    table = codes({"x": x}, Schema([Numeric("x", low, low + width, edges=bins, integer=integer)]))
    np.testing.assert_array_equal(table[:, 0], np.searchsorted(edges, x))


@pytest.mark.parametrize(("low", "high"), [(0, 1e5), (-10, 1000), (2015, 2017), (-3e300, 1e300), (1e-9, 1e-7)])
def test_fine_edges_are_found_as_by_a_search(low, high, rng):
    column = Numeric("x", low, high, spacing="fine")
    edges = np.array(column.cuts())
    x = np.concatenate([rng.uniform(low, high, 200), edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    x = np.append(x, [np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324])
    np.testing.assert_array_equal(codes({"x": x}, Schema([column]))[:, 0], np.searchsorted(edges, x))


@given(st.floats(-1e6, 1e6), st.integers(2, 300), st.sampled_from(["equal", "logarithmic"]))
@settings(max_examples=100, deadline=None)
def test_a_number_is_above_the_edges_below_its_code_and_at_most_the_next(x, edges, spacing):
    column = Numeric("x", 1, 1e5, edges=edges, spacing=spacing)
    cuts = column.code_columns()[0].edges
    code = codes({"x": [x]}, Schema([column]))[0, 0]
    assert code == sum(edge < x for edge in cuts)


@pytest.mark.parametrize("storage", [ArrayStore, lambda dtype: Spool(1 << 20).array(9, dtype)])
def test_the_codes_of_an_encoding_are_those_of_its_table_and_nobody_can_write_them(storage):
    encoding = Encoding(Schema([Boolean("smokes")]), storage=storage)
    encoding.add({"smokes": [True, False, True]})
    table, kept = encoding.table(), encoding._stores[0][0].read_all()
    assert np.shares_memory(table.column(0), kept)
    assert not table.column(0).flags.writeable


def test_codes_in_a_file_are_not_copied_into_memory():
    encoding = Encoding(Schema([Boolean("smokes")]), storage=lambda dtype: Spool(0).array(9, dtype))
    encoding.add({"smokes": [True, False, True]})
    assert not encoding.table().column(0).flags.owndata


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["a", "b", "", "a"], np.int8),
        (["a", "3", "", "-7"], np.int8),
        (["a", "3.5", "", "-7"], np.int16),
        (["0.5", "0.25", "a", "0.125", "7", ""], np.int16),  # more places, one cell after another
        (["0.5", "3000.5", "a", "0.125"], np.int32),  # which then need more bytes
        (["0.5", "300000000.5", "", "0.125"], np.int64),
        (["500000.5", "0.25", "a", "0.0625", "-1"], np.int64),  # which then need too many
        (["a", "3.5", "", "0.3333333333333333"], np.int64),
        (["0.3333333333333333", "0.5", "a"], np.int64),
    ],
)
def test_cells_are_stored_in_as_few_bytes_as_all_their_codes_need(cells, dtype):
    schema, every = Schema([Discovered("x")]), Encoding(Schema([Discovered("x")]))
    every.add({"x": cells})
    (kept,) = every._stores[0]
    assert kept.read_all()[0].dtype == dtype
    one_by_one = Encoding(schema, storage=Storage(Spool(), 8))
    for cell in cells:
        one_by_one.add({"x": [cell]})
    (other,) = one_by_one._stores[0]
    np.testing.assert_array_equal(other.codes(slice(None)), kept.codes(slice(None)))
    assert other.read_all()[0].dtype == dtype
    assert [*other.words] == [*kept.words]


@pytest.mark.parametrize("storage", [ArrayStore, Storage(Spool(1 << 20), 8), Storage(Spool(0), 8)])
def test_a_table_is_split_column_by_column(storage):
    columns = [Discovered("age"), *SCHEMA.columns[1:]]
    encoding = Encoding(Schema(columns, label=Label("buys"), missing_values=["", "?"]), Label("buys"), storage)
    encoding.add(pd.DataFrame(ROWS, columns=["age", "job", "smokes", "seen", "buys"]))
    mask = np.arange(len(ROWS)) % 3 == 1
    expected = [encoding[~mask], encoding[mask]]
    parts = encoding.split(mask)
    assert encoding._stores == [[None] * len(stores) for stores in parts[0]._stores]
    for part, same in zip(parts, expected, strict=True):
        assert len(part) == len(same)
        assert part.labels().tolist() == same.labels().tolist()
        assert {*part._stores[0][0].words} == {*same._stores[0][0].words}
        np.testing.assert_array_equal(part._stores[0][0].codes(slice(None)), same._stores[0][0].codes(slice(None)))
        for stores, others in zip(part._stores[1:], same._stores[1:], strict=True):
            assert [kept.read_all().tolist() for kept in stores] == [other.read_all().tolist() for other in others]


def frames_of_numbers(rng, n=300_000):
    """Tables of columns of numbers, some of them missing, in several kinds of frames."""
    values = {"a": rng.normal(size=n), "b": rng.normal(size=n).astype(np.float32), "c": rng.integers(0, 9, n) / 4}
    values["a"][rng.random(n) < 0.1] = np.nan
    values |= {"d": rng.integers(-2, 12, n), "e": rng.integers(0, 200, n).astype(np.uint8)}
    frame = pd.DataFrame(values)
    half = pa.Table.from_pandas(frame[: n // 3], preserve_index=False)
    rest = pa.Table.from_pandas(frame[n // 3 :], preserve_index=False)
    strided = np.stack([*values.values()], axis=1, dtype=np.float64)
    return {
        "pandas": frame,
        "arrays": values,
        "Arrow, in chunks, with nulls": pa.concat_tables([half, rest]),
        "Arrow, with NaN": pa.table(values),
        "polars": pl.DataFrame(values),
        "an array": {name: strided[:, j] for j, name in enumerate(values)},
    }


@pytest.mark.parametrize("marks", [("", "9"), ("", "0.25", "-999")])
def test_numbers_of_a_frame_that_stays_are_not_copied_and_have_the_codes_of_a_copy(rng, marks):
    reads = dict.fromkeys("abc", "number") | dict.fromkeys("de", "integer")
    schema = Schema([Discovered(name, reads=each) for name, each in reads.items()], missing_values=marks)
    facts: dict = {key: {"numbers": (-0.5, 0.25), "ends": (-1.0, 1.0), "cells": True} for key in reads}
    for kind, table in frames_of_numbers(rng).items():
        copied, staying = Encoding(schema), Encoding(schema, stay=True)
        copied.add(table)
        tracemalloc.start()
        in_arrow = pa.total_allocated_bytes()
        staying.add(table)
        assert tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - in_arrow < 4 * staying.n, kind
        tracemalloc.stop()
        for of_one, of_other in (
            (copied.counts().fixed, staying.counts().fixed),
            *[[each.cells([((-0.5, 0.25, 1.0), None)] * 5) for each in (copied, staying)]],
        ):
            for one, other in zip(of_one, of_other, strict=True):
                np.testing.assert_array_equal(one, other)
        rows = rng.permutation(staying.n)[:1000]
        for one, other in zip(copied[rows]._stores, staying[rows]._stores, strict=True):
            np.testing.assert_array_equal(one[0].codes(slice(None)), other[0].codes(slice(None)))
        assert copied.table(schema.with_facts(facts)) == staying.table(schema.with_facts(facts)), kind


def test_rows_without_a_label_are_left_out_of_a_frame_that_stays():
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4], "y": ["a", None, "b", ""]})
    encoding = Encoding(Schema([Discovered("x", reads="number")], label=Label("y")), Label("y"), stay=True)
    encoding.add(frame)
    np.testing.assert_array_equal(encoding._stores[0][0].codes(slice(None)), number_codes(np.array([0.1, 0.3])))


def test_columns_whose_codes_are_made_are_no_longer_held():
    schema = Schema([Discovered("x"), Category("c", ["a"])], label=Label("y"))
    encoding = Encoding(schema, Label("y"))
    encoding.add({"x": ["0.5", "b"], "c": ["a", "d"], "y": ["no", "yes"]})
    found = schema.with_facts({"x": {"cells": True, "values": ("b",)}})
    expected = encoding.table(found)
    table = encoding.to_codes(found, labels_that_occur(*encoding.label_numbers(), None))
    assert expected == table.parts.only.X
    assert [len(stores) for stores in encoding._stores] == [0, 1]


def test_memory_that_arrow_needed_for_a_frame_is_given_back_once_it_is_encoded(monkeypatch):
    released = []

    class Pool:
        def release_unused(self):
            released.append(True)

    monkeypatch.setattr(sources, "pa", type("Arrow", (), {"default_memory_pool": Pool}))
    frame = pd.DataFrame({"age": [1.0, 2.0], "job": ["clerk", "smith"], "smokes": ["true", "false"]})
    schema = Schema([Numeric("age", 0, 9), Category("job", ["clerk", "smith"]), Boolean("smokes")])
    sources.Memory(frame).encode(schema, None)
    assert released
