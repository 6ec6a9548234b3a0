"""A command declares its options once, as a dataclass."""

from dataclasses import dataclass, field
from typing import Annotated

import typer
from typer.testing import CliRunner

from dpfast.cli.options import spread


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: Annotated[int, typer.Option(help="A size.")] = 3
    word: Annotated[list[str], typer.Option(help="Words.")] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: Annotated[str, typer.Option(help="A name.")]
    inner: Inner


def run(*arguments):
    given = []
    app = typer.Typer()

    @app.command()
    @spread
    def command(file: str, asked: Outer):
        given.append((file, asked))

    return CliRunner().invoke(app, arguments), given


def test_fields_are_options_and_groups_are_nested_objects():
    result, given = run("a", "--name", "b", "--word", "c", "--word", "d")
    assert result.exit_code == 0, result.output
    assert given == [("a", Outer(name="b", inner=Inner(size=3, word=["c", "d"])))]


def test_a_field_without_a_default_is_required():
    result, given = run("a")
    assert result.exit_code == 2
    assert not given
    assert "--name" in result.output


def test_a_list_is_made_anew_for_each_call():
    (_, one), (_, other) = run("a", "--name", "b"), run("a", "--name", "b")
    assert one[0][1].inner.word == other[0][1].inner.word == []
    assert one[0][1].inner.word is not other[0][1].inner.word
