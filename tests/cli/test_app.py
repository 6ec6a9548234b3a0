import shutil
import subprocess
import sys
from pathlib import Path

import dpfast

FIT = ["--model", "decision-list", "--epsilon", "1"]


def test_the_version_is_shown(run):
    assert run("--version").stdout == f"dpfast {dpfast.__version__}\n"


def test_help_names_the_commands_and_an_unknown_model_is_refused(run):
    assert all(command in run("--help").stdout for command in ("fit", "predict", "stream", "plan"))
    result = run("fit", "mushroom", "--model", "oracle", "--epsilon", 1)
    assert result.exit_code == 2
    assert "decision-list" in result.stderr


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
