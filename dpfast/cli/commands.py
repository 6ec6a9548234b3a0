"""The commands of the command line, whose help shows no type beside an option that takes no value."""

import typer
from typer.core import TyperCommand, TyperGroup

from .options import FILES, MORE, RARE

_LATER = MORE, FILES, RARE  # panels


class _Bare:
    """What `Command` and `Group` share."""

    def get_params(self, ctx):
        params = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = " "  # in place of "<bool>"
        return params


class Command(_Bare, TyperCommand):
    """A command, whose help fits on a screen: --help-all also shows how files are read and what is rarely needed."""

    def parse_args(self, ctx, args):
        self._shows_all = "--help-all" in args
        return super().parse_args(ctx, ["--help" if arg == "--help-all" else arg for arg in args])

    def _comes_later(self, param):
        """Return whether only --help-all shows an option."""
        return param.rich_help_panel in _LATER

    def format_help(self, ctx, formatter):
        params, epilog = [param for param in self.params if not param.hidden], self.epilog
        rare = [] if self._shows_all else [each for each in params if self._comes_later(each)]
        more = f"More options: {ctx.command_path} --help-all." if rare else None
        for option in rare:
            option.hidden = True
        self.epilog = " ".join(filter(None, (epilog, more))) or None
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = epilog
            for option in rare:
                option.hidden = False


class Group(_Bare, TyperGroup):
    """A group of commands."""


class App(typer.Typer):
    """A group of such commands, to be filled by functions."""

    def __init__(self, **options):
        super().__init__(cls=Group, **options)

    def command(self, name=None, *, cls=Command, **options):
        return super().command(name, cls=cls, **options)
