"""A model card: a README.md with metadata, in the form of Hugging Face, of what was released and what people stated."""

import json
import os
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from dpfast.report import about
from dpfast.report.classes import measured
from dpfast.report.html import NOT_COVERED, claim_in_words, headline, origin, protects
from dpfast.tables.naming import visible
from dpfast.tables.replacing import replace_file

_MISSING = "_Nobody has stated this._"
_SECTIONS = {
    "Uses": ("purpose", "users", "out_of_scope"),
    "Bias, risks and limitations": ("limits", "ethics"),
    "Training data": ("data", "period", "population", "preparation"),
    "Owner and contact": ("owner", "contact", "review"),
}


def write(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the card of a fitted model as Markdown; the file is replaced atomically.

    Parameters
    ----------
    model : fitted private classifier
    path : str or path-like
    """
    check_is_fitted(model)
    text = card(model)
    replace_file(path, lambda file: file.write(text.encode()))


def card(model: Any) -> str:
    """Return the card of a fitted model.

    Parameters
    ----------
    model : fitted private classifier

    Returns
    -------
    str
        Markdown, with metadata in YAML at its beginning.
    """
    parts = ["---", *_metadata(model), "---", "", f"# {_text(headline(model))}", "", _text(origin(model)), ""]
    if lost := about.missing(model):
        parts += [f"Nobody has stated: {', '.join(lost).lower()}.", ""]
    statement = about.stated(model)
    for section, names in _SECTIONS.items():
        parts += [f"## {section}", ""]
        for name in names:
            parts += [f"**{about.FIELDS[name][0]}.** {_text(statement[name]) if name in statement else _MISSING}", ""]
    parts += ["## Privacy", "", f"**{protects(model.privacy_)}** {claim_in_words(model.privacy_)}", ""]
    parts += [f"`{model.privacy_}`", "", about.budget_in_words(about.budget_of(model)), ""]
    parts += ["The claim does not cover:", "", *(f"- {line}" for line in NOT_COVERED), ""]
    parts += ["## Evaluation", "", *_evaluation(model), ""]
    parts += ["## How to use it", "", "```python", "import dpfast", "", 'model = dpfast.load("model.json")']
    parts += ["model.predict(X)", "```", ""]
    return visible("\n".join(parts), lines=True)


def _metadata(model) -> Iterable[str]:
    """Yield lines of YAML; texts are those of JSON, which YAML reads alike."""
    figures, license = getattr(model, "figures_", {}), about.stated(model).get("license")
    yield "library_name: dpfast"
    yield "pipeline_tag: tabular-classification"
    if license and re.fullmatch(r"[A-Za-z0-9.+-]+", license):
        yield f"license: {license.lower()}"
    yield "tags:"
    yield from (f"- {tag}" for tag in ("differential-privacy", "tabular-classification", "dpfast"))
    if "accuracy" not in figures:
        return
    facts = getattr(model, "_facts", None) or {}
    yield "model-index:"
    yield f"- name: {_quoted(headline(model))}"
    yield "  results:"
    yield "  - task:"
    yield "      type: tabular-classification"
    yield "    dataset:"
    yield f"      name: {_quoted(str(facts.get('label', 'private table')))}"
    yield "      type: private"
    yield "    metrics:"
    for kind, name in (("accuracy", "accuracy"), ("roc_auc", "AUC")):
        if name in figures:
            yield f"    - type: {kind}"
            yield f"      value: {float(figures[name]['value']):.4f}"
            yield f"      name: {_quoted(_interval(figures[name], '{:.3f}', f'{name} (noisy), 95% interval '))}"


def _evaluation(model):
    figures = getattr(model, "figures_", {})
    if "accuracy" not in figures:
        yield "How well it predicts was not measured with it."
        return
    of = str(figures.get("test", {}).get("of", "rows that it never saw"))
    yield f"Noisy figures of {_text(of)}, with 95% intervals."
    yield ""
    for name in ("accuracy", "AUC"):
        if name in figures:
            value = float(figures[name]["value"])
            yield f"- {name}: {value:.3f} ({_interval(figures[name], '{:.3f}')})"
    if "largest class" in figures:
        largest = figures["largest class"]
        yield f"- always saying {_text(str(largest.get('label')))}: {float(largest['value']):.3f} right"
    yield from _table(model, "classes", "label", "any other label", ("share", "predicted share", "recall", "precision"))
    for column in dict.fromkeys(each["column"] for each in measured(model, "groups")):
        own = [each for each in measured(model, "groups") if each["column"] == column]
        yield from _table(own, column, "group", "any other value", ("accuracy", "said", "came true"))


def _table(of, what, key, rest, measures):
    """Yield a table of Markdown with a line for each class or group."""
    records = of if isinstance(of, list) else measured(of, what)
    if not records:
        return
    lines: dict[Any, dict] = {}
    for each in records:
        lines.setdefault(each.get(key), {})[each["measure"]] = each
    measures = [name for name in measures if any(name in figures for figures in lines.values())]
    yield ""
    yield f"| {_text(what)} | {' | '.join(measures)} |"
    yield f"|{' --- |' * (len(measures) + 1)}"
    for name, figures in lines.items():
        cells = [_interval(figures[each], "{:.1%}") if each in figures else "-" for each in measures]
        yield f"| {rest if name is None else _text(str(name))} | {' | '.join(cells)} |"


def _interval(figure, form, before=""):
    return f"{before}{form.format(float(figure['low']))} to {form.format(float(figure['high']))}"


def _quoted(text):
    return json.dumps(visible(text), ensure_ascii=False)


def _text(text):
    """Return a text of people as Markdown on one line that means nothing but itself."""
    return re.sub(r"([\\`*_\[\]|#])", r"\\\1", escape(" ".join(visible(text, lines=True).split()), quote=False))
