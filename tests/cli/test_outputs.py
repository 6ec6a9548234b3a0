"""The files of a command: two that are one are refused, and what cannot be written is told."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import command_line
import pytest
import typer

import dpfast
from dpfast import cli
from dpfast.tables.replacing import replace_file

GIVEN = {
    "fit": ["--epsilon", "1"],
    "stream": ["--epsilon", "1", "--classes", "oak,elm"],
    "experts": ["--epsilon", "1"],
    "score": ["--epsilon", "1"],
}
TABLES = ("DATA", "LOSSES")
WRITTEN = {"out", "checkpoint", "budget"}


def files_of(command):
    """The parameters of a command that are files."""
    hints = get_type_hints(command.callback)
    return [each for each in command.params if hints.get(each.name) in (Path, Path | None) or each.metavar in TABLES]


COMMANDS = typer.main.get_command(cli.app).commands
FILES = {name: files_of(command) for name, command in COMMANDS.items() if command.callback is not None}
WRITING = {name: files for name, files in FILES.items() if WRITTEN & {each.name for each in files} and len(files) > 1}
LINKS = itertools.cycle(["the same name", "a symbolic link", "a hard link"])
PAIRS = [
    pytest.param(name, pair, link, id=f"{name} {pair[0].name} {pair[1].name} by {link}")
    for name, files in WRITING.items()
    for pair, link in zip(itertools.combinations(files, 2), LINKS, strict=False)
]


def test_the_commands_that_write_are_known():
    assert set(WRITING) == {"fit", "stream", "predict", "experts", "report", "score", "explain"}


@pytest.mark.parametrize(("name", "pair", "link"), PAIRS)
def test_two_files_of_a_command_that_are_one_are_refused_and_left_alone(refused, name, pair, link, tmp_path):
    one = tmp_path / "one.csv"
    one.write_text("a,b\n1,oak\n0,elm\n")
    other = one if link == "the same name" else tmp_path / "other.csv"
    if link == "a symbolic link":
        other.symlink_to(one)
    elif link == "a hard link":
        other.hardlink_to(one)
    paths = dict(zip((each.name for each in pair), (one, other), strict=True))
    arguments, options = [], []
    for each in WRITING[name]:
        path = paths.get(each.name)
        if each.param_type_name == "argument":
            arguments.append(path or tmp_path / f"{each.name}.csv")
        elif path is not None:
            options += [each.opts[0], path]
    assert "are the same file" in refused(name, *arguments, *GIVEN.get(name, ()), *options)
    assert one.read_text() == "a,b\n1,oak\n0,elm\n"
    assert {entry.name for entry in tmp_path.iterdir()} == {one.name, other.name}


def test_a_file_that_is_to_be_made_twice_is_refused_and_so_is_one_of_a_folder_of_tables(refused, tmp_path, trees):
    new = tmp_path / "new"
    stream = ["stream", trees, "--epsilon", 1, "--classes", "oak,elm", "--label", "tree"]
    assert "--checkpoint and --out are the same file" in refused(*stream, "--checkpoint", new, "--out", new)
    beside = tmp_path / "new.lock"
    assert "--checkpoint and --out are the same file" in refused(*stream, "--checkpoint", new, "--out", beside)
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "part.parquet").write_bytes(b"rows")
    told = refused("fit", folder, "--model", "boost", "--epsilon", 1, "--out", folder / "part.parquet")
    assert "DATA and --out are the same file" in told
    assert (folder / "part.parquet").read_bytes() == b"rows"


def test_devices_and_pipes_are_no_files_to_write(refused, trees, tmp_path, model):
    os.mkfifo(tmp_path / "pipe")
    for out in (tmp_path / "pipe", "/dev/null"):
        for command in (
            ["fit", trees, "--epsilon", 1, "--label", "tree"],
            ["predict", model, trees],
            ["report", model],
        ):
            assert "is a device or a pipe" in refused(*command, "--out", out)
        with pytest.raises(OSError, match="no regular file") as raised:
            dpfast.load(model).save(out)
        assert raised.value.filename == str(out)
    assert (tmp_path / "pipe").is_fifo()


def test_names_as_long_as_a_file_system_takes_are_written_and_longer_ones_refused(run, refused, trees, tmp_path):
    fit = ["fit", trees, "--epsilon", 1, "--model", "decision-list", "--label", "tree"]
    for size in (200, 201, 234, 255):
        out = tmp_path / ("n" * size)
        assert run(*fit, "--out", out).exit_code == 0
        assert dpfast.load(out).rules_
    long = tmp_path / ("n" * 256)
    assert "File name too long" in refused(*fit, "--out", long)
    assert not list(tmp_path.glob("*.part"))
    stream = dpfast.DPWinnowClassifier(checkpoint=tmp_path / ("c" * 250), n_updates=2)
    assert stream.stream([[0, 1], [1, 0]], [0, 1], classes=[0, 1]).shape == (2,)


def test_an_error_of_a_full_disk_names_the_file(tmp_path):
    def full(file):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*model\.json'"):
        replace_file(tmp_path / "model.json", full)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_a_fit_whose_output_goes_nowhere_keeps_its_model_and_says_so_without_a_traceback(trees):
    fit = ["fit", trees, "--epsilon", "1", "--model", "decision-list", "--label", "tree"]
    nobody, pipe = os.pipe()
    os.close(nobody)
    for out in (os.open("/dev/full", os.O_WRONLY), pipe):
        child, stdin, stdout, stderr = command_line.forked(fit, stdout=out)
        os.close(out)
        with stdin, stdout, stderr:
            said = stderr.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) > 0
        assert "Traceback" not in said
        (path,) = re.findall("the model is released and its budget spent; the model is in (.*)\n$", said)
        assert dpfast.load(path).rules_
        os.remove(path)
        os.rmdir(os.path.dirname(path))


def shell(line, *arguments):
    command = [sys.executable, "-c", "from dpfast.cli import app; app()", *map(str, arguments)]
    return subprocess.run(["sh", "-c", line, "sh", *command], capture_output=True, text=True)


def test_a_prediction_that_no_output_takes_is_refused(trees, model):
    said = shell('"$@" >&-', "predict", model, trees).stderr
    assert said == "error: standard output is closed: what this command writes would be lost\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
def test_help_that_a_full_disk_does_not_take_is_told_without_a_traceback():
    done = shell('"$@" >/dev/full', "--help")
    assert (done.returncode, done.stderr) == (2, "error: No space left on device\n")
