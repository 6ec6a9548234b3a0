"""dpfast stream: learn by Winnow from rows in order."""

import csv
import sys
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from . import options
from .files import (
    check_columns,
    check_there,
    declaration_of,
    in_order,
    limits_of,
    name_features,
    open_budget,
    settings_to_keep,
)
from .models import MODELS, values_of, with_options_of
from .outputs import check_files, check_output, keep
from .printers import show_weights
from .report import errors, facts, reporting


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """The options of `dpfast stream`."""

    epsilon: options.Epsilon
    classes: Annotated[str | None, typer.Option(help="Both labels, as a,b, unless a schema declares them.")] = None
    delta: options.Delta = 1e-6
    schema: options.SchemaFile = None
    label: options.Label = None
    text: options.TextOptions
    threshold: options.Threshold = None
    columns: options.Columns = None
    neighbors: options.Relation = "replace"
    negations: options.Negations = True
    window: Annotated[
        bool,
        typer.Option(
            "--window",
            help="Learn without end: each row counts for as many releases as there are updates.",
            rich_help_panel=options.MORE,
        ),
    ] = False
    step: Annotated[
        int,
        typer.Option(
            help="Number of rows to read, learn from, save and show together.", min=1, rich_help_panel=options.MORE
        ),
    ] = 1000
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Keep the state of the stream in this private file, and continue from it if it exists."),
    ] = None
    new_rows: Annotated[
        bool,
        typer.Option(
            "--new-rows",
            help="DATA begins where the checkpoint ended, not where the stream began.",
            rich_help_panel=options.MORE,
        ),
    ] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Write no predictions.", rich_help_panel=options.MORE)] = False
    seed: options.Seed = None
    show_private: options.ShowPrivate = False
    out: options.Out = None
    budget: options.Ledger = None


