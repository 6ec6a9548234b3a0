"""
A mechanism of one's own
========================

The kernels serve other algorithms too. A private median: each value of a declared grid is scored by how evenly it
splits the rows, and one is drawn exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast.mechanisms import exponential

rng = np.random.default_rng(0)
values = np.sort(rng.lognormal(3, 0.6, 2001).clip(0, 100))
grid = np.linspace(0, 100, 10_001)  # declared
below = np.searchsorted(values, grid)
score = -np.abs(2 * below - len(values))  # a replaced row moves it by at most 2 either way

figure, axes = plt.subplots(figsize=(6, 3.5))
for epsilon in (0.02, 0.1, 1):
    drawn = grid[exponential(score.astype(np.int32), epsilon / 4, size=4000, rng=1)]
    axes.hist(drawn, bins=np.linspace(10, 35, 101), histtype="step", density=True, label=f"epsilon = {epsilon}")
axes.axvline(np.median(values), color="grey", linestyle=":", label="median (owner's eyes only)")
axes.set(xlabel="value drawn", ylabel="density", yscale="log")
axes.legend()
figure.tight_layout()
