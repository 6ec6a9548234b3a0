"""Shares that coefficients keep where some may be much larger than others, given the variance of their noise.

A coefficient w is a value plus noise of known variance v. The values have mean 0, and variances that are v times one of
a few scales: those of SCALES and one more, the usual scale, which is that of all coefficients together. How frequent
each scale is, its weight, is estimated by expectation maximization, with one step in each round of the descent: the
usual scale counts as _PRIOR coefficients more, and each of the others as _RARE. Given its scale s, the mean of a value
is w s / (1 + s). So the share that w keeps is the mean of s / (1 + s) over the scales, by how well they explain w.

If the values are of one size, the usual scale explains them all, and all keep the same share. If a few columns have all
of the signal, those keep nearly all of their coefficients and the others next to nothing, while one scale for all would
keep as much of the noise as of the signal [JS]. All this is computed from noisy sums, without access to rows.

This is used for plain rows of at most MOST_COLUMNS columns. Of many thousand columns, such as words, most have values
far below the noise, which count together, because a row has many of them. The mixture would take nearly all for 0.

The scales were chosen on the 300 rows, breast cancer and the odd digits of bench/unseen.py and on 1,000 rows of usps,
mushroom and adult_a9a, and MOST_COLUMNS on farm_ads and clickbait; phishing, 1,000 rows of it, wine, other digits,
drawn rows, usps, mushroom, adult_a9a and the other tables of that script were looked at afterwards.

[JS] I. Johnstone and B. Silverman, Needles and Straw in Haystacks: Empirical Bayes Estimates of Possibly Sparse
Sequences, Annals of Statistics 32 (2004).
"""

import numpy as np

from dpfast.kernels.reals import exp, log, mixture

MOST_COLUMNS = 512
SCALES = np.append(0.0, 4.0 ** np.arange(-2, 9))
_PRIOR, _RARE = 10.0, 0.1
_STEPS = 4  # levels of w^2 / v between two powers of 2
_BEGINS = np.outer(2.0 ** np.arange(-4, 17), 1 + np.arange(_STEPS) / _STEPS).ravel()  # the least number of each level
_MIDDLES = np.outer(2.0 ** np.arange(-4, 17), 1 + (np.arange(_STEPS) + 0.5) / _STEPS).ravel()
_WIDE = 1 + SCALES[:, np.newaxis]
# by scale and level, up to a factor of the level
_DENSITIES = exp(np.maximum(_MIDDLES * (-0.5 / _WIDE) - log(_WIDE) / 2, -700.0))
_KEPT = SCALES / (1 + SCALES)


class ScaleMixture:
    """Weights of the scales of coefficients, for each column of scores. The first scale is the usual one."""

    def __init__(self, columns):
        others = len(SCALES)
        self._weights = np.tile(np.append(0.5, np.full(others, 0.5 / others)), (columns, 1))

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
        return mixture(ratios, usual, self._weights, _BEGINS, _MIDDLES, _DENSITIES, _KEPT, _PRIOR, _RARE)
