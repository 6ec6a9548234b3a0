"""[Lyu], section 4: each definition, lemma and corollary by its number, against a brute force of the definitions."""

from itertools import combinations, product

import numpy as np
import pytest
from reference import littlestone as slow
from tables_of_classes import functions, random_class, rows

from dpfast.littlestone import FiniteClass, PointFunctions, Thresholds


def subclass(rng, H):
    """Members that err on few of some random examples: of every kind that learners make."""
    (part,) = H.balls(rng.integers(H.n_points, size=4), rng.integers(2, size=4), [int(rng.integers(1, 4))])
    return part


# ---- Definition 4.1: irreducibility ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_definition_4_1_a_class_is_reducible_when_points_and_soa_labels_reduce_it(seed):
    H = random_class(np.random.default_rng(seed), 12, 4)
    top = H.littlestone_dimension()
    for k in range(5):
        tree = H.reducibility_witness(k)
        assert (tree is None) == slow.irreducible(rows(H), k, H.n_points)
        if tree is not None:
            assert tree.depth <= k
            assert tree.degree < top
            assert frozenset.union(*map(rows, tree.leaves())) == rows(H)


def test_definition_4_1_soa_is_the_printed_one_in_a_1_irreducible_class(rng):
    seen = 0
    for _ in range(300):
        H = random_class(rng, 16, 5)
        if slow.irreducible(rows(H), 1, H.n_points):
            seen += 1
            assert [H.soa(x) for x in range(H.n_points)] == list(slow.printed_soa(rows(H), H.n_points))
    assert seen > 50


def test_any_class_of_dimension_one_or_more_is_reducible_by_all_points_and_by_all_members_but_one(rng):
    for _ in range(100):
        H = random_class(rng, 30, 7)
        for k in (H.n_points, H.size - 1):
            assert (H.reducibility_witness(k) is not None) == (H.littlestone_dimension() >= 1)


def test_one_question_can_cost_more_than_half_of_the_dimension():
    """Few ones or few zeros, and a point that tells which: LDim 3 becomes 1 at one question."""
    few = [f for f in product((0, 1), repeat=3) if sum(f) <= 1]
    H = FiniteClass([(*f, 0) for f in few] + [(*(1 - x for x in f), 1) for f in few])
    assert H.littlestone_dimension() == slow.dimension(rows(H)) == 3
    assert H.reduction_depth(1) == 1
    assert H.restrict(3, 0).littlestone_dimension() == H.restrict(3, 1).littlestone_dimension() == 1


# ---- Definitions 4.2 and 4.3: decompositions and what is essential ---------------------------------------------------


def test_definitions_4_2_and_4_3_agree_with_the_brute_force_on_400_random_classes():
    rng = np.random.default_rng(737)
    degrees, none = set(), 0
    for i in range(400):
        H = random_class(rng, 9, 5)
        top = H.littlestone_dimension()
        for p, d in {0: [(1, top)], 1: [(1, top), (1, top + 1)], 2: [(1, top), (2, top)]}[i % 3]:
            degree = H.decomposition_dimension(p, d)
            essential = functions(H.essential_hypotheses(p, d), H.n_points)
            assert degree == slow.decomposition_dimension(rows(H), p, d)
            assert essential == slow.essential(rows(H), p, d)
            degrees.add((top, degree))
            none += not essential
        slow.valid_trees.cache_clear()
    assert {(2, 1), (2, 2), (3, 0)} <= degrees


@pytest.mark.parametrize("seed", range(30))
def test_a_degree_strictly_between_is_right_too(seed):
    """Classes drawn until one has it: it is rare, and the only one that needs a search for what is avoided."""
    rng = np.random.default_rng((43, seed))
    while True:
        H = random_class(rng, 11, 5, 0.4)
        top = H.littlestone_dimension()
        if 0 < H.decomposition_dimension(1, top) < top:
            break
    assert H.decomposition_dimension(1, top) == slow.decomposition_dimension(rows(H), 1, top)
    assert functions(H.essential_hypotheses(1, top), H.n_points) == slow.essential(rows(H), 1, top)


def test_definition_4_2_bounds_every_node_by_its_own_dimension():
    """With the whole depth bounded instead, p 2^(d - r) - p, this class has dimension 2, and 1011 for essential."""
    H = FiniteClass([[int(c) for c in f] for f in ["0001", "0111", "1000", "1001", "1010", "1011", "1101", "1110"]])
    assert H.littlestone_dimension() == 2
    assert H.decomposition_dimension(1, 2) == slow.decomposition_dimension(rows(H), 1, 2) == 1
    assert functions(H.essential_hypotheses(1, 2), 4) == slow.essential(rows(H), 1, 2) == {(1, 0, 0, 1)}


def test_claim_4_1_and_lemma_4_1_a_decomposition_is_valid_of_least_degree_and_has_few_leaves(rng):
    for _ in range(60):
        H = random_class(rng, 40, 7)
        for p, extra in [(1, 0), (2, 0), (1, 1), (4, 0)]:
            d = H.littlestone_dimension() + extra
            tree = H.decomposition(p, d)
            leaves, waiting = tree.leaves(), [(tree, 0)]
            while waiting:
                node, depth = waiting.pop()
                top = slow.dimension(rows(node.members))
                assert depth <= p * (2 ** (d - top + 1) - 1)
                if node.point is None:
                    assert depth <= p * (2 ** (d - top) - 1)
                    assert slow.irreducible(rows(node.members), p * 2 ** (d - top), H.n_points)
                waiting += [(child, depth + 1) for child in (node.zero, node.one) if child is not None]
            assert tree.degree == H.decomposition_dimension(p, d)
            assert sum(leaf.size for leaf in leaves) == H.size
            assert frozenset.union(*map(rows, leaves)) == rows(H)
            assert len(leaves) <= H.list_bound(p, d) <= max(1, p**d * 2 ** (d * d))


