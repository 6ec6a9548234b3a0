"""The parts of a page that show the model itself (rules, a panel for each column, or weights) and its table."""

from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from dpfast.report.additive import COUNTED, PairTerm, Term, code_columns, constants, lost_in_noise
from dpfast.report.drawing import Axis, Scale, bars, heat, steps
from dpfast.report.effects import DrawnRows, Effect, switches
from dpfast.report.text import (
    MOST_COLUMNS,
    NOISY_WEIGHTS,
    column_line,
    condition_text,
    is_noise,
    names_of,
    precision_text,
    support_text,
    weights_of,
)
from dpfast.report.trees import leaves
from dpfast.tables.cells import CodeColumn

_DRAWN, _LISTED = 150_000, 60_000  # letters of panels and of rows of a table: a page stays below 300 kB
_POINTED, _BAR = 900, 7  # bins in all with a tooltip, and bins that take as many bytes as a bar
_MOST_RULES, _MOST_LETTERS = 400, 400  # and letters of names of columns that are not drawn
_MOST_LEAVES, _RANKED, _VALUES, _TOGETHER, _BARS = 20, 12, 24, 4, 25
_STEPS = (0.5, 1.0, 2.0, -1.0)  # of the score, for which probabilities are given
_CROWDED = 0.6  # bins are drawn equally wide if this share of them is in a tenth of the range


def panels(model: Any, all_terms: list[Term]) -> Iterable[str]:
    """Yield the model as pieces of HTML: its terms, if it has some."""
    if hasattr(model, "rules_"):
        yield "<h2>The rules: the first that holds decides</h2>"
        yield from _rules(model)
    elif code_columns(model) is not None and hasattr(model, "terms"):
        yield from _curves(model, all_terms)
        yield from _trees(model)
    elif hasattr(type(model), "coef_") or hasattr(model, "coef_"):
        yield "<h2>The largest weights</h2>"
        yield from _weights(model)


# ---- rules -----------------------------------------------------------------------------------------------------------


