"""Whether HalfspaceClassifier's probabilities are better than the noisy class shares alone: shares.md, shares.json.

    python bench/shares.py --data DIR [--seeds 10] [--tables NAME ...] [--rows N ...] [--shares P ...] [--out DIR]

DIR as in tables.py. Tables are encoded by their schemas, and fitted with the defaults at epsilon .03 to 10, delta =
1e-6, replace. Labels are as they are, or shuffled, so that there is nothing to learn, or rows of the second class are
left out at random until it has the share P. A fit gets 80% of the rows, but at most N, and is tested on up to 20,000
others. A figure is the log loss of the model minus that of the noisy class shares that the same fit released, the mean
over seeds and its standard error. Means above 0 by more than two standard errors are printed bold.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import results
import tables

import dpfast
from dpfast.learners.halfspaces.steepness import log_chances, log_odds

EPSILONS, DELTA, MOST_TESTED = (0.03, 0.1, 0.3, 1, 3, 10), 1e-6, 20_000
AS_IT_IS, SHUFFLED = "as it is", "shuffled"


def encoded(path):
    """Codes, and labels as numbers of classes."""
    X, y, schema = tables.read(path)
    table = dpfast.TableEncoder(schema).fit_transform(X[schema.names])
    return table, np.array(list(map(str, schema.label.classes)) == y.to_numpy(str)[:, np.newaxis]).argmax(axis=1)


def chosen(y, share, rows, rng):
    """Labels, and the rows of the training and the test part."""
    if share == SHUFFLED:
        y = rng.permutation(y)
    order = rng.permutation(len(y))
    if share not in (AS_IT_IS, SHUFFLED):
        second = order[y[order] == 1]
        most = int(float(share) / (1 - float(share)) * (len(y) - len(second)))
        order = rng.permutation(np.concatenate([order[y[order] != 1], second[:most]]))
    size = int(0.8 * len(order))
    return y, order[: min(rows or size, size)], order[size:][:MOST_TESTED]


def loss(log_chances_of_rows, y):
    """The log loss of logarithms of chances, each row up to a constant."""
    below = log_chances_of_rows - log_chances_of_rows.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(below).sum(axis=1)) - below[np.arange(len(y)), y]))


def difference(table, y, train, test, epsilon, seed):
    """The log loss of a fit minus that of its noisy shares."""
    model = dpfast.HalfspaceClassifier(epsilon, DELTA, random_state=seed)
    model.fit(table[train], y[train], classes=np.arange(y.max() + 1))
    told, alone = model.decision_function(table[test]), model.shift_
    if told.ndim == 1:
        told, alone = (np.stack([0 * each, each], axis=1) for each in (told, log_odds(alone)))
    else:
        alone = log_chances(alone[np.newaxis])
    return loss(told, y[test]) - loss(np.repeat(alone, len(test), axis=0), y[test])


def cell(table, y, name, share, rows, seeds):
    """Differences for each epsilon and seed."""
    found = []
    for seed in range(seeds):
        noise = list(f"{name} {share} {rows}".encode())
        labels, train, test = chosen(y, share, rows, np.random.default_rng([seed, *noise]))
        draws = np.random.default_rng([seed, 1, *noise]).integers(1 << 31, size=len(EPSILONS)).tolist()
        both = zip(EPSILONS, draws, strict=True)
        found.append([difference(table, labels, train, test, epsilon, drawn) for epsilon, drawn in both])
    return np.transpose(found).tolist()


def markdown(report):
    rows = []
    for name, by_case in report.items():
        for case, cells in by_case.items():
            figures = []
            for each in cells:
                mean, error = np.mean(each), np.std(each, ddof=1) / len(each) ** 0.5 if len(each) > 1 else np.inf
                figures.append(f"{mean:+.4f} ± {error:.4f}" if mean <= 2 * error else f"**{mean:+.4f} ± {error:.4f}**")
            rows.append([name, case, *figures])
    head = ["table", "rows", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)]
    return "Log loss minus that of the noisy class shares, means and standard errors.\n\n" + results.table(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 5000, 0], help="0: all")
    parser.add_argument("--shares", nargs="+", default=[AS_IT_IS, SHUFFLED, "0.07", "0.02"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    report = results.read(arguments.out, "shares") or {}
    for path in sorted(arguments.data.glob("*.schema.json")):
        name = path.name.split(".")[0]
        if arguments.tables and name not in arguments.tables:
            continue
        table, y = encoded(path)
        cases = [(share, rows) for share in arguments.shares for rows in arguments.rows]
        for share, rows in cases:
            if y.max() > 1 and share not in (AS_IT_IS, SHUFFLED):
                continue
            case = f"{share}, {rows or 'all'} rows"
            report.setdefault(name, {})[case] = cell(table, y, name, share, rows, arguments.seeds)
            print(name, case, np.round(np.mean(report[name][case], axis=1), 4).tolist(), flush=True)
            results.write(arguments.out, "shares", report)
    results.publish(arguments.out, "shares", markdown(report))


if __name__ == "__main__":
    main()
