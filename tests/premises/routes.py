"""Every way in, replayed: sources, streams x hostile cells x learners; one row moves no answer beyond what was charged.

A route makes the arguments of `fit` of a list of rows, in the form in which people have tables. Its neighbour has a row
with a hostile cell, another label or another unit, or lacks the last row or the last unit. Both fits must ask the same
questions and publish the same; only a row that is not as declared may be refused, before the charge. tests/premises/
test_routes.py replays a few neighbours of every route. By hand, with as many as wanted, and on clusters:

    python tests/premises/routes.py --neighbors 100000 --seed 1 [--clusters] [--route PART_OF_A_NAME]
"""

import argparse
import atexit
import collections
import functools
import importlib
import itertools
import math
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).parents[1]))
from parts.test_engine import Added, Pickled, Reread
from people import OPEN, SCHEMA
from premises.tables import FORMS, neighbors
from premises.test_replays import LEARNERS, ODD, ONE, TYPED, held, learner_of, replayed

import dpfast
from dpfast import engines
from dpfast.parts import MemoryParts
from dpfast.tables import Label, Numeric, Schema

FEATURES = ["age", "pay", "job", "smokes"]
TYPES = {
    "age": pa.int64(),
    "pay": pa.float64(),
    "job": pa.string(),
    "smokes": pa.bool_(),
    "buys": pa.string(),
    "patient": pa.string(),
}
NULLABLE = {"age": "Int64", "pay": "Float64", "job": "string", "smokes": "boolean", "buys": "string"}
NOT_THERE = (pa.ArrowException, pl.exceptions.PolarsError, TypeError, OverflowError, ValueError, AttributeError)
WHOSE = ["p1", "p 1", "P1", "p\0", "", None, "1", 1, 1.0, True, 2**63, -1, "p1" * 999]


class Route(NamedTuple):
    """A way in: `make(rows, folder)` returns the arguments of `fit`; it raises if no such table can be.

    `cells` tells whether a cell may be any object, or has the type of its column, which is public. `schemas` are those
    that the route takes, and `units` how they may be given. If a route does not keep `places`, one row may move others
    to other parts and places. What learners choose at random by the numbers of rows then has the same law and not the
    same outcome, so there are no units, and Winnow has a single interval: see `dpfast.audit.replay`.
    """

    make: callable
    cells: str = "typed"
    schemas: tuple = ("declared", "open", "discovered")
    units: tuple = ("column", "array")
    places: bool = True


# ---- tables in memory ------------------------------------------------------------------------------------------------


class Rows(list):
    """Rows, each a mapping from names to cells, and the names."""

    def __init__(self, rows, names):
        super().__init__(rows)
        self.names = names

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return Rows(found, self.names) if isinstance(index, slice) else found

    def column(self, name):
        return [row[name] for row in self]


def arrow(rows, folder=None):
    return pa.table({name: pa.array(rows.column(name), TYPES[name]) for name in rows.names})


def frame(rows, folder=None):
    return arrow(rows).to_pandas()


def objects(rows, folder=None):
    return pd.DataFrame({name: pd.Series(rows.column(name), dtype=object) for name in rows.names})


def lists(rows, folder=None):
    return {name: rows.column(name) for name in rows.names}


def _features(rows):
    return [[row[name] for name in FEATURES] for row in rows]


def _dictionaries(rows, folder):
    """Chunks whose dictionaries are their own."""
    chunks = [arrow(part) for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :])]
    job = rows.names.index("job")
    return pa.concat_tables(t.set_column(job, "job", t["job"].combine_chunks().dictionary_encode()) for t in chunks)


