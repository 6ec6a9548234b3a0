"""Inputs and measures that benchmarks share."""

import time

import numpy as np

from dpfast.kernels import bits


def scores(n, span=1000, dtype=np.int32):
    """n scores, uniform on 0, ..., span - 1."""
    return np.random.default_rng(n).integers(0, span, n).astype(dtype)


def booleans(n, d, density=0.5):
    """An n x d table of bytes, and labels that two of its columns explain but for a tenth."""
    rng = np.random.default_rng((n, d))
    X = (rng.random((n, d), dtype=np.float32) < density).view(np.uint8)
    return X, ((X[:, d // 3] & X[:, d // 2]) | (rng.random(n) < 0.1)).astype(np.uint8)


def packed_labels(y, classes=2):
    """Which rows have each label, packed."""
    return bits.pack((y == np.arange(classes)[:, np.newaxis]).view(np.uint8))


def log_weights(kind, n):
    """n log weights, none above 0: normal with deviation 1 or 3, all equal, or one far above normal others."""
    normal = np.random.default_rng(n).standard_normal(n)
    if kind == "all equal":
        return np.full(n, -5.0)
    entries = 3 * normal - 30 if kind == "sigma 3" else normal - 20
    if kind == "one huge":
        entries -= 1000
        entries[n // 2] = -1
    return entries


def best_of(function, repeats=7, clock=time.perf_counter):
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)
