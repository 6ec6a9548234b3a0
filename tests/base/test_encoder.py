import copy
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from dpfast import Schema, TableEncoder
from dpfast.accounting import Budget, BudgetExceeded
from dpfast.accounting.claims.composition import Composed
from dpfast.discovery.survey import plan
from dpfast.tables import Boolean, Category, CodeTable, Numeric
from dpfast.tables.discovered import Discovered

DECLARED = Schema([Numeric("age", 0, 120, edges=4, nullable=True), Category("job", ["clerk", "smith"])])
OPEN = Schema(
    [
        Numeric("age", 0, 120, edges=8, spacing="quantiles", integer=True),
        Numeric("income", edges=8, nullable=True),
        Category("job"),
        Boolean("smokes"),
    ]
)


@pytest.fixture
def table(rng):
    n = 20_000
    return pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 1, n)),
            "job": rng.choice(["clerk", " smith", "baker"], n, p=[0.6, 0.3, 0.1]),
            "smokes": rng.random(n) < 0.3,
        }
    )


def test_what_is_declared_costs_nothing(table):
    budget = Budget(1.0, 1e-6)
    encoder = TableEncoder(DECLARED, epsilon=5.0, budget=budget).fit(table)
    assert str(encoder.privacy_) == "(0.0, 0)-DP, replace one row"
    assert budget.spent == (0, 0)
    codes = encoder.transform(table[["job", "age"]].iloc[:3])
    assert isinstance(codes, CodeTable)
    assert codes == encoder.transform(table.iloc[:3]) == encoder.fit_transform(table)[:3]
    assert encoder.get_feature_names_out().tolist() == ["age", "job"]
    assert (encoder.n_features_in_, encoder.feature_names_in_.tolist()) == (2, ["age", "job"])


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_what_is_open_is_found_and_charged(table, neighbors, rng):
    budget = Budget(1.0, 1e-6, neighbors=neighbors)
    encoder = TableEncoder(OPEN, budget=budget, neighbors=neighbors, random_state=rng).fit(table)
    age, income, job, smokes = encoder.schema_.columns
    assert not encoder.schema_.to_find
    ranks = np.searchsorted(np.sort(table["age"]), age.edges, side="right") / len(table)
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=0.03)
    kept = np.sort(table["income"].dropna())
    ranks = np.searchsorted(kept, income.edges, side="right") / len(kept)
    np.testing.assert_allclose(ranks, np.arange(1, 8) / 8, atol=0.03)
    assert 0 <= income.low < kept[len(kept) // 4]
    assert kept[3 * len(kept) // 4] < income.high <= 2**20
    assert job.values == ("baker", "clerk", "smith")
    assert smokes == OPEN.columns[3]
    assert budget.spent == (1.0, 1e-6)
    assert str(encoder.privacy_).startswith(f"(1.0, 1e-06)-DP, {neighbors.split('-')[0]}")
    assert "1 of 1 releases used" in str(encoder.privacy_)
    assert encoder.transform(table).sizes.tolist() == [8, 9, 4, 2]


def test_rare_values_are_other(table, rng):
    table.loc[:4, "job"] = "astronaut"
    encoder = TableEncoder(OPEN, random_state=rng).fit(table)
    assert "astronaut" not in encoder.schema_.columns[2].values
    assert encoder.transform(table).column(2)[:5].tolist() == [3] * 5


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-7), (1.0, 1e-6), (8.0, 1e-9), (1.0, 0.0)])
@pytest.mark.parametrize("share", [1, Fraction(1, 20)])
@pytest.mark.parametrize("columns", [OPEN.columns, OPEN.columns[:1], [Discovered(f"x{k}") for k in range(40)]])
def test_a_plan_costs_no_more_than_what_was_asked_for_and_nearly_all_of_it(columns, share, epsilon, delta, neighbors):
    schema = Schema(columns)
    if not delta and "job" in schema.names:
        with pytest.raises(ValueError, match="cannot be found privately with delta = 0: declare those of 'job'"):
            plan(schema, epsilon, delta, neighbors)
        return
    planned = plan(schema, epsilon, delta, neighbors, share=share, rows_per_unit=2)
    if not delta:
        pool = math.ceil(len(columns) / 2)
        moved = 2 * (2 * len(columns) + pool) * (2 if neighbors == "replace" else 1)  # in all looks
        assert planned.pool == pool
        assert planned.look.pure
        spent = Fraction(moved) / planned.look.scale
        assert spent + Fraction(planned.epsilon) == (1 if share == 1 else pytest.approx(1))
        return
    assert Composed(planned.cost).delta(epsilon) <= delta
    if share == 1:
        assert Composed(planned.cost).delta(epsilon * 0.99) > delta


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_lone_word_is_published_no_more_often_than_its_share_of_delta(neighbors, k):
    """By the exact law of the noise: the threshold is on its grid, and a word of j <= k rows reaches it rarely."""
    planned = plan(Schema([Discovered("a"), Discovered("b")]), 1.0, 1e-3, neighbors, labels="open", rows_per_unit=k)
    assert planned.cost[1].delta == pytest.approx(2e-4)  # a tenth of delta for both columns, and a tenth for the labels
    for histogram, words in ((planned.look, 2), (planned.labels, 1)):
        assert words * histogram.lone == pytest.approx(1e-4)
        for rows in range(1, k + 1):
            least = histogram.threshold - rows * histogram.unit
            tail = 0.5 * math.erfc((least - 1) / float(histogram.scale) / math.sqrt(2))  # bounds the discrete tail
            assert tail <= rows * 1e-4 / (k * words)
        assert 0.5 * math.erfc((least - histogram.unit * 0.5) / float(histogram.scale) / math.sqrt(2)) < 1e-3


