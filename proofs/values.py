"""Write Values.v: constants of plans as dpfast computes them, each proved to suffice by a definition of Plans.v.

    python proofs/values.py             writes the file from the installed dpfast
    python proofs/values.py --check     says whether it is as written

A group names a definition of Coq and the function of dpfast that computes it, and evaluates both on a grid of
rationals. An exact function must return the value of the definition. Where dpfast rounds, the value must lie on the
safe side, and near. So a constant that is halved is no longer proved, and one that is doubled is no longer near.
"""

import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
from grid import order, real

from dpfast import accounting
from dpfast.accounting import Cost, winnow_range, winnow_rho, winnow_weight
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.noise import changed_rows, noise_scale
from dpfast.accounting.curves import single_sample
from dpfast.accounting.curves.opening import opening_moves
from dpfast.accounting.curves.zcdp import draws_rho
from dpfast.accounting.papers.experts import experts_range
from dpfast.accounting.papers.winnow import WEIGHT_GRID
from dpfast.base import ExponentialDraw, LaplaceSum, Plan, Task
from dpfast.discovery import survey
from dpfast.learners.experts.statistical_query import StatisticalQueryOracle
from dpfast.learners.halfspaces.images import LIMIT, CodeShape
from dpfast.learners.halfspaces.measure import CAP, LazyBregman, Local
from dpfast.learners.halfspaces.model import Grid, releases, sensitivity
from dpfast.learners.halfspaces.pairs import draws
from dpfast.learners.halfspaces.steepness import STEPS
from dpfast.learners.halfspaces.weak import NoisyCentering, NoisyStump
from dpfast.learners.lists.plan import UNIT, ListShares
from dpfast.mechanisms import AboveThreshold
from dpfast.mechanisms.frequent import frequent_rho, frequent_threshold
from dpfast.mechanisms.quantiles import quantiles_cost
from dpfast.metrics.figure import Counter
from dpfast.tables.columns import Category
from dpfast.tables.discovered import Discovered
from dpfast.tables.schema import Schema

HERE = Path(__file__).resolve().parent
RELATIONS = (("replace", "true"), ("add-remove", "false"))
HEAD = r"""(** Written by values.py from dpfast; not to be edited. Floats are the rationals that they are. *)
From Coq Require Import Reals Lra Lia List ZArith.
From Interval Require Import Tactic.
From Dpfast Require Import Privacy Noise Numbers Plans Quantiles NaiveBayes Winnow SingleSample Paper.
Import ListNotations.
Open Scope R_scope.

Ltac value :=
  unfold winnow_total, naive_bayes_rho, histogram_square, edge_width, lone, pairs_width, boosting_moves,
    selection_price, tests_epsilon, experts_width, winnow_width, feature_width, weight_fits, draws_rho, draw_epsilon,
    laplace_epsilon, noise_square, counts_square, logistic_square, residual_factor, changed, Rmax, Rabs; simpl;
  repeat match goal with
  | |- context [Rcase_abs ?a] => destruct (Rcase_abs a)
  | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
  end; try match goal with |- _ /\ _ => split end; lra.

Ltac unfold_plan := unfold naive_bayes_rho, histogram_square, noise_square, changed.

Ltac tail :=
  unfold laplace_above, changed;
  repeat match goal with |- context [Z_lt_dec ?a ?b] => destruct (Z_lt_dec a b); [exfalso; lia|] end;
  split; interval with (i_prec 120).
"""


class Group(NamedTuple):
    """A definition of Plans.v, the function of dpfast that it is compared with, and what is stated of both."""

    definition: str
    function: str
    statements: object  # a function that yields statements, or pairs of a statement and its proof


def equal(term, value):
    return f"{term} = {real(value)}"


def at_most(term, most, near=Fraction(1, 10**6)):
    """The term is at most this, and not much less."""
    most = Fraction(most)
    return f"{real(most * (1 - near))} <= {term} <= {real(most)}"


def changed():
    for name, replaced in RELATIONS:
        yield equal(f"changed {replaced}", changed_rows(name))


def logistic():
    for (name, replaced), classes, reach in itertools.product(RELATIONS, (2, 3, 7), (1, 1000, LIMIT * 77)):
        moves = sensitivity(reach, classes, name)
        yield f"{real((moves - 1) ** 2)} < logistic_square {replaced} {classes} {reach} <= {real(moves**2)}"


