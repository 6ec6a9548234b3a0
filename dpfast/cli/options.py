"""Options that more than one command has, as annotations."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer


class Neighbors(StrEnum):
    replace = "replace"  # type: ignore[assignment]  # for that of texts
    add_remove = "add-remove"


_reading = partial(typer.Option, rich_help_panel="Reading the table")

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .tsv, .parquet, .svm or .npz file, a folder of Parquet files, or the bundled mushroom or adult.",
    ),
]
Epsilon = Annotated[float, typer.Option(help="Privacy budget, above 0: smaller is more private.")]
Delta = Annotated[float, typer.Option(help="In (0, 1); well below one in the number of rows.")]
Alpha = Annotated[float, typer.Option(help="Error wanted, in (0, 1).")]
Beta = Annotated[float, typer.Option(help="Probability of missing it, in (0, 1).")]
Relation = Annotated[Neighbors, typer.Option(help="What may change between two tables: one row replaced, or added.")]
Label = Annotated[str | None, typer.Option(help="The column that holds the labels.")]
Threshold = Annotated[float | None, _reading(help="Turns numbers into bits: x > threshold.")]
Numbers = Annotated[
    bool | None,
    _reading(
        "--numbers/--bits",
        help="Whether features are numbers or 0 and 1; by default the types of the file tell, never its entries.",
    ),
]
Negations = Annotated[bool, typer.Option(help="Whether features count negated, too.")]
Seed = Annotated[int | None, typer.Option(help="Reproducible, hence not private: for tests.")]
ShowPrivate = Annotated[bool, typer.Option("--show-private", help="Also show exact, private figures.")]
Out = Annotated[Path | None, typer.Option(help="Save the model here, as JSON.")]
Ledger = Annotated[
    Path | None,
    typer.Option("--budget", help="Charge this file, made by dpfast budget, before anything is drawn."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead, for programs.")]
Schema = Annotated[
    Path | None, typer.Option(help="What is declared of the table's columns, a .toml or .json file; see dpfast schema.")
]
Separator = Annotated[str | None, _reading(help="Between the cells of a CSV file: a comma, a tab for .tsv.")]
Memory = Annotated[
    float, _reading(min=0, help="GB of a table with a schema that stay in memory; the rest is in a scratch file.")
]
Decimal = Annotated[str, _reading(help="The decimal mark of a CSV file.")]
Encoding = Annotated[str, _reading(help="Of a CSV file.")]
