"""The commands of the command line, whose help shows no type beside an option that takes no value."""

import typer
from typer.core import TyperCommand, TyperGroup


class _Bare:
    """What `Command` and `Group` share."""

    def get_params(self, ctx):
        params = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = " "  # in place of "<bool>"
        return params


class Command(_Bare, TyperCommand):
    """A command."""


class Group(_Bare, TyperGroup):
    """A group of commands."""


class App(typer.Typer):
    """A group of such commands, to be filled by functions."""

    def __init__(self, **options):
        super().__init__(cls=Group, **options)

    def command(self, name=None, *, cls=Command, **options):
        return super().command(name, cls=cls, **options)
