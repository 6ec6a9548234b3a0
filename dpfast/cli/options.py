"""Options that more than one command has, as annotations, and groups of options, as classes.

A command declares its options once, as a dataclass whose fields are options or further groups:

    @spread
    def fit(data: options.Data, asked: FitOptions): ...

`spread` makes an option of each field, so that the help, the completion and the values come from one declaration.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

TABLE, PRIVACY = "Table, label and model", "Privacy"  # panels of the help
OUTPUT, MORE, FILES, RARE = "Output", "More options", "How files are read", "Rarely needed"
_table = partial(typer.Option, rich_help_panel=FILES)
_privacy = partial(typer.Option, rich_help_panel=PRIVACY)
_output = partial(typer.Option, rich_help_panel=OUTPUT)
_more = partial(typer.Option, rich_help_panel=MORE)
_rare = partial(typer.Option, rich_help_panel=RARE)

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .tsv, .xlsx, .parquet, .svm or .npz file, a folder of Parquet files, or the bundled mushroom or "
        "adult.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out wrote.")]
Epsilon = Annotated[float, _privacy(help="Privacy budget, above 0: smaller is more private.")]
Delta = Annotated[float, _privacy(help="Chance beyond epsilon, in (0, 1); choose it well below 1 / rows.")]
Alpha = Annotated[float, typer.Option(help="Largest error that is acceptable, in (0, 1).")]
Beta = Annotated[float, typer.Option(help="Probability that the guarantee fails, in (0, 1).")]
Relation = Annotated[
    Literal["replace", "add-remove"],
    _rare(help="What the claim compares: tables with one row replaced, or with one row added or removed."),
]
Rows = Annotated[int | None, typer.Option("--n", help="Number of rows that you have.", min=1)]
Unit = Annotated[
    str | None,
    _privacy(
        metavar="COLUMN",
        help="Column that says whose each row is: protect persons instead of rows; needs --rows-per-unit.",
    ),
]
RowsPerUnit = Annotated[
    int | None, _privacy(metavar="N", help="Largest number of rows to use of each person, chosen at random.", min=1)
]
Label = Annotated[str | None, typer.Option(help="Column that holds the labels.", rich_help_panel=TABLE)]
Above = Annotated[
    str | None,
    _more(
        metavar="NUMBERS",
        help="Learn whether a label that is a number is above a public one, as 50000, or between several, as 10,20,30.",
    ),
]
Threshold = Annotated[float | None, _rare(help="Turn numbers into bits: x > threshold.")]
Numbers = Annotated[
    bool | None,
    _rare(
        "--numbers/--bits",
        help="Read features as numbers, or as 0 and 1; by default the types in the file decide, never its entries.",
    ),
]
Columns = Annotated[
    int | None,
    _table(help="Number of columns of an svmlight file; by default the largest one in use, which is published.", min=1),
]
Negations = Annotated[bool, _rare(help="Also use the negation of each feature.")]
Seed = Annotated[int | None, _rare(help="Seed for tests: the result is reproducible, hence not private.")]
ShowPrivate = Annotated[bool, _rare("--show-private", help="Also show exact figures, which are private.")]
Out = Annotated[Path | None, _output(help="Save the model here, as JSON.")]
Written = Annotated[Path | None, typer.Option(help="Write here instead of to standard output.")]
Ledger = Annotated[
    Path | None,
    _privacy("--budget", help="Charge this budget, a file made by dpfast budget, before anything is drawn."),
]
By = Annotated[
    list[str],
    _output(
        "--by",
        metavar="COLUMNS",
        help="Also show how good it is by the values of columns, as in sex,ward; ward=A,B names values.",
    ),
]
Sensitive = Annotated[
    str | None,
    _more(
        metavar="COLUMNS",
        help="Columns such as sex,race: the page says what another value does.",
    ),
]
About = Annotated[
    Path | None,
    _more(help="Purpose, owner, data and limits, as .toml; dpfast report --about-template drafts it."),
]
Json = Annotated[bool, _output("--json", help="Print one JSON object for programs instead.")]
SchemaFile = Annotated[
    Path | None, typer.Option(help="A .toml or .json file that declares the columns of the table; see dpfast schema.")
]
Separator = Annotated[
    str | None,
    _table(help="Separator of the cells of a CSV file: a character, tab or space; by default a comma, a tab for .tsv."),
]
SeparatorOfFit = Annotated[
    str | None,
    _table(
        "--separator",
        help="Separator of the cells of a CSV file: a character, tab or space; by default the one given to fit.",
    ),
]
Memory = Annotated[float, _rare(min=0, help="GB of the table to keep in memory; the rest goes to a scratch file.")]
Decimal = Annotated[str, _table(help="Decimal mark of a CSV file.")]
Dates = Annotated[
    Literal["dmy", "mdy", "ymd"] | None,
    _table(
        help="Order of day, month and year in dates such as 01/05/2020 and 01-05-20; by default they are words. Years "
        "of two digits are 1969 to 2068."
    ),
]
Sheet = Annotated[str | None, _table(help="Sheet of a workbook (.xlsx, .xls, .ods); by default the only one.")]
Encoding = Annotated[str, _table(help="Encoding of a CSV file.")]
SkipLines = Annotated[int, _table(help="Number of lines to skip before the header, such as titles.", min=0)]
SkipLinesOfFit = Annotated[
    int | None,
    _table("--skip-lines", help="Number of lines to skip before the header; by default as given to fit.", min=0),
]
DecimalOfFit = Annotated[
    str | None, _table("--decimal", help="Decimal mark of a CSV file; by default the one given to fit, else a point.")
]
DatesOfFit = Annotated[
    Literal["dmy", "mdy", "ymd"] | None,
    _table("--dates", help="Order of day, month and year in dates; by default as given to fit."),
]
EncodingOfFit = Annotated[
    str | None, _table("--encoding", help="Encoding of a CSV file; by default the one given to fit, else utf-8.")
]


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How the cells of a CSV file are written."""

    separator: Separator = None
    decimal: Decimal = "."
    dates: Dates = None
    encoding: Encoding = "utf-8"
    sheet: Sheet = None
    skip_lines: SkipLines = 0

    @property
    def settings(self) -> dict[str, Any]:
        """Return them as the readers of files take them."""
        return {each.name: getattr(self, each.name) for each in fields(TextOptions)}


