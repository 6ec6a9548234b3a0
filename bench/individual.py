"""Whether accounting for what each row really spends helps a halfspace: individual.md, individual.json.

    python bench/individual.py --data DIR [--seeds 5] [--sets NAME ...] [--out DIR]

A noisy perceptron by `dpfast.mechanisms.IndividualSums`: T rounds, each of which adds up the rows that are not ahead by
a threshold, and where each row may spend B of them, by weights that are 0 or 1 or fall smoothly with how far a row is
ahead ("smooth": 64 steps of 1 / (1 + exp(5 m - 2.5)), m the margin in thresholds). B = T is plain composition. Data
sets, splits and figures as in utility.py; the sign of the score counts.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import results
import utility
from scipy.special import expit

from dpfast.mechanisms import IndividualSums
from dpfast.tables.unit_rows import unit_rows

STEPS = 64  # of a smooth weight
STEP = 0.03  # of a threshold, for what sums say beyond their noise
TAIL = 5  # the model is the mean over the last fifth of the rounds
WAYS = [("0 or 1", T, B) for T, B in ((100, 100), (100, 50), (200, 100), (200, 200))]
WAYS += [("smooth", T, B) for T, B in ((100, 100), (100, 25), (200, 25))]


class NoisySums:
    """What a run has released, and what follows from it. No row is seen here.

    Parameters
    ----------
    size : int
        Columns of the rows, the intercept among them.
    classes : int
    deviation : float
        Of the noise on each entry of a sum, for rows of norm 1.
    n_rounds : int
    """

    def __init__(self, size, classes, deviation, n_rounds):
        self._total = np.zeros((size, 1 if classes == 2 else classes))
        self._noise = deviation**2
        self._along = self._noise * (1 if classes == 2 else 2)  # a score's lead is a difference of two
        self._care = max(1.0, math.log(size) / 4)
        self._rounds, self._excess = n_rounds, 0.0
        self._tail = np.zeros_like(self._total)
        self.used, self.threshold = 0, math.inf  # in the first round no row is settled

    def scale(self):
        """The Frobenius norm of G, or 1 for G = 0."""
        return math.sqrt(np.square(self._total).sum()) or 1.0

    def unit(self):
        """G, scaled to Frobenius norm 1, and the threshold for that: float64, shape (size, columns), and float."""
        norm = self.scale()
        return self._total / norm, self.threshold / norm

    def add(self, noisy):
        """Go on by a noisy sum, for rows of norm 1: float64, shape (size, columns)."""
        self.used += 1
        self._total += noisy
        self._excess += max(0.0, np.square(noisy).sum() - noisy.size * self._noise)
        self.threshold = math.sqrt(self._care**2 * self._along * self.used + STEP**2 * self._excess)
        if TAIL * self.used > (TAIL - 1) * self._rounds:
            self._tail += self._total / self.threshold

    def model(self):
        """The mean of G over the last rounds, each G in thresholds: float64, shape (size, columns)."""
        late = self.used - (TAIL - 1) * self._rounds // TAIL
        if late > 0:
            return self._tail / late
        return self._total / self.threshold


def weights_of(kind, margins):
    """Integers, for margins y <g, x> in thresholds."""
    if kind == "0 or 1":
        return (margins < 1).astype(np.int32)
    return np.floor(STEPS * expit(2.5 - 5 * margins) + 0.5).astype(np.int32)


def right(split, epsilon, neighbors, kind, rounds, spent):
    """The share of the test part that is right."""
    rows, signs = unit_rows(split.X, fit_intercept=True, normalize=True), split.y.astype(np.int32)
    unit = 1 if kind == "0 or 1" else STEPS
    given = {"squares": spent * unit**2, "releases": rounds, "neighbors": neighbors}
    sums = IndividualSums(rows, epsilon=epsilon, delta=utility.DELTA, random_state=split.seed, **given)
    model = NoisySums(rows.shape[1], 2, sums.sigma / (unit * rows.reach), rounds)
    for t in range(rounds):
        w, threshold = model.unit()
        margins = signs * rows.margins(w)[:, 0] / threshold if t else np.zeros(len(signs))
        noisy = sums.release(signs * weights_of(kind, margins))
        model.add(noisy[:, np.newaxis] / (unit * rows.reach))
    test = unit_rows(split.X_test, fit_intercept=True, normalize=True)
    return ((test.margins(model.model())[:, 0] >= 0) == (split.y_test == 1)).mean()


def markdown(report):
    names = [f"epsilon {epsilon:g}" for epsilon in utility.EPSILONS]
    rows = []
    for table, by_way in report["tables"].items():
        for way, cells in by_way.items():
            rows.append([table, way, *(f"{cell:.3f}" for cell in cells)])
            table = ""
    text = f"Test accuracy, means of {report['seeds']} splits 80/20; delta = 1e-6.\n\n"
    return text + results.sentence(report["machine"]) + "\n\n" + results.table(["data", "way", *names], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--neighbors", default="replace")
    parser.add_argument("--sets", nargs="+")
    arguments = parser.parse_args()
    report = {"tables": {}, "seeds": arguments.seeds, "machine": results.machine()}
    for table in utility.tables(arguments.data):
        if arguments.sets and table.name not in arguments.sets:
            continue
        splits = list(utility.splits(table, arguments.seeds))
        for kind, rounds, spent in WAYS:
            name = f"{kind}, T = {rounds}, B = {spent}"
            cells = [
                float(np.mean([right(split, epsilon, arguments.neighbors, kind, rounds, spent) for split in splits]))
                for epsilon in utility.EPSILONS
            ]
            report["tables"].setdefault(table.name, {})[name] = cells
            print(table.name, name, [round(cell, 4) for cell in cells], flush=True)
            results.write(arguments.out, "individual", report)
    (arguments.out / "individual.md").write_text(markdown(report))


if __name__ == "__main__":
    main()
