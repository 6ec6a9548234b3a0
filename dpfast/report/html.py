"""A self-contained HTML page for a released model: what it predicts, how well, its claim, and the model itself."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from html import escape
from importlib import resources
from typing import Any

from sklearn.utils.validation import check_is_fitted

import dpfast
from dpfast.accounting import PrivacySpend
from dpfast.report.about import FIELDS, budget_in_words, budget_of, missing, stated
from dpfast.report.additive import code_columns, terms
from dpfast.report.classes import class_table, groups, hardly_predicted
from dpfast.report.drawing import VAGUE, Dot, dots
from dpfast.report.effects import DrawnRows, effects, predicted_classes
from dpfast.report.panels import columns_table, panels, plain_table, what_matters
from dpfast.tables.naming import visible
from dpfast.tables.replacing import replace_file

_LARGEST_POWER = 700  # of e that is written as a number
_WRITTEN_OUT = 10**6  # larger factors are written with an exponent
_STYLE = (resources.files("dpfast.report") / "page.css").read_text(encoding="utf-8")
NOT_COVERED = (
    "what was done to the rows before (scaling, selection, a vocabulary read off them); other fits of the same rows",
    "several rows of one person, beyond the unit that the claim names",
    "running time, and what the owner of the rows was told",
)


def write(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the page of a fitted model; the file is replaced atomically.

    Parameters
    ----------
    model : fitted private estimator
    path : str or path-like
    """
    check_is_fitted(model)
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(visible(headline(model)))}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><style>body{{margin:0}}</style></head><body><main>{page(model)}</main></body></html>\n'
    )
    replace_file(path, lambda file: file.write(text.encode()))


def page(model: Any) -> str:
    """Return the page as an HTML element, which a notebook can display.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    str
        HTML.
    """
    claim = model.privacy_
    all_terms = terms(model) if code_columns(model) is not None and hasattr(model, "terms") else []
    rows = DrawnRows(model, all_terms) if predicts_codes(model) else None
    ranked = [] if rows is None else effects(model, all_terms, rows)
    numbers = None if rows is None else predicted_classes(model, rows.table)
    parameters = sorted((name, _plain(value)) for name, value in model._reporter.parameters().items())
    parts = [
        f"<style>\n{_STYLE}</style>",
        f"<h1>{escape(headline(model))}</h1>",
        f"<p>{escape(' '.join([origin(model), *_hardly(model, numbers)]))}</p>",
        *_figures(model),
        f'<div class="claim"><strong>{escape(protects(claim))}</strong> {escape(claim_in_words(claim))}',
        f'<br><span class="soft">{escape(str(claim))}</span></div>',
        *_about(model),
        "<h2>The whole budget</h2>",
        *_budget(model),
        *_notes(model),
        *class_table(model),
        *groups(model),
        *what_matters(model, ranked, rows),
        *panels(model, all_terms),
        *_reliability(model),
        *columns_table(model),
        "<h2>What the claim does not cover</h2>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in NOT_COVERED)}</ul>",
        "<h2>Parameters</h2>",
        plain_table("the parameters", ("parameter", "value"), parameters),
    ]
    return visible(f'<div class="dpfast">{"".join(parts)}</div>', lines=True)


def predicts_codes(model: Any) -> bool:
    """Return whether a model predicts tables of codes, of whose columns a page tells the effects."""
    return code_columns(model) is not None and hasattr(model, "predict") and hasattr(model, "classes_")


def _hardly(model, numbers):
    return [] if getattr(model, "classes_", None) is None else hardly_predicted(model, numbers)


def headline(model):
    label, labels = _facts(model).get("label"), getattr(model, "classes_", None)
    what = f"Predicts {label}" if label else "A private model"
    if labels is None:
        return what
    names = [str(each) for each in labels.tolist()]
    listed = f"one of {len(names)} classes" if len(names) > 8 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"{what}: {listed}"


def _facts(model):
    """Return the public facts about the table by name; empty for models from files without them."""
    facts = getattr(model, "_facts", None)
    return facts if isinstance(facts, dict) else {}


def origin(model):
    """Return a sentence that says what the model was learned from."""
    facts, encoder = _facts(model), getattr(model, "encoder_", None)
    rows, persons = facts.get("rows"), facts.get("persons")
    columns = model.n_features_in_ if encoder is None else len(encoder.schema_.columns)
    of = f"{rows:,} rows of " if type(rows) is int else f"{persons:,} persons and " if type(persons) is int else ""
    private = model.privacy_.neighbors == "add-remove" or (type(persons) is int and type(rows) is not int)
    hidden = " The number of rows is private." if private else ""
    plural = "s" if columns != 1 else ""
    return (
        f"Learned from {of}{columns:,} column{plural} by {type(model).__name__}.{hidden} "
        f"This page was written on {datetime.now(UTC).date()} by dpfast {dpfast.__version__}."
    )


