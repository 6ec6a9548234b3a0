"""The models that `fit` learns. To add one: its own options in OPTIONS, and its entry in MODELS.

What `fit` asks for every model (epsilon, delta, ...) is passed on if the estimator has a parameter of that name.

The help and the completion of `fit` are those of one model if it is named, and otherwise those of all models.
"""

import inspect
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import typer

from .commands import Command
from .printers import show_average, show_feature, show_halfspace, show_rules, show_scores, show_weights


class ModelKind(NamedTuple):
    """A kind of model."""

    estimator: str  # the name of its class in dpfast
    names: str  # of its own options
    show: Callable  # as in printers
    values: str | Callable = "bits"  # what it reads, as in dpfast.files.readers, or how its own options tell that
    lacks: tuple[str, ...] = ()  # of the options that all models share, those it has no parameter for
    fixed: dict[str, Any] = {}  # noqa: RUF012 - parameters that no option changes; never changed in place
    auto: dict[str, Any] = {}  # noqa: RUF012 - what "auto" stands for in its options; never changed in place

    @property
    def options(self):
        return {name: PARAMETERS[name] for name in self.names.split()}

    def parameters(self, own):
        """Return the parameters of the estimator, from the values of its own options."""
        if own.get("clip") and own["feature_range"] is None:
            raise ValueError("--clip needs a --feature-range")
        read = {}
        for name, value in own.items():
            option, auto = OPTIONS[name], value == "auto" and name in self.auto
            read[option.parameter] = self.auto[name] if auto else option.read(f"--{name.replace('_', '-')}", value)
        return self.fixed | read


def _read(domain, kind, **words):
    """Return a reader of the text of an option: a number, or what one of the words stands for."""

    def read(option, text):
        if text in words:
            return words[text]
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"{option} must be {domain} or {' or '.join(words)}, got {text!r}") from None

    return read


def _ends(option, text):
    if text is None:
        return [-1, 1]
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"{option} must be two numbers, the lower first, as in -1,1; got {text!r}")
    return [low, high]


_number, read_integer = _read("a number", float, auto="auto"), _read("an integer", int, auto="auto")
read_share = _read("a number in (0, 1)", float, auto="auto")


class Own(NamedTuple):
    """An option of some models; what `read` makes of its value is a parameter of their estimators."""

    parameter: str
    default: Any
    help: str
    read: Callable = lambda option, value: value
    metavar: str | None = None
    kind: Any = None  # by default that of the default
    flags: tuple[str, ...] = ()


OPTIONS = {
    "coverage_weight": Own(
        "coverage_weight", "auto",
        "0 to 1: a larger weight makes shorter lists, 0 is the paper's score; auto raises it from rule to rule.",
        _number, "auto|X",
    ),
    "max_rules": Own(
        "max_rules", "auto", "Largest number of rules, or none for no limit; auto is 10, or 15 where rows are many.",
        _read("an integer of at least 1", int, none=None, auto="auto"), "auto|N|none",
    ),
    "conjunctions": Own("conjunctions", 1, "Largest number of conditions in a rule, joined by and."),
    "rule_counts": Own(
        "rule_counts", 0.05, "Share of the bill for counts of the rows of each rule; with 0 there are none."
    ),
    "accounting": Own(
        "accounting", "curve", "Privacy accounting: the tight curve, or the paper's constants.",
        kind=Literal["curve", "paper"],
    ),
    "updates": Own(
        "n_updates", "auto", "Number of releases of new weights.",
        _read("an integer of at least 1", int, auto="auto"), "auto|N",
    ),
    "draws": Own("n_draws", 5, "Number of features drawn for each release."),
    "feature_range": Own(
        "feature_range", None, "Features are numbers in this declared range; by default they are bits.", _ends,
        "LOW,HIGH", str | None,
    ),
    "clip": Own(
        "out_of_range", False, "Move numbers outside the range to its ends instead of refusing them.",
        lambda option, value: "clip" if value else "error", flags=("--clip",),
    ),
    "density": Own("density", "auto", "Smallest share of the rows that a round looks at.", _number, "auto|X"),
    "rounds": Own("n_rounds", "auto", "Number of rounds of learning.", read_integer, "auto|N"),
    "learning_rate": Own("learning_rate", "auto", "Rate at which the weights of rows fall.", _number, "auto|X"),
    "weak_learner": Own(
        "weak_learner", "centering", "What a round learns: a noisy mean, or one feature.",
        kind=Literal["centering", "stump"],
    ),
    "interactions": Own(
        "interactions", "auto", "Largest number of pairs of columns to learn from together.", read_integer, "auto|N"
    ),
    "trees": Own(
        "trees", "auto", "Number of random trees of what columns say together.", read_integer, "auto|N"
    ),
    "margin": Own(
        "margin", "auto", "Smallest cosine that rows are assumed to have with the best halfspace; auto is 0.1 for net.",
        _number, "auto|X",
    ),
    "components": Own(
        "n_components", "auto", "Number of columns that rows are projected to; auto is 4 for net.", read_integer,
        "auto|N",
    ),
    "projections": Own("n_projections", 1, "Number of independent projections, each with its own net."),
    "net_radius": Own(
        "net_radius", "auto", "Largest distance of a unit vector from the net; auto is a tenth of the margin.", _number,
        "auto|X",
    ),
    "max_seconds": Own("max_seconds", 60.0, "Refuse a net that would take longer."),
    "intercept": Own("fit_intercept", True, "Add a constant feature."),
    "probability_share": Own(
        "probability_share", 0.0, "Share of epsilon to spend on probabilities; with 0 there are none."
    ),
}  # fmt: skip


