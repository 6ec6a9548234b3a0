"""The command line: fit a private model on a file or a stream, predict with it, plan for one.

The library is imported inside the commands, so that help does not wait for it.
"""

import csv
import math
import os
import signal
import sys
import time
import warnings
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Learn readable models from private tables, under differential privacy.",
)
plan = typer.Typer(no_args_is_help=True, help="What a model needs and what is guaranteed, before there is any data.")
app.add_typer(plan, name="plan")


class Model(StrEnum):
    decision_list = "decision-list"
    winnow = "winnow"


class Neighbors(StrEnum):
    replace = "replace"
    add_remove = "add-remove"


class Accounting(StrEnum):
    curve = "curve"
    paper = "paper"


_ESTIMATORS = {Model.decision_list: "DecisionListClassifier", Model.winnow: "DPWinnowClassifier"}
_PANELS = {f"Options of {model}": model for model in Model}  # in the help; an option of one model only is in one
_ListOption, _WinnowOption = (partial(typer.Option, rich_help_panel=panel) for panel in _PANELS)


def _limit(text):
    if text == "none":
        return None
    if not text.isdecimal():
        raise ValueError(f"--max-rules must be an integer of at least 1 or none, got {text!r}")
    return int(text)


def _version(asked):
    if asked:
        from importlib.metadata import version

        typer.echo(f"dpfast {version('dpfast')}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and exit.")] = (
        False
    ),
):
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows its number
        stream.reconfigure(errors="backslashreplace")


_Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A .csv, .tsv, .parquet, .svm or .npz file, or the bundled mushroom.")
]
_Epsilon = Annotated[float, typer.Option(help="Privacy budget, above 0: smaller is more private.")]
_Delta = Annotated[float, typer.Option(help="In (0, 1); well below one in the number of rows.")]
_Relation = Annotated[Neighbors, typer.Option(help="What may change between two tables: one row replaced, or added.")]
_Weight = Annotated[float, _ListOption(help="0 to 1: more makes shorter lists, 0 is the paper's score.")]
_Updates = Annotated[int, _WinnowOption(help="Releases of new weights.")]
_Draws = Annotated[int, _WinnowOption(help="Features drawn for each release.")]
_Label = Annotated[str | None, typer.Option(help="The column that holds the labels.")]
_Threshold = Annotated[float | None, typer.Option(help="Turns numbers into bits: x > threshold.")]
_Negations = Annotated[bool, typer.Option(help="Whether features count negated, too.")]
_Seed = Annotated[int | None, typer.Option(help="Reproducible, hence not private: for tests.")]
_ShowPrivate = Annotated[bool, typer.Option("--show-private", help="Also show exact, private figures.")]
_Out = Annotated[Path | None, typer.Option(help="Save the model here, as JSON.")]


