"""What the papers leave open, measured: rows that somebody replaced, adversaries that adapt, labels that were flipped.

    python bench/beyond.py [--runs 5] [--small]

Beside what is measured stand the limits that `dpfast.accounting` proves, all at epsilon = 1, delta = 1e-6, replace.
`--small` is one small size of each. Seeds are fixed: the numbers are the same on every machine.
"""

import argparse
import math
import time
import warnings

import numpy as np
from theory import DELTA, EPSILON, Problem, least_rows, lists, margins

import dpfast
from dpfast import accounting
from dpfast.littlestone import (
    OnlineLittlestoneLearner,
    PointFunctions,
    SOALearner,
    StagedOnlineLittlestoneLearner,
    Thresholds,
)

# ---- [BCS]: rows that somebody replaced ------------------------------------------------------------------------------

DENSITY = 0.3
SHARES = (0, 0.5, 1, 1.25, 1.5, 2, 3)  # of the limit


def limit(gamma):
    """The share of replaced rows at which a dense measure may be left without a weak learner."""
    return DENSITY * gamma / (1 + gamma)


def replaced(aside):
    """Rows that are right for halfspaces turned by 180 degrees less these."""

    def corrupt(X, y, share, rng):
        bad, angle = rng.random(len(y)) < share, math.radians(aside)
        X, y = X.copy(), y.copy()
        X[bad], y[bad] = [-math.cos(angle), math.sin(angle), 0], 1
        return X, y

    return corrupt


def flipped(X, y, share, rng):
    return X, np.where(rng.random(len(y)) < share, -y, y)


def flipped_on_one_side(X, y, share, rng):
    """Labels of half of the rows, with a rate of twice the share; none of the others."""
    return X, np.where((y * X[:, 1] > 0) & (rng.random(len(y)) < 2 * share), -y, y)


KINDS = {
    "replaced, the worst of three ways": [replaced(0), replaced(30), replaced(60)],
    "flipped, one rate": [flipped],
    "flipped, a rate for each row": [flipped_on_one_side],
}


def corruption(gamma, runs, rows=5000, rounds=200, shares=SHARES):
    """{kind: mean errors on new rows at shares of the limit} of boosting at one density."""
    problem, found = margins(gamma), {}
    for kind, ways in KINDS.items():
        errors = np.zeros((len(shares), len(ways), runs))
        for (i, j, seed), _ in np.ndenumerate(errors):
            rng = np.random.default_rng(seed)
            X, y = ways[j](*problem.draw(rows, rng), shares[i] * limit(gamma), rng)
            boost = dpfast.BoostedHalfspaceClassifier(
                EPSILON,
                DELTA,
                schema="vectors",
                density=DENSITY,
                n_rounds=rounds,
                fit_intercept=False,
                random_state=seed,
            )
            errors[i, j, seed] = 1 - boost.fit(X, y, classes=[-1, 1]).score(*problem.draw(4000, rng))
        found[kind] = errors.mean(axis=2).max(axis=1).tolist()
    return found


# ---- [Lyu]: adversaries that adapt -----------------------------------------------------------------------------------


class Adversary:
    """Chooses rounds with the last hypothesis in view, all of them mistakes, and keeps some member right on all."""

    def __init__(self, table, greedy, rng):
        self.left, self.greedy, self.rng = table, greedy, rng

    def round(self, hypothesis):
        """A point and its label; None where every hypothesis that is left agrees with the one in view."""
        says = hypothesis(np.arange(self.left.shape[1]))
        differ = (self.left != says).sum(axis=0)  # members that a mistake at each point leaves
        if not differ.any():
            return None
        x = int(differ.argmax() if self.greedy else self.rng.choice(np.flatnonzero(differ)))
        self.left = self.left[self.left[:, x] != says[x]]
        return x, 1 - int(says[x])


def played(learner, table, greedy, rounds, seed, block=50):
    """Mistakes against an adversary that looks at the hypothesis after every block of rounds."""
    adversary, mistakes = Adversary(table, greedy, np.random.default_rng(seed)), 0
    seen, asked = None, None
    for t in range(0, rounds, block):
        hypothesis = learner.hypothesis_ if t else learner.hypothesis_class.soa_hypothesis()
        if hypothesis is not seen:
            seen, asked = hypothesis, adversary.round(hypothesis)
        if asked is None:
            break
        if t and learner.frozen_:
            return mistakes + rounds - t  # it errs at this point for ever
        X, y = np.full(block, asked[0]), np.full(block, asked[1])
        mistakes += int((learner.stream(X, y) != y).sum())
    return mistakes


def optimal(H, table):
    """Mistakes of SOA, which adapts too."""
    learner, adversary = SOALearner(H), Adversary(table, True, None)
    while asked := adversary.round(lambda X: np.array([learner.predict(int(x)) for x in X])):
        learner.update(*asked)
    return learner.mistakes


def fixed(learner, table, near, rounds, seed):
    """Mistakes on a stream fixed beforehand: uniform points, or where one of the two members nearest to it errs."""
    rng = np.random.default_rng(seed)
    target = table[rng.integers(len(table))]
    apart = (table != target).sum(axis=1)
    hard = np.flatnonzero((table[np.argsort(apart)[1:3]] != target).any(axis=0)) if near else np.arange(table.shape[1])
    X = rng.choice(hard, rounds)
    return int((learner.stream(X, target[X]) != target[X]).sum())


CLASSES = {
    "thresholds": (Thresholds, lambda n: (np.arange(n) >= np.arange(n + 1)[:, None]).astype(np.int8)),
    "point functions": (PointFunctions, lambda n: np.eye(n, dtype=np.int8)),
}


