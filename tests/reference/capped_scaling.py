"""Capped scaling, slow and plain: sorted, in multiprecision."""

import math

from mpmath import mp, mpf


def capped_scaling(log_weights, density):
    """min(1, c exp(log_weights)) with the least c >= 1 for which the sum is at least density * n, to 50 digits.

    With the k largest capped the others share mass - k in proportion; k is right where that caps no other.
    """
    with mp.workdps(50):
        mass = mpf(density) * len(log_weights)
        falling = sorted((mpf(x) for x in log_weights if x > -math.inf), reverse=True)
        tails, tail, before = [], mpf(0), None  # tails[k] = sum over i >= k of exp(falling[i] - falling[k])
        for x in reversed(falling):
            tail = 1 + (tail * mp.exp(before - x) if before is not None else 0)
            tails.append(tail)
            before = x
        tails.reverse()
        for k, x in enumerate(falling):
            if mass - k <= tails[k]:
                log_c = mp.log((mass - k) / tails[k]) - x if mass > k else -falling[k - 1]
                break
        else:
            log_c = -falling[-1]
        log_c = max(log_c, mpf(0))
        return [min(mpf(1), mp.exp(mpf(x) + log_c)) if x > -math.inf else mpf(0) for x in log_weights]
