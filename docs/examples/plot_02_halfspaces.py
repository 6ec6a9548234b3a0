"""
Private halfspaces against epsilon
==================================

Two linear learners on the same table: boosting with noisy means of hard rows, and noisy descent after a random
projection.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import dpfast

mushroom = dpfast.load_dataset("mushroom")
X, X_test, y, y_test = train_test_split(mushroom.data, mushroom.target, random_state=0)

epsilons = [0.05, 0.1, 0.3, 1]
figure, axes = plt.subplots(figsize=(6, 3.5))
for learner in (dpfast.BoostedHalfspaceClassifier, dpfast.ProjectedHalfspaceClassifier):
    scores = [
        [learner(epsilon=epsilon, random_state=seed).fit(X, y).score(X_test, y_test) for seed in range(5)]
        for epsilon in epsilons
    ]
    axes.plot(epsilons, np.median(scores, axis=1), marker="o", label=learner.__name__)
axes.set(xscale="log", xlabel="epsilon (delta = 1e-6, replace one row)", ylabel="accuracy on new rows")
axes.set_xticks(epsilons, epsilons)
axes.legend()
figure.tight_layout()
