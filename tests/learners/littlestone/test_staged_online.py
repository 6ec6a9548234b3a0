"""[Lyu], Algorithms 3 and 4 and Theorem 1."""

import functools
import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from laws import assert_follows
from reference import lyu
from reference.chance import hockey_stick, law_of
from scipy import stats

import dpfast
from dpfast.accounting import StagedOnlinePlan, repeated_epsilon, sparse_sample_epsilon, staged_online_plan
from dpfast.accounting.papers.littlestone import _divergence
from dpfast.base.fitting import Fit
from dpfast.base.plan import Plan, Proved, Task
from dpfast.base.run import Run
from dpfast.learners.littlestone import staged_online
from dpfast.learners.littlestone.splits import equal_parts
from dpfast.littlestone import FiniteClass, PointFunctions, StagedOnlineLittlestoneLearner, Thresholds

TABLE = np.array([[1, 1], [0, 1], [0, 0]])  # thresholds on two points
CLASS, EVERY = FiniteClass(TABLE), np.arange(2)


def tiny_plan(**numbers):
    """Numbers small enough to enumerate every run; no guarantee but privacy."""
    plan = {
        "n_releases": 1,
        "n_draws": 1,
        "n_teachers": 2,
        "threshold": 1,
        "part_size": 1,
        "irreducibility": 1,
        "list_bound": 3,
        "list_items": 6,
        "above_epsilon": 0.8,
        "below_epsilon": 0.6,
        "exponent": 0.4,
        "bottom_score": 1,
        "mistakes": 0,
    }
    return StagedOnlinePlan(**(plan | numbers))


def twin_law(stream, plan, listing="stage"):
    return law_of(lambda chance: lyu.published(chance, map(tuple, TABLE.tolist()), stream, plan, 2, listing))


def product_outcome(stream, plan, listing, rng):
    H = CLASS
    paid, task = Fit(H, rng), Task(1.0, 1e-6)
    counted = Proved("exponential", plan.exponent, times=plan.n_releases)
    planned = Plan(hypotheses=counted, **StagedOnlineLittlestoneLearner()._test_releases(plan))
    draws = Run(paid, planned, planned.solve(task), iter)
    learner = staged_online._JointTraining(draws, paid, plan, H, 2, listing)

    def seen():
        model = learner.model()
        return tuple(model.hypothesis(EVERY).tolist()), model.stage, model.frozen

    outcome = [seen()]
    for x, y in stream:
        learner.follow(np.array([x]), np.array([y], np.uint8))
        outcome.append(seen())
    return tuple(outcome)


# ---- the law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "numbers", "listing"),
    [
        ([(0, 1), (1, 0), (0, 1)], {}, "stage"),
        ([(0, 1), (1, 0)], {"n_draws": 2, "part_size": 2, "threshold": 0}, "printed"),
        ([(1, 0), (1, 0)], {"n_teachers": 3, "irreducibility": 2}, "stage"),
    ],
)
def test_algorithms_3_and_4_follow_the_law_of_the_plain_twin(stream, numbers, listing, rng):
    """Each epsilon and the exponent are so large that 600 streams nearly always tell it from its double."""
    plan = tiny_plan(exponent=2.0, above_epsilon=2.0, below_epsilon=1.6, **numbers)
    law = twin_law(stream, plan, listing)
    seen = Counter(product_outcome(stream, plan, listing, rng) for _ in range(600))
    assert set(seen) <= set(law)
    assert_follows([seen[outcome] for outcome in law], list(law.values()))


def test_algorithm_3_splits_into_equal_parts_of_places():
    rng = np.random.default_rng(3)
    seen = Counter(tuple(equal_parts(rng, range(3), 2, 4).tolist()) for _ in range(3000))
    law = Counter(tuple(place % 2 for place in places[:3]) for places in permutations(range(4)))
    assert_follows([seen[key] for key in law], [count / law.total() for count in law.values()])
    assert all(max(Counter(way).values()) <= 2 for way in seen)
    assert len(equal_parts(rng, range(9), 2, 4)) == 4