@app.command()
def fit(
    context: typer.Context,
    data: _Data,
    model: Annotated[Model, typer.Option(help="What to learn.")],
    epsilon: _Epsilon,
    delta: _Delta = 1e-6,
    label: _Label = None,
    classes: Annotated[str | None, typer.Option(help="All labels, as a,b,...; read off the data by default.")] = None,
    threshold: _Threshold = None,
    neighbors: _Relation = Neighbors.replace,
    negations: _Negations = True,
    coverage_weight: _Weight = 0.5,
    max_rules: Annotated[str, _ListOption(help="Longest list, or none for no limit.", metavar="N|none")] = "25",
    conjunctions: Annotated[int, _ListOption(help="Most conditions in a rule, joined by and.")] = 1,
    accounting: Annotated[Accounting, _ListOption(help="The tight curve, or the paper's constants.")] = (
        Accounting.curve
    ),
    updates: _Updates = 20,
    draws: _Draws = 10,
    test_share: Annotated[float, typer.Option(help="Share of rows kept for the accuracy; 0 learns from all.")] = 0.2,
    seed: _Seed = None,
    show_private: _ShowPrivate = False,
    out: _Out = None,
):
    """Learn a private model and show it, its test accuracy and what was spent.

    Rows are put into a training and a test part at random, each on its own; both parts are released with the
    whole budget, which is the budget of the whole: a row is in one of them only.
    """
    with _reporting("nothing was released and no file was written") as state:
        _refuse_others(context, model)
        limit = _limit(max_rules)
        if not 0 <= test_share < 1:
            raise ValueError(f"--test-share must be at least 0 and below 1, got {test_share}")
        _check_writable(out)

        import dpfast
        from dpfast import random

        start = time.perf_counter()
        table = _read(data, label=label, needs_label=True, threshold=threshold)
        declared = _classes(table.y, classes, data)
        rng = random.generator(seed)
        test = rng.random(len(table.y)) < test_share
        if test.all() or (test_share and not test.any()):
            raise ValueError(f"{data}: {len(test)} rows are too few for a training and a test part; see --test-share")

        own = {
            Model.decision_list: {
                "coverage_weight": coverage_weight,
                "max_rules": limit,
                "conjunctions": conjunctions,
                "threshold": threshold,
                "accounting": accounting.value,
            },
            Model.winnow: {"n_updates": updates, "n_draws": draws},
        }
        estimator = getattr(dpfast, _ESTIMATORS[model])(
            epsilon=epsilon,
            delta=delta,
            neighbors=neighbors.value,
            negations=negations,
            random_state=rng,
            **own[model],
        )
        read = time.perf_counter()
        with _errors.status(f"learning from {data}"):
            estimator.fit(table.X[~test], table.y[~test], classes=declared)
        fitted = time.perf_counter()
        accuracy = _noisy_accuracy(estimator, table.X[test], table.y[test], rng) if test_share else None
        if out is not None:
            estimator.save(out)
        state.now = "the model is released and its budget spent" + (f"; it is whole in {out}" if out else "")

        public_rows = neighbors is Neighbors.replace or show_private
        rows = f"{len(test):,} rows, " if public_rows else ""
        _print(f"{data}: {rows}{table.X.shape[1]:,} features, labels {_some(estimator.classes_)}")
        _print()
        if model is Model.winnow:
            _print_weights(estimator, _output)
        else:
            _print_rules(estimator, (table.X[~test], table.y[~test]) if show_private else None)
        _print()
        facts = _facts()
        if accuracy is not None:
            facts.add_row("test accuracy", f"{accuracy} (noisy release, free by parallel composition)")
        if accuracy is not None and show_private:
            exact = estimator.score(table.X[test], table.y[test])
            facts.add_row("", Text(f"{exact:.4f} exactly (not private)", style="yellow"))
        facts.add_row("privacy", str(estimator.privacy_))
        facts.add_row("time", f"{fitted - read:.3f} s to learn, {read - start:.3f} s to read")
        if out is not None:
            facts.add_row("saved", Text(str(out)))
        _output.print(facts)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out wrote.")],
    data: _Data,
    label: Annotated[str | None, typer.Option(help="A column to leave out.")] = None,
    threshold: Annotated[float | None, typer.Option(help="As for fit; a decision list knows its own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write here instead of to standard output.")] = None,
):
    """Predict the label of each row, one a line.

    A prediction tells something about its row: it is for those who may see the row.
    """
    with _reporting("no predictions were written") as state:
        _check_writable(out)

        import dpfast

        estimator = dpfast.load(model)
        if hasattr(estimator, "threshold"):
            if threshold is not None:
                raise ValueError(f"--threshold is for models that do not know it; {model} has {estimator.threshold}")
            threshold = estimator.threshold
        table = _read(data, label=label, threshold=threshold, n_features=estimator.n_features_in_)
        _check_names(table.X, estimator, data, model)
        predicted = estimator.predict(table.X).tolist()
        state.now = f"{out or 'the output'} may be cut short"
        with nullcontext(sys.stdout) if out is None else open(out, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([value] for value in predicted)


@app.command()
def stream(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="As for fit, or - for a CSV table from standard input, header first.")
    ],
    epsilon: _Epsilon,
    classes: Annotated[str, typer.Option(help="Both labels, as a,b.")],
    delta: _Delta = 1e-6,
    label: _Label = None,
    threshold: _Threshold = None,
    neighbors: _Relation = Neighbors.replace,
    negations: _Negations = True,
    updates: _Updates = 20,
    draws: _Draws = 10,
    step: Annotated[int, typer.Option(help="Rows that are read, learned from, kept and shown together.", min=1)] = 1000,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Keep the stream in this private file; go on with it if it is there.")
    ] = None,
    new_rows: Annotated[
        bool, typer.Option("--new-rows", help="DATA begins where the checkpoint ends, not where the stream began.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write no predictions.")] = False,
    seed: _Seed = None,
    show_private: _ShowPrivate = False,
    out: _Out = None,
):
    """Learn by Winnow from rows in order, and write what was predicted for each before its label was used.

    Predictions go to standard output, one a line, all else to standard error. The budget is for the whole stream,
    however long it is, if each row is given once. With a checkpoint the same command goes on after an interruption or
    a crash: it leaves out the rows that were used. A crash may cost the output of one step.
    """
    with _reporting("no row was used") as state:
        names = [name.strip() for name in classes.split(",")]
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"--classes must be two labels, as a,b, got {classes!r}")
        if new_rows and checkpoint is None:
            raise ValueError("--new-rows needs a --checkpoint")
        _check_writable(out)

        import dpfast
        from dpfast.data.readers import read_steps, tidy_labels

        declared = tidy_labels(names)
        asked = {
            "epsilon": epsilon,
            "delta": delta,
            "neighbors": neighbors.value,
            "negations": negations,
            "n_updates": updates,
            "n_draws": draws,
        }
        skip = 0
        if checkpoint is not None and checkpoint.exists():
            estimator = dpfast.DPWinnowClassifier.resume(checkpoint)
            _check_same(estimator, asked, declared, checkpoint)
            skip = 0 if new_rows else estimator.rounds_
            state.now = _kept(estimator, checkpoint)
        else:
            estimator = dpfast.DPWinnowClassifier(**asked, checkpoint=checkpoint, random_state=seed)
        steps = read_steps(data, step, names, label=label, threshold=threshold, skip=skip)
        rows, mistakes, stopped = 0, 0, None
        try:
            with _live() as show, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that all updates are made is shown
                writer = csv.writer(sys.stdout, lineterminator="\n")
                show("waiting for rows")
                for X, y in steps:
                    with _interrupts_wait() as interrupts:
                        predicted = estimator.stream(X, y, classes=declared)
                        rows, mistakes = rows + len(y), mistakes + int((predicted != y).sum())
                        state.now = _kept(estimator, checkpoint)
                    if not quiet:
                        writer.writerows([value] for value in predicted.tolist())
                        sys.stdout.flush()
                    private = f"; {mistakes:,} mistakes in {rows:,} rows (not private)" if show_private else ""
                    show(f"{estimator.rounds_:,} rounds; {estimator.privacy_}{private}")
                    if interrupts:
                        raise KeyboardInterrupt
        except (KeyboardInterrupt, ValueError) as error:
            stopped = error
        if not hasattr(estimator, "rounds_"):
            raise stopped or ValueError(f"{data}: there are no rows")
        if out is not None:
            estimator.save(out)

        _print_weights(estimator, _errors)
        facts = _facts()
        facts.add_row("rounds", f"{estimator.rounds_:,}" + (f", of which {rows:,} now" if skip or new_rows else ""))
        if show_private and rows:
            facts.add_row("mistakes", Text(f"{mistakes:,} in {rows:,} rows (not private)", style="yellow"))
        facts.add_row("privacy", str(estimator.privacy_))
        if estimator.updates_ == updates:
            facts.add_row("", "all updates are made: rows are predicted, no longer learned from")
        if checkpoint is not None:
            facts.add_row("checkpoint", Text(f"{checkpoint}: private, keep it from others"))
        if out is not None:
            facts.add_row("saved", Text(str(out)))
        _errors.print(facts)
        if stopped is not None:
            raise stopped


