"""The classes of a model on its page, and the groups for which it was measured."""

from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from dpfast.report.drawing import VAGUE, Range, ranges
from dpfast.report.panels import plain_table
from dpfast.tables.classes import OTHER_LABEL

_NOT = "not measured"
_LISTED = 200  # classes in a table


def measured(model: Any, name: str) -> list[dict]:
    """Return the records of a figure of a model, "classes" or "groups"."""
    return getattr(model, "figures_", {}).get(name, [])


def hardly_predicted(model: Any, numbers: np.ndarray | None) -> Iterable[str]:
    """Yield a sentence about the classes that are never predicted, or hardly ever, for the beginning of a page.

    `numbers` are those of the classes predicted for drawn rows, which tell it if nothing was measured.
    """
    names = [str(label) for label in model.classes_.tolist()]
    records = [each for each in measured(model, "classes") if each["measure"] == "predicted"]
    if hasattr(model, "rules_"):
        labels_of_rules = {str(rule.label) for rule in model.rules_}
        lost = [name for name in names if name not in labels_of_rules]
        if lost:
            yield f"No rule predicts {_either(lost)}: {'it is' if len(lost) == 1 else 'they are'} never predicted."
            names = [name for name in names if name in labels_of_rules]
    if records:
        most = {each["label"]: each["high"] for each in records if each["low"] <= 0}
        if lost := [name for name in names if name in most]:
            rows = max(most[name] for name in lost)
            each = "it" if len(lost) == 1 else "each of them"
            yield (
                f"{_either(lost)} may never be predicted: of the measured rows {each} was for {rows:,.0f} at most, and "
                "within noise for none."
            )
    elif numbers is not None:
        labels_of_model = {str(label) for label in model.classes_[np.unique(numbers)].tolist()}
        if lost := [name for name in names if name not in labels_of_model]:
            yield (
                f"For none of {len(numbers):,} rows that were drawn from what the fit released, {_either(lost)} was "
                "predicted."
            )


def _either(names):
    listed_names = [*names[:8], *([f"{len(names) - 8:,} other classes"] if len(names) > 8 else [])]
    return listed_names[0] if len(listed_names) == 1 else f"{', '.join(listed_names[:-1])} or {listed_names[-1]}"


