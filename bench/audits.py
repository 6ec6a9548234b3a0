"""The least epsilon of a whole fit, measured: no column is declared, and the neighbour moves most answers far.

    python bench/audits.py [--runs 2500] [--epsilon 4] [--delta 0.01] [--failure 1e-6] [--rounds 3] [--workers 1]

Two rows of one column, the classes 0 and 1; the neighbour has the other class in the second row. So few rows decide
nothing: probabilities stay near one half, where a row moves the sum of a round by nearly the most that it may. Each run
fits one of the two tables, gives the answers to a fit of the other one, as `dpfast.audit.replay` does, and has as its
outcome the logarithm of the ratio of the probabilities of all answers that Gaussian noise was added to: by Neyman and
Pearson no test of them tells the tables apart better.

Two lower bounds are printed. `dpfast.audit.certify` assumes nothing, and needs far more runs for as much. The
other one takes a positive outcome for the event, asks for the least mu of Gaussian differential privacy that allows its
two frequencies, and is the epsilon of that mu at the claim's delta: a bound if the trade-off of the fit is one of
Gaussian noise, which its bill says. Each is above the truth with probability --failure at most.
"""

import argparse
import functools
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
from scipy.special import betaincinv, ndtri

import dpfast
from dpfast.accounting import gaussian_epsilon
from dpfast.audit import certify
from dpfast.mechanisms.draws import recording

TABLES = [(pa.table({"x": [1.0, 4.0]}), np.array([0, label])) for label in (1, 0)]


class Tape:
    """The questions of a fit and their answers: drawn, or those of an earlier tape."""

    def __init__(self, answers=None):
        self.questions, self.answers, self._given = [], [], answers

    def answer(self, question, draw, rng):
        with recording(None):
            drawn = draw()
        self.questions.append(question.with_own_copy())
        self.answers.append(drawn if self._given is None else self._given[len(self.answers)])
        return self.answers[-1]


def fitted(which, p, seed, answers=None):
    """The tape of a fit of one of the tables."""
    tape = Tape(answers)
    model = dpfast.HalfspaceClassifier(p.epsilon, p.delta, n_rounds=p.rounds, random_state=seed)
    with recording(tape), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*TABLES[which], classes=[0, 1])
    return tape


def outcome(seed, which, p):
    """How much likelier the answers of a fit are on the second table than on the first: a logarithm."""
    own = fitted(which, p, 2 * seed + which)
    other = fitted(1 - which, p, 2 * seed + which, own.answers)
    total = 0.0
    for answer, mine, others in zip(own.answers, own.questions, other.questions, strict=True):
        if mine.form() != others.form():
            raise SystemExit(f"the fits ask different questions: {mine.form()} and {others.form()}")
        if mine.mechanism == "discrete_gaussian":
            away = np.square((answer - others.value) * float(mine.rate)) - np.square(
                (answer - mine.value) * float(mine.rate)
            )
            total += float(np.sum(away)) / 2
    return total if which else -total


def least_mu(hits, others, runs, failure):
    """The least mu that allows an event `hits` times on one table and `others` times on the other."""
    low, high = betaincinv(hits, runs - hits + 1, failure / 2), betaincinv(others + 1, runs - others, 1 - failure / 2)
    return max(0.0, ndtri(low) - ndtri(high))


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("runs", 2500), ("epsilon", 4.0), ("delta", 0.01), ("failure", 1e-6), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--workers", type=int, default=1)
    p = parser.parse_args()
    with ProcessPoolExecutor(p.workers) as pool:
        first, second = [
            [*pool.map(functools.partial(outcome, which=which, p=p), range(p.runs), chunksize=20)] for which in (0, 1)
        ]
    given = {"epsilon": p.epsilon, "delta": p.delta, "runs": p.runs, "failure": p.failure, "random_state": 0}
    audit = certify(lambda outcomes, rng: next(outcomes), iter(first), iter(second), **given)
    print(f"{audit}: {audit.certified / p.epsilon:.2f} of the claim")
    hits, others = (sum(each > 0 for each in outcomes) for outcomes in (second, first))
    mu = least_mu(hits, others, p.runs, p.failure)
    told = gaussian_epsilon(1 / mu, p.delta) if mu else 0.0
    print(f"a positive outcome: {hits / p.runs:.3f} and {others / p.runs:.3f} of the runs, so mu is at least {mu:.3f}")
    print(f"and epsilon at least {told:.3g}, {told / p.epsilon:.2f} of the claim")


if __name__ == "__main__":
    main()
