"""Worst cases of what learns from tables, of experts and of queries."""

import numpy as np

import dpfast

from .case import Case


def decision_list(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "max_rules": 1, "rule_counts": 0}
    return _fits(dpfast.DecisionListClassifier, settings, _rules, *_few_rows(epsilon), "few rows, one rule")


def winnow(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "n_updates": 1, "n_draws": 20, "fit_intercept": False}
    return _fits(dpfast.DPWinnowClassifier, settings, _coefficient, *_one_row_turned(1), "2 rows, 20 draws")


def winnow_window(epsilon, delta):
    """A stream, an interval a row: the first row is in the first two releases."""

    def run(rows, rng):
        X, y = rows
        learner = dpfast.DPWinnowClassifier(
            epsilon, delta, n_updates=2, n_draws=20, window=True, schedule="fixed", horizon=2, fit_intercept=False,
            random_state=rng,
        )  # fmt: skip
        for i in range(2):
            learner.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        return float(sum(count.sum() for _, count in learner.released_weights_))

    X, y = np.array([[1.0], [0.0]]), np.ones(2, int)
    turned = y.copy()
    turned[0] = 0
    return Case(run, (X, turned), (X, y), delta, "a stream of 2 rows, a window of 2 intervals")


def halfspace(epsilon, delta):
    """Of many columns only one is not zero: the threshold is further off, and the row takes part in more rounds."""
    settings = {"epsilon": epsilon, "delta": delta, "n_rounds": 20, "fit_intercept": False}
    tables = [(X * (np.arange(400) == 0), y) for X, y in _one_row_turned(0)]
    return _fits(dpfast.HalfspaceClassifier, settings, _coefficient, *tables, "one row, 20 rounds")


def boost(epsilon, delta):
    settings = {
        "epsilon": epsilon, "delta": delta, "n_rounds": 5, "density": 1.0, "learning_rate": 1.0, "fit_intercept": False,
    }  # fmt: skip
    return _fits(dpfast.BoostedHalfspaceClassifier, settings, _coefficient, *_one_row_turned(0), "one row, 5 rounds")


def projected(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "n_rounds": 1, "margin": 1.0, "fit_intercept": False}
    return _fits(
        dpfast.ProjectedHalfspaceClassifier,
        settings,
        _coefficient,
        *_few_rows(epsilon),
        "few rows, one round",
    )


def net(epsilon, delta):
    settings = {"epsilon": epsilon, "margin": 0.3, "n_components": 2, "fit_intercept": False}
    return _fits(
        dpfast.NetHalfspaceClassifier,
        settings,
        _side,
        *_few_rows(epsilon, 1),
        "few rows, a net of the circle",
    )


def finite_class(epsilon, delta):
    settings = {"epsilon": epsilon, "hypotheses": np.array([[0], [1]], bool)}
    tables = [(np.zeros((len(y), 1), int), y) for _, y in _few_rows(epsilon, 1)]
    return _fits(
        dpfast.FiniteClassLearner, settings, lambda model: model.hypothesis_, *tables, "few rows, 2 hypotheses"
    )


def class_counts(epsilon, delta):
    """One hypothesis, so that hardly anything is left to the draw: what is told are the counts of its rows."""
    settings = {"epsilon": epsilon, "hypotheses": np.array([[0]], bool), "probability_share": 0.999}
    tables = [(np.zeros((len(y), 1), int), y) for _, y in _one_row_turned(1)]
    return _fits(dpfast.FiniteClassLearner, settings, _counted, *tables, "2 rows, one hypothesis, its class counts")


def linear_learner(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "fit_intercept": False}
    tables = [(X * (np.arange(65) == 0)[:, np.newaxis], y) for X, y in _one_row_turned(64)]
    case = _fits(dpfast.LinearLearner, settings, _coefficient, *tables, "65 rows")
    return case._replace(weak="rows come in a random order, so that half of the draws, on average, come before the row")


def experts(epsilon, delta):
    def run(losses, rng):
        learner = dpfast.RandomizedWeightedMajority(epsilon, delta, horizon=len(losses), random_state=rng)
        return float(learner.play(losses).sum())

    losses = np.zeros((100, 2))
    losses[0, 0] = 1
    return Case(run, losses, losses[:, ::-1].copy(), delta, "2 experts, 100 rounds")


def queries(epsilon, delta):
    def run(values, rng):
        oracle = dpfast.StatisticalQueryOracle(values, epsilon, delta, n_queries=2, random_state=rng)
        return float(oracle.answer_all([lambda values: values] * 2).sum())

    return Case(run, np.zeros(1), np.ones(1), delta, "one row, 2 queries")


def _fits(estimator, settings, look, table, neighbor, what):
    def run(rows, rng):
        return look(estimator(**settings, random_state=rng).fit(*rows, classes=[0, 1]))

    return Case(run, table, neighbor, settings.get("delta", 0.0), what)


def _few_rows(epsilon, more=0):
    """Rows against the one that is turned, so many that what it brings about is neither the rule nor too rare."""
    return _one_row_turned(more + min(4, int(2 / epsilon)))


def _one_row_turned(others):
    """Rows that hold a 1, all of the second label but for the first row of the first table."""
    X, y = np.ones((others + 1, 1)), np.ones(others + 1, int)
    turned = y.copy()
    turned[0] = 0
    return (X, turned), (X, y)


def _rules(model):
    return tuple((rule.literals, int(rule.label)) for rule in model.rules_)


def _coefficient(model):
    return float(np.ravel(model.coef_)[0])


def _counted(model):
    first, second = model.class_counts_[0]
    return bool(first >= 1 and second <= 1)


def _side(model):
    return bool(model.coef_[0] >= 0)


CASES = {
    "decision-list": decision_list,
    "winnow": winnow,
    "winnow-window": winnow_window,
    "halfspace": halfspace,
    "boost": boost,
    "projected": projected,
    "net": net,
    "finite-class": finite_class,
    "class-counts": class_counts,
    "linear-learner": linear_learner,
    "experts": experts,
    "queries": queries,
}