@plan.command("decision-list")
def plan_decision_list(
    n: Annotated[int, typer.Option("--n", help="Rows at hand.", min=1)],
    features: Annotated[int, typer.Option(help="Conditions a rule may test; d columns and negations are 2 d.", min=1)],
    epsilon: _Epsilon,
    delta: _Delta = 1e-6,
    alpha: Annotated[float, typer.Option(help="Error wanted, in (0, 1).")] = 0.1,
    beta: Annotated[float, typer.Option(help="Probability of missing it, in (0, 1).")] = 0.1,
    neighbors: _Relation = Neighbors.replace,
    coverage_weight: _Weight = 0.5,
):
    """How many rows a guarantee asks for: by the paper's constants, and by the tight privacy curve.

    The guarantee (Bun and Fang, Theorem 3.5) is for labels that some decision list predicts without error, and for
    coverage weight 0. It is a worst case: real tables usually need far fewer rows.
    """
    with _reporting("nothing was computed"):
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 < value < 1:
                raise ValueError(f"--{name} must lie in (0, 1), got {value}")

        from dpfast.accounting import cover_exponent

        paper = cover_exponent(epsilon, delta, neighbors=neighbors.value, accounting="paper")
        curve = cover_exponent(epsilon, delta, neighbors=neighbors.value)
        weighted = cover_exponent(epsilon, delta, neighbors=neighbors.value, coverage_weight=coverage_weight)

        statistics = _rows_to_generalise(features, alpha, beta)
        table = Table(title=f"decision-list over {features:,} features, ({epsilon}, {delta})-DP, {neighbors}")
        for heading in ("", "paper's constants", "curve"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        privacy = [_rows_for_privacy(features, alpha, beta, t) for t in (paper, curve)]
        asked = [max(statistics, rows) for rows in privacy]
        table.add_row("exponent per unit of score", f"{paper:.5f}", f"{curve:.5f}")
        table.add_row("rows to generalise", *[f"{math.ceil(statistics):,}"] * 2)
        table.add_row("rows for privacy", *[f"{math.ceil(rows):,}" for rows in privacy])
        table.add_row("rows asked", *[f"{math.ceil(rows):,}" for rows in asked], style="bold")
        table.add_row(f"n = {n:,}", *["enough" if n >= rows else f"{rows / n:,.1f} times too few" for rows in asked])
        table.add_row("error that n guarantees", *[_error_at(n, features, beta, t) for t in (paper, curve)])
        _output.print(table)
        _print(
            f"Asked for an error of at most {alpha} with probability {1 - beta:g}, "
            "where some decision list makes no error."
        )
        if coverage_weight:
            _print(
                f"Coverage weight {coverage_weight:g} has the exponent {weighted:.5f} by the curve; the theorem is "
                "about weight 0, so no number of rows is claimed for it."
            )


@plan.command("winnow")
def plan_winnow(
    d: Annotated[int, typer.Option("--d", help="Columns; a constant and negated copies are added to them.", min=1)],
    margin: Annotated[float, typer.Option(help="By which some weights of sum 1 are right on every row, in (0, 1].")],
    horizon: Annotated[int, typer.Option(help="Rounds of the stream.", min=1)],
    epsilon: _Epsilon,
    delta: _Delta = 1e-6,
    confidence: Annotated[
        float | None, typer.Option(help="Share of the margin that the draws may miss; each bound's best by default.")
    ] = None,
):
    """How many mistakes are guaranteed, by the paper's update and by the batched one, and what practice needs.

    The guarantees (Bun and Fang, Theorem 4.5; batched: theory, section 4) are for rows that some weights separate
    with the margin, and hold with probability 0.95. They are worst cases: real streams usually need far fewer rows.
    """
    with _reporting("nothing was computed"):
        from dpfast import DPWinnowClassifier
        from dpfast.accounting import batched_plan, winnow_paper

        share = {} if confidence is None else {"confidence": confidence}
        problem = {"horizon": horizon, "dimension": 2 * (d + 1), "margin": margin, **share}
        plans = {
            "the paper's update": winnow_paper(epsilon, delta, **problem),
            "the batched update": batched_plan(epsilon, delta, **problem),
        }
        table = Table(title=f"winnow over {d:,} columns, ({epsilon}, {delta})-DP, replace")
        table.add_column()
        for heading in plans:
            table.add_column(heading, justify="right", overflow="fold")
        for what, field in (
            ("updates", "n_updates"),
            ("draws for each", "n_draws"),
            ("rows that enter one", "batch"),
            ("learning rate", "learning_rate"),
            ("rows that count, for one", "threshold"),
            ("mistakes, at most", "mistakes"),
            ("rounds from which that is fewer than all", "horizon_needed"),
        ):
            style = "bold" if field == "mistakes" else None
            table.add_row(what, *[_number(getattr(each, field)) for each in plans.values()], style=style)
        _output.print(table)
        for name, each in plans.items():
            if each.vacuous:
                _print(
                    f"The guarantee of {name} is vacuous: it allows more mistakes than the {horizon:,} rounds planned. "
                    f"It says something from {_number(each.horizon_needed)} rounds on."
                )
            else:
                _print(f"{name.capitalize()} is guaranteed at most {_number(each.mistakes)} mistakes.")
        learner = DPWinnowClassifier(epsilon, delta)
        learner.learning_rate_, _ = learner._tight_rates(streaming=True)
        learner.n_features_in_, learner.released_weights_ = d, []
        enough = learner._enough()
        _print(
            f"In practice: the defaults are {learner.n_updates} updates of {learner.n_draws} draws, which gives the "
            f"learning rate eta = {learner.learning_rate_:.4g}. The first update comes after about {enough:,} rows, "
            "which all count; later ones need fewer, of those that are mistaken or unsure."
        )
        if horizon < enough:
            _print(f"{horizon:,} rounds are too few for one update.")


def _number(value):
    """Whole if it is short, else three digits."""
    return f"{value:,.0f}" if 1 <= value < 1e9 else f"{value:.3g}"


def _rows_to_generalise(features, alpha, beta):
    """First term of Theorem 3.5 [BF]: 64/alpha (VC ln(64/alpha) + ln(16/beta)).

    VC is M + 1. A list "if f_1 then b_1, ..., else b_k", b_i = +-1, is the sign of sum_i 2^-i b_i f_i(x), the
    constant true its last feature, because the first term that is not 0 outweighs all later ones: a halfspace
    over M features with an offset. M + 1 is reached, on the unit vectors and 0.
    """
    return 64 / alpha * ((features + 1) * math.log(64 / alpha) + math.log(16 / beta))


def _rows_for_privacy(features, alpha, beta, exponent):
    """Second term of Theorem 3.5 [BF]: 8 M ln(2 M / sqrt(beta)) / (eps_hat alpha).

    The paper weighs a candidate by exp(eps_hat q / 2), so eps_hat is twice the exponent per unit of score. The term
    is the excess error of M draws by the exponential mechanism and holds for every exponent.
    """
    return 8 * features * math.log(2 * features / math.sqrt(beta)) / (2 * exponent * alpha)


def _error_at(n, features, beta, exponent):
    """The least alpha that n rows suffice for, as text; both terms fall as alpha grows."""

    def enough(alpha):
        return n >= max(_rows_to_generalise(features, alpha, beta), _rows_for_privacy(features, alpha, beta, exponent))

    low, high = 0.0, 1.0
    if not enough(high):
        return "none"
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return f"{high:.2g}"


def _refuse_others(context, model):
    """Refuse options that were given and are another model's."""
    for option in context.command.params:
        owner = _PANELS.get(getattr(option, "rich_help_panel", None), model)
        if owner is not model and context.get_parameter_source(option.name).name != "DEFAULT":
            raise ValueError(f"{option.opts[0]} is for --model {owner}, not for {model}")


def _check_same(estimator, asked, classes, checkpoint):
    """Refuse to go on with a stream under other terms than those it began with."""
    for name, value in {**asked, "classes_": sorted(classes.tolist())}.items():
        began = getattr(estimator, name)
        began = began.tolist() if name == "classes_" else began
        if began != value:
            raise ValueError(f"{checkpoint} was begun with {name.strip('_')}={began!r}, this command says {value!r}")


def _kept(estimator, checkpoint):
    """What a stream that stops now leaves behind."""
    done = f"{estimator.rounds_:,} rounds and {estimator.updates_} of {estimator.n_updates_} updates"
    if checkpoint is None:
        return f"the stream ends after {done}; to go on with one takes a --checkpoint"
    return f"{done} are in {checkpoint}, and the same command goes on after them"


@contextmanager
def _interrupts_wait():
    """Ctrl-C has no effect in the block but to be noted in the list that this gives."""
    noted = []
    before = signal.signal(signal.SIGINT, lambda *_: noted.append(True))
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _live():
    """A function that shows a line, and the next in its place, on standard error if that is a terminal."""
    with Live(console=_errors, transient=True, redirect_stdout=sys.stdout.isatty()) as live:
        yield lambda line: live.update(Text(line))


def _noisy_accuracy(estimator, X, y, rng):
    """Accuracy on the test part, with noise, as text; epsilon-DP for the estimator's relation.

    Each row went to the test part by a coin of its own, so neighbouring tables differ in one part only: a model
    from the training part and this release together are (epsilon, delta)-DP, no more.

    replace: the size of the part is public, one row moves the number of right predictions by at most one.
    add-remove: the size is not public. One row more adds one to the right or to the wrong predictions, so noise of
    the same scale on both pays for both, and their sum is what to divide by.

    The noise's standard deviation is computed from what is released.
    """
    from dpfast.mechanisms import discrete_laplace

    scale = 1 / Fraction(repr(estimator.epsilon))
    right = int((estimator.predict(X) == y).sum())
    if estimator.neighbors == "replace":
        right, total = discrete_laplace(right, scale, rng=rng), len(y)
    else:
        right, wrong = discrete_laplace([right, len(y) - right], scale, rng=rng).tolist()
        total = right + wrong
    if total <= 0:
        return "lost in the noise"
    accuracy = min(max(right / total, 0.0), 1.0)
    deviation = math.sqrt(2 * math.exp(-1 / scale)) / -math.expm1(-1 / scale) / total
    if estimator.neighbors == "add-remove":
        deviation *= math.hypot(accuracy, 1 - accuracy)  # of right / (right + wrong), to first order
    digits = min(6, max(2, math.ceil(-math.log10(deviation)))) if deviation > 0 else 6
    return f"{accuracy:.{digits}f} ± {deviation:.{digits}f}"


def _print_rules(estimator, private):
    """The list, a rule a row; with the rows (X, y) that each rule decides if these are given."""
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
    _print("The first rule that holds decides.")
    table = Table()
    table.add_column("", justify="right")
    table.add_column("if", overflow="fold")
    table.add_column("then", overflow="fold", style="bold")
    counts = None
    if private is not None:
        counts = _counts(estimator, *private)
        table.add_column("rows (not private)", justify="right", style="yellow")
        table.add_column("right (not private)", justify="right", style="yellow")
    for i, rule in enumerate(estimator.rules_):
        condition = " and ".join("not " * literal.negated + str(names[literal.feature]) for literal in rule.literals)
        cells = [str(i + 1), condition or "otherwise", str(rule.label)]
        if counts is not None:
            cells += [f"{count:,}" for count in counts[i]]
        table.add_row(*map(Text, cells))
    _output.print(table)


def _print_weights(estimator, console, most=15):
    """The largest weights, a feature a row."""
    import numpy as np

    no, yes = estimator.classes_
    if not estimator.updates_:
        console.print(Text(f"No update was made yet: every row is predicted as {yes}."))
        return
    names = [*getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)]), "(always)"]
    weights = np.append(estimator.coef_, estimator.intercept_)
    used = np.flatnonzero(weights)
    used = used[np.argsort(-np.abs(weights[used]), kind="stable")]
    console.print(Text("Each feature adds its weight if it is 1 and takes it away if it is 0."))
    console.print(Text(f"{yes} if the sum is at least 0, else {no}."))
    table = Table()
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right", style="bold")
    table.add_column("if 1, speaks for", overflow="fold")
    for j in used[:most]:
        table.add_row(Text(str(names[j])), f"{weights[j]:+.3f}", Text(str(yes if weights[j] > 0 else no)))
    console.print(table)
    if len(used) > most:
        console.print(Text(f"{len(used) - most:,} more have weights of at most {abs(weights[used[most]]):.3f}."))