def _about(model) -> Iterable[str]:
    """Yield what people stated about the model, and what nobody did."""
    statement, lost = stated(model), missing(model)
    yield "<h2>Purpose, owner, data and limits</h2>"
    if statement:
        lines = [(heading, statement[name]) for name, (heading, _) in FIELDS.items() if name in statement]
        yield plain_table("what was stated about the model", ("about", "as stated"), lines, named=True)
    if lost:
        listed = ", ".join(heading.lower() for heading in lost)
        yield f'<p class="soft"><strong>Nobody has stated:</strong> {escape(listed)}.</p>'


def _budget(model) -> Iterable[str]:
    """Yield what the table had spent in all, and by which charges."""
    statement = budget_of(model)
    yield f"<p>{escape(budget_in_words(statement))}</p>"
    if statement is not None:
        lines = [
            (each["time"], each["what"], each.get("part", ""), f"({each['epsilon']:.6g}, {each['delta']:.6g})", count)
            for each in statement["charges"]
            for count in [f"{each['count']:,}"]
        ]
        yield plain_table("the charges", ("time (UTC)", "what", "part", "(epsilon, delta)", "times"), lines)
        if statement["count"] > len(statement["charges"]):
            yield f'<p class="soft">The last {len(statement["charges"]):,} of {statement["count"]:,} charges.</p>'


def _notes(model) -> Iterable[str]:
    """Yield what the fit decided."""
    notes = getattr(model, "notes_", [])
    if notes:
        yield f"<h2>What the fit decided</h2><ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"


def _figures(model) -> Iterable[str]:
    """Yield the measured figures of how well the model predicts."""
    figures = getattr(model, "figures_", {})
    if "accuracy" not in figures:
        yield '<p class="soft">How well it predicts was not measured with it: dpfast score does so on new rows.</p>'
        return
    tiles = [("right predictions", figures["accuracy"], "{:.1%}", "")]
    if "largest class" in figures:
        largest = figures["largest class"]
        tiles.append((f"always saying {largest.get('label')} would be right for", largest, "{:.1%}", ""))
    if "AUC" in figures:
        tiles.append(("area under the ROC curve (AUC)", figures["AUC"], "{:.3f}", "0.5 is guessing, 1 is perfect"))
    yield '<dl class="tiles">'
    for name, figure, form, note in tiles:
        value, low, high = (form.format(figure.get(each, float("nan"))) for each in ("value", "low", "high"))
        more = f"{low} to {high}" + (f"; {note}" if note else "")
        yield f"<div><dt>{escape(str(name))}</dt><dd>{value}<small>{more}</small></dd></div>"
    of = escape(str(figures.get("test", {}).get("of", "rows that it never saw")))
    rows = figures.get("rows", {})
    many = f"{rows['value']:,.0f} rows, " if "value" in rows else ""
    about = "about " * bool(many and rows.get("high") != rows["value"])
    yield (
        f'</dl><p class="soft">Measured with noise on {about}{many}{of}. The intervals hold what the noise and the '
        "choice of these rows may have moved, with a chance of 95% each.</p>"
    )
    yield from _confusion(model, figures.get("confusion", ()))


def _confusion(model, cells):
    """Yield how many rows of each class were predicted as which class."""
    counts = {(each.get("of"), each.get("label")): each for each in cells}
    labels = [str(label) for label in model.classes_.tolist()]
    if {(true, label) for true in labels for label in labels} != {*counts}:
        return
    lines = [(true, *(_count_text(counts[true, label]) for label in labels)) for true in labels]
    yield "<h3>What was predicted for these rows</h3>"
    yield (
        '<p class="soft">Each row is predicted as the class that the model finds more likely. Counts have noise, which '
        "the 95% intervals hold.</p>"
    )
    yield plain_table("predictions by class", ("class of the row", *(f"predicted {label}" for label in labels)), lines)


def _count_text(count):
    """Return a noisy count and its interval as text."""
    value, low, high = (max(float(count.get(name, 0)), 0.0) for name in ("value", "low", "high"))
    return f"{value:,.0f} ({low:,.0f} to {high:,.0f})"


def protects(privacy):
    """Return what a claim protects, as a headline: rows, persons, or nobody."""
    if privacy.reproducible:
        return "Protects nobody."
    if privacy.unit == "row":
        return "Protects single rows, not persons who have several."
    most = privacy.rows_per_unit
    of_each = f" (at most {most:,} row{'s' * (most > 1)} each)" if most else ""
    return f"Protects persons{of_each}."


