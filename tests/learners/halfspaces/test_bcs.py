"""[BCS] by the numbers of its algorithms and theorems, against twins that read like its listings."""

import itertools
import math
import warnings

import numpy as np
import pytest
from reference import boosting as twin

import dpfast
from dpfast import BoostedHalfspaceClassifier
from dpfast.accounting import boost_paper, boost_plan, gaussian_epsilon
from dpfast.learners.halfspaces.measure import CAP, LazyBregman, Local, Measure
from dpfast.mechanisms import discrete_gaussian
from dpfast.tables.unit_rows import unit_rows


def examples(X, y):
    """Rows with their 1, clipped to the unit ball."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    return list(zip(rows, y.tolist(), strict=True))


@pytest.mark.parametrize("name", ["lazy-bregman", "local"])
def test_algorithms_1_2_4_and_5_give_what_their_twin_gives_from_the_same_noise(name, rng, monkeypatch):
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    kappa, rate, T = 0.4, 5.0, 12
    settings = {"density": kappa, "learning_rate": rate, "n_rounds": T, "measure": name}
    seen = []

    def noted(total, sigma, rng):
        seen.append(sigma)
        return discrete_gaussian(total, sigma, rng=rng)

    monkeypatch.setattr("dpfast.learners.halfspaces.weak.discrete_gaussian", noted)
    clf = BoostedHalfspaceClassifier(30.0, 1e-3, **settings, random_state=np.random.default_rng(5)).fit(X, y)
    reach = unit_rows(X, fit_intercept=True).reach
    units = int(kappa * 60 * CAP)
    words = np.random.default_rng(5)
    noise = lambda: discrete_gaussian(np.zeros(4, np.int64), seen[0], rng=words) / (reach * units)  # noqa: E731
    more = {"lazy-bregman": {}, "local": {"measure": twin.local_measure, "size": kappa * 60}}[name]
    expected = twin.boost(examples(X, y), T, kappa, rate, noise, **more)
    np.testing.assert_allclose([*clf.coef_, clf.intercept_], expected, atol=2e-3)
    assert np.abs(expected).max() > 0.1


# ---- measures --------------------------------------------------------------------------------------------------------


class Halting(Measure):
    """A rule of somebody's own: a row counts while its score is at most 1."""

    def start(self, signs, units, rate):
        return _Halting(signs)


class _Halting:
    def __init__(self, signs):
        self.signs, self.scores = signs, np.zeros(len(signs))

    def weights(self):
        return np.where(self.scores <= 1, CAP, 0).astype(np.int32) * self.signs

    def add(self, margins):
        self.scores += self.signs * margins


MEASURES = {"lazy-bregman": LazyBregman(), "local": Local(), "own": Halting()}


@pytest.mark.parametrize("name", MEASURES)
def test_lemma_25_one_row_moves_a_sum_of_vectors_by_at_most_two_whatever_the_measure(name):
    """Brute force over rows (x, y) on a line, x and y +-1, and margins; all other weights move one way, as premised."""
    rows = list(itertools.product((-1, 1), (-1, 1), (-1.0, 0.0, 0.7)))
    units, found = 3 * CAP // 2, {}
    for table in itertools.product(rows, repeat=3):
        x, y, margin = map(np.array, zip(*table, strict=True))
        state = MEASURES[name].start(y.astype(np.int8), units, 30.0)
        state.add(margin.astype(np.float32))
        weights = state.weights()
        found[table] = weights * y, int(weights @ x)
    for table, (weights, total) in found.items():
        for row in rows:
            others, moved = found[row, *table[1:]]
            assert abs(moved - total) <= 2 * CAP
            change = others[1:] - weights[1:]
            assert (change >= 0).all() or (change <= 0).all()
            assert np.abs(change).sum() <= max(others[0], weights[0])
    mass = {int(weights.sum()) for weights, _ in found.values()}
    assert (mass == {units}) == (name == "lazy-bregman")