def _halves(rows, make):
    """Parts of a table, the second of which has no rows, and the last row of which is a part of its own."""
    ends = [0, len(rows) // 3, len(rows) // 3, min(29, len(rows)), len(rows)]
    return [(make(rows[a:b]), None) for a, b in itertools.pairwise(ends)]


def _kinds(rows):
    """Parts of pandas and of Arrow in turn."""
    return [((arrow if k % 2 else frame)(part), None) for k, (part, _) in enumerate(_halves(rows, _same))]


def _same(rows):
    return rows


# ---- files -----------------------------------------------------------------------------------------------------------


def _csv(rows, path):
    objects(rows).to_csv(path, index=False)
    return path


def _of_files(path):
    return dpfast.FileParts(path, label="buys")


def _folder_of_parquet(rows, folder):
    for k, (part, _) in enumerate(_halves(rows, arrow)):
        parquet.write_table(part, folder / f"{k}.parquet")
    return _of_files(folder / "*.parquet")


ROUTES = {
    "list of lists": Route(lambda rows, folder: _features(rows), "any", ("discovered",), ("array",)),
    "list of dicts": Route(lambda rows, folder: [dict(row) for row in rows], "any"),
    "dict of lists": Route(lists, "any"),
    "dict of arrays": Route(lambda rows, folder: {name: frame(rows)[name].to_numpy() for name in rows.names}),
    "dict of object arrays": Route(
        lambda rows, folder: {name: np.array(cells, object) for name, cells in lists(rows).items()}, "any"
    ),
    "array of objects": Route(
        lambda rows, folder: np.array(_features(rows), object), "any", ("discovered",), ("array",)
    ),
    "array of texts": Route(
        lambda rows, folder: np.array([[*map(str, row)] for row in _features(rows)], "U12"),
        "any",
        ("discovered",),
        ("array",),
    ),
    "frame": Route(frame),
    "frame of objects": Route(objects, "any"),
    "frame, nullable types": Route(
        lambda rows, folder: frame(rows).astype({n: NULLABLE[n] for n in rows.names if n in NULLABLE})
    ),
    "frame, types of Arrow": Route(lambda rows, folder: arrow(rows).to_pandas(types_mapper=pd.ArrowDtype)),
    "frame, categories": Route(lambda rows, folder: frame(rows).astype({"job": "category", "buys": "category"})),
    "polars": Route(lambda rows, folder: pl.from_arrow(arrow(rows))),
    "LazyFrame": Route(lambda rows, folder: pl.from_arrow(arrow(rows)).lazy(), units=("column",)),
    "Arrow": Route(arrow),
    "Arrow, dictionaries of its chunks": Route(_dictionaries),
    "stream": Route(lambda rows, folder: arrow(rows).to_reader(5), units=("column",)),
    "CSV": Route(lambda rows, folder: _of_files(_csv(rows, folder / "t.csv")), "any", units=("column",)),
    "folder of Parquet": Route(_folder_of_parquet, units=("column",)),
    "parts in memory": Route(lambda rows, folder: MemoryParts(_halves(rows, frame)), schemas=("declared", "open")),
    "parts of several types": Route(lambda rows, folder: MemoryParts(_kinds(rows)), schemas=("declared", "open")),
    "parts of objects": Route(
        lambda rows, folder: MemoryParts(_halves(rows, objects)), "any", schemas=("declared", "open")
    ),
    "an engine": Route(lambda rows, folder: Pickled(_halves(rows, frame)), schemas=("declared", "open")),
    "an engine whose parts are always lost": Route(
        lambda rows, folder: Reread(*[_halves(rows, arrow)] * 2, math.inf), schemas=("declared", "open")
    ),
    "an engine that adds, whose parts are always lost": Route(
        lambda rows, folder: Added(*[_halves(rows, frame)] * 2, math.inf), schemas=("declared", "open")
    ),
}

# ---- clusters, by hand -----------------------------------------------------------------------------------------------


def _dask(rows, folder):
    import dask.dataframe
    import distributed

    if not _started:
        _started.append(distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None))
    return dask.dataframe.from_pandas(frame(rows), npartitions=3)


def _ray(rows, folder):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    return engines.ray([ray.put(part) for part, _ in _halves(rows, arrow)], actors=1)


@functools.cache
def _session():
    """Two executors, with adaptive execution, until this process ends."""
    from two_executors import Cluster

    for name in ("udf", "pandas.functions", "pandas.utils"):  # they warn once more for a question that is asked again
        importlib.import_module(f"pyspark.sql.{name}").require_minimum_pandas_version = lambda: None
    folder = tempfile.TemporaryDirectory()
    cluster = Cluster(folder.name, **{"spark.sql.adaptive.enabled": "true", "spark.eventLog.enabled": "false"})
    atexit.register(folder.cleanup)
    atexit.register(cluster.session.stop)
    return cluster.session


def _spark(rows, folder):
    return _session().createDataFrame(arrow(rows))


def _files_of_spark(rows, folder):
    for k, (part, _) in enumerate(_halves(rows, arrow)):
        parquet.write_table(part, folder / f"{k}.parquet")
    return _session().read.parquet(str(folder))


