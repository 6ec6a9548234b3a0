"""dpfast plan decision-list."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..options import Alpha, Beta, Delta, Epsilon, Neighbors, Relation
from ..report import enough, output, reporting, say

_LIKELY = 0.9  # a chance that a person would build on


def decision_list(
    n: Annotated[int, typer.Option("--n", help="Rows at hand.", min=1)],
    epsilon: Epsilon,
    features: Annotated[
        int | None, typer.Option(help="Conditions a rule may test; d columns and negations are 2 d.", min=1)
    ] = None,
    schema: Annotated[Path | None, typer.Option(help="What is declared of the table, TOML or JSON.")] = None,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = Neighbors.replace,
    max_rules: Annotated[int, typer.Option(help="Longest list that a fit may make.", min=1)] = 10,
):
    """How many rows a guarantee asks for: by the paper's constants, and by the tight privacy curve.

    The guarantee (Bun and Fang, Theorem 3.5) is for labels that some decision list predicts without error, and for
    coverage weight 0. It is a worst case: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        if (schema is None) == (features is None):
            raise ValueError("say what the table is like: --schema FILE, or --features M")
        features = _conditions(schema) if features is None else features
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 < value < 1:
                raise ValueError(f"--{name} must lie in (0, 1), got {value}")

        from dpfast.accounting import cover_exponent
        from dpfast.learners.lists.bar import REACH

        paper = cover_exponent(epsilon, delta, neighbors=neighbors.value, accounting="paper")
        curve = cover_exponent(epsilon, delta, neighbors=neighbors.value, max_rounds=features + 1)
        draws = min(max_rules, features + 1)
        fitted = cover_exponent(epsilon, delta, neighbors=neighbors.value, coverage_weight=REACH, max_rounds=draws)

        statistics = _rows_to_generalise(features, alpha, beta)
        table = Table(title=f"decision-list over {features:,} features, ({epsilon}, {delta})-DP, {neighbors}")
        for heading in ("", "paper's constants", "curve"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        privacy = [_rows_for_privacy(features, alpha, beta, t) for t in (paper, curve)]
        asked = [max(statistics, rows) for rows in privacy]
        table.add_row("exponent per unit of score", f"{paper:.5f}", f"{curve:.5f}")
        table.add_row("rows to generalise", *[f"{math.ceil(statistics):,}"] * 2)
        table.add_row("rows for privacy", *[f"{math.ceil(rows):,}" for rows in privacy])
        table.add_row("rows asked", *[f"{math.ceil(rows):,}" for rows in asked], style="bold")
        table.add_row(f"n = {n:,}", *[enough(n, rows) for rows in asked])
        table.add_row("error that n guarantees", *[_error_at(n, features, beta, t) for t in (paper, curve)])
        output.print(table)
        say(
            f"Asked for an error of at most {alpha} with probability {1 - beta:g}, "
            "where some decision list makes no error."
        )
        say(
            f"A fit with at most {max_rules} rules and otherwise the defaults has the exponent {fitted:.5f}, less what "
            "its rule counts take; the theorem is about weight 0, so no number of rows is claimed for it."
        )
        lead = _lead(features, fitted)
        say(
            f"In practice: a rule is drawn with probability {_LIKELY} or more once its score is {lead:,.0f} ahead of "
            f"every other's, {lead / n:.1%} of n: rows that it gets right count up to {float(REACH):g} each, rows that "
            "it gets wrong up to -1. Rules that matter are usually further ahead than that, long before the theorem "
            "says anything."
        )


def _conditions(path):
    """The bits of a table's codes and their negations; of what is to be found about as many as will be."""
    from dpfast.tables.code_bits import bit_count
    from dpfast.tables.columns import BINS
    from dpfast.tables.schema import Schema

    columns = Schema.from_file(path).columns
    return 2 * sum(BINS if column.to_find else bit_count(column.code_columns()) for column in columns)


def _lead(features, exponent):
    """How far ahead a candidate is drawn with probability 0.9 at least, among all others and both labels.

    By the law: with k others, each at least so far behind, the chance is at least 1 / (1 + k exp(-t lead)). The
    constant true counts for a quarter of the features.
    """
    others = 2 * (features + math.ceil(features / 4)) - 1
    return math.log(others * _LIKELY / (1 - _LIKELY)) / exponent


def _rows_to_generalise(features, alpha, beta):
    """First term of Theorem 3.5 [BF]: 64/alpha (VC ln(64/alpha) + ln(16/beta)).

    VC is M + 1. A list "if f_1 then b_1, ..., else b_k", b_i = +-1, is the sign of sum_i 2^-i b_i f_i(x), the
    constant true its last feature, because the first term that is not 0 outweighs all later ones: a halfspace
    over M features with an offset. M + 1 is reached, on the unit vectors and 0.
    """
    return 64 / alpha * ((features + 1) * math.log(64 / alpha) + math.log(16 / beta))


def _rows_for_privacy(features, alpha, beta, exponent):
    """Second term of Theorem 3.5 [BF]: 8 M ln(2 M / sqrt(beta)) / (eps_hat alpha).

    The paper weighs a candidate by exp(eps_hat q / 2), so eps_hat is twice the exponent per unit of score. The term
    is the excess error of M draws by the exponential mechanism and holds for every exponent.
    """
    return 8 * features * math.log(2 * features / math.sqrt(beta)) / (2 * exponent * alpha)


def _error_at(n, features, beta, exponent):
    """The least alpha that n rows suffice for, as text; both terms fall as alpha grows."""

    def enough(alpha):
        return n >= max(_rows_to_generalise(features, alpha, beta), _rows_for_privacy(features, alpha, beta, exponent))

    low, high = 0.0, 1.0
    if not enough(high):
        return "none"
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return f"{high:.2g}"
