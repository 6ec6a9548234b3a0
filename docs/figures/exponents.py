"""The exponent that a privacy budget allows greedy cover; writes exponents.svg beside this file.

python docs/figures/exponents.py
"""

from pathlib import Path

import numpy as np
from style import BLUE, ORANGE, label_ends, plain_ticks, plt, save

from dpfast.accounting import cover_exponent

EPSILONS = np.geomspace(0.1, 3, 60)
DELTAS = np.geomspace(1e-12, 1e-3, 60)
LINES = (
    ("curve, add-remove", BLUE, "--", {"neighbors": "add-remove"}),
    ("curve, replace", BLUE, "-", {"neighbors": "replace"}),
    ("paper, add-remove", ORANGE, "--", {"neighbors": "add-remove", "accounting": "paper"}),
    ("paper, replace", ORANGE, "-", {"neighbors": "replace", "accounting": "paper"}),
)


def main():
    figure, (by_epsilon, by_delta) = plt.subplots(1, 2, figsize=(10.8, 3.9), sharey=True)
    ends = []
    for text, colour, style, options in LINES:
        by_epsilon.plot(EPSILONS, [cover_exponent(e, 1e-6, **options) for e in EPSILONS], style, color=colour)
        exponents = [cover_exponent(1, delta, **options) for delta in DELTAS]
        by_delta.plot(DELTAS, exponents, style, color=colour)
        ends.append((exponents[-1], text, colour))
    by_epsilon.set(title="delta = 1e-6", xscale="log", yscale="log", xlabel="epsilon", xlim=EPSILONS[[0, -1]])
    by_epsilon.set_ylabel("exponent per unit of score")
    by_delta.set(title="epsilon = 1", xscale="log", xlabel="delta", xlim=DELTAS[[0, -1]])
    plain_ticks(by_epsilon.xaxis, [0.1, 0.2, 0.5, 1, 2, 3])
    plain_ticks(by_epsilon.yaxis, [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
    figure.tight_layout(w_pad=2.5)
    label_ends(by_delta, ends)
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
