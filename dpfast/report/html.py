"""A self-contained HTML page for a released model: what it predicts, how well, its claim, and the model itself."""

import os
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal, localcontext
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

import dpfast
from dpfast.accounting import PrivacySpend
from dpfast.report.columns import columns_table, plain_table
from dpfast.report.drawing import Dot, dots
from dpfast.report.panels import panels
from dpfast.tables.replacing import replace_file

_LARGEST_POWER = 700  # of e that is written as a number
_STYLE = """
.dpfast{--ink:#1c2733;--soft:#55636f;--line:#d9e0e7;--rule:#e8edf2;--paper:#fff;--blue:#14507a;--red:#b3440a;
--noise:#55636f}
@media screen and (prefers-color-scheme:dark){.dpfast{--ink:#e6ebf0;--soft:#a9b8c6;--line:#33414f;--rule:#26313c;
--paper:#141b22;--blue:#6db3e6;--red:#f08a55;--noise:#a9b8c6}}
.dpfast{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:64rem;margin:0 auto;
padding:1rem;overflow-wrap:anywhere}
.dpfast h1{font-size:1.5rem;margin:.2rem 0}.dpfast h2{font-size:1.15rem;margin:1.8rem 0 .4rem}
.dpfast .claim{border-left:4px solid var(--blue);padding:.5rem .9rem;margin:1rem 0;background:color-mix(in srgb,
var(--blue) 8%,transparent)}
.dpfast .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13rem,100%),1fr));gap:1rem;margin:1rem 0}
.dpfast .tiles>div{border:1px solid var(--line);border-radius:6px;padding:.5rem .8rem}
.dpfast .tiles dt{color:var(--soft)}.dpfast .tiles dd{margin:0;font-size:1.5rem;font-variant-numeric:tabular-nums}
.dpfast .tiles dd small{display:block;font-size:.85rem;color:var(--soft)}
.dpfast .terms{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(18rem,100%),1fr));gap:1rem}
.dpfast figure{margin:0;border:1px solid var(--line);border-radius:6px;padding:.6rem;min-width:0;break-inside:avoid}
.dpfast figcaption{font-weight:600}.dpfast figcaption small{font-weight:400;color:var(--soft)}
.dpfast svg{width:100%;height:auto;display:block}.dpfast svg text{font-size:11px;fill:var(--soft)}
.dpfast .curve{fill:none;stroke:var(--blue);stroke-width:2}.dpfast .axis{stroke:var(--soft);fill:none}
.dpfast .rule{stroke:var(--rule);fill:none}.dpfast .band{fill:var(--noise);opacity:.25}
.dpfast .even{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.dpfast .reach{stroke:var(--noise);stroke-width:2;fill:none}
.dpfast .mark,.dpfast .up{fill:var(--blue)}.dpfast .down{fill:var(--red)}.dpfast .spot{fill:transparent}
.dpfast .scroll{overflow-x:auto}.dpfast table{border-collapse:collapse;width:100%}
.dpfast th,.dpfast td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}
.dpfast tr.pale td,.dpfast tr.pale strong{color:var(--soft);font-weight:400}.dpfast tr.pale .bar{opacity:.3}
.dpfast .bar{height:5px;background:var(--blue);margin-left:auto;border-radius:2px}
.dpfast td.n,.dpfast th.n{text-align:right;font-variant-numeric:tabular-nums}.dpfast .soft{color:var(--soft)}
@media print{.dpfast{max-width:none;padding:0;font-size:10pt}.dpfast .terms{grid-template-columns:1fr 1fr}
.dpfast h2{break-after:avoid}.dpfast .scroll{overflow:visible}.dpfast *{print-color-adjust:exact}}
"""
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
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(_headline(model))}</title>'
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
        f"<style>{_STYLE}</style>",
        f"<h1>{escape(_headline(model))}</h1>",
        f"<p>{escape(_origin(model))}</p>",
        *_figures(model),
        f'<div class="claim"><strong>{escape(claim_in_words(claim))}</strong>',
        f"<br>{escape(str(claim))}</div>",
        *panels(model),
        *_reliability(model),
        *columns_table(model),
        "<h2>What the claim does not cover</h2>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in _NOT_COVERED)}</ul>",
        "<h2>Parameters</h2>",
        plain_table("the parameters", ("parameter", "value"), parameters),
    ]
    return f'<div class="dpfast">{"".join(parts)}</div>'


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
        points = model._came_true()
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
    told = f"{len(points)} shares that came true beside the probabilities that were given"
    yield f'<figure style="max-width:22rem">{dots(points, told)}</figure>'


def _plain(value):
    text = repr(value)
    return text if len(text) <= 200 else text[:199] + "…"