@pytest.mark.parametrize("kind", [PointFunctions, Thresholds])
def test_a_closed_form_decomposes_as_its_table_does(kind):
    for n in range(1, 10):
        form, table = kind(n), FiniteClass(np.eye(n) if kind is PointFunctions else np.tri(n + 1, n, -1) == 0)
        for p, extra in product((1, 2, 3, 7), (0, 1, 2)):
            d = form.littlestone_dimension() + extra
            assert form.decomposition_dimension(p, d) == table.decomposition_dimension(p, d)
            assert functions(form.essential_hypotheses(p, d), n) == functions(table.essential_hypotheses(p, d), n)
            tree = form.decomposition(p, d)
            assert tree.degree == form.decomposition_dimension(p, d)
            if d <= 3 and p < 3 and n < 6:
                assert form.decomposition_dimension(p, d) == slow.decomposition_dimension(rows(table), p, d)
                assert functions(form.essential_hypotheses(p, d), n) == slow.essential(rows(table), p, d)


# ---- what follows ----------------------------------------------------------------------------------------------------


def test_lemma_4_2_what_irreducible_subclasses_predict_has_no_larger_dimension(rng):
    for _ in range(12):
        H = random_class(rng, 8, 5)
        d, members = H.littlestone_dimension(), sorted(rows(H))
        parts = [frozenset(part) for m in range(1, len(members) + 1) for part in combinations(members, m)]
        predicted = {slow.printed_soa(g, H.n_points) for g in parts if slow.irreducible(g, d + 1, H.n_points)}
        assert slow.dimension(predicted) <= d


def test_lemma_4_3_decompositions_of_twice_the_p_are_nested(rng):
    equal = 0
    for _ in range(300):
        H = random_class(rng, 20, 16, rng.choice([0.05, 0.1]))
        p, d, G = int(rng.choice([1, 1, 2])), H.littlestone_dimension(), subclass(rng, H)
        if not G.size:
            continue
        degree, of_part = H.decomposition_dimension(p, d), G.decomposition_dimension(2 * p, d)
        assert of_part <= degree
        if degree == of_part:
            equal += degree > 0
            essential = set(H.essential_hypotheses(p, d))
            leaves = [leaf for leaf in G.decomposition(2 * p, d).leaves() if leaf.littlestone_dimension() == degree]
            assert {leaf.soa_hypothesis() for leaf in leaves} <= essential
    assert equal > 20


def test_corollary_4_1_in_its_four_items(rng):
    equal = above_zero = 0
    for _ in range(400):
        H = random_class(rng, 20, 8)
        p, d, G = int(rng.choice([1, 1, 1, 2, 3])), H.littlestone_dimension(), subclass(rng, H)
        degree, of_part = H.decomposition_dimension(p, d), G.decomposition_dimension(p, d)
        essential, essential_of_part = set(H.essential_hypotheses(p, d)), set(G.essential_hypotheses(p, d))
        assert of_part <= degree
        assert len(essential) <= min(H.size, H.list_bound(p, d))  # (1)
        if degree == of_part:  # (2)
            equal += 1
            above_zero += degree > 0
            assert essential_of_part <= essential
        if H.decomposition_dimension(2 * p, d) == degree:  # (3)
            assert essential
        if degree == 0:  # (4)
            assert functions(essential, H.n_points) == rows(H)
        assert H.decomposition_dimension(H.n_points, max(1, d)) == 0
    assert equal > 120
    assert above_zero > 20


def test_corollary_4_1_3_needs_its_premise_there_may_be_nothing_essential():
    rng, found = np.random.default_rng(0), 0
    while not found:
        H = random_class(rng, 9, 5, 0.4)
        d = H.littlestone_dimension()
        if d == 2 and not H.essential_hypotheses(1, d):
            found += 1
            assert H.decomposition_dimension(2, d) < H.decomposition_dimension(1, d)
            assert not slow.essential(rows(H), 1, d)


def test_fact_4_what_errs_on_a_share_of_at_most_p_examples_is_not_essential_to_those_that_do_not(rng):
    removed = 0
    for _ in range(400):
        H = random_class(rng, 25, 8)
        n = int(rng.integers(1, 9))
        X, y, d = rng.integers(H.n_points, size=n), rng.integers(2, size=n), H.littlestone_dimension()
        for p in (n, 2 * n):
            most = int(rng.integers(n))
            (G,) = H.balls(X, y, [most])
            for f in G.essential_hypotheses(p, d):
                assert (f(X) != y).sum() <= most
            removed += any((f(X) != y).sum() > most for f in H.essential_hypotheses(p, d))
    assert removed > 100


def test_fact_4_needs_p_as_large_as_the_sample():
    """As printed p = 2^j d^3 and samples of C d^3 ln(d ln T) examples are not compared: with fewer p it fails."""
    H, X = PointFunctions(50), np.arange(40)
    y = np.ones(40, np.uint8)
    (G,) = H.balls(X, y, [39])  # each errs on 39 of 40
    (zero,) = G.essential_hypotheses(2, 1)
    assert (zero(X) != y).sum() == 40  # on more than any member does
    assert all((f(X) != y).sum() == 39 for f in G.essential_hypotheses(40, 1))
