"""The part of a page that says what was declared of a table, what was discovered, and what was left out."""

from collections.abc import Iterable
from html import escape
from typing import Any

from dpfast.report.text import MOST_COLUMNS, column_line


def columns_table(model: Any) -> Iterable[str]:
    """Yield a line for each column of a table with a schema, as pieces of HTML."""
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
    rows = [
        column_line(column, found.get(column.name), other.get(column.name)) for column in schema.columns[:MOST_COLUMNS]
    ]
    rows += [(name, "", "left out") for name in schema.ignore[:MOST_COLUMNS]]
    yield plain_table("the columns", ("column", "what it holds", "how it is known"), rows)
    more = max(0, len(schema.columns) - MOST_COLUMNS) + max(0, len(schema.ignore) - MOST_COLUMNS)
    if more:
        yield f'<p class="soft">and {more:,} more columns</p>'


def scrolled(name: str, table: str) -> str:
    """Return a table in a region of this name, which scrolls sideways if the table is wide."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table>{table}</table></div>'


def plain_table(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table of texts in a region of this name."""
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return scrolled(name, f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>")
