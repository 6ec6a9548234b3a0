"""Claims for persons: what is kept of each, and laws on tables that differ in all rows of one, by enumeration."""

import itertools
import math
from datetime import date
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from learners.test_costs import MODELS, X, Y
from scipy import stats

import dpfast
from dpfast.accounting import Budget, Composed, PrivacySpend, cover_exponent, gaussian_sigma
from dpfast.audit import certify
from dpfast.base import units as of_units

IDS = np.arange(len(X)) // 3


def bounded_rows(units, most, rng):
    return of_units.bounded_rows(of_units.number_units(units), most, rng)


def test_all_rows_are_kept_where_nobody_has_too_many(rng):
    assert bounded_rows([1, 2, 1, 3], 2, rng) is None
    assert bounded_rows(["a", "b"], 1, rng) is None


def test_of_each_person_so_many_rows_are_kept_whatever_the_others_have(rng):
    ids = rng.permutation(np.repeat(np.arange(50), rng.integers(1, 9, 50)))
    for k in (1, 3, 8):
        kept = bounded_rows(ids, k, rng)
        left = np.bincount(ids if kept is None else ids[kept], minlength=50)
        assert np.array_equal(left, np.minimum(np.bincount(ids), k))


def test_every_choice_of_rows_has_equal_chances(rng):
    ids = np.array(["b", "a", "b", "b", "a", "b"])
    pairs = list(itertools.combinations([0, 2, 3, 5], 2))
    seen = np.zeros(len(pairs))
    for _ in range(6000):
        kept = bounded_rows(ids, 2, rng)
        assert kept[[1, 4]].all()
        seen[pairs.index(tuple(np.flatnonzero(kept & (ids == "b"))))] += 1
    assert stats.chisquare(seen).pvalue > 1e-6


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ([["a"], ["b"]], r"one entry a row, got shape \(2, 1\)"),
        ([1.0, math.nan], "row 1 has none"),
        (["a", None], "row 1 has none"),
        (np.array(["2026-01-01", "NaT"], "M8[D]"), "row 1 has none"),
        (np.ma.masked_array([1, 2, 3], [0, 1, 0]), "row 1 has none"),
        ([1, math.nan, "b"], "row 1 has none"),
        ([1, [2]], "list objects, which cannot be told apart"),
    ],
)
def test_rows_of_nobody_are_refused(units, message, rng):
    with pytest.raises(ValueError, match=message):
        bounded_rows(units, 1, rng)


SAME, OTHER = (
    [1, 1.0, np.int8(1), np.float32(1), Decimal(1)],
    [True, "1", "1 ", 1 + 2**-30, date(2020, 1, 1), "p", "p\0"],
)
FAR = [7, 7 + 2**32, 2**63, -(2**63), 2**64 + 7, float(2**64), 2**53, 2**53 + 1]


@pytest.mark.parametrize(
    "held", [list, tuple, lambda ids: np.array(ids, object), lambda ids: pd.Series(ids, dtype=object)]
)
def test_units_are_one_only_if_their_cells_are_the_same(held, rng):
    """numpy would read such lists as floats, or as texts."""
    assert bounded_rows(held([*SAME, *SAME]), 1, rng).sum() == 1
    assert bounded_rows(held([*SAME, *OTHER]), len(SAME), rng) is None
    assert bounded_rows(held(OTHER), 1, rng) is None
    assert bounded_rows(held(FAR), 1, rng) is None
    assert bounded_rows(held([*FAR, *FAR]), 1, rng).sum() == len(FAR)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", MODELS)
