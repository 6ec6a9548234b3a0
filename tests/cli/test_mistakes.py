"""Commands as people mistype them: each ends with one line that says what to do, and shows no cell."""

import json

import pytest

SECRETS = ("Zwölfer", "secretive", "981.25")
ROWS = [
    (20 + k % 50, ("m", "f")[k % 2], SECRETS[0] if k == 7 else "Ulm", ("no", "yes")[k % 50 > 25]) for k in range(300)
]
SCHEMA = """
[label]
name = "buys"
classes = ["no", "yes"]
[[columns]]
name = "age"
kind = "numeric"
low = 0
high = 120
[[columns]]
name = "sex"
kind = "category"
values = ["m", "f"]
[[columns]]
name = "city"
kind = "category"
values = ["Ulm"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, schemas and a model, to be mistaken for one another."""
    folder = tmp_path_factory.mktemp("mistakes")
    table = "age,sex,city,buys\n" + "".join(f"{age},{sex},{city},{buys}\n" for age, sex, city, buys in ROWS)
    files = {
        "t.csv": table,
        "other.csv": "a,b\n1,secretive\n",
        "text.csv": table.replace("\n20,", "\nsecretive,", 1),
        "numbers.csv": "a,b,y\n1,0,u\n0,981.25,v\n",
        "labels.csv": "a,b,y\n" + "1,0,u\n" * 20 + "0,1,secretive\n",
        "later.csv": "Title, of\n\n" + table,
        "longer.csv": table + "The end\n",
        "latin.csv": b"ort,buys\nK\xf6ln secretive,yes\n",
        "empty.csv": "",
        "t.jsonl": "{}\n",
        "s.toml": SCHEMA,
        "kind.toml": SCHEMA.replace('"numeric"', '"numerical"'),
        "broken.toml": "[label\n",
        "newer.json": json.dumps({"format": "dpfast model", "version": 99}),
        "cut.json": '{"format": "dpfast',
    }
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


FIT = ("fit", "t.csv", "--label", "buys", "--epsilon", 1)
MISTAKES = [
    ((*FIT[:3], "bys", *FIT[4:]), "there is no column 'bys' to take labels from (is it 'buys'?)"),
    (("fit", "t.csv", "--epsilon", 1), "say which column holds the labels (--label)"),
    (("fit", "u.csv", *FIT[2:]), "there is no such file"),
    (("fit", "t", *FIT[2:]), "t: there is no such file, and no bundled table"),
    (("fit", "t.jsonl", *FIT[2:]), "pandas.read_json('t.jsonl', lines=True).to_parquet('t.parquet')"),
    (("fit", "t.sav", *FIT[2:]), "pandas.read_spss('t.sav').to_parquet('t.parquet')"),
    (("fit", "t.csv.zip", *FIT[2:]), "expand this one first, or compress it by gzip"),
    (("fit", "t.pdf", *FIT[2:]), "save other tables as CSV or Parquet"),
    (("fit", "empty.csv", *FIT[2:]), "the file is empty; the first row must name the columns"),
    (("fit", "later.csv", *FIT[2:]), "the number of lines before it: --skip-lines"),
    (("fit", "longer.csv", *FIT[2:]), "line 302 has 1 cell, the header row 4. If it is no row of the table, remove it"),
    (("fit", "latin.csv", *FIT[2:]), "give its encoding, such as cp1252 (--encoding)"),
    ((*FIT, "--separator", ";"), "',' may be right"),
    ((*FIT, "--decimal", ","), "separator and decimal mark must differ"),
    ((*FIT, "--encoding", "utf-99"), "unknown encoding: utf-99"),
    ((*FIT[:5], 0), "epsilon must be a finite number > 0"),
    ((*FIT[:5], 1e9), "epsilon too large"),
    ((*FIT, "--delta", 1), "delta must lie in [0, 1)"),
    ((*FIT, "--test-share", 2), "--test-share must be at least 0 and below 1"),
    ((*FIT, "--ignore", "cty"), "there is no column 'cty' (is it 'city'?)"),
    ((*FIT, "--unit", "age"), "--unit and --rows-per-unit go together"),
    ((*FIT, "--unit", "patient", "--rows-per-unit", 1), "there is no column 'patient'"),
    ((*FIT, "--by", "sx"), "(is it 'sex'?)"),
    ((*FIT, "--above", 3), "has a label that is no number, and above= (--above) is for numbers"),
    ((*FIT, "--above", "9,3"), "above must be a number, or increasing numbers"),
    ((*FIT, "--classes", "No,Yes"), "has a label that is not declared; the classes are 'No', 'Yes'"),
    ((*FIT, "--budget", "b"), "dpfast budget b --epsilon EPSILON --delta DELTA makes it"),
    ((*FIT, "--out", "no/m.json"), "it must name a file in a folder that exists"),
    ((*FIT, "--schema", "kind.toml"), "kind must be one of numeric, category"),
    ((*FIT, "--schema", "broken.toml"), "broken.toml"),
    (("fit", "other.csv", "--schema", "s.toml", "--epsilon", 1), "lacks columns that the schema declares: 'age'"),
    (("fit", "text.csv", "--schema", "s.toml", "--epsilon", 1), "column 'age' holds text where a number is declared"),
    (("fit", "numbers.csv", "--label", "y", "--epsilon", 1, "--model", "winnow"), "line 3, column 'b' holds another"),
    (
        ("fit", "labels.csv", "--label", "y", "--epsilon", 1, "--model", "winnow", "--classes", "u,v"),
        "--classes u,v does not",
    ),
    (
        ("predict", "t.csv", "m.json"),
        "m.json is a .json file, as models are, and a table is wanted here; if both are given, the model is first",
    ),
    (("predict", "none.json", "t.csv"), "none.json"),
    (("predict", "newer.json", "t.csv"), "install a newer one"),
    (("score", "cut.json", "t.csv", "--epsilon", 1), "not a whole JSON file (cut short?)"),
    (("report", "t.csv"), "t.csv is not a dpfast model but a table, by its name"),
    (("show", "s.toml"), "s.toml is not a dpfast model but a schema, by its name"),
    (("schema", "draft", "t.csv", "--label", "Buys"), "(is it 'buys'?)"),
    (("schema", "check", "s.toml", "t.csv"), "the name of a schema file must end in .toml or .json"),
    (("budget", "b"), "give epsilon= (--epsilon) to create a budget"),
]


@pytest.mark.parametrize(("command", "said"), MISTAKES, ids=[" ".join(map(str, command)) for command, _ in MISTAKES])
def test_a_mistake_is_answered_by_one_line_that_says_what_to_do_and_shows_no_cell(
    refused, folder, monkeypatch, command, said
):
    monkeypatch.chdir(folder)
    line = refused(*command)
    assert said in line
    assert not [secret for secret in SECRETS if secret in line]