def _counts(estimator, X, y):
    """For each rule, the rows it decides and those it decides rightly. Private."""
    import numpy as np

    from dpfast.kernels import bits

    left, counts = np.ones(len(y), dtype=bool), []
    for rule in estimator.rules_:
        holds = left.copy()
        for literal in rule.literals:
            holds &= bits.unpack(X.column(literal.feature)[np.newaxis], len(y))[0] != literal.negated
        counts.append((int(holds.sum()), int((y[holds] == rule.label).sum())))
        left &= ~holds
    return counts


def _classes(y, declared, data):
    """The set of labels: public, so declared or read off the whole table, not off a part of it."""
    import numpy as np

    seen = np.unique(y).tolist()
    if declared is None:
        if len(seen) < 2:
            raise ValueError(f"{data}: all rows have the label {seen[0]!r}, two or more are needed; see --classes")
        return seen
    names = [name.strip() for name in declared.split(",")]
    if y.dtype.kind == "i":
        try:
            names = [int(name) for name in names]
        except ValueError:
            raise ValueError(f"--classes must be integers as the labels of {data} are, got {declared!r}") from None
    unknown = sorted(set(seen) - set(names))
    if unknown:
        raise ValueError(f"{data}: a row has the label {unknown[0]!r}, which --classes {declared} does not name")
    return names


