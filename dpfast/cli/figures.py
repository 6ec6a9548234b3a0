"""Private figures of merit of `fit` and `score`, for rows that the model never saw."""

from typing import NamedTuple

CLEAR = 0.3  # length of the interval of a figure below which rows are thought to show it
UNEVEN = 0.65  # share of the largest class above which the area under the curve comes first


class Figure(NamedTuple):
    """A figure of merit: its name, all that is printed of it, and what a model's file keeps of it."""

    name: str
    text: str
    document: dict | list | None


def figures_to_keep(figures, of):
    """Return the figures for a model's file and JSON: a dict by their names; `of` says which rows they are of."""
    return {"test": {"of": of}} | {each.name: each.document for each in figures if each.document is not None}


def figures_to_print(figures):
    """Return the figures that fit on one line."""
    return [figure for figure in figures if figure.text]


def figures(
    estimator, X, y, rng, *, epsilon=None, neighbors=None, budget=None, units=None, rows_per_unit=1, by=(), only=None
):
    """Return noisy figures of a model on some rows; together they are epsilon-DP for the relation.

    They are the accuracy, counts of rows by class and prediction with what follows from them for each class, the share
    of the largest class, for two classes with probabilities the area under the ROC curve, and figures of the groups of
    each column in `by`; each of these releases has an equal part of epsilon. If the number of rows is public and too
    small at this epsilon for the area, or for the counts by class too, they are left out, and the others have their
    part; `only` "accuracy" leaves out both. The model must not depend on the rows. If every row went to the training or
    the test part by a coin of its own, neighbouring tables differ in one part only: a model from the training part and
    these releases together are (epsilon, delta)-DP, no more. With `units`, each of which is in one part only, at most
    `rows_per_unit` rows of each count, and epsilon is divided by this number.

    X may be an `Encoding`; y is then None. Of it, and of labels in a `LabelColumn`, only the rows with a label count.
    Under "replace" their number is private, and a replaced row may be one that is removed and one that is added: all
    counts are released under "add-remove" with half of epsilon, whether or not all rows have a label.

    A label counts by its text; one that is no class of the model is a wrong prediction. By default epsilon and
    neighbors are those of the estimator. A budget is charged epsilon before anything is drawn.
    """
    import numpy as np

    from dpfast import metrics
    from dpfast.accounting.numbers import exact
    from dpfast.base.others import codes_as_learned
    from dpfast.base.units import bounded_rows, number_units, own_generator
    from dpfast.metrics.groups import ClassCounts
    from dpfast.metrics.ranking import usual_bins
    from dpfast.tables.encoding import Encoding
    from dpfast.tables.label_columns import may_lack
    from dpfast.tables.labels import have_labels, number_labels
    from dpfast.tables.sources import pick_rows

    if units is not None:
        unit = number_units(units)
        mask = bounded_rows(unit, rows_per_unit, own_generator(rng))
        X, y = pick_rows(X, y, mask, len(units))
        by = by if mask is None else [each.pick(mask) for each in by]
    classes = estimator.classes_
    two, pair = len(classes) == 2 and hasattr(estimator, "predict_proba"), len(classes) == 2
    relation = neighbors or estimator.neighbors
    whole = exact("epsilon", epsilon or estimator.epsilon)
    lacking = isinstance(X, Encoding) or may_lack(y) or rows_per_unit > 1  # whether the number of rows is private
    n, has_label = len(X if y is None else y), None
    most = n if units is None else rows_per_unit * (int(unit.max(initial=-1)) + 1)
    if y is not None and lacking and (has_label := have_labels(y, classes)) is not None:
        y = y[has_label]
    in_groups = X.labelled if y is None else has_label
    by = by if in_groups is None else [each.pick(in_groups) for each in by]
    X, _ = pick_rows(X, None, has_label, n)
    shows = _figures_for(most if relation == "replace" else None, whole / rows_per_unit, two, len(by), only)
    probable, two, part = two, two and "AUC" in shows, whole / (len(shows) + len(by))
    bins = usual_bins(most, part / rows_per_unit, relation)
    charged = relation
    if lacking and relation == "replace":
        relation, part = "add-remove", part / 2
    charge = {"epsilon": part / rows_per_unit, "neighbors": relation, "random_state": rng}
    true = codes_as_learned(estimator, *(X.label_numbers() if y is None else number_labels(y)))
    predicted = np.searchsorted(classes, estimator.predict(X))
    scores = estimator.predict_proba(X)[:, 1] if two or (probable and by) else None
    groups = [(each.name, *each.groups(estimator, X)) for each in by]
    if budget is not None:
        unit = "row" if units is None else "person"
        budget.charge(epsilon or estimator.epsilon, neighbors=charged, unit=unit, what={"model": "score"})
    accuracy = metrics.accuracy(true, predicted, **charge)
    lines = [Figure("accuracy", str(accuracy), _interval(accuracy))]
    every, n_public = np.arange(len(classes) + 1), len(true) if relation == "replace" else None
    if "classes" not in shows:
        pair = by_class = None
    elif pair:
        cells = metrics.confusion_matrix(true, predicted, classes=every, **charge)
        counts = ClassCounts.of_matrix(cells.counts[:, :2], cells.deviation)
        by_class = counts.figures([0, 1], n_public, 0.95, cells.privacy)
    else:
        by_class = metrics.by_class(true, predicted, classes=every[:-1], **charge)
    if by_class is not None:
        largest = max(by_class.classes[:-1], key=lambda each: each.share.value)
        label = classes[largest.label]
        text = f"{largest.share}, {label}: the accuracy of always saying that"
        lines.append(Figure("largest class", text, _interval(largest.share) | {"label": str(label)}))
    if two:
        curve = metrics.roc(true == 1, scores, bins=bins, **charge)
        lines.insert(0 if largest.share.value > UNEVEN else 2, Figure("AUC", str(curve.auc), _interval(curve.auc)))
        lines.append(Figure("reliability", "", _points(curve.reliability)))
    if pair:
        lines.append(Figure("confusion", "", _cells(cells, classes)))
    if by_class is not None:
        lines.append(Figure("rows", "", _interval(by_class.rows) | {"value": round(by_class.rows.value)}))
        lines.append(Figure("classes", "", list(_of_classes(by_class, classes))))
    records = []
    for name, values, column in groups:
        arguments = {"values": values, "classes": [0, 1] if pair else every[:-1], "probability": scores}
        records += _of_groups(name, metrics.by_group(true, predicted, column, **arguments, **charge), classes)
    if by:
        lines.append(Figure("groups", "", records))
    if len(shows) < 2 + probable and only is None:
        left = "AUC" if "classes" in shows else "AUC and counts by class" if probable else "counts by class"
        lines.append(Figure("left out", f"{left}: so few rows do not show them at this epsilon", None))
    return lines


