"""How much a number with an offset loses where nothing is declared: accuracy beside that of the declared range.

    python bench/offsets.py [--columns NAME ...] [--models NAME ...] [--seeds 3] [--wide] [--scales]

Each made column follows a number u between 0 and 1 by an offset, a spread and a form of its own, and the label is
whether u is above a half, wrong for one row in twenty. Of 15,000 rows a model learns from that one column at epsilon 1,
with nothing declared and with the declared range; its accuracy is that on 20,000 other rows, the mean over the seeds.
`--wide` makes one table of 5,000 rows and twenty columns, whose label depends on all of them. `--scales` takes arrays
of `make_classification` whose columns are scaled by powers of ten and shifted, beside standardized ones.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.datasets import make_classification

import dpfast
from dpfast.tables import Date, Label, Numeric, Schema

DAY = pd.Timestamp("2021-03-01")
MODELS = {
    "halfspace": dpfast.HalfspaceClassifier,
    "list": dpfast.DecisionListClassifier,
    "winnow": dpfast.DPWinnowClassifier,
    "boosted": dpfast.BoostedHalfspaceClassifier,
    "projected": dpfast.ProjectedHalfspaceClassifier,
}


def whole(numbers):
    return np.floor(numbers).astype(np.int64)


def some(u, share):
    """Mask of about this share of the rows, whatever their label is."""
    return (u * 7919) % 1 < share


COLUMNS = {
    "0 to 1": lambda u: u,
    "latitude, 48.05 to 48.25": lambda u: 48.05 + 0.2 * u,
    "longitude, -122.5 to -122.3": lambda u: -122.5 + 0.2 * u,
    "year, 2015 to 2022": lambda u: whole(2015 + 8 * u),
    "day, 20150101 to 20221228": lambda u: (
        whole(2015 + 8 * u) * 10_000 + (whole(96 * u) % 12 + 1) * 100 + whole(2688 * u) % 28 + 1
    ),
    "order, 1,000,000 to 1,020,000": lambda u: whole(1_000_000 + 20_000 * u),
    "10^9 + 10^-3": lambda u: 1e9 + 1e-3 * u,
    "10^9 + 10^6": lambda u: 1e9 + 1e6 * u,
    "10^9 + 50, whole": lambda u: whole(1e9 + 50 * u),
    "seconds of one year": lambda u: whole(1_609_459_200 + 31_536_000 * u),
    "10^6 + 10^-3": lambda u: 1e6 + 1e-3 * u,
    "1,000 + 10^-2": lambda u: 1_000 + 1e-2 * u,
    "2^20 - 50 to 2^20 + 50": lambda u: 2.0**20 - 50 + 100 * u,
    "temperature, -273.15 + .01": lambda u: -273.15 + 0.01 * u,
    "normal, 98.6 +- .7": lambda u: 98.6 + 0.7 * _normal(u),
    "normal, 10,000 +- 1, whole": lambda u: whole(10_000.5 + _normal(u)),
    "skewed, 300 + exponential": lambda u: 300 - np.log(1 - u),
    "skewed, 10^5 + log-normal": lambda u: 1e5 + np.exp(1.5 * _normal(u)),
    "a lump at 0, else 2015 to 2022": lambda u: np.where(some(u, 0.2), 0.0, 2015 + 8 * u),
    "a lump within, 48.1": lambda u: np.where(some(u, 0.2) & (u < 0.5), 48.1, 48.05 + 0.2 * u),
    "a few far away": lambda u: np.where(some(u, 0.02), 1e4 * u, 48.05 + 0.2 * u),
    "words in a fifth": lambda u: np.where(some(u, 0.2), "none yet", (48.05 + 0.2 * u).round(4).astype(str)),
    "numbers in an eighth, else words": lambda u: np.where(
        some(u, 0.125), (7_000 + 20 * u).round(3).astype(str), np.where(u > 0.5, "many", "few")
    ),
    "pH, 7.35 to 7.45": lambda u: (7.35 + 0.1 * u).round(3),
    "a week of March 2021": lambda u: DAY + pd.to_timedelta(whole(7 * u), unit="D"),
}
ODD = "words", "March", "at 0", "far away"  # in columns that a range does not describe, or that are no numbers
WIDE = [name for name in COLUMNS if not any(part in name for part in ODD)]


def _normal(u):
    return ndtri(np.clip(u, 1e-6, 1 - 1e-6))


def declared(frame):
    """Schema with the range of each column of numbers or dates; None if words are among them."""
    made = []
    for name, column in frame.items():
        if pd.api.types.is_datetime64_any_dtype(column):
            made.append(Date(name, f"{column.min():%Y-%m-%d}", f"{column.max():%Y-%m-%d}"))
        elif pd.api.types.is_numeric_dtype(column):
            made.append(Numeric(name, *map(float, column.quantile([0.005, 0.995]))))
        else:
            return None
    return Schema(made, label=Label("y", [0, 1]))


def accuracies(model, table, seeds):
    """Mean accuracy over the seeds with nothing declared, its least, and with the declared range."""
    (X, y), (X_test, y_test) = table
    schema = declared(X)
    found = [MODELS[model](random_state=seed).fit(X, y).score(X_test, y_test) for seed in range(seeds)]
    if schema is None:
        return np.mean(found), min(found), np.nan
    told = [MODELS[model](schema=schema, random_state=seed).fit(X, y).score(X_test, y_test) for seed in range(seeds)]
    return np.mean(found), min(found), np.mean(told)


def lone(name, n=15_000, others=20_000):
    rng = np.random.default_rng(1)
    u = rng.random(n + others)
    frame = pd.DataFrame({"x": COLUMNS[name](u)})
    return _split(frame, ((u > 0.5) ^ (rng.random(n + others) < 0.05)).astype(int), n)


def wide(n=5_000, others=20_000):
    rng = np.random.default_rng(2)
    u = rng.random((len(WIDE), n + others))
    frame = pd.DataFrame({name: COLUMNS[name](u[k]) for k, name in enumerate(WIDE)})
    odds = rng.choice([-1, 1], len(WIDE)) @ (u - 0.5)
    return _split(frame, (odds + rng.normal(0, 0.2, n + others) > 0).astype(int), n)


def scaled(shifted, n=15_000, others=20_000, seed=0):
    """Columns of make_classification as an array, standardized, or scaled by powers of ten and shifted."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(n + others, 20, n_informative=10, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    if shifted:
        scales = 10.0 ** rng.integers(-3, 7, 20)
        X = X * scales + scales * rng.choice([0, 10, 1_000], 20)
    return _split(X, y, n)


