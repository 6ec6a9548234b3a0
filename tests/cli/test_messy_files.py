"""Messy files, each taken from draft to page as a newcomer would, undeclared and by the draft."""

import json
import re

import messy_files
import numpy as np
import pytest

import dpfast

N = 1000
FIT = ("--epsilon", 12, "--seed", 1, "--rounds", 5, "--test-share", 0)
EARLIER = "If the header is a later line, give the number of lines before it: --skip-lines"


def _case(make, *options, ending="csv", refuses="", lines=0, says=(), cure=None, **kinds):
    return make, options, ending, refuses, lines, says, cure, kinds


CASES = [
    _case(
        messy_files.accounts,
        *("--encoding", "utf-16", "--separator", "tab", "--decimal", ","),
        ending="txt",
        says=("'Menge' holds numbers beside ST, of which 100%",),
        numbers=("Betrag", "Uhrzeit"),
        dates=("Datum", "Fällig"),
        words=("Währg", "Währg (2)"),
    ),
    _case(
        messy_files.bank,
        *("--encoding", "latin-1", "--separator", ";", "--decimal", ","),
        refuses="line 4 has 7 cells, the header row 2. " + EARLIER,
        lines=3,
        numbers=("Betrag", "Saldo"),
        dates=("Buchungstag",),
        words=("Empfänger",),
    ),
    _case(
        messy_files.logger,
        ending="dat",
        refuses="line 2 has 6 cells, the header row 5. " + EARLIER,
        lines=1,
        says=("the first 2 rows have texts where most rows have numbers, such as 'RN'",),
        numbers=("AirTC_Avg", "RH", "BP_mbar"),
        dates=("TIMESTAMP",),
    ),
    _case(
        messy_files.panel,
        says=(
            "'income' holds numbers of which 100% of the values are read as words, such as",
            "write them without separators of thousands and without units first",
            "add --missing '.' --missing '.a' --missing '.d' here",
        ),
        cure=lambda text: re.sub('"([0-9]+),([0-9]+)"', r"\1\2", text),
        persons=("hhid",),
        numbers=("age", "share"),
        dates=("intdate", "intmonth"),
        words=("region",),
    ),
    _case(
        messy_files.hospital,
        *("--encoding", "latin-1"),
        says=(
            "'CRP' has numbers and <5. Undeclared, such a limit is a value of its own",
            "'BP' holds two numbers in a cell, such as",
            "'Admitted' holds dates of which 100% of the values are read as words",
            "give --dates dmy",
            "add --missing 'N/K' --missing 'not done' here",
        ),
        persons=("NHS Number",),
        numbers=("Age", "LOS", "Weight", "Temp", "CRP"),
        words=("Ward",),
    ),
    _case(
        messy_files.meter,
        refuses="line 5 has 8 cells, the header row 2. " + EARLIER,
        lines=4,
        numbers=("START TIME", "USAGE", "COST", "NET"),
        words=("TYPE",),
        neither=("NOTES",),
    ),
    _case(
        messy_files.survey,
        says=("the first 2 rows have texts where most rows have numbers, such as 'Duration (in seconds)'",),
        persons=("ResponseId",),
        numbers=("Duration", "Latitude", "Q1"),
        dates=("StartDate",),
        words=("Q2", "Q3", "Q3 (2)"),
    ),
    _case(
        messy_files.race,
        *("--separator", ";"),
        says=(
            "'Gun time' holds both 59:30 and 1:02:03",
            "'Points' holds numbers of which",
            "'Pos' has numbers and DNF: if that means missing, add --missing 'DNF' here",
        ),
        persons=("Bib", "Name"),
        numbers=("Gun time", "Pace", "Grade"),
    ),
    _case(
        messy_files.flats,
        *("--decimal", ","),
        says=("'Baujahr' has numbers and #DIV/0!, k.A.: if that means missing",),
        persons=("ObjektNr",),
        numbers=("Preis", "Fläche", "Zimmer", "Breite", "Länge", "Rendite", "Ergebnis"),
    ),
    _case(
        messy_files.lab,
        ending="tsv",
        refuses=EARLIER,
        lines=1,
        says=("'Result' has numbers and <0.5. Undeclared, such a limit",),
        persons=("Sample",),
        numbers=("Result", "Glucose", "Count", "Delta"),
        dates=("Collected",),
        words=("Result (2)", "Titre"),
    ),
    _case(
        messy_files.orders,
        says=("'Billing Zip' holds numbers beside ', of which 100%",),
        persons=("Name", "Email", "Phone"),
        numbers=("Total", "Discount Amount", "Tip"),
        dates=("Paid at",),
        words=("Lineitem name",),
    ),
    _case(
        messy_files.form,
        refuses=EARLIER,
        lines=2,
        says=(
            "'Which do you own?' holds several answers in a cell, such as 'Laptop;Tablet'",
            "'Time on the way' holds numbers in several units, such as",
        ),
        numbers=("How old are you?", "Income", "Time on the way"),
        dates=("Timestamp", "Since"),
        words=("Which do you own?",),
    ),
    _case(
        messy_files.shop,
        *("--separator", ";", "--decimal", ",", "--dates", "dmy"),
        says=("column 'Code postal' has numbers with leading zeros",),
        persons=("Téléphone",),
        numbers=("Prix TTC", "Code postal", "Remise"),
        dates=("Date d'achat",),
        words=("Abonné",),
    ),
    _case(
        messy_files.geography,
        *("--separator", ";", "--decimal", ","),
        says=("'Date' has numbers that would be 2020-01-0", "as spreadsheets count days"),
        numbers=("Lat", "Delta", "Net", "Growth", "Sci", "Date"),
        words=("Version",),
        neither=("Empty", "Gap"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0].__name__ for case in CASES])
