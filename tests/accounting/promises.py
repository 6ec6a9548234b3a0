"""Every public function of `dpfast.accounting` that states a number, with balls that prove it to be safe.

A row draws arguments from the whole accepted domain, random or extreme ones, and says whether the answer is on the
safe side. An argument may be refused by a ValueError.
"""

import heapq
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_poly
from reference import balls
from reference.balls import ball
from reference.many_digits import (
    composed_epsilon,
    cumulant,
    decimal,
    discrete_curve,
    gaussian_curve,
    high,
    low,
    pure_mu,
    readings,
    zcdp_curve,
)
from scipy import special

from dpfast import accounting
from dpfast.accounting import Budget, BudgetExceeded, Composed, Cost, Draws, NoisySums, PrivacySpend
from dpfast.accounting.curves.searches import lowest
from dpfast.accounting.curves.selection import gaussian_mu
from dpfast.accounting.curves.single_sample import _ORDERS as ORDERS
from dpfast.accounting.papers.halfspaces import HINGE_SHARE

HUGE = [1, 2, 3, 10, 1000, 2**31, 2**53 + 1, 10**18, 10**40]


class Arguments(random.Random):
    """Draws arguments, from ordinary ranges or among the ends of what is accepted."""

    extreme = False

    def real(self, least: float, most: float, *ends: Any) -> Any:
        """Log-uniform, or one of the ends."""
        if self.extreme and self.random() < 0.8:
            return self.choice([5e-324, 2.3e-308, 1e-300, 1e-160, 1e-100, 1e-30, 1e-17, 1e-16, 1e-15, 1e-8, 0.1, 0.3,
                                1.0, 40.0, 700.0, 709.9, 745.2, 1e4, 1e16, 1e100, 1e160, 1.7e308, Fraction(1, 3),
                                Fraction(2, 3), Fraction(10**18 + 1, 10**18), *ends])  # fmt: skip
        return math.exp(self.uniform(math.log(least), math.log(most)))

    def epsilon(self) -> Any:
        return self.real(1e-4, 50)

    def delta(self) -> Any:
        if self.extreme and self.random() < 0.8:
            return self.choice([1e-300, 1.1e-300, 1e-299, 1e-100, 1e-17, 1e-16, 0.1, 0.5, 0.999, math.nextafter(1, 0),
                                Fraction(1, 3), Fraction(1, 10**200)])  # fmt: skip
        return math.exp(self.uniform(math.log(1e-20), math.log(0.5)))

    def number(self, most: int) -> int:
        """An integer from 1 on."""
        if self.extreme and self.random() < 0.8:
            return self.choice(HUGE)
        return math.ceil(math.exp(self.uniform(0, math.log(most))))

    def relation(self) -> str:
        return self.choice(["replace", "add-remove"])


class Promise(NamedTuple):
    """A function, how its arguments are drawn, whether an answer is safe, and how many times slower than most."""

    name: str
    call: Callable[..., Any]
    draw: Callable[[Arguments], dict]
    safe: Callable[[dict, Any], bool]
    slow: int = 1


TABLE: list[Promise] = []


def promise(draw: Callable[[Arguments], dict], slow: int = 1, call: Callable[..., Any] | None = None):
    """Put a row into the table: the decorated function is `safe`, and has the name of what it is for."""

    def put(safe):
        name = safe.__name__
        TABLE.append(Promise(name, call or getattr(accounting, name), draw, balls.decided(safe), slow))
        return safe

    return put


def shift(value) -> arb:
    """A number that is drawn with as it is: a float is the rational that it is."""
    return ball(Fraction(value))


# ---- conversions -----------------------------------------------------------------------------------------------------


@promise(lambda a: {"rho": a.real(1e-8, 100, 0.0), "epsilon": a.real(1e-3, 50, 0.0)})
def zcdp_delta(given, found):
    return found >= zcdp_curve(high(given["rho"]), low(given["epsilon"]), enough=found)


@promise(lambda a: {"rho": a.real(1e-8, 100, 0.0), "delta": a.delta()})
def zcdp_epsilon(given, found):
    return low(found) >= composed_epsilon(high(given["rho"]), low(given["delta"]), enough=low(found))


@promise(lambda a: {"epsilon": a.epsilon(), "delta": a.delta()})
def zcdp_rho(given, found):
    most = low(given["epsilon"])
    return composed_epsilon(ball(found), low(given["delta"]), enough=most) <= most


def _noise(a):
    return {"sigma": a.real(0.01, 1e4), "sensitivity": a.real(0.1, 10)}


def _mu(given, sigma=None):
    return high(given["sensitivity"]) / shift(given["sigma"] if sigma is None else sigma)


@promise(lambda a: _noise(a) | {"epsilon": a.real(1e-3, 50, 0.0)})
def gaussian_delta(given, found):
    return found >= gaussian_curve(_mu(given), low(given["epsilon"]))


@promise(lambda a: _noise(a) | {"delta": a.delta()})
def gaussian_epsilon(given, found):
    return math.isinf(found) or gaussian_curve(_mu(given), low(found)) <= low(given["delta"])


@promise(lambda a: {"epsilon": a.epsilon(), "delta": a.delta(), "sensitivity": a.real(0.1, 10)})
def gaussian_sigma(given, found):
    return math.isinf(found) or gaussian_curve(_mu(given, found), low(given["epsilon"])) <= low(given["delta"])


def _accepted(a):
    if a.random() < 0.3:
        return {"noise": a.real(0.01, 1e4), "delta": a.delta(), "sensitivity": a.real(0.1, 10)}
    return {"risk": a.choice([a.real(1e-9, 0.5), a.real(1e-3, 0.5)]), "delta": a.delta()}


@promise(_accepted)
def epsilon_for(given, found):
    if "noise" in given:
        return math.isinf(found) or gaussian_curve(_mu(given, given["noise"]), low(found)) <= low(given["delta"])
    risk = low(given["risk"])
    return high(found).expm1() * (1 - 2 * risk) <= 4 * risk - 2 * high(given["delta"])


# ---- discrete noise --------------------------------------------------------------------------------------------------


def _sums(a):
    return {
        "sensitivity": a.choice([1, 2, 2**20, 2**36, a.real(0.1, 1e6)]),
        "releases": a.number(1000),
        "size": a.number(10**6),
    }