def adaptive(kind, n, runs, rounds=100_000):
    """{learner: {stream: the most mistakes of some runs}} beside what is planned."""
    of_size, members = CLASSES[kind]
    H, table, staged = of_size(n), members(n), {"horizon": rounds, "scale": 1e-9}
    learners = {
        "OnlineLittlestoneLearner": lambda seed: OnlineLittlestoneLearner(1.0, DELTA, H, rounds, random_state=seed),
        "Staged..., epsilon 8": lambda seed: StagedOnlineLittlestoneLearner(8.0, DELTA, H, random_state=seed, **staged),
    }
    found = {}
    for name, learner in learners.items():
        lines = {
            "fixed, uniform": lambda seed: fixed(learner(seed), table, False, rounds, seed),  # noqa: B023
            "fixed, near the target": lambda seed: fixed(learner(seed), table, True, rounds, seed),  # noqa: B023
            "adaptive, any mistake": lambda seed: played(learner(seed), table, False, rounds, seed),  # noqa: B023
            "adaptive, most members left": lambda seed: played(learner(seed), table, True, rounds, seed),  # noqa: B023
        }
        found[name] = {line: max(map(run, range(runs))) for line, run in lines.items()}
        found[name]["planned"] = learner(0).estimate().mistakes
    found["SOA, not private"] = {"adaptive, most members left": optimal(H, table), "planned": H.littlestone_dimension()}
    return found


# ---- [BF]: labels that were flipped ----------------------------------------------------------------------------------

PLAIN = {"coverage_weight": 0, "default_prior": 1, "max_rules": None, "negations": False, "rule_counts": 0}


def decoys(m, eta, rate=0.8):
    """Rows of "if the first column then 0, else 1", with m columns of which each says 1 on a little more than half.

    Such a column holds for b rows of the first column's and 1.2 b others; b is `rate` times what eta lets it have.
    """
    b = rate * eta / (1 + 0.2 * eta + (2.2 * m - 1) * eta)
    first = 1 - 1.2 * m * b

    def draw(n, rng):
        where, others = rng.random(n), 1.2 * m * b
        X, y = np.zeros((n, m + 1), int), (where >= first).astype(int)
        X[:, 0] = where < first
        within, beyond = where < m * b, where >= first
        X[within, 1 + (where[within] / b).astype(int)] = 1
        X[beyond, 1 + np.minimum(((where[beyond] - first) / others * m).astype(int), m - 1)] = 1
        return X, y

    return Problem("decoys", m, draw), m * b


class Flipped:
    """A learner whose labels are flipped before it sees them."""

    def __init__(self, learner, eta, seed):
        self.learner, self.eta, self.rng = learner, eta, np.random.default_rng((seed, 1))

    def fit(self, X, y):
        self.learner.fit(X, np.where(self.rng.random(len(y)) < self.eta, 1 - y, y), classes=[0, 1])
        return self

    def score(self, X, y):
        return self.learner.score(X, y)


def cover(seed, **own):
    return dpfast.DecisionListClassifier(EPSILON, DELTA, random_state=seed, **own)


def misled(m, eta, runs, rows=100_000):
    """Mean errors before flipping where decoys are about; any list that begins with the first column makes none."""
    problem, predicted = decoys(m, eta)
    found = {}
    for name, own in (("weight 0", PLAIN), ("weight .3", PLAIN | {"coverage_weight": 0.3}), ("default", {})):
        errors = []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            learner = Flipped(cover(seed, **own), eta, seed).fit(*problem.draw(rows, rng))
            errors.append(1 - learner.score(*problem.draw(4000, rng)))
        found[name] = float(np.mean(errors))
    return found | {"all decoys": predicted, "limit of decoys": m * eta / (1 + (2 * m - 1) * eta)}


def list_rows(M, share, runs):
    """Least rows for lists of M conditions with flipped labels, at a rate that is a share of the plan's limit."""
    eta = share * 0.1 / (M + 0.2)
    noisy = lambda own: lambda seed: Flipped(cover(seed, **own), eta, seed)  # noqa: E731
    return {
        "rate": eta,
        "greedy cover": least_rows(lists(M), noisy(PLAIN), runs),
        "default": least_rows(lists(M), noisy({}), runs),
        "our plan": accounting.decision_list_plan(EPSILON, DELTA, M, noise=eta).n if share < 1 else None,
    }


# ---- all of it -------------------------------------------------------------------------------------------------------


def show(heading, found):
    print(heading, flush=True)
    for line, value in found.items():
        values = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else [("", value)]
        )
        print(
            f"    {line}: " + ", ".join(f"{at}{': ' if at != '' else ''}{_number(x)}" for at, x in values), flush=True
        )


def _number(x):
    return "none" if x is None else f"{x:,.4g}" if isinstance(x, float) else f"{x:,}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="the first size of each, in one run")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    runs, started = 1 if given.small else given.runs, time.perf_counter()
    for gamma in (0.4,) if given.small else (0.4, 0.2):
        show(f"margin {gamma}, errors at {SHARES} of the limit {limit(gamma):.3g}", corruption(gamma, runs))
    for kind, n in [("thresholds", 15)] if given.small else [(kind, n) for kind in CLASSES for n in (15, 255, 1023)]:
        for learner, found in adaptive(kind, n, runs).items():
            show(f"{kind} on {n}, mistakes of {learner}", found)
    for m in (8,) if given.small else (8, 32, 128):
        show(f"{m} decoys, a tenth of the labels flipped: errors", misled(m, 0.1, runs))
    for M in (4,) if given.small else (4, 8, 16):
        for share in (0, 0.25, 0.5, 0.9, 0.1 * (M + 0.2) / 0.1):
            show(f"lists over {M} conditions", list_rows(M, share, runs if given.small else 10))
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
