"""Every private classifier: is a model worse than no model, are its probabilities wrong, is it worse with more budget?

`python tests/faults/usefulness.py --seconds 600 --most 1000000` prints every fit to a random table that is worse than
its noise explains; `--all` prints every fit, and `--undeclared` declares nothing. `--ladders` prints every learner at
every epsilon, on tables of all kinds up to 50,000 rows: accuracy and area under the curve. `test_utility.py` runs a few
of both.
"""

import argparse
import math
import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import expit
from sklearn.metrics import roc_auc_score

import dpfast
from dpfast.base.fitting import NothingLearned
from dpfast.tables import Boolean, Category, Label, Numeric, Schema

TEST = 4000  # rows that a model is judged by
EPSILONS = 0.1, 0.3, 1.0, 3.0, 10.0
SHARES = 0.5, 0.6, 0.8, 0.9, 0.98, 0.995  # of the larger class
SIGNALS = 0.0, 0.5, 2.0, 8.0, math.inf  # of the log odds; all rows are separable in the last
WORDS = np.array(["red", "green", "blue", "grey", "pink"])


class Table(NamedTuple):
    """A random table: what was asked for, its schema, and rows to learn from and to be judged by."""

    told: str
    schema: Schema
    train: pd.DataFrame
    test: pd.DataFrame
    y: np.ndarray
    truth: np.ndarray

    @property
    def numbers(self):
        """The table without its words, as float64: train and test."""
        kept = [name for name in self.train if not name.startswith("w")]
        return [frame[kept].to_numpy(np.float64) for frame in (self.train, self.test)]


def table(rng: np.random.Generator, most: int, columns: int) -> Table:
    """A table of up to so many rows and columns: normal, skewed, constant and repeated numbers, bits and words."""
    n = int(300 * (most / 300) ** rng.random())
    d = int(columns ** rng.random())
    share, signal = rng.choice(SHARES), rng.choice(SIGNALS)
    kinds = rng.choice(
        ["normal", "skewed", "constant", "repeated", "bits", "words"], d, p=[0.35, 0.2, 0.05, 0.1, 0.2, 0.1]
    )
    kinds[0] = rng.choice(["normal", "skewed", "bits"])
    latent = rng.normal(size=(n + TEST, d))
    weights = rng.normal(size=d) * (rng.random(d) < max(0.1, 2 / d))
    weights[0] = 1.0
    told = latent @ weights / np.sqrt(np.square(weights).sum())
    if math.isinf(signal):
        labels = told > np.quantile(told, share)
    else:
        shift = _shift(signal * told, 1 - share)
        labels = rng.random(n + TEST) < expit(signal * told + shift)
    labels[:2] = labels[n : n + 2] = 0, 1
    data, declared = {}, []
    for j, kind in enumerate(kinds):
        z, scale = latent[:, j], 10.0 ** rng.uniform(-9, 9)
        name = f"{kind[0]}{j}"
        if kind == "words":
            data[name] = WORDS[np.clip(np.floor(z + 2.5), 0, 4).astype(int)]
            declared.append(Category(name, WORDS.tolist()[:4]))
        elif kind == "bits":
            data[name] = (z > rng.normal()).astype(np.int64)
            declared.append(Boolean(name))
        else:
            values = {"normal": z, "skewed": np.exp(2 * z), "constant": 0 * z + 1}.get(kind, latent[:, 0])
            data[name] = scale * values
            declared.append(Numeric(name, -4 * scale, (60 if kind == "skewed" else 4) * scale, edges=16))
    frame = pd.DataFrame(data)
    what = f"n={n} d={d} share={share} signal={signal}"
    y = labels.astype(np.int64)
    schema = Schema(declared, label=Label("y", [0, 1]))
    return Table(what, schema, frame[:n], frame[n:].reset_index(drop=True), y[:n], y[n:])


def _shift(odds, share):
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(odds + middle).mean() < share else (low, middle)
    return middle


class Case(NamedTuple):
    """A learner of tables with a schema, or of numbers alone.

    `noise` times 1 / (epsilon n) is the share of rows that the noise of its releases can hide. With `sides_alone` it
    releases no counts of classes: it may be worse than the larger class, and rank rows the wrong way, as its page says.
    """

    make: type
    parameters: dict
    noise: float
    sides_alone: bool = False
    numbers: bool = False
    slow: float = 1e9  # rows times columns that it is given at most