@dataclass(frozen=True, kw_only=True)
class TextOptionsOfFit(TextOptions):
    """How the cells of a CSV file are written; None is as they were for the fit."""

    separator: SeparatorOfFit = None
    decimal: DecimalOfFit = None  # type: ignore[assignment]
    dates: DatesOfFit = None
    encoding: EncodingOfFit = None  # type: ignore[assignment]
    skip_lines: SkipLinesOfFit = None  # type: ignore[assignment]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer: each field of a parameter that is a dataclass becomes an option of its own.

    The command is called with the objects. A field that is a dataclass itself is spread, too.
    """
    signature = inspect.signature(command)
    groups = {each.name: each.annotation for each in signature.parameters.values() if is_dataclass(each.annotation)}

    @wraps(command)
    def call_with_groups(**values: Any) -> None:
        command(**{name: _group(kind, values) for name, kind in groups.items()}, **values)

    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        parameters += _options(groups[each.name]) if each.name in groups else [each]
    call_with_groups.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call_with_groups.__annotations__ = {each.name: each.annotation for each in parameters}
    return call_with_groups


def _options(kind: Any) -> Iterator[inspect.Parameter]:
    """Yield the fields of a group as keyword-only parameters, with those of the groups in it."""
    hints = get_type_hints(kind, include_extras=True)
    for each in fields(kind):
        if is_dataclass(hints[each.name]):
            yield from _options(hints[each.name])
        else:
            default = each.default_factory() if each.default_factory is not MISSING else each.default
            default = inspect.Parameter.empty if default is MISSING else default
            keyword = inspect.Parameter.KEYWORD_ONLY
            yield inspect.Parameter(each.name, keyword, default=default, annotation=hints[each.name])


def _group(kind: Any, values: dict[str, Any]) -> Any:
    """Return a group of options, whose values are taken out of `values`."""
    hints = get_type_hints(kind)
    return kind(
        **{
            each.name: _group(hints[each.name], values) if is_dataclass(hints[each.name]) else values.pop(each.name)
            for each in fields(kind)
        }
    )
