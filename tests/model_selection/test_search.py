import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats

import dpfast
from dpfast import CodeTable, HalfspaceClassifier, ProjectedHalfspaceClassifier
from dpfast.accounting import Budget, BudgetExceeded, Composed, discrete_gaussian_sigma, selection_epsilon
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.curves.selection import gaussian_mu, selection_base
from dpfast.model_selection import private_search, search
from dpfast.tables import Category, Schema

CLASSES = ["no", "yes"]


class Stub(HalfspaceClassifier):
    """Fits nothing, notes its rows and says "yes" to rows whose number is below `n_rounds`."""

    seen = []  # noqa: RUF012

    def fit(self, X, y, classes=None):
        if self.budget is not None:
            cost = discrete_gaussian_cost(
                discrete_gaussian_sigma(self.epsilon, self.delta), sensitivity=1, releases=1, size=1
            )
            self.budget.charge(self.epsilon, self.delta, neighbors=self.neighbors, cost=cost)
        Stub.seen.append((self.n_rounds, X[:, 0].copy(), self.epsilon, self.delta))
        return self

    def predict(self, X):
        Stub.seen.append(("counted", X[:, 0].copy()))
        return np.where(X[:, 0] < self.n_rounds, "yes", "no")


@pytest.fixture(autouse=True)
def nothing_seen():
    Stub.seen.clear()


@pytest.fixture
def rows():
    return np.arange(100.0)[:, np.newaxis], np.full(100, "yes")


def fits():
    return [each for each in Stub.seen if each[0] != "counted"]


def test_the_number_of_runs_and_what_is_tried_follow_their_laws(rows):
    counts, tried = [], []
    for seed in range(300):
        Stub.seen.clear()
        private_search([Stub(n_rounds=k) for k in (5, 50, 90)], *rows, runs=3, classes=CLASSES, random_state=seed)
        counts.append(len(fits()))
        tried += [each[0] for each in fits()]
    law = [(1 / 3) * (2 / 3) ** k for k in range(5)]
    seen = [counts.count(k + 1) for k in range(5)]
    expected = 300 * np.array([*law, 1 - sum(law)])
    assert stats.chisquare([*seen, 300 - sum(seen)], expected).pvalue > 1e-6
    assert stats.chisquare([tried.count(k) for k in (5, 50, 90)]).pvalue > 1e-6


def test_the_best_by_its_noisy_count_is_released_the_first_among_equals(rows, monkeypatch):
    noise = itertools.chain([0, 100, 3, 100, 2], itertools.repeat(-1000))
    monkeypatch.setattr(search, "discrete_gaussian", lambda counts, sigma, rng: [next(noise)])
    offered = [Stub(n_rounds=k) for k in range(1, 51)]
    found = private_search(offered, *rows, runs=30, classes=CLASSES, random_state=1)
    assert len(fits()) > 5
    assert found.right == 100
    assert found.index + 1 == found.estimator.n_rounds == fits()[1][0]


def test_no_row_is_both_fitted_and_counted_and_the_parts_are_those_of_all_runs(rows):
    private_search([Stub(n_rounds=50)], *rows, runs=20, validation=0.3, classes=CLASSES, random_state=0)
    trained = {tuple(each[1]) for each in fits()}
    counted = {tuple(each[1]) for each in Stub.seen if each[0] == "counted"}
    assert len(trained) == len(counted) == 1
    train, test = {*trained.pop()}, {*counted.pop()}
    assert train | test == {*range(100)}
    assert not train & test
    assert 10 < len(test) < 50


def test_every_run_has_the_claim_that_the_total_allows_and_its_count_too(rows, monkeypatch):
    sigmas = []
    plain = search.discrete_gaussian
    monkeypatch.setattr(
        search, "discrete_gaussian", lambda n, sigma, rng: sigmas.append(sigma) or plain(n, sigma, rng=rng)
    )
    budget = Budget(2.0, 1e-5, neighbors="add-remove")
    options = {"epsilon": 1.5, "delta": 1e-6, "neighbors": "add-remove", "budget": budget, "random_state": 3}
    found = private_search([Stub(n_rounds=5), Stub(n_rounds=50)], *rows, classes=CLASSES, **options)
    base = selection_base(1.5, 1e-6, runs=6, gaussian=True)
    assert {each[2:] for each in fits()} == {base}
    assert {*sigmas} == {discrete_gaussian_sigma(*base)}
    assert (found.run_epsilon, found.run_delta) == base
    assert (found.privacy.epsilon, found.privacy.delta, found.privacy.neighbors) == (1.5, 1e-6, "add-remove")
    assert len(budget.charges) == 1
    assert tuple(budget.charges[0])[:2] == (1.5, 1e-6)
    assert (found.estimator.epsilon, found.estimator.delta) == (1.5, 1e-6)
    assert found.estimator.privacy_ == found.privacy


