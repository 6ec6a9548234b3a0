"""The pairs of neighbouring tables on which `dpfast audit` runs a model: those that it distinguishes best.

The tables are small, because one row among many changes a model less than its claim allows. The audit sees everything
that the model releases, or the part that distinguishes the tables.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dpfast
from dpfast import mechanisms
from dpfast.accounting import cover_exponent
from dpfast.accounting.curves.sparse_sample import sparse_sample_plan
from dpfast.tables import Category, Schema

_LARGEST_DELTA = 1e-3  # an audit does not see the effect of a larger one


class Case(NamedTuple):
    """A model on two neighbouring tables."""

    run: Callable[[Any, np.random.Generator], Any]  # from a table and a generator to what is looked at
    table: Any
    neighbor: Any
    delta: float
    what: str  # the tables, and how the model is set
    weak: str = ""  # why an audit cannot come near the claim


# ---- learners from tables --------------------------------------------------------------------------------------------


def _decision_list(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "max_rules": 1, "rule_counts": 0}
    return _fits(dpfast.DecisionListClassifier, settings, _rules, _few_rows(epsilon), "few rows, one rule")


def _winnow(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "n_updates": 1, "n_draws": 20, "fit_intercept": False}
    return _fits(dpfast.DPWinnowClassifier, settings, _coefficient, _one_row_turned(1), "2 rows, 20 draws")


def _winnow_window(epsilon, delta):
    """Return a stream with one row in each interval; the first row is in the first two releases."""
    settings = {"n_updates": 2, "n_draws": 20, "window": True, "schedule": "fixed", "horizon": 2}

    def run(rows, rng):
        X, y = rows
        learner = dpfast.DPWinnowClassifier(epsilon, delta, fit_intercept=False, random_state=rng, **settings)
        for i in range(2):
            learner.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        return float(sum(count.sum() for _, count in learner.released_weights_))

    X, y = np.array([[1.0], [0.0]]), np.ones(2, int)
    return Case(run, (X, np.array([0, 1])), (X, y), delta, "a stream of 2 rows, a window of 2 intervals")


def _halfspace(epsilon, delta):
    """Set all columns but one to zero, so that the threshold is farther away and the row takes part in more rounds."""
    settings = {"epsilon": epsilon, "delta": delta, "n_rounds": 20, "fit_intercept": False}
    tables = [(X * (np.arange(400) == 0), y) for X, y in _one_row_turned(0)]
    return _fits(dpfast.HalfspaceClassifier, settings, _coefficient, tables, "one row, 20 rounds")


def _boost(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "n_rounds": 5, "density": 1.0, "learning_rate": 1.0}
    settings["fit_intercept"] = False
    return _fits(dpfast.BoostedHalfspaceClassifier, settings, _coefficient, _one_row_turned(0), "one row, 5 rounds")


def _projected(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "n_rounds": 1, "margin": 1.0, "fit_intercept": False}
    tables = _few_rows(epsilon)
    return _fits(dpfast.ProjectedHalfspaceClassifier, settings, _coefficient, tables, "few rows, one round")


def _net(epsilon, delta):
    settings = {"epsilon": epsilon, "margin": 0.3, "n_components": 2, "fit_intercept": False}
    tables = _few_rows(epsilon, 1)
    return _fits(
        dpfast.NetHalfspaceClassifier, settings, lambda model: bool(model.coef_[0, 0] >= 0), tables,
        "few rows, a net of the circle",
    )  # fmt: skip


def _finite_class(epsilon, delta):
    settings = {"epsilon": epsilon, "hypotheses": np.array([[0], [1]], bool)}
    tables = [(np.zeros((len(y), 1), int), y) for _, y in _few_rows(epsilon, 1)]
    return _fits(dpfast.FiniteClassLearner, settings, lambda model: model.hypothesis_, tables, "few rows, 2 hypotheses")


def _class_counts(epsilon, delta):
    """Use one hypothesis, so that the draw reveals hardly anything and the counts of its rows are audited."""
    settings = {"epsilon": epsilon, "hypotheses": np.array([[0]], bool), "probability_share": 0.999}
    tables = [(np.zeros((len(y), 1), int), y) for _, y in _one_row_turned(1)]
    return _fits(dpfast.FiniteClassLearner, settings, _counts_of, tables, "2 rows, one hypothesis, its class counts")


def _linear_learner(epsilon, delta):
    settings = {"epsilon": epsilon, "delta": delta, "fit_intercept": False}
    tables = [(X * (np.arange(65) == 0)[:, np.newaxis], y) for X, y in _one_row_turned(64)]
    case = _fits(dpfast.LinearLearner, settings, _coefficient, tables, "65 rows")
    return case._replace(weak="rows come in a random order, so that half of the draws, on average, come before the row")


def _fits(estimator, settings, look, tables, what):
    def run(rows, rng):
        return look(estimator(**settings, random_state=rng).fit(*rows, classes=[0, 1]))

    return Case(run, *tables, settings.get("delta", 0.0), what)


def _few_rows(epsilon, more=0):
    """Return tables with so many other rows that the effect of the turned row is neither usual nor too rare."""
    return _one_row_turned(more + min(4, int(2 / epsilon)))


def _one_row_turned(others):
    """Return tables of rows with a 1; all have the second label, except the first row of the first table."""
    X, y = np.ones((others + 1, 1)), np.ones(others + 1, int)
    turned = y.copy()
    turned[0] = 0
    return (X, turned), (X, y)


def _rules(model):
    return tuple((rule.literals, int(rule.label)) for rule in model.rules_)


def _coefficient(model):
    return float(np.ravel(model.coef_)[0])


def _counts_of(model):
    first, second = model.class_counts_[0]
    return bool(first >= 1 and second <= 1)


# ---- learners of Littlestone classes ---------------------------------------------------------------------------------
# The one teacher that has a row lists other members for each of the two rows; all other teachers have no rows, and list
# all members. So one list differs, in all of its items, and what is on the shorter one is rarely drawn.

_ONE = np.eye(6, dtype=int)  # hypotheses x points; each is 1 at a point of its own
# The last two points tell the first two members, and the others; a label 1 is a mistake of SOA at both.
_PARTS = np.hstack([np.eye(8, dtype=int), np.repeat([[1, 0], [0, 1]], [2, 6], axis=0)])


def _littlestone(epsilon, delta):
    settings = {"threshold_share": 0.1, "vote_fraction": 0.02, "minority": 0.01, "n_teachers": 60}
    return _one_row("LittlestoneLearner", epsilon, delta, settings, "one row, 60 teachers, 6 members")


def _staged_littlestone(epsilon, delta):
    settings = {"threshold_share": 0.1, "scale": 1e-6, "confidence": 0.9, "accuracy": 0.4}
    return _one_row("StagedLittlestoneLearner", epsilon, delta, settings, "one row, 6 members")


def _online_littlestone(epsilon, delta):
    delta = min(delta, _LARGEST_DELTA)
    settings = {"horizon": 1, "n_releases": 1, "n_teachers": 30, "irreducibility": 10, "threshold_share": 0.05}
    settings |= {"confidence": 0.9, "batch_constant": 0.7}

    def run(mistake, rng):
        learner = _learner("OnlineLittlestoneLearner", epsilon, delta, _PARTS, settings, rng)
        points = np.append(mistake, np.zeros(3000, int))
        learner.stream(points, points == mistake)
        return _labels_of(learner.releases_[0] if learner.releases_ else None, _PARTS)

    return Case(run, 8, 9, delta, "a stream of one mistake, 30 teachers, 8 members")


def _one_row(name, epsilon, delta, settings, what):
    delta = min(delta, _LARGEST_DELTA)

    def run(label, rng):
        return _labels_of(_learner(name, epsilon, delta, _ONE, settings, rng).fit([0], [label]).hypothesis_, _ONE)

    return Case(run, 1, 0, delta, what)


def _learner(name, epsilon, delta, table, settings, rng):
    hypotheses = dpfast.littlestone.FiniteClass(table)
    return getattr(dpfast.littlestone, name)(epsilon, delta, hypotheses, random_state=rng, **settings)


def _labels_of(hypothesis, table):
    return None if hypothesis is None else tuple(hypothesis(np.arange(table.shape[1])).tolist())


# ---- experts, queries and mechanisms ---------------------------------------------------------------------------------


def _experts(epsilon, delta):
    def run(losses, rng):
        learner = dpfast.RandomizedWeightedMajority(epsilon, delta, horizon=len(losses), random_state=rng)
        return float(learner.play(losses).sum())

    losses = np.zeros((100, 2))
    losses[0, 0] = 1
    return Case(run, losses, losses[:, ::-1].copy(), delta, "2 experts, 100 rounds")


def _queries(epsilon, delta):
    def run(values, rng):
        oracle = dpfast.StatisticalQueryOracle(values, epsilon, delta, n_queries=2, random_state=rng)
        return float(oracle.answer_all([lambda values: values] * 2).sum())

    return Case(run, np.zeros(1), np.ones(1), delta, "one row, 2 queries")


def _encoder(epsilon, delta):
    """Discover two values: one is at the threshold, the other just below it, and they change places."""
    schema, delta = Schema([Category("c")]), min(delta, 0.01)
    threshold = mechanisms.frequent_threshold(epsilon, delta)

    def run(counts, rng):
        rows = {"c": np.repeat(["a", "b"], counts)}
        encoder = dpfast.TableEncoder(schema, epsilon, delta, random_state=rng).fit(rows)
        return encoder.schema_.columns[0].values

    table = (threshold, threshold - 1)
    return Case(run, table, table[::-1], delta, "a column of two values, to be found")


def _quantiles(epsilon, delta):
    """Move one of two numbers from one end to the other; few candidates of the median are below the other number."""
    grid, exponent = np.arange(8.0), epsilon / float(mechanisms.quantiles_cost(2)[0])

    def run(values, rng):
        return float(mechanisms.quantiles(values, grid, 2, exponent, rng=rng)[0])

    return Case(run, [0.0, 1.0], [7.0, 1.0], 0.0, "the median of 2 numbers out of 8")


def _exponential_cover(epsilon, delta):
    """Cover one element, which either one candidate covers or all others."""
    exponent = cover_exponent(epsilon, 1e-6, max_rounds=1)

    def run(covers, rng):
        return mechanisms.exponential_cover(covers, exponent, rounds=1, rng=rng)[0]

    one = np.arange(6)[np.newaxis] == 0
    return Case(run, one, ~one, 1e-6, "one element, 6 candidates, one round")


def _above_threshold(epsilon, delta):
    def run(count, rng):
        return mechanisms.AboveThreshold(1, epsilon, monotone="running", rng=rng).test(count)

    return Case(run, 1, 0, 0.0, "one test of a running count")


def _sparse_sample(epsilon, delta):
    delta = min(delta, _LARGEST_DELTA)
    plan = sparse_sample_plan(epsilon, delta, n_releases=1, max_length=6)

    def run(one, rng):
        lists = [range(6)] * 60 + [one]
        return mechanisms.sparse_sample(lists, plan.exponent, plan.bottom_score, max_length=6, rng=rng)

    return Case(run, [0], [1, 2, 3, 4, 5], delta, "61 lists of 6 items, one of which changes")


CASES = {
    "decision-list": _decision_list, "winnow": _winnow, "winnow-window": _winnow_window, "halfspace": _halfspace,
    "boost": _boost, "projected": _projected, "net": _net, "finite-class": _finite_class,
    "class-counts": _class_counts, "linear-learner": _linear_learner, "experts": _experts, "queries": _queries,
    "littlestone": _littlestone, "staged-littlestone": _staged_littlestone, "online-littlestone": _online_littlestone,
    "encoder": _encoder, "quantiles": _quantiles, "exponential-cover": _exponential_cover,
    "above-threshold": _above_threshold, "sparse-sample": _sparse_sample,
}  # fmt: skip
