"""
Private thresholds over a finite domain
=======================================

Thresholds over N points have Littlestone dimension about log2 N, and can be learned privately from a number of examples
that grows with it and not with N.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast import littlestone

sizes = 2 ** np.arange(2, 21)
dimensions = [littlestone.Thresholds(int(size)).littlestone_dimension() for size in sizes]
points = littlestone.PointFunctions(2**40).littlestone_dimension()

figure, axes = plt.subplots(figsize=(6, 3.5))
axes.plot(sizes, dimensions, marker="o", label="thresholds")
axes.axhline(points, color="grey", linestyle=":", label="point functions, any domain")
axes.set(xscale="log", xlabel="points of the domain", ylabel="Littlestone dimension")
axes.legend()
figure.tight_layout()
