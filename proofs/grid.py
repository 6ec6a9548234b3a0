"""Write Calibrations.v and GaussianNumbers.v: what the accountant returns on a grid, each to be proved by `interval`.

    python proofs/grid.py             writes the files from the installed dpfast.accounting
    python proofs/grid.py --check     says whether they are as written

A float stands in the file as the rational that it is, so that what is proved is about the number that was returned.
"""

import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpfast.accounting import (
    Draws,
    NoisySums,
    bill_noise,
    cover_delta,
    cover_epsilon,
    cover_exponent,
    discrete_gaussian_sigma,
    experts_learning_rate,
    gaussian_sigma,
    laplace_scale,
    selection_base,
    sparse_sample_bottom_score,
    sparse_sample_plan,
    zcdp_epsilon,
    zcdp_rho,
)
from dpfast.accounting.curves.dominating import CoverCurve
from dpfast.accounting.curves.opening import opening_threshold, survey_noise
from dpfast.accounting.numbers import root_above

HERE = Path(__file__).resolve().parent

HEAD = """(** Written by grid.py from dpfast.accounting; not to be edited. Numbers are the floats
    that were returned, as the rationals that they are. *)
From Coq Require Import Reals Lra ZArith.
From Interval Require Import Tactic.
From Dpfast Require Import Numbers.
Open Scope R_scope.
"""

GAUSSIAN_HEAD = """(** Written by grid.py from dpfast.accounting; not to be edited. Standard deviations are the floats
    that were returned, as the rationals that they are. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Dpfast Require Import Plans Normal.
Open Scope R_scope.

Ltac square := unfold noise_square, draws_mu_square; interval with (i_prec 200).
"""

# Exponents as docs/privacy_theorems.md prints them, at (1, 1e-6): to five digits.
PRINTED = {
    ("replace", "0"): {7: "0.15874", 10: "0.13541", 25: "0.10408", 100: "0.08944", None: "0.08476"},
    ("replace", "1/2"): {7: "0.10583", 10: "0.09027", 25: "0.06939", 100: "0.05962", None: "0.05650"},
    ("add-remove", "1/2"): {7: "0.17171", 10: "0.14458", 25: "0.10924", 100: "0.09315", None: "0.08806"},
}


def real(value):
    """A rational as Coq reads it."""
    value = Fraction(value)
    if value.denominator == 1:
        return f"{value.numerator}" if value >= 0 else f"({value.numerator})"
    return f"({value.numerator} / {value.denominator})"


def curve_proof(s, x, rounds, above=False):
    """The tactic that decides curve rounds s x against a delta."""
    end = "_above" if above else ""
    if s == 0 and x >= 0:
        return "zero_range"
    if rounds is not None and x >= rounds * s and not above:
        return "zero"
    if x <= -s:
        return "low"
    return f"any{end}" if rounds is None else f"middle{end} {rounds + 1}%Z"


def cover(name, t, g, neighbors, rounds, epsilon, delta, above=False):
    """The statement about one exponent, and its proof."""
    t, g, epsilon = Fraction(t), Fraction(g), Fraction(epsilon)
    of = "None" if rounds is None else f"(Some {rounds}%nat)"
    function = "cover_delta_" + neighbors.replace("-", "_")
    value = f"{function} {real(t)} {real(g)} {of} {real(epsilon)}"
    claim = f"{real(delta)} < {value}" if above else f"{value} <= {real(delta)}"
    if neighbors == "replace":
        s = (1 + g) * t
        proof = f"unfold {function}; {curve_proof(s, epsilon - s, rounds, above)}."
    else:
        first, second = (t, epsilon - g * t), (g * t, epsilon - t)
        if above:
            proof = f"apply add_remove_above_first; {curve_proof(*first, rounds, True)}."
        else:
            proof = f"apply add_remove_le; [{curve_proof(*first, rounds)}|{curve_proof(*second, rounds)}]."
    return f"Lemma {name} : {claim}.\nProof. {proof} Qed.\n"


