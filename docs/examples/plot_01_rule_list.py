"""
A private rule list
===================

A decision list is read from the top: the first rule that holds decides. Greedy cover draws each rule by the exponential
mechanism, and one theorem bounds the whole run.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import dpfast

mushroom = dpfast.load_dataset("mushroom")
X, X_test, y, y_test = train_test_split(mushroom.data, mushroom.target, random_state=0)

# %%
# One list, and the claim it comes with.
model = dpfast.DecisionListClassifier(epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
print(model.to_text(mushroom.feature_names))
print(model.privacy_)

# %%
# Privacy costs accuracy where there is little of it. Each point is the median of nine lists, the band holds the
# middle half.
epsilons = [0.05, 0.1, 0.2, 0.5, 1, 2]
scores = [
    [
        dpfast.DecisionListClassifier(epsilon=epsilon, random_state=seed).fit(X, y).score(X_test, y_test)
        for seed in range(9)
    ]
    for epsilon in epsilons
]
low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75], axis=1)
figure, axes = plt.subplots(figsize=(6, 3.5))
axes.fill_between(epsilons, low, high, alpha=0.25)
axes.plot(epsilons, middle, marker="o")
axes.set(xscale="log", xlabel="epsilon (delta = 1e-6, replace one row)", ylabel="accuracy on new rows")
axes.set_xticks(epsilons, epsilons)
figure.tight_layout()
