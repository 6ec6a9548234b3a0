"""The help and the completion of `fit`: of one model if it is named, else what all models share."""

from itertools import pairwise

from typer.core import TyperCommand

from .models import MODELS


class ModelCommand(TyperCommand):
    """A command with a --model, which shows and completes the options of that model and of no other."""

    def parse_args(self, ctx, args):
        named = [value for option, value in pairwise(args) if option == "--model"]
        named += [arg.removeprefix("--model=") for arg in args if arg.startswith("--model=")]
        self._show(next((name for name in named if name in MODELS), None))
        return super().parse_args(ctx, args)

    def _show(self, model):
        own = {name for entry in MODELS.values() for name in entry.options}
        applies, lacking = (MODELS[model].options, MODELS[model].lacks) if model else ({}, ())
        for option in self.params:
            option.hidden = option.name in lacking or (option.name in own and option.name not in applies)
            if option.name in own:
                option.rich_help_panel = f"Options of {model}"
        names = ", ".join(MODELS)
        others = f"A model has options of its own: dpfast fit --model NAME --help. NAME is {names}."
        self.epilog = None if model else others
