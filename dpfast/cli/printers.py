"""Display of a learned model: show(estimator, console, bits=, rows=).

`bits` tells whether it was learned from bits or from numbers; `rows` are (X, y), private, or None.
"""

import math

from rich.table import Table
from rich.text import Text

from dpfast.tables.naming import listed

_MOST_WEIGHTS, _MOST_TERMS = 15, 30  # lines of a table


def show_rules(estimator, console, *, bits=True, rows=None):
    """Show the list, one rule per row; with noisy counts of its rows if released, and exact ones if given."""
    from dpfast.report.text import condition_text, precision_text, support_text

    names = _names(estimator)
    console.print(Text("The first rule that holds decides."))
    table = Table()
    table.add_column("", justify="right")
    table.add_column("if", overflow="fold")
    table.add_column("then", overflow="fold", style="bold")
    worths = estimator.rule_worth() if hasattr(estimator, "rule_counts_") else None
    if worths is not None:
        table.add_column("rows", justify="right", overflow="fold")
        table.add_column("right (95 %)", justify="right", overflow="fold")
    counts = None
    if rows is not None:
        counts = _counts(estimator, *rows)
        table.add_column("rows (not private)", justify="right", style="yellow")
        table.add_column("right (not private)", justify="right", style="yellow")
    for i, rule in enumerate(estimator.rules_):
        cells = [str(i + 1), condition_text(rule, names) or "otherwise", str(rule.label)]
        if worths is not None:
            cells += [support_text(worths[i]), precision_text(worths[i])]
        if counts is not None:
            cells += [f"{count:,}" for count in counts[i]]
        table.add_row(*map(Text, cells))
    console.print(table)


def show_weights(estimator, console, *, bits=True, rows=None):
    """Show the largest weights of Winnow, one feature per row."""
    if not estimator.updates_:
        console.print(Text(f"No update was made yet: every row is predicted as {estimator.classes_[1]}."))
        return
    if bits:
        explanation = "Each feature adds its weight if it is 1 and takes it away if it is 0."
    else:
        low, high = estimator.feature_range
        explanation = f"Each feature, brought from [{low:g}, {high:g}] to [-1, 1], adds its weight times its value."
    _show_signs(estimator, explanation, ".3f", console, bits)


def show_average(estimator, console, *, bits=True, rows=None):
    """Show the largest weights of the linear learner, one feature per row."""
    explanation = "if it is 1 and takes it away if it is 0" if bits else "times its value"
    _show_signs(estimator, f"Each feature adds its weight {explanation}.", ".3g", console, bits)


def show_halfspace(estimator, console, *, bits=True, rows=None):
    """Show the largest weights of a halfspace, one feature per row."""
    classes = estimator.classes_
    if bits:
        console.print(Text("Each feature that is 1 adds its weight."))
    else:
        console.print(Text("Each feature adds its weight times its value."))
        console.print(Text("Rows were brought to a length of at most 1: a column of large numbers drowns the others."))
    if len(classes) > 2:
        console.print(Text("The class of the largest sum, divided by the length of the row and shifted, is predicted."))
        for label, coef, always, shift in zip(
            classes, estimator.coef_, estimator.intercept_, estimator.shift_, strict=True
        ):
            console.print(Text(f"For {label} the intercept is {always:.3g} and the shift {shift:.3g}."))
            _show_largest(_names(estimator), coef, (f"not {label}", label), ".3g", console, bits)
        _show_chance(estimator, console)
        return
    no, yes = classes
    coef, intercept = estimator.coef_[0], float(estimator.intercept_[0])
    least = -estimator.shift_
    if hasattr(estimator, "class_counts_"):
        largest = math.hypot(*coef, intercept) + abs(estimator.shift_)
        least += largest * estimator.calibration_line().even
    rule = f"the sum is at least {-intercept:.3g}"
    if least:
        rule = f"the sum and {intercept:.3g}, divided by the length of the row, are at least {least:.3g}"
    console.print(Text(f"{yes} if {rule}, else {no}."))
    _show_largest(_names(estimator), coef, (no, yes), ".3g", console, bits)
    _show_chance(estimator, console)


