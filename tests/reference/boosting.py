"""The algorithms of [BCS] the slow way: listings as printed, weights in multiprecision, noise from a function."""

import math

import numpy as np

from reference.capped_scaling import capped_scaling


def next_measure(S, H, kappa, rate):
    """Algorithm 4, LB-NxM(kappa, lambda): the measure, of size kappa n. h in [-1, 1] is its clipped product."""
    n = len(S)
    log_mu = [math.log(kappa)] * n  # mu_1
    for h in H:
        for i, (x, y) in enumerate(S):
            loss = 1 - abs(h(x) - y) / 2
            log_mu[i] -= rate * loss
    return capped_scaling(log_mu, kappa)


def weak_learner(S, mu, noise, size=None):
    """Section 5.2: z = sum of mu^(i) y_i x_i + nu, mu^ = mu / |mu|, or mu / size."""
    size = math.fsum(mu) if size is None else size
    z = sum(float(m) / size * y * np.asarray(x) for m, (x, y) in zip(mu, S, strict=True)) + noise()

    def h(x):
        return float(np.clip(z @ x, -1, 1))  # the paper leaves out that noise takes z x beyond

    h.z = z
    return h


def boost(S, T, kappa, rate, noise, measure=next_measure, size=None):
    """Algorithms 1 and 2: the average of T weak hypotheses, as coefficients."""
    H = []
    for _ in range(T):
        mu = measure(S, H, kappa, rate)
        H.append(weak_learner(S, mu, noise, size))
    return sum(h.z for h in H) / T


def local_measure(S, H, kappa, rate):
    """min(1, exp(-lambda / 2 sum of y h(x))), not projected; of MadaBoost."""
    return [min(1.0, math.exp(-rate / 2 * sum(y * h(x) for h in H))) for x, y in S]


def with_label_noise(S, eta, flips, learn):
    """Algorithm 3, M_eta: labels are flipped with probability eta, then learned from."""
    F = [-1 if flip < eta else 1 for flip in flips]
    return learn([(x, y * f) for (x, y), f in zip(S, F, strict=True)])


def algorithm_5(X, y, alpha, tau, noise):
    """Algorithm 5, HS-StL, in numpy: z of the halfspace sgn(z x). Noise of a round, at sigma as printed or another."""
    kappa, rate = alpha / 4, tau / 8
    T = math.ceil(1024 * math.log(1 / kappa) / tau**2)
    log_mu, z = np.full(len(y), math.log(kappa)), np.zeros(X.shape[1])
    for _ in range(T):
        mu = _projected(log_mu, kappa * len(y))
        z_t = (mu * y) @ X / mu.sum() + noise()
        log_mu -= rate * (1 - np.abs(np.clip(X @ z_t, -1, 1) - y) / 2)
        z += z_t / T
    return z


def _projected(log_mu, mass):
    """min(1, c mu) of this mass, c >= 1, by trying how many of the largest are 1."""
    falling = np.exp(np.sort(log_mu)[::-1] - log_mu.max())
    below = np.append(np.cumsum(falling[::-1])[::-1], 0.0)
    for k in range(len(falling)):
        scale = (mass - k) / below[k]
        if scale * falling[k] <= 1:
            return np.minimum(1, scale * np.exp(log_mu - log_mu.max()))
    raise AssertionError("the mass is more than the rows")
