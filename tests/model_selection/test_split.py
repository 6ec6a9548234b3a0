import copy
import itertools
import pickle

import numpy as np
import pytest
from scipy import stats

from dpfast import HalfspaceClassifier, metrics
from dpfast.accounting import Budget, BudgetExceeded, compose
from dpfast.metrics import figure
from dpfast.model_selection import private_split, split

CLASSES = ["no", "yes"]


@pytest.fixture
def rows(rng):
    X = rng.choice([-1.0, 1.0], (300, 4))
    return X, np.where(X[:, 0] > 0, "yes", "no")


def learner(**given):
    return HalfspaceClassifier(1.0, 1e-6, n_rounds=5, **{"random_state": 0} | given)


def test_each_row_has_a_coin_of_its_own_and_the_parts_have_all_rows():
    X, counts = np.arange(40.0)[:, np.newaxis], np.zeros(41)
    for seed in range(600):
        parts = private_split(X, np.arange(40), test_share=0.3, random_state=seed)
        assert parts.train.y.tolist() == np.flatnonzero(~parts.is_test).tolist() == parts.train.X[:, 0].tolist()
        assert parts.test.y.tolist() == np.flatnonzero(parts.is_test).tolist() == parts.test.X[:, 0].tolist()
        counts[len(parts.test.y)] += 1
    law = stats.binom.pmf(np.arange(6, 19), 40, 0.3)
    seen = [*counts[6:19], 600 - counts[6:19].sum()]
    assert stats.chisquare(seen, 600 * np.array([*law, 1 - law.sum()])).pvalue > 1e-6


def test_the_coins_do_not_look_at_the_rows(rows):
    X, y = rows
    assert (private_split(X, y, random_state=3).is_test == private_split(-X, y[::-1], random_state=3).is_test).all()
    shorter = private_split(X[:-1], y[:-1], random_state=3).is_test
    assert (private_split(X, y, random_state=3).is_test[:-1] == shorter).all()
    with pytest.raises(ValueError, match="read-only"):
        shorter[0] = True


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_figures_are_those_of_the_model_on_the_test_rows_and_are_paid_by_its_claim(rows, neighbors):
    parts = private_split(*rows, random_state=1)
    model = parts.fit(learner(neighbors=neighbors), classes=CLASSES)
    X, y = parts.test
    given = {"epsilon": 0.25, "random_state": 5}
    positive, score = y == "yes", model.predict_proba(X)[:, 1]
    paid = {"neighbors": neighbors} | given
    matrix = metrics.confusion_matrix(y, model.predict(X), classes=CLASSES, **paid)
    assert parts.accuracy(**given, level=0.9) == metrics.accuracy(y, model.predict(X), **paid, level=0.9)
    assert (parts.confusion_matrix(**given).counts == matrix.counts).all()
    assert parts.roc(**given, bins=8).auc == metrics.roc(positive, score, bins=8, **paid).auc
    assert parts.left == 0.25
    assert (parts.calibration(**given).rows == metrics.calibration(positive, score, **paid).rows).all()
    assert parts.left == 0
    assert (parts.privacy.epsilon, parts.privacy.delta, parts.privacy.neighbors) == (1.0, 1e-6, neighbors)


def test_figures_beyond_the_models_claim_are_refused_before_anything_is_drawn(rows, rng):
    parts = private_split(*rows, random_state=1)
    parts.fit(learner(), classes=CLASSES)
    parts.accuracy(epsilon=0.7)
    before = copy.deepcopy(rng.bit_generator.state)
    calls = [parts.accuracy, parts.confusion_matrix, parts.roc, parts.calibration]
    for call in calls:
        with pytest.raises(BudgetExceeded, match="left"):
            call(epsilon=0.31, random_state=rng)
        with pytest.raises(TypeError):
            call(epsilon=0.1, budget=Budget(1.0))
    assert rng.bit_generator.state == before
    parts.accuracy(epsilon=0.3)
    assert parts.left == 0


