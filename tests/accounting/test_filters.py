import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from reference.greedy_cover import enumerate_lists
from scipy import special

from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    Composed,
    Cost,
    NoisySums,
    bill_noise,
    cover_exponent,
    discrete_gaussian_sigma,
    gaussian_sigma,
    zcdp_rho,
)
from dpfast.accounting.budgets.filters import UNIT, Book, Charge, new_book
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.numbers import amount

# A move of an adversary: what it is charged as, and the law of its outcome under Q with the ratios P/Q; `told` is the
# probability under P of an outcome that Q never has.


def _response(e, told=0.0):
    p = math.exp(e) / (1 + math.exp(e))
    cost = Cost("pair", e, delta=told) if told else Cost("pure", e)
    law = [((1 - told) * (1 - p), p / (1 - p)), ((1 - told) * p, (1 - p) / p)]
    return Charge(amount(e, told), (cost,)), law, told


def _gaussian(mu, bins):
    edges = np.array([-math.inf, *special.ndtri(np.arange(1, bins) / bins), math.inf])
    q, p = np.diff(special.ndtr(edges)), np.diff(special.ndtr(edges - mu))
    return Charge(amount(10, 0.04), (Cost("gaussian", mu),)), list(zip(q, p / q, strict=True)), 0.0


def _list(exponent):
    """A list of one rule on a table of one row, which a neighbour has not."""
    options = {"coverage_weight": 0, "prior": 1, "max_rules": 2, "negations": False}
    P = enumerate_lists([[1]], [0], 2, exponent, **options)
    Q = enumerate_lists(np.zeros((0, 1)), [], 2, exponent, **options)
    cost = Cost("cover", float(exponent), rounds=2)
    return Charge(amount(10, 0.04), (cost,)), [(Q[rules], P[rules] / Q[rules]) for rules in Q], 0.0


def _fitting(book: Book, moves, depth: int) -> list:
    """The moves that a book takes, and those that it takes after each."""
    fitting = []
    for charge, law, told in moves if depth else []:
        try:
            fitting.append((law, told, _fitting(book.with_charge(charge), moves, depth - 1)))
        except BudgetExceeded:
            continue
    return fitting


def _value(fitting, ratio: float, epsilon: float) -> float:
    """The most divergence at epsilon that any rule gets from here, by enumeration."""
    best = max(0.0, ratio - math.exp(epsilon))
    for law, told, after in fitting:
        best = max(best, sum(q * _value(after, ratio * step, epsilon) for q, step in law) + ratio * told)
    return best


@pytest.mark.parametrize(
    ("composition", "pairs", "moves", "depth"),
    [
        ("basic", (0, 0), [_response(0.25), _response(0.5, 0.02), _response(0.75)], 5),
        ("renyi", (0, 0), [_response(0.15), _response(0.3), _response(0.6)], 5),
        ("renyi", (0, 0), [_gaussian(0.2, 5), _response(0.3)], 5),
        ("gaussian", (0, 0), [_gaussian(0.2, 6), _gaussian(0.4, 6)], 4),
        ("gaussian", (0, 0), [_gaussian(0.3, 5), _response(0.2)], 5),
        ("gaussian", (0.3, 0.02), [_gaussian(0.25, 5), _response(0.3, 0.01), _response(0.15, 0.01)], 4),
        ("renyi", (0.3, 0.02), [_response(0.3), _response(0.3, 0.01), _response(0.15, 0.01)], 5),
        ("auto", (0, 0), [_response(0.3), _response(0.3, 0.02), _gaussian(0.3, 4)], 4),
        ("gaussian", (0, 0), [_list(Fraction(3, 10)), _list(Fraction(1, 5)), _gaussian(0.3, 4)], 4),
        ("renyi", (0, 0), [_list(Fraction(3, 10)), _list(Fraction(1, 5)), _response(0.3)], 4),
    ],
)
def test_no_adaptive_rule_gets_more_than_the_budget(composition, pairs, moves, depth):
    budget = (1.0, 0.05)
    book = new_book(*budget, "replace", "row", composition, pairs)
    assert 0 < _value(_fitting(book, moves, depth), 1.0, budget[0]) <= budget[1]


