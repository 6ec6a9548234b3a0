import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from dpfast.accounting import boost_plan, gaussian_sigma, halfspace_lower_bound, net_plan, projected_plan
from dpfast.accounting.papers.halfspaces import _components

PLANS = [
    lambda epsilon, delta, **problem: boost_plan(epsilon, delta, **problem),
    lambda epsilon, delta, **problem: projected_plan(epsilon, delta, **problem),
    lambda epsilon, delta, **problem: net_plan(epsilon, **problem),
]


def separated(rng, n, d, margin):
    """Rows of norm 1 with labels, y <u, x> = margin for the first unit vector u on half of them, more on the rest."""
    y = rng.choice([-1.0, 1.0], n)
    x = rng.normal(size=(n, d))
    x[:, 0] = 0
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    along = np.where(rng.random(n) < 0.5, margin, rng.uniform(margin, 1, n))
    x *= np.sqrt(1 - along**2)[:, np.newaxis]
    x[:, 0] = y * along
    return x, y


def boosted(rng, x, y, kappa, rate, T, sigma):
    """HS-StL: measures and weak learners of each round, as [BCS] has them."""
    n, loss = len(y), np.zeros(len(y))
    measures, learners = [], []
    for _ in range(T):
        weight = np.exp(-rate * (loss - loss.min()))
        low, high = 0.0, 1 / weight.min()
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if np.minimum(1, middle * weight).sum() < kappa * n else (low, middle)
        measure = np.minimum(1, high * weight) / (kappa * n)
        z = (measure * y) @ x + rng.normal(scale=sigma, size=x.shape[1])
        loss += (1 + y * np.clip(x @ z, -1, 1)) / 2
        measures.append(measure)
        learners.append(z)
    return np.array(measures), np.array(learners)


@pytest.mark.parametrize(("margin", "share"), [(0.9, 0.2), (0.5, 0.2), (0.5, 0.5)])
def test_a_projection_keeps_its_share_of_the_margin_as_often_as_planned(rng, margin, share):
    failure, trials, d = 0.3, 400, 12
    m = _components(margin, share, math.log(2 / failure), None)
    u, v = np.eye(d)[0], margin * np.eye(d)[0] + math.sqrt(1 - margin**2) * np.full(d, 1 / math.sqrt(d - 1))
    v[0] = margin
    A = rng.choice([-1.0, 1.0], size=(trials, m, d)) / math.sqrt(m)
    Au, Av = A @ u, A @ v
    kept = (Au * Av).sum(1) / np.linalg.norm(Au, axis=1) / np.linalg.norm(Av, axis=1)
    assert stats.binom.sf((kept < share * margin).sum() - 1, trials, failure) > 1e-6


def test_the_tails_of_a_projection_are_those_of_its_source():
    e = np.linspace(1e-3, 0.999, 999)
    exponent = -(e**2 / 4 - e**3 / 6)
    lower = np.log(1 - e / (2 * (1 + e)) + 3 * e**2 / (8 * (1 + e) ** 2)) + e * (1 - e) / (2 * (1 + e))
    assert (lower <= exponent).all()
    assert (-(e - np.log1p(e)) / 2 <= exponent).all()


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
def test_the_rows_of_every_dense_measure_get_the_margin_that_the_proof_gives(rng, rate):
    n, kappa, T, sigma = 60, 0.25, 40, 0.03
    x, y = separated(rng, n, 5, 0.3)
    measures, learners = boosted(rng, x, y, kappa, rate, T, sigma)
    products = y * (learners @ x.T)
    h = np.clip(products, -1, 1)
    worst = np.sort(h.sum(0))[: int(kappa * n)].mean()  # the dense measure that is worst off
    means = np.linalg.norm(measures * y @ x, axis=1)
    B = np.abs((learners - measures * y @ x) @ x.T).max()
    regret = (measures * h).sum() - worst
    assert regret <= 2 * math.log(1 / kappa) / rate + rate / 4 * ((means + B) ** 2).sum()
    assert (means >= 0.3 - 1e-12).all()
    assert (np.abs(h - products).max(1) <= B * means**2 + 1e-12).all()


def test_a_boost_plan_keeps_its_promise_in_more_dimensions_than_rows(rng):
    epsilon, delta, problem = 8.0, 1e-3, {"margin": 0.9, "alpha": 0.4, "beta": 0.3}
    plan = boost_plan(epsilon, delta, **problem)
    d = 2 * plan.n
    assert plan.sigma**2 * d > 1  # where the noise of a round is longer than any row
    steps = 2 * math.sqrt(plan.n_rounds) / (plan.density * plan.n)
    assert plan.sigma == pytest.approx(gaussian_sigma(epsilon, delta, sensitivity=steps), rel=1e-6)
    x, y = separated(rng, plan.n, d, 0.9)
    _, learners = boosted(rng, x, y, plan.density, plan.learning_rate, plan.n_rounds, plan.sigma)
    x, y = separated(rng, 1000, d, 0.9)
    assert (y * (x @ learners.mean(0)) <= 0).mean() <= 0.4


