"""[NUZ] by the numbers of its algorithms and theorems, against twins that read like its listings."""

import math
from collections import Counter

import numpy as np
import pytest
from laws import assert_follows
from reference import nuz as twin
from scipy import integrate, stats

from dpfast import NetHalfspaceClassifier
from dpfast.accounting import halfspace_lower_bound, net_paper, net_plan, projected_paper, projected_plan
from dpfast.kernels.net import Net
from dpfast.learners.halfspaces import descent
from dpfast.tables.unit_rows import unit_rows


def test_algorithm_1_loss_is_one_at_a_tenth_of_the_margin_and_ends_at_96_hundredths():
    gamma, x = 0.3, np.array([1.0, 0.0])
    at = lambda z: twin.loss(np.array([z, 0.0]), x, 1, gamma)  # noqa: E731
    assert at(gamma / 10) == pytest.approx(1)
    assert at(0.96 * gamma) == 0 < at(0.95 * gamma)
    assert (at(0.2) - at(0.1)) / 0.1 == pytest.approx(-100 / (86 * gamma))
    assert (descent._PAPER_HINGE, descent.HINGE_SHARE) == (0.96, 0.86)
    assert 0.96 * gamma - gamma / 10 == pytest.approx(0.86 * gamma)  # printed: 86 gamma/10


def test_algorithm_3_steps_are_those_of_its_twin_from_the_same_words(rng, monkeypatch):
    """With its printed rate, gradient times n and noise of variance sigma^2, from the product's rows and noise."""
    n, m, gamma, grid_sigma = 30, 3, 0.3, 2.0
    rows = unit_rows(rng.normal(size=(n, m)), normalize=True)
    integers = np.array([rows.weighted_sum(row) for row in np.eye(n, dtype=np.int32)])
    signs = rng.choice([-1, 1], n).astype(np.int8)
    drawn = []

    def noise(zeros, sigma, rng):
        words = rng.normal(scale=sigma, size=zeros.shape).astype(np.int64)
        drawn.extend(words.tolist())
        return words

    monkeypatch.setattr(descent, "discrete_gaussian", noise)
    generator = np.random.default_rng(4)
    *_, last = descent.single_sample_steps(integers, rows.reach, signs, gamma, grid_sigma * rows.reach, generator)
    # what the product adds to y q / reach is -1/(n L) times what the paper adds to n times its gradient
    L = 100 / (86 * gamma)
    again, words = np.random.default_rng(4), iter(drawn)
    order = []
    for _ in range(n):
        order += again.integers(n, size=n).tolist()
        again.normal(size=(n, m))
    places = iter(order)
    D = [(row / rows.reach, int(y)) for row, y in zip(integers, signs, strict=True)]
    w = twin.noise_gd(
        D,
        gamma,
        grid_sigma * n * L,
        n * n,
        lambda: next(places),
        lambda: -n * L / rows.reach * np.array(next(words), float),
    )
    np.testing.assert_allclose(last, w, atol=1e-9)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_algorithm_2_draws_by_the_law_of_its_twin(neighbors, rng):
    X = rng.normal(size=(12, 2)).astype(np.float32)
    y = np.where(X[:, 0] + 0.3 > 0, 1, -1)
    settings = {"margin": 0.5, "net_radius": 0.3, "n_components": 3, "neighbors": neighbors, "random_state": rng}
    net = Net(3, 0.3)
    rows = np.hstack([X, np.ones((12, 1))]).astype(float)
    D = [(twin.normalised(x), label) for x, label in zip(rows, y, strict=True)]
    W = twin.net(3, net.side)
    assert len(W) == net.size == len(set(map(tuple, net.vectors(np.arange(net.size)).tolist())))
    assert set(W) == set(map(tuple, net.vectors(np.arange(net.size)).tolist()))
    law = twin.pure(D, 0.5, 3.0, W, neighbors)

    def draw():
        member = NetHalfspaceClassifier(3.0, **settings).fit(X, y).member_
        return tuple(net.vectors([member])[0].tolist())

    seen = Counter(draw() for _ in range(250))
    assert_follows([seen[p] for p in law], list(law.values()))


