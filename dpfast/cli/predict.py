"""dpfast predict: the labels that a saved model gives to a table."""

import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from dpfast.tables.naming import listed

from .files import check_there, in_order, limits_of, read, read_codes_of, reading_of, settings_for
from .options import Data, Model, TextOptionsOfFit, Written, spread
from .outputs import check_files, csv_of
from .report import errors, reporting

_SOME = 20  # rows
_KNOWN = "a model made by dpfast fit knows this itself."


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of `dpfast predict`."""

    label: Annotated[str | None, typer.Option(help="Column of labels to leave out.")] = None
    threshold: Annotated[float | None, typer.Option(help=f"Turn numbers into bits; {_KNOWN}")] = None
    numbers: Annotated[bool | None, typer.Option("--numbers/--bits", help=f"How to read features; {_KNOWN}")] = None
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of each class, with a header.")
    ] = False
    text: TextOptionsOfFit
    out: Written = None


@spread
def predict(model: Model, data: Data, choices: PredictOptions):
    """Predict the label of each row, and write one label to each line.

    Columns are matched by their names, in any order. A CSV file is read with the separator, decimal mark, order of
    dates and encoding that were given to fit, unless an option says otherwise. A prediction reveals something about its
    row: show it only to those who may see the row.
    """
    with reporting("no predictions were written") as state:
        check_files(choices.out, MODEL=model, DATA=data)
        check_there(data)

        import dpfast
        from dpfast.tables.replacing import replace_file

        estimator = dpfast.load(model)
        if choices.probabilities and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{model} gives no probabilities: fit it with a --probability-share, or a list with --rule-counts"
            )
        text = settings_for(data, estimator, **choices.text.settings)
        X, _ = table_for(estimator, model, data, choices.label, choices.threshold, choices.numbers, **text)
        if lost := _read_as_missing(estimator, X):
            errors.print(
                Text(
                    f"warning: no cell of {listed(lost)} is a number or a date as the model reads them: if these "
                    "columns are not empty, give the --separator, --decimal and --dates of this file"
                ),
                soft_wrap=True,
            )
        rows = [[value] for value in estimator.predict(X).tolist()]
        summary = f"{data}: {len(rows):,} rows read, {len(rows):,} labels written"
        if choices.probabilities:
            shares = estimator.predict_proba(X).tolist()
            rows = [[*row, *(f"{share:.6g}" for share in each)] for row, each in zip(rows, shares, strict=True)]
            rows.insert(0, ["label", *estimator.classes_.tolist()])
        if choices.out is None:
            state.now = "the output may be cut short"
            sys.stdout.write(csv_of(rows))
        else:
            replace_file(choices.out, lambda file: file.write(csv_of(rows).encode()))
        errors.print(Text(summary if choices.out is None else f"{summary} to {choices.out}"), soft_wrap=True)


def _read_as_missing(estimator, X):
    """Return the columns of numbers or dates that were discovered, and whose cells are all missing."""
    if not hasattr(estimator, "encoder_") or X.shape[0] < _SOME:
        return []
    shares = estimator.encoder_.other_
    at = [j for j, column in enumerate(X.columns) if column.ordered and column.nullable]
    lost = {X.columns[j].name for j in at if (X.column(j) == X.columns[j].missing).all()}
    return [name for name, other in shares.items() if name in lost and other < 1]


def table_for(estimator, model, data, label, threshold, numbers, *, labelled=False, **text):
    """Return the rows of a table as a model reads them, and their labels if asked for."""
    if hasattr(estimator, "encoder_"):
        if threshold is not None or numbers is not None:
            raise ValueError("--threshold, --numbers and --bits are for models without a schema")
        arguments = {"classes": estimator.classes_.tolist(), "label": label, "labelled": labelled}
        return read_codes_of(data, estimator.encoder_.schema_, **arguments, **text)
    values, threshold = _reading(estimator, model, threshold, numbers)
    table = read(
        data,
        label=label,
        needs_label=labelled,
        threshold=threshold,
        values=values,
        limits=limits_of(estimator.get_params()),
        memory=1 << 30,  # bytes; the rest goes to a scratch file
        n_features=estimator.n_features_in_,
        **text,
    )
    X = in_order(table, estimator, data, model)
    vars(estimator).pop("feature_names_in_", None)  # checked; arrays have none, and scikit-learn would warn
    return X, table.y


def _reading(estimator, model, threshold, numbers):
    """Return the type in which the features of the table are read, and the threshold."""
    reading = reading_of(model)
    if reading is None and hasattr(estimator, "threshold"):
        reading = {"values": "bits", "threshold": estimator.threshold}
    if reading is None:
        if numbers is not None:
            return "numbers" if numbers else "bits", threshold
        declared = getattr(estimator, "feature_range", None)  # of Winnow, to which bits are signs
        return "either" if declared is None else "bits" if list(declared) == [-1, 1] else "numbers", threshold
    if threshold not in (None, reading["threshold"]):
        raise ValueError(f"--threshold is for models that do not know it; {model} has {reading['threshold']}")
    if numbers not in (None, reading["values"] == "numbers"):
        raise ValueError(f"--numbers and --bits are for models that do not know it; {model} reads {reading['values']}")
    return reading["values"], reading["threshold"]
