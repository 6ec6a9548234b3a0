import datetime as dt
import os
import stat
import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpfast import HalfspaceClassifier, Schema
from dpfast.tables import Boolean, Category, Date, Label, Numeric
from dpfast.tables.naming import alike, short_for
from dpfast.tables.remarks import almost_numeric, odd_remarks, remarks


@pytest.fixture
def table():
    return {
        "age": ["31", "?", "47", "47"],
        "height": [1.5, None, 1.75, 1.5],
        "job": ["clerk", "smith", "?", "clerk"],
        "smokes": [True, False, None, True],
        "paid": ["0", "1", "1", "0"],
        "seen": ["2020-01-05", "2021-02-03", "?", "2020-07-01"],
        "constant": [3, 3, 3, 3],
        "empty": [None, None, None, None],
        "buys": ["yes", "no", "no", "yes"],
    }


def test_a_draft_declares_nothing_that_it_read_off_the_rows(table):
    draft = Schema.draft(table, "buys")
    assert draft == Schema(
        [
            Numeric("age", 31, 47, integer=True, nullable=True, unconfirmed=("low", "high", "integer", "kind")),
            Numeric("height", 1.5, 1.75, nullable=True, unconfirmed=("low", "high", "integer", "kind")),
            Category("job", ["clerk", "smith"], nullable=True, unconfirmed=("values", "kind")),
            Boolean("smokes", nullable=True),
            Boolean("paid", nullable=True, unconfirmed=("kind",)),
            Date("seen", "2020-01-05", "2021-02-03", nullable=True, unconfirmed=("low", "high", "kind")),
        ],
        label=Label("buys", ["no", "yes"], unconfirmed=True),
        missing_values=["?"],
        ignore=["constant", "empty"],
        unconfirmed=["missing_values", "ignore"],
    )
    with pytest.raises(ValueError, match=r"unconfirmed draft: age\.low, age\.high"):
        draft.refuse_unconfirmed()
    assert draft.check(table) == []
    assert draft.confirm().check(table) == []


def test_categories_of_types_are_those_of_rows_and_to_be_confirmed():
    jobs = pd.Categorical(["clerk", None], categories=["smith", "clerk"])
    for column in (jobs, pa.DictionaryArray.from_arrays([1, None], ["smith", "clerk"])):
        draft = Schema.draft({"job": column})
        assert draft.columns == (Category("job", ["smith", "clerk"], nullable=True, unconfirmed=("values",)),)
        assert draft.unconfirmed == ["job.values", "missing_values", "ignore"]
        with pytest.raises(ValueError, match=r"unconfirmed draft: job\.values"):
            draft.code_columns  # noqa: B018


PLAIN = {"age": [30.0, 40.0, 50.0] * 20, "one": [1.0] * 60, "bit": [0, 1, 1] * 20, "word": ["u", "v", "w"] * 20}


@pytest.mark.parametrize(
    ("name", "value"), [("age", 30.5), ("age", 7.0), ("one", 2.0), ("word", "?"), ("word", "x"), ("bit", 2)]
)
@pytest.mark.parametrize("held", [dict, pd.DataFrame, pa.table, lambda t: pd.DataFrame(t).astype({"word": "category"})])
def test_whatever_one_row_changes_of_a_draft_is_to_be_confirmed(name, value, held, tmp_path):
    """Two drafts that differ in one row differ in nothing that is not marked in both."""

    def settled(table):
        document = Schema.draft(held(table)).to_dict()
        columns = document.pop("columns")
        marked = {key: value for key, value in document.items() if not isinstance(value, dict)}
        kept = [{key: value for key, value in column.items() if not isinstance(value, dict)} for column in columns]
        return marked, {column["name"]: column for column in kept}

    (own, before), (others, after) = settled(PLAIN), settled(PLAIN | {name: [value, *PLAIN[name][1:]]})
    assert own == others == {}
    assert before == {**before, **{each: after[each] for each in after if each in before}}