def _split(X, y, n):
    return (X[:n], y[:n]), (X[n:], y[n:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", nargs="+", default=[*COLUMNS])
    parser.add_argument("--models", nargs="+", default=[*MODELS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--scales", action="store_true")
    p = parser.parse_args()
    warnings.simplefilter("ignore")
    if p.scales:
        print("| learner | standardized | scaled and shifted |\n|---|---:|---:|")
        for model in p.models:
            scores = [
                np.mean(
                    [
                        MODELS[model](random_state=seed).fit(*train).score(*test)
                        for seed in range(p.seeds)
                        for train, test in [scaled(shifted, seed=seed)]
                    ]
                )
                for shifted in (False, True)
            ]
            print(f"| {model} | {scores[0]:.3f} | {scores[1]:.3f} |", flush=True)
        return
    tables = {"twenty columns": wide()} if p.wide else {name: lone(name) for name in p.columns}
    print("| column | learner | nothing declared | least seed | declared | difference |\n|---|---|---:|---:|---:|---:|")
    for name, table in tables.items():
        for model in p.models:
            found, least, told = accuracies(model, table, p.seeds)
            print(f"| {name} | {model} | {found:.3f} | {least:.3f} | {told:.3f} | {found - told:+.3f} |", flush=True)


if __name__ == "__main__":
    main()
