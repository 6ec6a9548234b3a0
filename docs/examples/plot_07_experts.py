"""
Following the best of many experts
==================================

Randomized weighted majority draws an expert each round; the draws of the whole game are one private release.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfast

rng = np.random.default_rng(0)
rounds, experts = 4000, 50
losses = (rng.random((rounds, experts)) < np.linspace(0.3, 0.6, experts)).astype(float)

figure, axes = plt.subplots(figsize=(6, 3.5))
best = np.cumsum(losses[:, 0])
for epsilon in (0.5, 2, 8):
    game = dpfast.RandomizedWeightedMajority(epsilon=epsilon, horizon=rounds, random_state=0)
    chosen = np.asarray(game.play(losses))
    regret = np.cumsum(losses[np.arange(rounds), chosen]) - best
    axes.plot(regret, label=f"epsilon = {epsilon}")
axes.set(xlabel="round", ylabel="losses above those of the best expert")
axes.legend()
figure.tight_layout()
