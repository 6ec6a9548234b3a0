"""[Lyu], section 5 and Theorem 3, and the conversion to proper learners."""

import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from laws import assert_follows
from reference import lyu
from reference.chance import geometric, law_of
from sklearn.base import clone

import dpfast
from dpfast.accounting import sparse_sample_delta, staged_plan
from dpfast.learners.littlestone import staged
from dpfast.learners.littlestone.staged import best_mixture, members_near
from dpfast.littlestone import FiniteClass, PointFunctions, StagedLittlestoneLearner, Thresholds

TABLE = [[1, 1], [0, 1], [0, 0]]


def test_section_5_follows_the_law_of_the_plain_twin(monkeypatch):
    """Four rows, two teachers, two stages; numbers that make every step uncertain."""
    X, y, epsilon = np.array([0, 1, 0, 1]), np.array([1, 1, 0, 1], np.uint8), 3.0
    plan = staged_plan(1.0, 0.1, dimension=1, accuracy=0.4, confidence=0.3, list_bound=lambda p: 3)._replace(
        n_teachers=2, irreducibilities=(2, 4), votes_needed=1, threshold_epsilon=epsilon, exponent=0.5, bottom_score=1
    )
    monkeypatch.setattr(staged, "staged_plan", lambda *_, **__: plan)
    H, rng = FiniteClass(TABLE), np.random.default_rng(5)
    learner = StagedLittlestoneLearner(1.0, 0.1, H, 0.4, random_state=rng)
    noise = SimpleNamespace(
        threshold=geometric(epsilon * 5 / 13, 25),
        test=lambda gap: 1.0 if gap <= 0 else math.exp(-epsilon * 4 / 13 * gap),
    )
    law = law_of(
        lambda chance: lyu.private_erm(
            chance, [tuple(row) for row in TABLE], list(zip(X.tolist(), y.tolist(), strict=True)), d=1,
            alpha=Fraction(0.4), k=2, p=1, thresholds=noise, votes=1, epsilon=0.5, bottom=1,
        )
    )  # fmt: skip
    seen = Counter()
    for _ in range(800):
        learner.fit(X, y)
        drawn = tuple(learner.hypothesis_(np.arange(2)).tolist()) if learner.selected_ else None
        seen[learner.stage_, drawn] += 1
    assert set(seen) <= set(law)
    assert_follows([seen[outcome] for outcome in law], list(law.values()))


def test_theorem_3_the_numbers_are_the_printed_ones_and_satisfy_its_proof():
    d, alpha, beta, L = 3, 0.1, 0.05, 700
    plan = staged_plan(1.0, 1e-6, dimension=d, accuracy=alpha, confidence=beta, list_bound=lambda p: L)
    n, k, a = plan.n_samples, plan.n_teachers, plan.rows_per_teacher
    assert plan.irreducibilities == tuple(2**j * n * d for j in range(1, d + 2))
    assert plan.votes_needed == math.ceil(k / 2)
    assert plan.threshold_epsilon + 2 * plan.exponent <= 1
    assert sparse_sample_delta(plan.exponent, plan.bottom_score, L) <= 1e-6
    noise = 13 / 4 / plan.threshold_epsilon * math.log((d + 2) * 3 / beta)
    assert k >= 2 * (noise + plan.bottom_score + math.log(3 / beta) / plan.exponent)
    ways = math.log(sum(math.comb(n, i) for i in range(d + 1)))
    for j in range(d + 1):
        t = alpha * (1 - 1 / (2 * d)) ** j
        m = (1 - 1 / (4 * d)) * t
        for seen in ((1 - 1 / (2 * d)) * t, t):
            kl = seen * math.log(seen / m) + (1 - seen) * math.log((1 - seen) / (1 - m))
            assert a * kl >= math.log(2 * k * (d + 1) * 3 / beta) + ways


