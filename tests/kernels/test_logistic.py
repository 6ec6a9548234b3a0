"""Capped residuals against their definition in extended precision, and what the proofs ask of their integers."""

import numpy as np
import pytest

from dpfast.kernels import logistic

LIMIT = 1 << 16


def exact(scores, labels):
    """h (e_y - q) of the scores of all classes, in long doubles."""
    f = scores.astype(np.longdouble)
    every = np.arange(len(f))
    others = f.copy()
    others[every, labels] = -np.inf
    most = others.max(axis=1, keepdims=True)
    sums = np.exp(others - most).sum(axis=1)
    against = sums / (sums + np.exp(np.clip(f[every, labels] - most[:, 0], -5000, 5000)))
    residual = -np.minimum(1, 2 * against)[:, np.newaxis] * np.exp(others - most) / sums[:, np.newaxis]
    residual[every, labels] = np.minimum(1, 2 * against)
    return residual


def drawn(rng, n, k, kind):
    """Scores, labels and limits, extreme ones among them."""
    spread = rng.choice([0.0, 0.3, 3.0, 30.0, 1e6], (n, 1))
    if kind == "integers":
        return rng.integers(-(2**30), 2**30, (n, k)).astype(np.int32), rng.integers(0, k, n), limits(rng, n)
    return (rng.normal(size=(n, k)) * spread).astype(np.float32), rng.integers(0, k, n), limits(rng, n)


def limits(rng, n):
    return rng.choice([0, 1, 1000, LIMIT], n).astype(np.int32)


@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_the_residuals_of_two_classes_are_those_of_their_definition(kind, rng):
    scores, labels, limit = drawn(rng, 3000, 1, kind)
    step = 2.0**-26 if kind == "integers" else 1.0
    found = logistic.two(scores, labels.astype(np.uint8), limit, step, 0.25)
    f = scores * np.float32(step) + np.float32(0.25)
    expected = exact(np.hstack([np.zeros_like(f), f]), labels)[:, 1:] * limit[:, np.newaxis]
    assert np.abs(found - expected).max() < 1.1  # truncated, and rounded to 2**-22 of it
    assert (np.abs(found) <= limit[:, np.newaxis]).all()
    assert (found * (2 * labels - 1)[:, np.newaxis] >= 0).all()


@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_residuals_by_margin_are_those_of_their_definition(kind, rng):
    scores, labels, limit = drawn(rng, 3000, 1, kind)
    step = 2.0**-26 if kind == "integers" else 1.0
    found = logistic.two(scores, labels.astype(np.uint8), limit, step, 0.25, by_margin=True)
    sign = 2 * labels[:, np.newaxis] - 1
    margin = sign * (scores * np.float32(step) + np.float32(0.25)).astype(np.longdouble)
    share = np.minimum(1, (1 + np.exp(np.longdouble(-4))) / (1 + np.exp(np.clip(2 * margin - 4, -5000, 5000))))
    assert np.abs(found - sign * share * limit[:, np.newaxis]).max() < 1.1
    assert (np.abs(found) <= limit[:, np.newaxis]).all()
    assert (found * sign >= 0).all()


@pytest.mark.parametrize("limit", [0, 1, 1000, 2**24])
def test_a_residual_by_margin_is_never_above_its_limit(limit, rng):
    margins = np.concatenate([np.geomspace(1e-38, 3, 4000), [0.0, -1e-38, -1.0, -1e30]]).astype(np.float32)[
        :, np.newaxis
    ]
    limits, labels = np.full(len(margins), limit, np.int32), np.ones(len(margins), np.uint8)
    found = logistic.two(margins, labels, limits, by_margin=True).ravel()
    assert found.max() == limit
    assert np.diff(found[:4000]).max() <= limit * 2.0**-20


@pytest.mark.parametrize("k", [2, 3, 7, 130])
@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_the_residuals_of_many_classes_are_those_of_their_definition(kind, k, rng):
    scores, labels, limit = drawn(rng, 1000, k, kind)
    step, constants = (2.0**-26 if kind == "integers" else 1.0), rng.normal(size=k).astype(np.float32)
    found = logistic.many(scores, labels.astype(np.uint16), limit, step, constants)
    expected = exact(scores * np.float32(step) + constants, labels) * limit[:, np.newaxis]
    own = np.arange(k) == labels[:, np.newaxis]
    assert np.abs(found - expected)[~own].max() < 1.1
    assert np.abs(found - expected)[own].max() < k  # it makes up for what is truncated
    assert (found.sum(axis=1) == 0).all()
    assert (found[~own] <= 0).all()
    assert ((found[own] >= 0) & (found[own] <= limit)).all()
    assert ((found.astype(np.int64) ** 2).sum(axis=1) <= 2 * limit.astype(np.int64) ** 2).all()


