"""Rows and mistakes that theory asks for, and those that are enough: every learner that applies, on the same problems.

    python bench/theory.py [--runs 20] [--small] [--figures docs/figures]

Least rows are found by doubling and halving, a size counting as enough where 9 of 10 runs err on at most a tenth of new
rows. Beside them stand our plan, the paper's number and the lower bound, at epsilon = 1, delta = 1e-6, alpha = beta =
0.1. `--small` is one small size of each. Seeds are fixed: the numbers are the same on every machine. What the papers
leave open is in `bench/beyond.py`.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpfast
from dpfast import accounting as theory
from dpfast.accounting.papers.lower_bounds import shattered_lower_bound
from dpfast.learners.littlestone.decomposition import most_leaves
from dpfast.littlestone import FiniteClass, LittlestoneLearner, StagedLittlestoneLearner, Thresholds

EPSILON, DELTA, ALPHA, BETA = 1.0, 1e-6, 0.1, 0.1
TEST = 4000


class Problem(NamedTuple):
    """Rows drawn from a distribution and labelled without error."""

    name: str
    size: float
    draw: Callable


# ---- problems --------------------------------------------------------------------------------------------------------


def lists(d):
    """Uniform bits; the first condition that holds of x_1, x_2, ... decides, with labels that alternate."""

    def draw(n, rng):
        X = rng.integers(0, 2, (n, d))
        first = np.where(X.any(axis=1), X.argmax(axis=1), d)
        return X, (first % 2 == 0).astype(int)

    return Problem("decision lists", d, draw)


def margins(gamma):
    """Unit rows of three columns, all of them exactly gamma from a plane."""

    def draw(n, rng):
        along, angle = gamma * rng.choice([-1, 1], n), rng.uniform(0, 2 * math.pi, n)
        across = math.sqrt(1 - gamma**2) * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.column_stack([along, across]), np.sign(along).astype(int)

    return Problem("margins", gamma, draw)


def thresholds(points):
    """The last of some points alone has label 1; half of the rows are that point, the others uniform."""

    def draw(n, rng):
        X = np.where(rng.random(n) < 0.5, points - 1, rng.integers(0, points, n))
        return X, (points - 1 <= X).astype(int)

    return Problem("thresholds", points, draw)


# ---- baselines -------------------------------------------------------------------------------------------------------


class NaiveCover:
    """DP-GreedyCover at the exponent that M + 1 draws have as any mechanisms: noise grows with sqrt(M)."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def fit(self, X, y):
        n, M = X.shape
        t = math.sqrt(2 * theory.zcdp_rho(EPSILON, DELTA) / (M + 1))
        covers, left, conditions = np.column_stack([X, np.ones(n, int)]), np.ones(n, bool), list(range(M + 1))
        self.rules = []
        while not self.rules or self.rules[-1][0] != M:
            ones = covers[left & (y == 1)][:, conditions].sum(axis=0)
            zeros = covers[left & (y == 0)][:, conditions].sum(axis=0)
            scores = -t * np.concatenate([ones, zeros]) + self.rng.gumbel(size=2 * len(conditions))  # labels 0, then 1
            label, drawn = divmod(int(scores.argmax()), len(conditions))
            rule = conditions.pop(drawn)
            left &= covers[:, rule] == 0
            self.rules.append((rule, label))
        return self

    def score(self, X, y):
        covers, answers, left = np.column_stack([X, np.ones(len(X), int)]), np.zeros(len(X), int), np.ones(len(X), bool)
        for rule, label in self.rules:
            answers[left & (covers[:, rule] == 1)] = label
            left &= covers[:, rule] == 0
        return (answers == y).mean()


