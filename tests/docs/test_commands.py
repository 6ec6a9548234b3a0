"""Every command of README.md and of the documentation runs as printed, on small tables of the names that it says."""

import re
import shlex
from pathlib import Path

import command_line
import numpy as np
import pandas as pd
import pytest

from dpfast.accounting import Budget

HERE = Path(__file__).parents[2]
PAGES = [HERE / "README.md", *sorted((HERE / "docs").rglob("*.md"))]
WHOLE = re.compile(
    r" --epsilon |^dpfast (schema|plan) .*\d|^dpfast schema (draft|check) \S"
)  # a command in a sentence, and not part of one
ELSEWHERE = {
    "dpfast fit adult --epsilon 1",  # the gate runs it as the README's first command
    "dpfast audit --model NAME --epsilon EPSILON --runs RUNS --seed 1",  # names stand for what a reader puts there
}


def commands(page):
    """The commands of a page, in order: lines of its shell blocks, and whole commands in its sentences."""
    text = page.read_text(encoding="utf-8")
    for block, inline in re.findall(r"```sh\n(.*?)```|`(dpfast [^`]+)`", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines() or [" ".join(inline.split())]:
            for part in line.split(" && "):
                command = re.sub(r"\s+#.*", "", part).strip()
                if command.startswith("dpfast ") and (block or WHOLE.search(command)) and command not in ELSEWHERE:
                    yield command


FOUND = {page.relative_to(HERE).as_posix(): found for page in PAGES if (found := list(commands(page)))}


@pytest.fixture
def tables(tmp_path, monkeypatch, rng):
    """A folder with all files that commands name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    n = 600  # enough for labels to be discovered, also where half of the rows are left out
    buys = rng.integers(0, 2, n)
    people = pd.DataFrame(
        {"age": rng.integers(18, 90, n), "town": rng.choice(["Graz", "Wien"], n), "buys": np.where(buys, "yes", "no")}
    )
    for name in ("people", "others"):
        people.to_csv(f"{name}.csv", index=False)
    for name in ("table", "new", "later"):
        people.assign(patient=np.arange(n) // 2).to_csv(f"{name}.csv", index=False)
    outcome = np.where(rng.random(n) < 0.02, "died", np.where(people.age > 60, "rehab", "home"))
    people.drop(columns="buys").assign(patient=np.arange(n) // 2, outcome=outcome).to_csv("ward.csv", index=False)
    people.assign(patient_id=np.arange(n) // 2).to_csv("visits.csv", index=False)
    Path("people").mkdir()
    people.to_parquet("people/one.parquet")
    numbers = pd.DataFrame(rng.uniform(-1, 1, (n, 3)), columns=["a", "b", "c"])
    bits = pd.DataFrame(rng.integers(0, 2, (n, 3)), columns=["a", "b", "c"])
    bits.assign(y=np.where(buys, "yes", "no")).to_csv("rows.csv", index=False)
    pd.DataFrame(rng.random((20, 5))).to_csv("losses.csv", index=False)
    np.savez("words.npz", X=rng.integers(0, 2, (n, 8)).astype(bool), y=buys)
    columns = '[[columns]]\nname = "age"\nkind = "numeric"\nlow = 0\nhigh = 100\n\n[[columns]]\nname = "town"\n'
    declared = (
        f'[label]\nname = "buys"\nclasses = ["no", "yes"]\n\n{columns}kind = "category"\nvalues = ["Graz", "Wien"]\n'
    )
    for name in ("people", "buys", "visits"):
        Path(f"{name}.toml").write_text(declared)
    entries = "".join(f'[[columns]]\nname = "{x}"\nkind = "numeric"\nlow = -1\nhigh = 1\n\n' for x in "abc")
    Path("rows.toml").write_text(f'[label]\nname = "y"\nclasses = ["no", "yes"]\n\n{entries}')
    Budget.open("persons.budget", 3, 1e-5, unit="person")
    return numbers.assign(outcome=np.where(buys, "yes", "no"))


@pytest.mark.parametrize("page", FOUND)
@pytest.mark.filterwarnings("ignore:the table has too few rows to discover labels")
def test_the_commands_of_a_page_run_as_printed(page, tables):
    if page == "docs/winnow.md":
        tables.to_csv("people.csv", index=False)
    for command in dict.fromkeys(FOUND[page]):
        if "--scheduler" in command:
            continue  # tests/parts/test_dask.py runs it on a cluster
        line, _, into = command.partition(" > ")
        result = command_line.run(shlex.split(line)[1:])
        assert result.exit_code == 0, f"{command}: {result.stderr}"
        if into:
            Path(into.strip()).write_text(confirmed(result.stdout))


def test_four_commands_lead_to_a_page_with_groups_card_and_budget(tables):
    """Of a table of persons with three classes, of which one is rare: each command as the page prints it."""
    found = FOUND["docs/model_page.md"]
    start = found.index("dpfast report --about-template --out about.toml") - 1
    for command in found[start : start + 4]:
        assert command_line.run(shlex.split(command)[1:]).exit_code == 0, command
    page = Path("model.html").read_text(encoding="utf-8")
    for told in ("died, home or rehab", "Protects persons", "<h3>By town</h3>", "1 charge had been made", "Nobody has"):
        assert told in page
    assert command_line.run(["report", "model.json", "--card"]).exit_code == 0
    assert Path("README.md").read_text(encoding="utf-8").startswith("---")


def confirmed(draft):
    """A draft of a schema as its owner leaves it: nothing of it is unconfirmed."""
    return draft.replace(".unconfirmed", "")
