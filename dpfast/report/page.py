"""One self-contained HTML page for a released model: the claim, the model, what it was told of the table."""

import os
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal, localcontext
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import dpfast
from dpfast.accounting import PrivacySpend
from dpfast.learners.lists.text import condition_text, precision_text, support_text
from dpfast.learners.saving import parameters_of
from dpfast.learners.showing import names_of
from dpfast.report.drawing import bars, dots, steps
from dpfast.report.reliability import said
from dpfast.report.terms import Term, code_columns, terms
from dpfast.tables.replacing import replace_file

_MOST_TERMS = 60  # shown; a table of hundreds of columns is not looked at curve by curve
_LARGEST_POWER = 700  # of e that is written as a number
_STYLE = """
:root{--ink:#1c2733;--soft:#5b6b7b;--line:#d9e0e7;--paper:#fff;--blue:#14507a;--red:#b3440a}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9fb0c0;--line:#33414f;--paper:#141b22;--blue:#6db3e6;
--red:#f08a55}}
.dpfast{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:64rem;margin:0 auto;
padding:1rem}
.dpfast h1{font-size:1.5rem;margin:.2rem 0}.dpfast h2{font-size:1.15rem;margin:1.6rem 0 .4rem}
.dpfast .claim{border-left:4px solid var(--blue);padding:.5rem .9rem;margin:1rem 0;background:color-mix(in srgb,
var(--blue) 8%,transparent)}
.dpfast .terms{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem}
.dpfast figure{margin:0;border:1px solid var(--line);border-radius:6px;padding:.6rem;min-width:0}
.dpfast figcaption{font-weight:600;overflow-wrap:anywhere}.dpfast figcaption small{font-weight:400;color:var(--soft)}
.dpfast svg{width:100%;height:auto;display:block}.dpfast svg text{font-size:10px;fill:var(--soft)}
.dpfast .curve{fill:none;stroke:var(--blue);stroke-width:2}.dpfast .axis{stroke:var(--line);fill:none}
.dpfast .mark,.dpfast .up{fill:var(--blue)}.dpfast .down{fill:var(--red)}.dpfast .spot{fill:transparent}
.dpfast .scroll{overflow-x:auto}.dpfast table{border-collapse:collapse;width:100%}
.dpfast th,.dpfast td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
.dpfast .bar{height:5px;background:var(--blue);margin-left:auto;border-radius:2px}
.dpfast td.n,.dpfast th.n{text-align:right;font-variant-numeric:tabular-nums}.dpfast .soft{color:var(--soft)}
"""
_NOT_COVERED = (
    "what was done to the rows before (scaling, selection, a vocabulary read off them); other fits of the same rows",
    "several rows of one person, beyond the unit that the claim names",
    "running time, and what the owner of the rows was told",
)