def test_a_boost_plan_keeps_its_promise_with_flipped_labels(rng):
    plan = boost_plan(8.0, 1e-3, margin=0.9, alpha=0.4, beta=0.3, noise=0.05)
    x, y = separated(rng, plan.n, 4, 0.9)
    flipped = y * np.where(rng.random(plan.n) < 0.05, -1, 1)
    _, learners = boosted(rng, x, flipped, plan.density, plan.learning_rate, plan.n_rounds, plan.sigma)
    x, y = separated(rng, 1000, 4, 0.9)
    assert (y * (x @ learners.mean(0)) <= 0).mean() <= 0.4


@pytest.mark.parametrize("aside", [0, 60])
def test_a_boost_plan_keeps_its_promise_with_rows_that_somebody_replaced(rng, aside):
    problem = {"margin": 0.9, "alpha": 0.4, "beta": 0.3, "corrupted": 0.03}
    plan = boost_plan(8.0, 1e-3, **problem)
    x, y = separated(rng, plan.n, 4, 0.9)
    bad, angle = int(0.03 * plan.n), math.radians(aside)
    easiest = np.argsort(-y * x[:, 0])[:bad]  # the rows that boosting needs least are left
    x[easiest] = y[easiest, None] * [-math.cos(angle), math.sin(angle), 0, 0]
    measures, learners = boosted(rng, x, y, plan.density, plan.learning_rate, plan.n_rounds, plan.sigma)
    means = measures * y @ x
    assert (means[:, 0] >= 0.9 - 1.9 * bad / plan.n / plan.density - 1e-9).all()
    assert (y * (x @ learners.mean(0)) <= 0).mean() < plan.density
    x, y = separated(rng, 1000, 4, 0.9)
    assert (y * (x @ learners.mean(0)) <= 0).mean() <= 0.4


def test_a_boost_plan_errs_by_little_more_where_every_label_has_a_rate_of_its_own(rng):
    plan = boost_plan(8.0, 1e-3, margin=0.9, alpha=0.4, beta=0.3, noise=0.05)
    x, y = separated(rng, plan.n, 4, 0.9)
    flipped = y * np.where(rng.random(plan.n) < 0.05 * (x[:, 1] > 0), -1, 1)
    _, learners = boosted(rng, x, flipped, plan.density, plan.learning_rate, plan.n_rounds, plan.sigma)
    x, y = separated(rng, 1000, 4, 0.9)
    assert (y * (x @ learners.mean(0)) <= 0).mean() <= 0.4 + 0.6 * 0.05 / 0.95


@pytest.mark.parametrize("gamma", [0.2, 0.7])
def test_more_replaced_rows_than_the_limit_leave_a_dense_measure_without_a_weak_learner(gamma):
    kappa, around = 0.25, np.linspace(0, 2 * math.pi, 100, endpoint=False)
    clean = np.column_stack(
        [np.full(100, gamma), math.sqrt(1 - gamma**2) * np.array([np.cos(around), np.sin(around)]).T]
    )
    limit = kappa * gamma / (1 + gamma)
    for share, left in ((limit, 0), (0.9 * limit, 0.1 * gamma)):
        weights = np.append(np.full(100, (1 - share / kappa) / 100), share / kappa)
        assert weights[-1] * kappa <= share * (1 + 1e-12)  # kappa-dense
        assert weights[0] * kappa <= (1 - share) / 100
        mean = weights @ np.vstack([clean, [-1, 0, 0]])
        assert mean == pytest.approx([left, 0, 0], abs=1e-12)  # the least that gamma' allows for


def test_a_plan_for_replaced_rows_costs_more_the_more_there_are_up_to_its_limit():
    limit = 0.1 * 0.4 / 1.8
    rows = [boost_plan(1.0, 1e-6, margin=0.4, corrupted=share * limit).n for share in (0, 0.2, 0.5)]
    assert rows[0] < rows[1] < rows[2]
    both = boost_plan(1.0, 1e-6, margin=0.4, noise=0.004, corrupted=0.004).n
    assert both > max(boost_plan(1.0, 1e-6, margin=0.4, **{kind: 0.004}).n for kind in ("noise", "corrupted"))