_NO_SIGNS = ("negations",)
_NO_DELTA = ("delta", *_NO_SIGNS)
MODELS = {
    "decision-list": ModelKind(
        "DecisionListClassifier", "coverage_weight max_rules conjunctions rule_counts accounting", show_rules
    ),
    "winnow": ModelKind(
        "DPWinnowClassifier", "updates draws feature_range clip probability_share", show_weights,
        lambda own: "bits" if own["feature_range"] is None else "numbers",
    ),
    "halfspace": ModelKind(
        "HalfspaceClassifier", "rounds intercept trees interactions", show_scores, "either", _NO_SIGNS
    ),
    "boost": ModelKind(
        "BoostedHalfspaceClassifier", "density rounds learning_rate weak_learner intercept probability_share",
        show_halfspace, lambda own: "bits" if own["weak_learner"] == "stump" else "either", _NO_SIGNS,
    ),
    "projected": ModelKind(
        "ProjectedHalfspaceClassifier", "margin components rounds intercept probability_share",
        show_halfspace, "either", _NO_SIGNS,
    ),
    "net": ModelKind(
        "NetHalfspaceClassifier", "margin components projections net_radius max_seconds intercept probability_share",
        show_halfspace, "either", lacks=_NO_DELTA, auto={"margin": 0.1, "components": 4},
    ),
    "finite-class": ModelKind(
        "FiniteClassLearner", "probability_share", show_feature, lacks=_NO_DELTA, fixed={"hypotheses": "features"}
    ),
    "linear-learner": ModelKind(
        "LinearLearner", "intercept probability_share", show_average, "either", fixed={"out_of_range": "error"}
    ),
}  # fmt: skip


def _parameter(name, own):
    """Return an option as a parameter of a command; the help shows it under the names of its models."""
    panel = f"Options of {' and '.join(model for model, entry in MODELS.items() if name in entry.names.split())}"
    option = typer.Option(*own.flags, help=own.help, metavar=own.metavar, rich_help_panel=panel)
    annotation = Annotated[own.kind or type(own.default), option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=own.default, annotation=annotation)


PARAMETERS = {name: _parameter(name, own) for name, own in OPTIONS.items()}
Name = Literal[tuple(MODELS)]  # type: ignore[valid-type]  # of a table


def with_options_of(*names):
    """Return a decorator for typer: it gives a command these options of models, or all, instead of ``**own``."""

    def decorate(command):
        signature = inspect.signature(command)
        shared = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        own = [PARAMETERS[name] for name in names or OPTIONS]
        command.__signature__ = signature.replace(parameters=[*shared, *own])
        return command

    return decorate


def parameters_of(model, context, values, own):
    """Return the parameters of a model's estimator, from the shared options and those of all models.

    A given option of another model is refused, and so is a shared option that the model lacks. The estimator is not
    imported, because that is slow.
    """
    entry = MODELS[model]
    options = [each for each in context.command.params if context.get_parameter_source(each.name).name != "DEFAULT"]
    for option in options:
        owners = [name for name, each in MODELS.items() if option.name in each.options]
        if owners and model not in owners:
            raise ValueError(f"{option.opts[0]} is for --model {' or '.join(owners)}, not for {model}")
        if option.name in entry.lacks:
            raise ValueError(f"{option.opts[0]} is not for --model {model}")
    shared = {name: value for name, value in values.items() if name not in entry.lacks}
    return shared | entry.parameters({name: own[name] for name in entry.options})


def estimator_of(model, parameters):
    """Return the estimator of a model; if it has no threshold, reading the table applies it."""
    import dpfast

    estimator = getattr(dpfast, MODELS[model].estimator)
    names = inspect.signature(estimator).parameters
    return estimator(**{name: value for name, value in parameters.items() if name in names or name != "threshold"})


def reader_of(model):
    """Return the function from a schema to the one by which a model reads tables."""
    import dpfast

    return getattr(dpfast, MODELS[model].estimator)().reads.reads_by


def values_of(model, own, *, threshold=None, numbers=None):
    """Return the type in which features are read, from the options: "bits", "numbers" or "either"."""
    values = MODELS[model].values
    values = values if isinstance(values, str) else values(own)
    if threshold is not None:
        if numbers or values == "numbers":
            option = "--numbers" if numbers else "--feature-range"
            raise ValueError(f"--threshold makes bits of numbers, {option} keeps them: give one of the two")
        return "bits"
    declared = {None: values, True: "numbers", False: "bits"}[numbers]
    if values not in (declared, "either"):
        raise ValueError(f"--{declared} is not for --model {model} with these options: it reads {values}")
    return declared


class ModelCommand(Command):
    """A command with a --model, which shows and completes the options of that model and of no other."""

    def parse_args(self, ctx, args):
        named = [value for option, value in pairwise(args) if option == "--model"]
        named += [arg.removeprefix("--model=") for arg in args if arg.startswith("--model=")]
        self._named = next((name for name in named if name in MODELS), None)
        self._show(self._named)
        return super().parse_args(ctx, args)

    def _comes_later(self, param):
        """The help of a model shows its own options, and those that a fit needs."""
        shared = self._named is not None and not str(param.rich_help_panel).startswith("Options of")
        return super()._comes_later(param) or (shared and not param.required and param.name != "help")

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