def _rules(model):
    """Yield a line for each rule, with the rows that it decides and how often it is right if that was released."""
    names = names_of(model)
    worths = model.rule_worth() if hasattr(model, "rule_counts_") else None
    most = max([1, *(worth.support for worth in worths or ())])
    lines, drowned = [], 0
    for k, rule in enumerate(model.rules_[:_MOST_RULES]):
        condition = escape(condition_text(rule, names)) or "everything else"
        cells = [f"<td>{'if' if k == 0 else 'else if' if rule.literals else 'else'}</td>"]
        cells += [f"<td>{condition}</td>", f"<td><strong>{escape(str(rule.label))}</strong></td>"]
        pale = False
        if worths is not None:
            worth = worths[k]
            pale = is_noise(worth)
            width = 100 * min(max(worth.support, 0) / most, 1)
            bar = f'<div class="bar" style="width:{width:.0f}%"></div>'
            rows = f"at most {worth.support_interval[1]:,}" if pale else support_text(worth)
            cells.append(f'<td class="n">{rows}{bar}</td>')
            cells.append(f'<td class="n">{precision_text(worth)}</td>')
        drowned += pale
        lines.append(f"<tr{' class=pale' if pale else ''}>{''.join(cells)}</tr>")
    lines = _first(lines, _DRAWN)
    head = '<th scope="col">order</th><th scope="col">condition</th><th scope="col">then</th>'
    if worths is not None:
        head += (
            '<th scope="col" class="n">rows that it decides</th><th scope="col" class="n">share that it gets right</th>'
        )
    yield scroll_region("the rules", f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>")
    if worths is not None:
        grey = " The counts of grey rules are no more than noise may be: they may decide no row at all." * bool(drowned)
        yield f'<p class="soft">Counts have noise, which the 95% intervals hold.{grey}</p>'
    if len(model.rules_) > len(lines):
        yield f'<p class="soft">and {len(model.rules_) - len(lines):,} rules after these</p>'


# ---- curves ----------------------------------------------------------------------------------------------------------


def _curves(model, all_terms: list[Term]) -> Iterable[str]:
    """Yield a panel for each column, all of the same scale; columns that may be nothing but noise are only named."""
    classes, scale = model.classes_, Scale.of([term.weights[term.told] for term in all_terms])
    yield "<h2>What each column adds to the score</h2>"
    yield f"<p>{_reading(model)}</p>"
    notes = []
    if all_terms and all_terms[0].noise is not None:
        notes.append(
            "Shaded bands and grey whiskers show two standard deviations of what privacy noise and the choice of the "
            "rows add by chance. At most about one in ten of the drawn columns, on average, is drawn because of chance "
            "alone."
        )
    counted = hasattr(model, "code_shares_")
    if counted:
        notes.append(
            "Grey columns below a curve show where the rows lie, and percentages the share of rows with a value, both "
            "by noisy counts."
        )
    if any(isinstance(term, PairTerm) for term in all_terms):
        notes.append(
            "A map shows what two columns add together, beside what each adds: blue speaks as above 0 does, red as "
            "below."
        )
    mixed = [each for each in model.encoder_.schema_.columns if len(each.code_columns()) > 1]
    if mixed:
        name = f"<strong>{escape(mixed[0].name)}</strong>"
        more = f" The same holds for {len(mixed) - 1:,} more." if len(mixed) > 1 else ""
        notes.append(
            f"The cells of {name} are of more than one kind, each with effects of its own: a panel with (text) behind "
            "the name is for cells that are words, one with (date) for dates, and one with (other) for cells in which "
            f"nothing was discovered.{more}"
        )
    notes.append(
        "All panels have the same scale; the columns that move the scores of rows most, on average, come first. "
        "What is grey is within its noise of 0."
    )
    yield f'<p class="soft">{" ".join(notes)}</p>'
    named = sensitive_columns(model)
    clear = [term for term in all_terms if term.clear or term.column.name in named]
    ends = np.cumsum([term.column.bins if term.column.ordered else _BAR * min(term.column.size, 12) for term in clear])
    pictures = _first(
        (_panel(term, scale, len(classes), end <= _POINTED, counted) for term, end in zip(clear, ends, strict=True)),
        _DRAWN,
    )
    pale = lost_in_noise(all_terms)
    yield f'<div class="terms">{"".join(pictures)}</div>'
    if pale:
        names = ", ".join(map(escape, pale))
        names = names if len(names) <= _MOST_LETTERS else names[: names.rfind(",", 0, _MOST_LETTERS)] + " and others"
        also = "also " * bool(clear)
        yield (
            f'<p class="soft">The model {also}uses these columns, whose effects are not clear of noise: {names}. '
            "Leave a column out of the table if it must have no effect.</p>"
        )
    if len(pictures) < len(clear):
        yield f'<p class="soft">Another {len(clear) - len(pictures):,} matter less than these, and are not drawn.</p>'


def _first(pieces, letters):
    """Return the first piece, and those after it that have at most so many letters together with it."""
    first, size = [], 0
    for piece in pieces:
        size += len(piece)
        if first and size > letters:
            break
        first.append(piece)
    return first


def _reading(model):
    """Return how to read scores: what they are sums of, and what a step means for the probabilities."""
    more = ", and what columns add together" * (getattr(model, "trees_", None) is not None)
    steps = [f"{step:+g} means about {model.model_.chance_from_even(step):.0%}" for step in _STEPS]
    listed = f"{', '.join(steps[:-1])} and {steps[-1]}".replace("-", "\N{MINUS SIGN}")
    if len(model.classes_) > 2:
        weighed = hasattr(model, "class_weight_")
        even = (
            ""
            if weighed
            else f" Where all classes are equally likely ({model.model_.chance_from_even(0):.0%}), {listed}."
        )
        return (
            f"The score of a row is a constant plus what its value adds in each column{more}. A value above 0, or to "
            f"the right of it, makes the class of the panel more likely; below, less likely.{even} The log "
            "probabilities (decision_function) are a bent function of the scores, not the scores."
        )
    constant = float(constants(model)[0])
    alone = f"{_number(constant)}, by itself about {model.model_.chance(constant):.0%}"
    no, yes = (f"<strong>{escape(str(label))}</strong>" for label in model.classes_.tolist())
    return (
        f"The score of a row is a constant ({alone} for {yes}) plus what its value adds in each column{more}. A value "
        f"above 0, or to the right of it, makes {yes} "
        f"more likely; below, or to the left, {no}. From even odds (50%), {listed} for {yes}. The log odds "
        "(decision_function) are not the score but a bent function of it: near a score of 0 they move half as much."
    )


def _number(value):
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def _trees(model) -> Iterable[str]:
    """Yield the leaves of trees that move scores most and are clear of noise."""
    if getattr(model, "trees_", None) is None:
        return
    all_leaves = leaves(model)
    yield "<h2>What columns add together</h2>"
    yield (
        f'<p class="soft">Beside its columns, the score has {len(model.trees_.asked):,} trees, drawn at random '
        "from what was released. Each adds a number for the combination of values that a row has. "
        f"{_pairs_of_trees(model)}"
    )
    if not all_leaves:
        yield "No single combination is clear of noise.</p>"
        return
    yield f"These combinations move the scores of rows most, of {len(all_leaves):,} that are clear of noise.</p>"
    two = len(model.classes_) == 2
    rows = [
        (" and ".join(leaf.conditions) or "any row", f"{leaf.weight:+.2f}" + ("" if two else f" for {leaf.label}"))
        for leaf in all_leaves[:_MOST_LEAVES]
    ]
    yield plain_table("the combinations", ("rows with", "add to the score"), rows)


def _pairs_of_trees(model):
    """Return which columns most trees ask together, as a sentence; nothing if no tree asks two."""
    forest, columns = model.trees_, code_columns(model) or ()
    questions = ({forest.orders[order][0] for order in tree} for tree in forest.asked)
    counts = Counter(pair for tree in questions for pair in combinations(sorted(tree), 2))
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_TOGETHER]
    pairs = [f"{columns[a].name} and {columns[b].name} (in {n:,})" for (a, b), n in most]
    return f"Most trees ask together: {escape('; '.join(pairs))}. " if pairs else ""


