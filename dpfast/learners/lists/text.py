"""A list as text."""

import re
from math import isfinite

from dpfast.tables.code_column import MISSING


def as_text(rules, names, worths=None):
    """A rule a line; with what each is worth, if that is known."""
    conditions = [condition_text(rule, names) for rule in rules]
    width = max(map(len, conditions))
    start = ["if", *["else if"] * len(conditions)]
    lines = [
        f"{word:7} {condition:{width}}  then  {rule.label}" if condition else f"else  {rule.label}"
        for word, condition, rule in zip(start, conditions, rules, strict=False)
    ]
    if worths is not None:
        width = max(map(len, lines))
        lines = [f"{line:{width}}  {worth_text(worth)}" for line, worth in zip(lines, worths, strict=True)]
    return "\n".join(lines)


def condition_text(rule, names):
    """The condition of a rule, empty if it always holds."""
    return " and ".join(literal_text(literal, names) for literal in rule.literals)


def literal_text(literal, names):
    """A literal, where a number or a date is compared with its edge: "age > 37", "age <= 37", "not job = clerk"."""
    name = str(names[literal.feature])
    if not literal.negated:
        return name
    column, above, edge = name.rpartition(" > ")
    if not above or not _is_edge(edge):
        return f"not {name}"
    missing = f"{column} = {MISSING}"  # a feature of its own, where entries may be missing
    return f"{column} <= {edge}" + (" or missing" if any(str(other) == missing for other in names) else "")


def _is_edge(text):
    try:
        return isfinite(float(text))
    except ValueError:
        return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None


def worth_text(worth):
    """How many rows a rule decides, and for which share of them it is right."""
    return f"{support_text(worth)} rows, {precision_text(worth)} right"


def support_text(worth):
    """How many rows a rule decides, and how far that may be off."""
    return f"{worth.support:,} ± {worth.support_interval[1] - worth.support:,}"


def precision_text(worth):
    """The share of its rows that a rule is right for, as an interval."""
    least, most = worth.precision_interval
    return f"{least:.2f} to {most:.2f}"
