"""The models that `fit` learns. To add one: its own options as a function, and its entry in MODELS.

The arguments of the function are the options, and what it returns are the estimator's own parameters. What
`fit` asks for every model (epsilon, delta, ...) is passed on if the estimator has a parameter of that name.

The help and the completion of `fit` are those of one model if it is named, and otherwise those of all models.
"""

import inspect
import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from itertools import pairwise
from typing import Annotated, NamedTuple

import typer
from typer.core import TyperCommand

from .printers import show_average, show_feature, show_halfspace, show_rules, show_scores, show_weights


class Model(NamedTuple):
    """A kind of model."""

    estimator: str  # the name of its class in dpfast
    parameters: Callable  # from its own options to the estimator's parameters
    show: Callable  # as in printers
    values: Callable = lambda own: "bits"  # from its own options to what it reads, as in dpfast.files.readers
    may_stay: bool = False  # whether it reads tables that stay on disk
    lacks: tuple[str, ...] = ()  # of the options that all models share, those it has no parameter for

    @property
    def options(self):
        return inspect.signature(self.parameters).parameters


class Accounting(StrEnum):
    curve = "curve"
    paper = "paper"


class WeakLearner(StrEnum):
    centering = "centering"
    stump = "stump"


_COUNTED = ("winnow", "boost", "projected", "net", "finite-class", "linear-learner")


def _of(*models):
    """Return an option of these models only; the help shows it under their names."""
    return partial(typer.Option, rich_help_panel=f"Options of {' and '.join(models)}")


Weight = Annotated[
    str,
    _of("decision-list")(
        help="0 to 1: a larger weight makes shorter lists, 0 is the paper's score; auto raises it from rule to rule.",
        metavar="auto|X",
    ),
]
Updates = Annotated[str, _of("winnow")(help="Number of releases of new weights.", metavar="auto|N")]
Draws = Annotated[int, _of("winnow")(help="Number of features drawn for each release.")]
Range = Annotated[
    str | None,
    _of("winnow")(metavar="LOW,HIGH", help="Features are numbers in this declared range; by default they are bits."),
]
Clip = Annotated[
    bool, _of("winnow")("--clip", help="Move numbers outside the range to its ends instead of refusing them.")
]
Rounds = Annotated[str, _of("halfspace", "boost", "projected")(help="Number of rounds of learning.", metavar="auto|N")]
Interactions = Annotated[
    str, _of("halfspace")(help="Largest number of pairs of columns to learn from together.", metavar="auto|N")
]
Margin = Annotated[
    str,
    _of("projected", "net")(
        help="Smallest cosine that rows are assumed to have with the best halfspace; auto is 0.1 for net.",
        metavar="auto|X",
    ),
]
Components = Annotated[
    str,
    _of("projected", "net")(help="Number of columns that rows are projected to; auto is 4 for net.", metavar="auto|N"),
]
Intercept = Annotated[
    bool, _of("halfspace", "boost", "projected", "net", "linear-learner")(help="Add a constant feature.")
]

Share = Annotated[
    float,
    _of(*_COUNTED)("--probability-share", help="Share of epsilon to spend on probabilities; with 0 there are none."),
]


def _decision_list(
    *,
    coverage_weight: Weight = "auto",
    max_rules: Annotated[
        str, _of("decision-list")(help="Largest number of rules, or none for no limit.", metavar="N|none")
    ] = "10",
    conjunctions: Annotated[
        int, _of("decision-list")(help="Largest number of conditions in a rule, joined by and.")
    ] = 1,
    rule_counts: Annotated[
        float,
        _of("decision-list")(
            help="Share of epsilon to spend on counts of the rows of each rule; with 0 there are none."
        ),
    ] = 0.05,
    accounting: Annotated[
        Accounting, _of("decision-list")(help="Privacy accounting: the tight curve, or the paper's constants.")
    ] = (Accounting.curve),
):
    return {
        "coverage_weight": _read("--coverage-weight", coverage_weight, "a number", float, auto="auto"),
        "max_rules": _read("--max-rules", max_rules, "an integer of at least 1", int, none=None),
        "conjunctions": conjunctions,
        "rule_counts": rule_counts,
        "accounting": accounting.value,
    }