@pytest.mark.parametrize("H", [Thresholds(15), PointFunctions(2**40)], ids=repr)
def test_theorem_3_the_error_on_the_rows_is_below_alpha(H):
    good, n = 0, StagedLittlestoneLearner(4.0, 1e-6, H, 0.2, scale=1e-3).estimate().n_samples
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.where(rng.random(n) < 0.5, 7, rng.integers(H.n_points, size=n))
        y = (X == 7) if isinstance(H, PointFunctions) else (X >= 5)
        learner = StagedLittlestoneLearner(4.0, 1e-6, H, 0.2, scale=1e-3, random_state=seed).fit(X, y)
        good += learner.selected_ and (learner.predict(X) != y).mean() < 0.2
    assert good >= 10


@pytest.mark.parametrize(
    ("H", "runs"), [(PointFunctions(2**40), 20), (FiniteClass(np.eye(5)), 20), (Thresholds(3), 4)], ids=repr
)
def test_theorem_3_the_error_is_below_alpha_at_scale_1(H, runs):
    """With the constants of the proof, on their number of rows, for members drawn at random."""
    alpha, beta = 0.2, 0.1
    learner, failures = StagedLittlestoneLearner(4.0, 1e-6, H, alpha, confidence=beta), 0
    assert learner.scale == 1
    n = learner.estimate().n_samples
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        target, share = int(rng.integers(1, H.n_points)), rng.choice([0.05, 0.25, 0.5])
        X = np.where(rng.random(n) < share, target, rng.integers(H.n_points, size=n))
        y = np.greater_equal(X, target) if isinstance(H, Thresholds) else np.equal(X, target)
        model = clone(learner).set_params(random_state=seed).fit(X, y)
        failures += not model.selected_ or (model.predict(X) != y).mean() >= alpha
    assert failures <= beta * runs


# ---- proper ----------------------------------------------------------------------------------------------------------


def test_the_best_mixture_of_members_is_near_a_soa_at_every_point(rng):
    assert best_mixture(np.eye(4)) == pytest.approx(np.full(4, 0.25))
    for _ in range(20):
        H = FiniteClass(np.eye(int(rng.integers(5, 30))))
        zero = H._soa_code()
        near = members_near(H, zero, 10)
        assert not H._is_member(zero)
        assert sorted(near) == list(range(H.size))  # at any point one of them errs
    assert members_near(Thresholds(9), 4, 10) == [4]
    assert members_near(PointFunctions(2**40), -1, 50) == list(range(50))


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_proper_learner_gives_a_member_of_small_error_and_divides_its_epsilon(neighbors, rng):
    H = PointFunctions(2**40)
    learner = StagedLittlestoneLearner(
        4.0, 1e-6, H, 0.2, scale=1e-3, proper_share=0.25, neighbors=neighbors, random_state=0
    )
    X = rng.integers(2**40, size=learner.estimate().n_samples)
    improper = StagedLittlestoneLearner(4.0, 1e-6, H, 0.2, scale=1e-3, random_state=0).fit(X, X == -1)
    learner.fit(X, X == -1)
    assert not H._is_member(improper.hypothesis_._code)  # the function 0
    assert H._is_member(learner.hypothesis_._code)
    assert (learner.predict(X) != 0).mean() < 0.2
    assert "3 of 3 releases used" in str(learner.privacy_)
    p = learner._checked()
    exponent = learner._proper_exponent(p) * (2 if neighbors == "replace" else 1)
    plan = learner.estimate()
    assert exponent + 2 * Fraction(plan.exponent) + Fraction(plan.threshold_epsilon) <= 4


def test_a_saved_learner_loads_as_it_was(tmp_path, rng):
    X = rng.integers(15, size=3000)
    learner = StagedLittlestoneLearner(2.0, 1e-6, Thresholds(15), scale=1e-4, random_state=0).fit(X, X >= 4)
    learner.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert (loaded.hypothesis_, loaded.stage_, loaded.selected_) == (learner.hypothesis_, learner.stage_, True)
    assert loaded.get_params() == {**learner.get_params(), "random_state": None}