def _discrete(given, sigma, epsilon, enough=None):
    square = given["releases"] * (high(given["sensitivity"]) / shift(sigma)) ** 2
    return discrete_curve(square, given["releases"] * given["size"] / (24 * shift(sigma) ** 2), epsilon, enough=enough)


@promise(lambda a: _sums(a) | {"sigma": a.real(0.5, 1e9), "epsilon": a.real(1e-3, 50, 0.0)})
def discrete_gaussian_delta(given, found):
    return found >= _discrete(given, given["sigma"], low(given["epsilon"]), found)


@promise(lambda a: _sums(a) | {"epsilon": a.epsilon(), "delta": a.delta()}, slow=4)
def discrete_gaussian_sigma(given, found):
    most = low(given["delta"])
    return math.isinf(found) or _discrete(given, found, low(given["epsilon"]), most) <= most


def _bill(a):
    parts = [
        NoisySums(a.choice([1, 2**20, 2**40]), a.real(1e-3, 1), a.number(10**6), a.number(100))
        if a.random() < 0.7
        else Draws(a.choice([1, 2**20]), a.real(1e-3, 1), a.number(100))
        for _ in range(a.randint(1, 4))
    ]
    return {"parts": parts}


def _billed(parts, noise, epsilon, words, enough):
    sums = [(p, shift(s)) for p, s in zip(parts, noise, strict=True) if isinstance(p, NoisySums)]
    ranges = [p.times * (p.width * shift(s)) ** 2 for p, s in zip(parts, noise, strict=True) if isinstance(p, Draws)]
    square = balls.total(p.times * (p.sensitivity / s) ** 2 for p, s in sums)
    apart = balls.total(p.times * p.size / (24 * s**2) for p, s in sums)
    bent, rho = balls.total(ranges) * balls.pi() / 8, square / 2 + balls.total(ranges) / 8
    told = high(words)
    curve = discrete_curve(square + bent, apart, epsilon, rho, (enough - told) / (1 - told))
    return balls.at_most_one(told + (1 - told) * curve)


@promise(lambda a: _bill(a) | {"epsilon": a.epsilon(), "delta": a.delta(), "words": a.choice([0, 1e-20, 1e-301])}, 4)
def bill_noise(given, found):
    most = low(given["delta"])
    return _billed(given["parts"], found.noise, low(given["epsilon"]), given["words"], most) <= most


def _given_bill(a):
    bill = _bill(a) | {"epsilon": a.real(1e-3, 50, 0.0), "words": a.choice([0, 1e-20, 0.5])}
    noise = [a.real(1, 1e9) if isinstance(part, NoisySums) else a.real(1e-6, 1) for part in bill["parts"]]
    return bill | {"noise": noise}


@promise(_given_bill)
def bill_delta(given, found):
    return found >= _billed(given["parts"], given["noise"], low(given["epsilon"]), given["words"], ball(found))


# ---- costs, together and alone ---------------------------------------------------------------------------------------


def _cost(a):
    kind = a.choice(["pure", "range", "zcdp", "gaussian", "pair"])
    delta = {"pair": a.choice([0.0, a.delta()]), "gaussian": a.choice([0.0, 1e-12])}.get(kind, 0.0)
    return Cost(kind, a.real(1e-4, 5, 0.0), a.number(30), delta)


def _squared_mu(cost):
    size = high(cost.size)
    if cost.kind == "gaussian":
        return cost.times * size**2
    if cost.kind == "range":
        bent = size**2 * balls.pi() / 8
        return cost.times * (min(bent, pure_mu(size) ** 2) if cost.times == 1 and size < 10**4 else bent)
    if cost.kind == "pure" or (cost.kind == "pair" and not cost.delta):
        return cost.times * pure_mu(size) ** 2 if size < 10**4 else ball(math.inf)
    return ball(math.inf)


@promise(lambda a: {"cost": _cost(a)}, call=lambda cost: cost.gaussian)
def Cost_gaussian(given, found):
    return found >= _squared_mu(given["cost"]) if given["cost"].size else found >= 0


def _renyi(cost, b):
    size, b = high(cost.size), ball(b)
    pure = lambda: min(size, (1 + b) * size**2 / 2, cumulant(b, size) / b if b * size else 0)  # noqa: E731
    if cost.kind == "gaussian":
        return cost.times * (1 + b) * size**2 / 2
    if cost.kind == "zcdp":
        return cost.times * (1 + b) * size
    if cost.kind == "range":
        return cost.times * (min(pure(), (1 + b) * size**2 / 8) if cost.times == 1 else (1 + b) * size**2 / 8)
    return cost.times * pure() if cost.kind == "pure" or not cost.delta else ball(math.inf)


@promise(lambda a: {"cost": _cost(a), "b": a.real(1e-4, 1e4)}, call=lambda cost, b: cost.renyi(float(b)))
def Cost_renyi(given, found):
    return found >= _renyi(given["cost"], float(given["b"])) or not (given["cost"].size or given["cost"].delta)


@promise(lambda a: {"cost": _cost(a)}, call=lambda cost: cost.pure)
def Cost_pure(given, found):
    cost = given["cost"]
    return math.isinf(found) or found >= cost.times * high(cost.size)


def _costs(a):
    some = [_cost(a) for _ in range(a.randint(1, 4))]
    if a.random() < 0.5:
        some = [cost for cost in some if cost.kind in ("pure", "gaussian")] or [Cost("gaussian", a.real(1e-3, 5))]
    return some


def _together(costs, epsilon, enough):
    """The delta that one of the ways of `claims.composition` proves: one that is enough, or the least."""
    best = ball(1)
    for way in _ways(costs, epsilon):
        found = way()
        if found <= enough:
            return found
        best = min(best, found)
    return best