def test_a_draft_is_written_for_its_owner_alone_and_through_no_link(tmp_path):
    path, spy = tmp_path / "draft.toml", tmp_path / "spy.txt"
    spy.write_text("before")
    (tmp_path / f"draft.toml.{os.getpid()}.part").symlink_to(spy)
    draft = Schema.draft(PLAIN)
    draft.to_file(path)
    assert spy.read_text() == "before"
    assert not path.is_symlink()
    assert Schema.from_file(path) == draft
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    draft.to_file(tmp_path / "draft.json")
    assert Schema.from_file(tmp_path / "draft.json").unconfirmed == draft.unconfirmed


def test_a_column_of_too_many_values_is_left_out():
    draft = Schema.draft({"id": [f"row {k}" for k in range(1001)], "x": np.arange(1001) // 2})
    assert draft.names == ["x"]
    assert draft.ignore == ("id",)


def test_numbers_and_dates_among_words_are_drafted_to_be_discovered_rather_than_left_out(rng):
    """Such a column was left out in silence, however many numbers it had."""
    prices = [f"{p:.2f}" if k % 5 else f"{p:.0f} bis 9999" for k, p in enumerate(rng.uniform(1, 9000, 4000))]
    days = np.datetime64("2020-01-01") + rng.integers(0, 1200, 4000)
    dates = [f"{day:%d/%m/%Y}" if k % 3 else f"{day}" for k, day in enumerate(days.astype(object))]
    codes = [f"{k:04x}" for k in rng.permutation(4000) + 40000]
    mixed = ["x" * (k % 3) + f"{price}" for k, price in enumerate(prices)]
    schema = Schema.draft({"price": prices, "date": dates, "code": codes, "mixed": mixed, "y": ["a", "b"] * 2000}, "y")
    assert [(column.name, column.kind) for column in schema.columns] == [("price", "discovered")]
    assert schema.ignore == ("date", "code", "mixed")


def test_a_draft_needs_its_label_and_rows(table):
    with pytest.raises(ValueError, match="there is no column 'sells'"):
        Schema.draft(table, "sells")
    with pytest.raises(ValueError, match="no rows"):
        Schema.draft({"x": []})


def test_a_check_says_how_table_and_schema_differ(table):
    schema = Schema(
        [
            Numeric("age", 40, 45),
            Numeric("job", 0, 1),
            Category("height", ["1.5"]),
            Boolean("smokes", ["no", "yes"], nullable=True),
            Date("seen", "2020-02-01", "2020-12-31"),
            Boolean("lost"),
            Category("paid"),
        ],
        label=Label("buys", ["no", "maybe"]),
        missing_values=["?"],
        ignore=["empty"],
    )
    assert schema.check(table) == [
        "column 'constant' is in the table, and not in the schema",
        "column 'age' has 1 missing values, and is not nullable",
        "column 'age' has 1 numbers below 40",
        "column 'age' has 2 numbers above 45",
        "row 1, column 'job' holds text where a number is declared",
        "column 'height' has 1 missing values, and is not nullable",
        "column 'height' has 1 values that are not declared: '1.75'",
        "column 'smokes' has 3 values that are not declared: 'true', 'false'",
        "column 'seen' has 1 missing values, and is not nullable",
        "column 'seen' has 1 dates before 2020-02-01",
        "column 'seen' has 1 dates after 2020-12-31",
        "column 'lost' is in the schema, and not in the table",
        "column 'buys' has 2 values that are not declared: 'yes'",
    ]
    del table["buys"]
    table["seen"] = [dt.date(2020, 5, 1)] * 4
    assert "the label 'buys' is in the schema, and not in the table" in schema.check(table)


def test_dates_are_drafted_in_the_form_that_reads_all_of_them():
    dates = {"%d.%m.%Y": ["31.12.2020", " 1.2.2021", "?"], "%m/%d/%Y": ["12/31/2020", "02/01/2021"]}
    for form, written in dates.items():
        draft = Schema.draft({"seen": written})
        facts = {"format": form, "nullable": True, "unconfirmed": ("low", "high", "format", "kind")}
        assert draft.columns == (Date("seen", "2020-12-31", "2021-02-01", **facts),)
        assert draft.confirm().check({"seen": written}) == []
        assert Schema.from_dict(draft.to_dict()) == draft


def test_blanks_around_values_are_no_part_of_them():
    table = {"job": [" clerk", "clerk ", "smith"], "buys": ["yes ", "no", " no"]}
    draft = Schema.draft(table, "buys")
    assert draft.columns[0].values == ("clerk", "smith")
    assert draft.label.classes == ("no", "yes")
    assert draft.confirm().check(table) == []


def test_a_column_that_numbers_the_rows_is_left_out(rng):
    table = {"row": rng.permutation(100) + 7, "x": rng.permutation(200)[:100]}
    assert Schema.draft(table).names == ["x"]


def test_texts_among_numbers_are_told_and_may_be_declared_to_be_missing():
    table = {"age": [str(k) for k in range(18, 90)] + ["18", "k.A."], "size": ["S", "M", "1"] + [None] * 71}
    draft = Schema.draft(table)
    assert almost_numeric(draft, table) == {"age": ["k.A."]}
    draft = Schema.draft(table, missing=["k.A."])
    assert isinstance(draft.columns[0], Numeric)
    assert draft.missing_values == ("k.A.",)
    assert almost_numeric(draft, table, ["k.A."]) == {}


@pytest.mark.parametrize(
    ("written", "left"),
    [("{:,}", "50%"), ("${:,}.50", ""), ("{}%", ""), ("{},5", "100%"), ("{:_}.5 €", ""), ("-{:,}.5", "")],
    ids=["comma", "dollar", "percent", "decimal", "euro", "minus"],
)
def test_a_draft_tells_of_numbers_that_are_read_as_words(written, left):
    amounts = [written.format(k).replace("_", "\u202f") for k in range(900, 1100)]
    table = {"price": amounts, "job": ["clerk", "smith"] * 100}
    draft = Schema.draft(table)
    said = [each for each in remarks(draft, table) if "read as words" in each]
    assert len(said) == bool(left)
    if left:
        assert said[0].startswith(f"column 'price' holds numbers of which {left} of the values are read as words, such")
        mark = "the comma is their decimal mark" if written == "{},5" else "; if the comma is the decimal mark"
        assert said[0].endswith(f"{mark}, give --decimal ,")
    assert almost_numeric(draft, table) == {}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["28/01/2020", "01/02/2020"], "such as '01/02/2020': give --dates dmy, which fits all of them"),
        (["01/28/2020", "01/02/2020"], "such as '01/02/2020': give --dates mdy, which fits all of them"),
        (["01-03-2020", "01-02-2020"], "such as '01-02-2020': give --dates dmy or --dates mdy"),
        (["01/28/2020", "28/01/2020"], "such as '01/28/2020': write all of them as YYYY-MM-DD first"),
    ],
)
def test_a_draft_proposes_the_order_of_ambiguous_dates(written, said):
    table = {"seen": written * 30, "x": range(60)}
    schema = Schema([Category("seen", []), Numeric("x", 0, 60)])
    (told,) = [each for each in remarks(schema, table) if "dates" in each]
    assert told == f"column 'seen' holds dates of which 100% of the values are read as words, {said}"