def test_lemma_25_as_printed_proves_only_twice_its_claim():
    """Its steps bound the distance to a third measure by 1/(kappa n) and add two of these; the claim is true."""
    n, kappa, rows = 4, 0.5, itertools.product((0.02, 0.4, 1.0), repeat=4)
    worst_step = worst = 0.0
    projected = {m: np.array(twin.capped_scaling(np.log(m), kappa), float) / (kappa * n) for m in rows if sum(m) <= 2}
    for m, p in projected.items():
        for other, q in projected.items():
            if m[1:] == other[1:]:
                worst = max(worst, np.abs(p - q).sum() / 2)
        without = np.array(twin.capped_scaling([-math.inf, *np.log(m[1:])], kappa), float) / (kappa * n)
        worst_step = max(worst_step, np.abs(p - without).sum() / 2)
    assert worst <= 1 / (kappa * n) + 1e-9
    assert worst_step == pytest.approx(1 / (kappa * n))  # so that the triangle inequality gives 2/(kappa n)


@pytest.mark.parametrize("measure", ["local", Halting()], ids=["local", "own"])
def test_boosting_by_another_measure_learns_and_is_saved(measure, rng, tmp_path):
    X = rng.normal(size=(3000, 12))
    y = X[:, 3] - X[:, 7] > 0
    clf = BoostedHalfspaceClassifier(measure=measure, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    clf.save(tmp_path / "m.json")
    np.testing.assert_array_equal(dpfast.load(tmp_path / "m.json").predict(X), clf.predict(X))


# ---- the weak learner ------------------------------------------------------------------------------------------------


def test_theorem_26_is_false_for_the_printed_hypothesis_and_true_for_the_normalised_one():
    """Rows tau u: h(x) = z x has the advantage |z|^2 / 2 = tau^2 / 2, and z x / |z| has |z| / 2."""
    tau, u = 0.2, np.array([0.6, 0.8])
    z = tau * u
    advantage = lambda h: 0.5 - 0.5 * abs(h - 1)  # noqa: E731
    assert advantage(z @ (tau * u)) == pytest.approx(tau**2 / 2)
    assert tau**2 / 2 < tau / 4
    assert advantage(z @ (tau * u) / np.linalg.norm(z)) == pytest.approx(tau / 2)
    assert tau / 2 >= tau / 4


def test_theorem_27_noise_leaves_the_interval_that_it_says_hypotheses_map_to(rng):
    z = np.array([0.9, 0.0]) + rng.normal(scale=0.2, size=(1000, 2))
    assert (np.abs(z @ [1.0, 0.0]) > 1).mean() > 0.2


def test_lemma_29_the_noise_is_longer_than_it_says_in_many_dimensions(rng):
    paper = boost_paper(1.0, 1e-6, margin=0.2)
    d = math.ceil(4 / paper.sigma**2)
    lengths = np.linalg.norm(rng.normal(scale=paper.sigma, size=(20, d)), axis=1)
    assert lengths.min() > 1 > 0.2 / 8


# ---- Algorithm 3 and Theorem 33: random label noise ------------------------------------------------------------------


def test_algorithm_3_runs_by_the_papers_calibration_and_keeps_its_promise(rng):
    """Labels flipped one time in a hundred, on the rows that the plan asks for: the error against clean labels."""
    margin, eta = 0.9, 0.01
    plan = boost_plan(20.0, 1e-3, margin=margin, noise=eta)
    along = rng.choice([-1, 1], plan.n) * rng.uniform(margin, 1, plan.n)
    across = rng.uniform(-1, 1, plan.n) * np.sqrt(1 - along**2)
    X, clean = np.column_stack([along, across]), np.sign(along).astype(int)
    clf = BoostedHalfspaceClassifier(
        20.0, 1e-3, calibration="paper", margin=margin, label_noise=eta, fit_intercept=False, random_state=0
    )

    def learn(S):
        rows, labels = zip(*S, strict=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", dpfast.PrivacyWarning)
            return clf.fit(np.array(rows), np.array(labels))

    twin.with_label_noise(list(zip(X, clean, strict=True)), eta, rng.random(plan.n), learn)
    assert (clf.density_, clf.n_rounds_, clf.learning_rate_) == (plan.density, plan.n_rounds, plan.learning_rate)
    assert clf.score(X, clean) >= 0.9
    with pytest.warns(UserWarning, match=rf"at margin 0.9 and label noise 0.01, needs {plan.n:,} rows, got 200"):
        clf.fit(X[:200], clean[:200])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_noise": 0.5}, r"label_noise must lie in \[0, 0.5\), got 0.5"),
        ({"label_noise": 0.2, "calibration": "paper", "margin": 0.9}, "noise must be below"),
        ({"measure": "even"}, 'measure must be "lazy-bregman", "local" or a Measure'),
        ({"measure": "local", "calibration": "paper", "margin": 0.9}, 'measure="lazy-bregman": the theorem'),
        ({"weak_learner": "stump", "calibration": "paper", "margin": 0.9}, 'weak_learner="centering"'),
    ],
)
def test_what_no_theorem_is_about_is_refused(parameters, message, rng):
    X = rng.integers(0, 2, (50, 3))
    with pytest.raises(ValueError, match=message):
        BoostedHalfspaceClassifier(**parameters, random_state=0).fit(X, X[:, 0])


