"""
A learner of one's own
======================

Naive Bayes, private: one noisy histogram says how often each code of each column goes with each class, and all else is
computed from it. What the class inherits reads arrays, frames, files and clusters, with a schema or without one, counts
persons, charges budgets, saves models and states the claim.
"""

from fractions import Fraction
from math import isqrt

import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

import dpfast
from dpfast.accounting import discrete_gaussian_sigma
from dpfast.kernels import reals
from dpfast.learners.base import PrivateClassifier
from dpfast.mechanisms import discrete_gaussian
from dpfast.tables import CodeTable


def codes(X):
    """The table of codes that X is; of numbers, whether each is above 0."""
    if isinstance(X, CodeTable):
        return X
    bits = check_array(X) > 0
    return CodeTable.from_arrays(bits.T.astype(np.uint8), [2] * bits.shape[1])


def histogram(piece, n_classes):
    """Rows of a part by class, code and column: a question, whose answers are added up."""
    each = [
        np.bincount(column * np.int64(n_classes) + piece.labels, minlength=size * n_classes)
        for column, size in zip(piece.rows.codes.columns, piece.rows.sizes, strict=True)
    ]
    return np.concatenate(each).reshape(-1, n_classes)


class PrivateNaiveBayes(PrivateClassifier):
    """A row is in one cell for each of p columns: the histogram moves by sqrt(2 p), or sqrt(p) under "add-remove"."""

    _model = "naive Bayes"
    _reads_parts = True

    def _read_codes(self, X):
        return X

    def _learn(self, table, p, run):
        parts, rows, public = self._asked(table, codes)
        cells = rows.shape[1] * (2 if p.neighbors == "replace" else 1)
        moves = p.rows_per_unit * Fraction(isqrt(cells * 10**12) + 1, 10**6)
        size = sum(rows.sizes) * len(public.classes)
        sigma = discrete_gaussian_sigma(p.epsilon, p.delta, sensitivity=moves, size=size)
        public.others["sizes_"] = list(rows.sizes)
        run.charge(public, histogram=1)
        run.release("histogram", discrete_gaussian(parts.sum(histogram, len(public.classes)), sigma, rng=run.rng))

    def _publish(self, run):
        self.counts_ = run.released[0]

    def predict_proba(self, X):
        check_is_fitted(self)
        X = self._coded(X)
        table = codes(X)
        self._check_features(X)
        counts = np.split(np.maximum(self.counts_, 0) + 1.0, np.cumsum(self.sizes_)[:-1])
        prior = sum(each.sum(axis=0) for each in counts)
        score = reals.log(prior / prior.sum())
        for column, each in zip(table.codes.columns, counts, strict=True):
            score = score + reals.log(each / each.sum(axis=0))[column]
        chances = reals.exp(score - score.max(axis=1, keepdims=True))
        return chances / chances.sum(axis=1, keepdims=True)

    def predict(self, X):
        chances = self.predict_proba(X)
        return self.classes_[chances.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _released(self):
        return {"counts": self.counts_.tolist(), "sizes": self.sizes_}

    def _restore(self, released):
        self.counts_, self.sizes_ = np.array(released["counts"]), released["sizes"]


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
