"""Pictures of released models and figures, by matplotlib (the extra `plot`)."""

import math
from typing import Any

import numpy as np

from dpfast import report
from dpfast.accounting import Budget, Composed, PrivacySpend


def terms(model: Any, *, most: int = 12, axes: Any = None) -> Any:
    """Draw a curve for each column of an additive model and a map for each pair, the most important ones first.

    They show what values add to the score. The log odds of `decision_function` are a bent function of it: near a score
    of 0 they move half as much.

    Parameters
    ----------
    model : HalfspaceClassifier
        Fitted on a table with a schema.
    most : int
        The largest number of pictures.
    axes : sequence of matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
    """
    largest = report.terms(model)[:most]
    width = min(3, len(largest))
    figure, axes = _grid(axes, -(-len(largest) // width), width)
    for panel, term in zip(axes, largest, strict=False):
        column, weights = term.column, term.weights
        panel.set_title(column.name + (f": {term.label}" if len(model.classes_) > 2 else ""))
        if isinstance(term, report.PairTerm):
            _map(panel, term)
            continue
        if column.ordered:
            edges = column.ends()
            panel.stairs(weights[: column.bins], edges, baseline=None, linewidth=2)
            panel.set_ylabel("adds to the score")
            if column.missing is not None:
                panel.plot([edges[-1]], [weights[column.missing]], "o", label="missing", clip_on=False)
                panel.legend(frameon=False)
        else:
            order = term.told[np.argsort(-np.abs(weights * term.shares)[term.told], kind="stable")[:10]]
            order = order[np.argsort(weights[order], kind="stable")]
            panel.barh([column.meaning(int(code)) for code in order], weights[order])
            panel.set_xlabel("adds to the score")
        panel.axhline(0, color="0.7", linewidth=0.8) if column.ordered else panel.axvline(0, color="0.7", linewidth=0.8)
    for panel in axes[len(largest) :]:
        panel.set_axis_off()
    figure.tight_layout()
    return figure


def _map(panel, term):
    """Draw the weights of a pair of columns as colours."""
    first, second = term.sides
    most = float(np.abs(term.weights).max()) or 1.0
    panel.imshow(term.map, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    panel.set_yticks(range(first.size), [first.meaning(code) for code in range(first.size)])
    panel.set_xticks(range(second.size), [second.meaning(code) for code in range(second.size)], rotation=90)


def rules(model: Any, *, axes: Any = None) -> Any:
    """Draw the rules of a list, each with its rows by class if `rule_counts_` were released.

    Parameters
    ----------
    model : DecisionListClassifier
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    texts = [line.rstrip() for line in model.to_text().split("\n")][: len(model.rules_)]
    figure, (panel,) = _grid(None if axes is None else [axes], 1, 1, height=0.4 * len(texts) + 1)
    counts = getattr(model, "rule_counts_", None)
    at = np.arange(len(texts))
    if counts is None:
        panel.set_xticks([])
    else:
        counts, left = np.maximum(np.asarray(counts), 0), np.zeros(len(texts))
        for label, row in zip(model.classes_.tolist(), counts.T, strict=True):
            panel.barh(at, row, left=left, label=str(label))
            left = left + row
        panel.set_xlabel("rows that the rule decides, noisy")
        panel.legend(frameon=False)
    panel.set_yticks(at, texts, family="monospace")
    panel.set_ylim(len(texts) - 0.4, -0.6)
    figure.tight_layout()
    return figure


def roc(curve: Any, *, axes: Any = None) -> Any:
    """Draw a private ROC curve with a band of one standard deviation.

    Parameters
    ----------
    curve : dpfast.metrics.Roc
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (panel,) = _grid(None if axes is None else [axes], 1, 1, height=4)
    low, high = np.clip([curve.true_positives - curve.deviation, curve.true_positives + curve.deviation], 0, 1)
    panel.fill_between(curve.false_positives, low, high, alpha=0.25)
    panel.plot(curve.false_positives, curve.true_positives, label=f"area {curve.auc}")
    panel.plot([0, 1], [0, 1], color="0.7", linestyle=":")
    panel.set(xlabel="false positives", ylabel="true positives", aspect="equal")
    panel.legend(frameon=False, loc="lower right")
    return figure


def calibration(reliability: Any, *, axes: Any = None) -> Any:
    """Draw the observed frequencies against the predicted probabilities.

    Parameters
    ----------
    reliability : dpfast.metrics.Reliability
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (panel,) = _grid(None if axes is None else [axes], 1, 1, height=4)
    middle = (reliability.edges[:-1] + reliability.edges[1:]) / 2
    below, above = reliability.observed - reliability.low, reliability.high - reliability.observed
    panel.errorbar(middle, reliability.observed, yerr=[below, above], fmt="o", capsize=3)
    panel.plot([0, 1], [0, 1], color="0.7", linestyle=":")
    error = "" if math.isnan(reliability.error) else f"expected calibration error {reliability.error:.3f}"
    panel.set(xlabel="predicted", ylabel="observed", xlim=(0, 1), ylim=(0, 1), title=error, aspect="equal")
    return figure


def privacy(what: Any, *, epsilon: tuple[float, float] | None = None, axes: Any = None) -> Any:
    """Draw delta against epsilon: the curve of a claim, of several claims together, or of the charges of a budget.

    Parameters
    ----------
    what : PrivacySpend, sequence of PrivacySpend, or Budget
    epsilon : pair of float, optional
        The ends of the axis; by default 0 and about three times the epsilon at delta = 1e-6.
    axes : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
    """
    point: tuple[float, float] | None = None
    if isinstance(what, Budget):
        costs, point = what.costs, (what.epsilon, what.delta)
    else:
        claims = [what] if isinstance(what, PrivacySpend) else list(what)
        costs = tuple(cost for claim in claims for cost in claim.cost)
        if len(claims) == 1:
            point = (claims[0].epsilon, claims[0].delta)
    curve = Composed(costs)
    if epsilon is None:
        most = curve.epsilon(1e-6)
        epsilon = (0.0, 3 * most if 0 < most < math.inf else 1.0 if point is None else 2 * point[0])
    at = np.linspace(*epsilon, 201)
    figure, (panel,) = _grid(None if axes is None else [axes], 1, 1)
    panel.semilogy(at, np.maximum([curve.delta(float(each)) for each in at], 1e-15))
    if point is not None:
        panel.plot([point[0]], [max(point[1], 1e-15)], "o", clip_on=False)
    panel.set(xlabel="epsilon", ylabel="delta", ylim=(1e-15, 1))
    return figure


def _grid(axes, rows, columns, height=None):
    """Return a figure and its panels: the given ones, or new ones."""
    if axes is not None:
        axes = list(np.ravel(np.asarray(axes, dtype=object)))
        return axes[0].figure, axes
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'dpfast[plot]'") from None
    size = (4.2 * columns, height or 2.8 * rows) if columns > 1 else (6.4, height or 3.2)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False)
    return figure, list(grid.flat)
