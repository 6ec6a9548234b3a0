"""dpfast experts: follow the advice of experts on a table of losses."""

import sys
from typing import Annotated, Literal

import typer
from rich.text import Text

from .files import read
from .options import Beta, Decimal, Delta, Encoding, Epsilon, Relation, Seed, Separator, ShowPrivate, Written
from .outputs import check_files, csv_of, deliver
from .report import errors, facts, number, reporting


def experts(
    losses: Annotated[
        str,
        typer.Argument(
            metavar="LOSSES",
            help="A .csv, .tsv, .parquet, .svm or .npz file of losses in [0, 1]; a row is a round, a column an expert.",
        ),
    ],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    horizon: Annotated[
        int | None, typer.Option(help="Number of rounds that are paid for; by default those of the file.", min=1)
    ] = None,
    neighbors: Relation = "replace",
    calibration: Annotated[
        Literal["tight", "paper"],
        typer.Option(help="Use the largest learning rate that the claim allows, or the paper's."),
    ] = "tight",
    beta: Beta = 0.05,
    separator: Separator = None,
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    seed: Seed = None,
    show_private: ShowPrivate = False,
    out: Written = None,
):
    """Draw the expert to follow in each round from the rounds before it, and write one name to each line.

    The algorithm is randomized weighted majority (Dwork and Roth, Algorithm 15). All that is written is (epsilon,
    delta)-DP if the losses of one round are replaced, or set to 0. The loss is private, and shown only with
    --show-private. The bound on the regret (Theorems 11.1 and 11.4) does not depend on the losses.
    """
    with reporting("nothing was drawn and nothing written") as state:
        check_files(out, LOSSES=losses)

        import numpy as np

        from dpfast import RandomizedWeightedMajority
        from dpfast.accounting import experts_regret

        text = {"separator": separator, "decimal": decimal, "encoding": encoding}
        table = read(losses, values="numbers", limits=(0, 1), **text)
        rounds, width = table.X.shape
        names = [str(j) for j in range(width)] if table.feature_names is None else table.feature_names
        if horizon is not None and rounds > horizon:
            raise ValueError(f"{losses} has {rounds:,} rounds, --horizon pays for {horizon:,}")
        learner = RandomizedWeightedMajority(
            epsilon,
            delta,
            n_experts=width,
            horizon=rounds if horizon is None else horizon,
            neighbors=neighbors,
            calibration=calibration,
            random_state=seed,
        )
        expected = experts_regret(learner.learning_rate_, width, rounds)
        likely = experts_regret(learner.learning_rate_, width, rounds, failure=beta)

        def drawn_experts():
            return csv_of([names[expert]] for expert in learner.actions_.tolist() if expert >= 0).encode()

        def rescue():
            spent = "the budget is spent; the experts drawn are"
            return f"{spent} {deliver(drawn_experts(), None, 'experts.txt')}" if learner.rounds_ else None

        state.rescue = rescue
        learner.play(table.X)
        if out is None:
            sys.stdout.write(drawn_experts().decode())
            sys.stdout.flush()
            where = "on standard output"
        else:
            where = deliver(drawn_experts(), out, out.name)
        state.now, state.has_spent, state.rescue = f"the budget is spent; the experts drawn are {where}", True, None

        summary = facts()
        summary.add_row("rounds", f"{rounds:,}, of {width:,} experts")
        summary.add_row("learning rate", f"{learner.learning_rate_:.4g}")
        summary.add_row("beyond the best", f"at most {number(expected)} in expectation, by Theorem 11.1")
        summary.add_row("", f"at most {number(likely)} with probability {1 - beta:g}, by Theorem 11.4")
        if show_private:
            report = learner.owner_report()
            best = names[int(np.asarray(table.X.sum(axis=0)).argmin())]
            comparison = f"{report.loss:,.1f} lost, {report.best_loss:,.1f} by {best}, the best expert (not private)"
            summary.add_row("losses", Text(comparison, style="yellow"))
        summary.add_row("privacy", str(learner.privacy_))
        errors.print(summary)
