"""
One budget for many fits
========================

A budget is charged before data are read, and refuses what does not fit. Copies of it, scikit-learn's ``clone`` among
them, are the same budget.
"""

import matplotlib.pyplot as plt

import dpfast
from dpfast.accounting import Budget, BudgetExceeded

mushroom = dpfast.load_dataset("mushroom")
budget = Budget(1.0, 1e-5)
accuracy = []
try:
    for seed in range(10):
        model = dpfast.DecisionListClassifier(epsilon=0.3, delta=1e-6, budget=budget, random_state=seed)
        accuracy.append(model.fit(mushroom.data, mushroom.target).score(mushroom.data, mushroom.target))
except BudgetExceeded as refused:
    print(refused)

# %%
# What each fit took, and what is left.
figure, axes = plt.subplots(figsize=(6, 2.2))
left = 0.0
for k, (epsilon, _) in enumerate(budget.charges):
    axes.barh(0, epsilon, left=left, edgecolor="white")
    axes.text(left + epsilon / 2, 0, f"fit {k + 1}", ha="center", va="center", color="white")
    left += epsilon
axes.barh(0, budget.left[0], left=left, color="lightgrey")
axes.text(left + budget.left[0] / 2, 0, "left", ha="center", va="center")
axes.set(xlabel="epsilon", yticks=[], xlim=(0, 1))
figure.tight_layout()