def test_a_row_on_the_boundary_or_on_the_wrong_side_has_its_limit():
    scores = np.array([[0.0], [-1e-3], [-5.0], [-1e30], [1e-3], [1e30]], np.float32)
    ones, limit = np.ones(6, np.uint8), np.full(6, 1000, np.int32)
    assert logistic.two(scores, ones, limit).ravel().tolist() == [1000, 1000, 1000, 1000, 999, 0]
    assert logistic.two(-scores, 0 * ones, limit).ravel().tolist() == [-1000, -1000, -1000, -1000, -999, 0]


def test_a_residual_depends_on_its_own_row_alone(rng):
    scores, labels, limit = drawn(rng, 500, 5, "floats")
    labels, constants = labels.astype(np.uint16), np.zeros(5, np.float32)
    whole = logistic.many(scores, labels, limit, 1.0, constants)
    for rows in (slice(0, 1), slice(77, 78), slice(3, 400), slice(499, 500)):
        part = logistic.many(scores[rows].copy(), labels[rows], limit[rows], 1.0, constants)
        np.testing.assert_array_equal(part, whole[rows])
    two = (labels > 2).astype(np.uint8)
    whole = logistic.two(scores[:, :1].copy(), two, limit)
    for i in (0, 17, 499):
        np.testing.assert_array_equal(
            logistic.two(scores[i : i + 1, :1].copy(), two[i : i + 1], limit[i : i + 1]), whole[[i]]
        )


def test_every_level_gives_the_same_integers(each_isa, rng):
    cases = [drawn(rng, 2000, 6, kind) for kind in ("floats", "integers")]

    def everything():
        for scores, labels, limit in cases:
            step = 1.0 if scores.dtype == np.float32 else 2.0**-27
            for by_margin in (False, True):
                second = (labels > 2).astype(np.uint8)
                yield logistic.two(scores[:, :1].copy(), second, limit, step, 0.1, by_margin=by_margin)
            yield logistic.many(scores, labels.astype(np.uint16), limit, step, np.arange(6, dtype=np.float32))

    first, *others = each_isa(lambda: list(everything()))
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_no_rows_have_no_residuals():
    assert logistic.two(np.zeros((0, 1), np.float32), np.zeros(0, np.uint8), np.zeros(0, np.int32)).shape == (0, 1)
    none = np.zeros((0, 3), np.int32), np.zeros(0, np.uint16), np.zeros(0, np.int32)
    assert logistic.many(*none, 1.0, np.zeros(3, np.float32)).shape == (0, 3)


def test_what_does_not_fit_is_refused():
    scores, labels, limit = np.zeros((4, 1), np.float32), np.zeros(4, np.uint8), np.zeros(4, np.int32)
    for wrong, match in (
        ((scores.astype(float), labels, limit), "int32 or float32"),
        ((scores[:3], labels, limit), r"shape \(4, 1\), got \(3, 1\)"),
        ((np.zeros((4, 2), np.float32)[:, :1], labels, limit), "contiguous"),
        ((scores, labels, limit[:3]), "limits must have length 4, got 3"),
        ((scores, labels, limit - 1), "within 0 and 2"),
        ((scores, labels, limit + 2**24 + 1), "within 0 and 2"),
        ((scores, labels + np.uint8(2), limit), "labels 0 or 1"),
        ((scores, labels, limit, np.inf), "finite"),
        ((scores, labels, limit, 1.0, np.nan), "finite"),
    ):
        with pytest.raises(ValueError, match=match):
            logistic.two(*wrong)
    three, codes, zeros = np.zeros((4, 3), np.float32), np.zeros(4, np.uint16), np.zeros(3, np.float32)
    for wrong, match in (
        ((three, codes, limit, 1.0, zeros[:2]), r"shape \(4, 2\), got \(4, 3\)"),
        ((three, codes + np.uint16(3), limit, 1.0, zeros), r"labels must lie in \[0, 3\)"),
        ((three, codes, limit, 1.0, zeros + np.float32(np.inf)), "finite"),
        ((three[:, :1].copy(), codes, limit, 1.0, zeros[:1]), r"labels must lie in \[0, 1\)"),
    ):
        with pytest.raises(ValueError, match=match):
            logistic.many(*wrong)