def test_a_projected_plan_keeps_its_promise(rng):
    plan = projected_plan(4.0, 1e-3, margin=0.6, alpha=0.3, beta=0.3, dimension=3)
    L, w, total = 1 / (0.86 * 0.6), np.zeros(3), np.zeros(3)
    assert plan.n_components == 3
    steps = 2 * L * math.sqrt(plan.n_rounds) / plan.n
    assert plan.sigma == pytest.approx(gaussian_sigma(4.0, 1e-3, sensitivity=steps), rel=1e-6)
    x, y = separated(rng, plan.n, 3, 0.6)
    for _ in range(plan.n_rounds):
        total += w
        gradient = -L * (y * (y * (x @ w) * L < 1)) @ x / plan.n
        w = w - plan.step * (gradient + rng.normal(scale=plan.sigma, size=3))
        w /= max(1, np.linalg.norm(w))
    x, y = separated(rng, 1000, 3, 0.6)
    assert (y * (x @ total) <= 0).mean() <= 0.3


def test_a_net_plan_keeps_its_promise_as_often_as_planned(rng):
    plan = net_plan(2.0, margin=0.5, alpha=0.2, beta=0.2, dimension=2)
    places = np.arange(-(plan.side - 1), plan.side, 2)
    face = np.stack([np.full(plan.side, plan.side), places], 1)
    net = np.concatenate([face, -face, face[:, ::-1], -face[:, ::-1]])
    assert len(net) == pytest.approx(10**plan.log10_size)
    net = net / np.linalg.norm(net, axis=1, keepdims=True)
    u = np.array([np.cos(a := np.linspace(0, 7, 1000)), np.sin(a)])
    assert (np.linalg.norm(net[:, np.newaxis] - u.T, axis=2).min(0) <= 0.1 * 0.5).all()
    fresh, labels = separated(rng, 2000, 2, 0.5)
    failures = 0
    for _ in range(200):
        x, y = separated(rng, plan.n, 2, 0.5)
        wrong = (y * (net @ x.T) < 0.1 * 0.5).sum(1)
        weight = np.exp(-plan.exponent * (wrong - wrong.min()))
        w = net[rng.choice(len(net), p=weight / weight.sum())]
        failures += (labels * (fresh @ w) <= 0).mean() > 0.2
    assert stats.binom.sf(failures - 1, 200, 0.2) > 1e-6


def test_the_rows_of_a_net_plan_are_those_of_its_claim():
    for epsilon, neighbors, t in ((0.7, "replace", 0.35), (0.7, "add-remove", 0.7)):
        plan = net_plan(epsilon, margin=0.3, alpha=0.05, beta=0.02, neighbors=neighbors)
        R = -math.log(1 - 0.05 * (1 - math.exp(-t)))
        e = (0.8 * 0.3) / (1 - 0.2 * 0.09)
        assert 2 * math.exp(-plan.n_components / 2 * (e**2 / 2 - e**3 / 3)) <= 0.02 * R / (8 * t)
        assert plan.side % 2 == 1
        assert math.sqrt(plan.n_components - 1) / plan.side <= 0.03
        size = math.log(2 * plan.n_components) + (plan.n_components - 1) * math.log(plan.side)
        assert plan.log10_size == pytest.approx(size / math.log(10))
        assert plan.n == math.ceil((size + math.log(100)) / (0.75 * R))
        assert plan.exponent == t


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.05])
def test_no_private_algorithm_tells_labels_apart_better_than_the_lower_bound_says(delta):
    epsilon = 0.4
    for N in range(1, 7):  # p[j] is the probability of answering 1 when j of N labels are flipped
        rows, bounds = [], []
        for i in range(N):
            for one, other in ((i, i + 1), (i + 1, i)):
                row = np.zeros(N + 1)
                row[one], row[other] = 1, -math.exp(epsilon)
                rows += [row, -row]
                bounds += [delta, delta + math.exp(epsilon) - 1]
        errors = np.zeros(N + 1)
        errors[0], errors[N] = -0.5, 0.5
        best = 0.5 + linprog(errors, np.array(rows), bounds, bounds=(0, 1)).fun
        Q = delta / math.expm1(epsilon)
        bound = (1 + 2 * Q) * math.exp(-epsilon * N / 2) / 2 / (math.cosh(epsilon / 2) if N % 2 else 1) - Q
        assert best == pytest.approx(bound, abs=1e-9)