def _ways(costs, epsilon):
    """Functions that return a delta, the quicker ones first."""
    costs = [cost for cost in costs if cost.size or (cost.delta and cost.kind == "pair")]  # others tell nothing
    on_top = [cost for cost in costs if cost.kind == "pair" and cost.delta]
    rest = [cost for cost in costs if cost not in on_top]
    lost = balls.total(low(cost.delta) * cost.times for cost in on_top)
    left = epsilon - balls.total(low(cost.size) * cost.times for cost in on_top)
    variation = balls.total(cost.times * low(cost.delta) for cost in rest if cost.kind == "gaussian")

    def apart(
        at,
    ):  # Theorem 4 of `dpfast.accounting.claims.costs`, at the epsilon of the releases without the pairs on top
        return (1 + balls.exp(min(at, 10**4))) * variation

    def by_gaussian(group, at):
        square = balls.total(map(_squared_mu, group))
        if not square < ball(math.inf):
            return ball(1)
        return lost + apart(at) + gaussian_curve(balls.sqrt(square), at) if square else lost

    pure = [cost for cost in rest if cost.kind in ("pure", "range", "pair")]
    other = [cost for cost in rest if cost not in pure]
    beside = left - balls.total(low(cost.size) * cost.times for cost in pure)
    groups = [(group, at) for group, at in ((rest, left), (other, beside)) if at >= 0]
    yield from (partial(by_gaussian, *group) for group in groups)
    yield from (partial(_by_renyi, *group, lost, _nearly_best) for group in groups)
    yield partial(_exactly, rest, on_top, epsilon, apart(epsilon))
    yield from (partial(_by_renyi, *group, lost, _best) for group in groups)


def _by_sums(costs, epsilon):
    """The delta of pairs and pure costs by basic composition, exactly: balls do not tell equal numbers."""
    if any(cost.kind not in ("pure", "range", "pair") for cost in costs):
        return 1
    spent = sum(cost.times * Fraction(repr(cost.size)) for cost in costs)
    return sum(cost.times * Fraction(repr(cost.delta)) for cost in costs) if spent <= epsilon else 1


def _by_renyi(costs, epsilon, lost, search):
    return lost + (balls.exp(min(0, _renyi_at(costs, epsilon, search(costs, epsilon)))) if costs else 0)


def _renyi_at(costs, epsilon, log_b):
    """The logarithm of the delta of one order; any order is a proof."""
    b = balls.exp(log_b)
    value = b * (balls.total(_renyi(cost, b) for cost in costs) - epsilon)
    return value - b * balls.log1p(1 / b) - balls.log1p(b)


def _nearly_best(costs, epsilon):
    """The best order, nearly, in floats."""
    looked, target = [], float(epsilon)

    def converted(log_b):
        b = math.exp(log_b)
        value = b * (sum(cost.renyi(b) for cost in costs) - target) - b * math.log1p(1 / b) - math.log1p(b)
        looked.append((value, log_b))
        return value

    lowest(converted, -10.0, 25.0)
    return ball(min(looked)[1])


def _best(costs, epsilon):
    """The best order, by golden section."""
    a, c = ball(-700), ball(700)
    for _ in range(60):
        left, right = c - (c - a) * ball("0.618"), a + (c - a) * ball("0.618")
        a, c = (a, right) if _renyi_at(costs, epsilon, left) < _renyi_at(costs, epsilon, right) else (left, c)
    return a.mid()


def _exactly(rest, pairs, epsilon, apart):
    """(1) of `dpfast.accounting.claims.composition`, where there are few atoms."""
    if any(c.kind == "zcdp" or (c.kind == "range" and c.times > 1) for c in rest):
        return ball(1)
    flips = [(low(c.size), c.times) for c in (*rest, *pairs) if c.kind != "gaussian"]
    if math.prod(times + 1 for _, times in flips) > 20_000:
        return ball(1)
    mu = balls.sqrt(balls.total(cost.times * ball(cost.size) ** 2 for cost in rest if cost.kind == "gaussian"))
    kept = math.prod(((1 - low(cost.delta)) ** cost.times for cost in pairs), start=ball(1))
    atoms = [(ball(0), ball(1))]
    for size, times in flips:
        up = 1 / (1 + balls.exp(-size))
        masses = [(ball(2 * k - times) * size, math.comb(times, k) * up**k * (1 - up) ** (times - k))
                  for k in range(times + 1)]  # fmt: skip
        atoms = [(loss + more, mass * p) for loss, mass in atoms for more, p in masses]
    return 1 - kept + kept * balls.total(mass * gaussian_curve(mu, epsilon - loss) for loss, mass in atoms) + apart


def _composed_delta(costs, epsilon):
    return Composed(costs).delta(epsilon)


@promise(lambda a: {"costs": _costs(a), "epsilon": a.real(1e-3, 50, 0.0)}, slow=2, call=_composed_delta)
def Composed_delta(given, found):
    stated = readings(found)[-1]  # the decimal, as deltas of pairs are
    basic = _by_sums(given["costs"], decimal(given["epsilon"]))
    return decimal(found) >= basic or stated >= _together(given["costs"], low(given["epsilon"]), stated)


def _composed_epsilon(costs, delta):
    return Composed(costs).epsilon(delta)


@promise(lambda a: {"costs": _costs(a), "delta": a.choice([0.0, a.delta()])}, slow=3, call=_composed_epsilon)
def Composed_epsilon(given, found):
    return math.isinf(found) or _together(given["costs"], low(found), low(given["delta"])) <= low(given["delta"])


# ---- Laplace noise, experts, Winnow ----------------------------------------------------------------------------------


@promise(lambda a: {"epsilon": a.epsilon(), "delta": a.choice([0.0, a.delta()]), "sensitivity": a.real(0.1, 10),
                    "releases": a.number(1000)})  # fmt: skip
def laplace_scale(given, found):
    pure, most = high(given["sensitivity"]) / shift(found), readings(given["epsilon"])[-1]  # the decimal
    most *= 1 + ball(10) ** -50  # of these digits themselves
    if given["releases"] * pure <= most or given["delta"] == 0:
        return given["releases"] * pure <= most
    return composed_epsilon(0, low(given["delta"]), pure, given["releases"], most) <= most


def _experts(a):
    return {"horizon": a.number(10**6), "loss_range": a.choice([1, 2, 4, a.real(0.1, 10)])}


@promise(lambda a: _experts(a) | {"learning_rate": a.real(1e-6, 1, 0.0), "delta": a.delta()})
def experts_epsilon(given, found):
    rho = (shift(given["learning_rate"]) * high(given["loss_range"])) ** 2 * given["horizon"] / 8
    return math.isinf(found) or low(found) >= composed_epsilon(rho, low(given["delta"]), enough=low(found))


@promise(lambda a: _experts(a) | {"epsilon": a.epsilon(), "delta": a.delta(),
                                  "calibration": a.choice(["tight", "paper"])})  # fmt: skip
def experts_learning_rate(given, found):
    rho, most = (shift(found) * high(given["loss_range"])) ** 2 * given["horizon"] / 8, low(given["epsilon"])
    return composed_epsilon(rho, low(given["delta"]), enough=most) <= most


