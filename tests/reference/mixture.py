"""The step of a mixture of scales by numpy, with sums in the order of dpfast.kernels.reals."""

import numpy as np

from dpfast.kernels import reals


def mixture(squares, usual, weights, begins, middles, others, prior, rare):
    """Return the shares, and put new weights into `weights`, as `reals.mixture` does; `others` are scales."""
    shares, scales = np.empty(squares.shape), np.append(0.0, others)
    for c in range(squares.shape[1]):
        scales[0] = usual[c]
        density = densities(middles, scales)
        by_level = density.T.copy()
        total = reals.products(by_level, weights[c])
        mean = reals.products(by_level, weights[c] * (scales / (1 + scales))) / total
        levels = begins[1:].searchsorted(squares[:, c], "right")
        shares[:, c] = mean[levels]
        counts = np.bincount(levels, minlength=len(total))
        explained = weights[c] * reals.products(density, counts / total) + rare
        explained[0] += prior - rare
        weights[c] = explained / reals.sum(explained)
    return shares


def densities(middles, scales):
    """Return the density of each scale on each level, up to a factor of the level."""
    wide = 1 + scales[:, np.newaxis]
    return reals.exp(np.maximum(middles * (-0.5 / wide) - reals.log(wide) / 2, -700.0))