@pytest.mark.parametrize("kind", [HalfspaceClassifier, ProjectedHalfspaceClassifier])
@pytest.mark.parametrize("image", [np.asarray, sp.csr_array, lambda X: CodeTable((X > 0).astype(int), [2] * 4)])
def test_what_counts_as_gaussian_costs_no_more_than_the_gaussian_of_its_claim(kind, image, rng):
    """The premise of the dearer claim, from the cost that a fit itself states."""
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    for epsilon, delta in ((0.1, 1e-7), (2.0, 1e-5)):
        clf = kind(epsilon, delta, n_rounds=20, random_state=0).fit(image(X), y)
        most = gaussian_mu(epsilon, delta) ** 2 / 2
        assert all(each.kind in ("gaussian", "zcdp") for each in clf.privacy_.cost)
        assert sum(each.renyi(1e-9) for each in clf.privacy_.cost) <= most * (1 + 1e-8)


def test_a_run_with_laplace_noise_has_the_claim_of_a_pair_alone(rng):
    X, y = rng.random((200, 3)), np.arange(200) % 2
    pair, gaussian = (selection_base(1.0, 1e-6, runs=30, gaussian=kind) for kind in (False, True))
    for learner, expected in (
        (ProjectedHalfspaceClassifier(margin=0.1, n_rounds=2), gaussian),
        (ProjectedHalfspaceClassifier(margin=0.1, n_rounds=2, probability_share=0.99), pair),
        (dpfast.DecisionListClassifier(threshold=0.5, accounting="paper", coverage_weight=0), pair),
    ):
        found = private_search([learner], X, y, runs=30, classes=[0, 1], random_state=1)
        assert (found.run_epsilon, found.run_delta) == expected


def test_a_run_of_a_list_has_the_claims_of_its_curve(rng):
    X, y = rng.random((200, 3)), np.arange(200) % 2
    pair, gaussian = (selection_base(1.0, 1e-6, runs=30, gaussian=kind) for kind in (False, True))
    lists = [dpfast.DecisionListClassifier(threshold=threshold) for threshold in (0.3, 0.5)]
    for neighbors, least in (("replace", 0.85), ("add-remove", 0.97)):
        found = private_search(lists, X, y, runs=30, classes=[0, 1], neighbors=neighbors, random_state=1)
        assert pair[0] < least * gaussian[0] < found.run_epsilon < gaussian[0]
        fit = dpfast.DecisionListClassifier(found.run_epsilon, found.run_delta, neighbors=neighbors, threshold=0.5)
        together = Composed(fit.fit(X, y, classes=[0, 1]).privacy_.cost)
        claims = [(found.run_epsilon, found.run_delta)]
        claims += [(epsilon, together.delta(epsilon)) for epsilon in np.arange(0.5, 64) / 64]
        assert selection_epsilon(claims, 1e-6, runs=30) <= 1.0


def test_a_learner_that_charges_no_budget_has_the_claim_of_a_pair_alone(rows):
    class Silent(Stub):
        def fit(self, X, y, classes=None):
            return self

    found = private_search([Silent(n_rounds=5)], *rows, runs=3, classes=CLASSES, random_state=0)
    assert (found.run_epsilon, found.run_delta) == selection_base(1.0, 1e-6, runs=3)