def test_lemma_2_holds_at_the_components_of_the_papers_number(rng):
    """m = 2 ln(2/b) / (e^2/2 - e^3/3): lengths are kept to e but for probability b; at e = 1/4, with e = gamma/100."""
    e, b = 0.25, 0.2
    m = math.ceil(2 * math.log(2 / b) / (e * e * (1 / 2 - e / 3)))
    x = rng.normal(size=40)
    x /= np.linalg.norm(x)
    lengths = np.square(rng.choice([-1, 1], (300, m, 40)) @ x / math.sqrt(m)).sum(axis=1)
    assert stats.binom.sf((np.abs(lengths - 1) > e).sum() - 1, 300, b) > 1e-6
    n, gamma, alpha, beta = 1000, 0.2, 0.1, 0.1
    paper = net_paper(1.0, margin=gamma, alpha=alpha, beta=beta)
    e, b = gamma / 100, alpha * beta**2 / (64 * paper.n)
    assert paper.n_components == math.ceil(2 * math.log(2 / b) / (e * e * (1 / 2 - e / 3)))
    assert n < net_plan(1.0, margin=gamma).n_components * 100 < paper.n_components


def test_theorem_4_numbers_are_those_of_its_claims():
    epsilon, gamma, alpha, beta = 0.5, 0.3, 0.2, 0.05
    paper = net_paper(epsilon, margin=gamma, alpha=alpha, beta=beta)
    log_w = paper.n_components * math.log(1 + 20 / gamma)
    assert paper.log10_size == pytest.approx(log_w / math.log(10))
    assert 2 * (log_w + math.log(4 / beta)) / (paper.n * epsilon) <= alpha / 4  # Claim 4.1
    generalises = math.log(16 / beta) + (paper.n_components + 1) * math.log(2 * paper.n) - alpha * paper.n / 32
    assert generalises <= 0 < generalises + alpha * paper.n / 32 * 0.01  # Lemma 4, which decides
    assert net_plan(epsilon, margin=gamma, alpha=alpha, beta=beta).n < paper.n / 1e5


def test_theorem_2_numbers_are_those_of_its_claims_and_of_appendix_a():
    epsilon, delta, gamma, alpha, beta = 0.5, 1e-6, 0.3, 0.2, 0.05
    paper = projected_paper(epsilon, delta, margin=gamma, alpha=alpha, beta=beta)
    n, m, L, r = paper.n, paper.n_components, 100 / (86 * gamma), math.ceil(math.log(8 / beta))
    assert (r, paper.n_rounds) == (6, n**2 - 1)
    share = epsilon / r, delta / r
    variance = 32 * L**2 * n**2 * math.log(n / share[1]) * math.log(1 / share[1]) / share[0] ** 2
    excess = 8 * math.sqrt(n**2 * L**2 + m * variance) * (1 + math.log(n)) / n**2
    choice = 2 * (1 + L) / (epsilon * n) * math.log(r * 8 / beta)
    assert math.e * excess + choice <= alpha / 4
    assert 4 * math.log(2 * n) * m < alpha * n
    assert projected_plan(epsilon, delta, margin=gamma, alpha=alpha, beta=beta).n < n / 1e5


def test_theorem_6_numbers_are_those_of_its_packing_and_ours_say_more():
    gamma = 0.001
    d = 1 / (1000 * gamma**2)
    paper = net_paper(0.5, margin=gamma)
    assert paper.lower_bound == math.ceil(math.log(9 * (2 ** (d / 20) - 1)) / 0.5)
    assert halfspace_lower_bound(0.5, 0, margin=gamma) > 1000 * paper.lower_bound
    assert net_paper(0.5, margin=0.1).lower_bound == 0  # K = 2^(d / 20) < 2


def errors_of_the_middle(theta, strip):
    """Error of the halfspace in the middle of two at an angle theta on the law of either, without its strip.

    In the plane of both, a uniform unit vector of many dimensions is Gaussian; `strip` is the margin times sqrt(d).
    """
    turn = math.tan(theta / 2)
    wrong = 2 * integrate.quad(lambda g: stats.norm.pdf(g) * stats.norm.sf(g / turn), strip, 40)[0]
    return wrong / (2 * stats.norm.sf(strip))


def test_theorem_6_claim_6_1_holds_at_a_larger_distance_than_is_printed():
    """Codewords at the printed distance d/10 have the angle arccos(8/10): the one in the middle is good for both."""
    strip = 1 / math.sqrt(1000)
    theta = math.acos(8 / 10)
    assert errors_of_the_middle(theta, strip) < 0.1
    assert theta / math.pi == pytest.approx(0.2048, abs=1e-4)  # how often they differ; printed: agree
    inside = 1 - 2 * stats.norm.sf(strip)
    most = 2 * (0.1 * (1 - inside) + inside)  # that two halfspaces with a common good one differ
    assert theta / math.pi < most < math.acos(1 - 2 / 5) / math.pi  # at d/5 there is none