class SmoothBoost:
    """Servedio's smooth boosting with means as weak learners (JMLR 2003, Figure 1): not private."""

    def __init__(self, gamma, kappa=ALPHA / 4):
        self.gamma, self.kappa = gamma / 4, kappa

    def fit(self, X, y):
        theta = self.gamma / (2 + self.gamma)
        M, N, self.z = np.ones(len(y)), np.zeros(len(y)), np.zeros(X.shape[1])
        for _ in range(math.ceil(2 / (self.kappa * self.gamma**2 * math.sqrt(1 - self.gamma)))):
            if M.mean() < self.kappa:
                break
            mean = (M * y) @ X / M.sum()
            N += y * np.clip(X @ mean, -1, 1) - theta
            M = np.where(N < 0, 1, (1 - self.gamma) ** (np.maximum(N, 0) / 2))
            self.z += mean
        return self

    def score(self, X, y):
        return (np.sign(X @ self.z) == y).mean()


class PlainThreshold:
    """One draw of the exponential mechanism over all thresholds: epsilon-DP."""

    def __init__(self, points, seed):
        self.points, self.rng = points, np.random.default_rng(seed)

    def fit(self, X, y):
        right = np.bincount(X, 2.0 * y - 1, self.points)  # what a threshold wins at each point that it calls 1
        scores = np.append(right[::-1].cumsum()[::-1], 0)
        self.at = int((EPSILON / 2 * scores + self.rng.gumbel(size=self.points + 1)).argmax())
        return self

    def score(self, X, y):
        return ((self.at <= X) == y).mean()


# ---- least rows ------------------------------------------------------------------------------------------------------


def least_rows(problem, learner, runs, most=1 << 17):
    """The least n of a grid of steps of a tenth at which nine tenths of the runs succeed; None above `most`."""
    allowed = runs // 10

    def enough(n):
        failed = 0
        for seed in range(runs):
            rng = np.random.default_rng((seed, n))
            X, y = problem.draw(n, rng)
            if len(np.unique(y)) < 2:
                failed += 1
            else:
                failed += learner(seed).fit(X, y).score(*problem.draw(TEST, rng)) < 1 - ALPHA
            if failed > allowed:
                return False
        return True

    low, high = 4, 8
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high > 1.1 * low:
        middle = round(math.sqrt(low * high))
        if middle in (low, high):
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def bf(d, runs):
    plain = {"coverage_weight": 0, "default_prior": 1, "max_rules": None, "negations": False, "rule_counts": 0}
    problem, plan = lists(d), theory.decision_list_plan(EPSILON, DELTA, d)
    cover = lambda **own: lambda seed: dpfast.DecisionListClassifier(EPSILON, DELTA, random_state=seed, **own)  # noqa: E731
    return {
        "greedy cover": least_rows(problem, cover(**plain), runs),
        "greedy cover, paper's exponent": least_rows(problem, cover(**plain, accounting="paper"), runs),
        "greedy cover, naive composition": least_rows(problem, NaiveCover, runs),
        "our plan": plan.n,
        "the paper's": theory.decision_list_paper(EPSILON, DELTA, d).n,
        "lower bound": plan.lower_bound,
    }


def bcs(gamma, runs):
    problem, plan = margins(gamma), theory.boost_plan(EPSILON, DELTA, margin=gamma)
    plain = {"schema": "vectors", "fit_intercept": False}
    boost = lambda seed: dpfast.BoostedHalfspaceClassifier(EPSILON, DELTA, random_state=seed, **plain)  # noqa: E731
    logistic = lambda seed: dpfast.HalfspaceClassifier(EPSILON, DELTA, schema="vectors", random_state=seed)  # noqa: E731
    return {
        "boosting": least_rows(problem, boost, runs),
        "logistic sums": least_rows(problem, logistic, runs),
        "smooth boosting, not private": least_rows(problem, lambda seed: SmoothBoost(gamma), runs),
        "our plan": plan.n,
        "the paper's": theory.boost_paper(EPSILON, DELTA, margin=gamma).n,
        "lower bound": theory.halfspace_lower_bound(EPSILON, DELTA, margin=gamma, dimension=3),
    }