CASES = {
    "halfspace": Case(dpfast.HalfspaceClassifier, {}, 300),
    "halfspace of numbers": Case(dpfast.HalfspaceClassifier, {}, 300, numbers=True),
    "list": Case(dpfast.DecisionListClassifier, {}, 300),
    "boosted": Case(dpfast.BoostedHalfspaceClassifier, {"probability_share": 0.1}, 800),
    "boosted without counts": Case(dpfast.BoostedHalfspaceClassifier, {}, 300, sides_alone=True),
    "projected": Case(dpfast.ProjectedHalfspaceClassifier, {"probability_share": 0.1}, 800),
    "net": Case(dpfast.NetHalfspaceClassifier, {"probability_share": 0.1, "n_components": 3}, 800, slow=3e6),
    "winnow": Case(dpfast.DPWinnowClassifier, {"probability_share": 0.1}, 800),
    "linear": Case(dpfast.LinearLearner, {"probability_share": 0.1}, 800),
}


class Judged(NamedTuple):
    """What a model does on new rows, less what no model does; nan where it does not say."""

    accuracy: float  # less the share of the larger class
    auc: float  # less a half
    mean: float  # probability of class 1, less its share
    allowed: float  # that noise and sample explain of accuracy and mean
    allowed_auc: float
    fault: str  # what is wrong with its probabilities