def test_the_adversaries_are_strong_enough_to_notice():
    book = new_book(1.0, 0.05, "replace", "row", "gaussian", (0, 0))
    twice = Book(new_book(1.0, 0.2, "replace", "row", "gaussian", (0, 0)).filter)
    moves = [_gaussian(0.3, 6), _gaussian(0.5, 6)]
    assert _value(_fitting(book, moves, 4), 1.0, 1.0) > 0.03
    assert _value(_fitting(twice, moves, 4), 1.0, 1.0) > 0.06


def test_five_gaussian_fits_fit_into_2_4_and_a_sixth_does_not():
    cost = [Cost("gaussian", 1 / gaussian_sigma(1, 1e-6))]
    budget = Budget(2.4, 1e-6)
    for _ in range(5):
        budget.charge(1, 1e-6, cost=cost)
    assert budget.composition == "gaussian"
    assert budget.spent == (pytest.approx(2.3997, abs=1e-4), 1e-6)
    with pytest.raises(
        BudgetExceeded, match=r"charge \(1.0, 1e-06\) does not fit: of .* = \(2.4, 1e-06\), spent \(2.3"
    ):
        budget.charge(1, 1e-6, cost=cost)
    assert len(budget.charges) == 5


def test_a_charge_that_is_all_of_the_budget_fits():
    noise = {"sensitivity": 1 << 30, "releases": 1, "size": 100}
    for epsilon, delta in ((1, 1e-6), (0.1, 1e-9), (5, 1e-5)):
        cost = discrete_gaussian_cost(discrete_gaussian_sigma(epsilon, delta, **noise), **noise)
        budget = Budget(epsilon, delta)
        budget.charge(epsilon, delta, cost=cost)
        assert budget.composition == "basic"
        assert budget.left == (0, 0)


def test_the_first_charge_settles_what_is_counted():
    pair, gaussian, draws = (), [Cost("gaussian", 0.1)], [Cost("range", 0.05, times=10)]
    for cost, filter_ in ((pair, "basic"), (gaussian, "gaussian"), (draws, "renyi")):
        budget = Budget(2, 1e-5)
        budget.charge(0.25)
        assert budget.composition == "auto"
        budget.charge(0.5, 1e-6, cost=cost)
        assert budget.composition == filter_
        assert budget.spent[0] <= 0.75


def test_pure_charges_before_it_are_on_top():
    cost = [Cost("gaussian", 1 / gaussian_sigma(1.0, 1e-6) * (1 - 1e-4))]
    for before, kind in ((0.5, "gaussian"), (0.6, "basic")):
        budget = Budget(1.5, 1e-6)
        budget.charge(before)
        if kind == "gaussian":
            budget.charge(1.0, 1e-6, cost=cost)
            assert budget.composition == kind
        else:
            with pytest.raises(BudgetExceeded):
                budget.charge(1.0, 1e-6, cost=cost)


def test_a_pair_is_refused_unless_something_is_set_aside():
    budget = Budget(2, 1e-5, composition="gaussian")
    with pytest.raises(BudgetExceeded, match="does not fit"):
        budget.charge(0.5, 1e-6)
    aside = Budget(2, 1e-5, composition="gaussian", pairs=(0.5, 1e-6))
    aside.charge(0.5, 1e-6)
    aside.charge(0.5, 1e-6, cost=[Cost("gaussian", 0.1)])
    with pytest.raises(BudgetExceeded):
        aside.charge(0.1, 1e-7)
    assert aside.spent[0] > 0.5
    with pytest.raises(BudgetExceeded, match='kind "zcdp" is not counted by a gaussian filter'):
        aside.charge(0.1, 1e-6, cost=[Cost("zcdp", 1e-4)])


