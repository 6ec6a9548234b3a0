"""A fitted model as text: the names and the contents of its columns, its terms, and its rules."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfast.report.additive import code_columns, lost_in_noise, terms
from dpfast.report.trees import leaves
from dpfast.tables.cells import MISSING_NAME, OTHER_NAME, CodeColumn
from dpfast.tables.naming import listed, visible

_MOST_LEAVES = 5
BENT = (
    "log odds are a bent function of the score, the sum of what columns add: near a score of 0 they move half as much"
)
MOST_COLUMNS, _MOST_TERMS, _MOST_VALUES, _LONGEST = 250, 30, 12, 300  # columns, terms, values of one, letters of these


def summary(model: Any) -> str:
    """Return a fitted model as text: its parameters, its claim and, if it is additive, what each column adds."""
    lines = [repr(model), str(model.privacy_)]
    if code_columns(model) is not None and hasattr(model, "terms"):
        lines += _by_column(terms(model), model.classes_)
        lines += _by_leaf(model)
    lines += lines_of_discovery(getattr(model, "encoder_", None))
    return "\n".join([visible(lines[0], lines=True), *map(visible, lines[1:])])


def _by_column(every, classes):
    two, all_terms = len(classes) == 2, [term for term in every if term.clear] or every
    names = [term.column.name + ("" if two else f" for {term.label}") for term in all_terms[:_MOST_TERMS]]
    sides = [f"most for {label}" for label in classes[::-1]] if two else ["most for it", "most against it"]
    width = max(map(len, names), default=0)
    yield BENT
    if not all_terms[0].clear:
        yield "no column is clear of noise; noise alone may have made these:"
    for name, term in zip(names, all_terms, strict=False):
        extremes = "; ".join(f"{side}: {end}" for side, end in zip(sides, term.ends(), strict=True))
        yield f"{name:{width}}  moves the score by {term.importance:.2f} on average; {extremes}"
    if len(all_terms) > _MOST_TERMS:
        yield f"and {len(all_terms) - _MOST_TERMS:,} columns that matter less"
    if all_terms[0].clear and (noise := lost_in_noise(every)):
        yield f"used, with effects that are not clear of noise: {listed(noise)}"


def _by_leaf(model):
    """Yield the number of trees, and the leaves that move scores most and are clear of noise."""
    if getattr(model, "trees_", None) is None:
        return
    all_leaves = leaves(model)
    yield f"{len(model.trees_.asked)} random trees of depth {model.trees_.depth} add what columns say together" + (
        "; no single leaf is clear of noise" if not all_leaves else ":"
    )
    for leaf in all_leaves[:_MOST_LEAVES]:
        yield f"  {leaf}" + ("" if len(model.classes_) == 2 else f" for {leaf.label}")


NOISY_WEIGHTS = (
    "The noise of single weights is not known here: chance alone may have made any of them, even the largest."
)


def lines_of_discovery(encoder: Any) -> list[str]:
    """Return a heading, and a line for what was discovered of each column; nothing if all columns were declared."""
    facts = getattr(encoder, "found_", {})
    if not facts:
        return []
    columns = [column for column in encoder.schema_.columns if column.name in facts]
    lines = ["discovered privately:"]
    for column in columns[:MOST_COLUMNS]:
        name, holds, _ = column_line(column, facts[column.name], encoder.other_.get(column.name))
        lines.append(visible(f"  {name}: {holds}"))
    return lines + [f"  and {len(columns) - MOST_COLUMNS:,} more columns"] * (len(columns) > MOST_COLUMNS)


def column_line(column: Any, facts: Any, other: Any) -> tuple[str, str, str]:
    """Return the name of a column, what it holds, and how that is known.

    `facts` are what was discovered of it, or None; `other` is the share of rows with other cells.
    """
    codes = column.code_columns()
    if facts is None:
        source = "declared"
    elif facts == ["cells"]:
        source = "discovered"
    else:
        source = f"discovered: {', '.join(facts)}"
    holds = "; ".join(_holds(each) for each in codes if len(codes) == 1 or each.ordered or each.values)
    if other == 1:
        bins = [f"{each.bins:,} default bins" for each in codes if each.ordered and each.bins > 1]
        groups = [f"{each.other} groups of values" for each in codes if each.other > 1]
        read = f"read by {' and '.join([*bins, *groups])}" if bins or groups else "only missing cells are told apart"
        holds = f"too few rows to discover its values; {read}"
    elif other:
        holds += f"; other cells: about {other:.1%} of the rows"
    if facts != ["cells"]:
        source += "; cells may be missing" if any(each.nullable for each in codes) else "; no cell is missing"
    return column.name, holds, source


def _holds(column: CodeColumn) -> str:
    if column.ordered:
        assert column.low is not None
        assert column.high is not None
        kind = "dates" if column.dates else "whole numbers" if column.whole else "numbers"
        low, high = column.format_edge(column.low), column.format_edge(column.high)
        if low == high:
            return f"{kind} around {low}, {column.bins:,} bins"
        ends = column.ends()
        beyond = " and beyond" if ends[0] < column.low or column.high < ends[-1] else ""
        return f"{kind} from {low} to {high}{beyond}, {column.bins:,} bins"
    rest = f"other values in {column.other} groups" if column.other > 1 else "other" if column.other else ""
    if not column.values:
        return rest if column.other > 1 else "nothing that enough rows have"
    text = ", ".join(column.values[:_MOST_VALUES])
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    more = f", ... ({len(column.values):,} values)" if len(column.values) > _MOST_VALUES else ""
    return text + more + (f", {rest}" if rest and not (more and column.other == 1) else "")


class Numbered(Sequence):
    """The names x0, x1, ... of columns, created on access, since a file may declare 2^31 columns."""

    def __init__(self, size: int) -> None:
        self._columns = range(size)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, column: Any) -> Any:
        return f"x{self._columns[column]}"


def names_of(model: Any) -> Sequence[str]:
    """Return the names of a fitted model's columns, or x0, x1, ... if they have none."""
    reader = model._reader
    return Numbered(reader.width) if reader.names is None else reader.names