_started: list = []
CLUSTERS = {
    "Dask": Route(_dask),
    "Ray": Route(_ray, schemas=("declared", "open")),
    "Spark": Route(_spark),
    "Spark, files": Route(_files_of_spark, places=False),
    "Spark, shuffled": Route(lambda rows, folder: _spark(rows, folder).repartition("job"), places=False),
    "Spark, sorted": Route(lambda rows, folder: _spark(rows, folder).orderBy("job"), places=False),
    "Spark, distinct": Route(lambda rows, folder: _numbered(rows, folder).distinct().drop("row"), places=False),
    "Spark, joined": Route(lambda rows, folder: _joined(_numbered(rows, folder)), places=False),
}


def _numbered(rows, folder):
    from pyspark.sql.functions import monotonically_increasing_id

    return _spark(rows, folder).withColumn("row", monotonically_increasing_id())


def _joined(numbered):
    return numbered.join(numbered.groupBy("row").count(), "row").drop("count", "row")


# ---- neighbours ------------------------------------------------------------------------------------------------------


def people(rng, n=30):
    return [
        {
            "age": int(rng.integers(18, 91)),
            "pay": float(rng.uniform(0, 100)) if rng.random() < 0.8 else None,
            "job": str(rng.choice(["clerk", "smith", "baker"])),
            "smokes": bool(rng.random() < 0.3),
            "buys": str(rng.choice(["no", "yes"])),
            "patient": f"p{k % 11}",
        }
        for k in range(n)
    ]


def _pick(rng, values):
    return values[int(rng.integers(len(values)))]


def neighbor(rows, rng, relation, route, units):
    """The table without its last unit, or with one row that has a hostile cell, or whose unit is changed as a whole."""
    whose = rows[-1]["patient"]
    own = [k for k, row in enumerate(rows) if row["patient"] == whose] if units else [int(rng.integers(len(rows)))]
    if relation == "add-remove":
        if units:  # its rows are last, so that the rows of others are treated as before
            rows = [row for row in rows if row["patient"] != whose] + [row for row in rows if row["patient"] == whose]
            return rows, rows[: -len(own)]
        return rows, rows[:-1]
    other = [dict(row) for row in rows]
    if units and len(own) > 1 and rng.random() < 0.3:  # a person with fewer rows
        order = [k for k in range(len(rows)) if k not in own] + own
        fewer = order[: -int(rng.integers(1, len(own)))]
        return [rows[k] for k in order], [other[k] for k in fewer]
    for k in own:
        column = _pick(rng, [*FEATURES, "buys"])
        any_cell = ONE if column == "buys" else ODD
        other[k][column] = _pick(rng, any_cell if route.cells == "any" else TYPED[column])
    if units and route.cells == "any" and rng.random() < 0.3:
        for k in own:  # all of its rows get the same new unit
            other[k]["patient"] = "p-new"
    if any(other[k]["buys"] != rows[k]["buys"] for k in own):  # one without a label is left out: see `replay`
        order = [k for k in range(len(rows)) if k not in own] + own
        return tuple([table[k] for k in order] for table in (rows, other))
    return rows, other


def trial(route, learner, rng, folder):
    """A replay of one neighbour, or None where no such table can be."""
    relation, units = (
        _pick(rng, learner.relations),
        _pick(rng, [None, *route.units] if learner.units and route.places else [None]),
    )
    form, rows = _pick(rng, route.schemas), people(rng)
    tables = neighbor(rows, rng, relation, route, units)
    fits = []
    for k, table in enumerate(tables):
        (folder / str(k)).mkdir()
        try:
            fits.append(_arguments(route, table, form, units, folder / str(k)))
        except NOT_THERE:
            return None
    schema = {"declared": SCHEMA, "open": Schema(OPEN.columns, label="buys"), "discovered": "discover"}[form]
    given = {"rows_per_unit": int(rng.integers(1, 4))} if units else {}
    if units == "column":
        given["units"] = "patient"
    if rng.random() < 0.7:
        given["classes"] = ["no", "yes"]
    model = learner.make(**{"neighbors": relation, "schema": schema, "epsilon": _pick(rng, [0.5, 20.0])})
    if not route.places and hasattr(model, "n_updates"):
        model.set_params(n_updates=1)
    return replayed(model, *fits, seed=int(rng.integers(1 << 30)), **given)


