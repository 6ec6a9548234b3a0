"""What users would pick today; each returns a function that does one piece of work."""

import numpy as np
import pytest


def opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def noisy_max(scores, exponent):
    """One exact draw by OpenDP (permute-and-flip: its make_noisy_max for pure privacy)."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.linf_distance(T="i32")
    mechanism = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1 / exponent)
    return lambda: mechanism(scores)


def discrete_laplace(size, scale):
    """`size` noisy zeros by OpenDP, exact."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=float(scale))
    zeros = np.zeros(size, np.int64)
    return lambda: mechanism(zeros)


def discrete_gaussian(size, sigma):
    """`size` noisy zeros by OpenDP, exact."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    mechanism = dp.m.make_gaussian(*space, scale=float(sigma))
    zeros = np.zeros(size, np.int64)
    return lambda: mechanism(zeros)


def softmax_draw(scores, exponent, rng):
    """One draw in doubles by numpy, not exact."""

    def draw():
        weights = exponent * scores
        weights -= weights.max()
        cumulative = np.cumsum(np.exp(weights))
        return np.searchsorted(cumulative, rng.random() * cumulative[-1])

    return draw


def multinomial(scores, exponent, m, rng):
    """m draws by numpy from probabilities computed beforehand, not exact."""
    weights = np.exp(exponent * (scores - scores.max()))
    probabilities = weights / weights.sum()
    return lambda: rng.multinomial(m, probabilities)


def count_columns(X, y):
    """Positives and negatives of each feature by numpy, from columns packed beforehand."""
    n = len(y) + -len(y) % 64
    columns, positive = np.zeros((X.shape[1], n // 8), np.uint8), np.zeros(n // 8, np.uint8)
    columns[:, : (len(y) + 7) // 8], positive[: (len(y) + 7) // 8] = np.packbits(X.T, axis=1), np.packbits(y)
    columns, positive = columns.view(np.uint64), positive.view(np.uint64)

    def count():
        ones = np.bitwise_count(columns & positive).sum(axis=1, dtype=np.int64)
        return np.stack([np.bitwise_count(columns).sum(axis=1, dtype=np.int64) - ones, ones])

    return count


def multiplicative_update(d):
    """One update of d float weights by one row of signs, and their sum, in one pass by numba."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def update(weights, x, up, down):
        total = 0.0
        for j in range(weights.size):
            weights[j] *= up if x[j] else down
            total += weights[j]
        return total

    weights, x = np.ones(d), np.random.default_rng(0).random(d) < 0.5
    update(weights, x, 1.001, 0.999)  # compiles
    return lambda: update(weights, x, 1.001, 0.999)


def experts_round(losses, eta, rng):
    """One round of multiplicative weights by numpy in doubles, not exact: update, cumulative sum, one draw."""
    total = np.zeros(len(losses))

    def play():
        np.add(total, losses, out=total)
        cumulative = np.cumsum(np.exp(-eta * (total - total.min())))
        return np.searchsorted(cumulative, rng.random() * cumulative[-1])

    return play