def test_a_claim_for_persons_is_paid_for(name, neighbors):
    kind, parameters = MODELS[name]
    if neighbors == "add-remove" and name in ("linear", "winnow with a test"):
        pytest.skip('needs "replace"')
    model = kind(
        **parameters, neighbors=neighbors, random_state=0, budget=Budget(3, 1e-5, neighbors=neighbors, unit="person")
    )
    if name in ("linear", "winnow with a test"):
        with pytest.raises(ValueError, match=r"needs the number of rows, which is private .* give rows_per_unit=1"):
            model.fit(X, Y, units=IDS, rows_per_unit=2)
        return
    model.fit(X, Y, units=IDS, rows_per_unit=2)
    claim = model.privacy_
    assert "one person with at most 2 rows" in str(claim)
    assert Composed(claim.cost).delta(claim.epsilon * (1 + 1e-9)) <= claim.delta * (1 + 1e-9)
    assert model.budget.charges == ((claim.epsilon, claim.delta),)
    model.budget = Budget(3, 1e-5, neighbors=neighbors)
    with pytest.raises(ValueError, match="protects one row and the charge one person"):
        model.fit(X, Y, units=IDS, rows_per_unit=2)
    model.fit(X, Y)
    assert model.privacy_.unit == "row"


@pytest.mark.parametrize("name", [name for name in MODELS if name != "winnow with a test"])
def test_one_row_a_person_costs_nothing(name):
    kind, parameters = MODELS[name]
    alone = kind(**parameters, random_state=5).fit(X, Y)
    persons = kind(**parameters, random_state=5).fit(X, Y, units=np.arange(len(X)), rows_per_unit=1)
    assert persons._saver.released() == alone._saver.released() or str(persons._saver.released()) == str(
        alone._saver.released()
    )
    assert persons.privacy_.cost == alone.privacy_.cost
    assert "one person with at most 1 row" in str(persons.privacy_)


def test_noise_and_exponents_are_those_of_so_many_rows():
    for k in (1, 2, 3):
        fit = {"units": IDS, "rows_per_unit": k}
        halfspace = dpfast.HalfspaceClassifier(random_state=0, n_rounds=20).fit(X, Y, **fit)
        one = dpfast.HalfspaceClassifier(random_state=0, n_rounds=20).fit(X, Y)
        assert halfspace.sigma_ == pytest.approx(k * one.sigma_, rel=1e-3)
        assert halfspace.privacy_.cost[0].size == pytest.approx(1 / gaussian_sigma(1, 1e-6), rel=1e-3)
        rules = dpfast.DecisionListClassifier(random_state=0).fit(X, Y, **fit)
        assert float(rules.rule_counts_scale_) == pytest.approx(
            k * math.sqrt(2 / 0.05) * gaussian_sigma(1, 1e-6), rel=1e-6
        )
        pure = dpfast.DecisionListClassifier(delta=0, random_state=0).fit(X, Y, **fit)
        assert pure.rule_counts_scale_ == 40 * k


# ---- laws ------------------------------------------------------------------------------------------------------------


def _persons(k, change):
    """Two tables of three persons with k rows, of which the last ones' rows differ as much as can be, as (X, y)."""
    base_x, base_y = [[0, 1], [1, 1], [1, 0], [0, 0]], [0, 1, 1, 0]
    here = (base_x + [[1, 0]] * k, base_y + [0] * k)
    there = (base_x + [[1, 0]] * k, base_y + [1] * k) if change == "replace" else (base_x, base_y)
    return [(np.array(x, bool), np.array(y)) for x, y in (here, there)]


def _errors(x, y):
    """Of x0, x1, their negations, and either label always."""
    votes = np.concatenate([x, ~x, np.zeros((len(x), 1), bool), np.ones((len(x), 1), bool)], axis=1)
    return (votes != (y > 0)[:, np.newaxis]).sum(axis=0)


@pytest.mark.parametrize(("k", "neighbors"), [(1, "replace"), (1, "add-remove"), (2, "replace"), (3, "add-remove")])
def test_a_drawn_hypothesis_is_private_for_persons_and_uses_what_it_may(k, neighbors):
    epsilon, laws = 1.5, []
    for x, y in _persons(k, neighbors):
        score = -_errors(x, y) * epsilon / (2 if neighbors == "replace" else 1) / k
        law = np.exp(score - score.max())
        laws.append(law / law.sum())
        if len(laws) == 2:
            break
        ids = np.concatenate([np.arange(4), np.full(len(x) - 4, 9)])
        model = dpfast.FiniteClassLearner(epsilon, hypotheses="features", neighbors=neighbors, random_state=0)
        drawn = [
            model.set_params(random_state=seed).fit(x, y, classes=[0, 1], units=ids, rows_per_unit=k).hypothesis_
            for seed in range(120)
        ]
        seen = np.bincount(drawn, minlength=6)
        assert stats.chisquare(seen, 120 * laws[-1]).pvalue > 1e-6
    ratio = np.abs(np.log(laws[0] / laws[1])).max()
    assert ratio <= epsilon
    assert ratio > 0.4 * epsilon