def test_a_messy_file_is_drafted_fitted_predicted_scored_and_shown(case, run, refused, tmp_path):
    make, options, ending, refuses, lines, says, cure, kinds = case
    data, label = make(N, np.random.default_rng(7))
    path, schema, model = tmp_path / f"t.{ending}", tmp_path / "t.toml", tmp_path / "m.json"
    path.write_bytes(data)
    if refuses:
        assert refuses in refused("schema", "draft", path, "--label", label, *options)
        refused("fit", path, "--label", label, *FIT, *options)
        options += ("--skip-lines", lines)
    draft = run("schema", "draft", path, "--label", label, *options)
    assert draft.exit_code == 0, draft.stderr
    assert [text for text in says if text not in draft.stderr] == []
    asked = [line for line in draft.stderr.splitlines() if "Does it say whose a row is" in line]
    assert {line.split("'")[1] for line in asked} == {*kinds.get("persons", ())}
    if cure is not None:
        path.write_text(cure(path.read_text()))
        draft = run("schema", "draft", path, "--label", label, *options)
    schema.write_text(draft.stdout.replace(".unconfirmed", ""))
    for given in (("--label", label), ("--schema", schema)):
        fit = run("fit", path, *given, *FIT, *options, "--out", model)
        assert fit.exit_code == 0, fit.stderr
        found = dpfast.load(model)
        if "--label" in given:
            columns = {column.name: column for column in found.encoder_.schema_.columns}
            read = {name: (columns[name].numbers is not None, columns[name].dates is not None) for name in columns}
            assert [name for name in kinds.get("numbers", ()) if read[name] != (True, False)] == []
            assert [name for name in kinds.get("dates", ()) if read[name] != (False, True)] == []
            assert [name for name in kinds.get("words", ()) if not columns[name].values] == []
            assert [name for name in kinds.get("neither", ()) if read[name] != (False, False)] == []
        score = json.loads(run("score", model, path, "--epsilon", 50, "--json").stdout)
        assert score["figures"]["accuracy"]["value"] > 0.85, given
    assert run("predict", model, path).stdout.count("\n") >= N
    assert run("report", model, "--out", tmp_path / "m.html").exit_code == 0