@pytest.mark.parametrize("composition", ["gaussian", "renyi"])
def test_what_is_left_fits_and_not_much_more(composition):
    budget = Budget(2, 1e-6, composition=composition)
    for _ in range(3):
        epsilon, delta = budget.left
        for stretched in (1.001, 1 - 1e-8):
            if composition == "gaussian":
                cost = [Cost("gaussian", stretched / gaussian_sigma(epsilon, delta))]
            else:
                cost = [Cost("zcdp", stretched * zcdp_rho(epsilon, delta))]
            if stretched > 1:
                with pytest.raises(BudgetExceeded):
                    budget.charge(epsilon, delta, cost=cost)
            else:
                budget.check(epsilon, delta, cost=cost)
        budget.charge(0.3, 1e-6, cost=[Cost("gaussian", 0.1)])


def test_the_bounds_are_those_of_the_conversions():
    for epsilon, delta in itertools.product((0.1, 1, 8), (1e-3, 1e-9)):
        renyi = new_book(epsilon, delta, "replace", "row", "renyi", (0, 0)).filter
        assert 1 - 1e-6 < renyi.bounds.curve / UNIT / (1 + renyi.bounds.order) / zcdp_rho(epsilon, delta) < 1 + 1e-9
        gaussian = new_book(epsilon, delta, "replace", "row", "gaussian", (0, 0)).filter
        assert 1 - 1e-3 < gaussian.bounds.curve / UNIT * gaussian_sigma(epsilon, delta) ** 2 <= 1


def test_a_million_charges_are_one_sum():
    cost = [Cost("gaussian", 1e-4)]
    at_once, one_by_one = (Budget(1, 1e-6, composition="gaussian") for _ in range(2))
    at_once.charge(1e-4, 1e-6, cost=cost, count=1_000_000)
    for _ in range(1000):
        one_by_one.charge(1e-4, 1e-6, cost=cost)
    assert at_once._book.whole.curve == 1000 * one_by_one._book.whole.curve
    assert at_once.spent[0] == pytest.approx(Composed([Cost("gaussian", 0.1)]).epsilon(1e-6), rel=1e-9)
    exact = Budget(1)
    exact.charge(Fraction(1, 10**6), count=1_000_000)
    assert exact.left == (0, 0)
    with pytest.raises(BudgetExceeded, match="2,000,000 times"):
        at_once.charge(1e-2, 1e-6, cost=[Cost("gaussian", 1e-2)], count=2_000_000)


def test_parts_of_a_table_do_not_add_up_and_the_whole_does():
    budget = Budget(1)
    north, south = budget.part("north"), budget.part("south")
    north.charge(0.75)
    south.charge(0.5)
    assert (budget.left, north.left, south.left) == ((0.25, 0), (0.25, 0), (0.5, 0))
    budget.charge(0.25)
    assert (north.left, south.left) == ((0, 0), (0.25, 0))
    assert (budget.spent, south.spent) == ((1, 0), (0.75, 0))
    with pytest.raises(BudgetExceeded):
        budget.charge(0.01)
    with pytest.raises(BudgetExceeded):
        north.charge(0.01)
    south.charge(0.25)
    assert Budget.from_dict(budget.to_dict()).part("south").left == (0, 0)
    with pytest.raises(ValueError, match="part of a part"):
        north.part("west")


def test_parts_compose_by_curves_too():
    budget = Budget(2, 1e-6, composition="gaussian")
    for name in ("january", "february"):
        for _ in range(2):
            budget.part(name).charge(1, 1e-6, cost=[Cost("gaussian", 0.2)])
    alone = Composed([Cost("gaussian", 0.2)] * 2).epsilon(1e-6)
    assert budget.spent[0] == budget.part("january").spent[0] == alone


def test_a_claim_for_rows_is_refused_by_a_budget_for_persons():
    budget = Budget(1, unit="person")
    with pytest.raises(ValueError, match=r"protects one person and the charge one row.*units="):
        budget.charge(0.1)
    budget.charge(0.1, unit="person")
    assert "unit='person'" in repr(budget)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"composition": "advanced"}, "composition must be one of auto, basic, gaussian, renyi"),
        ({"composition": "gaussian", "pairs": (1, 1e-7)}, "beside the pairs set aside"),
        ({"composition": "renyi", "pairs": (0.5, 1e-6)}, "beside the pairs set aside"),
        ({"unit": "household"}, 'unit must be "row" or "person"'),
    ],
)
def test_a_budget_refuses_what_cannot_be(how, message):
    with pytest.raises(ValueError, match=message):
        Budget(1, 1e-6, **how)


