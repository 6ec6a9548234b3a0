"""
Integer noise
=============

Counts get discrete Laplace or discrete Gaussian noise, drawn without a floating-point number on the way.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast.mechanisms import discrete_gaussian, discrete_laplace

zeros = np.zeros(300_000, np.int64)
at = np.arange(-12, 13)
laws = {
    "discrete Laplace, scale 3": (discrete_laplace(zeros, 3, rng=0), np.exp(-np.abs(at) / 3)),
    "discrete Gaussian, sigma 3": (discrete_gaussian(zeros, 3, rng=1), np.exp(-(at**2) / 18)),
}
figure, panels = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
for axes, (name, (noise, weight)) in zip(panels, laws.items(), strict=True):
    seen = np.array([(noise == value).mean() for value in at])
    axes.bar(at, seen)
    axes.plot(at, weight / weight.sum(), "k_", markersize=8)
    axes.set(title=name, xlabel="noise")
panels[0].set_ylabel("probability")
figure.tight_layout()