def openings():
    for (name, replaced), columns, weight, rows in itertools.product(RELATIONS, (1, 39), (0, 1, 4), (1, 3)):
        moves = opening_moves(columns + weight**2, name, rows)
        yield equal(f"counts_square {replaced} {columns} {weight} {rows}", moves)


def _shape(columns, by_margin=False, by_middle=False):
    shape = CodeShape((3,) * columns, (0,) * columns, 2, True)
    shape.by_margin, shape.by_middle = by_margin, by_middle
    return shape


def images():
    for (name, replaced), columns in itertools.product(RELATIONS, (1, 14, 60)):
        shape = _shape(columns)
        moves = shape.opening_square(changed_rows(name))
        yield equal(f"counts_square {replaced} {columns} {shape._weight} 1", moves)


def halfspaces():
    """The opening costs `paid` rounds, and what follows the rounds costs 2 `paid` more."""
    grid = itertools.product(RELATIONS, ((False, False), (True, False), (True, True)), (20, 61))
    for (name, replaced), (by_margin, by_middle), rounds in grid:
        shape, task = _shape(14, by_margin, by_middle), Task(epsilon=1.0, delta=1e-6, neighbors=name)
        opening = releases(task, shape, rounds)["opening"]
        (cost,) = opening.cost
        steps = Grid.of(shape, 2, rounds, name)
        moves = Fraction(opening.noise) * Fraction(cost.size)  # all releases together, in steps
        once = f"{steps.opening**2} * counts_square {replaced} 14 {shape._weight} 1"
        levels = f"{steps.levels**2} * counts_square {replaced} 1 0 1"
        middle = f"{steps.middle**2} * (changed {replaced} * {STEPS} * (changed {replaced} * {STEPS}))"
        after = {0: [], 1: [levels], 2: [levels, middle]}[by_margin + by_middle]
        each = f"{rounds} * logistic_square {replaced} 2 {shape.reach}"
        yield at_most(" + ".join([each, once, *after]), moves**2, Fraction(1, 100))


def surveys():
    """All looks together cost what is charged, and lone words and labels are published as seldom as is charged."""
    schema = Schema([Category("a"), Discovered("b"), Discovered("c", reads="number")])
    for (name, replaced), rows, share in itertools.product(RELATIONS, (1, 3), (1, Fraction(1, 8))):
        planned = survey.plan(schema, 1, 1e-6, name, share=share, labels="open", rows_per_unit=rows, kind="gaussian")
        unit, weight = planned.look.unit, planned.labels.unit // planned.look.unit
        gaussian, pair = planned.cost
        terms = [
            f"noise_square ({unit**2} * counts_square {replaced} {counted} {rows}) {real(planned.look.scale)}"
            for counted in (f"3 {weight}", f"{planned.columns + planned.pool} 0")
        ]
        yield at_most(" + ".join(terms), Fraction(gaussian.size) ** 2)
        yield equal(f"{real(planned.labels.scale)}", Fraction(planned.look.scale))
        yield at_most(f"lone 2 1 {real(planned.look.lone)} {real(planned.labels.lone)}", pair.delta)
    declared = Schema([Discovered("b", reads="number"), Discovered("c", reads="number")])
    for (name, replaced), rows, labels in itertools.product(RELATIONS, (1, 3), (None, "declared")):
        planned = survey.plan(declared, 1, 0, name, share=Fraction(1, 4), labels=labels, rows_per_unit=rows)
        moved = f"(changed {replaced} * {rows} * {2 + (labels is not None)})"
        looks = [
            f"laplace_epsilon {each} {real(planned.look.scale)}"
            for each in (moved, f"(changed {replaced} * {rows} * {planned.columns + planned.pool})")
        ]
        yield at_most(" + ".join(looks), Fraction(1, 4))


def experts():
    for (name, replaced), signed in itertools.product(RELATIONS, (False, True)):
        width = experts_range(name, signed=signed)
        yield equal(f"experts_width {replaced} {str(signed).lower()}", width)


def winnow_widths():
    ends = ((-1, 1), (0, 1), (Fraction(-1, 2), 3))
    for (name, _), batch, negated, (low, high) in itertools.product(RELATIONS, ("all", 5), (False, True), ends):
        two = str(name == "replace" or batch != "all").lower()
        width = winnow_range(name, feature_range=(low, high), negations=negated, batch=batch)
        yield equal(f"winnow_width {two} {str(negated).lower()} {real(low)} {real(high)}", width)
        if not negated:
            width = winnow_range(name, feature_range=(low, high), negations="complement", batch=batch)
            yield equal(f"winnow_width {two} false {real(low)} {real(high)}", width)


