"""Probabilities are those at which the mean residual is zero."""

import numpy as np
import pytest

from dpfast.learners.halfspaces.model import class_weights, starts
from dpfast.learners.halfspaces.steepness import log_chances, log_odds


def mean_residual(p, chances):
    """Of labels with these chances, given the softmax p of the scores."""
    own = np.eye(len(p))
    factor = np.minimum(2, 1 / np.maximum(1 - p, 1e-300))[:, np.newaxis]
    return chances @ ((own - p) * factor)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_the_mean_residual_is_zero_at_the_chances(k, rng):
    for spread in (0.1, 1.0, 5.0):
        scores = rng.normal(size=(20, k)) * spread
        logs = log_chances(scores)
        for f, log in zip(scores, logs, strict=True):
            chances, p = np.exp(log) / np.exp(log).sum(), np.exp(f) / np.exp(f).sum()
            np.testing.assert_allclose(mean_residual(p, chances), 0, atol=1e-12)
            assert chances.argmax() == p.argmax()


def test_two_classes_have_the_log_odds_of_their_chances(rng):
    f = np.concatenate([rng.normal(size=30) * 5, [0.0, 800.0, -800.0]])
    logs = log_chances(np.stack([np.zeros_like(f), f], axis=1))
    np.testing.assert_allclose(log_odds(f), logs[:, 1] - logs[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(log_odds(-f), -log_odds(f))


def test_the_loss_is_convex_and_its_gradient_is_the_residual(rng):
    def loss(f, y):
        m = np.logaddexp.reduce(np.delete(f, y)) - f[y]
        return 2 * np.logaddexp(0, m) if m <= 0 else m + 2 * np.log(2)

    for _ in range(50):
        f, g, y = rng.normal(size=4) * 3, rng.normal(size=4) * 3, rng.integers(4)
        assert loss((f + g) / 2, y) <= (loss(f, y) + loss(g, y)) / 2 + 1e-12
        p = np.exp(f) / np.exp(f).sum()
        steps = np.eye(4) * 1e-6
        slope = [(loss(f + step, y) - loss(f - step, y)) / 2e-6 for step in steps]
        np.testing.assert_allclose(slope, -mean_residual(p, np.eye(4)[y]), atol=1e-5)


@pytest.mark.parametrize("sizes", [(1, 3), (50, 1), (1, 1), (1e6, 1e-3)])
def test_a_row_of_two_classes_starts_with_the_log_odds_of_their_sizes(sizes):
    score = starts(np.array(sizes, float))
    np.testing.assert_allclose(log_odds(score), [np.log(sizes[1] / sizes[0])], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 2, 4), (1, 1, 1), (1, 90, 3, 0.5), (1e-6, 1, 1)])
def test_a_row_of_many_classes_starts_with_the_chances_of_their_sizes(sizes):
    logs = log_chances(starts(np.array(sizes, float))[np.newaxis])[0]
    np.testing.assert_allclose(np.exp(logs) / np.exp(logs).sum(), np.array(sizes) / sum(sizes), rtol=1e-9)


def test_weights_are_scaled_to_the_largest_and_foreign_classes_refused():
    assert class_weights({"a": 4}, np.array(["a", "b"])).tolist() == [1.0, 0.25]
    with pytest.raises(ValueError, match="names 'c', which is none of the classes"):
        class_weights({"c": 4}, np.array(["a", "b"]))
