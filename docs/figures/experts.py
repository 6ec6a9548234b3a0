"""Regret of randomized weighted majority, private and not; writes experts.svg beside this file.

    python docs/figures/experts.py [--seeds 15]

100 experts lose 0 or 1 in every round, each by a fair coin, but for one that loses 3 times in 10. Left: regret so far,
one stream of 10^5 rounds. Right: regret in a round, over streams of 10^3 to 10^6 rounds, each planned for its length,
with the bounds of Theorem 11.1 for the tight learning rate and of Theorem 11.3 for the paper's.
"""

import argparse
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from style import BLUE, GREEN, GREY, ORANGE, label_ends, plt, save

import dpfast
from dpfast.accounting import experts_learning_rate, experts_regret
from dpfast.kernels import multiplicative_weights as weights

EXPERTS, BEST, EPSILON, DELTA = 100, 7, 1.0, 1e-6
ROUNDS, SHOWN = (10 ** np.arange(3, 6.01, 0.25)).astype(int), 100_000


def losses(rounds, rng):
    """Packed bits, a row a round."""
    rows = rng.integers(0, 2**64, (rounds, 2), dtype=np.uint64)
    rows[:, 1] &= np.uint64(2 ** (EXPERTS - 64) - 1)
    rows[:, 0] &= ~np.uint64(1 << BEST)
    rows[:, 0] |= (rng.random(rounds) < 0.3).astype(np.uint64) << np.uint64(BEST)
    return rows


def private(calibration):
    def play(rows, seed):
        learner = dpfast.RandomizedWeightedMajority(
            EPSILON, DELTA, horizon=len(rows), calibration=calibration, random_state=seed
        )
        return learner.play(dpfast.BitMatrix.from_rows(rows, EXPERTS))

    return play


def exact(rows, seed):
    """The same with the learning rate that is best for the bound."""
    state = weights.Weights(EXPERTS, Fraction(math.sqrt(8 * math.log(EXPERTS) / len(rows))))
    return state.play(weights.packed(rows, EXPERTS), np.random.default_rng(seed))


LINES = (
    ("private, paper", ORANGE, private("paper")),
    ("private, tight", BLUE, private("tight")),
    ("not private", GREEN, exact),
)


def regrets(player, rounds, seed):
    """Regret so far, after each round, against the best expert."""
    rows = losses(rounds, np.random.default_rng((seed, rounds)))
    action = player(rows, seed).astype(np.uint64)
    followed = rows[np.arange(rounds), action // np.uint64(64)] >> (action % np.uint64(64)) & np.uint64(1)
    best = rows[:, 0] >> np.uint64(BEST) & np.uint64(1)
    return np.cumsum(followed.astype(np.int64) - best.astype(np.int64))


def tell(name, values):
    print(f"{name}: " + ", ".join(f"{T:,} {v:.3g}" for T, v in zip(ROUNDS[::4], values[::4], strict=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=15)
    seeds = range(parser.parse_args().seeds)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9))
    ends = []
    for calibration, theorem, colour in (("paper", "11.3", ORANGE), ("tight", "11.1", BLUE)):
        rates = [experts_learning_rate(EPSILON, DELTA, horizon=int(T), calibration=calibration) for T in ROUNDS]
        bound = [experts_regret(rate, EXPERTS, int(T)) / T for rate, T in zip(rates, ROUNDS, strict=True)]
        right.plot(ROUNDS, bound, "--", color=colour, linewidth=1.2)
        ends.append((bound[-1], f"Theorem {theorem}", colour))
        tell(f"Theorem {theorem}", bound)
    for name, colour, player in LINES:
        left.plot(np.arange(0, SHOWN, 200), regrets(player, SHOWN, 0)[::200], color=colour)
        last = np.array([[regrets(player, int(T), seed)[-1] for seed in seeds] for T in ROUNDS]) / ROUNDS[:, np.newaxis]
        low, middle, high = np.quantile(last, [0.25, 0.5, 0.75], axis=1)
        right.plot(ROUNDS, middle, color=colour)
        right.fill_between(ROUNDS, low, high, color=colour, alpha=0.15, linewidth=0)
        ends.append((middle[-1], name, colour))
        tell(name, middle)
    right.axhline(0.2, color=GREY, linestyle=":", linewidth=1.2)
    ends.append((0.2, "following anyone", GREY))
    left.set(title="regret so far", xlabel="rounds", xlim=(0, SHOWN), ylim=(0, None))
    right.set(title="regret in a round", xlabel="rounds", xscale="log", yscale="log", xlim=ROUNDS[[0, -1]])
    right.set_ylim(5e-4, 1)
    right.yaxis.set_major_formatter("{x:g}")
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    figure.tight_layout(w_pad=3)
    label_ends(right, ends)
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
