"""The command line in this process."""

from functools import cache

from typer import testing
from typer.main import get_command

from dpfast import cli

testing._get_command = cache(get_command)  # what is typed is parsed anew, commands and options are built once


def run(arguments, **options):
    """What a command writes, and how it ends."""
    return testing.CliRunner().invoke(cli.app, arguments, **options)