@promise(lambda a: {"learning_rate": a.real(1e-6, 1), "n_experts": a.number(10**6), "rounds": a.number(10**6),
                    "failure": a.choice([None, a.real(1e-6, 1)]), "signed": a.choice([False, True])})  # fmt: skip
def experts_regret(given, found):
    eta, rounds = shift(given["learning_rate"]), given["rounds"]
    bound = eta * rounds + balls.log(given["n_experts"]) / eta
    if given["failure"] is not None:
        tail = balls.sqrt(rounds * balls.log(1 / low(given["failure"])) / 2)
        bound += (2 if given["signed"] else 1) * tail
    return found >= bound


@promise(lambda a: {"learning_rate": a.real(1e-6, 1), "dimension": a.number(10**6), "rounds": a.number(10**6),
                    "failure": a.real(1e-6, 1)})  # fmt: skip
def linear_excess(given, found):
    eta, rounds = shift(given["learning_rate"]), given["rounds"]
    tail = balls.sqrt(10 * balls.log(1 / low(given["failure"])) / rounds)
    return found >= eta / 2 + balls.log(given["dimension"]) / (eta * rounds) + tail


def _winnow(a):
    return {"n_updates": a.number(1000), "n_draws": a.number(1000), "neighbors": a.relation(),
            "score_range": a.choice([None, 2, a.real(0.1, 10)]), "threshold_runs": a.number(10)}  # fmt: skip


def _run(given, eta, e):
    width = 4 if given["score_range"] is None else high(given["score_range"])
    rho = (shift(eta) * width) ** 2 * given["n_updates"] * given["n_draws"] / 8
    return rho, high(e), given["threshold_runs"]


@promise(lambda a: _winnow(a) | {"learning_rate": a.real(1e-6, 1, 0.0), "threshold_epsilon": a.real(1e-4, 2, 0.0)})
def winnow_rho(given, found):
    rho, e, runs = _run(given, given["learning_rate"], given["threshold_epsilon"])
    return found >= rho + runs * e**2 / 2


@promise(
    lambda a: (
        _winnow(a)
        | {"learning_rate": a.real(1e-6, 1, 0.0), "threshold_epsilon": a.real(1e-4, 2, 0.0), "delta": a.delta()}
    )
)
def winnow_epsilon(given, found):
    rho, e, runs = _run(given, given["learning_rate"], given["threshold_epsilon"])
    return math.isinf(found) or low(found) >= composed_epsilon(rho, low(given["delta"]), e, runs, low(found))


@promise(lambda a: _winnow(a) | {"epsilon": a.epsilon(), "delta": a.delta(),
                                 "threshold_share": a.choice([0.0, 0.5, math.nextafter(1, 0)])}, slow=3)  # fmt: skip
def winnow_learning_rate(given, found):
    rho, e, runs = _run(given, *found)
    most = low(given["epsilon"])
    return composed_epsilon(rho, low(given["delta"]), e, runs, most) <= most


@promise(lambda a: (lambda K: {"n_updates": K, "interval": a.randrange(K)})(a.number(10**6)))
def winnow_weight(given, found):
    K, k = given["n_updates"], given["interval"]
    return found**2 * (K - k) <= 256**2 * K < (found + 1) ** 2 * (K - k)


def _winnow_bound(a):
    return {"dimension": a.number(10**6), "margin": a.real(1e-3, 1), "confidence": a.choice([0.0, a.real(1e-3, 0.9)]),
            "learning_rate": a.real(1e-6, 0.1)}  # fmt: skip


@promise(_winnow_bound)
def winnow_update_bound(given, found, batch=1):
    eta = batch * shift(given["learning_rate"])
    gap = (1 - high(given["confidence"])) * low(given["margin"])
    return gap <= eta / 2 or found + 1 > balls.log(given["dimension"]) / (eta * (gap - eta / 2)) * (1 - ball(10) ** -14)


@promise(lambda a: _winnow_bound(a) | {"batch": a.number(1000)})
def batched_update_bound(given, found):
    return winnow_update_bound(given, found, given["batch"])


# ---- lists, samples, tests -------------------------------------------------------------------------------------------


def _cover(a):
    return {"coverage_weight": a.choice([0.0, 0.5, 1.0, a.real(1e-3, 1)]), "neighbors": a.relation(),
            "max_rounds": a.choice([None, a.number(1000)])}  # fmt: skip


def _cover_curve(t, epsilon, given):
    g, rounds = high(given["coverage_weight"]), given["max_rounds"]
    ends = [((1 + g) * t, (1 + g) * t)] if given["neighbors"] == "replace" else [(g * t, t), (t, g * t)]
    return balls.at_most_one(balls.largest(_f(epsilon - up, s, rounds) for up, s in ends))


def _f(x, s, rounds):
    if s == 0:
        return balls.largest([0, -balls.expm1(x)])
    if rounds is not None and x >= rounds * s:
        return ball(0)
    if x <= -s:
        return -balls.expm1(x)
    whole = -balls.expm1(-s)
    if rounds is None:
        return whole * balls.exp(-(x + s) / balls.expm1(s))
    share = balls.expm1((x + s) / (rounds + 1)) / balls.expm1(s)
    if share < 1:
        return whole * balls.exp((rounds + 1) * balls.log1p(-share))
    return whole * balls.largest([0, 1 - share]) ** (rounds + 1)


@promise(lambda a: _cover(a) | {"exponent": a.real(1e-4, 5, 0.0), "epsilon": a.real(1e-3, 50, 0.0)})
def cover_delta(given, found):
    return found >= _cover_curve(shift(given["exponent"]), low(given["epsilon"]), given)


@promise(lambda a: _cover(a) | {"exponent": a.real(1e-4, 5, 0.0), "delta": a.choice([0, a.delta()])})
def cover_epsilon(given, found):
    if math.isinf(found):
        return True
    return _cover_curve(shift(given["exponent"]), low(found), given) <= low(given["delta"])


@promise(lambda a: _cover(a) | {"epsilon": a.epsilon(), "delta": a.choice([0, a.delta()])})
def cover_exponent(given, found):
    return _cover_curve(shift(found), low(given["epsilon"]), given) <= low(given["delta"])


@promise(lambda a: {"epsilon": a.real(1e-2, 20), "delta": a.delta(), "n_conditions": a.number(200),
                    "alpha": a.real(1e-3, 0.5), "beta": a.real(1e-3, 0.5), "neighbors": a.relation(),
                    "noise": a.choice([0.0, a.real(1e-12, 0.1)])})  # fmt: skip