def winnow_parameters(*, updates: Updates = "auto", draws: Draws = 5, feature_range: Range = None, clip: Clip = False):
    if clip and feature_range is None:
        raise ValueError("--clip needs a --feature-range")
    return {
        "n_updates": _read("--updates", updates, "an integer of at least 1", int, auto="auto"),
        "n_draws": draws,
        "feature_range": [-1, 1] if feature_range is None else _ends(feature_range),
        "out_of_range": "clip" if clip else "error",
    }


def _winnow(
    *,
    updates: Updates = "auto",
    draws: Draws = 5,
    feature_range: Range = None,
    clip: Clip = False,
    probability_share: Share = 0.0,
):
    own = winnow_parameters(updates=updates, draws=draws, feature_range=feature_range, clip=clip)
    return own | {"probability_share": probability_share}


def winnow_values(own):
    return "bits" if own["feature_range"] is None else "numbers"


def _ends(text):
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"--feature-range must be two numbers, the lower first, as in -1,1; got {text!r}")
    return [low, high]


def _boost(
    *,
    density: Annotated[
        str, _of("boost")(help="Smallest share of the rows that a round looks at.", metavar="auto|X")
    ] = "auto",
    rounds: Rounds = "auto",
    learning_rate: Annotated[
        str, _of("boost")(help="Rate at which the weights of rows fall.", metavar="auto|X")
    ] = "auto",
    weak_learner: Annotated[WeakLearner, _of("boost")(help="What a round learns: a noisy mean, or one feature.")] = (
        WeakLearner.centering
    ),
    intercept: Intercept = True,
    probability_share: Share = 0.0,
):
    return {
        "density": _read("--density", density, "a number", float, auto="auto"),
        "n_rounds": _read("--rounds", rounds, "an integer", int, auto="auto"),
        "learning_rate": _read("--learning-rate", learning_rate, "a number", float, auto="auto"),
        "weak_learner": weak_learner.value,
        "fit_intercept": intercept,
        "probability_share": probability_share,
    }


def _boost_values(own):
    return "bits" if own["weak_learner"] is WeakLearner.stump else "either"


def _projected(
    *,
    margin: Margin = "auto",
    components: Components = "auto",
    rounds: Rounds = "auto",
    intercept: Intercept = True,
    probability_share: Share = 0.0,
):
    return {
        "margin": _read("--margin", margin, "a number", float, auto="auto"),
        "n_components": _read("--components", components, "an integer", int, auto="auto"),
        "n_rounds": _read("--rounds", rounds, "an integer", int, auto="auto"),
        "fit_intercept": intercept,
        "probability_share": probability_share,
    }


def _halfspace(*, rounds: Rounds = "auto", intercept: Intercept = True, interactions: Interactions = "0"):
    return {
        "n_rounds": _read("--rounds", rounds, "an integer", int, auto="auto"),
        "fit_intercept": intercept,
        "interactions": _read("--interactions", interactions, "an integer", int, auto="auto"),
    }


def _net(
    *,
    margin: Margin = "auto",
    components: Components = "auto",
    projections: Annotated[int, _of("net")(help="Number of independent projections, each with its own net.")] = 1,
    net_radius: Annotated[
        str,
        _of("net")(
            help="Largest distance of a unit vector from the net; auto is a tenth of the margin.", metavar="auto|X"
        ),
    ] = "auto",
    max_seconds: Annotated[float, _of("net")(help="Refuse a net that would take longer.")] = 60.0,
    intercept: Intercept = True,
    probability_share: Share = 0.0,
):
    return {
        "margin": _read("--margin", margin, "a number", float, auto=0.1),
        "n_components": _read("--components", components, "an integer", int, auto=4),
        "n_projections": projections,
        "net_radius": _read("--net-radius", net_radius, "a number", float, auto="auto"),
        "max_seconds": max_seconds,
        "fit_intercept": intercept,
        "probability_share": probability_share,
    }


