"""dpfast fit: learn a private model from a table, here or on the workers of a running cluster."""

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dpfast.tables.naming import listed

from . import options
from .figures import Figure, figures, figures_to_keep, figures_to_print
from .files import (
    check_columns,
    classes_of,
    declaration_of,
    is_packed,
    limits_of,
    name_features,
    open_budget,
    persons_of,
    read,
    read_declared,
    settings_to_keep,
)
from .groups import groups_of, show_groups
from .models import MODELS, Name, estimator_of, parameters_of, read_share, reader_of, values_of, with_options_of
from .outputs import add_figures, check_files, keep, learning
from .report import answer, claim_of, errors, facts, output, progress, reporting, say, tell

TESTED = "the test part, which the model never saw"
SURVEYED = (
    "The table was surveyed like a frame, as its rows suffice for its columns; --numbers reads the rows as vectors of "
    "numbers."
)
MODEL = "Kind of model; halfspace by default if there is a label or a schema."


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How the table is read."""

    schema: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=options.TABLE,
            help="A .toml or .json file that declares the columns, see dpfast schema; or discover, the default without "
            "a --model, and with one that reads numbers if the rows suffice.",
        ),
    ] = None
    ignore: Annotated[
        list[str],
        typer.Option(
            rich_help_panel=options.MORE,
            metavar="COLUMN",
            help="Leave this column out, if there is no schema; repeatable.",
        ),
    ] = field(default_factory=list)
    text: options.TextOptions
    columns: options.Columns = None


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """What is predicted."""

    label: options.Label = None
    classes: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.MORE,
            help="All labels, as a,b,...; by default those of the schema. Without one they are discovered with the "
            "columns, or read from the data if the rows are vectors.",
        ),
    ] = None
    above: options.Above = None


@dataclass(frozen=True, kw_only=True)
class PrivacyOptions:
    """What the claim is, and which budget pays."""

    epsilon: options.Epsilon
    delta: options.Delta = 1e-6
    unit: options.Unit = None
    rows_per_unit: options.RowsPerUnit = None
    neighbors: options.Relation = "replace"
    budget: options.Ledger = None
    encoder_share: Annotated[
        str,
        typer.Option(
            rich_help_panel=options.RARE,
            help="Share of the budget for discovery; auto follows from public numbers.",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which model is learned; each has further options of its own."""

    model: Annotated[Name | None, typer.Option(help=MODEL, metavar="NAME", rich_help_panel=options.TABLE)] = None  # type: ignore[valid-type]
    negations: options.Negations = True


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is shown and saved."""

    test_share: Annotated[
        float,
        typer.Option(
            rich_help_panel=options.OUTPUT,
            help="Share of the rows kept apart to measure it; 0 learns from all.",
        ),
    ] = 0.2
    by: options.By = field(default_factory=list)
    sensitive: options.Sensitive = None
    about: options.About = None
    out: options.Out = None
    json: options.Json = False


@dataclass(frozen=True, kw_only=True)
class RareOptions:
    """What is rarely needed."""

    threshold: options.Threshold = None
    numbers: options.Numbers = None
    memory: options.Memory = 1.0
    scheduler: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=options.RARE,
            metavar="ADDRESS",
            help="Learn from all rows on the workers of this Dask cluster, tcp://..., which must see the same files.",
        ),
    ] = None
    seed: options.Seed = None
    show_private: options.ShowPrivate = False


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """The options of `dpfast fit`, in the panels of its help."""

    table: TableOptions
    label: LabelOptions
    privacy: PrivacyOptions
    model: ModelOptions
    output: OutputOptions
    rare: RareOptions

    def check(self, data: str) -> None:
        """Refuse options that do not go together, before a file is read."""
        if not 0 <= self.output.test_share < 1:
            raise ValueError(f"--test-share must be at least 0 and below 1, got {self.output.test_share}")
        if (self.privacy.unit is None) != (self.privacy.rows_per_unit is None):
            raise ValueError("--unit and --rows-per-unit go together")
        if self.output.by and (not self.output.test_share or self.rare.scheduler is not None):
            raise ValueError(
                "--by measures the model on the test part, so it needs a --test-share above 0 and no cluster"
            )
        files = {"schema": self.table.schema, "budget": self.privacy.budget, "about": self.output.about}
        check_files(self.output.out, DATA=data, **files)
        _ = self._about  # refused here if it is

    @property
    def facts(self) -> dict[str, Any]:
        """Return public facts that the options add to a model: its sensitive columns, and what is stated about it."""
        named = [] if self.output.sensitive is None else [each.strip() for each in self.output.sensitive.split(",")]
        return ({"sensitive": [*dict.fromkeys(named)]} if named else {}) | self._about

    @cached_property
    def _about(self) -> dict[str, Any]:
        """Return what was stated about the model, read once."""
        if self.output.about is None:
            return {}
        from dpfast.report.about import read as read_about

        return {"about": read_about(self.output.about)}

    @property
    def undeclared(self) -> bool:
        """Whether nothing is said of the columns of the table, which has a column of labels."""
        read_as = self.rare.numbers, self.rare.threshold
        return self.table.schema is None and read_as == (None, None) and self.label.label is not None

    def surveys(self, data: str, parameters: dict[str, Any], own: dict[str, Any]) -> bool:
        """Return whether a named model surveys a table of numbers, by the rule for arrays with as many rows.

        A model that reads bits by its options declares the table as one of bits.
        """
        from dpfast.files.encodings import FileParts
        from dpfast.files.names import kind_of

        name = self.model.model
        if not self.undeclared or name is None or self.privacy.unit is not None or self.table.ignore:
            return False
        if kind_of(Path(data)) not in ("csv", "parquet") or values_of(name, own) != "either":
            return False
        source = FileParts(data, label=self.label.label, **self.table.text.settings)
        if (shape := source.dense_shape()) is None:
            return False
        from dpfast.base.transaction import reader_of  # only now: its import is slow

        learned_from = round(shape[0] * (1 - self.output.test_share)), shape[1]
        source.dense_shape = lambda: learned_from
        others = {"schema", "threshold", "random_state"}
        estimator = estimator_of(name, {k: v for k, v in parameters.items() if k not in others})
        return reader_of(estimator, source)[0].schema is not None

    def declaration(self, data: str, surveyed: bool) -> Any:
        """Return the schema of the table, which may leave everything to be discovered; None for vectors."""
        table, label, rare = self.table, self.label, self.rare
        named = self.model.model is not None and self.privacy.unit is None and not table.ignore and label.above is None
        undeclared = surveyed or (self.undeclared and not named)
        schema = "discover" if undeclared else table.schema
        ways = label.label, label.classes, self.privacy.unit, table.ignore, label.above
        declaration = declaration_of(data, schema, *ways, **table.text.settings)
        if declaration is not None and (rare.threshold is not None or rare.numbers is not None):
            raise ValueError("--threshold, --numbers and --bits are for tables without a schema")
        if declaration is None and label.above is not None:
            raise ValueError("--above is for tables whose columns are declared or discovered, with a --label")
        if declaration is None and self.model.model is None:
            raise ValueError("say which column holds the labels (--label), or give a --schema or a --model")
        return declaration


@dataclass
class Learned:
    """What a fit made, for its output."""

    estimator: Any
    out: Path | None
    n: int
    values: str | None  # what vectors are read as
    read_in: float  # seconds
    learned_in: float
    bits: bool = False
    rows: Any = None  # private
    figures: list[Figure] = field(default_factory=list)
    exact: float | None = None  # private


@with_options_of()
@options.spread
def fit(context: typer.Context, data: options.Data, choices: FitOptions, **own):
    """Learn a private model, and show the model, its noisy accuracy and what was spent.

    What no schema declares is discovered privately, within the same epsilon. A row is either in the training part or in
    the test part, by chance: each uses the whole epsilon and delta, and together they cost no more. With --budget, both
    are charged as a pair; with --test-share 0 only the model is, by its exact cost, which allows more fits.
    """
    with reporting("nothing was released and no file was written") as state:
        choices.check(data)

        from dpfast import random
        from dpfast.base.parameters import EPSILON, real

        privacy, rare = choices.privacy, choices.rare
        rng = random.generator(rare.seed)
        shared = {
            "epsilon": EPSILON.read("epsilon", privacy.epsilon),
            "delta": real(0, 1, "[)").read("delta", privacy.delta),
            "neighbors": privacy.neighbors,
            "negations": choices.model.negations,
            "threshold": rare.threshold,
            "random_state": rng,
            "schema": "vectors",
        }
        check_columns(data, choices.table.columns)
        model = choices.model.model or "halfspace"
        parameters = parameters_of(model, context, shared, own)
        surveyed = choices.surveys(data, parameters, own)
        declaration = choices.declaration(data, surveyed)
        if declaration is not None:
            declaration = reader_of(model)(declaration)
            share = read_share("--encoder-share", privacy.encoder_share)
            parameters |= {"schema": declaration, "encoder_share": share}
        if privacy.budget is not None:
            as_pairs = choices.output.test_share > 0 and rare.scheduler is None
            parameters["budget"] = open_budget(privacy.budget, privacy.neighbors, privacy.unit, as_pairs=as_pairs)
        if privacy.unit is not None:
            check_persons(privacy.unit, declaration)
        if rare.scheduler is not None:
            if (
                choices.output.test_share
                and getattr(context.get_parameter_source("test_share"), "name", "") != "DEFAULT"
            ):
                raise ValueError("--scheduler learns from all rows: --test-share must be 0")
            learned = _learn_on_cluster(state, data, choices, declaration, model, parameters)
        else:
            notes = [SURVEYED] if surveyed else []
            learned = _learn_here(state, data, choices, declaration, model, parameters, own, rng, notes)
        tell(learned.estimator)
        if choices.output.json:
            answer(_answer_of(data, choices, model, learned))
        else:
            _show(data, choices, declaration, model, learned)


def _learn_on_cluster(state, data, choices, declaration, model, parameters):
    """Learn from all rows on the workers of a cluster."""
    start, label, privacy = time.perf_counter(), choices.label.label, choices.privacy
    estimator = estimator_of(model, parameters)
    with on_cluster(choices.rare.scheduler, data, declaration, privacy.unit) as (X, n):
        read_in = time.perf_counter() - start
        arguments = {
            "classes": declaration.label.classes,
            "units": privacy.unit,
            "rows_per_unit": privacy.rows_per_unit,
        }
        where, read_by = f"{data} on {choices.rare.scheduler}", {"label": label, "threshold": choices.rare.threshold}
        read_by["facts"] = choices.facts
        out, learned_in = _fit_and_save(state, estimator, where, (X,), arguments, choices.output.out, None, **read_by)
    name_features(estimator, None, label, None, choices.facts)
    return Learned(estimator, out, n, None, read_in, learned_in)


def _learn_here(state, data, choices, declaration, model, parameters, own, rng, notes):
    """Learn from the rows of the training part, and measure the model on the others."""
    start, label, privacy, rare = time.perf_counter(), choices.label.label, choices.privacy, choices.rare
    by = groups_of(choices.output.by, data, declaration, **choices.table.text.settings)
    text, memory, values = choices.table.text.settings, int(rare.memory * 1e9), None
    if declaration is not None:
        table = read_declared(data, declaration, rare.memory, **text)
        classes = declaration.label.classes
    else:
        values = values_of(model, own, threshold=rare.threshold, numbers=rare.numbers)
        reads = {"threshold": rare.threshold, "values": values, "limits": limits_of(parameters)}
        reads |= {"memory": memory, "n_features": choices.table.columns}
        table = _plain(data, label=label, needs_label=True, **reads, **text)
        classes = classes_of(table.y, choices.label.classes, data)
        from dpfast.tables.label_columns import may_lack  # only now: these imports are slow

        if may_lack(table.y):
            from dpfast.base.notes import WITHOUT_LABEL

            notes.append(WITHOUT_LABEL)
    n, test_share = len(table.X if declaration is not None else table.y), choices.output.test_share
    persons = None if privacy.unit is None else persons_of(data, privacy.unit, n, **text)
    places = rng.random(n) if persons is None else rng.random(int(persons.max(initial=-1)) + 1)[persons]
    test = places < test_share  # has all rows of a person or none
    if privacy.neighbors == "replace" and (test.all() or (test_share and not test.any())):  # else n is private
        raise ValueError(f"{data}: {n} rows are too few for a training and a test part; see --test-share")
    names, bits = table.feature_names, is_packed(table.X)
    X, X_test = _split(table.X, test, memory)
    y, y_test = (None, None) if declaration is not None else (table.y[~test], table.y[test])
    del table  # which has the rows once more

    def of_persons(rows):
        return {} if persons is None else {"units": persons[rows], "rows_per_unit": privacy.rows_per_unit}

    read_in = time.perf_counter() - start
    read_by = {"label": label, "threshold": rare.threshold, "text": settings_to_keep(data, **text), "notes": notes}
    read_by["facts"] = choices.facts
    arguments = {"classes": classes} | of_persons(~test)
    estimator = estimator_of(model, parameters)  # only now: its import is slow, and the table may be refused
    out, learned_in = _fit_and_save(
        state, estimator, data, (X, y), arguments, choices.output.out, names, bits=bits, **read_by
    )
    learned = Learned(estimator, out, n, values, read_in, learned_in, bits=bits, rows=(X, y))
    if test_share:
        learned.figures = figures(
            estimator, X_test, y_test, rng, **of_persons(test), by=[each.pick(test) for each in by]
        )
        labels = X_test.labels() if y_test is None else y_test
        learned.exact = estimator.score(X_test, labels) if rare.show_private and len(labels) else None
    name_features(estimator, names, label, read_by["text"], read_by["facts"])
    if learned.figures:
        add_figures(estimator, out, learned.figures, TESTED)
    return learned


def _answer_of(data, choices, model, learned):
    """Return what a fit tells a program."""
    estimator, figures = learned.estimator, learned.figures
    return (
        {"data": data}
        | _public_numbers(choices, learned)
        | {"model": model, "labels": estimator.classes_.tolist()}
        | {"figures": figures_to_keep(figures, TESTED) if figures else {}, "notes": estimator.notes_}
        | _other_labels(estimator)
        | {name: estimator._facts[name] for name in ("sensitive", "about", "budget") if name in estimator._facts}
        | claim_of(estimator)
        | {"saved": learned.out}
    )


def _other_labels(estimator):
    """Return the share of the rows with labels that were not discovered, if it is known."""
    share = getattr(getattr(estimator, "encoder_", None), "other_labels_", None)
    return {} if share is None else {"other_labels": dict(zip(("value", "low", "high"), share, strict=True))}


def _public_numbers(choices, learned):
    """Return the number of rows, or of persons that were learned from, if it is public."""
    if choices.privacy.neighbors != "replace":
        return {}
    return {"rows": learned.n} if choices.privacy.unit is None else {"persons": learned.estimator._facts["persons"]}


def _show(data, choices, declaration, model, learned):
    """Print what a fit tells people."""
    estimator, show_private = learned.estimator, choices.rare.show_private
    numbers = {"rows": learned.n} if show_private else _public_numbers(choices, learned)
    count = "".join(f"{number:,} {what}, " for what, number in numbers.items())
    if declaration is not None:
        shape = f"{len(declaration.columns):,} column{'s' * (len(declaration.columns) != 1)}"
    else:
        kind = "" if learned.values == "bits" else " of 0 and 1" if learned.bits else " of numbers"
        shape = f"{estimator.n_features_in_:,} features{kind}"
    say(f"{data}: {count}{shape}, labels {listed(estimator.classes_)}")
    say()
    rows = learned.rows if show_private and declaration is None else None
    MODELS[model].show(estimator, output, bits=learned.bits or declaration is not None, rows=rows)
    say()
    summary = _summary(estimator, learned.figures, learned.exact, () if declaration is None else declaration.to_find)
    if show_private:
        seconds = f"{learned.learned_in:.3f} s to learn, {learned.read_in:.3f} s to read (not private)"
        summary.add_row("time", Text(seconds, style="yellow"))
    if learned.out is not None:
        summary.add_row("saved", Text(str(learned.out)))
    output.print(summary)
    show_groups(learned.figures)


def _plain(data, **options):
    """Return a table of numbers or bits; the refusal of other cells names the way to read them."""
    from dpfast.files.names import NotNumbers

    try:
        return read(data, **options)
    except NotNumbers as error:
        raise ValueError(f"{error}; --schema discover reads text, dates and missing cells, too") from None


def _fit_and_save(state, estimator, where, table, arguments, out, names, *, bits=False, notes=(), **read_by):
    """Fit an estimator to a table, and save it; return its file, and the seconds that the fit took."""
    read_by["bits"] = bits
    learning(state, estimator, names, **read_by)
    start = time.perf_counter()
    with progress(estimator, f"learning from {where}"):
        estimator.fit(*table, **arguments)
    seconds = time.perf_counter() - start
    estimator.notes_ += notes
    return keep(estimator, out, state, names, **read_by), seconds


def _summary(estimator, lines, exact, discovered):
    """Return a table of the figures of a fitted model, of its claim and of what the claim covers."""
    summary = facts()
    for figure in figures_to_print(lines):
        summary.add_row(
            f"test {figure.name}" if figure.name not in ("largest class", "left out") else figure.name, figure.text
        )
    if lines:
        summary.add_row("", "noisy figures of the test part; they cost nothing more, as no row is in both parts")
    if exact is not None:
        summary.add_row("", Text(f"{exact:.4f} exactly (not private)", style="yellow"))
    summary.add_row("privacy", str(estimator.privacy_))
    if discovered:
        summary.add_row("", f"this covers the discovery of {listed([*discovered])}")
    return summary


def _split(X, test, memory):
    """Return the rows of the training and of the test part; the table is consumed, so that it is not held twice."""
    import numpy as np

    from dpfast.files.entries import block_rows
    from dpfast.parts.blocks import Spool, slices
    from dpfast.tables.encoding import Encoding

    if isinstance(X, Encoding):
        return X.split(test)
    if not isinstance(X, np.ndarray):
        return X[~test], X[test]
    apart, size = Spool(memory).array((int(test.sum()), X.shape[1]), X.dtype), 0
    for part in slices(len(X), block_rows(X.shape[1])):
        apart.append(X[part][test[part]])
        rows = X[part][~test[part]]
        X[size : size + len(rows)] = rows
        size += len(rows)
    return X[:size], apart.read_all()


def check_persons(unit, declaration):
    """Refuse options that --unit excludes, before the table is read."""
    if declaration is None:
        raise ValueError(
            "--unit needs the column of labels (--label), or a --schema, and no --threshold, --numbers or --bits"
        )
    if unit in declaration.names or unit == declaration.label.name:
        raise ValueError(f"--unit {unit} is a column of the schema: remove it there, or the model learns from it")


@contextmanager
def on_cluster(address, data, declaration, unit):
    """Yield the table as delayed parts and its number of rows, while this process is a client of the cluster."""
    from dpfast.files.names import kind_of

    if declaration is None:
        raise ValueError("--scheduler needs a --schema, by which the workers read the table")
    if kind_of(Path(data)) != "parquet":
        raise ValueError(f"--scheduler reads Parquet: a file, a folder or a pattern, got {data}")
    try:
        from distributed import Client

        from dpfast.files.parquet import delay_parquet
    except ImportError:
        raise ImportError("--scheduler needs Dask: pip install 'dpfast[dask]'") from None
    parts, n = delay_parquet(data, [*declaration.names, declaration.label.name, *([] if unit is None else [unit])])
    with errors.status(f"connecting to {address}"):
        client = Client(address)
    with client, client.as_current():
        yield parts, n