def _figures_for(n, epsilon, two, groups, only):
    """Return which releases n rows can show at this epsilon; all if n is private."""
    import math

    from dpfast.metrics.ranking import expected_length

    if only is not None:
        return (only,)
    every = ("accuracy", "classes", "AUC")[: 2 + two]
    if n is None:
        return every
    rows = max(1, n)
    if two and expected_length(rows, epsilon / (3 + groups)) > CLEAR:
        every = every[:2]
    noise = 2 * math.sqrt(2 * 3) / float(epsilon / (2 + groups))  # of a count of three cells
    if len(every) == 2 and 2 * 1.96 * math.hypot(noise / rows, 0.5 / math.sqrt(rows)) > CLEAR:
        every = every[:1]
    return every


def _of_classes(by_class, classes):
    """Yield the figures of the classes for a model's file; those of rows with other labels have no label."""
    for each in by_class.classes:
        label = {} if each.label is None else {"label": str(classes[each.label])}
        measures = [("rows", each.rows), ("share", each.share)]
        if label:
            measures += [("predicted", each.predicted), ("predicted share", each.predicted_share)]
            measures += [("recall", each.recall), ("precision", each.precision)]
        for name, figure in measures:
            yield label | {"measure": name} | _interval(figure)


def _of_groups(column, by_group, classes):
    """Yield the figures of groups for a model's file; those of the rows with other values have no group."""
    for each in by_group.groups:
        of = {"column": column} | ({} if each.value is None else {"group": each.value})
        measures = {"rows": each.rows, "accuracy": each.accuracy}
        measures |= {"said": each.said, "came true": each.came_true, "error": each.error}
        for name, figure in measures.items():
            if figure is not None:
                yield of | {"measure": name} | _interval(figure)
        for label, figure in each.recall.items():
            yield of | {"measure": "recall", "label": str(classes[label])} | _interval(figure)


def _interval(figure):
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def _points(reliability):
    """Return the bins of a reliability diagram whose shares are known."""
    edges = reliability.edges
    bins = zip((edges[:-1] + edges[1:]) / 2, reliability.observed, reliability.low, reliability.high, strict=True)
    names = ("said", "value", "low", "high")
    return [dict(zip(names, map(float, each), strict=True)) for each in bins if each[1] == each[1]]


def _cells(matrix, classes):
    """Return the noisy counts by predicted class (label) and true class (of), each with an interval for the noise."""
    reach = 1.96 * matrix.deviation
    return [
        {
            "label": str(predicted),
            "of": str(true),
            "value": count,
            "low": max(0.0, count - reach),
            "high": count + reach,
        }
        for true, row in zip(classes, matrix.counts[:2, :2].tolist(), strict=True)
        for predicted, count in zip(classes, row, strict=True)
    ]
