"""Shares that coefficients keep where some may be much larger than others, given the variance of their noise.

A coefficient w is a value plus noise of known variance v. The values have mean 0, and variances that are v times one of
a few scales: those of SCALES and one more, the usual scale, which is that of all coefficients together. The weights of
the scales in the table are estimated by expectation maximization, with one step in each round of the descent: the
usual scale counts as _PRIOR coefficients more, and each of the others as _RARE. Given its scale s, the mean of a value
is w s / (1 + s). So the share that w keeps is the mean of s / (1 + s) over the scales, by how well they explain w.

If the values are of one size, the usual scale explains them all, and all keep the same share. If a few columns have all
of the signal, those keep nearly all of their coefficients and the others next to nothing, while one scale for all would
keep as much of the noise as of the signal [JS]. All this is computed from noisy sums, without access to rows.

This is used for plain rows of at most MOST_COLUMNS columns. Of many thousand columns, such as words, most have values
far below the noise, which count together, because a row has many of them. The mixture takes nearly all for 0.

The scales were chosen on the 300 rows, breast cancer and the odd digits of bench/unseen.py and on 1,000 rows of usps,
mushroom and adult_a9a, and MOST_COLUMNS on farm_ads and clickbait; phishing, 1,000 rows of it, wine, other digits,
drawn rows, usps, mushroom, adult_a9a and the other tables of that script were looked at afterwards.

[JS] I. Johnstone and B. Silverman, Needles and Straw in Haystacks: Empirical Bayes Estimates of Possibly Sparse
Sequences, Annals of Statistics 32 (2004).
"""

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.reals import exp, log

MOST_COLUMNS = 512
SCALES = np.append(0.0, 4.0 ** np.arange(-2, 9))
_PRIOR, _RARE = 10.0, 0.1
_LOWEST, _HIGHEST = -4, 17  # exponents of the least and the largest w^2 / v that are told apart
_STEPS = 4  # levels of w^2 / v between two powers of 2
_EIGHTHS = np.arange(_STEPS, 2 * _STEPS) + 0.5
_PLACES = np.outer(2.0 ** np.arange(_LOWEST, _HIGHEST), _EIGHTHS / _STEPS).ravel()


def _densities(scales):
    """Return the densities of coefficients of these scales at each level, up to a factor of the level."""
    wide = 1 + scales[:, np.newaxis]
    return exp(np.maximum(-(_PLACES / wide + log(wide)) / 2, -700.0))


_DENSITIES = _densities(SCALES)[:, np.newaxis]
_KEPT = (SCALES / (1 + SCALES))[:, np.newaxis, np.newaxis]


class ScaleMixture:
    """Weights of the scales of coefficients, for each column of scores."""

    def __init__(self, columns):
        others = np.full((len(SCALES), columns), 0.5 / len(SCALES))
        self._weights = np.concatenate([np.full((1, columns), 0.5), others])

    def shares(self, ratios, usual):
        """Return the shares that coefficients keep, and make a step towards the weights that explain them best.

        Parameters
        ----------
        ratios : ndarray, shape (m, columns)
            Squares of the coefficients over the variance of their noise.
        usual : ndarray, shape (columns,)
            The usual scale.

        Returns
        -------
        ndarray, shape (m, columns)
        """
        levels, columns = _levels(ratios), np.arange(len(usual))
        others = np.broadcast_to(_DENSITIES, (*self._weights[1:].shape, len(_PLACES)))
        by_scale = np.concatenate([_densities(usual)[np.newaxis], others]) * self._weights[:, :, np.newaxis]
        by_scale /= by_scale.sum(axis=0)
        for c in columns:
            counts = np.bincount(levels[:, c], minlength=len(_PLACES)).astype(np.float64)
            explained = reals.products(by_scale[:, c], counts) + _RARE
            explained[0] += _PRIOR - _RARE
            self._weights[:, c] = explained / reals.sum(explained)
        kept = by_scale[0] * (usual / (1 + usual))[:, np.newaxis] + (by_scale[1:] * _KEPT).sum(axis=0)
        return kept[columns, levels]


def _levels(ratios):
    """Return the level of each ratio, a quarter of the numbers between two powers of 2: int64."""
    among = np.clip(ratios, _PLACES[0], _PLACES[-1])
    fraction, exponent = np.frexp(among)
    return _STEPS * (exponent.astype(np.int64) - 1 - _LOWEST) + (2 * _STEPS * fraction).astype(np.int64) - _STEPS
