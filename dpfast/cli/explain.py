"""dpfast explain: what columns contribute to the score of a row, or which rule decides it, for one row or many."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from .files import check_there, settings_for
from .options import Data, Model, TextOptionsOfFit, Written, spread
from .outputs import check_files, csv_of
from .predict import table_for
from .report import errors, output, reporting, say

_WIDE = 24  # letters of the longest bar


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """The options of `dpfast explain`."""

    label: Annotated[str | None, typer.Option(help="Column of labels to leave out.")] = None
    row: Annotated[int | None, typer.Option(help="Show only this row, the first one being 1, as a picture.", min=1)] = (
        None
    )
    text: TextOptionsOfFit
    out: Written = None


@spread
def explain(model: Model, data: Data, choices: ExplainOptions):
    """Show what each column contributes to the score of each row, or which rule of a decision list decides it.

    A table has a line for each row: the predicted label, its score, the constant, and a contribution for each column,
    which add up to the score; of a decision list, the number of the deciding rule and its condition. A single row is
    shown as a picture. An explanation reveals something about its row: show it only to those who may see the row.
    """
    with reporting("no explanations were written") as state:
        check_files(choices.out, MODEL=model, DATA=data)
        check_there(data)

        import dpfast
        from dpfast.tables.replacing import replace_file

        estimator = dpfast.load(model)
        if not hasattr(estimator, "explain"):
            raise ValueError(
                f"{model}: a {type(estimator).__name__} predicts neither by a sum over columns nor by rules"
            )
        text = settings_for(data, estimator, **choices.text.settings)
        X, _ = table_for(estimator, model, data, choices.label, None, None, **text)
        n = X.shape[0]
        if choices.row is not None:
            if choices.row > n:
                raise ValueError(f"{data} has {n:,} rows, and --row asks for row {choices.row:,}")
            X = X[choices.row - 1 : choices.row]
        explanation, labels = estimator.explain(X), estimator.predict(X).tolist()
        by_rules = hasattr(explanation, "fired")
        if choices.out is None and len(labels) == 1:
            if by_rules:
                _show_rules(explanation, labels[0], estimator)
            else:
                _show(explanation, labels[0])
            return
        if by_rules:
            rows = [["label", "score", "rule", "condition"], *_lines_of_rules(explanation, labels)]
        else:
            rows = [["label", "score", "constant", *explanation.names], *_lines(explanation, labels)]
        if choices.out is None:
            state.now = "the output may be cut short"
            sys.stdout.write(csv_of(rows))
        else:
            replace_file(choices.out, lambda file: file.write(csv_of(rows).encode()))
            errors.print(Text(f"{data}: {len(labels):,} rows explained in {choices.out}"), soft_wrap=True)


def _lines(explanation, labels):
    """Yield the label, score, constant and contributions of each row: of two classes for the second, else its own."""
    several = explanation.contributions.ndim == 3
    place = {label: k for k, label in enumerate(explanation.classes.tolist())}
    for i, label in enumerate(labels):
        at = (i, place[label]) if several else i
        numbers = [explanation.scores[at], explanation.constants[at], *explanation.contributions[at].tolist()]
        yield [label, *(f"{number:.9g}" for number in numbers)]


def _show(explanation, label):
    """Print one row: a bar for each column, the largest first."""
    _, *numbers = next(_lines(explanation, [label]))
    score, constant, *parts = map(float, numbers)
    say(f"predicted {label}; the score for {_scored(explanation, label)} is {score:+.3f}")
    order = sorted(range(len(parts)), key=lambda j: -abs(parts[j]))
    most = max([1e-12, *map(abs, parts)])
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("adds", justify="right")
    table.add_column("")
    for j in order:
        joint = explanation.joint.get(explanation.names[j])
        name = explanation.names[j] if joint is None else f"{explanation.names[j]} (asking {', '.join(joint)})"
        bar = "\N{FULL BLOCK}" * round(_WIDE * abs(parts[j]) / most)
        table.add_row(Text(name), f"{parts[j]:+.3f}", Text(bar, style="blue" if parts[j] > 0 else "red"))
    table.add_row("constant", f"{constant:+.3f}", "")
    output.print(table)


# ---- decision lists --------------------------------------------------------------------------------------------------


def _lines_of_rules(explanation, labels):
    """Yield the label, its score, and the number and the condition of the deciding rule of each row."""
    for (label, score, *_), rule in zip(_lines(explanation, labels), explanation.fired.tolist(), strict=True):
        yield [label, score, rule + 1, _condition(explanation.conditions[rule])]


def _condition(conditions):
    from dpfast.report.text import all_of

    return all_of(conditions) or "everything else"


def _show_rules(explanation, label, estimator):
    """Print one row: the rules up to the one that decides it, and why those before it do not."""
    _, score, rule, condition = next(_lines_of_rules(explanation, [label]))
    counted = hasattr(estimator, "rule_counts_")
    of = f"; the score for {_scored(explanation, label)} is {float(score):+.3f}" * counted
    say(f"predicted {label} by rule {rule} of {len(explanation.conditions)}{of}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rule", justify="right")
    for heading in ("if", "then", "for this row"):
        table.add_column(heading, overflow="fold")
    for k, (own, lost) in enumerate(zip(explanation.conditions, explanation.passed_over(0), strict=False)):
        why = "does not hold" if len(own) == 1 else f"does not hold: {_condition(lost)}"
        table.add_row(str(k + 1), Text(_condition(own)), Text(str(explanation.labels[k])), Text(why, style="dim"))
    table.add_row(str(rule), Text(condition), Text(str(label)), Text("holds, and decides", style="bold"))
    output.print(table)
    if counted:
        say(_worth(estimator.rule_worth()[rule - 1], rule))


def _worth(worth, rule):
    """Return what the released counts say of a rule."""
    from dpfast.report.text import is_noise, precision_text, support_text

    if is_noise(worth):
        return f"the count of the rows that rule {rule} decides is no more than noise may be"
    return (
        f"of the rows that the list learned from, rule {rule} decides {support_text(worth)}, and gets a share of "
        f"{precision_text(worth)} of them right (95% intervals)"
    )


def _scored(explanation, label):
    """Return the class whose score is shown: the second of two, else the predicted one."""
    return label if explanation.scores.ndim == 2 else explanation.classes[-1]
