import os
import shutil
import subprocess
import sys
from pathlib import Path

import command_line
import pytest

import dpfast
from dpfast.cli import doctor
from dpfast.cli.commands import _LATER
from dpfast.kernels import cpu

FIT = ["--model", "decision-list", "--epsilon", "1"]


def test_the_version_is_shown(run):
    assert run("--version").stdout == f"dpfast {dpfast.__version__}\n"


def test_help_names_the_commands_and_an_unknown_model_is_refused(run):
    assert all(command in run("--help").stdout for command in ("fit", "predict", "stream", "plan"))
    result = run("fit", "mushroom", "--model", "oracle", "--epsilon", 1)
    assert result.exit_code == 2
    assert "decision-list" in result.stderr


@pytest.mark.parametrize("command", ["", "fit", "predict", "score", "stream", "budget", "plan boost", "schema draft"])
def test_an_option_without_a_value_has_no_type_in_the_help(run, command):
    shown = run(*command.split(), "--help").stdout
    assert "--help" in shown
    assert "bool" not in shown


def test_the_installed_command_runs_in_a_narrow_pipe(tmp_path):
    command = Path(sys.executable).with_name("dpfast")
    command = str(command) if command.exists() else shutil.which("dpfast")
    result = subprocess.run(
        [command, "fit", "mushroom", *FIT, "--seed", "3", "--out", "m.json"],
        cwd=tmp_path,
        env={"COLUMNS": "40", "PATH": "", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stderr == ""
    assert max(map(len, result.stdout.splitlines())) <= 40
    assert "\x1b" not in result.stdout
    assert "…" not in result.stdout
    assert dpfast.load(tmp_path / "m.json").privacy_.reproducible


def test_the_help_of_a_model_shows_what_applies_to_it_only(run):
    boost, net, shared = (run("fit", *model, "--help").stdout for model in (["--model", "boost"], ["--model=net"], []))
    assert "--density" in boost
    assert "Options of boost" in boost
    for option in ("--max-rules", "--updates", "--margin", "--negations"):
        assert option not in boost
    assert "--max-seconds" in net
    assert "--delta" not in net
    assert "--density" not in shared
    assert "--delta" in shared
    assert "NAME is decision-list, winnow" in shared


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (["fit", "--model", "b"], ["boost"]),
        (["fit", "--model", "boost", "--wea"], ["--weak-learner"]),
        (["fit", "--model", "boost", "--max"], []),
        (["d"], ["doctor"]),
    ],
)
def test_a_shell_completes_commands_models_and_options(typed, completed):
    words = {"COMP_WORDS": " ".join(["dpfast", *typed]), "COMP_CWORD": str(len(typed))}
    result = command_line.run([], prog_name="dpfast", env={"_DPFAST_COMPLETE": "complete_bash", **words})
    assert result.stdout.split() == completed


def test_the_doctor_says_what_is_here_and_that_the_kernels_agree(run, monkeypatch):
    result = run("doctor")
    assert result.exit_code == 0
    for said in (dpfast.__version__, cpu.best(), "keyed from the operating system", "numpy", "polars", "is learned at"):
        assert said in result.stdout
    monkeypatch.setattr(doctor, "_models_of_levels", lambda: {"scalar": "a", "avx2": "b"})
    result = run("doctor")
    assert result.exit_code == 2
    assert "do not learn the same list" in result.stderr


SLOW = {"sklearn", "pandas", "scipy.stats", "scipy.signal", "matplotlib"}  # to import: a second and more
AT_ONCE = ["--help", "fit --help", "fit --model net --help", "fit mushroom", "fit mushroom --epsilon 1 --model oracle"]
REFUSED = [
    "fit none.csv --epsilon 1 --model boost",
    "fit none --epsilon 1 --model boost",
    "fit mushroom --epsilon -1 --model boost",
    "fit mushroom --epsilon 1 --delta 2 --model boost",
    "fit mushroom --epsilon 1 --model boost --updates 3",
    "fit mushroom --epsilon 1 --model boost --rounds x",
    "fit adult --epsilon 1 --schema bad.toml",
    "fit adult --epsilon 1 --schema none.toml",
    "fit table.csv --epsilon 1 --model boost",
    "fit table.csv --epsilon 1 --model boost --label c",
    "predict none.json table.csv",
    "predict bad.toml table.csv",
    "predict none.json none.csv",
    "report none.json",
    "schema check adult bad.toml",
    "schema draft none.csv",
    "stream none.csv --epsilon 1 --classes a,b",
    "audit --epsilon -1",
]


WATCH = """
import sys
from dpfast.cli import app
for command, absent in {watched!r}:
    print(">", command, file=sys.stderr, flush=True)
    try:
        app(command.split())
    except SystemExit:
        pass
    assert not absent & {{*sys.modules}}, command
"""


def test_help_and_refusals_import_nothing_slow(tmp_path):
    (tmp_path / "bad.toml").write_text("[columns.age]\n")
    (tmp_path / "table.csv").write_text("a,b\n1,0\n")
    watched = [*((command, {*SLOW, "numpy"}) for command in AT_ONCE), *((command, SLOW) for command in REFUSED)]
    told = subprocess.run(
        [sys.executable, "-c", WATCH.format(watched=watched)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(dpfast.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    lines = told.stderr.splitlines()
    lines = lines[lines.index(f"> {REFUSED[0]}") :]
    assert lines[::2] == [f"> {command}" for command in REFUSED]
    assert all(line.startswith("error: ") for line in lines[1::2])


@pytest.mark.parametrize(
    "command",
    [
        *["", "fit", "predict", "score", "explain", "report", "show", "stream", "budget", "audit", "doctor", "experts"],
        *["plan", "plan decision-list", "plan boost", "schema draft", "fit --model boost", "fit --model decision-list"],
    ],
)
def test_the_help_of_a_command_fits_on_a_screen_and_a_longer_one_has_the_rest(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(*command.split(), "--help")
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) <= 60
    if "--help-all" in shown.stdout:
        every = run(*command.split(), "--help-all").stdout
        assert any(panel in every for panel in _LATER) or "Privacy" in every
        assert not any(panel in shown.stdout.replace("More options: ", "") for panel in _LATER)
        assert "--help-all" not in every
