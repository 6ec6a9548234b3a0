"""
The exponential mechanism, exactly
==================================

A candidate of score q is drawn with probability proportional to exp(t q). Scores are integers, and no outcome's
probability is moved by rounding.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast.mechanisms import exponential

score = np.array([0, 3, 9, 7, 12, 11, 4, 0, 8, 12], np.int32)
exponent = 0.25
draws = exponential(score, exponent, size=200_000, rng=0)

law = np.exp(exponent * score) / np.exp(exponent * score).sum()
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.bar(np.arange(10), np.bincount(draws, minlength=10) / len(draws), label="200,000 draws")
axes.plot(np.arange(10), law, "k_", markersize=22, markeredgewidth=2, label="the law")
axes.set(xlabel="candidate", ylabel="probability", xticks=range(10))
axes.legend()
figure.tight_layout()