def nuz(gamma, runs):
    problem, own = margins(gamma), {"fit_intercept": False, "schema": "vectors"}
    descent = lambda seed: dpfast.ProjectedHalfspaceClassifier(EPSILON, DELTA, random_state=seed, **own)  # noqa: E731
    net = lambda seed: dpfast.NetHalfspaceClassifier(EPSILON, net_radius=0.2, random_state=seed, **own)  # noqa: E731
    return {
        "descent": least_rows(problem, descent, runs),
        "net, delta = 0": least_rows(problem, net, runs),
        "our plan, descent": theory.projected_plan(EPSILON, DELTA, margin=gamma).n,
        "the paper's, descent": theory.projected_paper(EPSILON, DELTA, margin=gamma).n,
        "our plan, net": theory.net_plan(EPSILON, margin=gamma, dimension=3).n,
        "the paper's, net": theory.net_paper(EPSILON, margin=gamma).n,
        "lower bound": theory.halfspace_lower_bound(EPSILON, DELTA, margin=gamma, dimension=3),
    }


def lyu(dimension, runs):
    points = 2**dimension - 1
    problem, H = thresholds(points), Thresholds(points)
    teachers = lambda seed: LittlestoneLearner(EPSILON, DELTA, H, ALPHA, random_state=seed)  # noqa: E731
    d = dimension
    return {
        "teachers": least_rows(problem, teachers, min(runs, 10)),
        "exponential mechanism": least_rows(problem, lambda seed: PlainThreshold(points, seed), runs),
        "our plan": StagedLittlestoneLearner(EPSILON, DELTA, H, ALPHA).estimate().n_samples,
        "plan of teachers": teachers(0).estimate().n_samples,
        "the paper's order, constant 1": math.ceil(d**5 * math.log(1 / DELTA) / (ALPHA * EPSILON)),
        "lower bound": shattered_lower_bound(EPSILON, DELTA, 2, alpha=ALPHA, beta=BETA, neighbors="replace"),
    }


# ---- regret ----------------------------------------------------------------------------------------------------------

ROUNDS = 2000


def dr11(experts, runs):
    """Mean regret of losses 0 and 1, fair coins but for one expert's of .3: always the same one; another one later."""
    rate = theory.experts_learning_rate(EPSILON, DELTA, horizon=ROUNDS)
    paper = theory.experts_paper(EPSILON, DELTA, n_experts=experts, horizon=ROUNDS)
    found = {"planted expert": [], "drifting expert": [], "planted, not private": []}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        planted = rng.integers(0, 2, (ROUNDS, experts))
        drifting, good = planted.copy(), rng.random(ROUNDS) < 0.3
        planted[:, 0] = good
        drifting[np.arange(ROUNDS), np.where(np.arange(ROUNDS) < 0.6 * ROUNDS, 0, experts - 1)] = good
        for name, losses in (("planted expert", planted), ("drifting expert", drifting)):
            learner = dpfast.RandomizedWeightedMajority(EPSILON, DELTA, horizon=ROUNDS, random_state=seed)
            found[name].append(regret(losses, learner.play(losses)))
        found["planted, not private"].append(regret(planted, weighted(planted, rng)))
    return {name: float(np.mean(values)) for name, values in found.items()} | {
        "our plan": theory.experts_regret(rate, experts, ROUNDS),
        "the paper's": paper.expected_regret,
        "lower bound": theory.experts_lower_bound(experts, ROUNDS),
    }


def regret(losses, actions):
    return losses[np.arange(len(losses)), actions].sum() - losses.sum(axis=0).min()


def weighted(losses, rng):
    """Randomized weighted majority at the rate that is best without privacy."""
    rate = math.sqrt(8 * math.log(losses.shape[1]) / len(losses))
    before = np.vstack([np.zeros(losses.shape[1]), losses.cumsum(axis=0)[:-1]])
    return (rng.gumbel(size=losses.shape) - rate * before).argmax(axis=1)


# ---- mistakes --------------------------------------------------------------------------------------------------------