def decision_list_plan(given, found):
    M, t = given["n_conditions"], shift(found.exponent)
    paid = {"coverage_weight": 0, "neighbors": given["neighbors"], "max_rounds": M + 1}
    lists = balls.loggamma(M + 1) + (M + 1) * balls.log(2) + ball(1) / 2
    eta = high(given["noise"])

    def failed(s):
        flipped, wrong = eta * balls.expm1(s * t * M), 1 - eta - eta * balls.exp(s * t * (M + 1))
        mean = flipped + low(given["alpha"]) * balls.expm1(-s * t) * balls.largest([0, wrong])
        return lists + found.n * balls.log1p(mean)

    most = balls.log(low(given["beta"]))
    likely = any(failed(ball(2) ** (-ball(i) / 8)) <= most for i in range(400 if eta else 1))
    return likely and _cover_curve(t, low(given["epsilon"]), paid) <= low(given["delta"])


def _chance_to_miss(e, bottom, length):
    return length * balls.exp(-e * bottom) * (1 + balls.exp(e))


@promise(lambda a: {"epsilon": a.real(1e-4, 5), "bottom_score": a.choice([-1, 0, a.number(10**5)]),
                    "max_length": a.number(10**6)})  # fmt: skip
def sparse_sample_delta(given, found):
    return found >= min(1, _chance_to_miss(shift(given["epsilon"]), given["bottom_score"], given["max_length"]))


@promise(lambda a: {"epsilon": a.real(1e-4, 5), "delta": a.delta(), "max_length": a.number(10**6),
                    "calibration": a.choice(["tight", "paper"])})  # fmt: skip
def sparse_sample_bottom_score(given, found):
    return _chance_to_miss(shift(given["epsilon"]), found, given["max_length"]) <= low(given["delta"])


def _sampled(e, bottom, length, releases, pure, epsilon, delta):
    """Whether one of the two compositions of `dpfast.accounting.curves.sparse_sample` holds."""
    if epsilon >= 2 * releases * e + pure and delta >= releases * _chance_to_miss(e, bottom, length):
        return True
    spilled = (1 + balls.exp(epsilon)) * releases * length * balls.exp(e - e * bottom)
    return delta > spilled and composed_epsilon(releases * e**2 / 2, delta - spilled, pure, 1, epsilon) <= epsilon


@promise(lambda a: {"exponent": a.real(1e-4, 5), "bottom_score": a.choice([-1, 0, a.number(10**5)]),
                    "max_length": a.number(10**6), "n_releases": a.number(1000), "delta": a.delta()})  # fmt: skip
def sparse_sample_epsilon(given, found):
    if math.isinf(found):
        return True
    given_ = shift(given["exponent"]), given["bottom_score"], given["max_length"], given["n_releases"]
    return _sampled(*given_, ball(0), low(found), low(given["delta"]))


@promise(lambda a: {"epsilon": a.epsilon(), "delta": a.delta(), "n_releases": a.number(1000),
                    "max_length": a.number(10**6), "threshold_share": a.choice([0.0, 0.3, 0.5]),
                    "calibration": a.choice(["tight", "paper"])})  # fmt: skip
def sparse_sample_plan(given, found):
    numbers = shift(found.exponent), found.bottom_score, given["max_length"], given["n_releases"]
    return _sampled(*numbers, high(found.threshold_epsilon), low(given["epsilon"]), low(given["delta"]))


@promise(lambda a: {"epsilon": a.choice([1e-15, 10, a.real(1e-3, 10)]), "positives": a.randint(1, 12),
                    "delta": a.delta()})  # fmt: skip
def repeated_epsilon(given, found):
    e, K, delta = high(given["epsilon"]), given["positives"], low(given["delta"])
    i = balls.floor(low(found) / e)
    if i >= 2000:
        return True
    a, b = 1 / (1 + balls.exp(-e)), 1 / (1 + balls.exp(e))
    x = arb_poly([1])
    for _ in range(K):
        first = (balls.tanh(e / 2) + b * x[1] + b * b * x[2]) / (1 - a * b)
        x = balls.quotient(first + b * x.right_shift(2).left_shift(1), [1, -a], i + K + 2)  # (1 - a z) y(z)
    part = balls.expm1(low(found) - i * e) / balls.expm1(e)
    return x[i] + (x[i + 1] - x[i]) * part <= delta


@promise(
    lambda a: {"mu": a.real(1e-2, 3), "delta": a.delta(), "rows": a.number(1000), "steps": a.number(10**6)}, slow=10
)
def single_sample_epsilon(given, found):
    if math.isinf(found) or given["mu"] < 1e-6:
        return True
    mu, n = high(given["mu"]), given["rows"]

    def enough(bits, order):
        def integrand(epsilon):
            grown = epsilon.exp()
            u, x = (grown - 1) / n, epsilon / mu - mu / 2
            curve = balls.upper_normal(x) - grown * balls.upper_normal(x + mu)
            return ((1 + u) ** (order - 2) + (1 + u) ** (-order - 1)) * curve * grown

        b = order - 1
        tail = (balls.log(low(given["delta"])) + balls.log1p(b)) / b + balls.log1p(1 / ball(b))
        area = balls.integral(integrand, 0, mu, 3 * mu, mu * (20 + mu), bits=bits)
        divergence = given["steps"] * balls.log1p(order * b * area / n**2) / b
        return low(found) >= balls.largest([0, divergence - tail])

    # every order proves its claim, and the answer is that of one of them, from sums of 3,000 cells
    orders = _best_orders(float(mu), n, given["steps"], float(given["delta"]))
    return any(enough(bits, order) for bits in (10, 40) for order in orders)


def _best_orders(mu, n, steps, delta):
    """The two orders of the least claims, nearly."""
    epsilon = np.linspace(0, mu * (10 + mu), 500)
    x, u = epsilon / mu - mu / 2, np.expm1(epsilon)
    curve = special.ndtr(-x) - np.exp(epsilon) * special.ndtr(-x - mu)

    def claimed(a):
        weight = (1 + u / n) ** (a - 2) + (1 + u / n) ** (-a - 1)
        moment = a * (a - 1) / n**2 * np.trapezoid(weight * curve * (1 + u), epsilon)
        return steps * math.log1p(moment) / (a - 1) - (math.log(delta) + math.log(a)) / (a - 1) - math.log(a / (a - 1))

    return heapq.nsmallest(2, (a for a in ORDERS if (a - 1) * mu <= 10), key=claimed)