def test_the_budget_pays_once_and_a_pair_for_figures_cost_no_gaussian_curve(rows):
    budget = Budget(2.0, 1e-5)
    parts = private_split(*rows, random_state=1)
    model = parts.fit(learner(budget=budget), classes=CLASSES)
    parts.accuracy(epsilon=1.0)
    assert budget.spent == (1.0, 1e-6)
    assert [cost.kind for cost in budget.costs] == [cost.kind for cost in parts.privacy.cost] == ["pair"]
    assert model.privacy_.cost[0].kind == "gaussian"
    assert compose([parts.privacy] * 2).epsilon == pytest.approx(2.0)
    with pytest.raises(BudgetExceeded):
        private_split(*rows).fit(learner(budget=Budget(0.5, 1e-6)), classes=CLASSES)


def test_one_split_is_for_one_model_as_it_was_fitted(rows):
    parts = private_split(*rows, random_state=1)
    for ask in (parts.accuracy, parts.confusion_matrix, parts.roc, parts.calibration):
        with pytest.raises(ValueError, match="no model was fitted"):
            ask(epsilon=0.1)
    for ask in ("privacy", "left"):
        with pytest.raises(ValueError, match="no model was fitted"):
            getattr(parts, ask)
    with pytest.raises(ValueError, match="private classifier"):
        parts.fit(object())
    with pytest.raises(ValueError, match="epsilon"):
        parts.fit(learner().set_params(epsilon=-1))
    with pytest.raises(ValueError, match="label"):
        parts.fit(learner(), classes=["other", "labels"])  # refused before its charge: no model yet
    mine = learner()
    model = parts.fit(mine, classes=CLASSES)
    assert not hasattr(mine, "privacy_")
    with pytest.raises(ValueError, match="has a model, and another"):
        parts.fit(learner(), classes=CLASSES)
    model.fit(*rows, classes=CLASSES)
    with pytest.raises(ValueError, match="fitted again"):
        parts.accuracy(epsilon=0.1)


def test_model_and_figures_of_one_generator_draw_different_numbers(rows, rng):
    parts = private_split(*rows, random_state=rng)
    assert parts.fit(learner(random_state=rng), classes=CLASSES).random_state is rng


def test_an_interrupted_fit_counts(rows):
    parts = private_split(*rows, random_state=1)

    class Stopped(HalfspaceClassifier):
        def fit(self, *rows, **given):
            super().fit(*rows, **given)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parts.fit(Stopped(1.0, 1e-6, n_rounds=5, random_state=0), classes=CLASSES)
    with pytest.raises(ValueError, match="has a model, and another"):
        parts.fit(learner(), classes=CLASSES)
    assert 0 <= parts.accuracy(epsilon=0.5, random_state=0).value <= 1


def test_copies_remember_and_other_processes_are_refused(rows, monkeypatch):
    parts = private_split(*rows, random_state=1)
    assert copy.copy(parts) is copy.deepcopy(parts) is parts
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(parts)
    parts.fit(learner(), classes=CLASSES)
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="process"):
        parts.accuracy(epsilon=0.1)


def test_a_seed_of_the_coins_is_told_where_it_undoes_the_claim(rows):
    for neighbors, told in (("replace", False), ("add-remove", True)):
        parts = private_split(*rows, random_state=1)
        parts.fit(learner(neighbors=neighbors, random_state=None), classes=CLASSES)
        assert parts.privacy.reproducible == told


def test_frames_lists_and_what_will_not_do(rows):
    pd = pytest.importorskip("pandas")
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(300)[::-1])
    parts = private_split(frame, pd.Series(y, index=frame.index), random_state=1)
    assert (parts.test.X.to_numpy() == X[parts.is_test]).all()
    assert (X[parts.is_test] == private_split(X.tolist(), y.tolist(), random_state=1).test.X).all()
    for share in (0, 1, -0.1, "a", None):
        with pytest.raises(ValueError, match="test_share must lie"):
            private_split(X, y, test_share=share)
    with pytest.raises(ValueError, match="one label for each of 300 rows"):
        private_split(X, y[:-1])


