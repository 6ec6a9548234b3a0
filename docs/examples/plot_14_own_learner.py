"""
A learner of one's own
======================

Naive Bayes, private: one noisy histogram says how often each code of each column goes with each class, and all else is
computed from it. What the class inherits reads arrays, frames, files and clusters, with a schema or without one, counts
persons, charges budgets, saves models and states the claim.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import dpfast
from dpfast.base import Codes, GaussianSum, IntArray, Model, Plan, PrivateClassifier, estimator, sqrt_up
from dpfast.kernels import reals
from dpfast.testing import check_private_estimator


def histogram(piece, n_classes):
    """Rows of a part by code and class: a question, whose answers are added up."""
    return np.concatenate(
        [
            np.bincount(column * np.int64(n_classes) + piece.labels, minlength=size * n_classes)
            for column, size in zip(piece.rows.codes.columns, piece.rows.sizes, strict=True)
        ]
    ).reshape(-1, n_classes)


@dataclass(frozen=True)
class NaiveBayes(Model):
    """Noisy numbers of rows by code and class, for the columns one after another."""

    counts: IntArray
    sizes: tuple[int, ...]

    def check(self):
        if self.counts.ndim != 2 or len(self.counts) != sum(self.sizes):
            raise ValueError(f"wanted a row of counts for each of {sum(self.sizes)} codes")

    def log_odds(self, rows):
        counts = np.split(np.maximum(self.counts, 0) + 1.0, np.cumsum(self.sizes)[:-1])
        prior = sum(each.sum(axis=0) for each in counts)
        odds = reals.log(prior / prior.sum())
        for column, each in zip(rows.codes.columns, counts, strict=True):
            odds = odds + reals.log(each / each.sum(axis=0))[column]
        return odds


@estimator
class PrivateNaiveBayes(PrivateClassifier):
    """A row is in one cell for each column: the histogram moves by sqrt(2 p), or sqrt(p) under "add-remove"."""

    reads = Codes()
    spares_unlabelled = True  # a row without a label is in no cell

    def plan(self, task):
        moves = sqrt_up(task.changed_rows * task.n_columns)
        return Plan(histogram=GaussianSum(moves, size=task.n_codes * task.n_classes))

    def learn(self, rows, plan, run) -> NaiveBayes:
        counts = run.release("histogram", rows.sum(histogram, rows.n_classes))
        return NaiveBayes(counts, rows.sizes)


# %%
# Whether it keeps what the library promises: replays on neighbouring tables, refusals, files, sources.
print(check_private_estimator(PrivateNaiveBayes()))

# %%
# The table as it is, with nothing declared. Of each column the model knows what it has found, and no more.
adult = dpfast.load_dataset("adult")
train, test = adult.data.slice(0, 40_000), adult.data.slice(40_000)
y, y_test = adult.target[:40_000], adult.target[40_000:]
model = PrivateNaiveBayes(random_state=0).fit(train, y)
print(model.privacy_)

# %%
# Accuracy on rows that it never saw, beside the library's own learner.
epsilons = (0.05, 0.1, 0.3, 1, 3)
figure, axes = plt.subplots(figsize=(6, 3.5))
for learner in (PrivateNaiveBayes, dpfast.HalfspaceClassifier):
    right = [learner(epsilon, random_state=0).fit(train, y).score(test, y_test) for epsilon in epsilons]
    axes.plot(epsilons, right, marker="o", label=learner.__name__)
axes.axhline((y_test == "<=50K").mean(), color="grey", linestyle=":", label="largest class")
axes.set(xlabel="epsilon", ylabel="accuracy", xscale="log")
axes.legend()
figure.tight_layout()
