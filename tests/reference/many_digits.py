"""Curves in sixty digits, for whatever can be told from them."""

import mpmath


def gaussian_curve(mu, epsilon):
    """Delta of mu-Gaussian DP at any real epsilon."""
    with mpmath.workdps(60):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        x, up = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        if min(mu, abs(x)) > 1e10 or mu < 1e-40:
            return mpmath.mpf(0) if x > 0 else mpmath.mpf(1)
        with mpmath.workdps(60 + int(abs(mpmath.log10(mu))) * 2 + int(mpmath.log10(2 + abs(x))) * 2):
            return mpmath.ncdf(-x) - mpmath.exp(epsilon) * mpmath.ncdf(-up)


def zcdp_curve(rho, epsilon):
    """The least delta that the conversion of the module `dpfast.accounting.zcdp` proves, at its best order."""
    with mpmath.workdps(60):
        rho, epsilon = mpmath.mpf(rho), mpmath.mpf(epsilon)
        # E = (1 + 2b) rho - ln(1 + 1/b) increases with b
        low, high = mpmath.mpf(-800), mpmath.mpf(800)
        for _ in range(220):
            middle = (low + high) / 2
            b = mpmath.exp(middle)
            low, high = (middle, high) if (1 + 2 * b) * rho - mpmath.log1p(1 / b) < epsilon else (low, middle)
        b = mpmath.exp(high)
        converted = mpmath.exp(b * ((1 + b) * rho - epsilon) - b * mpmath.log1p(1 / b) - mpmath.log1p(b))
        return min(converted, mpmath.sqrt(min(rho / 2, -mpmath.expm1(-rho))), mpmath.mpf(1))
