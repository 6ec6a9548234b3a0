"""What `circuits` proves is so: against all sets of so many points."""

from itertools import combinations

import numpy as np
import pytest
from reference import littlestone as slow

from dpfast.learners.littlestone import searches
from dpfast.learners.littlestone.circuits import Circuits
from dpfast.learners.littlestone.searches import Search, number
from dpfast.littlestone import FiniteClass


def path_of(search, members):
    """Who leaves the path of SOA at each point."""
    top = search.dimension(members)
    return {x: zero if search.dimension(one) == top else one for x, one, zero in search.sides(members)}


def part(H, members):
    return [f for h, f in enumerate(map(tuple, H.table.astype(int).tolist())) if members >> h & 1]


def least_left(H, members, astray, most):
    """The least dimension that at most so many questions leave."""
    left = []
    for asked in combinations(astray, min(most, len(astray))):
        rest = members
        for x in asked:
            rest &= ~astray[x]
        left.append(slow.dimension(part(H, rest)))
    return min(left)


@pytest.mark.parametrize("seed", range(25))
def test_robust_members_keep_their_dimension_and_a_circuit_holds_every_set_that_does_not(seed):
    rng = np.random.default_rng((5, seed))
    H = FiniteClass(rng.random((rng.integers(4, 40), rng.integers(3, 9))) < rng.choice([0.2, 0.3, 0.5]))
    search, members = Search(H._shared), number(H._members)
    astray, top = path_of(search, members), H.littlestone_dimension()
    for most in range(4):
        circuits = Circuits(search, astray, most)
        for t in range(top + 1):
            robust = circuits.robust(members, t)
            assert not robust or least_left(H, members, astray, most) >= t
            used = 0
            while (circuit := circuits.circuit(members, t, used)) is not None:
                assert not circuit & used
                others = {x: gone for x, gone in astray.items() if not circuit >> x & 1}
                assert least_left(H, members, others, most) >= t if others or not most else True
                used |= circuit
                if not circuit:
                    break


def test_much_is_proved_of_many_triples(rng):
    """508 triples of 64 points: no 9 questions reduce them, and a search finds that at its second try."""
    table = np.array([np.isin(np.arange(64), rng.choice(64, 3, replace=False)) for _ in range(512)])
    H = FiniteClass(table, max_nodes=10**6)
    search, members = Search(H._shared), number(H._members)
    astray = path_of(search, members)
    assert Circuits(search, astray, 9).robust(members, 3)
    assert H.decomposition_dimension(8) == 3


def test_a_search_in_a_hurry_says_what_one_at_leisure_says(monkeypatch):
    rng, answers = np.random.default_rng(11), []
    classes = [rng.random((60, 9)) < 0.3 for _ in range(12)]
    for hurry in (1 << 16, 3):
        monkeypatch.setattr(searches, "_HURRY", hurry)
        found = []
        for table in classes:
            H = FiniteClass(table)
            found += [H.decomposition_dimension(p, H.littlestone_dimension()) for p in (1, 2, 3)]
        answers.append(found)
    assert answers[0] == answers[1]