def sensitive_columns(model: Any) -> list[str]:
    """Return the names of the columns that the owner of the rows has named as sensitive."""
    encoder, facts = getattr(model, "encoder_", None), getattr(model, "_facts", None) or {}
    declared = () if encoder is None else encoder.schema_.sensitive
    return [*dict.fromkeys([*declared, *facts.get("sensitive", ())])]


def what_matters(model: Any, ranked: list[Effect], rows: DrawnRows | None) -> Iterable[str]:
    """Yield a table of all columns by how far predictions move when they have other values, and sensitive columns."""
    if not ranked or rows is None:
        return
    own, likely = any(each.own is not None for each in ranked), ranked[0].moved is not None
    by = "the shares that the fit released" if rows.weighed else "equal shares of all values"
    yield "<h2>What matters</h2>"
    noise = (
        " The model is exact, and only what it says of people is noisy: in brackets is what the own effect of a column "
        "may be without the noise of the mechanism and the choice of the rows, about."
        if own
        else ""
    )
    yield (
        f'<p class="soft">All {len(ranked):,} columns, by what the model does when a row gets the value of another row '
        f"in one of them, for {rows.n:,} rows that are drawn column by column by {by}.{noise}</p>"
    )
    head = ["column"] + ["moves the probability by, on average"] * likely + ["changes the predicted class of"]
    head += ["alone moves the score by, on average", "remark"] * own
    most = ranked[0].size or 1.0
    lines = []
    for each in ranked:
        width = f'<div class="bar{"" if each.clear else " dim"}" style="width:{100 * each.size / most:.0f}%"></div>'
        texts = [f"{value:.1%}" for value in (each.moved, each.changed) if value is not None]
        cells = [f'<td class="n">{text}{width if k == 0 else ""}</td>' for k, text in enumerate(texts)]
        if own:
            cells.append(f'<td class="n">{each.own:.2f} ({each.low:.2f} to {each.high:.2f})</td>')
            cells.append(f"<td>{'' if each.clear else 'not clear of noise'}</td>")
        lines.append(f'<tr><th scope="row">{escape(each.name)}</th>{"".join(cells)}</tr>')
    yield _table("the columns by their effects", head, lines[:_RANKED])
    if len(lines) > _RANKED:
        texts = _first(lines[_RANKED:], _LISTED)
        more = _table("the other columns by their effects", head, texts)
        yield f"<details><summary>{len(lines) - _RANKED:,} more columns, which matter less</summary>{more}</details>"
        if len(texts) < len(lines) - _RANKED:
            yield f'<p class="soft">and {len(lines) - _RANKED - len(texts):,} more that matter less</p>'
    yield from _sensitive(model, {each.name: each for each in ranked}, rows)


def _sensitive(model, effects, rows):
    """Yield a sentence about each column that is named as sensitive."""
    names = sensitive_columns(model)
    if not names:
        return
    yield "<h3>Sensitive columns</h3><ul>"
    for name in names:
        each = effects.get(name)
        if each is None:
            text = "is no column of the model: no prediction depends on it, but on columns that may go with it."
        else:
            changed, mean, most = switches(model, name, rows)
            moved = (
                ""
                if mean is None
                else f", and moves their probabilities by {mean:.1%} in the mean, and that of one of them by {most:.1%}"
            )
            text = f"another value changes the predicted class of {changed:.1%} of the {rows.n:,} drawn rows{moved}."
            if each.furthest is not None:
                text += f" For no row at all it moves the score by more than {_above(each.furthest)}."
            if not each.clear:
                text += " The effects are not clear of noise."
            text += " Which other columns go with it was not released."
        yield f"<li><strong>{escape(name)}</strong>: {text}</li>"
    yield "</ul>"