def test_it_finds_the_margin_that_suits_and_the_model_saves_its_claim(rng, tmp_path):
    X = rng.normal(size=(4000, 5))
    y = np.where(X[:, 0] > 0, "yes", "no")
    offered = [ProjectedHalfspaceClassifier(margin=0.1, n_rounds=k) for k in (1, 60)]
    offered.append(dpfast.DecisionListClassifier(threshold=100.0))
    found = private_search(offered, X, y, runs=12, classes=CLASSES, random_state=0)
    assert found.estimator.score(X, y) > 0.9
    found.estimator.save(tmp_path / "model.json")
    assert dpfast.load(tmp_path / "model.json").privacy_ == found.privacy


def test_a_refusal_draws_and_charges_nothing(rows):
    X, y = rows
    budget, rng = Budget(1.0, 1e-5), np.random.default_rng(0)
    before, watched = rng.bit_generator.state, Stub()
    watched._skl_callbacks = [object()]  # as `set_callbacks` of scikit-learn 1.9 does
    for offered, changed, match in (
        ([], {}, "at least one private classifier"),
        ([dpfast.NetHalfspaceClassifier()], {}, "an epsilon and a delta"),
        (["halfspace"], {}, "an epsilon and a delta"),
        ([Stub(budget=budget)], {}, "those of the search"),
        ([Stub(random_state=1)], {}, "those of the search"),
        ([Stub(n_rounds=0)], {}, "n_rounds must"),
        ([Stub(verbose=True)], {}, "would show every run"),
        ([watched], {}, "would show every run"),
        ([Stub()], {"runs": 0}, "runs must"),
        ([Stub()], {"runs": 1001}, "runs must"),
        ([Stub()], {"validation": 1}, "validation must"),
        ([Stub()], {"epsilon": -1}, "epsilon must"),
        ([Stub()], {"neighbors": "row"}, "neighbors must"),
        ([Stub()], {"y": y[:-1]}, "one label for each of 100 rows"),
    ):
        options = {"X": X, "y": y, "budget": budget, "random_state": rng, "classes": CLASSES} | changed
        with pytest.raises(ValueError, match=match):
            private_search(offered, **options)
    with pytest.raises(BudgetExceeded):
        private_search([Stub()], X, y, epsilon=1.1, budget=budget, random_state=rng, classes=CLASSES)
    assert rng.bit_generator.state == before
    assert not budget.charges


def test_nothing_is_said_of_the_runs_that_are_not_released():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 12)) * 10.0 ** rng.integers(-3, 3, (600, 12))).rename(columns="c{}".format)
    y = rng.integers(0, 2, 600)
    X.index = X.index // 2  # every fit warns of copies
    offered = [HalfspaceClassifier(n_rounds=2), dpfast.DecisionListClassifier(max_rules=2)]
    said = []
    for seed in range(3):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = private_search(offered, X, y, epsilon=0.3, classes=[0, 1], runs=9, random_state=seed)
        said.append({(each.category, str(each.message)) for each in told})
        assert len(told) == len(said[-1])
        lost = sum(share == 1 for share in found.estimator.encoder_.other_.values())
        assert any(f"nothing was discovered of {lost} of 12" in message for _, message in said[-1]) == (lost > 6)
        assert found.estimator.encoder_.privacy_ == found.privacy
        assert f"{found.run_epsilon}" not in str(found.estimator.encoder_)
    assert {dpfast.DiscoveryWarning} <= {category for each in said for category, _ in each}


def test_a_row_that_is_held_out_is_refused_like_the_others_before_the_charge():
    schema = Schema([Category("town", ["a", "b"], other=False)])
    X, y, budget = pd.DataFrame({"town": ["a", "b"] * 30}), np.arange(60) % 2, Budget(1.0, 1e-5)
    for row in range(12):
        changed = X.copy()
        changed.loc[row, "town"] = "c"
        with pytest.raises(ValueError, match="not declared"):
            private_search(
                [HalfspaceClassifier(schema=schema)], changed, y, classes=[0, 1], budget=budget, random_state=0
            )
    assert not budget.charges


def test_a_search_by_scikit_learn_is_told_what_it_costs(rng):
    from sklearn.model_selection import GridSearchCV

    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    grid = GridSearchCV(HalfspaceClassifier(n_rounds=2, random_state=0), {"n_rounds": [1, 2]}, cv=2, refit=False)
    with pytest.warns(dpfast.PrivacyWarning, match="private_search"):
        grid.fit(X, y, classes=[0, 1])
    assert math.isfinite(grid.best_score_)