def test_a_draft_tells_of_identifiers_dates_and_values_that_a_fit_could_not_use():
    table = {
        "patient": [f"P{k // 2}" for k in range(2400)],
        "seen": [f"2020-01-{1 + k % 28:02d}" if k % 3 else f"{1 + k % 28:02d}.01.2020" for k in range(2400)],
        "sex": ["m", "f", "F", "m"] * 600,
        "gone": ["n/a", "1"] * 1200,
    }
    draft = Schema.draft(table, missing=["n/a"])
    assert draft.missing_values == ("n/a",)
    assert remarks(draft, table, ["n/a"]) == [
        "values of column 'sex' differ only in capitals, blanks or the form of a number: F, f. If they mean the same, "
        "write them alike first",
        "column 'patient' has 1,200 different values in 2,400 rows; one has 2 rows in the median and 2 at most. Does "
        "it say whose a row is? Then protect persons: --unit 'patient' --rows-per-unit 2. If it is left out instead "
        "(--ignore 'patient'), rows of one person are protected one by one",
    ]


def test_a_draft_asks_whose_rows_they_are_of_codes_and_of_no_times_places_and_amounts(rng):
    n = 3000
    table = {
        "": np.arange(n),
        "patient_id": rng.integers(10_000, 11_500, n),
        "id": np.arange(n) // 2,
        "tail": [f"N{k}" for k in rng.permutation(n)],
        "time": [f"2020-01-{1 + k % 30:02} {k // 3600:02}:{k // 60 % 60:02}:{k % 60:02}" for k in range(n)],
        "day": np.datetime64("2020-01-01") + np.arange(n).astype("timedelta64[h]"),
        "address": [f"Long Street {k}, Graz" for k in range(n)],
        "pay": rng.permutation(n) * 37 + 1100,
        "store_no": rng.integers(0, 40, n),
        "buys": rng.choice(["no", "yes"], n),
    }
    table = pd.DataFrame(table).rename(columns={"": "column 1"})
    draft = Schema.draft(table, "buys")
    assert "patient_id" in draft.ignore
    told = {name: [each for each in remarks(draft, table) if f"'{name}'" in each] for name in table}
    asked = {name for name, each in told.items() if any("Does it say whose a row is?" in one for one in each)}
    assert asked == {"patient_id", "id", "tail"}
    assert "one has 2 rows in the median and 2 at most" in told["id"][0]
    assert not told["time"] + told["day"] + told["store_no"]
    assert told["pay"] == [
        "column 'pay' is different in nearly every row. If it is a code and no amount, leave it out: --ignore 'pay'. "
        "If it says whose a row is, --unit 'pay' protects persons instead"
    ]
    assert "few of them can be discovered. If they are of no use, leave it out" in told["address"][0]
    assert "as an index has none: leave it out" in told["column 1"][0]


