"""dpfast plan decision-list."""

import math
from typing import Annotated, Any

import typer

from ..models import read_integer
from ..options import Alpha, Beta, Delta, Epsilon, Json, Relation, Rows, SchemaFile
from ..report import answer, compare, reporting, say

_LIKELY = 0.9  # a chance that a person would build on


def decision_list(
    epsilon: Epsilon,
    n: Rows = None,
    features: Annotated[
        int | None,
        typer.Option(help="Number of conditions that a rule may test; d columns with negations have 2 d.", min=1),
    ] = None,
    schema: SchemaFile = None,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = "replace",
    noise: Annotated[float, typer.Option(help="Largest probability with which a label is flipped, below 1/2.")] = 0.0,
    max_rules: Annotated[
        str, typer.Option(help="Largest number of rules of a fit; auto is 10, or 15 for many rows.", metavar="auto|N")
    ] = "auto",
    json: Json = False,
):
    """Show how many rows a guarantee needs, and how many every private learner needs.

    The learner is that of Bun and Fang, Theorem 3.5, with coverage weight 0, on labels that some decision list predicts
    without error before they are flipped. The bound is derived in dpfast.accounting.papers.decision_lists, and shown
    beside that of the paper. It is for the worst case: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        if (schema is None) == (features is None):
            raise ValueError("say what the table is like: --schema FILE, or --features M")
        M = _conditions(schema) if features is None else features

        from dpfast.accounting import cover_exponent, decision_list_paper, decision_list_plan
        from dpfast.learners.lists.covering import LENGTHS, REACH, usual_length

        problem: dict[str, Any] = {"alpha": alpha, "beta": beta, "neighbors": neighbors}
        plan = decision_list_plan(epsilon, delta, M, noise=noise, **problem)
        paper = decision_list_paper(epsilon, delta, M, **problem)

        def exponent(rules):
            how = {"neighbors": neighbors, "coverage_weight": REACH, "max_rounds": min(rules, M + 1)}
            return cover_exponent(epsilon, delta, **how)

        rules = read_integer("--max-rules", max_rules)
        if rules == "auto":
            rules = usual_length(exponent(LENGTHS[0]), n if neighbors == "replace" else None)
        elif rules < 1:
            raise ValueError(f"--max-rules must be an integer of at least 1 or auto, got {max_rules!r}")
        fitted = exponent(rules)

        if json:
            answer(
                {"derived here": plan._asdict(), "the paper's": paper._asdict(), "exponent of a default fit": fitted}
            )
            return
        rows: dict[str, Any] = {"rows needed": (plan.n, paper.n)}
        if n is not None:
            error = plan.error(n, beta)
            rows["error that n guarantees"] = f"{error:.2g}" if error < 1 else "none", ""
        rows |= {
            "rows every private learner needs": (plan.lower_bound, ""),
            "exponent per wrong row": (f"{plan.exponent:.5f}", f"{paper.exponent:.5f}"),
            "of the rows: to generalise": ("", paper.sample_rows),
            "for privacy": ("", paper.privacy_rows),
        }
        title = f"decision-list over {M:,} features, ({epsilon}, {delta})-DP, {neighbors}"
        compare(title, ("derived here", "the paper's"), rows, n=n)
        flipped = f" before labels are flipped, each with a probability of at most {noise:g}" if noise else ""
        say(
            f"So many rows give an error of at most {alpha} with probability {1 - beta:g}, if some decision list makes "
            f"no error{flipped}. The bound derived here is the claim of dpfast.accounting.papers.decision_lists. "
            "The paper's constants are those of Bun and Fang, Theorem 3.5, for labels that are never flipped, and are "
            "not claimed."
        )
        say(
            f"A fit with at most {rules} rules and other parameters at their defaults has the exponent "
            f"{fitted:.5f}, less the share of its rule counts. The theorem is for coverage weight 0, so it claims no "
            "number of rows for this fit."
        )
        lead = _lead(M, fitted)
        part = "" if n is None else f", {lead / n:.1%} of n"
        say(
            f"In practice, a rule is drawn with probability {_LIKELY} or more if its score is {lead:,.0f} above all "
            f"others{part}. A row that the rule gets right adds up to {float(REACH):g} to the score, and a row that it "
            "gets wrong subtracts up to 1. Rules that matter usually have a larger lead, with far fewer rows than the "
            "theorem needs."
        )


def _conditions(path):
    """Return the number of bits of a table's codes and their negations; estimated for undiscovered ones."""
    from dpfast.tables.code_bits import bit_count
    from dpfast.tables.columns import BINS
    from dpfast.tables.schema import Schema

    declared = Schema.from_file(path).columns
    return 2 * sum(BINS if column.to_find else bit_count(column.code_columns()) for column in declared)


def _lead(features, exponent):
    """Return the lead with which a candidate is drawn with probability 0.9 at least, among all others and both labels.

    With k others, each at least so far behind, the probability is at least 1 / (1 + k exp(-t lead)). The constant true
    counts as a quarter of the features.
    """
    others = 2 * (features + math.ceil(features / 4)) - 1
    return math.log(others * _LIKELY / (1 - _LIKELY)) / exponent
