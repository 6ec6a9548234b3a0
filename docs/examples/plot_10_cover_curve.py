"""
What a rule list costs
======================

The privacy of a whole list is one curve, delta against epsilon. What may be spent on each choice follows from it.
"""

import matplotlib.pyplot as plt
import numpy as np

from dpfast.accounting import cover_delta, cover_exponent

epsilons = np.linspace(0.3, 2, 60)
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
for exponent in (0.03, 0.06, 0.1):
    left.plot(epsilons, [cover_delta(exponent, epsilon) for epsilon in epsilons], label=f"exponent {exponent}")
left.set(yscale="log", ylim=(1e-12, 1), xlabel="epsilon", ylabel="delta")
left.legend()
targets = [0.1, 0.3, 1, 3]
right.plot(targets, [cover_exponent(e, 1e-6) for e in targets], marker="o", label="the curve")
right.plot(targets, [cover_exponent(e, 1e-6, accounting="paper") for e in targets], marker="o", label="the paper")
right.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="exponent of a choice, delta = 1e-6")
right.legend()
figure.tight_layout()