def test_a_draft_tells_of_labels_with_two_spellings():
    table = {"x": [1, 2, 3, 4, 5] * 6, "buys": ["yes", "Yes", "no", "no", "may be"] * 6}
    assert remarks(Schema.draft(table, "buys"), table) == [
        "classes of the label 'buys' differ only in capitals, blanks or the form of a number: Yes, yes. If they mean "
        "the same, write them alike first"
    ]
    table = {"x": [1, 2, 3, 4, 5] * 6, "buys": ["yes", "no", "no", "Y", "may be"] * 6}
    assert remarks(Schema.draft(table, "buys"), table) == [
        "the class 'Y' of the label 'buys' may be short for 'yes'. If they mean the same, write them alike first"
    ]
    assert short_for(["f", "m", "male", "maybe", "1", "10"]) == []
    assert alike(["Mu\u0308ller", "M\xfcller", "Mueller"]) == ["Mu\u0308ller", "M\xfcller"]
    assert alike(["1", "1.0", "01", "2", "1a", "-1", "9" * 30]) == ["1", "1.0", "01"]


def test_a_draft_tells_of_numbers_with_leading_zeros():
    table = {"zip": ["01234", "90210", "00501"] * 10, "share": ["0.5", "0", "7"] * 10, "x": range(30)}
    (told,) = [each for each in remarks(Schema.draft(table), table) if "leading zeros" in each]
    assert told.startswith("column 'zip' has numbers with leading zeros, such as '01234'")


@pytest.mark.parametrize(
    "cells", [["1,5", "a"], ["x 1"], ["12:30"], ["31.12.2020", "1.2.2021"], ["1-2"], ["1,23,4"], ["01 234"]]
)
def test_words_with_digits_are_not_told_to_be_numbers(cells):
    table = {"code": cells * 30, "x": range(30 * len(cells))}
    assert not any("read as words" in said for said in remarks(Schema.draft(table), table))