def _list_law(x, y, exponent, rounds):
    """The law of a greedy list of features with gamma = 0: what is drawn, round by round."""

    def go(left, candidates, depth):
        if not depth:
            return {(): 1.0}
        score = np.array([-((x[left, f] == 1) & (y[left] != b)).sum() for f, b in candidates]) * exponent
        weight = np.exp(score)
        law = {}
        for (f, b), p in zip(candidates, weight / weight.sum(), strict=True):
            rest = [each for each in candidates if each[0] != f]
            for tail, q in go(left[x[left, f] == 0], rest, depth - 1).items():
                law[(f, b), *tail] = p * q
        return law

    return go(np.arange(len(x)), [(f, b) for f in range(x.shape[1]) for b in (0, 1)], rounds)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_list_is_private_for_persons_by_its_own_curve(k, neighbors):
    rng = np.random.default_rng(k)
    for epsilon, delta in ((0.5, 0.02), (1.5, 1e-3)):
        exponent = cover_exponent(epsilon, delta, neighbors=neighbors, max_rounds=3) / k
        most = 0.0
        for _ in range(25):
            others = rng.integers(0, 2, (rng.integers(0, 4), 3)), rng.integers(0, 2, 4)
            first, second = ((rng.integers(0, 2, (k, 3)), rng.integers(0, 2, k)) for _ in range(2))
            there = [second] if neighbors == "replace" else []
            tables = []
            for own in ([first], there):
                x = np.concatenate([others[0], *[each[0] for each in own]])
                tables.append((x, np.concatenate([others[1][: len(others[0])], *[each[1] for each in own]])))
            p, q = (_list_law(x, y, exponent, 3) for x, y in tables)
            for a, b in ((p, q), (q, p)):
                most = max(most, sum(max(0.0, a[each] - math.exp(epsilon) * b[each]) for each in a))
        assert most <= delta


def test_the_curve_of_a_list_leaves_more_than_group_privacy_of_its_pair():
    for epsilon, delta, k, rounds in itertools.product((0.1, 1, 4), (1e-9, 1e-6, 1e-3), (2, 3, 10), (1, 10, None)):
        own = cover_exponent(epsilon, delta, max_rounds=rounds) / k
        each = epsilon / k
        group = cover_exponent(each, delta * math.expm1(each) / math.expm1(epsilon), max_rounds=rounds)
        assert group <= own


@pytest.mark.parametrize("k", [2, 3])
def test_a_sum_moves_by_no_more_than_a_person_is_counted_for(k):
    """The premise of the Gaussian ones: all rows of a person turned round move a sum by k times what one does."""
    from dpfast.tables.unit_rows import unit_rows

    rows = unit_rows(X.astype(float), fit_intercept=True, normalize=True)
    signs = np.where(Y, 1, -1).astype(np.int32)
    turned = signs.copy()
    turned[:k] *= -1
    moved = rows.weighted_sum(signs) - rows.weighted_sum(turned)
    assert np.sqrt(np.square(moved.astype(float)).sum()) <= k * 2 * rows.reach