def _either(own):
    return "either"


def _finite_class(*, probability_share: Share = 0.0):
    return {"hypotheses": "features", "probability_share": probability_share}


def _linear_learner(*, intercept: Intercept = True, probability_share: Share = 0.0):
    return {"fit_intercept": intercept, "out_of_range": "error", "probability_share": probability_share}


def _read(option, text, wanted, kind, **words):
    """A number, or what one of the words stands for."""
    if text in words:
        return words[text]
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{option} must be {wanted} or {' or '.join(words)}, got {text!r}") from None


_NO_SIGNS = ("negations",)
MODELS = {
    "decision-list": Model("DecisionListClassifier", _decision_list, show_rules),
    "winnow": Model("DPWinnowClassifier", _winnow, show_weights, winnow_values),
    "halfspace": Model("HalfspaceClassifier", _halfspace, show_scores, _either, True, _NO_SIGNS),
    "boost": Model("BoostedHalfspaceClassifier", _boost, show_halfspace, _boost_values, True, _NO_SIGNS),
    "projected": Model("ProjectedHalfspaceClassifier", _projected, show_halfspace, _either, True, _NO_SIGNS),
    "net": Model("NetHalfspaceClassifier", _net, show_halfspace, _either, lacks=("delta", *_NO_SIGNS)),
    "finite-class": Model("FiniteClassLearner", _finite_class, show_feature, lacks=("delta", *_NO_SIGNS)),
    "linear-learner": Model("LinearLearner", _linear_learner, show_average, _either),
}
Name = StrEnum("Name", {name.replace("-", "_"): name for name in MODELS})  # type: ignore[misc]  # of a table


def with_options_of_models(command):
    """Return the command for typer, with the options of all models instead of its ``**own``."""
    signature = inspect.signature(command)
    shared = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    own = {name: option for model in MODELS.values() for name, option in model.options.items()}
    command.__signature__ = signature.replace(parameters=[*shared, *own.values()])
    return command


def parameters_of(model, context, asked, own):
    """The parameters of a model's estimator, from what `fit` asks for every model and the own options of all.

    An option that was given and is another model's is refused. So is one that the estimator has no parameter for,
    unless it is one that reading the table makes use of. The estimator, slow to import, is not.
    """
    entry = MODELS[model]
    given = [each for each in context.command.params if context.get_parameter_source(each.name).name != "DEFAULT"]
    for option in given:
        owners = [name for name, each in MODELS.items() if option.name in each.options]
        if owners and model not in owners:
            raise ValueError(f"{option.opts[0]} is for --model {' or '.join(owners)}, not for {model}")
        if option.name in entry.lacks:
            raise ValueError(f"{option.opts[0]} is not for --model {model}")
    shared = {name: value for name, value in asked.items() if name not in entry.lacks}
    return shared | entry.parameters(**{name: own[name] for name in entry.options})


def estimator_of(model, parameters):
    """Return the estimator of a model; if it has no threshold, reading the table applies it."""
    import dpfast

    estimator = getattr(dpfast, MODELS[model].estimator)
    known = inspect.signature(estimator).parameters
    return estimator(**{name: value for name, value in parameters.items() if name in known or name != "threshold"})


def reader_of(model):
    """Return the function from a schema to the one by which a model reads tables."""
    import dpfast

    return getattr(dpfast, MODELS[model].estimator)._read_by


def values_of(model, own, *, threshold=None, numbers=None):
    """Return the type in which features are read, from the options: "bits", "numbers" or "either"."""
    values = MODELS[model].values(own)
    if threshold is not None:
        if numbers or values == "numbers":
            option = "--numbers" if numbers else "--feature-range"
            raise ValueError(f"--threshold makes bits of numbers, {option} keeps them: give one of the two")
        return "bits"
    declared = {None: values, True: "numbers", False: "bits"}[numbers]
    if values not in (declared, "either"):
        raise ValueError(f"--{declared} is not for --model {model} with these options: it reads {values}")
    return declared


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