@with_options_of("updates", "draws", "feature_range", "clip")
@options.spread
def stream(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A file as for fit, or - for a CSV table with a header from standard input."
        ),
    ],
    choices: StreamOptions,
    **own,
):
    """Learn by Winnow from rows in order, and write the prediction for each row before its label is used.

    Predictions go to standard output, one to a line, and everything else to standard error. The claim covers the model
    and the times at which it changed. A prediction depends on its row, and is for the owner of that row. The budget
    covers the whole stream, however long it is, if each row is given once. With a checkpoint, the same command
    continues after an interruption or a crash and leaves out the rows that were used. A crash may lose the output of
    one step.
    """
    with reporting("no row was used") as state, ExitStack() as ending:
        check_files(choices.out, DATA=data, schema=choices.schema, checkpoint=choices.checkpoint, budget=choices.budget)
        if not choices.quiet:
            check_output()
        declaration = declaration_of(data, choices.schema, choices.label, choices.classes)
        if declaration is None:
            names = [name.strip() for name in (choices.classes or "").split(",")]
        else:
            names = [str(each) for each in declaration.label.classes or ()]
            if choices.threshold is not None or own["feature_range"] is not None:
                raise ValueError("--threshold, --feature-range and --clip are for tables without a schema")
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"--classes must be two labels, as a,b, got {choices.classes or names!r}")
        if choices.new_rows and choices.checkpoint is None:
            raise ValueError("--new-rows needs a --checkpoint")
        if data != "-":
            check_there(data)
        check_columns(data, choices.columns)

        import numpy as np

        import dpfast
        from dpfast.base.fitting import interrupts_wait, raise_signals
        from dpfast.files.encodings import read_code_steps
        from dpfast.files.readers import FileTable, read_steps
        from dpfast.learners.winnow.streaming import refuse_open
        from dpfast.tables.classes import tidy_labels

        declared = tidy_labels(names) if declaration is None else np.array(declaration.label.classes)
        values = values_of("winnow", own, threshold=choices.threshold)
        parameters = {
            "epsilon": choices.epsilon,
            "delta": choices.delta,
            "neighbors": choices.neighbors,
            "negations": choices.negations,
            "window": choices.window,
            **MODELS["winnow"].parameters(own),
        }
        text = choices.text.settings
        if declaration is None and text.pop("dates") is not None:
            raise ValueError("--dates is for tables whose columns are declared; give a --schema")
        paying = None if choices.budget is None else open_budget(choices.budget, choices.neighbors)
        skip = 0
        if choices.checkpoint is not None and choices.checkpoint.exists():
            estimator = dpfast.DPWinnowClassifier.resume(choices.checkpoint)
            ending.callback(estimator.close)  # also if it is refused
            _check_same(estimator, parameters, declared, declaration, choices.checkpoint)
            skip = 0 if choices.new_rows else estimator.rounds_
            state.now = _describe_rest(estimator, choices.checkpoint)
        else:
            estimator = dpfast.DPWinnowClassifier(
                **parameters,
                schema=declaration,
                budget=paying,
                checkpoint=choices.checkpoint,
                random_state=choices.seed,
            )
            ending.callback(estimator.close)
        if declaration is not None:
            refuse_open(declaration)
            codes = read_code_steps(data, choices.step, declaration, skip=skip, **text)
            steps = (FileTable(X, y, None) for X, y in codes)
        else:
            steps = read_steps(
                data,
                choices.step,
                names,
                label=choices.label,
                threshold=choices.threshold,
                values=values,
                limits=limits_of(estimator.get_params()),
                skip=skip,
                n_features=choices.columns,
                **text,
            )
        rows, mistakes, stopped = 0, 0, None
        try:
            with _live() as show, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that all updates are made is shown
                writer = csv.writer(sys.stdout, lineterminator="\n")
                show("waiting for rows")
                for table in steps:
                    X, y, features = table
                    if declaration is None and hasattr(estimator, "n_features_in_"):
                        X = in_order(table, estimator, "standard input" if data == "-" else data, "the stream so far")
                    with interrupts_wait() as interrupts:
                        predicted = estimator.stream(X, y, classes=declared)
                        labels = np.asarray(y)
                        wrong = (predicted != labels) & (labels != None)  # noqa: E711 - elementwise, for rows without a label
                        rows, mistakes = rows + len(predicted), mistakes + int(wrong.sum())
                        if values == "numbers":
                            name_features(estimator, features)
                        state.now = _describe_rest(estimator, choices.checkpoint)
                    if not choices.quiet:
                        writer.writerows([value] for value in predicted.tolist())
                        sys.stdout.flush()
                    private = f"; {mistakes:,} mistakes in {rows:,} rows (not private)" if choices.show_private else ""
                    show(f"{estimator.rounds_:,} rounds; {estimator.privacy_}{private}")
                    raise_signals(interrupts)
        except (KeyboardInterrupt, Exception) as error:
            stopped = error
        if not hasattr(estimator, "privacy_"):  # nothing was charged
            raise stopped or ValueError(f"{data}: there are no rows")
        ended = state.now if rows else _begun(choices.checkpoint)
        state.now, state.has_spent = ended, True
        out = choices.out
        if out is not None or choices.checkpoint is None:
            reading = {"bits": values == "bits", "threshold": choices.threshold, "text": settings_to_keep(data, **text)}
            out = keep(estimator, out, state, None, **reading)
        state.now, state.has_spent = f"{ended}; {state.now}" if out is not None else ended, True
        if stopped is not None and not hasattr(estimator, "rounds_"):
            raise stopped  # in the midst of a step, which ended the stream

        show_weights(estimator, errors, bits=values == "bits")
        summary = facts()
        summary.add_row(
            "rounds", f"{estimator.rounds_:,}" + (f", of which {rows:,} now" if skip or choices.new_rows else "")
        )
        if choices.show_private and rows:
            summary.add_row("mistakes", Text(f"{mistakes:,} in {rows:,} rows (not private)", style="yellow"))
        summary.add_row("privacy", str(estimator.privacy_))
        summary.add_row("", "of the model and of when it changed; each prediction is for the owner of its row")
        if estimator.updates_ == estimator.n_updates_ and not choices.window:
            summary.add_row("", "all updates are made: rows are predicted, no longer learned from")
        if choices.checkpoint is not None:
            summary.add_row("checkpoint", Text(f"{choices.checkpoint}: private, keep it from others"))
        if out is not None:
            summary.add_row("saved", Text(str(out)))
        errors.print(summary)
        if stopped is not None:
            raise stopped


def _check_same(estimator, choices, classes, declaration, checkpoint):
    """Refuse to continue a stream with other parameters than those it began with."""
    if estimator.schema != declaration:
        raise ValueError(f"{checkpoint} was begun with another schema, or with none")
    for name, value in {**choices, "classes_": sorted(classes.tolist())}.items():
        began = getattr(estimator, name)
        began = began.tolist() if name == "classes_" else began
        if began != value:
            raise ValueError(f"{checkpoint} was begun with {name.strip('_')}={began!r}, this command says {value!r}")


def _describe_rest(estimator, checkpoint):
    """Return what a stream that stops now leaves behind."""
    of = "" if estimator.window else f" of {estimator.n_updates_}"
    progress = f"{estimator.rounds_:,} rounds and {estimator.updates_}{of} updates"
    if checkpoint is None:
        return f"the stream ended after {progress}, and its budget is spent; only a --checkpoint can be continued"
    return (
        f"the budget of the stream is spent; {progress} are in {checkpoint}, and the same command continues after them"
    )


def _begun(checkpoint):
    """Return what a stream leaves behind that was charged and has made no step."""
    if checkpoint is not None and checkpoint.exists():
        return f"the budget is spent; the stream is in {checkpoint}, and the same command continues it"
    return "the budget is spent, and nothing of the stream could be kept"


@contextmanager
def _live():
    """Yield a function that shows a line in the place of the last one, on standard error if it is a terminal."""
    with Live(console=errors, transient=True, redirect_stdout=sys.stdout.isatty()) as live:
        yield lambda line: live.update(Text(line))