# ---- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:the table has too few rows to discover labels")
def test_tables_of_all_kinds_are_bounded():
    from scipy import sparse

    from dpfast.tables import BitMatrix

    names = [f"x{j}" for j in range(X.shape[1])]
    for table in (
        X,
        sparse.csr_matrix(X),
        sparse.coo_matrix(X),
        BitMatrix(X),
        pd.DataFrame(X, columns=names),
        X.tolist(),
    ):
        labels = pd.Series(Y) if isinstance(table, pd.DataFrame) else Y
        model = dpfast.DecisionListClassifier(random_state=0).fit(table, labels, units=IDS, rows_per_unit=1)
        assert model.privacy_.rows_per_unit == 1
    with pytest.raises(ValueError, match=r"299 entries, and 300 rows of X"):
        dpfast.DecisionListClassifier().fit(X, Y, units=IDS[:-1], rows_per_unit=1)
    with pytest.raises(ValueError, match="go together"):
        dpfast.DecisionListClassifier().fit(X, Y, units=IDS)
    with pytest.raises(ValueError, match="rows_per_unit must be an integer of at least 1"):
        dpfast.DecisionListClassifier().fit(X, Y, units=IDS, rows_per_unit=0)
    with pytest.raises(ValueError, match='accounting="paper" is for one row'):
        dpfast.DecisionListClassifier(accounting="paper", coverage_weight=0).fit(X, Y, units=IDS, rows_per_unit=2)


def test_a_table_with_a_schema_is_bounded_whether_or_not_facts_are_open():
    from dpfast.tables import Category, Label, Numeric, Schema

    frame = {"age": np.arange(60) % 50, "job": ["clerk", "smith"] * 30, "y": ["a", "b", "b"] * 20}
    ids = np.arange(60) // 4
    label = Label("y", ["a", "b"])
    schema = Schema([Numeric("age", 0, 50, edges=4), Category("job", ["clerk", "smith"])], label=label)
    model = dpfast.HalfspaceClassifier(schema=schema, n_rounds=5, random_state=0)
    assert model.fit(frame, units=ids, rows_per_unit=2).privacy_.unit == "person"
    open_facts = Schema([Numeric("age", edges=4), Category("job", ["clerk", "smith"])], label=label)
    model = dpfast.HalfspaceClassifier(schema=open_facts, n_rounds=5, random_state=0)
    assert model.fit(frame, units=ids, rows_per_unit=2).privacy_.rows_per_unit == 2


def test_a_refused_fit_has_drawn_nothing(rng):
    before = rng.bit_generator.state
    model = dpfast.HalfspaceClassifier(random_state=rng, budget=Budget(0.5, 1e-6, unit="person"))
    with pytest.raises(ValueError, match="does not fit"):
        model.fit(X, Y, units=IDS, rows_per_unit=1)
    assert rng.bit_generator.state == before


def test_a_claim_says_what_differs():
    assert str(PrivacySpend(1, 1e-6, "replace", unit="person", rows_per_unit=5)) == (
        "(1.0, 1e-06)-DP, replace one person with at most 5 rows"
    )
    with pytest.raises(ValueError, match="rows_per_unit goes with persons"):
        PrivacySpend(1, 0, "replace", rows_per_unit=2)


def test_an_audit_with_a_person_of_adversarial_rows_finds_no_more_than_is_claimed():
    """All rows are one person's, and all of them turn round: what is calibrated to one row is found out."""
    k = 6
    x, ids, here, there = np.ones((k, 1), bool), np.zeros(k), np.zeros(k, int), np.ones(k, int)

    def fitted(labels, rng, **units):
        model = dpfast.FiniteClassLearner(1.0, hypotheses="features", random_state=rng)
        return int(model.fit(x, labels, classes=[0, 1], **units).hypothesis_)

    claim = {"epsilon": 1.0, "runs": 160, "random_state": 0}
    persons = certify(partial(fitted, units=ids, rows_per_unit=k), here, there, **claim)
    rows = certify(fitted, here, there, **claim)
    assert persons.holds
    assert rows.certified > 1.0 > persons.certified