def _above(value):
    """Return a number with two decimals, rounded up."""
    return f"{np.ceil(100 * value - 1e-9) / 100:.2f}"


def _panel(term: Term, scale: Scale, classes: int, pointed: bool, counted: bool) -> str:
    label = f" for {escape(str(term.label))}" if classes > 2 else ""
    name, effect = escape(term.column.name), f"<small>{label} moves scores by {term.importance:.2f}</small>"
    picture = _picture(term, scale, pointed, counted) + _values(term)
    return f"<figure><figcaption>{name} {effect}</figcaption>{picture}</figure>"


def _values(term: Term) -> str:
    """Return the values of a picture as a table to unfold: all of them, or as many as a table shows, evenly chosen."""
    codes = term.told
    if term.column.ordered and not isinstance(term, PairTerm):
        first, last = _codes_present(term)
        codes = np.arange(first, last + 1)
    some = (
        codes[np.unique(np.linspace(0, len(codes) - 1, min(len(codes), _VALUES)).astype(int))] if len(codes) else codes
    )
    lines = [
        f'<tr><th scope="row">{escape(term.meaning(code))}</th><td class="n">{term.weights[code]:+.2f}</td></tr>'
        for code in some.tolist()
    ]
    of = "Values" if len(some) == len(codes) else f"{len(some)} of {len(codes)} values"
    name = f"values of {escape(term.column.name)}"
    return f"<details><summary>{of}</summary>{_table(name, ('value', 'adds to the score'), lines)}</details>"


def _picture(term: Term, scale: Scale, pointed: bool, counted: bool) -> str:
    column, noise, shares = term.column, term.noise, term.shares if counted else None
    texts = [column.meaning(code) for code in range(column.size)]
    high, low = term.ends()
    ends = [f"{side} {end}" for side, end in (("most", high), ("least", low)) if end != "-"]
    description = f"{column.name} adds {' and '.join(ends) or 'something, and no value that enough rows have is named'}"
    if isinstance(term, PairTerm):
        return heat([[side.meaning(k) for k in range(side.size)] for side in term.sides], term.map, scale, description)
    if not column.ordered:
        codes, group = term.told, term.weights[term.groups]
        of = None if noise is None else noise[codes]
        of_rows = None if shares is None else shares[codes]
        picture = bars([texts[k] for k in codes], term.weights[codes], of, scale, description, of_rows)
        if not group.size:
            return picture
        low, high = _number(group.min()), _number(group.max())
        some = 0.0 if shares is None else float(shares[term.groups].sum())
        share = "" if shares is None else f", about {some:.0%} of the rows" if some >= 0.005 else ", if there are any"
        return (
            f"{picture if codes.size else ''}"
            f'<small class="soft">Values that too few rows have to be named{share}, share {group.size} groups, which '
            f"add {low} to {high}.</small>"
        )
    missing = None
    if column.missing is not None:
        deviation = 0.0 if noise is None else float(noise[column.missing])
        missing = float(term.weights[column.missing]), deviation
    first, last = _codes_present(term)
    of_bins = slice(first, last + 1)
    return steps(
        _axis(column, first, last),
        term.weights[of_bins],
        None if noise is None else noise[of_bins],
        missing,
        texts[of_bins] if pointed else (),
        scale,
        description,
        None if shares is None else shares[of_bins],
    )


def _codes_present(term):
    """Return the first and the last bin to draw: bins towards the ends are left out until rows are clear of noise.

    So an axis ends where rows end, and not at a technical bound. If none are clear of noise, those of the known range
    are drawn.
    """
    shares = term.shares[: term.column.bins]
    many, noise = np.sqrt(np.arange(1, len(shares) + 1)), COUNTED * term.count_noise
    last = [np.flatnonzero((each > noise) | (np.cumsum(each) > noise * many)) for each in (shares, shares[::-1])]
    if not all(map(len, last)) or (first := int(last[0][0])) > (final := len(shares) - 1 - int(last[1][0])):
        within = term.column.bins_within()
        return within[0], within[-1]
    return first, final


def _axis(column: CodeColumn, first: int, last: int) -> Axis:
    """Return the places of bins: in proportion, or equally wide if most of them are in a small part of the range."""
    ends = column.ends()[first : last + 2]
    bins = len(ends) - 1
    places = (ends - ends[0]) / ((ends[-1] - ends[0]) or 1.0)
    counts, _ = np.histogram((places[:-1] + places[1:]) / 2, bins=10, range=(0, 1))
    middle = np.abs(places - 0.5).argmin()
    if counts.max() > _CROWDED * bins and bins > 4:
        places, middle = np.arange(bins + 1) / bins, bins // 2
    places_of_labels = [0, int(middle), bins] if 0.25 < places[middle] < 0.75 else [0, bins]
    return Axis(places, [(float(places[k]), _short(column, float(ends[k]))) for k in places_of_labels], column.name)


