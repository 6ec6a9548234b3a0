"""Lists whose rows count by their class: their plan, their law, their privacy, and the labels of their rules."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows
from reference.greedy_cover import enumerate_lists, hockey_stick

import dpfast
from dpfast import BitMatrix, DecisionListClassifier
from dpfast.accounting import Composed, CoverDraws, cover_delta, cover_exponent, gaussian_sigma
from dpfast.audit import replay
from dpfast.base import Task
from dpfast.learners.lists import covering, decision_list
from dpfast.learners.lists.covering import HIGHEST, falling_weights, greedy_cover
from dpfast.learners.lists.plan import UNIT, WEIGHT_STEPS, ListShares, class_weights
from dpfast.learners.lists.rule import CountNoise, class_sizes, shrunk_shares
from dpfast.parts import Piece
from dpfast.tables.labels import class_codes

NOISE = CountNoise(True, Fraction(10))


@pytest.fixture
def rare(rng):
    """2,000 rows of which 3% are of the rare class, nearly all of them where a column is 1."""
    X = rng.random((4000, 8)) < 0.5
    X[:, 0] = rng.random(4000) < 0.05
    return X, np.where(X[:, 0] & (rng.random(4000) < 0.6), "yes", "no")


# ---- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "weights"),
    [
        ((5000, 5000), None),
        ((1000, 4000), None),  # a fourth: 16 rho**2 is 1
        ((1000, 10_000), (WEIGHT_STEPS, WEIGHT_STEPS * 16 // 100)),
        ((10_000, 1000), (WEIGHT_STEPS * 16 // 100, WEIGHT_STEPS)),
        ((200, 10_000), (WEIGHT_STEPS, WEIGHT_STEPS * 2 // 100)),
        ((-500, 10_000), (WEIGHT_STEPS, WEIGHT_STEPS * 15 // 10_000)),  # no less than noise
        ((-5, -7), None),
        ((1, 10**9), (WEIGHT_STEPS, 1)),
    ],
)
def test_the_larger_class_counts_less(sizes, weights):
    assert class_weights(sizes, NOISE) == weights


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("k", [1, 3])
def test_a_plan_costs_its_claim(neighbors, k):
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (10.0, 1e-4)):
        shares = ListShares(epsilon, delta, neighbors, Fraction(1, 2), "curve", Fraction(1, 20), True)
        plan = shares.solve(10, k)
        assert [cost.kind for cost in plan.cost] == ["gaussian", "cover"]
        assert epsilon * (1 - 1e-4) < Composed(plan.cost).epsilon(delta) < epsilon * (1 + 1e-9)
        moves = k * (math.sqrt(2) if neighbors == "replace" else 1)
        for noise, share in ((plan.counts, 0.05), (plan.sizes, 0.95 * 0.03)):
            assert float(noise.scale) == pytest.approx(
                moves * gaussian_sigma(epsilon, delta) / math.sqrt(share), rel=1e-4
            )
        alone = cover_exponent(epsilon, delta, coverage_weight=0.5, max_rounds=10, neighbors=neighbors)
        assert 0.94 * alone < k * plan.exponent < alone


def test_a_pure_plan_adds_up():
    for accounting, delta in (("curve", 0), ("curve", 1e-13), ("paper", 1e-6)):
        weight = Fraction(0) if accounting == "paper" else Fraction(1, 2)
        shares = ListShares(1.0, delta, "replace", weight, accounting, Fraction(1, 20), accounting == "curve")
        plan = shares.solve(10, 1)
        assert not plan.counts.gaussian
        assert sum(cost.size for cost in plan.cost if cost.kind == "pure") + sum(
            cost.size if cost.kind == "pair" else Composed([cost]).epsilon(delta) for cost in plan.rules_cost
        ) == pytest.approx(1.0, rel=1e-9)


def test_one_row_moves_sizes_as_planned():
    table = BitMatrix(np.zeros((3, 1), bool))

    def sizes(labels):
        return class_sizes(Piece(table, class_codes(labels, 3, [0, 1]).codes, rows=table), 2)

    moves = ListShares(1.0, 1e-6, "replace", Fraction(0), "curve", Fraction(1, 2), True).parts(3, 1)[0].sensitivity
    most = max(np.linalg.norm(sizes([a, 0, 1]) - sizes([b, 0, 1])) for a, b in itertools.product((0, 1), repeat=2))
    assert most == pytest.approx(float(moves) / UNIT)


# ---- the law and its privacy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("negations", [False, True])
def test_weighted_lists_follow_the_enumerated_law(negations, rng):
    X, y = np.array([[1, 0], [1, 0], [0, 1], [1, 1]], bool), np.array([0, 0, 1, 0])
    weights, exponent = (WEIGHT_STEPS // 4, WEIGHT_STEPS), Fraction(3)
    draws, unit = falling_weights(3, HIGHEST[1])
    law = enumerate_lists(
        X, y, 2, exponent, coverage_weight=[(c / unit, e / unit) for c, e in draws], prior=1, max_rules=3,
        negations=negations, row_weights=(0.25, 1),
    )  # fmt: skip
    table = BitMatrix(X)
    labels = class_codes(y, 4, [0, 1])
    seen = Counter()
    for _ in range(600):
        rest = covering.Rest(_OnePart(table, labels.codes), 2, weights)
        state = covering.cover.Counts(rest, None, None, rest.first, exponent / unit / WEIGHT_STEPS, draws, negations, 1)
        run = greedy_cover(state, 3, rng)
        seen[tuple(((j, int(no)) if j >= 0 else None, label) for j, no, label in run)] += 1
    assert set(seen) <= set(law)
    assert_follows([seen[rules] for rules in law], list(law.values()))


class _OnePart:
    """A table as parts, of which there is one."""

    def __init__(self, table, codes):
        self._piece = Piece(table, codes, rows=table)

    def sum(self, question, *arguments):
        return question(self._piece, *arguments)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_no_weighted_list_tells_more_than_the_curve_without_weights(neighbors):
    """Neighbours with rows of different classes, which count differently; the worst reach most of the curve."""
    closest, g = 0.0, Fraction(1, 2)
    rows = [(row, label) for row in ((0, 0), (1, 0), (1, 1)) for label in (0, 1)]
    for exponent, weights in itertools.product((Fraction(1, 2), Fraction(3, 2)), ((0.1, 1), (0.5, 1), (1, 0.3))):
        options = {"coverage_weight": g, "prior": 1, "negations": True, "max_rules": 2, "row_weights": weights}
        how = {"coverage_weight": g, "max_rounds": 2, "neighbors": neighbors}
        for others in ([], [((1, 0), 0)], [((1, 1), 1), ((0, 0), 0)]):

            def law(table, options=options, exponent=exponent):
                X = np.array([row for row, _ in table]).reshape(-1, 2)
                return enumerate_lists(X, [label for _, label in table], 2, exponent, **options)

            laws = [law([*others, row]) for row in rows]
            pairs = itertools.permutations(laws, 2)
            if neighbors == "add-remove":
                base = law(others)
                pairs = [pair for each in laws for pair in ((each, base), (base, each))]
            for P, Q in pairs:
                for epsilon in (0.0, 0.4, 1.0):
                    most = cover_delta(exponent, epsilon, **how)
                    found = hockey_stick(P, Q, epsilon)
                    assert found <= most * (1 + 1e-9)
                    closest = max(closest, found / most if most else 0.0)
    assert closest > 0.5


def test_a_row_of_less_weight_starts_no_higher():
    for w, v in itertools.product((0.1, 0.5, 1.0), repeat=2):
        for g in (0, 0.5, 1):
            up, down = CoverDraws(1 + Fraction(g), 1 + Fraction(g), 1).curve(1)[:2]
            assert w + v * g <= up
            assert w * g + v <= down


# ---- what is learned -------------------------------------------------------------------------------------------------


def test_a_rare_class_gets_rules_and_labels_follow_counts(rare):
    X, y = rare
    clf = DecisionListClassifier(3.0, random_state=0).fit(X, y, classes=["no", "yes"])
    assert clf.privacy_.events[0] == ("class sizes", 1, 1)
    assert clf.score(X, y) >= max(np.mean(y == "no"), 0.97)
    assert any(note.startswith("The class 'yes' is rare by the released sizes: ") for note in clf.notes_)
    f, truth = clf.decision_function(X), y == "yes"
    ranks = f[truth][:, None] > f[~truth]
    assert ranks.mean() + 0.5 * (f[truth][:, None] == f[~truth]).mean() > 0.9
    np.testing.assert_array_equal(clf.classes_[clf.predict_proba(X).argmax(axis=1)], clf.predict(X))
    np.testing.assert_array_equal(clf.rule_shares_.argmax(axis=1), clf.model_.numbers)


def test_labels_are_those_of_the_bar_where_counts_say_nothing():
    counts = np.array([[0, 0], [0, 0], [900, 40], [40, 900]])
    shares = shrunk_shares(counts, [1, 0, 1, 1], [0.9, 0.55, 0.9, 0.9], (WEIGHT_STEPS // 10, WEIGHT_STEPS), 10.0)
    # of weighted rows 9 in 10 are of the rare class: of rows 9 in 19; of the larger class's, 55 in 100: 110 in 119
    assert shares[0, 1] == pytest.approx(0.9 / (0.9 + 0.1 * 10), rel=0.01)
    assert shares[1, 0] == pytest.approx(0.55 * 10 / (0.55 * 10 + 0.45), rel=0.01)
    assert shares[2, 0] > 0.9
    assert shares[3, 1] > 0.9
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_many_rows_begin_with_a_high_bar_and_few_do_not(table_of_rows, monkeypatch):
    bars = []

    def watched(draws, highest=HIGHEST[0]):
        bars.append(highest)
        return falling_weights(draws, highest)

    monkeypatch.setattr(decision_list, "falling_weights", watched)
    for n in (1000, 6000):
        for neighbors in ("replace", "add-remove"):
            DecisionListClassifier(1.0, neighbors=neighbors, random_state=0).fit(*table_of_rows(n))
    assert bars == [HIGHEST[0], HIGHEST[0], HIGHEST[1], HIGHEST[1]]


def test_the_grid_of_weights_is_part_of_the_exponent(rare, monkeypatch):
    asked = []

    class Watched(covering.cover.Counts):
        def __init__(self, rows, columns, labels, first, exponent, weights, *others):
            asked.append((exponent, max(first.max(), rows.totals.max()) if columns is None else None))
            super().__init__(rows, columns, labels, first, exponent, weights, *others)

    monkeypatch.setattr(covering.cover, "Counts", Watched)
    X, y = rare
    DecisionListClassifier(3.0, random_state=0).fit(X, y)
    ((exponent, largest),) = asked
    plan = ListShares(3.0, 1e-6, "replace", Fraction(1, 2), "curve", Fraction(1, 20), True).solve(9, 1)
    assert exponent * 100 * WEIGHT_STEPS == plan.exponent
    assert largest <= WEIGHT_STEPS * len(X)


def test_lists_are_longer_where_public_rows_are_many(table_of_rows):
    def longest(n, **how):
        clf = DecisionListClassifier(3.0, random_state=0, rule_counts=0, **how).fit(*table_of_rows(n, 20))
        return clf.privacy_.events[-1].of

    assert (longest(5000), longest(6500)) == (10, 15)  # the exponent of ten rules is .26
    assert longest(6500, neighbors="add-remove") == 10  # their number is private
    assert longest(6500, max_rules=4) == 4
    assert longest(6500, max_rules=None) == 21
    found = [
        DecisionListClassifier(3.0, random_state=0, schema="discover").fit(*table_of_rows(n, 20)) for n in (2000, 9000)
    ]
    assert [clf.privacy_.events[2].of for clf in found] == [10, 15]


@pytest.fixture
def table_of_rows(rng):
    def table(n, d=6):
        X = rng.random((n, d)) < 0.5
        return X, X[:, 0] ^ (rng.random(n) < 0.1)

    return table


@pytest.mark.parametrize("how", [{"delta": 0}, {"neighbors": "add-remove"}, {"conjunctions": 2}, {"negations": False}])
def test_weights_work_in_every_form(how, rare):
    X, y = rare
    clf = DecisionListClassifier(3.0, random_state=0, **how).fit(X, y)
    other = DecisionListClassifier(3.0, random_state=0, **how).fit(X.tolist(), y)
    assert clf.rules_ == other.rules_
    assert clf.score(X, y) >= 0.96
    units = DecisionListClassifier(3.0, random_state=0, **how).fit(X, y, units=np.arange(len(X)) // 2, rows_per_unit=2)
    assert units.score(X, y) >= 0.95


def test_a_weighted_model_is_saved_and_read_with_its_shares(rare, tmp_path):
    X, y = rare
    clf = DecisionListClassifier(3.0, random_state=0).fit(X, y)
    clf.save(tmp_path / "list.json")
    read = dpfast.load(tmp_path / "list.json")
    np.testing.assert_array_equal(read.predict_proba(X), clf.predict_proba(X))
    assert read.rule_counts_noise_ == "gaussian"
    assert read.rule_worth() == clf.rule_worth()
    released, task = clf._saver.released(), Task(3.0, 1e-6, n_columns=X.shape[1])
    for spoilt in ({"noise": "uniform"}, {"shares": released["shares"][:-1]}, {"shares": released["shares"][::-1]}):
        with pytest.raises(ValueError, match=r"."):
            clf.read_model(released | spoilt, task)
    old = clf.read_model({name: released[name] for name in ("rules", "counts", "scale")}, task)  # of version 0.1
    assert old.attributes()["rule_counts_noise"] == "laplace"


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_weighted_list_is_replayed_on_neighbours_of_the_other_class(neighbors, rare):
    X, y = rare[0][:800].astype(float), np.where(rare[1][:800] == "yes", 1, 0)
    if neighbors == "replace":
        others = [(X, np.append(y[:-1], 1 - y[-1])), (np.vstack([X[:-1], np.ones(8)]), np.append(y[:-1], 1))]
    else:
        others = [(X[:-1], y[:-1]), (np.vstack([X, np.ones(8)]), np.append(y, 1))]
    for other in others:
        found = replay(DecisionListClassifier(3.0, neighbors=neighbors), (X, y), other, classes=[0, 1])
        assert found.holds, found