def test_a_refusal_charges_and_draws_nothing(table, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    budget = Budget(1.0, 1e-6)

    def refused(match, schema=OPEN, X=table, **parameters):
        parameters = {"budget": budget, "random_state": rng, **parameters}
        with pytest.raises(ValueError, match=match):
            TableEncoder(schema, **parameters).fit(X)
        assert budget.spent == (0, 0)
        assert rng.bit_generator.state == before

    refused("lacks columns that the schema declares: 'smokes'", X=table.drop(columns="smokes"))
    refused("unconfirmed draft", schema=Schema.draft(table))
    refused("schema must be a dpfast.Schema or the path", schema={"columns": []})
    refused("at least one row", X=table.iloc[:0])
    refused("epsilon must be a finite number > 0", epsilon=0)
    refused("delta must lie in", delta=0.0)
    refused("neighbors must be", neighbors="none")
    refused("row 8, column 'age' is missing", X=table.assign(age=table["age"].where(table.index != 7)))
    with pytest.raises(BudgetExceeded):
        TableEncoder(OPEN, epsilon=2.0, budget=budget).fit(table)


def test_a_schema_may_be_the_path_of_its_file(table, tmp_path):
    DECLARED.to_file(tmp_path / "table.toml")
    for path in (tmp_path / "table.toml", str(tmp_path / "table.toml")):
        assert TableEncoder(path).fit(table).schema_ == DECLARED


def test_files_are_read_as_the_table_that_they_hold(table, tmp_path):
    table.to_csv(tmp_path / "table.csv", index=False)
    encoder = TableEncoder(OPEN, epsilon=20.0, random_state=1)
    expected = encoder.fit_transform(table).toarray()
    np.testing.assert_array_equal(encoder.transform(tmp_path / "table.csv").toarray(), expected)
    np.testing.assert_array_equal(encoder.fit_transform(tmp_path / "table.csv").toarray(), expected)


def test_it_is_a_transformer_of_pipelines(table):
    encoder = clone(TableEncoder(DECLARED)).set_output(transform="pandas")
    frame = encoder.fit_transform(table.iloc[:9])
    assert frame.columns.tolist() == ["age", "job"]
    assert frame.index.tolist() == list(range(9))
    model = make_pipeline(encoder, DecisionTreeClassifier()).fit(table, table["smokes"])
    assert model.predict(table.iloc[:5]).shape == (5,)


@pytest.mark.parametrize(
    "column",
    [
        Numeric("x"),
        Numeric("x", low=5.0),
        Numeric("x", high=-5.0),
        Numeric("x", low=1e300),
        Numeric("x", high=-1e300),
        Numeric("x", high=1e-300),
        Numeric("x", spacing="equal"),
        Numeric("x", spacing="logarithmic"),
        Numeric("x", low=3.0, spacing="logarithmic"),
        Numeric("x", high=1e-20, spacing="logarithmic"),
        Numeric("x", integer=True),
        Numeric("x", 0.25, 0.75, spacing="quantiles", integer=True),
        Category("x"),
        Category("x", nullable=True),
        Discovered("x"),
        Discovered("x", reads="integer"),
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", [1e-3, 10.0])
def test_whatever_is_drawn_makes_a_schema(column, epsilon, rng):
    for values in ([-1e308, 1e308, 3.0], [7.0] * 50, [0.0], [-2.0, -1.0]):
        encoder = TableEncoder(Schema([column]), epsilon=epsilon, random_state=rng).fit({"x": values})
        assert not encoder.schema_.to_find
        assert len(encoder.transform({"x": values})) == len(values)
        assert Schema.from_dict(encoder.schema_.to_dict()) == encoder.schema_
        made = encoder.schema_.code_columns[0]
        assert not made.ordered or np.isfinite(made.midpoints()).all()