def test_the_lower_bound_is_what_its_claim_refuses():
    epsilon, delta, margin, alpha, beta = 0.3, 1e-6, 0.1, 0.05, 0.05
    n = halfspace_lower_bound(epsilon, delta, margin=margin, alpha=alpha, beta=beta)
    Q = delta / math.expm1(epsilon)

    def refused(n):
        for p in np.linspace(alpha, 1, 2000):
            k = 100 - (p < 1)
            share = alpha / p + beta
            seen = (1 - p / k * (1 - math.exp(-epsilon / 2))) ** n
            if share < (1 + 2 * Q) * seen / (2 * math.cosh(epsilon / 2)) - Q or share < (1 - p / k) ** n / 2:
                return True
        return False

    assert refused(n - 1)
    assert not refused(math.ceil(1.01 * n))


def test_a_lower_bound_without_privacy_is_that_of_unseen_points():
    assert halfspace_lower_bound(600.0, 0.0, margin=0.1, alpha=0.01) > 99 / 0.05 * 0.15
    assert halfspace_lower_bound(1.0, 0.0, margin=1.0, alpha=0.4) == 0


@pytest.mark.parametrize("plan", PLANS)
def test_plans_lie_above_the_lower_bound_and_grow_with_the_demands(plan):
    for epsilon in (0.03, 3.0):
        for margin in (0.05, 1.0):
            easy = plan(epsilon, 1e-6, margin=margin, alpha=0.2, beta=0.2)
            hard = [
                plan(epsilon / 2, 1e-6, margin=margin, alpha=0.2, beta=0.2),
                plan(epsilon, 1e-6, margin=margin / 2, alpha=0.2, beta=0.2),
                plan(epsilon, 1e-6, margin=margin, alpha=0.1, beta=0.2),
                plan(epsilon, 1e-6, margin=margin, alpha=0.2, beta=0.1),
            ]
            for each in hard:
                assert easy.n < each.n
                assert easy.lower_bound <= each.lower_bound < each.n


@pytest.mark.parametrize("plan", PLANS)
def test_the_order_of_a_plan_is_the_one_stated(plan):
    def n(epsilon=1e-3, margin=1e-2, alpha=1e-2):
        return plan(epsilon, 1e-6, margin=margin, alpha=alpha).n

    assert n(epsilon=5e-4) / n() == pytest.approx(2, rel=0.2)
    assert n(margin=5e-3) / n() == pytest.approx(4, rel=0.2)
    assert n(alpha=5e-3) / n() == pytest.approx(2, rel=0.25)


def test_columns_limit_what_is_projected_and_what_is_impossible():
    assert projected_plan(1.0, 1e-6, margin=0.2, dimension=10).n_components == 10
    assert net_plan(1.0, margin=0.2, dimension=10).n_components == 10
    assert halfspace_lower_bound(1.0, 0, margin=0.2, dimension=10) < halfspace_lower_bound(1.0, 0, margin=0.2)
    one, other = (halfspace_lower_bound(1.0, 0, margin=0.2, neighbors=each) for each in ("add-remove", "replace"))
    assert one <= other
    assert net_plan(1.0, margin=0.2, neighbors="add-remove").n < net_plan(1.0, margin=0.2).n


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 0}, "epsilon must be a finite number, at least 1e-09"),
        ({"delta": 0}, "delta must be at least 1e-300"),
        ({"margin": 1.5}, "margin must be from 1e-09 to 1, got 1.5"),
        ({"margin": 0}, "margin must be"),
        ({"alpha": 1}, "alpha must be from 1e-09 to 1 - 1e-09, got 1"),
        ({"beta": 0.0}, "beta must be"),
        ({"noise": 0.5}, "noise must be at least 0 and below 1/2"),
        ({"noise": 0.02}, "noise must be below alpha margin / \\(1 \\+ 2 alpha margin\\) = 0.0192, got 0.02"),
        ({"corrupted": -0.1}, "corrupted must be at least 0 and below 1/2"),
        ({"corrupted": 0.0145}, "corrupted must be below .* / \\(1 \\+ 2 margin\\) = 0.0143, got 0.0145"),
        ({"corrupted": 0.01, "noise": 0.01}, "corrupted must be below .* = 0.00686, got 0.01"),
    ],
)
def test_what_no_plan_covers_is_refused(change, said):
    with pytest.raises(ValueError, match=said):
        boost_plan(**{"epsilon": 1.0, "delta": 1e-6, "margin": 0.2, **change})


def test_choices_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="dimension must be an integer >= 1, got 0"):
        projected_plan(1.0, 1e-6, margin=0.2, dimension=0)
    with pytest.raises(ValueError, match='neighbors must be "replace" or "add-remove"'):
        net_plan(1.0, margin=0.2, neighbors="swap")
    with pytest.raises(ValueError, match="delta must be"):
        halfspace_lower_bound(1.0, -1, margin=0.2)
