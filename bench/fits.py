"""What a fit of a small table costs, and what it costs to declare nothing.

    python bench/fits.py [--rows 1000 20000] [--repeat 9] [--learners NAME ...]

A pandas frame of 20 columns: 8 of numbers, 6 of whole numbers, 6 of words, and two labels. Each learner is fitted with
a schema, the confirmed draft of the table, and with nothing declared, in turn and in one process on one thread. Printed
are the processor's milliseconds of either fit, the least of the repeats, and their ratio. The work of both sides is
checked: fits with one seed give one model, and the codes of what was discovered are those that its schema, declared,
makes of the frame. `NetHalfspaceClassifier` is not among them: with delta = 0 no words or labels can be discovered.
"""

import argparse
import os
import time
import warnings
from functools import partial

os.environ["DPFAST_THREADS"] = "1"

import numpy as np
import pandas as pd

import dpfast
from dpfast.files.encodings import source_of
from dpfast.tables.encoding import Encoding, encode
from dpfast.tables.schema import Schema
from dpfast.tables.sources import schema_to_discover

LEARNERS = {
    "halfspace": dpfast.HalfspaceClassifier,
    "list": dpfast.DecisionListClassifier,
    "Winnow": dpfast.DPWinnowClassifier,
    "boosted": dpfast.BoostedHalfspaceClassifier,
    "projected": dpfast.ProjectedHalfspaceClassifier,
}


def frame_of(rows, seed=0):
    """Return a frame of 20 columns, and labels that follow from some of them."""
    rng = np.random.default_rng(seed)
    made = {f"number{j}": np.round(rng.lognormal(3, 1, rows), 3) for j in range(8)}
    made |= {f"count{j}": rng.integers(0, 20, rows) for j in range(6)}
    made |= {
        f"word{j}": np.array([f"value {k}" for k in range(4 + 2 * j)])[rng.integers(0, 4 + 2 * j, rows)]
        for j in range(6)
    }
    score = np.log(made["number0"]) + made["count0"] / 10 + (made["word0"] == "value 1") + rng.normal(0, 0.5, rows)
    return pd.DataFrame(made), np.where(score > np.median(score), "yes", "no")


def declared(frame, labels):
    """Return the confirmed draft of the schema of a table."""
    return Schema.draft(frame.assign(label=labels), "label").confirmed()


def fitted(name, frame, labels, schema):
    """Return a fitted learner; with None, everything is discovered."""
    return LEARNERS[name](epsilon=1.0, schema=schema, random_state=0).fit(frame, labels)


def timed(work, repeat):
    """Return, for each of some functions, the least seconds of the processor over repeats in turn."""
    seen = []
    for _ in range(repeat):
        seen.append([])
        for each in work:
            start = time.process_time()
            each()
            seen[-1].append(time.process_time() - start)
    return np.min(seen, axis=0)


def check(name, frame, labels, schema):
    """Fail unless both fits of a learner do what they are timed for."""
    for each in (schema, None):
        one, other = (fitted(name, frame, labels, each)._saver.released() for _ in range(2))
        assert repr(one) == repr(other)
    model = fitted(name, frame, labels, None)
    found = model.encoder_.schema_
    assert not found.to_find
    assert len(found.columns) == frame.shape[1]
    encoding = Encoding(schema_to_discover(source_of(frame, labels)))
    encoding.add(frame)
    assert np.array_equal(encoding.table(found).toarray(), encode(frame, found).toarray())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=[*LEARNERS])
    p = parser.parse_args()
    warnings.simplefilter("ignore")
    for rows in p.rows:
        frame, labels = frame_of(rows)
        schema = declared(frame, labels)
        print(f"{rows:,} rows, {frame.shape[1]} columns, processor ms: declared, nothing declared, ratio")
        for name in p.learners:
            check(name, frame, labels, schema)
            work = [partial(fitted, name, frame, labels, each) for each in (schema, None)]
            given, found = timed(work, p.repeat)
            print(f"  {name:10} {1e3 * given:8.2f} {1e3 * found:8.2f} {found / given:6.2f}", flush=True)


if __name__ == "__main__":
    main()
