"""The part of a page that says what was declared of a table, what was found, and what was left out."""

from collections.abc import Iterable
from html import escape
from typing import Any

from dpfast.tables.cells import CodeColumn

_MOST, _MOST_VALUES, _LONGEST = 250, 12, 300  # columns, values of one, letters of all these


def columns_table(model: Any) -> Iterable[str]:
    """A line for each column of a table with a schema, as pieces of HTML."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        return
    schema, found, other = encoder.schema_, getattr(encoder, "found_", {}), getattr(encoder, "other_", {})
    if not found:
        yield "<h2>What was declared about the table</h2>"
    else:
        yield "<h2>What was declared or discovered about the table</h2>"
        yield (
            '<p class="soft">What was discovered was read off the rows privately: the claim covers it. The rest was '
            "declared. Cells of columns that were discovered may be missing.</p>"
        )
    rows = [_line(column, found.get(column.name), other.get(column.name)) for column in schema.columns[:_MOST]]
    rows += [(name, "", "left out") for name in schema.ignore[:_MOST]]
    yield plain_table("the columns", ("column", "what it holds", "how it is known"), rows)
    more = max(0, len(schema.columns) - _MOST) + max(0, len(schema.ignore) - _MOST)
    if more:
        yield f'<p class="soft">and {more:,} more columns</p>'


def found_lines(encoder: Any) -> list[str]:
    """Return what was discovered privately of the columns of a table, one line for each column.

    Parameters
    ----------
    encoder : TableEncoder or None
        The fitted encoder of a model; None if the model has none.

    Returns
    -------
    list of str
        A heading and one line for each column, at most a public number of them. Empty if everything was declared.
    """
    found = getattr(encoder, "found_", {})
    if not found:
        return []
    columns = [column for column in encoder.schema_.columns if column.name in found]
    lines = [_line(column, found[column.name], encoder.other_.get(column.name)) for column in columns[:_MOST]]
    more = [f"  and {len(columns) - _MOST:,} more columns"] if columns[_MOST:] else []
    return ["discovered privately:", *(f"  {name}: {holds}" for name, holds, _ in lines), *more]


def _line(column, facts, other):
    made = column.code_columns()
    if facts is None:
        known = "declared"
    elif facts == ["cells"]:
        known = "discovered"
    else:
        known = f"discovered: {', '.join(facts)}"
    holds = "; ".join(_holds(each) for each in made if len(made) == 1 or each.ordered or each.values)
    if other == 1:
        holds = "nothing was found: no value has enough rows"
    elif other:
        holds += f"; other cells: about {other:.1%} of the rows"
    if facts != ["cells"]:
        known += "; cells may be missing" if any(each.nullable for each in made) else "; no cell is missing"
    return column.name, holds, known


def _holds(column: CodeColumn) -> str:
    if column.ordered:
        assert column.low is not None
        assert column.high is not None
        kind = "dates" if column.dates else "whole numbers" if column.whole else "numbers"
        low, high = column.written(column.low), column.written(column.high)
        return f"{kind} from {low} to {high}, {column.bins:,} bins"
    if not column.values:
        return "nothing that enough rows have"
    text = ", ".join(column.values[:_MOST_VALUES])
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    more = f", ... ({len(column.values):,} values)" if len(column.values) > _MOST_VALUES else ""
    return text + more + (", other" if column.other and not more else "")


def scrolled(name: str, table: str) -> str:
    """Return a table in a region of this name, which scrolls sideways where the table is wide."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>{table}</table></div>'


def plain_table(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table of texts in a region of this name."""
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return scrolled(name, f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>")