def weights_of(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of a linear model, shape (k, n), and their places; of votes only those that are not 0."""
    released = model._released_model()
    if not hasattr(released, "hypothesis"):
        rows = np.atleast_2d(model.coef_)
        return rows, np.arange(rows.shape[1])
    index, count, draws = released.hypothesis
    own = index < released.n_columns  # the last one is the intercept
    return count[np.newaxis, own] / max(1, draws), index[own]


# ---- rules -----------------------------------------------------------------------------------------------------------


def as_text(rules, names, worths=None):
    """Return the rules as text, one per line, with the support and precision of each if known."""
    conditions, labels = [visible(condition_text(rule, names)) for rule in rules], [str(rule.label) for rule in rules]
    width = max(map(len, conditions))
    start = ["if", *["else if"] * len(conditions)]
    lines = [
        f"{word:7} {condition:{width}}  then  {visible(label)}" if condition else f"else  {visible(label)}"
        for word, condition, label in zip(start, conditions, labels, strict=False)
    ]
    if worths is not None:
        width = max(map(len, lines))
        supports = [
            f"{support_text(worth)} rows, {precision_text(worth)}{'' if is_noise(worth) else ' right'}"
            for worth in worths
        ]
        lines = [f"{line:{width}}  {each}" for line, each in zip(lines, supports, strict=True)]
    return "\n".join(lines)


def condition_text(rule, names):
    """Return the condition of a rule, empty if it always holds."""
    return all_of([literal_text(literal, names) for literal in rule.literals])


def all_of(conditions: Sequence[str]) -> str:
    """Return the text of a condition that holds if several do; those that hold "or" otherwise are in brackets."""
    several = len(conditions) > 1
    return " and ".join(f"({each})" if several and each.endswith(_OR_MISSING) else each for each in conditions)


_OR_MISSING = " or missing"
_GROUP = re.compile(rf"(.*) = {OTHER_NAME}, (group \d+ of \d+)", re.DOTALL)


def literal_text(literal, names):
    """Return the text of a literal; numbers and dates are compared with an edge: "age > 37", "not job = clerk"."""
    name = str(names[literal.feature])
    if group := _GROUP.fullmatch(name):
        column, which = group.groups()
        return f"{column} is {'not ' if literal.negated else ''}one of the rarer values, {which}"
    if not literal.negated:
        return name
    column, above, edge = name.rpartition(" > ")
    if not above or not _is_edge(edge):
        return f"not {name}"
    missing = f"{column} = {MISSING_NAME}"  # a separate feature, if entries may be missing
    return f"{column} <= {edge}" + (_OR_MISSING if any(str(other) == missing for other in names) else "")


def _is_edge(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def support_text(worth):
    """Return the support of a rule and its margin of error."""
    return f"{worth.support:,} ± {worth.support_interval[1] - worth.support:,}"


def is_noise(worth):
    """Return whether the count of a rule's rows is no more than noise may be, so that it may decide no row at all.

    The interval of one rule of twenty does not hold, and a list has many: a count must be beyond two of its margins.
    """
    return worth.support <= 2 * (worth.support_interval[1] - worth.support)


def precision_text(worth):
    """Return the interval of a rule's precision as text, or that noise alone may have made its count."""
    if is_noise(worth):
        return "within noise"
    least, most = worth.precision_interval
    return f"{least:.2f} to {most:.2f}"
