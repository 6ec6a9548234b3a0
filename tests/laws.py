"""Statistical checks: a law is tested against the law, and a right one fails at most once in a million runs."""

import numpy as np
from scipy import stats

LEVEL = 1e-6


def assert_follows(observed, law):
    """Chi-square of counts against probabilities; outcomes expected fewer than five times are pooled."""
    observed, expected = np.asarray(observed, float), np.asarray(law, float) * np.sum(observed)
    assert np.isclose(expected.sum(), observed.sum(), rtol=1e-9), "the law does not sum to one"
    assert not observed[expected == 0].any(), "an impossible outcome was seen"
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5:  # too rare even together: join the rarest of the others
        smallest = np.argmin(expected[:-1])
        observed[smallest] += observed[-1]
        expected[smallest] += expected[-1]
        observed, expected = observed[:-1], expected[:-1]
    if len(expected) > 1:
        p = stats.chisquare(observed, expected).pvalue
        assert p > LEVEL, f"p = {p:.2e} over {len(expected)} outcomes"


def exponential_law(scores, exponent):
    """exp(exponent * score), normalised, in doubles."""
    weights = np.asarray(scores, float) * float(exponent)
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()