def test_integers_beyond_what_numpy_has_one_type_for_are_persons_of_their_own():
    kept = bounded_rows([2**63 + 1, 2**63 + 3, -1, -1], 1, np.random.default_rng(0))
    assert kept[:2].all()
    assert kept[2:].sum() == 1


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        (dpfast.DecisionListClassifier, "rule_counts"),
        (dpfast.DPWinnowClassifier, "probability_share"),
        (dpfast.ProjectedHalfspaceClassifier, "probability_share"),
        (dpfast.FiniteClassLearner, "probability_share"),
    ],
)
def test_noise_that_is_too_much_for_persons_is_refused_before_the_charge(kind, share):
    """What one row may still have: the model was released and paid for, and then its counts failed."""
    budget = Budget(1.0, 1e-6, unit="person")
    least = 2.0 ** (-40 if kind is dpfast.DecisionListClassifier else -50)
    model = kind(**{share: least}, budget=budget, random_state=0)
    if kind is dpfast.FiniteClassLearner:
        model.set_params(hypotheses="features")
    with pytest.raises(ValueError, match=f"{share} must be 0 or a (share of at least 3.55e-15|larger share)"):
        model.fit(X, Y, units=IDS, rows_per_unit=8)
    assert budget.spent == (0, 0)
    assert not model.__sklearn_is_fitted__()
    model.set_params(budget=None).fit(X, Y)


@pytest.mark.parametrize("ids", [["a", "a\0"], [b"a", b"a\0"], ["a\0", "a\0\0", "a"], ("x", "x\0")])
def test_texts_that_end_in_nul_are_units_of_their_own(ids, rng):
    assert bounded_rows(ids, 1, rng) is None
    assert bounded_rows([*ids, *ids], 1, rng).sum() == len(ids)


@pytest.mark.parametrize("column", [list, tuple, np.array, pd.Series, pl.Series, pa.array], ids=range(6))
def test_units_of_too_many_rows_are_bounded_in_columns_of_every_library(column):
    """Whether a unit has too many rows must not decide whether a table is refused."""
    y, units = [0, 1] * 20, np.arange(40) // 4
    table = {"a": column([0, 0, 1] * 13 + [1]), "b": column([1, 0] * 20)}
    for rows in (np.eye(40), table):
        for most in (2, 4):
            model = dpfast.HalfspaceClassifier(20.0, n_rounds=2, random_state=0)
            model.fit(rows, column(y), classes=[0, 1], units=units, rows_per_unit=most)
            assert model.privacy_.rows_per_unit == most


def test_units_of_too_many_rows_are_bounded_in_views_of_text():
    names, who = ["clerk", "smith"] * 20, np.arange(40) // 4
    for kind in (pa.string(), pa.string_view()):
        table = pa.table({"job": pa.array(names, kind), "buys": pa.array(["no", "yes"] * 20, kind)})
        for rows in (table, table.to_batches()[0], {name: table[name] for name in table.column_names}):
            model = dpfast.HalfspaceClassifier(schema="discover", random_state=1)
            model.fit(rows, "buys", classes=["no", "yes"], units=who, rows_per_unit=2)
            assert model.classes_.tolist() == ["no", "yes"]
            assert (model._facts["rows"], model._facts["persons"]) == (None, len({*who}))


@pytest.mark.parametrize("schema", [None, "vectors"])
def test_the_number_of_rows_of_persons_is_private_and_that_of_persons_is_public(schema, tmp_path):
    table, whose = pd.DataFrame(X[:, :2], columns=["a", "b"]), np.arange(len(X)) // 3
    every = np.arange(len(X) // 3 * 3)
    whose = whose[every]
    for kept in (every, every[:-2]):  # the last person has two rows less
        model = dpfast.HalfspaceClassifier(50.0, n_rounds=3, random_state=0, schema=schema)
        rows = table.iloc[kept] if schema is None else X[kept]
        model.fit(rows, Y[kept], classes=[0, 1], units=whose[kept], rows_per_unit=3)
        facts = model._facts
        assert facts["rows"] is None
        assert facts["persons"] == whose.max() + 1
        assert getattr(getattr(model, "encoder_", None), "_facts", facts)["rows"] is None
        model.report(tmp_path / "m.html")
        page = (tmp_path / "m.html").read_text()
        assert f"Learned from {whose.max() + 1:,} persons and " in page
        assert "The number of rows is private." in page


def test_one_row_of_each_person_is_as_many_rows_as_persons():
    model = dpfast.HalfspaceClassifier(50.0, n_rounds=3, random_state=0, schema="vectors")
    model.fit(X, Y, classes=[0, 1], units=np.arange(len(X)) // 3, rows_per_unit=1)
    assert model._facts["rows"] == model._facts["persons"] == (len(X) + 2) // 3
