"""The groups of `--by`: for whom a model works, by the values of columns that are public."""

from dataclasses import dataclass, replace
from typing import Any

from rich.table import Table
from rich.text import Text

from .report import output

_MOST_GROUPS = 24  # values with a group of their own
_RUNS = 6  # groups of a column of numbers
VAGUE = 0.5  # length of an interval above which there are too few rows to say


@dataclass(frozen=True)
class By:
    """A column by whose values figures are asked for.

    `values` are the public values that were named; without them they are those of the model's column, declared or
    discovered. `cells` has the cells of the column, if the values were named.
    """

    name: str
    values: tuple[str, ...] | None = None
    cells: Any = None

    def pick(self, rows: Any) -> "By":
        """Return the same for some rows, by a mask."""
        return self if self.cells is None else replace(self, cells=self.cells[rows])

    def groups(self, estimator: Any, X: Any) -> tuple[list[str], Any]:
        """Return the public values, and the value of each row, None for any other; it refuses nothing."""
        import numpy as np

        if self.values is not None:
            return list(self.values), self.cells
        schema = estimator.encoder_.schema_
        columns = schema.code_columns
        owners = [column.name for column in schema.columns for _ in column.code_columns()]
        at = [j for j, owner in enumerate(owners) if owner == self.name]
        j = next((j for j in at if not columns[j].ordered and columns[j].values), at[0])
        shares = _shares(estimator, columns, j)
        names, of_code = _of_numbers(columns[j], shares) if columns[j].ordered else _of_values(columns[j], shares)
        return names, np.array([*names, None], object)[of_code[X.table(schema).column(j).astype(np.int64)]]


def groups_of(texts, data, schema, **text):
    """Return the columns that --by names; refuse those that the schema lacks and whose values are not given.

    Each is a list of names, or the name of a column with its values, as in ward=A,B,C.
    """
    from dpfast.tables.naming import hint_of

    groups: list[By] = []
    for each in texts:
        name, equals, values = each.partition("=")
        if equals:
            groups.append(_with_cells(data, name.strip(), values, **text))
        else:
            groups += [By(name.strip()) for name in each.split(",")]
    names = [by.name for by in groups]
    if len({*names}) < len(names):
        raise ValueError(f"--by names {next(name for name in names if names.count(name) > 1)!r} twice")
    columns = () if schema is None else schema.names
    for by in groups:
        if by.values is None and by.name not in columns:
            raise ValueError(
                f"--by {by.name}: the model has no such column{hint_of(by.name, columns)}, whose values would be "
                f"public; of another one of the table, name the values, as in "
                f"--by {by.name}=A,B"
            )
    return groups


def _with_cells(data, name, values, **text):
    """Return a column of a file with values that were named."""
    import numpy as np

    from dpfast.files.encodings import header_of_file, read_frame
    from dpfast.tables.naming import hint_of

    text.pop("dates", None)
    texts = tuple(value.strip() for value in values.split(","))
    if len({*texts}) < len(texts) or len(texts) > _MOST_GROUPS:
        raise ValueError(f"--by {name}= needs values, each once and at most {_MOST_GROUPS}, got {values!r:.200}")
    if name not in (names := [*header_of_file(data, **text)]):
        raise ValueError(f"{data} has no column {name!r}{hint_of(name, names)}")
    cells = read_frame(data, columns=[name], numbers=(), days=(), **text).column(name).to_pylist()
    words = {None: None} | {each: each.strip() for each in {*cells} if isinstance(each, str)}
    return By(name, texts, np.array([words.get(each, each) for each in cells], object))


def _shares(estimator, columns, j):
    """Return the released shares of the rows with each code of a column, or None."""
    shares = getattr(estimator, "code_shares_", None)
    start = sum(each.size for each in columns[:j])
    return None if shares is None else shares[start : start + columns[j].size]


def _of_values(column, shares):
    """Return the values that have a group, those of most rows by released shares, and the group of each code."""
    import numpy as np

    order = np.arange(column.bins) if shares is None else np.argsort(-shares[: column.bins], kind="stable")
    largest = np.sort(order[:_MOST_GROUPS])
    of_code = np.full(column.size, len(largest))
    of_code[largest] = np.arange(len(largest))
    return [column.values[k] for k in largest.tolist()], of_code


def _of_numbers(column, shares):
    """Return runs of bins with about equally many rows by released shares, and missing ones.

    Without shares they have equally many bins of the known range, from the lowest number that is known to the highest.
    """
    import numpy as np

    within = range(column.bins)
    if shares is None or not shares[: column.bins].any():
        within = column.bins_within()
        shares_of_bins = np.isin(np.arange(column.bins), within).astype(float)
    else:
        shares_of_bins = shares[: column.bins]
    before = np.cumsum(shares_of_bins) - shares_of_bins / 2
    run = (before / shares_of_bins.sum() * _RUNS).astype(int).clip(max=_RUNS - 1)
    of_bin = np.unique(run.clip(run[within[0]], run[within[-1]]), return_inverse=True)[1]
    runs = replace(
        column, edges=tuple(edge for k, edge in enumerate(column.edges) if of_bin[k] != of_bin[k + 1]), nullable=False
    )
    return [runs.meaning(k) for k in range(runs.bins)], np.append(of_bin, np.full(column.size - column.bins, runs.bins))


def show_groups(figures):
    """Print the figures of groups, a table for each column."""
    records = next((each.document for each in figures if each.name == "groups"), [])
    for column in dict.fromkeys(each["column"] for each in records):
        lines = {}
        for each in (each for each in records if each["column"] == column):
            measure = f"recall of {each['label']}" if each["measure"] == "recall" else each["measure"]
            lines.setdefault(each.get("group", "any other"), {})[measure] = each
        measures = [name for name in next(iter(lines.values())) if name not in ("rows", "said", "came true", "error")]
        table = Table(title=f"by {column}", title_justify="left", box=None, pad_edge=False, header_style="bold")
        for heading in ("", "rows", *measures):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        for group, of in lines.items():
            small = of["accuracy"]["high"] - of["accuracy"]["low"] > VAGUE
            cells = ["too few rows" if small else _interval(of[name]) for name in measures]
            table.add_row(Text(group), f"{of['rows']['value']:,.0f}", *cells)
        output.print()
        output.print(table)


def _interval(figure):
    return f"{figure['low']:.2f} to {figure['high']:.2f}"