def show_scores(estimator, console, *, bits=True, rows=None):
    """Show the linear classifier: one column per row if its table has a schema, else the largest weights."""
    import numpy as np

    from dpfast.report.additive import code_columns

    if code_columns(estimator) is not None:
        _show_terms(estimator, console)
        return
    classes, names, always = estimator.classes_, _names(estimator), estimator.intercept_
    explanation = "that is 1 adds its weight" if bits else "adds its weight times its value"
    console.print(
        Text(f"Rows are brought to length 1, with a 1 for the intercept. Each feature {explanation} to a score.")
    )
    shifts = ", ".join(f"{shift:.3g}" for shift in estimator.shift_[:_MOST_WEIGHTS])
    console.print(Text(f"To the sum is added what the noisy class sizes say: {shifts}."))
    if len(classes) == 2:
        console.print(Text(f"{classes[1]} is the more probable class where the score is at least 0."))
    else:
        console.print(Text("The class of the highest score is the most probable one."))
    for k, coef in enumerate(estimator.coef_):
        sides = classes if len(classes) == 2 else (f"not {classes[k]}", classes[k])
        _show_largest(names, np.append(coef, always[k]), sides, ".3g", console, bits)
    _show_chance(estimator, console)


def _show_terms(estimator, console):
    """Show what each column adds to the score, the most important columns first; names only of what may be noise."""
    from dpfast.report.additive import lost_in_noise
    from dpfast.report.text import BENT

    every, classes = estimator.terms(), estimator.classes_
    terms = [term for term in every if term.clear] or every
    two = len(classes) == 2
    table = Table()
    table.add_column("column", overflow="fold")
    if not two:
        table.add_column("class", overflow="fold")
    table.add_column("moves the score by, on average", justify="right", style="bold")
    table.add_column(f"most for {classes[1]}" if two else "most for it", overflow="fold")
    table.add_column(f"most for {classes[0]}" if two else "most against it", overflow="fold")
    for term in terms[:_MOST_TERMS]:
        cells = [term.column.name, *([] if two else [str(term.label)]), f"{term.importance:.2f}", *term.ends()]
        table.add_row(*map(Text, cells), style=None if term.clear else "dim")
    if not terms[0].clear:
        console.print(Text("No column is clear of noise: noise alone may have made this table."))
    console.print(table)
    console.print(Text(f"{BENT[0].upper()}{BENT[1:]}."))
    if len(terms) > _MOST_TERMS:
        console.print(
            Text(
                f"{len(terms) - _MOST_TERMS:,} more move it by at most {terms[_MOST_TERMS].importance:.2f} on average."
            )
        )
    noise = lost_in_noise(every)
    if noise and terms[0].clear:
        console.print(Text(f"Used, with effects that are not clear of noise: {listed(noise)}."))


def show_feature(estimator, console, *, bits=True, rows=None):
    """Show the feature that a finite class of features chose."""
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


def _show_signs(estimator, explanation, digits, console, bits):
    """Show weights of features in [-1, 1], including the intercept."""
    import numpy as np

    from dpfast.report.text import weights_of

    no, yes = estimator.classes_
    console.print(Text(explanation))
    least = f"{estimator.calibration_line().even:.3g}" if hasattr(estimator, "class_counts_") else "0"
    console.print(Text(f"{yes} if the sum is at least {least}, else {no}."))
    names, (rows, places) = _names(estimator), weights_of(estimator)
    weights, places = np.append(rows, estimator.intercept_), np.append(places, len(names))
    _show_largest(names, weights, (no, yes), digits, console, bits, places)
    _show_chance(estimator, console)


def _show_chance(estimator, console):
    """Show that weights may be noise, unless the learner has none."""
    from dpfast.report.text import NOISY_WEIGHTS

    if hasattr(estimator, "privacy_"):
        console.print(Text(NOISY_WEIGHTS))


def _names(estimator):
    from dpfast.report.text import names_of

    return names_of(estimator)


def _show_largest(names, weights, classes, digits, console, bits, places=None):
    """Show the largest weights, with the names of their places, by default in order; after these, the intercept."""
    import numpy as np

    weights = np.asarray(weights)
    used = np.flatnonzero(weights)
    used = used[np.argsort(-np.abs(weights[used]), kind="stable")]
    table = Table()
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right", style="bold")
    table.add_column("if 1, speaks for" if bits else "if above 0, speaks for", overflow="fold")
    for j in used[:_MOST_WEIGHTS]:
        side = classes[int(weights[j] > 0)]
        place = j if places is None else places[j]
        name = "(always)" if place == len(names) else str(names[place])
        table.add_row(Text(name), f"{weights[j]:+{digits}}", Text(str(side)))
    console.print(table)
    if len(used) > _MOST_WEIGHTS:
        rest = abs(weights[used[_MOST_WEIGHTS]])
        console.print(Text(f"{len(used) - _MOST_WEIGHTS:,} more have weights of at most {rest:{digits}}."))


def _counts(estimator, X, y):
    """Return the number of rows that each rule decides, and of those it decides correctly; private."""
    from dpfast.kernels import bits
    from dpfast.learners.lists.rule import decided

    decisions = map(bits.nonzero, decided(estimator.rules_, X))
    return [(len(i), int((y[i] == rule.label).sum())) for rule, i in zip(estimator.rules_, decisions, strict=True)]
