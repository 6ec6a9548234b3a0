"""Streams of Arrow: the model of the table in memory, whoever gives the batches; they are read once and never whole."""

from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from people import OPEN, SCHEMA, TWO_SIDED, few, people, released
from pyarrow import dataset, parquet

import dpfast
from dpfast import DecisionListClassifier, FiniteClassLearner, HalfspaceClassifier, StreamParts, TableEncoder
from dpfast.accounting import Budget
from dpfast.audit import replay
from dpfast.metrics import confusion_matrix
from dpfast.parts.blocks import Spool, Storage
from dpfast.tables import Category, Label, Schema
from dpfast.tables.arrow import ArrayStore, TextStore
from dpfast.tables.label_columns import LabelColumn
from dpfast.tables.labels import class_codes

PEOPLE = people(900)
TABLE = pa.Table.from_pandas(PEOPLE, preserve_index=False)
CLASSES = ["no", "yes"]


class Own:
    """A stranger's table, which has the Arrow stream interface and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def _relation(table):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("people", table)
    return connection.sql("SELECT * FROM people")


SOURCES = {
    "LazyFrame": lambda table: pl.from_arrow(table).lazy(),
    "reader": lambda table: table.to_reader(100),
    "data set": lambda table: dataset.dataset(table),
    "scanner": lambda table: dataset.dataset(table).scanner(),
    "relation": _relation,
    "own": Own,
}
every = pytest.mark.parametrize("source", SOURCES)


@cache
def in_memory(learner, schema, epsilon):
    """The model of the table in memory, for all sources."""
    return few(learner, schema=schema, epsilon=epsilon).fit(PEOPLE.drop(columns="buys"), PEOPLE["buys"])


OTHERS = [DecisionListClassifier, *TWO_SIDED, FiniteClassLearner]


@pytest.mark.parametrize(
    ("learner", "source"),  # every source with one learner, every learner with one source
    [*((HalfspaceClassifier, source) for source in SOURCES), *zip(OTHERS, SOURCES, strict=True)],
)
def test_a_stream_gives_the_model_of_the_table_in_memory(learner, source):
    whole = in_memory(learner, SCHEMA, 1.0)
    model = few(learner, schema=SCHEMA).fit(SOURCES[source](TABLE))
    assert released(model) == released(whole)
    np.testing.assert_array_equal(model.predict(SOURCES[source](TABLE)), whole.predict(PEOPLE))


@every
@pytest.mark.parametrize("schema", [OPEN, None])
def test_what_is_not_declared_of_a_stream_is_discovered_as_in_memory(schema, source):
    given = {"schema": schema, "epsilon": 20.0}
    whole = in_memory(HalfspaceClassifier, **given)
    model = few(HalfspaceClassifier, **given).fit(SOURCES[source](TABLE), "buys")
    assert model.encoder_.schema_.columns == whole.encoder_.schema_.columns
    assert released(model) == released(whole)
    for name in ("predict_proba", "decision_function"):
        wanted = getattr(whole, name)(PEOPLE.drop(columns="buys"))
        np.testing.assert_array_equal(getattr(model, name)(SOURCES[source](TABLE)), wanted)


@pytest.mark.parametrize("memory", [0, 5000])
def test_rows_beyond_the_memory_go_to_the_scratch_file(memory, tmp_path):
    whole = few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(PEOPLE)
    rows = StreamParts(TABLE.to_reader(100), memory=memory, scratch=tmp_path)
    assert released(few(HalfspaceClassifier, schema=OPEN, epsilon=20.0).fit(rows)) == released(whole)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("schema", [SCHEMA, OPEN])
def test_the_order_of_batches_changes_nothing(schema):
    batches = TABLE.to_batches(max_chunksize=100)
    given = {"schema": schema, "epsilon": 20.0}
    one, other = (
        few(HalfspaceClassifier, **given).fit(pa.RecordBatchReader.from_batches(TABLE.schema, order))
        for order in (batches, batches[::-1])
    )
    assert released(one) == released(other)


@pytest.mark.parametrize("schema", [SCHEMA, None])
@pytest.mark.parametrize("ids", ["integers", "texts"])
def test_units_are_a_column_of_a_stream_a_file_or_a_frame(ids, schema, tmp_path, rng):
    whose = rng.integers(0, 300, len(PEOPLE))
    whose = whose if ids == "integers" else whose.astype(str)
    frame = PEOPLE.assign(patient=whose)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_table(table, tmp_path / "people.parquet", row_group_size=200)
    given = {"schema": schema, "epsilon": 20.0}
    persons = {"units": "patient", "rows_per_unit": 2, "classes": CLASSES}
    whole = few(HalfspaceClassifier, **given).fit(
        PEOPLE.drop(columns="buys"), PEOPLE["buys"], **(persons | {"units": whose})
    )
    tables = {name: make(table) for name, make in SOURCES.items()} | {"frame": frame}
    for name, each in tables.items():
        assert released(few(HalfspaceClassifier, **given).fit(each, "buys", **persons)) == released(whole), name
    given["schema"] = schema or "discover"
    model = few(HalfspaceClassifier, **given).fit(tmp_path / "people.parquet", "buys", **persons)
    assert released(model) == released(whole)


def test_an_encoder_reads_streams():
    encoder = TableEncoder(OPEN, 20.0, random_state=1)
    codes = encoder.fit_transform(TABLE.to_reader(100))
    np.testing.assert_array_equal(codes.toarray(), encoder.transform(PEOPLE).toarray())
    np.testing.assert_array_equal(encoder.transform(pl.from_arrow(TABLE).lazy()).toarray(), codes.toarray())


def test_only_the_columns_that_are_wanted_are_read_batch_by_batch():
    read = []

    def batches():
        for batch in TABLE.to_batches(max_chunksize=100):
            read.append(len(batch))
            yield batch

    asked = StreamParts(pl.from_arrow(TABLE).lazy().with_columns(pl.col("age").alias("broken").cast(pl.String)))
    assert [*next(asked.batches(["age"])).columns] == ["age"]
    rows = StreamParts(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert [*rows.header()] == TABLE.column_names
    assert read == []
    few(HalfspaceClassifier, schema=SCHEMA).fit(rows)
    assert read == [100] * 9


def test_one_row_of_a_stream_tells_no_more_than_was_charged():
    model = dpfast.HalfspaceClassifier(n_rounds=3, neighbors="add-remove", schema=SCHEMA)
    table, neighbor = TABLE.slice(0, 12), TABLE.slice(0, 11)
    found = replay(model, (table.to_reader(5),), (neighbor.to_reader(5),), classes=CLASSES)
    assert found.holds, found
    assert found.ratios


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_what_will_not_do_is_refused_before_a_charge():
    bad = pa.concat_tables(
        [TABLE.slice(0, 250), TABLE.slice(0, 1).set_column(3, "smokes", pa.array([None], pa.bool_()))]
    )
    units = {"units": "job", "rows_per_unit": 1}
    for rows, given, what in (
        (TABLE.select(["age", "buys"]), {}, "lacks columns that the schema declares: 'pay', 'job', 'smokes'"),
        (bad, {}, "row 251, column 'smokes' is missing, and not declared nullable"),
        (TABLE.slice(0, 0), {}, "must have at least one row"),
        (TABLE, {"y": PEOPLE["buys"]}, "y must not be given beside files, a stream or a LazyFrame"),
        (TABLE, {"y": "sold"}, "y names the label 'sold', and the schema declares 'buys'"),
        (TABLE, units, "units='job' is a column of the schema"),
        (TABLE, {"units": [0] * 900, "rows_per_unit": 1}, "it may be the name of a column"),
    ):
        budget = Budget(1.0, 1e-6)
        with pytest.raises(ValueError, match=what):
            few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(rows.to_reader(100), **given)
        assert budget.charges == ()


def test_a_row_of_nobody_is_refused(rng):
    for ids in ([1, None, 3], ["a", " ", "c"], ["a", None, "c"]):
        table = TABLE.slice(0, 3).append_column("patient", [ids])
        with pytest.raises(ValueError, match="row 2, column 'patient' is empty"):
            few(HalfspaceClassifier, schema=SCHEMA).fit(table.to_reader(), units="patient", rows_per_unit=1)
    with pytest.raises(ValueError, match="lacks"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(PEOPLE, units="patient", rows_per_unit=1)


def test_a_reader_is_read_once():
    rows = StreamParts(TABLE.to_reader())
    few(HalfspaceClassifier, schema=SCHEMA).fit(rows)
    with pytest.raises(ValueError, match="the stream was read before"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(rows)
    lazy = StreamParts(pl.from_arrow(TABLE).lazy())
    models = [few(HalfspaceClassifier, schema=SCHEMA).fit(lazy) for _ in range(2)]
    assert released(models[0]) == released(models[1])


def test_what_is_no_stream_of_columns_is_refused(rng):
    for source in (PEOPLE, TABLE, [1, 2]):
        with pytest.raises(ValueError, match="must be a stream of Arrow batches"):
            StreamParts(source)
    with pytest.raises(ValueError, match="stream of tables"):
        StreamParts(Own(pa.chunked_array([[1, 2]])))
    X = rng.normal(size=(40, 3))
    vectors = few(HalfspaceClassifier).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="learned from vectors"):
        vectors.predict(TABLE.to_reader())
    assert len(few(HalfspaceClassifier, schema=SCHEMA).fit(PEOPLE).predict(TABLE.slice(0, 0).to_reader())) == 0
    with pytest.raises(ValueError, match="no schema says what the others are"):
        few(HalfspaceClassifier).fit(X, "buys")
    with pytest.raises(ValueError, match="no column 'sold' to take labels from"):
        few(HalfspaceClassifier).fit(TABLE.to_reader(), "sold")


def test_arrays_of_unknown_length_are_what_was_put_in(tmp_path, rng):
    room, kept = Spool(700, tmp_path), []
    growing = [room.growing(dtype) for dtype in (np.uint8, np.float64, np.int32)]
    for size in (100, 0, 33, 250):
        rows = rng.integers(0, 200, size)
        kept.append(rows)
        for each in growing:
            each.append(rows)
    for each in growing:
        for _ in range(2):
            np.testing.assert_array_equal(each.read_all(), np.concatenate(kept))
    assert room.growing(np.int8).read_all().shape == (0,)


def test_an_array_of_unknown_length_reserves_its_bytes_once_it_is_whole_and_grows_in_pieces(rng):
    room = Spool(1 << 30)
    growing, rows = room.growing(np.uint8), rng.integers(0, 200, (60, 1 << 16), np.uint8)
    for k, each in enumerate(rows, 1):
        growing.append(each)
        assert k << 16 <= room.in_memory <= (k << 16) + min(k << 16, 1 << 20)  # never a copy of twice the size
    np.testing.assert_array_equal(growing.read_all(), rows.ravel())
    assert room.in_memory == rows.size


@pytest.mark.parametrize("most", [None, 2_000])
@pytest.mark.parametrize("memory", [None, 300, 10_000])
@pytest.mark.parametrize("sizes", [(), (0,), (3, 300), (90, 40), (100, 200, 700)], ids=str)
def test_numbers_of_texts_are_as_narrow_as_their_values_let_them_be(memory, most, sizes, tmp_path, rng):
    kept, put = TextStore(ArrayStore if memory is None else Storage(Spool(memory, tmp_path), most)), []
    for size in sizes:
        index = rng.integers(-1, size, 200) if size else np.empty(0, np.int64)
        kept.append((index, [None if k == 2 else f"{size % 7}-{k}" for k in range(size)]))
        put += [None if k in (-1, 2) else f"{size % 7}-{k}" for k in index.tolist()]
    for _ in range(2):
        numbers, values = kept.read_all()
        assert [None if k < 0 else values[k] for k in numbers.tolist()] == put
        assert numbers.dtype == (np.int8 if len(values) <= 128 else np.int16)


@pytest.mark.parametrize("classes", [2, 127, 128, 129, 300])
def test_many_classes_of_a_column_of_labels_keep_their_numbers(classes):
    names = [f"c{k:03}" for k in range(classes)]
    table = pa.table({"x": [str(k % 2) for k in range(classes)], "y": names[::-1]})
    schema = Schema([Category("x", ["0", "1"])], label=Label("y", names))
    known = class_codes(StreamParts(table.to_reader()).encode(schema, schema.label).labels(), classes, names)
    assert known.codes.tolist() == [*range(classes)][::-1]
    told = confusion_matrix(LabelColumn(known.codes, known.classes), names[::-1], classes=names, epsilon=1e6)
    np.testing.assert_array_equal(told.counts, np.eye(classes))
