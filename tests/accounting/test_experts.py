import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.accounting import (
    experts_epsilon,
    experts_learning_rate,
    experts_range,
    experts_regret,
    laplace_scale,
    winnow_epsilon,
    zcdp_rho,
)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("signed", [False, True])
def test_no_round_moves_the_totals_further_than_the_range(signed, neighbors):
    rows = list(itertools.product((-1, 0, 1) if signed else (0, 1), repeat=3))
    blank = [(0, 0, 0)]
    changes = [np.subtract(a, b) for a in rows for b in (rows if neighbors == "replace" else blank)]
    with_mirrors = [np.r_[v, -v] for v in changes]
    assert max(np.ptp(v) for v in changes) == experts_range(neighbors, signed=signed)
    if signed:
        assert max(np.ptp(v) for v in with_mirrors) == experts_range(neighbors, signed=True)


@pytest.mark.parametrize("eta", [0.1, 0.9, 3.0])
def test_a_draw_has_log_ratios_in_an_interval_of_eta_times_the_range(eta):
    """Brute force over small loss matrices and all replacements of one of their rows."""
    levels, worst, widest = (0.0, 0.5, 1.0), 0.0, 0.0
    rows = list(itertools.product(levels, repeat=2))
    for matrix in itertools.product(rows, repeat=2):
        for changed in rows:
            a, b = np.sum(matrix, axis=0), np.sum([changed, matrix[1]], axis=0)
            p, q = (np.exp(-eta * t) / np.exp(-eta * t).sum() for t in (a, b))
            ratio = np.log(p / q)
            worst, widest = max(worst, np.abs(ratio).max()), max(widest, np.ptp(ratio))
    assert widest <= 2 * eta * (1 + 1e-12)
    assert widest == pytest.approx(2 * eta)
    assert worst <= 2 * eta


@pytest.mark.parametrize("horizon", [1, 2, 100, 10**6])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
@pytest.mark.parametrize("epsilon", [0.01, 1, 8])
def test_the_papers_learning_rate_is_within_the_claim_and_the_tight_one_larger(epsilon, delta, horizon):
    paper = experts_learning_rate(epsilon, delta, horizon=horizon, calibration="paper")
    tight = experts_learning_rate(epsilon, delta, horizon=horizon)
    assert paper == pytest.approx(epsilon / math.sqrt(32 * horizon * math.log(1 / delta)), rel=1e-15)
    assert experts_epsilon(paper, delta, horizon=horizon) < epsilon / 2
    assert experts_epsilon(tight, delta, horizon=horizon) <= epsilon
    assert experts_epsilon(tight * (1 + 1e-9), delta, horizon=horizon) > epsilon * (1 - 1e-12)
    assert tight > 2 * paper
    assert tight**2 * horizon / 2 == pytest.approx(zcdp_rho(epsilon, delta), rel=1e-9)


def test_halving_the_range_doubles_the_learning_rate():
    assert experts_learning_rate(1, 1e-6, horizon=50, loss_range=1) == pytest.approx(
        2 * experts_learning_rate(1, 1e-6, horizon=50)
    )


def test_where_the_papers_theorem_ends_it_is_refused():
    with pytest.raises(ValueError, match=r"the paper's learning rate .* spends epsilon"):
        experts_learning_rate(100, 0.5, horizon=10, calibration="paper")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon must"),
        ({"delta": 0}, "delta must"),
        ({"horizon": 0}, "horizon must be an integer >= 1, got 0"),
        ({"horizon": 2.5}, "horizon must"),
        ({"loss_range": 0}, "loss_range must"),
        ({"calibration": "loose"}, 'calibration must be "tight" or "paper"'),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        experts_learning_rate(**{"epsilon": 1, "delta": 1e-6, "horizon": 10} | arguments)
    with pytest.raises(ValueError, match="neighbors must"):
        experts_range("swap")


def test_theorem_11_1_is_least_where_the_paper_says():
    d, T = 100, 10_000
    best = math.sqrt(math.log(d) / T)
    assert experts_regret(best, d, T) == pytest.approx(2 * math.sqrt(T * math.log(d)))
    assert experts_regret(2 * best, d, T) > experts_regret(best, d, T) < experts_regret(best / 2, d, T)


# ---- Laplace -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("releases", [1, 2, 30, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1, Fraction(1, 3)])
def test_pure_releases_add_up(epsilon, releases):
    exactly = Fraction(str(epsilon))  # of the decimal that is printed
    assert Fraction(laplace_scale(epsilon, sensitivity=7, releases=releases)) >= 7 * releases / exactly
    assert laplace_scale(epsilon, sensitivity=7, releases=releases) == pytest.approx(7 * releases / float(epsilon))


@pytest.mark.parametrize("releases", [1, 10, 10_000])
def test_with_delta_the_scale_is_never_larger_and_the_claim_holds(releases):
    scale = laplace_scale(1, 1e-6, releases=releases)
    assert scale <= laplace_scale(1, releases=releases)
    spent = winnow_epsilon(0, 1e-6, n_updates=1, n_draws=1, threshold_epsilon=1 / scale, threshold_runs=releases)
    assert min(spent, releases / scale) <= 1 + 1e-12
    assert releases < 10_000 or scale < releases / 10