def covers():
    """Exponents and epsilons of greedy cover."""
    at = 0
    grid = itertools.product(
        (1e-3, 0.1, 1.0, 3.0, 10.0), (1e-300, 1e-12, 1e-6, 1e-2, 0.0), (0.0, 0.5, 1.0), (1, 10, 100, None)
    )
    for k, (epsilon, delta, g, rounds) in enumerate(grid):
        neighbors = ("replace", "add-remove")[k % 2 if rounds != 10 else (k // 4) % 2]
        if (delta == 0 and rounds is None) or (k % 3 == 1 and rounds not in (10, None)):
            continue
        t = cover_exponent(epsilon, delta, coverage_weight=g, neighbors=neighbors, max_rounds=rounds)
        at += 1
        yield cover(f"cover_exponent_{at}", t, g, neighbors, rounds, epsilon, delta)
    for k, (t, delta, g, rounds) in enumerate(
        itertools.product((0.01, 0.1, 1.0), (1e-9, 1e-3), (0.0, 0.3), (5, 25, None))
    ):
        neighbors = ("replace", "add-remove")[k % 2]
        epsilon = cover_epsilon(t, delta, coverage_weight=g, neighbors=neighbors, max_rounds=rounds)
        yield cover(f"cover_epsilon_{k + 1}", t, g, neighbors, rounds, epsilon, delta)
        if rounds != 5:
            epsilon = min(epsilon, 2.0)
            delta = cover_delta(t, epsilon, coverage_weight=g, neighbors=neighbors, max_rounds=rounds)
            yield cover(f"cover_delta_{k + 1}", t, g, neighbors, rounds, epsilon, delta)


def curves():
    """Points of the curve that becomes a pair of laws: above the theorem's, and near."""
    near = 1 - Fraction(1, 10**6)
    grid = itertools.product(("replace", "add-remove"), (Fraction(1, 16), Fraction(1, 2)), (4, 25), (1, 3))
    for k, (neighbors, t, rounds, part) in enumerate(grid, 1):
        g, epsilon = Fraction(1, 2), t * (1 + Fraction(rounds * part, 8))
        up, down = ((1 + g) * t,) * 2 if neighbors == "replace" else (t, g * t) if part == 1 else (g * t, t)
        (delta,) = CoverCurve(float(up), float(down), rounds).delta(np.array([float(epsilon)]))
        yield cover(f"cover_curve_{2 * k - 1}", t, g, neighbors, rounds, epsilon, delta)
        yield cover(f"cover_curve_{2 * k}", t, g, neighbors, rounds, epsilon, Fraction(delta) * near, above=True)


def tables():
    """The printed exponents: right in every digit."""
    half = Fraction(1, 200_000)
    for (neighbors, g), row in PRINTED.items():
        for rounds, text in row.items():
            name = f"printed_{neighbors.replace('-', '_')}_{g.replace('/', '_')}_{rounds or 'any'}"
            below, over = Fraction(text) - half, Fraction(text) + half
            delta = Fraction(1, 1_000_000)
            yield cover(f"{name}_fits", below, g, neighbors, rounds, 1, delta)
            yield cover(f"{name}_is_the_largest", over, g, neighbors, rounds, 1, delta, above=True)


def order(rho, epsilon):
    """A rational near the best b of the conversion, E = (1 + 2 b) rho - ln(1 + 1 / b)."""
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        b = math.exp(middle)
        low, high = (middle, high) if (1 + 2 * b) * rho - math.log1p(1 / b) < epsilon else (low, middle)
    return Fraction(math.exp(low))


def concentrated():
    """Conversions of zCDP, and learning rates that rest on them."""

    def fits(name, rho, epsilon, delta):
        found = real(order(float(rho), float(epsilon)))
        return f"Lemma {name} : zcdp_fits {real(rho)} {real(epsilon)} {real(delta)}.\nProof. order {found}. Qed.\n"

    deltas = (1e-300, 1e-12, 1e-6, 1e-3)
    for k, (rho, delta) in enumerate(itertools.product((1e-8, 1e-4, 0.02, 1.0, 50.0), deltas)):
        epsilon = zcdp_epsilon(rho, delta)
        if epsilon > 0:
            yield fits(f"zcdp_epsilon_{k + 1}", rho, epsilon, delta)
    for k, (epsilon, delta) in enumerate(itertools.product((0.01, 0.3, 1.0, 4.0, 30.0), deltas)):
        yield fits(f"zcdp_rho_{k + 1}", zcdp_rho(epsilon, delta), epsilon, delta)
    for k, (epsilon, delta, horizon) in enumerate(itertools.product((0.1, 1.0, 5.0), (1e-9, 1e-6), (1, 100, 10**6))):
        eta = Fraction(experts_learning_rate(epsilon, delta, horizon=horizon))
        yield fits(f"experts_learning_rate_{k + 1}", (2 * eta) ** 2 * horizon / 8, epsilon, delta)
    for k, (epsilon, draws) in enumerate(itertools.product((0.5, 2.0), (200, 3000)), 1):
        plan = sparse_sample_plan(epsilon, 1e-6, n_releases=draws, max_length=100)
        assert plan.composition != "pure"
        yield fits(f"sparse_sample_plan_{k}", draws * Fraction(plan.exponent) ** 2 / 2, epsilon, 1e-6 / 2)
    for k, share in enumerate((Fraction(6, 100), Fraction(1, 4)), 1):
        told = Fraction(2, 10**7)
        noise = survey_noise(1, 1e-6, share, moves=30, unit=1 << 30, words=told, kind="zcdp")
        left = sum(Fraction(cost.size) for cost in noise.total if cost.kind == "zcdp")
        rho = 30 * Fraction(1 << 30) ** 2 / (2 * Fraction(noise.sigma) ** 2) + left
        yield fits(f"survey_rho_{k}", rho, 1, Fraction(1, 10**6) - told)


def others():
    """SparseSample's score of nothing, Laplace scales, and choosing among runs of one claim."""
    grid = itertools.product((1e-3, 0.02, 0.25, 1.0, 5.0), (1e-300, 1e-9, 1e-6, 1e-2), (1, 257, 10**6))
    for k, (e, delta, length) in enumerate(grid):
        bottom = sparse_sample_bottom_score(e, delta, length)
        claim = f"sparse_sample_fits {real(e)} {bottom} {length} {real(delta)}"
        yield f"Lemma sparse_sample_{k + 1} : {claim}.\nProof. unfold sparse_sample_fits. number. Qed.\n"
    grid = itertools.product((1e-6, 0.1, 0.3, 7.0), (1, 3), (1, 1000))
    for k, (epsilon, width, releases) in enumerate(grid):
        scale = laplace_scale(epsilon, sensitivity=width, releases=releases)
        claim = f"{releases} * ({width} / {real(scale)}) <= {real(str(epsilon))}"  # the decimal that is charged
        yield f"Lemma laplace_scale_{k + 1} : {claim}.\nProof. lra. Qed.\n"
    for k, (epsilon, runs) in enumerate(itertools.product((0.1, 1.0, 5.0), (1, 3, 30, 1000))):
        base, _ = selection_base(epsilon, 1e-6, runs=runs)
        claim = f"selection_fits {real(base)} {runs} {real(epsilon)}"
        yield f"Lemma selection_base_{k + 1} : {claim}.\nProof. unfold selection_fits. number. Qed.\n"


def mass(x, bits=256):
    """The integral of exp(-t**2 / 2) from 0 to x, by its series in integers: units of 2**-bits, nearly."""
    term, square = math.floor(x * 2**bits), math.floor(x * x * 2**bits)
    total, k = term, 0
    while term:
        k += 1
        term = term * square // (2 * k) >> bits
        total += (-1) ** k * term // (2 * k + 1)
    return total


def between(x):
    """Rationals below and above the integral to x."""
    found = mass(Fraction(x)) >> 180
    return real(Fraction(found - 1, 2**76)), real(Fraction(found + 2, 2**76))


def gaussians():
    """Sigmas of Gaussian noise, by the exact curve."""
    for k, (epsilon, delta) in enumerate(itertools.product((0.1, 1.0, 5.0), (1e-6, 1e-3))):
        sigma = Fraction(gaussian_sigma(epsilon, delta))
        low, high = (between(Fraction(epsilon) * sigma + side / (2 * sigma)) for side in (-1, 1))
        claim = f"gaussian_delta {real(sigma)} {real(epsilon)} <= {real(delta)}"
        yield f"Lemma gaussian_sigma_{k + 1} : {claim}.\nProof. gaussian {low[0]} {high[1]}. Qed.\n"


def mu_fits(name, mu, epsilon, away, told, delta):
    """The statement that mu fits a claim, and its proof."""
    mu, epsilon, away, told, delta = map(Fraction, (mu, epsilon, away, told, delta))
    low, high = (between(epsilon / mu + side * mu / 2) for side in (-1, 1))
    most = (delta - told) / (1 - told) - away * (1 + Fraction(math.nextafter(math.exp(epsilon), math.inf)))
    claim = f"mu_fits {real(mu)} {real(epsilon)} {real(away)} {real(told)} {real(delta)}"
    return f"Lemma {name} : {claim}.\nProof. fits {real(most)} {low[0]} {high[1]}. Qed.\n"


def gaussian_plans():
    """Noise of sums on a grid, of bills, and of surveys beside a learner: mu of all together, rounded up, fits."""
    grid = itertools.product((0.3, 1.0), (1e-6,), ((1000, 1, 1), (10**9, 4, 50)))
    for k, (epsilon, delta, (moved, times, size)) in enumerate(grid, 1):
        given = {"sensitivity": moved, "releases": times, "size": size}
        sigma = Fraction(discrete_gaussian_sigma(epsilon, delta, **given))
        mu, away = math.isqrt(times) * moved / sigma, times * size / (24 * sigma**2)
        yield mu_fits(f"discrete_gaussian_sigma_{k}", mu, epsilon, away, 0, delta)
    sums, drawn = NoisySums(10**6, Fraction(3, 4), 20, 5), Draws(3, Fraction(1, 4), 2)
    for k, (epsilon, told) in enumerate(itertools.product((0.5, 2.0), (Fraction(0), Fraction(1, 10**7))), 1):
        noise = bill_noise((sums, drawn), epsilon, 1e-6, words=told).noise
        square = sums.times * (sums.sensitivity / Fraction(noise[0])) ** 2
        square += drawn.times * (drawn.width * Fraction(noise[1])) ** 2 * Fraction(math.pi) / 8
        mu = Fraction(root_above(square * (1 + Fraction(1, 2**52))))
        away = sums.times * sums.size / (24 * Fraction(noise[0]) ** 2)
        terms = f"{sums.times} * noise_square ({sums.sensitivity} * {sums.sensitivity}) {real(noise[0])}"
        terms += f" + draws_mu_square ({drawn.width} * {real(noise[1])}) {drawn.times}"
        yield f"Lemma bill_mu_{k} : {terms} <= {real(mu)} * {real(mu)}.\nProof. square. Qed.\n"
        yield mu_fits(f"bill_noise_{k}", mu, epsilon, away, told, 1e-6)
    for k, share in enumerate((Fraction(6, 100), Fraction(1, 4)), 1):
        unit, moves, told = 1 << 30, 30, Fraction(2, 10**7)
        noise = survey_noise(1, 1e-6, share, moves=moves, unit=unit, words=told)
        sigma, alone = Fraction(noise.sigma), Fraction(gaussian_sigma(noise.epsilon, noise.delta))
        mu = Fraction(root_above(moves * (unit / sigma) ** 2 + 1 / alone**2))
        terms = f"{moves} * noise_square ({unit} * {unit}) {real(sigma)} + noise_square 1 {real(alone)}"
        yield f"Lemma survey_mu_{k} : {terms} <= {real(mu)} * {real(mu)}.\nProof. square. Qed.\n"
        yield mu_fits(f"survey_noise_{k}", mu, 1, moves / (24 * sigma**2), told, 1e-6)


def thresholds():
    """Thresholds of lone words: j rows of k reach them with probability at most j d / (k w)."""
    at = 0
    for sigma, delta, unit, words, rows in ((100, 1e-7, 1, 1, 1), (10**6, 1e-6, 1000, 5, 3)):
        threshold = opening_threshold(sigma, delta, unit=unit, words=words, rows_per_unit=rows)
        for j in range(1, rows + 1):
            at += 1
            x = Fraction(threshold - 1 - j * unit, sigma)
            claim = f"tail (({threshold} - 1 - {j} * {unit}) / {sigma}) <= {j} * {real(delta)} / ({rows} * {words})"
            yield f"Lemma opening_threshold_{at} : {claim}.\nProof. tail_below {between(x)[0]}. Qed.\n"


def files():
    """{name: text} of what is written."""
    return {
        "Calibrations.v": "\n".join([HEAD, *covers(), *curves(), *tables(), *concentrated(), *others()]),
        "GaussianNumbers.v": "\n".join([GAUSSIAN_HEAD, *gaussians(), *gaussian_plans(), *thresholds()]),
    }


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        other = [name for name, text in files().items() if (HERE / name).read_text(encoding="utf-8") != text]
        sys.exit(f"{', '.join(other)}: not what grid.py writes" if other else None)
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
        print(name, text.count("\nLemma "), "numbers")
