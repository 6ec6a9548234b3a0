"""Labels of ONNX graphs beside those of `predict`, for rows of random codes and models with many ties.

python tests/faults/hostile_rows.py 1000000           that many rows, in turn of every learner that exports
"""

import argparse
import sys
import warnings
from dataclasses import replace

import numpy as np
import onnxruntime

import dpfast
from dpfast import interop
from dpfast.tables import Category, Numeric, Schema
from dpfast.tables.codes import CodeTable

FEW = 1 << 12  # rows of one table
SCHEMA = Schema(
    [
        *(Numeric(f"x{j}", -4, 4, edges=7, nullable=j == 1) for j in range(4)),
        Category("town", ["a", "b", "c"]),
        *(Category(f"flag{j}", ["no", "yes"], other=False) for j in range(3)),
    ]
)
LEARNERS = {
    "halfspace": (dpfast.HalfspaceClassifier, {"n_rounds": 4}),
    "pairs": (dpfast.HalfspaceClassifier, {"n_rounds": 6, "interactions": 2}),
    "trees": (dpfast.HalfspaceClassifier, {"n_rounds": 6, "trees": 5}),
    "weights": (dpfast.HalfspaceClassifier, {"n_rounds": 4, "class_weight": {0: 2, 1: 1}}),
    "boosted": (dpfast.BoostedHalfspaceClassifier, {"n_rounds": 4}),
    "without intercept": (dpfast.BoostedHalfspaceClassifier, {"n_rounds": 4, "fit_intercept": False}),
    "projected": (dpfast.ProjectedHalfspaceClassifier, {"n_rounds": 4, "n_components": 2}),
    "projected, hinge": (dpfast.ProjectedHalfspaceClassifier, {"n_rounds": 4, "loss": "hinge"}),
    "net": (dpfast.NetHalfspaceClassifier, {"n_components": 2, "net_radius": 0.4, "n_projections": 2}),
    "net of three": (dpfast.NetHalfspaceClassifier, {"n_components": 3, "margin": 0.4, "fit_intercept": False}),
    "list": (dpfast.DecisionListClassifier, {"max_rules": 6}),
    "winnow": (dpfast.DPWinnowClassifier, {"n_updates": 4}),
}
MANY = "halfspace", "trees", "weights", "projected", "list"  # of several classes, too


def fitted(name, classes, surveyed, rng):
    """A model of a small table, declared or surveyed; where it has coefficients, with others that make many ties."""
    learner, given = LEARNERS[name]
    n = 600
    table = {f"x{j}": rng.normal(size=n) for j in range(4)} | {"town": rng.choice(["a", "b", "c"], n)}
    table |= {f"flag{j}": rng.choice(["no", "yes"], n) for j in range(3)}
    if surveyed:
        table = np.column_stack([table[f"x{j}"] for j in range(4)])
    y = rng.integers(0, classes, n)
    model = learner(20.0, schema="discover" if surveyed else SCHEMA, random_state=int(rng.integers(1 << 30)), **given)
    model.fit(table, y, classes=range(classes))
    released = model.model_
    if hasattr(released, "coef") and rng.random() < 0.75:
        scale = float(rng.choice([0.1, 1.0, 1e-9, 3e7]))
        known = {key: scale * rng.integers(-2, 3, getattr(released, key).shape) for key in ("coef", "intercept")}
        known["shift"] = scale * rng.integers(-1, 2, released.shift.shape)
        if released.class_sizes is not None:
            known["class_sizes"] = rng.permutation(released.class_sizes)
        model.model_ = replace(released, **known)
        vars(model).update({f"{key}_": value for key, value in model.model_.attributes().items()})
    return model


def different(model, n, rng):
    """The number of rows of random codes whose label by the graph is not that of `predict`, and of ties."""
    columns = model.encoder_.schema_.code_columns
    arrays = [rng.integers(0, column.size, n).astype(np.uint8) for column in columns]
    table = CodeTable.of_columns(columns, n, arrays)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = interop.to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    label = session.run(["label"], {"codes": table.toarray().astype(np.int64)})[0]
    score = model.decision_function(table) if hasattr(model, "decision_function") else np.ones(n)
    top = np.sort(score, axis=1) if score.ndim == 2 else np.column_stack([np.zeros(n), score])
    return int((label != model.predict(table)).sum()), int((np.abs(top[:, -1] - top[:, -2]) < 1e-12).sum())


def compared(number, seed, n=FEW):
    """The tables of random codes with a label that differs, by learner, of so many tables of n rows, and all ties."""
    wrong, ties = [], 0
    names = [*((name, 2) for name in LEARNERS), *((name, 3) for name in MANY)]
    for k in range(number):
        rng = np.random.default_rng((seed, k))
        name, classes = names[k % len(names)]
        surveyed = bool(k // len(names) % 2)
        found, equal = different(fitted(name, classes, surveyed, rng), n, rng)
        ties += equal
        if found:
            wrong.append(f"{name} of {classes} classes, {'surveyed' if surveyed else 'declared'}, {k}: {found} labels")
    return wrong, ties


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = -(-asked.rows // FEW)
    wrong, ties = compared(tables, asked.seed)
    print(*wrong, sep="\n")
    print(f"{tables * FEW:,} rows, {ties:,} of them ties: {len(wrong):,} tables with labels that differ")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