def test_parts_of_a_budget_for_persons_ask_whether_persons_are_in_one_part():
    budget = Budget(1.0, 1e-6, unit="person")
    for answer in ({}, {"persons_apart": False}, {"persons_apart": 1}):
        with pytest.raises(ValueError, match="no person has rows in two of them"):
            budget.part("january", **answer)
    north = budget.part("north", persons_apart=True)
    north.charge(0.75, unit="person")
    budget.part("south", persons_apart=True).charge(0.75, unit="person")
    assert budget.spent == (0.75, 0)
    assert Budget.from_dict(budget.to_dict()).spent == pickle.loads(pickle.dumps(north)).spent == (0.75, 0)


def test_fits_that_publish_words_compose_as_gaussian_ones_in_a_budget():
    cost = bill_noise([NoisySums(2**30, 1, 100), NoisySums(2**36, 4, 20, times=50)], 1, 1e-6, words=1e-7).cost
    budget = Budget(3, 2e-6)
    for _ in range(5):
        budget.charge(1, 1e-6, cost=cost)
    assert budget.composition == "gaussian"
    assert 2.2 < budget.spent[0] < 2.5
    assert Budget.from_dict(budget.to_dict()).spent == budget.spent
    told = [Cost("pair", 0.0, delta=6e-7)]
    with pytest.raises(BudgetExceeded):
        budget.charge(0, 6e-7, cost=told)
    budget.charge(0, 5e-7, cost=[Cost("pair", 0.0, delta=5e-7)])
    alone = Budget(1, 1e-6)
    alone.charge(0, 6e-7, cost=told)
    assert alone.composition == "basic"


def _cover(epsilon, neighbors="replace", rounds=10):
    how = {"coverage_weight": 0.5, "max_rounds": rounds, "neighbors": neighbors}
    t = cover_exponent(epsilon, 1e-6, **how)
    up, down = (1.5, 1.5) if neighbors == "replace" else (0.5, 1)
    return [Cost("cover", down * t * (1 + 1e-15), up=up * t, rounds=rounds)]


@pytest.mark.parametrize(("neighbors", "most"), [("replace", 4.2), ("add-remove", 3.6)])
def test_ten_lists_chosen_one_after_another_cost_less_than_ten(neighbors, most):
    budget = Budget(most, 1e-6, neighbors=neighbors)
    for _ in range(10):
        budget.charge(1, 1e-6, neighbors=neighbors, cost=_cover(1, neighbors))
    assert budget.composition in ("gaussian", "renyi")
    assert 3 < budget.spent[0] < most
    assert Budget.from_dict(budget.to_dict()).spent == budget.spent
    with pytest.raises(BudgetExceeded):
        budget.charge(most, 1e-6, neighbors=neighbors, cost=_cover(most, neighbors))


def test_a_list_that_is_all_of_a_budget_fits_and_a_long_one_is_counted_by_its_pair():
    budget = Budget(1, 1e-6)
    budget.charge(1, 1e-6, cost=_cover(1))
    assert budget.composition == "basic"
    assert budget.left == (0, 0)
    budget = Budget(3, 3e-6)
    for _ in range(3):
        budget.charge(1, 1e-6, cost=_cover(1, rounds=100_000))
    assert budget.composition == "basic"
    assert budget.left == (0, 0)


def test_a_list_settles_on_what_takes_the_smallest_share():
    for rounds, budget, kind in ((10, Budget(3, 3e-6), "renyi"), (100, Budget(100, 1e-5), "basic")):
        budget.charge(1, 1e-6, cost=_cover(1, rounds=rounds))
        assert budget.composition == kind
    with_curve = Budget(100, 1e-5, composition="gaussian")
    with_curve.charge(1, 1e-6, cost=_cover(1, rounds=100))  # which also fits, and takes more
    assert with_curve._book.filter._share(with_curve._book.whole) > 1 / 10
