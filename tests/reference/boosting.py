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