def _arguments(route, rows, form, units, folder):
    names = [name for name in rows[0] if name != "patient" or units == "column"]
    table, arguments = route.make(Rows(rows, names), folder), {}
    if isinstance(table, list | np.ndarray):
        arguments["y"] = [row["buys"] for row in rows]
    elif form != "declared" and not isinstance(table, dpfast.FileParts | MemoryParts | Pickled | Reread):
        arguments["y"] = "buys"
    if units == "array":
        arguments["units"] = np.array([row["patient"] for row in rows])
    return {"X": table} | arguments


def _vectors(form):
    """A route of numbers without names: a form of tests/premises/tables.py."""

    def trial(learner, rng, folder):
        relation, n = _pick(rng, learner.relations), learner.rows
        x, changed, i = neighbors(form.holds, rng, d=int(rng.choice([1, 3, 8])), n=n, largest=1e20)
        y = rng.integers(0, 2, n)
        other = changed, np.where(np.arange(n) == i, 1 - y, y)
        tables = (x, y), ((x[:-1], y[:-1]) if relation == "add-remove" else other)
        for k in (0, 1):
            (folder / str(k)).mkdir()
        fits = [(form.make(rows, folder / str(k)), labels) for k, (rows, labels) in enumerate(tables)]
        return replayed(learner.make(neighbors=relation), *fits, classes=[0, 1], seed=int(rng.integers(1 << 30)))

    return trial


# ---- streams ---------------------------------------------------------------------------------------------------------

LABELS = {  # ways to hold the labels of a call, some of which may be missing
    "list": list,
    "objects": lambda y: np.array([None, *y], object)[1:],
    "texts": lambda y: np.array(["" if each is None else str(each) for each in y]),
    "floats": lambda y: np.array([np.nan if each is None else float(each) for each in y]),
    "pandas objects": lambda y: pd.Series(y, dtype=object),
    "pandas Int64": lambda y: pd.Series(y, dtype="Int64"),
    "pandas boolean": lambda y: pd.Series(y, dtype="boolean"),
    "pandas string": lambda y: pd.Series([None if each is None else str(each) for each in y], dtype="string"),
    "pandas category": lambda y: pd.Series(y, dtype="category"),
    "pandas, Arrow": lambda y: pd.Series(pa.array(y)).astype(pd.ArrowDtype(pa.array(y).type)),
    "Arrow": pa.array,
    "Arrow, chunks": lambda y: pa.chunked_array([pa.array(y[:9]), pa.array(y[9:], pa.array(y[:9]).type)]),
    "Arrow dictionary": lambda y: pa.array(y).dictionary_encode(),
    "polars": pl.Series,
    "polars Categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
}
CLASSES = [  # declared, and the values of a typed column
    (["no", "yes"], ["no", "yes"]),
    (["yes", " yes"], ["yes", " yes"]),
    (["no", "yes "], ["no", "yes "]),
    (["1", " 1"], ["1", " 1"]),
    (["2", "10"], [2, 10]),
    ([2, 10], ["2", "10"]),
    ([2, 10], [2, 10]),
    ([0, 1], [False, True]),
    ([False, True], [0, 1]),
    ([False, True], [False, True]),
    ([0, 1], [0.0, 1.0]),
    ([0.5, 1.5], [0.5, 1.5]),
    (["NA", "none"], ["NA", "none"]),
]
ODD_LABELS = [None, "", "NA", " no", "yes", "1", 1, 1.0, True, float("nan"), 2**63, "none", "yes "]


