"""
What epsilon means
==================

Two tables that differ in one row, and what a private mechanism shows of them: no event is much likelier under one than
under the other. Here the event is which of five candidates is chosen.
"""

import matplotlib.pyplot as plt
import numpy as np

score = np.array([40, 42, 38, 41, 30])
neighbour = score + np.array([1, -1, 0, -1, 1])  # one row, replaced
epsilon = 0.5
exponent = epsilon / 2  # scores move by one either way


def law(scores):
    weights = np.exp(exponent * (scores - scores.max()))
    return weights / weights.sum()


a, b = law(score), law(neighbour)
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.bar(np.arange(5) - 0.2, a, 0.4, label="table")
axes.bar(np.arange(5) + 0.2, b, 0.4, label="table with one row replaced")
for k in range(5):
    axes.text(k, max(a[k], b[k]) + 0.01, f"x {max(a[k] / b[k], b[k] / a[k]):.2f}", ha="center")
axes.set(xlabel="candidate", ylabel="probability", title=f"no ratio exceeds exp({epsilon}) = {np.exp(epsilon):.2f}")
axes.legend()
figure.tight_layout()