def test_a_part_without_rows_is_a_part_like_any_other_where_rows_must_stay_unknown(rows):
    X, y = rows
    for n in (0, 1, 2):
        for seed in range(8):
            budget = Budget(1.0, 1e-6, neighbors="add-remove")
            parts = private_split(X[:n], y[:n], test_share=0.5, random_state=seed)
            model = parts.fit(learner(neighbors="add-remove", budget=budget), classes=CLASSES)
            assert model.delta == parts.privacy.delta == budget.spent[1] == 1e-6
            assert 0 <= parts.accuracy(epsilon=0.3).value <= 1
            assert parts.confusion_matrix(epsilon=0.3).counts.shape == (2, 2)
            parts.roc(epsilon=0.2)
            parts.calibration(epsilon=0.2)
    parts = private_split(X[:1], y[:1], test_share=0.999, random_state=0)
    with pytest.raises(ValueError, match="X must have at least one row"):  # how many rows is public
        parts.fit(learner(), classes=CLASSES)


class Voted(HalfspaceClassifier):
    """Says what most rows say, with probability e^epsilon / (1 + e^epsilon); `n_rounds` = 1 or 2 is what it said."""

    seen = None

    def fit(self, X, y, classes=None):
        super().fit(np.ones((1, 1)), ["yes"], classes=CLASSES)
        Voted.seen = 2 * np.count_nonzero(y == "yes") > len(y)
        return self

    def predict(self, X):
        return np.full(len(X), CLASSES[self.n_rounds - 1])


def law(y, neighbors, model_epsilon, figure_epsilon, monkeypatch, share=0.3):
    """Of (vote, noisy counts), by the coins of each row."""
    at, counted = np.arange(-60, 61), {}
    monkeypatch.setattr(
        figure, "discrete_laplace", lambda counts, scale, rng: counted.update(counts=counts, scale=scale) or counts
    )
    total = {}
    for coins in itertools.product([False, True], repeat=len(y)):
        monkeypatch.setattr(split, "coins", lambda n, share, rng, coins=coins: np.array(coins))
        chance = share ** sum(coins) * (1 - share) ** (len(y) - sum(coins))
        for said in (1, 2):
            parts = private_split(np.zeros((len(y), 1)), y)
            parts.fit(Voted(model_epsilon, 1e-6, neighbors=neighbors, n_rounds=said, random_state=0))
            likely = 1 / (1 + np.exp(-model_epsilon))
            vote = likely if Voted.seen == (said == 2) else 1 - likely
            if figure_epsilon <= model_epsilon:
                parts.accuracy(epsilon=figure_epsilon)
            else:  # as it would be
                metrics.accuracy(
                    parts.test.y, parts._model.predict(parts.test.X), epsilon=figure_epsilon, neighbors=neighbors
                )
            noise = [
                (1 - q) / (1 + q) * q ** np.abs(at - count)
                for count, q in zip(np.ravel(counted["counts"]), itertools.repeat(np.exp(-1 / float(counted["scale"]))))
            ]
            joint = noise[0] if len(noise) == 1 else np.outer(*noise)
            total[said] = total.get(said, 0) + chance * vote * joint
    return np.stack([total[1], total[2]])


def divergence(p, q, epsilon):
    return np.maximum(p - np.exp(epsilon) * q, 0).sum()


@pytest.mark.filterwarnings("ignore")
def test_tables_of_a_row_replaced_diverge_by_the_larger_claim_and_not_by_the_sum(monkeypatch):
    tables = [np.array(["yes", middle, "no"]) for middle in CLASSES]

    def furthest(figure_epsilon, epsilon):
        p, q = (law(table, "replace", 1.0, figure_epsilon, monkeypatch) for table in tables)
        return max(divergence(p, q, epsilon), divergence(q, p, epsilon))

    assert furthest(1.0, 1.0) <= 1e-12
    assert furthest(1.0, 0.7) > 0.01
    assert furthest(2.0, 1.0) > 0.01  # what a split refuses would break the claim


@pytest.mark.filterwarnings("ignore")
def test_tables_of_a_row_more_diverge_by_the_larger_claim(monkeypatch):
    less, more = (
        law(np.array(table), "add-remove", 1.0, 1.0, monkeypatch) for table in (["yes", "no"], ["yes", "no", "no"])
    )
    assert divergence(less, more, 1.0) <= 1e-12
    assert divergence(more, less, 1.0) <= 1e-12
    assert divergence(less, more, 0.0) > 0
    assert abs(less.sum() - 1) < 1e-6