# ---- the best of several ---------------------------------------------------------------------------------------------


def _added(claims, runs):
    """c of `dpfast.accounting.curves.selection`, of claims as balls."""
    lines = [(ball(0), ball(1))]
    for epsilon, delta in claims:
        if epsilon < 10**5:
            slope = balls.exp(epsilon)
            lines += [(slope, delta), (1 / slope, 1 - (1 - delta) / slope)]
    kept: list[tuple] = []
    for slope, level in sorted(lines, key=lambda line: (-line[0], line[1])):
        if kept and not slope < kept[-1][0]:  # without one of two lines the bound is only larger
            if not level < kept[-1][1]:
                continue
            kept.pop()
        while len(kept) > 1 and _meet(kept[-2], (slope, level)) <= _meet(kept[-2], kept[-1]):
            kept.pop()
        kept.append((slope, level))
    corners = [ball(0), ball(1), *(_meet(*two) for two in pairwise(kept))]
    return 2 * balls.log(
        balls.largest(
            (1 + (runs - 1) * min(slope * u + level for slope, level in kept)) / (1 + (runs - 1) * u)
            for u in corners
            if not (u < 0 or u > 1)
        )
    )


def _meet(steep, flat):
    return (flat[1] - steep[1]) / (steep[0] - flat[0])


def _claims(a):
    return [(a.real(1e-3, 20, 0.0), a.choice([0.0, a.delta()])) for _ in range(a.randint(1, 4))]


@promise(lambda a: {"claims": _claims(a), "runs": a.number(1000)})
def selection_cost(given, found):
    return found >= _added([(low(e), low(d)) for e, d in given["claims"]], given["runs"])


@promise(lambda a: {"claims": _claims(a), "delta": a.delta(), "runs": a.number(1000)})
def selection_epsilon(given, found):
    claims, delta = [(low(e), low(d)) for e, d in given["claims"]], low(given["delta"])
    fitting = [e for e, d in claims if given["runs"] * d <= delta]
    return math.isinf(found) or low(found) >= min(fitting, default=ball(math.inf)) + _added(claims, given["runs"])


@promise(lambda a: {"epsilon": a.epsilon(), "delta": a.delta(), "runs": a.number(1000),
                    "gaussian": a.choice([False, True])}, slow=20)  # fmt: skip
def selection_base(given, found):
    base, each = map(high, found)
    most, delta, runs = low(given["epsilon"]), low(given["delta"]), given["runs"]
    if not runs * each <= delta:
        return False
    if base == 0 or base + _added([(base, each)], runs) <= most:
        return True
    if not given["gaussian"]:
        return False
    guess = gaussian_mu(*found)
    low_mu, high_mu = guess * (1 - ball(10) ** -6), guess * (1 + ball(10) ** -6)
    while high_mu - low_mu > guess * ball(10) ** -20:
        middle = (low_mu + high_mu) / 2
        low_mu, high_mu = (middle, high_mu) if gaussian_curve(middle, base) < each else (low_mu, middle)
    if not gaussian_curve(low_mu, base) <= each <= gaussian_curve(high_mu, base):
        return False
    claims = [(base, each)] + [(e, zcdp_curve(high_mu**2 / 2, e, 1)) for e in (most * (k + ball(1) / 2) / 64
                                                                              for k in range(64))]  # fmt: skip
    return base + _added(claims, runs) <= most * (1 + ball(10) ** -15)


# ---- claims and budgets ----------------------------------------------------------------------------------------------


def _a_claim(a):
    epsilon, delta = a.real(1e-4, 5, 0.0), a.choice([0.0, a.delta()])
    known = [Cost("gaussian", float(a.real(1e-3, 1)))] if delta and a.random() < 0.5 else []
    return PrivacySpend(epsilon, delta, "replace", cost=known)


@promise(lambda a: {"claims": [_a_claim(a)] * a.randint(1, 30) + [_a_claim(a)]}, slow=5)
def compose(given, found):
    claims = given["claims"]
    sums = (
        balls.total(readings(getattr(claim, name))[-1] for claim in claims) * (1 - ball(10) ** -50)
        <= readings(getattr(found, name))[-1]
        for name in ("epsilon", "delta")
    )
    if all(sums):
        return True
    costs = Counter(cost for claim in claims for cost in claim.cost)
    together = [Cost(cost.kind, cost.size, times, cost.delta) for cost, times in costs.items()]
    return _together(together, low(found.epsilon), low(found.delta)) <= low(found.delta)


@promise(
    lambda a: {"epsilon": a.epsilon(), "delta": a.delta()},
    call=lambda **given: PrivacySpend(**given, neighbors="replace"),
)
def PrivacySpend_printed(given, found):
    exactly = [(given[name], getattr(found, name), getattr(found.cost[0], size)) for name, size in
               (("epsilon", "size"), ("delta", "delta"))]  # fmt: skip
    return all(decimal(asked) <= decimal(told) for asked, *both in exactly for told in both)


def _fill(budget, charges):
    """What of a list of charges a budget takes."""
    taken = []
    for epsilon, delta, cost, count in charges:
        try:
            budget.charge(epsilon, delta, cost=cost, count=count)
        except BudgetExceeded:
            continue
        taken += [Cost(each.kind, each.size, each.times * count, each.delta) for each in cost]
    return taken


def _charges(a):
    for _ in range(a.randint(1, 20)):
        size = float(a.real(1e-4, 1))
        cost = a.choice([Cost("gaussian", size, delta=1e-20), Cost("pure", size), Cost("range", size, a.number(20))])
        yield 0.1, 1e-7, [cost], a.number(50)


@promise(
    lambda a: {"budget": Budget(a.real(0.01, 10), a.delta(), composition=a.choice(["gaussian", "renyi"])),
               "charges": list(_charges(a))},
    slow=20,
    call=_fill,
)  # fmt: skip
def Budget_charges(given, found):
    epsilon, delta = map(readings, (given["budget"].epsilon, given["budget"].delta))
    return not found or _together(found, epsilon[-1], delta[-1]) <= delta[-1]


# ---- plans -----------------------------------------------------------------------------------------------------------


@promise(lambda a: {"epsilon": a.real(1e-3, 5), "delta": a.delta(), "n_experts": a.number(10**6),
                    "horizon": a.number(10**6), "failure": a.real(1e-6, 1)})  # fmt: skip
