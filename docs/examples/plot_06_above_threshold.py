"""
Which counts are above a threshold?
===================================

AboveThreshold answers any number of tests for one price, until the first count that passes.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast.mechanisms import AboveThreshold

counts = np.cumsum(np.random.default_rng(3).integers(0, 4, 150))
stops = []
for seed in range(400):
    tests = AboveThreshold(150, 0.5, rng=seed)
    stops.append(next((t for t, count in enumerate(counts) if tests.test(int(count))), len(counts)))

figure, (above, below) = plt.subplots(2, 1, figsize=(6, 4.5), sharex=True)
above.plot(counts)
above.axhline(150, color="grey", linestyle=":")
above.set_ylabel("private count")
below.hist(stops, bins=np.arange(0, 151, 3))
below.set(xlabel="test", ylabel="halts, of 400 runs")
figure.tight_layout()