def class_table(model: Any) -> Iterable[str]:
    """Yield a table with a line for each class: its share, how it is known, how often it is predicted, how well."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return
    records: dict[Any, dict[str, dict]] = {}
    for each in measured(model, "classes"):
        records.setdefault(each.get("label"), {})[each["measure"]] = each
    facts = getattr(model, "_facts", None) or {}
    source = facts.get("classes", "known")
    sizes = getattr(model, "class_sizes_", None)
    total = None if sizes is None else float(np.maximum(sizes, 0).sum())
    lines: list[tuple[str, ...]] = []
    for k, label in enumerate(classes.tolist()[:_LISTED]):
        of = records.get(str(label), {})
        share = _share(of.get("share"))
        if share == _NOT and sizes is not None and total:
            share = f"about {max(float(sizes[k]), 0.0) / total:.1%}"
        cells = [share, *(_share(of.get(name)) for name in ("predicted share", "recall", "precision"))]
        lines.append((str(label), source, *cells))
    if None in records:
        of = records[None]
        lines.append(("any other label", "not found or not declared", _share(of.get("share")), "never", "-", "-"))
    else:
        lines += _of_other_labels(model)
    estimated = any(share.startswith("about ") for _, _, share, *_ in lines)
    yield "<h2>Classes</h2>"
    yield (
        '<p class="soft">Recall: the share of the rows of a class that are predicted as it. Precision: the share of '
        "the rows predicted as a class that are of it."
        + (" Intervals of 95% hold the noise and the choice of rows." if records else "")
        + (" A share with about is of the rows that it learned from, with noise." if estimated else "")
        + "</p>"
    )
    head = ("class", "how it is known", "share of rows", "predicted for", "recall", "precision")
    yield plain_table("the classes", head, lines, named=True)
    if len(classes) > _LISTED:
        yield f'<p class="soft">and {len(classes) - _LISTED:,} more classes</p>'


def _of_other_labels(model):
    """Return a line for the rows whose labels were not discovered, by the share that the fit released, if any."""
    encoder = getattr(model, "encoder_", None)
    shares, learned_as = getattr(encoder, "other_labels_", None), getattr(encoder, "other_label_", None)
    if shares is None or str(learned_as) == OTHER_LABEL:  # which is a class of its own
        return []
    figure = dict(zip(("value", "low", "high"), map(float, shares), strict=True))
    share = f"at most {figure['high']:.1%}" if figure["low"] <= 0 else _share(figure)
    how = "" if learned_as is None else f", learned as {learned_as}"
    return [("any other label", "not found", f"{share}{how}", "never", "-", "-")]


def _share(figure):
    """Return a share with its interval as text; that it is not known, if the interval says little."""
    if figure is None:
        return _NOT
    low, high = (f"{figure[name]:.1%}" for name in ("low", "high"))
    if figure["high"] - figure["low"] > VAGUE:
        return "too few rows to say"
    return f"{figure['value']:.1%} ({low} to {high})"


def groups(model: Any) -> Iterable[str]:
    """Yield for whom the model works: pictures of accuracy and recall by the values of columns, and all figures."""
    records = measured(model, "groups")
    if not records:
        return
    yield "<h2>For whom it works</h2>"
    yield (
        '<p class="soft">Each line is a group of measured rows with one value of a column, with a 95% interval for the '
        "noise and the choice of rows. A pale line without a dot is a group with too few rows to say: its interval is "
        f"longer than {VAGUE:.0%}.</p>"
    )
    second = str(model.classes_[-1]) if len(model.classes_) == 2 else None
    for column in dict.fromkeys(each["column"] for each in records):
        of: dict[str, dict[str, dict]] = {}
        for each in records:
            if each["column"] == column:
                name = f"recall of {each['label']}" if each["measure"] == "recall" else each["measure"]
                of.setdefault(each.get("group", "any other value"), {})[name] = each
        measures = ["accuracy", *([f"recall of {second}"] if second else [])]
        yield f'<h3>By {escape(column)}</h3><div class="terms">'
        for measure in measures:
            lines = [Range(group, *_ends(figures[measure], _rows(figures["rows"]))) for group, figures in of.items()]
            text = "; ".join(f"{each.what}: {'too few rows' if each.vague else f'{each.value:.0%}'}" for each in lines)
            yield f"<figure>{ranges(lines, measure, f'{measure} by {column}: {text}')}</figure>"
        yield "</div>"
        names = [name for name in next(iter(of.values())) if name != "rows"]
        rows = [
            (group, _rows(figures["rows"]), *(_figure(figures[name]) for name in names))
            for group, figures in of.items()
        ]
        head = (column, "rows", *(_HEADINGS.get(name, name) for name in names))
        table = plain_table(f"figures by {column}", head, rows, named=True)
        yield f"<details><summary>All figures by {escape(column)}</summary>{table}</details>"


_HEADINGS = {"said": "mean probability said", "came true": "share that came true", "error": "came true minus said"}


def _figure(figure):
    if figure["measure"] == "error":
        if figure["high"] - figure["low"] > 2 * VAGUE:
            return "too few rows to say"
        return f"{figure['value']:+.1%} ({figure['low']:+.1%} to {figure['high']:+.1%})"
    return _share(figure)


def _rows(figure):
    about = "" if figure["low"] == figure["high"] else "about "
    return f"{about}{figure['value']:,.0f} rows"


def _ends(figure: Any, text: str) -> Any:
    """Return a figure, its interval and what is said of it."""
    return float(figure["value"]), float(figure["low"]), float(figure["high"]), text
