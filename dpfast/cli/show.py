"""dpfast show and dpfast report: the card and the page of a saved model."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from .files import options_of, settings_of
from .options import Json
from .outputs import check_files
from .report import answer, claim_of, facts, output, reporting, say


def show(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out or save wrote.")],
    json: Json = False,
):
    """Print the card of a saved model: its claim, its cost, what was public, and the version that made it."""
    with reporting("nothing was changed"):
        import dpfast
        from dpfast.base.saving import columns_digest, read_document

        fitted, document = dpfast.load(model), read_document(model)
        claim, card = fitted.privacy_, document.get("card", {})
        if json:
            names = ("model", "parameters", "classes", "n_features", "feature_names")
            public = {"type": type(fitted).__name__, "columns digest": columns_digest(document), "card": card}
            answer({name: document[name] for name in names} | public | claim_of(fitted))
            return
        summary = facts()
        summary.add_row("model", Text(type(fitted).__name__))
        summary.add_row("privacy", Text(str(claim)))
        summary.add_row("cost", Text("; ".join(_cost(cost) for cost in claim.cost)))
        for event in claim.events:
            summary.add_row("", Text(f"{event.used:,} of {event.of:,} {event.name}"))
        summary.add_row("labels", Text(", ".join(map(str, fitted.classes_.tolist()))))
        summary.add_row("columns", Text(f"{fitted.n_features_in_:,}, digest {columns_digest(document)[7:23]}"))
        summary.add_row("public", Text(_public(card.get("public") or {}, fitted)))
        if settings := settings_of(fitted):
            summary.add_row("text", Text(f"read with {options_of(settings)}"))
        summary.add_row(
            "parameters", Text(", ".join(f"{name}={value!r}" for name, value in document["parameters"].items()))
        )
        summary.add_row("made by", Text(f"dpfast {card.get('dpfast') or '(unknown version)'}"))
        output.print(summary)


def _cost(cost):
    times = f"{cost.times:,} times " if cost.times > 1 else ""
    name = {"range": "range", "zcdp": "rho", "gaussian": "mu", "cover": "change"}.get(cost.kind, "epsilon")
    more = f", delta = {cost.delta:.3g}" if cost.delta else ""
    more += f", {cost.up:.6g} the other way, {cost.rounds:,} draws" if cost.kind == "cover" else ""
    return f"{times}{cost.kind}, {name} = {cost.size:.6g}{more}"


def _public(facts, fitted):
    """Return in words what no noise protects."""
    public = ["names of columns" if hasattr(fitted, "feature_names_in_") else "number of columns"]
    if facts.get("rows") is not None:
        public.append(f"{facts['rows']:,} rows")
    if facts.get("persons") is not None:
        public.append(f"{facts['persons']:,} persons")
    if facts.get("rows of each person"):  # of a file of an earlier version
        public.append("how many rows each person has")
    return ", ".join(public) + f"; labels {facts.get('classes', 'facts')}"


def report(
    model: Annotated[Path | None, typer.Argument(metavar="[MODEL]", help="A file that fit --out wrote.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default beside the model.")] = None,
    card: Annotated[
        bool, typer.Option("--card", help="Write a model card for Hugging Face instead, README.md with its metadata.")
    ] = False,
    about_template: Annotated[
        bool,
        typer.Option("--about-template", help="Print a draft of the file for fit --about instead; it needs no model."),
    ] = False,
):
    """Write one self-contained HTML page about a saved model: the model, how good it is, and its claim."""
    with reporting("no page was written"):
        if about_template:
            from dpfast.report.about import template

            check_files(out)
            if out is None:
                sys.stdout.write(template())
            else:
                out.write_text(template(), encoding="utf-8")
            return
        if model is None:
            raise ValueError("say which model: a file that fit --out wrote")
        usual = model.with_name("README.md") if card else model.with_suffix(".html")
        out = usual if out is None else out
        check_files(out, MODEL=model)

        import dpfast

        fitted = dpfast.load(model)

        from dpfast.report import card as cards
        from dpfast.report import html

        (cards if card else html).write(fitted, out)
        say(f"wrote {out}")
