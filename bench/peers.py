"""What users would pick today; each returns a function that does one piece of work."""

import numpy as np
import pytest
from scipy import optimize


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


def capped_scaling_sort(log_weights, density):
    """Weights min(1, c * exp(log_weights)) of sum density * n, by numpy: sort, then sums from the small end."""

    def project():
        mass = density * len(log_weights)
        weights = np.exp(np.minimum(log_weights, 0))
        if weights.sum() >= mass:
            return weights
        falling = np.sort(log_weights)[::-1]
        most = int(mass)  # no more than these are capped
        unit = falling[most]
        tails = np.cumsum(np.exp(np.minimum(falling - unit, 600))[::-1])[::-1]
        kept = np.arange(most + 1)
        free = (mass - kept) * np.exp(np.minimum(falling[: most + 1] - unit, 600)) <= tails[: most + 1]
        k = np.argmax(free)
        return np.minimum(1, (mass - k) / tails[k] * np.exp(np.minimum(log_weights - unit, 600)))

    return project


def capped_scaling_brentq(log_weights, density):
    """The same by scipy: the root in ln c."""

    def project():
        mass = density * len(log_weights)

        def excess(log_c):
            return np.exp(np.minimum(log_weights + log_c, 0)).sum() - mass

        if excess(0) >= 0:
            return np.exp(np.minimum(log_weights, 0))
        log_c = optimize.brentq(excess, 0, -log_weights.min(), xtol=1e-12, rtol=1e-14)
        return np.exp(np.minimum(log_weights + log_c, 0))

    return project
