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


def best_of(function, repeats=7, clock=time.perf_counter):
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)