def test_with_blanks_one_mistake_less_moves_one_part_and_without_them_two():
    """The law of the others' parts is the same, so they can be left where they are; printed splits cannot."""

    def others(n, places, without):
        """The law of where all mistakes but one are."""
        ways = Counter()
        for chosen in permutations(range(places), n):
            ways[tuple(i % 2 for t, i in enumerate(chosen) if t != without)] += 1
        return {way: count / ways.total() for way, count in ways.items()}

    for places in (4, 6):
        assert others(3, places, 1) == pytest.approx(others(2, places, None))
    printed = others(3, 3, 1)  # three into two parts of two and one: two mistakes may share a part
    assert printed != pytest.approx(others(2, 2, None))
    assert printed[0, 0] > 0 == others(2, 2, None).get((0, 0), 0)


# ---- privacy ---------------------------------------------------------------------------------------------------------


def claim(plan, dimension, delta):
    """What `dpfast.accounting.papers.littlestone` says of these numbers."""
    return (
        repeated_epsilon(plan.above_epsilon, 1, delta / 4)
        + repeated_epsilon(plan.below_epsilon, dimension + 1, delta / 4)
        + sparse_sample_epsilon(
            plan.exponent, plan.bottom_score, plan.list_bound, plan.n_releases * plan.n_draws, delta / 2
        )
    )


ROUNDS = [(0, 0), (0, 1), (1, 0), (1, 1), None]  # None is a blank: neither counted nor learned from


def neighbour_laws(plan, stream, row, own):
    for other in ROUNDS:
        changed = [*stream[:row], other, *stream[row + 1 :]]
        yield other, own if other == stream[row] else law_of(lambda chance, to=changed: _published(chance, to, plan))


def _published(chance, stream, plan):
    learner = lyu.PrivateOnlineLearn(chance, map(tuple, TABLE.tolist()), plan, 2, "stage")
    seen = [learner.seen()]
    for each in stream:
        seen.append(learner.round(*each) if each else learner.round(0, learner.h[0]))
    return tuple(seen)


@pytest.mark.parametrize(
    ("numbers", "stream"),
    [
        # hardly anything drawn
        ({"above_epsilon": 0.05, "below_epsilon": 0.05, "exponent": 0.05, "bottom_score": 120}, [(0, 1), (0, 1)]),
        ({"above_epsilon": 0.05, "below_epsilon": 0.05, "exponent": 1.0, "bottom_score": 7}, [(1, 0), (0, 1)]),
        ({"above_epsilon": 0.3, "below_epsilon": 0.05, "exponent": 0.05, "bottom_score": 120}, [(1, 0), (0, 1)]),
        (
            {"above_epsilon": 0.3, "below_epsilon": 0.3, "exponent": 0.3, "bottom_score": 25, "n_draws": 2},
            [(0, 1), (0, 1)],
        ),
    ],
)
def test_theorem_1_holds_for_all_neighbours_of_short_streams(numbers, stream):
    plan, delta, worst = tiny_plan(**numbers), 0.05, 0.0
    epsilon = claim(plan, 2, delta)
    assert epsilon < 10
    own = law_of(lambda chance: _published(chance, stream, plan))
    for row in range(len(stream)):
        laws = list(neighbour_laws(plan, stream, row, own))
        for (_, p), (_, q) in product(laws, repeat=2):
            assert hockey_stick(p, q, epsilon) <= delta
            worst = max(worst, hockey_stick(p, q, 0))
    assert worst > 1e-3  # the runs do differ


@pytest.mark.parametrize("scale", [1, 1e-2, 1e-9])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-5)])
def test_theorem_1_the_planned_numbers_together_cost_no_more_than_the_claim(scale, epsilon, delta):
    for H, d in [(PointFunctions(2**40), 2), (Thresholds(4095), 12)]:
        plan = staged_online_plan(
            epsilon, delta, dimension=d, horizon=10**6, list_bound=lambda p, H=H, d=d: H.list_bound(p, d), scale=scale
        )
        assert claim(plan, d, delta) <= epsilon
        assert plan.list_bound >= H.list_bound(plan.irreducibility << (d + 1), d)


# ---- mistakes --------------------------------------------------------------------------------------------------------