def _check_names(X, estimator, data, model):
    """Refuse a table whose columns are not the model's, naming one that is amiss."""
    wanted = list(getattr(estimator, "feature_names_in_", []))
    if not wanted or X.feature_names is None or X.feature_names == wanted:
        if X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"{data} has {X.shape[1]} features, {model} was fitted on {estimator.n_features_in_}")
        return
    there, known = set(X.feature_names), set(wanted)
    lacking = [name for name in wanted if name not in there]
    extra = [name for name in X.feature_names if name not in known]
    if lacking:
        raise ValueError(f"{data} lacks features that {model} was fitted on: {_some(lacking)}")
    if extra:
        raise ValueError(f"{data} has columns that {model} does not know: {_some(extra)}; --label leaves one out")
    raise ValueError(f"{data} has the features that {model} was fitted on, in another order")


def _read(data, **options):
    from dpfast.data.readers import read_table

    with _errors.status(f"reading {data}"):
        return read_table(data, **options)


def _some(values, most=8):
    shown = [str(value) for value in values[:most]]
    return ", ".join(shown) + (f", ... ({len(values):,} in all)" if len(values) > most else "")


def _check_writable(path):
    """Refuse, before any work, a file that could not be written after it."""
    if path is None:
        return
    if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written: it must name a file in a folder that exists")


@contextmanager
def _reporting(state):
    """Tell what went wrong in one line, on standard error, and exit with 2; with 130 when interrupted.

    `state` is what holds should the run stop now; the block moves it on.
    """
    state = SimpleNamespace(now=state)
    try:
        yield state
    except KeyboardInterrupt:
        _complain(f"interrupted: {state.now}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(f"error: {error.filename}: {error.strerror}" if error.strerror else f"error: {error}")
        raise typer.Exit(2) from None
    except (ValueError, ImportError, MemoryError) as error:
        _complain(f"error: {error}")
        raise typer.Exit(2) from None


def _complain(line):
    _errors.print(Text(" ".join(line.split()), style="red"), soft_wrap=True)


_output, _errors = Console(), Console(stderr=True)


def _print(text=""):
    _output.print(Text(text))


def _facts():
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
