"""A self-contained HTML page for a released model: what it predicts, how well, its claim, and the model itself."""

import os
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal, localcontext
from html import escape
from importlib import resources
from typing import Any

from sklearn.utils.validation import check_is_fitted

import dpfast
from dpfast.accounting import PrivacySpend
from dpfast.report.drawing import Dot, dots
from dpfast.report.panels import columns_table, panels, plain_table
from dpfast.tables.naming import visible
from dpfast.tables.replacing import replace_file

_LARGEST_POWER = 700  # of e that is written as a number
_STYLE = (resources.files("dpfast.report") / "page.css").read_text(encoding="utf-8")
_NOT_COVERED = (
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
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(visible(_headline(model)))}</title>'
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
    parameters = sorted((name, _plain(value)) for name, value in model._stated(claim).items())
    parts = [
        f"<style>\n{_STYLE}</style>",
        f"<h1>{escape(_headline(model))}</h1>",
        f"<p>{escape(_origin(model))}</p>",
        *_figures(model),
        f'<div class="claim"><strong>{escape(claim_in_words(claim))}</strong>',
        f"<br>{escape(str(claim))}</div>",
        *_notes(model),
        *panels(model),
        *_reliability(model),
        *columns_table(model),
        "<h2>What the claim does not cover</h2>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in _NOT_COVERED)}</ul>",
        "<h2>Parameters</h2>",
        plain_table("the parameters", ("parameter", "value"), parameters),
    ]
    return visible(f'<div class="dpfast">{"".join(parts)}</div>', lines=True)


def _headline(model):
    label, labels = _facts(model).get("label"), getattr(model, "classes_", None)
    what = f"Predicts {label}" if label else "A private model"
    if labels is None:
        return what
    names = [str(each) for each in labels.tolist()]
    listed = f"one of {len(names)} classes" if len(names) > 8 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"{what}: {listed}"


def _facts(model):
    """Return the public facts about the table by name; empty for models from files without them."""
    known = getattr(model, "_facts", None)
    return known if isinstance(known, dict) else {}


def _origin(model):
    """Return a sentence that says what the model was learned from."""
    rows, encoder = _facts(model).get("rows"), getattr(model, "encoder_", None)
    columns = model.n_features_in_ if encoder is None else len(encoder.schema_.columns)
    of = f"{rows:,} rows of " if type(rows) is int else ""
    hidden = "" if of else " The number of rows is private." if model.privacy_.neighbors == "add-remove" else ""
    plural = "s" if columns != 1 else ""
    return (
        f"Learned from {of}{columns:,} column{plural} by {type(model).__name__} of dpfast {dpfast.__version__}.{hidden}"
    )


def _notes(model) -> Iterable[str]:
    """Yield what the fit decided."""
    notes = getattr(model, "notes_", [])
    if notes:
        yield f"<h2>What the fit decided</h2><ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"


def _figures(model) -> Iterable[str]:
    """Yield the measured figures of how well the model predicts."""
    known = getattr(model, "figures_", {})
    if "accuracy" not in known:
        yield '<p class="soft">How well it predicts was not measured with it: dpfast score does so on new rows.</p>'
        return
    tiles = [("right predictions", known["accuracy"], "{:.1%}", "")]
    if "largest class" in known:
        largest = known["largest class"]
        tiles.append((f"always saying {largest.get('label')} would be right for", largest, "{:.1%}", ""))
    if "AUC" in known:
        tiles.append(("area under the ROC curve (AUC)", known["AUC"], "{:.3f}", "0.5 is guessing, 1 is perfect"))
    yield '<dl class="tiles">'
    for name, figure, form, note in tiles:
        value, low, high = (form.format(figure.get(each, float("nan"))) for each in ("value", "low", "high"))
        more = f"{low} to {high}" + (f"; {note}" if note else "")
        yield f"<div><dt>{escape(str(name))}</dt><dd>{value}<small>{more}</small></dd></div>"
    of = escape(str(known.get("test", {}).get("of", "rows that it never saw")))
    yield (
        f'</dl><p class="soft">Measured with noise on {of}. The intervals hold what the noise and the choice of these '
        "rows may have moved, with a chance of 95% each.</p>"
    )


def claim_in_words(privacy: PrivacySpend) -> str:
    """Return the claim for a reader who has never seen one; its numbers are rounded up.

    Parameters
    ----------
    privacy : PrivacySpend

    Returns
    -------
    str
    """
    unit, others = ("any one row", "another one") if privacy.unit == "row" else ("all rows of any one person", "others")
    changed = {"replace": f"{unit} been {others}", "add-remove": f"{unit} not been there"}[privacy.neighbors]
    if privacy.reproducible:
        return "This model was drawn with a seed, and protects nobody: whoever knows the seed can undo the noise."
    more = f", plus {_rounded_up(_exact(privacy.delta), 6)}" if privacy.delta else ""
    return (
        "Whatever one looks for in this model, there was a probability of finding it. "
        f"Had {changed}, this probability would have been at most {_factor(privacy.epsilon)} times as large{more}."
    )


def _factor(epsilon: float) -> str:
    """Return e to the power of epsilon, rounded up."""
    if epsilon > _LARGEST_POWER:
        return f"e^{_rounded_up(_exact(epsilon), 6)}"
    with localcontext(prec=40):
        power = _exact(epsilon).exp() * (1 + Decimal("1e-35"))
        return str(power.quantize(Decimal("0.01"), ROUND_CEILING)) if power < 100 else _rounded_up(power, 3)


def _exact(number: float) -> Decimal:
    """Return a float exactly, or the decimal that it prints as if that is larger."""
    return max(Decimal(number), Decimal(repr(float(number))))


def _rounded_up(number: Decimal, digits: int) -> str:
    """Return a positive number with so many significant digits, rounded up."""
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        number = +number
    return f"{number.normalize():g}".lower()


def _reliability(model) -> Iterable[str]:
    """Yield how often predictions came true: on rows that the model never saw, or else by the counts it released."""
    known = getattr(model, "figures_", {}).get("reliability")
    if known:
        what, rows = str(model.classes_[-1]), "rows that it never saw"
        points = [
            Dot(what, *(min(max(float(each.get(name, 0)), 0.0), 1.0) for name in ("said", "value", "low", "high")))
            for each in known
        ]
        new = ""
    else:
        points = model._reliability()
        rows, new = "rows that it learned from", " New rows may differ from these."
        sided = hasattr(model, "class_counts_") and hasattr(model, "decision_function")
        what = points[0].what if points and sided else ""
    if not points:
        return
    of = f"<strong>{escape(what)}</strong>" if what else "the label that it gives"
    yield "<h2>Whether its probabilities come true</h2>"
    yield (
        f'<p class="soft">Across: the probability that it gives to {of}. Upwards: the share of {rows} for which that '
        "came true, with an interval for the noise and the choice of rows. On the dashed line both are the same."
        f"{new}</p>"
    )
    description = f"{len(points)} shares that came true beside the probabilities that were given"
    yield f'<figure style="max-width:22rem">{dots(points, description)}</figure>'


def _plain(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