def test_theorem_1_at_scale_1_every_inequality_of_the_proof_holds():
    d, T, L = 3, 10**24, 5000
    plan = staged_online_plan(1.0, 1e-6, dimension=d, horizon=T, list_bound=lambda p: L)
    K, R, k, U, c = plan[:5]
    e, B, e1, e2 = plan.exponent, plan.bottom_score, plan.above_epsilon, plan.below_epsilon
    nats = 10 * math.log(T) + math.log(6)
    assert 2 * (math.log(2 * T) + nats) / e1 + 2 <= U
    assert 7.5 * ((math.log(2 * (K + d + 2)) + nats) / e2 + 1) <= k
    assert k >= 10 * B
    assert math.exp(e * (2 * k / 3 - B)) >= 99
    assert R * -math.log(0.01 + 2 * math.sqrt((2 / 3 - 0.01) / 3)) >= math.log(T * (K + 1)) + nats
    a = U / (4 * k)
    ways = math.log(2 * sum(math.comb(3 * U // 2, i) for i in range(d + 1)))
    for j in range(1, d + 1):
        t = 0.1 * (1 - 1 / d) ** j
        m = (1 - 0.5 / d) * t
        for seen in ((1 - 1 / d) * t, t):
            kl = seen * math.log(seen / m) + (1 - seen) * math.log((1 - seen) / (1 - m))
            assert a * kl >= math.log(2 * k * (d + 1) * K) + ways + nats
    assert a * _divergence(0.1, 1 / 6) >= ways + math.log(k * K) + nats
    assert a >= 4 * (math.log(k * K) + nats)
    assert c * k >= 1.5 * U
    assert plan.irreducibility >= max(d**3, c)
    assert (d + 1) * (1 + (math.log(L * k) + e * (k - B) - math.log(100)) / math.log(1.25)) <= K
    assert plan.mistakes == (K + 1) * (3 * U // 2)


def test_theorem_1_for_adaptive_adversaries_has_draws_for_all_points_at_once():
    d, T, L = 2, 10**24, 5000
    parameters = {"dimension": d, "horizon": T, "list_bound": lambda p: L}
    nats, majority = 10 * math.log(T) + math.log(6), -math.log(0.01 + 2 * math.sqrt((2 / 3 - 0.01) / 3))
    for n_points in (15, 2**40, math.inf):
        plan = staged_online_plan(1.0, 1e-6, **parameters, n_points=n_points)
        ways = min(n_points, sum(math.comb(plan.n_teachers * L, i) for i in range(2 ** (d + 1))))
        assert plan.n_draws * majority >= math.log(ways) + math.log(plan.n_releases + 1) + nats
    few, fixed, many = (
        staged_online_plan(1.0, 1e-6, **parameters, n_points=n_points).mistakes for n_points in (T // 2, None, 2 * T)
    )
    assert few <= fixed <= many < 1.1 * fixed
    learner = StagedOnlineLittlestoneLearner(1.0, 1e-6, Thresholds(2**40), 10**45, max_work=10**99)
    own = {"dimension": 40, "horizon": 10**45, "list_bound": lambda p: Thresholds(2**40).list_bound(p, 40)}
    assert learner.estimate() == staged_online_plan(1.0, 1e-6, **own, n_points=2**40)


def test_theorem_1_points_tell_few_hypotheses_apart_in_few_ways(rng):
    """Assouad: m hypotheses of VC dimension d have at most the sum of C(m, i), i < 2^(d + 1), different columns."""
    close = 0
    for _ in range(300):
        m = int(rng.integers(4, 7))
        table = np.unique(rng.integers(0, 2, (m, rng.integers(4, 2**m + 1))), axis=1)
        d = FiniteClass(np.unique(table, axis=0)).littlestone_dimension()
        ways = sum(math.comb(m, i) for i in range(2 ** (d + 1)))
        assert table.shape[1] <= ways
        close += table.shape[1] > ways / 2
    assert close


def test_theorem_1_a_majority_says_at_every_point_what_a_third_of_the_law_says(rng):
    """All 32 points that tell five hypotheses apart, at once; nothing is drawn once in a hundred times."""
    law, R = np.append(0.99 * np.array([0.4, 0.25, 0.15, 0.12, 0.08]), 0.01), 150
    points = np.array(list(product((0, 1), repeat=5)))
    drawn = rng.multinomial(R, law, size=4000)[:, :5]
    ones, zeros = drawn @ points.T, drawn @ (1 - points).T
    rare = (law[:5] @ points.T < 1 / 3) & (ones > zeros) | (law[:5] @ (1 - points).T < 1 / 3) & (zeros >= ones)
    failures = 32 * (0.01 + 2 * math.sqrt((2 / 3 - 0.01) / 3)) ** R
    assert failures < 0.01
    assert rare.any(axis=1).sum() <= stats.binom.isf(1e-6, 4000, failures)


def test_theorem_1_at_scale_1_a_short_stream_is_refused_with_the_length_it_would_need():
    learner = StagedOnlineLittlestoneLearner(1.0, 1e-6, PointFunctions(2**40), 10**6, max_work=10**60)
    with pytest.raises(ValueError, match=r"at scale=1 the theorem allows .* mistakes.* needs a horizon of ") as refusal:
        learner.estimate()
    needed = int(str(refusal.value).split("needs a horizon of ")[1].split(", or")[0].replace(",", ""))
    assert learner.set_params(horizon=needed).estimate().mistakes < needed
    with pytest.raises(ValueError, match="needs a horizon of"):
        learner.set_params(horizon=needed // 2).estimate()
    with pytest.raises(ValueError, match=r"the first release comes after up to [0-9,]+ mistakes"):
        learner.set_params(horizon=1000, scale=1e-9).estimate()


@functools.cache
def random_table(seed, dimension):
    """An explicit class of this dimension on 16 points."""
    rng = np.random.default_rng((seed, dimension))
    while True:
        H = FiniteClass(rng.random((24, 16)) < rng.choice([0.08, 0.15, 0.3]))
        if H.littlestone_dimension() == dimension:
            return H


def adversarial(H, target, rounds, rng):
    """Points at which members near the target differ from it, most of the time; the rest at random."""
    labels = target(np.arange(min(H.n_points, 1 << 13)))
    if isinstance(H, PointFunctions):
        hard = np.array([int(np.flatnonzero(labels)[0])])
    elif isinstance(H, Thresholds):
        edge = int(np.argmax(labels))
        hard = np.clip(edge + np.array([-2, -1, 0, 1]), 0, H.n_points - 1)
    else:
        differ = (H.table != labels).sum(axis=1)
        nearest = H.table[np.argsort(differ)[1:4]] != labels
        hard = np.flatnonzero(nearest.any(axis=0))
    return np.where(rng.random(rounds) < 0.9, rng.choice(hard, rounds), rng.integers(H.n_points, size=rounds))


CLASSES = {
    "points": lambda: PointFunctions(2**40),
    "64 thresholds": lambda: Thresholds(63),
    "4097 thresholds": lambda: Thresholds(2**12),
    "LDim 1": lambda: random_table(334, 1),
    "LDim 2": lambda: random_table(1, 2),
    "LDim 3": lambda: random_table(1, 3),
}
WAYS = [("random", "stage"), ("adversarial", "printed"), ("random", "printed"), ("adversarial", "stage")]


@pytest.mark.parametrize(
    ("name", "kind", "listing"), [(name, *WAYS[(2 * i + j) % 4]) for i, name in enumerate(CLASSES) for j in (0, 1)]
)
def test_theorem_1_mistakes_draws_and_stages_on_streams(name, kind, listing, monkeypatch):
    H, rng = CLASSES[name](), np.random.default_rng(7)
    T, draws = 60_000, []
    target = H._hypothesis(
        H._some_members(4000)[-1] if isinstance(H, PointFunctions) else H._member_codes()[H.size // 3]
    )
    if kind == "random":
        X = rng.integers(H.n_points, size=T)
        X[rng.random(T) < 0.2] = 3999 if isinstance(H, PointFunctions) else 0
    else:
        X = adversarial(H, target, T, rng)
    y = target(X).astype(int)
    exponential = staged_online.exponential
    monkeypatch.setattr(staged_online, "exponential", lambda *a, **k: draws.append(k["size"]) or exponential(*a, **k))
    learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, H, T, scale=1e-9, listing=listing, random_state=0)
    plan, wrong = learner.estimate(), learner.stream(X, y) != y
    releases = len(learner.releases_)
    assert not learner.frozen_
    assert releases <= plan.n_releases + 1
    assert draws == [plan.n_draws] * releases
    assert wrong.sum() <= releases * 1.5 * plan.threshold <= plan.mistakes
    assert 1 <= learner.stage_ <= max(2, H.littlestone_dimension()) + 1
    assert wrong[-T // 10 :].mean() < 0.08  # too few for another release in the rounds that are left


def test_algorithm_3_halts_when_the_budget_is_spent_and_says_so(rng):
    X, y = rng.integers(7, size=80_000), rng.integers(2, size=80_000)  # nobody explains it
    learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, Thresholds(7), 80_000, scale=1e-9, random_state=0)
    learner.stream(X, y)
    assert learner.frozen_
    assert len(learner.releases_) <= learner.estimate().n_releases + 1
    hypothesis = learner.hypothesis_
    with pytest.warns(UserWarning, match=r"has ended after \d+ releases: the hypothesis is frozen"):
        predicted = learner.stream(X, y)
    assert learner.hypothesis_ == hypothesis
    np.testing.assert_array_equal(predicted, learner.predict(X))


def test_claim_6_4_as_printed_fails_where_a_dimension_falls_within_a_stage():
    """After the first update all lists are the one consistent point, in stage 1: p(u) neither rises nor does j."""
    rng, H = np.random.default_rng(0), PointFunctions(2**40)
    X = np.where(rng.random(20_000) < 0.5, 12345, rng.integers(2**40, size=20_000))
    y = (X == 12345).astype(int)
    stages = {}
    for listing in ("printed", "stage"):
        learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, H, 20_000, scale=1e-9, listing=listing, random_state=0)
        learner.stream(X[:1], y[:1])
        before = [sorted(Counter(map(len, learner._state._lists())).items())], learner.stage_
        learner.stream(X[1:], y[1:])
        after = [sorted(Counter(map(len, learner._state._lists())).items())], learner.stage_
        assert len(learner.releases_) == 2
        stages[listing] = before[1], after[1]
    assert stages == {"printed": (1, 1), "stage": (2, 3)}  # as printed the point is new in the stage it was in


def test_an_interrupted_training_leaves_what_was_released_before(monkeypatch):
    X = np.where(np.arange(5_000) % 2, 77, np.arange(5_000) + 1000)
    learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, PointFunctions(2**40), 5_000, scale=1e-9, random_state=0)
    learner.stream(X[:5], X[:5] == 77)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(staged_online, "votes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.stream(X[5:], X[5:] == 77)
    assert len(learner.releases_) == 1
    assert "0 of 6 releases used" in str(learner.privacy_)
    with pytest.raises(ValueError, match="interrupted"):
        learner.stream(X, X == 77)


# ---- as a learner ----------------------------------------------------------------------------------------------------


def test_a_saved_stream_predicts_by_the_same_majority(tmp_path, rng):
    H = Thresholds(50)
    X = rng.integers(50, size=20_000)
    learner = StagedOnlineLittlestoneLearner(8.0, 1e-6, H, 20_000, scale=1e-9, random_state=0).partial_fit(X, X >= 9)
    learner.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.hypothesis_ == learner.hypothesis_
    assert "majority" in repr(loaded.releases_[0])
    assert (loaded.stage_, loaded.frozen_, loaded.releases_) == (learner.stage_, False, learner.releases_)
    np.testing.assert_array_equal(loaded.predict(X), learner.predict(X))
    with pytest.raises(ValueError, match="no stream to continue"):
        loaded.stream(X, X >= 9)


def test_a_majority_says_what_most_say_and_0_on_ties():
    from dpfast.learners.littlestone.hypothesis import majority

    H = Thresholds(10)
    vote = majority(H, [2, 2, 5, 9])
    assert vote(np.arange(10)).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert majority(H, [3, 3])(4) == 1
    assert repr(majority(H, [3, 3])) == "<1 from point 3 on>"
    assert vote == majority(H, [9, 5, 2, 2]) != majority(H, [9, 5, 2])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scale": 0}, r"scale must lie in \(0, 1\], got 0"),
        ({"scale": 2}, r"scale must lie in \(0, 1\], got 2"),
        ({"listing": "all"}, 'listing must be "stage" or "printed"'),
        ({"horizon": 0}, "horizon must be an integer of at least 1, got 0"),
        ({"dimension": 1}, "the class has Littlestone dimension 3, above the declared 1"),
        ({"max_work": 10}, "items on the teachers' lists, more than max_work=10"),
    ],
)
def test_parameters_that_will_not_do_are_refused_by_name(parameters, message):
    learner = StagedOnlineLittlestoneLearner(
        **{"hypothesis_class": Thresholds(9), "horizon": 10**6, "scale": 1e-9} | parameters
    )
    with pytest.raises(ValueError, match=message):
        learner.stream([0, 1], [0, 1])
    assert not hasattr(learner, "privacy_")