def write(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the page of a fitted model; replaces the file at once or not at all.

    Parameters
    ----------
    model : fitted private estimator
    path : str or path-like
    """
    check_is_fitted(model)
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(_headline(model))}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>body{{margin:0;background:var(--paper)}}</style></head><body>{page(model)}</body></html>\n"
    )
    replace_file(path, lambda file: file.write(text.encode()))


def page(model: Any) -> str:
    """Return what `write` writes, as an element that stands in a notebook too.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    str
        HTML.
    """
    claim = model.privacy_
    parts = [
        f"<style>{_STYLE}</style>",
        f"<h1>{escape(_headline(model))}</h1>",
        f'<p class="soft">{escape(type(model).__name__)}, dpfast {escape(dpfast.__version__)}</p>',
        f'<div class="claim"><strong>{escape(claim_in_words(claim))}</strong>',
        f"<br>{escape(str(claim))}</div>",
        *_body(model),
        *_came_true(model),
        "<h2>What the claim does not cover</h2>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in _NOT_COVERED)}</ul>",
        *_declared(model),
        "<h2>Parameters</h2>",
        _table(("parameter", "value"), sorted((k, _plain(v)) for k, v in parameters_of(model, claim).items())),
    ]
    return f'<div class="dpfast">{"".join(parts)}</div>'


def _headline(model):
    labels = getattr(model, "classes_", None)
    if labels is None:
        return "A private model"
    names = [str(label) for label in labels.tolist()]
    if len(names) > 8:
        return f"Which is it, of {len(names)} classes?"
    return f"Which is it: {', '.join(names[:-1])} or {names[-1]}?"


def claim_in_words(privacy: PrivacySpend) -> str:
    """Return the claim for a reader who has never seen one; its numbers are rounded up.

    Parameters
    ----------
    privacy : PrivacySpend

    Returns
    -------
    str
    """
    if privacy.unit == "row":
        changed = "any one row " + {"replace": "been another one", "add-remove": "not been there"}[privacy.neighbors]
    else:
        changed = (
            "all rows of any one person "
            + {"replace": "been others", "add-remove": "not been there"}[privacy.neighbors]
        )
    if privacy.reproducible:
        return "This model was drawn with a seed, and protects nobody: whoever knows the seed can undo the noise."
    more = f", plus {_rounded_up(_exact(privacy.delta), 6)}" if privacy.delta else ""
    return (
        "Whatever one looks for in this model, there was a probability of finding it. "
        f"Had {changed}, this probability would have been at most {_factor(privacy.epsilon)} times as large{more}."
    )


def _factor(epsilon: float) -> str:
    """e to the power of epsilon, rounded up."""
    if epsilon > _LARGEST_POWER:
        return f"e^{_rounded_up(_exact(epsilon), 6)}"
    with localcontext(prec=40):
        power = _exact(epsilon).exp() * (1 + Decimal("1e-35"))
        return str(power.quantize(Decimal("0.01"), ROUND_CEILING)) if power < 100 else _rounded_up(power, 3)


def _exact(number: float) -> Decimal:
    """A float, or the decimal that it prints as if that is more."""
    return max(Decimal(number), Decimal(repr(float(number))))


def _rounded_up(number: Decimal, digits: int) -> str:
    """A positive number with so many significant digits, rounded up."""
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        number = +number
    return f"{number.normalize():g}".lower()


def _body(model) -> Iterable[str]:
    if hasattr(model, "rules_"):
        yield "<h2>The rules, the first that holds decides</h2>"
        yield _rules(model)
    elif code_columns(model) is not None and hasattr(model, "terms"):
        yield from _curves(terms(model), len(model.classes_))
    elif hasattr(model, "coef_"):
        yield "<h2>The largest weights</h2>"
        yield from _weights(model)


def _rules(model):
    """A line for each rule; with the rows that it decides and how often it is right, where that was released."""
    names = names_of(model)
    worths = model.rule_worth() if hasattr(model, "rule_counts_") else None
    most = max([1, *(worth.support for worth in worths or ())])
    lines = []
    for k, rule in enumerate(model.rules_):
        condition = escape(condition_text(rule, names)) or "everything else"
        cells = [f"<td>{'if' if k == 0 else 'else if' if rule.literals else 'else'}</td>"]
        cells += [f"<td>{condition}</td>", f"<td><strong>{escape(str(rule.label))}</strong></td>"]
        if worths is not None:
            width = 100 * min(max(worths[k].support, 0) / most, 1)
            bar = f'<div class="bar" style="width:{width:.0f}%"></div>'
            cells.append(f'<td class="n">{support_text(worths[k])}{bar}</td>')
            cells.append(f'<td class="n">{precision_text(worths[k])}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head = "<th></th><th>condition</th><th>then</th>"
    if worths is not None:
        head += '<th class="n">rows that it decides</th><th class="n">share that it gets right</th>'
    noisy = '<p class="soft">Counts have noise, which the intervals hold.</p>' if worths is not None else ""
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>{noisy}'
    )


def _curves(found: list[Term], classes: int) -> Iterable[str]:
    yield "<h2>What each column adds to the score</h2>"
    yield (
        '<p class="soft">Scores of all columns add up. A column is drawn as a curve over its numbers, or as bars of '
        "its values; those that move scores most come first. Point at a place to read it.</p>"
    )
    yield '<div class="terms">'
    for term in found[:_MOST_TERMS]:
        label = f"for {escape(str(term.label))}, " if classes > 2 else ""
        told = f"<small>{label}moves scores by {term.importance:.2f}</small>"
        yield f"<figure><figcaption>{escape(term.column.name)} {told}</figcaption>{_picture(term)}</figure>"
    yield "</div>"
    if len(found) > _MOST_TERMS:
        yield f'<p class="soft">and {len(found) - _MOST_TERMS} that move scores less</p>'


def _picture(term: Term) -> str:
    column, texts = term.column, [term.column.meaning(code) for code in range(term.column.size)]
    if not column.ordered:
        return bars(texts, term.weights)
    missing = None if column.missing is None else float(term.weights[column.missing])
    assert column.edges is not None
    edges = [column.low, *np.clip(column.edges, column.low, column.high).tolist(), column.high]
    return steps(edges, term.weights[: column.bins], texts[: column.bins], missing)


def _came_true(model) -> Iterable[str]:
    """A picture of how far its probabilities came true, by the counts that were released with it."""
    found = said(model)
    if not found:
        return
    sided = hasattr(model, "class_counts_") and hasattr(model, "decision_function")
    what = f"<em>{escape(found[0].what)}</em>" if sided else "the label that it gives"
    yield "<h2>How often what it says comes true</h2>"
    yield (
        f'<p class="soft">Rows that it learned from, put together by the probability that it says of {what}, and the '
        "share for which it came true. Counts have noise, which the lines hold, as they do the chance of the "
        "sample. New rows may differ from these.</p>"
    )
    points = [
        (each.chance, each.share, each.reach, f"{each.what}: said {each.chance:.2f}, came true {each.share:.2f}")
        for each in found
    ]
    yield f'<figure style="max-width:20rem">{dots(points)}</figure>'


def _weights(model) -> Iterable[str]:
    rows = np.atleast_2d(model.coef_)
    names = model._names
    names = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]
    labels = model.classes_ if len(rows) > 1 else model.classes_[1:]
    for label, row in zip(labels.tolist(), rows, strict=True):
        yield f"<figure><figcaption>for {escape(str(label))}</figcaption>{bars(names, row, most=25)}</figure>"


def _declared(model) -> Iterable[str]:
    columns = code_columns(model)
    if columns is None:
        return
    found = getattr(model.encoder_, "found_", {})
    if not found:
        yield "<h2>What was declared of the table</h2>"
    else:
        yield "<h2>What was declared or found of the table</h2>"
        yield (
            '<p class="soft">What was found was read off the rows privately: the claim covers it. The rest was '
            "declared.</p>"
        )
    rows = [
        (
            column.name,
            f"{column.bins} bins in [{column.low:.6g}, {column.high:.6g}]"
            if column.ordered
            else ", ".join(column.values[:12]) + (f", ... ({len(column.values)})" if len(column.values) > 12 else ""),
            "may be missing" if column.nullable else "",
            f"found: {', '.join(found[column.name])}" if column.name in found else "",
        )
        for column in columns
    ]
    yield _table(("column", "holds", "", ""), rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'


def _plain(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