# ---- Theorems 24, 27, 28, 30, 33: the paper's numbers ----------------------------------------------------------------


def test_theorem_30_numbers_are_those_of_algorithm_5_and_its_proof():
    epsilon, delta, tau, alpha, beta = 0.7, 1e-5, 0.3, 0.2, 0.05
    paper = boost_paper(epsilon, delta, margin=tau, alpha=alpha, beta=beta)
    log = math.log(4 / alpha)
    assert paper.n_rounds == math.ceil(1024 * log / tau**2)
    assert (paper.density, paper.learning_rate) == (alpha / 4, tau / 8)
    xi = beta * tau**2 / (3072 * log)
    assert math.sqrt(2) * paper.sigma * math.sqrt(math.log(1 / xi)) == pytest.approx(tau / 8)  # Theorem 27's advantage
    rho = 8 * paper.n_rounds / (paper.density * paper.privacy_rows * paper.sigma) ** 2
    assert 3 * math.sqrt(rho * math.log(1 / delta)) == pytest.approx(epsilon, rel=1e-6)
    mu = math.sqrt(paper.n_rounds) * 2 / (paper.density * paper.privacy_rows * paper.sigma)
    assert gaussian_epsilon(1 / mu, delta) < epsilon / 2  # ours, at half the sensitivity
    assert paper.corrupted_rows == math.ceil(24 * math.log(3 / beta) / (alpha / 4 * tau))
    assert paper.noise == alpha * tau / 32
    assert paper.n == max(paper.privacy_rows, paper.corrupted_rows, paper.margin_rows)
    D, n = 4 * (16 / (tau / 8)) ** 2, paper.margin_rows
    tail = lambda n: (2 / n) * (D * math.log(34 * math.e * n / D) * math.log2(578 * n) + math.log(12 / beta))  # noqa: E731
    assert math.sqrt(tail(n)) <= alpha / 2 < math.sqrt(tail(n * 0.999))


def test_theorem_28_as_printed_never_says_anything():
    for n in (10, 10**9, 10**18):
        assert math.sqrt(2 / n * math.log(34 * math.e * n) * math.log(578 * n) + math.log(4 / 0.5)) > 1


def test_lemma_38_gives_the_margin_for_a_quarter_of_the_advantage_and_nothing_for_algorithm_5s_rate():
    """gamma <= theta/2 + lambda + ln(1/kappa)/(T lambda), at T = 16 ln(1/kappa)/gamma^2."""
    gamma, log = 0.1, math.log(10)
    T = 16 * log / gamma**2
    theta = lambda rate: 2 * (gamma - rate - log / (T * rate))  # noqa: E731
    assert theta(gamma / 4) == pytest.approx(gamma)
    assert theta(gamma) < 0
    assert boost_paper(1.0, 1e-6, margin=8 * gamma).learning_rate == gamma


def test_theorem_33_numbers_are_those_of_its_claims():
    epsilon, delta, tau, alpha, beta = 0.7, 1e-5, 0.3, 0.2, 0.05
    paper = boost_paper(epsilon, delta, margin=tau, alpha=alpha, beta=beta)
    phi = min(epsilon, alpha / 36)
    small = min(delta, phi * beta / 4)
    rho = 8 * paper.n_rounds / (paper.density * paper.noise_rows * paper.sigma) ** 2
    assert 3 * math.sqrt(rho * math.log(1 / small)) <= phi * (1 + 1e-9)  # Claim 1
    assert paper.noise_rows >= 96 * math.log(4 / beta) / (alpha * tau)  # Claim 2
    assert paper.noise_rows >= math.log(4 * phi / small) / phi**2  # Theorem 19
    assert small / phi <= beta / 4
    ours = boost_plan(epsilon, delta, margin=tau, alpha=alpha, beta=beta, noise=paper.noise)
    assert ours.n < paper.noise_rows / 100
    assert ours.n_rounds < paper.n_rounds / 10
