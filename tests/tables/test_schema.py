import json
import tomllib

import numpy as np
import pytest

from dpfast import HalfspaceClassifier, Schema
from dpfast.tables import Boolean, Category, Date, Label, Numeric
from dpfast.tables.cells import LEAST, CodeColumn


@pytest.fixture
def schema():
    return Schema(
        [
            Numeric("age", 0, 120, edges=4, integer=True),
            Numeric("income", 1, 1e6, edges=7, spacing="logarithmic", nullable=True),
            Numeric("dose", edges=[0.5, 2.0]),
            Category("job", ["clerk", "smith"], nullable=True),
            Boolean("smokes", ["no", "yes"]),
            Date("seen", "2020-01-01", "2021-01-01", parts=["age", "month"], edges=2),
        ],
        label=Label("buys", ["no", "yes"]),
        missing_values=["", "?"],
        ignore=["id"],
    )


def test_columns_become_columns_of_codes(schema):
    names = [column.name for column in schema.code_columns]
    assert names == ["age", "income", "dose", "job", "smokes", "seen age", "seen month"]
    assert [column.size for column in schema.code_columns] == [4, 8, 3, 4, 2, 2, 12]
    assert schema.code_columns[0].edges == (30.0, 60.0, 90.0)
    assert schema.code_columns[5].edges == (183.0,)
    job = schema.code_columns[3]
    assert [job.meaning(code) for code in range(job.size)] == ["clerk", "smith", "other", "missing"]
    age = schema.code_columns[0]
    assert [age.meaning(code) for code in range(4)] == [
        "at most 30",
        "31 to 60",
        "61 to 90",
        "above 90",
    ]
    assert age.midpoints().tolist() == [15, 45, 75, 105]
    assert age.ends().tolist() == [0, 30, 60, 90, 120]
    assert (age.ordered, job.ordered, age.missing, job.missing) == (True, False, None, 3)
    years = Numeric("years", 0, 4, edges=4, integer=True).code_columns()[0]
    assert [years.meaning(code) for code in range(4)] == ["at most 1", "= 2", "= 3", "above 3"]
    with pytest.raises(ValueError, match=r"codes of 'age' lie in \[0, 4\), got 4"):
        age.meaning(4)


@pytest.mark.parametrize(
    ("edges", "written"),
    [
        ([0.1, 0.2, 0.30000000000000004], ["0.1", "0.2", "0.3"]),
        ([0.0107421875, 1.3671875, 4096 / 3], ["0.010742", "1.3672", "1365.33"]),
        ([1e5 / 3, 1e6 / 3, 1e7 / 3], ["33333.3", "333333.3", "3333333.3"]),
        ([-0.5, 0.0, 41_000.0, 10_000_000.0], ["-0.5", "0", "41000", "10000000"]),
        ([0.5, 0.50000001, 0.50000002], ["0.5", "0.50000001", "0.50000002"]),
        ([1 / 3, np.nextafter(1 / 3, 1)], ["0.3333333333333333", "0.33333333333333337"]),
        ([1e-7 / 3, 1e22 / 3], ["3.3333e-08", "3.3333e+21"]),
    ],
)
def test_edges_are_written_as_short_decimals_that_tell_them_apart(edges, written):
    column = Numeric("x", edges=edges).code_columns()[0]
    assert [column.format_edge(edge) for edge in column.edges] == written
    assert column.meaning(1) == f"above {written[0]}, at most {written[1]}"


def test_a_bin_that_is_a_single_code_of_a_whole_number_is_written_as_that_number():
    """As in models of former versions, whose numbers had codes with 8 bits."""
    for number in (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 64.0, 100.0, 200.0):
        before = number - 2.0 ** (np.ceil(np.log2(number)) - 9) if number else -LEAST
        assert CodeColumn("x", (before, number), -300.0, 300.0).meaning(1) == f"about {number:.0f}"
    for low, high in ((0.5, 1.0), (0.0, 1.0), (2000.0, 2004.0), (299.0, 300.0), (0.996, 0.998), (1.0, 1.0078125)):
        assert CodeColumn("x", (low, high), -3000.0, 3000.0).meaning(1).startswith("above ")
    assert CodeColumn("x", (18261.5, 18262.0), 0.0, 3e4, dates=True).meaning(1).startswith("after ")


