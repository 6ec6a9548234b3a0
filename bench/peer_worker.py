"""Runs one task again and again in the peers' environment, for `peers.Worker`: not for use by hand.

    python peer_worker.py TASK INPUT.npz

TASK gets the arrays of the file and returns a function. Each line of input is its arguments, an object of JSON; each is
answered by one line of JSON. The first line of output says that the function is ready.
"""

import json
import sys
import warnings

import numpy as np
import scipy.sparse as sp

CSR = "data", "indices", "indptr", "shape"


def store(path, **arrays):
    """Arrays, CSR ones in parts, in one file."""
    flat = {}
    for name, x in arrays.items():
        parts = {part: getattr(x, part) for part in CSR} if sp.issparse(x) else {"": x}
        flat |= {f"{name}.{part}": values for part, values in parts.items()}
    np.savez(path, **flat)


def load(path):
    """What `store` stored."""
    arrays = {}
    with np.load(path) as file:
        for name, part in (key.split(".") for key in file.files):
            arrays.setdefault(name, {})[part] = file[f"{name}.{part}"]
    for name, parts in arrays.items():
        *csr, shape = (parts.get(part) for part in CSR)
        arrays[name] = parts[""] if "" in parts else sp.csr_matrix(tuple(csr), shape)
    return arrays


def versions():
    """Of the packages that the other tasks use."""
    from importlib.metadata import distributions

    names = "diffprivlib", "imodels", "scikit-learn", "dp-xgboost", "dpmm"
    found = {each.metadata["Name"]: each.version for each in distributions()}
    return lambda: {name: found[name] for name in names if name in found}


def exponential(scores, exponent):
    """One draw by diffprivlib, its cumulative law included."""
    from diffprivlib.mechanisms import Exponential

    utility = scores.tolist()  # an array is refused
    return lambda: int(Exponential(epsilon=2 * float(exponent), sensitivity=1, utility=utility).randomise())


def greedy_rule_list(X, y):
    """The features in the rules of imodels' greedy rule list, `depth` of them."""
    from imodels import GreedyRuleListClassifier

    def features(depth):
        rules = GreedyRuleListClassifier(max_depth=depth).fit(X, y).rules_
        return [int(rule["index_col"]) for rule in rules if "index_col" in rule]

    return features


def logistic_regression(X, y, X_test, y_test):
    """Test accuracy of diffprivlib's logistic regression, on rows of norm 1 that have their constant already."""
    from diffprivlib import models

    class LogisticRegression(models.LogisticRegression):
        def _clip_to_norm(self, X, norm):
            if not sp.issparse(X):
                return super()._clip_to_norm(X, norm)
            if np.sqrt(X.multiply(X).sum(axis=1)).max() > norm * (1 + 1e-9):
                raise ValueError("diffprivlib cannot clip sparse rows: they must come with norms of at most data_norm")
            return X

    def fit(epsilon, C, seed):
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=C, fit_intercept=False, random_state=seed)
        return float(model.fit(X, y).score(X_test, y_test))

    return fit


def boosted_trees(X, y, X_test, low, high):
    """Chances of the label 1 on test rows by DP-XGBoost, its columns declared to lie in [low, high].

    Its noise is seeded by the second of the clock. A tree that sees a share of the rows, drawn at random, costs less
    than its own epsilon: log(1 + share (e^epsilon - 1)), and trees add up.
    """
    import dp_xgboost

    declared = {"feature_min": low.tolist(), "feature_max": high.tolist()}
    train, test = dp_xgboost.DMatrix(X, label=y, **declared), dp_xgboost.DMatrix(X_test, **declared)

    def chances(epsilon, trees, depth, share):
        each = np.log1p(np.expm1(epsilon / trees) / share)
        settings = {"objective": "binary:logistic", "tree_method": "approxDP", "base_score": 0.5, "nthread": 1}
        settings |= {"max_depth": depth, "subsample": share, "min_child_weight": 500, "learning_rate": 0.3}
        settings |= {"lambda": 0.1, "verbosity": 0, "dp_epsilon_per_tree": float(each)}
        return dp_xgboost.train(settings, train, num_boost_round=trees).predict(test).tolist()

    return chances


def synthetic_rows(X, y, low, high, sizes):
    """As many rows, label last, by AIM: numbers in [low, high] where the size of a column is 0, else its places.

    Numbers are binned by trees for a tenth of epsilon. A row added or removed is protected.
    """
    import pandas as pd
    from dpmm.pipelines import AIMPipeline

    columns, domain = {}, {}
    for j, size in enumerate([*sizes, 2]):
        cells = X[:, j] if j < len(sizes) else y
        columns[f"c{j}"] = cells.astype(int).astype(str) if size else cells
        places = {"categories": [str(place) for place in range(size)]}
        domain[f"c{j}"] = places if size else {"lower": float(low[j]), "upper": float(high[j])}
    frame = pd.DataFrame(columns)

    def rows(epsilon, delta):
        model = AIMPipeline(epsilon=0.9 * epsilon, delta=delta, proc_epsilon=0.1 * epsilon, n_jobs=1)
        model.fit(frame, domain)
        return model.generate(n_records=len(frame))[list(frame)].astype(float).to_numpy().tolist()

    return rows


TASKS = (versions, exponential, greedy_rule_list, logistic_regression, boosted_trees, synthetic_rows)
TASKS = {task.__name__: task for task in TASKS}


def main():
    replies, sys.stdout = sys.stdout, sys.stderr  # what a package prints is no reply
    warnings.simplefilter("ignore")
    task = TASKS[sys.argv[1]](**load(sys.argv[2]))
    print(json.dumps("ready"), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(task(**json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
