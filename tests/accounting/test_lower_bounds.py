"""[BF], section 4.4: the lower bound against the least mistakes of any private learner, by linear programming."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

from dpfast.accounting import point_lower_bound


def least_mistakes(epsilon, delta, T, d):
    """The least M such that some h_1, ..., h_T, private one by one at one point, err M times at most in expectation.

    Variables are P(h_t(x) = 1 | the examples before), so that what is really possible is no less.
    """
    examples = list(itertools.product(range(d), (-1, 1)))
    places, found = {}, []
    for t in range(T):
        for past in itertools.product(examples, repeat=t):
            for x in range(d):
                places[past, x] = len(places)
    M = len(places)

    def at_most(terms, bound):
        found.append((terms, bound))

    for past, x in places:
        for i, other in itertools.product(range(len(past)), examples):
            if other != past[i]:
                p, q = places[past, x], places[(*past[:i], other, *past[i + 1 :]), x]
                at_most({p: 1.0, q: -math.exp(epsilon)}, delta)
                at_most({p: -1.0, q: math.exp(epsilon)}, delta + math.exp(epsilon) - 1)
    for stream in itertools.product(examples, repeat=T):
        if not any(all((x == j) == (y == 1) for x, y in stream) for j in range(d)):
            continue
        terms, ones = {M: -1.0}, 0
        for t, (x, y) in enumerate(stream):
            place = places[stream[:t], x]
            terms[place] = terms.get(place, 0.0) - y
            ones += y == 1
        at_most(terms, -ones)
    A = lil_array((len(found), M + 1))
    for row, (terms, _) in enumerate(found):
        for column, value in terms.items():
            A[row, column] = value
    result = linprog(
        np.eye(1, M + 1, M)[0], A_ub=A.tocsr(), b_ub=[b for _, b in found], bounds=[(0, 1)] * M + [(0, None)]
    )
    assert result.success
    return result.fun


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("epsilon", [0.1, 1.5])
@pytest.mark.parametrize(("T", "d"), [(1, 2), (2, 3), (3, 4)])
def test_section_4_4_no_private_learner_makes_fewer_mistakes(T, d, epsilon, delta):
    bound = point_lower_bound(epsilon, delta, horizon=T, dimension=d)
    assert 0 < bound.mistakes <= least_mistakes(epsilon, delta, T, d) + 1e-7
    assert 1 <= bound.insertions <= min(T, d - 1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "T", "d"), [(0.5, 1e-6, 300, 1000), (2.0, 0.0, 50, 20), (0.1, 0.01, 40, 99)]
)
def test_the_bound_is_the_best_of_the_printed_formula(epsilon, delta, T, d):
    N = min(T, d - 1)

    def formula(k):
        powers = [math.exp(i * epsilon) for i in range(k)]
        lost = delta * sum((p - 1) / math.expm1(epsilon) for p in powers)
        return (k - lost) / (1 + sum(powers) / (N - k + 1))

    bound = point_lower_bound(epsilon, delta, horizon=T, dimension=d)
    assert bound.mistakes == pytest.approx(max(map(formula, range(1, N + 1))))
    assert bound.mistakes == pytest.approx(formula(bound.insertions))


def test_section_4_4_mistakes_grow_with_the_smaller_of_both_logarithms():
    at = lambda T, d, epsilon=0.5, delta=0.0: point_lower_bound(epsilon, delta, horizon=T, dimension=d).mistakes  # noqa: E731
    steps = [at(10 ** (k + 1), 10**12) - at(10**k, 10**12) for k in range(2, 8)]
    assert min(steps) > 0.8 * math.log(10) / 0.5 * 0.9
    assert at(10**9, 1000) == pytest.approx(at(999, 10**9))
    assert at(10**6, 10**6, epsilon=0.25) > 1.8 * at(10**6, 10**6)
    assert at(10**6, 10**6, delta=1e-6) > 0.8 * at(10**6, 10**6)
    add = point_lower_bound(0.5, 1e-6, horizon=1000, dimension=1000, neighbors="add-remove")
    assert add == point_lower_bound(1.0, 1e-6 * (1 + math.exp(0.5)), horizon=1000, dimension=1000)
    weak = at(10**6, 10**6, delta=1 / (20 * math.log(10**6)))  # where the paper quotes ln T
    assert 1 < weak < math.log(10**6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"horizon": 0}, "horizon"),
        ({"dimension": 1}, "dimension"),
    ],
)
def test_what_is_out_of_range_is_refused(change, message):
    with pytest.raises(ValueError, match=f"{message}.* must be"):
        point_lower_bound(**{"epsilon": 1.0, "delta": 0, "horizon": 10, "dimension": 10} | change)
