"""
Statistical queries
===================

Many learners look at rows only through means. An oracle answers a fixed number of them with exact integer noise.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfast

rng = np.random.default_rng(0)
X = rng.random((20_000, 12)) < np.linspace(0.2, 0.8, 12)
oracle = dpfast.StatisticalQueryOracle((X,), epsilon=0.2, delta=1e-6, n_queries=12, random_state=0)
answers = oracle.answer_all(lambda X, j=j: X[:, j] for j in range(12))
print(oracle.privacy_)

figure, axes = plt.subplots(figsize=(6, 3.5))
axes.errorbar(range(12), answers, yerr=oracle.tolerance(0.05), fmt="o", label="answers, 95% together")
axes.plot(range(12), X.mean(axis=0), "k_", markersize=14, label="means of the rows (owner's eyes only)")
axes.set(xlabel="column", ylabel="share of ones")
axes.legend()
figure.tight_layout()