def claim_in_words(privacy: PrivacySpend) -> str:
    """Return the claim for a reader who has never seen one; its numbers are rounded up.

    The first sentence is the definition: a result is any set of models. The second is its consequence for tests: of
    two neighbours that are equally likely, the best guess is right with probability at most
    (e^epsilon + delta) / (e^epsilon + 1).

    Parameters
    ----------
    privacy : PrivacySpend

    Returns
    -------
    str
    """
    if privacy.reproducible:
        return "This model was drawn with a seed: whoever knows the seed can undo the noise."
    row = privacy.unit == "row"
    unit, others = ("any one row", "all other rows") if row else ("any one person", "the rows of all others")
    if privacy.neighbors == "replace":
        changed = "had been different" if row else "had had different rows"
        knows = f"{others} and two equally likely candidates for {'this one' if row else 'those of this one'}"
    else:
        changed = "had been added or left out"
        knows = f"{others}, and to whom this {'one' if row else 'person'} is as likely in the table as not,"
    more = f" (plus a chance of {_round_up(_exact(privacy.delta), 6)})" if privacy.delta else ""
    return (
        f"If {unit} {changed}, every possible result would have been at most {_factor(privacy.epsilon)} times as "
        f"likely{more}. So somebody who knows {knows} guesses right from the model with a chance of at most "
        f"{_guess(privacy)}; a coin has 50%."
    )


def _guess(privacy):
    """Return the largest chance of a right guess between two neighbours as a percentage, rounded up."""
    if privacy.epsilon > _LARGEST_POWER:
        return "100%"
    with localcontext(prec=400):
        odds = _exact(privacy.epsilon).exp()
        wrong = max(100 * (1 - _exact(privacy.delta)) / (odds + 1) - Decimal("1e-300"), Decimal(0))
        digits = Decimal("0.1") if wrong >= 1 else Decimal("0.0001")
        return f"{(100 - wrong.quantize(digits, ROUND_FLOOR)).normalize():f}%"


def _factor(epsilon: float) -> str:
    """Return e to the power of epsilon, rounded up."""
    if epsilon > _LARGEST_POWER:
        return f"e^{_round_up(_exact(epsilon), 6)}"
    with localcontext(prec=40):
        power = _exact(epsilon).exp() * (1 + Decimal("1e-35"))
        if power < 100:
            return str(power.quantize(Decimal("0.01"), ROUND_CEILING))
        large = _round_up(power, 3)
        return f"{Decimal(large):,.0f}" if power < _WRITTEN_OUT else large


def _exact(number: float) -> Decimal:
    """Return a float exactly, or the decimal that it prints as if that is larger."""
    return max(Decimal(number), Decimal(repr(float(number))))


def _round_up(number: Decimal, digits: int) -> str:
    """Return a positive number with so many significant digits, rounded up."""
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        number = +number
    return f"{number.normalize():g}".lower()


def _reliability(model) -> Iterable[str]:
    """Yield how often predictions came true: on rows that the model never saw, or else by the counts it released."""
    bins = getattr(model, "figures_", {}).get("reliability")
    if bins:
        what, rows = str(model.classes_[-1]), "rows that it never saw"
        points = [
            Dot(what, *(min(max(float(each.get(name, 0)), 0.0), 1.0) for name in ("said", "value", "low", "high")))
            for each in bins
        ]
        new = ""
    else:
        points = model._reporter.reliability()
        rows, new = "rows that it learned from", " New rows may differ from these."
        sided = hasattr(model, "class_counts_") and hasattr(model, "decision_function")
        what = points[0].what if points and sided else ""
    if not points:
        return
    of = f"<strong>{escape(what)}</strong>" if what else "the label that it gives"
    vague = (
        f" Where the interval is wider than {VAGUE:.0%}, the dot is hollow: there are too few rows to say."
        if any(point.vague for point in points)
        else ""
    )
    heading = "Whether its probabilities come true"
    yield f"<h2>{heading}{'' if bins else ', on rows that it learned from'}</h2>"
    yield (
        f'<p class="soft">Across: the probability that it gives to {of}. Upwards: the share of {rows} for which that '
        f"came true, with an interval for the noise and the choice of rows. On the dashed line both are the same."
        f"{vague}{new}</p>"
    )
    lines = [(point.what, f"{point.chance:.0%}", _came_true(point)) for point in points]
    description = "; ".join(f"{name}: said {chance}, came true {share}" for name, chance, share in lines)
    table = plain_table("probabilities", ("label", "probability that it gives", "share that came true"), lines)
    yield (
        f'<figure style="max-width:22rem">{dots(points, description)}<details><summary>All of these</summary>{table}'
        "</details></figure>"
    )


def _came_true(point):
    """Return the share that came true and its interval as text."""
    return "too few rows to say" if point.vague else f"{point.share:.0%} ({point.low:.0%} to {point.high:.0%})"


def _plain(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