def test_cells_that_a_fit_reads_by_their_form_are_drafted_to_be_discovered_and_never_to_be_left_out(rng):
    n = 3000
    cells = {
        "amount": [f"${x:,.2f}" for x in rng.uniform(1, 9999, n)],
        "time": [f"{k // 60 % 24:02}:{k % 60:02}" for k in range(n)],
        "weight": [f"{x:.2f} kg" for x in rng.uniform(40, 120, n)],
        "word": [f"w{k}" for k in range(n)],
    }
    table = pa.table(cells | {"y": ["a", "b"] * (n // 2)})
    draft = Schema.draft(table, "y")
    assert draft.names == ["amount", "time", "weight"]
    assert {column.kind for column in draft.columns} == {"discovered"}
    assert draft.ignore == ("word",)
    assert [said for said in remarks(draft, table) if "'word'" not in said] == []
    confirmed = Schema.from_dict(tomllib.loads(draft.to_toml())).confirm()
    model = HalfspaceClassifier(schema=confirmed, random_state=0).fit(table)
    assert model.encoder_.other_["amount"] < 0.5


@pytest.mark.parametrize("name", ["USUBJID", "MRN", "owner_id", "case_id", "k"])
@pytest.mark.parametrize("text", [False, True])
def test_a_column_whose_values_repeat_as_persons_do_is_proposed_as_the_unit(rng, name, text):
    who = rng.permutation(np.repeat(rng.choice(900_000, 500, replace=False) + 100_000, 4))
    table = pa.table({name: [f"p{k}" for k in who] if text else who, "pay": rng.integers(0, 2000, 2000)})
    told = " ".join(remarks(Schema.draft(table), table))
    assert (
        "one has 4 rows in the median and 4 at most. Does it say whose a row is? Then protect persons: --unit "
        f"{name!r} " in told
    )
    assert "rows of one person are protected one by one" in told
    assert "column 'pay'" not in told


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("{:.1f}+", "holds numbers beside +"),
        ("'{:.1f}", "holds numbers beside '"),
        ("<{:.1f}", "holds numbers beside <"),
        ("${:.1f}/mo", "holds numbers beside /mo"),
        ("{:.1f}B", "holds numbers beside B"),
        ("{:.0f}'5\"", "holds two numbers in a cell"),
        ("{:.1f} \xb1 0.2", "holds two numbers in a cell"),
        ("{:.1f}\u20139.5", "holds two numbers in a cell"),
    ],
)
def test_amounts_beside_signs_are_told_to_be_read_as_words_and_are_no_persons(rng, form, said):
    often = 10 if "beside" in said else 1
    numbers = rng.integers(0, 1000, 4000) / 10 + 20
    cells = [form.format(each) if k % often == 0 else f"{each:.1f}" for k, each in enumerate(numbers)]
    table = pa.table({"x": cells, "z": numbers, "y": ["a", "b"] * 2000})
    draft = Schema.draft(table, "y")
    (told,) = [each for each in odd_remarks(draft, table) + remarks(draft, table) if "'x'" in each]
    assert said in told
    assert "--unit" not in told


def test_a_table_of_which_nothing_can_be_declared_is_named():
    table = pa.table({"word": [f"w{k}" for k in range(3000)], "y": ["a", "b"] * 1500})
    with pytest.raises(ValueError, match=r"nothing to declare: .* or has very many values: 'word'"):
        Schema.draft(table, "y")


def test_a_limit_beside_numbers_is_told_once(rng):
    numbers = rng.integers(0, 1000, 4000) / 10
    table = pa.table({"x": [f"{each:.1f}" if each < 90 else ">90" for each in numbers], "y": ["a", "b"] * 2000})
    draft = Schema.draft(table, "y")
    (told,) = [each for each in odd_remarks(draft, table) + remarks(draft, table) if "'x'" in each]
    assert "has numbers and >90. Undeclared, such a limit is a value of its own" in told


def test_addresses_of_computers_that_repeat_may_say_whose_a_row_is(rng):
    who = rng.permutation(np.repeat(rng.choice(2**24, 500, replace=False), 4))
    computers = [f"10.{k >> 16}.{k >> 8 & 255}.{k & 255}" for k in who]
    table = pa.table({"from": computers, "z": [1.5, 2.5, 3.5, 4.5] * 500, "y": ["a", "b"] * 1000})
    assert any("--unit 'from'" in each for each in remarks(Schema.draft(table, "y"), table))


@pytest.mark.parametrize("values", ["cents", "thousands", "age", "flag"])
def test_amounts_that_repeat_are_no_persons(rng, values):
    n = 6000
    made = {
        "cents": rng.integers(0, 3000, n),
        "thousands": 1000 * rng.integers(0, 2500, n),
        "age": rng.integers(0, 90, n),
        "flag": rng.integers(0, 2, n),
    }
    table = pa.table({"has_email_address" if values == "flag" else "x": made[values]})
    assert not any("--unit" in each for each in remarks(Schema.draft(table), table))


def codes_of_persons(rng, n=2000):
    """Columns that say whose a row is, by the name of each: a number of a person for each of 700."""
    who = rng.integers(0, 700, n).tolist()
    forms = {
        "MRN": lambda k: f"{k * 7919 % 10**7:07}",
        "NHS number": lambda k: f"{400 + k % 100} {k % 900 + 100} {k * 37 % 9000 + 1000}",
        "e-mail": lambda k: f"u{k}@example.org",
        "phone": lambda k: f"+49 170 {k * 7717 % 10**7:07}",
        "Mobile No.": lambda k: 1_700_000_000 + k * 7717 % 10**7,
        "Kontakt": lambda k: f"0043 664 {k * 7717 % 10**7:07}",
        "plate": lambda k: f"M-AB {k * 13 % 9999}",
        "hash": lambda k: f"{k * 99991 * 2**40 % 2**63:016x}",
        "Name": lambda k: (
            f"{('Anna', 'Ben', 'Cem')[k % 3]} {('Maier', 'Li')[k % 2]}{'abcdefghijklmnopqrstuvwxyz'[k % 26]}{k}"
        ),
        "household": lambda k: k,
        "VIN": lambda k: f"WVWZZZ1JZ{k:08}",
        "dni": lambda k: f"{10_000_000 + k * 7}X",
        "Sozialversicherungsnummer": lambda k: f"{k:04} 010190",
        "PAN": lambda k: f"ABCDE{k * 13 % 9000 + 1000}F",
    }
    return {name: [form(k) for k in who] for name, form in forms.items()}


def test_no_column_of_persons_is_proposed_to_be_ignored_without_a_word(rng):
    columns = codes_of_persons(rng)
    table = pa.table(columns | {"full name": [f"Person {k}" for k in range(2000)], "z": rng.normal(size=2000)})
    draft = Schema.draft(table)
    told = {name: " ".join(each for each in remarks(draft, table) if repr(name) in each) for name in table.column_names}
    assert {name for name, said in told.items() if "Does it say whose a row is?" in said} == {*columns, "full name"}
    assert [name for name in draft.ignore if f"--unit {name!r}" not in told[name]] == []


def test_flags_amounts_and_notes_are_no_persons(rng):
    n = 2000
    table = pa.table(
        {
            "is_patient": rng.integers(0, 2, n),
            "has_email": rng.choice(["yes", "no"], n),
            "customer_type": rng.choice(["A", "B"], n),
            "user_count": rng.integers(0, 60, n),
            "telephone": rng.choice(["yes", "none"], n),
            "postcode": rng.choice([f"{k:05}" for k in range(80331, 80400)], n),
            "comment": [f"hm, {k}, I said" if k < 150 else "" for k in rng.integers(0, 600, n)],
            "balance": rng.normal(0, 999, n).round(2),
        }
    )
    assert [each for each in remarks(Schema.draft(table), table) if "--unit" in each] == []


@pytest.mark.parametrize(
    ("cells", "units"),
    [
        (("67 min", "1.5 hours", "2 hours"), True),
        (("500 mg", "1 g", "0.5 g"), True),
        (("3 months", "2 years", "1 year"), True),
        (("900 m", "1.2 km", "1.4 km"), True),
        (("1 day", "2 days", "3 Days"), False),
        (("5 Tage", "1 Tag", "2 tag"), False),
        (("$1.2M", "$300k", "$5k"), False),
        (("8:30 AM", "1:15 pm", "2 pm"), False),
        (("48.2082 N", "48.1 N", "-1"), False),
    ],
)
def test_a_draft_tells_of_numbers_in_several_units_which_do_not_count(cells, units):
    table = {"x": [*cells, *cells] * 30, "z": range(180)}
    told = [each for each in remarks(Schema.draft(table), table) if "'x'" in each]
    assert ["several units" in each for each in told] == [True] * units


def test_a_draft_tells_of_several_answers_in_a_cell():
    table = {
        "owns": ["car;bike", "car", "bike;boat", "", "car;bike;boat"] * 20,
        "city": ["Ulm, Donau", "Wien", "Graz"] * 33 + ["Linz"],
    }
    (told,) = [each for each in remarks(Schema.draft(table), table) if "several answers" in each]
    assert told.startswith("column 'owns' holds several answers in a cell, such as")
    assert "str.get_dummies(';')" in told


def test_a_draft_tells_of_days_as_spreadsheets_count_them(rng):
    days = rng.integers(43831, 45000, 300)
    table = {"Admission date": days, "income": days, "birthday": days.astype(str), "end": days / 7}
    told = [each for each in remarks(Schema.draft(table), table) if "spreadsheets" in each]
    assert [each.split("'")[1] for each in told] == ["Admission date", "birthday"]
    assert told[0].endswith('declare kind = "date", format = "excel days"')


def test_a_draft_knows_stamps_of_date_and_time_and_tells_of_seconds_since_1970(rng):
    times = np.datetime64("2023-01-01T00:00:00") + rng.integers(0, 10**7, 300).astype("m8[s]")
    stamps = [str(each).translate(str.maketrans("", "", "-:T")) for each in times]
    table = pa.table(
        {
            "at": [*map(int, stamps)],
            "text": stamps,
            "short": [each[:12] for each in stamps],
            "since": times.astype(int),
            "ms": times.astype("M8[ms]").astype(int),
        }
    )
    draft = Schema.draft(table)
    assert [(each.name, each.format, each.low[:4]) for each in draft.columns if each.kind == "date"] == [
        ("at", "%Y%m%d%H%M%S", "2023"),
        ("text", "%Y%m%d%H%M%S", "2023"),
        ("short", "%Y%m%d%H%M", "2023"),
    ]
    told = [each for each in remarks(draft, table) if "since 1970" in each]
    assert [each.rpartition("format = ")[2] for each in told] == ['"seconds"', '"milliseconds"']
    assert (
        HalfspaceClassifier(3, schema=draft.confirm(), random_state=0).fit(table, np.arange(300) % 2).coef_ is not None
    )


def test_a_draft_names_columns_of_one_value_and_a_second_column_of_the_label():
    table = {
        "y": ["a", "b"] * 30,
        "y (2)": ["a", "b"] * 30,
        "always": [2] * 60,
        "none": [""] * 60,
        "x": range(60),
        "y2": [*range(60)],
    }
    told = remarks(Schema.draft(table, "y"), table)
    assert (
        told[0]
        == "column 'y (2)' has the name of the label. If it holds the same, a model only copies it. Leave it out by "
        "--ignore 'y (2)'"
    )
    assert told[1] == "columns with one value or none are left out: 'always', 'none'"