def _short(column: CodeColumn, end: float) -> str:
    """Return an end of a bin as a text that is short enough for a mark of an axis."""
    text = column.format_edge(end)
    return text if len(text) <= 7 or column.dates else f"{end:.3g}"


# ---- weights ---------------------------------------------------------------------------------------------------------


def _weights(model) -> Iterable[str]:
    rows, places = weights_of(model)
    names = names_of(model)
    order = np.argsort(-np.abs(rows).max(axis=0), kind="stable")[:200]
    named = places.max(initial=0) < len(names)  # codes without a schema have more weights than columns
    texts = [str(names[j]) if named else f"coef_[{j}]" for j in places[order].tolist()]
    labels = model.classes_ if len(rows) > 1 else model.classes_[1:]
    scale = Scale.of([rows])
    if len(rows) == 1:
        no, yes = (f"<strong>{escape(str(label))}</strong>" for label in model.classes_.tolist())
        yield f'<p class="soft">Bars to the right speak for {yes}, to the left for {no}, the larger the feature is.</p>'
    yield f'<p class="soft">{NOISY_WEIGHTS}</p>'
    drawn = _first((_weighed(*each, texts, order, scale) for each in zip(labels.tolist(), rows, strict=True)), _DRAWN)
    yield f'<div class="terms">{"".join(drawn)}</div>'
    if len(drawn) < len(labels):
        yield f'<p class="soft">and {len(labels) - len(drawn):,} more classes</p>'
    if rows.shape[1] > len(order):
        yield f'<p class="soft">The largest of {rows.shape[1]:,} weights.</p>'


def _weighed(label, row, texts, order, scale):
    """Return the picture of the largest weights for a label, and their table to unfold."""
    weights = row[order]
    most = np.argsort(-np.abs(weights), kind="stable")[:_BARS]
    lines = [(texts[j], f"{weights[j]:+.3g}") for j in most.tolist()]
    largest = ", ".join(f"{name}: {weight}" for name, weight in lines[:_TOGETHER])
    picture = bars(
        texts, weights, None, scale, f"the largest weights for {label}: {largest}", most=_BARS, title="weight"
    )
    table = plain_table(f"weights for {escape(str(label))}", ("feature", "weight"), lines, named=True)
    of = f"<details><summary>Weights</summary>{table}</details>"
    return f"<figure><figcaption>for {escape(str(label))}</figcaption>{picture}{of}</figure>"


# ---- the table -------------------------------------------------------------------------------------------------------


def columns_table(model: Any) -> Iterable[str]:
    """Yield a line for each column of a table with a schema, as pieces of HTML."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return
    schema, facts, other = encoder.schema_, getattr(encoder, "found_", {}), getattr(encoder, "other_", {})
    if not facts:
        yield "<h2>What was declared about the table</h2>"
    else:
        yield "<h2>What was declared or discovered about the table</h2>"
        yield (
            '<p class="soft">What was discovered was read off the rows privately: the claim covers it. The rest was '
            "declared. Cells of columns that were discovered may be missing.</p>"
        )
    lines = (column_line(column, facts.get(column.name), other.get(column.name)) for column in schema.columns)
    ignored = ((name, "", "left out") for name in schema.ignore)
    lines_shown = _first(map(_line, islice(chain(lines, ignored), MOST_COLUMNS)), _LISTED)
    yield _table("the columns", ("column", "what it holds", "how it is known"), lines_shown)
    more = len(schema.columns) + len(schema.ignore) - len(lines_shown)
    if more:
        yield f'<p class="soft">and {more:,} more columns</p>'


def scroll_region(name: str, table: str) -> str:
    """Return a table in a region of this name, which scrolls sideways if the table is wide."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>{table}</table></div>'


def plain_table(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]], *, named: bool = False) -> str:
    """Return a table of texts in a region of this name; if `named`, the first cell of a row is its name."""
    return _table(name, head, (_line(row, named) for row in rows))


def _table(name, head, lines):
    heads = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in head)
    return scroll_region(name, f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody>")


def _line(cells, named=False):
    """Return a row of a table."""
    texts = [escape(str(cell)) for cell in cells]
    first = f'<th scope="row">{texts.pop(0)}</th>' if named else ""
    return f"<tr>{first}{''.join(f'<td>{text}</td>' for text in texts)}</tr>"