def test_logarithmic_edges_have_equal_ratios_and_begin_at_low():
    edges = Numeric("x", 1, 1e6, edges=7, spacing="logarithmic").cuts()
    np.testing.assert_allclose(edges, [1, 10, 100, 1e3, 1e4, 1e5], rtol=1e-15)


def test_whole_numbers_have_whole_edges_and_no_empty_bins():
    column = Numeric("grade", 1, 5, integer=True).code_columns()[0]
    assert column.edges == (1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize(("low", "high"), [(0, 1e5), (-10, 1000), (2015, 2017), (-3e300, 1e300), (-7, 0)])
def test_fine_bins_are_at_most_252_between_the_bounds_and_narrow_near_zero(low, high):
    (made,) = Numeric("x", low, high, spacing="fine", nullable=True).code_columns()
    assert made.size <= 252
    assert all(low <= edge <= high for edge in made.edges)
    assert (np.diff(made.edges) > 0).all()
    assert np.diff(made.edges, prepend=low, append=high).max() <= (high / 128 - low / 128) * (1 + 1e-9)
    if low < 0 < high:
        assert 0 in made.edges
        assert min(np.abs([edge for edge in made.edges if edge])) < (high / 128 - low / 128) / 16


@pytest.mark.parametrize(("low", "high"), [(0, 1e5), (-10, 1000), (2015, 2017), (-7, 0), (1, 64)])
def test_mixed_bins_are_32_equal_ones_divided_near_zero_at_powers_of_two(low, high):
    (made,) = Numeric("x", low, high, spacing="mixed").code_columns()
    (equal,) = Numeric("x", low, high, edges=32).code_columns()
    step = (high / 32) - (low / 32)
    more = [edge for edge in made.edges if not np.isclose(edge, equal.edges, rtol=1e-12, atol=0).any()]
    assert len(made.edges) - len(more) == 31
    assert all(
        edge == 0 or (np.frexp(abs(edge))[0] == 0.5 and abs(edge) <= step and low < edge < high) for edge in more
    )
    assert len(more) == {(0, 1e5): 7, (-10, 1000): 12, (2015, 2017): 0, (-7, 0): 7, (1, 64): 0}[low, high]
    assert (
        Numeric("x", low, high, spacing="mixed")
        == Schema.from_dict(Schema([Numeric("x", low, high, spacing="mixed")]).to_dict()).columns[0]
    )


def test_numbers_without_edges_are_fine_for_learners_that_merge_bins_and_else_32_equal_bins():
    default, asked = Numeric("x", 0, 10), Numeric("x", 0, 10, edges=32)
    assert default.code_columns() == asked.code_columns() == Numeric("x", 0, 10, spacing="equal").code_columns()
    for spacing in ("fine", "mixed"):
        spaced = Numeric("x", 0, 10, spacing=spacing)
        assert default.with_spacing(spacing) == spaced == spaced.with_spacing("fine")
        for declared in (asked, Numeric("x", 0, 10, spacing="equal"), Numeric("x"), Numeric("x", edges=[1, 2])):
            assert declared.with_spacing(spacing) == declared
    whole = Numeric("x", 0, 300, integer=True, spacing="fine").code_columns()[0]
    assert whole.edges[:17] == tuple(range(17))


def test_bounds_of_listed_edges_are_a_bin_beyond_them():
    column = Numeric("dose", edges=[0.5, 2.0]).code_columns()[0]
    assert (column.low, column.high) == (-1.0, 3.5)
    assert Numeric("dose", edges=[7]).code_columns()[0].midpoints().tolist() == [6.5, 7.5]


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_a_schema_comes_back_from_its_file(schema, ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    schema.to_file(path)
    assert Schema.from_file(path) == schema
    assert hash(Schema.from_file(path)) == hash(schema)
    assert list(tmp_path.iterdir()) == [path]


def test_texts_of_all_letters_come_back_from_toml(schema):
    values = ['a "quoted" \\ one', "two\nlines", "tab\t", "\x7f", "Łódź", "\u2028", "🙂", " "]
    odd = Schema([Category("job [of]\n#1", values)], missing_values=values[:2])
    assert Schema.from_dict(tomllib.loads(odd.to_toml())) == odd


def test_the_json_form_of_shared_tables_is_read():
    document = {
        "table": "adult",
        "file": "adult.csv.gz",
        "missing_values": ["?"],
        "ignore": ["fnlwgt"],
        "label": {"name": "income", "kind": "category", "classes": ["<=50K", ">50K"]},
        "columns": [
            {"name": "age", "kind": "numeric", "low": 0, "high": 120, "nullable": False},
            {"name": "sex", "kind": "category", "values": ["Female", "Male"], "nullable": False},
            {"name": "id", "kind": "ignored"},
        ],
    }
    schema = Schema.from_dict(json.loads(json.dumps(document)))
    assert schema.names == ["age", "sex"]
    assert schema.ignore == ("fnlwgt", "id")
    assert schema.label.classes == ("<=50K", ">50K")
    assert [column.size for column in schema.code_columns] == [32, 3]


def test_what_is_not_declared_is_to_be_found():
    schema = Schema(
        [Numeric("a"), Numeric("b", 0, 1), Numeric("c", 0, 1, spacing="quantiles"), Numeric("d", low=0), Category("e")]
    )
    assert schema.to_find == {
        "a": ("low", "high", "edges"),
        "c": ("edges",),
        "d": ("high", "edges"),
        "e": ("values",),
    }
    with pytest.raises(ValueError, match="column 'a': low and high and edges must be declared or found first"):
        _ = schema.code_columns
    found = schema.with_facts(
        {
            "a": {"low": 0.0, "high": 2.0, "edges": (1.0,)},
            "c": {"edges": (0.5, 0.75)},
            "d": {"high": 9.0, "edges": (3.0,)},
            "e": {"values": ("x",)},
        }
    )
    assert not found.to_find
    assert [column.size for column in found.code_columns] == [2, 32, 3, 2, 2]
    assert Schema.from_dict(found.to_dict()) == found


def test_an_unconfirmed_draft_is_refused_until_every_fact_is_confirmed_or_taken_out():
    schema = Schema(
        [Numeric("age", 17, 90, unconfirmed=("low", "high")), Category("job", ["clerk"], unconfirmed=("values",))],
        label=Label("buys", ["no", "yes"], unconfirmed=True),
    )
    text = schema.to_toml()
    assert text.count("# read off the data: confirm that this is public, or leave it to be found privately\n") == 3
    assert text.count("# read off the data: confirm that this is public\n") == 1
    assert Schema.from_dict(tomllib.loads(text)) == schema
    assert schema.unconfirmed == ["age.low", "age.high", "job.values", "buys.classes"]
    with pytest.raises(ValueError, match=r"unconfirmed draft: age.low, age.high, job.values, buys.classes read off"):
        _ = schema.code_columns
    confirmed = Schema.from_dict(tomllib.loads(text.replace(".unconfirmed", "")))
    assert confirmed == schema.confirm()
    with pytest.warns(FutureWarning, match="Schema.confirm; the old name"):
        assert confirmed == schema.confirmed()
    assert not confirmed.unconfirmed
    left = "\n".join(line for line in text.splitlines() if not line.startswith(("low", "values")))
    assert Schema.from_dict(tomllib.loads(left.replace(".unconfirmed", ""))).to_find == {
        "age": ("low", "edges"),
        "job": ("values",),
    }


WRONG = {
    "no columns": ({}, "a schema must have columns"),
    "an empty list of columns": ({"columns": []}, "at least one"),
    "an unknown key": ({"columns": [], "lable": {}}, "a schema has no 'lable'"),
    "the column of persons": ({"columns": [], "person": "patient"}, "whose a row is belongs to the fit: units="),
    "an unknown kind": ({"columns": [{"name": "x", "kind": "number"}]}, "column 'x': kind must be one of numeric"),
    "a kind that is a table": ({"columns": [{"name": "x", "kind": {}}]}, "column 'x': kind must be one of"),
    "no kind": ({"columns": [{"name": "x"}]}, "column 'x': kind must be one of"),
    "no name": ({"columns": [{"kind": "numeric"}]}, "a column must have a name"),
    "a column that is no table": ({"columns": ["x"]}, "a column must have a name and a kind, got text"),
    "a name with NUL": ({"columns": [{"name": "x\0y", "kind": "boolean"}]}, "without NUL"),
    "an empty name": ({"columns": [{"name": "", "kind": "boolean"}]}, "must have a name"),
    "an unknown key of a column": ({"columns": [{"name": "x", "kind": "boolean", "low": 0}]}, "has no 'low'"),
    "low above high": ({"columns": [{"name": "x", "kind": "numeric", "low": 2, "high": 1}]}, "low must be below high"),
    "a bound that is text": (
        {"columns": [{"name": "x", "kind": "numeric", "low": "0"}]},
        "low must be a finite number",
    ),
    "a bound that is true": ({"columns": [{"name": "x", "kind": "numeric", "low": True}]}, "must be a finite number"),
    "edges out of order": ({"columns": [{"name": "x", "kind": "numeric", "edges": [1, 3, 2]}]}, "rise, got 3 before 2"),
    "edges twice": (
        {"columns": [{"name": "x", "kind": "numeric", "edges": [1, 1]}]},
        "edges must rise, got 1 before 1",
    ),
    "no edges": ({"columns": [{"name": "x", "kind": "numeric", "edges": []}]}, "at least one"),
    "one bin": (
        {"columns": [{"name": "x", "kind": "numeric", "edges": 1}]},
        r"a number of bins in \[2, 65534\], got 1",
    ),
    "edges that are text": ({"columns": [{"name": "x", "kind": "numeric", "edges": "8"}]}, "edges must be a number of"),
    "edges outside the bounds": (
        {"columns": [{"name": "x", "kind": "numeric", "low": 0, "high": 1, "edges": [0.5, 2]}]},
        r"edges must lie between low and high, in \[0, 1\], got 2",
    ),
    "an unknown spacing": ({"columns": [{"name": "x", "kind": "numeric", "spacing": "log"}]}, "spacing must be one of"),
    "logarithms of zero": (
        {"columns": [{"name": "x", "kind": "numeric", "low": 0, "high": 1, "spacing": "logarithmic"}]},
        "need low > 0, got 0",
    ),
    "spacing of listed edges": (
        {"columns": [{"name": "x", "kind": "numeric", "edges": [1], "spacing": "equal"}]},
        "spacing is for a number of edges",
    ),
    "edges of fine bins": (
        {"columns": [{"name": "x", "kind": "numeric", "low": 0, "high": 1, "edges": 9, "spacing": "fine"}]},
        "fine spacing needs low and high, and no edges",
    ),
    "fine bins without a bound": (
        {"columns": [{"name": "x", "kind": "numeric", "low": 0, "spacing": "fine"}]},
        "fine spacing needs low and high, and no edges",
    ),
    "a value twice": (
        {"columns": [{"name": "x", "kind": "category", "values": ["a", "b", "a"]}]},
        "'a' is there twice",
    ),
    "a value that is missing": (
        {"columns": [{"name": "x", "kind": "category", "values": ["a", None]}]},
        "values must not hold a missing one: declare the column nullable",
    ),
    "a value twice as text": (
        {"columns": [{"name": "x", "kind": "category", "values": [1, "1"]}]},
        "'1' is there twice",
    ),
    "no values": ({"columns": [{"name": "x", "kind": "category", "values": [], "other": False}]}, "the list is empty"),
    "values that are text": ({"columns": [{"name": "x", "kind": "category", "values": "ab"}]}, "values must be a list"),
    "too many values": (
        {"columns": [{"name": "x", "kind": "category", "values": list(range(100_000))}]},
        "column 'x': values must be at most 65,535, got 100,000",
    ),
    "three truths": ({"columns": [{"name": "x", "kind": "boolean", "values": ["a", "b", "c"]}]}, "two, false and true"),
    "values found without other": (
        {"columns": [{"name": "x", "kind": "category", "other": False}]},
        "need a code for the rest",
    ),
    "a flag that is text": (
        {"columns": [{"name": "x", "kind": "boolean", "nullable": "no"}]},
        "true or false, got 'no'",
    ),
    "a bound that is no date": (
        {"columns": [{"name": "x", "kind": "date", "low": "2020", "high": "2021-01-01"}]},
        "low must be a date, as YYYY-MM-DD, got '2020'",
    ),
    "a date without bounds": ({"columns": [{"name": "x", "kind": "date"}]}, "low must be a date"),
    "dates out of order": (
        {"columns": [{"name": "x", "kind": "date", "low": "2022-01-01", "high": "2021-01-01"}]},
        "low must be before high",
    ),
    "an unknown part": (
        {"columns": [{"name": "x", "kind": "date", "low": "2020-01-01", "high": "2021-01-01", "parts": ["year"]}]},
        "parts must be some of age, weekday, month",
    ),
    "a format that is none": (
        {"columns": [{"name": "x", "kind": "date", "low": "2020-01-01", "high": "2021-01-01", "format": "ISO"}]},
        "format must be one of strptime",
    ),
    "a column twice": ({"columns": [{"name": "x", "kind": "boolean"}] * 2}, "'x' is declared twice"),
    "the label among the columns": (
        {"columns": [{"name": "x", "kind": "boolean"}], "label": "x"},
        "'x' is declared twice",
    ),
    "one class": (
        {"columns": [{"name": "x", "kind": "boolean"}], "label": {"name": "y", "classes": ["a"]}},
        "classes of the label must be two or more, each once, got",
    ),
    "a class twice": (
        {"columns": [{"name": "x", "kind": "boolean"}], "label": {"name": "y", "classes": [1, "1"]}},
        "two or more, each once",
    ),
    "an unknown key of the label": (
        {"columns": [{"name": "x", "kind": "boolean"}], "label": {"name": "y", "values": []}},
        "the label has a name, a kind, and classes or above; got name, values",
    ),
    "a mark that is a number": (
        {"columns": [{"name": "x", "kind": "boolean"}], "missing_values": [-1]},
        "missing_values must be a list of texts, got -1",
    ),
    "a nested value": (
        {"columns": [{"name": "x", "kind": "numeric", "low": {"value": 1}}]},
        "column 'x': low must be a plain value",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_declaration_that_will_not_do_is_refused_by_its_column(what):
    document, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        Schema.from_dict(document)


def test_a_file_that_is_no_schema_is_refused_by_its_name(tmp_path):
    for name, text in {"a.toml": "columns = [", "b.json": "{", "c.json": "[" * 10_000, "d.json": "[]"}.items():
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(ValueError, match=name):
            Schema.from_file(path)
    (tmp_path / "e.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"e\.toml is not UTF-8"):
        Schema.from_file(tmp_path / "e.toml")
    with pytest.raises(ValueError, match=r"must end in .toml or .json"):
        Schema.from_file(tmp_path / "schema.yaml")
    with pytest.raises(ValueError, match=r'"discover" asks for a discovery and "vectors" for rows of numbers'):
        HalfspaceClassifier(schema="auto").fit([[1, 2]], [0])
    with pytest.raises(ValueError, match=r"must end in .toml or .json"):
        Schema([Boolean("x")]).to_file(tmp_path / "schema.yaml")
    with pytest.raises(FileNotFoundError):
        Schema.from_file(tmp_path / "none.toml")


def test_a_schema_is_made_of_columns():
    with pytest.raises(ValueError, match="columns must be"):
        Schema([{"name": "x", "kind": "boolean"}])
    with pytest.raises(ValueError, match="label must be"):
        Schema([Boolean("x")], label=3)
    assert repr(Schema([Boolean("x"), Category("y")], label="z")) == (
        "<Schema of 2 columns, label 'z', to find privately: y>"
    )