def _stream(make):
    """A route of labels of a stream in several calls: beside rows, or as a column of a table with a schema."""

    def trial(learner, rng, folder):
        relation, (classes, values), n = _pick(rng, ["replace", "add-remove"]), _pick(rng, CLASSES), 24
        ages = rng.integers(0, 10, n)
        y = [None if rng.random() < 0.1 else values[int(age > 4)] for age in ages]
        if rng.random() < 0.5:
            y = [values[int(age > 4)] for age in ages]
        any_cell = make in (list, LABELS["objects"], LABELS["pandas objects"], LABELS["texts"])
        other = [*y[:-1], _pick(rng, ODD_LABELS if any_cell else [None, *values])]
        if relation == "add-remove":
            other = [*y[:-1], None]
        form, cut = _pick(rng, ["column", "beside", "vectors"]), int(rng.integers(1, n))
        cut = n if not {other[-1]} <= {None, *values} else cut  # one that is not declared is refused by the first call
        given = {} if form == "vectors" else {"schema": _streamed(classes if rng.random() < 0.5 else None)}
        declared = None if form != "vectors" and given["schema"].label.classes else classes

        def follow(model, labels):
            for rows in (slice(None, cut), slice(cut, None))[: 1 + (cut < n)]:
                X, some = pd.DataFrame({"age": ages[rows]}), labels[rows]
                if form == "column":
                    model.stream(_with(X, some), classes=declared)
                else:
                    model.stream(X if form == "beside" else ages[rows, None] / 5.0 - 1, some, classes=declared)

        try:
            tables = make(y), make(other)
            if form == "column":
                _with(pd.DataFrame({"age": ages}), tables[0])
        except (*NOT_THERE, NotImplementedError):
            return None
        model = dpfast.DPWinnowClassifier(epsilon=5.0, neighbors=relation, n_updates=3, **given)
        return replayed(model, *((table,) for table in tables), fit=follow, seed=int(rng.integers(1 << 30)))

    return trial


def _streamed(classes):
    return Schema([Numeric("age", 0, 10, edges=4)], label=Label("buys", classes))


def _with(X, labels):
    """The rows of a call with their labels as a column, in a table of the kind of these."""
    if isinstance(labels, pa.Array | pa.ChunkedArray):
        return pa.table({"age": X["age"].to_numpy(), "buys": labels})
    if isinstance(labels, pl.Series):
        return pl.DataFrame({"age": X["age"].to_numpy(), "buys": labels})
    if isinstance(labels, list):
        return {"age": X["age"].tolist(), "buys": labels}
    return X.assign(buys=labels.array if isinstance(labels, pd.Series) else labels)


STREAMS = {f"stream, labels: {name}": _stream(make) for name, make in LABELS.items()}


def run(route, name, rng):
    """A replay of one neighbour on a route, for a learner."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(route, Route):
            return trial(route, OF_TABLES[name], rng, Path(folder))
        return route(LEARNERS[name], rng, Path(folder))


OF_TABLES = {  # thirty rows are too few for pairs and trees, unless there are given numbers of them
    **{name: each for name, each in LEARNERS.items() if name not in ("linear", "projected, paper", "winnow, paper")},
    "halfspace, pairs": learner_of(dpfast.HalfspaceClassifier, n_rounds=8, interactions=2, trees=0),
    "halfspace, trees": learner_of(dpfast.HalfspaceClassifier, n_rounds=8, interactions=2, trees=3),
}
TABULAR = [*OF_TABLES]
VECTORS = {f"vectors: {name}": _vectors(form) for name, form in FORMS.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neighbors", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--route", default="")
    parser.add_argument("--clusters", action="store_true")
    given = parser.parse_args()
    routes = ROUTES | VECTORS | STREAMS | (CLUSTERS if given.clusters else {})
    routes = {name: route for name, route in routes.items() if given.route in name}
    rng, breaks = np.random.default_rng(given.seed), []
    seen, refusals = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for k, name in zip(range(given.neighbors), itertools.cycle(routes), strict=False):
        route = routes[name]
        learner = _pick(rng, TABULAR if isinstance(route, Route) else [*LEARNERS])
        found = run(route, learner, rng)
        if found is None:
            seen[name]["no such table"] += 1
            continue
        seen[name].update({"replays": 1, "moved": found.ratio > 0, "refused": bool(found.refusal)})
        if found.refusal:
            refusals[name][found.refusal[:150]] += 1
        seen[name]["ratio"] = max(seen[name]["ratio"], found.ratio)
        if not held(found):
            breaks.append(f"neighbour {k}, {name}, {learner}: {found}")
            print("BREAK", breaks[-1][:2000], flush=True)
    for name, counts in seen.items():
        print(f"{name:52}", ", ".join(f"{what} {value:.6g}" for what, value in counts.items()))
        for text, times in refusals[name].most_common(2):
            print(f"{'':8}{times} times: {text}")
    print(f"{sum(counts['replays'] for counts in seen.values())} replays, {len(breaks)} that do not hold")
    sys.exit(bool(breaks))


if __name__ == "__main__":
    main()