def points(d, runs, rounds):
    """Mistakes on "is it this point?" over d points, half of them the one asked for, as halfspaces of margin 1."""
    found = {"Winnow": [], "online convex optimisation": []}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        at = np.where(rng.random(rounds) < 0.5, d // 3, rng.integers(0, d, rounds))
        X = (2 * (at[:, None] == np.arange(d)) - 1).astype(np.int8)
        y = X[:, d // 3].astype(int)
        winnow = dpfast.DPWinnowClassifier(EPSILON, DELTA, random_state=seed)
        found["Winnow"].append((winnow.stream(X, y, classes=[-1, 1]) != y).sum())
        found["online convex optimisation"].append((followed_leader(X / math.sqrt(d), y, rng) != y).sum())
    asked = {"horizon": rounds, "dimension": 2 * (d + 1), "margin": 1.0}
    return {name: float(np.mean(values)) for name, values in found.items()} | {
        "our plan": theory.batched_plan(EPSILON, DELTA, **asked).mistakes,
        "the paper's": theory.winnow_paper(EPSILON, DELTA, **asked).mistakes,
        "lower bound": float(theory.point_lower_bound(EPSILON, DELTA, horizon=rounds, dimension=d).mistakes),
    }


def followed_leader(X, y, rng, block=50):
    """Labels by noisy sums of hinge gradients, kept in a binary tree: private online convex optimisation."""
    blocks = len(y) // block
    levels = blocks.bit_length()
    sigma = theory.gaussian_sigma(EPSILON, DELTA, sensitivity=2 * math.sqrt(levels))
    nodes, total, w, answers = [], np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.ones(len(y), int)
    for b in range(blocks):
        rows = slice(b * block, (b + 1) * block)
        scores = X[rows] @ w
        answers[rows] = np.where(scores >= 0, 1, -1)
        total += (y[rows] * (y[rows] * scores < 1 / math.sqrt(X.shape[1]))) @ X[rows]
        while nodes and not (b + 1) >> nodes[-1][0] & 1:
            nodes.pop()  # the nodes of a prefix are the ones of its length in binary
        low = ((b + 1) & -(b + 1)).bit_length() - 1
        nodes = [node for node in nodes if node[0] > low] + [(low, rng.normal(scale=sigma, size=X.shape[1]))]
        w = total + sum(noise for _, noise in nodes)
        w /= max(1, np.linalg.norm(w))
    return answers


# ---- Theorems 1 and 3 of [Lyu] apart ---------------------------------------------------------------------------------


def leaves(p, d):
    """Lemma 4.1: the most leaves of a valid tree, by binomials."""
    return most_leaves(p * (2**d - 1), d, math.inf)


def apart(d):
    """What makes the numbers of the two theorems large, for any class of dimension d and a stream of 10^6 rounds."""
    rows = theory.staged_plan(
        EPSILON, DELTA, dimension=d, accuracy=ALPHA, confidence=BETA, list_bound=lambda p: leaves(p, d)
    )
    asked = {"dimension": d, "horizon": 10**6, "list_bound": lambda p: leaves(p, d)}
    stream = theory.staged_online_plan(EPSILON, DELTA, **asked)
    return {
        "rows": rows.n_samples,
        "teachers": rows.n_teachers,
        "rows each": rows.rows_per_teacher,
        "K": stream.n_releases,
        "R": stream.n_draws,
        "k": stream.n_teachers,
        "U": stream.threshold,
        "mistakes": stream.mistakes,
        "mistakes, adaptive": theory.staged_online_plan(EPSILON, DELTA, **asked, n_points=math.inf).mistakes,
    }


def essential(d, tables=300, p=2):
    """The most essential hypotheses of random classes of dimension d, their members, and the bounds of Lemma 4.1."""
    rng, most, members = np.random.default_rng(d), 0, 0
    for _ in range(tables):
        H = FiniteClass(np.unique(rng.integers(0, 2, (rng.integers(2, 3 * 2**d), 6)), axis=0))
        if H.littlestone_dimension() == d:
            found = len(H.essential_hypotheses(p))
            if found > most:
                most, members = found, H.size
    return {"found": most, "of members": members, "binomials": leaves(p, d), "p^d 2^(d^2)": p**d * 2 ** (d * d)}


def exponent(sizes, values):
    """The slope of log values over log sizes."""
    return float(np.polyfit(np.log(sizes), [math.log(value) for value in values], 1)[0])


# ---- all of it -------------------------------------------------------------------------------------------------------

PICTURES = {
    "bf": ("conditions M", bf, (4, 8, 16), "rows"),
    "winnow": ("points d", lambda d, runs: points(d, max(1, runs // 4), 20_000), (64, 256, 1024), "mistakes"),
    "lyu": ("Littlestone dimension d of thresholds", lyu, (2, 4, 6, 8), "rows"),
    "dr11": ("experts", dr11, (4, 32, 256), "regret after 2,000 rounds"),
    "bcs": ("margin", bcs, (0.8, 0.4, 0.2), "rows"),
    "nuz": ("margin", nuz, (0.8, 0.4, 0.2), "rows"),
}


def report(name, runs, small=False):
    """{size: {line: number}} of a picture, printed."""
    heading, measure, sizes, what = PICTURES[name]
    found = {}
    for size in sizes[:1] if small else sizes:
        started = time.perf_counter()
        found[size] = measure(size, runs)
        print(f"{name}, {heading} = {size:g}: {what} ({time.perf_counter() - started:.0f} s)", flush=True)
        for line, value in found[size].items():
            print(f"    {line}: {'more than were tried' if value is None else f'{value:,.5g}'}", flush=True)
    return found


def draw(name, found, folder):
    """One picture: measured lines in full, plans and bounds dashed."""
    from style import AMBER, BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, label_ends, plain_ticks, plt, save

    heading, _, sizes, what = PICTURES[name]
    figure, axes = plt.subplots(figsize=(6.6, 4.6))
    ends, colours = [], iter((BLUE, GREEN, SKY, AMBER, BLACK))
    fixed = {"our plan": ORANGE, "the paper's": RED, "lower bound": GREY}
    for line in found[sizes[0]]:
        kind = next((kind for kind in fixed if line.startswith((kind, "plan of"))), None)
        colour = fixed[kind] if kind else next(colours, PURPLE)
        values = [found[size][line] or math.nan for size in sizes]
        axes.plot(sizes, values, "--" if kind else "-", marker="" if kind else "o", color=colour)
        if not math.isnan(values[-1]):
            ends.append((values[-1], line, colour))
    axes.set(xscale="log", yscale="log", xlabel=heading, ylabel=what, xlim=(sizes[0], sizes[-1]))
    plain_ticks(axes.xaxis, sizes)
    figure.tight_layout()
    label_ends(axes, ends, gap=0.06)
    save(figure, folder / f"theory_{name}.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--small", action="store_true", help="the first size of each, in two runs")
    parser.add_argument("--only", nargs="*", choices=PICTURES, default=list(PICTURES))
    parser.add_argument("--figures", type=Path, help="where to write the pictures; needs matplotlib")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.only:
        found = report(name, 2 if given.small else given.runs, given.small)
        if given.figures and not given.small:
            sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "figures"))
            draw(name, found, given.figures)
    dimensions = (2, 3) if given.small else (2, 3, 4, 6, 8)
    numbers = {d: apart(d) for d in dimensions}
    for d, row in numbers.items():
        print(f"d = {d}: " + ", ".join(f"{name} {value:.2e}" for name, value in row.items()))
    for name in ("rows", "mistakes"):
        print(f"{name} grow like d^{exponent(dimensions, [row[name] for row in numbers.values()]):.1f}")
    for d in (1, 2, 3):
        print(f"essential hypotheses at d = {d}: " + ", ".join(f"{k} {v}" for k, v in essential(d).items()))


if __name__ == "__main__":
    main()