def winnow_weights():
    for most in (1, 7, 20, 1000):
        for k in sorted({0, 1, most // 2, most - 1} & set(range(most))):
            yield f"weight_fits {winnow_weight(k, most)} {k} {most} {WEIGHT_GRID}"


def draws_rhos():
    for eta, width, times in itertools.product((1e-5, 0.3, 2.0), (1, 4), (1, 20, 10**6)):
        rho = draws_rho(eta, times, float(width))
        yield at_most(f"draws_rho {real(eta)} {width} {times}", rho)


def winnow_rhos():
    grid = itertools.product((1e-3, 0.02), (1, 10), (1, 200), (0.0, 0.3), (1, 4), (Fraction(2), Fraction(4)))
    for eta, updates, each, e, runs, width in grid:
        given = {"n_updates": updates, "n_draws": each, "threshold_epsilon": e, "threshold_runs": runs}
        rho = winnow_rho(eta, **given, score_range=width)
        whole = f"winnow_total {real(eta)} {width} {each} {updates} {real(e)}"  # with the tests of one interval
        yield at_most(f"{whole} + {runs - 1} * ({real(e)} * {real(e)} / 2)", rho)


def single_samples():
    """The sum over cells of a curve, with three cells from epsilon 0 to 1 and a curve that is e^epsilon / 64."""
    kept = {name: getattr(single_sample, name) for name in ("_CELLS", "_END", "_curve")}
    points = "[exp (1 / 3); exp (2 / 3); exp 1]"
    try:
        single_sample._CELLS, single_sample._curve = 3, lambda x, _: np.exp(x) / 64
        for mu, rows, steps in ((6.0, 10, 3), (1.5, 10, 20), (1.5, 1000, 10**6)):
            single_sample._END = 1 / mu - mu / 2
            epsilon = accounting.single_sample_epsilon(mu, 1e-3, rows=rows, steps=steps)
            given = f"(/ {rows}) (fun a => a / 64) {points} {steps} {real(1e-3)}"
            order = min(range(6), key=lambda n: _steps_epsilon(n, rows, steps) if (n + 1) * mu <= 10 else math.inf)
            yield (
                at_most(f"steps_epsilon {order} {given}", epsilon),
                "unfold steps_epsilon, sampled_moment, sampled, rise_up, rise_down; simpl; "
                "split; interval with (i_prec 90)",
            )
    finally:
        for name, each in kept.items():
            setattr(single_sample, name, each)


def papers():
    """The claim of a decision list by the constants of its paper."""
    for (name, factor), t, delta in itertools.product((("replace", 4), ("add-remove", 2)), (0.01, 1.0), (1e-9, 0.01)):
        epsilon = accounting.cover_epsilon(t, delta, neighbors=name, accounting="paper")
        term = f"paper_epsilon {factor} {real(t)} {real(delta)}"
        yield at_most(term, epsilon), "unfold paper_epsilon; split; interval with (i_prec 120)"


def _steps_epsilon(n, rows, steps):
    """`steps_epsilon` of Coq in floats, to find the order n + 2 that is best."""
    ends = [math.exp(k / 3) for k in range(4)]
    g, b = [1 + (a - 1) / rows for a in ends], n + 1
    weights = ((g[k + 1] ** n + g[k] ** -(n + 3)) * (g[k + 1] - g[k]) * ends[k] / 64 / rows for k in range(3))
    moment = math.log1p((n + 2) * (n + 1) * math.fsum(weights))
    return (steps * moment - math.log(1e-3) - b * math.log1p(1 / b) - math.log1p(b)) / b


def pairs():
    for (name, replaced), classes, rows, most in itertools.product(RELATIONS, (2, 3, 9), (1, 3), (1, 4)):
        for each in draws(name, classes, LIMIT, Fraction(1, 20), most, rows):
            yield equal(f"pairs_width {replaced} {classes} {LIMIT} {rows}", each.width)


def boosting():
    for reach in (1, 65536):
        rows = SimpleNamespace(reach=reach)
        for (name, _), measure in itertools.product(RELATIONS, (LazyBregman(), Local())):
            moves = NoisyCentering().sensitivity(rows, measure.moved(name))
            one = isinstance(measure, Local) and name == "add-remove"  # one term: half of the sum of two
            yield equal(f"boosting_moves {CAP} {reach}" + (" / 2" if one else ""), moves)


def stumps():
    for moved in (1, 2 * CAP, CAP, 2 * CAP + 1):
        width = 2 * NoisyStump().sensitivity(None, moved)
        yield f"stump_width {moved} {NoisyStump.GRID} = {width}%Z", "reflexivity"


def stump_noises():
    for rounds, epsilon in ((1, 1.0), (40, 3.0)):
        exponent = NoisyStump().noise(None, epsilon, 1e-6, rounds)
        rho = accounting.zcdp_rho(epsilon, 1e-6)
        yield at_most(f"draws_rho {real(exponent)} {2 * (2 * CAP // NoisyStump.GRID)} {rounds}", rho)


def laplace():
    """Scales of counts: class counts, figures, frequent values, queries."""
    for (name, replaced), epsilon, rows in itertools.product(RELATIONS, (Fraction(1, 10), Fraction(3)), (1, 3)):
        scale = noise_scale(epsilon, name, rows_per_unit=rows)
        yield equal(f"laplace_epsilon (changed {replaced} * {rows}) {real(scale)}", epsilon)
    for (name, replaced), epsilon in itertools.product(RELATIONS, (Fraction(1, 10), Fraction(3))):
        scale = Counter(epsilon, name, None, 0)._scale
        yield equal(f"laplace_epsilon (changed {replaced}) {real(scale)}", epsilon)
        rho = frequent_rho(epsilon, name)
        e = real(epsilon)
        yield equal(f"changed {replaced} * (({e} / changed {replaced}) * ({e} / changed {replaced}) / 2)", rho)
    for (name, _), queries in itertools.product(RELATIONS, (1, 8)):
        table = [[0.0], [1.0]]
        oracle = StatisticalQueryOracle(
            (table, [0, 1]), 2, 0, n_queries=queries, noise="discrete-laplace", neighbors=name, random_state=0
        )
        scale, releases = oracle.noise_scale_, queries + (name == "add-remove")
        yield at_most(f"{releases} * laplace_epsilon 1 {real(scale)}", 2)


def frequent():
    """A count of one reaches the threshold with probability at most delta."""
    grid = itertools.product(RELATIONS, (Fraction(1, 2), Fraction(2)), (Fraction(1, 10**6), Fraction(1, 100)))
    for (name, replaced), epsilon, delta in grid:
        threshold = frequent_threshold(epsilon, delta, neighbors=name)
        rate = f"({real(epsilon)} / changed {replaced})"
        yield (
            f"laplace_above {rate} {threshold - 1} <= {real(delta)} < laplace_above {rate} {threshold - 2}",
            "tail",
        )


def pure_plans():
    """All releases of a plan with delta = 0, for units of k rows: what they cost is what the task has."""
    for rows, share in itertools.product((1, 3), (Fraction(1), Fraction(1, 5))):
        plan = Plan(drawn=ExponentialDraw(2, times=4), counts=LaplaceSum(3, times=2, share=share))
        solved = plan.solve(Task(epsilon=Fraction(7, 10), rows_per_unit=rows))
        drawn = f"4 * draw_epsilon {2 * rows} {real(solved.noise['drawn'])}"
        counted = f"2 * laplace_epsilon {3 * rows} {real(solved.noise['counts'])}"
        yield at_most(f"{drawn} + {counted}", Fraction(7, 10))


def tests():
    kinds = ((False, "Any"), (True, "Monotone"), ("running", "Running"))
    for (monotone, kind), epsilon in itertools.product(kinds, (Fraction(1, 10), Fraction(4))):
        made = AboveThreshold(10, epsilon, monotone=monotone, rng=0)
        yield at_most(f"tests_epsilon {kind} {real(made.threshold_scale)} {real(made.test_scale)}", epsilon)
        paper = AboveThreshold(10, epsilon, monotone=monotone, noise="paper", rng=0)
        yield f"tests_epsilon {kind} {real(paper.threshold_scale)} {real(paper.test_scale)} <= {real(epsilon)}"


def selections():
    for epsilon, runs in itertools.product((0.05, 0.5, 3.0), (2, 30, 1000)):
        price = accounting.selection_cost([(epsilon, 0.0)], runs=runs)
        yield (
            at_most(f"selection_price {runs} {real(epsilon)}", price),
            "unfold selection_price; split; interval with (i_prec 120)",
        )


def lists():
    """What the counts of rules and the sizes of classes move by, and how the rows of a unit change scores."""
    for (name, replaced), rows in itertools.product(RELATIONS, (1, 3)):
        shares = ListShares(1.0, 1e-6, name, Fraction(1, 4), "curve", Fraction(1, 20), True)
        sizes, cover, counts = shares.parts(10, rows)
        for each in (sizes, counts):
            moved = Fraction(each.sensitivity) / UNIT
            # k rows of a unit leave one cell and k enter another, at worst: changed * k^2
            yield at_most(f"counts_square {replaced} 1 0 {rows}", moved**2)
        yield equal(f"changed {replaced} * ({rows} * (1 + 1 / 4))", cover.up + cover.down)


def edges():
    """One edge of a share of the rows: what a draw costs purely, and by concentrated privacy."""
    for (name, _), share in itertools.product(RELATIONS, (Fraction(1, 2), Fraction(1, 3), Fraction(9, 10))):
        pure, rho = quantiles_cost([share], name)
        width = f"edge_width {real(share)}" if name == "add-remove" else f"Rmax 2 (edge_width {real(share)})"
        yield equal(f"draw_epsilon ({width}) 1", pure)
        yield equal(f"draws_rho 1 ({width}) 1", rho)


def bounded():
    """Draws of a bounded range as Gaussian ones: mu^2 = T r^2 pi / 8."""
    for width, times in itertools.product((0.01, 1.5), (2, 50)):
        mu = Cost("range", width, times=times).gaussian
        term = f"draws_mu_square {real(width)} {times}"
        yield at_most(term, mu), "unfold draws_mu_square; split; interval with (i_prec 120)"


def divergences():
    """Renyi divergences of order 1 + b: (1 + b) rho, with rho = mu^2 / 2 of Gaussian noise and T r^2 / 8 of draws."""
    for b, times in itertools.product((0.25, 8.0), (2, 50)):
        for kind, term in (("gaussian", "noise_square 1 2 / 2"), ("zcdp", "1 / 2"), ("range", "draws_rho 1 (1 / 2) 1")):
            divergence = Cost(kind, 0.5, times=times).renyi(b)
            yield at_most(f"{times} * ((1 + {real(b)}) * ({term}))", divergence)


def sums():
    """Sums with discrete Gaussian noise: mu^2 = T (s / sigma)^2, and its distance T m / (24 sigma^2)."""
    for sigma, moved, times, size in ((10**6, 10**5, 1, 1), (3 * 10**5, 999, 40, 100)):
        (cost,) = discrete_gaussian_cost(sigma, sensitivity=moved, releases=times, size=size)
        square = Fraction(cost.size) ** 2
        yield at_most(f"{times} * noise_square ({moved} * {moved}) {sigma}", square)
        yield at_most(f"{times} * {size} / (24 * ({sigma} * {sigma}))", cost.delta)


def _example():
    """The learner of docs/examples/plot_14_own_learner.py, without what it prints and draws."""
    source = (HERE.parent / "docs/examples/plot_14_own_learner.py").read_text(encoding="utf-8").split("\n# %%")[0]
    module = ModuleType("dpfast_example")
    sys.modules[module.__name__] = module  # where dataclasses look
    exec(compile(source.replace("import matplotlib.pyplot as plt\n", ""), module.__name__, "exec"), vars(module))
    return module.PrivateNaiveBayes()


def naive_bayes():
    """The plan of the example, whose claim NaiveBayes.v proves at the epsilon that concentrated privacy gives."""
    learner = _example()
    for (name, replaced), columns, epsilon in itertools.product(RELATIONS, (14, 60), (0.3, 1)):
        sizes = (8,) * columns
        task = Task(epsilon=epsilon, delta=1e-6, neighbors=name, n_columns=columns, sizes=sizes, n_classes=2)
        plan = learner.plan(task)
        yield at_most(f"histogram_square {replaced} {columns}", Fraction(plan["histogram"].moves) ** 2)
        solved, (cost,) = plan.solve(task), plan.solve(task).cost
        steps = solved.steps["histogram"]
        sigma = Fraction(solved.noise["histogram"]) * steps
        rho = f"naive_bayes_rho {replaced} {columns} {steps} {real(sigma)}"
        yield at_most(f"2 * {rho}", Fraction(cost.size) ** 2)
        unit = Task(**{**vars(task), "rows_per_unit": 3})
        (of_units,) = plan.solve(unit).cost
        noise = f"{real(Fraction(plan.solve(unit).noise['histogram']))}"
        yield at_most(
            f"noise_square (3 * 3 * histogram_square {replaced} {columns}) {noise}", Fraction(of_units.size) ** 2
        )
        spent = accounting.zcdp_epsilon(Fraction(cost.size) ** 2 / 2, 1e-6)
        found = order(cost.size**2 / 2, spent)
        yield f"zcdp_fits ({rho}) {real(spent)} {real(1e-6)}", f"unfold_plan; order {real(found)}"


GROUPS = {
    "changed": Group("Plans.changed", "dpfast.accounting.claims.noise.changed_rows", changed),
    "logistic": Group("Plans.logistic_square", "dpfast.learners.halfspaces.model.sensitivity", logistic),
    "counts": Group("Plans.counts_square", "dpfast.accounting.curves.opening.opening_moves", openings),
    "images": Group("Plans.counts_square", "dpfast.learners.halfspaces.images.CodeShape.opening_square", images),
    "halfspace": Group("Plans.logistic_square", "dpfast.learners.halfspaces.model.releases", halfspaces),
    "survey": Group("Plans.noise_square", "dpfast.discovery.survey.plan", surveys),
    "experts": Group("Plans.experts_width", "dpfast.accounting.papers.experts.experts_range", experts),
    "winnow_width": Group("Plans.winnow_width", "dpfast.accounting.papers.winnow.winnow_range", winnow_widths),
    "winnow_weight": Group("Plans.weight_fits", "dpfast.accounting.papers.winnow.winnow_weight", winnow_weights),
    "draws": Group("Plans.draws_rho", "dpfast.accounting.curves.zcdp.draws_rho", draws_rhos),
    "winnow": Group("Winnow.winnow_total", "dpfast.accounting.papers.winnow.winnow_rho", winnow_rhos),
    "paper": Group("Paper.paper_epsilon", "dpfast.accounting.cover_epsilon", papers),
    "single_sample": Group("SingleSample.steps_epsilon", "dpfast.accounting.single_sample_epsilon", single_samples),
    "pairs": Group("Plans.pairs_width", "dpfast.learners.halfspaces.pairs.draws", pairs),
    "boosting": Group("Plans.boosting_moves", "dpfast.learners.halfspaces.weak.NoisyCentering.sensitivity", boosting),
    "stump": Group("Plans.stump_width", "dpfast.learners.halfspaces.weak.NoisyStump.sensitivity", stumps),
    "stump_noise": Group("Plans.draws_rho", "dpfast.learners.halfspaces.weak.NoisyStump.noise", stump_noises),
    "laplace": Group("Plans.laplace_epsilon", "dpfast.accounting.claims.noise.noise_scale", laplace),
    "frequent": Group("Noise.laplace_above", "dpfast.mechanisms.frequent.frequent_threshold", frequent),
    "pure_plan": Group("Plans.draw_epsilon", "dpfast.base.plan.Plan.solve", pure_plans),
    "tests": Group("Plans.tests_epsilon", "dpfast.mechanisms.above_threshold.AboveThreshold", tests),
    "selection": Group("Plans.selection_price", "dpfast.accounting.curves.selection.selection_cost", selections),
    "list": Group("Plans.counts_square", "dpfast.learners.lists.plan.ListShares.parts", lists),
    "quantiles": Group("Quantiles.edge_width", "dpfast.mechanisms.quantiles.quantiles_cost", edges),
    "bounded": Group("Plans.draws_mu_square", "dpfast.accounting.claims.costs.Cost.gaussian", bounded),
    "naive_bayes": Group("NaiveBayes.naive_bayes_rho", "dpfast.base.plan.Plan.solve", naive_bayes),
    "divergences": Group("Plans.draws_rho", "dpfast.accounting.claims.costs.Cost.renyi", divergences),
    "sums": Group("Plans.noise_square", "dpfast.accounting.claims.costs.discrete_gaussian_cost", sums),
}


def text():
    """The text of Values.v."""
    out = [HEAD]
    for name, group in GROUPS.items():
        for k, stated in enumerate(group.statements(), 1):
            statement, proof = (stated, "value") if isinstance(stated, str) else stated
            out.append(f"Lemma {name}_{k} : {statement}.\nProof. {proof}. Qed.\n")
    return "\n".join(out)


if __name__ == "__main__":
    path = HERE / "Values.v"
    if "--check" in sys.argv[1:]:
        sys.exit(None if path.read_text(encoding="utf-8") == text() else "Values.v is not what values.py writes")
    path.write_text(text(), encoding="utf-8")
    print(path.name, text().count("\nLemma "), "values")