def experts_paper(given, found):
    k, T, b = given["n_experts"], given["horizon"], low(given["failure"])
    eta, most = shift(found.learning_rate), low(given["epsilon"])
    printed = balls.sqrt(128 * balls.log(1 / low(given["delta"])) * T) * balls.log(k) / most
    within = composed_epsilon((2 * eta) ** 2 * T / 8, low(given["delta"]), enough=most) <= most
    regret = eta * T + balls.log(k) / eta
    return (
        within and found.expected_regret >= regret and found.likely_regret >= printed + balls.sqrt(T * balls.log(k / b))
    )


@promise(lambda a: {"epsilon": a.real(1e-3, 5), "delta": a.choice([0, a.delta()]), "horizon": a.number(1000),
                    "dimension": 1 + a.number(1000), "neighbors": a.relation()}, slow=3)  # fmt: skip
def point_lower_bound(given, found):
    epsilon, delta = high(given["epsilon"]), high(given["delta"])
    if given["neighbors"] == "add-remove":
        epsilon, delta = 2 * epsilon, delta * (1 + balls.exp(epsilon))
    N, k = min(given["horizon"], given["dimension"] - 1), found.insertions
    powers = [balls.exp(i * epsilon) for i in range(k)]
    lost = delta * balls.total(power - 1 for power in powers) / balls.expm1(epsilon)
    return found.mistakes <= max(0, (k - lost) / (1 + balls.total(powers) / (N - k + 1)))


@promise(lambda a: {"epsilon": a.real(1e-3, 5), "n_hypotheses": a.number(10**6), "alpha": a.real(1e-3, 0.5),
                    "beta": a.real(1e-3, 0.5), "neighbors": a.relation(),
                    "realizable": a.choice([False, True])})  # fmt: skip
def finite_class_plan(given, found):
    k, alpha, beta, t = given["n_hypotheses"], low(given["alpha"]), low(given["beta"]), shift(found.exponent)
    if not t * (2 if given["neighbors"] == "replace" else 1) <= low(given["epsilon"]):
        return False
    if given["realizable"]:
        return found.n >= balls.log(k / beta) / -balls.log1p(alpha * balls.expm1(-t))
    every, one = balls.log(3 * k / beta), balls.log(3 / beta)
    return balls.sqrt(every / (2 * found.n)) + balls.sqrt(one / (2 * found.n)) + every / (t * found.n) <= alpha


def _halfspace(a):
    return {"epsilon": a.real(1e-2, 5), "delta": a.delta(), "margin": a.real(0.05, 1), "alpha": a.real(0.01, 0.5),
            "beta": a.real(0.01, 0.5)}  # fmt: skip


@promise(_halfspace, slow=5)
def boost_plan(given, found):
    mu = 2 * balls.sqrt(found.n_rounds) / (shift(found.density) * found.n) / shift(found.sigma)
    return gaussian_curve(mu, low(given["epsilon"])) <= low(given["delta"])


@promise(_halfspace, slow=20)
def projected_plan(given, found):
    mu = 2 / (ball(HINGE_SHARE) * low(given["margin"])) * balls.sqrt(found.n_rounds) / found.n / shift(found.sigma)
    return gaussian_curve(mu, low(given["epsilon"])) <= low(given["delta"])


def _stream(a):
    return {
        "epsilon": a.real(1e-2, 5),
        "delta": a.delta(),
        "horizon": a.number(10**6),
        "dimension": 1 + a.number(10**5),
        "margin": a.real(0.05, 1),
        "confidence": a.real(0.05, 0.9),
        "failure": a.real(0.01, 0.5),
    }


def _planned(given, found):
    rho = (4 * shift(found.learning_rate)) ** 2 * found.n_updates * found.n_draws / 8
    most, e = low(given["epsilon"]), high(found.threshold_epsilon)
    return composed_epsilon(rho, low(given["delta"]), e, 1, most) <= most


@promise(_stream, slow=20)
def winnow_paper(given, found):
    return _planned(given, found)


@promise(_stream, slow=20)
def batched_plan(given, found):
    return _planned(given, found)


@promise(lambda a: {"epsilon": a.real(0.1, 5), "delta": a.delta(), "sensitivity": a.choice([1, 2**20]),
                    "rows": a.number(1000), "steps": a.number(10**5), "size": a.number(100)}, slow=50)  # fmt: skip
def single_sample_sigma(given, found):
    if math.isinf(found):
        return True
    apart = given["steps"] * given["size"] / (24 * shift(found) ** 2)
    left = float(low(given["delta"]) - (1 + balls.exp(low(given["epsilon"]))) * apart)
    asked = {"mu": Fraction(given["sensitivity"]) / Fraction(found), "delta": left, "rows": given["rows"]}
    return single_sample_epsilon(asked | {"steps": given["steps"]}, given["epsilon"])


# ---- ranges, margins, plans of which a part is a claim of privacy ----------------------------------------------------


def _moved(ends, relation):
    """How far a round or a row can pull two entries apart: `ends` are what an entry may be."""
    before = ends if relation == "replace" else [0]
    return max((a - b) - (c - d) for a in ends for c in ends for b in before for d in before)


@promise(lambda a: {"neighbors": a.relation(), "signed": a.choice([False, True])})
def experts_range(given, found):
    return found == _moved([-1, 1] if given["signed"] else [0, 1], given["neighbors"])


def _feature_range(a):
    low, wide = a.real(1e-3, 1e3, 0.0) * a.choice([-1, 1]), a.real(1e-3, 1e3)
    return {"feature_range": (low, low + wide), "negations": a.choice([False, True, "complement"]),
            "neighbors": a.relation(), "batch": a.choice(["all", 1, a.number(1000)])}  # fmt: skip


@promise(_feature_range)
def winnow_range(given, found):
    ends = [Fraction(end) for end in given["feature_range"]]
    ends += [-end for end in ends] if given["negations"] is True else []
    given_way = given["neighbors"] == "replace" or given["batch"] != "all"  # to a row that did not count before
    return found == (2 if given_way else 1) * (max(ends) - min(ends))


@promise(lambda a: {"labels": [a.choice([-1, 1]) for _ in range(a.randint(1, 10))],
                    "feature_range": a.choice([(-1, 1), (0, 1)])}, slow=20)  # fmt: skip
