"""How a learned model is shown: show(estimator, console, bits=, rows=).

`bits` tells whether it was learned from bits or from numbers; `rows` are (X, y), private, or None.
"""

from rich.table import Table
from rich.text import Text


def show_rules(estimator, console, *, bits=True, rows=None):
    """The list, a rule a row; with the rows that each rule decides if these are given."""
    names = _names(estimator)
    console.print(Text("The first rule that holds decides."))
    table = Table()
    table.add_column("", justify="right")
    table.add_column("if", overflow="fold")
    table.add_column("then", overflow="fold", style="bold")
    counts = None
    if rows is not None:
        counts = _counts(estimator, *rows)
        table.add_column("rows (not private)", justify="right", style="yellow")
        table.add_column("right (not private)", justify="right", style="yellow")
    for i, rule in enumerate(estimator.rules_):
        condition = " and ".join("not " * literal.negated + str(names[literal.feature]) for literal in rule.literals)
        cells = [str(i + 1), condition or "otherwise", str(rule.label)]
        if counts is not None:
            cells += [f"{count:,}" for count in counts[i]]
        table.add_row(*map(Text, cells))
    console.print(table)


def show_weights(estimator, console, *, bits=True, rows=None, most=15):
    """The largest weights of Winnow, a feature a row."""
    if not estimator.updates_:
        console.print(Text(f"No update was made yet: every row is predicted as {estimator.classes_[1]}."))
        return
    if bits:
        told = "Each feature adds its weight if it is 1 and takes it away if it is 0."
    else:
        low, high = estimator.feature_range
        told = f"Each feature, brought from [{low:g}, {high:g}] to [-1, 1], adds its weight times its value."
    _show_signs(estimator, told, ".3f", console, bits, most)


def show_average(estimator, console, *, bits=True, rows=None, most=15):
    """The largest weights of the linear learner, a feature a row."""
    told = "if it is 1 and takes it away if it is 0" if bits else "times its value"
    _show_signs(estimator, f"Each feature adds its weight {told}.", ".3g", console, bits, most)


def show_halfspace(estimator, console, *, bits=True, rows=None, most=15):
    """The largest weights of a halfspace, a feature a row."""
    no, yes = estimator.classes_
    if bits:
        console.print(Text("Each feature that is 1 adds its weight."))
    else:
        console.print(Text("Each feature adds its weight times its value."))
        console.print(Text("Rows were brought to a length of at most 1: a column of large numbers drowns the others."))
    console.print(Text(f"{yes} if the sum is at least {-estimator.intercept_:.3g}, else {no}."))
    _show_largest(_names(estimator), estimator.coef_, (no, yes), ".3g", console, bits, most)


def show_feature(estimator, console, *, bits=True, rows=None):
    """The feature that a finite class of them chose."""
    no, yes = estimator.classes_
    names, h = _names(estimator), estimator.hypothesis_
    d = len(names)
    if h < 2 * d:
        console.print(Text(f"{yes} if {names[h % d]} is {int(h < d)}, else {no}."))
    else:
        console.print(Text(f"Every row is predicted as {estimator.classes_[h - 2 * d]}: a constant was chosen."))
    console.print(
        Text(
            f"Chosen from {estimator.n_hypotheses_:,}: each feature, its negation, one label always. With probability "
            f"0.95 at most {estimator.excess_errors(0.05):,.0f} errors more than the best on the rows learned from."
        )
    )


def _show_signs(estimator, told, digits, console, bits, most):
    """Weights of features in [-1, 1], the intercept among them."""
    import numpy as np

    no, yes = estimator.classes_
    console.print(Text(told))
    console.print(Text(f"{yes} if the sum is at least 0, else {no}."))
    names = [*_names(estimator), "(always)"]
    _show_largest(names, np.append(estimator.coef_, estimator.intercept_), (no, yes), digits, console, bits, most)


def _names(estimator):
    return getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])


def _show_largest(names, weights, classes, digits, console, bits, most):
    import numpy as np

    used = np.flatnonzero(weights)
    used = used[np.argsort(-np.abs(weights[used]), kind="stable")]
    table = Table()
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right", style="bold")
    table.add_column("if 1, speaks for" if bits else "if above 0, speaks for", overflow="fold")
    for j in used[:most]:
        side = classes[int(weights[j] > 0)]
        table.add_row(Text(str(names[j])), f"{weights[j]:+{digits}}", Text(str(side)))
    console.print(table)
    if len(used) > most:
        rest = abs(weights[used[most]])
        console.print(Text(f"{len(used) - most:,} more have weights of at most {rest:{digits}}."))


def _counts(estimator, X, y):
    """For each rule, the rows it decides and those it decides rightly. Private."""
    import numpy as np

    from dpfast.kernels import bits

    left, counts = np.ones(len(y), dtype=bool), []
    for rule in estimator.rules_:
        holds = left.copy()
        for literal in rule.literals:
            holds &= bits.unpack(X.column(literal.feature)[np.newaxis], len(y))[0] != literal.negated
        counts.append((int(holds.sum()), int((y[holds] == rule.label).sum())))
        left &= ~holds
    return counts