def judged(case: Case, data: Table, epsilon: float, seed: int, *, declared: bool = True) -> Judged | None:
    """Fit a case to a table, and judge it by new rows; None if no labels were declared, and fewer than two found."""
    learner = case.make(epsilon=epsilon, random_state=seed, **case.parameters)
    train, test = data.numbers if case.numbers else (data.train, data.test)
    if declared and not case.numbers:
        learner.set_params(schema=data.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pure = not learner.delta  # labels are not discovered then
            learner.fit(train, data.y, classes=[0, 1] if declared or pure else None)
        except NothingLearned:
            return None
    truth, fault, mean = data.truth, "", math.nan
    accuracy = float(learner.score(test, truth)) - max(truth.mean(), 1 - truth.mean())
    score, second = None, _place_of_1(learner.classes_)
    if hasattr(learner, "predict_proba"):
        shares = learner.predict_proba(test)
        score = shares[:, second]
        if not (np.isfinite(shares).all() and (shares >= 0).all() and np.allclose(shares.sum(axis=1), 1)):
            fault = "no probabilities"
        mean = float(score.mean() - truth.mean())
    if hasattr(learner, "decision_function"):
        score = learner.decision_function(test) * (1 if second else -1)
        fault = fault if np.isfinite(score).all() else "scores that are not finite"
    auc = math.nan if score is None else roc_auc_score(truth, score) - 0.5
    rare = min(data.y.mean(), 1 - data.y.mean(), truth.mean(), 1 - truth.mean())
    sample = 5 * math.sqrt(rare / TEST + rare / len(data.y))
    noise = case.noise / (epsilon * len(data.y))
    allowed_auc = noise / rare + 5 / math.sqrt(12 * rare * TEST)
    return Judged(accuracy, float(auc), mean, noise + sample, allowed_auc, fault)


def _place_of_1(classes: np.ndarray) -> int:
    """The place of class 1, which may be all but the only label that was discovered."""
    first, second = map(str, classes)
    return int(second == "1" or first == "0")


def worse(case: Case, found: Judged, data: Table) -> list[str]:
    """What is worse than noise and sample explain."""
    said = [found.fault] if found.fault else []
    if case.sides_alone:
        return said
    if found.accuracy < -found.allowed:
        said.append(f"accuracy {found.accuracy:+.3f} of the larger class")
    if abs(found.mean) > found.allowed:
        said.append(f"probabilities {found.mean:+.3f} on average")
    if found.auc < -found.allowed_auc:
        said.append(f"AUC {found.auc:+.3f} of a half")
    return said


# ---- ladders of budgets ----------------------------------------------------------------------------------------------

KINDS = "codes", "undeclared", "signs", "dense", "sparse"


class Ladder(NamedTuple):
    """What a learner does on new rows at rising epsilons: medians over seeds."""

    epsilons: tuple[float, ...]
    accuracy: np.ndarray
    auc: np.ndarray
    larger: float  # the share of the larger class
    rows: int
    rare: float  # the share of the smaller class

    def told(self) -> str:
        right, ranked = (" ".join(f"{each:.3f}" for each in figures) for figures in (self.accuracy, self.auc))
        return f"accuracy {right}, AUC {ranked}, larger class {self.larger:.3f}"

    def faults(self, noise: float) -> list[str]:
        """Falls with budget, ranks below a half, and accuracies below the larger class that noise does not explain."""
        said, sample = [], 3 * math.sqrt(self.rare / TEST)
        ranks = 3 / math.sqrt(12 * self.rare * TEST)
        for k, epsilon in enumerate(self.epsilons):
            hidden = noise / (epsilon * self.rows)
            allowed = {"accuracy": hidden + sample, "AUC": hidden / self.rare + ranks}
            for name, figures in (("accuracy", self.accuracy), ("AUC", self.auc)):
                fall = figures[: k + 1].max() - figures[k]
                if fall > allowed[name]:
                    said.append(f"{name} falls by {fall:.3f} to epsilon {epsilon:g}")
            if self.auc[k] < 0.5 - allowed["AUC"]:
                said.append(f"AUC {self.auc[k]:.3f} at epsilon {epsilon:g}")
            if self.accuracy[k] < self.larger - allowed["accuracy"]:
                said.append(f"accuracy {self.accuracy[k]:.3f} at epsilon {epsilon:g}")
        return said


def rows_of(rng: np.random.Generator, kind: str, n: int, share: float) -> tuple:
    """The arguments of a learner, and rows and labels to learn from and to be judged by; a share of labels is 1."""
    latent = rng.normal(size=(n + TEST, 12))
    odds = latent[:, :4].sum(axis=1) + rng.logistic(size=n + TEST) / 2
    y = (odds > np.quantile(odds, 1 - share)).astype(np.int64)
    arguments: dict = {}
    if kind in ("codes", "undeclared"):
        X = pd.DataFrame({f"n{j}": latent[:, j] for j in range(8)})
        X["w"] = WORDS[np.clip(np.floor(latent[:, 3] + 2.5), 0, 4).astype(int)]
        if kind == "codes":
            arguments["schema"] = Schema(
                [*(Numeric(f"n{j}", -4, 4, edges=16) for j in range(8)), Category("w", WORDS.tolist())],
                label=Label("y", [0, 1]),
            )
    elif kind == "signs":
        X = latent > np.linspace(-1, 1, 12)
    elif kind == "dense":
        X = np.clip(latent / 4, -1, 1)
    else:
        often = 1 / np.arange(2, 402)  # of 400 words; the first ones of each dozen speak for the label
        chance = often * np.exp(0.8 * np.tile(latent, 34)[:, :400]) / np.exp(0.32)
        X = sp.csr_array((rng.random(chance.shape) < chance).astype(np.float64))
    return arguments, X[:n], y[:n], X[n:], y[n:]


def ladder(case: Case, data: tuple, epsilons=EPSILONS, seeds=range(3)) -> Ladder:
    """Fit a learner at each epsilon, with so many seeds."""
    arguments, X, y, new, truth = data
    arguments = case.parameters | arguments
    right, ranked = (np.empty((len(epsilons), len(seeds))) for _ in range(2))
    for k, epsilon in enumerate(epsilons):
        for j, seed in enumerate(seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = case.make(epsilon=epsilon, random_state=seed, **arguments).fit(X, y, classes=[0, 1])
            right[k, j] = (model.predict(new) == truth).mean()
            ranked[k, j] = roc_auc_score(truth, model.decision_function(new))
    rare = min(truth.mean(), 1 - truth.mean())
    return Ladder(tuple(epsilons), np.median(right, 1), np.median(ranked, 1), 1 - rare, len(y), rare)


LADDERS = {
    name: CASES[name]._replace(parameters={}, noise=300)
    for name in ("halfspace", "list", "boosted", "projected", "winnow")
}


def climb(most: int, names: list[str]) -> None:
    """Print all ladders."""
    for n in [n for n in (500, 5_000, 50_000) if n <= most]:
        for kind in KINDS:
            for share in (0.5, 0.2, 0.02):
                for name in names:
                    start = time.monotonic()
                    found = ladder(LADDERS[name], rows_of(np.random.default_rng(n), kind, n, share))
                    faults = "; ".join(found.faults(LADDERS[name].noise)) or "well"
                    took = time.monotonic() - start
                    print(f"{name}, {kind}, {n} rows, {share}: {found.told()}: {faults} ({took:.0f} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--most", type=int, default=20_000, help="rows")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="print every fit")
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--undeclared", action="store_true", help="declare nothing")
    parser.add_argument("--ladders", action="store_true", help="print every learner at every epsilon")
    given = parser.parse_args()
    if given.ladders:
        return climb(max(given.most, 50_000), [name for name in given.cases if name in LADDERS])
    rng, end = np.random.default_rng(given.seed), time.monotonic() + given.seconds
    fits = faults = nothing = 0
    while time.monotonic() < end:
        data = table(rng, given.most, given.columns)
        epsilon, seed = float(rng.choice(EPSILONS)), int(rng.integers(1 << 30))
        for name in given.cases:
            case = CASES[name]
            if data.train.size > case.slow:
                continue
            found = judged(case, data, epsilon, seed, declared=not given.undeclared)
            if found is None:
                nothing += 1
                continue
            said = worse(case, found, data)
            fits, faults = fits + 1, faults + bool(said)
            if said or given.all:
                figures = [round(float(each), 3) for each in found[:5]]
                print(f"{name}, epsilon {epsilon}, {data.told}: {'; '.join(said) or 'well'}; {figures}", flush=True)
    print(f"{fits} fits, {faults} worse than their noise explains; {nothing} ended without two labels")


if __name__ == "__main__":
    main()