def decision_list_margin(given, found):
    low, labels, margins = given["feature_range"][0], given["labels"], []
    for holds in product([low, 1], repeat=len(labels) - 1):
        label = next((b for b, x in zip(labels, holds, strict=False) if x == 1), labels[-1])
        margins.append(label * (sum(w * x for w, x in zip(found.weights, holds, strict=True)) + found.intercept))
    norm = sum(map(abs, found.weights)) + abs(found.intercept)
    return found.norm == norm and found.margin == Fraction(min(margins), norm) > 0


def _with_dimension(a):
    return {"dimension": a.choice([None, 2, 1 + a.number(1000)]), "neighbors": a.relation()}


@promise(lambda a: {name: value for name, value in _halfspace(a).items() if name != "delta"} | _with_dimension(a))
def net_plan(given, found):
    gamma, alpha, beta, t = low(given["margin"]), low(given["alpha"]), low(given["beta"]), shift(found.exponent)
    if not t * (2 if given["neighbors"] == "replace" else 1) <= low(given["epsilon"]):
        return False
    R, m, side = -balls.log1p(alpha * balls.expm1(-t)), found.n_components, found.side
    e = ball("0.8") * gamma / (1 - gamma**2 / 5)
    failing = 2 * balls.exp(-(ball(m) / 2) * (e**2 / 2 - e**3 / 3))
    kept = (given["dimension"] is not None and m >= given["dimension"]) or failing <= beta * R / (8 * t)
    members = balls.log(2 * m) + (m - 1) * balls.log(side)
    enough = found.n >= (members + balls.log(2 / beta)) / (ball("0.75") * R)
    return kept and enough and side % 2 == 1 and side >= 10 * balls.sqrt(m - 1) / gamma


@promise(lambda a: {"share": min(a.real(1e-9, 1), 1), "n": a.number(10**9), "dimension": a.number(100),
                    "failure": a.real(1e-6, 0.9)})  # fmt: skip
def new_row_error(given, found):
    e, n, m = high(given["share"]), given["n"], given["dimension"]
    deviation = (m * balls.log(2 * balls.exp(1) * n / m) + balls.log(4 / low(given["failure"]))) / n
    return found >= (1 if 2 * n < m else min(1, e + 2 * balls.sqrt(e * deviation) + 4 * deviation))


@promise(lambda a: {"n_experts": a.number(1000), "rounds": min(a.number(300), 300)}, slow=5)
def experts_lower_bound(given, found):
    k, T = given["n_experts"], given["rounds"]
    more = accumulate(math.comb(T, i) for i in range(T, 0, -1))
    return found <= ball(T) / 2 - balls.total((ball(above) / 2**T) ** k for above in more)


def _likely(epsilon, Q, alpha, beta, points):
    """The places of the weights p in `halfspace_lower_bound`, those first that show more rows in floats."""
    p = np.minimum(1, 2 * alpha * 1.02 ** np.arange(200))
    k, share = points - (p < 1), alpha / p + beta
    with np.errstate(all="ignore"):
        seen = np.log((share + Q) / (1 + 2 * Q)) + epsilon / 2 + np.log1p(np.exp(-epsilon))
        rows = np.maximum(seen / np.log1p(np.expm1(-epsilon / 2) * p / k), np.log(2 * share) / np.log1p(-p / k))
    return np.argsort(-np.nan_to_num(rows)).tolist()


@promise(lambda a: _halfspace(a) | _with_dimension(a) | {"delta": a.choice([0, a.delta()])})
def halfspace_lower_bound(given, found):
    """A bound from below is safe if it is small."""
    if not found:
        return True
    epsilon, delta = high(given["epsilon"]), high(given["delta"])
    if given["neighbors"] == "add-remove":
        epsilon, delta = 2 * epsilon, delta * (1 + balls.exp(epsilon))
    Q, n = delta / balls.expm1(epsilon), found - 1
    points = math.floor(1 / Fraction(repr(float(given["margin"]))) ** 2)
    points = points if given["dimension"] is None else min(points, given["dimension"])

    def too_few(i):
        p = min(ball(1), 2 * ball(float(given["alpha"])) * ball("1.02") ** i)
        k, share = points - (p < 1), high(given["alpha"]) / p + high(given["beta"])
        if k < 1:
            return False
        seen = (1 + 2 * Q) * (1 + balls.expm1(-epsilon / 2) * p / k) ** n / (2 * balls.cosh(epsilon / 2)) - Q
        unseen = (1 - p / k) ** n / 2
        least = share * (1 - ball(10) ** -11)
        return seen > least or unseen > least  # n rows are too few, but for rounding of a real number

    order = _likely(*map(float, (epsilon, Q, given["alpha"], given["beta"], min(points, 10**300))))
    return any(map(too_few, order))


def _lists(a):
    most = a.number(10**6)
    """What learners have checked before is ordinary."""
    return {"epsilon": a.real(1e-2, 5), "delta": a.delta(), "list_bound": lambda p: min(p, most),
            "scale": a.choice([1.0, 0.1, a.uniform(1e-3, 1)])}  # fmt: skip


@promise(lambda a: _lists(a) | {"dimension": a.randint(1, 4), "accuracy": a.uniform(0.01, 0.5),
                                "confidence": a.uniform(0.01, 0.5), "threshold_share": a.uniform(0.05, 0.9)},
         slow=2)  # fmt: skip
def staged_plan(given, found):
    numbers = shift(found.exponent), found.bottom_score, found.list_bound, 1, high(found.threshold_epsilon)
    return _sampled(*numbers, low(given["epsilon"]), low(given["delta"]))


@promise(lambda a: _lists(a) | {"dimension": a.randint(2, 4), "horizon": a.randint(2, 10**5),
                                "threshold_share": a.uniform(0.05, 0.9)}, slow=15)  # fmt: skip
def staged_online_plan(given, found):
    share, quarter = ball(float(given["threshold_share"]) * float(given["epsilon"]) / 2), low(given["delta"]) / 4
    tests = (found.above_epsilon, 1), (found.below_epsilon, given["dimension"] + 1)
    for epsilon, positives in tests:
        if not repeated_epsilon({"epsilon": epsilon, "positives": positives, "delta": float(quarter)}, float(share)):
            return False
    releases = found.n_releases * found.n_draws
    numbers = shift(found.exponent), found.bottom_score, found.list_bound, releases, ball(0)
    return _sampled(*numbers, low(given["epsilon"]) - 2 * share, 2 * quarter)
